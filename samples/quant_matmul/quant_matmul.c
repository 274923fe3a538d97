/* quant_matmul: an int8 matrix product with its scales, rounded to bfloat16.
 *
 *   y[i][j] = bf16((float)(sum over p of x1[i][p] * x2[j][p]) * channel_scale[j] * token_scale[i])
 *
 * x1 holds one token a row, x2 one output channel a row, so both are read along k. The sums are exact in 32 bits for k
 * up to 131,071, hence their order is free and the result is the same however the rows are cut: the kernel is
 * `split=m`.
 *
 * Blocks of x1 and x2 are widened to 16 bits in the core's scratch, where they stay in the second-level cache; the
 * inner loop then multiplies pairs of 16-bit numbers, for which x86-64 (pmaddwd) and AArch64 (smlal) have instructions
 * that the compiler finds by itself. */
#include <string.h>

#include "skkernel.h"

enum {
	ROWS = 64, /* of x1 in a block, a multiple of TILE_ROWS */
	COLUMNS = 64, /* rows of x2 in a block, a multiple of TILE_COLUMNS */
	DEPTH = 512, /* of the blocks along k, a multiple of STEP */
	STEP = 16, /* depths are filled up with zeros to a multiple of this, which spares the inner loop a tail */
	TILE_ROWS = 2,
	TILE_COLUMNS = 4,
};

struct blocks {
	int16_t x1[ROWS][DEPTH];
	int16_t x2[COLUMNS][DEPTH];
	int32_t sums[ROWS][COLUMNS];
};

_Static_assert(sizeof(struct blocks) == 147456, "the signature below says how large the scratch is");
SK_KERNEL(quant_matmul,
	  "split=m; in x1 i8[m,k], in x2 i8[n,k], in channel_scale f32[n], in token_scale f32[m], out y bf16[m,n], "
	  "m i64, n i64, k i64, scratch blocks[147456]");

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t round_up(int64_t value, int64_t multiple)
{
	return (value + multiple - 1) / multiple * multiple;
}

/* Copies a block of `rows` rows and `depth` columns out of a matrix with rows of k. Each row is followed by zeros up to
 * a multiple of STEP, and the rows by rows of zeros up to padded_rows. */
static void widen(const int8_t *matrix, int64_t k, int64_t rows, int64_t padded_rows, int64_t depth,
		  int16_t (*block)[DEPTH])
{
	int64_t padded_depth = round_up(depth, STEP);

	for (int64_t row = 0; row < rows; row++) {
		for (int64_t p = 0; p < depth; p++)
			block[row][p] = matrix[row * k + p];
		for (int64_t p = depth; p < padded_depth; p++)
			block[row][p] = 0;
	}
	for (int64_t row = rows; row < padded_rows; row++)
		for (int64_t p = 0; p < padded_depth; p++)
			block[row][p] = 0;
}

/* Adds the products of TILE_ROWS rows of x1 and TILE_COLUMNS rows of x2 to their sums, rows of COLUMNS. Sixteen vector
 * registers hold the eight running sums and six rows. */
static void multiply_tile(const int16_t (*restrict x1)[DEPTH], const int16_t (*restrict x2)[DEPTH], int64_t depth,
			  int32_t *restrict sums)
{
	int32_t s00 = 0, s01 = 0, s02 = 0, s03 = 0;
	int32_t s10 = 0, s11 = 0, s12 = 0, s13 = 0;

	for (int64_t p = 0; p < depth; p++) {
		s00 += x1[0][p] * x2[0][p];
		s01 += x1[0][p] * x2[1][p];
		s02 += x1[0][p] * x2[2][p];
		s03 += x1[0][p] * x2[3][p];
		s10 += x1[1][p] * x2[0][p];
		s11 += x1[1][p] * x2[1][p];
		s12 += x1[1][p] * x2[2][p];
		s13 += x1[1][p] * x2[3][p];
	}
	sums[0] += s00;
	sums[1] += s01;
	sums[2] += s02;
	sums[3] += s03;
	sums[COLUMNS + 0] += s10;
	sums[COLUMNS + 1] += s11;
	sums[COLUMNS + 2] += s12;
	sums[COLUMNS + 3] += s13;
}

/* Rounds to the nearest bfloat16, ties to even; a NaN stays one. */
static uint16_t to_bf16(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	if ((bits & 0x7fffffff) > 0x7f800000)
		return (uint16_t)(bits >> 16 | 0x40);
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* One block of sums over the whole of k. */
static void multiply_block(const int8_t *x1, const int8_t *x2, int64_t rows, int64_t columns, int64_t k,
			   struct blocks *blocks)
{
	int64_t padded_rows = round_up(rows, TILE_ROWS), padded_columns = round_up(columns, TILE_COLUMNS);

	for (int64_t row = 0; row < padded_rows; row++)
		for (int64_t column = 0; column < padded_columns; column++)
			blocks->sums[row][column] = 0;
	for (int64_t p = 0; p < k; p += DEPTH) {
		int64_t depth = smaller(DEPTH, k - p);

		widen(x1 + p, k, rows, padded_rows, depth, blocks->x1);
		widen(x2 + p, k, columns, padded_columns, depth, blocks->x2);
		for (int64_t column = 0; column < columns; column += TILE_COLUMNS)
			for (int64_t row = 0; row < rows; row += TILE_ROWS)
				multiply_tile(&blocks->x1[row], &blocks->x2[column], round_up(depth, STEP),
					      &blocks->sums[row][column]);
	}
}

void quant_matmul(const int8_t *x1, const int8_t *x2, const float *channel_scale, const float *token_scale, uint16_t *y,
		  int64_t m, int64_t n, int64_t k, struct blocks *blocks)
{
	for (int64_t i = 0; i < m; i += ROWS) {
		int64_t rows = smaller(ROWS, m - i);

		for (int64_t j = 0; j < n; j += COLUMNS) {
			int64_t columns = smaller(COLUMNS, n - j);

			multiply_block(x1 + i * k, x2 + j * k, rows, columns, k, blocks);
			for (int64_t row = 0; row < rows; row++)
				for (int64_t column = 0; column < columns; column++)
					y[(i + row) * n + j + column] =
						to_bf16((float)blocks->sums[row][column] * channel_scale[j + column] *
							token_scale[i + row]);
		}
	}
}
