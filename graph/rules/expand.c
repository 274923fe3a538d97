/* The expander; see rules.h. Lists say which operators are expanded, and rules how: the user's rules first, then those
 * of expand.yaml, which is part of the program. */
#include "graph/rules/rules.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"
#include "graph/rules/rules-parts.h"

/* A node without elements has nothing to compute. */
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

/* Read the rules of expand.yaml; false if one is wrong. */
static bool read_own_rules(struct sk_arena *arena, struct sk_diag *diag, const struct sk_fusion_flags *flags)
{
	struct sk_rule_list *rules = &flags->own_rules->expand;

	if (rules->count)
		return true;
	if (!sk_rules_parse(arena, diag, "expand.yaml", sk_expand_rules, strlen(sk_expand_rules), flags->own_rules))
		return false;
	for (size_t r = 0; r < rules->count; r++)
		rules->items[r].set = "expand";
	return true;
}

/* True if a rule expands the operator of that name. */
static bool have_rule(const struct sk_rules *set, const char *name)
{
	for (size_t r = 0; r < set->expand.count; r++) {
		const struct sk_rule *rule = &set->expand.items[r];
		const struct sk_rule_node *anchor = &rule->pattern.items[rule->steps.items[0].node];

		for (size_t i = 0; i < anchor->operators.count; i++)
			if (sk_op_is_called(anchor->operators.items[i].op, name))
				return true;
	}
	return false;
}

bool sk_expand_check_names(struct sk_arena *arena, struct sk_diag *diag, const struct sk_fusion_flags *flags)
{
	const sk_texts *lists[] = {&flags->enable_expand_ops, &flags->enable_expand_ops_only};

	if (!lists[0]->count && !lists[1]->count)
		return true;
	if (!read_own_rules(arena, diag, flags))
		return false;
	for (size_t l = 0; l < 2; l++)
		for (size_t i = 0; i < lists[l]->count; i++) {
			const char *name = lists[l]->items[i];

			if (sk_op_is_known(name) && !have_rule(flags->own_rules, name) &&
			    !have_rule(flags->rules, name))
				sk_warning(diag, flags->place,
					   "operator '%s' stays whole: no rule says how to expand it", name);
		}
	return true;
}

enum sk_pass_result sk_pass_expand(struct sk_op_graph *graph, const struct sk_fusion_flags *flags)
{
	const struct wanted wanted = {graph, sk_valid_ops(graph->arena, flags, SK_LIST_EXPAND)};
	struct sk_rule_pass rewrite = {.graph = graph,
				       .sets = {&flags->rules->expand, &flags->own_rules->expand},
				       .wants = is_wanted,
				       .context = &wanted,
				       .target = sk_fusion_targets[flags->target],
				       .expands = true};

	if (!any_is_wanted(&wanted))
		return SK_PASS_UNCHANGED;
	if (!read_own_rules(graph->arena, graph->diag, flags))
		return SK_PASS_FAILED;
	sk_rules_apply(&rewrite);
	sk_rules_tell(&rewrite);
	return rewrite.replaced ? SK_PASS_CHANGED : SK_PASS_UNCHANGED;
}
