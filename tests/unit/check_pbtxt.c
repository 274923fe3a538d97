/* Models as text: protobuf's text format, and the attributes that GE writes in it. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/onnx/onnx.h"
#include "graph/operators/operators.h"
#include "tests/lib/sink.h"
#include "tests/lib/suite.h"

static char path[] = "/tmp/check_pbtxt.XXXXXX.pbtxt";
static struct sk_op_graph *graph;

static void setup(void)
{
	open_sink();
	strcpy(path, "/tmp/check_pbtxt.XXXXXX.pbtxt");

	int descriptor = mkstemps(path, 6);

	ck_assert_int_ge(descriptor, 0);
	close(descriptor);
	graph = NULL;
}

static void teardown(void)
{
	ck_assert_int_eq(unlink(path), 0);
	close_sink();
}

static void read_text(const char *text)
{
	FILE *file = fopen(path, "wb");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
	graph = sk_onnx_read(arena, &diag, path, false);
}

static void expect_graph(const char *text)
{
	read_text(text);
	expect_messages("");
	ck_assert_ptr_nonnull(graph);
}

/* Refused at this place, for this reason. */
static void expect_refusal(const char *text, const char *refusal)
{
	char expected[512];

	read_text(text);
	ck_assert_ptr_null(graph);
	snprintf(expected, sizeof(expected), "t: error: %s:%s\n", path, refusal);
	expect_messages(expected);
}

static struct sk_value *value(const char *name)
{
	uint32_t index = sk_map_find(&graph->value_names, name, strlen(name));

	return index == SK_NONE ? NULL : &graph->values.items[index];
}

#define MODEL(attributes)                                                                                              \
	"opset_import { version: 17 } graph { input { name: 'x' } output { name: 'y' } "                               \
	"node { input: 'x' output: 'y' op_type: 'Op' name: 'n' " attributes " } }"

/* ---- the text format ---- */

/* Everything that the grammar allows. */
START_TEST(syntax)
{
	expect_graph("# a model\n"
		     "ir_version: 0x8, producer_name: 'te' \"st\" # joined\n"
		     "opset_import < domain: \"\"; version: 021 >\n"
		     "doc_string: 'what \\'nobody\\' needs'\n"
		     "metadata_props { key: 'k' value: 'v' }\n"
		     "graph: {\n"
		     "  node {\n"
		     "    input: [\"x\", 'w']\n"
		     "    output: 'y' op_type: \"\\101dd\"\n"
		     "    attribute { name: 'f' f: -1.5e-1f type: FLOAT }\n"
		     "    attribute { name: 'i' i: -9223372036854775808 type: 2 }\n"
		     "    attribute { name: 's' s: '\\x41\\n\\t\\\\' type: STRING }\n"
		     "    attribute { name: 'floats' floats: [1, .5, inf, -inf] type: FLOATS }\n"
		     "    attribute { name: 'ints' ints: [] type: INTS }\n"
		     "  }\n"
		     "  initializer { name: 'w' dims: 1 data_type: 13 uint64_data: 18446744073709551615 }\n"
		     "  input { name: 'x' type { tensor_type { elem_type: 1 shape { dim { dim_value: 3 } } } } }\n"
		     "  output { name: 'y' }\n"
		     "}\n");

	const struct sk_graph_node *node = &graph->nodes.items[0];
	const struct sk_attribute *floats = sk_node_attribute(node, "floats");

	ck_assert_uint_eq(node->version, 17);
	ck_assert_str_eq(node->op, "Add");
	ck_assert_uint_eq(node->place.line, 7);
	ck_assert_double_eq(sk_node_real(node, "f", 0), (double)-0.15f);
	ck_assert_int_eq(sk_node_integer(node, "i", 0), INT64_MIN);
	ck_assert_str_eq(sk_node_string(node, "s", ""), "A\n\t\\");
	ck_assert_uint_eq(floats->count, 4);
	ck_assert_double_eq(floats->reals[1], 0.5);
	ck_assert(floats->reals[2] > 1e300 && floats->reals[3] < -1e300);
	ck_assert_uint_eq(sk_node_attribute(node, "ints")->count, 0);
	ck_assert_mem_eq(value("w")->contents, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
	ck_assert_uint_eq(value("x")->shape[0], 3);
}
END_TEST

START_TEST(syntax_errors)
{
	static const struct {
		const char *text, *refusal;
	} cases[] = {
		{"graph {", "1:8: } is expected here, not the end of the file"},
		{"graph { node { input: 'x' } >", "1:29: the name of a field is expected here, not '>'"},
		{"graph { nodes { } }", "1:9: GraphProto has no field 'nodes'; did you mean 'node'?"},
		{"graph { name 'x' }", "1:14: a colon is expected here, not 'x'"},
		{"graph { name: x }", "1:15: a text in quotes is expected here, not 'x'"},
		{"graph { name: 'x }", "1:15: the text has no end on its line"},
		{"graph {\n name: '\\q'\n}", "2:8: the text has an escape that does not exist"},
		{"graph { name: '\\777' }", "1:15: the text has an escape that does not exist"},
		{"graph { name: 'a\\0b' }", "1:15: a name has a NUL"},
		{"graph { name: 'a' name: 'b' }", "1:19: GraphProto has one field 'name' only"},
		{"ir_version: 1.5", "1:13: a whole number of 64 bits is expected here, not '1.5'"},
		{"ir_version: 99999999999999999999",
		 "1:13: a whole number of 64 bits is expected here, not '99999999999999999999'"},
		{"ir_version: { }", "1:13: a whole number is expected here, not '{'"},
		{"graph { node: 1 }", "1:15: { is expected here, not '1'"},
		{"graph { node { input: ['a' 'b'; 'c'] } }", "1:31: ] or a comma is expected here, not ';'"},
		{MODEL("attribute { name: 'a' type: FLAT }"),
		 "1:161: a word of the enum, or its number, is expected here, not 'FLAT'"},
		{MODEL("attribute { name: 'a' f: 1.2.3 }"), "1:158: a number is expected here, not '1.2.3'"},
		{"graph { doc_string: } }", "1:21: a value is expected here, not '}'"},
		{"graph } ", "1:7: a colon is expected here, not '}'"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_refusal(cases[i].text, cases[i].refusal);
}
END_TEST

/* Errors in a model that can be parsed also have places. */
START_TEST(places)
{
	expect_refusal(
		"graph {\n output { name: 'y' }\n  node { output: 'y' input: 'z' op_type: 'Op' name: 'n' }\n}",
		"3:8: node 'n' (Op): input 'z' is not an output of a node, nor an input or initializer of the graph");
}
END_TEST

START_TEST(depth)
{
	char text[2000] = "graph ";

	for (int i = 0; i < 50; i++)
		strcat(text, "{ node { attribute { g ");
	read_text(text);
	ck_assert_ptr_null(graph);

	char *messages = take_messages(&diag);

	ck_assert_ptr_nonnull(strstr(messages, "messages lie in one another more than 100 times\n"));
	free(messages);
}
END_TEST

START_TEST(recognised)
{
	char other[] = "/tmp/check_pbtxt.XXXXXX";
	static const struct {
		const char *text;
		bool is_model;
	} cases[] = {
		{"# a comment\n\nir_version: 8", true},
		{"graph {", true},
		{"graph: {", true},
		{"graph: other.onnx", false},
		{"sklink: 1\ngraph: {", false},
		{"", false},
		{"graph", false},
		{"ir_version", false},
	};
	int descriptor = mkstemp(other);

	ck_assert_int_ge(descriptor, 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(ftruncate(descriptor, 0), 0);
		ck_assert_int_eq(pwrite(descriptor, cases[i].text, strlen(cases[i].text), 0),
				 (ssize_t)strlen(cases[i].text));
		ck_assert_msg(sk_onnx_is_model(other) == cases[i].is_model, "%s", cases[i].text);
	}
	close(descriptor);
	ck_assert_int_eq(unlink(other), 0);
}
END_TEST

/* ---- GE ---- */

static const char *nodes_text(void)
{
	static char text[1024];
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < graph->nodes.count; i++) {
		const struct sk_graph_node *node = &graph->nodes.items[i];

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s%s(", node->domain, *node->domain ? "." : "",
				       node->op);
		for (size_t j = 0; j < node->inputs.count; j++)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", j ? " " : "",
					       sk_node_input(graph, node, j) ? sk_node_input(graph, node, j)->name
									     : "-");
		at += (size_t)snprintf(text + at, sizeof(text) - at, ") ->");
		for (size_t j = 0; j < node->outputs.count; j++)
			at += (size_t)snprintf(text + at, sizeof(text) - at, " %s",
					       sk_node_output(graph, node, j) ? sk_node_output(graph, node, j)->name
									      : "-");
		at += (size_t)snprintf(text + at, sizeof(text) - at, "; ");
	}
	return text;
}

static void read_seed(const char *name)
{
	char full[512];

	snprintf(full, sizeof(full), "%s/tests/fuzz/pbtxt/%s", TOP_SRCDIR, name);
	graph = sk_onnx_read(arena, &diag, full, false);
	expect_messages("");
	ck_assert_ptr_nonnull(graph);
}

static const struct sk_attribute *note(const struct sk_graph_node *node, const char *name)
{
	for (size_t i = 0; i < node->notes.count; i++)
		if (!strcmp(node->notes.items[i].name, name))
			return &node->notes.items[i];
	return NULL;
}

START_TEST(ge)
{
	read_seed("ge.pbtxt");
	ck_assert_str_eq(graph->name, "ge_default");
	ck_assert_str_eq(nodes_text(),
			 "Constant() -> weight:0; Split(data) -> split:0 split:1; Mul(split:0 weight:0) -> mul:0; "
			 "ge.Fancy(mul:0 - split:1) -> fancy:0; ");
	ck_assert_uint_eq(graph->inputs.count, 1);
	ck_assert(value("data")->dtype == SK_F32 && value("data")->rank == 2);
	ck_assert(value("data")->shape[0] == 4 && value("data")->shape[1] == 6);
	ck_assert(value("split:0")->shaped && value("split:0")->shape[1] == 3);
	ck_assert_uint_eq(graph->outputs.count, 2);
	ck_assert_str_eq(graph->values.items[graph->outputs.items[0]].name, "fancy:0");
	ck_assert_str_eq(graph->values.items[graph->outputs.items[1]].name, "mul:0");

	struct sk_graph_node *split = &graph->nodes.items[1];

	sk_schema_note(graph, split, sk_schema_find("", "Split"));
	ck_assert_str_eq(split->origin, "ge:SplitD");
	ck_assert_str_eq(split->scope, "layer");
	ck_assert_str_eq(split->scope_options, "feed-sync-all=1");
	ck_assert_uint_eq(split->stream, 1);
	ck_assert_uint_eq(split->version, 18);
	ck_assert_uint_eq(split->attributes.count, 2);
	ck_assert_int_eq(sk_node_integer(split, "axis", 0), 1);
	ck_assert_int_eq(sk_node_integer(split, "num_outputs", 0), 2);
	ck_assert_int_eq(note(split, "_no_task")->integer, 0);
	ck_assert_int_eq(note(split, "id")->integer, 2);
	ck_assert_str_eq(note(split, "output_desc_dtype:0")->string, "DT_FLOAT");
	ck_assert_uint_eq(graph->nodes.items[2].stream, 0);
	ck_assert_str_eq(graph->nodes.items[3].op, "Fancy");
	ck_assert_str_eq(graph->nodes.items[3].origin, "ge:Fancy");
}
END_TEST

/* An attribute that GE leaves out is false, even if ONNX's default differs. */
START_TEST(ge_defaults)
{
	expect_graph("producer_name: 'GE' graph { node { name: 'x' output: 'x:0' op_type: 'ge:Data' } "
		     "node { name: 'm' input: 'x:0' output: 'm:0' op_type: 'ge:ReduceMeanD' "
		     "attribute { name: 'axes' ints: 1 type: INTS } } "
		     "node { input: 'm:0' op_type: 'ge:NetOutput' } }");
	ck_assert_int_eq(sk_node_integer(&graph->nodes.items[0], "keepdims", 1), 0);
}
END_TEST

START_TEST(ge_without_contents)
{
	expect_refusal("graph { node { name: 'w' output: 'w:0' op_type: 'ge:Const' } output { name: 'w:0' } }",
		       "1:14: constant 'w' has no contents in this dump; GE writes them with DUMP_GE_GRAPH=1");
}
END_TEST

#define DATA(name, format, shape, origin)                                                                              \
	"node { name: '" name "' output: '" name ":0' op_type: 'ge:Data' " STORED("output", format, shape, origin) "}" \
														   " "
#define STORED(side, format, shape, origin)                                                                            \
	"attribute { name: '" side "_desc_layout:0' s: '" format "' type: STRING } "                                   \
	"attribute { name: '" side "_desc_origin_layout:0' s: 'ND' type: STRING } "                                    \
	"attribute { name: '" side "_desc_shape:0' ints: [" shape "] type: INTS } "                                    \
	"attribute { name: '" side "_desc_origin_shape:0' ints: [" origin "] type: INTS } "
#define NODE(op, inputs, outputs, attributes)                                                                          \
	"node { name: 'n' op_type: 'ge:" op "' input: [" inputs "] output: [" outputs "] " attributes "} "
#define NUMBER(name, number) "attribute { name: '" name "' i: " #number " type: INT } "
#define GRAPH(nodes, outputs)                                                                                          \
	"producer_name: 'GE' graph { " nodes "node { name: 'end' op_type: 'ge:NetOutput' input: [" outputs "] } }"
#define X	"node { name: 'x' output: 'x:0' op_type: 'ge:Data' } "
#define FRACTAL DATA("a", "FRACTAL_NZ", "4, 2, 16, 16", "32, 64")

/* Unused outputs need not be listed: the number in a name gives the output's index. */
START_TEST(ge_outputs)
{
	expect_graph(GRAPH(X NODE("SplitD", "'x:0'", "'n:2', 'n:-1', 'n:0'", NUMBER("num_split", 4)), "'n:0', 'n:2'"));
	ck_assert_str_eq(nodes_text(), "Split(x) -> n:0 - n:2 -; ");
	expect_graph(GRAPH(X NODE("AddRmsNorm", "'x:0', 'x:0', 'x:0'", "'n:2'", ""), "'n:2'"));
	ck_assert_str_eq(nodes_text(), "sklink.AddRmsNorm(x x x) -> - - n:2; ");
	expect_graph(GRAPH(X NODE("Fancy", "'x:0'", "'first', 'n:3', 'third'", ""), "'first', 'n:3', 'third'"));
	ck_assert_str_eq(nodes_text(), "ge.Fancy(x) -> first - third n:3; ");
}
END_TEST

START_TEST(ge_stored)
{
	expect_graph(GRAPH(FRACTAL NODE("SplitD", "'a:0'", "'n:0'", NUMBER("split_dim", -1) NUMBER("num_split", 2)),
			   "'n:0'"));
	ck_assert_int_eq(sk_node_integer(&graph->nodes.items[0], "axis", -1), 0);
	expect_graph(GRAPH(FRACTAL NODE("SplitD", "'a:0'", "'n:0'", NUMBER("num_split", 2)), "'n:0'"));
	ck_assert_int_eq(sk_node_integer(&graph->nodes.items[0], "axis", -1), 1);
	expect_graph(GRAPH(FRACTAL DATA("b", "ND", "1", "1") NODE("Add", "'a:0', 'b:0'", "'n:0'", ""), "'n:0'"));
	expect_graph(GRAPH(X FRACTAL NODE("MatMulV2", "'a:0', 'a:0'", "'n:0'", ""), "'x:0'"));
	expect_graph(
		GRAPH(DATA("a", "NHWC", "1, 2, 2, 4", "1, 4, 2, 2") NODE("ReduceSumD", "'a:0'", "'n:0'", ""), "'n:0'"));
}
END_TEST

static const struct {
	const char *text, *refusal;
} ge_refusals[] = {
	{GRAPH(X NODE("SplitD", "'x:0'", "'n:1', 'n:1'", ""), "'n:1'"), "'n:1' and 'n:1' are both its output 1"},
	{GRAPH(X NODE("SplitD", "'x:0'", "'m', 'n:0'", ""), "'m'"), "'m' and 'n:0' are both its output 0"},
	{GRAPH(X NODE("SplitD", "'x:0'", "'n:1024'", ""), "'n:1024'"), "output 'n:1024' has a number above 1023"},
	{GRAPH(X NODE("SplitD", "'x:0'", "'n:99999999999999999999'", ""), "'x:0'"),
	 "output 'n:99999999999999999999' has a number above 1023"},
	{GRAPH(DATA("a", "NC1HWC0", "1, 2, 2, 2, 16", "1, 32, 2, 2") NODE("ReduceSumD", "'a:0'", "'n:0'", ""), "'n:0'"),
	 "'a' is stored as NC1HWC0 [1, 2, 2, 2, 16] of ND [1, 32, 2, 2]: there is no such form of a tensor"},
	{GRAPH(X NODE("TransposeD", "'x:0'", "'n:0'", STORED("output", "FRACTAL_Z", "4, 2, 16, 16", "32, 64")),
	       "'n:0'"),
	 "'n:0' is stored as FRACTAL_Z [4, 2, 16, 16] of ND [32, 64]: there is no such form of a tensor"},
	{GRAPH(FRACTAL DATA("b", "FRACTAL_Z", "4, 2, 16, 16", "32, 64") NODE("Add", "'a:0', 'b:0'", "'n:0'", ""),
	       "'n:0'"),
	 "'b' is stored as FRACTAL_Z [4, 2, 16, 16] of ND [32, 64]: there is no such form of a tensor"},
	{GRAPH(FRACTAL NODE("Relu", "'a:0'", "'n:0'", STORED("input", "ND", "32, 64", "32, 64")), "'n:0'"),
	 "it reads 'a' as ND, and that is made as FRACTAL_NZ"},
	{GRAPH(DATA("a", "FRACTAL_NZ", "4, 2, 16, 16", "64, 64")
		       NODE("SplitD", "'a:0'", "'n:0'", NUMBER("num_split", 2)),
	       "'n:0'"),
	 "'a' is stored as FRACTAL_NZ [4, 2, 16, 16] of ND [64, 64]: there is no such form of a tensor"},
	{GRAPH(FRACTAL NODE("TransData", "'a:0'", "'n:0'", ""), "'n:0'"),
	 "'n:0' is stored as ND [?] of ND [?]: there is no such form of a tensor"},
};

/* Nodes that compute the tensors of origins, by nodes TransData. */
static const struct {
	const char *text, *nodes;
} ge_conversions[] = {
	{GRAPH(FRACTAL NODE("MatMulV2", "'a:0', 'a:0'", "'n:0'", ""), "'n:0'"),
	 "sklink.TransData(a) -> a/ND; Gemm(a/ND a/ND) -> n:0; "},
	{GRAPH(FRACTAL NODE("Reshape", "'a:0'", "'n:0'", ""), "'n:0'"),
	 "sklink.TransData(a) -> a/ND; Reshape(a/ND) -> n:0; "},
	{GRAPH(FRACTAL NODE("Exp", "'a:0'", "'n:0'", STORED("output", "FRACTAL_NZ", "4, 2, 16, 16", "32, 64")),
	       "'n:0'"),
	 "Exp(a) -> n:0; "},
	{GRAPH(FRACTAL NODE("SwiGlu", "'a:0'", "'n:0'", STORED("output", "FRACTAL_NZ", "2, 2, 16, 16", "32, 32")),
	       "'n:0'"),
	 "sklink.TransData(a) -> a/ND; sklink.SwiGlu(a/ND) -> n:0/ND of its node; "
	 "sklink.TransData(n:0/ND of its node) -> n:0; "},
	{GRAPH(FRACTAL DATA("b", "ND", "64", "64") NODE("Add", "'a:0', 'b:0'", "'n:0'", ""), "'n:0'"),
	 "sklink.TransData(a) -> a/ND; Add(a/ND b) -> n:0; "},
	{GRAPH(FRACTAL DATA("b", "FRACTAL_NZ", "4, 2, 16, 16", "17, 64") NODE("Add", "'a:0', 'b:0'", "'n:0'", ""),
	       "'n:0'"),
	 "sklink.TransData(a) -> a/ND; sklink.TransData(b) -> b/ND; Add(a/ND b/ND) -> n:0; "},
	{GRAPH(FRACTAL NODE("SplitD", "'a:0'", "'n:0'", NUMBER("num_split", 4)), "'n:0'"),
	 "sklink.TransData(a) -> a/ND; Split(a/ND) -> n:0 - - -; "},
	{GRAPH(FRACTAL NODE("SplitVD", "'a:0'", "'n:0'",
			    NUMBER("split_dim", 1)
				    NUMBER("num_split", 2) "attribute { name: 'size_splits' ints: [24, 40] "
							   "type: INTS } "),
	       "'n:0'"),
	 "sklink.TransData(a) -> a/ND; Split(a/ND) -> n:0 -; "},
	{GRAPH(DATA("a", "FRACTAL_NZ", "4, 1, 16, 16", "8, 64") NODE("ConcatD", "'a:0', 'a:0'", "'n:0'", ""), "'n:0'"),
	 "sklink.TransData(a) -> a/ND; Concat(a/ND a/ND) -> n:0; "},
	{GRAPH(FRACTAL X NODE("ConcatD", "'a:0', 'x:0'", "'n:0'", ""), "'n:0'"),
	 "sklink.TransData(a) -> a/ND; Concat(a/ND x) -> n:0; "},
	{GRAPH(FRACTAL NODE("PhonySplit", "'a:0'", "'n:0'", NUMBER("num_split", 2)), "'n:0'"), "Split(a) -> n:0 -; "},
};

START_TEST(ge_converted)
{
	expect_graph(ge_conversions[_i].text);
	ck_assert_str_eq(nodes_text(), ge_conversions[_i].nodes);
}
END_TEST

START_TEST(ge_refused)
{
	const char *refusal = ge_refusals[_i].refusal;
	char *messages;

	read_text(ge_refusals[_i].text);
	ck_assert_ptr_null(graph);
	ck_assert_msg(diag.errors == 1, "%s: %u errors", refusal, diag.errors);
	messages = take_messages(&diag);
	ck_assert_msg(strstr(messages, refusal) != NULL, "%s: %s", refusal, messages);
	ck_assert_msg(strstr(messages, "node 'n' (ge:") != NULL, "%s: %s", refusal, messages);
	free(messages);
}
END_TEST

/* ---- writing ---- */

static char *write_graph(void)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(stream);
	sk_onnx_write_text(graph, stream);
	ck_assert_int_eq(fclose(stream), 0);
	return text;
}

/* A written graph is read as the same graph, and is written as the same text. */
START_TEST(round_trips)
{
	static const char *const seeds[] = {"plain.pbtxt", "ge.pbtxt"};

	for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		char nodes[1024], *text, *again;

		read_seed(seeds[i]);
		strcpy(nodes, nodes_text());
		text = write_graph();

		const struct sk_op_graph *first = graph;

		expect_graph(text);
		ck_assert_str_eq(nodes_text(), nodes);
		for (size_t j = 0; j < graph->nodes.count; j++) {
			const struct sk_graph_node *a = &first->nodes.items[j], *b = &graph->nodes.items[j];

			ck_assert_uint_eq(a->version, b->version);
			ck_assert_uint_eq(a->stream, b->stream);
			ck_assert(!a->scope == !b->scope && (!a->scope || !strcmp(a->scope, b->scope)));
			ck_assert(!a->origin == !b->origin && (!a->origin || !strcmp(a->origin, b->origin)));
			ck_assert_uint_eq(a->attributes.count, b->attributes.count);
			ck_assert_uint_eq(a->notes.count, b->notes.count);
			ck_assert_uint_eq(a->tensors.count, b->tensors.count);
			ck_assert_uint_eq(a->graphs.count, b->graphs.count);
		}
		again = write_graph();
		ck_assert_str_eq(again, text);
		free(text);
		free(again);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pbtxt");
	TCase *tests = tcase_create("pbtxt");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, syntax);
	tcase_add_test(tests, syntax_errors);
	tcase_add_test(tests, places);
	tcase_add_test(tests, depth);
	tcase_add_test(tests, recognised);
	tcase_add_test(tests, ge);
	tcase_add_test(tests, ge_defaults);
	tcase_add_test(tests, ge_without_contents);
	tcase_add_test(tests, ge_outputs);
	tcase_add_test(tests, ge_stored);
	tcase_add_loop_test(tests, ge_converted, 0, sizeof(ge_conversions) / sizeof(ge_conversions[0]));
	tcase_add_loop_test(tests, ge_refused, 0, sizeof(ge_refusals) / sizeof(ge_refusals[0]));
	tcase_add_test(tests, round_trips);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
