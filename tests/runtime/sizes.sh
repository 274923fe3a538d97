#!/bin/bash
# Packages whose sizes vary: one package has, at each size, the bits of a static one that is linked for this size, on
# any number of cores, in all ways to run it, with guarded tensors, and through its serial entry with dlopen.
. "$top_srcdir/tests/lib/lib.sh"
cat >kernels.c <<'C'
#include "skkernel.h"
void add(const float *x, const float *b, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i] + b[i];
}
SK_KERNEL(add, "split=n; in x f32[n], in b f32[n], out y f32[n], n i64");
void bias(const float *x, const float *b, float *y, long m, long k)
{
	for (long i = 0; i < m * k; i++)
		y[i] = x[i] + b[i % k];
}
SK_KERNEL(bias, "split=m; in x f32[m,k], in b f32[k], out y f32[m,k], m i64, k i64");
void twice(float *x, long n)
{
	for (long i = 0; i < n; i++)
		x[i] *= 2;
}
SK_KERNEL(twice, "split=n; inout x f32[n], n i64");
void product(const float *a, const float *b, float *y, long m, long k, long n)
{
	for (long i = 0; i < m; i++)
		for (long j = 0; j < n; j++) {
			y[i * n + j] = 0;
			for (long l = 0; l < k; l++)
				y[i * n + j] += a[i * k + l] * b[l * n + j];
		}
}
SK_KERNEL(product, "split=m; in a f32[m,k], in b f32[k,n], out y f32[m,n], m i64, k i64, n i64");
void rows(const float *x, float *y, long m, long k, long ldx, long factor, int half)
{
	for (long i = 0; i < m; i++)
		for (long j = 0; j < k; j++)
			y[i * k + j] = (float)(factor + half) * x[i * ldx + j];
}
SK_KERNEL(rows, "split=m; in x f32[m,k:ldx], out y f32[m,k], m i64, k i64, ldx i64, factor i64, half i32 = (m+1)/2");
void whole(const float *x, float *y, long n, long bytes)
{
	for (long i = 0; i < n; i++)
		y[i] = x[n - 1 - i] + (float)bytes;
}
SK_KERNEL(whole, "in x f32[n], out y f32[n], n i64, bytes i64 = sizeof(x)");
C
compile kernels
manifest() { # NAME DIMS, then tensors and tasks from standard input
	printf 'sklink: 1\ndims: {%s}\n' "$2" >"$1.yaml"
	cat >>"$1.yaml"
	"$sklink" "$1.yaml" kernels.o -o "$1.sk"
	"$skdump" --verify "$1.sk"
}
manifest rows 'batch: 1..8, seq: 1..512@128' <<'M'
tensors:
  x: {dtype: f32, shape: [batch, seq, 64]}
  w: {dtype: f32, shape: [64, 64]}
  b: {dtype: f32, shape: [64]}
  h: {dtype: f32, shape: [batch, seq, 64]}
  p: {dtype: f32, shape: [batch, seq, 64]}
  "y": {dtype: f32, shape: [batch, seq, 64], role: output}
tasks:
  - {name: product, kernel: product, args: [x, w, h], scope: s}
  - {name: bias, kernel: bias, args: [h, b, p], scope: s}
  - {name: add, kernel: add, args: [p, x, "y"], scope: s}
  - {name: twice, kernel: twice, args: ["y"], scope: s}
M
manifest widths 'rows: 1..40, width: 8..64:8' <<'M'
tensors:
  x: {dtype: f32, shape: [rows, width]}
  w: {dtype: f32, shape: [width, 2*width]}
  b: {dtype: f32, shape: [2*width]}
  h: {dtype: f32, shape: [rows, 2*width]}
  p: {dtype: f32, shape: [rows, 2*width]}
  "y": {dtype: f32, shape: [2*rows, width]}
  z: {dtype: f32, shape: [2*rows*width]}
tasks:
  - {name: product, kernel: product, args: [x, w, h], scope: s}
  - {name: bias, kernel: bias, args: [h, b, p], scope: s}
  - {name: add, kernel: add, args: [p, h, "y"], scope: s}
  - {name: whole, kernel: whole, args: ["y", z], scope: s}
M
manifest views 'batch: 1..5, seq: 2..33, width: 16..64:16' <<'M'
tensors:
  x: {dtype: f32, shape: [batch, seq, width]}
  last: {of: x, offset: [0, seq-1, 0], shape: [1, 1, width]}
  right: {of: x, offset: [0, 0, width/4], shape: [batch, seq, width/2]}
  middle: {of: x, offset: ["batch-1", 0, 0], shape: [1, "floor(seq/2)", width]}
  a: {dtype: f32, shape: [width]}
  r: {dtype: f32, shape: [batch, seq, width/2]}
  m: {dtype: f32, shape: ["seq//2", width]}
tasks:
  - {name: last, kernel: whole, args: [last, a], scope: s}
  - {name: right, kernel: rows, args: [right, r], set: {factor: seq}, scope: s}
  - {name: middle, kernel: rows, args: [middle, m], set: {factor: "3*batch+ceil(seq/4)"}, scope: s}
M
manifest halves 'n: 1..65@9' <<'M'
tensors:
  x: {dtype: f32, shape: [n, 16]}
  half: {of: x, shape: ["n//2", 16]}
  b: {dtype: f32, shape: [16]}
  "y": {dtype: f32, shape: ["n//2", 16], role: output}
  q: {dtype: f32, shape: ["(n//2)*16"], role: output}
  r: {dtype: f32, shape: [n, 16], role: output}
tasks:
  - {name: bias, kernel: bias, args: [half, b, "y"], scope: s}
  - {name: whole, kernel: whole, args: ["y", q], scope: s}
  - {name: other, kernel: bias, args: [x, b, r], scope: s}
M

# ---- the bits of static packages ----

# same NAME SIZE…: outputs of both packages are equal, however the dynamic one is run.
same() {
	local name=$1 sizes=() how outputs=() output
	shift
	for size in "$@"; do sizes+=(--dim "$size"); done
	"$sklink" "$name.yaml" kernels.o "${sizes[@]}" -o static.sk
	for output in $("$skdump" --bindings static.sk | awk '$3 == "output" { print $2 }'); do
		outputs+=("$output")
	done
	"$skrun" static.sk --random 7 $(printf -- '--output %s=wanted-%s.npy ' $(for o in "${outputs[@]}"; do echo "$o" "$o"; done))
	for how in '--cores 1' '--cores 2' '--cores 3' '--cores 2 --guard' --serial --unfused; do
		rm -f found-*.npy
		"$skrun" "$name.sk" --random 7 "${sizes[@]}" $how \
			$(printf -- '--output %s=found-%s.npy ' $(for o in "${outputs[@]}"; do echo "$o" "$o"; done)) >run.txt
		for output in "${outputs[@]}"; do
			cmp "wanted-$output.npy" "found-$output.npy" || fail "$name $how at $*: '$output' differs"
		done
	done
}
for sizes in '1 1' '1 512' '8 1' '3 77'; do same rows batch=${sizes% *} seq=${sizes#* }; done
for sizes in '1 8' '40 64' '17 24'; do same widths rows=${sizes% *} width=${sizes#* }; done
for sizes in '1 2 16' '5 33 64' '2 17 32'; do set -- $sizes; same views batch=$1 seq=$2 width=$3; done

for size in 2 65; do same halves n=$size; done
# Of one row there is no half: nothing is called.
for how in '' --guard --check-races --check-split --unfused --serial; do
	"$skrun" halves.sk --random 1 --dim n=1 $how >run.txt
done
"$skdump" --dim n=1 --all halves.sk >none.txt
"$skdump" --dim n=1 --json halves.sk >none.json

for name in rows widths views halves; do
	"$skrun" $name.sk --random 3 --verify --sizes 5 >verify.txt
	[ "$(grep -c '^sizes ' verify.txt)" = 5 ] || fail "not five sizes: $(cat verify.txt)"
	"$skrun" $name.sk --random 3 --check-races >/dev/null
	"$skrun" $name.sk --predict >/dev/null
done

# ---- skrun's sizes ----

"$skrun" rows.sk --list >list.txt
grep -q '^dimension  seq  1\.\.512, usually 128$' list.txt || fail "no dimension in the list: $(cat list.txt)"
"$skrun" rows.sk --random 1 >usual.txt
grep -q ' f32 \[[0-9]*, 128, 64\]' usual.txt || fail "not the usual size: $(cat usual.txt)"
fails_with "seq is 513; package 'rows.sk' takes 1..512" "$skrun" rows.sk --random 1 --dim seq=513
fails_with '--dim sew=1: rows.sk has no dimension of this name' "$skrun" rows.sk --random 1 --dim sew=1
fails_with '--dim seq: NAME=SIZE is expected' "$skrun" rows.sk --random 1 --dim seq
fails_with '--sizes fills inputs of several sizes' "$skrun" rows.sk --random 1 --sizes 3
# Files say their sizes.
"$sklink" rows.yaml kernels.o --dim batch=2 --dim seq=37 -o static.sk
"$skrun" static.sk --random 5 --output y=wanted.npy
cat >copy.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [2, 37, 64]}
  z: {dtype: f32, shape: [2, 37, 64]}
  "y": {dtype: f32, shape: [2, 37, 64], role: output}
tasks:
  - {name: copy, kernel: add, args: [x, z, "y"]}
M
"$sklink" copy.yaml kernels.o -o copy.sk
"$skrun" copy.sk --random 5 --output y=x.npy
"$skrun" static.sk --random 5 --input x=x.npy --output y=wanted.npy
"$skrun" rows.sk --random 5 --input x=x.npy --output y=found.npy
cmp wanted.npy found.npy || fail "sizes of a file: other results"
fails_with '--dim seq=40: by the shape of an input file it is 37' "$skrun" rows.sk --random 5 --input x=x.npy --dim seq=40

# ---- libskrt, and dlopen ----

libskrt="$top_builddir/.libs/libskrt.a $(sed -n "s/^Libs.private: //p" "$top_builddir/loader/libskrt.pc")"
sanitize=$(sed -n 's/^SANITIZE_CFLAGS = //p' "$top_builddir/Makefile")
$CC $sanitize -O2 -Wall -I"$top_srcdir/loader" -I"$top_srcdir/format" -I"$top_srcdir" -I. \
	"$top_srcdir/tests/runtime/sizes.c" "$top_builddir/format/.libs/libplan.a" "$top_builddir/base/libbase.a" \
	$libskrt -ldl -lm -pthread -o sizes
for cores in 1 2 3; do ./sizes ./rows.sk $cores; done

# ---- Python ----

wheel=$(echo "$top_builddir"/python/sklink-*.whl) library=$top_builddir/.libs/libskrt.so python=/usr/bin/python3
if [ ! -e "$wheel" ] || ! "$python" -c 'import numpy' 2>err.txt || nm -D "$library" | grep -q '__[at]san_'; then
	echo "left out: Python"
	exit 0
fi
cat >sizes.py <<'P'
import numpy, sklink
package = sklink.Package("rows.sk")
rng = numpy.random.default_rng(1)
w, b = rng.random((64, 64), "f"), rng.random(64, "f")
for batch, seq in (1, 1), (8, 512), (2, 37), (3, 5):
    x = rng.random((batch, seq, 64), "f") - 1
    y = package.run(x=x, w=w, b=b)["y"]
    assert y.shape == x.shape, y.shape
    assert numpy.allclose(y, 2 * (x @ w + b + x), rtol=1e-4), (batch, seq)
assert package.inputs["x"].varies and package.inputs["x"].shape == (8, 512, 64)


def fails(text, **arrays):
    try:
        package.run(**arrays)
    except (ValueError, sklink.Error) as error:
        assert text in str(error), error
    else:
        raise AssertionError(text)


fails("tensor 'x' is at most f32[8, 512, 64]; the array is float32[2, 513, 64]", x=numpy.zeros((2, 513, 64), "f"), w=w, b=b)
fails("seq is 0; package", x=numpy.zeros((2, 0, 64), "f"), w=w, b=b)
fails("tensor 'x' has the shape [batch, seq, 64]", x=numpy.zeros((2, 3, 63), "f"), w=w, b=b)
fails("is bound as", x=numpy.zeros((2, 3, 64), "f"), w=w, b=b, y=numpy.zeros((2, 4, 64), "f"))
P
SKLINK_LIBRARY=$library PYTHONPATH=$wheel PYTHONDONTWRITEBYTECODE=1 "$python" sizes.py
