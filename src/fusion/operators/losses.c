/* Losses: how unlikely the classes are that should come out. */
#include <string.h>

#include "src/fusion/operators/families.h"

enum reduction { REDUCTION_NONE, REDUCTION_SUM, REDUCTION_MEAN };

static bool find_reduction(const struct sk_inference *inference, enum reduction *reduction)
{
	const char *name = sk_node_string(inference->node, "reduction", "mean");

	if (strcmp(name, "none") && strcmp(name, "sum") && strcmp(name, "mean"))
		return sk_infer_error(inference, "reduction is '%s', and must be none, sum or mean", name);
	*reduction = !strcmp(name, "none") ? REDUCTION_NONE : !strcmp(name, "sum") ? REDUCTION_SUM : REDUCTION_MEAN;
	return true;
}

/* Targets have the shape of the scores without their classes, weights one element a class. */
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

/* The losses of all targets, and what they weigh unless that is SK_NONE. */
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
	if (!sk_value_elements(&target)) /* the mean of nothing */
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
	uint32_t logarithms = sk_canonical_output(canonical, 1);
	struct sk_graph_call *call;

	if (logarithms == SK_NONE)
		logarithms = sk_graph_new_value(graph, scores.name, scores.dtype, scores.rank, scores.shape);
	if (sk_value_elements(&scores)) {
		call = sk_canonical_call(canonical, "LogSoftmax");
		sk_call_input(canonical, call, sk_operand_axis(graph, sk_canonical_input(canonical, 0), 1));
		sk_call_output(canonical, call, sk_operand_axis(graph, logarithms, 1));
	}
	return loss_of(canonical, logarithms);
}

static const struct sk_schema_attribute loss[] = {
	{"ignore_index", SK_ATTRIBUTE_INTEGER}, {"reduction", SK_ATTRIBUTE_STRING, .string = "mean"}, {NULL}};

const struct sk_schema sk_operators_losses[] = {
	{"NegativeLogLikelihoodLoss", "", 2, 3, 1, 1, .attributes = loss, .infer = infer_loss,
	 .canonical = canonical_loss},
	{"SoftmaxCrossEntropyLoss", "", 2, 3, 1, 2, .attributes = loss, .infer = infer_cross_entropy,
	 .canonical = canonical_cross_entropy},
	{NULL},
};
