#!/usr/bin/python3
"""Writes ResNet-50 or MobileNetV2 as ONNX, with random weights, and checks its results with numpy.

    convnet.py make resnet50|mobilenetv2 [--size PIXELS] [--divide N] FOLDER    model.onnx and x.npy, an image
    convnet.py check model.onnx x.npy y.npy                                     y against plain sums in double precision

Layers are those of the papers; BatchNormalization is a node of its own, as from exporters that do not optimise. The
weights are the same with every call. --divide makes all layers narrower, for tests."""

import argparse
import os
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


# ---- the networks ----


class Network:
    """Nodes one after the other; `shape` of a value is (channels, pixels)."""

    def __init__(self, divide):
        self.random = numpy.random.RandomState(1)
        self.divide = divide
        self.nodes, self.weights, self.shapes = [], [], {}

    def channels(self, count):
        """The number of channels after division: at least 8, unless the count is smaller."""
        return max(count // self.divide, 8) if count > 8 else count

    def add(self, op, inputs, channels, pixels, **attributes):
        name = "/%s_%d" % (op, len(self.nodes))
        self.nodes.append(helper.make_node(op, inputs, [name + "_output"], name=name, **attributes))
        self.shapes[name + "_output"] = channels, pixels
        return name + "_output"

    def weight(self, name, values):
        self.weights.append(numpy_helper.from_array(values.astype(numpy.float32), name))
        return name

    def layer(self, x, channels, window=1, stride=1, group=1, activation=None, gain=1.0):
        """Convolution, normalisation and perhaps an activation. Gain scales the result."""
        name, (before, pixels), pad = "layer%d" % len(self.nodes), self.shapes[x], window // 2
        shape = channels, before // group, window, window
        filters = self.random.standard_normal(shape) * numpy.sqrt(2 / (shape[1] * window * window))
        pixels = (pixels + 2 * pad - window) // stride + 1
        x = self.add("Conv", [x, self.weight(name + ".weight", filters)], channels, pixels, group=group,
                     kernel_shape=[window] * 2, strides=[stride] * 2, pads=[pad] * 4, dilations=[1, 1])
        parts = {"scale": gain * self.random.uniform(0.8, 1.2, channels), "bias": self.random.normal(0, 0.1, channels),
                 "mean": self.random.normal(0, 0.1, channels), "var": self.random.uniform(0.8, 1.2, channels)}
        inputs = [self.weight("%s.%s" % (name, part), values) for part, values in parts.items()]
        x = self.add("BatchNormalization", [x] + inputs, channels, pixels, epsilon=1e-5)
        if activation == "Clip":
            return self.add("Clip", [x, "zero", "six"], channels, pixels)
        return self.add(activation, [x], channels, pixels) if activation else x

    def head(self, x, classes=1000):
        """From the last layer's planes to a number for each class."""
        channels, _ = self.shapes[x]
        x = self.add("GlobalAveragePool", [x], channels, 1)
        x = self.add("Flatten", [x], channels, 1)
        weight = self.weight("classes.weight", self.random.standard_normal((classes, channels)) / numpy.sqrt(channels))
        bias = self.weight("classes.bias", self.random.standard_normal(classes))
        self.nodes.append(helper.make_node("Gemm", [x, weight, bias], ["y"], name="/classes", transB=1))
        return classes

    def model(self, name, size, classes):
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, size, size])
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, classes])
        graph = helper.make_graph(self.nodes, name, [x], [y], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], producer_name="convnet.py",
                                 ir_version=7)


def resnet50(network):
    """He et al., Deep Residual Learning; strides in the middle convolution, as usual today."""
    x = network.layer("x", network.channels(64), 7, 2, activation="Relu")
    channels, pixels = network.shapes[x]
    x = network.add("MaxPool", [x], channels, (pixels - 1) // 2 + 1, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    for stage, (width, blocks) in enumerate([(64, 3), (128, 4), (256, 6), (512, 3)]):
        for block in range(blocks):
            inner, outer, stride = network.channels(width), network.channels(4 * width), 2 if stage and not block else 1
            y = network.layer(x, inner, activation="Relu")
            y = network.layer(y, inner, 3, stride, activation="Relu")
            y = network.layer(y, outer, gain=0.5)
            if not block:
                x = network.layer(x, outer, 1, stride)
            x = network.add("Add", [y, x], *network.shapes[y])
            x = network.add("Relu", [x], *network.shapes[y])
    return x


def mobilenetv2(network):
    """Sandler et al., Inverted Residuals and Linear Bottlenecks."""
    network.weight("zero", numpy.array(0.0))
    network.weight("six", numpy.array(6.0))
    x = network.layer("x", network.channels(32), 3, 2, activation="Clip")
    rows = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    for expansion, width, blocks, first_stride in rows:
        for block in range(blocks):
            stride, before, outer = 1 if block else first_stride, network.shapes[x][0], network.channels(width)
            y = network.layer(x, expansion * before, activation="Clip") if expansion > 1 else x
            y = network.layer(y, expansion * before, 3, stride, group=expansion * before, activation="Clip")
            y = network.layer(y, outer)
            x = network.add("Add", [x, y], *network.shapes[y]) if stride == 1 and before == outer else y
    return network.layer(x, network.channels(1280), activation="Clip")


def make(arguments):
    network = Network(arguments.divide)
    network.shapes["x"] = 3, arguments.size
    x = {"resnet50": resnet50, "mobilenetv2": mobilenetv2}[arguments.network](network)
    model = network.model(arguments.network, arguments.size, network.head(x))
    onnx.checker.check_model(model)
    onnx.save(model, os.path.join(arguments.folder, "model.onnx"))
    image = numpy.random.RandomState(2).standard_normal((1, 3, arguments.size, arguments.size))
    numpy.save(os.path.join(arguments.folder, "x.npy"), image.astype(numpy.float32))


# ---- the check ----


def windows(x, size, strides, pads, outside):
    """For each place in the window, the elements that all results use: [n, c, height, width] for each."""
    x = numpy.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])), constant_values=outside)
    high, wide = [(x.shape[2 + i] - size[i]) // strides[i] + 1 for i in range(2)]
    for row in range(size[0]):
        for column in range(size[1]):
            yield row, column, x[:, :, row : row + high * strides[0] : strides[0],
                                 column : column + wide * strides[1] : strides[1]]


def convolve(x, w, group=1, strides=(1, 1), pads=(0, 0, 0, 0), kernel_shape=(), dilations=()):
    parts = []
    for own, filters in zip(numpy.split(x, group, axis=1), numpy.split(w, group)):
        places = windows(own, w.shape[2:], strides, pads, 0)
        parts.append(sum(numpy.einsum("nchw,oc->nohw", part, filters[:, :, row, column], optimize=True)
                         for row, column, part in places))
    return numpy.concatenate(parts, axis=1)


def normalise(x, scale, bias, mean, var, epsilon):
    scale, bias, mean, var = [part.reshape(-1, 1, 1) for part in (scale, bias, mean, var)]
    return (x - mean) / numpy.sqrt(var + epsilon) * scale + bias


OPERATORS = {
    "Add": lambda a, b: a + b,
    "BatchNormalization": normalise,
    "Clip": lambda x, low, high: numpy.clip(x, low, high),
    "Conv": convolve,
    "Flatten": lambda x: x.reshape(len(x), -1),
    "Gemm": lambda a, b, c, transB: a @ b.T + c,
    "GlobalAveragePool": lambda x: x.mean(axis=(2, 3), keepdims=True),
    "MaxPool": lambda x, kernel_shape, strides, pads:
        numpy.max([part for _, _, part in windows(x, kernel_shape, strides, pads, -numpy.inf)], axis=0),
    "Relu": lambda x: numpy.maximum(x, 0),
}


def check(arguments):
    graph = onnx.load(arguments.model).graph
    values = {weight.name: numpy_helper.to_array(weight).astype(float) for weight in graph.initializer}
    values["x"] = numpy.load(arguments.x).astype(float)
    for node in graph.node:
        attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
        values[node.output[0]] = OPERATORS[node.op_type](*[values[name] for name in node.input], **attributes)
    expected, y = values["y"], numpy.load(arguments.y)
    if y.dtype != numpy.float32 or y.shape != expected.shape:
        sys.exit("y is %s %s, expected float32 %s" % (y.dtype, y.shape, expected.shape))
    worst = numpy.abs(y - expected).argmax()
    error = abs(y.flat[worst] - expected.flat[worst]) / numpy.abs(expected).max()
    if not error <= 1e-4:
        sys.exit("y[0,%d] is %g, expected %g" % (worst, y.flat[worst], expected.flat[worst]))
    print("%s: %d numbers agree to %.1g of the largest" % (graph.name, y.size, error))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make")
    making.add_argument("network", choices=["resnet50", "mobilenetv2"])
    making.add_argument("folder")
    making.add_argument("--size", type=int, default=224)
    making.add_argument("--divide", type=int, default=1)
    checking = commands.add_parser("check")
    for name in ("model", "x", "y"):
        checking.add_argument(name)
    arguments = parser.parse_args()
    make(arguments) if arguments.command == "make" else check(arguments)


if __name__ == "__main__":
    main()
