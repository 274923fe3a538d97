#include "skkernel.h"

SK_KERNEL(add_f32, "split=n; in a f32[n], in b f32[n], out y f32[n], n i64");
void add_f32(const float *a, const float *b, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = a[i] + b[i];
}
