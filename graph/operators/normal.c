/* Normalisations: operators that bring elements to mean 0 and variance 1, in several variants. */
#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

/* The dimensions from an axis on. */
struct tail {
	uint32_t rank;
	uint64_t shape[SK_MAX_RANK];
	uint64_t elements;
};

static struct tail tail_of(const struct sk_value *value, uint32_t axis)
{
	struct tail tail = {.rank = value->rank - axis, .elements = 1};

	for (uint32_t i = 0; i < tail.rank; i++) {
		tail.shape[i] = value->shape[axis + i];
		tail.elements *= tail.shape[i];
	}
	return tail;
}

/* Check that input `number`, if present, has the type of the first one, and that many elements. */
static bool check_channels(const struct sk_inference *inference, size_t number, uint64_t elements)
{
	const struct sk_value *value = sk_infer_input(inference, number);

	if (!value || sk_value_elements(value) == elements)
		return true;
	return sk_infer_error(inference, "'%s' has %llu element%s, and %llu are needed", value->name,
			      (unsigned long long)sk_value_elements(value), sk_plural(sk_value_elements(value)),
			      (unsigned long long)elements);
}

static bool check_type(const struct sk_inference *inference, size_t number)
{
	const struct sk_value *first = sk_infer_input(inference, 0), *value = sk_infer_input(inference, number);

	if (!value || value->dtype == first->dtype)
		return true;
	return sk_infer_error(inference, "'%s' is %s, and '%s' is %s", first->name, sk_dtype_name(first->dtype),
			      value->name, sk_dtype_name(value->dtype));
}

/* Check that input `number` can be broadcast to the shape. */
static bool check_broadcast(const struct sk_inference *inference, size_t number, const struct tail *tail)
{
	const struct sk_value *value = sk_infer_input(inference, number);
	bool fits = !value || value->rank <= tail->rank;

	for (uint32_t i = 0; value && fits && i < value->rank; i++)
		fits = value->shape[i] == 1 || value->shape[i] == tail->shape[tail->rank - value->rank + i];
	return fits || sk_infer_error(inference, "'%s' does not fit the normalised tensor", value->name);
}

/* Statistics are kept in f32. */
static bool check_stash(const struct sk_inference *inference)
{
	int64_t type = sk_node_integer(inference->node, "stash_type", 1);

	return type == 1 ||
	       sk_infer_error(inference, "stash_type %lld is not supported, only 1 (f32)", (long long)type);
}

/* ---- LayerNormalization, RMSNormalization ---- */

static bool find_axis(const struct sk_inference *inference, uint32_t *axis)
{
	return sk_infer_axis(inference, sk_node_integer(inference->node, "axis", -1),
			     sk_infer_input(inference, 0)->rank, axis);
}

static bool infer_layer(struct sk_inference *inference)
{
	const struct sk_value from = *sk_infer_input(inference, 0);
	uint64_t shape[SK_MAX_RANK];
	struct tail tail;
	uint32_t axis;

	if (!find_axis(inference, &axis) || !check_stash(inference))
		return false;
	tail = tail_of(&from, axis);
	for (size_t i = 1; i < inference->node->inputs.count; i++)
		if (!check_type(inference, i) || !check_broadcast(inference, i, &tail))
			return false;
	for (uint32_t i = 0; i < from.rank; i++)
		shape[i] = i < axis ? from.shape[i] : 1;
	return sk_infer_like(inference, 0, 0) && sk_infer_output(inference, 1, SK_F32, from.rank, shape) &&
	       sk_infer_output(inference, 2, SK_F32, from.rank, shape);
}

/* Rows without elements occur only if the input is empty. They have neither mean nor deviation. */
static bool fill_statistics(struct sk_canonical *canonical)
{
	for (size_t i = 1; i < 3; i++)
		if (sk_canonical_output(canonical, i) != SK_NONE &&
		    !sk_canonical_fill(canonical, sk_canonical_output(canonical, i), __builtin_nan("")))
			return false;
	return true;
}

static bool canonical_layer(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	size_t inputs = inference.node->inputs.count, outputs = inference.node->outputs.count;
	const struct sk_value from = graph->values.items[sk_canonical_input(canonical, 0)];
	uint32_t axis, factors[2] = {sk_canonical_input(canonical, 1), sk_canonical_input(canonical, 2)}, to;
	struct sk_graph_call *call;
	struct tail tail;
	uint64_t shape[2];

	if (!find_axis(&inference, &axis))
		return false;
	if (!sk_value_elements(&from))
		return fill_statistics(canonical);
	tail = tail_of(&from, axis);
	shape[0] = sk_value_elements(&from) / tail.elements;
	shape[1] = tail.elements;
	for (size_t i = 0; i < 2; i++)
		factors[i] = sk_canonical_spread(canonical, factors[i], tail.rank, tail.shape);
	to = sk_canonical_made(canonical, 0, from.dtype, sk_canonical_input(canonical, 0));
	call = sk_canonical_call(canonical, inference.node->op);
	sk_call_real(canonical, call, "epsilon", sk_node_real(inference.node, "epsilon", 1e-5));
	sk_call_input(canonical, call, sk_operand_shaped(graph, sk_canonical_input(canonical, 0), 2, shape));
	for (size_t i = 0; i + 1 < inputs; i++)
		sk_call_input(canonical, call, sk_operand_flat(graph, factors[i]));
	sk_call_output(canonical, call, sk_operand_shaped(graph, to, 2, shape));
	for (size_t i = 1; i < outputs; i++)
		sk_call_output(canonical, call, sk_operand_flat(graph, sk_canonical_output(canonical, i)));
	return true;
}

/* ---- InstanceNormalization, GroupNormalization, LRN: channels are the second dimension ---- */

/* Return the value as [n, channels, inner]. */
static void channel_shape(const struct sk_value *value, uint64_t shape[3])
{
	shape[0] = value->rank ? value->shape[0] : 1;
	shape[1] = value->rank > 1 ? value->shape[1] : 1;
	shape[2] = 1;
	for (uint32_t i = 2; i < value->rank; i++)
		shape[2] *= value->shape[i];
}

static bool check_rank(const struct sk_inference *inference, uint32_t least)
{
	const struct sk_value *value = sk_infer_input(inference, 0);

	return value->rank >= least || sk_infer_error(inference, "'%s' has %u dimension%s, and at least %u are needed",
						      value->name, value->rank, sk_plural(value->rank), least);
}

static bool upgrade_consumed(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	(void)graph;
	sk_node_remove_attribute(node, "consumed_inputs");
	return true;
}

static bool infer_instance(struct sk_inference *inference)
{
	if (!check_rank(inference, 2))
		return false;
	for (size_t i = 1; i < 3; i++)
		if (!check_type(inference, i) || !check_channels(inference, i, sk_infer_input(inference, 0)->shape[1]))
			return false;
	return sk_infer_like(inference, 0, 0);
}

static bool canonical_instance(struct sk_canonical *canonical)
{
	const struct sk_op_graph *graph = canonical->graph;
	struct sk_graph_call *call = sk_canonical_call(canonical, "InstanceNormalization");
	uint64_t shape[3];

	channel_shape(&graph->values.items[sk_canonical_input(canonical, 0)], shape);
	sk_call_attributes(canonical, call);
	sk_call_input(canonical, call, sk_operand_shaped(graph, sk_canonical_input(canonical, 0), 3, shape));
	for (size_t i = 1; i < 3; i++)
		sk_call_input(canonical, call, sk_operand_flat(graph, sk_canonical_input(canonical, i)));
	sk_call_output(canonical, call, sk_operand_shaped(graph, sk_canonical_output(canonical, 0), 3, shape));
	return true;
}

/* Before operator set 21 there was one scale and one bias for each group. */
static bool infer_group(struct sk_inference *inference)
{
	int64_t groups = sk_node_integer(inference->node, "num_groups", 0);
	const struct sk_value *from = sk_infer_input(inference, 0);
	uint64_t elements;

	if (!check_rank(inference, 2) || !check_stash(inference))
		return false;
	if (groups <= 0 || from->shape[1] % (uint64_t)groups)
		return sk_infer_error(inference, "the %llu channel%s of '%s' are not %lld group%s",
				      (unsigned long long)from->shape[1], sk_plural(from->shape[1]), from->name,
				      (long long)groups, sk_plural((uint64_t)groups));
	elements = inference->node->version < 21 ? (uint64_t)groups : from->shape[1];
	for (size_t i = 1; i < 3; i++)
		if (!check_type(inference, i) || !check_channels(inference, i, elements))
			return false;
	return sk_infer_like(inference, 0, 0);
}

/* Repeat the number of a group for each of its channels. */
static uint32_t spread_groups(struct sk_canonical *canonical, uint32_t value, uint64_t groups, uint64_t channels)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_value from = graph->values.items[value];
	const struct sk_arrangement arrangement = {.rank = 2, .shape = {groups, channels}, .strides = {1, 0}};
	const uint64_t shape[2] = {groups, channels};
	uint32_t copy;

	if (sk_value_elements(&from) == groups * channels)
		return value;
	copy = sk_graph_new_value(graph, from.name, from.dtype, 2, shape);
	sk_canonical_arrange(canonical, sk_operand_flat(graph, copy), value, &arrangement);
	return copy;
}

static bool canonical_group(struct sk_canonical *canonical)
{
	const struct sk_op_graph *graph = canonical->graph;
	const struct sk_graph_node *node = &graph->nodes.items[canonical->node];
	uint64_t groups = (uint64_t)sk_node_integer(node, "num_groups", 1), whole[3], shape[4];
	double epsilon = sk_node_real(node, "epsilon", 1e-5);
	struct sk_graph_call *call;
	uint32_t factors[2];

	channel_shape(&graph->values.items[sk_canonical_input(canonical, 0)], whole);
	shape[0] = whole[0];
	shape[1] = groups;
	shape[2] = whole[1] / groups;
	shape[3] = whole[2];
	for (size_t i = 0; i < 2; i++)
		factors[i] = spread_groups(canonical, sk_canonical_input(canonical, 1 + i), groups, shape[2]);
	call = sk_canonical_call(canonical, "GroupNormalization");
	sk_call_real(canonical, call, "epsilon", epsilon);
	sk_call_input(canonical, call, sk_operand_shaped(graph, sk_canonical_input(canonical, 0), 4, shape));
	for (size_t i = 0; i < 2; i++)
		sk_call_input(canonical, call, sk_operand_shaped(graph, factors[i], 2, shape + 1));
	sk_call_output(canonical, call, sk_operand_shaped(graph, sk_canonical_output(canonical, 0), 4, shape));
	return true;
}

static bool infer_lrn(struct sk_inference *inference)
{
	int64_t size = sk_node_integer(inference->node, "size", 0);

	if (!check_rank(inference, 2))
		return false;
	if (size <= 0)
		return sk_infer_error(inference, "size is %lld, and must be positive", (long long)size);
	return sk_infer_like(inference, 0, 0);
}

static bool canonical_lrn(struct sk_canonical *canonical)
{
	const struct sk_op_graph *graph = canonical->graph;
	struct sk_graph_call *call = sk_canonical_call(canonical, "LRN");
	uint64_t shape[3];

	channel_shape(&graph->values.items[sk_canonical_input(canonical, 0)], shape);
	sk_call_attributes(canonical, call);
	sk_call_input(canonical, call, sk_operand_shaped(graph, sk_canonical_input(canonical, 0), 3, shape));
	sk_call_output(canonical, call, sk_operand_shaped(graph, sk_canonical_output(canonical, 0), 3, shape));
	return true;
}

/* ---- BatchNormalization ---- */

/* Before operator set 14 outputs beyond the first implied training; there was no attribute for it. */
static bool upgrade_batch(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	sk_node_remove_attribute(node, "is_test");
	return upgrade_consumed(graph, node);
}

/* Before operator set 9 each element of an image could have statistics of its own. */
static bool is_spatial(const struct sk_graph_node *node)
{
	return sk_node_integer(node, "spatial", 1);
}

/* Return the value as [n, channels, inner], where each channel has statistics. */
static void batch_shape(const struct sk_graph_node *node, const struct sk_value *value, uint64_t shape[3])
{
	channel_shape(value, shape);
	if (is_spatial(node))
		return;
	shape[1] *= shape[2];
	shape[2] = 1;
}

static bool infer_batch(struct sk_inference *inference)
{
	const struct sk_value *statistics = sk_infer_input(inference, 3);
	uint64_t shape[3];

	if (!check_rank(inference, 1))
		return false;
	batch_shape(inference->node, sk_infer_input(inference, 0), shape);
	for (size_t i = 1; i < 5; i++)
		if (!check_channels(inference, i, shape[1]))
			return false;
	for (size_t i = 1; i < inference->node->outputs.count; i++)
		if (inference->node->outputs.items[i] != SK_NONE &&
		    (i > 2 || !sk_node_integer(inference->node, "training_mode", 0)))
			return sk_infer_error(inference,
					      "output %zu needs training as it was before operator set 14, "
					      "which is not supported",
					      i);
	return sk_infer_like(inference, 0, 0) &&
	       sk_infer_output(inference, 1, statistics->dtype, statistics->rank, statistics->shape) &&
	       sk_infer_output(inference, 2, statistics->dtype, statistics->rank, statistics->shape);
}

static uint32_t new_like(struct sk_op_graph *graph, uint32_t value)
{
	const struct sk_value like = graph->values.items[value];

	return sk_graph_new_value(graph, like.name, like.dtype, like.rank, like.shape);
}

/* Compute the mean of each channel, and the mean of the squared differences from it. */
static bool channel_moments(struct sk_canonical *canonical, uint32_t from, uint32_t moments[2])
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_value value = graph->values.items[from];
	uint32_t set = ((1U << value.rank) - 1) & ~(value.rank > 1 ? 2U : 0U), off, square;
	uint64_t shape[SK_MAX_RANK];

	for (uint32_t i = 0; i < value.rank; i++)
		shape[i] = set >> i & 1 ? 1 : value.shape[i];
	for (size_t i = 0; i < 2; i++)
		moments[i] = sk_graph_new_value(graph, value.name, value.dtype, value.rank, shape);
	off = new_like(graph, from);
	square = new_like(graph, from);
	return sk_canonical_reduce(canonical, "ReduceMean", from, moments[0], set) &&
	       sk_canonical_binary(canonical, "Sub", from, moments[0], off, false) &&
	       sk_canonical_binary(canonical, "Mul", off, off, square, true) &&
	       sk_canonical_reduce(canonical, "ReduceMean", square, moments[1], set);
}

/* to = before * momentum + now * (1 - momentum) */
static bool move_statistics(struct sk_canonical *canonical, uint32_t before, uint32_t now, double momentum, uint32_t to)
{
	struct sk_op_graph *graph = canonical->graph;
	enum sk_dtype dtype = graph->values.items[before].dtype;
	uint32_t kept = new_like(graph, before), added = new_like(graph, before), flat = new_like(graph, before);

	if (to == SK_NONE)
		return true;
	sk_canonical_view(canonical, flat, sk_canonical_cast(canonical, now, dtype), 0);
	return sk_canonical_binary(canonical, "Mul", before, sk_canonical_number(canonical, dtype, momentum), kept,
				   true) &&
	       sk_canonical_binary(canonical, "Mul", flat, sk_canonical_number(canonical, dtype, 1 - momentum), added,
				   true) &&
	       sk_canonical_binary(canonical, "Add", kept, added, to, true);
}

/* From here on the statistics are those of the input. */
static bool train(struct sk_canonical *canonical, uint32_t from, uint32_t statistics[4])
{
	const struct sk_graph_node *node = &canonical->graph->nodes.items[canonical->node];
	double momentum = sk_node_real(node, "momentum", 0.9);
	uint32_t moments[2];

	if (!is_spatial(node))
		return sk_canonical_error(canonical, "training with spatial=0 is not supported");
	if (!channel_moments(canonical, from, moments))
		return false;
	for (size_t i = 0; i < 2; i++) {
		if (!move_statistics(canonical, statistics[2 + i], moments[i], momentum,
				     sk_canonical_output(canonical, 1 + i)))
			return false;
		statistics[2 + i] = moments[i];
	}
	return true;
}

static bool canonical_batch(struct sk_canonical *canonical)
{
	const struct sk_op_graph *graph = canonical->graph;
	const struct sk_graph_node *node = &graph->nodes.items[canonical->node];
	double epsilon = sk_node_real(node, "epsilon", 1e-5);
	uint32_t from = sk_canonical_input(canonical, 0), statistics[4];
	enum sk_dtype dtype = sk_computed_dtype(graph->values.items[from].dtype);
	struct sk_graph_call *call;
	uint64_t shape[3];

	batch_shape(node, &graph->values.items[from], shape);
	for (size_t i = 0; i < 4; i++)
		statistics[i] = sk_canonical_input(canonical, 1 + i);
	if (sk_node_integer(node, "training_mode", 0) && !train(canonical, from, statistics))
		return false;
	for (size_t i = 0; i < 4; i++)
		statistics[i] = sk_canonical_cast(canonical, statistics[i], dtype);
	if (sk_canonical_output(canonical, 0) == SK_NONE || !sk_value_elements(&graph->values.items[from]))
		return true;
	call = sk_canonical_call(canonical, "BatchNormalization");
	sk_call_real(canonical, call, "epsilon", epsilon);
	sk_call_input(canonical, call, sk_operand_shaped(graph, from, 3, shape));
	for (size_t i = 0; i < 4; i++)
		sk_call_input(canonical, call, sk_operand_flat(graph, statistics[i]));
	sk_call_output(canonical, call, sk_operand_shaped(graph, sk_canonical_output(canonical, 0), 3, shape));
	return true;
}

/* ---- MeanVarianceNormalization: (x - mean) / (deviation + 1e-9) ---- */

static bool normalized_axes(const struct sk_inference *inference, uint32_t *set)
{
	static const int64_t usual[] = {0, 2, 3};
	const struct sk_value *from = sk_infer_input(inference, 0);
	size_t count;
	const int64_t *axes = sk_node_integers(inference->node, "axes", &count);
	uint32_t axis;

	*set = 0;
	for (size_t i = 0; i < (axes ? count : 3); i++) {
		if (!sk_infer_axis(inference, (axes ? axes : usual)[i], from->rank, &axis))
			return false;
		*set |= 1U << axis;
	}
	return true;
}

static bool infer_mean_variance(struct sk_inference *inference)
{
	uint32_t set;

	return normalized_axes(inference, &set) && sk_infer_like(inference, 0, 0);
}

static bool canonical_mean_variance(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	uint32_t from = sk_canonical_input(canonical, 0), set, reduced[4], off, square;
	const struct sk_value value = graph->values.items[from];
	uint64_t shape[SK_MAX_RANK];

	if (!normalized_axes(&inference, &set))
		return false;
	for (uint32_t i = 0; i < value.rank; i++)
		shape[i] = set >> i & 1 ? 1 : value.shape[i];
	for (size_t i = 0; i < 4; i++) /* mean, variance, deviation, and the deviation plus 1e-9 */
		reduced[i] = sk_graph_new_value(graph, value.name, value.dtype, value.rank, shape);
	off = new_like(graph, from);
	square = new_like(graph, from);
	if (!sk_canonical_reduce(canonical, "ReduceMean", from, reduced[0], set) ||
	    !sk_canonical_binary(canonical, "Sub", from, reduced[0], off, false) ||
	    !sk_canonical_binary(canonical, "Mul", off, off, square, true) ||
	    !sk_canonical_reduce(canonical, "ReduceMean", square, reduced[1], set))
		return false;

	struct sk_graph_call *root = sk_canonical_call(canonical, "Sqrt");

	sk_call_input(canonical, root, sk_operand_flat(graph, reduced[1]));
	sk_call_output(canonical, root, sk_operand_flat(graph, reduced[2]));
	return sk_canonical_binary(canonical, "Add", reduced[2], sk_canonical_number(canonical, value.dtype, 1e-9),
				   reduced[3], true) &&
	       sk_canonical_binary(canonical, "Div", off, reduced[3], sk_canonical_output(canonical, 0), false);
}

/* ---- the table ---- */

#define INTEGER(NAME, DEFAULT)                                                                                         \
	{                                                                                                              \
		NAME, SK_ATTRIBUTE_INTEGER, .integer = (DEFAULT)                                                       \
	}
#define REAL(NAME, DEFAULT)                                                                                            \
	{                                                                                                              \
		NAME, SK_ATTRIBUTE_REAL, .real = (DEFAULT)                                                             \
	}

static const struct sk_schema_attribute batch[] = {
	REAL("epsilon", 1e-5), REAL("momentum", 0.9), INTEGER("spatial", 1), INTEGER("training_mode", 0), {NULL}};
static const struct sk_schema_attribute epsilon_only[] = {REAL("epsilon", 1e-5), {NULL}};
static const struct sk_schema_attribute group[] = {REAL("epsilon", 1e-5),
						   {"num_groups", SK_ATTRIBUTE_INTEGER, .required = true},
						   INTEGER("stash_type", 1),
						   {NULL}};
static const struct sk_schema_attribute layer[] = {
	INTEGER("axis", -1), REAL("epsilon", 1e-5), INTEGER("stash_type", 1), {NULL}};
static const struct sk_schema_attribute lrn[] = {REAL("alpha", 1e-4),
						 REAL("beta", 0.75),
						 REAL("bias", 1),
						 {"size", SK_ATTRIBUTE_INTEGER, .required = true},
						 {NULL}};
static const struct sk_schema_attribute axes_only[] = {{"axes", SK_ATTRIBUTE_INTEGERS}, {NULL}};

const struct sk_schema sk_operators_normal[] = {
	{"BatchNormalization", "", 5, 5, 1, 5, .attributes = batch, .upgrade = upgrade_batch, .infer = infer_batch,
	 .canonical = canonical_batch},
	{"GroupNormalization", "", 3, 3, 1, 1, .attributes = group, .infer = infer_group, .canonical = canonical_group},
	{"InstanceNormalization", "", 3, 3, 1, 1, .attributes = epsilon_only, .upgrade = upgrade_consumed,
	 .infer = infer_instance, .canonical = canonical_instance},
	{"LRN", "", 1, 1, 1, 1, .attributes = lrn, .infer = infer_lrn, .canonical = canonical_lrn},
	{"LayerNormalization", "", 2, 3, 1, 3, .attributes = layer, .infer = infer_layer, .canonical = canonical_layer},
	{"MeanVarianceNormalization", "", 1, 1, 1, 1, .attributes = axes_only, .infer = infer_mean_variance,
	 .canonical = canonical_mean_variance},
	{"RMSNormalization", "", 2, 2, 1, 1, .attributes = layer, .infer = infer_layer, .canonical = canonical_layer},
	{NULL},
};
