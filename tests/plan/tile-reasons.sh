#!/bin/bash
# Why a task is, or is not, in one tile group with the task before it: a case for each code, in the report, in --explain
# of sklink and of skdump, and in skdump --reasons.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cat >kernels.c <<'C'
#include "skkernel.h"
void scale(const float *x, float *y, long n, float factor)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i] * factor;
}
SK_KERNEL(scale, "split=n; in x f32[n], out y f32[n], n i64, factor f32 = 2");
void sums(const float *x, float *s, long m, long k)
{
	for (long i = 0; i < m; i++) {
		s[i] = 0;
		for (long j = 0; j < k; j++)
			s[i] += x[i * k + j];
	}
}
SK_KERNEL(sums, "split=m; in x f32[m,k], out s f32[m], m i64, k i64");
void bias(const float *x, const float *b, float *y, long m, long k)
{
	for (long i = 0; i < m; i++)
		for (long j = 0; j < k; j++)
			y[i * k + j] = x[i * k + j] + b[j];
}
SK_KERNEL(bias, "split=m; in x f32[m,k], in b f32[k], out y f32[m,k], m i64, k i64");
void differences(const float *x, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i + 1] - x[i];
}
SK_KERNEL(differences, "split=n; in x f32[n+1], out y f32[n], n i64");
void gather(const float *const *rows, float *y, long m, long k)
{
	for (long i = 0; i < m; i++)
		for (long j = 0; j < k; j++)
			y[i * k + j] = rows[i][j];
}
SK_KERNEL(gather, "split=m; rows ptr[m] of in x f32[m,k], out y f32[m,k], m i64, k i64");
void number(float *y, long n)
{
	static float calls;

	calls++;
	for (long i = 0; i < n; i++)
		y[i] = calls;
}
SK_KERNEL(number, "inout y f32[n], n i64");
C
KERNEL_CFLAGS="$KERNEL_CFLAGS -ffunction-sections"
compile kernels

# link TASKS: into m.sk, with its report.
short=tile-bytes=4096
device='' options=$short seen=''
link() {
	cat >m.yaml <<M
sklink: 1
$device
tensors:
$(tensors '[4096, 16]' x a b c)
$(tensors '[4096]' s t)
  h: {dtype: f32, shape: [1]}
  k: {dtype: f32, shape: [16]}
  w: {dtype: f32, shape: [5000]}
$(tensors '[512, 5000]' wide wide2 wide3)
$(tensors '[4, 4096]' few few2)
  few3: {dtype: f32, shape: [4]}
$(tensors '[7, 4096]' seven seven2)
  seven3: {dtype: f32, shape: [7]}
$(tensors '[8, 4096]' eight eight2)
  eight3: {dtype: f32, shape: [8]}
$(tensors '[16, 65536]' vast vast2)
  vast3: {dtype: f32, shape: [16]}
  front: {of: a, shape: [2048, 16]}
  half: {dtype: f32, shape: [2048, 16]}
  short: {dtype: f32, shape: [65535]}
  s16: {of: s, shape: [16]}
kernels:
  scale_by: {symbol: scale, signature: "split=n; in x f32[n], out y f32[n], n i64, factor f32"}
  scale_all: {symbol: scale, signature: "in x f32[n], out y f32[n], n i64, factor f32 = 2"}
  scale_long: {symbol: scale, signature: "split=n untiled; in x f32[n], out y f32[n], n i64, factor f32 = 2"}
  scale_cube: {symbol: scale, signature: "cube split=n; in x f32[n], out y f32[n], n i64, factor f32 = 2"}
tasks:
$1
scopes:
  sp: {options: "$options"}
M
	"$sklink" m.yaml kernels.o -o m.sk --report=m.json
	worth m.json
	"$skdump" --verify m.sk >/dev/null
}

# is CODE TASK SENTENCE: all tools print that for the task.
is() {
	seen="$seen $1"
	grep -E -- "^    \{\"name\": \"$2\", .*\"tile_reason\": \"$1\", \"tile_because\": \"$3\"\}" m.json >/dev/null ||
		{ grep '"tile_reason"' m.json >&2; fail "'$2' is not $1: $3"; }
	"$skdump" --explain "$2" m.sk >said.txt
	grep -qE -- "^  $1: $3\.\$" said.txt || { cat said.txt >&2; fail "--explain $2 does not say $1: $3"; }
	"$skdump" --reasons m.sk >said.txt
	grep -qE -- "^ *$2 .* $1 +$3\$" said.txt || { cat said.txt >&2; fail "--reasons does not say $1 of $2"; }
}

one='  - {name: one, kernel: scale, args: [x, a], scope: sp}'
pair() { # WHAT FOLLOWS THE TASK
	link "$one
  - {name: two, $1, scope: sp}"
}
apart="not in one group with 'one' before it:"

pair 'kernel: scale, args: [a, b]'
is TILE_FIRST one 'is the first task of its launch'
is TILE_JOINED two "in one group with 'one' before it: it shares 'a' with 'one', part by part"
pair 'kernel: scale, args: [x, b]'
is TILE_JOINED two "in one group with 'one' before it: it shares 'x' with 'one', part by part"
options=
pair 'kernel: scale, args: [a, b]'
long='; tiles are long, since the 393216 bytes that a core needs for its part stay in its cache of 1048576'
is TILE_JOINED two "in one group with 'one' before it: it shares 'a' with 'one', part by part$long"
options=tile-fusion=0
pair 'kernel: scale, args: [a, b]'
is TILE_SWITCHED_OFF two "$apart the scope has tile-fusion=0"
options=debug-sync-all=1
pair 'kernel: scale, args: [a, b]'
is TILE_SYNC_ALL two "$apart the scope has debug-sync-all=1"
options=dcci-after-kernel-end=scale_by
pair 'kernel: scale_by, args: [a, b], set: {factor: 2}'
is TILE_FLUSHED two "$apart the data cache is flushed around 'two'"
options=$short
pair 'kernel: bias, args: [a, k, b]'
sed -i 's/^sklink: 1$/&\ndims: {n: 2048..4096, k: 8..16}/; s/\[4096, 16\]/[n, 16]/' m.yaml
"$sklink" m.yaml kernels.o -o m.sk --report=m.json
is TILE_JOINED two "in one group with 'one' before it: it shares 'a' with 'one', part by part"
sed -i 's/\[n, 16\]/[n, k]/; s/\[2048, 16\]/[2048, k]/; s/^  k: .*/  k: {dtype: f32, shape: [k]}/' m.yaml
"$sklink" m.yaml kernels.o -o m.sk --report=m.json
is TILE_SIZES two "$apart it shares 'a' with 'one', and for each element of the one, the other has a number of them that \
depends on sizes"
pair 'kernel: scale_all, args: [a, b]'
is TILE_NOT_DIVIDED two "$apart the kernel of 'two' cannot be called for any part of its work"
pair 'kernel: scale_long, args: [a, b]'
is TILE_UNTILED two "$apart the kernel of 'two' is marked untiled"
pair 'kernel: number, args: [a]'
is TILE_HIDDEN_STATE two "$apart the kernel of 'two' has hidden state"
pair 'kernel: scale_by, args: [a, b], set: {factor: {tensor: h}}'
is TILE_SCALAR two "$apart 'two' reads a scalar from tensor 'h'"
link '  - {name: one, kernel: scale, args: [wide, wide2], scope: sp}
  - {name: two, kernel: bias, args: [wide2, w, wide3], scope: sp}'
is TILE_LARGE_OPERAND two "$apart each call of 'two' reads the same 20000 bytes, which are more than 16384"
device='device: a3'
pair 'kernel: scale_cube, args: [a, b]'
is TILE_OTHER_LANE two "$apart they run in different lanes"
device=
link '  - {name: one, kernel: scale, args: [x, a], scope: sp, record: ready}
  - {name: two, kernel: scale, args: [a, b], scope: sp}
  - {name: three, kernel: scale, args: [b, c], stream: 1, wait: ready, scope: sp}'
is TILE_EVENT two "$apart 'one' records an event"
is TILE_EVENT three "not in one group with 'two' before it: 'three' waits for an event"
pair 'kernel: scale, args: [a, b], after: one'
is TILE_AFTER two "$apart it comes after 'one', as the manifest says"
link '  - {name: first, kernel: scale, args: [x, a], scope: sp}
  - {name: odd, kernel: scale, args: [a, b], scope: sp}'"
$(for i in $(seq 198); do
	args='a, b'
	[ $((i % 2)) = 1 ] && args='b, a'
	echo "  - {name: t$i, kernel: scale, args: [$args], scope: sp}"
done)
  - {name: last, kernel: scale, args: [b, c], scope: sp}"
is TILE_JOINED t198 "in one group with 't197' before it: it shares 'b' with 't197', part by part"
is TILE_TOO_MANY last "not in one group with 't198' before it: 200 tasks are in one group there"

link '  - {name: one, kernel: sums, args: [x, s], scope: sp}
  - {name: two, kernel: bias, args: [x, s16, b], scope: sp}'
is TILE_SHARED two "$apart it shares 's' with 'one', and not both access it by parts"
link '  - {name: one, kernel: scale, args: [x, a], scope: sp}
  - {name: two, kernel: gather, args: [a, b], scope: sp}'
is TILE_TABLE two "$apart it shares 'a' with 'one', and one of them reaches it through a table of addresses"
pair 'kernel: differences, args: [a, short]'
is TILE_HALO two "$apart it shares 'a' with 'one', and one of them reads beyond its part of it"
pair 'kernel: scale, args: [front, half]'
is TILE_OTHER_PARTS two "$apart it shares 'a' with 'one', and the two divide it in different ways"
pair 'kernel: scale, args: [c, b]'
is TILE_NOTHING_SHARED two "$apart they divide no bytes alike, so there is nothing to save"
# Two tasks that a third one comes between, in any order.
link "$one
  - {name: two, kernel: scale_all, args: [a, b], scope: sp}
  - {name: three, kernel: bias, args: [a, k, c], scope: sp}
  - {name: four, kernel: bias, args: [b, k, a], scope: sp}"
is TILE_JOINED three "in one group with 'one' before it: it shares 'a' with 'one', part by part"
is TILE_BETWEEN four "not in one group with 'three' before it: 'two' comes between them"
# The last task comes after the one before it, and so its group, with the first task, comes after theirs.
link "$one
  - {name: two, kernel: scale_all, args: [few, few2], scope: sp}
  - {name: three, kernel: bias, args: [x, k, c], scope: sp}
  - {name: four, kernel: bias, args: [a, k, b], scope: sp, after: three}"
is TILE_MOVED one "not in one group with 'three' before it: the manifest has it before that one"
is TILE_JOINED four "in one group with 'one' before it: it shares 'a' with 'one', part by part"
link '  - {name: one, kernel: scale, args: [few, few2], scope: sp}
  - {name: two, kernel: sums, args: [few2, few3], scope: sp}
  - {name: three, kernel: scale, args: [x, a], scope: sp}'
is TILE_FEW_UNITS two "$apart as one group from 'one' on they would have 4 units of work for all cores, fewer than 8"
is TILE_NOTHING_SHARED three \
	"not in one group with 'two' before it: they divide no bytes alike, so there is nothing to save"
# The limit is four units for each core, of which the host's profile counts two: 7 rows are too few, 8 are enough.
rows() { # NAME: of the tensors with so many rows
	link "  - {name: one, kernel: scale, args: [$1, ${1}2], scope: sp}
  - {name: two, kernel: sums, args: [${1}2, ${1}3], scope: sp}"
}
rows seven
is TILE_FEW_UNITS two "$apart as one group from 'one' on they would have 7 units of work for all cores, fewer than 8"
rows eight
is TILE_JOINED two "in one group with 'one' before it: it shares 'eight2' with 'one', part by part"
link '  - {name: one, kernel: scale, args: [vast, vast2], scope: sp}
  - {name: two, kernel: sums, args: [vast2, vast3], scope: sp}'
is TILE_NO_TILE two "$apart as one group from 'one' on they would use 524288 bytes at once in the smallest tile, more than 131072"

# A report that says otherwise than the plan is found.
pair 'kernel: scale, args: [a, b]'
cp m.sk joined.sk
options=tile-fusion=0
pair 'kernel: scale, args: [a, b]'
objcopy -O binary -j .sk.report --set-section-flags .sk.report=alloc m.sk apart.report
objcopy --update-section .sk.report=apart.report joined.sk mixed.sk
fails_with "^skdump: error: mixed.sk: the plan contradicts itself: task 'two' is in one tile group with the previous task, and TILE_SWITCHED_OFF in the account\$" \
	"$skdump" --verify mixed.sk

# No code without a case and a line in the manual. Composites are models'.
seen="$seen TILE_OTHER_COMPOSITE" # composites.sh
for code in $(sed -nE 's/^.*\[SK_TILE_.*\] = "([A-Z_]+)",$/\1/p' "$top_srcdir/src/planning/tile-reasons.c"); do
	case " $seen " in
	*" $code "*) ;;
	*) fail "no case for $code" ;;
	esac
	grep -q "^| \`$code\` |" "$top_srcdir/doc/reference/reason-codes.md" ||
		fail "doc/reference/reason-codes.md has no row for $code"
done
echo "$groups_seen groups, and each saves traffic"
[ "$groups_seen" -gt 5 ] || fail "there are only $groups_seen groups"
