# The kernels of libskernels.a for attention and rotary embedding against plain loops in wider arithmetic (attention.c).
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/compare.sh"

name_kernels attention.c rotary.c | sed 's/.*(\(.*\))/\1/' | sort >listed
# At each level of instructions: the same functions by their names there.
for level in '' _v3 _v4; do
	sed "s/\(sk_attention_##TYPE\)/\1${level:+##$level}/" "$top_srcdir/tests/kernels/attention.c" >attention$level.c
	$KERNEL_CC -O2 -I"$top_srcdir/tests/kernels" attention$level.c "$library" -o attention$level -lm
	case $level in _v3) flag=avx2 ;; _v4) flag=avx512vl ;; *) flag=fpu ;; esac
	grep -qw $flag /proc/cpuinfo || { echo "this processor cannot run $level"; continue; }
	./attention$level >out.txt || { cat out.txt; fail "wrong results${level:+ at $level}"; }
done
nm attention attention_v3 attention_v4 | sed -n 's/.* T \(sk_.*\)/\1/p' | sort -u >called
diff listed called >diff.txt || { cat diff.txt; fail "listed (<) is not what is called (>)"; }
