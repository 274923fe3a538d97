/* Rows of two equal halves, such as cosines and sines of rotary embeddings, which rotate the halves of a row against
 * each other; see rules.h. */
#include <string.h>

#include "base/map.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/rules/rules.h"

enum { DEPTH = 16 /* nodes between the value and the node that joins the halves */ };

/* True if the node keeps the elements of its first input in their rows and in order. */
static bool keeps_rows(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	static const char *const each[] = {"Cos", "Sin", "Cast", "Identity", "Neg", NULL};
	static const char *const moved[] = {"Unsqueeze", "Squeeze", "Reshape", "Expand", "Slice", "Gather", NULL};
	const struct sk_value *from = sk_node_input(graph, node, 0), *to = sk_node_output(graph, node, 0);

	if (sk_node_is_one_of(node, each))
		return true;
	return sk_node_is_one_of(node, moved) && from->rank && to->rank &&
	       from->shape[from->rank - 1] == to->shape[to->rank - 1] &&
	       (strcmp(node->op, "Gather") || (from->rank > 1 && !sk_node_integer(node, "axis", 0)));
}

/* Return the value that is multiplied by one number; SK_NONE: the node does something else. */
static uint32_t scaled_by_node(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	for (size_t i = 0; i < 2 && sk_node_is(node, "Mul"); i++)
		if (sk_value_elements(sk_node_input(graph, node, 1 - i)) == 1)
			return node->inputs.items[i];
	return SK_NONE;
}

static bool joins_halves(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	int64_t axis = sk_node_integer(node, "axis", 0);

	return sk_node_is(node, "Concat") && node->inputs.count == 2 &&
	       node->inputs.items[0] == node->inputs.items[1] &&
	       (axis == -1 || axis + 1 == (int64_t)sk_node_output(graph, node, 0)->rank);
}

static bool constant_repeats(const struct sk_value *value)
{
	uint64_t row = value->rank ? value->shape[value->rank - 1] * sk_dtype_size(value->dtype) : 0;

	if (!row || value->shape[value->rank - 1] % 2)
		return false;
	for (uint64_t at = 0; at < sk_value_bytes(value); at += row)
		if (memcmp((const char *)value->contents + at, (const char *)value->contents + at + row / 2, row / 2))
			return false;
	return true;
}

bool sk_value_repeats(const struct sk_op_graph *graph, uint32_t index)
{
	for (unsigned depth = 0; depth < DEPTH && index != SK_NONE; depth++) {
		const struct sk_value *value = &graph->values.items[index];
		const struct sk_graph_node *node = value->node == SK_NONE ? NULL : &graph->nodes.items[value->node];

		if (value->contents)
			return constant_repeats(value);
		if (!node || joins_halves(graph, node))
			return node;
		index = keeps_rows(graph, node) ? node->inputs.items[0] : scaled_by_node(graph, node);
	}
	return false;
}
