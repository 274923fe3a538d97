/* dequant_swiglu_quant: scales a bfloat16 matrix, applies SwiGLU, and quantises each row to int8 with a scale of its
 * own.
 *
 *   v[i][j] = (float)x[i][j] * weight_scale[i][j]
 *   z[i][j] = v[i][j] * swish(v[i][h + j])            for j < h = n / 2, with swish(v) = v / (1 + exp(-v))
 *   scale[i] = max over j of |z[i][j]| / 127
 *   y[i][j] = z[i][j] / scale[i], rounded to nearest, ties to even; 0 in a row that is 0 (all below 1e-30)
 *
 * Each row is computed by itself, so the kernel is `split=m`. A signature cannot say that n is 2 * h; the kernel sees
 * to it and returns a status, which ends the launch with an error that names the task. */
#include <math.h>
#include <string.h>

#include "skkernel.h"

SK_KERNEL(dequant_swiglu_quant, "split=m; in x bf16[m,n], in weight_scale f32[m,n], out y i8[m,h], out scale f32[m], "
				"m i64, n i64, h i64 -> status");

/* A float of this size has no fraction bits: adding and subtracting it rounds to the nearest integer. */
static const float round_to_integer = 12582912.0f;

static float from_bf16(uint16_t value)
{
	uint32_t bits = (uint32_t)value << 16;
	float result;

	memcpy(&result, &bits, sizeof(result));
	return result;
}

/* exp(x) as 2^n * exp(r) with |r| <= log(2) / 2; relative error below 1e-7. Beyond the range of float the result is the
 * one at its border, close to the smallest and largest normal number. The library's expf differs in its last bit from
 * one processor to another; this one gives the same everywhere. */
static float exponential(float x)
{
	x = x < -87.0f ? -87.0f : x;
	x = x > 88.0f ? 88.0f : x;

	float n = (x * 1.44269504f + round_to_integer) - round_to_integer;
	float r = (x - n * 0.693359375f) + n * 2.12194440e-4f; /* log(2) in two parts: n times the first is exact */
	float p = 1.0f / 5040;

	p = p * r + 1.0f / 720;
	p = p * r + 1.0f / 120;
	p = p * r + 1.0f / 24;
	p = p * r + 1.0f / 6;
	p = p * r + 0.5f;
	p = p * r * r + r + 1.0f;

	uint32_t bits = (uint32_t)((int32_t)n + 127) << 23;
	float power;

	memcpy(&power, &bits, sizeof(power));
	return p * power;
}

/* One element of z. Both loops over a row compute it, which is cheaper than a row of floats in memory. */
static float swiglu(uint16_t left, float left_scale, uint16_t right, float right_scale)
{
	float gate = from_bf16(right) * right_scale;

	return from_bf16(left) * left_scale * (gate / (1.0f + exponential(-gate)));
}

int dequant_swiglu_quant(const uint16_t *restrict x, const float *restrict weight_scale, int8_t *restrict y,
			 float *restrict scale, int64_t m, int64_t n, int64_t h)
{
	if (n != 2 * h)
		return 1;
	for (int64_t i = 0; i < m; i++) {
		const uint16_t *left = x + i * n, *right = left + h;
		const float *left_scale = weight_scale + i * n, *right_scale = left_scale + h;
		float largest = 0;

		for (int64_t j = 0; j < h; j++) {
			float z = fabsf(swiglu(left[j], left_scale[j], right[j], right_scale[j]));

			largest = z > largest ? z : largest;
		}

		float factor = largest > 1e-30f ? 127.0f / largest : 0; /* 127 / largest must not overflow */

		for (int64_t j = 0; j < h; j++) {
			float z = swiglu(left[j], left_scale[j], right[j], right_scale[j]) * factor;

			y[i * h + j] = (int8_t)(int32_t)((z + round_to_integer) - round_to_integer);
		}
		scale[i] = largest / 127.0f;
	}
	return 0;
}
