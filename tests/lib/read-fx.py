"""What FX texts say of a graph must be the same, and what a model file says of it: read-fx.py GRAPH.py GRAPH.txt MODEL.pbtxt

The function in GRAPH.py runs with operators that record what they are called with, so each operand is still there when it is used;
MODEL.pbtxt is read with onnx's own parser."""
import re
import sys
import types
from google.protobuf import text_format
import onnx


class Made:
    """What a call has made, or a part of it."""

    def __init__(self, source, part=None):
        self.source, self.part = source, part

    def __getitem__(self, part):
        return Made(self.source, part)


class Calls(list):
    """The calls in order, each with the marks that hold for it. Marks have no result and no number."""

    def __init__(self):
        self.marks, self.held = {}, []

    def add(self, path, args, kwargs):
        if path == "air.scope_enter.default":
            assert not self.marks and len(args[0]) == len(args[1]) and not kwargs, (path, args)
            self.marks = dict(zip(args[0], map(str, args[1])))
        elif path == "air.scope_exit.default":
            assert self.marks and not args and not kwargs, (path, args)
            self.marks = {}
        else:
            self.append((path, args, kwargs))
            self.held.append(self.marks)


class Operators:
    """torch.ops, and what stands behind its points."""

    def __init__(self, calls, path=""):
        self.calls, self.path = calls, path

    def __getattr__(self, name):
        return Operators(self.calls, f"{self.path}.{name}" if self.path else name)

    def __call__(self, *args, **kwargs):
        self.calls.add(self.path, args, kwargs)
        return Made(len(self.calls) - 1)


class Module:
    def __getattr__(self, name):
        return Made(name)


def run(path):
    """The calls in order, and what is returned."""
    calls = Calls()
    torch = types.SimpleNamespace(ops=Operators(calls), nn=types.SimpleNamespace(Module=Module))
    for name in "int8 uint8 int32 int64 float16 bfloat16 float32 float64 bool".split():
        setattr(torch, name, f"torch.{name}")
    scope = {"torch": torch}
    exec(open(path, encoding="utf-8").read(), scope)
    forward = scope["GraphModule"].forward
    inputs = forward.__code__.co_varnames[1:forward.__code__.co_argcount]
    return calls, forward(scope["GraphModule"](), *[Made(name) for name in inputs]), inputs


def read(path):
    """The same of the list of nodes."""
    calls, made, users, inputs = Calls(), {}, {}, []
    lines = open(path, encoding="utf-8").read().splitlines()
    assert lines[0] == "graph():" and lines[-1].startswith("    return ("), lines

    def operand(text):
        if text[:1] == "%":
            return made[text[1:]]
        return text if text.startswith("torch.") else eval(text, {"inf": float("inf")})

    def attribute(text):  # texts have no quotes there
        if text[:1] == "%":
            return made[text[1:]]
        try:
            return eval(text, {"inf": float("inf")})
        except (NameError, SyntaxError):
            return text

    for line in lines[1:-1]:
        name, count, kind, target, rest = re.fullmatch(r"    %(\w+) : \[num_users=(\d+)\] = (\w+)\[target=([\w.]+)\](.*)", line).groups()
        users[name] = [int(count), 0]
        for other in set(re.findall(r"%(\w+)", rest)):
            users[other][1] += 1
        if kind in ("placeholder", "get_attr"):
            assert target == name and not rest
            made[name] = Made(name)
            inputs += [name] if kind == "placeholder" else []
            continue
        args, kwargs = re.fullmatch(r"\(args = \((.*)\), kwargs = \{(.*)\}\)", rest).groups()
        if target.startswith("torch.ops.air."):
            lists = [part.split(", ") for part in re.findall(r"\[([^]]*)\]", args)]
            calls.add(target.removeprefix("torch.ops."), lists, {})
            continue
        args = [operand(arg) for arg in re.findall(r"\[[^]]*\]|[^,\s]+", args)]
        if target == "operator.getitem":
            made[name] = Made(args[0].source, args[1])
            continue
        kwargs = {key: attribute(value) for key, value in re.findall(r"(\w+): (\[[^]]*\]|[^,]+)", kwargs)}
        calls.add(target.removeprefix("torch.ops."), tuple(args), kwargs)
        made[name] = Made(len(calls) - 1)
    assert "%" not in lines[-1], lines[-1]
    names = re.findall(r"\w+", lines[-1].removeprefix("    return"))
    for name in set(names):
        users[name][1] += 1
    assert all(said == found for said, found in users.values()), users
    return calls, tuple(made[name] for name in names), tuple(inputs)


def plain(value):
    return (value.source, value.part) if isinstance(value, Made) else value


def plain_calls(calls):
    return [(target, [plain(arg) for arg in args], {key: plain(value) for key, value in kwargs.items()}) for target, args, kwargs in calls]


calls, returned, inputs = run(sys.argv[1])
others = read(sys.argv[2])
assert plain_calls(calls) == plain_calls(others[0]), (plain_calls(calls), plain_calls(others[0]))
assert [plain(value) for value in returned] == [plain(value) for value in others[1]]
assert inputs == others[2], (inputs, others[2])
assert calls.held == others[0].held and not calls.marks and not others[0].marks, (calls.held, others[0].held)

graph = text_format.Parse(open(sys.argv[3], encoding="latin-1").read(), onnx.ModelProto()).graph
assert len(graph.input) == len(inputs) and len(graph.node) == len(calls), (len(graph.node), len(calls))
made = {value.name: (name, None) for value, name in zip(graph.input, inputs)}
constants = {tensor.name for tensor in graph.initializer}
for number, (node, (target, args, kwargs)) in enumerate(zip(graph.node, calls)):
    words = re.sub("[^a-z]", "", target.lower())
    assert re.sub("[^a-z]", "", node.op_type.lower().replace("sklink", "")) in words, (node.op_type, target)
    found = sorted((str(arg.source), arg.part or 0) for arg in [*args, *kwargs.values()] if isinstance(arg, Made) and not str(arg.source).startswith("_tensor"))
    wanted = sorted((str(made[name][0]), made[name][1] or 0) for name in node.input if name and name not in constants)
    assert found == wanted, (target, found, wanted)
    marks = {a.name: a.s.decode() for a in node.attribute if a.name in ("_super_kernel_scope", "_super_kernel_options")}
    marks |= {"_super_kernel_options": marks.get("_super_kernel_options", "")} if marks else {}
    numbers = {a.name: str(a.i) for a in node.attribute if a.name in ("stream_id", "_op_aicore_num", "_op_vectorcore_num") and a.i}
    limits = {name: numbers.get(name, "0") for name in ("_op_aicore_num", "_op_vectorcore_num")}
    marks |= {"_user_stream_label": numbers["stream_id"]} if "stream_id" in numbers else {}
    marks |= limits if set(limits.values()) != {"0"} else {}
    assert calls.held[number] == marks, (node.name, calls.held[number], marks)
    for part, name in enumerate(node.output):
        made[name] = (number, part)
assert [(str(value.source), value.part or 0) for value in returned] == [(str(made[value.name][0]), made[value.name][1] or 0) for value in graph.output]
