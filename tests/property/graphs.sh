#!/bin/bash
# Two hundred random graphs of ONNX's operators (graphs.c), five a case; GRAPH_CASES and GRAPH_SEED choose others.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
"$top_builddir/tests/property/graphs" --cases "${GRAPH_CASES:-40}" --seed "${GRAPH_SEED:-1}" \
	--keep "$top_builddir/tests/property-failures" "$sklink" "$top_builddir/tests/lib/make-model" "$top_builddir/kernels"
