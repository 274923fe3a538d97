#!/bin/bash
# --unresolved-symbols=trap and --warn-unresolved-symbols: a use of an undefined symbol ends the launch and is named.
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
		grep -A1 -E '^  not linked +lost$' out.txt | grep -qE '^ +gone$' || { cat out.txt;
			fail "skdump does not list them, that of a kernel itself first"; }
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

# Data, and an address that may be data's: a use of either ends the launch too.
leave=reads_data model
"$sklink" model.yaml kernels.o --unresolved-symbols=trap -o data.sk
input $one
ends data.sk "task 'third': kernel leave read missing_data, which was not linked, on core 0, at "
leave=takes_address model
for object in kernels jumps slots plain-slots; do
	"$sklink" model.yaml $object.o --unresolved-symbols=trap:gone,lost -o address.sk
	ends address.sk "task 'third': kernel leave called gone, which was not linked, on core 0, at "
done
"$sklink" model.yaml kernels.o --warn-unresolved-symbols -o address.sk 2>err.txt
grep -qx 'sklink: warning: undefined symbol: gone; a use of it ends the launch' err.txt || { cat err.txt;
	fail "no warning"; }

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

# Every kind of use, with each way that compilers have to reach a symbol: the message has the name, the distance from it
# and the place, in a stripped package too. The use of an address alone is none.
cat >uses.c <<'C'
#include <string.h>
int gone(int), unknown(int);
extern int missing_data, missing_table[];
extern const char missing_bytes[];
extern __thread int missing_own;
int weak_one(int) __attribute__((weak));
static int (*volatile function)(int);
int (*hook)(int);
static volatile long length = 2000;
int *const pointers[] = {&missing_table[4], missing_table - 2};
int uses(const int *x, int *y)
{
	switch (x[0]) {
	case 1: y[0] = missing_data; break;
	case 2: missing_data = 4; break;
	case 3: y[0] = missing_table[x[1] - 1]; break;
	case 4: function = gone; return function(3) + 1;
	case 5: y[0] = *pointers[x[1]]; break;
	case 6: y[0] = missing_own; break;
	case 7: return hook(3) + 1;
	case 8: return weak_one ? weak_one(3) + 1 : 0;
	case 9: memcpy(y, missing_bytes, x[1] ? 8 : length); break;
	case 10: y[0] = missing_bytes != 0; break;
	case 11: return weak_one(3) + 1;
	case 12: return gone(3) + 1;
	}
	return 0;
}
static __attribute__((noinline)) int deeper(int x) { return x == 777777 ? unknown(x) + 1 : x; }
__attribute__((noinline)) int helper(int x) { return x == 77777 ? gone(x) + 1 : deeper(x) + 2; }
int second(const int *x) { return helper(x[0]) == 1 ? 5 : 0; }
C
cat >uses.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: i32, shape: [2], role: input}
  y: {dtype: i32, shape: [512], role: output}
kernels:
  uses: {symbol: uses, signature: "in x i32[2], out y i32[512] -> status"}
  second: {symbol: second, signature: "in x i32[2] -> status"}
tasks:
  - {name: first, kernel: uses, args: [x, y]}
  - {name: second, kernel: second, args: [x]}
M
# numbers NUMBER INDEX: use.npy, with these elements.
numbers() {
	printf '\x93NUMPY\x01\x00v\x00%-117s\n' "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }" >use.npy
	printf "\\x$(printf %x $1)\\0\\0\\0\\x$2\\0\\0\\0" >>use.npy
}
# use NUMBER INDEX PATTERN [OPTION…]: that use fails with that message.
use() {
	numbers $1 $2
	pattern=$3
	shift 3
	fails_with "$pattern" "$skrun" uses.sk --input x=use.npy "$@"
	! grep 'device is lost' err.txt || fail "$pattern: the device is lost"
}
start="task 'first': kernel uses"
end=", which was not linked, on core 0, at "
$KERNEL_CC -O1 -fPIC -c -w uses.c -o uses.o
for flags in -fPIC "-fPIC -fno-plt -Wa,-mrelax-relocations=no" "-fPIC -mcmodel=large" "-fPIC -mcmodel=medium"; do
	# shellcheck disable=SC2086
	$KERNEL_CC -O1 $flags -fno-optimize-sibling-calls -c -w uses.c -o uses.o || continue
	"$sklink" uses.yaml uses.o --unresolved-symbols=trap -o uses.sk -M >map.txt
	"$skdump" --verify uses.sk >out.txt || fail "skdump --verify, $flags"
	for stripped in '' strip; do
		[ -z "$stripped" ] || strip uses.sk
		for option in '' --guard --unfused; do
			use 1 0 "$start read missing_data$end" $option
		done
		use 2 0 "$start wrote missing_data$end"
		use 3 3 "$start read missing_table\+0x8$end"
		use 3 0 "$start read missing_table-0x4$end"
		use 4 0 "$start called gone$end"
		use 5 0 "$start read missing_table\+0x10$end"
		use 5 1 "$start read missing_table-0x8$end"
		use 6 0 "$start read missing_own$end"
		use 9 1 "$start read missing_bytes$end"
		use 9 0 "$start read missing_bytes[+0-9a-fx]*, which was not linked, on core 0, at .* of libc"
		use 12 0 "$start called gone$end"
		use 7 0 "$start on core 0: segmentation fault .SIGSEGV.: instruction fetch at address 0x0; called at "
		use 2 0 "serial run: $start: missing_data, which was not linked, was written at " --serial
		for number in 8 10; do
			numbers $number 0
			"$skrun" uses.sk --input x=use.npy >out.txt || { cat out.txt; fail "use $number fails"; }
		done
	done
done

# Call sites and hooks have names in a package with symbols; the map has the uses, those of kernels themselves first.
$KERNEL_CC -O1 -fPIC -fno-optimize-sibling-calls -ffunction-sections -c -w uses.c -o uses.o
"$sklink" uses.yaml uses.o --unresolved-symbols=trap -o uses.sk -M >map.txt
use 2 0 ', at uses\+0x[0-9a-f]* \(0x[0-9a-f]* in the package\)$'
use 7 0 "called at uses\+0x[0-9a-f]* \(.*\), by the pointer 'hook', which is 0$"
use 11 0 'called at uses\+0x[0-9a-f]* \(.*\), which calls a weak function that was not linked$'
sed -n '/^Not linked: a use ends its launch/,/^$/p' map.txt >out.txt
sed -n '/^Not linked/,$p' map.txt | sed -n '3,/^$/s/: used by.*, /: /p' >list.txt
[ "$(tail -1 list.txt)" = "unknown: 2 references away from kernel second" ] || { cat list.txt; fail "the nearest uses are not first"; }
sort list.txt | diff - <(sort <<'L'
missing_data: kernel uses itself
missing_table: kernel uses itself
gone: kernel uses itself
missing_own: kernel uses itself
missing_bytes: kernel uses itself
unknown: 2 references away from kernel second
L
) || fail "the map does not list the uses"

# Without libskrt a use is a fault.
"$sklink" uses.yaml uses.o --unresolved-symbols=trap -o uses.sk
cat >plain.c <<'C'
#include <dlfcn.h>
int main(int argc, char **argv)
{
	static int x[2], y[512];
	void *tensors[] = {x, y}, *package = dlopen(argv[1], RTLD_NOW);
	int (*serial)(void *const *, void *) = (int (*)(void *const *, void *))dlsym(package, "sk_task_first_serial");
	x[0] = argc == 2 ? 10 : argc;
	return serial(tensors, 0);
}
C
$KERNEL_CC -O1 plain.c -o plain -ldl
./plain ./uses.sk || fail "dlopen: a use that is none fails"
for arguments in "1 2" "1 2 3 4" "1 2 3 4 5"; do # missing_table, gone by a pointer, missing_own
	status=0
	# shellcheck disable=SC2086
	(ulimit -c 0; ./plain ./uses.sk $arguments) 2>err.txt || status=$?
	[ $status = $((128 + 11)) ] || fail "dlopen: $arguments: a use gives status $status, not SIGSEGV"
done

# What no trap can serve.
echo 'extern __thread int own __attribute__((tls_model("initial-exec"))); int uses(const int *x, int *y)
	{ y[0] = own; return 0; } int second(const int *x) { return 0; }' >near.c
$KERNEL_CC -O1 -fPIC -c near.c -o near.o
fails_with '^sklink: error: undefined symbol: own; no trap can serve this use' "$sklink" uses.yaml near.o -o near.sk \
	--unresolved-symbols=trap
echo 'void absent(void); __attribute__((section(".init_array"), used)) void (*const start)(void) = absent; int uses(
	const int *x, int *y) { return 0; } int second(const int *x) { return 0; }' >start.c
$KERNEL_CC -O1 -fPIC -c start.c -o start.o
fails_with '^sklink: error: undefined symbol: absent; no trap can serve this use' "$sklink" uses.yaml start.o -o near.sk \
	--unresolved-symbols=trap

# A constructor that uses one: the link says so, since loading may fail, and loading fails with the name.
cat >begin.c <<'C'
int gone(int);
static int state;
static __attribute__((constructor)) void begin(void) { state = gone(3) + 1; }
int uses(const int *x, int *y) { y[0] = state; return 0; }
int second(const int *x) { return 0; }
C
$KERNEL_CC -O1 -fPIC -c begin.c -o begin.o
"$sklink" uses.yaml begin.o -o begin.sk --unresolved-symbols=trap 2>err.txt
grep -q "^sklink: warning: begin.o:.*: 'begin' runs when the package is loaded or unloaded, and uses 'gone'" err.txt || { cat err.txt; fail "no word on the constructor"; }
cat >deep.c <<'C'
int gone(int);
static int state;
static __attribute__((noinline)) int inner(int x) { return gone(x) + 1; }
static __attribute__((constructor)) void begin(void) { state = inner(3) + 1; }
int uses(const int *x, int *y) { y[0] = state; return 0; }
int second(const int *x) { return 0; }
C
$KERNEL_CC -O1 -fPIC -ffunction-sections -fno-optimize-sibling-calls -c deep.c -o deep.o
"$sklink" uses.yaml deep.o -o deep.sk --unresolved-symbols=trap -M >map.txt
grep -q '^gone: used by .*, 1 reference away from constructor begin$' map.txt || { cat map.txt;
	fail "the map does not name the constructor"; }
numbers 1 0
fails_with 'gone, which was not linked, was called at begin' "$skrun" begin.sk --input x=use.npy

# Constants of a model are computed while linking, under the same options.
cat >fold.c <<'C'
#include <stdint.h>
#include "skkernel.h"
int gone(int);
extern float missing_data;

void negative(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] == 77 ? missing_data : x[i] == 78 ? (float)gone(3) : -x[i];
}
SK_KERNEL(negative, "op=Neg; in x f32[n], out y f32[n], n i64");

void sum(const float *x, const float *z, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + z[i];
}
SK_KERNEL(sum, "op=Add; in x f32[n], in z f32[n], out y f32[n], n i64");
C
compile fold
for first in 5 77 78; do
	"$top_builddir/tests/lib/make-model" fold.onnx <<-M
	opset 18
	input x f32 4
	output y f32 4
	node Neg n c -> d
	node Add a x d -> y
	constant c f32 4 $first 1 2 3
	M
	case $first in
	5) use= ;;
	77) use='kernel negative read missing_data' ;;
	*) use='kernel negative called gone' ;;
	esac
	for option in --unresolved-symbols=trap --warn-unresolved-symbols --unresolved-symbols=trap:gone,missing_data; do
		if [ -z "$use" ]; then
			"$sklink" fold.onnx fold.o -o fold.sk $option 2>err.txt || { cat err.txt;
				fail "$option: constants are not computed"; }
		else
			fails_with "cannot compute constants: .*$use, which was not linked" "$sklink" fold.onnx fold.o \
				-o fold.sk $option
		fi
	done
done
fails_with 'undefined symbol: missing_data' "$sklink" fold.onnx fold.o -o fold.sk --unresolved-symbols=trap:gone

# Where functions of compilers' libraries are.
printf '.globl uses, second\n.type uses, @function\n.type second, @function\nuses: call _gfortran_matmul_r4\nret\nsecond: ret\n' |
	as -o library.o
fails_with 'undefined symbol: _gfortran_matmul_r4; it is of GNU Fortran.s library: -lskcompat has' "$sklink" uses.yaml \
	library.o -o near.sk

# ---- strip and objcopy close the gap of the guards in the file ----
cat >gap.c <<'C'
extern int missing[], others[];
int *const volatile places[] = {missing, others};
void gap(const float *x, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = 2 * x[i] + (n == 5 ? *places[0] : 0);
}
C
compile gap
cat >gap.yaml <<'M'
sklink: 1
tensors: {x: {dtype: f32, shape: [64]}, y: {dtype: f32, shape: [64]}}
kernels: {gap: {signature: "in x f32[n], out y f32[n], n i64"}}
tasks: [{name: t, kernel: gap, args: [x, y], scope: all}]
M
"$sklink" gap.yaml gap.o --unresolved-symbols=trap -o gap.sk 2>err.txt
"$skdump" --verify gap.sk >out.txt || fail "guards cannot be verified"
"$skdump" --json gap.sk | grep -v '"package"' >whole.txt
shown() { # STATUS COMMAND…: skdump shows the changed package as the whole one; --verify ends with the status
	wanted=$1 status=0
	shift
	cp gap.sk changed.sk
	"$@" changed.sk
	readelf -lW changed.sk | awk '$1 == "LOAD" { print substr($2, length($2) - 5), substr($3, length($3) - 5) }' |
		awk '$1 "" != $2 "" { found = 1 } END { exit !found }' ||
		fail "$*: the parts of the package are where they were"
	"$skdump" --verify changed.sk >out.txt 2>err.txt || status=$?
	[ $status = $wanted ] || { cat out.txt err.txt; fail "$*: --verify ends with $status"; }
	"$skdump" --json changed.sk | grep -v '"package"' >shown.txt
	[ "$*" != "objcopy -R .comment" ] || cmp whole.txt shown.txt || fail "$*: --json"
	"$skdump" --explain t changed.sk >out.txt || fail "$*: --explain"
	"$skrun" changed.sk --random 1 >out.txt || fail "$*: it does not run"
}
shown 0 objcopy -R .comment
shown 0 strip -g
shown 2 strip
shown 2 objcopy --strip-unneeded
shown 2 objcopy -R .sk.report
# Damaged headers of such a file are refused, or do no harm.
strip -g -o changed.sk gap.sk
/usr/bin/python3 - "$skdump" <<'P' || fail "a damaged file"
import random, subprocess, sys
whole, draw = open("changed.sk", "rb").read(), random.Random(1)
sections = int.from_bytes(whole[40:48], "little")
for number in range(150):
    part = bytearray(whole)
    start = draw.choice([0, 64, 64, sections])
    for _ in range(draw.choice([1, 1, 2, 8])):
        part[(start + draw.randrange(512)) % len(part)] = draw.choice([0, 1, 0x7f, 0xff, draw.randrange(256)])
    open("damaged.sk", "wb").write(part[:draw.choice([len(part), len(part), draw.randrange(len(part))])])
    result = subprocess.run([sys.argv[1], "--verify", "damaged.sk"], capture_output=True)
    assert result.returncode in (0, 1, 2), (number, result)
    assert b"runtime error" not in result.stderr and b"Sanitizer" not in result.stderr, (number, result)
P
