/* Kernels with thread-local variables, for tests/runtime/thread-storage.sh: their result is right only if the thread's
 * block equals the image's when they are called, and no other thread changes it while they run. */
#include "skkernel.h"

#ifndef LINKAGE
#define LINKAGE static
#endif
#ifndef FIRST
#define FIRST 2
#endif

LINKAGE __thread int32_t factors[4] = {FIRST, 3, 5, 7};
LINKAGE __thread int32_t calls __attribute__((aligned(ALIGN)));
LINKAGE __thread int64_t sums[BYTES / 8];

/* y = factor * x, by way of a sum of its own for each element. It reports variables that it finds changed. */
void weigh(const int32_t *x, int32_t *y, int64_t n)
{
	static const int32_t image[4] = {FIRST, 3, 5, 7};
	int64_t width = BYTES / 8;

	calls++;
	for (int64_t start = 0; start < n; start += width) {
		int64_t count = n - start < width ? n - start : width;

		for (int64_t i = 0; i < count; i++)
			sums[i] = 0;
		for (int k = 0; k < 4; k++)
			for (int64_t i = 0; i < count; i++)
				sums[i] += (int64_t)factors[k] * x[start + i];
		for (int64_t i = 0; i < count; i++)
			y[start + i] = (int32_t)sums[i];
	}
	for (int k = 0; k < 4; k++)
		if (factors[k] != image[k] || calls != 1 || (uintptr_t)&calls % ALIGN)
			y[0] = -1;
	calls--;
}
SK_KERNEL(weigh, "split=n reentrant; in x i32[n], out y i32[n], n i64");

/* Leave its variables as no call should find them: kind 1 by a fault, 2 by abort, 3 by a loop without an end; 4 to 6
 * likewise, but only the call that has the first element, which is negative. */
void spoil(const int32_t *kind, const int32_t *x, int32_t *y, int64_t n)
{
	int32_t end = *kind > 3 ? *kind - 3 : *kind;

	weigh(x, y, n);
	if (!*kind || (*kind > 3 && x[0] >= 0))
		return;
	factors[1] = 1000;
	calls = 40;
	sums[0] = 17;
	if (end == 1)
		*(volatile int32_t *)16 = 0;
	if (end == 2)
		__builtin_trap();
	for (;;)
		__asm__ volatile("pause" : : "r"(factors), "r"(&calls) : "memory");
}
SK_KERNEL(spoil, "split=n reentrant; in kind i32[1], in x i32[n], out y i32[n], n i64");

/* errno, which is the C library's, holds within a call. */
extern __thread int errno __attribute__((tls_model("initial-exec")));
void remember(const int32_t *x, int32_t *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		errno = x[i];
		__asm__ volatile("" : : : "memory");
		y[i] = errno + 1;
	}
}
SK_KERNEL(remember, "split=n; in x i32[n], out y i32[n], n i64");
