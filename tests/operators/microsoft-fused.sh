#!/bin/bash
# Fused, quantised and attention operators of com.microsoft: random nodes against numpy, on one core and on three, with
# guarded memory; and refusals.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
"$python" "$top_srcdir/tests/operators/microsoft_attention.py" ${SEED:-1} ${COUNT:-24} >attentions.txt
"$python" "$top_srcdir/tests/operators/microsoft_quantised.py" ${SEED:-1} ${COUNT:-36} >others.txt
agrees "--cores=3 --guard" $(cat attentions.txt others.txt)

cat >refused.py <<'PY'
import functools, numpy, models
from models import numbers

number = 0

def bad(op, operands, attributes={}, order=None, outputs=None):
    global number
    names = {name: numpy.zeros(1, numpy.float32) for name in (outputs or ["y"]) if name}
    models.save(f"bad{number}", op, operands, names, attributes, order, models.MICROSOFT, outputs, [n for n in operands if n in ("total", "q", "k") and operands[n].dtype.kind == "i"])
    number += 1

last = numpy.array([4], numpy.int32)
x, past = numbers(1, 2, 12), numbers(1, 1, 3, 4)
group = {"q": numbers(1, 2, 8), "k": numbers(1, 2, 4), "v": numbers(1, 2, 4), "pk": past, "pv": past, "last": last, "total": numpy.array(5, numpy.int32)}
heads = {"num_heads": 2, "kv_num_heads": 1}
bad("GroupQueryAttention", group | {"total": numpy.array(6, numpy.int32)}, heads)
bad("GroupQueryAttention", group, {"num_heads": 2, "kv_num_heads": 3})
bad("RelativePositionBias", {"t": numbers(8, 2), "q": numpy.array([3]), "k": numpy.array([3])}, {"max_distance": 4})
bad("GroupQueryAttention", group, heads | {"do_rotary": 1})
bad("GroupQueryAttention", {n: group[n] for n in ("q", "k", "last", "total")}, heads, ["q", "k", "", "", "", "last", "total"])
bad("GroupQueryAttention", group, heads | {"local_window_size": 0})
bad("GroupQueryAttention", group, heads | {"k_quant_type": "PER_TENSOR"})
bad("MultiHeadAttention", {"q": x, "k": x}, {"num_heads": 3}, ["q", "k"])
bad("MultiHeadAttention", {"q": x, "k": x, "v": x, "m": numpy.zeros((1, 1, 2, 2), numpy.int32)}, {"num_heads": 3}, ["q", "k", "v", "", "m"])
bad("Attention", {"x": x, "w": numbers(12, 20)}, {"num_heads": 2})
bad("Attention", {"x": x, "w": numbers(12, 24)}, {"num_heads": 2, "qkv_hidden_sizes": [8, 8, 4]})
bad("QLinearSigmoid", {"x": numpy.zeros(3, numpy.int8), "s": numbers(1), "z": numpy.zeros(1, numpy.int8), "t": numbers(1)})
bad("FusedGemm", {"a": numbers(2, 3), "b": numbers(3, 4)}, {"activation": "Softplus"})
bad("FusedConv", {"x": numbers(1, 2, 3, 3), "w": numbers(2, 2, 1, 1)}, {"activation": "Clip"})
bad("BiasSplitGelu", {"x": numbers(2, 3), "b": numbers(3)})
PY
"$python" refused.py
refusals <<'END'
total_sequence_length is neither the sum of the rows of 'pk' and of the queries, nor at most the rows of 'pk'
num_heads 2 is not a multiple of kv_num_heads 3$
't' is not \[buckets, heads\], or max_distance 4 is not above half of the buckets$
do_rotary needs cos_cache and sin_cache, of 2 dimensions each$
keys and values, and past keys and past values, come together$
local_window_size is 0, a window without keys$
quantised caches and qk_output are not supported$
keys or values are absent$
'm' is i32 \[1, 1, 2, 2\], and an i32 \[batch\], \[batch, keys\] or \[batch, rows, keys\] is supported$
the weights do not have the columns of queries, keys and values$
qkv_hidden_sizes do not add up to the 24 columns of the weights$
'x' is i8, and the zero point that would say the type of the result is absent$
activation 'Softplus' is not Clip, Elu, HardSigmoid, HardSwish, LeakyRelu, Relu, Sigmoid or Tanh$
Clip has no least and largest value$
'x' has 3 columns, which are not two halves$
END

# Rows that are appended begin at one place in all batches, and rows in a buffer not before it; another number of keys
# ends the run. So does an id before or after a table.
cat >runs.py <<'PY'
import numpy, models
from models import numbers

past = numbers(2, 1, 3, 4)
operands = {"q": numbers(2, 1, 8), "k": numbers(2, 1, 4), "v": numbers(2, 1, 4), "pk": past, "pv": past, "last": numpy.array([3, 2], numpy.int32),
            "total": numpy.array(4, numpy.int32)}
heads = {"num_heads": 2, "kv_num_heads": 1}
models.save("ragged", "GroupQueryAttention", operands, {"y": operands["q"]}, heads, None, models.MICROSOFT, constants=["total"])
operands |= {"last": numpy.array([1, -1], numpy.int32), "total": numpy.array(3, numpy.int32)}
models.save("before", "GroupQueryAttention", operands, {"y": operands["q"]}, heads, None, models.MICROSOFT, constants=["total"])
for name, place in (("negative", -1), ("large", 5)):
    ids = numpy.array([[1, place]], numpy.int32)
    tables = {"words": numbers(5, 4), "places": numbers(2, 4), "gamma": numbers(4), "beta": numbers(4)}
    models.save(name, "EmbedLayerNormalization", {"ids": ids} | tables, {"y": numbers(1, 2, 4)}, {},
                ["ids", "", "words", "places", "", "gamma", "beta"], models.MICROSOFT)
x, w = numpy.full((2, 256), 20, numpy.float16), numpy.full((3, 256), 20, numpy.float16)
models.save("half", "FusedMatMul", {"x": x, "w": w}, {"y": numpy.full((2, 3), 6400.0)}, {"alpha": 1 / 16, "transB": 1}, None, models.MICROSOFT)
PY
"$python" runs.py
agrees --cores=2 half

# stops NAME TEXT: the run of NAME ends with an error of that text.
stops() {
	"$sklink" "$1.onnx" -L "$top_builddir/kernels" -lskernels -o "$1.sk"
	fails_with "$2" "$skrun" "$1.sk" $(for name in $(sed 's,/.*,,' "$1.names"); do echo "--input $name=$1.$name.npy"; done)
}
stops ragged "task 'the node/seqlens_k [+] 1 is total_sequence_length for each batch'"
stops before "task 'the node/seqlens_k [+] 1 is at least the new rows for each batch'"
stops negative 'kernel sk_gather_.* returned status 1'
stops large 'kernel sk_gather_.* returned status 1'
