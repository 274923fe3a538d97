# The kernels of libskernels.a that normalize, and that of losses, against their definitions (library-normal.c), those
# of normalisations with nodes before and after them (library-fused.c), and gates and products (library-products.c).
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/compare.sh"

compare_kernels batchnorm.c lrn.c nll.c normalize.c normalize-fused.c swiglu.c dequant-swiglu-quant.c dequantise-sums.c matmul-transposed.c
