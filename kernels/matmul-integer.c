/* matmul-integer.c: MatMulInteger, y = (a - az) (b - bz), of bytes, in 32 bits. There is one zero point, or 0 if it is
 * absent; with ZEROS=columns, bz is a number for each column.
 *
 * Differences fit into 16 bits, and processors multiply and add pairs of these. The core of product.h therefore
 * computes with pairs as its numbers: of neighbours in a row of a, or in a column of b.
 *
 * ORDER=packed has packed=1, and b in panels of quads: of 16 columns, with four rows of each side by side.
 *
 * variants: OP=MatMulInteger TYPE=i32 LEFT=u8,i8 RIGHT=u8,i8 ZEROS=one,columns ORDER=straight ISA=base,v3,v4
 * variants: OP=MatMulInteger TYPE=i32 LEFT=u8,i8 RIGHT=i8 ZEROS=one,columns ORDER=packed ISA=base,v3,v4
 */
#define ADDS_PAIRS
#include "kernels/product.h"

typedef STORED(LEFT) left_element;
typedef STORED(RIGHT) right_element;

static ALWAYS_INLINE int32_t pair_of(int32_t low, int32_t high)
{
	return (int32_t)((uint32_t)(uint16_t)low | (uint32_t)high << 16);
}

/* Make the pairs of a row; a single last one has a 0 beside it. */
static ALWAYS_INLINE void widen_row(const left_element *row, int64_t k, int32_t zero, int32_t *pairs)
{
	for (int64_t p = 0; p < k / 2; p++)
		pairs[p] = pair_of(row[2 * p] - zero, row[2 * p + 1] - zero);
	if (k % 2)
		pairs[k / 2] = pair_of(row[k - 1] - zero, 0);
}

struct bytes {
	const right_element *at, *zeros;
	int64_t k, n, zeros_step; /* from the zero point of a column to the next */
};

static ALWAYS_INLINE void pair_columns(const right_element *low, const right_element *high, const int32_t *zeros,
				       size_t columns, int32_t *pairs)
{
	for (size_t i = 0; i < columns; i++)
		pairs[i] = pair_of(low[i] - zeros[i], high ? high[i] - zeros[i] : 0);
	for (size_t i = columns; i < PANEL; i++)
		pairs[i] = 0;
}

static ALWAYS_INLINE struct panels panels_of_bytes(const void *context, size_t step, size_t depth, size_t column,
						   size_t columns, int32_t *room)
{
	const struct bytes *b = context;

	for (size_t first = 0; first < columns; first += PANEL) {
		int32_t zeros[PANEL], *to = room + first * depth;
		size_t own = least(PANEL, columns - first);
		for (size_t i = 0; i < own; i++)
			zeros[i] = b->zeros ? b->zeros[(column + first + i) * b->zeros_step] : 0;
		for (size_t p = step; p < step + depth; p++, to += PANEL) {
			const right_element *low = b->at + 2 * p * b->n + column + first;
			pair_columns(low, 2 * p + 1 < (size_t)b->k ? low + b->n : 0, zeros, own, to);
		}
	}
	return panels_in(room, depth);
}

/* The same with a packed b: pair p is one half of quad p / 2. */
static ALWAYS_INLINE struct panels panels_of_quads(const void *context, size_t step, size_t depth, size_t column,
						   size_t columns, int32_t *room)
{
	const struct bytes *b = context;

	for (size_t first = 0; first < columns; first += PANEL) {
		const right_element *panel = b->at + (column + first) * b->k;
		int32_t zeros[PANEL], *to = room + first * depth;
		for (size_t i = 0; i < PANEL; i++)
			zeros[i] = b->zeros ? b->zeros[(column + first + i) * b->zeros_step] : 0;
		for (size_t p = step; p < step + depth; p++, to += PANEL) {
			const right_element *pair = panel + p / 2 * 4 * PANEL + p % 2 * 2;
			for (size_t i = 0; i < PANEL; i++)
				to[i] = pair_of(pair[4 * i] - zeros[i], pair[4 * i + 1] - zeros[i]);
		}
	}
	return panels_in(room, depth);
}

#define PACKED_straight 0
#define PACKED_packed	1
#define STEP_one	0
#define STEP_columns	1
void KERNEL(const left_element *a, const right_element *b, const left_element *az, const right_element *bz, int32_t *y,
	    int64_t m, int64_t k, int64_t n, int32_t *room, int32_t *wide)
{
	struct bytes bytes = {b, bz, k, n, JOIN(STEP_, ZEROS)};
	size_t pairs = (k + 1) / 2, block = equal_parts(m, BLOCK_ROWS);

	for (size_t top = 0; top < (size_t)m; top += block) {
		size_t rows = least(block, m - top);
		struct product product = {.m = rows,
					  .n = n,
					  .k = pairs,
					  .a = {wide, pairs, 1},
					  .b = &bytes,
					  .panels = JOIN(PACKED_, ORDER) ? panels_of_quads : panels_of_bytes,
					  .c = y + top * n,
					  .c_row = n,
					  .room = room};
		for (size_t row = 0; row < rows; row++)
			widen_row(a + (top + row) * k, k, az ? *az : 0, wide + row * pairs);
		multiply(&product);
	}
}
#define ZEROS_one	    "in? bz " TEXT(RIGHT) "[1]"
#define ZEROS_columns	    "in bz " TEXT(RIGHT) "[n]"
#define ZEROS_OF(zeros)	    ZEROS_##zeros
#define ZEROS_NAMED(zeros)  ZEROS_OF(zeros)
#define CONDITIONS_straight ""
#define CONDITIONS_packed   "(packed=1)"
#define B_straight	    TEXT(RIGHT) "[k,n]"
#define B_packed	    TEXT(RIGHT) "[panels,quads,64]"
SIGNATURE("split=m operations=2*m*n*k op=MatMulInteger" JOIN(CONDITIONS_, ORDER),
	  "in a " TEXT(LEFT) "[m,k], in b " JOIN(B_, ORDER) ", in? az " TEXT(LEFT) "[1], " ZEROS_NAMED(
		  ZEROS) ", out y i32[m,n], m i64, k i64, n i64" ROOM_TEXT
			 ", scratch wide i32[" TEXT(BLOCK_ROWS) "*((k+1)/2)]");
