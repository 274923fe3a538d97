/* From nodes to canonical calls; see passes.h. */
#include "graph/passes/passes.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

/* Replace value i by values[i] unless that is SK_NONE. */
static void replace_values(uint32_t *items, size_t count, const uint32_t *values)
{
	for (size_t i = 0; i < count; i++)
		if (items[i] != SK_NONE && values[items[i]] != SK_NONE)
			items[i] = values[items[i]];
}

void sk_graph_keep_outputs(struct sk_op_graph *graph)
{
	size_t values = graph->values.count, nodes = graph->nodes.count;
	uint32_t *constants = SK_NEW_ARRAY(graph->arena, uint32_t, values + 1);

	memset(constants, 0xff, (values + 1) * sizeof(*constants));
	for (size_t i = 0; i < graph->outputs.count; i++) {
		uint32_t index = graph->outputs.items[i], constant;
		struct sk_value value = graph->values.items[index];
		struct sk_graph_node *node;
		const struct sk_graph_node *maker;

		if (constants[index] != SK_NONE || (!value.contents && !value.fixed))
			continue;
		constant = sk_graph_new_value(graph, value.name, value.dtype, value.rank, value.shape);
		constants[index] = constant;
		sk_graph_redirect(graph, index, constant);
		graph->values.items[constant].node = value.node;
		graph->values.items[index].contents = NULL;
		graph->values.items[index].fixed = false;
		graph->values.items[index].node = (uint32_t)graph->nodes.count;
		node = sk_graph_add_node(graph, "Identity");
		node->version = SK_NEWEST;
		if (value.node != SK_NONE && !value.contents) {
			maker = &graph->nodes.items[value.node];
			node->scope = maker->scope;
			node->stream = maker->stream;
			node->cube_cores = maker->cube_cores;
			node->vector_cores = maker->vector_cores;
		}
		sk_array_push(graph->arena, &node->inputs, constant);
		sk_array_push(graph->arena, &node->outputs, index);
	}
	for (size_t n = 0; n < nodes; n++) {
		replace_values(graph->nodes.items[n].inputs.items, graph->nodes.items[n].inputs.count, constants);
		replace_values(graph->nodes.items[n].outputs.items, graph->nodes.items[n].outputs.count, constants);
	}
}

/* True if the call of the node has no operand for the input: its numbers are in the call, or in shapes. Of a Range only
 * the limit is. */
static bool is_number(const struct sk_op_graph *graph, const struct sk_graph_node *node, size_t input)
{
	const struct sk_schema *schema = sk_schema_find(node->domain, node->op);

	return schema && input < 32 && schema->demands >> input & 1 && sk_node_input(graph, node, input)->known &&
	       (input == 1 || !sk_node_is(node, "Range"));
}

/* Mark the nodes that the wanted values depend on; constants depend on none. Producers are before users. */
static bool *mark_needed(const struct sk_op_graph *graph, const uint32_t *wanted, size_t count)
{
	bool *needed = SK_NEW_ARRAY(graph->arena, bool, graph->nodes.count + 1);

	for (size_t i = 0; i < count; i++)
		if (graph->values.items[wanted[i]].node != SK_NONE && !graph->values.items[wanted[i]].contents)
			needed[graph->values.items[wanted[i]].node] = true;
	for (size_t n = graph->nodes.count; n--;) {
		const struct sk_graph_node *node = &graph->nodes.items[n];

		for (size_t i = 0; i < node->inputs.count && needed[n] && !sk_symbolic_lists(graph, node); i++) {
			const struct sk_value *value = sk_node_input(graph, node, i);

			if (value && value->node != SK_NONE && !value->contents && !is_number(graph, node, i))
				needed[value->node] = true;
		}
	}
	return needed;
}

/* A node without elements has nothing to compute. */
static bool has_elements(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	for (size_t i = 0; i < node->outputs.count; i++) {
		const struct sk_value *value = sk_node_output(graph, node, i);

		if (value && !value->contents && sk_value_elements(value))
			return true;
	}
	return false;
}

bool sk_graph_canonical(struct sk_op_graph *graph, const uint32_t *wanted, size_t count, sk_graph_calls *calls)
{
	const bool *needed = mark_needed(graph, wanted, count);
	size_t nodes = graph->nodes.count;
	unsigned errors = graph->diag->errors;

	for (uint32_t i = 0; i < nodes; i++) {
		const struct sk_graph_node *node = &graph->nodes.items[i];
		const struct sk_schema *schema;

		if (!needed[i] || node->removed || !has_elements(graph, node))
			continue;
		if (sk_symbolic_lists(graph, node)) {
			sk_symbolic_list(&(struct sk_canonical){graph, i, calls, NULL});
			continue;
		}
		schema = sk_schema_find(node->domain, node->op);
		schema->canonical(&(struct sk_canonical){graph, i, calls, schema->attributes});
	}
	return graph->diag->errors == errors;
}
