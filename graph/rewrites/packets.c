/* shape_reshape, shape_reshape_2 and the kernel packet: nodes that compute sizes from sizes become part of the node
 * that needs their elements. In a graph with bounds of dimensions, the elements of such a value are expressions; the
 * node that makes it becomes a list of them (Sizes), and nodes that nothing else needs are removed. Without bounds
 * sizes are constants, and there is nothing to do. */
#include <inttypes.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"
#include "graph/operators/operators.h"
#include "graph/rewrites/rewrites.h"

/* Return "[batch, seq, 64]" for a list of sizes. */
static const char *list_text(const struct sk_op_graph *graph, const struct sk_graph_node *list)
{
	const struct sk_attribute *texts = sk_node_attribute(list, "expressions");
	const char *text = "[";

	for (size_t i = 0; i < texts->count; i++)
		text = sk_arena_print(graph->arena, "%s%s%s", text, i ? ", " : "", texts->strings[i]);
	return sk_arena_print(graph->arena, "%s]", text);
}

/* True if a node reads the value as data, and not only to decide on a shape. A node with bodies could. */
static bool reads_data(const struct sk_graph_node *node, uint32_t value)
{
	const struct sk_schema *schema = sk_schema_find(node->domain, node->op);

	for (size_t i = 0; i < node->inputs.count; i++)
		if (node->inputs.items[i] == value && (!schema || i >= 32 || !(schema->demands >> i & 1)))
			return true;
	return node->graphs.count;
}

/* True if calls read the value, or a run returns it. */
static bool is_data(const struct sk_op_graph *graph, uint32_t value)
{
	bool data = graph->values.items[value].output;

	for (size_t n = 0; n < graph->nodes.count && !data; n++)
		data = sk_node_is_live(graph, &graph->nodes.items[n]) && reads_data(&graph->nodes.items[n], value);
	return data;
}

/* Make the producer of the input a list of sizes, as part of the node `into`. False if it is none. */
static bool pack(struct sk_op_graph *graph, const struct sk_graph_node *node, size_t input, const char *into)
{
	const struct sk_value *value = sk_node_input(graph, node, input);
	const struct sk_graph_node *producer;

	if (!value || value->node == SK_NONE)
		return false;
	producer = &graph->nodes.items[value->node];
	if (!sk_symbolic_lists(graph, producer) && is_data(graph, node->inputs.items[input]))
		return false; /* a call can write numbers that are not negative */
	if (!sk_size_list_make(graph, node->inputs.items[input]))
		return false;
	sk_array_push(graph->arena, &graph->told,
		      sk_arena_print(graph->arena, "%s: node '%s': %s is %s, with '%s' as %s", graph->file,
				     sk_node_name(graph, node), node->op, into, value->name,
				     list_text(graph, producer)));
	return true;
}

/* ---- shape_reshape ---- */

/* A tuple of scalars has become a Concat of them. */
static enum sk_pass_result pack_shapes(struct sk_op_graph *graph, bool tuples)
{
	bool changed = false;

	for (size_t n = 0; n < graph->nodes.count && graph->sizes; n++) {
		const struct sk_graph_node *node = &graph->nodes.items[n];
		const struct sk_value *shape = sk_node_input(graph, node, 1);

		if (sk_node_is_live(graph, node) && sk_node_is(node, "Reshape") && shape && shape->node != SK_NONE &&
		    sk_node_is(&graph->nodes.items[shape->node], "Concat") == tuples)
			changed |= pack(graph, node, 1, "ReshapeExt");
	}
	return changed ? SK_PASS_CHANGED : SK_PASS_UNCHANGED;
}

enum sk_pass_result sk_pass_shape_reshape(struct sk_op_graph *graph, const struct sk_fusion_flags *flags)
{
	(void)flags;
	return pack_shapes(graph, true);
}

enum sk_pass_result sk_pass_shape_reshape_2(struct sk_op_graph *graph, const struct sk_fusion_flags *flags)
{
	(void)flags;
	return pack_shapes(graph, false);
}

/* ---- the kernel packet ---- */

static size_t count_outputs(const struct sk_graph_node *node)
{
	size_t count = 0;

	for (size_t i = 0; i < node->outputs.count; i++)
		count += node->outputs.items[i] != SK_NONE;
	return count;
}

/* The elements of these inputs decide on the shape of the output. */
static bool pack_node(struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	const struct sk_schema *schema = sk_schema_find(node->domain, node->op);
	bool changed = false;

	for (size_t i = 0; schema && i < node->inputs.count && i < 32; i++)
		if (schema->demands >> i & 1)
			changed |= pack(graph, node, i, sk_arena_print(graph->arena, "%s_packet", node->op));
	return changed;
}

enum sk_pass_result sk_pass_symbol_engine_extender(struct sk_op_graph *graph, const struct sk_fusion_flags *flags)
{
	const struct sk_op_list *list = graph->sizes ? sk_valid_ops(graph->arena, flags, SK_LIST_PACKET) : NULL;
	bool changed = false;

	for (size_t n = 0; n < graph->nodes.count && list; n++) {
		const struct sk_graph_node *node = &graph->nodes.items[n];

		if (sk_node_is_live(graph, node) && count_outputs(node) == 1 && sk_op_list_has(list, node))
			changed |= pack_node(graph, node);
	}
	return changed ? SK_PASS_CHANGED : SK_PASS_UNCHANGED;
}
