# Damaged objects and archives: link-damage.c describes the damage. The object has a bit of everything that the linker
# reads.
. "$top_srcdir/tests/lib/lib.sh"
damage=$top_builddir/tests/linker/link-damage

cat >kernel.c <<'END'
#include "skkernel.h"
#include <math.h>
#include <string.h>
int common_one;
__attribute__((visibility("hidden"))) int hidden;
static int counter;
extern int outside(int) __attribute__((weak));
static const char *const names[] = {"one", "two", "three"};
int (*pointers[])(int) = {0, outside};
__attribute__((constructor(101))) static void prepare(void) { counter = 1; }
double mul(const double *x, double *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = sqrt(x[i]) * common_one + hidden + names[i % 3][0] + ++counter;
	memmove(y, x, (unsigned long)n);
	return pointers[0] ? pointers[0](2) : 0;
}
SK_KERNEL(mul, "in x f64[n], out y f64[n], n i64");
int choose(int n)
{
	switch (n) {
	case 0: return 5; case 1: return counter; case 2: return (int)mul(0, 0, 0); case 3: return 23; case 4: return 9;
	}
	return 0;
}
__asm__(".pushsection .text.inline,\"axG\",@progbits,inline,comdat\n.weak inline_one\n.type inline_one,@function\n"
	"inline_one: .cfi_startproc\n mov common_one@GOTPCREL(%rip), %rax\n call *mul@GOTPCREL(%rip)\n"
	"ret\n.cfi_endproc\n.size inline_one,.-inline_one\n.popsection");
END
$KERNEL_CC -O1 -fPIC -fcommon -ffunction-sections -fcf-protection -I"$top_srcdir/format" -c kernel.c -o kernel.o
echo '__asm__(".symver other,other@@V2"); int other(int x) { return x + 1; } int helper(int x) { return x; }' \
	>a-helper-with-a-long-name.c
$KERNEL_CC -O1 -fPIC -c a-helper-with-a-long-name.c -o a-helper-with-a-long-name.o
ar qc library.a kernel.o a-helper-with-a-long-name.o
$KERNEL_CC -O1 -fPIC -g -gz=zlib -ffunction-sections -c a-helper-with-a-long-name.c -o debug.o
$KERNEL_CC -r -nostdlib kernel.o a-helper-with-a-long-name.o -o joined.o

# An addend may be any number, and that of an unwind record moves with the copy of its function.
as --noexecstack -o extreme.o <<'END'
	.macro function name, addend
	.section .text.\name, "ax"
	.globl \name
	.type \name, @function
\name:	ret
	.size \name, . - \name
	.section .eh_frame, "a", @unwind
	.long 1f - 0f
0:	.long 0b - cie
2:	.quad 0, 1
	.byte 0
	.balign 8
1:	.reloc 2b, R_X86_64_PC64, \name + \addend
	.endm
	.section .eh_frame, "a", @unwind
cie:	.long 1f - 0f
0:	.long 0
	.byte 1
	.string "zR"
	.byte 1, 0x78, 16, 1, 0x1c
	.balign 8
1:
	function f, 0x7fffffffffffffff
	function g, -0x8000000000000000
END

for file in extreme.o kernel.o library.a joined.o debug.o; do
	"$damage" $file "${DAMAGE_VARIANTS:-6000}" || fail "$file"
done
