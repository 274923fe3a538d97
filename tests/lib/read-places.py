"""Places in the last dump must be those of the package: read-places.py DUMP.pbtxt PACKAGE.json

PACKAGE.json is what skdump --json says. Prints how many values are where a tensor is, slices of one, another shape of one, and nowhere."""
import json
import math
import sys
from google.protobuf import text_format
import onnx

with open(sys.argv[1], encoding="latin-1") as file:
    nodes = text_format.Parse(file.read(), onnx.ModelProto()).graph.node
tensors = {tensor["name"]: tensor for tensor in json.load(open(sys.argv[2], encoding="utf-8"))["tensors"]}
BYTES = {b"DT_FLOAT": 4, b"DT_INT64": 8, b"DT_FLOAT16": 2, b"DT_INT8": 1}
places, counts = {}, dict.fromkeys(("tensors", "slices", "shapes", "elsewhere"), 0)
for node in nodes:
    notes = {attribute.name: attribute for attribute in node.attribute}
    inputs, outputs = notes["input_i"].ints, notes["output_i"].ints
    assert len(inputs) == len(node.input) and len(outputs) == len(node.output), node.name
    for value, place in zip(node.input, inputs):
        assert place == places.get(value, -1), (node.name, value, place)
    ahead = 0
    for number, (value, place) in enumerate(zip(node.output, outputs)):
        size = notes[f"output_desc_size:{number}"].i
        assert size == BYTES[notes[f"output_desc_dtype:{number}"].s] * math.prod(notes[f"output_desc_shape:{number}"].ints)
        places[value] = place
        tensor = tensors.get(value)
        if tensor:
            kind = "tensors" if tensor["space"] == "workspace" else "elsewhere"
            assert size == tensor["bytes"] and place == (tensor["offset"] if kind == "tensors" else -1), (value, place, tensor)
        else:
            kind = "elsewhere" if place < 0 else "slices" if node.op_type == "Split" else "shapes"
            assert place < 0 or place == inputs[0] + ahead, (value, place)
        ahead += size if node.op_type == "Split" else 0
        counts[kind] += 1
print(*(f"{kind} {count}" for kind, count in counts.items()))
