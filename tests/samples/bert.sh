#!/bin/sh
# samples/bert: small encoders are right by numpy's computation, bit-identical however they are run, and in one launch;
# a wrong result is noticed.
. "$top_srcdir/tests/lib/lib.sh"
python=$(command -v /usr/bin/python3 || true)
"${python:-false}" -c 'import onnx, numpy' 2>err.txt || { echo "python3-onnx is not installed: no model can be made";
	exit 77; }
sizes="-n 2 --hidden 48 --heads 3 --intermediate 80 --sequence 21"

# encoder OPTION…: an encoder of these options is made, linked and run as it is run.
encoder() {
	"$python" "$top_srcdir/samples/bert/bert.py" make $sizes "$@" .
	"$sklink" model.onnx -L "$top_builddir/kernels" -lskernels -o bert.sk
	"$skdump" --verify bert.sk | grep -q '^verified: 1 launch, ' || fail "$*: not one launch"
	"$skdump" --steps bert.sk >steps.txt
	! grep 'sk_pow' steps.txt || fail "$*: squares are computed as powers"
	case $* in *--int8*) [ "$(grep -c 'sk_matmulinteger.*_packed' steps.txt)" = 12 ] ||
		fail "not all products of weights are of bytes" ;; esac
	for how in '--cores 1 --verify' '--cores 2 --verify' '--cores 7 --verify' --unfused --serial; do
		rm -f y.npy
		"$skrun" bert.sk --input x=x.npy --output y=y.npy $how >out.txt || fail "$*: $how: $(cat out.txt)"
		"$python" "$top_srcdir/samples/bert/bert.py" check $sizes "$@" . y.npy
	done
}
encoder
encoder --batch 2
# With 128 rows, each variance is one of 128 elements; the tasks around it are still in tiles of some rows, all in one
# step.
sizes="-n 1 --hidden 48 --heads 3 --intermediate 80 --sequence 128"
encoder
grep -q '/LayerNorm/' steps.txt && grep -q '/act/' steps.txt && ! grep -E '^ +[0-9]+ .*/(LayerNorm|act)/' steps.txt ||
	fail "normalisations and activations are no tile groups"
sizes="-n 2 --hidden 48 --heads 3 --intermediate 80 --sequence 21"
encoder --int8
# Nodes that are told apart do not become one.
"$sklink" model.onnx -L "$top_builddir/kernels" -lskernels --scope 'rest=*' --scope 'bytes=*/QuantizeLinear' -o \
	scopes.sk
"$skdump" --steps scopes.sk >steps.txt
! grep 'sk_matmulinteger' steps.txt || fail "a product and what quantises it are in two scopes, and are one task"
# A factor of several matrices stays one product of floats, which one call computes.
"$python" - <<'PY'
import onnx
from onnx import TensorProto as T, helper as h, numpy_helper
import numpy
info = [h.make_tensor_value_info(name, T.UINT8, [5000, 2, 2]) for name in "aby"]
scale = numpy_helper.from_array(numpy.float32(0.5), "s")
nodes = [h.make_node("DequantizeLinear", ["a", "s"], ["fa"]), h.make_node("DequantizeLinear", ["b", "s"], ["fb"]),
         h.make_node("MatMul", ["fa", "fb"], ["fy"]), h.make_node("QuantizeLinear", ["fy", "s"], ["y"])]
onnx.save(h.make_model(h.make_graph(nodes, "several", info[:2], info[2:], [scale]), opset_imports=[h.make_opsetid("", 13)]), "several.onnx")
PY
"$sklink" several.onnx -L "$top_builddir/kernels" -lskernels -o several.sk ||
	fail "a product of many matrices is refused"
"$skrun" several.sk --random 1 --verify >/dev/null
fails_with 'y\[[0-9, ]*\] is .*, expected' "$python" "$top_srcdir/samples/bert/bert.py" check $sizes --int8 . x.npy
