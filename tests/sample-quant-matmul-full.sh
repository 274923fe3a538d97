#!/bin/sh
# samples/quant_matmul at its full size, through the demonstration itself.
. "$top_srcdir/tests/lib.sh"

"$top_srcdir/samples/quant_matmul/demo" >demo.txt || { cat demo.txt; fail "the demonstration fails"; }
cat demo.txt
grep -q bit-identical demo.txt || fail "the demonstration does not say that the results are bit-identical"
grep -q 'rows agree' demo.txt || fail "the demonstration does not compare with the reference"
