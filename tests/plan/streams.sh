#!/bin/bash
# A network on several streams, with events between launches: its launches go to as many streams of the runtime, overlap
# where the plan orders nothing, keep the order where it does, and give the results of one after the other.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
two_lane_kernels >kernels.c
cat >>kernels.c <<'C'
void both(const float *a, const float *b, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = a[i] - b[i];
}
SK_KERNEL(both, "vector split=n; in a f32[n], in b f32[n], out y f32[n], n i64");

/* Fails on a number that no other kernel makes of random ones. */
int picky(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i];
	return x[0] > 0.5f ? 9 : 0;
}
SK_KERNEL(picky, "vector; in x f32[n], out y f32[n], n i64 -> status");
C
cat >state.c <<'C'
#include "skkernel.h"

/* State that all instances share: the call fails if another one is inside. */
int alone(const float *x, float *y, int64_t n)
{
	static volatile int inside;

	if (inside++)
		return 1;
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i];
	inside--;
	return 0;
}
SK_KERNEL(alone, "vector; in x f32[n], out y f32[n], n i64 -> status");
C
cat >draws.c <<'C'
#include <stdlib.h>
#include "skkernel.h"

static long draw(int64_t n)
{
	long sum = 0;

	srandom(7);
	for (int64_t i = 0; i < n; i++)
		sum = 3 * sum + random();
	return sum;
}

/* The C library's state: the call fails if another call draws from it meanwhile. */
int draws(const float *x, float *y, int64_t n)
{
	y[0] = x[0];
	return draw(n) != draw(n);
}
SK_KERNEL(draws, "vector; in x f32[n], out y f32[n], n i64 -> status");
C
compile kernels && compile state && compile draws

# write SCOPE0 SCOPE1 SCOPE2: the scopes of the streams' tasks. Only the event puts c2 after v1.
write() {
	cat >model.yaml <<M
sklink: 1
device: a3
tensors:
$(for t in x a b c d e f g h y z u; do echo "  $t: {dtype: f32, shape: [5000]}"; done)
tasks:
  - {name: c0, kernel: product, args: [x, a]$1}
  - {name: v0, kernel: increment, args: [x, b], stream: 1$2}
  - {name: c1, kernel: product, args: [a, c]$1}
  - {name: v1, kernel: increment, args: [b, d], stream: 1$2, record: half}
  - {name: w0, kernel: both, args: [a, b, e], stream: 2$3}
  - {name: c2, kernel: product, args: [c, f]$1, wait: half}
  - {name: v2, kernel: both, args: [f, d, g], stream: 1$2}
  - {name: w1, kernel: increment, args: [e, h], stream: 2$3}
  - {name: c3, kernel: product, args: [f, y]$1}
  - {name: v3, kernel: both, args: [g, h, z], stream: 1$2}
  - {name: w2, kernel: both, args: [h, d, u], stream: 2$3}
M
}

# times NAME: when the launch started and ended, in ns, from trace.json.
times() {
	sed -nE "s/^\{\"ph\":\"X\",\"pid\":0,\"tid\":[0-9]+,\"name\":\"sk_task_$1\".*\"ts\":([0-9]+)\.([0-9]+),\"dur\":([0-9]+)\.([0-9]+).*/\1\2 \3\4/p" \
		trace.json | awk '{ print $1, $1 + $2 }'
}

run() {
	"$sklink" model.yaml kernels.o -o model.sk "$@"
	"$skdump" --verify model.sk >/dev/null
	for cores in 1 2 3 7; do "$skrun" model.sk --random 3 --verify --repeat 100 --cores $cores >/dev/null; done
	for seed in 0 1 2 3 4 5 6 7; do
		"$skrun" model.sk --random 3 --verify --repeat 5 --device a3 --seed $seed >/dev/null
		"$skrun" model.sk --random 3 --verify --repeat 5 --device a3 --seed $seed --cores 3 >/dev/null
	done
	"$skrun" model.sk --random 3 --check-races >/dev/null
	"$skrun" model.sk --random 3 --guard >/dev/null
}

# Launches of one task each. Cube and vector cores are other cores: a task on one lane leaves the other one free.
write '' '' ''
run
for device in 'host --cores 2' a3 'a3 --seed 4'; do
	for i in 1 2 3 4 5; do
		"$skrun" model.sk --random 3 --device $device --trace trace.json >/dev/null
		read -r c2_start c2_end <<<"$(times c2)"
		read -r v1_start v1_end <<<"$(times v1)"
		[ "$v1_end" -le "$c2_start" ] ||
			fail "c2 from $c2_start to $c2_end, v1 from $v1_start to $v1_end ($device)"
		[ "$(grep -c '"cat":"launch"' trace.json)" = 11 ] || fail "not 11 launches ($device)"
	done
	grep -q '^{"ph":"X","pid":0,"tid":1,' trace.json || fail "no launches overlap ($device)"
done
read -r c0_start c0_end <<<"$(times c0)"
read -r v0_start v0_end <<<"$(times v0)"
[ "$c0_start" -lt "$v0_end" ] && [ "$v0_start" -lt "$c0_end" ] ||
	fail "c0 from $c0_start to $c0_end, v0 from $v0_start to $v0_end: they do not overlap"

# Superkernels, and one of two streams beside a stream of lone tasks.
write ', scope: cubes' ', scope: vectors' ', scope: more'
run
write ', scope: all' ', scope: all' ''
run
write '' ', scope: all' ', scope: all'
run --scope-options 'all=debug-aiv-num=2'

# A launch that fails ends the run: no other error comes first, on any stream.
cat >bad.yaml <<'M'
sklink: 1
device: a3
tensors:
  x: {dtype: f32, shape: [64]}
  a: {dtype: f32, shape: [64]}
  b: {dtype: f32, shape: [64]}
  y: {dtype: f32, shape: [64]}
  z: {dtype: f32, shape: [64]}
tasks:
  - {name: first, kernel: increment, args: [x, a], stream: 1}
  - {name: second, kernel: picky, args: [a, b], stream: 1}
  - {name: third, kernel: product, args: [b, y]}
  - {name: fourth, kernel: picky, args: [y, z], stream: 2}
M
"$sklink" bad.yaml kernels.o -o bad.sk
for device in 'host --cores 2' a3; do
	fails_with "launch sk_task_second: task 'second': kernel picky returned status 9" "$skrun" bad.sk --random 1 \
		--device $device
	[ "$(wc -l <err.txt)" = 1 ] || fail "more than one error"
done

# Two instances of one package, launched on two streams, share a kernel's state: its launches do not overlap. All
# packages share the C library's state.
cat >state.yaml <<'M'
sklink: 1
device: a3
tensors:
  x: {dtype: f32, shape: [100000]}
  y: {dtype: f32, shape: [100000]}
tasks:
  - {name: only, kernel: alone, args: [x, y]}
M
cat >program.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include "loader/skrt.h"

static void check(enum skrt_status status)
{
	if (status) {
		fprintf(stderr, "%s\n", skrt_error());
		exit(1);
	}
}

int main(int argc, char **argv)
{
	enum { INSTANCES = 3, ROUNDS = 30, N = 100000 };
	static _Alignas(64) float x[N], y[INSTANCES][N];
	struct skrt_device *device;
	struct skrt_module *modules[INSTANCES];
	struct skrt_instance *instances[INSTANCES];
	struct skrt_stream *streams[INSTANCES];
	struct skrt_device_options options = {.size = sizeof(options), .device = argv[2], .cores = 3};

	check(skrt_device_open(&options, &device));
	for (int i = 0; i < INSTANCES; i++) {
		if (!i || argc > 3)
			check(skrt_module_load(device, argv[i % 2 ? 3 : 1], &modules[i]));
		else
			modules[i] = modules[0];
		check(skrt_instance_create(modules[i], &instances[i]));
		check(skrt_stream_create(device, &streams[i]));
		check(skrt_instance_bind(instances[i], 0, x, sizeof(x)));
		check(skrt_instance_bind(instances[i], 1, y[i], sizeof(y[i])));
	}
	for (int i = 0; i < ROUNDS * INSTANCES; i++)
		check(skrt_launch_network(streams[i % INSTANCES], instances[i % INSTANCES]));
	for (int i = 0; i < INSTANCES; i++)
		check(skrt_synchronise(streams[i]));
	for (int i = 0; i < INSTANCES; i++) {
		check(skrt_stream_destroy(streams[i]));
		check(skrt_instance_destroy(instances[i]));
	}
	for (int i = 0; i < (argc > 3 ? INSTANCES : 1); i++)
		check(skrt_module_unload(modules[i]));
	check(skrt_device_close(device));
	return argc < 3;
}
C
"$sklink" state.yaml state.o -o state.sk
sanitize=$(sed -n "s/^SANITIZE_CFLAGS = //p" "$top_builddir/Makefile")
libskrt="$top_builddir/.libs/libskrt.a $(sed -n "s/^Libs.private: //p" "$top_builddir/loader/libskrt.pc")"
$CC $sanitize -I"$top_srcdir" -o program program.c $libskrt
for device in host a3; do ./program state.sk $device || fail "state is shared on $device"; done
sed 's/kernel: alone/kernel: draws/' state.yaml >draws.yaml
"$sklink" draws.yaml draws.o -o draws.sk
sed 's/only/other/' draws.yaml >other.yaml
"$sklink" other.yaml draws.o -o other.sk
for device in host a3; do ./program draws.sk $device other.sk || fail "random numbers are mixed on $device"; done
