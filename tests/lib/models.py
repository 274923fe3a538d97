"""Models of one node, made with python3-onnx: what it computes is compared with numpy (models.sh). As a program it compares
each file that has come out with the one behind it, which was to come out."""
import sys

import numpy
import onnx
from onnx import TensorProto, helper

MICROSOFT = "com.microsoft"
types = {
    "float32": TensorProto.FLOAT,
    "float16": TensorProto.FLOAT16,
    "int64": TensorProto.INT64,
    "uint8": TensorProto.UINT8,
    "bool": TensorProto.BOOL,
}
random = numpy.random.default_rng(1)


def numbers(*shape):
    return random.standard_normal(shape).astype(numpy.float32)


def save(name, op, operands, results, attributes, order=None, domain="", outputs=None):
    """The model, its inputs, and what its outputs are to be, which have the type of the first input. In `order`, which inputs the
    node has, and in `outputs`, empty names are absent."""
    first = next(iter(operands.values()))
    inputs = [helper.make_tensor_value_info(n, types[str(a.dtype)], list(a.shape)) for n, a in operands.items()]
    infos = [helper.make_tensor_value_info(n, types[str(first.dtype)], None) for n in results]
    node = helper.make_node(op, order or list(operands), outputs or list(results), name="the node", domain=domain, **attributes)
    sets = [helper.make_opsetid("", 24), helper.make_opsetid(MICROSOFT, 1)]
    onnx.save(helper.make_model(helper.make_graph([node], "g", inputs, infos), opset_imports=sets), name + ".onnx")
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
    numpy.testing.assert_allclose(got, want, rtol=bound, atol=bound / 10 * abs(want).max(), err_msg=came)


if __name__ == "__main__":
    for pair in zip(sys.argv[1::2], sys.argv[2::2]):
        compare(*pair)
