/* activations.c: elementwise operators of one input, with one or two floats as attributes: x [n] -> y [n].
 *
 * variants: OP=LeakyRelu,ThresholdedRelu,Elu,Celu,Swish,Selu,HardSigmoid,Shrink,SoftplusExt TYPE=floats ISA=base,v3
 * variants: OP=Shrink TYPE=integers
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

#include "kernels/activate.h"

/* Each operator has a list of its attributes' names, as parameters, as arguments, and in signatures with ONNX's
 * defaults. */
#define ATTRIBUTE_OF(name, otherwise) ", " #name " f32 = attr(" #name ", " #otherwise ")"

#define PARAMETERS_Shrink float bias, float lambd
#define ARGUMENTS_Shrink  bias, lambd
#define ATTRIBUTES_Shrink ATTRIBUTE_OF(bias, 0) ATTRIBUTE_OF(lambd, 0.5)
#if !IS_FLOAT(TYPE)

/* Computed in f64 and truncated; results outside the type's range become the nearest number of the type, as with
 * Cast. */
static inline number op_Shrink(double x, float bias, float lambd)
{
	const double above = (double)(LARGEST(TYPE) / 2 + 1) * 2, low = (double)SMALLEST(TYPE);
	double moved = x < -lambd ? x + bias : x > lambd ? x - bias : 0;

	return moved >= above ? LARGEST(TYPE) : moved > low ? (number)moved : moved <= low ? SMALLEST(TYPE) : 0;
}

#else

static inline number op_Shrink(number x, number bias, number lambd)
{
	number above = x > lambd ? x - bias : 0; /* also for a NaN */

	return x < -lambd ? x + bias : above;
}

#define PARAMETERS_LeakyRelu float alpha
#define ARGUMENTS_LeakyRelu  alpha
#define ATTRIBUTES_LeakyRelu ATTRIBUTE_OF(alpha, 0.01)
static inline number op_LeakyRelu(number x, number alpha)
{
	return x < 0 ? alpha * x : x;
}

#define PARAMETERS_ThresholdedRelu float alpha
#define ARGUMENTS_ThresholdedRelu  alpha
#define ATTRIBUTES_ThresholdedRelu ATTRIBUTE_OF(alpha, 1)
static inline number op_ThresholdedRelu(number x, number alpha)
{
	return x > alpha ? x : 0; /* also for a NaN */
}

#define PARAMETERS_Elu float alpha
#define ARGUMENTS_Elu  alpha
#define ATTRIBUTES_Elu ATTRIBUTE_OF(alpha, 1)
static inline number op_Elu(number x, number alpha)
{
	number negative = alpha * MATH(expm1)(x);

	return x < 0 ? negative : x;
}

#define PARAMETERS_Celu float alpha
#define ARGUMENTS_Celu	alpha
#define ATTRIBUTES_Celu ATTRIBUTE_OF(alpha, 1)
static inline number op_Celu(number x, number alpha)
{
	number negative = alpha * MATH(expm1)(x / alpha);

	return x < 0 ? negative : x;
}

#define PARAMETERS_Swish float alpha
#define ARGUMENTS_Swish	 alpha
#define ATTRIBUTES_Swish ATTRIBUTE_OF(alpha, 1)
static inline number op_Swish(number x, number alpha)
{
	return swish(x, alpha);
}

#define PARAMETERS_Selu float alpha, float gamma
#define ARGUMENTS_Selu	alpha, gamma
#define ATTRIBUTES_Selu ATTRIBUTE_OF(alpha, 1.67326319217681884765625) ATTRIBUTE_OF(gamma, 1.05070102214813232421875)
static inline number op_Selu(number x, number alpha, number gamma)
{
	number negative = alpha * MATH(expm1)(x);

	return gamma * (x < 0 ? negative : x);
}

#define PARAMETERS_HardSigmoid float alpha, float beta
#define ARGUMENTS_HardSigmoid  alpha, beta
#define ATTRIBUTES_HardSigmoid ATTRIBUTE_OF(alpha, 0.2) ATTRIBUTE_OF(beta, 0.5)
static inline number op_HardSigmoid(number x, number alpha, number beta)
{
	number line = alpha * x + beta;

	line = line > 1 ? 1 : line;
	return line < 0 ? 0 : line;
}

/* log(1 + exp(beta x)) / beta, which is x itself from a threshold on. */
#define PARAMETERS_SoftplusExt float beta, float threshold
#define ARGUMENTS_SoftplusExt  beta, threshold
#define ATTRIBUTES_SoftplusExt ATTRIBUTE_OF(beta, 1) ATTRIBUTE_OF(threshold, 20)
static inline number op_SoftplusExt(number x, number beta, number threshold)
{
	number curve = MATH(softplus)(x * beta) / beta;

	return x * beta > threshold ? x : curve;
}

#endif

void KERNEL(const element *x, element *y, int64_t n, JOIN(PARAMETERS_, OP))
{
	INDEPENDENT
	for (int64_t i = 0; i < n; i++)
		y[i] = STORE(TYPE, JOIN(op_, OP)(LOAD(TYPE, x[i]), JOIN(ARGUMENTS_, OP)));
}
SIGNATURE("split=n:1 op=" TEXT(OP), "in x " TEXT(TYPE) "[n], out y@x " TEXT(TYPE) "[n], n i64" JOIN(ATTRIBUTES_, OP));
