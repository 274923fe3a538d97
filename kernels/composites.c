/* composites.c: elementwise operators of two to four inputs with more than one operation, most of them elementwise
 * parts of gradients: x0, x1 ... -> y of the same type. The forms: same shapes, and `strided` for inputs of any
 * strides.
 *
 * variants: OP=RsqrtGrad,ReluGrad TYPE=floats FORM=same ISA=base,v3
 * variants: OP=SqrtGrad TYPE=f32,halves FORM=same ISA=base,v3
 * variants: OP=SqrtGrad TYPE=f64 FORM=same
 * variants: OP=SigmoidGrad,TanhGrad TYPE=f32,f64 FORM=same
 * variants: OP=SigmoidGrad,TanhGrad TYPE=halves FORM=same ISA=base,v3
 * variants: OP=SqrtGrad,RsqrtGrad,SigmoidGrad,TanhGrad,ReluGrad TYPE=floats FORM=strided
 * variants: OP=SoftplusGrad,SoftplusGradExt,SwishGrad,GeLUGrad TYPE=floats FORM=same ISA=base,v3
 * variants: OP=SoftplusGrad,SoftplusGradExt,SwishGrad,GeLUGrad TYPE=floats FORM=strided
 * variants: OP=SigmoidCrossEntropyWithLogits,SigmoidCrossEntropyWithLogitsGrad TYPE=floats FORM=same ISA=base,v3
 * variants: OP=SigmoidCrossEntropyWithLogits,SigmoidCrossEntropyWithLogitsGrad TYPE=floats FORM=strided
 * variants: OP=Addcmul,FusedMulAdd TYPE=floats FORM=same ISA=base,v3
 * variants: OP=ClipByNormNoDivSum TYPE=f32,halves FORM=same ISA=base,v3
 * variants: OP=ClipByNormNoDivSum TYPE=f64 FORM=same
 * variants: OP=Addcmul,ClipByNormNoDivSum,FusedMulAdd TYPE=floats FORM=strided
 */
#include "kernels/family.h"
#include "kernels/math.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

/* Each operator has its number of inputs, and those with attributes have them as parameters, as arguments, and in
 * signatures. */

/* ---- gradients of functions by their result y ---- */

#define INPUTS_SqrtGrad 2
static inline number op_SqrtGrad(number y, number gradient)
{
	return gradient / (2 * y);
}

#define INPUTS_RsqrtGrad 2
static inline number op_RsqrtGrad(number y, number gradient)
{
	return y * y * y * ((number)-0.5 * gradient);
}

#define INPUTS_SigmoidGrad 2
static inline number op_SigmoidGrad(number y, number gradient)
{
	return (1 - y) * (y * gradient);
}

#define INPUTS_TanhGrad 2
static inline number op_TanhGrad(number y, number gradient)
{
	return gradient * ((1 - y) * (1 + y));
}

/* ---- gradients of functions by their input x ---- */

#define INPUTS_ReluGrad 2
static inline number op_ReluGrad(number gradient, number x)
{
	return x > 0 ? gradient : 0;
}

#define INPUTS_SoftplusGrad 2
static inline number op_SoftplusGrad(number gradient, number x)
{
	return gradient * MATH(sigmoid)(x);
}

#define INPUTS_SoftplusGradExt	   2
#define PARAMETERS_SoftplusGradExt , float beta, float threshold
#define ARGUMENTS_SoftplusGradExt  , beta, threshold
#define ATTRIBUTES_SoftplusGradExt ", beta f32 = attr(beta, 1), threshold f32 = attr(threshold, 20)"
static inline number op_SoftplusGradExt(number gradient, number x, number beta, number threshold)
{
	number scaled = x * beta, part = gradient * MATH(sigmoid)(scaled);

	return scaled > threshold ? gradient : part;
}

/* gradient s(t) (1 + slope (1 - s(t))), where s is the logistic function: computed from one exponential, and without a
 * difference if s(t) is nearly 1. */
static inline number gated(number gradient, number t, number slope)
{
	number e = MATH(exp)(-MATH(abs)(t)), large = 1 / (1 + e), small = e * large;
	number gate = t < 0 ? small : large, rest = t < 0 ? large : small;

	return gradient * (gate * (1 + slope * rest));
}

/* The derivative of x sigmoid(alpha x). */
#define INPUTS_SwishGrad     2
#define PARAMETERS_SwishGrad , float alpha
#define ARGUMENTS_SwishGrad  , alpha
#define ATTRIBUTES_SwishGrad ", alpha f32 = attr(alpha, 1)"
static inline number op_SwishGrad(number gradient, number x, number alpha)
{
	return gated(gradient, alpha * x, alpha * x);
}

/* The derivative of x sigmoid(2 t), where t = sqrt(2 / pi) (x + 0.044715 x^3), which is Gelu with tanh. */
#define INPUTS_GeLUGrad 2
static inline number op_GeLUGrad(number gradient, number x)
{
	number square = x * x;
	number twice = (number)1.5957691216057307 * x * (1 + (number)0.044715 * square);
	number slope = (number)1.5957691216057307 * x * (1 + (number)0.134145 * square);

	return gated(gradient, twice, slope);
}

/* ---- a loss ---- */

#define INPUTS_SigmoidCrossEntropyWithLogits 2
static inline number op_SigmoidCrossEntropyWithLogits(number x, number label)
{
	/* softplus(x) - x label; if the label is 1 and x is large, that would be a difference of equal numbers. */
	return ((x > 0 ? x : 0) - x * label) + MATH(softplus)(-MATH(abs)(x));
}

#define INPUTS_SigmoidCrossEntropyWithLogitsGrad 3
static inline number op_SigmoidCrossEntropyWithLogitsGrad(number x, number label, number gradient)
{
	return (MATH(sigmoid)(x) - label) * gradient;
}

/* ---- others ---- */

#define INPUTS_FusedMulAdd 3
static inline number op_FusedMulAdd(number a, number b, number c)
{
	return a * b + c;
}

#define INPUTS_Addcmul 4
static inline number op_Addcmul(number sum, number a, number b, number factor)
{
	return sum + factor * (a * b);
}

/* The root of x, or of `other` if x is not more than `limit`, in which case x itself is the result. */
#define INPUTS_ClipByNormNoDivSum 4
static inline number op_ClipByNormNoDivSum(number x, number limit, number other, number least)
{
	number root = MATH(sqrt)(x > limit ? x : other), norm = x > limit ? root : x;

	return norm > least || norm != norm ? norm : least;
}

/* ---- lists of as many items as there are inputs ---- */

#define COUNT JOIN(INPUTS_, OP)
#if COUNT == 2
#define EACH(item)  item(0), item(1)
#define TEXTS(item) item(0) item(1)
#elif COUNT == 3
#define EACH(item)  item(0), item(1), item(2)
#define TEXTS(item) item(0) item(1) item(2)
#else
#define EACH(item)  item(0), item(1), item(2), item(3)
#define TEXTS(item) item(0) item(1) item(2) item(3)
#endif

#define HAS_ATTRIBUTES_SwishGrad       1
#define HAS_ATTRIBUTES_SoftplusGradExt 1
#if JOIN(HAS_ATTRIBUTES_, OP)
#define PARAMETERS JOIN(PARAMETERS_, OP)
#define ARGUMENTS  JOIN(ARGUMENTS_, OP)
#define ATTRIBUTES JOIN(ATTRIBUTES_, OP)
#else
#define PARAMETERS
#define ARGUMENTS
#define ATTRIBUTES ""
#endif

#define POINTER(i)	 const element *x##i
#define GIVEN(i)	 x##i
#define LOADED(i)	 LOAD(TYPE, x##i[at])
#define STRIDES(i)	 const int64_t *strides##i
#define PLACE(i)	 gathered(x##i + walk_place(&walk, strides##i), last_stride(rank, strides##i), chunks[i], run)
#define SAME_INPUT(i)	 "in x" #i " " TEXT(TYPE) "[n], "
#define STRIDED_INPUT(i) "in x" #i " " TEXT(TYPE) "[n" #i "], "
#define STRIDES_TEXT(i)	 ", strides" #i " ptr = attr(strides" #i ")"

static inline void apply(EACH(POINTER), element *y, int64_t n PARAMETERS)
{
	INDEPENDENT
	for (int64_t at = 0; at < n; at++)
		y[at] = STORE(TYPE, JOIN(op_, OP)(EACH(LOADED) ARGUMENTS));
}

#define IS_STRIDED_strided 1
#if !JOIN(IS_STRIDED_, FORM)

void KERNEL(EACH(POINTER), element *y, int64_t n PARAMETERS)
{
	apply(EACH(GIVEN), y, n ARGUMENTS);
}
SIGNATURE("split=n op=" TEXT(OP), TEXTS(SAME_INPUT) "out y@x0 " TEXT(TYPE) "[n], n i64" ATTRIBUTES);

#else

enum { CHUNK = 128 };

DEFINE_GATHERED(gathered, element)

void KERNEL(EACH(POINTER), element *y, int64_t n, int64_t first, int64_t rank, const int64_t *dims,
	    EACH(STRIDES) PARAMETERS)
{
	element chunks[COUNT][CHUNK];
	struct walk walk;
	int64_t run;

	walk_begin(&walk, rank, dims, first);
	for (; n > 0; n -= run, y += run) {
		run = walk_run(&walk, n < CHUNK ? n : CHUNK);
		apply(EACH(PLACE), y, run ARGUMENTS);
		walk_on(&walk, run);
	}
}
SIGNATURE("split=n op=" TEXT(OP) "(form=strided)",
	  TEXTS(STRIDED_INPUT) "out y " TEXT(TYPE) "[n], n i64, first i64 = begin(n), rank i64 = attr(rank), "
						   "dims ptr = attr(dims)" TEXTS(STRIDES_TEXT) ATTRIBUTES);

#endif
