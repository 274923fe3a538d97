"""What the forms of a dump say of a graph must be the same: read-dumps.py TEXT.pbtxt DUMP.ir DUMP.pbtxt [DUMP.svg]

TEXT.pbtxt is what --model-text has written of the graph. Models are read with onnx's own parser."""
import json
import re
import sys
from google.protobuf import text_format
import onnx

STRING = r'"(?:[^"\\]|\\.)*"'
TYPE = r'(?:[a-z0-9]+|\?)\[[^]]*\]'


def model(path):
    with open(path, encoding="latin-1") as file:
        graph = text_format.Parse(file.read(), onnx.ModelProto()).graph
    nodes = [(node.name or node.output[0], f"{node.domain}:{node.op_type}" if node.domain else node.op_type,
              tuple(node.input), tuple(node.output)) for node in graph.node]
    return graph, sorted(nodes), [value.name for value in graph.input], [value.name for value in graph.output]


def values(text):
    """The names and types in "("a": f32[2], _)"."""
    found = re.findall(rf'({STRING}): ({TYPE})|(_)(?=[,)])', text)
    return [("", None) if absent else (json.loads(name), kind) for name, kind, absent in found]


def text(path):
    nodes, inputs, outputs, types, numbers = [], [], [], {}, []
    for line in open(path, encoding="utf-8"):
        kind = line.split(" ", 1)[0]
        if kind in ("input", "output", "constant"):
            [(name, of)] = values(line.split(" ", 1)[1])
            {"input": inputs, "output": outputs, "constant": []}[kind].append(name)
            types[name] = of
        elif kind == "node":
            match = re.match(rf'node (\d+) ({STRING}) = ({STRING})(\((?:{STRING}: {TYPE}|_|, )*\)) -> (\((?:{STRING}: {TYPE}|_|, )*\))', line)
            number, name, op, read, written = match.groups()
            numbers.append(number)
            for value, of in values(read) + values(written):
                assert of is None or types.setdefault(value, of) == of, (value, of)
            nodes.append((json.loads(name), json.loads(op), tuple(name for name, _ in values(read)),
                          tuple(name for name, _ in values(written))))
        else:
            assert kind in ("graph", "composite"), line
    return sorted(nodes), inputs, outputs, types, numbers


said = model(sys.argv[1])
lines = text(sys.argv[2])
dump = model(sys.argv[3])
assert said[1:] == dump[1:], (said[1:], dump[1:])
assert said[1:] == lines[:3], (said[1:], lines[:3])
for node in dump[0].node:
    notes = {attribute.name: attribute for attribute in node.attribute}
    assert list(notes) == sorted(notes), list(notes)
    assert notes["_no_task"].i == 0 and notes["stream_id"].type == onnx.AttributeProto.INT
    assert len(notes["src_name"].strings) == len(notes["src_index"].ints) == len(node.input)
    assert [name.decode() for name in notes["input_name"].strings] == list(node.input)
    edges = [(user.name or user.output[0], index) for output in node.output if output
             for user in dump[0].node for index, read in enumerate(user.input) if read == output]
    assert edges == [(name.decode(), index) for name, index in zip(notes["dst_name"].strings, notes["dst_index"].ints, strict=True)], edges
    for side, names in (("input", node.input), ("output", node.output)):
        for number, name in enumerate(names):
            if name:
                shape = ", ".join(map(str, notes[f"{side}_desc_shape:{number}"].ints))
                assert lines[3][name] == {b"DT_FLOAT": "f32", b"DT_INT64": "i64"}[notes[f"{side}_desc_dtype:{number}"].s] + f"[{shape}]"
if len(sys.argv) > 4:  # each node is drawn once in the main graph, or in a body
    drawing = open(sys.argv[4], encoding="utf-8").read()
    for number in lines[4]:
        assert len(re.findall(rf"<title>[nb]{number}</title>", drawing)) == 1, number
