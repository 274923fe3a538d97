"""Divides a model among ranks: python -m sklink.shard model.onnx --ranks 2 -o FOLDER

Writes FOLDER/model.0.onnx, FOLDER/model.1.onnx …: for each rank the same nodes, with its part of the weights, and
AllReduce and AllGather where ranks exchange data. The document several-machines.md tells which operators can be
divided, and how."""
from __future__ import annotations

import argparse
import fnmatch
import os
import shutil
import sys
import tempfile
from typing import Any, Dict, Iterator, List, Sequence, Set, Tuple

try:
    import numpy

    from . import shard_attention
    from .shard_facts import MICROSOFT, Facts, Refusal, kind, onnx
    from .shard_rules import BEGINS, RANDOM, RULES
    from .sharding import Again, Choices, Walk
except ModuleNotFoundError as error:
    if error.name not in ("onnx", "numpy"):
        raise
    sys.exit(f"sklink.shard: error: it needs the Python package {error.name} (python3-{error.name})")

assert shard_attention
LARGEST_FILE = 1 << 30  # bytes of constants; more of them go to a file of their own


class Division:
    """A model that is divided among ranks."""

    def __init__(self, model: Any, ranks: int, whole: Sequence[str] = ()) -> None:
        """`whole`: patterns of names of nodes that are to stay whole. Raises a Refusal."""
        if not 2 <= ranks <= 1024:
            raise Refusal(f"{ranks} ranks are not from 2 to 1024")
        self.model, self.ranks = model, ranks
        name_nodes(model)
        self.facts = Facts(model)
        self.choices = Choices(whole)
        self.check_patterns()
        self.walk = self.divide()
        self.nodes, self.used = self.needed()
        if not any(node.op_type in ("AllReduce", "AllGather") for node in self.nodes):
            reasons = "".join(f"; '{name}' stays whole: {why}" for name, why in sorted(self.choices.whole.items()))
            raise Refusal(f"it has nothing to divide among {ranks} ranks: no product with a constant{reasons}")
        self.names = self.short_names()

    def check_patterns(self) -> None:
        names = [node.name for node in self.model.graph.node]
        for pattern in self.choices.patterns:
            if not any(fnmatch.fnmatchcase(name, pattern) for name in names):
                raise Refusal(f"--whole {pattern!r}: no node has such a name")

    def divide(self) -> Walk:
        while True:
            walk = Walk(self.model, self.facts, self.ranks, self.choices)
            try:
                walk.run(RULES, BEGINS, RANDOM)
                return walk
            except Again:
                pass

    def needed(self) -> Tuple[List[Any], Set[str]]:
        """The nodes that the outputs need, and the names that these read."""
        used = {value.name for value in self.model.graph.output}
        nodes = []
        for node in reversed(self.walk.nodes):
            if any(name in used for name in node.output):
                nodes.append(node)
                used.update(names_read(node))
        return nodes[::-1], used

    def short_names(self) -> Dict[str, str]:
        """Of a constant that is only used in parts, of one kind, the part has its name."""
        names = {}
        for name, forms in self.walk.forms.items():
            kept = [form for form in forms if form in self.used]
            if len(kept) == 1 and name in self.facts.tensors and name not in self.used:
                names[kept[0]] = name
        return names

    def constants(self, rank: int) -> Iterator[Any]:
        for name, tensor in self.facts.tensors.items():
            if name in self.used:
                yield tensor
        for name, elements in self.walk.parts.items():
            if name in self.used:
                yield self.tensor(name, elements(rank))

    def tensor(self, name: str, array: Any) -> Any:
        array = numpy.ascontiguousarray(array).reshape(array.shape)  # which makes one number a list
        tensor = onnx.numpy_helper.from_array(array, self.names.get(name, name))
        if self.walk.types.get(name):
            tensor.data_type = self.walk.types[name]
        return tensor

    def model_of(self, rank: int) -> Any:
        """The model of a rank."""
        new = onnx.ModelProto()
        new.CopyFrom(self.model)
        graph = new.graph
        for field in ("node", "initializer", "value_info", "quantization_annotation"):
            graph.ClearField(field)
        for node in self.nodes:
            copy = graph.node.add()
            copy.CopyFrom(node)
            for place, name in enumerate(copy.input):
                copy.input[place] = self.names.get(name, name)
        graph.initializer.extend(self.constants(rank))
        inputs = [value for value in graph.input if value.name not in self.facts.tensors]
        del graph.input[:]
        graph.input.extend(inputs)
        for value in [*graph.input, *graph.output]:
            layout = self.walk.layouts.get(value.name)
            if layout is not None and layout.state and value.type.tensor_type.HasField("shape"):
                dim = value.type.tensor_type.shape.dim[layout.axis]
                if dim.dim_value:
                    dim.dim_value //= self.ranks
        if not any(item.domain == MICROSOFT for item in new.opset_import):
            new.opset_import.append(onnx.helper.make_opsetid(MICROSOFT, 1))
        return new

    # ---- the summary ----

    def describe(self) -> Iterator[str]:
        count = {op: sum(node.op_type == op for node in self.nodes) for op in ("AllReduce", "AllGather")}
        yield f"{count['AllReduce']} AllReduce and {count['AllGather']} AllGather"
        before = sum(size_of(tensor) for tensor in self.facts.tensors.values())
        yield f"constants: {sum(size_of(tensor) for tensor in self.constants(0))} bytes for each rank, of {before}"
        for values, text in ((self.model.graph.input, "input"), (self.model.graph.output, "output")):
            for value in values:
                layout = self.walk.layouts.get(value.name)
                if layout is not None and layout.state:
                    yield f"{text} '{value.name}' is divided along axis {layout.axis}"
        for name, why in sorted(self.choices.whole.items()):
            yield f"'{name}' stays whole: {why}"


def size_of(tensor: Any) -> int:
    """The bytes of the elements."""
    return tensor.ByteSize()  # type: ignore[no-any-return]


def names_read(node: Any) -> Set[str]:
    """The names that a node and its bodies read."""
    names = set(node.input)
    for item in node.attribute:
        for graph in [item.g] if item.type == onnx.AttributeProto.GRAPH else item.graphs:
            names.update(value.name for value in graph.output)
            for inner in graph.node:
                names |= names_read(inner)
    return names


def name_nodes(model: Any) -> None:
    """Give each node a name of its own."""
    seen = set()
    for number, node in enumerate(model.graph.node):
        if not node.name or node.name in seen:
            node.name = f"{node.name or node.op_type}_{number}"
        seen.add(node.name)


def divide(model: Any, ranks: int, whole: Sequence[str] = ()) -> List[Any]:
    """Returns the model of each rank, as onnx.ModelProto. Raises a Refusal with the reason if that is not possible."""
    division = Division(model, ranks, whole)
    return [division.model_of(rank) for rank in range(ranks)]


def write(model: Any, folder: str, name: str) -> List[str]:
    """Write a model below the folder. Large constants are in a file of their own. Returns the names of the files."""
    large = sum(size_of(tensor) for tensor in model.graph.initializer) > LARGEST_FILE
    more = {"save_as_external_data": True, "location": name + ".weights", "size_threshold": 1024} if large else {}
    onnx.save_model(model, os.path.join(folder, name), **more)
    return [name] + ([name + ".weights"] if large else [])


def shard(path: str, ranks: int, folder: str, whole: Sequence[str] = ()) -> Iterator[str]:
    """Divide the file; either all files are written or none. Gives the lines of a summary."""
    stem = os.path.splitext(os.path.basename(path))[0]
    division = Division(onnx.load(path), ranks, whole)
    os.makedirs(folder, exist_ok=True)
    temporary = tempfile.mkdtemp(dir=folder, prefix=".shard-")
    try:
        names = []
        for rank in range(ranks):
            names += write(division.model_of(rank), temporary, f"{stem}.{rank}.onnx")
        for name in names:
            os.replace(os.path.join(temporary, name), os.path.join(folder, name))
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    yield f"{os.path.join(folder, stem)}.0.onnx to {stem}.{ranks - 1}.onnx: for {ranks} ranks"
    yield from division.describe()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m sklink.shard", description=__doc__.split("\n\n")[1])
    parser.add_argument("model", help="an ONNX file")
    parser.add_argument("--ranks", type=int, required=True, metavar="N", help="divide it among so many ranks")
    parser.add_argument("-o", dest="folder", required=True, help="the folder for the models, one for each rank")
    parser.add_argument("--whole", action="append", default=[], metavar="PATTERN",
                        help="nodes that are to stay whole, by their names, such as '*/router/*'")
    options = parser.parse_args()
    try:
        for line in shard(options.model, options.ranks, options.folder, options.whole):
            print(line)
    except Refusal as refusal:
        print(f"sklink.shard: error: {options.model}: {refusal}", file=sys.stderr)
        return 1
    except OSError as failure:
        print(f"sklink.shard: error: {failure.filename or options.model}: {failure.strerror}", file=sys.stderr)
        return 1
    except Exception as failure:  # the parser of protobuf has exceptions of its own
        if type(failure).__module__.split(".")[0] != "google":
            raise
        print(f"sklink.shard: error: {options.model}: it is not an ONNX file", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
