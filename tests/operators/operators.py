"""What ONNX's own tests (of Debian's version) do not ask of operators: features of newer operator sets, and of older ones
that they leave out. operators.py SKLINK SKRUN LIBRARIES

Cases of one operator set are nodes of one model, so that one link and one run do for all of them. What is expected is
written out, or computed by numpy."""
import math
import re
import subprocess
import sys

import numpy
import onnx
from onnx import helper, numpy_helper
from onnx.backend.test.case.node.resize import cubic_coeffs, interpolate_nd, linear_coeffs

f32, i64 = numpy.float32, numpy.int64
cases = []


def case(opset, op, inputs, expected, **attributes):
    """Inputs are arrays, given when the package runs, or ("constant", array), or None: absent; so may outputs be."""
    cases.append((opset, op, inputs, [array if array is None else numpy.asarray(array) for array in expected], attributes))


def case_and_absences(opset, op, inputs, expected, **attributes):
    """The case, and the same with each choice of its outputs: none is another one because those beside it are absent."""
    for chosen in range(1, 1 << len(expected)):
        case(opset, op, inputs, [array if chosen >> i & 1 else None for i, array in enumerate(expected)], **attributes)


def constant(items, dtype=i64):
    return "constant", numpy.array(items, dtype)


def type_of(array):
    return onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[array.dtype]


def make_model(opset, chosen):
    nodes, inputs, initializers, outputs, known, fed, wanted = [], [], [], [], {}, {}, {}
    for number, (_, op, given, expected, attributes) in enumerate(chosen):
        names = []
        for i, array in enumerate(given):
            names.append("" if array is None else known.setdefault(id(array), f"x{number}_{i}"))
            if names[-1] != f"x{number}_{i}": # absent, or also in another case
                continue
            if isinstance(array, tuple):
                initializers.append(numpy_helper.from_array(array[1], names[-1]))
            else:
                inputs.append(helper.make_tensor_value_info(names[-1], type_of(array), array.shape))
                fed[names[-1]] = array
        made = ["" if array is None else f"y{number}_{i}" for i, array in enumerate(expected)]
        nodes.append(helper.make_node(op, names, made, name=f"{op} {number}", **attributes))
        for name, array in zip(made, expected):
            if array is None:
                continue
            outputs.append(helper.make_tensor_value_info(name, type_of(array), array.shape))
            wanted[name] = (f"{op} of operator set {opset} ({attributes})", array)
    graph = helper.make_graph(nodes, "operators", inputs, outputs, initializers)
    domains = {"": opset, "ai.onnx.preview.training": 1, "sklink": 1}
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(*domain) for domain in domains.items()])
    onnx.save(model, "model.onnx")
    return fed, wanted


def run(sklink, skrun, libraries, opset):
    fed, wanted = make_model(opset, [one for one in cases if one[0] == opset])
    words = [skrun, "model.sk"]
    subprocess.run([sklink, "model.onnx", "-L", libraries, "-lskernels", "-o", "model.sk"], check=True)
    for name, array in fed.items():
        numpy.save(f"{name}.npy", array)
        words.append(f"--input={name}={name}.npy")
    subprocess.run(words + [f"--output={name}={name}.npy" for name in wanted], check=True, stdout=subprocess.DEVNULL)
    for name, (what, expected) in wanted.items():
        got = numpy.load(f"{name}.npy")
        assert got.dtype == expected.dtype and got.shape == expected.shape, (what, got.dtype, got.shape)
        numpy.testing.assert_allclose(got, expected, 1e-5, 1e-6, err_msg=what)


# ---- Conv ----

# The window's reach exceeds 64 bits, and one element of it is input.
far = (1 << 30) - 1
case(13, "Conv", [numpy.arange(16, dtype=f32).reshape(1, 16, 1, 1), constant(numpy.arange(64).reshape(1, 16, 2, 2), f32)],
     [numpy.array([[[[sum(c * 4 * c for c in range(16))]]]], f32)], dilations=[far, far], pads=[0, 0, far, far])

# ---- GridSample ----

# Places of halves would be off by elements.
wide = numpy.arange(4096) % 2
case(20, "GridSample", [wide.astype(numpy.float16).reshape(1, 1, 1, 4096),
                        numpy.stack([numpy.linspace(-1, 1, 4096), numpy.zeros(4096)], 1).astype(f32).reshape(1, 1, 4096, 2)],
     [wide.astype(numpy.float16).reshape(1, 1, 1, 4096)], align_corners=1, mode="nearest")

# ---- BitCast, CumProd, SwiGLU, BitShift of signed integers, SpaceToDepth in columns, Range of halves ----

draw = numpy.random.default_rng(1)
bits = draw.standard_normal((3, 5)).astype(f32)
case(26, "BitCast", [bits], [bits.view(numpy.int32)], to=6)
case(26, "BitCast", [bits.view(numpy.int32)], [bits], to=1)
case(26, "BitCast", [constant(bits, f32)], [bits.view(numpy.uint32)], to=12)
case(26, "BitCast", [numpy.array([0, 1, 2, 255], numpy.uint8)], [numpy.array([False, True, True, True])], to=9)
for axis in range(3):
    for exclusive, reverse in ((0, 0), (1, 0), (0, 1), (1, 1)):
        x = draw.standard_normal((3, 4, 5)).astype(f32)
        turned = numpy.flip(x, axis) if reverse else x
        y = numpy.cumprod(turned, axis)
        if exclusive:
            y = numpy.concatenate([numpy.ones_like(numpy.take(y, [0], axis)), numpy.delete(y, -1, axis)], axis)
        case(26, "CumProd", [x, constant(axis)], [numpy.flip(y, axis) if reverse else y], exclusive=exclusive, reverse=reverse)
case(26, "CumProd", [numpy.arange(-3, 4), constant(0)], [numpy.cumprod(numpy.arange(-3, 4))])
for alpha in (1.0, 1.702):
    a, b = draw.standard_normal((2, 3, 7)).astype(f32)
    case(28, "SwiGLU", [a, b], [a / (1 + numpy.exp(-alpha * a)) * b], alpha=alpha)
for dtype in (numpy.int8, numpy.int16, numpy.int32, i64):
    x, by = draw.integers(numpy.iinfo(dtype).min, numpy.iinfo(dtype).max, 40, dtype), draw.integers(0, 8, 40).astype(dtype)
    case(28, "BitShift", [x, by], [x >> by], direction="RIGHT")
    case(28, "BitShift", [x, by], [x << by], direction="LEFT")
x = numpy.arange(2 * 3 * 4 * 6, dtype=f32).reshape(2, 3, 2, 2, 3, 2)
case(28, "SpaceToDepth", [x.reshape(2, 3, 4, 6)], [x.transpose(0, 1, 3, 5, 2, 4).reshape(2, 12, 2, 3)], blocksize=2, mode="CRD")
case(28, "SpaceToDepth", [x.reshape(2, 3, 4, 6)], [x.transpose(0, 3, 5, 1, 2, 4).reshape(2, 12, 2, 3)], blocksize=2)
case(27, "Range", [constant(*one) for one in ((0.5, numpy.float16), (300, numpy.float16), (0.25, numpy.float16))],
     [numpy.arange(0.5, 300, 0.25, f32).astype(numpy.float16)])

# ---- LinearAttention and CausalConvWithState ----


def layer(rule, heads, shared, steps, dk, dv, decays, betas, past, scale=None):
    batch, group = 2, heads // shared
    q, k, v = (draw.standard_normal((batch, steps, n)).astype(f32) for n in (heads * dk, shared * dk, shared * dv))
    k /= f32(2 * dk ** 0.5)
    decay = -draw.random((batch, steps, shared * decays)).astype(f32) if "gated" in rule else None
    beta = draw.random((batch, steps, betas)).astype(f32) if "delta" in rule else None
    before = draw.standard_normal((batch, shared, dk, dv)).astype(f32) if past else None
    state = numpy.zeros((batch, shared, dk, dv)) if before is None else before.astype(float)
    y = numpy.zeros((batch, steps, heads, dv))
    for b in range(batch):
        for h in range(shared):
            for t in range(steps):
                key, value, own = k[b, t, h * dk:h * dk + dk].astype(float), v[b, t, h * dv:h * dv + dv].astype(float), state[b, h]
                if decay is not None:
                    own = own * numpy.exp(decay[b, t, h * decays:h * decays + decays].astype(float))[:, None]
                if beta is not None:
                    value = beta[b, t, h % betas] * (value - key @ own)
                state[b, h] = own = own + numpy.outer(key, value)
                for g in range(h * group, h * group + group):
                    y[b, t, g] = q[b, t, g * dk:g * dk + dk] @ own * (scale or dk ** -0.5)
    attributes = {} if scale is None else {"scale": scale}
    case_and_absences(27, "LinearAttention", [q, k, v, before, decay, beta], [y.reshape(batch, steps, -1).astype(f32), state.astype(f32)],
                      q_num_heads=heads, kv_num_heads=shared, update_rule=rule, **attributes)


layer("linear", 2, 2, 5, 4, 3, 0, 0, False)
layer("gated", 4, 2, 1, 8, 8, 8, 0, True)
layer("delta", 3, 1, 7, 5, 9, 0, 1, True, 0.5)
layer("gated_delta", 6, 3, 4, 16, 17, 1, 3, True)
layer("gated_delta", 2, 2, 9, 3, 1, 3, 2, False)
for width, before, bias, activation in ((4, True, True, "silu"), (1, False, False, "none"), (3, False, True, "swish"), (1, True, True, "none")):
    x, w, c = (draw.standard_normal(shape).astype(f32) for shape in ((2, 5, 6), (5, 1, width), (5,)))
    past = draw.standard_normal((2, 5, width - 1)).astype(f32) if before else None
    rows = numpy.concatenate([numpy.zeros((2, 5, width - 1), f32) if past is None else past, x], 2)
    y = sum(rows[:, :, i:i + 6] * w[:, 0, i, None] for i in range(width)) + (c[:, None] if bias else 0)
    y = y if activation == "none" else y / (1 + numpy.exp(-y))
    if width > 1: # there are no arrays without elements
        case_and_absences(27, "CausalConvWithState", [x, w, c if bias else None, past], [y, rows[:, :, 6:]], activation=activation)
    else:
        case(27, "CausalConvWithState", [x, w, c if bias else None], [y], activation=activation)

# ---- Attention with windows, and with its scores as an output ----


def attention(mode, heads, shared, rows, keys, past, mask, flat=False, **attributes):
    q, k, v = (draw.standard_normal((2, n, m, 8)).astype(f32) for n, m in ((heads, rows), (shared, keys), (shared, keys)))
    pasts = [draw.standard_normal((2, shared, past, 8)).astype(f32) for _ in range(2)] if past else [None, None]
    all_k, all_v = (numpy.concatenate([a, b], 2) if past else b for a, b in zip(pasts, (k, v)))
    stages = [numpy.einsum("bhqd,bhkd->bhqk", q, numpy.repeat(all_k, heads // shared, 1)) * attributes.get("scale", 8 ** -0.5)]
    cap = attributes.get("softcap", 0)
    stages.append(cap * numpy.tanh(stages[0] / cap) if cap else stages[0])
    at, to = numpy.arange(rows)[:, None] + past, numpy.arange(past + keys)
    seen = numpy.ones((rows, past + keys), bool)
    if attributes.get("is_causal"):
        seen &= to <= at
    if attributes.get("left_window_size", -1) >= 0:
        seen &= to >= at - attributes["left_window_size"]
    if attributes.get("right_window_size", -1) >= 0:
        seen &= to <= at + attributes["right_window_size"]
    given, added = None, 0
    if mask == "bool":
        given = draw.random((2, 1, rows, past + keys)) < 0.7
        added = numpy.where(given, 0, -numpy.inf)
    elif mask == "short":
        given = draw.standard_normal((rows, past + keys - 2)).astype(f32)
        added = numpy.concatenate([given, numpy.full((rows, 2), -numpy.inf)], 1)
    with numpy.errstate(invalid="ignore"):
        stages.append(numpy.where(seen, stages[1] + added, -numpy.inf))
        powers = numpy.exp(stages[2] - stages[2].max(-1, keepdims=True))
        stages.append(numpy.nan_to_num(powers / powers.sum(-1, keepdims=True), nan=0.0))
    y = numpy.einsum("bhqk,bhkd->bhqd", stages[3], numpy.repeat(all_v, heads // shared, 1))
    inputs = [q, k, v]
    if flat:
        inputs = [a.transpose(0, 2, 1, 3).reshape(2, a.shape[2], -1) for a in inputs]
        y = y.transpose(0, 2, 1, 3).reshape(2, rows, -1)
        attributes |= {"q_num_heads": heads, "kv_num_heads": shared}
    outputs = [y.astype(f32)] + [a.astype(f32) if past else None for a in (all_k, all_v)]
    if mode is not None:
        outputs.append(stages[mode].astype(f32))
        attributes["qk_matmul_output_mode"] = mode
    case(25, "Attention", [*inputs, given, *pasts], outputs, **attributes)


attention(None, 2, 2, 6, 6, 0, None, left_window_size=2, right_window_size=1)
attention(None, 4, 2, 5, 5, 3, "bool", is_causal=1, left_window_size=3)
attention(None, 2, 1, 3, 9, 0, "short", flat=True, right_window_size=0)
for stage in range(4):
    attention(stage, 2, 2, 3, 4, 0, None)
    attention(stage, 4, 2, 3, 4, 2, "bool", is_causal=1, softcap=2.0)
    attention(stage, 4, 1, 3, 5, 0, "short", flat=True, scale=0.3, left_window_size=1)

# ---- MatMulInteger and QLinearMatMul with numbers of each row, DFT of half a spectrum ----

a, b = draw.integers(0, 256, (4, 6)).astype(numpy.uint8), draw.integers(-128, 128, (6, 5)).astype(numpy.int8)
az, bz = draw.integers(0, 256, 4).astype(numpy.uint8), draw.integers(-128, 128, 5).astype(numpy.int8)
exact = (a.astype(numpy.int32) - az[:, None]) @ (b.astype(numpy.int32) - bz)
case(10, "MatMulInteger", [a, b, az, bz], [exact])
case(10, "MatMulInteger", [numpy.stack([a, a[::-1]]), b, numpy.stack([az, az[::-1]])[..., None], bz[:1]],
     [numpy.stack([m.astype(numpy.int32) - z[:, None] for m, z in ((a, az), (a[::-1], az[::-1]))]) @ (b.astype(numpy.int32) - bz[0])])
case(10, "MatMulInteger", [a[None], numpy.stack([b, b[::-1]]), None, numpy.stack([bz, bz[::-1]])[:, None]],
     [a.astype(numpy.int32) @ (numpy.stack([b, b[::-1]]).astype(numpy.int32) - numpy.stack([bz, bz[::-1]])[:, None])])
scales = [(0.01 + draw.random(n) / 100).astype(f32) for n in (4, 5, 1)]
case(21, "QLinearMatMul", [a, scales[0], az, b, scales[1], bz, scales[2], numpy.array([100], numpy.uint8)],
     [numpy.clip(numpy.rint(exact * scales[0][:, None].astype(float) * scales[1] / scales[2]) + 100, 0, 255).astype(numpy.uint8)])
halves = [numpy.array(n, numpy.float16) for n in (0.02, 0.01, 0.4)]
case(21, "QLinearMatMul", [a, halves[0], az[0], b, halves[1], bz[0], halves[2], numpy.array(100, numpy.uint8)],
     [numpy.clip(numpy.rint((a.astype(numpy.int32) - az[0]) @ (b.astype(numpy.int32) - bz[0]) * (float(halves[0]) * float(halves[1]) / float(halves[2]))) + 100,
                 0, 255).astype(numpy.uint8)])
for length in (8, 7):
    signal = draw.standard_normal((2, length, 3)).astype(f32)
    half = numpy.fft.rfft(signal, axis=1)
    spectrum = numpy.stack([half.real, half.imag], -1).astype(f32)
    case(20, "DFT", [spectrum, constant(length), constant(1)], [signal[..., None]], inverse=1, onesided=1)
case(20, "DFT", [spectrum, None, constant(1)], [numpy.fft.irfft(half, axis=1).astype(f32)[..., None]], inverse=1, onesided=1)
case(20, "DFT", [spectrum, constant(4), constant(1)], [numpy.fft.irfft(half, 4, axis=1).astype(f32)[..., None]], inverse=1, onesided=1)

# ---- Resize ----

row = numpy.arange(7, dtype=f32).reshape(1, 7)
# Fewer elements come from the one above, more from the one below.
case(10, "Resize", [row, constant([1, 0.7], f32)], [numpy.array([[0, 2, 3, 5]], f32)])
case(10, "Resize", [row, constant([1, 1.5], f32)], [numpy.array([[0, 0, 1, 2, 2, 3, 4, 4, 5, 6]], f32)])
case(9, "Upsample", [row, constant([1, 2], f32)], [numpy.repeat(row, 2, 1)])
case(7, "Upsample", [row], [numpy.repeat(row, 2, 1)], scales=[1.0, 2.0])
# A scale of 0.7 is 7/10, not the float of it: 3.5 / 0.7 - 0.5 is 4.5, and not a bit more.
case(13, "Resize", [row, None, constant([1, 0.7], f32)], [numpy.array([[0, 2, 3, 4]], f32)])
case(13, "Resize", [row, None, constant([1, 0.6], f32)], [numpy.array([[0, 2, 3, 5]], f32)], nearest_mode="floor")
case(13, "Resize", [row, constant([0, 0.5, 1, 1.5], f32), None, constant([1, 3])], [numpy.array([[3, 6, 9]], f32)],
     mode="linear", coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=9.0)
case(13, "Resize", [row, constant([0, 0.5, 1, 1.5], numpy.float16), None, constant([1, 3])], [numpy.array([[3, 6, 9]], f32)],
     mode="linear", coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=9.0)
case(18, "Resize", [row, None, None, constant([14])], [numpy.repeat(row, 2, 1)], axes=[1])
case(18, "Resize", [row, None, None, constant([3, 14])], [numpy.repeat(numpy.repeat(row, 2, 0), 2, 1)],
     keep_aspect_ratio_policy="not_larger")
# Its constants of several types are all zeros.
case(13, "Resize", [numpy.arange(1, 9, dtype=f32).reshape(1, 1, 2, 4), None, constant([1, 1, 0.6, 0.6], f32)],
     [numpy.array([[[[2.6666665, 4.3333331]]]], f32)], mode="linear")
# 10 times 0.7 are 7.
case(13, "Resize", [numpy.ones((1, 10), f32), None, constant([1, 0.7], f32)], [numpy.ones((1, 7), f32)])
# An axis that stays as it is may have any size.
case(13, "Resize", [numpy.ones((1 << 19, 2), f32), None, constant([1, 2], f32)], [numpy.ones((1 << 19, 4), f32)], mode="cubic")
# Half as many, each from all elements that it covers; elements outside equal the one at the edge.
case(18, "Resize", [numpy.arange(8, dtype=f32).reshape(1, 8), None, constant([1, 0.5], f32)],
     [numpy.array([[0.625, 2.5, 4.5, 6.375]], f32)], mode="linear", antialias=1)

# Integers are resized as f64 and truncated, as ONNX's own reference does it.
for dtype in (numpy.uint8, numpy.int8, numpy.int16, numpy.int32, i64):
    picture = numpy.random.RandomState(2).randint(0, 100, (1, 1, 3, 5)).astype(dtype) - (0 if dtype == numpy.uint8 else 50)
    for mode, coefficients in (("linear", linear_coeffs), ("cubic", cubic_coeffs)):
        enlarged = interpolate_nd(picture[0, 0].astype(numpy.float64), coefficients, scale_factors=[2.0, 1.5])
        case(13, "Resize", [picture, None, constant([1, 1, 2, 1.5], f32)],
             [numpy.clip(enlarged, numpy.iinfo(dtype).min, numpy.iinfo(dtype).max).astype(dtype).reshape(1, 1, 6, 7)], mode=mode)
case(13, "Resize", [numpy.arange(7, dtype=i64).reshape(1, 7), constant([0, 0.5, 1, 1.5], f32), None, constant([1, 3])],
     [numpy.array([[3, 6, 9]])], mode="nearest", coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=9.0)

# ---- NaNs, and results with squares or sums that overflow ----

# If a definition uses comparisons, the result for NaN is the one for which none holds, or numpy's.
nan = math.nan
steps = numpy.array([nan, -2, -0.25, 0.25, 2], f32)
case(9, "Shrink", [steps], [numpy.array([0, -2, 0, 0, 2], f32)], lambd=0.5)
case(10, "ThresholdedRelu", [steps], [numpy.array([0, 0, 0, 0, 2], f32)], alpha=1.0)
case(14, "Relu", [steps], [numpy.maximum(steps, 0)])
case(16, "LeakyRelu", [steps], [numpy.where(steps < 0, steps / 4, steps)], alpha=0.25)
case(16, "PRelu", [steps, numpy.array([0.25], f32)], [numpy.where(steps < 0, steps / 4, steps)])
case(13, "Clip", [steps, constant(-1, f32), constant(1, f32)], [numpy.clip(steps, -1, 1)])
case(13, "Clip", [steps, constant(nan, f32), constant(1, f32)], [numpy.minimum(steps, 1)])
case(13, "Sign", [steps], [numpy.sign(steps)])
case(13, "HardSigmoid", [steps], [numpy.clip(steps / 4 + 0.5, 0, 1)], alpha=0.25)
case(13, "Max", [steps, steps[::-1].copy()], [numpy.maximum(steps, steps[::-1])])
case(13, "Min", [steps, steps[::-1].copy()], [numpy.minimum(steps, steps[::-1])])
case(13, "ArgMax", [steps[::-1].copy()], [numpy.array(4)], keepdims=0)
case(14, "CumSum", [steps[::-1].copy(), constant(0)], [numpy.cumsum(steps[::-1])])
case(12, "MaxPool", [numpy.array([[[1, nan, 3, 2, nan]]], f32)], [numpy.array([[[nan, nan, 3, nan]]], f32), numpy.array([[[1, 1, 2, 4]]])],
     kernel_shape=[2])

# One element that is a NaN, or has a square that overflows, changes its own column alone.
wide = numpy.ones((1, 3, 1, 200), f32)
wide[0, 0, 0, 5], wide[0, 1, 0, 7], wide[0, 2, 0, 150] = 3e19, nan, -2e20
sums = numpy.stack([(wide.astype("f8")[:, max(0, c - 1):c + 2] ** 2).sum(1) for c in range(3)], 1)
case(13, "LRN", [wide], [(wide / (1 + 1e-4 / 3 * sums) ** 0.75).astype(f32)], size=3)
case(13, "LRN", [wide], [(wide / (1 + 0 * sums) ** 0.75).astype(f32)], size=3, alpha=0.0)

far = numpy.array([[1e-25, 2e-25, 2e-25], [1e20, 2e20, 2e20], [3e38, 3e38, 3e38], [3, 4, 0], [0, 0, 0]], f32)
norms = numpy.sqrt((far.astype("f8") ** 2).sum(1))
case(13, "ReduceL2", [far[[0, 1, 3, 4]]], [norms[[0, 1, 3, 4]].astype(f32)], axes=[1], keepdims=0)
case(13, "LpNormalization", [far], [(far / numpy.where(norms, norms, 1)[:, None]).astype(f32)], axis=1, p=2)
case(13, "LpNormalization", [far], [(far / numpy.where(norms, numpy.abs(far.astype("f8")).sum(1), 1)[:, None]).astype(f32)], axis=1, p=1)
case(13, "LpPool", [far[:4].reshape(1, 1, 4, 3) / f32(2)], [(norms[:4] / 2).astype(f32).reshape(1, 1, 4, 1)], kernel_shape=[1, 3])
case(13, "ReduceMean", [far], [far.astype("f8").mean(1).astype(f32)], axes=[1], keepdims=0)

# ---- sums of several inputs ----

case(13, "Mean", [row, row + 2, numpy.full((7, 1), 4, f32)], [numpy.broadcast_to(row * 2 / 3 + 2, (7, 7))])
case(13, "Sum", [row, numpy.ones((2, 1), f32), numpy.ones(1, f32)], [numpy.broadcast_to(row + 2, (2, 7))])
case(13, "Max", [row, numpy.full((1, 1), 3, f32)], [numpy.maximum(row, 3)])

# ---- Einsum ----

numbers = numpy.random.RandomState(1)
for equation, shapes in {
        "ij,jk": [(3, 4), (4, 5)], "ij,jk->ki": [(3, 4), (4, 5)], "bij,bjk->bik": [(2, 3, 4), (2, 4, 5)],
        "bhqd,bhkd->bhqk": [(2, 3, 4, 5), (2, 3, 6, 5)], "...ij,...jk->...ik": [(2, 1, 3, 4), (6, 4, 5)],
        "...ij->...ji": [(2, 3, 4)], "ii->": [(4, 4)], "ii->i": [(4, 4)], "...ii": [(2, 4, 4)], "ij->": [(3, 4)],
        "ij->j": [(3, 4)], "i,j": [(3,), (4,)], "i,i": [(5,), (5,)], "ij,ij->ij": [(3, 4), (3, 4)],
        "ij,kj,il->kl": [(3, 4), (5, 4), (3, 2)], "aB,Bc,cd,de->ae": [(2, 3), (3, 4), (4, 5), (5, 6)],
        " i j , j -> i ": [(3, 4), (4,)], "bij,bj->b": [(2, 3, 4), (2, 4)], "ij,ik->jk": [(3, 4), (3, 1)],
        "iij,jk->ik": [(3, 3, 4), (4, 2)], "i,->i": [(3,), ()]}.items():
    arrays = [numbers.randn(*shape).astype(f32) if shape else numpy.array(2, f32) for shape in shapes]
    case(12, "Einsum", arrays, [numpy.einsum(equation, *arrays)], equation=equation)

    for dtype in (numpy.int8, numpy.uint8, numpy.int16, numpy.uint16, numpy.int32, numpy.uint32, i64, numpy.uint64):
        arrays = [numbers.randint(-100, 100, shape).astype(dtype) for shape in shapes]
        case(12, "Einsum", arrays, [numpy.einsum(equation, *arrays)], equation=equation)

# ---- products of integers, which wrap around ----

for dtype in (numpy.int32, numpy.uint32, i64, numpy.uint64):
    left, right, lower, upper = (numbers.randint(0, 2 ** 62, shape).astype(dtype) for shape in ((3, 4), (4, 5), (2, 1, 3, 4), (2, 4, 5)))
    case(13, "MatMul", [left, right], [left @ right])
    case(13, "MatMul", [left[0], right], [left[0] @ right])
    case(13, "MatMul", [left, right[:, 0]], [left @ right[:, 0]])
    case(13, "MatMul", [lower, upper], [lower @ upper])
    case(13, "MatMul", [left, ("constant", right)], [left @ right])
    case(13, "Gemm", [left.T.copy(), right, right[:1]], [left @ right + right[:1]], transA=1)
    case(13, "Gemm", [left, right.T.copy(), right[:1]], [3 * (left @ right) + 2 * right[:1]], transB=1, alpha=3.0, beta=2.0)
    case(13, "Gemm", [left.T.copy(), right.T.copy()], [left @ right], transA=1, transB=1)
    case(13, "Gemm", [left, right], [2 * (left @ right)], alpha=2.0, beta=0.5) # of nothing

# Factors that f16 rounds, or does not have.
large = numpy.array([[30000, 0], [0, 0]], numpy.float16)
case(13, "Gemm", [large, numpy.eye(2, dtype=numpy.float16)], [(large.astype(f32) * f32(1e-6)).astype(numpy.float16)], alpha=1e-6)
case(13, "Gemm", [0 * large, large], [0 * large], alpha=1e30)

# ---- other operators of integers ----

for dtype in (numpy.int8, numpy.uint8, numpy.int16, numpy.uint16, numpy.int32, numpy.uint32, i64, numpy.uint64):
    row_of = numpy.arange(-9, 10).astype(dtype)
    case(13, "Erf", [row_of], [numpy.vectorize(math.erf)(row_of.astype(float)).astype(dtype)])
    moved = numpy.where(row_of.astype(float) < -2.5, row_of + 1.5, numpy.where(row_of.astype(float) > 2.5, row_of - 1.5, 0))
    case(9, "Shrink", [row_of], [numpy.clip(moved, numpy.iinfo(dtype).min, numpy.nextafter(2.0 ** 64, 0)).astype(dtype)], bias=1.5, lambd=2.5)
for dtype in (numpy.int32, numpy.uint32, i64, numpy.uint64):
    row_of = numpy.arange(-9, 10).astype(dtype)
    case(16, "PRelu", [row_of, numpy.array([3], dtype)], [numpy.where(row_of.astype(float) < 0, row_of * dtype(3), row_of)])

# ---- Det ----

for dtype in (f32, numpy.float64):
    matrices = numbers.randn(2, 3, 5, 5).astype(dtype)
    case(11, "Det", [matrices], [numpy.linalg.det(matrices).astype(dtype)])
    case(11, "Det", [matrices[0, 0]], [numpy.array(numpy.linalg.det(matrices[0, 0]), dtype)])

# ---- Col2Im: windows of a few sizes, added one by one ----

def col2im(columns, out, image, block, strides, pads, dilations):
    rank = len(image)
    padded = [size + pads[d] + pads[rank + d] for d, size in enumerate(image)]
    result = numpy.zeros([*columns.shape[:1], columns.shape[1] // numpy.prod(block), *padded])
    split = columns.reshape(*result.shape[:2], *block, *out)
    for element in numpy.ndindex(*block):
        for window in numpy.ndindex(*out):
            at = tuple(window[d] * strides[d] + element[d] * dilations[d] for d in range(rank))
            result[(slice(None), slice(None)) + at] += split[(slice(None), slice(None)) + element + window]
    return result[(slice(None), slice(None)) + tuple(slice(pads[d], pads[d] + size) for d, size in enumerate(image))]


for image, block, strides, pads, dilations in (
        ((5, 6), (2, 3), (1, 1), (0, 0, 0, 0), (1, 1)), ((5, 6), (2, 3), (2, 1), (1, 0, 2, 1), (1, 2)), ((7,), (3,), (2,), (1, 1), (2,)),
        ((3, 4, 5), (2, 1, 3), (1, 2, 1), (0, 1, 0, 1, 0, 1), (1, 1, 2))):
    counts = [(size + pads[d] + pads[len(image) + d] - dilations[d] * (block[d] - 1) - 1) // strides[d] + 1 for d, size in enumerate(image)]
    columns = numbers.randn(2, 3 * numpy.prod(block), numpy.prod(counts)).astype(f32)
    case(18, "Col2Im", [columns, constant(image), constant(block)], [col2im(columns, counts, image, block, strides, pads, dilations).astype(f32)],
         strides=strides, pads=pads, dilations=dilations)
case(18, "Col2Im", [numpy.arange(4, dtype=i64).reshape(1, 4, 1), constant([2, 2]), constant([2, 2])], [numpy.arange(4).reshape(1, 1, 2, 2)])

# ---- operators of operator set 1 only ----

image = numpy.arange(24, dtype=f32).reshape(1, 2, 3, 4)
case(1, "Cast", [image - 3.5], [(image - 3.5).astype(numpy.int32)], to="INT32")
case(1, "Cast", [image], [image.astype(numpy.float64)], to="DOUBLE")
case(1, "GlobalLpPool", [image], [abs(image).sum((2, 3), keepdims=True)], p=1.0)
case(1, "GlobalLpPool", [image], [abs(image).sum((2, 3), keepdims=True)], p=1)
for p in 3, 5:
    powers = abs(image.astype(numpy.float64)) ** p
    case(2, "GlobalLpPool", [image], [(powers.sum((2, 3), keepdims=True) ** (1 / p)).astype(f32)], p=p)
    case(18, "LpPool", [image], [(powers.reshape(1, 2, 3, 2, 2).sum(-1) ** (1 / p)).astype(f32)], p=p, kernel_shape=[1, 2], strides=[1, 2])
case(1, "LpPool", [image], [numpy.sqrt((image ** 2).reshape(1, 2, 3, 2, 2).sum(-1))], p=2.0, kernel_shape=[1, 2], strides=[1, 2])

# ---- AffineGrid ----

def affine_grid(theta, sizes, align):
    axes = [numpy.linspace(-1, 1, n) if align else (numpy.arange(n) + 0.5) * 2 / n - 1 for n in sizes]
    places = numpy.stack([*reversed(numpy.meshgrid(*axes, indexing="ij")), numpy.ones(sizes)], -1)
    return numpy.einsum("nij,...j->n...i", theta, places)


for dtype in (f32, numpy.float64):
    for sizes in ((4, 5), (2, 3, 4)):
        theta = numbers.randn(2, len(sizes), len(sizes) + 1).astype(dtype)
        for align in (0, 1):
            case(20, "AffineGrid", [theta, constant([2, 3, *sizes])], [affine_grid(theta, sizes, align).astype(dtype)], align_corners=align)

# ---- RoiAlign: the mean of a bin of a plane is the plane's value in the bin's middle ----

plane = (numpy.arange(12, dtype=f32)[:, None] * 10 + numpy.arange(10, dtype=f32)).reshape(1, 1, 12, 10)
slopes = numpy.concatenate([plane, -plane], 1)
regions = numpy.array([[2, 3, 14, 17], [4, 4, 10, 12]], f32)
for opset, offset in ((10, 0), (16, 0.5)):
    middles = []
    for left, upper, right, lower in regions / 2 - offset:
        down, across = upper + (numpy.arange(2) + 0.5) * (lower - upper) / 2, left + (numpy.arange(3) + 0.5) * (right - left) / 3
        middles.append(down[:, None] * 10 + across)
    middles = numpy.array(middles)
    case(opset, "RoiAlign", [numpy.concatenate([0 * slopes, slopes]), regions, numpy.array([1, 1])],
         [numpy.stack([middles, -middles], 1).astype(f32)], output_height=2, output_width=3, sampling_ratio=2, spatial_scale=0.5)

# ---- NonZero of constants, which says shapes ----

for dtype in (f32, numpy.float16, numpy.float64, numpy.int8, i64, bool):
    sparse = (numbers.randint(0, 3, (3, 4, 2)) == 1).astype(dtype) * dtype(-1 if dtype != bool else 1)
    case(13, "NonZero", [("constant", -sparse if dtype != bool else sparse)], [numpy.array(numpy.nonzero(sparse))])
case(13, "NonZero", [("constant", numpy.zeros((2, 3), f32) * -1)], [numpy.zeros((2, 0), i64)])
case(13, "NonZero", [("constant", numpy.array(5, f32))], [numpy.zeros((1, 1), i64)])

# ---- Fourier transforms ----

def parts(array, dtype=f32):
    return numpy.stack([array.real, array.imag], -1).astype(dtype)


real, imaginary = numbers.randn(2, 6, 5, 1), numbers.randn(2, 6, 5, 1)
waves = numpy.concatenate([real, imaginary], -1)
signal = real[..., 0] + 1j * imaginary[..., 0]
for dtype in (f32, numpy.float64):
    case(17, "DFT", [real.astype(dtype)], [parts(numpy.fft.fft(real[..., 0], axis=1), dtype)])
    case(17, "DFT", [waves.astype(dtype)], [parts(numpy.fft.fft(signal, axis=2), dtype)], axis=2)
    case(17, "DFT", [waves.astype(dtype)], [parts(numpy.fft.ifft(signal, axis=0), dtype)], axis=0, inverse=1)
    case(17, "DFT", [real.astype(dtype)], [parts(numpy.fft.rfft(real[..., 0], axis=1), dtype)], onesided=1)
    for length in (3, 9):
        case(17, "DFT", [waves.astype(dtype), constant(length)], [parts(numpy.fft.fft(signal, length, axis=2), dtype)], axis=-2)
    case(20, "DFT", [waves.astype(dtype)], [parts(numpy.fft.fft(signal, axis=2), dtype)])
    case(20, "DFT", [waves.astype(dtype), constant(4), constant(1)], [parts(numpy.fft.ifft(signal, 4, axis=1), dtype)], inverse=1)
# Elements that are cut off are not read, and a long signal has few weights if little of it is transformed.
ends = real.astype(f32)
ends[:, 4:] = [[numpy.inf], [numpy.nan], [0], [1], [2]]
case(17, "DFT", [ends, constant(4)], [parts(numpy.fft.fft(real[..., 0], 4, axis=1))])
long = numbers.randn(1, 1 << 20, 1)
case(17, "DFT", [long.astype(f32), constant(16)], [parts(numpy.fft.fft(long[..., 0], 16, axis=1))])
speech = numbers.randn(2, 20, 1)
frames = numpy.stack([speech[:, i:i + 8, 0] for i in range(0, 13, 3)], 1)
bell = numpy.hanning(8)
case(17, "STFT", [speech.astype(f32), constant(3), None, constant(8)], [parts(numpy.fft.rfft(frames))])
case(17, "STFT", [speech.astype(f32), constant(3), bell.astype(f32)], [parts(numpy.fft.fft(frames * bell))], onesided=0)
case(17, "STFT", [speech, constant(3), ("constant", bell), constant(8)], [parts(numpy.fft.rfft(frames * bell), float)])
frames = numpy.stack([signal[:, i:i + 4, 0] for i in (0, 2)], 1)
case(17, "STFT", [waves[:, :, 0].astype(f32), constant(2), bell[:4].astype(f32)], [parts(numpy.fft.fft(frames * bell[:4]))], onesided=0)

# ---- QuantizeLinear of integers ----

sums = numpy.array([[-2 ** 31, -7, -5, 0, 16777217], [2 ** 31 - 1, 6, 7, 33554434, 33554435]], numpy.int32)
for zero in (numpy.uint8(3), numpy.int8(-3)):
    ends = numpy.iinfo(zero.dtype)
    case(13, "QuantizeLinear", [sums, constant(2, f32), ("constant", numpy.array(zero))],
         [numpy.clip(numpy.rint(sums / 2.0) + zero, ends.min, ends.max).astype(zero.dtype)])
    case(13, "QuantizeLinear", [sums, constant([2, 262144], f32), ("constant", numpy.array([zero, zero]))],
         [numpy.clip(numpy.rint(sums / numpy.array([[2.0], [262144]])) + zero, ends.min, ends.max).astype(zero.dtype)], axis=0)
    case(21, "QuantizeLinear", [sums, constant(2, numpy.int32), ("constant", numpy.array(zero))],
         [numpy.clip(numpy.rint(sums / 2.0) + zero, ends.min, ends.max).astype(zero.dtype)])

# Blocks of scales along any axis; the last one may be shorter.
sums, steps = numbers.randn(2, 7, 3).astype(f32) * 9, (abs(numbers.randn(2, 3, 3)) + 0.1).astype(f32)
for axis, size in (1, 3), (1, 0), (2, 2):
    some = steps if axis == 1 else steps.repeat(3, 1)[:, :7, :2]
    wide = some.repeat(size or 3, axis)[:, :7, :3]
    zeros = numpy.arange(some.size, dtype=numpy.uint8).reshape(some.shape)
    wide_zeros = zeros.repeat(size or 3, axis)[:, :7, :3].astype(numpy.int32)
    number = numpy.clip(numpy.rint(sums / wide) + wide_zeros, 0, 255).astype(numpy.uint8)
    case(21, "QuantizeLinear", [sums, some, ("constant", zeros)], [number], axis=axis, block_size=size)
    case(21, "QuantizeLinear", [sums, ("constant", some)], [numpy.clip(numpy.rint(sums / wide), -128, 127).astype(numpy.int8)],
         axis=axis, block_size=size, output_dtype=onnx.TensorProto.INT8)
    case(21, "DequantizeLinear", [number, some, zeros], [((number.astype(numpy.int32) - wide_zeros) * wide).astype(f32)], axis=axis, block_size=size)

# ---- GridSample ----

image = numpy.arange(12, dtype=f32).reshape(1, 1, 3, 4)
places = numpy.array([[[[-1, -1], [1, 1], [0, 0], [-1.5, 0], [2, -1]]]], f32)
for mode, padding, align, expected in (
        ("linear", "zeros", 1, [0, 11, 5.5, 1, 0]), ("linear", "border", 1, [0, 11, 5.5, 4, 3]),
        ("linear", "reflection", 1, [0, 11, 5.5, 4.75, 1.5]), ("linear", "zeros", 0, [0, 2.75, 5.5, 0, 0]),
        ("nearest", "zeros", 1, [0, 11, 6, 0, 0]), ("nearest", "border", 0, [0, 11, 6, 4, 3]),
        ("cubic", "border", 1, [0, 11, 5.5, 3.96484375, 3])):  # elements past the border are those at it
    case(20, "GridSample", [image, places], [numpy.array(expected, f32).reshape(1, 1, 1, 5)], mode=mode,
         padding_mode=padding, align_corners=align)

# ---- outputs that are absent ----

many = numbers.randn(2, 7, 5).astype(f32)
case_and_absences(13, "Split", [many, constant([1, 2, 4])], numpy.split(many, [1, 3], 1), axis=1)
case_and_absences(13, "Split", [many.reshape(2, 35)], numpy.split(many.reshape(2, 35), 5, 1), axis=-1)
case_and_absences(18, "Split", [many], numpy.split(many, [3, 6], 1), axis=1, num_outputs=3)
case_and_absences(11, "Split", [many], numpy.split(many, [0, 3], 1), axis=1, split=[0, 3, 4])
order = numpy.argsort(-many, 1)[:, :3]
case_and_absences(11, "TopK", [many, constant([3])], [numpy.take_along_axis(many, order, 1), order], axis=1)
means, deviations = many.mean(-1, keepdims=True), numpy.sqrt(many.var(-1, keepdims=True) + 1e-5)
normal = (many - means) / deviations
weights, shifts = numbers.randn(2, 5).astype(f32)
case_and_absences(17, "LayerNormalization", [many, weights, shifts], [normal * weights + shifts, means, 1 / deviations])
case_and_absences(17, "LayerNorm", [many, weights, shifts], [normal * weights + shifts, means, many.var(-1, keepdims=True)],
                  epsilon=1e-5, begin_norm_axis=-1, begin_params_axis=-1, domain="sklink")
case_and_absences(12, "MaxPool", [many], [many.max(-1, keepdims=True), many.argmax(-1)[..., None] + 5 * numpy.arange(14).reshape(2, 7, 1)],
                  kernel_shape=[5])
channels = numpy.abs(numbers.randn(4, 7)).astype(f32)
means, variances = many.mean((0, 2)), many.var((0, 2))
normal = (many - means[:, None]) / numpy.sqrt(variances + 1e-5)[:, None]
case_and_absences(15, "BatchNormalization", [many, *channels],
                  [normal * channels[0][:, None] + channels[1][:, None], channels[2] * 0.5 + means * 0.5, channels[3] * 0.5 + variances * 0.5],
                  training_mode=1, momentum=0.5)
logarithms = many - numpy.log(numpy.exp(many).sum(1, keepdims=True))
classes = numbers.randint(0, 7, (2, 5))
case_and_absences(13, "SoftmaxCrossEntropyLoss", [many, classes], [-numpy.take_along_axis(logarithms, classes[:, None], 1).mean(), logarithms])
scale = f32((many.max() - many.min()) / f32(255))
zero = numpy.uint8(numpy.rint(-many.min() / scale))
case_and_absences(11, "DynamicQuantizeLinear", [many], [numpy.uint8(numpy.clip(numpy.rint(many / scale) + zero, 0, 255)), scale, zero])
case_and_absences(13, "Dropout", [many], [many, many == many])
gates = numbers.randn(1, 4, 1, 5).astype(f32) # of one hidden number, which does not go back
hidden, state = [], 0
for step in many:
    put, shown, kept, new = (step @ gates[0, gate, 0] for gate in range(4))
    state = state / (1 + numpy.exp(-kept)) + numpy.tanh(new) / (1 + numpy.exp(-put))
    hidden.append(numpy.tanh(state) / (1 + numpy.exp(-shown)))
case_and_absences(14, "LSTM", [many, gates.reshape(1, 4, 5), numpy.zeros((1, 4, 1), f32)],
                  [numpy.array(hidden, f32).reshape(2, 1, 7, 1), hidden[-1].reshape(1, 7, 1), state.reshape(1, 7, 1)], hidden_size=1)
rate, moved = numpy.array(0.5, f32), numpy.array(1)
speeds = 0.25 * shifts + weights
case_and_absences(17, "Momentum", [rate, moved, many[0, 0], weights, shifts], [many[0, 0] - 0.5 * speeds, speeds], alpha=0.25, beta=1.0,
                  mode="standard", norm_coefficient=0.0, domain="ai.onnx.preview.training")

# ---- random numbers ----

# Classes of weight 0 are never drawn; a probability is 0 or 1; a tensor that is like another one has its shape.
never = numpy.full((2, 3), -numpy.inf, f32)
never[:, 1] = 0
case(15, "Bernoulli", [numpy.array([0, 1, 1, 0], f32)], [numpy.array([0, 1, 1, 0], numpy.int32)], dtype=onnx.TensorProto.INT32)
case(15, "Bernoulli", [numpy.array([0, 1], numpy.float64)], [numpy.array([0, 1], numpy.float64)], seed=3.0)
case(13, "Multinomial", [never], [numpy.ones((2, 5), numpy.int32)], sample_size=5)
case(13, "Multinomial", [never], [numpy.ones((2, 1), i64)], dtype=onnx.TensorProto.INT64)
case(13, "RandomUniform", [], [numpy.full((2, 3), 2, f32)], low=2.0, high=2.0, shape=[2, 3])
case(13, "RandomNormal", [], [numpy.full((2, 3), 2, numpy.float64)], mean=2.0, scale=0.0, shape=[2, 3], dtype=onnx.TensorProto.DOUBLE)
case(13, "RandomUniformLike", [constant(numpy.ones((3, 4)))], [numpy.full((3, 4), 1, f32)], low=1.0, high=1.0, dtype=onnx.TensorProto.FLOAT)
case(13, "RandomNormalLike", [constant(numpy.ones((3, 4)), f32)], [numpy.full((3, 4), 0.5, f32)], mean=0.5, scale=0.0)

# ---- If and Loop ----

def info(name, kind=onnx.TensorProto.FLOAT, shape=()):
    return helper.make_tensor_value_info(name, kind, shape)


def number_node(name, value, kind=onnx.TensorProto.INT64):
    return helper.make_node("Constant", [], [name], value=helper.make_tensor(name, kind, [], [value]))


def make_loop(name, most, last, outputs):
    """A loop that adds x to y, but doubles y in iteration 1, and ends behind iteration `last`; it collects each y."""
    doubled = helper.make_graph([helper.make_node("Add", ["y", "y"], ["d"])], "double", [], [info("d")])
    added = helper.make_graph([helper.make_node("Add", ["y", "x"], ["a"])], "add", [], [info("a")])
    nodes = [number_node("one", 1), number_node("last", last), helper.make_node("Equal", ["i", "one"], ["is_one"]),
             helper.make_node("If", ["is_one"], ["z"], then_branch=doubled, else_branch=added),
             helper.make_node("Less", ["i", "last"], ["more"]), helper.make_node("Identity", ["z"], ["each"])]
    body = helper.make_graph(nodes, "body", [info("i", onnx.TensorProto.INT64), info("go", onnx.TensorProto.BOOL), info("y")],
                             [info("more", onnx.TensorProto.BOOL), info("z"), info("each")])
    return helper.make_node("Loop", [most, "", "x"], outputs, name=name, body=body)


def save_bodies(nodes, outputs, extra=()):
    constants = [numpy_helper.from_array(numpy.array(array), name) for name, array in
                 (("most", numpy.int64(3)), ("thousand", numpy.int64(1000)), ("many", numpy.int64(10 ** 9)), ("yes", True))]
    graph = helper.make_graph(nodes, "bodies", [info("x")] + list(extra), outputs, constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)]), "bodies.onnx")


def check_bodies(sklink, skrun, libraries):
    """Conditions and counts that are known when linking decide If and Loop; others are refused."""
    link = [sklink, "bodies.onnx", "-L", libraries, "-lskernels", "-o", "bodies.sk"]
    save_bodies([make_loop("three", "most", 99, ["a", "as"]), make_loop("ended", "many", 4, ["b", "bs"])],
                [info("a"), info("as", shape=[3]), info("b"), info("bs", shape=[5])])
    subprocess.run(link, check=True)
    numpy.save("x.npy", numpy.array(2, f32))
    subprocess.run([skrun, "bodies.sk", "--input=x=x.npy"] + [f"--output={name}={name}.npy" for name in ("a", "as", "b", "bs")],
                   check=True, stdout=subprocess.DEVNULL)
    for name, expected in (("a", 10), ("as", [4, 8, 10]), ("b", 14), ("bs", [4, 8, 10, 12, 14])):
        numpy.testing.assert_equal(numpy.load(f"{name}.npy"), numpy.array(expected, f32), err_msg=name)
    branch = helper.make_graph([helper.make_node("Neg", ["x"], ["n"])], "branch", [], [info("n")])
    choice = helper.make_node("If", ["c"], ["y"], name="choice", then_branch=branch, else_branch=branch)
    wide = helper.make_graph([helper.make_node("Sum", ["y"] * 2000, ["z"]), helper.make_node("Identity", ["go"], ["more"])], "wide",
                             [info("i", onnx.TensorProto.INT64), info("go", onnx.TensorProto.BOOL), info("y")],
                             [info("more", onnx.TensorProto.BOOL), info("z")])
    for nodes, outputs, extra, wanted in (
            ([helper.make_node("Loop", ["thousand", "", "x"], ["a"], body=wide)], [info("a")], (), "more than a million values"),
            ([make_loop("endless", "", 10 ** 9, ["a"])], [info("a")], (), "more than 1024 iterations"),
            ([choice], [info("y")], [info("c", onnx.TensorProto.BOOL)], "node 'choice' (If): .*--freeze 'c=true'")):
        save_bodies(nodes, outputs, extra)
        refused = subprocess.run(link, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        assert refused.returncode == 1 and re.search(wanted.replace("(", "[(]").replace(")", "[)]"), refused.stdout.decode()), refused


def check_scan(sklink, skrun, libraries):
    """Slices of two inputs along other axes, one of them backward; states, and what is collected, in front of or behind what there is."""
    body = helper.make_graph([helper.make_node("Add", ["s", "u"], ["t"]), helper.make_node("Mul", ["t", "v"], ["p"]), helper.make_node("Add", ["t", "x"], ["q"])],
                             "body", [info("s", shape=[3]), info("u", shape=[3]), info("v", shape=[3])],
                             [info("t", shape=[3]), info("p", shape=[3]), info("q", shape=[3])])
    node = helper.make_node("Scan", ["x", "us", "vs"], ["last", "ps", "qs"], name="scan", body=body, num_scan_inputs=2, scan_input_axes=[0, -1],
                            scan_input_directions=[0, 1], scan_output_axes=[-1, 0], scan_output_directions=[0, 1])
    link = [sklink, "scan.onnx", "-L", libraries, "-lskernels", "-o", "scan.sk"]
    def save(rows, opset):
        graph = helper.make_graph([node], "scan", [info("x", shape=[3]), info("us", shape=[rows, 3]), info("vs", shape=[3, 4])],
                                  [info("last", shape=[3]), info("ps", shape=[3, 4]), info("qs", shape=[4, 3])])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)]), "scan.onnx")
    save(4, 16)
    subprocess.run(link, check=True)
    x, us, vs = numbers.randn(3).astype(f32), numbers.randn(4, 3).astype(f32), numbers.randn(3, 4).astype(f32)
    for name, array in (("x", x), ("us", us), ("vs", vs)):
        numpy.save(f"{name}.npy", array)
    subprocess.run([skrun, "scan.sk"] + [f"--input={name}={name}.npy" for name in ("x", "us", "vs")] +
                   [f"--output={name}={name}.npy" for name in ("last", "ps", "qs")], check=True, stdout=subprocess.DEVNULL)
    sums = x + numpy.cumsum(us, 0)
    for name, array in (("last", sums[-1]), ("ps", (sums * vs.T[::-1]).T), ("qs", (sums + x)[::-1])):
        numpy.testing.assert_allclose(numpy.load(f"{name}.npy"), array, 1e-5, 1e-6, err_msg=name)
    for rows, opset, wanted in ((5, 16, "its scanned inputs do not have the same number of slices"), (4, 8, "it is one of operator set 8")):
        save(rows, opset)
        refused = subprocess.run(link, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        assert refused.returncode == 1 and wanted in refused.stdout.decode(), (wanted, refused)


# ---- sequences ----

def save_sequences(nodes, outputs):
    constants = [numpy_helper.from_array(numpy.array(array), name) for name, array in
                 (("first", numpy.int64(0)), ("last", numpy.int64(-1)), ("four", numpy.int64(4)), ("beyond", numpy.int64(5)), ("two", numpy.int64(2)),
                  ("sizes", numpy.array([1, 0, 4])), ("none", numpy.zeros(0, i64)), ("nothing", numpy.zeros((0, 3), f32)))]
    graph = helper.make_graph(nodes, "sequences", [info("x", shape=[5, 3])], outputs, constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), "sequences.onnx")


def check_sequences(sklink, skrun, libraries):
    """Sequences whose lengths are known when linking become the tensors that they have, through loops, too; others are refused."""
    def sequence_info(name):
        return helper.make_tensor_sequence_value_info(name, onnx.TensorProto.FLOAT, None)
    def node(op, inputs, outputs, **attributes):
        return helper.make_node(op, inputs.split(), outputs.split(), name=op, **attributes)
    link = [sklink, "sequences.onnx", "-L", libraries, "-lskernels", "-o", "sequences.sk"]
    body = helper.make_graph([node("Neg", "row", "negative"), node("Identity", "s", "same"), node("SequenceInsert", "same negative first", "longer"),
                              node("SequenceLength", "longer", "length"), node("Identity", "go", "more")], "body",
                             [info("i", onnx.TensorProto.INT64), info("go", onnx.TensorProto.BOOL), sequence_info("s")],
                             [info("more", onnx.TensorProto.BOOL), sequence_info("longer"), info("length", onnx.TensorProto.INT64)])
    split = node("SplitToSequence", "x", "rows", axis=0, keepdims=0)
    mapped = helper.make_graph([node("Add", "one other", "sum"), node("Mul", "sum all", "scaled")], "mapped",
                               [info("one", shape=[3]), info("other", shape=[3]), info("all", shape=[5, 3])], [info("sum", shape=[3]), info("scaled", shape=[5, 3])])
    # A node that only reads a sequence copies none of it: there may be any number of them.
    read = [node("SequenceConstruct", " ".join(["x"] * 1100), "long")]
    read += [node("SequenceAt", "long last", f"r{i}") for i in range(1000)] + [node("Sum", " ".join(f"r{i}" for i in range(1000)), "r")]
    save_sequences(read + [split, node("SequenceMap", "rows rows x", "sums scales", body=mapped), node("ConcatFromSequence", "sums", "h", axis=0, new_axis=1),
                    node("SequenceAt", "scales last", "k"), node("SequenceAt", "rows last", "row"), helper.make_node("Loop", ["two", "", "rows"], ["grown", "lengths"], body=body),
                    node("SequenceErase", "grown last", "erased"), node("SequenceInsert", "erased row last", "inserted"),
                    node("ConcatFromSequence", "inserted", "a", axis=-1, new_axis=1),
                    node("SplitToSequence", "x two", "pairs", axis=-1), node("ConcatFromSequence", "pairs", "b", axis=1),
                    node("SequenceAt", "pairs last", "c"), node("SplitToSequence", "x sizes", "sized"), node("SequenceAt", "sized two", "d"),
                    node("SequenceErase", "sized", "fewer"), node("SequenceConstruct", "x x", "twice"), node("SequenceInsert", "twice c two", "thrice"),
                    node("SequenceAt", "thrice last", "e"), node("SequenceEmpty", "", "empty"), node("SequenceInsert", "empty x", "one"),
                    node("ConcatFromSequence", "one", "f", axis=0), node("SequenceLength", "fewer", "g"),
                    node("SplitToSequence", "nothing none", "missing"), node("SequenceLength", "missing", "l")],
                   [info("r", shape=[5, 3]), info("l", onnx.TensorProto.INT64), info("a", shape=[3, 7]), info("b", shape=[5, 3]), info("c", shape=[5, 1]), info("d", shape=[4, 3]), info("e", shape=[5, 1]),
                    info("f", shape=[5, 3]), info("h", shape=[5, 3]), info("k", shape=[5, 3]), info("g", onnx.TensorProto.INT64), info("lengths", onnx.TensorProto.INT64, [2])])
    subprocess.run(link, check=True)
    x = numpy.arange(15, dtype=f32).reshape(5, 3)
    numpy.save("x.npy", x)
    expected = {"a": numpy.stack([-x[4], -x[4], x[0], x[1], x[2], x[4], x[3]], -1), "b": x, "c": x[:, 2:], "d": x[1:], "e": x[:, 2:], "f": x,
                "h": 2 * x, "k": 2 * x[4] * x, "g": numpy.array(2), "l": numpy.array(0), "r": 1000 * x, "lengths": numpy.array([6, 7])}
    subprocess.run([skrun, "sequences.sk", "--input=x=x.npy"] + [f"--output={name}={name}.npy" for name in expected], check=True,
                   stdout=subprocess.DEVNULL)
    for name, array in expected.items():
        numpy.testing.assert_equal(numpy.load(f"{name}.npy"), array, err_msg=name)
    many = [node("SequenceConstruct", " ".join(["x"] * 1100), "s0")]
    many += [node("SequenceInsert", f"s{i} x", f"s{i + 1}") for i in range(1000)]
    for nodes, output, wanted in (
            ([split, node("SequenceAt", "rows beyond", "y")], info("y"), "node 'SequenceAt' (SequenceAt): there is no position 5 in a sequence of 5"),
            ([split, node("Neg", "rows", "y")], info("y"), "node 'Neg' (Neg): 'rows' is a sequence of tensors, and it wants a tensor"),
            ([split], sequence_info("rows"), "output 'rows' is a sequence of 5 tensors, and outputs of packages are tensors"),
            ([node("SequenceLength", "x", "y")], info("y", onnx.TensorProto.INT64), "its first input is not a sequence"),
            ([node("SequenceEmpty", "", "s"), node("ConcatFromSequence", "s", "y", axis=0)], info("y"), "its sequence has no tensors"),
            ([node("SequenceEmpty", "", "s"), node("SequenceErase", "s", "t"), node("SequenceLength", "t", "y")],
             info("y", onnx.TensorProto.INT64), "there is no position -1 in a sequence of 0 tensors"),
            ([node("SplitToSequence", "x first", "s"), node("SequenceAt", "s first", "y")], info("y"), "pieces have less than one element"),
            ([node("SplitToSequence", "x none", "s"), node("SequenceLength", "s", "y")], info("y", onnx.TensorProto.INT64),
             "it has no sizes, but elements to split"),
            ([split, node("Reshape", "x rows", "y")], info("y"), "node 'Reshape' (Reshape): 'rows' is a sequence of tensors, and it wants a tensor"),
            ([split, node("SequenceAt", "rows rows", "y")], info("y"), "node 'SequenceAt' (SequenceAt): 'rows' is a sequence of tensors, and it wants a tensor"),
            ([split, node("SequenceErase", "rows", "fewer"), node("SequenceMap", "rows fewer x", "s t", body=mapped), node("SequenceLength", "s", "y")],
             info("y", onnx.TensorProto.INT64), "its sequences are not of one length"),
            (many + [node("SequenceLength", "s1000", "y")], info("y", onnx.TensorProto.INT64), "more than a million values")):
        save_sequences(nodes, [output])
        refused = subprocess.run(link, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        assert refused.returncode == 1 and wanted in refused.stdout.decode(), (wanted, refused)


# ---- errors ----

def check_mistakes(sklink):
    """One node each, of x [5,3] and the constants that it names, is refused with what is wrong in it."""
    for opset, op, inputs, outputs, attributes, wanted in (
            (18, "Split", {}, 2, {"num_outputs": 3}, "'num_outputs' is 3, but it has 2 outputs"),
            (17, "DFT", {}, 1, {"axis": 0.5}, "attribute 'axis' is an integer, not a number"),
            (9, "Slice", {}, 1, {"starts": 0.5, "ends": [2]}, "attribute 'starts' is a list of integers, not a number"),
            (9, "Pad", {}, 1, {"pads": [0, 0, 1, 1], "value": 1}, "attribute 'value' is a number, not an integer"),
            (9, "TopK", {}, 1, {"k": 2.0}, "attribute 'k' is an integer, not a number"),
            (8, "Upsample", {}, 1, {"scales": [1, 2]}, "attribute 'scales' is a list of numbers, not a list of integers"),
            (13, "Transpose", {}, 1, {"perm": [0, 0]}, "'perm' is not an order of 2 axes"),
            (14, "CumSum", {"two": numpy.array([0, 1])}, 1, {}, "'two' is not one number"),
            (11, "TopK", {"k": numpy.array([9])}, 2, {}, "'x' has 3 elements along axis 1, fewer than requested"),
            (1, "GlobalLpPool", {}, 1, {"p": 1e30}, "'p' is 1e+30, and norms have whole powers"),
            (13, "Gemm", {"x": numpy.int32, "b": numpy.ones((3, 3), numpy.int32)}, 1, {"alpha": 1e30}, "'alpha' is 1e+30, and integers"),
            (13, "Gemm", {"x": numpy.int32, "b": numpy.ones((3, 3), numpy.int32)}, 1, {"alpha": math.nan}, "'alpha' is nan, and integers"),
            (13, "Gemm", {"x": numpy.uint32, "b": numpy.ones((3, 3), numpy.uint32)}, 1, {"alpha": -1.0}, "'alpha' is -1, and integers"),
            (13, "Gemm", {"x": numpy.int32, "b": numpy.ones((3, 3), numpy.int32), "c": numpy.ones(3, numpy.int32)}, 1, {"beta": 0.5},
             "'beta' is 0.5, and integers")):
        x = helper.make_tensor_value_info("x", type_of(numpy.empty(0, inputs.pop("x", f32))), [5, 3])
        made = [f"y{i}" for i in range(outputs)]
        graph = helper.make_graph([helper.make_node(op, ["x", *inputs], made, name=op, **attributes)], "mistake", [x],
                                  [onnx.ValueInfoProto(name=name) for name in made],
                                  [numpy_helper.from_array(array, name) for name, array in inputs.items()])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)]), "mistake.onnx")
        refused = subprocess.run([sklink, "mistake.onnx", "--check"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        assert refused.returncode == 1 and f"node '{op}' ({op}): {wanted}" in refused.stdout.decode(), (wanted, refused)


# ---- absent operators ----

def check_refusals(sklink):
    """Each operator that is absent has its own error, which says what is missing."""
    absent = {"StringNormalizer": ("", "works on texts"), "RegexFullMatch": ("", "works on texts"),
              "OptionalHasElement": ("", "works on optional values"),
              "ImageDecoder": ("", "decodes image files"), "DictVectorizer": ("ai.onnx.ml", "is one of ai.onnx.ml for maps and texts"),
              "Gradient": ("ai.onnx.preview.training", "asks for a derivative"),
              "Unique": ("", "has outputs with shapes that depend on elements"), "Rellu": ("", "there is no operator 'Rellu'")}
    value = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1])
    nodes = [helper.make_node(op, ["x"], [f"y {op}"], name=op, domain=domain) for op, (domain, _) in absent.items()]
    outputs = [helper.make_tensor_value_info(f"y {op}", onnx.TensorProto.FLOAT, None) for op in absent]
    imports = [helper.make_opsetid(domain, 1 if domain else 20) for domain in {one[0] for one in absent.values()}]
    onnx.save(helper.make_model(helper.make_graph(nodes, "absent", [value], outputs), opset_imports=imports), "absent.onnx")
    refused = subprocess.run([sklink, "absent.onnx", "-o", "absent.sk"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             check=False)
    lines = refused.stdout.decode().split("\n")
    assert refused.returncode == 1, refused
    for op, (_, reason) in absent.items():
        assert any(f"node '{op}' ({op}): " in line and reason in line for line in lines), (op, reason, lines)


if __name__ == "__main__":
    check_mistakes(sys.argv[1])
    check_refusals(sys.argv[1])
    check_bodies(*sys.argv[1:])
    check_scan(*sys.argv[1:])
    check_sequences(*sys.argv[1:])
    for version in sorted({one[0] for one in cases}):
        run(*sys.argv[1:], version)
    print(f"{len(cases)} cases")
