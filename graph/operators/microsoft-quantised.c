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

const struct sk_schema sk_operators_microsoft_quantised[] = {
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
