#!/bin/bash
# A kernel's status ends the launch with an error that names the task and the kernel; cores that wait for it leave too.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cp "$top_srcdir/tests/lib/kernels.c" "$top_srcdir/tests/lib/oracle.c" . && compile kernels
cc -O0 -o oracle oracle.c
cat >model.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [100, 10]}
  a: {dtype: f32, shape: [100, 10]}
  y: {dtype: f32, shape: [100, 10]}
tasks:
  - {name: look, kernel: checked, args: [x, a], scope: sp1}
  - {name: after_it, kernel: scale, args: [a, y], set: {factor: 2}, scope: sp1}
M
"$sklink" model.yaml kernels.o -o model.sk
./oracle 100 10 write # x starts with a negative number
for cores in 1 2 7; do
	for how in '' --unfused; do
		fails_with "^skrun: error: .*task 'look': kernel checked returned status 3" \
			"$skrun" model.sk --input x=x.npy --output y=y.npy --cores $cores $how
		[ ! -e y.npy ] || fail "an output was written"
	done
done
# A serial entry returns the status and nothing else.
fails_with '^skrun: error: .*sk_sp1.*returned status 3' "$skrun" model.sk --input x=x.npy --output y=y.npy --serial
[ ! -e y.npy ] || fail "an output was written"
