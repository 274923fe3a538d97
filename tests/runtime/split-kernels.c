/* Kernels with `split` in their signatures and results that depend on the rest of the call, each in another way. */
#include "skkernel.h"

/* Short calls take another formula. */
void threshold(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = n < 100 ? x[i] * 3 : x[i] + x[i] + x[i] + 1e-3f;
}
SK_KERNEL(threshold, "split=n; in x f32[n], out y f32[n], n i64");

/* Each element depends on those before it. */
void running_sum(const float *x, float *y, int64_t n)
{
	float sum = 0;

	for (int64_t i = 0; i < n; i++)
		y[i] = sum += x[i];
}
SK_KERNEL(running_sum, "split=n; in x f32[n], out y f32[n], n i64");

/* Rows that begin at multiples of 16 bytes are computed otherwise. */
void aligned(const float *x, float *y, int64_t m)
{
	for (int64_t i = 0; i < 3 * m; i++)
		y[i] = (uintptr_t)x % 16 ? x[i] : -x[i];
}
SK_KERNEL(aligned, "split=m; in x f32[m,3], out y f32[m,3], m i64");

/* Only calls of three units are wrong, and of an inout tensor. */
void three(float *x, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		x[i] += n == 192 ? 2 : 1;
}
SK_KERNEL(three, "split=n; inout x f32[n], n i64");

/* The bits are right, the status is not. */
int impatient(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i];
	return n < 100 ? 7 : 0;
}
SK_KERNEL(impatient, "split=n; in x f32[n], out y f32[n], n i64 -> status");

/* An honest kernel with a result that depends on the old contents. */
void increment(float *x, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		x[i] += 1;
}
SK_KERNEL(increment, "split=n; inout x f32[n], n i64");

/* Called for each row. */
void row_sum(const float *row, float *sum, int64_t k)
{
	*sum = 0;
	for (int64_t i = 0; i < k; i++)
		*sum += row[i];
}
SK_KERNEL(row_sum, "each=m; in x f32[m,k], out y f32[m], k i64");

/* Called for tiles, of rows that lie apart. */
void tile_copy(const float *x, float *y, int64_t m, int64_t n, int64_t ldx, int64_t ldy)
{
	for (int64_t i = 0; i < m; i++)
		for (int64_t j = 0; j < n; j++)
			y[i * ldy + j] = x[i * ldx + j];
}
SK_KERNEL(tile_copy, "tile=m:6,n:16; in x f32[m,n:ldx], out y f32[m,n:ldy], m i64, n i64, ldx i64, ldy i64");
