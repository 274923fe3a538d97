#!/bin/bash
# Attention and RotaryEmbedding of models: layouts, masks, past keys and values, and errors, against numpy in double
# precision.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
cat >attention.py <<'PY'
import numpy
from models import numbers, random, save

def heads(array, count):
    return array.reshape(*array.shape[:2], count, -1).swapaxes(1, 2) if array.ndim == 3 else array

def attention(q, k, v, mask=None, lengths=None, causal=False, past=0, softcap=0):
    group = q.shape[1] // k.shape[1]
    k, v = numpy.repeat(k.astype(float), group, 1), numpy.repeat(v.astype(float), group, 1)
    scores = q.astype(float) @ k.swapaxes(2, 3) / numpy.sqrt(q.shape[3])
    if softcap:
        scores = softcap * numpy.tanh(scores / softcap)
    if mask is not None:
        scores = scores + (numpy.where(mask, 0, -numpy.inf) if mask.dtype == bool else mask)
    key, query = numpy.arange(k.shape[2]), numpy.arange(q.shape[2])[:, None]
    for batch in range(q.shape[0]):
        limit = k.shape[2] if lengths is None else lengths[batch]
        offset = past if lengths is None else limit - q.shape[2]
        taken = (key < limit) & (key <= query + offset if causal else True)
        scores[batch] = numpy.where(taken, scores[batch], -numpy.inf)
    weights = numpy.exp(scores - scores.max(-1, keepdims=True))
    return (weights / weights.sum(-1, keepdims=True)) @ v

# [batch, rows, heads * elements], some rows; heads that share keys; a mask of bools.
q, k, v = numbers(2, 3, 24), numbers(2, 70, 12), numbers(2, 70, 10)
mask = random.random((2, 1, 3, 70)) < 0.7
y = attention(heads(q, 4), heads(k, 2), heads(v, 2), mask).swapaxes(1, 2).reshape(2, 3, 20)
save("flat", "Attention", {"q": q, "k": k, "v": v, "m": mask}, {"y": y}, {"q_num_heads": 4, "kv_num_heads": 2})
# A token and a cache, of which less is in use in each batch.
q, k, v, lengths = numbers(2, 4, 1, 8), numbers(2, 2, 9, 8), numbers(2, 2, 9, 8), numpy.array([9, 3])
save("cache", "Attention", {"q": q, "k": k, "v": v, "l": lengths}, {"y": attention(q, k, v, None, lengths, True)}, {"is_causal": 1},
     ["q", "k", "v", "", "", "", "l"])
# Keys after past ones, which are outputs; a mask of numbers that ends early.
q, k, v, pk, pv = numbers(1, 6, 10), numbers(1, 6, 10), numbers(1, 6, 6), numbers(1, 2, 5, 5), numbers(1, 2, 5, 3)
mask = numbers(6, 10)
ok, ov = numpy.concatenate([pk, heads(k, 2)], 2), numpy.concatenate([pv, heads(v, 2)], 2)
long_mask = numpy.concatenate([mask, numpy.full((6, 1), -numpy.inf)], 1)
y = attention(heads(q, 2), ok, ov, long_mask, None, True, 5, 3.0).swapaxes(1, 2).reshape(1, 6, 6)
save("past", "Attention", {"q": q, "k": k, "v": v, "m": mask, "pk": pk, "pv": pv}, {"y": y, "ok": ok, "ov": ov},
     {"q_num_heads": 2, "kv_num_heads": 2, "is_causal": 1, "softcap": 3.0})

# Pairs side by side, and with positions; only some elements are turned.
x, cosines, sines = numbers(2, 3, 4, 8), numbers(2, 4, 4), numbers(2, 4, 4)
c, s = cosines[:, None], sines[:, None]
y = numpy.stack([x[..., ::2] * c - x[..., 1::2] * s, x[..., ::2] * s + x[..., 1::2] * c], -1).reshape(x.shape)
save("pairs", "RotaryEmbedding", {"x": x, "c": cosines, "s": sines}, {"y": y}, {"interleaved": 1})
x, cosines, sines, at = numbers(2, 4, 24), numbers(9, 3), numbers(9, 3), random.integers(0, 9, (2, 4))
c, s, parted = cosines[at][:, None], sines[at][:, None], heads(x, 3)
a, b = parted[..., :3], parted[..., 3:6]
y = numpy.concatenate([a * c - b * s, a * s + b * c, parted[..., 6:]], -1).swapaxes(1, 2).reshape(x.shape)
save("positions", "RotaryEmbedding", {"x": x, "c": cosines, "s": sines, "p": at}, {"y": y}, {"num_heads": 3, "rotary_embedding_dim": 6})

# Errors.
def bad(name, op, shapes, attributes, order=None, types=(), outputs=("y",)):
    operands = {n: numpy.zeros(shape, dict(types).get(n, numpy.float32)) for n, shape in shapes.items()}
    save(name, op, operands, {output: numpy.zeros(1) for output in outputs}, attributes, order)

plain = {"q": (1, 2, 3, 4), "k": (1, 2, 5, 4), "v": (1, 2, 5, 4)}
bad("bad0", "Attention", dict(plain, q=(1, 3, 8)), {})
bad("bad1", "Attention", dict(plain, q=(1, 3, 3, 4)), {})
bad("bad2", "Attention", dict(plain, k=(1, 2, 6, 4)), {})
bad("bad3", "Attention", dict(plain, m=(3, 6)), {})
bad("bad4", "Attention", dict(plain, pk=(1, 2, 1, 4)), {}, ["q", "k", "v", "", "pk"])
bad("bad5", "Attention", plain, {"qk_matmul_output_mode": 4}, None, (), ("y", "k2", "v2", "scores"))
bad("bad6", "RotaryEmbedding", {"x": (1, 2, 3, 8), "c": (1, 3, 3), "s": (1, 3, 3)}, {})
bad("bad7", "RotaryEmbedding", {"x": (1, 2, 3, 8), "c": (0, 4), "s": (0, 4), "p": (1, 3)}, {}, None, [("p", numpy.int64)])
bad("bad8", "Attention", dict(plain, q=(1, 2, 3, 0), k=(1, 2, 5, 0)), {})
PY
"$python" attention.py
agrees '--cores=1 --cores=3 --serial' flat cache past pairs positions

# The cost grows with the number of keys: 24 rows, 70 keys of 6 elements and values of 5.
"$skdump" --steps flat.sk >steps.txt
grep -q "sk_attention_f32.*operations $((2 * 24 * 70 * (6 + 5)))" steps.txt || { cat steps.txt;
	fail "attention does not say what it costs"; }
refusals <<'END'
rows of 'q' have 8 elements, which are not 0 heads \('q_num_heads'\)$
3 heads of queries cannot share 2 heads of keys$
batches, or the heads and rows of keys and values, differ$
'm' is \[3, 6\], and a mask for \[1, 2, 3, 5\] is needed$
past keys and past values come together, or not at all$
qk_matmul_output_mode is 4, and 0 to 3 are known$
'c' has cosines for 3 pairs, and heads have 8 elements$
'c' has no rows$
heads of queries have 0 elements, and those of keys 0$
END
