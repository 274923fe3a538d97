#!/bin/bash
# Damaged packages: one changed byte, or a cut, outside of the code. skrun loads and lists each (which executes nothing
# of it), skdump proves it: both must say yes or no, and never crash or hang. The seed is fixed; DAMAGE_VARIANTS sets
# how many.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cp "$top_srcdir/tests/lib/kernels.c" . && compile kernels

cat >model.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [30, 100]}
  a: {dtype: f32, shape: [30, 100]}
  b: {dtype: f32, shape: [30, 100]}
  y: {dtype: f32, shape: [30, 100], role: output}
  r: {dtype: f32, shape: [30, 100]}
  z: {dtype: f32, shape: [30, 100]}
tasks:
  - {name: summed, kernel: prefix, args: [x, a], scope: sp1, stream: 1}
  - {name: scaled, kernel: scale, args: [x, b], set: {factor: 3}, scope: sp1}
  - {name: added, kernel: add, args: [a, b, y], scope: sp1}
  - {name: reversed, kernel: reverse, args: [y, r], blocks: 5, scope: sp1}
  - {name: looked, kernel: checked, args: [r, z], scope: null}
M
"$sklink" model.yaml kernels.o -o model.sk
"$skrun" --list model.sk >/dev/null
"$skdump" --verify model.sk >/dev/null

# Offset and size of a section in the file.
section() {
	readelf -SW model.sk | sed -n \
		"s/^.* $1  *[A-Z_0-9]*  *[0-9a-f]* \([0-9a-f]*\) \([0-9a-f]*\) .*/\$((0x\1)) \$((0x\2))/p"
}
eval "set -- $(section '\.text') $(section '\.sk\.plan')"
[ $# = 4 ] || fail "no .text or no .sk.plan"
text=$1 text_size=$2 plan=$3 plan_size=$4
size=$(wc -c <model.sk)

# Knuth's linear congruential generator; the upper bits are the random ones. pick N: $picked is below N.
state=1
pick() {
	state=$((state * 6364136223846793005 + 1442695040888963407))
	picked=$(((state >> 33 & 0x7fffffff) % $1))
}

# try COMMAND…: yes or no, and no with an error; or, of a package that has lost its report or its symbols, in part.
# Counts both.
accepted=0 refused=0
try() {
	status=0
	timeout 120 "$@" damaged.sk >out.txt 2>err.txt || status=$?
	if [ ! -s err.txt ] && { [ $status = 0 ] || { [ $status = 2 ] && grep -q '^not proved: ' out.txt; }; }; then
		accepted=$((accepted + 1))
	elif [ $status = 1 ] && grep -qE '^sk(run|dump): error: ' err.txt &&
		! grep -qE 'Sanitizer|runtime error:' err.txt; then
		refused=$((refused + 1))
	else
		cat err.txt >&2
		fail "exit status $status: $* with $damage"
	fi
}

variants=${DAMAGE_VARIANTS:-250}
for ((i = 0; i < variants; i++)); do
	if ((i % 20 == 0)); then
		pick "$size"
		damage="the first $picked bytes"
		head -c "$picked" model.sk >damaged.sk
	else
		# Every second change is one of the plan.
		pick $((size - text_size))
		offset=$((picked < text ? picked : picked + text_size))
		((i % 2)) || { pick "$plan_size"; offset=$((plan + picked)); }
		pick 11
		byte=$(od -An -tu1 -j $offset -N 1 model.sk)
		case $picked in
		8) byte=$((byte == 0 ? 1 : 0)) ;;
		9) byte=$((byte == 255 ? 254 : 255)) ;;
		10) byte=$(((byte + 1) % 256)) ;;
		*) byte=$((byte ^ 1 << picked)) ;;
		esac
		damage="byte $offset set to $byte"
		cp model.sk damaged.sk
		printf "\\x$(printf %02x $byte)" | dd of=damaged.sk bs=1 seek=$offset conv=notrunc status=none
	fi
	try "$skrun" --list
	try "$skdump" --verify
done
echo "$accepted accepted, $refused refused"
((accepted > 0 && refused > 0)) || fail "all were treated alike"
