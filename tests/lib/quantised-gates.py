"""quantised-gates.py make SEED: lines of a model of products and gates, on standard output, and its inputs; check:
compares the outputs with numpy's."""
import json, sys
import numpy as np

M, K, N, NODES = 5, 24, 14, 60
# The numbers of types in ONNX and in PyTorch.
TYPES = {"f32": 1, "f16": 10, "bf16": 16}
TORCH = {"f32": 6, "f16": 5, "bf16": 15, "i8": 1}


def half(x, name):
    """x as the type stores it."""
    if name == "f16":
        return x.astype("f2").astype("f8")
    if name == "bf16":
        bits = x.astype("f4").view("u4")
        return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype("u4").view("f4").astype("f8")
    return x.astype("f4").astype("f8")


class Maker:
    def __init__(self, seed):
        self.random, self.lines, self.plan, self.inputs = np.random.default_rng(seed), [], [], {}

    def input(self, shape, low, high, dtype="f32"):
        """A new input and its name in the type, by a cast for halves."""
        name = f"i{len(self.inputs)}"
        if dtype in ("i8", "i32"):
            data = self.random.integers(low, high, shape).astype({"i8": "i1", "i32": "i4"}[dtype])
        else:
            data = half(self.random.uniform(low, high, shape), dtype).astype("f4")
        self.inputs[name] = data
        np.save(name + ".npy", data)
        self.lines.append(f"input {name} {dtype if dtype in ('i8', 'i32') else 'f32'} " + "x".join(map(str, shape)))
        if dtype in ("f16", "bf16"):
            self.lines.append(f"node Cast c{name} {name} -> {name}_t to={TYPES[dtype]}")
            return name, name + "_t"
        return name, name

    def some(self, chance, *arguments):
        return self.input(*arguments) if self.random.random() < chance else (None, "_")

    def pick(self, *choices):
        return choices[self.random.integers(len(choices))]

    def gate(self, number):
        kind = self.pick("f32", "f16", "bf16", "i32")
        whole, dynamic, left = kind == "i32", self.pick(0, 1), self.pick(0, 1)
        rank = self.pick(2, 3)
        x = self.input((M, 2 * N) if rank == 2 else (2, M, 2 * N), *((-50, 50) if whole else (-6, 6)), kind)
        shape = self.inputs[x[0]].shape
        weights = self.some(0.7, self.pick((2 * N,), (1, 2 * N), shape), *((-0.2, 0.2) if whole else (-2, 2)))
        tokens = self.some(0.5, self.pick(shape[:-1], shape[:-1] + (1,)), -2, 2)
        bias = self.pick((-9, 9, "i32"), (-2, 2, "f16"), (-2, 2, "f32")) if whole else (-2, 2, "bf16")
        bias = self.some(0.5, (2 * N,), *bias)
        scale = self.some(0.5, self.pick((1,), (N,)), 0.02, 2)
        offset = (None, "_") if dynamic else self.some(0.5, self.pick((1,), (N,)), -9, 9)
        values = [v[1] for v in (x, weights, tokens, bias, scale, offset)]
        spelling = self.pick("sklink:DequantSwigluQuant", "ge:DequantSwigluQuant", "torchair:npu_dequant_swiglu_quant")
        mode = f"quant_mode={dynamic}" if spelling[0] == "t" else f"quant_mode='{'dynamic' if dynamic else 'static'}'"
        more = self.pick("", " dst_type=2 round_mode='rint' activate_dim=-1") if spelling[0] == "g" else ""
        mode = "" if not dynamic and self.pick(0, 1) else mode
        call = f"node {spelling} n{number} {' '.join(values)} -> y{number} s{number}"
        self.lines += [f"{call} activate_left={left} {mode}{more}",
                       f"output y{number} i8 none", f"output s{number} f32 none"]
        self.plan.append(["gate", number, left, dynamic, [v[0] for v in (x, weights, tokens, bias, scale, offset)]])

    def product(self, number):
        to, spelling = self.pick("f32", "f16", "bf16", "i8"), self.pick("sklink", "ge", "torchair")
        turned = self.pick(0, 1)
        a, b = self.input((M, K), -10, 10, "i8"), self.input((N, K) if turned else (K, N), -10, 10, "i8")
        scale = self.input(self.pick((1,), (N,)), -0.1, 0.1, self.pick("f32", "bf16"))
        offset = self.some(0.5, self.pick((1,), (N,)), -20, 20) if to == "i8" else (None, "_")
        bias = (-99, 99, "i32") if to == "i8" else self.pick((-99, 99, "i32"), (-9, 9, "bf16"), (-9, 9, "f32"))
        bias = self.some(0.6, (N,), *bias)
        tokens = self.some(0.5, (M,), -2, 2)
        values = [a[1], b[1], scale[1], offset[1], bias[1], tokens[1]]
        values[4:] = values[:3:-1] if spelling == "torchair" else values[4:]
        name = {"sklink": "sklink:QuantBatchMatmul", "ge": "ge:QuantBatchMatmulV3",
                "torchair": "torchair:npu_quant_matmul"}[spelling]
        dtype = {**TYPES, "i8": 3}[to]
        type_ = {"sklink": f"to={dtype}", "ge": f"dtype={dtype}", "torchair": f"output_dtype={TORCH[to]}"}[spelling]
        type_ = "" if spelling == "torchair" and to == "i8" and self.pick(0, 1) else type_
        cast = self.pick("", "sklink:FormatCast", "torchair:npu_format_cast")
        if cast:
            self.lines.append(f"node {cast} f{number} {b[1]} -> {b[1]}_f{number} acl_format={self.pick(29, 2)}")
            values[1] += f"_f{number}"
        self.lines.append(f"node {name} n{number} {' '.join(values)} -> p{number} {type_} transpose_x2={turned}")
        out = f"p{number}" if to in ("f32", "i8") else f"o{number}"
        if out[0] == "o":
            self.lines.append(f"node Cast w{number} p{number} -> {out} to=1")
        self.lines.append(f"output {out} {'i8' if to == 'i8' else 'f32'} none")
        self.plan.append(["product", out, turned, to, [v[0] for v in (a, b, scale, offset, bias, tokens)]])


def load(name):
    data = None if name is None else np.load(name + ".npy")
    return data if data is None or data.dtype.kind == "i" else data.astype("f8")


def bytes_near(y, exact, room, what):
    off = np.abs(y - np.clip(exact, -128, 127)) - 0.5 - room
    assert off.max() <= 0, (what, off.max())


def check_gate(number, left, dynamic, names):
    x, weights, tokens, bias, scale, offset = map(load, names)
    v = (x + bias if bias is not None and bias.dtype.kind == "i" else x).astype("f8")
    v = v * weights if weights is not None else v
    v = v * tokens.reshape(v.shape[:-1] + (1,)) if tokens is not None else v
    v = v + bias if bias is not None and bias.dtype.kind == "f" else v
    gate, other = (v[..., :N], v[..., N:]) if left else (v[..., N:], v[..., :N])
    z = gate / (1 + np.exp(-gate)) * other
    y, s = np.load(f"y{number}.npy").astype("f8"), np.load(f"s{number}.npy").astype("f8")
    if not dynamic:
        z = z / scale if scale is not None else z
        z = z + offset if offset is not None else z
        assert not s.any(), number
        bytes_near(y, z, 1e-5 * (1 + np.abs(z)), number)
        return
    z = z * scale if scale is not None else z
    most = np.abs(z).max(-1)
    assert np.allclose(s, most / 127, 1e-5, 0), number
    bytes_near(y, z / (most / 127)[..., None], 1e-3, number)


def check_product(out, turned, to, names):
    a, b, scale, offset, bias, tokens = map(load, names)
    v = a.astype("f8") @ (b.T if turned else b).astype("f8")
    v = v + bias if bias is not None and bias.dtype.kind == "i" else v
    v = v * scale
    v = v * tokens[:, None] if tokens is not None else v
    size = np.abs(v)
    v = v + bias if bias is not None and bias.dtype.kind == "f" else v
    v = v + offset if offset is not None else v
    y = np.load(out + ".npy").astype("f8")
    if to == "i8":
        bytes_near(y, v, 1e-5 * (1 + np.abs(v)), out)
    else:
        room = {"f32": 0, "f16": 2.0 ** -11, "bf16": 2.0 ** -8}[to]
        assert (np.abs(y - v) <= (room * np.abs(v) + 1e-6 * (size + np.abs(v)) + 6e-8)).all(), out


if sys.argv[1] == "make":
    maker = Maker(int(sys.argv[2]))
    for number in range(NODES):
        (maker.gate if number % 2 else maker.product)(number)
    print("opset 20\nopset 1 sklink\nopset 1 ge\nopset 1 torchair")
    print("\n".join(sorted(maker.lines, key=lambda line: line.startswith("node") + 2 * line.startswith("output"))))
    json.dump(maker.plan, open("plan.json", "w"))
else:
    for kind, *rest in json.load(open("plan.json")):
        {"gate": check_gate, "product": check_product}[kind](*rest)
