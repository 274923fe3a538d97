#!/bin/bash
# The JSON Schema of manifests knows exactly the keys that sklink reads. It accepts every manifest of the tree, and it
# refuses the manifests that sklink itself refuses, as far as a schema can.
. "$top_srcdir/tests/lib/lib.sh"
set -o pipefail
/usr/bin/python3 -W ignore -c 'import jsonschema, yaml' 2>/dev/null || {
	echo "needs python3-jsonschema and python3-yaml"; exit 77; }
schema=$top_srcdir/src/manifest/manifest.schema.json
compare() { # SCHEMA SOURCES FILE…
	/usr/bin/python3 "$top_srcdir/tests/manifest/manifest-schema.py" "$1" "$2" "$top_srcdir/format/skplan.h" \
		"$top_builddir/tests/lib/read-manifests" "${@:3}"
}

# Manifests of the samples and of the fuzzers, also those that are generated, and of the documents.
mkdir files
find "$top_srcdir/samples" "$top_srcdir/tests" "$top_srcdir/bench" -name '*.yaml' -exec grep -lE \
	'^sklink: |^"?\{?"sklink"' {} + >found.txt
[ "$(wc -l <found.txt)" -ge 9 ] || fail "the manifests of the tree are not found"
sh "$top_srcdir/samples/decode_layers/generate" 3 2 a3 >files/decode.yaml
number=0
for document in "$top_srcdir"/*.md "$top_srcdir"/doc/*.md "$top_srcdir"/doc/*/*.md "$top_srcdir"/samples/*/README.md; do
	number=$((number + 1))
	awk -v name="files/document$number" \
		'/^```yaml$/ { file = name "-" ++blocks ".yaml"; next } /^```/ { file = "" } file { print >file }' \
		"$document"
done
grep -L '^sklink: 1' files/*.yaml | xargs -r rm
[ "$(ls files | wc -l)" -ge 8 ] || fail "the examples of the documents are not found"
xargs "$top_builddir/tests/lib/read-manifests" files/*.yaml <found.txt >read.txt
! grep 'error: ' read.txt >&2 || fail "a manifest of the tree is not good"

# The manifests of the suite and of scripts, good and bad.
mkdir suite scripts
find "$top_srcdir/tests" "$top_srcdir/bench" -name '*.sh' | sort | xargs awk '
	FNR == 1 { end = "" } # a mark that only looks like one ends with its script
	end == "" && match($0, /<<\047?[A-Z]+\047?/) { end = substr($0, RSTART, RLENGTH); gsub(/[<\047]/, "", end); text = ""; next }
	end != "" && $0 == end { end = ""; if (text ~ /^sklink: 1\n/ && text !~ /\$/) printf "%s", text >("scripts/" ++count ".yaml"); next }
	end != "" { text = text $0 "\n" }'
[ "$(ls scripts | wc -l)" -ge 40 ] || fail "the manifests of scripts are not found"
KEEP_MANIFESTS=$PWD/suite CK_VERBOSITY=silent "$top_builddir/tests/unit/check_manifest"
mapfile -t found <found.txt
compare "$schema" "$top_srcdir/src/manifest" "${found[@]}" files/*.yaml suite/*.yaml scripts/*.yaml

# Differences are found: a key that only one of them has, a choice, a limit, a manifest that only one of them accepts.
try() { # PATTERN SED-SCRIPT
	sed "$2" "$schema" >wrong.json
	! cmp -s "$schema" wrong.json || fail "nothing is changed: $2"
	fails_with "$1" compare wrong.json "$top_srcdir/src/manifest" "${found[@]}" files/*.yaml suite/*.yaml \
		scripts/*.yaml
}
export SCHEMA_MUTANTS=300
try "'a task', .*'wait'" '/^        "wait": /d'
try "'scope', .*'more'" 's/^        "nodes": /        "more": {"description": "nobody reads it"},\n&/'
try "role" 's/"inout", //'
try "stream.*65535" 's/65535/65536/'
try "the schema refuses what sklink reads" 's/"of": {\("description": "[^"]*"\), .*}/"of": {\1, "enum": ["x"]}/'
try "the schema takes what sklink refuses" \
	's/"oneOf": \[{"required": \["kernel"\]}, .*}\]/"minProperties": 1/'
mkdir sources
cp "$top_srcdir"/src/manifest/*.c sources
sed -i 's/{"once", false, read_once},/&\n\t\t{"twice", false, read_once},/' sources/manifest-tasks.c
fails_with "'a task', .*'twice'" compare "$schema" "$PWD/sources" "${found[@]}"
