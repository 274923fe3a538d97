#!/bin/sh
# samples/convnet: ResNet-50 and MobileNetV2, small and narrow, right by numpy, and bit-identical however they are run.
. "$top_srcdir/tests/lib/lib.sh"
/usr/bin/python3 -c 'import onnx, numpy' 2>/dev/null || { echo "needs python3-onnx"; exit 77; }
convnet="/usr/bin/python3 $top_srcdir/samples/convnet/convnet.py"

for network in resnet50 mobilenetv2; do
	$convnet make $network --size 32 --divide 8 .
	mv model.onnx $network.onnx
	for isa in x86-64 x86-64-v3 native; do
		"$sklink" $network.onnx --isa $isa -L "$top_builddir/kernels" -lskernels -o $network.sk
		"$skrun" $network.sk --input x=x.npy --output y=y.npy
		$convnet check $network.onnx x.npy y.npy
	done
	"$skdump" --verify $network.sk
	"$skrun" $network.sk --random 1 --verify --cores 3
	"$skdump" $network.sk >out.txt
	grep -q " tasks in 1 launch, " out.txt || fail "$network is not one superkernel: $(cat out.txt)"
	"$skdump" --steps $network.sk >out.txt
	grep -q ' sk_conv_f32_2_panels' out.txt && ! grep -qE 'packmatmulb|sk_conv_f32_2_groups' out.txt ||
		fail "filters are not packed when linking: $(cat out.txt)"
done

# Weights are the same with every call, and a wrong result is noticed.
$convnet make mobilenetv2 --size 32 --divide 8 .
cmp model.onnx mobilenetv2.onnx
/usr/bin/python3 -c 'import numpy; y = numpy.load("y.npy"); y[0, 7] += 1e-3 * abs(y).max(); numpy.save("wrong.npy", y)'
fails_with '^y\[0,7\] is .*, expected ' $convnet check mobilenetv2.onnx x.npy wrong.npy
fails_with '^y is float32 \(1, 999\), expected float32 \(1, 1000\)' sh -c \
	"/usr/bin/python3 -c 'import numpy; numpy.save(\"short.npy\", numpy.load(\"y.npy\")[:, 1:])' &&
	$convnet check mobilenetv2.onnx x.npy short.npy"

# Filters that are constants, which are packed, give the same bits as the same ones that are an input, which are not.
/usr/bin/python3 - <<'P'
import numpy, onnx
from onnx import TensorProto, helper, numpy_helper

# Dimensions of x, filters, and attributes: planes that are turned and others, groups, 1 to 3 spatial dimensions.
cases = [([2, 6, 9], [20, 6, 3], {"strides": [2]}), ([1, 12, 7, 7], [30, 4, 3, 3], {"group": 3, "pads": [1] * 4}),
         ([2, 6, 20, 21], [18, 3, 3, 2], {"group": 2, "dilations": [2, 1]}), ([2, 5, 15, 17], [33, 5, 1, 1], {"strides": [2, 2]}),
         ([1, 3, 4, 5, 6], [17, 3, 2, 2, 2], {}), ([1, 4, 6, 6], [8, 1, 3, 3], {"group": 4}), ([1, 300, 7, 7], [5, 300, 1, 1], {})]
numbers = numpy.random.RandomState(3)
nodes, inputs, outputs, weights = [], [], [], []
value = helper.make_tensor_value_info
for i, (x, filters, attributes) in enumerate(cases):
    bias = numbers.standard_normal(filters[:1]).astype(numpy.float32)
    weights.append(numpy_helper.from_array(bias, "b%d" % i))
    weights.append(numpy_helper.from_array(numbers.standard_normal(filters).astype(numpy.float32), "w%d" % i))
    numpy.save("w%d.npy" % i, numpy_helper.to_array(weights[-1]))
    nodes.append(helper.make_node("Conv", ["x%d" % i, "w%d" % i] + ["b%d" % i] * (i % 2), ["y%d" % i], **attributes))
    inputs.append(value("x%d" % i, TensorProto.FLOAT, x))
    numpy.save("x%d.npy" % i, numbers.standard_normal(x).astype(numpy.float32))
    outputs.append(value("y%d" % i, TensorProto.FLOAT, [None] * len(x)))
for name in "constant", "input":
    given = inputs + [value("w%d" % i, TensorProto.FLOAT, case[1]) for i, case in enumerate(cases)] * (name == "input")
    kept = [one for one in weights if name == "constant" or one.name[0] == "b"]
    graph = helper.make_graph(nodes, name, given, outputs, kept)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), name + ".onnx")
P
numbers='0 1 2 3 4 5 6'
for isa in x86-64 x86-64-v3 native; do
	for name in constant input; do
		"$sklink" $name.onnx --isa $isa -L "$top_builddir/kernels" -lskernels -o $name.sk
		arguments=
		for i in $numbers; do
			arguments="$arguments --input x$i=x$i.npy --output y$i=$name-$i.npy"
			[ $name = constant ] || arguments="$arguments --input w$i=w$i.npy"
		done
		"$skrun" $name.sk $arguments
	done
	for i in $numbers; do
		cmp constant-$i.npy input-$i.npy || fail "convolution $i, $isa"
	done
	"$skrun" constant.sk --random 1 --verify --cores 3
	"$skrun" constant.sk --random 1 --guard --cores 2 >out.txt || { cat out.txt; fail "--guard"; }
done

# Normalisation with constant statistics is part of the convolution before it, unless the convolution's result is also
# used.
/usr/bin/python3 - <<'P'
import numpy, onnx
from onnx import TensorProto, helper, numpy_helper

cases = [([2, 6, 9, 8], [20, 3, 3, 3], {"group": 2, "pads": [1] * 4}), ([1, 4, 6, 6], [4, 1, 3, 3], {"group": 4}), ([2, 3, 9], [5, 3, 2], {}),
         ([1, 2, 4, 5, 6], [3, 2, 2, 2, 2], {})]
numbers = numpy.random.RandomState(4)
nodes, inputs, outputs, between, weights = [], [], [], [], []
value = helper.make_tensor_value_info
for i, (x, filters, attributes) in enumerate(cases):
    given = [("w", numbers.standard_normal(filters)), ("b", numbers.standard_normal(filters[0]))]
    given += [(name, numbers.uniform(0.5, 2, filters[0])) for name in ("scale", "shift", "mean", "variance")]
    weights += [numpy_helper.from_array(values.astype(numpy.float32), "%s%d" % (name, i)) for name, values in given]
    names = ["%s%d" % (name, i) for name, _ in given]
    nodes.append(helper.make_node("Conv", ["x%d" % i] + names[: 1 + i % 2], ["c%d" % i], **attributes))
    nodes.append(helper.make_node("BatchNormalization", ["c%d" % i] + names[2:], ["y%d" % i], **({"epsilon": 0.25} if i else {})))
    inputs.append(value("x%d" % i, TensorProto.FLOAT, x))
    numpy.save("x%d.npy" % i, numbers.standard_normal(x).astype(numpy.float32))
    outputs.append(value("y%d" % i, TensorProto.FLOAT, [None] * len(x)))
    between.append(value("c%d" % i, TensorProto.FLOAT, [None] * len(x)))
for name in "one", "two":
    graph = helper.make_graph(nodes, name, inputs, outputs + between * (name == "two"), weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), name + ".onnx")
P
for name in one two; do
	"$sklink" $name.onnx -L "$top_builddir/kernels" -lskernels -o $name.sk
	"$skdump" --steps $name.sk >$name.txt
	arguments=
	for i in 0 1 2 3; do
		arguments="$arguments --input x$i=x$i.npy --output y$i=$name-$i.npy"
	done
	"$skrun" $name.sk $arguments
done
! grep -q sk_batchnormalization one.txt || fail "convolutions do not normalise: $(cat one.txt)"
[ "$(grep -c sk_batchnormalization two.txt)" = 4 ] ||
	fail "results of convolutions that are outputs are not normalised by themselves: $(cat two.txt)"
/usr/bin/python3 - <<'P'
import numpy
for i in range(4):
    one, two = (numpy.load("%s-%d.npy" % (name, i)) for name in ("one", "two"))
    numpy.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-5)
P
