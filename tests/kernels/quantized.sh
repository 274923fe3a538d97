# The kernels of libskernels.a that multiply quantized numbers against plain loops (quantized.c), each at the level of instructions that
# it is for, as far as this processor has them.
. "$top_srcdir/tests/lib/lib.sh"
library=$top_builddir/kernels/libskernels.a

awk -f "$top_srcdir/kernels/variants.awk" "$top_srcdir"/kernels/matmul-integer.c "$top_srcdir"/kernels/matmul-quads.c "$top_srcdir"/kernels/matmul-nbits.c \
	"$top_srcdir"/kernels/conv-integer.c | sed 's/\([^ ]*\).*/KERNEL_NAME(\1)/' >quantized-list.h
$KERNEL_CC -O2 -I. "$top_srcdir/tests/kernels/quantized.c" "$library" -o quantized -lm
./quantized >out.txt || { cat out.txt; fail "wrong results"; }
cat out.txt
