/* Nodes that replace others; see operators-parts.h. */
#include "graph/operators/operators-parts.h"

#include "base/arena.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

bool sk_expansion_refuse(const struct sk_expansion *expansion, const char *reason)
{
	sk_node_error(expansion->graph, expansion->node, "%s", reason);
	return false;
}

struct sk_graph_node *sk_expansion_node(const struct sk_expansion *expansion, const char *op, uint32_t input,
					uint32_t output)
{
	const struct sk_graph_node *owner = expansion->node;
	struct sk_arena *arena = expansion->graph->arena;
	struct sk_graph_node node = {.name = "",
				     .place = owner->place,
				     .op = op,
				     .domain = "",
				     .origin = owner->op,
				     .version = SK_NEWEST,
				     .stream = owner->stream,
				     .cube_cores = owner->cube_cores,
				     .vector_cores = owner->vector_cores,
				     .scope = owner->scope,
				     .scope_options = owner->scope_options};

	sk_array_push(arena, &node.inputs, input);
	sk_array_push(arena, &node.outputs, output);
	sk_array_push(arena, expansion->nodes, node);
	return &expansion->nodes->items[expansion->nodes->count - 1];
}

uint32_t sk_expansion_value(const struct sk_expansion *expansion)
{
	struct sk_op_graph *graph = expansion->graph;
	uint32_t value = sk_graph_new_value(graph, sk_node_name(graph, expansion->node), SK_DTYPE_NONE, 0, NULL);

	graph->values.items[value].shaped = false;
	return value;
}

uint32_t sk_expansion_binary(const struct sk_expansion *expansion, const char *op, uint32_t a, uint32_t b)
{
	uint32_t output = sk_expansion_value(expansion);
	struct sk_graph_node *node = sk_expansion_node(expansion, op, a, output);

	sk_array_push(expansion->graph->arena, &node->inputs, b);
	return output;
}

void sk_expansion_concat(const struct sk_expansion *expansion, const sk_graph_sequence *tensors, int64_t axis,
			 bool stacked, uint32_t output)
{
	struct sk_op_graph *graph = expansion->graph;
	uint32_t axes = sk_graph_new_integers(graph, sk_node_name(graph, expansion->node), 1, &axis);
	sk_graph_sequence pieces = {NULL, 0, 0};
	struct sk_graph_node *node;

	for (size_t i = 0; i < tensors->count; i++)
		sk_array_push(graph->arena, &pieces,
			      stacked ? sk_expansion_binary(expansion, "Unsqueeze", tensors->items[i], axes)
				      : tensors->items[i]);
	node = sk_expansion_node(expansion, "Concat", pieces.items[0], output);
	for (size_t i = 1; i < pieces.count; i++)
		sk_array_push(graph->arena, &node->inputs, pieces.items[i]);
	sk_node_set_integer(graph, node, "axis", axis);
}
