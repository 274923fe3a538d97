/* Names of a network; see passes.h. */
#include "graph/passes/passes.h"

#include "base/arena.h"

static const char *with_network(const struct sk_op_graph *graph, const char *name)
{
	return sk_arena_print(graph->arena, "%s:%s", graph->network, name);
}

void sk_graph_set_network(struct sk_op_graph *graph, const char *network)
{
	if (!network)
		return;
	graph->network = network;
	graph->name = with_network(graph, *graph->name ? graph->name : "model");
	for (size_t i = 0; i < graph->values.count; i++)
		if (!graph->values.items[i].contents)
			graph->values.items[i].name = with_network(graph, graph->values.items[i].name);
	for (size_t i = 0; i < graph->scopes.count; i++)
		graph->scopes.items[i] = with_network(graph, graph->scopes.items[i]);
	for (size_t i = 0; i < graph->nodes.count; i++) {
		struct sk_graph_node *node = &graph->nodes.items[i];

		if (*node->name)
			node->name = with_network(graph, node->name);
		if (node->scope && *node->scope)
			node->scope = with_network(graph, node->scope);
	}
}
