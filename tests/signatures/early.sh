#!/bin/bash
# Kernels that start early: their awaits move into them, and their results are published before they return.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cat >kernels.c <<'C'
#include "skkernel.h"

/* The events in their order, which is only defined on the simulated device, with its one thread. */
static int32_t events[64];
static uint32_t event_count;

static void note(int32_t event)
{
	events[event_count++ % 64] = event;
}

void make(const float *x, float *y, int64_t n)
{
	note('A');
	for (int64_t i = 0; i < n; i++)
		y[i] = 2 * x[i];
}
SK_KERNEL(make, "reentrant; in x f32[n], out y f32[n], n i64");

/* Waits twice, after its beginning. */
void take(const struct sk_block *block, const float *x, float *y, int64_t n)
{
	note('b');
	sk_wait_pre_task_end(block);
	sk_wait_pre_task_end(block);
	note('B');
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + (float)(block->index + block->count);
}
SK_KERNEL(take, "reentrant early-start=wait; block, in x f32[n], out y f32[n], n i64");

/* Both blocks are done before the first one returns. */
void give(const struct sk_block *block, const float *x, float *y, int64_t n)
{
	for (int64_t i = n * block->index / block->count; i < n * (block->index + 1) / block->count; i++)
		y[i] = 3 * x[i];
	sk_set_next_task_start(block);
	sk_set_next_task_start(block);
	sk_sync_all(block);
	note('c' + (int32_t)block->index);
}
SK_KERNEL(give, "reentrant sync-all early-start=set; block, in x f32[n], out y f32[n], n i64");

void get(const float *x, float *y, int64_t n)
{
	note('D');
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] - 1;
}
SK_KERNEL(get, "reentrant; in x f32[n], out y f32[n], n i64");

void tell(const float *x, const float *y, int32_t *log)
{
	(void)x;
	(void)y;
	for (uint32_t i = 0; i < 64; i++) {
		log[i] = i < event_count ? events[i] : 0;
		events[i] = 0;
	}
	event_count = 0;
}
SK_KERNEL(tell, "reentrant; in x f32[n], in y f32[n], out log i32[64]");

C
cat >parts.c <<'C'
#include "skkernel.h"

/* Both, in blocks and in ranges: more blocks than cores. */
static void part(const struct sk_block *block, const float *x, float *y, uint64_t n)
{
	uint64_t low, high;

	sk_wait_pre_task_end(block);
	sk_block_range(block, n, &low, &high);
	for (uint64_t i = low; i < high; i++)
		y[i] = x[n - 1 - i] + 1;
	if (block->index != 2) /* a block that forgets it sets it by returning */
		sk_set_next_task_start(block);
}
void mirror(const struct sk_block *block, const float *x, float *y, uint64_t n)
{
	part(block, x, y, n);
}
SK_KERNEL(mirror, "blocks early-start=both; block, in x f32[n], out y f32[n], n u64");
void mirror_range(const struct sk_block *block, const float *x, float *y, uint64_t n)
{
	part(block, x, y, n);
}
SK_KERNEL(mirror_range, "blocks=m early-start=both nontemporal; block, in x f32[n], out y f32[m], n u64");

/* The blocks with a kind other than 0 forget to wait; no task writes kind. */
void forgets(const struct sk_block *block, const float *x, float *y, const int32_t *kind, int64_t n)
{
	if (!kind[block->index])
		sk_wait_pre_task_end(block);
	for (int64_t i = n * block->index / block->count; i < n * (block->index + 1) / block->count; i++)
		y[i] = 2 * x[i];
}
SK_KERNEL(forgets, "blocks early-start=wait; block, in x f32[n], out y f32[n], in kind i32[m], n i64");

/* Takes some milliseconds. */
void slow(const float *x, float *y, int64_t n)
{
	for (volatile int32_t turn = 0; turn < 1000000;)
		turn++;
	for (int64_t i = 0; i < n; i++)
		y[i] = 2 * x[i];
}
SK_KERNEL(slow, "in x f32[n], out y f32[n], n i64");
C
compile kernels
compile parts

# The order of events; the simulated device begins with core 0.
order() {
	cat >order.yaml <<M
sklink: 1
device: a3
tensors:
  x: {dtype: f32, shape: [64]}
  a: {dtype: f32, shape: [64]}
  b: {dtype: f32, shape: [64]}
  c: {dtype: f32, shape: [64]}
  d: {dtype: f32, shape: [64], role: output}
  log: {dtype: i32, shape: [64]}
tasks:
  - {name: A, kernel: make, args: [x, a], scope: sp1, stream: 1}
  - {name: B, kernel: take, args: [a, b], scope: sp1, stream: 0}
  - {name: C, kernel: give, args: [b, c], scope: sp1, blocks: 2}
  - {name: D, kernel: get, args: [c, d], scope: sp1, stream: 1}
  - {name: T, kernel: tell, args: [b, d, log], scope: sp1}
scopes:
  sp1: {options: "$1"}
M
	"$sklink" order.yaml kernels.o -o order.sk
	"$skdump" --verify order.sk
	"$skrun" order.sk --random 1 --device a3 --cores 2 --output log=log.npy >/dev/null
	python3 -c "
d = open('log.npy', 'rb').read()[-256:]
print(''.join(chr(d[i]) for i in range(0, 256, 4) if d[i]))" >order.txt
	[ "$(cat order.txt)" = "$2" ] || { cat order.txt; fail "the events of options '$1' are not $2"; }
	for cores in 1 2 3; do "$skrun" order.sk --random 1 --cores $cores --output d=d.npy --repeat 5 >/dev/null;
		cp d.npy "d-$cores-$1.npy"; done
}
order "" bABdDc
order early-start=1 bABdDc
order early-start=0 AbBdcD
order early-start=2 AbBdcD
for file in d-*.npy; do cmp "$file" d.npy || fail "$file is not as the others"; done
"$skdump" --steps order.sk | grep -q early && fail "early-start=2 starts early"
order "" bABdDc
"$skdump" --steps order.sk >steps.txt
grep -qE ' B .*plain, waits by itself +awaits A$' steps.txt || { cat steps.txt; fail "B does not wait by itself"; }
grep -qE ' C .*2 blocks at once, may end early +awaits B$' steps.txt || { cat steps.txt; fail "C does not end early"; }

cat >chain.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [1000]}
  a: {dtype: f32, shape: [1000]}
  b: {dtype: f32, shape: [1000]}
  c: {dtype: f32, shape: [1000]}
  y: {dtype: f32, shape: [1000]}
tasks:
  - {name: A, kernel: mirror, args: [x, a], scope: sp1, blocks: 5}
  - {name: B, kernel: mirror_range, args: [a, b], scope: sp1, blocks: 7}
  - {name: C, kernel: mirror, args: [b, c], scope: sp1, blocks: 3}
  - {name: D, kernel: mirror_range, args: [c, y], scope: sp1, blocks: 7}
M
"$sklink" chain.yaml parts.o -o chain.sk
"$skdump" --verify chain.sk
for cores in 1 2 3 8; do "$skrun" chain.sk --random 1 --verify --repeat 100 --cores $cores; done
for seed in 1 2 3 4 5; do "$skrun" chain.sk --random 1 --verify --device a3 --seed $seed; done
"$skrun" chain.sk --random 1 --serial >/dev/null
for options in '--cores 1' '--cores 3' '--cores 8 --unfused' '--device a3 --seed 6'; do
	"$skrun" chain.sk --random 1 --guard --check-races --repeat 2 $options >/dev/null || fail "refused: $options"
done
"$skrun" chain.sk --random 1 --guard --check-races --verify --repeat 2

# A block that forgets to wait: its core awaits all that B depends on, and only then the launch ends, so A2, which
# itself awaits another core, has been computed; in a serial run there is nothing to await.
cat >forgets.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [1000]}
  kind: {dtype: i32, shape: [5]}
  a: {dtype: f32, shape: [1000], role: output}
  b: {dtype: f32, shape: [1000], role: output}
  y: {dtype: f32, shape: [1000], role: output}
  z: {dtype: f32, shape: [1000]}
tasks:
  - {name: A1, kernel: slow, args: [x, a], scope: sp1, stream: 1}
  - {name: A2, kernel: slow, args: [a, b], scope: sp1, stream: 2}
  - {name: B, kernel: forgets, args: [b, y, kind], scope: sp1, blocks: 5}
  - {name: C, kernel: slow, args: [y, z], scope: sp1, stream: 3}
scopes: {sp1: {options: "stream-fusion=1"}}
M
"$sklink" forgets.yaml parts.o -o forgets.sk
"$skdump" --verify forgets.sk
for cores in 1 2 3 7; do
	for device in host a3; do
		"$top_builddir/tests/signatures/forgets" forgets.sk $device $cores ||
			fail "forgotten waits on $device with $cores cores"
	done
done
fails_with "task 'B': kernel forgets returned without sk_wait_pre_task_end on core 0" "$skrun" forgets.sk --random 1 \
	--unfused --cores 1
"$skrun" forgets.sk --random 1 --serial >/dev/null

sed -i '$a scopes: {sp1: {options: "early-start=3"}}' chain.yaml
fails_with "scope option 'early-start' must be 0, 1 or 2, not '3'" "$sklink" chain.yaml parts.o -o no.sk
sed -i 's/stream-fusion=1/early-start=0:stream-fusion=1/' forgets.yaml
"$sklink" forgets.yaml parts.o -o forgets.sk
"$skrun" forgets.sk --random 1 --cores 4 >/dev/null

# The dispatcher waits for a kernel that gets a scalar from a tensor, and publishes for one that returns a result.
cat >scalars.c <<'C'
#include "skkernel.h"

float sum(const struct sk_block *block, const float *x, int64_t n)
{
	float sum = 0;

	sk_wait_pre_task_end(block);
	for (int64_t i = 0; i < n; i++)
		sum += x[i];
	sk_set_next_task_start(block);
	for (volatile int32_t turn = 0; turn < 100000;)
		turn++;
	return sum;
}
SK_KERNEL(sum, "early-start=both; block, in x f32[n], n i64 -> out sum f32");

void fill(const struct sk_block *block, float *y, int64_t n, float value)
{
	sk_wait_pre_task_end(block);
	for (int64_t i = 0; i < n; i++)
		y[i] = value;
	sk_set_next_task_start(block);
}
SK_KERNEL(fill, "early-start=both; block, out y f32[n], n i64, value f32");
C
compile scalars
cat >scalars.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [100]}
  s: {dtype: f32, shape: [1]}
  t: {dtype: f32, shape: [1]}
  a: {dtype: f32, shape: [100]}
  y: {dtype: f32, shape: [100]}
tasks:
  - {name: A, kernel: sum, args: {x: x, sum: s}, scope: sp1, stream: 1}
  - {name: B, kernel: fill, args: {y: a}, set: {value: {tensor: s}}, scope: sp1, stream: 2}
  - {name: C, kernel: sum, args: {x: a, sum: t}, scope: sp1, stream: 1}
  - {name: D, kernel: fill, args: {y: y}, set: {value: {tensor: t}}, scope: sp1, stream: 2}
scopes: {sp1: {options: "stream-fusion=1"}}
M
"$sklink" scalars.yaml scalars.o -o scalars.sk
"$skdump" --steps scalars.sk >steps.txt
for task in A C; do grep -qE " $task .*plain, waits by itself( |\$)" steps.txt || { cat steps.txt;
	fail "$task ends early"; }; done
for task in B D; do grep -qE " $task .*plain, may end early " steps.txt || { cat steps.txt;
	fail "$task waits by itself"; }; done
for cores in 1 3 4; do "$skrun" scalars.sk --random 1 --verify --repeat 20 --cores $cores; done
for seed in 0 1 2; do "$skrun" scalars.sk --random 1 --verify --device a3 --seed $seed; done
"$skrun" scalars.sk --random 1 --verify --guard --check-races

# Hidden state. A call has it from its first instruction to its last: kernels that keep a table start early only where
# no other core has it. Three kernels share the table, which they reach through functions.
cat >states.c <<'C'
#include "skkernel.h"

static int64_t table[64], table_for;

__attribute__((noinline)) static void make_table(int64_t seed)
{
	table_for = seed;
	for (int64_t i = 0; i < 64; i++) {
		for (volatile int32_t turn = 0; turn < 20000;)
			turn++;
		table[i] = table_for * i;
	}
}

static void apply_table(const int64_t *x, int64_t *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + table[i % 64];
}

/* Makes its table before the wait. */
void before(const struct sk_block *block, const int64_t *x, int64_t *y, int64_t n, int64_t seed)
{
	make_table(seed);
	sk_wait_pre_task_end(block);
	apply_table(x, y, n);
}
SK_KERNEL(before, "early-start=wait; block, in x i64[n], out y i64[n], n i64, seed i64");

/* Goes on with it after its results. */
void behind(const struct sk_block *block, const int64_t *x, int64_t *y, int64_t n, int64_t seed)
{
	make_table(seed);
	apply_table(x, y, n);
	sk_set_next_task_start(block);
	make_table(-seed);
}
SK_KERNEL(behind, "early-start=set; block, in x i64[n], out y i64[n], n i64, seed i64");

void both(const struct sk_block *block, const int64_t *x, int64_t *y, int64_t n, int64_t seed)
{
	make_table(3 * table_for + seed);
	sk_wait_pre_task_end(block);
	apply_table(x, y, n);
	sk_set_next_task_start(block);
	make_table(table_for - seed);
}
SK_KERNEL(both, "early-start=both; block, in x i64[n], out y i64[n], n i64, seed i64");
C
compile states
# states DEVICE OPTIONS KERNEL...: a task each, in streams 0, 1, 0, 1 …, that have nothing but the state in common.
states() {
	local device=$1 options=$2
	shift 2
	printf "sklink: 1\ndevice: $device\ntensors:\n  x: {dtype: i64, shape: [640]}\n"
	printf "  y%d: {dtype: i64, shape: [640]}\n" $(seq $#)
	printf "scopes: {sp1: {options: '$options'}}\ntasks:\n"
	local i=0 kernel
	for kernel; do
		i=$((i + 1))
		echo "  - {name: T$i, kernel: $kernel, args: [x, y$i], set: {seed: $i}, stream: $(((i - 1) % 2)), scope: sp1}"
	done
}
for device in host a3; do
	for kernels in "before before" "behind behind" "behind before" "before both both" "behind both before both" \
		"before behind both both"; do
		states $device "" $kernels >states.yaml
		"$sklink" states.yaml states.o -o states.sk
		"$skdump" --verify states.sk
		for cores in 1 2 3; do "$skrun" states.sk --random 1 --verify --repeat 2 --device host --cores $cores;
			done
		for seed in 0 1 2 3; do "$skrun" states.sk --random 1 --verify --device a3 --seed $seed; done
		"$skrun" states.sk --random 1 --guard --check-races --verify
	done
done
# If a flag that the link has taken away comes back, the proof is lost, and a checked run finds the race.
states host "" behind before >states.yaml
"$sklink" states.yaml states.o -o states.sk --explain T1 --explain T2 >told.txt
"$skdump" --steps states.sk >steps.txt
grep -qE 'by itself|end early' steps.txt && { cat steps.txt;
	fail "a kernel starts early with a state that another core has"; }
for text in "'T1'.*may not let later tasks start before it returns: 'T2', which runs after it, has hidden state in common with it" \
	"'T2'.*may not wait by itself: 'T1', which runs before it, has hidden state in common with it"; do
	tr '\n' ' ' <told.txt | grep -q "$text" || { cat told.txt; fail "--explain does not say: $text"; }
done
for step in 0 1; do
	cp states.sk early.sk
	"$top_builddir/tests/lib/drop-await" --early early.sk $step
	fails_with "nothing orders task 'T1', which writes hidden state 0, and task 'T2', which writes hidden state 0" \
		"$skdump" --verify early.sk
	for options in '--cores 2' '--cores 3 --seed 4' '--device a3 --seed 1'; do
		fails_with "task 'T[12]': kernel [a-z]* on core [01]: race: it (reads|writes) the kernel's hidden state, which task 'T[12]' on core [01] (reads|writes); no await orders the two" \
			"$skrun" early.sk --random 1 --check-races $options
	done
	"$skrun" early.sk --random 1 --check-races --cores 1 >/dev/null
done
# On one home a core runs both calls, one after the other.
sed -i 's/stream: 1/stream: 0/' states.yaml
"$sklink" states.yaml states.o -o states.sk --explain T1 >told.txt
"$skdump" --steps states.sk >steps.txt
grep -q 'by itself' steps.txt && grep -q 'end early' steps.txt || { cat steps.txt;
	fail "a state on one home keeps kernels from starting early"; }
grep -q 'Its kernel may let later tasks start before it returns.$' told.txt || { cat told.txt;
	fail "--explain does not say that T1 may"; }
# As predicted: the state keeps kernels from starting early, with any options of the scope.
states host "early-start=0" both both >states.yaml
sed -i 's/scope: sp1/cost: {cycles: 1000000, before-wait: 400000}, &/' states.yaml
"$sklink" states.yaml states.o -o states.sk
"$skrun" --predict states.sk >predicted.txt
[ "$(awk '/^fused, early-start/ { $2 = ""; print }' predicted.txt | sort -u | wc -l)" = 1 ] || { cat predicted.txt;
	fail "a prediction starts kernels early that share a state"; }

# debug-sync-all: nothing starts before all earlier calls have returned.
states host "debug-sync-all=1" both both >states.yaml
"$sklink" states.yaml states.o -o states.sk --explain T2 >told.txt
"$skdump" --steps states.sk >steps.txt
grep -qE 'by itself|end early' steps.txt && { cat steps.txt; fail "debug-sync-all=1 lets kernels start early"; }
grep -q "may not wait by itself: its scope has debug-sync-all=1" told.txt || { cat told.txt;
	fail "--explain does not name debug-sync-all"; }
cp states.sk early.sk
"$top_builddir/tests/lib/drop-await" --early early.sk 0
fails_with "launch 'sk_sp1' has debug-sync-all, but task 'T1' starts early" "$skdump" --verify early.sk
