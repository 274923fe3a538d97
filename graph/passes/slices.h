/* Nodes without a task: Split and Concat whose parts are slices of one buffer. A part of a Split is its input's bytes,
 * wherever they are one run of them, and stays so. What a Concat would copy is computed where the copy would be, if it
 * has bytes of its own that nobody else wants to have in another place. In: nodes that may (sk_graph_node.slices), and
 * calls, with constants folded. Out: fewer copies, values that are views, and which nodes have no task. */
#ifndef SK_SLICES_H
#define SK_SLICES_H

#include "graph/canonical.h"

/* True if some node has no task. */
bool sk_graph_place_slices(struct sk_op_graph *graph, sk_graph_calls *calls);

#endif
