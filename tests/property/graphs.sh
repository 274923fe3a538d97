#!/bin/bash
# Two hundred random graphs of ONNX's operators (graphs.c), five a case; GRAPH_CASES and GRAPH_SEED choose others.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
graphs() { # CASES SEED
	"$top_builddir/tests/property/graphs" --cases "$1" --seed "$2" \
		--keep "$top_builddir/tests/property-failures" "$sklink" "$skdump" \
			"$top_builddir/tests/lib/make-model" "$top_builddir/kernels"
}
graphs "${GRAPH_CASES:-40}" "${GRAPH_SEED:-1}" >graphs.txt || { cat graphs.txt; fail "random graphs"; }
cat graphs.txt
[ -n "${GRAPH_CASES-}" ] || ! grep -q ' fusion of 0 patterns' graphs.txt || fail "no pattern is fused"
