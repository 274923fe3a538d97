/* Nodes that replace others; see operators-parts.h. */
#include "graph/operators/operators-parts.h"

#include <stdarg.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

bool sk_expansion_refuse(const struct sk_expansion *expansion, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	sk_node_error(expansion->graph, expansion->node, "%s",
		      sk_arena_print_list(expansion->graph->arena, format, args));
	va_end(args);
	return false;
}

const struct sk_value *sk_expansion_read(const struct sk_expansion *expansion, uint32_t value)
{
	return value == SK_NONE ? NULL : &expansion->graph->values.items[value];
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

uint32_t sk_expansion_call(const struct sk_expansion *expansion, const char *op, size_t count, const uint32_t *inputs)
{
	uint32_t output = sk_expansion_value(expansion);

	sk_expansion_into(expansion, op, count, inputs, output);
	return output;
}

void sk_expansion_into(const struct sk_expansion *expansion, const char *op, size_t count, const uint32_t *inputs,
		       uint32_t output)
{
	struct sk_graph_node *node = sk_expansion_node(expansion, op, inputs[0], output);

	for (size_t i = 1; i < count; i++)
		sk_array_push(expansion->graph->arena, &node->inputs, inputs[i]);
}

void sk_expansion_set(const struct sk_expansion *expansion, const char *name, int64_t integer)
{
	sk_node_set_integer(expansion->graph, sk_expansion_last(expansion), name, integer);
}

void sk_expansion_keep(const struct sk_expansion *expansion, const char *name, const char *as)
{
	const struct sk_attribute *given = sk_node_attribute(expansion->node, name);

	if (given) {
		struct sk_attribute kept = *given;

		kept.name = as;
		sk_node_set_attribute(expansion->graph, sk_expansion_last(expansion), kept);
	}
}

struct sk_graph_node *sk_expansion_last(const struct sk_expansion *expansion)
{
	return &expansion->nodes->items[expansion->nodes->count - 1];
}

uint32_t sk_expansion_integers(const struct sk_expansion *expansion, size_t count, const int64_t *integers)
{
	return sk_graph_new_integers(expansion->graph, sk_node_name(expansion->graph, expansion->node), count,
				     integers);
}

uint32_t sk_expansion_input(const struct sk_expansion *expansion, size_t number)
{
	return number < expansion->node->inputs.count ? expansion->node->inputs.items[number] : SK_NONE;
}

uint32_t sk_expansion_output(const struct sk_expansion *expansion, size_t number)
{
	return number < expansion->node->outputs.count ? expansion->node->outputs.items[number] : SK_NONE;
}

uint32_t sk_expansion_real(const struct sk_expansion *expansion, double real, uint32_t like)
{
	const float number = (float)real;
	uint32_t constant = sk_graph_new_constant(expansion->graph, sk_node_name(expansion->graph, expansion->node),
						  SK_F32, 0, NULL, &number);

	return sk_expansion_binary(expansion, "CastLike", constant, like);
}

uint32_t sk_expansion_transpose(const struct sk_expansion *expansion, uint32_t value, size_t count,
				const int64_t *order)
{
	const void *axes = order;
	struct sk_attribute perm = {
		.name = "perm", .place = expansion->node->place, .kind = SK_ATTRIBUTE_INTEGERS, .count = count};
	uint32_t to = SK_EXPANSION(expansion, "Transpose", value);

	axes = sk_arena_copy(expansion->graph->arena, axes, count * sizeof(*order));
	perm.integers = axes;
	sk_node_set_attribute(expansion->graph, sk_expansion_last(expansion), perm);
	return to;
}

uint32_t sk_expansion_channels(const struct sk_expansion *expansion, uint32_t value, uint32_t rank, bool to_end)
{
	int64_t order[SK_MAX_RANK] = {0};

	for (uint32_t i = 1; i < rank; i++)
		order[i] = to_end ? (i + 1 < rank ? i + 1 : 1) : (i == 1 ? rank - 1 : i - 1);
	return sk_expansion_transpose(expansion, value, rank, order);
}

uint32_t sk_expansion_cast(const struct sk_expansion *expansion, uint32_t value, enum sk_expansion_type type)
{
	uint32_t to = SK_EXPANSION(expansion, "Cast", value);

	sk_expansion_set(expansion, "to", type);
	return to;
}

void sk_expansion_split(const struct sk_expansion *expansion, uint32_t from, int64_t axis, size_t count,
			const int64_t *sizes, uint32_t *pieces)
{
	struct sk_graph_node *node;

	for (size_t i = 0; i < count; i++)
		pieces[i] = sk_expansion_value(expansion);
	node = sk_expansion_node(expansion, "Split", from, pieces[0]);
	for (size_t i = 1; i < count; i++)
		sk_array_push(expansion->graph->arena, &node->outputs, pieces[i]);
	sk_array_push(expansion->graph->arena, &node->inputs, sk_expansion_integers(expansion, count, sizes));
	sk_node_set_integer(expansion->graph, node, "axis", axis);
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

uint32_t sk_expansion_dimension(const struct sk_expansion *expansion, uint32_t value, int64_t d)
{
	uint32_t size = SK_EXPANSION(expansion, "Shape", value);

	sk_expansion_set(expansion, "start", d);
	if (d != -1)
		sk_expansion_set(expansion, "end", d + 1);
	return size;
}

uint32_t sk_expansion_unsqueeze(const struct sk_expansion *expansion, uint32_t value, size_t count, const int64_t *axes)
{
	return SK_EXPANSION(expansion, "Unsqueeze", value, sk_expansion_integers(expansion, count, axes));
}

uint32_t sk_expansion_count_to(const struct sk_expansion *expansion, uint32_t number)
{
	struct sk_op_graph *graph = expansion->graph;
	const int64_t zero = 0, one = 1;
	uint32_t axis = sk_expansion_integers(expansion, 1, &zero);

	return SK_EXPANSION(expansion, "Range", sk_graph_new_constant(graph, "start", SK_I64, 0, NULL, &zero),
			    SK_EXPANSION(expansion, "Squeeze", number, axis),
			    sk_graph_new_constant(graph, "step", SK_I64, 0, NULL, &one));
}

uint32_t sk_expansion_reshape(const struct sk_expansion *expansion, uint32_t value, size_t count, const int64_t *shape)
{
	return SK_EXPANSION(expansion, "Reshape", value, sk_expansion_integers(expansion, count, shape));
}

uint32_t sk_expansion_heads(const struct sk_expansion *expansion, uint32_t value, int64_t heads)
{
	static const int64_t order[] = {0, 2, 1, 3};

	value = sk_expansion_reshape(expansion, value, 4, (const int64_t[]){0, 0, heads, -1});
	return sk_expansion_transpose(expansion, value, 4, order);
}
