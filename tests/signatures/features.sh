#!/bin/bash
# Everything that a manifest and a signature can say, in one network: each kind of kernel, scalar and result; views of
# inputs, temporaries, outputs and constants; in-place arguments; op= with a library; several streams, nested scopes,
# events, `after`, null; state. Linked from another folder, run on several numbers of cores, for both devices, fused,
# unfused and serially, and compared with an independent computation.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
mkdir net net/data net/lib path
cp "$top_srcdir/tests/signatures/feature-kernels.c" .
compile feature-kernels
cc -O0 -o oracle "$top_srcdir/tests/signatures/feature-oracle.c"

# Hidden state: calls share a buffer, so they must never run side by side.
cat >buffer.c <<'C'
#include "skkernel.h"
static int32_t buffer[4096];
void through_buffer(const int32_t *x, int32_t *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		buffer[i % 4096] = x[i] * 7;
	for (int64_t i = 0; i < n; i++)
		y[i] = buffer[i % 4096];
}
SK_KERNEL(through_buffer, "in x i32[n], out y i32[n], n i64");
C
# No signature here: the manifest says how to call it, in two ways.
cat >copy.c <<'C'
#include <stdint.h>
void plain_copy(const int32_t *from, int32_t *to, const int64_t *n)
{
	for (int64_t i = 0; i < *n; i++)
		to[i] = from[i];
}
C
# The op of the second fits, but only `library:` is searched; the types of the first in there do not.
cat >other.c <<'C'
#include "skkernel.h"
void shift_other(const int32_t *x, int32_t *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = -x[i];
}
SK_KERNEL(shift_other, "split=n op=Shift; in x i32[n], out y i32[n], n i64");
C
cat >shift.c <<'C'
#include "skkernel.h"
void shift_f32(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + 5;
}
SK_KERNEL(shift_f32, "split=n op=Shift; in x f32[n], out y f32[n], n i64");
void shift_i32(const int32_t *x, int32_t *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + 5;
}
SK_KERNEL(shift_i32, "split=n op=Shift; in x i32[n], out y i32[n], n i64");
C
for name in buffer copy other shift; do
	compile $name
done
mv copy.o path
mv feature-kernels.o "kernels (1)" # an object, though the name ends as those of archives' members do: its ops count
ar rc path/libother.a other.o
ar rc net/lib/libshift.a shift.o

cat >net/model.yaml <<'M'
sklink: 1
device: host
library: lib/libshift.a
tensors:
  x:       {dtype: i32, shape: [4, 25, 30]}
  factor:  {dtype: i32, shape: [1, 2]}
  now:     {of: factor, offset: [0, 1], shape: [1, 1]}
  row:     {dtype: i32, shape: [30], data: data/row.npy}
  table:   {dtype: i32, shape: [2, 3000], data: data/table.npy}
  second:  {of: table, offset: [1, 0], shape: [1, 3000]}
  bits:    {dtype: u64, shape: [28]}
  scaled:  {dtype: i32, shape: [100, 30]}
  upper:   {of: scaled, shape: [50, 30]}
  lower:   {of: scaled, offset: [50, 0], shape: [50, 30]}
  inner:   {of: lower, offset: [10, 0], shape: [20, 30]}
  shifted: {dtype: i32, shape: [100, 30]}
  rows:    {dtype: i32, shape: [100, 30], role: output}
  thrice:  {dtype: i32, shape: [60, 30]}
  woven:   {dtype: i32, shape: [60, 30]}
  numbers: {dtype: i32, shape: [60, 30], role: output}
  total:   {dtype: i64, shape: [1], role: output}
  h:       {dtype: f32, shape: [1]}
  q:       {dtype: f64, shape: [1]}
  l:       {dtype: i8, shape: [1]}
  one:     {of: x, offset: [3, 24, 29], shape: [1, 1, 1]}
  first:   {dtype: i32, shape: [3000]}
  left:    {dtype: i32, shape: [3000]}
  right:   {dtype: i32, shape: [3000]}
  both:    {dtype: i32, shape: [3000], role: output}
  state:   {dtype: u64, shape: [1], role: inout}
  copies:  {dtype: i32, shape: [2, 3000]}
  copy0:   {of: copies, shape: [1, 3000]}
  copy1:   {of: copies, offset: [1, 0], shape: [1, 3000]}
  high:    {dtype: bf16, shape: [100]}
  low:     {dtype: f16, shape: [100]}
  keep:    {dtype: bool, shape: [100]}
  packed:  {dtype: u32, shape: [100]}
  late:    {dtype: i32, shape: [3000]}
kernels:
  copy:    {symbol: plain_copy, object: copy.o, signature: "in from i32[n], out to i32[n], ref n i64"}
  copy_part: {symbol: plain_copy, object: copy.o, signature: "split=n; in from i32[n], out to i32[n], ref n i64"}
tasks:
  - {name: numbers_in, kernel: scalars, args: [bits], scope: sp1,
     set: {a: -128, b: 255, c: -32768, d: 65535, e: -2147483648, f: 0xffffffff, g: -9223372036854775808,
           h: 18446744073709551615, i: 0.1, j: 0.1, ra: -1, rb: 200, rc: -2, rd: 60000, re: -3, rf: 4000000000,
           rg: -4, rh: 0x8000000000000001, ri: -.inf, rj: 1e-300, k: 1, l: 2.5, m: 3, n: -4, o: 5, p: 6e3, q: 16777217, r: -0.0}}
  - {name: scale_it, op: Scale, args: [x, scaled], set: {factor: {tensor: now}}, scope: sp1}
  - {name: scale_part, kernel: scale, args: {y: inner, x: inner}, set: {factor: -3}, scope: sp1}
  - {name: mix_halves, op: Add, args: [upper, lower, upper], scope: sp1}
  - {name: shift_it, op: Shift, args: [scaled, shifted], scope: sp1}
  - {name: by_row, op: Add, args: [shifted, row, rows], scope: [sp1], set: {all_rows: rows}}
  - {name: three, kernel: triple, args: [inner, thrice], scope: sp1}
  - {name: weave, kernel: spmd, args: [thrice, woven], blocks: 5, scope: [inner_scope, sp1], stream: 1}
  - {name: copy_woven, kernel: copy, args: [woven, numbers], scope: [sp1, inner_scope], stream: 1}
  - {name: number, kernel: number_blocks, args: [numbers], scope: [sp1, inner_scope], stream: 2, record: numbered}
  - {name: add_up, kernel: sum, args: {x: numbers, total: total}, scope: sp2, stream: 3}
  - {name: halve, kernel: half, args: [one, h], scope: sp2, stream: 3}
  - {name: quarter_it, kernel: quarter, args: [one, q], scope: sp2, stream: 4}
  - {name: low_one, kernel: low_byte, args: [one, l], scope: null}
  - {name: check, kernel: checked, args: [x, first], scope: sp3, stream: 5, record: [firsts], wait: numbered}
  - {name: go_left, kernel: through_buffer, args: [first, left], scope: sp3, stream: 6}
  - {name: go_right, kernel: through_buffer, args: [second, right], scope: sp3, stream: 7, after: go_left}
  - {name: counted, kernel: count, args: [state, right], scope: sp3, stream: 7}
  - {name: together, op: Add, args: [left, right, both], scope: sp3, stream: 5}
  - {name: too_late, kernel: add_late, args: [both, late], scope: sp3, stream: 5, set: {value: {tensor: total}, address: {tensor: total}}}
  - {name: copy_0, kernel: copy_part, args: [both, copy0], stream: 8, scope: sp4, wait: [firsts]}
  - {name: copy_1, kernel: copy, args: [rows, copy1], stream: 9, scope: sp4, after: [check, copy_0]}
  - {name: pack_it, kernel: pack, args: [high, low, keep, packed]}
scopes:
  sp3: {options: "stream-fusion=1"}
M

./oracle
outputs=
for name in bits rows numbers total h q l both late state copies packed; do
	outputs="$outputs --output $name=$name.npy"
done
inputs=
for name in x factor state high low keep; do
	inputs="$inputs --input $name=$name.npy"
done
for device in host a3; do
	blocks=8 # the number of a task that gives none
	[ $device = host ] || blocks=48
	sed -i "s/^device: .*/device: $device/" net/model.yaml
	"$sklink" -L path net/model.yaml "kernels (1)" buffer.o -l other -o model.sk
	"$skdump" --verify model.sk >/dev/null
	for cores in 1 2 3 7; do
		"$skrun" model.sk --random 3 --verify --cores $cores --repeat 20 >/dev/null ||
			fail "$device, $cores cores"
		for how in '' --unfused --serial; do
			for runs in 1 3; do
				./oracle
				"$skrun" model.sk $inputs $outputs --cores $cores --repeat $runs $how >/dev/null
				./oracle $runs $blocks || fail "$device, $cores cores, $runs runs $how"
			done
		done
	done
done
