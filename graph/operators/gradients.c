/* Gradients along axes (domain "sklink", MindSpore's primitives), and LayerNorm with the statistics that its gradient
 * needs. */
#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

static bool check_like_first(const struct sk_inference *inference, size_t number)
{
	const struct sk_value *first = sk_infer_input(inference, 0), *value = sk_infer_input(inference, number);

	if (value->dtype == first->dtype && value->rank == first->rank &&
	    !memcmp(value->shape, first->shape, first->rank * sizeof(*first->shape)))
		return true;
	return sk_infer_error(inference, "'%s' is not of the type and the shape of '%s'", value->name, first->name);
}

/* ---- SoftmaxGrad, SoftmaxBackward, SoftmaxGradExt, LogSoftmaxGrad ---- */

/* Axes, one number or a list, are the attribute `axis`, or the third input of SoftmaxBackward. */
static bool find_axes(const struct sk_inference *inference, uint64_t shape[3])
{
	static const int64_t last = -1;
	const struct sk_value *from = sk_infer_input(inference, 0);
	const struct sk_attribute *attribute = sk_node_attribute(inference->node, "axis");
	const int64_t *axes = attribute ? attribute->integers : NULL;
	uint64_t count = attribute ? attribute->count : 0;
	uint32_t set = 0, axis, part = 0;

	if (!strcmp(inference->node->op, "SoftmaxBackward") && sk_infer_input(inference, 2) &&
	    !sk_infer_integers(inference, 2, &count, &axes))
		return false;
	if (!count && !attribute) {
		axes = &last;
		count = 1;
	}
	for (uint64_t i = 0; i < count; i++) {
		if (!sk_infer_axis(inference, axes[i], from->rank, &axis))
			return false;
		set |= 1U << axis;
	}
	if (!count) /* an empty list means all axes */
		set = (1U << from->rank) - 1;
	shape[0] = shape[1] = shape[2] = 1;
	for (uint32_t i = 0; i < from->rank; i++) {
		bool summed = set >> i & 1;

		part = !part && summed ? 1 : part == 1 && !summed ? 2 : part;
		if (part == 2 && summed)
			return sk_infer_error(inference, "its axes are not neighbours");
		shape[part] *= from->shape[i];
	}
	return true;
}

static bool upgrade_axes(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	sk_node_make_list(graph, node, "axis");
	return true;
}

static bool infer_row_gradient(struct sk_inference *inference)
{
	uint64_t shape[3];

	return check_like_first(inference, 1) && find_axes(inference, shape) && sk_infer_like(inference, 0, 0);
}

static bool infer_scaled_gradient(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0), *factor = sk_infer_input(inference, 2);
	uint64_t shape[SK_MAX_RANK];
	uint32_t rank = from->rank;

	memcpy(shape, from->shape, sizeof(shape));
	if (!sk_infer_broadcast(inference, &rank, shape, factor->rank, factor->shape))
		return false;
	if (rank != from->rank || memcmp(shape, from->shape, rank * sizeof(*shape)))
		return sk_infer_error(inference, "'%s' is larger than '%s'", factor->name, from->name);
	return infer_row_gradient(inference);
}

static void add_row_gradient(struct sk_canonical *canonical, const char *op, const uint32_t values[4],
			     const uint64_t shape[3])
{
	const struct sk_op_graph *graph = canonical->graph;
	struct sk_graph_call *call = sk_canonical_call(canonical, op);

	sk_call_input(canonical, call, sk_operand_shaped(graph, values[0], 3, shape));
	sk_call_input(canonical, call, sk_operand_shaped(graph, values[1], 3, shape));
	if (values[2] != SK_NONE)
		sk_call_input(canonical, call, sk_operand_flat(graph, values[2]));
	sk_call_output(canonical, call, sk_operand_shaped(graph, values[3], 3, shape));
}

/* In SoftmaxGrad and LogSoftmaxGrad the result of the function is the first input and its gradient the second;
 * elsewhere the order is reversed. */
static bool canonical_row_gradient(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	bool made_first = !strcmp(inference.node->op, "SoftmaxGrad") || !strcmp(inference.node->op, "LogSoftmaxGrad");
	bool logarithm = !strcmp(inference.node->op, "LogSoftmaxGrad");
	const uint32_t values[4] = {sk_canonical_input(canonical, made_first),
				    sk_canonical_input(canonical, !made_first), SK_NONE,
				    sk_canonical_output(canonical, 0)};
	uint64_t shape[3];

	if (!find_axes(&inference, shape))
		return false;
	add_row_gradient(canonical, logarithm ? "LogSoftmaxGrad" : "SoftmaxGrad", values, shape);
	return true;
}

static bool canonical_scaled_gradient(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	uint32_t to = sk_canonical_output(canonical, 0), factor = sk_canonical_input(canonical, 2);
	const struct sk_value output = graph->values.items[to];
	uint32_t values[4] = {sk_canonical_input(canonical, 0), sk_canonical_input(canonical, 1), SK_NONE, to};
	uint64_t shape[3];

	if (!find_axes(&inference, shape))
		return false;
	if (sk_value_elements(&graph->values.items[factor]) == 1) {
		values[2] = sk_canonical_cast(canonical, factor, sk_computed_dtype(output.dtype));
		add_row_gradient(canonical, "SoftmaxGrad", values, shape);
		return true;
	}
	factor = sk_canonical_cast(canonical, factor, output.dtype);
	values[3] = sk_graph_new_value(graph, output.name, output.dtype, output.rank, output.shape);
	add_row_gradient(canonical, "SoftmaxGrad", values, shape);
	return sk_canonical_binary(canonical, "Mul", values[3], factor, to, true);
}

/* ---- sums of rows ---- */

enum {
	ROWS_OF_PART = 16, /* so that adding up the parts costs little */
	PARTS = 64, /* at most: enough for many cores, and few to add up */
};

static uint64_t parts_of(uint64_t rows)
{
	uint64_t parts = rows / ROWS_OF_PART;

	return parts < 1 ? 1 : parts > PARTS ? PARTS : parts;
}

/* to = the sum of the parts [p, k], in any type. */
static bool add_parts(struct sk_canonical *canonical, uint32_t parts, uint32_t to)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_value from = graph->values.items[parts];
	uint32_t sum = to;

	if (to == SK_NONE)
		return true;
	if (graph->values.items[to].dtype != from.dtype)
		sum = sk_graph_new_value(graph, from.name, from.dtype, 1, &from.shape[1]);
	if (!sk_canonical_reduce(canonical, "ReduceSum", parts, sum, 1))
		return false;
	if (sum != to)
		sk_canonical_store(canonical, to, sum);
	return true;
}

/* to [k] = the sum of rows [m, k]. */
static bool sum_rows(struct sk_canonical *canonical, uint32_t from, uint64_t m, uint64_t k, uint32_t to)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_value value = graph->values.items[from];
	const uint64_t rows[2] = {m, k}, shape[2] = {parts_of(m), k};
	uint32_t parts = sk_graph_new_value(graph, value.name, sk_computed_dtype(value.dtype), 2, shape);
	struct sk_graph_call *call = sk_canonical_call(canonical, "SumRows");

	sk_call_input(canonical, call, sk_operand_shaped(graph, from, 2, rows));
	sk_call_output(canonical, call, sk_operand_shaped(graph, parts, 2, shape));
	return add_parts(canonical, parts, to);
}

/* ---- BiasAddGrad ---- */

static uint32_t channel_axis(const struct sk_graph_node *node, const struct sk_value *value)
{
	return strcmp(sk_node_string(node, "data_format", "NCHW"), "NHWC") ? 1 : value->rank - 1;
}

static bool infer_bias_gradient(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);

	if (from->rank < 2)
		return sk_infer_error(inference, "'%s' has %u dimension%s, and at least 2 are needed", from->name,
				      from->rank, sk_plural(from->rank));
	if (!sk_value_is_float(from))
		return sk_infer_error(inference, "'%s' is %s, and there are no such gradients", from->name,
				      sk_dtype_name(from->dtype));
	return sk_infer_output(inference, 0, from->dtype, 1, &from->shape[channel_axis(inference->node, from)]);
}

/* If dimensions follow the channels, each plane is summed first. */
static bool canonical_bias_gradient(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t from = sk_canonical_input(canonical, 0), to = sk_canonical_output(canonical, 0);
	const struct sk_value value = graph->values.items[from];
	uint32_t axis = channel_axis(&graph->nodes.items[canonical->node], &value);
	enum sk_dtype computed = sk_computed_dtype(value.dtype);
	uint64_t shape[3] = {1, value.shape[axis], 1};
	uint32_t planes;

	if (!sk_value_elements(&value))
		return sk_canonical_fill(canonical, to, 0);
	for (uint32_t i = 0; i < value.rank; i++)
		if (i != axis)
			shape[i < axis ? 0 : 2] *= value.shape[i];
	if (shape[2] == 1)
		return sum_rows(canonical, from, shape[0], shape[1], to);
	planes = sk_graph_new_value(graph, value.name, computed, 2, shape);
	if (!sk_canonical_reduce(canonical, "ReduceSum", sk_canonical_cast(canonical, from, computed), planes,
				 ((1U << value.rank) - 1) & ~((2U << axis) - 1)))
		return false;
	return sum_rows(canonical, planes, shape[0], shape[1], to);
}

/* ---- LayerNorm, LayerNormGrad ---- */

/* The normalised rows: [m, k], where k covers the axes from the given one on. */
static bool find_rows(const struct sk_inference *inference, const struct sk_value *gamma, uint32_t *axis,
		      uint64_t rows[2])
{
	const struct sk_value *from = sk_infer_input(inference, 0);

	if (!sk_infer_axis(inference, sk_node_integer(inference->node, "begin_norm_axis", 1), from->rank, axis))
		return false;
	rows[0] = rows[1] = 1;
	for (uint32_t i = 0; i < from->rank; i++)
		rows[i >= *axis] *= from->shape[i];
	if (gamma->dtype != from->dtype || sk_value_elements(gamma) != rows[1])
		return sk_infer_error(inference,
				      "'%s' is not a number of the type of '%s' for each of the %llu element%s from "
				      "begin_norm_axis on",
				      gamma->name, from->name, (unsigned long long)rows[1], sk_plural(rows[1]));
	return sk_value_is_float(from) || sk_infer_error(inference,
							 "'%s' is %s, and nothing else than floats is "
							 "normalized",
							 from->name, sk_dtype_name(from->dtype));
}

static bool infer_layer_norm(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	enum sk_dtype dtype = sk_computed_dtype(from->dtype);
	uint64_t shape[SK_MAX_RANK], rows[2];
	uint32_t axis;

	if (!find_rows(inference, sk_infer_input(inference, 1), &axis, rows) ||
	    !find_rows(inference, sk_infer_input(inference, 2), &axis, rows))
		return false;
	for (uint32_t i = 0; i < from->rank; i++)
		shape[i] = i < axis ? from->shape[i] : 1;
	return sk_infer_like(inference, 0, 0) && sk_infer_output(inference, 1, dtype, from->rank, shape) &&
	       sk_infer_output(inference, 2, dtype, from->rank, shape);
}

static bool canonical_layer_norm(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	size_t outputs = inference.node->outputs.count;
	uint32_t from = sk_canonical_input(canonical, 0), axis, to;
	struct sk_graph_call *call;
	uint64_t rows[2];

	if (!find_rows(&inference, sk_infer_input(&inference, 1), &axis, rows))
		return false;
	if (!rows[1]) { /* rows without elements have neither mean nor variance */
		for (size_t i = 1; i < outputs; i++)
			if (sk_canonical_output(canonical, i) != SK_NONE &&
			    !sk_canonical_fill(canonical, sk_canonical_output(canonical, i), __builtin_nan("")))
				return false;
		return true;
	}
	to = sk_canonical_made(canonical, 0, graph->values.items[from].dtype, from);
	call = sk_canonical_call(canonical, "LayerNorm");
	sk_call_real(canonical, call, "epsilon", sk_node_real(inference.node, "epsilon", 1e-7));
	sk_call_input(canonical, call, sk_operand_shaped(graph, from, 2, rows));
	for (size_t i = 1; i < 3; i++)
		sk_call_input(canonical, call, sk_operand_flat(graph, sk_canonical_input(canonical, i)));
	sk_call_output(canonical, call, sk_operand_shaped(graph, to, 2, rows));
	for (size_t i = 1; i < outputs; i++)
		sk_call_output(canonical, call, sk_operand_flat(graph, sk_canonical_output(canonical, i)));
	return true;
}

static bool infer_layer_gradient(struct sk_inference *inference)
{
	const struct sk_value *gamma = sk_infer_input(inference, 4);
	uint64_t rows[2];
	uint32_t axis;

	if (!check_like_first(inference, 1) || !find_rows(inference, gamma, &axis, rows))
		return false;
	for (size_t i = 2; i < 4; i++)
		if (sk_value_elements(sk_infer_input(inference, i)) != rows[0])
			return sk_infer_error(inference, "'%s' is not a number for each of the %llu row%s",
					      sk_infer_input(inference, i)->name, (unsigned long long)rows[0],
					      sk_plural(rows[0]));
	for (size_t i = 0; i < 3; i++)
		if (!sk_infer_like(inference, i, i ? 4 : 0))
			return false;
	return true;
}

static bool canonical_layer_gradient(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	const struct sk_value from = graph->values.items[sk_canonical_input(canonical, 0)];
	enum sk_dtype computed = sk_computed_dtype(from.dtype);
	double epsilon = sk_node_real(inference.node, "epsilon", 1e-12);
	uint32_t axis, made[3], statistics[2];
	struct sk_graph_call *call;
	uint64_t rows[2], parts[2];

	if (!find_rows(&inference, sk_infer_input(&inference, 4), &axis, rows))
		return false;
	if (!rows[0]) { /* the sum of no rows is 0 */
		for (size_t i = 1; i < 3; i++)
			if (sk_canonical_output(canonical, i) != SK_NONE &&
			    !sk_canonical_fill(canonical, sk_canonical_output(canonical, i), 0))
				return false;
		return true;
	}
	for (size_t i = 0; i < 2; i++)
		statistics[i] = sk_canonical_cast(canonical, sk_canonical_input(canonical, 2 + i), computed);
	parts[0] = parts_of(rows[0]);
	parts[1] = rows[1];
	made[0] = sk_canonical_made(canonical, 0, from.dtype, sk_canonical_input(canonical, 0));
	for (size_t i = 1; i < 3; i++)
		made[i] = sk_graph_new_value(graph, from.name, computed, 2, parts);
	call = sk_canonical_call(canonical, "LayerNormGrad");
	sk_call_real(canonical, call, "epsilon", epsilon);
	for (size_t i = 0; i < 2; i++)
		sk_call_input(canonical, call, sk_operand_shaped(graph, sk_canonical_input(canonical, i), 2, rows));
	for (size_t i = 0; i < 2; i++)
		sk_call_input(canonical, call, sk_operand_flat(graph, statistics[i]));
	sk_call_input(canonical, call, sk_operand_flat(graph, sk_canonical_input(canonical, 4)));
	for (size_t i = 0; i < 3; i++)
		sk_call_output(canonical, call, sk_operand_shaped(graph, made[i], 2, i ? parts : rows));
	return add_parts(canonical, made[1], sk_canonical_output(canonical, 1)) &&
	       add_parts(canonical, made[2], sk_canonical_output(canonical, 2));
}

/* ---- the table ---- */

static const struct sk_schema_attribute axes[] = {{"axis", SK_ATTRIBUTE_INTEGERS}, {NULL}};
static const struct sk_schema_attribute scaled[] = {
	{"axis", SK_ATTRIBUTE_INTEGERS}, {"keep_dims", SK_ATTRIBUTE_INTEGER}, {NULL}};
static const struct sk_schema_attribute format[] = {{"data_format", SK_ATTRIBUTE_STRING}, {NULL}};
static const struct sk_schema_attribute norm[] = {{"begin_norm_axis", SK_ATTRIBUTE_INTEGER, .integer = 1},
						  {"begin_params_axis", SK_ATTRIBUTE_INTEGER, .integer = 1},
						  {"epsilon", SK_ATTRIBUTE_REAL},
						  {NULL}};

const struct sk_schema sk_operators_gradients[] = {
	{"BiasAddGrad", SK_OWN_DOMAIN, 1, 1, 1, 1, .attributes = format, .infer = infer_bias_gradient,
	 .canonical = canonical_bias_gradient},
	{"LayerNorm", SK_OWN_DOMAIN, 3, 3, 1, 3, .attributes = norm, .infer = infer_layer_norm,
	 .canonical = canonical_layer_norm},
	{"LayerNormGrad", SK_OWN_DOMAIN, 5, 5, 1, 3, .attributes = norm, .infer = infer_layer_gradient,
	 .canonical = canonical_layer_gradient},
	{"LogSoftmaxGrad", SK_OWN_DOMAIN, 2, 2, 1, 1, .attributes = axes, .upgrade = upgrade_axes,
	 .infer = infer_row_gradient, .canonical = canonical_row_gradient},
	{"SoftmaxBackward", SK_OWN_DOMAIN, 2, 3, 1, 1, .demands = 1 << 2, .attributes = axes, .upgrade = upgrade_axes,
	 .infer = infer_row_gradient, .canonical = canonical_row_gradient},
	{"SoftmaxGrad", SK_OWN_DOMAIN, 2, 2, 1, 1, .attributes = axes, .upgrade = upgrade_axes,
	 .infer = infer_row_gradient, .canonical = canonical_row_gradient},
	{"SoftmaxGradExt", SK_OWN_DOMAIN, 3, 3, 1, 1, .attributes = scaled, .upgrade = upgrade_axes,
	 .infer = infer_scaled_gradient, .canonical = canonical_scaled_gradient},
	{NULL},
};
