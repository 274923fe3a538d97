/* Shared by the files of this room: areas, kinds of operators, and patterns. */
#ifndef SK_GRAPH_COMPOSITES_COMPOSITES_PARTS_H
#define SK_GRAPH_COMPOSITES_COMPOSITES_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "graph/manager/manager.h"

struct sk_arena;
struct sk_graph_node;
struct sk_op_graph;

/* ==== areas.c ====
 *
 * Areas: sets of nodes of a graph that grow by being joined, so that no path ever leaves an area and comes back. In
 * come nodes in an order in which producers stand in front of users; each is an area by itself at first.
 *
 * An area is called by the number of any of its nodes. The areas stand in an order of their own, which every join
 * keeps: so a search for a path looks only at what stands between, and it gives up after so many steps. A join that
 * would take longer is refused, which keeps the cost of all of them in proportion to the edges. */

struct sk_area_edge {
	uint32_t area; /* at the other end */
	bool broadcast; /* what the user reads is not of its own shape */
};

typedef SK_ARRAY(struct sk_area_edge) sk_area_edges;

/* So many steps are those of the search for one join: an area with more inputs, or more users, is never joined. */
enum { SK_AREA_MOST_STEPS = 4096 };

struct sk_area {
	uint32_t parent; /* itself: it is the area's number; otherwise the way to it */
	uint32_t count; /* nodes */
	uint32_t key; /* its place in the order */
	uint32_t mark; /* of the search that has seen it last */
	uint32_t slot; /* in the edges that have been tidied last */
	sk_area_edges inputs, users; /* of the area; read with sk_area_inputs and sk_area_users */
	uint32_t least_inputs, least_users; /* there are no fewer of them, plus all joins so far */
};

struct sk_area_place {
	uint32_t key, area;
};

typedef SK_ARRAY(struct sk_area_place) sk_area_places;

struct sk_areas {
	struct sk_arena *arena;
	const struct sk_op_graph *graph;
	const uint32_t *nodes; /* of the graph: the node with which each area began */
	uint32_t count;
	struct sk_area *items;
	uint32_t mark; /* the last one */
	sk_area_places before, behind, places; /* of the join at hand: around the set, and of all */
	uint32_t joins; /* of two: one of three is two */
	uint64_t steps; /* of all searches */
	uint64_t looked; /* at edges, in all */
};

/* The edges are those between the nodes. `places` has an element for each node of the graph, which is 0 before and
 * after.
 */
struct sk_areas *sk_areas_create(const struct sk_op_graph *graph, const uint32_t *nodes, uint32_t count,
				 uint32_t *places);

/* The area's number. */
uint32_t sk_area_find(const struct sk_areas *areas, uint32_t area);

/* Other areas, each once, by the numbers that they have now. Valid until the next join or call. */
const sk_area_edges *sk_area_inputs(struct sk_areas *areas, uint32_t area);
const sk_area_edges *sk_area_users(struct sk_areas *areas, uint32_t area);

/* The same, if there are no more than so many; NULL: there are more. This costs little where there are far more,
 * however often it is asked. */
const sk_area_edges *sk_area_few_inputs(struct sk_areas *areas, uint32_t area, uint32_t most);
const sk_area_edges *sk_area_few_users(struct sk_areas *areas, uint32_t area, uint32_t most);

/* Makes one area of all in the set, each of which is there once, by its number. False, and nothing changes, if a path
 * would leave it and come back. */
bool sk_areas_join(struct sk_areas *areas, const uint32_t *set, uint32_t count);

/* ==== kinds.c ====
 *
 * What composites are told by: how an operator's results relate to what it reads, and whether a target can compute a
 * node as part of a composite. operators.def says it of operators. */

/* In the order in which the greatest of its members' is an area's. */
enum sk_kind {
	SK_KIND_VIRTUAL, /* computes nothing */
	SK_KIND_RESHAPE,
	SK_KIND_ELEMWISE,
	SK_KIND_BROADCAST,
	SK_KIND_REDUCE,
	SK_KIND_OPAQUE,
};

/* Of an elementwise operator that repeats what it reads, unless that is one constant number, BROADCAST. */
enum sk_kind sk_node_kind(const struct sk_op_graph *graph, const struct sk_graph_node *node);

/* Whether the input of that number is of another shape than what the node makes, leading ones apart. The only input of
 * an elementwise operator never is. */
bool sk_edge_is_broadcast(const struct sk_op_graph *graph, const struct sk_graph_node *node, size_t input);

/* Whether it has something to compute when the network runs. */
bool sk_node_computes(const struct sk_op_graph *graph, const struct sk_graph_node *node);

/* Whether the target could compute the node, which computes something, in a composite, whatever lists say. */
bool sk_node_is_legal(const struct sk_op_graph *graph, const struct sk_graph_node *node, enum sk_fusion_target target);

/* ==== patterns.c ====
 *
 * Pieces of a composite: areas that patterns make larger, each as large as one loop can be. */

/* What an area is as a piece. */
struct sk_fusion_piece {
	enum sk_kind kind; /* the greatest of its nodes' */
	uint64_t elements; /* that the node of that kind makes: how long the loop is */
	uint32_t dominant; /* that node */
	bool output; /* of the composite: somebody else reads what it makes */
};

struct sk_pieces {
	const struct sk_op_graph *graph;
	const struct sk_fusion_flags *flags;
	struct sk_areas *areas;
	struct sk_fusion_piece *items; /* by area */
};

/* Of areas that are one node each. By value: whether it is read outside of the composite. */
struct sk_pieces sk_pieces_create(const struct sk_op_graph *graph, const struct sk_fusion_flags *flags,
				  struct sk_areas *areas, const bool *read_outside);

/* Goes through the patterns, as far as the flags let them. */
void sk_pieces_match(const struct sk_pieces *pieces);

#endif
