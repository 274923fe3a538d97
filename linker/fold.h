/* Which sections do the same: for icf.c, with the help of significance.c and refine.c. */
#ifndef SK_LINKER_FOLD_H
#define SK_LINKER_FOLD_H

#include <stdbool.h>
#include <stdint.h>

struct sk_arena;
struct sk_linker;

/* Nodes with numbered edges, and a class for each. */
struct sk_graph {
	uint32_t node_count, class_count;
	uint32_t *classes; /* of nodes */
	const uint64_t *first_edges; /* of nodes, in targets, and the end */
	const uint32_t *targets; /* of edges: nodes */
};

/* Marks the sections whose addresses matter. False: a table of them is damaged. */
bool sk_find_significant(struct sk_linker *linker);

/* Splits the classes until equal nodes have as many edges as each other, and these lead to equal nodes. Nodes of one
 * class must have equal numbers of edges. Takes m log n steps for m edges and n nodes. */
void sk_refine(struct sk_arena *arena, struct sk_graph *graph);

#endif
