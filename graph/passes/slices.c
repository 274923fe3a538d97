/* Slices; see passes.h. A value may become a view of another one because only its producer writes it, and nothing else
 * writes the bytes that a Concat would copy it to. All readers of the value then read those bytes. */
#include "graph/passes/passes.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "graph/graph.h"

/* The most views between a part and the bytes of its root. The limit keeps lookups short, since each call follows
 * them. */
enum { MOST_NESTED = 500 };

struct placing {
	struct sk_op_graph *graph;
	sk_graph_calls *calls;
	uint32_t *first, *next; /* by node: its first call that writes an output; by call: the next one */
	uint32_t *heights; /* by value: the depth of parts within parts that are placed in it */
	bool *placed; /* by call: nothing is left to copy */
};

static struct sk_value *value_at(const struct placing *placing, uint32_t index)
{
	return &placing->graph->values.items[index];
}

/* True if the call writes the result of its node. A state is copied by one more call, which does not count. */
static bool makes_output(const struct sk_op_graph *graph, const struct sk_graph_call *call)
{
	const struct sk_graph_node *node = &graph->nodes.items[call->node];

	for (size_t i = 0; i < node->outputs.count; i++)
		if (call->outputs.count && call->outputs.items[0].value == node->outputs.items[i])
			return true;
	return false;
}

static void find_calls(struct placing *placing)
{
	const struct sk_op_graph *graph = placing->graph;

	placing->first = SK_NEW_ARRAY(graph->arena, uint32_t, graph->nodes.count + 1);
	placing->next = SK_NEW_ARRAY(graph->arena, uint32_t, placing->calls->count + 1);
	placing->heights = SK_NEW_ARRAY(graph->arena, uint32_t, graph->values.count + 1);
	placing->placed = SK_NEW_ARRAY(graph->arena, bool, placing->calls->count + 1);
	memset(placing->first, 0xff, (graph->nodes.count + 1) * sizeof(uint32_t));
	for (uint32_t c = (uint32_t)placing->calls->count; c--;) {
		const struct sk_graph_call *call = &placing->calls->items[c];

		if (!makes_output(graph, call))
			continue;
		placing->next[c] = placing->first[call->node];
		placing->first[call->node] = c;
	}
}

/* Return the reason why the source of a copy cannot be computed in place; NULL: it can. */
static const char *copy_reason(const struct placing *placing, const struct sk_graph_call *call)
{
	const struct sk_operand *from = &call->inputs.items[0], *to = &call->outputs.items[0];
	uint32_t root = sk_value_root(placing->graph, from->value);
	const struct sk_value *value = value_at(placing, root);

	if (strcmp(call->op, "Copy") || call->attributes.count || to->stride)
		return "its elements are not contiguous";
	if (value->contents)
		return "it is a constant";
	if (value->once)
		return "it is computed once, and not in each run";
	if (value->input)
		return "it is an input of the network";
	if (value->output)
		return "it is also an output of the network";
	if (root == sk_value_root(placing->graph, to->value))
		return "it is another part of the same bytes already";
	if (sk_operand_elements(from) != sk_value_elements(value))
		return "it is a part of a larger value";
	if (placing->heights[root] >= MOST_NESTED)
		return "it has too many parts within parts";
	return NULL;
}

static void refuse_slice(const struct placing *placing, uint32_t number, uint32_t value, const char *reason)
{
	struct sk_graph_node *node = &placing->graph->nodes.items[number];

	sk_array_push(placing->graph->arena, &node->refusals,
		      sk_arena_print(placing->graph->arena, "%s copies '%s': %s", node->op,
				     value_at(placing, value)->name, reason));
}

static void place_slice(struct placing *placing, uint32_t c)
{
	const struct sk_graph_call *call = &placing->calls->items[c];
	uint32_t root = sk_value_root(placing->graph, call->inputs.items[0].value);
	struct sk_value *value = value_at(placing, root);

	if (placing->heights[call->outputs.items[0].value] <= placing->heights[root])
		placing->heights[call->outputs.items[0].value] = placing->heights[root] + 1;
	value->view_of = call->outputs.items[0].value;
	value->view_offset = call->outputs.items[0].offset;
	placing->placed[c] = true;
}

/* Place all inputs, unless one must be copied and the node is all or nothing. */
static void join_inputs(struct placing *placing, uint32_t number)
{
	const struct sk_graph_node *node = &placing->graph->nodes.items[number];
	bool all = node->slices == SK_SLICES_ALL;

	for (uint32_t c = placing->first[number]; c != SK_NONE && all; c = placing->next[c]) {
		const char *reason = copy_reason(placing, &placing->calls->items[c]);

		if (!reason)
			continue;
		refuse_slice(placing, number, placing->calls->items[c].inputs.items[0].value, reason);
		return;
	}
	for (uint32_t c = placing->first[number]; c != SK_NONE; c = placing->next[c]) {
		const char *reason = copy_reason(placing, &placing->calls->items[c]);

		if (reason)
			refuse_slice(placing, number, placing->calls->items[c].inputs.items[0].value, reason);
		else
			place_slice(placing, c);
	}
}

/* The remaining calls of a Split copy the parts that cannot be views. */
static void explain_split(struct placing *placing, uint32_t number)
{
	for (uint32_t c = placing->first[number]; c != SK_NONE; c = placing->next[c]) {
		uint32_t value = placing->calls->items[c].outputs.items[0].value;

		refuse_slice(placing, number, value,
			     value_at(placing, value)->output ? "it is an output of the network"
							      : "its elements are not contiguous");
	}
}

static bool has_call(const struct placing *placing, uint32_t number)
{
	for (uint32_t c = placing->first[number]; c != SK_NONE; c = placing->next[c])
		if (!placing->placed[c])
			return true;
	return false;
}

/* Note GE's attributes of such nodes. */
static void note(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	bool split = sk_node_is(node, "Split");

	node->no_task = true;
	sk_node_set_note(graph, node, "_no_task", 1);
	sk_node_set_note(graph, node, split ? "_no_padding_continuous_output" : "_no_padding_continuous_input", 1);
	sk_node_set_note(graph, node, "_output_reuse_input", 1);
	sk_node_set_note(graph, node, "_reuse_input_on_dim_index", 0);
}

/* True if one of the parts is a view of the split value, or of the joined one. */
static bool has_slice(const struct sk_op_graph *graph, const struct sk_graph_node *node, bool split)
{
	size_t count = split ? node->outputs.count : node->inputs.count;
	uint32_t whole = sk_value_root(graph, split ? node->inputs.items[0] : node->outputs.items[0]);

	for (size_t i = 0; i < count; i++) {
		uint32_t part = split ? node->outputs.items[i] : node->inputs.items[i];

		if (part != SK_NONE && sk_value_elements(&graph->values.items[part]) &&
		    sk_value_root(graph, part) == whole)
			return true;
	}
	return false;
}

static bool visit_node(struct placing *placing, uint32_t number)
{
	struct sk_op_graph *graph = placing->graph;
	struct sk_graph_node *node = &graph->nodes.items[number];
	bool split = sk_node_is(node, "Split"), joins = sk_node_is(node, "Concat");

	if ((!split && !joins) || !sk_node_is_live(graph, node))
		return false;
	if (node->slices == SK_SLICES_OFF)
		sk_array_push(graph->arena, &node->refusals,
			      sk_arena_print(graph->arena, "%s has a task: FusionVirtualOpSetSwitch is off", node->op));
	if (node->slices < SK_SLICES_ALL)
		return false;
	if (joins)
		join_inputs(placing, number);
	else
		explain_split(placing, number);
	if (has_call(placing, number) || !has_slice(graph, node, split))
		return false;
	note(graph, node);
	return true;
}

bool sk_graph_place_slices(struct sk_op_graph *graph, sk_graph_calls *calls)
{
	struct placing placing = {.graph = graph, .calls = calls};
	bool found = false;
	size_t kept = 0;

	find_calls(&placing);
	for (uint32_t n = 0; n < graph->nodes.count; n++)
		found |= visit_node(&placing, n);
	for (size_t c = 0; c < calls->count; c++)
		if (!placing.placed[c])
			calls->items[kept++] = calls->items[c];
	calls->count = kept;
	return found;
}
