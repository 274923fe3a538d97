#!/bin/bash
# Kernels of the form that TorchInductor writes for CPUs (torch/_inductor/codegen/cpp.py of PyTorch 2.x, with
# cpp.threads 1): pointers to inputs, to tensors that are updated in place, to outputs, and the sizes that are not
# fixed.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/kernels.sh"

cat >inductor.c <<'C'
#include <math.h>
#include <stdint.h>

void cpp_fused_add_relu_0(float *in_out_ptr0, const float *in_ptr0)
{
	for (int64_t x0 = 0; x0 < 64; x0++)
		for (int64_t x1 = 0; x1 < 48; x1++) {
			float tmp2 = in_out_ptr0[x1 + 48 * x0] + in_ptr0[x1];

			in_out_ptr0[x1 + 48 * x0] = tmp2 > 0 ? tmp2 : 0;
		}
}

void cpp_fused__softmax_1(const float *in_ptr0, float *out_ptr0, float *out_ptr1, float *out_ptr2, const int64_t ks0)
{
	for (int64_t x0 = 0; x0 < ks0; x0++) {
		float tmp_acc0 = -INFINITY, tmp_acc1 = 0;

		for (int64_t x1 = 0; x1 < 48; x1++)
			tmp_acc0 = fmaxf(tmp_acc0, in_ptr0[x1 + 48 * x0]);
		out_ptr0[x0] = tmp_acc0;
		for (int64_t x1 = 0; x1 < 48; x1++)
			tmp_acc1 += expf(in_ptr0[x1 + 48 * x0] - out_ptr0[x0]);
		out_ptr1[x0] = tmp_acc1;
		for (int64_t x1 = 0; x1 < 48; x1++)
			out_ptr2[x1 + 48 * x0] = expf(in_ptr0[x1 + 48 * x0] - out_ptr0[x0]) / out_ptr1[x0];
	}
}
C
compile inductor

cat >model.yaml <<Y
sklink: 1
tensors:
  x:    {dtype: f32, shape: [64, 48], role: inout}
  bias: {dtype: f32, shape: [48]}
  max:  {dtype: f32, shape: [64], role: output}
  sum:  {dtype: f32, shape: [64], role: output}
  y:    {dtype: f32, shape: [64, 48]}
$(kernels cpp_fused_add_relu_0 cpp_fused__softmax_1)
tasks:
  - {name: add, kernel: cpp_fused_add_relu_0, args: [x, bias], scope: all}
  - {name: softmax, kernel: cpp_fused__softmax_1, args: [x, max, sum, y], scope: all}
Y
fuse inductor.o

cat >oracle.c <<'C'
#include "oracle.h"

static void network(void)
{
	enum { M = 64, N = 48 };
	UPDATED(float, x, 0, M, N);
	INPUT(float, bias, N);
	OUTPUT(float, y, 1e-6, M, N);

	for (int i = 0; i < M; i++) {
		double sum = 0;
		for (int j = 0; j < N; j++) {
			x_new[i * N + j] = fmaxf(x[i * N + j] + bias[j], 0);
			sum += exp(x_new[i * N + j]);
		}
		for (int j = 0; j < N; j++)
			y[i * N + j] = exp(x_new[i * N + j]) / sum;
	}
}
C
right

# With several threads of its own it is refused.
cat >threads.c <<'C'
void cpp_fused_add_relu_0(float *in_out_ptr0, const float *in_ptr0)
{
#pragma omp parallel for num_threads(2)
	for (long x0 = 0; x0 < 64 * 48; x0++)
		in_out_ptr0[x0] += in_ptr0[x0 % 48];
}
C
$KERNEL_CC -fPIC -fopenmp -c threads.c 2>/dev/null || exit 0
cat >threads.yaml <<Y
sklink: 1
tensors:
  x:    {dtype: f32, shape: [64, 48], role: inout}
  bias: {dtype: f32, shape: [48]}
$(kernels cpp_fused_add_relu_0)
tasks:
  - {name: add, kernel: cpp_fused_add_relu_0, args: [x, bias], scope: all}
Y
fails_with "undefined symbol: (GOMP_parallel|__kmpc_fork_call)" "$sklink" threads.yaml threads.o -o threads.sk
