# Relocations: the same objects linked by the linker and by GNU ld must do the same. Every function below returns a
# number that does not depend on where the image lies: the contents that an address leads to, or the distance of two
# addresses.
. "$top_srcdir/tests/lib/lib.sh"
driver=$top_builddir/tests/linker/link-driver

cat >first.c <<'END'
#include <math.h>
#include <stdint.h>
#include <string.h>

extern int shared_number;		   /* in second.c, PC32 or GOT */
extern int second_function(int);	   /* PLT32 */
extern int weak_function(int) __attribute__((weak));
extern int weak_nowhere(int) __attribute__((weak));
extern char text_table_begin[], text_table_end[];
__attribute__((visibility("hidden"))) extern int hidden_number;
int common_number;

static int local_a(int x) { return x + 1; }
static int local_b(int x) { return x * 3; }
typedef int (*function)(int);
function const table[] = {local_a, local_b, second_function, 0}; /* data.rel.ro, R_X86_64_64 */
function writable_table[] = {local_b, local_a};
static const char *const names[] = {"zero", "one", "two"};
void *(*copy)(void *, const void *, size_t) = memcpy; /* the address of an import in data */
double (*root)(double) = sqrt;

long f_call(void) { return second_function(5); }
long f_data(void) { return shared_number + hidden_number; }
long f_store(void) { int old = shared_number; shared_number = 77; long r = shared_number; shared_number = old; return r; }
long f_table(void) { long r = 0; for (int i = 0; i < 3; i++) r = r * 100 + table[i](i + 7); return r; }
long f_writable(void) { return writable_table[0](9) * 100 + writable_table[1](9); }
long f_names(void) { return names[0][0] + 256 * names[1][1] + 65536 * names[2][2]; }
long f_weak(void) { return weak_function ? weak_function(4) : -1; }
long f_nowhere(void) { return weak_nowhere ? weak_nowhere(4) : -1; }
long f_common(void) { common_number += 3; return common_number; }
long f_import(void)
{
	char from[40] = "imported", to[40];
	volatile size_t n = 40;
	memcpy(to, from, n);
	return to[3] + (long)strlen(to);
}
long f_copy(void) { char to[8] = ""; copy(to, "pointer", 8); return to[2] + (copy == memcpy ? 1000 : 0); }
long f_root(void) { volatile double x = 1764; return (long)root(x) + (long)sqrt(x); }
long f_switch(void)
{
	volatile int n = 6;
	switch (n) {
	case 0: return local_a(shared_number); case 1: return 17; case 2: return second_function(8); case 3: return 23;
	case 4: return 29; case 5: return 31; case 6: return local_b(n) + 37; case 7: return 41;
	}
	return 0;
}
long f_distance(void) { return text_table_end - text_table_begin; }
END
cat >second.c <<'END'
int shared_number = 1234;
__attribute__((visibility("hidden"))) int hidden_number = 4321;
int common_number; /* with -fcommon in both */
int second_function(int x) { return x * x; }
__attribute__((weak)) int weak_function(int x) { return x + 40; }
END
cat >third.s <<'END'
	.text
	.globl text_table_begin, text_table_end
	.type asm_function, @function
asm_function:
	lea	41(%rdi), %rax
	ret
	.size asm_function, .-asm_function
text_table_begin:
	.zero 24
text_table_end:

	.section .text.f_gotpcrel, "ax", @progbits
	.globl f_gotpcrel	# each of the forms with the plain type, as rustc writes them, and one that stays a load
	.type f_gotpcrel, @function
f_gotpcrel:
	.byte	0x48, 0x8b, 0x05	# mov asm_function@GOTPCREL(%rip), %rax
	.reloc	., R_X86_64_GOTPCREL, asm_function - 4
	.long	0
	mov	$1, %edi
	call	*%rax
	lea	asm_function(%rip), %rcx
	.byte	0x48, 0x2b, 0x0d	# sub asm_function@GOTPCREL(%rip), %rcx
	.reloc	., R_X86_64_GOTPCREL, asm_function - 4
	.long	0
	lea	(%rax, %rcx), %edi
	.byte	0xff, 0x15		# call *asm_function@GOTPCREL(%rip)
	.reloc	., R_X86_64_GOTPCREL, asm_function - 4
	.long	0
	mov	%eax, %edi
	.byte	0xff, 0x25		# jmp *asm_function@GOTPCREL(%rip)
	.reloc	., R_X86_64_GOTPCREL, asm_function - 4
	.long	0
	.size f_gotpcrel, .-f_gotpcrel

	.section .text.f_gotpcrelx, "ax", @progbits
	.globl f_gotpcrelx
	.type f_gotpcrelx, @function
f_gotpcrelx:				# each of the forms that can be rewritten
	mov	shared_number@GOTPCREL(%rip), %rax
	movslq	(%rax), %rax
	push	%rax
	mov	hidden_word@GOTPCREL(%rip), %r11
	mov	(%r11), %r11
	push	%r11
	mov	$5, %edi
	call	*second_function@GOTPCREL(%rip)
	cltq
	pop	%rcx
	add	%rcx, %rax
	pop	%rcx
	add	%rcx, %rax
	mov	%rax, %rdi
	jmp	*asm_function@GOTPCREL(%rip)
	.size f_gotpcrelx, .-f_gotpcrelx

	.weak weak_nowhere
	.section .text.f_arithmetic, "ax", @progbits
	.globl f_arithmetic		# a form that cannot be rewritten
	.type f_arithmetic, @function
f_arithmetic:
	lea	hidden_word(%rip), %rax
	sub	hidden_word@GOTPCREL(%rip), %rax
	cmp	weak_nowhere@GOTPCREL(%rip), %rax
	sete	%al
	movzbl	%al, %eax
	ret
	.size f_arithmetic, .-f_arithmetic

	.section .text.f_table32, "ax", @progbits
	.globl f_table32		# GOTPC32 and GOTOFF64
	.type f_table32, @function
f_table32:
	lea	_GLOBAL_OFFSET_TABLE_(%rip), %rdx
	movabs	$hidden_word@GOTOFF, %rax
	mov	(%rdx,%rax), %rax
	ret
	.size f_table32, .-f_table32

	.section .text.f_table64, "ax", @progbits
	.globl f_table64		# GOTPC64
	.type f_table64, @function
f_table64:
1:	lea	1b(%rip), %rdx
	movabs	$_GLOBAL_OFFSET_TABLE_-1b, %rax
	add	%rax, %rdx
	movabs	$hidden_word@GOTOFF, %rax
	mov	(%rdx,%rax), %rax
	ret
	.size f_table64, .-f_table64

	.section .text.f_slots, "ax", @progbits
	.globl f_slots		# GOT64, GOTPLT64 and PLTOFF64, for own symbols and imports
	.type f_slots, @function
f_slots:
	push	%rbx
1:	lea	1b(%rip), %rbx
	movabs	$_GLOBAL_OFFSET_TABLE_-1b, %rax
	add	%rax, %rbx
	movabs	$hidden_word@GOT, %rax
	mov	(%rbx,%rax), %rax
	mov	(%rax), %rdx
	movabs	$shared_number@GOT, %rax
	mov	(%rbx,%rax), %rax
	movslq	(%rax), %rax
	add	%rax, %rdx
	push	%rdx
	mov	$5, %edi
	movabs	$second_function@GOTPLT, %rax
	call	*(%rbx,%rax)
	mov	%eax, %edi
	movabs	$second_function@PLTOFF, %rax
	add	%rbx, %rax
	call	*%rax
	push	%rax
	lea	bytes(%rip), %rdi
	movabs	$strlen@PLTOFF, %rax
	add	%rbx, %rax
	sub	$8, %rsp
	call	*%rax
	add	$8, %rsp
	pop	%rcx
	add	%rcx, %rax
	pop	%rcx
	add	%rcx, %rax
	pop	%rbx
	ret
	.size f_slots, .-f_slots

	.section .text.f_pc64, "ax", @progbits
	.globl f_pc64
	.type f_pc64, @function
f_pc64:
	lea	distance(%rip), %rax
	add	(%rax), %rax
	mov	(%rax), %rax
	ret
	.size f_pc64, .-f_pc64

	.section .text.f_narrow, "ax", @progbits
	.globl f_narrow			# PC8 and PC16 across sections
	.type f_narrow, @function
f_narrow:
	movsbq	bytes(%rip), %rax
	movswq	bytes+2(%rip), %rcx
	add	%rcx, %rax
	ret
	.size f_narrow, .-f_narrow

	.section .text.f_readonly, "ax", @progbits
	.globl f_readonly		# pointers in a section that says read-only
	.type f_readonly, @function
f_readonly:
	mov	pointers+8(%rip), %rax
	mov	(%rax), %rax
	ret
	.size f_readonly, .-f_readonly

	.section .rodata
	.balign 8
distance:
	.quad	hidden_word - .
	.balign 8
target:	.byte 0
bytes:	.byte	target - .
	.byte	0
	.short	target - .
	.section .pointers, "a"
	.balign 8
pointers:
	.quad	0, hidden_word
	.data
	.balign 8
hidden_word:
	.quad	0x1122334455667788
	.section .note.GNU-stack, "", @progbits
END

$KERNEL_CC -O2 -fPIC -fcommon -c first.c -o first.o
$KERNEL_CC -O2 -fPIC -fcommon -fno-plt -c first.c -o no-plt.o
$KERNEL_CC -O2 -fPIC -fcommon -Wa,-mrelax-relocations=no -c first.c -o plain.o
$KERNEL_CC -O2 -fPIC -fcommon -fPIE -c first.c -o pie.o 2>/dev/null || cp first.o pie.o
$KERNEL_CC -O2 -fPIC -fcommon -mcmodel=large -c first.c -o large.o
$KERNEL_CC -O2 -fPIC -fcommon -c second.c -o second.o
as third.s -o third.o
# The assembler computes differences within a file itself; these must be left to the linker to be a test.
readelf -rW third.o | grep -q R_X86_64_GOTPC64 || fail "the test's own object lacks GOTPC64"
readelf -rW third.o | grep -q R_X86_64_GOTOFF64 || fail "the test's own object lacks GOTOFF64"

functions=$(grep -ho 'f_[a-z0-9]*(void)' first.c | sed 's/(void)//'; grep -ho '^f_[a-z0-9]*' third.s)
exports=$(for f in $functions; do echo "--export call_$f=$f"; done)

cat >compare.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	void *ours = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL), *theirs = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
	int bad = 0;

	if (!ours || !theirs)
		return printf("%s\n", dlerror()), 1;
	for (int i = 3; i < argc; i++) {
		char name[64];
		snprintf(name, sizeof(name), "call_%s", argv[i]);
		long (*mine)(void) = (long (*)(void))dlsym(ours, name);
		long (*other)(void) = (long (*)(void))dlsym(theirs, argv[i]);
		if (!mine || !other)
			return printf("%s is missing\n", argv[i]), 1;
		long a = mine(), b = other();
		printf("%s: %ld %ld%s\n", argv[i], a, b, a == b ? "" : "  DIFFERS");
		bad |= a != b;
	}
	return bad;
}
END
$KERNEL_CC -O1 compare.c -o compare -ldl

for type in GOT64 GOTPLT64 PLTOFF64; do
	readelf -rW third.o large.o | grep -q "R_X86_64_$type " || fail "the test's own objects lack $type"
done
for object in first.o no-plt.o plain.o pie.o large.o; do
	"$driver" -o ours.so $exports "$object" second.o third.o
	ld -shared -Bsymbolic -z notext -o theirs.so "$object" second.o third.o -lm -lc
	./compare ./ours.so ./theirs.so $functions >results.txt || { cat results.txt >&2;
		fail "$object differs from GNU ld"; }
	if readelf -dW ours.so | grep -q TEXTREL; then fail "relocations in text"; fi
	if readelf -rW ours.so | grep R_X86_64 | grep -qvE 'RELATIVE|GLOB_DAT'; then
		fail "an unexpected loader relocation"; fi
done

# The results must be these, even if both linkers agree on others.
expect() {
	grep -q "^$1: $2 $2$" results.txt || { cat results.txt >&2; fail "$1 is not $2"; }
}
expect f_call 25
expect f_data 5555
expect f_table 82481
expect f_weak 44
expect f_nowhere -1
expect f_copy 1105
expect f_root 84
expect f_distance 24
expect f_gotpcrel 124
expect f_arithmetic 1
expect f_narrow -4
expect f_readonly 1234605616436508552

# Absolute symbols are numbers, which are known when linking; GNU ld refuses them, so a plain function is the reference.
cat >absolute.s <<'END'
	.globl f_absolute
	.type f_absolute, @function
f_absolute:
	mov	$absolute_number, %eax
	movabs	$absolute_number, %rcx
	add	%rcx, %rax
	mov	absolute_number@GOTPCREL(%rip), %rcx
	add	%rcx, %rax
	ret
	.section .note.GNU-stack, "", @progbits
END
printf '.globl absolute_number\n.set absolute_number, 4711\n.section .note.GNU-stack, "", @progbits\n' >number.s
as absolute.s -o absolute.o
as number.s -o number.o
echo 'long f_absolute(void) { return 3 * 4711; }' >reference.c
$KERNEL_CC -shared -fPIC reference.c -o theirs.so
"$driver" -o ours.so --export call_f_absolute=f_absolute absolute.o number.o
./compare ./ours.so ./theirs.so f_absolute || fail "absolute symbols"

# Code of the large model: movabs becomes lea or mov, and the same functions of the small model are the reference. An
# address in a table in the code, and an instruction that nothing replaces, are refused (below).
cat >large.c <<'END'
#include <math.h>
#include <string.h>
static const float table[4] = {1, 2, 3, 4};
static long counter = 40;
long shared = 7;
long *pointer = &shared;
extern long nowhere(void) __attribute__((weak));
static __attribute__((noinline)) long own(long x) { return x * 3 + counter++; }
static const char *const words[] = {"one", "three"};
int whole = 3;
short half = 5;
unsigned char byte = 7;
long f_large(void)
{
	long r = 0;

	for (long i = 0; i < 8; i++)
		r = r * 3 + (long)table[(i + shared) & 3] + own(i) + *pointer + (long)strlen(words[i & 1]);
	shared = r & 7;
	whole += (int)r;
	half = (short)(half * 3 + whole);
	byte = (unsigned char)(byte + half);
	r += whole + half + byte;
	return r + (nowhere ? nowhere() : 5) + (long)floor(2.5 + (double)r);
}
END
cat >moffs.s <<'END'
	.globl f_moffs
	.type f_moffs, @function
f_moffs:
	movabs	$word + 8, %r11
	mov	(%r11), %rcx
	movabs	word, %rax
	add	%rcx, %rax
	movabs	%rax, word + 16
	movabs	%eax, parts
	movabs	%ax, parts + 4
	movabs	%al, parts + 6
	movabs	parts + 6, %al
	movabs	parts + 4, %ax
	movabs	parts, %eax
	movabs	$word, %rdi
	add	16(%rdi), %rax
	movabs	$text + 2, %rsi
	movzbl	(%rsi), %ecx
	add	%rcx, %rax
	ret
	.data
word:	.quad 1000, 200, 0
parts:	.quad 0
	.section .rodata.str1.1, "aMS", @progbits, 1
text:	.string "abcd"
	.section .note.GNU-stack, "", @progbits
END
as moffs.s -o moffs.o
for model in large small; do
	for pic in -fno-pic -fPIC; do
		[ $model$pic = small-fno-pic ] || $KERNEL_CC -O1 $pic -mcmodel=$model -c large.c -o large-$model$pic.o
	done
done
readelf -rW large-large-fno-pic.o | grep -q 'R_X86_64_64 ' ||
	fail "no absolute address in code of the large model"
$KERNEL_CC -shared large-small-fPIC.o -lm -o theirs.so
for pic in -fno-pic -fPIC; do
	for sections in '' --no-gc-sections; do
		"$driver" -o ours.so --export call_f_large=f_large $sections large-large$pic.o || fail "the large model: $pic"
		./compare ./ours.so ./theirs.so f_large || fail "the large model, $pic: another result"
		if readelf -dW ours.so | grep -q TEXTREL; then fail "relocations of text"; fi
	done
done
"$driver" -o ours.so --export call_f_moffs=f_moffs moffs.o
echo 'long f_moffs(void) { return 2400 + 99; }' >reference.c
$KERNEL_CC -shared -fPIC reference.c -o theirs.so
./compare ./ours.so ./theirs.so f_moffs || fail "movabs with an operand in memory"

# The instructions after rewriting, and that only symbols that need a slot have one: weak_nowhere, asm_function and
# hidden_word (arithmetic), and the imports.
"$driver" -o ours.so --export a=f_gotpcrelx second.o third.o
objdump -d --no-show-raw-insn ours.so | sed -n '/<f_gotpcrelx>:/,/^$/p' >code.txt
grep -qE 'lea .*,%rax' code.txt && grep -qE 'lea .*,%r11' code.txt || { cat code.txt;
	fail "mov was not rewritten to lea"; }
grep -qE 'addr32 call .*<second_function>' code.txt || { cat code.txt; fail "the call was not rewritten"; }
grep -qE 'jmp +[0-9a-f]+ <asm_function>' code.txt || { cat code.txt; fail "the jump was not rewritten"; }
if readelf -SW ours.so | grep -q ' \.got '; then fail "a GOT without need"; fi
"$driver" -o ours.so --export a=f_arithmetic --export b=f_gotpcrel second.o third.o
objdump -d --no-show-raw-insn ours.so | sed -n '/<f_gotpcrel>:/,/^$/p' >code.txt
for form in 'lea .*,%rax' 'addr32 call .*<asm_function>' 'jmp +[0-9a-f]+ <asm_function>' 'sub +.*\(%rip\),%rcx'; do
	grep -qE "$form" code.txt || { cat code.txt; fail "not rewritten with the plain type: $form"; }
done
[ "$(readelf -SW ours.so | awk '$2 == ".got" || $3 == ".got" {print $0}' | grep -c '000018')" = 1 ] ||
	{ readelf -SW ours.so; fail "the GOT must have three slots"; }

# ---- errors ----
refuse() { # NAME PATTERN, assembly on standard input
	cat >"$1.s"
	as "$1.s" -o "$1.o"
	fails_with "$2" "$driver" -o refused.so --export entry=f "$1.o"
	[ ! -e refused.so ] || fail "$1: an output file in spite of the error"
}
head='	.globl f
	.type f, @function
f:'
refuse absolute32 "absolute32.o:\(.text\+0x1\): relocation R_X86_64_32 against 'x' needs an absolute address.*recompile with -fPIC" <<END
$head	mov \$x, %eax
	ret
	.data
	.globl x
x:	.quad 1
END
refuse absolute32s "R_X86_64_32S against '.data' needs an absolute address" <<END
$head	movq x, %rax
	ret
	.data
x:	.quad 1
END
refuse text64 "text64.o:\(.text\+0x1\): relocation R_X86_64_64 against '.data' would have to be written into code.* no instruction has it that can be rewritten" <<END
$head	ret
	.quad x
	.data
x:	.quad 1
END
refuse text64twice "R_X86_64_64 out of range" <<END
$head	.reloc 2, R_X86_64_64, x
	movabs \$x, %rax
	ret
	.data
x:	.quad 1
END
refuse text64inside "R_X86_64_64 against 'memcpy' needs an address inside an imported symbol" <<END
$head	movabs \$memcpy + 8, %rax
	ret
END
refuse text64imported "R_X86_64_64 against '__libc_single_threaded' cannot reach data of the C library" <<END
$head	movabs \$__libc_single_threaded, %rax
	ret
END
refuse data "R_X86_64_PC32 against '__libc_single_threaded' cannot reach data of the C library, which may lie anywhere; recompile with -fPIC" <<END
$head	movzbl __libc_single_threaded(%rip), %eax
	ret
END
"$driver" --relocatable -o left.o --export entry=f data.o
readelf -rW left.o | grep -q 'R_X86_64_PC32 .* __libc_single_threaded - 4' ||
	fail "-r does not leave data to the next linker"
refuse pointed_data "R_X86_64_PC32 against 'stderr' cannot reach data of the C library" <<END
$head	mov stderr(%rip), %rax
	ret
	.globl _IO_2_1_stderr_
_IO_2_1_stderr_:
END
refuse called_data "R_X86_64_PLT32 against 'stderr' cannot reach data of the C library" <<END
$head	jmp stderr@PLT
END
refuse inside_data "R_X86_64_64 against 'stdout' needs an address inside an imported symbol" <<END
$head	lea x(%rip), %rax
	ret
	.data
x:	.quad stdout + 8
END
refuse other_data "undefined symbol: environ; it is data of the C library that cannot be imported" <<END
$head	mov environ@GOTPCREL(%rip), %rax
	ret
END
refuse local_exec "R_X86_64_TPOFF32 against 'x' is of the local-exec model" <<END
$head	mov %fs:x@tpoff, %rax
	ret
	.section .tdata, "awT", @progbits
x:	.quad 8
END
refuse initial_exec "undefined symbol: elsewhere" <<END
$head	mov elsewhere@gottpoff(%rip), %rax
	ret
END
refuse ifunc "refers to an IFUNC" <<END
$head	jmp g
	.type g, @gnu_indirect_function
	.globl g
g:	ret
END
refuse weak_distance "R_X86_64_PC32 against 'nowhere' cannot yield 0" <<END
$head	lea nowhere(%rip), %rax
	ret
	.weak nowhere
END
refuse size "relocation R_X86_64_SIZE32 against 'x' asks for the size of a symbol" <<END
$head	.reloc ., R_X86_64_SIZE32, x
	.quad 0
	ret
	.globl x
x:	ret
END
refuse unsupported "relocation R_X86_64_GOT32 against 'x' is of a type that is not supported" <<END
$head	.reloc ., R_X86_64_GOT32, x
	.long 0
	ret
	.globl x
x:	ret
END
refuse absolute_call "against 'address' needs the distance to a place in the package, but the symbol is a plain number" <<END
$head	call address
	.globl address
	.set address, 0x1000
END
refuse range8 "error: range8.o:\(.text\+0x0\): relocation R_X86_64_PC8 out of range: 4[0-9]+ is not in \[-128, 127\]; references 'far'" <<END
$head	.reloc ., R_X86_64_PC8, far
	.byte 0
	.zero 400
	.globl far
far:	ret
END
refuse range32 "error: range32.o:\(.text\+0x3\): relocation R_X86_64_PC32 out of range: [0-9]+ is not in \[-2147483648, 2147483647\]; references 'far'" <<END
$head	lea far(%rip), %rax
	ret
	.bss
	.zero 0x90000000
	.globl far
far:	.zero 8
END
refuse discarded "refers to a section that is not loaded" <<END
$head	lea x(%rip), %rax
	ret
	.section .comment2, "", @progbits
x:	.quad 1
END

