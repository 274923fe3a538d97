"""Random graphs as GE dumps them, linked with FusionVirtualOpSetSwitch on and off, run and compared with numpy: nodes
list only those of their outputs that are used, and tensors of all types are stored in all formats. What a node means
is computed of tensors as they are, whatever is stored. All elements are small integers, so results are exact, except
normalisations."""

import subprocess
import sys

import numpy

from ge_dump import Dump, Tensor

# Formats of tensors with the axes of an origin.
FORMS = {
    "ND": ["ND", "FRACTAL_NZ", "FRACTAL_Z"],
    "NCHW": ["NCHW", "NHWC", "HWCN", "NC1HWC0", "FRACTAL_Z", "FRACTAL_NZ"],
    "NHWC": ["NHWC", "NCHW", "NC1HWC0", "FRACTAL_Z"],
    "HWCN": ["HWCN", "NCHW", "FRACTAL_Z"],
    "NCDHW": ["NCDHW", "NDHWC", "NDC1HWC0"],
}
KINDS = ["f4", "f4", "f2", "f2", "i1", "i1", "i4", "u1", "i2", "i8", "f8", "int4"]
COMPUTED = {
    "Relu": ("f4", "f2", "f8", "i1", "i4"),
    "Neg": ("f4", "f2", "f8", "i1", "i2", "i4", "i8", "int4"),
    "Abs": ("f4", "f2", "f8", "i1", "i4"),
    "Add": ("f4", "f2", "f8", "i4", "i8"),
    "Maximum": ("f4", "f2", "f8", "i4", "i8"),
    "Minimum": ("f4", "f2", "f8", "i4", "i8"),
}
FUNCTIONS = {
    "Relu": lambda v: numpy.maximum(v, 0),
    "Neg": numpy.negative,
    "Abs": numpy.abs,
    "Add": numpy.add,
    "Maximum": numpy.maximum,
    "Minimum": numpy.minimum,
}


def is_whole(tensor):
    """Whether int4 makes whole bytes."""
    return tensor.kind != "int4" or (tensor.shape and tensor.stored_shape()[-1] % 2 == 0)


class Graph:
    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        self.nodes, self.inputs, self.tensors, self.values, self.used = [], [], [], {}, set()
        self.exact = True

    def chance(self, percent):
        return self.random.integers(100) < percent

    def pick(self, items):
        return items[self.random.integers(len(items))]

    def add(self, op, inputs, outputs, values, **attributes):
        if not all(is_whole(tensor) for tensor in outputs):
            return
        self.nodes.append((op, outputs[0].name.split(":")[0], inputs, outputs, attributes))
        self.tensors += outputs
        self.values |= {tensor.name: value for tensor, value in zip(outputs, values)}
        self.used |= {tensor.name for tensor in inputs}

    def tensor(self, number, shape, like=None, **other):
        said = dict(kind=like.kind, form=like.form, origin=like.origin) if like else {}
        return Tensor(f"n{len(self.nodes)}:{number}", shape, **(said | other))

    def add_input(self):
        origin = self.pick(["ND", "ND", "NCHW", "NHWC", "HWCN", "NCDHW"])
        form, kind = self.pick(FORMS[origin]), self.pick(KINDS)
        rank = self.pick([2, 3, 4]) if origin == "ND" and form != "FRACTAL_Z" else len(origin)
        shape = [int(self.pick([1, 1, 2, 3, 4])) for _ in range(rank)]
        for axis in [origin.index("C")] if origin != "ND" else [rank - 1, rank - 2]:
            shape[axis] = int(self.pick([16, 32, 48, 64, 20, 40, 128]))
        tensor = self.tensor(0, shape, kind=kind, form=form, origin=origin)
        if is_whole(tensor):
            least = 0 if kind[0] in "u" else -8 if kind == "int4" else -50
            self.add(
                "Data",
                [],
                [tensor],
                [self.random.integers(least, 8 if kind == "int4" else 50, shape)],
                index=len(self.inputs),
            )
            self.inputs.append(tensor)

    def add_unary(self):
        x = self.pick(self.tensors)
        op = self.pick(["Relu", "Neg", "Abs"])
        if x.kind in COMPUTED[op]:
            value = FUNCTIONS[op](self.values[x.name])
            value = numpy.where(value == 8, -8, value) if x.kind == "int4" else value
            self.add(op, [x], [self.tensor(0, x.shape, x)], [value])

    def add_binary(self):
        op = self.pick(["Add", "Maximum", "Minimum"])
        x = self.pick(self.tensors)
        alike = [t for t in self.tensors if t.kind == x.kind and t.shape == x.shape]
        y = self.pick(alike)
        if x.kind in COMPUTED[op] and abs(self.values[x.name]).max(initial=0) < 500:
            self.add(
                op, [x, y], [self.tensor(0, x.shape, x)], [FUNCTIONS[op](self.values[x.name], self.values[y.name])]
            )

    def add_split(self):
        x = self.pick(self.tensors)
        axis = int(self.random.integers(len(x.shape)))
        size = x.shape[axis]
        if self.chance(50) and size > 1:
            step = self.pick([1, 8, 16, 32, 64])
            places = sorted({int(p) for p in self.random.integers(1, size, 3) // step * step} - {0})
        else:
            count = self.pick([n for n in (1, 2, 3, 4) if size % n == 0])
            places = [size // count * (i + 1) for i in range(count - 1)]
        parts = numpy.split(self.values[x.name], places, axis)
        sizes = [part.shape[axis] for part in parts]
        outputs = [self.tensor(i, part.shape, x) for i, part in enumerate(parts)]
        said = {"split_dim": axis - len(x.shape) if self.chance(30) else axis, "num_split": len(parts)}
        equal = len(set(sizes)) == 1 and self.chance(70)
        self.add(
            "SplitD" if equal else "SplitVD", [x], outputs, parts, **said, **({} if equal else {"size_splits": sizes})
        )

    def add_concat(self):
        x = self.pick(self.tensors)
        axis = int(self.random.integers(len(x.shape)))
        rest = lambda t: t.shape[:axis] + t.shape[axis + 1 :]
        fitting = [
            t
            for t in self.tensors
            if (t.kind, t.form, t.origin, len(t.shape), rest(t)) == (x.kind, x.form, x.origin, len(x.shape), rest(x))
        ]
        parts = [self.pick(fitting) for _ in range(self.random.integers(1, 4))]
        value = numpy.concatenate([self.values[t.name] for t in parts], axis)
        if value.size < 200000:
            number = axis - len(x.shape) if self.chance(30) else axis
            self.add("ConcatD", parts, [self.tensor(0, value.shape, x)], [value], concat_dim=number, N=len(parts))

    def add_transfer(self):
        """A TransData to another format, maybe with the axes of another origin."""
        x = self.pick(self.tensors)
        origin = self.pick([name for name in FORMS if sorted(name) == sorted(x.origin)])
        form = self.pick([f for f in FORMS[origin] if not (origin == "ND" and f == "FRACTAL_Z" and len(x.shape) != 2)])
        value = self.values[x.name]
        if origin != x.origin:
            value = value.transpose([x.origin.index(axis) for axis in origin])
        if form == "FRACTAL_NZ" and len(x.shape) < 2:
            return
        self.add(
            "TransData",
            [x],
            [self.tensor(0, value.shape, kind=x.kind, form=form, origin=origin)],
            [value],
            src_format=x.form,
            dst_format=form,
            groups=1,
        )

    def add_norm(self):
        fitting = [t for t in self.tensors if t.kind == "f4" and t.origin == "ND" and t.shape[-1] > 1]
        if not fitting:
            return
        x = self.pick(fitting)
        y = self.pick([t for t in fitting if t.shape == x.shape])
        gamma = self.tensor(0, x.shape[-1:], kind="f4")
        self.add("Data", [], [gamma], [self.random.integers(1, 4, x.shape[-1:])], index=len(self.inputs))
        self.inputs.append(gamma)
        total = self.values[x.name] + self.values[y.name]
        rstd = 1 / numpy.sqrt((total * total).mean(-1, keepdims=True) + 1e-6)
        values = [total * rstd * self.values[gamma.name], rstd, total]
        outputs = [self.tensor(i, value.shape, kind="f4") for i, value in enumerate(values)]
        self.exact = False
        self.add("AddRmsNorm", [x, y, gamma], outputs, values, epsilon=1e-6)

    def grow(self):
        while len(self.inputs) < 2:
            self.add_input()
        steps = [
            self.add_unary,
            self.add_binary,
            self.add_split,
            self.add_split,
            self.add_concat,
            self.add_transfer,
            self.add_transfer,
        ]
        if self.chance(20):
            steps.append(self.add_norm)
        while len(self.nodes) < len(self.inputs) + 6:
            self.pick(steps)()
        made = [t for t in self.tensors if t not in self.inputs]
        results = [t for t in made if t.name not in self.used and self.chance(70)] or [made[-1]]
        self.used |= {tensor.name for tensor in results}
        return results

    def text(self, results):
        dump = Dump()
        for op, name, inputs, outputs, attributes in self.nodes:
            dump.add(op, name, inputs, outputs, [t for t in outputs if t.name in self.used], **attributes)
        return dump.text(results)


def inputs_of(skrun):
    """The inputs that the package has: results need not depend on all inputs."""
    listed = subprocess.run([skrun, "--list", "graph.sk"], check=True, capture_output=True, text=True).stdout
    return {line.split()[1] for line in listed.splitlines() if line.startswith("input")}


def run(seed, sklink, skrun, arguments):
    """Link and run a graph. Return it, and its nodes without a task."""
    graph = Graph(seed)
    results = graph.grow()
    with open("graph.pbtxt", "w") as file:
        file.write(graph.text(results))
    target = graph.pick(
        ["--fusion-target=ascend", "--fusion-target=ascend", "--fusion-target=cpu", "--fusion-target=host"]
    )
    for tensor in graph.inputs:
        numpy.save(f"{tensor.name.split(':')[0]}.npy", tensor.stored(graph.values[tensor.name]))
    for switch in [], ["--fusion-flags=--disable_pass=FusionVirtualOpSetSwitch"]:
        command = [sklink, "graph.pbtxt", *arguments, target, *switch, "--report=report.json", "-o", "graph.sk"]
        subprocess.run(command, check=True, capture_output=True, text=True)
        if not switch:
            free = open("report.json").read().count('"_no_task": 1')
        inputs = [f"--input={name}={name}.npy" for name in sorted(inputs_of(skrun))]
        outputs = [f"--output={tensor.name}=y{i}.npy" for i, tensor in enumerate(results)]
        subprocess.run([skrun, "graph.sk", *inputs, *outputs], check=True, capture_output=True, text=True)
        for i, tensor in enumerate(results):
            value, wanted = tensor.taken(numpy.load(f"y{i}.npy")), graph.values[tensor.name]
            bound = 0 if graph.exact else 1e-4
            if value.shape != wanted.shape or not numpy.allclose(value.astype("f8"), wanted, bound, bound):
                raise ValueError(f"{tensor.name} is another tensor than numpy's {switch or ''}")
    return graph, free


def main(sklink, skrun, cases, seed, *arguments):
    listed = dropped = free = 0
    formats, kinds = set(), set()
    for number in range(int(seed), int(seed) + int(cases)):
        try:
            graph, without_task = run(number, sklink, skrun, arguments)
        except subprocess.CalledProcessError as error:
            sys.exit(f"case {number}: {error}\n{error.stderr}")
        except ValueError as error:
            sys.exit(f"case {number}: {error}")
        free += without_task
        for op, _, _, outputs, _ in graph.nodes:
            formats |= {(op, tensor.form) for tensor in outputs}
            kinds |= {(op, tensor.kind) for tensor in outputs}
            listed += sum(tensor.name in graph.used for tensor in outputs)
            dropped += sum(tensor.name not in graph.used for tensor in outputs[:-1])
    print(f"{cases} graphs, {listed} outputs listed and {dropped} before others left out, {free} nodes without a task")
    moves = ("SplitD", "SplitVD", "ConcatD", "TransData")
    lacking = {(op, form) for op in moves for form in sum(FORMS.values(), [])} - formats
    lacking |= {(op, kind) for op in moves for kind in KINDS} - kinds
    if int(cases) >= 300 and (lacking or not dropped or not free):
        sys.exit(f"no case has {sorted(lacking)}")


main(*sys.argv[1:])
