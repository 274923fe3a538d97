/* The table of the passes of graph-kernel fusion, in the order in which they run; see fuse-graph.h. A pass is found by
 * flags under its stage and its place in that stage. */
#include "src/fuse-graph.h"

#include "src/fusion/manager/pass.h"

static const struct sk_fusion_pass passes[] = {
	{0},
};

bool sk_fuse_graph(struct sk_op_graph *graph, const struct sk_fusion_flags *flags)
{
	for (const struct sk_fusion_pass *pass = passes; pass->name; pass++)
		if (flags->opt_level >= pass->level && pass->run(graph, flags) == SK_PASS_FAILED)
			return false;
	return true;
}
