#!/bin/bash
# Constants with elements of 2 and 4 bits: read by DequantizeLinear and Cast, against numpy; refused elsewhere.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
cat >narrow.py <<'PY'
import os, numpy
from onnx import TensorProto, helper, numpy_helper

UINT4, INT4, UINT2, INT2 = 21, 22, 25, 26  # newer than Debian's onnx
random = numpy.random.default_rng(1)

def tensor(name, number, values, field="raw"):
    bits = 4 if number in (UINT4, INT4) else 2
    each = 8 // bits
    flat = numpy.concatenate([values.reshape(-1), numpy.zeros(-values.size % each, int)]).reshape(-1, each) & ((1 << bits) - 1)
    packed = (flat << bits * numpy.arange(each)).sum(1).astype(numpy.uint8)
    message = TensorProto(name=name, data_type=number, dims=values.shape)
    if field == "raw":
        message.raw_data = packed.tobytes()
    elif field == "integers":
        message.int32_data.extend(packed.tolist())
    else:
        packed.tofile(name + ".bin")
        message.data_location = TensorProto.EXTERNAL
        for key, value in (("location", name + ".bin"), ("length", str(len(packed)))):
            message.external_data.add(key=key, value=value)
    return message

def draw(number, *shape):
    least, most = {UINT4: (0, 16), INT4: (-8, 8), UINT2: (0, 4), INT2: (-2, 2)}[number]
    return random.integers(least, most, shape)

def save(name, nodes, constants, x, y):
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], constants)
    with open(name + ".onnx", "wb") as file:
        file.write(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=8).SerializeToString())
    numpy.save(f"{name}.x.npy", x)
    numpy.save(f"{name}.y.want.npy", y)
    with open(name + ".names", "w") as file:
        print("x / y", file=file)

names = []
for number, field, form in ((UINT4, "raw", "one"), (INT4, "integers", "columns"), (INT4, "outside", "blocks"), (UINT4, "outside", "blocks"),
                            (UINT2, "raw", "columns"), (INT2, "integers", "blocks"), (INT2, "outside", "cast"), (INT4, "raw", "cast")):
    w, x = draw(number, 37, 5), random.standard_normal((3, 37)).astype(numpy.float32)
    scales = (0.1 + random.random({"one": (), "columns": (5,), "blocks": (3, 5), "cast": ()}[form])).astype(numpy.float32)
    zeros = draw(number, *scales.shape)
    repeated = [numpy.repeat(a, 16, 0)[:37] if form == "blocks" else a for a in (scales, zeros)]
    attributes = {"columns": {"axis": 1}, "blocks": {"axis": 0, "block_size": 16}}.get(form, {})
    first = helper.make_node("DequantizeLinear", ["w", "s", "z"], ["d"], "first", **attributes)
    constants = [tensor("w", number, w, field), numpy_helper.from_array(scales, "s"), tensor("z", number, zeros)]
    numbers = (w - repeated[1]) * repeated[0].astype(float)
    if form == "cast":
        first, numbers = helper.make_node("Cast", ["w"], ["d"], "first", to=TensorProto.FLOAT), w
    name = f"narrow{len(names)}"
    if field == "outside":
        os.replace("w.bin", name + ".bin")
        constants[0].external_data[0].value = name + ".bin"
    save(name, [first, helper.make_node("MatMul", ["x", "d"], ["y"], "second")], constants[:2 if form == "cast" else 3], x, x.astype(float) @ numbers)
    names.append(name)

x = numpy.zeros((2, 4), numpy.float32)
scale = numpy_helper.from_array(numpy.float32(1), "s")
zero = tensor("z", INT4, numpy.zeros((), int))
save("bad0", [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], "the node"), helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"], "back")],
     [scale, zero], x, x)
short = tensor("w", INT4, draw(INT4, 4, 3))
short.raw_data = short.raw_data[:-1]
node = [helper.make_node("DequantizeLinear", ["w", "s"], ["d"], "d"), helper.make_node("MatMul", ["x", "d"], ["y"], "m")]
save("short", node, [short, scale], x, x)
body = lambda name, op: helper.make_graph([helper.make_node(op, ["w"] if op == "Neg" else ["x"], [name], "inner")], name, [],
                                          [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)])
save("body", [helper.make_node("If", ["c"], ["y"], "if", then_branch=body("a", "Neg"), else_branch=body("b", "Abs"))],
     [numpy_helper.from_array(numpy.array(False), "c"), tensor("w", INT4, draw(INT4, 2, 4))], x, x)
print(*names)
PY
"$python" narrow.py >names.txt
agrees --cores=2 $(cat names.txt)
refusals <<'END'
'z' has elements of 4 bits, which only DequantizeLinear, Cast and GatherBlockQuantized can read$
END
refuses "initializer 'w': it has 5 bytes, but its shape takes 6" short
refuses "node 'inner' .*: 'w' has elements of 4 bits" body
