/* Pieces of a composite: areas that patterns make larger, each as large as one loop can be. */
#ifndef SK_PATTERNS_H
#define SK_PATTERNS_H

#include "graph/composites/areas.h"
#include "graph/composites/kinds.h"
#include "graph/manager/flags.h"

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
