# The kernels of libskernels.a for training against plain loops in long double (training.c): those of f32 and f64, as every processor
# has them, and at the level that models usually get.
. "$top_srcdir/tests/lib/lib.sh"

levels="base"
! grep -qw avx2 /proc/cpuinfo || levels="base v3"
for level in $levels; do
	for type in f32 f64; do
		case $level in base) suffix= ;; *) suffix=_$level ;; esac
		case $type in f32) element=float ;; *) element=double ;; esac
		$KERNEL_CC -O2 -DTYPE=$type -DELEMENT=$element -DLEVEL=$suffix "$top_srcdir/tests/kernels/training.c" \
			"$top_builddir/kernels/libskernels.a" -o training -lm
		./training >out.txt || { cat out.txt; fail "wrong results of $type, $level"; }
	done
done
