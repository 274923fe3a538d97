/* matmul.c: MatMul, y = a b.
 *
 * LEFT=turned has transA=1 and a [k,m], RIGHT=turned transB=1 and b [n,k]; RIGHT=packed has packed=1 and what
 * PackMatMulB has made of b, which is how constants come. COUNT=many are batches: a matrix b for each matrix a.
 *
 * variants: OP=MatMul TYPE=f32 COUNT=one LEFT=straight RIGHT=packed,straight,turned ISA=base,v3,v4
 * variants: OP=MatMul TYPE=f64,halves COUNT=one LEFT=straight RIGHT=packed,straight,turned ISA=base,v3
 * variants: OP=MatMul TYPE=floats COUNT=one LEFT=turned RIGHT=straight,turned
 * variants: OP=MatMul TYPE=f32 COUNT=many LEFT=straight RIGHT=straight,turned ISA=base,v3,v4
 * variants: OP=MatMul TYPE=f64,halves COUNT=many LEFT=straight RIGHT=straight,turned ISA=base,v3
 */
#include "kernels/product.h"

#define MANY_one	0
#define MANY_many	1
#define TURNED_straight 0
#define TURNED_packed	0
#define TURNED_turned	1
#define PACKED_straight 0
#define PACKED_turned	0
#define PACKED_packed	1

/* Rows of a are k elements long; of a turned a, this call's columns begin at a, and all its columns are `columns`. */
static ALWAYS_INLINE void multiply_matrices(const element *a, int64_t columns, const element *b, element *y, int64_t m,
					    int64_t k, int64_t n, number *room, number *sums)
{
	const int turned_a = JOIN(TURNED_, LEFT), turned_b = JOIN(TURNED_, RIGHT), packed_b = JOIN(PACKED_, RIGHT);
	struct packed packed = {b, k};
	struct matrix matrix = {b, turned_b ? k : 1, turned_b ? 1 : n};
	struct product product = {.m = m,
				  .n = n,
				  .k = k,
				  .a = {a, turned_a ? 1 : k, turned_a ? columns : 1},
				  .b = packed_b ? (const void *)&packed : &matrix,
				  .panels = packed_b ? panels_of_packed : panels_of_matrix,
				  .c = CONVERTED ? sums : (number *)y,
				  .c_row = n,
				  .room = room};

	if (CONVERTED)
		multiply_converted(&product, y);
	else
		multiply(&product);
}

#define OPERANDS const element *a, const element *b, element *y, int64_t m, int64_t k, int64_t n
#if JOIN(MANY_, COUNT)
void KERNEL(OPERANDS, int64_t batches, number *room, number *sums)
{
	for (int64_t i = 0; i < batches; i++)
		multiply_matrices(a + i * m * k, 0, b + i * k * n, y + i * m * n, m, k, n, room, sums);
}
#elif JOIN(TURNED_, LEFT)
void KERNEL(OPERANDS, int64_t first, int64_t columns, number *room, number *sums)
{
	multiply_matrices(a + first, columns, b, y, m, k, n, room, sums);
}
#else
void KERNEL(OPERANDS, number *room, number *sums)
{
	multiply_matrices(a, 0, b, y, m, k, n, room, sums);
}
#endif

#define T TEXT(TYPE)
#if JOIN(MANY_, COUNT)
#define MATRIX(extents) T "[batches," extents "]"
#define SPLIT		"split=batches operations=2*batches*m*n*k "
#define MORE		", batches i64"
#else
#define MATRIX(extents) T "[" extents "]"
#define SPLIT		"split=m operations=2*m*n*k "
#if JOIN(TURNED_, LEFT)
#define MORE ", first i64 = begin(m), columns i64"
#else
#define MORE
#endif
#endif

#define CONDITIONS_straight_straight ""
#define CONDITIONS_straight_turned   "(transB=1)"
#define CONDITIONS_turned_straight   "(transA=1)"
#define CONDITIONS_turned_turned     "(transA=1, transB=1)"
#define CONDITIONS_straight_packed   "(packed=1)"
#define CONDITIONS_OF(left, right)   CONDITIONS_##left##_##right
#define CONDITIONS(left, right)	     CONDITIONS_OF(left, right)
#define RIGHT_OF(right)		     B_##right
#define RIGHT_MATRIX(right)	     RIGHT_OF(right)
#define A_straight		     MATRIX("m,k")
#define A_turned		     MATRIX("k,columns")
#define B_straight		     MATRIX("k,n")
#define B_turned		     MATRIX("n,k")
#define B_packed		     T "[panels,k," PANEL_TEXT "]"

SIGNATURE(SPLIT "op=MatMul" CONDITIONS(LEFT, RIGHT),
	  "in a " JOIN(A_, LEFT) ", in b " RIGHT_MATRIX(RIGHT) ", out y " MATRIX(
		  "m,n") ", m i64, k i64, n i64" MORE ROOM_TEXT SUMS_TEXT("n"));
