#!/bin/bash
# Functions with the interfaces that TVM compiles operators to.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/kernels.sh"

# Unpacked ("unpacked-api": 1, as in the C runtime's ahead-of-time executor): a pointer for each tensor, then the
# workspace.
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

# Packed: arrays of values and of their codes; tensors are DLTensors of dlpack.h, and the function checks their fields.
cat >packed.c <<'C'
#include <stdint.h>

typedef struct {
	int32_t device_type, device_id;
} DLDevice;

typedef struct {
	uint8_t code, bits;
	uint16_t lanes;
} DLDataType;

typedef struct {
	void *data;
	DLDevice device;
	int32_t ndim;
	DLDataType dtype;
	int64_t *shape, *strides;
	uint64_t byte_offset;
} DLTensor;

typedef union {
	int64_t v_int64;
	double v_float64;
	void *v_handle;
} TVMValue;

static int32_t fits(const TVMValue *args, const int32_t *codes, int i, int64_t rows, int64_t columns)
{
	const DLTensor *tensor = args[i].v_handle;

	return (codes[i] == 3 || codes[i] == 7 || codes[i] == 13) && tensor && tensor->ndim == 2 && tensor->dtype.code == 2 &&
	       tensor->dtype.bits == 32 && tensor->dtype.lanes == 1 && tensor->shape[0] == rows && tensor->shape[1] == columns &&
	       (!tensor->strides || (tensor->strides[0] == columns && tensor->strides[1] == 1)) && !tensor->byte_offset &&
	       tensor->device.device_type == 1;
}

int32_t fused_add_relu(void *args, int32_t *arg_type_ids, int32_t num_args, void *out_ret_value, int32_t *out_ret_tcode,
		       void *resource_handle)
{
	const TVMValue *values = args;

	if (num_args != 3 || !fits(values, arg_type_ids, 0, 32, 20) || !fits(values, arg_type_ids, 1, 32, 20) ||
	    !fits(values, arg_type_ids, 2, 32, 20))
		return -1;

	const float *p0 = ((DLTensor *)values[0].v_handle)->data, *p1 = ((DLTensor *)values[1].v_handle)->data;
	float *T_relu = ((DLTensor *)values[2].v_handle)->data;

	for (int32_t i = 0; i < 32 * 20; i++)
		T_relu[i] = p0[i] + p1[i] > 0 ? p0[i] + p1[i] : 0;
	return 0;
}
C
compile packed

cat >model.yaml <<Y
sklink: 1
tensors:
  x: {dtype: f32, shape: [32, 24]}
  w: {dtype: f32, shape: [20, 24]}
  b: {dtype: f32, shape: [20]}
  t: {dtype: f32, shape: [32, 20]}
  u: {dtype: f32, shape: [32, 20]}
  y: {dtype: f32, shape: [32, 20]}
$(kernels tvmgen_default_fused_nn_dense_add fused_add_relu)
tasks:
  - {name: dense, kernel: tvmgen_default_fused_nn_dense_add, args: [x, w, b, t], scope: all}
  - {name: add, kernel: fused_add_relu, args: [t, u, y], scope: all}
Y
fuse unpacked.o packed.o

cat >oracle.c <<'C'
#include "oracle.h"

static void network(void)
{
	INPUT(float, x, 32, 24);
	INPUT(float, w, 20, 24);
	INPUT(float, b, 20);
	INPUT(float, u, 32, 20);
	OUTPUT(float, y, 1e-5, 32, 20);

	for (int i = 0; i < 32 * 20; i++) {
		y[i] = b[i % 20] + u[i];
		for (int k = 0; k < 24; k++)
			y[i] += x[i / 20 * 24 + k] * w[i % 20 * 24 + k];
		y[i] = fmaxf(y[i], 0);
	}
}
C
right
