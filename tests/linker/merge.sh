# Mergeable strings and records: code and tables see the same as after GNU ld, each constant exists once, ends of
# strings are shared, and unreferenced ones are gone.
. "$top_srcdir/tests/lib/lib.sh"
driver=$top_builddir/tests/linker/link-driver

# Two objects with the same constants in another order, so that nothing keeps its place. t_ functions return addresses
# of constants through code, tables and arithmetic; the sums are over the bytes there.
cat >common.h <<'END'
#include <stddef.h>
#include <string.h>
#define NOINLINE __attribute__((noinline))
typedef __CHAR16_TYPE__ c16;
typedef __CHAR32_TYPE__ c32;
static NOINLINE long sum8(const char *s) { long r = 7; while (*s) r = r * 31 + (unsigned char)*s++; return r; }
static NOINLINE long sum16(const c16 *s) { long r = 7; while (*s) r = r * 37 + *s++; return r; }
static NOINLINE long sum32(const c32 *s) { long r = 7; while (*s) r = r * 41 + *s++; return r; }
END
cat >one.c <<'END'
#include "common.h"
static const char *const table[] = {"shared string", "string", "ring", "one's own", "", "a", "ba", "cba", "dcba"};
const char *volatile first = "shared string";
long t_table(void) { long r = 0; for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) r = r * 3 + sum8(table[i]); return r; }
long t_code(void) { const char *volatile s = "a string in code"; return sum8(s) + sum8(s + 9); }
long t_wide(void) { const c16 *volatile s = u"wide string"; const c32 *volatile t = U"wider string"; return sum16(s) + sum32(t); }
long t_tail16(void) { const c16 *volatile s = u"string"; const c32 *volatile t = U"string"; return sum16(s) * 3 + sum32(t); }
/* Long strings are aligned to 8 bytes by GCC. */
long t_long(void) { const char *volatile s = "a string of more than sixty-four bytes, which compilers put into a section that is aligned to eight"; return sum8(s); }
NOINLINE double scale(double x) { return x * 3.25 + 1.5; }
long t_double(void) { return (long)(scale(4) * 1000); }
long t_float(void) { volatile float x = 2; return (long)(x * 1234.5f); }
typedef double vector __attribute__((vector_size(16)));
long t_vector(void) { volatile vector v = {3, 4}; v = v * (vector){10, 100}; return (long)(v[0] + v[1]); }
extern const char *other_shared(void), *other_ring(void);
extern double other_scale(double);
long t_same(void) { return sum8(other_shared()) - sum8(first) + sum8(other_ring()) + (long)other_scale(2); }
long same_address(void) { return other_shared() == first; }
long tail_address(void) { return table[1] == table[0] + 7 && table[2] == table[1] + 2 && table[5] == table[8] + 3; }
const char *unused_strings(void) { return "nobody needs this"; }
END
cat >two.c <<'END'
#include "common.h"
static const char *const more[] = {"ring", "another string of two", "shared string", "tail of two"};
const char *other_shared(void) { return more[2]; }
const char *other_ring(void) { const char *volatile s = "ring"; return s; }
NOINLINE double other_scale(double x) { return x * 1.5 + 3.25 + 1e300 * 0; }
long u_table(void) { long r = 0; for (int i = 0; i < 4; i++) r = r * 3 + sum8(more[i]); return r; }
long u_wide(void) { const c16 *volatile s = u"string"; const c32 *volatile t = U"wider string"; return sum16(s + 1) + sum32(t + 6); }
long u_long(void) { const char *volatile s = "another string of more than sixty-four bytes, which lies in a section that is aligned to eight"; return sum8(s); }
END
# References that compilers do not make: section symbol and addend, the end of a section, records by section and addend,
# a symbol with an addend that leads out of its string, an alignment that forbids to share an end.
cat >three.s <<'END'
	.section .rodata.str1.1, "aMS", @progbits, 1
	.string "zero"
middle:	.string "middle"
	.string "shared string"
	.string "padded"
after:
	.section .rodata.str1.16, "aMS", @progbits, 1
	.balign 16
aligned: .string "an end"
	.balign 16
aligned_end: .string "end"
	.section .rodata.cst8, "aM", @progbits, 8
	.quad 0x1111
record:	.quad 0x2222
	.quad 0x1111
	.quad 0x3333
	.section .rodata.cst24, "aM", @progbits, 24
	.quad 1, 2, 3
	.quad 4, 5, 6
	.quad 1, 2, 3
	.section .data.rel.ro, "aw"
	.balign 8
pointers:
	.quad .rodata.str1.1 + 5
	.quad .rodata.str1.1 + 12
	.quad .rodata.str1.1 + 28
	.quad .rodata.cst8 + 16
	.quad .rodata.cst8 + 28
	.quad .rodata.cst24 + 56
	.text
	.macro function name
	.globl \name
	.type \name, @function
\name:
	.endm
	function v_section_string
	mov pointers(%rip), %rax
	mov (%rax), %eax
	ret
	function v_section_string_2
	mov pointers+8(%rip), %rax
	mov 7(%rax), %eax
	ret
	function v_inside
	mov pointers+16(%rip), %rax
	movzwl (%rax), %eax
	ret
	function v_record
	mov pointers+24(%rip), %rax
	mov (%rax), %rax
	add record(%rip), %rax
	ret
	function v_half_record
	mov pointers+32(%rip), %rax
	mov -4(%rax), %eax
	ret
	function v_record_24
	mov pointers+40(%rip), %rax
	mov (%rax), %rax
	ret
	function v_addend
	movzwl middle+3(%rip), %eax
	ret
	function v_end
	movzbl after-2(%rip), %eax
	ret
	function v_aligned
	lea aligned(%rip), %rax
	lea aligned_end(%rip), %rdx
	mov %rax, %rcx
	or %rdx, %rcx
	and $15, %ecx
	mov 3(%rax), %eax
	add (%rdx), %eax
	add %rcx, %rax
	ret
	.section .note.GNU-stack, "", @progbits
END
for name in one two; do
	$KERNEL_CC -O2 -fPIC -fno-builtin -ffunction-sections -fdata-sections -I. -c $name.c -o $name.o
done
as three.s -o three.o
ld -r one.o -o joined.o # sections of `ld -r` hold merged strings and section symbols

cat >run.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	void *image = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (!image)
		return printf("%s\n", dlerror()), 1;
	for (int i = 3; i < argc; i++) {
		char name[64];
		snprintf(name, sizeof(name), "%s%s", argv[2], argv[i]);
		long (*function)(void) = (long (*)(void))dlsym(image, name);
		if (!function)
			return printf("%s\n", dlerror()), 1;
		printf("%s %ld\n", argv[i], function());
	}
	return 0;
}
END
$KERNEL_CC run.c -o run -ldl
functions=$(nm one.o two.o three.o | sed -nE 's/.* T ([tuv]_.*)/\1/p')
[ "$(echo "$functions" | wc -w)" = 21 ] || fail "functions: $functions"
exports=
for function in $functions same_address tail_address; do
	exports="$exports --export x_$function=$function"
done

ld -shared -Bsymbolic -o gnu.so one.o two.o three.o
./run ./gnu.so "" $functions >expected.txt || { cat expected.txt; fail "GNU ld's image"; }
for inputs in "one.o two.o three.o" "three.o two.o one.o" "two.o joined.o three.o"; do
	"$driver" -o out.so $exports $inputs
	./run ./out.so x_ $functions >got.txt || { cat got.txt; fail "the image of $inputs"; }
	diff expected.txt got.txt || fail "$inputs: not what GNU ld's image computes"
	./run ./out.so x_ same_address tail_address >addresses.txt
	[ "$(sed 's/.* //' addresses.txt | tr -d '\n')" = 11 ] || { cat addresses.txt; fail "$inputs: not shared"; }
	readelf -SW out.so >sections.txt 2>&1
	grep -q ' \.rodata\.str1 .* 01 AMS ' sections.txt || { cat sections.txt; fail "strings have no entry size"; }
	grep -q ' \.rodata\.str2 .* 02 AMS ' sections.txt || { cat sections.txt; fail "16-bit strings"; }
	grep -q ' \.rodata\.str4 .* 04 AMS ' sections.txt || { cat sections.txt; fail "32-bit strings"; }
	grep -q ' \.rodata\.cst8 .* 08 *AM ' sections.txt || { cat sections.txt; fail "records"; }
	grep -q ' \.rodata\.cst24 .* 18 *AM ' sections.txt || { cat sections.txt; fail "records of 24 bytes"; }
	if command -v eu-elflint >/dev/null; then
		eu-elflint --gnu-ld out.so >lint.txt 2>&1 || { cat lint.txt; fail "elflint complains"; }
	fi
done

# Byte by byte: every string of GNU ld's image that ours refers to is in ours, exactly once and in no longer one.
"$driver" -o out.so $exports one.o two.o three.o
strings_of() { readelf -p "$2" "$1" | sed -nE 's/^ *\[ *[0-9a-f]+\]  //p' | LC_ALL=C sort; }
strings_of out.so .rodata.str1 >ours.txt
strings_of gnu.so .rodata >theirs.txt
[ -z "$(uniq -d ours.txt)" ] || fail "a string is there twice: $(uniq -d ours.txt)"
for gone in string ring a ba cba zero 'nobody needs this'; do
	if grep -qx "$gone" ours.txt; then fail "'$gone' is there"; fi
done
for string in 'shared string' 'a string in code' "one's own" dcba middle padded 'an end' end 'another string of two'; do
	grep -qx "$string" ours.txt || { cat ours.txt; fail "'$string' is not there"; }
	grep -q -- "$string$" theirs.txt || fail "'$string' is not in GNU ld's image"
done
[ "$(readelf -x .rodata.cst24 out.so | grep -c '^  0x')" = 2 ] ||
	fail "the records of 24 bytes: $(readelf -x .rodata.cst24 out.so)" # 24 bytes: only 1, 2, 3

# More strings than a quadratic or a deeply recursive sort would bear: 60,000, many of them ends of others.
awk 'BEGIN {
	print ".section .rodata.str1.1,\"aMS\",@progbits,1"
	for (i = 0; i < 30000; i++) { printf "s%d: .string \"prefix %d of a string with a common end\"\n", i, i % 25000 }
	for (i = 0; i < 30000; i++) { printf "e%d: .string \"%d of a string with a common end\"\n", i, i }
	long = ""
	for (i = 0; i < 300; i++) { long = long "x"; printf "l%d: .string \"%s\"\n", i, long }
	print ".section .data.rel.ro.t,\"aw\"\n.globl t\nt:"
	for (i = 0; i < 30000; i++) { printf ".quad s%d, e%d\n", i, i }
	for (i = 0; i < 300; i++) { printf ".quad l%d\n", i }
	print ".text\n.globl w_all\n.type w_all,@function\nw_all: lea t(%rip), %rax\nret"
}' >many.s
as many.s -o many.o
"$driver" -o many.so --export x_w_all=w_all many.o
strings_of many.so .rodata.str1 >got.txt
awk 'BEGIN {
	for (i = 0; i < 25000; i++) printf "prefix %d of a string with a common end\n", i
	for (i = 25000; i < 30000; i++) printf "%d of a string with a common end\n", i
	while (j++ < 300) printf "x"; print ""
}' | LC_ALL=C sort >all.txt
# The last 5,000 that come after a digit are ends: "5000" of "25000" is not a string of its own.
awk '/^[0-9]/ {next} {print}' all.txt >whole.txt
cat >ends.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
	void *image = dlopen("./many.so", RTLD_NOW);
	char **(*all)(void) = image ? (char **(*)(void))dlsym(image, "x_w_all") : NULL;
	if (!all)
		return printf("%s\n", dlerror()), 1;
	char **strings = all(), expected[400];
	for (int i = 0; i < 30000; i++) {
		snprintf(expected, sizeof(expected), "prefix %d of a string with a common end", i % 25000);
		if (strcmp(strings[2 * i], expected))
			return printf("s%d: %s\n", i, strings[2 * i]), 1;
		snprintf(expected, sizeof(expected), "%d of a string with a common end", i);
		if (strcmp(strings[2 * i + 1], expected))
			return printf("e%d: %s\n", i, strings[2 * i + 1]), 1;
		/* The end lies in the whole one. */
		if (i < 25000 && strings[2 * i + 1] != strings[2 * i] + 7)
			return printf("e%d is not shared\n", i), 1;
	}
	for (int i = 0; i < 300; i++)
		if (strlen(strings[60000 + i]) != (size_t)i + 1 || strings[60000 + i] != strings[60299] + 299 - i)
			return printf("l%d\n", i), 1;
	return 0;
}
END
$KERNEL_CC ends.c -o ends -ldl
./ends || fail "strings or ends"
LC_ALL=C comm -13 got.txt whole.txt >missing.txt
[ ! -s missing.txt ] || { head missing.txt; fail "whole strings are missing"; }
[ "$(wc -l <got.txt)" = 30001 ] || fail "$(wc -l <got.txt) strings, not 30001"

# Sections that look mergeable but must not be: relocations in them, no terminator, a name that code may walk over.
cat >kept.s <<'END'
	.section .rodata.pointers, "aM", @progbits, 8
	.quad target
	.quad target
	.section .rodata.open, "aMS", @progbits, 1
open:	.ascii "open"
	.section .rodata.part, "aM", @progbits, 8
part:	.quad 7
	.long 9
	.section walked, "aMS", @progbits, 1
w_start: .string "w"
	.string "w"
w_end:
	.data
target:	.long 0
	.text
	.globl k_all
	.type k_all, @function
k_all:	mov .rodata.pointers(%rip), %rax
	sub 8+.rodata.pointers(%rip), %rax
	add open(%rip), %eax
	add part(%rip), %eax
	lea w_end(%rip), %rdx
	lea w_start(%rip), %rcx
	sub %rcx, %rdx
	add %rdx, %rax
	ret
	.section .note.GNU-stack, "", @progbits
END
as kept.s -o kept.o
"$driver" -o kept.so --export x_k_all=k_all kept.o
[ "$(./run ./kept.so x_ k_all)" = "k_all $((0x6e65706f + 7 + 4))" ] || # "open", 7, and two strings of two bytes
	fail "sections that are not merged: $(./run ./kept.so x_ k_all)"
readelf -SW kept.so | grep -q ' walked .* 000004 ' || fail "a section that code walks over was merged"

printf '.section .rodata.str1.1,"aMS",@progbits,1\n.string "abc"\n.data\n.globl p\np: .quad .rodata.str1.1 + 5\n.text\n.globl f\n.type f,@function\nf: lea p(%%rip),%%rax\nret\n' |
	as -o far.o
fails_with "far.o:\(.data\+0x0\): relocation R_X86_64_64 against '.rodata.str1.1' lies outside the strings or records" \
	"$driver" -o out2.so --export x=f far.o
[ ! -e out2.so ] || fail "an output file in spite of the error"
