/* attention-row.h: attention of a row with its own keys, as in a decoder: a score is a sum along its key, and each step
 * applies to a vector of keys. */
#ifndef SK_KERNELS_ATTENTION_ROW_H
#define SK_KERNELS_ATTENTION_ROW_H

#include "kernels/attention-block.h"

static ALWAYS_INLINE number total(const number *parts, int count)
{
	number sums[64];

	for (int i = 0; i < count; i++)
		sums[i] = parts[i];
	for (int half = count / 2; half; half /= 2)
		for (int i = 0; i < half; i++)
			sums[i] += sums[i + half];
	return sums[0];
}

/* `keys` is a constant wherever this is inlined. */
static ALWAYS_INLINE void score_keys(const number *q, size_t d, const number *k, size_t k_row, number *scores,
				     const int keys)
{
	vector sum[ABREAST] = {};
	size_t i = 0;

	for (; i + LANES <= d; i += LANES)
#pragma GCC unroll 8
		for (int j = 0; j < keys; j++)
			sum[j] = FUSED(load(q + i), load(k + j * k_row + i), sum[j]);
#pragma GCC unroll 8
	for (int j = 0; j < keys; j++) {
		number parts[LANES], rest = 0;

		store(parts, sum[j]);
		for (size_t p = i; p < d; p++)
			rest = FUSED_NUMBER(q[p], k[j * k_row + p], rest);
		scores[j] = total(parts, LANES) + rest;
	}
}

static ALWAYS_INLINE void score_row(const struct block *block, const number *k, size_t k_row, size_t keys)
{
	size_t j = 0;

	for (; j + ABREAST <= keys; j += ABREAST)
		score_keys(block->q, block->d, k + j * k_row, k_row, block->scores + j, ABREAST);
	for (; j < keys; j++)
		score_keys(block->q, block->d, k + j * k_row, k_row, block->scores + j, 1);
}

static ALWAYS_INLINE number largest(const number *scores, size_t width, number most)
{
	number parts[PARTS];

	for (int i = 0; i < PARTS; i++)
		parts[i] = most;
	for (size_t j = 0; j < width; j += PARTS)
		for (int i = 0; i < PARTS; i++)
			parts[i] = scores[j + i] > parts[i] ? scores[j + i] : parts[i];
	for (int half = PARTS / 2; half; half /= 2)
		for (int i = 0; i < half; i++)
			parts[i] = parts[half + i] > parts[i] ? parts[half + i] : parts[i];
	return parts[0];
}

static ALWAYS_INLINE void weigh_row(struct block *block, size_t keys)
{
	size_t width = (keys + PARTS - 1) / PARTS * PARTS;
	number *scores = block->scores;

	for (size_t j = keys; j < width; j++)
		scores[j] = SMALLEST(TYPE);

	number most = largest(scores, width, block->most[0]), base = base_of(most);

	block->scaled[0] = MATH(weight)(block->most[0] - base);
	block->most[0] = most;
	for (int i = 0; i < PARTS; i++)
		block->totals[i] *= block->scaled[0];
	for (size_t j = 0; j < width; j += PARTS) {
		INDEPENDENT
		for (int i = 0; i < PARTS; i++) {
			scores[j + i] = MATH(weight)(scores[j + i] - base);
			block->totals[i] += scores[j + i];
		}
	}
}

/* `vectors` is a constant wherever this is inlined. */
static ALWAYS_INLINE void add_vectors(const struct block *block, const number *v, size_t v_row, size_t keys, number *to,
				      const int vectors)
{
	vector sums[8];

#pragma GCC unroll 8
	for (int c = 0; c < vectors; c++)
		sums[c] = load(to + c * LANES) * block->scaled[0];
	for (size_t j = 0; j < keys; j++) {
		vector weight = block->scores[j] - (vector){};
#pragma GCC unroll 8
		for (int c = 0; c < vectors; c++)
			sums[c] = FUSED(weight, load(v + j * v_row + c * LANES), sums[c]);
	}
#pragma GCC unroll 8
	for (int c = 0; c < vectors; c++)
		store(to + c * LANES, sums[c]);
}

static ALWAYS_INLINE void add_row(const struct block *block, const number *v, size_t v_row, size_t keys)
{
	number *sums = block->sums;
	size_t i = 0;

	for (; i + 8 * LANES <= block->e; i += 8 * LANES)
		add_vectors(block, v + i, v_row, keys, sums + i, 8);
	for (; i + LANES <= block->e; i += LANES)
		add_vectors(block, v + i, v_row, keys, sums + i, 1);
	for (; i < block->e; i++) {
		sums[i] *= block->scaled[0];
		for (size_t j = 0; j < keys; j++)
			sums[i] = FUSED_NUMBER(block->scores[j], v[j * v_row + i], sums[i]);
	}
}

static ALWAYS_INLINE void give_row(const struct block *block, element *y)
{
	number all = total(block->totals, PARTS), factor = 1 / all;

	for (size_t i = 0; i < block->e; i++)
		y[i] = all == 0 ? 0 : STORE(TYPE, block->sums[i] * factor);
}

#endif
