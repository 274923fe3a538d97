# The same output as read-models, by the reader of python3-onnx: read-models.py FOLDER FILE…  Leaves out files that
# cannot be read without types that sklink does not have. Puts the others as text, as protobuf writes it, into the
# folder.
import os, sys, zlib
from google.protobuf import text_format
import numpy, onnx
from onnx import numpy_helper

NAMES = {1: "f32", 2: "u8", 3: "i8", 4: "u16", 5: "i16", 6: "i32", 7: "i64", 9: "bool", 10: "f16", 11: "f64", 12: "u32",
         13: "u64", 16: "bf16"}


class Refused(Exception):
    pass


def name_of(element):
    if element not in NAMES:
        raise Refused
    return NAMES[element]


# Outputs of nodes, and inputs of bodies, may be sequences.
def typed(kind, name, info, sequences=True):
    kind_of_type = info.type.WhichOneof("value")
    if kind_of_type == "sequence_type" and sequences:
        return "%s %s ? unshaped" % (kind, name)
    if kind_of_type not in ("tensor_type", None):
        raise Refused
    tensor = info.type.tensor_type
    line = "%s %s %s" % (kind, name, name_of(tensor.elem_type) if tensor.elem_type else "?")
    if not tensor.HasField("shape"):
        return line + " unshaped"
    for dimension in tensor.shape.dim:
        line += " %d" % dimension.dim_value if dimension.HasField("dim_value") else " ?" + dimension.dim_param
    return line


def constant(kind, name, tensor):
    name_of(tensor.data_type)
    array = numpy_helper.to_array(tensor)
    if tensor.data_type == 16:  # which numpy does not have
        data = numpy.array(tensor.int32_data, "<u2").tobytes() if tensor.int32_data else tensor.raw_data
    else:
        data = array.tobytes()
    return " ".join([kind, name, name_of(tensor.data_type)] + [str(d) for d in tensor.dims] + ["crc", "%08x" % zlib.crc32(data)])


def attribute(a, outer):
    text = lambda t: "'%s'" % t.decode()
    if a.type == 4:
        return [constant("  tensor", a.name, a.t)]
    if a.type == 5:
        return ["  graph %s {" % a.name] + graph(a.g, outer, True) + ["}"]
    values = {1: [a.f], 2: [a.i], 3: [a.s], 6: a.floats, 7: a.ints, 8: a.strings}[a.type]
    show = {1: lambda f: "%.9g" % f, 2: str, 3: text, 6: lambda f: "%.9g," % f, 7: lambda i: "%d," % i,
            8: lambda s: text(s) + ","}[a.type]
    return [" ".join(["  %s =" % a.name] + [show(v) for v in values])]


# Names that the graph, or bodies in it, take from around it.
def captured(g):
    own = {v.name for v in g.input} | {v.name for v in g.initializer} | {o for n in g.node for o in n.output}
    needed = {o.name for o in g.output}
    for n in g.node:
        needed |= set(n.input)
        for a in n.attribute:
            if a.type == 5:
                needed |= captured(a.g)
    return needed - own - {""}


def needs(node):
    names = set(node.input)
    for a in node.attribute:
        if a.type == 5:
            names |= captured(a.g)
    return names


def graph(g, versions, is_body=False):
    wanted = {o.name for o in g.output}
    live = []
    for node in reversed(g.node):
        if set(node.output) & wanted - {""}:
            live.insert(0, node)
            wanted |= needs(node)
    constants = {t.name: t for t in g.initializer}
    infos = {v.name: v for v in g.value_info}
    infos.update({v.name: v for v in g.output})
    lines = []
    for v in g.input:
        if v.name in constants:
            continue
        try:
            lines.append(typed("input", v.name, v, is_body))
        except Refused:
            if v.name in wanted:
                raise
    for node in live:
        domain = "" if node.domain == "ai.onnx" else node.domain
        show = lambda names, keep: "".join(" " + (n if n and keep(n) else "-") for n in names)
        lines.append("node %s %s %s %d:%s ->%s" % (node.name, node.op_type, domain, versions.get(domain, 1),
                     show(node.input, lambda n: True), show(node.output, lambda n: n in wanted)))
        parts = [(4 if a.type == 4 else 5 if a.type == 5 else 0, attribute(a, versions)) for a in node.attribute]
        for kind in (0, 4, 5):
            lines += [line for part, text in parts if part == kind for line in text]
        lines += [constant("  constant", n, constants[n]) for n in node.input if n in constants]
        for o in node.output:
            if o in wanted and o in infos:
                typed("", "", infos[o])
    made = {o for n in live for o in n.output} | {v.name for v in g.input}
    for v in g.output:
        lines.append(constant("output", v.name, constants[v.name]) if v.name in constants else
                     typed("output", v.name, v) if v.name in made else "output %s ? unshaped" % v.name)
    return lines


for path in sys.argv[2:]:
    model = onnx.load(path)
    versions = {"" if i.domain == "ai.onnx" else i.domain: i.version for i in model.opset_import}
    try:
        lines = graph(model.graph, versions)
    except Refused:
        continue
    print("file " + path)
    with open(os.path.join(sys.argv[1], path.replace("/", "_") + ".pbtxt"), "w") as text:
        text.write(text_format.MessageToString(model))
    for line in lines:
        print(line)
