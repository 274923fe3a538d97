#!/bin/bash
# Packages with sizes with bounds: at each size their plan has the numbers of a package that is linked for that size,
# and their results are the same. The plan is proved for all of them. Manifests that hold at some sizes only are
# refused, with the place and the sizes.
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

manifest() { # DIMS, then tensors and tasks from standard input
	printf 'sklink: 1\ndims: {%s}\n' "$1" >model.yaml
	cat >>model.yaml
}
# holds NAME=SIZE…: at these sizes the package has the numbers of a static one.
parts_of() {
	objcopy -O binary --only-section=.sk.plan "$1" "$2.plan"
}
linked() {
	"$sklink" model.yaml kernels.o -o dynamic.sk || fail "the manifest does not link"
	parts_of dynamic.sk dynamic
	objcopy -O binary --only-section=.sk.dims dynamic.sk dynamic.dims
}
holds() {
	local options=()
	for size in "$@"; do options+=(--dim "$size"); done
	"$sklink" model.yaml kernels.o "${options[@]}" --scope-options s=tile-fusion=0 -o static.sk
	parts_of static.sk static
	"$top_builddir/tests/lib/compare-sizes" dynamic.plan dynamic.dims static.plan "$@" ||
		fail "another plan at $*: $(cat model.yaml)"
	runs "$@"
}
# runs NAME=SIZE…: and the same results, on several numbers of cores.
runs() {
	local sizes=() outputs=()
	for size in "$@"; do sizes+=(--dim "$size"); done
	for output in $("$skrun" --list static.sk | awk '$1 == "output" { print $2 }'); do
		outputs+=(--output "$output=FOLDER/$output.npy")
	done
	rm -rf static dynamic
	mkdir static dynamic
	"$skrun" static.sk --random 1 "${outputs[@]/FOLDER/static}" >out.txt
	for cores in 1 3; do
		"$skrun" dynamic.sk --random 1 --cores $cores "${sizes[@]}" "${outputs[@]/FOLDER/dynamic}" >out.txt ||
			fail "it does not run at $*: $(cat model.yaml)"
		diff -r static dynamic >&2 || fail "other results at $* on $cores cores: $(cat model.yaml)"
	done
}
awaits() { # NUMBER
	"$skdump" dynamic.sk | grep -q " steps\?, $1 awaits\?$" || fail "not $1 awaits: $("$skdump" dynamic.sk)"
}

# Products, rows and single elements of one length: all on the same cores.
manifest 'batch: 1..8, seq: 1..512@128' <<'M'
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
linked
awaits 0
for size in '1 1' '1 2' '8 512' '3 77' '2 1' '1 512'; do holds batch=${size% *} seq=${size#* }; done

# Rows of two lengths: awaits. The length of a row depends on sizes, so units of rows are not bytes of elements.
manifest 'rows: 1..40, width: 8..64:8' <<'M'
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
linked
awaits 2
for size in '1 8' '2 16' '40 64' '17 24'; do holds rows=${size% *} width=${size#* }; done

# Views with gaps, offsets, scalars, quotients.
manifest 'batch: 1..5, seq: 2..33, width: 16..64:16' <<'M'
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
linked
for size in '1 2 16' '5 33 64' '2 17 32' '4 4 48'; do set -- $size; holds batch=$1 seq=$2 width=$3; done

# Two halves that never overlap, and a part that overlaps both at some sizes only.
manifest 'n: 64..4096:64' <<'M'
tensors:
  x: {dtype: f32, shape: [n]}
  t: {dtype: f32, shape: [2*n]}
  low: {of: t, shape: [n]}
  high: {of: t, offset: [n], shape: [n]}
  part: {of: t, offset: [64], shape: [n]}
  "y": {dtype: f32, shape: [2*n]}
tasks:
  - {name: low, kernel: add, args: [x, x, low], scope: s}
  - {name: high, kernel: add, args: [x, low, high], scope: s}
  - {name: part, kernel: twice, args: [part], scope: s}
  - {name: all, kernel: whole, args: [t, "y"], scope: s}
M
linked
for size in 64 128 4096 960; do holds n=$size; done

# Least and greatest sizes, as lengths that are divided and as rows.
for shape in '["min(a,b)"]' '["max(a,b)+a"]' '["min(a,b)+1", a]' '["max(a,b)//2", 2*b]'; do
	manifest 'a: 2..9, b: 3..12' <<-M
	tensors:
	  x: {dtype: f32, shape: $shape}
	  u: {dtype: f32, shape: $shape}
	  "y": {dtype: f32, shape: $shape}
	tasks:
	  - {name: add, kernel: add, args: [x, x, u], scope: s}
	  - {name: whole, kernel: whole, args: [u, "y"], scope: s}
	M
	linked
	for size in '2 3' '5 4' '9 12' '9 3'; do holds a=${size% *} b=${size#* }; done
done

# A read of bytes that the write after it leaves alone: a write of these conflicts with the read at some sizes.
for views in '[0] [n] [n] [n] [1]' '[n] [n] [1] [2*n-1] [n-1]'; do
	read -r place length read_place read_length last <<<"$views"
	manifest 'n: 1..8' <<-M
	tensors:
	  a: {dtype: f32, shape: [n]}
	  c: {dtype: f32, shape: [1]}
	  r: {dtype: f32, shape: $read_length}
	  t: {dtype: f32, shape: [2*n], role: inout}
	  written: {of: t, offset: $place, shape: $length}
	  read: {of: t, offset: $read_place, shape: $read_length}
	  last: {of: t, offset: $last, shape: [1]}
	tasks:
	  - {name: first, stream: 0, kernel: add, args: [a, a, written]}
	  - {name: read, stream: 1, kernel: whole, args: [read, r]}
	  - {name: again, stream: 0, kernel: add, args: [a, a, written]}
	  - {name: last, stream: 2, kernel: add, args: [c, c, last]}
	M
	linked
done

# Refusals.
wrong() { # PATTERN DIMS SHAPE OF X, OF Y, KERNEL
	manifest "$2" <<-M
	tensors:
	  x: {dtype: f32, shape: $3}
	  z: {dtype: f32, shape: $4}
	tasks:
	  - {name: t, kernel: whole, args: [x, z], scope: s}
	M
	refused "$1" kernels.o
}
wrong "model.yaml:7:[0-9]*: kernel 'whole': extent 'n' is 512 in argument 'y'" 'n: 1..512' '[n]' '[512]'
grep -q '^>>> at n=[0-9]*$' err.txt || fail "no sizes: $(cat err.txt)"
wrong "model.yaml:4:3: tensor 'x': its size is .* at n=8, k=8 and .*, which is .*; a number must not shrink" \
	'n: 1..8, k: 1..8' '[9-n+k]' '[9-n+k]'
manifest 'n: 1..8' </dev/null
sed -i '/^tasks/,$d' model.yaml
cat >>model.yaml <<'M'
tensors:
  x: {dtype: f32, shape: [n], fill: 1}
  z: {dtype: f32, shape: [n]}
tasks:
  - {name: t, kernel: whole, args: [x, z]}
M
refused "model.yaml:4:3: tensor 'x': its size is 32 at n=8 and .*, which a constant must not depend on" kernels.o
sed -i 's/, fill: 1//' model.yaml
refused "model.yaml:2:8: -r does not take sizes with bounds; give each dimension one size with --dim" kernels.o -r
refused "model.yaml:2:8: --header does not take sizes with bounds" kernels.o --header out.sk.h
