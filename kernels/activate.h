/* activate.h: activations that several families compute, in the computation type of the kernel. A source that includes
 * it has a typedef of `number`. */
#ifndef SK_KERNELS_ACTIVATE_H
#define SK_KERNELS_ACTIVATE_H

#include "kernels/math.h"

/* A NaN gives a NaN. */
static inline number relu(number x)
{
	return 0 > x ? 0 : x;
}

#if IS_FLOAT(TYPE)
static inline number gelu(number x)
{
	return (number)0.5 * x * (1 + MATH(erf)(x * (number)0.7071067811865476));
}

/* 0.5 (1 + tanh(t)) = sigmoid(2 t) */
static inline number gelu_tanh(number x)
{
	number twice = (number)1.5957691216057307 * (x + (number)0.044715 * x * x * x);

	return x * MATH(sigmoid)(twice);
}

static inline number swish(number x, number alpha)
{
	return x * MATH(sigmoid)(alpha * x);
}
#endif

#endif
