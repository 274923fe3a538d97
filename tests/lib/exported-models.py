"""exported-models.py SKLINK SKRUN SKDUMP KERNELS COUNT [NAME...]: models in the patterns of exporters, each linked once
with bounds. At corners and COUNT random sizes its results are compared with those of a package that is linked for that
size: the same bits where both have the same kernels. From 20 random sizes on there are more corners and more ways to
run it, and from 200 on some models have each size of a dimension. With ONNXRUNTIME_PYTHON, a Python that has ONNX
Runtime, they are also compared with that."""
import itertools
import os
import random
import re
import subprocess
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

TYPES = {"f": TensorProto.FLOAT, "i": TensorProto.INT64}
WIDTH, HEADS, KEY = 16, 4, 4


class Model:
    """A graph under construction. Sizes are numbers or names of dimensions."""

    def __init__(self, name, bounds, given=()):
        self.name, self.bounds, self.given = name, bounds, dict(given)
        self.each = None # a dimension of which all sizes are tried
        self.numbers = numpy.random.default_rng(len(name))
        self.nodes, self.constants, self.inputs, self.outputs, self.shapes = [], [], [], [], {}

    def input(self, name, shape, kind="f"):
        self.inputs.append(helper.make_tensor_value_info(name, TYPES[kind], shape))
        self.shapes[name] = (shape, kind)
        return name

    def output(self, name, value, kind="f"):
        self.nodes.append(helper.make_node("Identity", [value], [name], name=name))
        self.outputs.append(helper.make_tensor_value_info(name, TYPES[kind], None))

    def node(self, op, *inputs, count=1, **attributes):
        names = ["v%d.%d" % (len(self.nodes), i) for i in range(count)]
        inputs = [value if isinstance(value, str) else self.ints(value) for value in inputs]
        self.nodes.append(helper.make_node(op, inputs, names, name="%s_%d" % (op, len(self.nodes)), **attributes))
        return names[0] if count == 1 else names

    def constant(self, array):
        name = "c%d" % len(self.constants)
        self.constants.append(numpy_helper.from_array(numpy.array(array, order="C"), name))
        return name

    def ints(self, value):
        return self.constant(numpy.array(value, numpy.int64))

    def real(self, value):
        return self.constant(numpy.array(value, numpy.float32))

    def weights(self, *shape):
        return self.constant((self.numbers.random(shape, numpy.float32) - 0.5) / 2)

    def size(self, value, axis):
        """A scalar, as TorchScript writes it."""
        return self.node("Gather", self.node("Shape", value), axis, axis=0)

    def shape(self, *sizes):
        """A list of scalars and numbers."""
        parts = [self.node("Unsqueeze", s, [0]) if isinstance(s, str) else self.ints([s]) for s in sizes]
        return self.node("Concat", *parts, axis=0)

    def arange(self, *limits):
        start, limit = limits if len(limits) == 2 else (0, *limits)
        return self.node("Range", start, limit, 1)

    def linear(self, value, width, out=None):
        out = out or width
        return self.node("Add", self.node("MatMul", value, self.weights(width, out)), self.weights(out))

    def norm(self, value, width=WIDTH):
        return self.node("LayerNormalization", value, self.weights(width), self.weights(width), axis=-1)

    def heads(self, value, heads=HEADS):
        """[b,s,heads*KEY] to [b,heads,s,KEY], with sizes that come from Shape."""
        split = self.shape(self.size(value, 0), self.size(value, 1), heads, KEY)
        return self.node("Transpose", self.node("Reshape", value, split), perm=[0, 2, 1, 3])

    def attend(self, q, k, v, mask=None):
        scores = self.node("MatMul", q, self.node("Transpose", k, perm=[0, 1, 3, 2]))
        scores = self.node("Div", scores, self.real(2))
        if mask:
            scores = self.node("Add", scores, mask)
        mixed = self.node("MatMul", self.node("Softmax", scores, axis=-1), v)
        turned = self.node("Transpose", mixed, perm=[0, 2, 1, 3])
        joined = self.shape(self.size(turned, 0), self.size(turned, 1), HEADS * KEY)
        return self.linear(self.node("Reshape", turned, joined), HEADS * KEY, WIDTH)

    def layer(self, x, mask=None, keys=None):
        """A layer of an encoder; with keys [b,t,WIDTH] of cross attention."""
        n, other = self.norm(x), keys or None
        other = other or n
        q, k, v = self.linear(n, WIDTH), self.linear(other, WIDTH), self.linear(other, WIDTH)
        x = self.node("Add", x, self.attend(self.heads(q), self.heads(k), self.heads(v), mask))
        h = self.linear(self.norm(x), WIDTH, 24)
        gelu = self.node("Erf", self.node("Div", h, self.real(2**0.5)))
        gelu = self.node("Mul", self.node("Add", gelu, self.real(1)), h)
        return self.node("Add", x, self.linear(gelu, 24, WIDTH))

    def expanded(self, value, sizes):
        """Expand as torch writes it: sizes of -1 are those of the value."""
        ones = self.filled(self.node("Shape", sizes), 1)
        known = self.node("Where", self.node("Equal", sizes, self.node("Mul", ones, -1)), ones, sizes)
        return self.node("Expand", value, known)

    def filled(self, shape, number):
        return self.node("ConstantOfShape", shape, value=helper.make_tensor("value", TensorProto.INT64, [1], [number]))

    def far(self, condition):
        return self.node("Where", condition, self.real(0), self.real(-1e9))

    def past_and_new(self, layer, k, v, heads=HEADS):
        past = [self.input("past.%s" % kind, ["batch", heads, "past", KEY]) for kind in ("key", "value")]
        k, v = self.node("Concat", past[0], k, axis=2), self.node("Concat", past[1], v, axis=2)
        self.output("present.key", k)
        self.output("present.value", v)
        return k, v

    def save(self):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "model.onnx")


def bert(name="bert", batch=(1, 3), seq=(1, 24)):
    m = Model(name, {"batch": batch, "seq": seq})
    ids, mask = m.input("ids", ["batch", "seq"], "i"), m.input("mask", ["batch", "seq"], "i")
    length = m.node("Unsqueeze", m.size(ids, 1), [0])
    table = m.constant(numpy.arange(seq[1]).reshape(1, seq[1]))
    positions = m.node("Slice", table, [0], length, [1])
    x = m.node("Gather", m.weights(50, WIDTH), ids)
    x = m.node("Add", x, m.node("Gather", m.weights(seq[1], WIDTH), positions))
    zeros = m.filled(m.shape(m.size(ids, 0), m.size(ids, 1)), 0)
    x = m.norm(m.node("Add", x, m.node("Gather", m.weights(2, WIDTH), zeros)))
    wide = m.node("Unsqueeze", m.node("Unsqueeze", mask, [1]), [2])
    wide = m.expanded(wide, m.shape(m.size(mask, 0), 1, m.size(ids, 1), -1))
    rest = m.node("Sub", m.real(1), m.node("Cast", wide, to=TensorProto.FLOAT))
    low = m.node("Where", m.node("Cast", rest, to=TensorProto.BOOL), m.real(-1e9), rest)
    x = m.layer(m.layer(x, low), low)
    m.output("hidden", x)
    m.output("pooled", m.node("Tanh", m.linear(m.node("Gather", x, 0, axis=1), WIDTH)))
    return m


def long_bert():
    return bert("long_bert", (1, 8), (2, 512))


def parts():
    """Calls of parts of constants, whose place or size depends on a dimension. TorchScript writes BERT's types so."""
    m = Model("parts", {"batch": (1, 3), "seq": (1, 16)})
    ids = m.input("ids", ["batch", "seq"], "i")
    length = m.node("Unsqueeze", m.size(ids, 1), [0])
    table, places = m.ints([[n * n + 7 for n in range(24)]]), m.ints([range(23, -1, -1)])
    types = m.node("GatherElements", table, m.node("Slice", places, [0], length, [1]), axis=1)
    m.output("types", m.node("Add", ids, types), "i")
    window = m.node("Slice", places, length, m.node("Add", length, [8]), [1])
    total = m.node("ReduceSum", ids, [1])
    m.output("window", m.node("Add", total, m.node("GatherElements", table, window, axis=1)), "i")
    window = m.node("Squeeze", window, [0])
    m.output("sums", m.node("Add", total, m.node("CumSum", m.node("Unsqueeze", window, [0]), m.ints(1))), "i")
    return m


def mobilebert():
    """Each row with those before and after it, which are slices that are padded again; at one row these are empty."""
    m = Model("mobilebert", {"batch": (1, 3), "seq": (1, 24)})
    ids = m.input("ids", ["batch", "seq"], "i")
    x = m.node("Gather", m.weights(50, WIDTH), ids)
    after = m.node("Pad", m.node("Slice", x, [1], [2**62], [1]), [0, 0, 0, 0, 1, 0], m.real(0))
    before = m.node("Pad", m.node("Slice", x, [0], [-1], [1]), [0, 1, 0, 0, 0, 0], m.real(0))
    x = m.linear(m.node("Concat", after, x, before, axis=2), 3 * WIDTH, WIDTH)
    m.output("hidden", m.layer(x))
    return m


def longt5():
    """Rows in blocks of 4, the last of which is padded to its end, each with the blocks before and after it."""
    m = Model("longt5", {"batch": (1, 3), "seq": (1, 22)})
    ids = m.input("ids", ["batch", "seq"], "i")
    x = m.node("Gather", m.weights(50, WIDTH), ids)
    rest = m.node("Mod", m.node("Neg", m.size(x, 1)), 4)
    pads = m.node("Concat", m.ints([0, 0, 0, 0]), m.node("Unsqueeze", rest, [0]), m.ints([0]), axis=0)
    blocks = m.node("Pad", x, pads, m.real(0))
    count = m.node("Div", m.size(blocks, 1), 4)
    blocks = m.node("Reshape", blocks, m.shape(m.size(x, 0), count, 4, WIDTH))
    around = m.node("Pad", blocks, [0, 1, 0, 0, 0, 1, 0, 0], m.real(0))
    ends = [m.node("Unsqueeze", m.node("Add", count, i), [0]) for i in range(3)]
    near = [m.node("Slice", around, [i], end, [1]) for i, end in enumerate(ends)]
    near = m.node("Concat", *near, axis=2)
    scores = m.node("MatMul", blocks, m.node("Transpose", near, perm=[0, 1, 3, 2]))
    mixed = m.node("MatMul", m.node("Softmax", scores, axis=-1), near)
    flat = m.node("Reshape", mixed, m.shape(m.size(x, 0), -1, WIDTH))
    flat = m.node("Slice", flat, [0], m.node("Unsqueeze", m.size(ids, 1), [0]), [1])
    m.output("hidden", m.node("Add", x, flat))
    return m


def bert_dynamo():
    """Indices of the mask are computed from arange, and looked up with GatherND."""
    m = Model("bert_dynamo", {"batch": (1, 3), "seq": (1, 20)})
    ids, mask = m.input("ids", ["batch", "seq"], "i"), m.input("mask", ["batch", "seq"], "i")
    b, s = (m.node("Squeeze", m.node("Shape", ids, start=i, end=i + 1)) for i in (0, 1))
    x = m.node("Gather", m.weights(50, WIDTH), ids)
    x = m.norm(m.node("Add", x, m.node("Gather", m.weights(20, WIDTH), m.arange(s))))
    rows = m.node("Unsqueeze", m.arange(b), [1, 2, 3])
    columns = m.node("Unsqueeze", m.arange(s), [0, 1, 2])
    every = m.node("GreaterOrEqual", m.node("Unsqueeze", m.arange(s), [0, 1, 3]), 0)
    shape = m.node("Max", *(m.node("Shape", v) for v in (rows, columns)))
    places = [m.node("Unsqueeze", m.node("Expand", v, shape), [-1]) for v in (rows, columns)]
    places = m.node("Concat", *places, axis=-1)
    seen = m.node("And", every, m.node("GatherND", m.node("Cast", mask, to=TensorProto.BOOL), places))
    shape = m.node("Concat", *(m.node("Reshape", v, [-1]) for v in (b, m.ints([1]), s, s)), axis=0)
    seen = m.node("Expand", seen, shape)
    m.output("hidden", m.layer(x, m.far(seen)))
    return m


def gpt2():
    m = Model("gpt2", {"batch": (1, 3), "seq": (1, 8), "past": (0, 24)})
    ids = m.input("ids", ["batch", "seq"], "i")
    x = m.node("Gather", m.weights(50, WIDTH), ids)
    k, v = (m.heads(m.linear(x, WIDTH)) for _ in range(2))
    k, v = m.past_and_new(0, k, v)
    past, total = m.size("past.key", 2), m.size(k, 2)
    places = m.arange(past, m.node("Add", past, m.size(ids, 1)))
    x = m.node("Add", x, m.node("Gather", m.weights(32, WIDTH), m.node("Unsqueeze", places, [0])))
    q = m.heads(m.linear(m.norm(x), WIDTH))
    bias = m.constant(numpy.tril(numpy.ones((1, 1, 32, 32), numpy.bool_)))
    start, end = (m.node("Unsqueeze", n, [0]) for n in (m.node("Sub", total, m.size(q, 2)), total))
    seen = m.node("Slice", m.node("Slice", bias, start, end, [2]), [0], end, [3])
    x = m.node("Add", x, m.attend(q, k, v, m.far(seen)))
    m.output("logits", m.linear(m.norm(x), WIDTH, 50))
    return m


def llama():
    m = Model("llama", {"batch": (1, 3), "seq": (1, 8), "past": (0, 20)}, {"total": "past+seq"})
    ids, mask = m.input("ids", ["batch", "seq"], "i"), m.input("mask", ["batch", "past + seq"], "i")
    x = m.node("Gather", m.weights(50, WIDTH), ids)
    n = m.node("Mul", x, m.node("Reciprocal", m.node("Sqrt", m.node("Add", m.node(
        "ReduceMean", m.node("Pow", x, m.real(2)), axes=[-1]), m.real(1e-5)))))
    past = m.input("past.key", ["batch", 2, "past", KEY])
    begin, length = m.size(past, 2), m.size(ids, 1)
    total = m.node("Add", begin, length)
    places = m.node("Unsqueeze", m.arange(begin, total), [0])
    rates = m.node("Expand", m.constant(numpy.array([[[1], [0.1]]], "f")), m.shape(m.size(places, 0), 2, 1))
    angles = m.node("MatMul", rates, m.node("Cast", m.node("Unsqueeze", places, [1]), to=TensorProto.FLOAT))
    angles = m.node("Transpose", angles, perm=[0, 2, 1])
    angles = m.node("Unsqueeze", m.node("Concat", angles, angles, axis=-1), [1])
    cos, sin = m.node("Cos", angles), m.node("Sin", angles)

    def rotate(value):
        half = [m.node("Neg", m.node("Slice", value, [2], [2**62], [3])), m.node("Slice", value, [0], [2], [3])]
        half = m.node("Concat", *half, axis=-1)
        return m.node("Add", m.node("Mul", value, cos), m.node("Mul", half, sin))

    q = rotate(m.heads(m.linear(n, WIDTH)))
    k, v = (m.heads(m.linear(n, WIDTH, 2 * KEY), 2) for _ in range(2))
    k = m.node("Concat", past, rotate(k), axis=2)
    v = m.node("Concat", m.input("past.value", ["batch", 2, "past", KEY]), v, axis=2)
    m.output("present.key", k)
    m.output("present.value", v)

    def repeated(value):
        b, t = m.size(value, 0), m.size(value, 2)
        wide = m.expanded(m.node("Unsqueeze", value, [2]), m.shape(b, 2, 2, t, KEY))
        return m.node("Reshape", wide, m.shape(b, HEADS, t, KEY))

    keys = m.node("Unsqueeze", m.arange(total), [0, 1, 2])
    seen = m.node("LessOrEqual", keys, m.node("Unsqueeze", places, [1, 3]))
    seen = m.node("And", seen, m.node("Unsqueeze", m.node("Cast", mask, to=TensorProto.BOOL), [1, 2]))
    x = m.node("Add", x, m.attend(q, repeated(k), repeated(v), m.far(seen)))
    m.output("logits", m.linear(x, WIDTH, 50))
    return m


def t5():
    m = Model("t5", {"batch": (1, 3), "seq": (1, 24)})
    ids, mask = m.input("ids", ["batch", "seq"], "i"), m.input("mask", ["batch", "seq"], "i")
    x = m.node("Gather", m.weights(50, WIDTH), ids)
    s = m.size(ids, 1)
    away = m.node("Sub", m.node("Unsqueeze", m.arange(s), [0]), m.node("Unsqueeze", m.arange(s), [1]))
    bucket = m.node("Mul", m.node("Cast", m.node("Greater", away, 0), to=TensorProto.INT64), 8)
    away = m.node("Abs", away)
    ratio = m.node("Div", m.node("Cast", away, to=TensorProto.FLOAT), m.real(4))
    large = m.node("Div", m.node("Log", m.node("Max", ratio, m.real(0.1))), m.real(numpy.log(4)))
    large = m.node("Mul", large, m.real(4))
    large = m.node("Add", m.node("Cast", large, to=TensorProto.INT64), 4)
    large = m.node("Min", large, m.filled(m.node("Shape", large), 7))
    bucket = m.node("Add", bucket, m.node("Where", m.node("Less", away, 4), away, large))
    bias = m.node("Transpose", m.node("Gather", m.weights(16, HEADS), bucket), perm=[2, 0, 1])
    bias = m.node("Unsqueeze", bias, [0])
    low = m.far(m.node("Unsqueeze", m.node("Cast", mask, to=TensorProto.BOOL), [1, 2]))
    m.output("hidden", m.layer(x, m.node("Add", bias, low)))
    return m


def whisper():
    m = Model("whisper", {"batch": (1, 3), "frames": (2, 40, 2), "seq": (1, 6)})
    mel, ids = m.input("mel", ["batch", 8, "frames"]), m.input("ids", ["batch", "seq"], "i")
    x = m.node("Relu", m.node("Conv", mel, m.weights(WIDTH, 8, 3), m.weights(WIDTH), pads=[1, 1]))
    x = m.node("Relu", m.node("Conv", x, m.weights(WIDTH, WIDTH, 3), m.weights(WIDTH), pads=[1, 1], strides=[2]))
    x = m.node("Transpose", x, perm=[0, 2, 1])
    x = m.node("Add", x, m.node("Slice", m.weights(20, WIDTH), [0], m.node("Unsqueeze", m.size(x, 1), [0]), [0]))
    hidden = m.layer(x)
    s = m.size(ids, 1)
    y = m.node("Add", m.node("Gather", m.weights(50, WIDTH), ids), m.node("Gather", m.weights(8, WIDTH), m.arange(s)))
    ones = m.node("ConstantOfShape", m.shape(s, s), value=helper.make_tensor("low", TensorProto.FLOAT, [1], [-1e9]))
    y = m.layer(y, m.node("Trilu", ones, 1, upper=1))
    m.output("logits", m.linear(m.layer(y, None, hidden), WIDTH, 50))
    return m


def vit():
    m = Model("vit", {"batch": (1, 3), "height": (8, 40, 8), "width": (8, 48, 8)})
    x = m.input("pixels", ["batch", 3, "height", "width"])
    x = m.node("Conv", x, m.weights(WIDTH, 3, 8, 8), m.weights(WIDTH), strides=[8, 8])
    rows, columns = m.size(x, 2), m.size(x, 3)
    grid = m.node("Transpose", m.node("Reshape", m.weights(1, 9, WIDTH), [1, 3, 3, WIDTH]), perm=[0, 3, 1, 2])
    sizes = m.node("Concat", m.node("Slice", m.node("Shape", grid), [0], [2]), m.shape(rows, columns), axis=0)
    grid = m.node("Resize", grid, "", "", sizes, mode="cubic", cubic_coeff_a=-0.75,
                  coordinate_transformation_mode="half_pixel")
    grid = m.node("Reshape", m.node("Transpose", grid, perm=[0, 2, 3, 1]), [1, -1, WIDTH])
    x = m.node("Transpose", m.node("Reshape", x, m.shape(m.size(x, 0), WIDTH, -1)), perm=[0, 2, 1])
    x = m.node("Add", x, grid)
    first = m.expanded(m.weights(1, 1, WIDTH), m.shape(m.size(x, 0), -1, -1))
    x = m.layer(m.node("Concat", first, x, axis=1))
    m.output("class", m.linear(m.node("Gather", m.norm(x), 0, axis=1), WIDTH, 10))
    m.output("patches", m.node("Slice", x, [1], [2**62], [1]))
    return m


def crnn():
    m = Model("crnn", {"batch": (1, 3), "width": (32, 1024)})
    m.each = "width"
    x = m.input("image", ["batch", 1, 16, "width"])
    for channels, before in ((4, 1), (8, 4)):
        x = m.node("Relu", m.node("Conv", x, m.weights(channels, before, 3, 3), m.weights(channels), pads=[1] * 4))
        x = m.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = m.node("Reshape", x, m.shape(m.size(x, 0), 32, m.size(x, 3)))
    x = m.node("Transpose", x, perm=[2, 0, 1])
    y, _, _ = m.node("LSTM", x, m.weights(2, 32, 32), m.weights(2, 32, 8), m.weights(2, 64), hidden_size=8,
                     direction="bidirectional", count=3)
    y = m.node("Reshape", m.node("Transpose", y, perm=[2, 0, 1, 3]), m.shape(m.size(y, 2), m.size(y, 0), 16))
    m.output("text", m.node("Softmax", m.linear(y, 16, 11), axis=-1))
    return m


def detector():
    m = Model("detector", {"batch": (1, 3), "height": (32, 96, 32), "width": (32, 128, 32)})
    x, levels = m.input("image", ["batch", 3, "height", "width"]), []
    for channels, before in ((4, 3), (6, 4), (8, 6), (8, 8), (8, 8)):
        x = m.node("Conv", x, m.weights(channels, before, 3, 3), m.weights(channels), pads=[1] * 4, strides=[2, 2])
        x = m.node("Mul", x, m.node("Sigmoid", x))
        levels.append(x)
    for other, channels in ((levels[3], 16), (levels[2], 24)):
        sizes = [m.node("Slice", m.node("Shape", x), [0], [2]), m.node("Slice", m.node("Shape", other), [2], [4])]
        sizes = m.node("Concat", *sizes, axis=0)
        x = m.node("Concat", m.node("Resize", x, "", "", sizes, mode="nearest", nearest_mode="floor",
                                    coordinate_transformation_mode="asymmetric"), other, axis=1)
    flat = m.node("Reshape", m.node("Conv", x, m.weights(6, 24, 1, 1), m.weights(6)), m.shape(m.size(x, 0), 6, -1))
    boxes, scores = m.node("Split", flat, [4, 2], axis=1, count=2)
    across = m.node("Cast", m.node("Unsqueeze", m.arange(m.size(x, 3)), [0]), to=TensorProto.FLOAT)
    grid = m.node("Expand", m.node("Add", across, m.real(0.5)), m.shape(m.size(x, 2), m.size(x, 3)))
    boxes = m.node("Add", boxes, m.node("Reshape", grid, [1, 1, -1]))
    m.output("found", m.node("Transpose", m.node("Concat", boxes, m.node("Sigmoid", scores), axis=1), perm=[0, 2, 1]))
    return m


def squeezed(m, x, channels):
    """The part of MobileNetV3 that scales channels by their means."""
    means = m.node("Conv", m.node("GlobalAveragePool", x), m.weights(4, channels, 1, 1), m.weights(4))
    scales = m.node("Conv", m.node("Relu", means), m.weights(channels, 4, 1, 1), m.weights(channels))
    return m.node("Mul", x, m.node("HardSigmoid", scales, alpha=1 / 6))


def mobilenet():
    """Any height and width: five halvings that round up."""
    m = Model("mobilenet", {"batch": (1, 4), "height": (1, 300), "width": (1, 320)})
    x, before = m.input("image", ["batch", 3, "height", "width"]), 3
    for channels, size, stride in ((8, 3, 2), (8, 3, 2), (12, 5, 2), (12, 5, 1), (16, 3, 2), (24, 5, 2), (24, 5, 1)):
        y = m.node("HardSwish", m.node("Conv", x, m.weights(channels, before, 1, 1), m.weights(channels)))
        y = m.node("Conv", y, m.weights(channels, 1, size, size), m.weights(channels), group=channels,
                   pads=[size // 2] * 4, strides=[stride] * 2)
        y = squeezed(m, m.node("HardSwish", y), channels)
        y = m.node("Conv", y, m.weights(channels, channels, 1, 1), m.weights(channels))
        x, before = m.node("Add", x, y) if stride == 1 else y, channels
    m.output("classes", m.linear(m.node("Flatten", m.node("GlobalAveragePool", x)), before, 10))
    return m


def anchors():
    """Points of the cells of two grids, [x,y] in rows, as heads of detectors join them."""
    m = Model("anchors", {"height": (4, 24), "width": (4, 24)})
    x, points = m.input("x", ["height", "width"]), []
    for divisor in (1, 2):
        rows, columns = (m.node("Div", m.size(x, axis), m.ints(divisor)) for axis in (0, 1))
        shape = m.shape(rows, columns)
        across, down = (m.node("Cast", m.arange(count), to=TensorProto.FLOAT) for count in (columns, rows))
        both = [m.node("Expand", across, shape), m.node("Expand", m.node("Unsqueeze", down, [1]), shape)]
        both = m.node("Concat", *(m.node("Unsqueeze", axis, [-1]) for axis in both), axis=-1)
        points.append(m.node("Reshape", both, [-1, 2]))
    turned = m.node("Transpose", m.node("Concat", *points, axis=0), perm=[1, 0])
    m.output("points", m.node("Add", turned, m.node("ReduceSum", x, keepdims=0)))
    return m


def mel():
    m = Model("mel", {"batch": (1, 3), "samples": (32, 1600, 8)})
    x = m.node("Pad", m.input("audio", ["batch", "samples"]), [0, 8, 0, 8], mode="reflect")
    waves = numpy.exp(-2j * numpy.pi * numpy.outer(numpy.arange(9), numpy.arange(16)) / 16) * numpy.hanning(16)
    waves = numpy.concatenate([waves.real, waves.imag]).astype("f").reshape(18, 1, 16)
    x = m.node("Conv", m.node("Unsqueeze", x, [1]), m.constant(waves), strides=[8])
    real, imaginary = m.node("Split", x, [9, 9], axis=1, count=2)
    power = m.node("Add", m.node("Mul", real, real), m.node("Mul", imaginary, imaginary))
    power = m.node("Slice", power, [0], [-1], [2])
    power = m.node("MatMul", m.constant(m.numbers.random((6, 9), "f")), power)
    level = m.node("Log", m.node("Max", power, m.real(1e-10)))
    top = m.node("Sub", m.node("ReduceMax", level, axes=[1, 2], keepdims=1), m.real(8))
    m.output("features", m.node("Div", m.node("Add", m.node("Max", level, top), m.real(4)), m.real(4)))
    return m


def vad():
    m = Model("vad", {"batch": (1, 3), "samples": (16, 96, 4)})
    x, state = m.input("audio", ["batch", "samples"]), m.input("state", [2, "batch", 8])
    x = m.node("Relu", m.node("Conv", m.node("Unsqueeze", x, [1]), m.weights(8, 1, 8), m.weights(8), strides=[4]))
    hidden, cell = m.node("Split", state, [1, 1], axis=0, count=2)
    y, hidden, cell = m.node("LSTM", m.node("Transpose", x, perm=[2, 0, 1]), m.weights(1, 32, 8), m.weights(1, 32, 8),
                             m.weights(1, 64), "", hidden, cell, hidden_size=8, count=3)
    m.output("next", m.node("Concat", hidden, cell, axis=0))
    y = m.node("Transpose", m.node("Squeeze", y, [1]), perm=[1, 0, 2])
    m.output("speech", m.node("ReduceMean", m.node("Sigmoid", m.linear(y, 8, 1)), axes=[1], keepdims=0))
    return m


def wav2vec():
    """Norms over channels between two transpositions, and GELU after the second one: the passes move it before it."""
    m = Model("wav2vec", {"batch": (1, 3), "samples": (24, 120)})
    x, before = m.node("Unsqueeze", m.input("audio", ["batch", "samples"]), [1]), 1
    for size, stride in ((5, 3), (2, 2)):
        x = m.node("Conv", x, m.weights(WIDTH, before, size), m.weights(WIDTH), strides=[stride])
        x = m.node("Transpose", m.norm(m.node("Transpose", x, perm=[0, 2, 1])), perm=[0, 2, 1])
        gelu = m.node("Add", m.node("Erf", m.node("Div", x, m.real(2**0.5))), m.real(1))
        x, before = m.node("Mul", m.node("Mul", x, gelu), m.real(0.5)), WIDTH
    x = m.linear(m.norm(m.node("Transpose", x, perm=[0, 2, 1])), WIDTH)
    m.output("hidden", m.layer(x))
    return m


def wavlm():
    """A bias of positions for each head, tiled to the batch and gated by queries. Its lengths are quotients less 1, and
    the dimensions have more sizes than the proof looks through."""
    m = Model("wavlm", {"batch": (1, 8), "samples": (40, 560)})
    x = m.node("Unsqueeze", m.input("audio", ["batch", "samples"]), [1])
    for before, size, stride in ((1, 10, 5), (WIDTH, 2, 2)):
        x = m.node("Conv", x, m.weights(WIDTH, before, size), m.weights(WIDTH), strides=[stride])
    x = m.node("Transpose", x, perm=[0, 2, 1])
    b, s = m.size(x, 0), m.size(x, 1)
    away = m.node("Sub", m.node("Unsqueeze", m.arange(s), [0]), m.node("Unsqueeze", m.arange(s), [1]))
    bias = m.node("Transpose", m.node("Gather", m.weights(60, HEADS), m.node("Abs", away)), perm=[2, 0, 1])
    bias = m.node("Tile", m.node("Unsqueeze", bias, [0]), m.shape(b, 1, 1, 1))
    bias = m.node("Reshape", bias, m.shape(m.node("Mul", b, HEADS), s, s))

    def gated(x):
        gates = m.node("Sigmoid", m.linear(m.heads(x), KEY, 2))
        one, two = m.node("Slice", gates, [0], [1], [3]), m.node("Slice", gates, [1], [2], [3])
        two = m.node("Sub", m.node("Mul", two, m.weights(1, HEADS, 1, 1)), m.real(1))
        gate = m.node("Reshape", m.node("Add", m.node("Mul", one, two), m.real(2)),
                      m.shape(m.node("Mul", b, HEADS), -1, 1))
        mask = m.node("Reshape", m.node("Mul", gate, bias), m.shape(b, HEADS, s, s))
        q = m.heads(m.linear(x, WIDTH))
        return m.node("Add", x, m.attend(q, q, q, mask))

    m.output("hidden", gated(gated(x)))
    return m


MODELS = [bert, long_bert, parts, bert_dynamo, gpt2, llama, t5, whisper, vit, crnn, detector, mobilenet, anchors, mel,
          vad, wav2vec, wavlm, mobilebert, longt5]
sklink, skrun, skdump, kernels = sys.argv[1:5]


def link(path, sizes):
    said = [word for name, size in sizes.items() for word in ("--dim", "%s=%s" % (name, size))]
    command = [sklink, "model.onnx", "-L", kernels, "-lskernels", "-o", path]
    done = subprocess.run(command + said, capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def run(model, path, inputs, *ways):
    said = [w for n in inputs for w in ("--input", n + "=" + n + ".npy")]
    said += [w for o in model.outputs for w in ("--output", o.name + "=" + o.name + ".out.npy")]
    done = subprocess.run([skrun, path, *said, *ways], capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s: %s" % (model.name, done.stderr))
    return [numpy.load(o.name + ".out.npy") for o in model.outputs]


def kernels_of(path):
    """The kernels with an order of additions that decides on bits, in the order of their steps. Others compute each
    element by itself."""
    text = subprocess.run([skdump, "--steps", path], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^ .*? (sk_\w*(?:matmul|conv|attention|norm|softmax|reduce|lstm)\w*)", text, re.M)


REFERENCE = """
import sys, numpy, onnxruntime
session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
for line in sys.stdin:
    inputs = {i.name: numpy.load(i.name + ".npy") for i in session.get_inputs()}
    for output, value in zip(session.get_outputs(), session.run(None, inputs)):
        numpy.save(output.name + ".out.npy", value)
    print("done", flush=True)
"""


class Reference:
    """ONNX Runtime."""

    def __init__(self, python):
        self.process = subprocess.Popen([python, "-c", REFERENCE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        encoding="utf-8")

    def run(self, model):
        print(file=self.process.stdin, flush=True)
        if not self.process.stdout.readline():
            sys.exit("%s: ONNX Runtime has failed" % model.name)
        return [numpy.load(o.name + ".out.npy") for o in model.outputs]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def expect(model, sizes, way, found, wanted, tolerance):
    """About the same numbers; returns True if they are the same bits."""
    for output, one, other in zip(model.outputs, found, wanted):
        if one.shape != other.shape or not numpy.allclose(one, other, rtol=10 * tolerance, atol=tolerance):
            sys.exit("%s at %s, %s: other results in '%s'" % (model.name, sizes, way, output.name))
    return all(one.tobytes() == other.tobytes() for one, other in zip(found, wanted))


WAYS = [["--cores", "1"], ["--cores", "3"], ["--cores", "2", "--guard"]]
MORE_WAYS = WAYS + [["--cores", "2"], ["--cores", "7"], ["--cores", "2", "--check-races"]]


def compare(model, sizes, ways, kernels, reference):
    """Results of the package with bounds, which has these kernels, at these sizes. Inputs without elements are inputs of
    it alone."""
    numbers, inputs = numpy.random.default_rng(1), {}
    for name, (shape, kind) in model.shapes.items():
        shape = [eval(s, {}, sizes) if isinstance(s, str) else s for s in shape]
        inputs[name] = numbers.random(shape, "f") - 0.5 if kind == "f" else numbers.integers(0, 2, shape)
        numpy.save(name + ".npy", inputs[name])
    problem = link("static.sk", sizes)
    if problem:
        sys.exit("%s at %s: %s" % (model.name, sizes, problem))
    wanted = run(model, "static.sk", [n for n in inputs if inputs[n].size], "--cores", "1")
    said = [word for n, size in sizes.items() for word in ("--dim", "%s=%d" % (n, size))]
    same, alike = True, kernels_of("static.sk") == kernels
    for way in ways:
        bits = expect(model, sizes, way, run(model, "dynamic.sk", inputs, *way, *said), wanted, 1e-5)
        if alike and not bits:
            sys.exit("%s at %s, %s: other bits from the same kernels" % (model.name, sizes, way))
        same = same and bits
    if reference:
        expect(model, sizes, "ONNX Runtime", wanted, reference.run(model), 1e-4)
    return same, alike


def points_of(model, count):
    """Corners, with those one step inside if there are many, and random sizes."""
    choice, steps = random.Random(model.name), {n: (*b, 1)[2] for n, b in model.bounds.items()}
    points = [{n: b[end] for n, b in model.bounds.items()} for end in (0, 1)]
    if count >= 20:
        ends = [sorted({b[0], b[0] + steps[n], b[1] - steps[n], b[1]} if len(steps) < 3 else set(b[:2]))
                for n, b in model.bounds.items()]
        points = [dict(zip(model.bounds, sizes)) for sizes in itertools.product(*ends)]
    each = range(model.bounds[model.each][0], model.bounds[model.each][1] + 1) if model.each and count >= 200 else []
    for number in range(max(count, len(each))):
        points.append({n: choice.randrange(b[0], b[1] + 1, steps[n]) for n, b in model.bounds.items()})
        if each:
            points[-1][model.each] = each[number % len(each)]
    return points


def check(model, count):
    model.save()
    said = {n: "%d..%d" % b[:2] + (":%d" % b[2] if len(b) > 2 else "") for n, b in model.bounds.items()}
    problem = link("dynamic.sk", said)
    if problem:
        sys.exit("%s does not link: %s" % (model.name, problem))
    proof = subprocess.run([skdump, "--verify", "dynamic.sk"], capture_output=True, text=True)
    if proof.returncode:
        sys.exit("%s is not proved: %s" % (model.name, proof.stderr))
    python, points = os.environ.get("ONNXRUNTIME_PYTHON"), points_of(model, count)
    reference = Reference(python) if python else None
    ways, own = MORE_WAYS if count >= 20 else WAYS, kernels_of("dynamic.sk")
    same, alike = map(sum, zip(*(compare(model, sizes, ways, own, reference) for sizes in points)))
    if reference:
        reference.close()
    print("%s: %d of %d sizes with the bits of static packages, %d with their kernels" %
          (model.name, same, len(points), alike), flush=True)
    return alike


chosen = [make for make in MODELS if len(sys.argv) < 7 or make.__name__ in sys.argv[6:]]
alike = [check(make(), int(sys.argv[5])) > 0 for make in chosen]
if 2 * sum(alike) < len(alike):
    sys.exit("too few models have the kernels of static packages at any size")
