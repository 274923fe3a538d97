# The products of integers of libskernels.a, which wrap around, against sums that do not (exact-products.c).
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/compare.sh"

name_kernels matmul-exact.c >exact-products-list.h
$KERNEL_CC -O2 -I. "$top_srcdir/tests/kernels/exact-products.c" "$library" -o exact-products
./exact-products >out.txt || { cat out.txt; fail "wrong products"; }
cat out.txt
