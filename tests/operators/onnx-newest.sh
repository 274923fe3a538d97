#!/bin/sh
# ONNX's node tests of a newer onnx than Debian's, if ONNX_PYTHON names a Python that has it: those that do not pass are
# in newest, with reasons.
. "$top_srcdir/tests/lib/lib.sh"
least=1608 # passed, of onnx 1.23.2
[ -n "${ONNX_PYTHON-}" ] || { echo "ONNX_PYTHON names no Python with a newer onnx"; exit 77; }
"$ONNX_PYTHON" "$top_srcdir/tests/operators/node_tests.py" data 2>made.txt || { tail made.txt; fail "no tests are made"; }
"$ONNX_PYTHON" "$top_srcdir/tests/operators/backend.py" data "$sklink" "$skrun" "$top_builddir/kernels" >out.txt 2>err.txt
tail -n 1 out.txt | grep '^passed ' || { tail err.txt; fail "the tests have not run"; }
sed '/^#/d; s/	.*//' "$top_srcdir/tests/operators/newest" >known.txt
grep -E '^(refused|wrong): ' out.txt | grep -Evf known.txt >others.txt
[ ! -s others.txt ] || { head -n 20 others.txt; fail "there is no reason in newest"; }
passed=$(sed -n '$s/^passed \([0-9]*\) .*/\1/p' out.txt)
[ "$passed" -ge $least ] || fail "$passed pass, not $least"
