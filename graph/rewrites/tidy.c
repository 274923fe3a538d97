/* eliminate_redundant_output and axis_normalizer: a canonical form of outputs and axes. */
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"
#include "graph/operators/operators.h"
#include "graph/rewrites/rewrites-parts.h"
#include "graph/rewrites/rewrites.h"

/* ---- eliminate_redundant_output ---- */

/* Remove the optional outputs of an operator if all of them are unused, since kernels have few forms. */
static void drop_outputs(struct sk_rewrite *rewrite, uint32_t index)
{
	struct sk_graph_node *node = sk_rewrite_at(rewrite, index);
	const struct sk_schema *schema = sk_schema_find(node->domain, node->op);

	if (schema->max_outputs == SK_VARIADIC || node->outputs.count <= schema->min_outputs)
		return;
	for (size_t i = schema->min_outputs; i < node->outputs.count; i++)
		if (node->outputs.items[i] != SK_NONE && rewrite->uses.items[node->outputs.items[i]])
			return;
	node->outputs.count = schema->min_outputs;
	rewrite->changed = true;
}

enum sk_pass_result sk_pass_eliminate_redundant_output(struct sk_op_graph *graph, const struct sk_fusion_flags *flags)
{
	bool swept = sk_rewrite_sweep(graph); /* removed nodes use nothing */
	enum sk_pass_result result = sk_rewrite_graph(graph, flags, NULL, drop_outputs);

	return swept ? SK_PASS_CHANGED : result;
}

/* ---- axis_normalizer ---- */

/* Operators with an attribute `axis` that counts the axes of the first input. */
static const char *const along_axis[] = {
	"ArgMax",
	"ArgMin",
	"Concat",
	"Gather",
	"GatherElements",
	"Hardmax",
	"LayerNormalization",
	"LogSoftmax",
	"LpNormalization",
	"ScatterElements",
	"Softmax",
	"Split",
	"TopK",
	NULL,
};

/* Operators with a list of axes as the second input. */
static const char *const along_axes[] = {
	"ReduceL1",  "ReduceL2",   "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
	"ReduceMin", "ReduceProd", "ReduceSum",	   "ReduceSumSquare", NULL,
};

static void count_list(struct sk_rewrite *rewrite, struct sk_graph_node *node, uint32_t rank)
{
	struct sk_op_graph *graph = rewrite->graph;
	const struct sk_value *list = sk_node_input(graph, node, 1);
	const int64_t *axes;
	int64_t *counted;
	uint64_t count;
	bool negative = false;

	if (!list || !sk_value_integers(graph->arena, list, &count, &axes))
		return;
	counted = SK_NEW_ARRAY(graph->arena, int64_t, count + 1);
	for (uint64_t i = 0; i < count; i++) {
		negative |= axes[i] < 0;
		counted[i] = axes[i] + (axes[i] < 0 ? rank : 0);
	}
	if (!negative)
		return;
	sk_rewrite_set_input(rewrite, node, 1, sk_graph_new_integers(graph, "axes", count, counted));
}

static void count_axes(struct sk_rewrite *rewrite, uint32_t index)
{
	struct sk_graph_node *node = sk_rewrite_at(rewrite, index);
	int64_t axis = sk_node_integer(node, "axis", 0);

	if (sk_node_is_one_of(node, along_axes))
		count_list(rewrite, node, sk_node_input(rewrite->graph, node, 0)->rank);
	if (axis >= 0 || !sk_node_is_one_of(node, along_axis))
		return;
	sk_rewrite_set_integer(rewrite, node, "axis", axis + sk_node_input(rewrite->graph, node, 0)->rank);
}

enum sk_pass_result sk_pass_axis_normalizer(struct sk_op_graph *graph, const struct sk_fusion_flags *flags)
{
	return sk_rewrite_graph(graph, flags, NULL, count_axes);
}
