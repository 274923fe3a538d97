#!/bin/bash
# The awaits of known schedules, as the issue of the spine states them.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cp "$top_srcdir/tests/lib/kernels.c" . && compile kernels

# awaits MODEL: the number of awaits in its superkernel.
awaits() {
	"$sklink" --no-task-entries "$1.yaml" kernels.o -o "$1.sk" || fail "$1 does not link"
	"$skdump" --verify "$1.sk" >/dev/null || fail "$1 does not verify"
	"$skdump" --steps "$1.sk" >"$1.txt"
	sed -n 's/^.*superkernel.* \([0-9][0-9]*\) awaits\{0,1\}.*$/\1/p' "$1.txt" | head -n 1
}

{
	echo 'sklink: 1'
	echo 'tensors:'
	for i in 0 1 2 3 4 5 6 7 8 9 10; do echo "  t$i: {dtype: f32, shape: [1000]}"; done
	echo 'tasks:'
	for i in 0 1 2 3 4 5 6 7 8 9; do
		echo "  - {name: s$i, kernel: scale, args: [t$i, t$((i + 1))], set: {factor: 2}, scope: sp1}"
	done
} >chain.yaml
[ "$(awaits chain)" = 0 ] || { cat chain.txt; fail "a chain of split tasks has awaits"; }

cat >blocks.yaml <<M
sklink: 1
tensors:
$(tensors '[1000]' x a b c y)
tasks:
  - {name: A, kernel: scale, args: [x, a], set: {factor: 2}, scope: sp1}
  - {name: B, kernel: reverse, args: [a, b], scope: sp1}
  - {name: C, kernel: reverse, args: [a, c], scope: sp1}
  - {name: D, kernel: add, args: [b, c, y], scope: sp1}
M
[ "$(awaits blocks)" = 2 ] || { cat blocks.txt; fail "split, blocks, blocks, split has not two awaits"; }
grep -E ' B .*awaits A' blocks.txt || { cat blocks.txt; fail "B does not await A"; }
grep -E ' D .*awaits C' blocks.txt || { cat blocks.txt; fail "D does not await C"; }

cat >streams.yaml <<M
sklink: 1
tensors:
$(tensors '[1000]' x a b y z)
tasks:
  - {name: A, kernel: prefix, args: [x, a], stream: 0, scope: sp1}
  - {name: B, kernel: prefix, args: [x, b], stream: 1, scope: sp1}
  - {name: C, kernel: prefix, args: [a, y], stream: 0, scope: sp1}
  - {name: D, kernel: prefix, args: [b, z], stream: 1, scope: sp1}
M
[ "$(awaits streams)" = 0 ] || { cat streams.txt; fail "plain tasks of two streams wait for each other"; }
for model in chain blocks streams; do
	"$sklink" $model.yaml kernels.o -o $model.sk
	for cores in 1 2 3 7; do "$skrun" $model.sk --random 3 --verify --repeat 20 --cores $cores; done
done
