/* An acyclic graph that grows: nodes and edges are added, and an edge that would close a cycle is refused, unless
 * whoever adds it knows that it does not. In come edges; out comes, at any time, the knowledge that there is no cycle,
 * and at the end an order.
 *
 * Where edges are refused, the nodes are kept in a topological order all the time, so that a search for a cycle only
 * has to look at the nodes between the two ends of the new edge (Marchetti-Spaccamela, Nanni, Rohnert: Maintaining a
 * topological order under edge insertions, 1996). */
#ifndef SK_ORDER_H
#define SK_ORDER_H

#include "base/arena.h"
#include "base/map.h"

struct sk_order_node {
	uint32_t position; /* in order */
	uint32_t edges; /* newest edge, or SK_NONE */
	uint32_t degree; /* edges that end here */
	uint32_t reached; /* number of the last search that came here */
	uint32_t wanted; /* number of the last search that must not come here */
};

struct sk_order_edge {
	uint32_t to;
	uint32_t next; /* of the same node, or SK_NONE */
};

struct sk_order {
	struct sk_arena *arena;
	SK_ARRAY(struct sk_order_node) nodes;
	SK_ARRAY(struct sk_order_edge) edges;
	SK_ARRAY(uint32_t) order; /* nodes in a topological order */
	SK_ARRAY(uint32_t) stack; /* scratch */
	uint32_t search; /* number of the last search */
	uint64_t steps; /* nodes and edges that have been looked at, which tests count */
};

void sk_order_init(struct sk_order *order, struct sk_arena *arena);

/* A new node without edges; nodes are numbered from 0. */
uint32_t sk_order_add(struct sk_order *order);

/* Adds edges from all the given nodes to one (those from itself are ignored), unless one of them closes a cycle.
 * Returns SK_NONE, or one of the given nodes that can be reached from `to`; then nothing has been added. */
uint32_t sk_order_connect(struct sk_order *order, const uint32_t *from, size_t count, uint32_t to);

/* The same edges, of which the caller knows that none closes a cycle; then all edges of the graph are added so. */
void sk_order_add_edges(struct sk_order *order, const uint32_t *from, size_t count, uint32_t to);

/* The nodes in the topological order that takes, of all nodes that could come next, the one with the smallest key. */
uint32_t *sk_order_sort(const struct sk_order *order, const uint32_t *keys);

#endif
