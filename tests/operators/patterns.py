#!/usr/bin/python3
"""Holds the rules of a file in graph/rules/ against graphs that are made of their patterns.

patterns.py RULES.yaml PASS SKLINK SKRUN KERNELS [RULE…]       without a PASS ("-") it is the one that a rule has the name of

Of each variant of a rule, and of each way to take one of its lines that are lists, there is a graph of the pattern's nodes, which the
pass must make what the rule says, and which must compute the same as without the pass, up to rounding. Then it must leave alone what is
near: one node in another stream, one value that somebody else uses, and what pattern_samples.py says is near for that rule."""
import collections
import itertools
import os
import re
import subprocess
import sys

import numpy
import onnx
import yaml
from onnx import TensorProto, helper, numpy_helper

import pattern_samples as samples

# Operators of ONNX that are newer than python3-onnx.
KNOWN = {"Attention", "Gelu", "Not", "RMSNormalization", "RotaryEmbedding", "Swish"}
TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9, "float16": 10}


# ---- lines of rules ----


class Call:
    def __init__(self, op, operands, attributes):
        self.op, self.operands, self.attributes = op, operands, attributes


def parse(text):
    """NAME, … = OPERATOR(OPERAND, …, KEY=VALUE, …), as names and a Call; what is neither a name, a node nor a number stays text."""
    outputs, call = text.split("=", 1)
    operand, rest = parse_operand(call.strip())
    assert not rest.strip(), text
    return [name.strip() for name in outputs.split(",")], operand


def parse_operand(text):
    text = text.lstrip()
    head = re.match(r"((?:\w+:)?[A-Z]\w*)\(", text)
    if not head:
        # Up to the comma or bracket that is not inside others.
        depth = end = 0
        while end < len(text) and (depth or text[end] not in ",)"):
            depth += (text[end] in "([") - (text[end] in ")]")
            end += 1
        return text[:end].strip(), text[end:]
    operands, attributes, rest = [], {}, text[head.end():]
    while not rest.lstrip().startswith(")"):
        rest = rest.lstrip(" ,")
        key = re.match(r"(\w+)=(?!=)", rest)
        value, rest = parse_operand(rest[key.end():] if key else rest)
        if key:
            attributes[key.group(1)] = value
        else:
            operands.append(value)
    return Call(head.group(1), operands, attributes), rest.lstrip()[1:]


def lines(value):
    return value if isinstance(value, list) else [value]


def ways(pattern):
    """All ways to take one of each line, and of each A|B one operator."""
    for chosen in itertools.product(*(lines(line) for line in lines(pattern))):
        choices = [re.findall(r"\w+(?:\|\w+)+", line) for line in chosen]
        for ops in itertools.product(*(op.split("|") for line in choices for op in line)):
            ops, result = iter(ops), []
            for line in chosen:
                result.append(re.sub(r"\w+(?:\|\w+)+", lambda match: next(ops), line))
            yield result


def operators(texts):
    """How many of which a list of lines makes."""
    count = collections.Counter()

    def add(operand):
        if isinstance(operand, Call):
            count[operand.op.split(":")[-1]] += 1
            for inner in operand.operands:
                add(inner)
    for text in texts:
        add(parse(text)[1])
    return count


# ---- graphs ----


class Case:
    """A graph of a pattern's lines. `sample` has an array for each name that no line makes: an input, or a constant if it is in a
    tuple; and values of attributes."""

    def __init__(self, model, name, texts, sample, replacement):
        self.model, self.name, self.sample, self.expected = model, name, sample, operators(replacement)
        self.values, self.dtypes, self.inner, self.nodes = {}, {}, [], []
        self.uses = collections.Counter()
        made = []
        for text in texts:
            outputs, call = parse(text)
            self.add(outputs, call)
            made += [output for output in outputs if output != "_"]
        again = {output for text in replacement for output in parse(text)[0]}
        self.outputs = [output for output in made if output in again]
        self.inner = [value for value in self.inner + made if value not in again and (value not in made or self.uses[value])]
        for output in self.outputs:
            model.output(self.values[output])

    def add(self, outputs, call):
        operands = [self.operand(operand, call) for operand in call.operands]
        dtype = next((self.dtypes[o] for o in reversed(operands) if o and self.dtypes[o] != numpy.dtype(bool)), None)
        operands = [self.number(text, dtype) if value is None else value for text, value in zip(call.operands, operands)]
        attributes = {}
        for key, value in call.attributes.items():
            value = self.sample.get(f"{call.op}.{key}") if value == "*" else value
            if isinstance(value, str) and not value.startswith("'"):
                value = self.sample.get(value.split("?")[0]) if re.match(r"[a-z]", value) else yaml.safe_load(value)
            if value is not None:
                attributes[key] = value.strip("'") if isinstance(value, str) else value
        names = ["" if output == "_" else f"{self.name}.{output}" for output in outputs]
        domain, op = call.op.split(":") if ":" in call.op else ("", call.op)
        if not domain and op not in KNOWN and not onnx.defs.has(op):
            domain = "sklink"
        node = helper.make_node(op, operands, names, f"{self.name}/{len(self.nodes)}", domain=domain, **attributes)
        self.model.nodes.append(node)
        self.nodes.append(node)
        for output, name in zip(outputs, names):
            self.values[output] = name
            self.dtypes[name] = self.made(op, attributes, output, dtype)
        return names[0]

    def made(self, op, attributes, output, dtype):
        if op in ("IsNaN", "Not"):
            return numpy.dtype(bool)
        if op == "Cast":
            return numpy.dtype({number: name for name, number in TYPES.items()}[attributes["to"]])
        return numpy.dtype(self.sample.get("types", {}).get(output, dtype))

    def operand(self, operand, call):
        """The value's name; None for a number, whose type is that of what stands beside it."""
        if isinstance(operand, Call):
            inner = f"{operand.op.split(':')[-1]}.{len(self.inner)}"
            self.inner.append(inner)
            self.add([inner], operand)
            self.uses[inner] += 1
            return self.values[inner]
        if operand == "_":
            return ""
        if not re.match(r"[a-z]", operand):
            return None
        name = operand.rstrip("?")
        if name not in self.values:
            array = self.sample[name]
            if array is None:
                return ""
            constant, array = isinstance(array, tuple), array[0] if isinstance(array, tuple) else array
            self.values[name] = self.model.value(f"{self.name}.{name}", array, constant)
            self.dtypes[self.values[name]] = array.dtype
        self.uses[name] += 1
        return self.values[name]

    def number(self, text, dtype):
        return self.model.value(f"{self.name}.{text}.{len(self.model.constants)}", numpy.array(yaml.safe_load(text), dtype), True)


class Model:
    def __init__(self):
        self.nodes, self.inputs, self.constants, self.outputs = [], {}, [], []

    def value(self, name, array, constant):
        array = numpy.asarray(array)
        if constant:
            self.constants.append(numpy_helper.from_array(array, name))
        else:
            self.inputs[name] = array
        return name

    def output(self, name):
        self.outputs.append(name)

    def save(self, path):
        infos = [helper.make_tensor_value_info(name, TYPES[str(array.dtype)], array.shape) for name, array in self.inputs.items()]
        outputs = [helper.make_empty_tensor_value_info(name) for name in self.outputs]
        graph = helper.make_graph(self.nodes, "patterns", infos, outputs, self.constants)
        sets = [helper.make_opsetid("", 24), helper.make_opsetid("sklink", 1)]
        onnx.save(helper.make_model(graph, opset_imports=sets, ir_version=10), path)
        for number, array in enumerate(self.inputs.values()):
            numpy.save(f"in{number}.npy", array)


# ---- near misses ----


def spoil_streams(build):
    """Each node of the pattern in another stream than the rest, in a graph of its own."""
    count = len(build(Model(), "count").nodes)
    for number in range(count if count > 1 else 0):
        def spoiled(model, name, number=number):
            case = build(model, name)
            case.nodes[number].attribute.append(helper.make_attribute("stream_id", 1))
            return case
        yield f"stream{number}", spoiled


def spoil_users(build):
    """Each inner value with one more user."""
    for inner in build(Model(), "count").inner:
        def spoiled(model, name, inner=inner):
            case = build(model, name)
            value = case.values[inner]
            model.nodes.append(helper.make_node("Identity", [value], [value + ".used"], value + ".user"))
            model.output(value + ".used")
            return case
        yield "user." + inner, spoiled


# ---- linking and running ----


class Tools:
    def __init__(self, sklink, skrun, kernels):
        self.sklink, self.skrun, self.kernels = sklink, skrun, kernels
        # In the order in which they run.
        log = subprocess.run([sklink, "first.onnx", "-L", kernels, "-lskernels", "--check", "--verbose"], text=True, check=True,
                             stderr=subprocess.PIPE).stderr
        names = re.findall(r"graph kernel pass (?:stage\d+_)?(recompose|fusion_group|patterns)_\d+_(\w+) (?:is|has)", log)
        self.passes = [".".join(pair) for pair in names]

    def link(self, model, package, flags):
        subprocess.run([self.sklink, model, "-L", self.kernels, "-lskernels", "-o", package] + flags, check=True)

    def run(self, model, package):
        command = [self.skrun, package]
        for number, name in enumerate(model.inputs):
            command += ["--input", f"{name}=in{number}.npy"]
        for number, name in enumerate(model.outputs):
            command += ["--output", f"{name}=out{number}.npy"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return {name: numpy.load(f"out{number}.npy") for number, name in enumerate(model.outputs)}


def made_by(folder, name):
    """Operators behind the pass, by the case that their nodes are of."""
    files = [file for file in os.listdir(folder) if f"_{name}_" in file and file.endswith(".ir")]
    found = collections.defaultdict(collections.Counter)
    if not files:
        return None
    for line in open(os.path.join(folder, files[0])):
        node = re.match(r'node \d+ "([^"/]*)[^"]*" = "(?:\w+:)?(\w+)"', line)
        if node:
            found[node.group(1)][node.group(2)] += 1
    return found


def differ(got, want):
    """Why two results are not the same up to rounding; None: they are. NaN is what NaN is."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"{got.dtype} {got.shape}, not {want.dtype} {want.shape}"
    if got.dtype.kind != "f":
        off = abs(got.astype(float) - want.astype(float)).max(initial=0)
        return f"off by {off}" if off > (got.dtype.kind in "iu") else None # half a unit rounds either way
    bound = 2e-5 if got.dtype == numpy.float32 else 8e-3
    with numpy.errstate(invalid="ignore"):
        wrong = ~(abs(got.astype(float) - want) <= bound * (abs(want.astype(float)) + abs(want[numpy.isfinite(want)]).max(initial=0)))
    wrong &= ~((got == want) | numpy.isnan(got) & numpy.isnan(want))
    return f"{got[wrong][0]}, not {want[wrong][0]}" if wrong.any() else None


def check(tools, what, name, stage, builders, fused):
    """The cases in one model: all of them are fused, or none is; results are those without the pass."""
    model, folder, errors = Model(), f"{what}.dumps", 0
    cases = [build(model, case) for case, build in builders]
    model.save(f"{what}.onnx")
    others = ",".join(one for one in tools.passes if one != f"{stage}.{name}")
    target = samples.TARGETS.get(what.split("-")[0], "host")
    tools.link(f"{what}.onnx", "with.sk", [f"--fusion-target={target}", f"--fusion-flags=--disable_pass={others}", "--dump-dir", folder])
    tools.link(f"{what}.onnx", "without.sk", [f"--fusion-flags=--disable_pass={','.join(tools.passes)}"])
    got, want = tools.run(model, "with.sk"), tools.run(model, "without.sk")
    found = made_by(folder, name)
    for case in cases:
        if found is None:
            if fused:
                errors += 1
                print(f"{case.name}: the pass has changed nothing")
        elif (found[case.name] == case.expected) != fused:
            errors += 1
            print(f"{case.name}: there is {dict(found[case.name])}, and {'' if fused else 'not '}expected {dict(case.expected)}")
    for output, array in got.items():
        error = differ(array, want[output])
        if error:
            errors += 1
            print(f"{output}: {error}")
    return errors


def builder(texts, sample, replacement):
    if "pieces" in sample: # *p are as many values
        texts = [text.replace("*p", ", ".join(f"p{n}" for n in range(sample["pieces"]))) for text in texts]
    return lambda model, name: Case(model, name, texts, sample, replacement)


def check_rule(tools, rule, stage, name):
    exact, near = [], []
    for number, variant in enumerate(rule.get("variants", [{}])):
        replacement = lines(variant.get("replace", rule.get("replace")))
        for way, texts in enumerate(ways(variant.get("pattern", rule.get("pattern")))):
            case = f"{rule['name']}.{number}.{way}"
            sample = samples.sample(rule["name"], number, texts)
            build = builder(texts, sample, replacement)
            exact.append((case, build))
            exact += [(f"{case}.more{n}", builder(texts, {**sample, **other}, replacement))
                      for n, other in enumerate(samples.MORE.get(rule["name"], []))]
            if way:
                continue
            near += [(f"{case}.{what}", spoiled) for what, spoiled in itertools.chain(spoil_streams(build), spoil_users(build))]
            near += [(f"{case}.near{n}", builder(texts, {**sample, **other}, replacement))
                     for n, other in enumerate(samples.near(rule["name"], number))]
    errors = check(tools, rule["name"], name, stage, exact, True)
    if near:
        errors += check(tools, rule["name"] + "-near", name, stage, near, False)
    print(f"{rule['name']}: {len(exact)} ways, {len(near)} near misses, {errors} errors")
    return errors


def main():
    path, stage_and_pass, sklink, skrun, kernels, *only = sys.argv[1:]
    first = Model()
    first.nodes.append(helper.make_node("Relu", [first.value("x", samples.f32(2, 3), False)], ["y"]))
    first.output("y")
    first.save("first.onnx")
    tools, errors = Tools(sklink, skrun, kernels), 0
    for rule in yaml.safe_load(open(path))["fuse"]:
        if rule["name"] in samples.CHECKED_APART or (only and rule["name"] not in only):
            continue
        stage, name = ("fusion_group", rule["name"]) if stage_and_pass == "-" else stage_and_pass.split(".")
        errors += check_rule(tools, rule, stage, name)
    sys.exit(errors != 0)


main()
