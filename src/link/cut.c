/* --inputs and --outputs: a part of the model as the network; see link.h. Names of values may have commas in them, so a
 * text that is a name is one. */
#include "src/link/link.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "src/command/command.h"

static uint32_t find(const struct sk_op_graph *graph, const char *name)
{
	return sk_map_find(&graph->value_names, name, strlen(name));
}

static bool is_made(const struct sk_op_graph *graph, uint32_t value)
{
	return value != SK_NONE && graph->values.items[value].node != SK_NONE;
}

/* Return the names in the texts of an option. */
static sk_texts list_names(struct sk_op_graph *graph, const sk_texts *texts)
{
	sk_texts names = {0};

	for (size_t i = 0; i < texts->count; i++)
		for (const char *start = texts->items[i], *end;; start = end + 1) {
			bool whole = start == texts->items[i] && find(graph, start) != SK_NONE;

			end = start + (whole ? strlen(start) : strcspn(start, ","));
			sk_array_push(graph->arena, &names, sk_arena_copy(graph->arena, start, (size_t)(end - start)));
			if (!*end)
				break;
		}
	return names;
}

bool sk_cut_is_wanted(const struct sk_command_line *command)
{
	return command->cut_inputs.count || command->cut_outputs.count;
}

/* ---- types ---- */

void sk_cut_list_undeclared(const struct sk_command_line *command, struct sk_op_graph *graph)
{
	const sk_texts names = list_names(graph, &command->cut_inputs);

	for (size_t i = 0; i < names.count; i++) {
		uint32_t value = find(graph, names.items[i]);

		if (is_made(graph, value) && (!graph->values.items[value].dtype || !graph->values.items[value].shaped))
			sk_array_push(graph->arena, &graph->undeclared, names.items[i]);
	}
}

/* ---- outputs ---- */

static bool report_unknown(struct sk_op_graph *graph, const char *option, const char *name)
{
	SK_ARRAY(const char *) names = {NULL, 0, 0};
	uint32_t value = find(graph, name);

	if (value != SK_NONE && (graph->values.items[value].contents || graph->values.items[value].input)) {
		sk_error(graph->diag, (struct sk_place){.file = graph->file}, "%s '%s': it is %s of the model", option,
			 name, graph->values.items[value].input ? "an input" : "a constant");
		return false;
	}
	for (uint32_t i = 0; i < graph->values.count; i++)
		if (is_made(graph, i) || graph->values.items[i].input)
			sk_array_push(graph->arena, &names, graph->values.items[i].name);
	sk_error(graph->diag, (struct sk_place){.file = graph->file},
		 "%s '%s': it is neither an input of the model nor a value that its outputs need%s", option, name,
		 sk_did_you_mean(graph->arena, name, names.items, names.count));
	return false;
}

static bool choose_outputs(struct sk_op_graph *graph, const sk_texts *names)
{
	bool good = true;

	for (size_t i = 0; i < names->count; i++)
		if (!is_made(graph, find(graph, names->items[i])))
			good = report_unknown(graph, "--outputs", names->items[i]);
	if (!good || !names->count)
		return good;
	for (size_t i = 0; i < graph->outputs.count; i++)
		graph->values.items[graph->outputs.items[i]].output = false;
	graph->outputs.count = 0;
	for (size_t i = 0; i < names->count; i++) {
		uint32_t value = find(graph, names->items[i]);

		if (graph->values.items[value].output)
			continue;
		graph->values.items[value].output = true;
		sk_array_push(graph->arena, &graph->outputs, value);
	}
	return true;
}

/* ---- inputs ---- */

/* Make a value an input. The node that has made it no longer does. */
static bool begin_at(struct sk_op_graph *graph, uint32_t index)
{
	struct sk_value *value = &graph->values.items[index];
	struct sk_graph_node *node;

	if (value->input)
		return true;
	if (!value->dtype || !value->shaped) {
		sk_error(graph->diag, value->place,
			 "--inputs '%s': the file does not declare its type and shape, and they cannot be computed; "
			 "give the sizes of the inputs that it is made from (--dim, --shape)",
			 value->name);
		return false;
	}
	node = &graph->nodes.items[value->node];
	for (size_t i = 0; i < node->outputs.count; i++)
		if (node->outputs.items[i] == index)
			node->outputs.items[i] = SK_NONE;
	value->node = SK_NONE;
	value->input = true;
	return true;
}

/* Return the name of a node that reads the value, or has a body that does. */
static const char *reader_of(struct sk_op_graph *graph, uint32_t value)
{
	const sk_graph_nodes all = graph->nodes;
	const char *name = "";

	for (size_t n = 0; n < all.count && !*name; n++) {
		graph->nodes.items = all.items + n;
		graph->nodes.count = 1;
		if (sk_graph_find_used(graph)[value])
			name = sk_node_name(graph, &all.items[n]);
	}
	graph->nodes = all;
	return name;
}

/* The inputs are those that are named, in that order, and then those that are still needed. */
static void choose_inputs(struct sk_op_graph *graph, const sk_texts *names)
{
	const bool *used = sk_graph_find_used(graph);
	SK_ARRAY(uint32_t) inputs = {NULL, 0, 0};
	bool *listed = SK_NEW_ARRAY(graph->arena, bool, graph->values.count + 1);

	for (size_t i = 0; i < names->count; i++) {
		uint32_t value = find(graph, names->items[i]);

		if (!listed[value])
			sk_array_push(graph->arena, &inputs, value);
		listed[value] = true;
	}
	for (size_t i = 0; i < graph->inputs.count; i++) {
		uint32_t index = graph->inputs.items[i];
		struct sk_value *value = &graph->values.items[index];

		if (listed[index])
			continue;
		if (used[index] && !value->contents) {
			sk_array_push(graph->arena, &inputs, index);
			sk_warning(graph->diag, value->place,
				   "--inputs: input '%s' stays, since node '%s' reads it; name it too, or begin after "
				   "that node",
				   value->name, reader_of(graph, index));
			continue;
		}
		value->input = false;
		for (uint32_t d = 0; value->shaped && d < value->rank; d++)
			if (value->symbols[d])
				sk_array_push(graph->arena, &graph->former, value->symbols[d]);
	}
	graph->inputs.count = 0;
	for (size_t i = 0; i < inputs.count; i++)
		sk_array_push(graph->arena, &graph->inputs, inputs.items[i]);
}

bool sk_cut_apply(const struct sk_command_line *command, struct sk_op_graph *graph)
{
	const sk_texts outputs = list_names(graph, &command->cut_outputs),
		       inputs = list_names(graph, &command->cut_inputs);
	bool good = choose_outputs(graph, &outputs);

	for (size_t i = 0; i < inputs.count; i++) {
		uint32_t value = find(graph, inputs.items[i]);

		good &= is_made(graph, value) || (value != SK_NONE && graph->values.items[value].input)
				? begin_at(graph, value)
				: report_unknown(graph, "--inputs", inputs.items[i]);
	}
	if (!good)
		return false;
	sk_graph_drop_unneeded(graph);
	if (!graph->nodes.count) {
		sk_error(graph->diag, (struct sk_place){.file = graph->file},
			 "no node is left: --inputs names what the outputs are made of last; begin before, or choose "
			 "other "
			 "--outputs");
		return false;
	}
	if (inputs.count)
		choose_inputs(graph, &inputs);
	return true;
}
