/* Fusion by rules; see rules.h. The names of rules that fuse are unique, among sklink's and the user's together,
 * because `before` refers to them. */
#include "graph/rules/rules.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "graph/manager/manager.h"
#include "graph/rules/rules-parts.h"

static const struct {
	const char *set, *text, *pass; /* the pass; NULL: by the names of the rules */
} sets[] = {
	{"onnx", sk_onnx_rules, SK_PASS_ONNX},
	{"passes", sk_passes_rules, NULL},
	{"torchair", sk_torchair_rules, SK_PASS_TORCHAIR},
};

struct registry {
	struct sk_arena *arena;
	struct sk_diag *diag;
	struct sk_graph_pass *passes;
};

/* ---- the passes of rules ---- */

static struct sk_graph_pass *find_pass(const struct registry *registry, const char *name)
{
	struct sk_graph_pass *pass = registry->passes;

	while (pass->name && strcmp(pass->name, name))
		pass++;
	return pass->name ? pass : NULL;
}

/* Return the pass with the longest name that is a prefix of the rule's. Both "shape_reshape" and "shape_reshape_2" are
 * passes. */
static struct sk_graph_pass *find_named_like(const struct registry *registry, const char *rule)
{
	struct sk_graph_pass *longest = NULL;

	for (struct sk_graph_pass *pass = registry->passes; pass->name; pass++)
		if (!pass->run && !strncmp(rule, pass->name, strlen(pass->name)) &&
		    (!longest || strlen(pass->name) > strlen(longest->name)))
			longest = pass;
	return longest;
}

/* Insert the rule at that place, before those that follow. */
static void insert_at(const struct registry *registry, struct sk_graph_pass *pass, size_t place,
		      const struct sk_rule *rule)
{
	struct sk_rule_list *list = pass->rules ? pass->rules : SK_NEW(registry->arena, struct sk_rule_list);

	pass->rules = list;
	sk_array_push(registry->arena, list, *rule);
	memmove(&list->items[place + 1], &list->items[place], (list->count - 1 - place) * sizeof(*list->items));
	list->items[place] = *rule;
}

static void append_rule(const struct registry *registry, struct sk_graph_pass *pass, const struct sk_rule *rule)
{
	insert_at(registry, pass, pass->rules ? pass->rules->count : 0, rule);
}

static bool register_own(const struct registry *registry, const struct sk_rule *rule, const char *pass_name)
{
	struct sk_graph_pass *pass = pass_name ? find_pass(registry, pass_name) : find_named_like(registry, rule->name);

	if (pass)
		append_rule(registry, pass, rule);
	else
		sk_error(registry->diag, rule->place, "no pass has the name that '%s' starts with", rule->name);
	return pass;
}

/* ---- the user's rules ---- */

/* Return the pass of the first variant of the rule, among the rules registered so far; NULL: none. */
static struct sk_graph_pass *find_rule(const struct registry *registry, const char *name, size_t *place)
{
	for (struct sk_graph_pass *pass = registry->passes; pass->name; pass++)
		for (*place = 0; pass->rules && *place < pass->rules->count; ++*place)
			if (!strcmp(pass->rules->items[*place].name, name))
				return pass;
	return NULL;
}

/* Return the index of the first variant of a user's rule; the number of rules if there is none. */
static size_t find_users(const struct sk_rule_list *list, const char *name)
{
	size_t first = 0;

	while (first < list->count && strcmp(list->items[first].name, name))
		first++;
	return first;
}

static bool report_no_rule(const struct registry *registry, const struct sk_rule_list *list,
			   const struct sk_name *before)
{
	SK_ARRAY(const char *) names = {NULL, 0, 0};

	for (const struct sk_graph_pass *pass = registry->passes; pass->name; pass++)
		for (size_t i = 0; pass->rules && i < pass->rules->count; i++)
			sk_array_push(registry->arena, &names, pass->rules->items[i].name);
	for (size_t i = 0; i < list->count; i++)
		sk_array_push(registry->arena, &names, list->items[i].name);
	sk_error(registry->diag, before->place, "no rule that fuses is called '%s'%s", before->text,
		 sk_did_you_mean(registry->arena, before->text, names.items, names.count));
	return false;
}

/* Insert all variants of the rule that begins there. */
static void insert_rule(const struct registry *registry, const struct sk_rule_list *list, size_t first,
			struct sk_graph_pass *pass, size_t place)
{
	for (size_t i = first; i < list->count && !strcmp(list->items[i].name, list->items[first].name); i++)
		insert_at(registry, pass, place++, &list->items[i]);
}

/* Register a rule with `before`. If that names another rule of the user's, wait until it is registered. */
static bool register_before(const struct registry *registry, const struct sk_rule_list *list, size_t first)
{
	SK_ARRAY(size_t) waiting = {NULL, 0, 0};

	sk_array_push(registry->arena, &waiting, first);
	while (waiting.count) {
		const struct sk_rule *rule = &list->items[waiting.items[waiting.count - 1]];
		size_t place;
		struct sk_graph_pass *pass = find_rule(registry, rule->before.text, &place);

		if (pass) {
			insert_rule(registry, list, waiting.items[--waiting.count], pass, place);
			continue;
		}
		sk_array_push(registry->arena, &waiting, find_users(list, rule->before.text));
		if (waiting.items[waiting.count - 1] == list->count)
			return report_no_rule(registry, list, &rule->before);
		if (waiting.count > list->count) {
			sk_error(registry->diag, rule->before.place,
				 "rule '%s' would be before itself: 'before' leads from it back to it", rule->name);
			return false;
		}
	}
	return true;
}

/* Register rules without `before` first. They keep the order of the file. */
static bool register_users(const struct registry *registry, const struct sk_rule_list *list)
{
	size_t place;

	for (size_t i = 0; i < list->count; i++)
		if (!list->items[i].before.text)
			append_rule(registry, find_pass(registry, SK_PASS_USER), &list->items[i]);
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].before.text && !find_rule(registry, list->items[i].name, &place) &&
		    !register_before(registry, list, i))
			return false;
	return true;
}

/* All rules of sklink are registered before the user's. */
static bool check_users(const struct registry *registry, const struct sk_rule_list *list)
{
	bool valid = true;
	size_t place;

	for (size_t i = 0; i < list->count; i++) {
		const struct sk_rule *rule = &list->items[i];
		const struct sk_graph_pass *pass = find_rule(registry, rule->name, &place);

		if (!pass || (i && !strcmp(list->items[i - 1].name, rule->name)))
			continue;
		sk_error(registry->diag, rule->place, "sklink has a rule '%s' that fuses", rule->name);
		sk_note(registry->diag, "it stands in %s",
			sk_place_text(registry->arena, pass->rules->items[place].place));
		valid = false;
	}
	return valid;
}

/* TorchAir registers these rules outside of its mode max-autotune only, that is, for captured graphs. */
static bool is_for_captured_graphs(const struct sk_rule *rule)
{
	return rule->set && !strcmp(rule->set, "torchair") &&
	       (!strcmp(rule->name, "transpose_batchmatmul") || !strcmp(rule->name, "add_rms_norm_quant"));
}

/* Remove these rules. They have been registered, because the user's may refer to them. */
static void leave_out_captured(struct sk_rule_list *list)
{
	size_t kept = 0;

	for (size_t i = 0; list && i < list->count; i++)
		if (!is_for_captured_graphs(&list->items[i]))
			list->items[kept++] = list->items[i];
	if (list)
		list->count = kept;
}

bool sk_fuse_rules(struct sk_arena *arena, struct sk_diag *diag, const struct sk_fusion_flags *flags,
		   struct sk_graph_pass *passes)
{
	const struct registry registry = {arena, diag, passes};
	struct sk_rule_list own = {0};
	bool registered = true;

	for (size_t s = 0; s < sizeof(sets) / sizeof(sets[0]); s++) {
		size_t first = own.count;

		if (!sk_rule_texts_list(arena, diag, sets[s].set, sets[s].text, &own))
			return false;
		for (size_t r = first; r < own.count; r++)
			registered &= register_own(&registry, &own.items[r], sets[s].pass);
	}
	if (!registered || !check_users(&registry, &flags->rules->fuse))
		return false;
	if (flags->no_patterns)
		find_pass(&registry, SK_PASS_TORCHAIR)->rules = NULL;
	else if (!register_users(&registry, &flags->rules->fuse))
		return false;
	if (flags->max_autotune)
		leave_out_captured(find_pass(&registry, SK_PASS_TORCHAIR)->rules);
	return true;
}

/* ---- applying ---- */

/* A composite of an earlier link is kept: the model may be a dump. */
static bool is_free(const void *context, const struct sk_graph_node *node)
{
	(void)context;
	return !node->composite;
}

enum sk_pass_result sk_fuse(struct sk_op_graph *graph, const struct sk_fusion_flags *flags,
			    const struct sk_rule_list *rules, struct sk_rule_check check, sk_rule_counts *counts)
{
	struct sk_rule_list read = {0};
	struct sk_rule_pass rewrite = {.graph = graph,
				       .sets = {&read},
				       .wants = is_free,
				       .target = sk_fusion_targets[flags->target],
				       .check = check};

	if (!sk_rule_texts_read(graph, rules, &read))
		return SK_PASS_FAILED;
	sk_rules_apply(&rewrite);
	*counts = rewrite.counts;
	sk_rules_tell(&rewrite);
	return rewrite.replaced ? SK_PASS_CHANGED : SK_PASS_UNCHANGED;
}
