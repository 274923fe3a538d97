#!/usr/bin/python3
"""Writes the encoder of a BERT-large model as ONNX, of primitive operators, with random weights as external data; or
computes its result with numpy, in double precision, and compares.

bert.py make [OPTION...] FOLDER       writes FOLDER/model.onnx, model.weights and x.npy
bert.py check [OPTION...] FOLDER Y    compares Y (.npy) with the result of model.weights and x.npy

With --train it is one layer that learns (training.py), FOLDER has an array for each input, and Y is the curve of
losses.
"""
import argparse
import math
import os
import sys

import numpy

EPSILON = 1e-12
STEP = 0.04 # of quantised activations, which lie between -128 and 127 of them


def layer_weights(size):
    """Names and shapes of a layer's constants, in the order in which they lie in the file."""
    hidden, intermediate = size.hidden, size.intermediate
    for name in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
        yield name + ".weight", (hidden, hidden)
        yield name + ".bias", (hidden,)
    yield from (("attention.output.LayerNorm.weight", (hidden,)), ("attention.output.LayerNorm.bias", (hidden,)),
                ("intermediate.dense.weight", (hidden, intermediate)), ("intermediate.dense.bias", (intermediate,)),
                ("output.dense.weight", (intermediate, hidden)), ("output.dense.bias", (hidden,)),
                ("output.LayerNorm.weight", (hidden,)), ("output.LayerNorm.bias", (hidden,)))


def random_weight(random, name, shape):
    """Numbers that keep values about as large from layer to layer, and different."""
    if len(shape) == 2:
        return random.standard_normal(shape, numpy.float32) / numpy.float32(math.sqrt(shape[0]))
    return random.standard_normal(shape, numpy.float32) * numpy.float32(0.1) + numpy.float32("Norm.weight" in name)


def quantised(array):
    """Signed bytes, and for each column the value of 1."""
    scale = numpy.abs(array).max(0) / numpy.float32(127)
    return numpy.rint(array / scale).astype(numpy.int8), scale


class Writer:
    """A model that grows node by node, and its weights, which are written to their file at once: they may be larger
    than the memory."""

    def __init__(self, size, folder):
        import onnx.numpy_helper
        self.onnx, self.size, self.folder = onnx, size, folder
        self.nodes, self.constants = [], {}
        os.makedirs(folder, exist_ok=True)
        self.weights = open(os.path.join(folder, "model.weights"), "wb")

    def weight(self, name, array):
        tensor = self.onnx.TensorProto(name=name, dims=array.shape, data_location=self.onnx.TensorProto.EXTERNAL,
                                       data_type=self.onnx.helper.mapping.NP_TYPE_TO_TENSOR_TYPE[array.dtype])
        self.weights.write(bytes(-self.weights.tell() % 64))
        for key, value in (("location", "model.weights"), ("offset", self.weights.tell()), ("length", array.nbytes)):
            tensor.external_data.add(key=key, value=str(value))
        self.weights.write(array.tobytes())
        self.constants[name] = tensor
        return name

    def constant(self, name, array):
        self.constants.setdefault(name, self.onnx.numpy_helper.from_array(array, name))
        return name

    def number(self, value):
        return self.constant("number_%g" % value, numpy.array(value, numpy.float32))

    def node(self, operator, name, *inputs, output=None, **attributes):
        output = output or name + "_output_0"
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, [output], name, **attributes))
        return output

    def dense(self, name, x):
        """A product with a weight, and its bias; name is /encoder/…, the weight's encoder.…."""
        weight = name[1:].replace("/", ".")
        if self.size.int8:
            columns = self.constants[weight + ".scale"].dims[0]
            zeros = self.constant("zeros_%d" % columns, numpy.zeros(columns, numpy.int8))
            factor = self.node("DequantizeLinear", name + "/weight/DequantizeLinear", weight + ".weight",
                               weight + ".scale", zeros, axis=1)
            product = self.stepped(self.node("MatMul", name + "/MatMul", self.stepped(x), factor))
        else:
            product = self.node("MatMul", name + "/MatMul", x, weight + ".weight")
        return self.node("Add", name + "/Add", weight + ".bias", product)

    def stepped(self, x):
        """x, quantised and dequantised, once for all nodes that take it."""
        name = "/" + x.strip("/").replace("_output_0", "")
        if not any(node.name == name + "/QuantizeLinear" for node in self.nodes[-50:]):
            how = self.number(STEP), self.constant("zero", numpy.array(128, numpy.uint8))
            self.node("DequantizeLinear", name + "/DequantizeLinear",
                      self.node("QuantizeLinear", name + "/QuantizeLinear", x, *how), *how)
        return name + "/DequantizeLinear_output_0"

    def heads(self, name, x, permutation):
        size = self.size
        shape = self.constant("heads", numpy.array([size.batch, size.sequence, size.heads, size.hidden // size.heads]))
        split = self.node("Reshape", name + "/Reshape", x, shape)
        return self.node("Transpose", name + "/Transpose", split, perm=permutation)

    def attention(self, name, x):
        size = self.size
        query = self.heads(name + "/query", self.dense(name + "/query", x), [0, 2, 1, 3])
        key = self.heads(name + "/key", self.dense(name + "/key", x), [0, 2, 3, 1])
        value = self.heads(name + "/value", self.dense(name + "/value", x), [0, 2, 1, 3])
        scores = self.node("MatMul", name + "/MatMul", query, key)
        scores = self.node("Div", name + "/Div", scores, self.number(math.sqrt(size.hidden // size.heads)))
        context = self.node("MatMul", name + "/MatMul_1",
                            self.node("Softmax", name + "/Softmax", scores, axis=-1), value)
        context = self.node("Transpose", name + "/Transpose", context, perm=[0, 2, 1, 3])
        shape = self.constant("rows", numpy.array([size.batch, size.sequence, size.hidden]))
        return self.node("Reshape", name + "/Reshape", context, shape)

    def norm(self, name, x, output=None):
        weight = name[1:].replace("/", ".")
        centred = self.node("Sub", name + "/Sub", x, self.node("ReduceMean", name + "/ReduceMean", x, axes=[-1]))
        square = self.node("Pow", name + "/Pow", centred, self.number(2))
        variance = self.node("ReduceMean", name + "/ReduceMean_1", square, axes=[-1])
        deviation = self.node("Sqrt", name + "/Sqrt", self.node("Add", name + "/Add", variance, self.number(EPSILON)))
        scaled = self.node("Mul", name + "/Mul",
                           self.node("Div", name + "/Div", centred, deviation), weight + ".weight")
        return self.node("Add", name + "/Add_1", scaled, weight + ".bias", output=output)

    def gelu(self, name, x):
        erf = self.node("Erf", name + "/Erf", self.node("Div", name + "/Div", x, self.number(math.sqrt(2))))
        product = self.node("Mul", name + "/Mul", x, self.node("Add", name + "/Add", erf, self.number(1)))
        return self.node("Mul", name + "/Mul_1", product, self.number(0.5))

    def layer(self, number, x, output):
        random = numpy.random.default_rng(number + 1)
        prefix = "encoder.layer.%d." % number
        for name, shape in layer_weights(self.size):
            array = random_weight(random, name, shape)
            if self.size.int8 and array.ndim == 2:
                array, scale = quantised(array)
                self.weight(prefix + name.replace("weight", "scale"), scale)
            self.weight(prefix + name, array)
        name = "/encoder/layer.%d" % number
        attended = self.dense(name + "/attention/output/dense", self.attention(name + "/attention/self", x))
        x = self.norm(name + "/attention/output/LayerNorm",
                      self.node("Add", name + "/attention/output/Add", attended, x))
        inner = self.gelu(name + "/intermediate/act", self.dense(name + "/intermediate/dense", x))
        outer = self.node("Add", name + "/output/Add", self.dense(name + "/output/dense", inner), x)
        return self.norm(name + "/output/LayerNorm", outer, output)

    def model(self):
        size, helper = self.size, self.onnx.helper
        shape = (size.batch, size.sequence, size.hidden)
        x = "x"
        for number in range(size.layers):
            x = self.layer(number, x, "y" if number == size.layers - 1 else None)
        self.weights.close()
        graph = helper.make_graph(self.nodes, "bert", [helper.make_tensor_value_info("x", 1, shape)],
                                  [helper.make_tensor_value_info("y", 1, shape)],
                                  list(self.constants.values()))
        model = helper.make_model(graph, producer_name="samples/bert", opset_imports=[helper.make_opsetid("", 17)],
                                  ir_version=8)
        self.onnx.save(model, os.path.join(self.folder, "model.onnx"))
        numpy.save(os.path.join(self.folder, "x.npy"),
                   numpy.random.default_rng(0).standard_normal(shape, numpy.float32))


class Reference:
    """The encoder in numpy, from the file of weights, without the model."""

    def __init__(self, size, folder):
        self.size, self.folder, self.offset = size, folder, 0
        self.erf = numpy.vectorize(math.erf, otypes=[float])

    def layer_weights(self):
        weights = {}
        for name, shape in layer_weights(self.size):
            if self.size.int8 and len(shape) == 2:
                scale = self.numbers(numpy.float32, shape[1:])
                weights[name] = self.numbers(numpy.int8, shape) * scale
            else:
                weights[name] = self.numbers(numpy.float32, shape)
        return weights

    def numbers(self, dtype, shape):
        """The next array of the file."""
        self.offset += -self.offset % 64
        array = numpy.fromfile(os.path.join(self.folder, "model.weights"), dtype, math.prod(shape), offset=self.offset)
        self.offset += array.nbytes
        return array.reshape(shape).astype(float)

    def layer(self, x):
        weights = self.layer_weights()

        def stepped(x):
            return numpy.clip(numpy.rint(x / STEP), -128, 127) * STEP if self.size.int8 else x

        def dense(name, x):
            return stepped(stepped(x) @ weights[name + ".weight"]) + weights[name + ".bias"]

        def norm(name, x):
            centred = x - x.mean(-1, keepdims=True)
            scaled = centred / numpy.sqrt((centred ** 2).mean(-1, keepdims=True) + EPSILON)
            return scaled * weights[name + ".weight"] + weights[name + ".bias"]

        size = self.size
        query, key, value = (dense("attention.self." + name, x).reshape(size.batch, size.sequence, size.heads, -1)
                             .transpose(0, 2, 1, 3) for name in ("query", "key", "value"))
        weight = numpy.exp(query @ key.swapaxes(-1, -2) / math.sqrt(size.hidden // size.heads))
        context = (weight / weight.sum(-1, keepdims=True) @ value).transpose(0, 2, 1, 3).reshape(x.shape)
        x = norm("attention.output.LayerNorm", dense("attention.output.dense", context) + x)
        inner = dense("intermediate.dense", x)
        inner = inner * (1 + self.erf(inner / math.sqrt(2))) / 2
        return norm("output.LayerNorm", dense("output.dense", inner) + x)

    def check(self, path):
        x = numpy.load(os.path.join(self.folder, "x.npy")).astype(float)
        for _ in range(self.size.layers):
            x = self.layer(x)
        y = numpy.load(path)
        if y.dtype != numpy.float32 or y.shape != x.shape:
            sys.exit("%s is of %s %s, not of float32 %s" % (path, y.dtype, y.shape, x.shape))
        # Values that differ in the last bit may be rounded to another step.
        error, bound = numpy.abs(y - x), 2 * STEP if self.size.int8 else 1e-4
        place = numpy.unravel_index(numpy.where(numpy.isnan(error), numpy.inf, error).argmax(), y.shape)
        if not error[place] <= bound:
            sys.exit("y%s is %g, expected %g" % (list(place), y[place], x[place]))
        print("y is the result of %d of the encoder's layers for x: off by %.1e at most" %
              (self.size.layers, error[place]))


def train(size):
    sys.dont_write_bytecode = True # beside the sources
    import training
    if size.command == "check":
        training.check(size, size.folder, [name for name, _ in layer_weights(size)], size.y)
        return
    random = numpy.random.default_rng(1)
    weights = {name: random_weight(random, name, shape) for name, shape in layer_weights(size)}
    training.Writer(size, weights).write(size.folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("command", choices=("make", "check"))
    parser.add_argument("-n", "--layers", type=int, default=24)
    for name, default in (("hidden", 1024), ("heads", 16), ("intermediate", 4096), ("sequence", 128), ("batch", 1)):
        parser.add_argument("--" + name, type=int, default=default)
    parser.add_argument("--train", action="store_true", help="forward, backward and Adam of one layer")
    parser.add_argument("--int8", action="store_true",
                        help="products with weights are of bytes: QuantizeLinear, DequantizeLinear")
    parser.add_argument("folder")
    parser.add_argument("y", nargs="?", help="check: the computed result")
    size = parser.parse_args()
    if size.layers < 1 or size.heads < 1 or size.hidden % size.heads:
        parser.error("there is at least one layer, and the heads divide the hidden size")
    if (size.command == "check") != (size.y is not None):
        parser.error("check takes a result after the folder, make takes none")
    if size.train:
        train(size)
    elif size.command == "check":
        Reference(size, size.folder).check(size.y)
    else:
        Writer(size, size.folder).model()


main()
