# --keep makes inner values outputs, under their names, and changes no other result.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"

link() { # PACKAGE ARGUMENT…
	local package=$1
	shift
	"$sklink" model.onnx -L"$top_builddir/kernels" -lskernels -o "$package" "$@"
}
model model <<'M'
input x f32 2x4
output y f32 none
constant two f32 scalar 2.0
constant w f32 4x4 1.0
node Mul mul x two -> /layer/a
node Add add /layer/a two -> /layer/b[1]
node MatMul product /layer/b[1] w -> c
node Relu end c -> y
node Neg unused x -> z
M
array x f32 2x4 1.0 2.0 3.0 4.0 5.0 6.0 7.0 8.0
array a f32 2x4 2.0 4.0 6.0 8.0 10.0 12.0 14.0 16.0
array b f32 2x4 4.0 6.0 8.0 10.0 12.0 14.0 16.0 18.0
array c f32 2x4 28.0 28.0 28.0 28.0 60.0

has() { # PACKAGE NAME=FILE…: these are the outputs beside y
	local package=$1 pair
	shift
	"$skrun" "$package" --list | awk '$1 == "output" { print $2 }' | sort >outputs.txt
	{ echo y; printf '%s\n' "${@%=*}"; } | sort | diff - outputs.txt >&2 || fail "$package has other outputs"
	for pair in "$@" y=c; do
		"$skrun" "$package" --input x=x.npy --output "${pair%=*}=out.npy"
		cmp "${pair##*=}.npy" out.npy || fail "$package: ${pair%=*} is wrong"
	done
}
link one.sk --keep /layer/a
has one.sk /layer/a=a
link layer.sk --keep '/layer/*' --keep /layer/a
has layer.sk /layer/a=a '/layer/b[1]=b'
link exact.sk --keep '/layer/b[1]'
has exact.sk '/layer/b[1]=b'
link all.sk --keep '*' --model-text text.pbtxt
has all.sk /layer/a=a '/layer/b[1]=b' c=c
"$sklink" text.pbtxt -L"$top_builddir/kernels" -lskernels -o text.sk
has text.sk /layer/a=a '/layer/b[1]=b' c=c
link states.sk --keep /layer/a --state x=/layer/a

refuses "model.onnx: --keep 'layer/a': no node that the model's outputs need makes a value of such a name; did you mean '/layer/a'\?" model --keep layer/a
refuses "model.onnx: --keep 'z': no node that the model's outputs need" model --keep z
refuses "model.onnx: --keep 'x': it is an input of the model, which no node makes" model --keep x
refuses "model.onnx: --keep 'two': it is a constant of the model, which no node makes" model --keep two
refuses "model.onnx: --keep 'nothing\*': no node" model --keep 'nothing*'
printf 'sklink: 1\ntensors: {x: {dtype: f32, shape: [4]}}\ntasks: [{name: t, op: Relu, inputs: x, outputs: x}]\n' \
	>m.yaml
fails_with "m.yaml: --keep is about a model, and this manifest names none" "$sklink" m.yaml -L"$top_builddir/kernels" \
	-lskernels -o no.sk --keep x

# Values that passes of fusion would remove or replace stay if they are kept: alone, and all at once.
model rewritten <<'M'
input x f32 4x4
output y f32 none
output z f32 none
constant one f32 scalar 1.0
constant zero f32 scalar 0.0
constant two f32 scalar 2.0
node Neg neg1 x -> n1
node Neg neg2 n1 -> n2
node Add zero n2 zero -> sum
node Transpose turn1 sum -> t1 perm=[1,0]
node Transpose turn2 t1 -> t2 perm=[1,0]
node Relu same1 t2 -> r1
node Relu same2 t2 -> r2
node Mul once r1 one -> m
node Add both m r2 -> y
node Pow square y two -> z
M
array x f32 4x4 1.0 -2.0 3.0 -4.0 5.0 -6.0 7.0 -8.0 9.5
rewritten() { # PACKAGE ARGUMENT…
	"$sklink" rewritten.onnx -L"$top_builddir/kernels" -lskernels --fusion-target=ascend -o "$@"
}
rewritten plain.sk '--fusion-flags=--opt_level=0' --keep '*'
rewritten fused.sk '--fusion-flags=--opt_level=3' --dump-dir dumps
ls dumps | grep -q arithmetic_simplify || fail "nothing is simplified"
[ "$("$skdump" --steps fused.sk | wc -l)" -lt "$("$skdump" --steps plain.sk | wc -l)" ] || fail "no task is left out"
rewritten all.sk '--fusion-flags=--opt_level=3' --keep '*'
for value in n1 n2 sum t1 t2 r1 r2 m y z; do
	rewritten one.sk '--fusion-flags=--opt_level=3' --keep "$value"
	"$skrun" plain.sk --input x=x.npy --output "$value=want.npy"
	for package in one all; do
		"$skrun" $package.sk --input x=x.npy --output "$value=out.npy"
		cmp want.npy out.npy || fail "$package.sk: $value is wrong"
	done
done
