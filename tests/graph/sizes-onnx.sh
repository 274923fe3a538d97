#!/bin/bash
# Models of ONNX's backend tests (Debian's libonnx-testdata) with sizes that have bounds: most are inferred; the others
# are refused at their node. At 200 sizes, shapes are those of a model with numbers. BACKEND_STEP=1 takes all models.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
[ -d /usr/share/libonnx-testdata/data/node ] || { echo "no models: libonnx-testdata is not installed"; exit 77; }
"${python:-false}" -c 'import onnx' 2>err.txt || { echo "python3-onnx is not installed"; exit 77; }
"$python" "$top_srcdir/tests/lib/bounded-models.py" "${BACKEND_STEP:-12}" 5 >models.txt || fail "no models"
"$top_builddir/tests/lib/infer-sizes" 200 <models.txt >compared.txt || fail "other shapes: $(cat compared.txt)"
"$python" "$top_srcdir/tests/lib/bounded-models.py" "${BACKEND_STEP:-12}" >models.txt || fail "no models"
"$top_builddir/tests/lib/infer-sizes" 200 <models.txt >>compared.txt || fail "other shapes: $(cat compared.txt)"
cat compared.txt
all=0 inferred=0
while read -r name options; do
	all=$((all + 1))
	# shellcheck disable=SC2086 # words
	DUMP_GE_GRAPH=2 refuses "(GE's dumps \\(DUMP_GE_GRAPH\\) have no sizes with bounds; give the dimensions numbers, or use --dump-dir=DIR.*$|$name.onnx: (node|input) ')" "$name" $options
	! grep -E "internal error" err.txt || fail "$name"
	! grep -q "DUMP_GE_GRAPH" err.txt || inferred=$((inferred + 1))
done <models.txt
echo "$inferred of $all models are inferred"
[ $((4 * inferred)) -ge $((3 * all)) ] || fail "too few models are inferred"
