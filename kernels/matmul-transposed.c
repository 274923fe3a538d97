/* matmul-transposed.c: TransposeBatchMatMul, products of batches with rows ordered by their number and not by their
 * batch: b [batches,k,n] -> y [m,batches,n], with a [batches,rows,k] (LEFT=straight), of which this call has m rows
 * from `first` on, or with turned=1 a [m,batches,k] (LEFT=turned).
 *
 * variants: OP=TransposeBatchMatMul TYPE=f32 LEFT=straight,turned ISA=base,v3,v4
 * variants: OP=TransposeBatchMatMul TYPE=halves LEFT=straight,turned ISA=base,v3
 */
#include "kernels/product.h"

#define TURNED_straight 0
#define TURNED_turned	1
#define TURNED		JOIN(TURNED_, LEFT)

/* Multiply the rows of one batch, into elements with rows that are `line` apart. */
static ALWAYS_INLINE void multiply_batch(const struct product *product, element *y, size_t line)
{
	size_t block = equal_parts(product->m, BLOCK_ROWS);

	if (!CONVERTED) {
		multiply(product);
		return;
	}
	for (size_t top = 0; top < product->m; top += block) {
		size_t rows = least(block, product->m - top);

		multiply_top(product, top, rows, product->c);
		for (size_t row = 0; row < rows; row++)
			for (size_t i = 0; i < product->n; i++)
				y[(top + row) * line + i] = STORE(TYPE, product->c[row * product->n + i]);
	}
}

void KERNEL(const element *a, const element *b, element *y, int64_t m, int64_t batches, int64_t k, int64_t n,
	    int64_t first, int64_t rows, number *room, number *sums)
{
	for (int64_t batch = 0; batch < batches; batch++) {
		struct matrix right = {b + batch * k * n, 1, n};
		element *to = y + batch * n;
		struct product product = {
			.m = m,
			.n = n,
			.k = k,
			.a = {TURNED ? a + batch * k : a + (batch * rows + first) * k, TURNED ? batches * k : k, 1},
			.b = &right,
			.panels = panels_of_matrix,
			.c = CONVERTED ? sums : (number *)to,
			.c_row = CONVERTED ? n : batches * n,
			.room = room};

		multiply_batch(&product, to, batches * n);
	}
}

#define T TEXT(TYPE)
#if TURNED
#define CONDITIONS "(turned=1)"
#define A	   T "[m,batches,k]"
#define ROWS	   "rows i64 = 0"
#else
#define CONDITIONS ""
#define A	   T "[batches,rows,k]"
#define ROWS	   "rows i64"
#endif
SIGNATURE("split=m operations=2*batches*m*n*k op=" TEXT(OP) CONDITIONS,
	  "in a " A ", in b " T "[batches,k,n], out y " T
	  "[m,batches,n], m i64, batches i64, k i64, n i64, first i64 = "
	  "begin(m), " ROWS ROOM_TEXT SUMS_TEXT("n"));
