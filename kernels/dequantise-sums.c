/* dequantise-sums.c: DequantizeSums, the values of sums of integer products: y = (sums + bias) * scale, with a bias and
 * a scale for each column, times one more scale for each row, plus one more number for each column. Integers of 8 bits
 * are the nearest ones.
 *
 * variants: OP=DequantizeSums TO=f32,halves,i8 ISA=base,v3
 */
#include "kernels/quantise.h"

typedef STORED(TO) to;

#if IS_FLOAT(TO)
#define RESULT(number) STORE(TO, number)
#else
#define RESULT(number) (to) quantise(number, 0, LEAST_OF(TO), MOST_OF(TO))
#endif

static inline __attribute__((always_inline)) void dequantise_loop(const int32_t *sums, const float *scale,
								  const int32_t *bias, float by, const float *plus,
								  to *y, int64_t n, int biased, int moves)
{
	INDEPENDENT
	for (int64_t i = 0; i < n; i++) {
		int32_t sum = biased ? (int32_t)((uint32_t)sums[i] + (uint32_t)bias[i]) : sums[i];
		float number = (float)sum * scale[i] * by;
		y[i] = RESULT(moves ? number + plus[i] : number);
	}
}

static inline void dequantise_row(const int32_t *sums, const float *scale, const int32_t *bias, float by,
				  const float *plus, to *y, int64_t n)
{
	if (bias)
		plus ? dequantise_loop(sums, scale, bias, by, plus, y, n, 1, 1)
		     : dequantise_loop(sums, scale, bias, by, plus, y, n, 1, 0);
	else
		plus ? dequantise_loop(sums, scale, bias, by, plus, y, n, 0, 1)
		     : dequantise_loop(sums, scale, bias, by, plus, y, n, 0, 0);
}

void KERNEL(const int32_t *sums, const float *scale, const int32_t *bias, const float *row_scale, const float *plus,
	    to *y, int64_t m, int64_t n)
{
	for (int64_t row = 0; row < m; row++)
		dequantise_row(sums + row * n, scale, bias, row_scale ? row_scale[row] : 1, plus, y + row * n, n);
}
SIGNATURE("split=m op=" TEXT(OP),
	  "in sums i32[m,n], in scale f32[n], in? bias i32[n], in? row_scale f32[m], in? plus f32[n], out y " TEXT(
		  TO) "[m,n], m i64, n i64");
