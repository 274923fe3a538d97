#!/bin/bash
# Tensors and tasks with names that are not identifiers: all tools use these names, and identifiers are made from them,
# one to one.
set -eu
. "$top_srcdir/tests/lib/lib.sh"

cp "$top_srcdir/tests/lib/kernels.c" . && compile kernels
long=$(printf 'é%.0s' {1..127})
cat >model.yaml <<M
sklink: 1
tensors:
  input:0: {dtype: f32, shape: [300]}
  a: {dtype: f32, shape: [300]}
  "a=b": {dtype: f32, shape: [300]}
  /layer.3/hidden: {dtype: f32, shape: [300]}
  "y of # 'all'": {dtype: f32, shape: [300], role: output}
  a_x2Fb: {dtype: f32, shape: [300], role: output}
  a/b: {dtype: f32, shape: [300], role: output}
tasks:
  - {name: /layer.3/Mul, kernel: scale, args: ["input:0", /layer.3/hidden], set: {factor: 2}, scope: layer}
  - {name: "\"to: y\" # \\\\", kernel: scale, args: [/layer.3/hidden, "y of # 'all'"], set: {factor: 2}, scope: layer}
  - {name: t/u, kernel: scale, args: [a, a/b], set: {factor: 3}, after: /layer.3/Mul}
  - {name: t_x2Fu, kernel: scale, args: {x: "a=b", "y": a_x2Fb}, set: {factor: 5}, after: ["\"to: y\" # \\\\"]}
  - {name: $long, kernel: scale, args: {x: "a=b", "y": a_x2Fb}, set: {factor: 5}}
M
"$sklink" model.yaml kernels.o --task-entries -o model.sk --header model.h --report report.json --Map map.txt >out.txt \
	2>&1 || fail "$(cat out.txt)"
"$skdump" --verify model.sk >verify.txt || fail "it does not verify"

# ---- symbols ----
nm -D --defined-only model.sk | awk '{ print $3 }' >symbols.txt
for symbol in sk_layer 'sk_task_t_x2Fu' 'sk_task_t_x5Fx2Fu' "sk_task_$(printf '_xC3_xA9%.0s' {1..127})"; do
	grep -qxF "$symbol" symbols.txt || fail "no symbol $symbol"
done
nm model.sk | grep -q ' sk_unfused__x2Flayer_x2E3_x2FMul$' || fail "no entry of /layer.3/Mul"
"$sklink" model.yaml kernels.o -r -o object.o
gcc -Wall -Wextra -Werror -xc -c -o header.o - <<'C' || fail "the header is no C"
#include "model.h"
_Static_assert(SK_layer_TENSOR_a_x2Fb != SK_layer_TENSOR_a_x5Fx2Fb, "two tensors");
_Static_assert(SK_layer_BYTES_input_x3A0 == 1200, "input:0");
C

# ---- output of tools ----
python=$(command -v python3) || python=
if [ -n "$python" ]; then
	"$python" - <<'P' || fail "the report has other names"
import json
tasks = [task["name"] for task in json.load(open("report.json"))["tasks"]]
assert tasks[:4] == ["/layer.3/Mul", '"to: y" # \\', "t/u", "t_x2Fu"] and tasks[4] == "é" * 127, tasks
P
fi
"$skdump" --all model.sk >all.txt
for name in "input:0" "/layer.3/Mul" "y of # 'all'" "$long"; do
	grep -qF "$name" all.txt || fail "skdump does not show $name"
done
"$skdump" --explain /layer.3/Mul model.sk | grep -q 'task ./layer.3/Mul' || fail "skdump explains nothing"
"$sklink" model.yaml kernels.o --check --explain '"to: y" # \' | grep -q 'to: y' || fail "sklink explains nothing"
fails_with "did you mean '/layer.3/Mul'" "$skdump" --explain /layer.3/Mol model.sk

# ---- tensors on the command line ----
"$skrun" model.sk --random 1 --output "y of # 'all'=y.npy" --output a/b=ab.npy --output a_x2Fb=five.npy
cp y.npy x=1.npy
"$skrun" model.sk --input input:0=x=1.npy --input a=y.npy --input a=b=ab.npy --output "y of # 'all'=4y.npy" \
	--output a/b=3y.npy --output a_x2Fb=5ab.npy
elements() { tail -c 1200 "$1" | od -An -v -tf4 -w4; }
for result in '4 y' '3 y' '5 ab'; do
	set -- $result
	paste <(elements "$1$2.npy") <(elements "$2.npy") |
		awk -v n="$1" '{ d = $1 - n * $2; bad += d * d > 1e-10 * $1 * $1 } END { exit bad || NR != 300 || !$1 }' ||
		fail "an input went elsewhere: $1 times $2"
done
fails_with "tensor 'a=b' is given twice" "$skrun" model.sk --random 1 --input a=b=ab.npy --input a=b=y.npy
fails_with "no input or output 'input:1'; did you mean 'input:0'" "$skrun" model.sk --random 1 --input input:1=y.npy
fails_with "NAME=FILE is expected" "$skrun" model.sk --random 1 --input =y.npy
fails_with "a=: NAME=FILE is expected" "$skrun" model.sk --random 1 --input a=

"$skrun" model.sk --random 1 --verify >out.txt

# ---- costs are written and read by name; traces are JSON ----
"$skrun" model.sk --random 1 --measure costs.txt
grep -q '^/layer.3/Mul: [0-9]* ns$' costs.txt || fail "costs: $(cat costs.txt)"
grep -qF '"\"to: y\" # \\": ' costs.txt || fail "costs: $(cat costs.txt)"
"$skrun" model.sk --predict --costs costs.txt >predicted.txt
grep -q '5 from the cost file' predicted.txt || fail "costs are not found again: $(cat predicted.txt)"
printf '"t/u: 5 ns\n' >costs.txt
fails_with 'costs.txt:1: a quote has no end' "$skrun" model.sk --predict --costs costs.txt
printf '"t/u" 5 ns\n' >costs.txt
fails_with "costs.txt:1: 'key: value' is expected" "$skrun" model.sk --predict --costs costs.txt
printf '"t/u": 5 ns # "t"\n # nothing\n t_x2Fu : 5 ns\n' >costs.txt
"$skrun" model.sk --predict --costs costs.txt >predicted.txt
grep -q '2 from the cost file' predicted.txt || fail "costs are not found again: $(cat predicted.txt)"
"$skrun" model.sk --random 1 --unfused --trace trace.json >out.txt
if [ -n "$python" ]; then
	"$python" -c 'import json; assert "\"to: y\" # \\" in {event["name"] for event in json.load(open("trace.json"))["traceEvents"]}' ||
		fail "the trace has other names"
fi

# ---- launches with equal symbols ----
cat >meet.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [300]}
  "y": {dtype: f32, shape: [300]}
tasks:
  - {name: a/b, kernel: scale, args: [x, "y"], set: {factor: 2}, scope: unfused_a_x2Fb}
M
fails_with "meet.yaml:6:.*the launch would be named 'sk_unfused_a_x2Fb', a name that sklink itself needs" \
	"$sklink" meet.yaml kernels.o -o meet.sk
