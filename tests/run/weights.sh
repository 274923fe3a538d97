#!/bin/bash
# Weights: what linking a model with many of them costs, where they may stand, and which of them are stored.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
make_model=$top_builddir/tests/lib/make-model
sanitize=$(sed -n 's/^SANITIZE_CFLAGS = //p' "$top_builddir/Makefile")
set -- -L "$top_builddir/kernels" -lskernels

# array NAME TYPE SHAPE VALUE…: NAME.npy.
array() {
	local name=$1
	shift
	"$make_model" "$name.npy" "$@"
}

# put FILE OFFSET OCTAL: four bytes there.
put() {
	printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# ---- much, and far away ----

# Three factors of 16 MiB, and one that is another one once more, in a file of which nearly nothing is there; the second
# stands behind 2 GiB, the third behind 4 GiB and not where tensors begin.
second=$((2 << 30)) third=$(((4 << 30) + 4)) again=$((5 << 30)) size=$((16 << 20))
truncate -s $((again + size)) w.bin || { echo "no files with holes here"; exit 77; }
put w.bin 0 '\0\0\0\100'                         # 2
put w.bin "$second" '\0\0\100\100'               # 3
put w.bin "$third" '\0\0\240\100'                # 5
put w.bin "$again" '\0\0\0\100'                  # 2
"$make_model" many.onnx <<END_OF_MODEL
input x f32 1x2048
output y f32 1x2048
external a f32 2048x2048 w.bin 0
external b f32 2048x2048 w.bin $second
external c f32 2048x2048 w.bin $third
external d f32 2048x2048 w.bin $again
node MatMul one x a -> t
node MatMul two t b -> u
node MatMul three u c -> v
node MatMul four v d -> y
END_OF_MODEL
"$sklink" many.onnx "$@" --stats -o many.sk >stats.txt
array x f32 1x2048 1
array y.want f32 1x2048 60 0
"$skrun" many.sk --input x=x.npy --output y=y.npy
cmp y.npy y.want.npy || fail "products of weights far away are wrong"

# Factors are packed, the fourth one is the first one's copy, and originals are nowhere.
stored=$(stat -c %s many.sk)
[ "$stored" -gt $((3 * size)) ] && [ "$stored" -lt $((3 * size + size / 2)) ] || fail "the package has $stored bytes"

# The weights are in memory once, whatever has been done to them: no process, neither this one nor the one that packs them,
# has originals and results.
peak=$(awk '/peak memory/ {print $NF}' stats.txt)
[ "$peak" -lt $(((4 * size >> 10) + (64 << 10))) ] || [ -n "$sanitize" ] || fail "the link took $peak KiB"
