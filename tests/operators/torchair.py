"""Graphs as TorchAir dumps them, in both forms, linked and run, compared with numpy: each operator of graph/onnx/kinds.def with its attributes,
and those of the table of aliases that TorchAir writes."""
import math
import re
import subprocess
import sys

import numpy

from graph_def import GraphDef

R = numpy.random.default_rng(7)
erf = numpy.vectorize(math.erf, otypes=["f4"])


def f(*shape, low=-2, high=2):
    return R.uniform(low, high, shape).astype("f4")


def i64(*values):
    return Const(numpy.array(values, "i8"))


def i32(*values):
    return Const(numpy.array(values, "i4"))


class Const:
    def __init__(self, value):
        self.value = numpy.asarray(value)


def scalar(value, dtype="f4"):
    return Const(numpy.array(value, dtype))


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def softmax(x, axis=-1):
    e = numpy.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def gelu(x, tanh=False):
    return 0.5 * x * (1 + (numpy.tanh(0.7978845608 * (x + 0.044715 * x**3)) if tanh else erf(x * 0.70710678)))


def rotated(x):
    a, b = numpy.split(x, 2, -1)
    return numpy.concatenate([-b, a], -1)


def windows(x, k, s, pads):
    """[n, c, oh, ow, kh, kw] of x with zeros around."""
    x = numpy.pad(x, [(0, 0), (0, 0), pads[:2], pads[2:]])
    view = numpy.lib.stride_tricks.sliding_window_view(x, k, (2, 3))
    return view[:, :, :: s[0], :: s[1]]


def conv(x, w, s, pads, groups=1):
    parts = []
    for p, q in zip(numpy.split(x, groups, 1), numpy.split(w, groups, 0)):
        parts.append(numpy.einsum("nchwij,ocij->nohw", windows(p, w.shape[2:], s, pads), q))
    return numpy.concatenate(parts, 1)


def cases():
    """(operator, inputs, attributes, results): a list of inputs is in a list of its own."""
    x, y, z = f(3, 4), f(3, 4), f(2, 3, 4)
    b, c = R.integers(-20, 20, (3, 4)).astype("i4"), R.integers(1, 7, (3, 4)).astype("i4")
    # shapes and moves
    yield "AsStrided", [f(12).reshape(12), i64(2, 3), i64(1, 4), i64(1)], {}, lambda a, *_: [numpy.lib.stride_tricks.as_strided(a[1:], (2, 3), (4, 16))]
    yield "BroadcastTo", [f(1, 4), i64(3, 4)], {}, lambda a, _: [numpy.broadcast_to(a, (3, 4))]
    yield "ConcatV2", [x, y, scalar(1, "i4")], {"N": 2}, lambda a, b, _: [numpy.concatenate([a, b], 1)]
    yield "ConcatV2", [z, z, z, scalar(-3, "i8")], {"N": 3}, lambda a, b, c, _: [numpy.concatenate([a, b, c], 0)]
    yield "ExpandDims", [x, scalar(1, "i4")], {}, lambda a, _: [a[:, None]]
    yield "Expand", [f(3, 1), i32(2, 3, 4)], {}, lambda a, _: [numpy.broadcast_to(a, (2, 3, 4))]
    yield "Fill", [i32(2, 3), scalar(1.5)], {}, lambda *_: [numpy.full((2, 3), 1.5, "f4")]
    yield "FlattenV2", [f(2, 3, 4, 5)], {}, lambda a: [a.reshape(2, 60)]
    yield "FlattenV2", [f(2, 3, 4, 5)], {"axis": 1, "end_axis": 2}, lambda a: [a.reshape(2, 12, 5)]
    yield "FlattenV2", [f(2, 3, 4, 5)], {"axis": 0, "end_axis": -2}, lambda a: [a.reshape(24, 5)]
    yield "Gather", [z, i32(1, 0, 1)], {"batch_dims": 0, "validate_indices": True, "is_preprocessed": False}, lambda a, _: [a[[1, 0, 1]]]
    yield "GatherElements", [x, i64(0, 1, 2, 1).value.reshape(1, 4)], {"dim": 0}, lambda a, k: [numpy.take_along_axis(a, k, 0)]
    yield "GatherV2", [z, i64(2, 0), scalar(1, "i8")], {"batch_dims": 0, "is_preprocessed": False, "negative_index_support": False}, lambda a, *_: [a[:, [2, 0]]]
    yield "InplaceIndexAdd", [f(4, 3), i64(2, 0).value, f(2, 3), scalar(2.0)], {"axis": 0}, lambda v, k, u, _: [index_add(v, k, u * 2, 0)]
    yield "InplaceIndexAdd", [f(4, 3), i32(1, 1).value, f(4, 2)], {"axis": -1}, lambda v, k, u: [index_add(v, k, u, 1)]
    yield "LinSpace", [scalar(1), scalar(3), scalar(5, "i4")], {}, lambda *_: [numpy.linspace(1, 3, 5, dtype="f4")]
    yield "MaskedFill", [x, y > 0, scalar(9)], {}, lambda a, m, _: [numpy.where(m, numpy.float32(9), a)]
    yield "MirrorPad", [x, Const(numpy.array([[1, 2], [3, 0]], "i4"))], {"mode": "REFLECT"}, lambda a, _: [numpy.pad(a, [(1, 2), (3, 0)], "reflect")]
    yield "Pack", [x, y, x], {"N": 3, "axis": 1}, lambda a, b, c: [numpy.stack([a, b, c], 1)]
    yield "Pack", [x, y], {"N": 2, "axis": -1}, lambda a, b: [numpy.stack([a, b], -1)]
    yield "PadV3", [x, i64(0, 1, 2, 0), scalar(3)], {"mode": "constant", "paddings_contiguous": True}, lambda a, *_: [numpy.pad(a, [(0, 1), (2, 0)], constant_values=3)]
    yield "PadV3", [x, i32(1, 0, 0, 2), scalar(0)], {"mode": "edge", "paddings_contiguous": False}, lambda a, *_: [numpy.pad(a, [(1, 0), (0, 2)], "edge")]
    yield "PadV3", [x, i32(1, 1, 0, 2)], {"mode": "reflect"}, lambda a, *_: [numpy.pad(a, [(1, 1), (0, 2)], "reflect")]
    yield "Permute", [z], {"order": [2, 0, 1]}, lambda a: [a.transpose(2, 0, 1)]
    yield "Range", [scalar(1, "i4"), scalar(9, "i4"), scalar(3, "i4")], {"is_closed": False}, lambda *_: [numpy.arange(1, 9, 3, dtype="i4")]
    yield "Reshape", [x, i64(2, -1)], {"axis": 0, "num_axes": -1}, lambda a, _: [a.reshape(2, 6)]
    yield "ResizeNearestNeighborV2", [f(1, 2, 3, 4), i32(6, 2)], {"align_corners": False, "half_pixel_centers": False}, lambda a, _: [a[:, :, [0, 0, 1, 1, 2, 2]][:, :, :, [0, 2]]]
    yield "ReverseV2", [z, i32(0, -1)], {}, lambda a, _: [a[::-1, :, ::-1]]
    yield "ScatterElements", [f(3, 4), Const(numpy.array([[0, 2]], "i8")), f(1, 2)], {"axis": 1, "reduction": "none"}, lambda a, _, u: [put(a, u)]
    yield "ScatterNdUpdate", [f(3, 4), Const(numpy.array([[2], [0]], "i4")), f(2, 4)], {"use_locking": False}, lambda a, _, u: [numpy.stack([u[1], a[1], u[0]])]
    yield "Shape", [z], {"dtype": 3}, lambda a: [numpy.array([2, 3, 4], "i4")]
    yield "Shape", [z], {"dtype": 9}, lambda a: [numpy.array([2, 3, 4], "i8")]
    yield "Sort", [x], {"axis": -1, "descending": True, "stable": False}, lambda a: [numpy.sort(a)[:, ::-1], numpy.argsort(-a, kind="stable").astype("i4")]
    yield "Sort", [x], {"axis": 0}, lambda a: [numpy.sort(a, 0), numpy.argsort(a, 0, kind="stable").astype("i4")]
    yield "Split", [scalar(1, "i4"), x], {"num_split": 2}, lambda _, a: numpy.split(a, 2, 1)
    yield "SplitD", [x], {"split_dim": 1, "num_split": 2}, lambda a: numpy.split(a, 2, 1)
    yield "SplitV", [x, i64(1, 3), scalar(1, "i4")], {"num_split": 2}, lambda a, *_: [a[:, :1], a[:, 1:]]
    yield "SplitV", [x, i32(1, -1, 1), scalar(-1, "i8")], {"num_split": 3}, lambda a, *_: [a[:, :1], a[:, 1:3], a[:, 3:]]
    yield "Squeeze", [f(1, 3, 1)], {"axis": [0]}, lambda a: [a[0]]
    yield "StridedSliceV2", [z, i64(1, 3), i64(3, -9), i64(1, 2), i64(1, -2)], dict.fromkeys(["begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"], 0), lambda a, *_: [a[:, 1:3, 3::-2]]
    yield "StridedSliceV2", [z, i64(1), i64(2)], {}, lambda a, *_: [a[1:2]]
    yield "TensorMove", [x], {}, lambda a: [a]
    yield "Identity", [x], {}, lambda a: [a]
    yield "Tile", [x, i64(2, 1)], {}, lambda a, _: [numpy.tile(a, (2, 1))]
    yield "Transpose", [z, i64(1, 2, 0)], {}, lambda a, _: [a.transpose(1, 2, 0)]
    yield "Transpose", [z, i32(0, 2, 1)], {}, lambda a, _: [a.transpose(0, 2, 1)]
    yield "Tril", [x], {"diagonal": 1}, lambda a: [numpy.tril(a, 1)]
    yield "Triu", [z], {"diagonal": -1}, lambda a: [numpy.triu(a, -1)]
    yield "Triu", [x], {}, lambda a: [numpy.triu(a)]
    yield "Unpack", [z], {"num": 3, "axis": 1}, lambda a: [a[:, 0], a[:, 1], a[:, 2]]
    yield "Unsqueeze", [x], {"axes": [0, 2]}, lambda a: [a[None, :, None]]
    # elements
    yield "Addcdiv", [x, y, f(3, 4, low=1), scalar(0.5)], {}, lambda a, b, c, _: [a + b / c * 0.5]
    yield "Addcmul", [x, y, f(3, 4), scalar(0.5)], {}, lambda a, b, c, _: [a + b * c * 0.5]
    yield "AscendAntiQuantV2", [b.astype("i1"), Const(numpy.float16([0.5])), Const(numpy.float16([1]))], {"dst_type": 1, "sqrt_mode": False}, lambda a, *_: [((a + numpy.float16(1)) * numpy.float16(0.5)).astype("f2")]
    yield "Axpy", [x, y], {"alpha": 0.5}, lambda a, b: [a + 0.5 * b]
    yield "AxpyV2", [x, y, scalar(2)], {}, lambda a, b, _: [a + 2 * b]
    yield "AxpyV2", [b, c, scalar(2, "i4")], {}, lambda a, b, _: [a + 2 * b]
    yield "BitwiseAnd", [b, c], {}, lambda a, b: [a & b]
    yield "BitwiseOr", [b, c], {}, lambda a, b: [a | b]
    yield "BitwiseXor", [b, c], {}, lambda a, b: [a ^ b]
    yield "Cast", [x], {"dst_type": 3}, lambda a: [a.astype("i4")]
    yield "Cast", [x], {"dst_type": 1, "truncate": False}, lambda a: [a.astype("f2")]
    yield "ClipByValueV2", [x, scalar(-1), scalar(0.5)], {}, lambda a, *_: [numpy.clip(a, -1, 0.5)]
    yield "Div", [x, y], {}, lambda a, b: [a / b]
    yield "Div", [b, c], {}, lambda a, b: [numpy.trunc(a / b).astype("i4")]
    yield "Elu", [x], {"alpha": 0.5, "scale": 2.0, "input_scale": 3.0}, lambda a: [2 * numpy.where(a > 0, a, 0.5 * (numpy.exp(3 * a) - 1))]
    yield "Elu", [x], {}, lambda a: [numpy.where(a > 0, a, numpy.exp(a) - 1)]
    yield "Exp", [x], {"base": -1.0, "scale": 1.0, "shift": 0.0}, lambda a: [numpy.exp(a)]
    yield "Log", [abs(x)], {"base": -1.0, "scale": 1.0, "shift": 0.0}, lambda a: [numpy.log(a)]
    yield "GeluGradV2", [x, y], {"approximate": "none"}, lambda d, a: [d * (0.5 * (1 + erf(a * 0.70710678)) + a * 0.39894228 * numpy.exp(-0.5 * a * a))]
    yield "GeluGradV2", [x, y], {"approximate": "tanh"}, lambda d, a: [d * (gelu(a.astype("f8") + 1e-4, True) - gelu(a.astype("f8") - 1e-4, True)) / 2e-4]
    yield "GeluV2", [x], {"approximate": "none"}, lambda a: [gelu(a)]
    yield "GeluV2", [x], {"approximate": "tanh"}, lambda a: [gelu(a, True)]
    yield "Gelu", [x], {}, lambda a: [gelu(a, True)]
    yield "FastGelu", [x], {}, lambda a: [a * sigmoid(1.702 * a)]
    yield "HardSigmoid", [x * 3], {}, lambda a: [numpy.clip(a * 0.16666666 + 0.5, 0, 1)]
    yield "HardSigmoidGrad", [x, y * 3], {"alpha": 0.25, "beta": 0.5}, lambda d, a: [numpy.where(abs(a * 0.25) < 0.5, d * 0.25, 0)]
    yield "HardSwishGrad", [x, y * 3], {}, lambda d, a: [numpy.where(a < -3, 0, numpy.where(a <= 3, d * (a / 3 + 0.5), d))]
    yield "HardtanhGrad", [x, y], {"min_val": -0.5, "max_val": 1.0}, lambda a, d: [numpy.where((a > -0.5) & (a < 1), d, 0)]
    yield "Invert", [b], {}, lambda a: [~a]
    yield "LeakyReluGrad", [x, y], {"negative_slope": 0.1}, lambda d, a: [numpy.where(a > 0, d, d * 0.1)]
    yield "Lerp", [x, y, scalar(0.25)], {}, lambda a, b, _: [a + 0.25 * (b - a)]
    yield "Log1p", [numpy.float32([1e-9, 0, -1e-5, 3, -0.5, numpy.inf, 1e30])], {}, lambda a: [numpy.log1p(a)]
    yield "LogSigmoid", [x * 9], {}, lambda a: [-numpy.log1p(numpy.exp(-a))]
    yield "LogSigmoidGrad", [x, y], {}, lambda d, a: [d * sigmoid(-a)]
    yield "LogicalXor", [x > 0, y > 0], {}, lambda a, b: [a ^ b]
    yield "Mod", [b, c], {}, lambda a, b: [numpy.fmod(a, b)]
    yield "FloorMod", [b, c], {}, lambda a, b: [numpy.mod(a, b)]
    yield "FloorDiv", [b, c], {}, lambda a, b: [a // b]
    yield "MseLossGrad", [x, y, scalar(3)], {"reduction": "mean"}, lambda a, b, _: [2 * (a - b) * 3 / a.size]
    yield "MseLossGrad", [x, y, f(3, 4)], {"reduction": "none"}, lambda a, b, d: [2 * (a - b) * d]
    yield "Muls", [x], {"value": 2.5}, lambda a: [a * 2.5]
    yield "NanToNum", [numpy.float32([1, numpy.nan, numpy.inf, -numpy.inf])], {"nan": 2.0, "posinf": 3.0, "neginf": -4.0}, lambda a: [numpy.nan_to_num(a, nan=2, posinf=3, neginf=-4)]
    yield "PRelu", [f(2, 3, 4), f(3)], {}, lambda a, w: [numpy.where(a > 0, a, a * w[:, None])]
    yield "PRelu", [f(2, 3, 4), f(1)], {}, lambda a, w: [numpy.where(a > 0, a, a * w)]
    yield "ThresholdGradV2D", [x, y], {"threshold": 0.5}, lambda d, a: [numpy.where(a > 0.5, d, 0)]
    yield "ThresholdV2", [x, scalar(0.5), scalar(7)], {}, lambda a, *_: [numpy.where(a > 0.5, a, numpy.float32(7))]
    yield "TruncateDiv", [b, c], {}, lambda a, b: [numpy.trunc(a / b).astype("i4")]
    yield "TruncateDiv", [x * 9, y], {}, lambda a, b: [numpy.trunc(a / b)]
    for op, compute in unary():
        yield op, [f(3, 4, low=0.1, high=0.9)], {}, lambda a, compute=compute: [compute(a)]
    for op, compute in binary():
        yield op, [f(3, 4, low=0.1), f(4, low=0.1)], {}, lambda a, b, compute=compute: [compute(a, b)]
    yield "SelectV2", [x > 0, x, y], {}, lambda m, a, b: [numpy.where(m, a, b)]
    # along axes
    yield "ArgMaxV2", [x, scalar(1, "i4")], {"dtype": 3}, lambda a, _: [a.argmax(1).astype("i4")]
    yield "ArgMaxV2", [x, scalar(0, "i8")], {}, lambda a, _: [a.argmax(0)]
    yield "ArgMin", [x, scalar(-1, "i4")], {"dtype": 9}, lambda a, _: [a.argmin(-1)]
    yield "ArgMaxWithValue", [x], {"dimension": 1, "keep_dims": False}, lambda a: [a.argmax(1).astype("i4"), a.max(1)]
    yield "ArgMinWithValue", [x], {"dimension": 0, "keep_dims": True}, lambda a: [a.argmin(0).astype("i4")[None], a.min(0)[None]]
    yield "Cumsum", [x, scalar(1, "i4")], {"exclusive": False, "reverse": True}, lambda a, _: [a[:, ::-1].cumsum(1)[:, ::-1]]
    yield "GLU", [x], {"dim": -1}, lambda a: [a[:, :2] * sigmoid(a[:, 2:])]
    yield "GLUGrad", [f(3, 2), x], {"dim": 1}, lambda d, a: [glu_grad(d, a)]
    yield "GeGluV2", [x], {"dim": -1, "approximate": 1, "activate_left": False}, lambda a: [a[:, :2] * gelu(a[:, 2:], True), gelu(a[:, 2:], True)]
    yield "GeGluV2", [x], {"dim": 1, "approximate": 0, "activate_left": True}, lambda a: [a[:, 2:] * gelu(a[:, :2]), gelu(a[:, :2])]
    yield "LogSoftmaxGrad", [x, numpy.log(softmax(y))], {"axis": [-1]}, lambda d, a: [d - numpy.exp(a) * d.sum(-1, keepdims=True)]
    yield "LogSoftmaxV2", [z], {"axes": [1]}, lambda a: [numpy.log(softmax(a, 1))]
    yield "LpNormV2", [z], {"p": 2.0, "axes": [0, 2], "keepdim": False, "epsilon": 1e-12}, lambda a: [numpy.sqrt((a * a).sum((0, 2)))]
    yield "LpNormV2", [z], {"p": 1.0, "axes": [1], "keepdim": True}, lambda a: [abs(a).sum(1, keepdims=True)]
    yield "MoeComputeExpertTokens", [i32(0, 0, 1, 3, 3).value], {"num_experts": 4}, lambda a: [numpy.array([2, 3, 3, 5], "i4")]
    for reduction, compute in ("mean", numpy.mean), ("sum", numpy.sum), ("none", lambda a: a):
        yield "MseLoss", [x, y], {"reduction": reduction}, lambda a, b, compute=compute: [compute((a - b) ** 2)]
    yield "ReduceAll", [x > -1, i64(1)], {"keep_dims": False}, lambda a, _: [a.all(1)]
    yield "ReduceAny", [x > 1, i32(0)], {"keep_dims": True}, lambda a, _: [a.any(0, keepdims=True)]
    yield "ReduceSum", [z, i64(0, 2)], {"keep_dims": False}, lambda a, _: [a.sum((0, 2))]
    yield "ReduceSum", [z, i32(1)], {"keep_dims": True}, lambda a, _: [a.sum(1, keepdims=True)]
    yield "ReduceMean", [z, i32(1)], {"keep_dims": True, "noop_with_empty_axes": True}, lambda a, _: [a.mean(1, keepdims=True)]
    yield "ReduceMax", [z, i32(1)], {"keep_dims": False}, lambda a, _: [a.max(1)]
    yield "ReduceProdD", [z], {"axes": [1], "keep_dims": False}, lambda a: [a.prod(1)]
    yield "ReduceLogSumExp", [z, i64(2)], {"keep_dims": False}, lambda a, _: [numpy.log(numpy.exp(a).sum(2))]
    yield "ReduceMeanWithCast", [b, i64(1)], {"keep_dims": False, "dtype": 0}, lambda a, _: [a.astype("f4").mean(1)]
    yield "ReduceStdV2", [z], {"dim": [1, 2], "unbiased": True, "keepdim": False, "is_mean_out": True}, lambda a: [a.std((1, 2), ddof=1), a.mean((1, 2))]
    yield "ReduceStdV2", [z], {"dim": [0], "unbiased": False, "keepdim": True}, lambda a: [a.std(0, keepdims=True), a.mean(0, keepdims=True)]
    yield "SearchSorted", [numpy.float32([1, 2, 2, 3]), numpy.float32([[0, 2, 5]])], {"dtype": 3, "right": False}, lambda a, b: [numpy.searchsorted(a, b).astype("i4")]
    yield "SearchSorted", [numpy.float32([1, 2, 2, 3]), numpy.float32([0, 2, 5])], {"dtype": 9, "right": True}, lambda a, b: [numpy.searchsorted(a, b, "right")]
    yield "SoftmaxGrad", [softmax(x), y], {"axes": [-1]}, lambda s, d: [s * (d - (d * s).sum(-1, keepdims=True))]
    yield "SoftmaxV2", [z], {"axes": [1], "half_to_float": False}, lambda a: [softmax(a, 1)]
    yield "SoftmaxV2", [x.astype("f2")], {"axes": [-1], "half_to_float": True}, lambda a: [softmax(a.astype("f4"))]
    yield "TopKV2", [x, scalar(2, "i4")], {"sorted": True, "dim": -1, "largest": True, "indices_dtype": 3}, lambda a, _: [-numpy.sort(-a)[:, :2], numpy.argsort(-a)[:, :2].astype("i4")]
    yield "TopKV2", [x, i32(1)], {"dim": 0, "largest": False, "indices_dtype": 9}, lambda a, _: [numpy.sort(a, 0)[:1], numpy.argsort(a, 0)[:1]]
    # products, windows, norms
    yield "AdaptiveAvgPool2d", [f(2, 3, 4, 5)], {"output_size": [1, 1]}, lambda a: [a.mean((2, 3), keepdims=True)]
    yield "AvgPoolV2", [f(1, 2, 5, 6)], {"ksize": [1, 1, 2, 3], "strides": [1, 1, 2, 1], "pads": [0, 1, 1, 0], "padding_mode": "CALCULATED", "data_format": "NCHW", "global_pooling": False, "ceil_mode": False, "exclusive": False}, lambda a: [windows(a, (2, 3), (2, 1), [0, 1, 1, 0]).mean((4, 5))]
    yield "AvgPoolV2", [f(1, 2, 5, 6)], {"ksize": [1, 1, 2, 3], "strides": [1, 1, 2, 1], "pads": [0, 1, 1, 0], "data_format": "NCHW"}, lambda a: [windows(a, (2, 3), (2, 1), [0, 1, 1, 0]).sum((4, 5)) / windows(a * 0 + 1, (2, 3), (2, 1), [0, 1, 1, 0]).sum((4, 5))]
    yield "BNInfer", [f(2, 3, 4, 5), f(3), f(3), f(3), f(3, low=0.5)], {"epsilon": 1e-5}, lambda a, s, o, m, v: [batch_norm(a, s, o, m, v)]
    yield "BatchNormV3", [f(2, 3, 4, 5), f(3), f(3), f(3), f(3, low=0.5)], {"epsilon": 1e-5, "momentum": 0.1, "is_training": False}, lambda a, s, o, m, v: [batch_norm(a, s, o, m, v)]
    for left, right in (0, 0), (0, 1), (1, 0), (1, 1):
        yield "BatchMatMul", [f(2, 3, 4) if not left else f(2, 4, 3), f(2, 4, 5) if not right else f(2, 5, 4)], {"adj_x1": bool(left), "adj_x2": bool(right)}, lambda a, b, l=left, r=right: [(a.swapaxes(1, 2) if l else a) @ (b.swapaxes(1, 2) if r else b)]
    yield "BatchMatMulV2", [f(2, 3, 4), f(2, 5, 4), f(5)], {"adj_x1": False, "adj_x2": True, "offset_x": 0}, lambda a, b, c: [a @ b.swapaxes(1, 2) + c]
    yield "MatMul", [f(3, 4), f(5, 4), f(5)], {"transpose_x1": False, "transpose_x2": True}, lambda a, b, c: [a @ b.T + c]
    yield "MatMulV2", [f(4, 3), f(4, 5), None], {"transpose_x1": True, "transpose_x2": False, "offset_x": 0}, lambda a, b, _: [a.T @ b]
    yield "Conv2D", [f(2, 4, 5, 6), f(6, 2, 3, 2), f(6)], {"strides": [1, 1, 2, 1], "pads": [1, 0, 0, 1], "dilations": [1, 1, 1, 1], "groups": 2, "data_format": "NCHW", "offset_x": 0}, lambda a, w, b: [conv(a, w, (2, 1), [1, 0, 0, 1], 2) + b[:, None, None]]
    yield "Conv3D", [f(1, 2, 3, 1, 4), f(3, 2, 2, 1, 1)], {"strides": [1, 1, 1, 1, 1], "pads": [1, 0, 0, 0, 0, 0], "dilations": [1, 1, 1, 1, 1], "groups": 1, "data_format": "NCDHW", "offset_x": 0}, lambda a, w: [conv3d(a, w)]
    yield "GridSampler2D", [f(1, 2, 3, 3), Const(numpy.float32([[[[-1, -1], [1, 1]]]]))], {"interpolation_mode": "bilinear", "padding_mode": "zeros", "align_corners": True}, lambda a, _: [a[:, :, [0, 2], [0, 2]][:, :, None]]
    yield "GroupNormV2", [f(2, 4, 3), f(4), f(4)], {"num_groups": 2, "eps": 1e-5, "data_format": "NCHW", "is_training": True}, lambda a, g, b: group_norm(a, g, b, 2)
    yield "GroupNormSilu", [f(2, 4, 3), f(4), f(4)], {"num_groups": 2, "eps": 1e-5}, lambda a, g, b: [(lambda y, m, r: [y * sigmoid(y), m, r])(*group_norm(a, g, b, 2))][0]
    yield "GroupNorm", [f(2, 4, 3), f(4), f(4)], {"num_groups": 4, "eps": 1e-5, "data_format": "NCHW"}, lambda a, g, b: [group_norm(a, g, b, 4)[0], a.mean(2), a.var(2)]
    yield "LayerNorm", [f(2, 3, 4), f(3, 4), f(3, 4)], {"begin_norm_axis": 1, "begin_params_axis": 1, "epsilon": 1e-5}, lambda a, g, b: [layer_norm(a, g, b)[0], a.mean((1, 2)).reshape(2, 1, 1), a.var((1, 2)).reshape(2, 1, 1)]
    yield "LayerNormV3", [f(2, 3, 4), f(3, 4), f(3, 4)], {"begin_norm_axis": 1, "begin_params_axis": 1, "epsilon": 1e-5}, lambda a, g, b: layer_norm(a, g, b)
    yield "LayerNorm", [f(6), f(6), f(6)], {"epsilon": 1e-5}, lambda a, g, b: [(a - a.mean()) / numpy.sqrt(a.var() + 1e-5) * g + b]
    yield "MaxPoolV3", [f(1, 2, 5, 6, low=0)], {"ksize": [1, 1, 2, 3], "strides": [1, 1, 2, 1], "pads": [0, 1, 1, 0], "padding_mode": "CALCULATED"}, lambda a: [windows(a, (2, 3), (2, 1), [0, 1, 1, 0]).max((4, 5))]
    yield "MaxPoolV3", [f(1, 2, 4, 6)], {"ksize": [1, 1, 2, 3], "strides": [1, 1, 2, 3]}, lambda a: [windows(a, (2, 3), (2, 3), [0, 0, 0, 0]).max((4, 5))]
    yield "LayerNormV4", [f(2, 3, 4), i64(3, 4), f(3, 4), f(3, 4)], {"epsilon": 1e-5}, lambda a, _, g, b: layer_norm(a, g, b)
    yield "LayerNormV4", [f(2, 3, 4), i32(4), None, None], {"epsilon": 1e-5}, lambda a, *_: [(a - a.mean(-1, keepdims=True)) / numpy.sqrt(a.var(-1, keepdims=True) + 1e-5)]
    yield "RotaryMul", [f(1, 2, 3, 4), f(1, 1, 3, 4), f(1, 1, 3, 4)], {"rotary_mode": "half"}, lambda a, c, s: [a * c + rotated(a) * s]
    yield "RotaryPositionEmbedding", [f(1, 2, 3, 4), f(1, 1, 3, 4), f(1, 1, 3, 4)], {"mode": 0}, lambda a, c, s: [a * c + rotated(a) * s]
    yield "RotaryPositionEmbedding", [f(1, 2, 3, 4), f(1, 1, 3, 4), f(1, 1, 3, 4)], {"mode": 1}, lambda a, c, s: [a * c + numpy.stack([-a[..., 1::2], a[..., ::2]], -1).reshape(a.shape) * s]
    # lists of tensors
    u, v, w = [f(3, low=0.1, high=0.9), f(2, 2, low=0.1, high=0.9)], [f(3, low=1), f(2, 2, low=1)], [f(3, low=1), f(2, 2, low=1)]
    for op, compute in unary():
        yield f"Foreach{ {'Acos': 'ACos', 'Asin': 'ASin', 'Atan': 'ATan'}.get(op, op)}", u, {}, lambda *a, compute=compute: [compute(x) for x in a]
    for op, compute in ("Log10", numpy.log10), ("Log2", numpy.log2), ("Log1p", numpy.log1p):
        yield f"Foreach{op}", u, {}, lambda *a, compute=compute: [compute(x) for x in a]
    for op, compute in ("Add", numpy.add), ("Sub", numpy.subtract), ("Mul", numpy.multiply), ("Div", numpy.divide), ("Maximum", numpy.maximum), ("Minimum", numpy.minimum), ("Pow", numpy.power):
        factor = op in ("Add", "Sub")
        yield f"Foreach{op}List", u + v + [scalar(2)] * factor, {}, lambda *a, compute=compute, factor=factor: [compute(a[0], a[2] * (1 + factor)), compute(a[1], a[3] * (1 + factor))]
        yield f"Foreach{op}Scalar", u + [scalar(1.5)], {}, lambda *a, compute=compute: [compute(x, numpy.float32(1.5)) for x in a[:2]]
        yield f"Foreach{op}ScalarList", u + [Const(numpy.float32([0.5, 2]))], {}, lambda *a, compute=compute: [compute(a[0], numpy.float32(0.5)), compute(a[1], numpy.float32(2))]
    yield "ForeachPowScalarAndTensor", [scalar(2)] + u, {}, lambda _, *a: [2**x for x in a]
    for op, compute in ("Addcdiv", numpy.divide), ("Addcmul", numpy.multiply):
        for kind, given, scale in ("Scalar", scalar(3), (3, 3)), ("ScalarList", Const(numpy.float32([2, 4])), (2, 4)), ("List", Const(numpy.float32([2, 4])), (2, 4)):
            yield f"Foreach{op}{kind}", u + v + w + [given], {}, lambda *a, compute=compute, scale=scale: [a[i] + scale[i] * compute(a[i + 2], a[i + 4]) for i in (0, 1)]
    yield "ForeachLerpList", u + v + w, {}, lambda *a: [a[i] + a[i + 4] * (a[i + 2] - a[i]) for i in (0, 1)]
    yield "ForeachLerpScalar", u + v + [scalar(0.25)], {}, lambda *a: [a[i] + 0.25 * (a[i + 2] - a[i]) for i in (0, 1)]


def unary():
    return [("Abs", abs), ("Acos", numpy.arccos), ("Asin", numpy.arcsin), ("Atan", numpy.arctan), ("Cos", numpy.cos), ("Cosh", numpy.cosh), ("Erf", erf),
            ("Erfc", lambda a: 1 - erf(a)), ("Exp", numpy.exp), ("Expm1", numpy.expm1), ("Log", numpy.log), ("Neg", numpy.negative), ("Reciprocal", numpy.reciprocal),
            ("Sigmoid", sigmoid), ("Sign", numpy.sign), ("Sin", numpy.sin), ("Sinh", numpy.sinh), ("Sqrt", numpy.sqrt), ("Tan", numpy.tan), ("Tanh", numpy.tanh)]  # fmt: skip


def binary():
    return [("Add", numpy.add), ("Sub", numpy.subtract), ("Mul", numpy.multiply), ("RealDiv", numpy.divide), ("Maximum", numpy.maximum), ("Minimum", numpy.minimum),
            ("Pow", numpy.power), ("Less", numpy.less), ("LessEqual", numpy.less_equal), ("Greater", numpy.greater), ("GreaterEqual", numpy.greater_equal),
            ("Equal", numpy.equal), ("NotEqual", numpy.not_equal)]  # fmt: skip


def index_add(v, k, u, axis):
    v = v.copy()
    numpy.add.at(v if axis == 0 else v.T, k, u if axis == 0 else u.T)
    return v


def put(a, u):
    a = a.copy()
    a[0, [0, 2]] = u[0]
    return a


def glu_grad(d, a):
    s = sigmoid(a[:, 2:])
    return numpy.concatenate([d * s, d * a[:, :2] * s * (1 - s)], 1)


def batch_norm(a, s, o, m, v):
    s, o, m, v = (t[:, None, None] for t in (s, o, m, v))
    return (a - m) / numpy.sqrt(v + 1e-5) * s + o


def group_norm(a, g, b, groups):
    r = a.reshape(len(a), groups, -1)
    mean, rstd = r.mean(2), 1 / numpy.sqrt(r.var(2) + 1e-5)
    n = ((r - mean[..., None]) * rstd[..., None]).reshape(a.shape)
    return [n * g[:, None] + b[:, None], mean, rstd]


def layer_norm(a, g, b):
    mean, rstd = a.mean((1, 2), keepdims=True), 1 / numpy.sqrt(a.var((1, 2), keepdims=True) + 1e-5)
    return [(a - mean) * rstd * g + b, mean, rstd]


def conv3d(a, w):
    a = numpy.pad(a, [(0, 0), (0, 0), (1, 0), (0, 0), (0, 0)])
    return sum(numpy.einsum("ncdhw,oc->nodhw", a[:, :, d : d + 3], w[:, :, d, 0, 0]) for d in (0, 1))


def run(batch, number, sklink, skrun, arguments):
    graph, results, wanted, command = GraphDef(f"graph_{number}"), [], [], []
    for op, inputs, attributes, compute in batch:
        names, values = [], []
        for given in inputs:
            value = given.value if isinstance(given, Const) else given
            values.append(value)
            if given is None:
                names.append(None)
            elif isinstance(given, Const):
                names.append(graph.const(value))
            else:
                index = len(command)
                numpy.save(f"in{index}.npy", numpy.ascontiguousarray(value))
                names.append(graph.data(index, value))
                command.append(f"--input=arg{index}_1=in{index}.npy")
        want = [numpy.asarray(w) for w in compute(*values)]
        if any(w.dtype == numpy.float64 for w in want):
            kept = next((v.dtype for v in values if v is not None and v.dtype.kind == "f"), numpy.dtype("f4"))
            want = [w.astype("f4" if kept == "f8" else kept) if w.dtype == numpy.float64 else w for w in want]
        outputs = graph.add(op, names, [(w.dtype, None) for w in want], **attributes)
        results += outputs
        wanted += [(op, attributes, w) for w in want]
    graph.end(results)
    with open("graph.pbtxt", "w") as file:
        file.write(graph.tensorflow() if number % 2 else graph.text())
    subprocess.run([sklink, "graph.pbtxt", *arguments, "-o", "graph.sk"], check=True, capture_output=True, text=True)
    command += [f"--output={name}=y{i}.npy" for i, name in enumerate(results)]
    listed = subprocess.run([skrun, "--list", "graph.sk"], check=True, capture_output=True, text=True).stdout
    known = set(re.findall(r"^input +(\S+)", listed, re.M))
    command = [c for c in command if not c.startswith("--input") or c.split("=")[1] in known]
    subprocess.run([skrun, "graph.sk", *command], check=True, capture_output=True, text=True)
    for i, (op, attributes, want) in enumerate(wanted):
        got = numpy.load(f"y{i}.npy")
        half = want.dtype == numpy.float16
        if got.dtype != want.dtype or got.shape != want.shape or not numpy.allclose(got, want, rtol=2e-3 if half else 1e-4, atol=1e-3 if half else 2e-5, equal_nan=True):
            raise ValueError(f"{op} {attributes}: {results[i]} is\n{got} {got.dtype}\nand numpy has\n{want} {want.dtype}")


def main(sklink, skrun, table, size, *arguments):
    listed = list(cases())
    kinds = set(re.findall(r'^KIND\("(\w+)"', open(table).read(), re.M))
    of_ranks = {"HcomAllToAllV"}  # tests/runtime/ranks.sh has it
    lacking = kinds - {case[0] for case in listed} - of_ranks
    if lacking:
        sys.exit(f"no case has {sorted(lacking)}")
    failed = 0
    size = int(size)
    for number in range(0, len(listed), size):
        try:
            run(listed[number : number + size], number // size, sklink, skrun, arguments)
        except (subprocess.CalledProcessError, ValueError) as error:
            print(f"cases from {number}, {[case[0] for case in listed[number : number + size]]}: {error}\n{getattr(error, 'stderr', '')}")
            failed += 1
    print(f"{len(listed)} cases of {len({case[0] for case in listed})} operators")
    if failed:
        sys.exit(f"{failed} graphs failed")


main(*sys.argv[1:])
