#!/bin/bash
# Tasks by themselves run from thunks, one for each way to call, for any kernels: they compute the same as functions of
# each task (--task-entries), on any number of cores and on one thread; a task that faults, hangs or fails in one is
# named; and skdump --verify finds damage to a thunk, or to the data from which its words are made.
. "$top_srcdir/tests/lib/lib.sh"
cat >kernels.c <<'C'
#include <stdlib.h>
#include "skkernel.h"

/* If x[0] says so, the call for the last element misbehaves. */
static int misbehave(const float *x, int64_t last, int64_t n)
{
	if (last != n || x[0] < 1000)
		return 0;
	if (x[0] == 1000)
		*(volatile int *)8 = 1;
	while (x[0] == 1001)
		__asm__ volatile("" ::: "memory");
	return (int)x[0];
}

#define SHARED(name, sign) \
	void name(const float *x, float *y, float factor, int64_t n) \
	{ \
		for (int64_t i = 0; i < n; i++) \
			y[i] = factor * x[i] sign 1; \
	} \
	SK_KERNEL(name, "split=n; in x f32[n], out y f32[n], factor f32, n i64");
SHARED(up, +)
SHARED(down, -)

void rows(const float *x, float *y, int64_t m, int64_t w)
{
	for (int64_t i = 0; i < m * w; i++)
		y[i] = x[i] + (float)w;
}
SK_KERNEL(rows, "split=m; in x f32[m,w], out y f32[m,w], m i64, w i64");

int tile(const float *first, const float *x, float *y, int64_t begin, int64_t m, int64_t w)
{
	for (int64_t i = 0; i < m * w; i++)
		y[i] = 2 * x[i];
	return misbehave(first, begin + m, 20);
}
SK_KERNEL(tile, "tile=m:3; in first f32[1], in x f32[m,w], out y f32[m,w], begin i64 = begin(m), m i64, w i64 -> status");

int blocks(const struct sk_block *block, const float *first, const float *x, float *y, int64_t n, int32_t all, int64_t part)
{
	int64_t low, high;

	sk_block_range(block, n, &low, &high);
	if (n != 1000 || all != 999 || part != high - low)
		return 77;
	for (int64_t i = low; i < high; i++)
		y[i] = 3 * x[i];
	return misbehave(first, high, n);
}
SK_KERNEL(blocks, "blocks=n; block, in first f32[1], in x f32[n], out y f32[n], n i64, all i32 = n - 1, part i64 = size(n) -> status");

double mean(const float *x, const float *w, int64_t n, const int64_t *reference, int8_t small, double large)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += x[i] * w[i % 4];
	return sum / (double)*reference + small * large;
}
SK_KERNEL(mean, "in x f32[n], in w f32[4], n i64, ref count i64, small i8, large f64 -> out mean f64");

void add(const float *x, const double *mean, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + (float)*mean;
}
SK_KERNEL(add, "split=n; in x f32[n], in mean f64[1], out y f32[n], n i64");
C
compile kernels
{
	printf 'sklink: 1\ntensors:\n  first: {dtype: f32, shape: [1]}\n  m: {dtype: f64, shape: [1]}\n'
	printf '  w: {dtype: f32, shape: [4], fill: 1.5}\n'
	tensors '[1000]' x $(seq -f 't%.0f' 20) b y
	tensors '[20, 50]' r p q
	cat <<'M'
tasks:
  - {name: start, kernel: up, args: [x, t1], set: {factor: 0.7}, scope: all}
M
	for i in $(seq 19); do
		printf '  - {name: step_%d, kernel: %s, args: [t%d, t%d], set: {factor: %d}, scope: all}\n' $i \
			$([ $((i % 2)) = 0 ] && echo up || echo down) $i $((i + 1)) $((i % 3))
	done
	cat <<'M'
  - {name: in_blocks, kernel: blocks, args: [first, t20, b], blocks: 5, scope: all}
  - {name: average, kernel: mean, args: [b, w, m], set: {count: 7, small: -3, large: 0.25}, scope: all}
  - {name: together, kernel: add, args: [b, m, y], scope: all}
  - {name: in_rows, kernel: rows, args: [r, p], scope: all}
  - {name: in_tiles, kernel: tile, args: [first, p, q], scope: all}
scopes:
  all: {options: ""}
M
} >model.yaml
"$sklink" model.yaml kernels.o -o thunks.sk
"$sklink" model.yaml kernels.o --task-entries -o entries.sk
"$sklink" model.yaml kernels.o --task-entries --no-task-entries -o bare.sk

# ---- as many as there are ways to call ----
nm thunks.sk >symbols.txt
[ "$(grep -c ' t sk_thunk\.[0-9]*$' symbols.txt)" = 6 ] || { cat symbols.txt >&2; fail "not 6 thunks for 25 tasks"; }
! grep -q sk_unfused symbols.txt || fail "a task has functions of its own"
nm entries.sk >symbols.txt
[ "$(grep -c ' t sk_unfused_' symbols.txt)" = 50 ] || { cat symbols.txt >&2; fail "not 50 functions of 25 tasks"; }
! grep -q sk_thunk symbols.txt || fail "thunks beside the tasks' own entries"
nm bare.sk | grep -qE 'sk_(unfused|thunk)' && fail "--no-task-entries"
nm thunks.sk | grep -q ' T sk_all_serial$' || fail "the launch has no serial entry"
"$skdump" --verify thunks.sk >/dev/null
"$skdump" --verify entries.sk >/dev/null

# ---- they compute the same ----
"$skrun" entries.sk --random 1 --output y=y.npy --output q=q.npy
for cores in 1 2 3 7; do
	for options in --unfused '--unfused --guard' '--unfused --check-races' '--unfused --trace trace.json' \
		'--unfused --profile'; do
		"$skrun" thunks.sk --random 1 --cores $cores $options --output y=other.npy --output q=rows.npy \
			>/dev/null ||
			fail "$options on $cores cores"
		cmp y.npy other.npy && cmp q.npy rows.npy || fail "$options on $cores cores computes something else"
	done
	"$skrun" thunks.sk --random 1 --verify --cores $cores >/dev/null || fail "--verify on $cores cores"
done
"$skrun" thunks.sk --random 1 --measure costs.txt --repeat 3 >/dev/null
[ "$(grep -c ' ns$\| us$\| ms$' costs.txt)" = 25 ] || { cat costs.txt >&2; fail "--measure"; }
fails_with "linked with --no-task-entries" "$skrun" bare.sk --random 1 --unfused

# ---- bindings change between launches, and between instances ----
cat >rebind.yaml <<'M'
sklink: 1
tensors: {x: {dtype: f32, shape: [100]}, y: {dtype: f32, shape: [100]}, z: {dtype: f32, shape: [100]}}
tasks:
  - {name: first, kernel: up, args: [x, y], set: {factor: 2}}
  - {name: second, kernel: up, args: [x, z], set: {factor: 3}}
M
"$sklink" rebind.yaml kernels.o -o rebind.sk
cat >rebind.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "skrt.h"
#define N 100
static _Alignas(64) float memory[8][128];
static struct skrt_device *device;
static struct skrt_module *module;
static struct skrt_stream *stream;
static const struct skrt_kernel *tasks[2];
static struct skrt_instance *instances[2];

static void ok(enum skrt_status status)
{
	if (!status)
		return;
	fprintf(stderr, "%s\n", skrt_error());
	exit(1);
}

static void bind(struct skrt_instance *instance, const char *name, float *data)
{
	ok(skrt_instance_bind_array(instance, name, SKRT_F32, 1, (uint64_t[]){N}, data));
}

static struct skrt_instance *create(int x, int y, int z)
{
	struct skrt_instance *instance;

	ok(skrt_instance_create(module, &instance));
	bind(instance, "x", memory[x]);
	bind(instance, "y", memory[y]);
	bind(instance, "z", memory[z]);
	return instance;
}

/* The task writes `to` and nothing else, in a stream and by itself. */
static void run(int task, struct skrt_instance *instance, int from, int to, int line)
{
	for (int serial = 0; serial < 2; serial++) {
		for (int i = 2; i < 8; i++)
			memset(memory[i], 0, sizeof(memory[i]));
		ok(serial ? skrt_run_serial(instance, tasks[task]) : skrt_run(stream, instance, tasks[task]));
		for (int i = 2; i < 8; i++)
			for (int k = 0; k < N; k++)
				if (memory[i][k] != (i == to ? memory[from][k] * (float)(2 + task) + 1 : 0)) {
					fprintf(stderr, "line %d: memory %d\n", line, i);
					exit(1);
				}
	}
}

int main(void)
{
	struct skrt_device_options options = {.size = sizeof(options), .cores = 2};

	for (int k = 0; k < N; k++) {
		memory[0][k] = (float)k;
		memory[1][k] = (float)-k;
	}
	ok(skrt_device_open(&options, &device));
	ok(skrt_module_load(device, "rebind.sk", &module));
	ok(skrt_stream_create(device, &stream));
	for (uint32_t i = 0; i < 2; i++)
		ok(skrt_module_task(module, i, &tasks[i]));
	instances[0] = create(0, 2, 3);
	run(0, instances[0], 0, 2, __LINE__);
	run(0, instances[0], 0, 2, __LINE__);
	run(1, instances[0], 0, 3, __LINE__);
	bind(instances[0], "z", memory[4]);
	run(1, instances[0], 0, 4, __LINE__);
	bind(instances[0], "x", memory[1]);
	run(1, instances[0], 1, 4, __LINE__);
	instances[1] = create(0, 5, 6);
	run(1, instances[1], 0, 6, __LINE__);
	run(1, instances[0], 1, 4, __LINE__);
	run(1, instances[1], 0, 6, __LINE__);
	for (int i = 0; i < 4; i++) { /* where the one was that is gone */
		ok(skrt_instance_destroy(instances[1]));
		instances[1] = create(i % 2, 7, 5 - i);
		run(1, instances[1], i % 2, 5 - i, __LINE__);
	}
	for (int i = 0; i < 2; i++)
		ok(skrt_instance_destroy(instances[i]));
	ok(skrt_stream_destroy(stream));
	ok(skrt_module_unload(module));
	ok(skrt_device_close(device));
	return 0;
}
C
libskrt="$top_builddir/.libs/libskrt.a $(sed -n "s/^Libs.private: //p" "$top_builddir/loader/libskrt.pc")"
sanitize=$(sed -n 's/^SANITIZE_CFLAGS = //p' "$top_builddir/Makefile")
$CC $sanitize -I"$top_srcdir/loader" rebind.c $libskrt -ldl -lm -pthread -o rebind
./rebind || fail "a thunk is given other arguments than those that are bound"

# ---- a task that misbehaves is named ----
first() {
	python3 - "$1" <<'P'
import struct, sys
head = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }"
open('first.npy', 'wb').write(b'\x93NUMPY\x01\x00v\x00' + head.ljust(117).encode() + b'\n' + struct.pack('<f', float(sys.argv[1])))
P
}
for task in in_blocks:blocks in_tiles:tile; do
	sed "/first,/{/${task%:*}/!s/first/zero/}; s/^  first: .*/&\n  zero: {dtype: f32, shape: [1], fill: 0}/" \
		model.yaml >one.yaml
	"$sklink" one.yaml kernels.o -o one.sk
	for cores in 1 3; do
		named="task entry sk_unfused_${task%:*}: task '${task%:*}': kernel ${task#*:} on core [0-9]"
		first 1000
		fails_with "$named: segmentation fault .SIGSEGV.: write at address 0x8" \
			"$skrun" one.sk --random 1 --input first=first.npy --unfused --cores $cores
		first 1002
		fails_with "task entry sk_unfused_${task%:*}: task '${task%:*}': kernel ${task#*:} returned status 1002 on core" \
			"$skrun" one.sk --random 1 --input first=first.npy --unfused --cores $cores
	done
	first 1001
	fails_with "task entry sk_unfused_${task%:*}: not ended within 2 s: task '${task%:*}': kernel ${task#*:} on core [0-9]: it was at" \
		"$skrun" one.sk --random 1 --input first=first.npy --unfused --cores 2 --timeout 2
	first 1000
	fails_with "serial run: task '${task%:*}': kernel ${task#*:}: segmentation fault" \
		"$skrun" one.sk --random 1 --input first=first.npy --measure costs.txt
done

# ---- damage ----
# flip BYTE: damaged.sk is thunks.sk with another bit in that byte.
flip() {
	python3 - "$1" <<'P'
import sys
bytes = bytearray(open('thunks.sk', 'rb').read())
bytes[int(sys.argv[1])] ^= 4
open('damaged.sk', 'wb').write(bytes)
P
}
for number in 0 1 2 3 4 5; do
	read -r start size < <(nm -S thunks.sk | sed -n "s/ t sk_thunk\.$number\$//p")
	for place in 0 $((0x$size / 2)) $((0x$size - 1)); do
		flip $((0x$start + place)) # p_offset equals p_vaddr
		fails_with "the dispatcher 'sk_unfused_[a-z_0-9]*' differs from its plan" "$skdump" --verify \
			damaged.sk
	done
done
# Wherever the plan has the factor 0.7, in the launch or the task by itself.
python3 - >places.txt <<'P'
bytes = open('thunks.sk', 'rb').read()
at = bytes.find(b'\x33\x33\x33\x3f')
while at >= 0:
    print(at + 3)
    at = bytes.find(b'\x33\x33\x33\x3f', at + 1)
P
read -r start size < <(readelf -SW thunks.sk |
	sed -n 's/.* \.sk\.plan *PROGBITS *[0-9a-f]* \([0-9a-f]*\) \([0-9a-f]*\) .*/\1 \2/p')
found=0
while read -r place; do
	[ $place -ge $((0x$start)) ] && [ $place -lt $((0x$start + 0x$size)) ] || continue
	flip $place
	! "$skdump" --verify damaged.sk >out.txt 2>&1 || { cat out.txt >&2; fail "a factor at $place is another one"; }
	found=$((found + 1))
done <places.txt
[ $found -gt 0 ] || fail "the plan has no factor"
# A plan with a kernel that is not code: the target of a thunk is checked before the call.
python3 - $((0x$(nm thunks.sk | sed -n 's/ [tT] up$//p'))) $((0x$start)) $((0x$size)) <<'P'
import struct, sys
code, start, size = map(int, sys.argv[1:])
bytes = bytearray(open('thunks.sk', 'rb').read())
places = [at for at in range(start, start + size, 4) if struct.unpack_from('<i', bytes, at)[0] == code - at]
assert len(places) == 1, places # references are relative to their own place
struct.pack_into('<i', bytes, places[0], start - places[0])
open('damaged.sk', 'wb').write(bytes)
P
fails_with "kernel up does not lie in text" "$skrun" damaged.sk --random 1 --unfused
