#!/bin/sh
# samples/composite: one superkernel out of three kernels, right by an independent computation.
. "$top_srcdir/tests/lib/lib.sh"
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

# As a model, with kernels of the library.
"$sklink" --check "$sample/composite.pbtxt" --dim rows=4 -L "$top_builddir/kernels" -lskernels
"$sklink" "$sample/composite.pbtxt" --dim rows=4 -L "$top_builddir/kernels" -lskernels -o model.sk
rm y.npy
"$skrun" model.sk --input x=x.npy --output y=y.npy
"$reference" check .
"$skrun" model.sk --random 1 --verify --cores 7

# From a program: with libskrt, and with nothing but dlopen.
expected='1 27 125 343 729 1331 2197 3375 4913 6859 9261 12167 15625 19683 24389 29791'
[ "$("$top_builddir/samples/composite/run" composite.sk)" = "$expected" ] || fail "libskrt computes something else"
[ "$("$top_builddir/samples/composite/serial" ./composite.sk)" = "$expected" ] || fail "dlopen computes something else"
[ "$("$top_builddir/samples/composite/run" model.sk)" = "$expected" ] ||
	fail "libskrt computes something else of the model"
[ "$("$top_builddir/samples/composite/serial" ./model.sk)" = "$expected" ] ||
	fail "dlopen computes something else of the model"
if [ -x "$top_builddir/samples/composite/run-cc" ]; then
	[ "$("$top_builddir/samples/composite/run-cc" composite.sk)" = "$expected" ] ||
		fail "C++ computes something else"
	fails_with 'run-cc: none.sk: No such file' "$top_builddir/samples/composite/run-cc" none.sk
fi
library=$top_builddir/.libs/libskrt.so
# A sanitizer's runtime would have to be in the interpreter.
if command -v python3 >/dev/null && [ -e "$library" ] && ! nm -D "$library" | grep -q '__[at]san_'; then
	[ "$(python3 "$sample/run.py" "$library" composite.sk)" = "$expected" ] || fail "Python computes something else"
	[ "$(python3 "$sample/run.py" "$library" model.sk)" = "$expected" ] ||
		fail "Python computes something else of the model"
	fails_with 'run.py: none.sk: No such file' python3 "$sample/run.py" "$library" none.sk
fi

# Squares instead of cubes: the check must notice.
sed 's/exponent: 3/exponent: 2/' "$sample/composite.yaml" >wrong.yaml
"$sklink" wrong.yaml "$kernels" -o wrong.sk
"$skrun" wrong.sk --input x=x.npy --output y=y.npy
fails_with 'y\[0\]\[0\] is .*, expected' "$reference" check .
