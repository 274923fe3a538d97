/* Calls that write numbers of sizes; see operators.h. */
#include "base/arena.h"
#include "base/sizes.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"
#include "graph/operators/operators.h"

/* Numbers of a call are not negative, and must not shrink when a dimension grows. */
static bool is_list(const struct sk_value *value)
{
	if (!value->varies || !sk_symbolic_is_known(value))
		return false;
	for (uint64_t i = 0; i < sk_value_elements(value); i++)
		if (sk_size_least(value->terms[i]) < 0 || !sk_size_grows(value->terms[i]))
			return false;
	return true;
}

bool sk_symbolic_lists(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	bool lists = false;

	for (size_t i = 0; i < node->outputs.count; i++) {
		const struct sk_value *value = sk_node_output(graph, node, i);

		if (!value || value->contents)
			continue;
		if (!is_list(value))
			return false;
		lists = true;
	}
	return lists;
}

/* Return the numbers of the list at the sizes that shapes have. */
static const int64_t *numbers_of(const struct sk_op_graph *graph, const struct sk_value *value)
{
	const uint64_t *sizes = sk_symbolic_present(graph);
	int64_t *numbers = SK_NEW_ARRAY(graph->arena, int64_t, SK_MOST_TERMS);

	for (uint64_t i = 0; i < sk_value_elements(value); i++)
		numbers[i] = sk_size_at(value->terms[i], sizes);
	return numbers;
}

/* The call writes integers of 64 bits. */
static void add_list(struct sk_canonical *canonical, uint32_t output)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_value to = graph->values.items[output];
	uint32_t list = output;
	struct sk_graph_call *call;

	if (to.dtype != SK_I64) {
		list = sk_graph_new_value(graph, to.name, SK_I64, to.rank, to.shape);
		graph->values.items[list].varies = true;
	}
	call = sk_canonical_call(canonical, "Sizes");
	sk_call_integers(canonical, call, "numbers", numbers_of(graph, &to), sk_value_elements(&to));
	sk_call_output(canonical, call, sk_operand_flat(graph, list));
	if (list != output)
		sk_canonical_store(canonical, output, list);
}

void sk_symbolic_list(struct sk_canonical *canonical)
{
	const struct sk_graph_node node = canonical->graph->nodes.items[canonical->node];

	for (size_t i = 0; i < node.outputs.count; i++) {
		const struct sk_value *value = sk_node_output(canonical->graph, &node, i);

		if (value && !value->contents && sk_value_elements(value))
			add_list(canonical, node.outputs.items[i]);
	}
}
