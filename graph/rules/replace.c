/* Replacements; see rules-parts.h. New nodes are made beside the graph (replacing.c). Only when all of them are
 * accepted do their values replace those of the pattern. */
#include "graph/rules/rules-parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/skplan.h"
#include "graph/graph.h"

/* ---- the graph ---- */

static void rename_value(struct sk_replacing *replacing, uint32_t from, uint32_t to)
{
	for (size_t n = 0; n < replacing->nodes.count; n++) {
		struct sk_graph_node *node = &replacing->nodes.items[n];

		for (size_t i = 0; i < node->inputs.count; i++)
			if (node->inputs.items[i] == from)
				node->inputs.items[i] = to;
		for (size_t i = 0; i < node->outputs.count; i++)
			if (node->outputs.items[i] == from)
				node->outputs.items[i] = to;
	}
}

/* True if the outputs keep their types and shapes. */
static bool fit_outputs(struct sk_replacing *replacing)
{
	struct sk_op_graph *graph = replacing->graph;

	for (size_t i = 0; i < replacing->rule->outputs.count; i++) {
		uint32_t name = replacing->rule->outputs.items[i], old = replacing->match->values[name];
		uint32_t new = replacing->values[name];
		const struct sk_value *is = &graph->values.items[new], *was = &graph->values.items[old];

		if (old == SK_NONE)
			continue;
		if (replacing->rule->single && is->dtype == SK_F32 && sk_replacing_is_half(was->dtype) &&
		    !sk_replacing_cast(replacing, new, was->dtype, "back", &new))
			return false;
		is = &graph->values.items[new];
		was = &graph->values.items[old];
		if (is->dtype != was->dtype || is->rank != was->rank ||
		    (is->rank && memcmp(is->shape, was->shape, is->rank * sizeof(*is->shape))))
			return sk_replacing_refuse(
				replacing, "'%s' would be %s %s, and is %s %s", was->name, sk_dtype_name(is->dtype),
				sk_partial_shape_text(graph->arena, is->rank, is->shape), sk_dtype_name(was->dtype),
				sk_partial_shape_text(graph->arena, was->rank, was->shape));
		rename_value(replacing, new, old);
		replacing->values[name] = new;
	}
	return true;
}

static int compare_numbers(const void *one, const void *other)
{
	uint32_t left = *(const uint32_t *)one, right = *(const uint32_t *)other;

	return left < right ? -1 : left > right;
}

/* Return the reason why the nodes may not replace those of the pattern, which are in the order of the graph. */
static const char *ask(struct sk_replacing *replacing)
{
	const struct sk_match *match = replacing->match;
	struct sk_op_graph *graph = replacing->graph;
	size_t count = replacing->rule->pattern.count;
	sk_graph_nodes replaced = {NULL, 0, 0};
	uint32_t *numbers;

	if (!match->check.ask)
		return NULL;
	numbers = (uint32_t *)sk_arena_copy(graph->arena, (const char *)match->nodes, count * sizeof(*numbers));
	qsort(numbers, count, sizeof(*numbers), compare_numbers);
	for (size_t n = 0; n < count; n++)
		sk_array_push(graph->arena, &replaced, graph->nodes.items[numbers[n]]);
	return match->check.ask(match->check.context, graph, &replaced, &replacing->nodes);
}

/* Append the node; return its number. */
static uint32_t append_node(struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	uint32_t index = (uint32_t)graph->nodes.count;

	for (size_t i = 0; i < node->outputs.count; i++)
		if (node->outputs.items[i] != SK_NONE)
			graph->values.items[node->outputs.items[i]].node = index;
	sk_array_push(graph->arena, &graph->nodes, *node);
	return index;
}

static const char *rule_text(const struct sk_replacing *replacing)
{
	const struct sk_rule *rule = replacing->rule;

	return sk_arena_print(replacing->graph->arena, "'%s' of set '%s' at %s", rule->name,
			      rule->set ? rule->set : "user", sk_place_text(replacing->graph->arena, rule->place));
}

/* Replace the pattern's values. Nothing can fail from here on. */
static void commit(struct sk_replacing *replacing, struct sk_users *users, sk_indices *made)
{
	struct sk_op_graph *graph = replacing->graph;
	const char *text = rule_text(replacing);

	for (size_t i = 0; i < replacing->rule->outputs.count; i++) {
		uint32_t name = replacing->rule->outputs.items[i], old = replacing->match->values[name];

		if (old != SK_NONE)
			sk_graph_redirect(graph, replacing->values[name], old);
	}
	sk_rule_carry_notes(graph, replacing->match->nodes, replacing->rule->pattern.count, &replacing->nodes);
	for (size_t n = 0; n < replacing->rule->pattern.count; n++)
		sk_users_remove(graph, users, replacing->match->nodes[n]);
	for (size_t n = 0; n < replacing->nodes.count; n++) {
		uint32_t index;

		replacing->nodes.items[n].rule = text;
		index = append_node(graph, &replacing->nodes.items[n]);
		sk_users_add(graph, users, index);
		sk_array_push(graph->arena, made, index);
	}
}

bool sk_match_replace(struct sk_match *match, struct sk_users *users, sk_indices *made)
{
	const struct sk_rule *rule = match->rule;
	struct sk_op_graph *graph = match->graph;
	struct sk_replacing replacing = {.match = match, .graph = graph, .rule = rule};

	replacing.anchor = &graph->nodes.items[match->nodes[rule->steps.items[0].node]];
	replacing.values = (uint32_t *)sk_arena_copy(graph->arena, (const char *)match->values,
						     rule->names.count * sizeof(uint32_t));
	if (!sk_replacing_add_lines(&replacing) || !fit_outputs(&replacing))
		return false;
	match->reason = ask(&replacing);
	if (match->reason)
		return false;
	commit(&replacing, users, made);
	return true;
}

bool sk_match_append_lines(struct sk_match *match, const struct sk_rule *rule)
{
	const struct sk_graph_node anchor = {.name = rule->name, .place = rule->place, .op = rule->name, .domain = ""};
	struct sk_replacing replacing = {
		.match = match, .graph = match->graph, .rule = rule, .anchor = &anchor, .values = match->values};

	if (!sk_replacing_add_lines(&replacing))
		return false;
	for (size_t n = 0; n < replacing.nodes.count; n++)
		append_node(match->graph, &replacing.nodes.items[n]);
	return true;
}
