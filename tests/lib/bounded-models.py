"""Models of ONNX's backend tests with sizes that have bounds: bounded-models.py STEP writes each STEP-th model of one node as
NAME.onnx, and a line "NAME OPTION..." with a --dim for each size. Sizes that are equal numbers stay equal."""
import glob
import sys

import onnx

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
    print(name, *(f"--dim d{n}={n // 2}..{n}" if n in sizes[:2] else f"--dim d{n}={n}" for n in sizes))
