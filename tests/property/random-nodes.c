/* Nodes of patterns; see random-nodes.h. */
#include "tests/property/random-nodes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXTRAS = 8 /* nodes of a piece that are kept for extras, which its pattern lacks */ };

/* ---- nodes ---- */

/* Add a reader of an inner value outside of the pattern. */
static void add_reader(struct maker *maker, uint32_t value)
{
	struct graph_node node = {.op = "Neg", .mode = ""};
	struct graph_value like = *value_of(maker, value);
	uint32_t y;

	add_input(maker, &node, value);
	y = put(maker, &node, like.dtype, like.rank, like.shape);
	maker->graph->values[y].is_inner = false;
}

uint32_t put(struct maker *maker, const struct graph_node *like, enum sk_dtype dtype, uint32_t rank,
	     const int64_t *shape)
{
	struct graph_node *node = &maker->graph->nodes[maker->graph->node_count++];

	*node = *like;
	node->goes_on = true;
	node->output_count = 1;
	node->outputs[0] = add_value(maker, GRAPH_COMPUTED, dtype, rank, shape);
	maker->graph->values[node->outputs[0]].is_inner = true;
	return node->outputs[0];
}

uint32_t put_cast(struct maker *maker, uint32_t x, enum sk_dtype to)
{
	struct graph_node node = {.op = "Cast", .mode = ""};
	struct graph_value like = *value_of(maker, x);

	add_input(maker, &node, x);
	say(&node, " to=%d", to == SK_F32 ? 1 : to == SK_F16 ? 10 : to == SK_F64 ? 11 : 16);
	return put(maker, &node, to, like.rank, like.shape);
}

uint32_t put_two(struct maker *maker, const char *op, uint32_t a, uint32_t b)
{
	struct graph_node node = {.op = op, .mode = ""};
	bool turned = (!strcmp(op, "Add") || !strcmp(op, "Mul")) && one_in(maker, 2);
	int64_t shape[SK_MAX_RANK], rank = broadcast(value_of(maker, a), value_of(maker, b), shape);
	enum sk_dtype dtype = value_of(maker, a)->dtype;
	uint32_t y;

	add_input(maker, &node, turned ? b : a);
	add_input(maker, &node, turned ? a : b);
	y = put(maker, &node, dtype, (uint32_t)rank, shape);
	if (maker->graph->node_count + PIECE_NODES - EXTRAS > GRAPH_NODES)
		return y;
	if (one_in(maker, 60))
		add_reader(maker, y);
	if (one_in(maker, 60))
		y = put_cast(maker, put_cast(maker, y, dtype == SK_F32 ? SK_F64 : SK_F32), dtype);
	return y;
}

uint32_t put_one(struct maker *maker, const char *op, uint32_t x)
{
	struct graph_node node = {.op = op, .mode = ""};
	struct graph_value like = *value_of(maker, x);

	add_input(maker, &node, x);
	return put(maker, &node, strcmp(op, "IsNaN") ? like.dtype : SK_BOOL, like.rank, like.shape);
}

uint32_t put_mean(struct maker *maker, uint32_t x)
{
	struct graph_node node = {.op = "ReduceMean", .mode = "", .flag = true, .list_count = 1};
	struct graph_value like = *value_of(maker, x);
	int64_t last = like.rank - 1, axis = one_in(maker, 3) ? last : -1;

	if (one_in(maker, 30) && like.rank > 1)
		axis = last - 1;
	node.list[0] = axis < 0 ? last : axis;
	add_input(maker, &node, x);
	say_or_add(maker, &node, 18, "axes", 1, &axis);
	like.shape[node.list[0]] = 1;
	return put(maker, &node, like.dtype, like.rank, like.shape);
}

uint32_t put_softmax(struct maker *maker, uint32_t x)
{
	struct graph_value like = *value_of(maker, x);
	struct graph_node node = {.op = "Softmax", .mode = "", .axis = like.rank - 1, .flag = maker->graph->opset < 13};

	add_input(maker, &node, x);
	say(&node, " axis=%u", like.rank - 1);
	return put(maker, &node, like.dtype, like.rank, like.shape);
}

uint32_t put_transpose(struct maker *maker, uint32_t x, uint32_t one, uint32_t other)
{
	struct graph_node node = {.op = "Transpose", .mode = ""};
	struct graph_value like = *value_of(maker, x);
	int64_t size = like.shape[one];

	add_input(maker, &node, x);
	for (uint32_t i = 0; i < like.rank; i++)
		node.list[i] = i == one ? (int64_t)other : i == other ? (int64_t)one : (int64_t)i;
	say_list(&node, "perm", like.rank, node.list);
	like.shape[one] = like.shape[other];
	like.shape[other] = size;
	return put(maker, &node, like.dtype, like.rank, like.shape);
}

uint32_t put_product(struct maker *maker, uint32_t a, uint32_t b)
{
	struct graph_node node = {.op = "MatMul", .mode = ""};
	struct graph_value like = *value_of(maker, a);

	like.shape[like.rank - 1] = value_of(maker, b)->shape[value_of(maker, b)->rank - 1];
	add_input(maker, &node, a);
	add_input(maker, &node, b);
	return put(maker, &node, like.dtype, like.rank, like.shape);
}

uint32_t put_where(struct maker *maker, uint32_t condition, uint32_t a, uint32_t b, uint32_t like_value)
{
	struct graph_node node = {.op = "Where", .mode = ""};
	struct graph_value like = *value_of(maker, like_value);

	add_input(maker, &node, condition);
	add_input(maker, &node, a);
	add_input(maker, &node, b);
	return put(maker, &node, like.dtype, like.rank, like.shape);
}

uint32_t put_split(struct maker *maker, uint32_t x, uint32_t axis, uint32_t count)
{
	struct graph_node node = {.op = "Split", .mode = "", .axis = axis}, *added;
	struct graph_value like = *value_of(maker, x);
	int64_t size = like.shape[axis] / count;
	uint32_t first;

	add_input(maker, &node, x);
	say(&node, " axis=%d", one_in(maker, 3) ? (int)axis - (int)like.rank : (int)axis);
	for (uint32_t i = 0; i < count; i++)
		node.list[i] = size;
	say_or_add(maker, &node, 13, "split", count, node.list);
	like.shape[axis] = size;
	first = put(maker, &node, like.dtype, like.rank, like.shape);
	added = &maker->graph->nodes[maker->graph->node_count - 1];
	for (uint32_t i = 1; i < count; i++) {
		add_output(maker, added, like.dtype, like.rank, like.shape);
		maker->graph->values[first + i].is_inner = true;
	}
	return first;
}

uint32_t put_concat(struct maker *maker, uint32_t axis, uint32_t count, const uint32_t *parts)
{
	struct graph_node node = {.op = "Concat", .mode = "", .axis = axis};
	struct graph_value like = *value_of(maker, parts[0]);

	like.shape[axis] = 0;
	for (uint32_t i = 0; i < count; i++)
		like.shape[axis] += value_of(maker, add_input(maker, &node, parts[i]))->shape[axis];
	say(&node, " axis=%u", axis);
	return put(maker, &node, like.dtype, like.rank, like.shape);
}

/* ---- values ---- */

uint32_t scalar(struct maker *maker, uint32_t like, number exact)
{
	int64_t one = 1;
	uint32_t index = add_value(maker, one_in(maker, 60) ? GRAPH_INPUT : GRAPH_CONSTANT,
				   value_of(maker, like)->dtype, one_in(maker, 4) && value_of(maker, like)->rank, &one);
	struct graph_value *value = &maker->graph->values[index];

	if (one_in(maker, 40))
		exact = one_in(maker, 2) ? draw_any(maker, value->dtype) : exact * (one_in(maker, 2) ? 1.03L : 2);
	value->elements[0] = exact;
	settle(value);
	if (value->elements[0] != exact && isfinite(value->elements[0]))
		value->error = calloc(1, sizeof(number));
	if (value->error)
		value->error[0] = fabsl(value->elements[0] - exact);
	return index;
}

uint32_t fresh(struct maker *maker, enum graph_kind kind, enum sk_dtype dtype, uint32_t rank, const int64_t *shape)
{
	uint32_t index = add_value(maker, kind, dtype, rank, shape);
	struct graph_value *value = &maker->graph->values[index];

	for (int64_t i = 0; i < value->count; i++)
		value->elements[i] = (number)draw(maker, 1 << 20) / (1 << 18) - 2;
	if (kind == GRAPH_CONSTANT && one_in(maker, 12))
		make_any(maker, value);
	settle(value);
	return index;
}

uint32_t factor(struct maker *maker, uint32_t like, number usual)
{
	return scalar(maker, like, one_in(maker, 4) ? draw_any(maker, value_of(maker, like)->dtype) : usual);
}

uint32_t parameter(struct maker *maker, uint32_t x)
{
	struct graph_value like = *value_of(maker, x);

	return fresh(maker, one_in(maker, 3) ? GRAPH_INPUT : GRAPH_CONSTANT, like.dtype, 1, &like.shape[like.rank - 1]);
}

enum sk_dtype draw_type(struct maker *maker)
{
	return draw_dtype(maker, SET(SK_F32) | SET(SK_F16) | SET(SK_BF16));
}

uint32_t draw_input(struct maker *maker)
{
	static const int64_t sizes[] = {1, 2, 3, 4, 8, 16, 17, 32, 33, 48, 64};
	uint32_t rank = 2 + draw(maker, 2);
	int64_t shape[3];

	if (one_in(maker, 4)) {
		uint32_t index = pick(maker, FLOATS, 2, 4);

		if (value_of(maker, index)->count)
			return index;
	}
	for (uint32_t i = 0; i < rank; i++)
		shape[i] = sizes[draw(maker, i + 1 == rank ? 11 : i ? 6 : 4)];
	return fresh(maker, GRAPH_INPUT, draw_type(maker), rank, shape);
}

uint32_t alike(struct maker *maker, uint32_t x)
{
	struct graph_value like = *value_of(maker, x);

	return fresh(maker, GRAPH_INPUT, like.dtype, like.rank, like.shape);
}
