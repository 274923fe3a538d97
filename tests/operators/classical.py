"""Random nodes of ai.onnx.ml against numpy, from the text of the operators. classical.py SKLINK SKRUN LIBRARIES CASES SEED

All nodes of a round are one model, with the number of rows N open: it is linked for a number, and for N=1..1000, and run
in several ways at several sizes. References compute in double precision, but for steps whose bits are defined."""
import math
import os
import subprocess
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

f32, f64, i32, i64 = numpy.float32, numpy.float64, numpy.int32, numpy.int64
ML = "ai.onnx.ml"
TYPES = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE, "int32": TensorProto.INT32, "int64": TensorProto.INT64,
         "int16": TensorProto.INT16}
TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]
EXACT = 0.0
random = None # numpy's generator, seeded by each round


def numbers(*shape, scale=1.0):
    return (random.standard_normal(shape) * scale).astype(f32)


def some_rows(n, width, dtype, specials=True):
    """Rows of a type, with a few NaNs and zeros of either sign among floats."""
    if numpy.issubdtype(dtype, numpy.integer):
        return random.integers(-9, 10, (n, width)).astype(dtype)
    x = random.standard_normal((n, width)).astype(dtype)
    if specials:
        x[random.random(x.shape) < 0.05] = 0
        x[random.random(x.shape) < 0.02] = -0.0
    return x


def floats(x):
    """The type that scores are computed in."""
    return x if x.dtype == f64 else x.astype(f32)


# ---- post transforms ----

def probit(x):
    v = 2 * x - 1
    with numpy.errstate(all="ignore"):
        log = numpy.log((1 - v) * (1 + v))
        a = 2 / (math.pi * 0.147) + log / 2
        return numpy.sign(v) * 1.41421356 * numpy.sqrt(numpy.sqrt(a * a - log / 0.147) - a)


def softmax_zero(x):
    most = x.max(1, keepdims=True)
    parts = numpy.where(abs(x) > 1e-7, numpy.exp(x - most), x * numpy.exp(-most))
    total = parts.sum(1, keepdims=True)
    with numpy.errstate(all="ignore"):
        return numpy.where(total == 0, 0.5, parts / total)


def transformed(scores, transform):
    scores = scores.astype(f64)
    if transform == "SOFTMAX":
        powers = numpy.exp(scores - scores.max(1, keepdims=True))
        return powers / powers.sum(1, keepdims=True)
    if transform == "LOGISTIC":
        return 1 / (1 + numpy.exp(-scores))
    return {"NONE": lambda x: x, "SOFTMAX_ZERO": softmax_zero, "PROBIT": probit}[transform](scores)


# ---- operators: each returns inputs of n rows, attributes, and a function from inputs to [(dtype, array, bound)] ----

def scaler(width):
    dtype = random.choice([f32, f64, i32, i64])
    count = random.choice([1, width])
    offset, scale = numbers(count), numbers(count)

    def reference(x):
        x = floats(x)
        return [(f32, ((x - offset.astype(x.dtype)) * scale.astype(x.dtype)).astype(f32), EXACT)]
    return lambda n: [some_rows(n, width, dtype)], dict(offset=offset.tolist(), scale=scale.tolist()), reference


def normalizer(width):
    dtype, norm = random.choice([f32, f64, i32, i64]), random.choice(["MAX", "L1", "L2"])

    def rows(n):
        x = some_rows(n, width, dtype)
        x[random.random(n) < 0.2] = 0
        return [x]

    def reference(x):
        x = floats(x).astype(f64)
        divisor = {"MAX": lambda: x.max(1), "L1": lambda: abs(x).sum(1), "L2": lambda: numpy.sqrt((x * x).sum(1))}[norm]()
        return [(f32, x / numpy.where(divisor == 0, 1, divisor)[:, None], 1e-5)]
    return rows, dict(norm=norm), reference


def imputer(width):
    dtype, count = random.choice([f32, f64, i32, i64]), random.choice([1, width])
    if numpy.issubdtype(dtype, numpy.integer):
        values, replaced = random.integers(-99, 99, count), int(random.integers(-3, 4))
        attributes = dict(imputed_value_int64s=values.tolist(), replaced_value_int64=replaced)
    else:
        values, replaced = numbers(count), random.choice([math.nan, 0.0, 1.5])
        attributes = dict(imputed_value_floats=values.tolist(), replaced_value_float=replaced)

    def rows(n):
        x = some_rows(n, width, dtype)
        x[random.random(x.shape) < 0.2] = 2 if numpy.issubdtype(dtype, numpy.integer) else replaced
        if not numpy.issubdtype(dtype, numpy.integer):
            x[random.random(x.shape) < 0.1] = math.nan
        return [x]

    def reference(x):
        missing = numpy.isnan(x) if replaced != replaced else x == replaced
        return [(dtype, numpy.where(missing, values.astype(dtype), x), EXACT)]
    return rows, attributes, reference


def binarizer(width):
    dtype = random.choice([f32, f64, i32, i64])
    threshold = float(f32(random.choice([0.0, 0.0, 3, 3, -0.5, 0.25, -3.5, 1e12, -1e12, 1e30, -1e30, math.nan])))
    # Integers are compared as they are, also those that floats round.
    return (lambda n: [some_rows(n, width, dtype)], dict(threshold=threshold),
            lambda x: [(dtype, numpy.vectorize(lambda one: one > threshold, otypes=[bool])(x.astype(object)), EXACT)])


def product(x, coefficients, intercepts):
    return floats(x).astype(f64) @ coefficients.astype(f64).T + (0 if intercepts is None else intercepts.astype(f64))


def linear_regressor(width):
    dtype, targets, transform = random.choice([f32, f64, i32, i64]), int(random.integers(1, 5)), random.choice(TRANSFORMS)
    coefficients, intercepts = numbers(targets, width, scale=0.05), random.choice([None, 1])
    attributes = dict(coefficients=coefficients.ravel().tolist(), targets=targets, post_transform=transform)
    if transform == "PROBIT": # of numbers between 0 and 1
        coefficients, intercepts = abs(coefficients) / (3 * width), 1
        attributes["coefficients"] = coefficients.ravel().tolist()
    if intercepts is not None:
        intercepts = numbers(targets) if transform != "PROBIT" else numpy.full(targets, 0.5, f32)
        attributes["intercepts"] = intercepts.tolist()
    return (lambda n: [some_rows(n, width, dtype)], attributes,
            lambda x: [(f32, transformed(product(x, coefficients, intercepts), transform), 2e-4)])


def linear_classifier(width):
    dtype, transform = random.choice([f32, f64, i32, i64]), random.choice(TRANSFORMS[:4])
    classes = int(random.integers(2, 6))
    single = classes == 2 and width > 1 and random.random() < 0.6
    labels = random.choice([numpy.arange(classes), random.permutation(99)[:classes] - 50])
    coefficients, intercepts = numbers(1 if single else classes, width), numbers(1 if single else classes)
    attributes = dict(coefficients=coefficients.ravel().tolist(), intercepts=intercepts.tolist(), post_transform=transform,
                      classlabels_ints=labels.tolist(), multi_class=int(random.integers(0, 2)))

    def reference(x):
        scores = product(x, coefficients, intercepts)
        if single:
            scores = numpy.concatenate([-scores, scores], 1)
        ordered = numpy.sort(scores, 1)
        clear = ordered[:, -1] - ordered[:, -2] > 1e-4 # rounding decides between the others
        return [(i64, labels[scores.argmax(1)], clear), (f32, transformed(scores, transform), 2e-4)]
    return lambda n: [some_rows(n, width, dtype)], attributes, reference


def array_feature_extractor(width):
    dtype, places = random.choice([f32, f64, i32, i64]), random.integers(0, width, (1, int(random.integers(1, 9))))
    return (lambda n: [some_rows(n, width, dtype), ("constant", places)], {},
            lambda x, y: [(dtype, x[:, places[0]], EXACT)])


def feature_vectorizer(width):
    dtypes = [random.choice([f32, f64, i32, i64])] * int(random.integers(1, 4))
    widths = [width + i for i in range(len(dtypes))]
    return (lambda n: [some_rows(n, w, t) for w, t in zip(widths, dtypes)], dict(inputdimensions=widths),
            lambda *x: [(f32, numpy.concatenate([one.astype(f32) for one in x], 1), EXACT)])


def one_hot_encoder(width):
    dtype, cats = random.choice([f32, f64, i32, i64]), random.permutation(40)[:int(random.integers(1, 20))] - 20
    inside = random.random() < 0.5

    def rows(n):
        x = random.choice(cats, (n, width)) if inside else random.integers(-25, 25, (n, width))
        if numpy.issubdtype(dtype, numpy.integer):
            return [x.astype(dtype)]
        x = (x + 0.5 * numpy.sign(x)).astype(dtype)  # towards zero it is the integer again
        if not inside:
            x[random.random(x.shape) < 0.2] = numpy.nan  # no category
        return [x]

    def reference(x):
        return [(f32, (numpy.trunc(x.astype(f64))[..., None] == cats).astype(f32), EXACT)]
    return rows, dict(cats_int64s=cats.tolist(), zeros=0 if inside else 1), reference


def label_encoder(width, version):
    kinds = {"int64s": i64, "floats": f32}
    kind, other = random.choice(list(kinds)), random.choice(list(kinds))
    key_type, value_type, count = kinds[kind], kinds[other], int(random.integers(1, 40))
    tensors = version >= 4 and random.random() < 0.5
    if tensors:
        key_type, value_type = (random.choice([f32, f64, i64, i32, numpy.int16]) for _ in range(2))
    keys = (random.permutation(80)[:count] - 40).astype(key_type)
    if not numpy.issubdtype(key_type, numpy.integer):
        keys = keys / key_type(4)
        if random.random() < 0.5:
            keys[random.integers(count)] = math.nan
    if version >= 4 and count > 1: # of keys that are the same, the last one counts
        keys[0] = keys[-1]
    values = (random.standard_normal(count) * 50).astype(value_type)
    if tensors:
        default = numpy.array([7], value_type)
        attributes = dict(keys_tensor=numpy_helper.from_array(keys), values_tensor=numpy_helper.from_array(values),
                          default_tensor=numpy_helper.from_array(default))
    else:
        default = numpy.array([-5], value_type)
        attributes = {"keys_" + kind: keys.tolist(), "values_" + other: values.tolist(),
                      {"int64s": "default_int64", "floats": "default_float"}[other]: default[0].item()}

    def rows(n):
        x = random.choice(keys, (n, width))
        x[random.random(x.shape) < 0.2] = 77
        if not numpy.issubdtype(key_type, numpy.integer):
            x[random.random(x.shape) < 0.1] = -0.0
            x[random.random(x.shape) < 0.1] = math.nan
        return [x]

    def find(x, key):
        if version >= 4:
            return (x == key) | ((x != x) & (key != key))
        bits = f"u{x.dtype.itemsize}"
        return x.view(bits) == numpy.array(key).view(bits)

    def reference(x):
        y = numpy.full(x.shape, default[0], value_type)
        for key, value in zip(keys, values):
            y[find(x, key)] = value
        return [(value_type, y, EXACT)]
    return rows, attributes, reference


def zip_map(width):
    labels = dict(classlabels_int64s=list(range(width))) if random.random() < 0.5 else dict(
        classlabels_strings=[f"label {i}" for i in range(width)])
    return lambda n: [some_rows(n, width, f32)], labels, lambda x: [(f32, x, EXACT)]


# ---- support vector machines ----

def machine(width, count):
    """Vectors, attributes, and a function to the values of the kernel [n, count]."""
    kind = random.choice(["LINEAR", "POLY", "RBF", "SIGMOID"])
    gamma, offset, degree = float(f32(random.uniform(0.01, 0.5))), float(f32(random.uniform(-1, 1))), int(random.integers(1, 4))
    vectors = numbers(count, width)
    attributes = dict(kernel_type=kind, kernel_params=[gamma, offset, float(degree)], support_vectors=vectors.ravel().tolist())

    def values(x):
        x, v = floats(x).astype(f64), vectors.astype(f64)
        dots = x @ v.T
        return {"LINEAR": lambda: dots, "POLY": lambda: (gamma * dots + offset) ** degree,
                "SIGMOID": lambda: numpy.tanh(gamma * dots + offset),
                "RBF": lambda: numpy.exp(-gamma * ((x[:, None] - v) ** 2).sum(-1))}[kind]()
    return attributes, values


def svm_regressor(width):
    dtype, count, transform = random.choice([f32, f64, i32, i64]), int(random.integers(1, 30)), random.choice(TRANSFORMS[:4])
    attributes, values = machine(width, count)
    one_class, linear = random.random() < 0.2, random.random() < 0.2
    coefficients, rho = numbers(width if linear else count), numbers(1)
    attributes.update(coefficients=coefficients.tolist(), rho=rho.tolist(), n_supports=count, post_transform=transform,
                      one_class=int(one_class))
    if linear:
        attributes = dict(coefficients=coefficients.tolist(), rho=rho.tolist(), post_transform=transform, one_class=int(one_class))

    def reference(x):
        scores = (floats(x).astype(f64) if linear else values(x)) @ coefficients.astype(f64)[:, None] + rho
        if one_class:
            assert (abs(scores) > 1e-9).all()
            scores = numpy.where(scores > 0, 1, -1)
        return [(f32, transformed(scores, transform), 1e-5)]
    return lambda n: [some_rows(n, width, dtype)], attributes, reference


def svm_classifier(width):
    dtype, transform = random.choice([f32, f64, i32, i64]), random.choice(TRANSFORMS[:4])
    supports = random.integers(1, 9, int(random.integers(2, 6)))
    classes, count = len(supports), int(supports.sum())
    attributes, values = machine(width, count)
    labels, coefficients, rho = random.permutation(99)[:classes] - 50, numbers(classes - 1, count), numbers(classes * (classes - 1) // 2)
    attributes.update(coefficients=coefficients.ravel().tolist(), rho=rho.tolist(), vectors_per_class=supports.tolist(),
                      classlabels_ints=labels.tolist(), post_transform=transform)
    starts = numpy.concatenate([[0], numpy.cumsum(supports)])

    def reference(x):
        kernels, scores, votes = values(x), [], numpy.zeros((len(x), classes), i64)
        for i in range(classes):
            for j in range(i + 1, classes):
                first, second = slice(starts[i], starts[i + 1]), slice(starts[j], starts[j + 1])
                s = (kernels[:, first] @ coefficients[j - 1, first].astype(f64)
                     + kernels[:, second] @ coefficients[i, second].astype(f64) + rho[len(scores)])
                votes[:, i] += s > 0
                votes[:, j] += s <= 0
                scores.append(s)
        scores = numpy.stack(scores, 1)
        assert (abs(scores) > 1e-9).all()
        if classes == 2:
            scores = numpy.concatenate([-scores, scores], 1)
        return [(i64, labels[votes.argmax(1)], EXACT), (f32, transformed(scores, transform), 1e-5)]
    return lambda n: [some_rows(n, width, dtype)], attributes, reference


# ---- trees: a node is a leaf, a list of (target, weight), or a test and two nodes ----

MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER"]
TESTS = [lambda x, s: x <= s, lambda x, s: x < s, lambda x, s: x >= s, lambda x, s: x > s, lambda x, s: x == s,
         lambda x, s: x != s, lambda x, s: x in s]


def tree(width, depth, targets, most_votes, members=False, dtype=f32):
    if depth == 0 or random.random() < 0.15:
        return [(int(t), dtype(random.standard_normal())) for t in
                random.integers(0, targets, int(random.integers(1, most_votes + 1)))]
    mode = int(random.integers(0, 7 if members else 6))
    split = [dtype(s) / dtype(4) for s in random.integers(-6, 7, int(random.integers(0, 5)))]
    if mode != 6: # ties with features, zeros of both signs, numbers without lower ones
        split = dtype(random.choice([random.integers(-6, 7) / 4, random.standard_normal(), -0.0, math.inf, -math.inf]))
    below = [tree(width, depth - 1, targets, most_votes, members, dtype) for _ in range(2)]
    return (mode, int(random.integers(0, width)), split, bool(random.integers(0, 2)), *below)


def leaf_of(node, row):
    while isinstance(node, tuple):
        mode, feature, split, missing, yes, no = node
        x = row[feature]
        node = yes if (missing if x != x else TESTS[mode](x, split)) else no
    return node


def tree_rows(n, width, dtype):
    if numpy.issubdtype(dtype, numpy.integer):
        return random.integers(-3, 4, (n, width)).astype(dtype)
    x = (random.integers(-7, 8, (n, width)) / 4).astype(dtype)
    x[random.random(x.shape) < 0.1] = math.nan
    x[random.random(x.shape) < 0.05] = -0.0
    x[random.random(x.shape) < 0.03] = math.inf
    x[random.random(x.shape) < 0.03] = -math.inf
    return x


def aggregated(trees, x, targets, aggregate, dtype):
    """In the order of the trees, and of the votes of a leaf, in the type."""
    start = {"MIN": numpy.finfo(dtype).max, "MAX": numpy.finfo(dtype).min}.get(aggregate, 0)
    y = numpy.full((len(x), targets), start, dtype)
    choose = {"MIN": min, "MAX": max}.get(aggregate, lambda a, b: a + b)
    for i, row in enumerate(x):
        for one in trees:
            for target, weight in leaf_of(one, row):
                y[i, target] = choose(y[i, target], dtype(weight))
    return y / dtype(len(trees)) if aggregate == "AVERAGE" else y


def listed(trees, votes):
    """Attributes of the older operators; nodes have any numbers, and trees are in any order."""
    nodes, leaves = [], []
    for number in random.permutation(len(trees)):
        pending, free = [(trees[number], 0)], list(random.permutation(5000) + 1)
        while pending:
            node, name = pending.pop(int(random.integers(len(pending))) if len(pending) > 1 else 0)
            if isinstance(node, list):
                nodes.append((number, name, "LEAF", 0, 0.0, 0, 0, 0))
                leaves += [(number, name, target, weight) for target, weight in node]
                continue
            mode, feature, split, missing, yes, no = node
            below = [free.pop(), free.pop()]
            nodes.append((number, name, MODES[mode], feature, split, missing, *below))
            pending += [(yes, below[0]), (no, below[1])]
    names = ["treeids", "nodeids", "modes", "featureids", "values", "missing_value_tracks_true", "truenodeids", "falsenodeids"]
    attributes = {f"nodes_{name}": [one.item() if hasattr(one, "item") else int(one) if not isinstance(one, (str, float)) else one
                                    for one in column] for name, column in zip(names, zip(*nodes))}
    for name, column in zip(["treeids", "nodeids", "ids", "weights"], zip(*leaves)):
        attributes[f"{votes}_{name}"] = [one.item() if hasattr(one, "item") else one for one in column]
    return attributes


def widened(attributes, names, dtype):
    """Lists of doubles are tensors."""
    for name in names if dtype == f64 else []:
        if name in attributes:
            attributes[name + "_as_tensor"] = numpy_helper.from_array(numpy.array(attributes.pop(name), f64))
    return attributes


def tree_scores(scores, transform, dtype):
    if transform == "NONE":
        with numpy.errstate(over="ignore"): # the greatest f64
            return scores.astype(f32), EXACT
    return transformed(scores, transform), 2e-4


def tree_regressor(width, version):
    dtype, targets = random.choice([f32, f64, i32, i64]), int(random.integers(1, 4))
    wide = f64 if version >= 3 and random.random() < 0.3 else f32
    computed = f64 if f64 in (dtype, wide) else f32
    aggregate, transform = random.choice(["SUM", "SUM", "AVERAGE", "MIN", "MAX"]), random.choice(TRANSFORMS[:4])
    if aggregate in ("MIN", "MAX"): # a target without a vote is the greatest number
        transform = "NONE"
    trees = [tree(width, int(random.integers(0, 6)), targets, 3, dtype=wide) for _ in range(int(random.integers(1, 9)))]
    base = random.choice([None, 1])
    attributes = listed(trees, "target")
    attributes.update(n_targets=targets, aggregate_function=aggregate, post_transform=transform)
    if base is not None:
        base = random.standard_normal(targets).astype(wide)
        attributes["base_values"] = base.tolist()

    def reference(x):
        sums = aggregated(trees, x.astype(computed), targets, aggregate, computed)
        if base is not None:
            sums = sums + base.astype(computed)
        return [(f32, *tree_scores(sums, transform, computed))]
    return (lambda n: [tree_rows(n, width, dtype)],
            widened(attributes, ["nodes_values", "target_weights", "base_values"], wide), reference)


def tree_classifier(width, version):
    dtype, classes = random.choice([f32, f64, i32, i64]), int(random.integers(2, 5))
    wide = f64 if version >= 3 and random.random() < 0.3 else f32
    computed = f64 if f64 in (dtype, wide) else f32
    single = classes == 2 and random.random() < 0.7
    transform = random.choice(TRANSFORMS[:4])
    trees = [tree(width, int(random.integers(0, 6)), 1 if single else classes, 3, dtype=wide)
             for _ in range(int(random.integers(1, 9)))]
    voted = {target for one in trees for target, _ in votes_of(one)}
    single = classes == 2 and len(voted) == 1
    labels = random.permutation(99)[:classes] - 50
    base = random.choice([None, 1])
    attributes = listed(trees, "class")
    attributes.update(classlabels_int64s=labels.tolist(), post_transform=transform)
    if base is not None:
        base = random.standard_normal(1 if single else classes).astype(wide)
        attributes["base_values"] = base.tolist()

    def reference(x):
        scores = aggregated(trees, x.astype(computed), classes, "SUM", computed)
        if single:
            scores = scores[:, list(voted)]
        if base is not None:
            scores = scores + base.astype(computed)
        if single:
            scores = numpy.concatenate([1 - scores if transform == "NONE" else -scores, scores], 1)
        return [(i64, labels[scores.argmax(1)], EXACT), (f32, *tree_scores(scores, transform, computed))]
    return (lambda n: [tree_rows(n, width, dtype)],
            widened(attributes, ["nodes_values", "class_weights", "base_values"], wide), reference)


def votes_of(node):
    return node if isinstance(node, list) else votes_of(node[4]) + votes_of(node[5])


def tree_ensemble(width, version):
    dtype, targets = random.choice([f32, f64]), int(random.integers(1, 4))
    aggregate, transform = int(random.integers(0, 4)), int(random.integers(0, 4))
    if aggregate > 1:
        transform = 0
    trees = [tree(width, int(random.integers(1, 6)), targets, 1, True, dtype) for _ in range(int(random.integers(1, 9)))]
    trees = [one if isinstance(one, tuple) else (0, 0, dtype(0), False, one, one) for one in trees]
    nodes, leaves, roots, members = [], [], [], {}

    def put(node):
        if isinstance(node, list):
            leaves.append(node[0])
            return len(leaves) - 1
        mode, feature, split, missing, yes, no = node
        place = len(nodes)
        nodes.append(None)
        first, second = (put(yes), put(no)) if random.random() < 0.5 else (put(no), put(yes))[::-1]
        members[place] = [*split, math.nan] if mode == 6 else []
        nodes[place] = (feature, 0 if mode == 6 else split, mode, first, isinstance(yes, list), second, isinstance(no, list),
                        missing)
        return place
    for one in trees:
        roots.append(put(one))
    columns = list(zip(*nodes))
    attributes = dict(aggregate_function=aggregate, post_transform=transform, n_targets=targets, tree_roots=roots,
                      nodes_featureids=columns[0], nodes_splits=numpy_helper.from_array(numpy.array(columns[1], dtype)),
                      nodes_modes=numpy_helper.from_array(numpy.array(columns[2], numpy.uint8)),
                      nodes_truenodeids=columns[3], nodes_trueleafs=[int(one) for one in columns[4]],
                      nodes_falsenodeids=columns[5], nodes_falseleafs=[int(one) for one in columns[6]],
                      nodes_missing_value_tracks_true=[int(one) for one in columns[7]],
                      leaf_targetids=[one[0] for one in leaves],
                      leaf_weights=numpy_helper.from_array(numpy.array([one[1] for one in leaves], dtype)))
    if any(members.values()):
        attributes["membership_values"] = numpy_helper.from_array(
            numpy.array([value for place in sorted(members) for value in members[place]], dtype))

    def reference(x):
        sums = aggregated(trees, x, targets, ["AVERAGE", "SUM", "MIN", "MAX"][aggregate], dtype)
        name = TRANSFORMS[transform]
        return [(dtype, sums, EXACT) if not transform else (dtype, transformed(sums, name), 2e-4)]
    return lambda n: [tree_rows(n, width, dtype)], attributes, reference


OPERATORS = {"TreeEnsembleRegressor": tree_regressor, "TreeEnsembleClassifier": tree_classifier,
             "SVMRegressor": svm_regressor, "SVMClassifier": svm_classifier,
             "Scaler": scaler, "Normalizer": normalizer, "Imputer": imputer, "Binarizer": binarizer,
             "LinearRegressor": linear_regressor, "LinearClassifier": linear_classifier,
             "ArrayFeatureExtractor": array_feature_extractor, "FeatureVectorizer": feature_vectorizer,
             "OneHotEncoder": one_hot_encoder, "LabelEncoder": label_encoder, "ZipMap": zip_map}


# ---- models ----

class Case:
    def __init__(self, number, version):
        self.name = list(OPERATORS)[number] if number < len(OPERATORS) else random.choice(list(OPERATORS))
        width = int(random.choice([1, 2, 3, 7, 16, 33]))
        operator = OPERATORS[self.name]
        self.rows, self.attributes, self.reference = (
            operator(width, version) if self.name == "LabelEncoder" or "Tree" in self.name else operator(width))
        self.number = number
        self.inputs = self.rows(1)
        self.outputs = len(self.reference(*self.inputs))

    def names(self, letter, count):
        return [f"{letter}{self.number}_{i}" for i in range(count)]

    def what(self):
        return f"{self.name} {self.number} ({self.attributes})"


def save(cases, version, rows, path):
    nodes, inputs, initializers, outputs = [], [], [], []
    for case in cases:
        names = case.names("x", len(case.inputs))
        for name, array in zip(names, case.inputs):
            if isinstance(array, tuple):
                initializers.append(numpy_helper.from_array(array[1], name))
            else:
                inputs.append(helper.make_tensor_value_info(name, TYPES[str(array.dtype)], [rows, *array.shape[1:]]))
        made = case.names("y", case.outputs)
        nodes.append(helper.make_node(case.name, names, made, name=f"{case.name} {case.number}", domain=ML, **case.attributes))
        for name in made:
            outputs.append(onnx.ValueInfoProto(name=name))
    graph = helper.make_graph(nodes, "classical", inputs, outputs, initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(ML, version)],
                                ir_version=8), path)


def check(case, got, expected):
    dtype, array, bound = expected
    array = numpy.asarray(array).astype(dtype)
    assert got.dtype == dtype and got.shape == array.shape, (case.what(), got.dtype, got.shape, array.shape)
    if isinstance(bound, numpy.ndarray): # rows that are compared
        numpy.testing.assert_array_equal(got[bound], array[bound], err_msg=case.what())
    elif bound == EXACT and not numpy.issubdtype(dtype, numpy.integer):
        missing = numpy.isnan(array)
        assert (numpy.isnan(got) == missing).all(), case.what()
        assert got[~missing].tobytes() == array[~missing].tobytes(), (case.what(), got, array)
    else:
        numpy.testing.assert_allclose(got, array, rtol=bound, atol=bound / 10, err_msg=case.what())


def run(skrun, package, cases, n, ways):
    fed, words, wanted = {}, [skrun, package], []
    for case in cases:
        inputs = case.rows(n)
        for name, array in zip(case.names("x", len(inputs)), inputs):
            if not isinstance(array, tuple):
                numpy.save(f"{name}.npy", array)
                words.append(f"--input={name}={name}.npy")
        results = case.reference(*inputs)
        wanted += [(case, name, result) for name, result in zip(case.names("y", len(results)), results)]
    for way in ways:
        outputs = [f"--output={name}={name}.npy" for _, name, _ in wanted]
        subprocess.run(words + outputs + way.split(), check=True, stdout=subprocess.DEVNULL)
        for case, name, result in wanted:
            check(case, numpy.load(f"{name}.npy"), result)
    subprocess.run(words + ["--check-split"], check=True, stdout=subprocess.DEVNULL)


def link(sklink, libraries, model, package, *options):
    result = subprocess.run([sklink, model, "-L", libraries, "-lskernels", "-o", package, *options], check=False,
                            stderr=subprocess.PIPE)
    text = result.stderr.decode()
    assert not result.returncode, text
    for line in text.splitlines():
        assert "ZipMap" in line or "labels" in line, line


def check_round(sklink, skrun, libraries, seed, count):
    global random
    numpy.seterr(invalid="ignore") # comparisons with NaNs
    random = numpy.random.default_rng(seed)
    version = int(random.choice([2, 4, 5]))
    OPERATORS.pop("TreeEnsemble", None)
    if version == 5:
        OPERATORS["TreeEnsemble"] = tree_ensemble
    cases = [Case(i, version) for i in range(count)]
    n = int(random.choice([1, 5, 64, 257]))
    save(cases, version, n, "static.onnx")
    link(sklink, libraries, "static.onnx", "static.sk")
    run(skrun, "static.sk", cases, n, ["--cores=1", "--cores=2", "--cores=3", "--guard", "--unfused"])
    save(cases, version, "N", "open.onnx")
    link(sklink, libraries, "open.onnx", "open.sk", "--dim", "N=1..1000")
    for n in (1, int(random.integers(2, 999)), 1000):
        run(skrun, "open.sk", cases, n, ["--cores=3", "--guard"])


# ---- a pipeline, as tools for classical models write it ----

def info(name, dtype, *shape):
    return helper.make_tensor_value_info(name, dtype, list(shape))


def ml(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), name=op, domain=ML, **attributes)


def save_model(path, nodes, inputs, outputs, initializers=(), version=3):
    graph = helper.make_graph(nodes, "pipeline", inputs, outputs, [numpy_helper.from_array(a, n) for n, a in initializers])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(ML, version)],
                                ir_version=8), path)


def list_of_maps(name):
    """What the output of a ZipMap is declared as."""
    one = onnx.ValueInfoProto(name=name)
    one.type.sequence_type.elem_type.map_type.key_type = TensorProto.INT64
    one.type.sequence_type.elem_type.map_type.value_type.tensor_type.elem_type = TensorProto.FLOAT
    return one


def check_pipeline(sklink, skrun, libraries):
    """Numbers are imputed and scaled, categories become columns, and a linear classifier takes both."""
    global random
    random = numpy.random.default_rng(7)
    means, offset, scale, coefficients, intercepts = numbers(3), numbers(3), numbers(3), numbers(3, 11), numbers(3)
    cats = [3, 5, 11, 20]
    nodes = [ml("Imputer", "x", "imputed", imputed_value_floats=means.tolist(), replaced_value_float=math.nan),
             ml("Scaler", "imputed", "scaled", offset=offset.tolist(), scale=scale.tolist()),
             ml("OneHotEncoder", "c", "hot", cats_int64s=cats, zeros=1),
             helper.make_node("Reshape", ["hot", "flat"], ["columns"]),
             helper.make_node("Concat", ["scaled", "columns"], ["features"], axis=1),
             ml("LinearClassifier", "features", "found raw", coefficients=coefficients.ravel().tolist(),
                intercepts=intercepts.tolist(), classlabels_ints=[4, 2, 9], post_transform="LOGISTIC", multi_class=0),
             ml("Normalizer", "raw", "p", norm="L1"),
             helper.make_node("Cast", ["found"], ["label"], to=TensorProto.INT64),
             ml("ZipMap", "p", "maps", classlabels_int64s=[4, 2, 9])]
    save_model("pipeline.onnx", nodes, [info("x", TensorProto.FLOAT, "N", 3), info("c", TensorProto.INT64, "N", 2)],
               [info("label", TensorProto.INT64, "N"), list_of_maps("maps")], [("flat", numpy.array([-1, 8]))])
    result = subprocess.run([sklink, "pipeline.onnx", "-L", libraries, "-lskernels", "-o", "pipeline.sk", "--dim", "N=1..1000"],
                            check=True, stderr=subprocess.PIPE)
    assert "'maps' would be a list of maps" in result.stderr.decode(), result
    for n in (1, 40, 999):
        x, c = numbers(n, 3), random.choice([*cats, 8], (n, 2))
        x[random.random(x.shape) < 0.3] = math.nan
        numpy.save("x.npy", x)
        numpy.save("c.npy", c)
        scaled = (numpy.where(numpy.isnan(x), means, x) - offset) * scale
        features = numpy.concatenate([scaled, (c[..., None] == cats).reshape(n, 8)], 1)
        scores = features.astype(f64) @ coefficients.astype(f64).T + intercepts
        p = transformed(scores, "LOGISTIC")
        for way in ("--cores=1", "--cores=3", "--guard"):
            subprocess.run([skrun, "pipeline.sk", "--input=x=x.npy", "--input=c=c.npy", "--output=label=l.npy",
                            "--output=maps=m.npy", way], check=True, stdout=subprocess.DEVNULL)
            numpy.testing.assert_allclose(numpy.load("m.npy"), p / p.sum(1, keepdims=True), 1e-4)
            clear = numpy.ptp(numpy.sort(scores, 1)[:, 1:], 1) > 1e-4
            assert clear.sum() > n / 2
            numpy.testing.assert_array_equal(numpy.load("l.npy")[clear], numpy.array([4, 2, 9])[scores.argmax(1)][clear])


# ---- single rows, and texts that nothing needs ----

def check_single(sklink, skrun, libraries):
    """An input [F] is one row, a category that is needed and absent ends the run, and labels that are texts may be unused."""
    nodes = [ml("LinearRegressor", "x", "y", coefficients=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], intercepts=[0.5, -0.5], targets=2),
             ml("ArrayFeatureExtractor", "x places", "z"), ml("FeatureVectorizer", "x x", "v", inputdimensions=[3, 3]),
             ml("LinearClassifier", "x", "texts p", coefficients=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0], intercepts=[0.0, 0.0],
                classlabels_strings=["no", "yes"]),
             ml("OneHotEncoder", "x", "hot", cats_int64s=[1, 2, 3], zeros=0)]
    wanted = {"y": [[14.5, 31.5]], "z": [[3, 1]], "v": [[1, 2, 3, 1, 2, 3]], "p": [[1, 2]], "hot": numpy.eye(3)}
    save_model("single.onnx", nodes, [info("x", TensorProto.FLOAT, 3), info("places", TensorProto.INT64, 1, 2)],
               [onnx.ValueInfoProto(name=name) for name in wanted])
    link(sklink, libraries, "single.onnx", "single.sk")
    numpy.save("x.npy", numpy.array([1, 2, 3], f32))
    numpy.save("places.npy", numpy.array([[2, 0]]))
    words = [skrun, "single.sk", "--input=x=x.npy", "--input=places=places.npy"]
    subprocess.run(words + [f"--output={name}={name}.npy" for name in wanted], check=True, stdout=subprocess.DEVNULL)
    for name, array in wanted.items():
        numpy.testing.assert_array_equal(numpy.load(f"{name}.npy"), numpy.array(array, f32), err_msg=name)
    numpy.save("x.npy", numpy.array([1, 7, 3], f32))
    failed = subprocess.run(words, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert failed.returncode == 1, failed


# ---- errors ----

MISTAKES = [
    ("Scaler", "x", dict(scale=[1.0, 2.0], offset=[0.0]), "'scale' has 2 numbers and 'offset' has 1"),
    ("Scaler", "x", dict(scale=[1.0, 2.0], offset=[0.0, 1.0]), "'scale' has 2 numbers, and 'x' has 3 features"),
    ("Scaler", "x", {}, "'scale' has 0 numbers and 'offset' has 0"),
    ("Scaler", "cube", dict(scale=[1.0, 2.0, 3.0], offset=[1.0, 2.0, 3.0]), "'cube' has 3 dimensions, and features need [N, F]"),
    ("Scaler", "b", dict(scale=[1.0], offset=[1.0]), "'b' is bool, and must be f32, f64, i32 or i64"),
    ("Normalizer", "x", dict(norm="L3"), "there is no norm 'L3'"),
    ("Imputer", "x", dict(imputed_value_int64s=[1]), "'x' is f32, and it has no 'imputed_value_floats'"),
    ("Imputer", "x", dict(imputed_value_floats=[1.0], imputed_value_int64s=[1]), "'x' is f32, and it has also 'imputed_value_int64s'"),
    ("Imputer", "x", dict(imputed_value_floats=[1.0, 2.0]), "'imputed_value_floats' has 2 numbers, and 'x' has 3 features"),
    ("Imputer", "i", dict(imputed_value_int64s=[1 << 40]), "'imputed_value_int64s' has 1099511627776, which i32 does not hold"),
    ("LinearRegressor", "x", dict(coefficients=[1.0] * 7, targets=2), "'coefficients' has 7 numbers, not 2 for each of the 3 features of 'x'"),
    ("LinearRegressor", "x", dict(coefficients=[1.0] * 6, targets=2, intercepts=[1.0]), "'intercepts' has 1 number, and 2 are needed"),
    ("LinearRegressor", "x", dict(coefficients=[1.0] * 6, targets=0), "'targets' is 0"),
    ("LinearRegressor", "x", dict(coefficients=[1.0] * 3, post_transform="CUBE"), "there is no post_transform 'CUBE'"),
    ("LinearRegressor", "cube", dict(coefficients=[1.0] * 3), "'cube' has 3 dimensions, and must be [N, F] or [F]"),
    ("LinearClassifier", "x", dict(coefficients=[1.0] * 6), "it has neither 'classlabels_ints' nor 'classlabels_strings'"),
    ("LinearClassifier", "x", dict(coefficients=[1.0] * 6, classlabels_ints=[1, 2], classlabels_strings=["a", "b"]),
     "it has 'classlabels_ints' and 'classlabels_strings', and one of them is needed"),
    ("LinearClassifier", "x", dict(coefficients=[1.0] * 6, classlabels_ints=[1]), "it has one label, and a classifier needs two"),
    ("LinearClassifier", "x", dict(coefficients=[1.0] * 6, classlabels_ints=[1, 2, 3]),
     "'coefficients' has 6 numbers, not 3 for each of the 3 features of 'x'"),
    ("LinearClassifier", "x", dict(coefficients=[1.0] * 6, classlabels_strings=["a", "b"]),
     "its labels 'y' are texts, which sklink does not have; take the output out of the model and keep the scores"),
    ("LinearClassifier", "x", {}, "attribute 'coefficients' is missing"),
    ("ArrayFeatureExtractor", "x five", {}, "there is no feature 5 of the 3 of 'x'"),
    ("ArrayFeatureExtractor", "x below", {}, "there is no feature -1 of the 3 of 'x'"),
    ("FeatureVectorizer", "x x", dict(inputdimensions=[3]), "'inputdimensions' has 1 number, and it has 2 inputs"),
    ("FeatureVectorizer", "x x", dict(inputdimensions=[3, 4]), "'x' is [2, 3], and must be [N, 4]"),
    ("OneHotEncoder", "x", {}, "it has no 'cats_int64s'"),
    ("OneHotEncoder", "x", dict(cats_int64s=[1, -4, 1]), "'cats_int64s' has 1 twice"),
    ("OneHotEncoder", "x", dict(cats_strings=["a"]), "'cats_strings' are texts, which sklink does not have"),
    ("LabelEncoder", "x", dict(keys_floats=[1.0, 2.0], values_int64s=[1]), "'keys_floats' has 2 elements, and 'values_int64s' has 1"),
    ("LabelEncoder", "x", dict(keys_int64s=[1, 2], values_int64s=[1, 2]), "'x' is f32, and 'keys_int64s' are i64"),
    ("LabelEncoder", "x", dict(keys_floats=[1.0, 1.0], values_int64s=[1, 2]), "the keys 0 and 1 are the same, and have different values"),
    ("LabelEncoder", "x", dict(keys_floats=[1.0], values_strings=["a"]), "'values_strings' are texts, which sklink does not have"),
    ("LabelEncoder", "x", dict(keys_floats=[1.0], keys_int64s=[1], values_int64s=[2]), "it needs one of 'keys_floats', 'keys_int64s'"),
    ("CategoryMapper", "x", dict(cats_int64s=[1], cats_strings=["a"]), "it maps texts, which sklink does not have"),
    ("ZipMap", "x", dict(classlabels_int64s=[1, 2]), "'x' is [2, 3], and there are 2 labels"),
    ("ZipMap", "x", {}, "it needs one of 'classlabels_int64s' and 'classlabels_strings'"),
]


def changed(attributes, **changes):
    """Attributes with other ones; None: without."""
    return {name: value for name, value in {**attributes, **changes}.items() if value is not None}


# Node 0 tests feature 2; nodes 1 and 2 are leaves.
STUMP = dict(nodes_treeids=[4] * 3, nodes_nodeids=[0, 1, 2], nodes_featureids=[2, 0, 0], nodes_values=[0.5, 0.0, 0.0],
             nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"], nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0],
             target_treeids=[4, 4], target_nodeids=[1, 2], target_ids=[0, 1], target_weights=[1.0, 2.0], n_targets=2)
VOTES = dict(changed(STUMP, target_treeids=None, target_nodeids=None, target_ids=None, target_weights=None, n_targets=None),
             class_treeids=[4, 4], class_nodeids=[1, 2], class_ids=[0, 1], class_weights=[1.0, 2.0], classlabels_int64s=[3, 5])
FEW = dict(nodes_splits=numpy_helper.from_array(numpy.zeros(2, f32)), nodes_modes=numpy_helper.from_array(numpy.zeros(2, "u1")),
           nodes_featureids=[0, 1], nodes_truenodeids=[1, 0], nodes_trueleafs=[0, 1], nodes_falsenodeids=[0, 0],
           nodes_falseleafs=[1, 1], tree_roots=[0], leaf_targetids=[0], n_targets=1,
           leaf_weights=numpy_helper.from_array(numpy.ones(1, f32)))
BRANCHES = ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF"]
TREE_MISTAKES = [("TreeEnsembleRegressor", changed(STUMP, **changes), wanted) for changes, wanted in [
    (dict(nodes_nodeids=[0, 1]), "'nodes_nodeids' has 2 items, and 'nodes_treeids' has 3"),
    (dict(nodes_values=[0.5]), "'nodes_values' has 1 number, and 'nodes_treeids' has 3"),
    (dict(nodes_modes=["LEAF"]), "'nodes_modes' has 1 items, and 'nodes_treeids' has 3"),
    (dict(nodes_missing_value_tracks_true=[1]), "'nodes_missing_value_tracks_true' has 1 item, and 'nodes_treeids' has 3"),
    (dict(nodes_treeids=[]), "it has 0 nodes ('nodes_treeids')"),
    (dict(nodes_nodeids=[0, 1, 1]), "node 1 of tree 4 is there twice"),
    (dict(nodes_modes=["BRANCH_LE", "LEAF", "LEAF"]), "node 0 of tree 4 has the mode 'BRANCH_LE', which does not exist"),
    (dict(nodes_featureids=[3, 0, 0]), "node 0 of tree 4 tests feature 3, and rows have 3"),
    (dict(nodes_featureids=[-1, 0, 0]), "node 0 of tree 4 tests feature -1, and rows have 3"),
    (dict(nodes_truenodeids=[7, 0, 0]), "node 0 of tree 4 leads to node 7, which its tree does not have"),
    (dict(nodes_treeids=[4, 5, 4]), "node 0 of tree 4 leads to node 1, which its tree does not have"),
    (dict(nodes_truenodeids=[0, 0, 0]), "node 0 of tree 4 is reached in two ways: trees have no cycles, and nodes one parent"),
    (dict(nodes_modes=BRANCHES, nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 2, 0], target_nodeids=[2, 2]),
     "node 0 of tree 4 is reached in two ways"),
    (dict(nodes_truenodeids=[2, 0, 0]), "node 1 of tree 4 is not reached from the first node of its tree"),
    (dict(target_nodeids=[0, 2]), "vote 0 is of node 0 of tree 4, which is not a leaf"),
    (dict(target_treeids=[4, 9]), "vote 1 is of node 2 of tree 9, which is not a leaf"),
    (dict(target_ids=[0, 2]), "vote 1 is for target 2, and there are 2"),
    (dict(target_ids=[0]), "'target_ids' has 1 item, and 'target_weights' has 2"),
    (dict(target_weights=None), "it has 0 votes ('target_weights')"),
    (dict(n_targets=0), "'n_targets' is 0"),
    (dict(n_targets=None), "attribute 'n_targets' is missing"),
    (dict(base_values=[1.0]), "'base_values' has 1 number, and 'n_targets' is 2"),
    (dict(aggregate_function="MEAN"), "there is no aggregate_function 'MEAN'"),
    (dict(nodes_values_as_tensor=numpy_helper.from_array(numpy.zeros(3))),
     "it has 'nodes_values' and 'nodes_values_as_tensor', and one of them is needed"),
]] + [("TreeEnsembleClassifier", changed(VOTES, **changes), wanted) for changes, wanted in [
    (dict(base_values=[1.0]), "'base_values' has 1 number, and 2 are needed"),
    (dict(class_ids=[1, 1], base_values=[1.0, 2.0]), "'base_values' has 2 numbers, and 1 is needed"),
    (dict(classlabels_int64s=[3]), "it has one label, and a classifier needs two"),
    (dict(class_ids=[0, -1]), "vote 1 is for target -1, and there are 2"),
    (dict(classlabels_int64s=None, classlabels_strings=["a", "b"]), "its labels 'y' are texts"),
]] + [("TreeEnsemble", changed(FEW, **changes), wanted) for changes, wanted in [
    (dict(tree_roots=[2]), "'tree_roots' has 2, and there are 2 nodes"),
    (dict(tree_roots=[0, 1]), "node 1 is reached in two ways"),
    (dict(nodes_truenodeids=[0, 0]), "node 0 is reached in two ways"),
    (dict(nodes_truenodeids=[2, 0]), "node 0 leads to node 2, and there are 2"),
    (dict(nodes_falsenodeids=[0, 1]), "node 1 leads to leaf 1, and there are 1"),
    (dict(nodes_modes=numpy_helper.from_array(numpy.full(2, 7, "u1"))), "node 0 has the mode 7, which does not exist"),
    (dict(nodes_modes=numpy_helper.from_array(numpy.full(2, 6, "u1"))), "'membership_values' has no set that ends with a NaN for node 0"),
    (dict(membership_values=numpy_helper.from_array(numpy.array([math.nan], f32))), "'membership_values' has more sets than nodes need"),
    (dict(leaf_weights=numpy_helper.from_array(numpy.ones(1))), "'x' is f32, and 'nodes_splits' or 'leaf_weights' is not"),
    (dict(leaf_targetids=[1]), "vote 0 is for target 1, and there is 1"),
    (dict(aggregate_function=4), "'aggregate_function' is 4"),
    (dict(nodes_splits=None), "'nodes_splits' has 0 numbers, and 'nodes_modes' has 2"),
]]
MACHINE = dict(support_vectors=[1.0] * 6, coefficients=[1.0, 2.0], rho=[0.5], kernel_type="RBF", kernel_params=[1.0, 0.0, 0.0])
TREE_MISTAKES += [("SVMRegressor", changed(MACHINE, n_supports=2, **changes), wanted) for changes, wanted in [
    (dict(support_vectors=[1.0] * 5), "'support_vectors' has 5 numbers, not 2 for each of the 3 features of 'x'"),
    (dict(coefficients=[1.0]), "'coefficients' has 1 number, and there are 2 support vectors"),
    (dict(rho=[1.0, 2.0]), "'rho' has 2 numbers, and 1 is needed"),
    (dict(kernel_type="CUBE"), "there is no kernel_type 'CUBE'"),
    (dict(kernel_params=[1.0]), "'kernel_params' has 1 number, and 3 are needed"),
    (dict(kernel_params=[1.0, 1.0, -2.0]), "the degree in 'kernel_params' is -2"),
]] + [("SVMClassifier", changed(MACHINE, classlabels_ints=[3, 4], vectors_per_class=[1, 1], **changes), wanted)
      for changes, wanted in [
    (dict(prob_a=[1.0], prob_b=[1.0]), "it has 'prob_a': probabilities of support vector machines are not supported"),
    (dict(coefficients=[1.0] * 3), "'coefficients' has 3 numbers, and 1 for each of 2 vectors are needed"),
    (dict(rho=[1.0, 2.0, 3.0]), "'rho' has 3 numbers, and there are 1 pairs of labels"),
]] + [("SVMClassifier", changed(MACHINE, classlabels_ints=[3, 4], **changes), wanted) for changes, wanted in [
    (dict(vectors_per_class=[1, 1, 1]), "'vectors_per_class' has 3 numbers, and there are 2 labels"),
    (dict(vectors_per_class=[3, -1]), "'vectors_per_class' has -1"), ({}, "it has no 'vectors_per_class'"),
]]
MISTAKES += [(op, "x", attributes, wanted) for op, attributes, wanted in TREE_MISTAKES]


def check_mistakes(sklink):
    """Each node is refused, at its name, with the reason, and no file is left."""
    inputs = [info("x", TensorProto.FLOAT, 2, 3), info("cube", TensorProto.FLOAT, 2, 2, 3), info("b", TensorProto.BOOL, 2, 3),
              info("i", TensorProto.INT32, 2, 3)]
    for op, operands, attributes, wanted in MISTAKES:
        save_model("mistake.onnx", [ml(op, operands, "y", **attributes)], inputs, [onnx.ValueInfoProto(name="y")],
                   [("five", numpy.array([0, 5])), ("below", numpy.array([-1]))], 5 if op == "TreeEnsemble" else 3)
        refused = subprocess.run([sklink, "mistake.onnx", "-o", "mistake.sk"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 check=False)
        text = refused.stdout.decode()
        assert refused.returncode == 1 and f"node '{op}' ({op}): {wanted}" in text, (op, wanted, text)
        assert not os.path.exists("mistake.sk"), op


def check_lists(sklink):
    """The lists of TreeSums, which dumps have, lead nowhere else."""
    good = dict(roots=[0], features=[0, 0, 0], splits=[0.5, 0, 0], children=[[1, 2], [1, 1], [2, 2]], votes=[0, 0, 1, 2],
                targets=[0, 0], weights=[1.0, 2.0])
    for changes, wanted in (({}, "no kernel has op=TreeSums"), (dict(roots=[3]), "element 0 of 'roots' is 3"), (dict(roots=[-1]), "element 0 of 'roots' is -1"),
                            (dict(features=[4, 0, 0]), "element 0 of 'features' is 4"),
                            (dict(children=[[1, 2], [0, 0], [2, 2]]), "'children' leads from node 1 to an earlier one"),
                            (dict(children=[[1, 9], [1, 1], [2, 2]]), "element 1 of 'children' is 9"),
                            (dict(votes=[0, 0, 1, 3]), "element 3 of 'votes' is 3"), (dict(votes=[0, 2, 1, 2]), "'votes' is not in order"),
                            (dict(targets=[0, 1]), "element 1 of 'targets' is 1"),
                            (dict(votes=[0, 0, 1]), "its lists do not fit to each other")):
        lists = [(name, numpy.array(items, f32 if name in ("splits", "weights") else i32)) for name, items in {**good, **changes}.items()]
        node = helper.make_node("TreeSums", ["x", *good], ["y"], name="t", domain="sklink", targets=1)
        graph = helper.make_graph([node], "lists", [info("x", TensorProto.FLOAT, 2, 1)], [onnx.ValueInfoProto(name="y")],
                                  [numpy_helper.from_array(array, name) for name, array in lists])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("sklink", 1)], ir_version=8), "lists.onnx")
        result = subprocess.run([sklink, "lists.onnx", "--check"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        text = result.stdout.decode()
        assert result.returncode == 1 and f"(TreeSums): {wanted}" in text, (wanted, text)


def check_texts(sklink):
    """An output of texts is refused with a remedy."""
    node = ml("LinearClassifier", "x", "label p", coefficients=[1.0] * 6, classlabels_strings=["a", "b"])
    save_model("texts.onnx", [node], [info("x", TensorProto.FLOAT, 2, 3)],
               [info("label", TensorProto.STRING, 2), info("p", TensorProto.FLOAT, 2, 2)])
    refused = subprocess.run([sklink, "texts.onnx", "-o", "texts.sk"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert refused.returncode == 1 and "type string, which sklink does not have; take it out" in refused.stdout.decode(), refused


if __name__ == "__main__":
    check_mistakes(sys.argv[1])
    check_texts(sys.argv[1])
    check_lists(sys.argv[1])
    check_single(*sys.argv[1:4])
    check_pipeline(*sys.argv[1:4])
    first = int(sys.argv[5])
    for seed in range(first, first + int(sys.argv[4])):
        try:
            check_round(*sys.argv[1:4], seed, 24)
        except BaseException:
            print(f"seed {seed}, in {os.getcwd()}", file=sys.stderr)
            raise
    print(f"{sys.argv[4]} rounds")
