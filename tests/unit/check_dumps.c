/* Tests of graph/dumps/: the files after each pass, and the texts of dump_as_text. tests/graph/dumps.sh compares the
 * contents of the forms of a dump. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "format/skplan.h"
#include "graph/dumps/dumps-parts.h"
#include "graph/dumps/dumps.h"
#include "graph/graph.h"
#include "tests/lib/scratch.h"
#include "tests/lib/sink.h"
#include "tests/lib/suite.h"

static struct sk_op_graph *graph;

/* A chain of nodes, each with the value of the one before it: v0 -> Neg n0 -> v1 -> Abs n1 -> v2 … */
static void make_chain(const char *const *ops)
{
	uint32_t before = sk_graph_value(graph, "v0");

	for (uint32_t i = 0; ops[i]; i++) {
		struct sk_graph_node *node = sk_graph_add_node(graph, ops[i]);
		uint32_t value = sk_graph_value(graph, sk_arena_print(arena, "v%u", i + 1));

		node->name = sk_arena_print(arena, "n%u", i);
		node->domain = "";
		sk_array_push(arena, &node->inputs, before);
		sk_array_push(arena, &node->outputs, value);
		graph->values.items[value].node = i;
		before = value;
	}
	for (size_t i = 0; i < graph->values.count; i++) {
		graph->values.items[i].dtype = SK_F32;
		graph->values.items[i].shaped = true;
	}
	graph->values.items[0].input = true;
	sk_array_push(arena, &graph->inputs, 0);
	sk_array_push(arena, &graph->outputs, before);
}

static void set_up(void)
{
	open_sink();
	graph = sk_graph_create(arena, &diag, "graph");
	graph->name = "chain";
	make_chain((const char *const[]){"Neg", "Abs", "Exp", "Log", "Sqrt", NULL});
}

static void tear_down(void)
{
	expect_messages("");
	close_sink();
}

/* A digit for each node: the composite that it is in, from 1 on. The composites have these names. */
static void compose(const char *composites, const char *const *names)
{
	graph->composites.count = 0;
	for (size_t i = 0; names[i]; i++)
		sk_array_push(arena, &graph->composites, (struct sk_composite){names[i]});
	for (size_t i = 0; composites[i]; i++)
		graph->nodes.items[i].composite = (uint32_t)(composites[i] - '0');
}

#define COMPOSE(composites, ...) compose(composites, (const char *const[]){__VA_ARGS__, NULL})

static void expect_text(const struct sk_cluster_text *text, const char *expected)
{
	char *bytes = SK_NEW_ARRAY(arena, char, text->size + 1);

	for (size_t i = 0; i < text->parts.count; i++)
		memcpy(bytes + text->parts.items[i].offset, text->parts.items[i].bytes, text->parts.items[i].size);
	ck_assert_str_eq(bytes, expected);
}

#define N0  "\"n0\" = \"Neg\"(\"v0\": f32[]) -> (\"v1\": f32[])\n"
#define N1  "\"n1\" = \"Abs\"(\"v1\": f32[]) -> (\"v2\": f32[])\n"
#define N2  "\"n2\" = \"Exp\"(\"v2\": f32[]) -> (\"v3\": f32[])\n"
#define N3  "\"n3\" = \"Log\"(\"v3\": f32[]) -> (\"v4\": f32[])\n"
#define N4  "\"n4\" = \"Sqrt\"(\"v4\": f32[]) -> (\"v5\": f32[])\n"
#define END "=======================\n"

/* Each composite that is new or larger than before the first pass is listed once, as the last pass that makes some has
 * left it; later passes do not change that. */
START_TEST(clusters)
{
	struct sk_cluster_texts texts;

	COMPOSE("00033", "gone", "also gone", "Log_Sqrt");
	sk_cluster_texts_begin(&texts, graph);
	COMPOSE("02211", "Log_Sqrt", "Abs_Exp");
	sk_cluster_texts_add(&texts, graph, SK_CLUSTERS);
	expect_text(&texts.clusters, "Source nodes of \"Abs_Exp\" = composite 1\n  " N1 "  " N2 END);
	COMPOSE("11122", "Neg_Abs_Exp", "Log_Sqrt");
	sk_cluster_texts_add(&texts, graph, SK_CLUSTERS);
	COMPOSE("11111", "all");
	sk_cluster_texts_add(&texts, graph, SK_OTHER_PASS);
	expect_text(&texts.clusters, "Source nodes of \"Neg_Abs_Exp\" = composite 0\n  " N0 "  " N1 "  " N2 END);
	expect_text(&texts.splits, "");
}
END_TEST

#define JSON(name, op, input, output)                                                                                  \
	"{\"name\": \"" name "\", \"op\": \"" op "\", \"inputs\": [\"" input "\"], \"outputs\": [\"" output "\"]}"

START_TEST(splits)
{
	struct sk_cluster_texts texts;

	COMPOSE("11222", "first \"one\"", "second");
	sk_cluster_texts_begin(&texts, graph);
	COMPOSE("11303", "first", "", "Exp_Sqrt");
	sk_cluster_texts_add(&texts, graph, SK_CUTS);
	expect_text(&texts.splits,
		    "********** main graph: \"first \\\"one\\\"\" **********\n"
		    "Graph unchanged.\n"
		    "********** main graph: \"second\" **********\n"
		    "-------- subgraph 0, mode: composite --------\n"
		    "  " N2 "  " N4 "json: [" JSON("n2", "Exp", "v2", "v3") ", " JSON(
			    "n4", "Sqrt", "v4", "v5") "]\n"
						      "-------- subgraph 1, mode: basic --------\n"
						      "  " N3 "json: [" JSON("n3", "Log", "v3", "v4") "]\n");
	expect_text(&texts.clusters, "");
}
END_TEST

/* A pass may insert nodes before others: nodes are recognised by their outputs. */
START_TEST(places)
{
	struct sk_cluster_texts texts;
	sk_graph_nodes before = graph->nodes;
	struct sk_graph_node *node;

	COMPOSE("01122", "Abs_Exp", "Log_Sqrt");
	sk_cluster_texts_begin(&texts, graph);
	memset(&graph->nodes, 0, sizeof(graph->nodes));
	node = sk_graph_add_node(graph, "Cos");
	sk_array_push(arena, &node->outputs, sk_graph_value(graph, "new"));
	for (uint32_t i = 0; i < before.count; i++) {
		sk_array_push(arena, &graph->nodes, before.items[i]);
		graph->values.items[before.items[i].outputs.items[0]].node = i + 1;
	}
	sk_cluster_texts_add(&texts, graph, SK_CLUSTERS);
	expect_text(&texts.clusters, "");
	COMPOSE("001122", "Abs_Exp", "Log_Sqrt");
	sk_cluster_texts_add(&texts, graph, SK_CUTS);
	expect_text(&texts.splits, "********** main graph: \"Abs_Exp\" **********\nGraph unchanged.\n"
				   "********** main graph: \"Log_Sqrt\" **********\nGraph unchanged.\n");
}
END_TEST

static bool exists(const char *name, const char *ending)
{
	return access(sk_arena_print(arena, "%s/%s%s", scratch_folder, name, ending), F_OK) == 0;
}

static void expect_dump(const char *name)
{
	ck_assert_msg(exists(name, ".dot") && exists(name, ".ir") && exists(name, ".pbtxt"), "there is no %s", name);
}

START_TEST(names)
{
	struct sk_dumps *dumps = sk_dumps_begin(graph, (struct sk_dump_folders){scratch_folder, scratch_folder, NULL});
	const char *text = sk_arena_print(arena, "graph_kernel_cluster_%ld", (long)getpid());

	COMPOSE("02200", "gone", "Abs_Exp");
	ck_assert(sk_dumps_after(dumps, graph, "fusion_group_9_a_rule", "a_rule", false));
	ck_assert(sk_dumps_after(dumps, graph, "fusion_group_10_a_rule", "a_rule", true));
	ck_assert(sk_dumps_after(dumps, graph, "stage1_cluster_5_fuse_basic", "fuse_basic", true));
	ck_assert(sk_dumps_after(dumps, graph, "stage3_split_0_graph_kernel_splitter", "graph_kernel_splitter", false));
	ck_assert(sk_dumps_end(dumps, graph));
	ck_assert(!exists("6_validate", ".dot"));
	ck_assert(sk_files_finish(&diag));
	expect_dump("6_validate");
	expect_dump("hwopt_fusion_group_10_a_rule_0000");
	expect_dump("hwopt_stage1_cluster_5_fuse_basic_0001");
	expect_dump("hwopt_d_fuse_basic_opt_end_graph_0");
	expect_dump("hwopt_d_composite_opt_end_graph_0");
	ck_assert(!exists("hwopt_fusion_group_9_a_rule_0000", ".ir"));
	ck_assert(!exists("hwopt_stage3_split_0_graph_kernel_splitter_0002", ".ir"));
	ck_assert(exists(text, ".txt"));
}
END_TEST

START_TEST(nothing)
{
	struct sk_dumps *dumps = sk_dumps_begin(graph, (struct sk_dump_folders){NULL, NULL, NULL});

	ck_assert(sk_dumps_after(dumps, graph, "stage1_cluster_5_fuse_basic", "fuse_basic", true));
	ck_assert(sk_dumps_end(dumps, graph));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dumps");
	TCase *tests = tcase_create("dumps");

	scratch_add(tests);
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, clusters);
	tcase_add_test(tests, splits);
	tcase_add_test(tests, places);
	tcase_add_test(tests, names);
	tcase_add_test(tests, nothing);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
