/* The kernels for measuring dispatch: one that does nothing, and one of 64 additions. They are aligned, so that their
 * own time does not depend on the address to which they are linked. */
#include <stdint.h>

#include "skkernel.h"

SK_KERNEL(empty, "in x f32[n], out y f32[n], n i64");
__attribute__((aligned(64))) void empty(const float *x, float *y, int64_t n)
{
	(void)x;
	(void)y;
	(void)n;
}

SK_KERNEL(tiny, "in x f32[n], out y f32[n], n i64");
__attribute__((aligned(64))) void tiny(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + 1;
}

SK_KERNEL(split_tiny, "split=n; in x f32[n], out y f32[n], n i64");
__attribute__((aligned(64))) void split_tiny(const float *x, float *y, int64_t n)
{
	tiny(x, y, n);
}

SK_KERNEL(split_empty, "split=n; in x f32[n], out y f32[n], n i64");
__attribute__((aligned(64))) void split_empty(const float *x, float *y, int64_t n)
{
	empty(x, y, n);
}

SK_KERNEL(block_empty, "blocks; block, in x f32[n], out y f32[n], n i64");
__attribute__((aligned(64))) void block_empty(const struct sk_block *block, const float *x, float *y, int64_t n)
{
	(void)block;
	empty(x, y, n);
}
