# The kernels of libskernels.a that look along an axis against plain loops in greater precision (axes.c), each at the level of
# instructions that it is for, as far as this processor has them.
. "$top_srcdir/tests/lib/lib.sh"
library=$top_builddir/kernels/libskernels.a

for type in f32 f64; do
	awk -f "$top_srcdir/kernels/variants.awk" "$top_srcdir"/kernels/reduce.c "$top_srcdir"/kernels/rows.c |
		sed -n "s/\([^ ]*\) .* TYPE=$type .*/KERNEL_NAME(\1)/p" >axes-list.h
	[ -s axes-list.h ] || fail "no kernel of $type"
	$KERNEL_CC -O2 -DELEMENT=$type -I. "$top_srcdir/tests/kernels/axes.c" "$library" -o axes -lm
	./axes >out.txt || { cat out.txt; fail "wrong results of $type"; }
	cat out.txt
done
