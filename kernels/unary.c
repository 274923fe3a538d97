/* unary.c: elementwise operators of one input, without attributes: x [n] -> y [n] of the same type.
 *
 * variants: OP=Relu TYPE=floats ISA=base,v3
 * variants: OP=Relu TYPE=signed
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

/* A NaN stays one. */
static inline number op_Relu(number x)
{
	return 0 > x ? 0 : x;
}

void KERNEL(const element *x, element *y, int64_t n)
{
	INDEPENDENT
	for (int64_t i = 0; i < n; i++)
		y[i] = STORE(TYPE, JOIN(op_, OP)(LOAD(TYPE, x[i])));
}
SIGNATURE("split=n op=" TEXT(OP), "in x " TEXT(TYPE) "[n], out y@x " TEXT(TYPE) "[n], n i64");
