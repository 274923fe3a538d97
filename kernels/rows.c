/* rows.c: operators that use all elements along an axis to compute each of them: x [o,k,i] -> y [o,k,i]; SHAPE=rows is
 * for i = 1.
 *
 * variants: OP=Softmax,LogSoftmax TYPE=floats SHAPE=rows,planes ISA=base,v3
 * variants: OP=Hardmax TYPE=f32,f64 SHAPE=rows,planes ISA=base,v3
 * variants: OP=Hardmax TYPE=halves SHAPE=planes ISA=base,v3
 * variants: OP=Hardmax TYPE=halves SHAPE=rows
 * variants: OP=Softmax TYPE=f32 SHAPE=rows ISA=v4
 * variants: OP=LpNormalization P=1,2 TYPE=f32,halves SHAPE=rows,planes ISA=base,v3
 * variants: OP=LpNormalization P=1,2 TYPE=f64 SHAPE=planes ISA=base,v3
 * variants: OP=LpNormalization P=1,2 TYPE=f64 SHAPE=rows
 */
#include "kernels/family.h"
#include "kernels/math.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

#include "kernels/along.h"

/* ---- statistics of a row, or of a column ---- */

struct known {
	number most, sum;
};

static ALWAYS_INLINE number add_exponential(number sum, number x, number with)
{
	return sum + MATH(exp)(x - with);
}

static ALWAYS_INLINE number add_number(number sum, number x, number with)
{
	(void)with;
	return sum + x;
}

static ALWAYS_INLINE number add_magnitude(number sum, number x, number with)
{
	(void)with;
	return sum + MATH(abs)(x);
}

static ALWAYS_INLINE number add_scaled_magnitude(number sum, number x, number with)
{
	return sum + MATH(abs)(x) * with;
}

/* ---- an element, from these ---- */

static ALWAYS_INLINE number of_Softmax(number x, struct known known)
{
	return MATH(exp)(x - known.most) / known.sum;
}

static ALWAYS_INLINE number of_LogSoftmax(number x, struct known known)
{
	return x - known.most - known.sum; /* the sum's logarithm */
}

static ALWAYS_INLINE number of_LpNormalization(number x, struct known known)
{
	return x / known.sum;
}

#define IS_Hardmax_Hardmax	 1
#define IS_Lp_LpNormalization	 1
#define IS_LogSoftmax_LogSoftmax 1
#define IS_Softmax_Softmax	 1
#define IS_HARDMAX		 JOIN(IS_Hardmax_, OP)
#define IS_LP			 JOIN(IS_Lp_, OP)
#define IS_LOG			 JOIN(IS_LogSoftmax_, OP)
#define IS_SOFTMAX		 JOIN(IS_Softmax_, OP)
#define KEEPS_EXPONENTIALS	 (IS_SOFTMAX && SIZE(TYPE) >= 4) /* which are stored without loss */
#ifndef P
#define P 2
#endif
#if P == 1
#define ADD_POWER	 add_magnitude
#define ADD_SCALED_POWER add_scaled_magnitude
#define SCALE_OF	 scale_of_sum
#else
#define ADD_POWER	 add_square
#define ADD_SCALED_POWER add_scaled_square
#define SCALE_OF	 scale_of_squares
#endif

/* Return x over a norm of scaled numbers; neither is denormal. */
static ALWAYS_INLINE number over_scaled(number x, number norm, number scale)
{
	return scale > 1 ? x * scale / norm : x / norm * scale;
}

/* Return the divisor, or the logarithm. A row with norm 0 is copied. */
static ALWAYS_INLINE number finished(number sum)
{
#if IS_LP
	sum = P == 1 ? sum : MATH(sqrt)(sum);
	return sum == 0 ? 1 : sum;
#elif IS_LOG
	return MATH(log)(sum);
#else
	return sum;
#endif
}

#define WORD_rows   0
#define WORD_planes 1
#define T	    TEXT(TYPE)
#define LOWEST	    -__builtin_inf()

#if JOIN(WORD_, SHAPE) == 0

#if IS_HARDMAX
static ALWAYS_INLINE void compute_row(const element *x, element *y, int64_t k)
{
	number most = fold_row(x, k, LOWEST, larger, larger, 0);
	int64_t at = 0;

	while (at < k - 1 && !(LOAD(TYPE, x[at]) == most || IS_NAN(LOAD(TYPE, x[at]))))
		at++;
	for (int64_t p = 0; p < k; p++)
		y[p] = STORE(TYPE, p == at);
}
#elif KEEPS_EXPONENTIALS
static ALWAYS_INLINE void compute_row(const element *x, element *y, int64_t k)
{
	number most = fold_row(x, k, LOWEST, larger, larger, 0);

	INDEPENDENT
	for (int64_t p = 0; p < k; p++)
		y[p] = MATH(exp)(x[p] - most);
	number sum = fold_row(y, k, 0, add_number, add, 0);
	INDEPENDENT
	for (int64_t p = 0; p < k; p++)
		y[p] /= sum;
}
#else
#if IS_LP
static SELDOM void compute_scaled_row(const element *x, element *y, int64_t k, number scale)
{
	number norm = finished(fold_row(x, k, 0, ADD_SCALED_POWER, add, scale));

	for (int64_t p = 0; p < k; p++)
		y[p] = STORE(TYPE, over_scaled(LOAD(TYPE, x[p]), norm, scale));
}
#endif

static ALWAYS_INLINE void compute_row(const element *x, element *y, int64_t k)
{
	struct known known;

#if IS_LP
	known.most = 0;
	known.sum = fold_row(x, k, 0, ADD_POWER, add, 0);
	if (SCALE_OF(known.sum) != 1) {
		compute_scaled_row(x, y, k, SCALE_OF(known.sum));
		return;
	}
	known.sum = finished(known.sum);
#else
	known.most = fold_row(x, k, LOWEST, larger, larger, 0);
	known.sum = finished(fold_row(x, k, 0, add_exponential, add, known.most));
#endif
	INDEPENDENT
	for (int64_t p = 0; p < k; p++)
		y[p] = STORE(TYPE, JOIN(of_, OP)(LOAD(TYPE, x[p]), known));
}
#endif

void KERNEL(const element *x, element *y, int64_t o, int64_t k)
{
	for (int64_t row = 0; row < o; row++)
		compute_row(x + row * k, y + row * k, k);
}
#define DIMENSIONS "[o,k,1]"
#define EXTENTS	   "o i64, k i64"

#else

#if IS_HARDMAX
static ALWAYS_INLINE void compute_columns(const element *x, element *y, int64_t k, int64_t i, int64_t columns)
{
	number most[COLUMNS], open[COLUMNS];

	fold_columns(x, k, i, columns, LOWEST, larger, larger, 0, most);
	for (int64_t j = 0; j < columns; j++)
		open[j] = 1;
	for (int64_t p = 0; p < k; p++)
		for (int64_t j = 0; j < columns; j++) {
			number value = LOAD(TYPE, x[p * i + j]), here = value == most[j] || IS_NAN(value) ? open[j] : 0;
			y[p * i + j] = STORE(TYPE, here);
			open[j] -= here;
		}
}
#else
#if IS_LP
static SELDOM void compute_scaled_columns(const element *x, element *y, int64_t k, int64_t i, int64_t columns,
					  const number *sums)
{
	number norms[COLUMNS], scales[COLUMNS];

	for (int64_t j = 0; j < columns; j++)
		scales[j] = SCALE_OF(sums[j]);
	fold_columns(x, k, i, columns, 0, ADD_SCALED_POWER, add, scales, norms);
	for (int64_t j = 0; j < columns; j++)
		norms[j] = finished(norms[j]);
	for (int64_t p = 0; p < k * i; p += i)
		for (int64_t j = 0; j < columns; j++)
			y[p + j] = STORE(TYPE, over_scaled(LOAD(TYPE, x[p + j]), norms[j], scales[j]));
}
#endif

static ALWAYS_INLINE void compute_columns(const element *x, element *y, int64_t k, int64_t i, int64_t columns)
{
	number most[COLUMNS], sum[COLUMNS];

#if IS_LP
	fold_columns(x, k, i, columns, 0, ADD_POWER, add, 0, sum);
	if (need_scales(sum, columns, P == 2)) {
		compute_scaled_columns(x, y, k, i, columns, sum);
		return;
	}
	for (int64_t j = 0; j < columns; j++)
		most[j] = 0;
#else
	fold_columns(x, k, i, columns, LOWEST, larger, larger, 0, most);
	fold_columns(x, k, i, columns, 0, add_exponential, add, most, sum);
#endif
	for (int64_t j = 0; j < columns; j++)
		sum[j] = finished(sum[j]);
	for (int64_t p = 0; p < k; p++) {
		INDEPENDENT
		for (int64_t j = 0; j < columns; j++)
			y[p * i + j] =
				STORE(TYPE, JOIN(of_, OP)(LOAD(TYPE, x[p * i + j]), ((struct known){most[j], sum[j]})));
	}
}
#endif

void KERNEL(const element *x, element *y, int64_t o, int64_t k, int64_t i)
{
	for (int64_t row = 0; row < o; row++)
		for (int64_t first = 0; first < i; first += COLUMNS)
			compute_columns(x + row * k * i + first, y + row * k * i + first, k, i, columns_from(first, i));
}
#define DIMENSIONS "[o,k,i]"
#define EXTENTS	   "o i64, k i64, i i64"
#endif

#if IS_LP && P == 1
#define CONDITION "(p=1)"
#else
#define CONDITION ""
#endif
SIGNATURE("split=o op=" TEXT(OP) CONDITION, "in x " T DIMENSIONS ", out y@x " T DIMENSIONS ", " EXTENTS);
