/* Uses of values, and nodes by their sets; see graph.h. */
#include "graph/graph.h"

#include "base/arena.h"
#include "base/map.h"

const uint32_t *sk_graph_count_uses(const struct sk_op_graph *graph)
{
	uint32_t *uses = SK_NEW_ARRAY(graph->arena, uint32_t, graph->values.count + 1);

	for (size_t i = 0; i < graph->nodes.count; i++)
		for (size_t j = 0; j < graph->nodes.items[i].inputs.count && !graph->nodes.items[i].removed; j++)
			if (graph->nodes.items[i].inputs.items[j] != SK_NONE)
				uses[graph->nodes.items[i].inputs.items[j]]++;
	return uses;
}

struct sk_uses sk_graph_uses(struct sk_arena *arena, const struct sk_op_graph *graph)
{
	size_t values = graph->values.count;
	const uint32_t *counts = sk_graph_count_uses(graph);
	uint32_t *starts = SK_NEW_ARRAY(arena, uint32_t, values + 2);
	struct sk_use *uses;

	for (size_t v = 0; v < values; v++)
		starts[v + 2] = starts[v + 1] + counts[v];
	uses = SK_NEW_ARRAY(arena, struct sk_use, starts[values + 1] + 1);
	for (uint32_t n = 0; n < graph->nodes.count; n++) {
		const struct sk_graph_node *node = &graph->nodes.items[n];

		for (uint32_t i = 0; i < node->inputs.count && !node->removed; i++)
			if (node->inputs.items[i] != SK_NONE) /* at the end, this is the start of the next value */
				uses[starts[node->inputs.items[i] + 1]++] = (struct sk_use){n, i};
	}
	return (struct sk_uses){starts, uses};
}

struct sk_node_lists sk_graph_sort_nodes(struct sk_arena *arena, const struct sk_op_graph *graph,
					 const uint32_t *numbers, size_t count)
{
	uint32_t *starts = SK_NEW_ARRAY(arena, uint32_t, count + 2);
	uint32_t *nodes = SK_NEW_ARRAY(arena, uint32_t, graph->nodes.count + 1);

	for (size_t n = 0; n < graph->nodes.count; n++)
		if (numbers[n] != SK_NONE && sk_node_is_live(graph, &graph->nodes.items[n]))
			starts[numbers[n] + 2]++;
	for (size_t c = 2; c < count + 2; c++)
		starts[c] += starts[c - 1];
	for (uint32_t n = 0; n < graph->nodes.count; n++)
		if (numbers[n] != SK_NONE && sk_node_is_live(graph, &graph->nodes.items[n]))
			nodes[starts[numbers[n] + 1]++] = n; /* at the end, this is the start of the next set */
	return (struct sk_node_lists){starts, nodes};
}

struct sk_node_lists sk_graph_members(struct sk_arena *arena, const struct sk_op_graph *graph)
{
	uint32_t *numbers = SK_NEW_ARRAY(arena, uint32_t, graph->nodes.count + 1);

	for (size_t n = 0; n < graph->nodes.count; n++)
		numbers[n] = graph->nodes.items[n].composite - 1; /* SK_NONE: of none */
	return sk_graph_sort_nodes(arena, graph, numbers, graph->composites.count);
}

bool *sk_graph_mark_results(struct sk_arena *arena, const struct sk_op_graph *graph)
{
	bool *results = SK_NEW_ARRAY(arena, bool, graph->values.count + 1);

	for (size_t v = 0; v < graph->values.count; v++)
		results[v] = graph->values.items[v].output;
	for (size_t n = 0; n < graph->nodes.count; n++) {
		const struct sk_graph_node *node = &graph->nodes.items[n];
		bool live = sk_node_is_live(graph, node);

		for (size_t i = 0; live && i < node->inputs.count; i++) {
			const struct sk_value *value = sk_node_input(graph, node, i);

			if (value && value->node != SK_NONE &&
			    graph->nodes.items[value->node].composite != node->composite)
				results[node->inputs.items[i]] = true;
		}
	}
	return results;
}
