"""MINDIR files, written field by field as MindSpore writes them, with the inputs of each network and the outputs that numpy
computes: mindir.py FOLDER [--mutants COUNT SEED]. tests/graph/mindir.sh links and runs them."""
import math
import os
import struct
import sys

import numpy

FLOAT, INT64, STRING, BOOL, DOUBLE, TENSORS, TUPLE, MONAD, NONE = 1, 7, 8, 9, 11, 19, 20, 23, 25
ELEMENTS = {"float32": 1, "int32": 6, "int64": 7, "bool": 9, "float16": 10, "float64": 11}
random = numpy.random.default_rng(3)


def varint(number):
    number &= (1 << 64) - 1
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    """A field of a message: an integer, a float, a text, or the bytes of a message."""
    if isinstance(value, bool) or isinstance(value, int):
        return varint(number << 3) + varint(int(value))
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def tensor_type(shape, element=1):
    return b"".join(field(1, d) for d in shape) + field(2, element)


def tensor(array, name=None):
    array = numpy.asarray(array)
    out = tensor_type(array.shape, ELEMENTS[str(array.dtype)])
    return out + (field(7, name) if name else b"") + field(9, array.tobytes())


def value(constant, inside=False):
    """The fields of an attribute: None, a monad ('U'), a number, a text, a tuple or an array. Numbers in tuples are lists."""
    if constant is None:
        return field(16, NONE)
    if constant == "U" and isinstance(constant, str):
        return field(16, MONAD)
    if isinstance(constant, numpy.ndarray):
        return field(12, tensor(constant, "value0")) + field(16, TENSORS)
    if isinstance(constant, tuple):
        return field(16, TUPLE) + b"".join(field(17, value(item, True)) for item in constant)
    if isinstance(constant, bool):
        return field(10 if inside else 3, constant) + field(16, BOOL)
    if isinstance(constant, int):
        return field(10 if inside else 3, constant) + field(16, INT64)
    if isinstance(constant, float):
        return field(8 if inside else 2, constant) + field(16, FLOAT)
    return field(11 if inside else 5, constant) + field(16, STRING)


class Graph:
    """A graph of a file. `net` collects the primitives of all graphs."""

    def __init__(self, net, name):
        self.net, self.name, self.body, self.count = net, name, b"", 0

    def named(self, name):
        return f"{self.name}:{name}"

    def input(self, name, shape, element=1):
        self.body += field(5, field(1, self.named(name)) + field(2, tensor_type(shape, element)))
        return self.named(name)

    def parameter(self, name, array):
        self.body += field(3, tensor(array, self.named(name)) + field(13, name) + field(16, 0))
        return self.named(name)

    def constant(self, constant, name=None):
        self.count += 1
        name = name or f"ValueNode_{self.count}"
        node = field(2, name) + field(3, name) + field(4, "Constant") + field(5, field(1, "value") + value(constant))
        self.body += field(1, node)
        return name

    def node(self, op, *operands, shape=None, element=1, **attributes):
        """A node of a primitive, or of a graph. Operands are names, or constants. `shape` is the shape of the output, or a
        tuple of shapes."""
        self.count += 1
        names = [o if isinstance(o, str) and o != "U" else self.constant(o) for o in operands]
        output = self.named(f"CNode_{self.count}:{self.count}")
        reference = op if op in self.net.graphs else self.net.primitive(op, attributes)
        node = b"".join(field(1, name) for name in names) + field(2, output) + field(3, output)
        node += field(4, "REF::" + reference)
        if isinstance(shape, tuple):
            kinds = b"".join(field(17, field(12, tensor_type(s, element)) + field(16, TENSORS)) for s in shape)
            node += field(5, field(1, "shape") + field(16, TUPLE) + kinds)
        elif shape is not None:
            node += field(5, field(1, "shape") + field(12, tensor_type(shape, element)) + field(16, TENSORS))
        node += field(7, f"Default/{op}-op{self.count}")
        self.body += field(1, node)
        return output

    def bytes(self, output):
        return field(2, self.name) + self.body + field(6, field(1, output))


class Net:
    def __init__(self):
        self.primitives, self.graphs = {}, {}

    def primitive(self, op, attributes):
        key = f"{op}:{len(self.primitives)}"
        self.primitives[key] = field(1, key) + field(2, op) + b"".join(
            field(3, field(1, name) + value(constant)) for name, constant in attributes.items())
        return key

    def function(self, name, make):
        self.graphs[name] = None
        graph = Graph(self, name)
        self.graphs[name] = graph.bytes(make(graph))

    def bytes(self, graph):
        out = field(1, "1.1") + field(2, "MindSpore") + field(5, "2.10.0") + field(7, graph)
        out += b"".join(field(8, g) for g in self.graphs.values())
        return out + field(10, 1) + b"".join(field(12, p) for p in self.primitives.values()) + field(13, 3)


def erf(x):
    return numpy.vectorize(math.erf)(x)


def softmax(x):
    e = numpy.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def normal(x, gamma, beta, epsilon=1e-7):
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / numpy.sqrt(variance + epsilon) * gamma + beta


def numbers(*shape, dtype=numpy.float32):
    return random.standard_normal(shape).astype(dtype)


files = {}


def network(inputs):
    """Make a file NAME of the function: it gets the net, its graph, the names of the inputs and their arrays in f64, and
    returns the name of the output and the expected arrays."""
    def make(function):
        net = Net()
        graph = Graph(net, "12_" + function.__name__)
        names = [graph.input(n, a.shape, ELEMENTS[str(a.dtype)]) for n, a in inputs.items()]
        arrays = [a.astype(numpy.float64) if a.dtype.kind == "f" else a for a in inputs.values()]
        output, want = function(net, graph, *names, *arrays)
        files[function.__name__] = (net.bytes(graph.bytes(output)), inputs, want)
        return function
    return make


@network({"x": numbers(4, 4)})
def basic(net, g, x, a):
    m = g.node("Muls", x, 2.0, shape=[4, 4])
    return g.node("Add", m, numpy.array(1, numpy.float32), shape=[4, 4]), [2 * a + 1]


@network({"x": numbers(4, 4, dtype=numpy.float16)})
def half(net, g, x, a):
    return g.node("Muls", x, 0.25, shape=[4, 4], element=10), [a / 4]


@network({"x": numbers(8, 64)})
def act(net, g, x, a):
    s = [8, 64]
    m = g.node("Mul", g.node("Sigmoid", x, shape=s), g.node("Tanh", x, shape=s), shape=s)
    y = g.node("Add", g.node("Add", m, g.node("ReLU", x, shape=s), shape=s), g.node("Square", x, shape=s), shape=s)
    return y, [numpy.tanh(a) / (1 + numpy.exp(-a)) + a.clip(0) + a * a]


@network({"x": numbers(8, 64)})
def reduce(net, g, x, a):
    e = g.node("Exp", g.node("Muls", x, 2.0, shape=[8, 64]), shape=[8, 64])
    t = g.node("SumExt", e, (-1,), True, None, shape=[8, 1])
    y = g.node("Add", g.node("Div", e, t, shape=[8, 64]), numpy.array(1, numpy.float32), shape=[8, 64])
    sums = numpy.exp(2 * a).sum(-1, keepdims=True)
    return g.node("MakeTuple", y, t, y, shape=([8, 64], [8, 1], [8, 64])), [numpy.exp(2 * a) / sums + 1, sums,
                                                                               numpy.exp(2 * a) / sums + 1]


def load(g, name, order):
    return g.node("Load", name, order)


@network({"x": numbers(8, 64)})
def ln(net, g, x, a):
    gamma, beta = numbers(64), numbers(64)
    order = g.constant("U")
    p, q = load(g, g.parameter("n.gamma", gamma), order), load(g, g.parameter("n.beta", beta), order)
    n = g.node("LayerNorm", x, p, q, -1, -1, 1e-7, shape=([8, 64], [8, 1], [8, 1]))
    y = g.node("Add", g.node("Muls", g.node("TupleGetItem", n, 0), 2.0, shape=[8, 64]), x, shape=[8, 64])
    state = g.node("UpdateState", order, g.node("MakeTuple", p, q))
    return g.node("Depend", y, state), [normal(a, gamma, beta) * 2 + a]


@network({"x": numbers(8, 64)})
def dense(net, g, x, a):
    w, b = numbers(128, 64) / 8, numbers(128)
    order = g.constant("U")
    m = g.node("MatMul", x, load(g, g.parameter("w", w), order), False, True, shape=[8, 128])
    s = g.node("BiasAdd", m, load(g, g.parameter("b", b), order), 0, shape=[8, 128])
    d = g.node("Div", s, numpy.array(math.sqrt(2), numpy.float32), shape=[8, 128])
    e = g.node("Add", g.node("Erf", d, shape=[8, 128]), numpy.array(1, numpy.float32), shape=[8, 128])
    y = g.node("Mul", g.node("Mul", s, e, shape=[8, 128]), numpy.array(0.5, numpy.float32), shape=[8, 128])
    r = a @ w.T + b
    return y, [r * (1 + erf(r / math.sqrt(2))) / 2]


@network({"q": numbers(2, 4, 16, 8), "k": numbers(2, 4, 16, 8), "v": numbers(2, 4, 16, 8), "m": numbers(2, 1, 16, 16)})
def attn(net, g, q, k, v, m, aq, ak, av, am):
    s = [2, 4, 16, 16]
    t = g.node("Transpose", k, (0, 1, 3, 2), shape=[2, 4, 8, 16])
    p = g.node("Add", g.node("Muls", g.node("MatMulExt", q, t, shape=s), 0.125, shape=s), m, shape=s)
    y = g.node("MatMulExt", g.node("Softmax", p, (-1,), shape=s), v, shape=[2, 4, 16, 8])
    return y, [softmax(aq @ ak.swapaxes(2, 3) / 8 + am) @ av]


@network({"x": numbers(4, 4) / 4})
def composite(net, g, x, a):
    s = [4, 4]
    y = g.node("Add", g.node("Muls", x, 2.0, shape=s), numpy.array(1, numpy.float32), shape=s)
    return g.node("Pow", y, numpy.array(3, numpy.float32), shape=s), [(2 * a + 1) ** 3]


@network({"x": numbers(8, 64)})
def softmaxed(net, g, x, a):
    return g.node("Softmax", g.node("Muls", x, 0.125, shape=[8, 64]), (-1,), shape=[8, 64]), [softmax(a / 8)]


@network({"x": numbers(2, 16, 64), "m": (numbers(2, 1, 1, 16) > -1).astype(numpy.float32)})
def bert(net, g, x, m, a, am):
    """A layer with 4 heads, in the order of MindSpore's own export."""
    order, weights = g.constant("U"), {}
    for n, rows, columns in ("q", 64, 64), ("k", 64, 64), ("v", 64, 64), ("o", 64, 64), ("f", 256, 64), ("g", 64, 256):
        weights[n] = numbers(rows, columns) / 8, numbers(rows)
    loaded = {n: [load(g, g.parameter(f"{n}.{part}", array), order) for part, array in zip(("weight", "bias"), arrays)]
              for n, arrays in weights.items()}
    norms = [(numbers(64), numbers(64)) for _ in range(2)]
    scales = [[load(g, g.parameter(f"n{i}.{part}", array), order) for part, array in zip(("gamma", "beta"), arrays)]
              for i, arrays in enumerate(norms)]

    def product(flat, n):
        w = weights[n][0]
        p = g.node("MatMul", flat, loaded[n][0], False, True, shape=[32, len(w)])
        return g.node("BiasAdd", p, loaded[n][1], 0, shape=[32, len(w)])

    def reshape(value, *shape):
        return g.node("Reshape", value, shape, shape=[32 if d == -1 else d for d in shape])

    def heads(flat, n):
        return g.node("Transpose", reshape(product(flat, n), 2, 16, 4, 16), (0, 2, 1, 3), shape=[2, 4, 16, 16])

    def normalised(value, i):
        n = g.node("LayerNorm", value, *scales[i], -1, -1, 1e-7, shape=([2, 16, 64], [2, 16, 1], [2, 16, 1]))
        return g.node("TupleGetItem", n, 0)
    s = [2, 4, 16, 16]
    flat = reshape(x, -1, 64)
    q, k = heads(flat, "q"), heads(flat, "k")
    p = g.node("MatMulExt", q, g.node("Transpose", k, (0, 1, 3, 2), shape=s), shape=s)
    p = g.node("Muls", p, 0.25, shape=s)
    h = g.node("Muls", g.node("Sub", numpy.array(1, numpy.float32), m, shape=[2, 1, 1, 16]), -10000.0, shape=[2, 1, 1, 16])
    p = g.node("Softmax", g.node("Add", p, h, shape=s), (-1,), shape=s)
    c = g.node("MatMulExt", p, heads(flat, "v"), shape=s)
    c = reshape(g.node("Transpose", c, (0, 2, 1, 3), shape=[2, 16, 4, 16]), -1, 64)
    y = normalised(g.node("Add", reshape(product(c, "o"), 2, 16, 64), x, shape=[2, 16, 64]), 0)
    f = reshape(product(reshape(y, -1, 64), "f"), 2, 16, 256)
    s = [2, 16, 256]
    e = g.node("Erf", g.node("Div", f, numpy.array(math.sqrt(2), numpy.float32), shape=s), shape=s)
    e = g.node("Add", e, numpy.array(1, numpy.float32), shape=s)
    e = g.node("Mul", g.node("Mul", f, e, shape=s), numpy.array(0.5, numpy.float32), shape=s)
    z = g.node("Add", reshape(product(reshape(e, -1, 256), "g"), 2, 16, 64), y, shape=[2, 16, 64])
    z = normalised(z, 1)

    def dense(value, n):
        return value @ weights[n][0].T + weights[n][1]

    def split(value):
        return value.reshape(2, 16, 4, 16).transpose(0, 2, 1, 3)
    q, k, v = (split(dense(a, n)) for n in "qkv")
    mixed = softmax(q @ k.swapaxes(2, 3) / 4 + (1 - am) * -10000) @ v
    r = normal(dense(mixed.transpose(0, 2, 1, 3).reshape(2, 16, 64), "o") + a, *norms[0])
    u = dense(r, "f")
    state = g.node("UpdateState", order, g.node("MakeTuple", *(n for pair in loaded.values() for n in pair)))
    return g.node("Depend", z, state), [normal(dense(u * (1 + erf(u / math.sqrt(2))) / 2, "g") + r, *norms[1])]


@network({"x": numbers(4, 6), "i": numpy.array([2, 0, 1], numpy.int64)})
def moves(net, g, x, i, a, ai):
    parts = g.node("Split", x, 1, 2, shape=([4, 3], [4, 3]))
    c = g.node("Concat", g.node("MakeTuple", g.node("TupleGetItem", parts, 1), g.node("TupleGetItem", parts, 0)), 1,
               shape=[4, 6])
    t = g.node("Gather", c, i, 0, 0, shape=[3, 6])
    e = g.node("Squeeze", g.node("ExpandDims", t, 1, shape=[3, 1, 6]), (1,), shape=[3, 6])
    r = g.node("ReduceSum", g.node("Reshape", e, (-1, 9), shape=[2, 9]), (), True, False, shape=[1, 1])
    s = g.node("StridedSlice", c, (0, 1), (4, 6), (2, 2), 0, 0, 0, 0, 0, shape=[2, 3])
    h = g.node("Cast", s, 42, shape=[2, 3], element=10)
    joined = numpy.concatenate([a[:, 3:], a[:, :3]], 1)
    return g.node("MakeTuple", e, r, h), [joined[ai], joined[ai].sum().reshape(1, 1), joined[::2, 1::2]]


@network({"x": numbers(3, 4)})
def untyped(net, g, x, a):
    """Outputs of which the file says neither type nor shape."""
    e = g.node("Muls", x, 2.0)
    s = g.node("SumExt", e, (-1,), False, None)
    i = g.node("SumExt", g.node("Cast", e, 34), (0,), True, None)
    r = g.node("RepeatInterleaveInt", e, 2, None, None)
    t = g.node("RepeatInterleaveInt", e, 3, 1, None)
    c = g.node("CumsumExt", e, 0, None)
    return g.node("MakeTuple", s, i, r, t, c), [
        2 * a.sum(-1), (2 * a).astype(numpy.int64).sum(0, keepdims=True), 2 * a.repeat(2), 2 * a.repeat(3, 1), 2 * a.cumsum(0)]


@network({"x": numbers(3, 5)})
def calls(net, g, x, a):
    """A graph that calls a graph that calls another, with tuples as operands and results."""
    def pair(inner):
        y = inner.input("y", [3, 5])
        return inner.node("MakeTuple", inner.node("Exp", y, shape=[3, 5]), inner.node("Sin", y, shape=[3, 5]))

    def both(inner):
        t = inner.input("t", [3, 5])
        two = inner.node("20_pair", inner.node("TupleGetItem", t, 0))
        return inner.node("Sub", inner.node("TupleGetItem", two, 0), inner.node("TupleGetItem", two, 1), shape=[3, 5])
    net.function("20_pair", pair)
    net.function("21_both", both)
    one = g.node("21_both", g.node("MakeTuple", x, x))
    two = g.node("21_both", g.node("MakeTuple", one, x))

    def f(v):
        return numpy.exp(v) - numpy.sin(v)
    return g.node("MakeTuple", one, two), [f(a), f(f(a))]


@network({"x": numbers(4, 6) * 5, "y": numbers(4, 6) + 4})
def quotients(net, g, x, y, a, b):
    """Numbers of enumerations, and None, as MindSpore 2.10 exports them."""
    s = [4, 6]
    t, f, q = (g.node("DivMod", x, y, mode, shape=s) for mode in (1, 2, None))
    m = g.node("ArgMaxExt", x, 1, False, shape=[4], element=7)
    return g.node("MakeTuple", t, f, q, m), [numpy.trunc(a / b), numpy.floor(a / b), a / b, a.argmax(1)]


def faults():
    """Files that cannot be linked, with a part of the message."""
    def file(make):
        net = Net()
        g = Graph(net, "1_net")
        return net.bytes(g.bytes(make(net, g, g.input("x", [2, 3]))))

    def loop(net, g, x):
        net.graphs["2_again"] = b""
        net.function("2_again", lambda inner: inner.node("2_again", inner.input("y", [2, 3])))
        return g.node("2_again", x)

    def many(net, g, x):
        previous = "Exp"
        for i in range(20):
            def twice(inner, previous=previous):
                y = inner.input("y", [2, 3])
                return inner.node("MakeTuple", inner.node(previous, y), inner.node(previous, y))
            net.function(f"9_{i}", twice)
            previous = f"9_{i}"
        return g.node(previous, x)
    return {
        "unknown": (file(lambda net, g, x: g.node("Fancy", x)), "no operator"),
        "scalar": (file(lambda net, g, x: g.node("Exp", x, 1)), "its operand 1 is a constant that is not a tensor"),
        "operands": (file(lambda net, g, x: g.node("Softmax", x, (1,), 2)), "it has 3 operands, and sklink knows 2"),
        "fewer": (file(lambda net, g, x: g.node("Softmax", x)), "it has 1 operands, and 'axis' is missing"),
        "kept": (file(lambda net, g, x: g.node("ReduceSum", x, (1,), True)), "it has 3 operands, and 'skip_mode' is missing"),
        "axes": (file(lambda net, g, x: g.node("Softmax", x, (0, 1))), "its operand 'axis' is a tuple of several items"),
        "other": (file(lambda net, g, x: g.node("AddExt", x, x, 2)), "its operand 'alpha' has a value that sklink does not"),
        "dtype": (file(lambda net, g, x: g.node("SumExt", x, None, False, 43)), "its operand 'dtype' is not None"),
        "cast": (file(lambda net, g, x: g.node("Cast", x, 99)), "its operand 'dst_type' is 99"),
        "rounding": (file(lambda net, g, x: g.node("DivMod", x, x, 0)), "its operand 'rounding_mode' is 0"),
        "flat": (file(lambda net, g, x: g.node("ArgMaxExt", x, None, False)), "its operand 'axis' is None"),
        "attribute": (file(lambda net, g, x: g.node("Exp", x, base=2.0)), "base"),
        "missing": (file(lambda net, g, x: g.node("Exp", "nothing")), "it reads 'nothing', which no node before it makes"),
        "item": (file(lambda net, g, x: g.node("TupleGetItem", g.node("MakeTuple", x), 3)), "that the tuple does not have"),
        "assign": (file(lambda net, g, x: g.node("Depend", x, g.node(
            "Assign", g.parameter("p", numbers(2, 3)), x, g.constant("U")))), "it has an effect beside its result"),
        "branch": (file(lambda net, g, x: g.node("Switch", x, x, x)), "it chooses a graph while the network runs"),
        "loop": (file(loop), "more than 30 calls in one another"),
        "many": (file(many), "more nodes than the file has bytes"),
        "inputs": (file(lambda net, g, x: (net.function("3_one", lambda i: i.node("Exp", i.input("y", [2, 3]))),
                                           g.node("3_one", x, x))[1]), "it has 2 operands, and its graph 1 inputs"),
        "declared": (file(lambda net, g, x: g.node("Exp", x, shape=[2, 3], element=7)), "is f32, but the model says i64"),
    }


def mutant(data):
    """Bytes with some of them changed, removed or repeated."""
    data = bytearray(data)
    for _ in range(random.integers(1, 4)):
        at = int(random.integers(len(data)))
        kind = random.integers(4)
        if kind == 0:
            data[at] = random.integers(256)
        elif kind == 1:
            data[at] ^= 1 << random.integers(8)
        elif kind == 2:
            del data[at:at + int(random.integers(1, 9))]
        else:
            data[at:at] = data[at:at + int(random.integers(1, 40))]
        data = data or bytearray(b"\n")
    return bytes(data)


def main():
    global random
    folder = sys.argv[1]
    if "--mutants" in sys.argv:
        count, seed = map(int, sys.argv[-2:])
        random = numpy.random.default_rng(seed)
        sources = sorted(data for data, *_ in files.values()) + sorted(data for data, _ in faults().values())
        for i in range(count):
            with open(os.path.join(folder, f"mutant-{i}.mindir"), "wb") as file:
                file.write(mutant(sources[i % len(sources)]))
        return
    for name, (data, inputs, want) in files.items():
        path = os.path.join(folder, name)
        with open(path + ".mindir", "wb") as file:
            file.write(data)
        for n, array in inputs.items():
            numpy.save(f"{path}.{n}.npy", array)
        for i, array in enumerate(want):
            numpy.save(f"{path}.{i}.want.npy", array)
        with open(path + ".names", "w") as file:
            print(*inputs, file=file)
            print(len(want), file=file)
    for name, (data, message) in faults().items():
        with open(os.path.join(folder, f"bad-{name}.mindir"), "wb") as file:
            file.write(data)
        with open(os.path.join(folder, f"bad-{name}.message"), "w") as file:
            print(message, file=file)


main()
