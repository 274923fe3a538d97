#!/bin/bash
# Constants of types that only files have (integers of 2 and 4 bits, floats of 4 and 8), against numpy: read by Cast and
# DequantizeLinear, and by products in which they stay packed; refused elsewhere.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
cat >narrow.py <<'PY'
import os, numpy
from onnx import TensorProto, helper, numpy_helper

# Numbers of types that are newer than Debian's onnx.
E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ, UINT4, INT4, E2M1, E8M0, UINT2, INT2 = 17, 18, 19, 20, 21, 22, 23, 24, 25, 26
FLOATS = {E4M3FN: (3, 7), E4M3FNUZ: (3, 8), E5M2: (2, 15), E5M2FNUZ: (2, 16), E2M1: (1, 1), E8M0: (0, 127)}
random = numpy.random.default_rng(1)

def bits_of(number):
    return {UINT2: 2, INT2: 2, UINT4: 4, INT4: 4, E2M1: 4}.get(number, 8)

def decode(number, codes):
    """Floats by the bits of f32, scaled by a power of two."""
    mantissa, bias = FLOATS[number]
    sign = 0 if number == E8M0 else 1 << (bits_of(number) - 1)
    magnitude = (codes & ~sign).astype(numpy.uint32)
    with numpy.errstate(invalid="ignore"):
        reals = (magnitude << (23 - mantissa)).view(numpy.float32).astype(float) * 2.0 ** (127 - bias)
    if number == E8M0:
        reals = 2.0 ** (codes.astype(float) - 127)
    elif number == E5M2:  # the greatest exponent is not that of f32
        reals = numpy.where(magnitude == 0x7c, numpy.inf, numpy.where(magnitude > 0x7c, numpy.nan, reals))
    elif number == E4M3FN:
        reals = numpy.where(magnitude == 0x7f, numpy.nan, reals)
    reals = numpy.where(codes & sign > 0, -reals, reals)
    nan = {E4M3FNUZ: 0x80, E5M2FNUZ: 0x80, E8M0: 0xff}.get(number)
    return reals if nan is None else numpy.where(codes == nan, numpy.nan, reals)

def tensor(name, number, values, field="raw"):
    bits = bits_of(number)
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
    kind = TensorProto.FLOAT16 if x.dtype == numpy.float16 else TensorProto.FLOAT
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", kind, x.shape)],
                              [helper.make_tensor_value_info("y", kind, None)], constants)
    sets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    with open(name + ".onnx", "wb") as file:
        file.write(helper.make_model(graph, opset_imports=sets, ir_version=8).SerializeToString())
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

# Products: numbers [k, n] or [n, k], with one scale, one for each column or row, or one for each block along an axis.
def product(form, number, k, n, op="MatMul", turned=False, zeros=True, rows=(3,), dtype=numpy.float32, constant=False, size=16):
    w, x = draw(number, *((n, k) if turned else (k, n))), random.standard_normal((*rows, k)).astype(dtype)
    along = 1 if turned else 0  # the axis of k
    shape = {"one": (), "columns": (n,), "rows": (k,), "blocks": list(w.shape), "across": list(w.shape)}[form]
    attributes = {"columns": {"axis": 1 - along}, "rows": {"axis": along}, "blocks": {"axis": along, "block_size": size},
                  "across": {"axis": 1 - along, "block_size": size}}.get(form, {})
    if "block_size" in attributes:
        shape[attributes["axis"]] = -(-shape[attributes["axis"]] // size)
    scales = (0.1 + random.random(shape)).astype(dtype)
    points = draw(number, *shape) if zeros else numpy.zeros(shape, int)
    wide = []
    for a in (scales.astype(float), points):
        if "block_size" in attributes:
            a = numpy.repeat(a, size, attributes["axis"])[:w.shape[0], :w.shape[1]]
        elif form in ("columns", "rows"):
            a = a.reshape([-1 if axis == attributes["axis"] else 1 for axis in range(2)])
        wide.append(a)
    numbers = (w - wide[1]) * wide[0]
    constants = [tensor("w", number, w), numpy_helper.from_array(scales, "s")] + ([tensor("z", number, points)] if zeros else [])
    nodes = [helper.make_node("DequantizeLinear", ["w", "s"] + ["z"] * zeros, ["d"], "first", **attributes)]
    if constant:
        nodes.insert(0, helper.make_node("Constant", [], ["w"], "constant", value=constants.pop(0)))
    y, last, others = x.astype(float) @ (numbers.T if turned else numbers), "d", {}
    if op == "Gemm":
        bias = random.standard_normal(n).astype(dtype)
        constants.append(numpy_helper.from_array(bias, "c"))
        y, others = y + bias, {"transB": int(turned)}
    elif turned:
        nodes.append(helper.make_node("Transpose", ["d"], ["t"], "turn", perm=[1, 0]))
        last = "t"
    nodes.append(helper.make_node(op, ["x", last] + ["c"] * (op == "Gemm"), ["y"], "second", **others))
    name = f"narrow{len(names)}"
    save(name, nodes, constants, x, y)
    names.append(name)
    return name

sizes = [(False, True, 37, 5), (True, False, 50, 19), (False, False, 16, 65), (True, True, 33, 16)]
for i, form in enumerate(("one", "columns", "rows", "blocks", "across")):
    for j, number in enumerate((INT4, UINT4, INT2, UINT2)):
        for turned, zeros, k, n in sizes[(i + j) % 4:][:2 if number in (INT4, UINT4) else 1]:
            product(form, number, k, n, turned=turned, zeros=zeros, op=["MatMul", "Gemm"][k % 2], rows=[(1,), (3,), (17,)][n % 3])
product("columns", INT4, 1, 1)
product("blocks", UINT4, 300, 70, rows=(2, 7), size=30)  # odd steps, in the middle of blocks
product("blocks", INT4, 257, 50, rows=(5,), size=256)
product("blocks", INT4, 64, 33, rows=(), size=32)
product("blocks", INT4, 64, 33, dtype=numpy.float16, size=32)
product("columns", INT4, 40, 7, constant=True, turned=True)
product("blocks", UINT4, 30, 7, size=5)  # no blocks of the kernel
for form in ("one", "columns", "blocks"):
    product(form, INT4, 512, 512, size=32, zeros=form == "blocks", turned=form == "one")
packed = names[-3:]

# Floats of 4 and 8 bits, of all codes, and those that are no numbers alone.
def floats(number, form):
    codes = numpy.arange(1 << bits_of(number)).reshape(-1, 16)
    w, scales = decode(number, codes), numpy.float32(0.5)
    attributes, nodes, constants = {}, [], [tensor("w", number, codes)]
    if form == "columns":
        scales = (0.5 + random.random(16)).astype(numpy.float32)
        attributes = {"axis": 1}
    elif form == "blocks":
        scales = (0.5 + random.random((len(codes), 4))).astype(numpy.float32)
        attributes = {"axis": 1, "block_size": 4}
    if form == "cast":
        nodes, y = [helper.make_node("Cast", ["w"], ["d"], "first", to=TensorProto.FLOAT)], w
    else:
        nodes, y = [helper.make_node("DequantizeLinear", ["w", "s"], ["d"], "first", **attributes)], w * (
            numpy.repeat(scales, 4, 1) if form == "blocks" else scales)
        constants.append(numpy_helper.from_array(scales, "s"))
    x = numpy.float32(1)
    name = f"narrow{len(names)}"
    save(name, nodes + [helper.make_node("Mul", ["x", "d"], ["y"], "second")], constants, x, y.astype(numpy.float32))
    names.append(name)

for number in FLOATS:
    for form in ("cast", "one", "columns", "blocks"):
        floats(number, form)

# Blocks of four bits with scales that are powers of two.
w, e, x = random.integers(0, 16, (64, 6)), random.integers(120, 134, (2, 6)), random.standard_normal((3, 64)).astype(numpy.float32)
numbers = decode(E2M1, w) * numpy.repeat(decode(E8M0, e), 32, 0)
save("mx", [helper.make_node("DequantizeLinear", ["w", "s"], ["d"], "first", axis=0, block_size=32, output_dtype=1),
            helper.make_node("MatMul", ["x", "d"], ["y"], "second")], [tensor("w", E2M1, w), tensor("s", E8M0, e)], x, x.astype(float) @ numbers)
names.append("mx")

# A table, as the ids choose its rows.
for number, zeros in ((INT4, True), (INT4, False), (UINT4, False), (UINT4, True)):
    w, scales, x = draw(number, 9, 48), (0.1 + random.random((9, 3))).astype(numpy.float32), random.standard_normal((2, 48)).astype(numpy.float32)
    points = draw(number, 9, 3) if zeros else numpy.zeros((9, 3), int)
    numbers = (w - numpy.repeat(points, 16, 1)) * numpy.repeat(scales, 16, 1).astype(float)
    ids = numpy.array([7, 2])
    constants = [tensor("w", number, w), numpy_helper.from_array(scales, "s"), numpy_helper.from_array(ids, "i")] + ([tensor("z", number, points)] if zeros else [])
    name = f"narrow{len(names)}"
    save(name, [helper.make_node("GatherBlockQuantized", ["w", "i", "s"] + ["z"] * zeros, ["d"], "first", domain="com.microsoft",
                                 block_size=16, quantize_axis=1, gather_axis=0, bits=4), helper.make_node("Add", ["x", "d"], ["y"], "second")],
         constants, x, x + numbers[ids])
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
large = tensor("w", INT4, draw(INT4, 4, 3), "integers")
large.int32_data[1] = 256
save("large", node, [large, scale], x, x)
save("deep", [helper.make_node("Mul", ["x", "w"], ["y"], "the node")], [tensor("w", E5M2, draw(UINT4, 2, 4))], x, x)
print(*names)
print(*packed)
PY
"$python" narrow.py >names.txt
agrees "--cores=1 --cores=2" $(sed -n 1p names.txt)
for name in $(sed -n 2p names.txt); do # 512 x 512 numbers: less than a byte for each, with kernels and scales
	[ "$(stat -c %s "$name.sk")" -lt 240000 ] || fail "the weights of $name.sk are not packed: $(stat -c %s "$name.sk") bytes"
done
refusals <<'END'
'z' is of type int4, which only DequantizeLinear, Cast, GatherBlockQuantized and operators that move elements can read$
END
refuses "initializer 'w': it has 5 bytes, but its shape takes 6" short
refuses "initializer 'w': element 1 of int32_data is 256, which is not a byte with elements of type int4" large
refuses "node 'the node' .*: 'w' is of type float8e5m2, which only" deep
refuses "node 'inner' .*: 'w' is of type int4, which only" body
