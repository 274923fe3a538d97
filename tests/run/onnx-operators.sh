# Features of operators that ONNX's backend tests do not ask for compute what numpy says (tests/onnx/operators.py).
. "$top_srcdir/tests/lib/lib.sh"
python=/usr/bin/python3 # Debian's: others do not have its onnx
"$python" -c 'import numpy, onnx' 2>err.txt || { echo "nothing makes the models: python3-onnx is not installed"; exit 77; }
"$python" "$top_srcdir/tests/onnx/operators.py" "$sklink" "$skrun" "$top_builddir/kernels" || fail "wrong results"
