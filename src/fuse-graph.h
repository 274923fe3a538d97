/* Graph-kernel fusion: the list of passes that a graph of operators goes through before it becomes calls. */
#ifndef SK_FUSE_GRAPH_H
#define SK_FUSE_GRAPH_H

#include "graph/canonical.h"
#include "graph/dumps/dumps.h"
#include "graph/graph.h"
#include "graph/manager/choose.h"
#include "graph/manager/flags.h"
#include "graph/manager/results.h"
#include "graph/rules/match.h"

/* What is decided once, for all networks of a link. */
struct sk_graph_fusion {
	struct sk_fusion_flags flags;
	sk_pass_choices passes;
	struct sk_fusion_results *results; /* of patterns in all graphs */
	struct sk_rule_check check; /* of what rules that fuse would make */
	bool verbose; /* what is decided and done is told on standard error */
};

/* Decides which passes run; the flags are known. Operators and passes that flags name in vain are warned of. False
 * after an error. */
bool sk_fusion_begin(struct sk_arena *arena, struct sk_diag *diag, struct sk_graph_fusion *fusion);

/* Runs these passes, and dumps what they change. Every value is of a known type and shape. False after an error. */
bool sk_fuse_graph(struct sk_op_graph *graph, const struct sk_graph_fusion *fusion, struct sk_dumps *dumps);

/* The end of the last of them, FusionVirtualOpSetSwitch, once nodes are calls: parts of nodes that may be slices are,
 * and the graph is dumped if some node has no task then. Dumps end here. False after an error. */
bool sk_fuse_calls(struct sk_op_graph *graph, sk_graph_calls *calls, const struct sk_graph_fusion *fusion,
		   struct sk_dumps *dumps);

#endif
