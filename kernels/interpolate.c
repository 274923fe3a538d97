/* interpolate.c: y [r, i] is `outer` times [j, i]; each of its rows is a number and a weighted sum of t rows of x,
 * which is `outer` times [k, i]. The rows are looked up; one that is out of range is an error of the task.
 *
 * variants: OP=Interpolate TYPE=floats ISA=base,v3
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

static void weigh_row(const element *x, const int64_t *indices, const double *weights, number behind, element *y,
		      int64_t i, int64_t t)
{
	for (int64_t e = 0; e < i; e++) {
		number sum = behind;

		for (int64_t tap = 0; tap < t; tap++)
			sum += (number)weights[tap] * LOAD(TYPE, x[indices[tap] * i + e]);
		y[e] = STORE(TYPE, sum);
	}
}

/* The same with two taps, for vectors. */
static void weigh_two(const element *x, const int64_t *indices, const double *weights, number behind, element *y,
		      int64_t i)
{
	const element *a = x + indices[0] * i, *b = x + indices[1] * i;
	number at_a = (number)weights[0], at_b = (number)weights[1];

	INDEPENDENT
	for (int64_t e = 0; e < i; e++)
		y[e] = STORE(TYPE, behind + at_a * LOAD(TYPE, a[e]) + at_b * LOAD(TYPE, b[e]));
}

/* Rows first … first + r - 1 of y. */
int KERNEL(const element *x, const int64_t *indices, const double *weights, const double *numbers, element *y,
	   int64_t r, int64_t i, int64_t first, int64_t k, int64_t j, int64_t t)
{
	for (int64_t row = first; row < first + r; row++, y += i) {
		int64_t at = row % j;
		const element *from = x + row / j * k * i;

		for (int64_t tap = 0; tap < t; tap++)
			if (indices[at * t + tap] < 0 || indices[at * t + tap] >= k)
				return 1;
		if (t == 2)
			weigh_two(from, indices + at * t, weights + at * t, (number)numbers[at], y, i);
		else
			weigh_row(from, indices + at * t, weights + at * t, (number)numbers[at], y, i, t);
	}
	return 0;
}
SIGNATURE("split=r op=Interpolate",
	  "in x " TEXT(TYPE) "[p], in indices i64[j,t], in weights f64[j,t], in numbers f64[j], out y " TEXT(
		  TYPE) "[r,i], r i64, i i64, first i64 = begin(r), k i64 = attr(k), j i64, t i64 -> status");
