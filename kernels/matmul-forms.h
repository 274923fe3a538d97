/* matmul-forms.h: the forms of MatMul, and their signatures. LEFT=turned has transA=1 and a [k,m], RIGHT=turned
 * transB=1 and b [n,k]. RIGHT=packed has packed=1 and the result of PackMatMulB for b, as for constants. COUNT=many are
 * batches: a matrix b for each matrix a.
 *
 * The includer defines before it: multiply_matrices, which makes one product; SCRATCH, its scratch memory, as
 * parameters and as arguments; ADDENDS, the tensors added to a product, as parameters; and the same in signatures. */
#ifndef SK_KERNELS_MATMUL_FORMS_H
#define SK_KERNELS_MATMUL_FORMS_H

#define MANY_one  0
#define MANY_many 1
#define OPERANDS  const element *a, const element *b, ADDENDS element *y, int64_t m, int64_t k, int64_t n

#if JOIN(MANY_, COUNT)
void KERNEL(OPERANDS, int64_t batches SCRATCH_PARAMETERS)
{
	for (int64_t i = 0; i < batches; i++)
		multiply_matrices(a + i * m * k, 0, b + i * k * n, y + i * m * n, m, k, n SCRATCH);
}
#define MATRIX(extents) TEXT(TYPE) "[batches," extents "]"
#define SPLIT		"split=batches operations=2*batches*m*n*k "
#define MORE		", batches i64"
#else
#if JOIN(TURNED_, LEFT)
void KERNEL(OPERANDS, int64_t first, int64_t columns SCRATCH_PARAMETERS)
{
	multiply_matrices(a + first, columns, b, y, m, k, n SCRATCH);
}
#define MORE ", first i64 = begin(m), columns i64"
#else
void KERNEL(OPERANDS SCRATCH_PARAMETERS)
{
	multiply_matrices(a, 0, b, y, m, k, n SCRATCH);
}
#define MORE
#endif
#define MATRIX(extents) TEXT(TYPE) "[" extents "]"
#define SPLIT		"split=m operations=2*m*n*k "
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
#define B_packed		     TEXT(TYPE) "[panels,k," PANEL_TEXT "]"

SIGNATURE(SPLIT "op=" TEXT(OP) CONDITIONS(LEFT, RIGHT),
	  "in a " JOIN(A_, LEFT) ", in b " RIGHT_MATRIX(RIGHT) ADDENDS_TEXT
	  ", out y " MATRIX("m,n") ", m i64, k i64, n i64" MORE SCRATCH_TEXT);

#endif
