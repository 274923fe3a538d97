#include "skkernel.h"

SK_KERNEL(scale_f32, "split=n; in x f32[n], out y f32[n], n i64, factor f32");
void scale_f32(const float *x, float *y, int64_t n, float factor)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] * factor;
}
