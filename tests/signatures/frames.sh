#!/bin/bash
# Structures that signatures build behind pointers: structs, structs in them, tables of addresses, and the frames of
# compilers. The kernels use published structs, and overwrite the parts that they may write. In each package a task
# compares all results with plain loops.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cat >kernels.c <<'C'
#include <stddef.h>
#include <stdint.h>

/* ---- structs of one's own ---- */

static const float lut[4] = {10, 20, 30, 40};
const void *const keep = lut; /* nothing else refers to it */
struct params { float lo, hi; const float *table; unsigned char flag; double d; short last; };
void clamp(const float *x, float *y, long n, struct params *p)
{
	for (long i = 0; i < n; i++)
		y[i] = (x[i] < p->lo ? p->lo : x[i] > p->hi ? p->hi : x[i]) + p->table[1] + p->flag + (float)p->d + p->last;
	p->hi = p->lo = 0;
	p->table = NULL;
}
struct input { const float *a; long n; };
struct outer { int k; struct input *input; float *y; const float **rows; void *nothing; };
void nested(struct outer *o)
{
	for (long i = 0; i < o->input->n; i++)
		o->y[i] = (float)o->k * o->input->a[i] + o->rows[i][1] + (o->nothing ? 1 : 0);
	for (long i = 0; i < o->input->n; i++)
		o->rows[i] = NULL;
	*o->input = (struct input){0};
	*o = (struct outer){0};
}
void sum_all(float **all, long n) /* addresses of several tensors: a struct of nothing else */
{
	for (long i = 0; i < n; i++)
		all[2][i] = all[0][i] + all[1][i];
	all[0] = all[1] = all[2] = NULL;
}

/* ---- MLIR: StridedMemRefType of mlir/ExecutionEngine/CRunnerUtils.h, LLVM 14 ---- */

#define MEMREF(rank) struct { float *basePtr, *data; int64_t offset, sizes[rank], strides[rank]; }
typedef MEMREF(2) memref2;
typedef MEMREF(1) memref1;
void _mlir_ciface_rows(memref2 *x, memref1 *y, float factor)
{
	for (int64_t i = 0; i < x->sizes[0]; i++) {
		float sum = 0;

		for (int64_t j = 0; j < x->sizes[1]; j++)
			sum += x->data[x->offset + i * x->strides[0] + j * x->strides[1]];
		y->data[y->offset + i * y->strides[0]] = sum * factor;
	}
	*x = (memref2){0};
	*y = (memref1){0};
}

/* ---- GSL 2.7: gsl/gsl_vector_double.h, gsl/gsl_matrix_double.h ---- */

typedef struct { size_t size, stride; double *data; void *block; int owner; } gsl_vector;
typedef struct { size_t size1, size2, tda; double *data; void *block; int owner; } gsl_matrix;
int multiply(const gsl_matrix *a, const gsl_vector *x, gsl_vector *y)
{
	if (a->size2 != x->size || a->size1 != y->size)
		return 1;
	for (size_t i = 0; i < a->size1; i++) {
		double sum = 0;

		for (size_t j = 0; j < a->size2; j++)
			sum += a->data[i * a->tda + j] * x->data[j * x->stride];
		y->data[i * y->stride] = sum;
	}
	return a->owner;
}

/* ---- Halide 14: HalideRuntime.h ---- */

typedef struct { int32_t min, extent, stride; uint32_t flags; } halide_dimension_t;
typedef struct {
	uint64_t device;
	const void *device_interface;
	uint8_t *host;
	uint64_t flags;
	struct { uint8_t code, bits; uint16_t lanes; } type;
	int32_t dimensions;
	halide_dimension_t *dim;
	void *padding;
} halide_buffer_t;
_Static_assert(sizeof(halide_buffer_t) == 56 && offsetof(halide_buffer_t, dim) == 40, "halide_buffer_t");
int blur(halide_buffer_t *x, halide_buffer_t *y)
{
	if (x->type.code != 2 || x->type.bits != 32 || x->type.lanes != 1 || x->dimensions != 2 || y->device)
		return -1;
	for (int r = 0; r < y->dim[1].extent; r++)
		for (int c = 0; c < y->dim[0].extent; c++) {
			const float *in = (const float *)x->host + r * x->dim[1].stride + c * x->dim[0].stride;

			((float *)y->host)[r * y->dim[1].stride + c] = in[0] + in[x->dim[0].stride] + 1;
		}
	y->flags |= 1; /* host_dirty, as Halide does */
	x->dim[0] = (halide_dimension_t){0};
	return 0;
}

/* ---- TVM 0.14: tvm/runtime/c_runtime_api.h, dlpack.h v0.8 ---- */

typedef struct {
	void *data;
	struct { int32_t device_type, device_id; } device;
	int32_t ndim;
	struct { uint8_t code, bits; uint16_t lanes; } dtype;
	int64_t *shape, *strides;
	uint64_t byte_offset;
} DLTensor;
_Static_assert(sizeof(DLTensor) == 48 && offsetof(DLTensor, shape) == 24, "DLTensor");
typedef union { int64_t v_int64; double v_float64; void *v_handle; } TVMValue;
int fused_scale(TVMValue *args, int *type_codes, int num_args, TVMValue *ret, int *ret_code, void *resource)
{
	DLTensor *x, *y;

	if (num_args != 4 || type_codes[0] != 7 || type_codes[1] != 7 || type_codes[2] != 0 || type_codes[3] != 2)
		return -1;
	x = args[0].v_handle, y = args[1].v_handle;
	if (x->device.device_type != 1 || x->ndim != 2 || x->dtype.code != 2 || x->dtype.bits != 32 || x->strides || resource)
		return -1;
	for (int64_t i = 0; i < x->shape[0] * x->shape[1]; i++)
		((float *)y->data)[i] = ((float *)x->data)[i] * (float)args[3].v_float64 + (float)args[2].v_int64;
	ret->v_int64 = 5;
	*ret_code = 4;
	x->shape[0] = 0;
	args[0].v_handle = NULL;
	return 0;
}

/* ---- XLA:CPU: xla/backends/cpu/runtime/kernel_c_api.h, 2024-12 ---- */

typedef struct { uint64_t x, y, z; } XLA_CPU_KernelDim3;
typedef struct { void *data; size_t size; } XLA_CPU_KernelArg;
typedef struct {
	const XLA_CPU_KernelDim3 *num_workgroups, *workgroup_id;
	size_t num_args;
	const XLA_CPU_KernelArg *args;
} XLA_CPU_KernelCallFrame;
void *add_fusion(const XLA_CPU_KernelCallFrame *frame)
{
	const XLA_CPU_KernelArg *args = frame->args;
	size_t n = args[0].size / sizeof(float), from = n * frame->workgroup_id->x / frame->num_workgroups->x;
	size_t to = n * (frame->workgroup_id->x + 1) / frame->num_workgroups->x;

	if (frame->num_args != 3)
		return (void *)frame;
	for (size_t i = from; i < to; i++)
		((float *)args[2].data)[i] = ((float *)args[0].data)[i] + ((float *)args[1].data)[i];
	return NULL;
}

/* ---- the comparison ---- */

int compare(const float *x, const float *clamped, const float *nested, const float *all, const float *rows, const double *a,
	    const double *v, const double *product, const float *blurred, const float *scaled, const float *added, long n)
{
	for (long i = 0; i < n; i++) {
		const float *row = x + 3 * i;
		float c = (row[0] > 4 ? 4 : row[0]) + 20 + 3 + 1.5f + 9;

		if (clamped[i] != c || nested[i] != 7 * c + row[1] || all[i] != clamped[i] + nested[i])
			return 1;
		if (rows[i] != (row[0] + row[1] + row[2]) * 1.5f)
			return 2;
		if (product[i] != a[2 * i] * v[0] + a[2 * i + 1] * v[1])
			return 3;
		if (blurred[2 * i] != row[0] + row[1] + 1 || blurred[2 * i + 1] != row[1] + row[2] + 1)
			return 4;
		for (int j = 0; j < 3; j++)
			if (scaled[3 * i + j] != row[j] * 0.5f + 2 || added[3 * i + j] != row[j] + scaled[3 * i + j])
				return 5 + WRONG;
	}
	return WRONG;
}
void split(const float *x, float *first, double *a, long n)
{
	for (long i = 0; i < n; i++) {
		first[i] = x[3 * i];
		a[2 * i] = x[3 * i];
		a[2 * i + 1] = x[3 * i + 2];
	}
}
C
cp kernels.c right.c
source_of() { sed "s/WRONG/$1/" right.c >kernels.c && compile kernels; }
source_of 0
cat >model.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [200, 3]}
  first: {dtype: f32, shape: [200]}
  clamped: {dtype: f32, shape: [200], role: output}
  nested: {dtype: f32, shape: [200], role: output}
  all: {dtype: f32, shape: [200], role: output}
  rows: {dtype: f32, shape: [200], role: output}
  a: {dtype: f64, shape: [200, 2]}
  v: {dtype: f64, shape: [2], data: [3, 0.25]}
  product: {dtype: f64, shape: [200], role: output}
  blurred: {dtype: f32, shape: [200, 2], role: output}
  scaled: {dtype: f32, shape: [200, 3], role: output}
  added: {dtype: f32, shape: [200, 3], role: output}
kernels:
  split: {signature: "split=n; in x f32[n,3], out first f32[n], out a f64[n,2], n i64"}
  clamp: {signature: "split=n; in x f32[n], out y f32[n], n i64, params {lo f32 = -inf, hi f32, table ptr = &lut, flag u8 = 3, d f64, last i16 = 9}*"}
  nested: {signature: "o {k i32 = 3+4, input {in a f32[n], n i64}*, out y f32[n], rows ptr[n] of in r f32[n,3], nothing ptr = null}*"}
  sum_all: {signature: "split=n; all {in a f32[n], in b f32[n], out c f32[n]}*, n i64"}
  rows: {symbol: _mlir_ciface_rows, signature: "split=n frame=mlir; in x f32[n,k], out y f32[n], factor f32 = 1.5"}
  multiply: {signature: "split=n frame=gsl; in a f64[n,k], in x f64[k], out y f64[n] -> status"}
  blur: {signature: "split=n frame=halide; in x f32[n,k], out y f32[n,m]"}
  fused_scale: {signature: "frame=tvm-packed; in x f32[n,k], out y f32[n,k], bias i64 = 2, factor f64"}
  add_fusion: {signature: "blocks=n frame=xla-cpu; in x f32[n,k], in y f32[n,k], out z f32[n,k] -> status"}
  compare: {signature: "in x f32[n,3], in clamped f32[n], in nested f32[n], in all f32[n], in rows f32[n], in a f64[n,2], in v f64[2], in product f64[n], in blurred f32[n,2], in scaled f32[n,3], in added f32[n,3], n i64 -> status"}
tasks:
  - {name: split, kernel: split, args: [x, first, a], scope: s}
  - {name: clamp, kernel: clamp, args: [first, clamped], scope: s, set: {d: 1.5, hi: 4}}
  - {name: nested, kernel: nested, args: {r: x, a: clamped, y: nested}, scope: s, stream: 1}
  - {name: sum_all, kernel: sum_all, args: [clamped, nested, all], scope: s}
  - {name: rows, kernel: rows, args: [x, rows], scope: s}
  - {name: multiply, kernel: multiply, args: [a, v, product], scope: s}
  - {name: blur, kernel: blur, args: [x, blurred], scope: s}
  - {name: fused_scale, kernel: fused_scale, args: [x, scaled], scope: s, stream: 1, set: {factor: 0.5}}
  - {name: add_fusion, kernel: add_fusion, args: [x, scaled, added], scope: s, blocks: 5}
  - {name: compare, kernel: compare, args: [x, clamped, nested, all, rows, a, v, product, blurred, scaled, added], scope: s}
M
"$sklink" model.yaml kernels.o -o model.sk
"$skdump" --verify model.sk | grep -q '^verified: 1 launch' || fail "not proved"
for cores in 1 2 3 7; do
	"$skrun" model.sk --random 1 --cores $cores --repeat 3 --verify >/dev/null || fail "$cores cores"
done
for options in --guard '--guard --cores 3' '--check-races --cores 3' --serial --unfused '--unfused --cores 2'; do
	"$skrun" model.sk --random 2 $options >/dev/null || fail "$options"
done

# Serial entries, through the system's loader, with other memory for each call.
cat >serial.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include "model.h"
int main(void)
{
	void *package = dlopen("./model.sk", RTLD_NOW);
	int (*run)(void *const *, void *) = package ? dlsym(package, "sk_s_serial") : NULL;
	void *workspace = aligned_alloc(64, 1 << 20);

	for (int round = 0; run && round < 2; round++) {
		void *tensors[16];
		float *x;

		for (int i = 0; i < 16; i++)
			tensors[i] = aligned_alloc(64, 65536);
		x = tensors[0];
		for (int i = 0; i < 600; i++)
			x[i] = (float)((i * 7 + round) % 16);
		if (run(tensors, workspace))
			return printf("round %d\n", round), 1;
	}
	return !run;
}
C
"$sklink" model.yaml kernels.o -o model.sk --header=model.h
cc -o serial serial.c -ldl && ./serial || fail "the serial entry"

# Tensors that are bound anew between two runs of an instance: structs with their addresses are made anew. The task that
# compares reads the bound memory; the outputs bound before must keep their contents.
cat >bound.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "skrt.h"
static int check(int status)
{
	if (status)
		printf("%s\n", skrt_error()), exit(1);
	return status;
}
int main(void)
{
	enum { TENSORS = 16, BYTES = 65536 };
	struct skrt_device_options options = {.size = sizeof(options), .cores = 3};
	struct skrt_device *device;
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;
	char *memory[2][TENSORS], *before = malloc(BYTES);
	struct skrt_tensor tensor = {.size = sizeof(tensor)};
	unsigned count = 0;

	check(skrt_device_open(&options, &device));
	check(skrt_module_load(device, "model.sk", &module));
	check(skrt_instance_create(module, &instance));
	check(skrt_stream_create(device, &stream));
	for (int round = 0; round < 2; round++) {
		for (count = 0; count < TENSORS && !skrt_module_tensor(module, count, &tensor); count++) {
			memory[round][count] = aligned_alloc(64, BYTES);
			memset(memory[round][count], 0, BYTES);
			check(skrt_instance_bind(instance, count, memory[round][count], tensor.bytes));
		}
		for (int i = 0; i < 600; i++)
			((float *)memory[round][0])[i] = (float)((i * 7 + round) % 16);
		check(skrt_run_network(stream, instance));
		if (round == 0)
			memcpy(before, memory[0][1], BYTES);
	}
	if (count < 2 || memcmp(before, memory[0][1], BYTES) || !memcmp(before, memory[1][1], BYTES))
		return puts("the second run has written where the first one had"), 1;
	check(skrt_stream_destroy(stream) || skrt_instance_destroy(instance) || skrt_module_unload(module) || skrt_device_close(device));
	for (int i = 0; i < 2 * (int)count; i++)
		free(memory[i % 2][i / 2]);
	free(before);
	return 0;
}
C
sanitize=$(sed -n "s/^SANITIZE_CFLAGS = //p" "$top_builddir/Makefile")
libskrt="$top_builddir/.libs/libskrt.a $(sed -n "s/^Libs.private: //p" "$top_builddir/loader/libskrt.pc") -ldl -lm"
$CC $sanitize -I"$top_srcdir/loader" bound.c $libskrt -pthread -o bound && ./bound || fail "tensors that are bound anew"

# A view with gaps and rows of several dimensions has a stride of its own for each.
cat >views.c <<'C'
#include <stdint.h>
void plain(const float *x, float *y, long m, long n, long k, long ldx)
{
	for (long i = 0; i < m; i++)
		for (long j = 0; j < n * k; j++)
			y[i * n * k + j] = x[i * ldx + j];
}
typedef struct { float *basePtr, *data; int64_t offset, sizes[3], strides[3]; } memref3;
void _mlir_ciface_copy(memref3 *x, memref3 *y)
{
	for (int64_t i = 0; i < x->sizes[0]; i++)
		for (int64_t j = 0; j < x->sizes[1]; j++)
			for (int64_t l = 0; l < x->sizes[2]; l++)
				y->data[i * y->strides[0] + j * y->strides[1] + l * y->strides[2]] =
					x->data[i * x->strides[0] + j * x->strides[1] + l * x->strides[2]];
}
/* libgfortran.h of GCC 9 and later: Fortran's first dimension is the last one here, and subscripts begin at 1. */
typedef struct {
	float *base;
	int64_t offset;
	struct { uint64_t elem_len; int32_t version; int8_t rank, type; int16_t attribute; } dtype;
	int64_t span;
	struct { int64_t stride, lower, upper; } dim[3];
} descriptor3;
static float *element(const descriptor3 *x, int64_t a, int64_t b, int64_t c)
{
	return x->base + x->offset + a * x->dim[0].stride + b * x->dim[1].stride + c * x->dim[2].stride;
}
void fortran(descriptor3 *x, descriptor3 *y)
{
	for (int64_t a = 1; a <= x->dim[0].upper; a++)
		for (int64_t b = 1; b <= x->dim[1].upper; b++)
			for (int64_t c = 1; c <= x->dim[2].upper; c++)
				*element(y, a, b, c) = *element(x, a, b, c);
}
typedef struct {
	uint64_t device;
	const void *device_interface;
	float *host;
	uint64_t flags;
	struct { uint8_t code, bits; uint16_t lanes; } type;
	int32_t dimensions;
	struct { int32_t min, extent, stride; uint32_t flags; } *dim;
	void *padding;
} halide_buffer3;
int halide(halide_buffer3 *x, halide_buffer3 *y)
{
	for (int a = 0; a < x->dim[0].extent; a++)
		for (int b = 0; b < x->dim[1].extent; b++)
			for (int c = 0; c < x->dim[2].extent; c++)
				y->host[a * y->dim[0].stride + b * y->dim[1].stride + c * y->dim[2].stride] =
					x->host[a * x->dim[0].stride + b * x->dim[1].stride + c * x->dim[2].stride];
	return 0;
}
C
compile views
cat >views.yaml <<'M'
sklink: 1
tensors:
  all: {dtype: f32, shape: [9, 6, 5]}
  x: {of: all, offset: [0, 1, 0], shape: [9, 3, 5]}
  a: {dtype: f32, shape: [9, 3, 5]}
  b: {dtype: f32, shape: [9, 3, 5]}
  c: {dtype: f32, shape: [9, 3, 5]}
  d: {dtype: f32, shape: [9, 3, 5]}
kernels:
  plain: {signature: "in x f32[m,n:ldx,k], out y f32[m,n,k], m i64, n i64, k i64, ldx i64"}
  mlir: {symbol: _mlir_ciface_copy, signature: "split=m frame=mlir; in x f32[m,n:ldx,k], out y f32[m,n,k]"}
  fortran: {signature: "tile=m:2 frame=gfortran; in x f32[m,n:ldx,k], out y f32[m,n,k]"}
  halide: {signature: "each=m frame=halide; in x f32[m,n:ldx,k], out y f32[m,n,k]"}
tasks:
  - {name: plain, kernel: plain, args: [x, a], scope: s}
  - {name: mlir, kernel: mlir, args: [x, b], scope: s}
  - {name: fortran, kernel: fortran, args: [x, c], scope: s}
  - {name: halide, kernel: halide, args: [x, d], scope: s}
M
"$sklink" views.yaml views.o -o views.sk
"$skdump" --verify views.sk >/dev/null || fail "views.sk is not proved"
for options in '--cores 1' '--cores 3' --serial --guard; do
	"$skrun" views.sk --random 3 $options --output a=a.npy --output b=b.npy --output c=c.npy --output d=d.npy \
		>/dev/null
	for frame in b c d; do
		cmp a.npy $frame.npy || fail "the view as $frame, $options"
	done
done

# The comparison looks.
source_of 1
"$sklink" model.yaml kernels.o -o model.sk
fails_with "task 'compare': kernel compare returned status" "$skrun" model.sk --random 1
