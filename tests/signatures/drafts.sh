#!/bin/bash
# --signature-of: the drafts of functions of C, C++ and Fortran, and packages of these drafts.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/kernels.sh"
need_command gfortran gfortran
grep -q '^#define HAVE_LIBDW' "$top_builddir/config.h" || { echo "SKIP: built without libdw"; exit 77; }

# drafted FILE NAME TEXT: the signature of the function in the draft of FILE; usable unless the text begins with '#'.
drafted() {
	"$sklink" --signature-of "$1" >draft.txt || fail "no draft of $1"
	text=$(awk -v name="$2:" '$1 == name || ($1 == "#" && $2 == name) { on = 1 }
		on && /signature:/ { sub(/^ *(# *)?signature: /, ($1 == "#") ? "#" : ""); print; exit }' draft.txt)
	[ "$text" = "$3" ] || { cat draft.txt >&2; fail "$2 of $1: $text"; }
}
# noted TEXT: a comment of the last draft.
noted() { grep -q "^    # $1" draft.txt || { cat draft.txt >&2; fail "no comment $1"; }; }

# ---- from sources to a package: only directions are edited ----

cat >shift.c <<'C'
#include <stdint.h>
int shift(const float *restrict x, float *y, int64_t n, float by)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + by;
	return n < 0;
}
float total(const float *in, unsigned n)
{
	float sum = 0;
	for (unsigned i = 0; i < n; i++)
		sum += in[i];
	return sum;
}
C
cat >heat.f90 <<'F'
subroutine scale(n, x, y, factor)
	integer, intent(in) :: n
	real, intent(in) :: x(n), factor
	real, intent(out) :: y(n)
	y = x * factor
end subroutine
subroutine columns(a, s)
	real, intent(in) :: a(:, :)
	real, intent(out) :: s(:)
	s = sum(a, 1)
end subroutine
F
/usr/bin/python3 -c 'import numpy; numpy.save("x.npy", numpy.random.default_rng(1).random((20, 30), dtype="f"))'
for level in -O0 -O2; do
	gcc -g $level -fPIC -c shift.c -o shift.o
	gfortran -g $level -fPIC -c heat.f90 -o heat.o
	drafted shift.o shift '"in x f32[n], inout y f32[n], n i64, by f32 -> status"'
	noted "y: 'out' if the function writes all of it"
	noted "n: taken for the number of elements of x, y"
	noted "status: "
	drafted shift.o total '"in in_ f32[n], n u32 -> out result f32"'
	drafted heat.o scale_ '"ref n i32, inout x f32[n], inout y f32[n], ref factor f32"'
	drafted heat.o columns_ '"inout a f32[a_0,a_1] as gfortran, inout s f32[s_0] as gfortran"'
	noted "a, s: the extents are not known"
	{
		echo "sklink: 1"
		"$sklink" --signature-of shift.o
		"$sklink" --signature-of heat.o | sed '/^kernels:/d; s/inout \([xa]\) /in \1 /'
		cat <<'M'
tensors:
  x: {dtype: f32, shape: [20, 30]}
  a: {dtype: f32, shape: [20, 30]}
  b: {dtype: f32, shape: [20, 30]}
  s: {dtype: f32, shape: [20], role: output}
  t: {dtype: f32, shape: [1], role: output}
tasks:
  - {name: one, kernel: shift, args: [x, a], set: {by: 2}, scope: all}
  - {name: two, kernel: scale_, args: [a, b], set: {factor: 0.5}, scope: all}
  - {name: three, kernel: columns_, args: [b, s], scope: all}
  - {name: four, kernel: total, args: [b, t], scope: all}
M
	} | sed 's/inout \([ys]\) /out \1 /' >model.yaml
	"$sklink" model.yaml shift.o heat.o -o model.sk
	"$skdump" --verify model.sk | grep -q '^verified: ' || fail "not proved"
	for options in '--cores 1' '--cores 3' --guard '--check-races --cores 2' --serial; do
		"$skrun" model.sk --input x=x.npy $options --output s=s.npy --output t=t.npy >/dev/null
		/usr/bin/python3 - <<'P' || fail "$options"
import numpy as np
b = (np.load("x.npy") + np.float32(2)) * np.float32(0.5)
assert np.allclose(np.load("s.npy"), b.sum(axis=1), rtol=1e-5) and np.allclose(np.load("t.npy"), b.sum(), rtol=1e-4)
P
	done
done
# The draft as it is does not give wrong results: a tensor that nothing has written is not read.
sed -i 's/out y f32/inout y f32/; s/ininout/inout/' model.yaml
fails_with "task 'one' reads bytes .* of 'a'" "$sklink" model.yaml shift.o heat.o -o wrong.sk

# ---- other parameters ----

cat >many.c <<'C'
#include <stdbool.h>
#include <stddef.h>
typedef float real;
typedef const real *vector;
enum mode { A, B };
struct pair { float a; int b; };
void matrix(int m, int n, const double x[m][n], double (*y)[16], bool flag, unsigned char c, enum mode mode) { y[0][0] = x[0][0]; }
void typed(vector v, const _Float16 *h, short *i, size_t n) { *i = v[0] + h[0]; }
void wrapped(const struct pair *p, void *u, float *y) { y[0] = p->a; }
long double large(const float *x) { return x[0]; }
float *within(float *x) { return x + 1; }
static int hidden(int a) { return a + 1; }
int (*pointer)(int) = hidden;
void inlined(const float *x, float *y, long n) { y[n] = x[n]; }
void user(const float *x, float *y) { inlined(x, y, 3); }
C
gcc -g -O2 -fPIC -c many.c -o many.o
drafted many.o matrix '"m i32, n i32, in x f64[x_0,x_1], inout y f64[y_0,16], flag u8, c u8, mode i32"'
drafted many.o typed '"in v f32[n], in h f16[n], inout i i16[n], n u64"'
drafted many.o wrapped '#"p ptr = null, u ptr = null, inout y f32[y_0]"'
noted "p: a pointer to something else than elements; describe it"
noted "u: void \*; describe it"
drafted many.o large '#"in x f32[x_0]"'
noted "result: signatures have none of this type: long double"
drafted many.o within '"inout x f32[x_0]"'
noted "result: the address that the function returns is not used"
drafted many.o inlined '"in x f32[n], inout y f32[n], n i64"'
! grep -q hidden draft.txt || fail "a local function"
cat >refs.cc <<'C'
namespace inner { void scaled(const double &factor, const float *x, float *y) { y[0] = x[0] * (float)factor; } }
C
g++ -g -fPIC -c refs.cc -o refs.o
drafted refs.o _ZN5inner6scaledERKdPKfPf '"ref factor f64, in x f32[x_0], inout y f32[y_0]"'
cat >mixed.f90 <<'F'
module shapes
contains
subroutine fixed(a, b, n)
	real(8), intent(in) :: a(4, *)
	real(8), intent(inout) :: b(0:3, 4)
	integer(8), value :: n
	b = b + a(:, 1:4) * n
end subroutine
subroutine both(a, n, b)
	real, intent(in) :: a(:)
	integer, intent(in) :: n
	real, intent(out) :: b(n)
	b = a(1:n)
end subroutine
end module
F
gfortran -g -O1 -fPIC -c mixed.f90 -o mixed.o
drafted mixed.o __shapes_MOD_fixed '"inout a f64[a_0,4], inout b f64[4,4], n i64"'
drafted mixed.o __shapes_MOD_both '"inout a f32[a_0] as gfortran, ref n i32, inout b f32[n]"'

# ---- archives, shared libraries, files without debug information ----

cp shift.o other.o
ar rc all.a shift.o other.o many.o
drafted all.a shift '"in x f32[n], inout y f32[n], n i64, by f32 -> status"'
[ "$(grep -c '^  shift:' draft.txt)" = 1 ] || fail "a function of two members comes twice"
drafted all.a inlined '"in x f32[n], inout y f32[n], n i64"'
gcc -shared shift.o -o shift.so
drafted shift.so total '"in in_ f32[n], n u32 -> out result f32"'
strip -g shift.o
drafted shift.o shift ''
grep -qx 'kernels: {}' draft.txt && grep -qx '#   total' draft.txt || fail "functions without debug information"

# ---- errors ----

fails_with "model.yaml: has no functions that could be described: " "$sklink" --signature-of model.yaml
fails_with "missing.o: has no functions that could be described: No such file" "$sklink" --signature-of missing.o
fails_with "many.o: --signature-of describes the functions of one file" "$sklink" --signature-of=shift.o many.o
# An extent that is not known has a name that no parameter has.
echo 'void copy(const float *x, float *x_0, long rows, long columns) { (void)rows, (void)columns; }' >names.c
gcc -g -fPIC -c names.c -o names.o
drafted names.o copy '"in x f32[x_0_], inout x_0 f32[x_0_0], rows i64, columns i64"'
size=$(stat -c %s many.o)
for cut in 70 1000 $((size / 2)) $((size - 100)); do
	head -c $cut many.o >cut.o
	status=0
	"$sklink" --signature-of cut.o >/dev/null 2>err.txt || status=$?
	[ $status -le 1 ] || { cat err.txt >&2; fail "the first $cut bytes: status $status"; }
done
