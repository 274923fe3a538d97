#!/bin/bash
# A function of memrefs as MLIR lowers it, with both of its interfaces.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/kernels.sh"
$KERNEL_CC -c "$top_srcdir/tests/kernels/objects/mlir.s" -o layer.o

cat >model.yaml <<Y
sklink: 1
tensors:
  x:  {dtype: f32, shape: [40, 24]}
  w1: {dtype: f32, shape: [24, 32]}
  h:  {dtype: f32, shape: [40, 32]}
  w2: {dtype: f32, shape: [32, 10]}
  y:  {dtype: f32, shape: [40, 10]}
$(kernels layer _mlir_ciface_layer)
tasks:
  - {name: one, kernel: layer, args: [x, w1, h], scope: all}
  - {name: two, kernel: _mlir_ciface_layer, args: [h, w2, y], scope: all}
Y
fuse layer.o

cat >oracle.c <<'C'
#include "oracle.h"

static void layer(const float *x, const float *w, float *y, int m, int k, int n)
{
	for (int i = 0; i < m * n; i++) {
		y[i] = 0;
		for (int l = 0; l < k; l++)
			y[i] += x[i / n * k + l] * w[l * n + i % n];
		y[i] = fmaxf(y[i], 0);
	}
}

static void network(void)
{
	INPUT(float, x, 40, 24);
	INPUT(float, w1, 24, 32);
	INPUT(float, w2, 32, 10);
	OUTPUT(float, y, 1e-5, 40, 10);
	float h[40 * 32];

	layer(x, w1, h, 40, 24, 32);
	layer(h, w2, y, 40, 32, 10);
}
C
right
