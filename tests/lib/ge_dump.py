"""Graphs in the form of GE's text dumps (ge_onnx_*.pbtxt), for tests of the reader: each field has a line, attributes
are sorted by name, a number of 0 is left out, and nodes have the attributes that GE's passes give them. Tensors are
numpy arrays as they are, and are stored in a format of an NPU. Nothing here is sklink's code."""

import numpy

# Types: GE's name, and the elements of a block of 32 bytes, or 16 if they are larger.
TYPES = {
    "f4": ("DT_FLOAT", 16),
    "f2": ("DT_FLOAT16", 16),
    "i1": ("DT_INT8", 32),
    "i4": ("DT_INT32", 16),
    "u1": ("DT_UINT8", 32),
    "i2": ("DT_INT16", 16),
    "u2": ("DT_UINT16", 16),
    "u4": ("DT_UINT32", 16),
    "i8": ("DT_INT64", 16),
    "u8": ("DT_UINT64", 16),
    "f8": ("DT_DOUBLE", 16),
    "b1": ("DT_BOOL", 32),
    "bf16": ("DT_BF16", 16),
    "int4": ("DT_INT4", 64),
}


def in_blocks(value, axis, block):
    """The axis as two, the second one of a block's elements; elements that the last block lacks are 0."""
    pads = [(0, -value.shape[axis] % block if i == axis else 0) for i in range(value.ndim)]
    value = numpy.pad(value, pads)
    return value.reshape(*value.shape[:axis], -1, block, *value.shape[axis + 1 :])


def stored(value, form, origin="ND", block=16):
    """The elements as the format has them, of a tensor with the axes of the origin."""
    rank = value.ndim
    if form == "FRACTAL_NZ":  # ..., n / n0, m / 16, 16, n0
        value = in_blocks(in_blocks(value, rank - 1, block), rank - 2, 16)
        return numpy.ascontiguousarray(value.transpose(*range(rank - 2), rank, rank - 2, rank - 1, rank + 1))
    if form == "FRACTAL_Z" and origin == "ND":  # k / k0, n / 16, 16, k0
        return numpy.ascontiguousarray(in_blocks(in_blocks(value, 1, 16), 0, block).transpose(0, 2, 3, 1))
    if form == "ND" or form == origin:
        return numpy.ascontiguousarray(value)
    if form == "FRACTAL_Z":  # C / C0 * H * W, N / 16, 16, C0
        value = value.transpose([origin.index(axis) for axis in "CHWN"])
        value = in_blocks(in_blocks(value, 3, 16), 0, block)  # C1 C0 H W N1 N0
        value = value.transpose(0, 2, 3, 4, 5, 1)
        return numpy.ascontiguousarray(value.reshape(-1, *value.shape[3:]))
    letters = form.replace("C1", "C").replace("C0", "")
    value = value.transpose([origin.index(axis) for axis in letters])
    if "C0" in form:
        axis = letters.index("C")
        value = numpy.moveaxis(in_blocks(value, axis, block), axis + 1, -1)
    return numpy.ascontiguousarray(value)


def taken(elements, shape, form, origin="ND", block=16):
    """The tensor of that shape of which these are the stored elements."""
    numbers = numpy.arange(1, 1 + numpy.prod(shape, dtype=int)).reshape(shape)
    numbers = stored(numbers, form, origin, block).reshape(-1)
    value = numpy.empty(numpy.prod(shape, dtype=int), elements.dtype)
    value[numbers[numbers > 0] - 1] = elements.reshape(-1)[numbers > 0]
    return value.reshape(shape)


def packed(value):
    """Bytes of two int4 each, the first one in the low bits."""
    bits = value.astype("i1").view("u1").reshape(*value.shape[:-1], value.shape[-1] // 2, 2) & 15
    return (bits[..., 0] | bits[..., 1] << 4).astype("u1")


def unpacked(data):
    """The int4 of such bytes."""
    pairs = numpy.stack([data & 15, data >> 4], -1).reshape(*data.shape[:-1], 2 * data.shape[-1]).astype("i1")
    return numpy.where(pairs > 7, pairs - 16, pairs).astype("i1")


def bits_of(value, kind):
    """The array that a file for skrun has: bf16 as its bits, int4 packed."""
    if kind == "bf16":
        return (value.astype("f4").view("u4") >> 16).astype("u2")
    return packed(value) if kind == "int4" else value.astype(kind)


class Tensor:
    def __init__(self, name, shape, kind="f4", form="ND", origin="ND", block=None):
        self.name, self.shape, self.kind, self.form, self.origin = name, tuple(shape), kind, form, origin
        self.block = block or TYPES[kind][1]

    def stored_shape(self):
        return list(stored(numpy.zeros(self.shape, "b1"), self.form, self.origin, self.block).shape)

    def stored(self, value):
        return bits_of(stored(numpy.asarray(value), self.form, self.origin, self.block), self.kind)

    def taken(self, elements):
        elements = unpacked(elements) if self.kind == "int4" else elements
        return taken(elements, self.shape, self.form, self.origin, self.block)

    def described(self, side, number):
        name = TYPES[self.kind][0]
        fields = {
            "device_type": "NPU",
            "dtype": name,
            "layout": self.form,
            "origin_dtype": name,
            "origin_layout": self.origin,
            "origin_shape": list(self.shape),
            "shape": self.stored_shape(),
            "size": 4 * int(numpy.prod(self.stored_shape())),
        }
        return {f"{side}_desc_{field}:{number}": value for field, value in fields.items()}


def quoted(value):
    """A text, or bytes, in protobuf's text format."""
    data = value.encode() if isinstance(value, str) else bytes(value)
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in (34, 92) else f"\\{b:03o}" for b in data) + '"'


def attribute(name, value):
    if isinstance(value, (str, bytes)):
        lines = [f"s: {quoted(value)}", "type: STRING"] if value else ["type: STRING"]
    elif isinstance(value, float):
        lines = [f"f: {value!r}", "type: FLOAT"]
    elif isinstance(value, (list, tuple)) and value and isinstance(value[0], str):
        lines = [f"strings: {quoted(item)}" for item in value] + ["type: STRINGS"]
    elif isinstance(value, (list, tuple)) and value and isinstance(value[0], float):
        lines = [f"floats: {item!r}" for item in value] + ["type: FLOATS"]
    elif isinstance(value, (list, tuple)):
        lines = [f"ints: {item}" for item in value] + ["type: INTS"]
    else:
        lines = ([f"i: {int(value)}"] if value else []) + ["type: INT"]  # proto3 leaves a 0 out
    return ["    attribute {", f'      name: "{name}"', *("      " + line for line in lines), "    }"]


class Dump:
    def __init__(self, name="ge_default_20260101120000_11"):
        self.name, self.nodes, self.inputs, self.makers = name, [], 0, {}

    def add(self, op, name, inputs, outputs, used=None, **attributes):
        """Add a node; `used` are the outputs that it lists. Attributes of None are left out."""
        said = {"id": len(self.nodes), "stream_id": 0, "OwnerGraphIsUnknown": 0, "is_first_node": len(self.nodes) == 1}
        for number, tensor in enumerate(inputs):
            said |= tensor.described("input", number)
        for number, tensor in enumerate(outputs):
            said |= tensor.described("output", number)
            self.makers[tensor.name] = name, number
        if inputs:
            made = [self.makers.get(tensor.name, ("", -1)) for tensor in inputs]
            said |= {
                "src_name": [node for node, _ in made],
                "src_index": [number for _, number in made],
                "is_input_const": [0] * len(inputs),
                "input_name": [tensor.name for tensor in inputs],
            }
        if op not in ("Data", "Const", "NetOutput"):
            said |= {
                "imply_type": 1,
                "OUTPUT_IS_VAR": [0] * len(outputs),
                "INPUT_IS_VAR": [0] * len(inputs),
                "tvm_blockdim": 8,
                "send_event_id_list": [len(self.nodes)],
                "_op_infer_depends": ["x"],
                "op_precise": 0.5,
            }
        said |= attributes
        lines = ["  node {"] + [f'    input: "{tensor.name}"' for tensor in inputs]
        lines += [f'    output: "{tensor.name}"' for tensor in outputs if used is None or tensor in used]
        lines += [f'    name: "{name}"', f'    op_type: "ge:{op}"']
        for key in sorted(said):
            if said[key] is not None:
                lines += attribute(key, said[key])
        self.nodes.append(lines + ["  }"])
        return outputs

    def data(self, name, shape, kind="f4", form="ND", origin="ND", **attributes):
        self.inputs += 1
        return self.add(
            "Data", name, [], [Tensor(f"{name}:0", shape, kind, form, origin)], index=self.inputs - 1, **attributes
        )[0]

    def constant(self, name, value, kind, form="ND", origin="ND", contents=True):
        tensor = Tensor(f"{name}:0", value.shape, kind, form, origin)
        said = {
            "value_desc_device_type": "NPU",
            "value_desc_dtype": TYPES[kind][0],
            "value_desc_layout": form,
            "value_desc_shape": tensor.stored_shape(),
            "value_data": tensor.stored(value).tobytes() if contents else None,
        }
        return self.add("Const", name, [], [tensor], **said)[0]

    def node(self, op, name, inputs, shape, kind=None, form=None, origin=None, **attributes):
        """Add a node with one output, which is stored like the first input unless something else is given."""
        like = inputs[0]
        tensor = Tensor(f"{name}:0", shape, kind or like.kind, form or like.form, origin or like.origin)
        return self.add(op, name, inputs, [tensor], **attributes)[0]

    def split(self, name, x, axis, parts, **attributes):
        """Add a Split of an axis of the origin into parts of these sizes."""
        shapes = [[part if i == axis % len(x.shape) else size for i, size in enumerate(x.shape)] for part in parts]
        outputs = [Tensor(f"{name}:{i}", shape, x.kind, x.form, x.origin) for i, shape in enumerate(shapes)]
        sizes = {"size_splits": list(parts)} if len(set(parts)) > 1 else {}
        op = "SplitVD" if sizes else "SplitD"
        return self.add(op, name, [x], outputs, **({"split_dim": axis, "num_split": len(parts)} | sizes | attributes))

    def text(self, results):
        self.add("NetOutput", "Node_Output", results, [])
        lines = ["ir_version: 6", 'producer_name: "GE"', "graph {"] + [line for node in self.nodes for line in node]
        lines += [
            f'  name: "{self.name}"',
            "  output {",
            '    name: "Node_Output"',
            "    type {",
            "      tensor_type {",
            "        shape {",
            "        }",
            "      }",
            "    }",
            "  }",
            "}",
        ]
        return "\n".join(lines) + "\n"
