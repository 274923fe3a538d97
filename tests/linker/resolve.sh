# Resolution: the definition that counts, the members that are pulled, the refusals, and the texts of errors.
. "$top_srcdir/tests/lib/lib.sh"
use_images -DRESULT=int -fcommon -I"$top_srcdir/format"

# ---- objects ----
echo 'int b(void); int a(void) { return b() + 1; }' | source a
echo 'int b(void) { return 10; }' | source b
echo 'int b(void) { return 20; }' | source b_again
echo '__attribute__((weak)) int b(void) { return 30; }' | source b_weak
echo '__attribute__((weak)) int b(void) { return 40; }' | source b_weak_again
gives 11 a a.o b.o
gives 11 a b.o a.o
gives 11 a a.o b_weak.o b.o
gives 11 a b.o b_weak.o a.o
gives 31 a a.o b_weak.o b_weak_again.o
gives 41 a a.o b_weak_again.o b_weak.o
gives 11 a a.o b.o ./b.o "$dir/b.o" # one input

fails_with 'error: b_again.o:\(.text.b\+0x0\): duplicate symbol: b$' "$driver" -o out.so --export x=a a.o b.o b_again.o
grep -q '^>>> first defined at b.o:(.text.b+0x0)$' err.txt || fail "the first definition is not shown"

echo 'int number; int c(void) { return number++; }' | source common_small
echo 'long number[4]; long *d(void) { return number + 3; } int f(void) { *d() = 5; return (int)*d(); }' |
	source common_large
echo 'int number = 99;' | source defined
gives 0 c common_small.o
gives 99 c common_small.o defined.o
gives 5 f common_small.o common_large.o
readelf -SW out.so | grep -q ' \.bss *NOBITS *[0-9a-f]* [0-9a-f]* 000020 ' ||
	fail "the common symbol does not have the larger size"

cat >comdat.s <<'END'
	.section .text.inline, "axG", @progbits, inline, comdat
	.globl inline
	.type inline, @function
inline:	mov $VALUE, %eax
	ret
	.section .text.f, "ax", @progbits
	.globl NAME
	.type NAME, @function
NAME:	jmp inline
	.section .note.GNU-stack, "", @progbits
END
sed 's/VALUE/1/; s/NAME/one/' comdat.s >comdat1.s && as comdat1.s -o comdat1.o
sed 's/VALUE/2/; s/NAME/two/' comdat.s >comdat2.s && as comdat2.s -o comdat2.o
gives 1 two comdat1.o comdat2.o
gives 2 one comdat2.o comdat1.o
"$driver" -o out.so --export x=one --export y=two comdat1.o comdat2.o
[ "$(nm out.so | grep -c ' inline$')" = 1 ] || fail "the group is there twice"

printf '.section .text.inline,"axG",@progbits,inline,comdat\nlocal: ret\n.globl g\n.text\n.globl g\n.type g,@function\ng: lea local(%%rip),%%rax\nret\n' |
	as -o outside.o
fails_with "R_X86_64_PC32 against 'local' refers to a section that another object's group has replaced" \
	"$driver" -o out.so --export x=one --export y=g comdat1.o outside.o

# A hidden symbol is promised to be in the package, even if its name can be imported.
echo '__attribute__((visibility("hidden"))) double sqrt(double); int h(void) { return (int)sqrt(4); }' >hidden.c
$KERNEL_CC -O1 -fPIC -fno-builtin -c hidden.c -o hidden.o
fails_with 'undefined symbol: sqrt; it is declared hidden' "$driver" -o out.so --export x=h hidden.o
echo 'double sqrt(double x) { return x * 8; }' >my_sqrt.c
$KERNEL_CC -O1 -fPIC -fno-builtin -c my_sqrt.c -o my_sqrt.o
gives 32 h hidden.o my_sqrt.o

# ---- archives ----
echo 'int c(void); int b(void) { return c() * 2; }' | source b_needs_c
echo 'int c(void) { return 7; }' | source c
echo 'int nowhere_at_all(void); int broken(void) { return nowhere_at_all(); }' | source unused
mkdir -p one two
cp b_needs_c.o one/same-name.o
cp c.o two/same-name.o
cp unused.o one/a-member-whose-name-is-longer-than-fifteen.o
ar qc lib1.a one/same-name.o two/same-name.o one/a-member-whose-name-is-longer-than-fifteen.o
ar qcS libnoindex.a one/same-name.o two/same-name.o
gives 15 a a.o lib1.a
gives 15 a lib1.a a.o
gives 15 a a.o libnoindex.a
gives 15 a -L . -l 1 a.o
ar qc libc7.a c.o
ar qc libb.a b_needs_c.o
gives 15 a libb.a libc7.a a.o
gives 15 a a.o libc7.a libb.a # in the wrong order for GNU ld
gives 11 a a.o b.o lib1.a     # nothing is pulled for b: it is defined
ar qc libtwice.a b.o b_again.o
gives 11 a a.o libtwice.a     # the first one in the archive
fails_with 'duplicate symbol: b' "$driver" -o out.so --export x=a a.o --whole-archive libtwice.a
# A damaged member does not suppress messages about the others.
printf '.section .ctors,"aw",@progbits\n.quad 0\n' | as -o obsolete.o
ar qc libdamaged.a obsolete.o b.o b_again.o obsolete.o
fails_with 'libdamaged.a\(b_again.o\):.* duplicate symbol: b$' "$driver" -o out.so --export x=a a.o --whole-archive \
	libdamaged.a
[ "$(grep -c 'section .ctors is obsolete' err.txt)" = 2 ] || fail "not each damaged member is named once"
fails_with 'library -l1: there is no lib1.a on the search paths' "$driver" -o out.so -L one a.o -l 1
grep -q '^>>> searched one$' err.txt || fail "the search paths are not shown"

# Weak references pull nothing.
echo '__attribute__((weak)) int c(void); int w(void) { return c ? 1 : 2; }' | source weak_user
gives 2 w weak_user.o libc7.a
gives 1 w weak_user.o c.o

# -u pulls and keeps; unreached sections are left out, though their member was pulled.
"$driver" -o out.so --export x=a -u c a.o b.o lib1.a
nm out.so | grep -q ' t c$' || fail "-u c did not keep c"
"$driver" -o out.so --export x=a a.o b.o --whole-archive lib1.a 2>err.txt && fail "b is defined twice"
"$driver" -o out.so --export x=c --whole-archive lib1.a
if nm out.so | grep -qE ' (b|broken)$'; then fail "unreached functions were not collected"; fi
fails_with 'undefined symbol: misssing' "$driver" -o out.so -u misssing a.o b.o
grep -q 'required by the command line' err.txt || fail "the user is not shown"

# ---- undefined symbols: one error each, with all users and a suggestion ----
echo 'int my_helper(int), nothing_like_it(void); int u(void) { return my_helper(1) + my_helper(2) + nothing_like_it(); }' |
	source user1
echo 'int my_helper(int); int v(void) { return my_helper(3); } int my_helpers(int x) { return x; }' | source user2
fails_with "undefined symbol: my_helper; did you mean 'my_helpers'\?$" "$driver" -o out.so --export x=u --export y=v \
	user1.o user2.o
[ "$(grep -c 'undefined symbol' err.txt)" = 2 ] || fail "not one error for each symbol"
[ "$(grep -c '^>>> referenced by user1.o:(.text.u+0x[0-9a-f]*) in u$' err.txt)" = 3 ] || { cat err.txt;
	fail "users of u"; }
grep -q '^>>> referenced by user2.o:(.text.v+0x[0-9a-f]*) in v$' err.txt || fail "the user v is not shown"

# ---- kernels ----
cat >kernel.c <<'END'
#include "skkernel.h"
void mul(const float *x, float *y, long n) { for (long i = 0; i < n; i++) y[i] = x[i] * 2; }
SK_KERNEL(mul, "split=n; in x f32[n], out y f32[n], n i64");
void add(const float *x, float *y, long n) { for (long i = 0; i < n; i++) y[i] = x[i] + 2; }
SK_KERNEL(add, "in x f32[n], out y f32[n], n i64");
static int counter, other; int only_data = 3; static const int table[] = {1, 2, 3};
static int *const pointers[] = {&counter};
int count(int i) { return ++*pointers[0] + table[i]; }
int count_again(void) { return other++ + count(1); }
int pure(int i) { return table[i]; }
END
$KERNEL_CC -O1 -fPIC -ffunction-sections -fdata-sections -I"$top_srcdir/format" -c kernel.c -o kernel.o
ar qc libkernel.a a.o kernel.o
[ "$("$driver" --kernels libkernel.a | head -1)" = \
	'kernel mul "split=n; in x f32[n], out y f32[n], n i64" at libkernel.a(kernel.o):(.sk.kernels+0x0) in libkernel.a(kernel.o)' ] ||
	fail "records of a member"
[ "$("$driver" --kernels kernel.o | wc -l)" = 2 ] || fail "not two records"
[ "$("$driver" --find count libkernel.a)" = \
	'kernel count "" at libkernel.a(kernel.o):(.text.count+0x0) in libkernel.a(kernel.o)' ] ||
	fail "a kernel without a signature"
[ "$("$driver" --find add kernel.o | grep -c 'sk.kernels+0x2e')" = 1 ] || fail "the record of add"
$KERNEL_CC -r -nostdlib kernel.o c.o -o joined.o
[ "$("$driver" --kernels joined.o | wc -l)" = 2 ] || fail "records are lost by ld -r"
fails_with "there is no kernel ad; did you mean 'add'\?" "$driver" --find ad kernel.o
fails_with "'only_data' is not a function" "$driver" --find only_data kernel.o
fails_with "'b' is used here, but not defined" "$driver" --find b a.o
printf '.section .sk.kernels,"",%%progbits\n.asciz "ghost"\n.asciz "in x f32[n]"\n' | as -o ghost.o
fails_with "kernel 'ghost' has a signature, but the object does not define it" "$driver" --find ghost ghost.o
printf '.section .sk.kernels,"",%%progbits\n.asciz "ghost"\n' | as -o half.o
fails_with "half.o:\(.sk.kernels\+0x0\): a symbol in the last signature record has no signature" "$driver" --kernels \
	half.o
printf '.section .sk.kernels,"",%%progbits%s\n.asciz "ghost"\n.asciz "in x f32[n]"\n' '' ',unique,1' | as -o two.o
fails_with "two.o:\(.sk.kernels\+0x0\): the object has two of this section; join them with ld -r" "$driver" --kernels \
	two.o
ld -r two.o -o one.o && "$driver" --kernels one.o >joined.txt && [ "$(wc -l <joined.txt)" = 2 ] || fail "joined records"
printf '.section .sk.kernels,"",%%progbits\n.asciz "ghost"\n.ascii "in"\n' | as -o open.o
fails_with "signature record is not terminated" "$driver" --kernels open.o
printf '.globl t\n.type t,@gnu_indirect_function\nt: ret\n' | as -o ifunc.o
fails_with "'t' is an IFUNC" "$driver" --find t ifunc.o
echo '__thread int t; int use(void) { return t; }' | source thread
fails_with "'t' is a thread-local variable" "$driver" --find t thread.o

# Hidden state: through tables of pointers and other functions; shared sections have one number.
"$driver" --state pure --state count --state count_again kernel.o >state.txt
cat >expected.txt <<'END'
pure has 0
count has 1
count: 0: .bss.counter in kernel.o
count_again has 2
count_again: 1: .bss.other in kernel.o
count_again: 0: .bss.counter in kernel.o
END
sort state.txt >got.txt
sort expected.txt | diff - got.txt || fail "hidden state"
# Through any graph, with loops, after any earlier queries: 50 functions and 20 words of state that lead to random
# others, and to the state that the C library keeps for all.
for seed in 1 2 3 4 5 6 7 8; do
	awk -v seed=$seed -v library="the C library's random numbers" \
		'function name(node) { return node == 70 ? "rand" : "f" node }
	BEGIN {
		srand(seed)
		for (i = 0; i < 70; i++) {
			if (i < 50)
				printf ".section .text.f%d,\"ax\",@progbits\n.globl f%d\n.type f%d,@function\nf%d:\n", i, i, i, i
			else
				printf ".section .data.f%d,\"aw\",@progbits\nf%d: .quad 0\n", i, i
			for (j = int(rand() * (1 + seed / 2)); j > 0; j--) {
				to = int(rand() * 71)
				printf i < 50 ? "call %s\n" : ".quad %s\n", name(to)
				leads[i, to] = 1
			}
			if (i < 50)
				print "ret"
			leads[i, i] = 1
		}
		for (k = 0; k < 70; k++)
			for (i = 0; i < 70; i++)
				for (j = 0; j <= 70; j++)
					if ((i, k) in leads && (k, j) in leads)
						leads[i, j] = 1
		for (i = 0; i < 50; i++)
			for (j = 50; j <= 70; j++)
				if ((i, j) in leads)
					print "f" i ": " (j < 70 ? ".data.f" j " in graph.o" : library) >"expected.txt"
	}' | as -o graph.o
	"$driver" $(seq 0 49 | shuf --random-source="$driver" | sed 's/^/--state f/') graph.o |
		sed -n 's/: [0-9]*: /: /p' | sort >got.txt
	sort expected.txt | diff - got.txt || fail "hidden state in graph $seed"
	cut -d: -f1 got.txt | uniq -c | awk '{ print $1 }' | sort -n | uniq | wc -l
done >sizes.txt
[ "$(sort -n sizes.txt | tail -1)" -ge 5 ] || fail "the graphs are too simple"
[ "$("$driver" --state c common_small.o | tail -1)" = 'c: 0: COMMON' ] || fail "a common symbol is state, too"

# ---- inputs that are none ----
bad() { # FILE PATTERN
	fails_with "$2" "$driver" -o out2.so --export x=a "$1" a.o b.o
	[ ! -e out2.so ] || fail "$1: an output file in spite of the error"
}
bad nothing.o 'error: nothing.o: No such file or directory'
bad one 'error: one: is not a regular file'
: >empty.o
bad empty.o 'error: empty.o: is empty'
echo 'hello, world, this is text' >text.o
bad text.o 'text.o: is neither an object nor an archive'
echo '/* GNU ld script */ GROUP ( libx.a )' >script.a
bad script.a 'is a linker script'
printf 'BC\300\336rest' >bitcode.o
bad bitcode.o 'bitcode.o: holds only intermediate code of link-time optimisation'
$KERNEL_CC -O1 -flto -c c.c -o lto.o # GCC's is an object, Clang's is bitcode
bad lto.o 'lto.o: holds only intermediate code of link-time optimisation.*; recompile without -flto'
ar qc liblto.a lto.o 2>/dev/null
fails_with "'c' is not in any member with machine code|there is no kernel c" "$driver" -o out2.so --export x=c liblto.a
grep -q 'warning: liblto.a: member lto.o holds only intermediate code' err.txt || fail "no warning about the member"
if $KERNEL_CC -O1 -flto -ffat-lto-objects -fPIC -c c.c -o fat.o 2>/dev/null && readelf -SW fat.o 2>/dev/null |
	grep -q ' \.text'; then
	gives 7 c fat.o # has machine code, too
fi
"$driver" -o shared.so --export x=a a.o b.o
bad shared.so 'shared.so: is a shared object or program, not a relocatable object'
# One byte of the header changed: class, byte order, machine (AArch64), type.
patch() { # NAME OFFSET OCTAL
	cp c.o "$1"
	printf "\\$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
patch class32.o 4 001 && bad class32.o 'class32.o: is not a 64-bit object'
patch big.o 5 002 && bad big.o 'big.o: is not a little-endian object'
patch arm.o 18 267 && bad arm.o 'arm.o: is for ELF machine 183, which is not supported'
patch exec.o 16 002 && bad exec.o 'exec.o: is a program, not a relocatable object'
head -c 70 c.o >short.o && bad short.o 'short.o: the section headers are missing or lie outside'
head -c 200 lib1.a >short.a && bad short.a 'short.a: .*archive is truncated'
printf '!<arch>\nREADME/         0           0     0     644     6         `\nhello\n' >readme.a
"$driver" -o out.so --export x=a a.o b.o readme.a 2>err.txt || fail "a text in an archive is no error"
grep -q 'warning: readme.a: member README is not an object and is ignored' err.txt || fail "no warning about the text"
printf '.section .ctors,"aw"\n.quad f\n.text\n.globl f\nf: ret\n' | as -o ctors.o
bad ctors.o 'section .ctors is obsolete'
printf '.section .init_array,"aw",@init_array\n.byte 1,2,3\n' | as -o odd-array.o
bad odd-array.o 'section .init_array has 3 bytes, which is not a whole number of addresses'
printf '.largecomm wide,8,8\n' | as -o largecomm.o
bad largecomm.o "'wide' is a common symbol of the large code model"
# Entries that libskrt would refuse to call.
for entry in '.quad number\n.data\nnumber: .quad 0' '.quad end\n.text\nret\nend:' '.long f - ., 0\n.text\nf: ret' \
	'.quad getenv'; do
	printf ".section .fini_array,\"aw\",@fini_array\n$entry\n" | as -o entry.o
	bad entry.o 'entry.o:\(.fini_array\+0x0\): an entry of the table of constructors or destructors is not a function'
done
printf '.section .init_array,"aw",@init_array\n.quad f, 0\n.text\nf: ret\n' | as -o entry.o
bad entry.o 'entry.o:\(.init_array\+0x0\): the table of constructors or destructors has 2 entries, and relocations for 1'
for places in '.-16 .-16' '.-16 .-12'; do
	printf '.section .init_array,"aw",@init_array\n.quad 0, 0\n.text\nf: ret\n.section .init_array\n'
	printf '.reloc %s, R_X86_64_64, f\n' $places
done >entries.s
for lines in 1,7 8,14; do
	sed -n ${lines}p entries.s | as -o entry.o
	bad entry.o 'entry.o:\(.init_array\+0x[04]\): no entry of the table of constructors or destructors begins here, or another'
done
# A function without bytes is not code.
echo '.globl f; .type f, @function; f: ret' | as -o stripped.o
objcopy --only-keep-debug stripped.o
bad stripped.o 'section .text is executable, and has no bytes in the file'
printf '.text\nret\n.globl last\n.type last,@function\nlast:\n.section .text.none,"ax"\n.globl none\n.type none,@function\nnone:\n' |
	as -o last.o
for symbol in last none; do
	fails_with "last.o:.*'$symbol' is at the end of its section, where there is no code" \
		"$driver" -o out.so --find $symbol --export x=$symbol last.o
done
printf '.section .bss.huge,"aw",@nobits\n.zero 1 << 40\n' | as -o huge.o
fails_with 'huge.o:\(.bss.huge\+0x0\): with the 1099511627776 bytes of this section the package takes more than 1 TiB' \
	"$driver" -o out.so --export x=a a.o b.o huge.o --no-gc-sections
printf '.section .both,"awx"\n.globl f\nf: ret\n' | as -o both.o
bad both.o 'both writable and executable'
printf '.section .strange,"a",@0x6abcdef0\n.quad 1\n' | as -o strange.o
bad strange.o 'strange.o: section .strange has the unknown type 0x6abcdef0'
