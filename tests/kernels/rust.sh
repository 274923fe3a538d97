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
fuse gather.o --unresolved-symbols=trap

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

# A staticlib has the standard library in it, which asks for much of the C library.
printf '.globl _RNvNtCs_4core9panicking18panic_bounds_check\n_RNvNtCs_4core9panicking18panic_bounds_check: mov getcwd@GOTPCREL(%%rip), %%rax\njmp *%%rax\n' |
	sed "s/_RNvNtCs_4core9panicking18panic_bounds_check/$(nm -u gather.o | awk '/panic_bounds_check/ {print $2}')/g" |
	as -o std-1b2c.std.3d4e-cgu.0.rcgu.o
ar rc libgather.a gather.o std-1b2c.std.3d4e-cgu.0.rcgu.o
for option in report-all trap; do
	fails_with 'undefined symbol: getcwd' "$sklink" model.yaml libgather.a --unresolved-symbols=$option -o static.sk
	grep -q "^>>> Rust's standard library needs it .*rustc --emit=obj" err.txt || { cat err.txt;
		fail "no way out of Rust's library"; }
done
