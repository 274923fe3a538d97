/* matmul-pack.c: PackMatMulB, which brings the right operand of MatMul into the order in which products read it: panels
 * of 64 bytes of numbers, all steps of k behind each other. Elements are told by their size; those of 2 bytes are
 * computed with as f32, so they have 16 to a panel, too. The last panel is filled up with zeros. RIGHT=turned is
 * transB=1.
 *
 * variants: OP=PackMatMulB TYPE=u16,u32,u64 RIGHT=straight,turned
 */
#include "kernels/family.h"

#include <stddef.h>

typedef STORED(TYPE) element;

#define TURNED_straight 0
#define TURNED_turned	1
enum { WIDTH = sizeof(element) == 8 ? 8 : 16 };

void KERNEL(const element *b, element *panels, int64_t k, int64_t n, int64_t first, int64_t count)
{
	const int turned = JOIN(TURNED_, RIGHT);
	int64_t line = turned ? k : 1, step = turned ? 1 : n;

	for (int64_t panel = first; panel < first + count; panel++)
		for (int64_t p = 0; p < k; p++)
			for (int64_t i = 0; i < WIDTH; i++) {
				int64_t column = panel * WIDTH + i;
				*panels++ = column < n ? b[column * line + p * step] : 0;
			}
}

#define WIDTH_u16	    "16"
#define WIDTH_u32	    "16"
#define WIDTH_u64	    "8"
#define MATRIX_straight	    TEXT(TYPE) "[k,n]"
#define MATRIX_turned	    TEXT(TYPE) "[n,k]"
#define CONDITIONS_straight ""
#define CONDITIONS_turned   "(transB=1)"
#define MATRIX_OF(right)    MATRIX_##right
#define MATRIX(right)	    MATRIX_OF(right)
SIGNATURE("split=count op=PackMatMulB" JOIN(CONDITIONS_, RIGHT),
	  "in b " MATRIX(RIGHT) ", out panels " TEXT(TYPE) "[count,k," JOIN(
		  WIDTH_, TYPE) "], k i64, n i64, first i64 = begin(count), count i64");
