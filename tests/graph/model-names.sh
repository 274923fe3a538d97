# Operators that MindSpore, GE and TorchAir call otherwise are linked as ONNX's, and keep their names.
. "$top_srcdir/tests/lib/lib.sh"
make_model=$top_builddir/tests/lib/make-model
set -- -L "$top_builddir/kernels" -lskernels

# same MODEL: it makes the package that the file `onnx.onnx` makes.
"$make_model" onnx.onnx <<'END'
opset 24
input x f32 4x8
input w f32 8x8
constant axes i64 1 1
node Gemm product x w -> a transB=1
node Relu relu a -> b
node Gelu gelu b -> c approximate='tanh'
node ReduceSum sum c axes -> d keepdims=0
node Swish swish d -> y
output y f32 none
END
cat >mindspore.txt <<'END'
node mindspore:MatMul product x w -> a transpose_b=1 transpose_a=0
node mindspore:ReLU relu a -> b
node mindspore:GeLU gelu b -> c
node mindspore:ReduceSum sum c axes -> d skip_mode=0
node mindspore:SiLU swish d -> y
END
cat >ge.txt <<'END'
node DOMAIN:MatMulV2 product x w -> a transpose_x2=1 offset_x=0
node DOMAIN:Relu relu a -> b
node DOMAIN:Gelu gelu b -> c
node DOMAIN:ReduceSum sum c axes -> d keep_dims=0
node DOMAIN:Swish swish d -> y scale=1.0
END
sed s/DOMAIN/ge/ ge.txt >ge-nodes.txt
sed s/DOMAIN/torchair/ ge.txt >torchair-nodes.txt
mv mindspore.txt mindspore-nodes.txt
"$sklink" onnx.onnx "$@" -o onnx.sk
"$skdump" --all onnx.sk | sed 1d >onnx.txt
for source in mindspore ge torchair; do
	{ printf 'opset 1 %s\ninput x f32 4x8\ninput w f32 8x8\nconstant axes i64 1 1\n' $source &&
		cat $source-nodes.txt && echo output y f32 none; } |
		"$make_model" $source.onnx
	"$sklink" $source.onnx "$@" -o $source.sk --model-text=$source.pbtxt
	"$skdump" --all $source.sk | sed 1d | diff onnx.txt - || fail "$source: another package"
	"$sklink" $source.pbtxt "$@" -o $source.sk || fail "$source: the text is not linked"
	grep -q "\"$source:" $source.pbtxt || fail "$source: the names are lost"
done

# Lists match either name, and nothing else.
for name in GeLU Gelu; do
	"$sklink" mindspore.onnx "$@" --scope 'all=*' --scope-options all=dcci-before-kernel-start=$name -o list.sk ||
		fail "$name is no name"
done
fails_with "no task of scope 'all' runs a kernel or an operation 'Silu'" "$sklink" mindspore.onnx "$@" --scope 'all=*' \
	--scope-options all=dcci-before-kernel-start=Silu -o no.sk

# Models that the table cannot express are refused, with the operator's own name.
refuses() { # PATTERN NODE
	printf 'opset 1 mindspore\ninput x f32 4x4x4\n%s\noutput y f32 none\n' "$2" | "$make_model" bad.onnx
	fails_with "$1" "$sklink" bad.onnx -L "$top_builddir/kernels" -lskernels -o no.sk
	[ ! -e no.sk ] || fail "something was left behind"
}
refuses "node 'n' .mindspore:BatchMatMul.: the operator has no attribute 'adj_b'" \
	'node mindspore:BatchMatMul n x x -> y adj_b=1'
refuses "node 'n' .Grau.: there is no operator 'Grau' in the domain 'mindspore'" 'node mindspore:Grau n x -> y'
refuses "node 'n' .mindspore:ReduceSum.: attribute 'skip_mode' must be 0" \
	'node mindspore:ReduceSum n x -> y skip_mode=1'

# Operands that operators of sklink's domain cannot accept are an error at the node.
refuses "node 'n' .mindspore:ApplyMomentum.: 'x' has 64 elements, and must be one number" \
	'node mindspore:ApplyMomentum n x x x x x -> y'
refuses "node 'n' .mindspore:BinaryCrossEntropy.: reduction is 'all', and must be none, sum or mean" \
	"node mindspore:BinaryCrossEntropy n x x -> y reduction='all'"
refuses "node 'n' .mindspore:Dropout.: it keeps a part of 0, which is not above 0 and at most 1" \
	'node mindspore:Dropout n x -> y keep_prob=0.0'
for ratio in 'f32 2 0.25' 'f16 1 0.25'; do
	refuses "node 'n' .Dropout.: 'r' is not one number of f32 or f64" "opset 21
constant r $ratio
constant t bool 1 1
node Dropout n x r t -> y"
done
refuses "node 'n' .Dropout.: 't' is not one truth value" "opset 21
constant r f32 1 0.25
constant t bool 2 1
node Dropout n x r t -> y"
refuses "node 'n' .mindspore:LayerNorm.: 'c' is not a number of the type of 'x' for each of the 16 elements from begin_norm_axis on" \
	'constant c f32 4 1
node mindspore:LayerNorm n x c c -> y'
refuses "node 'n' .mindspore:SoftmaxGradExt.: its axes are not neighbours" \
	'node mindspore:SoftmaxGradExt n x x x -> y axis=[0,2]'
refuses "node 'n' .mindspore:StridedSlice.: step 0 leads nowhere" 'constant c i64 3 0
node mindspore:StridedSlice n x c c c -> y'
refuses "node 'n' .mindspore:StridedSlice.: it adds 16 dimensions, and a tensor has 8 at most" \
	'constant c i64 16 0
node mindspore:StridedSlice n x c c -> y new_axis_mask=65535'
refuses "node 'n' .mindspore:Transpose.: its permutation is none of the 3 axes of 'x'" 'constant c i64 3 0
node mindspore:Transpose n x c -> y'

# The document has each name.
sed -n 's/^ALIAS("[a-z]*", "\([A-Za-z0-9_]*\)".*/\1/p' "$top_srcdir/graph/onnx/aliases.def" >names.txt
[ "$(wc -l <names.txt)" -gt 100 ] || fail "the table is not understood"
while read -r name; do
	grep -q "\`$name\`" "$top_srcdir/doc/reference/models.md" || fail "doc/reference/models.md has no $name"
done <names.txt
