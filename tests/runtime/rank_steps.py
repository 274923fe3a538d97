"""Random manifests with exchanges, streams, scopes and groups on simulated ranks: all of them proved, and the results of
each rank against numpy, bit for bit, with exchanges as steps of superkernels and as launches of their own.

usage: rank_steps.py SKLINK SKRUN SKDUMP MANIFESTS SEED LIBRARY...  (MANIFESTS for each number of ranks)"""

import json
import random
import subprocess
import sys

import numpy as np

sklink, skrun, skdump = sys.argv[1:4]
manifests, seed = int(sys.argv[4]), int(sys.argv[5])
libraries = sys.argv[6:]

UNARY = {"Neg": np.negative, "Abs": np.abs}
BINARY = {"Add": np.add, "Max": np.maximum}
OPTIONS = ["", "", "stream-fusion=1", "stream-order=1", "debug-sync-all=1", "feed-sync-all=1", "profiling=1", "split-mode=2",
           "parallel-fusion=0", "tile-fusion=0", "preload-code=max", "debug-dcci-all=1", "exchange-fusion=0"]
RUNS = [[], [], ["--cores", "1"], ["--cores", "2"], ["--cores", "3"], ["--cores", "8"], ["--unfused"], ["--guard"],
        ["--check-races"], ["--repeat", "5"], ["--seed", "5"], ["--device", "a3", "--seed", "0"],
        ["--device", "a3", "--seed", "9"], ["--trace", "trace.%r.json"]]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise SystemExit(f"FAIL: {' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


class Network:
    def __init__(self, draw, ranks):
        self.draw, self.ranks = draw, ranks
        self.groups = {"world": [list(range(ranks))]}
        sizes = [size for size in range(1, ranks + 1) if ranks % size == 0]
        for name in ("tp", "dp")[: draw.randrange(3)]:
            order, size = list(range(ranks)), draw.choice(sizes)
            draw.shuffle(order)
            self.groups[name] = [order[i : i + size] for i in range(0, ranks, size)]
        self.values, self.inputs, self.read, self.tasks = {}, [], set(), []
        self.streams = draw.choice([1, 1, 2, 3])
        self.scopes = draw.choice([["a"], ["a"], ["a", "b"], ["a", None]])

    def tensor(self, rows):
        """A tensor of so many rows; None: of any number."""
        known = [name for name, parts in self.values.items() if rows in (None, len(parts[0]))]
        if known and self.draw.random() < 0.8:
            return self.draw.choice(known[-4:])
        name = f"x{len(self.inputs)}"
        numbers = np.random.default_rng([seed, self.draw.randrange(1 << 30)])
        rows = rows or 24
        self.values[name] = [numbers.integers(-99, 99, (rows, self.columns)).astype(np.float32) for _ in range(self.ranks)]
        self.inputs.append(name)
        return name

    def add(self, text, inputs, parts):
        number = len(self.tasks)
        self.values[f"t{number}"] = parts
        self.read.update(inputs)
        line = f"{{name: n{number}, {text}, inputs: [{', '.join(inputs)}], outputs: t{number}, stream: {self.draw.randrange(self.streams)}"
        scope = self.draw.choice(self.scopes)
        if scope:
            line += f", scope: {scope}"
        if number and self.draw.random() < 0.15:
            line += f", after: n{self.draw.randrange(number)}"
        self.tasks.append(line + "}")

    def compute(self):
        if self.draw.random() < 0.5:
            op, x = self.draw.choice(list(UNARY)), self.tensor(None)
            self.add(f"op: {op}", [x], [UNARY[op](value) for value in self.values[x]])
        else:
            op, x = self.draw.choice(list(BINARY)), self.tensor(None)
            y = self.tensor(len(self.values[x][0]))
            self.add(f"op: {op}", [x, y], [BINARY[op](a, b) for a, b in zip(self.values[x], self.values[y])])

    def exchange(self):
        group = self.draw.choice(list(self.groups))
        size = len(self.groups[group][0])
        x = self.tensor(None)
        rows = len(self.values[x][0])
        kind = self.draw.choice(["all-gather", "all-to-all", "all-to-all", "broadcast", "send"])
        if kind == "all-gather" and rows * size > 400:
            kind = "all-to-all"
        root, peer = self.draw.randrange(size), self.draw.randrange(size)
        text = f"exchange: {kind}, group: {group}"
        text += f", root: {root}" if kind in ("broadcast", "send") else ""
        text += f", peer: {peer}" if kind == "send" else ""
        results = [None] * self.ranks
        for part in self.groups[group]:
            values = [self.values[x][rank] for rank in part]
            for place, rank in enumerate(part):
                if kind == "all-gather":
                    results[rank] = np.concatenate(values)
                elif kind == "all-to-all":
                    results[rank] = np.concatenate([np.split(value, size)[place] for value in values])
                elif kind == "send" and place != peer:
                    results[rank] = np.zeros_like(values[0])
                else:
                    results[rank] = values[root]
        self.add(text, [x], results)

    def write(self, path):
        self.outputs = [name for name in self.values if name not in self.read and name not in self.inputs]
        groups = ", ".join(f"{name}: {json.dumps(parts)}" for name, parts in self.groups.items() if name != "world")
        lines = ["sklink: 1", f"ranks: {self.ranks}"] + ([f"groups: {{{groups}}}"] if groups else [])
        scopes = [scope for scope in ("a", "b") if any(f"scope: {scope}" in task for task in self.tasks)]
        lines += ["scopes:"] if scopes else []
        lines += [f'  {scope}: {{options: "{self.draw.choice(OPTIONS)}"}}' for scope in scopes]
        lines += ["tensors:"] + [f"  {name}: {{dtype: f32, shape: [{len(parts[0])}, {self.columns}]}}"
                                 for name, parts in self.values.items() if name in self.read or name in self.outputs]
        with open(path, "w") as file:
            file.write("\n".join(lines + ["tasks:"] + [f"  - {task}" for task in self.tasks]) + "\n")
        for name in self.inputs:
            for rank in range(self.ranks):
                np.save(f"{name}.{rank}.npy", self.values[name][rank])


def check_run(network, package, options, title):
    command = [skrun, "timed.sk" if "--trace" in options else package, "--ranks", str(network.ranks), *options]
    for name in network.inputs:
        command += ["--input", f"{name}={name}.%r.npy"]
    for name in network.outputs:
        command += ["--output", f"{name}={name}.%r.npy"]
    run(command)
    for name in network.outputs:
        for rank in range(network.ranks):
            found, wanted = np.load(f"{name}.{rank}.npy"), network.values[name][rank]
            if found.tobytes() != wanted.tobytes():
                raise SystemExit(f"FAIL: {title}, {options}: '{name}' of rank {rank} is wrong\n{found}\n{wanted}")


def check(draw, ranks, number):
    network = Network(draw, ranks)
    network.columns = draw.choice([1, 3, 16, 70])
    for _ in range(draw.randrange(2, 16)):
        network.exchange() if draw.random() < 0.45 else network.compute()
    network.write("net.yaml")
    title = f"seed {seed}, manifest {number} on {ranks} ranks (net.yaml)"
    timed = ["--scope-options", "*=profiling=1"] # --trace wants it
    for options, package in (([], "net.sk"), (timed, "timed.sk"), (["--scope-options", "*=exchange-fusion=0"], "apart.sk")):
        run([sklink, "net.yaml", *options, *libraries, "-o", package])
        if not run([skdump, "--verify", package]).startswith("verified:"):
            raise SystemExit(f"FAIL: {title}: not proved")
    check_run(network, "net.sk", draw.choice(RUNS), title)
    check_run(network, "net.sk", draw.choice(RUNS), title)
    if draw.random() < 0.3:
        check_run(network, "apart.sk", draw.choice(RUNS), title)
    if ranks == 1:
        run([skrun, "net.sk", "--random", "1", "--check-split"])
    if draw.random() < 0.2:
        run([skrun, "net.sk", "--ranks", str(ranks), "--random", "1", "--verify"])
        run([skrun, "net.sk", "--predict"])
    description = json.loads(run([skdump, "--json", "net.sk"]))
    alone = sum(launch["kind"] == "exchange" for launch in description["launches"])
    return len(description["exchanges"]) - alone, alone


steps = alone = 0
for ranks in (1, 2, 3, 4, 8):
    for number in range(manifests):
        found = check(random.Random(f"{seed} {ranks} {number}"), ranks, number)
        steps += found[0]
        alone += found[1]
if manifests > 1 and (not steps or not alone):
    raise SystemExit("FAIL: no exchange is a step, or none is a launch")
print(f"{5 * manifests} manifests: {steps} exchanges are steps of superkernels, {alone} are launches")
