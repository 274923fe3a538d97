/* What composites are told by: how an operator's results relate to what it reads, and whether a target can compute a
 * node as part of a composite. operators.def says it of operators. */
#ifndef SK_KINDS_H
#define SK_KINDS_H

#include "graph/graph.h"
#include "graph/manager/flags.h"

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

#endif
