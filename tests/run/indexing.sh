# Numbers of rows that are only known at run time: those that count from the end, and those that are out of range, which end the
# launch with an error that names the task instead of reading what lies outside.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
/usr/bin/python3 -c 'import onnx, numpy' 2>/dev/null || { echo "needs python3-onnx"; exit 77; }
cat >model.py <<'PY'
import numpy, onnx
from onnx import TensorProto, helper

def save(name, operator, shape, indices, **attributes):
    names = ["x", "i"] + (["u"] if operator.startswith("Scatter") else [])
    shapes = {"x": ([4, 3], TensorProto.FLOAT), "i": (indices, TensorProto.INT64), "u": (indices, TensorProto.FLOAT)}
    node = helper.make_node(operator, names, ["y"], name=f"the {operator}", **attributes)
    inputs = [helper.make_tensor_value_info(n, shapes[n][1], shapes[n][0]) for n in names]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)
    graph = helper.make_graph([node], "g", inputs, [output])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)]), name + ".onnx")

save("gather", "Gather", [2, 3], [2])
save("elements", "GatherElements", [2, 3], [2, 3])
save("scatter", "ScatterElements", [4, 3], [2, 3], reduction="add")
x = numpy.arange(12, dtype=numpy.float32).reshape(4, 3)
numpy.save("x.npy", x)
numpy.save("u.npy", numpy.full((2, 3), 100, numpy.float32))
for kind, last in (("good", -4), ("high", 4), ("low", -5)):
    numpy.save(f"gather-{kind}.npy", numpy.array([3, last]))
    numpy.save(f"elements-{kind}.npy", numpy.array([[3, 3, 3], [0, 0, last]]))
scattered = x.copy()
scattered[3] += 100
scattered[0] += 100
numpy.save("gather-y.npy", x[[3, 0]])
numpy.save("elements-y.npy", x[[3, 0]])
numpy.save("scatter-y.npy", scattered)
PY
/usr/bin/python3 model.py
for name in gather elements scatter; do
	indices=$name
	more=
	[ "$name" != scatter ] || { indices=elements; more=--input=u=u.npy; }
	"$sklink" "$name.onnx" -L "$top_builddir/kernels" -lskernels -o "$name.sk"
	"$skrun" "$name.sk" --input=x=x.npy "--input=i=$indices-good.npy" $more --output=y=y.npy >out.txt
	/usr/bin/python3 -c "import numpy; assert (numpy.load('y.npy') == numpy.load('$name-y.npy')).all()" || fail "$name: wrong result"
	for kind in high low; do
		! "$skrun" "$name.sk" --input=x=x.npy "--input=i=$indices-$kind.npy" $more --output=y=wrong.npy >out.txt 2>&1 ||
			fail "$name: an index out of range is accepted"
		grep -q "the " out.txt || { cat out.txt; fail "$name: nobody knows which task has failed"; }
	done
done
