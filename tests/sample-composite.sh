#!/bin/sh
# samples/composite: one superkernel out of three kernels, right by an independent computation.
. "$top_srcdir/tests/lib.sh"
sample=$top_srcdir/samples/composite
reference=$top_builddir/samples/composite/reference
kernels=$top_builddir/samples/composite/kernels.o

"$sklink" "$sample/composite.yaml" "$kernels" -o composite.sk
"$reference" make .
"$skrun" composite.sk --input x=x.npy --output y=y.npy
"$reference" check .
for cores in 1 2 3 7; do
	"$skrun" composite.sk --random 1 --verify --cores $cores
done

# From a program: with libskrt, and with nothing but dlopen.
expected='1 27 125 343 729 1331 2197 3375 4913 6859 9261 12167 15625 19683 24389 29791'
[ "$("$top_builddir/samples/composite/run" composite.sk)" = "$expected" ] || fail "libskrt computes something else"
[ "$("$top_builddir/samples/composite/serial" ./composite.sk)" = "$expected" ] || fail "dlopen computes something else"

# Squares instead of cubes: the check must notice.
sed 's/exponent: 3/exponent: 2/' "$sample/composite.yaml" >wrong.yaml
"$sklink" wrong.yaml "$kernels" -o wrong.sk
"$skrun" wrong.sk --input x=x.npy --output y=y.npy
fails_with 'y\[0\]\[0\] is .*, expected' "$reference" check .
