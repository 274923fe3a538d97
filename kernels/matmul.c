/* matmul.c: MatMul, y = a b, in the forms of matmul-forms.h.
 *
 * variants: OP=MatMul TYPE=f32 COUNT=one LEFT=straight RIGHT=packed,straight,turned ISA=base,v3,v4
 * variants: OP=MatMul TYPE=f64,halves COUNT=one LEFT=straight RIGHT=packed,straight,turned ISA=base,v3
 * variants: OP=MatMul TYPE=floats COUNT=one LEFT=turned RIGHT=straight,turned
 * variants: OP=MatMul TYPE=f32 COUNT=many LEFT=straight RIGHT=straight,turned ISA=base,v3,v4
 * variants: OP=MatMul TYPE=f64,halves COUNT=many LEFT=straight RIGHT=straight,turned ISA=base,v3
 */
#include "kernels/product.h"

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

#define SCRATCH_PARAMETERS , number *room, number *sums
#define SCRATCH		   , room, sums
#define SCRATCH_TEXT	   ROOM_TEXT SUMS_TEXT("n")
#include "kernels/matmul-forms.h"
