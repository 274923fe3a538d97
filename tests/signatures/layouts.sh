#!/bin/bash
# Tensors that are passed by descriptors, one by one (`as NAME`) or all of them (`frame=NAME`): views with gaps, parts
# of calls, and objects of gfortran. Other structs are those that the compilers publish.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/kernels.sh"
need_command gfortran gfortran

cat >kernels.c <<'C'
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* y = x * factor + place, of any strides */
static int fill(const float *x, const int64_t *sx, float *y, const int64_t *sy, int64_t m, int64_t n, float factor)
{
	for (int64_t i = 0; i < m; i++)
		for (int64_t j = 0; j < n; j++)
			y[i * sy[0] + j * sy[1]] = x[i * sx[0] + j * sx[1]] * factor + (float)j;
	return 0;
}
void plain(const float *x, float *y, long m, long n, long ldx, float factor)
{
	fill(x, (int64_t[]){ldx, 1}, y, (int64_t[]){n, 1}, m, n, factor);
}

/* mlir/ExecutionEngine/CRunnerUtils.h */
typedef struct { float *base, *data; int64_t offset, sizes[2], strides[2]; } memref;
void by_memref(long before, memref *x, float *y, float factor)
{
	if (before == 7)
		fill(x->data + x->offset, x->strides, y, (int64_t[]){x->sizes[1], 1}, x->sizes[0], x->sizes[1], factor);
	memset(x, 0, sizeof(*x));
}

/* dlpack.h, tvm/ffi/c_api.h */
typedef struct {
	void *data;
	struct { int32_t type, id; } device;
	int32_t ndim;
	struct { uint8_t code, bits; uint16_t lanes; } dtype;
	int64_t *shape, *strides;
	uint64_t byte_offset;
} DLTensor;
static int by_tensors(const DLTensor *x, DLTensor *y, float factor)
{
	if (x->device.type != 1 || x->ndim != 2 || x->dtype.code != 2 || x->dtype.bits != 32 || x->dtype.lanes != 1 ||
	    x->byte_offset || !x->strides || y->shape[0] != x->shape[0])
		return -1;
	return fill(x->data, x->strides, y->data, y->strides, x->shape[0], x->shape[1], factor);
}
int by_dltensor(DLTensor *x, float factor, DLTensor *y) { return by_tensors(x, y, factor); }
typedef struct { int32_t type_index; uint32_t padding; union { int64_t v_int64; double v_float64; void *v_ptr; } value; } TVMFFIAny;
_Static_assert(sizeof(TVMFFIAny) == 16, "TVMFFIAny");
int __tvm_ffi_scale(void *self, TVMFFIAny *args, int32_t num_args, TVMFFIAny *result)
{
	if (self || num_args != 4 || args[0].type_index != 7 || args[1].type_index != 7 || args[2].type_index != 3 ||
	    args[3].type_index != 1 || args[3].value.v_int64 != 5 || args[0].padding || result->type_index)
		return -1;
	result->type_index = 1;
	if (by_tensors(args[0].value.v_ptr, args[1].value.v_ptr, (float)args[2].value.v_float64))
		return -2;
	args[0].value.v_ptr = NULL;
	return 0;
}

/* HalideRuntime.h */
typedef struct {
	uint64_t device;
	const void *interface;
	float *host;
	uint64_t flags;
	struct { uint8_t code, bits; uint16_t lanes; } type;
	int32_t dimensions;
	struct { int32_t min, extent, stride; uint32_t flags; } *dim;
	void *padding;
} halide_buffer_t;
int by_halide(halide_buffer_t *x, float *y, float factor)
{
	return fill(x->host, (int64_t[]){x->dim[1].stride, x->dim[0].stride}, y, (int64_t[]){x->dim[0].extent, 1},
		    x->dim[1].extent, x->dim[0].extent, factor);
}

/* flang/ISO_Fortran_binding.h */
typedef struct {
	float *base;
	size_t elem_len;
	int version;
	unsigned char rank;
	signed char type;
	unsigned char attribute, extra;
	struct { ptrdiff_t lower, extent, sm; } dim[2];
} flang_cdesc;
int by_flang(const flang_cdesc *x, flang_cdesc *y, const float *factor)
{
	if (x->version != 20180515 || x->elem_len != 4 || x->rank != 2 || x->type != 27 || x->attribute || x->extra)
		return -1;
	return fill(x->base, (int64_t[]){x->dim[1].sm / 4, x->dim[0].sm / 4}, y->base,
		    (int64_t[]){y->dim[1].sm / 4, y->dim[0].sm / 4}, x->dim[1].extent, x->dim[0].extent, *factor);
}

/* Numba: numba/core/callconv.py and ArrayModel, as they are compiled for (float32[:, :], float32[:, ::1], float32) */
int32_t by_numba(int64_t *result, void **exception, void *m1, void *p1, int64_t n1, int64_t size1, float *x, int64_t x0,
		 int64_t x1, int64_t sx0, int64_t sx1, void *m2, void *p2, int64_t n2, int64_t size2, float *y, int64_t y0,
		 int64_t y1, int64_t sy0, int64_t sy1, float factor)
{
	if (*exception || m1 || p1 || m2 || p2 || n1 != x0 * x1 || n2 != y0 * y1 || size1 != 4 || size2 != 4 || x1 != y1)
		return 1;
	result[0] = result[1] = 1;
	return fill(x, (int64_t[]){sx0 / 4, sx1 / 4}, y, (int64_t[]){sy0 / 4, sy1 / 4}, x0, x1, factor);
}

/* IREE: iree/hal/local/executable_library.h */
typedef struct {
	const uint32_t *constants;
	void *thunk, *functions, *contexts;
	uint64_t processor[8];
} environment_v0;
typedef struct {
	uint32_t size_x, size_y;
	uint16_t size_z, constant_count;
	uint32_t count_x, count_y;
	uint16_t count_z;
	uint8_t max_concurrency, binding_count;
	const uint32_t *constants;
	void *const *bindings;
	const size_t *lengths;
} dispatch_v0;
typedef struct {
	uint32_t x, y;
	uint16_t z, reserved;
	uint32_t processor;
	void *memory;
	uint32_t memory_size;
} workgroup_v0;
/* Each workgroup computes up to 4 columns and 2 rows. */
int by_iree(const environment_v0 *environment, const dispatch_v0 *dispatch, const workgroup_v0 *workgroup)
{
	const uint32_t *c = dispatch->constants;
	int64_t m = c[0], n = c[1], row = 2 * workgroup->y, column = 4 * workgroup->x;
	const float *x = dispatch->bindings[0];
	float *y = dispatch->bindings[1], factor;

	if (environment->processor[0] || dispatch->constant_count != 3 || dispatch->binding_count != 2 || workgroup->z ||
	    dispatch->count_x != (n + 3) / 4 || dispatch->count_y != (m + 1) / 2 || dispatch->count_z != 1 ||
	    dispatch->lengths[0] != 4u * m * n || dispatch->lengths[1] != 4u * m * n || dispatch->size_x != 1)
		return 1;
	memcpy(&factor, &c[2], 4);
	for (int64_t i = row; i < row + 2 && i < m; i++)
		for (int64_t j = column; j < column + 4 && j < n; j++)
			y[i * n + j] = x[i * n + j] * factor + (float)j;
	return 0;
}
int by_iree_alone(const environment_v0 *environment, const dispatch_v0 *dispatch, const workgroup_v0 *workgroup)
{
	if (dispatch->constant_count || dispatch->binding_count != 2 || dispatch->count_x != 1 || workgroup->x)
		return 1;
	memcpy(dispatch->bindings[1], dispatch->bindings[0], dispatch->lengths[1]);
	return environment->thunk != NULL;
}
C
compile kernels
cat >fortran.f90 <<'F'
subroutine by_gfortran(x, m, n, y, factor)
	integer, intent(in) :: m, n
	real, intent(in) :: x(:, :), factor
	real, intent(out) :: y(n, m)
	integer :: j
	do j = 1, m
		y(:, j) = x(:, j) * factor + [(real(i), i = 0, n - 1)]
	end do
end subroutine
subroutine by_cfi(x, y, factor) bind(c)
	use iso_c_binding
	real(c_float), intent(in) :: x(:, :)
	real(c_float), intent(out) :: y(:, :)
	real(c_float), value :: factor
	integer :: j
	do j = 1, size(x, 2)
		y(:, j) = x(:, j) * factor + [(real(i), i = 0, size(x, 1) - 1)]
	end do
end subroutine
F
gfortran -O1 -fPIC -g -c fortran.f90 -o fortran.o

kernels="memref dltensor halide flang numba gfortran cfi cfi_frame flang_frame ffi"
{
	cat <<'M'
sklink: 1
tensors:
  all: {dtype: f32, shape: [9, 8]}
  x: {of: all, offset: [0, 2], shape: [9, 5]}
  plain: {dtype: f32, shape: [9, 5], role: output}
  w: {dtype: f32, shape: [9, 5]}
  dense: {dtype: f32, shape: [9, 5], role: output}
  iree: {dtype: f32, shape: [9, 5], role: output}
  copy: {dtype: f32, shape: [9, 5], role: output}
M
	for k in $kernels; do echo "  $k: {dtype: f32, shape: [9, 5], role: output}"; done
	cat <<'M'
kernels:
  plain: {signature: "in x f32[m,n:ldx], out y f32[m,n], m i64, n i64, ldx i64, factor f32"}
  memref: {symbol: by_memref, signature: "split=m; before i64 = 7, in x f32[m,n:ldx] as memref, out y f32[m,n], factor f32"}
  dltensor: {symbol: by_dltensor, signature: "tile=m:2; in x f32[m,n:ldx] as dltensor, factor f32, out y f32[m,n] as dltensor -> status"}
  halide: {symbol: by_halide, signature: "each=m; in x f32[m,n:ldx] as halide, out y f32[m,n], factor f32 -> status"}
  flang: {symbol: by_flang, signature: "in x f32[m,n:ldx] as flang, out y f32[m,n] as flang, ref factor f32 -> status"}
  numba: {symbol: by_numba, signature: "split=m frame=numba; in x f32[m,n:ldx], out y f32[m,n], factor f32"}
  gfortran: {symbol: by_gfortran_, signature: "in x f32[m,n:ldx] as gfortran, ref m i32, ref n i32, out y f32[m,n], ref factor f32"}
  copy: {symbol: by_iree_alone, signature: "frame=iree; in x f32[n], out y f32[n]"}
  iree: {symbol: by_iree, signature: "grid=(n+3)/4,(m+1)/2 frame=iree; in x f32[m,n], out y f32[m,n], m u32, n i32, factor f32"}
  cfi: {symbol: by_cfi, signature: "split=m; in x f32[m,n:ldx] as cfi, out y f32[m,n] as cfi, factor f32"}
  cfi_frame: {symbol: by_cfi, signature: "frame=cfi; in x f32[m,n:ldx], out y f32[m,n], factor f32"}
  flang_frame: {symbol: by_flang, signature: "frame=flang; in x f32[m,n:ldx], out y f32[m,n], ref factor f32 -> status"}
  ffi: {symbol: __tvm_ffi_scale, signature: "split=m frame=tvm-ffi; in x f32[m,n:ldx], out y f32[m,n], factor f64, bias i64 = 5"}
tasks:
  - {name: dense, kernel: plain, args: [w, dense], set: {factor: 3}, scope: s}
  - {name: iree, kernel: iree, args: [w, iree], set: {factor: 3}, scope: s, stream: 1}
  - {name: copy, kernel: copy, args: [iree, copy], scope: s, stream: 1}
M
	for k in plain $kernels; do
		echo "  - {name: $k, kernel: $k, args: [x, $k], set: {factor: 3}, scope: s, stream: $(($(wc -c <<<$k) % 3))}"
	done
} >model.yaml
awk '/signature:/ { sub(/.*signature: /, ""); if (length > 123) { print; exit 1 } }' model.yaml || fail "a long signature"
"$sklink" model.yaml kernels.o fortran.o -o model.sk
"$skdump" --verify model.sk | grep -q '^verified: ' || fail "not proved"
"$skdump" --json model.sk | grep -q "in x f32.m,n:ldx. as memref" || fail "the signature is not as written"
for options in '--cores 1' '--cores 2' '--cores 3' --guard '--guard --cores 3' '--check-races --cores 3' --serial --unfused; do
	outputs=
	for k in plain dense iree copy $kernels; do outputs="$outputs --output $k=$k.npy"; done
	"$skrun" model.sk --random 4 $options $outputs >/dev/null || fail "$options"
	for k in $kernels; do
		cmp plain.npy $k.npy || fail "$k, $options"
	done
	cmp dense.npy iree.npy && cmp dense.npy copy.npy || fail "iree, $options"
done

# The struct that a layout stands for, written by hand.
sed 's/in x f32\[m,n:ldx\] as memref/view {base ptr = null, in x f32[m,n:ldx], offset i64 = 0, m0 i64 = size(m), n0 i64 = n, s0 i64 = ldx, s1 i64 = 1}*/' \
	model.yaml >hand.yaml
"$sklink" hand.yaml kernels.o fortran.o -o hand.sk && "$skrun" hand.sk --random 4 --output memref=hand.npy >/dev/null
cmp plain.npy hand.npy || fail "the struct written by hand"

# A table of tensors beside a layout.
cat >sum.c <<'C'
#include <stdint.h>
typedef struct { float *base, *data; int64_t offset, sizes[1], strides[1]; } memref;
void sum(const float **x, memref *y, long count)
{
	for (int64_t i = 0; i < y->sizes[0]; i++) {
		y->data[i] = 0;
		for (long j = 0; j < count; j++)
			y->data[i] += x[j][i];
	}
}
C
compile sum
cat >sum.yaml <<'M'
sklink: 1
tensors:
  a: {dtype: f32, shape: [300]}
  b: {dtype: f32, shape: [300]}
  y: {dtype: f32, shape: [300], role: output}
  z: {dtype: f32, shape: [300], role: output}
kernels:
  sum: {signature: "split=n; in x[] f32[n], out y f32[n] as memref, count i64 = count(x)"}
tasks:
  - {name: two, kernel: sum, args: [a, b, y], scope: s}
  - {name: three, kernel: sum, args: [a, a, b, z], scope: s}
M
"$sklink" sum.yaml sum.o -o sum.sk && "$skdump" --verify sum.sk | grep -q '^verified: ' || fail "tables"
/usr/bin/python3 -c 'import numpy as n; [n.save(k, n.arange(300, dtype="f") * i) for i, k in enumerate("ab", 1)]'
"$skrun" sum.sk --input a=a.npy --input b=b.npy --output y=y.npy --output z=z.npy --cores 2 >/dev/null
/usr/bin/python3 -c 'import numpy as n; assert (n.load("y.npy") == n.arange(300) * 3).all() and (n.load("z.npy") == n.arange(300) * 4).all()'

# TVM has changed its frame: a name of the newer one in the older frame.
sed 's/split=m frame=tvm-ffi; in x f32\[m,n:ldx\]/frame=tvm-packed; in x f32[m,n]/; s/args: \[x, ffi\]/args: [plain, ffi]/' \
	model.yaml >old.yaml
fails_with "kernel 'ffi': frame=tvm-packed is that of TVM up to 0.18, .*say frame=tvm-ffi" \
	"$sklink" old.yaml kernels.o fortran.o -o old.sk --fatal-warnings
