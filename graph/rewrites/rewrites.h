/* Rewrites that make the graph smaller or cheaper: passes of graph-kernel fusion (src/link/graph-passes.c has their
 * order). Results stay the same bit for bit, unless flags allow more. Nodes of different scopes or streams are kept
 * apart, and outputs of the graph keep their names. doc/reference/ lists rules and passes. */
#ifndef SK_REWRITES_H
#define SK_REWRITES_H

#include <stdbool.h>

#include "graph/manager/manager.h"

struct sk_diag;
struct sk_op_graph;

/* Clean the graph up as reading its dump would: mark nodes that no output of the graph needs as removed, and make
 * unused outputs of the others absent. True if anything was removed. */
bool sk_rewrite_sweep(struct sk_op_graph *graph);

/* Simplify arithmetic: remove operators without effect, and replace several by one. The flags on expressions choose the
 * rules. */
enum sk_pass_result sk_pass_arithmetic_simplify(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* Warn about unknown expressions that the flags name. */
void sk_simplify_check_names(struct sk_diag *diag, const struct sk_fusion_flags *flags);

/* Keep the first of several nodes that compute the same. */
enum sk_pass_result sk_pass_cse(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* Remove nodes and optional outputs that no output needs. */
enum sk_pass_result sk_pass_eliminate_redundant_output(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* Count negative axes from the front, so that equal nodes look alike. */
enum sk_pass_result sk_pass_axis_normalizer(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* Swap a Cast with an operator that only moves elements where fewer bytes are moved then. */
enum sk_pass_result sk_pass_reorder_ops(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* Remove transpositions at both ends of a chain of elementwise operators that undo one another. */
enum sk_pass_result sk_pass_transform_op_optimizer(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* Let a product read a factor before the transposition of its last two axes. */
enum sk_pass_result sk_pass_transpose_matmul_fusion(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* Recompute in each composite a value that several use, where that reduces memory traffic. */
enum sk_pass_result sk_pass_graph_kernel_recompute(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* Make the shape of a Reshape, if it is computed from sizes with bounds, a list of expressions: a Concat of scalars
 * (shape_reshape), or another value (shape_reshape_2). */
enum sk_pass_result sk_pass_shape_reshape(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);
enum sk_pass_result sk_pass_shape_reshape_2(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* The same for all inputs of other nodes that decide on the shape of the output, as the flags on packets allow. */
enum sk_pass_result sk_pass_symbol_engine_extender(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* For `ascend`, before all passes: note the reason at each of GE's nodes that split or join and that have a task
 * because of their neighbours in the file. */
void sk_no_task_read_file(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

/* Mark Split and Concat if their parts may be slices of one buffer. */
enum sk_pass_result sk_pass_no_task(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);

#endif
