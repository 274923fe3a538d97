"""Random networks with collective operators on simulated ranks, against numpy in the order of the ranks, bit for bit.

usage: ranks.py SKLINK SKRUN SKDUMP NETWORKS SEED LIBRARY...  (NETWORKS for each number of ranks)

environment:
  RANKS      numbers of ranks
  LAUNCHERS  commands that start processes, divided by semicolons, in which {} is their number: each network also runs
             under each of them. Element types then come in turn, and networks are longer."""

import os
import random
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

sklink, skrun, skdump = sys.argv[1:4]
networks, seed = int(sys.argv[4]), int(sys.argv[5])
libraries = sys.argv[6:]
launchers = [launcher.split() for launcher in os.environ.get("LAUNCHERS", "").split(";") if launcher]

BF16 = "bf16"  # elements are uint16
KINDS = {
    "f32": (np.float32, TensorProto.FLOAT),
    "f64": (np.float64, TensorProto.DOUBLE),
    "f16": (np.float16, TensorProto.FLOAT16),
    BF16: (np.uint16, TensorProto.BFLOAT16),
    "i8": (np.int8, TensorProto.INT8),
    "u8": (np.uint8, TensorProto.UINT8),
    "i32": (np.int32, TensorProto.INT32),
    "i64": (np.int64, TensorProto.INT64),
}


def to_wide(kind, values):
    """The numbers that kernels compute with."""
    if kind == BF16:
        return (values.astype(np.uint32) << 16).view(np.float32)
    return values.astype(np.float32) if kind == "f16" else values


def to_stored(kind, values):
    if kind == BF16:  # to the nearest, ties to even
        bits = values.view(np.uint32)
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return values.astype(KINDS[kind][0])


FOLDS = {"sum": np.add, "max": np.maximum, "min": np.minimum, "prod": np.multiply}


def fold(kind, reduction, parts):
    """Parts in the order of the ranks; halves are rounded once."""
    total = to_wide(kind, parts[0])
    with np.errstate(all="ignore"):
        for part in parts[1:]:
            total = FOLDS[reduction](total, to_wide(kind, part))
    return to_stored(kind, total)


class Network:
    """A network, and the values of each rank."""

    def __init__(self, draw, ranks):
        self.draw, self.ranks = draw, ranks
        self.kind = draw.choice(list(KINDS))
        if launchers:
            self.kind = list(KINDS)[len(seen_networks) % len(KINDS)]
        self.groups = {"": [list(range(ranks))]}
        sizes = [size for size in range(1, ranks + 1) if ranks % size == 0]
        for name in ("tp", "dp")[: draw.randrange(3)]:
            order, size = list(range(ranks)), draw.choice(sizes)
            draw.shuffle(order)
            self.groups[name] = [order[i : i + size] for i in range(0, ranks, size)]
        self.nodes, self.inputs, self.ops, self.values, self.read = [], [], [], {}, set()

    def shape(self):
        if self.draw.random() < 0.2:  # reductions of parts
            return [self.draw.choice([4096, 4100, 12288]), self.draw.choice([1, 2])]
        return [self.draw.choice([1, 2, 3, 4, 8, 12, 24]) for _ in range(self.draw.randrange(1, 4))]

    def add_input(self, shape):
        name = f"x{len(self.inputs)}"
        self.inputs.append((name, shape))
        numbers = np.random.default_rng([seed, self.draw.randrange(1 << 30)])
        values = numbers.integers(-9, 10, [self.ranks] + shape)
        if self.kind in ("f32", "f64", "f16", BF16):
            values = (values + numbers.random(values.shape)).astype(np.float32 if self.kind == BF16 else KINDS[self.kind][0])
        self.values[name] = [to_stored(self.kind, value) for value in values]
        return name

    def add(self, operator, inputs, values, domain="sklink", count=1, **attributes):
        names = [f"v{len(self.values)}_{i}" for i in range(count)]
        self.nodes.append(helper.make_node(operator, inputs, names, f"n{len(self.nodes)}", domain=domain, **attributes))
        self.ops.append(operator)
        self.read.update(inputs)
        for name, value in zip(names, values):
            self.values[name] = value

    def parts_of(self, group, values, compute):
        """compute(place, values of the members) for each rank."""
        results = [None] * self.ranks
        for part in self.groups[group]:
            for place, rank in enumerate(part):
                results[rank] = compute(place, [values[member] for member in part])
        return results

    def grow(self):
        draw = self.draw
        x = draw.choice(list(self.values)) if self.values and draw.random() < 0.7 else self.add_input(self.shape())
        values, shape = self.values[x], list(self.values[x][0].shape)
        group = draw.choice(list(self.groups))
        n = len(self.groups[group][0])
        said = {"group": group} if group else {}
        reduction = draw.choice(list(FOLDS))
        op = draw.choice(["AllReduce", "Reduce", "AllGather", "ReduceScatter", "Broadcast", "AllToAll", "Send", "Add",
                          "Microsoft"])
        if op in ("AllReduce", "Reduce"):
            if op == "Reduce":
                said["root_rank"] = draw.randrange(n)
            self.add(op, [x], [self.parts_of(group, values, lambda p, v: fold(self.kind, reduction, v))], op=reduction, **said)
        elif op == "AllGather" and np.prod(shape) * n < 5000:
            self.add(op, [x], [self.parts_of(group, values, lambda p, v: np.concatenate(v))], rank_size=n, **said)
        elif op == "ReduceScatter" and shape[0] % n == 0:
            self.add(op, [x], [self.parts_of(group, values, lambda p, v: np.split(fold(self.kind, reduction, v), n)[p])],
                     op=reduction, rank_size=n, **said)
        elif op == "Broadcast":
            root = draw.randrange(n)
            self.add(op, [x], [self.parts_of(group, values, lambda p, v: v[root])], root_rank=root, **said)
        elif op == "Send":
            root, peer = draw.randrange(n), draw.randrange(n)
            self.add(op, [x], [self.parts_of(group, values, lambda p, v: v[root] if p == peer else np.zeros_like(v[root]))],
                     root_rank=root, dest_rank=peer, **said)
        elif op == "AllToAll":
            split, join = draw.randrange(len(shape)), draw.randrange(len(shape))
            if shape[split] % n == 0:
                self.add(op, [x], [self.parts_of(group, values, lambda p, v: np.concatenate(
                    [np.split(value, n, split)[p] for value in v], join))], split_dim=split, concat_dim=join, split_count=n, **said)
        elif op == "Add" and self.kind not in ("i8", "u8", BF16):
            with np.errstate(all="ignore"):
                self.add(op, [x, x], [[to_stored(self.kind, to_wide(self.kind, v) + to_wide(self.kind, v)) for v in values]], "")
        elif op == "Microsoft" and self.kind in ("f32", "f64", "f16"):
            self.grow_microsoft(x, values, shape)

    def grow_microsoft(self, x, values, shape):
        """Groups of all ranks, and operators with several inputs."""
        op, ranks = self.draw.choice(["AllReduce", "AllGather", "AllToAll"]), self.ranks
        if op == "AllReduce":
            y = self.add_input(self.shape())
            results = [self.parts_of("", v, lambda p, parts: fold(self.kind, "sum", parts)) for v in (values, self.values[y])]
            self.add(op, [x, y], results, "com.microsoft", 2)
        elif op == "AllGather" and np.prod(shape) * ranks < 5000:
            axis = self.draw.randrange(-len(shape), len(shape))
            self.add(op, [x], [self.parts_of("", values, lambda p, v: np.concatenate(v, axis))], "com.microsoft",
                     axis=axis, group_size=ranks)
        elif shape[0] % ranks == 0:
            self.add(op, [x], [self.parts_of("", values, lambda p, v: np.concatenate([np.split(w, ranks)[p] for w in v]))],
                     "com.microsoft", group_size=ranks) if op == "AllToAll" else None

    def save(self, path):
        dtype = KINDS[self.kind][1]
        self.outputs = [name for name in self.values if name not in self.read and not name.startswith("x")]
        shapes = {name: list(self.values[name][0].shape) for name in self.values}
        used = [name for name, _ in self.inputs if name in self.read]
        graph = helper.make_graph(self.nodes, "g",
                                  [helper.make_tensor_value_info(name, dtype, shapes[name]) for name in used],
                                  [helper.make_tensor_value_info(name, dtype, shapes[name]) for name in self.outputs])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid(d, v) for d, v in
                                                          (("", 21), ("sklink", 1), ("com.microsoft", 1))]), path)
        for name in used:
            for rank in range(self.ranks):
                np.save(f"{name}.{rank}.npy", self.values[name][rank])
        return used


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise SystemExit(f"FAIL: {' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def check(draw, ranks, number):
    network = Network(draw, ranks)
    count = draw.randrange(1, 8) + (8 if launchers else 0)
    while len(network.nodes) < count:
        network.grow()
    used = network.save("net.onnx")
    groups = []
    for name, parts in network.groups.items():
        if name:
            groups += ["--group", name + "=" + "/".join(",".join(map(str, part)) for part in parts)]
    run([sklink, "net.onnx", "--ranks", str(ranks), *groups, *libraries, "-o", "net.sk"])
    if not run([skdump, "--verify", "net.sk"]).startswith("verified:"):
        raise SystemExit("FAIL: the package is not proved")
    options = draw.choice([[], ["--unfused"], ["--guard"], ["--check-races"], ["--seed", "7"], ["--cores", "3"],
                           ["--repeat", "3"], ["--device", "a3", "--seed", "3"], ["--check-ranks"]])
    files = []
    for name in used:
        files += ["--input", f"{name}={name}.%r.npy"]
    for name in network.outputs:
        files += ["--output", f"{name}={name}.%r.npy"]
    compare(network, [skrun, "net.sk", "--ranks", str(ranks), *options, *files], f"network {number}")
    if draw.random() < 0.2:
        run([skrun, "net.sk", "--ranks", str(ranks), "--random", "1", "--verify"])
    for launcher in launchers:
        options = draw.choice([[], ["--unfused"], ["--cores", "3"], ["--repeat", "3"], ["--check-ranks"]])
        start = [word.replace("{}", str(ranks)) for word in launcher]
        compare(network, [*start, skrun, "net.sk", *options, *files], f"network {number}")
    return network


def compare(network, command, title):
    """The outputs of the command are those of numpy."""
    for name in network.outputs:
        for rank in range(network.ranks):
            if os.path.exists(f"{name}.{rank}.npy"):
                os.remove(f"{name}.{rank}.npy")
    run(command)
    for name in network.outputs:
        for rank in range(network.ranks):
            found, wanted = np.load(f"{name}.{rank}.npy"), network.values[name][rank]
            found = found.view(wanted.dtype) if found.dtype.kind == "V" else found
            if found.dtype != wanted.dtype or found.shape != wanted.shape or found.tobytes() != wanted.tobytes():
                raise SystemExit(f"FAIL: seed {seed}, {title} on {network.ranks} ranks, {network.kind}: '{name}' of rank {rank} is "
                                 f"wrong\n{' '.join(command)}\n{network.ops}\n{found}\n{wanted}")


counts, kinds, seen_networks = {}, set(), []
numbers = [int(number) for number in os.environ.get("RANKS", "1 2 3 4 8").split()]
for ranks in numbers:
    for number in range(networks):
        network = check(random.Random(f"{seed} {ranks} {number}"), ranks, number)
        seen_networks.append(network)
        kinds.add(network.kind)
        for op in network.ops:
            counts[op] = counts.get(op, 0) + 1
missing = {"AllReduce", "Reduce", "AllGather", "ReduceScatter", "Broadcast", "AllToAll"} - set(counts)
if missing:
    raise SystemExit(f"FAIL: no network has {missing}")
print(f"{len(seen_networks)} networks of types {', '.join(sorted(kinds))}:", ", ".join(f"{counts[op]} {op}" for op in sorted(counts)))
