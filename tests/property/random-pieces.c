/* Patterns of operators that pattern fusion looks for (graph/rules/), in some of the ways in which they are written.
 * Some parts only look like them: with another constant, one that is an input, one more user or an output of the model
 * inside, a detour through another type. random-graph.c draws scopes and streams that cut a pattern. Inner values are
 * marked, so that a fused pattern can be compared with the chain's result at its ends. */
#include "tests/property/random-nodes.h"

#include <math.h>

/* ---- patterns ---- */

static uint32_t add_swish(struct maker *maker, uint32_t x)
{
	uint32_t inner = one_in(maker, 3) ? put_two(maker, "Mul", x, factor(maker, x, 1.702L)) : x;

	return put_two(maker, "Mul", x, put_one(maker, "Sigmoid", inner));
}

static uint32_t halve(struct maker *maker, uint32_t x)
{
	return one_in(maker, 2) ? put_two(maker, "Mul", x, scalar(maker, x, 0.5L))
				: put_two(maker, "Div", x, scalar(maker, x, 2));
}

/* x t / 2, wherever the half is. */
static uint32_t halve_product(struct maker *maker, uint32_t x, uint32_t t)
{
	switch (draw(maker, 3)) {
	case 0:
		return put_two(maker, "Mul", x, halve(maker, t));
	case 1:
		return put_two(maker, "Mul", halve(maker, x), t);
	default:
		return halve(maker, put_two(maker, "Mul", x, t));
	}
}

static uint32_t add_gelu(struct maker *maker, uint32_t x)
{
	uint32_t inner = one_in(maker, 2) ? put_two(maker, "Div", x, scalar(maker, x, sqrtl(2)))
					  : put_two(maker, "Mul", x, scalar(maker, x, sqrtl(0.5L)));
	uint32_t curve = put_one(maker, "Erf", inner);

	return halve_product(maker, x, put_two(maker, "Add", curve, scalar(maker, x, 1)));
}

static uint32_t add_gelu_tanh(struct maker *maker, uint32_t x)
{
	number root = sqrtl(2 / acosl(-1));
	uint32_t square, inner;

	if (one_in(maker, 2)) {
		uint32_t cube = put_two(maker, "Pow", x, scalar(maker, x, 3));

		inner = put_two(maker, "Add", x, put_two(maker, "Mul", cube, scalar(maker, x, 0.044715L)));
	} else {
		square = put_two(maker, "Mul", put_two(maker, "Mul", x, x), scalar(maker, x, 0.044715L));
		inner = put_two(maker, "Mul", x, put_two(maker, "Add", square, scalar(maker, x, 1)));
	}
	inner = put_one(maker, "Tanh", put_two(maker, "Mul", inner, scalar(maker, x, root)));
	return halve_product(maker, x, put_two(maker, "Add", inner, scalar(maker, x, 1)));
}

static uint32_t add_swiglu(struct maker *maker, uint32_t x)
{
	uint32_t axis = value_of(maker, x)->rank - 1, parts;

	if (value_of(maker, x)->shape[axis] % 2)
		return put_two(maker, "Mul", add_swish(maker, x), alike(maker, x));
	parts = put_split(maker, x, axis, 2);
	return put_two(maker, "Mul", add_swish(maker, parts), parts + 1);
}

/* The factor 1 / sqrt(mean(x x) + epsilon), of d. */
static uint32_t divide_by_deviation(struct maker *maker, uint32_t d)
{
	static const number epsilons[] = {1e-5L, 1e-6L, 1e-3L};
	uint32_t square =
		one_in(maker, 2) ? put_two(maker, "Mul", d, d) : put_two(maker, "Pow", d, scalar(maker, d, 2));
	uint32_t epsilon = factor(maker, d, epsilons[draw(maker, 3)]);
	uint32_t deviation = put_one(maker, "Sqrt", put_two(maker, "Add", put_mean(maker, square), epsilon));

	switch (draw(maker, 3)) {
	case 0:
		return put_two(maker, "Mul", d, put_one(maker, "Reciprocal", deviation));
	case 1:
		return put_two(maker, "Mul", d, put_two(maker, "Div", scalar(maker, d, 1), deviation));
	default:
		return put_two(maker, "Div", d, deviation);
	}
}

/* A sum before it, which may be an output; the normalized rows may be quantized. */
static uint32_t end_norm(struct maker *maker, uint32_t y)
{
	struct graph_value like = *value_of(maker, y);
	struct graph_node node = {.op = "QuantizeLinear", .mode = "", .alpha = 1 / 64.0};
	uint32_t zero;

	if (like.dtype != SK_F32 || maker->graph->opset < 10 || !one_in(maker, 4))
		return y;
	zero = add_value(maker, GRAPH_CONSTANT, SK_I8, 0, NULL);
	add_input(maker, &node, y);
	add_input(maker, &node, scalar(maker, y, 1 / 64.0L));
	add_input(maker, &node, zero);
	return put(maker, &node, SK_I8, like.rank, like.shape);
}

static uint32_t begin_norm(struct maker *maker, uint32_t x)
{
	return one_in(maker, 2) ? put_two(maker, "Add", x, alike(maker, x)) : x;
}

static uint32_t add_layer_norm(struct maker *maker, uint32_t input)
{
	uint32_t x = begin_norm(maker, input), d = put_two(maker, "Sub", x, put_mean(maker, x));
	uint32_t y = divide_by_deviation(maker, d);

	if (!one_in(maker, 4))
		y = put_two(maker, "Mul", y, parameter(maker, x));
	if (!one_in(maker, 4))
		y = put_two(maker, "Add", y, parameter(maker, x));
	return end_norm(maker, y);
}

static uint32_t add_rms_norm(struct maker *maker, uint32_t input)
{
	uint32_t x = begin_norm(maker, input), y;
	enum sk_dtype dtype = value_of(maker, x)->dtype;

	if (dtype != SK_F32 && dtype != SK_F64 && one_in(maker, 2))
		y = put_cast(maker, divide_by_deviation(maker, put_cast(maker, x, SK_F32)), dtype);
	else
		y = divide_by_deviation(maker, x);
	if (!one_in(maker, 4))
		y = put_two(maker, "Mul", y, parameter(maker, x));
	return end_norm(maker, y);
}

/* Cosines or sines of all rows, of half a row or of both halves, which are the same but for near misses. */
static uint32_t add_angles(struct maker *maker, const struct graph_value *x, bool whole)
{
	int64_t half = x->shape[3] / 2, shape[4] = {1, 1, x->shape[2], whole ? 2 * half : half};
	uint32_t rank = one_in(maker, 2) ? 2 : 4;
	uint32_t index =
		fresh(maker, one_in(maker, 6) ? GRAPH_INPUT : GRAPH_CONSTANT, x->dtype, rank, shape + 4 - rank);
	struct graph_value *angles = &maker->graph->values[index];

	for (int64_t i = 0; whole && i < angles->count; i++)
		if (i % shape[3] >= half && !one_in(maker, 500))
			angles->elements[i] = angles->elements[i - half];
	return index;
}

/* x cos + turned x sin, of halves of the last dimension. */
static uint32_t add_rotary(struct maker *maker, uint32_t like)
{
	int64_t shape[4] = {1 + draw(maker, 2), 1 + draw(maker, 3), 1 + draw(maker, 9), 2 + 2 * draw(maker, 9)};
	uint32_t q = fresh(maker, GRAPH_INPUT, draw_type(maker), 4, shape), parts, cosine, sine, turned[2];
	struct graph_value x = *value_of(maker, q);
	bool whole = one_in(maker, 2);

	(void)like;
	parts = put_split(maker, q, 3, 2);
	cosine = add_angles(maker, &x, whole);
	sine = add_angles(maker, &x, whole);
	if (whole) {
		turned[0] = put_one(maker, "Neg", parts + 1);
		turned[1] = parts;
		turned[0] = put_two(maker, "Mul", put_concat(maker, 3, 2, turned), sine);
		return put_two(maker, "Add", put_two(maker, "Mul", q, cosine), turned[0]);
	}
	turned[0] = put_two(maker, "Mul", parts + 1, sine);
	turned[0] = put_two(maker, "Sub", put_two(maker, "Mul", parts, cosine), turned[0]);
	turned[1] = put_two(maker, "Mul", parts, sine);
	turned[1] = put_two(maker, "Add", put_two(maker, "Mul", parts + 1, cosine), turned[1]);
	return put_concat(maker, 3, 2, turned);
}

/* Draw the keys that take part: the first one always does. */
static uint32_t add_mask(struct maker *maker, uint32_t scores, bool shown)
{
	struct graph_value like = *value_of(maker, scores);
	int64_t columns = like.shape[like.rank - 1];
	uint32_t index = add_value(maker, one_in(maker, 2) ? GRAPH_INPUT : GRAPH_CONSTANT, SK_BOOL, 2,
				   &like.shape[like.rank - 2]);
	struct graph_value *mask = &maker->graph->values[index];

	for (int64_t i = 0; i < mask->count; i++)
		mask->elements[i] = (i % columns == 0 || one_in(maker, 2)) == shown;
	return index;
}

static uint32_t hide(struct maker *maker, uint32_t scores)
{
	struct graph_value like = *value_of(maker, scores);
	number low = ((const number[]){-10000, -3e38L, -HUGE_VALL})[draw(maker, 3)];
	uint32_t mask, bias;

	switch (draw(maker, 4)) {
	case 0:
		return scores;
	case 1:
		mask = add_mask(maker, scores, true);
		return put_where(maker, mask, scores, scalar(maker, scores, low), scores);
	case 2:
		mask = add_mask(maker, scores, false);
		return put_where(maker, mask, scalar(maker, scores, low), scores, scores);
	default:
		bias = fresh(maker, GRAPH_INPUT, like.dtype, 2, &like.shape[like.rank - 2]);
		for (int64_t i = 0; i < value_of(maker, bias)->count; i++)
			if (i % like.shape[like.rank - 1] && one_in(maker, 4))
				maker->graph->values[bias].elements[i] = low;
		settle(&maker->graph->values[bias]);
		return put_two(maker, "Add", scores, bias);
	}
}

/* Fresh inputs: how far a mask must be below scores says the model. */
static uint32_t add_attention(struct maker *maker, uint32_t like)
{
	enum sk_dtype dtype = draw_type(maker);
	uint32_t rank = 3 + draw(maker, 2), q, k, v, scores;
	int64_t shape[4] = {1 + draw(maker, 2), 1 + draw(maker, 3), 1 + draw(maker, 9), 1 + draw(maker, 17)};
	int64_t keys[4] = {shape[0], shape[1], 1 + draw(maker, 12), shape[3]}, *from = shape + 4 - rank;
	number scale = 1 / sqrtl((number)shape[3]);
	bool wide = dtype != SK_F32 && one_in(maker, 2);

	(void)like;
	q = fresh(maker, GRAPH_INPUT, dtype, rank, from);
	k = fresh(maker, GRAPH_INPUT, dtype, rank, keys + 4 - rank);
	keys[3] = one_in(maker, 2) ? keys[3] : 1 + draw(maker, 17);
	v = fresh(maker, GRAPH_INPUT, dtype, rank, keys + 4 - rank);
	if (one_in(maker, 3))
		q = put_two(maker, "Mul", q, factor(maker, q, scale));
	k = put_transpose(maker, k, rank - 2, rank - 1);
	scores = put_product(maker, q, k);
	if (one_in(maker, 2))
		scores = one_in(maker, 2) ? put_two(maker, "Mul", scores, factor(maker, scores, scale))
					  : put_two(maker, "Div", scores, factor(maker, scores, 1 / scale));
	scores = hide(maker, scores);
	scores = wide ? put_cast(maker, put_softmax(maker, put_cast(maker, scores, SK_F32)), dtype)
		      : put_softmax(maker, scores);
	if (one_in(maker, 4))
		scores = put_where(maker, put_one(maker, "IsNaN", scores), scalar(maker, scores, 0), scores, scores);
	return put_product(maker, scores, v);
}

static uint32_t add_linear(struct maker *maker, uint32_t x)
{
	struct graph_value like = *value_of(maker, x);
	int64_t shape[2] = {like.shape[like.rank - 1], 1 + draw(maker, 33)};
	uint32_t y;

	if (like.count / shape[0] * shape[1] > 4000)
		shape[1] = 1;
	y = put_product(maker, x, fresh(maker, one_in(maker, 2) ? GRAPH_INPUT : GRAPH_CONSTANT, like.dtype, 2, shape));
	if (!one_in(maker, 3))
		y = put_two(maker, "Add", y, parameter(maker, y));
	switch (draw(maker, 5)) {
	case 0:
		return put_one(maker, "Relu", y);
	case 1:
		return add_gelu(maker, y);
	case 2:
		return put_two(maker, "Add", y, alike(maker, y));
	default:
		return y;
	}
}

/* Batches in the middle, of the factor and of the product. */
static uint32_t add_batched(struct maker *maker, uint32_t like)
{
	int64_t shape[3] = {1 + draw(maker, 9), 1 + draw(maker, 4), 1 + draw(maker, 17)};
	uint32_t x = fresh(maker, GRAPH_INPUT, draw_type(maker), 3, shape);
	int64_t weights[3] = {shape[1], shape[2], 1 + draw(maker, 17)};

	(void)like;
	x = put_product(maker, put_transpose(maker, x, 0, 1),
			fresh(maker, GRAPH_INPUT, value_of(maker, x)->dtype, 3, weights));
	return put_transpose(maker, x, 0, 1);
}

/* Parts along dimension 0 or 1, of which some are changed; they may come together again. */
static uint32_t add_parts(struct maker *maker, uint32_t like)
{
	int64_t shape[3] = {1 + draw(maker, 3), 1, 1 + draw(maker, 40)};
	uint32_t axis = draw(maker, 2), count = 2 + draw(maker, 2), parts, order[3], x;

	(void)like;
	shape[axis] = count * (1 + draw(maker, 3));
	if (axis && one_in(maker, 2))
		shape[0] = 1;
	x = put_one(maker, "Neg", fresh(maker, GRAPH_INPUT, draw_type(maker), 3, shape));
	parts = put_split(maker, x, axis, count);
	for (uint32_t i = 0; i < count; i++)
		order[i] = one_in(maker, 3) ? parts + i : put_one(maker, one_in(maker, 2) ? "Abs" : "Relu", parts + i);
	if (one_in(maker, 3))
		return order[0];
	return put_one(maker, "Neg", put_concat(maker, axis, one_in(maker, 4) ? 2 : count, order));
}

/* Rows become pieces side by side. */
static uint32_t add_pieces_of_rows(struct maker *maker, uint32_t like)
{
	enum { MOST = NODE_OUTPUTS < NODE_INPUTS ? NODE_OUTPUTS : NODE_INPUTS };
	uint32_t count = 2 + draw(maker, MOST - 1), parts, order[MOST];
	int64_t shape[2] = {count * (1 + draw(maker, 5)), 1 + draw(maker, 40)};

	(void)like;
	parts = put_split(maker, fresh(maker, GRAPH_INPUT, draw_type(maker), 2, shape), 0, count);
	for (uint32_t i = 0; i < count; i++)
		order[i] = parts + (one_in(maker, 12) ? 0 : i);
	return put_concat(maker, 1, count, order);
}

/* ---- bytes ---- */

static uint32_t add_bytes(struct maker *maker, enum graph_kind kind, enum sk_dtype dtype, uint32_t rank,
			  const int64_t *shape)
{
	uint32_t index = add_value(maker, kind, dtype, rank, shape);

	for (int64_t i = 0; i < value_of(maker, index)->count; i++)
		maker->graph->values[index].elements[i] = (number)draw(maker, 256) - (dtype == SK_I8 ? 128 : 0);
	return index;
}

/* Scales of f32: those of a model, or any. */
static uint32_t add_scales(struct maker *maker, uint32_t rank, const int64_t *shape)
{
	uint32_t index = add_value(maker, GRAPH_CONSTANT, SK_F32, rank, shape);
	struct graph_value *value = &maker->graph->values[index];

	for (int64_t i = 0; i < value->count; i++)
		value->elements[i] = ldexpl(64 + draw(maker, 64), -9 - (int)draw(maker, 8));
	if (one_in(maker, 3))
		make_any(maker, value);
	settle(value);
	return index;
}

/* A product of bytes with a scale for each column, and a bias of small or any numbers. */
static uint32_t add_scaled_product(struct maker *maker, uint32_t like)
{
	enum sk_dtype dtype = one_in(maker, 2) ? SK_F16 : SK_BF16;
	int64_t m = 1 + draw(maker, 5), k = 1 + draw(maker, 40), n = 1 + draw(maker, 17);
	struct graph_node node = {.op = "sklink:QuantBatchMatmul", .mode = ""};
	uint32_t y, bias;

	(void)like;
	add_input(maker, &node, add_bytes(maker, GRAPH_INPUT, SK_I8, 2, (int64_t[]){m, k}));
	add_input(maker, &node, add_bytes(maker, GRAPH_INPUT, SK_I8, 2, (int64_t[]){k, n}));
	add_input(maker, &node, add_scales(maker, 1, &n));
	say(&node, " to=%d", dtype == SK_F16 ? 10 : 16);
	y = put(maker, &node, dtype, 2, (int64_t[]){m, n});
	bias = fresh(maker, GRAPH_CONSTANT, dtype, 1, &n);
	if (one_in(maker, 3))
		make_any(maker, &maker->graph->values[bias]);
	settle(&maker->graph->values[bias]);
	return put_two(maker, "Add", y, bias);
}

static uint32_t put_dequantized(struct maker *maker, uint32_t x, uint32_t scale, number zero)
{
	struct graph_node node = {.op = "DequantizeLinear", .mode = ""};
	struct graph_value like = *value_of(maker, x);
	uint32_t point = add_value(maker, GRAPH_CONSTANT, like.dtype, 0, NULL);

	maker->graph->values[point].elements[0] = zero;
	add_input(maker, &node, x);
	add_input(maker, &node, scale);
	add_input(maker, &node, point);
	return put(maker, &node, SK_F32, like.rank, like.shape);
}

/* The steps of the bias are those of the product of both, or any. */
static uint32_t add_conv_bias(struct maker *maker, uint32_t xs, uint32_t ws, int64_t filters)
{
	uint32_t index = add_value(maker, GRAPH_CONSTANT, SK_I32, 1, &filters);
	uint32_t step = add_value(maker, GRAPH_CONSTANT, SK_F32, 0, NULL);
	struct graph_value *bias = &maker->graph->values[index];

	for (int64_t i = 0; i < filters; i++)
		bias->elements[i] = (number)draw(maker, 4001) - 2000;
	if (one_in(maker, 3))
		make_any(maker, bias);
	maker->graph->values[step].elements[0] =
		one_in(maker, 8) ? draw_any(maker, SK_F32)
				 : value_of(maker, xs)->elements[0] * value_of(maker, ws)->elements[0];
	settle(&maker->graph->values[step]);
	return put_dequantized(maker, index, step, 0);
}

static uint32_t add_scaled_conv(struct maker *maker, uint32_t like)
{
	int64_t depth = 1 + draw(maker, 4), filters = 1 + draw(maker, 4), size = 3 + draw(maker, 4);
	struct graph_node node = {.op = "Conv", .mode = "", .group = 1, .list_count = 2},
			  end = {.op = "QuantizeLinear"};
	uint32_t xs = add_scales(maker, 0, NULL), ws = add_scales(maker, 0, NULL), x, w, point;

	(void)like;
	if (maker->graph->opset < 10)
		return add_swish(maker, like);
	x = add_bytes(maker, GRAPH_INPUT, SK_U8, 4, (int64_t[]){1, depth, size, size});
	w = add_bytes(maker, GRAPH_CONSTANT, SK_I8, 4, (int64_t[]){filters, depth, 3, 3});
	add_input(maker, &node, put_dequantized(maker, x, xs, draw(maker, 256)));
	add_input(maker, &node, put_dequantized(maker, w, ws, 0));
	if (!one_in(maker, 3))
		add_input(maker, &node, add_conv_bias(maker, xs, ws, filters));
	for (uint32_t i = 0; i < 2; i++) {
		node.list[i] = 3;
		node.steps[i] = node.dilations[i] = 1;
	}
	say_list(&node, "kernel_shape", 2, node.list);
	end.mode = "";
	add_input(maker, &end, put(maker, &node, SK_F32, 4, (int64_t[]){1, filters, size - 2, size - 2}));
	add_input(maker, &end, add_scales(maker, 0, NULL));
	point = add_value(maker, GRAPH_CONSTANT, SK_U8, 0, NULL);
	maker->graph->values[point].elements[0] = draw(maker, 256);
	add_input(maker, &end, point);
	return put(maker, &end, SK_U8, 4, (int64_t[]){1, filters, size - 2, size - 2});
}

static uint32_t (*const pieces[])(struct maker *maker, uint32_t x) = {
	add_swish,	    add_gelu,	  add_gelu_tanh,      add_swiglu,      add_layer_norm,
	add_layer_norm,	    add_rms_norm, add_rms_norm,	      add_rotary,      add_attention,
	add_attention,	    add_linear,	  add_batched,	      add_parts,       add_parts,
	add_pieces_of_rows, add_sizes,	  add_scaled_product, add_scaled_conv,
};

void add_piece(struct maker *maker)
{
	struct graph *graph = maker->graph;
	uint32_t before = graph->node_count, last;

	last = (maker->sizes && !one_in(maker, 4) ? add_sizes : pieces[draw(maker, sizeof(pieces) / sizeof(*pieces))])(
		maker, draw_input(maker));
	graph->nodes[before].goes_on = false;
	/* Let the next nodes fuse with the pattern in some cases. */
	if (!one_in(maker, 3))
		graph->values[last].is_inner = false;
}
