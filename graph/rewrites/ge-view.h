/* Nodes as GE sees them: what they are called there, what makes their inputs, and what GE has noted about their memory
 * and about the formats of their tensors. What it has not noted is as sklink has it: every format is ND. */
#ifndef SK_GE_VIEW_H
#define SK_GE_VIEW_H

#include "graph/uses.h"

struct sk_ge_view {
	struct sk_op_graph *graph;
	struct sk_uses uses;
};

/* The node that makes the value; NULL: it is an input or a constant. */
const struct sk_graph_node *sk_ge_producer(const struct sk_ge_view *view, uint32_t value);

bool sk_ge_is_constant(const struct sk_ge_view *view, uint32_t value);

/* "SplitD": as the source has it. */
const char *sk_ge_type(const struct sk_graph_node *node);

/* It only gives bytes another shape, and no kernel does that. */
bool sk_ge_is_shape(const struct sk_graph_node *node);

bool sk_ge_has_atomic_outputs(const struct sk_graph_node *node);
bool sk_ge_is_without_task(const struct sk_graph_node *node);

/* ---- memory ---- */

/* What GE calls memory that a core has for itself. */
enum { SK_GE_MEMORY_L1 = 65536, SK_GE_MEMORY_L2 = 131072, SK_GE_MEMORY_UB = 262144 };

/* Which tensor of the node is in L1 or L2, as a sentence; NULL: none. */
const char *sk_ge_check_memory(const struct sk_ge_view *view, const struct sk_graph_node *node);

/* ---- formats and shapes ---- */

/* One tensor of a node, as GE tells of it. */
struct sk_ge_tensor {
	const char *format, *origin_format, *dtype;
	uint64_t origin_shape[SK_MAX_RANK];
	size_t rank; /* of that; more than SK_MAX_RANK: it is none that sklink knows */
};

/* An input or an output, which is there. */
struct sk_ge_tensor sk_ge_describe(const struct sk_ge_view *view, const struct sk_graph_node *node, bool input,
				   size_t number);

/* Whether the one format is stored as the other one. */
bool sk_ge_is_turned(const struct sk_ge_tensor *tensor, const char *from, const char *to);

/* The C axis of NC1HWC0 is made of blocks, and parts of one lie in the same bytes as others. Why the tensor does not
 * have whole ones; NULL: it has. */
const char *sk_ge_check_blocks(const struct sk_ge_view *view, const struct sk_graph_node *node, bool input,
			       size_t number);

#endif
