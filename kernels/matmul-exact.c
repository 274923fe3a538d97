/* matmul-exact.c: MatMul of integers, y = a b, which wraps around: sums are the same in every order.
 *
 * The forms are those of matmul-forms.h, except packed ones.
 *
 * variants: OP=MatMul TYPE=i32,i64,u32,u64 COUNT=one,many LEFT=straight RIGHT=straight,turned
 * variants: OP=MatMul TYPE=i32,i64,u32,u64 COUNT=one LEFT=turned RIGHT=straight,turned
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;

#define TURNED_straight 0
#define TURNED_turned	1

/* Compute a row of y; numbers of the row of a are `step` apart. */
static inline void multiply_row(const element *a, int64_t step, const element *b, element *y, int64_t k, int64_t n)
{
#if JOIN(TURNED_, RIGHT)
	for (int64_t column = 0; column < n; column++) {
		element sum = 0;

		for (int64_t p = 0; p < k; p++)
			sum += a[p * step] * b[column * k + p];
		y[column] = sum;
	}
#else
	for (int64_t column = 0; column < n; column++)
		y[column] = 0;
	for (int64_t p = 0; p < k; p++) {
		element left = a[p * step];

		INDEPENDENT
		for (int64_t column = 0; column < n; column++)
			y[column] += left * b[p * n + column];
	}
#endif
}

/* With a turned a, this call's columns begin at a, and `columns` is the number of all its columns. */
static inline void multiply_matrices(const element *a, int64_t columns, const element *b, element *y, int64_t m,
				     int64_t k, int64_t n)
{
	const int turned = JOIN(TURNED_, LEFT);

	for (int64_t row = 0; row < m; row++)
		multiply_row(a + row * (turned ? 1 : k), turned ? columns : 1, b, y + row * n, k, n);
}

#define SCRATCH_PARAMETERS
#define SCRATCH
#define SCRATCH_TEXT
#define ADDENDS
#define ADDENDS_TEXT
#include "kernels/matmul-forms.h"
