# The kernels of libskernels.a that quantise and bring back, against their definition in double precision (quantise.c), each at the level
# of instructions that it is for, as far as this processor has them.
. "$top_srcdir/tests/lib/lib.sh"
library=$top_builddir/kernels/libskernels.a
echo '_Float16 half;' | $KERNEL_CC -xc -fsyntax-only - 2>/dev/null || { echo "the compiler has no _Float16 to compare with"; exit 77; }

awk -f "$top_srcdir/kernels/variants.awk" "$top_srcdir"/kernels/quantise.c "$top_srcdir"/kernels/dequantise.c \
	"$top_srcdir"/kernels/requantise.c "$top_srcdir"/kernels/quantise-range.c | sed 's/\([^ ]*\).*/KERNEL_NAME(\1)/' >quantise-list.h
$KERNEL_CC -O2 -I. "$top_srcdir/tests/kernels/quantise.c" "$library" -o quantise -lm
./quantise >out.txt || { cat out.txt; fail "wrong results"; }
cat out.txt
