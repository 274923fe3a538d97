/* From groups of nodes to composites; see composites.h. */
#include "graph/composites/composites.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"

enum { MOST_NAMED = 16 /* operators in a name, so that it stays readable */ };

/* A composite to be made. */
struct draft {
	uint32_t old; /* the former composite of all members so far, plus 1; 0: none */
	bool mixed; /* its members come from different composites */
	uint32_t count, named;
	const char *operators; /* "Mul_Add_" */
};

typedef SK_ARRAY(struct draft) drafts;

/* Return the name of a member: its operator's in the source. The nodes of an expanded operator have that one's name
 * together, if they stay together: NULL after the first of them. */
static const char *name_of_member(const struct sk_op_graph *graph, const struct sk_graph_node *node, bool first)
{
	const char *foreign = sk_foreign_name(node);
	const char *expanded = node->composite ? graph->composites.items[node->composite - 1].expanded : NULL;

	return !expanded ? foreign ? foreign : node->op : first ? expanded : NULL;
}

/* `named` says by former composite whether its operator is in the name. Pieces have the names of their own nodes. */
static void add_member(struct sk_op_graph *graph, struct draft *draft, const struct sk_graph_node *node, bool *named)
{
	const char *name = named ? name_of_member(graph, node, !named[node->composite]) : node->op;

	if (named)
		named[node->composite] = true;
	if (draft->count++ && draft->old != node->composite)
		draft->mixed = true;
	draft->old = node->composite;
	if (name && draft->named++ < MOST_NAMED)
		draft->operators = sk_arena_print(graph->arena, "%s%s_", draft->operators, name);
}

/* Count the members by former composite plus 1. */
static const uint32_t *count_members(const struct sk_op_graph *graph)
{
	uint32_t *counts = SK_NEW_ARRAY(graph->arena, uint32_t, graph->composites.count + 1);

	for (size_t n = 0; n < graph->nodes.count; n++)
		if (!graph->nodes.items[n].removed)
			counts[graph->nodes.items[n].composite]++;
	return counts;
}

/* Members are in the order of the graph, and composites in the order of their first members. */
static bool collect_composites(struct sk_op_graph *graph, const uint32_t *groups, bool pieces, drafts *found)
{
	uint32_t *numbers = SK_NEW_ARRAY(graph->arena, uint32_t, graph->nodes.count + 1);
	bool *named = pieces ? NULL : SK_NEW_ARRAY(graph->arena, bool, graph->composites.count + 1);
	bool changed = false;

	for (size_t n = 0; n < graph->nodes.count; n++) {
		struct sk_graph_node *node = &graph->nodes.items[n];

		if (groups[n] == SK_NONE || node->removed) {
			changed |= !node->removed && node->composite;
			node->composite = 0;
			continue;
		}
		if (!numbers[groups[n]]) {
			sk_array_push(graph->arena, found, (struct draft){.operators = ""});
			numbers[groups[n]] = (uint32_t)found->count;
		}
		add_member(graph, &found->items[numbers[groups[n]] - 1], node, named);
		node->composite = numbers[groups[n]];
	}
	return changed;
}

enum sk_pass_result sk_composites_assign(struct sk_op_graph *graph, const uint32_t *groups, const char *ending)
{
	const uint32_t *counts = count_members(graph);
	const struct sk_composite *before = graph->composites.items;
	drafts found = {NULL, 0, 0};
	bool changed = collect_composites(graph, groups, !strcmp(ending, "split"), &found);
	struct sk_composite_names names = sk_composite_names(graph->arena, NULL);

	graph->composites.items = NULL;
	graph->composites.count = graph->composites.capacity = 0;
	for (size_t i = 0; i < found.count; i++) {
		const struct draft *draft = &found.items[i];
		bool same = draft->old && !draft->mixed && counts[draft->old] == draft->count;
		struct sk_composite composite = {NULL, NULL};

		if (same)
			composite = before[draft->old - 1];
		if (same)
			composite.name = sk_composite_names_add(&names, composite.name);
		sk_array_push(graph->arena, &graph->composites, composite);
	}
	for (size_t i = 0; i < found.count; i++) {
		struct sk_composite *composite = &graph->composites.items[i];

		if (composite->name)
			continue;
		changed = true;
		composite->name =
			sk_composite_names_add(&names, sk_arena_join(graph->arena, found.items[i].operators, ending));
	}
	return changed ? SK_PASS_CHANGED : SK_PASS_UNCHANGED;
}
