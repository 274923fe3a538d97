# MindSpore's operators give numpy's results (tests/operators/mindspore.py), and the model as text is the same network.
# Parameters that are assigned to are kept. Meaningless attributes are refused.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
set -e

# Three steps of p = p + x, q = x + 1 in place of q.
model steps <<'END'
opset 17
opset 1 sklink
input p f32 4
input q f32 4
input x f32 4
constant one f32 1 1
output p_new f32 4
output q_new f32 4
node sklink:AssignAdd grow p x -> p_new
node Add more x one -> t
node sklink:Assign take q t -> q_new
END
"$sklink" steps.onnx -L "$top_builddir/kernels" -lskernels --state p=p_new --state q=q_new -o steps.sk
array p f32 4 10 20 30 40
array q f32 4 0 0 0 0
array x f32 4 1 2 -1 0.5
for ((step = 0; step < 3; step++)); do
	"$skrun" steps.sk --input p=p.npy --input q=q.npy --input x=x.npy --output p=p.npy --output q=q.npy --cores 3
done
array p.want f32 4 13 26 27 41.5
array q.want f32 4 2 3 0 1.5
cmp p.npy p.want.npy && cmp q.npy q.want.npy || fail "the parameters are not what three steps make of them"

# GE's names: x / (2 (x + b)), as integers.
cat >ge.pbtxt <<'MODEL'
producer_name: "GE"
graph {
  node {
    output: "x:0" name: "x" op_type: "ge:Data"
    attribute { name: "output_desc_dtype:0" s: "DT_FLOAT" type: STRING }
    attribute { name: "output_desc_shape:0" ints: [1, 2, 4] type: INTS }
    attribute { name: "index" i: 0 type: INT }
  }
  node {
    output: "b:0" name: "b" op_type: "ge:Data"
    attribute { name: "output_desc_dtype:0" s: "DT_FLOAT" type: STRING }
    attribute { name: "output_desc_shape:0" ints: [4] type: INTS }
    attribute { name: "index" i: 1 type: INT }
  }
  node { input: "x:0" input: "b:0" output: "sum:0" name: "sum" op_type: "ge:BiasAdd" }
  node { input: "sum:0" input: "x:0" output: "half:0" name: "half" op_type: "ge:SqrtGrad" }
  node { input: "half:0" output: "cast:0" name: "cast" op_type: "ge:Cast" attribute { name: "dst_type" i: 3 type: INT } }
  node { input: "cast:0" name: "end" op_type: "ge:NetOutput" }
}
MODEL
"$sklink" ge.pbtxt -L "$top_builddir/kernels" -lskernels -o ge.sk
array x f32 1x2x4 8 16 24 -32 80 2 4 0
array b f32 4 -7 -14 -28 32.5
array y.want i32 1x2x4 4 4 -3 -32 0 0 0 0
"$skrun" ge.sk --input x=x.npy --input b=b.npy --output cast:0=y.npy
cmp y.npy y.want.npy || fail "GE's operators compute something else"

# x is f32, i is i32, both of 2x3x4; b is f32 and has 3 elements.
while IFS='|' read -r node pattern; do
	model bad <<-END
	opset 17
	opset 1 mindspore
	input x f32 2x3x4
	input b f32 3
	input i i32 2x3x4
	node mindspore:$node
	output y f32 none
	END
	refuses "error: bad.onnx: node 'the_node' .*: $pattern" bad
done <<'END'
DivMod the_node x x -> y rounding_mode='ceil'|rounding_mode is 'ceil', and must be floor or trunc, or absent
DivMod the_node i i -> y|quotients of integers need a rounding_mode
BiasAdd the_node x b -> y format='NHWC'|'b' is not a number for each channel of 'x'
BiasAdd the_node x b -> y format='NCW'|data_format is 'NCW', and must be NCHW, NCDHW or NHWC
BiasAdd the_node b b -> y|'b' is not a number for each channel of 'b'
Assign the_node b x -> y|.*broadcast
AssignAdd the_node b i -> y|.*broadcast
SqrtGrad the_node x i -> y|'x' is f32, and 'i' is i32
ClampScalar the_node x b b -> y|it has 3 inputs, and the operator has 1 to 3, 2 of them as attributes
SqrtGrad the_node x -> y|it has 1 input, and the operator has 2
SqrtGrad the_node _ x -> y|input 0 is absent, and the operator needs it
AddN the_node x _ x -> y|input 1 is absent, and the operator needs it
Concat the_node x x _ -> y|input 2 is absent, and the operator needs it
MaximumGrad the_node b x x -> y|.*broadcast
MaximumGrad the_node x x b -> y|'b' does not have the shape that 'x' and 'x' are broadcast to
FillV2 the_node b -> y|it has 1 input, and the operator has 2
FillV2 the_node i b -> y|the shape of its outputs depends on the elements of 'i'
ClampScalar the_node x -> y min='0'|attribute 'min' is not a number
SoftplusExt the_node x -> y beta='1'|attribute 'beta' is a number, not a text
END

needs_python
"$python" "$top_srcdir/tests/operators/mindspore.py" "$sklink" "$skrun" "$top_builddir/kernels" || fail "wrong results"

set -- -L "$top_builddir/kernels" -lskernels
"$sklink" model.onnx "$@" --model-text=model.pbtxt -o model.sk
grep -q 'domain: "sklink"' model.pbtxt || fail "the text has no operator of the domain"
"$sklink" model.pbtxt "$@" -o text.sk || fail "the text is not linked"
for package in model text; do
	"$skdump" $package.sk | sed 1d >$package.txt
done
diff model.txt text.txt || fail "the text is another network"
