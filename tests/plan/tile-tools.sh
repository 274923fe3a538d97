#!/bin/bash
# The tools' output for tile groups. Races inside of one are found, also on one core; traces and profiles have each of
# its calls, over all tiles; faults, statuses and time-outs name the call.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cat >kernels.c <<'C'
#include "skkernel.h"
void scale(const float *x, float *y, long n, float factor)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i] * factor;
}
SK_KERNEL(scale, "split=n; in x f32[n], out y f32[n], n i64, factor f32");
void shift(const float *x, const float *all, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i] - all[0];
}
SK_KERNEL(shift, "split=n; in x f32[n], in all f32[k], out y f32[n], n i64");
C
compile kernels

# ---- races ----

# A call that reads all of a tensor, after and before one that writes it, in steps that are in tiles although they must
# not be: on one core no await is missing, but the tiles come in an order that the network does not have.
race() { # TASK WHAT OTHER WHAT: the message says so, of tensor a; the tasks are in tasks.txt
	cat >race.yaml <<M
sklink: 1
tensors:
$(tensors '[1000]' x a b y)
tasks:
$(cat tasks.txt)
M
	"$sklink" --scope-options '*=tile-fusion=0' race.yaml kernels.o -o race.sk
	[ "$("$top_builddir/tests/plan/group-steps" --tiles 64 race.sk)" = 1 ] || fail "not one step is in tiles"
	fails_with "launch 'sk_sp': nothing orders task '[A-C]'" "$skdump" --verify race.sk
	for options in '' '--seed 3'; do
		fails_with "^skrun: error: superkernel sk_sp: task '$1': kernel [a-z]* on core 0, in the tile of elements [0-9]* to [0-9]*: race: it $2 bytes [0-9]* to [0-9]* of tensor 'a', which task '$3' on core 0 $4 for an earlier tile, although its turn comes later" \
			"$skrun" race.sk --random 1 --check-races --cores 1 $options
	done
	fails_with "race: it (reads|writes) bytes [0-9]* to [0-9]* of tensor 'a'" "$skrun" race.sk --random 1 \
		--check-races --cores 2
}
cat >tasks.txt <<'M'
  - {name: A, kernel: scale, args: [x, a], set: {factor: 2}, scope: sp}
  - {name: B, kernel: shift, args: [x, a, b], scope: sp}
  - {name: C, kernel: scale, args: [b, y], set: {factor: 2}, scope: sp}
M
race A writes B reads
cat >tasks.txt <<'M'
  - {name: first, kernel: scale, args: [x, a], set: {factor: 2}}
  - {name: A, kernel: shift, args: [x, a, b], scope: sp}
  - {name: B, kernel: scale, args: [b, a], set: {factor: 2}, scope: sp}
  - {name: C, kernel: scale, args: [a, y], set: {factor: 2}, scope: sp}
M
race A reads B writes

# ---- traces and profiles ----

# Kernels that work 4, 1 and 2 times as long, on one element after the other; the second one on the first half only, the
# third one in a loop. There are more tiles than are timed, of which the last one is smaller.
cat >work.c <<'C'
#include "skkernel.h"
__attribute__((noinline)) static float work(float x, int times)
{
	for (int i = 0; i < times; i++)
		x = x * 0.5f + 1;
	return x;
}
void four(const float *x, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = work(i ? x[i] + y[i - 1] * 0 : x[i], 80);
}
SK_KERNEL(four, "split=n; in x f32[n], out y f32[n], n i64");
void one(const float *x, float *y, long n, long begin)
{
	for (long i = 0; i < n; i++)
		y[i] = work(i ? x[i] + y[i - 1] * 0 : x[i], begin + i < 997 * 8 / 2 ? 40 : 0);
}
SK_KERNEL(one, "split=n; in x f32[n], out y f32[n], n i64, begin i64 = begin(n)");
void two(const float *x, float *y, long m, long n)
{
	for (long i = 0; i < m * n; i++)
		y[i] = work(i ? x[i] + y[i - 1] * 0 : x[i], 40);
}
SK_KERNEL(two, "tile=m:2; in x f32[m,n], out y f32[m,n], m i64, n i64");
C
compile work
cat >work.yaml <<M
sklink: 1
tensors:
$(tensors '[997, 8]' x a b y)
tasks:
  - {name: A, kernel: four, args: [x, a], scope: sp}
  - {name: B, kernel: one, args: [a, b], scope: sp}
  - {name: C, kernel: two, args: [b, y], scope: sp}
M
"$sklink" --scope-options '*=profiling=1:tile-bytes=1' work.yaml work.o -o work.sk
"$skdump" --verify work.sk >/dev/null
"$skdump" --launches work.sk | grep -qE ' superkernel .* 1 +A +.*C +0 ' || { "$skdump" --launches work.sk;
	fail "not one step"; }
# The calls' times are in proportion to the kernels' work, up to a factor of 1.5, and add up to the time of the core's
# part, but for the loop's own time. On a busy machine a core may be taken away in the middle of a call, but not in
# every one of 50 short runs.
right() {
	awk -v options="$1" '$1 ~ /^[ABC]$/ && NF == 6 { calls[$1] = $2; total[$1] = $3; tasks++ }
		/^all cores/ { all = $3 }
		function near(ratio, wanted) { return ratio > wanted / 1.5 && ratio < wanted * 1.5 }
		END {
			exit tasks != 3 || !near(total["A"] / total["B"], 4) || !near(total["C"] / total["B"], 2) ||
				(options == "--cores 1" && total["A"] + total["B"] + total["C"] < all / 2)
		}' out.txt
}
for options in '--cores 1' '--cores 2' '--cores 7' '--device a3'; do
	for run in $(seq 50); do
		"$skrun" work.sk --random 1 $options --trace t.json --profile >out.txt
		! right "$options" || break
	done
	right "$options" || { cat out.txt; fail "$options: the calls of a group have other sums"; }
	! command -v python3 >/dev/null ||
		python3 "$top_srcdir/tests/lib/check-trace.py" t.json --launches 1 --profile out.txt ||
		fail "$options: the trace is wrong"
done
# 125 tiles of 8 rows, the last one of 5.
"$skrun" work.sk --random 1 --cores 1 --repeat 9 --profile >out.txt
awk '$1 ~ /^[AB]$/ && $2 == 9 * 125 || $1 == "C" && $2 == 9 * (124 * 4 + 3) { right++ } END { exit right != 3 }' \
	out.txt ||
	{ cat out.txt; fail "the kernels of a group were called another number of times"; }

# ---- faults and statuses ----

# Kernels that fail at one element: the message names the task, the kernel and, for a fault, the tile, on any number of
# cores. If several fail, it names one that fails in any case.
cat >fails.c <<'C'
#include "skkernel.h"
int stop(const float *x, float *y, long n, float where)
{
	for (long i = 0; i < n; i++) {
		if (x[i] == where)
			return 7;
		y[i] = x[i];
	}
	return 0;
}
SK_KERNEL(stop, "split=n; in x f32[n], out y f32[n], n i64, where f32 -> status");
void crash(const float *x, float *y, long n, float where)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i] == where ? *(volatile float *)8 : x[i];
}
SK_KERNEL(crash, "split=n; in x f32[n], out y f32[n], n i64, where f32");
void hang(const float *x, float *y, long n, float where)
{
	for (long i = 0; i < n; i++) {
		while (*(const volatile float *)&x[i] == where)
			;
		y[i] = x[i];
	}
}
SK_KERNEL(hang, "split=n; in x f32[n], out y f32[n], n i64, where f32");
C
# By rows; and with so many arguments that the frame has the tile's number at an offset beyond a byte.
cat >>fails.c <<'C'
void rows(const float *x, float *y, long m, long n, float where)
{
	for (long i = 0; i < m * n; i++)
		y[i] = x[i] == where ? *(volatile float *)8 : x[i];
}
SK_KERNEL(rows, "split=m; in x f32[m,n], out y f32[m,n], m i64, n i64, where f32");
void many(const float *x, float *y, long n, float where, long a, long b, long c, long d, long e, long f, long g, long h, long i,
	  long j, long k, long l, long m, long o, long p, long q, long r, long s, long t)
{
	if (a + b + c + d + e + f + g + h + i + j + k + l + m + o + p + q + r + s + t == 19)
		crash(x, y, n, where);
}
SK_KERNEL(many, "split=n; in x f32[n], out y f32[n], n i64, where f32, a i64 = 1, b i64 = 1, c i64 = 1, d i64 = 1, e i64 = 1, "
		"f i64 = 1, g i64 = 1, h i64 = 1, i i64 = 1, j i64 = 1, k i64 = 1, l i64 = 1, m i64 = 1, o i64 = 1, p i64 = 1, "
		"q i64 = 1, r i64 = 1, s i64 = 1, t i64 = 1");
C
compile fails
# x holds 0, 1, 2 … 999.
numbers() { # SHAPE
	printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': ($1), }"
	for ((i = 0; i < 1000; i++)); do # numbers from 2^22 on differ in their lowest bits
		printf "\\x$(printf %02x $((i % 256)))\\x$(printf %02x $((i / 256)))\\x80\\x4a"
	done
}
numbers '1000,' >x.npy
numbers '125, 8' >rows.npy
at() { # ELEMENT: the value of x there, 2^22 + ELEMENT / 2
	awk -v i="$1" 'BEGIN { printf "%.1f", 4194304 + i / 2 }'
}
chain() { # KERNEL ELEMENT-OF-B ELEMENT-OF-C
	cat >chain.yaml <<M
sklink: 1
tensors:
$(tensors '[1000]' x a b c y)
tasks:
  - {name: A, kernel: stop, args: [x, a], set: {where: -1}, scope: sp}
  - {name: B, kernel: $1, args: [a, b], set: {where: $(at $2)}, scope: sp}
  - {name: C, kernel: $1, args: [b, c], set: {where: $(at $3)}, scope: sp}
  - {name: D, kernel: stop, args: [c, y], set: {where: -1}, scope: sp}
M
	"$sklink" --scope-options '*=tile-bytes=1' chain.yaml fails.o -o chain.sk
	"$skdump" --launches chain.sk | grep -qE ' superkernel .* 1 +A +.*D +0 ' || fail "not one step"
}
says() { # TASKS TEXT [OPTION...]
	local tasks=$1 text=$2
	shift 2
	for options in '--cores 1' '--cores 2' '--cores 7' '--device a3' '--cores 2 --guard' '--cores 2 --unfused'; do
		fails_with "^skrun: error: .*task '$tasks': kernel [a-z]*.*$text" "$skrun" chain.sk --input x=x.npy \
			$options "$@"
	done
}
none=5000
tile_of() { # ELEMENT: the message for a fault there
	echo "in the tile of elements $(($1 / 64 * 64)) to $(($1 / 64 * 64 + 63 < 999 ? $1 / 64 * 64 + 63 : 999))"
}
for element in 0 63 64 500 999; do
	chain stop $element $none && says B 'returned status 7'
	chain stop $none $element && says C 'returned status 7'
	fails_with "sk_sp.*returned status 7" "$skrun" chain.sk --input x=x.npy --serial
	fails_with "task 'C': kernel stop returned status 7 on core [0-9], $(tile_of $element)$" \
		"$skrun" chain.sk --input x=x.npy --guard --cores 3
done
for kernel in crash many; do
	for element in 0 63 64 500 999; do
		chain $kernel $none $element && says C 'SIGSEGV.: read at address 0x8'
		for options in '--cores 1' '--cores 2' '--cores 7' '--device a3' '--cores 2 --guard'; do
			fails_with "task 'C': kernel $kernel on .*core [0-9]*, $(tile_of $element): segmentation fault" \
				"$skrun" chain.sk --input x=x.npy $options
		done
		fails_with "task 'C': kernel $kernel, $(tile_of $element): segmentation fault" "$skrun" chain.sk \
			--input x=x.npy --serial
		fails_with "task 'C': kernel $kernel on core 0: segmentation fault" "$skrun" chain.sk --input x=x.npy \
			--unfused --cores 1
	done
done
chain crash 500 $none && says B 'SIGSEGV.: read at address 0x8'
chain hang $none 500 && says C 'it was at hang' --timeout 0.2
fails_with "task 'C': kernel hang on core 0, $(tile_of 500): it was at hang" \
	"$skrun" chain.sk --input x=x.npy --timeout 0.2 --cores 1

# Each task tells elements as it counts them itself: 8 rows, or 64 elements; one in a loop tells the group's tile.
by_rows() { # ELEMENT-OF-B ELEMENT-OF-C TASK TILE
	cat >rows.yaml <<M
sklink: 1
tensors:
$(tensors '[125, 8]' x a b y)
kernels:
  looped: {symbol: rows, signature: "tile=m:2; in x f32[m,n], out y f32[m,n], m i64, n i64, where f32"}
tasks:
  - {name: A, kernel: rows, args: [x, a], set: {where: -1}, scope: sp}
  - {name: B, kernel: crash, args: [a, b], set: {where: $(at $1)}, scope: sp}
  - {name: C, kernel: looped, args: [b, y], set: {where: $(at $2)}, scope: sp}
M
	"$sklink" --scope-options '*=tile-bytes=1' rows.yaml fails.o -o rows.sk
	"$skdump" --launches rows.sk | grep -qE ' superkernel .* 1 +A +.*C +0 ' || fail "not one step"
	for options in '--cores 1' '--cores 2' '--cores 7' '--cores 2 --guard'; do
		fails_with "task '$3': kernel [a-z]* on core [0-9]*, in the tile of elements $4: segmentation fault" \
			"$skrun" rows.sk --input x=rows.npy $options
	done
	fails_with "task '$3': kernel [a-z]*, in the tile of elements $4: segmentation fault" "$skrun" rows.sk --input \
		x=rows.npy --serial
}
by_rows 500 $none B '448 to 511'
by_rows $none 500 C '56 to 63'
by_rows $none 999 C '120 to 124'
# Several that would fail: the named one also fails on its input when tasks run one by one, the others being sound;
# among those that several cores have reached it is the first one of the network.
both() { # ELEMENT-OF-B ELEMENT-OF-C: names B or C, with the tile
	for options in '--cores 1' '--cores 2' '--cores 7' '--device a3' '--cores 7 --guard'; do
		chain $kernel $1 $2
		"$skrun" chain.sk --input x=x.npy $options 2>err.txt && fail "nothing fails: $options"
		case $(sed -n "s/.* task '\([A-D]\)': .*/\1/p" err.txt) in
		B) named=B element=$1 && chain $kernel $1 $none ;;
		C) named=C element=$2 && chain $kernel $none $2 ;;
		*) cat err.txt && fail "another task is named: $options" ;;
		esac
		[ $kernel = stop ] || grep -q "$(tile_of $element)" err.txt || { cat err.txt;
			fail "not the tile of $named: $options"; }
		fails_with "task '$named': kernel $kernel" "$skrun" chain.sk --input x=x.npy --unfused
	done
}
for kernel in stop crash; do
	both 999 0 && both 500 63 && both 0 999 && both 64 63
	chain $kernel 10 10 && says B '' # in the same tile C comes after B, which has ended the launch
done

# A call that fails only on values that have not been computed yet is never named, in the same step or after an await:
# if B has ended the launch, all values are positive that C and E would find in its place, also in the tile of which B
# has computed a part.
cat >>fails.c <<'C'
int negate(const float *x, float *y, long n, float where)
{
	for (long i = 0; i < n; i++) {
		if (x[i] == where)
			return 7;
		y[i] = -x[i];
	}
	return 0;
}
SK_KERNEL(negate, "split=n; in x f32[n], out y f32[n], n i64, where f32 -> status");
int negative(const float *x, float *y, long n)
{
	for (long i = 0; i < n; i++) {
		if (x[i] >= 0)
			return 8;
		y[i] = x[i];
	}
	return 0;
}
SK_KERNEL(negative, "split=n; in x f32[n], out y f32[n], n i64 -> status");
int sum(const float *x, long n, float *y)
{
	y[0] = 0;
	for (long i = 0; i < n; i++) {
		if (x[i] >= 0)
			return 9;
		y[0] += x[i];
	}
	return 0;
}
SK_KERNEL(sum, "in x f32[n], n i64, out y f32[1] -> status");
C
compile fails
for element in 0 10 70 500 999; do
	cat >chain.yaml <<M
sklink: 1
tensors:
$(tensors '[1000]' x a b c d)
  y: {dtype: f32, shape: [1]}
tasks:
  - {name: A, kernel: stop, args: [x, a], set: {where: -1}, scope: sp}
  - {name: B, kernel: negate, args: [a, b], set: {where: $(at $element)}, scope: sp}
  - {name: C, kernel: negative, args: [b, c], scope: sp}
  - {name: D, kernel: negative, args: [c, d], scope: sp}
  - {name: E, kernel: sum, args: [d, y], scope: sp}
M
	"$sklink" --scope-options '*=tile-bytes=1' chain.yaml fails.o -o chain.sk
	"$skdump" --launches chain.sk | grep -qE ' superkernel .* 2 +A +.*E +' || { "$skdump" --launches chain.sk;
		fail "not two steps"; }
	says B 'returned status 7'
done
