/* normal-rows.h: the statistics of a row and the normalized row, for all kernels that normalize. A source that includes
 * it has the definitions that along.h needs. */
#ifndef SK_KERNELS_NORMAL_ROWS_H
#define SK_KERNELS_NORMAL_ROWS_H

#include "kernels/along.h"
#include "kernels/math.h"

#include <stddef.h>

struct moments {
	number mean, variance, factor; /* one over the deviation */
};

static ALWAYS_INLINE number add_scaled_deviation(number sum, number x, number with)
{
	return sum + (x - with) * SHRINK * ((x - with) * SHRINK);
}

/* Return the moments of a row with sums that overflow. */
static SELDOM struct moments scaled_moments(const element *x, int64_t k, number epsilon)
{
	number mean = fold_row(x, k, 0, add_scaled, add, SHRINK) / (number)k / SHRINK;
	number variance = fold_row(x, k, 0, add_scaled_deviation, add, mean) / (number)k;

	return (struct moments){mean, variance / SHRINK / SHRINK,
				SHRINK / MATH(sqrt)(variance + epsilon * SHRINK * SHRINK)};
}

static ALWAYS_INLINE struct moments moments_of(const element *x, int64_t k, number epsilon)
{
	number mean = fold_row(x, k, 0, add, add, 0) / (number)k;
	number variance = fold_row(x, k, 0, add_squared_deviation, add, mean) / (number)k;

	if (scale_of_sum(variance) != 1)
		return scaled_moments(x, k, epsilon);
	return (struct moments){mean, variance, 1 / MATH(sqrt)(variance + epsilon)};
}

static SELDOM number scaled_root_factor(const element *x, int64_t k, number epsilon)
{
	number mean = fold_row(x, k, 0, add_scaled_square, add, SHRINK) / (number)k;

	return SHRINK / MATH(sqrt)(mean + epsilon * SHRINK * SHRINK);
}

/* Return one over the root of the mean square. */
static ALWAYS_INLINE number root_factor(const element *x, int64_t k, number epsilon)
{
	number sum = fold_row(x, k, 0, add_square, add, 0);

	if (scale_of_sum(sum) != 1)
		return scaled_root_factor(x, k, epsilon);
	return 1 / MATH(sqrt)(sum / (number)k + epsilon);
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
