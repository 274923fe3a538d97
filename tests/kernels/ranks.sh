# The kernels of libskernels.a for ranks: the folds of their parts against plain loops, each at the level of
# instructions that it is for, as far as this processor has them, and the calls of exchanges to the runtime (ranks.c).
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/compare.sh"

name_kernels fold.c >folds-list.h
name_kernels exchange.c >exchanges-list.h
$KERNEL_CC -O2 -ffp-contract=off -fwrapv -I. -I"$top_srcdir" -I"$top_srcdir/format" "$top_srcdir/tests/kernels/ranks.c" "$library" -o ranks -lm
./ranks >out.txt || { cat out.txt; fail "wrong results"; }
cat out.txt
