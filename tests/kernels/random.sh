# The kernels of libskernels.a that make random numbers: published numbers, numbers in parts, and distributions
# (random.c). Each sort of kernel is tried, of f32 and some of f64, at each level that this processor has; halves are
# the same numbers, rounded.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/compare.sh"

$KERNEL_CC -O2 "$top_srcdir/tests/kernels/random.c" "$library" -o random -lm
./random >out.txt || { cat out.txt; fail "wrong numbers"; }

name_kernels random.c | sed 's/.*(\(.*\))/\1/; s/_v3//; s/_f64\|_f16\|_bf16/_f32/' | sort -u >listed
nm random | sed -n 's/.* T \(sk_.*\)/\1/p' | sort >called
comm -23 listed called >left-out.txt
[ ! -s left-out.txt ] || { cat left-out.txt; fail "kernels that are not tried"; }

# The same program of the kernels of the other level.
grep -qw avx2 /proc/cpuinfo || exit 0
name_kernels random.c | sed -n 's/.*(\(.*\)_v3)/\1/p' | sort >levels
words=$(comm -12 called levels | sed 's/.*/-D&=&_v3/')
[ -n "$words" ] || fail "no kernel has another level"
# shellcheck disable=SC2086 # words
$KERNEL_CC -O2 $words "$top_srcdir/tests/kernels/random.c" "$library" -o random -lm
./random >out.txt || { cat out.txt; fail "wrong numbers of the other level"; }
