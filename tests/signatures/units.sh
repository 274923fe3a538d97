#!/bin/bash
# Signatures with `split=n:32`: parts are whole units wherever the kernel is called, so a kernel with a result that
# depends on blocks computes the same bits divided, in tile groups, and in each of the ways of --check-split; and
# `untiled`, which keeps tasks out of tile groups.
. "$top_srcdir/tests/lib/lib.sh"
cat >k.c <<'C'
#include "skkernel.h"

/* Each block of 96 elements minus its first element; the rows are blocks of 5. */
void block_shift(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] - x[i - i % 96];
}
SK_KERNEL(block_shift, "split=n:96; in x f32[n], out y f32[n], n i64");

void row_shift(const float *x, float *y, int64_t m)
{
	for (int64_t i = 0; i < m; i++)
		y[3 * i] = y[3 * i + 1] = y[3 * i + 2] = x[3 * i] - x[3 * (i - i % 5)];
}
SK_KERNEL(row_shift, "split=m:5; in x f32[m,3], out y f32[m,3], m i64");

void twice(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = 2 * x[i];
}
SK_KERNEL(twice, "split=n; in x f32[n], out y f32[n], n i64");

void careful(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = 2 * x[i];
}
SK_KERNEL(careful, "split=n untiled; in x f32[n], out y f32[n], n i64");
C
compile k

# link KERNEL: twice, the kernel, twice, on 20003 elements.
link() {
	cat >$1.yaml <<M
sklink: 1
tensors:
  x: {dtype: f32, shape: [20003]}
  a: {dtype: f32, shape: [20003]}
  b: {dtype: f32, shape: [20003]}
  y: {dtype: f32, shape: [20003]}
  r: {dtype: f32, shape: [157, 3]}
  s: {dtype: f32, shape: [157, 3]}
tasks:
  - {name: t1, kernel: twice, args: [x, a], scope: s}
  - {name: t2, kernel: $1, args: [a, b], scope: s}
  - {name: t3, kernel: twice, args: [b, y], scope: s}
  - {name: rows, kernel: row_shift, args: [r, s], scope: s}
M
	"$sklink" $1.yaml k.o -o $1.sk
	proved $1.sk
}

link block_shift
for options in '--cores 1' '--cores 2' '--cores 7' '--device a3'; do
	"$skrun" block_shift.sk --random 1 --verify $options >/dev/null || fail "not the same bits: $options"
	"$skrun" block_shift.sk --random 1 --guard $options >$(echo "out$options" | tr -d ' -').txt
done
cmp outcores1.txt outcores7.txt
cmp outcores1.txt outdevicea3.txt
"$skrun" block_shift.sk --random 1 --check-split >/dev/null || fail "block_shift belies its unit"

# All of this relies on the signature.
sed 's/split=n:96/split=n/; s/split=m:5/split=m/' k.c >liar.c && compile liar
"$sklink" block_shift.yaml liar.o -o liar.sk
"$skrun" liar.sk --random 1 --check-split 2>err.txt && fail "accepted"
grep -q 'kernel block_shift .*contradicts' err.txt && grep -q 'kernel row_shift .*contradicts' err.txt || { cat err.txt;
	fail "not found"; }

"$skdump" --steps block_shift.sk >steps.txt
grep -Eq '^ +1  t1 .*split 20003 in 105 units of 192, group tiles of [0-9]*$' steps.txt &&
	grep -q 'split 157 in 32 units of 5$' steps.txt ||
	{ cat steps.txt; fail "other units"; }

# Untiled: steps of one task each, and still no await.
link twice
"$skdump" --steps twice.sk >steps.txt
grep -q '2 steps, 0 awaits$' steps.txt || { cat steps.txt; fail "no tile group"; }
link careful
"$skdump" --steps careful.sk >steps.txt
grep -q '4 steps, 0 awaits$' steps.txt && ! grep -q 'group' steps.txt || { cat steps.txt;
	fail "an untiled kernel is in a tile group"; }
"$skrun" careful.sk --random 1 --verify --cores 3 >/dev/null

# Tasks that are worth dividing are divided, though another task takes all of it as one row; others are left to one
# core, without an await.
cat >heavy.c <<'C'
#include "skkernel.h"

void heavy(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = 3 * x[i];
}
SK_KERNEL(heavy, "split=n operations=FACTOR*n; in x f32[n], out y f32[n], n i64");

void row(const float *x, float *y, int64_t m, int64_t k)
{
	for (int64_t r = 0; r < m; r++)
		for (int64_t i = 0; i < k; i++)
			y[r * k + i] = x[r * k + i] + x[r * k];
}
SK_KERNEL(row, "split=m untiled; in x f32[m,k], out y f32[m,k], m i64, k i64");
C
cat >heavy.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [1, 1024]}
  a: {dtype: f32, shape: [1, 1024]}
  b: {dtype: f32, shape: [1, 1024]}
  y: {dtype: f32, shape: [1, 1024]}
tasks:
  - {name: t1, kernel: heavy, args: [x, a], scope: s}
  - {name: t2, kernel: careful, args: [a, b], scope: s}
  - {name: t3, kernel: row, args: [b, y], scope: s}
M
for factor in 1 1000; do
	sed "s/FACTOR/$factor/" heavy.c >heavy$factor.c
	compile heavy$factor
	"$sklink" heavy.yaml heavy$factor.o k.o -o heavy$factor.sk
	proved heavy$factor.sk
	"$skrun" heavy$factor.sk --random 1 --verify --cores 3 >/dev/null
	"$skdump" --steps heavy$factor.sk >heavy$factor.txt
done
grep -q '0 awaits$' heavy1.txt && grep -q 't1 .*split 1024 in 1 unit of 1024' heavy1.txt || { cat heavy1.txt;
	fail "an await for little work"; }
grep -q 't1 .*split 1024 in 16 units of 64' heavy1000.txt && grep -q 't3 .*awaits t2' heavy1000.txt ||
	{ cat heavy1000.txt; fail "much work is left to one core"; }
# Given costs do not change a plan.
for cost in 'cycles: 5' 'operations: 10' 'code: 64'; do
	sed "/name: t1/s/scope: s}/scope: s, cost: {$cost}}/" heavy.yaml >cost.yaml
	"$sklink" cost.yaml heavy1000.o k.o -o cost.sk
	"$skdump" --steps cost.sk | grep -q 't1 .*split 1024 in 16 units of 64' || fail "a cost changes the plan: $cost"
done
