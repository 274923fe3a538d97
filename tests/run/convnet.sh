#!/bin/sh
# samples/convnet: ResNet-50 and MobileNetV2, small and narrow, right by numpy, and bit-identical however they are run.
. "$top_srcdir/tests/lib/lib.sh"
/usr/bin/python3 -c 'import onnx, numpy' 2>/dev/null || { echo "needs python3-onnx"; exit 77; }
convnet="/usr/bin/python3 $top_srcdir/samples/convnet/convnet.py"

for network in resnet50 mobilenetv2; do
	$convnet make $network --size 32 --divide 8
	for isa in x86-64 x86-64-v3 native; do
		"$sklink" $network.onnx --isa $isa -L "$top_builddir/kernels" -lskernels -o $network.sk
		"$skrun" $network.sk --input x=x.npy --output y=y.npy
		$convnet check $network.onnx x.npy y.npy
	done
	"$skdump" --verify $network.sk
	"$skrun" $network.sk --random 1 --verify --cores 3
	"$skdump" $network.sk >out.txt
	grep -q " tasks in 1 launch, " out.txt || fail "$network is not one superkernel: $(cat out.txt)"
done

# Weights are the same with every call, and a wrong result is noticed.
cp mobilenetv2.onnx before.onnx
$convnet make mobilenetv2 --size 32 --divide 8
cmp mobilenetv2.onnx before.onnx
/usr/bin/python3 -c 'import numpy; y = numpy.load("y.npy"); y[0, 7] += 1e-3 * abs(y).max(); numpy.save("wrong.npy", y)'
fails_with '^y\[0,7\] is .*, expected ' $convnet check mobilenetv2.onnx x.npy wrong.npy
fails_with '^y is float32 \(1, 999\), expected float32 \(1, 1000\)' sh -c "/usr/bin/python3 -c 'import numpy; numpy.save(\"short.npy\", numpy.load(\"y.npy\")[:, 1:])' &&
	$convnet check mobilenetv2.onnx x.npy short.npy"
