/* Operators that move elements to places that are known when linking. */
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/ranges.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

/* ---- Transpose ---- */

/* Return the axes in their new order; the default is reversed order. */
static bool read_permutation(const struct sk_inference *inference, uint32_t rank, uint32_t *permutation)
{
	for (uint32_t i = 0; i < rank; i++)
		permutation[i] = rank - 1 - i;
	return sk_infer_order(inference, "perm", rank, permutation);
}

static bool infer_transpose(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	uint32_t permutation[SK_MAX_RANK];
	uint64_t shape[SK_MAX_RANK];

	if (!read_permutation(inference, from->rank, permutation))
		return false;
	for (uint32_t i = 0; i < from->rank; i++)
		shape[i] = from->shape[permutation[i]];
	return sk_infer_output(inference, 0, from->dtype, from->rank, shape);
}

/* Permute the axes of the source, seen in that shape. */
static bool permute(struct sk_canonical *canonical, uint32_t rank, const uint64_t *shape, const uint32_t *permutation)
{
	const struct sk_arrangement arrangement = sk_arrangement_of_axes(rank, shape, permutation);

	return sk_canonical_arrange(canonical, sk_operand_flat(canonical->graph, sk_canonical_output(canonical, 0)),
				    sk_canonical_input(canonical, 0), &arrangement);
}

static bool canonical_transpose(struct sk_canonical *canonical)
{
	const struct sk_inference inference = {canonical->graph, &canonical->graph->nodes.items[canonical->node]};
	const struct sk_value *source = sk_infer_input(&inference, 0);
	uint32_t permutation[SK_MAX_RANK];

	return read_permutation(&inference, source->rank, permutation) &&
	       permute(canonical, source->rank, source->shape, permutation);
}

/* ---- ConstantOfShape, Expand, Tile ---- */

/* Read a shape from an input: numbers that are not negative. */
static bool read_shape(const struct sk_inference *inference, size_t input, uint32_t *rank, uint64_t *shape)
{
	const int64_t *wanted;
	uint64_t count;

	if (!sk_infer_integers(inference, input, &count, &wanted))
		return false;
	if (count > SK_MAX_RANK)
		return sk_infer_error(inference, "the shape has %llu dimensions, and a tensor has %d at most",
				      (unsigned long long)count, SK_MAX_RANK);
	for (uint64_t i = 0; i < count; i++) {
		if (wanted[i] < 0)
			return sk_infer_error(inference, "dimension %llu of the shape cannot be %lld",
					      (unsigned long long)i, (long long)wanted[i]);
		shape[i] = (uint64_t)wanted[i];
	}
	*rank = (uint32_t)count;
	return true;
}

static const struct sk_value *fill_of(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	return node->tensors.count ? &graph->values.items[node->tensors.items[0].value] : NULL;
}

static bool infer_constant_of_shape(struct sk_inference *inference)
{
	const struct sk_value *fill = fill_of(inference->graph, inference->node);
	uint64_t shape[SK_MAX_RANK];
	uint32_t rank;

	if (fill && sk_value_elements(fill) != 1)
		return sk_infer_error(inference, "'value' has %llu elements, not one",
				      (unsigned long long)sk_value_elements(fill));
	return read_shape(inference, 0, &rank, shape) &&
	       sk_infer_output(inference, 0, fill ? fill->dtype : SK_F32, rank, shape);
}

/* Fill the output with one element. */
static bool repeat_element(struct sk_canonical *canonical, uint32_t element)
{
	struct sk_operand to = sk_operand_flat(canonical->graph, sk_canonical_output(canonical, 0));
	const struct sk_arrangement arrangement = {.rank = 1, .shape = {to.shape[0]}};

	return sk_canonical_arrange(canonical, to, element, &arrangement);
}

static bool canonical_constant_of_shape(struct sk_canonical *canonical)
{
	static const float zero;
	const struct sk_graph_node *node = &canonical->graph->nodes.items[canonical->node];
	uint32_t element = node->tensors.count
				   ? node->tensors.items[0].value
				   : sk_graph_new_constant(canonical->graph, "zero", SK_F32, 0, NULL, &zero);

	return repeat_element(canonical, element);
}

static bool infer_expand(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	uint64_t shape[SK_MAX_RANK];
	uint32_t rank;

	return read_shape(inference, 1, &rank, shape) &&
	       sk_infer_broadcast(inference, &rank, shape, from->rank, from->shape) &&
	       sk_infer_output(inference, 0, from->dtype, rank, shape);
}

bool sk_canonical_expand(struct sk_canonical *canonical, uint32_t to, uint32_t from)
{
	const struct sk_op_graph *graph = canonical->graph;
	const struct sk_value *source = &graph->values.items[from], *target = &graph->values.items[to];
	struct sk_arrangement arrangement = {.rank = target->rank};
	int64_t strides[SK_MAX_RANK];

	sk_dense_strides(source->rank, source->shape, strides);
	for (uint32_t i = 0; i < target->rank; i++) {
		uint32_t after = target->rank - i;
		bool has = source->rank >= after && source->shape[source->rank - after] != 1;

		arrangement.shape[i] = target->shape[i];
		arrangement.strides[i] = has ? strides[source->rank - after] : 0;
	}
	return sk_canonical_arrange(canonical, sk_operand_flat(graph, to), from, &arrangement);
}

static bool canonical_expand(struct sk_canonical *canonical)
{
	return sk_canonical_expand(canonical, sk_canonical_output(canonical, 0), sk_canonical_input(canonical, 0));
}

/* Before operator set 6 Tile had one number and one axis. */
static bool upgrade_tile(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	if (node->version >= 6)
		return true;
	sk_node_error(graph, node, "it repeats along one axis, as before operator set 6; convert the model to that");
	return false;
}

static bool infer_tile(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	uint64_t shape[SK_MAX_RANK], times[SK_MAX_RANK];
	uint32_t rank;

	if (!read_shape(inference, 1, &rank, times))
		return false;
	if (rank != from->rank)
		return sk_infer_error(inference, "'%s' has %u dimension%s, but %u number%s of repetitions", from->name,
				      from->rank, sk_plural(from->rank), rank, sk_plural(rank));
	for (uint32_t i = 0; i < rank; i++)
		if (!sk_mul(from->shape[i], times[i], &shape[i]))
			return sk_infer_error(inference, "the output has too many elements");
	return sk_infer_output(inference, 0, from->dtype, rank, shape);
}

static bool canonical_tile(struct sk_canonical *canonical)
{
	const struct sk_op_graph *graph = canonical->graph;
	uint32_t to = sk_canonical_output(canonical, 0), from = sk_canonical_input(canonical, 0);
	const struct sk_value *source = &graph->values.items[from], *target = &graph->values.items[to];
	struct sk_arrangement arrangement = {.rank = 2 * source->rank};
	int64_t strides[SK_MAX_RANK];

	sk_dense_strides(source->rank, source->shape, strides);
	for (uint32_t i = 0; i < source->rank; i++) {
		arrangement.shape[2 * i] = target->shape[i] / source->shape[i];
		arrangement.strides[2 * i] = 0;
		arrangement.shape[2 * i + 1] = source->shape[i];
		arrangement.strides[2 * i + 1] = strides[i];
	}
	return sk_canonical_arrange(canonical, sk_operand_flat(graph, to), from, &arrangement);
}

/* ---- Slice ---- */

/* The slice of one dimension. */
struct range {
	int64_t start, step;
	uint64_t count;
};

static struct range clamp_range(int64_t start, int64_t end, int64_t step, int64_t size)
{
	int64_t least = step < 0 ? -1 : 0, most = step < 0 ? size - 1 : size;
	struct range range = {.step = step};

	start += start < 0 ? size : 0;
	end += end < 0 ? size : 0;
	start = start < 0 ? 0 : start > most ? most : start;
	end = end < least ? least : end > size ? size : end;
	if (!size)
		return (struct range){0, 1, 0};
	range.start = start;
	if (step > 0 && end > start)
		range.count = ((uint64_t)(end - start) - 1) / (uint64_t)step + 1;
	if (step < 0 && start > end)
		range.count = ((uint64_t)(start - end) - 1) / (-(uint64_t)step) + 1;
	if (range.count < 2)
		range.step = 1; /* at most one element, so the step does not matter */
	return range;
}

static bool read_ranges(const struct sk_inference *inference, struct range *ranges)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	const int64_t *starts, *ends, *axes, *steps;
	uint64_t count, end_count, axis_count, step_count;

	if (!sk_infer_integers(inference, 1, &count, &starts) || !sk_infer_integers(inference, 2, &end_count, &ends) ||
	    !sk_infer_integers(inference, 3, &axis_count, &axes) ||
	    !sk_infer_integers(inference, 4, &step_count, &steps))
		return false;
	if (end_count != count || (axes && axis_count != count) || (steps && step_count != count) || count > from->rank)
		return sk_infer_error(inference, "starts, ends, axes and steps are not of one length");
	for (uint32_t i = 0; i < from->rank; i++)
		ranges[i] = (struct range){0, 1, from->shape[i]};
	for (uint64_t i = 0; i < count; i++) {
		int64_t step = steps ? steps[i] : 1;
		uint32_t axis;

		if (!sk_infer_axis(inference, axes ? axes[i] : (int64_t)i, from->rank, &axis))
			return false;
		if (!step)
			return sk_infer_error(inference, "a step is 0");
		ranges[axis] = clamp_range(starts[i], ends[i], step, (int64_t)from->shape[axis]);
	}
	return true;
}

/* Before operator set 10 all inputs except the tensor were attributes. */
static bool upgrade_slice(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	static const char *const names[] = {"starts", "ends", "axes"};

	if (node->version >= 10)
		return true;
	for (size_t i = 0; i < 3; i++) {
		size_t count;
		const int64_t *integers = sk_node_integers(node, names[i], &count);
		uint32_t value = integers ? sk_graph_new_integers(graph, names[i], count, integers) : SK_NONE;

		sk_array_push(graph->arena, &node->inputs, value);
		if (!sk_node_drop_attribute(graph, node, names[i], SK_ATTRIBUTE_INTEGERS))
			return false;
	}
	node->version = 10;
	return true;
}

static bool infer_slice(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	struct range ranges[SK_MAX_RANK];
	uint64_t shape[SK_MAX_RANK];

	if (!read_ranges(inference, ranges))
		return false;
	for (uint32_t i = 0; i < from->rank; i++)
		shape[i] = ranges[i].count;
	return sk_infer_output(inference, 0, from->dtype, from->rank, shape);
}

static bool canonical_slice(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	uint32_t to = sk_canonical_output(canonical, 0), from = sk_canonical_input(canonical, 0);
	const struct sk_value *source = &graph->values.items[from], *target = &graph->values.items[to];
	struct sk_arrangement arrangement = {.rank = source->rank};
	struct range ranges[SK_MAX_RANK];
	int64_t strides[SK_MAX_RANK];

	if (!read_ranges(&inference, ranges))
		return false;
	sk_dense_strides(source->rank, source->shape, strides);
	for (uint32_t i = 0; i < source->rank; i++) {
		arrangement.shape[i] = ranges[i].count;
		arrangement.parts |= (uint32_t)!sk_value_same_extent(source, target, i) << i;
		arrangement.strides[i] = strides[i] * ranges[i].step;
		arrangement.offset += strides[i] * ranges[i].start;
	}
	return sk_canonical_arrange(canonical, sk_operand_flat(graph, to), from, &arrangement);
}

/* ---- Split, Concat ---- */

static bool upgrade_split(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	sk_node_take_integers(graph, node, "split");
	return true;
}

/* Return the size of a part of an axis of `whole` elements: the given one, or an equal share, where the last parts may
 * be smaller. */
static uint64_t part_size(const int64_t *sizes, uint64_t outputs, uint64_t whole, uint64_t taken, uint64_t part)
{
	uint64_t equal = (whole + outputs - 1) / outputs;

	return sizes ? (uint64_t)sizes[part] : equal > whole - taken ? whole - taken : equal;
}

static bool infer_split(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	uint64_t outputs = inference->node->outputs.count, count, whole, taken = 0, shape[SK_MAX_RANK];
	int64_t parts = sk_node_integer(inference->node, "num_outputs", (int64_t)outputs);
	const int64_t *sizes;
	uint32_t axis;

	if (!sk_infer_integers(inference, 1, &count, &sizes) ||
	    !sk_infer_axis(inference, sk_node_integer(inference->node, "axis", 0), from->rank, &axis))
		return false;
	if (sizes && count != outputs)
		return sk_infer_error(inference, "it has %llu size%s for %llu output%s", (unsigned long long)count,
				      sk_plural(count), (unsigned long long)outputs, sk_plural(outputs));
	if (parts != (int64_t)outputs)
		return sk_infer_error(inference, "'num_outputs' is %lld, but it has %llu output%s", (long long)parts,
				      (unsigned long long)outputs, sk_plural(outputs));
	memcpy(shape, from->shape, sizeof(shape));
	whole = shape[axis];
	for (uint64_t i = 0; i < outputs; i++) {
		shape[axis] = part_size(sizes, outputs, whole, taken, i);
		if (shape[axis] > whole - taken)
			return sk_infer_error(inference, "the sizes are more than the %llu elements of axis %u",
					      (unsigned long long)whole, axis);
		taken += shape[axis];
		if (!sk_infer_output(inference, i, from->dtype, from->rank, shape))
			return false;
	}
	return taken == whole || sk_infer_error(inference, "the sizes are not all %llu element%s of axis %u",
						(unsigned long long)whole, sk_plural(whole), axis);
}

static uint32_t axis_of(const struct sk_canonical *canonical, uint32_t rank)
{
	int64_t axis = sk_node_integer(&canonical->graph->nodes.items[canonical->node], "axis", 0);

	return (uint32_t)(axis < 0 ? axis + rank : axis);
}

static bool canonical_split(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	uint32_t from = sk_canonical_input(canonical, 0), axis = axis_of(canonical, graph->values.items[from].rank);
	const struct sk_operand whole = sk_operand_axis(graph, from, axis);
	uint64_t outputs = inference.node->outputs.count, count, begin = 0;
	const int64_t *sizes;

	if (!sk_infer_integers(&inference, 1, &count, &sizes))
		return false;
	for (uint64_t i = 0; i < outputs; i++) {
		uint32_t to = sk_canonical_output(canonical, i);
		uint64_t size = part_size(sizes, outputs, whole.shape[1], begin, i);
		const struct sk_arrangement arrangement = {
			.rank = 3,
			.shape = {whole.shape[0], size, whole.shape[2]},
			.strides = {(int64_t)(whole.shape[1] * whole.shape[2]), (int64_t)whole.shape[2], 1},
			.offset = (int64_t)(begin * whole.shape[2]),
			.apart = inference.node->slices < SK_SLICES_ALL};

		if (to != SK_NONE && size &&
		    !sk_canonical_arrange(canonical, sk_operand_flat(graph, to), from, &arrangement))
			return false;
		begin += size;
	}
	return true;
}

static bool infer_concat(struct sk_inference *inference)
{
	const struct sk_value *first = sk_infer_input(inference, 0);
	uint64_t shape[SK_MAX_RANK], sum = 0;
	uint32_t axis;

	if (!sk_infer_axis(inference, sk_node_integer(inference->node, "axis", 1), first->rank, &axis))
		return false;
	for (size_t i = 0; i < inference->node->inputs.count; i++) {
		const struct sk_value *value = sk_infer_input(inference, i);

		for (uint32_t d = 0; d < first->rank && value->rank == first->rank; d++)
			if (d != axis && value->shape[d] != first->shape[d])
				return sk_infer_error(inference,
						      "'%s' and '%s' differ in axis %u, along which they are "
						      "not joined: %s and %s",
						      first->name, value->name, d,
						      sk_value_shape_text(inference->graph->arena, first),
						      sk_value_shape_text(inference->graph->arena, value));
		if (value->rank != first->rank || value->dtype != first->dtype)
			return sk_infer_error(inference, "'%s' and '%s' are not of one type and rank", first->name,
					      value->name);
		sum += value->shape[axis];
	}
	memcpy(shape, first->shape, sizeof(shape));
	shape[axis] = sum;
	return sk_infer_output(inference, 0, first->dtype, first->rank, shape);
}

/* Append all values but the first, which the cache has already. */
static bool append(struct sk_canonical *canonical, const struct sk_cache *cache, uint32_t axis)
{
	const struct sk_op_graph *graph = canonical->graph;
	uint64_t begin = graph->values.items[sk_canonical_input(canonical, 0)].shape[axis];

	for (size_t i = 1; i < graph->nodes.items[canonical->node].inputs.count; i++) {
		uint32_t from = sk_canonical_input(canonical, i);

		sk_cache_write(canonical, cache, begin, from);
		begin += graph->values.items[from].shape[axis];
	}
	sk_cache_read(canonical, cache, sk_canonical_output(canonical, 0));
	return true;
}

static bool canonical_concat(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t to = sk_canonical_output(canonical, 0), axis = axis_of(canonical, graph->values.items[to].rank);
	const struct sk_operand whole = sk_operand_axis(graph, to, axis);
	size_t count = graph->nodes.items[canonical->node].inputs.count;
	bool apart = graph->nodes.items[canonical->node].slices < SK_SLICES_ALL;
	uint64_t begin = 0, row = whole.shape[1] * whole.shape[2];
	struct sk_cache cache;

	if (sk_cache_find(graph, to, &cache))
		return append(canonical, &cache, axis);
	for (size_t i = 0; i < count; i++) {
		uint32_t from = sk_canonical_input(canonical, i);
		uint64_t width = graph->values.items[from].shape[axis] * whole.shape[2];
		const struct sk_arrangement arrangement = {
			.rank = 1, .shape = {whole.shape[0] * width}, .strides = {1}, .apart = apart};
		bool gaps = whole.shape[0] > 1 && width < row;
		struct sk_operand part = gaps ? sk_operand_shaped(graph, to, 2, (uint64_t[]){whole.shape[0], width})
					      : sk_operand_shaped(graph, to, 1, (uint64_t[]){whole.shape[0] * width});

		part.offset = begin;
		part.stride = gaps ? row : 0;
		begin += width;
		if (width && !sk_canonical_arrange(canonical, part, from, &arrangement))
			return false;
	}
	return true;
}

/* ---- DepthToSpace, SpaceToDepth ---- */

enum { LARGEST_BLOCK = 1 << 15 };

static bool infer_blocks(struct sk_inference *inference, bool to_space)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	int64_t size = sk_node_integer(inference->node, "blocksize", 0);
	uint64_t b = (uint64_t)size;

	if (from->rank != 4)
		return sk_infer_error(inference, "'%s' has %u dimension%s, not 4", from->name, from->rank,
				      sk_plural(from->rank));
	if (size < 1 || size > LARGEST_BLOCK)
		return sk_infer_error(inference, "'blocksize' cannot be %lld", (long long)size);
	if (to_space ? from->shape[1] % (b * b) : from->shape[2] % b || from->shape[3] % b)
		return sk_infer_error(inference, "'%s' is not a whole number of blocks of %lld", from->name,
				      (long long)size);

	const uint64_t wide[4] = {from->shape[0], from->shape[1] / (b * b), from->shape[2] * b, from->shape[3] * b};
	const uint64_t deep[4] = {from->shape[0], from->shape[1] * b * b, from->shape[2] / b, from->shape[3] / b};

	return sk_infer_output(inference, 0, from->dtype, 4, to_space ? wide : deep);
}

static bool infer_depth_to_space(struct sk_inference *inference)
{
	return infer_blocks(inference, true);
}

static bool infer_space_to_depth(struct sk_inference *inference)
{
	return infer_blocks(inference, false);
}

static bool canonical_depth_to_space(struct sk_canonical *canonical)
{
	const struct sk_op_graph *graph = canonical->graph;
	const struct sk_graph_node *node = &graph->nodes.items[canonical->node];
	const struct sk_value *from = sk_node_input(graph, node, 0);
	uint64_t b = (uint64_t)sk_node_integer(node, "blocksize", 1), c = from->shape[1] / (b * b);
	bool crd = !strcmp(sk_node_string(node, "mode", "DCR"), "CRD");
	const uint64_t dcr_shape[6] = {from->shape[0], b, b, c, from->shape[2], from->shape[3]};
	const uint64_t crd_shape[6] = {from->shape[0], c, b, b, from->shape[2], from->shape[3]};

	return permute(canonical, 6, crd ? crd_shape : dcr_shape,
		       crd ? (const uint32_t[]){0, 1, 4, 2, 5, 3} : (const uint32_t[]){0, 3, 4, 1, 5, 2});
}

static bool canonical_space_to_depth(struct sk_canonical *canonical)
{
	const struct sk_op_graph *graph = canonical->graph;
	const struct sk_graph_node *node = &graph->nodes.items[canonical->node];
	const struct sk_value *from = sk_node_input(graph, node, 0);
	uint64_t b = (uint64_t)sk_node_integer(node, "blocksize", 1);
	const uint64_t shape[6] = {from->shape[0], from->shape[1], from->shape[2] / b, b, from->shape[3] / b, b};
	bool crd = !strcmp(sk_node_string(node, "mode", "DCR"), "CRD");

	return permute(canonical, 6, shape,
		       crd ? (const uint32_t[]){0, 1, 3, 5, 2, 4} : (const uint32_t[]){0, 3, 5, 1, 2, 4});
}

/* ---- the table ---- */

#define INTEGER(NAME, DEFAULT)                                                                                         \
	{                                                                                                              \
		NAME, SK_ATTRIBUTE_INTEGER, .integer = (DEFAULT)                                                       \
	}

static const struct sk_schema_attribute axis_1[] = {INTEGER("axis", 1), {NULL}};
static const struct sk_schema_attribute perm[] = {{"perm", SK_ATTRIBUTE_INTEGERS}, {NULL}};
static const struct sk_schema_attribute split[] = {INTEGER("axis", 0), INTEGER("num_outputs", 0), {NULL}};
static const struct sk_schema_attribute blocks[] = {
	{"blocksize", SK_ATTRIBUTE_INTEGER, true}, {"mode", SK_ATTRIBUTE_STRING, .string = "DCR"}, {NULL}};

const struct sk_schema sk_operators_moves[] = {
	{"Concat", "", 1, SK_VARIADIC, 1, 1, .attributes = axis_1, .infer = infer_concat,
	 .canonical = canonical_concat},
	{"ConstantOfShape", "", 1, 1, 1, 1, .demands = 1 << 0, .infer = infer_constant_of_shape,
	 .canonical = canonical_constant_of_shape},
	{"DepthToSpace", "", 1, 1, 1, 1, .attributes = blocks, .infer = infer_depth_to_space,
	 .canonical = canonical_depth_to_space},
	{"Expand", "", 2, 2, 1, 1, .demands = 1 << 1, .infer = infer_expand, .canonical = canonical_expand},
	{"Slice", "", 3, 5, 1, 1, .demands = 15 << 1, .upgrade = upgrade_slice, .infer = infer_slice,
	 .canonical = canonical_slice},
	{"SpaceToDepth", "", 1, 1, 1, 1, .attributes = blocks, .infer = infer_space_to_depth,
	 .canonical = canonical_space_to_depth},
	{"Split", "", 1, 2, 1, SK_VARIADIC, .demands = 1 << 1, .attributes = split, .upgrade = upgrade_split,
	 .infer = infer_split, .canonical = canonical_split},
	{"Tile", "", 2, 2, 1, 1, .demands = 1 << 1, .upgrade = upgrade_tile, .infer = infer_tile,
	 .canonical = canonical_tile},
	{"Transpose", "", 1, 1, 1, 1, .attributes = perm, .infer = infer_transpose, .canonical = canonical_transpose},
	{NULL},
};
