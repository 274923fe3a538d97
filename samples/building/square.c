#include "skkernel.h"

SK_KERNEL(square_f32, "split=n; in x f32[n], out y f32[n], n i64");
void square_f32(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] * x[i];
}
