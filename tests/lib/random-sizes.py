"""random-sizes.py SKLINK SKRUN KERNELS FIRST COUNT: random ONNX models with two open dimensions, or three with a past
that may be empty, each linked once with bounds. At corners and other sizes its results are compared with those of a
package that is linked for that size."""
import random
import re
import subprocess
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

sklink, skrun, kernels = sys.argv[1:4]
first, count = int(sys.argv[4]), int(sys.argv[5])

BOUNDS = [{"b": (1, 4), "s": (1, 12)}, {"b": (2, 3), "s": (3, 40)}, {"b": (1, 9), "s": (2, 7)},
          {"b": (3, 70), "s": (5, 9)}]


KINDS = ["same", "softmax", "scan", "choose", "gather", "join", "product", "mean", "transpose", "flatten", "cut", "pad",
         "expand", "attend", "batch", "statistics", "normal", "best", "repeat", "length", "positions", "heads",
         "filter", "pool", "causal", "row", "columns", "part", "halves", "cut flat"]
PAST = ["append", "look up", "own rows", "attend past", "attend past, causal"]


class Builder:
    """A graph under construction. Values have a name and their dimensions, or None if nobody has to know these."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.bounds = self.random.choice(BOUNDS)
        self.numbers = numpy.random.default_rng(seed)
        self.width = self.random.choice([4, 6, 8])
        self.nodes, self.constants = [], []
        self.values = [("x", ["b", "s", self.width])]
        self.past = random.Random("past %d" % seed) # its own: other models are those without a past
        self.kinds, self.inputs = KINDS, ["x"]
        if self.past.random() < 0.4:
            self.bounds = dict(self.bounds, p=(0, self.past.choice([2, 3, 5, 33])))
            self.kinds = KINDS + PAST * 3
            self.values.append(self.add(self.past.choice(PAST), *self.values[0]))

    def node(self, op, *inputs, **attributes):
        name = "v%d" % len(self.nodes)
        self.nodes.append(helper.make_node(op, inputs, [name], name="n%d" % len(self.nodes), **attributes))
        return name

    def constant(self, elements, dtype=numpy.int64):
        name = "c%d" % len(self.constants)
        self.constants.append(numpy_helper.from_array(numpy.array(elements, dtype), name))
        return name

    def layer_norm(self, value, scale, bias):
        mean = self.node("ReduceMean", value, axes=[-1], keepdims=1)
        apart = self.node("Sub", value, mean)
        square = self.node("ReduceMean", self.node("Mul", apart, apart), axes=[-1], keepdims=1)
        deviation = self.node("Sqrt", self.node("Add", square, self.constant(1e-5, numpy.float32)))
        return self.node("Add", self.node("Mul", self.node("Div", apart, deviation), scale), bias)

    def input(self, name):
        if name not in self.inputs:
            self.inputs.append(name)
        return name

    def all_rows(self, value):
        """The past rows and then the value's: of all batches, in another order or of the first one twice."""
        kind = self.past.choice(["same", "order", "first", "changed"])
        past = self.input("past")
        if kind == "order":
            past = self.node("Gather", past, self.input("order"), axis=0)
        if kind == "first":
            first = self.constant([0, 0])
            past, value = (self.node("Gather", rows, first, axis=0) for rows in (past, value))
        if kind == "changed":
            past = self.node("Neg", past)
        return self.node("Concat", past, value, axis=1), [2 if kind == "first" else "b", "p+s", self.width]

    def add_past(self, op, value):
        """Append nodes with past rows to a value of the shape of x."""
        if op == "append":
            return self.all_rows(value)
        rows, shape = self.all_rows(value)
        if op == "look up":
            places = self.constant(self.past.choice([[0, 0], [-1], [0, -1, 0]]))
            return self.node("Gather", rows, places, axis=1), None
        if op == "own rows": # as many as the value has, the last ones
            lengths = [self.node("Slice", self.node("Shape", v), self.constant([1]), self.constant([2]))
                       for v in ("past", rows)]
            return self.node("Slice", rows, *lengths, self.constant([1])), shape[:1] + ["s", self.width]
        query = value if shape[0] == "b" else self.node("Gather", value, self.constant([0, 0]), axis=0)
        scores = self.node("MatMul", query, self.node("Transpose", rows, perm=[0, 2, 1]))
        if op == "attend past, causal":
            lengths = [self.node("Gather", self.node("Shape", v), self.constant(1)) for v in ("past", rows, value)]
            keys = self.node("Range", self.constant(0), lengths[1], self.constant(1))
            queries = self.node("Add", self.node("Range", self.constant(0), lengths[2], self.constant(1)), lengths[0])
            mask = self.node("LessOrEqual", self.node("Unsqueeze", keys, self.constant([0])),
                             self.node("Unsqueeze", queries, self.constant([1])))
            scores = self.node("Where", mask, scores, self.constant(-1e4, numpy.float32))
        return self.node("MatMul", self.node("Softmax", scores, axis=-1), rows), shape[:1] + ["s", self.width]

    def add(self, op, value, shape):
        """Append one of a kind of nodes; a kind that the shape does not fit is left out."""
        if op in PAST:
            return self.add_past(op, value) if shape == ["b", "s", self.width] else None
        known = shape or [None] * 3
        if op == "same":
            kind = self.random.choice(["Relu", "Neg", "Sigmoid"])
            return self.node(kind, value), shape
        if op == "softmax":
            return self.node("Softmax", value, axis=self.random.choice([-1, 1])), shape
        if op == "scan":
            return self.node("CumSum", value, self.constant(1)), shape
        if op == "choose":
            positive = self.node("Greater", value, self.constant(0.1, numpy.float32))
            return self.node("Where", positive, value, self.node("Neg", value)), shape
        if op == "gather":
            return self.node("Gather", value, self.constant([0, 0]), axis=self.random.choice([0, 1])), None
        if op == "join" and len(known) > 1:
            return self.node("Concat", value, value, axis=self.random.choice([0, 1])), None
        if op == "product" and isinstance(known[-1], int):
            columns = self.random.choice([3, 5, 16])
            weights = self.constant(self.numbers.random((known[-1], columns)), numpy.float32)
            return self.node("MatMul", value, weights), known[:-1] + [columns]
        if op == "statistics" and shape:
            name = self.random.choice(["ReduceMax", "ReduceMin", "ReduceProd"])
            return self.node(name, value, axes=[len(shape) - 1], keepdims=0), shape[:-1]
        if op == "normal" and shape and isinstance(shape[-1], int):
            weights = [self.constant(self.numbers.random(shape[-1]), numpy.float32) for _ in range(2)]
            return self.layer_norm(value, *weights), shape
        if op == "best" and shape and isinstance(shape[-1], int):
            number = self.node("ArgMax", value, axis=len(shape) - 1, keepdims=1)
            return self.node("Cast", number, to=TensorProto.FLOAT), shape[:-1] + [1]
        if op == "repeat" and shape:
            return self.node("Tile", value, self.constant([2] + [1] * (len(shape) - 1))), None
        if op == "columns" and shape and isinstance(shape[-1], int):
            flat = self.node("Reshape", value, self.constant([-1, shape[-1]]))
            return self.node("Add", value, self.node("ReduceMax", flat, axes=[0], keepdims=0)), shape
        if op == "length" and shape:
            size = self.node("Gather", self.node("Shape", value), self.constant(0))
            return self.node("Div", value, self.node("Cast", size, to=TensorProto.FLOAT)), shape
        if op == "part" and shape:
            size = self.node("Slice", self.node("Shape", value), self.constant([0]), self.constant([1]))
            places = self.constant(self.numbers.permutation(64))
            places = self.node("Slice", places, size, self.node("Add", size, self.constant([1])))
            table = self.constant(self.numbers.random(64), numpy.float32)
            return self.node("Mul", value, self.node("GatherElements", table, places, axis=0)), shape
        if len(known) != 3 or shape is None:
            return None
        if op == "positions":
            size = self.node("Gather", self.node("Shape", value), self.constant(1))
            places = self.node("Range", self.constant(0), size, self.constant(1))
            places = self.node("Unsqueeze", self.node("Cast", places, to=TensorProto.FLOAT), self.constant([1]))
            return self.node("Add", value, places), shape
        if op == "heads" and shape[2] in (4, 6, 8, 16):
            sizes = self.node("Slice", self.node("Shape", value), self.constant([0]), self.constant([2]))
            parts = self.node("Reshape", value, self.node("Concat", sizes, self.constant([2, shape[2] // 2]), axis=0))
            parts = self.node("Transpose", parts, perm=[0, 2, 1, 3])
            parts = self.node("Transpose", self.node("Softmax", parts, axis=2), perm=[0, 2, 1, 3])
            return self.node("Reshape", parts, self.node("Concat", sizes, self.constant([shape[2]]), axis=0)), shape
        if op == "filter" and shape[:2] == ["b", "s"] and isinstance(shape[2], int):
            weights = self.constant(self.numbers.random((5, shape[2], 3)), numpy.float32)
            turned = self.node("Transpose", value, perm=[0, 2, 1])
            strides = [self.random.choice([1, 2])]
            turned = self.node("Conv", turned, weights, pads=[1, 1], strides=strides)
            return self.node("Transpose", turned, perm=[0, 2, 1]), ["b", "s", 5] if strides == [1] else None
        if op == "pool" and shape[:2] == ["b", "s"]:
            turned = self.node("Transpose", value, perm=[0, 2, 1])
            turned = self.node("MaxPool", turned, kernel_shape=[2], strides=[2], pads=[0, 1])
            return self.node("Transpose", turned, perm=[0, 2, 1]), None
        if op == "causal" and shape == ["b", "s", self.width]:
            scores = self.node("MatMul", value, self.node("Transpose", value, perm=[0, 2, 1]))
            size = self.node("Slice", self.node("Shape", value), self.constant([1]), self.constant([2]))
            square = self.node("Concat", size, size, axis=0)
            ones = self.node("ConstantOfShape", square, value=numpy_helper.from_array(numpy.ones(1, "f")))
            mask = self.node("Trilu", ones, upper=0)
            scores = self.node("Where", self.node("Cast", mask, to=TensorProto.BOOL), scores,
                               self.constant(-1e4, numpy.float32))
            return self.node("MatMul", self.node("Softmax", scores, axis=-1), value), shape
        if op == "row" and shape[1] == "s":
            added = self.node("ReduceSum", self.values[0][0], self.constant([0, 2]), keepdims=0)
            return self.node("Add", value, self.node("Unsqueeze", added, self.constant([0, 2]))), shape
        if op == "mean":
            return self.node("ReduceMean", value, axes=[self.random.choice([1, 2])], keepdims=1), None
        if op == "batch":
            mean = self.node("ReduceMean", value, axes=[0], keepdims=self.random.choice([0, 1]))
            return self.node(self.random.choice(["Add", "Sub", "Mul"]), value, mean), shape
        if op == "transpose":
            order = self.random.choice([[1, 0, 2], [0, 2, 1], [2, 1, 0]])
            return self.node("Transpose", value, perm=order), [shape[d] for d in order]
        if op == "flatten" and isinstance(shape[2], int):
            return self.node("Reshape", value, self.constant([-1, shape[2]])), None
        if op == "halves" and shape[1] == "s":
            size = self.node("Slice", self.node("Shape", value), self.constant([1]), self.constant([2]))
            half = self.node("Div", self.node("Add", size, self.constant([self.random.choice([0, 1])])),
                             self.constant([2]))
            sizes = self.node("Concat", half, self.node("Sub", size, half), axis=0)
            parts = ["h%d" % len(self.nodes), "r%d" % len(self.nodes)]
            self.nodes.append(helper.make_node("Split", [value, sizes], parts, axis=1))
            return self.node("Concat", self.node("Neg", parts[1]), parts[0], axis=1), shape
        if op == "cut flat" and isinstance(shape[2], int):
            first = self.constant([self.random.choice([1, 2])])
            part = self.node("Slice", value, first, self.constant([2**62]), self.constant([1]))
            return self.node("Reshape", part, self.constant([-1, shape[2]])), None
        if op == "cut":
            ends = [self.constant([self.random.choice(ends)]) for ends in ([0, 1], [-1, 2**62], [0, 1, 2])]
            return self.node("Slice", value, *ends), None
        if op == "pad":
            return self.node("Pad", value, self.constant([0, 1, 0, 0, self.random.choice([0, 2]), 0])), None
        if op == "expand":
            ones = self.node("Expand", self.constant([1.5], numpy.float32), self.node("Shape", value))
            return self.node("Mul", value, ones), shape
        if op == "attend" and shape == ["b", "s", self.width]:
            scores = self.node("MatMul", value, self.node("Transpose", value, perm=[0, 2, 1]))
            return self.node("MatMul", self.node("Softmax", scores, axis=-1), value), shape
        return None

    def sizes(self):
        """Corners of the bounds, all of two dimensions, and two other sizes."""
        batches, lengths = self.bounds["b"], self.bounds["s"]
        others = [{"b": self.random.randint(*batches), "s": self.random.randint(*lengths)} for _ in range(2)]
        sizes = [{"b": batch, "s": length} for batch in batches for length in lengths] + others
        pasts = self.bounds.get("p")
        for i, size in enumerate(sizes if pasts else []):
            size["p"] = self.past.randint(*pasts) if i > 3 else pasts[i in (1, 3)]
        return sizes + [dict(sizes[0], p=pasts[1]), dict(sizes[3], p=pasts[0])] if pasts else sizes

    def arrays(self, size):
        """An array for each input."""
        arrays = {"x": self.numbers.random((size["b"], size["s"], self.width), dtype="f") - 0.3}
        if "past" in self.inputs:
            arrays["past"] = self.numbers.random((size["b"], size["p"], self.width), dtype="f") - 0.3
        if "order" in self.inputs:
            arrays["order"] = self.numbers.integers(0, size["b"], size["b"])
        return arrays

    def model(self):
        for _ in range(self.random.randint(3, 8)):
            value = self.add(self.random.choice(self.kinds), *self.random.choice(self.values[-3:]))
            if value:
                self.values.append(value)
        output = self.node("Add", self.values[-1][0], self.values[-1][0])
        inputs = {"x": (TensorProto.FLOAT, ["b", "s", self.width]), "past": (TensorProto.FLOAT, ["b", "p", self.width]),
                  "order": (TensorProto.INT64, ["b"])}
        graph = helper.make_graph(
            self.nodes, "random", [helper.make_tensor_value_info(name, *inputs[name]) for name in self.inputs],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8), output


def link(path, *dimensions):
    said = [word for text in dimensions for word in ("--dim", text)]
    done = subprocess.run([sklink, "model.onnx", "-L", kernels, "-lskernels", "-w", "-o", path] + said,
                          capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit("seed %d, %s: sklink ends with %d: %s" % (seed, " ".join(said), done.returncode, done.stderr))
    return done


def run(path, inputs, output, *options):
    """The output, or an error. Inputs that the package does not have, such as a past without rows, are left out."""
    given = [word for name in inputs for word in ("--input", "%s=%s.npy" % (name, name))]
    done = subprocess.run([skrun, path, "--output", "%s=y.npy" % output] + given + list(options), capture_output=True,
                          text=True)
    missing = re.search(r": no input or output '(?:n\d+:)?(\w+)'", done.stderr)
    if missing and missing[1] in inputs:
        return run(path, [name for name in inputs if name != missing[1]], output, *options)
    return numpy.load("y.npy") if not done.returncode else done.stderr


def link_static(sizes):
    """One package with a network for each of the sizes takes less time than a package for each. Where a network cannot
    be linked, each has a package; return its path and options of skrun, or None, by size."""
    said = [["%s=%d" % item for item in size.items()] for size in sizes]
    if not link("static.sk", *["n%d:%s" % (i, ",".join(words)) for i, words in enumerate(said)]).returncode:
        return [("static.sk", "--network", "n%d" % i) for i in range(len(sizes))]
    linked = []
    for i, words in enumerate(said):
        path = "static%d.sk" % i
        linked.append(None if link(path, *words).returncode else (path,))
    return linked


compared = refused = 0
for seed in range(first, first + count):
    builder = Builder(seed)
    model, output = builder.model()
    onnx.save(model, "model.onnx")
    linked = link("dynamic.sk", *["%s=%d..%d" % (name, *bounds) for name, bounds in builder.bounds.items()])
    if linked.returncode:
        refused += 1
        print("seed %d: %s" % (seed, linked.stderr.split("\n")[0]), flush=True)
        continue
    sizes = builder.sizes()
    for size, static in zip(sizes, link_static(sizes)):
        where = "seed %d at %s" % (seed, ", ".join("%s=%d" % item for item in size.items()))
        for name, array in builder.arrays(size).items():
            numpy.save(name + ".npy", array)
        if not static:
            continue
        wanted = run(static[0], builder.inputs, output, "--cores", "1", *static[1:])
        if isinstance(wanted, str):
            sys.exit("%s: linked for it: %s" % (where, wanted))
        found = run("dynamic.sk", builder.inputs, output, "--cores", "2",
                    *[word for item in size.items() for word in ("--dim", "%s=%d" % item)])
        if isinstance(found, str):
            sys.exit("%s: %s" % (where, found))
        if found.shape != wanted.shape or not numpy.allclose(found, wanted, rtol=1e-4, atol=1e-5, equal_nan=True):
            sys.exit("%s: other results" % where)
        compared += 1
print("%d models, %d of them refused; %d results compared" % (count, refused, compared))
sys.exit(compared < 4 * (count - refused) or refused > count // 5)
