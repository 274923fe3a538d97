"""A model with a part of its work for each rank: the layouts of its values, and the nodes and constants that result.

A value is whole, that is, the same on all ranks, or each rank has a part of it along one axis. Products begin a
division (their columns), or end it (their rows; the sum over the ranks is whole again). A rule for each operator says
how its outputs are divided if its inputs are. Where an operator needs a whole value, the products that the division
comes from stay whole, and the walk begins again."""
from __future__ import annotations

import fnmatch
from typing import Any, Callable, Dict, FrozenSet, List, NamedTuple, Optional, Sequence, Set, Tuple

import numpy

from .shard_facts import MICROSOFT, Facts, Refusal, attribute, kind, onnx

Pieces = Tuple[int, ...]


class Again(Exception):
    """A choice has changed."""


class Layout(NamedTuple):
    """How a value is divided: each rank has its part of each piece along one axis."""

    axis: int  # from the end: -1 is the last one
    pieces: Pieces = ()  # the sizes of the pieces along the axis; (): it is one piece
    sources: FrozenSet[str] = frozenset()  # the products and inputs that the division comes from
    state: bool = False  # a state of the network, such as a cache: an output stays divided


def cut(array: Any, axis: int, pieces: Pieces, ranks: int, rank: int) -> Any:
    """The part of a rank: of each piece along the axis, the rank's share."""
    places, start = [], 0
    for size in pieces or (array.shape[axis],):
        places.append(numpy.arange(start + size // ranks * rank, start + size // ranks * (rank + 1)))
        start += size
    return numpy.take(array, numpy.concatenate(places), axis)


class Choices:
    """Choices that stay when the walk begins again."""

    def __init__(self, whole: Sequence[str]) -> None:
        self.patterns = list(whole)  # names of nodes that are to stay whole
        self.whole: Dict[str, str] = {}  # products, tables and inputs that stay whole: the reason
        self.pieces: Dict[str, Pieces] = {}  # products with columns in several pieces
        self.inputs: Dict[str, int] = {}  # divided inputs of the network: the axis from the end


class Walk:
    """One walk through the nodes of a model. Rules call its methods."""

    def __init__(self, model: Any, facts: Facts, ranks: int, choices: Choices) -> None:
        self.model, self.facts, self.ranks, self.choices = model, facts, ranks, choices
        self.layouts: Dict[str, Layout] = {}
        self.nodes: List[Any] = []
        self.parts: Dict[str, Callable[[int], Any]] = {}  # new constants: the elements for each rank
        self.types: Dict[str, int] = {}  # their types, where numpy has none
        self.forms: Dict[str, List[str]] = {}  # the names of the parts of each constant
        self.counts: Dict[str, int] = {}
        self.table = self.largest_table()

    # ---- messages and choices ----

    def refuse(self, node: Any, text: str) -> Refusal:
        return Refusal(f"node '{node.name}' ({kind(node)}): {text}")

    def need_whole(self, node: Any, layouts: Sequence[Layout], why: str) -> Again:
        """Let the products that these layouts come from stay whole."""
        for source in sorted({source for layout in layouts for source in layout.sources}):
            self.choices.inputs.pop(source, None)
            self.choices.whole[source] = f"node '{node.name}' ({kind(node)}) {why}"
        return Again()

    def want_pieces(self, node: Any, layout: Layout, pieces: Sequence[int]) -> Again:
        """Let the product that the layout comes from have columns of several pieces, each of which is divided."""
        wanted = tuple(pieces)
        if len(layout.sources) != 1 or layout.pieces or any(size % self.ranks for size in wanted):
            why = f"needs pieces of {list(wanted)}, which {self.ranks} ranks cannot divide"
            return self.need_whole(node, [layout], why)
        source = next(iter(layout.sources))
        if self.choices.pieces.get(source) == wanted:
            return self.need_whole(node, [layout], "takes pieces that another node takes otherwise")
        self.choices.pieces[source] = wanted
        return Again()

    def divide_input(self, name: str, axis: int) -> bool:
        """Divide an input of the network. False: it is none, or stays whole. Otherwise the walk begins again."""
        shape = self.facts.of(name)
        known = any(value.name == name for value in self.model.graph.input) and name not in self.facts.tensors
        if not known or name in self.choices.whole or not shape or len(shape) < -axis:
            return False
        size = shape[axis]
        if size is None or size % self.ranks:
            return False
        self.choices.inputs[name] = axis
        raise Again()

    def stays_whole(self, node: Any) -> bool:
        if any(fnmatch.fnmatchcase(node.name, pattern) for pattern in self.choices.patterns):
            self.choices.whole.setdefault(node.name, "--whole says so")
        return node.name in self.choices.whole

    def largest_table(self) -> int:
        """The elements of the largest constant that Gather reads rows of: the embedding of a vocabulary."""
        sizes = [0]
        for node in self.model.graph.node:
            if kind(node) == "Gather" and not attribute(node, "axis", 0):
                sizes.append(self.facts.table(node.input[0]))
        return max(sizes)

    # ---- values ----

    def layout(self, name: str) -> Optional[Layout]:
        return self.layouts.get(name) if name else None

    def divides(self, size: Optional[int], pieces: Pieces = ()) -> bool:
        return bool(size) and all(part % self.ranks == 0 for part in pieces or (size or 1,))

    def is_constant(self, name: str) -> bool:
        if self.facts.constant(name) is not None:
            return True
        node = self.facts.producers.get(name)
        return node is not None and node.op_type == "DequantizeLinear" and all(
            self.facts.constant(item) is not None for item in node.input if item
        )

    # ---- nodes ----

    def new_name(self, name: str) -> str:
        """A name that no value of the model has."""
        while True:
            self.counts[name] = self.counts.get(name, 0) + 1
            new = f"{name}/part" if self.counts[name] == 1 else f"{name}/part{self.counts[name]}"
            if new not in self.facts.names:
                return new

    def emit(self, op: str, inputs: Sequence[str], output: str, name: str, domain: str = "", **attributes: Any) -> str:
        self.nodes.append(onnx.helper.make_node(op, list(inputs), [output], name, domain=domain, **attributes))
        return output

    def copy(self, node: Any, inputs: Optional[Dict[int, str]] = None, **attributes: Any) -> Any:
        """Add a copy of the node with other inputs (by their numbers) and other attributes; None leaves one out."""
        new = onnx.NodeProto()
        new.CopyFrom(node)
        for place, name in (inputs or {}).items():
            new.input[place] = name
        kept = [item for item in new.attribute if item.name not in attributes]
        del new.attribute[:]
        new.attribute.extend(kept)
        new.attribute.extend(onnx.helper.make_attribute(k, v) for k, v in attributes.items() if v is not None)
        self.nodes.append(new)
        return new

    def reduce(self, node: Any, new: Any) -> None:
        """Let the node's first output be the sum over all ranks of that of the new node."""
        output = node.output[0]
        new.output[0] = self.new_name(output)
        self.emit("AllReduce", [new.output[0]], output, node.name + "/AllReduce", MICROSOFT)

    # ---- constants ----

    def constant_for(self, name: str, elements: Callable[[int], Any]) -> str:
        """A constant with elements that depend on the rank. The name is one of the model's, which it comes from."""
        new = self.new_name(name)
        self.parts[new] = elements
        self.forms.setdefault(name, []).append(new)
        return new

    def same_constant(self, name: str, array: Any) -> str:
        return self.constant_for(name, lambda rank: array)

    def zero_like(self, name: str) -> str:
        """A zero of the type of a constant."""
        array = self.facts.constant(name)
        new = self.same_constant(name, numpy.zeros((), array.dtype))
        self.types[new] = self.facts.types.get(name, 0)
        return new

    def bound(self, start: int, size: int, end: int) -> Callable[[int], Any]:
        """Where the part of a rank begins (end 0) or ends (1)."""
        return lambda rank: numpy.array([start + size // self.ranks * (rank + end)])

    def part(self, name: str, axis: int, pieces: Pieces = ()) -> str:
        """The part of each rank of a constant, or of one that is dequantised."""
        array = self.facts.constant(name)
        if array is None:
            return self.dequantised_part(self.facts.producers[name], axis, pieces)
        key = f"{name}\0{axis}\0{pieces}"
        if key in self.forms:
            return self.forms[key][0]

        def elements(rank: int) -> Any:
            return cut(array, axis, pieces, self.ranks, rank)

        new = self.constant_for(name, elements)
        self.types[new] = self.facts.types.get(name, 0)
        self.forms[key] = [new]
        return self.forms[key][0]

    def dequantised_part(self, node: Any, axis: int, pieces: Pieces) -> str:
        values, scale = (self.facts.constant(name) for name in node.input[:2])
        block = attribute(node, "block_size", 0)
        along = attribute(node, "axis", 1)
        if block and any(size % (block * self.ranks) for size in pieces or (values.shape[axis],)):
            raise self.refuse(node, f"blocks of {block} cannot be divided among {self.ranks} ranks")
        inputs = [self.part(node.input[0], axis, pieces)]
        for name in node.input[1:]:
            if not name or scale.ndim == 0 or scale.size == 1:
                inputs.append(name)
            elif scale.ndim == values.ndim and block:
                at_blocks = along % values.ndim == axis % values.ndim
                inputs.append(self.part(name, axis, tuple(size // block for size in pieces) if at_blocks else pieces))
            else:
                inputs.append(self.part(name, -1, pieces) if along % values.ndim == axis % values.ndim else name)
        new = self.copy(node)
        new.output[0], new.name = self.new_name(node.output[0]), self.new_name(node.name)
        del new.input[:]
        new.input.extend(inputs)
        return str(new.output[0])

    def take(self, node: Any, name: str, axis: int, pieces: Pieces = ()) -> str:
        """The part of each rank of a value that is whole."""
        if self.is_constant(name):
            return self.part(name, axis, pieces)
        shape = self.facts.of(name)
        size = shape[axis] if shape is not None and len(shape) >= -axis else None
        if size is None:
            raise self.refuse(node, f"its input '{name}' has to be divided, and the model leaves its size open")
        axes = self.same_constant(name, numpy.array([axis]))
        taken = []
        start = 0
        for length in pieces or (size,):
            ends = [self.constant_for(name, self.bound(start, length, end)) for end in (0, 1)]
            output = self.new_name(name)
            taken.append(self.emit("Slice", [name, *ends, axes], output, f"{node.name}/{output}"))
            start += length
        if len(taken) == 1:
            return taken[0]
        output = self.new_name(name)
        return self.emit("Concat", taken, output, f"{node.name}/{output}", axis=axis)

    def divided_shape(self, node: Any, name: str, place: int, rank: int) -> str:
        """A list of sizes in which the one at the place is that of a part."""
        numbers = self.facts.numbers(name)
        size = numbers[place] if numbers is not None and len(numbers) == rank else None
        if size is None:
            raise self.refuse(node, f"the sizes in '{name}' are not known, and one of them has to be divided")
        if size in (0, -1, 1):
            return name
        array = self.facts.constant(name)
        if array is not None:
            changed = array.copy()
            changed[place] = size // self.ranks
            return self.same_constant(name, changed)
        divisor = numpy.ones(rank, numpy.int64)
        divisor[place] = self.ranks
        output = self.new_name(name)
        return self.emit("Div", [name, self.same_constant(name, divisor)], output, f"{node.name}/{output}")

    # ---- the walk ----

    def set_layout(self, name: str, layout: Optional[Layout]) -> None:
        if name and layout is not None:
            self.layouts[name] = layout

    def run(self, rules: Dict[str, Callable[["Walk", Any], None]], begins: Set[str], random: Set[str]) -> None:
        """Add the nodes. `begins`: operators with rules that also apply to whole inputs."""
        for name, axis in self.choices.inputs.items():
            self.layouts[name] = Layout(axis, (), frozenset([name]), True)
        for node in self.model.graph.node:
            self.check_subgraphs(node)
            divided = [name for name in node.input if name in self.layouts]
            if node.op_type in random:
                raise self.refuse(node, "it draws random numbers, of which each rank would have its own")
            if "All" in node.op_type[:3] and node.op_type in ("AllReduce", "AllGather", "AllToAll"):
                raise self.refuse(node, "the model is for several ranks already")
            rule = rules.get(kind(node))
            if rule is not None and (divided or kind(node) in begins):
                rule(self, node)
            elif divided:
                layout = self.layouts[divided[0]]
                raise self.refuse(
                    node,
                    f"its input '{divided[0]}' is divided among the ranks along axis {layout.axis}, and sklink.shard"
                    f" does not know how {node.op_type} computes a part; --whole {sorted(layout.sources)[0]!r} leaves"
                    " that whole",
                )
            else:
                self.copy(node)
        self.finish_outputs()

    def check_subgraphs(self, node: Any) -> None:
        """Bodies of nodes are whole; they cannot read a value that is divided."""
        for item in node.attribute:
            for graph in [item.g] if item.type == onnx.AttributeProto.GRAPH else item.graphs:
                for inner in graph.node:
                    read = [name for name in inner.input if name in self.layouts]
                    if read:
                        raise self.refuse(node, f"its body reads '{read[0]}', which is divided among the ranks")
                    self.check_subgraphs(inner)

    def finish_outputs(self) -> None:
        """Outputs are whole on all ranks, but for states."""
        for value in self.model.graph.output:
            layout = self.layouts.get(value.name)
            if layout is None or layout.state:
                continue
            if layout.pieces:
                raise self.need_whole(self.facts.producers[value.name], [layout], "has a result of several pieces")
            part = self.new_name(value.name)
            for node in self.nodes:
                for names in (node.input, node.output):
                    for place, name in enumerate(names):
                        names[place] = part if name == value.name else name
            self.emit("AllGather", [part], value.name, value.name + "/AllGather", MICROSOFT, axis=layout.axis,
                      group_size=self.ranks)
