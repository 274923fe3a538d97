/* --cache; see link.h. Exporters append the new rows of a cache to its past ones, and name both values alike. So the
 * pairs of a decoder are found in its graph, before any size is known. */
#include "src/link/link.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "graph/graph.h"
#include "src/command/command.h"

static bool is_in_state(const struct sk_op_graph *graph, uint32_t value)
{
	for (size_t i = 0; i < graph->states.count; i++)
		if (graph->states.items[i].past == value || graph->states.items[i].present == value)
			return true;
	return false;
}

static bool is_input(const struct sk_op_graph *graph, uint32_t value)
{
	return value != SK_NONE && graph->values.items[value].input;
}

/* Return the input that the value is, or whose batches it is in another order; SK_NONE: there is none. */
static uint32_t past_behind(const struct sk_op_graph *graph, uint32_t value)
{
	const struct sk_graph_node *node;

	if (value == SK_NONE || is_input(graph, value) || graph->values.items[value].node == SK_NONE)
		return value;
	node = &graph->nodes.items[graph->values.items[value].node];
	return (sk_node_is(node, "Gather") && !sk_node_integer(node, "axis", 0)) || sk_node_is(node, "Identity")
		       ? past_behind(graph, node->inputs.items[0])
		       : SK_NONE;
}

/* True if the size of the value along the axis is open in the file, as the number of past rows is. */
static bool is_open(const struct sk_op_graph *graph, uint32_t index, int64_t axis)
{
	const struct sk_value *value = &graph->values.items[index];

	axis += axis < 0 ? value->rank : 0;
	return value->shaped && axis >= 0 && axis < value->rank && value->symbols[axis];
}

/* Return the input that a node appends to for this output; SK_NONE: it does something else. */
static uint32_t appended_to(const struct sk_op_graph *graph, uint32_t output)
{
	const struct sk_graph_node *node;
	uint32_t past = SK_NONE;

	if (graph->values.items[output].node == SK_NONE)
		return SK_NONE;
	node = &graph->nodes.items[graph->values.items[output].node];
	if (sk_node_is(node, "Concat") && node->inputs.count > 1) {
		past = past_behind(graph, node->inputs.items[0]);
		return is_input(graph, past) && is_open(graph, past, sk_node_integer(node, "axis", 1)) ? past : SK_NONE;
	}
	for (size_t o = 1; o < 3 && sk_node_is(node, "Attention"); o++)
		if (o < node->outputs.count && node->outputs.items[o] == output && node->inputs.count > o + 3)
			past = past_behind(graph, node->inputs.items[o + 3]);
	return is_input(graph, past) ? past : SK_NONE;
}

/* Return the input with the name that exporters give to the past value of an output: "past_key_values.0.key" and
 * "past.0.key" for "present.0.key", "past_key_values.0.key" for "present_key_values.0.key". SK_NONE: there is none. */
static uint32_t named_alike(const struct sk_op_graph *graph, const char *output)
{
	static const char *const prefixes[][2] = {{"present", "past_key_values"}, {"present", "past"}};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t length = strlen(prefixes[i][0]);
		const char *name;
		uint32_t value;

		if (strncmp(output, prefixes[i][0], length))
			continue;
		name = sk_arena_join(graph->arena, prefixes[i][1], output + length);
		value = sk_map_find(&graph->value_names, name, strlen(name));
		if (is_input(graph, value))
			return value;
	}
	return SK_NONE;
}

bool sk_given_find_caches(const struct sk_command_line *command, struct sk_op_graph *graph)
{
	size_t before = graph->states.count;

	for (size_t i = 0; i < graph->outputs.count && command->cache; i++) {
		uint32_t present = graph->outputs.items[i];
		const struct sk_value *value = &graph->values.items[present];
		uint32_t past = value->input ? SK_NONE : appended_to(graph, present);

		if (past == SK_NONE && !value->input)
			past = named_alike(graph, value->name);
		if (past == SK_NONE || is_in_state(graph, past) || is_in_state(graph, present))
			continue;
		sk_array_push(graph->arena, &graph->states,
			      ((struct sk_graph_state){
				      .past = past,
				      .present = present,
				      .capacity = command->cache,
				      .found = true,
				      .cache = SK_NONE,
				      .text = sk_arena_print(graph->arena, "--cache %u: '%s=%s'", command->cache,
							     graph->values.items[past].name, value->name)}));
		sk_array_push(graph->arena, &graph->told,
			      sk_arena_print(graph->arena, "%s", graph->states.items[graph->states.count - 1].text));
	}
	if (!command->cache || graph->states.count > before)
		return true;
	sk_error(graph->diag, (struct sk_place){.file = graph->file},
		 "--cache %u: the model has no caches: no output is an input of open size with rows appended, or has a "
		 "name such as 'present.0.key' where an input has 'past_key_values.0.key'; --state INPUT=OUTPUT:%u "
		 "names a cache",
		 command->cache, command->cache);
	return false;
}
