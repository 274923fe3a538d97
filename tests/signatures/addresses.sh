#!/bin/bash
# Signatures that pass addresses of symbols, callbacks and tables, and statuses that kernels leave in a parameter: code
# and data reached through an address belong to the kernel.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cat >kernels.c <<'C'
#include <math.h>
static const float lut[2] = {2, 3};
static float twice(float x) { return 2 * x; }
const void *const keep[] = {(const void *)twice, lut}; /* nothing else refers to them */
void apply(const float *x, float *y, long n, const float *table, float (*f)(float), int *info)
{
	for (long i = 0; i < n; i++)
		y[i] = f(x[i]) + table[1];
	*info = x[0] < 0 ? 7 : 0;
}
void longer(const float *x, float *y, long n, const float *table, float (*f)(float), long *info)
{
	for (long i = 0; i < n; i++)
		y[i] = f(x[i]) + table[1];
	*info = x[0] < 0 ? 7L << 32 : 0;
}
C
cat >other.c <<'C'
static int calls;
float counted(float x) { return x + (float)calls++; }
const float table[2] = {0, 10};
_Thread_local float local[2];
C
compile kernels && compile other
ar qc libother.a other.o
model() { # FIRST-VALUE TABLE FUNCTION [KERNEL]
	kernel=${4:-apply}
	type=i32
	[ $kernel = apply ] || type=i64
	cat >model.yaml <<M
sklink: 1
tensors:
  x: {dtype: f32, shape: [4], data: [$1, 2, 3, 4]}
  y: {dtype: f32, shape: [4], role: output}
  z: {dtype: f32, shape: [4], role: output}
kernels:
  k: {symbol: $kernel, signature: "in x f32[n], out y f32[n], n i64, table ptr = &$2, f ptr = &$3, ref info $type -> status info"}
tasks:
  - {name: one, kernel: k, args: [x, y], scope: s}
  - {name: two, kernel: k, args: [y, z], stream: 1, scope: s}
M
	shift 3
	"$sklink" model.yaml kernels.o libother.a -o model.sk
}
expect() { # z's values
	for options in '' '--cores 1' '--cores 2' '--cores 3' '--cores 7' --serial --unfused --guard; do
		rm -f z.npy
		"$skrun" model.sk --output z=z.npy $options >/dev/null
		[ "$(echo $(od -An -tf4 -j128 z.npy))" = "$*" ] || { od -tf4 -j128 z.npy; fail "results, $options"; }
	done
	"$skdump" --verify model.sk >verdict.txt
	grep -q '^verified: ' verdict.txt || { cat verdict.txt; fail "not verified"; }
}

# Local symbols of the kernel's object.
model 1 lut twice
expect 13 17 21 25
model 1 lut twice longer
expect 13 17 21 25

# Global ones elsewhere, which pull a member; hidden state that a callback keeps orders tasks in two streams.
model 1 table counted
"$skdump" model.sk --launches >launches.txt
expect 25 28 31 34
grep -q 'state' <("$skdump" --explain=two model.sk) || { "$skdump" --explain=two model.sk;
	fail "the callback's state does not count"; }

# Imports.
model 1 lut floorf
expect 7 8 9 10

# The instruction sets of a callback's object count, and of that object only the sections that the callback reaches are
# in the package.
cat >fast.c <<'C'
static const float step = 5;
float fast(float x) { return x + *(const volatile float *)&step; }
float unused(float x) { return x; }
C
if $KERNEL_CC $KERNEL_CFLAGS -ffunction-sections -march=x86-64-v2 -mneeded -c fast.c -o fast.o 2>/dev/null; then
	ar rc libother.a fast.o
	model 1 lut twice
	"$skdump" model.sk | grep -q 'instruction sets  none declared' || fail "a member that nobody reaches counts"
	model 1 lut fast
	"$skdump" model.sk | grep -q 'instruction sets .*x86-64-v2' ||
		fail "the callback's instruction sets do not count"
	expect 17 18 19 20
	nm model.sk >names.txt
	grep -q ' fast$' names.txt || fail "the callback is not in the package"
	! grep -q ' unused$' names.txt || fail "what only stands beside the callback is in the package"
fi

# A status ends the launch, from either half of 64 bits.
for kernel in apply longer; do
	model -1 lut twice $kernel
	for options in '' '--cores 1' --serial --unfused --guard; do
		fails_with "(task 'one': kernel k returned status [1-9]|serial run: a kernel returned status [1-9])" \
			"$skrun" model.sk $options
	done
done

# Symbols without an address that is known when linking, in a manifest and in the proof.
fails_with "kernel 'k': its signature passes the address of 'local': it is thread-local" model 1 local twice
fails_with "kernel 'k': its signature passes the address of 'nothing': no input defines it" model 1 nothing twice
fails_with "kernel 'k': its signature passes the address of 'exit': it ends the launch that calls it" model 1 lut exit
fails_with "kernel 'k': its signature passes the address of 'stderr': it is data of the C library" model 1 stderr twice

# With -r, and without a symbol table.
model 1 lut twice
"$sklink" -r model.yaml kernels.o libother.a -o part.o
"$skdump" --verify part.o >verdict.txt
grep -q '^verified: ' verdict.txt || fail "the object is not verified"
"$sklink" -s model.yaml kernels.o libother.a -o model.sk
status=0
"$skdump" --verify model.sk >verdict.txt || status=$?
[ $status = 2 ] && grep -q '^not proved: 2 symbols that kernels get' verdict.txt || { cat verdict.txt;
	fail "stripped"; }
