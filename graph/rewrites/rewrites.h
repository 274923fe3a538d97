/* Rewrites of the graph that make it smaller or cheaper: passes of graph-kernel fusion (src/link/graph-passes.c says when
 * each of them runs). What comes out of a graph is the same bit for bit, but where the flags ask for more. Nodes of
 * different scopes or streams stay apart, and outputs of the graph keep their names. doc/reference/passes.md lists rules and
 * passes. */
#ifndef SK_REWRITES_H
#define SK_REWRITES_H

#include <stdbool.h>

#include "graph/manager/manager.h"

struct sk_diag;
struct sk_op_graph;

/* Leaves the graph as a reader of its dump has it: marks nodes as removed that no output of the graph needs, and makes
 * outputs of the others absent that nobody reads. True if anything is gone. */
bool sk_rewrite_sweep(struct sk_op_graph *graph);

/* Arithmetic that changes nothing, or that another operator does in one step; the flags on expressions choose rules. */
enum sk_pass_result sk_pass_arithmetic_simplify(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* Warns of expressions that the flags name, and there are none. */
void sk_simplify_check_names(struct sk_diag *diag, const struct sk_fusion_flags *flags);

/* Of nodes that compute the same of the same the first one is left. */
enum sk_pass_result sk_pass_cse(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* What no output needs goes: nodes, and optional outputs of nodes. */
enum sk_pass_result sk_pass_eliminate_redundant_output(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* Axes that count from behind count from the front, so that nodes that say the same are alike. */
enum sk_pass_result sk_pass_axis_normalizer(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* A Cast and an operator that only moves elements change places where fewer bytes are moved then. */
enum sk_pass_result sk_pass_reorder_ops(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* Transpositions at both ends of a chain of elementwise operators that undo one another go. */
enum sk_pass_result sk_pass_transform_op_optimizer(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* A product takes a factor as it was in front of a transposition of its last two axes. */
enum sk_pass_result sk_pass_transpose_matmul_fusion(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* What several composites use is computed in each of them, where memory has less to do then. */
enum sk_pass_result sk_pass_graph_kernel_recompute(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* Split and Concat whose parts may be slices of one buffer. */
enum sk_pass_result sk_pass_no_task(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

#endif
