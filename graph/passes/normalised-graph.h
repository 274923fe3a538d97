/* Normalised convolutions: what is known of a channel when linking goes into the filters. */
#ifndef SK_NORMALISED_GRAPH_H
#define SK_NORMALISED_GRAPH_H

#include "graph/graph.h"

/* Conv of f32 with constant filters and bias, of which a BatchNormalization with constant statistics alone takes the
 * result, becomes one Conv with seven inputs, scale, bias, mean and variance of the channels behind its own, and the
 * attribute epsilon. It is the same but for rounding. */
void sk_graph_normalise(struct sk_op_graph *graph);

#endif
