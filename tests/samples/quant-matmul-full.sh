#!/bin/sh
# samples/quant_matmul at its full size, through the demonstration itself.
. "$top_srcdir/tests/lib/lib.sh"

"$top_srcdir/samples/demo" >demo.txt || { cat demo.txt; fail "the demonstration fails"; }
cat demo.txt
grep -q bit-identical demo.txt || fail "the demonstration does not say that the results are bit-identical"
grep -q 'rows agree' demo.txt || fail "the demonstration does not compare with the reference"

# The parts' comparisons: the same chain unfused, fused, and in tiles; the layer of BERT, if its model can be made.
part() { # TITLE: the output below it
	awk -v title="$1" '/^== / { in_part = index($0, title) > 0 } in_part' demo.txt >part.txt
	[ -s part.txt ] || fail "the demonstration has no part '$1'"
}
says() { # LINE: the part has such a line
	grep -qE -- "$1" part.txt || { cat part.txt >&2; fail "the demonstration has no line $1 there"; }
}
time='Time: median [0-9.e-]+ ms, fastest [0-9.e-]+ ms of 9'
part 'five elementwise kernels over 32 MiB'
says '^Precision: bit-identical \(1 output, 33554432 bytes, '
says "^unfused: +$time unfused runs "
says "^fused, no tiles: +$time fused runs "
says "^fused, with tiles: +$time fused runs "
if /usr/bin/python3 -c 'import onnx' 2>/dev/null; then
	part 'one layer of BERT-large'
	says '^verified: 1 launch, [0-9]+ steps, '
	says '^Precision: bit-identical \(1 output, 524288 bytes, '
	says "^y is the result of 1 of the encoder's layers for x: off by "
	says "^unfused: +$time unfused runs "
	says "^fused: +$time fused runs "
else
	grep -q '^No layer of BERT-large: python3-onnx' demo.txt ||
		fail "the demonstration does not say why it has no layer of BERT"
fi

# Bit-identical on more cores than the demonstration verifies (1, 2 and all), fused, kernel by kernel and serially. The
# network as a graph, too.
sample=$top_builddir/samples/quant_matmul
"$sklink" "$top_srcdir/samples/quant_matmul/quant_matmul.yaml" "$sample/quant_matmul.o" \
	"$sample/dequant_swiglu_quant.o" -o full.sk
for cores in 3 7; do
	"$skrun" full.sk --random 1 --verify --cores $cores
done
"$sklink" "$top_srcdir/samples/quant_matmul/model.pbtxt" -L "$top_builddir/kernels" -lskernels -o model.sk
"$skrun" model.sk --random 1 --verify | tee precision.txt
grep -q '^Precision: bit-identical (3 outputs, 8850816 bytes, ' precision.txt || fail "no line of precision"
