#!/bin/bash
# MINDIR files, as MindSpore writes them: networks link and compute what numpy does; what sklink cannot represent is
# refused with the node and the operand; damaged files are refused at their place. MUTANTS chooses how many damaged
# files there are, and SEED which.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
set -- -L "$top_builddir/kernels" -lskernels
"$python" "$top_srcdir/tests/lib/mindir.py" .

# runs NAME FLAG…: NAME.mindir computes NAME.*.want.npy.
runs() {
	local name=$1 words=() outputs=() pairs=() number=0 output
	shift
	for input in $(head -n 1 "$name.names"); do
		words+=(--input "$input=$name.$input.npy")
	done
	"$skrun" "$name.sk" "${words[@]}" "$@" >out.txt || fail "$name does not run"
	for output in $(sed -n 's/^output  *\([^ ]*\) .*/\1/p' out.txt); do
		outputs+=(--output "$output=$name.$number.npy")
		pairs+=("$name.$number.npy" "$name.$number.want.npy")
		number=$((number + 1))
	done
	[ $number = "$(tail -n 1 "$name.names")" ] || fail "$name has $number outputs"
	"$skrun" "$name.sk" "${words[@]}" "${outputs[@]}" "$@" >out.txt
	"$python" "$top_srcdir/tests/lib/models.py" "${pairs[@]}" || fail "$name $* is wrong"
}

for names in *.names; do
	name=${names%.names}
	"$sklink" "$name.mindir" "$@" -o "$name.sk"
	runs "$name"
	runs "$name" --unfused
	for target in ascend cpu gpu; do
		"$sklink" "$name.mindir" --fusion-target=$target "$@" -o "$name.sk"
		runs "$name"
	done
done

# A file is known by its first bytes, whatever its name is; nodes and values have MindSpore's names.
cp act.mindir act.bin
"$sklink" act.bin --model-text=act.pbtxt "$@" -o act.sk
grep -q '"Default/Sigmoid-op1"' act.pbtxt || fail "a node has another name"
"$sklink" act.pbtxt "$@" -o again.sk
"$skdump" --steps act.sk >steps.txt
"$skdump" --steps again.sk | diff steps.txt - || fail "the text of a model makes another package"

for message in bad-*.message; do
	name=${message%.message}
	! "$sklink" "$name.mindir" "$@" -o bad.sk 2>err.txt || fail "$name is linked"
	grep -qF "$(cat "$message")" err.txt || { cat err.txt >&2;
		fail "$name: another message"; }
	grep -q "^sklink: error: $name.mindir: " err.txt || fail "$name: the message has no place"
	[ ! -e bad.sk ] || fail "$name: half a package"
done

mkdir mutants
"$python" "$top_srcdir/tests/lib/mindir.py" mutants --mutants "${MUTANTS-100}" "${SEED-1}"
for mutant in mutants/*; do
	status=0
	timeout 60 "$sklink" "$mutant" "$@" -o mutant.sk >out.txt 2>err.txt || status=$?
	case $status in
	0) rm mutant.sk ;;
	1)
		grep -q "error: $mutant: " err.txt || { cat err.txt >&2;
			fail "$mutant: the message has no place"; }
		[ ! -e mutant.sk ] || fail "$mutant: half a package"
		;;
	*)
		cat err.txt >&2
		fail "$mutant: status $status"
		;;
	esac
done
