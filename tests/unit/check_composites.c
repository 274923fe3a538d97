/* Composites of graph-kernel fusion: areas, the nodes that are fused, and the pieces that a composite is cut into.
 * Graphs are texts: nodes "m=Mul x #2", from producers to users. Shapes are [4, 8], or given by the end of a name:
 * "s_4x1". "#2" is a constant number; a value without a producer is an input; "m!", or a value without a reader, is an
 * output. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/skplan.h"
#include "graph/composites/composites-parts.h"
#include "graph/composites/composites.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"
#include "graph/passes/passes.h"
#include "tests/lib/sink.h"
#include "tests/lib/suite.h"

static struct sk_op_graph *graph;
static struct sk_fusion_flags flags;
static const struct sk_fusion_flags ascend = {
	.opt_level = 2, .target = SK_TARGET_ASCEND, .composite_op_limit_size = 200, .reduce_fuse_depth = -1};

static void open_graph(void)
{
	open_sink();
	graph = sk_graph_create(arena, &diag, "test");
	flags = ascend;
}

static void close_graph(void)
{
	close_sink();
}

/* ---- graphs from texts ---- */

static uint32_t value_of(const char *name)
{
	uint32_t number = sk_graph_value(graph, name);
	struct sk_value *value = &graph->values.items[number];
	const char *suffix = strchr(name, '_');

	if (value->shaped)
		return number;
	value->dtype = strchr(name, '$')   ? SK_I32
		       : strchr(name, '?') ? SK_BOOL
		       : strchr(name, '%') ? SK_F16
		       : strchr(name, '&') ? SK_U8
					   : SK_F32;
	value->shaped = true;
	value->rank = 2;
	value->shape[0] = 4;
	value->shape[1] = 8;
	if (suffix)
		ck_assert_int_eq(sscanf(suffix, "_%lux%lu", &value->shape[0], &value->shape[1]), 2);
	if (*name == '#') {
		value->rank = 0;
		value->contents = sk_arena_copy(arena, "\0\0\0@", 4);
	}
	return number;
}

static void add_node(char *text)
{
	char *saved, *name = strtok_r(text, "= ", &saved), *op = strtok_r(NULL, "= ", &saved), *input;
	struct sk_graph_node *node = sk_graph_add_node(graph, op);
	bool output = name[strlen(name) - 1] == '!';
	uint32_t value;

	if (output)
		name[strlen(name) - 1] = 0;
	if (!strncmp(op, "sklink:", 7)) {
		node->domain = "sklink";
		node->op = op + 7;
	}
	node->name = name;
	while ((input = strtok_r(NULL, " ", &saved))) {
		value = value_of(input);
		sk_array_push(arena, &node->inputs, value);
	}
	value = value_of(name);
	graph->values.items[value].output = output;
	graph->values.items[value].node = (uint32_t)graph->nodes.count - 1;
	sk_array_push(arena, &node->outputs, value);
}

static void build(const char *text)
{
	char *saved, *nodes = sk_arena_join(arena, text, "");
	const uint32_t *uses;

	for (char *node = strtok_r(nodes, ";", &saved); node; node = strtok_r(NULL, ";", &saved))
		add_node(node);
	uses = sk_graph_count_uses(graph);
	for (size_t v = 0; v < graph->values.count; v++)
		graph->values.items[v].output |= graph->values.items[v].node != SK_NONE && !uses[v];
}

/* "Mul_Add_fusion(m a) Exp_fusion(e)" */
static const char *describe(void)
{
	const char *text = "";

	for (uint32_t c = 0; c < graph->composites.count; c++) {
		text = sk_arena_print(arena, "%s%s%s(", text, c ? " " : "", graph->composites.items[c].name);
		for (size_t n = 0, count = 0; n < graph->nodes.count; n++)
			if (graph->nodes.items[n].composite == c + 1)
				text = sk_arena_print(arena, "%s%s%s", text, count++ ? " " : "",
						      graph->nodes.items[n].name);
		text = sk_arena_join(arena, text, ")");
	}
	return text;
}

static void add(sk_texts *list, const char *name)
{
	sk_array_push(arena, list, name);
}

static void expect_clusters(const char *text, const char *expected)
{
	build(text);
	sk_pass_graph_kernel_cluster(graph, &flags);
	ck_assert_str_eq(describe(), expected);
}

static void expect_pieces(const char *text, const char *expected)
{
	build(text);
	sk_pass_graph_kernel_cluster(graph, &flags);
	sk_pass_graph_kernel_splitter(graph, &flags);
	ck_assert_str_eq(describe(), expected);
}

/* ---- clusters ---- */

START_TEST(what_hangs_together_is_one_composite)
{
	expect_clusters("m=Mul x #2;a=Add m #1;p=Pow a #3", "Mul_Add_Pow_fusion(m a p)");
	ck_assert_int_eq(sk_pass_graph_kernel_cluster(graph, &flags), SK_PASS_UNCHANGED);
	ck_assert_str_eq(describe(), "Mul_Add_Pow_fusion(m a p)");
}
END_TEST

START_TEST(what_stands_alone_is_wrapped_but_no_assignment)
{
	expect_clusters("m=Mul x #2;s=Softmax m;e=Exp s;a=sklink:Assign s e2", "Mul_fusion(m) Exp_fusion(e)");
}
END_TEST

START_TEST(two_that_share_an_input_are_one_through_its_producer)
{
	expect_clusters("u=Mul x #2;a=Add u y;b=Sub u y", "Mul_Add_Sub_fusion(u a b)");
}
END_TEST

START_TEST(two_that_share_an_input_of_the_network_are_two)
{
	expect_clusters("a=Add x y;b=Sub x y", "Add_fusion(a) Sub_fusion(b)");
}
END_TEST

START_TEST(no_two_have_one_name)
{
	expect_clusters("a=Add x y;b=Add y x;s=Sub x y;c=Add x x",
			"Add_fusion(a) Add_fusion_2(b) Sub_fusion(s) Add_fusion_3(c)");
	graph->composites.items[0].name = "Add_fusion_2"; /* as a file may have it */
	graph->composites.items[1].name = "Add_fusion_2";
	sk_pass_graph_kernel_cluster(graph, &flags);
	ck_assert_str_eq(describe(), "Add_fusion_2(a) Add_fusion_2_2(b) Sub_fusion(s) Add_fusion_3(c)");
}
END_TEST

START_TEST(no_path_leaves_a_composite_and_comes_back)
{
	expect_clusters("m=Mul x #2;s=Softmax m;e=Exp m;a=Add s e", "Mul_fusion(m) Exp_Add_fusion(e a)");
}
END_TEST

START_TEST(what_is_behind_one_that_is_refused_is_refused_too)
{
	expect_clusters("k=Mul x #2;m=Mul k #2;s=Softmax m;e=Exp s;a=Add e m;b=Add a k",
			"Mul_Mul_fusion(k m) Exp_Add_Add_fusion(e a b)");
}
END_TEST

START_TEST(a_scope_is_a_border)
{
	build("m=Mul x #2;a=Add m #1");
	graph->nodes.items[1].scope = "other";
	sk_pass_graph_kernel_cluster(graph, &flags);
	ck_assert_str_eq(describe(), "Mul_fusion(m) Add_fusion(a)");
}
END_TEST

START_TEST(lists_say_who_may_be_in)
{
	expect_clusters("g=MatMul x% y%_8x8;m%=Mul g% #2", "Mul_fusion(m%)");
}
END_TEST

START_TEST(a_product_is_in_if_it_is_asked_for)
{
	add(&flags.enable_cluster_ops, "MatMul");
	expect_clusters("g%=MatMul x% y%_8x8;m%=Mul g% #2", "MatMul_Mul_fusion(g% m%)");
}
END_TEST

START_TEST(ascend_has_no_products_of_f32)
{
	add(&flags.enable_cluster_ops, "MatMul");
	expect_clusters("g=MatMul x y_8x8;m=Mul g #2", "Mul_fusion(m)");
}
END_TEST

START_TEST(other_targets_have)
{
	flags.target = SK_TARGET_CPU;
	flags.fusion_ops_level = 1;
	add(&flags.enable_cluster_ops, "MatMul");
	expect_clusters("g=MatMul x y_8x8;m=Mul g #2", "MatMul_Mul_fusion(g m)");
}
END_TEST

START_TEST(disabling_wins_over_enabling)
{
	add(&flags.enable_cluster_ops, "Exp");
	add(&flags.disable_cluster_ops, "Exp");
	expect_clusters("m=Mul x #2;e=Exp m;a=Add e #1", "Mul_fusion(m) Add_fusion(a)");
}
END_TEST

START_TEST(only_makes_the_others_ignored)
{
	add(&flags.enable_cluster_ops_only, "Exp");
	add(&flags.enable_cluster_ops, "Mul");
	add(&flags.disable_cluster_ops, "Exp");
	expect_clusters("m=Mul x #2;e=Exp m;f=Exp e;a=Add f #1", "Exp_Exp_fusion(e f)");
}
END_TEST

static const struct legal_case {
	const char *graph, *composites;
} legal_cases[] = {
	{"a$=Add x$ y$", "Add_fusion(a$)"}, /* i32 */
	{"e$=Exp x$", ""},
	{"d$=Div x$ y$", ""},
	{"c?=Equal x$ y$", "Equal_fusion(c?)"},
	{"c?=Equal x? y?", ""},
	{"c?=And x? y?", "And_fusion(c?)"},
	{"w=Where c? x y", "Where_fusion(w)"},
	{"w?=Where c? x? y?", ""},
	{"c%=Cast x$", "Cast_fusion(c%)"},
	{"t%=Transpose x%_8x4", "Transpose_fusion(t%)"},
	{"t$=Transpose x$_8x4", ""},
	{"s=ReduceSum x", "ReduceSum_fusion(s)"},
	{"s=Softmax x", ""},
	{"r=Reshape x", ""}, /* from level 1 of the list on */
};

START_TEST(types_are_those_of_ascend)
{
	expect_clusters(legal_cases[_i].graph, legal_cases[_i].composites);
}
END_TEST

START_TEST(an_existing_composite_is_a_member)
{
	build("n=Neg x;e=Softmax n;d=Div x e;m=Mul d #2");
	sk_array_push(arena, &graph->composites, (struct sk_composite){"SiLU"});
	for (int n = 0; n < 3; n++)
		graph->nodes.items[n].composite = 1;
	sk_pass_fuse_basic(graph, &flags);
	ck_assert_str_eq(describe(), "SiLU(n e d)");
	sk_pass_graph_kernel_cluster(graph, &flags);
	ck_assert_str_eq(describe(), "Neg_Softmax_Div_Mul_fusion(n e d m)");
}
END_TEST

START_TEST(long_names_end_early)
{
	const char *text = "v0=Neg x";

	for (int i = 1; i < 20; i++)
		text = sk_arena_print(arena, "%s;v%d=Neg v%d", text, i, i - 1);
	build(text);
	sk_pass_graph_kernel_cluster(graph, &flags);
	ck_assert_str_eq(graph->composites.items[0].name,
			 "Neg_Neg_Neg_Neg_Neg_Neg_Neg_Neg_Neg_Neg_Neg_Neg_Neg_Neg_Neg_Neg_fusion");
}
END_TEST

/* ---- two stages ---- */

START_TEST(the_first_stage_takes_basic_operators_the_second_what_is_around)
{
	build("m=Mul x #2;a=Add m #1;p=Pow a #3");
	ck_assert_int_eq(sk_pass_fuse_basic(graph, &flags), SK_PASS_CHANGED);
	ck_assert_str_eq(describe(), "Mul_Add_fusion(m a)");
	ck_assert_int_eq(sk_pass_graph_kernel_cluster(graph, &flags), SK_PASS_CHANGED);
	ck_assert_str_eq(describe(), "Mul_Add_Pow_fusion(m a p)");
}
END_TEST

/* Areas that were joined are elsewhere in their order than their nodes are in the graph. */
START_TEST(what_the_first_stage_has_put_together_is_taken_in_by_the_order_of_areas)
{
	build("m=Mul x #2;e=Exp z;a=Add m e;s=Softmax m;t=Softmax m;u=Softmax m;r=Div e a");
	sk_pass_fuse_basic(graph, &flags);
	sk_pass_graph_kernel_cluster(graph, &flags);
	ck_assert_str_eq(describe(), "Mul_Exp_Add_Div_fusion(m e a r)");
}
END_TEST

/* A composite has the names of the source's operators; the nodes of an expanded one have one name. */
START_TEST(names_are_those_of_the_source)
{
	build("t=Neg x;u=Neg t;m=Mul u #2;a=Add m #1");
	graph->nodes.items[2].origin = "mindspore:Muls";
	sk_array_push(arena, &graph->composites, (struct sk_composite){.name = "Square", .expanded = "Square"});
	graph->nodes.items[0].composite = graph->nodes.items[1].composite = 1;
	sk_pass_graph_kernel_cluster(graph, &flags);
	ck_assert_str_eq(describe(), "Square_Muls_Add_fusion(t u m a)");
}
END_TEST

/* Div and RealDiv of a source count by their own entries of the list. */
START_TEST(quotients_are_told_apart)
{
	flags.target = SK_TARGET_CPU;
	build("d=Div x y;e=Div x z");
	graph->nodes.items[0].origin = "mindspore:Div";
	graph->nodes.items[1].origin = "mindspore:RealDiv";
	sk_pass_graph_kernel_cluster(graph, &flags);
	ck_assert_str_eq(describe(), "RealDiv_fusion(e)");
}
END_TEST

START_TEST(a_quotient_of_onnx_is_either)
{
	flags.target = SK_TARGET_CPU;
	expect_clusters("d=Div x y", "Div_fusion(d)");
}
END_TEST

START_TEST(the_first_stage_wraps_nothing_alone)
{
	build("m=Mul x #2;p=Pow m #3");
	ck_assert_int_eq(sk_pass_fuse_basic(graph, &flags), SK_PASS_UNCHANGED);
	ck_assert_str_eq(describe(), "");
}
END_TEST

START_TEST(what_is_disabled_is_in_no_stage)
{
	add(&flags.disable_cluster_ops, "Mul");
	build("m=Mul x #2;a=Add m #1");
	ck_assert_int_eq(sk_pass_fuse_basic(graph, &flags), SK_PASS_UNCHANGED);
}
END_TEST

/* ---- pieces ---- */

/* Each pattern on either side of its conditions. */
static const struct piece_case {
	const char *graph, *pieces;
} piece_cases[] = {
	/* virtual_node */
	{"m=Mul x #2;a=sklink:Assign p m", "Mul_Assign_fusion(m a)"},
	/* elemwise_broadcast_fwd_depth */
	{"m=Mul x #2;a=Add m #1;p=Pow a #3", "Mul_Add_Pow_fusion(m a p)"},
	{"m_4x1=Mul x_4x1 #2;a=Add m_4x1 y", "Mul_Add_fusion(m_4x1 a)"}, /* bwd: the one user takes it in */
	{"m_4x1!=Mul x_4x1 #2;a=Add m_4x1 y", "Mul_split(m_4x1) Add_split(a)"},
	/* elemwise_broadcast_fwd_width */
	{"m=Mul x #2;n=Neg y;a=Add m n", "Mul_Neg_Add_fusion(m n a)"},
	{"m!=Mul x #2;e!=Exp m;a=Add m e", "Mul_Exp_Add_fusion(m e a)"},
	/* reduce_fwd_depth, reduce_fwd_width */
	{"m=Mul x #2;s_4x1=ReduceSum m", "Mul_ReduceSum_fusion(m s_4x1)"},
	{"m!=Mul x #2;s_4x1=ReduceSum m", "Mul_split(m) ReduceSum_split(s_4x1)"},
	{"m=Mul x #2;s_4x1=ReduceSum m;e!=Exp m", "Mul_Exp_split(m e) ReduceSum_split(s_4x1)"},
	/* a reduction closes an area */
	{"s_4x1=ReduceSum x;d=Div x s_4x1", "ReduceSum_split(s_4x1) Div_split(d)"},
	{"s_4x1=ReduceSum x;d_4x1=Neg s_4x1", "ReduceSum_split(s_4x1) Neg_split(d_4x1)"},
	/* elemwise_broadcast_bwd_width */
	{"m_4x1=Mul x_4x1 #2;a=Add m_4x1 y;b=Sub m_4x1 y", "Mul_Add_Sub_fusion(m_4x1 a b)"},
	{"m_4x1=Mul x_4x1 #2;a=Add m_4x1 y;b_4x9=Sub m_4x1 y_4x9", "Mul_split(m_4x1) Add_split(a) Sub_split(b_4x9)"},
	/* nodes that are not kernels by themselves */
	{"t=Transpose x_8x4", ""},
	{"c%=Cast x", ""},
	{"t=Transpose x_8x4;m=Mul t #2", "Mul_split(m)"},
};

START_TEST(pieces_are_one_loop)
{
	expect_pieces(piece_cases[_i].graph, piece_cases[_i].pieces);
}
END_TEST

static const char softmax[] = "m_4x1=ReduceSum x;d=Sub x m_4x1;e=Exp d;s_4x1=ReduceSum e;q=Div e s_4x1";

START_TEST(a_reduction_is_stitched_to_what_needs_it)
{
	flags.enable_stitch_fusion = true;
	expect_pieces(softmax, "ReduceSum_Sub_Exp_ReduceSum_Div_fusion(m_4x1 d e s_4x1 q)");
}
END_TEST

START_TEST(without_stitches_it_is_in_pieces)
{
	expect_pieces(softmax, "ReduceSum_split(m_4x1) Sub_Exp_split(d e) ReduceSum_split_2(s_4x1) Div_split(q)");
}
END_TEST

static const char product[] = "g%=MatMul x% y%_8x8;m%=Mul g% #2";

START_TEST(what_follows_a_product_is_in_its_piece)
{
	add(&flags.enable_cluster_ops, "MatMul");
	expect_pieces(product, "MatMul_Mul_fusion(g% m%)");
}
END_TEST

START_TEST(or_not_if_that_is_disabled)
{
	add(&flags.enable_cluster_ops, "MatMul");
	flags.disable_matmul_post_fusion = true;
	expect_pieces(product, "MatMul_split(g%) Mul_split(m%)");
}
END_TEST

/* A product with so many readers. */
static const char *product_of(int users)
{
	const char *text = "g=MatMul x y_8x8";

	for (int i = 0; i < users; i++)
		text = sk_arena_print(arena, "%s;m%d=Mul g z%d", text, i, i);
	return text;
}

START_TEST(five_areas_follow_a_product)
{
	flags.target = SK_TARGET_GPU;
	add(&flags.enable_cluster_ops, "MatMul");
	expect_pieces(product_of(5), "MatMul_Mul_Mul_Mul_Mul_Mul_fusion(g m0 m1 m2 m3 m4)");
}
END_TEST

START_TEST(six_do_not)
{
	flags.target = SK_TARGET_GPU;
	add(&flags.enable_cluster_ops, "MatMul");
	expect_pieces(product_of(6), "MatMul_split(g) Mul_split(m0) Mul_split_2(m1) Mul_split_3(m2) Mul_split_4(m3) "
				     "Mul_split_5(m4) Mul_split_6(m5)");
}
END_TEST

START_TEST(nothing_follows_a_product_with_one_column)
{
	flags.target = SK_TARGET_GPU;
	add(&flags.enable_cluster_ops, "MatMul");
	expect_pieces("g_4x1=MatMul x y_8x1;m_4x1=Mul g_4x1 z_4x1", "MatMul_split(g_4x1) Mul_split(m_4x1)");
}
END_TEST

START_TEST(what_reads_a_slice_is_in_its_piece)
{
	add(&flags.enable_cluster_ops, "Slice");
	expect_pieces("s=Slice x_4x9;a=Add s y", "Slice_Add_fusion(s a)");
}
END_TEST

START_TEST(unless_it_repeats_something)
{
	add(&flags.enable_cluster_ops, "Slice");
	expect_pieces("s=Slice x_4x9;a=Add s y_4x1", "Slice_split(s) Add_split(a)");
}
END_TEST

/* So many nodes in a row, then the reader of the last one. */
static void expect_row(int count, const char *shape, const char *reader, bool together)
{
	const char *text = sk_arena_print(arena, "v0%s=Neg x%s", shape, shape), *row = "", *names = "";

	for (int i = 0; i < count; i++) {
		if (i)
			text = sk_arena_print(arena, "%s;v%d%s=Neg v%d%s", text, i, shape, i - 1, shape);
		row = i < 16 ? sk_arena_join(arena, row, "Neg_") : row; /* names are cut off */
		names = sk_arena_print(arena, "%s%sv%d%s", names, i ? " " : "", i, shape);
	}
	text = sk_arena_print(arena, "%s;%s v%d%s", text, reader, count - 1, shape);
	expect_pieces(text,
		      together ? sk_arena_print(arena, "%s%s%sfusion(%s r)", row,
						count < 16 ? strchr(reader, '=') + 1 : "", count < 16 ? "_" : "", names)
			       : sk_arena_print(arena, "%ssplit(%s) %s_split(r)", row, names, strchr(reader, '=') + 1));
}

/* The patterns of the target cpu, on either side of its conditions. */
static const struct piece_case cpu_cases[] = {
	/* a reduction takes in an area that is also a result */
	{"m!=Mul x #2;s_4x1=ReduceSum m", "Mul_ReduceSum_fusion(m s_4x1)"},
	{"m=Mul x #2;s_4x1=ReduceSum m;e!=Exp m", "Mul_ReduceSum_Exp_fusion(m s_4x1 e)"},
	{"m!=Mul x #2;s_4x1=ReduceSum m;t_4x1=ReduceSum m",
	 "Mul_split(m) ReduceSum_split(s_4x1) ReduceSum_split_2(t_4x1)"},
	/* isolate_reshape: a reshape joins what it reads, whatever this computes, if no area is its reader */
	{"t=Transpose x_8x4;r_2x16=Reshape t", "Transpose_Reshape_fusion(t r_2x16)"},
	{"t=Transpose x_8x4;r_2x16=Reshape t;m_2x16=Mul r_2x16 #2",
	 "Transpose_split(t) Reshape_Mul_split(r_2x16 m_2x16)"},
	/* no product takes in its readers */
	{"g=MatMul x y_8x8;m=Mul g z", "MatMul_split(g) Mul_split(m)"},
};

START_TEST(pieces_for_cpus)
{
	flags.target = SK_TARGET_CPU;
	flags.fusion_ops_level = 1;
	add(&flags.enable_cluster_ops, "MatMul");
	expect_pieces(cpu_cases[_i].graph, cpu_cases[_i].pieces);
}
END_TEST

START_TEST(a_reduction_for_cpus_takes_in_twenty_nodes)
{
	flags.target = SK_TARGET_CPU;
	flags.fusion_ops_level = 1;
	expect_row(19 + _i, "_4x9", "r=ReduceSum", _i < 2);
}
END_TEST

START_TEST(a_reduction_takes_in_ten_nodes)
{
	expect_row(9 + _i, "_4x9", "r=ReduceSum", _i < 2);
}
END_TEST

START_TEST(six_nodes_are_taken_in_by_what_repeats_them)
{
	expect_row(5 + _i, "_4x1", "r=Expand", _i < 2);
}
END_TEST

START_TEST(what_nodes_read_that_are_gone_is_taken_in)
{
	build("v_4x1=Neg x_4x1;r=Expand v_4x1;g_4x1=Exp v_4x1");
	graph->nodes.items[2].removed = true;
	sk_pass_graph_kernel_cluster(graph, &flags);
	sk_pass_graph_kernel_splitter(graph, &flags);
	ck_assert_str_eq(describe(), "Neg_Expand_fusion(v_4x1 r)");
}
END_TEST

START_TEST(a_pattern_is_disabled_by_a_part_of_its_name)
{
	add(&flags.disable_fusion_pattern, "elemwise");
	expect_pieces("m=Mul x #2;a=Add m #1;b=Abs y;s_4x1=ReduceSum b",
		      "Mul_split(m) Add_split(a) Abs_ReduceSum_fusion(b s_4x1)");
}
END_TEST

START_TEST(only_some_patterns)
{
	add(&flags.enable_fusion_pattern_only, "fwd_depth");
	add(&flags.disable_fusion_pattern, "fwd_depth");
	expect_pieces("m=Mul x #2;a=Add m #1;n=Neg y;b=Add a n", "Mul_Add_split(m a) Neg_split(n) Add_split(b)");
}
END_TEST

START_TEST(a_piece_is_as_large_as_the_flag_says)
{
	flags.composite_op_limit_size = 3;
	expect_pieces("a=Neg x;b=Exp a;c=Abs b;d=Log c", "Neg_Exp_Abs_split(a b c) Log_split(d)");
}
END_TEST

/* If e could join either of two areas, the smaller one takes it. */
START_TEST(the_smallest_areas_come_first)
{
	flags.composite_op_limit_size = 3;
	expect_pieces("a=Neg x;b=Exp a;c=Abs y;d=Log z;e=Add b c;f=Max d e",
		      "Neg_Exp_split(a b) Abs_Add_split(c e) Log_Max_split(d f)");
}
END_TEST

START_TEST(a_reduction_takes_in_areas_up_to_a_size)
{
	flags.reduce_fuse_depth = 1;
	expect_pieces("m=Mul x #2;a=Add m #1;s_4x1=ReduceSum a", "Mul_Add_split(m a) ReduceSum_split(s_4x1)");
}
END_TEST

START_TEST(on_the_host_the_planner_splits)
{
	flags.target = SK_TARGET_HOST;
	expect_pieces(softmax, "ReduceSum_Sub_Exp_ReduceSum_Div_fusion(m_4x1 d e s_4x1 q)");
}
END_TEST

/* ---- after fusion ---- */

static const struct {
	void (*pass)(struct sk_op_graph *graph);
	const char *graph;
	uint32_t one, other; /* nodes that become the other one */
} joins[] = {
	{sk_graph_normalise, "c=Conv x #w;b=BatchNormalization c #s #b #m #v", 0, 1},
	{sk_graph_quantise, "a=DequantizeLinear x& #s;b=DequantizeLinear w&_8x8 #t;p=MatMul a b;q&=QuantizeLinear p #u",
	 2, 3},
};

START_TEST(what_is_made_of_two_is_a_member_if_both_were)
{
	struct sk_graph_node *nodes;

	for (uint32_t same = 0; same < 2; same++) {
		graph = sk_graph_create(arena, &diag, "test");
		build(joins[_i].graph);
		nodes = graph->nodes.items;
		nodes[joins[_i].one].composite = 1;
		nodes[joins[_i].other].composite = same ? 1 : 2;
		joins[_i].pass(graph);
		ck_assert(nodes[joins[_i].one].removed);
		ck_assert_uint_eq(nodes[joins[_i].other].composite, same);
	}
}
END_TEST

/* The sums of bytes would not fit 32 bits; or 0 would be multiplied by infinity. */
START_TEST(products_that_would_overflow_stay_floats)
{
	static const struct {
		unsigned terms;
		float divisor;
		bool joined;
	} cases[] = {{33025, 2, true}, {33026, 2, false}, {8, 0x1p-125f, true}, {8, 0x1p-126f, false}, {8, 0, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		graph = sk_graph_create(arena, &diag, "test");
		build(sk_arena_print(arena,
				     "a=DequantizeLinear x&_4x%u #s;b=DequantizeLinear w&_%ux8 #t;p=MatMul a b;"
				     "q&=QuantizeLinear p #u",
				     cases[i].terms, cases[i].terms));
		graph->values.items[sk_graph_value(graph, "#u")].contents = &cases[i].divisor;
		for (const char *name = "ab"; *name; name++) {
			struct sk_value *factor = &graph->values.items[sk_graph_value(graph, (const char[]){*name, 0})];

			factor->shape[*name == 'a'] = cases[i].terms;
		}
		sk_graph_quantise(graph);
		ck_assert_msg(graph->nodes.items[2].removed == cases[i].joined, "case %zu", i);
	}
}
END_TEST

/* ---- any graph ---- */

enum { NODES = 40 };

static unsigned state;

static unsigned draw(unsigned below)
{
	state = state * 1103515245 + 12345;
	return (state >> 16) % below;
}

/* Some of the operators are in no list. */
static void build_random(void)
{
	static const char *const unary[] = {"Neg", "Exp", "Softmax", "Abs"}, *const binary[] = {"Add", "Mul", "Atan2"};
	const char *text = "";

	for (unsigned n = 0; n < NODES; n++) {
		unsigned reach = n < 8 ? n + 1 : 8;

		if (draw(2) || n < 2)
			text = sk_arena_print(arena, "%sv%u=%s v%d;", text, n, unary[draw(4)],
					      (int)n - 1 - (int)draw(reach));
		else
			text = sk_arena_print(arena, "%sv%u=%s v%d v%d;", text, n, binary[draw(3)],
					      (int)n - 1 - (int)draw(reach), (int)n - 1 - (int)draw(reach));
	}
	build(text);
}

static bool reads(uint32_t user, uint32_t producer)
{
	const struct sk_graph_node *node = &graph->nodes.items[user];

	for (size_t i = 0; i < node->inputs.count; i++)
		if (graph->values.items[node->inputs.items[i]].node == producer)
			return true;
	return false;
}

/* Find the paths from one node to the other, of at least one edge. */
static void find_paths(bool paths[NODES][NODES])
{
	for (uint32_t to = 0; to < NODES; to++)
		for (uint32_t from = to; from--;) {
			paths[from][to] = reads(to, from);
			for (uint32_t between = from + 1; between < to && !paths[from][to]; between++)
				paths[from][to] = reads(between, from) && paths[between][to];
		}
}

/* Directly, from the definition: a node of none between two of one. */
static void expect_convex(void)
{
	static bool paths[NODES][NODES];
	const struct sk_graph_node *nodes = graph->nodes.items;

	find_paths(paths);
	for (uint32_t a = 0; a < NODES; a++)
		for (uint32_t b = a + 1; b < NODES; b++)
			for (uint32_t c = b + 1; c < NODES; c++)
				ck_assert_msg(!nodes[a].composite || nodes[a].composite != nodes[c].composite ||
						      nodes[b].composite == nodes[a].composite || !paths[a][b] ||
						      !paths[b][c],
					      "v%u lies between v%u and v%u", b, a, c);
}

/* Compute, by the rule's definition, the nodes that the last possible member has to take in: all that may be members,
 * except those that outside nodes lead to from inside, and all nodes after these. */
static void expect_closure(const bool *legal)
{
	bool inside[NODES] = {false}, tainted[NODES] = {false};
	uint32_t root = NODES - 1;

	while (root && !legal[root])
		root--;
	inside[root] = true;
	for (uint32_t n = root; n--;) {
		bool read = false;

		for (uint32_t user = n + 1; user <= root; user++) {
			tainted[n] |= reads(user, n) && tainted[user];
			read |= reads(user, n) && inside[user];
		}
		inside[n] = read && legal[n] && !tainted[n];
		tainted[n] |= read && !inside[n];
	}
	for (uint32_t n = 0; n < root; n++)
		if (inside[n])
			ck_assert_uint_eq(graph->nodes.items[n].composite, graph->nodes.items[root].composite);
}

START_TEST(random_graphs_have_convex_composites)
{
	bool legal[NODES];

	for (unsigned seed = 0; seed < 200; seed++) {
		state = seed;
		open_graph();
		flags.enable_stitch_fusion = seed % 2;
		build_random();
		for (uint32_t n = 0; n < NODES; n++)
			legal[n] = strcmp(graph->nodes.items[n].op, "Softmax") &&
				   strcmp(graph->nodes.items[n].op, "Atan2");
		if (seed % 4 < 2)
			sk_pass_fuse_basic(graph, &flags);
		expect_convex();
		sk_pass_graph_kernel_cluster(graph, &flags);
		expect_convex();
		if (seed % 4 >= 2)
			expect_closure(legal);
		sk_pass_graph_kernel_splitter(graph, &flags);
		expect_convex();
		close_graph();
	}
}
END_TEST

/* ---- how long it takes ---- */

/* Chains in which each node also reads one a fixed number of nodes before it: a join has to search those in between. */
static uint64_t count_steps(uint32_t count, uint32_t skip, uint32_t foreign)
{
	uint32_t *nodes = SK_NEW_ARRAY(arena, uint32_t, count), *places = SK_NEW_ARRAY(arena, uint32_t, count + 1);
	struct sk_areas *areas;

	graph = sk_graph_create(arena, &diag, "test");
	for (uint32_t i = 0; i < count; i++) {
		char *text = sk_arena_print(arena, "v%u=Add v%d v%d", i, (int)i - 1, (int)i - 1 - (int)skip);

		add_node(text);
		nodes[i] = i;
	}
	areas = sk_areas_create(graph, nodes, count, places);
	for (uint32_t i = count - 1; i--;) {
		uint32_t set[] = {sk_area_find(areas, i + 1), i};

		if (i % foreign && (i + 1) % foreign)
			sk_areas_join(areas, set, 2);
		set[0] = sk_area_find(areas, i);
		set[1] = sk_area_find(areas, i > skip ? i - skip : 0);
		if (i > skip && set[0] != set[1])
			sk_areas_join(areas, set, 2);
	}
	return areas->steps;
}

START_TEST(steps_grow_with_the_graph)
{
	static const uint32_t skips[] = {1, 7, 100}, foreign[] = {UINT32_MAX, 2, 5};

	open_graph();
	for (int s = 0; s < 3; s++)
		for (int f = 0; f < 3; f++) {
			uint64_t one = count_steps(5000, skips[s], foreign[f]),
				 two = count_steps(10000, skips[s], foreign[f]);

			ck_assert_msg(two < 5 * one / 2, "%lu steps, then %lu", one, two);
		}
	close_graph();
}
END_TEST

/* A value that so many nodes read: how many edges clusters look at. */
static uint64_t count_looks(uint32_t count)
{
	uint32_t *nodes = SK_NEW_ARRAY(arena, uint32_t, count + 1), *places = SK_NEW_ARRAY(arena, uint32_t, count + 2);
	struct sk_areas *areas;

	graph = sk_graph_create(arena, &diag, "test");
	add_node(sk_arena_join(arena, "v=Neg x", ""));
	for (uint32_t i = 1; i <= count; i++) {
		add_node(sk_arena_print(arena, "u%u=Exp v", i));
		nodes[i] = i;
	}
	areas = sk_areas_create(graph, nodes, count + 1, places);
	for (uint32_t i = count; i; i--) {
		uint32_t set[] = {sk_area_find(areas, 0), i};

		sk_areas_join(areas, set, 2);
	}
	return areas->looked;
}

START_TEST(edges_of_a_wide_area_are_not_looked_at_again_and_again)
{
	uint64_t one, two;

	open_graph();
	one = count_looks(20000);
	two = count_looks(40000);
	ck_assert_msg(two < 5 * one / 2, "%lu edges, then %lu", one, two);
	close_graph();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("composites");
	TCase *clusters = tcase_create("clusters"), *pieces = tcase_create("pieces"), *any = tcase_create("any");

	tcase_add_checked_fixture(clusters, open_graph, close_graph);
	tcase_add_test(clusters, what_hangs_together_is_one_composite);
	tcase_add_test(clusters, what_stands_alone_is_wrapped_but_no_assignment);
	tcase_add_test(clusters, two_that_share_an_input_are_one_through_its_producer);
	tcase_add_test(clusters, two_that_share_an_input_of_the_network_are_two);
	tcase_add_test(clusters, no_two_have_one_name);
	tcase_add_test(clusters, no_path_leaves_a_composite_and_comes_back);
	tcase_add_test(clusters, what_is_behind_one_that_is_refused_is_refused_too);
	tcase_add_test(clusters, a_scope_is_a_border);
	tcase_add_test(clusters, lists_say_who_may_be_in);
	tcase_add_test(clusters, a_product_is_in_if_it_is_asked_for);
	tcase_add_test(clusters, ascend_has_no_products_of_f32);
	tcase_add_test(clusters, other_targets_have);
	tcase_add_test(clusters, disabling_wins_over_enabling);
	tcase_add_test(clusters, only_makes_the_others_ignored);
	tcase_add_loop_test(clusters, types_are_those_of_ascend, 0, sizeof(legal_cases) / sizeof(legal_cases[0]));
	tcase_add_test(clusters, an_existing_composite_is_a_member);
	tcase_add_test(clusters, long_names_end_early);
	tcase_add_test(clusters, the_first_stage_takes_basic_operators_the_second_what_is_around);
	tcase_add_test(clusters, what_the_first_stage_has_put_together_is_taken_in_by_the_order_of_areas);
	tcase_add_test(clusters, names_are_those_of_the_source);
	tcase_add_test(clusters, quotients_are_told_apart);
	tcase_add_test(clusters, a_quotient_of_onnx_is_either);
	tcase_add_test(clusters, the_first_stage_wraps_nothing_alone);
	tcase_add_test(clusters, what_is_disabled_is_in_no_stage);
	suite_add_tcase(suite, clusters);
	tcase_add_checked_fixture(pieces, open_graph, close_graph);
	tcase_add_loop_test(pieces, pieces_are_one_loop, 0, sizeof(piece_cases) / sizeof(piece_cases[0]));
	tcase_add_test(pieces, a_reduction_is_stitched_to_what_needs_it);
	tcase_add_test(pieces, without_stitches_it_is_in_pieces);
	tcase_add_test(pieces, what_follows_a_product_is_in_its_piece);
	tcase_add_test(pieces, or_not_if_that_is_disabled);
	tcase_add_test(pieces, five_areas_follow_a_product);
	tcase_add_test(pieces, six_do_not);
	tcase_add_test(pieces, nothing_follows_a_product_with_one_column);
	tcase_add_test(pieces, what_reads_a_slice_is_in_its_piece);
	tcase_add_test(pieces, unless_it_repeats_something);
	tcase_add_loop_test(pieces, a_reduction_takes_in_ten_nodes, 0, 3);
	tcase_add_loop_test(pieces, six_nodes_are_taken_in_by_what_repeats_them, 0, 3);
	tcase_add_test(pieces, what_nodes_read_that_are_gone_is_taken_in);
	tcase_add_test(pieces, a_pattern_is_disabled_by_a_part_of_its_name);
	tcase_add_test(pieces, only_some_patterns);
	tcase_add_test(pieces, a_piece_is_as_large_as_the_flag_says);
	tcase_add_test(pieces, the_smallest_areas_come_first);
	tcase_add_test(pieces, a_reduction_takes_in_areas_up_to_a_size);
	tcase_add_loop_test(pieces, pieces_for_cpus, 0, sizeof(cpu_cases) / sizeof(cpu_cases[0]));
	tcase_add_loop_test(pieces, a_reduction_for_cpus_takes_in_twenty_nodes, 0, 3);
	tcase_add_test(pieces, on_the_host_the_planner_splits);
	tcase_add_loop_test(pieces, what_is_made_of_two_is_a_member_if_both_were, 0, 2);
	tcase_add_test(pieces, products_that_would_overflow_stay_floats);
	suite_add_tcase(suite, pieces);
	tcase_add_test(any, random_graphs_have_convex_composites);
	tcase_add_test(any, steps_grow_with_the_graph);
	tcase_add_test(any, edges_of_a_wide_area_are_not_looked_at_again_and_again);
	tcase_set_timeout(any, 0);
	suite_add_tcase(suite, any);
	return run_suite(suite);
}
