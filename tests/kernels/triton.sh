#!/bin/bash
# Kernels with the interface that Triton's CPU backend compiles them to: the kernel's parameters, then the program's ids
# and the grid. The launcher of https://github.com/triton-lang/triton-cpu, third_party/cpu/backend/driver.py,
# make_launcher, at commit 00f231b37141285c2c977270a4f270866c505069, calls them like that: the types are those of the
# signature that are not constant, and six times uint32_t; the arguments after them are x, y, z, gridX, gridY, gridZ.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/kernels.sh"

cat >triton.c <<'C'
#include <stdint.h>

enum { BLOCK = 256 };

void add_kernel(const float *x_ptr, const float *y_ptr, float *output_ptr, int32_t n_elements, uint32_t pid_x, uint32_t pid_y,
		uint32_t pid_z, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z)
{
	const int32_t start = (int32_t)pid_x * BLOCK;

	for (int32_t i = start; i < start + BLOCK && i < n_elements; i++)
		output_ptr[i] = x_ptr[i] + y_ptr[i];
}

/* A tile of 16 x 16 of c for each program of a grid of two dimensions. */
void matmul_kernel(const float *a_ptr, const float *b_ptr, float *c_ptr, int32_t M, int32_t N, int32_t K, int32_t stride_am,
		   int32_t stride_bk, int32_t stride_cm, uint32_t pid_x, uint32_t pid_y, uint32_t pid_z, uint32_t grid_x,
		   uint32_t grid_y, uint32_t grid_z)
{
	for (int32_t i = (int32_t)pid_x * 16; i < (int32_t)pid_x * 16 + 16 && i < M; i++)
		for (int32_t j = (int32_t)pid_y * 16; j < (int32_t)pid_y * 16 + 16 && j < N; j++) {
			float sum = 0;

			for (int32_t k = 0; k < K; k++)
				sum += a_ptr[i * stride_am + k] * b_ptr[k * stride_bk + j];
			c_ptr[i * stride_cm + j] = sum;
		}
}
C
compile triton

cat >model.yaml <<Y
sklink: 1
tensors:
  x: {dtype: f32, shape: [50, 40]}
  y: {dtype: f32, shape: [50, 40]}
  a: {dtype: f32, shape: [50, 40]}
  b: {dtype: f32, shape: [40, 37]}
  c: {dtype: f32, shape: [50, 37]}
$(kernels add_kernel matmul_kernel)
tasks:
  - {name: add, kernel: add_kernel, args: [x, y, a], scope: all}
  - {name: matmul, kernel: matmul_kernel, args: [a, b, c], scope: all}
Y
fuse triton.o

cat >oracle.c <<'C'
#include "oracle.h"

static void network(void)
{
	enum { M = 50, K = 40, N = 37 };
	INPUT(float, x, M, K);
	INPUT(float, y, M, K);
	INPUT(float, b, K, N);
	OUTPUT(float, c, 1e-5, M, N);

	for (int i = 0; i < M * N; i++)
		for (int l = 0; l < K; l++)
			c[i] += (x[i / N * K + l] + y[i / N * K + l]) * b[l * N + i % N];
}
C
right
