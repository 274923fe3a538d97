# The kernels of libskernels.a that bring elements to other places against their definitions (library-moves.c).
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/compare.sh"

compare_kernels copy.c gather.c lookup.c matmul-pack.c pad.c patterns.c places.c resize-rows.c scatter.c
