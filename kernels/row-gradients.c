/* row-gradients.c: gradients of operators along an axis, from their result, y, and its gradient, dy: both [o,k,i] -> dx
 * [o,k,i]; SHAPE=rows is for i = 1.
 *
 *	SoftmaxGrad	y (dy - sum(y dy)), times a factor [1] that may be absent
 *	LogSoftmaxGrad	dy - exp(y) sum(dy)
 *
 * variants: OP=SoftmaxGrad,LogSoftmaxGrad TYPE=floats SHAPE=rows,planes ISA=base,v3
 */
#include "kernels/family.h"
#include "kernels/math.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

#include "kernels/along.h"

#define IS_Softmax_SoftmaxGrad 1
#define IS_SOFTMAX	       JOIN(IS_Softmax_, OP)

/* Return the term of the sum. */
static ALWAYS_INLINE number term(number dy, number y)
{
#if IS_SOFTMAX
	return dy * y;
#else
	(void)y;
	return dy;
#endif
}

static ALWAYS_INLINE number gradient(number dy, number y, number sum, number factor)
{
#if IS_SOFTMAX
	return (dy - sum) * y * factor;
#else
	(void)factor;
	return dy - MATH(exp)(y) * sum;
#endif
}

#define WORD_rows   0
#define WORD_planes 1
#define T	    TEXT(TYPE)

#if JOIN(WORD_, SHAPE) == 0
/* In the order of a block of fold_row. */
static ALWAYS_INLINE number sum_of_terms(const element *dy, const element *y, int64_t k)
{
	number sums[LANES];
	int64_t p = 0;

	for (int j = 0; j < LANES; j++)
		sums[j] = 0;
	for (; k - p >= LANES; p += LANES)
		for (int j = 0; j < LANES; j++)
			sums[j] += term(LOAD(TYPE, dy[p + j]), LOAD(TYPE, y[p + j]));
	for (int j = 0; p + j < k; j++)
		sums[j] += term(LOAD(TYPE, dy[p + j]), LOAD(TYPE, y[p + j]));
	for (int half = LANES / 2; half; half /= 2)
		for (int j = 0; j < half; j++)
			sums[j] += sums[half + j];
	return sums[0];
}

#define PLANES
#define DIMENSIONS "[o,k,1]"
#define EXTENTS	   "o i64, k i64"
#else
#define PLANES	   , int64_t i
#define DIMENSIONS "[o,k,i]"
#define EXTENTS	   "o i64, k i64, i i64"

static ALWAYS_INLINE void compute_columns(const element *dy, const element *y, element *dx, int64_t k, int64_t stride,
					  int64_t columns, number factor)
{
	number sums[COLUMNS];

	for (int64_t j = 0; j < columns; j++)
		sums[j] = 0;
	for (int64_t p = 0; p < k * stride; p += stride) {
		INDEPENDENT
		for (int64_t j = 0; j < columns; j++)
			sums[j] += term(LOAD(TYPE, dy[p + j]), LOAD(TYPE, y[p + j]));
	}
	for (int64_t p = 0; p < k * stride; p += stride) {
		INDEPENDENT
		for (int64_t j = 0; j < columns; j++)
			dx[p + j] = STORE(TYPE, gradient(LOAD(TYPE, dy[p + j]), LOAD(TYPE, y[p + j]), sums[j], factor));
	}
}
#endif

static ALWAYS_INLINE void compute(const element *dy, const element *y, number factor, element *dx, int64_t o,
				  int64_t k PLANES)
{
#if JOIN(WORD_, SHAPE) == 0
	for (int64_t row = 0; row < o; row++, dy += k, y += k, dx += k) {
		number sum = sum_of_terms(dy, y, k);

		INDEPENDENT
		for (int64_t p = 0; p < k; p++)
			dx[p] = STORE(TYPE, gradient(LOAD(TYPE, dy[p]), LOAD(TYPE, y[p]), sum, factor));
	}
#else
	for (int64_t row = 0; row < o; row++, dy += k * i, y += k * i, dx += k * i)
		for (int64_t first = 0; first < i; first += COLUMNS)
			compute_columns(dy + first, y + first, dx + first, k, i, columns_from(first, i), factor);
#endif
}

#if IS_SOFTMAX
#define FACTOR "in? factor " TEXT(COMPUTED_TYPE(TYPE)) "[1], "
#else
#define FACTOR ""
#endif

#if JOIN(WORD_, SHAPE) == 0
#if IS_SOFTMAX
void KERNEL(const element *dy, const element *y, const number *factor, element *dx, int64_t o, int64_t k)
{
	compute(dy, y, factor ? *factor : 1, dx, o, k);
}
#else
void KERNEL(const element *dy, const element *y, element *dx, int64_t o, int64_t k)
{
	compute(dy, y, 1, dx, o, k);
}
#endif
#else
#if IS_SOFTMAX
void KERNEL(const element *dy, const element *y, const number *factor, element *dx, int64_t o, int64_t k, int64_t i)
{
	compute(dy, y, factor ? *factor : 1, dx, o, k, i);
}
#else
void KERNEL(const element *dy, const element *y, element *dx, int64_t o, int64_t k, int64_t i)
{
	compute(dy, y, 1, dx, o, k, i);
}
#endif
#endif
SIGNATURE("split=o op=" TEXT(OP),
	  "in dy " T DIMENSIONS ", in y " T DIMENSIONS ", " FACTOR "out dx@dy " T DIMENSIONS ", " EXTENTS);
