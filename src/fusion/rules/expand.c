/* The expander; see expand.h. Which operators are expanded the lists say, and how the rules: the user's first, then
 * those of expand.yaml, which is part of the program. */
#include "src/fusion/rules/expand.h"

#include <string.h>

#include "src/fusion/manager/lists.h"
#include "src/fusion/rules/apply-rules.h"
#include "src/fusion/rules/read-rules.h"

/* What has no elements has nothing to compute. */
static bool has_elements(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	for (size_t i = 0; i < node->inputs.count; i++)
		if (sk_node_input(graph, node, i) && !sk_value_elements(sk_node_input(graph, node, i)))
			return false;
	for (size_t i = 0; i < node->outputs.count; i++)
		if (sk_node_output(graph, node, i) && !sk_value_elements(sk_node_output(graph, node, i)))
			return false;
	return true;
}

struct wanted {
	const struct sk_op_graph *graph;
	const struct sk_op_list *list;
};

static bool is_wanted(const void *context, const struct sk_graph_node *node)
{
	const struct wanted *wanted = context;

	return !node->composite && sk_op_list_has(wanted->list, node) && has_elements(wanted->graph, node);
}

static bool any_is_wanted(const struct wanted *wanted)
{
	for (size_t n = 0; n < wanted->graph->nodes.count; n++)
		if (!wanted->graph->nodes.items[n].removed && is_wanted(wanted, &wanted->graph->nodes.items[n]))
			return true;
	return false;
}

enum sk_pass_result sk_pass_expand(struct sk_op_graph *graph, const struct sk_fusion_flags *flags)
{
	static const char *const targets[] = {[SK_TARGET_HOST] = "host",
					      [SK_TARGET_ASCEND] = "ascend",
					      [SK_TARGET_CPU] = "cpu",
					      [SK_TARGET_GPU] = "gpu"};
	const struct wanted wanted = {graph, sk_valid_ops(graph->arena, flags, SK_LIST_EXPAND)};
	struct sk_rules own = {0};
	struct sk_rule_pass rewrite = {.graph = graph,
				       .wants = is_wanted,
				       .context = &wanted,
				       .target = targets[flags->target],
				       .composites = true};

	if (!any_is_wanted(&wanted))
		return SK_PASS_UNCHANGED;
	if (!sk_rules_parse(graph->arena, graph->diag, "expand.yaml", sk_expand_rules, strlen(sk_expand_rules), &own))
		return SK_PASS_FAILED;
	rewrite.sets[0] = flags->rules ? flags->rules : &own;
	rewrite.sets[1] = flags->rules ? &own : NULL;
	sk_rules_apply(&rewrite);
	return rewrite.replaced ? SK_PASS_CHANGED : SK_PASS_UNCHANGED;
}
