#!/bin/bash
# skrun --check-split: kernels with results that depend on the length or the place of a call are found, all of a
# package, and named with task, tensor and length; honest kernels pass, on sizes that are not multiples of anything.
. "$top_srcdir/tests/lib/lib.sh"
cp "$top_srcdir/tests/runtime/split-kernels.c" "$top_srcdir/tests/lib/kernels.c" .
compile kernels
compile split-kernels

cat >honest.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [1003]}
  a: {dtype: f32, shape: [1003]}
  b: {dtype: f32, shape: [1003]}
  counts: {dtype: f32, shape: [777], role: inout}
  few: {dtype: f32, shape: [17]}
  less: {dtype: f32, shape: [17]}
  rows: {dtype: f32, shape: [59, 17]}
  shifted: {dtype: f32, shape: [59, 17]}
  sums: {dtype: f32, shape: [59]}
  wide: {dtype: f32, shape: [59, 40], role: inout}
  columns: {of: wide, offset: [0, 5], shape: [59, 17]}
tasks:
  - {name: scale, kernel: scale, args: [x, a], set: {factor: 3}, scope: s}
  - {name: add, kernel: add, args: [x, a, b], scope: s}
  - {name: count, kernel: increment, args: [counts], scope: s}
  - {name: short, kernel: scale, args: [few, less], set: {factor: 3}, scope: s}
  - {name: shift, kernel: shift_rows, args: [rows, shifted], scope: s}
  - {name: sum, kernel: row_sum, args: [rows, sums], scope: s}
  - {name: cut, kernel: tile_copy, args: [rows, columns], scope: s}
  - {name: turn, kernel: reverse, args: [b, b2], blocks: 5, scope: s}
M
sed -i '/^tasks:/i\  b2: {dtype: f32, shape: [1003]}' honest.yaml
"$sklink" honest.yaml kernels.o split-kernels.o -o honest.sk
for options in '' '--cores 3' '--guard' '--check-races' '--device a3 --cores 2' '--repeat 20'; do
	"$skrun" honest.sk --random 1 --check-split $options >out.txt 2>err.txt || { cat err.txt;
		fail "refused: $options"; }
	[ ! -s err.txt ] || { cat err.txt; fail "something is said: $options"; }
done
"$skrun" honest.sk --random 1 --check-split >out.txt
grep -qx 'Split: bit-identical (6 of 8 tasks in calls for parts; 1 more would be divided if they were larger)' out.txt \
	||
	{ cat out.txt; fail "not what was checked"; }

# The results of the last run count: inout tensors are changed once.
"$skrun" honest.sk --random 1 --check-split --output counts=checked.npy >/dev/null
"$skrun" honest.sk --random 1 --unfused --output counts=plain.npy
cmp checked.npy plain.npy || fail "other results"

# All of them at once.
cat >liars.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [1003]}
  a: {dtype: f32, shape: [1003]}
  b: {dtype: f32, shape: [1003]}
  c: {dtype: f32, shape: [1003]}
  counts: {dtype: f32, shape: [1003], role: inout}
  rows: {dtype: f32, shape: [59, 3]}
  turned: {dtype: f32, shape: [59, 3]}
tasks:
  - {name: t1, kernel: threshold, args: [x, a]}
  - {name: t2, kernel: running_sum, args: [x, b]}
  - {name: t3, kernel: aligned, args: [rows, turned]}
  - {name: t4, kernel: three, args: [counts]}
  - {name: t5, kernel: impatient, args: [x, c]}
  - {name: fine, kernel: add, args: [x, x, y]}
M
sed -i '/^tasks:/i\  y: {dtype: f32, shape: [1003]}' liars.yaml
"$sklink" liars.yaml kernels.o split-kernels.o -o liars.sk
for options in '' '--device a3' '--guard --cores 2' '--repeat 3'; do
	status=0
	"$skrun" liars.sk --random 1 --check-split $options >out.txt 2>err.txt || status=$?
	[ $status = 1 ] && [ ! -s out.txt ] || { cat err.txt out.txt; fail "status $status: $options"; }
	[ "$(grep -c "contradicts 'split'" err.txt)" = 5 ] && [ "$(wc -l <err.txt)" = 5 ] || { cat err.txt;
		fail "not five: $options"; }
done
"$skrun" liars.sk --random 1 --check-split 2>err.txt && fail "accepted"
# said TASK KERNEL PART WHAT ALL
said() {
	grep -Eq "^skrun: error: task entry sk_unfused_$1: task '$1': kernel $2 on core 0: it contradicts 'split': a call for $3 $4 a call for all $5$" err.txt ||
		{ cat err.txt; fail "$2 is not named so"; }
}
said t1 threshold '64 elements \(from 0 on\)' "writes other bits into tensor 'a' \(first at byte [0-3]\) than" 1003
said t2 running_sum '64 elements \(from 64 on\)' "writes other bits into tensor 'b' \(first at byte 25[6-9]\) than" 1003
said t3 aligned '1 element \(from 1 on\)' "writes other bits into tensor 'turned' \(first at byte 1[2-5]\) than" 59
said t4 three '192 elements \(from [0-9]* on\)' "writes other bits into tensor 'counts' \(first at byte [0-9]*\) than" \
	1003
said t5 impatient '64 elements \(from 0 on\)' 'returns status 7, unlike' 1003

# No other check finds all of them.
"$skrun" liars.sk --random 1 --guard --cores 1 >/dev/null
fails_with 'check-split runs each task in parts' "$skrun" liars.sk --random 1 --check-split --verify

# Few of 200,007 units are called alone: those of series of 256 calls, 3,125 units apart, and the last ones. All calls
# together are less than half as many as there are units. The kernel is wrong in calls for one row alone, of two floats.
cat >many.c <<'C'
#include "skkernel.h"
int few_calls(const float *x, float *y, int64_t m, int64_t begin, int64_t where)
{
	static int calls;

	for (int64_t i = 0; i < 2 * m; i++)
		y[i] = x[i];
	if (m == 1 && begin == where)
		y[1]++;
	return ++calls > 80000 ? 9 : 0;
}
SK_KERNEL(few_calls, "split=m reentrant; in x f32[m,2], out y f32[m,2], m i64, begin i64 = begin(m), where i64 -> status");
C
compile many
wrong_at() { # ROW
	cat >many.yaml <<M
sklink: 1
tensors:
  x: {dtype: f32, shape: [200007, 2]}
  y: {dtype: f32, shape: [200007, 2]}
tasks:
  - {name: t, kernel: few_calls, args: [x, y], set: {where: $1}}
M
	"$sklink" many.yaml many.o -o many.sk
}
for row in -1 3000; do # between two series
	wrong_at $row
	"$skrun" many.sk --random 1 --check-split >out.txt
	grep -qx 'Split: bit-identical (1 of 1 task in calls for parts, 1 of them at samples of the places; 0 more would be divided if they were larger)' \
		out.txt || { cat out.txt; fail "not that there were samples"; }
done
for row in 0 255 3125 37700 199751 200006; do
	wrong_at $row
	fails_with "it contradicts 'split': a call for 1 element \(from $row on\) writes other bits into tensor 'y' \(first at byte [0-9]*\)" \
		"$skrun" many.sk --random 1 --check-split
done
