"""The Python package sklink, for pytest: python.sh says where programs, kernels and samples are."""
import ctypes
import errno
import gc
import os
import shutil
import subprocess
import sys
import threading
import types
import typing
import weakref

import numpy
import pytest
import sklink

SOURCE, BUILD = os.environ["top_srcdir"], os.environ["top_builddir"]
KERNELS = os.path.join(os.environ["work"], "python-kernels.o")
COMPOSITE = os.path.join(SOURCE, "samples/composite/composite.pbtxt")
LIBRARY = ("-L", os.path.join(BUILD, "kernels"), "-lskernels")


def link(folder, tensors, task):
    """A package of one task."""
    manifest = folder / "model.yaml"
    manifest.write_text(
        "sklink: 1\ntensors:\n"
        + "".join(f"  {name}: {{{described}}}\n" for name, described in tensors.items())
        + f"tasks:\n  - {{name: one, {task}}}\n"
    )
    return sklink.link(manifest, KERNELS, output=folder / "model.sk")


@pytest.fixture(scope="session")
def composite(tmp_path_factory):
    folder = tmp_path_factory.mktemp("composite")
    manifest = os.path.join(SOURCE, "samples/composite/composite.yaml")
    return sklink.link(manifest, os.path.join(BUILD, "samples/composite/kernels.o"), output=folder / "composite.sk")


@pytest.fixture
def roots(tmp_path):
    tensors = {"x": "dtype: f32, shape: [8], role: input", "y": "dtype: f32, shape: [8], role: output"}
    return sklink.Package(link(tmp_path, tensors, "kernel: square_roots, args: [x, y]"))


@pytest.fixture
def awaiting(tmp_path):
    tensors = {"flag": "dtype: i32, shape: [1], role: input", "y": "dtype: i32, shape: [4], role: output"}
    return link(tmp_path, tensors, "kernel: await_flag, args: [flag, y]")


def cubes(x):
    return (2 * x + 1) ** 3


def numbers(start=0):
    return numpy.arange(start, start + 16, dtype=numpy.float32).reshape(4, 4)


def misaligned(array):
    """The same elements at an address that is odd in units of elements."""
    place = sklink.empty(array.size + 1, array.dtype)[1:].reshape(array.shape)
    place[...] = array
    return place


def strided(array):
    place = numpy.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)[..., ::2]
    place[...] = array
    return place


def test_description(composite):
    package = sklink.Package(composite)
    assert list(package.inputs) == ["x"] and list(package.outputs) == ["y"]
    x = package.inputs["x"]
    assert (x.name, x.type, x.dtype, x.shape, x.padding, x.is_input, x.is_output) == ("x", "f32", "float32", (4, 4), 0, True, False)
    assert list(package.networks) == [""]
    assert repr(package) == "<sklink.Package of <sklink.Network '': x: f32[4, 4] -> y: f32[4, 4]>>"


@pytest.mark.parametrize("change", [lambda a: a, misaligned, strided, numpy.asfortranarray, lambda a: a[::-1]])
def test_run(composite, change):
    package = sklink.Package(composite)
    x = change(numbers())
    kept = x.copy()
    y = change(numpy.zeros((4, 4), numpy.float32))
    results = package.run(x=x, y=y)
    assert results["y"] is y
    assert numpy.array_equal(y, cubes(kept)) and numpy.array_equal(x, kept)
    made = package.run({"x": x})["y"]
    assert numpy.array_equal(made, y) and made.ctypes.data % 64 == 0


def test_run_by_position(composite, tmp_path):
    """In the order of the inputs; with names and a dict it is ONNX Runtime's call, which returns a list."""
    package = sklink.Package(composite)
    x = numbers()
    assert numpy.array_equal(package.run(x)["y"], cubes(x))
    stream = sklink.Stream()
    y = package.launch(stream, x)["y"]
    stream.synchronise()
    assert numpy.array_equal(y, cubes(x))
    for names in (None, ["y"], ("y", "y")):
        results = package.run(names, {"x": x})
        assert isinstance(results, list) and len(results) == len(names or ["y"])
        assert all(numpy.array_equal(result, cubes(x)) for result in results)
    tensors = {name: "dtype: f32, shape: [50], role: " + role for name, role in (("x", "input"), ("sum", "inout"), ("y", "output"))}
    several = sklink.Package(link(tmp_path, tensors, "kernel: accumulate, args: [x, sum, y]"))
    ones = numpy.ones(50, numpy.float32)
    assert several.run(ones, 2 * ones)["sum"].tolist() == [3] * 50
    for text, arrays, named in [
        ("inputs are missing: 'sum'", (ones,), {}),
        ("3 arrays are given; the inputs are 'x', 'sum'", (ones, ones, ones), {}),
        ("tensor 'x' is given twice", (ones,), {"x": ones}),
        ("tensor 'x' is given twice", ({"x": ones},), {"x": ones}),
        ("tensor 'x' is to be a numpy.ndarray, not list", ([1],), {}),
        ("there is no output 'x'; there are 'sum', 'y'", (["x"], {"x": ones, "sum": ones}), {}),
        ("names of outputs are to be a list of them, or None, not str", ("y", {"x": ones, "sum": ones}), {}),
    ]:
        with pytest.raises(TypeError, match=text):
            several.run(*arrays, **named)


def test_numbers_and_names_that_do_not_fit(composite, tmp_path):
    for name, bits in (("cores", 32), ("timeout_ms", 32), ("seed", 64), ("stack_size", 64), ("checks", 64)):
        for value in (1 << bits, (1 << bits) + 1, -1):
            with pytest.raises(OverflowError, match=f"{name} is to be from 0 to {(1 << bits) - 1}, not {value}"):
                sklink.Device(**{name: value})
        with pytest.raises(TypeError):
            sklink.Device(**{name: 1.0})
    for use in (
        lambda: sklink.Device("host\0"),
        lambda: sklink.Package(f"{composite}\0.checked"),
        lambda: sklink.Package(composite, weights="w\0"),
        lambda: sklink.link("model\0.yaml", output=tmp_path / "model.sk"),
    ):
        with pytest.raises(ValueError, match="null (character|byte)"):
            use()
    for error, shape, padding in [
        (OverflowError, (1 << 32, 1 << 32), 0),
        (OverflowError, 1 << 61, 0),
        (OverflowError, 1, 1 << 63),
        (ValueError, (2, -2), 0),
        (ValueError, 2, -8),
    ]:
        with pytest.raises(error):
            sklink.empty(shape, "float64", padding)
    with pytest.raises(TypeError, match="the array is masked"):
        sklink.Package(composite).run(numpy.ma.masked_less(numbers(), 3))


def test_from_bytes(composite):
    package = sklink.Package(composite.read_bytes(), check_integrity=True)
    assert numpy.array_equal(package.run(x=numbers())["y"], cubes(numbers()))


def test_no_copies(composite):
    package = sklink.Package(composite)
    x, y = sklink.empty((4, 4), "float32"), sklink.empty((4, 4), "float32")
    x[...] = numbers()
    assert package.run(x=x, y=y, copy=False)["y"] is y and numpy.array_equal(y, cubes(x))
    with pytest.raises(ValueError, match="tensor 'x': the array is not aligned to 64 bytes; "):
        package.run(x=misaligned(x), copy=False)
    with pytest.raises(ValueError, match="tensor 'y': the array is not contiguous; "):
        package.run(x=x, y=strided(y), copy=False)
    with pytest.raises(ValueError, match="tensor 'x': the array is not contiguous, so only run"):
        package.launch(sklink.Stream(), x=strided(x))


@pytest.mark.parametrize(
    "shape, dtype", [((), "float64"), (0, "int8"), ((3, 0), "float32"), (7, "uint16"), ((2, 3, 5), "bool"), ([4], float)]
)
def test_empty(shape, dtype):
    array = sklink.empty(shape, dtype)
    like = numpy.empty(shape, dtype)
    assert array.ctypes.data % 64 == 0 and array.flags.c_contiguous
    assert (array.shape, array.dtype, array.nbytes) == (like.shape, like.dtype, like.nbytes)


def test_types(tmp_path):
    words = {"a": "i8", "b": "bf16", "c": "f64", "d": "bool"}
    tensors = {name: f"dtype: {word}, shape: [100]" for word_name, word in words.items() for name in (word_name, word_name + "2")}
    package = sklink.Package(link(tmp_path, tensors, "kernel: copies, args: [a, a2, b, b2, c, c2, d, d2]"))
    generator = numpy.random.default_rng(1)
    given = {
        "a": generator.integers(-128, 128, 100, numpy.int8),
        "b": generator.integers(0, 65536, 100, numpy.uint16),
        "c": generator.standard_normal(100),
        "d": generator.integers(0, 2, 100).astype(bool),
    }
    assert package.inputs["b"].type == "bf16"
    results = package.run(**given)
    for name, array in given.items():
        assert results[name + "2"].dtype == array.dtype
        assert numpy.array_equal(results[name + "2"], array ^ 0x8000 if name == "b" else array)


TYPE = "type { tensor_type { elem_type: 1 shape { dim { %s } } } }"


@pytest.mark.parametrize("options", [["batch=4"], ["batch=1..8"], ["one:batch=4"]])
def test_unused_input(tmp_path, options):
    model = tmp_path / "model.pbtxt"
    named = TYPE % 'dim_param: "batch"'
    model.write_text(
        'ir_version: 8 opset_import { version: 17 } graph { name: "g" node { op_type: "Neg" input: "x" output: "y" }'
        f'input {{ name: "x" {named} }} input {{ name: "spare" {TYPE % "dim_value: 2"} }}'
        f'input {{ name: "mask" {TYPE % ""} }} output {{ name: "y" {named} }} }}'
    )
    words = [word for option in options for word in ("--dim", option)]
    with pytest.warns(UserWarning, match="nothing uses input '(one:)?spare'"):
        path = sklink.link(model, *words, *LIBRARY, output=tmp_path / "model.sk")
    network = next(iter(sklink.Package(path).networks.values()))
    x = numpy.arange(4, dtype=numpy.float32)
    with pytest.warns(UserWarning) as said:
        for _ in range(2):
            assert numpy.array_equal(network.run(x=x, spare=[1], mask=None)["y"], -x)
    assert sorted(str(one.message) for one in said) == [
        f"nothing in the model uses input '{name}'; the array is not read" for name in ("mask", "spare")
    ]
    for name in ("spar", "spare2", "spare\0", "", "one", "one:", "sp\udc80re"):
        with pytest.raises(TypeError, match="there is no tensor"):
            network.run({"x": x, name: x})


def test_wrong_arrays(composite):
    package = sklink.Package(composite)
    x = numbers()
    for error, text, given in [
        (TypeError, "inputs are missing: 'x'", {}),
        (TypeError, "there is no tensor 'z' to give; there are 'x', 'y'", {"x": x, "z": x}),
        (TypeError, "tensor 'x' is to be a numpy.ndarray, not list", {"x": x.tolist()}),
        (ValueError, r"tensor 'x' is f32\[4, 4\]; the array is float64\[4, 4\]", {"x": x.astype(float)}),
        (ValueError, r"tensor 'x' is f32\[4, 4\]; the array is >f4\[4, 4\]", {"x": x.astype(">f4")}),
        (ValueError, r"tensor 'x' is f32\[4, 4\]; the array is float32\[16\]", {"x": x.ravel()}),
        (ValueError, "tensor 'y' is written; the array is read-only", {"x": x, "y": numpy.broadcast_to(x[0], (4, 4))}),
    ]:
        with pytest.raises(error, match=text):
            package.run(given)
    assert numpy.array_equal(package.run(x=numpy.broadcast_to(x[0], (4, 4)))["y"], cubes(numpy.broadcast_to(x[0], (4, 4))))
    place = sklink.empty((4, 4), "float32")
    with pytest.raises(sklink.Error, match="overlap") as raised:
        package.run(x=place, y=place)
    assert raised.value.status == "SKRT_INVALID_ARGUMENT"
    assert numpy.array_equal(package.run(x=x)["y"], cubes(x))


def test_state(tmp_path):
    tensors = {
        "x": "dtype: f32, shape: [50], role: input",
        "sum": "dtype: f32, shape: [50], role: inout",
        "y": "dtype: f32, shape: [50], role: output",
    }
    package = sklink.Package(link(tmp_path, tensors, "kernel: accumulate, args: [x, sum, y]"))
    assert list(package.inputs) == ["x", "sum"] and list(package.outputs) == ["sum", "y"]
    x = numpy.arange(50, dtype=numpy.float32)
    for change in (lambda array: array, misaligned, strided):
        total = change(numpy.zeros(50, numpy.float32))
        for run in range(5):
            results = package.run({"sum": total}, x=x)
            assert results["sum"] is total
            assert numpy.array_equal(total, x * (run + 1)) and numpy.array_equal(results["y"], x * run)
    with pytest.raises(TypeError, match="inputs are missing: 'sum'"):
        package.run(x=x)


def test_padding(tmp_path):
    tensors = {"x": "dtype: f32, shape: [10], role: input", "y": "dtype: f32, shape: [10], role: output"}
    package = sklink.Package(link(tmp_path, tensors, "kernel: twice, args: [x, y]"))
    assert package.inputs["x"].padding == 128
    x = package.inputs["x"].empty()
    x[...] = range(10)
    assert numpy.array_equal(package.run(x=x, copy=False)["y"], 2 * x)
    assert numpy.array_equal(package.run(x=sklink.empty(42, "float32")[:10] * 0)["y"], numpy.zeros(10))
    short = sklink.empty(10, "float32")
    short[...] = x
    with pytest.raises(ValueError, match="the array has no 128 bytes after it for kernels to read"):
        package.run(x=short, copy=False)
    for array in (short, strided(short)):
        assert numpy.array_equal(package.run(x=array)["y"], 2 * x)


def test_names_that_are_no_identifiers(tmp_path):
    model = tmp_path / "model.pbtxt"
    with open(COMPOSITE, encoding="utf-8") as text:
        model.write_text(text.read().replace('"x"', '"serving/x:0"').replace('"y"', '"copy"'))
    package = sklink.Package(sklink.link(model, "--dim", "rows=4", *LIBRARY, output=tmp_path / "model.sk"))
    y = numpy.zeros((4, 4), numpy.float32)
    assert package.run({"serving/x:0": numbers(), "copy": y})["copy"] is y
    assert numpy.array_equal(y, cubes(numbers()))


def test_networks(tmp_path):
    path = sklink.link(COMPOSITE, "--dim", "short:rows=2", "--dim", "long:rows=4", *LIBRARY, output=tmp_path / "model.sk")
    package = sklink.Package(path)
    assert list(package.networks) == ["short", "long"]
    for name, x in (("short", numbers()[:2]), ("long", numbers())):
        network = package.networks[name]
        assert network.inputs["x"].shape == x.shape
        assert repr(network) == f"<sklink.Network '{name}': x: f32[{len(x)}, 4] -> y: f32[{len(x)}, 4]>"
        assert numpy.array_equal(network.run(x=x)["y"], cubes(x))
    for use in (lambda: package.inputs, lambda: package.outputs, package.run, lambda: package.launch(sklink.Stream())):
        with pytest.raises(ValueError, match="the package has several networks: .networks.* is 'short', 'long'"):
            use()


CACHE = """ir_version: 8
opset_import { version: 17 }
graph {
  name: "cache"
  input { name: "past" type { tensor_type { elem_type: 1 shape {
    dim { dim_value: 2 } dim { dim_param: "rows" } dim { dim_value: 4 } } } } }
  input { name: "new" type { tensor_type { elem_type: 1 shape {
    dim { dim_value: 2 } dim { dim_param: "seq" } dim { dim_value: 4 } } } } }
  output { name: "present" type { tensor_type { elem_type: 1 } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
  node { op_type: "Concat" input: ["past", "new"] output: "present" attribute { name: "axis" i: 1 type: INT } }
  node { op_type: "Neg" input: "present" output: "y" }
}
"""


def test_sizes_that_no_array_shows(tmp_path):
    (tmp_path / "model.pbtxt").write_text(CACHE)
    bounds = ("--dim", "rows=0..6", "--dim", "seq=1..3", "--cache", "9")
    package = sklink.Package(sklink.link(tmp_path / "model.pbtxt", *bounds, *LIBRARY, output=tmp_path / "model.sk"))
    cache = numpy.full((2, 9, 4), numpy.nan, numpy.float32)
    wanted = numpy.zeros((2, 0, 4), numpy.float32)
    stream = sklink.Stream()
    for step, seq in enumerate((3, 1, 2, 3)):
        rows = wanted.shape[1]
        new = numpy.random.default_rng(step).random((2, seq, 4), numpy.float32)
        wanted = numpy.concatenate([wanted, new], axis=1)
        if step % 2:
            y = package.launch(stream, past=cache, new=new, sizes={"rows": rows})["y"]
            stream.synchronise()
        else:
            y = package.run(past=cache, new=new, sizes={"rows": rows})["y"]
        assert numpy.array_equal(y, -wanted)
        assert numpy.array_equal(cache[:, : rows + seq], wanted)
        assert numpy.isnan(cache[:, rows + seq :]).all()
    new = new[:, :1]
    [y] = package.run(["y"], {"past": cache, "new": new}, sizes={"rows": 5})
    assert y.shape == (2, 6, 4)
    for sizes, error in (
        ({"rows": 7}, "rows is 7; package '.*' takes 0..6"),
        ({"rows": 5, "seq": 2}, r"tensor 'new' is bound as \[2, 1, 4\], but seq is 2"),
        ({"row": 5}, "no dimension 'row'; it has rows, seq"),
    ):
        with pytest.raises(sklink.Error, match=error):
            package.run(past=cache, new=new, sizes=sizes)
    needed = r"dimension 'rows' \(0 to 6\) has no size: no array shows it; give sizes=\{'rows': ...\}"
    for sizes in None, {}, {"seq": 1}:  # not the rows of the run before
        with pytest.raises(ValueError, match=needed + "$"):
            package.run(past=cache, new=new, sizes=sizes)
    with pytest.raises(OverflowError, match="size 'rows' is to be from 0 to"):
        package.run(past=cache, new=new, sizes={"rows": -1})
    for run in package.run, lambda **given: package.launch(stream, **given):
        with pytest.raises(TypeError, match="sizes are to be a dict of dimensions, or None, not ndarray"):
            run(past=cache, new=new, sizes=numpy.zeros(4, "f4"))


MASK = """  input { name: "mask" type { tensor_type { elem_type: 1 shape { dim { dim_param: "rows+seq" } } } } }
  initializer { name: "last" data_type: 7 dims: 1 int64_data: [1] }
  node { op_type: "Unsqueeze" input: ["mask", "last"] output: "column" }
  node { op_type: "Mul" input: ["present", "column"] output: "y" }
"""


def test_sizes_that_a_sum_shows(tmp_path):
    nodes = CACHE.replace('  node { op_type: "Neg" input: "present" output: "y" }\n', MASK)
    (tmp_path / "model.pbtxt").write_text(nodes)
    bounds = ("--dim", "rows=0..6:2", "--dim", "seq=1..3", "--cache", "9")
    package = sklink.Package(sklink.link(tmp_path / "model.pbtxt", *bounds, *LIBRARY, output=tmp_path / "model.sk"))
    cache = numpy.full((2, 9, 4), numpy.nan, numpy.float32)
    mask = numpy.random.default_rng(9).random(9, numpy.float32)
    wanted = numpy.zeros((2, 0, 4), numpy.float32)
    for step, seq in enumerate((2, 2, 2, 3)):
        length = wanted.shape[1] + seq
        new = numpy.random.default_rng(step).random((2, seq, 4), numpy.float32)
        wanted = numpy.concatenate([wanted, new], axis=1)
        y = package.run(past=cache, new=new, mask=mask[:length])["y"]
        assert numpy.array_equal(y, wanted * mask[:length, None])
        assert numpy.array_equal(cache[:, :length], wanted)
        assert numpy.isnan(cache[:, length:]).all()
    for length in 1, 9:  # less than the new rows, and more than these and the most rows
        misfit = f"'mask' has 2 to 8 elements along axis 0 .*, for 'rows' of 0 to 6; the array has {length}$"
        with pytest.raises(ValueError, match=misfit):
            package.run(past=cache, new=new[:, :2].copy(), mask=mask[:length])
    with pytest.raises(ValueError, match="dimension 'rows' .* has no size: no array shows it"):
        package.run(past=cache, new=new, mask=mask[:4])  # an odd number of rows
    with pytest.raises(sklink.Error, match="mask"):
        package.run(past=cache, new=new, mask=mask[:5], sizes={"rows": 4})
    assert numpy.array_equal(cache, wanted)


def test_kernel_fails(roots):
    with pytest.raises(sklink.Error, match="task 'one': kernel square_roots returned status 7") as raised:
        roots.run(x=numpy.full(8, -1, numpy.float32))
    assert raised.value.status == "SKRT_KERNEL_FAILED"
    stream = sklink.Stream()
    roots.launch(stream, x=numpy.full(8, -1, numpy.float32))
    with pytest.raises(sklink.Error, match="square_roots"):
        stream.synchronise()
    y = roots.launch(stream, x=numpy.full(8, 9, numpy.float32))["y"]
    stream.synchronise()
    assert numpy.array_equal(y, numpy.full(8, 3))


def test_packages_that_are_none(tmp_path):
    (tmp_path / "text.sk").write_text("no package\n")
    for make in (
        lambda: sklink.Package(tmp_path / "none.sk"),
        lambda: sklink.Device("./none.sk"),
    ):
        with pytest.raises(FileNotFoundError, match="none.sk: .*No such file") as raised:
            make()
        assert isinstance(raised.value, sklink.Error) and raised.value.errno == errno.ENOENT and raised.value.status in ("SKRT_CANNOT_READ", "SKRT_NOT_FOUND")
    with pytest.raises(sklink.Error) as raised:  # it exists, and is not a file
        sklink.Package(tmp_path)
    assert not isinstance(raised.value, FileNotFoundError)
    with pytest.raises(sklink.Error, match="text.sk") as raised:
        sklink.Package(str(tmp_path / "text.sk"))
    assert raised.value.status == "SKRT_BAD_PACKAGE"
    with pytest.raises(ValueError, match="a public key has 32 bytes, not 3"):
        sklink.Package(b"", public_key=b"abc")
    with pytest.raises(sklink.Error) as raised:
        sklink.Device("none")
    assert raised.value.status == "SKRT_NOT_FOUND"


def test_devices(composite):
    for device in (sklink.Device(cores=3), sklink.Device("a3", seed=5), sklink.Device(checks=sklink.GUARD | sklink.CHECK_RACES)):
        package = sklink.Package(composite, device)
        assert numpy.array_equal(package.run(x=numbers())["y"], cubes(numbers()))


def test_links(tmp_path, monkeypatch):
    (tmp_path / "wrong.yaml").write_text("sklink: 1\ntensors: {x: {dtype: f33, shape: [4]}}\n")
    with pytest.raises(sklink.LinkError, match=r"error: .*wrong.yaml:2:22: the dtype .*f33"):
        sklink.link(tmp_path / "wrong.yaml", output=tmp_path / "wrong.sk")
    assert not (tmp_path / "wrong.sk").exists()
    program = tmp_path / "sklink"
    program.write_text('#!/bin/sh\necho "sklink: warning: careful" >&2\n')
    program.chmod(0o755)
    monkeypatch.setenv("SKLINK_PROGRAM", str(program))
    with pytest.warns(UserWarning, match="careful"):
        assert sklink.link("model.yaml", output="model.sk").name == "model.sk"
    monkeypatch.setenv("SKLINK_PROGRAM", str(tmp_path / "none"))
    with pytest.raises(sklink.LinkError, match="cannot run .*none: No such file"):
        sklink.link("model.yaml", output="model.sk")


def test_stream_order(composite):
    """What one launch writes the next one reads, through arrays that have to be copied, too."""
    package = sklink.Package(composite)
    stream = sklink.Stream()
    for change in (lambda array: array, misaligned):
        x = change(numbers() / 16)
        y, z = change(numpy.zeros_like(x)), change(numpy.zeros_like(x))
        package.launch(stream, x=x, y=y)
        package.launch(stream, x=y, y=z)
        stream.synchronise()
        assert stream.query() and numpy.array_equal(y, package.run(x=x)["y"]) and numpy.array_equal(z, package.run(x=y)["y"])


def test_events(awaiting, composite):
    """A launch on one stream waits for one on another."""
    device = sklink.Device(cores=2, timeout_ms=60000)
    first, second = sklink.Stream(device), sklink.Stream(device)
    start, done, end = (sklink.Event(device) for _ in range(3))
    flag = sklink.empty(1, "int32")
    flag[0] = 0
    start.record(first)
    sklink.Package(awaiting, device).launch(first, flag=flag)  # only the stream has the package now
    done.record(first)
    second.wait(done)
    y = sklink.Package(composite, device).launch(second, x=numbers())["y"]
    end.record(second)
    assert not done.query() and not end.query() and not first.query() and not second.query()
    flag[0] = 1
    end.synchronise()
    assert done.query() and start.elapsed(end) > 0 and numpy.array_equal(y, cubes(numbers()))
    with pytest.raises(sklink.Error) as raised:
        start.elapsed(sklink.Event(device))
    assert raised.value.status == "SKRT_NOT_READY"
    other = sklink.Device()
    with pytest.raises(sklink.Error) as raised:
        second.wait(sklink.Event(other)) or sklink.Event(other).record(second)
    assert raised.value.status == "SKRT_INVALID_ARGUMENT"
    first.synchronise()
    second.synchronise()


def test_arrays_stay_until_synchronise(awaiting):
    device = sklink.Device(cores=1, timeout_ms=60000)
    stream = sklink.Stream(device)
    flag = sklink.empty(1, "int32")
    flag[0] = 0
    package = sklink.Package(awaiting, device)
    y = package.launch(stream, flag=flag)["y"]
    given = package.launch(stream, flag=misaligned(flag + 5))["y"]
    gone = weakref.ref(flag), weakref.ref(y), weakref.ref(package)
    address = flag.ctypes.data
    del flag, y, package
    gc.collect()
    assert gone[0]() is not None and gone[1]() is not None
    gone[0]()[0] = 3
    assert gone[0]().ctypes.data == address
    stream.synchronise()
    assert [reference() for reference in gone] == [None] * 3
    assert given.tolist() == [5] * 4


@pytest.mark.parametrize("way", ["run", "synchronise", "event", "gone"])
def test_lock_is_free_while_a_launch_runs(awaiting, way):
    """The kernel ends when another thread of Python has counted to a thousand: it can while we wait."""
    device = sklink.Device(cores=1, timeout_ms=60000)
    package = sklink.Package(awaiting, device)
    flag = sklink.empty(1, "int32")
    flag[0] = 0
    count = 0
    begun = threading.Event()

    def counts():
        nonlocal count
        begun.wait()
        for _ in range(1000):
            count += 1
        flag[0] = count

    thread = threading.Thread(target=counts, daemon=True)
    thread.start()
    if way == "run":
        begun.set()
        y = package.run(flag=flag, copy=False)["y"]
    else:
        stream, event = sklink.Stream(device), sklink.Event(device)
        y = package.launch(stream, flag=flag)["y"]
        event.record(stream)
        assert flag[0] == 0 and not event.query()
        begun.set()
        if way == "synchronise":
            stream.synchronise()
        elif way == "event":
            event.synchronise()
        else:
            del stream
    assert y.tolist() == [1000] * 4
    thread.join()


def in_threads(count, function):
    failures = []

    def body(number):
        try:
            function(number)
        except BaseException as error:  # pylint: disable=broad-except # told to the test's thread
            failures.append(error)

    threads = [threading.Thread(target=body, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


def test_networks_with_bounds_in_threads(tmp_path):
    bounds = ("--dim", "short:rows=1..8", "--dim", "long:rows=16..512:16@64")
    package = sklink.Package(sklink.link(COMPOSITE, *bounds, *LIBRARY, output=tmp_path / "model.sk"))
    short, long = package.networks["short"], package.networks["long"]

    def rows(count, first):
        return numpy.arange(first, first + 4 * count, dtype=numpy.float32).reshape(count, 4) % 64

    def body(number):
        stream = sklink.Stream()
        for i in range(60):
            x = rows(1 + (3 * i + number) % 8, i)
            assert numpy.array_equal(short.run(x=x)["y"], cubes(x))
            x = rows(16 * (1 + (7 * i + number) % 32), i)
            y = long.launch(stream, x=x)["y"]
            stream.synchronise()
            assert y.shape == x.shape and numpy.array_equal(y, cubes(x))
            with pytest.raises(ValueError, match=r"'x' is at most f32\[8, 4\]; the array is float32\[9, 4\]"):
                short.run(x=rows(9, 0))

    in_threads(4, body)


def test_threads_share_a_package(composite, roots):
    package = sklink.Package(composite)
    shared = sklink.Stream()

    def body(number):
        for i in range(200):
            x = numbers(16 * number + i % 7)
            assert numpy.array_equal(package.run(x=x)["y"], cubes(x))
            y = package.launch(shared, x=x)["y"]
            shared.synchronise()
            assert numpy.array_equal(y, cubes(x))
            with pytest.raises(sklink.Error, match="square_roots"):
                roots.run(x=numpy.full(8, -1, numpy.float32))

    in_threads(4, body)
    assert 1 <= len(package.networks[""]._idle) <= 8  # workspaces are used again


def resident():
    with open("/proc/self/statm", encoding="ascii") as numbers_of_pages:
        return int(numbers_of_pages.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_nothing_leaks(tmp_path):
    """A thousand launches with 3 MiB each, in four threads, with failures and packages that come and go."""
    elements = 1 << 18
    tensors = {name: f"dtype: f32, shape: [{elements}]" for name in ("x", "y")}
    path = link(tmp_path, tensors, "kernel: square_roots, args: [x, y]")
    x = misaligned(numpy.full(elements, 4, numpy.float32))
    bad = misaligned(numpy.full(elements, -4, numpy.float32))
    device = sklink.Device(cores=2)
    package = sklink.Package(path, device)

    def body(_):
        stream = sklink.Stream(device)
        for _ in range(60):
            for y in [package.launch(stream, x=x)["y"], package.launch(stream, x=x)["y"]]:
                stream.synchronise()
                assert y[-1] == 2
            with pytest.raises(sklink.Error):
                package.run(x=bad)
            own = sklink.Package(path, device)
            assert own.run(x=x)["y"][0] == 2
            own.launch(stream, x=x)
            event = sklink.Event(device)
            event.record(stream)

    def census():
        gc.collect()
        with open("/proc/self/maps", encoding="utf-8") as maps:
            mapped = sum("model.sk" in line for line in maps)
        return sys.getrefcount(x), sys.getrefcount(bad), sys.getrefcount(device), len(gc.get_objects()), mapped

    in_threads(4, body)
    before, memory = census(), resident()
    in_threads(4, body)
    after = census()
    assert after[:3] == before[:3] and after[4] == before[4]
    assert abs(after[3] - before[3]) < 100  # objects in all; each of the 960 launches would leave some
    assert resident() < memory + (200 << 20)  # of 2.8 GiB
    gone = weakref.ref(device), weakref.ref(package)
    del package, device
    assert gone[0]() is None and gone[1]() is None
    with open("/proc/self/maps", encoding="utf-8") as maps:
        assert "model.sk" not in maps.read()


def test_end_of_the_interpreter(awaiting):
    """What runs is waited for; the thread lets it end only when the interpreter is about to."""
    program = f"""
import atexit
atexit.register(lambda: print(y.tolist()))
import threading, time, sklink
package, stream, event = sklink.Package({str(awaiting)!r}), sklink.Stream(), sklink.Event()
flag = sklink.empty(1, "int32")
flag[0] = 0
def ends():
    while threading.main_thread().is_alive():
        time.sleep(0.01)
    flag[0] = 3
threading.Thread(target=ends, daemon=True).start()
y = package.launch(stream, flag=flag)["y"]
event.record(stream)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[3, 3, 3, 3]\n", "")


def test_library_is_not_found(tmp_path):
    def says(library):
        words = [sys.executable, "-c", "import sklink"]
        done = subprocess.run(words, env={**os.environ, "SKLINK_LIBRARY": str(library)}, capture_output=True, encoding="utf-8", check=False)
        assert done.returncode == 1
        return done.stderr.splitlines()[-1]

    assert "none.so: cannot open shared object file" in says(tmp_path / "none.so") and "SKLINK_LIBRARY can name" in says("none.so")
    assert "undefined symbol: skrt_version" in says("libm.so.6")
    if shutil.which("cc"):
        subprocess.run(
            ["cc", "-shared", "-x", "c", "-o", tmp_path / "other.so", "-"],
            input=b'const char *skrt_version(void) { return "9.9"; } int skrt_error, skrt_status_name;',
            check=True,
        )
        assert f"sklink {sklink.__version__} for Python does not go with libskrt 9.9" in says(tmp_path / "other.so")


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
def test_structs_and_numbers_are_those_of_skrt_h(tmp_path):
    structs = {
        "device_options": sklink.libskrt.DeviceOptions,
        "tensor": sklink.libskrt.TensorInfo,
        "source": sklink.libskrt.Source,
        "network": sklink.libskrt.NetworkInfo,
    }
    constants = {
        "NOT_FOUND NOT_READY": sklink.libskrt,
        "INPUT OUTPUT INOUT": sklink.package,
        "GUARD CHECK_RACES CHECK_SPLIT": sklink.device,
    }
    numbers_of = {f"SKRT_{word.upper()}": number for number, (word, _) in sklink.tensor.DTYPES.items()}
    numbers_of.update({f"SKRT_{name}": getattr(module, name) for names, module in constants.items() for name in names.split()})
    for name, struct in structs.items():
        numbers_of[f"sizeof(struct skrt_{name})"] = ctypes.sizeof(struct)
        for field in struct._fields_:
            numbers_of[f"offsetof(struct skrt_{name}, {field[0]})"] = getattr(struct, field[0]).offset
    lines = ["#include <stddef.h>", "#include <stdio.h>", '#include "skrt.h"', "int main(void) {"]
    lines += [f'printf("%d\\n", (int)({expression}));' for expression in numbers_of]
    subprocess.run(
        ["cc", "-x", "c", "-I", os.path.join(SOURCE, "loader"), "-o", tmp_path / "numbers", "-"],
        input="\n".join(lines + ["}"]),
        encoding="utf-8",
        check=True,
    )
    said = subprocess.run([tmp_path / "numbers"], capture_output=True, encoding="utf-8", check=True).stdout.split()
    assert dict(zip(numbers_of, map(int, said))) == numbers_of


def test_types_are_told():
    for name in sklink.__all__:
        item = getattr(sklink, name)
        members = [member.fget if isinstance(member, property) else member for member in vars(item).values()] if isinstance(item, type) else [item]
        for function in members:
            if isinstance(function, types.FunctionType) and not function.__name__.startswith("__"):
                assert "return" in typing.get_type_hints(function), function
