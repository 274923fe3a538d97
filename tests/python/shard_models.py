"""Random models for sklink.shard: each is divided, linked for each rank, run on simulated ranks, and compared with the
model that is not divided. Checks which blocks have been divided.

usage: shard_models.py SKLINK SKRUN KERNELS MODELS SEED"""

import random
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from sklink import shard
from sklink.shard_facts import Refusal

sklink, skrun, kernels = sys.argv[1:4]
MODELS, SEED = int(sys.argv[4]), int(sys.argv[5])
MICROSOFT = "com.microsoft"
TOKENS = 3


class Blocks:
    """A model of blocks, one after the other: each reads x [1, tokens, hidden] and gives a tensor of that shape."""

    def __init__(self, draw, ranks):
        self.draw, self.ranks = draw, ranks
        self.numbers = np.random.default_rng(draw.randrange(1 << 30))
        self.heads, self.width = draw.choice([4, 8]), draw.choice([8, 16])
        self.hidden = self.heads * self.width
        self.nodes, self.weights, self.inputs, self.outputs = [], [], {}, []
        self.count = 0

    def name(self, text):
        self.count += 1
        return f"{text}{self.count}"

    def constant(self, array, text="w"):
        name = self.name(text)
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def weight(self, *shape):
        return self.constant((self.numbers.standard_normal(shape) / shape[-2] ** 0.5).astype(np.float32))

    def vector(self, size):
        return self.constant(self.numbers.standard_normal(size).astype(np.float32))

    def integers(self, *values):
        return self.constant(np.array(values, np.int64), "n")

    def add(self, op, *inputs, count=1, domain="", label="", **attributes):
        names = [self.name("v") for _ in range(count)]
        self.nodes.append(helper.make_node(op, list(inputs), names, self.name(label or op), domain=domain, **attributes))
        return names[0] if count == 1 else names

    def input(self, array):
        name = self.name("in")
        self.inputs[name] = array
        return name

    # ---- blocks ----

    def gated(self, x):
        """Two products, one of them activated; the gate and the other one are sometimes one product."""
        between = self.draw.choice([24, 48])
        if self.draw.random() < 0.5:
            both = self.add("MatMul", x, self.weight(self.hidden, 2 * between))
            gate, up = self.add("Split", both, self.integers(between, between), count=2, axis=-1)
        else:
            gate, up = (self.add("MatMul", x, self.weight(self.hidden, between)) for _ in range(2))
        gate = self.add("Mul", gate, self.add("Sigmoid", gate))
        return self.add("MatMul", self.add("Mul", gate, up), self.weight(between, self.hidden))

    def gemms(self, x):
        turned = self.draw.randrange(2)
        flat = self.add("Reshape", x, self.integers(-1, self.hidden))
        shapes = [(self.hidden, 40), (40, self.hidden)]
        for shape in shapes:
            weights = self.weight(*(shape[::-1] if turned else shape))
            flat = self.add("Gemm", flat, weights, self.vector(shape[1]), transB=turned, beta=self.draw.choice([1.0, 0.5]))
            flat = self.add("Relu", flat) if shape is shapes[0] else flat
        return self.add("Reshape", flat, self.integers(1, -1, self.hidden))

    def parts(self, x, shared):
        """Queries, keys and values, [tokens, heads * width]: three products, or the pieces of one."""
        sizes = [self.hidden, shared * self.width, shared * self.width]
        if self.draw.random() < 0.5:
            all_ = self.add("Add", self.add("MatMul", x, self.weight(self.hidden, sum(sizes))), self.vector(sum(sizes)))
            return self.add("Split", all_, self.integers(*sizes), count=3, axis=2)
        return [self.add("Add", self.vector(size), self.add("MatMul", x, self.weight(self.hidden, size))) for size in sizes]

    def primitive_attention(self, x):
        """As exporters write it, with sizes from Shape, and keys that are repeated for several heads of queries."""
        shared = self.draw.choice([self.heads, self.heads // 2])
        heads = []
        for part, count in zip(self.parts(x, shared), (self.heads, shared, shared)):
            sizes = self.add("Slice", self.add("Shape", part), self.integers(0), self.integers(2))
            sizes = self.add("Concat", sizes, self.integers(count, self.width), axis=0)
            part = self.add("Transpose", self.add("Reshape", part, sizes), perm=[0, 2, 1, 3])
            if count < self.heads:
                part = self.add("Unsqueeze", part, self.integers(2))
                part = self.add("Expand", part, self.integers(1, count, self.heads // count, 1, 1))
                part = self.add("Reshape", part, self.integers(1, self.heads, -1, self.width))
            heads.append(part)
        q, k, v = heads
        scores = self.add("MatMul", q, self.add("Transpose", k, perm=[0, 1, 3, 2]))
        scores = self.add("Mul", scores, self.constant(np.float32(self.width ** -0.5)))
        if self.draw.random() < 0.5:  # a bias of each head
            scores = self.add("Add", scores, self.vector((1, self.heads, TOKENS, TOKENS)))
        y = self.add("MatMul", self.add("Softmax", scores, axis=-1), v)
        y = self.add("Reshape", self.add("Transpose", y, perm=[0, 2, 1, 3]), self.integers(0, 0, -1))
        return self.add("MatMul", y, self.weight(self.hidden, self.hidden))

    def joined_heads(self, x):
        """One product for queries, keys and values, which a Reshape to [3, heads, width] tells apart."""
        all_ = self.add("MatMul", x, self.weight(self.hidden, 3 * self.hidden))
        all_ = self.add("Reshape", all_, self.integers(1, TOKENS, 3, self.heads, self.width))
        all_ = self.add("Transpose", all_, perm=[2, 0, 3, 1, 4])
        q, k, v = (self.add("Gather", all_, self.constant(np.array(i)), axis=0) for i in range(3))
        y = self.add("Attention", q, k, v)
        y = self.add("Reshape", self.add("Transpose", y, perm=[0, 2, 1, 3]), self.integers(1, TOKENS, self.hidden))
        return self.add("MatMul", y, self.weight(self.hidden, self.hidden))

    def flat_attention(self, x):
        """ONNX's operator of three dimensions, with as many heads of keys, fewer or one, and earlier keys."""
        shared = self.draw.choice([self.heads, 2, 1])
        q, k, v = self.parts(x, shared)
        past = ["", "", ""]
        if shared % self.ranks == 0 and self.draw.random() < 0.5:
            past = ["", *(self.input(self.numbers.standard_normal((1, shared, 2, self.width)).astype(np.float32)) for _ in "kv")]
        names = self.add("Attention", q, k, v, *past, q_num_heads=self.heads, kv_num_heads=shared, count=3 if past[1] else 1)
        if past[1]:
            self.outputs += names[1:]
        return self.add("MatMul", names[0] if past[1] else names, self.weight(self.hidden, self.hidden))

    def microsoft_attention(self, x):
        how = self.draw.randrange(3)
        if how == 0:
            y = self.add("Attention", x, self.weight(self.hidden, 3 * self.hidden), self.vector(3 * self.hidden),
                         domain=MICROSOFT, num_heads=self.heads)
        elif how == 1:
            q, k, v = self.parts(x, self.heads)
            y = self.add("MultiHeadAttention", q, k, v, self.vector(3 * self.hidden), domain=MICROSOFT, num_heads=self.heads)
        else:
            shared = self.draw.choice([self.heads, self.ranks])
            all_ = self.add("MatMul", x, self.weight(self.hidden, (self.heads + 2 * shared) * self.width))
            past = [self.input(np.zeros((1, shared, TOKENS, self.width), np.float32)) for _ in "kv"]
            last, total = self.constant(np.array([TOKENS - 1], np.int32)), self.constant(np.array(TOKENS, np.int32))
            y, *states = self.add("GroupQueryAttention", all_, "", "", *past, last, total, domain=MICROSOFT, count=3,
                                  num_heads=self.heads, kv_num_heads=shared)
            self.outputs += states
        return self.add("MatMul", y, self.weight(self.hidden, self.hidden))

    def experts(self, x):
        """A matrix for each expert, and a router's weights for each token."""
        count, between = 4, 16
        router = self.add("Softmax", self.add("MatMul", x, self.weight(self.hidden, count), label="router"), axis=-1)
        y = self.add("Relu", self.add("MatMul", x, self.weight(count, self.hidden, between)))
        y = self.add("MatMul", y, self.weight(count, between, self.hidden))
        gates = self.add("Unsqueeze", self.add("Reshape", router, self.integers(TOKENS, count)), self.integers(2))
        y = self.add("Mul", y, self.add("Transpose", gates, perm=[1, 0, 2]))
        return self.add("ReduceSum", y, self.integers(0), keepdims=1)

    def few_bits(self, x):
        """Products with weights of 4 bits in blocks, and with dequantised weights."""
        between = 64 * self.ranks
        if self.hidden % 16:
            return self.gated(x)
        for inner, columns in ((self.hidden, between), (between, self.hidden)):
            blocks = inner // 16
            table = self.numbers.integers(0, 256, (columns, blocks, 8), np.uint8)
            scales = (self.numbers.random((columns, blocks)) / inner).astype(np.float32)
            x = self.add("MatMulNBits", x, self.constant(table), self.constant(scales.reshape(-1)), domain=MICROSOFT,
                         K=inner, N=columns, bits=4, block_size=16)
        for inner, columns in ((self.hidden, 32), (32, self.hidden)):
            scales = (self.numbers.random(columns) / 100).astype(np.float32)
            table = self.constant(self.numbers.integers(-9, 9, (inner, columns), np.int8))
            x = self.add("MatMul", x, self.add("DequantizeLinear", table, self.constant(scales), axis=1))
        return x

    def model(self):
        blocks = [self.gated, self.gemms, self.primitive_attention, self.joined_heads, self.flat_attention,
                  self.microsoft_attention, self.experts, self.few_bits]
        words = 24
        ids = self.input(np.array([[1, -3, 17]]))
        table = self.constant(self.numbers.standard_normal((words, self.hidden)).astype(np.float32))
        x = self.add("Gather", table, ids, label="embedding")
        for block in self.draw.sample(blocks, 4):
            y = self.add("RMSNormalization", x, self.constant(np.ones(self.hidden, np.float32)))
            x = self.add("Add", x, block(y))
        logits = self.add("MatMul", x, self.add("Transpose", table, perm=[1, 0]), label="head")
        self.outputs.append(logits)
        types = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int64): TensorProto.INT64}
        graph = helper.make_graph(
            self.nodes, "g",
            [helper.make_tensor_value_info(name, types[array.dtype], array.shape) for name, array in self.inputs.items()],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in self.outputs], self.weights)
        sets = [helper.make_opsetid("", 24), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=sets, ir_version=10)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise SystemExit(f"FAIL: {' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def link(model, package, *options):
    onnx.save(model, "net.onnx")
    run(sklink, "net.onnx", *options, "-L", kernels, "-lskernels", "-o", package)


def check(draw, ranks, number):
    blocks = Blocks(draw, ranks)
    model = blocks.model()
    where = f"seed {SEED}, model {number} on {ranks} ranks ({[node.op_type for node in model.graph.node]})"
    link(model, "whole.sk")
    for name, array in blocks.inputs.items():
        np.save(f"{name}.npy", array)
    division = shard.Division(model, ranks)
    whole = {name for name in division.choices.whole if not name.startswith("router")}
    reasons = {name: division.choices.whole[name] for name in whole}
    if reasons and not any("heads of keys" in why or "makes axes of [" in why for why in reasons.values()):
        raise SystemExit(f"FAIL: {where}: {reasons}")
    inputs, outputs = [], []
    for name, array in blocks.inputs.items():
        layout = division.walk.layouts.get(name)
        inputs += ["--input", f"{name}={name}.%r.npy"]
        for rank in range(ranks):
            np.save(f"{name}.{rank}.npy", array if layout is None else np.split(array, ranks, layout.axis)[rank])
    for rank in range(ranks):
        link(division.model_of(rank), f"net.{rank}.sk", "--ranks", str(ranks))
    for name in blocks.outputs:
        outputs += ["--output", f"{name}={name}.%r.npy"]
    run(skrun, "--ranks", str(ranks), "net.%r.sk", *inputs, *outputs, *draw.choice([[], ["--unfused"], ["--check-races"]]))
    run(skrun, "whole.sk", *[word.replace(".%r", "") for word in inputs + outputs])
    for name in blocks.outputs:
        layout = division.walk.layouts.get(name)
        found = [np.load(f"{name}.{rank}.npy") for rank in range(ranks)]
        wanted = np.load(f"{name}.npy")
        if layout is None or not layout.state:
            if any(one.tobytes() != found[0].tobytes() for one in found):
                raise SystemExit(f"FAIL: {where}: the ranks have different '{name}'")
            found = found[:1]
        found = np.concatenate(found, layout.axis if layout else 0)
        if found.shape != wanted.shape or not (abs(found - wanted) <= 2e-5 * abs(wanted).max()).all():
            raise SystemExit(f"FAIL: {where}: '{name}' is wrong\n{found}\n{wanted}")
    return [node.op_type for node in division.nodes]


counts = {}
for number in range(MODELS):
    for ranks in (2, 4):
        for op in check(random.Random(f"{SEED} {ranks} {number}"), ranks, number):
            counts[op] = counts.get(op, 0) + 1
if not counts["AllReduce"] or not counts["AllGather"]:
    raise SystemExit("FAIL: nothing is exchanged")
print(f"{2 * MODELS} models:", ", ".join(f"{counts[op]} {op}" for op in sorted(counts)))
