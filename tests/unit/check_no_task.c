/* FusionVirtualOpSetSwitch on `ascend`: each condition of CANN's rules, on either side. A case is a small graph of
 * GE's, p -> s -> a, b for splits and p, q -> c -> u for Concat, in which the case replaces some parts. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"
#include "graph/onnx/onnx.h"
#include "graph/operators/operators.h"
#include "graph/rewrites/rewrites.h"
#include "tests/lib/sink.h"
#include "tests/lib/suite.h"

static char path[] = "/tmp/check_no_task.XXXXXX.pbtxt";

#define I(name, number) "attribute { name: '" name "' i: " #number " type: INT } "
#define S(name, text)	"attribute { name: '" name "' s: '" text "' type: STRING } "
#define L(name, items)	"attribute { name: '" name "' ints: [" items "] type: INTS } "

/* The attributes for formats in the description of a node's tensors. */
#define FORMATS(side, number, origin, format)                                                                          \
	S(side "_desc_origin_layout:" #number, origin) S(side "_desc_layout:" #number, format)
#define SHAPE(side, number, items) L(side "_desc_origin_shape:" #number, items)

struct test_case {
	const char *what;
	const char *reason; /* why it has a task; NULL: it has none */
	const char *axis; /* of the Split or Concat: "0" */
	const char *shape, *part; /* of the whole, and of each part: "4, 8" and "2, 8" */
	const char *type; /* "DT_FLOAT" */
	const char *producer, *consumer; /* "Relu", "Neg" */
	const char *of_node, *of_producer, *of_consumer; /* further attributes: of s or c, p, and of a or u */
	const char *whole; /* the value that s splits, or u takes, instead of the node before */
	const char *second; /* of Concat: instead of q */
	const char *outputs; /* of the network: "a:0", "b:0" */
	const char *more; /* nodes, before the others */
};

static const char *or_else(const char *given, const char *otherwise)
{
	return given ? given : otherwise;
}

static struct sk_op_graph *read_model(const char *nodes)
{
	FILE *file = fopen(path, "wb");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_gt(
		fprintf(file, "ir_version: 6 producer_name: 'GE' opset_import { version: 1 } graph { %s }", nodes), 0);
	ck_assert_int_eq(fclose(file), 0);

	struct sk_op_graph *graph = sk_onnx_read(arena, &diag, path, false);

	expect_messages("");
	ck_assert_ptr_nonnull(graph);
	for (size_t i = 0; i < graph->nodes.count; i++) {
		struct sk_graph_node *at = &graph->nodes.items[i];
		const struct sk_schema *schema = sk_schema_find(at->domain, at->op);

		if (schema)
			sk_schema_note(graph, at, schema);
	}
	return graph;
}

static const char *describe(const char *type, const char *shape, size_t number)
{
	return sk_arena_print(arena,
			      "attribute { name: 'output_desc_dtype:%zu' s: '%s' type: STRING } "
			      "attribute { name: 'output_desc_shape:%zu' ints: [%s] type: INTS } ",
			      number, type, number, shape);
}

/* Inputs, attributes and descriptions of one node with one or two outputs. */
static const char *node(const char *name, const char *op, const char *inputs, const char *attributes, const char *type,
			const char *shape, bool two)
{
	return sk_arena_print(
		arena, "node { name: '%s' op_type: 'ge:%s' input: [%s] output: [%s] %s%s%s}\n", name, op, inputs,
		two ? sk_arena_print(arena, "'%s:0', '%s:1'", name, name) : sk_arena_print(arena, "'%s:0'", name),
		attributes, describe(type, shape, 0), two ? describe(type, shape, 1) : "");
}

static const char *number(const char *name, const char *value)
{
	return sk_arena_print(arena, "attribute { name: '%s' i: %s type: INT } ", name, value);
}

static const char *join(const char *one, const char *other)
{
	return sk_arena_join(arena, one, other);
}

static struct sk_op_graph *read_split(const struct test_case *test)
{
	const char *type = or_else(test->type, "DT_FLOAT"), *shape = or_else(test->shape, "4, 8");
	const char *part = or_else(test->part, "2, 8"), *text = or_else(test->more, "");

	text = join(text, node("x", "Data", "", "", type, shape, false));
	text = join(text, node("p", or_else(test->producer, "Relu"), "'x:0'", or_else(test->of_producer, ""), type,
			       shape, false));
	text = join(text, node("s", "SplitD", or_else(test->whole, "'p:0'"),
			       join(join(number("split_dim", or_else(test->axis, "0")), number("num_split", "2")),
				    or_else(test->of_node, "")),
			       type, part, true));
	text = join(text, node("a", or_else(test->consumer, "Neg"), "'s:0'",
			       or_else(test->of_consumer, I("imply_type", 1)), type, part, false));
	text = join(text, node("b", "Exp", "'s:1'", I("imply_type", 1), type, part, false));
	return read_model(
		join(text, node("out", "NetOutput", or_else(test->outputs, "'a:0', 'b:0'"), "", type, part, false)));
}

static struct sk_op_graph *read_concat(const struct test_case *test)
{
	const char *type = or_else(test->type, "DT_FLOAT"), *shape = or_else(test->shape, "4, 8");
	const char *part = or_else(test->part, "2, 8"), *text = or_else(test->more, "");
	const char *inputs =
		sk_arena_print(arena, "%s, %s", or_else(test->whole, "'p:0'"), or_else(test->second, "'q:0'"));

	text = join(text, node("x", "Data", "", "", type, part, false));
	text = join(text, node("p", or_else(test->producer, "Relu"), "'x:0'", or_else(test->of_producer, ""), type,
			       part, false));
	text = join(text, node("q", "Exp", "'x:0'", "", type, part, false));
	text = join(text, node("c", "ConcatD", inputs,
			       join(join(number("concat_dim", or_else(test->axis, "0")), number("N", "2")),
				    or_else(test->of_node, "")),
			       type, shape, false));
	text = join(text, node("u", or_else(test->consumer, "Neg"), "'c:0'", or_else(test->of_consumer, ""), type,
			       shape, false));
	return read_model(
		join(text, node("out", "NetOutput", or_else(test->outputs, "'u:0'"), "", type, shape, false)));
}

static const struct sk_graph_node *find_node(const struct sk_op_graph *graph, const char *name)
{
	for (size_t i = 0; i < graph->nodes.count; i++)
		if (!strcmp(graph->nodes.items[i].name, name))
			return &graph->nodes.items[i];
	ck_abort_msg("there is no node %s", name);
}

static void expect(const struct test_case *test, struct sk_op_graph *graph, const char *name)
{
	const struct sk_fusion_flags flags = {.target = SK_TARGET_ASCEND};
	const struct sk_graph_node *found;

	ck_assert_int_eq(sk_pass_no_task(graph, &flags), SK_PASS_UNCHANGED);
	found = find_node(graph, name);
	if (!test->reason) {
		ck_assert_msg(found->slices == SK_SLICES_ALL, "%s: it has a task: %s", test->what,
			      found->refusals.count ? found->refusals.items[0] : "not tried");
		return;
	}
	ck_assert_msg(found->slices == SK_SLICES_REFUSED, "%s: it has no task", test->what);
	ck_assert_uint_ge(found->refusals.count, 1);
	ck_assert_msg(strstr(found->refusals.items[found->refusals.count - 1], test->reason) != NULL, "%s: %s",
		      test->what, found->refusals.items[found->refusals.count - 1]);
}

#define STORED(number, origin, format, shape) FORMATS("input", number, origin, format) SHAPE("input", number, shape)
#define NZ(shape)			      STORED(0, "ND", "FRACTAL_NZ", shape)
#define NC1HWC0(shape, part)		      STORED(0, "NCHW", "NC1HWC0", shape) SHAPE("output", 0, part) SHAPE("output", 1, part)

static const struct test_case splits[] = {
	{"a split along the first axis", NULL},
	{"of an input", NULL, .whole = "'x:0'"},
	{"of a constant", "'k' is a constant", .whole = "'k'",
	 .more = "initializer { name: 'k' data_type: 1 dims: [4, 8] float_data: "
		 "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,"
		 "17,18,19,20,21,22,23,24,25,26,27,28,29,30,31] } "},
	{"behind TransData of an input", "'p' is a TransData of an input of the network", .producer = "TransData"},
	{"behind Reshape of an input", "'p' is a Reshape of an input of the network", .producer = "Reshape"},
	{"behind TransData of another node", NULL, .whole = "'t:0'",
	 .more = "node { name: 't' op_type: 'ge:TransData' input: 'p:0' output: 't:0' " S(
		 "output_desc_dtype:0", "DT_FLOAT") L("output_desc_shape:0", "4, 8") "} "},
	{"behind a node without a task", "'p' has no task itself", .of_producer = I("_no_task", 1)},
	{"behind a node with a task, said", NULL, .of_producer = "attribute { name: '_no_task' type: INT } "},
	{"behind atomic outputs", "'p' has an 'atomic_output_index'", .of_producer = L("atomic_output_index", "0")},
	{"behind a list of no atomic outputs", NULL,
	 .of_producer = "attribute { name: 'atomic_output_index' type: INTS } "},
	{"in front of the network's outputs", "'s:0' is an output of the network", .outputs = "'s:0', 'b:0'"},
	{"in front of HcomBroadcast", "is a HcomBroadcast", .consumer = "HcomBroadcast"},
	{"in front of HcomAllGather", "is a HcomAllGather", .consumer = "HcomAllGather"},
	{"in front of HcomAllReduce", "is a HcomAllReduce", .consumer = "HcomAllReduce"},
	{"in front of HcomReduceScatter", "is a HcomReduceScatter", .consumer = "HcomReduceScatter"},
	{"in front of HcomReduce", "is a HcomReduce", .consumer = "HcomReduce"},
	{"in front of SplitVD", "is a SplitVD", .consumer = "SplitVD"},
	{"in front of a node without a task", "'a' takes an output and has no task itself",
	 .of_consumer = I("imply_type", 1) I("_no_task", 1)},
	{"in front of another implementation", "its 'imply_type' is 3, not 1", .of_consumer = I("imply_type", 3)},
	{"in front of imply_type 0", "its 'imply_type' is 0, not 1",
	 .of_consumer = "attribute { name: 'imply_type' type: INT } "},
	{"in front of a kernel of the library, which says nothing", NULL, .of_consumer = ""},
	{"in front of what no kernel computes", "its 'imply_type' is 0, not 1", .consumer = "Reshape",
	 .of_consumer = ""},
	{"in front of a virtual operator", "has a '_fusion_virtual_op'",
	 .of_consumer = I("imply_type", 1) S("_fusion_virtual_op", "v")},
	{"in front of an empty '_fusion_virtual_op'", NULL,
	 .of_consumer = I("imply_type", 1) S("_fusion_virtual_op", "")},
	{"in front of continuous inputs", "wants its inputs adjacent in memory",
	 .of_consumer = I("imply_type", 1) I("continuous_input", 1)},
	{"in front of inputs that are not", NULL,
	 .of_consumer = I("imply_type", 1) "attribute { name: 'continuous_input' type: INT } "},
	{"in front of atomic outputs", "'a' takes an output and has an 'atomic_output_index'",
	 .of_consumer = I("imply_type", 1) L("atomic_output_index", "0")},
	{"in front of no atomic outputs", NULL,
	 .of_consumer = I("imply_type", 1) "attribute { name: 'atomic_output_index' type: INTS } "},
	{"inputs in L1", "'_input_memory_type' of 's' has 65536, which is L1",
	 .of_node = L("_input_memory_type", "2, 65536")},
	{"inputs in L2", "'_input_memory_type' of 's' has 131072, which is L2",
	 .of_node = L("_input_memory_type", "131072")},
	{"outputs in L1", "'_output_memory_type' of 's' has 65536, which is L1",
	 .of_node = L("_output_memory_type", "65536, 2")},
	{"outputs in L2", "'_output_memory_type' of 's' has 131072, which is L2",
	 .of_node = L("_output_memory_type", "131072")},
	{"in HBM", NULL, .of_node = L("_input_memory_type", "2") L("_output_memory_type", "2, 0")},
	{"outputs that do not add up", "the outputs have 24 elements together, and the input has 32", .part = "3, 4"},

	/* split_n */
	{"the last axis", "the axis is 1, and axis 0 of output 0 does not have one element", .axis = "1",
	 .part = "4, 4"},
	{"the first axis, counted from behind", NULL, .axis = "-2"},
	{"-2 of four dimensions is 2", "the axis is 2, neither 0 nor 1", .axis = "-2", .shape = "1, 32, 32, 1",
	 .part = "1, 32, 16, 1"},
	{"-4 of four dimensions is 0", NULL, .axis = "-4", .shape = "2, 32, 32, 1", .part = "1, 32, 32, 1"},
	{"ND as FRACTAL_NZ of two dimensions turns 0 to 1",
	 "the axis is 1, and axis 0 of output 0 does not have one element", .shape = "4, 2, 16, 16",
	 .part = "4, 1, 16, 16", .of_node = NZ("32, 64")},
	{"and 1 to 0", NULL, .axis = "1", .shape = "4, 2, 16, 16", .part = "2, 2, 16, 16", .of_node = NZ("32, 64")},
	{"and -1", NULL, .axis = "-1", .shape = "4, 2, 16, 16", .part = "2, 2, 16, 16", .of_node = NZ("32, 64")},
	{"not of three dimensions", NULL, .shape = "2, 1, 2, 16, 16", .part = "1, 1, 2, 16, 16",
	 .of_node = NZ("2, 32, 16")},
	{"NCHW as HWCN is never split", "the axis is 3, neither 0 nor 1", .shape = "2, 2, 8, 4", .part = "2, 2, 8, 2",
	 .of_node = STORED(0, "NCHW", "HWCN", "4, 8, 2, 2")},
	{"not even along its first axis", "the axis is 3, neither 0 nor 1", .axis = "2", .shape = "2, 2, 8, 4",
	 .part = "1, 2, 8, 4", .of_node = STORED(0, "NCHW", "HWCN", "4, 8, 2, 2")},

	/* split_c_to_n */
	{"channels of one image", NULL, .axis = "1", .shape = "1, 8", .part = "1, 4"},
	{"channels, counted from behind", NULL, .axis = "-3", .shape = "1, 8, 2, 2", .part = "1, 4, 2, 2"},
	{"channels of two images", "axis 0 of output 0 does not have one element", .axis = "1", .shape = "2, 8",
	 .part = "2, 4"},
	{"of an origin shape of one dimension", "axis 0 of output 1 does not have one element", .axis = "1",
	 .shape = "1, 8", .part = "1, 4", .of_node = SHAPE("output", 1, "4")},
	{"ND as FRACTAL_NZ of four dimensions", NULL, .axis = "1", .shape = "1, 8, 1, 1, 16, 16",
	 .part = "1, 4, 1, 1, 16, 16", .of_node = NZ("1, 8, 16, 16")},
	{"ND as FRACTAL_NZ of three dimensions", "the axis is 1, and ND of rank 3 is stored as FRACTAL_NZ", .axis = "1",
	 .shape = "1, 1, 2, 16, 16", .part = "1, 1, 1, 16, 16", .of_node = NZ("1, 32, 16")},
	{"the last one of these", "the axis is 2, neither 0 nor 1", .axis = "2", .shape = "1, 2, 1, 16, 16",
	 .part = "1, 1, 1, 16, 16", .of_node = NZ("1, 16, 32")},
	{"NCHW as another format", "the axis is 1, and NCHW of rank 4 is stored as NHWC", .axis = "1",
	 .shape = "1, 2, 2, 8", .part = "1, 2, 2, 4", .of_node = STORED(0, "NCHW", "NHWC", "1, 8, 2, 2")},
	{"another axis of it", "the axis is 2, neither 0 nor 1", .axis = "2", .shape = "1, 4, 2, 8",
	 .part = "1, 2, 2, 8", .of_node = STORED(0, "NCHW", "NHWC", "1, 8, 4, 2")},
	{"the same format", NULL, .axis = "1", .shape = "1, 8, 2, 2", .part = "1, 4, 2, 2",
	 .of_node = FORMATS("input", 0, "NCHW", "NCHW")},
	{"blocks of 16 halves", NULL, .axis = "1", .type = "DT_FLOAT16", .shape = "1, 4, 2, 2, 16",
	 .part = "1, 2, 2, 2, 16", .of_node = NC1HWC0("1, 64, 2, 2", "1, 32, 2, 2")},
	{"no blocks of 16 halves", "output 0 has 24 channels, which is not a multiple of 16", .axis = "1",
	 .type = "DT_FLOAT16", .shape = "1, 6, 2, 2, 8", .part = "1, 3, 2, 2, 8",
	 .of_node = NC1HWC0("1, 48, 2, 2", "1, 24, 2, 2")},
	{"blocks of 32 bytes", NULL, .axis = "1", .type = "DT_INT8", .shape = "1, 2, 2, 2, 32",
	 .part = "1, 1, 2, 2, 32", .of_node = NC1HWC0("1, 64, 2, 2", "1, 32, 2, 2")},
	{"no blocks of 32 bytes", "output 0 has 16 channels, which is not a multiple of 32", .axis = "1",
	 .type = "DT_INT8", .shape = "1, 2, 2, 2, 16", .part = "1, 1, 2, 2, 16",
	 .of_node = NC1HWC0("1, 32, 2, 2", "1, 16, 2, 2")},
	{"blocks of 64 half bytes", NULL, .axis = "1", .type = "DT_INT4", .shape = "1, 2, 2, 2, 64",
	 .part = "1, 1, 2, 2, 64", .of_node = NC1HWC0("1, 128, 2, 2", "1, 64, 2, 2")},
	{"no blocks of 64 half bytes", "output 0 has 32 channels, which is not a multiple of 64", .axis = "1",
	 .type = "DT_INT4", .shape = "1, 2, 2, 2, 32", .part = "1, 1, 2, 2, 32",
	 .of_node = NC1HWC0("1, 64, 2, 2", "1, 32, 2, 2")},
	{"another type has no blocks", "is of a type that NC1HWC0 has no blocks of", .axis = "1",
	 .shape = "1, 4, 2, 2, 16", .part = "1, 2, 2, 2, 16", .of_node = NC1HWC0("1, 64, 2, 2", "1, 32, 2, 2")},
};

START_TEST(split)
{
	const struct test_case *test = &splits[_i];

	expect(test, read_split(test), "s");
}
END_TEST

static const struct test_case concats[] = {
	{"along the first axis", NULL},
	{"along the second axis of one row", NULL, .axis = "1", .shape = "1, 16", .part = "1, 8"},
	{"along the last axis", "the axis is 1, and axis 0 before it has 4 elements", .axis = "1", .shape = "4, 16",
	 .part = "4, 8"},
	{"counted from behind", NULL, .axis = "-2"},
	{"no whole 32 bytes", "'p:0' has 24 bytes, which is not a multiple of 32", .shape = "4, 3", .part = "2, 3"},
	{"an input of the network", "'x' is an input of the network", .second = "'x:0'"},
	{"a constant", "'k' is a constant", .second = "'k'",
	 .more = "initializer { name: 'k' data_type: 1 dims: [2, 8] float_data: "
		 "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15] } "},
	{"one input twice", "'p:0' is two of its inputs", .second = "'p:0'"},
	{"one input twice, in other shapes", "'p:0' is two of its inputs", .second = "'r:0'",
	 .more = "node { name: 'r' op_type: 'ge:Squeeze' input: 'p:0' output: 'r:0' " S(
		 "output_desc_dtype:0", "DT_FLOAT") L("output_desc_shape:0", "2, 8") "} "},
	{"an input in another shape", NULL, .second = "'r:0'",
	 .more = "node { name: 'r' op_type: 'ge:Squeeze' input: 'q:0' output: 'r:0' " S(
		 "output_desc_dtype:0", "DT_FLOAT") L("output_desc_shape:0", "2, 8") "} "},
	{"an output of the network", "'p:0' is also an output of the network", .outputs = "'u:0', 'p:0'"},
	{"its own output may be the network's", NULL, .outputs = "'u:0', 'c:0'"},
	{"without dimensions", "'p:0' is one element without dimensions",
	 .of_node = "attribute { name: 'input_desc_origin_shape:0' type: INTS } "},
	{"behind continuous inputs", "'p' has 'continuous_input'", .of_producer = I("continuous_input", 1)},
	{"behind continuous outputs", "'p' has 'continuous_output'", .of_producer = I("continuous_output", 1)},
	{"behind other continuous outputs", "'p' has '_no_padding_continuous_output'",
	 .of_producer = I("_no_padding_continuous_output", 1)},
	{"behind a reference", "'p' has 'reference'", .of_producer = I("reference", 1)},
	{"behind an output that is an input", "'p' has '_output_reuse_input'",
	 .of_producer = I("_output_reuse_input", 1)},
	{"behind a node without a task", "'p' has no task itself", .of_producer = I("_no_task", 1)},
	{"behind atomic outputs", "'p' has an 'atomic_output_index'", .of_producer = L("atomic_output_index", "0")},
	{"behind what another one has taken", "the outputs of 'p' are part of something else already",
	 .of_producer = "attribute { name: 'can_reused_for_concat_optimize' type: INT } "},
	{"behind what may be taken", NULL, .of_producer = I("can_reused_for_concat_optimize", 1)},
	{"in another memory", "'q:0' is in another memory than the first input",
	 .of_producer = L("_output_memory_type", "2")},
	{"in a core's memory", "'p:0' is in memory of type 262144, which is a core's",
	 .of_producer = L("_output_memory_type", "262144")},
	{"inputs in L1", "'_input_memory_type' of 'c' has 65536", .of_node = L("_input_memory_type", "65536")},
	{"an output in L2", "'_output_memory_type' of 'c' has 131072", .of_node = L("_output_memory_type", "131072")},
	{"in slices of another kind", "it has '_lxslice_info'", .of_node = I("_lxslice_info", 1)},
	{"in front of a node without a task", "'u' takes the output and has no task itself",
	 .of_consumer = I("_no_task", 1)},
	{"in front of one, behind a Reshape", "'v' takes the output and has no task itself", .consumer = "Reshape",
	 .outputs = "'v:0'",
	 .more = "node { name: 'v' op_type: 'ge:Neg' input: 'u:0' output: 'v:0' " I("_no_task", 1) "} "},
	{"a padded axis", "'p:0' is ND of rank 2 and stored as FRACTAL_NZ", .axis = "1", .shape = "4, 2, 16, 16",
	 .part = "2, 2, 16, 16", .of_node = NZ("32, 32") STORED(1, "ND", "FRACTAL_NZ", "32, 32")},
	{"the other axis of it", "the axis is 1, and axis 0 before it has 4 elements", .shape = "4, 2, 16, 16",
	 .part = "4, 1, 16, 16", .of_node = NZ("16, 64") STORED(1, "ND", "FRACTAL_NZ", "16, 64")},
	{"blocks of channels", NULL, .axis = "1", .type = "DT_FLOAT16", .shape = "1, 4, 2, 2, 16",
	 .part = "1, 2, 2, 2, 16",
	 .of_node = STORED(0, "NCHW", "NC1HWC0", "1, 32, 2, 2") STORED(1, "NCHW", "NC1HWC0", "1, 32, 2, 2")},
	{"no blocks of channels", "input 0 has 24 channels, which is not a multiple of 16", .axis = "1",
	 .type = "DT_FLOAT16", .shape = "1, 6, 2, 2, 8", .part = "1, 3, 2, 2, 8",
	 .of_node = STORED(0, "NCHW", "NC1HWC0", "1, 24, 2, 2") STORED(1, "NCHW", "NC1HWC0", "1, 24, 2, 2")},
};

START_TEST(concat)
{
	const struct test_case *test = &concats[_i];

	expect(test, read_concat(test), "c");
}
END_TEST

/* Each split of a chain sees the results of the others: the first axes are tried before all second ones. */
START_TEST(order)
{
	struct sk_op_graph *graph = read_split(&(struct test_case){
		.consumer = "ConcatD",
		.of_consumer = I("concat_dim", 0) I("N", 1) I("imply_type", 1),
	});
	const struct sk_fusion_flags flags = {.target = SK_TARGET_ASCEND};

	sk_pass_no_task(graph, &flags);
	ck_assert_int_eq(find_node(graph, "s")->slices, SK_SLICES_ALL);
	ck_assert_int_eq(find_node(graph, "a")->slices, SK_SLICES_REFUSED);
	ck_assert_ptr_nonnull(strstr(find_node(graph, "a")->refusals.items[0], "'s' has no task itself"));
}
END_TEST

/* Elsewhere the bytes alone decide. */
START_TEST(host)
{
	struct sk_op_graph *graph = read_split(&(struct test_case){.axis = "1", .part = "4, 4"});
	const struct sk_fusion_flags flags = {.target = SK_TARGET_HOST};

	sk_pass_no_task(graph, &flags);
	ck_assert_int_eq(find_node(graph, "s")->slices, SK_SLICES_ANY);
	ck_assert_uint_eq(find_node(graph, "s")->refusals.count, 0);
}
END_TEST

static void setup(void)
{
	open_sink();
	strcpy(path, "/tmp/check_no_task.XXXXXX.pbtxt");

	int descriptor = mkstemps(path, 6);

	ck_assert_int_ge(descriptor, 0);
	close(descriptor);
}

static void teardown(void)
{
	ck_assert_int_eq(unlink(path), 0);
	close_sink();
}

int main(void)
{
	Suite *suite = suite_create("no-task");
	TCase *tests = tcase_create("no-task");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, split, 0, sizeof(splits) / sizeof(splits[0]));
	tcase_add_loop_test(tests, concat, 0, sizeof(concats) / sizeof(concats[0]));
	tcase_add_test(tests, order);
	tcase_add_test(tests, host);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
