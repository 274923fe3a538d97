"""MindSpore's operators, those that its graph-kernel fusion knows, against numpy in double precision: mindspore.py SKLINK
SKRUN LIBRARIES [NAME...]

All cases, or those of the operators that are named, are nodes of one model, so that one link and one run do for all of
them. References are written from the definitions; those of gradients are held against differences, too."""
import subprocess
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

# The operators that the fusion expands, and those that it puts together.
EXPANDED = """
Adam AdamApplyOneWithDecayAssign Addcmul AddN BiasAdd BiasAddGrad FillV2 GeLU Gelu FastGelu FastGeluGrad FastGeLU FastGeLUGrad
SiLU SiLUGrad GeLUGrad RsqrtGrad SqrtGrad Square Tile ClipByNormNoDivSum FusedMulAdd Sigmoid SigmoidGrad
SigmoidCrossEntropyWithLogits SigmoidCrossEntropyWithLogitsGrad SquaredDifference TanhGrad OnesLike ZerosLike ReduceMean
LogSoftmaxGrad ReLU ReluGrad AssignAdd LambApplyOptimizerAssign LambApplyWeightAssign AdamApplyOneWithDecay ExpandDims Squeeze
SoftmaxGradExt ApplyMomentum LeakyReLUExt EluExt SoftplusExt SoftplusGradExt RepeatInterleaveInt HShrink HSigmoid HSwish
BinaryCrossEntropy Erf Tanh Cosh Sinh ClampScalar DivMod BCEWithLogitsLoss AcoshExt AsinhExt MeanExt Erfc AdamWeightDecay
BatchMatMul Dropout DropoutGrad MaximumGrad MinimumGrad LayerNorm LayerNormGrad LogSoftmax MatMul ArgMaxWithValue
ArgMinWithValue Slice Softmax SoftmaxCrossEntropyWithLogits EqualCount SquareSumAll IdentityMath StandardNormal Softplus
SoftplusGrad""".split()
CLUSTERED = """
Abs Add BroadcastTo Cast Exp Log Maximum Minimum Mul Neg Pow Div RealDiv Reciprocal Rsqrt Sqrt Sub Equal NotEqual Greater
GreaterEqual Less LessEqual LogicalAnd LogicalOr LogicalNot Select Assign ReduceSum IsFinite Reshape Transpose Floor Ceil Trunc
Round Tanh ACos Acosh ArgMax Argmin Asin Asinh Atan Atan2 Cos Erf Expm1 FloorDiv FloorMod IsInf IsNan Mod ReduceMax ReduceMin
Sign Sin StridedSlice CumSum OneHot""".split()

TYPES = {"f32": TensorProto.FLOAT, "f64": TensorProto.DOUBLE, "f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16}
# How far results may be off: relative to each, and to the largest one.
BOUNDS = {"f32": 2e-5, "f64": 1e-12, "f16": 2e-3, "bf16": 1.6e-2}
random = numpy.random.default_rng(1)
cases = []


def case(name, inputs, reference, types="f32 f64 f16 bf16", numeric=None, **attributes):
    """Inputs are arrays, ("constant", array), or None: absent. Those of f64 are brought to each of the types; then the
    reference makes the output, or a list of them, of the rounded inputs: those of f64 are outputs of the type. What
    `numeric` makes of the inputs without rounding is what the reference has to be, too."""
    cases.append((name, inputs, reference, types.split(), numeric, attributes))


def numbers(*shape):
    return random.standard_normal(shape) * 2


def positive(*shape):
    return random.uniform(0.1, 4, shape)


def real(number):
    """What an attribute says: it is f32."""
    return float(numpy.float32(number))


def slope(function, x, step=1e-5):
    """The derivative of an elementwise function."""
    return (function(x + step) - function(x - step)) / (2 * step)


def rounded(array, dtype):
    if array.dtype != numpy.float64 or dtype == "f64":
        return array
    if dtype == "f16":
        return array.astype(numpy.float16).astype(float)
    single = array.astype(numpy.float32)
    if dtype == "bf16":
        bits = single.view(numpy.uint32)
        single = ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(numpy.uint32).view(numpy.float32)
    return single.astype(float)


class Model:
    """The nodes of all cases; halves are f32 outside, and cast."""

    def __init__(self):
        self.nodes, self.inputs, self.initializers, self.outputs, self.fed, self.wanted = [], [], [], [], {}, {}

    def add_input(self, name, array, dtype, constant):
        real_type = array.dtype == numpy.float64
        halves = real_type and dtype in ("f16", "bf16")
        outside = array.astype(numpy.float32) if real_type and dtype != "f64" else array
        to = f"{name}f" if halves else name
        if constant:
            self.initializers.append(numpy_helper.from_array(outside, to))
        else:
            self.inputs.append(helper.make_tensor_value_info(to, onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[outside.dtype],
                                                             outside.shape))
            self.fed[to] = outside
        if halves:
            self.nodes.append(helper.make_node("Cast", [to], [name], to=TYPES[dtype]))

    def add_output(self, name, array, dtype, what):
        real_type = array.dtype == numpy.float64
        halves = real_type and dtype in ("f16", "bf16")
        to = f"{name}f" if halves else name
        outside = array.astype(numpy.float32) if real_type and dtype != "f64" else array
        if halves:
            self.nodes.append(helper.make_node("Cast", [name], [to], to=TensorProto.FLOAT))
        self.outputs.append(helper.make_tensor_value_info(to, onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[outside.dtype],
                                                          outside.shape))
        self.wanted[to] = what, array, outside.dtype, BOUNDS[dtype]

    def add(self, number, one, dtype):
        name, given, reference, _, numeric, attributes = one
        names, arrays = [], []
        for i, array in enumerate(given):
            constant = isinstance(array, tuple)
            array = array[1] if constant else array
            names.append("" if array is None else f"x{number}{dtype}_{i}")
            arrays.append(None if array is None else rounded(array, dtype))
            if array is not None:
                self.add_input(names[-1], arrays[-1], dtype, constant)
        expected = reference(*arrays)
        expected = expected if isinstance(expected, list) else [expected]
        made = [f"y{number}{dtype}_{i}" for i in range(len(expected))]
        self.nodes.append(helper.make_node(name, names, made, name=f"{name} {number} {dtype}", domain="mindspore",
                                           **attributes))
        for to, array in zip(made, expected):
            self.add_output(to, numpy.asarray(array), dtype, f"{name} of {dtype} ({attributes})")
        if numeric and dtype == "f64":
            for array, wanted in zip(expected, numeric(*arrays) if len(expected) > 1 else [numeric(*arrays)]):
                numpy.testing.assert_allclose(array, wanted, 1e-6, 1e-7, err_msg=f"the reference of {name}")

    def save(self, path):
        graph = helper.make_graph(self.nodes, "operators", self.inputs, self.outputs, self.initializers)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("mindspore", 1)]),
                  path)


def run(sklink, skrun, libraries, chosen):
    model, words = Model(), [skrun, "model.sk"]
    for number, one in enumerate(chosen):
        for dtype in one[3]:
            model.add(number, one, dtype)
    model.save("model.onnx")
    subprocess.run([sklink, "model.onnx", "-L", libraries, "-lskernels", "-o", "model.sk"], check=True)
    for name, array in model.fed.items():
        numpy.save(f"{name}.npy", array)
        words.append(f"--input={name}={name}.npy")
    subprocess.run(words + [f"--output={name}={name}.npy" for name in model.wanted], check=True, stdout=subprocess.DEVNULL)
    for name, (what, expected, dtype, bound) in model.wanted.items():
        got = numpy.load(f"{name}.npy")
        assert got.dtype == dtype and got.shape == expected.shape, (what, got.dtype, got.shape)
        if dtype.kind != "f":
            numpy.testing.assert_array_equal(got, expected, err_msg=what)
            continue
        finite = abs(expected[numpy.isfinite(expected)])
        numpy.testing.assert_allclose(got, expected, bound, bound * finite.max(initial=0) / 4, err_msg=what)


# ---- gradients, with the result y and its gradient ----

case("SqrtGrad", [positive(3, 5), numbers(3, 5)], lambda y, dy: dy / (2 * y),
     numeric=lambda y, dy: dy * slope(numpy.sqrt, y * y))


def main():
    numpy.seterr(all="ignore")
    for name in sys.argv[4:]:
        assert name in EXPANDED + CLUSTERED or any(one[0] == name for one in cases), name
    run(*sys.argv[1:4], [one for one in cases if not sys.argv[4:] or one[0] in sys.argv[4:]])


main()
