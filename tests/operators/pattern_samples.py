"""What patterns of rules are made with: an array for each name that a pattern takes, in a tuple if it is a constant; values of
attributes, by the attribute's name in the rule or as "Operator.key" where it may be anything; and `types` of values that have not the
type of what they are made of. For each rule, what is near and no longer its pattern."""
import numpy

random = numpy.random.default_rng(5)


def f32(*shape):
    return random.standard_normal(shape).astype(numpy.float32)


def real(value, dtype="float32"):
    return (numpy.array(value, dtype),)


def as_half(sample, *but):
    """All floats in f16, but for these."""
    def half(array):
        constant = isinstance(array, tuple)
        array = array[0] if constant else array
        array = array.astype(numpy.float16) if getattr(array, "dtype", None) == numpy.float32 else array
        return (array,) if constant else array
    return {name: half(array) if name not in but and isinstance(array, (tuple, numpy.ndarray)) else array for name, array in sample.items()}


# ---- onnx.yaml ----


def attention(variant, texts):
    lead = (6,) if variant == 3 else (2, 3)
    sample = {
        "q": f32(*lead, 5, 8), "kt": f32(*lead, 8, 7), "v": f32(*lead, 7, 4), "mask": f32(5, 7), "axis": -1,
        "c": real(0.37), "c2": real(0.7), "d": real([2.5]), "d2": real(1.5), "low": real(-3e38), "Cast.to": 10,
        "shown": random.random((1, 1, 5, 7)) < 0.7, "hidden": random.random((5, 7)) < 0.3,
    }
    sample["mask"][2, 3] = -numpy.inf
    sample["hidden"][1] = True
    if any("Cast" in text for text in texts):
        sample["low"] = real(-60000)
    return as_half(sample) if any("Cast" in text for text in texts) else sample


def normalisation(variant, texts):
    sample = {"x": 2 + f32(2, 4, 6), "axes": (numpy.array([-1]),), "e": real(1e-5), "scale": f32(6), "bias": f32(6), "Cast.to": 10}
    if any("count" in text for text in texts):
        sample["count"] = real(6)
    return as_half(sample, "e") if any("Cast" in text for text in texts) else sample


def rotary(variant, texts):
    half = f32(2, 1, 5, 4) if variant % 2 else f32(5, 4)
    numbers = half if variant < 2 or variant == 4 else numpy.concatenate([half, half], -1)
    ends = {"begin1": [0], "end1": [4], "begin2": [4], "end2": [2 ** 63 - 1], "parts": [4, 4], "one": [1]}
    sample = {"x": f32(2, 3, 5, 8), "c": (numbers,), "s": (numbers * 2,), "split": -1, "axis": 3, "Split.num_outputs": 2}
    sample.update({name: (numpy.array(array),) for name, array in ends.items()})
    if "split" in " ".join(texts) and variant % 2:
        sample["split"] = (numpy.array([3]),)
    if "num_outputs" in texts[0] and "parts" in texts[0]:
        del sample["Split.num_outputs"]
    if variant == 4:
        sides = {"split": [3], "end1": [8], "begin2": [1], "two": [2], "last": [-1], "whole": [2, 3, 5, 8]}
        sample.update({"axis": -1, **{name: (numpy.array(array),) for name, array in sides.items()}})
    return sample


def convolved(variant, texts):
    steps = {"xs": real(0.02), "ws": (numpy.array([0.01, 0.03, 0.02], numpy.float32),), "ys": real(0.05)}
    sample = {"x": random.integers(0, 256, (1, 2, 6, 5), numpy.uint8), "xz": (numpy.uint8(120),), "yz": (numpy.uint8(100),),
              "w": (random.integers(-127, 128, (3, 2, 3, 3), numpy.int8),), "wz": (numpy.zeros(3, numpy.int8),),
              "bias": (random.integers(-900, 900, 3, numpy.int32),), "bs": (steps["xs"][0] * steps["ws"][0],), "bz": None,
              "axis": 0, "DequantizeLinear.axis": 0, "group": 1, "pads": [1, 0, 1, 0], "strides": [2, 1]}
    return {**sample, **steps}


def in_parts(variant, texts):
    return {"x": f32(2, 4, 6), "axes": (numpy.array([1]),), "axes2": (numpy.array([-2]),)}


def gated(variant, texts):
    return {"g": f32(3, 5), "u": f32(3, 5)}


def of_x(variant, texts):
    return {"x": f32(3, 5), "alpha": real(1.702)}


SAMPLES = {"Attention": attention, "LayerNormalization": normalisation, "RMSNormalization": normalisation, "GeluErf": of_x,
           "RotaryEmbedding": rotary,
           "GeluTanh": of_x, "QLinearConv": convolved, "Softmax": in_parts, "SwiGlu": gated, "Swish": of_x}


# ---- passes.yaml ----


def masked(variant, texts):
    return {"q": f32(2, 3, 5, 8), "k": f32(2, 3, 7, 8), "v": f32(2, 3, 7, 4), "mask": f32(5, 7), "d": real(8 ** 0.5), "axis": 3}


def unmasked(variant, texts):
    return {**masked(variant, texts), "d": real(8), "zero": real(0), "to": (numpy.array([5, 7]),)}


def sums(variant, texts):
    """What normalisations of sums take."""
    sample = {"a": f32(2, 4, 6), "b": f32(2, 4, 6), "gamma": f32(6), "beta": f32(6), "e": 0.25, "axis": -1}
    if "LayerNorm(" in " ".join(texts):
        sample.update({"LayerNorm.begin_norm_axis": 2, "LayerNorm.begin_params_axis": 2})
    return sample


def quantised_sums(variant, texts):
    scales = {"scale": 30 * abs(f32(6)) + 1, "offset": numpy.array([3, -2, 0, 1, 7, -9], numpy.int8), "QuantV2.axis": -1}
    sample = {**as_half(sums(variant, texts)), **scales}
    return {**sample, "x": sample["a"]}


def cast_sums(variant, texts):
    return {**as_half(sums(variant, texts)), "Cast.to": 10}


def pieces(variant, texts):
    return {"x": f32(16, 3), "from": 0, "to": 1, "sizes": None, "Split.num_outputs": 2, "pieces": 2}


def some_pieces(count, rows, **others):
    return {"x": f32(count * rows, 3), "Split.num_outputs": count, "pieces": count, **others}


def gates(variant, texts):
    return {"x": f32(2, 3, 8), "dim": -1, "sizes": (numpy.array([4, 4]),)}


def split_bytes(variant, sizes):
    """All operands, or those that must be there; i8 with an offset, or floats."""
    factors = {"x": random.integers(-9, 9, (2, 3, 8), numpy.int8), "w": random.integers(-9, 9, (10, 8), numpy.int8)}
    numbers = {"scale": 0.1 * f32(10), "offset": f32(10) if variant > 5 else None, "tokens": f32(6) if variant != 5 else None,
               "c": random.integers(-99, 99, 10, numpy.int32) if variant % 2 else None, "to": 3 if variant > 5 else 1}
    dtype = numpy.int8 if variant > 5 else numpy.float32
    types = {name: dtype for name in ("m", "p", "p0", "p1", "p2", "y")}
    return {**factors, **numpy_shapes(sizes), **numbers, "axis": 2, "types": types}


def numpy_shapes(sizes):
    return {"flat": (numpy.array([6, 8]),), "whole": (numpy.array([2, 3, 10]),), "sizes": (numpy.array(sizes),)}


def split_product(variant, texts):
    sizes = [2, 3, 5] if variant in (3, 7) else [4, 6]
    if variant > 3:
        return split_bytes(variant, sizes)
    return {**as_half({"x": f32(2, 3, 8), "w": f32(10, 8), "c": f32(10)}), **numpy_shapes(sizes), "axis": 2}


def product(variant, texts):
    turned = "transB" in texts[0]
    sample = {"a": f32(3, 5), "b": f32(4, 5) if turned else f32(5, 4), "c": f32(4), "t": int(turned), "how": "tanh", "layout": "NHWC"}
    return as_half(sample) if ", c" in texts[0] and variant < 2 else sample


# ---- torchair.yaml ----


def sum_of_rows(variant, texts):
    half = numpy.float16
    sample = {"x1": f32(2, 3, 16).astype(half), "x2": f32(2, 3, 16).astype(half), "gamma": f32(16).astype(half), "e": 0.25}
    sample.update({"smooth": abs(f32(16)).astype(half), "scales": abs(f32(16)) / 30, "zero": f32(16).round(), "div": 1, "axis": -1})
    return sample


def flat_rows(variant, texts):
    """Rows after any operator that only changes shapes."""
    lead = (1, 6) if any("Squeeze(y" in text for text in texts) else () if any("Unsqueeze(y" in text for text in texts) else (2, 3)
    rows = [f32(*lead, 16).astype(numpy.float16) for _ in range(2)]
    shapes = {"rows": [6, 16], "one": [-1, 1], "axes": [0], "last": [1]}
    return {**sum_of_rows(variant, texts), "x1": rows[0], "x2": rows[1], "i": 2, "j": 1, "Flatten.axis": 2,
            **{name: (numpy.array(shape),) for name, shape in shapes.items()}}


def turned_batches(variant, texts):
    return {"x1": f32(2, 3, 128) if variant else f32(3, 2, 128), "x2": f32(2, 128, 128)}


def bytes_with_bias(variant, texts):
    scales, bias = numpy.array([0.5, 0.25, 1, 2, 0.125], numpy.float32), numpy.array([1, 2, -3, 4, 5], numpy.float16)
    factors = {"x1": random.integers(-9, 9, (4, 6), numpy.int8), "x2": random.integers(-9, 9, (6, 5), numpy.int8)}
    return {**factors, "scale": (scales,), "b": (bias,), "t1": 0, "t2": 0, "to": 10}


SAMPLES.update({
    "transpose_batchmatmul": turned_batches, "inference_qbmm_add_fusion": bytes_with_bias,
    "FlashAttentionFusionV1": masked, "FlashAttentionFusionV2": unmasked, "add_layer_norm_fusion": sums, "add_layer_norm_v3_fusion": sums,
    "add_rms_norm_quant_fusion": quantised_sums, "rms_norm_quant_fusion": quantised_sums,
    "add_rms_norm_fusion": sums, "add_cast_rms_norm_cast_fusion": cast_sums, "split_concat_fusion": pieces,
    "inference_swiglu_fusion": gates, "inference_matmul_split_fusion": split_product, "matmul_elem_biasadd_fusion": product,
    "matmul_elem_add_fusion": product, "matmul_elem_relu_fusion": product, "matmul_elem_gelu_fusion": product,
    "add_rms_norm_dynamic_quant": sum_of_rows, "add_rms_norm_dynamic_quant_flatten": flat_rows, "add_rms_norm_cast": flat_rows,
    "add_rms_norm_quant": sum_of_rows,
})


def sample(rule, variant, texts):
    return SAMPLES[rule](variant, texts)


def near(rule, variant):
    for name, other in NEAR.get(rule, {}).items():
        if name in ("all", str(variant)) or name in ("odd", "even") and variant % 2 == (name == "odd"):
            yield from other


half_rows = {"x1": numpy.ones((2, 3, 8), numpy.float16), "x2": numpy.ones((2, 3, 8), numpy.float16), "gamma": numpy.ones(8, numpy.float16),
             "scales": numpy.ones(8, numpy.float32), "zero": numpy.ones(8, numpy.float32)}
TARGETS = {"QLinearConv": "ascend", "inference_qbmm_add_fusion": "ascend"} # where it is not the host's rule
# tests/graph/pattern-fusion.sh checks these: two need ranks, and one needs the name of an operator of MindSpore
CHECKED_APART = {"MatMulAllReduce", "inference_qbmm_allreduce_add_fusion", "add_layer_norm_ext_fusion"}
# What else is a pattern.
MORE = {"split_concat_fusion": [some_pieces(3, 4), some_pieces(5, 1, to=-1), some_pieces(64, 2), some_pieces(128, 1, **{"from": -2}),
                                some_pieces(7, 2, **{"sizes": (numpy.full(7, 2),), "Split.num_outputs": None})]}
NEAR = {
    "Attention": {"all": [{"axis": 1}], "0": [{"d": real(0)}, {"d": real(1e-39)}, {"d": real(numpy.nan)}],
                  "1": [{"low": real(-1e9)}], "2": [{"low": real(-1e9)}]},
    "LayerNormalization": {"all": [{"axes": (numpy.array([1]),)}, {"axes": (numpy.array([0, 2]),)}, {"e": f32()}]},
    "Softmax": {"all": [{"axes": (numpy.array([-1]),)}, {"axes": (numpy.array([1, 2]),), "axes2": (numpy.array([1, 2]),)}]},
    "RotaryEmbedding": {
        "0": [{"axis": 1}, {"c": f32(1, 3, 5, 4), "s": f32(1, 3, 5, 4)}],
        "1": [{"axis": 1}, {"c": f32(1, 3, 5, 4), "s": f32(1, 3, 5, 4)}],
        "2": [{"c": (f32(5, 8),)}, {"s": f32(5, 8)}],
        "3": [{"c": (f32(5, 8),)}, {"s": f32(5, 8)}],
        "4": [{"begin1": (numpy.array([1]),), "begin2": (numpy.array([0]),)}, {"c": f32(1, 3, 5, 4), "s": f32(1, 3, 5, 4)},
              {"whole": (numpy.array([2, 3, 4, 10]),)}],
        "odd": [{name: (numpy.array([end]),) for name, end in (("begin1", 4), ("end1", 8), ("begin2", 0), ("end2", 4))}],
    },
    "QLinearConv": {"all": [{"ws": (numpy.array([0.01, 0.03], numpy.float32),), "wz": (numpy.zeros(2, numpy.int8),), "axis": 1},
                            {"ys": real(0)}, {"ys": real(1e-43)}, *({"ws": (numpy.array([0.01, last, 0.02], numpy.float32),)} for last in (numpy.inf, numpy.nan))],
                    "1": [{"bs": (numpy.array([0.01, 0.03, 0.02], numpy.float32),)}, {"bias": (numpy.array([0, 2 ** 31 - 1, 0], numpy.int32),)}]},
    "SwiGlu": {"all": [{"u": f32(5)}]},
    "Swish": {"1": [{"alpha": f32()}]},
    "FlashAttentionFusionV1": {"all": [{"d": real(3)}, {"axis": 2}, {"q": f32(2, 3, 1, 8)}, {"d": numpy.float32(8 ** 0.5)}]},
    "FlashAttentionFusionV2": {"all": [{"d": real(3)}, {"zero": real(1)}, {"axis": 2}, {"q": f32(2, 3, 1, 8)}]},
    "add_layer_norm_fusion": {"all": [{"b": f32(6)}]},
    "add_layer_norm_v3_fusion": {"all": [{"b": f32(6)}, {"gamma": f32(1)}]},
    "add_rms_norm_quant_fusion": {"all": [{"b": f32(6).astype(numpy.float16)}, {"offset": numpy.ones(6, numpy.int32)},
                                          {name: f32(*shape) for name, shape in (("a", (2, 4, 6)), ("b", (2, 4, 6)), ("gamma", (6,)))}]},
    "rms_norm_quant_fusion": {"all": [{"offset": numpy.ones(6, numpy.int32)}, {"gamma": numpy.ones((4, 6), numpy.float16)}]},
    "add_rms_norm_fusion": {"all": [{"b": f32(6)}], "1": [{"gamma": f32(1)}]},
    "add_cast_rms_norm_cast_fusion": {"all": [{"b": f32(6).astype(numpy.float16)}, {"Cast.to": 1}]},
    "split_concat_fusion": {"all": [{"from": 1, "x": f32(3, 16)}, {"to": 0}, some_pieces(129, 1), some_pieces(1, 4)]},
    "inference_swiglu_fusion": {"0": [{"sizes": (numpy.array([1, 7]),)}]},
    "inference_matmul_split_fusion": {
        **{str(variant): [{"x": f32(2, 3, 8), "w": f32(10, 8), "c": f32(10)}] for variant in (0, 1)},
        "2": [{"x": f32(2, 3, 8), "w": f32(10, 8), "c": f32(10)}, {"axis": 1, "sizes": (numpy.array([1, 2]),)}, {"whole": (numpy.array([6, 2, 5]),), "sizes": (numpy.array([2, 3]),)}],
        "6": [{"axis": 1, "sizes": (numpy.array([1, 2]),)}],
        "3": [{"x": f32(2, 3, 8), "w": f32(10, 8), "c": f32(10)}, {"axis": 1, "sizes": (numpy.array([1, 1, 1]),)}, {"whole": (numpy.array([6, 2, 5]),), "sizes": (numpy.array([1, 2, 2]),)}],
    },
    "matmul_elem_biasadd_fusion": {"0": [{"a": numpy.ones((2, 5, 6), numpy.float16), "b": numpy.ones((6, 5), numpy.float16), "c": numpy.ones(5, numpy.float16), "layout": "NCHW"}], "2": [{"a": f32(2, 3, 5), "c": f32(3)}]},
    "matmul_elem_add_fusion": {"0": [{"c": f32(3, 4).astype(numpy.float16)}, {"c": f32(1).astype(numpy.float16)},
                                     {"a": f32(3, 5), "b": f32(5, 4), "c": f32(4)}]},
    "matmul_elem_relu_fusion": {"0": [{"b": f32(2, 5, 4)}]},
    "matmul_elem_gelu_fusion": {"0": [{"b": f32(2, 5, 4)}]},
    "inference_qbmm_add_fusion": {"all": [{"b": numpy.ones(5, numpy.float16)}, {"b": (numpy.ones((1, 5), numpy.float16),)},
                                          {"scale": numpy.ones(5, numpy.float32)}, {"scale": (numpy.ones(1, numpy.float32),)},
                                          *({"scale": (numpy.array([1, 1, last, 1, 1], numpy.float32),)} for last in (0, 1e-9, 1e-42, numpy.inf, numpy.nan)),
                                          *({"b": (numpy.array([1, 1, last, 1, 1], numpy.float16),)} for last in (numpy.inf, numpy.nan))]},
    "transpose_batchmatmul": {"0": [{"x2": f32(2, 128, 127)}],
                              "1": [{"x2": f32(2, 128, 127)}, {"x1": f32(2, 3, 127), "x2": f32(2, 127, 128)}, {"x2": f32(128, 128)}]},
    "add_rms_norm_dynamic_quant": {"all": [{"smooth": None}]},
    "add_rms_norm_dynamic_quant_flatten": {"all": [{"rows": (numpy.array([3, 32]),)}, {"rows": (numpy.array([2, 3, 16]),)},
                                                   {"one": (numpy.array([1, -1]),)}, {"one": (numpy.array([-1]),)}]},
    "add_rms_norm_cast": {"0": [{"rows": (numpy.array([12, 8]),)}], "1": [{"rows": (numpy.array([2, 48]),)}]},
    "add_rms_norm_quant": {"all": [{"div": 0}, {"zero": numpy.ones(16, numpy.int8)}, half_rows, {"scales": real(2.5)}]},
}
NEAR["RMSNormalization"] = NEAR["LayerNormalization"]
NEAR["LayerNormalization"] = {**NEAR["LayerNormalization"], **{variant: [{"count": real(5)}] for variant in "456"}}
