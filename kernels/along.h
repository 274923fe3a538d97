/* along.h: sums and similar reductions over many elements along an axis. A source that includes it has typedefs of
 * `element`, the stored type (TYPE), and `number`, the computation type.
 *
 * Rows are folded into LANES partial results, each of every LANES-th element, which are then folded by halves: so loops
 * vectorize, and results are the same bytes whatever the vector length is. Columns are folded in order. After BLOCK
 * steps a new block begins; blocks are folded in pairs. The rounding error of a sum is therefore that of BLOCK
 * roundings, plus one for each doubling of the number of blocks. */
#ifndef SK_KERNELS_ALONG_H
#define SK_KERNELS_ALONG_H

#include "kernels/family.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define SELDOM	      __attribute__((noinline)) /* in a separate function, so that the frequent path stays short */

enum {
	LANES = 128 / (int)sizeof(number),
	COLUMNS = 128, /* folded at a time */
	BLOCK = 256, /* steps of a partial result */
	LEVELS = 40, /* of blocks: 2^40 of them have more elements than there is memory */
};

/* Return the result so far combined with one more element; the caller defines `with`. */
typedef number fold_step(number sum, number x, number with);

static ALWAYS_INLINE number add(number sum, number x, number with)
{
	(void)with;
	return sum + x;
}

#if IS_FLOAT(TYPE)
#define IS_NAN(x) ((x) != (x))
#else
#define IS_NAN(x) 0
#endif

/* A NaN on either side is the result. */
static ALWAYS_INLINE number larger(number most, number x, number with)
{
	(void)with;
	return x > most || IS_NAN(x) ? x : most;
}

static ALWAYS_INLINE number smaller(number least, number x, number with)
{
	(void)with;
	return x < least || IS_NAN(x) ? x : least;
}

static ALWAYS_INLINE number add_square(number sum, number x, number with)
{
	(void)with;
	return sum + x * x;
}

static ALWAYS_INLINE number add_scaled(number sum, number x, number with)
{
	return sum + x * with;
}

static ALWAYS_INLINE number add_scaled_square(number sum, number x, number with)
{
	return sum + x * with * (x * with);
}

/* `with` is the mean. */
static ALWAYS_INLINE number add_squared_deviation(number sum, number x, number with)
{
	return sum + (x - with) * (x - with);
}

static ALWAYS_INLINE number fold_block(const element *x, int64_t k, number start, fold_step step, fold_step merge,
				       number with)
{
	number sums[LANES];
	int64_t p = 0;

	for (int j = 0; j < LANES; j++)
		sums[j] = start;
	for (; k - p >= LANES; p += LANES)
		for (int j = 0; j < LANES; j++)
			sums[j] = step(sums[j], LOAD(TYPE, x[p + j]), with);
	for (int j = 0; p + j < k; j++)
		sums[j] = step(sums[j], LOAD(TYPE, x[p + j]), with);
	for (int half = LANES / 2; half; half /= 2)
		for (int j = 0; j < half; j++)
			sums[j] = merge(sums[j], sums[half + j], 0);
	return sums[0];
}

/* Return one result of k elements in a row. `merge` folds partial results. */
static ALWAYS_INLINE number fold_row(const element *x, int64_t k, number start, fold_step step, fold_step merge,
				     number with)
{
	const int64_t last = (k - 1) / (BLOCK * LANES);
	number held[LEVELS]; /* held[i] is the result of 2^i blocks where bit i of their number is 1 */

	if (k <= BLOCK * LANES)
		return fold_block(x, k, start, step, merge, with);
	for (int64_t blocks = 0;; blocks++, x += BLOCK * LANES) {
		int64_t length = blocks < last ? BLOCK * LANES : k - last * (BLOCK * LANES), full = blocks;
		number sum = fold_block(x, length, start, step, merge, with);
		int level = 0;

		for (; full && (blocks == last || full & 1); full >>= 1, level++)
			sum = full & 1 ? merge(held[level], sum, 0) : sum;
		if (blocks == last)
			return sum;
		held[level] = sum;
	}
}

static ALWAYS_INLINE void fold_block_columns(const element *x, int64_t k, int64_t stride, int64_t columns, number start,
					     fold_step step, const number *with, number *sums)
{
	for (int64_t j = 0; j < columns; j++)
		sums[j] = start;
	for (int64_t p = 0; p < k; p++) {
		INDEPENDENT
		for (int64_t j = 0; j < columns; j++)
			sums[j] = step(sums[j], LOAD(TYPE, x[p * stride + j]), with ? with[j] : 0);
	}
}

/* Compute results of k elements each, in adjacent columns, COLUMNS at most; elements of a column are `stride` apart.
 * `merge` folds partial results. */
static ALWAYS_INLINE void fold_columns(const element *x, int64_t k, int64_t stride, int64_t columns, number start,
				       fold_step step, fold_step merge, const number *with, number *sums)
{
	const int64_t last = (k - 1) / BLOCK;
	number held[LEVELS][COLUMNS]; /* as in fold_row */

	if (k <= BLOCK) {
		fold_block_columns(x, k, stride, columns, start, step, with, sums);
		return;
	}
	for (int64_t blocks = 0;; blocks++, x += BLOCK * stride) {
		int64_t length = blocks < last ? BLOCK : k - last * BLOCK, full = blocks;
		int level = 0;

		fold_block_columns(x, length, stride, columns, start, step, with, sums);
		for (; full && (blocks == last || full & 1); full >>= 1, level++)
			if (full & 1)
				for (int64_t j = 0; j < columns; j++)
					sums[j] = merge(held[level][j], sums[j], 0);
		if (blocks == last)
			return;
		for (int64_t j = 0; j < columns; j++)
			held[level][j] = sums[j];
	}
}

static inline int64_t columns_from(int64_t first, int64_t columns)
{
	return columns - first < COLUMNS ? columns - first : COLUMNS;
}

#if IS_FLOAT(TYPE)
/* Sums that overflow, and sums of denormal squares, are computed again from numbers times a power of two. No such sum
 * overflows, and it loses nothing significant: the lost parts are that much smaller than the sum. */
#define SHRINK_f32	  0x1p-96f
#define SHRINK_f64	  0x1p-768
#define SHRINK		  JOIN(SHRINK_, COMPUTED_TYPE(TYPE))
#define MOST_f32	  0x1.fffffep127f
#define MOST_f64	  0x1.fffffffffffffp1023
#define MOST		  JOIN(MOST_, COMPUTED_TYPE(TYPE))
#define LEAST_f32	  0x1p-126f
#define LEAST_f64	  0x1p-1022
#define LEAST		  JOIN(LEAST_, COMPUTED_TYPE(TYPE))
#define HAS_ROOM_f16	  1 /* its squares are normal numbers of f32 */
#define SQUARES_HAVE_ROOM JOIN(HAS_ROOM_, TYPE)

/* Return the power of two for a sum, or for one of squares; 1: the sum needs no scaling. */
static ALWAYS_INLINE number scale_of_sum(number sum)
{
	return sum <= MOST && sum >= -MOST ? 1 : SHRINK;
}

static ALWAYS_INLINE number scale_of_squares(number sum)
{
#if SQUARES_HAVE_ROOM
	(void)sum;
	return 1;
#else
	return !(sum <= MOST) ? SHRINK : sum >= LEAST ? 1 : 1 / SHRINK;
#endif
}

/* Return whether any of these sums, or sums of squares, needs scaling. */
static ALWAYS_INLINE int need_scales(const number *sums, int64_t columns, int are_squares)
{
	number total[LANES], least[LANES]; /* a total with an infinity or a NaN is that */
	int64_t j = 0;

	for (int lane = 0; lane < LANES; lane++) {
		total[lane] = 0;
		least[lane] = MOST;
	}
	for (; columns - j >= LANES; j += LANES)
		for (int lane = 0; lane < LANES; lane++) {
			total[lane] += sums[j + lane];
			least[lane] = sums[j + lane] < least[lane] ? sums[j + lane] : least[lane];
		}
	for (int lane = 0; j + lane < columns; lane++) {
		total[lane] += sums[j + lane];
		least[lane] = sums[j + lane] < least[lane] ? sums[j + lane] : least[lane];
	}
	for (int half = LANES / 2; half; half /= 2)
		for (int lane = 0; lane < half; lane++) {
			total[lane] += total[half + lane];
			least[lane] = least[half + lane] < least[lane] ? least[half + lane] : least[lane];
		}
	return scale_of_sum(total[0]) != 1 || (are_squares && scale_of_squares(least[0]) != 1);
}
#endif

#endif
