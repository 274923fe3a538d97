#!/bin/bash
# skrun --guard: accesses out of bounds, reads of unwritten bytes and outputs that are not written whole are found, and
# named by task and tensor, in bound tensors and in the workspace, where temporaries share bytes; honest kernels pass,
# and compute the same as always.
. "$top_srcdir/tests/lib/lib.sh"
cp "$top_srcdir/tests/runtime/check-kernels.c" . && compile check-kernels

# a and c share bytes of the workspace.
cat >model.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [1000]}
  a: {dtype: f32, shape: [1000]}
  b: {dtype: f32, shape: [1000]}
  c: {dtype: f32, shape: [1000]}
  y: {dtype: f32, shape: [1000]}
  left: {of: c, offset: [0], shape: [500]}
  right: {of: c, offset: [500], shape: [500]}
  z: {dtype: f32, shape: [500]}
tasks:
  - {name: first, kernel: copy, args: [x, a], set: {what: 0}, scope: sp1}
  - {name: turn, kernel: reverse, args: [a, b], blocks: 5, scope: sp1}
  - {name: second, kernel: KERNEL, args: [b, c], set: {what: WHAT}, scope: sp1}
  - {name: third, kernel: copy, args: [c, y], set: {what: 0}, scope: sp1}
  - {name: part, kernel: copy_plain, args: [right, z], set: {what: 0}, scope: sp1}
M

link() {
	sed "s/KERNEL/$1/; s/WHAT/$2/" model.yaml >$1$2.yaml
	"$sklink" $1$2.yaml check-kernels.o -o $1$2.sk
}

results() {
	grep -v '^Guard: \|^Races: ' "$1"
}

# Honest kernels: the same results as without, on any device, one by one and fused.
link copy 0
"$skdump" --memory copy0.sk | grep -q share || { "$skdump" --memory copy0.sk; fail "no temporaries share bytes"; }
"$skrun" copy0.sk --random 1 >plain.txt
for options in '' '--cores 7' '--device a3' '--unfused' '--check-races' '--check-races --seed 5' '--repeat 3'; do
	"$skrun" copy0.sk --random 1 --guard $options >guarded.txt || fail "refused: $options"
	grep -q '^Guard: nothing found in 5 tasks: no access out of bounds, write to an input, or byte that is read or left unwritten$' guarded.txt ||
		fail "nobody says what --guard has looked for: $options"
	[[ $options != *races* ]] || grep -q '^Races: nothing found in 5 tasks: no accesses of two cores ' guarded.txt \
		|| fail "nor what --check-races has"
	results guarded.txt | cmp plain.txt - || fail "other results: $options"
done
"$skrun" copy0.sk --random 1 --guard --verify --repeat 3 --cores 3 >/dev/null

# found KERNEL WHAT PATTERN: task second, on the whole tensor or on a part of it.
found() {
	link $1 $2
	for options in '--cores 1' '--cores 3' '--device a3' '--unfused --cores 2'; do
		fails_with "^skrun: error: .*: task 'second': kernel $1 on core [0-9]*(, in the tile of elements [0-9]* to [0-9]*)?: $3" \
			"$skrun" $1$2.sk --random 1 --guard $options
	done
}
found copy 1 "it has written (at byte [0-9]*|right after the end) of tensor 'c'"
found copy 2 "it has written (4 bytes before|at byte [0-9]* of) tensor 'c'"
found copy 3 "segmentation fault .SIGSEGV.: write at address 0x[0-9a-f]*, [0-9]* bytes after the end of tensor 'c'"
found copy 4 "segmentation fault .SIGSEGV.: read at address 0x[0-9a-f]*, [0-9]* bytes after the end of tensor 'b', of which the call may only read"
found copy 5 "segmentation fault .SIGSEGV.: read at address 0x[0-9a-f]*, [0-9]* bytes before tensor 'b'"
found copy 6 "segmentation fault .SIGSEGV.: write at address 0x[0-9a-f]*, at byte [0-9]* of tensor 'b', of which the call may only read"
found copy_plain 1 "it has written right after the end of tensor 'c', of which the call may write bytes 0 to 3999"

# Without --guard this goes unnoticed.
"$skrun" copy1.sk --random 1 --cores 1 >/dev/null

# Bytes 160 to 199, then 160 to 163 alone, are not written: the kernel is told that was to write them, in each run,
# though the first one has left something there.
link copy_plain 7
link copy_plain 9
for options in '--cores 1' '--device a3' '--unfused' '--repeat 2'; do
	for what in '7.199' '9.163'; do
		fails_with "^skrun: error: .*: task 'second': kernel copy_plain on core 0(, in the tile of elements [0-9]* to [0-9]*)?: it has not written bytes 160 to ${what#*.} of tensor 'c', which it must write whole \('out' in its signature\)$" \
			"$skrun" copy_plain${what%.*}.sk --random 1 --guard $options
	done
done

# The same of the network's output: a kernel that is compiled for two blocks of 32 rows, and called for one.
cat >half.c <<'C'
void rows(const float *x, float *y, long group)
{
	for (long i = group * 2048; i < group * 2048 + 2048; i++)
		y[i] = x[i] + 1;
}
C
compile half
for blocks in 1 2; do
	cat >half$blocks.yaml <<M
sklink: 1
tensors:
  x: {dtype: f32, shape: [64, 64]}
  y: {dtype: f32, shape: [64, 64]}
kernels:
  rows: {signature: "blocks; in x f32[64,64], out y f32[64,64], group i64 = block.index"}
tasks: [{name: only, kernel: rows, args: [x, y], blocks: $blocks}]
M
	"$sklink" half$blocks.yaml half.o -o half$blocks.sk
done
for options in '' '--cores 1' '--device a3' '--unfused' '--check-races'; do
	fails_with "^skrun: error: .*: task 'only': kernel rows on .*core 0: it has not written bytes 8192 to 16383 of tensor 'y'" \
		"$skrun" half1.sk --random 1 --guard $options
	"$skrun" half2.sk --random 1 --guard $options >/dev/null
done

# Unwritten parts of an output stay as they were, up to the byte.
cat >odd.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [498]}
  y: {dtype: f32, shape: [1003], unwritten: keep}
  middle: {of: y, offset: [501], shape: [498]}
tasks:
  - {name: only, kernel: copy_plain, args: [x, middle], set: {what: 0}}
M
"$sklink" odd.yaml check-kernels.o -o odd.sk
"$skrun" odd.sk --random 1 >plain.txt
"$skrun" odd.sk --random 1 --guard >guarded.txt
results guarded.txt | cmp plain.txt - || fail "the rest of an output has changed"

# Two bytes with a pattern of ones only: written bytes are not taken for it.
cat >ones.yaml <<'M'
sklink: 1
tensors:
  y: {dtype: u8, shape: [8], unwritten: keep}
  middle: {of: y, offset: [2], shape: [2]}
tasks:
  - {name: only, kernel: ones, args: [middle]}
M
"$sklink" ones.yaml check-kernels.o -o ones.sk
"$skrun" ones.sk --random 1 --guard >guarded.txt
grep -q ': 0 0 255 255 0 0' guarded.txt || { cat guarded.txt; fail "written bytes are lost"; }

# Memory that one call could access is not accessible when the next one runs.
cat >kept.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [1000]}
  kept: {dtype: u64, shape: [1]}
  y: {dtype: f32, shape: [1]}
  z: {dtype: f32, shape: [1]}
tasks:
  - {name: keep, kernel: keep_place, args: [x, y, kept], scope: sp1}
  - {name: read, kernel: read_kept, args: [kept, z], scope: sp1}
M
"$sklink" kept.yaml check-kernels.o -o kept.sk
for options in '--cores 1' '--device a3' '--unfused'; do
	fails_with "^skrun: error: .*: task 'read': kernel read_kept on core 0: segmentation fault .SIGSEGV.: read at .* tensor 'x', which is not an argument of the call" \
		"$skrun" kept.sk --random 1 --guard $options
done

# Every kind of argument arrives as from a dispatcher.
cat >many.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [100]}
  scale: {dtype: f64, shape: [1]}
  sum: {dtype: f32, shape: [1]}
tasks:
  - name: all
    kernel: many
    args: {x: x, scale: scale, sum: sum}
    set: {a: -100, b: 200, c: -30000, d: 60000, e: -7, f: 9, g: -11, h: 13, i: 1.5, j: 2.5, k: 3.5, l: 4.5, m: 5.5, o: 6.5,
      p: 7.5, q: 8.5, r: 9.5, s: 10.5, w: 17}
M
"$sklink" many.yaml check-kernels.o -o many.sk
"$skrun" many.sk --random 1 >plain.txt
"$skrun" many.sk --random 1 --guard >guarded.txt
results guarded.txt | cmp plain.txt - || fail "arguments arrive otherwise"

fails_with 'serial entries run unchecked' "$skrun" many.sk --random 1 --guard --serial

# A process with too many mappings cannot protect memory any more: an error wherever that happens, and never a crash or
# an unchecked result. (Sanitizers do not let themselves be preceded.)
if nm "$skrun" | grep -qE '__(asan|tsan)_init'; then
	exit 0
fi
cat >refuse.c <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int mprotect(void *address, size_t size, int protection)
{
	static long calls;

	if (++calls >= atol(getenv("REFUSE_FROM")) && calls <= atol(getenv("REFUSE_TO"))) {
		errno = ENOMEM;
		return -1;
	}
	return (int)syscall(SYS_mprotect, address, size, protection);
}
C
$CC -O2 -shared -fPIC refuse.c -o refuse.so
"$skrun" copy0.sk --random 1 --guard --cores 2 >expected.txt
good=0 refused=0
for ((from = 1; good == 0; from += from < 40 ? 1 : 9)); do
	for to in $from 1000000; do
		status=0
		REFUSE_FROM=$from REFUSE_TO=$to LD_PRELOAD=./refuse.so "$skrun" copy0.sk --random 1 --guard --cores 2 \
			>out.txt 2>err.txt || status=$?
		case $status in
		0) cmp expected.txt out.txt || fail "other results without protection from call $from to $to" ;;
		1) grep -q '^skrun: error: .*Cannot allocate memory\|^skrun: error: .*no memory' err.txt ||
			{ cat err.txt; fail "another error without protection from call $from to $to"; } ;;
		*) cat err.txt; fail "status $status without protection from call $from to $to" ;;
		esac
	done
	[ "$status" = 0 ] && good=1 || refused=$((refused + 1))
done
[ "$refused" -ge 20 ] || fail "only $refused refusals"

# Tensors for which there is no memory are refused, with name and size, before anything is filled: one of 1 TiB, and
# five of two fifths of the memory each, of which at most two exist at a time without --guard.
cat >grow.c <<'C'
#include "skkernel.h"

void grow(const float *x, int64_t m, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i % m];
}
SK_KERNEL(grow, "in x f32[m], m i64, out y f32[n], n i64");
C
compile grow
grow() {
	printf '  - {name: %s, kernel: grow, args: [%s, %s]}\n' "$@"
}
memory=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB$/\1/p' /proc/meminfo)
[ -n "$memory" ] || exit 0
{
	printf 'sklink: 1\ntensors:\n'
	tensors "[274877906944]" x
	tensors "[16]" y
	printf 'tasks:\n'
	grow only x y
} >huge.yaml
{
	printf 'sklink: 1\ntensors:\n'
	tensors "[16]" x y
	tensors "[$((memory * 1024 / 4 * 2 / 5))]" t1 t2 t3 t4 t5
	printf 'tasks:\n'
	grow one x t1 two t1 t2 three t2 t3 four t3 t4 five t4 t5 six t5 y
} >several.yaml
for name in huge several; do
	"$sklink" $name.yaml grow.o -o $name.sk
done
bytes=$((memory * 1024 / 4 * 2 / 5 * 4))
for option in --guard --check-races; do
	(
		ulimit -v $((memory / 2 * 3)) # so that a broken skrun does not take the machine's memory
		fails_with "^skrun: error: no memory for tensor 'x' \(1099511627776 bytes\)$" "$skrun" huge.sk \
			--random 1 --cores 1 $option
		fails_with "no memory for guarded tensors: they take [0-9]{5,} bytes, of which there are [0-9]{5,}; the largest is tensor 't1' \($bytes bytes\)$" \
			"$skrun" several.sk --random 1 --cores 1 $option
	)
done
