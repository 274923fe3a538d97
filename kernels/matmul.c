/* matmul.c: MatMul, y = a b, and FusedMatMul, y = activation(a b + bias) + addend, in the forms of matmul-forms.h.
 *
 * variants: OP=MatMul TYPE=f32 COUNT=one LEFT=straight RIGHT=packed,straight,turned ISA=base,v3,v4
 * variants: OP=MatMul TYPE=f64,halves COUNT=one LEFT=straight RIGHT=packed,straight,turned ISA=base,v3
 * variants: OP=MatMul TYPE=floats COUNT=one LEFT=turned RIGHT=straight,turned
 * variants: OP=MatMul TYPE=f32 COUNT=many LEFT=straight RIGHT=straight,turned ISA=base,v3,v4
 * variants: OP=MatMul TYPE=f64,halves COUNT=many LEFT=straight RIGHT=straight,turned ISA=base,v3
 * variants: OP=FusedMatMul TYPE=f32 COUNT=one LEFT=straight RIGHT=packed,straight,turned ISA=base,v3,v4
 * variants: OP=FusedMatMul TYPE=halves COUNT=one LEFT=straight RIGHT=packed,straight,turned ISA=base,v3
 */
#include "kernels/epilogue.h"

#define TURNED_straight 0
#define TURNED_packed	0
#define TURNED_turned	1
#define PACKED_straight 0
#define PACKED_turned	0
#define PACKED_packed	1

/* Rows of a are k elements long; with a turned a, this call's columns begin at a, and `columns` is the number of all
 * its columns. */
static ALWAYS_INLINE void multiply_matrices(const element *a, int64_t columns, const element *b, element *y, int64_t m,
					    int64_t k, int64_t n, number *room, number *sums,
					    const struct epilogue *epilogue)
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
				  .room = room,
				  .finish = FUSES ? finish_row : NULL,
				  .finish_context = epilogue};

	if (CONVERTED)
		multiply_converted(&product, y);
	else
		multiply(&product);
}

#if FUSES
#define ADDENDS		   const element *bias, const element *addend,
#define ADDENDS_TEXT	   ", in? bias " TEXT(TYPE) "[n], in? addend " MATRIX("m,n")
#define SCRATCH_PARAMETERS , int64_t activation, number *room, number *sums
#define SCRATCH                                                                                                        \
	, room, sums, &(const struct epilogue)                                                                         \
	{                                                                                                              \
		bias, addend, n, activation                                                                            \
	}
#define SCRATCH_TEXT ", activation i64 = attr(activation, 0)" ROOM_TEXT SUMS_TEXT("n")
#else
#define ADDENDS
#define ADDENDS_TEXT
#define SCRATCH_PARAMETERS , number *room, number *sums
#define SCRATCH		   , room, sums, NULL
#define SCRATCH_TEXT	   ROOM_TEXT SUMS_TEXT("n")
#endif
#include "kernels/matmul-forms.h"
