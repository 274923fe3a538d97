/* binary.c: elementwise operators of two inputs, in all forms: a, b -> y of the same type.
 *
 * variants: OP=Add,Mul,Max,Min TYPE=floats FORM=symmetric ISA=base,v3
 * variants: OP=Add,Mul,Max,Min TYPE=integers FORM=symmetric
 * variants: OP=Sub TYPE=floats FORM=forms ISA=base,v3
 * variants: OP=Add,Sub,Mul TYPE=floats FORM=cycle ISA=base,v3
 * variants: OP=Add,Sub,Mul TYPE=integers FORM=cycle
 * variants: OP=Div TYPE=f32,halves FORM=forms ISA=base,v3
 * variants: OP=Div TYPE=f64 FORM=forms
 * variants: OP=Sub,Div TYPE=integers FORM=forms
 * variants: OP=Pow TYPE=f32,halves FORM=same,scalar,row,column,lrow,strided ISA=base,v3
 * variants: OP=Pow TYPE=f32,halves FORM=lscalar,lcolumn
 * variants: OP=Pow TYPE=f64 FORM=same,row,lscalar,lrow,lcolumn,strided ISA=base,v3
 * variants: OP=Pow TYPE=f64 FORM=scalar,column
 * variants: OP=Pow TYPE=i32,i64 FORM=forms
 * variants: OP=Mod TYPE=numbers FORM=forms
 * variants: OP=Mod FMOD=1 TYPE=numbers FORM=forms
 * variants: OP=Atan2 TYPE=floats FORM=forms ISA=base,v3
 * variants: OP=FloorDiv TYPE=integers FORM=forms
 * variants: OP=FloorDiv,TruncDiv TYPE=floats FORM=same ISA=base,v3
 * variants: OP=FloorDiv,TruncDiv TYPE=floats FORM=strided
 * variants: OP=SquaredDifference TYPE=floats FORM=symmetric ISA=base,v3
 * variants: OP=SquaredDifference TYPE=i32,i64 FORM=symmetric
 * variants: OP=PRelu TYPE=floats FORM=same,scalar,row,column,strided ISA=base,v3
 * variants: OP=PRelu TYPE=i32,i64,u32,u64 FORM=same,scalar,row,column,strided
 * variants: OP=BitwiseAnd,BitwiseOr,BitwiseXor TYPE=integers FORM=symmetric
 * variants: OP=BitShift DIRECTION=LEFT,RIGHT TYPE=unsigned FORM=forms
 * variants: OP=And,Or,Xor TYPE=bool FORM=symmetric
 */
#include "kernels/family.h"
#include "kernels/math.h"

typedef STORED(TYPE) element;
typedef STORED(TYPE) result;
typedef COMPUTED(TYPE) number;

/* Integers wrap around (-fwrapv). */
static inline number op_Add(number a, number b)
{
	return a + b;
}

static inline number op_Sub(number a, number b)
{
	return a - b;
}

static inline number op_SquaredDifference(number a, number b)
{
	return (a - b) * (a - b);
}

static inline number op_Mul(number a, number b)
{
	return a * b;
}

/* A NaN on either side is the result. */
static inline number op_Max(number a, number b)
{
	number larger = a > b ? a : b;

	return a != a ? a : larger;
}

static inline number op_Min(number a, number b)
{
	number smaller = a < b ? a : b;

	return a != a ? a : smaller;
}

static inline number op_PRelu(number a, number b)
{
	return a < 0 ? a * b : a;
}

#if IS_FLOAT(TYPE)

static inline number op_Div(number a, number b)
{
	return a / b;
}

static inline number op_FloorDiv(number a, number b)
{
	return MATH(floor)(a / b);
}

static inline number op_TruncDiv(number a, number b)
{
	return MATH(trunc)(a / b);
}

static inline number op_Pow(number a, number b)
{
	return MATH(pow)(a, b);
}

static inline number op_Atan2(number a, number b)
{
	return MATH(atan2)(a, b);
}

static inline number op_Mod(number a, number b)
{
	number rest = MATH(fmod)(a, b);

#ifdef FMOD
	return rest;
#else
	return rest != 0 ? (rest < 0) != (b < 0) ? rest + b : rest : MATH(copysign)(rest, b);
#endif
}

#else

/* ONNX leaves division by zero open. The result here is 0, as in numpy, in which ONNX's reference is written: a model
 * may divide by zeros and discard the results later, and the processor's trap would end the process. -1 is handled
 * separately, since the smallest number divided by it traps. */
static inline number op_Div(number a, number b)
{
	number divisor = b == 0 || b == (number)-1 ? 1 : b, quotient = a / divisor;

	quotient = IS_SIGNED(TYPE) && b == (number)-1 ? -a : b == (number)-1 ? a == b : quotient;
	return b == 0 ? 0 : quotient;
}

/* Rounded down, not to 0. */
static inline number op_FloorDiv(number a, number b)
{
	number quotient = op_Div(a, b);

	return IS_SIGNED(TYPE) && b != 0 && (a < 0) != (b < 0) && quotient * b != a ? quotient - 1 : quotient;
}

/* With fmod=1 the remainder has the sign of a, otherwise that of b. */
static inline number op_Mod(number a, number b)
{
	number divisor = b == 0 || b == (number)-1 ? 1 : b, rest = a % divisor;

	rest = !IS_SIGNED(TYPE) && b == (number)-1 && a != b ? a : rest;
#ifdef FMOD
	return rest;
#else
	return IS_SIGNED(TYPE) && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
#endif
}

/* Negative powers are truncated like quotients: only those of 1 and -1 are not 0. Those of 0 are also 0. */
static inline number op_Pow(number a, number b)
{
	number power = 1;

	if (IS_SIGNED(TYPE) && b < 0)
		return a == 1 ? 1 : a == (number)-1 ? (b & 1 ? -1 : 1) : 0;
	for (; b; b >>= 1, a *= a)
		power = b & 1 ? power * a : power;
	return power;
}

static inline number op_BitwiseAnd(number a, number b)
{
	return a & b;
}

static inline number op_BitwiseOr(number a, number b)
{
	return a | b;
}

static inline number op_BitwiseXor(number a, number b)
{
	return a ^ b;
}

static inline number op_And(number a, number b)
{
	return a != 0 && b != 0;
}

static inline number op_Or(number a, number b)
{
	return a != 0 || b != 0;
}

static inline number op_Xor(number a, number b)
{
	return (a != 0) != (b != 0);
}

#define IS_SHIFT_LEFT  0
#define IS_SHIFT_RIGHT 1

/* Shifts by the type's number of bits or more give 0. */
static inline number op_BitShift(number a, number b)
{
	number within = b & (8 * sizeof(number) - 1);
#ifdef DIRECTION
	number shifted = JOIN(IS_SHIFT_, DIRECTION) ? a >> within : a << within;
#else
	number shifted = a;
#endif

	return b == within ? shifted : 0;
}

#endif

#if defined FMOD
#define CONDITION "fmod=1"
#elif defined DIRECTION
#define CONDITION "direction=" TEXT(DIRECTION)
#endif

#define RESULT TEXT(TYPE)
static inline result of_operands(element a, element b)
{
	return STORE(TYPE, JOIN(op_, OP)(LOAD(TYPE, a), LOAD(TYPE, b)));
}

#include "kernels/binary-forms.h"
