"""One layer of BERT that learns: forward, backward and Adam as operators of one model, and the same in numpy, in double
precision.

Weights, their moments, the powers of Adam's decays and the curve of losses are inputs that keep their contents from run
to run (`--state`, FOLDER/options). Each operator of the forward pass records how to compute its inputs' gradients from
its output's; the gradients of a value with several users are added up. The loss is the mean of squared distances to a
target.
"""
import math
import os

import numpy

EPSILON, STEPS = 1e-12, 20
RATE, DECAYS, ADAM_EPSILON = 1e-3, (0.9, 0.999), 1e-8


def start(size, weights):
    """The initial state, by the names of the model's inputs; `weights` are random arrays by name."""
    random, shape = numpy.random.default_rng(0), (size.batch * size.sequence, size.hidden)
    arrays = {"x": random.standard_normal(shape, numpy.float32), "target": random.standard_normal(shape, numpy.float32),
              "losses": numpy.zeros(STEPS, numpy.float32), "step": numpy.zeros(1, numpy.int64)}
    for name, decay in zip(("power1", "power2"), DECAYS):
        arrays[name] = numpy.full(1, decay, numpy.float32)
    for name, array in weights.items():
        arrays.update({name: array, name + ".m": numpy.zeros_like(array), name + ".v": numpy.zeros_like(array)})
    return arrays


class Writer:
    """A model that grows node by node."""

    def __init__(self, size, weights):
        import onnx.numpy_helper
        self.onnx, self.size, self.arrays = onnx, size, start(size, weights)
        self.weights = list(weights)
        self.nodes, self.constants, self.states = [], {}, []
        self.gradients, self.tape = {}, []

    def constant(self, array):
        name = "constant_%s" % "_".join(str(number) for number in array.ravel()[:4].tolist() + list(array.shape))
        self.constants.setdefault(name, self.onnx.numpy_helper.from_array(array, name))
        return name

    def number(self, value):
        return self.constant(numpy.array([value], numpy.float32))

    def integers(self, *values):
        return self.constant(numpy.array(values, numpy.int64))

    def node(self, operator, name, *inputs, outputs=("",), **attributes):
        """The node's first output, or all of them if there are several; their names begin with the node's."""
        names = [name + suffix for suffix in outputs]
        domain, _, operator = operator.rpartition(":")
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, names, name, domain=domain, **attributes))
        return names if len(names) > 1 else names[0]

    def keep(self, name, value):
        """The value becomes the next run's input of that name."""
        self.states.append((name, value))

    # ---- gradients ----

    def add_gradient(self, value, gradient):
        if value in self.gradients:
            gradient = self.node("Add", gradient + "/sum", self.gradients[value], gradient)
        self.gradients[value] = gradient

    def backwards(self):
        for value, step in reversed(self.tape):
            step(self.gradients[value])

    # ---- operators, with their gradients ----

    def product(self, name, a, b, turned=False, matrices=False):
        """A product of matrices, or of heads in batches; the second factor may be transposed."""
        product = self.node("sklink:BatchMatMul", name, a, b, transpose_b=int(turned))

        def step(dy):
            self.add_gradient(a, self.node("sklink:BatchMatMul", name + "/da", dy, b, transpose_b=int(not turned)))
            factors = (dy, a) if turned else (a, dy)
            turned_first = self.node("Transpose", name + "/Transpose", factors[0],
                                     perm=[1, 0] if matrices else [0, 1, 3, 2])
            self.add_gradient(b, self.node("MatMul", name + "/db", turned_first, factors[1]))
        self.tape.append((product, step))
        return product

    def dense(self, name, x):
        product = self.product(name + "/MatMul", x, name + ".weight", matrices=True)
        y = self.node("Add", name + "/Add", product, name + ".bias")

        def step(dy):
            self.add_gradient(product, dy)
            self.add_gradient(name + ".bias", self.node("sklink:BiasAddGrad", name + "/dbias", dy, data_format="NHWC"))
        self.tape.append((y, step))
        return y

    def add(self, name, a, b):
        y = self.node("Add", name, a, b)

        def step(dy):
            self.add_gradient(a, dy)
            self.add_gradient(b, dy)
        self.tape.append((y, step))
        return y

    def moved(self, name, x, before, permutation, after):
        """Reshape, Transpose, Reshape: heads beside rows, or back. Permutations here are their own inverses."""
        def move(name, x, before, after):
            split = self.node("Reshape", name + "/split", x, self.integers(*before))
            turned = self.node("Transpose", name + "/Transpose", split, perm=permutation)
            return self.node("Reshape", name + "/Reshape", turned, self.integers(*after))
        y = move(name, x, before, after)
        turned = [before[axis] for axis in permutation]
        shape = [before[0], before[1], before[2], before[3]]
        if len(after) == 4:
            shape = [before[0] * before[1], before[2] * before[3]]
        self.tape.append((y, lambda dy: self.add_gradient(x, move(name + "/d", dy, turned, shape))))
        return y

    def scaled(self, name, x, factor):
        y = self.node("Mul", name, x, self.number(factor))
        self.tape.append((y, lambda dy: self.add_gradient(x, self.node("Mul", name + "/d", dy, self.number(factor)))))
        return y

    def softmax(self, name, x):
        y = self.node("Softmax", name, x, axis=-1)
        self.tape.append((y, lambda dy: self.add_gradient(
            x, self.node("sklink:SoftmaxGrad", name + "/d", y, dy, axis=[-1]))))
        return y

    def gelu(self, name, x):
        y = self.node("Gelu", name, x, approximate="tanh")
        self.tape.append((y, lambda dy: self.add_gradient(x, self.node("sklink:GeLUGrad", name + "/d", dy, x, y))))
        return y

    def norm(self, name, x):
        weight, bias, how = name + ".weight", name + ".bias", {"begin_norm_axis": 1, "epsilon": EPSILON}
        y, mean, variance = self.node("sklink:LayerNorm", name, x, weight, bias,
                                      outputs=("/y", "/mean", "/variance"), **how)

        def step(dy):
            gradients = self.node("sklink:LayerNormGrad", name + "/d", x, dy, variance, mean, weight,
                                  outputs=("x", "weight", "bias"), **how)
            for value, gradient in zip((x, weight, bias), gradients):
                self.add_gradient(value, gradient)
        self.tape.append((y, step))
        return y

    # ---- the layer ----

    def attention(self, name, x):
        size = self.size
        width = size.hidden // size.heads
        apart, beside = [size.batch, size.sequence, size.heads, width], [size.batch, size.heads, size.sequence, width]
        query, key, value = (self.moved(name + "/" + part, self.dense("attention.self." + part, x), apart,
                                        [0, 2, 1, 3], beside)
                             for part in ("query", "key", "value"))
        scores = self.scaled(name + "/Mul", self.product(name + "/scores", query, key, turned=True),
                             1 / math.sqrt(width))
        context = self.product(name + "/context", self.softmax(name + "/Softmax", scores), value)
        return self.moved(name, context, beside, [0, 2, 1, 3], [size.batch * size.sequence, size.hidden])

    def layer(self, x):
        attended = self.dense("attention.output.dense", self.attention("attention", x))
        x = self.norm("attention.output.LayerNorm", self.add("attention.output.Add", attended, x))
        inner = self.gelu("intermediate.act", self.dense("intermediate.dense", x))
        return self.norm("output.LayerNorm", self.add("output.Add", self.dense("output.dense", inner), x))

    def loss(self, y):
        distance = self.node("Sub", "loss/Sub", y, "target")
        square = self.node("Mul", "loss/Mul", distance, distance)
        self.gradients[y] = self.node("Mul", "loss/d", distance, self.number(2 / self.arrays["x"].size))
        return self.node("ReduceMean", "loss", square, self.integers(0, 1), keepdims=0)

    def adam(self):
        powers, decays = ("power1", "power2"), [self.number(decay) for decay in DECAYS]
        for name in self.weights:
            moments = name, name + ".m", name + ".v"
            new = self.node("sklink:Adam", name + "/Adam", *moments, *powers, self.number(RATE), *decays,
                            self.number(ADAM_EPSILON),
                            self.gradients[name], outputs=("", ".m", ".v"))
            for old, value in zip(moments, new):
                self.keep(old, value)
        for name, decay in zip(powers, decays):
            self.keep(name, self.node("Mul", name + "/Mul", name, decay))

    def write(self, folder):
        helper, types = self.onnx.helper, self.onnx.helper.mapping.NP_TYPE_TO_TENSOR_TYPE
        loss = self.loss(self.layer("x"))
        self.backwards()
        self.adam()
        now = self.node("Equal", "losses/Equal", self.integers(*range(STEPS)), "step")
        self.keep("losses", self.node("Where", "losses/Where", now, loss, "losses"))
        self.keep("step", self.node("Add", "step/Add", "step", self.integers(1)))

        def info(name, like):
            return helper.make_tensor_value_info(name, types[self.arrays[like].dtype], self.arrays[like].shape)
        graph = helper.make_graph(self.nodes, "training", [info(name, name) for name in self.arrays],
                                  [info(new, old) for old, new in self.states], list(self.constants.values()))
        imports = [helper.make_opsetid("", 20), helper.make_opsetid("sklink", 1)]
        os.makedirs(folder, exist_ok=True)
        self.onnx.save(helper.make_model(graph, producer_name="samples/bert", opset_imports=imports, ir_version=9),
                       os.path.join(folder, "model.onnx"))
        for name, array in self.arrays.items():
            numpy.save(os.path.join(folder, name + ".npy"), array)
        with open(os.path.join(folder, "options"), "w") as options:
            options.writelines("--state '%s=%s'\n" % state for state in self.states)


class Reference:
    """The layer in numpy, and its derivatives written out."""

    def __init__(self, size, folder, names):
        def load(name):
            return numpy.load(os.path.join(folder, name + ".npy")).astype(float)
        self.size, self.x, self.target = size, load("x"), load("target")
        self.weights = {name: load(name) for name in names}
        self.moments = {name: (0, 0) for name in names}

    def apart(self, x):
        size = self.size
        return x.reshape(size.batch, size.sequence, size.heads, -1).transpose(0, 2, 1, 3)

    def beside(self, x):
        return x.transpose(0, 2, 1, 3).reshape(self.x.shape)

    def norm(self, name, x):
        deviation = numpy.sqrt(x.var(-1, keepdims=True) + EPSILON)
        scaled = (x - x.mean(-1, keepdims=True)) / deviation
        return scaled, deviation, scaled * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def norm_back(self, name, dy, scaled, deviation, into):
        into[name + ".weight"], into[name + ".bias"] = (dy * scaled).sum(0), dy.sum(0)
        dy = dy * self.weights[name + ".weight"]
        return (dy - dy.mean(-1, keepdims=True) - scaled * (dy * scaled).mean(-1, keepdims=True)) / deviation

    def dense(self, name, x):
        return x @ self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def dense_back(self, name, x, dy, into):
        into[name + ".weight"], into[name + ".bias"] = x.T @ dy, dy.sum(0)
        return dy @ self.weights[name + ".weight"].T

    def step(self, into):
        """The loss; gradients of the weights go into the dictionary."""
        parts, x = ["attention.self." + part for part in ("query", "key", "value")], self.x
        query, key, value = (self.apart(self.dense(part, x)) for part in parts)
        scale = 1 / math.sqrt(self.size.hidden // self.size.heads)
        scores = numpy.exp(query @ key.swapaxes(-1, -2) * scale)
        scores /= scores.sum(-1, keepdims=True)
        context = self.beside(scores @ value)
        *first, middle = self.norm("attention.output.LayerNorm", self.dense("attention.output.dense", context) + x)
        inner, c = self.dense("intermediate.dense", middle), math.sqrt(2 / math.pi)
        curve = numpy.tanh(c * (inner + 0.044715 * inner ** 3))
        active = inner * (1 + curve) / 2
        *second, y = self.norm("output.LayerNorm", self.dense("output.dense", active) + middle)
        distance = y - self.target

        dy = self.norm_back("output.LayerNorm", 2 * distance / distance.size, *second, into)
        slope = (1 + curve) / 2 + inner / 2 * (1 - curve ** 2) * c * (1 + 3 * 0.044715 * inner ** 2)
        dy = dy + self.dense_back("intermediate.dense", middle,
                                  self.dense_back("output.dense", active, dy, into) * slope, into)
        dy = self.norm_back("attention.output.LayerNorm", dy, *first, into)
        dcontext = self.apart(self.dense_back("attention.output.dense", context, dy, into))
        dscores = dcontext @ value.swapaxes(-1, -2)
        dscores = scores * (dscores - (dscores * scores).sum(-1, keepdims=True)) * scale
        for part, d in zip(parts, (dscores @ key, dscores.swapaxes(-1, -2) @ query,
                                   scores.swapaxes(-1, -2) @ dcontext)):
            self.dense_back(part, x, self.beside(d), into)
        return (distance ** 2).mean()

    def losses(self, steps):
        curve = []
        for step in range(1, steps + 1):
            gradients = {}
            curve.append(self.step(gradients))
            for name, gradient in gradients.items():
                m, v = (decay * old + (1 - decay) * new for decay, old, new in
                        zip(DECAYS, self.moments[name], (gradient, gradient ** 2)))
                self.moments[name] = m, v
                rate = RATE * math.sqrt(1 - DECAYS[1] ** step) / (1 - DECAYS[0] ** step)
                self.weights[name] -= rate * m / (numpy.sqrt(v) + ADAM_EPSILON)
        return numpy.array(curve)


def check(size, folder, names, path):
    """Compares the curve in the file with numpy's."""
    curve = numpy.load(path)
    expected = Reference(size, folder, names).losses(STEPS)
    error = abs(curve - expected) / expected
    if curve.dtype != numpy.float32 or curve.shape != expected.shape or not error.max() <= 1e-4:
        raise SystemExit("the losses are %s, expected %s" % (curve, expected))
    print("losses fall from %.4f to %.4f in %d steps: off by %.1e of them at most" %
          (curve[0], curve[-1], STEPS, error.max()))
