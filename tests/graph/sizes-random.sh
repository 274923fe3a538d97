#!/bin/bash
# Random models with sizes with bounds (random-sizes.py); SIZES_COUNT and SIZES_SEED choose others.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
/usr/bin/python3 -c 'import numpy, onnx' 2>err.txt || { echo "needs Debian's python3-onnx"; exit 77; }
/usr/bin/python3 "$top_srcdir/tests/lib/random-sizes.py" "$sklink" "$skrun" "$top_builddir/kernels" "${SIZES_SEED:-1}" \
	"${SIZES_COUNT:-20}" || fail "random models"
