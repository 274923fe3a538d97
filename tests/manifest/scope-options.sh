#!/bin/bash
# strict-scope-check, and the three places that scope options come from.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cp "$top_srcdir/tests/lib/kernels.c" . && compile kernels

# model OPTIONS: two scopes; sp1 has a task in its middle that cannot be fused, sp2 is whole.
model() {
	cat >model.yaml <<-M
	sklink: 1
	tensors:
	  x: {dtype: f32, shape: [1000]}
	  a: {dtype: f32, shape: [1000]}
	  b: {dtype: f32, shape: [1000]}
	  c: {dtype: f32, shape: [1000]}
	  d: {dtype: f32, shape: [1000]}
	  y: {dtype: f32, shape: [1000]}
	tasks:
	  - {name: first, kernel: scale, args: [x, a], set: {factor: 2}, scope: sp1}
	  - {name: lone, kernel: host_only, args: [a, b], scope: sp1}
	  - {name: last, kernel: scale, args: [b, c], set: {factor: 0.5}, scope: sp1}
	  - {name: fourth, kernel: scale, args: [c, d], set: {factor: 2}, scope: sp2}
	  - {name: fifth, kernel: scale, args: [d, y], set: {factor: 4}, scope: sp2}
	scopes:
	  sp1: {options: "$1"}
	  sp2: {options: "strict-scope-check=abort"}
	M
}

link() {
	"$sklink" model.yaml kernels.o -o model.sk "$@" 2>err.txt || { cat err.txt >&2; fail "no link: $*"; }
	"$skdump" --launches --reasons model.sk >dump.txt
	"$skdump" --verify model.sk >/dev/null
}

# Split, unless something else is asked for.
model ""
link
[ ! -s err.txt ] || fail "a scope that is split is a warning"
grep -qE ' sk_sp1_start_first_end_first +superkernel' dump.txt || fail "no first superkernel"
grep -qE ' sk_sp1_start_last_end_last +superkernel' dump.txt || fail "no second superkernel"
grep -qE ' sk_sp2 +superkernel' dump.txt || fail "sp2 is not fused"

# Abort: every place is named, and nothing is written.
model "strict-scope-check=abort"
rm -f model.sk
fails_with "^sklink: error: model.yaml:16:3: scope 'sp1' cannot be fused whole \(strict-scope-check=abort\)" \
	"$sklink" model.yaml kernels.o -o model.sk
grep -q "^>>> model.yaml:11:5: task 'lone' (OP_UNSUPPORT): " err.txt || fail "the task that is not fused"
grep -q "^>>> model.yaml:12:5: task 'last' (SCOPE_FUSE_PART): " err.txt || fail "where the second segment begins"
[ ! -e model.sk ] || fail "a package in spite of an error"

# Bypass: a warning, and the scope is not fused at all; the other scope is.
model "strict-scope-check=bypass"
link
grep -q "^sklink: warning: model.yaml:16:3: scope 'sp1' is not fused (strict-scope-check=bypass)" err.txt ||
	fail "no warning"
[ "$(grep -c SCOPE_CHECK_BYPASS dump.txt)" = 2 ] || fail "not two tasks are bypassed"
[ "$(grep -cE ' superkernel ' dump.txt)" = 1 ] || fail "sp1 is fused"
"$skrun" model.sk --random 1 --verify >/dev/null
fails_with "scope 'sp1' is not fused" "$sklink" --fatal-warnings model.yaml kernels.o -o model.sk

# The command line wins over the environment, that over the manifest, option by option.
model "strict-scope-check=abort"
export SKLINK_SCOPE_OPTIONS="sp1=strict-scope-check=bypass"
link
[ "$(grep -c SCOPE_CHECK_BYPASS dump.txt)" = 2 ] || fail "the environment does not win over the manifest"
fails_with 'strict-scope-check=abort' "$sklink" model.yaml kernels.o -o model.sk --scope-options \
	sp1=strict-scope-check=abort
export SKLINK_SCOPE_OPTIONS="sp2=stream-fusion=1; *=strict-scope-check=abort"
link --scope-options=sp1=strict-scope-check=bypass
[ "$(grep -c SCOPE_CHECK_BYPASS dump.txt)" = 2 ] || fail "the command line does not win over the environment"

# Errors name the place in the text.
export SKLINK_SCOPE_OPTIONS="sp1=stream-fusion=1;sp1=stream-fusion=2"
fails_with "^sklink: error: SKLINK_SCOPE_OPTIONS:1:25: scope option 'stream-fusion' must be 0 or 1, not '2'" \
	"$sklink" model.yaml kernels.o -o model.sk
unset SKLINK_SCOPE_OPTIONS
fails_with "^sklink: error: --scope-options:1:5: unknown scope option 'strict-scope-chek'; did you mean" \
	"$sklink" model.yaml kernels.o -o model.sk --scope-options sp1=strict-scope-chek=abort
grep -qx ">>> in 'sp1=strict-scope-chek=abort'" err.txt || fail "the text is not shown"
fails_with "^sklink: error: --scope-options:1:1: unknown scope 'sp3'; did you mean 'sp" \
	"$sklink" model.yaml kernels.o -o model.sk --scope-options sp3=stream-fusion=1
fails_with "^sklink: error: --scope-options:1:1: 'sp1' is not SCOPE=OPTIONS" \
	"$sklink" model.yaml kernels.o -o model.sk --scope-options sp1
fails_with "^sklink: error: option '--scope-options' wants a value" "$sklink" model.yaml kernels.o -o model.sk \
	--scope-options

# A link that is reproduced elsewhere also has the options of the environment.
SKLINK_SCOPE_OPTIONS="*=strict-scope-check=bypass" "$sklink" model.yaml kernels.o -o model.sk --repro=repro.tar \
	2>err.txt
tar xf repro.tar
grep -qE "scope-options.*=strict-scope-check=bypass" repro/response.txt || fail "--repro forgets the environment"
