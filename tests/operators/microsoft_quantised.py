"""Random nodes of com.microsoft's quantised and fused operators, as models of one node (tests/lib/models.py), with what they are
to compute: microsoft_quantised.py SEED COUNT prints the names of the models that it has written."""
import math
import sys

import models
import numpy
from models import numbers

SINGLE = numpy.float32


def draw(probability):
    return models.random.random() < probability


def whole(least, most):
    return int(models.random.integers(least, most + 1))


class Kind:
    """u8 or i8: tensors, zero points, and the two conversions in f32, as ONNX defines them."""

    def __init__(self):
        self.dtype = [numpy.uint8, numpy.int8][whole(0, 1)]
        self.limits = numpy.iinfo(self.dtype)

    def tensor(self, *shape):
        return models.random.integers(self.limits.min, self.limits.max + 1, shape).astype(self.dtype)

    def zero(self):
        return numpy.array(self.limits.min + whole(100, 150), self.dtype)

    def quantise(self, numbers, scale, zero):
        rounded = numpy.rint(numbers.astype(SINGLE) / scale) + zero
        return numpy.clip(rounded, self.limits.min, self.limits.max).astype(self.dtype)


def scale():
    return numpy.array(0.01 + models.random.random() / 20, SINGLE)


def real(tensor, scale, zero):
    return (tensor.astype(numpy.int32) - zero).astype(SINGLE) * scale


def save(name, op, operands, results, attributes={}, order=None, constants=()):
    models.save(name, op, operands, results, attributes, order, models.MICROSOFT, constants=constants)


def two(name):
    kind, op = Kind(), ["Add", "Mul"][whole(0, 1)]
    a, b = kind.tensor(2, 3, 4, 5), kind.tensor(*[(2, 3, 4, 5), (5,), (3, 1, 1), ()][whole(0, 3)])
    scales, zeros = [scale(), scale(), scale()], [kind.zero() for _ in range(3)]
    x, y = real(a, scales[0], zeros[0]), real(b, scales[1], zeros[1])
    operands = {"a": a, "as": scales[0], "az": zeros[0], "b": b, "bs": scales[1], "bz": zeros[1], "cs": scales[2], "cz": zeros[2]}
    save(name, "QLinear" + op, operands, {"c": kind.quantise(x + y if op == "Add" else x * y, scales[2], zeros[2])})


def pooled(x, size, strides, pads, padded):
    """AveragePool of [batch, channels, height, width]."""
    wide = numpy.pad(x.astype(float), ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    ones = numpy.pad(numpy.ones(x.shape), ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])), constant_values=int(padded))
    ends = [(wide.shape[2 + i] - size[i]) // strides[i] + 1 for i in range(2)]
    y = numpy.empty((*x.shape[:2], *ends))
    for i in range(ends[0]):
        for j in range(ends[1]):
            window = numpy.s_[:, :, i * strides[0]:i * strides[0] + size[0], j * strides[1]:j * strides[1] + size[1]]
            y[:, :, i, j] = wide[window].sum((2, 3)) / ones[window].sum((2, 3))
    return y


def one(name):
    kind = Kind()
    op = ["Sigmoid", "LeakyRelu", "GlobalAveragePool", "AveragePool", "Softmax", "ReduceMean"][whole(0, 5)]
    x, scales, zeros = kind.tensor(2, 3, 4, 5), [scale(), scale()], [kind.zero(), kind.zero()]
    r, attributes = real(x, scales[0], zeros[0]), {}
    if op == "Sigmoid":
        scales[1] = numpy.array(1 / 200, SINGLE)
        y = 1 / (1 + numpy.exp(-r))
    elif op == "LeakyRelu":
        attributes = {"alpha": 0.2}
        y = numpy.where(r < 0, r * SINGLE(0.2), r)
    elif op == "GlobalAveragePool":
        attributes = {"channels_last": whole(0, 1)}
        y = r.mean((1, 2) if attributes["channels_last"] else (2, 3), keepdims=True)
    elif op == "AveragePool":
        pads = [1, 0, 0, 1] if draw(0.5) else [0, 0, 0, 0]
        attributes = {"kernel_shape": [2, 3], "strides": [1, 2], "pads": pads, "count_include_pad": whole(0, 1), "channels_last": whole(0, 1)}
        moved = r.transpose(0, 3, 1, 2) if attributes["channels_last"] else r
        y = pooled(moved, [2, 3], [1, 2], pads, attributes["count_include_pad"])
        y = y.transpose(0, 2, 3, 1) if attributes["channels_last"] else y
    elif op == "Softmax":
        attributes = {"axis": whole(1, 3), "opset": [11, 13][whole(0, 1)]}
        axes = tuple(range(attributes["axis"], 4)) if attributes["opset"] == 11 else attributes["axis"]
        scales[1], zeros[1] = numpy.array(1 / 256, SINGLE), numpy.array(kind.limits.min, kind.dtype)
        y = numpy.exp(r - r.max(axes, keepdims=True))
        y = y / y.sum(axes, keepdims=True)
    else:
        attributes = {"axes": [1, 3], "keepdims": whole(0, 1)}
        y = r.mean((1, 3), keepdims=bool(attributes["keepdims"]))
    operands = {"x": x, "xs": scales[0], "xz": zeros[0], "ys": scales[1], "yz": zeros[1]}
    save(name, "QLinear" + op, operands, {"y": kind.quantise(y, scales[1], zeros[1])}, attributes, constants=("ys",))


def several(name):
    kind = Kind()
    x, y, scales, zeros = kind.tensor(2, 3, 4), kind.tensor(2, 2, 4), [scale() for _ in range(3)], [kind.zero() for _ in range(3)]
    if draw(0.5):
        joined = numpy.concatenate([real(x, scales[0], zeros[0]), real(y, scales[1], zeros[1])], 1)
        operands = {"zs": scales[2], "zz": zeros[2], "x": x, "xs": scales[0], "xz": zeros[0], "y": y, "ys": scales[1], "yz": zeros[1]}
        save(name, "QLinearConcat", operands, {"z": kind.quantise(joined, scales[2], zeros[2])}, {"axis": 1})
        return
    chosen = models.random.integers(0, 2, (2, 1, 4)).astype(bool)
    y = kind.tensor(3, 4)
    z = numpy.where(chosen, real(x, scales[0], zeros[0]), real(y, scales[1], zeros[1]))
    operands = {"c": chosen, "x": x, "xs": scales[0], "xz": zeros[0], "y": y, "ys": scales[1], "yz": zeros[1], "zs": scales[2], "zz": zeros[2]}
    save(name, "QLinearWhere", operands, {"z": kind.quantise(z, scales[2], zeros[2])})


def integer(name):
    """Products of u8 and i8 with full sums: MatMulIntegerToFloat, DynamicQuantizeMatMul, QGemm."""
    form = whole(0, 2)
    b, per_column = models.random.integers(-128, 128, (8, 6)).astype(numpy.int8), draw(0.5)
    scales = (0.01 + models.random.random(6) / 50).astype(SINGLE) if per_column else numpy.array(0.02, SINGLE)
    zeros = models.random.integers(-9, 9, 6).astype(numpy.int8) if per_column else numpy.array(3, numpy.int8)
    weights = (b.astype(float) - zeros) * scales
    bias = numbers(6)
    if form == 0:
        a, zero, factor = models.random.integers(0, 256, (2, 3, 8)).astype(numpy.uint8), numpy.array(120, numpy.uint8), scale()
        operands = {"a": a, "b": b, "as": factor, "bs": scales, "az": zero, "bz": zeros, "bias": bias}
        y = ((a.astype(float) - zero) * factor) @ weights + bias
        save(name, "MatMulIntegerToFloat", operands, {"y": y.astype(SINGLE)}, constants=("b", "bs", "bz"))
    elif form == 1:
        a = numbers(4, 8)
        least, most = min(a.min(), SINGLE(0)), max(a.max(), SINGLE(0))
        factor = SINGLE((most - least) / SINGLE(255))
        zero = numpy.rint(numpy.clip((0 - least) / factor, 0, 255))
        quantised = numpy.clip(numpy.rint(a / factor) + zero, 0, 255)
        y = (quantised - zero) * float(factor) @ weights + bias
        save(name, "DynamicQuantizeMatMul", {"a": a, "b": b, "bs": scales, "bz": zeros, "bias": bias}, {"y": y}, constants=("b", "bz"))
    else:
        turned, alpha, quantised = [whole(0, 1), whole(0, 1)], [1.0, 0.5][whole(0, 1)], draw(0.5)
        a, zero, factor = models.random.integers(0, 256, (3, 8)).astype(numpy.uint8), numpy.array(120, numpy.uint8), scale()
        c = models.random.integers(-500, 500, 6).astype(numpy.int32)
        sums = (a.astype(numpy.int64) - zero) @ (b.astype(numpy.int64) - zeros) + c
        y = sums * (alpha * factor * scales.astype(float))
        operands = {"a": numpy.ascontiguousarray(a.T) if turned[0] else a, "as": factor, "az": zero,
                    "b": numpy.ascontiguousarray(b.T) if turned[1] else b, "bs": scales, "bz": zeros, "c": c}
        if quantised:
            kind = Kind()
            operands |= {"ys": numpy.array(0.5, SINGLE), "yz": kind.zero()}
            y = kind.quantise(y, operands["ys"], operands["yz"])
        save(name, "QGemm", operands, {"y": y if quantised else y.astype(SINGLE)}, {"transA": turned[0], "transB": turned[1], "alpha": alpha},
             constants=("b", "bs", "bz"))


def activated(name, parameters):
    return {
        "Relu": lambda x: numpy.maximum(x, 0),
        "Tanh": numpy.tanh,
        "Sigmoid": lambda x: 1 / (1 + numpy.exp(-x)),
        "LeakyRelu": lambda x: numpy.where(x < 0, parameters[0] * x, x),
        "Clip": lambda x: numpy.clip(x, *parameters),
        "Elu": lambda x: numpy.where(x < 0, parameters[0] * numpy.expm1(numpy.minimum(x, 0)), x),
        "HardSwish": lambda x: x * numpy.clip(x / 6 + 0.5, 0, 1),
        "HardSigmoid": lambda x: numpy.clip(parameters[0] * x + parameters[1], 0, 1),
    }[name]


def fused(name):
    """FusedMatMul with its four kinds of transposition, FusedGemm and convolutions with activations and a sum."""
    form = whole(0, 2)
    activation = ["Relu", "Tanh", "Sigmoid", "LeakyRelu", "HardSigmoid", "Elu", "HardSwish", "Clip"][whole(0, 6 if form == 1 else 7)]
    parameters = {"Elu": [0.5], "LeakyRelu": [0.25], "HardSigmoid": [0.25, 0.5], "Clip": [-0.5, 1.0]}.get(activation, [])
    if form == 0:
        turned = {n: whole(0, 1) for n in ("transA", "transB", "transBatchA", "transBatchB")}
        a, b = numbers(2, 3, 4, 5), numbers(2, 3, 5, 6)
        operands = {}
        for key, tensor in (("A", a), ("B", b)):
            tensor = tensor.swapaxes(2, 3) if turned["trans" + key] else tensor
            tensor = numpy.moveaxis(tensor, 2, 0) if turned["transBatch" + key] else tensor
            operands[key] = numpy.ascontiguousarray(tensor)
        save(name, "FusedMatMul", operands, {"y": 0.125 * (a.astype(float) @ b)}, turned | {"alpha": 0.125})
    elif form == 1:
        a, b, c = numbers(3, 4), numbers(4, 5), numbers(5)
        attributes = {"activation": activation, "alpha": 0.5, "beta": 2.0}
        attributes |= dict(zip(("activation_alpha", "activation_beta"), parameters))
        y = activated(activation, parameters)(0.5 * (a.astype(float) @ b) + 2 * c)
        save(name, "FusedGemm", {"a": a, "b": b, "c": c}, {"y": y}, attributes)
    else:
        last = draw(0.5)
        x, w, bias, addend = numbers(2, 4, 5, 6), numbers(3, 4, 3, 3), numbers(3), numbers(2, 3, 5, 6)
        wide = numpy.pad(x.astype(float), ((0, 0), (0, 0), (1, 1), (1, 1)))
        y = sum(numpy.einsum("ncij,oc->noij", wide[:, :, i:i + 5, j:j + 6], w[:, :, i, j]) for i in range(3) for j in range(3))
        y = y + bias[:, None, None]
        operands, order = {"x": x, "w": w, "bias": bias}, ["x", "w", "bias"]
        if draw(0.5):
            operands["z"] = addend
            order.append("z")
            y = y + addend
        y = activated(activation, parameters)(y)
        if last:
            operands = {n: numpy.ascontiguousarray(a.transpose(0, 2, 3, 1)) if n in "xz" else a for n, a in operands.items()}
            y = y.transpose(0, 2, 3, 1)
        attributes = {"activation": activation, "pads": [1, 1, 1, 1], "kernel_shape": [3, 3]}
        attributes |= {"activation_params": parameters} if parameters else {}
        save(name, "NhwcFusedConv" if last else "FusedConv", operands, {"y": y}, attributes, order)


def embedding(name):
    ids = models.random.integers(0, 9, (2, 5)).astype(numpy.int32)
    words, places, kinds, gamma, beta = numbers(9, 8), numbers(7, 8), numbers(2, 8), numbers(8), numbers(8)
    operands, order = {"ids": ids}, ["ids", "", "words", "places", "", "gamma", "beta", "", ""]
    total = words[ids].astype(float)
    if draw(0.5):
        operands |= {"segments": models.random.integers(0, 2, (2, 5)).astype(numpy.int32), "kinds": kinds}
        order[1], order[4] = "segments", "kinds"
        total = total + kinds[operands["segments"]]
    operands |= {"words": words, "places": places, "gamma": gamma, "beta": beta}
    counts = numpy.zeros(2, numpy.int32)
    if draw(0.5):
        operands["mask"] = models.random.integers(0, 2, (2, 5)).astype(numpy.int32)
        order[7], counts = "mask", operands["mask"].sum(1).astype(numpy.int32)
    at = numpy.arange(5)
    if draw(0.5):
        at = models.random.integers(0, 7, (2, 5)).astype(numpy.int32)
        operands["at"], order[8] = at, "at"
    total = total + places[at]
    off = total - total.mean(-1, keepdims=True)
    y = off / numpy.sqrt((off ** 2).mean(-1, keepdims=True) + 1e-3) * gamma + beta
    while not order[-1]:
        order.pop()
    save(name, "EmbedLayerNormalization", operands, {"y": y, "counts": counts, "sum": total}, {"epsilon": 1e-3}, order)


def embedding_of_bytes(name):
    """QEmbedLayerNormalization: each table has a scale and a zero point."""
    ids, segments = models.random.integers(0, 9, (2, 5)).astype(numpy.int32), models.random.integers(0, 2, (2, 5)).astype(numpy.int32)
    kind = Kind()
    tables = [kind.tensor(*shape) for shape in ((9, 8), (7, 8), (2, 8), (8,), (8,))]
    scales, zeros = [scale() for _ in tables], [kind.zero() for _ in tables]
    words, places, kinds, gamma, beta = (real(*one) for one in zip(tables, scales, zeros))
    total = words[ids].astype(float) + kinds[segments] + places[:5]
    off = total - total.mean(-1, keepdims=True)
    y = off / numpy.sqrt((off ** 2).mean(-1, keepdims=True) + 1e-3) * gamma + beta
    mask = models.random.integers(0, 2, (2, 5)).astype(numpy.int32)
    names = ["words", "places", "kinds", "gamma", "beta"]
    operands = {"ids": ids, "segments": segments} | dict(zip(names, tables)) | {"mask": mask}
    operands |= {n + "_s": a for n, a in zip(names, scales)} | {n + "_z": a for n, a in zip(names, zeros)}
    save(name, "QEmbedLayerNormalization", operands, {"y": y.astype(SINGLE), "counts": mask.sum(1).astype(numpy.int32)}, {"epsilon": 1e-3})


def lstm(name):
    """DynamicQuantizeLSTM, of which inputs stay floats; scales of a direction, or of each gate."""
    steps, batch, width, size, each = whole(1, 4), whole(1, 3), whole(1, 5), whole(1, 4), draw(0.5)
    kind, x = Kind(), numbers(steps, batch, width)
    w, r, bias = kind.tensor(1, width, 4 * size), kind.tensor(1, size, 4 * size), numbers(1, 8 * size)
    count = (1, 4 * size) if each else (1,)
    scales = [(0.003 + models.random.random(count) / 400).astype(SINGLE) for _ in range(2)]
    zeros = [models.random.integers(kind.limits.min + 100, kind.limits.min + 150, count).astype(kind.dtype) for _ in range(2)]
    wide = [(m.astype(float) - z.reshape(1, 1, -1)) * s.reshape(1, 1, -1) for m, z, s in zip((w, r), zeros, scales)]
    h, c, y = numpy.zeros((batch, size)), numpy.zeros((batch, size)), []
    for step in x.astype(float):
        gates = step @ wide[0][0] + h @ wide[1][0] + bias[0, :4 * size] + bias[0, 4 * size:]
        i, o, f, g = numpy.split(gates, 4, -1)
        i, o, f = (1 / (1 + numpy.exp(-a)) for a in (i, o, f))
        c = f * c + i * numpy.tanh(g)
        h = o * numpy.tanh(c)
        y.append(h[None])
    operands = {"x": x, "w": w, "r": r, "bias": bias, "ws": scales[0], "wz": zeros[0], "rs": scales[1], "rz": zeros[1]}
    save(name, "DynamicQuantizeLSTM", operands, {"y": numpy.stack(y).astype(SINGLE), "h": h[None].astype(SINGLE), "c": c[None].astype(SINGLE)},
         {"hidden_size": size}, ["x", "w", "r", "bias", "", "", "", "", "ws", "wz", "rs", "rz"], ["w", "r", "ws", "wz", "rs", "rz"])


def blocks(name):
    """GatherBlockQuantized of 4 bits, two in a byte, or 8, and MatMulNBits of 8 bits."""
    bits, size, count, rows = [4, 8][whole(0, 1)], 16, whole(1, 4), whole(3, 9)
    zeros, k = draw(0.5), count * size - whole(0, 15)
    numbers_of = models.random.integers(0, 1 << bits, (rows, count * size))
    scales = (models.random.random((rows, count)) / 10).astype(SINGLE)
    zero = models.random.integers(0, 1 << bits, (rows, count + count % 2)) if zeros else numpy.full((rows, count + 1), 1 << bits - 1)
    real = (numbers_of.reshape(rows, count, size) - zero[:, :count, None]) * scales.astype(float)[:, :, None]
    real = real.reshape(rows, -1)
    packed = lambda a: (a[:, ::2] | a[:, 1::2] << 4 if bits == 4 else a).astype(numpy.uint8)
    if bits == 4 or draw(0.5):
        places = models.random.integers(0, rows, (2, 3))
        operands = {"scales": scales, "table": packed(numbers_of), "places": places}
        order = ["table", "places", "scales"]
        if zeros:
            operands["zeros"] = packed(zero if bits == 4 else zero[:, :count])
            order.append("zeros")
        save(name, "GatherBlockQuantized", operands, {"y": real[places]}, {"bits": bits, "block_size": size}, order)
        return
    x = numbers(2, k)
    operands = {"x": x, "b": packed(numbers_of).reshape(rows, count, size), "s": scales.reshape(-1)}
    order = ["x", "b", "s", "", "", ""]
    if zeros:
        operands["z"], order[3] = packed(zero[:, :count]).reshape(-1), "z"
    y = x.astype(float) @ real[:, :k].T
    if draw(0.5):
        operands["c"], order[5] = numbers(rows), "c"
        y = y + operands["c"]
    while not order[-1]:
        order.pop()
    save(name, "MatMulNBits", operands, {"y": y}, {"K": k, "N": rows, "bits": 8, "block_size": size}, order)


def diffusion(name):
    """BiasSplitGelu, and GroupNorm with its Swish."""
    if draw(0.5):
        x, bias = numbers(2, 3, 8), numbers(8)
        left, right = numpy.split(x.astype(float) + bias, 2, -1)
        y = left * right / 2 * (1 + numpy.vectorize(math.erf)(right / math.sqrt(2)))
        save(name, "BiasSplitGelu", {"x": x, "bias": bias}, {"y": y})
        return
    last, swish = whole(0, 1), whole(0, 1)
    x, gamma, beta = numbers(2, 6, 3, 4), numbers(6), numbers(6)
    parts = x.astype(float).reshape(2, 3, -1)
    parts = (parts - parts.mean(2, keepdims=True)) / numpy.sqrt(parts.var(2, keepdims=True) + 1e-3)
    y = parts.reshape(x.shape) * gamma[:, None, None] + beta[:, None, None]
    y = y / (1 + numpy.exp(-y)) if swish else y
    if last:
        x, y = numpy.ascontiguousarray(x.transpose(0, 2, 3, 1)), y.transpose(0, 2, 3, 1)
    save(name, "GroupNorm", {"x": x, "gamma": gamma, "beta": beta}, {"y": y},
         {"epsilon": 1e-3, "groups": 3, "activation": swish, "channels_last": last})


models.random = numpy.random.default_rng(int(sys.argv[1]))
for number in range(int(sys.argv[2])):
    kind = (two, one, several, integer, fused, embedding, one, blocks, integer, diffusion, fused, blocks, lstm, embedding_of_bytes)[number % 14]
    kind(f"{kind.__name__}{number}")
    print(f"{kind.__name__}{number}")
