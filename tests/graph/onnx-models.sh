# The models of ONNX's backend tests (Debian's libonnx-testdata) are read, and the results equal those of python3-onnx,
# if it is installed. Models that are not read are refused for features that sklink does not have.
. "$top_srcdir/tests/lib/lib.sh"
data=/usr/share/libonnx-testdata/data
[ -d $data ] || { echo "no models: libonnx-testdata is not installed"; exit 77; }
find $data -name '*.onnx' | sort >models
xargs "$top_builddir/tests/lib/read-models" <models >read.txt || fail "read-models: exit status $?"
[ "$(grep -c '^file ' read.txt)" = "$(wc -l <models)" ] || fail "not all models were read to their end"
grep '^read-models: ' read.txt >errors.txt || true
refused=$(sed 's,\(^read-models: error: [^:]*\): .*,\1,' errors.txt | sort -u | wc -l)
echo "$(wc -l <models) models, $refused refused:"
reasons='it is a sequence\|it is optional\|of type string\|is neither a number'
grep -o "$reasons" errors.txt | sort | uniq -c
! grep -v "$reasons" errors.txt || fail "models are refused for other reasons"
[ $refused -le 42 ] || fail "more models are refused than have to be"

python=$(command -v /usr/bin/python3 || true)
"${python:-false}" -c 'import onnx' 2>err.txt || { echo "python3-onnx is not installed: nothing to compare with";
	exit 0; }
mkdir texts
xargs "$python" "$top_srcdir/tests/lib/read-models.py" texts <models >expected.txt

# same FILE WHAT: the graphs read equal the expected ones. Files that are refused are left out, and names of files.
same() {
	awk '/^file / { held = $0; next } /^read-models: / { held = ""; next } held != "" { print held; held = "" } { print }' "$1" |
		sed 's/^file .*/file/' >found.txt
	sed 's/^file .*/file/' expected.txt >wanted.txt
	cmp found.txt wanted.txt || { diff found.txt wanted.txt | head -20;
		fail "$2: other contents than python3-onnx finds"; }
}
same read.txt "the models"
xargs "$top_builddir/tests/lib/read-models" --again <models >again.txt
same again.txt "the models, written as text"
sed -n 's/^file //p' expected.txt | tr / _ | sed 's,.*,texts/&.pbtxt,' |
	xargs "$top_builddir/tests/lib/read-models" >texts.txt
same texts.txt "texts by protobuf"
