/* Operators that pad or crop a tensor. */
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

/* The padding before and after each dimension; negative: elements are removed. */
struct room {
	int64_t front[SK_MAX_RANK], after[SK_MAX_RANK];
};

static const char *const modes[] = {"constant", "reflect", "edge", "wrap"};

/* Compute the shape of the output; false after an error. */
static bool padded_shape(const struct sk_inference *inference, const struct room *room, uint64_t *shape)
{
	const struct sk_value *from = sk_infer_input(inference, 0);

	for (uint32_t i = 0; i < from->rank; i++) {
		int64_t size;

		if (__builtin_add_overflow((int64_t)from->shape[i], room->front[i], &size) ||
		    __builtin_add_overflow(size, room->after[i], &size) || size < 0)
			return sk_infer_error(inference, "axis %u cannot be padded by %lld and %lld", i,
					      (long long)room->front[i], (long long)room->after[i]);
		shape[i] = (uint64_t)size;
	}
	return true;
}

/* Read the padding around the block of the input that is kept. */
static bool read_pads(const struct sk_inference *inference, struct room *room)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	const int64_t *pads, *axes;
	uint64_t count, axis_count, named = from->rank;

	memset(room, 0, sizeof(*room));
	if (!sk_infer_integers(inference, 1, &count, &pads) || !sk_infer_integers(inference, 3, &axis_count, &axes))
		return false;
	if (axes)
		named = axis_count;
	if (named > from->rank || count != 2 * named)
		return sk_infer_error(inference, "it has %llu pad%s for %llu ax%s", (unsigned long long)count,
				      sk_plural(count), (unsigned long long)named, sk_ending(named, "is", "es"));
	for (uint64_t i = 0; i < named; i++) {
		uint32_t axis;

		if (!sk_infer_axis(inference, axes ? axes[i] : (int64_t)i, from->rank, &axis))
			return false;
		room->front[axis] = pads[i];
		room->after[axis] = pads[named + i];
	}
	return true;
}

/* Pads and the value were attributes before operator set 11. */
static bool upgrade_pad(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	const char *name = sk_node_attribute(node, "paddings") ? "paddings" : "pads";
	float number = (float)sk_node_real(node, "value", 0);
	uint32_t pads, value;
	const int64_t *given;
	size_t count;

	if (node->version >= 11)
		return true;
	given = sk_node_integers(node, name, &count);
	pads = sk_graph_new_integers(graph, "pads", count, given);
	value = sk_graph_new_constant(graph, "value", SK_F32, 0, NULL, &number);
	sk_array_push(graph->arena, &node->inputs, pads);
	sk_array_push(graph->arena, &node->inputs, value);
	node->version = 11;
	return sk_node_drop_attribute(graph, node, name, SK_ATTRIBUTE_INTEGERS) &&
	       sk_node_drop_attribute(graph, node, "value", SK_ATTRIBUTE_REAL);
}

static bool infer_pad(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0), *number = sk_infer_input(inference, 2);
	const char *mode = sk_node_string(inference->node, "mode", "constant");
	uint64_t shape[SK_MAX_RANK];
	struct room room;
	bool known = false;

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		known |= !strcmp(mode, modes[i]);
	if (!known)
		return sk_infer_error(inference, "there is no mode '%s'", mode);
	if (number && sk_value_elements(number) != 1)
		return sk_infer_error(inference, "'%s' has %llu elements, not one", number->name,
				      (unsigned long long)sk_value_elements(number));
	return read_pads(inference, &room) && padded_shape(inference, &room, shape) &&
	       sk_infer_output(inference, 0, from->dtype, from->rank, shape);
}

/* The block of the input that is kept. */
struct block {
	int64_t offset, sizes[SK_MAX_RANK], strides[SK_MAX_RANK], pads[SK_MAX_RANK];
	bool empty, padded;
};

static struct block find_block(const struct sk_value *from, const struct room *room)
{
	struct block block = {0};

	sk_dense_strides(from->rank, from->shape, block.strides);
	for (uint32_t i = 0; i < from->rank; i++) {
		int64_t front = room->front[i], after = room->after[i];

		block.sizes[i] = (int64_t)from->shape[i] + (front < 0 ? front : 0) + (after < 0 ? after : 0);
		block.pads[i] = front > 0 ? front : 0;
		block.empty |= block.sizes[i] <= 0;
		block.sizes[i] = block.sizes[i] < 0 ? 0 : block.sizes[i];
		block.padded |= front > 0 || after > 0;
		if (front < 0 && !block.empty)
			block.offset -= front * block.strides[i];
	}
	return block;
}

static void add_pad(struct sk_canonical *canonical, uint32_t to, uint32_t from, const struct block *block,
		    const char *mode, uint32_t number)
{
	const struct sk_op_graph *graph = canonical->graph;
	const struct sk_value *target = &graph->values.items[to];
	struct sk_operand value = sk_operand_flat(graph, number);
	struct sk_graph_call *call = sk_canonical_call(canonical, "Pad");
	int64_t dimensions[SK_MAX_RANK];

	for (uint32_t i = 0; i < target->rank; i++)
		dimensions[i] = (int64_t)target->shape[i];
	sk_call_word(canonical, call, "mode", mode);
	sk_call_integer(canonical, call, "rank", target->rank);
	sk_call_padded(canonical, call, "dims", target->rank, dimensions, 1);
	sk_call_padded(canonical, call, "sizes", target->rank, block->sizes, 1);
	sk_call_padded(canonical, call, "pads", target->rank, block->pads, 0);
	sk_call_padded(canonical, call, "strides0", target->rank, block->strides, 0);
	sk_call_integer(canonical, call, "offset0", block->offset);
	sk_call_input(canonical, call, sk_operand_moved(sk_operand_flat(graph, from)));
	sk_call_input(canonical, call, number == SK_NONE ? value : sk_operand_moved(value));
	sk_call_output(canonical, call, sk_operand_moved(sk_operand_flat(graph, to)));
}

/* Pad the value `from` with `number`; SK_NONE: zero. */
static bool pad_block(struct sk_canonical *canonical, uint32_t to, uint32_t from, const struct block *block,
		      const char *mode, uint32_t number)
{
	const struct sk_op_graph *graph = canonical->graph;
	struct sk_arrangement arrangement = {.rank = graph->values.items[to].rank, .offset = block->offset};
	const struct sk_operand all = sk_operand_flat(graph, to);

	if (block->empty && strcmp(mode, "constant"))
		return sk_canonical_error(canonical, "'%s' has no elements that could be repeated",
					  graph->values.items[from].name);
	if (block->empty && number == SK_NONE)
		return sk_canonical_fill(canonical, to, 0);
	if (block->empty)
		return sk_canonical_arrange(canonical, all, number,
					    &(struct sk_arrangement){.rank = 1, .shape = {all.shape[0]}});
	memcpy(arrangement.shape, graph->values.items[to].shape, sizeof(graph->values.items[to].shape));
	memcpy(arrangement.strides, block->strides, sizeof(block->strides));
	if (!block->padded)
		return sk_canonical_arrange(canonical, all, from, &arrangement);
	add_pad(canonical, to, from, block, mode, strcmp(mode, "constant") ? SK_NONE : number);
	return true;
}

/* True if the dimensions of the value depend on dimensions with bounds. */
static bool has_bounds(const struct sk_value *value)
{
	for (uint32_t d = 0; d < value->rank; d++)
		if (value->sizes[d])
			return true;
	return false;
}

/* Where the padding, or the elements of the block, can be none at some sizes with bounds, the call is the same at all
 * sizes. */
static bool pad(struct sk_canonical *canonical, const struct room *room, const char *mode, uint32_t number)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_graph_node *node = &graph->nodes.items[canonical->node];
	uint32_t from = sk_canonical_input(canonical, 0), to = sk_canonical_output(canonical, 0);
	const struct sk_value *amounts = sk_node_input(graph, node, 1);
	struct block block = find_block(&graph->values.items[from], room);
	bool varies = has_bounds(&graph->values.items[from]) || has_bounds(&graph->values.items[to]);

	block.padded |= varies && amounts && amounts->varies;
	block.empty &= !varies || strcmp(mode, "constant");
	return pad_block(canonical, to, from, &block, mode, number);
}

bool sk_canonical_pad(struct sk_canonical *canonical, uint32_t to, uint32_t from, const uint64_t *sizes)
{
	const struct sk_value *source = &canonical->graph->values.items[from];
	const struct sk_value *target = &canonical->graph->values.items[to];
	struct block kept = find_block(source, &(struct room){{0}, {0}});

	for (uint32_t i = 0; i < source->rank; i++) {
		kept.sizes[i] = (int64_t)sizes[i];
		kept.empty |= !sizes[i];
		kept.padded |= sizes[i] < target->shape[i];
	}
	return pad_block(canonical, to, from, &kept, "constant", SK_NONE);
}

static bool canonical_pad(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	enum sk_dtype dtype = sk_infer_input(&inference, 0)->dtype;
	uint32_t number = sk_canonical_input(canonical, 2);
	struct room room;

	if (!read_pads(&inference, &room))
		return false;
	if (number != SK_NONE)
		number = sk_canonical_cast(canonical, number, dtype);
	return pad(canonical, &room, sk_node_string(&graph->nodes.items[canonical->node], "mode", "constant"), number);
}

/* ---- CenterCropPad ---- */

/* An odd element goes to the end. */
static bool read_center(const struct sk_inference *inference, struct room *room)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	size_t axis_count;
	const int64_t *axes = sk_node_integers(inference->node, "axes", &axis_count), *sizes;
	uint64_t count;

	memset(room, 0, sizeof(*room));
	if (!sk_infer_integers(inference, 1, &count, &sizes))
		return false;
	if (count > from->rank || count != (axes ? axis_count : from->rank))
		return sk_infer_error(inference, "it has %llu size%s, not one for each axis", (unsigned long long)count,
				      sk_plural(count));
	for (uint64_t i = 0; i < count; i++) {
		int64_t more;
		uint32_t axis;

		if (!sk_infer_axis(inference, axes ? axes[i] : (int64_t)i, from->rank, &axis))
			return false;
		if (sizes[i] < 0)
			return sk_infer_error(inference, "axis %u cannot have %lld elements", axis,
					      (long long)sizes[i]);
		more = sizes[i] - (int64_t)from->shape[axis];
		room->front[axis] = more / 2;
		room->after[axis] = more - more / 2;
	}
	return true;
}

static bool infer_center(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	uint64_t shape[SK_MAX_RANK];
	struct room room;

	return read_center(inference, &room) && padded_shape(inference, &room, shape) &&
	       sk_infer_output(inference, 0, from->dtype, from->rank, shape);
}

static bool canonical_center(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	struct room room;

	return read_center(&inference, &room) && pad(canonical, &room, "constant", SK_NONE);
}

/* ---- the table ---- */

static const struct sk_schema_attribute mode[] = {{"mode", SK_ATTRIBUTE_STRING, .string = "constant"}, {NULL}};
static const struct sk_schema_attribute axes[] = {{"axes", SK_ATTRIBUTE_INTEGERS}, {NULL}};

const struct sk_schema sk_operators_pads[] = {
	{"CenterCropPad", "", 2, 2, 1, 1, .demands = 1 << 1, .attributes = axes, .infer = infer_center,
	 .canonical = canonical_center},
	{"Pad", "", 2, 4, 1, 1, .demands = 1 << 1 | 1 << 3, .attributes = mode, .upgrade = upgrade_pad,
	 .infer = infer_pad, .canonical = canonical_pad},
	{NULL},
};
