/* Lists that nodes have as inputs (shapes, axes, the ends of slices), computed from the shapes of values as exporters
 * write sizes that are not known to them. Each list is computed by nodes of its own, and mostly from the first value
 * that has such a dimension, so graphs have many equal computations, for different purposes. */
#include <string.h>

#include "tests/property/random-nodes.h"

enum { MOST_SIZES = 4, LIST_NODES = 4 * MOST_SIZES + 1 /* at most, for a list */ };

/* Add the node's output, which has elements that are known before anything runs. */
static uint32_t put_known(struct maker *maker, const struct graph_node *node, uint32_t rank, int64_t count,
			  const number *elements)
{
	uint32_t index = put(maker, node, SK_I64, rank, &count);
	struct graph_value *value = &maker->graph->values[index];

	memcpy(value->elements, elements, (size_t)value->count * sizeof(*elements));
	value->is_size = true;
	return index;
}

static uint32_t put_shape(struct maker *maker, uint32_t x)
{
	struct graph_node node = {.op = "Shape", .mode = ""};
	const struct graph_value like = *value_of(maker, x);
	number sizes[SK_MAX_RANK];

	add_input(maker, &node, x);
	for (uint32_t i = 0; i < like.rank; i++)
		sizes[i] = (number)like.shape[i];
	return put_known(maker, &node, 1, like.rank, sizes);
}

/* An element of a list, as a scalar or as a list of one. */
static uint32_t put_gather(struct maker *maker, uint32_t list, int64_t at, uint32_t rank)
{
	struct graph_node node = {.op = "Gather", .mode = ""};
	const number element = value_of(maker, list)->elements[at];
	uint32_t index = add_list(maker, 1, &at);

	maker->graph->values[index].rank = rank;
	add_input(maker, &node, list);
	add_input(maker, &node, index);
	return put_known(maker, &node, rank, 1, &element);
}

static uint32_t put_unsqueeze(struct maker *maker, uint32_t x)
{
	struct graph_node node = {.op = "Unsqueeze", .mode = ""};
	const number element = value_of(maker, x)->elements[0];

	add_input(maker, &node, x);
	say_or_add(maker, &node, 13, "axes", 1, &(int64_t){0});
	return put_known(maker, &node, 1, 1, &element);
}

static uint32_t put_slice(struct maker *maker, uint32_t list, int64_t at)
{
	struct graph_node node = {.op = "Slice", .mode = "", .starts = {at}, .steps = {1}};
	const number element = value_of(maker, list)->elements[at];

	add_input(maker, &node, list);
	say_or_add(maker, &node, 10, "starts", 1, &at);
	say_or_add(maker, &node, 10, "ends", 1, &(int64_t){at + 1});
	say_or_add(maker, &node, 10, "axes", 1, &(int64_t){0});
	return put_known(maker, &node, 1, 1, &element);
}

/* x + 0, which simplification makes x. */
static uint32_t put_sum(struct maker *maker, uint32_t x)
{
	struct graph_node node = {.op = "Add", .mode = ""};
	const struct graph_value like = *value_of(maker, x);

	add_input(maker, &node, x);
	add_input(maker, &node, add_list(maker, 1, &(int64_t){0}));
	return put_known(maker, &node, 1, like.count, like.elements);
}

/* Find the first value of the part, or any other, that has the size as a dimension; false: none has. 0 and 1 are not
 * looked for. */
static bool find_size(struct maker *maker, uint32_t end, number size, uint32_t *found, int64_t *axis)
{
	bool any = one_in(maker, 8), is_found = false;

	for (uint32_t v = maker->first; v < end && size > 1 && (any || !is_found); v++) {
		const struct graph_value *value = value_of(maker, v);

		for (uint32_t d = 0; d < value->rank && !value->is_inner && (any || !is_found); d++) {
			if ((number)value->shape[d] != size)
				continue;
			*found = v;
			*axis = d;
			is_found = true;
		}
	}
	return is_found;
}

/* The size as a list of one, or, of rank 0, as a scalar. */
static uint32_t put_size(struct maker *maker, uint32_t value, int64_t axis, uint32_t rank)
{
	uint32_t list = put_shape(maker, value);

	if (!rank)
		return put_gather(maker, list, axis, 0);
	switch (draw(maker, 6)) {
	case 0:
		list = put_gather(maker, list, axis, 1);
		break;
	case 1:
		list = put_slice(maker, list, axis);
		break;
	default:
		list = put_unsqueeze(maker, put_gather(maker, list, axis, 0));
	}
	return one_in(maker, 6) ? put_sum(maker, list) : list;
}

/* The list from the shapes of values up to `end`; itself if none of these has such a size. */
static uint32_t compute_list(struct maker *maker, uint32_t index, uint32_t end)
{
	const struct graph_value list = *value_of(maker, index);
	uint32_t parts[MOST_SIZES], value = 0, found = 0;
	int64_t axis = 0;

	for (int64_t i = 0; i < list.count; i++) {
		if (find_size(maker, end, list.elements[i], &value, &axis)) {
			parts[i] = put_size(maker, value, axis, list.rank);
			found++;
		} else {
			parts[i] = add_list(maker, 1, &(int64_t){(int64_t)list.elements[i]});
		}
	}
	if (!found || list.count == 1)
		return found ? parts[0] : index;
	index = put_concat(maker, 0, (uint32_t)list.count, parts);
	memcpy(maker->graph->values[index].elements, list.elements, (size_t)list.count * sizeof(number));
	maker->graph->values[index].is_size = true;
	return index;
}

void compute_lists(struct maker *maker)
{
	struct graph *graph = maker->graph;
	struct graph_node node = graph->nodes[--graph->node_count];

	for (uint32_t i = 0; i < node.input_count; i++) {
		const struct graph_value *value = value_of(maker, node.inputs[i]);

		if (value->kind != GRAPH_CONSTANT || value->dtype != SK_I64 || value->rank > 1 || !value->count ||
		    value->count > MOST_SIZES || value->uses > 1 || graph->node_count + LIST_NODES >= GRAPH_NODES)
			continue;
		graph->values[node.inputs[i]].uses--;
		node.inputs[i] = compute_list(maker, node.inputs[i], node.outputs[0]);
		graph->values[node.inputs[i]].uses++;
	}
	graph->nodes[graph->node_count++] = node;
}

/* ---- one size for several purposes ---- */

static uint32_t put_reshape(struct maker *maker, uint32_t x, int64_t size)
{
	struct graph_node node = {.op = "Reshape", .mode = ""};
	const struct graph_value like = *value_of(maker, x);

	add_input(maker, &node, x);
	add_input(maker, &node, add_list(maker, 2, (int64_t[]){-1, size}));
	return put(maker, &node, like.dtype, 2, (int64_t[]){like.count / size, size});
}

/* The first rows of a table. */
static uint32_t put_rows(struct maker *maker, enum sk_dtype dtype, int64_t size)
{
	struct graph_node node = {.op = "Slice", .mode = "", .steps = {1, 1}};
	const int64_t table[2] = {size + draw(maker, 9), 1 + draw(maker, 5)};

	add_input(maker, &node, fresh(maker, one_in(maker, 2) ? GRAPH_INPUT : GRAPH_CONSTANT, dtype, 2, table));
	say_or_add(maker, &node, 10, "starts", 1, &(int64_t){0});
	say_or_add(maker, &node, 10, "ends", 1, &size);
	say_or_add(maker, &node, 10, "axes", 1, &(int64_t){0});
	return put(maker, &node, dtype, 2, (int64_t[]){size, table[1]});
}

static uint32_t put_spread(struct maker *maker, enum sk_dtype dtype, int64_t size)
{
	struct graph_node node = {.op = "Expand", .mode = ""};
	const int64_t column[2] = {1 + draw(maker, 3), 1}, shape[2] = {column[0], size};

	add_input(maker, &node, fresh(maker, GRAPH_INPUT, dtype, 2, column));
	add_input(maker, &node, add_list(maker, 2, (int64_t[]){1, size}));
	return put(maker, &node, dtype, 2, shape);
}

static uint32_t put_zeros(struct maker *maker, int64_t size)
{
	struct graph_node node = {.op = "ConstantOfShape", .mode = ""};

	add_input(maker, &node, add_list(maker, 1, &size));
	return put(maker, &node, SK_F32, 1, &size);
}

static uint32_t put_range(struct maker *maker, int64_t size)
{
	struct graph_node node = {.op = "Range", .mode = "", .steps = {1}};

	for (uint32_t i = 0; i < 3; i++) {
		uint32_t operand = add_list(maker, 1, &(int64_t){i == 1 ? size : i / 2});

		maker->graph->values[operand].rank = 0;
		add_input(maker, &node, operand);
	}
	return put(maker, &node, SK_I64, 1, &size);
}

uint32_t add_sizes(struct maker *maker, uint32_t x)
{
	const struct graph_value like = *value_of(maker, x);
	const int64_t size = like.shape[like.rank - 1];
	uint32_t made = x;

	if (size < 2 || !like.count)
		return put_one(maker, "Neg", x);
	for (uint32_t left = 2 + draw(maker, 3); left--;) {
		switch (draw(maker, maker->graph->opset < 11 ? 4 : 5)) {
		case 0:
			made = put_reshape(maker, x, size);
			break;
		case 1:
			made = put_rows(maker, like.dtype, size);
			break;
		case 2:
			made = put_spread(maker, like.dtype, size);
			break;
		case 3:
			made = put_zeros(maker, size);
			break;
		default:
			made = put_range(maker, size);
		}
		if (left)
			maker->graph->values[made].is_inner = false;
		compute_lists(maker);
	}
	return made;
}
