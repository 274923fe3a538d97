"""Models of ONNX's backend tests with sizes that have bounds: bounded-models.py STEP [MOST] writes each STEP-th model of
one node as NAME.onnx, and a line "NAME OPTION..." with a --dim for each size. Sizes that are equal numbers stay equal.
The bounds of a size are its half and itself, or with MOST itself and MOST times as much."""
import glob
import sys

import onnx

most = int(sys.argv[2]) if len(sys.argv) > 2 else 0
for path in sorted(glob.glob("/usr/share/libonnx-testdata/data/node/*/model.onnx"))[:: int(sys.argv[1])]:
    name = path.split("/")[-2]
    model = onnx.load(path)
    tensors = [i.type.tensor_type for i in model.graph.input if i.type.HasField("tensor_type")]
    sizes = sorted({d.dim_value for t in tensors for d in t.shape.dim if d.dim_value > 1}, reverse=True)
    if not sizes:
        continue
    for tensor in tensors:
        for dimension in tensor.shape.dim:
            if dimension.dim_value > 1:
                dimension.dim_param = f"d{dimension.dim_value}"
    for info in [*model.graph.output, *model.graph.value_info]:
        info.type.tensor_type.ClearField("shape")
    onnx.save(model, name + ".onnx")
    bounds = {n: f"{n}..{n * most}" if most else f"{n // 2}..{n}" for n in sizes[:2]}
    print(name, *(f"--dim d{n}={bounds.get(n, n)}" for n in sizes))
