/* States: an input of the network and the output that takes its place in the next run become one tensor, which the
 * package reads and writes. */
#ifndef SK_KEEP_STATES_H
#define SK_KEEP_STATES_H

#include "graph/canonical.h"

/* Comes in: the graph with its states, and the calls of its nodes. Goes out: outputs that are states are gone, and what
 * made them writes the input's bytes: calls that update a few rows do it in place, where nobody needs the old rows
 * afterwards; others get a copy behind them. All errors are collected; false if there was one. */
bool sk_graph_keep_states(struct sk_op_graph *graph, sk_graph_calls *calls);

#endif
