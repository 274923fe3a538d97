# The kernels of libskernels.a that sample images against plain loops in greater precision (images.c), each at the level of
# instructions that it is for, as far as this processor has them.
. "$top_srcdir/tests/lib/lib.sh"
library=$top_builddir/kernels/libskernels.a

awk -f "$top_srcdir/kernels/variants.awk" "$top_srcdir"/kernels/gridsample.c "$top_srcdir"/kernels/interpolate.c |
	sed 's/\([^ ]*\).*/KERNEL_NAME(\1)/' >images-list.h
$KERNEL_CC -O2 -I. "$top_srcdir/tests/kernels/images.c" "$library" -o images -lm
./images >out.txt || { cat out.txt; fail "wrong results"; }
cat out.txt
