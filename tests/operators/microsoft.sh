#!/bin/bash
# Operators of com.microsoft, against numpy in double precision: fused ones, and products with numbers of 4 bits.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
cat >microsoft.py <<'PY'
import functools, math, numpy, models
from models import numbers, random

save = functools.partial(models.save, domain=models.MICROSOFT)

x, s, g, b, i = numbers(2, 3, 16), numbers(2, 3, 16), numbers(16), numbers(16), numbers(16)
total = x.astype(float) + s + i
off = total - total.mean(-1, keepdims=True)
y = off / numpy.sqrt((off ** 2).mean(-1, keepdims=True) + 1e-3) * g + b
save("skip", "SkipLayerNormalization", {"x": x, "s": s, "g": g, "b": b, "i": i}, {"y": y, "t": total}, {"epsilon": 1e-3},
     outputs=["y", "", "", "t"])
total = x.astype(float) + s[:1]
y = total / numpy.sqrt((total ** 2).mean(-1, keepdims=True) + 1e-3) * g
save("simple", "SkipSimplifiedLayerNormalization", {"x": x, "s": s[:1], "g": g}, {"y": y}, {"epsilon": 1e-3})
y = x / numpy.sqrt((x.astype(float) ** 2).mean(-1, keepdims=True) + 1e-3) * g
save("simplified", "SimplifiedLayerNormalization", {"x": x, "g": g}, {"y": y}, {"epsilon": 1e-3, "axis": -1}, domain="")
z = x.astype(float) + b
save("fast", "FastGelu", {"x": x, "b": b}, {"y": z / 2 * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z ** 3)))}, {})
save("bias", "BiasGelu", {"x": x, "b": b}, {"y": z / 2 * (1 + numpy.vectorize(math.erf)(z / math.sqrt(2)))}, {})
z = x.astype(float)
save("gelu", "Gelu", {"x": x}, {"y": z / 2 * (1 + numpy.vectorize(math.erf)(z / math.sqrt(2)))}, {})
save("quick", "QuickGelu", {"x": x}, {"y": x / (1 + numpy.exp(-1.5 * x.astype(float)))}, {"alpha": 1.5})

def nbits(name, m, k, n, size, zeros, bias, dtype=numpy.float32):
    blocks = -(-k // size)
    a, scales = numbers(*m, k).astype(dtype), numbers(n, blocks).astype(dtype)
    values = random.integers(0, 16, (n, blocks, size))
    zero = random.integers(0, 16, (n, blocks + blocks % 2)) if zeros else numpy.full((n, blocks), 8)
    matrix = ((values - zero[:, :blocks, None]) * scales.astype(float)[:, :, None]).reshape(n, -1)[:, :k]
    y = a.astype(float) @ matrix.T
    operands = {"x": a, "q": (values[..., ::2] | values[..., 1::2] << 4).astype(numpy.uint8), "s": scales}
    if zeros:
        operands["z"] = (zero[:, ::2] | zero[:, 1::2] << 4).astype(numpy.uint8)
    if bias:
        operands["b"] = numbers(n).astype(dtype)
        y = y + operands["b"]
    order = ["x", "q", "s", "z" if zeros else "", "", "b" if bias else ""]
    while not order[-1]:
        order.pop()
    save(name, "MatMulNBits", operands, {"y": y}, {"K": k, "N": n, "bits": 4, "block_size": size}, order)

nbits("token", (1, 1), 200, 33, 32, False, False)
nbits("zeros", (1,), 256, 16, 64, True, True)
nbits("rows", (2, 3), 100, 7, 16, True, False)
nbits("halves", (3,), 64, 5, 16, False, True, numpy.float16)

def turned(name, order, flat, offset):
    x, c, s = numbers(2, 3, 4, 8), numbers(9, 4), numbers(9, 4)
    at = numpy.array([5]) if offset else random.integers(0, 9, (2, 4))
    rows = numpy.arange(4)[None] + at if offset else at
    cosines, sines, a, b = c[rows][:, None], s[rows][:, None], x[..., :4], x[..., 4:]
    y = numpy.concatenate([a * cosines - b * sines, a * sines + b * cosines], -1)
    if flat:
        x, y = (array.swapaxes(1, 2).reshape(2, 4, 24) for array in (x, numpy.broadcast_to(y, x.shape)))
    save(name, "RotaryEmbedding", {"x": numpy.ascontiguousarray(x), "p": at, "c": c, "s": s}, {"y": y}, {})

turned("offset", None, False, True)
turned("flat", None, True, False)

x = numbers(1, 64)
q, s = numpy.zeros((5, 2, 16), numpy.uint8), numbers(5, 2)
save("bad0", "MatMulNBits", {"x": x, "q": q, "s": s}, {"y": x}, {"K": 64, "N": 5, "bits": 2, "block_size": 32})
save("bad1", "MatMulNBits", {"x": x, "q": q, "s": s}, {"y": x}, {"K": 64, "N": 5, "bits": 4, "block_size": 25})
save("bad2", "MatMulNBits", {"x": x, "q": q, "s": s}, {"y": x}, {"K": 64, "N": 6, "bits": 4, "block_size": 32})
save("bad3", "MatMulNBits", {"x": x, "q": q, "s": s[:, :1]}, {"y": x}, {"K": 64, "N": 5, "bits": 4, "block_size": 32})
save("bad4", "SkipLayerNormalization", {"x": x, "s": x, "g": numbers(64)}, {"y": x, "mean": x}, {})
PY
"$python" microsoft.py
agrees --cores=3 skip simple simplified fast bias gelu quick token zeros rows halves offset flat
refusals <<'END'
numbers of 2 bits are not supported, only of 4 and 8$
blocks cannot have 25 elements$
'q' is \[5, 2, 16\], which does not fit to K, N and block_size, or to 'x'$
's' is f32 with 5 elements, and f32 with 10 is needed$
means and deviations are for training, and are not kept$
END
