#!/bin/bash
# Tensors of rank 0, which are one element, and tensors without elements: from the manifest to files, headers and the
# interfaces of programs.
. "$top_srcdir/tests/lib/lib.sh"

# array TYPE SHAPE BYTES…: a .npy file on standard output; BYTES as printf has them.
array() {
	dictionary="{'descr': '$1', 'fortran_order': ${order:-False}, 'shape': $2, }"
	printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$dictionary"
	printf "${3-}"
}

# floats FILE: its elements.
floats() {
	tail -c +129 "$1" | od -An -v -tf4 -w4 | tr -d ' ' | tr '\n' ' '
}

cat >kernels.c <<'C'
#include "skkernel.h"
void total(const float *x, float *y, long n)
{
	float sum = 0;
	for (long i = 0; i < n; i++)
		sum += x[i];
	y[0] = sum;
}
SK_KERNEL(total, "op=Total; in x f32[n], out y f32[1], n i64");
float mean(const float *x, long n)
{
	float sum = 0;
	for (long i = 0; i < n; i++)
		sum += x[i];
	return sum / (float)n;
}
SK_KERNEL(mean, "in x f32[n], n i64 -> out y f32");
void scale(const float *x, const float *by, float *y, float factor, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i] * by[0] * factor;
}
SK_KERNEL(scale, "split=n; in x f32[n], in by f32[1], out y f32[n], factor f32, n i64");
C
compile kernels

# ---- rank 0 ----
cat >scalars.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [300]}
  by: {dtype: f32, shape: []}
  two: {dtype: f32, shape: [], fill: 2}
  three: {dtype: f32, shape: [], data: [3]}
  four: {dtype: f32, shape: [], data: four.npy}
  a: {dtype: f32, shape: [300]}
  b: {dtype: f32, shape: [300]}
  c: {dtype: f32, shape: [300]}
  sum: {dtype: f32, shape: []}
  part: {of: sum, shape: [], offset: []}
  mean: {dtype: f32, shape: [], role: output}
  state: {dtype: f32, shape: [], role: inout}
  final: {dtype: f32, shape: []}
tasks:
  - {name: a, kernel: scale, args: [x, by, a], set: {factor: 1}, scope: s}
  - {name: b, kernel: scale, args: [a, two, b], set: {factor: {tensor: three}}, scope: s}
  - {name: c, kernel: scale, args: [b, four, c], set: {factor: 1}, scope: s}
  - {name: sum, op: Total, args: [c, part], scope: s}
  - {name: mean, kernel: mean, args: [a, mean], scope: s}
  - {name: state, kernel: scale, args: [sum, state, final], set: {factor: {tensor: mean}}, scope: s}
M
array '<f4' '()' '\x00\x00\x80\x40' >four.npy
order=True array '<f4' '()' '\x00\x00\x00\x3f' >by.npy
array '<f4' '()' '\x00\x00\x80\x3f' >state.npy
array '<f4' '(300,)' "$(printf '\\x00\\x00\\x80\\x3f%.0s' {1..300})" >x.npy
"$sklink" scalars.yaml kernels.o -o scalars.sk --header scalars.h --report report.json
proved scalars.sk
"$skrun" scalars.sk --input x=x.npy --input by=by.npy --input state=state.npy --output final=final.npy --output mean=mean.npy \
	--output state=state2.npy
# a is 0.5, b is 3, c is 12: the sum 3600, the mean 0.5.
[ "$(floats final.npy)$(floats mean.npy)" = '1800 0.5 ' ] || fail "results: $(floats final.npy)$(floats mean.npy)"
cmp state.npy state2.npy || fail "a file of rank 0 is not what it was"
"$skrun" scalars.sk --random 3 --verify | grep -q bit-identical
"$skrun" scalars.sk --random 3 --guard >guard.txt
"$skrun" scalars.sk --random 3 | grep -qE '^output  final  f32 \[\]: [-0-9.e+]+ \(sum' || fail "no summary of rank 0"
"$skrun" --list scalars.sk | grep -qx 'input   by  f32 \[\]' || fail "no list of rank 0"
"$skdump" --bindings scalars.sk >bindings.txt
grep -qE ' by +input +f32 +\[\] +4$' bindings.txt || fail "skdump: $(cat bindings.txt)"
gcc -Wall -Wextra -Werror -Wconversion -pedantic -xc -fsyntax-only - <<'C' || fail "the header is no C"
#include "scalars.h"
_Static_assert(SK_s_BYTES_by == 4 && SK_s_BYTES_final == 4, "bytes");
unsigned rank(void);
unsigned rank(void) { return SK_s_tensor_table[SK_s_TENSOR_by].rank; }
C
array '<f4' '(1,)' '\x00\x00\x80\x40' >one.npy
fails_with "one.npy: input 'by': the shape is \[1\], wanted is \[\]" "$skrun" scalars.sk --random 1 --input by=one.npy

# What a tensor without dimensions cannot be.
refused() {
	printf 'sklink: 1\ntensors:\n  x: {dtype: f32, shape: [4]}\n  s: {dtype: f32, shape: []}\n%b\ntasks:\n  - {name: t, kernel: scale, args: [x, s, "y"], set: {factor: 1}}\n' \
		"  \"y\": {dtype: f32, shape: [4]}\\n$1" >bad.yaml
	fails_with "$2" "$sklink" bad.yaml kernels.o -o bad.sk
}
refused '  v: {of: s, as: u8}' "bad.yaml:6:18: view 'v' cannot be u8: 's' has no dimension that could count its 4 bytes"
refused '  v: {of: x, shape: []}' "bad.yaml:6:3: view 'v' needs as many dimensions as 'x', which is \[4\]"
refused '  v: {of: s, shape: [1]}' "bad.yaml:6:3: view 'v' needs as many dimensions as 's', which is \[\]"
refused '  c: {dtype: f32, shape: [], data: [1, 2]}' "bad.yaml:6:36: constant 'c' has 1 elements, not 2"
refused '  c: {dtype: f32, shape: [], data: [[1]]}' "bad.yaml:6:37: an element of constant 'c' is f32, not a list"
sed 's/f32, shape: \[4\]/f32, shape: []/' bad.yaml | sed 's/\[\[1\]\]/[1]/' >good.yaml
"$sklink" good.yaml kernels.o -o good.sk 2>warnings.txt
proved good.sk
cat >rows.c <<'C'
#include "skkernel.h"
void rows(const float *x, float *y, long m, long k) { for (long i = 0; i < m; i++) y[i] = x[i * k]; }
SK_KERNEL(rows, "in x f32[m,k], out y f32[m], m i64, k i64");
C
compile rows
printf 'sklink: 1\ntensors:\n  s: {dtype: f32, shape: []}\n  c: {dtype: i8, shape: [], fill: 1}\n  bits: {of: c, as: u8}\n  "y": {dtype: f32, shape: []}\ntasks:\n  - {name: t, kernel: rows, args: [s, "y"]}\n' >bad.yaml
fails_with "argument 'x' has 2 dimensions, but tensor 's' is \[\]" "$sklink" bad.yaml rows.o -o bad.sk
