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

# ---- the manifest ----
model
sed -i 's/^  y:/\ty:/' model.yaml
says kernels.o <<'M'
sklink: error: model.yaml:4:1: invalid YAML: a tab stands here; YAML is indented with blanks only
M
printf 'sklink: 1\ndevice: host\n  \ttensors: {}\n' >model.yaml # libyaml speaks of mapping values here
says kernels.o <<'M'
sklink: error: model.yaml:3:3: invalid YAML: a tab stands here; YAML is indented with blanks only
M
printf 'sklink: 1\ntasks:\n-\tname: a\n' >model.yaml
says kernels.o <<'M'
sklink: error: model.yaml:3:2: invalid YAML: a tab stands here; YAML is indented with blanks only
M
printf 'sklink: 1\ntasks: [a: b: c]\n' >model.yaml
fails_with '^sklink: error: model.yaml:2:13: invalid YAML: did not find expected' "$sklink" model.yaml kernels.o -o out.sk

more=', set: {factor: 2}, scope: s' scopes='scopes: {s: {stream-fusion: 1}}' model
says kernels.o <<'M'
sklink: error: model.yaml:8:14: unknown key 'stream-fusion' in scope 's'; it is an option, and these are one text: {options: "stream-fusion=1"}
M
more=', set: {factor: 2}, scope: s' model
says kernels.o --scope-options profiling=1 <<'M'
sklink: error: --scope-options:1:1: 'profiling=1' is not SCOPE=OPTIONS: the scope is missing; '*=profiling=1' is about all scopes
>>> in 'profiling=1'
M
more=', set: {factor: 2}, scope: profiling' model
warns kernels.o --scope-options profiling=early-start=0 </dev/null

# scopes NAME NAME SCOPES: two tasks in these scopes.
scopes() {
	cat >model.yaml <<-M
	sklink: 1
	tensors:
	  x: {dtype: f32, shape: [64]}
	  t: {dtype: f32, shape: [64]}
	  y: {dtype: f32, shape: [64]}
	tasks:
	  - {name: first, kernel: scale, args: [x, t], set: {factor: 2}, scope: $1}
	  - {name: second, kernel: scale, args: [t, y], set: {factor: 2}, scope: $2}
	scopes: {$3}
	M
}
scopes composite compsite 'composite: {}'
warns kernels.o <<'M'
sklink: warning: model.yaml:8:74: scope 'compsite' is not declared, and so has no options; did you mean 'composite'?
M
scopes compsite compsite 'composite: {}' # one warning is enough
warns kernels.o <<'M'
sklink: warning: model.yaml:9:10: no task is in scope 'composite'; did you mean 'compsite'?
M
scopes composite compsite 'composite: {}, compsite: {}'
warns kernels.o </dev/null
scopes layer_1 layer_12 'layer_1: {}' # counted, not misspelt
warns kernels.o </dev/null
scopes sp1 spx 'sp1: {}' # too short to tell
warns kernels.o </dev/null

# Many warnings of one kind end in a count, and do not hide those of another kind.
unused() {
	scopes compsite compsite 'composite: {}'
	for i in $(seq "$1"); do
		sed -i "/^tasks:/i\\  unused$i: {dtype: f32, shape: [4]}" model.yaml
	done
}
unused 20
"$sklink" model.yaml kernels.o -o warned.sk 2>err.txt
[ "$(grep -c "no task uses tensor 'unused" err.txt)" = 20 ] && [ "$(wc -l <err.txt)" = 21 ] || { cat err.txt; fail "20 warnings"; }
unused 45
"$sklink" model.yaml kernels.o -o warned.sk 2>err.txt
[ "$(grep -c ': no task uses tensor ' err.txt)" = 20 ] || { cat err.txt; fail "not 20 of 45 warnings are shown"; }
grep -q "no task is in scope 'composite'" err.txt || fail "the other warning"
[ "$(tail -n 1 err.txt)" = "sklink: warning: 25 more like \"no task uses tensor 'unused1'\" (--error-limit=0 shows all)" ] ||
	{ cat err.txt; fail "no count of warnings"; }
"$sklink" model.yaml kernels.o --error-limit=0 -o warned.sk 2>err.txt
[ "$(grep -c ': no task uses tensor ' err.txt)" = 45 ] && [ "$(wc -l <err.txt)" = 46 ] || { cat err.txt; fail "--error-limit=0"; }
