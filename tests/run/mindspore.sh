# MindSpore's operators compute what numpy says (tests/onnx/mindspore.py), and the model as text is the same network.
. "$top_srcdir/tests/lib/lib.sh"
python=/usr/bin/python3 # Debian's: others do not have its onnx
"$python" -c 'import numpy, onnx' 2>err.txt || { echo "nothing makes the models: python3-onnx is not installed"; exit 77; }
"$python" "$top_srcdir/tests/onnx/mindspore.py" "$sklink" "$skrun" "$top_builddir/kernels" || fail "wrong results"

set -- -L "$top_builddir/kernels" -lskernels
"$sklink" model.onnx "$@" --model-text=model.pbtxt -o model.sk
grep -q 'domain: "sklink"' model.pbtxt || fail "the text has no operator of the domain"
"$sklink" model.pbtxt "$@" -o text.sk || fail "the text is not linked"
for package in model text; do
	"$skdump" $package.sk | sed 1d >$package.txt
done
diff model.txt text.txt || fail "the text is another network"
