#!/bin/bash
# --unresolved-symbols=trap and --warn-unresolved-symbols: a call of an undefined function ends the launch and is named;
# other uses of it are refused.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cat >kernels.c <<'C'
int gone(int), lost(int);
extern int missing_data;
static int (*volatile function)(int);

static __attribute__((noinline)) int helper(int x) { return gone(x) + 1; }
void scale(const float *x, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i] == 1234 ? (float)helper(3) : 2 * x[i];
}
int leave(const float *x) { return x[0] == 77 ? lost(3) : 0; }
int reads_data(const float *x) { return missing_data + (int)x[0]; }
int takes_address(const float *x) { function = gone; return function((int)x[0]) + gone(3); }
C
$KERNEL_CC -O1 -fPIC -ffunction-sections -fno-optimize-sibling-calls -fno-inline -c kernels.c -o kernels.o
# A jump instead of a call, and a call by way of the GOT.
$KERNEL_CC -O1 -fPIC -ffunction-sections -foptimize-sibling-calls -fno-inline -c kernels.c -o jumps.o
$KERNEL_CC -O1 -fPIC -ffunction-sections -fno-plt -fno-inline -c kernels.c -o slots.o
$KERNEL_CC -O1 -fPIC -ffunction-sections -fno-plt -fno-inline -Wa,-mrelax-relocations=no -c kernels.c -o plain-slots.o \
	# as rustc

model() {
	cat >model.yaml <<-M
	sklink: 1
	tensors:
	  x: {dtype: f32, shape: [512], role: input}
	  t: {dtype: f32, shape: [512]}
	  y: {dtype: f32, shape: [512]}
	kernels:
	  double: {symbol: scale, signature: "in x f32[n], out y f32[n], n i64"}
	  leave: {symbol: ${leave:-leave}, signature: "in x f32[512] -> status"}
	tasks:
	  - {name: first, kernel: double, args: [x, t], scope: all}
	  - {name: second, kernel: double, args: [t, y], scope: all}
	  - {name: third, kernel: leave, args: [x], scope: all}
	M
}
model

# input VALUE: in.npy, with that first element.
input() {
	printf '\x93NUMPY\x01\x00v\x00%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (512,), }" >in.npy
	printf "$1" >>in.npy
	head -c $((511 * 4)) /dev/zero >>in.npy
}
one='\0\0\x80\x3f' to_gone='\0\x40\x9a\x44' half_of_it='\0\x40\x1a\x44' to_lost='\0\0\x9a\x42' # 1, 1234, 617, 77

# ends PACKAGE PATTERN OPTION…: a run on in.npy fails with that message, and the device lives on.
ends() {
	package=$1 pattern=$2
	shift 2
	fails_with "$pattern" "$skrun" $package --input x=in.npy "$@"
	! grep 'device is lost' err.txt || fail "$package: the device is lost"
}
for object in kernels jumps slots plain-slots; do
	"$sklink" model.yaml $object.o --unresolved-symbols=trap -o $object.sk
	strip $object.sk -o $object-stripped.sk
	"$skdump" --verify $object.sk >out.txt || fail "skdump --verify $object.sk"
	for package in $object.sk $object-stripped.sk; do
		"$skdump" $package >out.txt
		grep -qE '^  not linked +gone$' out.txt && grep -qE '^ +lost$' out.txt || { cat out.txt;
			fail "skdump does not list them"; }
		input $one
		for cores in 1 2 3 7; do
			"$skrun" $package --input x=in.npy --verify --cores $cores >out.txt || { cat out.txt;
				fail "$package fails"; }
		done
		input $to_gone
		ends $package "task 'first': kernel double called gone, which was not linked, on core 0, at " --cores 2
		ends $package "task 'first': kernel double called gone, which was not linked, on core 0, at " --cores \
			2 --guard
		input $half_of_it
		ends $package "task 'second': kernel double called gone, which was not linked, on core 0, at " --cores 2
		ends $package "task 'second': kernel double called gone, which was not linked, on core 0, at " --unfused
		ends $package "serial run: task 'second': kernel double: gone, which was not linked, was called at " \
			--serial
		input $to_lost
		ends $package "task 'third': kernel leave called lost, which was not linked, on core 0, at " --cores 2
	done
	nm $object.sk | grep -q ' t gone@trap$' || fail "$object.sk: the trap has no name in the symbol table"
done
# The place: in the function that made the call. A function that has jumped is not on the stack any more.
ends kernels.sk ' at leave\+0x[0-9a-f]+ \(0x[0-9a-f]+ in the package\)$'
ends jumps.sk ' at (sk_all|leave)\+0x' # not every compiler makes a jump of it
input $to_gone
ends kernels.sk ' at helper\+0x'
ends slots.sk ' at helper\+0x'

# Without libskrt the instruction is one that no processor has.
cat >main.c <<'C'
#include <dlfcn.h>
int main(int argc, char **argv)
{
	static float x[512], y[512];
	static char workspace[1 << 16] __attribute__((aligned(64)));
	void *tensors[] = {x, y}, *package = dlopen(argv[1], RTLD_NOW);
	int (*serial)(void *const *, void *) = (int (*)(void *const *, void *))dlsym(package, "sk_all_serial");
	x[3] = argc > 2 ? 1234 : 5;
	return serial(tensors, workspace) || y[3] != 20;
}
C
$KERNEL_CC -O1 main.c -o main -ldl
./main ./kernels.sk || fail "a serial entry of dlopen fails"
status=0
(ulimit -c 0; ./main ./kernels.sk 1234) 2>err.txt || status=$?
[ $status = $((128 + 4)) ] || fail "a trap without libskrt gives status $status, not SIGILL"

# Names, which add up; a name without a use costs nothing.
"$sklink" model.yaml kernels.o --unresolved-symbols=trap:gone,nobody --unresolved-symbols=trap:lost -o named.sk
cmp named.sk kernels.sk || fail "names make another package"

refused '^sklink: error: undefined symbol: lost$' kernels.o --unresolved-symbols=trap:gone
! grep -q 'undefined symbol: gone' err.txt || fail "a named function is missing"
refused '^sklink: error: undefined symbol: gone$' kernels.o --unresolved-symbols=trap --unresolved-symbols=report-all
refused '^sklink: error: undefined symbol: gone$' kernels.o --unresolved-symbols=ignore-in-shared-libs
grep -q -- '--unresolved-symbols=trap)' err.txt || fail "the way out is not named"
refused '^sklink: error: --unresolved-symbols=ignore-all: calls would lead nowhere' kernels.o \
	--unresolved-symbols=ignore-all
refused '^sklink: error: --unresolved-symbols=ignore-in-object-files: calls would' kernels.o --unresolved-symbols \
	ignore-in-object-files
refused "^sklink: error: --unresolved-symbols wants report-all, .* not 'all'" kernels.o --unresolved-symbols=all
refused '^sklink: error: --unresolved-symbols=trap: a name is empty' kernels.o --unresolved-symbols=trap:gone,
refused '^sklink: error: undefined symbol: needed' kernels.o --unresolved-symbols=trap -u needed

# Warnings.
"$sklink" model.yaml kernels.o --warn-unresolved-symbols -o warned.sk 2>err.txt
cmp warned.sk kernels.sk || fail "warnings make another package"
grep -qx 'sklink: warning: undefined symbol: gone; a call of it ends the launch' err.txt || { cat err.txt;
	fail "no warning"; }
grep -q '^>>> referenced by kernels.o:(.text.helper+0x[0-9a-f]*) in helper$' err.txt || { cat err.txt;
	fail "who calls it is not said"; }
refused 'undefined symbol: gone; a call of it' kernels.o --warn-unresolved-symbols --fatal-warnings
refused '^sklink: error: undefined symbol: gone$' kernels.o --warn-unresolved-symbols --error-unresolved-symbols

# Data, and an address that may be data's.
leave=reads_data model
refused '^sklink: error: undefined symbol: missing_data; only calls can trap' kernels.o --unresolved-symbols=trap
leave=takes_address model
refused '^sklink: error: undefined symbol: gone; only calls can trap' kernels.o --warn-unresolved-symbols
refused '^sklink: error: undefined symbol: gone; only calls can trap' slots.o --unresolved-symbols=trap:gone,lost

# An object leaves undefined symbols to the next linker.
model
"$sklink" -r model.yaml kernels.o --unresolved-symbols=trap -o linked.o
nm -u linked.o | grep -q ' U gone$' || fail "-r: the function is not undefined"
"$sklink" -r model.yaml kernels.o -o same.o
cmp linked.o same.o || fail "-r: traps make another object"

# Functions that call different ones are not folded.
"$sklink" model.yaml kernels.o --unresolved-symbols=trap --icf=all -o folded.sk
input $to_lost
ends folded.sk 'called lost, which was not linked'
