/* Shape and type inference: from the graph's inputs to every value, node by node. */
#ifndef SK_INFER_GRAPH_H
#define SK_INFER_GRAPH_H

#include "graph/graph.h"

/* Computes values that depend on constants only: afterwards each wanted one has contents. False after an error. */
typedef bool sk_fold(const void *context, struct sk_op_graph *graph, const uint32_t *wanted, size_t count);

/* Brings all nodes to the newest operator sets and infers the whole graph: afterwards each value that a node makes is
 * static. Where inference demands values that depend on constants only, `fold` computes them. All errors are collected;
 * false if there was one: then the nodes whose outputs are not static are removed. */
bool sk_graph_infer(struct sk_op_graph *graph, sk_fold *fold, const void *context);

#endif
