# The convolutions, transposed ones and pools of libskernels.a against plain loops in greater precision (windows.c),
# each at the level of instructions that it is for, as far as this processor has them.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/compare.sh"

name_kernels conv.c conv-transpose.c pool.c unpool.c >windows-list.h
$KERNEL_CC -O2 -I. "$top_srcdir/tests/kernels/windows.c" "$library" -o windows -lm
./windows >out.txt || { cat out.txt; fail "wrong results"; }
cat out.txt
