#!/bin/bash
# Operators of ai.onnx.ml: random nodes, in CLASSICAL_ROUNDS models from CLASSICAL_SEED on, give numpy's results
# (tests/operators/classical.py); so does a pipeline of them; mistakes in their attributes are refused.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
"$python" "$top_srcdir/tests/operators/classical.py" "$sklink" "$skrun" "$top_builddir/kernels" "${CLASSICAL_ROUNDS:-2}" \
	"${CLASSICAL_SEED:-1}" || fail "wrong results"
