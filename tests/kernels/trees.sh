# The kernels of libskernels.a that sum over trees against plain loops (library-trees.c).
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/compare.sh"

compare_kernels trees.c
