/* along.h: sums and the like of many elements, for kernels that look along an axis. A source that includes it has
 * typedefs of `element`, as TYPE is stored, and `number`, which it computes with.
 *
 * Rows are folded into LANES partial results, of every LANES-th element, which are then folded by halves: so loops
 * vectorize, and results are the same bytes whatever vectors there are. Columns are folded in order. */
#ifndef SK_KERNELS_ALONG_H
#define SK_KERNELS_ALONG_H

#include "kernels/family.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

enum {
	LANES = 128 / (int)sizeof(number),
	COLUMNS = 128, /* folded at a time */
};

/* The result so far and one more element; `with` is what the caller says. */
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

/* A NaN wins, and stays. */
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

/* `with` is the mean. */
static ALWAYS_INLINE number add_squared_deviation(number sum, number x, number with)
{
	return sum + (x - with) * (x - with);
}

/* One result of k elements in a row. `merge` folds partial results. */
static ALWAYS_INLINE number fold_row(const element *x, int64_t k, number start, fold_step step, fold_step merge,
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

/* Results of k elements each, in columns that lie side by side, COLUMNS at most; elements of a column are `stride`
 * apart. */
static ALWAYS_INLINE void fold_columns(const element *x, int64_t k, int64_t stride, int64_t columns, number start,
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

static inline int64_t columns_from(int64_t first, int64_t columns)
{
	return columns - first < COLUMNS ? columns - first : COLUMNS;
}

#endif
