# The kernels of libskernels.a that normalize, and that of losses, against plain loops in double precision (normal.c).
. "$top_srcdir/tests/lib/lib.sh"

$KERNEL_CC -O2 "$top_srcdir/tests/kernels/normal.c" "$top_builddir/kernels/libskernels.a" -o normal -lm
./normal >out.txt || { cat out.txt; fail "wrong results"; }
