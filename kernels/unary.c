/* unary.c: elementwise operators of one input, without attributes: x [n] -> y [n] of the same type.
 *
 * variants: OP=Abs,Sign TYPE=floats ISA=base,v3
 * variants: OP=Abs,Sign TYPE=integers
 * variants: OP=Neg,Relu TYPE=floats ISA=base,v3
 * variants: OP=Neg,Relu TYPE=signed
 * variants: OP=BitwiseNot TYPE=integers
 * variants: OP=Not TYPE=bool
 * variants: OP=Ceil,Floor,Round,Trunc,Square TYPE=floats ISA=base,v3
 * variants: OP=Sqrt,Rsqrt TYPE=f32,f64
 * variants: OP=Sqrt,Rsqrt TYPE=halves ISA=base,v3
 * variants: OP=Reciprocal,Softsign TYPE=f64
 * variants: OP=Reciprocal,Softsign TYPE=f32,halves ISA=base,v3
 * variants: OP=Exp,Expm1,Log,Log1p,Tanh,Sigmoid,Softplus,HardSwish,Mish,Erf,Gelu TYPE=floats ISA=base,v3
 * variants: OP=Square TYPE=i32,i64
 * variants: OP=Erf TYPE=integers
 * variants: OP=Erfc,Acosh TYPE=floats
 * variants: OP=HSigmoid TYPE=f32,halves ISA=base,v3
 * variants: OP=HSigmoid TYPE=f64
 * variants: OP=Erf,Gelu,Exp,Tanh,Sigmoid TYPE=f32 ISA=v4
 * variants: OP=Gelu APPROXIMATE=tanh TYPE=floats ISA=base,v3
 * variants: OP=Sin,Cos,Tan,Asin,Acos,Atan,Sinh,Cosh,Asinh,Atanh TYPE=floats ISA=base,v3
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

#include "kernels/activate.h"

static inline number op_Abs(number x)
{
#if IS_FLOAT(TYPE)
	return MATH(abs)(x);
#else
	return x < 0 ? -x : x;
#endif
}

static inline number op_Neg(number x)
{
	return -x;
}

/* A NaN gives a NaN. */
static inline number op_Sign(number x)
{
	return x > 0 ? 1 : x < 0 ? -1 : x;
}

static inline number op_Relu(number x)
{
	return relu(x);
}

static inline number op_Square(number x)
{
	return x * x;
}

#if !IS_FLOAT(TYPE)

static inline number op_BitwiseNot(number x)
{
	return ~x;
}

static inline number op_Not(number x)
{
	return x == 0;
}

/* The truncated result of erf in f64: above 5 no number lies between it and 1. */
static inline number op_Erf(number x)
{
	return x > 5 ? 1 : IS_SIGNED(TYPE) && x < -5 ? -1 : 0;
}

#else

/* Operators with a function in math-f32.h and math-f64.h. */
#define NAMED(operator, function)                                                                                      \
	static inline number op_##operator(number x)                                                                   \
	{                                                                                                              \
		return MATH(function)(x);                                                                              \
	}

NAMED(Ceil, ceil)
NAMED(Floor, floor)
NAMED(Round, round_even)
NAMED(Trunc, trunc)
NAMED(Sqrt, sqrt)
NAMED(Exp, exp)
NAMED(Expm1, expm1)
NAMED(Log, log)
NAMED(Log1p, log1p)
NAMED(Tanh, tanh)
NAMED(Sigmoid, sigmoid)
NAMED(Softplus, softplus)
NAMED(Erf, erf)
NAMED(Erfc, erfc)
NAMED(Sin, sin)
NAMED(Cos, cos)
NAMED(Tan, tan)
NAMED(Asin, asin)
NAMED(Acos, acos)
NAMED(Atan, atan)
NAMED(Sinh, sinh)
NAMED(Cosh, cosh)
NAMED(Asinh, asinh)
NAMED(Acosh, acosh)
NAMED(Atanh, atanh)

static inline number op_Reciprocal(number x)
{
	return 1 / x;
}

static inline number op_Rsqrt(number x)
{
	return 1 / MATH(sqrt)(x);
}

static inline number op_Softsign(number x)
{
	return x / (1 + MATH(abs)(x));
}

static inline number op_HSigmoid(number x)
{
	number gate = x / 6 + (number)0.5;

	gate = gate > 1 ? 1 : gate;
	return gate < 0 ? 0 : gate;
}

static inline number op_HardSwish(number x)
{
	return x * op_HSigmoid(x);
}

static inline number op_Mish(number x)
{
	return x * MATH(tanh)(MATH(softplus)(x));
}

static inline number op_Gelu(number x)
{
#ifdef APPROXIMATE
	return gelu_tanh(x);
#else
	return gelu(x);
#endif
}

#endif

#ifdef APPROXIMATE
#define CONDITION "(approximate=" TEXT(APPROXIMATE) ")"
#else
#define CONDITION ""
#endif

static inline void apply(const element *x, element *y, int64_t n)
{
	INDEPENDENT
	for (int64_t i = 0; i < n; i++)
		y[i] = STORE(TYPE, JOIN(op_, OP)(LOAD(TYPE, x[i])));
}

/* Large angles are slow and rare in the sine and similar functions: a chunk with one is computed element by element. */
#define IS_CIRCULAR_Sin 1
#define IS_CIRCULAR_Cos 1
#define IS_CIRCULAR_Tan 1
#if JOIN(IS_CIRCULAR_, OP)

NAMED(Sin_any, sin_any)
NAMED(Cos_any, cos_any)
NAMED(Tan_any, tan_any)

enum { CHUNK = 64 };

void KERNEL(const element *x, element *y, int64_t n)
{
	for (int64_t begin = 0; begin < n; begin += CHUNK) {
		int64_t length = n - begin < CHUNK ? n - begin : CHUNK;
		int large = 0;

		for (int64_t i = begin; i < begin + length; i++)
			large |= !MATH(is_small_angle)(LOAD(TYPE, x[i]));
		if (!large)
			apply(x + begin, y + begin, length);
		else
			for (int64_t i = begin; i < begin + length; i++)
				y[i] = STORE(TYPE, JOIN(JOIN(op_, OP), _any)(LOAD(TYPE, x[i])));
	}
}

#else

void KERNEL(const element *x, element *y, int64_t n)
{
	apply(x, y, n);
}

#endif

SIGNATURE("split=n:1 op=" TEXT(OP) CONDITION, "in x " TEXT(TYPE) "[n], out y@x " TEXT(TYPE) "[n], n i64");
