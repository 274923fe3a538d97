/* The nodes that outputs need, and the values that nodes read; see graph.h. */
#include "graph/graph.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/skplan.h"

static void mark(bool *marked, const uint32_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (values[i] != SK_NONE)
			marked[values[i]] = true;
}

/* Mark the values of the graph that a body, or one inside it, reads by name. */
static void mark_captured(const struct sk_op_graph *graph, bool *marked, const struct sk_op_graph *body)
{
	for (size_t v = 0; v < body->values.count; v++) {
		const struct sk_value *value = &body->values.items[v];
		uint32_t outer = value->view_of;

		if (value->node != SK_NONE || value->contents || value->input)
			continue;
		if (outer == SK_NONE)
			outer = sk_map_find(&graph->value_names, value->name, strlen(value->name));
		mark(marked, &outer, 1);
	}
	for (size_t n = 0; n < body->nodes.count; n++)
		for (size_t g = 0; g < body->nodes.items[n].graphs.count; g++)
			mark_captured(graph, marked, body->nodes.items[n].graphs.items[g].graph);
}

/* Return the name of the branch of an If that is never taken, since its condition is a constant; "": there is none. */
static const char *idle_branch(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	const struct sk_value *condition = sk_node_is(node, "If") ? sk_node_input(graph, node, 0) : NULL;

	if (!condition || !condition->contents || condition->dtype != SK_BOOL || !sk_value_is_static(condition) ||
	    sk_value_elements(condition) != 1)
		return "";
	return *(const uint8_t *)condition->contents ? "else_branch" : "then_branch";
}

static void mark_operands(const struct sk_op_graph *graph, bool *marked, const struct sk_graph_node *node,
			  const char *idle)
{

	mark(marked, node->inputs.items, node->inputs.count);
	for (size_t g = 0; g < node->graphs.count; g++)
		if (strcmp(node->graphs.items[g].name, idle) != 0)
			mark_captured(graph, marked, node->graphs.items[g].graph);
}

bool *sk_graph_find_used(const struct sk_op_graph *graph)
{
	bool *used = SK_NEW_ARRAY(graph->arena, bool, graph->values.count + 1);

	mark(used, graph->outputs.items, graph->outputs.count);
	for (size_t i = 0; i < graph->states.count; i++)
		mark(used, &graph->states.items[i].past, 1);
	for (size_t n = 0; n < graph->nodes.count; n++)
		if (!graph->nodes.items[n].removed)
			mark_operands(graph, used, &graph->nodes.items[n], idle_branch(graph, &graph->nodes.items[n]));
	return used;
}

void sk_graph_drop_unneeded(struct sk_op_graph *graph)
{
	bool *needed = SK_NEW_ARRAY(graph->arena, bool, graph->values.count + 1);
	bool *kept = SK_NEW_ARRAY(graph->arena, bool, graph->nodes.count + 1);
	uint32_t *moved = SK_NEW_ARRAY(graph->arena, uint32_t, graph->nodes.count + 1), count = 0;

	mark(needed, graph->outputs.items, graph->outputs.count);
	for (size_t n = graph->nodes.count; n--;) {
		const struct sk_graph_node *node = &graph->nodes.items[n];

		for (size_t i = 0; i < node->outputs.count; i++)
			kept[n] |= node->outputs.items[i] != SK_NONE && needed[node->outputs.items[i]];
		if (kept[n])
			mark_operands(graph, needed, node, "");
	}
	for (uint32_t n = 0; n < graph->nodes.count; n++) {
		moved[n] = kept[n] ? count : SK_NONE;
		if (kept[n])
			graph->nodes.items[count++] = graph->nodes.items[n];
		else if (graph->nodes.items[n].scope && *graph->nodes.items[n].scope)
			sk_array_push(graph->arena, &graph->scopes, graph->nodes.items[n].scope);
	}
	graph->nodes.count = count;
	for (size_t v = 0; v < graph->values.count; v++)
		if (graph->values.items[v].node != SK_NONE)
			graph->values.items[v].node = moved[graph->values.items[v].node];
}
