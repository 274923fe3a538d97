#!/bin/bash
# skdump: its output for a package, its proof, damage that it finds in tables and code, and that no file makes it crash.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cp "$top_srcdir/tests/lib/kernels.c" . && compile kernels

cat >model.yaml <<M
sklink: 1
tensors:
$(tensors '[1000]' x a b c d y)
tasks:
  - {name: first, kernel: scale, args: [x, a], set: {factor: 2}, scope: sp1}
  - {name: turn, kernel: reverse, args: [a, b], scope: sp1, blocks: 8}
  - {name: double, kernel: twice, args: [b, c], scope: sp1, blocks: 8}
  - {name: lone, kernel: host_only, args: [c, d], stream: 3}
  - {name: sum, kernel: prefix, args: [d, y], stream: 3}
M
"$sklink" model.yaml kernels.o -o model.sk

# shows OPTION PATTERN…: the output has a line for each pattern.
shows() {
	option=$1
	shift
	"$skdump" $option model.sk >out.txt 2>err.txt || { cat err.txt >&2; fail "skdump $option"; }
	[ ! -s err.txt ] || fail "skdump $option says something on stderr"
	! grep -qE ' $' out.txt || fail "skdump $option: a line ends in a space"
	for pattern; do grep -qE -- "$pattern" out.txt || { cat out.txt >&2;
		fail "skdump $option shows no '$pattern'"; }; done
}
shows --bindings '^  0  x +input +f32 +\[1000\] +4000$' '^  1  y +output +f32 +\[1000\] +4000$'
shows --launches '  sk_sp1 +superkernel +all +sp1 +0 +3 +first +double +[0-9]+ ' \
	' sk_task_lone +single +1 core +- +3 +1 +lone +lone +0 +[0-9]+ +0$' ' sk_task_sum .* 1$'
# The workspaces of serial entries are as large as the header says.
"$sklink" model.yaml kernels.o --header=model.h -o model.sk
sed -nE 's/^#define SK_sp1_WORKSPACE_(.*) UINT64_C\(([0-9]+)\)$/ \1 +s.* \2 +[-0-9, ]+$/p' model.h >workspaces.txt
[ -s workspaces.txt ] || fail "the header has no workspaces"
mapfile -t workspaces <workspaces.txt
shows --launches "${workspaces[@]}"
shows --steps '^launch 0: sk_sp1, superkernel, 3 steps, [12] awaits?$' \
	'^ +1  first +scale +core +all cores +split 1000 in 16 units of 64$' \
	' 2  turn +reverse +core +all cores +8 blocks +awaits first$' ' 3  double .* 8 blocks of 1000 +awaits turn$' \
	' 1  lone .*home of stream 3  plain$'
shows --memory '^memory: 4 temporaries in a workspace of [0-9]+ bytes$' '4000  a .*' 'shares bytes with'
shows --reasons 'lone .*sk_task_lone' 'first +sp1 +sk_sp1 +CAN_FUSE'
shows --all 'sk_unfused_turn, task entry, 1 step.*, by a thunk$' 'machine +x86-64' 'task entries +5'
shows '' '^model.sk$' '^bindings$' '^launches$' '^launch 2: ' '^memory: ' '^reasons$'
! grep -q sk_unfused out.txt || fail "task entries are shown without --all"

# Names that no manifest may have, of 20,000 bytes: they have lost their ends, so that each of 80 leads to the last
# one's. The rows show beginnings, and none is padded to such a length.
{
	printf 'sklink: 1\ntensors:\n'
	tensors '[1000]' x $(seq -f 't%.0f' 80)
	printf 'tasks:\n'
	for i in $(seq 80); do
		printf '  - {name: %s%05d, kernel: scale, args: [x, t%d], set: {factor: 2}, scope: sp1}\n' \
			$(printf 'n%.0s' $(seq 250)) $i $i
	done
} >long.yaml
"$sklink" long.yaml kernels.o --no-task-entries -o long.sk
"$skdump" --steps long.sk >out.txt
grep -q 'n00080  scale' out.txt || fail "names of 255 bytes are not shown"
objcopy -R .sk.report long.sk # which is compressed
LC_ALL=C sed -i 's/\(n[0-9]\{5\}\)\x00n/\1nn/g' long.sk
for option in --steps --launches; do
	"$skdump" $option long.sk >out.txt
	grep -q 'nnn…' out.txt || fail "skdump $option: a long name is not cut"
	[ "$(wc -c <out.txt)" -lt 100000 ] || fail "skdump $option: $(wc -c <out.txt) bytes for 80 names of 20000"
done
shows --verify '^verified: 3 launches, 5 steps, 5 task entries$'
[ "$(wc -l <out.txt)" = 1 ] || fail "--verify says more than that"
shows '--verify --launches' '^verified: ' 'sk_sp1 +superkernel'
shows --version '^skdump [0-9]'
shows --help '^Usage: skdump '

# Without task entries, without the account.
"$sklink" --no-task-entries model.yaml kernels.o -o bare.sk
"$skdump" --verify bare.sk | grep -qx 'verified: 3 launches, 5 steps' || fail "a package without task entries"
objcopy --remove-section .sk.report model.sk stripped.sk
"$skdump" --reasons stripped.sk | grep -q 'has been stripped' || fail "a missing account is not mentioned"

# partly PACKAGE WHAT…: proved but for these, which --verify names, with an exit status of its own.
partly() {
	status=0
	"$skdump" --verify "$1" >out.txt 2>err.txt || status=$?
	[ $status = 2 ] && [ ! -s err.txt ] || { cat out.txt err.txt >&2; fail "$1: exit status $status, not 2"; }
	shift
	{
		echo 'verified in part: 3 launches, 5 steps, 5 task entries'
		printf 'not proved: %s\n' "$@"
	} | cmp -s - out.txt || { cat out.txt >&2; fail "--verify says something else"; }
}
orders="the orders of 'after' and events, since the package has no section .sk.report"
partly stripped.sk "$orders"
cp model.sk stripped.sk && strip stripped.sk
partly stripped.sk 'the code of 5 kernels and 5 task entries, since the package has no section .symtab'
objcopy --remove-section .sk.report stripped.sk
partly stripped.sk "$orders" 'the code of 5 kernels and 5 task entries, since the package has no section .symtab'
objcopy -x model.sk stripped.sk
partly stripped.sk 'the code of 5 kernels and 5 task entries, since the package has no symbols there'

# A writable plan: libskrt refuses it, and a proof of it need not stay true.
"$sklink" -r model.yaml kernels.o -o model.o
"$skdump" --verify model.o >/dev/null
objcopy --set-section-flags .sk.plan=alloc,data,contents model.o writable.o
fails_with '^skdump: error: writable.o: its plan is writable$' "$skdump" --verify writable.o

# A report of another package: the names of its tasks are others.
sed 's/name: first/name: fist/' model.yaml >other.yaml
"$sklink" other.yaml kernels.o -o other.sk
objcopy -O binary -j .sk.report --set-section-flags .sk.report=alloc other.sk other.report
objcopy --update-section .sk.report=other.report model.sk mixed.sk
fails_with "^skdump: error: mixed.sk: the plan contradicts itself: task 'first' is 'fist' in the account" \
	"$skdump" --verify mixed.sk
# And there may be more of them.
sed 's/, args: \[d, y\].*/, args: [d, y], scope: sp1}\n  - {name: more, kernel: prefix, args: [x, z], scope: sp1}/; s/^  y: .*/&\n  z: {dtype: f32, shape: [1000]}/' model.yaml >other.yaml
"$sklink" other.yaml kernels.o -o other.sk
objcopy -O binary -j .sk.report --set-section-flags .sk.report=alloc other.sk other.report
objcopy --update-section .sk.report=other.report model.sk mixed.sk
fails_with "^skdump: error: mixed.sk: the account names a task that the plan does not have$" "$skdump" --reasons \
	--task more mixed.sk

# Code that goes by another name.
objcopy --redefine-sym reverse=twice --redefine-sym twice=reverse model.sk mixed.sk
fails_with "^skdump: error: mixed.sk: the code of kernel 'reverse' is not the function 'reverse' of [0-9]+ bytes: the symbol table has 'twice' there" "$skdump" --verify mixed.sk

# Functions as assemblers leave them: entries within another function, with and without a type; a function without one;
# more bytes than the section has.
cat >entries.s <<'S'
	.text
	.globl outer, label, inner, untyped, large
	.type outer, @function
	.type inner, @function
	.type large, @function
outer:	nop
label:	nop
inner:	ret
	.size outer, .-outer
	.size inner, 1
untyped:
	ret
large:	ret
	.size large, 4096
	.section .note.GNU-stack
S
$KERNEL_CC -c entries.s -o entries.o
{
	printf 'sklink: 1\ntensors:\n'
	tensors '[10]' x y
	echo 'kernels:'
	for name in outer label inner untyped large; do
		echo "  $name: {symbol: $name, signature: \"inout x f32[n], inout y f32[n], n i64\"}"
	done
	echo 'tasks:'
	for name in outer label inner untyped large; do
		echo "  - {name: t_$name, kernel: $name, args: [x, y], scope: sp}"
	done
} | sed 's/10\]}/10], role: inout}/' >entries.yaml
"$sklink" entries.yaml entries.o -o entries.sk
[ "$("$skdump" --verify entries.sk)" = 'verified: 1 launch, 5 steps, 5 task entries' ] || fail "entries in assembly"
[ "$(readelf -sW entries.sk | awk '$8 == "large" { print $3 }')" = 1 ] || fail "a function is larger than its section"
objcopy --strip-symbol=inner entries.sk mixed.sk
fails_with "^skdump: error: mixed.sk: the code of kernel 'inner' is not .*: the symbol table has 'outer' there, of 3$" \
	"$skdump" --verify mixed.sk

# A function that --defsym makes another one is called by both names, and so are its copies.
sed '$a scopes: {sp1: {options: "split-mode=2"}}' model.yaml >copies.yaml
"$sklink" copies.yaml kernels.o --defsym reverse=twice -o assigned.sk
[ "$("$skdump" --verify assigned.sk)" = 'verified: 3 launches, 5 steps, 5 task entries' ] || fail "a kernel of --defsym"
readelf -sW assigned.sk | awk '$8 == "twice" { print $2, $3, $4 }' >twice
readelf -sW assigned.sk | awk '$8 == "reverse" { print $2, $3, $4 }' | grep -qxf twice ||
	fail "a function has not the name that --defsym gives it"

# Wrong calls and foreign files.
cp model.sk whole.sk
fails_with '^skdump: error: \./model.sk: is also an input; give the page a name of its own$' "$skdump" --html \
	./model.sk model.sk
cmp whole.sk model.sk
fails_with '^skdump: error: whole.sk: is also an input' "$skdump" --html whole.sk --trace whole.sk model.sk
fails_with '^skdump: error: --dot goes with no other option$' "$skdump" --dot --html x.html model.sk
fails_with '^skdump: error: --html goes with no other option but --trace$' "$skdump" --html x.html --steps model.sk
ln -s model.sk link.sk
fails_with '^skdump: error: link.sk: is also an input' "$skdump" --html link.sk model.sk
fails_with '^skdump: error: model.sk: is also an input' "$skdump" --html model.sk --trace link.sk whole.sk
cmp whole.sk model.sk
fails_with "^skdump: error: unknown option '--memry'; did you mean '--memory'\?" "$skdump" --memry model.sk
fails_with "^skdump: error: unknown option '-x'$" "$skdump" -xy model.sk
fails_with "^skdump: error: unknown option '-m'$" "$skdump" -m model.sk
fails_with "^skdump: error: unknown option '--verify=1'" "$skdump" --verify=1 model.sk
fails_with '^skdump: error: no package given' "$skdump" --steps
fails_with '^skdump: error: more than one package' "$skdump" model.sk bare.sk
fails_with '^skdump: error: nothing.sk: No such file' "$skdump" nothing.sk
fails_with '^skdump: error: model.yaml: it is not an ELF file' "$skdump" model.yaml
for size in 1 16 56 63; do
	head -c $size model.sk >short.sk
	fails_with '^skdump: error: short.sk: it is not an ELF file' "$skdump" short.sk
done
fails_with '^skdump: error: kernels.o: it is not a package: it has no section .sk.plan' "$skdump" kernels.o
fails_with '^skdump: error: \.: it is not a file' "$skdump" .
: >empty.sk
fails_with '^skdump: error: empty.sk: ' "$skdump" empty.sk
$KERNEL_CC -shared -o foreign.so kernels.o
fails_with '^skdump: error: foreign.so: it is not a package' "$skdump" foreign.so

# overwrite OFFSET BYTE…: model.sk with other bytes (in octal) at the offset becomes bad.sk.
overwrite() {
	cp model.sk bad.sk
	offset=$1
	shift
	printf "$(printf '\\%s' "$@")" | dd of=bad.sk bs=1 seek="$offset" conv=notrunc status=none
}

# address SYMBOL: also its offset in the file.
address() {
	printf '%d' "0x$(nm -D model.sk | awk -v name="$1" '$3 == name { print $1 }')"
}

# Code that contradicts the plan: one byte of a dispatcher, and of a call's target.
entry=$(address sk_sp1)
overwrite $((entry + 5)) 314
fails_with "^skdump: error: bad.sk:\(.text\+0x[0-9a-f]+\): the dispatcher 'sk_sp1' differs from its plan: byte 5 of" \
	"$skdump" --verify bad.sk
serial=$(address sk_sp1_serial)
call=$(objdump -d --start-address="$serial" --stop-address=$((serial + 400)) model.sk |
	awk '/call/ { sub(":", "", $1); print $1; exit }')
overwrite $((0x$call + 1)) 377
fails_with "the dispatcher 'sk_sp1_serial' differs from its plan" "$skdump" --verify bad.sk

# Each byte of the plan and of the headers, changed: an error or, if it does not matter, none; also with --verify.
plan=$(address sk_plan)
size=$(stat -c %s model.sk)
plan_size=$(od -An -t u8 -j $((plan + 16)) -N 8 model.sk)
refused=0
for ((i = 0; i < 240; i++)); do
	if ((i % 4)); then at=$((plan + i * 7919 % plan_size)); else at=$((i * 104729 % size)); fi
	((i % 12)) || at=$((i % 64))
	overwrite $at $(printf '%03o' $((i * 37 % 256)))
	status=0
	"$skdump" --all --verify bad.sk >out.txt 2>err.txt || status=$?
	((status <= 2)) || { cat err.txt >&2; fail "byte $at: exit status $status"; }
	if ((status == 1)); then
		grep -q '^skdump: error: bad.sk' err.txt || { cat err.txt >&2; fail "byte $at: no located error"; }
		((refused += 1))
	fi
	! grep -qE 'Sanitizer|runtime error' err.txt || { cat err.txt >&2; fail "byte $at: sanitizer report"; }
done
((refused > 60)) || fail "only $refused damaged packages were refused"

# Cut anywhere.
for ((cut = 0; cut < size; cut += size / 61)); do
	head -c "$cut" model.sk >cut.sk
	fails_with '^skdump: error: cut.sk: ' "$skdump" --verify cut.sk
done

# A path that is not a file is refused at once.
mkfifo pipe
for input in pipe /dev/null .; do
	fails_with 'it is not a file with contents' timeout 60 "$skdump" $input
	fails_with 'it is not a file with contents' timeout 60 "$skdump" --diff model.sk $input
done
