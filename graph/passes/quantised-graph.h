/* Quantised products: how tools write them, and how they are computed. */
#ifndef SK_QUANTISED_GRAPH_H
#define SK_QUANTISED_GRAPH_H

#include "graph/graph.h"

/* MatMul of what two DequantizeLinear make, of which a QuantizeLinear alone takes the result, becomes one
 * QLinearMatMul, which is the same but for rounding, if the right one is one matrix. All values are static. */
void sk_graph_quantise(struct sk_op_graph *graph);

#endif
