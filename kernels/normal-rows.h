/* normal-rows.h: what a row is normalized by, and the row that it becomes, for all kernels that normalize. A source
 * that includes it has what along.h needs. */
#ifndef SK_KERNELS_NORMAL_ROWS_H
#define SK_KERNELS_NORMAL_ROWS_H

#include "kernels/along.h"
#include "kernels/math.h"

#include <stddef.h>

struct moments {
	number mean, variance, factor; /* one over the deviation */
};

static ALWAYS_INLINE struct moments moments_of(const element *x, int64_t k, number epsilon)
{
	number mean = fold_row(x, k, 0, add, add, 0) / (number)k;
	number variance = fold_row(x, k, 0, add_squared_deviation, add, mean) / (number)k;

	return (struct moments){mean, variance, 1 / MATH(sqrt)(variance + epsilon)};
}

/* One over the root of the mean square. */
static ALWAYS_INLINE number root_factor(const element *x, int64_t k, number epsilon)
{
	return 1 / MATH(sqrt)(fold_row(x, k, 0, add_square, add, 0) / (number)k + epsilon);
}

static ALWAYS_INLINE void scale_row(const element *x, const element *scale, const element *bias, element *y, int64_t k,
				    struct moments moments)
{
	if (bias) {
		INDEPENDENT
		for (int64_t p = 0; p < k; p++)
			y[p] = STORE(TYPE, (LOAD(TYPE, x[p]) - moments.mean) * moments.factor * LOAD(TYPE, scale[p]) +
						   LOAD(TYPE, bias[p]));
	} else {
		INDEPENDENT
		for (int64_t p = 0; p < k; p++)
			y[p] = STORE(TYPE, (LOAD(TYPE, x[p]) - moments.mean) * moments.factor * LOAD(TYPE, scale[p]));
	}
}

/* The same without a mean. */
static ALWAYS_INLINE void scale_by_root(const element *x, const element *scale, const element *bias, element *y,
					int64_t k, number factor)
{
	if (bias) {
		INDEPENDENT
		for (int64_t p = 0; p < k; p++)
			y[p] = STORE(TYPE, LOAD(TYPE, x[p]) * factor * LOAD(TYPE, scale[p]) + LOAD(TYPE, bias[p]));
	} else {
		INDEPENDENT
		for (int64_t p = 0; p < k; p++)
			y[p] = STORE(TYPE, LOAD(TYPE, x[p]) * factor * LOAD(TYPE, scale[p]));
	}
}

#endif
