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
printf 'sklink: 1\ntensors: {x: {dtype: f32, shape: [4]}}\ntasks: [{name: t, op: Relu, inputs: x, outputs: x}]\n' >m.yaml
fails_with "m.yaml: --keep is about a model, and this manifest names none" "$sklink" m.yaml -L"$top_builddir/kernels" -lskernels -o no.sk --keep x
