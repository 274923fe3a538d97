#!/bin/bash
# Dimensions of manifests: expressions in shapes, offsets and scalars are the numbers that they stand for.
. "$top_srcdir/tests/lib/lib.sh"
cat >kernels.c <<'C'
#include "skkernel.h"
void scale(const float *x, float *y, long m, long k, long ldx, long factor)
{
	for (long i = 0; i < m; i++)
		for (long j = 0; j < k; j++)
			y[i * k + j] = (float)factor * x[i * ldx + j];
}
SK_KERNEL(scale, "split=m; in x f32[m,k:ldx], out y f32[m,k], m i64, k i64, ldx i64, factor i64");
C
compile kernels
manifest() { # DIMS SHAPE VIEW OFFSET FACTOR
	cat <<-M
	sklink: 1
	$1
	tensors:
	  x: {dtype: f32, shape: $2}
	  part: {of: x, shape: $3, offset: $4}
	  z: {dtype: f32, shape: $3}
	tasks:
	  - {name: t, kernel: scale, args: [part, z], set: {factor: $5}, scope: s}
	M
}
expressions() { # DIMS
	manifest "$1" '[batch*seq, width]' '["batch*seq - 1", width/2]' '[1, "ceil(width/4)"]' '2*seq+1'
}

# The same plan as with numbers, and --dim replaces them.
manifest '' '[15, 32]' '[14, 16]' '[1, 8]' 11 >model.yaml
"$sklink" model.yaml kernels.o -o numbers.sk
expressions 'dims: {batch: 3, seq: 5, width: 32}' >model.yaml
"$sklink" model.yaml kernels.o -o names.sk
"$skdump" names.sk | grep -v 'names.sk\|model.yaml' >names.txt
"$skdump" numbers.sk | grep -v 'numbers.sk\|model.yaml' >numbers.txt
cmp numbers.txt names.txt || fail "names give another plan: $(diff numbers.txt names.txt)"
manifest 'dims: {seq: 5}' '[3*seq, 32]' '["15-1", 16]' '["2-1", 8]' 11 >model.yaml
"$sklink" model.yaml kernels.o -o names.sk
"$skdump" names.sk | grep -v 'names.sk\|model.yaml' >names.txt
cmp numbers.txt names.txt || fail "differences of numbers give another plan: $(diff numbers.txt names.txt)"
expressions 'dims: {batch: 1..8, seq: 2..9@4, width: 4..64:4}' >model.yaml
"$sklink" model.yaml kernels.o --dim batch=3 --dim seq=5 --dim width=32 -o given.sk
"$skdump" given.sk | grep -v 'given.sk\|model.yaml' >given.txt
cmp numbers.txt given.txt || fail "--dim gives another plan: $(diff numbers.txt given.txt)"

# Errors name the place.
refused "model.yaml: --dim 'sek=5': the manifest has no dimension 'sek' under 'dims'; did you mean 'seq'\?" kernels.o \
	--dim sek=5
refused "model.yaml: dimension 'seq=2..9:4': " kernels.o --dim seq=2..9:4
wrong() { # PATTERN DIMS SHAPE
	manifest "$2" "$3" '[1, 1]' '[0, 0]' 1 >model.yaml
	refused "$1" kernels.o
}
wrong "model.yaml:4:27: each dimension of tensor 'x' must be an integer" '' '[seq, 4]'
wrong "model.yaml:4:27: each dimension of tensor 'x': .*sek" 'dims: {seq: 4}' '[sek, 4]'
wrong "model.yaml:4:27: each dimension of tensor 'x': '2-seq' is -2$" 'dims: {seq: 4}' '[2-seq, 4]'
wrong "model.yaml:2:8: dimension 'seq=0..4': the least size of a manifest's dimension is 1" 'dims: {seq: 0..4}' '[seq, 4]'
wrong "model.yaml:2:8: dimension 'seq=5..4': " 'dims: {seq: 5..4}' '[seq, 4]'
grep -q "'seq'" err.txt && fail "an error follows from wrong bounds: $(cat err.txt)"
wrong "model.yaml:2:14: a manifest with tasks is one network; 'net' is that of a model" 'dims: {net: {seq: 4}}' '[4, 4]'
wrong "model.yaml:2:8: 9 dimensions have bounds, which are more than 8" \
	'dims: {a: 1..2, b: 1..2, c: 1..2, d: 1..2, e: 1..2, f: 1..2, g: 1..2, h: 1..2, i: 1..2}' '[4, 4]'

# A number that differs from a simpler one at a single size.
wrong "tensor 'x': an extent is 500 at seq=500 .*, which is seq.2.floor.seq/400.-2.floor.seq/401.; a number must not shrink" \
	'dims: {seq: 1..500}' '[seq+2*(seq//400)-2*(seq//401), 4]'

# At the least size a view with gaps is a single row: no check sees the gap after it.
cat >columns.c <<'C'
#include "skkernel.h"
void columns(const float *x, float *y, long m, long k, long ldy)
{
	for (long i = 0; i < m * k; i++)
		y[i / k * ldy + i % k] = x[i];
}
SK_KERNEL(columns, "split=m; in x f32[m,k], out y f32[m,k:ldy], m i64, k i64, ldy i64");
C
compile columns
cat >columns.yaml <<'M'
sklink: 1
dims: {a: 1..8}
tensors:
  x: {dtype: f32, shape: [a, 4]}
  y: {dtype: f32, shape: [a, 8], role: output}
  left: {of: y, offset: [0, 0], shape: [a, 4]}
  right: {of: y, offset: [0, 4], shape: [a, 4]}
tasks:
  - {name: one, kernel: columns, args: [x, left], scope: all}
  - {name: other, kernel: columns, args: [x, right], scope: all}
M
"$sklink" columns.yaml columns.o -o columns.sk
for a in 1 2 8; do
	for check in --guard --check-races; do
		"$skrun" columns.sk --random 1 --dim a=$a --cores 2 $check >out.txt || { cat out.txt; fail "$check at $a"; }
	done
	"$skdump" --json --dim a=$a columns.sk >out.txt || fail "skdump at $a"
done

# A scalar that depends on sizes.
cat >shift.c <<'C'
#include "skkernel.h"
void shift(const float *x, float *y, long n, long c)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i] + c;
}
SK_KERNEL(shift, "split=n; in x f32[n], out y f32[n], n i64, c i64");
C
compile shift
shifted() { # VALUE
	cat <<-M >model.yaml
	sklink: 1
	dims: {n: 1..900}
	tensors:
	  x: {dtype: f32, shape: [n]}
	  y: {dtype: f32, shape: [n]}
	tasks:
	  - {name: t, kernel: shift, args: [x, y], set: {c: $1}}
	M
}
shifted 2*n+1
"$sklink" model.yaml shift.o -o shift.sk
"$skrun" shift.sk --random 1 --verify --sizes 5 >/dev/null
shifted n-4
refused "the value of 'c': 'n-4' is -3; a number that depends on sizes must not be negative" shift.o
shifted 800-n
refused "the value of 'c': '800-n' is -100; a number that depends on sizes must not be negative" shift.o
shifted 1000-n
refused "task 't', argument 'c': its value is 100 at n=900 and .* a number must not shrink when a dimension grows" shift.o

# Sizes that become 0 where no dimension is 0.
cat >greatest.c <<'C'
#include "skkernel.h"
void greatest(const float *x, float *y, long rows)
{
	*y = x[0];
	for (long i = 1; i < rows; i++)
		*y = x[i] > *y ? x[i] : *y;
}
SK_KERNEL(greatest, "in x f32[rows], out y f32[1], rows i64");
C
compile greatest
greatest() { # BOUNDS
	cat <<-M >model.yaml
	sklink: 1
	dims: {n: $1}
	tensors:
	  x: {dtype: f32, shape: ["n//2"]}
	  y: {dtype: f32, shape: [1], role: output}
	tasks:
	  - {name: t, kernel: greatest, args: [x, y]}
	M
}
greatest 1..8
refused "task 't': at n=1 it would compute results from 'x', which has no elements; give bounds without these sizes" \
	greatest.o
greatest 2..8
"$sklink" model.yaml greatest.o -o greatest.sk
