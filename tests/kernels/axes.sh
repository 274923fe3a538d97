# The kernels of libskernels.a that look along an axis against their definitions (library-axes.c).
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/compare.sh"

compare_kernels arg.c cumsum.c reduce.c rows.c topk.c
