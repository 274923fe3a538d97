#!/bin/sh
# samples/decoder: tokens of a small decoder, one after another, are right by numpy, for any number of cores; the cache
# is written in place.
. "$top_srcdir/tests/lib/lib.sh"
/usr/bin/python3 -c 'import onnx, numpy' 2>/dev/null || { echo "needs python3-onnx"; exit 77; }
decoder="/usr/bin/python3 $top_srcdir/samples/decoder/decoder.py"
run="$top_builddir/samples/decoder/run"

$decoder make -n 2 --hidden 256 --heads 8 --shared 2 --between 384 --words 50 --context 80 small
for isa in x86-64 x86-64-v3 native; do
	"$sklink" small/model.onnx @small/options --isa $isa -L "$top_builddir/kernels" -lskernels -o small.sk
	"$run" small.sk 70 logits.npy >tokens.txt
	$decoder check small logits.npy
done
"$skdump" --verify small.sk
"$skrun" small.sk --random 1 --input token=small/token.npy --input position=small/position.npy --verify --cores 3
"$skrun" small.sk --list >out.txt
[ "$(grep -c '^inout  *past_.*f32 \[1, 2, 80, 32\]' out.txt)" = 4 ] && ! grep -q present out.txt ||
	fail "the cache is no state: $(cat out.txt)"
"$skdump" small.sk >out.txt
grep -q " tasks in 1 launch, " out.txt || fail "no superkernel: $(cat out.txt)"

# A cache that is copied is the same to the network, and something else to the program. A wrong result is noticed.
"$sklink" small/model.onnx -L "$top_builddir/kernels" -lskernels -o copied.sk
fails_with "its cache is copied" "$run" copied.sk 2 copied.npy
/usr/bin/python3 -c 'import numpy; y = numpy.load("logits.npy"); y[9, 7] += 1e-3 * abs(y).max(); numpy.save("wrong.npy", y)'
fails_with '^step 9, logit 7 is .*, expected ' $decoder check small wrong.npy
