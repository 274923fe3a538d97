# The sums of any number of inputs of libskernels.a against plain loops (sums.c), each at the level of instructions that
# it is for, as far as this processor has them. In a model such a node is one task where its inputs have one shape.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/compare.sh"

name_kernels sum.c >sums-list.h
$KERNEL_CC -O2 -ffp-contract=off -I. "$top_srcdir/tests/kernels/sums.c" "$library" -o sums -lm
./sums >out.txt || { cat out.txt; fail "wrong results"; }
cat out.txt

# model.onnx: one node of the operator, with the inputs a and b in turn and then the named ones. node_of OP COUNT INPUT…
node_of() {
	op=$1 count=$2
	shift 2
	{
		printf 'input %s f32 5x7\n' a b
		echo 'input row f32 7'
		echo 'output y f32 5x7'
		echo "node $op n $(for ((i = 0; i < count; i++)); do [ $((i % 2)) = 0 ] && echo a || echo b; done | tr '\n' ' ') $* -> y"
	} | "$top_builddir/tests/lib/make-model" model.onnx
	"$sklink" model.onnx -L "$top_builddir/kernels" -lskernels -o model.sk 2>err.txt || { cat err.txt;
		fail "$op of $count"; }
}

# has COUNT KERNEL: so many tasks are of that kernel.
has() {
	"$skdump" --steps model.sk >steps.txt
	[ "$(grep -cE " $2(_v3)?( |$)" steps.txt)" = "$1" ] || { cat steps.txt; fail "not $1 of $2"; }
}
"$top_builddir/tests/lib/make-model" a.npy f32 5x7 3
"$top_builddir/tests/lib/make-model" b.npy f32 5x7 5
"$top_builddir/tests/lib/make-model" row.npy f32 7 1

# gives VALUE: the value of all elements of y.
gives() {
	"$top_builddir/tests/lib/make-model" wanted.npy f32 5x7 "$1"
	rows=$(grep -q ' row' <<<"$inputs" && echo --input row=row.npy || true)
	"$skrun" model.sk --input a=a.npy --input b=b.npy $rows --output y=y.npy >out.txt || { cat out.txt;
		fail "it does not run"; }
	cmp y.npy wanted.npy || fail "it is not $1"
}
inputs=
node_of Sum 5 && has 1 sk_sum_f32 && gives 19
node_of Mean 4 && has 1 sk_sum_f32 && gives 4
node_of Sum 2 && has 0 sk_sum_f32 && gives 8
node_of Sum 64 && has 1 sk_sum_f32 && gives 256
node_of Sum 200 && has 4 sk_sum_f32 && gives 800
inputs=' row'
node_of Sum 4 row && has 0 sk_sum_f32 && gives 17
