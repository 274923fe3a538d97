#include "skkernel.h"

SK_KERNEL(fma_f32, "split=n op=FusedMulAdd; in a f32[n], in b f32[n], in c f32[n], out y f32[n], n i64");
void fma_f32(const float *a, const float *b, const float *c, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = a[i] * b[i] + c[i];
}
