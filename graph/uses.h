/* Who uses what in a graph, and which nodes belong together: as it is when somebody asks. */
#ifndef SK_USES_H
#define SK_USES_H

#include "graph/graph.h"

/* By value: how often nodes that are left have it as an input. */
const uint32_t *sk_graph_count_uses(const struct sk_op_graph *graph);

/* The input of that number of a node. */
struct sk_use {
	uint32_t node, input;
};

/* Uses by value: those of the value v, in the order of the graph, are items[starts[v]] and what follows, up to
 * items[starts[v + 1]]. */
struct sk_uses {
	const uint32_t *starts;
	const struct sk_use *items;
};

/* Those of nodes that are left. */
struct sk_uses sk_graph_uses(struct sk_arena *arena, const struct sk_op_graph *graph);

/* Nodes by what they belong to: those of the number n, in the order of the graph, are nodes[starts[n]] and what
 * follows, up to nodes[starts[n + 1]]. */
struct sk_node_lists {
	const uint32_t *starts, *nodes;
};

/* The live nodes, by numbers below `count`; SK_NONE: it belongs to nothing. */
struct sk_node_lists sk_graph_sort_nodes(struct sk_arena *arena, const struct sk_op_graph *graph,
					 const uint32_t *numbers, size_t count);

/* The live nodes, by composite. */
struct sk_node_lists sk_graph_members(struct sk_arena *arena, const struct sk_op_graph *graph);

/* By value: whether a node outside of the composite of the one that makes it reads it, or the network has it as an
 * output. */
bool *sk_graph_mark_results(struct sk_arena *arena, const struct sk_op_graph *graph);

#endif
