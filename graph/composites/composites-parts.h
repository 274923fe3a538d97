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
 * Areas: disjoint sets of nodes that grow by joins, such that no path ever leaves an area and comes back. Nodes come in
 * with producers before users; each is an area of its own at first.
 *
 * The number of any of its nodes denotes an area. The areas have an order of their own, which every join maintains. A
 * search for a path therefore looks only at the areas between two places, and it gives up after a fixed number of
 * steps. A join that needs more is refused, so that the cost of all joins is proportional to the edges. */

struct sk_area_edge {
	uint32_t area; /* the area at the other end */
	bool broadcast; /* the shape that the user reads is not its own */
};

typedef SK_ARRAY(struct sk_area_edge) sk_area_edges;

/* The most steps of the search for one join. An area with more inputs or users is never joined. */
enum { SK_AREA_MOST_STEPS = 4096 };

struct sk_area {
	uint32_t parent; /* its own number: it represents its area; otherwise the way to the representative */
	uint32_t count; /* nodes */
	uint32_t key; /* its place in the order of areas */
	uint32_t mark; /* the last search that saw it */
	uint32_t slot; /* its place in the edges that were tidied last */
	sk_area_edges inputs, users; /* of the area; read with sk_area_inputs and sk_area_users */
	uint32_t least_inputs, least_users; /* a lower bound of their numbers, plus all joins so far */
};

struct sk_area_place {
	uint32_t key, area;
};

typedef SK_ARRAY(struct sk_area_place) sk_area_places;

struct sk_areas {
	struct sk_arena *arena;
	const struct sk_op_graph *graph;
	const uint32_t *nodes; /* of the graph: the initial node of each area */
	uint32_t count;
	struct sk_area *items;
	uint32_t mark; /* the last one in use */
	sk_area_places before, after, places; /* of the current join: on both sides of the set, and of all */
	uint32_t joins; /* pairs joined so far; a join of three areas counts as two */
	uint64_t steps; /* of all searches so far */
	uint64_t looked; /* edges looked at so far */
};

/* Create an area for each node, with the edges between the nodes. `places` has an element for each node of the graph,
 * which is 0 before and after. */
struct sk_areas *sk_areas_create(const struct sk_op_graph *graph, const uint32_t *nodes, uint32_t count,
				 uint32_t *places);

/* Return the number of the area's representative. */
uint32_t sk_area_find(const struct sk_areas *areas, uint32_t area);

/* Return the neighbours of the area, each once, by their current numbers. The list is valid until the next join or
 * call. */
const sk_area_edges *sk_area_inputs(struct sk_areas *areas, uint32_t area);
const sk_area_edges *sk_area_users(struct sk_areas *areas, uint32_t area);

/* Return the neighbours if there are at most `most`; otherwise NULL. Repeated calls for areas with far more are
 * cheap. */
const sk_area_edges *sk_area_few_inputs(struct sk_areas *areas, uint32_t area, uint32_t most);
const sk_area_edges *sk_area_few_users(struct sk_areas *areas, uint32_t area, uint32_t most);

/* Join the areas of the set, which are distinct numbers of representatives. False, without any change, if a path would
 * leave the joined area and come back. */
bool sk_areas_join(struct sk_areas *areas, const uint32_t *set, uint32_t count);

/* ==== kinds.c ====
 *
 * Facts about operators that decide on composites: how an operator's results relate to its inputs, and whether a target
 * can compute a node in a composite. operators.def has the table. */

/* In this order: the kind of an area is the greatest of its members' kinds. */
enum sk_kind {
	SK_KIND_VIRTUAL, /* computes nothing */
	SK_KIND_RESHAPE,
	SK_KIND_ELEMWISE,
	SK_KIND_BROADCAST,
	SK_KIND_REDUCE,
	SK_KIND_OPAQUE,
};

/* Return the kind of the node. An elementwise operator that repeats an input is BROADCAST, unless that input is one
 * constant number. */
enum sk_kind sk_node_kind(const struct sk_op_graph *graph, const struct sk_graph_node *node);

/* True if the input of that number and the result have different shapes, apart from leading dimensions of 1. Never true
 * for the only input of an elementwise operator. */
bool sk_edge_is_broadcast(const struct sk_op_graph *graph, const struct sk_graph_node *node, size_t input);

/* True if the node computes something when the network runs. */
bool sk_node_computes(const struct sk_op_graph *graph, const struct sk_graph_node *node);

/* True if the target can compute the node in a composite, regardless of the lists of operators. The node must compute
 * something. */
bool sk_node_is_legal(const struct sk_op_graph *graph, const struct sk_graph_node *node, enum sk_fusion_target target);

/* ==== patterns.c ====
 *
 * Pieces of a composite: areas that patterns enlarge as long as one loop can compute them. */

/* An area as a piece. */
struct sk_fusion_piece {
	enum sk_kind kind; /* the greatest kind of its nodes */
	uint64_t elements; /* of the result of the node of that kind: the length of the loop */
	uint32_t dominant; /* that node */
	bool output; /* a result of the composite: read elsewhere */
};

struct sk_pieces {
	const struct sk_op_graph *graph;
	const struct sk_fusion_flags *flags;
	struct sk_areas *areas;
	struct sk_fusion_piece *items; /* by area */
};

/* Create pieces of areas that are one node each. `read_outside` says by value whether it is read outside of the
 * composite. */
struct sk_pieces sk_pieces_create(const struct sk_op_graph *graph, const struct sk_fusion_flags *flags,
				  struct sk_areas *areas, const bool *read_outside);

/* Apply the patterns that the flags allow. */
void sk_pieces_match(const struct sk_pieces *pieces);

#endif
