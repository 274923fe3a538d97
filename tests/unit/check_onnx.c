/* The reader of ONNX files: models that are made in memory, by the field numbers of onnx.proto. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/onnx/onnx.h"
#include "tests/lib/protobuf-writer.h"
#include "tests/lib/sink.h"
#include "tests/lib/suite.h"

/* Field numbers. */
enum { MODEL_IR = 1, MODEL_GRAPH = 7, MODEL_IMPORT = 8, MODEL_FUNCTION = 25 };
enum { IMPORT_DOMAIN = 1, IMPORT_VERSION = 2 };
enum {
	GRAPH_NODE = 1,
	GRAPH_NAME = 2,
	GRAPH_INITIALIZER = 5,
	GRAPH_INPUT = 11,
	GRAPH_OUTPUT = 12,
	GRAPH_INFO = 13,
	GRAPH_SPARSE = 15
};
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_NAME = 3, NODE_OP = 4, NODE_ATTRIBUTE = 5, NODE_DOMAIN = 7 };
enum {
	ATTRIBUTE_NAME = 1,
	ATTRIBUTE_F = 2,
	ATTRIBUTE_I = 3,
	ATTRIBUTE_S = 4,
	ATTRIBUTE_T = 5,
	ATTRIBUTE_G = 6,
	ATTRIBUTE_FLOATS = 7,
	ATTRIBUTE_INTS = 8,
	ATTRIBUTE_STRINGS = 9,
	ATTRIBUTE_TYPE = 20,
	ATTRIBUTE_REFERENCE = 21
};
enum {
	TENSOR_DIMS = 1,
	TENSOR_TYPE = 2,
	TENSOR_FLOATS = 4,
	TENSOR_INTS = 5,
	TENSOR_LONGS = 7,
	TENSOR_NAME = 8,
	TENSOR_RAW = 9,
	TENSOR_DOUBLES = 10,
	TENSOR_UNSIGNED = 11,
	TENSOR_EXTERNAL = 13,
	TENSOR_LOCATION = 14
};
enum {
	FUNCTION_NAME = 1,
	FUNCTION_INPUT = 4,
	FUNCTION_OUTPUT = 5,
	FUNCTION_NODE = 7,
	FUNCTION_IMPORT = 9,
	FUNCTION_DOMAIN = 10,
	FUNCTION_DEFAULT = 11
};
/* Types of elements. */
enum {
	FLOAT = 1,
	UINT8 = 2,
	INT8 = 3,
	INT64 = 7,
	STRING = 8,
	BOOL = 9,
	FLOAT16 = 10,
	DOUBLE = 11,
	UINT32 = 12,
	BFLOAT16 = 16,
	INT4 = 22
};

static char folder[] = "/tmp/check_onnx.XXXXXX";
static char path[64];
static struct writer writer;
static struct sk_op_graph *graph;

static void setup(void)
{
	open_sink();
	strcpy(folder, "/tmp/check_onnx.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/m.onnx", folder);
	write_reset(&writer);
	graph = NULL;
}

static void teardown(void)
{
	char command[80];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	ck_assert_int_eq(system(command), 0);
	write_reset(&writer);
	close_sink();
}

static void save(const char *name, const void *bytes, size_t size)
{
	char full[128];

	snprintf(full, sizeof(full), "%s/%s", folder, name);

	FILE *file = fopen(full, "wb");

	ck_assert_ptr_nonnull(file);
	if (size)
		ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
	ck_assert_int_eq(fclose(file), 0);
}

/* ---- parts of models ---- */

static void write_import(unsigned field, const char *domain, int64_t version)
{
	write_begin(&writer, field);
	write_text(&writer, IMPORT_DOMAIN, domain);
	write_integer(&writer, IMPORT_VERSION, version);
	write_end(&writer);
}

static void begin_model(void)
{
	write_integer(&writer, MODEL_IR, 8);
	write_import(MODEL_IMPORT, "", 17);
	write_begin(&writer, MODEL_GRAPH);
	write_text(&writer, GRAPH_NAME, "g");
}

/* Read the written model from a file. */
static void read_model(void)
{
	while (writer.depth)
		write_end(&writer);
	save("m.onnx", writer.bytes, writer.size);
	graph = sk_onnx_read(arena, &diag, path, false);
}

/* The model is refused for this reason alone. */
static void expect_refusal(const char *text)
{
	char expected[1024];

	read_model();
	ck_assert_ptr_null(graph);
	snprintf(expected, sizeof(expected), "t: error: %s: %s\n", path, text);
	expect_messages(expected);
}

static void expect_graph(void)
{
	read_model();
	expect_messages("");
	ck_assert_ptr_nonnull(graph);
}

/* Dimensions of -1 are written as the symbol N. */
static void write_value(unsigned field, const char *name, int element, unsigned rank, const int64_t *shape)
{
	write_begin(&writer, field);
	write_text(&writer, 1, name);
	write_begin(&writer, 2); /* TypeProto */
	write_begin(&writer, 1); /* Tensor */
	write_integer(&writer, 1, element);
	write_begin(&writer, 2); /* TensorShapeProto */
	for (unsigned i = 0; i < rank; i++) {
		write_begin(&writer, 1);
		if (shape[i] < 0)
			write_text(&writer, 2, "N");
		else
			write_integer(&writer, 1, shape[i]);
		write_end(&writer);
	}
	for (int i = 0; i < 4; i++)
		write_end(&writer);
}

static void write_vector(unsigned field, const char *name, int element)
{
	write_value(field, name, element, 1, (const int64_t[]){4});
}

static void begin_node(const char *name, const char *op, const char *input, const char *output)
{
	write_begin(&writer, GRAPH_NODE);
	write_text(&writer, NODE_INPUT, input);
	write_text(&writer, NODE_OUTPUT, output);
	write_text(&writer, NODE_NAME, name);
	write_text(&writer, NODE_OP, op);
}

static void write_node(const char *name, const char *op, const char *input, const char *output)
{
	begin_node(name, op, input, output);
	write_end(&writer);
}

static void begin_attribute(const char *name, int type)
{
	write_begin(&writer, NODE_ATTRIBUTE);
	write_text(&writer, ATTRIBUTE_NAME, name);
	if (type)
		write_integer(&writer, ATTRIBUTE_TYPE, type);
}

static void begin_tensor(unsigned field, const char *name, int element, int64_t elements)
{
	write_begin(&writer, field);
	write_text(&writer, TENSOR_NAME, name);
	write_integer(&writer, TENSOR_TYPE, element);
	write_integer(&writer, TENSOR_DIMS, elements);
}

/* x -> a model of one node that adds the constant w, which is about to be written -> y */
static void begin_constant_model(int element, int64_t elements)
{
	begin_model();
	write_vector(GRAPH_INPUT, "x", FLOAT);
	write_vector(GRAPH_OUTPUT, "y", FLOAT);
	begin_node("n", "Add", "x", "y");
	write_text(&writer, NODE_INPUT, "w");
	write_end(&writer);
	begin_tensor(GRAPH_INITIALIZER, "w", element, elements);
}

static struct sk_value *value(const char *name)
{
	uint32_t index = sk_map_find(&graph->value_names, name, strlen(name));

	return index == SK_NONE ? NULL : &graph->values.items[index];
}

/* "op(inputs) -> outputs;" of each node. */
static const char *nodes_text(void)
{
	static char text[1024];
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < graph->nodes.count; i++) {
		const struct sk_graph_node *node = &graph->nodes.items[i];

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s(", node->op);
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

/* ---- graphs ---- */

START_TEST(a_model)
{
	static const int64_t shape[] = {2, -1};

	begin_model();
	write_value(GRAPH_INPUT, "x", FLOAT, 2, shape);
	write_value(GRAPH_OUTPUT, "y", FLOAT, 2, shape);
	write_value(GRAPH_INFO, "t", FLOAT16, 0, NULL);
	write_node("/first", "Cast", "x", "t");
	write_node("/second", "Relu", "t", "y");
	expect_graph();
	ck_assert_str_eq(graph->name, "g");
	ck_assert_str_eq(nodes_text(), "Cast(x) -> t; Relu(t) -> y; ");
	ck_assert_uint_eq(graph->inputs.count, 1);
	ck_assert_uint_eq(graph->outputs.count, 1);
	ck_assert(value("x")->input && !value("x")->output && value("x")->node == SK_NONE);
	ck_assert(value("y")->output && value("y")->node == 1);
	ck_assert(value("x")->shaped && value("x")->rank == 2 && value("x")->dtype == SK_F32);
	ck_assert(value("x")->shape[0] == 2 && value("x")->shape[1] == SK_UNKNOWN);
	ck_assert_str_eq(value("x")->symbols[1], "N");
	ck_assert(value("t")->shaped && value("t")->rank == 0 && value("t")->dtype == SK_F16);
	ck_assert_str_eq(graph->nodes.items[0].name, "/first");
	ck_assert_str_eq(graph->nodes.items[0].domain, "");
	ck_assert_uint_eq(graph->nodes.items[0].version, 17);
	ck_assert_str_eq(graph->nodes.items[0].place.file, path);
}
END_TEST

/* Unused nodes are left out, with their constants, even if they are wrong; inputs stay. */
START_TEST(unused_nodes)
{
	begin_model();
	write_vector(GRAPH_INPUT, "x", FLOAT);
	write_vector(GRAPH_INPUT, "s", FLOAT);
	write_vector(GRAPH_INPUT, "text", STRING);
	write_vector(GRAPH_OUTPUT, "y", FLOAT);
	write_node("dead", "StringSplit", "text", "d");
	write_node("more", "Neg", "d", "e");
	write_node("live", "Neg", "x", "y");
	write_node("lost", "Neg", "nowhere", "f");
	begin_tensor(GRAPH_INITIALIZER, "c", STRING, 1);
	expect_graph();
	ck_assert_str_eq(nodes_text(), "Neg(x) -> y; ");
	ck_assert_uint_eq(graph->inputs.count, 2);
	ck_assert_ptr_null(value("c"));
	ck_assert_ptr_null(value("text"));
}
END_TEST

/* Nodes in any order are sorted; those that are in order stay as they are. */
START_TEST(order)
{
	begin_model();
	write_vector(GRAPH_INPUT, "x", FLOAT);
	write_vector(GRAPH_OUTPUT, "y", FLOAT);
	write_vector(GRAPH_OUTPUT, "z", FLOAT);
	write_node("", "Neg", "b", "y");
	write_node("", "Exp", "x", "z");
	write_node("", "Abs", "a", "b");
	write_node("", "Log", "x", "a");
	expect_graph();
	ck_assert_str_eq(nodes_text(), "Log(x) -> a; Abs(a) -> b; Neg(b) -> y; Exp(x) -> z; ");
}
END_TEST

START_TEST(circles)
{
	begin_model();
	write_vector(GRAPH_OUTPUT, "y", FLOAT);
	write_node("one", "Neg", "c", "y");
	write_node("two", "Abs", "b", "c");
	write_node("three", "Abs", "a", "b");
	write_node("four", "Abs", "c", "a");
	expect_refusal(
		"node 'two' (Abs) waits for itself: each of these values is made of the next one, and the last of "
		"the first: 'b', 'a', 'c'");
}
END_TEST

START_TEST(two_producers)
{
	begin_model();
	write_vector(GRAPH_INPUT, "x", FLOAT);
	write_vector(GRAPH_OUTPUT, "y", FLOAT);
	write_node("one", "Neg", "x", "y");
	write_node("", "Abs", "x", "y");
	expect_refusal("value 'y' is made twice: it is an output of node 'one' (Neg) and an output of node 'y' (Abs)");
}
END_TEST

START_TEST(no_producer)
{
	begin_model();
	write_vector(GRAPH_INPUT, "hidden_state", FLOAT);
	write_vector(GRAPH_OUTPUT, "y", FLOAT);
	write_node("n", "Neg", "hiden_state", "y");
	expect_refusal("node 'n' (Neg): input 'hiden_state' is not an output of a node, nor an input or initializer "
		       "of the graph; did you mean 'hidden_state'?");
}
END_TEST

START_TEST(no_output)
{
	begin_model();
	write_vector(GRAPH_INPUT, "x", FLOAT);
	write_vector(GRAPH_OUTPUT, "result", FLOAT);
	write_node("n", "Neg", "x", "resultat");
	expect_refusal("output 'result' is made by no node; did you mean 'resultat'?");
}
END_TEST

/* Absent inputs, and unused outputs. */
START_TEST(optional_operands)
{
	begin_model();
	write_vector(GRAPH_INPUT, "x", FLOAT);
	write_vector(GRAPH_OUTPUT, "y", FLOAT);
	begin_node("n", "Op", "", "");
	write_text(&writer, NODE_INPUT, "x");
	write_text(&writer, NODE_OUTPUT, "unused");
	write_text(&writer, NODE_OUTPUT, "y");
	write_end(&writer);
	expect_graph();
	ck_assert_str_eq(nodes_text(), "Op(- x) -> - - y; ");
}
END_TEST

/* An input and an initializer of one name are a constant. */
START_TEST(default_of_input)
{
	begin_constant_model(FLOAT, 1);
	write_float(&writer, TENSOR_FLOATS, 2.5f);
	write_end(&writer);
	write_vector(GRAPH_INPUT, "w", FLOAT);
	expect_graph();
	ck_assert_uint_eq(graph->inputs.count, 1);
	ck_assert(!value("w")->input);
	ck_assert_uint_eq(value("w")->shape[0], 1);
}
END_TEST

START_TEST(versions)
{
	write_integer(&writer, MODEL_IR, 8);
	write_import(MODEL_IMPORT, "ai.onnx", 13);
	write_import(MODEL_IMPORT, "com.microsoft", 1);
	write_begin(&writer, MODEL_GRAPH);
	write_vector(GRAPH_INPUT, "x", FLOAT);
	write_vector(GRAPH_OUTPUT, "y", FLOAT);
	begin_node("n", "Gelu", "x", "t");
	write_text(&writer, NODE_DOMAIN, "com.microsoft");
	write_end(&writer);
	begin_node("m", "Neg", "t", "y");
	write_text(&writer, NODE_DOMAIN, "ai.onnx");
	write_end(&writer);
	expect_graph();
	ck_assert_str_eq(graph->nodes.items[0].domain, "com.microsoft");
	ck_assert_uint_eq(graph->nodes.items[0].version, 1);
	ck_assert_str_eq(graph->nodes.items[1].domain, "");
	ck_assert_uint_eq(graph->nodes.items[1].version, 13);
}
END_TEST

START_TEST(no_version)
{
	write_integer(&writer, MODEL_IR, 8);
	write_begin(&writer, MODEL_GRAPH);
	write_vector(GRAPH_INPUT, "x", FLOAT);
	write_vector(GRAPH_OUTPUT, "y", FLOAT);
	write_node("n", "Neg", "x", "t");
	write_node("m", "Neg", "t", "y");
	read_model();
	ck_assert_ptr_nonnull(graph);
	ck_assert_uint_eq(graph->nodes.items[1].version, 1);

	char *messages = take_messages(&diag);

	ck_assert_ptr_nonnull(strstr(messages,
				     "node 'n' (Neg): the model does not say which version of the operator set "
				     "'ai.onnx' it is written for; it is taken to be 1\n"));
	ck_assert_ptr_null(strstr(messages, "'m'"));
	free(messages);
}
END_TEST

/* ---- types ---- */

START_TEST(types_without_tensors)
{
	begin_model();
	write_begin(&writer, GRAPH_INPUT);
	write_text(&writer, 1, "x");
	write_begin(&writer, 2);
	write_begin(&writer, 4); /* Sequence */
	write_end(&writer);
	write_end(&writer);
	write_end(&writer);
	write_vector(GRAPH_OUTPUT, "y", FLOAT);
	write_node("n", "SequenceAt", "x", "y");
	expect_refusal("input 'x': it is a sequence, not a tensor");
}
END_TEST

START_TEST(types_that_are_missing)
{
	begin_model();
	write_vector(GRAPH_INPUT, "x", FLOAT);
	write_vector(GRAPH_INFO, "t", INT4);
	write_vector(GRAPH_OUTPUT, "y", FLOAT);
	write_node("n", "Quantize", "x", "t");
	write_node("m", "Dequantize", "t", "y");
	expect_refusal("value 't' of node 'n' (Quantize): its elements are of type int4, which sklink does not have");
}
END_TEST

START_TEST(ranks)
{
	static const int64_t shape[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, large[3] = {1LL << 40, 1LL << 40, 1};

	begin_model();
	write_value(GRAPH_INPUT, "x", FLOAT, 9, shape);
	write_value(GRAPH_INPUT, "z", FLOAT, 3, large);
	write_vector(GRAPH_OUTPUT, "y", FLOAT);
	begin_node("n", "Add", "x", "y");
	write_text(&writer, NODE_INPUT, "z");
	read_model();

	char *messages = take_messages(&diag);

	ck_assert_ptr_nonnull(strstr(messages, "input 'x': it has 9 dimensions; tensors have at most 8\n"));
	ck_assert_ptr_nonnull(strstr(messages, "input 'z': it is too large\n"));
	free(messages);
}
END_TEST

/* ---- constants ---- */

START_TEST(typed_fields)
{
	static const struct {
		int element;
		unsigned field;
		int64_t numbers[2];
		enum sk_dtype dtype;
		uint8_t expected[16];
	} cases[] = {
		{INT8, TENSOR_INTS, {-1, 127}, SK_I8, {0xff, 0x7f}},
		{UINT8, TENSOR_INTS, {255, 1}, SK_U8, {0xff, 0x01}},
		{BOOL, TENSOR_INTS, {0, 7}, SK_BOOL, {0, 1}},
		{FLOAT16, TENSOR_INTS, {0x3c00, 0xc000}, SK_F16, {0x00, 0x3c, 0x00, 0xc0}},
		{BFLOAT16, TENSOR_INTS, {0x3f80, 0xc000}, SK_BF16, {0x80, 0x3f, 0x00, 0xc0}},
		{UINT32, TENSOR_UNSIGNED, {0xffffffff, 2}, SK_U32, {0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0}},
		{INT64, TENSOR_LONGS, {-2, 3}, SK_I64, {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 3}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int packed = 0; packed < 2; packed++) {
			write_reset(&writer);
			begin_constant_model(cases[i].element, 2);
			if (packed)
				write_packed(&writer, cases[i].field, cases[i].numbers, 2);
			for (int j = 0; j < 2 && !packed; j++)
				write_integer(&writer, cases[i].field, cases[i].numbers[j]);
			expect_graph();
			ck_assert_int_eq(value("w")->dtype, cases[i].dtype);
			ck_assert_mem_eq(value("w")->contents, cases[i].expected, 2 * sk_dtype_size(cases[i].dtype));
		}
}
END_TEST

/* Packed in one piece, in several, and each alone. */
START_TEST(floats)
{
	static const float numbers[4] = {1, -2, 0.5f, 3};

	for (int pieces = 0; pieces < 3; pieces++) {
		write_reset(&writer);
		begin_constant_model(FLOAT, 4);
		if (pieces == 0)
			write_bytes(&writer, TENSOR_FLOATS, numbers, sizeof(numbers));
		for (int i = 0; i < 2 && pieces == 1; i++)
			write_bytes(&writer, TENSOR_FLOATS, numbers + 2 * i, 8);
		for (int i = 0; i < 4 && pieces == 2; i++)
			write_float(&writer, TENSOR_FLOATS, numbers[i]);
		expect_graph();
		ck_assert_mem_eq(value("w")->contents, numbers, sizeof(numbers));
	}
}
END_TEST

START_TEST(raw_data)
{
	static const uint8_t bools[4] = {0, 1, 2, 255}, clean[4] = {0, 1, 1, 1};
	static const double doubles[4] = {1, 2, 3, 4e300};

	begin_constant_model(DOUBLE, 4);
	write_bytes(&writer, TENSOR_RAW, doubles, sizeof(doubles));
	expect_graph();
	ck_assert_mem_eq(value("w")->contents, doubles, sizeof(doubles));
	write_reset(&writer);
	begin_constant_model(BOOL, 4);
	write_bytes(&writer, TENSOR_RAW, bools, sizeof(bools));
	expect_graph();
	ck_assert_mem_eq(value("w")->contents, clean, sizeof(clean));
	write_reset(&writer);
	begin_constant_model(DOUBLE, 0);
	expect_graph();
	ck_assert_ptr_nonnull(value("w")->contents);
	ck_assert_uint_eq(sk_value_elements(value("w")), 0);
}
END_TEST

START_TEST(contents_that_do_not_fit)
{
	static const int64_t numbers[2] = {1, 128};

	begin_constant_model(INT8, 2);
	write_packed(&writer, TENSOR_INTS, numbers, 2);
	expect_refusal("initializer 'w': element 1 is 128, which is not of type i8");
	write_reset(&writer);
	begin_constant_model(FLOAT, 3);
	write_bytes(&writer, TENSOR_RAW, numbers, 8);
	expect_refusal("initializer 'w': it has 8 bytes, but its shape takes 12");
	write_reset(&writer);
	begin_constant_model(FLOAT, 1);
	write_bytes(&writer, TENSOR_RAW, numbers, 8);
	expect_refusal("initializer 'w': it has 8 bytes, but its shape takes 4");
	write_reset(&writer);
	begin_constant_model(INT64, 1LL << 50);
	write_packed(&writer, TENSOR_LONGS, numbers, 2);
	expect_refusal("initializer 'w': it has 2 elements, but its shape takes 1125899906842624");
	write_reset(&writer);
	begin_constant_model(FLOAT, -1);
	expect_refusal("initializer 'w': dimension 0 is -1");
	write_reset(&writer);
	begin_constant_model(99, 1);
	expect_refusal("initializer 'w': its elements are of type 99, which is unknown");
}
END_TEST

START_TEST(sparse)
{
	begin_model();
	write_vector(GRAPH_OUTPUT, "y", FLOAT);
	write_node("n", "Neg", "w", "y");
	write_begin(&writer, GRAPH_SPARSE);
	begin_tensor(1, "w", FLOAT, 1);
	write_end(&writer);
	write_end(&writer);
	expect_refusal("initializer 'w': it has 0 bytes, but its shape takes 4");
}
END_TEST

/* ---- external data ---- */

static void write_entry(const char *key, const char *text)
{
	write_begin(&writer, TENSOR_EXTERNAL);
	write_text(&writer, 1, key);
	write_text(&writer, 2, text);
	write_end(&writer);
}

static void external_model(const char *location, const char *offset, const char *length)
{
	write_reset(&writer);
	begin_constant_model(FLOAT, 2);
	write_integer(&writer, TENSOR_LOCATION, 1);
	if (location)
		write_entry("location", location);
	if (offset)
		write_entry("offset", offset);
	if (length)
		write_entry("length", length);
}

START_TEST(external_data)
{
	static const float numbers[4] = {1, -2, 0.5f, 3};

	save("w.bin", numbers, sizeof(numbers));
	external_model("w.bin", NULL, NULL);
	expect_graph();
	ck_assert_mem_eq(value("w")->contents, numbers, 8);
	external_model("./w.bin", "8", "8");
	expect_graph();
	ck_assert_mem_eq(value("w")->contents, numbers + 2, 8);
}
END_TEST

/* Data after 2 GiB, and after 4 GiB, of a mapped file. */
START_TEST(external_offsets)
{
	static const uint64_t offsets[] = {(2ULL << 30) + 4, (4ULL << 30) + 12};
	static const float numbers[2] = {1.5f, -2};
	char full[128], text[32];

	snprintf(full, sizeof(full), "%s/w.bin", folder);

	FILE *file = fopen(full, "wb");

	ck_assert_ptr_nonnull(file);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(fseek(file, (long)offsets[i], SEEK_SET), 0);
		ck_assert_uint_eq(fwrite(numbers, 1, 8, file), 8);
	}
	ck_assert_int_eq(fclose(file), 0);
	for (int i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), "%llu", (unsigned long long)offsets[i]);
		external_model("w.bin", text, "8");
		expect_graph();
		ck_assert_mem_eq(value("w")->contents, numbers, 8);
	}
}
END_TEST

START_TEST(external_data_elsewhere)
{
	static const struct {
		const char *location, *offset, *length, *text;
	} cases[] = {
		{NULL, NULL, NULL, "its data is in another file, but no location says in which"},
		{"none.bin", NULL, NULL, "cannot read its data in 'none.bin': No such file or directory"},
		{"../w.bin", NULL, NULL, "cannot read its data in '../w.bin': it must lie in the folder of the model"},
		{"a/../../w.bin", NULL, NULL,
		 "cannot read its data in 'a/../../w.bin': it must lie in the folder of the model"},
		{"a/..", NULL, NULL, "cannot read its data in 'a/..': it must lie in the folder of the model"},
		{"/etc/passwd", NULL, NULL,
		 "cannot read its data in '/etc/passwd': it must lie in the folder of the model"},
		{"", NULL, NULL, "cannot read its data in '': it must lie in the folder of the model"},
		{".", NULL, NULL, "cannot read its data in '.': it is not a regular file"},
		{"w.bin", "12", NULL, "its data is in 'w.bin' from byte 12 to 20, but that file has 16 bytes"},
		{"w.bin", "18446744073709551612", NULL,
		 "its data is in 'w.bin' from byte 18446744073709551612 to 4, but that file has 16 bytes"},
		{"w.bin", "-4", NULL, "its data has the offset '-4', which is not a number"},
		{"w.bin", "4k", NULL, "its data has the offset '4k', which is not a number"},
		{"w.bin", NULL, "x", "its data has the length 'x', which is not a number"},
		{"w.bin", NULL, "12", "it has 12 bytes, but its shape takes 8"},
	};
	static const float numbers[4] = {1, -2, 0.5f, 3};
	char expected[256];

	save("w.bin", numbers, sizeof(numbers));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		external_model(cases[i].location, cases[i].offset, cases[i].length);
		snprintf(expected, sizeof(expected), "initializer 'w': %s", cases[i].text);
		expect_refusal(expected);
	}
}
END_TEST

/* ---- attributes ---- */

static void begin_attribute_model(void)
{
	write_reset(&writer);
	begin_model();
	write_vector(GRAPH_INPUT, "x", FLOAT);
	write_vector(GRAPH_OUTPUT, "y", FLOAT);
	begin_node("n", "Op", "x", "y");
}

START_TEST(attributes)
{
	static const int64_t integers[3] = {1, -2, 1LL << 40};
	static const float reals[2] = {0.5f, 0.1f};

	begin_attribute_model();
	begin_attribute("integer", 2);
	write_integer(&writer, ATTRIBUTE_I, -7);
	write_end(&writer);
	begin_attribute("zero", 2); /* its number is left out, as writers of proto3 do */
	write_end(&writer);
	begin_attribute("real", 1);
	write_float(&writer, ATTRIBUTE_F, 0.1f);
	write_end(&writer);
	begin_attribute("text", 3);
	write_bytes(&writer, ATTRIBUTE_S, "same", 4);
	write_end(&writer);
	begin_attribute("integers", 7);
	write_packed(&writer, ATTRIBUTE_INTS, integers, 3);
	write_end(&writer);
	begin_attribute("reals", 0); /* in the first version of the format attributes have no type */
	write_bytes(&writer, ATTRIBUTE_FLOATS, reals, sizeof(reals));
	write_end(&writer);
	begin_attribute("texts", 8);
	write_text(&writer, ATTRIBUTE_STRINGS, "a");
	write_text(&writer, ATTRIBUTE_STRINGS, "");
	write_end(&writer);
	begin_attribute("value", 4);
	begin_tensor(ATTRIBUTE_T, "", INT64, 3);
	write_packed(&writer, TENSOR_LONGS, integers, 3);
	write_end(&writer);
	expect_graph();

	const struct sk_graph_node *node = &graph->nodes.items[0];
	size_t count;

	ck_assert_int_eq(sk_node_integer(node, "integer", 1), -7);
	ck_assert_int_eq(sk_node_integer(node, "zero", 1), 0);
	ck_assert_double_eq(sk_node_real(node, "real", 1), (double)0.1f);
	ck_assert_str_eq(sk_node_string(node, "text", ""), "same");
	ck_assert_mem_eq(sk_node_integers(node, "integers", &count), integers, sizeof(integers));
	ck_assert_uint_eq(count, 3);
	ck_assert_uint_eq(sk_node_attribute(node, "reals")->count, 2);
	ck_assert_double_eq(sk_node_attribute(node, "reals")->reals[1], (double)0.1f);
	ck_assert_uint_eq(sk_node_attribute(node, "texts")->count, 2);
	ck_assert_str_eq(sk_node_attribute(node, "texts")->strings[0], "a");
	ck_assert_str_eq(sk_node_attribute(node, "texts")->strings[1], "");
	ck_assert_uint_eq(node->tensors.count, 1);
	ck_assert_str_eq(node->tensors.items[0].name, "value");
	ck_assert_mem_eq(graph->values.items[node->tensors.items[0].value].contents, integers, sizeof(integers));
}
END_TEST

START_TEST(attributes_refused)
{
	static const char kind[] =
		"node 'n' (Op): attribute 'a' is neither a number, a text, a list of these, a tensor nor a "
		"graph, or says that it is something else than it is";

	begin_attribute_model();
	begin_attribute("a", 11);
	expect_refusal(kind);
	begin_attribute_model();
	begin_attribute("a", 2);
	write_float(&writer, ATTRIBUTE_F, 1);
	expect_refusal(kind);
	begin_attribute_model();
	begin_attribute("a", 3);
	write_bytes(&writer, ATTRIBUTE_S, "a\0b", 3);
	expect_refusal("node 'n' (Op): attribute 'a' has a text with a NUL");
	begin_attribute_model();
	begin_attribute("a", 2);
	write_end(&writer);
	begin_attribute("a", 2);
	expect_refusal("node 'n' (Op) has the attribute 'a' twice");
	begin_attribute_model();
	begin_attribute("a", 2);
	write_text(&writer, ATTRIBUTE_REFERENCE, "b");
	expect_refusal("node 'n' (Op): attribute 'a' refers to an attribute of a function, but is in none");
	begin_attribute_model();
	begin_attribute("a", 4);
	begin_tensor(ATTRIBUTE_T, "", STRING, 1);
	expect_refusal(
		"node 'n' (Op): attribute 'a' has a tensor that cannot be used: its elements are of type string, "
		"which sklink does not have");
}
END_TEST

/* ---- bodies ---- */

/* A body uses values of the graphs around it: their producers are needed, and come first. */
START_TEST(bodies)
{
	begin_model();
	write_vector(GRAPH_INPUT, "c", BOOL);
	write_vector(GRAPH_INPUT, "x", FLOAT);
	write_vector(GRAPH_OUTPUT, "y", FLOAT);
	begin_node("if", "If", "c", "y");
	begin_attribute("then_branch", 5);
	write_begin(&writer, ATTRIBUTE_G);
	write_text(&writer, GRAPH_NAME, "then");
	write_vector(GRAPH_OUTPUT, "z", FLOAT);
	write_node("in", "Neg", "t", "z");
	write_end(&writer);
	write_end(&writer);
	write_end(&writer);
	write_node("out", "Exp", "x", "t");
	expect_graph();
	ck_assert_str_eq(nodes_text(), "Exp(x) -> t; If(c) -> y; ");
	ck_assert_uint_eq(graph->nodes.items[1].graphs.count, 1);
	ck_assert_str_eq(graph->nodes.items[1].graphs.items[0].name, "then_branch");

	const struct sk_op_graph *outer = graph;

	graph = graph->nodes.items[1].graphs.items[0].graph;
	ck_assert_ptr_eq(graph->outer, outer);
	ck_assert_str_eq(graph->name, "then");
	ck_assert_str_eq(nodes_text(), "Neg(t) -> z; ");
	ck_assert(!value("t")->input && value("t")->node == SK_NONE && !value("t")->contents);
	ck_assert(value("z")->output);
}
END_TEST

START_TEST(body_without_producer)
{
	begin_model();
	write_vector(GRAPH_INPUT, "c", BOOL);
	write_vector(GRAPH_OUTPUT, "y", FLOAT);
	begin_node("if", "If", "c", "y");
	begin_attribute("then_branch", 5);
	write_begin(&writer, ATTRIBUTE_G);
	write_vector(GRAPH_OUTPUT, "z", FLOAT);
	write_node("in", "Neg", "t", "z");
	expect_refusal(
		"node 'in' (Neg): input 't' is not an output of a node, nor an input or initializer of the graph");
}
END_TEST

/* ---- functions ---- */

static void begin_function(const char *name)
{
	write_begin(&writer, MODEL_FUNCTION);
	write_text(&writer, FUNCTION_NAME, name);
	write_text(&writer, FUNCTION_DOMAIN, "local");
	write_import(FUNCTION_IMPORT, "", 15);
}

static void begin_function_node(const char *op, const char *input, const char *output)
{
	write_begin(&writer, FUNCTION_NODE);
	write_text(&writer, NODE_INPUT, input);
	write_text(&writer, NODE_OUTPUT, output);
	write_text(&writer, NODE_OP, op);
}

static void write_call(unsigned field, const char *name, const char *op, const char *input, const char *output)
{
	write_begin(&writer, field);
	write_text(&writer, NODE_INPUT, input);
	write_text(&writer, NODE_OUTPUT, output);
	write_text(&writer, NODE_NAME, name);
	write_text(&writer, NODE_OP, op);
	write_text(&writer, NODE_DOMAIN, "local");
	write_end(&writer);
}

/* Calls in calls; a value of the model that has the name that a copy would get; an attribute that the call gives, one
 * with a default and one without any value. */
START_TEST(functions)
{
	begin_model();
	write_vector(GRAPH_INPUT, "x", FLOAT);
	write_vector(GRAPH_INPUT, "call/t", FLOAT);
	write_vector(GRAPH_OUTPUT, "y", FLOAT);
	write_begin(&writer, GRAPH_NODE);
	write_text(&writer, NODE_INPUT, "x");
	write_text(&writer, NODE_OUTPUT, "y");
	write_text(&writer, NODE_NAME, "call");
	write_text(&writer, NODE_OP, "Outer");
	write_text(&writer, NODE_DOMAIN, "local");
	begin_attribute("given", 2);
	write_integer(&writer, ATTRIBUTE_I, 5);
	write_end(&writer);
	write_end(&writer);
	write_end(&writer);
	begin_function("Outer");
	write_text(&writer, FUNCTION_INPUT, "a");
	write_text(&writer, FUNCTION_OUTPUT, "b");
	begin_function_node("Op", "a", "t");
	begin_attribute("p", 2);
	write_text(&writer, ATTRIBUTE_REFERENCE, "given");
	write_end(&writer);
	begin_attribute("q", 2);
	write_text(&writer, ATTRIBUTE_REFERENCE, "usual");
	write_end(&writer);
	begin_attribute("r", 2);
	write_text(&writer, ATTRIBUTE_REFERENCE, "absent");
	write_end(&writer);
	write_end(&writer);
	write_call(FUNCTION_NODE, "inner", "Inner", "t", "b");
	write_begin(&writer, FUNCTION_DEFAULT);
	write_text(&writer, ATTRIBUTE_NAME, "usual");
	write_integer(&writer, ATTRIBUTE_I, 9);
	write_end(&writer);
	write_end(&writer);
	begin_function("Inner");
	write_text(&writer, FUNCTION_INPUT, "a");
	write_text(&writer, FUNCTION_OUTPUT, "b");
	begin_function_node("Neg", "a", "t");
	write_end(&writer);
	begin_function_node("Exp", "t", "b");
	write_end(&writer);
	write_end(&writer);
	expect_graph();
	ck_assert_str_eq(nodes_text(), "Op(x) -> call/t#1; Neg(call/t#1) -> call/inner/t; Exp(call/inner/t) -> y; ");

	const struct sk_graph_node *node = &graph->nodes.items[0];

	ck_assert_str_eq(node->name, "call/Op");
	ck_assert_str_eq(node->origin, "Outer");
	ck_assert_uint_eq(node->version, 15);
	ck_assert_int_eq(sk_node_integer(node, "p", 0), 5);
	ck_assert_int_eq(sk_node_integer(node, "q", 0), 9);
	ck_assert_ptr_null(sk_node_attribute(node, "r"));
	ck_assert_str_eq(graph->nodes.items[2].name, "call/inner/Exp");
	ck_assert_str_eq(graph->nodes.items[2].origin, "Outer");
}
END_TEST

/* A function that hands on its input, and one with a body that uses a value of the function. */
START_TEST(functions_with_bodies)
{
	begin_model();
	write_vector(GRAPH_INPUT, "x", FLOAT);
	write_vector(GRAPH_OUTPUT, "y", FLOAT);
	write_vector(GRAPH_OUTPUT, "z", FLOAT);
	write_call(GRAPH_NODE, "f", "Same", "x", "y");
	write_call(GRAPH_NODE, "g", "Branch", "x", "z");
	write_end(&writer);
	begin_function("Same");
	write_text(&writer, FUNCTION_INPUT, "a");
	write_text(&writer, FUNCTION_OUTPUT, "a");
	write_end(&writer);
	begin_function("Branch");
	write_text(&writer, FUNCTION_INPUT, "a");
	write_text(&writer, FUNCTION_OUTPUT, "b");
	begin_function_node("Exp", "a", "t");
	write_end(&writer);
	begin_function_node("If", "a", "b");
	begin_attribute("then_branch", 5);
	write_begin(&writer, ATTRIBUTE_G);
	write_vector(GRAPH_OUTPUT, "s", FLOAT);
	write_call(GRAPH_NODE, "h", "Same", "t", "s");
	write_end(&writer);
	write_end(&writer);
	write_end(&writer);
	expect_graph();
	ck_assert_str_eq(nodes_text(), "Identity(x) -> y; Exp(x) -> g/t; If(x) -> z; ");
	graph = graph->nodes.items[2].graphs.items[0].graph;
	ck_assert_str_eq(nodes_text(), "Identity(g/t) -> s; ");
}
END_TEST

START_TEST(functions_refused)
{
	begin_model();
	write_vector(GRAPH_INPUT, "x", FLOAT);
	write_vector(GRAPH_OUTPUT, "y", FLOAT);
	write_call(GRAPH_NODE, "f", "Loop", "x", "y");
	write_end(&writer);
	begin_function("Loop");
	write_text(&writer, FUNCTION_INPUT, "a");
	write_text(&writer, FUNCTION_OUTPUT, "b");
	write_call(FUNCTION_NODE, "l", "Loop", "a", "b");
	read_model();
	ck_assert_ptr_null(graph);

	char *messages = take_messages(&diag);

	ck_assert_ptr_nonnull(strstr(messages, "(Loop): functions call each other more than 100 deep\n"));
	free(messages);
	write_reset(&writer);
	begin_model();
	write_vector(GRAPH_INPUT, "x", FLOAT);
	write_vector(GRAPH_OUTPUT, "y", FLOAT);
	write_call(GRAPH_NODE, "f", "None", "x", "y");
	write_end(&writer);
	begin_function("None");
	write_text(&writer, FUNCTION_OUTPUT, "b");
	expect_refusal("node 'f' (None) has 1 input and 1 output, but the model's function has 0 and 1");
}
END_TEST

/* Each function calls the one before it twice: the last one is 2 to the power of 40 nodes. */
START_TEST(function_bomb)
{
	char name[8], before[8];

	begin_model();
	write_vector(GRAPH_INPUT, "x", FLOAT);
	write_vector(GRAPH_OUTPUT, "y", FLOAT);
	write_call(GRAPH_NODE, "f", "F40", "x", "y");
	write_end(&writer);
	for (int i = 0; i <= 40; i++) {
		snprintf(name, sizeof(name), "F%d", i);
		snprintf(before, sizeof(before), "F%d", i - 1);
		begin_function(name);
		write_text(&writer, FUNCTION_INPUT, "a");
		write_text(&writer, FUNCTION_OUTPUT, "b");
		write_call(FUNCTION_NODE, "l", i ? before : "Neg", "a", "t");
		write_call(FUNCTION_NODE, "r", i ? before : "Neg", "t", "b");
		write_end(&writer);
	}
	read_model();
	ck_assert_ptr_null(graph);

	char *messages = take_messages(&diag);

	ck_assert_ptr_nonnull(strstr(messages, "the model's functions become far larger than the file is\n"));
	free(messages);
}
END_TEST

/* ---- damage ---- */

static void expect_damage(const char *text)
{
	char expected[256];

	snprintf(expected, sizeof(expected), "this is not an ONNX model, or a damaged one: at byte %s", text);
	expect_refusal(expected);
	write_reset(&writer);
}

START_TEST(damaged)
{
	write_raw(&writer, "\x0f", 1);
	expect_damage("0 a field has an encoding that does not exist");
	write_raw(&writer, "\x08\xff", 2);
	expect_damage("0 a number has no end");
	write_raw(&writer, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12);
	expect_damage("0 a number has no end");
	write_raw(&writer, "\x08\x08\x3a\x05\x01", 5);
	expect_damage("2 a field is longer than its message");
	write_raw(&writer, "\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
	expect_damage("0 a field is longer than its message");
	write_raw(&writer, "\x00\x00", 2);
	expect_damage("0 there is no field");
	write_raw(&writer, "\x0d\x01\x02\x03\x04", 5); /* ir_version as a float */
	expect_damage("0 a field has the encoding of another type");
	write_begin(&writer, MODEL_GRAPH);
	write_end(&writer);
	write_begin(&writer, MODEL_GRAPH);
	expect_damage("2 a field occurs again that can be there once");
	write_begin(&writer, MODEL_GRAPH);
	write_bytes(&writer, GRAPH_NAME, "a\0b", 3);
	expect_damage("4 a name has a NUL");
	write_begin(&writer, MODEL_GRAPH);
	write_begin(&writer, GRAPH_INITIALIZER);
	write_bytes(&writer, TENSOR_FLOATS, "abcde", 5);
	expect_damage("6 a list ends within a number");
}
END_TEST

START_TEST(depth)
{
	begin_model();
	while (writer.depth + 3 < WRITER_DEPTH) {
		write_begin(&writer, GRAPH_NODE);
		write_begin(&writer, NODE_ATTRIBUTE);
		write_begin(&writer, ATTRIBUTE_G);
	}
	read_model();

	char *messages = take_messages(&diag);

	ck_assert_ptr_nonnull(strstr(messages, " messages lie in one another more than 100 times\n"));
	free(messages);
}
END_TEST

START_TEST(no_models)
{
	write_raw(&writer, "", 0);
	expect_refusal("this is not an ONNX model: it has no graph");
	write_begin(&writer, MODEL_GRAPH);
	expect_refusal("the model has no outputs");
	graph = sk_onnx_read(arena, &diag, "/nowhere.onnx", false);
	ck_assert_ptr_null(graph);
	expect_messages("t: error: /nowhere.onnx: cannot read the model: No such file or directory\n");
	graph = sk_onnx_read(arena, &diag, "/", false);
	ck_assert_ptr_null(graph);
	expect_messages("t: error: /: cannot read the model: it is not a regular file\n");
}
END_TEST

/* A valid model, cut off at each of its bytes and with each of its bits turned: no byte outside of it is read (the
 * sanitizers check this), and each refusal has a message. */
START_TEST(every_damage)
{
	begin_constant_model(FLOAT, 4);
	write_bytes(&writer, TENSOR_FLOATS, "0123456789abcdef", 16);
	write_end(&writer);
	write_value(GRAPH_INFO, "w", FLOAT, 2, (const int64_t[]){4, -1});
	begin_tensor(GRAPH_INITIALIZER, "v", INT64, 2);
	write_packed(&writer, TENSOR_LONGS, (const int64_t[]){1, -1}, 2);
	while (writer.depth)
		write_end(&writer);
	for (size_t i = 0; i < 9 * writer.size; i++) {
		bool cut = i >= 8 * writer.size;
		uint8_t *byte = &writer.bytes[i / 8 % writer.size];

		if (!cut)
			*byte ^= (uint8_t)(1 << i % 8);
		save("m.onnx", writer.bytes, cut ? i - 8 * writer.size : writer.size);
		if (!cut)
			*byte ^= (uint8_t)(1 << i % 8);
		close_sink();
		open_sink();
		graph = sk_onnx_read(arena, &diag, path, false);
		ck_assert((graph != NULL) == (diag.errors == 0));
		ck_assert(!cut || !graph);
	}
}
END_TEST

START_TEST(recognised)
{
	char full[128];

	ck_assert(sk_onnx_is_model("a/b.onnx"));
	ck_assert(sk_onnx_is_model("b.pbtxt"));
	ck_assert(!sk_onnx_is_model("onnx"));
	ck_assert(!sk_onnx_is_model(".onnx"));
	begin_model();
	while (writer.depth)
		write_end(&writer);
	save("model", writer.bytes, writer.size);
	snprintf(full, sizeof(full), "%s/model", folder);
	ck_assert(sk_onnx_is_model(full));
	save("model",
	     "\x7f"
	     "ELF",
	     4);
	ck_assert(!sk_onnx_is_model(full));
	save("model", "tensors:\n", 9);
	ck_assert(!sk_onnx_is_model(full));
	save("model", "", 0);
	ck_assert(!sk_onnx_is_model(full));
	ck_assert(!sk_onnx_is_model(folder));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("onnx");
	TCase *tests = tcase_create("onnx");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_model);
	tcase_add_test(tests, unused_nodes);
	tcase_add_test(tests, order);
	tcase_add_test(tests, circles);
	tcase_add_test(tests, two_producers);
	tcase_add_test(tests, no_producer);
	tcase_add_test(tests, no_output);
	tcase_add_test(tests, optional_operands);
	tcase_add_test(tests, default_of_input);
	tcase_add_test(tests, versions);
	tcase_add_test(tests, no_version);
	tcase_add_test(tests, types_without_tensors);
	tcase_add_test(tests, types_that_are_missing);
	tcase_add_test(tests, ranks);
	tcase_add_test(tests, typed_fields);
	tcase_add_test(tests, floats);
	tcase_add_test(tests, raw_data);
	tcase_add_test(tests, contents_that_do_not_fit);
	tcase_add_test(tests, sparse);
	tcase_add_test(tests, external_data);
	tcase_add_test(tests, external_offsets);
	tcase_add_test(tests, external_data_elsewhere);
	tcase_add_test(tests, attributes);
	tcase_add_test(tests, attributes_refused);
	tcase_add_test(tests, bodies);
	tcase_add_test(tests, body_without_producer);
	tcase_add_test(tests, functions);
	tcase_add_test(tests, functions_with_bodies);
	tcase_add_test(tests, functions_refused);
	tcase_add_test(tests, function_bomb);
	tcase_add_test(tests, damaged);
	tcase_add_test(tests, depth);
	tcase_add_test(tests, no_models);
	tcase_add_test(tests, every_damage);
	tcase_add_test(tests, recognised);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
