#!/bin/bash
# Ranges: few elements on several cores, one tensor taken flat and by rows, empty ranges, more cores than units, blocks;
# the results against an independent computation, and a thousand repeats of the verification.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cp "$top_srcdir/tests/lib/kernels.c" "$top_srcdir/tests/lib/oracle.c" . && compile kernels
cc -O0 -o oracle oracle.c

for shape in '1 100' '64 1000' '3 7' '1 1' '130 64'; do
	set -- $shape
	cat >model.yaml <<M
sklink: 1
tensors:
$(tensors "[$1, $2]" x w a b)
  y: {dtype: f32, shape: [$1, $2], role: output}
  r: {dtype: f32, shape: [$1, $2]}
  z: {dtype: f32, shape: [$1, $2]}
tasks:
  - {name: scaled, kernel: scale, args: [x, a], set: {factor: 3}, scope: sp1}
  - {name: added, kernel: add, args: [a, w, b], scope: sp1}
  - {name: shifted, kernel: shift_rows, args: [b, y], scope: sp1}
  - {name: reversed, kernel: reverse, args: [y, r], blocks: 5, scope: sp1}
  - {name: doubled, kernel: twice, args: [r, z], blocks: 3, scope: sp1}
M
	"$sklink" model.yaml kernels.o -o model.sk
	"$skdump" --verify model.sk >/dev/null
	./oracle "$1" "$2" write
	for cores in 1 2 3 7; do
		"$skrun" model.sk --random 5 --verify --repeat 1000 --cores $cores ||
			fail "[$1, $2] on $cores cores"
		for how in '' --unfused --serial; do
			rm -f y.npy z.npy
			"$skrun" model.sk --input x=x.npy --input w=w.npy --output y=y.npy --output z=z.npy \
				--cores $cores $how >/dev/null
			./oracle "$1" "$2" || fail "[$1, $2] on $cores cores $how"
		done
	done
done
