/* matmul-quads.c: MatMulInteger as in matmul-integer.c, for processors that multiply four unsigned bytes by four signed
 * ones and add the products. The core of product.h therefore computes with quads as its numbers: of neighbours in a row
 * of a, which are made unsigned, or in a column of b, which are made signed. With the adjusted zero points,
 *
 *	sum (a - az) (b - bz) = sum a b - az sum b - bz (sum a - k az)
 *
 * ORDER=packed has packed=1, and b in panels of quads already.
 *
 * variants: OP=MatMulInteger TYPE=i32 LEFT=u8,i8 RIGHT=u8,i8 ZEROS=one,columns ORDER=straight ISA=vnni
 * variants: OP=MatMulInteger TYPE=i32 LEFT=u8,i8 RIGHT=i8 ZEROS=one,columns ORDER=packed ISA=vnni
 */
#include "kernels/x86_64-quads.h"

#include "kernels/product.h"

typedef STORED(LEFT) left_element;
typedef STORED(RIGHT) right_element;

/* Conversion between signed and unsigned bytes; the zero point moves by the same distance. */
enum {
	LEFT_FLIP = IS_SIGNED(LEFT) ? 0x80 : 0,
	LEFT_MOVE = IS_SIGNED(LEFT) ? 128 : 0,
	RIGHT_FLIP = IS_SIGNED(RIGHT) ? 0 : 0x80,
	RIGHT_MOVE = IS_SIGNED(RIGHT) ? 0 : -128,
};

/* Make the quads of a row, a last one filled up with zeros; return the sum of the bytes. */
static ALWAYS_INLINE int32_t take_row(const left_element *row, size_t k, uint8_t *quads)
{
	int32_t sum = 0;

	for (size_t p = 0; p < k; p++) {
		quads[p] = (uint8_t)row[p] ^ LEFT_FLIP;
		sum += quads[p];
	}
	for (size_t p = k; p % 4; p++)
		quads[p] = 0;
	return sum;
}

struct bytes {
	const right_element *at;
	size_t k, n;
	int32_t *sums; /* of each column; the numbers that go into panels are added to them */
};

static ALWAYS_INLINE uint32_t byte_of(const right_element *row, size_t column)
{
	return (uint8_t)row[column] ^ RIGHT_FLIP;
}

/* Make columns of four rows. The rows from `rows` on do not exist. */
static ALWAYS_INLINE void take_quads(const right_element *row, size_t n, size_t rows, size_t columns, int32_t *quads)
{
	if (rows >= 4 && columns == PANEL) {
		for (size_t i = 0; i < PANEL; i++)
			quads[i] = (int32_t)(byte_of(row, i) | byte_of(row + n, i) << 8 |
					     byte_of(row + 2 * n, i) << 16 | byte_of(row + 3 * n, i) << 24);
		return;
	}
	for (size_t i = 0; i < PANEL; i++) {
		uint32_t quad = 0;
		for (size_t j = 0; j < 4 && j < rows && i < columns; j++)
			quad |= byte_of(row + j * n, i) << 8 * j;
		quads[i] = (int32_t)quad;
	}
}

static ALWAYS_INLINE struct panels panels_of_bytes(const void *context, size_t step, size_t depth, size_t column,
						   size_t columns, int32_t *room)
{
	const vector ones = 0x01010101 - (vector){};
	const struct bytes *b = context;

	for (size_t first = 0; first < columns; first += PANEL) {
		size_t own = least(PANEL, columns - first);
		int32_t *to = room + first * depth, *sums = b->sums + column + first;
		vector sum = {};
		for (size_t p = step; p < step + depth; p++, to += PANEL) {
			take_quads(b->at + 4 * p * b->n + column + first, b->n, b->k - 4 * p, own, to);
			sum = ADD_PAIRS(ones, load(to), sum);
		}
		for (size_t i = 0; i < own; i++)
			sums[i] += sum[i];
	}
	return panels_in(room, depth);
}

/* A packed b is read in place. */
static ALWAYS_INLINE struct panels panels_of_quads(const void *context, size_t step, size_t depth, size_t column,
						   size_t columns, int32_t *room)
{
	const vector ones = 0x01010101 - (vector){};
	const struct bytes *b = context;
	const int32_t *panels = (const int32_t *)(b->at + column * b->k) + step * PANEL;

	(void)room;
	for (size_t first = 0; first < columns; first += PANEL) {
		const int32_t *panel = panels + first / 4 * b->k;
		vector sum = {};
		for (size_t p = 0; p < depth; p++)
			sum = ADD_PAIRS(ones, load(panel + p * PANEL), sum);
		store(b->sums + column + first, load(b->sums + column + first) + sum);
	}
	return (struct panels){panels, b->k / 4 * PANEL, PANEL, panels + GROUP_COLUMNS * (b->k / 4), 64, b->k * 16};
}

#define PACKED_straight 0
#define PACKED_packed	1
#define STEP_one	0
#define STEP_columns	1

/* Subtract the zero points' part from a row of products. */
static ALWAYS_INLINE void correct_row(const struct bytes *b, int32_t az, const right_element *zeros, int32_t rest,
				      int32_t *y)
{
	for (size_t i = 0; i < b->n; i++) {
		int32_t bz = (zeros ? zeros[i * JOIN(STEP_, ZEROS)] : 0) + RIGHT_MOVE;
		y[i] -= az * b->sums[i] + bz * rest;
	}
}

void KERNEL(const left_element *a, const right_element *b, const left_element *az, const right_element *bz, int32_t *y,
	    int64_t m, int64_t k, int64_t n, int32_t *room, int32_t *wide, int32_t *sums)
{
	const int32_t zero = (az ? *az : 0) + LEFT_MOVE;
	size_t quads = (k + 3) / 4, block = equal_parts(m, BLOCK_ROWS);
	struct bytes bytes = {b, k, n, sums};

	for (size_t top = 0; top < (size_t)m; top += block) {
		size_t rows = least(block, m - top);
		int32_t row_sums[BLOCK_ROWS];
		struct product product = {.m = rows,
					  .n = n,
					  .k = quads,
					  .a = {wide, quads, 1},
					  .b = &bytes,
					  .panels = JOIN(PACKED_, ORDER) ? panels_of_quads : panels_of_bytes,
					  .c = y + top * n,
					  .c_row = n,
					  .room = room};
		for (size_t i = 0; i < (size_t)n; i++)
			sums[i] = 0;
		for (size_t row = 0; row < rows; row++)
			row_sums[row] = take_row(a + (top + row) * k, k, (uint8_t *)(wide + row * quads));
		multiply(&product);
		for (size_t row = 0; row < rows; row++)
			correct_row(&bytes, zero, bz, row_sums[row] - (int32_t)k * zero, y + (top + row) * n);
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
			 ", scratch wide i32[" TEXT(BLOCK_ROWS) "*((k+3)/4)], scratch sums i32[n]");
