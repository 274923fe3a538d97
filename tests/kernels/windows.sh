# The convolutions, transposed ones and pools of libskernels.a against plain loops in greater precision (windows.c), each at the level of instructions
# that it is for, as far as this processor has them.
. "$top_srcdir/tests/lib/lib.sh"
library=$top_builddir/kernels/libskernels.a

awk -f "$top_srcdir/kernels/variants.awk" "$top_srcdir"/kernels/conv.c "$top_srcdir"/kernels/conv-transpose.c \
	"$top_srcdir"/kernels/pool.c "$top_srcdir"/kernels/unpool.c |
	sed 's/\([^ ]*\).*/KERNEL_NAME(\1)/' >windows-list.h
$KERNEL_CC -O2 -I. "$top_srcdir/tests/kernels/windows.c" "$library" -o windows -lm
./windows >out.txt || { cat out.txt; fail "wrong results"; }
cat out.txt
