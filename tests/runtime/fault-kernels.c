/* A kernel that fails in every possible way, or returns with unexpected control state, or does neither. */
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
	NO_FUNCTION,
	DATA_FUNCTION,
	TRUNCATED,
	DIVISION,
	ILLEGAL,
	STATUS,
	OVERFLOW,
	ABORT,
	EXIT,
	ASSERT,
	SMASHED,
	BREAKPOINT,
	DEBUG_TRAP,
	TRAP_FLAG,
	MISALIGNED,
	LARGE_FRAME, /* larger than the stack by little, and by much; its far end is touched first */
	HUGE_FRAME,
	UNALIGNED, /* with alignment checks on */
	UNTIDY_FAULT, /* control state is not its own, either */
	LOST_THREAD, /* it returns 0, but not to the thread that called it */
	LOST_ENDLESS,
	UNTIDY_ENDLESS,
	ENDLESS,
	/* These return 0. */
	DIRECTION,
	ALIGNMENT,
	ROUNDING,
	CONTROL_WORD,
	PENDING, /* an x87 exception that the next instruction raises */
	FULL, /* the x87 stack */
	/* These have no effect. */
	FITTING_FRAME,
	UNUSED_SEGMENT, /* GS, which is not used */
	IDENTIFICATION, /* a flag without meaning */
	UPPER_HALVES, /* of vector registers, without vzeroupper */
	/* The task cannot be found for these. */
	NO_STACK,
};

static __attribute__((noinline)) int deep(volatile char *outer, int depth)
{
	volatile char frame[4096];

	frame[0] = (char)depth;
	return deep(frame, depth + 1) + frame[0] + (outer ? outer[0] : 0);
}

/* A frame of so many MiB. */
#define FRAME(size)                                                                                                    \
	static __attribute__((noinline)) void frame_##size(const float *x)                                             \
	{                                                                                                              \
		volatile float frame[size << 18];                                                                      \
                                                                                                                       \
		for (int i = 0; i < size << 18; i++)                                                                   \
			frame[i] = x[0];                                                                               \
	}
FRAME(1)
FRAME(16)
FRAME(60)

static void change_flags(unsigned long flags)
{
	__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | flags);
}

static void load_control_word(unsigned short word)
{
	__asm__ volatile("fldcw %0" : : "m"(word));
}

/* If the register held 0, some processors would keep the base. */
static void lose_thread(void)
{
	__asm__ volatile("movw %w0, %%fs; movw %w1, %%fs" : : "r"(0x2b), "r"(0) : "memory");
}

static void change_all(void)
{
	__builtin_ia32_ldmxcsr(0x7f80);
	__asm__ volatile("fld1; fld1; fld1; fld1; fld1; fld1; fld1; fld1" : : : "memory");
	load_control_word(0xc7f);
	change_flags(1 << 18 | 1 << 10);
}

static void dirty_upper_halves(void)
{
	unsigned a = 1, b, c = 0, d;

	__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	if (c >> 28 & 1) /* AVX */
		__asm__ volatile("vcmpps $15, %%ymm15, %%ymm15, %%ymm15" : : : "xmm15");
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
	case NO_FUNCTION:
		((void (*volatile)(void))0)();
		break;
	case DATA_FUNCTION:
		((void (*volatile)(void))(long)y)();
		break;
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
	case BREAKPOINT:
		__asm__ volatile("int3");
		break;
	case DEBUG_TRAP:
		__asm__ volatile(".byte 0xf1");
		break;
	case TRAP_FLAG:
		change_flags(1 << 8);
		break;
	case MISALIGNED:
		__asm__ volatile("movaps %%xmm0, (%0)" : : "r"((char *)y + 4) : "memory");
		break;
	case LARGE_FRAME:
		frame_16(x);
		break;
	case HUGE_FRAME:
		frame_60(x);
		break;
	case NO_STACK:
		__asm__ volatile("movq %0, %%rsp; pushq %%rax" : : "r"(0x8000000000000000));
		break;
	case UNALIGNED:
		change_flags(1 << 18);
		*(volatile int *)((char *)y + 1) = 1;
		break;
	case UNTIDY_FAULT:
		change_all();
		null[4] = 1;
		break;
	case UNTIDY_ENDLESS:
		change_all();
		for (volatile int i = 0;; i++)
			;
	case IDENTIFICATION:
		change_flags(1 << 21);
		break;
	case UPPER_HALVES:
		dirty_upper_halves();
		break;
	case LOST_THREAD:
		lose_thread();
		break;
	case LOST_ENDLESS:
		lose_thread();
		for (volatile int i = 0;; i++)
			;
	case UNUSED_SEGMENT:
		__asm__ volatile("movw %w0, %%gs; movw %w1, %%gs" : : "r"(0x2b), "r"(0) : "memory");
		break;
	case FITTING_FRAME:
		frame_1(x);
		break;
	case DIRECTION:
		__asm__ volatile("std");
		break;
	case ALIGNMENT:
		change_flags(1 << 18);
		break;
	case ROUNDING:
		__builtin_ia32_ldmxcsr(0x7f80);
		break;
	case CONTROL_WORD:
		load_control_word(0xc7f);
		break;
	case PENDING:
		load_control_word(0x37b);
		__asm__ volatile("fld1; fldz; fdivrp" : : : "memory");
		break;
	case FULL:
		__asm__ volatile("fld1; fld1; fld1; fld1; fld1; fld1; fld1; fld1" : : : "memory");
		break;
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
