/* Normalised convolutions; see passes.h. They occur in graphs of exporters that do not optimise. */
#include "graph/passes/passes.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/skplan.h"
#include "graph/graph.h"

static bool is_constant(const struct sk_value *value)
{
	return value && (value->contents || value->fixed) && value->dtype == SK_F32 && sk_value_is_static(value);
}

/* True if the result depends on the first input alone. */
static bool is_known(const struct sk_op_graph *graph, const struct sk_graph_node *node, size_t inputs)
{
	for (size_t i = 1; i < inputs; i++)
		if (!is_constant(sk_node_input(graph, node, i)))
			return false;
	return true;
}

/* Return the convolution that only this node uses; NULL: there is none. */
static struct sk_graph_node *find_convolution(const struct sk_op_graph *graph, const struct sk_graph_node *node,
					      const uint32_t *uses)
{
	const struct sk_value *x = sk_node_input(graph, node, 0), *y = sk_node_output(graph, node, 0);
	struct sk_graph_node *convolution;

	if (!y || !sk_value_is_static(y) || y->dtype != SK_F32 || !x || x->output || x->contents ||
	    x->node == SK_NONE || uses[node->inputs.items[0]] != 1)
		return NULL;
	if (sk_node_integer(node, "training_mode", 0) || !sk_node_integer(node, "spatial", 1) ||
	    !is_known(graph, node, 5))
		return NULL;
	convolution = &graph->nodes.items[x->node];
	if (convolution->removed || strcmp(convolution->op, "Conv") || *convolution->domain ||
	    convolution->inputs.count > 3 || !sk_node_same_scope(convolution, node))
		return NULL;
	return is_known(graph, convolution, sk_node_input(graph, convolution, 2) ? 3 : 2) ? convolution : NULL;
}

/* Turn the normalising node into the whole convolution, under the convolution's name. */
static void join_convolution(struct sk_op_graph *graph, struct sk_graph_node *node, struct sk_graph_node *convolution)
{
	const struct sk_graph_node statistics = *node;
	const struct sk_attribute *epsilon = sk_node_attribute(&statistics, "epsilon");

	node->name = convolution->name;
	node->place = convolution->place;
	node->op = convolution->op;
	node->origin = convolution->origin;
	node->rule = convolution->rule;
	node->composite = node->composite == convolution->composite ? node->composite : 0;
	node->inputs = convolution->inputs;
	node->attributes = convolution->attributes;
	if (node->inputs.count < 3)
		sk_array_push(graph->arena, &node->inputs, SK_NONE);
	for (size_t i = 1; i < 5; i++)
		sk_array_push(graph->arena, &node->inputs, statistics.inputs.items[i]);
	if (epsilon)
		sk_array_push(graph->arena, &node->attributes, *epsilon);
	convolution->removed = true;
}

void sk_graph_normalise(struct sk_op_graph *graph)
{
	const uint32_t *uses = sk_graph_count_uses(graph);

	for (size_t i = 0; i < graph->nodes.count; i++) {
		struct sk_graph_node *node = &graph->nodes.items[i], *convolution;

		if (node->removed || strcmp(node->op, "BatchNormalization") || *node->domain)
			continue;
		convolution = find_convolution(graph, node, uses);
		if (convolution)
			join_convolution(graph, node, convolution);
	}
}
