/* Bodies as nodes; see operators-parts.h. */
#include "graph/operators/operators-parts.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "graph/graph.h"

/* A body that becomes nodes of a graph. */
struct inlining {
	const struct sk_expansion *expansion;
	struct sk_op_graph *graph;
	const struct sk_op_graph *body;
	const char *prefix; /* of the new names */
	uint32_t *values; /* by value of the body: a value of the graph */
};

static bool is_captured(const struct sk_value *value)
{
	return value->node == SK_NONE && !value->contents && !value->input;
}

/* Return the captured value, found by name, unless an inlined outer body has already determined it. */
static uint32_t captured(const struct sk_op_graph *graph, const struct sk_value *value)
{
	return value->view_of != SK_NONE ? value->view_of
					 : sk_map_find(&graph->value_names, value->name, strlen(value->name));
}

static void *copy_of(struct sk_arena *arena, const void *items, size_t size)
{
	return sk_arena_copy(arena, size ? items : "", size);
}

/* Copy a body inside the inlined one. It must record its captured values, since their names change. */
static struct sk_op_graph *copy_inner(const struct inlining *inlining, const struct sk_op_graph *inner)
{
	struct sk_arena *arena = inlining->graph->arena;
	struct sk_op_graph *copy = copy_of(arena, inner, sizeof(*inner));
	copy->values.items = copy_of(arena, inner->values.items, inner->values.count * sizeof(*inner->values.items));
	for (size_t v = 0; v < copy->values.count; v++) {
		struct sk_value *value = &copy->values.items[v];
		uint32_t outer = sk_map_find(&inlining->body->value_names, value->name, strlen(value->name));

		if (is_captured(value) && value->view_of == SK_NONE && outer != SK_NONE)
			value->view_of = inlining->values[outer];
	}
	copy->values.capacity = copy->values.count;
	copy->nodes.items = copy_of(arena, inner->nodes.items, inner->nodes.count * sizeof(*inner->nodes.items));
	copy->nodes.capacity = copy->nodes.count;
	for (size_t n = 0; n < copy->nodes.count; n++) {
		struct sk_graph_node *node = &copy->nodes.items[n];

		node->graphs.items =
			copy_of(arena, node->graphs.items, node->graphs.count * sizeof(*node->graphs.items));
		for (size_t g = 0; g < node->graphs.count; g++)
			node->graphs.items[g].graph = copy_inner(inlining, node->graphs.items[g].graph);
	}
	return copy;
}

/* Return the value of the graph for a value of the body; SK_NONE after an error. */
static uint32_t copy_value(const struct inlining *inlining, const struct sk_value *value)
{
	struct sk_op_graph *graph = inlining->graph;
	uint32_t index;

	if (is_captured(value)) {
		index = captured(graph, value);
		if (index == SK_NONE)
			sk_node_error(graph, inlining->expansion->node,
				      "'%s' in its body is made by no node that is computed", value->name);
		return index;
	}
	index = sk_graph_new_value(graph, sk_arena_print(graph->arena, "%s/%s", inlining->prefix, value->name),
				   value->dtype, value->rank, value->shape);
	graph->values.items[index].shaped = value->shaped;
	graph->values.items[index].contents = value->contents;
	graph->values.items[index].place = value->place;
	return index;
}

static void copy_node(const struct inlining *inlining, const struct sk_graph_node *from)
{
	struct sk_arena *arena = inlining->graph->arena;
	struct sk_graph_node node = *from;

	if (*from->name)
		node.name = sk_arena_print(arena, "%s/%s", inlining->prefix, from->name);
	if (!node.scope) {
		node.scope = inlining->expansion->node->scope;
		node.scope_options = inlining->expansion->node->scope_options;
	}
	if (!node.stream)
		node.stream = inlining->expansion->node->stream;
	if (!node.cube_cores && !node.vector_cores) {
		node.cube_cores = inlining->expansion->node->cube_cores;
		node.vector_cores = inlining->expansion->node->vector_cores;
	}
	memset(&node.attributes, 0, sizeof(node.attributes));
	memset(&node.tensors, 0, sizeof(node.tensors));
	memset(&node.graphs, 0, sizeof(node.graphs));
	memset(&node.inputs, 0, sizeof(node.inputs));
	memset(&node.outputs, 0, sizeof(node.outputs));
	for (size_t i = 0; i < from->attributes.count; i++)
		sk_array_push(arena, &node.attributes, from->attributes.items[i]);
	for (size_t i = 0; i < from->tensors.count; i++)
		sk_array_push(arena, &node.tensors,
			      ((struct sk_attribute_tensor){from->tensors.items[i].name,
							    inlining->values[from->tensors.items[i].value]}));
	for (size_t i = 0; i < from->graphs.count; i++)
		sk_array_push(arena, &node.graphs,
			      ((struct sk_attribute_graph){from->graphs.items[i].name,
							   copy_inner(inlining, from->graphs.items[i].graph)}));
	for (size_t i = 0; i < from->inputs.count; i++)
		sk_array_push(arena, &node.inputs,
			      from->inputs.items[i] == SK_NONE ? SK_NONE : inlining->values[from->inputs.items[i]]);
	for (size_t i = 0; i < from->outputs.count; i++)
		sk_array_push(arena, &node.outputs,
			      from->outputs.items[i] == SK_NONE ? SK_NONE : inlining->values[from->outputs.items[i]]);
	sk_array_push(arena, inlining->expansion->nodes, node);
}

/* True for an Identity, which exporters write for a condition that a loop passes on. */
static bool passes_on(const struct sk_graph_node *node)
{
	return !strcmp(node->op, "Identity") && !*node->domain && node->inputs.count == 1 && node->outputs.count == 1 &&
	       node->inputs.items[0] != SK_NONE && node->outputs.items[0] != SK_NONE;
}

/* Return the number of values, nodes and operands, including those of inner bodies. */
static uint64_t size_of(const struct sk_op_graph *body)
{
	uint64_t size = body->values.count + body->nodes.count + body->outputs.count;

	for (size_t n = 0; n < body->nodes.count; n++) {
		const struct sk_graph_node *node = &body->nodes.items[n];

		size += node->inputs.count + node->outputs.count + node->attributes.count + node->tensors.count;
		for (size_t g = 0; g < node->graphs.count; g++)
			size += size_of(node->graphs.items[g].graph);
	}
	return size;
}

const uint32_t *sk_inline_body(const struct sk_expansion *expansion, const struct sk_op_graph *body, const char *prefix,
			       const uint32_t *inputs)
{
	struct sk_arena *arena = expansion->graph->arena;
	uint32_t *outputs = SK_NEW_ARRAY(arena, uint32_t, body->outputs.count + 1);
	const struct inlining inlining = {.expansion = expansion,
					  .graph = expansion->graph,
					  .body = body,
					  .prefix = prefix,
					  .values = SK_NEW_ARRAY(arena, uint32_t, body->values.count + 1)};

	expansion->graph->copied += size_of(body);
	if (expansion->graph->copied > SK_MOST_COPIED) {
		sk_expansion_refuse(expansion, "its bodies become more than a million values, nodes and operands");
		return NULL;
	}
	for (size_t v = 0; v < body->values.count; v++)
		inlining.values[v] = SK_NONE;
	for (size_t i = 0; i < body->inputs.count; i++)
		inlining.values[body->inputs.items[i]] = inputs[i];
	for (size_t v = 0; v < body->values.count; v++) {
		const struct sk_value *value = &body->values.items[v];

		if (value->input)
			continue;
		inlining.values[v] = copy_value(&inlining, value);
		if (inlining.values[v] == SK_NONE)
			return NULL;
	}
	for (size_t n = 0; n < body->nodes.count; n++) {
		const struct sk_graph_node *node = &body->nodes.items[n];

		if (passes_on(node))
			inlining.values[node->outputs.items[0]] = inlining.values[node->inputs.items[0]];
		else
			copy_node(&inlining, node);
	}
	for (size_t i = 0; i < body->outputs.count; i++)
		outputs[i] = inlining.values[body->outputs.items[i]];
	return outputs;
}
