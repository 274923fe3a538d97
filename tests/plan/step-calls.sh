#!/bin/bash
# Steps with several calls: sklink makes none so far, so they are made from linked packages (group-steps.c). They are
# proved, shown, run, checked, traced and predicted like the steps that they come from, and a step that would need an
# await between its calls is refused.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
group=$top_builddir/tests/plan/group-steps

cp "$top_srcdir/tests/lib/kernels.c" . && compile kernels
cat >status.c <<'C'
#include "skkernel.h"

int stop(const float *x, float *y, int64_t n)
{
	y[0] = x[n - 1];
	return 7;
}
SK_KERNEL(stop, "split=n; in x f32[n], out y f32[n], n i64 -> status");

void crash(const float *x, float *y, int64_t n)
{
	y[0] = x[n - 1] + *(volatile float *)8;
}
SK_KERNEL(crash, "split=n; in x f32[n], out y f32[n], n i64");
C
compile status

# Three divided calls, two on a home, two divided ones after an await on it, and two by blocks of a range.
cat >model.yaml <<M
sklink: 1
tensors:
$(tensors '[1000]' x a b c d e f g h y)
tasks:
  - {name: A, kernel: scale, args: [x, a], set: {factor: 2}, scope: sp1, cost: {cycles: 1000}}
  - {name: B, kernel: scale, args: [a, b], set: {factor: 3}, scope: sp1, cost: {cycles: 2000}}
  - {name: C, kernel: add, args: [a, b, c], scope: sp1, cost: {cycles: 3000}}
  - {name: D, kernel: prefix, args: [c, d], stream: 1, scope: sp1, cost: {cycles: 4000}}
  - {name: E, kernel: prefix, args: [d, e], stream: 1, scope: sp1, cost: {cycles: 5000}}
  - {name: F, kernel: add, args: [c, e, f], scope: sp1, cost: {cycles: 6000}}
  - {name: G, kernel: scale, args: [f, g], set: {factor: 5}, scope: sp1, cost: {cycles: 7000}}
  - {name: H, kernel: twice, args: [g, h], scope: sp1, blocks: 5, cost: {cycles: 8000}}
  - {name: I, kernel: twice, args: [h, y], scope: sp1, blocks: 5, cost: {cycles: 9000}}
M
for option in profiling preload-code=max split-mode=2; do
	[ $option = profiling ] && text=profiling=1:tile-fusion=0 || text=profiling=1:tile-fusion=0:$option
	"$sklink" --scope-options "*=$text" model.yaml kernels.o -o single.sk
	cp single.sk grouped.sk
	[ "$("$group" grouped.sk)" = 4 ] || fail "not four steps have several calls"
	"$skdump" --verify grouped.sk | grep 'verified: 1 launch, 4 steps' || fail "$option: the package is not proved"
	"$skrun" single.sk --random 1 --output y=single.npy
	for cores in 1 2 3 7; do
		"$skrun" grouped.sk --random 1 --cores $cores --output y=grouped.npy --verify
		cmp single.npy grouped.npy || fail "$option: $cores cores compute something else"
		"$skrun" grouped.sk --random 1 --cores $cores --guard --output y=grouped.npy
		cmp single.npy grouped.npy || fail "$option: $cores checked cores compute something else"
		"$skrun" grouped.sk --random 1 --cores $cores --check-races --seed 5 >/dev/null
		"$skrun" grouped.sk --random 1 --cores $cores --repeat 5 --trace t.json --profile >profile.txt
		for task in A B C D E F G H I; do
			grep -qE "^$task +[1-9]" profile.txt || { cat profile.txt;
				fail "task $task is not in the profile"; }
		done
	done
done

# The output: a row for each call, the step with its first one.
"$skdump" --steps grouped.sk >steps.txt
grep -qE '^ +1 +A +scale +core +all cores +split' steps.txt || { cat steps.txt;
	fail "the first call of the first step"; }
grep -qE '^ +B +scale +cycles 2000$' steps.txt || { cat steps.txt; fail "its second call"; }
grep -qE '^ +2 +D +prefix .* awaits C$' steps.txt || { cat steps.txt; fail "the second step"; }
"$skdump" --explain B grouped.sk >explained.txt
grep -q 'It is call 2 of 3 in step 1 of 4 of lane core' explained.txt || { cat explained.txt; fail "the place of B"; }
grep -q "'A' writes 'a', which it reads: no await: however many cores" explained.txt || fail "why B comes after A"
grep -q "it writes 'b', which 'C' reads: no await: however many cores" explained.txt || fail "why C comes after B"
"$skdump" --diff single.sk grouped.sk >diff.txt && fail "skdump --diff sees nothing"
grep -qE '^! +task +C +step +3 -> 1' diff.txt || { cat diff.txt; fail "skdump --diff does not show the step of C"; }

# A prediction takes the time of all calls.
for package in single grouped; do
	"$skrun" --predict --device host $package.sk >$package.txt
done
cmp single.txt grouped.txt || { diff single.txt grouped.txt; fail "calls of a step take another time than steps"; }

# The failing call: by its status, and by the addresses on its stack.
for kernel in stop crash; do
	sed "s/kernel: scale, args: \[a, b\], set: {factor: 3}/kernel: $kernel, args: [a, b]/" model.yaml >wrong.yaml
	"$sklink" wrong.yaml kernels.o status.o -o wrong.sk
	[ "$("$group" wrong.sk)" = 4 ] || fail "not four steps have several calls"
	proved wrong.sk
	for options in "--cores 2" "--cores 2 --guard" --serial; do
		[ "$kernel $options" = "stop --serial" ] && expected='returned status 7' || expected="task 'B'"
		fails_with "^skrun: error: superkernel sk_sp1: .*$expected" "$skrun" wrong.sk --random 1 $options
	done
done

# Without the awaits inside a step two calls are not in order, and the message names them.
cat >blind.yaml <<M
sklink: 1
tensors:
$(tensors '[1000]' x a b y)
tasks:
  - {name: A, kernel: scale, args: [x, a], set: {factor: 2}, scope: sp1}
  - {name: B, kernel: reverse, args: [a, b], scope: sp1}
  - {name: C, kernel: reverse, args: [b, y], scope: sp1}
M
"$sklink" blind.yaml kernels.o -o blind.sk
cp blind.sk grouped.sk && "$group" grouped.sk | grep -qx 0 || fail "steps with an await between them became one"
[ "$("$group" --blindly blind.sk)" = 1 ] || fail "nothing was joined blindly"
fails_with "launch 'sk_sp1': nothing orders task 'B', which writes 'b', and task 'C', which reads 'b', both at " \
	"$skdump" --verify blind.sk
grep -q 'they are calls of one step, and no core waits for another between them' err.txt ||
	fail "why nothing orders B and C"
fails_with "race: it (reads|writes) bytes .* of tensor 'b', which task '[BC]' on core" "$skrun" blind.sk --random 1 \
	--check-races --cores 2
