/* Quantised operators of com.microsoft: each is DequantizeLinear, an operator of ONNX, and QuantizeLinear. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"
#include "graph/operators/operators.h"

#define MICROSOFT "com.microsoft"

/* Return input `first` as numbers; its scale and, perhaps, its zero point follow it. */
static uint32_t numbers(const struct sk_expansion *expansion, size_t first)
{
	const uint32_t inputs[3] = {sk_expansion_input(expansion, first), sk_expansion_input(expansion, first + 1),
				    sk_expansion_input(expansion, first + 2)};

	return sk_expansion_call(expansion, "DequantizeLinear", inputs[2] == SK_NONE ? 2 : 3, inputs);
}

/* Quantise the output; its scale is input `first` and, perhaps, its zero point the next one. */
static void quantise(const struct sk_expansion *expansion, uint32_t value, size_t first)
{
	const uint32_t inputs[3] = {value, sk_expansion_input(expansion, first),
				    sk_expansion_input(expansion, first + 1)};

	sk_expansion_into(expansion, "QuantizeLinear", inputs[2] == SK_NONE ? 2 : 3, inputs,
			  sk_expansion_output(expansion, 0));
}

/* The type of a result without a zero point is u8, and an operator that has inputs of i8 needs one. */
static bool check_types(const struct sk_expansion *expansion, size_t first, size_t zero)
{
	const struct sk_value *value = sk_expansion_read(expansion, sk_expansion_input(expansion, first));

	if (value->dtype == SK_U8 || sk_expansion_input(expansion, zero) != SK_NONE)
		return true;
	return sk_expansion_refuse(expansion,
				   "'%s' is %s, and the zero point that would say the type of the result "
				   "is absent",
				   value->name, sk_dtype_name(value->dtype));
}

/* ---- operators of one input ---- */

/* Softmax before operator set 13 is one over all axes from `axis` on. */
static uint32_t softmax(const struct sk_expansion *expansion, uint32_t x)
{
	int64_t set = sk_node_integer(expansion->node, "opset", 0);
	uint32_t y = SK_EXPANSION(expansion, "Softmax", x);

	sk_expansion_set(expansion, "axis", sk_node_integer(expansion->node, "axis", set < 13 ? 1 : -1));
	sk_expansion_last(expansion)->version = (uint32_t)(set < 13 ? 11 : 13);
	return y;
}

static uint32_t pool(const struct sk_expansion *expansion, uint32_t x, uint32_t rank)
{
	static const char *const kept[] = {"auto_pad",	   "ceil_mode", "count_include_pad",
					   "kernel_shape", "pads",	"strides"};
	bool whole = !strcmp(expansion->node->op, "QLinearGlobalAveragePool");
	bool last = sk_node_integer(expansion->node, "channels_last", 0);
	uint32_t y;

	if (last)
		x = sk_expansion_channels(expansion, x, rank, false);
	y = SK_EXPANSION(expansion, whole ? "GlobalAveragePool" : "AveragePool", x);
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept) && !whole; i++)
		sk_expansion_keep(expansion, kept[i], kept[i]);
	return last ? sk_expansion_channels(expansion, y, rank, true) : y;
}

static uint32_t mean(const struct sk_expansion *expansion, uint32_t x)
{
	size_t count;
	const int64_t *axes = sk_node_integers(expansion->node, "axes", &count);
	uint32_t y = axes ? SK_EXPANSION(expansion, "ReduceMean", x, sk_expansion_integers(expansion, count, axes))
			  : SK_EXPANSION(expansion, "ReduceMean", x);

	sk_expansion_keep(expansion, "keepdims", "keepdims");
	return y;
}

static bool expand_one(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	const char *op = node->op + strlen("QLinear");
	uint32_t rank = sk_expansion_read(&expansion, sk_expansion_input(&expansion, 0))->rank, x;

	if (!check_types(&expansion, 0, 4))
		return false;
	if (strstr(op, "AveragePool") && rank < 3)
		return sk_expansion_refuse(&expansion, "its input has %u dimensions, and it needs 3 or more", rank);
	x = numbers(&expansion, 0);
	if (!strcmp(op, "Softmax")) {
		x = softmax(&expansion, x);
	} else if (!strcmp(op, "ReduceMean")) {
		x = mean(&expansion, x);
	} else if (strstr(op, "AveragePool")) {
		x = pool(&expansion, x, rank);
	} else {
		x = SK_EXPANSION(&expansion, op, x);
		sk_expansion_keep(&expansion, "alpha", "alpha");
	}
	quantise(&expansion, x, 3);
	return true;
}

/* ---- operators of several inputs ---- */

static bool expand_two(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};

	if (sk_expansion_input(&expansion, 3) == SK_NONE)
		return sk_expansion_refuse(&expansion, "its second tensor is absent");
	if (!check_types(&expansion, 0, 7))
		return false;
	quantise(&expansion,
		 sk_expansion_binary(&expansion, node->op + strlen("QLinear"), numbers(&expansion, 0),
				     numbers(&expansion, 3)),
		 6);
	return true;
}

static bool expand_where(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	uint32_t x = numbers(&expansion, 1), y = numbers(&expansion, 4);

	if (!check_types(&expansion, 1, 8))
		return false;
	quantise(&expansion, SK_EXPANSION(&expansion, "Where", sk_expansion_input(&expansion, 0), x, y), 7);
	return true;
}

static bool expand_concat(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	sk_graph_sequence pieces = {NULL, 0, 0};
	uint32_t joined;

	if ((node->inputs.count - 2) % 3)
		return sk_expansion_refuse(&expansion,
					   "its %zu inputs are not a scale and a zero point, and then sets "
					   "of a tensor, a scale and a zero point",
					   node->inputs.count);
	for (size_t i = 2; i < node->inputs.count; i += 3)
		sk_array_push(graph->arena, &pieces, numbers(&expansion, i));
	joined = sk_expansion_value(&expansion);
	sk_expansion_concat(&expansion, &pieces, sk_node_integer(node, "axis", 0), false, joined);
	quantise(&expansion, joined, 0);
	return true;
}

/* ---- blocks of quantised numbers: GatherBlockQuantized, MatMulNBits of 8 bits ---- */

/* Return bytes of two numbers each, the first one in the low bits, as twice as many bytes along the last axis. */
static uint32_t unpack(const struct sk_expansion *expansion, uint32_t bytes, uint32_t width)
{
	static const int64_t last = -1;
	const uint8_t low = 15, shift = 4;
	const struct sk_attribute right = {
		.name = "direction", .place = expansion->node->place, .kind = SK_ATTRIBUTE_STRING, .string = "RIGHT"};
	struct sk_op_graph *graph = expansion->graph;
	sk_graph_sequence halves = {NULL, 0, 0};
	uint32_t axis = sk_expansion_integers(expansion, 1, &last), pair[2], joined = sk_expansion_value(expansion);

	pair[0] =
		SK_EXPANSION(expansion, "BitwiseAnd", bytes, sk_graph_new_constant(graph, "low", SK_U8, 0, NULL, &low));
	pair[1] = SK_EXPANSION(expansion, "BitShift", bytes,
			       sk_graph_new_constant(graph, "shift", SK_U8, 0, NULL, &shift));
	sk_node_set_attribute(graph, sk_expansion_last(expansion), right);
	for (size_t i = 0; i < 2; i++)
		sk_array_push(graph->arena, &halves, SK_EXPANSION(expansion, "Unsqueeze", pair[i], axis));
	sk_expansion_concat(expansion, &halves, -1, false, joined);
	return SK_EXPANSION(expansion, "Reshape", joined, width);
}

/* Return the rows of a table at the indices; packed numbers are unpacked. `width`: a list of 0 for each dimension but
 * the last, and -1. */
static uint32_t rows_of(const struct sk_expansion *expansion, uint32_t table, bool packed, uint32_t width)
{
	uint32_t rows = sk_expansion_binary(expansion, "Gather", table, sk_expansion_input(expansion, 1));

	return packed ? unpack(expansion, rows, width) : rows;
}

/* Return the first `count` elements along the last axis. */
static uint32_t first_of(const struct sk_expansion *expansion, uint32_t value, uint64_t count)
{
	const int64_t zero = 0, end = (int64_t)count, last = -1;

	return SK_EXPANSION(expansion, "Slice", value, sk_expansion_integers(expansion, 1, &zero),
			    sk_expansion_integers(expansion, 1, &end), sk_expansion_integers(expansion, 1, &last));
}

/* Append the conversion of blocks along the last axis; without zero points these are `middle`. */
static uint32_t real_blocks(const struct sk_expansion *expansion, uint32_t numbers, uint32_t scales, uint32_t zeros,
			    uint8_t middle, int64_t size)
{
	uint32_t result;

	if (zeros == SK_NONE && middle)
		zeros = SK_EXPANSION(expansion, "Expand",
				     sk_graph_new_constant(expansion->graph, "zero", SK_U8, 0, NULL, &middle),
				     SK_EXPANSION(expansion, "Shape", scales));
	result = sk_expansion_call(expansion, "DequantizeLinear", zeros == SK_NONE ? 2 : 3,
				   (const uint32_t[]){numbers, scales, zeros});
	sk_expansion_set(expansion, "axis", -1);
	sk_expansion_set(expansion, "block_size", size);
	return result;
}

static bool expand_gather(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	enum { DATA, INDICES, SCALES, ZEROS };
	const struct sk_expansion expansion = {graph, node, nodes};
	const struct sk_value data = *sk_expansion_read(&expansion, sk_expansion_input(&expansion, DATA));
	const struct sk_value scales = *sk_expansion_read(&expansion, sk_expansion_input(&expansion, SCALES));
	uint32_t index_rank = sk_expansion_read(&expansion, sk_expansion_input(&expansion, INDICES))->rank;
	int64_t bits = sk_node_integer(node, "bits", 4), axis = sk_node_integer(node, "quantize_axis", 1);
	int64_t size = sk_node_integer(node, "block_size", 128), shape[SK_MAX_RANK] = {0};
	bool packed = !data.element && bits == 4;
	uint32_t zeros = sk_expansion_input(&expansion, ZEROS), width, numbers, real;

	if (data.rank < 2 || scales.rank != data.rank || sk_node_integer(node, "gather_axis", 0) ||
	    (axis != -1 && axis != data.rank - 1) || index_rank + data.rank - 1 > SK_MAX_RANK)
		return sk_expansion_refuse(&expansion, "'%s' must be a table of rows, in blocks along the last axis",
					   data.name);
	if ((bits != 4 && bits != 8) || size < 1 || (data.element ? sk_value_is_float(&data) : data.dtype != SK_U8))
		return sk_expansion_refuse(&expansion,
					   "'%s' is %s with bits=%" PRIi64 " and block_size=%" PRIi64
					   ", and 4 or 8 bits in u8 are supported",
					   data.name, sk_dtype_name(data.dtype), bits, size);
	shape[index_rank + data.rank - 2] = -1;
	width = sk_expansion_integers(&expansion, index_rank + data.rank - 1, shape);
	numbers = rows_of(&expansion, sk_expansion_input(&expansion, DATA), packed, width);
	real = rows_of(&expansion, sk_expansion_input(&expansion, SCALES), false, width);
	if (zeros != SK_NONE)
		zeros = rows_of(&expansion, zeros, packed, width);
	if (zeros != SK_NONE && packed)
		zeros = first_of(&expansion, zeros, scales.shape[scales.rank - 1]);
	real = real_blocks(&expansion, numbers, real, zeros, data.element ? 0 : bits == 4 ? 8 : 128, size);
	sk_expansion_into(&expansion, "Identity", 1, &real, sk_expansion_output(&expansion, 0));
	return true;
}

bool sk_microsoft_is_bytes(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	(void)graph;
	return sk_node_integer(node, "bits", 4) == 8;
}

bool sk_microsoft_expand_bytes(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	enum { A, B, FACTORS, ZEROS, GROUPS, BIAS };
	static const int64_t order[] = {1, 0};
	const struct sk_expansion expansion = {graph, node, nodes};
	const struct sk_value b = *sk_expansion_read(&expansion, sk_expansion_input(&expansion, B));
	int64_t k = sk_node_integer(node, "K", 0), n = sk_node_integer(node, "N", 0);
	int64_t size = sk_node_integer(node, "block_size", 0);
	uint32_t zeros = sk_expansion_input(&expansion, ZEROS), numbers, matrix, blocks, product;

	if (b.rank != 3 || b.dtype != SK_U8 || k < 1 || n < 1 || size < 16 || b.shape[0] != (uint64_t)n ||
	    b.shape[2] != (uint64_t)size || b.shape[1] != (uint64_t)((k - 1) / size + 1))
		return sk_expansion_refuse(&expansion, "'%s' is %s %s, which does not fit to K, N and block_size",
					   b.name, sk_dtype_name(b.dtype),
					   sk_partial_shape_text(graph->arena, b.rank, b.shape));
	if (sk_expansion_input(&expansion, GROUPS) != SK_NONE)
		return sk_expansion_refuse(&expansion, "g_idx is not supported");
	numbers = SK_EXPANSION(&expansion, "Reshape", sk_expansion_input(&expansion, B),
			       sk_expansion_integers(&expansion, 2, (const int64_t[]){n, -1}));
	blocks = sk_expansion_integers(&expansion, 2, (const int64_t[]){n, (int64_t)b.shape[1]});
	if (zeros != SK_NONE)
		zeros = SK_EXPANSION(&expansion, "Reshape", zeros, blocks);
	matrix = real_blocks(&expansion, numbers,
			     SK_EXPANSION(&expansion, "Reshape", sk_expansion_input(&expansion, FACTORS), blocks),
			     zeros, 128, size);
	matrix = first_of(&expansion, matrix, (uint64_t)k);
	matrix = sk_expansion_transpose(&expansion, matrix, 2, order);
	product = sk_expansion_binary(&expansion, "MatMul", sk_expansion_input(&expansion, A), matrix);
	if (sk_expansion_input(&expansion, BIAS) != SK_NONE)
		product = sk_expansion_binary(&expansion, "Add", product, sk_expansion_input(&expansion, BIAS));
	sk_expansion_into(&expansion, "Identity", 1, &product, sk_expansion_output(&expansion, 0));
	return true;
}

/* ---- DequantizeLinear and QuantizeLinear, as in ONNX's own domain ---- */

static bool upgrade_own(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	(void)graph;
	node->origin = node->origin ? node->origin : node->op;
	node->domain = "";
	node->version = SK_NEWEST;
	return true;
}

/* ---- the table ---- */

#define INTEGER(NAME, DEFAULT)                                                                                         \
	{                                                                                                              \
		NAME, SK_ATTRIBUTE_INTEGER, .integer = (DEFAULT)                                                       \
	}

static const struct sk_schema_attribute leaky[] = {{"alpha", SK_ATTRIBUTE_REAL, .real = 0.01}, {NULL}};
static const struct sk_schema_attribute axis[] = {{"axis", SK_ATTRIBUTE_INTEGER, .required = true}, {NULL}};
static const struct sk_schema_attribute whole[] = {INTEGER("channels_last", 0), {NULL}};
static const struct sk_schema_attribute means[] = {{"axes", SK_ATTRIBUTE_INTEGERS}, INTEGER("keepdims", 1), {NULL}};
static const struct sk_schema_attribute normal[] = {
	INTEGER("axis", -1), {"opset", SK_ATTRIBUTE_INTEGER, .required = true}, {NULL}};
static const struct sk_schema_attribute window[] = {{"auto_pad", SK_ATTRIBUTE_STRING, .string = "NOTSET"},
						    INTEGER("ceil_mode", 0),
						    INTEGER("channels_last", 0),
						    INTEGER("count_include_pad", 0),
						    {"kernel_shape", SK_ATTRIBUTE_INTEGERS, .required = true},
						    {"pads", SK_ATTRIBUTE_INTEGERS},
						    {"strides", SK_ATTRIBUTE_INTEGERS},
						    {NULL}};

#define ONE(NAME, LEAST, ATTRIBUTES)                                                                                   \
	{                                                                                                              \
		NAME, MICROSOFT, LEAST, 5, 1, 1, .attributes = ATTRIBUTES, .expand = expand_one                        \
	}

static const struct sk_schema_attribute gathered[] = {
	INTEGER("bits", 4), INTEGER("block_size", 128), INTEGER("gather_axis", 0), INTEGER("quantize_axis", 1), {NULL}};

const struct sk_schema sk_operators_microsoft_quantised[] = {
	{"DequantizeLinear", MICROSOFT, 2, 3, 1, 1, .upgrade = upgrade_own},
	{"QuantizeLinear", MICROSOFT, 2, 3, 1, 1, .upgrade = upgrade_own},
	{"GatherBlockQuantized", MICROSOFT, 3, 4, 1, 1, .attributes = gathered, .expand = expand_gather},
	{"QLinearAdd", MICROSOFT, 2, 8, 1, 1, .expand = expand_two},
	ONE("QLinearAveragePool", 2, window),
	{"QLinearConcat", MICROSOFT, 5, SK_VARIADIC, 1, 1, .attributes = axis, .expand = expand_concat},
	ONE("QLinearGlobalAveragePool", 2, whole),
	ONE("QLinearLeakyRelu", 2, leaky),
	{"QLinearMul", MICROSOFT, 2, 8, 1, 1, .expand = expand_two},
	ONE("QLinearReduceMean", 2, means),
	ONE("QLinearSigmoid", 2, NULL),
	ONE("QLinearSoftmax", 2, normal),
	{"QLinearWhere", MICROSOFT, 9, 9, 1, 1, .expand = expand_where},
	{NULL},
};
