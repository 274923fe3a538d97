#!/bin/bash
# From composites to tile groups: the two networks of MindSpore's tutorial of fusion in two stages. The nodes that flags
# put into a composite are one group, and nodes that they leave out are in none; reductions are stitched. Results never
# depend on any of it.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"

# link NAME TARGET FLAGS: NAME.onnx becomes NAME.sk.
link() {
	"$sklink" "$1.onnx" -L "$top_builddir/kernels" -lskernels --fusion-target "$2" ${3:+"--fusion-flags=$3"} -o \
		"$1.sk" \
		--report "$1.json" --dump-dir dumps 2>err.txt || fail "$1 on $2 with '$3': $(cat err.txt)"
	proved "$1.sk"
}

# steps NAME: its tasks, those of one step with commas.
steps() {
	"$skdump" --steps "$1.sk" | awk \
		'/^ *[0-9]+  / && NR > 2 { printf " %s", $2; next } NR > 2 && NF { printf ",%s", $1 }'
}

# same NAME: results are those of plain.npy, however it is run.
same() {
	local how
	for how in '--cores 1' '--cores 2' '--cores 7' --unfused --serial --guard --check-races; do
		rm -f got.npy
		# shellcheck disable=SC2086 # words
		"$skrun" "$1.sk" --input x=x.npy --output y=got.npy $how >out.txt || fail "$1 $how: $(cat out.txt)"
		cmp got.npy plain.npy || fail "$1 $how: other results than without fusion"
	done
}

# plain NAME: plain.npy has its results without fusion, each task in a step of its own.
plain() {
	link "$1" host --opt_level=0
	steps "$1" | grep -q , && fail "without fusion there are groups:$(steps "$1")"
	"$skrun" "$1.sk" --input x=x.npy --output y=plain.npy --unfused >out.txt
}

# fuses NAME TARGET FLAGS STEPS
fuses() {
	link "$1" "$2" "$3"
	[ "$(steps "$1")" = " $4" ] || fail "$1 on $2 with '$3': steps$(steps "$1"), not $4"
	same "$1"
}

# numbers FILE: the floats of a .npy file.
numbers() {
	od -An -v -t f4 -j $(($(od -An -t u2 -j 8 -N 2 "$1") + 10)) "$1" | xargs
}

# ---- the tutorial's two networks ----

values='0.5 -1 2.25 3 -0.125 7 1e-3 -4 0 1 -2 0.75 6 -6 0.1 9'
# shellcheck disable=SC2086 # words
array x f32 4x4 $values
model basic <<'END'
input x f32 4x4
output y f32 4x4
constant two f32 scalar 2.0
constant one f32 scalar 1.0
node Mul mul x two -> mul_res
node Add add mul_res one -> y
END
model composite <<'END'
input x f32 4x4
output y f32 4x4
constant two f32 scalar 2.0
constant one f32 scalar 1.0
constant three f32 scalar 3.0
node Mul mul x two -> mul_res
node Add add mul_res one -> add_res
node Pow pow add_res three -> y
END
for network in basic,1,mul,add composite,3,mul,add,pow; do
	IFS=, read -r name power tasks <<<"$network"
	plain "$name"
	echo "x: $(numbers x.npy)"
	echo "result: $(numbers plain.npy)"
	paste -d' ' <(numbers x.npy | tr ' ' '\n') <(numbers plain.npy | tr ' ' '\n') | awk -v p="$power" '
		{ want = (2 * $1 + 1) ^ p; bad += ($2 - want) ^ 2 > (1e-6 * want) ^ 2 }
		END { exit bad || NR != 16 }' || fail "$name computes something else"
	for target in host ascend cpu gpu; do
		for level in 1 2 3; do
			rm -rf dumps
			fuses "$name" $target --opt_level=$level "$tasks"
			! grep -q '^composite' dumps/6_validate.ir || fail "there is a composite in front of all passes"
			grep -q '^composite 0 "Mul_Add_fusion": 2 nodes$' dumps/hwopt_d_fuse_basic_opt_end_graph_0.ir ||
				fail "the first stage does not wrap Mul and Add"
			grep -q "^node . \"pow\" .*composite" dumps/hwopt_d_fuse_basic_opt_end_graph_0.ir &&
				fail "Pow is in the first stage"
			last=$(sed -n 's/^composite //p' dumps/hwopt_d_composite_opt_end_graph_0.ir)
			case $name,$last in
			'basic,0 "Mul_Add_fusion": 2 nodes' | 'composite,0 "Mul_Add_Pow_fusion": 3 nodes') ;;
			*) fail "the second stage makes of $name: $last" ;;
			esac
		done
	done
done

# ---- members of composites ----

array x f32 64x64 0.5 -1 2.25 3 -0.125
model chain <<'END'
input x f32 64x64
output y f32 64x64
constant two f32 scalar 2.0
constant one f32 scalar 1.0
node Mul mul x two -> a
node Tanh tanh a -> b
node Add add b one -> y
END
plain chain
fuses chain host '' mul,tanh,add # without flags it is the planner's
fuses chain host --opt_level=1 mul,tanh,add
fuses chain ascend --disable_expand_ops=Tanh 'mul tanh add' # which is in the lists of the other two
fuses chain cpu '' mul,tanh,add
fuses chain ascend '--enable_cluster_ops=Tanh --disable_expand_ops=Tanh' mul,tanh,add
fuses chain cpu --disable_cluster_ops=Tanh 'mul tanh add'
fuses chain cpu '--enable_cluster_ops=Tanh --disable_cluster_ops=Tanh' 'mul tanh add'
fuses chain cpu '--enable_cluster_ops_only=Tanh,Add --disable_cluster_ops=Tanh' 'mul tanh,add'
fuses chain host --disable_cluster_ops=Tanh 'mul tanh add'
fuses chain cpu --disable_pass=graph_kernel_cluster 'mul tanh add'
fuses chain cpu '--opt_level=0 --enable_pass=graph_kernel_cluster' mul,tanh,add
fuses chain cpu --composite_op_limit_size=2 'mul,tanh add'
fuses chain cpu --disable_fusion_pattern=depth 'mul,tanh,add' # the pattern in width includes that in depth
fuses chain cpu --disable_fusion_pattern=elemwise 'mul tanh add'
fuses chain cpu --enable_fusion_pattern_only=bwd_depth 'mul,tanh,add'
fuses chain cpu --enable_fusion_pattern_only=reduce 'mul tanh add'
explains() { # TASK TEXT
	"$sklink" chain.onnx -L "$top_builddir/kernels" -lskernels --fusion-target cpu --fusion-flags "$flags" --check \
		--explain "$1" >out.txt
	grep -qF "$2" out.txt || { cat out.txt; fail "it does not say: $2"; }
}
flags=--disable_cluster_ops=Tanh
explains tanh "not in one group with 'mul' before it: graph-kernel fusion has it in no composite, and that one in composite 'Mul_fusion'"
flags=--composite_op_limit_size=2
explains add "graph-kernel fusion has it in composite 'Add_split', and that one in composite 'Mul_Tanh_split'"
grep -q '"tiles": "TILE_OTHER_COMPOSITE"\|TILE_OTHER_COMPOSITE' chain.json || "$skdump" --reasons chain.sk |
	grep -q TILE_OTHER_COMPOSITE ||
	fail "no code says so"

# A product is in a group only if flags ask for it, unless the planner is left alone.
model product <<'END'
input x f32 64x64
output y f32 64x64
constant w f32 64x16 0.25 -0.5 1.0
constant two f32 scalar 2.0
constant v f32 16x64 0.125 1.0 -2.0
node MatMul first x w -> a
node Mul mul a two -> b
node MatMul second b v -> y
END
plain product
fuses product cpu '' 'first mul second'
fuses product cpu --enable_cluster_ops=MatMul 'first mul second' # which has no pattern of products
fuses product gpu --enable_cluster_ops=MatMul 'first,mul second'
fuses product gpu '--enable_cluster_ops=MatMul --disable_matmul_post_fusion' 'first mul second'
fuses product ascend --enable_cluster_ops=MatMul 'first mul second' # which has products of half floats only

# ---- reductions ----

# The greatest numbers are read elsewhere, so that the five nodes do not become one operator.
model softmax <<'END'
input x f32 64x64
output y f32 64x64
output m f32 64x1
constant axes i64 1 1
node ReduceMax greatest x axes -> m keepdims=1
node Sub less x m -> d
node Exp exp d -> e
node ReduceSum sum e axes -> s keepdims=1
node Div div e s -> y
END
plain softmax
fuses softmax gpu '' 'greatest less,exp sum div'
fuses softmax gpu --opt_level=3 greatest,less,exp,sum,div
fuses softmax gpu --enable_stitch_fusion greatest,less,exp,sum,div
fuses softmax gpu '--opt_level=3 --enable_stitch_fusion=false' 'greatest less,exp sum div'
fuses softmax gpu '--opt_level=3 --disable_fusion_pattern=stitch' 'greatest less,exp sum div'
fuses softmax cpu --enable_stitch_fusion 'greatest less,exp sum div' # which has no pattern of it
fuses softmax host --opt_level=2 greatest,less,exp,sum,div

# A piece that no loop can compute falls into groups, and the reasons say why.
model turned <<'END'
input x f32 64x64
output y f32 64x64
constant axes i64 1 0
node ReduceSum sum x axes -> s keepdims=1
node Sub less x s -> y
END
plain turned
fuses turned gpu --opt_level=3 'sum less'
"$skdump" --reasons turned.sk | grep -q 'TILE_NOT_DIVIDED\|TILE_SHARED' || { "$skdump" --reasons turned.sk;
	fail "nothing says why"; }
