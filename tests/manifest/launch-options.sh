#!/bin/bash
# Options of scopes that change a superkernel: their effects on plan and code, that results stay the same and packages
# verify, and errors. tests/unit/check_manifest.c tests the parsing of the option string.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
two_lane_kernels >kernels.c
cat >>kernels.c <<'C'
void sum(const float *x, float *y, int64_t n)
{
	float sum = 0;

	for (int64_t i = 0; i < n; i++)
		y[i] = sum += x[i];
}
SK_KERNEL(sum, "vector; in x f32[n], out y f32[n], n i64");

/* How much of y this call has. */
void measure(float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (float)n;
}
SK_KERNEL(measure, "vector split=n; out y f32[n], n i64");

/* The address of the code that computes this part of y. */
void where(int64_t *y, int64_t n)
{
	int64_t here;

	__asm__ volatile("lea 0(%%rip), %0" : "=r"(here));
	for (int64_t i = 0; i < n; i++)
		y[i] = here;
}
SK_KERNEL(where, "vector split=n; out y i64[n], n i64");

/* A jump table, and data of its own. */
void steps(const float *x, float *y, int64_t n)
{
	static const float factors[] = {3, 5};

	for (int64_t i = 0; i < n; i++) {
		float value = x[i];

		switch ((int)(value * 8) & 7) {
		case 0: value += 1; break;
		case 1: value *= factors[(int)(value * 64) & 1]; break;
		case 2: value = 1 / (value + 2); break;
		case 3: value -= 3; break;
		case 4: value *= value; break;
		case 5: value = -value; break;
		case 6: value /= 7; break;
		default: break;
		}
		__asm__ volatile("" : "+x"(value));
		y[i] = value;
	}
}
SK_KERNEL(steps, "vector split=n; in x f32[n], out y f32[n], n i64");

/* On the last of three cores. */
void broken(float *y, int64_t n)
{
	volatile float *volatile nowhere = 0;

	if (n == 384)
		*nowhere = 1;
	y[0] = 0;
}
SK_KERNEL(broken, "vector split=n; out y f32[n], n i64");
C
$KERNEL_CC $KERNEL_CFLAGS -g -ffunction-sections -I"$top_srcdir/format" -c kernels.c -o kernels.o

# manifest OPTIONS [DEVICE]: five tasks on two lanes; those of the scope have these options.
manifest() {
	cat <<M
sklink: 1
device: ${2:-a3}
tensors:
$(tensors '[1000]' x a b c y z)
tasks:
  - {name: c1, kernel: product, args: [x, a], scope: sp1}
  - {name: v1, kernel: increment, args: [a, b], scope: sp1}
  - {name: v2, kernel: increment, args: [b, c], scope: sp1}
  - {name: v3, kernel: sum, args: [c, y], scope: sp1}
  - {name: c2, kernel: product, args: [x, z], scope: sp1}
scopes:
  sp1: {options: "$1"}
M
}

# link NAME OPTIONS [DEVICE]: NAME.sk, which verifies and computes the same as its tasks alone, and NAME.txt, its steps.
link() {
	manifest "$2" "${3:-a3}" >model.yaml
	"$sklink" model.yaml kernels.o -o "$1.sk" || fail "$2: it does not link"
	"$skdump" --verify "$1.sk" >verified.txt || fail "$2: it does not verify"
	"$skdump" --steps "$1.sk" >"$1.txt"
	for cores in 1 2 3; do "$skrun" "$1.sk" --random 1 --verify --repeat 5 --cores $cores >run.txt ||
		fail "$2: run"; done
}

# shows NAME PATTERN…: a line of the steps matches each pattern.
shows() {
	name=$1
	shift
	for pattern; do grep -qE -- "$pattern" "$name.txt" || { cat "$name.txt"; fail "$name shows no '$pattern'"; };
		done
}

# address FILE SYMBOL, in decimal.
address() {
	echo $((16#$(nm "$1" | awk -v symbol="$2" '$3 == symbol { print $1 }')))
}

# code FILE FUNCTION: its instructions.
code() {
	objdump -d --no-show-raw-insn -M intel "$1" | sed -n "/<$2>:/,/^$/p"
}

# refused OPTIONS PATTERN [DEVICE]: linking fails with that message.
refused() {
	manifest "$1" "${3:-a3}" >bad.yaml
	rm -f bad.sk
	fails_with "$2" "$sklink" bad.yaml kernels.o -o bad.sk
	[ ! -e bad.sk ] || fail "$1: an output in spite of the error"
}

link plain ""
! grep -qE 'func-align|preload|debug|flush|cores?$' <(sed 1q plain.txt) || fail "options that nobody gave"

# func-align: entries and kernels.
for align in 128 512 4096; do
	link aligned "func-align=$align"
	shows aligned "^launch 0: sk_sp1, .*, func-align=$align\$"
	for symbol in sk_sp1 sk_sp1_serial product increment sum; do
		[ $(($(address aligned.sk $symbol) % align)) = 0 ] || fail "func-align=$align: $symbol is not aligned"
	done
done
link unaligned "func-align=0"
cmp plain.sk unaligned.sk || fail "func-align=0 changes something"
$KERNEL_CC $KERNEL_CFLAGS -I"$top_srcdir/format" -c kernels.c -o together.o
manifest func-align=4096 >together.yaml
fails_with "^sklink: error: together.o:\(.text\+0x[0-9a-f]+\): '(increment|sum)' cannot begin at a multiple of 4096" \
	"$sklink" together.yaml together.o -o together.sk
refused func-align=1 "bad.yaml:17:19: scope option 'func-align' must be 0 or a power of two from 2 to 4096, not '1'"
refused func-align=96 "must be 0 or a power of two"
refused func-align=8192 "must be 0 or a power of two"
refused func-align= "bad.yaml:17:19: scope option 'func-align' has no value; write func-align=512"

# debug-sync-all: each step awaits the one before it, in any lane; without it c2 has nothing to await.
link synchronised "debug-sync-all=1"
shows plain ' c2 +product +cube +all cores +split 1000 in 16 units of 64$' ' v2 +increment'
shows synchronised '4 awaits, debug-sync-all=1$' ' v1 .*awaits c1$' ' v2 .*awaits v1$' ' v3 .*awaits v2$' \
	' c2 .*awaits v3$'
refused debug-sync-all=2 "'debug-sync-all' must be 0 or 1, not '2'"

# preload-code: prefetches in the parallel entry only, up to 16 lines of a kernel, or up to 256.
link function "preload-code=per-func"
link max "preload-code=max"
link none "preload-code=none"
cmp plain.sk none.sk || fail "preload-code=none changes something"
shows function ', preload-code=per-func$'
shows max ', preload-code=max$'
# Cube: product once. Vector: increment, then sum while v2 awaits and runs.
[ "$(code function.sk sk_sp1 | grep -c prefetcht1)" = 0 ] || fail "preload-code: the fork prefetches"
[ "$(code function.sk sk_sp1.cube | grep -c prefetcht1)" = 1 ] || fail "preload-code: not one prefetch in the cube lane"
[ "$(code function.sk sk_sp1.vector | grep -c prefetcht1)" = 2 ] || fail "preload-code: not two in the vector lane"
! code function.sk sk_sp1_serial | grep -q prefetcht1 || fail "preload-code: the serial entry prefetches"
refused preload-code=all "'preload-code' must be none, per-func or max, not 'all'"

# dcci: fences around the steps of the named kernels or operations; a name in the disabling list wins.
link flushed "dcci-before-kernel-start=sum:dcci-after-kernel-end=Increment, sum"
shows flushed ' v1 .*awaits c1; flushes after$' ' v2 .*  flushes after$' ' v3 .*; flushes before and after$' \
	' c1 .*units of 64$'
[ "$(code flushed.sk sk_sp1.vector | grep -c mfence)" = 4 ] || fail "dcci: not four fences in the vector lane"
! code flushed.sk sk_sp1.cube | grep -q mfence || fail "dcci: a fence in the cube lane"
! code flushed.sk sk_sp1_serial | grep -q mfence || fail "dcci: a fence in the serial entry"
link disabled "debug-dcci-all=1:dcci-before-kernel-start=sum:dcci-disable-on-kernel=sum"
shows disabled ' c1 .*  flushes after$' ' v2 .*  flushes after$' ' v3 .*awaits v2$'
refused dcci-after-kernel-end=Incremend \
	"bad.yaml:17:41: no task of scope 'sp1' runs a kernel or an operation 'Incremend'"
refused dcci-after-kernel-end=incremnt "did you mean 'increment'"
refused dcci-after-kernel-end=sum,,product \
	"bad.yaml:17:19: scope option 'dcci-after-kernel-end' has an empty name|an empty name in its list"

# debug-aic-num, debug-aiv-num: at most as many cores as these take part, and not more than there are.
link few "debug-aic-num=1:debug-aiv-num=2"
shows few ', 1 cube core, 2 vector cores$'
refused debug-aic-num=25 \
	"bad.yaml:17:19: scope option 'debug-aic-num' asks for 25 cores; device a3 has 24 in lane 'cube'"
refused debug-aiv-num=49 "'debug-aiv-num' asks for 49 cores; device a3 has 48 in lane 'vector'"
refused debug-aiv-num=5000 "'debug-aiv-num' must be a number from 0 to 4096, not '5000'"
refused debug-aiv-num=01 "must be a number"
refused debug-aic-num=1 "'debug-aic-num' counts cube cores, and device host has none" host
link host "debug-aiv-num=3" host
shows host ', 3 cores, in the planner.s order$'

# The cores shown are those that run: the cores that the options leave, all if the machine decides, and the cores that
# blocks which wait for one another need in spite of the options, with a warning.
cores() { # PACKAGE TEXT
	"$skdump" --launches "$1.sk" >launches.txt
	grep -qE " sk_sp1 +superkernel +$2  +sp1 " launches.txt || { cat launches.txt >&2;
		fail "$1 does not take '$2'"; }
}
cores few '1 x 1:2'
link odd debug-aiv-num=5
cores odd '16 cube, 5 vector'
link uneven debug-aic-num=2 # no groups, though one number divides the other
cores uneven '2 cube, 16 vector'
cores host '3 core'
link host "" host
cores host all
cat >resident.c <<'C'
#include "skkernel.h"

void meet(const struct sk_block *block, const float *x, float *y, int64_t n)
{
	uint64_t first, end;

	sk_sync_all(block);
	sk_block_range(block, (uint64_t)n, &first, &end);
	for (uint64_t i = first; i < end; i++)
		y[i] = x[i] + (float)block->count;
}
SK_KERNEL(meet, "sync-all; block, in x f32[n], out y f32[n], n i64");
SK_KERNEL(met, "blocks; block, in x f32[n], out y f32[n], n i64");
void met(const struct sk_block *block, const float *x, float *y, int64_t n)
{
	uint64_t first, end;

	sk_block_range(block, (uint64_t)n, &first, &end);
	for (uint64_t i = first; i < end; i++)
		y[i] = x[i] - 1;
}
C
compile resident
# meeting DEVICE KERNEL OPTIONS
meeting() {
	cat >meeting.yaml <<-M
	sklink: 1
	device: $1
	tensors: {x: {dtype: f32, shape: [1024]}, y: {dtype: f32, shape: [1024]}}
	tasks:
	  - {name: only, kernel: $2, args: [x, y], blocks: 8, scope: sp1}
	scopes: {sp1: {options: "$3"}}
	M
	"$sklink" meeting.yaml resident.o -o meeting.sk 2>err.txt || { cat err.txt >&2; fail "no link: $*"; }
	"$skrun" meeting.sk --random 1 --verify --cores 3 >run.txt || fail "$*: run"
}
for device in host a3; do
	meeting $device meet debug-aiv-num=4
	diff - err.txt >&2 <<-M || fail "$device: an option is overridden without a word"
	sklink: warning: meeting.yaml:6:26: scope option 'debug-aiv-num' asks for 4 cores, but blocks of task 'only' wait for one another and need 8, so a superkernel with it has that many
	M
	"$skdump" --steps meeting.sk | grep -q '^launch 0: sk_sp1, .*, 8 \(vector \)\?cores$' ||
		fail "$device: the steps' heading"
	for options in '' debug-aiv-num=8 debug-aiv-num=9; do
		meeting $device meet "$options"
		[ ! -s err.txt ] || { cat err.txt >&2; fail "a warning of $options"; }
	done
done
cores meeting '8 vector'
meeting host meet ''
cores meeting 'all, at least 8'
meeting host met ''
cores meeting '8 core'
meeting host met 'debug-aiv-num=4'
cores meeting '4 core'
[ ! -s err.txt ] || fail "blocks that take turns need no cores of their own"

# The code of a launch is that of all its lanes, in all copies.
for options in '' split-mode=2; do
	link few "$options"
	"$sklink" model.yaml kernels.o -o few.sk --report=few.json
	for entry in sk_sp1 sk_sp1_serial; do
		echo $(($(nm -S few.sk | sed -nE "s/^[0-9a-f]+ ([0-9a-f]+) . $entry([.].*)?\$/+0x\1/p")))
	done >sizes.txt
	sed -nE 's/.*"name": "sk_sp1", .*"code": ([0-9]+), "serial_code": ([0-9]+),.*/\1\n\2/p' few.json |
		diff - sizes.txt >&2 ||
		fail "$options: the report says (<) other sizes of code than the symbols (>)"
done
cat >share.yaml <<'M'
sklink: 1
device: a3
tensors: {y: {dtype: f32, shape: [1024]}, z: {dtype: f32, shape: [1024]}}
tasks:
  - {name: few, kernel: measure, args: [y], scope: sp1}
  - {name: all, kernel: measure, args: [z]}
scopes: {sp1: {options: "debug-aiv-num=2"}}
M
"$sklink" share.yaml kernels.o -o share.sk
# share CORES: the first core's share of y, with debug-aiv-num=2, and of z.
share() {
	"$skrun" share.sk --cores "$1" --output y=y.npy --output z=z.npy >run.txt
	for tensor in y z; do od -An -tf4 -j128 -N4 $tensor.npy | tr -d ' '; done | tr '\n' ' '
}
[ "$(share 1)" = '1024 1024 ' ] || fail "debug-aiv-num=2 on one core: $(share 1)"
[ "$(share 8)" = '512 128 ' ] || fail "debug-aiv-num=2 on eight cores: $(share 8)"
"$skrun" few.sk --device a3 --random 1 --verify --repeat 3 >run.txt || fail "few of many cores"

# split-mode: each core calls its own copy, in a program of its own; jump tables, data and other functions are shared.
for copies in 2 3 4; do
	link split "split-mode=$copies:func-align=128:preload-code=max"
	shows split ", split-mode=$copies\$"
	for symbol in increment increment.split1 sum.split$((copies - 1)) sk_sp1.cube.split1 sk_sp1.vector.split1; do
		nm split.sk | grep -q " $symbol\$" || fail "split-mode=$copies: there is no $symbol"
	done
	! nm split.sk | grep -q "split$copies\$" || fail "split-mode=$copies: too many copies"
	code split.sk sk_sp1.vector.split1 | grep -q 'call.*<increment.split1>' ||
		fail "split-mode: who calls the copy?"
	! code split.sk sk_sp1.vector.split1 | grep -q 'call.*<increment>' ||
		fail "split-mode: the copy calls the original"
	[ $(($(address split.sk increment.split1) % 128)) = 0 ] || fail "split-mode: a copy is not aligned"
	"$skrun" split.sk --device a3 --random 1 --verify --repeat 2 >run.txt || fail "split-mode=$copies on 72 cores"
done
readelf --debug-dump=frames split.sk 2>&1 | grep -q "pc=$(nm split.sk | awk '$3 == "increment.split1" { print $1 }')" ||
	fail "split-mode: a copy has no unwind information"
cat >where.yaml <<'M'
sklink: 1
device: a3
tensors: {y: {dtype: i64, shape: [1024]}, x: {dtype: f32, shape: [1024]}, z: {dtype: f32, shape: [1024]}}
tasks:
  - {name: here, kernel: where, args: [y], scope: sp1}
  - {name: jump, kernel: steps, args: [x, z], scope: sp1}
scopes: {sp1: {options: "split-mode=3"}}
M
"$sklink" where.yaml kernels.o -o where.sk
# copies CORES: how many copies of `where` have computed y.
copies() {
	"$skrun" where.sk --random 1 --cores "$1" --output y=y.npy --output z=z.npy >run.txt
	od -An -v -td8 -w8 -j128 y.npy | sort -u | wc -l
	cmp z.npy "${2:-z.npy}" || fail "split-mode: a jump table leads astray"
}
"$skrun" where.sk --random 1 --serial --output z=serial.npy >run.txt
for cores in 1 2 3 4 8; do
	expected=$((cores < 3 ? cores : 3))
	[ "$(copies $cores serial.npy)" = $expected ] || fail "split-mode=3: not $expected copies on $cores cores"
done
sed -e 's/kernel: steps, args: \[x, z\]/kernel: broken, args: [z]/; s/x: {[^}]*}, //' where.yaml >broken.yaml
"$sklink" broken.yaml kernels.o -o broken.sk
fails_with "task 'jump': kernel broken on vector core 2: segmentation fault .*; at broken.split2\\+0x" \
	"$skrun" broken.sk --cores 3
link once "split-mode=1"
! nm once.sk | grep -q split || fail "split-mode=1 makes copies"
refused split-mode=0 "'split-mode' must be a number from 1 to 64, not '0'"
refused split-mode=65 "'split-mode' must be a number from 1 to 64, not '65'"
manifest split-mode=64 >model.yaml
"$sklink" model.yaml kernels.o -o many.sk && "$skdump" --verify many.sk >/dev/null || fail "split-mode=64"
"$skrun" many.sk --device a3 --random 1 --verify >run.txt || fail "split-mode=64 on 72 cores"
fails_with "^sklink: error: model.yaml:17:19: scope option 'split-mode' makes copies of code, which an object" \
	"$sklink" -r model.yaml kernels.o -o many.o
# Kernels of one section are copied together; so are those that folding would join.
"$sklink" model.yaml together.o -o together.sk && "$skdump" --verify together.sk >/dev/null ||
	fail "split-mode: one section"
"$skrun" together.sk --device a3 --random 1 --verify >run.txt || fail "split-mode: one section runs wrong"
"$sklink" --icf=all model.yaml kernels.o -o folded.sk && "$skrun" folded.sk --device a3 --random 1 --verify >run.txt ||
	fail "split-mode with --icf=all"

# compile-options: -g keeps debug information, even if another option would remove it.
link debug "compile-options=-g"
shows debug ', compile-options=-g$'
readelf -S debug.sk | grep -q debug_info || fail "compile-options=-g: no debug information"
fails_with "model.yaml:17:19: scope option 'compile-options=-g' keeps the debug information, which -S removes" \
	"$sklink" -S model.yaml kernels.o -o debug.sk
fails_with "which -s removes" "$sklink" -s model.yaml kernels.o -o debug.sk
refused "compile-options=-g,-O3" "scope option 'compile-options' cannot be '-O3'"

# Several scopes: the greater number, a 1 if any has it, the smaller number of cores.
sed -e 's/scope: sp1/scope: [sp1, sp2]/' -e '$d' model.yaml >two.yaml
cat >>two.yaml <<'M'
  sp1: {options: "func-align=256:debug-aiv-num=5:dcci-before-kernel-start=sum"}
  sp2: {options: "func-align=128:debug-aiv-num=7:preload-code=max:debug-sync-all=1:dcci-after-kernel-end=sum"}
M
"$sklink" two.yaml kernels.o -o two.sk
"$skdump" --steps two.sk >two.txt
shows two ', func-align=256, preload-code=max, debug-sync-all=1, 5 vector cores$' ' v3 .*; flushes before and after$'
