# The recurrent kernels of libskernels.a, and those of steps of training, against their definitions
# (library-recurrent.c).
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/compare.sh"

compare_kernels linear-attention.c recurrent.c training.c
