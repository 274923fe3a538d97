"""Dumps in GE's form, linked and run: attributes, constants, formats, conditions of FusionVirtualOpSetSwitch."""

import subprocess
import sys

import numpy

from ge_dump import TYPES, Dump, Tensor, attribute, bits_of, stored

SKLINK, SKRUN, SKDUMP, *LIBRARY = sys.argv[1:]
RANDOM = numpy.random.default_rng(38)


def check(told, wanted):
    if not wanted:
        raise AssertionError(told)


def link(text, *options, target="ascend", fails=None):
    """Link the text; return what the command prints. With `fails` it must fail, with this message."""
    with open("graph.pbtxt", "w") as file:
        file.write(text)
    command = [SKLINK, "graph.pbtxt", *LIBRARY, f"--fusion-target={target}", *options, "-o", "graph.sk"]
    done = subprocess.run(command, capture_output=True, text=True)
    if fails is None:
        check(f"{' '.join(command)}: {done.stderr}", done.returncode == 0)
    else:
        check(
            f"status {done.returncode}, '{fails}' is not in: {done.stderr}",
            done.returncode == 1 and fails in done.stderr,
        )
    return done.stdout + done.stderr


def loaded(path):
    elements = numpy.load(path)
    return elements.view("u2") if elements.dtype.kind == "V" else elements


def run(inputs, outputs):
    """Run the package; inputs are (tensor, value), the result is the value of each output tensor."""
    command = [SKRUN, "graph.sk"]
    for tensor, value in inputs:
        name = tensor.name.split(":")[0]
        elements = tensor.stored(value)
        numpy.save(f"{name}.npy", elements.view("V2") if tensor.kind == "bf16" else elements)
        command.append(f"--input={name}={name}.npy")
    command += [f"--output={tensor.name}=y{i}.npy" for i, tensor in enumerate(outputs)]
    done = subprocess.run(command, capture_output=True, text=True)
    check(done.stderr, done.returncode == 0)
    return [tensor.taken(loaded(f"y{i}.npy")) for i, tensor in enumerate(outputs)]


def same(told, value, wanted, bound=0.0):
    value, wanted = numpy.asarray(value, "f8"), numpy.asarray(wanted, "f8")
    check(
        f"{told}: {value} is not {wanted}", value.shape == wanted.shape and numpy.allclose(value, wanted, bound, bound)
    )


def numbers(shape, kind="f4"):
    """Small integers, which all types have, and which are added and multiplied exactly."""
    least = 0 if kind[0] in "ub" and kind != "bf16" else -8 if kind == "int4" else -4
    return RANDOM.integers(least, 2 if kind == "b1" else 8 if kind == "int4" else 5, shape)


# ---- attributes ----


def test_attributes_change_nothing():
    packages = []
    for extra in (
        {},
        {
            "_datadump_original_op_names": ["a"],
            "INPUT_IS_VAR": [1],
            "alpha": 7,
            "transB": 1,
            "axis": -9,
            "perm": [4, 4],
            "keepdims": "?",
            "dtype": 99,
            "T": 1,
            "format": 29,
            "reference": 1,
            "max_depth": 2.5,
            "to": "DT_BOOL",
            "gen_task": [0.5, 1.5],
        },
    ):
        dump = Dump()
        x = dump.data("x", (4, 8))
        p = dump.node("Exp", "p", [x], (4, 8), **extra)
        y = dump.node(
            "MatMulV2",
            "y",
            [p, p],
            (4, 4),
            transpose_x1=0,
            transpose_x2=1,
            **{k: v for k, v in extra.items() if k not in ("alpha", "transB")},
        )
        link(dump.text([y]))
        packages.append(
            subprocess.run([SKDUMP, "--all", "graph.sk"], check=True, capture_output=True, text=True).stdout
        )
        value = RANDOM.standard_normal((4, 8)).astype("f4")
        same("the product", run([(x, value)], [y])[0], numpy.exp(value) @ numpy.exp(value).T, 1e-4)
    check("attributes change the package", packages[0].split("\n")[1:] == packages[1].split("\n")[1:])


def test_attributes_of_unknown_kinds():
    dump = Dump()
    x = dump.data("x", (4, 8))
    y = dump.node("Relu", "y", [x], (4, 8), weird=b"a\0b")
    text = dump.text([y])
    odd = '    attribute {\n      name: "subgraphs"\n      type: GRAPHS\n    }\n'
    twice = "\n".join(attribute("tvm_magic", "x") * 2) + "\n"
    mark = '    name: "y"\n'
    link(text.replace(mark, odd + twice + mark, 1))
    value = RANDOM.standard_normal((4, 8)).astype("f4")
    same("Relu", run([(x, value)], [y])[0], numpy.maximum(value, 0))


def test_attributes_of_operators():
    for op, wrong, message in (
        ("BatchMatMulV2", {"offset_x": 3}, "attribute 'offset_x' must be 0"),
        ("Exp", {"base": 2.0}, "attribute 'base' must be -1"),
        ("Round", {"decimals": 2}, "attribute 'decimals' must be 0"),
        ("ReduceSumD", {"axes": "all"}, "attribute 'axes' is"),
    ):
        dump = Dump()
        x = dump.data("x", (8, 8))
        y = dump.node(op, "y", [x, x] if "Mat" in op else [x], (8, 8), **wrong)
        link(dump.text([y]), fails=message)
    dump = Dump()
    x = dump.data("x", (8, 8))
    text = dump.text([dump.node("LeakyRelu", "y", [x], (8, 8), negative_slope=0.5)])
    again = "\n".join(attribute("negative_slope", 0.25)) + "\n"
    mark = '    name: "y"\n'
    link(text.replace(mark, again + mark, 1), fails="it has the attribute 'negative_slope' twice")


# ---- constants ----


def test_constants_of_all_types():
    for kind in TYPES:
        for shape in ((3, 4), (0, 4)) if kind == "int4" else ((3, 4), (), (0, 4), (5,)):
            value = numbers(shape, kind)
            dump = Dump()
            k = dump.constant("k", value, kind)
            y = dump.node("Identity", "y", [k], shape)
            link(dump.text([y]))
            (found,) = run([], [y])
            same(f"constant of {kind} {shape}", found, bits_of(value, kind) if kind == "bf16" else value)


def test_constants_with_operands():
    value, x0 = RANDOM.standard_normal(8).astype("f4"), RANDOM.standard_normal((4, 8)).astype("f4")
    dump = Dump()
    x, k = dump.data("x", (4, 8)), dump.constant("k", value, "f4")
    y = dump.node("Mul", "y", [x, k], (4, 8))
    link(dump.text([y]))
    same("Mul", run([(x, x0)], [y])[0], x0 * value)


def test_constants_without_contents():
    dump = Dump()
    x, k = dump.data("x", (4, 8)), dump.constant("k", numbers(8), "f4", contents=False)
    link(
        dump.text([dump.node("Mul", "y", [x, k], (4, 8))]),
        fails="has no contents in this dump; GE writes them with DUMP_GE_GRAPH=1",
    )
    dump = Dump()
    x, k = dump.data("x", (4, 8)), dump.constant("k", numbers(8), "f4")
    text = dump.text([dump.node("Mul", "y", [x, k], (4, 8))])
    link(text.replace("value_desc_shape", "value_desc_shapes"), fails="it has 32 bytes, but its shape takes 4")
    link(
        text.replace(
            's: "DT_FLOAT"\n      type: STRING\n    }\n    attribute {\n      name: "value_desc_layout"',
            's: "DT_STRING"\n      type: STRING\n    }\n    attribute {\n      name: "value_desc_layout"',
        ),
        fails="its elements are of type string, which sklink does not have",
    )


# ---- formats ----

FORMS = [
    ("ND", "ND", (2, 20, 33)),
    ("FRACTAL_NZ", "ND", (20, 33)),
    ("FRACTAL_NZ", "ND", (3, 16, 40)),
    ("FRACTAL_Z", "ND", (20, 33)),
    ("FRACTAL_NZ", "NCHW", (2, 3, 16, 40)),
    ("NCHW", "NCHW", (2, 33, 3, 4)),
    ("NHWC", "NCHW", (2, 33, 3, 4)),
    ("HWCN", "NCHW", (2, 33, 3, 4)),
    ("NC1HWC0", "NCHW", (2, 33, 3, 4)),
    ("NC1HWC0", "NHWC", (2, 3, 4, 32)),
    ("FRACTAL_Z", "NCHW", (20, 33, 3, 2)),
    ("FRACTAL_Z", "HWCN", (3, 2, 33, 20)),
    ("NDC1HWC0", "NCDHW", (2, 33, 2, 3, 2)),
    ("NDC1HWC0", "NDHWC", (2, 2, 3, 2, 16)),
]


def letters(value, origin, other):
    """The tensor with the axes of another origin."""
    return value.transpose([origin.index(axis) for axis in other]) if origin != other else value


def test_trans_data():
    """Any two formats of one tensor, in all types."""
    kinds = list(TYPES)
    for form, origin, shape in FORMS:
        for other, of, _ in FORMS:
            if sorted(of) != sorted(origin) or (other == "FRACTAL_Z" and of == "ND" and len(shape) != 2):
                continue
            kind = kinds[RANDOM.integers(len(kinds))]
            if kind == "int4" and any(
                Tensor("", size, kind, one, name).stored_shape()[-1] % 2
                for one, name, size in (
                    (form, origin, shape),
                    (other, of, letters(numpy.empty(shape), origin, of).shape),
                )
            ):
                kind = "i1"
            value = numbers(shape, kind)
            dump = Dump()
            x = dump.data("x", shape, kind, form, origin)
            to = letters(value, origin, of)
            y = dump.node(
                "TransData", "y", [x], to.shape, form=other, origin=of, src_format=form, dst_format=other, groups=1
            )
            link(dump.text([y]), target=["ascend", "cpu"][RANDOM.integers(2)])
            (found,) = run([(x, value)], [y])
            same(
                f"{form} of {origin} {shape} to {other} of {of} as {kind}",
                found,
                bits_of(to, kind) if kind == "bf16" else to,
            )
            if kind not in ("bf16", "int4"):
                elements = loaded("y0.npy")
                same(f"padding of {other}", elements, stored(to, other, of, y.block))


def test_trans_data_of_two_types():
    dump = Dump()
    value = numbers((20, 70))
    x = dump.data("x", (20, 70), "f2", "FRACTAL_NZ")
    y = dump.node("TransData", "y", [x], (20, 70), kind="i1", form="FRACTAL_Z")
    link(dump.text([y]))
    same("f2 to i1", run([(x, value)], [y])[0], value)


def test_trans_data_refused():
    dump = Dump()
    x = dump.data("x", (20, 70), "f2", "FRACTAL_NZ")
    y = dump.node("TransData", "y", [x], (20, 70), form="ND")
    text = dump.text([y])
    link(
        text.replace("ints: 5\n", "ints: 6\n"),
        fails="'x' is stored as FRACTAL_NZ [6, 2, 16, 16] of ND [20, 70]: there is no such form of a tensor",
    )
    dump = Dump()
    x = dump.data("x", (16, 32, 2, 2), "f2", "NCHW", "NCHW")
    y = dump.node("TransData", "y", [x], (16, 32, 2, 2), form="FRACTAL_Z", groups=2)
    link(dump.text([y]), fails="'groups' is 2: only formats of one group are known")


def test_elementwise_as_stored():
    for form, origin, shape in FORMS:
        dump = Dump()
        x = dump.data("x", shape, "f4", form, origin)
        a = dump.node("Relu", "a", [x], shape)
        b = dump.node("Add", "b", [a, x], shape)
        told = link(dump.text([b]), "--explain", "b", target="cpu")
        value = numbers(shape)
        same(f"Add of {form}", run([(x, value)], [b])[0], numpy.maximum(value, 0) + value)
        padded = numpy.prod(x.stored_shape()) != numpy.prod(shape)
        if form != origin:
            check(
                told,
                f"Add computes {form} {x.stored_shape()} of {origin} {list(shape)} as it is stored, "
                f"{'padding included' if padded else 'without padding'}." in told,
            )


def test_elementwise_of_several_forms():
    dump = Dump()
    x, bias = dump.data("x", (20, 33), "f4", "FRACTAL_NZ"), dump.data("bias", (33,))
    y = dump.node("Add", "y", [x, bias], (20, 33))
    told = link(dump.text([y]), "--explain", "y")
    a, b = numbers((20, 33)), numbers((33,))
    same("Add", run([(x, a), (bias, b)], [y])[0], a + b)
    check(
        told,
        "'x' is FRACTAL_NZ [3, 2, 16, 16] of ND [20, 33]: TransData makes it its origin for the Add." in told
        and "'y:0' is FRACTAL_NZ [3, 2, 16, 16] of ND [20, 33]: TransData makes it of the result of the Add." in told,
    )


def test_products():
    for batch, left, right in (((), 0, 0), ((), 1, 0), ((), 0, 1), ((), 1, 1), ((3,), 0, 0), ((2, 3), 0, 0)):
        for forms in (
            ("FRACTAL_NZ", "FRACTAL_NZ", "FRACTAL_NZ"),
            ("ND", "FRACTAL_NZ", "ND"),
            ("FRACTAL_NZ", "ND", "FRACTAL_NZ"),
            ("ND", "FRACTAL_Z", "ND"),
        ):
            if batch and "FRACTAL_Z" in forms:
                continue
            m, k, n = 20, 33, 40
            a, b = numbers(batch + (m, k)), numbers(batch + (k, n))
            stored_a, stored_b = (a.swapaxes(-1, -2) if left else a), (b.swapaxes(-1, -2) if right else b)
            dump = Dump()
            x1 = dump.data("x1", stored_a.shape, "f2", forms[0])
            x2 = dump.data("x2", stored_b.shape, "f2", forms[1])
            names = ("adj_x1", "adj_x2") if batch else ("transpose_x1", "transpose_x2")
            y = dump.node(
                "BatchMatMulV2" if batch else "MatMulV2",
                "y",
                [x1, x2],
                batch + (m, n),
                form=forms[2],
                **dict(zip(names, (left, right))),
            )
            told = link(dump.text([y]), *(() if batch else ("--explain", "y")))
            same(f"product of {forms}", run([(x1, stored_a), (x2, stored_b)], [y])[0], a @ b)
            check(told, batch or "TransData makes it" in told)


def test_reductions():
    for op, compute in (("ReduceSumD", numpy.sum), ("ReduceMaxD", numpy.max)):
        for form, origin, shape, axes in (
            ("FRACTAL_NZ", "ND", (20, 33), [1]),
            ("FRACTAL_NZ", "ND", (3, 20, 33), [-2]),
            ("NC1HWC0", "NCHW", (2, 33, 3, 4), [1]),
            ("NC1HWC0", "NCHW", (2, 33, 3, 4), [2, 3]),
            ("NHWC", "NCHW", (2, 33, 3, 4), [1]),
        ):
            dump = Dump()
            x = dump.data("x", shape, "f4", form, origin)
            value = numbers(shape)
            wanted = compute(value, axis=tuple(axes), keepdims=True)
            y = dump.node(op, "y", [x], wanted.shape, axes=axes, keep_dims=1)
            link(dump.text([y]))
            same(f"{op} of {form}", run([(x, value)], [y])[0], wanted)


def test_rows():
    """Softmax and norms of tensors that are stored in blocks."""
    for form, origin, shape, axis in (
        ("FRACTAL_NZ", "ND", (20, 33), -1),
        ("FRACTAL_NZ", "ND", (3, 20, 33), 1),
        ("NC1HWC0", "NCHW", (2, 33, 3, 4), 1),
        ("NC1HWC0", "NCHW", (2, 33, 3, 4), -1),
        ("NHWC", "NCHW", (2, 33, 3, 4), 1),
    ):
        value = RANDOM.standard_normal(shape).astype("f4")
        dump = Dump()
        x = dump.data("x", shape, "f4", form, origin)
        y = dump.node("SoftmaxV2", "y", [x], shape, form=form, origin=origin, axes=[axis])
        told = link(dump.text([y]), "--explain", "y")
        check(told, f"'x' is {form}" in told and "TransData makes it its origin for the SoftmaxV2" in told)
        wanted = numpy.exp(value - value.max(axis, keepdims=True))
        same(f"softmax of {form}", run([(x, value)], [y])[0], wanted / wanted.sum(axis, keepdims=True), 1e-5)
        first = axis % len(shape)
        axes, gamma = tuple(range(first, len(shape))), RANDOM.standard_normal(shape[first:]).astype("f4")
        for op, epsilon in (("LayerNorm", 1e-7), ("LayerNormV3", 1e-5)):
            dump = Dump()
            x = dump.data("x", shape, "f4", form, origin)
            g, b = dump.constant("g", gamma, "f4"), dump.constant("b", gamma / 2, "f4")
            y = dump.node(op, "y", [x, g, b], shape, form=form, origin=origin, begin_norm_axis=axis, begin_params_axis=axis)
            told = link(dump.text([y]), "--explain", "y")
            check(told, f"'y:0' is {form}" in told and f"TransData makes it of the result of the {op}" in told)
            wanted = (value - value.mean(axes, keepdims=True)) / numpy.sqrt(value.var(axes, keepdims=True) + epsilon)
            same(f"{op} of {form}", run([(x, value)], [y])[0], wanted * gamma + gamma / 2, 1e-4)


def test_windows():
    """Convolutions and pooling of images in NC1HWC0, with filters in FRACTAL_Z."""
    image, weights = numbers((2, 33, 6, 5)), numbers((20, 33, 3, 2))
    padded = numpy.pad(image, [(0, 0), (0, 0), (1, 1), (0, 1)])
    windows = numpy.lib.stride_tricks.sliding_window_view(padded, (3, 2), (2, 3))
    common = {"strides": [1, 1, 2, 1], "pads": [1, 1, 0, 1], "data_format": "NCHW"}
    for form, filters in (("NC1HWC0", "FRACTAL_Z"), ("NC1HWC0", "NCHW"), ("NHWC", "HWCN")):
        dump = Dump()
        x = dump.data("x", image.shape, "f4", form, "NCHW")
        w = dump.data("w", weights.shape, "f4", filters, "NCHW")
        wanted = numpy.einsum("ncyxab,ocab->noyx", windows[:, :, ::2], weights)
        y = dump.node(
            "Conv2D", "y", [x, w], wanted.shape, form=form, origin="NCHW", dilations=[1, 1, 1, 1], groups=1, **common
        )
        told = link(dump.text([y]), "--explain", "y")
        check(told, "TransData makes it its origin for the Conv2D" in told)
        same(f"Conv2D of {form}, {filters}", run([(x, image), (w, weights)], [y])[0], wanted, 1e-5)
        for op, wanted in (
            ("MaxPoolV3", numpy.pad(image, [(0, 0), (0, 0), (1, 1), (0, 1)], constant_values=-99)),
            ("AvgPoolV2", padded),
        ):
            wanted = numpy.lib.stride_tricks.sliding_window_view(wanted, (3, 2), (2, 3))[:, :, ::2]
            wanted = wanted.max((4, 5)) if op == "MaxPoolV3" else wanted.mean((4, 5))
            dump = Dump()
            x = dump.data("x", image.shape, "f4", form, "NCHW")
            more = {"exclusive": 0} if op == "AvgPoolV2" else {}
            y = dump.node(op, "y", [x], wanted.shape, form=form, origin="NCHW", ksize=[1, 1, 3, 2], **common, **more)
            told = link(dump.text([y]), "--explain", "y")
            check(told, f"TransData makes it its origin for the {op}" in told)
            same(f"{op} of {form}", run([(x, image)], [y])[0], wanted, 1e-5)
    # The blocks of a filter of several groups are others, and have the same shape.
    dump = Dump()
    x = dump.data("x", (1, 16, 4, 4), "f4", "NC1HWC0", "NCHW")
    w = dump.data("w", (16, 1, 3, 3), "f4", "FRACTAL_Z", "NCHW")
    y = dump.node(
        "Conv2D", "y", [x, w], (1, 16, 2, 2), form="NC1HWC0", origin="NCHW", strides=[1] * 4, pads=[0] * 4,
        dilations=[1] * 4, data_format="NCHW", groups=16,
    )
    link(dump.text([y]), fails="it has 16 groups: FRACTAL_Z is known for one group only")


def test_axes():
    """Splits and joins along each axis, with parts that are whole blocks and others."""
    for form, origin, shape, axis, parts in (
        ("FRACTAL_NZ", "ND", (32, 64), 1, [32, 32]),
        ("FRACTAL_NZ", "ND", (32, 64), 0, [16, 16]),
        ("FRACTAL_NZ", "ND", (32, 64), -1, [16, 48]),
        ("FRACTAL_NZ", "ND", (32, 64), -2, [24, 8]),
        ("FRACTAL_NZ", "ND", (2, 20, 33), 2, [11, 11, 11]),
        ("FRACTAL_NZ", "ND", (4, 20, 33), 0, [1, 3]),
        ("NC1HWC0", "NCHW", (1, 64, 2, 2), 1, [16, 48]),
        ("NC1HWC0", "NCHW", (1, 56, 2, 2), 1, [24, 32]),
        ("NC1HWC0", "NCHW", (1, 64, 2, 2), -3, [32, 32]),
        ("NC1HWC0", "NHWC", (1, 2, 2, 64), 3, [16, 48]),
        ("NC1HWC0", "NCHW", (1, 33, 4, 2), 2, [1, 3]),
        ("NHWC", "NCHW", (2, 3, 4, 5), 1, [1, 2]),
        ("FRACTAL_Z", "NCHW", (32, 32, 2, 2), 0, [16, 16]),
        ("NDC1HWC0", "NCDHW", (2, 48, 2, 3, 2), 1, [16, 32]),
        ("HWCN", "HWCN", (4, 2, 3, 5), 0, [1, 3]),
    ):
        for kind in ("f2", "i1"):
            if kind == "i1":
                scale = 2 if axis % len(shape) in (1, 3) or form == "FRACTAL_NZ" else 1
                shape = tuple(s * scale if i == axis % len(shape) else s for i, s in enumerate(shape))
                parts = [part * scale for part in parts]
            dump = Dump()
            x = dump.data("x", shape, kind, form, origin)
            r = dump.node("Relu", "r", [x], shape)
            pieces = dump.split("s", r, axis, parts)
            flat = [dump.node("Abs", f"n{i}", [piece], piece.shape) for i, piece in enumerate(pieces)]
            joined = dump.node("ConcatD", "c", flat[::-1], shape, concat_dim=axis, N=len(flat))
            link(dump.text(flat + [joined]), "--explain", "s")
            value = numbers(shape, kind)
            wanted = numpy.split(numpy.maximum(value, 0), numpy.cumsum(parts)[:-1], axis)
            found = run([(x, value)], flat + [joined])
            for one, other in zip(found, wanted + [numpy.concatenate(wanted[::-1], axis)]):
                same(f"{form} {shape} along {axis} in {parts}", one, other)


def test_int4():
    """Numbers of four bits are bytes of two; other operators compute them as int8."""
    value = numbers((6, 10), "int4")
    for op, compute in (("Neg", numpy.negative), ("Identity", numpy.array), ("Relu", lambda v: numpy.maximum(v, 0))):
        dump = Dump()
        x = dump.data("x", (6, 10), "int4")
        y = dump.node(op, "y", [x], (6, 10))
        told = link(dump.text([y]), "--explain", "y", target="cpu") if op == "Neg" else link(dump.text([y]))
        check(told, op != "Neg" or "'x' is int4: Neg computes int8." in told)
        wanted = compute(value)
        same(f"{op} of int4", run([(x, value)], [y])[0], numpy.where(wanted > 7, wanted - 16, wanted))
    dump = Dump()
    x, k = dump.data("x", (6, 10), "int4"), dump.constant("k", value, "int4")
    y = dump.node("Add", "y", [x, k], (6, 10))
    z = dump.node("Cast", "z", [y], (6, 10), kind="f2", dst_type=1)
    link(dump.text([y, z]))
    wanted = (2 * value + 8) % 16 - 8
    for found in run([(x, value)], [y, z]):
        same("2 x of int4", found, wanted)
    for axis, parts in ((0, (2, 4)), (1, (4, 6)), (-1, (2, 8)), (0, (3, 3))):
        dump = Dump()
        x = dump.data("x", (6, 10), "int4")
        pieces = dump.split("s", x, axis, list(parts))
        joined = dump.node("ConcatD", "c", pieces[::-1], (6, 10), concat_dim=axis, N=2)
        link(dump.text(pieces + [joined]))
        wanted = numpy.split(value, [parts[0]], axis)
        for found, other in zip(run([(x, value)], pieces + [joined]), wanted + [numpy.concatenate(wanted[::-1], axis)]):
            same(f"int4 along {axis} in {parts}", found, other)
    dump = Dump()
    x = dump.data("x", (4, 3), "int4")
    link(
        dump.text([dump.node("Neg", "y", [x], (4, 3))]),
        fails="'x' is int4, and its last dimension does not have whole bytes",
    )


# ---- FusionVirtualOpSetSwitch ----


def test_switch_static():
    """Shapes of dumps are numbers: a dimension that is not known is refused, and so no such Split is a slice."""
    text, *_ = split()
    mark = 'name: "output_desc_shape:0"\n      ints: 32\n'
    check(text, mark in text)
    link(text.replace(mark, mark.replace("32", "-1"), 1), fails="the sizes of input 'x' are not known when linking")
    text, *_ = split(form="FRACTAL_NZ")
    mark = 'name: "output_desc_origin_shape:0"\n      ints: 32\n'
    check(text, mark in text)
    link(text.replace(mark, mark.replace("32", "-1")), fails="there is no such form of a tensor")


def split(
    shape=(32, 16),
    kind="f2",
    form="ND",
    origin="ND",
    axis=0,
    parts=(16, 16),
    before=("Neg",),
    after="Abs",
    notes=None,
    made=None,
    taken=None,
):
    """A Split of what the operators `before` make of an input, with one operator after each part. `notes`, `made` and
    `taken` are attributes of the Split, of the node before it, and of the first one after it."""
    dump, value = Dump(), numbers(shape, kind)
    if before == ("Const",):
        x, inputs = dump.constant("k", value, kind, form, origin), []
    else:
        flat = before == ("Reshape",)
        value = value.reshape(-1) if flat else value
        x = dump.data("x", value.shape, kind, *(("ND", "ND") if "TransData" in before else (form, origin)))
        inputs = [(x, value)]
        for i, op in enumerate(before):
            last = i + 1 == len(before)
            operands = [x, dump.constant("to", numpy.array(shape), "i8")] if op == "Reshape" else [x]
            there = (
                {"form": form, "origin": origin, "src_format": x.form, "dst_format": form} if op == "TransData" else {}
            )
            x = dump.node(op, f"p{i}", operands, shape, **there, **((made or {}) if last else {}))
    pieces = dump.split("s", x, axis, list(parts), **(notes or {}))
    if after == "NetOutput":
        results = pieces
    elif after in ("SplitD", "SplitVD"):
        first = pieces[0].shape[axis]
        results = [
            Tensor(
                f"again:{i}", [n if d == axis else size for d, size in enumerate(pieces[0].shape)], kind, form, origin
            )
            for i, n in enumerate((first // 2, first // 2) if after == "SplitD" else (first // 4, first // 4 * 3))
        ]
        sizes = {"size_splits": [first // 4, first // 4 * 3]} if after == "SplitVD" else {}
        dump.add(after, "again", [pieces[0]], results, split_dim=axis, num_split=2, **sizes)
        results = [dump.node("Neg", f"r{i}", [part], part.shape) for i, part in enumerate(results)]
    else:
        results = [
            dump.node(after if not i else "Abs", f"n{i}", [piece], piece.shape, **((taken or {}) if not i else {}))
            for i, piece in enumerate(pieces)
        ]
    return dump.text(results), inputs, results


def fires(told, **changes):
    text, inputs, results = split(**changes)
    said = link(text, "--explain", "s")
    check(f"{told}: it has a task: {said}", "it has no task: the data that it splits is already in place" in said)
    on = run(inputs, results)
    said = link(text, "--explain", "s", "--fusion-flags=--disable_pass=FusionVirtualOpSetSwitch")
    check(f"{told}: {said}", "Split has a task: FusionVirtualOpSetSwitch is off" in said)
    for one, other in zip(on, run(inputs, results)):
        same(told, one, other)


def refused(told, reason, **changes):
    text, inputs, results = split(**changes)
    said = link(text, "--explain", "s")
    check(f"{told}: not '{reason}' but: {said}", f"Split has a task under FusionVirtualOpSetSwitch: {reason}" in said)
    on = run(inputs, results)
    link(text, "--fusion-flags=--disable_pass=FusionVirtualOpSetSwitch")
    for one, other in zip(on, run(inputs, results)):
        same(told, one, other)


def test_switch_fires():
    fires("a Split of what an operator has made")
    fires("a Split of an input", before=())
    fires(
        "TransData that is not of an input",
        before=("Neg", "TransData"),
        form="FRACTAL_NZ",
        axis=1,
        shape=(32, 64),
        parts=(32, 32),
    )
    fires("Reshape that is not of an input", before=("Neg", "Reshape"))
    fires("other kinds of memory", notes={"_input_memory_type": [2], "_output_memory_type": [0, 2]})
    fires(
        "empty lists and false notes",
        made={"_no_task": 0, "atomic_output_index": []},
        taken={"_no_task": 0, "atomic_output_index": [], "_fusion_virtual_op": "", "continuous_input": 0},
    )
    fires("SplitVD", parts=(8, 24))


def test_switch_conditions():
    for note in ("_input_memory_type", "_output_memory_type"):
        refused("L1", f"'{note}' of 's' has 65536, which is L1", notes={note: [0, 65536]})
        refused("L2", f"'{note}' of 's' has 131072, which is L2", notes={note: [131072]})
    refused(
        "TransData of an input",
        "'p0' is a TransData of an input of the network",
        before=("TransData",),
        form="FRACTAL_NZ",
        axis=1,
        shape=(32, 64),
        parts=(32, 32),
    )
    refused("Reshape of an input", "'p0' is a Reshape of an input of the network", before=("Reshape",))
    refused("a producer without a task", "'p0' has no task itself", made={"_no_task": 1})
    refused("a producer with atomic outputs", "'p0' has an 'atomic_output_index'", made={"atomic_output_index": [0]})
    text, inputs, results = split(before=("Const",))  # its parts are constants
    link(text, "--explain", "s", fails="there is no task 's' to explain")
    refused("an output of the network", "'s:0' is an output of the network", after="NetOutput")
    for op in ("SplitD", "SplitVD"):
        refused(op, f"'again' takes an output and is a {op}", after=op)
    refused("a consumer without a task", "'n0' takes an output and has no task itself", taken={"_no_task": 1})
    refused(
        "a consumer that is not of TVM",
        "'n0' takes an output, and its 'imply_type' is 3, not 1",
        taken={"imply_type": 3},
    )
    refused(
        "a virtual consumer",
        "'n0' takes an output and has a '_fusion_virtual_op'",
        taken={"_fusion_virtual_op": "pool"},
    )
    refused(
        "a consumer with adjacent inputs",
        "'n0' takes an output and wants its inputs adjacent in memory",
        taken={"continuous_input": 1},
    )
    refused(
        "a consumer with atomic outputs",
        "'n0' takes an output and has an 'atomic_output_index'",
        taken={"atomic_output_index": [0]},
    )


def test_switch_collectives():
    """A link ends where a collective would run, which is after the decision."""
    for op, shape, said in (
        ("HcomAllReduce", (16, 16), {"reduction": "sum"}),
        ("HcomBroadcast", (16, 16), {"root_rank": 0}),
        ("HcomReduce", (16, 16), {"root_rank": 0, "reduction": "sum"}),
        ("HcomAllGather", (32, 16), {"rank_size": 2}),
        ("HcomReduceScatter", (8, 16), {"rank_size": 2, "reduction": "sum"}),
    ):
        dump = Dump()
        x = dump.node("Neg", "p", [dump.data("x", (32, 16))], (32, 16))
        pieces = dump.split("s", x, 0, [16, 16])
        y = dump.node(op, "h", [pieces[0]], shape, group="hccl_world_group", fusion=1, fusion_id=-1, **said)
        z = dump.node("Abs", "z", [pieces[1]], (16, 16))
        told = link(dump.text([y, z]), "--check", "--explain", "s", fails="it is for several ranks; --ranks N")
        check(
            told,
            f"node 's': Split has a task under FusionVirtualOpSetSwitch: 'h' takes an output and is a {op}" in told,
        )


def test_switch_split_n():
    fires("a negative axis", axis=-2)
    refused("another axis", "the axis is 1, and axis 0 of output 0 does not have one element", axis=1, parts=(8, 8))
    fires("NZ of two dimensions: 1 becomes 0", form="FRACTAL_NZ", axis=1, shape=(32, 64), parts=(32, 32))
    fires("NZ of two dimensions: -1 becomes 0", form="FRACTAL_NZ", axis=-1, shape=(32, 64), parts=(16, 48))
    refused(
        "NZ of two dimensions: 0 becomes 1",
        "the axis is 1, and axis 0 of output 0 does not have one element",
        form="FRACTAL_NZ",
        axis=0,
        shape=(32, 64),
        parts=(16, 16),
    )
    fires("NZ of three dimensions", form="FRACTAL_NZ", axis=0, shape=(4, 32, 64), parts=(1, 3))
    refused(
        "NZ of three dimensions, another axis",
        "the axis is 2, neither 0 nor 1",
        form="FRACTAL_NZ",
        axis=2,
        shape=(1, 32, 64),
        parts=(32, 32),
    )
    fires("images", form="NC1HWC0", origin="NCHW", axis=0, shape=(4, 20, 2, 2), parts=(2, 2))
    refused(
        "the axis N of HWCN",
        "the axis is 3, neither 0 nor 1",
        form="HWCN",
        origin="NCHW",
        axis=0,
        shape=(4, 3, 2, 2),
        parts=(2, 2),
    )
    refused("the axis -2 of four", "the axis is 2, neither 0 nor 1", axis=-2, shape=(1, 32, 32, 1), parts=(16, 16))


def test_switch_split_c_to_n():
    fires("the same format", axis=1, shape=(1, 32, 3), parts=(8, 24))
    fires("the same format, a negative axis", axis=-3, shape=(1, 32, 3, 4), parts=(8, 24))
    refused(
        "two images",
        "the axis is 1, and axis 0 of output 0 does not have one element",
        axis=1,
        shape=(2, 32, 3),
        parts=(8, 24),
    )
    fires("NZ of four dimensions", form="FRACTAL_NZ", axis=1, shape=(1, 6, 16, 32), parts=(2, 4))
    refused(
        "NZ of three dimensions",
        "the axis is 1, and ND of rank 3 is stored as FRACTAL_NZ",
        form="FRACTAL_NZ",
        axis=1,
        shape=(1, 32, 16),
        parts=(16, 16),
    )
    for kind, block in (("f2", 16), ("i1", 32), ("int4", 64)):
        images = {"kind": kind, "form": "NC1HWC0", "origin": "NCHW", "axis": 1}
        fires(f"aligned channels of {kind}", shape=(1, 4 * block, 2, 2), parts=(block, 3 * block), **images)
        refused(
            f"channels of {kind} that are not aligned",
            f"output 0 has {block // 2 * 3} channels, which is not a multiple of {block}",
            shape=(1, 4 * block, 2, 2),
            parts=(block // 2 * 3, block // 2 * 5),
            **images,
        )
        refused(
            f"a last part of {kind} that is not aligned",
            f"output 1 has {block + 1} channels, which is not a multiple of {block}",
            shape=(1, 3 * block + 1, 2, 2),
            parts=(2 * block, block + 1),
            **images,
        )
    refused(
        "channels of f4",
        "output 0 is of a type that NC1HWC0 has no blocks of",
        kind="f4",
        form="NC1HWC0",
        origin="NCHW",
        axis=1,
        shape=(1, 64, 2, 2),
        parts=(32, 32),
    )
    refused(
        "another origin",
        "the axis is 1, and NHWC of rank 4 is stored as NC1HWC0",
        form="NC1HWC0",
        origin="NHWC",
        axis=1,
        shape=(1, 4, 2, 16),
        parts=(2, 2),
    )


def main():
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    for name, test in tests:
        try:
            test()
        except AssertionError as error:
            sys.exit(f"{name}: {error}")
    print(f"{len(tests)} tests")


main()
