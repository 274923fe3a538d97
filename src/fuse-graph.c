/* The table of the passes of graph-kernel fusion, in the order in which they run; see fuse-graph.h. A pass is found by
 * flags under its stage and its place in that stage. */
#include "src/fuse-graph.h"

#include "src/fusion/composites/composites.h"
#include "src/fusion/manager/pass.h"
#include "src/fusion/rewrites/rewrites.h"
#include "src/fusion/rules/expand.h"

static const struct sk_fusion_pass passes[] = {
	{"preprocess", "graph_kernel_cse", 1, sk_pass_cse},
	{"cluster", "transpose_matmul_fusion", SK_LEVEL_NEVER, sk_pass_transpose_matmul_fusion},
	{"cluster", "graph_kernel_expander", 1, sk_pass_expand},
	{"cluster", "fuse_basic", 1, sk_pass_fuse_basic},
	{"cluster", "graph_kernel_cluster", 1, sk_pass_graph_kernel_cluster},
	{"cluster", "eliminate_redundant_output", 1, sk_pass_eliminate_redundant_output},
	{"highlevelopt1", "reorder_ops", 2, sk_pass_reorder_ops},
	{"highlevelopt1", "axis_normalizer", 1, sk_pass_axis_normalizer},
	{"highlevelopt1", "arithmetic_simplify", 2, sk_pass_arithmetic_simplify},
	{"highlevelopt1", "graph_kernel_cse", 2, sk_pass_cse},
	{"highlevelopt1", "transform_op_optimizer", 2, sk_pass_transform_op_optimizer},
	{"split", "graph_kernel_splitter", 1, sk_pass_graph_kernel_splitter},
	{"split", "graph_kernel_cse", 1, sk_pass_cse},
	{"split", "eliminate_redundant_output", 1, sk_pass_eliminate_redundant_output},
	{0},
};

static bool run(struct sk_op_graph *graph, const struct sk_fusion_flags *flags, const struct sk_fusion_pass *pass,
		struct sk_dumps *dumps)
{
	enum sk_pass_result result = pass->run(graph, flags);

	return result != SK_PASS_FAILED &&
	       sk_dumps_after(dumps, graph, pass->name, pass->name, result == SK_PASS_CHANGED);
}

bool sk_fuse_graph(struct sk_op_graph *graph, const struct sk_fusion_flags *flags, struct sk_dump_folders folders)
{
	struct sk_dumps *dumps = sk_dumps_begin(graph, folders);

	if (!dumps)
		return false;
	/* On the host the planner knows best, unless somebody says what he wants. */
	graph->composites_hold = flags->opt_level && (flags->target != SK_TARGET_HOST || flags->given);
	for (const struct sk_fusion_pass *pass = passes; pass->name; pass++)
		if (flags->opt_level >= pass->level && !run(graph, flags, pass, dumps))
			return false;
	return sk_dumps_end(dumps, graph);
}
