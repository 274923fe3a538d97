#!/bin/bash
# What the tools say of tile groups. Races inside of one are found, on one core, too.
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

# A call that reads all of a tensor, behind and in front of one that writes it, in steps that are in tiles although they must
# not be: on one core no await is missing, but the tiles come in an order that the network does not have.
race() { # TASK WHAT OTHER WHAT: says so, of tensor a; the tasks are in tasks.txt
	cat >race.yaml <<M
sklink: 1
tensors:
$(tensors '[1000]' x a b y)
tasks:
$(cat tasks.txt)
M
	"$sklink" --scope-options '*=tile-fusion=0' race.yaml kernels.o -o race.sk
	[ "$("$top_builddir/tests/run/group-steps" --tiles 64 race.sk)" = 1 ] || fail "not one step is in tiles"
	fails_with "launch 'sk_sp': nothing orders task '[A-C]'" "$skdump" --verify race.sk
	for options in '' '--seed 3'; do
		fails_with "^skrun: error: superkernel sk_sp: task '$1': kernel [a-z]* on core 0: race: it $2 bytes [0-9]* to [0-9]* of tensor 'a', which task '$3' on core 0 $4 for an earlier tile, although its turn comes later" \
			"$skrun" race.sk --random 1 --check-races --cores 1 $options
	done
	fails_with "race: it (reads|writes) bytes [0-9]* to [0-9]* of tensor 'a'" "$skrun" race.sk --random 1 --check-races --cores 2
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
