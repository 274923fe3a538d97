/* clip.c: Clip: x [n] -> y [n], with bounds that may be absent.
 *
 * variants: OP=Clip TYPE=floats ISA=base,v3
 * variants: OP=Clip TYPE=integers
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

/* NaNs stay. If min is above max, max is the result. */
void KERNEL(const element *x, const element *min, const element *max, element *y, int64_t n)
{
	number low = min ? LOAD(TYPE, *min) : SMALLEST(TYPE), high = max ? LOAD(TYPE, *max) : LARGEST(TYPE);

	INDEPENDENT
	for (int64_t i = 0; i < n; i++) {
		number value = LOAD(TYPE, x[i]);

		value = value < low ? low : value;
		y[i] = STORE(TYPE, value > high ? high : value);
	}
}
SIGNATURE("split=n op=Clip", "in x " TEXT(TYPE) "[n], in? min " TEXT(TYPE) "[1], in? max " TEXT(
				     TYPE) "[1], out y@x " TEXT(TYPE) "[n], n i64");
