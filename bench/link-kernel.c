/* The kernel of which bench/link makes thousands: it copies the compiled object, each time with another number in the
 * name of the function. It is an ordinary one: 2 KiB as an object, a loop for the vector unit and its tail, constants
 * in two kinds of sections, unwind information, a signature. */
#include <stdint.h>

#include "skkernel.h"

static const float weights[8] = {0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F, 0.7F, 0.8F};

SK_KERNEL(kernel_00000, "in x f32[n], out y f32[n], n i64");
void kernel_00000(const float *restrict x, float *restrict y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] * x[i] * 0.5F + 1;
	if (n)
		y[0] = weights[n % 8];
}
