/* matmul-exact.c: MatMul of integers, y = a b, which wraps around: sums are the same in whatever order.
 *
 * The forms are those of matmul.c, but for packed ones: LEFT=turned has transA=1 and a [k,m], RIGHT=turned transB=1
 * and b [n,k]; COUNT=many are batches.
 *
 * variants: OP=MatMul TYPE=i32,i64,u32,u64 COUNT=one,many LEFT=straight RIGHT=straight,turned
 * variants: OP=MatMul TYPE=i32,i64,u32,u64 COUNT=one LEFT=turned RIGHT=straight,turned
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;

#define MANY_one	0
#define MANY_many	1
#define TURNED_straight 0
#define TURNED_turned	1

/* A row of y; numbers of the row of a lie `step` apart. */
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

#define T	 TEXT(TYPE)
#define OPERANDS const element *a, const element *b, element *y, int64_t m, int64_t k, int64_t n
#if JOIN(MANY_, COUNT)
void KERNEL(OPERANDS, int64_t batches)
{
	for (int64_t row = 0; row < batches * m; row++)
		multiply_row(a + row * k, 1, b + row / m * k * n, y + row * n, k, n);
}
#define MATRIX(extents) T "[batches," extents "]"
#define SPLIT		"split=batches operations=2*batches*m*n*k "
#define MORE		", batches i64"
#elif JOIN(TURNED_, LEFT)
/* All columns of a are `columns`, of which the first one here is `first`. */
void KERNEL(OPERANDS, int64_t first, int64_t columns)
{
	for (int64_t row = 0; row < m; row++)
		multiply_row(a + first + row, columns, b, y + row * n, k, n);
}
#define MORE ", first i64 = begin(m), columns i64"
#else
void KERNEL(OPERANDS)
{
	for (int64_t row = 0; row < m; row++)
		multiply_row(a + row * k, 1, b, y + row * n, k, n);
}
#define MORE
#endif
#ifndef MATRIX
#define MATRIX(extents) T "[" extents "]"
#define SPLIT		"split=m operations=2*m*n*k "
#endif

#define CONDITIONS_straight_straight ""
#define CONDITIONS_straight_turned   "(transB=1)"
#define CONDITIONS_turned_straight   "(transA=1)"
#define CONDITIONS_turned_turned     "(transA=1, transB=1)"
#define CONDITIONS_OF(left, right)   CONDITIONS_##left##_##right
#define CONDITIONS(left, right)	     CONDITIONS_OF(left, right)
#define A_straight		     MATRIX("m,k")
#define A_turned		     MATRIX("k,columns")
#define B_straight		     MATRIX("k,n")
#define B_turned		     MATRIX("n,k")
#define B_OF(right)		     JOIN(B_, right)

SIGNATURE(SPLIT "op=MatMul" CONDITIONS(LEFT, RIGHT),
	  "in a " JOIN(A_, LEFT) ", in b " B_OF(RIGHT) ", out y " MATRIX("m,n") ", m i64, k i64, n i64" MORE);
