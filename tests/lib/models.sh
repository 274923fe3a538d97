# Shared by the end-to-end scripts that link models: `. "$top_srcdir/tests/lib/models.sh"` after lib.sh.
make_model=$top_builddir/tests/lib/make-model
python=/usr/bin/python3 # Debian's: others do not have its onnx
export PYTHONPATH=$top_srcdir/tests/lib PYTHONDONTWRITEBYTECODE=1

# model NAME: standard input becomes NAME.onnx.
model() {
	"$make_model" "$1.onnx"
}

# model_with_split NAME: NAME.onnx, of which the second node, a split along rows, has no task.
model_with_split() {
	model "$1" <<'LINES'
opset 18
input x f32 4x8
output y f32 none
output z f32 none
node Exp e x -> a
node Split split a -> u v axis=0 num_outputs=2
node Sin s u -> y
node Cos c v -> z
LINES
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
