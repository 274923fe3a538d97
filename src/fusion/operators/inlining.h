/* Bodies of If, Loop, Scan and SequenceMap become nodes of the graph around them: copies of their nodes, with names of
 * their own, and of their values; what they take from the graph around them is found there by its name. */
#ifndef SK_INLINING_H
#define SK_INLINING_H

#include "src/fusion/operators/families.h"

/* A body that becomes nodes of a graph, once. */
struct sk_inlining {
	struct sk_op_graph *graph;
	const struct sk_op_graph *body;
	const struct sk_graph_node *owner;
	const char *prefix; /* of names */
	uint32_t *values; /* of the graph, by value of the body */
	sk_graph_nodes *nodes; /* what it becomes */
};

/* The body with these values as its inputs; its outputs are values of the graph then. NULL after an error. */
const uint32_t *sk_inline_body(struct sk_inlining *inlining, const uint32_t *inputs);

#endif
