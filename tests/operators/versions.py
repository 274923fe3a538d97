"""Operators of each operator set are read as ONNX's own schemas have them: versions.py SKLINK DOCUMENT

For each version of each operator that python3-onnx knows, nodes with as few and as many inputs and outputs as it may have, and with
each of its attributes, are linked. That fails, since they compute nothing sensible, but never because sklink knows less of the operator
than its schema says, unless the table of DOCUMENT says that there is no kernel. The table names the same versions, and those of later
operator sets that stand here."""
import concurrent.futures
import functools
import os
import re
import subprocess
import sys
import tempfile

import onnx
from onnx import TensorProto, defs, helper

# sklink's messages for nodes with an unknown operator, attribute, input or output.
UNKNOWN = re.compile("there is no operator|has no attribute|attribute '.*' is (an|a) .*, not|attribute '.*' is missing|, and the operator has|"
                     "and the operator needs it")
# Attributes that schemas of operator set 1 do not require, though nothing can be computed without them.
NEEDED = {("Reshape", 1): {"shape": [1]}, ("LpPool", 1): {"kernel_shape": [1, 1]}}
# The operators that have changed in operator sets that Debian's ONNX does not know yet.
LATER = {
    18: """BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CenterCropPad Col2Im GroupNormalization LpPool Mish OptionalGetElement OptionalHasElement
           Pad ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSumSquare Resize
           ScatterElements ScatterND Split""",
    19: """AveragePool Cast CastLike Constant DeformConv DequantizeLinear Equal Identity If Loop Pad QuantizeLinear Reshape Resize Scan Shape
           Size""",
    20: """AffineGrid ConstantOfShape DFT Gelu GridSample ImageDecoder IsInf IsNaN ReduceMax ReduceMin RegexFullMatch StringConcat StringSplit"""}
MANY = 3 # for operands of any number

tensor = helper.make_tensor("value", TensorProto.FLOAT, [1], [1])
body = helper.make_graph([helper.make_node("Identity", ["i"], ["o"])], "body", [helper.make_tensor_value_info("i", TensorProto.FLOAT, [1])],
                         [helper.make_tensor_value_info("o", TensorProto.FLOAT, [1])])
kind = defs.OpSchema.AttrType
SAMPLES = {kind.INT: 1, kind.FLOAT: 0.5, kind.STRING: "word", kind.INTS: [1], kind.FLOATS: [0.5], kind.STRINGS: ["word"], kind.TENSOR: tensor,
           kind.GRAPH: body}


def sample(attribute):
    """Its default, or something of its kind; None of kinds that sklink refuses to read."""
    if attribute.default_value.name:
        return helper.get_attribute_value(attribute.default_value)
    return SAMPLES.get(attribute.type)


def make_nodes(schema):
    """(inputs, outputs, attributes) of each node."""
    required = {name: sample(one) for name, one in schema.attributes.items() if one.required}
    required.update(NEEDED.get((schema.name, schema.since_version), {}))
    least, most = schema.min_input, min(schema.max_input, schema.min_input + MANY)
    yield least, schema.min_output, required
    yield most, min(schema.max_output, schema.min_output + MANY), required
    for name, one in schema.attributes.items():
        if not one.required and sample(one) is not None:
            yield least, schema.min_output, {**required, name: sample(one)}


def make_model(schema, path, chosen):
    nodes, inputs, outputs = [], [], []
    for number, (reads, writes, attributes) in enumerate(chosen):
        read, written = ([f"{word}{number}_{i}" for i in range(count)] for word, count in (("x", reads), ("y", max(writes, 1))))
        inputs += [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 1]) for name in read]
        outputs += [onnx.ValueInfoProto(name=name) for name in written]
        nodes.append(helper.make_node(schema.name, read, written, f"{schema.name} {number}", domain=schema.domain, **attributes))
    imports = [helper.make_opsetid(schema.domain, schema.since_version)]
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", inputs, outputs), opset_imports=imports), path)


def check(schema):
    """Lines of what is wrong."""
    if schema.name in without_kernels():
        return []
    name = f"{schema.name}-{schema.since_version}"
    make_model(schema, f"{name}.onnx", make_nodes(schema))
    return unknown(name)


def unknown(name):
    """Lines of what sklink does not know of the model."""
    done = subprocess.run([sys.argv[1], f"{name}.onnx", "--check"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False)
    text = done.stdout.decode()
    wrong = [line for line in text.split("\n") if UNKNOWN.search(line)]
    if done.returncode != 1 and done.returncode != 0:
        wrong.append(f"{name}: exit status {done.returncode}: {text}")
    return wrong


def check_control():
    """A node with an attribute that no operator has is found, or else models are not read at all."""
    relu = defs.get_schema("Relu")
    make_model(relu, "control.onnx", [(1, 1, {"no_such": 1})])
    return [] if any("has no attribute 'no_such'" in line for line in unknown("control")) else ["Relu with an attribute 'no_such' is not refused"]


def rows():
    """Of the document's table: operator, versions, and the rest of the row."""
    with open(sys.argv[2], encoding="utf-8") as lines:
        return [row for row in (re.match(r"\| (\w+) \| ([0-9 ]+) \|(.*)", line) for line in lines) if row]


@functools.lru_cache
def without_kernels():
    return {row[1] for row in rows() if row[3].endswith("| no kernel |")}


def check_document(schemas):
    told, known = {row[1]: {int(one) for one in row[2].split()} for row in rows()}, {}
    for schema in schemas:
        known.setdefault(schema.name, set()).add(schema.since_version)
    for version, names in LATER.items():
        for name in names.split():
            known.setdefault(name, set()).add(version)
    newest = max(*LATER, defs.onnx_opset_version())
    for name in sorted(set(known) | set(told)):
        there, said = known.get(name, set()), {one for one in told.get(name, ()) if one <= newest}
        if said != there:
            yield f"{name}: the document has the operator sets {sorted(said)}, and ONNX {sorted(there)}"


if __name__ == "__main__":
    every = [one for one in defs.get_all_schemas_with_history() if not one.domain]
    sys.argv[1:] = [os.path.abspath(one) for one in sys.argv[1:]]
    without_kernels()
    problems = list(check_document(every))
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        os.chdir(folder)
        problems += check_control()
        for wrong in pool.map(check, every):
            problems += wrong
        os.chdir("/")
    print("\n".join(problems))
    print(f"{len(every)} schemas, {len(problems)} problems")
    sys.exit(bool(problems) or len(every) < 300)
