/* A kernel that fails in every way there is, and one that does not. */
#include "skkernel.h"

_Noreturn void abort(void);
_Noreturn void exit(int status);
_Noreturn void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function);
_Noreturn void __stack_chk_fail(void);
void *memset(void *bytes, int value, unsigned long size);

enum {
	FINE,
	NULL_WRITE,
	NULL_READ,
	NO_ADDRESS,
	IN_LIBRARY,
	TRUNCATED,
	DIVISION,
	ILLEGAL,
	STATUS,
	OVERFLOW,
	ABORT,
	EXIT,
	ASSERT,
	SMASHED,
	ENDLESS
};

static __attribute__((noinline)) int deep(volatile char *outer, int depth)
{
	volatile char frame[4096];

	frame[0] = (char)depth;
	return deep(frame, depth + 1) + frame[0] + (outer ? outer[0] : 0);
}

int misbehave(const int32_t *kind, const float *x, float *y, const unsigned char *page, int64_t n)
{
	volatile int zero = 0;
	volatile float *volatile null = 0;
	void *(*volatile fill)(void *bytes, int value, unsigned long size) = memset;

	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + 1;
	switch (*kind) {
	case NULL_WRITE:
		null[4] = 1;
		break;
	case NULL_READ:
		return (int)null[8];
	case NO_ADDRESS:
		return *(volatile char *)0x8000000000000000;
	case IN_LIBRARY:
		return *(const char *)fill((void *)null, 1, (unsigned long)n);
	case TRUNCATED:
		return *(const volatile unsigned char *)page;
	case DIVISION:
		return (int)n / zero;
	case ILLEGAL:
		__builtin_trap();
	case STATUS:
		return 42;
	case OVERFLOW:
		return deep(0, 0);
	case ABORT:
		abort();
	case EXIT:
		exit(0);
	case ASSERT:
		__assert_fail("x", "y", 1, "z");
	case SMASHED:
		__stack_chk_fail();
	case ENDLESS:
		for (volatile int i = 0;; i++)
			;
	}
	return 0;
}
SK_KERNEL(misbehave, "in kind i32[1], in x f32[n], out y f32[n], in page u8[m], n i64 -> status");

void twice(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = 2 * x[i];
}
SK_KERNEL(twice, "split=n; in x f32[n], out y f32[n], n i64");
