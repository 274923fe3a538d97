#!/bin/bash
# Models in the patterns of exporters with sizes with bounds (exported-models.py): each is linked once, and compared
# with packages that are linked for one size. SIZES_COUNT chooses more sizes, and MODELS some of them by name. With
# ONNXRUNTIME_PYTHON, a Python with ONNX Runtime, they are also compared with that.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
# shellcheck disable=SC2086 # words
"$python" "$top_srcdir/tests/lib/exported-models.py" "$sklink" "$skrun" "$skdump" "$top_builddir/kernels" \
	"${SIZES_COUNT:-2}" ${MODELS-} || fail "models of exporters"
