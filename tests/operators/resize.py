"""Random cases of Resize and Upsample against their definition in exact fractions: resize.py SKLINK SKRUN LIBRARIES [CASES [SEED]]

Which elements a result is made of, and what they weigh, is computed in fractions, as ONNX's specification says; only the sum of products
is made of floating-point numbers. With mode=nearest results are the same numbers."""
import math
import random
import subprocess
import sys
from fractions import Fraction

import numpy
import onnx
from onnx import helper, numpy_helper

f32, half = numpy.float32, Fraction(1, 2)
LIMIT = 250  # nodes of a model
COORDINATES = ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize")
ROUNDINGS = {"floor": math.floor, "ceil": math.ceil, "round_prefer_floor": lambda x: math.ceil(x - half),
             "round_prefer_ceil": lambda x: math.floor(x + half)}


# ---- numbers that floats represent ----

def fraction_of(number):
    """The fraction with the smallest denominator, up to 4096, that has this float; or else the float itself."""
    for below in range(1, 4097):
        above = math.floor(float(number) * below + 0.5)
        if f32(above / below) == number:
            return Fraction(above, below)
    return Fraction(float(number))


def scale_of(number, length):
    to = math.floor(float(number) * length + 0.5)
    return Fraction(to, length) if f32(to / length) == number else fraction_of(number)


# ---- the definition ----

def place_of(mode, x, start, end, length, resized, width, scale):
    """`width` is the length that `scale` makes, which need not be whole."""
    if mode == "half_pixel_symmetric":
        return Fraction(length, 2) * (1 - resized / width) + (x + half) / scale - half
    if mode == "pytorch_half_pixel":
        return (x + half) / scale - half if resized > 1 else Fraction(0)
    if mode == "align_corners":
        return x * (length - 1) / (width - 1) if resized > 1 and width != 1 else Fraction(0)
    if mode == "asymmetric":
        return x / scale
    if mode == "tf_half_pixel_for_nn":
        return (x + half) / scale
    if mode == "tf_crop_and_resize":
        if resized > 1:
            return start * (length - 1) + x * (end - start) * (length - 1) / (resized - 1)
        return half * (start + end) * (length - 1)
    return (x + half) / scale - half


def weight_at(mode, a, x):
    x = abs(x)
    if mode == "linear":
        return max(1 - x, Fraction(0))
    if x <= 1:
        return (a + 2) * x ** 3 - (a + 3) * x ** 2 + 1
    return a * x ** 3 - 5 * a * x ** 2 + 8 * a * x - 4 * a if x < 2 else Fraction(0)


def matrix_of(node, length, resized, scale, region):
    """The weights of the rows in each result, and what is added to it."""
    matrix, more = numpy.zeros((resized, length)), numpy.zeros(resized)
    mode, coordinates = node["mode"], node["coordinate_transformation_mode"]
    crops = coordinates == "tf_crop_and_resize"
    if length == resized and scale == 1 and not crops:
        return numpy.eye(length), more
    shrink = min(scale, Fraction(1)) if node.get("antialias") else Fraction(1)
    reach = math.ceil((2 if mode == "cubic" else 1) / shrink)
    a = Fraction(float(f32(node.get("cubic_coeff_a", -0.75))))
    for i in range(resized):
        place = place_of(coordinates, Fraction(i), *region, length, resized, scale * length, scale)
        if crops and not 0 <= place <= length - 1:
            more[i] = node.get("extrapolation_value", 0)
            continue
        if mode == "nearest":
            weights = {ROUNDINGS[node["nearest_mode"]](place): Fraction(1)}
        else:
            first = math.floor(place) - reach + 1
            weights = {row: weight_at(mode, a, (row - place) * shrink) for row in range(first, first + 2 * reach)}
        if node.get("exclude_outside") and mode != "nearest":
            weights = {row: weight for row, weight in weights.items() if 0 <= row < length}
        if shrink < 1 or node.get("exclude_outside"):
            total = sum(weights.values())
            weights = {row: weight / total for row, weight in weights.items()} if total else weights
        for row, weight in weights.items():
            matrix[i, min(max(row, 0), length - 1)] += float(weight)
    return matrix, more


def resize(x, node, scales, sizes, roi, axes):
    """None where a length is 0."""
    factors = {}
    if sizes is None:
        for axis, scale, (start, end) in zip(axes, scales, roi):
            factors[axis] = scale_of(scale, x.shape[axis])
    else:
        factors = {axis: Fraction(size, x.shape[axis]) for axis, size in zip(axes, sizes)}
    lengths = dict(zip(axes, sizes or ()))
    policy = node.get("keep_aspect_ratio_policy", "stretch")
    if sizes is not None and policy != "stretch":
        scale = (min if policy == "not_larger" else max)(factors.values())
        factors = {axis: scale for axis in axes}
        lengths = {axis: math.floor(scale * x.shape[axis] + half) for axis in axes}
    y = x.astype(numpy.float64)
    for axis, (start, end) in zip(axes, roi):
        if sizes is None:
            lengths[axis] = math.floor(x.shape[axis] * (end - start) * factors[axis])
        if not 0 < lengths[axis] <= 200:
            return None
        matrix, more = matrix_of(node, x.shape[axis], lengths[axis], factors[axis], (start, end))
        y = numpy.moveaxis(numpy.tensordot(matrix, y, (1, axis)), 0, axis)
        y = y + more.reshape([-1] + [1] * (y.ndim - 1 - axis))
    return y


# ---- cases ----

def draw_scale(length):
    kind = random.randrange(3)
    if kind == 0:
        return f32(f32(random.randint(1, 40)) / f32(length))
    return f32(random.randint(1, 30) / 10) if kind == 1 else f32(random.uniform(0.1, 3))


def draw():
    """A node, its inputs and what it makes; None if that is nothing."""
    shape = [random.randint(1, 40 if i == 0 else 9) for i in range(random.randint(1, 3))]
    axes = random.sample(range(len(shape)), random.randint(1, len(shape)))
    node = {"mode": random.choice(("nearest", "nearest", "linear", "cubic")), "coordinate_transformation_mode": random.choice(COORDINATES),
            "nearest_mode": random.choice(list(ROUNDINGS)), "axes": axes}
    crops = node["coordinate_transformation_mode"] == "tf_crop_and_resize"
    if node["mode"] != "nearest":
        node["antialias"], node["exclude_outside"] = random.randrange(2), random.randrange(2) if node["mode"] == "cubic" else 0
        node["cubic_coeff_a"] = random.choice((-0.75, -0.5))
    roi, scales, sizes = None, None, None
    regions = [(Fraction(0), Fraction(1))] * len(axes)
    if crops:
        node["extrapolation_value"] = 100.0
        starts = [f32(random.randint(-2, 6) / 10) for _ in axes]
        ends = [f32(random.randint(7, 12) / 10) if random.randrange(2) else f32(start + random.random()) for start in starts]
        roi, regions = numpy.array(starts + ends, f32), [(fraction_of(start), fraction_of(end)) for start, end in zip(starts, ends)]
    if random.randrange(2):
        scales = [draw_scale(shape[axis]) for axis in axes]
    else:
        sizes = [random.randint(1, 40) if shape[axis] > 9 else random.randint(1, 20) for axis in axes]
        if not crops:
            node["keep_aspect_ratio_policy"] = random.choice(("stretch", "stretch", "not_larger", "not_smaller"))
    x = numpy.array(random.sample(range(10000), math.prod(shape)), f32).reshape(shape) / (1 if node["mode"] == "nearest" else 100)
    y = resize(x, node, scales, sizes, regions, axes)
    return None if y is None else (node, x, roi, scales and numpy.array(scales, f32), sizes and numpy.array(sizes), y)


def run(sklink, skrun, libraries, cases):
    nodes, inputs, constants, outputs = [], [], [], []
    for number, (node, x, roi, scales, sizes, y) in enumerate(cases):
        names = [f"x{number}"]
        inputs.append(helper.make_tensor_value_info(names[0], onnx.TensorProto.FLOAT, x.shape))
        numpy.save(f"{names[0]}.npy", x)
        for word, array in (("roi", roi), ("scales", scales), ("sizes", sizes)):
            names.append("" if array is None else f"{word}{number}")
            if array is not None:
                constants.append(numpy_helper.from_array(array, names[-1]))
        nodes.append(helper.make_node("Resize", names, [f"y{number}"], **node))
        outputs.append(helper.make_tensor_value_info(f"y{number}", onnx.TensorProto.FLOAT, None))
    model = helper.make_model(helper.make_graph(nodes, "resize", inputs, outputs, constants), opset_imports=[helper.make_opsetid("", 19)])
    with open("resize.onnx", "wb") as file:  # onnx.save would refuse what Debian's version does not know
        file.write(model.SerializeToString())
    subprocess.run([sklink, "resize.onnx", "-L", libraries, "-lskernels", "-o", "resize.sk"], check=True)
    words = [f"--input=x{i}=x{i}.npy" for i in range(len(cases))] + [f"--output=y{i}=y{i}.npy" for i in range(len(cases))]
    subprocess.run([skrun, "resize.sk", *words], check=True, stdout=subprocess.DEVNULL)
    for i, (node, x, roi, scales, sizes, y) in enumerate(cases):
        what, got = f"{node} of {x.shape}, roi {roi}, scales {scales}, sizes {sizes}", numpy.load(f"y{i}.npy")
        assert got.shape == y.shape, (what, got.shape, y.shape)
        # Cubic weights are between -1 and 2, along three axes.
        allowed = 0 if node["mode"] == "nearest" else 1e-4 * numpy.abs(x).max()
        if not (numpy.abs(got - y) <= allowed).all():
            raise AssertionError(f"{what}: {got} is not {y}")


def main():
    sklink, skrun, libraries = sys.argv[1:4]
    count, seed = (int(word) for word in (sys.argv[4:] + ["250", "1"][len(sys.argv) - 4:]))
    random.seed(seed)
    left = count
    while left:
        cases = []
        while len(cases) < min(left, LIMIT):
            case = draw()
            if case:
                cases.append(case)
        run(sklink, skrun, libraries, cases)
        left -= len(cases)
    print(f"{count} cases of Resize from seed {seed} on")


main()
