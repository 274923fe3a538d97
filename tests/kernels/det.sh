# The determinants of libskernels.a against sums of all products in 113 bits (det.c).
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/compare.sh"

name_kernels det.c >det-list.h
$KERNEL_CC -O2 -I. "$top_srcdir/tests/kernels/det.c" "$library" -o det -lm
./det >out.txt || { cat out.txt; fail "wrong determinants"; }
cat out.txt
