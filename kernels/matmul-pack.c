/* matmul-pack.c: PackMatMulB, which brings the right operand of MatMul into the order in which products read it: panels
 * of 64 bytes of numbers, all steps of k one after the other. Elements are identified by their size; those of 2 bytes
 * are computed in f32, so a panel also has 16 of them. The last panel is filled up with zeros. RIGHT=turned is
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

/* Steps of k for which all panels are packed before the next steps, so that rows are read from their starts to their
 * ends. A single panel takes one cache line out of each row, and rows are pages apart. */
enum { STEPS = 16 };

static void pack(const element *b, element *panels, int64_t k, int64_t n, int64_t panel, int64_t p)
{
	const int turned = JOIN(TURNED_, RIGHT);
	int64_t line = turned ? k : 1, step = turned ? 1 : n, column = panel * WIDTH;
	const element *from = b + column * line + p * step;

	if (!turned && column + WIDTH <= n)
		__builtin_memcpy(panels, from, WIDTH * sizeof(element));
	else
		for (int64_t i = 0; i < WIDTH; i++)
			panels[i] = column + i < n ? from[i * line] : 0;
}

void KERNEL(const element *b, element *panels, int64_t k, int64_t n, int64_t first, int64_t count)
{
	for (int64_t start = 0; start < k; start += STEPS)
		for (int64_t panel = 0; panel < count; panel++)
			for (int64_t p = start; p < start + STEPS && p < k; p++)
				pack(b, panels + (panel * k + p) * WIDTH, k, n, first + panel, p);
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
