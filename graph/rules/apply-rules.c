/* Rules on a whole graph; see rules-parts.h. New nodes are appended during the pass, and sorted into their places at
 * the end. */
#include "graph/rules/rules-parts.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"
#include "graph/rules/rules.h"

/* A rule that may have an anchor of some operator. */
struct entry {
	const struct sk_rule *rule;
	uint32_t count; /* its index among the counts */
	uint32_t next; /* the next entry for the same operator; SK_NONE: none */
	uint32_t last; /* in the first entry for an operator: the last one */
};

struct rewriting {
	struct sk_rule_pass *pass;
	struct sk_op_graph *graph;
	struct sk_users *users;
	struct sk_match match;
	struct sk_map first; /* "domain:op" to an entry */
	SK_ARRAY(struct entry) entries;
	uint32_t *places; /* by original node: the first new node placed after it */
	SK_ARRAY(uint32_t) followers; /* by new node, from `count` on: the next one at the same place */
	uint32_t count; /* the number of original nodes */
	uint32_t joined; /* the first node of all replaced patterns of several nodes; SK_NONE: none */
	bool assigns; /* some node overwrites its input */
	struct sk_composite_names names; /* of all composites so far */
	sk_indices seen; /* by node: the last search that reached it */
	uint32_t search;
};

/* ---- rules by the operator of their anchor ---- */

static const char *operator_key(struct sk_arena *arena, const char *domain, const char *op)
{
	return *domain ? sk_arena_print(arena, "%s:%s", domain, op) : op;
}

/* Return the index of the rule's counts. Variants of a rule follow one another, and share them. */
static uint32_t count_of(struct rewriting *rewriting, const struct sk_rule *rule)
{
	sk_rule_counts *counts = &rewriting->pass->counts;

	if (!counts->count || strcmp(counts->items[counts->count - 1].rule, rule->name))
		sk_array_push(rewriting->graph->arena, counts,
			      (struct sk_rule_count){.rule = rule->name, .user = !rule->set});
	return (uint32_t)counts->count - 1;
}

static void enter_rule(struct rewriting *rewriting, const struct sk_rule *rule)
{
	uint32_t count = count_of(rewriting, rule);
	const struct sk_rule_node *anchor = &rule->pattern.items[rule->steps.items[0].node];
	struct sk_arena *arena = rewriting->graph->arena;

	for (size_t i = 0; i < anchor->operators.count; i++) {
		const char *key = operator_key(arena, anchor->operators.items[i].domain, anchor->operators.items[i].op);
		uint32_t new = (uint32_t)rewriting->entries.count;
		uint32_t first = sk_map_insert(&rewriting->first, key, strlen(key), new);

		sk_array_push(arena, &rewriting->entries, (struct entry){rule, count, SK_NONE, new});
		if (first != new)
			rewriting->entries.items[rewriting->entries.items[first].last].next = new;
		rewriting->entries.items[first].last = new;
	}
}

/* ---- whether a match is convex ---- */

/* The first and the last node of a match in the graph. */
struct span {
	uint32_t first, last;
};

static struct span span_of(const struct sk_match *match)
{
	struct span span = {SK_NONE, 0};

	for (size_t i = 0; i < match->rule->pattern.count; i++) {
		span.first = match->nodes[i] < span.first ? match->nodes[i] : span.first;
		span.last = match->nodes[i] > span.last ? match->nodes[i] : span.last;
	}
	return span;
}

static bool is_matched(const struct sk_match *match, uint32_t node)
{
	for (size_t i = 0; i < match->rule->pattern.count; i++)
		if (match->nodes[i] == node)
			return true;
	return false;
}

/* True if no node outside the match is on a path between its nodes. In the original graph, all inputs of a node are
 * before it. A replacement, however, needs the inputs of all the nodes that it replaced, so the search ends only before
 * the first such node. */
static bool is_convex(struct rewriting *rewriting)
{
	struct sk_match *match = &rewriting->match;
	struct sk_op_graph *graph = rewriting->graph;
	SK_ARRAY(uint32_t) open = {NULL, 0, 0};
	uint32_t first = span_of(match).first;

	first = first < rewriting->joined ? first : rewriting->joined;
	if (match->rule->pattern.count == 1)
		return true;
	rewriting->search++;
	while (rewriting->seen.count < graph->nodes.count)
		sk_array_push(graph->arena, &rewriting->seen, 0);
	for (size_t i = 0; i < match->rule->pattern.count; i++)
		sk_array_push(graph->arena, &open, match->nodes[i]);
	for (size_t next = 0; next < open.count; next++) {
		const struct sk_graph_node *node = &graph->nodes.items[open.items[next]];

		for (size_t i = 0; i < node->inputs.count; i++) {
			const struct sk_value *value = sk_node_input(graph, node, i);
			uint32_t from = value && !value->contents ? value->node : SK_NONE;

			if (match->steps++ >= match->budget) {
				match->reason = "too many nodes stand between its own";
				return false;
			}
			if (from == SK_NONE || from < first || rewriting->seen.items[from] == rewriting->search)
				continue;
			if (is_matched(match, from)) {
				if (next < match->rule->pattern.count)
					continue;
				match->reason = "something between its nodes depends on them";
				return false;
			}
			rewriting->seen.items[from] = rewriting->search;
			sk_array_push(graph->arena, &open, from);
		}
	}
	return true;
}

/* ---- whether a write stands between nodes of a match ---- */

static bool overwrites(const struct sk_graph_node *node, uint32_t value)
{
	static const char *const ops[] = {"sklink:Assign", "sklink:AssignAdd", NULL};

	return node->inputs.count && node->inputs.items[0] == value && sk_node_is_one_of(node, ops);
}

/* Return the producer of the new state if the value is the old one; SK_NONE: none. */
static uint32_t state_maker(const struct sk_op_graph *graph, uint32_t value)
{
	for (size_t i = 0; i < graph->states.count; i++)
		if (graph->states.items[i].past == value)
			return graph->values.items[graph->states.items[i].present].node;
	return SK_NONE;
}

/* True if the node is between those of the match, and not one of them. */
static bool is_between(const struct sk_match *match, struct span span, uint32_t node)
{
	return node > span.first && node < span.last && !is_matched(match, node);
}

/* True if a node between those of the match overwrites the value. */
static bool is_overwritten(struct rewriting *rewriting, uint32_t value, struct span span)
{
	struct sk_match *match = &rewriting->match;
	uint32_t node = state_maker(rewriting->graph, value);

	if (is_between(match, span, node)) /* false for SK_NONE */
		return true;
	for (uint32_t user = rewriting->assigns ? rewriting->users->first.items[value] : SK_NONE; user != SK_NONE;
	     user = rewriting->users->users.items[user].next) {
		node = rewriting->users->users.items[user].node;
		match->steps++;
		if (!rewriting->graph->nodes.items[node].removed && is_between(match, span, node) &&
		    overwrites(&rewriting->graph->nodes.items[node], value))
			return true;
	}
	return false;
}

/* The replacement reads all inputs at the place of the last node of the match. True if none of them is overwritten
 * before. */
static bool reads_in_time(struct rewriting *rewriting)
{
	struct sk_match *match = &rewriting->match;
	struct sk_op_graph *graph = rewriting->graph;
	const struct span span = span_of(match);

	for (size_t n = 0; n < match->rule->pattern.count; n++) {
		const struct sk_graph_node *node = &graph->nodes.items[match->nodes[n]];

		for (size_t i = 0; i < node->inputs.count; i++) {
			if (node->inputs.items[i] == SK_NONE || !is_overwritten(rewriting, node->inputs.items[i], span))
				continue;
			match->reason = sk_arena_print(graph->arena, "'%s' is written to between its nodes",
						       graph->values.items[node->inputs.items[i]].name);
			return false;
		}
	}
	return true;
}

static bool has_assigns(const struct sk_op_graph *graph)
{
	for (size_t n = 0; n < graph->nodes.count; n++)
		if (graph->nodes.items[n].inputs.count &&
		    overwrites(&graph->nodes.items[n], graph->nodes.items[n].inputs.items[0]))
			return true;
	return false;
}

/* ---- applying ---- */

static void put_in_composite(struct rewriting *rewriting, const char *op, const sk_indices *made)
{
	struct sk_op_graph *graph = rewriting->graph;

	sk_array_push(graph->arena, &graph->composites,
		      (struct sk_composite){.name = sk_composite_names_add(&rewriting->names, op), .expanded = op});
	for (size_t i = 0; i < made->count; i++)
		graph->nodes.items[made->items[i]].composite = (uint32_t)graph->composites.count;
}

/* Place the new nodes after the last node of the pattern, where all their inputs exist. */
static void place_nodes(struct rewriting *rewriting, const sk_indices *made)
{
	const struct span span = span_of(&rewriting->match);
	uint32_t *place = &rewriting->places[span.last];

	if (span.first < span.last && span.first < rewriting->joined)
		rewriting->joined = span.first;
	while (*place != SK_NONE)
		place = &rewriting->followers.items[*place - rewriting->count];
	for (size_t i = 0; i < made->count; i++) {
		*place = made->items[i];
		sk_array_push(rewriting->graph->arena, &rewriting->followers, SK_NONE);
		place = &rewriting->followers.items[made->items[i] - rewriting->count];
	}
}

/* Record a refusal, for --verbose and in the node. */
static void record_refusal(struct rewriting *rewriting, uint32_t anchor)
{
	struct sk_op_graph *graph = rewriting->graph;
	struct sk_graph_node *node = &graph->nodes.items[anchor];
	const struct sk_rule *rule = rewriting->match.rule;
	const char *place = sk_place_text(graph->arena, node->place);
	const char *name = sk_node_name(graph, node);
	const char *reason = rewriting->match.reason ? rewriting->match.reason : "its pattern is not there";
	const struct sk_rule_refusal refusal = {
		sk_arena_print(graph->arena, "%s%snode '%s'", place, *place ? ": " : "", name), reason,
		sk_arena_print(graph->arena, "%s is not %s by rule '%s' at %s: %s", node->op,
			       rewriting->pass->expands ? "expanded" : "fused", rule->name,
			       sk_place_text(graph->arena, rule->place), reason)};

	sk_array_push(graph->arena, &node->refusals, refusal.text);
	sk_array_push(graph->arena, &rewriting->pass->refusals, refusal);
}

static bool apply_at_anchor(struct rewriting *rewriting, const struct sk_rule *rule, uint32_t anchor)
{
	struct sk_op_graph *graph = rewriting->graph;
	const struct sk_graph_node node = graph->nodes.items[anchor];
	sk_indices made = {NULL, 0, 0};

	if (!sk_match_find(&rewriting->match, rule, anchor) || !is_convex(rewriting) || !reads_in_time(rewriting) ||
	    !sk_match_replace(&rewriting->match, rewriting->users, &made)) {
		if (rewriting->pass->expands || rewriting->match.whole)
			record_refusal(rewriting, anchor);
		return false;
	}
	if (rewriting->pass->expands)
		put_in_composite(rewriting, sk_foreign_name(&node) ? sk_foreign_name(&node) : node.op, &made);
	place_nodes(rewriting, &made);
	rewriting->pass->replaced++;
	return true;
}

static void try_rules(struct rewriting *rewriting, uint32_t anchor)
{
	const struct sk_graph_node *node = &rewriting->graph->nodes.items[anchor];
	const char *key = operator_key(rewriting->graph->arena, node->domain, node->op);
	uint32_t entry = sk_map_find(&rewriting->first, key, strlen(key)), counted = SK_NONE;

	if (entry == SK_NONE || (rewriting->pass->wants && !rewriting->pass->wants(rewriting->pass->context, node)))
		return;
	for (bool applied = false; entry != SK_NONE && !applied; entry = rewriting->entries.items[entry].next) {
		uint32_t number = rewriting->entries.items[entry].count;
		struct sk_rule_count *count = &rewriting->pass->counts.items[number];

		applied = apply_at_anchor(rewriting, rewriting->entries.items[entry].rule, anchor);
		/* Patterns that several variants find at a node count as one. */
		if ((applied || rewriting->match.whole) && counted != number) {
			count->found++;
			counted = number;
		}
		count->replaced += applied;
	}
}

/* ---- order ---- */

/* Append the node after the producers of its inputs that are not appended yet. An original node between those of a
 * pattern may use the replacement. */
static void append_in_order(struct sk_op_graph *graph, uint32_t node, uint32_t *numbers, sk_graph_nodes *nodes)
{
	SK_ARRAY(uint32_t) stack = {NULL, 0, 0};

	sk_array_push(graph->arena, &stack, node);
	while (stack.count) {
		uint32_t top = stack.items[stack.count - 1];
		const struct sk_graph_node *one = &graph->nodes.items[top];
		size_t waiting = stack.count;

		for (size_t i = 0; i < one->inputs.count && numbers[top] == SK_NONE; i++) {
			const struct sk_value *value = sk_node_input(graph, one, i);

			if (value && !value->contents && value->node != SK_NONE && numbers[value->node] == SK_NONE)
				sk_array_push(graph->arena, &stack, value->node);
		}
		if (stack.count > waiting)
			continue;
		stack.count--;
		if (numbers[top] != SK_NONE)
			continue;
		numbers[top] = (uint32_t)nodes->count;
		sk_array_push(graph->arena, nodes, *one);
	}
}

static void sort_nodes(struct rewriting *rewriting)
{
	struct sk_op_graph *graph = rewriting->graph;
	uint32_t *numbers = SK_NEW_ARRAY(graph->arena, uint32_t, graph->nodes.count + 1);
	sk_graph_nodes nodes = {NULL, 0, 0};

	memset(numbers, 0xff, graph->nodes.count * sizeof(*numbers));
	for (uint32_t n = 0; n < rewriting->count; n++) {
		if (!graph->nodes.items[n].removed)
			append_in_order(graph, n, numbers, &nodes);
		for (uint32_t new = rewriting->places[n]; new != SK_NONE;
		     new = rewriting->followers.items[new - rewriting->count])
			append_in_order(graph, new, numbers, &nodes);
	}
	for (size_t v = 0; v < graph->values.count; v++)
		if (graph->values.items[v].node != SK_NONE)
			graph->values.items[v].node = numbers[graph->values.items[v].node];
	graph->nodes = nodes;
}

/* Nodes that are known in advance, such as a Shape, use nothing when the network runs. */
static void remove_known(struct sk_op_graph *graph)
{
	for (size_t n = 0; n < graph->nodes.count; n++)
		graph->nodes.items[n].removed |= !sk_node_is_live(graph, &graph->nodes.items[n]);
}

void sk_rules_apply(struct sk_rule_pass *pass)
{
	struct sk_op_graph *graph = pass->graph;
	struct rewriting rewriting = {.pass = pass,
				      .graph = graph,
				      .count = (uint32_t)graph->nodes.count,
				      .joined = SK_NONE,
				      .assigns = has_assigns(graph),
				      .names = sk_composite_names(graph->arena, graph)};

	remove_known(graph);
	sk_map_init(&rewriting.first, graph->arena);
	for (size_t s = 0; s < sizeof(pass->sets) / sizeof(pass->sets[0]) && pass->sets[s]; s++)
		for (size_t r = 0; r < pass->sets[s]->count; r++)
			enter_rule(&rewriting, &pass->sets[s]->items[r]);
	rewriting.users = sk_users_create(graph);
	rewriting.match = (struct sk_match){.graph = graph,
					    .users = rewriting.users,
					    .check = pass->check,
					    .target = pass->target,
					    .limit = rewriting.count};
	rewriting.places = SK_NEW_ARRAY(graph->arena, uint32_t, graph->nodes.count + 1);
	memset(rewriting.places, 0xff, graph->nodes.count * sizeof(*rewriting.places));
	for (uint32_t n = rewriting.count; n--;)
		if (!graph->nodes.items[n].removed)
			try_rules(&rewriting, n);
	pass->steps = rewriting.match.steps;
	if (pass->replaced)
		sort_nodes(&rewriting);
}

void sk_rules_tell(const struct sk_rule_pass *pass)
{
	struct sk_op_graph *graph = pass->graph;

	for (size_t i = 0; i < pass->refusals.count; i++)
		sk_array_push(graph->arena, &graph->told,
			      sk_arena_print(graph->arena, "%s: %s", pass->refusals.items[i].node,
					     pass->refusals.items[i].text));
}
