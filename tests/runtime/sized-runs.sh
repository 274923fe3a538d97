#!/bin/bash
# skrun on packages with bounds: predictions, lists, times, profiles, traces, measured costs and checks are those of the
# sizes that --dim or input files say, and name them. A prediction is that of the static package of the same sizes.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/sizes.sh"

# Costs that follow the sizes: of a signature, and of a manifest.
cat >costs.c <<'C'
#include "skkernel.h"
void times(const float *a, const float *b, float *y, long m, long k, long n)
{
	for (long i = 0; i < m; i++)
		for (long j = 0; j < n; j++) {
			y[i * n + j] = 0;
			for (long l = 0; l < k; l++)
				y[i * n + j] += a[i * k + l] * b[l * n + j];
		}
}
SK_KERNEL(times, "split=m operations=2*m*k*n; in a f32[m,k], in b f32[k,n], out y f32[m,n], m i64, k i64, n i64");
C
compile costs
sized_manifest costs 'm: 1..64@16, k: 8..64:8' <<'M'
tensors:
  a: {dtype: f32, shape: [m, k]}
  b: {dtype: f32, shape: [k, 2*k]}
  c: {dtype: f32, shape: [2*k, k]}
  h: {dtype: f32, shape: [m, 2*k]}
  "y": {dtype: f32, shape: [m, k]}
tasks:
  - {name: first, kernel: times, args: [a, b, h], scope: s}
  - {name: second, kernel: times, args: [h, c, "y"], scope: s, cost: {cycles: "3*m*k+k//3", bytes: 4096*k}}
M
# On a device with two lanes, in virtual time.
{ echo 'device: a3'; cat costs.yaml; } >npu.yaml

# predicted NAME SIZE…: the lines of the static package of these sizes. Awaits can differ: one schedule fits all sizes.
predicted() {
	local name=$1 sizes=()
	shift
	for size in "$@"; do sizes+=(--dim "$size"); done
	"$sklink" "$name.yaml" kernels.o costs.o "${sizes[@]}" -o static.sk
	"$skrun" --predict static.sk >static.txt
	"$skrun" --predict "$name.sk" "${sizes[@]}" >sized.txt
	grep -q "^sizes $(echo "$*" | sed 's/ /, /g')\$" sized.txt || fail "$name: no sizes: $(cat sized.txt)"
	! grep -q '^sizes' static.txt || fail "sizes of a static package"
	local line
	for line in '^unfused ' '^costs: '; do
		[ "$(grep "$line" static.txt)" = "$(grep "$line" sized.txt)" ] ||
			fail "$name at $*: another prediction: $(diff static.txt sized.txt)"
	done
}
for name in rows costs npu widths; do "$sklink" $name.yaml kernels.o costs.o -o $name.sk; done
for sizes in '1 8' '64 64' '16 24'; do
	predicted costs m=${sizes% *} k=${sizes#* }
	predicted npu m=${sizes% *} k=${sizes#* }
done
for sizes in '1 1' '8 512' '3 77'; do predicted rows batch=${sizes% *} seq=${sizes#* }; done
for sizes in '1 8' '40 64' '17 24'; do predicted widths rows=${sizes% *} width=${sizes#* }; done
"$skrun" --predict rows.sk >usual.txt
grep -q '^sizes batch=8, seq=128$' usual.txt || fail "not the usual sizes: $(cat usual.txt)"
sized_manifest halves 'n: 1..65@9' <<'M'
tensors:
  x: {dtype: f32, shape: [n, 16]}
  half: {of: x, shape: ["n//2", 16]}
  b: {dtype: f32, shape: [16]}
  "y": {dtype: f32, shape: ["n//2", 16], role: output}
tasks:
  - {name: bias, kernel: bias, args: [half, b, "y"], scope: s}
M
"$sklink" halves.yaml kernels.o -o halves.sk
"$skrun" --predict halves.sk --dim n=1 >empty.txt
grep -q '^sizes n=1$' empty.txt || fail "no prediction of nothing: $(cat empty.txt)"

# Input files say sizes of predictions.
"$sklink" rows.yaml kernels.o --dim batch=2 --dim seq=37 -o static.sk
cat >copy.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [2, 37, 64]}
  z: {dtype: f32, shape: [2, 37, 64]}
  "y": {dtype: f32, shape: [2, 37, 64], role: output}
tasks:
  - {name: copy, kernel: add, args: [x, z, "y"]}
M
"$sklink" copy.yaml kernels.o -o copy.sk
"$skrun" copy.sk --random 5 --output y=x.npy
"$skrun" --predict rows.sk --input x=x.npy >file.txt
"$skrun" --predict rows.sk --dim batch=2 --dim seq=37 >given.txt
cmp file.txt given.txt || fail "the sizes of a file: $(diff file.txt given.txt)"
fails_with '--dim seq=40: by the shape of x.npy it is 37' "$skrun" --predict rows.sk --input x=x.npy --dim seq=40
fails_with "none.npy: input 'x': No such file or directory" "$skrun" --predict rows.sk --input x=none.npy
fails_with "x.npy: input 'w': the shape is \[2, 37, 64\]" "$skrun" --predict rows.sk --input w=x.npy
fails_with 'static.sk: --input says the sizes of a prediction, and those of this package do not vary' "$skrun" \
	--predict static.sk --input x=x.npy

# Costs are measured at sizes, and hold for these.
"$skrun" rows.sk --random 1 --measure rows.costs --dim batch=2 --dim seq=37
grep -qx 'sizes: batch=2, seq=37' rows.costs || fail "no sizes: $(cat rows.costs)"
"$skrun" --predict rows.sk --costs rows.costs --dim batch=2 --dim seq=37 >costs.txt
grep -q '^costs: 4 from the cost file' costs.txt || fail "other costs: $(cat costs.txt)"
fails_with 'rows.costs:2: these times are those of batch=2, seq=37, and the prediction is for batch=8, seq=128' \
	"$skrun" --predict rows.sk --costs rows.costs

# A name that would be read as a comment, and an expression of more than 512 bytes: all outputs have the whole one.
a=$(printf 'a%.0s' {1..150}) b=$(printf 'b%.0s' {1..150}) c=$(printf 'c%.0s' {1..150}) d=$(printf 'd%.0s' {1..150})
{
	printf 'sklink: 1\ndims: {"seq #1": 1..4, %s: 1..2, %s: 1..2, %s: 1..2, %s: 1..2}\n' "$a" "$b" "$c" "$d"
	cat <<-M
	tensors:
	  b: {dtype: f32, shape: [64]}
	  x: {dtype: f32, shape: ['"seq #1"*$a*$b*$c*$d', 64]}
	  y: {dtype: f32, shape: ['"seq #1"*$a*$b*$c*$d', 64]}
	tasks:
	  - {name: t, kernel: bias, args: [x, b, y], scope: s}
	M
} >names.yaml
"$sklink" names.yaml kernels.o -o names.sk --report names.json --explain t >names.txt
whole="\"seq #1\"*$a*$b*$c*$d"
grep -qF -- "$whole" names.txt || fail "no whole expression: $(cat names.txt)"
grep -qF -- "${whole//\"/\\\"}" names.json || fail "no whole expression in the report: $(cat names.json)"
"$skdump" names.sk >names.txt
grep -qF -- "$whole" names.txt || fail "no whole expression: $(cat names.txt)"
"$skrun" --list names.sk >names.txt
for factor in '"seq #1"' "$a" "$b" "$c" "$d"; do
	grep 'y ' names.txt | grep -qF -- "$factor" || fail "no $factor: $(cat names.txt)"
done
"$skrun" names.sk --random 1 --measure names.costs --dim 'seq #1=3'
"$skrun" --predict names.sk --costs names.costs --dim 'seq #1=3' >costs.txt
grep -q '^costs: 1 from the cost file' costs.txt || fail "other costs: $(cat costs.txt)"

# ---- lists, times, profiles, traces ----

"$skrun" rows.sk --list >list.txt
grep -qF 'input   x  f32 [batch, seq, 64]' list.txt || fail "no expressions: $(cat list.txt)"
"$skrun" rows.sk --list --dim seq=3 >list.txt
grep -qF 'input   x  f32 [8, 3, 64]' list.txt || fail "no numbers: $(cat list.txt)"

# said OPTION…: what it prints begins with the sizes.
said() {
	"$skrun" rows.sk --random 1 --dim seq=3 "$@" >said.txt
	[ "$(grep -c '^sizes ' said.txt) $(head -n 1 said.txt)" = '1 sizes batch=8, seq=3' ] || fail "$*: $(cat said.txt)"
}
"$sklink" rows.yaml kernels.o --scope-options '*=profiling=1' -o rows.sk
said
said --time
said --profile
said --verify --cores 1
said --guard
said --check-races
said --check-split
"$skrun" rows.sk --random 1 --dim seq=3 --output y=y.npy >said.txt
[ ! -s said.txt ] || fail "only files were asked for: $(cat said.txt)"
"$skrun" rows.sk --random 1 --dim seq=3 --time --profile --json >said.json
grep -qx '  "sizes": {"batch": 8, "seq": 3},' said.json || fail "no sizes in JSON: $(cat said.json)"
"$skrun" static.sk --random 1 --time --json >static.json
! grep -q '"sizes"' static.json || fail "sizes of a static package in JSON"

"$skrun" rows.sk --random 1 --dim seq=3 --trace rows.trace >/dev/null
grep -q '"sizes":"batch=8, seq=3"' rows.trace || fail "no sizes in a trace: $(cat rows.trace)"
"$skrun" --predict rows.sk --dim seq=3 --trace predicted.trace >/dev/null
grep -q '"otherData":{"predicted":true,"sizes":"batch=8, seq=3"}' predicted.trace || fail "no sizes in a predicted trace"
"$skrun" static.sk --random 1 --unfused --trace static.trace >/dev/null
! grep -q '"sizes"' static.trace || fail "sizes of a static package in a trace"
