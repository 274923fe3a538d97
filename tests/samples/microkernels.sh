#!/bin/bash
# samples/microkernels: kernels that compute a tile or a row each, called in loops by one superkernel without awaits,
# right by plain loops, on all numbers of cores; and nothing that checked launches find.
. "$top_srcdir/tests/lib/lib.sh"
sample=$top_srcdir/samples/microkernels
reference=$top_builddir/samples/microkernels/reference

"$reference" make .
cp "$sample/microkernels.yaml" .
objects=kernels.o
if grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo; then
	objects="kernels.o kernels-avx2.o"
fi
for object in $objects; do
	"$sklink" microkernels.yaml "$top_builddir/samples/microkernels/$object" -o network.sk
	"$skdump" network.sk >dump.txt
	[ "$(grep -c 'sk_task_pack[12] .*single, once' dump.txt)" = 2 ] || { cat dump.txt;
		fail "weights are packed in every run"; }
	grep -q '^  network  *7 tasks in 3 launches, [3-7] steps, 0 awaits$' dump.txt || { cat dump.txt;
		fail "a row leaves its core"; }
	"$skdump" --verify network.sk >/dev/null
	"$skrun" network.sk --input x=x.npy --output y=y.npy
	"$reference" check .
	for cores in 1 2 3 7; do
		"$skrun" network.sk --random 1 --verify --cores $cores
		"$skrun" network.sk --input x=x.npy --output y=y.npy --guard --check-races --cores $cores
		"$reference" check .
	done
done

# Another limit: the check must notice.
sed 's/max: 6/max: 1/' microkernels.yaml >wrong.yaml
"$sklink" wrong.yaml "$top_builddir/samples/microkernels/kernels.o" -o wrong.sk
"$skrun" wrong.sk --input x=x.npy --output y=y.npy
fails_with 'y\[0\]\[0\] is .*, expected' "$reference" check .
