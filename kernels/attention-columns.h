/* attention-columns.h: attention of some rows that share keys, with the rows as columns of all matrices: each step
 * applies to a vector of rows, and neither keys nor values are packed. */
#ifndef SK_KERNELS_ATTENTION_COLUMNS_H
#define SK_KERNELS_ATTENTION_COLUMNS_H

#include "kernels/attention-block.h"

/* c[rows, columns] = a b, plus c times `scaled` if that is not NULL. Elements of a are `a_row` and `a_step` apart, and
 * rows of b and c ROWS. rows and vectors are constants wherever this is inlined. */
static ALWAYS_INLINE void multiply_part(const number *a, size_t a_row, size_t a_step, const number *b, size_t depth,
					number *c, const number *scaled, const int rows, const int vectors)
{
	vector sums[TILE_ROWS][TILE_VECTORS] = {};

	for (; depth; depth--, a += a_step, b += ROWS) {
		vector right[TILE_VECTORS];
#pragma GCC unroll 4
		for (int v = 0; v < vectors; v++)
			right[v] = load(b + v * LANES);
#pragma GCC unroll 8
		for (int r = 0; r < rows; r++) {
			vector factor = a[r * a_row] - (vector){};
#pragma GCC unroll 4
			for (int v = 0; v < vectors; v++)
				sums[r][v] = FUSED(factor, right[v], sums[r][v]);
		}
	}
#pragma GCC unroll 8
	for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
		for (int v = 0; v < vectors; v++) {
			number *to = c + r * ROWS + v * LANES;
			if (scaled)
				sums[r][v] = FUSED(load(to), load(scaled + v * LANES), sums[r][v]);
			store(to, sums[r][v]);
		}
}

static ALWAYS_INLINE void multiply_lines(const number *a, size_t a_row, size_t a_step, const number *b, size_t depth,
					 number *c, const number *scaled, size_t rows, size_t column, const int vectors)
{
	size_t r = 0;

	b += column;
	c += column;
	scaled += scaled ? column : 0;
	for (; r + TILE_ROWS <= rows; r += TILE_ROWS)
		multiply_part(a + r * a_row, a_row, a_step, b, depth, c + r * ROWS, scaled, TILE_ROWS, vectors);
	for (; r < rows; r++)
		multiply_part(a + r * a_row, a_row, a_step, b, depth, c + r * ROWS, scaled, 1, vectors);
}

static __attribute__((noinline)) void multiply_whole(const number *a, size_t a_row, size_t a_step, const number *b,
						     size_t depth, number *c, const number *scaled, size_t rows,
						     size_t columns)
{
	size_t column = 0;

	for (; column + TILE_COLUMNS <= columns; column += TILE_COLUMNS)
		multiply_lines(a, a_row, a_step, b, depth, c, scaled, rows, column, TILE_VECTORS);
	for (; column + 2 * LANES <= columns; column += 2 * LANES)
		multiply_lines(a, a_row, a_step, b, depth, c, scaled, rows, column, 2);
	for (; column < columns; column += LANES)
		multiply_lines(a, a_row, a_step, b, depth, c, scaled, rows, column, 1);
}

static ALWAYS_INLINE void weigh_columns(struct block *block, size_t keys)
{
	number *scores = block->scores, base[ROWS], sums[ROWS];

	for (size_t i = 0; i < block->columns; i++)
		base[i] = block->most[i];
	for (size_t j = 0; j < keys; j++) {
		INDEPENDENT
		for (size_t i = 0; i < block->columns; i++)
			base[i] = scores[j * ROWS + i] > base[i] ? scores[j * ROWS + i] : base[i];
	}
	INDEPENDENT
	for (size_t i = 0; i < block->columns; i++) {
		number most = base[i];

		base[i] = base_of(most);
		block->scaled[i] = MATH(weight)(block->most[i] - base[i]);
		block->most[i] = most;
		sums[i] = 0;
	}
	for (size_t j = 0; j < keys; j++) {
		INDEPENDENT
		for (size_t i = 0; i < block->columns; i++) {
			number weight = MATH(weight)(scores[j * ROWS + i] - base[i]);

			scores[j * ROWS + i] = weight;
			sums[i] += weight;
		}
	}
	INDEPENDENT
	for (size_t i = 0; i < block->columns; i++)
		block->totals[i] = block->totals[i] * block->scaled[i] + sums[i];
}

/* Return whether values that take no part in a row would affect it, since 0 times them is not 0 (infinities, NaNs). */
static ALWAYS_INLINE int unused_count(const struct block *block, const number *v, size_t v_row, int64_t first,
				      size_t keys)
{
	int found = 0;

	for (size_t j = own_keys(block->shortest, first, keys); j < keys; j++)
		for (size_t i = 0; i < block->e; i++)
			found |= v[j * v_row + i] - v[j * v_row + i] != 0;
	return found;
}

/* With the first keys, sums begin. */
static ALWAYS_INLINE void add_values(const struct block *block, const number *v, size_t v_row, int64_t first,
				     size_t keys)
{
	const number *scaled = first ? block->scaled : 0;

	if (!unused_count(block, v, v_row, first, keys)) {
		multiply_whole(v, 1, v_row, block->scores, keys, block->sums, scaled, block->e, block->columns);
		return;
	}
	for (size_t r = 0; r < block->columns; r++)
		for (size_t i = 0; i < block->e; i++) {
			number *to = block->sums + i * ROWS + r, sum = 0;

			for (size_t j = 0; j < own_keys(block->limits[r], first, keys); j++)
				sum = FUSED_NUMBER(v[j * v_row + i], block->scores[j * ROWS + r], sum);
			*to = scaled ? FUSED_NUMBER(*to, scaled[r], sum) : sum;
		}
}

/* Four rows at a time become columns. */
static ALWAYS_INLINE void add_masks(const struct heads *heads, const struct block *block, int64_t first, size_t keys)
{
	for (size_t r = 0; r < block->columns; r += 4) {
		number buffer[CONVERTED ? 4 * KEYS : 1], turned[16], *to = block->scores + r;
		const number *at[4];
		size_t j = 0;

		for (int i = 0; i < 4; i++)
			at[i] = as_numbers(mask_of(heads, block, r + i, first), keys,
					   buffer + (CONVERTED ? i * KEYS : 0));
		for (; j + 4 <= keys; j += 4) {
			turn(at, j, turned, 4);
			for (int i = 0; i < 4; i++)
				*(four *)(to + (j + i) * ROWS) += *(four *)(turned + i * 4);
		}
		for (; j < keys; j++)
			for (int i = 0; i < 4; i++)
				to[j * ROWS + i] += at[i][j];
	}
}

/* Divide the sums by those of the weights, and store them as rows. */
static ALWAYS_INLINE void give_columns(const struct block *block, element *y)
{
	number *sums = block->sums, *to = CONVERTED ? block->buffer : (number *)y, factors[ROWS];
	size_t e = block->e, whole = block->rows / 4 * 4, i = 0;

	for (size_t r = 0; r < block->columns; r++)
		factors[r] = 1 / block->totals[r];
	for (size_t p = 0; p < e; p++) {
		INDEPENDENT
		for (size_t r = 0; r < block->columns; r++)
			sums[p * ROWS + r] = block->totals[r] == 0 ? 0 : sums[p * ROWS + r] * factors[r];
	}
	for (; i + 4 <= e; i += 4) {
		const number *at[4] = {sums + i * ROWS, sums + (i + 1) * ROWS, sums + (i + 2) * ROWS,
				       sums + (i + 3) * ROWS};
		for (size_t r = 0; r < whole; r += 4)
			turn(at, r, to + r * e + i, e);
	}
	for (size_t r = 0; r < block->rows; r++)
		for (size_t p = r < whole ? i : 0; p < e; p++)
			to[r * e + p] = sums[p * ROWS + r];
	for (size_t p = 0; CONVERTED && p < block->rows * e; p++)
		y[p] = STORE(TYPE, to[p]);
}

#endif
