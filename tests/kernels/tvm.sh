#!/bin/bash
# Functions with the interfaces that TVM compiles operators to.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/kernels.sh"

# Unpacked ("unpacked-api": 1, as in the C runtime's ahead-of-time executor): a pointer for each tensor, then the workspace.
cat >unpacked.c <<'C'
#include <stdint.h>

int32_t tvmgen_default_fused_nn_dense_add(float *p0, float *p1, float *p2, float *T_add, uint8_t *global_workspace_0_var)
{
	float *T_matmul_NT = (float *)global_workspace_0_var;

	if (!p0 || !p1 || !p2 || !T_add)
		return -1;
	for (int32_t y = 0; y < 32; y++)
		for (int32_t x = 0; x < 20; x++) {
			T_matmul_NT[x] = 0;
			for (int32_t k = 0; k < 24; k++)
				T_matmul_NT[x] += p0[y * 24 + k] * p1[x * 24 + k];
			T_add[y * 20 + x] = T_matmul_NT[x] + p2[x];
		}
	return 0;
}
C
compile unpacked

cat >model.yaml <<Y
sklink: 1
tensors:
  x: {dtype: f32, shape: [32, 24]}
  w: {dtype: f32, shape: [20, 24]}
  b: {dtype: f32, shape: [20]}
  y: {dtype: f32, shape: [32, 20]}
$(kernels tvmgen_default_fused_nn_dense_add)
tasks:
  - {name: dense, kernel: tvmgen_default_fused_nn_dense_add, args: [x, w, b, y], scope: all}
Y
fuse unpacked.o

cat >oracle.c <<'C'
#include "oracle.h"

static void network(void)
{
	INPUT(float, x, 32, 24);
	INPUT(float, w, 20, 24);
	INPUT(float, b, 20);
	OUTPUT(float, y, 1e-5, 32, 20);

	for (int i = 0; i < 32 * 20; i++) {
		y[i] = b[i % 20];
		for (int k = 0; k < 24; k++)
			y[i] += x[i / 20 * 24 + k] * w[i % 20 * 24 + k];
	}
}
C
right
