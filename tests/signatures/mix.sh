#!/bin/bash
# Kernels of blocks that work together: mix kernels with sides that wait for each other, and kernels that call
# sk_sync_all, on host and on a3, fused and unfused, with any number of cores; and the messages if they do it wrongly.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cat >kernels.c <<'C'
#include "skkernel.h"

/* y = 4 x, in turns: the cube side doubles a piece, the vector side doubles it again, the cube side adds 0. */
static void piece(const struct sk_block *block, int64_t n, int64_t *low, int64_t *high)
{
	*low = n * block->index / block->count;
	*high = n * (block->index + 1) / block->count;
}

enum { DOUBLED, QUADRUPLED };

void turns_mix_aic(const struct sk_block *block, const float *x, float *t, float *y, int64_t n)
{
	int64_t low, high;

	piece(block, n, &low, &high);
	for (int64_t i = low; i < high; i++)
		t[i] = 2 * x[i];
	sk_set_flag(block, DOUBLED);
	sk_wait_flag(block, QUADRUPLED);
	for (int64_t i = low; i < high; i++)
		y[i] = t[i];
}

void turns_mix_aiv(const struct sk_block *block, const float *x, float *t, float *y, int64_t n)
{
	int64_t low, high;

	(void)x;
	(void)y;
	piece(block, n, &low, &high);
	sk_wait_flag(block, DOUBLED);
	for (int64_t i = low; i < high; i++)
		t[i] = 2 * t[i];
	sk_set_flag(block, QUADRUPLED);
}
SK_KERNEL(turns, "mix; block, in x f32[n], inout t f32[n], out y f32[n], n i64");

/* The same with two vector blocks for each cube block, and functions of other names. */
void twice_cube(const struct sk_block *block, const float *x, float *t, float *y, int64_t n)
{
	turns_mix_aic(block, x, t, y, n);
}

void twice_vector(const struct sk_block *block, const float *x, float *t, float *y, int64_t n)
{
	int64_t low = n * (block->index / 2) / (block->count / 2), high = n * (block->index / 2 + 1) / (block->count / 2);
	int64_t half = low + (high - low) / 2;

	(void)x;
	(void)y;
	sk_wait_flag(block, DOUBLED);
	for (int64_t i = block->index % 2 ? half : low; i < (block->index % 2 ? high : half); i++)
		t[i] = 2 * t[i];
	sk_set_flag(block, QUADRUPLED);
}
SK_KERNEL(twice, "mix=1:2 aic=twice_cube aiv=twice_vector; block, in x f32[n], inout t f32[n], out y f32[n], n i64");

/* A rotation by one block, three times over, in two buffers. */
void rotate(const struct sk_block *block, const float *x, float *t, float *y, int64_t n)
{
	int64_t low, high, size = n / block->count;

	piece(block, n, &low, &high);
	for (int64_t i = low; i < high; i++)
		y[i] = x[i];
	for (int turn = 0; turn < 3; turn++) {
		const float *from = turn % 2 ? t : y;
		float *to = turn % 2 ? y : t;

		sk_sync_all(block);
		for (int64_t i = low; i < high; i++)
			to[i] = from[(i + size) % n];
	}
	sk_sync_all(block);
	for (int64_t i = low; i < high; i++)
		y[i] = t[i] + (float)block->count;
}
SK_KERNEL(rotate, "cube sync-all; block, in x f32[n], out t f32[n], out y f32[n], n i64");
C
two_lane_kernels >>kernels.c
compile kernels
network() {
	cat <<M
sklink: 1
device: $1
tensors:
$(tensors '[960]' x a b c d e)
  t1: {dtype: f32, shape: [960], role: inout}
  t2: {dtype: f32, shape: [960], role: inout}
  t3: {dtype: f32, shape: [960]}
  y: {dtype: f32, shape: [960]}
  z: {dtype: f32, shape: [960]}
tasks:
  - {name: c1, kernel: product, args: [x, a], scope: sp1}
  - {name: v1, kernel: increment, args: [x, b], scope: sp1, stream: 1}
  - {name: m1, kernel: turns, args: [a, t1, c], scope: sp1, blocks: 3}
  - {name: m2, kernel: twice, args: [b, t2, d], scope: sp1, stream: 1, blocks: 4}
  - {name: r1, kernel: rotate, args: [c, t3, e], scope: sp1, blocks: 4}
  - {name: v2, kernel: increment, args: [e, y], scope: sp1, stream: 1}
  - {name: c2, kernel: product, args: [d, z], scope: sp1}
M
}

# The network's results, computed in another way.
cat >oracle.py <<'P'
import struct, sys
def read(name):
    data = open(name, 'rb').read()
    start = data.index(b'\n') + 1
    return list(struct.unpack('<960f', data[start:start + 3840]))
f = lambda v: struct.unpack('<f', struct.pack('<f', v))[0]
x, y, z = read('x.npy'), read('y.npy'), read('z.npy')
for i in range(960):
    j = (i + 3 * 240) % 960
    assert y[i] == f(f(4 * f(x[j] * x[j]) + 4) + 1), (i, y[i])
    d = 4 * f(x[i] + 1)
    assert z[i] == f(d * d), (i, z[i])
P
python3 - <<'P'
import struct
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (960,), }"
header += ' ' * ((64 - (11 + len(header)) % 64) % 64) + '\n'
for name, scale in (('x', 0.37), ('zero', 0)):
    with open(name + '.npy', 'wb') as f:
        f.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode())
        f.write(struct.pack('<960f', *(scale * i for i in range(960))))
P
run() {
	"$skrun" "$@" --input x=x.npy --input t1=zero.npy --input t2=zero.npy --output y=y.npy --output z=z.npy
	python3 oracle.py
}

for device in host a3; do
	network $device >$device.yaml
	"$sklink" $device.yaml kernels.o -o $device.sk
	"$skdump" --verify $device.sk
	for cores in 1 2 3 30; do
		run $device.sk --cores $cores
		run $device.sk --cores $cores --unfused
		"$skrun" $device.sk --random 1 --verify --repeat 20 --cores $cores
	done
	for seed in 0 1 2 3 4 5; do
		run $device.sk --device a3 --seed $seed
	done
	for options in '--cores 1' '--cores 3 --unfused' '--cores 30' '--device a3 --seed 6' \
		'--device a3 --unfused --seed 7'; do
		run $device.sk --guard --check-races $options
	done
	fails_with "has no serial entry: it has a task with blocks that wait for one another" "$skrun" $device.sk --random \
		1 --serial
done
"$skdump" --steps a3.sk >steps.txt
has() {
	grep -qE "$1" "$2" || { cat "$2"; fail "no line matches '$1'"; }
}
has ' m1 .* cube +cores 0 to 2 +cube side, 3 blocks at once +awaits c1$' steps.txt
has ' m1 .* vector +cores 0 to 2 +vector side, 3 blocks at once +awaits c1$' steps.txt
has ' m2 .* vector +cores 0 to 7 +vector side, 8 blocks at once +awaits v1$' steps.txt
has ' r1 .* cube +cores 0 to 3 +4 blocks at once +awaits m1 \(cube side\), m1 \(vector side\)$' steps.txt
"$skdump" --launches a3.sk >launches.txt
has ' sk_sp1 .* 15 x 1:2 ' launches.txt
"$skdump" --steps host.sk >steps.txt
has ' m2 .* core +cores 4 to 11 +vector side, 8 blocks at once' steps.txt
"$skrun" --predict a3.sk >/dev/null
"$sklink" a3.yaml kernels.o -o told.sk --report=report.json --explain=m2 >told.txt
has 'The 4 blocks of its cube side and the 8 of its vector side run at once' told.txt
python3 -m json.tool report.json >/dev/null
"$skdump" --diff a3.sk told.sk >diff.txt || true
if "$skdump" --launches --steps host.sk | grep -q serial; then fail "a launch with blocks at once has a serial entry";
	fi

# Each lane fetches the function ahead that it is going to call; on one lane, where both sides follow each other, both.
prefetched() { # functions, in order, that the code of a symbol fetches
	objdump -d --no-show-raw-insn "$1" | sed -n "/<$2>:/,/^$/p" | grep -B4 prefetcht1 |
		sed -nE 's/.*lea .*<([a-z_]+)>$/\1/p'
}
for device in host a3; do
	"$sklink" $device.yaml kernels.o --scope-options '*=preload-code=max' -o ahead.sk
	"$skdump" --verify ahead.sk
	run ahead.sk --cores 3
	prefetched ahead.sk sk_sp1 >$device.core
	prefetched ahead.sk sk_sp1.cube >$device.cube
	prefetched ahead.sk sk_sp1.vector >$device.vector
done
[ "$(echo $(cat host.core))" = \
	"product increment turns_mix_aic turns_mix_aiv twice_cube twice_vector rotate increment product" ] ||
	fail "host fetches $(cat host.core)"
[ "$(echo $(cat a3.cube))" = "product turns_mix_aic twice_cube rotate product" ] || fail "cube fetches $(cat a3.cube)"
[ "$(echo $(cat a3.vector))" = "increment turns_mix_aiv twice_vector increment" ] ||
	fail "vector fetches $(cat a3.vector)"

# The default numbers of blocks; a superkernel of pairs, and one of cube kernels alone.
shape() {
	cat >shape.yaml <<M
sklink: 1
device: a3
tensors:
  x: {dtype: f32, shape: [960]}
  t: {dtype: f32, shape: [960], role: inout}
  y: {dtype: f32, shape: [960]}
tasks:
  - {name: only, kernel: $1, args: [x, t, y]$2}
M
	"$sklink" shape.yaml kernels.o -o shape.sk
	"$skdump" --launches shape.sk >launches.txt
	has " sk_task_only .* $3 " launches.txt
	"$skrun" shape.sk --random 1 --verify --device a3
}
shape turns "" "24 x 1:1"
shape twice "" "24 x 1:2"
shape twice ", blocks: 5" "5 x 1:2"

# Every kernel runs on every device that has the cores: one lane runs all kinds, under any name, and lanes may have any
# numbers of cores. A mix kernel that needs more is an error, since it could not be launched by itself either.
other_device() {
	sed -e "s/^name: .*/name: $1/" -e "$2" "$top_srcdir/format/profile/a3.profile" >$1.profile
	network $1.profile >$1.yaml
}
other_device one 's/^lanes: .*/lanes: vector/; /^cube/d'
other_device even 's/^vector.cores: .*/vector.cores: 24/'
other_device narrow 's/^\(cube\|vector\).cores: .*/\1.cores: 1/'
for device in one even; do
	"$sklink" $device.yaml kernels.o -o $device.sk
	"$skdump" --verify $device.sk
	run $device.sk --device $device.profile
	"$skrun" $device.sk --random 1 --verify --device $device.profile >out.txt
done
has 'device even, cores 24)$' out.txt
"$skdump" --launches even.sk >launches.txt
has ' sk_sp1 .* 15 cube, 24 vector ' launches.txt
"$skrun" one.sk --random 1 --verify --device one.profile >out.txt
has 'device one, cores 48)$' out.txt
fails_with "narrow.yaml:18:5: task 'm1' has blocks that wait for one another and needs 3 cores of lane 'cube' at once; device narrow has 1" \
	"$sklink" narrow.yaml kernels.o -o bad.sk
sed '/name: m1/s/, blocks: 3//; /name: r1/s/blocks: 4/blocks: 1/; /name: m2/s/, blocks: 4//' narrow.yaml >default.yaml
fails_with "default.yaml:19:5: task 'm2' has .* needs 2 cores of lane 'vector' at once; device narrow has 1" \
	"$sklink" default.yaml kernels.o -o bad.sk
sed -i '/name: m2/d; s/\[d, z\]/[b, z]/' default.yaml
"$sklink" default.yaml kernels.o -o default.sk
"$skrun" default.sk --random 1 --verify --device narrow.profile

# sync-all on 4 of 24 cores, alone.
cat >four.yaml <<'M'
sklink: 1
device: a3
tensors:
  x: {dtype: f32, shape: [960]}
  t: {dtype: f32, shape: [960], role: output}
  y: {dtype: f32, shape: [960]}
  z: {dtype: f32, shape: [960]}
tasks:
  - {name: wide, kernel: product, args: [x, z], scope: sp1}
  - {name: four, kernel: rotate, args: [x, t, y], scope: sp1, blocks: 4}
M
"$sklink" four.yaml kernels.o -o four.sk
for cores in 1 2 24; do "$skrun" four.sk --random 1 --verify --cores $cores; done
"$skrun" four.sk --random 1 --verify --device a3 --seed 7

# A profile may ask that sk_sync_all splits, as in the reference system; feeding the idle cores makes it unnecessary.
{
	sed 's/^name: .*/name: a3-split/' "$top_srcdir/format/profile/a3.profile"
	echo 'sync-all-split: true'
} >split.profile
sed 's/device: a3/device: split.profile/' four.yaml >split.yaml
"$sklink" split.yaml kernels.o -o split.sk --explain=four --report=report.json >told.txt
"$skdump" --verify split.sk
"$skdump" --launches --reasons split.sk >dump.txt
has ' sk_sp1_start_wide_end_wide .* superkernel' dump.txt
has ' sk_sp1_start_four_end_four .* superkernel' dump.txt
has '^ *four .* SYNCALL_OP_DROP ' dump.txt
has "with this task, which calls it, there may be 4 of lane 'cube', and task 'wide' takes 15" told.txt
has '"name": "four".* "reason": "SYNCALL_OP_DROP"' report.json
"$skrun" split.sk --random 1 --verify --device split.profile
"$skrun" split.sk --random 1 --verify --cores 2
"$sklink" split.yaml kernels.o -o split.sk --scope-options sp1=feed-sync-all=1
"$skdump" --launches split.sk >dump.txt
has ' sk_sp1 .* superkernel' dump.txt
fails_with "scope 'sp1' cannot be fused whole \(strict-scope-check=abort\)" \
	"$sklink" split.yaml kernels.o -o bad.sk --scope-options sp1=strict-scope-check=abort
grep -q "^>>> split.yaml:10:5: task 'four' (SYNCALL_OP_DROP): fused into " err.txt ||
	fail "the place of the cut is not named"

# feed-sync-all: the cores without a block take part, and the results are the same.
for device in host a3; do
	network $device >fed.yaml
	echo 'scopes: {sp1: {options: "feed-sync-all=1"}}' >>fed.yaml
	"$sklink" fed.yaml kernels.o -o fed.sk
	"$skdump" --verify fed.sk
	for cores in 1 2 30; do run fed.sk --cores $cores; done
	"$skrun" fed.sk --random 1 --verify --repeat 20
	for seed in 0 1 2 3; do run fed.sk --device a3 --seed $seed; done
	for options in '--cores 1' '--cores 30 --unfused' '--device a3 --seed 4'; do
		run fed.sk --guard --check-races $options; done
done
"$skdump" --steps fed.sk >steps.txt
has ' r1 .* cube +cores 0 to 3, others fed +4 blocks at once' steps.txt

# ---- errors ----

bad() {
	cat >bad.yaml <<M
sklink: 1
device: $1
tensors:
  x: {dtype: f32, shape: [960]}
  t: {dtype: f32, shape: [960], role: inout}
  y: {dtype: f32, shape: [960]}
tasks:
  - {name: only, kernel: $2, args: [x, t, y], blocks: $3}
M
}
bad a3 turns 25
fails_with "bad.yaml:8:5: task 'only' has blocks that wait for one another and needs 25 cores of lane 'cube' at once; device a3 has 24" \
	"$sklink" bad.yaml kernels.o -o bad.sk
bad host twice 1400
fails_with "needs 4200 cores of lane 'core' at once; device host has 4096" "$sklink" bad.yaml kernels.o -o bad.sk
[ ! -e bad.sk ] || fail "there is an output"

cat >wrong.c <<'C'
#include "skkernel.h"

void half_mix_aic(const struct sk_block *block, const float *x, float *t, float *y, int64_t n)
{
	(void)x;
	(void)t;
	(void)y;
	(void)n;
	sk_wait_flag(block, 2);
}
SK_KERNEL(half, "mix; block, in x f32[n], inout t f32[n], out y f32[n], n i64");

void one_cube(const struct sk_block *block, const float *x, float *t, float *y, int64_t n)
{
	half_mix_aic(block, x, t, y, n);
}
void one_vector(const struct sk_block *block, const float *x, float *t, float *y, int64_t n)
{
	(void)x;
	(void)t;
	(void)y;
	(void)n;
	if (block->index != 1)
		sk_set_flag(block, 2);
}
SK_KERNEL(one, "mix aic=one_cube aiv=one_vector; block, in x f32[n], inout t f32[n], out y f32[n], n i64");

void some(const struct sk_block *block, const float *x, float *t, float *y, int64_t n)
{
	(void)x;
	(void)t;
	(void)y;
	(void)n;
	if (block->index != 2)
		sk_sync_all(block);
}
SK_KERNEL(some, "sync-all; block, in x f32[n], inout t f32[n], out y f32[n], n i64");
SK_KERNEL(silent, "blocks; block, in x f32[n], inout t f32[n], out y f32[n], n i64");
void silent(const struct sk_block *block, const float *x, float *t, float *y, int64_t n)
{
	some(block, x, t, y, n);
}

void flags(const struct sk_block *block, const float *x, float *t, float *y, int64_t n)
{
	(void)x;
	(void)t;
	(void)y;
	(void)n;
	sk_set_flag(block, 1);
}
SK_KERNEL(flags, "sync-all; block, in x f32[n], inout t f32[n], out y f32[n], n i64");
void high_mix_aic(const struct sk_block *block, const float *x, float *t, float *y, int64_t n)
{
	flags(block, x, t, y, n);
}
void high_mix_aiv(const struct sk_block *block, const float *x, float *t, float *y, int64_t n)
{
	(void)x;
	(void)t;
	(void)y;
	(void)n;
	sk_set_flag(block, SK_FLAGS);
}
SK_KERNEL(high, "mix; block, in x f32[n], inout t f32[n], out y f32[n], n i64");
C
compile wrong
bad a3 half 3
fails_with "wrong.o:\(.sk.kernels\+0x0\): kernel 'half': no function 'half_mix_aiv'; the signature of a mix kernel can name another one: aiv=NAME" \
	"$sklink" bad.yaml wrong.o -o bad.sk
bad a3 one 3
"$sklink" bad.yaml wrong.o -o bad.sk
for checks in '' --guard --check-races --unfused; do
	fails_with "hangs: cube core 1 in task 'only' waits for sk_set_flag of flag 2 by block 1 of the vector side" \
		"$skrun" bad.sk --random 1 --device a3 $checks
done
fails_with "not ended within .* cube core 1 in task 'only' waits for sk_set_flag of flag 2 by block 1 of the vector side" \
	"$skrun" bad.sk --random 1 --timeout 0.2 --cores 2
bad host some 4
"$sklink" bad.yaml wrong.o -o bad.sk
for options in '' --unfused; do
	fails_with "hangs: .*core 0 in task 'only' waits for sk_sync_all by block 2" "$skrun" bad.sk --random 1 \
		--device a3 $options
done
sed -i 's/blocks: 4}/blocks: 4, scope: s}/' bad.yaml
echo 'scopes: {s: {options: "feed-sync-all=1"}}' >>bad.yaml
"$sklink" bad.yaml wrong.o -o bad.sk
for checks in '' --check-races; do
	fails_with "hangs: .*core 0 in task 'only' waits for sk_sync_all by block 2" "$skrun" bad.sk --random 1 \
		--device a3 $checks
done
bad host silent 4
"$sklink" bad.yaml wrong.o -o bad.sk
fails_with "task 'only': kernel silent on .*illegal instruction" "$skrun" bad.sk --random 1
fails_with "task 'only': kernel silent on .*illegal instruction" "$skrun" bad.sk --random 1 --unfused
fails_with "task 'only': kernel silent on .*illegal instruction" "$skrun" bad.sk --random 1 --guard
bad host flags 4
"$sklink" bad.yaml wrong.o -o bad.sk
for checks in '' --guard --unfused; do
	fails_with "task 'only': kernel flags called a function for flags, but is not 'mix', on" \
		"$skrun" bad.sk --random 1 $checks
done
bad host high 2
"$sklink" bad.yaml wrong.o -o bad.sk
for checks in '' --guard --unfused; do
	fails_with "task 'only': kernel high called a function for flags with an impossible number on" \
		"$skrun" bad.sk --random 1 $checks
done
