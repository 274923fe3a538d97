#!/bin/bash
# Notes: program properties are joined as the psABI says, and never claim IBT or SHSTK; other notes of reached objects
# are kept, equal ones once; damaged ones are refused with their place. An object that needs an executable stack gives a
# warning as with GNU ld.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
driver=$top_builddir/tests/linker/link-driver

# object NAME DEFINITION TEXT: an object with one function and assembly around it.
object() {
	printf '.text\n.globl %s\n.type %s,@function\n%s: %s\nret\n.size %s, .-%s\n%s\n.section .note.GNU-stack,"",@progbits\n' \
		"$1" "$1" "$1" "$2" "$1" "$1" "$3" | as -o "$1.o"
}
# properties "TYPE VALUE"…: a note with these properties of 4 bytes.
properties() {
	printf '.section .note.gnu.property,"a",@note\n.balign 8\n.long 4, %d, 5\n.asciz "GNU"\n' $(($# * 16))
	for property; do
		set -- $property
		printf '.long %s, 4, %s, 0\n' "$1" "$2"
	done
}
feature_1=0xc0000002 needed=0xc0008002 used=0xc0010002 feature_2=0xc0010001
# joined: the properties of out.so, "TYPE VALUE" a line.
joined() {
	set -- $(readelf -SW out.so | sed -n \
		's/.* \.note\.gnu\.property  *NOTE  *[0-9a-f]* \([0-9a-f]*\) \([0-9a-f]*\) .*/\1 \2/p')
	[ $# = 2 ] || return 0
	od -An -v -tx4 -w16 -j$((0x$1 + 16)) -N$((0x$2 - 16)) out.so | awk '{print "0x" $1, $2, "0x" $3, $4}'
}
clean() {
	readelf -aW out.so >readelf.txt 2>warnings.txt
	[ ! -s warnings.txt ] || { cat warnings.txt >&2; fail "readelf warns"; }
	if command -v eu-elflint >/dev/null; then
		eu-elflint --gnu-ld out.so 2>&1 |
			grep -v "^No errors$\|note type 7 with owner name 'Owner'" >lint.txt || true
		[ ! -s lint.txt ] || { cat lint.txt >&2; fail "eu-elflint complains"; }
	fi
}
link() {
	"$driver" -o out.so --export entry=f "$@"
	clean
}

object f 'call g' "$(properties "$feature_1 0x7" "$needed 1" "$used 0x3" "$feature_2 0x10")"
object g nop "$(properties "$feature_1 0xf" "$needed 6" "$used 0x4" "0xb0008000 1" "0xc0018000 7")"
object unreached nop "$(properties "$needed 0x80")"
link f.o g.o unreached.o
joined >ours.txt
# AND without IBT and SHSTK; OR; OR if all have it, the dispatchers' own among them (FEATURE_2_USED is missing in g.o).
cat >expected.txt <<'T'
0xb0008000 00000004 0x00000001 00000000
0xc0000002 00000004 0x00000004 00000000
0xc0008002 00000004 0x00000007 00000000
0xc0010002 00000004 0x00000007 00000000
T
diff expected.txt ours.txt || fail "joined properties"
readelf -lW out.so | grep -q 'GNU_PROPERTY .* R *0x8$' || { readelf -lW out.so >&2; fail "no PT_GNU_PROPERTY"; }
[ "$(readelf -lW out.so | grep -c '  NOTE ')" = 2 ] || { readelf -lW out.so >&2; fail "a segment for each alignment"; }
readelf -n out.so | grep -q 'x86 ISA needed: x86-64-baseline, x86-64-v2, x86-64-v3' || fail "readelf -n"
readelf -n out.so | grep -q 'Build ID' || fail "no build-id"

# An object without properties takes away the properties that all must have.
object h nop ''
object f 'call g; call h' "$(properties "$feature_1 0x7" "$needed 1" "$used 0x3")"
link f.o g.o h.o
joined | awk '{print $1}' >ours.txt
printf '0xb0008000\n0xc0008002\n' | diff - ours.txt || fail "an object without properties"
# With -fcf-protection, as some distributions' compilers have it, nothing is left.
for name in f g h; do object $name "$([ $name = f ] && echo 'call g; call h')" "$(properties "$feature_1 3")"; done
link f.o g.o h.o
readelf -SW out.so | grep -q 'note.gnu.property' && fail "an empty note"
readelf -lW out.so | grep -q GNU_PROPERTY && fail "an empty segment"
# Two notes that were two objects'; a property twice in one; another owner's note.
object f '' "$(properties "$used 1"; properties "$feature_2 2")"
link f.o
joined | grep -q . && fail "each note counts"
object f '' "$(properties "$used 1" "$used 2")"
object g '' "$(properties "$needed 1")"
link f.o g.o
joined | grep -q '^0xc0010002 00000004 0x00000003' || fail "a property twice"
object f '' '.section .note.gnu.property,"a",@note
.balign 8
.long 4, 8, 5
.asciz "XYZ"
.long 0xc0008002, 400'
link f.o

# ---- other notes ----
note() { # NAME ALIGNMENT TEXT
	printf '.section %s,"a",@note\n.balign %d\n.long 6, 8, 7\n.asciz "Owner"\n.balign %d\n.ascii "%s"\n.balign %d\n' "$1" "$2" "$2" "$3" "$2"
}
object f 'call g' "$(note .note.package 4 12345678; note .note.wide 8 wide4567; note .note.gnu.build-id 4 87654321)"
object g nop "$(note .note.package 4 12345678; note .note.package.g 4 other678)"
object unreached nop "$(note .note.package 4 gone5678)"
link f.o g.o unreached.o
readelf -nW out.so >notes.txt
for text in 12345678:'31 32 33 34 35 36 37 38' other678:'6f 74 68' wide4567:'77 69 64'; do
	[ "$(strings -a out.so | grep -c "${text%%:*}")" = 1 ] || fail "${text%%:*} is not there once"
	grep -q "description data: ${text#*:}" notes.txt || { cat notes.txt >&2;
		fail "readelf does not see ${text%%:*}"; }
done
strings -a out.so | grep -q 'gone5678\|87654321' && fail "a note of an unreached object, or a build-id of an input"
[ "$(grep -c 'Build ID' notes.txt)" = 1 ] || fail "one build-id"
[ "$(readelf -SW out.so | grep -c ' NOTE ')" = 4 ] || fail "sections of notes"
# One that is referred to, and one with a relocation, are data.
object f 'lea mark(%rip), %rax' "$(note .note.marked 4 marked78)
.section .note.marked,\"a\",@note
mark: .quad f"
link f.o

# ---- damaged ones ----
refused() { # PATTERN TEXT
	object f '' "$2"
	rm -f out.so
	fails_with "^link-driver: error: f.o:\($1" "$driver" -o out.so --export entry=f f.o
	[ ! -e out.so ] || fail "an output in spite of an error"
}
section='.section .note.gnu.property,"a",@note
.balign 8
'
gnu='.long 4, 16, 5
.asciz "GNU"
'
refused '.note.gnu.property\+0x0\): the note is truncated in its header' "$section.long 4, 16"
refused '.note.gnu.property\+0x0\): the note claims 4 bytes of name and 16 of contents' "$section$gnu.long 1, 8"
refused '.note.gnu.property\+0x0\): the note claims 4294967295 bytes of name' \
	"$section.long 0xffffffff, 0xffffffff, 5, 0"
refused '.note.gnu.property\+0x10\): property 0xc0008002 claims 12 bytes' "$section$gnu.long 0xc0008002, 12, 0, 0"
refused '.note.gnu.property\+0x10\): property 0xc0008002 claims 4294967295 bytes' \
	"$section$gnu.long 0xc0008002, 0xffffffff, 0, 0"
refused '.note.gnu.property\+0x10\): property 0xc0008002 has 8 bytes of data instead of 4' \
	"$section$gnu.long 0xc0008002, 8, 0, 0"
refused '.note.gnu.property\+0x10\): the property is truncated in its header' \
	"$section.long 4, 4, 5
.asciz \"GNU\"
.long 0xc0008002"
refused '.note.other\+0x0\): the note claims 4 bytes of name and 400 of contents' '.section .note.other,"a",@note
.long 4, 400, 5, 0'

# ---- executable stacks ----
cat >nested.c <<'C'
long apply(long (*function)(long));
long f(long x)
{
	long add(long y) { return x + y; }
	return apply(add);
}
C
gcc -O1 -fPIC -c nested.c -o nested.o
echo 'long apply(long (*function)(long)) { return function(3); }' >apply.c
$KERNEL_CC -O1 -fPIC -c apply.c -o apply.o
ar qc libnested.a nested.o apply.o
printf '.globl f\nf: ret\n' | as -o silent.o # has no note, which linkers warn of that may give the stack
warning='requires (an )?executable stack'
for inputs in 'nested.o apply.o' libnested.a; do
	ld -shared --whole-archive $inputs -o theirs.so 2>err.txt && grep -qE "nested\.o\)?: $warning" err.txt || {
		cat err.txt; fail "GNU ld: $inputs"; }
	"$driver" -o out.so --export entry=f $inputs 2>err.txt || { cat err.txt; fail "$inputs"; }
	grep -qE "^link-driver: warning: .*nested\.o\)?: $warning" err.txt && [ "$(wc -l <err.txt)" = 1 ] || {
		cat err.txt; fail "$inputs: no warning, or more"; }
	! readelf -lW out.so | grep -q 'GNU_STACK.*E' || fail "$inputs: the image asks for an executable stack"
done
for inputs in silent.o apply.o; do
	"$driver" -o out.so --export entry=$([ $inputs = silent.o ] && echo f || echo apply) $inputs 2>err.txt
	[ ! -s err.txt ] || { cat err.txt; fail "$inputs: a warning"; }
done
# The program that an object goes into has the stack.
object f nop ''
for inputs in 'nested.o apply.o' 'f.o apply.o'; do
	"$driver" --relocatable -o object.o --export entry=f $inputs 2>err.txt
	ld -r $inputs -o theirs.o
	[ "$(readelf -SW object.o | grep -c 'GNU-stack.* X ')" = "$(readelf -SW theirs.o | grep -c 'GNU-stack.* X ')" \
		] || fail "-r: $inputs"
done
