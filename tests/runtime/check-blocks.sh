#!/bin/bash
# skrun --guard and --check-races with kernels of blocks that wait for one another and kernels that start early. Honest
# ones pass. Accesses that break the rules, during a wait, or beside the kernel's tensors before a wait and after it,
# are found in both modes; and so is every await that a plan lacks.
. "$top_srcdir/tests/lib/lib.sh"
cat >kernels.c <<'C'
#include "skkernel.h"

enum {
	HONEST,
	WRITE_BEFORE, /* before the wait */
	READ_BEFORE,
	CONSTANT_BEFORE,
	WRITE_BEHIND, /* after the set */
	READ_BEHIND,
	FORGET, /* to wait */
	BESIDE, /* the word after y */
	BESIDE_LATE, /* when the others have met */
	INPUT, /* is written */
	FAR, /* a page after y */
};

static void part(const struct sk_block *block, const float *x, float *y, int64_t n)
{
	for (int64_t i = n * block->index / block->count; i < n * (block->index + 1) / block->count; i++)
		y[i] = x[n - 1 - i] + 1;
}

/* Starts early, and uses its scratch whenever it likes. */
void early(const struct sk_block *block, const float *x, const float *w, float *y, int64_t n, int32_t what,
	   volatile char *scratch)
{
	volatile float taken = 0;

	scratch[0] = 1;
	if (what == WRITE_BEFORE)
		y[n / 2] = 1;
	if (what == READ_BEFORE)
		taken = ((volatile const float *)x)[n - 1];
	if (what == CONSTANT_BEFORE)
		taken = ((volatile const float *)w)[0];
	scratch[1] = scratch[0];
	if (what != FORGET || block->index != 1)
		sk_wait_pre_task_end(block);
	if (what == FORGET && block->index == 1)
		return;
	part(block, x, y, n);
	if (what == BESIDE)
		y[n] = 1;
	scratch[2] = 1;
	sk_set_next_task_start(block);
	if (what == WRITE_BEHIND)
		y[n / 2] = 1;
	if (what == READ_BEHIND)
		taken = ((volatile const float *)y)[0];
	scratch[3] = scratch[2];
	(void)taken;
}
SK_KERNEL(early, "blocks early-start=both; block, in x f32[n], in w f32[1], out y f32[n], n i64, what i32, scratch s[64]");

/* The wrong access of a block while the others wait, or when they have met. */
static void wrong(const float *x, float *y, int64_t n, int32_t what)
{
	if (what == BESIDE)
		y[n] = 1;
	if (what == INPUT)
		((volatile float *)x)[0] = x[0];
	if (what == FAR)
		y[n + 1024] = 1;
}

/* In two steps through t. */
void meet(const struct sk_block *block, const float *x, float *t, float *y, int64_t n, int32_t what)
{
	part(block, x, t, n);
	if (block->index == 1)
		wrong(x, y, n, what);
	sk_sync_all(block);
	part(block, t, y, n);
	if (block->index == 1)
		wrong(x, y, n, what == BESIDE_LATE ? BESIDE : HONEST);
	sk_sync_all(block);
}
SK_KERNEL(meet, "sync-all; block, in x f32[n], out t f32[n], out y f32[n], n i64, what i32");

/* The vector side does the second step. */
void pair_mix_aic(const struct sk_block *block, const float *x, float *t, float *y, int64_t n, int32_t what)
{
	(void)y;
	(void)what;
	part(block, x, t, n);
	sk_sync_all(block);
	sk_wait_flag(block, 0);
}

void pair_mix_aiv(const struct sk_block *block, const float *x, float *t, float *y, int64_t n, int32_t what)
{
	if (block->index == 1)
		wrong(x, y, n, what);
	sk_sync_all(block);
	part(block, t, y, n);
	if (block->index == 1)
		wrong(x, y, n, what == BESIDE_LATE ? BESIDE : HONEST);
	sk_set_flag(block, 0);
}
SK_KERNEL(pair, "mix=1:2; block, in x f32[n], out t f32[n], out y f32[n], n i64, what i32");
C
compile kernels
python3 - <<'P'
import struct
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }"
header += ' ' * ((64 - (11 + len(header)) % 64) % 64) + '\n'
with open('w.npy', 'wb') as f:
    f.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode() + struct.pack('<f', 1))
P

# model DEVICE WHAT…: a network in which each of the three kernels has one behaviour.
model() {
	cat >model.yaml <<M
sklink: 1
device: $1
tensors:
  x: {dtype: f32, shape: [1000]}
  w: {dtype: f32, shape: [1], data: w.npy}
  a: {dtype: f32, shape: [1000]}
  t: {dtype: f32, shape: [1000]}
  b: {dtype: f32, shape: [1000]}
  u: {dtype: f32, shape: [1000]}
  c: {dtype: f32, shape: [1000]}
  y: {dtype: f32, shape: [1000]}
tasks:
  - {name: A, kernel: early, args: [x, w, a], set: {what: 0}, scope: sp1, blocks: 5, stream: 1}
  - {name: B, kernel: meet, args: [a, t, b], set: {what: ${2:-0}}, scope: sp1, blocks: 3}
  - {name: C, kernel: pair, args: [b, u, c], set: {what: ${3:-0}}, scope: sp1, blocks: 2, stream: 1}
  - {name: D, kernel: early, args: [c, w, y], set: {what: ${4:-0}}, scope: sp1, blocks: 4}
scopes: {sp1: {options: "stream-fusion=1"}}
M
	"$sklink" model.yaml kernels.o -o model.sk
}

# Correct kernels pass, with the right results.
for device in host a3; do
	model $device
	"$skdump" --verify model.sk >/dev/null
	"$skrun" model.sk --random 1 >plain.txt
	for options in '--cores 1' '--cores 7' '--unfused' '--device a3' '--device a3 --seed 5'; do
		for checks in --guard --check-races '--guard --check-races'; do
			"$skrun" model.sk --random 1 $checks $options >checked.txt || fail "refused: $checks $options"
			grep -v '^Guard: \|^Races: ' checked.txt | cmp plain.txt - ||
				fail "other results: $checks $options"
		done
	done
done

# found TASK KERNEL PATTERN WHATS: in every mode, wherever it runs.
found() {
	for device in host a3; do
		model $device $4
		for checks in '--guard --cores 1' '--check-races --device host --cores 5' '--check-races --seed 3' \
			'--guard --unfused --device a3'; do
			fails_with "^skrun: error: .*: task '$1': kernel $2 on [a-z ]*core [0-9]*: $3" "$skrun" \
				model.sk --random 1 $checks
		done
	done
}
fault='segmentation fault .SIGSEGV.:'
found D early "$fault write at address 0x[0-9a-f]*, at byte 2000 of tensor 'y', which the call must not touch before sk_wait_pre_task_end; at early" '0 0 1'
found D early "$fault read at address 0x[0-9a-f]*, at byte 3996 of tensor 'c', which the call must not touch before sk_wait_pre_task_end; at early" '0 0 2'
found D early "$fault read at address 0x[0-9a-f]*, at byte 0 of tensor 'w', which the call must not touch before sk_wait_pre_task_end; at early" '0 0 3'
found D early "$fault write at address 0x[0-9a-f]*, at byte 2000 of tensor 'y', which the call must not touch after sk_set_next_task_start; at early" '0 0 4'
found D early "$fault read at address 0x[0-9a-f]*, at byte 0 of tensor 'y', which the call must not touch after sk_set_next_task_start; at early" '0 0 5'
found D early "it has written right after the end of tensor 'y', of which the call may write bytes 0 to 3999" '0 0 7'
found B meet "it has written right after the end of tensor 'b', of which the call may write bytes 0 to 3999" 7
found B meet "it has written right after the end of tensor 'b', of which the call may write bytes 0 to 3999" 8
found B meet "$fault write at address 0x[0-9a-f]*, at byte 0 of tensor 'a', of which the call may only read bytes 0 to 3999" 9
found B meet "$fault write at address 0x[0-9a-f]*, [0-9]* bytes after the end of tensor 'b'" 10
found C pair "it has written right after the end of tensor 'c', of which the call may write bytes 0 to 3999" '0 7'
found C pair "it has written right after the end of tensor 'c', of which the call may write bytes 0 to 3999" '0 8'
found C pair "$fault write at address 0x[0-9a-f]*, at byte 0 of tensor 'b', of which the call may only read bytes 0 to 3999" '0 9'

# Without symbols the vector side has its kernel's name.
model a3 0 10
strip model.sk
fails_with "task 'C': kernel pair on vector core 1: $fault write at address 0x[0-9a-f]*, [0-9]* bytes after the end of tensor 'c', of which .*; at pair\+0x" \
	"$skrun" model.sk --random 1 --guard --device a3

# Without checks even the smallest of these goes unnoticed; a forgotten wait is always found.
model host 0 0 4
"$skrun" model.sk --random 1 >/dev/null
model host 0 0 6
for checks in '' --guard --check-races; do
	fails_with "task 'D': kernel early returned without sk_wait_pre_task_end on core 1" "$skrun" model.sk --random \
		1 --cores 4 $checks
done

# Awaits of kernels that wait by themselves and, on two lanes, of both sides of a mix task. A launch has as many cores
# as blocks that wait for one another need, so there are races even with --cores 1.
for device in 'host 3' 'a3 5'; do
	model ${device% *}
	await=0
	while cp model.sk dropped.sk && "$top_builddir/tests/lib/drop-await" dropped.sk $await; do
		for options in '' '--seed 1' '--seed 2 --cores 5' '--device host --cores 2' '--device host --cores 1';
			do
			fails_with "^skrun: error: superkernel sk_sp1: task '[A-D]': kernel [a-z]* on [a-z ]*core [0-9]*: race: it (reads|writes) bytes [0-9]* to [0-9]* of tensor '[a-z]', which task '[A-D]' on [a-z ]*core [0-9]* (reads|writes); no await orders the two" \
				"$skrun" dropped.sk --random 1 --check-races $options
		done
		fails_with "launch 'sk_sp1'" "$skdump" --verify dropped.sk
		await=$((await + 1))
	done
	[ $await = ${device#* } ] || fail "$await awaits have been dropped for $device"
done
