# The kernels of libskernels.a that sample images against plain loops in greater precision (images.c), each at the level
# of instructions that it is for, as far as this processor has them.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/compare.sh"

name_kernels gridsample.c interpolate.c roialign.c >images-list.h
$KERNEL_CC -O2 -I. "$top_srcdir/tests/kernels/images.c" "$library" -o images -lm
./images >out.txt || { cat out.txt; fail "wrong results"; }
cat out.txt
