# Shared by the end-to-end scripts that link models: `. "$top_srcdir/tests/lib/models.sh"` after lib.sh.
make_model=$top_builddir/tests/lib/make-model
python=/usr/bin/python3 # Debian's: others do not have its onnx
export PYTHONPATH=$top_srcdir/tests/lib PYTHONDONTWRITEBYTECODE=1

# model NAME: standard input becomes NAME.onnx.
model() {
	"$make_model" "$1.onnx"
}

# model_with_split NAME [SHAPE]: NAME.onnx, of which the second node, a split along rows, has no task.
model_with_split() {
	model "$1" <<LINES
opset 18
input x f32 ${2-4x8}
output y f32 none
output z f32 none
node Exp e x -> a
node Split split a -> u v axis=0 num_outputs=2
node Sin s u -> y
node Cos c v -> z
LINES
}

# model_with_attention NAME: NAME.onnx of one attention of 4 heads, with positions that its sizes B and S give; the
# lines of standard input are added.
model_with_attention() {
	{
		cat <<'LINES'
input ids i64 BxS
output y f32 none
constant table f32 100x16 0.5
constant places f32 64x16 0.25
constant w f32 16x16 0.1
constant zero i64 scalar 0
constant one i64 scalar 1
constant axis i64 1 0
constant four i64 1 4
constant rest i64 1 -1
node Shape _ ids -> shape
node Gather _ shape zero -> b axis=0
node Gather _ shape one -> l axis=0
node Unsqueeze _ b axis -> b1
node Unsqueeze _ l axis -> l1
node Range _ zero l one -> range
node Gather position places range -> positions axis=0
node Gather word table ids -> embedded axis=0
node Add sum embedded positions -> x
node MatMul q x w -> q0
node Concat _ b1 l1 four four -> split axis=0
node Reshape _ q0 split -> q1
node Transpose _ q1 -> q2 perm=[0,2,1,3]
node Transpose _ q1 -> k2 perm=[0,2,3,1]
node MatMul scores q2 k2 -> scored
node Softmax soft scored -> soft axis=-1
node MatMul mix soft q2 -> mixed
node Transpose _ mixed -> back perm=[0,2,1,3]
node Concat _ b1 l1 rest -> joined axis=0
node Reshape _ back joined -> y
LINES
		cat
	} | model "$1"
}

# array NAME TYPE SHAPE VALUE…: NAME.npy.
array() {
	local name=$1
	shift
	"$make_model" "$name.npy" "$@"
}

# refuses PATTERN MODEL ARGUMENT…: linking MODEL.onnx with the arguments fails with a line like that, and leaves no
# files.
refuses() {
	local pattern=$1 model=$2
	shift 2
	rm -f out.sk*
	fails_with "$pattern" "$sklink" "$model.onnx" -L "$top_builddir/kernels" -lskernels "$@" -o out.sk
	[ -z "$(ls | grep '^out\.sk')" ] || fail "something was left behind: $(ls)"
}

# needs_python: a script that makes models with python3-onnx is skipped without it.
needs_python() {
	"$python" -c 'import numpy, onnx' 2>err.txt || {
		echo "nothing makes the models: python3-onnx is not installed"; exit 77; }
}

# agrees WAYS NAME…: each NAME.onnx, which tests/lib/models.py has written, gives the expected results, run in each of
# these ways.
agrees() {
	local ways=$1 name way operand inputs outputs pairs=()
	shift
	for name; do
		"$sklink" "$name.onnx" -L "$top_builddir/kernels" -lskernels -o "$name.sk"
		inputs=()
		for operand in $(sed 's,/.*,,' "$name.names"); do
			inputs+=("--input=$operand=$name.$operand.npy")
		done
		for way in $ways; do
			outputs=()
			for operand in $(sed 's,.*/,,' "$name.names"); do
				outputs+=("--output=$operand=$name$way.$operand.npy")
				pairs+=("$name$way.$operand.npy" "$name.$operand.want.npy")
			done
			"$skrun" "$name.sk" "${inputs[@]}" "${outputs[@]}" "$way" || fail "$name $way"
		done
	done
	"$python" "$top_srcdir/tests/lib/models.py" "${pairs[@]}" || fail "wrong results"
}

# refusals: bad0.onnx, bad1.onnx and so on, each with one node, are refused there with a text like the next line of
# standard input.
refusals() {
	local number=0 pattern
	while read -r pattern; do
		refuses "error: bad$number.onnx: node 'the node' .*: $pattern" "bad$number"
		number=$((number + 1))
	done
	[ $number -gt 0 ] && [ ! -e "bad$number.onnx" ] || fail "nothing is said of bad$number.onnx"
}
