#!/bin/bash
# skrun --check-races: in each plan, every await that orders data is missed when it is dropped, in any order of the
# cores; whole plans pass. Kernels that write where their signatures do not let them are also found.
. "$top_srcdir/tests/lib/lib.sh"
cp "$top_srcdir/tests/runtime/check-kernels.c" "$top_srcdir/tests/lib/kernels.c" . && compile check-kernels &&
	compile kernels

cat >blocks.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [1000]}
  a: {dtype: f32, shape: [1000]}
  b: {dtype: f32, shape: [1000]}
  c: {dtype: f32, shape: [1000]}
  y: {dtype: f32, shape: [1000]}
tasks:
  - {name: A, kernel: scale, args: [x, a], set: {factor: 2}, scope: sp1}
  - {name: B, kernel: reverse, args: [a, b], scope: sp1}
  - {name: C, kernel: reverse, args: [a, c], scope: sp1}
  - {name: D, kernel: add, args: [b, c, y], scope: sp1}
M
# Homes of two streams, and steps of all cores.
cat >streams.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [1000]}
  a: {dtype: f32, shape: [1000]}
  b: {dtype: f32, shape: [1000]}
  c: {dtype: f32, shape: [1000]}
  y: {dtype: f32, shape: [1000]}
  z: {dtype: f32, shape: [1000]}
tasks:
  - {name: A, kernel: prefix, args: [x, a], stream: 0, scope: sp1}
  - {name: B, kernel: prefix, args: [x, b], stream: 1, scope: sp1}
  - {name: C, kernel: add, args: [a, b, c], scope: sp1}
  - {name: D, kernel: prefix, args: [c, y], stream: 0, scope: sp1}
  - {name: E, kernel: prefix, args: [y, z], stream: 1, scope: sp1}
M
dropped=0
for model in blocks streams; do
	"$sklink" $model.yaml kernels.o -o $model.sk
	for options in '' '--cores 1' '--cores 5 --seed 7' '--seed 9' '--device host --cores 3'; do
		"$skrun" $model.sk --random 1 --check-races $options >/dev/null ||
			fail "$model: a race where there is none"
	done
	"$skrun" $model.sk --random 1 --check-races --verify >/dev/null
	await=0
	while cp $model.sk dropped.sk && "$top_builddir/tests/lib/drop-await" dropped.sk $await; do
		for options in '' '--seed 1' '--seed 2 --cores 5' '--device host --cores 2'; do
			fails_with "^skrun: error: superkernel sk_sp1: task '[A-E]': kernel [a-z]* on core [0-9]*: race: it (reads|writes) bytes [0-9]* to [0-9]* of tensor '[a-z]', which task '[A-E]' on core [0-9]* (reads|writes); no await orders the two" \
				"$skrun" dropped.sk --random 1 --check-races $options
		done
		fails_with "launch 'sk_sp1'" "$skdump" --verify dropped.sk
		"$skrun" dropped.sk --random 1 --check-races --cores 1 >/dev/null ||
			fail "$model, await $await: a race of one core"
		await=$((await + 1))
		dropped=$((dropped + 1))
	done
done
[ $dropped = 6 ] || fail "$dropped awaits have been dropped"

# Signatures that lie: a part that reaches too far, an input that is written, even with its own value.
cat >lies.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [1000]}
  a: {dtype: f32, shape: [1000]}
  y: {dtype: f32, shape: [1000]}
tasks:
  - {name: first, kernel: copy, args: [x, a], set: {what: 0}, scope: sp1}
  - {name: second, kernel: copy, args: [a, y], set: {what: WHAT}, scope: sp1}
M
lie() {
	sed "s/WHAT/$1/" lies.yaml >lie.yaml
	"$sklink" lie.yaml check-kernels.o -o lie.sk
	for options in '' '--seed 3' '--device host --cores 2'; do
		fails_with "^skrun: error: .*task 'second': kernel copy on core [0-9]*, in the tile of elements [0-9]* to [0-9]*: $2" \
			"$skrun" lie.sk --random 1 --check-races $options
	done
}
lie 1 "it has written at byte [0-9]* of tensor 'y', of which the call may write bytes [0-9]* to [0-9]*"
lie 6 "segmentation fault .SIGSEGV.: write at address 0x[0-9a-f]*, at byte [0-9]* of tensor 'a', of which the call may only read"
lie 8 "segmentation fault .SIGSEGV.: write at address 0x[0-9a-f]*, at byte [0-9]* of tensor 'a'"
