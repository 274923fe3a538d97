/* Draws graphs; see random-graph.h. Each operator is a row of the table at the end: the first operator set for which it
 * is drawn, its types, and a function that finds or makes its inputs, sets the node's meaning and writes its
 * attributes. */
#include "tests/property/random-maker.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/random.h"

enum {
	MOST_ELEMENTS = 4096, /* of a computed value */
	MOST_DRAWN = 1024, /* of an input or a constant */
};

struct known_operator {
	const char *op;
	uint32_t since, until; /* operator sets; 0: the newest */
	uint32_t dtypes;
	uint32_t weight;
	bool (*make)(struct maker *maker, struct graph_node *node);
};

uint32_t draw(struct maker *maker, uint32_t limit)
{
	return random_below(&maker->random, limit);
}

bool one_in(struct maker *maker, uint32_t count)
{
	return draw(maker, count) == 0;
}

/* ---- values ---- */

int64_t count_of(uint32_t rank, const int64_t *shape)
{
	int64_t count = 1;

	for (uint32_t i = 0; i < rank; i++)
		count *= shape[i];
	return count;
}

static bool is_float(enum sk_dtype dtype)
{
	return SET(dtype) & FLOATS;
}

/* Draw small numbers, of which many are equal; now and then the extremes of the type. */
static number draw_element(struct maker *maker, enum sk_dtype dtype)
{
	static const number specials[] = {0,	     1,	    -1,	    HUGE_VALL, -HUGE_VALL, NAN,
					  0x1p-140L, 1e30L, -1e30L, 65504,     0x1p-20L,   2147483648.0L};
	int bits = 8 * (int)sk_dtype_size(dtype);

	if (dtype == SK_BOOL)
		return draw(maker, 2);
	if (is_float(dtype))
		return one_in(maker, 400) ? specials[draw(maker, 12)]
		       : one_in(maker, 8) ? ((number)draw(maker, 9) - 4) * (one_in(maker, 2) ? 1 : -1) /* -0, too */
					  : (number)draw(maker, 1 << 20) / (1 << 18) - 2;
	if (one_in(maker, 50))
		return SET(dtype) & SIGNED ? (one_in(maker, 2) ? -ldexpl(1, bits - 1) : ldexpl(1, bits - 1) - 1)
					   : ldexpl(1, bits) - 1;
	return SET(dtype) & SIGNED ? (number)draw(maker, 21) - 10 : (number)draw(maker, 21);
}

/* Any number of the type: 0 and 1, powers of two, the smallest and the greatest ones, infinities and NaNs as well as
 * others of all sizes. */
number draw_any(struct maker *maker, enum sk_dtype dtype)
{
	static const int greatest[SK_DTYPE_COUNT] = {[SK_F32] = 127, [SK_F64] = 1023, [SK_F16] = 15, [SK_BF16] = 127};
	static const int digits[SK_DTYPE_COUNT] = {[SK_F32] = 24, [SK_F64] = 53, [SK_F16] = 11, [SK_BF16] = 8};
	int bits = 8 * (int)sk_dtype_size(dtype);
	uint32_t steps;
	number sign = one_in(maker, 2) ? -1 : 1, size = 1 + ldexpl(draw(maker, 1 << 30), -30);

	if (dtype == SK_BOOL)
		return draw(maker, 2);
	if (!is_float(dtype)) {
		number whole = one_in(maker, 3) ? draw(maker, 3)
						: ldexpl(1, (int)draw(maker, (uint32_t)bits)) - draw(maker, 2);

		if (!(SET(dtype) & SIGNED))
			return whole;
		whole = fminl(whole, ldexpl(1, bits - 1) - 1);
		return one_in(maker, 8) ? -ldexpl(1, bits - 1) : sign * whole;
	}
	steps = (uint32_t)(2 * greatest[dtype] + digits[dtype]);
	switch (draw(maker, 8)) {
	case 0:
		return sign * 0.0L;
	case 1:
		return sign * (1 + draw(maker, 2));
	case 2: /* denormal */
		return ldexpl(sign * size, -greatest[dtype] - (int)draw(maker, (uint32_t)digits[dtype] - 1));
	case 3:
		return one_in(maker, 4) ? (number)NAN : sign * HUGE_VALL;
	case 4: /* the greatest */
		return ldexpl(sign * (2 - ldexpl(1 + draw(maker, 3), 1 - digits[dtype])), greatest[dtype]);
	case 5:
		size = 1;
		/* fall through */
	default:
		return ldexpl(sign * size, greatest[dtype] - (int)draw(maker, steps));
	}
}

/* Round the elements to the type. */
void settle(struct graph_value *value)
{
	void *bytes = malloc((size_t)value->count * 8 + 1);

	if (!bytes)
		abort();
	graph_encode(value->dtype, value->elements, value->count, bytes);
	graph_decode(value->dtype, bytes, value->count, value->elements);
	free(bytes);
}

uint32_t add_value(struct maker *maker, enum graph_kind kind, enum sk_dtype dtype, uint32_t rank, const int64_t *shape)
{
	struct graph *graph = maker->graph;
	struct graph_value *value = &graph->values[graph->value_count];

	if (graph->value_count == GRAPH_VALUES)
		abort();
	*value = (struct graph_value){.kind = kind, .dtype = dtype, .rank = rank, .count = count_of(rank, shape)};
	if (rank)
		memcpy(value->shape, shape, rank * sizeof(*shape));
	value->elements = calloc((size_t)value->count + 1, sizeof(number));
	if (!value->elements)
		abort();
	return graph->value_count++;
}

/* The elements are any, or all of them are the same one. */
void make_any(struct maker *maker, struct graph_value *value)
{
	bool same = one_in(maker, 2);

	for (int64_t i = 0; i < value->count; i++)
		value->elements[i] = same && i ? value->elements[0] : draw_any(maker, value->dtype);
}

static uint32_t add_drawn(struct maker *maker, enum graph_kind kind, enum sk_dtype dtype, uint32_t rank,
			  const int64_t *shape)
{
	uint32_t index = add_value(maker, kind, dtype, rank, shape);
	struct graph_value *value = &maker->graph->values[index];

	for (int64_t i = 0; i < value->count; i++)
		value->elements[i] = draw_element(maker, dtype);
	if (kind == GRAPH_CONSTANT && one_in(maker, 4))
		make_any(maker, value);
	settle(value);
	return index;
}

static uint32_t add_fresh(struct maker *maker, enum sk_dtype dtype, uint32_t rank, const int64_t *shape)
{
	return add_drawn(maker, one_in(maker, 3) ? GRAPH_CONSTANT : GRAPH_INPUT, dtype, rank, shape);
}

uint32_t add_list(struct maker *maker, int64_t count, const int64_t *list)
{
	uint32_t index = add_value(maker, GRAPH_CONSTANT, SK_I64, 1, &count);

	for (int64_t i = 0; i < count; i++)
		maker->graph->values[index].elements[i] = (number)list[i];
	return index;
}

static uint32_t add_scalar(struct maker *maker, enum sk_dtype dtype, number element)
{
	uint32_t index = add_value(maker, GRAPH_CONSTANT, dtype, 0, NULL);

	maker->graph->values[index].elements[0] = element;
	settle(&maker->graph->values[index]);
	return index;
}

static int64_t draw_size(struct maker *maker)
{
	static const int64_t sizes[] = {1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 31, 33, 63, 64, 65, 127, 200};

	return one_in(maker, 60) ? 0 : sizes[draw(maker, one_in(maker, 3) ? 19 : 9)];
}

static void draw_shape(struct maker *maker, uint32_t rank, int64_t *shape)
{
	do
		for (uint32_t i = 0; i < rank; i++)
			shape[i] = draw_size(maker);
	while (count_of(rank, shape) > MOST_DRAWN);
}

enum sk_dtype draw_dtype(struct maker *maker, uint32_t dtypes)
{
	uint32_t dtype;

	if (dtypes & SET(SK_F32) && !one_in(maker, 3))
		return SK_F32;
	do
		dtype = draw(maker, SK_DTYPE_COUNT);
	while (!(dtypes & SET(dtype)));
	return (enum sk_dtype)dtype;
}

/* Return a value of one of the types with so many dimensions: an existing one, rather a late one, or a new one. */
uint32_t pick(struct maker *maker, uint32_t dtypes, uint32_t least_rank, uint32_t most_rank)
{
	int64_t shape[SK_MAX_RANK];
	uint32_t rank, count = maker->graph->value_count - maker->first;

	for (uint32_t try = 0; count && try < 12; try++) {
		uint32_t late = count < 8 ? draw(maker, count) : draw(maker, 8);
		uint32_t index = maker->graph->value_count - 1 - (one_in(maker, 3) ? draw(maker, count) : late);
		const struct graph_value *value = &maker->graph->values[index];

		if (dtypes & SET(value->dtype) && value->rank >= least_rank && value->rank <= most_rank)
			return index;
	}
	rank = least_rank + draw(maker, (most_rank < 4 ? most_rank : 4) - least_rank + 1);
	draw_shape(maker, rank, shape);
	return add_fresh(maker, draw_dtype(maker, dtypes), rank, shape);
}

/* Draw an existing value. */
static uint32_t draw_value(struct maker *maker)
{
	return maker->first + draw(maker, maker->graph->value_count - maker->first);
}

const struct graph_value *value_of(const struct maker *maker, uint32_t index)
{
	return &maker->graph->values[index];
}

/* ---- nodes ---- */

uint32_t add_input(struct maker *maker, struct graph_node *node, uint32_t index)
{
	maker->graph->values[index].uses++;
	node->inputs[node->input_count++] = index;
	return index;
}

/* False: it would be too large. */
bool add_output(struct maker *maker, struct graph_node *node, enum sk_dtype dtype, uint32_t rank, const int64_t *shape)
{
	if (rank > 6 || count_of(rank, shape) > MOST_ELEMENTS)
		return false;
	node->outputs[node->output_count++] = add_value(maker, GRAPH_COMPUTED, dtype, rank, shape);
	return true;
}

static bool add_alike(struct maker *maker, struct graph_node *node, uint32_t like)
{
	const struct graph_value *value = value_of(maker, like);

	return add_output(maker, node, value->dtype, value->rank, value->shape);
}

void say(struct graph_node *node, const char *format, ...)
{
	size_t length = strlen(node->attributes);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(node->attributes + length, sizeof(node->attributes) - length, format, arguments);
	va_end(arguments);
}

void say_list(struct graph_node *node, const char *name, int64_t count, const int64_t *list)
{
	say(node, " %s=[", name);
	for (int64_t i = 0; i < count; i++)
		say(node, "%s%lld", i ? "," : "", (long long)list[i]);
	say(node, "]");
}

/* Draw an axis of a value with dimensions; return it as the attribute has it, now and then counted from the end. */
static int64_t draw_axis(struct maker *maker, struct graph_node *node, uint32_t rank)
{
	node->axis = draw(maker, rank);
	if (maker->parts && !one_in(maker, 4))
		node->axis = 0;
	return one_in(maker, 3) ? node->axis - rank : node->axis;
}

/* An attribute that has become an input in later operator sets. */
void say_or_add(struct maker *maker, struct graph_node *node, uint32_t input_since, const char *name, int64_t count,
		const int64_t *list)
{
	if (maker->graph->opset >= input_since)
		add_input(maker, node, add_list(maker, count, list));
	else
		say_list(node, name, count, list);
}

/* ---- elementwise ---- */

static bool make_unary(struct maker *maker, struct graph_node *node)
{
	uint32_t x = add_input(maker, node, pick(maker, maker->drawn->dtypes, 0, 6));

	return add_alike(maker, node, x);
}

/* As f32 has it. */
static double say_real(struct maker *maker, struct graph_node *node, const char *name, double usual)
{
	number any = one_in(maker, 4) ? draw_any(maker, SK_F32) : usual;

	if (!isfinite(any)) /* make-model has no word for it */
		any = usual;
	say(node, " %s=%#.9g", name, (double)(float)any);
	return (double)(float)any;
}

static bool make_alpha(struct maker *maker, struct graph_node *node)
{
	node->alpha = say_real(maker, node, "alpha", (1 + draw(maker, 8)) / 8.0);
	return make_unary(maker, node);
}

static bool make_alpha_beta(struct maker *maker, struct graph_node *node)
{
	node->beta = say_real(maker, node, "beta", (1 + draw(maker, 8)) / 8.0);
	return make_alpha(maker, node);
}

static bool make_test(struct maker *maker, struct graph_node *node)
{
	const struct graph_value *x = value_of(maker, add_input(maker, node, pick(maker, maker->drawn->dtypes, 0, 6)));

	return add_output(maker, node, SK_BOOL, x->rank, x->shape);
}

/* One operand changes nothing, or only the sign of 0. */
static bool make_neutral(struct maker *maker, struct graph_node *node)
{
	bool product = !strcmp(node->op, "Mul") || !strcmp(node->op, "Div"), turned = one_in(maker, 4);
	uint32_t x = pick(maker, maker->drawn->dtypes, 0, 6);
	enum sk_dtype dtype = value_of(maker, x)->dtype;
	uint32_t neutral = add_scalar(maker, dtype, product ? 1 : one_in(maker, 2) && is_float(dtype) ? -0.0L : 0);

	turned &= !strcmp(node->op, "Add") || !strcmp(node->op, "Mul");
	add_input(maker, node, turned ? neutral : x);
	add_input(maker, node, turned ? x : neutral);
	return add_alike(maker, node, x);
}

/* Compute the shape that both shapes are broadcast to, and return its rank; -1: they cannot be. */
int64_t broadcast(const struct graph_value *a, const struct graph_value *b, int64_t *shape)
{
	uint32_t rank = a->rank > b->rank ? a->rank : b->rank;

	for (uint32_t i = 1; i <= rank; i++) {
		int64_t one = i <= a->rank ? a->shape[a->rank - i] : 1,
			other = i <= b->rank ? b->shape[b->rank - i] : 1;

		if (one != other && one != 1 && other != 1)
			return -1;
		shape[rank - i] = one == 1 ? other : one;
	}
	return rank;
}

/* A value of the type that can be broadcast with another one. */
static uint32_t pick_mate(struct maker *maker, uint32_t mate, uint32_t dtypes)
{
	struct graph_value like = *value_of(maker, mate);
	int64_t shape[SK_MAX_RANK];
	uint32_t cut = 0;

	for (uint32_t try = 0; try < 10; try++) {
		uint32_t index = draw_value(maker);
		const struct graph_value *value = value_of(maker, index);
		int64_t rank = broadcast(&like, value, shape);

		if (dtypes & SET(value->dtype) && rank >= 0 && count_of((uint32_t)rank, shape) <= MOST_ELEMENTS)
			return index;
	}
	if (one_in(maker, 2) && like.rank)
		cut = draw(maker, like.rank + 1);
	for (uint32_t i = cut; i < like.rank; i++)
		shape[i - cut] = one_in(maker, 3) ? 1 : like.shape[i];
	like.rank -= cut;
	if (like.rank < 4 && one_in(maker, 6)) {
		memmove(shape + 1, shape, like.rank * sizeof(*shape));
		shape[0] = 1 + draw(maker, 3);
		like.rank++;
	}
	if (count_of(like.rank, shape) > MOST_DRAWN)
		like.rank = 0;
	return add_fresh(maker, draw_dtype(maker, dtypes), like.rank, shape);
}

static bool add_broadcast(struct maker *maker, struct graph_node *node, enum sk_dtype dtype, uint32_t first)
{
	struct graph_value sum = *value_of(maker, node->inputs[first]);

	for (uint32_t i = first + 1; i < node->input_count; i++) {
		int64_t shape[SK_MAX_RANK], rank = broadcast(&sum, value_of(maker, node->inputs[i]), shape);

		if (rank < 0)
			return false;
		sum.rank = (uint32_t)rank;
		memcpy(sum.shape, shape, sizeof(shape));
	}
	return add_output(maker, node, dtype, sum.rank, sum.shape);
}

static void pick_two(struct maker *maker, struct graph_node *node)
{
	uint32_t a = pick(maker, maker->drawn->dtypes, 0, 6), b = pick_mate(maker, a, SET(value_of(maker, a)->dtype));
	bool turned = one_in(maker, 2);

	add_input(maker, node, turned ? b : a);
	add_input(maker, node, turned ? a : b);
}

static bool make_binary(struct maker *maker, struct graph_node *node)
{
	pick_two(maker, node);
	return add_broadcast(maker, node, value_of(maker, node->inputs[0])->dtype, 0);
}

static bool make_comparison(struct maker *maker, struct graph_node *node)
{
	pick_two(maker, node);
	return add_broadcast(maker, node, SK_BOOL, 0);
}

/* Numbers of floats need fmod. */
static bool make_mod(struct maker *maker, struct graph_node *node)
{
	pick_two(maker, node);
	node->flag = is_float(value_of(maker, node->inputs[0])->dtype) || one_in(maker, 3);
	say(node, " fmod=%d", node->flag);
	return add_broadcast(maker, node, value_of(maker, node->inputs[0])->dtype, 0);
}

static bool make_shift(struct maker *maker, struct graph_node *node)
{
	node->flag = one_in(maker, 2);
	say(node, " direction='%s'", node->flag ? "LEFT" : "RIGHT");
	return make_binary(maker, node);
}

/* Exponents are rather constants, of which many have something simpler in their place. */
static bool make_pow(struct maker *maker, struct graph_node *node)
{
	static const number exponents[] = {2, 2, 1, -1, 0, 3, 0.5L, -2};
	uint32_t x = pick(maker, maker->drawn->dtypes, 0, 6), y, rank;
	struct graph_value like = *value_of(maker, x);

	if (one_in(maker, 4)) {
		y = pick_mate(maker, x, SET(like.dtype));
	} else {
		number exponent = exponents[draw(maker, is_float(like.dtype) ? 8 : 6)];

		rank = one_in(maker, 2) ? like.rank : draw(maker, like.rank + 1);
		y = add_value(maker, GRAPH_CONSTANT, like.dtype, rank, like.shape + like.rank - rank);
		for (int64_t i = 0; i < value_of(maker, y)->count; i++)
			maker->graph->values[y].elements[i] = one_in(maker, 400) ? 3 : exponent;
	}
	add_input(maker, node, x);
	add_input(maker, node, y);
	return add_broadcast(maker, node, like.dtype, 0);
}

/* The slope is broadcast to x, and never the other way. */
static bool make_prelu(struct maker *maker, struct graph_node *node)
{
	uint32_t x = pick(maker, maker->drawn->dtypes, 0, 6),
		 slope = pick_mate(maker, x, SET(value_of(maker, x)->dtype));
	int64_t shape[SK_MAX_RANK], rank = broadcast(value_of(maker, x), value_of(maker, slope), shape);

	if (rank != value_of(maker, x)->rank || memcmp(shape, value_of(maker, x)->shape, (size_t)rank * sizeof(*shape)))
		return false;
	add_input(maker, node, x);
	add_input(maker, node, slope);
	return add_alike(maker, node, x);
}

static bool make_variadic(struct maker *maker, struct graph_node *node)
{
	uint32_t count = 1 + draw(maker, 4), first = pick(maker, maker->drawn->dtypes, 0, 6);
	enum sk_dtype dtype = value_of(maker, first)->dtype;

	add_input(maker, node, first);
	for (uint32_t i = 1; i < count; i++)
		add_input(maker, node, pick_mate(maker, node->inputs[draw(maker, i)], SET(dtype)));
	return add_broadcast(maker, node, dtype, 0);
}

static bool make_where(struct maker *maker, struct graph_node *node)
{
	uint32_t a = pick(maker, ALL, 0, 6), b = pick_mate(maker, a, SET(value_of(maker, a)->dtype));

	add_input(maker, node, pick_mate(maker, one_in(maker, 2) ? a : b, BOOL));
	add_input(maker, node, a);
	add_input(maker, node, b);
	return add_broadcast(maker, node, value_of(maker, a)->dtype, 0);
}

/* Bounds are constants, or any scalars; in operator sets before 11 attributes. */
static bool make_clip(struct maker *maker, struct graph_node *node)
{
	bool old = maker->graph->opset < 11;
	uint32_t x = add_input(maker, node, pick(maker, old ? FLOATS : maker->drawn->dtypes, 0, 6));
	enum sk_dtype dtype = value_of(maker, x)->dtype;

	if (old) {
		node->flag = true;
		node->alpha = -(double)draw(maker, 3) / 2;
		node->beta = draw(maker, 5) / 4.0;
		say(node, " min=%.2f max=%.2f", node->alpha, node->beta);
	} else {
		number least = (SET(dtype) & UNSIGNED ? 3 : -1), most = least + draw(maker, 6);

		if (one_in(maker, 4)) {
			least = draw_any(maker, dtype);
			most = draw_any(maker, dtype);
		}
		add_input(maker, node, add_scalar(maker, dtype, least));
		if (one_in(maker, 2))
			add_input(maker, node, add_scalar(maker, dtype, most));
	}
	return add_alike(maker, node, x);
}

static bool make_cast(struct maker *maker, struct graph_node *node)
{
	static const int numbers[SK_DTYPE_COUNT] = {
		[SK_F32] = 1,  [SK_U8] = 2,   [SK_I8] = 3,   [SK_U16] = 4,  [SK_I16] = 5,  [SK_I32] = 6,   [SK_I64] = 7,
		[SK_BOOL] = 9, [SK_F16] = 10, [SK_F64] = 11, [SK_U32] = 12, [SK_U64] = 13, [SK_BF16] = 16,
	};
	const struct graph_value *x = value_of(maker, add_input(maker, node, pick(maker, ALL, 0, 6)));
	enum sk_dtype to = draw_dtype(maker, ALL);

	say(node, " to=%d", numbers[to]);
	return add_output(maker, node, to, x->rank, x->shape);
}

/* ---- operators that only move elements ---- */

static bool make_reshape(struct maker *maker, struct graph_node *node)
{
	uint32_t x = add_input(maker, node, pick(maker, ALL, 0, 6)), rank = draw(maker, 6);
	int64_t left = value_of(maker, x)->count, shape[SK_MAX_RANK], said[SK_MAX_RANK];

	if (!left || (!rank && left != 1))
		return false;
	for (uint32_t i = 0; i < rank; i++) {
		int64_t factor = 1 + draw(maker, 9);

		while (left % factor)
			factor--;
		shape[i] = i + 1 == rank ? left : factor;
		left /= factor;
	}
	if (rank && !count_of(rank, shape))
		return false;
	memcpy(said, shape, sizeof(shape));
	for (uint32_t i = 0; i < rank; i++)
		if (i < value_of(maker, x)->rank && value_of(maker, x)->shape[i] == shape[i] && one_in(maker, 2))
			said[i] = 0;
	if (rank && one_in(maker, 2))
		said[draw(maker, rank)] = -1;
	add_input(maker, node, add_list(maker, rank, said));
	return add_output(maker, node, value_of(maker, x)->dtype, rank, shape);
}

static bool make_flatten(struct maker *maker, struct graph_node *node)
{
	const struct graph_value *x = value_of(maker, add_input(maker, node, pick(maker, ALL, 0, 6)));
	uint32_t axis = draw(maker, x->rank + 1);
	int64_t shape[2] = {count_of(axis, x->shape), count_of(x->rank - axis, x->shape + axis)};

	say(node, " axis=%u", axis);
	return add_output(maker, node, x->dtype, 2, shape);
}

static bool make_squeeze(struct maker *maker, struct graph_node *node)
{
	const struct graph_value *x = value_of(maker, add_input(maker, node, pick(maker, ALL, 1, 6)));
	int64_t shape[SK_MAX_RANK], axes[SK_MAX_RANK], count = 0, rank = 0;

	for (uint32_t i = 0; i < x->rank; i++)
		if (x->shape[i] == 1 && !one_in(maker, 4))
			axes[count++] = one_in(maker, 2) ? i : (int64_t)i - x->rank;
		else
			shape[rank++] = x->shape[i];
	if (!count)
		return false;
	say_or_add(maker, node, 13, "axes", count, axes);
	x = value_of(maker, node->inputs[0]);
	return add_output(maker, node, x->dtype, (uint32_t)rank, shape);
}

static bool make_unsqueeze(struct maker *maker, struct graph_node *node)
{
	uint32_t x = add_input(maker, node, pick(maker, ALL, 0, 4)),
		 rank = value_of(maker, x)->rank + 1 + draw(maker, 2);
	int64_t shape[SK_MAX_RANK], axes[SK_MAX_RANK], count = 0;
	uint32_t from = 0;

	for (uint32_t i = 0; i < rank; i++) {
		uint32_t left = value_of(maker, x)->rank - from;

		if (left && (rank - i == left || one_in(maker, 2))) {
			shape[i] = value_of(maker, x)->shape[from++];
		} else {
			shape[i] = 1;
			axes[count++] = i;
		}
	}
	if (from != value_of(maker, x)->rank)
		return false;
	say_or_add(maker, node, 13, "axes", count, axes);
	return add_output(maker, node, value_of(maker, x)->dtype, rank, shape);
}

static bool make_transpose(struct maker *maker, struct graph_node *node)
{
	const struct graph_value *x = value_of(maker, add_input(maker, node, pick(maker, ALL, 0, 6)));
	int64_t shape[SK_MAX_RANK];

	for (uint32_t i = 0; i < x->rank; i++)
		node->list[i] = x->rank - 1 - i;
	if (x->rank && !one_in(maker, 3)) {
		for (uint32_t i = x->rank; i > 1; i--) {
			uint32_t other = draw(maker, i);
			int64_t axis = node->list[other];

			node->list[other] = node->list[i - 1];
			node->list[i - 1] = axis;
		}
		say_list(node, "perm", x->rank, node->list);
	}
	for (uint32_t i = 0; i < x->rank; i++)
		shape[i] = x->shape[node->list[i]];
	return add_output(maker, node, x->dtype, x->rank, shape);
}

/* Undo an earlier transposition. */
static bool make_turned_back(struct maker *maker, struct graph_node *node)
{
	const struct graph *graph = maker->graph;
	uint32_t at = graph->node_count;
	int64_t shape[SK_MAX_RANK];

	while (at-- && (strcmp(graph->nodes[at].op, "Transpose") || graph->nodes[at].outputs[0] < maker->first))
		;
	if (at >= graph->node_count)
		return make_transpose(maker, node);

	const struct graph_value *x = value_of(maker, add_input(maker, node, graph->nodes[at].outputs[0]));

	for (uint32_t i = 0; i < x->rank; i++)
		node->list[graph->nodes[at].list[i]] = i;
	for (uint32_t i = 0; i < x->rank; i++)
		shape[i] = x->shape[node->list[i]];
	if (x->rank)
		say_list(node, "perm", x->rank, node->list);
	return add_output(maker, node, x->dtype, x->rank, shape);
}

/* Any steps; starts and ends from either side, and beyond. */
static bool make_slice(struct maker *maker, struct graph_node *node)
{
	struct graph_value x = *value_of(maker, add_input(maker, node, pick(maker, ALL, 1, 6)));
	int64_t starts[SK_MAX_RANK], ends[SK_MAX_RANK], axes[SK_MAX_RANK], steps[SK_MAX_RANK], count = 0;
	bool steppy = maker->graph->opset >= 10;

	for (uint32_t i = 0; i < x.rank; i++) {
		int64_t size = x.shape[i], first, step = steppy && one_in(maker, 3) ? (int64_t)draw(maker, 7) - 3 : 1,
			length;

		node->steps[i] = 1;
		if (one_in(maker, 2) || !size || !step)
			continue;
		first = draw(maker, (uint32_t)size);
		length = 1 + draw(maker, (uint32_t)(step > 0 ? size - first - 1 : first) / (uint32_t)llabs(step) + 1);
		node->starts[i] = first;
		node->steps[i] = step;
		x.shape[i] = length;
		starts[count] = one_in(maker, 2) ? first : first - size;
		ends[count] = first + step * length;
		if (ends[count] < 0) /* a place before the first element can only be written as a very small number */
			ends[count] = one_in(maker, 2) ? -size - 1 : -INT64_MAX;
		else if (ends[count] < size && one_in(maker, 2))
			ends[count] -= size;
		else if (ends[count] >= size && one_in(maker, 2))
			ends[count] = INT64_MAX;
		axes[count] = one_in(maker, 2) ? i : (int64_t)i - x.rank;
		steps[count++] = step;
	}
	if (!count)
		return false;
	say_or_add(maker, node, 10, "starts", count, starts);
	say_or_add(maker, node, 10, "ends", count, ends);
	say_or_add(maker, node, 10, "axes", count, axes);
	if (steppy)
		say_or_add(maker, node, 10, "steps", count, steps);
	return add_output(maker, node, x.dtype, x.rank, x.shape);
}

static bool fits(const struct graph_value *value, const struct graph_value *first, uint32_t axis)
{
	for (uint32_t i = 0; i < first->rank && value->rank == first->rank; i++)
		if (i != axis && value->shape[i] != first->shape[i])
			return false;
	return value->rank == first->rank && value->dtype == first->dtype;
}

/* Draw a value to join with `first`; where most nodes join values, preferably one that fits. */
static uint32_t draw_joined(struct maker *maker, uint32_t first, uint32_t axis)
{
	uint32_t index = draw_value(maker);

	for (int tries = 0; maker->parts && tries < 20; tries++, index = draw_value(maker))
		if (fits(value_of(maker, index), value_of(maker, first), axis))
			break;
	return index;
}

static bool make_concat(struct maker *maker, struct graph_node *node)
{
	uint32_t count = 1 + draw(maker, 4), first = add_input(maker, node, pick(maker, ALL, 1, 6));
	struct graph_value sum = *value_of(maker, first);
	int64_t said;

	said = draw_axis(maker, node, sum.rank);
	say(node, " axis=%lld", (long long)said);
	for (uint32_t i = 1; i < count; i++) {
		struct graph_value like = *value_of(maker, first);
		uint32_t index = draw_joined(maker, first, (uint32_t)node->axis);
		const struct graph_value *value = value_of(maker, index);

		like.shape[node->axis] = draw_size(maker);
		if (count_of(like.rank, like.shape) > MOST_DRAWN)
			like.shape[node->axis] = 1;
		if (value->dtype == sum.dtype && value->rank == sum.rank) {
			like.shape[node->axis] = value->shape[node->axis];
			if (memcmp(like.shape, value->shape, sum.rank * sizeof(*sum.shape)))
				index = add_fresh(maker, like.dtype, like.rank, like.shape);
		} else if (one_in(maker, 2)) {
			index = add_fresh(maker, like.dtype, like.rank, like.shape);
		} else {
			index = first;
		}
		sum.shape[node->axis] += value_of(maker, add_input(maker, node, index))->shape[node->axis];
	}
	return add_output(maker, node, sum.dtype, sum.rank, sum.shape);
}

static bool make_split(struct maker *maker, struct graph_node *node)
{
	struct graph_value x = *value_of(maker, add_input(maker, node, pick(maker, ALL, 1, 6)));
	int64_t said, sizes[NODE_OUTPUTS] = {0}, left;
	uint32_t count = 1 + draw(maker, 4);

	said = draw_axis(maker, node, x.rank);
	say(node, " axis=%lld", (long long)said);
	left = x.shape[node->axis];
	for (uint32_t i = 0; i < count; i++) {
		sizes[i] = i + 1 == count ? left : draw(maker, (uint32_t)left + 1);
		left -= sizes[i];
	}
	say_or_add(maker, node, 13, "split", count, sizes);
	for (uint32_t i = 0; i < count; i++) {
		node->list[i] = sizes[i];
		x.shape[node->axis] = sizes[i];
		if (!add_output(maker, node, x.dtype, x.rank, x.shape))
			return false;
	}
	return true;
}

static bool make_expand(struct maker *maker, struct graph_node *node)
{
	struct graph_value x = *value_of(maker, add_input(maker, node, pick(maker, ALL, 0, 4)));
	uint32_t more = draw(maker, 3);
	int64_t said[SK_MAX_RANK], shape[SK_MAX_RANK];

	for (uint32_t i = 0; i < x.rank + more; i++) {
		int64_t size = i < more ? 1 : x.shape[i - more];

		shape[i] = size == 1 && one_in(maker, 2) ? 1 + draw(maker, 5) : size;
		said[i] = shape[i] == size && one_in(maker, 2) ? 1 : shape[i];
	}
	add_input(maker, node, add_list(maker, x.rank + more, said));
	return add_output(maker, node, x.dtype, x.rank + more, shape);
}

static bool make_tile(struct maker *maker, struct graph_node *node)
{
	struct graph_value x = *value_of(maker, add_input(maker, node, pick(maker, ALL, 1, 5)));

	for (uint32_t i = 0; i < x.rank; i++) {
		node->list[i] = one_in(maker, 30) ? 0 : one_in(maker, 2) ? 1 : 1 + draw(maker, 3);
		x.shape[i] *= node->list[i];
	}
	add_input(maker, node, add_list(maker, x.rank, node->list));
	return add_output(maker, node, x.dtype, x.rank, x.shape);
}

/* Indices below `limit`, as a constant or an input. */
static uint32_t add_indices(struct maker *maker, uint32_t rank, const int64_t *shape, int64_t limit)
{
	uint32_t index = add_value(maker, one_in(maker, 2) ? GRAPH_CONSTANT : GRAPH_INPUT,
				   one_in(maker, 2) ? SK_I64 : SK_I32, rank, shape);
	struct graph_value *value = &maker->graph->values[index];

	for (int64_t i = 0; i < value->count; i++)
		value->elements[i] = (number)draw(maker, (uint32_t)limit) - (one_in(maker, 4) ? limit : 0);
	return index;
}

static bool make_gather(struct maker *maker, struct graph_node *node)
{
	struct graph_value x = *value_of(maker, add_input(maker, node, pick(maker, ALL, 1, 5)));
	int64_t said, indices[SK_MAX_RANK], shape[SK_MAX_RANK];
	uint32_t rank = draw(maker, 3);

	said = draw_axis(maker, node, x.rank);
	say(node, " axis=%lld", (long long)said);
	if (!x.shape[node->axis])
		return false;
	for (uint32_t i = 0; i < rank; i++)
		indices[i] = one_in(maker, 20) ? 0 : 1 + draw(maker, 6);
	memcpy(shape, x.shape, (size_t)node->axis * sizeof(*shape));
	memcpy(shape + node->axis, indices, rank * sizeof(*shape));
	memcpy(shape + node->axis + rank, x.shape + node->axis + 1, (size_t)(x.rank - node->axis - 1) * sizeof(*shape));
	add_input(maker, node, add_indices(maker, rank, indices, x.shape[node->axis]));
	return add_output(maker, node, x.dtype, x.rank + rank - 1, shape);
}

static bool make_gather_elements(struct maker *maker, struct graph_node *node)
{
	struct graph_value x = *value_of(maker, add_input(maker, node, pick(maker, ALL, 1, 5)));
	int64_t said, limit;

	said = draw_axis(maker, node, x.rank);
	say(node, " axis=%lld", (long long)said);
	limit = x.shape[node->axis];
	if (!limit)
		return false;
	for (uint32_t i = 0; i < x.rank; i++)
		x.shape[i] = i == node->axis ? 1 + draw(maker, 6)
			     : x.shape[i]    ? 1 + draw(maker, (uint32_t)x.shape[i])
					     : 0;
	add_input(maker, node, add_indices(maker, x.rank, x.shape, limit));
	return add_output(maker, node, x.dtype, x.rank, x.shape);
}

/* Draw how scattered elements combine with the old ones, as far as the operator set allows. */
static void draw_meeting(struct maker *maker, struct graph_node *node, enum sk_dtype dtype)
{
	static const char *const modes[] = {"none", "add", "mul", "max", "min"};

	node->mode = modes[dtype == SK_BOOL	      ? 0
			   : maker->graph->opset < 16 ? 0
			   : maker->graph->opset < 18 ? draw(maker, 3)
						      : draw(maker, 5)];
	if (strcmp(node->mode, "none") != 0)
		say(node, " reduction='%s'", node->mode);
}

static bool make_scatter_elements(struct maker *maker, struct graph_node *node)
{
	struct graph_value x = *value_of(maker, add_input(maker, node, pick(maker, ALL, 1, 4))), like = x;
	int64_t said = draw_axis(maker, node, x.rank);

	if (!x.count || x.count > MOST_DRAWN)
		return false;
	say(node, " axis=%lld", (long long)said);
	draw_meeting(maker, node, x.dtype);
	for (uint32_t i = 0; i < x.rank; i++)
		like.shape[i] = 1 + draw(maker, x.shape[i] < 6 ? (uint32_t)x.shape[i] : 6);
	add_input(maker, node, add_indices(maker, like.rank, like.shape, x.shape[node->axis]));
	maker->graph->values[node->inputs[1]].dtype = SK_I64;
	add_input(maker, node, add_fresh(maker, x.dtype, like.rank, like.shape));
	return add_output(maker, node, x.dtype, x.rank, x.shape);
}

/* Tuples of so many numbers, each for a dimension of a value with elements; `shape` is the shape before them. */
static uint32_t add_tuples(struct maker *maker, const struct graph_value *of, uint32_t rank, int64_t *shape,
			   uint32_t length)
{
	uint32_t index;

	shape[rank] = length;
	index = add_value(maker, one_in(maker, 2) ? GRAPH_CONSTANT : GRAPH_INPUT, SK_I64, rank + 1, shape);
	for (int64_t i = 0; i < maker->graph->values[index].count; i++) {
		int64_t size = of->shape[i % length];

		maker->graph->values[index].elements[i] =
			(number)draw(maker, (uint32_t)size) - (one_in(maker, 4) ? size : 0);
	}
	return index;
}

/* GatherND and ScatterND: the slices that tuples name, or the updates written there. */
static bool make_tuples(struct maker *maker, struct graph_node *node)
{
	struct graph_value x = *value_of(maker, add_input(maker, node, pick(maker, ALL, 1, 4)));
	uint32_t rank = 1 + draw(maker, 2), length = 1 + draw(maker, x.rank);
	int64_t shape[2 * SK_MAX_RANK];

	if (!x.count || x.count > MOST_DRAWN)
		return false;
	for (uint32_t i = 0; i < rank; i++)
		shape[i] = 1 + draw(maker, 4);
	add_input(maker, node, add_tuples(maker, &x, rank, shape, length));
	node->axis = length;
	memcpy(shape + rank, x.shape + length, (x.rank - length) * sizeof(*shape));
	if (!strcmp(node->op, "GatherND"))
		return add_output(maker, node, x.dtype, rank + x.rank - length, shape);
	draw_meeting(maker, node, x.dtype);
	if (count_of(rank + x.rank - length, shape) > MOST_DRAWN)
		return false;
	add_input(maker, node, add_fresh(maker, x.dtype, rank + x.rank - length, shape));
	return add_output(maker, node, x.dtype, x.rank, x.shape);
}

/* Reflections need dimensions that are large enough to be reflected. */
static bool make_pad(struct maker *maker, struct graph_node *node)
{
	static const char *const modes[] = {"constant", "reflect", "edge"};
	bool old = maker->graph->opset < 11;
	uint32_t x = add_input(maker, node, pick(maker, old ? FLOATS : ALL & ~BOOL, 1, 5));
	struct graph_value y = *value_of(maker, x);
	int64_t pads[2 * SK_MAX_RANK] = {0};

	if (!y.count)
		return false;
	node->mode = modes[draw(maker, 3)];
	say(node, " mode='%s'", node->mode);
	for (uint32_t i = 0; i < y.rank; i++)
		for (uint32_t end = 0; end < 2; end++) {
			uint32_t limit = strcmp(node->mode, "reflect") ? 4 : y.shape[i] > 4 ? 4 : (uint32_t)y.shape[i];

			pads[end * y.rank + i] = one_in(maker, 2) ? 0 : draw(maker, limit);
		}
	for (uint32_t i = 0; i < y.rank; i++) {
		node->starts[i] = pads[i];
		y.shape[i] += pads[i] + pads[y.rank + i];
	}
	say_or_add(maker, node, 11, "pads", 2 * y.rank, pads);
	if (!old && one_in(maker, 2)) {
		node->alpha = draw(maker, 5);
		add_input(maker, node, add_scalar(maker, y.dtype, (number)node->alpha));
	} else if (old && one_in(maker, 2)) {
		node->alpha = draw(maker, 5);
		say(node, " value=%.1f", node->alpha);
	}
	return add_output(maker, node, y.dtype, y.rank, y.shape);
}

static bool make_depth_to_space(struct maker *maker, struct graph_node *node)
{
	int64_t block = 2 + draw(maker, 2), shape[4] = {1 + draw(maker, 2), block * block * (1 + draw(maker, 2)),
							1 + draw(maker, 4), 1 + draw(maker, 4)};
	enum sk_dtype dtype = draw_dtype(maker, FLOATS);
	uint32_t x = add_fresh(maker, dtype, 4, shape);
	int64_t result[4] = {shape[0], shape[1] / block / block, shape[2] * block, shape[3] * block};

	add_input(maker, node, x);
	node->axis = block;
	node->flag = maker->graph->opset >= 11 && one_in(maker, 2);
	say(node, " blocksize=%lld%s", (long long)block, node->flag ? " mode='CRD'" : "");
	return add_output(maker, node, dtype, 4, result);
}

static bool make_space_to_depth(struct maker *maker, struct graph_node *node)
{
	int64_t block = 2 + draw(maker, 2), shape[4] = {1 + draw(maker, 2), 1 + draw(maker, 3),
							block * (1 + draw(maker, 3)), block * (1 + draw(maker, 3))};
	enum sk_dtype dtype = draw_dtype(maker, FLOATS);
	uint32_t x = add_fresh(maker, dtype, 4, shape);
	int64_t result[4] = {shape[0], shape[1] * block * block, shape[2] / block, shape[3] / block};

	add_input(maker, node, x);
	node->axis = block;
	say(node, " blocksize=%lld", (long long)block);
	return add_output(maker, node, dtype, 4, result);
}

static bool make_trilu(struct maker *maker, struct graph_node *node)
{
	uint32_t x = add_input(maker, node, pick(maker, ALL, 2, 5));

	node->flag = one_in(maker, 2);
	say(node, " upper=%d", node->flag);
	if (one_in(maker, 2)) {
		node->axis = (int64_t)draw(maker, 7) - 3;
		add_input(maker, node, add_scalar(maker, SK_I64, (number)node->axis));
	}
	return add_alike(maker, node, x);
}

/* ---- along axes ---- */

/* Axes of a reduction, in the words of the operator set: an input since `input_since`. */
static bool make_reduction_since(struct maker *maker, struct graph_node *node, uint32_t input_since)
{
	struct graph_value x = *value_of(maker, add_input(maker, node, pick(maker, maker->drawn->dtypes, 0, 6)));
	int64_t said[SK_MAX_RANK], shape[SK_MAX_RANK], rank = 0;
	bool all = one_in(maker, 5);

	node->flag = !one_in(maker, 3);
	if (!node->flag || one_in(maker, 2))
		say(node, " keepdims=%d", node->flag);
	for (uint32_t i = 0; i < x.rank; i++)
		if (all || one_in(maker, 3)) {
			said[node->list_count] = one_in(maker, 2) ? i : (int64_t)i - x.rank;
			node->list[node->list_count++] = i;
			if (node->flag)
				shape[rank++] = 1;
		} else {
			shape[rank++] = x.shape[i];
		}
	if (!all && !node->list_count)
		return false;
	if (!all)
		say_or_add(maker, node, input_since, "axes", node->list_count, said);
	return add_output(maker, node, x.dtype, (uint32_t)rank, shape);
}

static bool make_reduction(struct maker *maker, struct graph_node *node)
{
	return make_reduction_since(maker, node, !strcmp(node->op, "ReduceSum") ? 13 : 18);
}

static bool make_arg(struct maker *maker, struct graph_node *node)
{
	struct graph_value x = *value_of(maker, add_input(maker, node, pick(maker, maker->drawn->dtypes, 1, 6)));
	int64_t said;

	said = draw_axis(maker, node, x.rank);
	if (!x.shape[node->axis])
		return false;
	node->flag = one_in(maker, 2);
	node->other_flag = maker->graph->opset >= 12 && one_in(maker, 2);
	say(node, " axis=%lld keepdims=%d", (long long)said, node->flag);
	if (node->other_flag)
		say(node, " select_last_index=1");
	x.shape[node->axis] = 1;
	if (!node->flag) {
		memmove(x.shape + node->axis, x.shape + node->axis + 1,
			(size_t)(x.rank - node->axis - 1) * sizeof(*x.shape));
		x.rank--;
	}
	return add_output(maker, node, SK_I64, x.rank, x.shape);
}

/* Before operator set 13 everything from the axis on was one row. */
static bool make_softmax(struct maker *maker, struct graph_node *node)
{
	uint32_t x = add_input(maker, node, pick(maker, maker->drawn->dtypes, 1, 6));
	int64_t said;

	said = draw_axis(maker, node, value_of(maker, x)->rank);
	if (maker->graph->opset < 11)
		said = node->axis;
	node->flag = maker->graph->opset < 13;
	say(node, " axis=%lld", (long long)said);
	return add_alike(maker, node, x);
}

static bool make_cumsum(struct maker *maker, struct graph_node *node)
{
	uint32_t x = add_input(maker, node, pick(maker, maker->drawn->dtypes, 1, 6));
	int64_t said;

	said = draw_axis(maker, node, value_of(maker, x)->rank);
	add_input(maker, node, add_scalar(maker, one_in(maker, 2) ? SK_I64 : SK_I32, (number)said));
	node->flag = one_in(maker, 2);
	node->other_flag = one_in(maker, 2);
	say(node, " exclusive=%d reverse=%d", node->flag, node->other_flag);
	return add_alike(maker, node, x);
}

static bool make_topk(struct maker *maker, struct graph_node *node)
{
	struct graph_value x = *value_of(maker, add_input(maker, node, pick(maker, maker->drawn->dtypes, 1, 6)));
	int64_t said, one = 1;
	uint32_t count;

	said = draw_axis(maker, node, x.rank);
	if (!x.shape[node->axis])
		return false;
	x.shape[node->axis] = 1 + draw(maker, (uint32_t)x.shape[node->axis]);
	if (maker->graph->opset >= 10) {
		count = add_value(maker, GRAPH_CONSTANT, SK_I64, 1, &one);
		maker->graph->values[count].elements[0] = (number)x.shape[node->axis];
		add_input(maker, node, count);
	} else {
		say(node, " k=%lld", (long long)x.shape[node->axis]);
	}
	node->flag = maker->graph->opset < 11 || one_in(maker, 2);
	say(node, " axis=%lld", (long long)(maker->graph->opset < 11 ? node->axis : said));
	if (!node->flag)
		say(node, " largest=0");
	return add_output(maker, node, x.dtype, x.rank, x.shape) && add_output(maker, node, SK_I64, x.rank, x.shape);
}

/* ---- normalisations, products, windows ---- */

static bool make_layer_norm(struct maker *maker, struct graph_node *node)
{
	struct graph_value x = *value_of(maker, add_input(maker, node, pick(maker, maker->drawn->dtypes, 1, 6)));
	int64_t said;

	said = draw_axis(maker, node, x.rank);
	if (count_of(x.rank - (uint32_t)node->axis, x.shape + node->axis) > MOST_DRAWN)
		return false;
	say(node, " axis=%lld epsilon=0.01", (long long)said);
	add_input(maker, node, add_fresh(maker, x.dtype, x.rank - (uint32_t)node->axis, x.shape + node->axis));
	if (!strcmp(node->op, "LayerNormalization") && one_in(maker, 2))
		add_input(maker, node, add_fresh(maker, x.dtype, x.rank - (uint32_t)node->axis, x.shape + node->axis));
	return add_output(maker, node, x.dtype, x.rank, x.shape);
}

static bool make_channel_norm(struct maker *maker, struct graph_node *node)
{
	struct graph_value x = *value_of(maker, add_input(maker, node, pick(maker, maker->drawn->dtypes, 3, 5)));
	uint32_t count = strcmp(node->op, "BatchNormalization") ? 2 : 4;

	say(node, " epsilon=0.01");
	for (uint32_t i = 0; i < count; i++) {
		uint32_t index = add_fresh(maker, x.dtype, 1, &x.shape[1]);
		struct graph_value *value = &maker->graph->values[index];

		for (int64_t e = 0; i == 3 && e < value->count; e++) /* a variance is not negative */
			value->elements[e] = fabsl(value->elements[e]);
		add_input(maker, node, index);
	}
	return add_output(maker, node, x.dtype, x.rank, x.shape);
}

/* The second factor fits the first one: vectors and batches on either side. */
static bool make_product(struct maker *maker, struct graph_node *node)
{
	bool integers = !strcmp(node->op, "MatMulInteger"); /* of matrices alone */
	uint32_t first = pick(maker, maker->drawn->dtypes, integers ? 2 : 1, 5), batch, second;
	struct graph_value a = *value_of(maker, first), b = {.dtype = a.dtype};
	int64_t shape[SK_MAX_RANK], columns = 1 + draw(maker, one_in(maker, 4) ? 70 : 9);

	batch = a.rank > 2 ? draw(maker, a.rank - 1) : one_in(maker, 5);
	b.rank = a.rank == 1 || integers || !one_in(maker, 6) ? batch + 2 : 1;
	if (b.rank == 1) {
		b.shape[0] = a.shape[a.rank - 1];
	} else {
		for (uint32_t i = 0; i < batch; i++)
			b.shape[i] = a.rank > 2 && !one_in(maker, 4) ? a.shape[a.rank - 2 - batch + i] : 1;
		b.shape[batch] = a.shape[a.rank - 1];
		b.shape[batch + 1] = columns;
	}
	if (count_of(b.rank, b.shape) > MOST_DRAWN || count_of(a.rank, a.shape) * columns > 100000)
		return false;
	b.dtype = !integers || one_in(maker, 2) ? a.dtype : a.dtype == SK_U8 ? SK_I8 : SK_U8;
	second = add_fresh(maker, b.dtype, b.rank, b.shape);
	add_input(maker, node, first);
	add_input(maker, node, second);
	/* The batches are broadcast; a vector has neither a row nor a column. */
	struct graph_value rows = a, others = b;
	int64_t rank;

	rows.rank = a.rank > 2 ? a.rank - 2 : 0;
	others.rank = b.rank > 2 ? b.rank - 2 : 0;
	rank = broadcast(&rows, &others, shape);
	if (rank < 0)
		return false;
	if (a.rank > 1)
		shape[rank++] = a.shape[a.rank - 2];
	if (b.rank > 1)
		shape[rank++] = b.shape[b.rank - 1];
	return add_output(maker, node, integers ? SK_I32 : a.dtype, (uint32_t)rank, shape);
}

static bool make_gemm(struct maker *maker, struct graph_node *node)
{
	uint32_t a = pick(maker, maker->drawn->dtypes, 2, 2), b, c;
	struct graph_value first = *value_of(maker, a), like = {.dtype = first.dtype, .rank = 2};
	int64_t m, k, n = 1 + draw(maker, 20);

	node->flag = one_in(maker, 3);
	node->other_flag = one_in(maker, 2);
	m = first.shape[node->flag];
	k = first.shape[!node->flag];
	like.shape[node->other_flag] = k;
	like.shape[!node->other_flag] = n;
	if (k * n > MOST_DRAWN || m * n > MOST_DRAWN)
		return false;
	b = add_fresh(maker, like.dtype, 2, like.shape);
	add_input(maker, node, a);
	add_input(maker, node, b);
	if (maker->graph->opset < 11 || !one_in(maker, 4)) {
		int64_t shape[2] = {one_in(maker, 2) ? 1 : m, one_in(maker, 4) ? 1 : n};
		uint32_t cut = shape[0] == 1 ? draw(maker, shape[1] == 1 ? 3 : 2) : 0;

		c = add_fresh(maker, like.dtype, 2 - cut, shape + cut);
		add_input(maker, node, c);
	}
	say(node, " transA=%d transB=%d", node->flag, node->other_flag);
	node->alpha = say_real(maker, node, "alpha", one_in(maker, 2) ? 1 : 0.5);
	node->beta = say_real(maker, node, "beta", one_in(maker, 2) ? 1 : 0.25);
	return add_output(maker, node, like.dtype, 2, (int64_t[]){m, n});
}

/* The extents that a window moves over. False: it does not fit. */
static bool draw_window(struct maker *maker, struct graph_node *node, struct graph_value *y, bool dilated)
{
	uint32_t spatial = y->rank - 2;
	int64_t pads[2 * SK_MAX_RANK];

	node->list_count = spatial;
	for (uint32_t i = 0; i < spatial; i++) {
		int64_t reach;

		node->list[i] = 1 + draw(maker, 4);
		node->steps[i] = 1 + draw(maker, 3);
		node->dilations[i] = dilated && one_in(maker, 4) ? 2 : 1;
		reach = (node->list[i] - 1) * node->dilations[i] + 1;
		node->starts[i] = pads[i] = one_in(maker, 2) ? 0 : draw(maker, (uint32_t)node->list[i]);
		pads[spatial + i] = one_in(maker, 2) ? pads[i] : draw(maker, (uint32_t)node->list[i]);
		if (y->shape[2 + i] + pads[i] + pads[spatial + i] < reach)
			return false;
		y->shape[2 + i] = (y->shape[2 + i] + pads[i] + pads[spatial + i] - reach) / node->steps[i] + 1;
	}
	say_list(node, "kernel_shape", spatial, node->list);
	say_list(node, "strides", spatial, node->steps);
	say_list(node, "pads", 2 * spatial, pads);
	if (dilated)
		say_list(node, "dilations", spatial, node->dilations);
	return true;
}

static bool make_conv(struct maker *maker, struct graph_node *node)
{
	uint32_t spatial = 1 + draw(maker, 3), x;
	int64_t filters = 1 + draw(maker, one_in(maker, 4) ? 20 : 5);
	struct graph_value y = {.dtype = draw_dtype(maker, maker->drawn->dtypes), .rank = 2 + spatial};
	struct graph_value w = y;

	node->group = one_in(maker, 2) ? 1 : 1 + draw(maker, 4);
	w.shape[0] = filters * node->group;
	w.shape[1] = 1 + draw(maker, 4);
	y.shape[0] = 1 + draw(maker, 2);
	y.shape[1] = w.shape[1] * node->group;
	for (uint32_t i = 0; i < spatial; i++)
		y.shape[2 + i] = 1 + draw(maker, 9);
	if (count_of(y.rank, y.shape) > MOST_DRAWN)
		return false;
	x = add_fresh(maker, y.dtype, y.rank, y.shape);
	if (!draw_window(maker, node, &y, true))
		return false;
	say(node, " group=%lld", (long long)node->group);
	memcpy(w.shape + 2, node->list, spatial * sizeof(*w.shape));
	y.shape[1] = w.shape[0];
	if (count_of(w.rank, w.shape) > MOST_DRAWN)
		return false;
	add_input(maker, node, x);
	add_input(maker, node, add_fresh(maker, w.dtype, w.rank, w.shape));
	if (one_in(maker, 2))
		add_input(maker, node, add_fresh(maker, w.dtype, 1, w.shape));
	return add_output(maker, node, y.dtype, y.rank, y.shape);
}

static bool make_pool(struct maker *maker, struct graph_node *node)
{
	uint32_t x = add_input(maker, node, pick(maker, maker->drawn->dtypes, 3, 5));
	struct graph_value y = *value_of(maker, x);

	if (!y.count || !draw_window(maker, node, &y, !strcmp(node->op, "MaxPool") && maker->graph->opset >= 10))
		return false;
	for (uint32_t i = 0; i < SK_MAX_RANK; i++)
		node->dilations[i] = node->dilations[i] ? node->dilations[i] : 1;
	node->flag = !strcmp(node->op, "AveragePool") && one_in(maker, 2);
	if (node->flag)
		say(node, " count_include_pad=1");
	return add_output(maker, node, y.dtype, y.rank, y.shape);
}

/* Small weights, so that errors do not grow from step to step. */
static void add_weights(struct maker *maker, struct graph_node *node, enum sk_dtype dtype, uint32_t rank,
			const int64_t *shape)
{
	uint32_t index = add_input(maker, node, add_fresh(maker, dtype, rank, shape));
	struct graph_value *value = &maker->graph->values[index];

	for (int64_t i = 0; i < value->count; i++)
		value->elements[i] = (number)draw(maker, 65) / 128 - 0.25L;
	settle(value);
}

static bool make_recurrent(struct maker *maker, struct graph_node *node)
{
	static const char *const modes[] = {"forward", "reverse", "bidirectional"};
	int64_t gates = !strcmp(node->op, "RNN") ? 1 : !strcmp(node->op, "GRU") ? 3 : 4;
	int64_t steps = 1 + draw(maker, 4), batch = 1 + draw(maker, 3), width = 1 + draw(maker, 9);
	int64_t hidden = 1 + draw(maker, 9), directions;
	enum sk_dtype dtype = draw_dtype(maker, maker->drawn->dtypes);

	node->mode = modes[draw(maker, 3)];
	directions = strcmp(node->mode, "bidirectional") ? 1 : 2;
	say(node, " hidden_size=%lld direction='%s'", (long long)hidden, node->mode);
	add_weights(maker, node, dtype, 3, (int64_t[]){steps, batch, width});
	add_weights(maker, node, dtype, 3, (int64_t[]){directions, gates * hidden, width});
	add_weights(maker, node, dtype, 3, (int64_t[]){directions, gates * hidden, hidden});
	if (one_in(maker, 2))
		add_weights(maker, node, dtype, 2, (int64_t[]){directions, 2 * gates * hidden});
	node->flag = gates == 3 && one_in(maker, 2);
	if (node->flag)
		say(node, " linear_before_reset=1");
	return add_output(maker, node, dtype, 4, (int64_t[]){steps, directions, batch, hidden}) &&
	       add_output(maker, node, dtype, 3, (int64_t[]){directions, batch, hidden}) &&
	       (gates < 4 || add_output(maker, node, dtype, 3, (int64_t[]){directions, batch, hidden}));
}

/* ---- shapes as values ---- */

static bool make_shape(struct maker *maker, struct graph_node *node)
{
	const struct graph_value *x = value_of(maker, add_input(maker, node, pick(maker, ALL, 0, 6)));
	int64_t rank = x->rank;

	return add_output(maker, node, SK_I64, 1, &rank);
}

static bool make_constant_of_shape(struct maker *maker, struct graph_node *node)
{
	int64_t shape[SK_MAX_RANK];
	uint32_t rank = draw(maker, 5);

	draw_shape(maker, rank, shape);
	add_input(maker, node, add_list(maker, rank, shape));
	return add_output(maker, node, SK_F32, rank, shape);
}

/* Numbers from a first one on. */
static bool make_range(struct maker *maker, struct graph_node *node)
{
	int64_t first = draw(maker, 5), step = 1 + draw(maker, 3), count = draw_size(maker);

	node->starts[0] = first;
	node->steps[0] = step;
	add_input(maker, node, add_scalar(maker, SK_I64, (number)first));
	add_input(maker, node, add_scalar(maker, SK_I64, (number)(first + step * count)));
	add_input(maker, node, add_scalar(maker, SK_I64, (number)step));
	return add_output(maker, node, SK_I64, 1, &count);
}

static uint32_t add_scale(struct maker *maker)
{
	return add_scalar(maker, SK_F32,
			  one_in(maker, 4) ? draw_any(maker, SK_F32) : (number)(1 + draw(maker, 60)) / 256);
}

static bool make_quantize(struct maker *maker, struct graph_node *node)
{
	struct graph_value x = *value_of(maker, add_input(maker, node, pick(maker, SET(SK_F32), 0, 6)));
	enum sk_dtype dtype = one_in(maker, 2) ? SK_I8 : SK_U8;

	node->beta = draw(maker, 9);
	add_input(maker, node, add_scale(maker));
	add_input(maker, node, add_scalar(maker, dtype, (number)node->beta));
	return add_output(maker, node, dtype, x.rank, x.shape);
}

static bool make_dequantize(struct maker *maker, struct graph_node *node)
{
	struct graph_value x = *value_of(maker, add_input(maker, node, pick(maker, SET(SK_I8) | SET(SK_U8), 0, 6)));

	node->beta = draw(maker, 9);
	add_input(maker, node, add_scale(maker));
	add_input(maker, node, add_scalar(maker, x.dtype, (number)node->beta));
	return add_output(maker, node, SK_F32, x.rank, x.shape);
}

/* ---- the table ---- */

static const struct known_operator operators[] = {
	{"Abs", 7, 0, NUMBERS, 1, make_unary},
	{"Neg", 7, 0, FLOATS | SIGNED, 1, make_unary},
	{"Sign", 9, 0, NUMBERS, 1, make_unary},
	{"Relu", 7, 0, FLOATS, 2, make_unary},
	{"BitwiseNot", 18, 0, SIGNED | UNSIGNED, 1, make_unary},
	{"Not", 7, 0, BOOL, 2, make_unary},
	{"Ceil", 7, 0, FLOATS, 1, make_unary},
	{"Floor", 7, 0, FLOATS, 1, make_unary},
	{"Round", 11, 0, FLOATS, 1, make_unary},
	{"Sqrt", 7, 0, FLOATS, 1, make_unary},
	{"Reciprocal", 7, 0, FLOATS, 1, make_unary},
	{"Exp", 7, 0, FLOATS, 1, make_unary},
	{"Log", 7, 0, FLOATS, 1, make_unary},
	{"Tanh", 7, 0, FLOATS, 2, make_unary},
	{"Sigmoid", 7, 0, FLOATS, 2, make_unary},
	{"Softplus", 7, 0, FLOATS, 1, make_unary},
	{"Softsign", 7, 0, FLOATS, 1, make_unary},
	{"HardSwish", 14, 0, FLOATS, 1, make_unary},
	{"Erf", 9, 0, NUMBERS, 1, make_unary},
	{"Sin", 7, 0, FLOATS, 1, make_unary},
	{"Cos", 7, 0, FLOATS, 1, make_unary},
	{"Atan", 7, 0, FLOATS, 1, make_unary},
	{"Sinh", 9, 0, FLOATS, 1, make_unary},
	{"Asinh", 9, 0, FLOATS, 1, make_unary},
	{"LeakyRelu", 7, 0, FLOATS, 1, make_alpha},
	{"ThresholdedRelu", 10, 0, FLOATS, 1, make_alpha},
	{"Elu", 7, 0, FLOATS, 1, make_alpha},
	{"HardSigmoid", 7, 0, FLOATS, 1, make_alpha_beta},
	{"IsNaN", 9, 0, FLOATS, 1, make_test},
	{"IsInf", 10, 0, FLOATS, 1, make_test},
	{"Add", 7, 0, NUMBERS, 5, make_binary},
	{"Add", 7, 0, NUMBERS, 1, make_neutral},
	{"Sub", 7, 0, NUMBERS, 4, make_binary},
	{"Sub", 7, 0, NUMBERS, 1, make_neutral},
	{"Mul", 7, 0, NUMBERS, 5, make_binary},
	{"Mul", 7, 0, NUMBERS, 1, make_neutral},
	{"Div", 7, 0, NUMBERS, 3, make_binary},
	{"Div", 7, 0, NUMBERS, 1, make_neutral},
	{"Mod", 10, 0, NUMBERS, 1, make_mod},
	{"PRelu", 9, 0, FLOATS | WIDE, 1, make_prelu},
	{"Pow", 7, 0, FLOATS | SET(SK_I32) | SET(SK_I64), 2, make_pow},
	{"And", 7, 0, BOOL, 1, make_binary},
	{"Or", 7, 0, BOOL, 1, make_binary},
	{"Xor", 7, 0, BOOL, 1, make_binary},
	{"BitwiseAnd", 18, 0, SIGNED | UNSIGNED, 1, make_binary},
	{"BitwiseOr", 18, 0, SIGNED | UNSIGNED, 1, make_binary},
	{"BitwiseXor", 18, 0, SIGNED | UNSIGNED, 1, make_binary},
	{"BitShift", 11, 0, UNSIGNED, 1, make_shift},
	{"Equal", 11, 0, NUMBERS | BOOL, 1, make_comparison},
	{"Greater", 9, 0, NUMBERS, 1, make_comparison},
	{"Less", 9, 0, NUMBERS, 1, make_comparison},
	{"GreaterOrEqual", 12, 0, NUMBERS, 1, make_comparison},
	{"LessOrEqual", 12, 0, NUMBERS, 1, make_comparison},
	{"Max", 8, 0, NUMBERS, 2, make_variadic},
	{"Min", 8, 0, NUMBERS, 2, make_variadic},
	{"Sum", 8, 0, FLOATS, 2, make_variadic},
	{"Mean", 8, 0, FLOATS, 1, make_variadic},
	{"Where", 9, 0, ALL, 3, make_where},
	{"Clip", 7, 0, NUMBERS, 2, make_clip},
	{"Cast", 9, 0, ALL, 4, make_cast},
	{"Identity", 7, 0, ALL, 1, make_unary},
	{"Reshape", 7, 0, ALL, 6, make_reshape},
	{"Flatten", 9, 0, ALL, 1, make_flatten},
	{"Squeeze", 11, 0, ALL, 2, make_squeeze},
	{"Unsqueeze", 11, 0, ALL, 2, make_unsqueeze},
	{"Transpose", 7, 0, ALL, 6, make_transpose},
	{"Transpose", 7, 0, ALL, 2, make_turned_back},
	{"Slice", 7, 0, ALL, 6, make_slice},
	{"Concat", 7, 0, ALL, 5, make_concat},
	{"Split", 7, 0, ALL, 4, make_split},
	{"Expand", 8, 0, ALL, 3, make_expand},
	{"Tile", 7, 0, ALL, 1, make_tile},
	{"Gather", 11, 0, ALL, 3, make_gather},
	{"GatherElements", 11, 0, ALL, 1, make_gather_elements},
	{"ScatterElements", 11, 0, ALL, 2, make_scatter_elements},
	{"ScatterND", 11, 0, ALL, 1, make_tuples},
	{"GatherND", 11, 0, ALL, 1, make_tuples},
	{"Pad", 7, 0, ALL, 2, make_pad},
	{"DepthToSpace", 7, 0, ALL, 1, make_depth_to_space},
	{"SpaceToDepth", 7, 0, ALL, 1, make_space_to_depth},
	{"Trilu", 14, 0, ALL, 1, make_trilu},
	{"ReduceSum", 11, 0, FLOATS | WIDE, 3, make_reduction},
	{"ReduceMean", 11, 0, FLOATS, 3, make_reduction},
	{"ReduceMax", 11, 0, FLOATS | WIDE | SET(SK_I8) | SET(SK_U8), 2, make_reduction},
	{"ReduceMin", 11, 0, FLOATS | WIDE | SET(SK_I8) | SET(SK_U8), 1, make_reduction},
	{"ReduceProd", 11, 0, FLOATS | WIDE, 1, make_reduction},
	{"ReduceL1", 11, 0, FLOATS | WIDE, 1, make_reduction},
	{"ReduceL2", 11, 0, FLOATS, 1, make_reduction},
	{"ReduceSumSquare", 11, 0, FLOATS | WIDE, 1, make_reduction},
	{"ReduceLogSumExp", 11, 0, FLOATS, 1, make_reduction},
	{"ArgMax", 11, 0, NUMBERS, 1, make_arg},
	{"ArgMin", 11, 0, NUMBERS, 1, make_arg},
	{"Softmax", 7, 0, FLOATS, 3, make_softmax},
	{"LogSoftmax", 7, 0, FLOATS, 1, make_softmax},
	{"Hardmax", 7, 0, FLOATS, 1, make_softmax},
	{"CumSum", 11, 0, FLOATS | WIDE, 1, make_cumsum},
	{"TopK", 7, 0, NUMBERS, 1, make_topk},
	{"LayerNormalization", 17, 0, FLOATS, 2, make_layer_norm},
	{"RMSNormalization", 23, 0, FLOATS, 2, make_layer_norm},
	{"InstanceNormalization", 7, 0, FLOATS, 1, make_channel_norm},
	{"BatchNormalization", 9, 13, FLOATS, 1, make_channel_norm},
	{"BatchNormalization", 15, 0, SET(SK_F32) | SET(SK_F64), 1, make_channel_norm},
	{"MatMul", 9, 0, FLOATS | WIDE, 5, make_product},
	{"MatMulInteger", 10, 0, SET(SK_I8) | SET(SK_U8), 1, make_product},
	{"Gemm", 9, 0, FLOATS, 3, make_gemm},
	{"Conv", 7, 0, FLOATS, 3, make_conv},
	{"MaxPool", 8, 0, FLOATS, 1, make_pool},
	{"AveragePool", 7, 0, FLOATS, 1, make_pool},
	{"RNN", 7, 0, FLOATS, 1, make_recurrent},
	{"GRU", 7, 0, FLOATS, 1, make_recurrent},
	{"LSTM", 7, 0, FLOATS, 1, make_recurrent},
	{"Shape", 7, 0, ALL, 1, make_shape},
	{"ConstantOfShape", 9, 0, SET(SK_F32), 1, make_constant_of_shape},
	{"Range", 11, 0, SET(SK_I64), 1, make_range},
	{"QuantizeLinear", 10, 0, SET(SK_F32), 1, make_quantize},
	{"DequantizeLinear", 10, 0, ALL, 1, make_dequantize},
};

static uint32_t weight_of(const struct maker *maker, const struct known_operator *known)
{
	bool moves = !strcmp(known->op, "Split") || !strcmp(known->op, "Concat");

	return known->weight * (maker->parts && moves ? 20 : 1);
}

static const struct known_operator *draw_operator(struct maker *maker)
{
	uint32_t sum = 0, at;

	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		sum += weight_of(maker, &operators[i]);
	for (;;) {
		const struct known_operator *known = operators;

		for (at = draw(maker, sum); at >= weight_of(maker, known); known++)
			at -= weight_of(maker, known);
		if (known->since <= maker->graph->opset && (!known->until || maker->graph->opset <= known->until))
			return known;
	}
}

/* ---- graphs ---- */

/* An earlier node of the part once more. */
static bool add_twin(struct maker *maker)
{
	struct graph *graph = maker->graph;
	struct graph_node *node = &graph->nodes[graph->node_count];
	const struct graph_node *twin = node;

	if (!graph->node_count)
		return false;
	twin = &graph->nodes[draw(maker, graph->node_count)];
	if (!twin->output_count || twin->outputs[0] < maker->first)
		return false;
	*node = *twin;
	node->output_count = 0;
	for (uint32_t i = 0; i < node->input_count; i++)
		graph->values[node->inputs[i]].uses++;
	for (uint32_t o = 0; o < twin->output_count; o++)
		add_alike(maker, node, twin->outputs[o]);
	graph->node_count++;
	return true;
}

/* Add a node. If it cannot be made, the values that were made for it are removed. */
static void add_node(struct maker *maker)
{
	struct graph *graph = maker->graph;
	struct graph_node *node = &graph->nodes[graph->node_count];
	uint32_t before = graph->value_count;

	if (one_in(maker, 12) && add_twin(maker))
		return;
	maker->drawn = draw_operator(maker);
	*node = (struct graph_node){.op = maker->drawn->op, .mode = ""};
	if (maker->drawn->make(maker, node)) {
		graph->node_count++;
		if (maker->sizes || one_in(maker, 4))
			compute_lists(maker);
		return;
	}
	for (uint32_t i = 0; i < node->input_count; i++)
		graph->values[node->inputs[i]].uses--;
	while (graph->value_count > before)
		free(graph->values[--graph->value_count].elements);
}

/* Draw runs of nodes in one scope and stream; inside of a pattern a change is rarer. */
static void draw_scopes(struct maker *maker)
{
	uint32_t scope = draw(maker, 2), stream = 0, streams = one_in(maker, 4) ? 3 : 1;

	for (uint32_t i = 0; i < maker->graph->node_count; i++) {
		uint32_t rarer = maker->graph->nodes[i].goes_on ? 12 : 1;

		if (one_in(maker, 8 * rarer))
			scope = draw(maker, 3);
		if (one_in(maker, 4 * rarer))
			stream = draw(maker, streams);
		maker->graph->nodes[i].scope = maker->graph->is_scattered ? i + 1 : scope;
		maker->graph->nodes[i].stream = stream;
	}
}

static void remove_nodes(struct maker *maker, uint64_t removed)
{
	struct graph *graph = maker->graph;

	for (uint32_t i = 0; i < graph->node_count; i++)
		for (uint32_t k = 0; removed >> i & 1 && k < graph->nodes[i].input_count; k++)
			graph->values[graph->nodes[i].inputs[k]].uses--;

	for (uint32_t i = 0; i < graph->node_count; i++) {
		struct graph_node *node = &graph->nodes[i];

		node->removed = removed >> i & 1;
		for (uint32_t o = 0; node->removed && o < node->output_count; o++) {
			struct graph_value *value = &graph->values[node->outputs[o]];

			value->kind = value->is_size ? GRAPH_CONSTANT : GRAPH_INPUT;
			for (int64_t e = 0; e < value->count && !value->is_size; e++)
				value->elements[e] = draw_element(maker, value->dtype);
			settle(value);
		}
	}
}

/* Leave out some outputs that are not used, but never all of a node's. */
static void draw_absences(struct maker *maker)
{
	struct graph *graph = maker->graph;

	for (uint32_t i = 0; i < graph->node_count; i++) {
		const struct graph_node *node = &graph->nodes[i];
		uint32_t kept = draw(maker, node->output_count);

		for (uint32_t o = 0; o < node->output_count; o++) {
			struct graph_value *value = &graph->values[node->outputs[o]];

			value->is_absent = one_in(maker, 2) && o != kept && !value->uses && !node->removed;
			value->is_output &= !value->is_absent;
		}
	}
}

/* Add a part; one in three is large. Single nodes rarely form a pattern that fusion looks for. */
static void add_part(struct maker *maker)
{
	struct graph *graph = maker->graph;
	uint32_t wanted = graph->node_count + 1 + draw(maker, one_in(maker, 3) ? 31 : 10);

	maker->first = graph->value_count;
	while (graph->node_count < wanted)
		if (graph->node_count + PIECE_NODES <= GRAPH_NODES && one_in(maker, 2))
			add_piece(maker);
		else
			add_node(maker);
	graph->part_count++;
}

struct graph *graph_create(uint64_t seed, uint64_t removed)
{
	static const uint32_t opsets[] = {9, 11, 12, 13, 15, 17, 18, 21, 23};
	struct maker maker = {.graph = calloc(1, sizeof(*maker.graph)), .random = seed};

	if (!maker.graph)
		abort();
	maker.graph->seed = seed;
	maker.parts = seed % 4 == 3;
	maker.sizes = seed % 8 == 1;
	maker.graph->is_scattered = seed % 16 == 6;
	maker.graph->opset = opsets[draw(&maker, 9)];
	while (maker.graph->node_count < GRAPH_NODES / 2)
		add_part(&maker);
	draw_scopes(&maker);
	remove_nodes(&maker, removed);
	maker.random = seed + 1;
	for (uint32_t i = 0; i < maker.graph->value_count; i++)
		maker.graph->values[i].is_output = one_in(&maker, 6) || !maker.graph->values[i].uses;
	draw_absences(&maker);
	return maker.graph;
}

void graph_free(struct graph *graph)
{
	for (uint32_t i = 0; i < graph->value_count; i++) {
		free(graph->values[i].elements);
		free(graph->values[i].error);
	}
	free(graph);
}

/* ---- as lines ---- */

static void write_shape(const struct graph_value *value, FILE *file)
{
	if (!value->rank)
		fprintf(file, "scalar");
	for (uint32_t i = 0; i < value->rank; i++)
		fprintf(file, "%s%lld", i ? "x" : "", (long long)value->shape[i]);
}

static void write_elements(const struct graph_value *value, FILE *file)
{
	for (int64_t i = 0; i < value->count; i++) {
		uint64_t bits = 0;

		graph_encode(value->dtype, &value->elements[i], 1, &bits);
		if (value->dtype == SK_F32 || value->dtype == SK_F64)
			fprintf(file, " %a", (double)value->elements[i]);
		else if (SET(value->dtype) & SIGNED)
			fprintf(file, " %lld", (long long)value->elements[i]);
		else
			fprintf(file, " %lld", (long long)bits);
	}
}

/* Return whether the model declares another shape than the real one for the value: one dimension more, or another size.
 * */
static bool is_stale(const struct graph *graph, uint32_t index)
{
	return graph->values[index].kind == GRAPH_COMPUTED && (graph->seed + index) % 11 == 0;
}

static void write_value(const struct graph *graph, uint32_t index, const char *what, FILE *file)
{
	const struct graph_value *value = &graph->values[index];

	fprintf(file, "%s v%u %s ", what, index, sk_dtype_name(value->dtype));
	if (is_stale(graph, index))
		fprintf(file, "3%s", value->rank && index % 2 ? "x" : "");
	if (!is_stale(graph, index) || value->rank)
		write_shape(value, file);
	if (!strcmp(what, "constant"))
		write_elements(value, file);
	fprintf(file, "\n");
}

bool graph_has(const struct graph *graph, uint32_t index, enum graph_outputs outputs)
{
	const struct graph_value *value = &graph->values[index];

	return outputs == GRAPH_ALL || value->is_output || (outputs == GRAPH_OUTER && !value->is_inner);
}

static void write_node(const struct graph *graph, uint32_t index, enum graph_outputs outputs, FILE *file)
{
	const struct graph_node *node = &graph->nodes[index];

	fprintf(file, "node %s n%u", node->op, index);
	for (uint32_t i = 0; i < node->input_count; i++)
		fprintf(file, " v%u", node->inputs[i]);
	fprintf(file, " ->");
	for (uint32_t i = 0; i < node->output_count; i++)
		if (graph->values[node->outputs[i]].is_absent && !graph_has(graph, node->outputs[i], outputs))
			fprintf(file, " _");
		else
			fprintf(file, " v%u", node->outputs[i]);
	fprintf(file, "%s", node->attributes);
	if (node->scope)
		fprintf(file, " _super_kernel_scope='s%u'", node->scope);
	if (node->stream)
		fprintf(file, " stream_id=%u", node->stream);
	fprintf(file, "\n");
}

void graph_write(const struct graph *graph, FILE *file, enum graph_outputs outputs)
{
	fprintf(file, "opset %u\nopset 1 sklink\n", graph->opset);
	for (uint32_t i = 0; i < graph->value_count; i++) {
		const struct graph_value *value = &graph->values[i];

		if (value->kind == GRAPH_COMPUTED && graph_has(graph, i, outputs))
			write_value(graph, i, "output", file);
		else if (value->kind == GRAPH_COMPUTED && is_stale(graph, i) && outputs == GRAPH_SOME)
			write_value(graph, i, "info", file);
		else if (value->kind != GRAPH_COMPUTED && value->uses)
			write_value(graph, i, value->kind == GRAPH_INPUT ? "input" : "constant", file);
	}
	for (uint32_t i = 0; i < graph->node_count; i++)
		if (!graph->nodes[i].removed)
			write_node(graph, i, outputs, file);
}
