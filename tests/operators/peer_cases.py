"""Operators as ONNX Runtime is asked about them by peer.py: newer operator sets than Debian's onnx knows, and attributes and types that
ONNX's own tests do not combine. Not here is what ONNX Runtime computes otherwise than ONNX defines it: Resize with align_corners and
scales that make no whole sizes, clip of LSTM in front of its last activation, activations of RNN that have no defaults there or
overflow, and casts of floats to integers that do not hold them."""
import numpy

random = numpy.random.default_rng(7)
cases = []  # operator set, domain, operator, inputs, types of outputs ("" of one that is absent), attributes


class Constant:
    def __init__(self, items, dtype="i8"):
        self.array = numpy.array(items, dtype)


def case(op, versions, inputs, outputs=("f4",), domain="", **attributes):
    for version in versions if isinstance(versions, (list, tuple)) else [versions]:
        cases.append((version, domain, op, inputs, outputs, attributes))


def some(*shape, dtype="f4"):
    """Random numbers of any type, at most 20 and of either sign if there is one."""
    kind = dtype[0]
    if kind == "f":
        return (random.standard_normal(shape) * 2).astype(dtype)
    return random.integers(0, 2, shape).astype(bool) if kind == "b" else random.integers(0 if kind == "u" else -20, 20, shape).astype(dtype)


def below(end, *shape, low=0):
    return random.integers(low, end, shape)


def weights(*shape, dtype="f4"):
    return Constant(some(*shape, dtype=dtype), dtype)


def positive(*shape, dtype="f4"):
    return (abs(some(*shape, dtype=dtype)) + numpy.array(0.1, dtype)).astype(dtype)


def reductions():
    for op in "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare".split():
        x, versions = positive(3, 4, 5), (18, 20, 23, 24)
        for axes, attributes in ([1], {"keepdims": 0}), ([0, -1], {}), ([], {"noop_with_empty_axes": 1}):
            case(op, versions, [x, Constant(axes)], **attributes)
        case(op, versions, [x])
        case(op, versions, [x, None], noop_with_empty_axes=1, keepdims=0)
    for op in "ArgMax", "ArgMin":
        for last in 0, 1:
            case(op, 13, [numpy.round(some(4, 5, 3))], ["i8"], axis=-2, keepdims=last, select_last_index=last)
    for op in "ReduceMax", "ReduceMin":
        case(op, 20, [some(3, 4, dtype="b1"), Constant([1])], ["b1"])


def places():
    case("Split", (18, 24), [some(7, 3)], ["f4"] * 3, axis=0, num_outputs=3)
    case("Split", (2,), [some(6, 4)], ["f4"] * 2, axis=0, split=[2, 4])
    for mode in "constant", "reflect", "edge", "wrap":
        for version in (19, 21, 23, 24):
            case("Pad", version, [some(3, 4, 5), Constant([1, 2, 1, 1]), Constant(0.5, "f4") if mode == "constant" else None, Constant([0, -1])],
                 mode=mode)
            case("Pad", version, [some(5, 6), Constant([-1, 2, 0, -1])], mode=mode)
    for starts, ends, axes, steps in ([-1], [-100], [1], [-2]), ([1, 0], [100, 3], [0, -1], [1, 2]), ([3], [0], [2], [-1]):
        case("Slice", 13, [some(4, 5, 6), *map(Constant, (starts, ends, axes, steps))])
    for reduction in "none", "add", "mul", "max", "min":
        case("ScatterND", 18, [some(4, 5), below(4, 3, 1) if reduction != "none" else Constant([[2], [0], [3]]), some(3, 5)], reduction=reduction)
        case("ScatterElements", 18, [some(4, 5), below(4, 1, 5, low=-4), some(1, 5)], axis=0, reduction=reduction)
    for axis in 0, 1, -1:
        case("OneHot", 11, [below(7, 4, 3, low=-7), Constant(5, "f4"), Constant([2, 7], "i4")], ["i4"], axis=axis)
        case("TopK", (11, 24), [some(4, 9, 5), Constant([3])], ["f4", "i8"], axis=axis, largest=axis & 1)
    for batch in 0, 1:
        case("GatherND", 13, [some(2, 3, 4), below(2, 2, 2, 1, low=-2)], batch_dims=batch)
    case("GatherElements", 13, [some(3, 4), below(3, 2, 4, low=-3)], axis=0)
    for upper in 0, 1:
        for k in -2, 0, 1, 7:
            case("Trilu", 14, [some(2, 4, 5), Constant(k)], upper=upper)
            case("CumSum", 14, [some(3, 4, 5), Constant(1)], exclusive=upper, reverse=k & 1)
    case("CenterCropPad", 18, [some(10, 7, 3), Constant([11, 4])], axes=[0, 1])
    case("Col2Im", 18, [some(1, 8, 9), Constant([4, 4]), Constant([2, 2])])
    case("ReverseSequence", 10, [some(3, 4, 5), numpy.array([4, 1, 2])], batch_axis=0, time_axis=1)
    for mode in "linear", "circular":
        case("TensorScatter", 24, [some(2, 3, 8, 4), some(2, 3, 2, 4), numpy.array([1, 6])], mode=mode)


def images():
    for version in 18, 19, 23:
        for mode in "nearest", "linear", "cubic":
            for coordinates in "half_pixel", "asymmetric", "pytorch_half_pixel", "half_pixel_symmetric", "align_corners":
                if coordinates == "half_pixel_symmetric" and version < 19:
                    continue
                if coordinates != "align_corners":
                    case("Resize", version, [some(1, 2, 5, 6), None, Constant([1, 1, 1.7, 0.6], "f4")], mode=mode,
                         coordinate_transformation_mode=coordinates)
                case("Resize", version, [some(1, 2, 5, 6), None, None, Constant([1, 2, 3, 11])], mode=mode, coordinate_transformation_mode=coordinates)
            case("Resize", version, [some(1, 2, 5, 6), Constant([0, 0, 0.1, 0.2, 1, 1, 0.8, 1.1], "f4"), None, Constant([1, 2, 4, 9])], mode=mode,
                 coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=2.5)
            if mode != "nearest":
                case("Resize", version, [some(1, 2, 9, 8), None, Constant([1, 1, 0.6, 0.5], "f4")], mode=mode, antialias=1)
        for policy in "not_larger", "not_smaller":
            case("Resize", version, [some(1, 2, 5, 6), None, None, Constant([7, 9])], mode="linear", axes=[2, 3], keep_aspect_ratio_policy=policy)
        for nearest in "round_prefer_floor", "round_prefer_ceil", "floor", "ceil":
            case("Resize", version, [some(1, 2, 5, 6), None, None, Constant([8, 3])], mode="nearest", axes=[3, 2], nearest_mode=nearest)
    for mode in "nearest", "linear":
        case("Upsample", 9, [some(1, 2, 5, 6), Constant([1, 1, 2, 3], "f4")], mode=mode)
        case("Resize", 10, [some(1, 2, 5, 6), Constant([1, 1, 2.3, 0.7], "f4")], mode=mode)
    for mode in "linear", "nearest", "cubic":
        for padding in "zeros", "border", "reflection":
            for align in 0, 1:
                case("GridSample", (20, 22), [some(1, 2, 5, 6), random.uniform(-1.3, 1.3, (1, 4, 3, 2)).astype("f4")], mode=mode, padding_mode=padding,
                     align_corners=align)
    case("AffineGrid", 20, [some(2, 2, 3), Constant([2, 3, 4, 5])], align_corners=1)
    case("DFT", 20, [some(2, 10, 2), Constant(7), Constant(-2)], inverse=1)
    case("DFT", 20, [some(2, 10, 1)], onesided=1)
    for size in 1, 3, 5:
        case("LRN", 13, [some(2, 7, 3, 3)], size=size, alpha=0.3, beta=0.6, bias=1.5)


def windows():
    for version in 19, 22:
        case("AveragePool", version, [some(1, 2, 9, 9)], kernel_shape=[3, 2], dilations=[2, 1], pads=[1, 0, 1, 1], count_include_pad=1)
        case("AveragePool", version, [some(1, 2, 9, 9)], kernel_shape=[3, 2], dilations=[2, 3], strides=[2, 2], ceil_mode=1)
    for p in 1, 2, 3, 4:
        case("LpPool", (11, 18, 22), [some(1, 2, 7, 8)], kernel_shape=[3, 2], p=p, strides=[2, 1], pads=[1, 0, 1, 1])
        case("LpPool", (18, 22), [some(1, 2, 9, 9)], kernel_shape=[3, 2], dilations=[2, 1], p=p, ceil_mode=1)
        case("GlobalLpPool", 2, [some(1, 3, 4, 5)], p=p)
    for d in 1, 2, 3:
        image, window, twos = [9, 8, 6][:d], [3, 2, 2][:d], [2] * d
        uneven = [1] * d + [0] * d
        for group in 1, 2, 4:
            case("Conv", (11, 22), [some(2, 4, *image), some(8, 4 // group, *window), some(8)], group=group, kernel_shape=window)
            case("Conv", (11, 22), [some(2, 4, *image), weights(8, 4 // group, *window)], group=group, strides=twos, pads=uneven, dilations=twos)
            case("ConvTranspose", (11, 22), [some(2, 4, *image), some(4, 3, *window), some(3 * group)], group=group, strides=twos, pads=uneven,
                 output_padding=[1] * d)
            case("ConvTranspose", 11, [some(2, 4, *image), weights(4, 3, *window)], group=group, strides=[3] * d, dilations=twos)
        for padding in "SAME_UPPER", "SAME_LOWER", "VALID":
            case("Conv", 11, [some(1, 2, *image), some(3, 2, *window)], auto_pad=padding, strides=twos)
            case("ConvTranspose", 11, [some(1, 2, *image), some(2, 3, *window)], auto_pad=padding, strides=twos)
            case("MaxPool", 12, [some(1, 2, *image)], auto_pad=padding, kernel_shape=window, strides=twos)
            case("AveragePool", 11, [some(1, 2, *image)], auto_pad=padding, kernel_shape=window, strides=twos, count_include_pad=1)
        for ceiling in 0, 1:
            case("MaxPool", (12, 22), [some(1, 2, *image)], ["f4", "i8"], kernel_shape=[3] * d, strides=twos, pads=uneven, ceil_mode=ceiling)
            case("AveragePool", 11, [some(1, 2, *image)], kernel_shape=[3] * d, strides=twos, pads=uneven, ceil_mode=ceiling)


def recurrent():
    for direction in "forward", "reverse", "bidirectional":
        n = 2 if direction == "bidirectional" else 1
        x, h, lengths = some(5, 2, 3), some(n, 2, 4), numpy.array([5, 3], "i4")
        common = {"hidden_size": 4, "direction": direction}

        def gates(count):
            return some(n, count * 4, 3), some(n, count * 4, 4), some(n, 2 * count * 4)
        for version in 14, 22:
            case("LSTM", version, [x, *gates(4), lengths, h, h / 2, some(n, 12)], ["f4"] * 3, **common)
            case("LSTM", version, [x, *gates(4)], ["f4", "", "f4"], input_forget=1, **common)
            case("GRU", version, [x, *gates(3), lengths, h], ["f4"] * 2, **common)
            case("GRU", version, [x, *gates(3), lengths, h], ["f4"] * 2, linear_before_reset=1, clip=0.5, **common)
            case("RNN", version, [x, *gates(1), lengths, h], ["f4"] * 2, **common)
        case("LSTM", 14, [x, *gates(4)], ["f4"] * 3, activations=["HardSigmoid", "Relu", "Softsign"] * n, activation_alpha=[0.3] * n,
             activation_beta=[0.4] * n, **common)
        for activation in "Relu Tanh Sigmoid LeakyRelu Elu HardSigmoid Softsign".split():
            case("RNN", 14, [x, *gates(1)], ["f4"] * 2, activations=[activation] * n, **common)


def attention():
    q, k, v, state = some(2, 4, 6, 8), some(2, 2, 9, 8), some(2, 2, 9, 8), some(2, 2, 3, 8)
    for version in 23, 24:
        case("Attention", version, [q, k, v])
        case("Attention", version, [q, k, v], is_causal=1)
        case("Attention", version, [q, k, v], scale=0.3, softcap=1.5)
        case("Attention", version, [q, k, v, some(6, 9)])
        case("Attention", version, [q, k, v, some(2, 1, 6, 9, dtype="b1")])
        case("Attention", version, [q, k, v, some(2, 4, 6, 9)], is_causal=1)
        case("Attention", version, [some(2, 6, 32), some(2, 9, 16), some(2, 9, 16)], q_num_heads=4, kv_num_heads=2)
        case("Attention", version, [q, k, v, None, state, state], ["f4"] * 3)
        for shape, at in ([2, 4, 6, 8], {}), ([2, 6, 32], {"num_heads": 4}), ([2, 4, 6, 8], {"interleaved": 1}):
            case("RotaryEmbedding", version, [some(*shape), weights(20, 4), weights(20, 4), below(20, 2, 6)], **at)
        case("RotaryEmbedding", version, [some(2, 4, 6, 8), weights(20, 2), weights(20, 2), below(20, 2, 6)], rotary_embedding_dim=4)
        case("RotaryEmbedding", version, [some(2, 4, 6, 8), some(2, 6, 4), some(2, 6, 4)])
        case("RMSNormalization", version, [some(4, 6, 8), weights(6, 8)], axis=1)
    for causal in 0, 1:
        case("Attention", 24, [q, k, v, None, None, None, numpy.array([5, 9])], is_causal=causal)
    for alpha in 1.0, 1.7:
        case("Swish", 24, [some(4, 33)], alpha=alpha)


def normalisations():
    for version in 18, 21, 24:
        case("LayerNormalization", version, [some(4, 6, 8), weights(8), weights(8)], ["f4"] * 3)
        case("BatchNormalization", version, [some(2, 3, 4), weights(3), weights(3), weights(3), Constant(positive(3), "f4")])
    for op in "Softmax", "LogSoftmax", "Hardmax":
        for version in 1, 11, 13, 24:
            for axis in 0, 1, 2:
                case(op, version, [some(3, 4, 5)], axis=axis)
    case("BatchNormalization", 15, [some(3, 4, 5), some(4), some(4), some(4), positive(4)], ["f4"] * 3, training_mode=1, momentum=0.7)
    case("GroupNormalization", 21, [some(2, 6, 5), some(6), some(6)], num_groups=3, epsilon=1e-3)
    case("GroupNormalization", 18, [some(2, 6, 5), some(3), some(3)], num_groups=3)
    case("MeanVarianceNormalization", 13, [some(2, 3, 4, 5)], axes=[0, 2])
    for p in 1, 2:
        case("LpNormalization", (1, 22), [some(2, 3, 7)], axis=1, p=p)
    for op, outputs in ("NegativeLogLikelihoodLoss", ["f4"]), ("SoftmaxCrossEntropyLoss", ["f4", "f4"]):
        for reduction in "none", "mean", "sum":
            for attributes in {}, {"ignore_index": 2}:
                case(op, 13, [some(4, 5, 3), below(5, 4, 3), positive(5)], outputs, reduction=reduction, **attributes)
    shapes = {"ii->i": [(4, 4)], "ij,jk,kl->il": [(2, 3), (3, 4), (4, 5)], "bij,bij->b": [(2, 3, 4)] * 2, "abc->cab": [(2, 3, 4)], "ab,ab": [(2, 3)] * 2,
              "iij->j": [(3, 3, 4)], "abcd,cbe->ade": [(2, 3, 4, 5), (4, 3, 6)], "i->": [(4,)], "...ij,...jk->...ik": [(2, 1, 3, 4), (5, 4, 2)]}
    for equation, of in shapes.items():
        case("Einsum", 12, [some(*shape) for shape in of], equation=equation)


def quantised():
    x, bytes_of = some(4, 6) * 3, some(4, 6, dtype="u1")
    for version in 19, 21, 23, 24:
        case("QuantizeLinear", version, [x, Constant(0.05, "f4"), Constant(128, "u1")], ["u1"])
        case("QuantizeLinear", version, [x, Constant([0.05, 0.1, 0.2, 0.3], "f4"), Constant([1, -2, 3, 0], "i1")], ["i1"], axis=0)
        case("DequantizeLinear", version, [bytes_of, Constant(positive(6), "f4"), weights(6, dtype="u1")], axis=-1)
        if version > 19:
            case("QuantizeLinear", version, [x, Constant(positive(4, 2), "f4"), weights(4, 2, dtype="u1")], ["u1"], axis=1, block_size=3)
            case("QuantizeLinear", version, [x, Constant(positive(2, 6), "f4")], ["i1"], axis=0, block_size=2, output_dtype=3)
            case("DequantizeLinear", version, [bytes_of, Constant(positive(2, 6), "f4"), weights(2, 6, dtype="u1")], axis=0, block_size=2)
            case("QLinearMatMul", version, [bytes_of, Constant(0.1, "f4"), Constant(120, "u1"), weights(6, 3, dtype="u1"), Constant(0.2, "f4"),
                                            Constant(100, "u1"), Constant(3, "f4"), Constant(110, "u1")], ["u1"])
    case("DynamicQuantizeLinear", 11, [x], ["u1", "f4", "u1"])
    case("QLinearConv", 10, [some(1, 2, 5, 5, dtype="u1"), Constant(0.1, "f4"), Constant(120, "u1"), weights(3, 2, 3, 3, dtype="i1"),
                             Constant([0.1, 0.2, 0.3], "f4"), Constant([0, 0, 0], "i1"), Constant(3, "f4"), Constant(110, "u1")], ["u1"])


def microsoft():
    x, bias = some(2, 3, 8), some(8)
    for op, inputs in ("BiasGelu", [x, bias]), ("FastGelu", [x, bias]), ("FastGelu", [x]), ("Gelu", [x]), ("QuickGelu", [x]):
        case(op, 17, inputs, domain="com.microsoft")
    case("SkipLayerNormalization", 17, [x, some(2, 3, 8), bias, some(8), some(8)], ["f4", "", "", "f4"], "com.microsoft", epsilon=1e-3)
    case("SkipSimplifiedLayerNormalization", 17, [x, some(2, 3, 8), bias, some(8)], ["f4", "", "", "f4"], "com.microsoft")
    case("SimplifiedLayerNormalization", 17, [x, bias], axis=-1)
    for interleaved in 0, 1:
        case("RotaryEmbedding", 17, [some(2, 6, 32), numpy.array([3]), weights(20, 4), weights(20, 4)], domain="com.microsoft", interleaved=interleaved)
    for size in 16, 32:
        k, n, blocks = 64, 5, 64 // size
        numbers, scales = Constant(below(256, n, blocks, size // 2), "u1"), Constant(positive(n * blocks), "f4")
        for zeros in [], [Constant(below(256, n * (blocks // 2)), "u1")]:
            case("MatMulNBits", 17, [some(3, k), numbers, scales, *zeros], domain="com.microsoft", K=k, N=n, bits=4, block_size=size)


def types():
    integers, floats = "i1 i2 i4 i8 u1 u2 u4 u8".split(), ["f2", "f4", "f8"]
    for t in integers + floats:
        x, y, divisor = some(3, 4, dtype=t), some(4, dtype=t), some(3, 4, dtype=t)
        divisor[divisor == 0] = 3
        for op in "Add Sub Mul Max Min Sum Mean".split():
            case(op, 14, [x, y], [t])
        case("Div", 14, [x, divisor], [t])
        case("Mod", 13, [x, divisor], [t], fmod=1 if t in floats else 0)
        for op in "Equal Greater Less GreaterOrEqual LessOrEqual".split():
            case(op, 19, [x, y], ["b1"])
        for op in "Abs", "Sign", "Relu", *(["Neg"] if t[0] != "u" else []):
            case(op, 14, [some(3, 40, dtype=t)], [t])
        for op in "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceSumSquare".split():
            case(op, 18, [some(3, 5, 4, dtype=t), Constant([1])], [t])
        case("Clip", 13, [x, Constant(1, t), Constant(9, t)], [t])
        case("Where", 16, [some(3, 4, dtype="b1"), y, x], [t])
        case("MatMul", 13, [x, some(4, 5, dtype=t)], [t])
        case("Gemm", 13, [x, some(4, 5, dtype=t), some(5, dtype=t)], [t])
        case("TopK", 11, [some(3, 9, dtype=t), Constant([4])], [t, "i8"])
        case("CumSum", 14, [x, Constant(0)], [t])
        case("Pow", 15, [abs(x), Constant(2, t)], [t])
        for to in integers + floats:
            if t not in floats or to in floats:
                case("Cast", 21, [abs(x) if to[0] == "u" else x], [to], to=to)
        if t in integers:
            for op in "BitwiseAnd BitwiseOr BitwiseXor".split():
                case(op, 18, [x, y], [t])
    for t in floats:
        for op in ("Ceil Floor Round Exp Sin Cos Tan Atan Sinh Cosh Tanh Asinh Sigmoid Erf Softplus Softsign Elu Selu Celu LeakyRelu HardSigmoid HardSwish "
                   "Mish Gelu ThresholdedRelu Shrink IsNaN IsInf").split():
            case(op, 22, [some(4, 33, dtype=t)], ["b1" if op[:2] == "Is" else t])
        for op in "Sqrt", "Log", "Reciprocal":
            case(op, 22, [positive(4, 33, dtype=t)], [t])
        case("Conv", 22, [some(1, 2, 5, 5, dtype=t), some(3, 2, 3, 3, dtype=t), some(3, dtype=t)], [t])
        case("LayerNormalization", 17, [some(3, 8, dtype=t), some(8, dtype=t), some(8, dtype=t)], [t])
        case("Attention", 23, [some(1, 2, 3, 8, dtype=t), some(1, 2, 5, 8, dtype=t), some(1, 2, 5, 8, dtype=t)], [t])
        case("QuantizeLinear", 23, [x, Constant(0.1, "f8")] if t == "f8" else [some(3, 4, dtype=t), Constant(0.1, t)], ["u1"])


for make in reductions, places, images, windows, recurrent, attention, normalisations, quantised, microsoft, types:
    make()
