#!/bin/bash
# Some models of ONNX's backend tests with bounds are run at some sizes (backend-sizes.py); BACKEND_STEP=1 takes all.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
[ -d /usr/share/libonnx-testdata/data/node ] || { echo "no models: libonnx-testdata is not installed"; exit 77; }
/usr/bin/python3 -c 'import numpy, onnx' 2>err.txt || { echo "needs Debian's python3-onnx"; exit 77; }
/usr/bin/python3 "$top_srcdir/tests/lib/backend-sizes.py" "$sklink" "$skrun" "$top_builddir/kernels" "${BACKEND_STEP:-100}" \
	"${BACKEND_FIRST:-3}" || fail "models of the backend tests"
