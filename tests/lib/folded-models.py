"""Models with constants that are computed when linking, made with python3-onnx, and what they compute, with numpy (tests/graph/folding.sh):
windows LAYERS: layers with shapes computed from shapes; numbers SEED: random arithmetic on small constants; sizes: results that
are larger than what they are computed from. Each model NAME.onnx has inputs NAME.INPUT.npy and results NAME.OUTPUT.want.npy, and
NAME.names as in tests/lib/models.py."""
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

kinds = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "int64": TensorProto.INT64, "int32": TensorProto.INT32,
         "bool": TensorProto.BOOL, "int8": TensorProto.INT8}


class Model:
    def __init__(self, name):
        self.name, self.nodes, self.constants, self.inputs, self.results, self.count = name, [], [], {}, {}, 0
        self.rows = None  # the name of the first dimension of inputs; None: a number

    def input(self, name, array):
        self.inputs[name] = array
        return name

    def constant(self, array):
        self.count += 1
        name = f"c{self.count}"
        self.constants.append(numpy_helper.from_array(numpy.array(array, order="C"), name))
        return name

    def integers(self, *values):
        return self.constant(numpy.array(values, numpy.int64))

    def node(self, op, *inputs, **attributes):
        self.count += 1
        name = f"v{self.count}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=f"n{self.count}", **attributes))
        return name

    def result(self, value, name, array):
        self.nodes.append(helper.make_node("Identity", [value], [name], name=f"{name}/out"))
        self.results[name] = array

    def save(self):
        inputs = [helper.make_tensor_value_info(n, kinds[str(a.dtype)], [self.rows or a.shape[0], *a.shape[1:]])
                  for n, a in self.inputs.items()]
        outputs = [helper.make_tensor_value_info(n, kinds[str(a.dtype)], None) for n, a in self.results.items()]
        graph = helper.make_graph(self.nodes, "g", inputs, outputs, self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), self.name + ".onnx")
        for name, array in self.inputs.items():
            numpy.save(f"{self.name}.{name}.npy", array)
        for name, array in self.results.items():
            numpy.save(f"{self.name}.{name}.want.npy", array)
        with open(self.name + ".names", "w") as file:
            print(" ".join(self.inputs), "/", " ".join(self.results), file=file)


# ---- windows ----

def windows(layers):
    """Each layer pads rows and columns to whole windows, adds a constant to each place of a window, and cuts the padding off, as
    exporters write Swin: every number is computed from the shape that the layer before has."""
    model, size, random = Model("windows"), 4, numpy.random.default_rng(1)
    x = random.standard_normal((1, 6, 9, 8)).astype(numpy.float32)
    value, want = model.input("x", x), x
    zero, one, win = model.integers(0), model.integers(1), model.integers(size)
    for _ in range(layers):
        bias = random.standard_normal((size * size, 8)).astype(numpy.float32)
        shape = model.node("Shape", value)
        sizes = []
        for axis in (1, 2):
            n = model.node("Gather", shape, model.integers(axis), axis=0)
            rest = model.node("Mod", model.node("Sub", win, model.node("Mod", n, win)), win)
            sizes.append((n, rest, model.node("Div", model.node("Add", n, rest), win)))
        (h, down, rows), (w, right, columns) = sizes
        # F.pad: pads from the last axis on, reversed
        pads = model.node("Concat", zero, zero, zero, right, zero, down, axis=0)
        length = model.node("Sub", model.integers(8), model.node("Size", pads))
        zeros = model.node("ConstantOfShape", model.node("Reshape", length, model.integers(1)),
                           value=numpy_helper.from_array(numpy.zeros(1, numpy.int64)))
        pads = model.node("Concat", pads, zeros, axis=0)
        pads = model.node("Slice", model.node("Reshape", pads, model.integers(-1, 2)), model.integers(-1),
                          model.integers(-(1 << 63) + 1), zero, model.integers(-1))
        pads = model.node("Reshape", model.node("Transpose", pads, perm=[1, 0]), model.integers(-1))
        padded = model.node("Pad", value, model.node("Cast", pads, to=TensorProto.INT64))
        cut = model.node("Concat", one, rows, win, columns, win, model.integers(8), axis=0)
        parts = model.node("Transpose", model.node("Reshape", padded, cut), perm=[0, 1, 3, 2, 4, 5])
        count = model.node("Mul", rows, columns)
        flat = model.node("Reshape", parts, model.node("Concat", count, model.integers(size * size, 8), axis=0))
        added = model.node("Add", flat, model.constant(bias))
        back = model.node("Concat", one, rows, columns, win, win, model.integers(8), axis=0)
        back = model.node("Transpose", model.node("Reshape", added, back), perm=[0, 1, 3, 2, 4, 5])
        whole = model.node("Concat", one, model.node("Mul", rows, win), model.node("Mul", columns, win), model.integers(8), axis=0)
        value = model.node("Slice", model.node("Reshape", back, whole), model.integers(0, 0),
                           model.node("Concat", h, w, axis=0), model.integers(1, 2))
        tiled = numpy.tile(bias.reshape(size, size, 8), (2, 3, 1))
        want = want + tiled[None, :6, :9]
    model.result(value, "y", want.astype(numpy.float32))
    model.save()


# ---- numbers ----

def most(array):
    return max(map(abs, numpy.asarray(array).reshape(-1).tolist()), default=0)


def divide(a, b):
    return (numpy.sign(a) * numpy.sign(b) * (abs(a) // abs(b))).astype(a.dtype)


class Numbers:
    """Random arithmetic on constants of few elements: nodes, and what they compute."""

    def __init__(self, seed):
        self.random, self.model = numpy.random.default_rng(seed), Model("numbers")
        self.known = []
        for _ in range(8):
            shape = self.random.integers(1, 4, self.random.integers(0, 3))
            self.add(self.model.constant, self.random.integers(-9, 10, shape).astype(self.pick([numpy.int64, numpy.int32])))
        for dtype in (numpy.uint8, numpy.uint16):  # results begin anew beyond their ends
            for shape in ((), (2,)):
                self.add(self.model.constant, self.random.integers(0, 256, shape).astype(dtype))
        large = numpy.array([1 << 62, (1 << 62) - 1, -(1 << 62), (1 << 53) + 1]), numpy.array([(1 << 62) - 1, 1 << 61, 2 - (1 << 62), 1 << 53])
        names = [self.model.constant(array) for array in large]
        self.known += zip(names, large)
        self.keep("Equal", names, large[0] == large[1])
        self.keep("Sub", [self.model.node("Gather", name, self.model.integers(0, 2, 3)) for name in names],
                  (large[0] - large[1])[[0, 2, 3]])

    def pick(self, items):
        return items[int(self.random.integers(len(items)))]

    def add(self, make, array):
        self.known.append((make(array), array))

    def take(self, test=lambda a: True):
        return self.pick([k for k in self.known if test(k[1])])

    def like(self, array):
        """A value that broadcasts with the array, of its type."""
        def fits(other):
            try:
                numpy.broadcast_shapes(array.shape, other.shape)
            except ValueError:
                return False
            return other.dtype == array.dtype
        return self.take(fits)

    def keep(self, op, inputs, array, **attributes):
        array = numpy.asarray(array)
        small = most(array) < (1 << 30 if array.dtype != numpy.float32 else 1 << 20)
        if array.size and array.size <= 64 and array.ndim <= 4 and (array.dtype == bool or small):
            self.known.append((self.model.node(op, *inputs, **attributes), array))

    def binary(self):
        (a, left) = self.take()
        (b, right) = self.like(left)
        if left.dtype == bool:
            op, make = self.pick([("And", numpy.logical_and), ("Or", numpy.logical_or)])
        elif self.random.integers(3) == 0:
            op, make = self.pick([("Equal", numpy.equal), ("Less", numpy.less), ("Greater", numpy.greater),
                                  ("LessOrEqual", numpy.less_equal), ("GreaterOrEqual", numpy.greater_equal)])
        else:
            op, make = self.pick([("Add", numpy.add), ("Sub", numpy.subtract), ("Mul", numpy.multiply), ("Min", numpy.minimum),
                                  ("Max", numpy.maximum)] +
                                 [("Div", divide), ("Mod", numpy.mod)] * (left.dtype.kind in "iu" and bool(numpy.all(right))))
        exact = [x.astype(object) if x.dtype.kind == "i" else x for x in (left, right)]
        wide = make(*exact) if op in ("Add", "Sub", "Mul") else make(left, right)
        if left.dtype.kind == "u" or most(wide) < 1 << 31:
            self.keep(op, [a, b], make(left, right))

    def unary(self):
        a, array = self.take()
        to = self.pick([numpy.int64, numpy.int32, numpy.float32, bool])
        if self.random.integers(2) and most(array) < 1 << 24:
            self.keep("Cast", [a], array.astype(to), to=kinds[numpy.dtype(to).name])
        elif array.dtype == bool:
            self.keep("Not", [a], ~array)
        elif array.dtype.kind != "u":
            self.keep("Neg", [a], -array)

    def move(self):
        a, array = self.take(lambda x: x.ndim and x.dtype != bool)
        axis = int(self.random.integers(array.ndim))
        way, model = int(self.random.integers(7)), self.model
        if way == 0:
            b, other = self.take(lambda x: x.dtype == array.dtype and x.shape[:axis] + x.shape[axis + 1:] ==
                                 array.shape[:axis] + array.shape[axis + 1:] and x.ndim == array.ndim)
            self.keep("Concat", [a, b], numpy.concatenate([array, other], axis), axis=axis - array.ndim)
        elif way == 1:
            start, end, step = (int(self.random.integers(-5, 6)) for _ in range(3))
            index = [slice(None)] * array.ndim
            index[axis] = slice(start, end, step or 1)
            self.keep("Slice", [a, model.integers(start), model.integers(end), model.integers(axis), model.integers(step or 1)],
                      array[tuple(index)])
        elif way == 2:
            places = self.random.integers(-array.shape[axis], array.shape[axis], self.pick([(), (2,), (1, 3)]))
            self.keep("Gather", [a, model.constant(places)], numpy.take(array, places, axis), axis=axis)
        elif way == 3:
            order = [int(i) for i in self.random.permutation(array.ndim)]
            self.keep("Transpose", [a], numpy.transpose(array, order), perm=order)
        elif way == 4:
            self.keep("Reshape", [a, model.integers(-1)], array.reshape(-1))
        elif way == 5:
            self.keep("Unsqueeze", [a, model.integers(axis)], numpy.expand_dims(array, axis))
        else:
            self.keep("Tile", [a, model.integers(*[2] * array.ndim)], numpy.tile(array, [2] * array.ndim))

    def fold(self):
        a, array = self.take(lambda x: x.ndim and x.dtype.kind in "if" and most(x) < 1 << 20)
        op, make = self.pick([("ReduceProd", numpy.prod), ("ReduceSum", numpy.sum), ("ReduceMax", numpy.max), ("ReduceMin", numpy.min)])
        if op == "ReduceProd" and abs(numpy.prod(array.astype(object))) >= 1 << 24:
            return
        self.keep(op, [a] + [self.model.integers(*range(array.ndim))] * (op == "ReduceSum"),
                  make(array).astype(array.dtype).reshape([1] * array.ndim), keepdims=1)

    def choose(self):
        condition, truth = self.take(lambda x: x.dtype == bool)
        a, left = self.take(lambda x: x.dtype != bool)
        b, right = self.like(left)
        try:
            self.keep("Where", [condition, a, b], numpy.where(truth, left, right))
        except ValueError:
            pass

    def write(self):
        """Each integer decides where a Range of one element begins, so it is needed for a shape; as data it is added to an input."""
        model, parts, want = self.model, [], []
        x = model.input("x", numpy.zeros(1, numpy.int64))
        for name, array in self.known[14:]:
            if array.dtype.kind not in "iub":
                continue
            flat = model.node("Reshape", model.node("Cast", name, to=TensorProto.INT64), model.integers(-1))
            for i, number in enumerate(array.reshape(-1)[:3]):
                start = model.node("Gather", flat, model.constant(numpy.array(i)), axis=0)
                stop = model.node("Add", start, model.constant(numpy.array(1)))
                parts.append(model.node("Range", start, stop, model.constant(numpy.array(1))))
                want.append(int(number))
            parts.append(model.node("Add", flat, x))
            want += [int(number) for number in array.reshape(-1)]
        model.result(model.node("Add", model.node("Concat", *parts, axis=0), x), "y", numpy.array(want, numpy.int64))
        model.save()


def numbers(seed):
    program = Numbers(seed)
    for _ in range(250):
        program.pick([program.binary, program.binary, program.unary, program.move, program.fold, program.choose])() \
            if any(array.dtype == bool for _, array in program.known) else program.binary()
    program.write()


# ---- sizes ----

def convolve(x, w, dilation):
    pad, size = dilation * (w.shape[2] // 2), x.shape[2]
    wide = numpy.pad(x.astype(numpy.float64), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    return sum(numpy.einsum("nchw,oc->nohw", wide[:, :, i * dilation:i * dilation + size, j * dilation:j * dilation + size],
                            w[:, :, i, j].astype(numpy.float64))
               for i in range(w.shape[2]) for j in range(w.shape[3])).astype(numpy.float32)


def sizes():
    random = numpy.random.default_rng(3)

    def reals(*shape):
        return random.standard_normal(shape).astype(numpy.float32)

    model = Model("halves")  # weights in f16, computed in f32
    x, w = reals(4, 512), reals(512, 768).astype(numpy.float16)
    y = model.node("MatMul", model.input("x", x), model.node("Cast", model.constant(w), to=TensorProto.FLOAT))
    model.result(y, "y", x @ w.astype(numpy.float32))
    model.save()
    model.name, model.rows = "rows", "n"
    model.save()

    model = Model("quantised")  # weights in i8 with a scale for each column
    x, w, s = reals(4, 512), random.integers(-127, 128, (512, 768)).astype(numpy.int8), abs(reals(768)) / 100
    real = model.node("DequantizeLinear", model.constant(w), model.constant(s), model.constant(numpy.zeros(768, numpy.int8)), axis=1)
    model.result(model.node("MatMul", model.input("x", x), real), "y", x @ (w * s))
    model.save()

    model = Model("slopes")  # a slope for each channel
    x, slope = reals(1, 64, 64, 64), reals(64, 1, 1)
    model.result(model.node("PRelu", model.input("x", x), model.constant(slope)), "y", numpy.where(x < 0, x * slope, x))
    model.save()

    model = Model("mask")  # a causal mask in bits, added to the scores of all heads
    x, low = reals(1, 8, 192, 192), numpy.tril(numpy.ones((192, 192), bool))
    mask = model.node("Where", model.constant(low), model.constant(numpy.float32(0)), model.constant(numpy.float32(-1e4)))
    mask = model.node("Expand", mask, model.integers(1, 8, 192, 192))
    y = model.node("Softmax", model.node("Add", model.input("x", x), mask), axis=-1)
    e = numpy.exp(x - numpy.where(low, x, -1e4).max(-1, keepdims=True)) * low
    model.result(y, "y", e / e.sum(-1, keepdims=True))
    model.save()

    model = Model("positions")  # rows of a table for each image of a batch
    x, table = reals(16, 128, 64), reals(256, 64)
    rows = model.node("Range", model.constant(numpy.array(64)), model.constant(numpy.array(192)), model.constant(numpy.array(1)))
    rows = model.node("Expand", model.node("Gather", model.constant(table), rows, axis=0), model.integers(16, 128, 64))
    model.result(model.node("Add", model.input("x", x), rows), "y", x + table[64:192])
    model.save()

    model = Model("dilated")
    x, w = reals(1, 64, 20, 20), reals(64, 64, 3, 3) / 24
    y = model.node("Conv", model.input("x", x), model.constant(w), pads=[3] * 4, dilations=[3, 3])
    model.result(y, "y", convolve(x, w, 3))
    model.save()

    model = Model("shared")  # both the table and its rows are read, and the table is also a factor
    x, table = reals(64, 64), reals(512, 64).astype(numpy.float16)
    wide = model.node("Cast", model.constant(table), to=TensorProto.FLOAT)
    rows = model.node("Slice", wide, model.integers(32), model.integers(96), model.integers(0))
    y = model.node("Add", model.node("MatMul", model.input("x", x), model.node("Transpose", wide)),
                   model.node("ReduceSum", model.node("Mul", "x", rows), model.integers(1)))
    real = table.astype(numpy.float32)
    model.result(y, "y", x @ real.T + (x * real[32:96]).sum(1, keepdims=True))
    model.save()


{"windows": windows, "numbers": numbers, "sizes": sizes}[sys.argv[1]](*map(int, sys.argv[2:]))
