# The kernels of libskernels.a for training against plain loops in long double (training.c), as every processor has
# them, and at the level that models usually get.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/compare.sh"

# clang of Debian 12 does not compute with f16: that is left out there.
types="f32 f64 f16 bf16"
echo 'int main(void) { volatile _Float16 x = 1; return x > 2; }' >half.c
$KERNEL_CC half.c -o half 2>err.txt || types="f32 f64 bf16"
name_kernels along-rows.c entropies.c optimisers.c row-gradients.c | sed 's/.*(\(.*\))/\1/' |
	grep -E "_(${types// /|})(_|\$)" | sort >listed
# If there is no variant for a level, the one for every processor is used.
grep -v '_v[0-9]$' listed | sort >base.txt
twins=$(sed -n 's/_v3$//p' listed | sort | comm -23 base.txt - | sed 's/.*/-D&_v3=&/')
levels="base"
! grep -qw avx2 /proc/cpuinfo || levels="base v3"
for level in $levels; do
	for type in $types; do
		case $level in base) suffix= ;; *) suffix=_$level ;; esac
		case $type in
		f32) words="-DELEMENT=float -DNUMBER=float" ;;
		f64) words="-DELEMENT=double -DNUMBER=double" ;;
		f16) words="-DELEMENT=_Float16 -DNUMBER=float" ;;
		bf16) words="-DELEMENT=uint16_t -DNUMBER=float -DBF16" ;;
		esac
		# shellcheck disable=SC2086 # words
		$KERNEL_CC -O2 -DTYPE=$type $words $twins -DLEVEL=$suffix "$top_srcdir/tests/kernels/training.c" \
			"$library" -o training -lm
		nm training | sed -n 's/.* T \(sk_.*\)/\1/p' >>called
		./training >out.txt || { cat out.txt; fail "wrong results of $type, $level"; }
	done
done
sort -u called >called.txt
grep -E "$(case $levels in base) echo '_v[0-9]$' ;; *) echo '^$' ;; esac)" -v listed >levels.txt
comm -23 levels.txt called.txt >left-out.txt
[ ! -s left-out.txt ] || { cat left-out.txt; fail "kernels that nothing is compared with"; }
