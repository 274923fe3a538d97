#!/bin/bash
# The traffic that tile groups save, as --report and --explain estimate it, equals the count of real calls: every kernel
# here notes the bytes that it reads and writes. Task by task each of them moves. In tiles bytes that a tile has had
# before do not move, nor do those in the scratch, which has the same addresses for tile after tile.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cat >kernels.c <<'C'
#include <stdio.h>
#include "skkernel.h"
#define SAY(way, kernel, from, count) fprintf(stderr, "%s %s %p %ld\n", #way, kernel, (const void *)(from), (long)(count) * 4)
void scale(const float *x, float *y, long n)
{
	SAY(R, "scale", x, n);
	SAY(W, "scale", y, n);
	for (long i = 0; i < n; i++)
		y[i] = 2 * x[i];
}
SK_KERNEL(scale, "split=n reentrant; in x f32[n], out y f32[n], n i64");
void add(const float *a, const float *b, float *y, long n)
{
	SAY(R, "add", a, n);
	if (b != a)
		SAY(R, "add", b, n);
	SAY(W, "add", y, n);
	for (long i = 0; i < n; i++)
		y[i] = a[i] + b[i];
}
SK_KERNEL(add, "split=n reentrant; in a f32[n], in b f32[n], out y@a f32[n], n i64");
void bias(const float *x, const float *b, float *y, long m, long k)
{
	SAY(R, "bias", x, m * k);
	SAY(R, "bias", b, k);
	SAY(W, "bias", y, m * k);
	for (long i = 0; i < m * k; i++)
		y[i] = x[i] + b[i % k];
}
SK_KERNEL(bias, "split=m reentrant; in x f32[m,k], in b f32[k], out y f32[m,k], m i64, k i64");
void sums(const float *x, float *s, long m, long k)
{
	SAY(R, "sums", x, m * k);
	SAY(W, "sums", s, m);
	for (long i = 0; i < m; i++) {
		s[i] = 0;
		for (long j = 0; j < k; j++)
			s[i] += x[i * k + j];
	}
}
SK_KERNEL(sums, "split=m reentrant; in x f32[m,k], out s f32[m], m i64, k i64");
C
compile kernels
cat >m.yaml <<M
sklink: 1
tensors:
$(tensors '[3001, 16]' x t1 t2 t3 z)
$(tensors '[3001]' s)
  b: {dtype: f32, shape: [16]}
  y: {dtype: f32, shape: [3001, 16], role: output}
tasks:
  - {name: one, kernel: scale, args: [x, t1], scope: sp}
  - {name: two, kernel: bias, args: [t1, b, t2], scope: sp}
  - {name: three, kernel: add, args: [t2, x, t2], scope: sp}
  - {name: four, kernel: sums, args: [t2, s], scope: sp}
  - {name: five, kernel: add, args: [t1, t1, t3], scope: sp}
  - {name: six, kernel: add, args: [t3, t2, y], scope: sp}
  - {name: seven, kernel: add, args: [y, y, z], scope: sp}
M
"$sklink" m.yaml kernels.o -o m.sk --scope-options '*=tile-bytes=4096' --report=m.json --explain three >said.txt

# In a tile, which begins with the kernel `scale`: bytes that are read after they were read or written there need not be
# fetched, and bytes that are written again have to be stored once. Addresses that are written in more than one tile are
# scratch; those that are read only and come again are fetched once.
cat >count.awk <<'A'
$1 == "R" || $1 == "W" {
	if ($2 == "scale" && $1 == "R") tile++
	all += $4
	key = $3 " " tile
	if ($1 == "W" && ($3 in written) && written[$3] != tile) scratch[$3] = 1
	if ($1 == "W") written[$3] = tile
	if ($1 == "R" && !(key in had) && !($3 in read)) { fetched[key] = $4; read[$3] = 1 }
	if ($1 == "W" && !(key in stored)) stored[key] = $4
	had[key] = 1
}
END {
	for (key in stored) { split(key, part, " "); if (!(part[1] in scratch)) moved += stored[key] }
	for (key in fetched) { split(key, part, " "); if (!(part[1] in scratch)) moved += fetched[key] }
	print all, tile, moved
}
A
"$skrun" m.sk --random 1 --cores 1 --unfused 2>calls.txt >/dev/null
read -r before _ <<<"$(awk -f count.awk calls.txt)"
"$skrun" m.sk --random 1 --cores 1 2>calls.txt >/dev/null
read -r again tiles after <<<"$(awk -f count.awk calls.txt)"
[ "$tiles" -gt 5 ] || fail "there are only $tiles tiles"
echo "$tiles tiles, $before bytes task by task, $after in tiles, $again with what tiles share"
traffic="\"traffic\": \{\"before\": $before, \"after\": $after\}"
grep -qE "^    \{\"launch\": \"sk_sp\", \"first\": \"one\", \"last\": \"seven\", \"tasks\": 7, \"extent\": 3001, .*$traffic\}\$" m.json ||
	{ grep traffic m.json; fail "the report does not say $before and $after"; }
[ "$after" -lt $((before / 2)) ] || fail "nothing saved"
temporaries=$((4 * 3 * 3001 * 16))
grep -qE "^  \"tiles\": \{\"temporaries_in_scratch\": $temporaries, .*, $traffic\},\$" m.json || {
	grep traffic m.json; fail "the sums"; }
grep -qE "^  The group moves $after bytes of memory a run; task by task it would be $before\. In the scratch: 't2'\.\$" said.txt ||
	{ cat said.txt; fail "--explain does not say what is saved"; }

# None of them takes workspace.
"$skdump" --memory m.sk >memory.txt
for shown in '^memory: 0 temporaries in a workspace of 0 bytes$' \
	'^scratch: 3 temporaries of which a core has a tile at a time$' \
	'^ *[0-9]+ +192064  t1 +f32 +\[3001, 16\]$'; do
	grep -qE "$shown" memory.txt || { cat memory.txt; fail "--memory has no line $shown"; }
done

# Without groups nothing is saved, and nothing is in the scratch.
"$sklink" m.yaml kernels.o -o plain.sk --report=plain.json --scope-options '*=tile-fusion=0'
grep -qE "^  \"tiles\": \{\"temporaries_in_scratch\": 0, .*\"traffic\": \{\"before\": $before, \"after\": $before\}\},\$" plain.json ||
	{ grep traffic plain.json; fail "tile-fusion=0 saves something"; }

# changes FILE: the changes by groups, beside the traffic, as "before after" of each.
changes() {
	sed -nE 's/^  "tiles": .*"temporaries_in_memory": \{"before": ([0-9]+), "after": ([0-9]+)\}, "workspace": \{"before": ([0-9]+), "after": ([0-9]+)\}, "awaits": \{"before": ([0-9]+), "after": ([0-9]+)\}.*/\1 \2 \3 \4 \5 \6/p' "$1"
}

# The numbers for the network without groups equal those of a link without them.
compare() { # MEMORY WORKSPACE AWAITS: with groups there is that much
	changes m.json
	read -r memory memory_after workspace workspace_after awaits awaits_after <<<"$(changes m.json)"
	[ "$(changes plain.json)" = "$memory $memory $workspace $workspace $awaits $awaits" ] || { changes plain.json;
		fail "without groups it is another one"; }
	[ "$memory_after $workspace_after $awaits_after" = "$1 $2 $3" ] || fail "with groups it is not $*"
}
compare 0 0 0
[ "$memory" = $temporaries ] && [ "$workspace" -gt 0 ] || fail "without groups there is no workspace"
cat >m.yaml <<M
sklink: 1
tensors:
$(tensors '[3001, 16]' x w a b c d e)
  y: {dtype: f32, shape: [3001, 16], role: output}
tasks:
  - {name: gate, kernel: whole, args: [x, a], scope: sp}
  - {name: one, kernel: scale, args: [a, b], scope: sp}
  - {name: up, kernel: whole, args: [w, c], scope: sp}
  - {name: two, kernel: add, args: [b, c, d], scope: sp}
  - {name: three, kernel: scale, args: [d, e], scope: sp}
  - {name: down, kernel: whole, args: [e, y], scope: sp}
kernels:
  whole: {symbol: scale, signature: "in x f32[n], out y f32[n], n i64"}
M
"$sklink" m.yaml kernels.o -o m.sk --report=m.json
"$sklink" m.yaml kernels.o -o plain.sk --report=plain.json --scope-options '*=tile-fusion=0'
one=$((3001 * 16 * 4))
compare $((3 * one)) $((3 * one)) 2
[ "$memory $awaits" = "$((5 * one)) 3" ] || fail "without groups there are not five temporaries and three awaits"
grep -qE '"name": "sk_sp".*"awaits": 2,' m.json || fail "the launch has other awaits"
