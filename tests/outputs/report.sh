#!/bin/bash
# Reports on a link: --report, --explain of sklink and of skdump, skdump --diff.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cp "$top_srcdir/tests/lib/kernels.c" . && compile kernels

# One of each: read after write, bytes used again, `after`, an event across launches, one core, the same cores.
cat >model.yaml <<M
sklink: 1
tensors:
$(tensors '[1000]' x a b c d y z)
tasks:
  - {name: first, kernel: scale, args: [x, a], set: {factor: 2}, scope: sp1}
  - {name: turn, kernel: reverse, args: [a, b], scope: sp1, blocks: 8, record: turned}
  - {name: double, kernel: twice, args: [b, c], scope: sp1, blocks: 8, after: first}
  - {name: sums, kernel: prefix, args: [c, y], scope: sp1}
  - {name: more, kernel: prefix, args: [y, d], scope: sp1}
  - {name: lone, kernel: host_only, args: [d, z], stream: 3, wait: turned}
M
sed -i 's/  y: {dtype: f32, shape: \[1000\]}/  y: {dtype: f32, shape: [1000], role: output}/' model.yaml
"$sklink" model.yaml kernels.o -o model.sk --report=report.json --explain double --explain lone >said.txt
if command -v python3 >/dev/null; then
	python3 -m json.tool <report.json >/dev/null || fail "the report is no JSON"
fi

# has PATTERN: a line of report.json.
has() {
	grep -qE -- "$1" report.json || { cat report.json >&2; fail "the report has no '$1'"; }
}
has '^  "device": \{"name": "host", "lanes": \[\{"name": "core", "cores": 2\}\]\},$'
has '^  "sizes": \{"workspace": [0-9]+, "unshared_workspace": 16128, "constants": 0, "plan": [0-9]+, "dispatchers": [0-9]+, "kernels": [0-9]+, "package": '"$(stat -c %s model.sk)"'\},$'
has '\{"name": "sp1", "whole": true, "asked": \["first", "turn", "double", "sums", "more"\], "superkernels": \["sk_sp1"\], "single": \[\]\}'
has '\{"name": "sk_sp1", .*"scope": "sp1", "first": "first", "last": "more", .*"steps": 5, "awaits": 3, "lanes": \{"core": \{"steps": 5, "cores": 16\}\}, .*"code": [1-9][0-9]*, .*"follows": \[\]\}'
has '\{"name": "sk_task_lone", .*"first": "lone", "last": "lone", .*"follows": \["sk_sp1"\]\}'
has '\{"name": "double", "line": 13, .*"launch": "sk_sp1", "lane": "core", "step": 3, "cores": "all", .*"awaits": \["turn"\], "reason": "CAN_FUSE"'
has '\{"name": "lone", .*"cores": "home of stream 3", .*"reason": "NOT_IN_SCOPE", "because": "is outside every scope", "tile_reason": "TILE_FIRST", "tile_because": "is the first task of its launch"\}'
has '\{"earlier": "first", "later": "turn", "why": "read after write", "tensor": "a", "covered_by": "await"\}'
has '\{"earlier": "first", "later": "double", "why": "after", "covered_by": "other await", "await": \{"of": "double", "on": "turn"\}\}'
has '\{"earlier": "turn", "later": "double", "why": "write after read", "tensor": "c", "in_the_bytes_of": "a", "covered_by": "await"\}'
has '\{"earlier": "sums", "later": "more", "why": "read after write", "tensor": "y", "covered_by": "same home"\}'
has '\{"earlier": "turn", "later": "lone", "why": "event", "event": "turned", "covered_by": "launch order"\}'
[ "$(grep -c '"reason": ' report.json)" = 6 ] || fail "the report has not all tasks"

# The same link gives the same report.
"$sklink" -j1 model.yaml kernels.o -o again.sk --report=again.json
cmp report.json again.json || fail "the report is not deterministic"

# says PATTERN…: the explanation has a line for each.
says() {
	for pattern; do grep -qE -- "$pattern" said.txt || { cat said.txt >&2;
		fail "the explanation has no '$pattern'"; }; done
}
says "^task 'double', line 13 of model.yaml: kernel 'twice', stream 0, scope 'sp1'\$" \
	'^  CAN_FUSE: fused into sk_sp1\.$' \
	'^  It is step 3 of 5 of lane core in launch sk_sp1 \(1 of 2\), which follows no other\.$' \
	'^  Its 8 blocks run on all cores, each computes its range of 1000\.$' \
	"^  It awaits 'turn'\.\$" \
	"^    'turn' writes 'b', which it reads: 'double' awaits 'turn'\.\$" \
	"^    it comes after 'first', as the manifest says: no await of its own: 'double' awaits 'turn', and with that" \
	"^    it writes 'c', which 'sums' reads: 'sums' awaits 'double'\.\$" \
	"^    'turn' records event 'turned', which it waits for: launch sk_task_lone starts when sk_sp1 has ended\.\$"
"$skdump" --explain double --explain lone model.sk >again.txt
cmp said.txt again.txt || fail "skdump explains it otherwise"
"$skdump" --explain first model.sk >said.txt
says "^  Nothing has to come before it\.\$" '^  All cores share its 1000 elements, in whole units of 64\.$'
"$skdump" --explain more model.sk >said.txt
says "^    'sums' writes 'y', which it reads: no await: one core, the home of stream 0, runs both, one after the other\.\$"
objcopy --remove-section .sk.report model.sk stripped.sk
"$skdump" --explain double stripped.sk >said.txt
says 'the account has been stripped' "'double' awaits 'turn'"

# Elementwise chains need no await, and say why.
cat >chain.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [1000]}
  a: {dtype: f32, shape: [1000]}
  y: {dtype: f32, shape: [1000]}
tasks:
  - {name: one, kernel: scale, args: [x, a], set: {factor: 2}, scope: sp1}
  - {name: two, kernel: scale, args: [a, y], set: {factor: 2}, scope: sp1}
M
"$sklink" --no-task-entries chain.yaml kernels.o -o chain.sk --explain two >said.txt
says "^    'one' writes 'a', which it reads: no await: however many cores there are, each byte falls to the same core in both\.\$"

# An event is about all of its streams: an await that only this needs is explained by it.
cat >event.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [1000]}
  a: {dtype: f32, shape: [1000]}
  b: {dtype: f32, shape: [1000]}
  c: {dtype: f32, shape: [1000]}
scopes:
  sp1: {options: "stream-fusion=1"}
tasks:
  - {name: all, kernel: scale, args: [x, a], set: {factor: 2}, scope: sp1}
  - {name: home, kernel: prefix, args: [x, b], scope: sp1, record: ready}
  - {name: other, kernel: prefix, args: [x, c], scope: sp1, stream: 1, wait: ready}
M
"$sklink" event.yaml kernels.o -o event.sk --report=report.json --explain other >said.txt
has '\{"name": "other", .*"awaits": \["all", "home"\]'
has '\{"earlier": "all", "later": "other", "why": "event", "event": "ready", "covered_by": "await"\}'
says "^    'home' records event 'ready', which it waits for: 'other' awaits 'home'\.\$" \
	"^    event 'ready' puts all of stream 0 up to 'home' before all of stream 1 from 'other' on: 'other' awaits 'all'\.\$"
"$skdump" --verify event.sk

# Wrong names, before anything is written.
rm -f out.sk
fails_with "^sklink: error: there is no task 'dubble' to explain; did you mean 'double'\?" \
	"$sklink" model.yaml kernels.o -o out.sk --explain dubble
[ ! -e out.sk ] || fail "a package in spite of a misspelt task"
fails_with "^skdump: error: there is no task 'dubble' to explain; did you mean 'double'\?" "$skdump" --explain dubble \
	model.sk
fails_with "^sklink: error: kernels.o: is also an input" "$sklink" model.yaml kernels.o -o out.sk --report=kernels.o
fails_with "^skdump: error: option '--explain' wants a value" "$skdump" model.sk --explain

# Two plans.
"$skdump" --diff model.sk model.sk >diff.txt || fail "a package differs from itself"
[ ! -s diff.txt ] || fail "what differs from itself?"
sed 's/kernel: host_only, args: \[d, z\], stream: 3, wait: turned/kernel: scale, args: [d, z], set: {factor: 2}, scope: sp1/; s/name: more/name: most/' \
	model.yaml >other.yaml
"$sklink" other.yaml kernels.o -o other.sk
status=0
"$skdump" --diff model.sk other.sk >diff.txt || status=$?
[ "$status" = 1 ] || fail "exit status $status for packages that differ"
for pattern in '^-  launch +sk_task_lone$' '^-  task +more$' '^\+  task +most$' '^!  launch +sk_sp1 +steps +5 -> 6$' \
	'^!  task +lone +launch +sk_task_lone -> sk_sp1$' '^!  task +lone +reason +NOT_IN_SCOPE -> CAN_FUSE$' \
	'^!  task +lone +kernel +host_only -> scale$'; do
	grep -qE -- "$pattern" diff.txt || { cat diff.txt; fail "--diff has no '$pattern'"; }
done
! grep -qE ' (first|turn|double|sums) ' diff.txt || fail "--diff shows what is the same"
"$sklink" --no-task-entries model.yaml kernels.o -o bare.sk
! "$skdump" --diff model.sk bare.sk >out.txt || fail "--diff sees no difference without task entries"
grep -qE '^!  plan +task entries +[1-9][0-9]* -> 0$' out.txt || { cat out.txt;
	fail "--diff says nothing of task entries"; }
fails_with '^skdump: error: --diff wants two packages' "$skdump" --diff model.sk
fails_with '^skdump: error: --diff goes with no other option' "$skdump" --diff --verify model.sk other.sk
fails_with '^skdump: error: more than two packages' "$skdump" --diff model.sk other.sk model.sk
fails_with '^skdump: error: nothing.sk' "$skdump" --diff model.sk nothing.sk
