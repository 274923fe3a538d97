/* Losses: measures of the difference between scores and target classes. */
#include <string.h>

#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

enum reduction { REDUCTION_NONE, REDUCTION_SUM, REDUCTION_MEAN };

static bool find_reduction(const struct sk_inference *inference, enum reduction *reduction)
{
	const char *name = sk_node_string(inference->node, "reduction", "mean");

	if (strcmp(name, "none") && strcmp(name, "sum") && strcmp(name, "mean"))
		return sk_infer_error(inference, "reduction is '%s', and must be none, sum or mean", name);
	*reduction = !strcmp(name, "none") ? REDUCTION_NONE : !strcmp(name, "sum") ? REDUCTION_SUM : REDUCTION_MEAN;
	return true;
}

/* Targets have the shape of the scores without classes; weights have one element for each class. */
static bool check_shapes(const struct sk_inference *inference)
{
	const struct sk_value *scores = sk_infer_input(inference, 0), *target = sk_infer_input(inference, 1),
			      *weight = sk_infer_input(inference, 2);
	bool fits = scores->rank >= 2 && target->rank + 1 == scores->rank && target->shape[0] == scores->shape[0];

	for (uint32_t i = 2; fits && i < scores->rank; i++)
		fits = scores->shape[i] == target->shape[i - 1];
	if (!fits)
		return sk_infer_error(inference, "the shape of '%s' is not that of '%s' without its second dimension",
				      target->name, scores->name);
	if (!scores->shape[1])
		return sk_infer_error(inference, "'%s' has no classes", scores->name);
	if (target->dtype != SK_I64 && target->dtype != SK_I32)
		return sk_infer_error(inference, "'%s' is %s, not i32 or i64", target->name,
				      sk_dtype_name(target->dtype));
	if (!weight)
		return true;
	if (weight->dtype != scores->dtype || sk_value_elements(weight) != scores->shape[1])
		return sk_infer_error(inference, "'%s' is not a number of the type of '%s' for each of %llu classes",
				      weight->name, scores->name, (unsigned long long)scores->shape[1]);
	return true;
}

static bool infer_loss(struct sk_inference *inference)
{
	const struct sk_value *target = sk_infer_input(inference, 1);
	enum reduction reduction;

	return find_reduction(inference, &reduction) && check_shapes(inference) &&
	       sk_infer_output(inference, 0, sk_infer_input(inference, 0)->dtype,
			       reduction == REDUCTION_NONE ? target->rank : 0, target->shape);
}

static bool infer_cross_entropy(struct sk_inference *inference)
{
	return infer_loss(inference) && sk_infer_like(inference, 1, 0);
}

/* Add the losses of all targets, and their weights unless that value is SK_NONE. */
static void add_losses(struct sk_canonical *canonical, uint32_t logarithms, uint32_t losses, uint32_t weights)
{
	const struct sk_op_graph *graph = canonical->graph;
	const struct sk_graph_node *node = &graph->nodes.items[canonical->node];
	uint32_t target = sk_canonical_cast(canonical, sk_canonical_input(canonical, 1), SK_I64);
	uint32_t weight = sk_canonical_input(canonical, 2);
	const struct sk_value *scores = &graph->values.items[logarithms];
	uint64_t shape[3] = {scores->shape[0], scores->shape[1], 1}, each[2];
	struct sk_graph_call *call = sk_canonical_call(canonical, "NegativeLogLikelihoodLoss");

	for (uint32_t i = 2; i < scores->rank; i++)
		shape[2] *= scores->shape[i];
	each[0] = shape[0];
	each[1] = shape[2];
	if (sk_node_attribute(node, "ignore_index"))
		sk_call_integer(canonical, call, "ignore_index", sk_node_integer(node, "ignore_index", 0));
	sk_call_input(canonical, call, sk_operand_shaped(graph, logarithms, 3, shape));
	sk_call_input(canonical, call, sk_operand_shaped(graph, target, 2, each));
	if (weight != SK_NONE)
		sk_call_input(canonical, call, sk_operand_flat(graph, weight));
	sk_call_output(canonical, call, sk_operand_shaped(graph, losses, 2, each));
	if (weights != SK_NONE)
		sk_call_output(canonical, call, sk_operand_shaped(graph, weights, 2, each));
}

static bool loss_of(struct sk_canonical *canonical, uint32_t logarithms)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	uint32_t to = sk_canonical_output(canonical, 0), losses, weights = SK_NONE, sums[2];
	const struct sk_value target = graph->values.items[sk_canonical_input(canonical, 1)];
	enum sk_dtype dtype = graph->values.items[logarithms].dtype;
	uint32_t all = (1U << target.rank) - 1;
	enum reduction reduction;

	if (!find_reduction(&inference, &reduction))
		return false;
	if (to == SK_NONE)
		return true;
	if (!sk_value_elements(&target)) /* the mean of no elements */
		return sk_canonical_fill(canonical, to, reduction == REDUCTION_MEAN ? __builtin_nan("") : 0);
	if (reduction == REDUCTION_NONE) {
		add_losses(canonical, logarithms, to, SK_NONE);
		return true;
	}
	losses = sk_graph_new_value(graph, target.name, dtype, target.rank, target.shape);
	if (reduction == REDUCTION_MEAN)
		weights = sk_graph_new_value(graph, target.name, dtype, target.rank, target.shape);
	add_losses(canonical, logarithms, losses, weights);
	if (reduction == REDUCTION_SUM)
		return sk_canonical_reduce(canonical, "ReduceSum", losses, to, all);
	for (size_t i = 0; i < 2; i++)
		sums[i] = sk_graph_new_value(graph, target.name, dtype, 0, NULL);
	return sk_canonical_reduce(canonical, "ReduceSum", losses, sums[0], all) &&
	       sk_canonical_reduce(canonical, "ReduceSum", weights, sums[1], all) &&
	       sk_canonical_binary(canonical, "Div", sums[0], sums[1], to, false);
}

static bool canonical_loss(struct sk_canonical *canonical)
{
	return loss_of(canonical, sk_canonical_input(canonical, 0));
}

static bool canonical_cross_entropy(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_value scores = graph->values.items[sk_canonical_input(canonical, 0)];
	uint32_t logarithms = sk_canonical_made(canonical, 1, scores.dtype, sk_canonical_input(canonical, 0));
	struct sk_graph_call *call;

	if (sk_value_elements(&scores)) {
		call = sk_canonical_call(canonical, "LogSoftmax");
		sk_call_input(canonical, call, sk_operand_axis(graph, sk_canonical_input(canonical, 0), 1));
		sk_call_output(canonical, call, sk_operand_axis(graph, logarithms, 1));
	}
	return loss_of(canonical, logarithms);
}

/* ---- MindSpore's: BinaryCrossEntropy, BCEWithLogitsLoss ---- */

/* Return the number of inputs that are tensors. The next one may be the reduction, as a number. */
static size_t tensors_of(const struct sk_graph_node *node)
{
	return !strcmp(node->op, "BinaryCrossEntropy") ? 3 : 4;
}

static bool find_numbered_reduction(const struct sk_inference *inference, enum reduction *reduction)
{
	static const enum reduction numbered[] = {REDUCTION_SUM, REDUCTION_MEAN, REDUCTION_NONE};
	int64_t number;

	if (!sk_infer_input(inference, tensors_of(inference->node)))
		return find_reduction(inference, reduction);
	if (!sk_infer_integer(inference, tensors_of(inference->node), 0, &number))
		return false;
	if (number < 0 || number > 2)
		return sk_infer_error(inference, "its reduction is not 0 (sum), 1 (mean) or 2 (none)");
	*reduction = numbered[number];
	return true;
}

static bool infer_binary_entropy(struct sk_inference *inference)
{
	const struct sk_value *x = sk_infer_input(inference, 0);
	enum reduction reduction;

	if (!sk_value_is_float(x))
		return sk_infer_error(inference, "'%s' is %s, and no float", x->name, sk_dtype_name(x->dtype));
	for (size_t i = 1; i < tensors_of(inference->node); i++) {
		const struct sk_value *value = sk_infer_input(inference, i);
		uint64_t shape[SK_MAX_RANK];
		uint32_t rank = x->rank;

		if (!value)
			continue;
		memcpy(shape, x->shape, sizeof(shape));
		if (!sk_infer_broadcast(inference, &rank, shape, value->rank, value->shape))
			return false;
		if (value->dtype != x->dtype || rank != x->rank || memcmp(shape, x->shape, rank * sizeof(*shape)) ||
		    (i == 1 && sk_value_elements(value) != sk_value_elements(x)))
			return sk_infer_error(inference, "'%s' is not of the type and the shape of '%s'", value->name,
					      x->name);
	}
	return find_numbered_reduction(inference, &reduction) &&
	       sk_infer_output(inference, 0, x->dtype, reduction == REDUCTION_NONE ? x->rank : 0, x->shape);
}

/* to = the reduced losses, in the type of the computation. */
static bool reduce_losses(struct sk_canonical *canonical, uint32_t losses, enum reduction reduction, uint32_t to)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_value value = graph->values.items[losses];
	uint32_t result = losses;

	if (reduction != REDUCTION_NONE) {
		result = to;
		if (graph->values.items[to].dtype != value.dtype)
			result = sk_graph_new_value(graph, value.name, value.dtype, 0, NULL);
		if (!sk_canonical_reduce(canonical, reduction == REDUCTION_SUM ? "ReduceSum" : "ReduceMean", losses,
					 result, (1U << value.rank) - 1))
			return false;
	}
	if (result != to)
		sk_canonical_store(canonical, to, result);
	return true;
}

static bool canonical_binary_entropy(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	const struct sk_value x = graph->values.items[sk_canonical_input(canonical, 0)];
	size_t tensors = tensors_of(inference.node);
	uint32_t to = sk_canonical_output(canonical, 0), losses = to, inputs[4];
	const char *op = inference.node->op;
	enum sk_dtype computed = sk_computed_dtype(x.dtype);
	enum reduction reduction;
	struct sk_graph_call *call;

	if (!find_numbered_reduction(&inference, &reduction))
		return false;
	if (!sk_value_elements(&x)) /* the mean of no elements */
		return sk_canonical_fill(canonical, to, reduction == REDUCTION_MEAN ? __builtin_nan("") : 0);
	for (size_t i = 0; i < tensors; i++)
		inputs[i] = sk_canonical_spread(canonical, sk_canonical_input(canonical, i), x.rank, x.shape);
	if (reduction != REDUCTION_NONE || computed != x.dtype)
		losses = sk_graph_new_value(graph, x.name, computed, x.rank, x.shape);
	call = sk_canonical_call(canonical, op);
	for (size_t i = 0; i < tensors; i++)
		sk_call_input(canonical, call, sk_operand_flat(graph, inputs[i]));
	sk_call_output(canonical, call, sk_operand_flat(graph, losses));
	return losses == to || reduce_losses(canonical, losses, reduction, to);
}

/* ---- MindSpore's SoftmaxCrossEntropyWithLogits: the losses of rows, and their gradients ---- */

static bool infer_softmax_entropy(struct sk_inference *inference)
{
	const struct sk_value *x = sk_infer_input(inference, 0), *label = sk_infer_input(inference, 1);

	if (x->rank != 2 || label->rank != 2 || memcmp(x->shape, label->shape, 2 * sizeof(*x->shape)) ||
	    x->dtype != label->dtype || !sk_value_is_float(x))
		return sk_infer_error(inference,
				      "'%s' and '%s' are not floats of one type and of one shape [rows, classes]",
				      x->name, label->name);
	return sk_infer_output(inference, 0, x->dtype, 1, x->shape) && sk_infer_like(inference, 1, 0);
}

static bool canonical_softmax_entropy(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_value x = graph->values.items[sk_canonical_input(canonical, 0)];
	uint32_t to = sk_canonical_output(canonical, 0), gradient = sk_canonical_output(canonical, 1), losses = to;
	enum sk_dtype computed = sk_computed_dtype(x.dtype);
	struct sk_graph_call *call;

	if (!sk_value_elements(&x)) /* rows without classes have a loss of 0 */
		return to == SK_NONE || sk_canonical_fill(canonical, to, 0);
	if (to == SK_NONE || computed != x.dtype)
		losses = sk_graph_new_value(graph, x.name, computed, 1, x.shape);
	if (gradient == SK_NONE) /* the kernel computes both */
		gradient = sk_graph_new_value(graph, x.name, x.dtype, 2, x.shape);
	call = sk_canonical_call(canonical, "SoftmaxCrossEntropyWithLogits");
	for (size_t i = 0; i < 2; i++)
		sk_call_input(canonical, call, sk_operand_shaped(graph, sk_canonical_input(canonical, i), 2, x.shape));
	sk_call_output(canonical, call, sk_operand_flat(graph, losses));
	sk_call_output(canonical, call, sk_operand_shaped(graph, gradient, 2, x.shape));
	if (to != SK_NONE && losses != to)
		sk_canonical_store(canonical, to, losses);
	return true;
}

/* ---- the table ---- */

static const struct sk_schema_attribute reduced[] = {{"reduction", SK_ATTRIBUTE_STRING, .string = "mean"}, {NULL}};
static const struct sk_schema_attribute loss[] = {
	{"ignore_index", SK_ATTRIBUTE_INTEGER}, {"reduction", SK_ATTRIBUTE_STRING, .string = "mean"}, {NULL}};

const struct sk_schema sk_operators_losses[] = {
	{"BCEWithLogitsLoss", SK_OWN_DOMAIN, 2, 5, 1, 1, .demands = 1 << 4, .attributes = reduced,
	 .infer = infer_binary_entropy, .canonical = canonical_binary_entropy},
	{"BinaryCrossEntropy", SK_OWN_DOMAIN, 2, 4, 1, 1, .demands = 1 << 3, .attributes = reduced,
	 .infer = infer_binary_entropy, .canonical = canonical_binary_entropy},
	{"NegativeLogLikelihoodLoss", "", 2, 3, 1, 1, .attributes = loss, .infer = infer_loss,
	 .canonical = canonical_loss},
	{"SoftmaxCrossEntropyWithLogits", SK_OWN_DOMAIN, 2, 2, 1, 2, .infer = infer_softmax_entropy,
	 .canonical = canonical_softmax_entropy},
	{"SoftmaxCrossEntropyLoss", "", 2, 3, 1, 2, .attributes = loss, .infer = infer_cross_entropy,
	 .canonical = canonical_cross_entropy},
	{NULL},
};
