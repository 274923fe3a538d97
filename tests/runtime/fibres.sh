#!/bin/bash
# More cores than processors, and the simulated device with twenty orders of its cores: the samples' results are those
# of one core, bit for bit.
. "$top_srcdir/tests/lib/lib.sh"
samples=$top_builddir/samples
"$sklink" "$top_srcdir/samples/quant_matmul/small.yaml" "$samples/quant_matmul/quant_matmul.o" \
	"$samples/quant_matmul/dequant_swiglu_quant.o" -o quant_matmul.sk
"$sklink" "$top_srcdir/samples/composite/composite.yaml" "$samples/composite/kernels.o" -o composite.sk
# Streams that await each other in turn, on two lanes.
cat >kernels.c <<'C'
#include "skkernel.h"

void twice(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = 2 * x[i];
}
SK_KERNEL(twice, "cube; in x f32[n], out y f32[n], n i64");

void more(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + 1;
}
SK_KERNEL(more, "vector split=n; in x f32[n], out y f32[n], n i64");
C
compile kernels
{
	echo '{"sklink": 1, "device": "a3", "scopes": {"s": {"options": "stream-fusion=1"}}, "tensors": {"t0": {"dtype": "f32", "shape": [700]}'
	for ((i = 1; i <= 40; i++)); do echo ", \"t$i\": {\"dtype\": \"f32\", \"shape\": [700]}"; done
	echo '}, "tasks": ['
	for ((i = 1; i <= 40; i++)); do
		[ "$i" = 1 ] || echo ,
		[ $((i % 3)) = 0 ] && kernel=more || kernel=twice
		echo "{\"name\": \"task$i\", \"kernel\": \"$kernel\", \"args\": [\"t$((i * 7 / 8))\", \"t$i\"], \"stream\": $((i % 5)), \"scope\": \"s\"}"
	done
	echo ']}'
} >zigzag.json
"$sklink" zigzag.json kernels.o -o zigzag.sk
for package in quant_matmul composite zigzag; do
	"$skrun" $package.sk --random 1 --cores 1 >expected.txt
	for how in '--cores 2' '--cores 7' '--cores 40' '--device a3' '--device a3 --cores 3' \
		$(seq -f '--device=a3@--seed=%g' 20); do
		"$skrun" $package.sk --random 1 ${how//@/ } >out.txt
		cmp expected.txt out.txt || fail "$package with $how computes something else"
	done
	"$skrun" $package.sk --random 1 --verify --cores 40 --repeat 20
	"$skrun" $package.sk --random 1 --verify --device a3 --seed 7 | grep -q 'device a3, cores 24 and 48' ||
		fail "a3 is not named"
done

# No process has more threads than processors, one for asynchronous launches and one for the time-out apart.
cat >slow.c <<'C'
#include "skkernel.h"

void slow(float *y, int64_t n)
{
	for (volatile long i = 0; i < 300000000; i++)
		;
	y[0] = (float)n;
}
SK_KERNEL(slow, "out y f32[n], n i64");
C
compile slow
printf 'sklink: 1\ntensors:\n  y: {dtype: f32, shape: [16]}\ntasks:\n  - {name: t, kernel: slow, args: [y]}\n' \
	>slow.yaml
"$sklink" slow.yaml slow.o -o slow.sk
more=0
if nm "$skrun" | grep -q '__tsan_init'; then
	more=1 # its own
fi
for where in "host $(($(nproc) + 2 + more))" "a3 $((3 + more))"; do
	set -- $where
	"$skrun" slow.sk --device $1 --cores 50 --timeout 100 >/dev/null &
	sleep 0.1
	threads=$(ls /proc/$!/task | wc -l)
	wait $!
	[ "$threads" -le "$2" ] || fail "$threads threads on $1"
done

fails_with "no device 'a4'; did you mean 'a3'" "$skrun" slow.sk --device a4
fails_with "no device 'npu'; there are host and a3, and profiles by their path" "$skrun" slow.sk --device npu
fails_with "a seed is for simulated devices" "$skrun" slow.sk --seed 3
fails_with "--timeout 0: not a number of seconds" "$skrun" slow.sk --timeout 0
fails_with "--seed x: not a number" "$skrun" slow.sk --seed x
