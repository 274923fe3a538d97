"""What models of exporters ask of the link: door.py SKLINK SKRUN KERNELS [CASE ...]. Each case makes a small model, links
it, and compares results with numpy, or an error with a text."""
import re
import subprocess
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

sklink, skrun, kernels = sys.argv[1:4]
f32 = numpy.float32
TYPES = {"f": TensorProto.FLOAT, "i": TensorProto.INT64, "b": TensorProto.BOOL, "h": TensorProto.FLOAT16, "s": TensorProto.INT32, "c": TensorProto.INT8}
numbers = numpy.random.default_rng(0)


def info(name, shape=None, kind="f"):
    return helper.make_tensor_value_info(name, TYPES[kind], shape)


def save(nodes, inputs, outputs, constants=(), infos=(), name="model.onnx", **more):
    made = [numpy_helper.from_array(numpy.array(array), name) for name, array in dict(constants).items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, made, value_info=list(infos), **more)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), name)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), name=outputs.split()[0] + "_node", **attributes)


def said(*options, path="model.onnx", package="model.sk"):
    command = [sklink, path, "-L", kernels, "-lskernels", "-o", package, *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def link(*options, **more):
    done = said(*options, **more)
    assert not done.returncode, (options, done.stderr)
    return done.stderr


def refuses(pattern, *options, **more):
    done = said(*options, **more)
    assert done.returncode == 1 and re.search(pattern, done.stderr, re.M), (pattern, done.returncode, done.stderr)
    return done.stderr


def run(outputs, *options, package="model.sk", **arrays):
    words = [*options]
    for name, array in arrays.items():
        numpy.save(name + ".npy", array)
        words += ["--input", f"{name}={name}.npy"]
    for name in outputs:
        words += ["--output", f"{name}={name}.out.npy"]
    done = subprocess.run([skrun, package, *words], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return [numpy.load(name + ".out.npy") for name in outputs]


def same(found, wanted, text=""):
    numpy.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6, err_msg=text)


# ---- loops ----


def counted(kind, bound):
    """Loop with the condition i < n, and an output for each iteration, as tf2onnx writes Keras' recurrent layers."""
    dtype = {"i": numpy.int64, "s": numpy.int32}[kind]
    nodes = [node("Add", "i one", "i2"), node("MatMul", "s w", "p"), node("Tanh", "p", "s2"), node("Less", "i2 n", "c2"),
             node("Identity", "s2", "each")]
    body = helper.make_graph(nodes, "body", [info("it", [], "i"), info("c", [], "b"), info("i", [], kind), info("s", [1, 4])],
                             [info("c2", [], "b"), info("i2", [], kind), info("s2", [1, 4]), info("each", [1, 4])])
    w = (numbers.random((4, 4), f32) - 0.5).astype(f32)
    loop = helper.make_node("Loop", ["", "c0", "zero", "x"], ["il", "y", "all"], name="loop", body=body)
    constants = {"zero": dtype(0), "one": dtype(1), "w": w}
    before = []
    if bound == "shape":
        before = [node("Shape", "long", "shape"), node("Cast", "shape", "sizes", to=TYPES[kind])]
        before += [node("Slice", "sizes begin end axis", "part"), node("Squeeze", "part axis", "n")] if kind == "s" else []
        before += [node("Gather", "sizes at", "n", axis=0)] if kind == "i" else []
        constants.update(at=numpy.int64(0), begin=[-2], end=[1], axis=[0])
    else:
        constants["n"] = dtype(bound)
    save([*before, node("Less", "zero n", "c0"), loop], [info("x", [1, 4])] + [info("long", [40, 2])] * (bound == "shape"),
         [info("y", [1, 4]), info("all", None)], constants)
    link()
    state = x = numbers.random((1, 4), f32)
    wanted = []
    for _ in range(40 if bound == "shape" else bound):
        state = numpy.tanh(state @ w)
        wanted.append(state)
    y, every = run(["y", "all"], x=x)
    same(y, state)
    same(every, numpy.array(wanted))


def loops():
    counted("i", 17)
    counted("s", 300)
    counted("i", "shape")
    counted("s", "shape")
    # A counter that leaves its type would go on forever; no iteration at all; a condition that needs kernels at last.
    def ended(kind, begin, step, most, op="Less"):
        dtype = {"i": numpy.int64, "c": numpy.int8}[kind]
        steps = [node("Add", "i step", "i2"), node("Add", "s half", "s2"), node(op, "i2 n", "c2")]
        body = helper.make_graph(steps, "body", [info("it", [], "i"), info("c", [], "b"), info("i", [], kind), info("s", [2])],
                                 [info("c2", [], "b"), info("i2", [], kind), info("s2", [2])])
        loop = helper.make_node("Loop", ["", "c0", "begin", "x"], ["il", "y"], name="loop", body=body)
        save([node("Less", "begin n", "c0"), loop], [info("x", [2])], [info("y", [2])],
             {"begin": dtype(begin), "step": dtype(step), "n": dtype(most), "half": f32(0.5)})

    ended("i", 5, 3, 30)
    link()
    same(run(["y"], x=numpy.ones(2, f32))[0], numpy.full(2, 1 + 9 * 0.5))
    ended("i", 5, 3, 5)
    link()
    same(run(["y"], x=numpy.ones(2, f32))[0], numpy.ones(2))
    ended("c", 100, 30, 110)  # 100, -126, and on to 114
    link()
    same(run(["y"], x=numpy.ones(2, f32))[0], numpy.full(2, 1 + 9 * 0.5))
    # Numbers of u64 that i64 lacks are compared as they are.
    for op, sign in (("Less", 1), ("Greater", -1)):
        branches = {name: helper.make_graph([node(kind, "x", name)], name, [], [info(name, [2])])
                    for name, kind in (("then_branch", "Neg"), ("else_branch", "Identity"))}
        save([node(op, "big one", "c"), helper.make_node("If", ["c"], ["y"], name="if", **branches)], [info("x", [2])],
             [info("y", [2])], {"big": numpy.uint64(2**64 - 1), "one": numpy.uint64(1)})
        link()
        same(run(["y"], x=numpy.ones(2, f32))[0], numpy.full(2, f32(sign)))
    # Unsigned results begin anew where they would be negative.
    for dtype in (numpy.uint8, numpy.uint16, numpy.uint32, numpy.uint64):
        save([node("Sub", "four eight", "d"), node("Greater", "d two", "c"), helper.make_node("If", ["c"], ["y"], name="if", **branches)],
             [info("x", [2])], [info("y", [2])], {"four": dtype(4), "eight": dtype(8), "two": dtype(2)})
        link()
        same(run(["y"], x=numpy.ones(2, f32))[0], numpy.full(2, f32(-1)), dtype)
    # A condition that data decide, one beyond the limit, and a counter that leaves its type.
    body = helper.make_graph([node("Add", "i one", "i2"), node("Less", "i2 n", "c2"), node("Identity", "s", "s2")], "body",
                             [info("it", [], "i"), info("c", [], "b"), info("i", [], "i"), info("s", [4])],
                             [info("c2", [], "b"), info("i2", [], "i"), info("s2", [4])])
    loop = helper.make_node("Loop", ["", "", "zero", "x"], ["il", "y"], name="loop", body=body)
    save([loop], [info("x", [4])], [info("y", [4])], {"zero": 0, "one": 1, "n": 2000})
    refuses("'loop' .Loop.: it has more than 1024 iterations")


# ---- frozen values ----


def branch(name, op, constant):
    return helper.make_graph([helper.make_node(op, ["x", constant], [name])], name, [], [info(name)])


def choice(extra=()):
    nodes = [node("Equal", "sr k16", "c"), helper.make_node("If", ["c"], ["y"], name="choice", then_branch=branch("t", "Mul", "two"),
                                                             else_branch=branch("e", "Mul", "three"))]
    save(nodes, [info("x", [4]), info("sr", [], "i"), *extra], [info("y", [4])], {"k16": 16000, "two": f32(2), "three": f32(3)})


def freeze():
    x = numbers.random(4, f32)
    choice()
    text = refuses("'choice' .If.: which branch is taken depends on the elements of 'c'")
    assert "--freeze 'sr=NUMBER'" in text and "--freeze 'c=true'" in text, text
    for option, factor in (("sr=16000", 2), ("sr=8000", 3), ("c=true", 2), ("c=false", 3), ("c=1", 2)):
        link("--freeze", option)
        same(run(["y"], x=x)[0], x * f32(factor), option)
    refuses("--freeze 'sr=1.5': '1.5' is not a number of type i64", "--freeze", "sr=1.5")
    refuses("--freeze 'sr=true': 'true' is not a number of type i64", "--freeze", "sr=true")
    refuses("the shape is .1., but that of input 'sr' is ..$", "--freeze", "sr=[1]")
    refuses("--freeze 'sr=.1': a comma or a closing bracket is missing", "--freeze", "sr=[1")
    refuses("--freeze 'k16=1': the model has no input 'k16'", "--freeze", "k16=1")
    refuses("nothing.npy: No such file", "--freeze", "sr=nothing.npy")
    # Inputs that nothing uses are not counted, also where the proposed pattern matches them.
    save([node("Add", "p.0 p.1", "y")], [info(f"p.{i}", [None, None]) for i in range(4)], [info("y", None)])
    text = refuses("--shape 'p.\\*=NxN'$")
    assert "more:" not in text and len(text) < 1000, text
    # Elements of other types and ranks; a number for all elements.
    save([node("Add", "x a", "t"), node("Cast", "h", "hf", to=TYPES["f"]), node("Mul", "t hf", "u"), node("Where", "b u t", "y")],
         [info("x", [2, 3]), info("a", [2, 3]), info("h", [3], "h"), info("b", [2, 1], "b")], [info("y", [2, 3])])
    x = numbers.random((2, 3), f32)
    link("--freeze", "a=[[1,2,3],[4.5,-5e0,6]]", "--freeze", "h=[0.1, 65504, 1e-7]", "--freeze", "b=[[true],[false]]")
    t = x + numpy.array([[1, 2, 3], [4.5, -5, 6]], f32)
    half = numpy.array([0.1, 65504, 1e-7], numpy.float16).astype(f32)
    same(run(["y"], x=x)[0], numpy.where([[True], [False]], t * half, t))
    link("--freeze", "a=-0.5", "--freeze", "h=2", "--freeze", "b=true")
    same(run(["y"], x=x)[0], (x - f32(0.5)) * 2)
    refuses("its lists are not equally long", "--freeze", "a=[[1,2,3],[4,5]]")
    refuses("its lists are not equally deep", "--freeze", "a=[[1,2,3],4]")
    refuses("'1e39' is not a number of type f32", "--freeze", "a=1e39")
    refuses("'65520' is not a number of type f16", "--freeze", "h=65520")
    refuses("'1e999' is not a number of type f32", "--freeze", "a=1e999")
    refuses("a number is missing after a comma", "--freeze", "h=[1,2,3,]")
    refuses("--freeze 'a=': neither a file nor elements", "--freeze", "a=")
    link("--freeze", "a=-inf", "--freeze", "h=1", "--freeze", "b=true")
    assert numpy.isneginf(run(["y"], x=x)[0]).all()
    # One number is each element of a value that the file does not declare, and has its type.
    save([node("Relu", "x", "h"), node("Shape", "h", "s"), node("ReduceSum", "h", "sum", keepdims=0), node("Softmax", "h", "p"),
          node("Cast", "s", "sf", to=TYPES["f"]), node("Add", "sf sum", "more"), node("Mul", "p h", "y")],
         [info("x", ["n", 4])], [info("y", None), info("more", None)], infos=[info("h", ["n", 4])])
    h = numpy.full((3, 4), f32(1.5))
    link("--freeze", "h=1.5", "--dim", "n=3")
    same(run(["more"])[0], numpy.array([3, 4], f32) + 18)
    same(run(["y"])[0], h / 4)
    refuses("one number does not say its open sizes", "--freeze", "h=1.5", "--dim", "n=1..3")
    refuses("one number does not say its open sizes", "--freeze", "p=2", "--dim", "n=1..3")
    link("--freeze", "sf=[1,2]", "--freeze", "sum=5", "--dim", "n=2")
    same(run(["more"], x=numpy.ones((2, 4), f32))[0], numpy.array([6, 7], f32))
    # A value that is frozen decides the shape of another.
    save([node("Neg", "n", "m"), node("Expand", "x m", "e"), node("Exp", "e", "y")], [info("x", [1]), info("n", [2], "i")], [info("y", None)])
    link("--freeze", "m=[2,3]", "--freeze", "e=0")
    same(run(["y"])[0], numpy.ones((2, 3), f32))
    # A value that a node makes decides a shape. The node, and those before it, are left out.
    save([node("Foo", "n", "m"), node("Reshape", "x m", "y")], [info("x", [2, 3]), info("n", ["k"], "i")], [info("y", None)],
         infos=[info("m", [2], "i")])
    link("--freeze", "m=[3,-1]")
    same(run(["y"], x=x)[0], x.reshape(3, 2))
    refuses("the shape is .3., but that of value 'm' is .2.$", "--freeze", "m=[3,1,2]")
    open("model.yaml", "w", encoding="utf-8").write("sklink: 1\ngraph: model.onnx\nfreeze: {m: [3, -1]}\n")
    link(path="model.yaml")
    same(run(["y"], x=x)[0], x.reshape(3, 2))


def bodies():
    """Values that bodies read by name: constants, inputs and parts of a model reach them; a branch that is never taken asks
    for nothing. Texts of such models are the same model."""
    yes = helper.make_graph([node("Concat", "past now", "long", axis=0)], "yes", [], [info("long", None)])
    no = helper.make_graph([node("Identity", "now", "short")], "no", [], [info("short", None)])
    chosen = helper.make_node("If", ["use_past"], ["all"], name="choice", then_branch=yes, else_branch=no)
    save([node("Mul", "x k", "now"), chosen, node("Add", "all k", "y"), node("Neg", "all", "z")],
         [info("x", ["n"]), info("k", []), info("past", ["p"]), info("use_past", [], "b")], [info("y", None), info("z", None)])
    x, past = numbers.random(3, f32), numbers.random(5, f32)
    link("--freeze", "k=2", "--freeze", "use_past=0", "--dim", "n=3", "--model-text", "text.pbtxt")
    link(path="text.pbtxt", package="text.sk")
    for package in ("model.sk", "text.sk"):
        same(run(["y"], x=x, package=package)[0], 2 * x + 2)
    refuses("the sizes of input 'past' are not known", "--freeze", "k=2", "--freeze", "use_past=1", "--dim", "n=3")
    sets = ["--dim", "first:n=1..4", "--dim", "next:n=1..4,p=1..8", "--freeze", "first:use_past=false", "--freeze", "next:use_past=true"]
    link(*sets, "--freeze", "k=3")
    same(run(["y"], "--network", "first", x=x)[0], 3 * x + 3)
    same(run(["y"], "--network", "next", x=x, past=past)[0], numpy.concatenate((past, 3 * x)) + 3)
    # A constant, and an input, in the place of a value that a body reads.
    link("--freeze", "now=[7.0,8]", "--freeze", "use_past=1", "--freeze", "k=1", "--dim", "p=5")
    same(run(["y"], past=past)[0], numpy.concatenate((past, [7, 8])) + 1)
    link("--inputs", "now,past", "--outputs", "z", "--freeze", "use_past=true", "--dim", "n=1..4", "--dim", "p=5")
    same(run(["z"], now=x, past=past)[0], -numpy.concatenate((past, x)))


# ---- several networks ----


def networks():
    save([node("Mul", "x k", "t"), node("Add", "t b", "y")], [info("x", ["batch", "width"]), info("k", []), info("b", ["?", "?"])],
         [info("y", None)])
    sets = ["--dim", "one:batch=1,width=3", "--dim", "two:batch=2,width=3"]
    link(*sets, "--freeze", "one:k=5", "--freeze", "two:k=7", "--shape", "one:b=1x3", "--shape", "two:b=2x1")
    for name, rows, factor, columns in (("one", 1, 5, 3), ("two", 2, 7, 1)):
        x, b = numbers.random((rows, 3), f32), numbers.random((rows, columns), f32)
        same(run(["y"], "--network", name, x=x, b=b)[0], x * f32(factor) + b, name)
    refuses("the sizes of input 'b'", *sets, "--freeze", "one:k=5", "--shape", "one:b=1x3")
    refuses("--freeze 'three:k=5': the model has no input 'three:k'", *sets, "--freeze", "three:k=5")
    # A name of the model that begins like that counts as such.
    save([node("Mul", "x one:k", "y")], [info("x", ["batch"]), info("one:k", [])], [info("y", None)])
    link("--dim", "one:batch=1", "--dim", "two:batch=2", "--freeze", "one:k=5")
    for name, rows in (("one", 1), ("two", 2)):
        x = numbers.random(rows, f32)
        same(run(["y"], "--network", name, x=x)[0], x * f32(5), name)


# ---- names of dimensions ----


def dimensions():
    pasts = [f"past_key_values.{i}.{kind}" for i in range(6) for kind in ("key", "value")]
    nodes = [node("Concat", " ".join(pasts), "joined", axis=1), node("ReduceSum", "joined", "sum", keepdims=0), node("Add", "x sum", "y")]
    shapes = ["?", 2, "?", 4]
    save(nodes, [info("x", ["unk__1"]), *(info(p, shapes) for p in pasts)], [info("y", None)])
    text = refuses("the sizes of input 'x' and 12 more are not known")
    assert "--shape 'past_key_values.*.key=Nx2xNx4' --shape 'past_key_values.*.value=Nx2xNx4'" in text, text
    x = numbers.random(3, f32)
    arrays = {name: numbers.random((2, 2, 5, 4), f32) for name in pasts}
    wanted = x + sum(a.sum(dtype=numpy.float64) for a in arrays.values())
    link("--dim", "unk__*=3", "--shape", "past_key_values.*=2x2x5x4")
    same(run(["y"], x=x, **arrays)[0], wanted)
    link("--dim", "unk__1=1..8", "--shape", "past*=batchx2xpastx4", "--dim", "batch=1..3", "--dim", "past=1..9")
    same(run(["y"], x=x, **arrays)[0], wanted)
    link("--dim", "unk__1=3", "--dim", "[?]=3")
    refuses("--shape 'pasd.=3': the model has no input 'pasd.'", "--shape", "pasd*=3")
    refuses("--dim 'unc.=3': no input has a dimension of that name", "--dim", "unc*=3")
    # Equal sizes of several names; a name with two sizes.
    save([node("Add", "a b", "y")], [info("a", ["s1", 4]), info("b", ["s2", 4])], [info("y", None)])
    link("--dim", "s1=1..9", "--dim", "s2=s1")
    a, b = numbers.random((7, 4), f32), numbers.random((7, 4), f32)
    same(run(["y"], a=a, b=b)[0], a + b)
    save([node("MatMul", "a b", "y")], [info("a", ["N", 4]), info("b", [4, "N"])], [info("y", None)])
    link("--shape", "a=rowsx4", "--shape", "b=4xcolumns", "--dim", "rows=1..9", "--dim", "columns=3")
    a, b = numbers.random((7, 4), f32), numbers.random((4, 3), f32)
    same(run(["y"], a=a, b=b)[0], a @ b)
    link("--shape", "a=7x4", "--shape", "b=4x3")
    same(run(["y"], a=a, b=b)[0], a @ b)


def bounds():
    """Sizes that are equal up to one size, or from one on, as exporters leave them that fix a length: the error has these
    bounds, and they link."""
    save([node("Slice", "x zero end one", "part"), node("Add", "part x", "y")], [info("x", [2, "seq"])], [info("y", None)],
         {"zero": [0], "end": [13], "one": [1]})
    refuses("equal up to 'seq' of 13: --dim 'seq=1..13'", "--dim", "seq=1..64")
    link("--dim", "seq=1..13")
    save([node("Slice", "x zero end one", "part"), node("Add", "part table", "y")], [info("x", [2, "seq"])], [info("y", None)],
         {"zero": [0], "end": [13], "one": [1], "table": numbers.random((2, 13), f32)})
    refuses("equal from 'seq' of 13 on: --dim 'seq=13..64'", "--dim", "seq=1..64")
    link("--dim", "seq=13..64")


def squeezes():
    """TorchScript's Squeeze of an axis of any size is an If on that size."""
    bodies = [helper.make_graph([node("Squeeze", "x first", "t")], "t", [], [info("t", None)]),
              helper.make_graph([node("Identity", "x", "e")], "e", [], [info("e", None)])]
    choose = helper.make_node("If", ["c"], ["y"], name="squeeze", then_branch=bodies[0], else_branch=bodies[1])
    save([node("Shape", "x", "shape"), node("Gather", "shape at", "rows"), node("Equal", "rows one", "c"), choose], [info("x", ["n", 4])],
         [info("y", None)], {"at": 0, "one": 1, "first": [0]})
    refuses("'squeeze' .If.: which branch .* differs from size to size .* or bounds that decide it: --dim 'n=2..9'$", "--dim", "n=1..9")
    link("--dim", "n=2..9")
    link("--dim", "one:n=1", "--dim", "more:n=2..9")
    for network, rows in (("one", 1), ("more", 5)):
        x = numbers.random((rows, 4), f32)
        same(run(["y"], "--network", network, x=x)[0], x[0] if rows == 1 else x)


# ---- parts of a model ----


def parts():
    w = [(numbers.random((4, 4), f32) - 0.5).astype(f32) for _ in range(3)]
    layers = []
    for i, inner in enumerate(("ids", "a", "b")):
        layers += [node("MatMul", f"{inner if i else 'x'} w{i}", f"p{i}"), node("Tanh", f"p{i}", ["a", "b", "y"][i])]
    more = [node("Foo", "y", "strange"), node("Add", "a mask", "masked")]
    constants = {f"w{i}": array for i, array in enumerate(w)}

    def make(infos=()):
        save(layers + more, [info("x", ["rows", 4]), info("mask", ["rows", 4])],
             [info("y", None), info("strange", None), info("masked", None)], constants, infos)

    make([info("a", ["rows", 4])])
    x = numbers.random((3, 4), f32)
    a = numpy.tanh(x @ w[0])
    b = numpy.tanh(a @ w[1])
    y = numpy.tanh(b @ w[2])
    refuses("there is no operator 'Foo'", "--dim", "rows=3")
    link("--dim", "rows=3", "--outputs", "b,a")
    for found, wanted in zip(run(["a", "b"], x=x), (a, b)):
        same(found, wanted)
    assert "nothing uses input 'mask'" in link("--dim", "rows=1..9", "--outputs", "y")
    same(run(["y"], x=x)[0], y)
    text = link("--dim", "rows=3", "--inputs", "a", "--outputs", "y")
    assert not text, text
    same(run(["y"], a=a)[0], y)
    # Types and shapes that the file does not declare are computed; sizes with bounds stay so.
    for sizes in ("3", "1..9"):
        link("--dim", f"rows={sizes}", "--inputs", "b", "--outputs", "y")
        same(run(["y"], b=b)[0], y)
    link("--shape", "p1=3x4", "--dim", "rows=3", "--inputs", "p1", "--outputs", "b")
    same(run(["b"], p1=a @ w[1])[0], b)
    text = link("--dim", "rows=3", "--inputs", "a", "--outputs", "y,masked")
    assert "input 'mask' stays, since node 'masked_node' reads it" in text, text
    assert not link("--dim", "rows=3", "--inputs", "a,mask", "--outputs", "y,masked")
    link("--dim", "rows=3", "--inputs", "x,a", "--outputs", "b")
    refuses("--outputs 'z': it is neither an input of the model nor a value that its outputs need", "--outputs", "z")
    refuses("--inputs 'w1': it is a constant of the model", "--inputs", "w1")
    refuses("--outputs 'x': it is an input of the model", "--outputs", "x")
    refuses("--inputs 'b': the file does not declare its type and shape", "--inputs", "b", "--outputs", "y")
    link("--dim", "one:rows=1", "--dim", "all:rows=1..9", "--inputs", "b", "--outputs", "y")
    same(run(["y"], "--network", "all", b=b)[0], y)


# ---- forms of files ----


def sparse(name, dense, linear=True):
    places = numpy.flatnonzero(dense)
    values = numpy_helper.from_array(dense.flatten()[places], name)
    indices = places if linear else numpy.argwhere(dense)
    return helper.make_sparse_tensor(values, numpy_helper.from_array(indices.astype(numpy.int64), name + "_indices"), dense.shape)


def forms():
    dense = numpy.zeros((5, 6), f32)
    dense[[0, 2, 4], [1, 5, 0]] = [1.5, -2, 3]
    bias = numpy.array([0, 0, 7, 0, 0, 0], f32)
    for linear in (True, False):
        save([node("MatMul", "x w", "p"), node("Add", "p b", "y")], [info("x", [2, 5])], [info("y", [2, 6])],
             sparse_initializer=[sparse("w", dense, linear), sparse("b", bias, linear)])
        link()
        x = numbers.random((2, 5), f32)
        same(run(["y"], x=x)[0], x @ dense + bias)
    wrong = sparse("w", dense)
    wrong.indices.raw_data = numpy.array([1, 17, 30], numpy.int64).tobytes()
    save([node("MatMul", "x w", "y")], [info("x", [2, 5])], [info("y", [2, 6])], sparse_initializer=[wrong])
    refuses("initializer 'w': its element 2 lies outside of it")
    large = sparse("w", dense)
    del large.dims[:]
    large.dims.extend([1 << 20, 1 << 20])
    save([node("MatMul", "x w", "y")], [info("x", [2, 1 << 20])], [info("y", None)], sparse_initializer=[large])
    refuses("initializer .w.: as a dense tensor it would have more than 16 MiB, and more than 256 times")
    # Optional inputs given as empty; functions in functions; a newer ir_version.
    half = [helper.make_node("Constant", [], ["h"], value_float=0.5), helper.make_node("Mul", ["v", "h"], ["r"])]
    inner = helper.make_function("local", "Half", ["v"], ["r"], half, [helper.make_opsetid("", 17)])
    outer = helper.make_function("local", "Quarter", ["v"], ["r"], [helper.make_node("Half", ["v"], ["m"], domain="local"),
                                                                     helper.make_node("Half", ["m"], ["r"], domain="local")],
                                 [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)])
    nodes = [helper.make_node("Quarter", ["x"], ["q"], domain="local"), helper.make_node("Clip", ["q", "", "most"], ["y"])]
    graph = helper.make_graph(nodes, "g", [info("x", [4])], [info("y", [4])], [numpy_helper.from_array(f32(0.2), "most")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("local", 1)], ir_version=8,
                              functions=[inner, outer])
    model.ir_version = 13
    open("model.onnx", "wb").write(model.SerializeToString())
    link()
    x = numbers.random(4, f32)
    same(run(["y"], x=x)[0], numpy.minimum(x / 4, f32(0.2)))


def without_elements():
    """A past of length 0 comes from a file of shape [1,2,0,16]."""
    save([node("Concat", "past new", "present", axis=2)], [info("past", [1, 2, "past", 16]), info("new", [1, 2, "seq", 16])],
         [info("present", None)])
    new = numbers.random((1, 2, 3, 16), f32)
    for sizes in (["past=0..8", "seq=1..8"], ["past=0", "seq=3"]):
        link(*(word for size in sizes for word in ("--dim", size)))
        same(run(["present"], past=numpy.zeros((1, 2, 0, 16), f32), new=new)[0], new)


# ---- everything that is not there ----


def absent():
    nodes = [node("Foo", "x", "a")] + [node("Bar", "x", f"b{i}") for i in range(5)] + [node("Baz", "x", f"c{i}") for i in range(3)]
    nodes += [node("Add", "x text", "d"), node("Add", "x other", "e"), node("Relu", "x", "f")]
    outputs = [n.output[0] for n in nodes]
    save(nodes, [info("x", [4])], [info(o, None) for o in outputs], {"text": numpy.array(["a"] * 4, object), "other": numpy.array(["b"] * 4, object)})
    text = refuses("^sklink: error: model.onnx: 11 nodes and values cannot be linked, for 4 reasons, the most frequent first$")
    lines = [line for line in text.splitlines() if not line.startswith(">>>   ")]
    wanted = ["node 'b0_node' .Bar. and 4 more: there is no operator 'Bar'", "node 'c0_node' .Baz. and 2 more: ",
              "initializer 'text' and 1 more: its elements are of type string", "node 'a_node' .Foo.: there is no"]
    assert len(lines) == 5 and all(re.match(">>> " + w, line) for w, line in zip(wanted, lines[1:])), text
    assert refuses("11 nodes and values", "--error-limit=2").splitlines()[-1] == ">>> 2 more reasons (--error-limit=0 shows all)"
    # A file of weights that is absent: one error, and a check without it.
    w = numbers.random((300, 300), f32)
    save([node("MatMul", "x w", "p"), node("MatMul", "p v", "y")], [info("x", [2, 300])], [info("y", None)], {"w": w, "v": w.T})
    model = onnx.load("model.onnx")
    onnx.save(model, "model.onnx", save_as_external_data=True, location="weights.data", size_threshold=100)
    link()
    subprocess.run(["mv", "weights.data", "elsewhere"], check=True)
    text = refuses("initializer 'w' and 1 more: cannot read its data in 'weights.data': No such file or directory")
    assert text.count("error:") == 1, text
    text = link("--check")
    assert "weights.data: this file of the model's data is absent; operators, shapes and kernels are checked" in text, text
    model = onnx.load("model.onnx", load_external_data=False)
    model.graph.node.append(node("Foo", "y", "z"))
    model.graph.output.append(info("z"))
    open("model.onnx", "wb").write(model.SerializeToString())
    refuses("node 'z_node' .Foo.: there is no operator 'Foo'", "--check")


CASES = [loops, freeze, bodies, networks, dimensions, bounds, squeezes, parts, forms, without_elements, absent]
for case in CASES:
    if len(sys.argv) < 5 or case.__name__ in sys.argv[4:]:
        case()
