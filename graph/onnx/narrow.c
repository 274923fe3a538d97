/* Uses of constants of types that only files have; see graph.h. These types are not types of sklink, so that only nodes
 * that read the numbers, or move them, may use such a constant. */
#include "graph/onnx/onnx-parts.h"

#include <string.h>

#include "base/diag.h"
#include "base/map.h"
#include "format/skplan.h"
#include "graph/graph.h"

/* True if the operator reads the numbers of that input, whatever type they are stored in. */
static bool reads_numbers(const struct sk_graph_node *node, size_t input)
{
	static const char *const others[] = {"Cast",	"CastLike", "Flatten",	 "Identity",
					     "Reshape", "Squeeze",  "Transpose", "Unsqueeze"};

	if (!strcmp(node->op, "DequantizeLinear"))
		return input <= 2;
	if (!strcmp(node->op, "GatherBlockQuantized"))
		return input == 0 || input == 3;
	for (size_t i = 0; input == 0 && i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(node->op, others[i]))
			return true;
	return false;
}

/* Return the value that an input of a node is, in this graph or in one that encloses it. */
static const struct sk_value *find(const struct sk_op_graph *graph, uint32_t index)
{
	const struct sk_value *value = &graph->values.items[index];

	while (value->node == SK_NONE && !value->contents && !value->input && graph->outer) {
		graph = graph->outer;
		index = sk_map_find(&graph->value_names, value->name, strlen(value->name));
		if (index == SK_NONE)
			break;
		value = &graph->values.items[index];
	}
	return value;
}

static void check_node(struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	for (size_t i = 0; i < node->inputs.count; i++) {
		const struct sk_value *value =
			node->inputs.items[i] == SK_NONE ? NULL : find(graph, node->inputs.items[i]);

		if (value && value->element && !reads_numbers(node, i))
			sk_node_error(graph, node,
				      "'%s' is of type %s, which only DequantizeLinear, Cast, GatherBlockQuantized and "
				      "operators that move elements can read",
				      value->name, sk_narrow_name(value));
	}
	for (size_t i = 0; i < node->graphs.count; i++)
		sk_onnx_check_narrow(node->graphs.items[i].graph);
}

void sk_onnx_check_narrow(struct sk_op_graph *graph)
{
	for (size_t i = 0; i < graph->nodes.count; i++)
		check_node(graph, &graph->nodes.items[i]);
	for (size_t i = 0; i < graph->outputs.count; i++) {
		const struct sk_value *value = find(graph, graph->outputs.items[i]);

		if (value->element)
			sk_error(graph->diag, value->place, "output '%s' is of type %s, which sklink does not have",
				 value->name, sk_narrow_name(value));
	}
}
