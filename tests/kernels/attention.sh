# The kernels of libskernels.a for attention and rotary embedding against plain loops in wider arithmetic (attention.c).
. "$top_srcdir/tests/lib/lib.sh"

$KERNEL_CC -O2 "$top_srcdir/tests/kernels/attention.c" "$top_builddir/kernels/libskernels.a" -o attention -lm
./attention >out.txt || { cat out.txt; fail "wrong results"; }
# At the level that links take by default: the same functions by their names there.
if grep -q avx2 /proc/cpuinfo; then
	sed 's/\(sk_attention_##TYPE\)/\1##_v3/' "$top_srcdir/tests/kernels/attention.c" >attention-v3.c
	$KERNEL_CC -O2 attention-v3.c "$top_builddir/kernels/libskernels.a" -o attention-v3 -lm
	./attention-v3 >out.txt || { cat out.txt; fail "wrong results at v3"; }
fi
