/* dequantise-sums.c: DequantizeSums, the values of sums of integer products: y = (sums + bias) * scale, with a bias and
 * a scale for each column, times one more scale for each row.
 *
 * variants: OP=DequantizeSums TO=f32,halves ISA=base,v3
 */
#include "kernels/family.h"

typedef STORED(TO) to;

static inline void dequantise_row(const int32_t *sums, const float *scale, const int32_t *bias, float by, to *y,
				  int64_t n)
{
	if (bias) {
		INDEPENDENT
		for (int64_t i = 0; i < n; i++)
			y[i] = STORE(TO, (float)(int32_t)((uint32_t)sums[i] + (uint32_t)bias[i]) * scale[i] * by);
	} else {
		INDEPENDENT
		for (int64_t i = 0; i < n; i++)
			y[i] = STORE(TO, (float)sums[i] * scale[i] * by);
	}
}

void KERNEL(const int32_t *sums, const float *scale, const int32_t *bias, const float *row_scale, to *y, int64_t m,
	    int64_t n)
{
	for (int64_t row = 0; row < m; row++)
		dequantise_row(sums + row * n, scale, bias, row_scale ? row_scale[row] : 1, y + row * n, n);
}
SIGNATURE("split=m op=" TEXT(OP),
	  "in sums i32[m,n], in scale f32[n], in? bias i32[n], in? row_scale f32[m], out y " TEXT(
		  TO) "[m,n], m i64, n i64");
