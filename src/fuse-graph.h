/* Graph-kernel fusion: the list of passes that a graph of operators goes through before it becomes calls. */
#ifndef SK_FUSE_GRAPH_H
#define SK_FUSE_GRAPH_H

#include "src/fusion/dumps/dumps.h"
#include "src/fusion/graph.h"
#include "src/fusion/manager/flags.h"

/* Runs the passes that the flags leave on, and dumps what they change. Every value is of a known type and shape. False
 * after an error. */
bool sk_fuse_graph(struct sk_op_graph *graph, const struct sk_fusion_flags *flags, struct sk_dump_folders folders);

#endif
