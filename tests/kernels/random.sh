# The kernels of libskernels.a that make random numbers: published numbers, numbers in parts, and distributions (random.c).
. "$top_srcdir/tests/lib/lib.sh"

$KERNEL_CC -O2 "$top_srcdir/tests/kernels/random.c" "$top_builddir/kernels/libskernels.a" -o random -lm
./random >out.txt || { cat out.txt; fail "wrong numbers"; }
