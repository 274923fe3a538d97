"""Compares the operators of peer_cases.py with ONNX Runtime, which must be installed by npm: peer.py SKLINK SKRUN LIBRARIES MODULE

ONNX Runtime runs each case alone, since it lacks some; those that it has are a model for each operator set then, of which sklink makes
a package."""
import os
import subprocess
import sys

import numpy
import onnx
from onnx import helper, numpy_helper

import peer_cases

# Versions of formats that know the newest operator set.
FORMAT = 10


def type_of(code):
    return onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[numpy.dtype(code)]


class Part:
    """A case as a part of a model: a node, whose values have names that begin with its own."""

    def __init__(self, number, case):
        self.version, self.domain, op, inputs, outputs, attributes = case
        self.what = f"{op} of operator set {self.version} ({attributes})"
        self.folder, self.inputs, self.constants, self.outputs, names = f"case{number}", {}, [], {}, []
        for i, given in enumerate(inputs):
            names.append("" if given is None else f"x{number}_{i}")
            if isinstance(given, peer_cases.Constant):
                self.constants.append(numpy_helper.from_array(given.array, names[-1]))
            elif given is not None:
                self.inputs[names[-1]] = given
        made = [f"y{number}_{i}" if code else "" for i, code in enumerate(outputs)]
        self.outputs = {name: code for name, code in zip(made, outputs) if code}
        if "to" in attributes:
            attributes = dict(attributes, to=type_of(attributes["to"]))
        self.node = helper.make_node(op, names, made, name=f"{op} {number}", domain=self.domain, **attributes)


def save_model(path, parts):
    inputs = [helper.make_tensor_value_info(name, type_of(array.dtype), array.shape) for part in parts for name, array in part.inputs.items()]
    outputs = [helper.make_tensor_value_info(name, type_of(code), None) for part in parts for name, code in part.outputs.items()]
    graph = helper.make_graph([part.node for part in parts], "peer", inputs, outputs, [constant for part in parts for constant in part.constants])
    domains = [helper.make_opsetid("", parts[0].version), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=domains)
    model.ir_version = FORMAT
    with open(path, "wb") as file:  # onnx.save would refuse what Debian's version does not know
        file.write(model.SerializeToString())


def run_peer(module, parts):
    """What ONNX Runtime computes, by output; parts that it does not run are left out."""
    for part in parts:
        os.mkdir(part.folder)
        save_model(f"{part.folder}/model.onnx", [part])
        for name, array in part.inputs.items():
            numpy.save(f"{part.folder}/{name}.npy", array)
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peer.js")
    subprocess.run(["node", script, module, *(part.folder for part in parts)], check=True)
    expected = {}
    for part in parts:
        for name, code in part.outputs.items():
            if not os.path.exists(f"{part.folder}/error"):
                with open(f"{part.folder}/{name}.shape", encoding="utf-8") as file:
                    expected[name] = numpy.fromfile(f"{part.folder}/{name}.raw", code).reshape([int(size) for size in file.read().split()])
    return expected


def run(sklink, skrun, libraries, parts):
    """What a package computes, by output."""
    save_model("model.onnx", parts)
    subprocess.run([sklink, "model.onnx", "-L", libraries, "-lskernels", "-o", "model.sk"], check=True)
    words = [f"--input={name}={part.folder}/{name}.npy" for part in parts for name in part.inputs]
    words += [f"--output={name}={name}.npy" for part in parts for name in part.outputs]
    subprocess.run([skrun, "model.sk", *words], check=True, stdout=subprocess.DEVNULL)
    return {name: numpy.load(f"{name}.npy") for part in parts for name in part.outputs}


def is_close(got, expected):
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return False
    if got.dtype.kind != "f":
        return (got == expected).all()
    relative, absolute = (1e-2, 2e-2) if got.dtype == numpy.float16 else (1e-3, 1e-5)
    return numpy.allclose(got.astype("f8"), expected.astype("f8"), rtol=relative, atol=absolute, equal_nan=True)


def main():
    sklink, skrun, libraries, module = sys.argv[1:]
    parts = [Part(number, case) for number, case in enumerate(peer_cases.cases)]
    expected = run_peer(module, parts)
    known, wrong = [part for part in parts if set(part.outputs) <= set(expected)], 0
    for version in sorted({part.version for part in known}):
        chosen = [part for part in known if part.version == version]
        results = run(sklink, skrun, libraries, chosen)
        for part in chosen:
            for name in part.outputs:
                if not is_close(results[name], expected[name]):
                    wrong += 1
                    print(f"{part.what}: {name} is {results[name].dtype} {results[name]}, and ONNX Runtime says {expected[name].dtype} {expected[name]}")
    print(f"{len(known)} of {len(parts)} cases are known to ONNX Runtime, {wrong} results differ")
    sys.exit(wrong != 0)


main()
