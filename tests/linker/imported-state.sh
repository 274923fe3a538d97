#!/bin/bash
# State that functions of the C library keep is hidden state of the kernels that reach them: rand, srand, random and
# srandom have one in common.
. "$top_srcdir/tests/lib/lib.sh"
KERNEL_CFLAGS="$KERNEL_CFLAGS -ffunction-sections -fdata-sections" # all symbols of a section count as one
cat >draws.c <<'C'
#include <stdlib.h>
#include "skkernel.h"

/* Dropout as people write it. */
void dropout(const int32_t *x, int32_t *y, int64_t n, uint32_t seed)
{
	srand(seed);
	for (int64_t i = 0; i < n; i++)
		y[i] = rand() & 1 ? x[i] : 0;
}
SK_KERNEL(dropout, "in x i32[n], out y i32[n], n i64, seed u32");

/* The same state by other names, through a function and a table of pointers. */
static long (*const generators[])(void) = {random};

__attribute__((noinline)) static int32_t next(int64_t i)
{
	return (int32_t)generators[i % (int64_t)(sizeof(generators) / sizeof(*generators))]();
}

void noise(int32_t *y, int64_t n, uint32_t seed)
{
	srandom(seed);
	for (int64_t i = 0; i < n; i++)
		y[i] = next(i);
}
SK_KERNEL(noise, "out y i32[n], n i64, seed u32");

/* It draws before its wait. */
void early(const struct sk_block *block, const int32_t *x, int32_t *y, int64_t n, uint32_t seed)
{
	int32_t first[64];

	srand(seed);
	for (int i = 0; i < 64; i++) {
		first[i] = rand();
		for (volatile int32_t turn = 0; turn < 10000;)
			turn++;
	}
	sk_wait_pre_task_end(block);
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + first[i % 64];
}
SK_KERNEL(early, "early-start=wait; block, in x i32[n], out y i32[n], n i64, seed u32");

void plain(const int32_t *x, int32_t *y, int64_t n, uint32_t seed)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + (int32_t)seed;
}
SK_KERNEL(plain, "in x i32[n], out y i32[n], n i64, seed u32");
C
cat >parts.c <<'C'
#include <stdlib.h>
#include "skkernel.h"

void drops(const int32_t *x, int32_t *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = rand() & 1 ? x[i] : 0;
}
SK_KERNEL(drops, ATTRIBUTES "; " BLOCK "in x i32[n], out y i32[n], n i64");
C
# A function that a constructor stores in a kernel's table may be such a function.
cat >left.c <<'C'
#include <stdlib.h>
#include "skkernel.h"

static int (*generator)(void);

__attribute__((constructor)) static void choose(void)
{
	generator = rand;
}

void left(const int32_t *x, int32_t *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + generator();
}
SK_KERNEL(left, "in x i32[n], out y i32[n], n i64");
C
compile draws && compile left

# model DEVICE KERNEL...: a task each, in streams 0, 1, 0, 1 …, that have nothing but the state in common.
model() {
	printf "sklink: 1\ndevice: $1\ntensors:\n  x: {dtype: i32, shape: [100000]}\n"
	shift
	printf "  y%d: {dtype: i32, shape: [100000]}\n" $(seq $#)
	echo "tasks:"
	local i=0 kernel args
	for kernel; do
		i=$((i + 1))
		args="x, y$i"
		[ $kernel = noise ] && args=y$i
		echo "  - {name: T$i, kernel: $kernel, args: [$args], set: {seed: $i}, stream: $(((i - 1) % 2)), scope: sp1}"
	done
}
for device in host a3; do
	for kernels in "dropout dropout" "noise dropout" "dropout noise noise dropout" "early early" "noise early"; do
		model $device $kernels plain >model.yaml
		"$sklink" model.yaml draws.o -o model.sk
		"$skdump" --verify model.sk
		"$skdump" --steps model.sk >steps.txt
		i=1
		for kernel in $(echo "$kernels" | cut -s -d' ' -f2-); do
			grep -qE " T$((i + 1)) .*plain +awaits T$i\$" steps.txt || { cat steps.txt;
				fail "T$((i + 1)) does not await T$i"; }
			i=$((i + 1))
		done
		grep -qE " T$((i + 1)) .*plain\$" steps.txt || { cat steps.txt; fail "a kernel without state awaits"; }
		for cores in 2 3; do "$skrun" model.sk --random 1 --verify --repeat 2 --device host --cores $cores; done
		for seed in 1 2 3; do "$skrun" model.sk --random 1 --verify --device a3 --seed $seed; done
		"$skrun" model.sk --random 1 --check-races >/dev/null
	done
done
"$sklink" model.yaml draws.o -o model.sk --explain T2 >told.txt
grep -q "'T1' writes the C library's random numbers, which it writes as well: 'T2' awaits 'T1'" told.txt || {
	cat told.txt; fail "--explain does not name the state"; }
# Without the await checked runs find it.
cp model.sk dropped.sk
"$top_builddir/tests/lib/drop-await" dropped.sk 0
fails_with "task 'T1', which writes the C library's random numbers, and task 'T2', which writes the C library's random numbers" "$skdump" --verify dropped.sk
fails_with "race: it (reads|writes) the C library's random numbers, which task 'T[12]'" "$skrun" dropped.sk --random 1 \
	--check-races

# Parallel kernels.
cat >parts.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: i32, shape: [1000]}
  y: {dtype: i32, shape: [1000]}
tasks:
  - {name: drop, kernel: drops, args: [x, y]}
M
# parts ATTRIBUTES BLOCK
parts() {
	$KERNEL_CC $KERNEL_CFLAGS -I"$top_srcdir/format" -DATTRIBUTES="\"$1\"" -DBLOCK="\"$2\"" -c parts.c -o parts.o
	"$sklink" parts.yaml parts.o -o parts.sk
}
fails_with "^sklink: error: parts.yaml:6:26: kernel 'drops' has hidden state \(the C library's random numbers\) and cannot run on several cores at once; if it can, mark it reentrant" \
	parts split=n ""
grep -q "^>>> rand, srand, random and srandom share one state" err.txt || { cat err.txt;
	fail "nothing is said about the state"; }
[ ! -e parts.sk ] || fail "a package has been written"
parts "split=n reentrant" ""
"$skrun" parts.sk --random 1 >/dev/null

# The address of such a function in a kernel's own state also leads to it.
cat >left.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: i32, shape: [1000]}
  y: {dtype: i32, shape: [1000]}
  z: {dtype: i32, shape: [1000]}
tasks:
  - {name: T1, kernel: left, args: [x, y], scope: sp1}
  - {name: T2, kernel: dropout, args: [x, z], set: {seed: 3}, stream: 1, scope: sp1}
M
"$sklink" left.yaml left.o draws.o -o left.sk
"$skdump" --steps left.sk | grep -q ' T2 .*awaits T1$' || fail "an address that a constructor leaves leads nowhere"

# A function of that name in an input has its own state, in a section, and so has one of a static library.
cat >own.c <<'C'
static unsigned state;
int rand(void)
{
	return (int)(state = state * 1103515245 + 12345) >> 16 & 0x7fff;
}
void srand(unsigned seed)
{
	state = seed;
}
C
compile own
model host dropout dropout >model.yaml
"$sklink" model.yaml draws.o own.o -o own.sk --explain T2 >told.txt
grep -q "'T1' writes hidden state [0-9]*, which it writes as well: 'T2' awaits 'T1'" told.txt || { cat told.txt;
	fail "own.o's state is not seen"; }
grep -q "C library" told.txt && { cat told.txt; fail "the C library's state is not reached"; }
"$skrun" own.sk --random 1 --verify --cores 2
