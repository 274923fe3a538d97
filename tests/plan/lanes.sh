#!/bin/bash
# A package planned for two lanes (cube and vector) runs on the host with any number of cores a lane, and verifies.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
two_lane_kernels >kernels.c
compile kernels
cat >model.yaml <<M
sklink: 1
device: a3
tensors:
$(tensors '[1000]' x a b c y z)
tasks:
  - {name: c1, kernel: product, args: [x, a], scope: sp1}
  - {name: v1, kernel: increment, args: [a, b], scope: sp1}
  - {name: v2, kernel: increment, args: [b, c], scope: sp1}
  - {name: c2, kernel: product, args: [c, y], scope: sp1}
  - {name: c3, kernel: product, args: [x, z], scope: sp1}
M
"$sklink" model.yaml kernels.o -o model.sk
"$skdump" --verify model.sk
"$skdump" --steps model.sk >steps.txt
grep -E ' v1 .*vector.*awaits c1' steps.txt || { cat steps.txt; fail "the vector lane does not await the cube lane"; }
grep -E ' c2 .*cube.*awaits v2' steps.txt || { cat steps.txt; fail "the cube lane does not await the vector lane"; }
for cores in 1 2 3; do "$skrun" model.sk --random 1 --verify --repeat 50 --cores $cores; done
