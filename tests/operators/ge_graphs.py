"""Random graphs as GE dumps them, linked and run, compared with numpy: a node lists only those of its outputs that are used, and
tensors may be stored as FRACTAL_NZ, NC1HWC0 or NHWC. What a node means is computed of tensors as they are, whatever is stored."""
import json
import subprocess
import sys

import numpy

PLAIN, FRACTAL, CHANNELS, TURNED = ("ND", "ND"), ("ND", "FRACTAL_NZ"), ("NCHW", "NC1HWC0"), ("NCHW", "NHWC")
BLOCK = 16


def in_blocks(value, axis):
    """The axis as two, the second one of a block's elements; what the last block lacks is 0."""
    missing = -value.shape[axis] % BLOCK
    pads = [(0, missing if i == axis else 0) for i in range(value.ndim)]
    value = numpy.pad(value, pads)
    return value.reshape(*value.shape[:axis], -1, BLOCK, *value.shape[axis + 1 :])


def stored(value, form):
    """The elements as the format has them."""
    if form == FRACTAL:
        rank = value.ndim
        blocks = in_blocks(in_blocks(value, rank - 1), rank - 2)  # ..., m / m0, m0, n / n0, n0
        value = blocks.transpose(*range(rank - 2), rank, rank - 2, rank - 1, rank + 1)
    elif form == CHANNELS:
        value = in_blocks(value, 1).transpose(0, 1, 3, 4, 2)
    elif form == TURNED:
        value = value.transpose(0, 2, 3, 1)
    return numpy.ascontiguousarray(value)


def taken(elements, shape, form):
    """The tensor of that shape, of which these are the stored elements."""
    numbers = stored(numpy.arange(1, 1 + numpy.prod(shape)).reshape(shape), form).reshape(-1)
    value = numpy.empty(numbers.max(), elements.dtype)
    value[numbers[numbers > 0] - 1] = elements.reshape(-1)[numbers > 0]
    return value.reshape(shape)


class Tensor:
    def __init__(self, node, index, value, form):
        self.node, self.index, self.value, self.form, self.used = node, index, value.astype("f4"), form, False
        self.name = f"{node}:{index}"

    def described(self, side, number):
        shape = list(stored(self.value, self.form).shape)
        fields = {"dtype": "DT_FLOAT", "layout": self.form[1], "origin_layout": self.form[0], "shape": shape, "origin_shape": list(self.value.shape)}
        return {f"{side}_desc_{field}:{number}": said for field, said in fields.items()}


class Graph:
    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        self.inputs, self.nodes, self.tensors = [], [], []

    def chance(self, percent):
        return self.random.integers(100) < percent

    def pick(self, items):
        return items[self.random.integers(len(items))]

    def add(self, op, inputs, values, form, **attributes):
        name = f"n{len(self.nodes)}"
        outputs = [Tensor(name, i, value, form) for i, value in enumerate(values)]
        self.nodes.append((name, op, inputs, outputs, attributes))
        self.tensors += outputs
        for tensor in inputs:
            tensor.used = True
        return outputs

    def add_input(self):
        form = self.pick([PLAIN, FRACTAL, FRACTAL, CHANNELS, TURNED])
        rank = 4 if form in (CHANNELS, TURNED) else self.random.integers(2, 5)
        shape = [int(self.pick([1, 2, 3, 4])) for _ in range(rank)]
        for axis in [1] if form == CHANNELS else [-1, -2] if form == FRACTAL else []:
            shape[axis] = int(self.pick([16, 32, 48, 64, 20, 40]))
        self.inputs += self.add("Data", [], [self.random.standard_normal(shape)], form)

    def add_unary(self):
        x = self.pick(self.tensors)
        op, compute = self.pick([("Relu", lambda v: numpy.maximum(v, 0)), ("Neg", numpy.negative), ("Abs", abs), ("Sin", numpy.sin)])
        self.add(op, [x], [compute(x.value)], x.form)

    def add_binary(self):
        x = self.pick(self.tensors)
        alike = [t for t in self.tensors if t.form == x.form and t.value.shape == x.value.shape]
        y = self.pick(alike + [t for t in self.tensors if t.value.size == 1 and t.form == PLAIN and t.value.ndim <= x.value.ndim])
        op, compute = self.pick([("Add", numpy.add), ("Sub", numpy.subtract), ("Maximum", numpy.maximum), ("Minimum", numpy.minimum)])
        self.add(op, [x, y], [compute(x.value, y.value)], x.form)

    def block(self, x, axis):
        blocked = x.form == CHANNELS and axis == 1 or x.form == FRACTAL and axis >= x.value.ndim - 2
        return BLOCK if blocked else 1

    def add_split(self):
        x = self.pick(self.tensors)
        axis = int(self.random.integers(x.value.ndim))
        size, block = x.value.shape[axis], self.block(x, axis)
        places = [p for p in range(block, size, block) if self.chance(50)]
        number = axis - x.value.ndim if self.chance(30) else axis
        even = [n for n in (1, 2, 3, 4) if size % n == 0 and (n == 1 or size // n % block == 0)]
        if places and self.chance(60):
            parts = numpy.split(x.value, places, axis)
            self.add("SplitVD", [x], parts, x.form, split_dim=number, num_split=len(parts), size_splits=[p.shape[axis] for p in parts])
        else:
            parts = numpy.split(x.value, self.pick(even), axis)
            self.add("SplitD", [x], parts, x.form, split_dim=number, num_split=len(parts))

    def add_concat(self):
        x = self.pick(self.tensors)
        axis = int(self.random.integers(x.value.ndim))
        rest = lambda t: t.value.shape[:axis] + t.value.shape[axis + 1 :]
        fitting = [t for t in self.tensors if t.form == x.form and t.value.ndim == x.value.ndim and rest(t) == rest(x)]
        parts = [self.pick(fitting) for _ in range(self.random.integers(1, 4))]
        if any(t.value.shape[axis] % self.block(x, axis) for t in parts[:-1]):
            return
        number = axis - x.value.ndim if self.chance(30) else axis
        self.add("ConcatD", parts, [numpy.concatenate([t.value for t in parts], axis)], x.form, concat_dim=number, N=len(parts))

    def add_norm(self):
        plain = [t for t in self.tensors if t.form == PLAIN and t.value.ndim and t.value.shape[-1] > 1]
        if not plain:
            return
        x = self.pick(plain)
        y = self.pick([t for t in plain if t.value.shape == x.value.shape])
        gamma = self.add("Data", [], [self.random.standard_normal(x.value.shape[-1:])], PLAIN)[0]
        self.inputs.append(gamma)
        total = x.value + y.value
        rstd = 1 / numpy.sqrt((total * total).mean(-1, keepdims=True) + 1e-6)
        self.add("AddRmsNorm", [x, y, gamma], [total * rstd * gamma.value, rstd, total], PLAIN, epsilon=1e-6)

    def grow(self):
        for _ in range(self.random.integers(1, 4)):
            self.add_input()
        for _ in range(self.random.integers(4, 14)):
            self.pick([self.add_unary, self.add_binary, self.add_split, self.add_split, self.add_concat, self.add_norm])()
        made = [t for t in self.tensors if t not in self.inputs] or self.add("Relu", [self.inputs[0]], [numpy.maximum(self.inputs[0].value, 0)], self.inputs[0].form)
        results = [t for t in made if not t.used and self.chance(70)] or [made[-1]]
        for tensor in results:
            tensor.used = True
        return results

    def text(self, results):
        lines = ['ir_version: 6 producer_name: "GE" graph { name: "graph"']
        index = 0
        for name, op, inputs, outputs, attributes in self.nodes + [("Node_Output", "NetOutput", results, [], {})]:
            said = dict(attributes)
            if op == "Data":
                said["index"] = index
                index += 1
            for side, tensors in ("input", inputs), ("output", outputs):
                for number, tensor in enumerate(tensors):
                    said |= tensor.described(side, number)
            lines.append(f'node {{ name: "{name}" op_type: "ge:{op}"')
            lines += [f'  input: "{tensor.name}"' for tensor in inputs]
            lines += [f'  output: "{tensor.name}"' for tensor in outputs if tensor.used]
            lines += [attribute(key, said[key]) for key in sorted(said)] + ["}"]
        return "\n".join(lines + ["}"]) + "\n"


def attribute(name, value):
    if isinstance(value, str):
        said = f"s: {json.dumps(value)} type: STRING"
    elif isinstance(value, list):
        said = f"ints: {value} type: INTS"
    elif isinstance(value, float):
        said = f"f: {value} type: FLOAT"
    else:
        said = f"i: {value} type: INT" if value else "type: INT"  # proto3 leaves a 0 out
    return f'  attribute {{ name: "{name}" {said} }}'


def run(seed, sklink, skrun, arguments):
    graph = Graph(seed)
    results = graph.grow()
    with open("graph.pbtxt", "w") as file:
        file.write(graph.text(results))
    target = graph.pick(["--fusion-target=ascend", "--fusion-target=cpu", "--fusion-target=host"])
    subprocess.run([sklink, "graph.pbtxt", *arguments, target, "-o", "graph.sk"], check=True, capture_output=True, text=True)
    command = [skrun, "graph.sk"]
    for tensor in graph.inputs:
        if needed(tensor, graph, results):
            numpy.save(f"{tensor.node}.npy", stored(tensor.value, tensor.form))
            command.append(f"--input={tensor.node}={tensor.node}.npy")
    for i, tensor in enumerate(results):
        command.append(f"--output={tensor.name}=y{i}.npy")
    subprocess.run(command, check=True, capture_output=True, text=True)
    for i, tensor in enumerate(results):
        value = taken(numpy.load(f"y{i}.npy"), tensor.value.shape, tensor.form)
        if not numpy.allclose(value, tensor.value, rtol=1e-4, atol=1e-4):
            raise ValueError(f"{tensor.name} is another tensor than numpy's")
    return graph, results


def needed(tensor, graph, results):
    """Whether the results are computed of the tensor; the package has no other inputs."""
    nodes = {t.node for t in results}
    for name, _, inputs, _, _ in reversed(graph.nodes):
        if name in nodes:
            nodes |= {t.node for t in inputs}
    return tensor.node in nodes


def main(sklink, skrun, cases, seed, *arguments):
    listed = dropped = 0
    formats = set()
    for number in range(int(seed), int(seed) + int(cases)):
        try:
            graph, _ = run(number, sklink, skrun, arguments)
        except subprocess.CalledProcessError as error:
            sys.exit(f"case {number}: {error}\n{error.stderr}")
        except ValueError as error:
            sys.exit(f"case {number}: {error}")
        for _, op, _, outputs, _ in graph.nodes:
            formats |= {(op, t.form[1]) for t in outputs}
            listed += sum(t.used for t in outputs)
            dropped += sum(not t.used for t in outputs[:-1])
    print(f"{cases} graphs, {listed} outputs listed and {dropped} in front of others left out")
    lacking = {(op, form) for op in ("SplitD", "SplitVD", "ConcatD", "Add") for form in ("ND", "FRACTAL_NZ", "NC1HWC0", "NHWC")} - formats
    if int(cases) >= 60 and (lacking or not dropped):
        sys.exit(f"no case has {sorted(lacking)}")


main(*sys.argv[1:])
