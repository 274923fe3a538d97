#!/bin/bash
# A scope with a task in the middle that cannot be fused: two superkernels and a lone launch between them, with the
# reason.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cp "$top_srcdir/tests/lib/kernels.c" . && compile kernels

cat >model.yaml <<M
sklink: 1
tensors:
$(tensors '[1000]' x a b c y)
tasks:
  - {name: first, kernel: scale, args: [x, a], set: {factor: 2}, scope: sp1}
  - {name: second, kernel: scale, args: [a, b], set: {factor: 3}, scope: sp1}
  - {name: lone, kernel: host_only, args: [b, c], scope: sp1}
  - {name: last, kernel: scale, args: [c, y], set: {factor: 0.5}, scope: sp1}
M
"$sklink" model.yaml kernels.o -o model.sk
"$skdump" --launches --reasons model.sk >dump.txt
grep -E 'sk_sp1_start_first_end_second .*superkernel' dump.txt || fail "no first superkernel"
grep -E 'sk_task_lone .*single' dump.txt || fail "no lone launch"
grep -E 'sk_sp1_start_last_end_last .*superkernel' dump.txt || fail "no second superkernel"
grep -E 'lone .*OP_UNSUPPORT' dump.txt || fail "no reason"
[ "$(grep -cE ' (superkernel|single)' dump.txt)" = 3 ] || fail "not three launches"
"$skdump" --verify model.sk
for cores in 1 2 3; do "$skrun" model.sk --random 1 --verify --cores $cores; done

# null wins over every tag, and a segment is convex: tasks that depend on the lone task are not in the first segment.
sed -e 's/kernel: host_only, args: \[b, c\], scope: sp1/kernel: add, args: [b, b, c], scope: null/' model.yaml \
	>null.yaml
"$sklink" null.yaml kernels.o -o null.sk
"$skdump" --launches --reasons null.sk >dump.txt
grep -E 'lone .*IN_UNFUSIBLE_SCOPE' dump.txt || fail "no reason for null"
grep -qE 'sk_sp1_start_last_end_last .*superkernel' dump.txt || fail "null does not end the segment"
