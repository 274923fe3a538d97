#!/bin/bash
# Objects with the structure of those that TVM 0.27, IREE 3.13, Halide 21 and Numba 0.68 write: drafts of their
# signatures (--signature-of), and packages of the drafts. The sources state the same tables, texts, names and checks as
# those objects have; make check-compilers has the objects themselves.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
grep -q '^#define HAVE_LIBDW' "$top_builddir/config.h" || { echo "SKIP: built without libdw"; exit 77; }
compat="-L$top_builddir/compat -lskcompat"

# drafted FILE LINE…: the draft of FILE has these lines, one after the other.
drafted() {
	"$sklink" --signature-of "$1" >draft.txt || fail "no draft of $1"
	shift
	printf '%s\n' "$@" >wanted.txt
	awk 'NR == FNR { wanted[NR] = $0; count = NR; next } $0 == wanted[at + 1] { at++ } END { exit at != count }' \
		wanted.txt draft.txt || { cat draft.txt >&2; fail "the draft lacks: $*"; }
}

# ---- TVM: checks and their texts, a hook for workspaces, errors as parts of texts ----

cat >tvm.c <<'C'
#include <stddef.h>
#include <stdint.h>

typedef struct { int32_t type_index; uint32_t padding; union { int64_t i; double f; void *p; } v; } TVMFFIAny;
typedef struct {
	void *data;
	struct { int32_t type, id; } device;
	int32_t ndim;
	struct { uint8_t code, bits; uint16_t lanes; } dtype;
	int64_t *shape, *strides;
	uint64_t byte_offset;
} DLTensor;

extern void TVMFFIErrorSetRaisedFromCStrParts(const char *kind, const char **parts, int32_t count);
__attribute__((weak)) void *(*__TVMBackendAllocWorkspace)(int, int, uint64_t, int, int);
__attribute__((weak)) int (*__TVMBackendFreeWorkspace)(int, int, void *);

static int raise(const char *text)
{
	const char *parts[] = {"Mismatched ", text, " when calling:\n  `",
			       "dense(x: Tensor([T.int64(6), 4], float32), w.weight: Tensor([4, 5], float32), "
			       "factor: float64, shift: int32, y: Tensor([6, 5], float32))", "`"};

	TVMFFIErrorSetRaisedFromCStrParts("TypeError", parts, 5);
	return -1;
}

static int is_tensor(const TVMFFIAny *any, int64_t rows, int64_t columns)
{
	const DLTensor *t = any->v.p;

	return any->type_index == 7 && t && t->ndim == 2 && t->dtype.code == 2 && t->dtype.bits == 32 && t->dtype.lanes == 1 &&
	       t->shape[0] == rows && t->shape[1] == columns &&
	       (!t->strides || (t->strides[1] == 1 && t->strides[0] == columns)) && !t->byte_offset && t->device.type == 1;
}

static int dense_compute_(const float *x, const float *w, double factor, int32_t shift, float *y, int32_t device)
{
	float *t = __TVMBackendAllocWorkspace(1, device, 20, 2, 32);

	if (!t)
		return -1;
	for (int i = 0; i < 6; i++) {
		for (int j = 0; j < 5; j++) {
			t[j] = 0;
			for (int k = 0; k < 4; k++)
				t[j] += x[4 * i + k] * w[5 * k + j];
			y[5 * i + j] = t[j] * (float)factor + (float)shift;
		}
	}
	return __TVMBackendFreeWorkspace(1, device, t);
}

int32_t __tvm_ffi_dense(void *self, void *args, int32_t num_args, void *result)
{
	const TVMFFIAny *any = args;
	TVMFFIAny *given = result;

	if (num_args != 5)
		return raise("number of arguments");
	if (!is_tensor(&any[0], 6, 4) || !is_tensor(&any[1], 4, 5) || any[2].type_index != 3 || any[3].type_index != 1 ||
	    !is_tensor(&any[4], 6, 5))
		return raise("type");
	given->type_index = 0;
	given->v.i = 0;
	return dense_compute_(((DLTensor *)any[0].v.p)->data, ((DLTensor *)any[1].v.p)->data, any[2].v.f, (int32_t)any[3].v.i,
			      ((DLTensor *)any[4].v.p)->data, 0);
}

int32_t __tvm_ffi_odd(void *self, void *args, int32_t num_args, void *result)
{
	TVMFFIErrorSetRaisedFromCStrParts("odd(x: Tensor([n, n * T.int64(2)], bfloat16), h: T.handle)", NULL, 0);
	return -1;
}

__attribute__((weak)) int32_t __tvm_ffi_main(void *self, void *args, int32_t num_args, void *result)
{
	return __tvm_ffi_dense(self, args, num_args, result);
}
C
compile tvm
drafted tvm.o 'kernels:' '  dense:' '    symbol: "__tvm_ffi_dense"' \
	'    signature: "frame=tvm-ffi; in x f32[6,4], in w_x2Eweight f32[4,5], factor f64, shift i64, out y f32[6,5]"' \
	'  # odd:' '  #   signature: "frame=tvm-ffi; out x bf16[n,n*2], h ptr = null"' '#   __tvm_ffi_main'
{
	echo "sklink: 1"
	cat draft.txt
	cat <<'M'
tensors:
  x: {dtype: f32, shape: [6, 4]}
  w: {dtype: f32, shape: [4, 5]}
  y: {dtype: f32, shape: [6, 5]}
tasks:
  - {name: dense, kernel: dense, args: [x, w, y], set: {factor: 0.5, shift: 3}, scope: all}
M
} >model.yaml
# shellcheck disable=SC2086 # a list of options
"$sklink" model.yaml tvm.o $compat -o tvm.sk
/usr/bin/python3 -c '
import numpy as np
np.save("x", np.random.default_rng(1).random((6, 4), dtype="f"))
np.save("w", np.random.default_rng(2).random((4, 5), dtype="f"))'
for options in '--cores 1' '--cores 3 --verify' --guard --check-races; do
	# shellcheck disable=SC2086 # a list of options
	"$skrun" tvm.sk --input x=x.npy --input w=w.npy --output y=y.npy $options >out.txt
	/usr/bin/python3 -c '
import numpy as np
assert np.allclose(np.load("y.npy"), np.load("x.npy") @ np.load("w.npy") * 0.5 + 3, atol=1e-5)' || fail "dense, $options"
done
# The checks of the function hold: other extents end the launch.
sed -i 's/in x f32\[6,4\], in w_x2Eweight f32\[4,5\]/in x f32[m,k], in w f32[k,n]/; s/\[6, 4\]/[6, 3]/; s/\[4, 5\]/[3, 5]/' model.yaml
# shellcheck disable=SC2086 # a list of options
"$sklink" model.yaml tvm.o $compat -o tvm.sk
fails_with "task 'dense'" "$skrun" tvm.sk --random 1
# Names of another age than the frame: a warning.
sed 's/symbol: "__tvm_ffi_dense"/symbol: older/' model.yaml >older.yaml
echo 'int older(void *a, void *b, int c, void *d) { return 1; }' >older.c
compile older
"$sklink" older.yaml older.o -o older.sk 2>err.txt
grep -q "kernel 'dense': frame=tvm-ffi is that of TVM since 0.20, which names functions __tvm_ffi_NAME" err.txt ||
	{ cat err.txt >&2; fail "no warning of an older name"; }

# ---- IREE: local functions, the export table of version 6 ----

cat >iree.c <<'C'
#include <stddef.h>
#include <stdint.h>

typedef struct { uint32_t x, y; uint16_t z, constant_count; uint32_t count_x, count_y; uint16_t count_z; uint8_t max; uint8_t
	binding_count; const uint32_t *constants; void *const *bindings; const size_t *lengths; } dispatch;
typedef struct { uint32_t x, y; uint16_t z, reserved; uint32_t processor; void *memory; uint32_t size; } workgroup;
typedef struct { uint64_t flags; uint16_t pages; uint8_t constants, bindings; uint32_t x, y; uint16_t z; uint8_t rest[36]; }
	attributes;
_Static_assert(sizeof(attributes) == 64, "iree_hal_executable_dispatch_attrs_v0_t");

static int net_dispatch_0_scale_24xf32(const void *environment, const dispatch *d, const workgroup *w)
{
	const float *x = d->bindings[0];
	float *y = d->bindings[1], factor;

	__builtin_memcpy(&factor, d->constants, 4);
	for (uint32_t i = 6 * w->x; i < 6 * w->x + 6; i++)
		y[i] = x[i] * factor;
	return d->binding_count != 2 || d->constant_count != 1 || d->count_x != 4;
}
static int net_dispatch_1_add_24xf32(const void *environment, const dispatch *d, const workgroup *w)
{
	const float *x = d->bindings[0], *b = d->bindings[1];
	float *y = d->bindings[2];

	for (uint32_t i = 0; i < 24; i++)
		y[i] = x[i] + b[i];
	return 0;
}
static const struct { uint32_t version; const char *name; uint32_t features, sanitizer; } header = {6, "net", 0, 0};
static int (*const functions[2])(const void *, const dispatch *, const workgroup *) = {net_dispatch_0_scale_24xf32,
										       net_dispatch_1_add_24xf32};
static const attributes attrs[2] = {{.constants = 1, .bindings = 2, .x = 6, .y = 1, .z = 1},
				    {.pages = PAGES, .bindings = 3, .x = 1, .y = 1, .z = 1}};
static const char *const names[2] = {"net_dispatch_0_scale_24xf32", "net_dispatch_1_add_24xf32"};
static const struct {
	const void *header;
	struct { uint32_t count; const void *symbols; } imports;
	struct { uint32_t count; const void *functions, *attrs, *params, *occupancy, *names, *tags, *parameters, *places, *stages; }
		exports;
	struct { uint32_t count; } constants;
} net_library_query_v0 = {&header, {0, NULL}, {2, functions, attrs, NULL, NULL, names}, {0}};
const void *net_library_query(uint32_t version, const void *environment) { return version >= 6 ? &net_library_query_v0 : NULL; }
C
$KERNEL_CC $KERNEL_CFLAGS -DPAGES=0 -c iree.c
drafted iree.o 'kernels: {}' '  # net_dispatch_0_scale_24xf32:' \
	'    # 2 bindings and 1 constants; directions, element types and extents are not known: f32[n0] is a placeholder' \
	'    # workgroups of 6 x 1 x 1; their number is not known: see workgroups([…]) of the phase hal' \
	'  #   object: "iree.o"' '  #   signature: "blocks frame=iree; inout b0 f32[n0], inout b1 f32[n1], c0 u32"' \
	'  # net_dispatch_1_add_24xf32:' '  #   signature: "blocks frame=iree; inout b0 f32[n0], inout b1 f32[n1], inout b2 f32[n2]"'
$KERNEL_CC $KERNEL_CFLAGS -DPAGES=1 -c iree.c
drafted iree.o '    # it needs local memory, which frame=iree does not have'
$KERNEL_CC $KERNEL_CFLAGS -DPAGES=0 -c iree.c
cat >model.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [24]}
  b: {dtype: f32, shape: [24]}
  t: {dtype: f32, shape: [24]}
  y: {dtype: f32, shape: [24]}
kernels:
  scale:
    object: iree.o
    symbol: net_dispatch_0_scale_24xf32
    signature: "blocks frame=iree; in x f32[24], out t f32[24], factor f32"
  add: {object: iree.o, symbol: net_dispatch_1_add_24xf32, signature: "frame=iree; in t f32[24], in b f32[24], out y f32[24]"}
tasks:
  - {name: scale, kernel: scale, args: [x, t], blocks: 4, set: {factor: 3}, scope: all}
  - {name: add, kernel: add, args: [t, b, y], scope: all}
M
"$sklink" model.yaml iree.o -o iree.sk
/usr/bin/python3 -c '
import numpy as np
np.save("x", np.random.default_rng(1).random(24, dtype="f"))
np.save("b", np.random.default_rng(2).random(24, dtype="f"))'
for options in '--cores 1' '--cores 3 --verify' --guard '--check-races --cores 2'; do
	# shellcheck disable=SC2086 # a list of options
	"$skrun" iree.sk --input x=x.npy --input b=b.npy --output y=y.npy $options >out.txt
	/usr/bin/python3 -c '
import numpy as np
assert (np.load("y.npy") == np.load("x.npy") * np.float32(3) + np.load("b.npy")).all()' || fail "dispatches, $options"
done

# ---- Halide: a function that returns the description of its arguments ----

cat >halide.c <<'C'
#include <stddef.h>
#include <stdint.h>

typedef struct { int32_t min, extent, stride; uint32_t flags; } dimension;
typedef struct {
	uint64_t device;
	const void *interface;
	uint8_t *host;
	uint64_t flags;
	struct { uint8_t code, bits; uint16_t lanes; } type;
	int32_t dimensions;
	dimension *dim;
	void *padding;
} buffer;
typedef struct {
	const char *name;
	int32_t kind, dimensions;
	struct { uint8_t code, bits; uint16_t lanes; } type;
	const void *value, *least, *most, *estimate;
	const int64_t *const *estimates;
} argument;
_Static_assert(sizeof(argument) == 64, "halide_filter_argument_t");

int blur(buffer *a, float factor, buffer *y)
{
	for (int r = 0; r < y->dim[1].extent; r++)
		for (int c = 0; c < y->dim[0].extent; c++) {
			const float *in = (float *)a->host + r * a->dim[1].stride + c;

			((float *)y->host)[r * y->dim[1].stride + c] = (in[0] + in[1]) * factor;
		}
	return 0;
}
static const argument arguments[] = {
	{"a", 1, 2, {2, 32, 1}}, {"factor", 0, 0, {2, 32, 1}}, {"blur", 2, 2, {2, 32, 1}}};
static const struct { int32_t version, count; const argument *arguments; const char *target, *name; }
	metadata = {1, 3, arguments, "x86-64-linux", "blur"};
const void *blur_metadata(void) { return &metadata; }

int types(buffer *a, uint8_t flag, buffer *b, void *handle, buffer *in) { return 0; }
static const argument others[] = {{"a", 1, 1, {4, 16, 1}}, {"flag", 0, 0, {1, 1, 1}}, {"b", 2, 0, {0, 64, 1}},
				  {"handle", 0, 0, {3, 64, 1}}, {"in", 1, 3, {1, 8, 1}}};
static const struct { int32_t version, count; const argument *arguments; const char *target, *name; }
	more = {1, 5, others, "x86-64-linux", "types"};
const void *types_metadata(void) { return &more; }
C
compile halide
drafted halide.o 'kernels:' '  blur:' \
	'    signature: "frame=halide; in a f32[a_0,a_1], factor f32, out blur f32[blur_0,blur_1]"' '  # types:' \
	'  #   signature: "frame=halide; in a bf16[a_0], flag u8, out b i64[1], handle ptr = null, in in_ u8[in__0,in__1,in__2]"'
{
	echo "sklink: 1"
	cat draft.txt
	cat <<'M'
tensors:
  a: {dtype: f32, shape: [6, 5]}
  y: {dtype: f32, shape: [6, 4]}
tasks:
  - {name: blur, kernel: blur, args: [a, y], set: {factor: 0.5}, scope: all}
M
} >model.yaml
"$sklink" model.yaml halide.o -o halide.sk
"$skrun" halide.sk --random 1 --verify >out.txt || { cat out.txt; fail "the draft of Halide's function"; }

# ---- Numba: mangled names ----

cat >numba.s <<'S'
	.text
	.macro function name
	.globl \name
	.type \name, @function
\name:
	xorl %eax, %eax
	ret
	.size \name, .-\name
	.endm
	.macro compiled rest
	function _ZN\rest
	function _ZN7cpython\rest
	.comm _ZN08NumbaEnv\rest,8,8
	.endm
	compiled 4main3addB2v1B38c8tJTIeFIjxB2IKSgI4CrvQClQZ6FczSBAA_3dE5ArrayIfLi2E1C8readonly7alignedEdx5ArrayIbLi1E1C7mutable7alignedE
	compiled 4main4holdB2v2E5ArrayIyLi0E1C7mutable7alignedE5ArrayIfLi1E1A7mutable7alignedE
	function _ZN4main6helperEf
	.section .note.GNU-stack,"",@progbits
S
$KERNEL_CC -c numba.s
drafted numba.o 'kernels:' '  add:' \
	'    signature: "frame=numba; in p1 f32[p1_0,p1_1], p2 f64, p3 i64, inout p4 bool[p4_0]"' '  # hold:' \
	'    # p2: its type cannot be in a signature: 5ArrayIfLi1E1A7mutable7alignedE' \
	'  #   signature: "frame=numba; inout p1 u64[1], "' '#   _ZN4main6helperEf'

# ---- archives, damage ----

ar rc all.a tvm.o iree.o halide.o numba.o
for name in dense blur add; do
	drafted all.a "  $name:"
done
drafted all.a '  #   object: "all.a"'
cat >damage.py <<'P'
import random, sys
random.seed(int(sys.argv[2]))
data = bytearray(open(sys.argv[1], "rb").read())
for _ in range(random.randrange(1, 30)):
    data[random.randrange(64, len(data))] = random.randrange(256)
open("damaged.o", "wb").write(data[:random.choice([len(data)] * 3 + [random.randrange(64, len(data))])])
P
for turn in $(seq 20); do
	for object in tvm iree halide numba; do
		/usr/bin/python3 damage.py $object.o "$turn"
		status=0
		"$sklink" --signature-of damaged.o >out.txt 2>err.txt || status=$?
		[ $status -le 1 ] || { cat err.txt; fail "$object.o, damage $turn: status $status"; }
	done
done
