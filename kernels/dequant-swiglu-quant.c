/* dequant-swiglu-quant.c: DequantSwigluQuant, rows of two halves that are dequantised, gated and quantised again. The
 * number of an element of x [m,2,h] is (x + before) * columns * elements * row_scale + after, with each factor and
 * addend that is present; `before` is for integers only. z = swish(one half) * other half: the left half is activated
 * with left=1, else the right one.
 *
 * With dynamic=1, z * quant_scale becomes integers from -127 to 127 times a scale for each row, which is 0 for a row of
 * zeros. Otherwise y = z / quant_scale + quant_offset, to the nearest integer, ties to even, from -128 to 127, and
 * `scale` is 0.
 *
 * variants: OP=DequantSwigluQuant FROM=f32,halves,i32 ISA=base,v3
 */
#include "kernels/quantise.h"

#define TYPE f32
typedef float number;
#include "kernels/activate.h"

typedef STORED(FROM) from;

static inline void multiply(float *numbers, const float *by, int64_t n)
{
	INDEPENDENT
	for (int64_t i = 0; i < n; i++)
		numbers[i] *= by[i];
}

static inline void dequantise(const from *x, const int32_t *before, float *numbers, int64_t n)
{
#if !IS_FLOAT(FROM)
	if (before) {
		INDEPENDENT
		for (int64_t i = 0; i < n; i++)
			numbers[i] = (float)(int32_t)((uint32_t)x[i] + (uint32_t)before[i]);
		return;
	}
#else
	(void)before;
#endif
	INDEPENDENT
	for (int64_t i = 0; i < n; i++)
		numbers[i] = (float)LOAD(FROM, x[i]);
}

static inline void quantise_by(const float *z, const float *scale, const float *offset, int8_t *y, int64_t h)
{
	INDEPENDENT
	for (int64_t i = 0; i < h; i++) {
		float quotient = scale ? z[i] / scale[i] : z[i];
		y[i] = (int8_t)quantise(offset ? quotient + offset[i] : quotient, 0, -128, 127);
	}
}

void KERNEL(const from *x, const float *columns, const float *elements, const float *row_scale, const int32_t *before,
	    const float *after, const float *quant_scale, const float *quant_offset, int8_t *y, float *scale, int64_t m,
	    int64_t h, int64_t left, int64_t dynamic, float *numbers)
{
	const int64_t n = 2 * h;
	const float *activated = numbers + (left ? 0 : h), *gated = numbers + (left ? h : 0);
	float *z = numbers;

	for (int64_t row = 0; row < m; row++) {
		dequantise(x + row * n, before, numbers, n);
		if (columns)
			multiply(numbers, columns, n);
		if (elements)
			multiply(numbers, elements + row * n, n);
		for (int64_t i = 0; row_scale && i < n; i++)
			numbers[i] *= row_scale[row];
		for (int64_t i = 0; after && i < n; i++)
			numbers[i] += after[i];
		INDEPENDENT
		for (int64_t i = 0; i < h; i++)
			z[i] = swish(activated[i], 1) * gated[i];
		if (dynamic && quant_scale)
			multiply(z, quant_scale, h);
		if (dynamic)
			quantise_numbers(z, y ? y + row * h : NULL, scale ? scale + row : NULL, h);
		else if (y)
			quantise_by(z, quant_scale, quant_offset, y + row * h, h);
		if (scale && !dynamic)
			scale[row] = 0;
	}
}
SIGNATURE("split=m op=" TEXT(OP),
	  "in x " TEXT(FROM) "[m,2,h], in? columns f32[2,h], in? elements f32[m,2,h], in? row_scale f32[m], in? before "
			     "i32[2,h], in? after f32[2,h], in? quant_scale f32[h], in? quant_offset f32[h], out? y "
			     "i8[m,h], out? scale f32[m], m i64, h i64, left i64 = attr(activate_left, 0), dynamic i64 "
			     "= attr(dynamic, 0), scratch numbers f32[2*h]");
