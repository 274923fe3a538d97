/* swiglu.c: SwiGlu, x sigmoid(x) times the gated tensor. FORM=joined has both side by side, x [o,2,h] -> y [o,h], with
 * the activated one first; FORM=two has them as x [n], gated [n] -> y [n]. The bytes are those of Swish and Mul.
 *
 * variants: OP=SwiGlu TYPE=floats FORM=joined,two ISA=base,v3
 * variants: OP=SwiGlu TYPE=f32 FORM=joined,two ISA=v4
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

#include "kernels/activate.h"

static inline void gate(const element *x, const element *gated, element *y, int64_t n)
{
	INDEPENDENT
	for (int64_t i = 0; i < n; i++) {
		element activated = STORE(TYPE, swish(LOAD(TYPE, x[i]), 1));
		y[i] = STORE(TYPE, LOAD(TYPE, activated) * LOAD(TYPE, gated[i]));
	}
}

#define T	  TEXT(TYPE)
#define IS_joined 1
#define IS_two	  0
#define JOINED	  JOIN(IS_, FORM)
#if JOINED
void KERNEL(const element *x, element *y, int64_t o, int64_t h)
{
	for (int64_t row = 0; row < o; row++)
		gate(x + 2 * row * h, x + (2 * row + 1) * h, y + row * h, h);
}
SIGNATURE("split=o op=" TEXT(OP), "in x " T "[o,2,h], out y " T "[o,h], o i64, h i64");
#else
void KERNEL(const element *x, const element *gated, element *y, int64_t n)
{
	gate(x, gated, y, n);
}
SIGNATURE("split=n op=" TEXT(OP), "in x " T "[n], in gated " T "[n], out y@x " T "[n], n i64");
#endif
