#!/bin/sh
# ONNX's backend tests, fused and task by task: none may be wrong, no fewer may pass than have passed before, and each
# operator has as many of them as doc/reference/operators.md says.
. "$top_srcdir/tests/lib/lib.sh"
least=990 # passed; it is raised with the operators
data=/usr/share/libonnx-testdata/data
python=/usr/bin/python3 # Debian's, since so are the models: others do not have its onnx
[ -d $data ] || { echo "no models: libonnx-testdata is not installed"; exit 77; }
"$python" -c 'import numpy, onnx' 2>err.txt || { echo "nothing reads the data: python3-onnx is not installed";
	exit 77; }

"$python" "$top_srcdir/tests/operators/backend.py" --table $data "$sklink" "$skrun" "$top_builddir/kernels" >out.txt ||
	{ grep '^wrong' out.txt; fail "wrong results"; }
tail -n 1 out.txt
passed=$(sed -n '$s/^passed \([0-9]*\) .*/\1/p' out.txt)
[ "$passed" -ge $least ] || { grep '^refused' out.txt; fail "$passed pass, not $least"; }
sed -nE 's/^(\| [A-Z][A-Za-z0-9]*) \| [0-9 ]*(\| [0-9]+ \| [0-9]+ \| [0-9]+ \|).*/\1 \2/p' \
	"$top_srcdir/doc/reference/operators.md" |
	grep -v '| 0 | 0 | 0 |$' | sort >told
grep '^| ' out.txt | sort >there
[ -s told ] && diff told there || fail "the table of doc/reference/operators.md (<) is not what the tests say (>)"
