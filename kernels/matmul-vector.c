/* matmul-vector.c: MatMul and FusedMatMul with a vector on one side; the time is that of reading the matrix.
 *
 * SIDE=left: a [1,k]; SIDE=right: b [k,1]; the other one is a matrix, RIGHT as in matmul.c. Results are divided along
 * the remaining dimension, so that every core reads only its part of the matrix.
 *
 * variants: OP=MatMul TYPE=f32 SIDE=left RIGHT=packed,straight,turned ISA=base,v3,v4
 * variants: OP=MatMul TYPE=f32 SIDE=right RIGHT=straight ISA=base,v3,v4
 * variants: OP=MatMul TYPE=f64,halves SIDE=left RIGHT=packed,straight,turned ISA=base,v3
 * variants: OP=MatMul TYPE=f64,halves SIDE=right RIGHT=straight ISA=base,v3
 * variants: OP=FusedMatMul TYPE=f32 SIDE=left RIGHT=packed,straight,turned ISA=base,v3,v4
 * variants: OP=FusedMatMul TYPE=halves SIDE=left RIGHT=packed,straight,turned ISA=base,v3
 */
#include "kernels/epilogue.h"

#if FUSES
#define ADDENDS			    const element *bias, const element *addend,
#define ADDENDS_TEXT		    "in? bias " T "[n], in? addend " T "[n], "
#define ACTIVATION		    , int64_t activation
#define ACTIVATION_TEXT		    ", activation i64 = attr(activation, 0)"
#define EPILOGUE		    const struct epilogue epilogue = {bias, addend, 0, activation}
#define FINISH(sums, column, count) finish_row(&epilogue, sums, 0, column, count)
#else
#define ADDENDS
#define ADDENDS_TEXT
#define ACTIVATION
#define ACTIVATION_TEXT
#define EPILOGUE
#define FINISH(sums, column, count)
#endif

#define T		       TEXT(TYPE)
#define WAY_left_packed	       1
#define WAY_left_straight      2
#define WAY_left_turned	       3
#define WAY_right_straight     4
#define WAY_OF(side, right)    WAY_##side##_##right
#define WAY_NAMED(side, right) WAY_OF(side, right)
#define WAY		       WAY_NAMED(SIDE, RIGHT)

#if WAY == 1

/* Four sums for each column, of every fourth step. */
static ALWAYS_INLINE void multiply_panel(const number *a, const element *panel, size_t k, number *sums)
{
	enum { VECTORS = PANEL / LANES };
	vector sum[4][VECTORS] = {};
	number buffer[CONVERTED ? 4 * PANEL : 1];

	for (size_t p = 0; p < k; p += 4) {
		const number *step = as_numbers(panel + p * PANEL, least(4, k - p) * PANEL, buffer);
#pragma GCC unroll 4
		for (size_t i = 0; i < 4; i++) {
			if (p + i >= k)
				break;
			vector left = a[p + i] - (vector){};
#pragma GCC unroll 4
			for (int v = 0; v < VECTORS; v++)
				sum[i][v] = FUSED(left, load(step + i * PANEL + v * LANES), sum[i][v]);
		}
	}
#pragma GCC unroll 4
	for (int v = 0; v < VECTORS; v++)
		store(sums + v * LANES, (sum[0][v] + sum[1][v]) + (sum[2][v] + sum[3][v]));
}

void KERNEL(const element *a, const element *b, ADDENDS element *y, int64_t k, int64_t n, int64_t first,
	    number *converted ACTIVATION)
{
	EPILOGUE;
	const number *left = as_numbers(a, k, converted);

	for (int64_t column = 0; column < n; column += PANEL) {
		number sums[PANEL];
		multiply_panel(left, b + (first + column) * k, k, sums);
		FINISH(sums, column, least(PANEL, n - column));
		for (size_t i = 0; i < least(PANEL, n - column); i++)
			y[column + i] = STORE(TYPE, sums[i]);
	}
}
#define CONVERTED_f32  ", converted ptr = null"
#define CONVERTED_f64  ", converted ptr = null"
#define CONVERTED_f16  ", scratch converted f32[k]"
#define CONVERTED_bf16 ", scratch converted f32[k]"
SIGNATURE("split=n:16 operations=2*n*k op=" TEXT(OP) "(packed=1)",
	  "in a " T "[1,k], in b " T "[panels,k," PANEL_TEXT "], " ADDENDS_TEXT "out y " T
	  "[n], k i64, n i64, first i64 = begin(n)" JOIN(CONVERTED_, TYPE) ACTIVATION_TEXT);

#elif WAY == 2

/* Products of so many rows are added at a time, in order. */
enum { ROWS = 8 };

static ALWAYS_INLINE void add_rows(const element *row, size_t columns, const element *a, size_t rows, size_t count,
				   number *sums)
{
	number left[ROWS];
	size_t i = 0;

	for (size_t r = 0; r < rows; r++)
		left[r] = LOAD(TYPE, a[r]);
	if (!CONVERTED && rows == ROWS)
		for (; i + LANES <= count; i += LANES) {
			vector sum = load(sums + i);
#pragma GCC unroll 8
			for (int r = 0; r < ROWS; r++)
				sum = FUSED(left[r] - (vector){}, load((const number *)row + r * columns + i), sum);
			store(sums + i, sum);
		}
	for (size_t r = 0; r < rows; r++)
		for (size_t j = i; j < count; j++)
			sums[j] = FUSED_NUMBER(left[r], LOAD(TYPE, row[r * columns + j]), sums[j]);
}

void KERNEL(const element *a, const element *b, ADDENDS element *y, int64_t k, int64_t n, int64_t first,
	    int64_t columns ACTIVATION)
{
	EPILOGUE;

	for (int64_t strip = 0; strip < n; strip += STRIP) {
		number sums[STRIP];
		size_t count = least(STRIP, n - strip);
		const element *row = b + first + strip;

		for (size_t i = 0; i < count; i++)
			sums[i] = 0;
		for (int64_t p = 0; p < k; p += ROWS, row += ROWS * columns) {
			if (k - p >= ROWS)
				add_rows(row, columns, a + p, ROWS, count, sums);
			else
				add_rows(row, columns, a + p, k - p, count, sums);
		}
		FINISH(sums, strip, count);
		for (size_t i = 0; i < count; i++)
			y[strip + i] = STORE(TYPE, sums[i]);
	}
}
SIGNATURE("split=n:16 operations=2*n*k op=" TEXT(OP),
	  "in a " T "[1,k], in b " T "[k,columns], " ADDENDS_TEXT "out y " T
	  "[n], k i64, n i64, first i64 = begin(n), columns i64" ACTIVATION_TEXT);

#else

#if WAY == 3
void KERNEL(const element *a, const element *b, ADDENDS element *y, int64_t n, int64_t k ACTIVATION)
{
	EPILOGUE;

	for (int64_t strip = 0; strip < n; strip += STRIP) {
		number sums[STRIP];
		size_t count = least(STRIP, n - strip);

		for (size_t i = 0; i < count; i++)
			sums[i] = dot(a, b + (strip + i) * k, k);
		FINISH(sums, strip, count);
		for (size_t i = 0; i < count; i++)
			y[strip + i] = STORE(TYPE, sums[i]);
	}
}
SIGNATURE("split=n operations=2*n*k op=" TEXT(OP) "(transB=1)",
	  "in a " T "[1,k], in b " T "[n,k], " ADDENDS_TEXT "out y " T "[n], n i64, k i64" ACTIVATION_TEXT);
#else
void KERNEL(const element *a, const element *b, element *y, int64_t n, int64_t k)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = STORE(TYPE, dot(a + i * k, b, k));
}
SIGNATURE("split=m operations=2*m*k op=MatMul", "in a " T "[m,k], in b " T "[k,1], out y " T "[m,1], m i64, k i64");
#endif
#endif
