# The kernels of libskernels.a that multiply quantized numbers against plain loops (quantized.c), each at the level of
# instructions that it is for, as far as this processor has them.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/compare.sh"

name_kernels matmul-integer.c matmul-quads.c matmul-nbits.c conv-integer.c >quantized-list.h
$KERNEL_CC -O2 -I. "$top_srcdir/tests/kernels/quantized.c" "$library" -o quantized -lm
./quantized >out.txt || { cat out.txt; fail "wrong results"; }
cat out.txt
