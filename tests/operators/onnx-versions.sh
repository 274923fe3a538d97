# Operators of all operator sets are read as ONNX's schemas have them (tests/operators/versions.py).
. "$top_srcdir/tests/lib/lib.sh"
python=/usr/bin/python3 # Debian's: others do not have its onnx
"$python" -c 'import onnx' 2>err.txt || { echo "nothing has the schemas: python3-onnx is not installed"; exit 77; }
"$python" "$top_srcdir/tests/operators/versions.py" "$sklink" "$top_srcdir/doc/reference/operators.md" ||
	fail "operators are not read as ONNX has them"
