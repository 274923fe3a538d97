/* Makes small models, and arrays for them, so that scripts that test with models need no other program:
 *
 *   make-model FILE.onnx <LINES
 *   make-model FILE.npy TYPE SHAPE VALUE…
 *
 * A line is one of these; its words are separated by blanks. A SHAPE is 2x3, Nx3 with a name for a dimension that the
 * model leaves open, ?x3 with none, "scalar", or "none": not even the rank is known. Missing values repeat the last
 * one.
 *
 *   opset VERSION [DOMAIN]                 without it: 17
 *   input NAME TYPE SHAPE
 *   output NAME TYPE SHAPE
 *   info NAME TYPE SHAPE                   the declared type and shape of a node's output
 *   constant NAME TYPE SHAPE VALUE…
 *   external NAME TYPE SHAPE FILE OFFSET   a constant with its elements there in the file
 *   node OP NAME INPUT… -> OUTPUT… [KEY=VALUE…]
 *
 * A name "_" is empty. OP is DOMAIN:OP for another domain. An attribute's value is a real if it has a dot, a list of
 * integers in brackets ([1,2]), text in quotes ('text'), or else an integer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/npy/npy.h"
#include "format/skplan.h"
#include "tests/lib/protobuf-writer.h"

/* Fields of onnx.proto. */
enum { MODEL_VERSION = 1, MODEL_GRAPH = 7, MODEL_OPSET = 8, OPSET_DOMAIN = 1, OPSET_VERSION = 2 };
enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12, GRAPH_INFO = 13 };
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_NAME = 3, NODE_OP = 4, NODE_ATTRIBUTE = 5, NODE_DOMAIN = 7 };
enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_F = 2, ATTRIBUTE_I = 3, ATTRIBUTE_S = 4, ATTRIBUTE_INTS = 8, ATTRIBUTE_TYPE = 20 };
enum { TYPE_FLOAT = 1, TYPE_INT = 2, TYPE_STRING = 3, TYPE_INTS = 7 };
enum { TENSOR_DIMS = 1, TENSOR_TYPE = 2, TENSOR_NAME = 8, TENSOR_RAW = 9, TENSOR_EXTERNAL = 13, TENSOR_LOCATION = 14 };
enum { ENTRY_KEY = 1, ENTRY_VALUE = 2, LOCATION_EXTERNAL = 1 };
enum { VALUE_NAME = 1, VALUE_TYPE = 2, TYPE_TENSOR = 1, TENSOR_ELEMENT = 1, TENSOR_SHAPE = 2 };
enum { SHAPE_DIM = 1, DIM_VALUE = 1, DIM_NAME = 2 };

static const int64_t element_types[SK_DTYPE_COUNT] = {
	[SK_F32] = 1,  [SK_U8] = 2,   [SK_I8] = 3,   [SK_U16] = 4,  [SK_I16] = 5,  [SK_I32] = 6,   [SK_I64] = 7,
	[SK_BOOL] = 9, [SK_F16] = 10, [SK_F64] = 11, [SK_U32] = 12, [SK_U64] = 13, [SK_BF16] = 16,
};

static _Noreturn void fail(const char *what, const char *text)
{
	fprintf(stderr, "make-model: %s '%s'\n", what, text);
	exit(1);
}

/* The next word of the line; NULL: there is none. */
static char *next_word(void)
{
	return strtok(NULL, " \t\n");
}

static char *need_word(const char *what)
{
	char *word = next_word();

	if (!word)
		fail("missing", what);
	return strcmp(word, "_") ? word : "";
}

static enum sk_dtype read_dtype(const char *word)
{
	for (enum sk_dtype dtype = 1; dtype < SK_DTYPE_COUNT; dtype++)
		if (!strcmp(sk_dtype_name(dtype), word))
			return dtype;
	fail("unknown type", word);
}

/* ---- arrays ---- */

struct array {
	enum sk_dtype dtype;
	uint32_t rank;
	uint64_t shape[SK_MAX_RANK], count;
	uint8_t *elements;
};

static void set_element(const struct array *array, uint64_t index, const char *text)
{
	uint32_t size = sk_dtype_size(array->dtype);
	float single = strtof(text, NULL);
	double real = strtod(text, NULL);
	int64_t integer = strtoll(text, NULL, 0);
	const void *source = array->dtype == SK_F32   ? (void *)&single
			     : array->dtype == SK_F64 ? (void *)&real
						      : &integer;

	memcpy(array->elements + index * size, source, size);
}

/* An array from words: `word` is its type, then come shape and values. */
static struct array read_array(const char *type, char *shape, char *(*next)(void))
{
	struct array array = {.dtype = read_dtype(type), .count = 1};
	const char *last = "0";

	for (char *end = shape; *end && strcmp(shape, "scalar") && array.rank < SK_MAX_RANK; shape = end + 1) {
		array.shape[array.rank] = strtoull(shape, &end, 10);
		array.count *= array.shape[array.rank++];
	}
	array.elements = calloc(array.count + 1, sk_dtype_size(array.dtype));
	if (!array.elements)
		fail("no memory for", shape);
	for (uint64_t i = 0; i < array.count; i++) {
		const char *word = next();

		last = word ? word : last;
		set_element(&array, i, last);
	}
	return array;
}

/* ---- lines ---- */

static void write_dimension(struct writer *writer, const char *text, size_t length)
{
	char word[64];

	snprintf(word, sizeof(word), "%.*s", (int)length, text);
	write_begin(writer, SHAPE_DIM);
	if (*word >= '0' && *word <= '9')
		write_integer(writer, DIM_VALUE, strtoll(word, NULL, 10));
	else if (strcmp(word, "?"))
		write_text(writer, DIM_NAME, word);
	write_end(writer);
}

static void write_value(struct writer *writer, unsigned field)
{
	const char *name = need_word("a name");
	enum sk_dtype dtype = read_dtype(need_word("a type"));
	const char *shape = need_word("a shape");

	write_begin(writer, field);
	write_text(writer, VALUE_NAME, name);
	write_begin(writer, VALUE_TYPE);
	write_begin(writer, TYPE_TENSOR);
	write_integer(writer, TENSOR_ELEMENT, element_types[dtype]);
	if (strcmp(shape, "none")) {
		write_begin(writer, TENSOR_SHAPE);
		while (strcmp(shape, "scalar") && *shape) {
			write_dimension(writer, shape, strcspn(shape, "x"));
			shape += strcspn(shape, "x");
			shape += *shape == 'x';
		}
		write_end(writer);
	}
	write_end(writer);
	write_end(writer);
	write_end(writer);
}

static void write_constant(struct writer *writer)
{
	const char *name = need_word("a name"), *type = need_word("a type");
	struct array array = read_array(type, need_word("a shape"), next_word);

	write_begin(writer, GRAPH_INITIALIZER);
	for (uint32_t i = 0; i < array.rank; i++)
		write_integer(writer, TENSOR_DIMS, (int64_t)array.shape[i]);
	write_integer(writer, TENSOR_TYPE, element_types[array.dtype]);
	write_text(writer, TENSOR_NAME, name);
	write_bytes(writer, TENSOR_RAW, array.elements, array.count * sk_dtype_size(array.dtype));
	write_end(writer);
	free(array.elements);
}

static void write_entry(struct writer *writer, const char *key, const char *value)
{
	write_begin(writer, TENSOR_EXTERNAL);
	write_text(writer, ENTRY_KEY, key);
	write_text(writer, ENTRY_VALUE, value);
	write_end(writer);
}

static void write_external(struct writer *writer)
{
	const char *name = need_word("a name");
	enum sk_dtype dtype = read_dtype(need_word("a type"));

	write_begin(writer, GRAPH_INITIALIZER);
	for (char *shape = need_word("a shape"), *end = shape; *end; shape = end + 1)
		write_integer(writer, TENSOR_DIMS, strtoll(shape, &end, 10));
	write_integer(writer, TENSOR_TYPE, element_types[dtype]);
	write_text(writer, TENSOR_NAME, name);
	write_entry(writer, "location", need_word("a file"));
	write_entry(writer, "offset", need_word("an offset"));
	write_integer(writer, TENSOR_LOCATION, LOCATION_EXTERNAL);
	write_end(writer);
}

static void write_attribute(struct writer *writer, char *word)
{
	char *value = strchr(word, '=');
	size_t length;

	*value++ = 0;
	length = strlen(value);
	write_begin(writer, NODE_ATTRIBUTE);
	write_text(writer, ATTRIBUTE_NAME, word);
	if (*value == '[') {
		for (char *next = value + 1; *next && *next != ']'; next += *next == ',')
			write_integer(writer, ATTRIBUTE_INTS, strtoll(next, &next, 10));
		write_integer(writer, ATTRIBUTE_TYPE, TYPE_INTS);
	} else if (*value == '\'') {
		write_bytes(writer, ATTRIBUTE_S, value + 1, length - 2);
		write_integer(writer, ATTRIBUTE_TYPE, TYPE_STRING);
	} else if (strchr(value, '.')) {
		write_float(writer, ATTRIBUTE_F, strtof(value, NULL));
		write_integer(writer, ATTRIBUTE_TYPE, TYPE_FLOAT);
	} else {
		write_integer(writer, ATTRIBUTE_I, strtoll(value, NULL, 10));
		write_integer(writer, ATTRIBUTE_TYPE, TYPE_INT);
	}
	write_end(writer);
}

static void write_node(struct writer *writer)
{
	char *op = need_word("an operator"), *colon = strchr(op, ':'), *word;
	unsigned field = NODE_INPUT;

	write_begin(writer, GRAPH_NODE);
	write_text(writer, NODE_NAME, need_word("a name"));
	write_text(writer, NODE_OP, colon ? colon + 1 : op);
	if (colon)
		write_bytes(writer, NODE_DOMAIN, op, (size_t)(colon - op));
	while ((word = next_word()))
		if (!strcmp(word, "->"))
			field = NODE_OUTPUT;
		else if (field == NODE_OUTPUT && strchr(word, '='))
			write_attribute(writer, word);
		else
			write_text(writer, field, strcmp(word, "_") ? word : "");
	write_end(writer);
}

static void write_opset(struct writer *writer, const char *version, const char *domain)
{
	write_begin(writer, MODEL_OPSET);
	if (domain)
		write_text(writer, OPSET_DOMAIN, domain);
	write_integer(writer, OPSET_VERSION, strtoll(version, NULL, 10));
	write_end(writer);
}

static void make_model(const char *path)
{
	static char line[1 << 16];
	struct writer graph = {0}, model = {0};
	bool has_opset = false;
	FILE *file = fopen(path, "wb");

	write_integer(&model, MODEL_VERSION, 8);
	write_text(&graph, GRAPH_NAME, "test");
	while (fgets(line, sizeof(line), stdin)) {
		const char *word = strtok(line, " \t\n");

		if (!word)
			continue;
		if (!strcmp(word, "opset")) {
			const char *version = need_word("a version");

			write_opset(&model, version, next_word());
			has_opset = true;
		} else if (!strcmp(word, "input") || !strcmp(word, "output") || !strcmp(word, "info")) {
			write_value(&graph, !strcmp(word, "input") ? GRAPH_INPUT
					    : *word == 'o'	   ? GRAPH_OUTPUT
								   : GRAPH_INFO);
		} else if (!strcmp(word, "constant")) {
			write_constant(&graph);
		} else if (!strcmp(word, "external")) {
			write_external(&graph);
		} else if (!strcmp(word, "node")) {
			write_node(&graph);
		} else {
			fail("unknown line", word);
		}
	}
	if (!has_opset)
		write_opset(&model, "17", NULL);
	write_bytes(&model, MODEL_GRAPH, graph.bytes, graph.size);
	if (!file || fwrite(model.bytes, 1, model.size, file) != model.size || fclose(file))
		fail("cannot write", path);
	write_reset(&graph);
	write_reset(&model);
}

static char **next_argument;

static char *take_argument(void)
{
	return *next_argument ? *next_argument++ : NULL;
}

int main(int count, char **arguments)
{
	struct array array;
	char error[256];

	if (count == 2) {
		make_model(arguments[1]);
		return 0;
	}
	if (count < 4)
		fail("missing", "FILE TYPE SHAPE");
	next_argument = arguments + 4;
	array = read_array(arguments[2], arguments[3], take_argument);
	if (!sk_npy_write(arguments[1], array.dtype, array.rank, array.shape, array.elements, error, sizeof(error)))
		fail(error, arguments[1]);
	free(array.elements);
	return 0;
}
