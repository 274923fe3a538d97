#!/bin/bash
# Tasks that have work for fewer cores than there are run side by side: independent chains on cores of their own, a
# chain on the same core all the time, without waiting. With any number of cores, and without placing, they compute the
# same.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
cat >kernels.c <<'C'
#include "skkernel.h"
void sums(const float *x, float *y, long m, long n)
{
	for (long r = 0; r < m; r++, x += n, y += n) {
		y[0] = x[0] / 2;
		for (long i = 1; i < n; i++)
			y[i] = y[i - 1] / 2 + x[i];
	}
}
SK_KERNEL(sums, "split=m; in x f32[m,n], out y f32[m,n], m i64, n i64");
void halves(const float *x, float *y, long n, const struct sk_block *block)
{
	for (long i = block->index; i < n; i += block->count)
		y[i] = x[i] / 2;
}
SK_KERNEL(halves, "blocks; in x f32[n], out y f32[n], n i64, block");
void rows(const float *x, float *y, long m, long n, const struct sk_block *block)
{
	uint64_t low, high;

	sk_block_range(block, (uint64_t)m, &low, &high);
	for (long i = (long)low * n; i < (long)high * n; i++)
		y[i] = 3 * x[i];
}
SK_KERNEL(rows, "blocks=m; in x f32[m,n], out y f32[m,n], m i64, n i64, block");
C
compile kernels

# chains KERNEL SHAPE BLOCKS IN_TURNS OPTIONS: m.sk, and plain.sk without placing. Four chains of three tasks.
chains() {
	local kernel=$1 shape=$2 blocks=${3:+, blocks: $3} tasks order
	if [ "$4" ]; then order='a0 a1 a2 a3 b0 b1 b2 b3 c0 c1 c2 c3'; else
		order='a0 b0 c0 a1 b1 c1 a2 b2 c2 a3 b3 c3'; fi
	for task in $order; do
		tasks+="  - {name: $task, kernel: $kernel, args: [$(tr abc xab <<<"$task"), $task], cost: {cycles: 50000}, scope: s$blocks}"$'\n'
	done
	printf 'sklink: 1\ndevice: %s\ntensors:\n%s\ntasks:\n%sscopes:\n  s: {options: "profiling=1%s"}\n' \
		"${device-host}" "$(tensors "$shape" {x,a,b,c}{0,1,2,3})" "$tasks" "${5-}" >m.yaml
	"$sklink" m.yaml kernels.o -o m.sk || fail "no link: $(cat m.yaml)"
	"$sklink" m.yaml kernels.o -o plain.sk --scope-options '*=parallel-fusion=0'
	"$skdump" --verify m.sk >/dev/null
	"$skdump" --verify plain.sk >/dev/null
	"$skdump" --steps plain.sk | grep -q ', from ' && fail "$kernel: parallel-fusion=0 places steps"
	if [ "${device-host}" = a3 ]; then
		ways=('--device a3 --cores 1' '--device a3 --cores 3 --seed 1' '--device a3 --seed 2' \
			'--device a3 --seed 3 --check-races' '--cores 2' --serial)
	else
		ways=('--cores 1' '--cores 2' '--cores 3' '--cores 7' '--cores 8' '--cores 2 --check-races' \
			'--cores 5 --check-races' --guard --serial)
	fi
	"$skrun" plain.sk --random 1 --unfused | grep ^output >expected.txt
	for how in "${ways[@]}"; do
		"$skrun" m.sk --random 1 $how | grep ^output >ran.txt || fail "$kernel $how: does not run"
		cmp expected.txt ran.txt || fail "$kernel $how: other results than task by task"
	done
}
# first: where each step begins, as skdump says.
first() {
	"$skdump" --steps m.sk | sed -nE 's/^ *[0-9]+  ([a-c][0-9]) .* all cores(, from ([0-9]+) on)? .*/\1@\3/p' |
		sed 's/@$/@0/' | xargs
}
# begins LIST
begins() {
	[ "$(first)" = "$1" ] || fail "steps begin at $(first), not $1"
}
# awaits COUNT
awaits() {
	"$skdump" --steps m.sk | grep -qE "steps, $1 awaits?" ||
		fail "$("$skdump" --steps m.sk | head -1), not $1 awaits"
}
# cores COUNT LIST: on which cores the chains' calls are, as the trace tells.
cores() {
	"$skrun" m.sk --random 1 --cores "$1" --trace t.json >/dev/null
	found=$(sed -nE 's/^.*"tid":([0-9]+),"name":"[a-c]([0-9])","cat":"task".*"calls":[1-9].*/\2@\1/p' t.json |
		sort -u | xargs)
	[ "$found" = "$2" ] || fail "$1 cores: chains are at $found, not $2"
}

# ---- one long row each: the part that is not empty is the last one ----
for in_turns in '' 1; do
	chains sums '[1, 20000]' '' "$in_turns"
	if [ "$in_turns" ]; then
		begins 'a0@0 a1@1 a2@2 a3@3 b0@0 b1@1 b2@2 b3@3 c0@0 c1@1 c2@2 c3@3'
	else
		begins 'a0@0 b0@0 c0@0 a1@1 b1@1 c1@1 a2@2 b2@2 c2@2 a3@3 b3@3 c3@3'
	fi
	awaits 0
	cores 1 '0@0 1@0 2@0 3@0'
	cores 2 '0@1 1@0 2@1 3@0'
	cores 3 '0@2 1@0 2@1 3@2'
	cores 8 '0@7 1@0 2@1 3@2'
done

# Predictions also know the cores of steps: on two cores half the time, but for the launch.
predicted() {
	"$skrun" --predict "$1" | awk '$1 == "fused" { print $2; exit }'
}
half=$(predicted m.sk) whole=$(predicted plain.sk)
awk "BEGIN { exit !($whole > 1.95 * $half && $whole < 2.05 * $half) }" ||
	fail "predicted are $half us side by side, and $whole us"

# ---- more cores than the profile's two ask for: work for both of them has no place ----
chains sums '[2, 20000]' '' 1
begins 'a0@0 a1@0 a2@0 a3@0 b0@0 b1@0 b2@0 b3@0 c0@0 c1@0 c2@0 c3@0'
awaits 0

# ---- one block each, which is not divided: each waits for the one before, if that is on any core ----
chains halves '[20000]' 1 1
begins 'a0@0 a1@1 a2@2 a3@3 b0@0 b1@1 b2@2 b3@3 c0@0 c1@1 c2@2 c3@3'
cores 2 '0@0 1@1 2@0 3@1'
cores 3 '0@0 1@1 2@2 3@0'
chains rows '[1, 20000]' 1 ''
begins 'a0@0 b0@0 c0@0 a1@1 b1@1 c1@1 a2@2 b2@2 c2@2 a3@3 b3@3 c3@3'
awaits 0
cores 2 '0@1 1@0 2@1 3@0'

# ---- a device of which it is known how many cores it has: 48 for these kernels ----
device=a3
chains sums '[16, 2000]' '' ''
begins 'a0@0 a1@1 a2@2 a3@0' # each chain is a tile group
awaits 0
chains halves '[20000]' 20 1
begins 'a0@0 a1@20 a2@0 a3@20 b0@0 b1@20 b2@0 b3@20 c0@0 c1@20 c2@0 c3@20'
chains rows '[24, 2000]' 24 ''
begins 'a0@0 b0@0 c0@0 a1@1 b1@1 c1@1 a2@0 b2@0 c2@0 a3@1 b3@1 c3@1'
awaits 0

# Tasks of a scope with debug-aic-num do not begin at the first core; with those of vector cores the launch has 24
# groups of a cube core and a vector core, and of these 3 cube cores.
cat >vector.c <<'C'
#include "skkernel.h"
void doubled(const float *x, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = 2 * x[i];
}
SK_KERNEL(doubled, "vector split=n; in x f32[n], out y f32[n], n i64");
C
sed 's/"blocks;/"cube blocks;/' kernels.c >cube.c
compile vector
compile cube
cat >m.yaml <<M
sklink: 1
device: a3
tensors:
$(tensors '[1000]' x a0 b0 c0)
tasks:
  - {name: a0, kernel: doubled, args: [x, a0], scope: s}
  - {name: b0, kernel: halves, args: [x, b0], blocks: 1, cost: {cycles: 50000}, scope: s}
  - {name: c0, kernel: halves, args: [x, c0], blocks: 1, cost: {cycles: 50000}, scope: s}
scopes:
  s: {options: "debug-aic-num=3"}
M
for entries in '' --no-task-entries; do
	"$sklink" m.yaml vector.o cube.o $entries -o m.sk
	begins 'a0@0 b0@0 c0@1'
	"$skdump" --verify m.sk >/dev/null
	"$skdump" --launches m.sk | grep -q ' 3 cube, 24 vector ' || fail "$("$skdump" --launches m.sk)"
done

# ---- the reader of a long task's result is on that task's core; one more, which could not begin before, is elsewhere,
# and waits ----
device=host
cat >m.yaml <<M
sklink: 1
tensors:
$(tensors '[1, 20000]' x a b c)
tasks:
  - {name: a0, kernel: sums, args: [x, a], scope: s}
  - {name: b0, kernel: sums, args: [a, b], scope: s}
  - {name: c0, kernel: sums, args: [a, c], scope: s}
M
"$sklink" m.yaml kernels.o -o m.sk
begins 'a0@0 b0@0 c0@1'
awaits 1

# ---- models: enable_parallel_fusion, at level 3 unless it says otherwise ----
{
	for chain in 0 1 2 3; do
		printf 'input x%s f32 1x4096\noutput y%s f32 1x4096\nnode Softmax a%s x%s -> t%s\nnode Softmax b%s t%s -> y%s\n' \
			$chain $chain $chain $chain $chain $chain $chain $chain
	done
} | model net
link_net() { # FLAGS PLACES MORE…
	local flags=$1 places=$2
	shift 2
	"$sklink" net.onnx -L "$top_builddir/kernels" -lskernels --fusion-flags="$flags" "$@" -o m.sk 2>err.txt ||
		fail "$flags: $(cat err.txt)"
	! grep enable_parallel_fusion err.txt || fail "a warning"
	"$skdump" --verify m.sk >/dev/null
	begins "$places"
	"$skrun" m.sk --random 1 --cores 3 | grep ^output >ran.txt
	[ -e models.txt ] || cp ran.txt models.txt
	cmp models.txt ran.txt || fail "$flags: other results"
}
together='a0@0 a1@0 a2@0 a3@0' apart='a0@0 a1@1 a2@2 a3@3' # tile groups of two
link_net --opt_level=2 "$together"
link_net --target_os=linux "$apart" # which is not a flag that says how to fuse
link_net '--opt_level=2 --enable_parallel_fusion' "$apart"
link_net --opt_level=3 "$apart"
link_net '--opt_level=3 --enable_parallel_fusion=off' "$together"
for pass in 5.2 combine.parallel_fusion parallel_fusion; do
	link_net "--opt_level=3 --disable_pass=$pass" "$together"
	link_net "--opt_level=2 --enable_pass=$pass" "$apart"
	link_net "--disable_pass=$pass" "$together"
done
link_net --opt_level=2 "$apart" --scope-options '*=parallel-fusion=1'
