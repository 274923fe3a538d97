#!/bin/bash
# The effect of each option of scopes on the calls of a tile group: doc/reference/scope-options.md has a row for each,
# and here is a case for each row (manuals.sh checks). With any options the results are those of the tasks one by one.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cat >kernels.c <<'C'
#include "skkernel.h"
#define EACH(name, made) \
	void name(const float *x, float *y, long n) \
	{ \
		for (long i = 0; i < n; i++) \
			y[i] = made; \
	} \
	SK_KERNEL(name, "vector split=n; in x f32[n], out y f32[n], n i64")
EACH(scale, 3 * x[i]);
EACH(shift, x[i] + 3);
EACH(square, x[i] * x[i]);
#define BLOCKS(name, meets, attributes) \
	void name(const struct sk_block *block, const float *x, float *y, long n) \
	{ \
		uint64_t low, high; \
 \
		meets(block); \
		sk_block_range(block, (uint64_t)n, &low, &high); \
		for (uint64_t i = low; i < high; i++) \
			y[i] = x[i] + 1; \
	} \
	SK_KERNEL(name, "vector " attributes "; block, in x f32[n], out y f32[n], n i64")
BLOCKS(early, sk_wait_pre_task_end, "blocks=n early-start=wait");
BLOCKS(meet, sk_sync_all, "sync-all");
C
$KERNEL_CC $KERNEL_CFLAGS -g -ffunction-sections -I"$top_srcdir/format" -c kernels.c -o kernels.o

# link OPTIONS [LAST [DEVICE [STREAMS…]]]: three divided tasks and a LAST one, with their steps in steps.txt and
# reasons.txt.
link() {
	local last=${2:-early} device=${3:-host} streams=("${4:-0}" "${5:-0}" "${6:-0}")
	cat >m.yaml <<M
sklink: 1
device: $device
tensors:
$(tensors '[6400]' x a b c y)
tasks:
  - {name: one, kernel: scale, args: [x, a], stream: ${streams[0]}, scope: sp}
  - {name: two, kernel: shift, args: [a, b], stream: ${streams[1]}, scope: sp}
  - {name: three, kernel: square, args: [b, c], stream: ${streams[2]}, scope: sp}
  - {name: last, kernel: $last, args: [c, y], blocks: 4, scope: sp}
scopes:
  sp: {options: "$1"}
M
	"$sklink" m.yaml kernels.o -o m.sk 2>err.txt || { cat err.txt >&2; fail "$1: no link"; }
	"$skdump" --verify m.sk >/dev/null
	"$skdump" --steps m.sk >steps.txt
	"$skdump" --reasons m.sk >reasons.txt
	"$skrun" m.sk --random 1 --verify --cores 3 >ran.txt || fail "$1: other results"
}
# steps TASKS…: those of one step with commas.
steps() {
	made=$(awk '/^launch/ { inside = /superkernel/ } !inside { next } /^ *[0-9]+  / { printf " %s", $2; next } NF == 2 { printf ",%s", $1 }' steps.txt)
	[ "$made" = " $*" ] || { cat steps.txt >&2; fail "the steps are$made, not $*"; }
}
# says TASK CODE
says() {
	grep -qE "^ *$1 .* $2 " reasons.txt || { cat reasons.txt >&2; fail "$1 is not $2"; }
}
# code ENTRY: the instructions of a lane's program.
code() {
	objdump -d --no-show-raw-insn -M intel --disassemble=$1 m.sk
}
group=one,two,three

link ''
steps $group last
cp m.sk plain.sk
link tile-fusion=1:tile-bytes=0
cmp plain.sk m.sk || fail "the defaults change something"
link tile-fusion=0
steps one two three last
says two TILE_SWITCHED_OFF
link tile-bytes=3000
steps $group last
grep -q 'group tiles of 320$' steps.txt || { cat steps.txt;
	fail "tile-bytes: not as many units of 64 as two tensors have in 3000 bytes"; }
link stream-order=1
cmp plain.sk m.sk || fail "stream-order=1 takes groups apart"
link parallel-fusion=1
cmp plain.sk m.sk || fail "parallel-fusion=1 is not the default"
link exchange-fusion=0
cmp plain.sk m.sk || fail "exchange-fusion=0 changes a package without exchanges"
link parallel-fusion=0
steps $group last

link stream-fusion=1 early host 0 1 2
steps $group last
link stream-fusion=0 early host 0 1 2
steps one,two last

# All its code is fetched ahead once, before the loop; the next kernel's while it runs.
link tile-bytes=3000:preload-code=per-func
steps $group last
[ "$(code sk_sp | grep -cE 'prefetcht1')" = 4 ] || { code sk_sp; fail "preload-code: not four prefetches"; }
code sk_sp | sed '/call .*<scale>/q' >front.txt
[ "$(grep -c prefetcht1 front.txt)" = 4 ] || { cat front.txt; fail "preload-code: not all in front of the calls"; }
[ "$(sed '1,/call .*<scale>/d; /call .*<square>/q' <(code sk_sp) | grep -c prefetcht1)" = 0 ] ||
	fail "preload-code: it prefetches for each tile"

link split-mode=2
steps $group last
for kernel in scale shift square; do
	code sk_sp.split1 | grep -q "call.*<$kernel.split1>" || { code sk_sp.split1;
		fail "split-mode: the copy does not call the copy of $kernel"; }
done
link func-align=512
steps $group last
for kernel in scale shift square; do
	nm m.sk | grep -qE "[02468ace]00 . $kernel\$" || { nm m.sk; fail "func-align: $kernel is not aligned"; }
done

# Each call's code is a line of its task, the end of their loop one of the last.
link compile-options=-g
steps $group last
code sk_sp | grep -E 'call .*<(scale|shift|square)>$|\sjb ' >calls.txt
sed -E 's/^ *([0-9a-f]+):.*/\1/' calls.txt | addr2line -e m.sk >lines.txt
for task in one two three three; do
	echo "m.yaml:$(grep -n "name: $task," m.yaml | cut -d: -f1)"
done | diff - <(head -4 lines.txt) >&2 || { cat calls.txt;
	fail "compile-options=-g: the lines of three calls and the end of their loop"; }

link profiling=1
steps $group last
"$skrun" m.sk --random 1 --cores 2 --profile >profile.txt
for task in one two three; do
	grep -qE "^ *$task " profile.txt || { cat profile.txt; fail "profiling: no line for $task"; }
done

# A task that is flushed is in no group; others may be.
link debug-dcci-all=1
steps one two three last
says two TILE_FLUSHED
link debug-dcci-all=1:dcci-disable-on-kernel=scale,shift
steps one,two three last
says three TILE_FLUSHED
[ "$(code sk_sp | grep -c mfence)" = 2 ] || fail "dcci-disable-on-kernel: not two fences"
link dcci-before-kernel-start=square
steps one,two three last
says three TILE_FLUSHED
link dcci-after-kernel-end=scale
steps one two,three last
says two TILE_FLUSHED
link debug-sync-all=1
steps one two three last
says two TILE_SYNC_ALL

# Fewer cores run the same tiles: units and tiles are chosen for those of the device.
link '' early a3
cp steps.txt all.txt
link debug-aiv-num=2:debug-aic-num=1 early a3
[ "$(grep ' one ' steps.txt)" = "$(grep ' one ' all.txt)" ] || { diff all.txt steps.txt;
	fail "debug-aiv-num changes units or tiles"; }
steps $group last

# Kernels that get a block are never called in tiles. If one does not start early, cores also keep to its blocks before
# it.
for awaits in 1:1 0:0 0:2; do
	link early-start=${awaits#*:}
	steps $group last
	says last TILE_NOT_DIVIDED
	grep -q " 2 steps, ${awaits%:*} await" steps.txt || { cat steps.txt;
		fail "early-start=${awaits#*:}: not ${awaits%:*} awaits"; }
done
for value in 0 1; do
	link feed-sync-all=$value meet
	steps $group last
	says last TILE_NOT_DIVIDED
done

# Absent groups are not a reason to split a scope.
link strict-scope-check=abort:tile-fusion=0
link strict-scope-check=abort
steps $group last
link strict-scope-check=bypass
steps $group last
