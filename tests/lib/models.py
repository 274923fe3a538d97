"""Models of one node, made with python3-onnx: what it computes is compared with numpy (models.sh). As a program it compares
each file that has come out with the one behind it, which was to come out."""
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

MICROSOFT = "com.microsoft"
types = {
    "float32": TensorProto.FLOAT,
    "float16": TensorProto.FLOAT16,
    "int64": TensorProto.INT64,
    "int32": TensorProto.INT32,
    "int8": TensorProto.INT8,
    "uint8": TensorProto.UINT8,
    "bool": TensorProto.BOOL,
}
random = numpy.random.default_rng(1)


def numbers(*shape):
    return random.standard_normal(shape).astype(numpy.float32)


def save(name, op, operands, results, attributes, order=None, domain="", outputs=None, constants=()):
    """The model, its inputs, and its expected outputs, which have the type of the first input, or f32, unless they are integers. In
    `order`, which inputs the node has, and in `outputs`, empty names are absent. Operands that are named in `constants` are
    initializers."""
    given, first = list(operands), next(iter(operands.values()))
    fixed = [numpy_helper.from_array(operands[n], n) for n in constants]
    operands = {n: a for n, a in operands.items() if n not in constants}
    inputs = [helper.make_tensor_value_info(n, types[str(a.dtype)], list(a.shape)) for n, a in operands.items()]
    number = first.dtype if first.dtype.kind == "f" else "float32"
    infos = [helper.make_tensor_value_info(n, types[str(number if a.dtype.kind == "f" else a.dtype)], None)
             for n, a in results.items()]
    node = helper.make_node(op, order or given, outputs or list(results), name="the node", domain=domain, **attributes)
    sets = [helper.make_opsetid("", 24), helper.make_opsetid(MICROSOFT, 1)]
    onnx.save(helper.make_model(helper.make_graph([node], "g", inputs, infos, fixed), opset_imports=sets), name + ".onnx")
    for operand, array in operands.items():
        numpy.save(f"{name}.{operand}.npy", array)
    for result, array in results.items():
        numpy.save(f"{name}.{result}.want.npy", array)
    with open(name + ".names", "w") as file:
        print(" ".join(operands), "/", " ".join(results), file=file)


def compare(came, wanted):
    got, want = numpy.load(came), numpy.load(wanted)
    bound = 1e-4 if got.dtype == numpy.float32 else 4e-3
    assert got.shape == want.shape, (came, got.shape, want.shape)
    if got.dtype in (numpy.uint8, numpy.int8):  # quantised: a sum may round to the next number
        assert abs(got.astype(int) - want).max() <= 1, (came, got, want)
    else:
        numpy.testing.assert_allclose(got, want, rtol=bound, atol=bound / 10 * abs(want[numpy.isfinite(want)]).max(initial=0),
                                      err_msg=came)


if __name__ == "__main__":
    for pair in zip(sys.argv[1::2], sys.argv[2::2]):
        compare(*pair)
