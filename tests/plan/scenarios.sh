#!/bin/bash
# Scenarios of the reference system that need a run: two streams on two lanes with events, a scope that is cut by a
# deadlock (S15: fused and unfused runs give the same bits, on the host and on all cores of the simulated device), and
# option texts (S12).
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cat >kernels.c <<'C'
#include "skkernel.h"

void product(const struct sk_block *block, const float *x, float *y, int64_t n)
{
	uint64_t low, high;

	sk_block_range(block, (uint64_t)n, &low, &high);
	for (uint64_t i = low; i < high; i++)
		y[i] = x[n - 1 - (int64_t)i] * x[i];
}
SK_KERNEL(product, "cube blocks; block, in x f32[n], out y f32[n], n i64");

void increment(const struct sk_block *block, const float *x, float *y, int64_t n)
{
	uint64_t low, high;

	sk_block_range(block, (uint64_t)n, &low, &high);
	for (uint64_t i = low; i < high; i++)
		y[i] = x[n - 1 - (int64_t)i] + 1;
}
SK_KERNEL(increment, "vector blocks; block, in x f32[n], out y f32[n], n i64");

void halve(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] / 2;
}
SK_KERNEL(halve, "vector split=n; in x f32[n], out y f32[n], n i64");

void sum(const float *x, float *y, int64_t n)
{
	float total = 0;

	for (int64_t i = 0; i < n; i++)
		y[i] = total += x[i];
}
SK_KERNEL(sum, "cube; in x f32[n], out y f32[n], n i64");
C
compile kernels

{
	echo 'sklink: 1'
	echo 'device: a3'
	echo 'tensors:'
	for t in x a b c d e f g h y z; do echo "  $t: {dtype: f32, shape: [5000]}"; done
	cat <<-'M'
	tasks:
	  - {name: c1, kernel: product, args: [x, a], scope: layer, record: first}
	  - {name: v1, kernel: increment, args: [x, b], scope: layer, stream: 1}
	  - {name: v2, kernel: halve, args: [b, c], scope: layer, stream: 1, wait: first, record: second}
	  - {name: c2, kernel: sum, args: [a, d], scope: layer}
	  - {name: c3, kernel: product, args: [d, e], scope: layer, wait: second}
	  - {name: out, kernel: halve, args: [e, f], stream: 7, record: away}
	  - {name: v3, kernel: increment, args: [c, g], scope: layer, stream: 1}
	  - {name: v4, kernel: halve, args: [g, h], scope: layer, stream: 1, wait: away}
	  - {name: v5, kernel: increment, args: [h, y], scope: layer, stream: 1}
	  - {name: c4, kernel: sum, args: [f, z], scope: layer}
	M
} >model.yaml
"$sklink" model.yaml kernels.o -o model.sk --report=report.json
"$skdump" --verify model.sk >/dev/null
"$skdump" --launches --steps --reasons model.sk >dump.txt

# out needs the cores that one superkernel would hold, and v4 waits for it: the cut is there, c3 and v3 are still before
# it.
grep -qE '"name": "sk_layer_start_c1_end_v3", .*"steps": 6, ' report.json || { cat dump.txt;
	fail "the first superkernel"; }
grep -qE '"name": "sk_layer_start_v4_end_c4", .*"follows": \["sk_task_out"\]' report.json || { cat dump.txt;
	fail "the second"; }
grep -qE '^ *v4 .* EXIST_DEADLOCK ' dump.txt || { cat dump.txt; fail "no reason for v4"; }
grep -qE '^ *c4 .* EXTERNAL_DEPEND ' dump.txt || { cat dump.txt; fail "no reason for c4"; }
grep -qE ' v1 .*vector +all cores +48 blocks$' dump.txt || { cat dump.txt; fail "v1 waits for something"; }
grep -qE ' v2 .*awaits c1, v1$' dump.txt || { cat dump.txt; fail "v2 does not await the event, or its data"; }
grep -qE ' c3 .*awaits v2, c2$' dump.txt || { cat dump.txt; fail "c3 does not await the event, or its data"; }
for cores in 1 2 3; do "$skrun" model.sk --random 1 --verify --cores $cores; done
"$skrun" model.sk --random 2 --verify --device a3

# S12: valid and invalid option texts.
link() {
	"$sklink" model.yaml kernels.o -o model.sk "$@"
}
link --scope-options 'layer= stream-fusion = 1 '
link --scope-options '*=stream-fusion=0' --scope-options=layer=stream-fusion=1
link --scope-options layer=stream_fusion=1
link --scope-options ' '
for bad in 'layer=stream-fusion' 'layer=stream-fusion=' 'layer==1' 'layer=stream-fusion=1:stream-fusion=1' \
	'layer=stream-fusion=2' 'layer=stream-fusion="1"' 'layer=stream-fusion=1:' 'layer=strict-scope-check=xxx' \
	'layer=strict-scope-check=' 'other=stream-fusion=1' 'layer'; do
	fails_with '^sklink: error: --scope-options:1:[0-9]+: ' link --scope-options "$bad"
done
