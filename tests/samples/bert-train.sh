#!/bin/sh
# samples/bert --train: a small layer that learns has numpy's losses, and the same bits however it is run; Adam's
# results are where the next run finds them in the same loop; a wrong curve is noticed.
. "$top_srcdir/tests/lib/lib.sh"
python=$(command -v /usr/bin/python3 || true)
"${python:-false}" -c 'import onnx, numpy' 2>err.txt || { echo "python3-onnx is not installed: no model can be made";
	exit 77; }
sample="$top_srcdir/samples/bert/bert.py"
sizes="--train --hidden 64 --heads 4 --intermediate 4096 --sequence 21"
"$python" "$sample" make $sizes layer

# learns NAME OPTION…: linked with the options, the layer learns as numpy has it, and its last run leaves the bits in
# NAME.npy.
learns() {
	name=$1
	shift
	"$sklink" layer/model.onnx @layer/options -L "$top_builddir/kernels" -lskernels "$@" -o "$name.sk"
	proved "$name.sk"
	set --
	for file in layer/*.npy; do
		input=${file#layer/}
		set -- "$@" "--input=${input%.npy}=$file"
	done
	for how in '' '--cores 1' '--cores 5' --unfused --serial; do
		rm -f losses.npy weight.npy
		# shellcheck disable=SC2086 # words
		"$skrun" "$name.sk" "$@" --repeat 20 --output losses=losses.npy --output \
			output.dense.weight=weight.npy $how >out.txt ||
			fail "$name: $how: $(cat out.txt)"
		[ -e "$name.npy" ] || { cp losses.npy "$name.npy"; cp weight.npy "$name.weight.npy"; }
		cmp losses.npy "$name.npy" && cmp weight.npy "$name.weight.npy" || fail "$name: $how: other bits"
	done
	"$python" "$sample" check $sizes layer "$name.npy" || fail "$name: numpy finds something else"
}
learns plain
learns nothing --fusion-flags=--opt_level=0
cmp plain.npy nothing.npy && cmp plain.weight.npy nothing.weight.npy || fail "what is fused by itself changes bits"
learns expanded --fusion-target=ascend
cmp -s plain.npy expanded.npy && fail "nothing is expanded"
cmp -s plain.npy layer/losses.npy && fail "there is no curve"
"$skdump" --steps plain.sk >steps.txt
grep -q '^        output.dense.weight/Adam#2' steps.txt || { cat steps.txt;
	fail "what Adam makes is written behind it"; }
fails_with 'the losses are .*, expected' "$python" "$sample" check $sizes layer layer/losses.npy
