/* reduce.c: reductions: x [o,k,i] -> y [o,i]; SHAPE=rows is for i = 1.
 *
 * variants: OP=ReduceSum,ReduceMean,ReduceProd TYPE=floats SHAPE=rows,planes ISA=base,v3
 * variants: OP=ReduceMax,ReduceMin TYPE=floats SHAPE=planes ISA=base,v3
 * variants: OP=ReduceMax,ReduceMin TYPE=floats SHAPE=rows
 * variants: OP=ReduceL1,ReduceL2,ReduceSumSquare,ReduceLogSum,ReduceLogSumExp TYPE=floats SHAPE=rows,planes ISA=base,v3
 * variants: OP=ReduceSum,ReduceMean,ReduceMax,ReduceMin,ReduceProd TYPE=i32,i64,u32,u64 SHAPE=rows,planes
 * variants: OP=ReduceL1,ReduceL2,ReduceSumSquare,ReduceLogSum,ReduceLogSumExp TYPE=i32,i64,u32,u64 SHAPE=rows,planes
 * variants: OP=ReduceMax,ReduceMin TYPE=i8,u8,bool SHAPE=rows,planes
 */
#include "kernels/family.h"
#include "kernels/math.h"

/* The type in which integers are added up, if the result is a root or a logarithm. */
#define IS_REAL_ReduceL2	1
#define IS_REAL_ReduceLogSum	1
#define IS_REAL_ReduceLogSumExp 1
#define IS_REAL			JOIN(IS_REAL_, OP)
#if !IS_FLOAT(TYPE) && IS_REAL
#define THROUGH_REAL
#endif

typedef STORED(TYPE) element;
#ifdef THROUGH_REAL
typedef double number;
#define MATH_i32 _f64
#define MATH_i64 _f64
#define MATH_u32 _f64
#define MATH_u64 _f64
#else
typedef COMPUTED(TYPE) number;
#endif

#include "kernels/along.h"

/* ---- folding of each element ---- */

static ALWAYS_INLINE number multiply(number product, number x, number with)
{
	(void)with;
	return product * x;
}

static ALWAYS_INLINE number add_magnitude(number sum, number x, number with)
{
	(void)with;
#if IS_FLOAT(TYPE) || IS_SIGNED(TYPE)
	x = x < 0 ? -x : x;
#endif
	return sum + x;
}

static ALWAYS_INLINE number lowest(void)
{
	return (number)SMALLEST(TYPE);
}

static ALWAYS_INLINE number highest(void)
{
	return (number)LARGEST(TYPE);
}

#define STEP_ReduceSum	     add
#define STEP_ReduceMean	     add
#define STEP_ReduceMax	     larger
#define STEP_ReduceMin	     smaller
#define STEP_ReduceProd	     multiply
#define STEP_ReduceL1	     add_magnitude
#define STEP_ReduceL2	     add_square
#define STEP_ReduceSumSquare add_square
#define STEP_ReduceLogSum    add
#define STEP_ReduceLogSumExp add_exponential
#define STEP		     JOIN(STEP_, OP)

#define MERGE_ReduceSum	      add
#define MERGE_ReduceMean      add
#define MERGE_ReduceMax	      larger
#define MERGE_ReduceMin	      smaller
#define MERGE_ReduceProd      multiply
#define MERGE_ReduceL1	      add
#define MERGE_ReduceL2	      add
#define MERGE_ReduceSumSquare add
#define MERGE_ReduceLogSum    add
#define MERGE_ReduceLogSumExp add
#define MERGE		      JOIN(MERGE_, OP)

#define START_ReduceSum	      0
#define START_ReduceMean      0
#define START_ReduceMax	      lowest()
#define START_ReduceMin	      highest()
#define START_ReduceProd      1
#define START_ReduceL1	      0
#define START_ReduceL2	      0
#define START_ReduceSumSquare 0
#define START_ReduceLogSum    0
#define START_ReduceLogSumExp 0
#define START		      JOIN(START_, OP)

/* ---- the result ---- */

#define IS_LOGARITHM_ReduceLogSum 1
#define IS_LOGARITHM		  JOIN(IS_LOGARITHM_, OP)

#define FINISH(operator, expression)                                                                                   \
	static ALWAYS_INLINE number finish_##operator(number sum, int64_t k, number with)                              \
	{                                                                                                              \
		(void)k, (void)with;                                                                                   \
		return expression;                                                                                     \
	}

FINISH(ReduceSum, sum)
FINISH(ReduceMean, sum / (number)k)
FINISH(ReduceMax, sum)
FINISH(ReduceMin, sum)
FINISH(ReduceProd, sum)
FINISH(ReduceL1, sum)
FINISH(ReduceSumSquare, sum)
#if IS_REAL
FINISH(ReduceL2, MATH(sqrt)(sum))
FINISH(ReduceLogSum, MATH(log)(sum))
FINISH(ReduceLogSumExp, with + MATH(log)(sum))

/* Elements are taken relative to the largest one, so that nothing overflows. */
static ALWAYS_INLINE number add_exponential(number sum, number x, number with)
{
	return sum + MATH(exp)(x - with);
}

static ALWAYS_INLINE number origin_of(number most)
{
	return most - most == 0 ? most : 0; /* not relative to infinity or a NaN */
}
#define IS_COUNTED_ReduceLogSumExp 1
#endif
#define IS_COUNTED JOIN(IS_COUNTED_, OP)

/* ---- overflow on the way to a finite result ---- */

#if IS_FLOAT(TYPE)
#define SCALE_ReduceSum	   1
#define SCALE_ReduceMean   1
#define SCALE_ReduceLogSum 1
#define SCALE_ReduceL2	   2
#define SCALES		   JOIN(SCALE_, OP)
#if SCALES == 2
#define SCALE_OF    scale_of_squares
#define SCALED_STEP add_scaled_square
#else
#define SCALE_OF    scale_of_sum
#define SCALED_STEP add_scaled
#endif
#endif

#if SCALES
/* The result, from a sum of scaled numbers. */
static ALWAYS_INLINE number unscaled(number sum, int64_t k, number scale)
{
	number result = JOIN(finish_, OP)(sum, k, 0);

#if IS_LOGARITHM
	return result - MATH(log)(scale);
#else
	return result / scale;
#endif
}
#endif

/* As in Cast: truncated, limited to the type's range, and 0 for a NaN. */
static ALWAYS_INLINE element stored(number result)
{
#ifdef THROUGH_REAL
	const number above = (number)(LARGEST(TYPE) / 2 + 1) * 2;

	return result >= above			  ? LARGEST(TYPE)
	       : result <= (number)SMALLEST(TYPE) ? SMALLEST(TYPE)
	       : result == result		  ? (element)result
						  : 0;
#else
	return STORE(TYPE, result);
#endif
}

#define WORD_rows   0
#define WORD_planes 1
#define T	    TEXT(TYPE)

#if JOIN(WORD_, SHAPE) == 0
#if SCALES
static SELDOM number fold_scaled_row(const element *x, int64_t k, number scale)
{
	return unscaled(fold_row(x, k, 0, SCALED_STEP, add, scale), k, scale);
}
#endif

static ALWAYS_INLINE void reduce_rows(const element *x, element *y, int64_t o, int64_t k)
{
	for (int64_t row = 0; row < o; row++, x += k) {
		number with = 0, sum;
#if IS_COUNTED
		with = origin_of(fold_row(x, k, -__builtin_inf(), larger, larger, 0));
#endif
		sum = fold_row(x, k, START, STEP, MERGE, with);
#if SCALES
		if (SCALE_OF(sum) != 1) {
			y[row] = stored(fold_scaled_row(x, k, SCALE_OF(sum)));
			continue;
		}
#endif
		y[row] = stored(JOIN(finish_, OP)(sum, k, with));
	}
}

/* A separate function, so that short rows do not pay for long ones. */
static SELDOM void reduce_long_rows(const element *x, element *y, int64_t o, int64_t k)
{
	reduce_rows(x, y, o, k);
}

void KERNEL(const element *x, element *y, int64_t o, int64_t k)
{
	if (k > BLOCK * LANES)
		reduce_long_rows(x, y, o, k);
	else
		reduce_rows(x, y, o, k);
}
SIGNATURE("split=o op=" TEXT(OP), "in x " T "[o,k,1], out y " T "[o,1], o i64, k i64");
#else
#if SCALES
static SELDOM void fold_scaled_columns(const element *x, element *y, int64_t k, int64_t stride, int64_t columns,
				       number *sums)
{
	number scales[COLUMNS];

	for (int64_t j = 0; j < columns; j++)
		scales[j] = SCALE_OF(sums[j]);
	fold_columns(x, k, stride, columns, 0, SCALED_STEP, add, scales, sums);
	for (int64_t j = 0; j < columns; j++)
		y[j] = stored(unscaled(sums[j], k, scales[j]));
}
#endif

static ALWAYS_INLINE void reduce_planes(const element *x, element *y, int64_t o, int64_t k, int64_t i)
{
	number sums[COLUMNS], with[COLUMNS];

	for (int64_t row = 0; row < o; row++, x += k * i, y += i)
		for (int64_t first = 0; first < i; first += COLUMNS) {
			int64_t columns = columns_from(first, i);

			for (int64_t j = 0; j < columns; j++)
				with[j] = 0;
#if IS_COUNTED
			fold_columns(x + first, k, i, columns, -__builtin_inf(), larger, larger, 0, with);
			for (int64_t j = 0; j < columns; j++)
				with[j] = origin_of(with[j]);
#endif
			fold_columns(x + first, k, i, columns, START, STEP, MERGE, with, sums);
#if SCALES
			if (need_scales(sums, columns, SCALES == 2)) {
				fold_scaled_columns(x + first, y + first, k, i, columns, sums);
				continue;
			}
#endif
			for (int64_t j = 0; j < columns; j++)
				y[first + j] = stored(JOIN(finish_, OP)(sums[j], k, with[j]));
		}
}
/* A separate function, as with rows. */
static SELDOM void reduce_long_planes(const element *x, element *y, int64_t o, int64_t k, int64_t i)
{
	reduce_planes(x, y, o, k, i);
}

void KERNEL(const element *x, element *y, int64_t o, int64_t k, int64_t i)
{
	if (k > BLOCK)
		reduce_long_planes(x, y, o, k, i);
	else
		reduce_planes(x, y, o, k, i);
}
SIGNATURE("split=o op=" TEXT(OP), "in x " T "[o,k,i], out y " T "[o,i], o i64, k i64, i i64");
#endif
