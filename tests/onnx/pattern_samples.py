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
        "c": real(0.37), "c2": real(0.7), "d": real([2.5]), "d2": real(1.5), "low": real(-1e9), "Cast.to": 10,
        "shown": random.random((1, 1, 5, 7)) < 0.7, "hidden": random.random((5, 7)) < 0.3,
    }
    sample["mask"][2, 3] = -numpy.inf
    if any("Cast" in text for text in texts):
        sample["low"] = real(-60000)
    return as_half(sample) if any("Cast" in text for text in texts) else sample


def normalisation(variant, texts):
    sample = {"x": 2 + f32(2, 4, 6), "axes": (numpy.array([-1]),), "e": real(1e-5), "scale": f32(6), "bias": f32(6), "Cast.to": 10}
    return as_half(sample, "e") if any("Cast" in text for text in texts) else sample


def rotary(variant, texts):
    half = f32(2, 1, 5, 4) if variant % 2 else f32(5, 4)
    numbers = half if variant < 2 else numpy.concatenate([half, half], -1)
    ends = {"begin1": [0], "end1": [4], "begin2": [4], "end2": [2 ** 63 - 1], "parts": [4, 4], "one": [1]}
    sample = {"x": f32(2, 3, 5, 8), "c": (numbers,), "s": (numbers * 2,), "split": -1, "axis": 3, "Split.num_outputs": 2}
    sample.update({name: (numpy.array(array),) for name, array in ends.items()})
    if "split" in " ".join(texts) and variant % 2:
        sample["split"] = (numpy.array([3]),)
    if "num_outputs" in texts[0] and "parts" in texts[0]:
        del sample["Split.num_outputs"]
    return sample


def of_x(variant, texts):
    return {"x": f32(3, 5), "alpha": real(1.702)}


SAMPLES = {"Attention": attention, "LayerNormalization": normalisation, "RMSNormalization": normalisation, "GeluErf": of_x,
           "RotaryEmbedding": rotary,
           "GeluTanh": of_x, "Swish": of_x}


def sample(rule, variant, texts):
    return SAMPLES[rule](variant, texts)


def near(rule, variant):
    if rule == "Attention":
        yield {"axis": 1}
        if variant in (1, 2):
            yield {"low": real(-1)}
    elif rule == "LayerNormalization" or rule == "RMSNormalization":
        yield {"axes": (numpy.array([1]),)}
        yield {"axes": (numpy.array([0, 2]),)}
        yield {"e": f32()}
    elif rule == "RotaryEmbedding":
        if variant < 2:
            yield {"axis": 1}
        if variant % 2:
            yield {"begin1": (numpy.array([4]),), "end1": (numpy.array([8]),), "begin2": (numpy.array([0]),), "end2": (numpy.array([4]),)}
        yield {"c": f32(1, 3, 5, 4 if variant < 2 else 8), "s": f32(1, 3, 5, 4 if variant < 2 else 8)}
        if variant >= 2:
            yield {"c": (f32(5, 8),)}
            yield {"s": f32(5, 8)}
    elif rule == "Swish" and variant == 1:
        yield {"alpha": f32()}


def place(rule):
    return "fusion_group", rule
