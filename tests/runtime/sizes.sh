#!/bin/bash
# Packages with bounds: one package has, at each size, the bits of a static one that is linked for this size, on
# any number of cores, in all ways to run it, with guarded tensors, and through its serial entry with dlopen.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/sizes.sh"
linked() { # NAME
	"$sklink" "$1.yaml" kernels.o -o "$1.sk"
	"$skdump" --verify "$1.sk"
}
sized_manifest halves 'n: 1..65@9' <<'M'
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
sized_manifest pairs 'rows: 1..40, width: 1..64' <<'M'
tensors:
  t: {dtype: f32, shape: [2*rows]}
  u: {dtype: f32, shape: [width]}
  r: {dtype: f32, shape: [rows]}
  t2: {dtype: f32, shape: [2*rows]}
  u2: {dtype: f32, shape: [width]}
  r2: {dtype: f32, shape: [rows]}
tasks:
  - {name: t, kernel: whole, args: [t, t2], scope: s}
  - {name: u, kernel: whole, args: [u, u2], scope: s}
  - {name: r, kernel: whole, args: [r, r2], scope: s}
M
sized_manifest shown 'rows: 1..6, width: 1..9' <<'M'
tensors:
  longer: {dtype: f32, shape: ["max(rows,width)"]}
  half: {dtype: f32, shape: ["width//2+1"]}
  table: {dtype: f32, shape: [rows, width]}
  longer2: {dtype: f32, shape: ["max(rows,width)"]}
  half2: {dtype: f32, shape: ["width//2+1"]}
  table2: {dtype: f32, shape: ["rows*width"]}
tasks:
  - {name: longer, kernel: whole, args: [longer, longer2], scope: s}
  - {name: half, kernel: whole, args: [half, half2], scope: s}
  - {name: table, kernel: whole, args: [table, table2], scope: s}
M
sized_manifest flat 'rows: 1..6, width: 2..8:2' <<'M'
tensors:
  x: {dtype: f32, shape: ["rows*width"]}
  table: {dtype: f32, shape: [rows, width]}
tasks:
  - {name: whole, kernel: whole, args: [x, table], scope: s}
M
for name in rows widths views parts halves pairs shown flat; do linked $name; done

# A run that prints no sizes says which ones are the usual ones because nothing gives them.
"$skrun" rows.sk --random 1 --dim batch=2 --output y=y.npy 2>err.txt
diff - err.txt <<'N' || fail "no note on a usual size"
skrun: note: no input file shows seq, and no --dim gives it: it is 128, the usual size of 1..512
N
"$skrun" rows.sk --random 1 --dim batch=2 --dim seq=128 --output y=y.npy 2>err.txt
"$skrun" rows.sk --random 1 --input x=y.npy --output y=z.npy 2>>err.txt
"$skrun" rows.sk --random 1 >out.txt 2>>err.txt
[ ! -s err.txt ] || fail "a note on sizes that are given: $(cat err.txt)"
grep -qx 'sizes batch=8, seq=128' out.txt || fail "no sizes: $(cat out.txt)"

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
for size in 64 960; do same parts n=$size; done
for size in 2 65; do same halves n=$size; done
# Of one row there is no half: nothing is called.
for how in '' --guard --check-races --check-split --unfused --serial; do
	"$skrun" halves.sk --random 1 --dim n=1 $how >run.txt
done
"$skdump" --dim n=1 --all halves.sk >none.txt
"$skdump" --dim n=1 --json halves.sk >none.json

for name in rows widths views parts halves; do
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
fails_with "--dim sew=1: package 'rows.sk' has no such dimension; it has batch, seq" "$skrun" rows.sk --random 1 --dim sew=1
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
fails_with '--dim seq=40: by the shape of x.npy it is 37' "$skrun" rows.sk --random 5 --input x=x.npy --dim seq=40

# Profiles count the calls of the present sizes: 2 * ceil(13/6).
cat >tiles.c <<'C'
#include "skkernel.h"
void tiles(const float *x, float *y, long m)
{
	for (long i = 0; i < m; i++)
		y[i] = x[i];
}
SK_KERNEL(tiles, "each=b tile=m:6; in x f32[b,m], out y f32[b,m], m i64");
C
compile tiles
sized_manifest tiles 'b: 1..4, m: 7..60' <<'M'
tensors:
  x: {dtype: f32, shape: [b, m]}
  "y": {dtype: f32, shape: [b, m]}
tasks:
  - {name: tiles, kernel: tiles, args: [x, "y"]}
M
"$sklink" tiles.yaml tiles.o -o tiles.sk
"$skrun" tiles.sk --random 1 --dim b=2 --dim m=13 --profile --json >profile.json
grep -q '"calls": 6[,}]' profile.json || fail "not 6 calls: $(cat profile.json)"

# ---- libskrt, and dlopen ----

libskrt="$top_builddir/.libs/libskrt.a $(sed -n "s/^Libs.private: //p" "$top_builddir/loader/libskrt.pc")"
sanitize=$(sed -n 's/^SANITIZE_CFLAGS = //p' "$top_builddir/Makefile")
$CC $sanitize -O2 -Wall -I"$top_srcdir/loader" -I"$top_srcdir/format" -I"$top_srcdir" -I. \
	"$top_srcdir/tests/runtime/sizes.c" "$top_builddir/format/.libs/libplan.a" "$top_builddir/base/libbase.a" \
	$libskrt -ldl -lm -pthread -o sizes
for cores in 1 2 3; do ./sizes ./rows.sk $cores ./pairs.sk ./shown.sk; done

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
package = sklink.Package("flat.sk")
x, usual = rng.random(24, "f"), rng.random(48, "f")
for array in x, usual:  # also if the usual sizes have as many elements
    fails("dimension 'rows' (1 to 6) has no size: no array shows it; give sizes={'rows': ...}, or an array of that size "
          "for the output 'table'", x=array)
    shown = package.run(x=array, sizes={"rows": 6})["table"]  # then its elements show the width
    assert numpy.array_equal(shown, package.run(x=array, sizes={"rows": 6, "width": len(array) // 6})["table"])
    text = "'x' has 10 to 40 elements along axis 0 by the other arrays, for 'width' of 2 to 8; the array has 48"
    text = text if len(array) > 40 else "dimension 'width' (2 to 8, multiples of 2) has no size"
    fails(text, x=array, sizes={"rows": 5})
shown = package.run(x=x, table=numpy.empty((3, 8), "f"))["table"]
assert numpy.array_equal(shown, package.run(x=x, sizes={"rows": 3, "width": 8})["table"])
assert package.run(x=x, sizes={"rows": 6, "width": 4})["table"].shape == (6, 4)
P
SKLINK_LIBRARY=$library PYTHONPATH=$wheel PYTHONDONTWRITEBYTECODE=1 "$python" sizes.py
