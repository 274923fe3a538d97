#!/bin/bash
# Kernels with the interface that XLA compiles fusions for CPUs to (xla/backends/cpu/runtime's kernel_c_api.h): a call
# frame with the work group and the arguments; an error, or null, comes back.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/kernels.sh"

cat >fusion.c <<'C'
#include <stddef.h>
#include <stdint.h>

typedef struct {
	uint64_t x, y, z;
} XLA_CPU_NumWorkGroups, XLA_CPU_WorkGroupId;

typedef struct {
	void *data;
	size_t size;
} XLA_CPU_KernelArg;

typedef struct {
	const XLA_CPU_NumWorkGroups *num_workgroups;
	const XLA_CPU_WorkGroupId *workgroup_id;
	size_t num_args;
	const XLA_CPU_KernelArg *args;
} XLA_CPU_KernelCallFrame;

/* y = max(x * w + b, 0) for x of 64 x 48; a work group computes as many rows as it has to itself. */
void *multiply_add_fusion(const XLA_CPU_KernelCallFrame *frame)
{
	const float *x = frame->args[0].data, *w = frame->args[1].data, *b = frame->args[2].data;
	float *y = frame->args[3].data;
	const uint64_t rows = 64 / frame->num_workgroups->x, first = frame->workgroup_id->x * rows;

	if (frame->num_args != 4 || frame->args[3].size != 64 * 48 * sizeof(float))
		return frame->args[0].data;
	for (uint64_t i = first; i < first + rows; i++)
		for (uint64_t j = 0; j < 48; j++) {
			float value = x[i * 48 + j] * w[j] + b[j];
			y[i * 48 + j] = value > 0 ? value : 0;
		}
	return NULL;
}
C
compile fusion

cat >model.yaml <<Y
sklink: 1
tensors:
  x: {dtype: f32, shape: [64, 48]}
  w: {dtype: f32, shape: [48]}
  b: {dtype: f32, shape: [48]}
  t: {dtype: f32, shape: [64, 48]}
  y: {dtype: f32, shape: [64, 48]}
$(kernels multiply_add_fusion)
tasks:
  - {name: one, kernel: multiply_add_fusion, args: [x, w, b, t], scope: all, blocks: 8}
  - {name: two, kernel: multiply_add_fusion, args: [t, w, b, y], scope: all, blocks: 4}
Y
fuse fusion.o

cat >oracle.c <<'C'
#include "oracle.h"

static void network(void)
{
	INPUT(float, x, 64, 48);
	INPUT(float, w, 48);
	INPUT(float, b, 48);
	OUTPUT(float, y, 1e-6, 64, 48);

	for (int i = 0; i < 64 * 48; i++) {
		float t = fmaxf(x[i] * w[i % 48] + b[i % 48], 0);
		y[i] = fmaxf(t * w[i % 48] + b[i % 48], 0);
	}
}
C
right
