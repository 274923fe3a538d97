#!/bin/bash
# The order of a superkernel's steps: independent streams overlap however the list names them, and cores without a block
# of a step do not wait for what it needs. The predicted time is never above that of the list's order, and results are
# the same.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cat >kernels.c <<'C'
#include "skkernel.h"
static float mixed(const float *x, int64_t n, uint64_t i) { return x[n - 1 - (int64_t)i] * 0.5f + x[i] + 1; }
#define BLOCKS(name, lane)                                                                                             \
	void name(const struct sk_block *block, const float *x, float *y, int64_t n)                                   \
	{                                                                                                              \
		uint64_t low, high;                                                                                    \
                                                                                                                       \
		sk_block_range(block, (uint64_t)n, &low, &high);                                                       \
		for (uint64_t i = low; i < high; i++)                                                                  \
			y[i] = mixed(x, n, i);                                                                         \
	}                                                                                                              \
	SK_KERNEL(name, lane " blocks; block, in x f32[n], out y f32[n], n i64");
BLOCKS(cube, "cube")
BLOCKS(vector, "vector")
void plain(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = mixed(x, n, (uint64_t)i);
}
SK_KERNEL(plain, "in x f32[n], out y f32[n], n i64");
C
compile kernels

# manifest DEVICE TASK…: m.yaml. A task is NAME:KERNEL:INPUT:STREAM:BLOCKS:CYCLES; its result is t_NAME.
manifest() {
	local device=$1 tensors= tasks= name kernel input stream blocks cycles
	shift
	for task; do
		IFS=: read -r name kernel input stream blocks cycles <<<"$task"
		tensors+="  t_$name: {dtype: f32, shape: [503], role: output}"$'\n'
		tasks+="  - {name: $name, kernel: $kernel, args: [$input, t_$name], stream: $stream, scope: s, "
		tasks+="cost: {cycles: $cycles}$([ "$blocks" = 0 ] || echo ", blocks: $blocks")}"$'\n'
	done
	printf 'sklink: 1\ndevice: %s\ntensors:\n  x: {dtype: f32, shape: [503]}\n%stasks:\n%sscopes:\n  s: {options: "%s"}\n' \
		"$device" "$tensors" "$tasks" stream-fusion=1 >m.yaml
}
# time PACKAGE LINE: the predicted time in ns.
time_of() {
	"$skrun" --predict "$1" >predicted.txt
	awk -v line="$2" '$1 ~ /^(ns|us|ms)$/ { unit = $1 == "ns" ? 1 : $1 == "us" ? 1e3 : 1e6 }
		index($0, line " ") == 1 { sub(line, ""); printf "%.0f\n", $1 * unit; exit }' predicted.txt
}
# both: ordered.sk and listed.sk, proved.
both() {
	"$sklink" m.yaml kernels.o -o ordered.sk || fail "no link: $(cat m.yaml)"
	"$sklink" m.yaml kernels.o -o listed.sk --scope-options '*=stream-order=1' || fail "no link: $(cat m.yaml)"
	"$skdump" --verify ordered.sk >/dev/null
	"$skdump" --verify listed.sk >/dev/null
}
# same OPTIONS…: the two compute the same.
same() {
	"$skrun" listed.sk --random 1 --unfused | grep ^output >expected.txt
	"$skrun" ordered.sk --random 1 "$@" | grep ^output | cmp - expected.txt || fail "$*: other results: $(cat m.yaml)"
}
# gains PERCENT: the planner's order takes at most this part of the list's time, and --predict shows both.
gains() {
	local ordered listed
	ordered=$(time_of ordered.sk fused)
	[ "$(time_of ordered.sk "fused, list's order")" -gt "$ordered" ] || fail "no line for the list: $(cat predicted.txt)"
	listed=$(time_of listed.sk fused)
	[ $((ordered * 100)) -le $((listed * $1)) ] || fail "$ordered ns, and $listed ns in the list's order"
	grep -q "list's" predicted.txt && fail "stream-order=1 has a line for the list"
	"$skdump" --steps ordered.sk | grep -q "in the planner's order" || fail "the order is not shown"
	same --device a3
	same --device a3 --check-races
	same --device a3 --cores 3 --seed 2
	same --serial
}

# One stream after the other: cube and vector cores would take turns.
manifest a3 V0:vector:x:0:48:8880000 C0:cube:t_V0:0:24:4440000 C1:cube:x:1:24:4440000 V1:vector:t_C1:1:48:8880000
both
gains 60
"$skdump" --explain C1 ordered.sk | grep -q "it runs before task '.0', which the list has before it" ||
	fail "C1 is not explained"
"$skdump" --explain C1 listed.sk | grep -q 'stream-order' && fail "C1 of the list is explained"
manifest a3 V0:vector:x:0:48:8880000 C1:cube:x:1:24:4440000 C0:cube:t_V0:0:24:4440000 V1:vector:t_C1:1:48:8880000
both
cmp ordered.sk listed.sk || fail "an order that gains nothing has changed the package"

# Two chains of 12 blocks side by side on 24 cores.
manifest a3 K00:cube:x:0:12:2220000 K01:cube:t_K00:0:12:2220000 K10:vector:x:1:12:2220000 K11:vector:t_K10:1:12:2220000 \
	K20:cube:x:2:12:2220000 K21:cube:t_K20:2:12:2220000
both
gains 67
[ "$(time_of ordered.sk fused)" -lt 205000 ] || fail "the chains wait for one another: $(cat predicted.txt)"
# Chains of different lengths: no order lets them overlap if cores without a block wait.
manifest a3 A0:cube:x:0:12:2220000 A1:cube:t_A0:0:12:2220000 A2:cube:t_A1:0:12:2220000 \
	B0:cube:x:1:12:3330000 B1:cube:t_B0:1:12:3330000
both
"$skdump" --steps ordered.sk | grep -q 'awaits A0, if the core has a block' || fail "A1 waits on all cores"
[ "$(time_of ordered.sk fused)" -lt 310000 ] || fail "the chains wait for one another: $(cat predicted.txt)"
same --device a3 --check-races
same --device a3 --cores 5 --check-races
# A core without a block needs the await: it reads what the awaited step has written.
manifest a3 A0:cube:x:0:24:222000 A1:cube:t_A0:0:12:222000 A2:cube:t_A0:1:24:222000
both
"$skdump" --steps ordered.sk | grep -q 'if the core has a block' && fail "A2 rests on the await of A1"

# Not all cores without a block may skip awaits here: an order that is better if they do takes 2.5 % longer.
manifest a3 k0:plain:x:1:0:150000 k1:plain:x:2:0:450000 k2:vector:t_k0:3:24:1100000 k3:cube:x:0:8:750000 k4:cube:t_k1:3:12:1350000 \
	k5:vector:t_k2:2:24:1700000 k6:cube:t_k5:0:8:750000 k7:cube:t_k3:0:8:1000000 k8:vector:t_k0:0:48:1100000 k9:vector:x:3:48:250000
both
[ $(($(time_of ordered.sk fused) * 100)) -le $(($(time_of listed.sk fused) * 102)) ] ||
	fail "an order that is worse than the list's: $(cat predicted.txt)"

# Random streams. On the host, too, results are the same.
draw() { echo $((RANDOM % $1)); }
RANDOM=7
for network in $(seq "${ORDER_NETWORKS:-12}"); do
	tasks=()
	for task in $(seq 0 $((3 + $(draw 9)))); do
		kernels=(cube vector plain) blocks=(24 48 0)
		kernel=$(draw 5) kernel=$((kernel > 2 ? kernel - 3 : kernel)) input=x
		[ "$task" = 0 ] || [ "$(draw 4)" = 0 ] || input=t_k$(draw "$task")
		count=$((blocks[kernel] / (1 + $(draw 3))))
		tasks+=("k$task:${kernels[kernel]}:$input:$(draw 4):$count:$(((1 + $(draw 40)) * 50000))")
	done
	for device in a3 host; do
		manifest $device "${tasks[@]}"
		both
		same ${device/#/--device }
		[ $device = a3 ] || continue
		ordered=$(time_of ordered.sk fused) listed=$(time_of listed.sk fused)
		[ $((ordered * 100)) -le $((listed * 102)) ] || fail "$ordered ns, list's $listed ns: $(cat m.yaml)"
	done
done
