# Features of operators that ONNX's backend tests do not cover give numpy's results (tests/operators/operators.py), and
# random cases of Resize those of fractions (tests/operators/resize.py; RESIZE_CASES of them from RESIZE_SEED on).
. "$top_srcdir/tests/lib/lib.sh"
python=/usr/bin/python3 # Debian's: others do not have its onnx
"$python" -c 'import numpy, onnx' 2>err.txt || { echo "nothing makes the models: python3-onnx is not installed";
	exit 77; }
"$python" "$top_srcdir/tests/operators/operators.py" "$sklink" "$skrun" "$top_builddir/kernels" || fail "wrong results"
"$python" "$top_srcdir/tests/operators/resize.py" "$sklink" "$skrun" "$top_builddir/kernels" "${RESIZE_CASES:-250}" \
	"${RESIZE_SEED:-1}" ||
	fail "wrong results"
