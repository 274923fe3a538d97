# The kernels of libskernels.a for training against plain loops in long double (training.c): those of f32 and f64, as every processor
# has them, and at the level that models usually get.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/compare.sh"

# Those of f16 and bf16 are not compared: the program has no elements that are stored otherwise than they are computed with.
name_kernels along-rows.c entropies.c optimisers.c row-gradients.c | sed 's/.*(\(.*\))/\1/' | grep -vE '_b?f16(_|$)' | sort >listed
levels="base"
! grep -qw avx2 /proc/cpuinfo || levels="base v3"
for level in $levels; do
	for type in f32 f64; do
		case $level in base) suffix= ;; *) suffix=_$level ;; esac
		case $type in f32) element=float ;; *) element=double ;; esac
		$KERNEL_CC -O2 -DTYPE=$type -DELEMENT=$element -DLEVEL=$suffix "$top_srcdir/tests/kernels/training.c" \
			"$library" -o training -lm
		nm training | sed -n 's/.* T \(sk_.*\)/\1/p' >>called
		./training >out.txt || { cat out.txt; fail "wrong results of $type, $level"; }
	done
done
sort -u called >called.txt
grep -E "$(case $levels in base) echo '_v[0-9]$' ;; *) echo '^$' ;; esac)" -v listed >levels.txt
comm -23 levels.txt called.txt >left-out.txt
[ ! -s left-out.txt ] || { cat left-out.txt; fail "kernels that nothing is compared with"; }
