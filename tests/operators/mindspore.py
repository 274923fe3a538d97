"""MindSpore's operators, those that its graph-kernel fusion knows, against numpy in double precision: mindspore.py
[--expanded=TARGET] SKLINK SKRUN LIBRARIES [NAME...]

With --expanded they are computed as the rules for that target expand them. All cases, or those of the operators that are named, are nodes of one model, so that one link and one run do for all of
them. References are written from the definitions; those of gradients are held against differences, too."""
import math
import os
import re
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

# Operators that no rule expands: random numbers, and operators that become others when they are read.
WHOLE = "Dropout StandardNormal FillV2".split()

TYPES = {"f32": TensorProto.FLOAT, "f64": TensorProto.DOUBLE, "f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16}
# The errors that results may have: relative to each, and to the largest one.
BOUNDS = {"f32": 2e-5, "f64": 1e-12, "f16": 2e-3, "bf16": 1.6e-2}
EXPANDS = sys.argv.pop(1)[len("--expanded="):] if sys.argv[1].startswith("--expanded=") else None
random = numpy.random.default_rng(1)
cases = []


def case(name, inputs, reference, types="f32 f64 f16 bf16", numeric=None, cancels=False, **attributes):
    """Inputs are arrays, ("constant", array), or None: absent. Those of f64 are brought to each of the types; then the
    reference makes the output, or a list of them, of the rounded inputs: those of f64 are outputs of the type. What
    `numeric` makes of the inputs without rounding is what the reference has to be, too. Expanded formulas that cancel
    are not tried."""
    cases.append((name, inputs, reference, types.split() if not cancels or not EXPANDS else [], numeric, attributes))


def numbers(*shape):
    return random.standard_normal(shape) * 2


def positive(*shape):
    return random.uniform(0.1, 4, shape)


def whole(*shape):
    return random.integers(-4, 5, shape).astype(float)


def constant(items):
    return "constant", numpy.array(items, numpy.int64)


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
        self.nodes.append(helper.make_node(name, names, made, name=f"{name} {number} {dtype}",
                                           **{"domain": "mindspore", **attributes}))
        for to, array in zip(made, expected):
            self.add_output(to, numpy.asarray(array), dtype, f"{name} of {dtype} ({attributes})")
        if numeric and dtype == "f64":
            for array, wanted in zip(expected, numeric(*arrays) if len(expected) > 1 else [numeric(*arrays)]):
                numpy.testing.assert_allclose(array, wanted, 1e-6, 1e-7, err_msg=f"the reference of {name}")

    def save(self, path):
        graph = helper.make_graph(self.nodes, "operators", self.inputs, self.outputs, self.initializers)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("mindspore", 1), helper.make_opsetid("sklink", 1)]),
                  path)


def execute(words):
    """What the command has to say."""
    done = subprocess.run(words, stderr=subprocess.PIPE, text=True)
    return done.stderr if not done.returncode else sys.exit(done.stderr)


def compare(got, what, expected, dtype, bound):
    assert got.dtype == dtype and got.shape == expected.shape, (what, got.dtype, got.shape)
    if dtype.kind != "f":
        numpy.testing.assert_array_equal(got, expected, err_msg=what)
        return
    finite = abs(expected[numpy.isfinite(expected)])
    numpy.testing.assert_allclose(got, expected, bound, bound * finite.max(initial=0) / 4, err_msg=what)


def check_expanded(model):
    """Each operator of the list has been expanded, wherever that is said to be possible for one of its cases."""
    dump = [path for path in os.listdir("dumps") if re.fullmatch("hwopt.*graph_kernel_expander.*\\.ir", path)]
    assert len(dump) == 1, dump
    with open(os.path.join("dumps", dump[0]), encoding="utf-8") as file:
        left = set(re.findall(r'^node \d+ "([^"]*)"', file.read(), re.M))
    gone = {node.op_type for node in model.nodes if node.domain and node.name not in left}
    known = {node.op_type for node in model.nodes if node.domain}
    missing = known.intersection(EXPANDED).difference(WHOLE, gone)
    assert len(left) > 100 and not missing and not gone.intersection(WHOLE), (missing, gone)


def run(sklink, skrun, libraries, chosen):
    model, words = Model(), [skrun, "model.sk"]
    for number, one in enumerate(chosen):
        for dtype in one[3]:
            model.add(number, one, dtype)
    model.save("model.onnx")
    command = [sklink, "model.onnx", "-L", libraries, "-lskernels", "-o", "model.sk"]
    if EXPANDS:
        command += [f"--fusion-target={EXPANDS}", "--fusion-flags=--enable_expand_ops_only=" + ",".join(EXPANDED),
                    "--dump-dir=dumps"]
    warnings = execute(command)
    if EXPANDS:
        check_expanded(model)
    for name in set(model.fed).difference(re.findall("nothing uses input '(.*)';", warnings)):
        numpy.save(f"{name}.npy", model.fed[name])
        words.append(f"--input={name}={name}.npy")
    execute(words + [f"--output={name}={name}.npy" for name in model.wanted])
    wrong = []
    for name, (what, expected, dtype, bound) in model.wanted.items():
        try:
            compare(numpy.load(f"{name}.npy"), what, expected, dtype, bound)
        except AssertionError as difference:
            wrong.append(str(difference))
    sys.exit("\n".join(wrong)) if wrong else None


# ---- functions ----

def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def softplus(x):
    return numpy.log1p(numpy.exp(x))


def gelu(x):
    return x / 2 * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def gelu_slope(x):
    t = numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))
    return (1 + t) / 2 + x / 2 * (1 - t * t) * math.sqrt(2 / math.pi) * (1 + 0.134145 * x ** 2)


def fast_gelu(x):
    """As MindSpore defines it."""
    return x / (1 + numpy.exp(-real(1.702) * abs(x))) * numpy.exp(real(0.851) * (x - abs(x)))


def fast_gelu_slope(x):
    v = real(1.702)
    e = numpy.exp(-v * abs(x))
    return (numpy.exp((x - abs(x)) * v) + v * x * e + e) / (e + 1) ** 2


def cross_entropy(x, label):
    return numpy.maximum(x, 0) - x * label + numpy.log1p(numpy.exp(-abs(x)))


# ---- of one input ----

for name, function, x in [
        ("Abs", abs, numbers(3, 5)), ("Neg", numpy.negative, numbers(3, 5)), ("Sign", numpy.sign, numbers(3, 5)),
        ("Exp", numpy.exp, numbers(3, 5)), ("Expm1", numpy.expm1, numbers(3, 5)), ("Log", numpy.log, positive(3, 5)),
        ("Sqrt", numpy.sqrt, positive(3, 5)), ("Rsqrt", lambda x: x ** -0.5, positive(3, 5)),
        ("Reciprocal", lambda x: 1 / x, positive(3, 5)), ("Square", lambda x: x * x, numbers(3, 5)),
        ("Floor", numpy.floor, numbers(3, 5)), ("Ceil", numpy.ceil, numbers(3, 5)), ("Trunc", numpy.trunc, numbers(3, 5)),
        ("Round", numpy.rint, numpy.array([0.5, 1.5, -2.5, 2.25, -0.75])), ("IdentityMath", lambda x: x, numbers(3, 5)),
        ("Sin", numpy.sin, numbers(3, 5)), ("Cos", numpy.cos, numbers(3, 5)), ("Tanh", numpy.tanh, numbers(3, 5)),
        ("Sinh", numpy.sinh, numbers(3, 5)), ("Cosh", numpy.cosh, numbers(3, 5)), ("Atan", numpy.arctan, numbers(3, 5)),
        ("Asin", numpy.arcsin, random.uniform(-1, 1, 9)), ("ACos", numpy.arccos, random.uniform(-1, 1, 9)),
        ("Asinh", numpy.arcsinh, numbers(3, 5)), ("AsinhExt", numpy.arcsinh, numbers(3, 5)),
        ("Acosh", numpy.arccosh, 1 + positive(3, 5)), ("AcoshExt", numpy.arccosh, 1 + positive(3, 5)),
        ("Erf", numpy.vectorize(math.erf), numbers(3, 5)), ("Erfc", numpy.vectorize(math.erfc), numbers(3, 5)),
        ("Sigmoid", sigmoid, numbers(3, 5)), ("Softplus", softplus, numbers(3, 5)), ("SiLU", lambda x: x * sigmoid(x), numbers(3, 5)),
        ("ReLU", lambda x: numpy.maximum(x, 0), numbers(3, 5)), ("GeLU", gelu, numbers(3, 5)), ("Gelu", gelu, numbers(3, 5)),
        ("FastGeLU", fast_gelu, numbers(3, 5)), ("FastGelu", fast_gelu, numbers(3, 5)),
        ("HSigmoid", lambda x: numpy.clip(x + 3, 0, 6) / 6, numbers(3, 5) * 3),
        ("HSwish", lambda x: x * numpy.clip(x + 3, 0, 6) / 6, numbers(3, 5) * 3),
        ("OnesLike", numpy.ones_like, numbers(3, 5)), ("ZerosLike", numpy.zeros_like, numbers(3, 5))]:
    case(name, [x], function)
case("OnesLike", [numpy.arange(4, dtype=numpy.int32)], numpy.ones_like, "f32")
case("Square", [numpy.arange(-3, 4, dtype=numpy.int32) * 20000], lambda x: x * x)
case("HShrink", [numbers(3, 5)], lambda x: numpy.where(abs(x) <= 0.5, 0, x))
case("HShrink", [numbers(3, 5)], lambda x: numpy.where(abs(x) <= 1.25, 0, x), lambd=1.25)
case("LeakyReLUExt", [numbers(3, 5)], lambda x: numpy.where(x < 0, x * real(0.01), x))
case("LeakyReLUExt", [numbers(3, 5)], lambda x: numpy.where(x < 0, x * 0.25, x), negative_slope=0.25)
case("EluExt", [numbers(3, 5)], lambda x: numpy.maximum(x, 0) + 1.5 * numpy.expm1(numpy.minimum(x, 0)), alpha=1.5)
case("SoftplusExt", [numbers(3, 5) * 3], lambda x: numpy.where(1.5 * x > 4, x, softplus(1.5 * x) / 1.5), beta=1.5, threshold=4.0)
case("SoftplusExt", [numbers(3, 5) * 3], lambda x: numpy.where(2 * x > 5, x, softplus(2 * x) / 2), beta=2, threshold=5)
case("SoftplusExt", [numbers(3, 5)], softplus)
case("ClampScalar", [numbers(3, 5)], lambda x: numpy.clip(x, -1.5, 0.75), min=-1.5, max=0.75)
case("ClampScalar", [numpy.arange(-5, 5, dtype=numpy.int32)], lambda x: numpy.clip(x, -3, 2), "f32", min=-3, max=2)
case("ClampScalar", [numpy.arange(-5, 5, dtype=numpy.int64)], lambda x: numpy.maximum(x, -1), "f32", min=-1)
case("ClampScalar", [numpy.arange(-5, 5, dtype=numpy.int32)], lambda x: numpy.maximum(x, -3), "f32", min=-3, max=1 << 40)
case("ClampScalar", [numpy.arange(5, dtype=numpy.uint8)], lambda x: numpy.minimum(x, 3), "f32", min=-3, max=3)
case("ClampScalar", [numpy.arange(5, dtype=numpy.int32)], lambda x: numpy.maximum(x, 2), "f32", min=2.0, max=1e10)
odd = numpy.array([0, -1.5, numpy.inf, -numpy.inf, numpy.nan])
case("IsFinite", [odd], numpy.isfinite)
case("IsInf", [odd], numpy.isinf)
case("IsNan", [odd], numpy.isnan)
case("LogicalNot", [numpy.array([True, False])], numpy.logical_not, "f32")
case("Cast", [numbers(3, 5) * 9], lambda x: numpy.trunc(x).astype(numpy.int32), dst_type=TensorProto.INT32)

# ---- of two and more ----

for name, function, a, b in [
        ("Add", numpy.add, numbers(3, 5), numbers(5)), ("Sub", numpy.subtract, numbers(5), numbers(3, 5)),
        ("Mul", numpy.multiply, numbers(3, 5), numbers(3, 1)), ("Div", numpy.divide, numbers(3, 5), positive(5)),
        ("RealDiv", numpy.divide, numbers(3, 5), positive(3, 5)), ("Pow", numpy.power, positive(3, 5), numbers(3, 5) / 2),
        ("Maximum", numpy.maximum, numbers(3, 5), numbers(3, 5)), ("Minimum", numpy.minimum, numbers(3, 5), numbers(5)),
        ("Atan2", numpy.arctan2, numbers(3, 5), numbers(5)),
        ("SquaredDifference", lambda a, b: (a - b) ** 2, numbers(3, 5), numbers(5)),
        ("FloorDiv", lambda a, b: numpy.floor(a / b), numbers(3, 5) * 4, numbers(5)),
        ("FloorMod", numpy.mod, whole(3, 5), whole(5) + 0.5), ("Mod", numpy.fmod, whole(3, 5), whole(5) + 0.5),
        ("Greater", numpy.greater, whole(3, 5), whole(5)), ("GreaterEqual", numpy.greater_equal, whole(3, 5), whole(5)),
        ("Less", numpy.less, whole(3, 5), whole(5)), ("LessEqual", numpy.less_equal, whole(3, 5), whole(5)),
        ("Equal", numpy.equal, whole(3, 5), whole(5)), ("NotEqual", numpy.not_equal, whole(3, 5), whole(5))]:
    case(name, [a, b], function)
for name, function in [("FloorDiv", numpy.floor_divide), ("FloorMod", numpy.mod), ("Mod", numpy.fmod)]:
    case(name, [random.integers(-20, 20, (3, 5), numpy.int32), numpy.array([3, -3, 5, -7, 2], numpy.int32)], function, "f32")
for name, function in [("LogicalAnd", numpy.logical_and), ("LogicalOr", numpy.logical_or)]:
    case(name, [numpy.array([True, True, False, False]), numpy.array([True, False, True, False])], function, "f32")
case("DivMod", [numbers(3, 5) * 4, numbers(5)], lambda a, b: numpy.floor(a / b), rounding_mode="floor")
case("DivMod", [numbers(3, 5) * 4, numbers(5)], lambda a, b: numpy.trunc(a / b), rounding_mode="trunc")
case("DivMod", [numbers(3, 5), positive(5)], numpy.divide)
case("DivMod", [numpy.array([7, -7, 7, -7]), numpy.array([2, 2, -2, -2])], numpy.floor_divide, "f32", rounding_mode="floor")
case("DivMod", [numpy.array([7, -7, 7, -7]), numpy.array([2, 2, -2, -2])], lambda a, b: numpy.trunc(a / b).astype(int), "f32",
     rounding_mode="trunc")
case("AddN", [numbers(3, 5), numbers(3, 5), numbers(3, 5)], lambda a, b, c: a + b + c, n=3)
case("Select", [numpy.array([True, False, True]), numbers(2, 3), numbers(2, 3)], numpy.where)
case("Addcmul", [numbers(3, 5), numbers(3, 5), numbers(5), numpy.array([0.5])], lambda d, a, b, v: d + v * (a * b))
case("FusedMulAdd", [numbers(3, 5), numbers(3, 5), numbers(3, 5)], lambda a, b, c: a * b + c)
case("ClipByNormNoDivSum", [numbers(3, 5), numpy.zeros(1), numpy.ones((3, 5)), numpy.array([0.5])],
     lambda x, limit, ones, least: numpy.maximum(numpy.where(x > limit, numpy.sqrt(numpy.where(x > limit, x, ones)), x), least))
case("BiasAdd", [numbers(2, 3, 4, 5), numbers(3)], lambda x, b: x + b[:, None, None])
case("BiasAdd", [numbers(2, 3, 4, 5), numbers(5)], lambda x, b: x + b, format="NHWC")
case("BiasAdd", [numbers(4, 6), numbers(6)], lambda x, b: x + b)
case("BroadcastTo", [numbers(3, 1), constant([2, 3, 4])], lambda x, shape: numpy.broadcast_to(x, shape))
case("FillV2", [constant([2, 3]), numpy.array(1.5)], lambda shape, value: numpy.full(shape, value))
case("Assign", [numbers(3, 5), numbers(3, 5)], lambda p, x: x)
case("AssignAdd", [numbers(3, 5), numbers(3, 5)], numpy.add)
case("AssignAdd", [numbers(3, 5), numpy.arange(5, dtype=numpy.int32)], numpy.add)
case("SigmoidCrossEntropyWithLogits", [numbers(3, 5), random.uniform(0, 1, (3, 5))], cross_entropy)

# A nearly certain element has a small loss, which must also be exact.
sure = numpy.array([4, 7, 9.5, -4, -7, -9.5]), numpy.array([1, 1, 1, 0, 0, 0.0])
case("SigmoidCrossEntropyWithLogits", sure, lambda x, label: softplus(-abs(x)), cancels=True)
case("BCEWithLogitsLoss", [*sure, None, None], lambda x, label, *_: softplus(-abs(x)), reduction="none", cancels=True)

# ---- gradients, with the result y, or the input x, and the result's gradient ----

case("SqrtGrad", [positive(3, 5), numbers(3, 5)], lambda y, dy: dy / (2 * y),
     numeric=lambda y, dy: dy * slope(numpy.sqrt, y * y))
case("RsqrtGrad", [positive(3, 5), numbers(3, 5)], lambda y, dy: y ** 3 * dy * -0.5,
     numeric=lambda y, dy: dy * slope(lambda x: x ** -0.5, y ** -2.0, 1e-7))
case("SigmoidGrad", [random.uniform(0.1, 0.9, (3, 5)), numbers(3, 5)], lambda y, dy: (1 - y) * y * dy,
     numeric=lambda y, dy: dy * slope(sigmoid, numpy.log(y / (1 - y))))
case("TanhGrad", [random.uniform(-0.9, 0.9, (3, 5)), numbers(3, 5)], lambda y, dy: dy * (1 - y * y),
     numeric=lambda y, dy: dy * slope(numpy.tanh, numpy.arctanh(y)))
for name, function, derivative, attributes in [
        ("ReluGrad", lambda x: numpy.maximum(x, 0), lambda x: x > 0, {}),
        ("SoftplusGrad", softplus, sigmoid, {}), ("SoftplusGradExt", softplus, sigmoid, {}),
        ("SoftplusGradExt", lambda x: numpy.where(1.5 * x > 4, x, softplus(1.5 * x) / 1.5),
         lambda x: numpy.where(1.5 * x > 4, 1, sigmoid(1.5 * x)), {"beta": 1.5, "threshold": 4.0}),
        ("SiLUGrad", lambda x: x * sigmoid(x), lambda x: sigmoid(x) * (1 + x * (1 - sigmoid(x))), {}),
        ("FastGeluGrad", fast_gelu, fast_gelu_slope, {}), ("FastGeLUGrad", fast_gelu, fast_gelu_slope, {})]:
    case(name, [numbers(3, 5), numbers(3, 5)], lambda dy, x, derivative=derivative: dy * derivative(x),
         numeric=lambda dy, x, function=function: dy * slope(function, x), **attributes)
x = numbers(3, 5)
case("GeLUGrad", [numbers(3, 5), x, gelu(x)], lambda dy, x, y: dy * gelu_slope(x), numeric=lambda dy, x, y: dy * slope(gelu, x))
case("SigmoidCrossEntropyWithLogitsGrad", [numbers(3, 5), random.uniform(0, 1, (3, 5)), numbers(3, 5)],
     lambda x, label, dy: (sigmoid(x) - label) * dy,
     numeric=lambda x, label, dy: dy * slope(lambda x: cross_entropy(x, label), x))
for name, first in [("MaximumGrad", numpy.greater_equal), ("MinimumGrad", numpy.less_equal)]:
    case(name, [whole(3, 5), whole(3, 5), numbers(3, 5)],
         lambda x, y, dy, first=first: [numpy.where(first(x, y), dy, 0), numpy.where(first(x, y), 0, dy)])
    case(name, [whole(2, 1, 5), whole(3, 1), numbers(2, 3, 5)],
         lambda x, y, dy, first=first: [numpy.where(first(x, y), dy, 0).sum(1, keepdims=True),
                                        numpy.where(first(x, y), 0, dy).sum((0, 2))[:, None]])

# ---- losses ----

def reduction(name, losses):
    return losses if name == "none" else numpy.array(getattr(numpy, name)(losses))


def binary_entropy(name):
    def loss(x, label, weight=1):
        logs = numpy.maximum(numpy.log(x), -100), numpy.maximum(numpy.log1p(-x), -100)
        return reduction(name, -(label * logs[0] + (1 - label) * logs[1]) * weight)
    return loss


def logit_entropy(name):
    def loss(x, label, weight, positive):
        weight, positive = (1 if part is None else part for part in (weight, positive))
        sigmoid = 1 / (1 + numpy.exp(-x))
        return reduction(name, -weight * (positive * label * numpy.log(sigmoid) + (1 - label) * numpy.log(1 / (1 + numpy.exp(x)))))
    return loss


def softmax(x, axis=-1):
    powers = numpy.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def softmax_entropy(x, label):
    return [-(label * numpy.log(softmax(x))).sum(1), softmax(x) - label]


def slopes(function, x, step=1e-5):
    """The gradient of a function that has one number."""
    gradient = numpy.zeros_like(x)
    for i in numpy.ndindex(*x.shape):
        off = numpy.zeros_like(x)
        off[i] = step
        gradient[i] = (function(x + off) - function(x - off)) / (2 * step)
    return gradient


likely = random.uniform(0.01, 0.99, (5, 67))
labels = random.uniform(0, 1, (5, 67))
for name in "none", "sum", "mean":
    case("BinaryCrossEntropy", [likely, labels, positive(5, 67)], binary_entropy(name), reduction=name)
    case("BCEWithLogitsLoss", [numbers(5, 67) * 4, labels, positive(67), positive(5, 1)], logit_entropy(name), reduction=name)
case("BinaryCrossEntropy", [numpy.array([0, 1, 0, 1.0]), numpy.array([0, 1, 1, 0.0])], binary_entropy("none"), reduction="none")
case("BinaryCrossEntropy", [likely, labels, None, ("constant", numpy.array(0))], lambda x, y, *_: binary_entropy("sum")(x, y))
case("BCEWithLogitsLoss", [numbers(5, 67), labels, None, None], logit_entropy("mean"))
case("SoftmaxCrossEntropyWithLogits", [numbers(5, 67), numpy.eye(67)[[0, 66, 64, 3, 31]]], softmax_entropy,
     numeric=lambda x, y: [softmax_entropy(x, y)[0], slopes(lambda x: softmax_entropy(x, y)[0].sum(), x)])
case("SoftmaxCrossEntropyWithLogits", [numbers(3, 31), softmax(numbers(3, 31))], softmax_entropy)


# ---- optimisers ----

def number(value):
    return numpy.array([float(numpy.float32(value))])


def single(value):
    """A number of f32, whatever the tensors are: it need not be of their type."""
    return numpy.array(value, numpy.float32)


def doubled(reference):
    """The reference, of numbers in double precision."""
    return lambda *arrays: reference(*(array.astype(float) for array in arrays))


def adam(nesterov):
    def update(var, m, v, power1, power2, rate, beta1, beta2, epsilon, g):
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
        ahead = beta1 * m + (1 - beta1) * g if nesterov else m
        return [var - rate * numpy.sqrt(1 - power2) / (1 - power1) * ahead / (numpy.sqrt(v) + epsilon), m, v]
    return update


def decayed(g, v, m, var, rate, beta1, rest1, beta2, rest2, decay, epsilon):
    v, m = beta2 * v + rest2 * g ** 2, beta1 * m + rest1 * g
    return [v, m, var - rate * (m / (numpy.sqrt(v) + epsilon) + decay * var)]


def weight_decay(var, m, v, rate, beta1, beta2, epsilon, decay, g):
    v, m, var = decayed(g, v, m, var, rate, beta1, 1 - beta1, beta2, 1 - beta2, decay, epsilon)
    return [var, m, v]


def lamb(g, v, m, var, beta1, rest1, beta2, rest2, epsilon, step, decays, decay):
    v, m = beta2 * v + rest2 * g ** 2, beta1 * m + rest1 * g
    unbiased = m / (1 - beta1 ** step) / (numpy.sqrt(v / (1 - beta2 ** step)) + epsilon)
    return [unbiased + decays * decay * var, v, m]


def lamb_weight(weights, updates, rate, update, var):
    ratio = weights / updates if weights > 0 and updates > 0 else 1
    return var - ratio * rate * update


def momentum(nesterov, scale=1):
    def update(var, a, rate, g, stays):
        g = g * scale
        a = a * stays + g
        return [var - (g + a * stays if nesterov else a) * rate, a]
    return update


wide = (5, 67)
for nesterov in 0, 1:
    case("Adam", [numbers(*wide), numbers(*wide), positive(*wide), single(0.9 ** 3), single(0.999 ** 3), single(0.25),
                  single(0.9), single(0.999), single(1e-3), numbers(*wide)], doubled(adam(nesterov)), use_nesterov=nesterov)
    case("ApplyMomentum", [numbers(*wide), numbers(*wide), single(0.25), numbers(*wide), number(0.75)],
         doubled(momentum(nesterov, 0.5)), use_nesterov=nesterov, gradient_scale=0.5)
for name in "AdamApplyOneWithDecay", "AdamApplyOneWithDecayAssign":
    case(name, [numbers(*wide), positive(*wide), numbers(*wide), numbers(*wide), *map(single, (0.25, 0.9, 0.1, 0.99, 0.01,
                0.125, 1e-3))], doubled(decayed))
case("AdamWeightDecay", [numbers(*wide), numbers(*wide), positive(*wide), *map(single, (0.25, 0.9, 0.99, 1e-3, 0.125)),
                         numbers(*wide)], doubled(weight_decay))
case("LambApplyOptimizerAssign", [numbers(*wide), positive(*wide), numbers(*wide), numbers(*wide),
                                  *map(single, (0.9, 0.1, 0.99, 0.01, 1e-3, 3, 1, 0.125))], doubled(lamb))
for norms in (3, 2), (0, 2), (3, 0):
    case("LambApplyWeightAssign", [*map(single, norms), single(0.25), numbers(*wide), numbers(*wide)], doubled(lamb_weight))


# ---- gradients along axes ----

def softmax_gradient(axis, made_first=False):
    def gradient(dy, y, z=1):
        dy, y = (y, dy) if made_first else (dy, y)
        return (dy - (y * dy).sum(axis, keepdims=True)) * y * z
    return gradient


def log_softmax_gradient(axis):
    return lambda y, dy: dy - numpy.exp(y) * dy.sum(axis, keepdims=True)


def log_softmax(x, axis):
    return numpy.log(softmax(x, axis))


def of_softmax(axis):
    """Softmax's gradient by differences: the logarithm is one of those that it comes from."""
    return lambda y, dy: slopes(lambda x: (softmax(x, axis) * dy).sum(), numpy.log(y))


def layer_norm(axis, epsilon):
    def norm(x, gamma, beta):
        rest = tuple(range(axis % x.ndim, x.ndim))
        mean, variance = x.mean(rest, keepdims=True), x.var(rest, keepdims=True)
        return [(x - mean) / numpy.sqrt(variance + epsilon) * gamma + beta, mean, variance]
    return norm


def layer_gradient(axis, epsilon):
    def gradient(x, dy, variance, mean, gamma):
        rest, rows = tuple(range(axis % x.ndim, x.ndim)), tuple(range(axis % x.ndim))
        factor = 1 / numpy.sqrt(variance + epsilon)
        normal, g = (x - mean) * factor, dy * gamma
        off = g.mean(rest, keepdims=True) + normal * (g * normal).mean(rest, keepdims=True)
        return [(g - off) * factor, (dy * normal).sum(rows), dy.sum(rows)]
    return gradient


def layer_slopes(axis, epsilon):
    def gradient(x, dy, variance, mean, gamma):
        def total(x, gamma, beta):
            return (layer_norm(axis, epsilon)(x, gamma, beta)[0] * dy).sum()
        beta = numpy.zeros_like(gamma)
        return [slopes(lambda x: total(x, gamma, beta), x), slopes(lambda gamma: total(x, gamma, beta), gamma),
                slopes(lambda beta: total(x, gamma, beta), beta)]
    return gradient


for axis, shape in (-1, (3, 67)), (1, (2, 33, 5)), (0, (65, 3)):
    made = softmax(numbers(*shape), axis)
    case("SoftmaxBackward", [numbers(*shape), made, ("constant", numpy.array(axis))],
         lambda dy, y, _, axis=axis: softmax_gradient(axis)(dy, y))
    case("SoftmaxBackward", [numbers(*shape), made], softmax_gradient(axis), dim=axis)
    case("SoftmaxGrad", [made, numbers(*shape)], softmax_gradient(axis, True), numeric=of_softmax(axis), axis=[axis])
    for factor in (1,), shape:
        case("SoftmaxGradExt", [numbers(*shape), made, numbers(*factor)], softmax_gradient(axis), axis=axis)
    case("LogSoftmaxGrad", [numpy.log(made), numbers(*shape)], log_softmax_gradient(axis), axis=axis,
         numeric=lambda y, dy, axis=axis: slopes(lambda x: (log_softmax(x, axis) * dy).sum(), y))
case("SoftmaxGradExt", [numbers(2, 3, 4), numbers(2, 3, 4), numbers(1)], softmax_gradient((1, 2)), axis=[1, 2])
case("SoftmaxGradExt", [numbers(2, 3, 4), numbers(2, 3, 4), numbers(1)], softmax_gradient(-1))
case("SoftmaxBackward", [numbers(2, 3, 4), numbers(2, 3, 4)], softmax_gradient(-1))
for shape, axes, attributes in (((130, 67), 0, {}), ((3, 65, 4), (0, 2), {}), ((2, 3, 4, 5), (0, 2, 3), {}),
                                ((20, 3, 4, 5), (0, 1, 2), {"data_format": "NHWC"}), ((1, 64), 0, {}), ((17, 1), 0, {})):
    case("BiasAddGrad", [numbers(*shape)], lambda dy, axes=axes: dy.sum(axes), **attributes,
         numeric=lambda dy, axes=axes: slopes(lambda bias: (dy * bias.reshape(
             [1 if i in numpy.atleast_1d(axes) else size for i, size in enumerate(dy.shape)])).sum(),
             numpy.zeros([size for i, size in enumerate(dy.shape) if i not in numpy.atleast_1d(axes)])))
small = real(1e-3)
for axis, shape in (1, (4, 67)), (-1, (2, 3, 33)), (2, (3, 2, 5, 4)), (1, (37, 8)):
    tail = shape[axis:]
    x = numbers(*shape)
    _, mean, variance = (part.astype(numpy.float32) for part in layer_norm(axis, 0)(x, 1, 0))
    case("LayerNorm", [numbers(*shape), numbers(*tail), numbers(*tail)],
         lambda x, gamma, beta, axis=axis: [layer_norm(axis, small)(x, gamma, beta)[0]], begin_norm_axis=axis,
         begin_params_axis=axis, epsilon=small)
    case("LayerNorm", [numbers(*shape), numbers(*tail), numbers(*tail)], layer_norm(axis, small), types="f32 f64",
         begin_norm_axis=axis, begin_params_axis=axis, epsilon=small)

    def with_rstd(x, gamma, beta, epsilon=small, axis=axis):
        y, mean, variance = layer_norm(axis, epsilon)(x, gamma, beta)
        return [y, mean.astype(numpy.float32), (1 / numpy.sqrt(variance + epsilon)).astype(numpy.float32)]
    case("LayerNormV3", [numbers(*shape), numbers(*tail), numbers(*tail)], with_rstd, "f32 f16 bf16", begin_norm_axis=axis,
         begin_params_axis=axis, epsilon=small)
    case("LayerNormExt", [numbers(*shape), numbers(*tail), numbers(*tail)], with_rstd, "f32 f16 bf16", normalized_shape=list(tail), eps=small)
    case("LayerNormGrad", [x, numbers(*shape), variance, mean, numbers(*tail)], layer_gradient(axis, small), types="f32 f16 bf16",
         begin_norm_axis=axis, begin_params_axis=axis, epsilon=small)
    case("LayerNormGrad", [x, numbers(*shape), *layer_norm(axis, 0)(x, 1, 0)[:0:-1], numbers(*tail)], layer_gradient(axis, small),
         types="f64", numeric=layer_slopes(axis, small), begin_norm_axis=axis, begin_params_axis=axis, epsilon=small)

case("LayerNormV3", [numbers(3, 2, 5), numbers(2, 5), numbers(2, 5)],
     lambda x, gamma, beta: layer_norm(1, real(1e-7))(x, gamma, beta)[0], "f32")  # defaults
case("LayerNormExt", [numbers(3, 2, 5), numbers(2, 5), numbers(2, 5)],
     lambda x, gamma, beta: layer_norm(1, real(1e-5))(x, gamma, beta)[0], "f32", normalized_shape=[2, 5])
case("TensorAdd", [numbers(3, 5), numbers(5)], lambda a, b: a + b)
case("Split", [numbers(4, 6)], lambda x: [x[:2], x[2:]], output_num=2)
case("Split", [numbers(4, 6)], lambda x: numpy.split(x, 3, 1), axis=1, output_num=3)
case("SplitWithSize", [numbers(4, 6)], lambda x: [x[:, :1], x[:, 1:3], x[:, 3:]], split_size=[1, 2, 3], dim=-1)
case("SplitWithSize", [numbers(4, 6)], lambda x: [x[:3], x[3:]], split_sections=[3, 1])

# ---- several operators in one ----

def rms(x, rest, epsilon=1e-6):
    return 1 / numpy.sqrt((x * x).mean(rest, keepdims=True) + real(epsilon))


def eighths(*shape):
    """Numbers whose sums every type has."""
    return random.integers(-15, 16, shape) / 8


for shape, rank in ((3, 67), 1), ((2, 3, 64), 1), ((1, 1, 63), 1), ((65,), 1), ((5, 3, 7), 2):
    tail, rest = shape[len(shape) - rank:], tuple(range(-rank, 0))

    def norm(x, gamma, rest=rest, epsilon=1e-6):
        return [x * rms(x, rest, epsilon) * gamma, rms(x, rest, epsilon).astype(numpy.float32)]
    a, b, gamma = eighths(*shape), eighths(*shape), numbers(*tail)
    case("RmsNorm", [numbers(*shape), gamma], norm, "f32 f16 bf16")
    case("RmsNorm", [numbers(*shape), gamma], lambda x, g, norm=norm: norm(x, g, epsilon=0.01)[0], "f32 f16 bf16", epsilon=0.01)
    case("AddRmsNorm", [a, b, gamma], lambda a, b, g, norm=norm: norm(a + b, g) + [a + b], "f32 f16 bf16")
    case("AddRmsNorm", [a, b, gamma], lambda a, b, g, norm=norm: norm(a + b, g)[0], "f32 f16 bf16")
    case("AddRmsNormCast", [a, b, gamma],
         lambda a, b, g, norm=norm: [norm(a + b, g)[0].astype(numpy.float32), *norm(a + b, g), a + b], "f32", domain="sklink")
    case("AddLayerNorm", [a, b, gamma, numbers(*tail)], lambda a, b, g, beta, rest=rest: [
        (part := layer_norm(-len(rest), 1e-5)(a + b, g, beta))[0], part[1].astype(numpy.float32),
        (1 / numpy.sqrt(part[2] + 1e-5)).astype(numpy.float32), a + b], "f32 f16 bf16")


def dynamic(x, smooth=1.0):
    scale = abs(x * smooth).max(-1, keepdims=True) / 127
    y = numpy.rint(numpy.divide(x * smooth, scale, where=scale > 0, out=numpy.zeros_like(x)))
    return [y.astype(numpy.int8), scale[..., 0].astype(numpy.float32)]


# The largest of a row is 127 quarters, so that quotients are exact.
most = numpy.concatenate([random.integers(-120, 121, (2, 3, 66)) / 4, numpy.full((2, 3, 1), -127 / 4)], -1)
most[0, 1] = 0
case("DynamicQuantExt", [most], dynamic, "f32 f16 bf16")
case("DynamicQuantExt", [most, numpy.full(67, 0.5)], dynamic, "f32 f16 bf16")
for form in (), (67,):
    case("QuantV2", [eighths(2, 3, 67), numpy.full(form, 4.0), ("constant", numpy.full(form, -3.0))],
         lambda x, scale, zero: numpy.rint(x * scale + zero).astype(numpy.int8), "f32 f16 bf16")
case("QuantV2", [eighths(2, 67) * 128, numpy.array(0.5)], lambda x, s: numpy.clip(numpy.rint(x * s), -128, 127).astype(numpy.int8),
     "f32 f16 bf16", rounding_mode="round")

# ---- operators that become other calls ----

def arg_with(name):
    def found(x, axis, keep):
        index = getattr(numpy, "arg" + name)(x, axis)
        value = getattr(x, name)(axis)
        return [numpy.expand_dims(part, axis) if keep else part for part in (index, value)]
    return found


for name, function in ("ArgMaxWithValue", "max"), ("ArgMinWithValue", "min"):
    for axis, keep in (0, 0), (1, 1), (-1, 0):
        case(name, [numbers(3, 4, 65)], lambda x, f=arg_with(function), a=axis, k=keep: f(x, a, k), axis=axis, keep_dims=keep)
    case(name, [numbers(7)], lambda x, f=arg_with(function): f(x, 0, 0))
for name, function in ("ArgMax", numpy.argmax), ("Argmin", numpy.argmin):
    case(name, [numbers(3, 65)], lambda x, f=function: f(x, -1).astype(numpy.int32))
    case(name, [numbers(3, 65)], lambda x, f=function: f(x, 0), axis=0, output_type=35)
case("EqualCount", [numpy.array([1, 2, 3, 4.0]), numpy.array([1, 5, 3, 0.0])], lambda a, b: numpy.array([2.0]))
case("EqualCount", [numpy.arange(100, dtype=numpy.int32), numpy.full(100, 7, numpy.int32)], lambda a, b: numpy.array([1], numpy.int32), "f32")
case("SquareSumAll", [numbers(3, 65), numbers(3, 65)], lambda a, b: [numpy.array((a * a).sum()), numpy.array((b * b).sum())])
case("RepeatInterleaveInt", [numbers(2, 3, 4), ("constant", numpy.array(3)), ("constant", numpy.array(1))],
     lambda x, *_: x.repeat(3, 1))
case("RepeatInterleaveInt", [numbers(2, 3), ("constant", numpy.array(2))], lambda x, _: x.repeat(2))
for name, function in ("MeanExt", numpy.mean), ("SumExt", numpy.sum):
    case(name, [numbers(2, 3, 4), ("constant", numpy.array([0, -1])), ("constant", numpy.array(True))],
         lambda x, *_, f=function: f(x, (0, 2), keepdims=True))
    case(name, [numbers(2, 3, 4)], lambda x, f=function: numpy.array(f(x)))
case("SumExt", [numpy.arange(5, dtype=numpy.int32)], lambda x: numpy.array(10), "f32")
case("Slice", [numbers(4, 5), ("constant", numpy.array([1, 2])), ("constant", numpy.array([2, -1]))], lambda x, *_: x[1:3, 2:])
case("StridedSlice", [numbers(6, 7), *(("constant", numpy.array(list_)) for list_ in ([1, -1], [5, -8], [2, -3]))],
     lambda x, *_: x[1:5:2, -1:-8:-3])
case("StridedSlice", [numbers(3, 4, 5, 6), *(("constant", numpy.array(list_)) for list_ in ([1, 0, 0, 2], [9, 0, 0, 0], [1, 1, 1, 1]))],
     lambda x, *_: x[1:9, ..., None, 2], ellipsis_mask=2, new_axis_mask=4, shrink_axis_mask=8)
case("StridedSlice", [numbers(5, 6), *(("constant", numpy.array(list_)) for list_ in ([3, 3], [4, 4], [-1, 1]))],
     lambda x, *_: x[::-1, 3:], begin_mask=1, end_mask=3)
case("Transpose", [numbers(2, 3, 4), ("constant", numpy.array([2, 0, 1]))], lambda x, _: x.transpose(2, 0, 1))
case("Transpose", [numbers(2, 3, 4)], lambda x: x.transpose(1, 0, 2), perm=[1, 0, 2])
case("OneHot", [numpy.array([[0, 2], [-1, 3]], numpy.int32), ("constant", numpy.array(3)), numpy.array(2.0), numpy.array(-1.0)],
     lambda i, *_: numpy.where(i[..., None] == numpy.arange(3), 2.0, -1.0))
case("OneHot", [numpy.array([1, 0, 5]), ("constant", numpy.array(4)), numpy.array([2.0]), numpy.array([0.0])],
     lambda i, *_: numpy.where(numpy.arange(4)[:, None] == i, 2.0, 0.0), axis=0)
case("CumSum", [numbers(3, 65), ("constant", numpy.array(1))], lambda x, _: x.cumsum(1))
case("CumSum", [numbers(3, 5), ("constant", numpy.array(0))], lambda x, _: x[::-1].cumsum(0)[::-1], reverse=1)
for a, b in ((0, 0), (0, 1), (1, 0), (1, 1)):
    for batch, other in ((2, 3), (2, 3)), ((2, 3), ()), ((2, 1), (3,)), ((), ()), ((), (3,)):
        case("BatchMatMul", [numbers(*batch, *((5, 4) if a else (4, 5))), numbers(*other, *((6, 5) if b else (5, 6)))],
             lambda x, y, a=a, b=b: (x.swapaxes(-1, -2) if a else x) @ (y.swapaxes(-1, -2) if b else y),
             transpose_a=a, transpose_b=b)
    case("MatMul", [numbers(*((5, 4) if a else (4, 5))), numbers(*((6, 5) if b else (5, 6)))],
         lambda x, y, a=a, b=b: (x.T if a else x) @ (y.T if b else y), transpose_a=a, transpose_b=b)
for name, function in ("ReduceSum", numpy.sum), ("ReduceMean", numpy.mean), ("ReduceMax", numpy.max), ("ReduceMin", numpy.min):
    case(name, [numbers(3, 5, 7), ("constant", numpy.array([1, 2]))], lambda x, _, f=function: f(x, (1, 2)))
    case(name, [numbers(3, 5, 7)], lambda x, f=function: f(x, 1, keepdims=True), axis=1, keep_dims=1)
    case(name, [numbers(3, 5, 7)], lambda x, f=function: f(x, (0, 2)), axis=[0, -1])
for axis in -1, 0, [1]:
    along = axis[0] if isinstance(axis, list) else axis
    case("Softmax", [numbers(3, 5, 4)], lambda x, a=along: softmax(x, a), axis=axis)
    case("LogSoftmax", [numbers(3, 5, 4)], lambda x, a=along: numpy.log(softmax(x, a)), axis=axis)
case("Squeeze", [numbers(3, 1, 4, 1)], lambda x: x.squeeze(1), axis=1)
case("Squeeze", [numbers(3, 1, 4, 1)], lambda x: x.squeeze())
case("ExpandDims", [numbers(3, 4), ("constant", numpy.array(1))], lambda x, _: x[:, None])
case("Reshape", [numbers(3, 4), ("constant", numpy.array([2, -1]))], lambda x, _: x.reshape(2, 6))
case("MatMul", [numbers(4, 1), numbers(6, 1)], lambda x, y: x @ y.T, transpose_b=1)
case("BatchMatMul", [numbers(2, 1, 4), numbers(3, 2, 6, 1)], lambda x, y: x.swapaxes(-1, -2) @ y.swapaxes(-1, -2),
     transpose_a=1, transpose_b=1)
case("Tile", [numbers(3, 1, 4), ("constant", numpy.array([1, 3, 1]))], lambda x, _: numpy.tile(x, (1, 3, 1)))
case("Tile", [numbers(3, 4), ("constant", numpy.array([2, 3]))], lambda x, _: numpy.tile(x, (2, 3)))


# ---- random numbers ----

def philox(counter, key):
    """The words of Philox4x32-10 (Salmon et al., 2011)."""
    low = (1 << 32) - 1
    for _ in range(10):
        left, right = counter[0] * 0xD2511F53, counter[2] * 0xCD9E8D57
        counter = [right >> 32 ^ counter[1] ^ key[0], right & low, left >> 32 ^ counter[3] ^ key[1], left & low]
        key = [key[0] + 0x9E3779B9 & low, key[1] + 0xBB67AE85 & low]
    return counter


# Known answers of the authors' library.
assert philox([0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
assert philox([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0]) == [
    0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]


def words_of(count, seed, seed2):
    low = (1 << 32) - 1
    return numpy.array([philox([i, 0, seed >> 32, seed2 >> 32], [seed & low, seed2 & low]) for i in range(count)], numpy.uint64)


def uniforms(count, seed, seed2, wide=False):
    words = words_of(-(-count // (2 if wide else 4)), seed, seed2)
    if wide:
        words = (words[:, ::2] << numpy.uint64(32) | words[:, 1::2]) >> numpy.uint64(11)
        return words.ravel()[:count] * 2.0 ** -53
    return (words.ravel()[:count] >> numpy.uint64(8)) * 2.0 ** -24


def normals(count, seed, seed2):
    words = words_of(-(-count // 4), seed, seed2).reshape(-1, 2)
    radius = numpy.sqrt(-2 * numpy.log(words[:, 0] * 2.0 ** -32 + 2.0 ** -33))
    angle = 2 * numpy.pi * (words[:, 1] >> numpy.uint64(8)) * 2.0 ** -24
    return numpy.stack([radius * numpy.cos(angle), radius * numpy.sin(angle)], 1).ravel()[:count]


def dropout(wide):
    def drop(x):
        mask = (uniforms(x.size, 7, 5 << 32 | 11, wide) < real(0.7)).reshape(x.shape).astype(float)
        return [x * mask / real(0.7), mask]
    return drop


for types, wide in ("f32 f16 bf16", False), ("f64", True):
    case("Dropout", [numbers(5, 77)], dropout(wide), types, keep_prob=0.7, Seed0=7, Seed1=5 << 32 | 11)
case("DropoutGrad", [numbers(5, 77), (numbers(5, 77) > 0).astype(float)], lambda dy, mask: dy * mask / real(0.7), keep_prob=0.7)
case("DropoutGrad", [numbers(5, 77), numbers(5, 77) > 0], lambda dy, mask: dy * mask / real(0.7), keep_prob=0.7)
case("StandardNormal", [("constant", numpy.array([5, 77]))],
     lambda shape: normals(385, 3, 4).reshape(5, 77).astype(numpy.float32), "f32", seed=3, seed2=4)


def main():
    numpy.seterr(all="ignore")
    names = {one[0] for one in cases}
    untested = [name for name in EXPANDED + CLUSTERED if name not in names]
    assert not untested, untested
    for name in sys.argv[4:]:
        assert name in EXPANDED + CLUSTERED or any(one[0] == name for one in cases), name
    run(*sys.argv[1:4], [one for one in cases if not sys.argv[4:] or one[0] in sys.argv[4:]])


main()
