/* Sequences of tensors with lengths that are known when linking: only their tensors remain. A value that is a sequence
 * lists these, and each operator here is replaced by nodes that compute tensors, if there are any. */
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"
#include "graph/operators/operators.h"

/* Count that many additional listed values; false after an error. */
static bool take_room(const struct sk_expansion *expansion, uint64_t count)
{
	expansion->graph->copied += count;
	return expansion->graph->copied <= SK_MOST_COPIED ||
	       sk_expansion_refuse(expansion, "sequences list, and bodies become, more than a million values");
}

/* Return the first input's list; NULL after an error. */
static const sk_graph_sequence *read_sequence(const struct sk_expansion *expansion)
{
	const struct sk_value *value = sk_node_input(expansion->graph, expansion->node, 0);

	if (!value || !value->sequence)
		sk_expansion_refuse(expansion, "its first input is not a sequence");
	return value ? value->sequence : NULL;
}

/* Copy the first input's list; false after an error. */
static bool copy_sequence(const struct sk_expansion *expansion, sk_graph_sequence *copy)
{
	const sk_graph_sequence *sequence = read_sequence(expansion);

	*copy = (sk_graph_sequence){NULL, 0, 0};
	if (!sequence || !take_room(expansion, sequence->count))
		return false;
	for (size_t i = 0; i < sequence->count; i++)
		sk_array_push(expansion->graph->arena, copy, sequence->items[i]);
	return true;
}

/* Make the output that sequence. */
static void write_sequence(const struct sk_expansion *expansion, const sk_graph_sequence *sequence)
{
	sk_graph_sequence *list = SK_NEW(expansion->graph->arena, sk_graph_sequence);

	*list = *sequence;
	sk_graph_make_sequence(expansion->graph, expansion->node->outputs.items[0], list);
}

/* Read one of `places` positions in a sequence of `count` tensors, counted from the front; the default is
 * `otherwise`. */
static bool read_position(const struct sk_expansion *expansion, size_t input, size_t count, size_t places,
			  size_t otherwise, size_t *position)
{
	const struct sk_value *value = sk_node_input(expansion->graph, expansion->node, input);
	const int64_t *numbers;
	uint64_t elements;
	int64_t number = (int64_t)otherwise;

	if (value && (!sk_value_integers(expansion->graph->arena, value, &elements, &numbers) || elements != 1))
		return sk_expansion_refuse(expansion, "its position is not one integer");
	if (value)
		number = numbers[0] < 0 ? numbers[0] + (int64_t)count : numbers[0];
	*position = (size_t)number;
	if (number >= 0 && number < (int64_t)places)
		return true;
	sk_node_error(expansion->graph, expansion->node, "there is no position %lld in a sequence of %zu tensor%s",
		      (long long)(value ? numbers[0] : number), count, sk_plural(count));
	return false;
}

/* ---- sequences of tensors ---- */

/* SequenceConstruct and SequenceEmpty */
static bool expand_construct(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	sk_graph_sequence sequence = {NULL, 0, 0};

	for (size_t i = 0; i < node->inputs.count; i++) {
		if (!sk_node_input(graph, node, i))
			return sk_expansion_refuse(&expansion, "one of its inputs is absent");
		sk_array_push(graph->arena, &sequence, node->inputs.items[i]);
	}
	write_sequence(&expansion, &sequence);
	return true;
}

static bool expand_insert(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	const struct sk_value *tensor = sk_node_input(graph, node, 1);
	sk_graph_sequence sequence;
	size_t position;

	if (!copy_sequence(&expansion, &sequence))
		return false;
	if (!tensor || tensor->sequence)
		return sk_expansion_refuse(&expansion, "its second input is not a tensor");
	/* The position may also be after the last tensor; -1 is before the last one. */
	if (!read_position(&expansion, 2, sequence.count, sequence.count + 1, sequence.count, &position))
		return false;
	sk_array_push(graph->arena, &sequence, SK_NONE);
	for (size_t i = sequence.count - 1; i > position; i--)
		sequence.items[i] = sequence.items[i - 1];
	sequence.items[position] = node->inputs.items[1];
	write_sequence(&expansion, &sequence);
	return true;
}

static bool expand_erase(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	sk_graph_sequence sequence;
	size_t position;

	if (!copy_sequence(&expansion, &sequence) ||
	    !read_position(&expansion, 1, sequence.count, sequence.count, sequence.count - 1, &position))
		return false;
	for (size_t i = position; i + 1 < sequence.count; i++)
		sequence.items[i] = sequence.items[i + 1];
	sequence.count--;
	write_sequence(&expansion, &sequence);
	return true;
}

/* ---- tensors of sequences ---- */

static bool expand_at(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	const sk_graph_sequence *sequence = read_sequence(&expansion);
	size_t position;

	if (!sequence || !read_position(&expansion, 1, sequence->count, sequence->count, 0, &position))
		return false;
	sk_expansion_node(&expansion, "Identity", sequence->items[position], node->outputs.items[0]);
	return true;
}

static bool expand_length(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	const sk_graph_sequence *sequence = read_sequence(&expansion);

	if (!sequence)
		return false;
	sk_expansion_node(&expansion, "Identity",
			  sk_graph_new_constant(graph, sk_node_name(graph, node), SK_I64, 0, NULL,
						&(int64_t){(int64_t)sequence->count}),
			  node->outputs.items[0]);
	return true;
}

static bool expand_concat(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	const sk_graph_sequence *sequence = read_sequence(&expansion);

	if (!sequence || !take_room(&expansion, sequence->count))
		return false;
	if (!sequence->count)
		return sk_expansion_refuse(&expansion, "its sequence has no tensors, so its result has no shape");
	sk_expansion_concat(&expansion, sequence, sk_node_integer(node, "axis", 0),
			    sk_node_integer(node, "new_axis", 0) != 0, node->outputs.items[0]);
	return true;
}

/* ---- SplitToSequence ---- */

/* Read the sizes of the pieces: the given ones, or equal ones, of which the last may be smaller. */
static bool read_sizes(const struct sk_expansion *expansion, uint64_t size, uint64_t *count, const int64_t **sizes)
{
	struct sk_op_graph *graph = expansion->graph;
	const struct sk_value *split = sk_node_input(graph, expansion->node, 1);
	int64_t each = 1, *equal;

	if (split && !sk_value_integers(graph->arena, split, count, sizes))
		return sk_expansion_refuse(expansion, "its sizes are not integers");
	if (split && split->rank)
		return *count || !size ? take_room(expansion, *count)
				       : sk_expansion_refuse(expansion, "it has no sizes, but elements to split");
	if (split)
		each = (*sizes)[0];
	if (each < 1)
		return sk_expansion_refuse(expansion, "pieces have less than one element");
	*count = size / (uint64_t)each + (size % (uint64_t)each != 0);
	if (!take_room(expansion, *count))
		return false;
	equal = SK_NEW_ARRAY(graph->arena, int64_t, *count + 1);
	for (uint64_t i = 0; i < *count; i++)
		equal[i] = i + 1 < *count ? each : (int64_t)(size - i * (uint64_t)each);
	*sizes = equal;
	return true;
}

static bool expand_split(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	const struct sk_inference inference = {graph, (struct sk_graph_node *)(uintptr_t)node};
	const struct sk_value *from = sk_node_input(graph, node, 0);
	bool keeps = sk_node_input(graph, node, 1) || sk_node_integer(node, "keepdims", 1);
	sk_graph_sequence pieces = {NULL, 0, 0}, sequence = {NULL, 0, 0};
	const int64_t *sizes;
	struct sk_graph_node *split;
	uint64_t count;
	uint32_t axis;

	if (!sk_infer_axis(&inference, sk_node_integer(node, "axis", 0), from->rank, &axis) ||
	    !read_sizes(&expansion, from->shape[axis], &count, &sizes))
		return false;
	for (uint64_t i = 0; i < count; i++)
		sk_array_push(graph->arena, &pieces, sk_expansion_value(&expansion));
	if (count) {
		split = sk_expansion_node(&expansion, "Split", node->inputs.items[0], pieces.items[0]);
		for (uint64_t i = 1; i < count; i++)
			sk_array_push(graph->arena, &split->outputs, pieces.items[i]);
		sk_array_push(graph->arena, &split->inputs,
			      sk_graph_new_integers(graph, sk_node_name(graph, node), count, sizes));
		sk_node_set_integer(graph, split, "axis", axis);
	}
	uint32_t axes = sk_graph_new_integers(graph, sk_node_name(graph, node), 1, &(int64_t){axis});

	for (uint64_t i = 0; i < count; i++) {
		uint32_t piece = pieces.items[i];

		if (!keeps)
			piece = sk_expansion_binary(&expansion, "Squeeze", piece, axes);
		sk_array_push(graph->arena, &sequence, piece);
	}
	write_sequence(&expansion, &sequence);
	return true;
}

/* ---- SequenceMap: the body, for each tensor of a sequence ---- */

/* Return tensor `place` of an input that is a sequence, or the input itself; SK_NONE after an error. */
static uint32_t mapped_input(const struct sk_expansion *expansion, size_t input, size_t place, size_t length)
{
	const struct sk_value *value = sk_node_input(expansion->graph, expansion->node, input);

	if (!value || (value->sequence && value->sequence->count != length)) {
		sk_expansion_refuse(expansion, "its sequences are not of one length, or absent");
		return SK_NONE;
	}
	return value->sequence ? value->sequence->items[place] : expansion->node->inputs.items[input];
}

/* Inline the body for one place, and append its results. */
static bool map_once(const struct sk_expansion *expansion, const struct sk_op_graph *body, size_t place, size_t length,
		     sk_graph_sequence *made)
{
	const struct sk_graph_node *node = expansion->node;
	struct sk_op_graph *graph = expansion->graph;
	uint32_t *inputs = SK_NEW_ARRAY(graph->arena, uint32_t, node->inputs.count);
	const uint32_t *outputs;

	for (size_t i = 0; i < node->inputs.count; i++) {
		inputs[i] = mapped_input(expansion, i, place, length);
		if (inputs[i] == SK_NONE)
			return false;
	}
	outputs = sk_inline_body(expansion, body,
				 sk_arena_print(graph->arena, "%s/%zu", sk_node_name(graph, node), place), inputs);
	for (size_t i = 0; i < node->outputs.count && outputs; i++)
		sk_array_push(graph->arena, &made[i], outputs[i]);
	return outputs != NULL;
}

static bool expand_map(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	const struct sk_op_graph *body = node->graphs.count == 1 ? node->graphs.items[0].graph : NULL;
	sk_graph_sequence *made = SK_NEW_ARRAY(graph->arena, sk_graph_sequence, node->outputs.count);
	const sk_graph_sequence *sequence = read_sequence(&expansion);

	if (!sequence)
		return false;
	if (!body || body->inputs.count != node->inputs.count || body->outputs.count != node->outputs.count)
		return sk_expansion_refuse(&expansion, "its body does not have the same number of inputs and outputs");
	for (size_t place = 0; place < sequence->count; place++)
		if (!map_once(&expansion, body, place, sequence->count, made))
			return false;
	for (size_t i = 0; i < node->outputs.count; i++) {
		sk_graph_sequence *list = SK_NEW(graph->arena, sk_graph_sequence);

		*list = made[i];
		sk_graph_make_sequence(graph, node->outputs.items[i], list);
	}
	return true;
}

/* ---- the table ---- */

static const struct sk_schema_attribute dtype[] = {{"dtype", SK_ATTRIBUTE_INTEGER}, {NULL}};
static const struct sk_schema_attribute concat[] = {
	{"axis", SK_ATTRIBUTE_INTEGER, true}, {"new_axis", SK_ATTRIBUTE_INTEGER}, {NULL}};
static const struct sk_schema_attribute split[] = {
	{"axis", SK_ATTRIBUTE_INTEGER}, {"keepdims", SK_ATTRIBUTE_INTEGER, .integer = 1}, {NULL}};

const struct sk_schema sk_operators_sequences[] = {
	{"ConcatFromSequence", "", 1, 1, 1, 1, .attributes = concat, .sequences = true, .expand = expand_concat},
	{"SequenceAt", "", 2, 2, 1, 1, .demands = 1 << 1, .sequences = true, .expand = expand_at},
	{"SequenceConstruct", "", 1, SK_VARIADIC, 1, 1, .expand = expand_construct},
	{"SequenceEmpty", "", 0, 0, 1, 1, .attributes = dtype, .expand = expand_construct},
	{"SequenceErase", "", 1, 2, 1, 1, .demands = 1 << 1, .sequences = true, .expand = expand_erase},
	{"SequenceInsert", "", 2, 3, 1, 1, .demands = 1 << 2, .sequences = true, .expand = expand_insert},
	{"SequenceLength", "", 1, 1, 1, 1, .sequences = true, .expand = expand_length},
	{"SequenceMap", "", 1, SK_VARIADIC, 1, SK_VARIADIC, .sequences = true, .expand = expand_map},
	{"SplitToSequence", "", 1, 2, 1, 1, .demands = 1 << 1, .attributes = split, .expand = expand_split},
	{NULL},
};
