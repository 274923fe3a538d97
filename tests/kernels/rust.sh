#!/bin/bash
# Rust as rustc compiles it, with a slice of checked bounds. rustc writes no relocations that promise to be relaxable.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/kernels.sh"
$KERNEL_CC -Wa,-mrelax-relocations=no -c "$top_srcdir/tests/kernels/objects/rust.s" -o gather.o
readelf -rW gather.o | grep -q 'R_X86_64_GOTPCREL .*panic_bounds_check' || fail "the call is not as rustc writes it"

cat >model.yaml <<Y
sklink: 1
tensors:
  x:  {dtype: f32, shape: [100]}
  at: {dtype: u32, shape: [500]}
  y:  {dtype: f32, shape: [500], role: output}
  to: {dtype: u32, shape: [70]}
  z:  {dtype: f32, shape: [70]}
  head: {of: y, shape: [100]}
$(kernels gather)
tasks:
  - {name: gather, kernel: gather, args: [x, at, y], scope: all}
  - {name: again, kernel: gather, args: [head, to, z], scope: all}
Y
fuse gather.o

cat >oracle.c <<'C'
#include "oracle.h"

static void network(void)
{
	INPUT(float, x, 100);
	INPUT_WITHIN(uint32_t, at, 0, 99, 500);
	INPUT_WITHIN(uint32_t, to, 0, 99, 70);
	OUTPUT(float, y, 0, 500);
	OUTPUT(float, z, 0, 70);

	for (int i = 0; i < 500; i++)
		y[i] = x[at[i]];
	for (int i = 0; i < 70; i++)
		z[i] = y[to[i]];
}
C
right

# An index out of bounds ends the launch, which says where.
sed -i 's/at, 0, 99/at, 50, 149/; s/x\[at\[i\]\]/0/' oracle.c
$KERNEL_CC -I"$top_srcdir/tests/kernels" oracle.c -o oracle -lm
# shellcheck disable=SC2046 # a list of words
fails_with "task 'gather': kernel gather called .*panic_bounds_check.*, which was not linked, on core [01], at gather" \
	"$skrun" model.sk --cores 2 $(./oracle make 1)

# A staticlib has the standard library in it, of which the functions of panics, which need much of the C library, are
# left out: without an option too.
panic=$(nm -u gather.o | awk '/panic_bounds_check/ {print $2}')
printf '.globl %s, std_only\n%s: mov getcwd@GOTPCREL(%%rip), %%rax\njmp *%%rax\nstd_only: jmp getcwd@PLT\n' $panic $panic |
	as -o std-1b2c.std.3d4e-cgu.0.rcgu.o
ar rc libgather.a gather.o std-1b2c.std.3d4e-cgu.0.rcgu.o
"$sklink" model.yaml libgather.a -o static.sk -M >map.txt
grep -q "^core::panicking::panic_bounds_check: used by .*, kernel gather itself" map.txt || fail "the panic is not listed"
# shellcheck disable=SC2046
fails_with "kernel gather called core::panicking::panic_bounds_check, a panic of Rust, which was not linked, on core" \
	"$skrun" static.sk --cores 2 $(./oracle make 1)
"$skdump" static.sk | grep -q 'not linked *core::panicking::panic_bounds_check, a panic of Rust$' || fail "skdump"
# What is beyond them is reached no more; a reference from other code is.
printf '.globl start\n.type start, @function\nstart: jmp std_only\n.size start, . - start\n' | as -o start.o
printf 'sklink: 1\ntensors: {x: {dtype: f32, shape: [4], role: input}}\nkernels: {start: {signature: "in x f32[4] -> status"}}\ntasks:\n  - {name: t, kernel: start, args: [x]}\n' >names.yaml
fails_with 'undefined symbol: getcwd' "$sklink" names.yaml start.o libgather.a -o static.sk
grep -q "^>>> Rust's standard library needs it for files, threads or the like" err.txt || fail "no way out of Rust's library"
# Names that are not of panics, or only look like it, stay.
cat >names.s <<'S'
.globl start, _ZN4core9panickingx17h0123456789abcdefE, _ZN3std9panicking11begin_panic28_17h0123456789abcdefE, _RNvNtCs1_3foo9panicking9panic_fmt
.type start, @function
start: call _ZN4core9panickingx17h0123456789abcdefE
call _ZN3std9panicking11begin_panic28_17h0123456789abcdefE
call _RNvNtCs1_3foo9panicking9panic_fmt
xor %eax, %eax
ret
.size start, . - start
_ZN4core9panickingx17h0123456789abcdefE: ret
_ZN3std9panicking11begin_panic28_17h0123456789abcdefE: ret
_RNvNtCs1_3foo9panicking9panic_fmt: ret
S
as names.s -o names.o
"$sklink" names.yaml names.o -o names.sk -M >map.txt
! grep -q '^Not linked' map.txt || { cat map.txt; fail "other names became traps"; }
"$skrun" names.sk --random 1 >out.txt || fail "other names became traps"
# The older and the newer names, undefined and defined; a handler of the program's own is kept.
for name in _ZN4core9panicking9panic_fmt17h0123456789abcdefE _RNvNtCs5fXvFE_4core9panicking9panic_fmt \
	_RINvNtCsjrH_3std9panicking11begin_panicReE _ZN5alloc5alloc18handle_alloc_error17h0123456789abcdefE; do
	printf '.globl start, %s\n.type start, @function\nstart: call %s\nxor %%eax, %%eax\nret\n.size start, . - start\n' $name $name >call.s
	as call.s -o call.o
	printf '%s: ret\n' $name | cat call.s - | as -o both.o
	printf '.globl rust_begin_unwind\nrust_begin_unwind: ret\n' | as -o handler.o
	for object in call both; do
		"$sklink" names.yaml $object.o -o names.sk
		fails_with "called [a-z]*::[a-z_:]*.*, a panic of Rust, which was not linked" "$skrun" names.sk --random 1
	done
	"$sklink" names.yaml both.o handler.o -o names.sk
	"$skrun" names.sk --random 1 >out.txt || fail "$name: the own handler is not kept"
	fails_with "undefined symbol: " "$sklink" names.yaml call.o handler.o -o names.sk
	"$sklink" -r names.yaml both.o -o names.o
	nm names.o | grep -q "$name" || fail "$name is not in an object of -r"
done

# A real staticlib, with Vec, sort and what they need, where there is a rustc.
command -v rustc >/dev/null || { echo "no rustc: no staticlib is linked"; exit 0; }
cat >rows.rs <<'R'
#[no_mangle]
pub extern "C" fn rows(x: *const f32, y: *mut f32, n: i64) {
    let x = unsafe { std::slice::from_raw_parts(x, n as usize) };
    let y = unsafe { std::slice::from_raw_parts_mut(y, n as usize) };
    let mut v: Vec<f32> = x.iter().map(|a| a * 2.0).collect();
    v.sort_by(|a, b| a.partial_cmp(b).unwrap());
    if x[0] == 77.0 {
        panic!("a kernel's");
    }
    let i = if x[0] == 78.0 { n as usize } else { 0 };
    v[i] += 1.0;
    y.copy_from_slice(&v);
}
R
cat >rows.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [512], role: input}
  y: {dtype: f32, shape: [512], role: output}
kernels:
  rows: {signature: "in x f32[n], out y f32[n], n i64"}
tasks:
  - {name: t, kernel: rows, args: [x, y]}
M
for flags in -O -Copt-level=0 "-O -Cpanic=abort"; do
	# shellcheck disable=SC2086
	rustc $flags --crate-type staticlib rows.rs -o librows.a 2>err.txt || { cat err.txt; echo "rustc cannot"; exit 0; }
	"$sklink" rows.yaml librows.a -o rows.sk
	for first in 5 77 78; do
		"$top_builddir/tests/lib/make-model" x.npy f32 512 $first 3 1 7 2
		case $first in
		5) "$skrun" rows.sk --input x=x.npy --output y=y.npy --verify >out.txt || { cat out.txt; fail "rows"; } ;;
		77) fails_with "kernel rows called std::.*panic.*, a panic of Rust, which" "$skrun" rows.sk \
			--input x=x.npy ;;
		*) fails_with "kernel rows called core::panicking::panic_bounds_check, a panic of Rust, which" "$skrun" \
			rows.sk --input x=x.npy ;;
		esac
	done
	"$sklink" rows.yaml librows.a -o strict.sk --strip-all
done

# With link-time optimisation the panics are local functions, and cannot be left out: the error says so.
rustc -O -Clto --crate-type staticlib rows.rs -o liblto.a
sed 's/"in x/"reentrant; in x/' rows.yaml >lto.yaml
status=0
"$sklink" lto.yaml liblto.a -o lto.sk 2>err.txt || status=$?
[ $status = 1 ] && grep -q "undefined symbol: _Unwind_.*compile without -Clto" err.txt ||
	{ head -n 20 err.txt; fail "-Clto ends with $status"; }

# A draft of it has the kernel alone, and the numbers of the library's functions and of those that only Rust calls.
if grep -q '^#define HAVE_LIBDW' "$top_builddir/config.h"; then
	rustc -g -O --crate-type staticlib rows.rs -o librows.a
	"$sklink" --signature-of librows.a >draft.txt
	grep -v '^ *#' draft.txt | grep -o '^  [^ ].*' >names.txt
	[ "$(cat names.txt)" = '  rows:' ] && [ "$(wc -l <draft.txt)" -le 12 ] ||
		{ head -n 40 draft.txt; fail "the draft of a staticlib"; }
	grep -q "^# Functions of the compiler's own libraries, which are left out: [0-9][0-9][0-9]" draft.txt ||
		{ cat draft.txt; fail "what is left out"; }
fi
/usr/bin/python3 - <<'P' || fail "rows are not sorted"
import numpy
x, y = numpy.full(512, 2, "f4"), numpy.load("y.npy")
x[:4] = 5, 3, 1, 7
good = numpy.sort(2 * x)
good[0] += 1
assert (y == good).all(), y[:8]
P
