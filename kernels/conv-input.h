/* conv-input.h: the input of convolutions, as an operand of a matrix product: the place of each column's element for
 * each step, and the panels and tiles made of them. The includer defines IS_GROUPS before it. */
#ifndef SK_KERNELS_CONV_INPUT_H
#define SK_KERNELS_CONV_INPUT_H

#include "kernels/product.h"

/* Dimensions are [depth, height, width]; where SPATIAL is 2, depth is 1. */
struct convolution {
	const element *x, *filters, *bias;
	element *y;
	int64_t channels, filter_channels, outputs; /* of x, of a filter, of y */
	int64_t in[3], window[3], out[3], strides[3], dilations[3], pads[3];
	int64_t group;
	number *room, *laid, *sums;
	int64_t laid_size; /* numbers in laid */
};

/* The place of the element that each step of k combines with the first column of a row of results. */
struct steps {
	enum { PLAIN, LAID_OUT, AS_IT_COMES } way; /* the last one if there is not enough room for the laid-out input */
	const element *input; /* the first channel of the group */
	const number *at; /* the same, or its laid-out copy */
	int64_t channel, plane, row, phase; /* numbers from one to the next */
	const struct convolution *of;
	struct offsets *offsets;
};

/* Distances from the element of the first step to those of the steps from `step` on. */
struct offsets {
	size_t step;
	int64_t at[DEPTH];
};

enum { STEP = GROUP_COLUMNS }; /* of panels: there is room for a vector after the last one */

static ALWAYS_INLINE int64_t round_up(int64_t a, int64_t b)
{
	return b == 1 ? a : (a + b - 1) / b; /* divisions take long */
}

/* Lay out one row of input, pads included, phase by phase. */
static ALWAYS_INLINE void lay_row(const struct convolution *of, const element *row, int64_t phase_length, number *to)
{
	int64_t stride = of->strides[2], pad = of->pads[2], width = of->in[2];

	/* A window of one column uses no elements of the other phases. */
	for (int64_t phase = 0; phase < (of->window[2] > 1 ? stride : 1); phase++, to += phase_length) {
		/* Element i is row[i * stride + phase - pad]. */
		int64_t first = pad > phase ? round_up(pad - phase, stride) : 0;
		int64_t end = pad + width > phase ? round_up(pad + width - phase, stride) : 0, i = 0;
		first = least(first, phase_length);
		end = row ? least(end, phase_length) : 0;
		for (; i < first; i++)
			to[i] = 0;
		if (stride == 1 && !CONVERTED && end - first >= LANES)
			/* The last vector overlaps the one before it. */
			for (; i < end; i += LANES) {
				i = least(i, end - LANES);
				store(to + i, load((const number *)row + i - pad));
			}
		else if (stride == 1)
			for (; i < end; i++)
				to[i] = LOAD(TYPE, row[i - pad]);
		else if (stride == 2)
			for (; i < end; i++)
				to[i] = LOAD(TYPE, row[i * 2 + phase - pad]);
		else
			for (; i < end; i++)
				to[i] = LOAD(TYPE, row[i * stride + phase - pad]);
		for (; i < phase_length; i++)
			to[i] = 0;
	}
}

/* Return how many elements of input, with pads, the results along a dimension use. */
static ALWAYS_INLINE int64_t reach(const struct convolution *of, int dimension)
{
	return (of->out[dimension] - 1) * of->strides[dimension] +
	       (of->window[dimension] - 1) * of->dilations[dimension] + 1;
}

/* Lay out the channels of a group. */
static ALWAYS_INLINE void lay(const struct convolution *of, const struct steps *steps)
{
	const element *x = steps->input;
	int64_t deep = reach(of, 0), high = reach(of, 1);
	number *to = of->laid;

	for (int64_t c = 0; c < of->filter_channels; c++, x += of->in[0] * of->in[1] * of->in[2])
		for (int64_t z = 0; z < deep; z++)
			for (int64_t y = 0; y < high; y++, to += steps->row) {
				int64_t iz = z - of->pads[0], iy = y - of->pads[1];
				if (of->window[1] == 1 && y % of->strides[1])
					continue; /* no result uses it */
				int inside = iz >= 0 && iz < of->in[0] && iy >= 0 && iy < of->in[1];
				lay_row(of, inside ? x + (iz * of->in[1] + iy) * of->in[2] : 0, steps->phase, to);
			}
}

/* Columns of a group of panels as vectors, each of neighbours in one row of results. Surplus elements of one vector are
 * overwritten by the next one, or lie after the step. */
struct pieces {
	int64_t count, from[GROUP_COLUMNS], to[GROUP_COLUMNS];
};

static ALWAYS_INLINE void find_pieces(const struct steps *steps, int64_t column, int64_t columns, struct pieces *pieces)
{
	const struct convolution *of = steps->of;
	int64_t x = column % of->out[2], y = column / of->out[2] % of->out[1], z = column / of->out[2] / of->out[1];

	pieces->count = 0;
	for (int64_t at = 0, own; at < columns; at += own) {
		own = least(least(of->out[2] - x, LANES), columns - at);
		pieces->from[pieces->count] = z * of->strides[0] * steps->plane + y * of->strides[1] * steps->row + x;
		pieces->to[pieces->count++] = at;
		x += own;
		if (x == of->out[2]) {
			x = 0;
			if (++y == of->out[1]) {
				y = 0;
				z++;
			}
		}
	}
}

/* Steps go through the window, then the channels. */
struct place {
	int64_t c, z, y, x;
};

static ALWAYS_INLINE struct place place_of(const struct convolution *of, int64_t step)
{
	return (struct place){step / of->window[2] / of->window[1] / of->window[0],
			      step / of->window[2] / of->window[1] % of->window[0],
			      step / of->window[2] % of->window[1], step % of->window[2]};
}

static ALWAYS_INLINE void next_place(const struct convolution *of, struct place *place)
{
	if (++place->x < of->window[2])
		return;
	place->x = 0;
	if (++place->y < of->window[1])
		return;
	place->y = 0;
	if (++place->z < of->window[0])
		return;
	place->z = 0;
	place->c++;
}

/* Return the element for a column at a place, from input that is not laid out. */
static ALWAYS_INLINE number number_at(const struct steps *steps, const struct place *place, int64_t column)
{
	const struct convolution *of = steps->of;
	int64_t z = column / of->out[2] / of->out[1] * of->strides[0] + place->z * of->dilations[0] - of->pads[0];
	int64_t y = column / of->out[2] % of->out[1] * of->strides[1] + place->y * of->dilations[1] - of->pads[1];
	int64_t x = column % of->out[2] * of->strides[2] + place->x * of->dilations[2] - of->pads[2];

	if (z < 0 || z >= of->in[0] || y < 0 || y >= of->in[1] || x < 0 || x >= of->in[2])
		return 0;
	return LOAD(TYPE, steps->input[((place->c * of->in[0] + z) * of->in[1] + y) * of->in[2] + x]);
}

/* Find the places of steps [step, step + depth) for the first result. */
static ALWAYS_INLINE void find_steps(const struct steps *steps, size_t step, size_t depth)
{
	const struct convolution *of = steps->of;
	int64_t *offsets = steps->offsets->at, stride = of->strides[2];
	struct place place = place_of(of, step);

	for (size_t p = 0; p < depth; p++, next_place(of, &place)) {
		int64_t along = place.x * of->dilations[2];
		offsets[p] = place.c * steps->channel + place.z * of->dilations[0] * steps->plane +
			     place.y * of->dilations[1] * steps->row +
			     (stride == 1 ? along : along % stride * steps->phase + along / stride);
	}
	steps->offsets->step = step;
}

/* If the number of pieces is known at compile time, places stay in registers. */
static ALWAYS_INLINE void copy_so_many(number *to, const number *at, const int64_t *offsets, size_t depth,
				       const struct pieces *pieces, const int64_t count)
{
	const struct pieces own = *pieces;

	for (size_t p = 0; p < depth; p++, to += STEP)
#pragma GCC unroll 8
		for (int64_t i = 0; i < count; i++)
			store(to + own.to[i], load(at + offsets[p] + own.from[i]));
}

#define COPY_OF(count)                                                                                                 \
	case count:                                                                                                    \
		copy_so_many(to, at, offsets, depth, pieces, count);                                                   \
		break;

static ALWAYS_INLINE void copy_pieces(number *to, const number *at, const int64_t *offsets, size_t depth,
				      const struct pieces *pieces)
{
	switch (pieces->count) {
		COPY_OF(3)
		COPY_OF(4)
		COPY_OF(5)
		COPY_OF(6)
		COPY_OF(7)
		COPY_OF(8)
	default:
		for (size_t p = 0; p < depth; p++, to += STEP)
			for (int64_t i = 0; i < pieces->count; i++)
				store(to + pieces->to[i], load(at + offsets[p] + pieces->from[i]));
	}
}

static ALWAYS_INLINE void copy_exactly(number *to, const number *from, const int64_t *offsets, size_t depth,
				       int64_t length)
{
	for (size_t p = 0; p < depth; p++, to += STEP)
		for (int64_t i = 0; i < length; i++)
			to[i] = from[offsets[p] + i];
}

static ALWAYS_INLINE void copy_as_it_comes(const struct steps *steps, size_t step, size_t depth, size_t column,
					   size_t columns, number *to)
{
	struct place place = place_of(steps->of, step);

	for (size_t p = 0; p < depth; p++, to += STEP, next_place(steps->of, &place))
		for (size_t i = 0; i < columns; i++)
			to[i] = number_at(steps, &place, column + i);
}

static ALWAYS_INLINE struct panels panels_of_input(const void *context, size_t step, size_t depth, size_t column,
						   size_t columns, number *room)
{
	const struct steps *steps = context;
	const int64_t *offsets = steps->offsets->at;
	struct panels panels = {.at = room, .panel = PANEL, .step = STEP, .ahead = room};
	struct pieces pieces;

	if (steps->offsets->step != step)
		find_steps(steps, step, depth);
	if (steps->way == PLAIN) {
		panels.ahead = steps->at + offsets[0] + column + columns;
		panels.ahead_step = steps->channel * sizeof(number);
		panels.ahead_next = 64;
	}
	if (steps->way == AS_IT_COMES) {
		copy_as_it_comes(steps, step, depth, column, columns, room);
	} else if (steps->way == PLAIN && columns % LANES) {
		copy_exactly(room, steps->at + column, offsets, depth, columns);
	} else {
		find_pieces(steps, column, columns, &pieces);
		copy_pieces(room, steps->at, offsets, depth, &pieces);
	}
	return panels;
}

/* Make a tile of results in place of a panel, as rows_of. */
static ALWAYS_INLINE void tile_of_input(const void *context, size_t step, size_t depth, size_t column, size_t columns,
					number *to)
{
	const struct steps *steps = context;
	const int64_t *offsets = steps->offsets->at;
	struct pieces pieces;

	if (steps->offsets->step != step)
		find_steps(steps, step, depth);
	find_pieces(steps, column, columns, &pieces);
	/* Elements after a piece are overwritten, or lie after the tile's rows. */
	for (size_t p = 0; p < depth; p++, to += ROWS_STRIDE)
		for (int64_t i = 0; i < pieces.count; i++)
			store(to + pieces.to[i], load(steps->at + pieces.from[i] + offsets[p]));
}

/* A window of one element that uses each element once needs no layout; results are then one row. */
static ALWAYS_INLINE int is_plain(const struct convolution *of)
{
	int plain = !CONVERTED && IS_GROUPS;

	for (int d = 0; d < 3; d++)
		plain = plain && of->window[d] == 1 && of->strides[d] == 1 && !of->pads[d] && of->in[d] == of->out[d];
	return plain;
}

/* Compute the values that do not depend on the group. */
static ALWAYS_INLINE void prepare(struct convolution *of, struct steps *steps)
{
	int64_t out = of->out[0] * of->out[1] * of->out[2], all;
	int too_much;

	if (is_plain(of)) {
		of->out[2] = of->in[2] = out;
		of->out[0] = of->out[1] = of->in[0] = of->in[1] = 1;
	}
	steps->phase = round_up(reach(of, 2), of->strides[2]);
	steps->row = steps->phase * of->strides[2];
	/* Dilations and pads may reach further than 64 bits count, even if most of that is not input. */
	too_much = __builtin_mul_overflow(reach(of, 1), steps->row, &steps->plane);
	too_much |= __builtin_mul_overflow(reach(of, 0), steps->plane, &steps->channel);
	too_much |= __builtin_mul_overflow(steps->channel, of->filter_channels, &all);
	too_much |= __builtin_add_overflow(all, LANES, &all);
	if (is_plain(of))
		steps->way = PLAIN;
	else
		steps->way = !too_much && all <= of->laid_size ? LAID_OUT : AS_IT_COMES;
}

static ALWAYS_INLINE void enter(const struct convolution *of, const element *input, struct steps *steps)
{
	steps->input = input;
	steps->at = steps->way == LAID_OUT ? of->laid : (const number *)input;
	if (steps->way == LAID_OUT)
		lay(of, steps);
}

#endif
