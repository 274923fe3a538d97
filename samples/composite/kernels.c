/* Three elementwise kernels. Each computes any range of its n elements by itself, so each is `split=n`: sklink gives
 * every core a range and passes its length as n. The code does not depend on cores, threads or sklink's runtime. */
#include <math.h>

#include "skkernel.h"

SK_KERNEL(mul_f32, "split=n; in x f32[n], out y f32[n], n i64, factor f32");
void mul_f32(const float *x, float *y, int64_t n, float factor)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] * factor;
}

SK_KERNEL(add_f32, "split=n; in x f32[n], out y f32[n], n i64, summand f32");
void add_f32(const float *x, float *y, int64_t n, float summand)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + summand;
}

SK_KERNEL(pow_f32, "split=n; in x f32[n], out y f32[n], n i64, exponent f32");
void pow_f32(const float *x, float *y, int64_t n, float exponent)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = powf(x[i], exponent);
}
