#!/bin/bash
# skrun --trace and --profile: the file has the format of Trace Event viewers, its slices and sums fit the measured
# times, its arrows are the awaits. Dispatchers note times only on request, and results are the same.
set -eu
. "$top_srcdir/tests/lib/lib.sh"

# check FILE …: see check-trace.py.
check() {
	if command -v python3 >/dev/null; then
		python3 "$top_srcdir/tests/lib/check-trace.py" "$@" || fail "the trace is wrong: $*"
	else
		echo "no python3: $1 is not checked"
	fi
}

# The sample at a size where a launch takes milliseconds: the trace against the clock.
sample=$top_builddir/samples/quant_matmul
objects="$sample/quant_matmul.o $sample/dequant_swiglu_quant.o"
sed -e 's/\[24\]/[192]/; s/\[24, 64\]/[192, 2048]/; s/\[32, 64\]/[256, 2048]/; s/\[32\]/[256]/' \
	-e 's/\[24, 32\]/[192, 256]/; s/\[24, 16\]/[192, 128]/' "$top_srcdir/samples/quant_matmul/small.yaml" \
		>model.yaml
mkdir other
sed 's/options: ""/options: "profiling=1"/' model.yaml >other/model.yaml
"$sklink" --scope-options '*=profiling=1' model.yaml $objects -o profiled.sk
(cd other && "$sklink" model.yaml $objects -o ../profiled2.sk)
cmp profiled.sk profiled2.sk || fail "the option of the command line is not the manifest's"
"$skdump" --verify profiled.sk
"$skdump" --steps profiled.sk | grep 'launch 0: .*, notes times' || fail "skdump does not say that times are noted"
for cores in 1 2 3; do
	"$skrun" profiled.sk --random 1 --cores $cores --repeat 15 --trace t.json --profile --time >out.txt
	fastest=$(sed -n 's/^Time: .* fastest \([0-9.e+-]*\) ms.*/\1/p' out.txt)
	check t.json --launches 15 --launch-ms "$fastest" --profile out.txt
	"$skrun" profiled.sk --random 1 --verify --cores $cores
done
"$skrun" profiled.sk --random 1 --output product=a.npy --trace t.json
"$sklink" model.yaml $objects -o plain.sk
status=0
"$skdump" --diff plain.sk profiled.sk >diff.txt || status=$?
grep -qE '^! +launch +sk_sp1 +times +- -> noted$' diff.txt || { cat diff.txt; fail "skdump --diff does not show it"; }
"$skrun" plain.sk --random 1 --output product=b.npy
cmp a.npy b.npy || fail "noting times changes what is computed"

# Without noted times: said before anything runs, unless each task is a launch.
fails_with 'plain\.sk: superkernel sk_sp1 does not note .*profiling=1' \
	"$skrun" plain.sk --random 1 --trace none.json --repeat 1000000000
[ ! -e none.json ] || fail "a trace after an error"
"$skrun" plain.sk --random 1 --unfused --repeat 3 --trace t.json --profile >out.txt
check t.json --launches 6 --profile out.txt
"$skdump" --steps plain.sk | grep -q 'notes times' && fail "times are noted without being asked for"

# Awaits are arrows: from a superkernel with awaits on all cores, on homes, and between launches.
cp "$top_srcdir/tests/lib/kernels.c" . && compile kernels
cat >awaits.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [100000]}
  a: {dtype: f32, shape: [100000]}
  b: {dtype: f32, shape: [100000]}
  c: {dtype: f32, shape: [100000]}
  d: {dtype: f32, shape: [100000]}
  e: {dtype: f32, shape: [100000]}
  y: {dtype: f32, shape: [100000]}
kernels:
  'say"prefix\é"': {symbol: prefix, object: kernels.o}
tasks:
  - {name: A, kernel: scale, args: [x, a], set: {factor: 2}, scope: sp1}
  - {name: B, kernel: reverse, args: [a, b], scope: sp1}
  - {name: C, kernel: 'say"prefix\é"', args: [b, c], scope: sp1}
  - {name: D, kernel: prefix, args: [b, d], stream: 1, scope: sp1}
  - {name: E, kernel: add, args: [c, d, e], scope: sp1}
  - {name: F, kernel: reverse, args: [e, y]}
M
"$sklink" --scope-options '*=profiling=1' awaits.yaml kernels.o -o awaits.sk
"$skdump" --verify awaits.sk
"$skdump" --steps awaits.sk
# With 12 cores four have no block of B, and wait for A all the same.
for cores in 1 2 5 12; do
	idle=
	[ $cores = 12 ] && idle='A>'
	"$skrun" awaits.sk --random 1 --cores $cores --repeat 5 --trace t.json --profile >out.txt
	check t.json --launches 10 --profile out.txt 'A>B' 'B>C' 'B>D' 'C>E' 'D>E' $idle
done

# A simulated device: two lanes, each awaits the other.
two_lane_kernels >lanes.c
compile lanes
cat >lanes.yaml <<'M'
sklink: 1
device: a3
tensors:
  x: {dtype: f32, shape: [100000]}
  a: {dtype: f32, shape: [100000]}
  b: {dtype: f32, shape: [100000]}
  y: {dtype: f32, shape: [100000]}
tasks:
  - {name: c1, kernel: product, args: [x, a], scope: sp1}
  - {name: v1, kernel: increment, args: [a, b], scope: sp1}
  - {name: c2, kernel: product, args: [b, y], scope: sp1}
M
"$sklink" --scope-options '*=profiling=1' lanes.yaml lanes.o -o lanes.sk
"$skdump" --verify lanes.sk
for options in '--device a3' '--device a3 --seed 5' '--cores 2'; do
	"$skrun" lanes.sk --random 1 $options --repeat 3 --trace t.json --profile >out.txt
	check t.json --launches 3 --profile out.txt 'c1>v1' 'v1>c2'
done

# Both sides of a mix task, each on its cores; a kernel that starts early waits inside its slice, an idle core outside.
cat >sides.c <<'C'
#include "skkernel.h"

void pair_mix_aic(const struct sk_block *block, const float *x, float *y, int64_t n)
{
	for (int64_t i = block->index; i < n; i += 2 * block->count)
		y[i] = x[i];
	sk_set_flag(block, 0);
}

void pair_mix_aiv(const struct sk_block *block, const float *x, float *y, int64_t n)
{
	sk_wait_flag(block, 0);
	for (int64_t i = block->index + block->count; i < n; i += 2 * block->count)
		y[i] = x[i];
}
SK_KERNEL(pair, "mix; block, in x f32[n], out y f32[n], n i64");

void eager(const struct sk_block *block, const float *x, float *y, int64_t n)
{
	sk_wait_pre_task_end(block);
	for (int64_t i = block->index; i < n; i += block->count)
		y[i] = x[i] + 1;
	sk_set_next_task_start(block);
}
SK_KERNEL(eager, "vector blocks early-start=both; block, in x f32[n], out y f32[n], n i64");

void total(const float *x, float *y, int64_t n)
{
	y[0] = 0;
	for (int64_t i = 0; i < n; i++)
		y[0] += x[i];
}
SK_KERNEL(total, "cube; in x f32[n], out y f32[1], n i64");
C
compile sides
# expect_sides FILE: of each launch the cores on which the sides of m are: "process/core side".
cat >sides.py <<'P'
import json, sys
events = [e for e in json.load(open(sys.argv[1]))["traceEvents"] if e.get("cat") == "task" and e["name"] == "m"]
rows = {f"{e['pid']}/{e['tid']} {e['args']['side']} {e['args']['calls']}" for e in events}
assert sorted(rows) == sorted(sys.argv[3:]), rows
assert len(events) == int(sys.argv[2]) * len(rows), events
P
for device in host a3; do
	cat >sides.yaml <<M
sklink: 1
device: $device
tensors:
  x: {dtype: f32, shape: [960]}
  a: {dtype: f32, shape: [960]}
  b: {dtype: f32, shape: [960]}
  y: {dtype: f32, shape: [1]}
tasks:
  - {name: m, kernel: pair, args: [x, a], scope: sp1, blocks: 2}
  - {name: e, kernel: eager, args: [a, b], scope: sp1, blocks: 3}
  - {name: n, kernel: total, args: [b, y], scope: sp1}
M
	"$sklink" --scope-options '*=profiling=1' sides.yaml sides.o -o sides.sk
	rows="1/0 1/1 2/0 2/1"
	[ $device = a3 ] || rows="1/0 1/1 1/2 1/3"
	set -- $rows
	for options in '--cores 5' '--cores 5 --unfused' '--device a3' '--device a3 --unfused --seed 3'; do
		"$skrun" sides.sk --random 1 $options --repeat 3 --trace t.json --profile >out.txt
		launches=3 arrows='m>e m> e>n'
		[[ $options != *unfused* ]] || launches=9 arrows=
		check t.json --launches $launches --profile out.txt $arrows
		if command -v python3 >/dev/null; then
			python3 sides.py t.json 3 "$1 cube 1" "$2 cube 1" "$3 vector 1" "$4 vector 1" ||
				fail "$device $options: sides"
		fi
		grep -qE '^m +12 ' out.txt || { cat out.txt; fail "$device $options: not 12 calls of both sides"; }
	done
done

# A kernel that is called for each row or tile has as many calls as it has left marks.
cat >tiles.c <<'C'
#include "skkernel.h"
void mark(float *y)
{
	y[0] += 1;
}
SK_KERNEL(mark, "each=m; inout y f32[m,k]");
void mark_tile(float *y, long rows, long columns)
{
	y[0] += (float)(rows > 0 && columns > 0);
}
SK_KERNEL(mark_tile, "tile=m:3,n:4; inout y f32[m,n], rows i64 = size(m), columns i64 = size(n)");
C
compile tiles
for device in host a3; do
	cat >tiles.yaml <<M
sklink: 1
device: $device
tensors:
  a: {dtype: f32, shape: [10, 10], role: inout}
  b: {dtype: f32, shape: [10, 10], role: inout}
tasks:
  - {name: rows, kernel: mark, args: [a], scope: s}
  - {name: tiles, kernel: mark_tile, args: [b], scope: s}
M
	"$sklink" --scope-options '*=profiling=1' tiles.yaml tiles.o -o tiles.sk
	head -c 528 /dev/zero >zero.npy # 128 bytes of head and 400 of zeros
	printf "\223NUMPY\001\000v\000%-117s\n" "{'descr': '<f4', 'fortran_order': False, 'shape': (10, 10), }" |
		dd of=zero.npy conv=notrunc status=none
	for options in '--cores 1' '--cores 3' '--unfused --cores 7'; do
		"$skrun" tiles.sk --input a=zero.npy --input b=zero.npy $options --trace t.json --profile >out.txt
		launches=1
		[[ $options != *unfused* ]] || launches=2
		check t.json --launches $launches --profile out.txt
		for task in a:rows:10 b:tiles:12; do
			IFS=: read -r tensor name calls <<<"$task"
			grep -qE "^$name +$calls " out.txt || { cat out.txt;
				fail "$device $options: not $calls calls of $name"; }
			grep -qE "^inout +$tensor .*sum $calls," out.txt || { cat out.txt;
				fail "$device $options: not $calls marks of $name"; }
		done
	done
done

# Errors.
fails_with 'trace and --profile' "$skrun" lanes.sk --random 1 --serial --profile
fails_with 'trace and --profile' "$skrun" lanes.sk --random 1 --verify --trace t.json
fails_with 'none/t.json: the trace: No such file' "$skrun" lanes.sk --random 1 --trace none/t.json
