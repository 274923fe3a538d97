#!/bin/bash
# No path of a link is quadratic: in each of the orders of tests/lib/adverse-orders.awk 100,000 tasks have at most 15
# times the looks of all phases, the bytes and the memory of 10,000. The numbers compared are those of --stats, none of
# which is a time.
. "$top_srcdir/tests/lib/lib.sh"
cat >kernels.c <<'C'
#include "skkernel.h"

#define KERNELS(SUFFIX, SPLIT) \
	void move##SUFFIX(const float *x, float *y, int64_t n) { for (int64_t i = 0; i < n; i++) y[i] = x[i]; } \
	void add##SUFFIX(const float *a, const float *b, float *y, int64_t n) { for (int64_t i = 0; i < n; i++) y[i] = a[i] + b[i]; } \
	void fill##SUFFIX(float *y, int64_t n) { for (int64_t i = 0; i < n; i++) y[i] = 1; } \
	void touch##SUFFIX(float *y, int64_t n) { for (int64_t i = 0; i < n; i++) y[i] += 1; } \
	SK_KERNEL(move##SUFFIX, SPLIT "in x f32[n], out y f32[n], n i64"); \
	SK_KERNEL(add##SUFFIX, SPLIT "in a f32[n], in b f32[n], out y f32[n], n i64"); \
	SK_KERNEL(fill##SUFFIX, SPLIT "out y f32[n], n i64"); \
	SK_KERNEL(touch##SUFFIX, SPLIT "inout y f32[n], n i64")

KERNELS(, "");
KERNELS(_divided, "split=n; ");
C
compile kernels

# count ORDER N: NAME,NUMBER of all that --stats counts of such a link, with the looks of its phases as one number
count() {
	awk -v order="$1" -v n="$2" -f "$top_srcdir/tests/lib/adverse-orders.awk" >"$1.yaml"
	"$sklink" -j1 --stats "$1.yaml" kernels.o -o "$1.sk" 2>"$1.err" >"$1.stats" || { cat "$1.err" >&2;
		fail "$2 tasks of $1 are not linked"; }
	sed -nE 's/^([a-z][a-z A-Z]*[a-zA-Z]) +([0-9]+)$/\1,\2/p' "$1.stats" |
		awk -F, '/^looks of/ { looks += $2; next } { print } END { print "looks," looks }'
	rm "$1.yaml" "$1.sk"
}

# compare ORDER: the numbers of both; a thousand more is nothing
compare() {
	count "$1" 10000 >"$1.few"
	count "$1" 100000 >"$1.many"
	[ "$(wc -l <"$1.few")" -ge 18 ] || fail "$1: --stats counts little"
	awk -F, -v order="$1" '
		NR == FNR { few[$1] = $2 }
		NR != FNR && $2 > 15 * (few[$1] + 1000) { print order ": " $1 " grows from " few[$1] " to " $2; bad = 1 }
		END { exit bad }' "$1.few" "$1.many" >&2 || fail "$1 grows faster than its tasks"
}

orders="chain fan-out fan-in tree slices ping-pong broadcasts diamonds views reversed sizes divided-chain divided-tree streams fused-streams
events fused-events after fused-after scopes mixed-scopes alone"
export -f count compare fail
export sklink top_srcdir
printf '%s\n' $orders | xargs -P 2 -I ORDER bash -euc 'compare ORDER'
