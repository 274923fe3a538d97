/* The rules of arithmetic_simplify about operators that move elements or change shapes, and about reductions. */
#include <string.h>

#include "base/map.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/rewrites/rewrites-parts.h"

static struct sk_graph_node *producer(const struct sk_rewrite *rewrite, uint32_t index)
{
	return sk_rewrite_producer(rewrite, sk_rewrite_at(rewrite, index)->inputs.items[0],
				   sk_rewrite_at(rewrite, index));
}

/* ---- shapes ---- */

static bool only_shapes(const struct sk_graph_node *node)
{
	static const char *const ops[] = {"Reshape", "Identity", "Flatten", "Squeeze", "Unsqueeze", NULL};

	return sk_node_is_one_of(node, ops);
}

/* Of several Reshapes in a row only the last is left; one without effect is removed. */
static bool reshape(struct sk_rewrite *rewrite, uint32_t index, bool exact)
{
	const struct sk_graph_node *node = sk_rewrite_at(rewrite, index), *first = producer(rewrite, index);
	bool again = first && only_shapes(first) && first->inputs.items[0] != SK_NONE;
	uint32_t from = again ? first->inputs.items[0] : node->inputs.items[0];
	const struct sk_value *to = sk_node_output(rewrite->graph, node, 0);

	(void)exact;
	if (sk_rewrite_is_looked_at(rewrite->graph, from))
		return false;
	if (sk_value_same_shape(&rewrite->graph->values.items[from], to) && !to->output) {
		sk_rewrite_replace(rewrite, index, from);
		return sk_rewrite_at(rewrite, index)->removed;
	}
	if (again)
		sk_rewrite_reshape(rewrite, index, from);
	return again;
}

/* True if a part has all elements, at all sizes with bounds. */
static bool has_all(const struct sk_op_graph *graph, const struct sk_value *part, const struct sk_value *whole)
{
	if (sk_value_elements(part) != sk_value_elements(whole) || !graph->sizes)
		return sk_value_elements(part) == sk_value_elements(whole);
	return sk_value_same_shape(part, whole);
}

/* A Slice of all elements in their order is removed. */
static bool slice_all(struct sk_rewrite *rewrite, uint32_t index, bool exact)
{
	struct sk_op_graph *graph = rewrite->graph;
	const struct sk_graph_node *node = sk_rewrite_at(rewrite, index);
	const struct sk_value *from = sk_node_input(graph, node, 0), *to = sk_node_output(graph, node, 0);
	const struct sk_value *steps = sk_node_input(graph, node, sk_node_is(node, "Slice") ? 4 : 3);

	(void)exact;
	if (!has_all(graph, to, from) || (steps && !sk_constant_is(steps, 1)))
		return false;
	sk_rewrite_reshape(rewrite, index, node->inputs.items[0]);
	return true;
}

/* ---- transpositions ---- */

/* True if only axes of one element move. */
static bool keeps_order(const struct sk_value *from, const uint32_t *permutation)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < from->rank; i++) {
		if (from->shape[permutation[i]] == 1)
			continue;
		if (permutation[i] < last)
			return false;
		last = permutation[i];
	}
	return true;
}

static bool transpose_nothing(struct sk_rewrite *rewrite, uint32_t index, bool exact)
{
	const struct sk_graph_node *node = sk_rewrite_at(rewrite, index);
	uint32_t permutation[SK_MAX_RANK];

	(void)exact;
	if (!sk_node_permutation(rewrite->graph, node, permutation) ||
	    !keeps_order(sk_node_input(rewrite->graph, node, 0), permutation))
		return false;
	sk_rewrite_reshape(rewrite, index, node->inputs.items[0]);
	return true;
}

/* Merge two Transposes in a row. If the value between them has other users, that pays only if none is left. */
static bool transpose_twice(struct sk_rewrite *rewrite, uint32_t index, bool exact)
{
	struct sk_op_graph *graph = rewrite->graph;
	const struct sk_graph_node *node = sk_rewrite_at(rewrite, index), *first = producer(rewrite, index);
	uint32_t inner[SK_MAX_RANK], outer[SK_MAX_RANK], both[SK_MAX_RANK], between = node->inputs.items[0], from;
	int64_t perm[SK_MAX_RANK];
	uint32_t rank = sk_node_output(graph, node, 0)->rank;

	(void)exact;
	if (!first || !sk_node_permutation(graph, first, inner) || !sk_node_permutation(graph, node, outer))
		return false;
	from = first->inputs.items[0];
	for (uint32_t i = 0; i < rank; i++)
		perm[i] = both[i] = inner[outer[i]];
	if (!sk_rewrite_is_private(rewrite, between) && !keeps_order(&graph->values.items[from], both))
		return false;
	sk_rewrite_become(rewrite, index, "Transpose", &from, 1);
	sk_rewrite_set_integers(rewrite, sk_rewrite_at(rewrite, index), "perm", perm, rank);
	return true;
}

/* ---- reductions ---- */

/* Set bit i if the node reduces axis i of its first input; false if the axes are unknown. */
static bool find_reduced(const struct sk_op_graph *graph, const struct sk_graph_node *node, uint32_t *set)
{
	const struct sk_value *from = sk_node_input(graph, node, 0), *list = sk_node_input(graph, node, 1);
	const int64_t *axes = NULL;
	uint64_t count = 0;

	if (list && !sk_value_integers(graph->arena, list, &count, &axes))
		return false;
	*set = 0;
	for (uint64_t i = 0; i < count; i++)
		*set |= 1U << (axes[i] + (axes[i] < 0 ? from->rank : 0));
	if (!count && !sk_node_integer(node, "noop_with_empty_axes", 0))
		*set = (1U << from->rank) - 1;
	return true;
}

/* Return the axes of the first reduction's input that the second one reduces. */
static uint32_t outer_axes(uint32_t rank, uint32_t inner, bool kept, uint32_t outer)
{
	uint32_t set = 0, place = 0;

	for (uint32_t i = 0; i < rank; i++) {
		if (!kept && inner >> i & 1)
			continue;
		set |= (outer >> place++ & 1) << i;
	}
	return set;
}

/* Merging changes the order of roundings in sums of floats, and which of 0 and -0 is the maximum. */
static bool reduce_twice(struct sk_rewrite *rewrite, uint32_t index, bool exact)
{
	struct sk_op_graph *graph = rewrite->graph;
	const struct sk_graph_node *node = sk_rewrite_at(rewrite, index), *first = producer(rewrite, index);
	const struct sk_value *from = first ? sk_node_input(graph, first, 0) : NULL;
	const char *op = node->op;
	bool kept, keep = sk_node_integer(node, "keepdims", 1);
	uint32_t inner, outer;
	uint64_t count = 0;
	int64_t axes[SK_MAX_RANK];

	if (!first || !sk_node_is(first, op) || (exact && sk_value_is_float(from)) ||
	    !sk_rewrite_is_private(rewrite, node->inputs.items[0]) || !find_reduced(graph, first, &inner) ||
	    !find_reduced(graph, node, &outer))
		return false;
	kept = sk_node_integer(first, "keepdims", 1);
	if (inner && outer && kept != keep)
		return false; /* a node keeps all axes or none */
	inner |= outer_axes(from->rank, inner, kept, outer);
	for (uint32_t i = 0; i < from->rank; i++)
		if (inner >> i & 1)
			axes[count++] = i;
	sk_rewrite_become(rewrite, index, op,
			  (uint32_t[]){first->inputs.items[0], sk_graph_new_integers(graph, "axes", count, axes)}, 2);
	sk_rewrite_set_integer(rewrite, sk_rewrite_at(rewrite, index), "keepdims", outer ? keep : kept);
	sk_rewrite_set_integer(rewrite, sk_rewrite_at(rewrite, index), "noop_with_empty_axes", 1);
	return true;
}

/* Reduction along axes of one element. A sum begins with 0, and 0 + -0 is 0. */
static bool reduce_nothing(struct sk_rewrite *rewrite, uint32_t index, bool exact)
{
	struct sk_op_graph *graph = rewrite->graph;
	const struct sk_graph_node *node = sk_rewrite_at(rewrite, index);
	const struct sk_value *from = sk_node_input(graph, node, 0);
	uint32_t set;

	if (!find_reduced(graph, node, &set) || (exact && sk_value_is_float(from) && sk_node_is(node, "ReduceSum")))
		return false;
	for (uint32_t i = 0; i < from->rank; i++)
		if (set >> i & 1 && from->shape[i] != 1)
			return false;
	sk_rewrite_reshape(rewrite, index, node->inputs.items[0]);
	return true;
}

/* Move the negation after the sum, in place of the node before it. Sums of 0 are 0, and not -0. */
static bool sum_negated(struct sk_rewrite *rewrite, uint32_t index, bool exact)
{
	struct sk_op_graph *graph = rewrite->graph;
	struct sk_graph_node *node = sk_rewrite_at(rewrite, index), *negation = producer(rewrite, index);
	const struct sk_value result = *sk_node_output(graph, node, 0);
	const struct sk_graph_node sum = *node;
	uint32_t from, total, inputs[2] = {SK_NONE, SK_NONE};

	if (!negation || !sk_node_is(negation, "Neg") || negation->composite != node->composite ||
	    (exact && sk_value_is_float(&result)) || !sk_rewrite_is_private(rewrite, node->inputs.items[0]))
		return false;
	from = negation->inputs.items[0];
	total = sk_graph_new_like(graph, result.name, result.dtype, &result);
	graph->values.items[total].node = graph->values.items[node->inputs.items[0]].node;
	graph->values.items[total].fixed = result.fixed;
	inputs[0] = from;
	inputs[1] = sum.inputs.count > 1 ? sum.inputs.items[1] : SK_NONE;
	sk_rewrite_become(rewrite, graph->values.items[total].node, "ReduceSum", inputs, sum.inputs.count);
	negation->attributes = sum.attributes;
	negation->outputs.items[0] = total;
	sk_rewrite_become(rewrite, index, "Neg", &total, 1);
	return true;
}

const struct sk_simplify_rule sk_simplify_shapes[] = {
	{"1.55", "ReduceSum", reduce_twice},
	{"1.56", "ReduceMin", reduce_twice},
	{"1.57", "ReduceMax", reduce_twice},
	{"1.58", "ReduceSum", sum_negated},
	{"1.66", "Transpose", transpose_nothing},
	{"1.66", "sklink:Transpose", transpose_nothing},
	{"1.67", "Reshape", reshape},
	{"1.67", "Identity", reshape},
	{"1.67", "Flatten", reshape},
	{"1.67", "Squeeze", reshape},
	{"1.67", "Unsqueeze", reshape},
	{"1.69", "Slice", slice_all},
	{"1.69", "sklink:Slice", slice_all},
	{"1.69", "sklink:StridedSlice", slice_all},
	{"1.76", "ReduceSum", reduce_nothing},
	{"1.77", "ReduceMin", reduce_nothing},
	{"1.78", "ReduceMax", reduce_nothing},
	{"1.80", "Transpose", transpose_twice},
	{"1.80", "sklink:Transpose", transpose_twice},
	{NULL},
};
