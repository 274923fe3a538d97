/* Kernels for python-tests.py. */
#include <sched.h>

#include "skkernel.h"

/* Ends when another thread has written into the flag, or with the device's time-out. */
void await_flag(const volatile int32_t *flag, int32_t *y, int64_t n)
{
	while (!*flag)
		sched_yield();
	for (int64_t i = 0; i < n; i++)
		y[i] = *flag;
}
SK_KERNEL(await_flag, "in flag i32[1], out y i32[n], n i64");

/* All types at once: copies, with the sign changed for bf16. */
void copies(const int8_t *a, int8_t *a2, const uint16_t *b, uint16_t *b2, const double *c, double *c2, const uint8_t *d,
	    uint8_t *d2, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		a2[i] = a[i];
		b2[i] = b[i] ^ 0x8000;
		c2[i] = c[i];
		d2[i] = d[i];
	}
}
SK_KERNEL(copies, "in a i8[n], out a2 i8[n], in b bf16[n], out b2 bf16[n], in c f64[n], out c2 f64[n], in d bool[n], "
		  "out d2 bool[n], n i64");

/* Copies the sum so far to y; then adds. */
void accumulate(const float *x, float *sum, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		y[i] = sum[i];
		sum[i] += x[i];
	}
}
SK_KERNEL(accumulate, "split=n; in x f32[n], inout sum f32[n], out y f32[n], n i64");

/* Reads past x. */
void twice(const float *x, float *y, int64_t n)
{
	volatile float behind = x[n + 31];

	(void)behind;
	for (int64_t i = 0; i < n; i++)
		y[i] = 2 * x[i];
}
SK_KERNEL(twice, "in x f32[n]+128, out y f32[n], n i64");

/* Fails if the first number is negative. */
int square_roots(const float *x, float *y, int64_t n)
{
	if (x[0] < 0)
		return 7;
	for (int64_t i = 0; i < n; i++)
		y[i] = __builtin_sqrtf(x[i]);
	return 0;
}
SK_KERNEL(square_roots, "in x f32[n], out y f32[n], n i64 -> status");
