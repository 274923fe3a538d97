/* Operators with indices that are known at run time only, and tensors computed from row and column numbers. Indices of
 * elements and tuples are first turned into row numbers (ElementPlaces, TuplePlaces), so that two operators move all
 * rows: Gather and Scatter. An index out of range ends the launch; nothing outside of a tensor is read. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"
#include "graph/operators/operators.h"

static const struct sk_graph_node *node_of(const struct sk_canonical *canonical)
{
	return &canonical->graph->nodes.items[canonical->node];
}

static const struct sk_value *input_of(const struct sk_canonical *canonical, size_t number)
{
	return sk_node_input(canonical->graph, node_of(canonical), number);
}

static uint64_t product(const uint64_t *shape, uint32_t from, uint32_t to)
{
	uint64_t all = 1;

	for (uint32_t i = from; i < to; i++)
		all *= shape[i];
	return all;
}

/* Return an operand of two dimensions. */
static struct sk_operand rows_of(const struct sk_op_graph *graph, uint32_t value, uint64_t rows, uint64_t width)
{
	return sk_operand_shaped(graph, value, 2, (uint64_t[]){rows, width});
}

/* Return the node's axis, which inference has checked. */
static uint32_t axis_of(const struct sk_canonical *canonical, int64_t otherwise, uint32_t rank)
{
	int64_t axis = sk_node_integer(node_of(canonical), "axis", otherwise);

	return (uint32_t)(axis < 0 ? axis + rank : axis);
}

static bool check_indices(const struct sk_inference *inference, size_t number, bool only_i64)
{
	const struct sk_value *indices = sk_infer_input(inference, number);

	return indices->dtype == SK_I64 || (indices->dtype == SK_I32 && !only_i64) ||
	       sk_infer_error(inference, "'%s' is %s, and indices are %s", indices->name, sk_dtype_name(indices->dtype),
			      only_i64 ? "i64" : "i32 or i64");
}

/* Check constant indices: tuples of `count` indices along the axes from `first` on. Kernels check all others. */
static bool check_range(const struct sk_inference *inference, size_t number, uint32_t first, uint64_t length)
{
	const struct sk_value *data = sk_infer_input(inference, 0), *indices = sk_infer_input(inference, number);
	const int64_t *items;
	uint64_t count;

	if (!indices->contents || !sk_value_integers(inference->graph->arena, indices, &count, &items))
		return true;
	for (uint64_t i = 0; i < count; i++) {
		uint32_t axis = first + (uint32_t)(i % length);
		int64_t size = (int64_t)data->shape[axis];

		if (items[i] < -size || items[i] >= size)
			return sk_infer_error(inference,
					      "index %" PRIi64 " of '%s' is out of range: axis %" PRIu32
					      " of '%s' has %" PRIi64 " element%s",
					      items[i], indices->name, axis, data->name, size,
					      sk_plural((uint64_t)size));
	}
	return true;
}

static bool check_type(const struct sk_inference *inference, size_t number, size_t of)
{
	const struct sk_value *value = sk_infer_input(inference, number), *other = sk_infer_input(inference, of);

	return value->dtype == other->dtype ||
	       sk_infer_error(inference, "'%s' is %s, and '%s' is %s", value->name, sk_dtype_name(value->dtype),
			      other->name, sk_dtype_name(other->dtype));
}

/* ---- calls shared by several operators ---- */

/* Return the places of elements along an axis, as element numbers. */
static uint32_t element_places(struct sk_canonical *canonical, uint32_t indices, const struct sk_value *data,
			       uint32_t axis)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t wide = sk_canonical_cast(canonical, indices, SK_I64);
	const struct sk_value of = graph->values.items[indices];
	int64_t dimensions[SK_MAX_RANK], strides[SK_MAX_RANK], step;
	uint32_t places = sk_graph_new_value(graph, of.name, SK_I64, of.rank, of.shape);
	struct sk_graph_call *call = sk_canonical_call(canonical, "ElementPlaces");

	sk_dense_strides(of.rank, data->shape, strides);
	step = strides[axis];
	strides[axis] = 0;
	for (uint32_t i = 0; i < of.rank; i++)
		dimensions[i] = (int64_t)of.shape[i];
	sk_call_integer(canonical, call, "rank", of.rank);
	sk_call_padded(canonical, call, "dims", of.rank, dimensions, 1);
	sk_call_padded(canonical, call, "strides0", of.rank, strides, 0);
	sk_call_integer(canonical, call, "k", (int64_t)data->shape[axis]);
	sk_call_integer(canonical, call, "step", step);
	sk_call_input(canonical, call, sk_operand_flat(graph, wide));
	sk_call_output(canonical, call, sk_operand_flat(graph, places));
	return places;
}

/* Return the places of tuples, after `batch` dimensions that data and indices share, as row numbers. */
static uint32_t tuple_places(struct sk_canonical *canonical, uint32_t indices, const struct sk_value *data,
			     uint32_t batch)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_value of = graph->values.items[indices];
	uint64_t length = of.shape[of.rank - 1], tuples = product(of.shape, 0, of.rank - 1);
	uint32_t places = sk_graph_new_value(graph, of.name, SK_I64, of.rank - 1, of.shape);
	struct sk_graph_call *call = sk_canonical_call(canonical, "TuplePlaces");
	int64_t dimensions[SK_MAX_RANK];

	for (uint64_t i = 0; i < length; i++)
		dimensions[i] = (int64_t)data->shape[batch + i];
	sk_call_integer(canonical, call, "per", (int64_t)(tuples / product(of.shape, 0, batch)));
	sk_call_padded(canonical, call, "dims", (uint32_t)length, dimensions, 1);
	sk_call_input(canonical, call, rows_of(graph, indices, tuples, length));
	sk_call_output(canonical, call, sk_operand_flat(graph, places));
	return places;
}

/* Scatter rows of updates to places of the data, with the node's reduction. */
static bool scatter(struct sk_canonical *canonical, uint32_t places, size_t updates_input, uint64_t width)
{
	const struct sk_op_graph *graph = canonical->graph;
	uint32_t to = sk_canonical_output(canonical, 0), from = sk_canonical_input(canonical, 0);
	uint32_t updates = sk_canonical_input(canonical, updates_input);
	uint64_t rows = sk_value_elements(&graph->values.items[to]) / width;
	const char *reduction = sk_node_string(node_of(canonical), "reduction", "none");
	const struct sk_operand operands[4] = {
		rows_of(graph, from, rows, width), sk_operand_flat(graph, places),
		rows_of(graph, updates, sk_value_elements(&graph->values.items[places]), width),
		rows_of(graph, to, rows, width)};
	bool moves = !strcmp(reduction, "none");
	struct sk_graph_call *call = sk_canonical_call(canonical, "Scatter");

	if (!moves)
		sk_call_word(canonical, call, "reduction", reduction);
	for (size_t i = 0; i < 3; i++)
		sk_call_input(canonical, call, moves && i != 1 ? sk_operand_moved(operands[i]) : operands[i]);
	sk_call_output(canonical, call, moves ? sk_operand_moved(operands[3]) : operands[3]);
	return true;
}

/* ---- Gather, Compress ---- */

/* Return the shape with one dimension replaced by others. */
static bool infer_replaced(struct sk_inference *inference, uint32_t axis, uint32_t rank, const uint64_t *shape)
{
	const struct sk_value *data = sk_infer_input(inference, 0);
	uint64_t whole[2 * SK_MAX_RANK];

	memcpy(whole, data->shape, axis * sizeof(*whole));
	memcpy(whole + axis, shape, rank * sizeof(*whole));
	memcpy(whole + axis + rank, data->shape + axis + 1, (data->rank - axis - 1) * sizeof(*whole));
	return sk_infer_output(inference, 0, data->dtype, data->rank - 1 + rank, whole);
}

static bool infer_gather(struct sk_inference *inference)
{
	const struct sk_value *data = sk_infer_input(inference, 0), *indices = sk_infer_input(inference, 1);
	uint32_t axis;

	return check_indices(inference, 1, false) &&
	       sk_infer_axis(inference, sk_node_integer(inference->node, "axis", 0), data->rank, &axis) &&
	       check_range(inference, 1, axis, 1) && infer_replaced(inference, axis, indices->rank, indices->shape);
}

static bool canonical_gather(struct sk_canonical *canonical)
{
	const struct sk_value *data = input_of(canonical, 0);
	uint32_t axis = axis_of(canonical, 0, data->rank);

	return sk_canonical_gather(canonical, sk_canonical_output(canonical, 0), sk_canonical_input(canonical, 0),
				   sk_canonical_input(canonical, 1), data->shape[axis],
				   product(data->shape, axis + 1, data->rank));
}

/* Return the indices of the elements that a constant condition keeps. */
static bool read_condition(const struct sk_inference *inference, uint64_t size, uint64_t *kept, int64_t **numbers)
{
	const struct sk_value *condition = sk_infer_input(inference, 1);
	const int64_t *conditions;
	uint64_t count;

	if (!sk_infer_integers(inference, 1, &count, &conditions))
		return false;
	if (condition->dtype != SK_BOOL || condition->rank != 1)
		return sk_infer_error(inference, "'%s' is not a list of bools", condition->name);
	*numbers = SK_NEW_ARRAY(inference->graph->arena, int64_t, count + 1);
	*kept = 0;
	for (uint64_t i = 0; i < count; i++) {
		if (!conditions[i])
			continue;
		if (i >= size)
			return sk_infer_error(inference, "'%s' keeps element %llu of %llu", condition->name,
					      (unsigned long long)i, (unsigned long long)size);
		(*numbers)[(*kept)++] = (int64_t)i;
	}
	return true;
}

/* Without an axis the input is flattened. */
static bool infer_compress(struct sk_inference *inference)
{
	const struct sk_value *data = sk_infer_input(inference, 0);
	const struct sk_attribute *attribute = sk_node_attribute(inference->node, "axis");
	int64_t *numbers;
	uint64_t kept;
	uint32_t axis = 0;

	if (attribute && !sk_infer_axis(inference, attribute->integer, data->rank, &axis))
		return false;
	if (!read_condition(inference, attribute ? data->shape[axis] : sk_value_elements(data), &kept, &numbers))
		return false;
	return attribute ? infer_replaced(inference, axis, 1, &kept)
			 : sk_infer_output(inference, 0, data->dtype, 1, &kept);
}

static bool canonical_compress(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	const struct sk_value *data = input_of(canonical, 0);
	bool flat = !sk_node_attribute(node_of(canonical), "axis");
	uint32_t axis = flat ? 0 : axis_of(canonical, 0, data->rank);
	uint64_t k = flat ? sk_value_elements(data) : data->shape[axis];
	uint64_t width = flat ? 1 : product(data->shape, axis + 1, data->rank), kept;
	int64_t *numbers;

	return read_condition(&inference, k, &kept, &numbers) &&
	       sk_canonical_gather(canonical, sk_canonical_output(canonical, 0), sk_canonical_input(canonical, 0),
				   sk_graph_new_integers(graph, "kept", kept, numbers), k, width);
}

/* ---- GatherElements, GatherND ---- */

/* Indices have as many dimensions as the data, and are not larger along the other axes. */
static bool check_elements(const struct sk_inference *inference, uint32_t *axis)
{
	const struct sk_value *data = sk_infer_input(inference, 0), *indices = sk_infer_input(inference, 1);

	if (!check_indices(inference, 1, false) ||
	    !sk_infer_axis(inference, sk_node_integer(inference->node, "axis", 0), data->rank, axis))
		return false;
	if (indices->rank != data->rank)
		return sk_infer_error(inference, "'%s' has %u dimension%s, and '%s' has %u", data->name, data->rank,
				      sk_plural(data->rank), indices->name, indices->rank);
	for (uint32_t i = 0; i < data->rank; i++)
		if (i != *axis && indices->shape[i] > data->shape[i])
			return sk_infer_error(inference, "'%s' is larger than '%s' along axis %u", indices->name,
					      data->name, i);
	return check_range(inference, 1, *axis, 1);
}

static bool infer_gather_elements(struct sk_inference *inference)
{
	const struct sk_value *data = sk_infer_input(inference, 0), *indices = sk_infer_input(inference, 1);
	uint32_t axis;

	return check_elements(inference, &axis) &&
	       sk_infer_output(inference, 0, data->dtype, indices->rank, indices->shape);
}

static bool canonical_gather_elements(struct sk_canonical *canonical)
{
	const struct sk_value data = *input_of(canonical, 0);
	uint32_t axis = axis_of(canonical, 0, data.rank);
	uint32_t places = element_places(canonical, sk_canonical_input(canonical, 1), &data, axis);

	return sk_canonical_gather(canonical, sk_canonical_output(canonical, 0), sk_canonical_input(canonical, 0),
				   places, sk_value_elements(&data), 1);
}

/* Tuples index the dimensions of the data after the first `batch` ones, which both share. */
static bool check_tuples(const struct sk_inference *inference, int64_t batch)
{
	const struct sk_value *data = sk_infer_input(inference, 0), *indices = sk_infer_input(inference, 1);

	if (!check_indices(inference, 1, true))
		return false;
	if (!data->rank || !indices->rank)
		return sk_infer_error(inference, "'%s' or '%s' has no dimensions", data->name, indices->name);
	if (batch < 0 || batch >= (int64_t)data->rank || batch >= (int64_t)indices->rank)
		return sk_infer_error(inference, "'batch_dims' cannot be %lld", (long long)batch);
	for (int64_t i = 0; i < batch; i++)
		if (data->shape[i] != indices->shape[i])
			return sk_infer_error(inference, "'%s' and '%s' differ in axis %lld", data->name, indices->name,
					      (long long)i);
	if (!indices->shape[indices->rank - 1] || indices->shape[indices->rank - 1] > data->rank - (uint64_t)batch)
		return sk_infer_error(inference,
				      "the tuples of '%s' have %llu number%s, and '%s' has %lld dimension%s for them",
				      indices->name, (unsigned long long)indices->shape[indices->rank - 1],
				      sk_plural(indices->shape[indices->rank - 1]), data->name,
				      (long long)(data->rank - batch), sk_plural((uint64_t)(data->rank - batch)));
	return check_range(inference, 1, (uint32_t)batch, indices->shape[indices->rank - 1]);
}

/* Return the shape of all tuples and the rows that they index. */
static bool tuples_shape(const struct sk_inference *inference, uint32_t batch, uint32_t *rank, uint64_t *shape)
{
	const struct sk_value *data = sk_infer_input(inference, 0), *indices = sk_infer_input(inference, 1);

	*rank = 0;
	for (uint32_t i = 0; i + 1 < indices->rank; i++)
		shape[(*rank)++] = indices->shape[i];
	for (uint32_t i = batch + (uint32_t)indices->shape[indices->rank - 1]; i < data->rank; i++)
		shape[(*rank)++] = data->shape[i];
	return *rank <= SK_MAX_RANK ||
	       sk_infer_error(inference, "the output has %u dimensions, and a tensor has %d at most", *rank,
			      SK_MAX_RANK);
}

static bool infer_gather_nd(struct sk_inference *inference)
{
	int64_t batch = sk_node_integer(inference->node, "batch_dims", 0);
	uint64_t shape[2 * SK_MAX_RANK];
	uint32_t rank;

	return check_tuples(inference, batch) && tuples_shape(inference, (uint32_t)batch, &rank, shape) &&
	       sk_infer_output(inference, 0, sk_infer_input(inference, 0)->dtype, rank, shape);
}

static bool canonical_gather_nd(struct sk_canonical *canonical)
{
	const struct sk_value data = *input_of(canonical, 0), indices = *input_of(canonical, 1);
	uint32_t batch = (uint32_t)sk_node_integer(node_of(canonical), "batch_dims", 0);
	uint32_t after = batch + (uint32_t)indices.shape[indices.rank - 1];
	uint32_t places = tuple_places(canonical, sk_canonical_input(canonical, 1), &data, batch);

	return sk_canonical_gather(canonical, sk_canonical_output(canonical, 0), sk_canonical_input(canonical, 0),
				   places, product(data.shape, 0, after), product(data.shape, after, data.rank));
}

/* ---- ScatterElements, ScatterND ---- */

static bool check_reduction(const struct sk_inference *inference)
{
	const char *reduction = sk_node_string(inference->node, "reduction", "none");

	for (const char *const *known = (const char *const[]){"none", "add", "mul", "max", "min", NULL}; *known;
	     known++)
		if (!strcmp(*known, reduction))
			return true;
	return sk_infer_error(inference, "there is no reduction '%s'", reduction);
}

static bool infer_scatter_elements(struct sk_inference *inference)
{
	const struct sk_value *indices = sk_infer_input(inference, 1), *updates = sk_infer_input(inference, 2);
	uint32_t axis;

	if (!check_elements(inference, &axis) || !check_reduction(inference) || !check_type(inference, 2, 0))
		return false;
	if (updates->rank != indices->rank ||
	    memcmp(updates->shape, indices->shape, indices->rank * sizeof(*indices->shape)))
		return sk_infer_error(inference, "'%s' and '%s' are not of one shape", indices->name, updates->name);
	return sk_infer_like(inference, 0, 0);
}

static bool canonical_scatter_elements(struct sk_canonical *canonical)
{
	const struct sk_value data = *input_of(canonical, 0);
	uint32_t axis = axis_of(canonical, 0, data.rank);

	if (sk_value_elements(input_of(canonical, 1)))
		return scatter(canonical, element_places(canonical, sk_canonical_input(canonical, 1), &data, axis), 2,
			       1);
	sk_canonical_view(canonical, sk_canonical_output(canonical, 0), sk_canonical_input(canonical, 0), 0);
	return true;
}

static bool infer_scatter_nd(struct sk_inference *inference)
{
	const struct sk_value *updates = sk_infer_input(inference, 2);
	uint64_t shape[2 * SK_MAX_RANK];
	uint32_t rank;

	if (!check_tuples(inference, 0) || !check_reduction(inference) || !check_type(inference, 2, 0) ||
	    !tuples_shape(inference, 0, &rank, shape))
		return false;
	if (updates->rank != rank || memcmp(updates->shape, shape, rank * sizeof(*shape)))
		return sk_infer_error(inference, "'%s' is not of the shape of the indices' places", updates->name);
	return sk_infer_like(inference, 0, 0);
}

static bool canonical_scatter_nd(struct sk_canonical *canonical)
{
	const struct sk_value data = *input_of(canonical, 0), indices = *input_of(canonical, 1);
	uint32_t after = (uint32_t)indices.shape[indices.rank - 1];

	if (sk_value_elements(&indices))
		return scatter(canonical, tuple_places(canonical, sk_canonical_input(canonical, 1), &data, 0), 2,
			       product(data.shape, after, data.rank));
	sk_canonical_view(canonical, sk_canonical_output(canonical, 0), sk_canonical_input(canonical, 0), 0);
	return true;
}

/* Scatter is the old name of ScatterElements. */
static bool upgrade_scatter(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	(void)graph;
	node->origin = node->origin ? node->origin : node->op;
	node->op = "ScatterElements";
	return true;
}

/* ---- TensorScatter: rows of a cache, from the position of their batch on ---- */

static bool infer_tensor_scatter(struct sk_inference *inference)
{
	const struct sk_value *data = sk_infer_input(inference, 0), *updates = sk_infer_input(inference, 1);
	const struct sk_value *write = sk_infer_input(inference, 2);
	const char *mode = sk_node_string(inference->node, "mode", "linear");
	uint32_t axis;

	if (!check_type(inference, 1, 0) ||
	    !sk_infer_axis(inference, sk_node_integer(inference->node, "axis", -2), data->rank, &axis))
		return false;
	if (!axis)
		return sk_infer_error(inference, "axis 0 is that of the batches, which have rows of their own");
	if (strcmp(mode, "linear") && strcmp(mode, "circular"))
		return sk_infer_error(inference, "there is no mode '%s'", mode);
	for (uint32_t i = 0; i < data->rank; i++)
		if (updates->rank != data->rank || updates->shape[i] > data->shape[i] ||
		    (i != axis && updates->shape[i] != data->shape[i]))
			return sk_infer_error(inference, "'%s' does not fit into '%s' along axis %u", updates->name,
					      data->name, axis);
	if (write && (write->dtype != SK_I64 || write->rank != 1 || write->shape[0] != data->shape[0]))
		return sk_infer_error(inference, "'%s' is not an i64 for each of %llu batches", write->name,
				      (unsigned long long)data->shape[0]);
	if (!sk_shape_is_countable(SK_I64, updates->rank, updates->shape))
		return sk_infer_error(inference, "'%s' has too many rows", updates->name);
	return sk_infer_like(inference, 0, 0);
}

/* Broadcast the value, in its own rank, to `shape`. */
static uint32_t repeated(struct sk_canonical *canonical, uint32_t value, const uint64_t shape[3])
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_value from = graph->values.items[value];
	struct sk_arrangement arrangement = {.rank = 3, .shape = {shape[0], shape[1], shape[2]}};
	uint32_t to = sk_graph_new_value(graph, from.name, from.dtype, 3, shape);

	sk_dense_strides(3, from.shape, arrangement.strides);
	for (uint32_t i = 0; i < 3; i++)
		arrangement.strides[i] *= from.shape[i] == shape[i];
	sk_canonical_arrange(canonical, sk_operand_flat(graph, to), value, &arrangement);
	return to;
}

/* Return for each batch, as [b, 1, s], the places of its rows along the axis. varies: the number of rows has bounds. */
static uint32_t write_positions(struct sk_canonical *canonical, uint64_t batches, uint64_t rows, uint64_t most,
				bool varies)
{
	struct sk_op_graph *graph = canonical->graph;
	const uint64_t begins[3] = {batches, 1, 1}, steps[3] = {1, 1, rows}, all[3] = {batches, 1, rows};
	uint32_t write = sk_canonical_input(canonical, 2), begin, step, place, rest;
	bool linear = !strcmp(sk_node_string(node_of(canonical), "mode", "linear"), "linear");
	struct sk_graph_call *call;

	begin = sk_graph_new_value(graph, "begin", SK_I64, 3, begins);
	if (write == SK_NONE)
		sk_canonical_fill(canonical, begin, 0);
	else
		sk_canonical_view(canonical, begin, write, 0);
	if (linear && rows == 1)
		return begin;
	step = sk_graph_new_value(graph, "step", SK_I64, 3, steps);
	graph->values.items[step].varies = varies;
	place = sk_graph_new_value(graph, "place", SK_I64, 3, all);
	call = sk_canonical_call(canonical, "Range");
	sk_call_input(canonical, call, sk_operand_flat(graph, sk_canonical_number(canonical, SK_I64, 0)));
	sk_call_input(canonical, call, sk_operand_flat(graph, sk_canonical_number(canonical, SK_I64, 1)));
	sk_call_output(canonical, call, sk_operand_flat(graph, step));
	sk_canonical_binary(canonical, "Add", begin, step, place, true);
	if (linear)
		return place;
	rest = sk_graph_new_value(graph, "place", SK_I64, 3, all);
	sk_canonical_binary(canonical, "Mod", place, sk_canonical_number(canonical, SK_I64, (double)most), rest, false);
	return rest;
}

static bool canonical_tensor_scatter(struct sk_canonical *canonical)
{
	const struct sk_value data = *input_of(canonical, 0), updates = *input_of(canonical, 1);
	uint32_t axis = axis_of(canonical, -2, data.rank), places;
	const uint64_t all[3] = {data.shape[0], product(data.shape, 1, axis), updates.shape[axis]};
	struct sk_value cache = {.rank = 3, .shape = {all[0], all[1], data.shape[axis]}};

	if (!sk_value_elements(&updates)) {
		sk_canonical_view(canonical, sk_canonical_output(canonical, 0), sk_canonical_input(canonical, 0), 0);
		return true;
	}
	places = write_positions(canonical, all[0], all[2], data.shape[axis], updates.sizes[axis]);
	if (all[1] > 1)
		places = repeated(canonical, places, all);
	places = element_places(canonical, places, &cache, 2);
	return scatter(canonical, places, 1, product(data.shape, axis + 1, data.rank));
}

/* ---- OneHot, EyeLike, Range ---- */

static bool infer_one_hot(struct sk_inference *inference)
{
	const struct sk_value *indices = sk_infer_input(inference, 0), *values = sk_infer_input(inference, 2);
	uint64_t shape[SK_MAX_RANK + 1];
	double depth;
	uint32_t axis;

	if (!sk_value_number(sk_infer_input(inference, 1), &depth) || !(depth >= 0 && depth < 0x1p62))
		return sk_infer_error(inference, "the depth is not a number of elements");
	if (sk_value_elements(values) != 2)
		return sk_infer_error(inference, "'%s' has %llu element%s, not 2", values->name,
				      (unsigned long long)sk_value_elements(values),
				      sk_plural(sk_value_elements(values)));
	if (!sk_infer_axis(inference, sk_node_integer(inference->node, "axis", -1), indices->rank + 1, &axis))
		return false;
	for (uint32_t i = 0; i <= indices->rank; i++)
		shape[i] = i == axis ? (uint64_t)depth : indices->shape[i - (i > axis)];
	return sk_infer_output(inference, 0, values->dtype, indices->rank + 1, shape);
}

static bool canonical_one_hot(struct sk_canonical *canonical)
{
	const struct sk_op_graph *graph = canonical->graph;
	uint32_t to = sk_canonical_output(canonical, 0);
	uint32_t indices = sk_canonical_cast(canonical, sk_canonical_input(canonical, 0), SK_I64);
	uint32_t axis = axis_of(canonical, -1, graph->values.items[to].rank);
	const struct sk_operand whole = sk_operand_axis(graph, to, axis);
	struct sk_graph_call *call = sk_canonical_call(canonical, "OneHot");

	sk_call_integer(canonical, call, "depth", (int64_t)whole.shape[1]);
	sk_call_input(canonical, call, sk_operand_flat(graph, indices));
	sk_call_input(canonical, call, sk_operand_moved(sk_operand_flat(graph, sk_canonical_input(canonical, 2))));
	sk_call_output(canonical, call,
		       sk_operand_moved(rows_of(graph, to, whole.shape[0] * whole.shape[1], whole.shape[2])));
	return true;
}

static bool infer_eye_like(struct sk_inference *inference)
{
	const struct sk_value *like = sk_infer_input(inference, 0);
	int64_t number = sk_node_integer(inference->node, "dtype", 0);
	enum sk_dtype dtype = number ? sk_dtype_of_number(number) : like->dtype;

	if (dtype == SK_DTYPE_NONE)
		return sk_infer_error(inference, "there are no tensors of element type %lld here", (long long)number);
	if (like->rank != 2)
		return sk_infer_error(inference, "'%s' has %u dimension%s, not 2", like->name, like->rank,
				      sk_plural(like->rank));
	return sk_infer_output(inference, 0, dtype, 2, like->shape);
}

static bool canonical_eye_like(struct sk_canonical *canonical)
{
	const struct sk_op_graph *graph = canonical->graph;
	uint32_t to = sk_canonical_output(canonical, 0), numbers[2];
	int64_t k = sk_node_integer(node_of(canonical), "k", 0), limit = (int64_t)1 << 62;
	struct sk_graph_call *call;

	for (int i = 0; i < 2; i++)
		numbers[i] = sk_canonical_number(canonical, graph->values.items[to].dtype, i);
	call = sk_canonical_call(canonical, "EyeLike");
	sk_call_integer(canonical, call, "k", k > limit ? limit : k < -limit ? -limit : k);
	for (int i = 0; i < 2; i++)
		sk_call_input(canonical, call, sk_operand_moved(sk_operand_flat(graph, numbers[i])));
	sk_call_output(canonical, call,
		       sk_operand_moved(sk_operand_shaped(graph, to, 2, graph->values.items[to].shape)));
	return true;
}

/* Count the numbers from the start to the limit, exactly for integers. */
static bool count_range(const struct sk_inference *inference, uint64_t *count)
{
	const int64_t *integers[3];
	double numbers[3], whole;
	uint64_t one;

	for (size_t i = 0; i < 3; i++) {
		const struct sk_value *value = sk_infer_input(inference, i);

		if (!sk_value_number(value, &numbers[i]))
			return sk_infer_error(inference, "'%s' is not one number", value->name);
		if (!sk_value_integers(inference->graph->arena, value, &one, &integers[i]))
			integers[i] = NULL;
	}
	if (!(numbers[2] < 0 || numbers[2] > 0))
		return sk_infer_error(inference, "the step is %g", numbers[2]);
	*count = 0;
	if (integers[0]) {
		int64_t start = *integers[0], limit = *integers[1], step = *integers[2];
		uint64_t span = step > 0 ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;

		if (step > 0 ? start < limit : start > limit)
			*count = (span - 1) / (step > 0 ? (uint64_t)step : -(uint64_t)step) + 1;
		return true;
	}
	whole = (numbers[1] - numbers[0]) / numbers[2];
	if (!(whole < 0x1p52))
		return sk_infer_error(inference, "it has too many elements");
	if (whole > 0)
		*count = (uint64_t)whole + (whole > (double)(uint64_t)whole);
	return true;
}

static bool infer_range(struct sk_inference *inference)
{
	uint64_t count;

	return check_type(inference, 1, 0) && check_type(inference, 2, 0) && count_range(inference, &count) &&
	       sk_infer_output(inference, 0, sk_infer_input(inference, 0)->dtype, 1, &count);
}

static bool canonical_range(struct sk_canonical *canonical)
{
	const struct sk_op_graph *graph = canonical->graph;
	struct sk_graph_call *call = sk_canonical_call(canonical, "Range");

	sk_call_input(canonical, call, sk_operand_flat(graph, sk_canonical_input(canonical, 0)));
	sk_call_input(canonical, call, sk_operand_flat(graph, sk_canonical_input(canonical, 2)));
	sk_call_output(canonical, call, sk_operand_flat(graph, sk_canonical_output(canonical, 0)));
	return true;
}

static bool is_half_range(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	enum sk_dtype dtype = sk_node_input(graph, node, 0)->dtype;

	return dtype == SK_F16 || dtype == SK_BF16;
}

/* Numbers of half precision are computed in f32, and rounded once. */
static bool expand_range(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	uint32_t inputs[3];

	for (size_t i = 0; i < 3; i++)
		inputs[i] = sk_expansion_cast(&expansion, node->inputs.items[i], SK_EXPANSION_F32);
	inputs[0] = sk_expansion_call(&expansion, "Range", 3, inputs);
	sk_expansion_into(&expansion, "CastLike", 2, (const uint32_t[]){inputs[0], node->inputs.items[0]},
			  node->outputs.items[0]);
	return true;
}

/* ---- Trilu, ReverseSequence ---- */

static bool infer_trilu(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0), *shift = sk_infer_input(inference, 1);

	if (from->rank < 2)
		return sk_infer_error(inference, "'%s' has %u dimension%s, and a matrix has 2", from->name, from->rank,
				      sk_plural(from->rank));
	if (shift && (shift->dtype != SK_I64 || sk_value_elements(shift) != 1))
		return sk_infer_error(inference, "'%s' is not one number of i64", shift->name);
	return sk_infer_like(inference, 0, 0);
}

static bool canonical_trilu(struct sk_canonical *canonical)
{
	const struct sk_op_graph *graph = canonical->graph;
	const struct sk_value *from = input_of(canonical, 0);
	uint64_t columns = from->shape[from->rank - 1], rows = sk_value_elements(from) / columns;
	struct sk_graph_call *call = sk_canonical_call(canonical, "Trilu");

	sk_call_integer(canonical, call, "m", (int64_t)from->shape[from->rank - 2]);
	sk_call_integer(canonical, call, "upper", sk_node_integer(node_of(canonical), "upper", 1) != 0);
	sk_call_input(canonical, call,
		      sk_operand_moved(rows_of(graph, sk_canonical_input(canonical, 0), rows, columns)));
	sk_call_input(canonical, call, sk_operand_flat(graph, sk_canonical_input(canonical, 1)));
	sk_call_output(canonical, call,
		       sk_operand_moved(rows_of(graph, sk_canonical_output(canonical, 0), rows, columns)));
	return true;
}

static bool infer_reverse_sequence(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0), *lengths = sk_infer_input(inference, 1);
	int64_t batch = sk_node_integer(inference->node, "batch_axis", 1);
	int64_t time = sk_node_integer(inference->node, "time_axis", 0);

	if (from->rank < 2 || batch < 0 || batch > 1 || time != 1 - batch)
		return sk_infer_error(inference, "the axes of batches and steps are not the first two of '%s'",
				      from->name);
	if (lengths->dtype != SK_I64 || lengths->rank != 1 || lengths->shape[0] != from->shape[batch])
		return sk_infer_error(inference, "'%s' is not a list of i64 with a length for each batch",
				      lengths->name);
	return sk_infer_like(inference, 0, 0);
}

static bool canonical_reverse_sequence(struct sk_canonical *canonical)
{
	const struct sk_op_graph *graph = canonical->graph;
	const struct sk_value *from = input_of(canonical, 0);
	int64_t time = sk_node_integer(node_of(canonical), "time_axis", 0);
	uint64_t rows = from->shape[0] * from->shape[1];
	struct sk_graph_call *call = sk_canonical_call(canonical, "ReverseSequence");

	sk_call_integer(canonical, call, "time", (int64_t)from->shape[time]);
	sk_call_integer(canonical, call, "time_first", !time);
	sk_call_input(canonical, call, sk_operand_moved(sk_operand_flat(graph, sk_canonical_input(canonical, 0))));
	sk_call_input(canonical, call, sk_operand_flat(graph, sk_canonical_input(canonical, 1)));
	sk_call_output(canonical, call,
		       sk_operand_moved(rows_of(graph, sk_canonical_output(canonical, 0), rows,
						sk_value_elements(from) / rows)));
	return true;
}

/* ---- the table ---- */

#define INTEGER(NAME, DEFAULT)                                                                                         \
	{                                                                                                              \
		NAME, SK_ATTRIBUTE_INTEGER, .integer = (DEFAULT)                                                       \
	}

static const struct sk_schema_attribute axis_0[] = {INTEGER("axis", 0), {NULL}};
static const struct sk_schema_attribute axis_last[] = {INTEGER("axis", -1), {NULL}};
static const struct sk_schema_attribute batch_dims[] = {INTEGER("batch_dims", 0), {NULL}};
static const struct sk_schema_attribute reduced[] = {{"reduction", SK_ATTRIBUTE_STRING, .string = "none"}, {NULL}};
static const struct sk_schema_attribute axis_reduced[] = {
	INTEGER("axis", 0), {"reduction", SK_ATTRIBUTE_STRING, .string = "none"}, {NULL}};
static const struct sk_schema_attribute axis_mode[] = {
	INTEGER("axis", -2), {"mode", SK_ATTRIBUTE_STRING, .string = "linear"}, {NULL}};
static const struct sk_schema_attribute eye[] = {INTEGER("dtype", 0), INTEGER("k", 0), {NULL}};
static const struct sk_schema_attribute upper[] = {INTEGER("upper", 1), {NULL}};
static const struct sk_schema_attribute batch_time[] = {INTEGER("batch_axis", 1), INTEGER("time_axis", 0), {NULL}};

static const struct sk_schema_attribute range[] = {{"stash_type", SK_ATTRIBUTE_INTEGER, .integer = 1}, {NULL}};

const struct sk_schema sk_operators_indexing[] = {
	{"Compress", "", 2, 2, 1, 1, .demands = 1 << 1, .attributes = axis_0, .infer = infer_compress,
	 .canonical = canonical_compress},
	{"EyeLike", "", 1, 1, 1, 1, .attributes = eye, .infer = infer_eye_like, .canonical = canonical_eye_like},
	{"Gather", "", 2, 2, 1, 1, .attributes = axis_0, .infer = infer_gather, .canonical = canonical_gather},
	{"GatherElements", "", 2, 2, 1, 1, .attributes = axis_0, .infer = infer_gather_elements,
	 .canonical = canonical_gather_elements},
	{"GatherND", "", 2, 2, 1, 1, .attributes = batch_dims, .infer = infer_gather_nd,
	 .canonical = canonical_gather_nd},
	{"OneHot", "", 3, 3, 1, 1, .demands = 1 << 1, .attributes = axis_last, .infer = infer_one_hot,
	 .canonical = canonical_one_hot},
	{"Range", "", 3, 3, 1, 1, .demands = 7, .attributes = range, .expands = is_half_range, .expand = expand_range,
	 .infer = infer_range, .canonical = canonical_range},
	{"ReverseSequence", "", 2, 2, 1, 1, .attributes = batch_time, .infer = infer_reverse_sequence,
	 .canonical = canonical_reverse_sequence},
	{"Scatter", "", 3, 3, 1, 1, .attributes = axis_0, .upgrade = upgrade_scatter},
	{"ScatterElements", "", 3, 3, 1, 1, .attributes = axis_reduced, .infer = infer_scatter_elements,
	 .canonical = canonical_scatter_elements},
	{"ScatterND", "", 3, 3, 1, 1, .attributes = reduced, .infer = infer_scatter_nd,
	 .canonical = canonical_scatter_nd},
	{"TensorScatter", "", 2, 3, 1, 1, .attributes = axis_mode, .infer = infer_tensor_scatter,
	 .canonical = canonical_tensor_scatter},
	{"Trilu", "", 1, 2, 1, 1, .attributes = upper, .infer = infer_trilu, .canonical = canonical_trilu},
	{NULL},
};
