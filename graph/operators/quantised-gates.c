/* A gate between quantised tensors (domain "sklink"): DequantSwigluQuant, as in GE and torch_npu. */
#include <inttypes.h>
#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

enum { X, WEIGHT_SCALE, ACTIVATION_SCALE, BIAS, QUANT_SCALE, QUANT_OFFSET, GROUP_INDEX };

/* x as rows of two halves. */
struct halves {
	uint64_t rows, width; /* `width` is that of a half */
};

static bool find_halves(const struct sk_inference *inference, struct halves *halves)
{
	const struct sk_value *x = sk_infer_input(inference, X);
	uint32_t axis;

	if (x->dtype != SK_I32 && (!sk_value_is_float(x) || x->dtype == SK_F64))
		return sk_infer_error(inference, "'%s' is %s, and must be f32, f16, bf16 or i32", x->name,
				      sk_dtype_name(x->dtype));
	if (!sk_infer_axis(inference, sk_node_integer(inference->node, "activate_dim", -1), x->rank, &axis))
		return false;
	if (axis + 1 != x->rank)
		return sk_infer_error(inference, "it divides axis %" PRIu32 " into halves, which is not the last one",
				      axis);
	if (!x->shape[axis] || x->shape[axis] % 2)
		return sk_infer_error(inference,
				      "'%s' has %" PRIu64 " element%s along axis %" PRIu32 ", which are not halves",
				      x->name, x->shape[axis], sk_plural(x->shape[axis]), axis);
	*halves = (struct halves){1, x->shape[axis] / 2};
	for (uint32_t i = 0; i < axis; i++)
		halves->rows *= x->shape[i];
	return true;
}

/* ---- checks of inputs ---- */

static bool is_dynamic(const struct sk_graph_node *node)
{
	return !strcmp(sk_node_string(node, "quant_mode", "static"), "dynamic");
}

/* True if the value has the shape of x, and so a factor for each of its elements. */
static bool is_each(const struct sk_value *x, const struct sk_value *value)
{
	return value->rank == x->rank && !memcmp(value->shape, x->shape, x->rank * sizeof(*x->shape));
}

static bool check_words(const struct sk_inference *inference)
{
	const struct sk_graph_node *node = inference->node;
	const char *mode = sk_node_string(node, "quant_mode", "static");
	const char *rounding = sk_node_string(node, "round_mode", "rint");
	int64_t gate = sk_node_integer(node, "swiglu_mode", 0);
	const struct sk_value *group = sk_infer_input(inference, GROUP_INDEX);

	if (strcmp(mode, "static") != 0 && strcmp(mode, "dynamic") != 0)
		return sk_infer_error(inference, "quant_mode '%s' is not static or dynamic", mode);
	if (strcmp(rounding, "rint") != 0)
		return sk_infer_error(inference, "round_mode '%s' is not possible, only 'rint'", rounding);
	if (gate)
		return sk_infer_error(inference, "swiglu_mode %" PRIi64 " is not possible, only 0", gate);
	return !group ||
	       sk_infer_error(inference, "'%s' divides rows into groups, which is not possible; give each group a node",
			      group->name);
}

/* Scales are floats, and as many as one of the counts. */
static bool check_scale(const struct sk_inference *inference, size_t number, uint64_t count, uint64_t other,
			const char *each)
{
	const struct sk_value *scale = sk_infer_input(inference, number);

	if (!scale)
		return true;
	if (!sk_value_is_float(scale))
		return sk_infer_error(inference, "'%s' is %s, and scales are floats", scale->name,
				      sk_dtype_name(scale->dtype));
	return sk_value_elements(scale) == count || sk_value_elements(scale) == other ||
	       sk_infer_error(inference, "'%s' is not a number for %s", scale->name, each);
}

static bool check_bias(const struct sk_inference *inference, uint64_t width)
{
	const struct sk_value *bias = sk_infer_input(inference, BIAS);

	if (!bias)
		return true;
	if (!sk_value_is_float(bias) && (bias->dtype != SK_I32 || sk_infer_input(inference, X)->dtype != SK_I32))
		return sk_infer_error(inference, "'%s' is %s, and must be floats, or i32 as '%s'", bias->name,
				      sk_dtype_name(bias->dtype), sk_infer_input(inference, X)->name);
	return sk_value_elements(bias) == width ||
	       sk_infer_error(inference, "'%s' is not a number for each column", bias->name);
}

static bool check_inputs(const struct sk_inference *inference, const struct halves *halves)
{
	const struct sk_value *x = sk_infer_input(inference, X), *weights = sk_infer_input(inference, WEIGHT_SCALE);
	const struct sk_value *offset = sk_infer_input(inference, QUANT_OFFSET);
	uint64_t width = 2 * halves->width;

	if (!weights || !is_each(x, weights))
		if (!check_scale(inference, WEIGHT_SCALE, width, width, "each column, nor for each element"))
			return false;
	if (weights && !sk_value_is_float(weights))
		return sk_infer_error(inference, "'%s' is %s, and scales are floats", weights->name,
				      sk_dtype_name(weights->dtype));
	if (offset && is_dynamic(inference->node))
		return sk_infer_error(inference, "'%s' is an offset, and integers with quant_mode 'dynamic' have none",
				      offset->name);
	return check_scale(inference, ACTIVATION_SCALE, halves->rows, halves->rows, "each row") &&
	       check_bias(inference, width) &&
	       check_scale(inference, QUANT_SCALE, 1, halves->width, "each column of a half") &&
	       check_scale(inference, QUANT_OFFSET, 1, halves->width, "each column of a half");
}

static bool infer_gate(struct sk_inference *inference)
{
	const struct sk_value x = *sk_infer_input(inference, X);
	uint64_t shape[SK_MAX_RANK];
	struct halves halves;

	if (!find_halves(inference, &halves) || !check_words(inference) || !check_inputs(inference, &halves))
		return false;
	memcpy(shape, x.shape, x.rank * sizeof(*shape));
	shape[x.rank - 1] = halves.width;
	return sk_infer_output(inference, 0, SK_I8, x.rank, shape) &&
	       sk_infer_output(inference, 1, SK_F32, x.rank - 1, shape);
}

/* ---- the call ---- */

/* Return the input in f32, once for each of `count` elements if there are some. */
static uint32_t numbers_of(struct sk_canonical *canonical, size_t number, uint64_t count)
{
	uint32_t value = sk_canonical_input(canonical, number);

	if (value == SK_NONE)
		return SK_NONE;
	value = sk_canonical_cast(canonical, value, SK_F32);
	return count ? sk_canonical_spread(canonical, value, 1, &count) : value;
}

static bool canonical_gate(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	const struct sk_value *given = sk_infer_input(&inference, WEIGHT_SCALE);
	uint32_t bias = sk_canonical_input(canonical, BIAS), weights, tokens, after, scale, offset;
	bool whole = bias != SK_NONE && graph->values.items[bias].dtype == SK_I32;
	struct sk_graph_call *call;
	struct halves halves;
	bool each;

	if (!find_halves(&inference, &halves))
		return false;
	if (!halves.rows)
		return true;
	each = given && halves.rows > 1 && is_each(sk_infer_input(&inference, X), given);

	const uint64_t all[3] = {halves.rows, 2, halves.width}, *columns = all + 1;

	weights = numbers_of(canonical, WEIGHT_SCALE, 0);
	tokens = numbers_of(canonical, ACTIVATION_SCALE, 0);
	after = whole ? SK_NONE : numbers_of(canonical, BIAS, 0);
	scale = numbers_of(canonical, QUANT_SCALE, halves.width);
	offset = numbers_of(canonical, QUANT_OFFSET, halves.width);
	call = sk_canonical_call(canonical, "DequantSwigluQuant");
	sk_call_integer(canonical, call, "activate_left",
			sk_node_integer(&graph->nodes.items[canonical->node], "activate_left", 0) != 0);
	sk_call_integer(canonical, call, "dynamic", is_dynamic(&graph->nodes.items[canonical->node]));
	sk_call_input(canonical, call, sk_operand_shaped(graph, sk_canonical_input(canonical, X), 3, all));
	sk_call_input(canonical, call, sk_operand_shaped(graph, each ? SK_NONE : weights, 2, columns));
	sk_call_input(canonical, call, sk_operand_shaped(graph, each ? weights : SK_NONE, 3, all));
	sk_call_input(canonical, call, sk_operand_flat(graph, tokens));
	sk_call_input(canonical, call, sk_operand_shaped(graph, whole ? bias : SK_NONE, 2, columns));
	sk_call_input(canonical, call, sk_operand_shaped(graph, after, 2, columns));
	sk_call_input(canonical, call, sk_operand_flat(graph, scale));
	sk_call_input(canonical, call, sk_operand_flat(graph, offset));
	sk_call_output(canonical, call,
		       sk_operand_shaped(graph, sk_canonical_output(canonical, 0), 2,
					 (uint64_t[]){halves.rows, halves.width}));
	sk_call_output(canonical, call, sk_operand_flat(graph, sk_canonical_output(canonical, 1)));
	return true;
}

/* ---- the table ---- */

/* The attributes after `swiglu_mode` belong to its other values. */
static const struct sk_schema_attribute gate[] = {{"activate_dim", SK_ATTRIBUTE_INTEGER, .integer = -1},
						  {"activate_left", SK_ATTRIBUTE_INTEGER},
						  {"quant_mode", SK_ATTRIBUTE_STRING, .string = "static"},
						  {"round_mode", SK_ATTRIBUTE_STRING, .string = "rint"},
						  {"swiglu_mode", SK_ATTRIBUTE_INTEGER},
						  {"clamp_limit", SK_ATTRIBUTE_REAL, .real = 7},
						  {"glu_alpha", SK_ATTRIBUTE_REAL, .real = 1.702},
						  {"glu_bias", SK_ATTRIBUTE_REAL, .real = 1},
						  {NULL}};

const struct sk_schema sk_operators_quantised_gates[] = {
	{"DequantSwigluQuant", SK_OWN_DOMAIN, 1, 7, 1, 2, .attributes = gate, .infer = infer_gate,
	 .canonical = canonical_gate},
	{NULL},
};
