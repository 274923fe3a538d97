# The matrix products of libskernels.a against sums in greater precision (products.c), each at the level of instructions
# that it is for, as far as this processor has them.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/compare.sh"

name_kernels matmul.c matmul-vector.c >products-list.h
$KERNEL_CC -O2 -I. "$top_srcdir/tests/kernels/products.c" "$library" -o products -lm
./products >out.txt || { cat out.txt; fail "wrong products"; }
cat out.txt
