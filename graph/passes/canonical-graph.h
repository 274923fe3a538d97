/* From nodes to canonical calls. */
#ifndef SK_CANONICAL_GRAPH_H
#define SK_CANONICAL_GRAPH_H

#include "graph/canonical.h"

/* Outputs that are constants, or depend on constants alone, become copies of these, so that each output is something
 * that a node makes; other nodes read the constants. */
void sk_graph_keep_outputs(struct sk_op_graph *graph);

/* Turns what the wanted values depend on into calls, in the order of the nodes. All errors are collected; false if
 * there was one. */
bool sk_graph_canonical(struct sk_op_graph *graph, const uint32_t *wanted, size_t count, sk_graph_calls *calls);

#endif
