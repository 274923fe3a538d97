/* requantise.c: Requantize, the 32-bit results of integer products and convolutions as few bits: y = (sums + bias) *
 * (a_scale * b_scale / y_scale) + y_zero.
 *
 * FORM=tensor has one scale of b and no bias. Rows have a scale of b each (FORM=rows), or one for all (FORM=bias); k of
 * them follow each other as in quantise.c. FORM=columns has a scale of b for each column, and no bias.
 *
 * variants: OP=Requantize TO=u8,i8 FORM=tensor,rows,bias,columns ISA=base,v3
 */
#include "kernels/quantise.h"

typedef STORED(TO) to;

static inline void requantise_row(const int32_t *sums, int32_t bias, float scale, int32_t zero, to *y, int64_t n)
{
	INDEPENDENT
	for (int64_t i = 0; i < n; i++) {
		int32_t sum = (int32_t)((uint32_t)sums[i] + (uint32_t)bias);
		y[i] = (to)quantise((float)sum * scale, zero, LEAST_OF(TO), MOST_OF(TO));
	}
}

#define T	     TEXT(TO)
#define KIND_tensor  0
#define KIND_rows    1
#define KIND_bias    2
#define KIND_columns 3
#define KIND	     JOIN(KIND_, FORM)
#if KIND == 3
enum { STRIP = 256 }; /* columns with factors computed at a time */

static inline void requantise_columns(const int32_t *sums, const float *factors, int32_t zero, to *y, int64_t n)
{
	INDEPENDENT
	for (int64_t i = 0; i < n; i++)
		y[i] = (to)quantise((float)sums[i] * factors[i], zero, LEAST_OF(TO), MOST_OF(TO));
}

void KERNEL(const int32_t *sums, const float *a_scale, const float *b_scales, const float *y_scale, const to *zero,
	    to *y, int64_t rows, int64_t n)
{
	for (int64_t column = 0; column < n; column += STRIP) {
		int64_t columns = n - column < STRIP ? n - column : STRIP;
		float factors[STRIP];
		for (int64_t i = 0; i < columns; i++)
			factors[i] = *a_scale * b_scales[column + i] / *y_scale;
		for (int64_t row = 0; row < rows; row++)
			requantise_columns(sums + row * n + column, factors, *zero, y + row * n + column, columns);
	}
}
SIGNATURE("split=rows op=Requantize(form=columns)",
	  "in sums i32[rows,n], in a_scale f32[1], in b_scales f32[n], in y_scale f32[1], in zero " T "[1], out y " T
	  "[rows,n], rows i64, n i64");
#elif KIND == 0
void KERNEL(const int32_t *sums, const float *a_scale, const float *b_scale, const float *y_scale, const to *zero,
	    to *y, int64_t n)
{
	requantise_row(sums, 0, *a_scale * *b_scale / *y_scale, *zero, y, n);
}
SIGNATURE("split=n op=Requantize", "in sums i32[n], in a_scale f32[1], in b_scale f32[1], in y_scale f32[1], in zero " T
				   "[1], out y " T "[n], n i64");
#else
void KERNEL(const int32_t *sums, const float *a_scale, const float *b_scales, const float *y_scale, const to *zero,
	    const int32_t *biases, to *y, int64_t rows, int64_t n, int64_t k, int64_t first)
{
	for (int64_t row = 0; row < rows; row++) {
		int64_t at = (first + row) % k;
		requantise_row(sums + row * n, biases ? biases[at] : 0,
			       *a_scale * b_scales[KIND == 1 ? at : 0] / *y_scale, *zero, y + row * n, n);
	}
}
#if KIND == 1
#define SCALES "in b_scales f32[k]"
#define BIASES "in? biases i32[k]"
#else
#define SCALES "in b_scale f32[1]"
#define BIASES "in biases i32[k]"
#endif
SIGNATURE("split=rows op=Requantize",
	  "in sums i32[rows,n], in a_scale f32[1], " SCALES ", in y_scale f32[1], in zero " T "[1], " BIASES
	  ", out y " T "[rows,n], rows i64, n i64, k i64, first i64 = begin(rows)");
#endif
