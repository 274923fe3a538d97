/* batchnorm.c: BatchNormalization with the statistics of each channel given: x [n,c,i] -> y [n,c,i], scale, bias, mean
 * and variance [c], in f32 if x is f16 or bf16.
 *
 * variants: OP=BatchNormalization TYPE=floats ISA=base,v3
 */
#include "kernels/family.h"
#include "kernels/math.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

#define WORD_f32  "f32"
#define WORD_f64  "f64"
#define WORD_f16  "f32"
#define WORD_bf16 "f32"
#define NUMBERS	  JOIN(WORD_, TYPE)
#define T	  TEXT(TYPE)

/* Each row is of one channel: row r of channel r % c. */
void KERNEL(const element *x, const number *scale, const number *bias, const number *mean, const number *variance,
	    element *y, int64_t r, int64_t first, int64_t c, int64_t i, float epsilon)
{
	for (int64_t row = first; row < first + r; row++, x += i, y += i) {
		int64_t channel = row % c;
		number factor = scale[channel] / MATH(sqrt)(variance[channel] + (number)epsilon);
		number middle = mean[channel], more = bias[channel];

		INDEPENDENT
		for (int64_t p = 0; p < i; p++)
			y[p] = STORE(TYPE, (LOAD(TYPE, x[p]) - middle) * factor + more);
	}
}
SIGNATURE("split=r op=" TEXT(OP), "in x " T "[r,i], in scale " NUMBERS "[c], in bias " NUMBERS "[c], in mean " NUMBERS
				  "[c], in variance " NUMBERS "[c], out y@x " T
				  "[r,i], r i64, first i64 = begin(r), c i64, i i64, epsilon f32 = "
				  "attr(epsilon, 1e-5)");
