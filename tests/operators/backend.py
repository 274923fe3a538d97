#!/usr/bin/python3
"""Runs ONNX's backend tests: each model is linked with the kernel library and run on the inputs of its data sets, fused and task
by task; the outputs are held against those that come with it, as ONNX itself does it (rtol 1e-3, atol 1e-7, or what a test's data.json
says). Prints a line for each test that does not pass, and sums.

backend.py [--table] DATA SKLINK SKRUN LIBRARIES [NAME...]

DATA is the folder of libonnx-testdata; NAMEs are parts of names of tests. A test is one of:
  passed   all outputs are right
  empty    so are they, but the package has no task (it is counted apart)
  refused  sklink says why there can be no package
  wrong    anything else
"""
import argparse
import collections
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy
import onnx
from onnx import numpy_helper

# Tests with data that contradict their models; they count as refused.
FLAWED = {"test_adam_multiple": "the data are made with an epsilon of 1e-2, and the model has the default one, 1e-6"}

# Operators with outputs that depend on shapes alone.
SHAPES_ONLY = {"Shape", "Size"}


def frozen_inputs(model, table):
    """Names of inputs that inference demands, by the table of operators: themselves, or what is computed from them."""
    inputs = {value.name for value in model.graph.input} - {value.name for value in model.graph.initializer}
    demanded = {node.input[number] for node in model.graph.node for number in table.get(node.op_type, ())
                if number < len(node.input) and node.input[number]}
    for node in reversed(model.graph.node):
        if node.op_type not in SHAPES_ONLY and demanded.intersection(node.output):
            demanded.update(name for name in node.input if name)
    return demanded & inputs


def read_table():
    table = collections.defaultdict(list)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "frozen"), encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                operator, number = line.split()
                table[operator].append(int(number))
    return table


def read_tensor(path):
    """The array of a .pb file; None if it holds no tensor that a .npy file can have."""
    tensor = onnx.TensorProto()
    with open(path, "rb") as file:
        tensor.ParseFromString(file.read())
    if tensor.data_type == onnx.TensorProto.BFLOAT16:
        raw = tensor.raw_data or numpy.array(tensor.int32_data, numpy.uint16).tobytes()
        return numpy.frombuffer(raw, numpy.uint16).reshape(tensor.dims)
    try:
        array = numpy_helper.to_array(tensor)
    except (TypeError, ValueError): # a sequence, or an optional value
        return None
    return None if array.dtype == object else array


def widen_bf16(array):
    return (array.astype(numpy.uint32) << 16).view(numpy.float32)


def run(words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)


def data_sets(folder):
    return sorted(name for name in os.listdir(folder) if name.startswith("test_data_set_"))


def read_set(model, folder):
    names = [value.name for value in model.graph.input]
    arrays = [{}, {}]
    for kind, values in ((0, names), (1, [value.name for value in model.graph.output])):
        for number, name in enumerate(values):
            path = os.path.join(folder, f"{('input', 'output')[kind]}_{number}.pb")
            if os.path.exists(path):
                arrays[kind][name] = read_tensor(path)
    return arrays


def tolerances(folder):
    path = os.path.join(folder, "data.json")
    if not os.path.exists(path):
        return 1e-3, 1e-7
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    return data.get("rtol", 1e-3), data.get("atol", 1e-7)


# Operators that draw random numbers: the data are from another generator, so types and shapes alone are compared.
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}


def drawn_values(model, inputs):
    """Names of what is computed from random numbers."""
    def drops(node):
        ratio, training = (inputs.get(name) for name in (list(node.input) + ["", "", ""])[1:3])
        return node.op_type == "Dropout" and training is not None and bool(training) and (ratio is None or ratio != 0)
    drawn = set()
    for node in model.graph.node:
        if node.op_type in RANDOM or drops(node) or (node.op_type not in SHAPES_ONLY and drawn.intersection(node.input)):
            drawn.update(node.output)
    return drawn


def compare(model, name, expected, got, rtol, atol):
    """What is wrong with an output; None: nothing."""
    if got.shape != expected.shape:
        return f"output '{name}' is {list(got.shape)}, not {list(expected.shape)}"
    kinds = {value.name: value.type.tensor_type.elem_type for value in model.graph.output}
    if kinds[name] == onnx.TensorProto.BFLOAT16:
        got, expected = widen_bf16(got.view(numpy.uint16)), widen_bf16(expected)
        rtol = max(rtol, 2 ** -7) # one unit in the last place: the data are cut off, where casts round
    elif got.dtype != expected.dtype:
        return f"output '{name}' is {got.dtype}, not {expected.dtype}"
    try:
        numpy.testing.assert_allclose(got, expected, rtol=rtol, atol=atol)
    except AssertionError as error:
        return f"output '{name}': " + " ".join(str(error).split())[:200]
    return None


def is_static(model, name):
    """Whether the model says the shape itself."""
    shapes = {value.name: value.type.tensor_type.shape.dim for value in model.graph.input}
    return len(shapes[name]) > 0 and all(dimension.HasField("dim_value") for dimension in shapes[name])


def link(options, folder, model, inputs, work):
    frozen = frozen_inputs(model, options.table_of_frozen)
    words = [options.sklink, os.path.join(folder, "model.onnx"), "-L", options.libraries, "-lskernels", "-o",
             os.path.join(work, "model.sk")]
    for number, (name, array) in enumerate(inputs.items()):
        if array is None:
            continue
        path = os.path.join(work, f"input{number}.npy")
        numpy.save(path, array, allow_pickle=False)
        if name in frozen:
            words.append(f"--freeze={name}={path}")
        elif array.ndim and not is_static(model, name):
            words.append(f"--shape={name}={'x'.join(map(str, array.shape))}")
    return run(words), frozen


def has_task(options, work):
    """Whether there is a step in the package: lines of steps begin with a number."""
    skdump = os.path.join(os.path.dirname(options.sklink), "skdump")
    steps = run([skdump, "--steps", os.path.join(work, "model.sk")]).stdout.decode(errors="replace")
    return any(line.split()[0].isdigit() for line in steps.split("\n") if line.strip())


def run_as(way, options, model, inputs, outputs, allowed, work):
    """What is wrong with the outputs of the package that is run so; None: nothing."""
    words = [options.skrun, os.path.join(work, "model.sk"), *way, *inputs]
    words += [f"--output={name}={work}/output{number}.npy" for number, name in enumerate(outputs)]
    ran = run(words)
    if ran.returncode:
        return f"skrun ends with {ran.returncode}: {ran.stdout[-300:].decode(errors='replace')}"
    for number, (name, expected) in enumerate(outputs.items()):
        if expected is None:
            return f"there is nothing to compare output '{name}' with"
        path = f"{work}/output{number}.npy"
        wrong = compare(model, name, expected, numpy.load(path), *allowed[name])
        if wrong:
            return wrong
        os.remove(path)
    return None


def try_set(options, folder, model, arrays, work):
    inputs, outputs = arrays
    linked, frozen = link(options, folder, model, inputs, work)
    said = linked.stdout.decode(errors="replace").split("\n")
    errors = [line for line in said if line.startswith("sklink: error: ")]
    if linked.returncode == 1 and errors and "internal error" not in errors[0] and "contradict" not in errors[0]:
        return "refused", errors[0]
    if linked.returncode:
        return "wrong", f"sklink ends with {linked.returncode}: {linked.stdout[-300:]!r}"
    initial = {value.name for value in model.graph.initializer}
    output = linked.stdout.decode(errors="replace")
    words = [f"--input={name}={work}/input{number}.npy" for number, (name, array) in enumerate(inputs.items())
             if array is not None and name not in frozen and name not in initial and
             f"nothing uses input '{name}'" not in output]
    drawn = drawn_values(model, inputs)
    allowed = {name: (0, numpy.inf) if name in drawn else tolerances(folder) for name in outputs}
    for way in (), ("--unfused",):
        wrong = run_as(way, options, model, words, outputs, allowed, work)
        if wrong:
            return "wrong", " ".join([*way, wrong])
    return ("passed" if has_task(options, work) else "empty"), ""


def try_test(options, folder):
    if os.path.basename(folder) in FLAWED:
        return os.path.basename(folder), [], ("refused", FLAWED[os.path.basename(folder)])
    model = onnx.load(os.path.join(folder, "model.onnx"))
    outcome = "refused", "there is no data"
    for name in data_sets(folder):
        work = tempfile.mkdtemp()
        try:
            outcome = try_set(options, folder, model, read_set(model, os.path.join(folder, name)), work)
        except Exception as error:  # pylint: disable=broad-except
            outcome = "wrong", f"{type(error).__name__}: {str(error)[:300]}"
        finally:
            shutil.rmtree(work)
        if outcome[0] not in ("passed", "empty"):
            break
    return os.path.basename(folder), sorted({node.op_type for node in model.graph.node if node.domain in ("", "ai.onnx")}), outcome


def print_table(results):
    """Rows as doc/reference/operators.md has them: in how many tests an operator is, and what became of these."""
    counts = collections.defaultdict(collections.Counter)
    for _, operators, (kind, _) in results:
        for operator in operators:
            counts[operator][kind] += 1
    for operator, count in sorted(counts.items()):
        print(f"| {operator} | {count['passed']} | {count['empty']} | {count['refused']} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("data")
    parser.add_argument("sklink")
    parser.add_argument("skrun")
    parser.add_argument("libraries")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.table_of_frozen = read_table()
    folders = [os.path.join(options.data, kind, name) for kind in sorted(os.listdir(options.data))
               for name in sorted(os.listdir(os.path.join(options.data, kind)))]
    folders = [folder for folder in folders if os.path.exists(os.path.join(folder, "model.onnx")) and
               (not options.names or any(name in folder for name in options.names))]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda folder: try_test(options, folder), folders))
    for name, _, (kind, text) in results:
        if kind not in ("passed", "empty"):
            print(f"{kind}: {name}: {text}")
    if options.table:
        print_table(results)
    sums = collections.Counter(kind for _, _, (kind, _) in results)
    print(" ".join(f"{kind} {sums[kind]}" for kind in ("passed", "empty", "refused", "wrong")))
    return 1 if sums["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
