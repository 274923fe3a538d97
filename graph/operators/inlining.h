/* Bodies of If, Loop, Scan and SequenceMap become nodes of the graph around them: copies of their nodes, with names of
 * their own, and of their values; what they take from the graph around them is found there by its name. */
#ifndef SK_INLINING_H
#define SK_INLINING_H

#include "graph/operators/expansion.h"

/* The body with these values as its inputs, in front of whose names stands the prefix; its outputs are values of the
 * graph then. NULL after an error. */
const uint32_t *sk_inline_body(const struct sk_expansion *expansion, const struct sk_op_graph *body, const char *prefix,
			       const uint32_t *inputs);

#endif
