"""Facts about a whole model, before it is divided: constants, shapes, and the numbers in lists of sizes."""
from __future__ import annotations

import importlib
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy

onnx: Any = importlib.import_module("onnx")
for _part in ("helper", "numpy_helper", "shape_inference"):
    importlib.import_module("onnx." + _part)
Shape = List[Optional[int]]  # None: a size that the file leaves open

MICROSOFT = "com.microsoft"
# Operators with a first output of the first input's shape. Elementwise ones are also in SINGLE or SEVERAL.
SINGLE = set(
    "Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Cast Ceil Celu Clip Cos Cosh Dropout Elu Erf Exp FastGelu Floor"
    " Gelu HardSigmoid HardSwish Identity IsInf IsNaN LeakyRelu Log Mish Neg Not QuickGelu Reciprocal Relu Round Selu"
    " Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu".split()
)
SEVERAL = set(
    "Add And BiasGelu BitwiseAnd BitwiseOr BitwiseXor Div Equal FastGelu Greater GreaterOrEqual Less LessOrEqual Max"
    " Mean Min Mod Mul Or PRelu Pow Sub Sum Where Xor".split()
)
LIKE_FIRST = set(
    "Softmax LogSoftmax Hardmax LayerNormalization RMSNormalization SimplifiedLayerNormalization SkipLayerNormalization"
    " SkipSimplifiedLayerNormalization LpNormalization RotaryEmbedding CumSum TensorScatter QuantizeLinear"
    " DequantizeLinear Trilu ScatterElements ScatterND".split()
)
REDUCTIONS = set(
    "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp"
    " ReduceSumSquare".split()
)


class Refusal(Exception):
    """The model cannot be divided; the text says why, and where."""


def attribute(node: Any, name: str, default: Any = None) -> Any:
    """The value of a node's attribute; texts as str."""
    for item in node.attribute:
        if item.name == name:
            value = onnx.helper.get_attribute_value(item)
            return value.decode() if isinstance(value, bytes) else value
    return default


def kind(node: Any) -> str:
    """The operator's name, after its domain if that is another one than ai.onnx."""
    return f"{node.domain}:{node.op_type}" if node.domain not in ("", "ai.onnx") else str(node.op_type)


def broadcast(shapes: Sequence[Optional[Shape]]) -> Optional[Shape]:
    """The shape of an elementwise result. Of an open size and another one, the other one counts unless it is 1."""
    result: Shape = []
    for shape in shapes:
        if shape is None:
            return None
        longer, shorter = (result, shape) if len(result) >= len(shape) else (shape, result)
        both = list(longer)
        for back in range(1, len(shorter) + 1):
            one, other = longer[-back], shorter[-back]
            both[-back] = other if one == 1 else one if other == 1 or other is None else other
        result = both
    return result


class Facts:
    """The facts of a model. The model's nodes have names."""

    def __init__(self, model: Any) -> None:
        graph = model.graph
        self.opset = max([item.version for item in model.opset_import if item.domain in ("", "ai.onnx")], default=1)
        self.tensors: Dict[str, Any] = {tensor.name: tensor for tensor in graph.initializer}
        self.arrays: Dict[str, Any] = {}
        self.types: Dict[str, int] = {}  # of constants of types that numpy lacks
        self.names = set(self.tensors) | {value.name for value in graph.input}
        self.names.update(name for node in graph.node for name in node.output)
        self.producers: Dict[str, Any] = {name: node for node in graph.node for name in node.output if name}
        self.shapes: Dict[str, Shape] = {}
        self.inferred = self.infer_by_onnx(model)
        for value in graph.input:
            if value.name not in self.tensors and value.type.HasField("tensor_type"):
                self.shapes[value.name] = self.declared(value)
        for node in graph.node:
            if node.output and node.output[0]:
                shape = self.infer(node)
                if shape is not None:
                    self.shapes[node.output[0]] = shape

    @staticmethod
    def declared(value: Any) -> Shape:
        dims = value.type.tensor_type.shape.dim
        return [dim.dim_value if dim.HasField("dim_value") and dim.dim_value >= 0 else None for dim in dims]

    def infer_by_onnx(self, model: Any) -> Dict[str, Shape]:
        """Shapes that onnx infers; operators that it does not know have none."""
        light = onnx.ModelProto()
        light.CopyFrom(model)
        for tensor in light.graph.initializer:
            if tensor.data_type != onnx.TensorProto.INT64:
                for field in ("raw_data", "float_data", "int32_data", "double_data", "uint64_data"):
                    tensor.ClearField(field)
        try:
            found = onnx.shape_inference.infer_shapes(light).graph
        except Exception:  # of several types; then only the shapes below are known
            return {}
        return {v.name: self.declared(v) for v in found.value_info if v.type.tensor_type.HasField("shape")}

    # ---- constants ----

    def constant(self, name: str) -> Any:
        """The elements of a constant; None: it is none."""
        if name not in self.arrays:
            self.arrays[name] = self.evaluate(name)
        return self.arrays[name]

    def evaluate(self, name: str) -> Any:
        if name in self.tensors:
            return self.elements(name, self.tensors[name])
        node = self.producers.get(name)
        if node is None or node.domain not in ("", "ai.onnx"):
            return None
        if node.op_type == "Constant":
            item = node.attribute[0]
            value = onnx.helper.get_attribute_value(item)
            if item.name == "value":
                return self.elements(name, value)
            types = {"value_float": numpy.float32, "value_floats": numpy.float32, "value_int": numpy.int64,
                     "value_ints": numpy.int64}
            return numpy.array(value, types[item.name]) if item.name in types else None
        if node.op_type not in ("Identity", "Transpose"):
            return None
        array = self.constant(node.input[0])
        if node.input[0] in self.types:
            self.types[name] = self.types[node.input[0]]
        turned = array is not None and node.op_type == "Transpose"
        return numpy.transpose(array, attribute(node, "perm")) if turned else array

    def elements(self, name: str, tensor: Any) -> Any:
        """As numpy's; bf16 as the bits. None: of another type that numpy lacks."""
        if tensor.data_type == onnx.TensorProto.BFLOAT16:
            self.types[name] = tensor.data_type
            bits = numpy.frombuffer(tensor.raw_data, numpy.uint16) if tensor.raw_data else numpy.array(
                tensor.int32_data, numpy.uint16)
            return bits.reshape(list(tensor.dims))
        return onnx.numpy_helper.to_array(tensor) if tensor.data_type <= onnx.TensorProto.COMPLEX128 else None

    # ---- numbers in lists of sizes ----

    def numbers(self, name: str) -> Optional[Shape]:
        """The elements of a list of integers, or of one integer; None for those that are not known."""
        array = self.constant(name)
        if array is not None:
            return [int(x) for x in array.reshape(-1)] if array.dtype.kind in "iu" and array.size <= 64 else None
        node = self.producers.get(name)
        if node is None:
            return None
        inputs = [self.numbers(item) if item else None for item in node.input]
        if node.op_type == "Shape":
            shape = self.of(node.input[0])
            return None if shape is None else shape[attribute(node, "start", 0): attribute(node, "end")]
        if node.op_type == "Concat":
            return [x for part in inputs if part is not None for x in part] if None not in inputs else None
        if node.op_type in ("Cast", "Identity", "Reshape", "Squeeze", "Unsqueeze"):
            return inputs[0]
        if node.op_type == "Gather" and inputs[0] is not None and inputs[1] is not None:
            known = [x for x in inputs[1] if x is not None]
            return [inputs[0][x] for x in known] if len(known) == len(inputs[1]) else None
        if node.op_type == "Slice":
            return self.sliced_numbers(inputs)
        if node.op_type in ("Add", "Sub", "Mul", "Div") and None not in inputs:
            return self.computed_numbers(node.op_type, inputs)
        return None

    @staticmethod
    def sliced_numbers(inputs: List[Optional[Shape]]) -> Optional[Shape]:
        values = inputs[0]
        bounds = [part[0] if part else None for part in inputs[1:3]]
        if values is None or None in bounds or len(inputs) > 4 and inputs[4] != [1]:
            return None
        return values[bounds[0]: bounds[1]]

    @staticmethod
    def computed_numbers(op: str, inputs: List[Any]) -> Optional[Shape]:
        one, other = inputs
        if len(one) != len(other) and 1 not in (len(one), len(other)):
            return None
        count = max(len(one), len(other))
        result: Shape = []
        for a, b in zip(one * (count // len(one)), other * (count // len(other))):
            if a is None or b is None or op == "Div" and not b:
                result.append(None)
            else:
                result.append({"Add": a + b, "Sub": a - b, "Mul": a * b, "Div": int(a / b) if b else 0}[op])
        return result

    # ---- shapes ----

    def of(self, name: str) -> Optional[Shape]:
        """The shape; None: not even the number of dimensions is known."""
        if name in self.shapes:
            return self.shapes[name]
        if name in self.tensors:
            return list(self.tensors[name].dims)
        array = self.constant(name)
        return list(array.shape) if array is not None else self.inferred.get(name)

    def infer(self, node: Any) -> Optional[Shape]:
        shapes = [self.of(name) if name else None for name in node.input]
        first = shapes[0] if shapes else None
        op = node.op_type
        if op in SEVERAL and len(node.input) > 1:
            return broadcast(shapes)
        if op in SINGLE or op in LIKE_FIRST:
            return first
        if op in REDUCTIONS and first is not None:
            return self.infer_reduction(node, first)
        method: Any = getattr(self, "infer_" + op.lower(), None)
        found: Optional[Shape] = method(node, shapes) if method and first is not None else None
        return found

    def infer_matmul(self, node: Any, shapes: List[Any]) -> Optional[Shape]:
        a, b = shapes[0], shapes[1]
        if b is None or len(a) < 2 or len(b) < 2:
            return None
        batch = broadcast([a[:-2], b[:-2]])
        return None if batch is None else batch + [a[-2], b[-1]]

    def infer_gemm(self, node: Any, shapes: List[Any]) -> Optional[Shape]:
        a, b = shapes[0], shapes[1]
        if b is None:
            return None
        return [a[-1 if attribute(node, "transA", 0) else -2], b[-2 if attribute(node, "transB", 0) else -1]]

    def infer_matmulnbits(self, node: Any, shapes: List[Any]) -> Optional[Shape]:
        return list(shapes[0][:-1]) + [attribute(node, "N")]

    def infer_transpose(self, node: Any, shapes: List[Any]) -> Optional[Shape]:
        order = attribute(node, "perm") or list(range(len(shapes[0])))[::-1]
        return [shapes[0][axis] for axis in order] if len(order) == len(shapes[0]) else None

    def infer_reshape(self, node: Any, shapes: List[Any]) -> Optional[Shape]:
        target = self.numbers(node.input[1]) if len(node.input) > 1 else None
        if target is None:
            return None
        copies = not attribute(node, "allowzero", 0)
        result = [shapes[0][i] if x == 0 and copies and i < len(shapes[0]) else x for i, x in enumerate(target)]
        if -1 in result:
            rest = [x for x in result if x != -1]
            known = None not in rest and None not in shapes[0] and 0 not in rest
            result[result.index(-1)] = int(numpy.prod(shapes[0])) // int(numpy.prod(rest)) if known else None
        return result

    def axes(self, node: Any, position: int = 1) -> Optional[List[int]]:
        """The axes of an attribute or an input; None: all or unknown."""
        given = attribute(node, "axes")
        if given is None and len(node.input) > position and node.input[position]:
            numbers = self.numbers(node.input[position])
            given = numbers if numbers is not None and None not in numbers else None
        return None if given is None else list(given)

    def infer_unsqueeze(self, node: Any, shapes: List[Any]) -> Optional[Shape]:
        axes = self.axes(node)
        if axes is None:
            return None
        rank = len(shapes[0]) + len(axes)
        places, rest = {axis % rank for axis in axes}, iter(shapes[0])
        return [1 if place in places else next(rest) for place in range(rank)]

    def infer_squeeze(self, node: Any, shapes: List[Any]) -> Optional[Shape]:
        axes = self.axes(node)
        if axes is None:
            return None
        places = {axis % len(shapes[0]) for axis in axes}
        return [size for place, size in enumerate(shapes[0]) if place not in places]

    def infer_gather(self, node: Any, shapes: List[Any]) -> Optional[Shape]:
        axis = attribute(node, "axis", 0) % max(len(shapes[0]), 1)
        return None if shapes[1] is None else list(shapes[0][:axis]) + shapes[1] + shapes[0][axis + 1:]

    def infer_concat(self, node: Any, shapes: List[Any]) -> Optional[Shape]:
        if None in shapes:
            return None
        axis, result = attribute(node, "axis") % len(shapes[0]), list(shapes[0])
        sizes = [shape[axis] for shape in shapes]
        result[axis] = None if None in sizes else sum(sizes)
        return result

    def infer_expand(self, node: Any, shapes: List[Any]) -> Optional[Shape]:
        return broadcast([shapes[0], self.numbers(node.input[1])])

    def infer_slice(self, node: Any, shapes: List[Any]) -> Optional[Shape]:
        known = self.inferred.get(node.output[0])
        return known if known is not None else [None] * len(shapes[0])

    def split_sizes(self, node: Any) -> Optional[List[int]]:
        """The sizes of the pieces of a Split; None: not known."""
        shape, axis = self.of(node.input[0]), attribute(node, "axis", 0)
        given = attribute(node, "split")
        if given is None and len(node.input) > 1 and node.input[1]:
            given = self.numbers(node.input[1])
            return None if given is None or None in given else list(given)
        if given is None and shape is not None and shape[axis] is not None:
            count = len(node.output)
            size = -(-shape[axis] // count)
            given = [size] * (count - 1) + [shape[axis] - size * (count - 1)]
        return None if given is None else list(given)

    def infer_split(self, node: Any, shapes: List[Any]) -> Optional[Shape]:
        axis, sizes = attribute(node, "axis", 0), self.split_sizes(node)
        for place, name in enumerate(node.output):
            shape = list(shapes[0])
            shape[axis] = sizes[place] if sizes is not None else None
            self.shapes[name] = shape
        return self.shapes[node.output[0]]

    def infer_attention(self, node: Any, shapes: List[Any]) -> Optional[Shape]:
        """Of ONNX, and of com.microsoft, which has the weights of queries, keys and values."""
        if node.domain == MICROSOFT:
            sizes = attribute(node, "qkv_hidden_sizes")
            weights = shapes[1]
            return None if weights is None else list(shapes[0][:-1]) + [sizes[2] if sizes else weights[-1] // 3]
        values = shapes[2]
        if len(shapes[0]) == 4:
            return None if values is None else list(shapes[0][:-1]) + [values[-1]]
        heads, shared = attribute(node, "q_num_heads"), attribute(node, "kv_num_heads")
        known = values is not None and values[-1] is not None
        return list(shapes[0][:-1]) + [values[-1] // shared * heads if known else None]

    def infer_multiheadattention(self, node: Any, shapes: List[Any]) -> Optional[Shape]:
        return list(shapes[0])

    def infer_groupqueryattention(self, node: Any, shapes: List[Any]) -> Optional[Shape]:
        if len(node.input) > 1 and node.input[1]:
            return list(shapes[0])
        heads, shared, width = attribute(node, "num_heads"), attribute(node, "kv_num_heads"), shapes[0][-1]
        return list(shapes[0][:-1]) + [None if width is None else width // (heads + 2 * shared) * heads]

    def reduced(self, node: Any) -> Optional[Tuple[List[int], bool]]:
        """The axes, from the end, that a reduction leaves out, and whether they stay as 1; None: not known."""
        shape, axes = self.of(node.input[0]), self.axes(node)
        if shape is None or axes is None:
            return None
        return [axis if axis < 0 else axis - len(shape) for axis in axes], bool(attribute(node, "keepdims", 1))

    def infer_reduction(self, node: Any, shape: Shape) -> Optional[Shape]:
        found = self.reduced(node)
        if found is None:
            return None
        axes, keeps = found
        places = {axis + len(shape) for axis in axes}
        if keeps:
            return [1 if place in places else size for place, size in enumerate(shape)]
        return [size for place, size in enumerate(shape) if place not in places]

    def table(self, name: str) -> int:
        """The elements of a matrix that is a constant; 0: it is none."""
        shape = self.of(name) if self.constant(name) is not None else None
        rows, columns = shape if shape is not None and len(shape) == 2 else (0, 0)
        return (rows or 0) * (columns or 0)
