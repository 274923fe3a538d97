#!/bin/bash
# Row kernels with ggml's interfaces (ggml-cpu's quants.h and vec.h): a row is quantized, and multiplied with others.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/kernels.sh"

cat >ggml.c <<'C'
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* 32 numbers as 8 bits each and what they are multiples of. ggml has it as half precision; the upper half of a float serves, too. */
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
$(kernels quantize_row_q8_0 ggml_vec_dot_q8_0_q8_0)
tasks:
  - {name: x, kernel: quantize_row_q8_0, args: [x, qx], scope: all}
  - {name: y, kernel: quantize_row_q8_0, args: [y, qy], stream: 1, scope: all}
  - {name: dot, kernel: ggml_vec_dot_q8_0_q8_0, args: [s, qx, qy], scope: all}
Y
fuse ggml.o

cat >oracle.c <<'C'
#include "oracle.h"

/* What 32 numbers are multiples of, and what a q8_0 block says of it: the upper half of the float. */
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

	for (int i = 0; i < 256; i += 32) {
		float dx, dy, ux = unit(x + i, &dx), uy = unit(y + i, &dy);
		for (int j = i; j < i + 32; j++)
			s[0] += roundf(x[j] / ux) * roundf(y[j] / uy) * dx * dy;
	}
}
C
right
