#!/bin/bash
# Kernels with ggml's interfaces: on rows (ggml-cpu's quants.h and vec.h), and an operator (ggml.h, ggml-cpu-impl.h),
# with blocks as its threads.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/kernels.sh"

cat >ggml.c <<'C'
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* 32 numbers as 8 bits each and their common factor: the upper half of a float, where ggml has half precision. */
struct block_q8_0 {
	uint16_t d;
	int8_t qs[32];
};

static float widen(uint16_t half)
{
	uint32_t bits = (uint32_t)half << 16;
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

void quantize_row_q8_0(const float *x, void *vy, int64_t k)
{
	struct block_q8_0 *y = vy;

	for (int64_t i = 0; i < k / 32; i++) {
		float max = 0;
		for (int j = 0; j < 32; j++)
			max = fmaxf(max, fabsf(x[i * 32 + j]));
		float d = max / 127;
		uint32_t bits;
		memcpy(&bits, &d, sizeof(bits));
		y[i].d = (bits + 0x8000) >> 16;
		for (int j = 0; j < 32; j++)
			y[i].qs[j] = (int8_t)roundf(d ? x[i * 32 + j] / d : 0);
	}
}

void ggml_vec_dot_q8_0_q8_0(int n, float *s, size_t bs, const void *vx, size_t bx, const void *vy, size_t by, int nrc)
{
	const struct block_q8_0 *x = vx, *y = vy;

	s[0] = 0;
	for (int i = 0; i < n / 32; i++) {
		int sum = 0;
		for (int j = 0; j < 32; j++)
			sum += x[i].qs[j] * y[i].qs[j];
		s[0] += sum * widen(x[i].d) * widen(y[i].d);
	}
}

enum { GGML_MAX_DIMS = 4, GGML_MAX_SRC = 10 };

struct ggml_compute_params {
	int ith, nth;
	size_t wsize;
	void *wdata;
	struct ggml_threadpool *threadpool;
};

struct ggml_tensor {
	int type;
	struct ggml_backend_buffer *buffer;
	int64_t ne[GGML_MAX_DIMS];
	size_t nb[GGML_MAX_DIMS];
	int op;
	int32_t op_params[16];
	int32_t flags;
	struct ggml_tensor *src[GGML_MAX_SRC], *view_src;
	size_t view_offs;
	void *data;
	char name[64];
	void *extra;
	char padding[8];
};

/* dst = src0 + src1, for rows ith, ith + nth, ... */
void ggml_compute_forward_add(const struct ggml_compute_params *params, struct ggml_tensor *dst)
{
	const struct ggml_tensor *src0 = dst->src[0], *src1 = dst->src[1];

	for (int64_t i = params->ith; i < dst->ne[1]; i += params->nth)
		for (int64_t j = 0; j < dst->ne[0]; j++)
			((float *)((char *)dst->data + i * dst->nb[1]))[j] =
				((float *)((char *)src0->data + i * src0->nb[1]))[j] + ((float *)src1->data)[j];
}
C
compile ggml

cat >model.yaml <<Y
sklink: 1
tensors:
  x:  {dtype: f32, shape: [256]}
  y:  {dtype: f32, shape: [256]}
  qx: {dtype: u8, shape: [8, 34]}
  qy: {dtype: u8, shape: [8, 34]}
  s:  {dtype: f32, shape: [1]}
  a:  {dtype: f32, shape: [30, 16]}
  b:  {dtype: f32, shape: [16]}
  c:  {dtype: f32, shape: [30, 16]}
$(kernels quantize_row_q8_0 ggml_vec_dot_q8_0_q8_0 ggml_compute_forward_add)
tasks:
  - {name: x, kernel: quantize_row_q8_0, args: [x, qx], scope: all}
  - {name: y, kernel: quantize_row_q8_0, args: [y, qy], stream: 1, scope: all}
  - {name: dot, kernel: ggml_vec_dot_q8_0_q8_0, args: [s, qx, qy], scope: all}
  - {name: add, kernel: ggml_compute_forward_add, args: [a, b, c], scope: all, blocks: 4}
Y
fuse ggml.o

cat >oracle.c <<'C'
#include "oracle.h"

/* The common factor of 32 numbers, and its form in a q8_0 block: the upper half of the float. */
static float unit(const float *x, float *said)
{
	float max = 0;
	uint32_t bits;

	for (int j = 0; j < 32; j++)
		max = fmaxf(max, fabsf(x[j]));
	max /= 127;
	memcpy(&bits, &max, sizeof(bits));
	bits = (bits + 0x8000) & 0xffff0000;
	memcpy(said, &bits, sizeof(bits));
	return max;
}

static void network(void)
{
	INPUT(float, x, 256);
	INPUT(float, y, 256);
	OUTPUT(float, s, 1e-5, 1);
	INPUT(float, a, 30, 16);
	INPUT(float, b, 16);
	OUTPUT(float, c, 0, 30, 16);

	for (int i = 0; i < 30 * 16; i++)
		c[i] = a[i] + b[i % 16];
	for (int i = 0; i < 256; i += 32) {
		float dx, dy, ux = unit(x + i, &dx), uy = unit(y + i, &dy);
		for (int j = i; j < i + 32; j++)
			s[0] += roundf(x[j] / ux) * roundf(y[j] / uy) * dx * dy;
	}
}
C
right
