"""Rules of sharding for attention: heads are divided among ranks."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence

import numpy

from .shard_facts import MICROSOFT, attribute
from .shard_rules import divide_others, from_end, given, layouts_of, rank_of, rule, sources_of
from .sharding import Layout, Walk


def divided_layouts(walk: Walk, node: Any) -> List[Layout]:
    return [layout for layout in layouts_of(walk, node) if layout]


def divide_bias(walk: Walk, node: Any, place: int, inputs: Dict[int, str]) -> None:
    """A mask or a bias of scores, [batch, heads, queries, keys], may have an axis of heads."""
    name = given(node, place)
    layout, shape = walk.layout(name), walk.facts.of(name) if name else None
    if layout is not None and layout.axis != -3:
        raise walk.need_whole(node, divided_layouts(walk, node), "has a mask that is not divided by heads")
    if name and shape is None:
        raise walk.refuse(node, f"the shape of its input '{name}' is not known")
    if layout is None and shape is not None and len(shape) >= 3 and shape[-3] != 1:
        inputs[place] = walk.take(node, name, -3)


def refuse_heads(walk: Walk, node: Any, shared: int) -> Exception:
    heads = "1 head" if shared == 1 else f"{shared} heads"
    return walk.refuse(
        node,
        f"{heads} of keys and values cannot be divided among {walk.ranks} ranks, as its heads of queries are;"
        f" --whole {node.name!r} leaves the attention whole",
    )


def leaves_whole(walk: Walk, node: Any) -> None:
    """An attention that is to stay whole needs whole inputs."""
    if walk.stays_whole(node):
        raise walk.need_whole(node, divided_layouts(walk, node), "is to stay whole")


def one_head(walk: Walk, node: Any, name: str, axis: int, shared: int) -> str:
    """The only head of keys or values that the heads of queries of a rank need, if there are fewer than ranks."""
    shape = walk.facts.of(name)
    if shape is None or shape[axis] is None:
        raise walk.refuse(node, f"the shape of its input '{name}' is not known")
    width, ranks = (shape[axis] or 0) // shared, walk.ranks

    def bound(end: int) -> Callable[[int], Any]:
        return lambda rank: numpy.array([(rank * shared // ranks + end) * width])

    bounds = [walk.constant_for(name, bound(end)) for end in (0, 1)]
    axes, output = walk.same_constant(name, numpy.array([axis])), walk.new_name(name)
    return walk.emit("Slice", [name, *bounds, axes], output, f"{node.name}/{output}")


# ---- ONNX ----


def heads_of(walk: Walk, node: Any, place: int, flat: Optional[str]) -> int:
    """The number of heads of queries (0) or keys (1)."""
    if flat is not None:
        return int(attribute(node, flat))
    shape = walk.facts.of(node.input[place])
    if shape is None or shape[-3] is None:
        raise walk.refuse(node, f"the number of heads of its input '{node.input[place]}' is not known")
    return shape[-3] or 0


@rule("Attention")
def attention(walk: Walk, node: Any) -> None:
    leaves_whole(walk, node)
    layouts, divided = layouts_of(walk, node), divided_layouts(walk, node)
    flat = rank_of(walk, node, node.input[0]) == 3
    axis = -1 if flat else -3
    if layouts[0] is None or any(item and (item.axis != axis or item.pieces) for item in layouts[:3]):
        raise walk.need_whole(node, divided, "has queries, keys and values that are not divided by heads")
    heads = heads_of(walk, node, 0, "q_num_heads" if flat else None)
    shared = heads_of(walk, node, 1, "kv_num_heads" if flat else None)
    if heads % walk.ranks:
        raise walk.need_whole(node, divided, f"has {heads} heads, which {walk.ranks} ranks cannot divide")
    inputs: Dict[int, str] = {}
    parted = shared % walk.ranks == 0
    for place in (1, 2):
        if parted:
            inputs.update(divide_others(walk, node, (place,), axis, ()))
        elif layouts[place] is not None:
            keys = [item for item in layouts[1:3] if item]
            raise walk.need_whole(node, keys, f"has {shared} heads of keys and values")
        elif walk.ranks % shared or given(node, 4):
            raise refuse_heads(walk, node, shared)
        elif shared > 1:
            inputs[place] = one_head(walk, node, node.input[place], axis, shared)
    divide_bias(walk, node, 3, inputs)
    inputs.update(divide_others(walk, node, (4, 5), -3, ()))
    local = {"q_num_heads": heads // walk.ranks, "kv_num_heads": shared // walk.ranks if parted else 1} if flat else {}
    walk.copy(node, inputs, **local)
    sources = sources_of(divided)
    for place, name in enumerate(node.output):
        walk.set_layout(name, Layout(axis if place == 0 else -3, (), sources, place in (1, 2)))


@rule("RotaryEmbedding", f"{MICROSOFT}:RotaryEmbedding")
def rotate(walk: Walk, node: Any) -> None:
    layout = walk.layout(node.input[0])
    divided = divided_layouts(walk, node)
    if layout is None or len(divided) > 1 or layout.pieces:
        raise walk.need_whole(node, divided, "needs whole angles and one piece")
    rank, heads = rank_of(walk, node, node.input[0]), attribute(node, "num_heads", 0)
    local = {}
    if rank == 3 and layout.axis == -1:
        if not heads:  # com.microsoft has two angles less in its tables than elements in a head
            shape = walk.facts.of(node.input[0])
            tables = [walk.facts.of(name) for name in node.input if name]
            table = tables[2] if len(tables) > 2 else None
            if shape is None or shape[-1] is None or table is None or not table[-1]:
                raise walk.refuse(node, "the number of its heads is not known")
            heads = shape[-1] // (2 * table[-1])
        if heads % walk.ranks:
            raise walk.need_whole(node, divided, f"has {heads} heads, which {walk.ranks} ranks cannot divide")
        local = {"num_heads": heads // walk.ranks} if attribute(node, "num_heads", 0) else {}
    elif layout.axis > -3:
        raise walk.need_whole(node, divided, "rotates along the axis that is divided")
    walk.copy(node, **local)
    walk.set_layout(node.output[0], layout._replace(state=False))


# ---- com.microsoft ----


@rule(f"{MICROSOFT}:GroupQueryAttention")
def group_query_attention(walk: Walk, node: Any) -> None:
    leaves_whole(walk, node)
    layouts, divided = layouts_of(walk, node), divided_layouts(walk, node)
    heads, shared = attribute(node, "num_heads"), attribute(node, "kv_num_heads")
    queries, keys = layouts[0], [item for item in layouts[1:3] if item]
    if queries is None or queries.axis != -1 or any((item.axis, item.pieces) != (-1, ()) for item in keys):
        raise walk.need_whole(node, divided, "has queries, keys and values that are not divided by heads")
    if heads % walk.ranks:
        raise walk.need_whole(node, divided, f"has {heads} heads, which {walk.ranks} ranks cannot divide")
    if shared % walk.ranks:
        raise refuse_heads(walk, node, shared)
    if not given(node, 1):
        shape = walk.facts.of(node.input[0])
        if shape is None or shape[-1] is None:
            raise walk.refuse(node, f"the shape of its input '{node.input[0]}' is not known")
        width = shape[-1] // (heads + 2 * shared)
        pieces = (heads * width, shared * width, shared * width)
        if queries.pieces != pieces:
            raise walk.want_pieces(node, queries, pieces)
    elif queries.pieces:
        raise walk.need_whole(node, divided, "has queries of several pieces")
    inputs = divide_others(walk, node, (1, 2), -1, ())
    inputs.update(divide_others(walk, node, (3, 4), -3, ()))
    divide_bias(walk, node, 10, inputs)
    inputs.update(divide_others(walk, node, (11,), -1, ()))
    walk.copy(node, inputs, num_heads=heads // walk.ranks, kv_num_heads=shared // walk.ranks)
    set_outputs(walk, node, divided)


def set_outputs(walk: Walk, node: Any, divided: Sequence[Layout]) -> None:
    """A result, then the states of keys and values."""
    for place, name in enumerate(node.output):
        walk.set_layout(name, Layout(-3 if place else -1, (), sources_of(divided), place in (1, 2)))


@rule(f"{MICROSOFT}:MultiHeadAttention")
def multi_head_attention(walk: Walk, node: Any) -> None:
    leaves_whole(walk, node)
    layouts, divided = layouts_of(walk, node), divided_layouts(walk, node)
    heads = attribute(node, "num_heads")
    if any(rank_of(walk, node, given(node, place)) != 3 for place in (0, 1, 2) if given(node, place)):
        raise walk.refuse(node, "queries, keys and values of other than 3 dimensions cannot be divided")
    if layouts[0] is None or any(item and (item.axis, item.pieces) != (-1, ()) for item in layouts[:3]):
        raise walk.need_whole(node, divided, "has queries, keys and values that are not divided by heads")
    if heads % walk.ranks:
        raise walk.need_whole(node, divided, f"has {heads} heads, which {walk.ranks} ranks cannot divide")
    inputs = divide_others(walk, node, (1, 2), -1, ())
    if given(node, 3):
        shapes = [walk.facts.of(node.input[place]) for place in (0, 1, 2)]
        sizes = [shape[-1] if shape is not None else None for shape in shapes]
        if None in sizes:
            raise walk.refuse(node, "the sizes of its queries, keys and values are not known")
        inputs[3] = walk.take(node, node.input[3], -1, tuple(size or 0 for size in sizes))
    divide_bias(walk, node, 5, inputs)
    inputs.update(divide_others(walk, node, (6, 7), -3, ()))
    walk.copy(node, inputs, num_heads=heads // walk.ranks)
    set_outputs(walk, node, divided)


@rule(f"{MICROSOFT}:Attention", begins=True)
def attention_with_weights(walk: Walk, node: Any) -> None:
    divided, shape = divided_layouts(walk, node), walk.facts.of(node.input[1])
    heads, sizes = attribute(node, "num_heads"), attribute(node, "qkv_hidden_sizes")
    if walk.layout(node.input[0]):
        raise walk.need_whole(node, divided, "needs a whole input")
    if shape is None or shape[-1] is None or not walk.is_constant(node.input[1]) or walk.stays_whole(node):
        walk.copy(node)
        return
    if heads % walk.ranks:
        walk.choices.whole[node.name] = f"its {heads} heads cannot be divided among {walk.ranks} ranks"
        walk.copy(node)
        return
    pieces = tuple(sizes or [shape[-1] // 3] * 3)
    inputs = {1: walk.part(node.input[1], -1, pieces)}
    if given(node, 2):
        inputs[2] = walk.take(node, node.input[2], -1, pieces)
    inputs.update(divide_others(walk, node, (4,), -3, ()))
    divide_bias(walk, node, 5, inputs)
    parts = {"qkv_hidden_sizes": [size // walk.ranks for size in sizes]} if sizes else {}
    walk.copy(node, inputs, num_heads=heads // walk.ranks, **parts)
    own = frozenset([node.name]) | sources_of(divided)
    walk.set_layout(node.output[0], Layout(-1, (), own))
    for name in node.output[1:]:
        walk.set_layout(name, Layout(-3, (), own, True))
