/* The order in which the nodes of a pattern are found; see rules-parts.h. Producers come first, since a value has at
 * most one; its users must be tried one after the other. */
#include "graph/rules/rules-parts.h"

#include "base/arena.h"
#include "base/map.h"
#include "graph/rules/rules.h"

static uint32_t maker_of(const struct sk_rule *rule, uint32_t name)
{
	for (uint32_t n = 0; n < rule->pattern.count; n++)
		for (size_t i = 0; i < rule->pattern.items[n].outputs.count; i++)
			if (rule->pattern.items[n].outputs.items[i] == name)
				return n;
	return SK_NONE;
}

/* Find a value that connects the node with those found before, if there is one. */
static bool find_step(const struct sk_rule *rule, const bool *bound, uint32_t n, struct sk_rule_step *step)
{
	const struct sk_rule_node *node = &rule->pattern.items[n];

	for (size_t i = 0; i < node->outputs.count; i++)
		if (node->outputs.items[i] != SK_NONE && bound[node->outputs.items[i]]) {
			*step = (struct sk_rule_step){n, node->outputs.items[i], false};
			return true;
		}
	for (size_t i = 0; i < node->inputs.count; i++)
		if (node->inputs.items[i].name != SK_NONE && bound[node->inputs.items[i].name] &&
		    rule->names.items[node->inputs.items[i].name].kind != SK_RULE_REST) {
			*step = (struct sk_rule_step){n, node->inputs.items[i].name, true};
			return true;
		}
	return false;
}

static void bind_node(const struct sk_rule *rule, uint32_t n, bool *bound)
{
	const struct sk_rule_node *node = &rule->pattern.items[n];

	for (size_t i = 0; i < node->outputs.count; i++)
		if (node->outputs.items[i] != SK_NONE)
			bound[node->outputs.items[i]] = true;
	for (size_t i = 0; i < node->inputs.count; i++) {
		uint32_t name = node->inputs.items[i].name;

		if (name != SK_NONE && (rule->names.items[name].kind != SK_RULE_REST || rule->names.items[name].made) &&
		    !rule->names.items[name].optional)
			bound[name] = true;
	}
}

bool sk_rule_order_steps(struct sk_arena *arena, struct sk_rule *rule)
{
	bool *bound = SK_NEW_ARRAY(arena, bool, rule->names.count + 1);
	bool *found = SK_NEW_ARRAY(arena, bool, rule->pattern.count + 1);
	struct sk_rule_step step = {maker_of(rule, rule->outputs.items[0]), SK_NONE, false};

	while (step.node != SK_NONE) {
		sk_array_push(arena, &rule->steps, step);
		found[step.node] = true;
		bind_node(rule, step.node, bound);
		step.node = SK_NONE;
		for (uint32_t n = 0; n < rule->pattern.count; n++) {
			struct sk_rule_step other;

			if (!found[n] && find_step(rule, bound, n, &other) && (step.node == SK_NONE || !other.user))
				step = other;
			if (step.node != SK_NONE && !step.user)
				break;
		}
	}
	return rule->steps.count == rule->pattern.count;
}
