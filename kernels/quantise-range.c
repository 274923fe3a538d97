/* quantise-range.c: DynamicQuantizeRange, the scale and the zero point that map the range of x and 0 to that of eight
 * bits.
 *
 * variants: OP=DynamicQuantizeRange TO=u8
 */
#include "kernels/quantise.h"

void KERNEL(const float *x, float *scale, uint8_t *zero, int64_t n)
{
	float least = 0, most = 0;

	for (int64_t i = 0; i < n; i++) {
		least = x[i] < least ? x[i] : least;
		most = x[i] > most ? x[i] : most;
	}
	*scale = least < most ? (most - least) / 255 : 1;
	*zero = (uint8_t)quantise(-least / *scale, 0, 0, 255);
}
SIGNATURE("op=DynamicQuantizeRange", "in x f32[n], out scale f32[1], out zero u8[1], n i64");
