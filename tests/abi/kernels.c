/* A kernel that draws: a program may give it a function of its own. */
#include <stdint.h>
#include <stdlib.h>

#include "skkernel.h"

void draw(const int32_t *x, int32_t *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + rand();
}
SK_KERNEL(draw, "in x i32[n], out y i32[n], n i64");
