# The kernels of libskernels.a that quantise and bring back, against their definition in double precision (quantise.c),
# each at the level of instructions that it is for, as far as this processor has them.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/compare.sh"
echo '_Float16 half;' | $KERNEL_CC -xc -fsyntax-only - 2>/dev/null || {
	echo "the compiler has no _Float16 to compare with"; exit 77; }

name_kernels quantise.c dequantise.c requantise.c quantise-range.c >quantise-list.h
$KERNEL_CC -O2 -I. "$top_srcdir/tests/kernels/quantise.c" "$library" -o quantise -lm
./quantise >out.txt || { cat out.txt; fail "wrong results"; }
cat out.txt
