#!/bin/bash
# A package of more than 2 GiB: constants that code reaches with 64-bit offsets only, in the package and in a file of
# their own. They are mostly holes, before and after linking.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
set -- -L "$top_builddir/kernels" -lskernels

rows=1200000
last=$(((rows - 1) * 2048))
truncate -s $((rows * 2048)) table.bin || { echo "no files with holes here"; exit 77; }
[ "$(du -k table.bin | cut -f1)" -lt 1000 ] || { echo "no files with holes here"; exit 77; }
printf '\0\0\0\100' | dd of=table.bin bs=1 seek=4096 conv=notrunc status=none    # 2, in row 2
printf '\0\0\100\100' | dd of=table.bin bs=1 seek="$last" conv=notrunc status=none # 3
"$make_model" huge.onnx <<END_OF_MODEL
input rows i64 3
output y f32 3x512
external table f32 ${rows}x512 table.bin 0
constant behind f32 512 5 0
node Gather _ table rows -> t axis=0
node Add _ t behind -> y
END_OF_MODEL
"$make_model" rows.npy i64 3 2 $((rows - 1)) 0
numbers=(7)
for first in 8 5; do
	for ((i = 1; i < 512; i++)); do numbers+=(0); done
	numbers+=("$first")
done
"$make_model" want.npy f32 3x512 "${numbers[@]}" 0

# check PACKAGE FILE: the right numbers, however it is run; the file has the constants, and holes.
check() {
	for way in '' --serial --unfused; do
		rm -f got.npy
		# shellcheck disable=SC2086 # words
		"$skrun" "$1" --input rows=rows.npy --output y=got.npy $way || fail "$1 $way"
		cmp got.npy want.npy || fail "$1 $way: constants behind 2 GiB are wrong"
	done
	[ "$(stat -c %s "$2")" -gt $((1 << 31)) ] || fail "$2 is too small"
	[ "$(du -k "$2" | cut -f1)" -lt 16000 ] || fail "$2 has no holes: $(du -k "$2")"
}

"$sklink" huge.onnx "$@" -o huge.sk
check huge.sk huge.sk
proved huge.sk
rm huge.sk
"$sklink" huge.onnx "$@" --weights huge.weights -o small.sk
check small.sk huge.weights
[ "$(stat -c %s small.sk)" -lt $((1 << 20)) ] || fail "the package has the constants, too"
