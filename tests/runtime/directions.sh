#!/bin/bash
# Kernels that belie the direction of a parameter: one that writes through a pointer that is for reading, and one that
# leaves part of an output as it is. --verify and --guard find both, wherever the tensors lie, and accuse no kernel that
# keeps to its signature.
. "$top_srcdir/tests/lib/lib.sh"

cat >kernels.c <<'C'
#include "skkernel.h"

/* As XLA compiles x + b where the sum gets the buffer of x: y stays as it is. */
void in_place(float *x, const float *b, float *y, int64_t n)
{
	(void)y;
	for (int64_t i = 0; i < n; i++)
		x[i] += b[i];
}
SK_KERNEL(in_place, "split=n; in x f32[n], in b f32[n], out y f32[n], n i64");

/* Right, but it uses an input up. */
void consume(float *x, const float *b, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		y[i] = x[i] + b[i];
		x[i] = 7;
	}
}
SK_KERNEL(consume, "in x f32[n], in b f32[n], out y f32[n], n i64");

void add(const float *x, const float *b, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + b[i];
}
SK_KERNEL(add, "split=n; in x f32[n], in b f32[n], out y@x f32[n], n i64");

void copy(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i];
}
SK_KERNEL(copy, "split=n; in x f32[n], out y f32[n], n i64");

/* All but an element in the middle. */
void leave(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		if (i != n / 2)
			y[i] = x[i];
}
SK_KERNEL(leave, "in x f32[n], out y f32[n], n i64");

/* Writes one element past its part. */
void beyond(const float *x, float *y, int64_t n)
{
	copy(x, y, n);
	y[n] = 5;
}
SK_KERNEL(beyond, "in x f32[n], out y f32[n], n i64");

void rows(const float *x, float *y, int64_t r, int64_t w, int64_t ldy)
{
	for (int64_t i = 0; i < r * w; i++)
		y[i / w * ldy + i % w] = x[i];
}
SK_KERNEL(rows, "split=r; in x f32[r,w], out y f32[r,w:ldy], r i64, w i64, ldy i64");

void first_of_three(const uint8_t *x, uint8_t *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[3 * i];
}
SK_KERNEL(first_of_three, "split=n; in x u8[n*3], out y u8[n], n i64");

/* All but the last 16 bytes of each call. */
void leave_bytes(const uint8_t *x, uint8_t *y, int64_t n)
{
	first_of_three(x, y, n - 16);
}
SK_KERNEL(leave_bytes, "split=n; in x u8[n*3], out y u8[n], n i64");
C
compile kernels

# link NAME TASK…: a network with tensors for all of them.
link() {
	local name=$1
	shift
	{
		printf 'sklink: 1\ntensors:\n'
		tensors '[1000]' x b t y z
		printf '  one: {dtype: f32, shape: [1000], fill: 1}\n'
		printf '  state: {dtype: f32, shape: [1000], role: inout}\n'
		printf '  kept: {dtype: f32, shape: [10, 100], unwritten: keep}\n'
		printf '  columns: {of: kept, offset: [0, 0], shape: [10, 40]}\n'
		printf '  start: {of: kept, offset: [0, 0], shape: [1, 100]}\n'
		printf '  m: {dtype: f32, shape: [10, 40]}\n  row: {of: x, offset: [0], shape: [100]}\n'
		printf 'tasks:\n'
		printf '  - {scope: all, name: %s\n' "$@"
	} >$name.yaml
	"$sklink" $name.yaml kernels.o -o $name.sk 2>warnings.txt || { cat warnings.txt; fail "$name is not linked"; }
}

# Honest ones, in place, on state and with bytes that are kept, run on any device.
link honest 'a, kernel: add, args: [x, b, t]}' 'b, kernel: add, args: [t, one, y]}' \
	'c, kernel: add, args: [state, t, state]}' \
	'd, kernel: rows, args: [m, columns]}' 'e, kernel: copy, args: [y, z]}'
for options in '' '--repeat 6' '--cores 3' '--device a3' '--guard --repeat 2' '--check-races'; do
	"$skrun" honest.sk --random 1 --verify $options >out.txt || fail "refused: $options"
done

# found WHAT NAME PATTERN-OF-VERIFY PATTERN-OF-GUARD
found() {
	fails_with "^skrun: error: $2" "$skrun" $1.sk --random 1 --verify
	fails_with "^skrun: error: $2" "$skrun" $1.sk --random 1 --verify --cores 1 --repeat 2
	for options in '' '--unfused' '--device a3' '--cores 3' '--repeat 2'; do
		fails_with "^skrun: error: .*$3" "$skrun" $1.sk --random 1 --guard $options
	done
}

# An input and a constant are read-only in every run.
link input 'a, kernel: in_place, args: [x, b, y]}'
link constant 'a, kernel: in_place, args: [one, b, y]}'
for name in input constant; do
	tensor=$([ $name = input ] && echo x || echo one)
	found $name ".*task 'a': kernel in_place on core [0-9]*: segmentation fault .SIGSEGV.: write at address 0x[0-9a-f]*, at byte [0-9]* of tensor '$tensor', an? $name, which no kernel may write" \
		"task 'a': kernel in_place .*write at address 0x[0-9a-f]*, at byte [0-9]* of tensor '$tensor', of which the call may only read"
	for options in '' --unfused --serial; do
		fails_with "task 'a': kernel in_place.*: write at address .*, at byte 0 of tensor '$tensor', an? $name, which no kernel may write" \
			"$skrun" $name.sk --random 1 --cores 1 $options
	done
done

# A temporary, state, and an output that another task has written.
link temporary 'a, kernel: copy, args: [x, t]}' 'b, kernel: consume, args: [t, b, y]}'
link inout 'a, kernel: consume, args: [state, b, y]}' 'b, kernel: copy, args: [b, state]}'
link output 'a, kernel: copy, args: [x, y]}' 'b, kernel: consume, args: [y, b, z]}'
for name in temporary.b.t inout.a.state output.b.y; do
	IFS=. read -r name task tensor <<<"$name"
	found $name "task '$task': kernel consume has written at byte 0 of tensor '$tensor', which it may only read" \
		"task '$task': kernel consume .*: write at address 0x[0-9a-f]*, at byte [0-9]* of tensor '$tensor', of which the call may only read"
done

# Part of an output, of a temporary, of state that a task overwrites.
left='it has not written bytes 2000 to 2003 of tensor'
link unwritten 'a, kernel: leave, args: [x, y]}'
found unwritten "precision: neither the unfused nor the serial run has written 'y' at \[500\] \(1 of 1000 elements differ\): .*--guard" \
	"task 'a': kernel leave on .*core 0: $left 'y'"
link between 'a, kernel: leave, args: [x, t]}' 'b, kernel: copy, args: [t, y]}'
found between "precision: 'y' differs first at \[500\]: serial run .*, unfused run .* \(1 of 1000 elements differ\)" \
	"task 'a': kernel leave on .*core 0: $left 't'"
link overwritten 'a, kernel: leave, args: [x, state]}'
fails_with "task 'a': kernel leave on .*core 0: $left 'state'" "$skrun" overwritten.sk --random 1 --guard

# Bytes that an output keeps.
link kept 'a, kernel: beyond, args: [row, start]}'
found kept "a kernel has written byte 400 of tensor 'kept', which no task writes; --guard says which one" \
	"task 'a': kernel beyond on .*core 0: it has written at byte 400 of tensor 'kept'"

# Bytes that calls leave one at a time: tiles of a byte.
cat >tiles.yaml <<'Y'
sklink: 1
tensors: {x: {dtype: u8, shape: [6000]}, y: {dtype: u8, shape: [2000]}, z: {dtype: u8, shape: [2000]}}
tasks:
  - {scope: all, name: a, kernel: first_of_three, args: [x, y]}
  - {scope: all, name: b, kernel: leave_bytes, args: [x, z]}
scopes: {all: {options: tile-bytes=1}}
Y
"$sklink" tiles.yaml kernels.o -o tiles.sk
"$skdump" tiles.sk | grep -q 'group tiles of 1$' || fail 'tiles.yaml has no tiles of a byte'
for options in '' '--unfused' '--cores 3'; do
	fails_with "task 'b': kernel leave_bytes on .*: it has not written bytes [0-9]* to [0-9]* of tensor 'z'" \
		"$skrun" tiles.sk --random 1 --guard $options
done
sed 's/leave_bytes/first_of_three/' tiles.yaml >whole.yaml
"$sklink" whole.yaml kernels.o -o whole.sk
"$skrun" whole.sk --random 1 --verify --guard --cores 3 >out.txt || fail 'a whole output is refused'
