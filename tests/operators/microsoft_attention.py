"""Random attentions of com.microsoft, as models of one node (tests/lib/models.py), with the results that are expected: microsoft_attention.py
SEED COUNT prints the names of the models that it has written."""
import sys

import models
import numpy
from models import numbers


def draw(probability):
    return models.random.random() < probability


def whole(least, most):
    return int(models.random.integers(least, most + 1))


def heads_of(rows, heads):
    """[batch, rows, heads * width] as [batch, heads, rows, width]."""
    return rows.reshape(*rows.shape[:2], heads, -1).swapaxes(1, 2)


def attend(q, k, v, scale, added, softcap=0.0, sinks=None):
    """Of [batch, heads, rows, width]; `added` is broadcast to [batch, heads, rows, keys]. Sinks are scores of one more key."""
    group = q.shape[1] // k.shape[1]
    k, v = (numpy.repeat(a, group, 1).astype(float) for a in (k, v))
    scores = numpy.einsum("bhid,bhjd->bhij", q.astype(float), k) * scale
    scores = softcap * numpy.tanh(scores / softcap) if softcap else scores
    scores = scores + added
    most = scores.max(-1, keepdims=True)
    weights = numpy.exp(scores - most)
    rest = 0 if sinks is None else numpy.exp(sinks[:, None, None] - most)
    y = (weights / (weights.sum(-1, keepdims=True) + rest)) @ v
    return y.swapaxes(1, 2).reshape(y.shape[0], y.shape[2], -1)


def rotate(rows, positions, cosines, sines, interleaved):
    """Of [batch, heads, rows, width], at positions [batch, rows]."""
    half = cosines.shape[1]
    c, s = cosines[positions][:, None].astype(float), sines[positions][:, None].astype(float)
    a, b = (rows[..., 0::2], rows[..., 1::2]) if interleaved else (rows[..., :half], rows[..., half:])
    turned = numpy.empty(rows.shape)
    if interleaved:
        turned[..., 0::2], turned[..., 1::2] = a * c - b * s, a * s + b * c
    else:
        turned[..., :half], turned[..., half:] = a * c - b * s, a * s + b * c
    return turned


def group(name):
    """Prompts, of which rows of padding at the end count, and steps, with past rows before the new ones or in one buffer."""
    key_heads, width, batch = whole(1, 3), 2 * whole(2, 5), whole(1, 3)
    heads, prompt, buffer, packed = key_heads * whole(1, 3), draw(0.4), draw(0.5), draw(0.3)
    past = 0 if prompt else whole(1, 8)
    rows = whole(1, 6)
    total = past + rows
    capacity = total + whole(0, 4) if buffer else past
    counts = numpy.full(batch, total)
    if prompt or buffer:
        counts = models.random.integers(1 if prompt else rows, total + 1, batch)
    begins = numpy.zeros(batch, int) if prompt else counts - rows
    q, k, v = numbers(batch, rows, heads * width), numbers(batch, rows, key_heads * width), numbers(batch, rows, key_heads * width)
    operands = {"q": numpy.concatenate([q, k, v], -1)} if packed else {"q": q, "k": k, "v": v}
    order = ["q", "", ""] if packed else ["q", "k", "v"]
    past_k, past_v = numbers(batch, key_heads, capacity, width), numbers(batch, key_heads, capacity, width)
    if capacity:
        operands |= {"pk": past_k, "pv": past_v}
    order += ["pk", "pv"] if capacity else ["", ""]
    operands |= {"last": (counts - 1).astype(numpy.int32), "total": numpy.array(total, numpy.int32)}
    order += ["last", "total"]
    attributes = {"num_heads": heads, "kv_num_heads": key_heads}
    at = begins[:, None] + numpy.arange(rows)
    q, k, v = heads_of(q, heads), heads_of(k, key_heads), heads_of(v, key_heads)
    if draw(0.5):
        table = numbers(2, total + 9, width // 2)
        interleaved = whole(0, 1)
        attributes |= {"do_rotary": 1, "rotary_interleaved": interleaved}
        operands |= {"c": table[0], "s": table[1]}
        order += ["c", "s"]
        places = at
        if draw(0.3):
            operands["places"] = models.random.integers(0, 9, (batch, rows))
            order.append("places")
            places = operands["places"][0, 0] + numpy.arange(rows) + 0 * at if prompt else operands["places"]
        q, k = (rotate(a, places, *table, interleaved) for a in (q, k))
    present = [numpy.zeros((batch, key_heads, max(capacity, total), width)) for _ in range(2)]
    for b in range(batch):
        for whole_rows, before, new in zip(present, (past_k, past_v), (k, v)):
            whole_rows[b, :, :capacity] = before[b]
            whole_rows[b, :, begins[b]:begins[b] + rows] = new[b]
    keys = numpy.arange(max(capacity, total))
    seen = keys <= at[..., None]
    if draw(0.4):
        attributes["local_window_size"] = whole(1, 5)
        seen &= keys > at[..., None] - attributes["local_window_size"]
    added = numpy.where(seen, 0, -numpy.inf)[:, None]
    if draw(0.25):
        bias = numbers(batch if draw(0.5) else 1, heads if draw(0.5) else 1, rows, total)
        operands["bias"] = bias
        order += [""] * (10 - len(order)) + ["bias"]
        added = added + numpy.pad(bias, ((0, 0), (0, 0), (0, 0), (0, len(keys) - total)))
    if draw(0.2):
        attributes["softcap"] = 2.0
    if draw(0.2):
        attributes["scale"] = 0.3
    sinks = None
    if draw(0.2):
        operands["sink"] = sinks = numbers(heads)
        order += [""] * (11 - len(order)) + ["sink"]
    elif draw(0.2):
        attributes["smooth_softmax"] = 1
        sinks = numpy.zeros(heads)
    y = attend(q, *present, attributes.get("scale", width ** -0.5), added, attributes.get("softcap", 0), sinks)
    models.save(name, "GroupQueryAttention", operands, {"y": y, "nk": present[0], "nv": present[1]}, attributes, order,
                models.MICROSOFT, constants=("total",))


def mask_of(batch, rows, keys, forms):
    """An operand and its summand of the scores."""
    form = forms[whole(0, len(forms) - 1)]
    if form == "counts":
        counts = models.random.integers(1, keys + 1, batch).astype(numpy.int32)
        return counts, numpy.where(numpy.arange(keys) < counts[:, None], 0, -10000)[:, None, None]
    mask = models.random.integers(0, 2, (batch, keys) if form == "keys" else (batch, rows, keys)).astype(numpy.int32)
    mask[..., 0] = 1  # a query without keys adds -10000 to all scores, which rounds them
    added = numpy.where(mask > 0, 0, -10000)
    return mask, added[:, None, None] if form == "keys" else added[:, None]


def causal(rows, past, keys):
    return numpy.where(numpy.arange(keys) <= past + numpy.arange(rows)[:, None], 0, -numpy.inf)


def multi(name):
    """Queries, keys and values side by side, keys and values side by side, by heads, or apart, with a bias and past rows."""
    form = ["apart", "queries", "keys", "heads"][whole(0, 3)]
    heads, width, batch, rows = whole(1, 4), whole(1, 6), whole(1, 3), whole(1, 5)
    value_width = width if form in ("queries", "keys") else whole(1, 6)
    new = rows if form == "queries" else whole(1, 5)
    q, k = numbers(batch, heads, rows, width), numbers(batch, heads, new, width)
    v = numbers(batch, heads, new, value_width)
    flat = [numpy.ascontiguousarray(a.swapaxes(1, 2)).reshape(batch, a.shape[2], -1) for a in (q, k, v)]
    operands = {
        "apart": lambda: {"q": flat[0], "k": flat[1], "v": flat[2]},
        "queries": lambda: {"q": numpy.stack([q, k, v], 3).transpose(0, 2, 1, 3, 4)},
        "keys": lambda: {"q": flat[0], "k": numpy.stack([k, v], 3).transpose(0, 2, 1, 3, 4)},
        "heads": lambda: {"q": flat[0], "k": k, "v": v},
    }[form]()
    operands = {n: numpy.ascontiguousarray(a) for n, a in operands.items()}
    order = list(operands) + [""] * (3 - len(operands))
    attributes, results, past = {"num_heads": heads}, {}, 0
    order.append("")
    if form == "apart" and draw(0.5):
        operands["bias"] = bias = numbers(heads * (2 * width + value_width))
        order[3] = "bias"
        cuts = numpy.split(bias, [heads * width, 2 * heads * width])
        q, k, v = (heads_of(a + b, heads) for a, b in zip(flat, cuts))
    befores = []
    if form == "apart" and draw(0.5):
        past = whole(1, 4)
        befores = [numbers(batch, heads, past, width), numbers(batch, heads, past, value_width)]
        k, v = (numpy.concatenate(pair, 2) for pair in zip(befores, (k, v)))
        results = {"nk": k, "nv": v}
    keys, added = past + new, 0.0
    order += ["", ""]
    if draw(0.5):
        operands["mask"], added = mask_of(batch, rows, keys, ["counts", "keys", "rows"])
        order[4] = "mask"
    if draw(0.4):
        operands["added"] = numbers(1 if draw(0.5) else batch, 1 if draw(0.5) else heads, rows, keys)
        added, order[5] = added + operands["added"], "added"
    for n, before in zip(("pk", "pv"), befores):
        operands[n] = before
        order.append(n)
    if form == "apart" and (past or new == rows) and draw(0.4):
        attributes["unidirectional"] = 1
        added = added + causal(rows, past, keys)
    if draw(0.3):
        attributes["scale"] = 0.4
    results = {"y": attend(q, k, v, attributes.get("scale", width ** -0.5), added)} | results
    models.save(name, "MultiHeadAttention", operands, results, attributes, order, models.MICROSOFT)


def attention(name):
    """From the product on; the weights are f32, or numbers of 8 bits (QAttention)."""
    heads, width, batch, rows, depth = whole(1, 4), whole(1, 6), whole(1, 3), whole(1, 5), whole(2, 8)
    quantised, before = draw(0.4), draw(0.4)
    value_width = width if before else whole(1, 6)
    sizes = [heads * width, heads * width, heads * value_width]
    attributes, past, added = {"num_heads": heads}, 0, 0.0
    if value_width != width:
        attributes["qkv_hidden_sizes"] = sizes
    bias = numbers(sum(sizes))
    if quantised:
        x = models.random.integers(0, 256, (batch, rows, depth)).astype(numpy.uint8)
        w = models.random.integers(-128, 128, (depth, sum(sizes))).astype(numpy.int8)
        scale, zero = numpy.array(0.01, numpy.float32), numpy.array(120, numpy.uint8)
        scales = (0.01 + models.random.random(sum(sizes)) / 50).astype(numpy.float32) if draw(0.5) else numpy.array(0.02, numpy.float32)
        product = (x.astype(float) - zero) @ w * (scale * scales.astype(float)) + bias
        operands = {"x": x, "w": w, "bias": bias, "xs": scale, "ws": scales}
        constants = ("w", "ws", "xs")
    else:
        x, w = numbers(batch, rows, depth), numbers(depth, sum(sizes))
        product = x.astype(float) @ w + bias
        operands, constants = {"x": x, "w": w, "bias": bias}, ("w",)
    q, k, v = (heads_of(a, heads) for a in numpy.split(product, numpy.cumsum(sizes)[:2], -1))
    results = {}
    if before:
        past = whole(1, 4)
        rows_before = numbers(2, batch, heads, past, width)
        k, v = (numpy.concatenate(pair, 2) for pair in zip(rows_before, (k, v)))
        results = {"present": numpy.stack([k, v])}
    keys = past + rows
    order = list(operands) + [""]
    if draw(0.6):
        operands["mask"], added = mask_of(batch, rows, keys, ["counts", "keys", "rows"])
        order[-1] = "mask"
    if quantised:
        operands["xz"] = zero
        order += ["xz", ""]
    if before:
        operands["past"] = rows_before
        order.append("past")
    if draw(0.4):
        attributes["unidirectional"] = 1
        added = added + causal(rows, past, keys)
    results = {"y": attend(q, k, v, width ** -0.5, added)} | results
    if quantised:
        results = {n: a.astype(numpy.float32) for n, a in results.items()}
    models.save(name, "QAttention" if quantised else "Attention", operands, results, attributes, order, models.MICROSOFT,
                constants=constants)


def packed(name):
    """PackedAttention: rows of padding are left out."""
    batch, heads, width, most = whole(1, 3), whole(1, 3), whole(1, 6), whole(1, 6)
    counts = models.random.integers(1, most + 1, batch)
    places = numpy.concatenate([b * most + numpy.arange(n) for b, n in enumerate(counts)])
    rest = numpy.setdiff1d(numpy.arange(batch * most), places)
    x, w, bias = numbers(len(places), 5), numbers(5, 3 * heads * width), numbers(3 * heads * width)
    full = numpy.zeros((batch * most, 3 * heads * width))
    full[places] = x.astype(float) @ w + bias
    q, k, v = (heads_of(a, heads) for a in numpy.split(full.reshape(batch, most, -1), 3, -1))
    added = numpy.where(numpy.arange(most) < counts[:, None], 0, -numpy.inf)[:, None, None]
    offsets = numpy.concatenate([places, rest]).reshape(batch, most).astype(numpy.int32)
    ends = numpy.concatenate([[0], numpy.cumsum(counts)]).astype(numpy.int32)
    y = attend(q, k, v, width ** -0.5, added).reshape(batch * most, -1)[places]
    models.save(name, "PackedAttention", {"x": x, "w": w, "bias": bias, "offsets": offsets, "ends": ends}, {"y": y},
                {"num_heads": heads}, None, models.MICROSOFT)


def distances(name):
    """RelativePositionBias, by T5's formula."""
    both, buckets, most, rows, keys, heads = whole(0, 1), 2 * whole(2, 16), whole(40, 128), whole(1, 40), whole(1, 70), whole(1, 3)
    table = numbers(buckets, heads)
    far = numpy.arange(keys) - numpy.arange(rows)[:, None]
    own = buckets // 2 if both else buckets
    first = numpy.where(far > 0, own, 0) if both else 0
    far = abs(far) if both else numpy.maximum(-far, 0)
    exact = own // 2
    large = exact + (numpy.log(numpy.maximum(far, 1) / exact) / numpy.log(most / exact) * (own - exact) - 1e-9).astype(int)
    place = first + numpy.where(far < exact, far, numpy.minimum(large, own - 1))
    models.save(name, "RelativePositionBias", {"table": table, "rows": numpy.array([rows]), "keys": numpy.array([keys])},
                {"y": table[place].transpose(2, 0, 1)[None]}, {"max_distance": most, "is_bidirectional": both}, None, models.MICROSOFT,
                constants=("rows", "keys"))


models.random = numpy.random.default_rng(int(sys.argv[1]))
for number in range(int(sys.argv[2])):
    kind = (group, multi, attention, group, packed, distances)[number % 6]
    kind(f"{kind.__name__}{number}")
    print(f"{kind.__name__}{number}")
