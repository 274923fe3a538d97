#!/bin/bash
# doc/reference/kernel-library.md: its entries are read without an error, each by the test of its family's line, and
# these tests exist.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/kernels/kernels.sh"

awk '/^```/ { inside = $0 == "```yaml"; next } inside && /^  [^ ]/ { sub(/:.*/, ""); sub(/^  /, ""); print }' "$page" \
	>names
[ "$(wc -l <names)" -ge 30 ] || fail "only $(wc -l <names) entries are found in doc/reference/kernel-library.md"
sort names | uniq -d >twice
[ ! -s twice ] || fail "doc/reference/kernel-library.md has two entries with the name $(head -1 twice)"

# Signatures are read before kernels are looked for, so that all errors but the one of the missing kernel are about this
# page.
{
	printf 'sklink: 1\ntensors: {x: {dtype: f32, shape: [1]}}\n'
	# shellcheck disable=SC2046 # a list of words
	kernels $(cat names)
	printf 'tasks: [{name: missing, kernel: no_such_kernel, args: [x]}]\n'
} >model.yaml
"$sklink" model.yaml -o model.sk 2>err.txt && fail "a missing kernel is found"
grep 'error:' err.txt | grep -v "no_such_kernel" >errors.txt || :
[ ! -s errors.txt ] || { cat errors.txt >&2; fail "an entry of doc/reference/kernel-library.md is wrong"; }

# Each family has a row on the page, and tests in tests/documented.txt, which run every entry.
sed -n '/^| family |/,/^$/p' "$page" | sed -nE '1,2d; s/^\| ([^|]*) \|.*/\1/p' | sort >families
[ "$(wc -l <families)" -ge 20 ] || fail "the table of doc/reference/kernel-library.md is not understood"
sed -n 's/^kernel-family | //p' "$top_srcdir/tests/documented.txt" >rows
sed 's/ |.*//' rows | sort | diff families - >&2 ||
	fail "families: the page (<) and tests/documented.txt (>) have other ones"
sed 's/.*| *//' rows | tr ' ' '\n' | sort -u >tests
while read -r test; do
	[ -e "$top_srcdir/$test" ] || fail "tests/documented.txt names $test, which is not there"
	grep -q "$test" "$top_srcdir/tests/local.mk" || fail "nobody runs $test"
	cat "$top_srcdir/$test"
done <tests >scripts
tr -s ' \t()' '\n\n\n\n' <scripts | sort -u >words
sort names | comm -23 - words >unused
[ ! -s unused ] || fail "no test runs $(tr '\n' ' ' <unused)of doc/reference/kernel-library.md"
