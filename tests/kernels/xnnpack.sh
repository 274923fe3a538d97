#!/bin/bash
# Microkernels with XNNPACK's interfaces (its headers vbinary.h, gemm.h, igemm.h, dwconv.h, maxpool.h): element counts
# are in bytes, bounds come in a struct, rows by tables of addresses, and a register tile of a matrix product works on
# packed weights.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/kernels.sh"

cat >xnnpack.c <<'C'
#include <stddef.h>
#include <string.h>

struct xnn_f32_minmax_params {
	float min, max;
};

static float clamp(float x, const struct xnn_f32_minmax_params *params)
{
	x = x < params->min ? params->min : x;
	return x > params->max ? params->max : x;
}

void xnn_f32_vadd_minmax_ukernel__scalar_x1(size_t batch, const float *a, const float *b, float *y,
					    const struct xnn_f32_minmax_params params[1])
{
	for (; batch; batch -= sizeof(float))
		*y++ = clamp(*a++ + *b++, params);
}

/* c of mr <= 4 rows and nc columns; w holds for 8 columns each their biases, then kc/4 rows of their weights. */
void xnn_f32_gemm_minmax_ukernel_4x8__scalar(size_t mr, size_t nc, size_t kc, const float *a, size_t a_stride, const float *w,
					     float *c, size_t cm_stride, size_t cn_stride,
					     const struct xnn_f32_minmax_params params[1])
{
	const size_t k = kc / sizeof(float);

	for (;;) {
		float tile[4][8];
		for (size_t i = 0; i < mr; i++) {
			const float *row = (const float *)((const char *)a + i * a_stride);
			memcpy(tile[i], w, sizeof(tile[i]));
			for (size_t l = 0; l < k; l++)
				for (size_t j = 0; j < 8; j++)
					tile[i][j] += row[l] * w[8 + 8 * l + j];
			for (size_t j = 0; j < (nc < 8 ? nc : 8); j++)
				((float *)((char *)c + i * cm_stride))[j] = clamp(tile[i][j], params);
		}
		if (nc <= 8)
			return;
		nc -= 8;
		w += 8 * (k + 1);
		c = (float *)((char *)c + cn_stride);
	}
}

/* The same of rows that a table leads to: for each tap 4 of them, for kc/4 weights each. */
void xnn_f32_igemm_minmax_ukernel_4x8__scalar(size_t mr, size_t nc, size_t kc, size_t ks, const float **a, const float *w, float *c,
					      size_t cm_stride, size_t cn_stride, size_t a_offset, const float *zero,
					      const struct xnn_f32_minmax_params params[1])
{
	const size_t k = kc / sizeof(float), taps = ks / (4 * sizeof(void *));

	for (;; nc -= 8, w += 8 * (taps * k + 1), c = (float *)((char *)c + cn_stride)) {
		float tile[4][8];
		for (size_t i = 0; i < 4; i++) {
			memcpy(tile[i], w, sizeof(tile[i]));
			for (size_t l = 0; l < taps * k; l++) {
				const float *row = a[l / k * 4 + i];
				row = row == zero ? row : (const float *)((const char *)row + a_offset);
				for (size_t j = 0; j < 8; j++)
					tile[i][j] += row[l % k] * w[8 + 8 * l + j];
			}
			for (size_t j = 0; i < mr && j < (nc < 8 ? nc : 8); j++)
				((float *)((char *)c + i * cm_stride))[j] = clamp(tile[i][j], params);
		}
		if (nc <= 8)
			return;
	}
}

/* Three taps; w holds for each channel its bias and three weights. */
void xnn_f32_dwconv_minmax_ukernel_up1x3__scalar(size_t channels, size_t output_width, const float **input, const float *w,
						 float *output, size_t input_stride, size_t output_increment,
						 size_t input_offset, const float *zero,
						 const struct xnn_f32_minmax_params params[1])
{
	for (; output_width; output_width--, input = (const float **)((const char *)input + input_stride)) {
		for (size_t i = 0; i < channels; i++) {
			float sum = w[4 * i];
			for (size_t tap = 0; tap < 3; tap++)
				sum += ((const float *)((const char *)input[tap] + (input[tap] == zero ? 0 : input_offset)))[i] *
				       w[4 * i + 1 + tap];
			*output++ = clamp(sum, params);
		}
		output = (float *)((char *)output + output_increment);
	}
}

void xnn_f32_maxpool_minmax_ukernel__scalar(size_t output_pixels, size_t kernel_elements, size_t channels, const float **input,
					    size_t input_offset, float *output, size_t input_increment, size_t output_increment,
					    const struct xnn_f32_minmax_params params[1])
{
	for (; output_pixels; output_pixels--) {
		for (size_t i = 0; i < channels; i++) {
			float max = ((const float *)((const char *)input[0] + input_offset))[i];
			for (size_t tap = 1; tap < kernel_elements; tap++) {
				float x = ((const float *)((const char *)input[tap] + input_offset))[i];
				max = x > max ? x : max;
			}
			*output++ = clamp(max, params);
		}
		input = (const float **)((const char *)(input + kernel_elements) + input_increment);
		output = (float *)((char *)output + output_increment);
	}
}
C
compile xnnpack

cat >model.yaml <<Y
sklink: 1
tensors:
  x: {dtype: f32, shape: [24, 16]}
  z: {dtype: f32, shape: [24, 16]}
  a: {dtype: f32, shape: [24, 16], role: output}
  p: {dtype: f32, shape: [12, 16], role: output}
  v: {dtype: f32, shape: [16, 4]}
  d: {dtype: f32, shape: [10, 16], role: output}
  w: {dtype: f32, shape: [3, 17, 8]}
  c: {dtype: f32, shape: [10, 20]}
  u: {dtype: f32, shape: [1, 17, 8]}
  e: {dtype: f32, shape: [12, 8]}
$(kernels xnn_f32_vadd_minmax_ukernel__scalar_x1 xnn_f32_maxpool_minmax_ukernel__scalar \
	xnn_f32_dwconv_minmax_ukernel_up1x3__scalar xnn_f32_gemm_minmax_ukernel_4x8__scalar \
	xnn_f32_igemm_minmax_ukernel_4x8__scalar)
tasks:
  - {name: add, kernel: xnn_f32_vadd_minmax_ukernel__scalar_x1, args: [x, z, a], scope: all, set: {min: -0.5, max: 0.75}}
  - {name: pool, kernel: xnn_f32_maxpool_minmax_ukernel__scalar, args: [a, p], scope: all}
  - {name: convolve, kernel: xnn_f32_dwconv_minmax_ukernel_up1x3__scalar, args: [p, v, d], scope: all}
  - {name: product, kernel: xnn_f32_gemm_minmax_ukernel_4x8__scalar, args: [d, w, c], scope: all, set: {min: -0.5, max: 0.75}}
  # A convolution of one tap and step 2: of every second row.
  - {name: second, kernel: xnn_f32_igemm_minmax_ukernel_4x8__scalar, args: [a, u, e], stream: 1, scope: all,
     set: {min: -0.25, max: 0.25}}
Y
fuse xnnpack.o
"$skdump" --steps model.sk >steps.txt
grep -q ' convolve .* split 10 .* awaits pool' steps.txt || { cat steps.txt;
	fail "rows of a convolution are not divided with a halo"; }

cat >oracle.c <<'C'
#include "oracle.h"

static double clamp(double x, double low, double high)
{
	return fmin(fmax(x, low), high);
}

static double product(const float *row, const float *w, int column)
{
	const float *panel = w + column / 8 * 8 * 17 + column % 8;
	double sum = panel[0];

	for (int l = 0; l < 16; l++)
		sum += row[l] * panel[8 + 8 * l];
	return sum;
}

static void network(void)
{
	INPUT(float, x, 24, 16);
	INPUT(float, z, 24, 16);
	INPUT(float, v, 16, 4);
	INPUT(float, w, 3, 17, 8);
	INPUT(float, u, 1, 17, 8);
	OUTPUT(float, a, 1e-6, 24, 16);
	OUTPUT(float, p, 1e-6, 12, 16);
	OUTPUT(float, d, 1e-6, 10, 16);
	OUTPUT(float, c, 1e-5, 10, 20);
	OUTPUT(float, e, 1e-5, 12, 8);

	for (int i = 0; i < 24 * 16; i++)
		a[i] = clamp(x[i] + z[i], -0.5, 0.75);
	for (int i = 0; i < 12 * 16; i++)
		p[i] = fmaxf(a[i / 16 * 32 + i % 16], a[i / 16 * 32 + 16 + i % 16]);
	for (int i = 0; i < 10 * 16; i++) {
		const float *weights = v + i % 16 * 4;
		d[i] = weights[0] + p[i] * weights[1] + p[i + 16] * weights[2] + p[i + 32] * weights[3];
	}
	for (int i = 0; i < 10 * 20; i++)
		c[i] = clamp(product(d + i / 20 * 16, w, i % 20), -0.5, 0.75);
	for (int i = 0; i < 12 * 8; i++)
		e[i] = clamp(product(a + i / 8 * 32, u, i % 8), -0.25, 0.25);
}
C
right
