#!/bin/bash
# Microkernels with XNNPACK's interfaces (its headers vbinary.h and gemm.h): element counts are in bytes, bounds come in a struct, a
# register tile of a matrix product works on packed weights.
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
C
compile xnnpack

cat >model.yaml <<Y
sklink: 1
tensors:
  bounds: {dtype: f32, shape: [2], data: [-0.5, 0.75]}
  x:      {dtype: f32, shape: [11, 24]}
  z:      {dtype: f32, shape: [11, 24]}
  a:      {dtype: f32, shape: [11, 24]}
  w:      {dtype: f32, shape: [3, 25, 8]}
  c:      {dtype: f32, shape: [11, 20]}
$(kernels xnn_f32_vadd_minmax_ukernel__scalar_x1 xnn_f32_gemm_minmax_ukernel_4x8__scalar)
tasks:
  - {name: add, kernel: xnn_f32_vadd_minmax_ukernel__scalar_x1, args: [x, z, a, bounds], scope: all}
  - {name: product, kernel: xnn_f32_gemm_minmax_ukernel_4x8__scalar, args: [a, w, c, bounds], scope: all}
Y
fuse xnnpack.o

cat >oracle.c <<'C'
#include "oracle.h"

static double clamp(double x)
{
	return fmin(fmax(x, -0.5), 0.75);
}

static void network(void)
{
	enum { M = 11, K = 24, N = 20 };
	INPUT(float, x, M, K);
	INPUT(float, z, M, K);
	INPUT(float, w, 3, K + 1, 8);
	OUTPUT(float, c, 1e-5, M, N);

	for (int i = 0; i < M * N; i++) {
		const float *column = w + i % N / 8 * 8 * (K + 1) + i % N % 8;
		double sum = column[0];
		for (int l = 0; l < K; l++)
			sum += clamp(x[i / N * K + l] + z[i / N * K + l]) * column[8 + 8 * l];
		c[i] = clamp(sum);
	}
}
C
right
