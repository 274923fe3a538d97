# Operators against ONNX Runtime (tests/operators/peer.py), where ONNXRUNTIME is the folder in which npm has installed
# it.
. "$top_srcdir/tests/lib/lib.sh"
python=/usr/bin/python3 # Debian's: others do not have its onnx
"$python" -c 'import onnx' 2>err.txt || { echo "models cannot be made: python3-onnx is not installed"; exit 77; }
module=${ONNXRUNTIME-}/node_modules/onnxruntime-node
[ -d "$module" ] || { echo \
	"ONNX Runtime is not there: npm install --ignore-scripts onnxruntime-node in a folder, ONNXRUNTIME=FOLDER";
	exit 77; }
"$python" "$top_srcdir/tests/operators/peer.py" "$sklink" "$skrun" "$top_builddir/kernels" "$(realpath "$module")" ||
	fail "wrong results"
