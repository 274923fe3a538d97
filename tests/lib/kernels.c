/* Kernels for the end-to-end scripts: one of each kind, small enough to check by hand. */
#include "skkernel.h"

/* Elementwise. */
void scale(const float *x, float *y, int64_t n, float factor)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] * factor;
}
SK_KERNEL(scale, "split=n; in x f32[n], out y f32[n], n i64, factor f32");

void add(const float *a, const float *b, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = a[i] + b[i];
}
SK_KERNEL(add, "split=n; in a f32[n], in b f32[n], out y f32[n], n i64");

/* Row-wise: subtracts each row's first element from it. */
void shift_rows(const float *x, float *y, int64_t rows, int64_t width)
{
	for (int64_t r = 0; r < rows; r++)
		for (int64_t i = 0; i < width; i++)
			y[r * width + i] = x[r * width + i] - x[r * width];
}
SK_KERNEL(shift_rows, "split=rows; in x f32[rows,width], out y f32[rows,width], rows i64, width i64");

/* SPMD: block b reverses nothing but its own part of y, and reads all of x. */
void reverse(const struct sk_block *block, const float *x, float *y, int64_t n)
{
	uint64_t low, high;

	sk_block_range(block, (uint64_t)n, &low, &high);
	for (uint64_t i = low; i < high; i++)
		y[i] = x[n - 1 - (int64_t)i];
}
SK_KERNEL(reverse, "blocks; block, in x f32[n], out y f32[n], n i64");

/* SPMD by range: block b doubles the b-th range. */
void twice(const struct sk_block *block, const float *x, float *y, int64_t n)
{
	uint64_t low, high;

	sk_block_range(block, (uint64_t)n, &low, &high);
	for (uint64_t i = low; i < high; i++)
		y[i] = 2 * x[i];
}
SK_KERNEL(twice, "blocks=n; block, in x f32[n], out y f32[n], n i64");

/* Plain. */
void prefix(const float *x, float *y, int64_t n)
{
	float sum = 0;

	for (int64_t i = 0; i < n; i++)
		y[i] = sum += x[i];
}
SK_KERNEL(prefix, "in x f32[n], out y f32[n], n i64");

void host_only(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + 1;
}
SK_KERNEL(host_only, "unfusible; in x f32[n], out y f32[n], n i64");

/* A status from the data: fails on a negative first element. */
int checked(const float *x, float *y, int64_t n)
{
	if (x[0] < 0)
		return 3;
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i];
	return 0;
}
SK_KERNEL(checked, "in x f32[n], out y f32[n], n i64 -> status");
