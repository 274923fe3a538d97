#!/bin/bash
# What sklink says of typical mistakes, word for word.
set -eu
. "$top_srcdir/tests/lib.sh"
cp "$top_srcdir/tests/kernels.c" . && compile kernels

# model: MODEL with what KERNELS, MORE (keys of the only task) and SCOPES say.
model() {
	cat >model.yaml <<-M
	sklink: 1
	tensors:
	  x: {dtype: f32, shape: [64]}
	  y: {dtype: f32, shape: [64]}
	${kernels:-}
	tasks:
	  - {name: only, kernel: ${kernel:-scale}, args: [x, y]${more:-, set: {factor: 2\}}}
	${scopes:-}
	M
}

# says ARGUMENT…: linking model.yaml with these must fail with just the messages on standard input.
says() {
	cat >expected.txt
	fails_with '' "$sklink" model.yaml "$@" -o out.sk
	diff expected.txt err.txt >&2 || fail "other words (expected: <): $*"
	[ ! -e out.sk ] || fail "a package in spite of an error: $*"
}

# warns ARGUMENT…: linking model.yaml with these must succeed with just the messages on standard input.
warns() {
	cat >expected.txt
	"$sklink" model.yaml "$@" -o warned.sk 2>err.txt || { cat err.txt >&2; fail "no link: $*"; }
	diff expected.txt err.txt >&2 || fail "other words (expected: <): $*"
}

# ---- options ----
model
for letter in q f x Q; do
	echo "sklink: error: unknown option '-$letter'" | says kernels.o -$letter
done
echo "sklink: error: unknown option '-R'; did you mean '-r'?" | says kernels.o -R
echo "sklink: error: unknown option '--z'" | says kernels.o --z
echo "sklink: error: unknown option '--whole-archiv'; did you mean '--whole-archive'?" | says kernels.o --whole-archiv
fails_with "^sklink: error: option '-h' wants a value \(--soname\); try 'sklink --help'$" "$sklink" -h
warns kernels.o -h network.sk </dev/null
readelf -dW warned.sk | grep -q 'soname: \[network.sk\]' || fail "-h is not what it is for GNU ld"
