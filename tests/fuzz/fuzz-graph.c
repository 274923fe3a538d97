/* The promises of a graph; see fuzz-graph.h. */
#include "tests/fuzz/fuzz-graph.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <string.h>

static void check_value(const struct sk_op_graph *graph, const struct sk_value *value, uint32_t index)
{
	uint64_t bytes = sk_dtype_size(value->dtype);
	volatile uint8_t sum = 0;

	fuzz_promise(sk_map_find(&graph->value_names, value->name, strlen(value->name)) == index,
		     "a value has a name that leads to it");
	fuzz_promise(value->rank <= SK_MAX_RANK && value->dtype < SK_DTYPE_COUNT, "a value has a rank and a type");
	fuzz_promise(value->node == SK_NONE || (value->node < graph->nodes.count && !value->contents && !value->input),
		     "a value is an input, a constant or made by a node");
	if (!value->contents)
		return;
	fuzz_promise(sk_value_is_static(value), "a constant is static");
	for (uint32_t i = 0; i < value->rank; i++)
		fuzz_promise(!value->shape[i] || value->shape[i] <= INT64_MAX, "dimensions are numbers");
	bytes *= sk_value_elements(value);
	for (uint64_t i = 0; i < bytes; i++)
		sum ^= ((const uint8_t *)value->contents)[i];
}

/* Producers stand in front of users. */
static void check_operands(const struct sk_op_graph *graph, const struct sk_graph_node *node, uint32_t number)
{
	for (size_t i = 0; i < node->inputs.count; i++) {
		const struct sk_value *value = sk_node_input(graph, node, i);

		fuzz_promise(!value || value->node == SK_NONE || value->node < number,
			     "a node's inputs are made before it");
	}
	for (size_t i = 0; i < node->outputs.count; i++) {
		const struct sk_value *value = sk_node_output(graph, node, i);

		fuzz_promise(!value || value->node == number, "a node's outputs are made by it");
	}
}

static void check_node(const struct sk_op_graph *graph, const struct sk_graph_node *node, uint32_t number)
{
	fuzz_promise(node->op && *node->op && node->domain && node->name && node->version >= 1,
		     "a node has an operator of a version");
	fuzz_promise(node->outputs.count > 0, "a node has outputs");
	check_operands(graph, node, number);
	for (size_t i = 0; i < node->attributes.count; i++)
		fuzz_promise(sk_node_attribute(node, node->attributes.items[i].name) == &node->attributes.items[i],
			     "a node has each attribute once");
	for (size_t i = 0; i < node->tensors.count; i++)
		fuzz_promise(graph->values.items[node->tensors.items[i].value].contents != NULL,
			     "an attribute that is a tensor is a constant");
	for (size_t i = 0; i < node->graphs.count; i++) {
		fuzz_promise(node->graphs.items[i].graph->outer == graph, "a body knows the graph around it");
		fuzz_graph(node->graphs.items[i].graph);
	}
}

void fuzz_graph(const struct sk_op_graph *graph)
{
	for (uint32_t i = 0; i < graph->values.count; i++)
		check_value(graph, &graph->values.items[i], i);
	for (uint32_t i = 0; i < graph->nodes.count; i++)
		check_node(graph, &graph->nodes.items[i], i);
	for (size_t i = 0; i < graph->inputs.count; i++)
		fuzz_promise(graph->values.items[graph->inputs.items[i]].input, "inputs are inputs");
	for (size_t i = 0; i < graph->outputs.count; i++)
		fuzz_promise(graph->values.items[graph->outputs.items[i]].output, "outputs are outputs");
}
