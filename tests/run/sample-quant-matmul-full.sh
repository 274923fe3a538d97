#!/bin/sh
# samples/quant_matmul at its full size, through the demonstration itself.
. "$top_srcdir/tests/lib/lib.sh"

"$top_srcdir/samples/demo" >demo.txt || { cat demo.txt; fail "the demonstration fails"; }
cat demo.txt
grep -q bit-identical demo.txt || fail "the demonstration does not say that the results are bit-identical"
grep -q 'rows agree' demo.txt || fail "the demonstration does not compare with the reference"

# Bit-identical on any number of cores, fused, kernel by kernel and serially.
sample=$top_builddir/samples/quant_matmul
"$sklink" "$top_srcdir/samples/quant_matmul/quant_matmul.yaml" "$sample/quant_matmul.o" "$sample/dequant_swiglu_quant.o" -o full.sk
for cores in 1 2 3 7; do
	"$skrun" full.sk --random 1 --verify --cores $cores
done
