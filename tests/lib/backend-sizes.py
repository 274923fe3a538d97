"""backend-sizes.py SKLINK SKRUN KERNELS STEP [FIRST]: each STEP-th model of one node of ONNX's backend tests, whose equal
sizes are one open dimension each. It is linked once with bounds for the two largest, and at some sizes its results on
random inputs are compared with those of a package that is linked for that size."""
import collections
import glob
import os
import random
import subprocess
import sys

import numpy
import onnx

sklink, skrun, kernels, step = *sys.argv[1:4], int(sys.argv[4])
first = int(sys.argv[5]) if len(sys.argv) > 5 else 0


def open_sizes(model):
    """Replace sizes above 1 by names, and return the sizes."""
    tensors = [i.type.tensor_type for i in model.graph.input if i.type.HasField("tensor_type")]
    sizes = sorted({d.dim_value for t in tensors for d in t.shape.dim if d.dim_value > 1}, reverse=True)
    for tensor in tensors:
        for dimension in tensor.shape.dim:
            if dimension.dim_value > 1:
                dimension.dim_param = f"d{dimension.dim_value}"
    for info in [*model.graph.output, *model.graph.value_info]:
        info.type.tensor_type.ClearField("shape")
    return sizes


def link(path, options):
    return subprocess.run([sklink, "model.onnx", "-L", kernels, "-lskernels", "-w", "-o", path] + options,
                          capture_output=True, text=True)


def run(path, outputs, options):
    """Return the outputs, or None."""
    for output in range(len(outputs)):
        if os.path.exists(f"y{output}.npy"):
            os.remove(f"y{output}.npy")
    names = [word for i, name in enumerate(outputs) for word in ("--output", f"{name}=y{i}.npy")]
    done = subprocess.run([skrun, path, "--random", "7"] + names + options, capture_output=True, text=True)
    if done.returncode:
        return done.stderr
    return [numpy.load(f"y{i}.npy") if os.path.exists(f"y{i}.npy") else None for i in range(len(outputs))]


def same(found, wanted):
    return all((a is None) == (b is None) and (a is None or (a.shape == b.shape and (a.dtype.kind == "V" or
               numpy.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True)))) for a, b in zip(found, wanted))


counts = collections.Counter()
refusals = collections.Counter()
failed = 0
for path in sorted(glob.glob("/usr/share/libonnx-testdata/data/node/*/model.onnx"))[first::step]:
    name = path.split("/")[-2]
    model = onnx.load(path)
    sizes = open_sizes(model)
    outputs = [value.name for value in model.graph.output]
    if not sizes or any(not output for output in outputs):
        continue
    onnx.save(model, "model.onnx")
    numbers = [f"--dim=d{n}={n}" for n in sizes]
    if link("static.sk", numbers).returncode:
        counts["not linked at all"] += 1
        continue
    bounds = [f"--dim=d{n}={max(n // 2, 1)}..{n}" if n in sizes[:2] else f"--dim=d{n}={n}" for n in sizes]
    linked = link("dynamic.sk", bounds)
    if linked.returncode not in (0, 1) or "internal error" in linked.stderr:
        print(f"{name}: sklink ends with {linked.returncode}: {linked.stderr}")
        failed += 1
        continue
    if linked.returncode:
        counts["refused"] += 1
        refusals[linked.stderr.split("\n")[0]] += 1
        continue
    counts["linked"] += 1
    rng = random.Random(name)
    for attempt in range(3):
        chosen = {n: (max(n // 2, 1), n, rng.randint(max(n // 2, 1), n))[attempt] if n in sizes[:2] else n for n in sizes}
        if link("static.sk", [f"--dim=d{n}={size}" for n, size in chosen.items()]).returncode:
            print(f"{name} at {chosen}: links with bounds, and is refused alone")
            failed += 1
            continue
        wanted = run("static.sk", outputs, ["--cores", "1"])
        if isinstance(wanted, str):
            continue # its inputs are no random ones
        found = run("dynamic.sk", outputs, ["--cores", "2"] + [f"--dim=d{n}={chosen[n]}" for n in sizes[:2]])
        if isinstance(found, str) and "no such dimension" in found:
            found = run("dynamic.sk", outputs, ["--cores", "2"])
        if isinstance(found, str) or not same(found, wanted):
            print(f"{name} at {chosen}: {found if isinstance(found, str) else 'other results'}")
            failed += 1
            continue
        counts["compared"] += 1
print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
for text, count in refusals.most_common(40):
    print(f"{count:5}  {text}")
sys.exit(failed > 0 or counts["compared"] < counts["linked"])
