"""Graphs as TorchAir dumps them: type "txt" is GE's GraphDef as text, type "pbtxt" one of TensorFlow with GE's messages as texts."""
import json

import numpy

DTYPES = {
    "float32": "DT_FLOAT", "float16": "DT_FLOAT16", "int8": "DT_INT8", "uint8": "DT_UINT8", "int16": "DT_INT16", "uint16": "DT_UINT16",
    "int32": "DT_INT32", "int64": "DT_INT64", "uint32": "DT_UINT32", "uint64": "DT_UINT64", "bool": "DT_BOOL", "float64": "DT_DOUBLE",
}
NUMBERS = {"float32": 0, "float16": 1, "int8": 2, "int32": 3, "uint8": 4, "int16": 6, "int64": 9, "float64": 11, "bool": 12}  # of attributes


def octal(data):
    return "".join(chr(b) if 32 <= b < 127 and b not in b"\"'\\" else f"\\{b:03o}" for b in data)


def desc_lines(name, dtype, shape):
    """A TensorDescriptor; a shape None is not given."""
    lines = [f'name: "{name}"'] if name else []
    lines += [f"dtype: {DTYPES[str(dtype)]}"] if dtype is not None else []
    if shape is not None:
        lines += ["shape {", *[f"  dim: {d}" for d in shape], "}", 'layout: "ND"']
    return lines + ["attr {", '  key: "_meta"', "  value {", '    s: "Tensor(dtype=torch.float32, shape=torch.Size([8, 16])"', "  }", "}"]


def value_lines(value):
    """An AttrDef."""
    if isinstance(value, bool):
        return [f"b: {str(value).lower()}"]
    if isinstance(value, int):
        return [f"i: {value}"]
    if isinstance(value, float):
        return [f"f: {value!r}"]
    if isinstance(value, str):
        return [f"s: {json.dumps(value)}"]
    if isinstance(value, numpy.ndarray):
        desc = [line for line in desc_lines("", value.dtype, value.shape)][:-6]
        return ["t {", "  desc {", *[f"    {line}" for line in desc], "  }", f'  data: "{octal(value.tobytes())}"', "}"]
    kind = "VT_LIST_BOOL" if value and isinstance(value[0], bool) else "VT_LIST_INT"
    return ["list {", *[f"  {line}" for item in value for line in value_lines(item)], f"  val_type: {kind}", "}"]


def block(head, lines):
    return [f"{head} {{", *[f"  {line}" for line in lines], "}"]


class GraphDef:
    def __init__(self, name="graph_1"):
        self.name, self.nodes, self.count = name, [], {}

    def add(self, kind, inputs=(), outputs=((None, None),), name=None, **attributes):
        """Return the names of the outputs, each with a type and a shape. An input None is absent, "^name" an edge of control."""
        number = self.count.get(kind, 0)
        self.count[kind] = number + 1
        name = name or (f"{kind}_{number}" if number else kind)
        self.nodes.append((name, kind, list(inputs), list(outputs), attributes))
        return [f"{name}:{i}" for i in range(len(outputs))]

    def data(self, index, value, name=None):
        return self.add("Data", [], [(value.dtype, value.shape)], name or f"arg{index}_1", index=index)[0]

    def const(self, value):
        value = numpy.asarray(value)
        return self.add("Const", [], [(value.dtype, value.shape)], value=value, _readable_value=str(value.tolist()))[0]

    def end(self, results):
        self.add("NetOutput", results, [], "NetOutput")

    def text(self):
        """GE's GraphDef."""
        lines = [f'name: "{self.name}"']
        for name, kind, inputs, outputs, attributes in self.nodes:
            inner = [f'name: "{name}"', f'type: "{kind}"']
            inner += [f'input: "{x[1:]}:-1"' if x and x[0] == "^" else f'input: "{x or ""}"' for x in inputs]
            for key, value in attributes.items():
                inner += block("attr", [f'key: "{key}"', *block("value", value_lines(value))])
            for i, x in enumerate(inputs):
                if not (x and x[0] == "^"):
                    inner += block("input_desc", desc_lines(f"x{i}", None, None))
            for i, (dtype, shape) in enumerate(outputs):
                inner += block("output_desc", desc_lines(f"y{i}", dtype, shape))
            lines += block("op", inner)
        return "\n".join(lines) + "\n"

    def tensorflow(self):
        """TensorFlow's GraphDef."""
        lines = []
        for name, kind, inputs, outputs, attributes in self.nodes:
            inner = [f'name: "{name}"', f'op: "{kind}"', *[f'input: "{x or ""}"' for x in inputs]]
            texts = [(key, value_lines(value)) for key, value in attributes.items()]
            texts += [(f"[i]x{i}", desc_lines(f"x{i}", None, None)) for i, x in enumerate(inputs) if not (x and x[0] == "^")]
            texts += [(f"[o]y{i}", desc_lines(f"y{i}", dtype, shape)) for i, (dtype, shape) in enumerate(outputs)]
            for key, text in texts:
                text = "\n".join([*text, ""]).replace("\\", "\\\\").replace("\n", "\\n").replace("'", "\\'")
                inner += block("attr", [f'key: "{key}"', *block("value", [f"s: '{text}'"])])
            lines += [line.replace("  ", "    ", 1) if line.startswith("  ") else line for line in block("node", inner)]
        return "\n".join(lines) + "\n"
