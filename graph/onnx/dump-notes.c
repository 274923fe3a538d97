/* Notes of dumps; see onnx-parts.h. GE also writes addresses. These are not known before memory is planned, except the
 * offsets of slices in their buffer. */
#include "graph/onnx/onnx-parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/onnx/onnx.h"

struct noting {
	struct sk_arena *arena;
	const struct sk_op_graph *graph;
	const struct sk_dump_edges *edges;
	const struct sk_graph_node *node;
	struct sk_onnx_node *to;
	size_t own; /* the number of attributes before notes were added */
};

static bool has_own(const struct noting *noting, const char *name)
{
	for (size_t i = 0; i < noting->own; i++)
		if (!strcmp(noting->to->attributes.items[i].name, name))
			return true;
	return false;
}

static struct sk_onnx_bytes bytes_of(const char *text)
{
	return (struct sk_onnx_bytes){(const uint8_t *)text, strlen(text)};
}

/* Add a note, unless the node has an attribute of that name. A number of 0 is also written, although readers of the
 * format take a missing number for 0. */
static void add_note(struct noting *noting, struct sk_onnx_attribute attribute)
{
	if (attribute.type == SK_ONNX_ATTRIBUTE_INT)
		attribute.message.present = 1u << SK_ONNX_VALUE_I;
	if (!has_own(noting, attribute.name))
		sk_array_push(noting->arena, &noting->to->attributes, attribute);
}

static void add_number(struct noting *noting, const char *name, int64_t number)
{
	add_note(noting, (struct sk_onnx_attribute){.name = name, .type = SK_ONNX_ATTRIBUTE_INT, .i = number});
}

static const char *name_attribute(struct noting *noting, const char *side, const char *field, size_t number)
{
	return sk_arena_print(noting->arena, "%s_desc_%s:%zu", side, field, number);
}

static void add_description(struct noting *noting, const char *side, size_t number, const struct sk_value *value)
{
	struct sk_onnx_attribute shape = {.name = name_attribute(noting, side, "shape", number),
					  .type = SK_ONNX_ATTRIBUTE_INTS};

	add_note(noting,
		 (struct sk_onnx_attribute){.name = name_attribute(noting, side, "dtype", number),
					    .type = SK_ONNX_ATTRIBUTE_STRING,
					    .s = bytes_of(sk_onnx_ge_type_name(sk_onnx_element_of(value->dtype)))});
	add_note(noting, (struct sk_onnx_attribute){.name = name_attribute(noting, side, "layout", number),
						    .type = SK_ONNX_ATTRIBUTE_STRING,
						    .s = bytes_of("ND")});
	for (uint32_t i = 0; i < value->rank; i++)
		sk_array_push(noting->arena, &shape.integers,
			      value->shape[i] == SK_UNKNOWN ? -1 : (int64_t)value->shape[i]);
	add_note(noting, shape);
	add_number(noting, name_attribute(noting, side, "size", number),
		   (int64_t)(sk_value_elements(value) * sk_dtype_size(value->dtype)));
}

struct sk_dump_edges *sk_dump_notes_edges(struct sk_arena *arena, const struct sk_op_graph *graph)
{
	struct sk_dump_edges *edges = SK_NEW(arena, struct sk_dump_edges);

	edges->places = SK_NEW_ARRAY(arena, int64_t, graph->values.count + 1);
	for (size_t v = 0; v < graph->values.count; v++)
		edges->places[v] = -1;
	for (size_t n = 0; n < graph->nodes.count; n++) {
		const struct sk_graph_node *node = &graph->nodes.items[n];

		for (size_t i = node->outputs.count; i--;)
			if (node->outputs.items[i] != SK_NONE && graph->values.items[node->outputs.items[i]].node == n)
				edges->places[node->outputs.items[i]] = (int64_t)i;
	}
	edges->uses = sk_graph_uses(arena, graph);
	return edges;
}

static void add_sources(struct noting *noting)
{
	const struct sk_op_graph *graph = noting->graph;
	struct sk_onnx_attribute values = {.name = "input_name", .type = SK_ONNX_ATTRIBUTE_STRINGS};
	struct sk_onnx_attribute names = {.name = "src_name", .type = SK_ONNX_ATTRIBUTE_STRINGS};
	struct sk_onnx_attribute numbers = {.name = "src_index", .type = SK_ONNX_ATTRIBUTE_INTS};
	struct sk_onnx_attribute constants = {.name = "is_input_const", .type = SK_ONNX_ATTRIBUTE_INTS};

	for (size_t i = 0; i < noting->node->inputs.count; i++) {
		uint32_t index = noting->node->inputs.items[i];
		const struct sk_value *value = sk_node_input(graph, noting->node, i);
		const char *name = !value		    ? ""
				   : value->node == SK_NONE ? value->name
							    : sk_node_name(graph, &graph->nodes.items[value->node]);

		sk_array_push(noting->arena, &values.strings, bytes_of(value ? value->name : ""));
		sk_array_push(noting->arena, &names.strings, bytes_of(name));
		sk_array_push(noting->arena, &numbers.integers, value ? noting->edges->places[index] : -1);
		sk_array_push(noting->arena, &constants.integers, value && value->contents);
		if (value)
			add_description(noting, "input", i, value);
	}
	add_note(noting, values);
	add_note(noting, names);
	add_note(noting, numbers);
	add_note(noting, constants);
}

/* Add an item for each edge to another node, in the order of outputs. */
static void add_destinations(struct noting *noting)
{
	const struct sk_op_graph *graph = noting->graph;
	const struct sk_uses *uses = &noting->edges->uses;
	struct sk_onnx_attribute names = {.name = "dst_name", .type = SK_ONNX_ATTRIBUTE_STRINGS};
	struct sk_onnx_attribute numbers = {.name = "dst_index", .type = SK_ONNX_ATTRIBUTE_INTS};

	for (size_t i = 0; i < noting->node->outputs.count; i++) {
		uint32_t value = noting->node->outputs.items[i];

		if (value == SK_NONE)
			continue;
		add_description(noting, "output", i, &graph->values.items[value]);
		for (uint32_t u = uses->starts[value]; u < uses->starts[value + 1]; u++) {
			const struct sk_graph_node *user = &graph->nodes.items[uses->items[u].node];

			if (!sk_node_is_live(graph, user))
				continue;
			sk_array_push(noting->arena, &names.strings, bytes_of(sk_node_name(graph, user)));
			sk_array_push(noting->arena, &numbers.integers, uses->items[u].input);
		}
	}
	add_note(noting, names);
	add_note(noting, numbers);
}

/* Return the offset in bytes in the workspace, or in the buffer of a slice. */
static int64_t offset_in_workspace(const struct sk_op_graph *graph, uint32_t value)
{
	uint64_t size = value == SK_NONE ? 0 : sk_dtype_size(graph->values.items[value].dtype);

	if (graph->places)
		return value == SK_NONE ? -1 : graph->places[value];
	return (int64_t)(sk_value_offset(graph, value) * size);
}

static void add_places(struct noting *noting)
{
	const struct sk_graph_node *node = noting->node;
	struct sk_onnx_attribute inputs = {.name = "input_i", .type = SK_ONNX_ATTRIBUTE_INTS};
	struct sk_onnx_attribute outputs = {.name = "output_i", .type = SK_ONNX_ATTRIBUTE_INTS};

	for (size_t i = 0; i < (!noting->graph->places && sk_node_is(node, "Split") ? 1 : node->inputs.count); i++)
		sk_array_push(noting->arena, &inputs.integers,
			      offset_in_workspace(noting->graph, node->inputs.items[i]));
	for (size_t i = 0; i < node->outputs.count; i++)
		sk_array_push(noting->arena, &outputs.integers,
			      offset_in_workspace(noting->graph, node->outputs.items[i]));
	add_note(noting, inputs);
	add_note(noting, outputs);
}

static int compare_names(const void *first, const void *second)
{
	const struct sk_onnx_attribute *a = first, *b = second;

	return strcmp(a->name, b->name);
}

void sk_dump_notes_add(struct sk_arena *arena, const struct sk_op_graph *graph, const struct sk_dump_edges *edges,
		       uint32_t number, bool places, struct sk_onnx_node *to)
{
	struct noting noting = {arena, graph, edges, &graph->nodes.items[number], to, to->attributes.count};

	add_number(&noting, "id", number);
	add_number(&noting, SK_ONNX_STREAM, noting.node->stream);
	add_number(&noting, "_no_task", 0);
	add_sources(&noting);
	add_destinations(&noting);
	if (graph->places || (noting.node->no_task && places))
		add_places(&noting);
	qsort(to->attributes.items, to->attributes.count, sizeof(*to->attributes.items), compare_names);
}

bool sk_dump_notes_has(const char *name)
{
	static const char *const names[] = {"id",	 "input_name", "src_name", "src_index",	    "dst_name",
					    "dst_index", "input_i",    "output_i", "is_input_const"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], name))
			return true;
	return sk_dump_notes_describes(name);
}

bool sk_dump_notes_describes(const char *name)
{
	return !strncmp(name, "input_desc_", 11) || !strncmp(name, "output_desc_", 12);
}
