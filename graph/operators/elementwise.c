/* Operators that compute each element of the output from one element of each input. */
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"
#include "graph/operators/operators.h"

static const char *op_of(const struct sk_canonical *canonical)
{
	return canonical->graph->nodes.items[canonical->node].op;
}

/* ---- one input ---- */

static bool infer_unary(struct sk_inference *inference)
{
	return sk_infer_like(inference, 0, 0);
}

static bool infer_test(struct sk_inference *inference)
{
	const struct sk_value *value = sk_infer_input(inference, 0);

	return sk_infer_output(inference, 0, SK_BOOL, value->rank, value->shape);
}

static bool canonical_unary(struct sk_canonical *canonical)
{
	sk_canonical_elementwise(canonical, op_of(canonical));
	sk_call_attributes(canonical, &canonical->calls->items[canonical->calls->count - 1]);
	return true;
}

/* Before operator set 6 an attribute named inputs that may be overwritten. */
static bool upgrade_consumed(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	(void)graph;
	sk_node_remove_attribute(node, "consumed_inputs");
	return true;
}

/* ---- inputs that are broadcast ---- */

/* Before operator set 7 the second input was aligned with the first one from an axis on. For PRelu it had one number
 * for each channel. */
static bool is_aligned(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	return sk_node_attribute(node, "axis") ||
	       (node->version < 7 && !strcmp(node->op, "PRelu") && sk_node_input(graph, node, 1)->rank == 1 &&
		sk_node_input(graph, node, 0)->rank > 1);
}

/* Append dimensions of one element to the value. */
static uint32_t lengthen(const struct sk_expansion *expansion, uint32_t value, uint32_t more)
{
	struct sk_op_graph *graph = expansion->graph;
	const struct sk_value of = graph->values.items[value];
	struct sk_graph_node *node;
	uint64_t shape[SK_MAX_RANK];
	int64_t axes[SK_MAX_RANK];
	uint32_t to, list;

	for (uint32_t i = 0; i < of.rank + more; i++)
		shape[i] = i < of.rank ? of.shape[i] : 1;
	for (uint32_t i = 0; i < more; i++)
		axes[i] = of.rank + i;
	to = sk_graph_new_value(graph, of.name, of.dtype, of.rank + more, shape);
	graph->values.items[to].contents = of.contents;
	if (of.contents)
		return to;
	list = sk_graph_new_integers(graph, "axes", more, axes);
	node = sk_expansion_node(expansion, "Unsqueeze", value, to);
	sk_array_push(graph->arena, &node->inputs, list);
	return to;
}

/* Append dimensions of one element to the second input, which turns the node into one of the newest operator set. */
static bool expand_aligned(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	struct sk_graph_node aligned = *node;
	const struct sk_inference inference = {graph, &aligned};
	const struct sk_value *a = sk_infer_input(&inference, 0), *b = sk_infer_input(&inference, 1);
	uint32_t axis;

	if (!sk_infer_axis(&inference, sk_node_integer(node, "axis", 1), a->rank, &axis))
		return false;
	if (axis + b->rank > a->rank)
		return sk_infer_error(&inference, "'%s' has more dimensions than '%s' has from axis %u on", b->name,
				      a->name, axis);
	sk_node_remove_attribute(&aligned, "axis");
	aligned.version = node->version < 7 ? 7 : node->version;
	if (axis + b->rank < a->rank)
		aligned.inputs.items[1] = lengthen(&expansion, node->inputs.items[1], a->rank - axis - b->rank);
	sk_array_push(graph->arena, nodes, aligned);
	return true;
}

static bool upgrade_aligned(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	sk_node_remove_attribute(node, "broadcast");
	return upgrade_consumed(graph, node);
}

/* Aligned nodes of models have been expanded before; nodes of rules are inferred as they are. */
static bool infer_unaligned(struct sk_inference *inference, enum sk_dtype dtype)
{
	if (is_aligned(inference->graph, inference->node))
		return sk_infer_error(inference, "operators have no attribute 'axis' since operator set 7");
	return sk_infer_common_shape(inference, dtype);
}

static bool infer_binary(struct sk_inference *inference)
{
	return sk_infer_same_types(inference, 0, 1) && infer_unaligned(inference, sk_infer_input(inference, 0)->dtype);
}

static bool infer_comparison(struct sk_inference *inference)
{
	return sk_infer_same_types(inference, 0, 1) && infer_unaligned(inference, SK_BOOL);
}

static bool canonical_binary(struct sk_canonical *canonical, bool commutative)
{
	sk_canonical_binary(canonical, op_of(canonical), sk_canonical_input(canonical, 0),
			    sk_canonical_input(canonical, 1), sk_canonical_output(canonical, 0), commutative);
	sk_call_attributes(canonical, &canonical->calls->items[canonical->calls->count - 1]);
	return true;
}

static bool canonical_commutative(struct sk_canonical *canonical)
{
	return canonical_binary(canonical, true);
}

static bool canonical_ordered(struct sk_canonical *canonical)
{
	return canonical_binary(canonical, false);
}

/* ---- Cast, and operators with inputs of different types ---- */

/* Before operator set 6 types were these texts; the index is the number. */
static bool upgrade_cast(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	static const char *const types[] = {"UNDEFINED", "FLOAT",  "UINT8", "INT8",    "UINT16", "INT16",  "INT32",
					    "INT64",	 "STRING", "BOOL",  "FLOAT16", "DOUBLE", "UINT32", "UINT64"};
	const char *text = sk_node_string(node, "to", NULL);
	size_t number = 0, count = sizeof(types) / sizeof(types[0]);

	if (node->version >= 6 || !text)
		return true;
	while (number < count && strcmp(types[number], text) != 0)
		number++;
	sk_node_remove_attribute(node, "to");
	sk_node_set_integer(graph, node, "to", number < count ? (int64_t)number : 0);
	return true;
}

static bool infer_cast(struct sk_inference *inference)
{
	const struct sk_value *value = sk_infer_input(inference, 0);
	int64_t number = sk_node_integer(inference->node, "to", 0);
	enum sk_dtype dtype = sk_dtype_of_number(number);

	if (dtype == SK_DTYPE_NONE)
		return sk_infer_error(inference, "there are no tensors of element type %lld here", (long long)number);
	return sk_infer_output(inference, 0, dtype, value->rank, value->shape);
}

/* The same bytes as elements of another type of that size. */
static bool infer_bits(struct sk_inference *inference)
{
	const struct sk_value *value = sk_infer_input(inference, 0);
	int64_t number = sk_node_integer(inference->node, "to", 0);
	enum sk_dtype dtype = sk_dtype_of_number(number);

	if (dtype == SK_DTYPE_NONE || sk_dtype_size(dtype) != sk_dtype_size(value->dtype))
		return sk_infer_error(inference, "'%s' is %s, and no tensor of as many bits has element type %lld",
				      value->name, sk_dtype_name(value->dtype), (long long)number);
	return sk_infer_output(inference, 0, dtype, value->rank, value->shape);
}

/* A byte that becomes a bool is 1 unless it is 0: kernels know no other bools. */
static bool canonical_bits(struct sk_canonical *canonical)
{
	const struct sk_op_graph *graph = canonical->graph;
	uint32_t from = sk_canonical_input(canonical, 0), to = sk_canonical_output(canonical, 0);
	const struct sk_arrangement all = {
		.rank = 1, .shape = {sk_value_elements(&graph->values.items[from])}, .strides = {1}, .apart = true};

	if (graph->values.items[to].dtype != SK_BOOL)
		return sk_canonical_arrange(canonical, sk_operand_flat(graph, to), from, &all);
	sk_canonical_store(canonical, to, from);
	return true;
}

static bool infer_cast_like(struct sk_inference *inference)
{
	const struct sk_value *value = sk_infer_input(inference, 0);

	return sk_infer_output(inference, 0, sk_infer_input(inference, 1)->dtype, value->rank, value->shape);
}

static bool canonical_cast(struct sk_canonical *canonical)
{
	const struct sk_op_graph *graph = canonical->graph;
	uint32_t from = sk_canonical_input(canonical, 0), to = sk_canonical_output(canonical, 0);

	if (graph->values.items[from].dtype == graph->values.items[to].dtype)
		sk_canonical_view(canonical, to, from, 0);
	else
		sk_canonical_elementwise(canonical, "Cast");
	return true;
}

/* ---- Pow: the exponent may be of another type ---- */

static bool infer_pow(struct sk_inference *inference)
{
	return infer_unaligned(inference, sk_infer_input(inference, 0)->dtype);
}

static bool canonical_pow(struct sk_canonical *canonical)
{
	const struct sk_op_graph *graph = canonical->graph;
	uint32_t a = sk_canonical_input(canonical, 0), b = sk_canonical_input(canonical, 1);
	uint32_t to = sk_canonical_output(canonical, 0);
	const struct sk_value *base = &graph->values.items[a];

	/* Variances are often written in this way. A square is more exact than a power, and much faster. Rule 1.17 of
	 * arithmetic_simplify relies on it. */
	if (sk_value_is_float(base) && sk_constant_is(&graph->values.items[b], 2) &&
	    sk_value_elements(base) == sk_value_elements(&graph->values.items[to]))
		return sk_canonical_elementwise(canonical, "Square");
	b = sk_canonical_cast(canonical, b, base->dtype);
	return sk_canonical_binary(canonical, "Pow", a, b, to, false);
}

/* ---- any number of inputs ---- */

static bool infer_variadic(struct sk_inference *inference)
{
	return sk_infer_one_type(inference) && sk_infer_common_shape(inference, sk_infer_input(inference, 0)->dtype);
}

/* Return a value of the shape that two values are broadcast to, which is known to exist. Its name is derived from that
 * of the result. */
static uint32_t common_value(struct sk_op_graph *graph, const char *name, uint32_t a, uint32_t b)
{
	const struct sk_value one = graph->values.items[a], other = graph->values.items[b];
	uint32_t rank = one.rank > other.rank ? one.rank : other.rank;
	uint64_t shape[SK_MAX_RANK];

	for (uint32_t i = 0; i < rank; i++) {
		uint64_t first = i + one.rank < rank ? 1 : one.shape[i + one.rank - rank];
		uint64_t second = i + other.rank < rank ? 1 : other.shape[i + other.rank - rank];

		shape[i] = first == 1 ? second : first;
	}
	return sk_graph_new_value(graph, name, one.dtype, rank, shape);
}

/* Combine the operands two by two, from the first one on. */
static bool chain(struct sk_canonical *canonical, const char *op, uint32_t to)
{
	struct sk_op_graph *graph = canonical->graph;
	size_t count = graph->nodes.items[canonical->node].inputs.count;
	uint32_t all = sk_canonical_input(canonical, 0);

	if (count == 1)
		sk_canonical_view(canonical, to, all, 0);
	for (size_t i = 1; i < count; i++) {
		uint32_t next = sk_canonical_input(canonical, i);
		uint32_t both = i + 1 == count ? to : common_value(graph, graph->values.items[to].name, all, next);

		sk_canonical_binary(canonical, op, all, next, both, true);
		all = both;
	}
	return true;
}

static bool canonical_chain(struct sk_canonical *canonical)
{
	return chain(canonical, op_of(canonical), sk_canonical_output(canonical, 0));
}

/* The most operands of one call. */
enum { MOST_SUMMANDS = 64 };

/* True if no operand is repeated: each has all elements of the sum. */
static bool are_whole(const struct sk_canonical *canonical, uint32_t to)
{
	const struct sk_op_graph *graph = canonical->graph;
	const struct sk_graph_node *node = &graph->nodes.items[canonical->node];

	for (size_t i = 0; i < node->inputs.count; i++)
		if (sk_value_elements(&graph->values.items[node->inputs.items[i]]) !=
		    sk_value_elements(&graph->values.items[to]))
			return false;
	return true;
}

/* Sums of many operands become calls that read each of them once, if none is repeated. Each call continues with the sum
 * of the one before. */
static bool sum(struct sk_canonical *canonical, uint32_t to)
{
	struct sk_op_graph *graph = canonical->graph;
	size_t count = graph->nodes.items[canonical->node].inputs.count, taken = 0;
	const struct sk_value whole = graph->values.items[to];
	uint32_t before = SK_NONE;

	if (count < 3 || !are_whole(canonical, to))
		return chain(canonical, "Add", to);
	while (taken < count) {
		struct sk_graph_call *call = sk_canonical_call(canonical, "Sum");
		size_t room = MOST_SUMMANDS - (before != SK_NONE);
		size_t end = count - taken < room ? count : taken + room;

		if (before != SK_NONE)
			sk_call_input(canonical, call, sk_operand_flat(graph, before));
		for (; taken < end; taken++)
			sk_call_input(canonical, call, sk_operand_flat(graph, sk_canonical_input(canonical, taken)));
		before =
			end == count ? to : sk_graph_new_value(graph, whole.name, whole.dtype, whole.rank, whole.shape);
		sk_call_output(canonical, call, sk_operand_flat(graph, before));
	}
	return true;
}

static bool canonical_sum(struct sk_canonical *canonical)
{
	return sum(canonical, sk_canonical_output(canonical, 0));
}

static bool canonical_mean(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t to = sk_canonical_output(canonical, 0);
	const struct sk_value output = graph->values.items[to];
	uint32_t total = sk_graph_new_value(graph, output.name, output.dtype, output.rank, output.shape);
	uint32_t count =
		sk_canonical_number(canonical, output.dtype, (double)graph->nodes.items[canonical->node].inputs.count);

	return sum(canonical, total) && sk_canonical_binary(canonical, "Div", total, count, to, false);
}

/* ---- Where, Clip ---- */

static bool infer_where(struct sk_inference *inference)
{
	return sk_infer_same_types(inference, 1, 2) &&
	       sk_infer_common_shape(inference, sk_infer_input(inference, 1)->dtype);
}

static bool canonical_where(struct sk_canonical *canonical)
{
	const uint32_t values[3] = {sk_canonical_input(canonical, 0), sk_canonical_input(canonical, 1),
				    sk_canonical_input(canonical, 2)};

	return sk_canonical_broadcast(canonical, "Where", values, 3, sk_canonical_output(canonical, 0));
}

/* Turn a bound, an attribute before operator set 11, into an input. MindSpore's may be an integer. */
static bool take_bound(struct sk_op_graph *graph, struct sk_graph_node *node, const char *name)
{
	const struct sk_attribute *attribute = sk_node_attribute(node, name);
	float number = attribute ? (float)attribute->real : 0;
	uint32_t value = SK_NONE;

	if (attribute && attribute->kind == SK_ATTRIBUTE_INTEGER) {
		value = sk_graph_new_constant(graph, name, SK_I64, 0, NULL, &attribute->integer);
	} else if (attribute && attribute->kind == SK_ATTRIBUTE_REAL) {
		value = sk_graph_new_constant(graph, name, SK_F32, 0, NULL, &number);
	} else if (attribute) {
		sk_node_error(graph, node, "attribute '%s' is not a number", name);
		return false;
	}
	sk_array_push(graph->arena, &node->inputs, value);
	sk_node_remove_attribute(node, name);
	return true;
}

static bool upgrade_clip(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	if (node->version >= 11)
		return true;
	if (!take_bound(graph, node, "min") || !take_bound(graph, node, "max") || !upgrade_consumed(graph, node))
		return false;
	node->version = 11;
	return true;
}

/* Replace a constant bound that the elements' type cannot represent by the nearest number that it can. */
static uint32_t bound_of_type(struct sk_canonical *canonical, uint32_t bound, enum sk_dtype dtype)
{
	const struct sk_value *value = &canonical->graph->values.items[bound];
	double number;

	if (value->dtype != dtype && value->contents && sk_value_number(value, &number))
		return sk_canonical_number(canonical, dtype, number);
	return sk_canonical_cast(canonical, bound, dtype);
}

static bool canonical_clip(struct sk_canonical *canonical)
{
	const struct sk_op_graph *graph = canonical->graph;
	enum sk_dtype dtype = graph->values.items[sk_canonical_input(canonical, 0)].dtype;
	uint32_t bounds[2];

	for (size_t i = 0; i < 2; i++) {
		bounds[i] = sk_canonical_input(canonical, 1 + i);
		if (bounds[i] != SK_NONE)
			bounds[i] = bound_of_type(canonical, bounds[i], dtype);
	}
	sk_canonical_elementwise(canonical, "Clip");

	struct sk_graph_call *call = &canonical->calls->items[canonical->calls->count - 1];

	for (size_t i = 0; i < 2; i++)
		sk_call_input(canonical, call, sk_operand_flat(graph, bounds[i]));
	return true;
}

/* ---- BitShift of signed integers ---- */

static bool is_signed_shift(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	enum sk_dtype dtype = sk_node_input(graph, node, 0)->dtype;

	return dtype == SK_I8 || dtype == SK_I16 || dtype == SK_I32 || dtype == SK_I64;
}

/* Return the bits of signed integers as unsigned ones, or back. */
static uint32_t bits_of(const struct sk_expansion *expansion, uint32_t value, bool back)
{
	enum { U8 = 2, I8 = 3, U16 = 4, I16 = 5, I32 = 6, I64 = 7, U32 = 12, U64 = 13 }; /* TensorProto.DataType */
	static const int64_t types[][2] = {
		[SK_I8] = {U8, I8}, [SK_I16] = {U16, I16}, [SK_I32] = {U32, I32}, [SK_I64] = {U64, I64}};
	uint32_t to = SK_EXPANSION(expansion, "BitCast", value);

	sk_expansion_set(expansion, "to", types[sk_node_input(expansion->graph, expansion->node, 0)->dtype][back]);
	return to;
}

static uint32_t shifted(const struct sk_expansion *expansion, uint32_t value, uint32_t distance)
{
	value = sk_expansion_binary(expansion, "BitShift", bits_of(expansion, value, false), distance);
	sk_expansion_keep(expansion, "direction", "direction");
	return bits_of(expansion, value, true);
}

/* To the left the bits of both are the same; to the right a negative number is the complement of its complement's
 * quotient. */
static bool expand_shift(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	uint32_t x = node->inputs.items[0], distance, none, negative, y;

	distance = bits_of(&expansion, node->inputs.items[1], false);
	if (!strcmp(sk_node_string(node, "direction", ""), "LEFT")) {
		y = shifted(&expansion, x, distance);
		sk_expansion_into(&expansion, "Identity", 1, &y, node->outputs.items[0]);
		return true;
	}
	none = sk_expansion_real(&expansion, 0, x);
	negative = sk_expansion_binary(&expansion, "Less", x, none);
	y = SK_EXPANSION(&expansion, "Where", negative, SK_EXPANSION(&expansion, "BitwiseNot", x), x);
	y = shifted(&expansion, y, distance);
	sk_expansion_into(&expansion, "Where", 3,
			  (const uint32_t[]){negative, SK_EXPANSION(&expansion, "BitwiseNot", y), y},
			  node->outputs.items[0]);
	return true;
}

/* ---- SwiGLU ---- */

static bool expand_swiglu(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	const struct sk_value *a = sk_node_input(graph, node, 0), *b = sk_node_input(graph, node, 1);
	uint32_t gate;

	for (uint32_t d = 0; d < SK_MAX_RANK; d++)
		if (a->rank != b->rank || (d < a->rank && !sk_value_same_extent(a, b, d)))
			return sk_expansion_refuse(&expansion, "'%s' is %s, and '%s' is %s", a->name,
						   sk_value_shape_text(graph->arena, a), b->name,
						   sk_value_shape_text(graph->arena, b));
	gate = SK_EXPANSION(&expansion, "Swish", node->inputs.items[0]);
	sk_expansion_keep(&expansion, "alpha", "alpha");
	sk_expansion_into(&expansion, "Mul", 2, (const uint32_t[]){gate, node->inputs.items[1]},
			  node->outputs.items[0]);
	return true;
}

/* ---- the table ---- */

#define REAL(NAME, DEFAULT)                                                                                            \
	{                                                                                                              \
		NAME, SK_ATTRIBUTE_REAL, .real = (DEFAULT)                                                             \
	}
#define INTEGER(NAME, DEFAULT)                                                                                         \
	{                                                                                                              \
		NAME, SK_ATTRIBUTE_INTEGER, .integer = (DEFAULT)                                                       \
	}

static const struct sk_schema_attribute alpha_1[] = {REAL("alpha", 1.0), {NULL}};
static const struct sk_schema_attribute leaky[] = {REAL("alpha", 0.01), {NULL}};
static const struct sk_schema_attribute selu[] = {
	REAL("alpha", 1.67326319217681884765625), REAL("gamma", 1.05070102214813232421875), {NULL}};
static const struct sk_schema_attribute hard_sigmoid[] = {REAL("alpha", 0.2), REAL("beta", 0.5), {NULL}};
static const struct sk_schema_attribute shrink[] = {REAL("bias", 0.0), REAL("lambd", 0.5), {NULL}};
static const struct sk_schema_attribute gelu[] = {{"approximate", SK_ATTRIBUTE_STRING, .string = "none"}, {NULL}};
static const struct sk_schema_attribute is_inf[] = {
	INTEGER("detect_negative", 1), INTEGER("detect_positive", 1), {NULL}};
static const struct sk_schema_attribute mod[] = {INTEGER("fmod", 0), {NULL}};
static const struct sk_schema_attribute bit_shift[] = {{"direction", SK_ATTRIBUTE_STRING, true}, {NULL}};
static const struct sk_schema_attribute to[] = {
	{"to", SK_ATTRIBUTE_INTEGER, true}, INTEGER("saturate", 1), {"round_mode", SK_ATTRIBUTE_STRING}, {NULL}};
static const struct sk_schema_attribute bits[] = {{"to", SK_ATTRIBUTE_INTEGER, true}, {NULL}};
static const struct sk_schema_attribute saturate[] = {
	INTEGER("saturate", 1), {"round_mode", SK_ATTRIBUTE_STRING}, {NULL}};
static const struct sk_schema_attribute aligned[] = {{"axis", SK_ATTRIBUTE_INTEGER}, {NULL}};

#define UNARY(NAME, ATTRIBUTES)                                                                                        \
	{                                                                                                              \
		NAME, "", 1, 1, 1, 1, .attributes = ATTRIBUTES, .upgrade = upgrade_consumed, .infer = infer_unary,     \
				      .canonical = canonical_unary                                                     \
	}
#define TEST(NAME, ATTRIBUTES)                                                                                         \
	{                                                                                                              \
		NAME, "", 1, 1, 1, 1, .attributes = ATTRIBUTES, .infer = infer_test, .canonical = canonical_unary      \
	}
#define BINARY(NAME, INFER, CANONICAL, ATTRIBUTES)                                                                     \
	{                                                                                                              \
		NAME, "", 2, 2, 1, 1, .attributes = ATTRIBUTES, .upgrade = upgrade_aligned, .expands = is_aligned,     \
				      .expand = expand_aligned, .infer = INFER, .canonical = CANONICAL                 \
	}
#define CHAIN(NAME, CANONICAL)                                                                                         \
	{                                                                                                              \
		NAME, "", 1, SK_VARIADIC, 1, 1, .upgrade = upgrade_consumed, .infer = infer_variadic,                  \
						.canonical = CANONICAL                                                 \
	}

const struct sk_schema sk_operators_elementwise[] = {
	UNARY("Abs", NULL),
	UNARY("Acos", NULL),
	UNARY("Acosh", NULL),
	BINARY("Add", infer_binary, canonical_commutative, aligned),
	BINARY("And", infer_binary, canonical_commutative, aligned),
	UNARY("Asin", NULL),
	UNARY("Asinh", NULL),
	UNARY("Atan", NULL),
	UNARY("Atanh", NULL),
	{"BitCast", "", 1, 1, 1, 1, .attributes = bits, .infer = infer_bits, .canonical = canonical_bits},
	{"BitShift", "", 2, 2, 1, 1, .attributes = bit_shift, .upgrade = upgrade_aligned, .expands = is_signed_shift,
	 .expand = expand_shift, .infer = infer_binary, .canonical = canonical_ordered},
	BINARY("BitwiseAnd", infer_binary, canonical_commutative, NULL),
	UNARY("BitwiseNot", NULL),
	BINARY("BitwiseOr", infer_binary, canonical_commutative, NULL),
	BINARY("BitwiseXor", infer_binary, canonical_commutative, NULL),
	{"Cast", "", 1, 1, 1, 1, .attributes = to, .upgrade = upgrade_cast, .infer = infer_cast,
	 .canonical = canonical_cast},
	{"CastLike", "", 2, 2, 1, 1, .attributes = saturate, .infer = infer_cast_like, .canonical = canonical_cast},
	UNARY("Ceil", NULL),
	UNARY("Celu", alpha_1),
	{"Clip", "", 1, 3, 1, 1, .upgrade = upgrade_clip, .infer = infer_unary, .canonical = canonical_clip},
	UNARY("Cos", NULL),
	UNARY("Cosh", NULL),
	BINARY("Div", infer_binary, canonical_ordered, aligned),
	UNARY("Elu", alpha_1),
	BINARY("Equal", infer_comparison, canonical_commutative, aligned),
	UNARY("Erf", NULL),
	UNARY("Exp", NULL),
	UNARY("Floor", NULL),
	UNARY("Gelu", gelu),
	BINARY("Greater", infer_comparison, canonical_ordered, aligned),
	BINARY("GreaterOrEqual", infer_comparison, canonical_ordered, NULL),
	UNARY("HardSigmoid", hard_sigmoid),
	UNARY("HardSwish", NULL),
	TEST("IsInf", is_inf),
	TEST("IsNaN", NULL),
	UNARY("LeakyRelu", leaky),
	BINARY("Less", infer_comparison, canonical_ordered, aligned),
	BINARY("LessOrEqual", infer_comparison, canonical_ordered, NULL),
	UNARY("Log", NULL),
	CHAIN("Max", canonical_chain),
	CHAIN("Mean", canonical_mean),
	CHAIN("Min", canonical_chain),
	UNARY("Mish", NULL),
	BINARY("Mod", infer_binary, canonical_ordered, mod),
	BINARY("Mul", infer_binary, canonical_commutative, aligned),
	UNARY("Neg", NULL),
	UNARY("Not", NULL),
	BINARY("Or", infer_binary, canonical_commutative, aligned),
	BINARY("PRelu", infer_binary, canonical_ordered, aligned),
	BINARY("Pow", infer_pow, canonical_pow, aligned),
	UNARY("Reciprocal", NULL),
	UNARY("Relu", NULL),
	UNARY("Round", NULL),
	UNARY("Selu", selu),
	UNARY("Shrink", shrink),
	UNARY("Sigmoid", NULL),
	UNARY("Sign", NULL),
	UNARY("Sin", NULL),
	UNARY("Sinh", NULL),
	UNARY("Softplus", NULL),
	UNARY("Softsign", NULL),
	UNARY("Sqrt", NULL),
	BINARY("Sub", infer_binary, canonical_ordered, aligned),
	CHAIN("Sum", canonical_sum),
	{"SwiGLU", "", 2, 2, 1, 1, .attributes = alpha_1, .expand = expand_swiglu},
	UNARY("Swish", alpha_1),
	UNARY("Tan", NULL),
	UNARY("Tanh", NULL),
	UNARY("ThresholdedRelu", alpha_1),
	{"Where", "", 3, 3, 1, 1, .infer = infer_where, .canonical = canonical_where},
	BINARY("Xor", infer_binary, canonical_commutative, aligned),
	{NULL},
};
