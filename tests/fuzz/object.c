/* Everything in an object that the linker reads, in as few bytes as possible: the fuzzers' main seed. */
#include "skkernel.h"

#include <math.h>
#include <string.h>

int common_one;
__attribute__((visibility("hidden"))) int hidden;
static int counter;
static const char *const names[] = {"one", "two", "three"};
extern int outside(int) __attribute__((weak));
int (*pointers[])(int) = {0, outside};

__attribute__((constructor(101))) static void prepare(void)
{
	counter = 1;
}

__attribute__((destructor)) static void finish(void)
{
	counter = 0;
}

double mul(const double *x, double *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = sqrt(x[i]) * common_one + hidden + names[i % 3][0] + ++counter;
	memmove(y, x, (size_t)n);
	return pointers[0] ? pointers[0](2) : 0;
}
SK_KERNEL(mul, "in x f64[n], out y f64[n], n i64");

int choose(int n)
{
	switch (n) {
	case 0:
		return 5;
	case 1:
		return counter;
	case 2:
		return (int)mul(0, 0, 0);
	case 3:
		return 23;
	case 4:
		return 9;
	}
	return 0;
}
SK_KERNEL(choose, "n i32 -> status");

__asm__(".pushsection .text.inline,\"axG\",@progbits,inline,comdat\n"
	".weak inline_one\n.type inline_one,@function\n"
	"inline_one: .cfi_startproc\n mov common_one@GOTPCREL(%rip), %rax\n call *mul@GOTPCREL(%rip)\n"
	"ret\n.cfi_endproc\n.size inline_one,.-inline_one\n.popsection\n"
	".pushsection .rodata.words,\"aMS\",@progbits,1\n.string \"a word\"\n.string \"word\"\n.popsection\n"
	".pushsection .kept,\"awR\",@progbits\n.quad choose\n.popsection\n");
