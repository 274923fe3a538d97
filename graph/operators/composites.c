/* Elementwise operators of the domain "sklink". Those that combine several of ONNX's operators have kernels of their
 * own; others become the calls of ONNX's operators. */
#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

static const struct sk_graph_node *node_of(const struct sk_canonical *canonical)
{
	return &canonical->graph->nodes.items[canonical->node];
}

/* ---- types and shapes ---- */

static bool infer_composite(struct sk_inference *inference)
{
	return sk_infer_one_type(inference) && sk_infer_common_shape(inference, sk_infer_input(inference, 0)->dtype);
}

static bool infer_comparison(struct sk_inference *inference)
{
	return sk_infer_one_type(inference) && sk_infer_common_shape(inference, SK_BOOL);
}

static bool infer_like(struct sk_inference *inference)
{
	return sk_infer_like(inference, 0, 0);
}

static bool infer_test(struct sk_inference *inference)
{
	const struct sk_value *value = sk_infer_input(inference, 0);

	return sk_infer_output(inference, 0, SK_BOOL, value->rank, value->shape);
}

/* ---- composites ---- */

static bool add_composite(struct sk_canonical *canonical, const char *op, size_t operands)
{
	return sk_canonical_broadcast(canonical, op, node_of(canonical)->inputs.items, operands,
				      sk_canonical_output(canonical, 0));
}

static struct sk_graph_call *last_call(const struct sk_canonical *canonical)
{
	return &canonical->calls->items[canonical->calls->count - 1];
}

static bool canonical_composite(struct sk_canonical *canonical)
{
	if (!add_composite(canonical, node_of(canonical)->op, node_of(canonical)->inputs.count))
		return false;
	sk_call_attributes(canonical, last_call(canonical));
	return true;
}

/* The third input, the function's result, is redundant. */
static bool canonical_gelu_grad(struct sk_canonical *canonical)
{
	return add_composite(canonical, "GeLUGrad", 2);
}

/* SiLU is x sigmoid(x), FastGelu x sigmoid(1.702 x). */
static bool canonical_swish_grad(struct sk_canonical *canonical)
{
	double alpha = !strcmp(node_of(canonical)->op, "SiLUGrad") ? 1 : 1.702;

	if (!add_composite(canonical, "SwishGrad", 2))
		return false;
	sk_call_real(canonical, last_call(canonical), "alpha", alpha);
	return true;
}

/* ---- operators with the calls of ONNX's operators ---- */

static bool canonical_unary(struct sk_canonical *canonical)
{
	sk_canonical_elementwise(canonical, node_of(canonical)->op);
	sk_call_attributes(canonical, last_call(canonical));
	return true;
}

static bool canonical_fill(struct sk_canonical *canonical)
{
	return sk_canonical_fill(canonical, sk_canonical_output(canonical, 0),
				 !strcmp(node_of(canonical)->op, "OnesLike"));
}

static bool add_binary(struct sk_canonical *canonical, const char *op, bool commutative)
{
	return sk_canonical_binary(canonical, op, sk_canonical_input(canonical, 0), sk_canonical_input(canonical, 1),
				   sk_canonical_output(canonical, 0), commutative);
}

static bool canonical_commutative(struct sk_canonical *canonical)
{
	return add_binary(canonical, node_of(canonical)->op, true);
}

static bool canonical_ordered(struct sk_canonical *canonical)
{
	return add_binary(canonical, node_of(canonical)->op, false);
}

/* Turn the node into an Expand, which has its inputs in the other order. */
static bool upgrade_fill(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	uint32_t shape;

	if (node->inputs.count != 2) {
		sk_node_error(graph, node, "it has %zu input%s, and the operator has 2", node->inputs.count,
			      sk_plural(node->inputs.count));
		return false;
	}
	shape = node->inputs.items[0];
	node->inputs.items[0] = node->inputs.items[1];
	node->inputs.items[1] = shape;
	node->origin = node->origin ? node->origin : node->op;
	node->op = "Expand";
	node->domain = "";
	return true;
}

/* ---- FloorDiv, DivMod ---- */

/* For integers there are kernels of all forms. */
static bool floor_quotient(struct sk_canonical *canonical)
{
	if (sk_value_is_float(&canonical->graph->values.items[sk_canonical_input(canonical, 0)]))
		return add_composite(canonical, "FloorDiv", 2);
	return add_binary(canonical, "FloorDiv", false);
}

static bool infer_div_mod(struct sk_inference *inference)
{
	const char *mode = sk_node_string(inference->node, "rounding_mode", "");

	if (*mode && strcmp(mode, "floor") && strcmp(mode, "trunc"))
		return sk_infer_error(inference, "rounding_mode is '%s', and must be floor or trunc, or absent", mode);
	if (!*mode && !sk_value_is_float(sk_infer_input(inference, 0)))
		return sk_infer_error(inference, "quotients of integers need a rounding_mode: floor or trunc");
	return infer_composite(inference);
}

static bool canonical_div_mod(struct sk_canonical *canonical)
{
	const char *mode = sk_node_string(node_of(canonical), "rounding_mode", "");

	if (*mode == 'f')
		return floor_quotient(canonical);
	if (*mode && sk_value_is_float(&canonical->graph->values.items[sk_canonical_input(canonical, 0)]))
		return add_composite(canonical, "TruncDiv", 2);
	return add_binary(canonical, "Div", false);
}

/* ---- BiasAdd ---- */

static uint32_t channel_axis(const struct sk_graph_node *node, uint32_t rank)
{
	return !strcmp(sk_node_string(node, "data_format", "NCHW"), "NHWC") ? rank - 1 : 1;
}

static bool infer_bias_add(struct sk_inference *inference)
{
	const struct sk_value *x = sk_infer_input(inference, 0), *bias = sk_infer_input(inference, 1);
	const char *format = sk_node_string(inference->node, "data_format", "NCHW");

	if (strcmp(format, "NCHW") && strcmp(format, "NCDHW") && strcmp(format, "NHWC"))
		return sk_infer_error(inference, "data_format is '%s', and must be NCHW, NCDHW or NHWC", format);
	if (x->rank < 2 || bias->rank != 1 || bias->shape[0] != x->shape[channel_axis(inference->node, x->rank)])
		return sk_infer_error(inference, "'%s' is not a number for each channel of '%s'", bias->name, x->name);
	return sk_infer_one_type(inference) && sk_infer_like(inference, 0, 0);
}

static bool canonical_bias_add(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t x = sk_canonical_input(canonical, 0), bias = sk_canonical_input(canonical, 1), channels;
	const struct sk_value from = graph->values.items[x], numbers = graph->values.items[bias];
	uint32_t rank = from.rank - channel_axis(node_of(canonical), from.rank);
	uint64_t shape[SK_MAX_RANK] = {numbers.shape[0]};

	for (uint32_t i = 1; i < rank; i++)
		shape[i] = 1;
	channels = sk_graph_new_value(graph, numbers.name, numbers.dtype, rank, shape);
	sk_canonical_view(canonical, channels, bias, 0);
	return sk_canonical_binary(canonical, "Add", x, channels, sk_canonical_output(canonical, 0), true);
}

/* ---- Assign, AssignAdd: the new value of a parameter, of its type and shape ---- */

static bool infer_assign(struct sk_inference *inference)
{
	const struct sk_value *parameter = sk_infer_input(inference, 0), *value = sk_infer_input(inference, 1);
	uint32_t rank = parameter->rank;
	uint64_t shape[SK_MAX_RANK];

	memcpy(shape, parameter->shape, sizeof(shape));
	if (!sk_infer_broadcast(inference, &rank, shape, value->rank, value->shape))
		return false;
	if (rank != parameter->rank || (rank && memcmp(shape, parameter->shape, rank * sizeof(*shape))))
		return sk_infer_error(inference, "'%s' is larger than '%s'", value->name, parameter->name);
	return sk_infer_like(inference, 0, 0);
}

static bool canonical_assign(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t to = sk_canonical_output(canonical, 0), from = sk_canonical_input(canonical, 1);
	const struct sk_value target = graph->values.items[to];

	from = sk_canonical_cast(canonical, from, target.dtype);
	if (!strcmp(node_of(canonical)->op, "AssignAdd"))
		return sk_canonical_binary(canonical, "Add", sk_canonical_input(canonical, 0), from, to, true);
	return sk_canonical_expand(canonical, to, from);
}

/* ---- MaximumGrad, MinimumGrad ---- */

enum { X, Y, GRADIENT };

static bool infer_extreme_grad(struct sk_inference *inference)
{
	const struct sk_value *x = sk_infer_input(inference, X), *y = sk_infer_input(inference, Y);
	const struct sk_value *gradient = sk_infer_input(inference, GRADIENT);
	uint32_t rank = x->rank;
	uint64_t shape[SK_MAX_RANK];

	memcpy(shape, x->shape, sizeof(shape));
	if (!sk_infer_one_type(inference) || !sk_infer_broadcast(inference, &rank, shape, y->rank, y->shape))
		return false;
	if (rank != gradient->rank || (rank && memcmp(shape, gradient->shape, rank * sizeof(*shape))))
		return sk_infer_error(inference, "'%s' does not have the shape that '%s' and '%s' are broadcast to",
				      gradient->name, x->name, y->name);
	return sk_infer_like(inference, 0, X) && sk_infer_like(inference, 1, Y);
}

/* Return the axes of the gradient along which the value is repeated. */
static uint32_t repeated_axes(const struct sk_value *gradient, const struct sk_value *value)
{
	uint32_t missing = gradient->rank - value->rank, set = 0;

	for (uint32_t i = 0; i < gradient->rank; i++)
		if (i < missing || value->shape[i - missing] != gradient->shape[i])
			set |= 1U << i;
	return set;
}

static bool canonical_extreme_grad(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_value gradient = graph->values.items[sk_canonical_input(canonical, GRADIENT)];
	uint32_t shares[2], sets[2];

	for (size_t i = 0; i < 2; i++) {
		sets[i] = repeated_axes(&gradient, &graph->values.items[sk_canonical_input(canonical, i)]);
		shares[i] = sk_canonical_output(canonical, i);
		if (sets[i] || shares[i] == SK_NONE)
			shares[i] =
				sk_graph_new_value(graph, gradient.name, gradient.dtype, gradient.rank, gradient.shape);
	}
	if (sk_value_elements(&gradient)) {
		if (!sk_canonical_broadcast(canonical, node_of(canonical)->op, node_of(canonical)->inputs.items, 3,
					    shares[0]))
			return false;
		sk_call_output(canonical, last_call(canonical), sk_operand_flat(graph, shares[1]));
	}
	for (size_t i = 0; i < 2; i++) {
		uint32_t to = sk_canonical_output(canonical, i);

		if (sets[i] && to != SK_NONE && sk_value_elements(&graph->values.items[to]) &&
		    !sk_canonical_reduce(canonical, "ReduceSum", shares[i], to, sets[i]))
			return false;
	}
	return true;
}

/* ---- the table ---- */

static const struct sk_schema_attribute format[] = {{"data_format", SK_ATTRIBUTE_STRING, .string = "NCHW"}, {NULL}};
static const struct sk_schema_attribute rounding[] = {{"rounding_mode", SK_ATTRIBUTE_STRING, .string = ""}, {NULL}};
static const struct sk_schema_attribute softplus[] = {
	{"beta", SK_ATTRIBUTE_REAL, .real = 1}, {"threshold", SK_ATTRIBUTE_REAL, .real = 20}, {NULL}};

#define OPERATOR(NAME, LEAST, MOST, OUTPUTS, ATTRIBUTES, INFER, CANONICAL)                                             \
	{                                                                                                              \
		NAME, SK_OWN_DOMAIN, LEAST, MOST, 1, OUTPUTS, .attributes = ATTRIBUTES, .infer = INFER,                \
							      .canonical = CANONICAL                                   \
	}
#define UNARY(NAME, ATTRIBUTES)	  OPERATOR(NAME, 1, 1, 1, ATTRIBUTES, infer_like, canonical_unary)
#define COMPOSITE(NAME, INPUTS)	  OPERATOR(NAME, INPUTS, INPUTS, 1, NULL, infer_composite, canonical_composite)
#define BINARY(NAME, INFER, MAKE) OPERATOR(NAME, 2, 2, 1, NULL, INFER, MAKE)

const struct sk_schema sk_operators_composites[] = {
	COMPOSITE("Addcmul", 4),
	BINARY("Assign", infer_assign, canonical_assign),
	BINARY("AssignAdd", infer_assign, canonical_assign),
	BINARY("Atan2", infer_composite, canonical_ordered),
	OPERATOR("BiasAdd", 2, 2, 1, format, infer_bias_add, canonical_bias_add),
	COMPOSITE("ClipByNormNoDivSum", 4),
	OPERATOR("DivMod", 2, 2, 1, rounding, infer_div_mod, canonical_div_mod),
	UNARY("Erfc", NULL),
	UNARY("Expm1", NULL),
	BINARY("FastGeluGrad", infer_composite, canonical_swish_grad),
	{"FillV2", SK_OWN_DOMAIN, 2, 2, 1, 1, .upgrade = upgrade_fill},
	BINARY("FloorDiv", infer_composite, floor_quotient),
	COMPOSITE("FusedMulAdd", 3),
	OPERATOR("GeLUGrad", 2, 3, 1, NULL, infer_composite, canonical_gelu_grad),
	UNARY("HSigmoid", NULL),
	OPERATOR("IsFinite", 1, 1, 1, NULL, infer_test, canonical_unary),
	OPERATOR("MaximumGrad", 3, 3, 2, NULL, infer_extreme_grad, canonical_extreme_grad),
	OPERATOR("MinimumGrad", 3, 3, 2, NULL, infer_extreme_grad, canonical_extreme_grad),
	BINARY("NotEqual", infer_comparison, canonical_commutative),
	OPERATOR("OnesLike", 1, 1, 1, NULL, infer_like, canonical_fill),
	COMPOSITE("ReluGrad", 2),
	UNARY("Rsqrt", NULL),
	COMPOSITE("RsqrtGrad", 2),
	BINARY("SiLUGrad", infer_composite, canonical_swish_grad),
	COMPOSITE("SigmoidCrossEntropyWithLogits", 2),
	COMPOSITE("SigmoidCrossEntropyWithLogitsGrad", 3),
	COMPOSITE("SigmoidGrad", 2),
	UNARY("SoftplusExt", softplus),
	COMPOSITE("SoftplusGrad", 2),
	OPERATOR("SoftplusGradExt", 2, 2, 1, softplus, infer_composite, canonical_composite),
	COMPOSITE("SqrtGrad", 2),
	UNARY("Square", NULL),
	BINARY("SquaredDifference", infer_composite, canonical_commutative),
	COMPOSITE("TanhGrad", 2),
	UNARY("Trunc", NULL),
	OPERATOR("ZerosLike", 1, 1, 1, NULL, infer_like, canonical_fill),
	{NULL},
};
