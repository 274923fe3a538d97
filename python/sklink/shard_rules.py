"""Rules of sharding: for each operator, the parts of its outputs if its inputs are divided among ranks."""
from __future__ import annotations

from typing import Any, Callable, Dict, FrozenSet, List, Optional, Sequence, Set, Tuple

import numpy

from .shard_facts import MICROSOFT, REDUCTIONS, SEVERAL, SINGLE, Shape, attribute, onnx
from .sharding import Layout, Pieces, Walk, cut

Rule = Callable[[Walk, Any], None]
RULES: Dict[str, Rule] = {}
BEGINS: Set[str] = set()  # operators that begin a division
RANDOM = set("Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike".split())


def rule(*names: str, begins: bool = False) -> Callable[[Rule], Rule]:
    def add(function: Rule) -> Rule:
        RULES.update((name, function) for name in names)
        BEGINS.update(names if begins else ())
        return function

    return add


def layouts_of(walk: Walk, node: Any) -> List[Optional[Layout]]:
    return [walk.layout(name) for name in node.input]


def sources_of(layouts: Sequence[Optional[Layout]]) -> FrozenSet[str]:
    return frozenset(source for layout in layouts if layout for source in layout.sources)


def given(node: Any, place: int) -> str:
    return str(node.input[place]) if len(node.input) > place else ""


def from_end(walk: Walk, node: Any, axis: int) -> int:
    """An axis of the first input, counted from the end."""
    if axis < 0:
        return axis
    shape = walk.facts.of(node.input[0])
    if shape is None:
        raise walk.refuse(node, f"the number of dimensions of its input '{node.input[0]}' is not known")
    return axis - len(shape)


def rank_of(walk: Walk, node: Any, name: str) -> int:
    shape = walk.facts.of(name)
    if shape is None:
        raise walk.refuse(node, f"the number of dimensions of its input '{name}' is not known")
    return len(shape)


# ---- elementwise operators ----


def elementwise(walk: Walk, node: Any) -> None:
    layouts = layouts_of(walk, node)
    divided = [layout for layout in layouts if layout]
    axis, pieces = divided[0].axis, divided[0].pieces
    if any((layout.axis, layout.pieces) != (axis, pieces) for layout in divided):
        raise walk.need_whole(node, divided, "has inputs that are divided along different axes")
    inputs = {}
    for place, name in enumerate(node.input):
        if not name or layouts[place]:
            continue
        shape = walk.facts.of(name)
        if shape is None:
            raise walk.refuse(node, f"the shape of its input '{name}' is not known")
        if len(shape) >= -axis and shape[axis] != 1:
            inputs[place] = walk.take(node, name, axis, pieces)
    walk.copy(node, inputs)
    for name in node.output:
        walk.set_layout(name, Layout(axis, pieces, sources_of(divided)))


def single(walk: Walk, node: Any) -> None:
    layouts = layouts_of(walk, node)
    if layouts[0] is None or any(layouts[1:]):
        divided = [layout for layout in layouts if layout]
        raise walk.need_whole(node, divided, "reads a bound that is divided")
    walk.copy(node)
    for name in node.output:
        walk.set_layout(name, layouts[0] if node.op_type == "Identity" else layouts[0]._replace(state=False))


for _op in SEVERAL:
    RULES[_op] = elementwise
for _op in SINGLE - {"FastGelu", "QuickGelu"}:
    RULES[_op] = single
RULES.update({f"{MICROSOFT}:{_op}": elementwise for _op in ("BiasGelu", "FastGelu")})
RULES.update({f"{MICROSOFT}:{_op}": single for _op in ("Gelu", "QuickGelu")})


@rule("QuantizeLinear", "DequantizeLinear")
def quantise(walk: Walk, node: Any) -> None:
    layout = walk.layout(node.input[0])
    scale = walk.facts.of(node.input[1])
    if layout is None or scale is None or attribute(node, "block_size", 0) or any(layouts_of(walk, node)[1:]):
        raise walk.refuse(node, "its scales cannot be divided")
    inputs = {}
    if scale not in ([], [1]) and from_end(walk, node, attribute(node, "axis", 1)) == layout.axis:
        inputs = {place: walk.take(node, name, -1, layout.pieces)
                  for place, name in enumerate(node.input) if place and name}
    walk.copy(node, inputs)
    walk.set_layout(node.output[0], layout._replace(state=False))


# ---- products ----


def begin_product(walk: Walk, node: Any, factor: str, columns: Optional[int]) -> Optional[Pieces]:
    """Whether a product of a whole value and a constant is divided by its columns: into which pieces; None: it stays
    whole."""
    pieces = walk.choices.pieces.get(node.name, ())
    if walk.stays_whole(node):
        return None
    if not walk.is_constant(factor):
        return None
    if not walk.divides(columns, pieces):
        walk.choices.whole.setdefault(node.name, f"its {columns} columns cannot be divided among {walk.ranks} ranks")
        return None
    return pieces


def begin_matmul(walk: Walk, node: Any) -> None:
    a, b = node.input
    left, right = walk.facts.of(a), walk.facts.of(b)
    own = frozenset([node.name])
    if right is not None and len(right) == 3 and right[0] != 1 and walk.is_constant(b) and left is not None:
        experts = walk.divides(right[0]) and not walk.stays_whole(node)
        if experts:  # a matrix for each
            inputs = {1: walk.part(b, -3)}
            if len(left) >= 3 and left[-3] != 1:
                inputs[0] = walk.take(node, a, -3)
            walk.copy(node, inputs)
            walk.set_layout(node.output[0], Layout(-3, (), own))
            return
    pieces = begin_product(walk, node, b, right[-1]) if right is not None and len(right) == 2 else None
    if pieces is None:
        walk.copy(node)
        return
    walk.copy(node, {1: walk.part(b, -1, pieces)})
    walk.set_layout(node.output[0], Layout(-1, pieces, own))


def sum_products(walk: Walk, node: Any, one: Optional[Layout], other: Optional[Layout]) -> None:
    """Both factors are divided along the sum, or are to be."""
    divided = [layout for layout in (one, other) if layout]
    pieces = divided[0].pieces
    if walk.stays_whole(node):
        raise walk.need_whole(node, divided, "is to stay whole")
    if any(layout.pieces != pieces for layout in divided):
        raise walk.need_whole(node, divided, "has factors that are divided into different pieces")
    inputs = {}
    if one is None:
        inputs[0] = walk.take(node, node.input[0], -1, pieces)
    if other is None:
        inputs[1] = walk.take(node, node.input[1], -1 if rank_of(walk, node, node.input[1]) == 1 else -2, pieces)
    walk.reduce(node, walk.copy(node, inputs))


@rule("MatMul", begins=True)
def matmul(walk: Walk, node: Any) -> None:
    one, other = layouts_of(walk, node)
    divided = [layout for layout in (one, other) if layout]
    if not divided:
        begin_matmul(walk, node)
        return
    if (one is None or one.axis == -1) and (other is None or other.axis == -2):
        sum_products(walk, node, one, other)
        return
    layout = divided[0]
    if layout.axis > -3 and len(divided) == 2 or any(item.axis != layout.axis for item in divided):
        raise walk.need_whole(node, divided, "has factors that are divided along different axes")
    inputs = {}
    for place, item in enumerate((one, other)):
        shape = walk.facts.of(node.input[place])
        if item is not None or layout.axis > -3:
            continue
        if shape is None:
            raise walk.refuse(node, f"the shape of its input '{node.input[place]}' is not known")
        if len(shape) >= -layout.axis and shape[layout.axis] != 1:  # batches
            inputs[place] = walk.take(node, node.input[place], layout.axis, layout.pieces)
    walk.copy(node, inputs)
    walk.set_layout(node.output[0], Layout(layout.axis, layout.pieces, sources_of(divided)))


@rule("Gemm", begins=True)
def gemm(walk: Walk, node: Any) -> None:
    a, b, c = node.input[0], node.input[1], given(node, 2)
    turned = bool(attribute(node, "transB", 0))
    layout, others = walk.layout(a), [item for item in layouts_of(walk, node)[1:] if item]
    shape = walk.facts.of(b)
    if others:
        divided = [item for item in layouts_of(walk, node) if item]
        raise walk.need_whole(node, divided, "reads a factor or an addend that is divided")
    if layout is None:
        pieces = begin_product(walk, node, b, shape[-2 if turned else -1]) if shape is not None else None
        if pieces is None:
            walk.copy(node)
            return
        inputs = {1: walk.part(b, -2 if turned else -1, pieces)}
        if c and (walk.facts.of(c) or [1])[-1] != 1:
            inputs[2] = walk.take(node, c, -1, pieces)
        walk.copy(node, inputs)
        walk.set_layout(node.output[0], Layout(-1, pieces, frozenset([node.name])))
        return
    if attribute(node, "transA", 0) or layout.axis != -1 or walk.stays_whole(node):
        raise walk.need_whole(node, [layout], "needs whole rows of its first factor")
    new = walk.copy(node, {1: walk.take(node, b, -1 if turned else -2, layout.pieces)}, beta=None)
    del new.input[2:]
    add_after_sum(walk, node, new, c, attribute(node, "beta", 1.0))


def add_after_sum(walk: Walk, node: Any, new: Any, addend: str, factor: float = 1.0) -> None:
    """The node's output is the sum of the new node's over all ranks, and an addend, which is added once."""
    output = node.output[0]
    walk.reduce(node, new)
    if not addend:
        return
    total = walk.nodes[-1].output[0] = walk.new_name(output)
    if factor != 1:
        array = walk.facts.constant(addend)
        if array is None:
            raise walk.refuse(node, "'beta' is not 1, and the addend is no constant")
        addend = walk.same_constant(addend, (array * factor).astype(array.dtype))
    walk.emit("Add", [total, addend], output, node.name + "/Add")


@rule(f"{MICROSOFT}:MatMulNBits", begins=True)
def matmul_n_bits(walk: Walk, node: Any) -> None:
    layout = walk.layout(node.input[0])
    inner, columns, block = (attribute(node, name) for name in ("K", "N", "block_size"))
    bits, ranks = attribute(node, "bits", 4), walk.ranks
    bias = given(node, 5)

    def part(name: str, axis: int, pieces: Pieces) -> str:
        array = walk.facts.constant(name)
        if array is None:
            raise walk.refuse(node, f"its input '{name}' is no constant")
        flat = array.ndim == 1  # scales and zero points of old files
        rows = array.reshape(columns, -1) if flat else array

        def elements(rank: int) -> Any:
            found = cut(rows, axis, pieces, ranks, rank)
            return found.reshape(-1) if flat else found

        return walk.constant_for(name, elements)

    if layout is None:
        pieces = begin_product(walk, node, node.input[1], columns)
        if pieces is None:
            walk.copy(node)
            return
        inputs = {place: part(given(node, place), 0, pieces) for place in (1, 2, 3) if given(node, place)}
        if bias:
            inputs[5] = walk.part(bias, -1, pieces)
        walk.copy(node, inputs, N=columns // ranks)
        walk.set_layout(node.output[0], Layout(-1, pieces, frozenset([node.name])))
        return
    sizes = layout.pieces or (inner,)
    fits = all(size % (block * ranks) == 0 for size in sizes)
    if given(node, 3):  # zero points, several in a byte
        fits &= all(size // block // ranks * bits % 8 == 0 for size in sizes)
    if layout.axis != -1 or walk.stays_whole(node) or not fits or given(node, 4):
        raise walk.need_whole(node, [layout], f"has blocks of {block} that cannot be divided among {ranks} ranks")
    blocks = tuple(size // block for size in sizes)
    inputs = {place: part(given(node, place), 1, blocks) for place in (1, 2) if given(node, place)}
    if given(node, 3):
        inputs[3] = part(given(node, 3), 1, tuple(size * bits // 8 for size in blocks))
    new = walk.copy(node, inputs, K=inner // ranks)
    del new.input[4:]
    add_after_sum(walk, node, new, bias)


# ---- tables ----


def divide_vocabulary(walk: Walk, node: Any, rows: int) -> None:
    """Each rank has some rows of the table, and gives zeros for other rows; the sum has them all."""
    table, indices = node.input
    name, ranks = node.name, walk.ranks

    def step(op: str, *inputs: str, **attributes: Any) -> str:
        output = walk.new_name(f"{node.output[0]}/{op}")
        return walk.emit(op, inputs, output, f"{name}/{output}", **attributes)

    zero = walk.same_constant(indices, numpy.array(0))
    ids = step("Cast", indices, to=int(onnx.TensorProto.INT64))
    all_rows = walk.same_constant(indices, numpy.array(rows))
    ids = step("Where", step("Less", ids, zero), step("Add", ids, all_rows), ids)  # negative ones count from the end
    local = step("Sub", ids, walk.constant_for(indices, lambda rank: numpy.array(rows // ranks * rank)))
    known = step("Less", local, walk.same_constant(indices, numpy.array(rows // ranks)))
    inside = step("And", known, step("Not", step("Less", local, zero)))
    found = step("Gather", walk.part(table, -2), step("Where", inside, local, zero), axis=0)
    if walk.facts.opset < 13:
        mask = step("Unsqueeze", inside, axes=[-1])
    else:
        mask = step("Unsqueeze", inside, walk.same_constant(indices, numpy.array([-1])))
    walk.emit("Where", [mask, found, walk.zero_like(table)], node.output[0], name)
    walk.reduce(node, walk.nodes[-1])


@rule("Gather", begins=True)
def gather(walk: Walk, node: Any) -> None:
    data, indices = (walk.layout(name) for name in node.input)
    axis = attribute(node, "axis", 0)
    if data is None and indices is None:
        elements = 0 if axis else walk.facts.table(node.input[0])
        if elements and elements == walk.table:
            rows = walk.facts.constant(node.input[0]).shape[0]
            if not walk.divides(rows):
                walk.choices.whole[node.name] = f"its {rows} rows cannot be divided among {walk.ranks} ranks"
            elif not walk.stays_whole(node):
                divide_vocabulary(walk, node, rows)
                return
        walk.copy(node)
        return
    if data is None:
        assert indices is not None
        behind = -from_end(walk, node, axis) - 1
        walk.copy(node)
        walk.set_layout(node.output[0], Layout(indices.axis - behind, indices.pieces, indices.sources))
        return
    axis = from_end(walk, node, axis)
    if indices is not None or axis == data.axis:
        raise walk.need_whole(node, [item for item in (data, indices) if item], "reads along an axis that is divided")
    moved = data.axis - (rank_of(walk, node, node.input[1]) - 1) if data.axis < axis else data.axis
    walk.copy(node)
    walk.set_layout(node.output[0], Layout(moved, data.pieces, data.sources))


# ---- shapes and moves ----


def regroup(before: Shape, after: Shape, axis: int) -> Optional[Tuple[List[int], List[int]]]:
    """The axis, with the axes before and after that together have as many elements; all from the end. None: unknown."""
    i = o = -1
    while -i <= len(before) and -o <= len(after):
        one, other = [i], [o]
        size, made = before[i], after[o]
        while size != made:
            if size is None or made is None:
                return None
            if size < made:
                i -= 1
                if -i > len(before) or before[i] is None:
                    return None
                size *= before[i] or 0
                one.append(i)
            else:
                o -= 1
                if -o > len(after) or after[o] is None:
                    return None
                made *= after[o] or 0
                other.append(o)
        if axis in one:
            return (one, other) if size is not None else None
        i, o = i - 1, o - 1
    return None


def reshaped(walk: Walk, node: Any, layout: Layout, before: Shape, after: Shape) -> Layout:
    """The layout after a Reshape."""
    groups = regroup(before, after, layout.axis)
    if groups is None:
        raise walk.refuse(
            node,
            f"its input is divided among the ranks along axis {layout.axis}, and shapes {before} and {after} do not"
            " show where that axis goes",
        )
    one = [axis for axis in groups[0] if before[axis] != 1]
    other = [axis for axis in groups[1] if after[axis] != 1][::-1]  # the outermost one first
    if not one or not other or layout.axis != one[-1]:
        raise walk.need_whole(node, [layout], "joins axes of which an inner one is divided")
    first = other[0]
    if layout.pieces:
        if len(one) == len(other) == 1:
            return layout._replace(axis=first, state=False)
        if len(other) > 1 and set(layout.pieces) == {(before[layout.axis] or 0) // (after[first] or 1)}:
            if walk.divides(after[other[1]]):
                return Layout(other[1], (), layout.sources)
    elif walk.divides(after[first]):
        return Layout(first, (), layout.sources)
    elif len(one) == 1 and len(other) > 2 and walk.divides(after[other[1]]):
        count = after[first] or 1  # such as queries, keys and values, each with its heads
        raise walk.want_pieces(node, layout, [(before[layout.axis] or 0) // count] * count)
    made = [after[axis] for axis in other]
    raise walk.need_whole(node, [layout], f"makes axes of {made}, which {walk.ranks} ranks cannot divide")


@rule("Reshape")
def reshape(walk: Walk, node: Any) -> None:
    layout = walk.layout(node.input[0])
    before, after = walk.facts.of(node.input[0]), walk.facts.of(node.output[0])
    if layout is None or before is None or after is None or len(node.input) < 2:
        raise walk.refuse(node, "its shapes are not known, and its input is divided among the ranks")
    new = reshaped(walk, node, layout, before, after)
    place = len(after) + new.axis
    numbers = walk.facts.numbers(node.input[1])
    if numbers is not None and numbers[place] == 0 and not attribute(node, "allowzero", 0):
        if layout.axis + len(before) != place:
            raise walk.refuse(node, "it copies the size of another axis than the one that is divided")
    walk.copy(node, {1: walk.divided_shape(node, node.input[1], place, len(after))})
    walk.set_layout(node.output[0], new)


@rule("Transpose")
def transpose(walk: Walk, node: Any) -> None:
    layout = walk.layouts[node.input[0]]
    order = attribute(node, "perm") or list(range(rank_of(walk, node, node.input[0])))[::-1]
    walk.copy(node)
    moved = order.index(len(order) + layout.axis) - len(order)
    walk.set_layout(node.output[0], layout._replace(axis=moved, state=False))


@rule("Unsqueeze", "Squeeze")
def squeeze(walk: Walk, node: Any) -> None:
    layout = walk.layouts[node.input[0]]
    axes = walk.facts.axes(node)
    rank = rank_of(walk, node, node.input[0])
    if axes is None:
        raise walk.refuse(node, "its axes are not known, and its input is divided among the ranks")
    old = rank + layout.axis
    if node.op_type == "Unsqueeze":
        total = rank + len(axes)
        places = sorted(axis % total for axis in axes)
        new = [place for place in range(total) if place not in places][old] - total
    else:
        places = sorted(axis % rank for axis in axes)
        kept = [place for place in range(rank) if place not in places]
        new = kept.index(old) - len(kept)
    walk.copy(node)
    walk.set_layout(node.output[0], layout._replace(axis=new, state=False))


@rule("Split")
def split(walk: Walk, node: Any) -> None:
    layout = walk.layouts[node.input[0]]
    axis = from_end(walk, node, attribute(node, "axis", 0))
    made = layout._replace(state=False)
    inputs, attributes = {}, {}
    if axis == layout.axis:
        sizes = walk.facts.split_sizes(node)
        if sizes is None:
            raise walk.refuse(node, "the sizes of its pieces are not known, and its input is divided among the ranks")
        if layout.pieces != tuple(sizes):
            raise walk.want_pieces(node, layout, sizes)
        made = made._replace(pieces=())
        parts = [size // walk.ranks for size in sizes]
        if attribute(node, "split") is not None:
            attributes["split"] = parts
        elif given(node, 1):
            inputs[1] = walk.same_constant(node.input[1], numpy.array(parts))
    walk.copy(node, inputs, **attributes)
    for name in node.output:
        walk.set_layout(name, made)


@rule("Slice")
def cut_out(walk: Walk, node: Any) -> None:
    layout = walk.layout(node.input[0])
    axes = walk.facts.numbers(given(node, 3)) if given(node, 3) else attribute(node, "axes")
    if layout is None or axes is None or None in axes:
        raise walk.refuse(node, "its axes are not known, and its input is divided among the ranks")
    if layout.axis in [from_end(walk, node, axis) for axis in axes]:
        raise walk.need_whole(node, [layout], "reads a part along an axis that is divided")
    walk.copy(node)
    walk.set_layout(node.output[0], layout._replace(state=False))


def divide_others(walk: Walk, node: Any, places: Sequence[int], axis: int, pieces: Pieces) -> Dict[int, str]:
    """The inputs at these places, divided along the axis: states of the network as inputs, others as parts."""
    inputs = {}
    for place in places:
        name = given(node, place)
        layout = walk.layout(name)
        if layout is not None and (layout.axis, layout.pieces) != (axis, pieces):
            raise walk.need_whole(node, [item for item in layouts_of(walk, node) if item], "has inputs that are divided"
                                  " along different axes")
        if name and layout is None:
            if not pieces:
                walk.divide_input(name, axis)
            inputs[place] = walk.take(node, name, axis, pieces)
    return inputs


@rule("Concat")
def concat(walk: Walk, node: Any) -> None:
    layouts = [item for item in layouts_of(walk, node) if item]
    axis = attribute(node, "axis")
    known = next(name for name in node.input if walk.layout(name))
    layout = walk.layouts[known]
    if (axis if axis < 0 else axis - rank_of(walk, node, known)) == layout.axis:
        raise walk.need_whole(node, layouts, "joins values along an axis that is divided")
    inputs = divide_others(walk, node, range(len(node.input)), layout.axis, layout.pieces)
    walk.copy(node, inputs)
    state = any(item.state for item in layouts)
    walk.set_layout(node.output[0], Layout(layout.axis, layout.pieces, sources_of(layouts), state))


@rule("TensorScatter")
def tensor_scatter(walk: Walk, node: Any) -> None:
    layouts = [item for item in layouts_of(walk, node) if item]
    layout = layouts[0]
    if walk.layout(given(node, 2)) or from_end(walk, node, attribute(node, "axis", -2)) == layout.axis:
        raise walk.need_whole(node, layouts, "writes rows along an axis that is divided")
    inputs = divide_others(walk, node, (0, 1), layout.axis, layout.pieces)
    walk.copy(node, inputs)
    walk.set_layout(node.output[0], Layout(layout.axis, layout.pieces, sources_of(layouts), True))


@rule("Expand")
def expand(walk: Walk, node: Any) -> None:
    layout = walk.layout(node.input[0])
    target = walk.facts.numbers(node.input[1])
    if layout is None or target is None:
        raise walk.refuse(node, "its shape is not known, and its input is divided among the ranks")
    place = len(target) + layout.axis
    walk.copy(node, {1: walk.divided_shape(node, node.input[1], place, len(target))} if place >= 0 else {})
    walk.set_layout(node.output[0], layout._replace(state=False))


@rule("Shape")
def shape_of(walk: Walk, node: Any) -> None:
    """The shape of the whole value."""
    layout = walk.layouts[node.input[0]]
    rank = rank_of(walk, node, node.input[0])
    places = list(range(rank))[attribute(node, "start", 0): attribute(node, "end")]
    new = walk.copy(node)
    if rank + layout.axis in places:
        factors = numpy.array([walk.ranks if place == rank + layout.axis else 1 for place in places])
        new.output[0] = walk.new_name(node.output[0])
        inputs = [new.output[0], walk.same_constant(node.output[0], factors)]
        walk.emit("Mul", inputs, node.output[0], node.name + "/Mul")


# ---- rows ----


@rule("Softmax", "LogSoftmax", "Hardmax", "LpNormalization")
def along_axis(walk: Walk, node: Any) -> None:
    layout = walk.layouts[node.input[0]]
    old = walk.facts.opset < 13 and node.op_type != "LpNormalization"
    axis = from_end(walk, node, attribute(node, "axis", 1 if old else -1))
    if layout.axis == axis or old and layout.axis > axis:
        raise walk.need_whole(node, [layout], "computes with all elements along the axis that is divided")
    walk.copy(node)
    walk.set_layout(node.output[0], layout._replace(state=False))


@rule("LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization")
@rule(f"{MICROSOFT}:SimplifiedLayerNormalization")
def normalise(walk: Walk, node: Any) -> None:
    layouts = [item for item in layouts_of(walk, node) if item]
    layout = walk.layout(node.input[0])
    if layout is None or len(layouts) > 1 or layout.axis >= from_end(walk, node, attribute(node, "axis", -1)):
        raise walk.need_whole(node, layouts, "normalises along the axis that is divided")
    walk.copy(node)
    for name in node.output:
        walk.set_layout(name, layout._replace(state=False))


def wants_whole(walk: Walk, node: Any) -> None:
    raise walk.need_whole(node, [item for item in layouts_of(walk, node) if item], "needs whole inputs")


for _op in ("ArgMax", "ArgMin", "CumSum", "TopK", f"{MICROSOFT}:SkipLayerNormalization", "DynamicQuantizeLinear",
            f"{MICROSOFT}:SkipSimplifiedLayerNormalization", f"{MICROSOFT}:EmbedLayerNormalization"):
    RULES[_op] = wants_whole


def reduction(walk: Walk, node: Any) -> None:
    layout = walk.layouts[node.input[0]]
    found = walk.facts.reduced(node)
    if found is None or layout.axis in found[0]:
        if found is None or node.op_type != "ReduceSum":
            raise walk.need_whole(node, [layout], "computes with all elements along the axis that is divided")
        walk.reduce(node, walk.copy(node))
        return
    axes, keeps = found
    walk.copy(node)
    moved = 0 if keeps else sum(axis > layout.axis for axis in axes)
    walk.set_layout(node.output[0], layout._replace(axis=layout.axis + moved, state=False))


for _op in REDUCTIONS:
    RULES[_op] = reduction
