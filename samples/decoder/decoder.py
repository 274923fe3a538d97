#!/usr/bin/python3
"""Writes a decoder like LLaMA's as ONNX, with random weights, and checks its results with numpy.

    decoder.py make [-n LAYERS] [--hidden N] [--heads N] [--shared N] [--between N] [--words N] [--context N]
                    [--primitives] FOLDER
    decoder.py check FOLDER STEPS.npy            logits of one token after another, as samples/decoder/run writes them

The inputs are a token, its position, and the keys and values of earlier tokens in all layers, `past_key_0` …, with
`position` rows in use. The outputs are logits for the next token, and the same tensors with one more row,
`present_key_0` … FOLDER/options tells sklink that the two are one. The weights are the same with every call."""

import argparse
import os
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

EPSILON = 1e-5
THETA = 10000.0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("make")
    make.add_argument("-n", "--layers", type=int, default=2)
    make.add_argument("--hidden", type=int, default=1024)
    make.add_argument("--heads", type=int, default=16)
    make.add_argument("--shared", type=int, default=4, help="heads of keys and values")
    make.add_argument("--between", type=int, default=2816, help="elements between the two products of a SwiGLU")
    make.add_argument("--words", type=int, default=4096, help="tokens that there are")
    make.add_argument("--context", type=int, default=512, help="rows of the cache")
    make.add_argument("--primitives", action="store_true",
                      help="normalisations and rotary embeddings as exporters write them")
    make.add_argument("folder")
    check = commands.add_parser("check")
    check.add_argument("folder")
    check.add_argument("steps")
    return parser.parse_args()


# ---- the network ----


class Network:
    def __init__(self, options):
        self.options = options
        self.random = numpy.random.RandomState(1)
        self.nodes, self.weights = [], []

    def add(self, name, op, inputs, output=None, **attributes):
        output = output or name + "_output"
        self.nodes.append(helper.make_node(op, inputs, [output], name=name, **attributes))
        return output

    def constant(self, name, values):
        self.weights.append(numpy_helper.from_array(numpy.asarray(values), name))
        return name

    def number(self, name, value):
        return self.once(name, numpy.float32(value))

    def integer(self, name, value):
        return self.once(name, numpy.array([value]))

    def once(self, name, values):
        return name if any(weight.name == name for weight in self.weights) else self.constant(name, values)

    def weight(self, name, *shape):
        scale = 1 / numpy.sqrt(shape[0])
        return self.constant(name, (self.random.standard_normal(shape) * scale).astype(numpy.float32))

    def normalized(self, name, x):
        scale = self.constant(name + ".scale", self.random.uniform(0.8, 1.2, self.options.hidden).astype(numpy.float32))
        if not self.options.primitives:
            return self.add(name, "RMSNormalization", [x, scale], epsilon=EPSILON)
        square = self.add(name + "/Pow", "Pow", [x, self.number("two", 2)])
        mean = self.add(name + "/ReduceMean", "ReduceMean", [square, self.integer("last axis", -1)])
        root = self.add(name + "/Sqrt", "Sqrt",
                        [self.add(name + "/Add", "Add", [mean, self.number("epsilon", EPSILON)])])
        normal = self.add(name + "/Mul", "Mul", [x, self.add(name + "/Reciprocal", "Reciprocal", [root])])
        return self.add(name + "/Mul_1", "Mul", [scale, normal])

    def turned(self, name, x):
        """Heads, rotated by the position: as one operator, or x cos + (-x's second half, x's first half) sin."""
        if not self.options.primitives:
            return self.add(name, "RotaryEmbedding", [x, "cosines", "sines", "row"])
        half = self.options.hidden // self.options.heads // 2
        axis, zero, middle, end = (self.integer(*pair) for pair in (("last axis", -1), ("zero", 0), ("half", half),
                                                                    ("end", 2**63 - 1)))
        turned = self.add(name + "/Neg", "Neg", [self.add(name + "/Slice_1", "Slice", [x, middle, end, axis])])
        turned = self.add(name + "/Concat", "Concat",
                          [turned, self.add(name + "/Slice", "Slice", [x, zero, middle, axis])], axis=-1)
        products = [self.add(name + "/Mul", "Mul", [x, "cosine"]), self.add(name + "/Mul_1", "Mul", [turned, "sine"])]
        return self.add(name + "/Add", "Add", products)

    def product(self, name, x, rows, columns):
        return self.add(name, "MatMul", [x, self.weight(name + ".weight", rows, columns)])

    def attention(self, layer, x):
        options, width = self.options, self.options.hidden // self.options.heads
        parts = {}
        for part, heads in (("q", options.heads), ("k", options.shared), ("v", options.shared)):
            flat = self.product("%s/%s" % (layer, part), x, options.hidden, heads * width)
            shape = self.constant("%s/%s.shape" % (layer, part), numpy.array([1, heads, 1, width]))
            parts[part] = self.add("%s/%s.heads" % (layer, part), "Reshape", [flat, shape])
        for part in "qk":
            parts[part] = self.turned("%s/%s.turned" % (layer, part), parts[part])
        number = layer.rsplit(".", 1)[1]
        for part, name in (("k", "key"), ("v", "value")):
            parts[part] = self.add("%s/%s.kept" % (layer, part), "TensorScatter",
                                   ["past_%s_%s" % (name, number), parts[part], "position"],
                                   "present_%s_%s" % (name, number))
        y = self.add(layer + "/attention", "Attention", [parts["q"], parts["k"], parts["v"], "", "", "", "used"])
        return self.add(layer + "/attention.flat", "Reshape", [y, "flat"])

    def layer(self, layer, x):
        options = self.options
        y = self.attention(layer, self.normalized(layer + "/first", x))
        x = self.add(layer + "/sum", "Add", [x, self.product(layer + "/o", y, options.hidden, options.hidden)])
        y = self.normalized(layer + "/second", x)
        gate = self.product(layer + "/gate", y, options.hidden, options.between)
        gate = self.add(layer + "/swish", "Mul", [gate, self.add(layer + "/sigmoid", "Sigmoid", [gate])])
        y = self.add(layer + "/gated", "Mul", [gate, self.product(layer + "/up", y, options.hidden, options.between)])
        return self.add(layer + "/result", "Add",
                        [x, self.product(layer + "/down", y, options.between, options.hidden)])

    def all(self):
        options, width = self.options, self.options.hidden // self.options.heads
        angles = numpy.outer(numpy.arange(options.context), THETA ** (-numpy.arange(0, width, 2) / width))
        if options.primitives:
            angles = numpy.concatenate([angles, angles], 1)
        self.constant("cosines", numpy.cos(angles).astype(numpy.float32))
        self.constant("sines", numpy.sin(angles).astype(numpy.float32))
        self.constant("flat", numpy.array([1, 1, options.hidden]))
        self.add("used", "Add", ["position", self.constant("one", numpy.array([1]))], "used")
        self.add("row", "Reshape", ["position", self.constant("row.shape", numpy.array([1, 1]))], "row")
        for part in ("cosine", "sine") if options.primitives else ():
            row = self.add(part + "/Gather", "Gather", [part + "s", "row"])
            self.add(part + "/Unsqueeze", "Unsqueeze", [row, self.integer("heads axis", 1)], part)
        words = (self.random.standard_normal((options.words, options.hidden))).astype(numpy.float32)
        x = self.add("embedding", "Gather", [self.constant("words", words), "token"])
        for layer in range(options.layers):
            x = self.layer("layer.%d" % layer, x)
        head = self.weight("head.weight", options.hidden, options.words)
        self.add("head", "MatMul", [self.normalized("last", x), head], "logits")

    def caches(self):
        return ["%s_%d" % (name, layer) for layer in range(self.options.layers) for name in ("key", "value")]

    def model(self):
        options = self.options
        cache = [1, options.shared, options.context, options.hidden // options.heads]
        info = helper.make_tensor_value_info
        inputs = [info("token", TensorProto.INT64, [1, 1]), info("position", TensorProto.INT64, [1])]
        inputs += [info("past_" + name, TensorProto.FLOAT, cache) for name in self.caches()]
        outputs = [info("logits", TensorProto.FLOAT, [1, 1, options.words])]
        outputs += [info("present_" + name, TensorProto.FLOAT, cache) for name in self.caches()]
        graph = helper.make_graph(self.nodes, "decoder", inputs, outputs, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], producer_name="decoder.py",
                                 ir_version=10)


def make(options):
    network = Network(options)
    network.all()
    os.makedirs(options.folder, exist_ok=True)
    onnx.save(network.model(), os.path.join(options.folder, "model.onnx"))
    with open(os.path.join(options.folder, "options"), "w") as file:
        for name in network.caches():
            print("--state past_%s=present_%s" % (name, name), file=file)
    # A token in the middle of the context.
    arrays = {"token": numpy.array([[7]]), "position": numpy.array([options.context // 2])}
    cache = 1, options.shared, options.context, options.hidden // options.heads
    for name in network.caches():
        arrays["past_" + name] = network.random.standard_normal(cache).astype(numpy.float32)
    for name, array in arrays.items():
        numpy.save(os.path.join(options.folder, name + ".npy"), array)


# ---- the same in double precision ----


class Reference:
    """The network without ONNX's operators: x W, x / sqrt(mean x²), rotated complex numbers, sums over all earlier
    tokens. Sizes follow from the weights."""

    def __init__(self, model):
        self.weights = {w.name: numpy_helper.to_array(w).astype(float) for w in model.graph.initializer}
        self.layers = sum(name.endswith("/q.weight") for name in self.weights)
        self.seen = [([], []) for _ in range(self.layers)]

    def normalized(self, name, x):
        return x / numpy.sqrt(numpy.mean(x * x) + EPSILON) * self.weights[name + ".scale"]

    def product(self, name, x):
        return x @ self.weights[name + ".weight"]

    def turned(self, heads, position):
        half = heads.shape[1] // 2
        angles = position * THETA ** (-numpy.arange(half) / half)
        numbers = (heads[:, :half] + 1j * heads[:, half:]) * numpy.exp(1j * angles)
        return numpy.concatenate([numbers.real, numbers.imag], 1)

    def attention(self, number, x, position):
        layer, (keys, values) = "layer.%d" % number, self.seen[number]
        q, k, v = (self.product("%s/%s" % (layer, part), x).reshape(
            self.weights["%s/%s.shape" % (layer, part)].astype(int)[[1, 3]])
                   for part in "qkv")
        keys.append(self.turned(k, position))
        values.append(v)
        result = []
        for head, query in enumerate(self.turned(q, position)):
            shared = head * len(k) // len(q)
            scores = numpy.exp([query @ key[shared] / numpy.sqrt(len(query)) for key in keys])
            result.append(sum(s * value[shared] for s, value in zip(scores, values)) / scores.sum())
        return numpy.concatenate(result)

    def step(self, token, position):
        x = self.weights["words"][token]
        for number in range(self.layers):
            layer = "layer.%d" % number
            x = x + self.product(layer + "/o", self.attention(number, self.normalized(layer + "/first", x), position))
            y = self.normalized(layer + "/second", x)
            gate = self.product(layer + "/gate", y)
            x = x + self.product(layer + "/down", gate / (1 + numpy.exp(-gate)) * self.product(layer + "/up", y))
        return self.product("head", self.normalized("last", x))


def check(options):
    """The first token is 0; each further one is the likeliest by the step before."""
    steps, token = numpy.load(options.steps), 0
    reference = Reference(onnx.load(os.path.join(options.folder, "model.onnx")))
    for position, logits in enumerate(steps):
        expected = reference.step(token, position)
        if logits.shape != expected.shape:
            sys.exit("step %d has %s logits, expected %s" % (position, logits.shape, expected.shape))
        wrong = numpy.flatnonzero(~(abs(logits - expected) <= 1e-4 * abs(expected).max()))
        if len(wrong):
            sys.exit("step %d, logit %d is %.9g, expected %.9g" %
                     (position, wrong[0], logits[wrong[0]], expected[wrong[0]]))
        token = int(logits.argmax())
    print("%d steps agree" % len(steps))


if __name__ == "__main__":
    given = arguments()
    {"make": make, "check": check}[given.command](given)
