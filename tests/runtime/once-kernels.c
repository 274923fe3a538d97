/* Kernels for tasks that run once: their results tell how often they have run. */
#include "skkernel.h"

static int64_t packed;
static int64_t tries;

/* Turn w around; report how often the kernel has been called in this process. */
void pack(const float *w, float *p, int64_t *count, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		p[i] = w[n - 1 - i];
	*count = ++packed;
}
SK_KERNEL(pack, "reentrant; in w f32[n], out p f32[n], out count i64[1], n i64");

/* The same, but fails when it is called for the first time, with half of its work done. */
int falter(const float *w, float *p, int64_t *count, int64_t n)
{
	*count = ++tries;
	for (int64_t i = 0; i < n; i++) {
		if (i == n / 2 && tries == 1)
			return 7;
		p[i] = w[n - 1 - i];
	}
	return 0;
}
SK_KERNEL(falter, "reentrant; in w f32[n], out p f32[n], out count i64[1], n i64 -> status");

/* The number that has been packed first, as a scalar. */
float first(const float *p)
{
	return p[0];
}
SK_KERNEL(first, "in p f32[n] -> out c f32");

void twice(const float *p, float *q, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		q[i] = 2 * p[i];
}
SK_KERNEL(twice, "split=n; in p f32[n], out q f32[n], n i64");

void product(const float *x, const float *p, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] * p[i];
}
SK_KERNEL(product, "split=n; in x f32[n], in p f32[n], out y f32[n], n i64");

void add(const float *x, float *y, float c, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + c;
}
SK_KERNEL(add, "split=n; in x f32[n], out y f32[n], c f32, n i64");

void tell(const int64_t *count, int64_t *result)
{
	*result = *count;
}
SK_KERNEL(tell, "in count i64[1], out result i64[1]");

/* ---- kernels that may not run once ---- */

static int64_t drawn;

void draw(float *p, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		p[i] = (float)drawn++;
}
SK_KERNEL(draw, "out p f32[n], n i64");

void change(float *p, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		p[i]++;
}
SK_KERNEL(change, "inout p f32[n], n i64");
