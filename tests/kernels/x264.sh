#!/bin/bash
# Assembler kernels of Debian's x264: sums of differences of blocks of pixels that lie within images.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/kernels.sh"
need "$libraries/libx264.a" libx264-dev
need_isa avx2

cat >model.yaml <<Y
sklink: 1
tensors:
  old:  {dtype: u8, shape: [48, 64]}
  new:  {dtype: u8, shape: [40, 80]}
  a:    {of: old, offset: [3, 16], shape: [16, 16]}
  b:    {of: new, offset: [9, 32], shape: [16, 16]}
  mean: {dtype: u8, shape: [16, 16], role: output}
  sad:  {dtype: i32, shape: [1]}
  ssd:  {dtype: i32, shape: [1]}
  satd: {dtype: i32, shape: [1]}
$(kernels x264_8_pixel_sad_16x16_sse2 x264_8_pixel_ssd_16x16_avx2 x264_8_pixel_satd_16x16_avx2 x264_8_pixel_avg_16x16_avx2)
tasks:
  - {name: average, kernel: x264_8_pixel_avg_16x16_avx2, args: [mean, a, b], scope: all}
  - {name: sad, kernel: x264_8_pixel_sad_16x16_sse2, args: [a, b, sad], scope: all}
  - {name: ssd, kernel: x264_8_pixel_ssd_16x16_avx2, args: [a, mean, ssd], stream: 1, scope: all}
  - {name: satd, kernel: x264_8_pixel_satd_16x16_avx2, args: [mean, b, satd], scope: all}
Y
fuse -L "$libraries"

cat >oracle.c <<'C'
#include "oracle.h"

/* The sum of the magnitudes of the 4 x 4 Hadamard transform of the differences. */
static int satd_4x4(const uint8_t *a, const uint8_t *b)
{
	static const signed char h[4][4] = {{1, 1, 1, 1}, {1, 1, -1, -1}, {1, -1, -1, 1}, {1, -1, 1, -1}};
	int sum = 0;

	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++) {
			int value = 0;
			for (int k = 0; k < 16; k++)
				value += h[i][k / 4] * h[j][k % 4] * (a[k / 4 * 16 + k % 4] - b[k / 4 * 16 + k % 4]);
			sum += abs(value);
		}
	return sum / 2;
}

static void network(void)
{
	INPUT(uint8_t, old, 48, 64);
	INPUT(uint8_t, new, 40, 80);
	OUTPUT(uint8_t, mean, 0, 16, 16);
	OUTPUT(int32_t, sad, 0, 1);
	OUTPUT(int32_t, ssd, 0, 1);
	OUTPUT(int32_t, satd, 0, 1);
	uint8_t a[256], b[256];

	for (int i = 0; i < 256; i++) {
		a[i] = old[(3 + i / 16) * 64 + 16 + i % 16];
		b[i] = new[(9 + i / 16) * 80 + 32 + i % 16];
	}
	for (int i = 0; i < 256; i++) {
		mean[i] = (a[i] + b[i] + 1) / 2;
		sad[0] += abs(a[i] - b[i]);
		ssd[0] += (a[i] - mean[i]) * (a[i] - mean[i]);
	}
	for (int y = 0; y < 16; y += 4)
		for (int x = 0; x < 16; x += 4)
			satd[0] += satd_4x4(mean + y * 16 + x, b + y * 16 + x);
}
C
right
