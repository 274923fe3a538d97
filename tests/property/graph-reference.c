/* Computes the nodes of random graphs by ONNX's definitions: element after element, by indices in all dimensions, in
 * long double, or whole numbers for integers. It shares no code with sklink. Beside each element it stores how far a
 * result may be from it: half a unit of its type for the last rounding, a few units for functions, and one rounding for
 * each term of a sum, in the type that doc/reference/operators.md says is computed in. */
#include "tests/property/random-graph.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLACK = 6 /* units that a function may be off */ };

typedef __int128 whole;

/* ---- elements ---- */

static const struct format {
	uint32_t bits; /* of integers */
	bool is_signed;
	int digits, least, greatest; /* of floats: bits of the significand, exponents of normal numbers */
} formats[SK_DTYPE_COUNT] = {
	[SK_I8] = {8, true},
	[SK_U8] = {8, false},
	[SK_I16] = {16, true},
	[SK_U16] = {16, false},
	[SK_I32] = {32, true},
	[SK_U32] = {32, false},
	[SK_I64] = {64, true},
	[SK_U64] = {64, false},
	[SK_BOOL] = {8, false},
	[SK_F16] = {0, true, 11, -14, 15},
	[SK_BF16] = {0, true, 8, -126, 127},
	[SK_F32] = {0, true, 24, -126, 127},
	[SK_F64] = {0, true, 53, -1022, 1023},
};

static bool is_float(enum sk_dtype dtype)
{
	return formats[dtype].digits != 0;
}

number graph_unit(enum sk_dtype dtype, number x)
{
	const struct format *format = &formats[dtype];
	int exponent = x == 0 || !isfinite(x) ? format->least : ilogbl(x);

	return ldexpl(1, (exponent < format->least ? format->least : exponent) - format->digits + 1);
}

/* f16 and bf16: the sign, the exponent and the fraction of the nearest number. */
static uint16_t encode_half(enum sk_dtype dtype, number x)
{
	const struct format *format = &formats[dtype];
	uint16_t sign = signbit(x) ? 0x8000 : 0,
		 infinity = (uint16_t)((format->greatest * 2 + 1) << (format->digits - 1));
	number size = fabsl(x), step = graph_unit(dtype, size);
	int exponent;

	if (isnan(x))
		return (uint16_t)(infinity | 1u << (format->digits - 2));
	if (isinf(x))
		return sign | infinity;
	size = rintl(size / step) * step;
	if (size >= ldexpl(1, format->greatest + 1))
		return sign | infinity;
	if (size < ldexpl(1, format->least))
		return sign | (uint16_t)(size / step);
	exponent = ilogbl(size);
	return (uint16_t)(sign | (exponent - format->least + 1) << (format->digits - 1) |
			  ((uint16_t)ldexpl(size, format->digits - 1 - exponent) & ((1 << (format->digits - 1)) - 1)));
}

static number decode_half(enum sk_dtype dtype, uint16_t bits)
{
	const struct format *format = &formats[dtype];
	int exponent = (bits & 0x7fff) >> (format->digits - 1), fraction = bits & ((1 << (format->digits - 1)) - 1);
	number size;

	if (exponent == format->greatest * 2 + 1)
		size = fraction ? (number)NAN : HUGE_VALL;
	else if (exponent == 0)
		size = ldexpl(fraction, format->least - format->digits + 1);
	else
		size = ldexpl(fraction | 1 << (format->digits - 1), exponent - 1 + format->least - format->digits + 1);
	return bits & 0x8000 ? -size : size;
}

void graph_encode(enum sk_dtype dtype, const number *elements, int64_t count, void *bytes)
{
	uint32_t size = sk_dtype_size(dtype);

	for (int64_t i = 0; i < count; i++) {
		float single = (float)elements[i];
		double real = (double)elements[i];
		uint64_t bits;

		if (dtype == SK_F32)
			memcpy(&bits, &single, sizeof(single));
		else if (dtype == SK_F64)
			memcpy(&bits, &real, sizeof(real));
		else if (is_float(dtype))
			bits = encode_half(dtype, elements[i]);
		else
			bits = (uint64_t)(whole)elements[i];
		memcpy((uint8_t *)bytes + i * size, &bits, size);
	}
}

void graph_decode(enum sk_dtype dtype, const void *bytes, int64_t count, number *elements)
{
	uint32_t size = sk_dtype_size(dtype);

	for (int64_t i = 0; i < count; i++) {
		uint64_t bits = 0;
		float single;
		double real;

		memcpy(&bits, (const uint8_t *)bytes + i * size, size);
		memcpy(&single, &bits, sizeof(single));
		memcpy(&real, &bits, sizeof(real));
		if (dtype == SK_F32)
			elements[i] = (number)single;
		else if (dtype == SK_F64)
			elements[i] = (number)real;
		else if (is_float(dtype))
			elements[i] = decode_half(dtype, (uint16_t)bits);
		else if (formats[dtype].is_signed)
			elements[i] =
				(number)((int64_t)(bits << (64 - formats[dtype].bits)) >> (64 - formats[dtype].bits));
		else
			elements[i] = (number)bits;
	}
}

/* A result rounded to infinity may also be the greatest number, and the other way round. */
bool graph_is_near(enum sk_dtype dtype, number found, number expected, number room)
{
	number greatest;

	if (!is_float(dtype))
		return found == expected || room == HUGE_VALL || fabsl(found - expected) <= room;
	greatest = ldexpl(1, formats[dtype].greatest + 1);
	if (room == HUGE_VALL || isnan(room))
		return true;
	if (isnan(expected) || isnan(found))
		return isnan(expected) && isnan(found);
	if (isinf(found) && !isinf(expected))
		return signbit(found) == signbit(expected) && fabsl(expected) + room >= greatest;
	return found == expected || (!isinf(expected) && fabsl(found - expected) <= room) ||
	       (isinf(expected) && fabsl(found) + room >= greatest && signbit(found) == signbit(expected));
}

/* ---- inputs and outputs of a reference ---- */

struct question {
	const struct graph *graph;
	const struct graph_node *node;
	const struct graph_value *in[NODE_INPUTS], *out;
	uint32_t output; /* which one */
	number *expected, *room;
};

static enum sk_dtype wide_of(enum sk_dtype dtype)
{
	return dtype == SK_F64 ? SK_F64 : SK_F32;
}

/* The element is computed with an error, and rounded. */
static void near(const struct question *question, int64_t i, number expected, number error)
{
	enum sk_dtype dtype = question->out->dtype;

	question->expected[i] = expected;
	question->room[i] = error;
	if (is_float(dtype))
		question->room[i] += 0.501L * graph_unit(dtype, expected);
	if (is_float(dtype) && fabsl(expected) > ldexpl(1, formats[wide_of(dtype)].greatest - 1) && error > 0)
		question->room[i] = HUGE_VALL;
}

/* A function of which the kernels are some units off, of the larger one of the result and `scale`. */
static void approximate(const struct question *question, int64_t i, number expected, number scale)
{
	number size = fabsl(expected) > scale ? fabsl(expected) : scale;

	near(question, i, expected, SLACK * graph_unit(wide_of(question->out->dtype), size));
}

static void exact(const struct question *question, int64_t i, number expected)
{
	question->expected[i] = expected;
	question->room[i] = 0;
}

/* The lower bits of a whole number. */
static void wrapped(const struct question *question, int64_t i, whole value)
{
	const struct format *format = &formats[question->out->dtype];
	uint64_t bits = (uint64_t)value << (64 - format->bits);

	exact(question, i,
	      format->is_signed ? (number)((int64_t)bits >> (64 - format->bits))
				: (number)(bits >> (64 - format->bits)));
}

/* Return the error of a sum of so many terms, relative to the sum of their magnitudes. */
static number rounding(const struct question *question, int64_t terms)
{
	return ((number)terms + 8) * (wide_of(question->out->dtype) == SK_F64 ? 0x1p-53L : 0x1p-24L);
}

static void unravel(int64_t i, const struct graph_value *value, int64_t *index)
{
	for (uint32_t d = value->rank; d--; i /= value->shape[d])
		index[d] = i % value->shape[d];
}

static int64_t ravel(const struct graph_value *value, const int64_t *index)
{
	int64_t i = 0;

	for (uint32_t d = 0; d < value->rank; d++)
		i = i * value->shape[d] + index[d];
	return i;
}

/* The element of an input that is broadcast to the output. */
static number broadcast(const struct question *question, uint32_t input, const int64_t *index)
{
	const struct graph_value *value = question->in[input];
	uint32_t before = question->out->rank - value->rank;
	int64_t own[SK_MAX_RANK];

	for (uint32_t d = 0; d < value->rank; d++)
		own[d] = value->shape[d] == 1 ? 0 : index[before + d];
	return value->elements[ravel(value, own)];
}

/* ---- one input ---- */

static number sigmoid(number x)
{
	return 1 / (1 + expl(-x));
}

/* A NaN stays NaN. If `least` is above `most`, the result is `most`. */
static number clamp(number x, number least, number most)
{
	x = x < least ? least : x;
	return x > most ? most : x;
}

/* The line is off by the roundings of its product and its sum; only the part between the bounds counts. */
static void hard_sigmoid(const struct question *question, int64_t i, number x, number alpha, number beta)
{
	number line = alpha * x + beta, y = clamp(line, 0, 1);
	number error =
		rounding(question, 2) * (fabsl(alpha * x) + fabsl(beta)) + graph_unit(wide_of(question->out->dtype), 0);

	near(question, i, y, isfinite(line) ? fmaxl(clamp(line + error, 0, 1) - y, y - clamp(line - error, 0, 1)) : 0);
}

static void unary(const struct question *question, int64_t i, number x)
{
	const char *op = question->node->op;
	number alpha = (number)(float)question->node->alpha, beta = (number)(float)question->node->beta;

	if (!strcmp(op, "Sqrt"))
		near(question, i, sqrtl(x), 0);
	else if (!strcmp(op, "Reciprocal"))
		near(question, i, 1 / x, 0);
	else if (!strcmp(op, "Exp"))
		approximate(question, i, expl(x), 0);
	else if (!strcmp(op, "Log"))
		approximate(question, i, logl(x), 0);
	else if (!strcmp(op, "Tanh"))
		approximate(question, i, tanhl(x), 0);
	else if (!strcmp(op, "Sigmoid"))
		approximate(question, i, sigmoid(x), 0);
	else if (!strcmp(op, "Softplus"))
		approximate(question, i, (x > 0 ? x : 0) + log1pl(expl(-fabsl(x))), 0);
	else if (!strcmp(op, "Softsign"))
		approximate(question, i, x / (1 + fabsl(x)), 0);
	else if (!strcmp(op, "HardSwish"))
		approximate(question, i, x * clamp(x / 6 + 0.5L, 0, 1), fabsl(x));
	else if (!strcmp(op, "Erf") && !is_float(question->out->dtype))
		exact(question, i, truncl((double)erfl(x)));
	else if (!strcmp(op, "Erf"))
		approximate(question, i, erfl(x), 0);
	else if (!strcmp(op, "Sin"))
		approximate(question, i, sinl(x), 0);
	else if (!strcmp(op, "Cos"))
		approximate(question, i, cosl(x), 0);
	else if (!strcmp(op, "Atan"))
		approximate(question, i, atanl(x), 0);
	else if (!strcmp(op, "Sinh"))
		approximate(question, i, sinhl(x), 0);
	else if (!strcmp(op, "Asinh"))
		approximate(question, i, asinhl(x), 0);
	else if (!strcmp(op, "LeakyRelu"))
		approximate(question, i, x < 0 ? alpha * x : x, 0);
	else if (!strcmp(op, "ThresholdedRelu"))
		exact(question, i, x > alpha ? x : 0);
	else if (!strcmp(op, "Elu"))
		approximate(question, i, x < 0 ? alpha * expm1l(x) : x, 0);
	else if (!strcmp(op, "HardSigmoid"))
		hard_sigmoid(question, i, x, alpha, beta);
}

static void refer_function(const struct question *question)
{
	for (int64_t i = 0; i < question->out->count; i++)
		unary(question, i, question->in[0]->elements[i]);
}

static number round_even(number x)
{
	return rintl(x);
}

/* Exact operators, and those of integers. */
static void refer_simple(const struct question *question)
{
	const char *op = question->node->op;
	bool real = is_float(question->out->dtype);

	for (int64_t i = 0; i < question->out->count; i++) {
		number x = question->in[0]->elements[i];

		if (!strcmp(op, "BitwiseNot"))
			wrapped(question, i, -1 - (whole)x);
		else if (!strcmp(op, "Not"))
			exact(question, i, x == 0);
		else if (!strcmp(op, "IsNaN"))
			exact(question, i, isnan(x) != 0);
		else if (!strcmp(op, "IsInf"))
			exact(question, i, isinf(x) != 0);
		else if (!strcmp(op, "Abs") && !real)
			wrapped(question, i, x < 0 ? -(whole)x : (whole)x);
		else if (!strcmp(op, "Neg") && !real)
			wrapped(question, i, -(whole)x);
		else
			exact(question, i,
			      !strcmp(op, "Abs")     ? fabsl(x)
			      : !strcmp(op, "Neg")   ? -x
			      : !strcmp(op, "Sign")  ? (isnan(x) ? x : (x > 0) - (x < 0))
			      : !strcmp(op, "Relu")  ? (x < 0 ? 0 : x)
			      : !strcmp(op, "Ceil")  ? ceill(x)
			      : !strcmp(op, "Floor") ? floorl(x)
			      : !strcmp(op, "Round") ? round_even(x)
						     : x);
	}
}

static void refer_clip(const struct question *question)
{
	bool old = question->node->flag;

	for (int64_t i = 0; i < question->out->count; i++) {
		number x = question->in[0]->elements[i];
		number least = old ? (number)(float)question->node->alpha : question->in[1]->elements[0];
		number most = old				? (number)(float)question->node->beta
			      : question->node->input_count > 2 ? question->in[2]->elements[0]
								: HUGE_VALL;

		exact(question, i, clamp(x, least, most));
	}
}

/* Floats become the nearest integer towards zero; integers lose their upper bits. */
static void refer_cast(const struct question *question)
{
	const struct format *to = &formats[question->out->dtype];

	for (int64_t i = 0; i < question->out->count; i++) {
		number x = question->in[0]->elements[i];
		number most = ldexpl(1, (int)to->bits - to->is_signed) - 1, least = to->is_signed ? -most - 1 : 0;

		if (question->out->dtype == SK_BOOL)
			exact(question, i, x != 0);
		else if (is_float(question->out->dtype))
			near(question, i, x, 0);
		else if (!is_float(question->in[0]->dtype))
			wrapped(question, i, (whole)x);
		else
			exact(question, i, isnan(x) ? 0 : truncl(clamp(x, least, most)));
	}
}

static void refer_quantize(const struct question *question)
{
	const struct format *to = &formats[question->out->dtype];

	for (int64_t i = 0; i < question->out->count; i++) {
		float x = (float)question->in[0]->elements[i], scaled = x / (float)question->in[1]->elements[0];
		number y = rintl((number)scaled) + question->in[2]->elements[0];
		number most = ldexpl(1, (int)to->bits - to->is_signed) - 1, least = to->is_signed ? -most - 1 : 0;

		exact(question, i, clamp(y, least, most));
		if (isnan(scaled))
			question->room[i] = HUGE_VALL;
	}
}

/* A number of 32 bits may be rounded before it is multiplied. */
static void refer_dequantize(const struct question *question)
{
	for (int64_t i = 0; i < question->out->count; i++) {
		number y = (question->in[0]->elements[i] - question->in[2]->elements[0]) * question->in[1]->elements[0];

		near(question, i, y, question->in[0]->dtype == SK_I32 ? 0x1p-24L * fabsl(y) : 0);
	}
}

/* ---- several inputs ---- */

static number larger(number a, number b)
{
	return isnan(a) || isnan(b) ? (number)NAN : a > b ? a : b;
}

/* The rest with the sign of b; or as C has it, with the sign of a. */
static number rest(number a, number b, bool truncated)
{
	number r = fmodl(a, b);

	return !truncated && r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* Negative ones are quotients, cut off; 0 has none. */
static whole power_of(whole a, whole b)
{
	unsigned __int128 power = 1, square = (unsigned __int128)a;

	if (b < 0)
		return a == 1 || (a == -1 && b % 2 == 0) ? 1 : a == -1 ? -1 : 0;
	for (; b; b /= 2, square *= square)
		power *= b % 2 ? square : 1;
	return (whole)power;
}

static whole binary_whole(const struct graph_node *node, uint32_t bits, whole a, whole b)
{
	const char *op = node->op;

	if (!strcmp(op, "Add"))
		return a + b;
	if (!strcmp(op, "Sub"))
		return a - b;
	if (!strcmp(op, "Mul"))
		return (whole)((unsigned __int128)a * (unsigned __int128)b);
	if (!strcmp(op, "Div"))
		return b ? a / b : 0;
	if (!strcmp(op, "Mod"))
		return !b ? 0 : !node->flag && a % b && (a % b < 0) != (b < 0) ? a % b + b : a % b;
	if (!strcmp(op, "PRelu"))
		return a < 0 ? (whole)((unsigned __int128)a * (unsigned __int128)b) : a;
	if (!strcmp(op, "Pow"))
		return power_of(a, b);
	if (strstr(op, "And"))
		return a & b;
	if (strstr(op, "Xor"))
		return a ^ b;
	if (strstr(op, "Or"))
		return a | b;
	if (b >= bits) /* BitShift */
		return 0;
	return node->flag ? a << b : a >> b;
}

static void binary_real(const struct question *question, int64_t i, number a, number b)
{
	const char *op = question->node->op;

	if (!strcmp(op, "Add"))
		near(question, i, a + b, 0);
	else if (!strcmp(op, "Sub"))
		near(question, i, a - b, 0);
	else if (!strcmp(op, "Mul"))
		near(question, i, a * b, 0);
	else if (!strcmp(op, "Div"))
		near(question, i, a / b, 0);
	else if (!strcmp(op, "PRelu"))
		near(question, i, a < 0 ? a * b : a, 0);
	else if (!strcmp(op, "Pow"))
		approximate(question, i, powl(a, b), 0);
	else
		near(question, i, rest(a, b, true), 0);
}

static void refer_binary(const struct question *question)
{
	int64_t index[SK_MAX_RANK];

	for (int64_t i = 0; i < question->out->count; i++) {
		number a, b;

		unravel(i, question->out, index);
		a = broadcast(question, 0, index);
		b = broadcast(question, 1, index);
		if (is_float(question->out->dtype))
			binary_real(question, i, a, b);
		else
			wrapped(question, i,
				binary_whole(question->node, formats[question->out->dtype].bits, (whole)a, (whole)b));
	}
}

static void refer_comparison(const struct question *question)
{
	const char *op = question->node->op;
	int64_t index[SK_MAX_RANK];

	for (int64_t i = 0; i < question->out->count; i++) {
		number a, b;

		unravel(i, question->out, index);
		a = broadcast(question, 0, index);
		b = broadcast(question, 1, index);
		exact(question, i,
		      !strcmp(op, "Equal")	      ? a == b
		      : !strcmp(op, "Greater")	      ? a > b
		      : !strcmp(op, "Less")	      ? a < b
		      : !strcmp(op, "GreaterOrEqual") ? a >= b
						      : a <= b);
	}
}

/* Max, Min, Sum, Mean. Sums are rounded to their type at each step. */
static void refer_variadic(const struct question *question)
{
	const char *op = question->node->op;
	bool sums = !strcmp(op, "Sum") || !strcmp(op, "Mean"), most = !strcmp(op, "Max");
	uint32_t count = question->node->input_count;
	int64_t index[SK_MAX_RANK];

	for (int64_t i = 0; i < question->out->count; i++) {
		number y, size;

		unravel(i, question->out, index);
		y = broadcast(question, 0, index);
		size = fabsl(y);
		for (uint32_t k = 1; k < count; k++) {
			number x = broadcast(question, k, index);

			y = sums ? y + x : most ? larger(y, x) : -larger(-y, -x);
			size += fabsl(x);
		}
		if (!sums) {
			exact(question, i, y);
		} else {
			number divisor = strcmp(op, "Mean") ? 1 : count;

			near(question, i, y / divisor, (count - 1) * graph_unit(question->out->dtype, size) / divisor);
			if (size > ldexpl(1, formats[question->out->dtype].greatest))
				question->room[i] = HUGE_VALL; /* on the way */
		}
	}
}

static void refer_where(const struct question *question)
{
	int64_t index[SK_MAX_RANK];

	for (int64_t i = 0; i < question->out->count; i++) {
		unravel(i, question->out, index);
		exact(question, i, broadcast(question, broadcast(question, 0, index) != 0 ? 1 : 2, index));
	}
}

/* ---- operators that move elements: the source of each place ---- */

/* From the index of the output to that of the input; false: nothing comes there. */
typedef bool trace_function(const struct question *question, const int64_t *index, uint32_t *input, int64_t *from);

static void refer_moved(const struct question *question, trace_function *trace)
{
	for (int64_t i = 0; i < question->out->count; i++) {
		int64_t index[SK_MAX_RANK], from[SK_MAX_RANK];
		uint32_t input = 0;

		unravel(i, question->out, index);
		memcpy(from, index, sizeof(from));
		if (trace(question, index, &input, from))
			exact(question, i, question->in[input]->elements[ravel(question->in[input], from)]);
		else
			exact(question, i, (number)question->node->alpha);
	}
}

static void refer_same_order(const struct question *question)
{
	for (int64_t i = 0; i < question->out->count; i++)
		exact(question, i, question->in[0]->elements[i]);
}

static bool trace_transpose(const struct question *question, const int64_t *index, uint32_t *input, int64_t *from)
{
	(void)input;
	for (uint32_t d = 0; d < question->out->rank; d++)
		from[question->node->list[d]] = index[d];
	return true;
}

static bool trace_slice(const struct question *question, const int64_t *index, uint32_t *input, int64_t *from)
{
	(void)input;
	for (uint32_t d = 0; d < question->out->rank; d++)
		from[d] = question->node->starts[d] + index[d] * question->node->steps[d];
	return true;
}

static bool trace_concat(const struct question *question, const int64_t *index, uint32_t *input, int64_t *from)
{
	int64_t axis = question->node->axis;

	(void)index;
	while (from[axis] >= question->in[*input]->shape[axis])
		from[axis] -= question->in[(*input)++]->shape[axis];
	return true;
}

static bool trace_split(const struct question *question, const int64_t *index, uint32_t *input, int64_t *from)
{
	(void)index;
	(void)input;
	for (uint32_t i = 0; i < question->output; i++)
		from[question->node->axis] += question->node->list[i];
	return true;
}

static bool trace_expand(const struct question *question, const int64_t *index, uint32_t *input, int64_t *from)
{
	const struct graph_value *x = question->in[0];
	uint32_t before = question->out->rank - x->rank;

	(void)input;
	for (uint32_t d = 0; d < x->rank; d++)
		from[d] = x->shape[d] == 1 ? 0 : index[before + d];
	return true;
}

static bool trace_tile(const struct question *question, const int64_t *index, uint32_t *input, int64_t *from)
{
	(void)input;
	for (uint32_t d = 0; d < question->out->rank; d++)
		from[d] = index[d] % question->in[0]->shape[d];
	return true;
}

static bool trace_gather(const struct question *question, const int64_t *index, uint32_t *input, int64_t *from)
{
	const struct graph_value *x = question->in[0], *indices = question->in[1];
	int64_t axis = question->node->axis, row = (int64_t)indices->elements[ravel(indices, index + axis)];

	(void)input;
	from[axis] = row < 0 ? row + x->shape[axis] : row;
	for (uint32_t d = (uint32_t)axis + 1; d < x->rank; d++)
		from[d] = index[d + indices->rank - 1];
	return true;
}

static bool trace_gather_elements(const struct question *question, const int64_t *index, uint32_t *input, int64_t *from)
{
	int64_t axis = question->node->axis, row = (int64_t)question->in[1]->elements[ravel(question->in[1], index)];

	(void)input;
	from[axis] = row < 0 ? row + question->in[0]->shape[axis] : row;
	return true;
}

static bool trace_gather_nd(const struct question *question, const int64_t *index, uint32_t *input, int64_t *from)
{
	const struct graph_value *x = question->in[0], *tuples = question->in[1];
	int64_t tuple[SK_MAX_RANK], length = question->node->axis;
	uint32_t before = tuples->rank - 1;

	(void)input;
	memcpy(tuple, index, before * sizeof(*tuple));
	for (uint32_t d = 0; d < x->rank; d++) {
		tuple[before] = d;
		from[d] = d < length ? (int64_t)tuples->elements[ravel(tuples, tuple)] : index[before + d - length];
		from[d] += from[d] < 0 ? x->shape[d] : 0;
	}
	return true;
}

static bool trace_pad(const struct question *question, const int64_t *index, uint32_t *input, int64_t *from)
{
	const char *mode = question->node->mode;
	bool inside = true;

	(void)input;
	for (uint32_t d = 0; d < question->out->rank; d++) {
		int64_t last = question->in[0]->shape[d] - 1;

		from[d] = index[d] - question->node->starts[d];
		if (from[d] >= 0 && from[d] <= last)
			continue;
		inside = false;
		if (!strcmp(mode, "edge"))
			from[d] = from[d] < 0 ? 0 : last;
		else if (!strcmp(mode, "reflect"))
			from[d] = from[d] < 0 ? -from[d] : 2 * last - from[d];
	}
	return inside || strcmp(mode, "constant");
}

static bool trace_depth_to_space(const struct question *question, const int64_t *index, uint32_t *input, int64_t *from)
{
	int64_t block = question->node->axis, part = index[2] % block * block + index[3] % block;

	(void)input;
	from[1] = question->node->flag ? index[1] * block * block + part : part * question->out->shape[1] + index[1];
	from[2] = index[2] / block;
	from[3] = index[3] / block;
	return true;
}

static bool trace_space_to_depth(const struct question *question, const int64_t *index, uint32_t *input, int64_t *from)
{
	int64_t block = question->node->axis, part = index[1] / question->in[0]->shape[1];

	(void)input;
	from[1] = index[1] % question->in[0]->shape[1];
	from[2] = index[2] * block + part / block;
	from[3] = index[3] * block + part % block;
	return true;
}

static bool trace_trilu(const struct question *question, const int64_t *index, uint32_t *input, int64_t *from)
{
	uint32_t rank = question->out->rank;
	int64_t behind = index[rank - 1] - index[rank - 2] - question->node->axis;

	(void)input;
	(void)from;
	return question->node->flag ? behind >= 0 : behind <= 0;
}

#define MOVED(NAME)                                                                                                    \
	static void refer_##NAME(const struct question *question)                                                      \
	{                                                                                                              \
		refer_moved(question, trace_##NAME);                                                                   \
	}

MOVED(transpose)
MOVED(slice)
MOVED(concat)
MOVED(split)
MOVED(expand)
MOVED(tile)
MOVED(gather)
MOVED(gather_elements)
MOVED(gather_nd)
MOVED(pad)
MOVED(depth_to_space)
MOVED(space_to_depth)
MOVED(trilu)

/* ---- scattering: each update in turn ---- */

/* Return the place of element i of the updates. */
static int64_t target_index(const struct question *question, int64_t i)
{
	const struct graph_value *x = question->in[0], *indices = question->in[1];
	int64_t index[SK_MAX_RANK], to[SK_MAX_RANK], tuple[SK_MAX_RANK], axis = question->node->axis;
	bool tuples = !strcmp(question->node->op, "ScatterND");
	uint32_t before = tuples ? indices->rank - 1 : 0;

	unravel(i, question->in[2], index);
	memcpy(tuple, index, before * sizeof(*tuple));
	for (uint32_t d = 0; d < x->rank; d++) {
		bool named = tuples ? d < axis : d == axis;

		if (tuples)
			tuple[before] = d;
		to[d] = named	 ? (int64_t)indices->elements[tuples ? ravel(indices, tuple) : i]
			: tuples ? index[before + d - axis]
				 : index[d];
		to[d] += to[d] < 0 ? x->shape[d] : 0;
	}
	return ravel(x, to);
}

/* Sums and products of floats are rounded each time. */
static void meet(const struct question *question, int64_t at, number update)
{
	const char *mode = question->node->mode;
	enum sk_dtype dtype = question->out->dtype;
	number old = question->expected[at];

	if (!strcmp(mode, "none")) {
		exact(question, at, update);
	} else if (!strcmp(mode, "max") || !strcmp(mode, "min")) {
		exact(question, at, *mode == 'm' && mode[1] == 'a' ? larger(old, update) : -larger(-old, -update));
	} else if (!is_float(dtype)) {
		wrapped(question, at,
			!strcmp(mode, "add")
				? (whole)old + (whole)update
				: (whole)((unsigned __int128)(whole)old * (unsigned __int128)(whole)update));
	} else {
		bool adds = !strcmp(mode, "add");
		number room = question->room[at] * (adds ? 1 : fabsl(update));

		near(question, at, adds ? old + update : old * update, 0);
		question->room[at] += room + graph_unit(dtype, question->expected[at]);
	}
}

static void refer_scatter(const struct question *question)
{
	refer_same_order(question);
	for (int64_t i = 0; i < question->in[2]->count; i++)
		meet(question, target_index(question, i), question->in[2]->elements[i]);
}

static void refer_shape(const struct question *question)
{
	for (int64_t i = 0; i < question->out->count; i++)
		exact(question, i, (number)question->in[0]->shape[i]);
}

static void refer_zeros(const struct question *question)
{
	for (int64_t i = 0; i < question->out->count; i++)
		exact(question, i, 0);
}

static void refer_range(const struct question *question)
{
	for (int64_t i = 0; i < question->out->count; i++)
		exact(question, i, (number)(question->node->starts[0] + i * question->node->steps[0]));
}

/* ---- rows: the elements along axes ---- */

/* Elements of the first input that are in one row, and their places. */
struct row {
	int64_t count, *places;
	number *elements;
};

static struct row create_row(const struct graph_value *value)
{
	struct row row = {.places = calloc((size_t)value->count + 1, sizeof(int64_t)),
			  .elements = calloc((size_t)value->count + 1, sizeof(number))};

	if (!row.places || !row.elements)
		abort();
	return row;
}

static void free_row(struct row *row)
{
	free(row->places);
	free(row->elements);
}

/* Collect the row of all elements with the index `base` except along the axes of the mask. */
static void fill_row(struct row *row, const struct graph_value *x, uint32_t mask, const int64_t *base)
{
	row->count = 0;
	for (int64_t i = 0; i < x->count; i++) {
		int64_t index[SK_MAX_RANK];
		bool is_in = true;

		unravel(i, x, index);
		for (uint32_t d = 0; d < x->rank; d++)
			is_in = is_in && (mask >> d & 1 || index[d] == base[d]);
		if (!is_in)
			continue;
		row->places[row->count] = i;
		row->elements[row->count++] = x->elements[i];
	}
}

static number log_sum_exp(const struct row *row, number most)
{
	number sum = 0;

	for (int64_t i = 0; i < row->count; i++)
		sum += expl(row->elements[i] - most);
	return most + logl(sum);
}

struct sums {
	number sum, size, squares, product, most, least, rise, fall;
};

static struct sums add_up(const struct row *row)
{
	struct sums sums = {.product = 1, .most = -HUGE_VALL, .least = HUGE_VALL, .rise = 1, .fall = 1};

	for (int64_t i = 0; i < row->count; i++) {
		number x = row->elements[i], size = fabsl(x);

		sums.sum += x;
		sums.size += size;
		sums.squares += x * x;
		sums.product *= x;
		sums.most = larger(sums.most, x);
		sums.least = -larger(-sums.least, -x);
		if (size > 1)
			sums.rise *= size;
		else if (size != 0)
			sums.fall *= size;
	}
	return sums;
}

/* An overflow or underflow on the way depends on the order. */
static void reduce_real(const struct question *question, int64_t i, const struct row *row)
{
	const char *op = question->node->op;
	struct sums sums = add_up(row);
	number error = rounding(question, row->count), tiny = ldexpl(1, formats[wide_of(question->out->dtype)].least);
	number greatest = ldexpl(1, formats[wide_of(question->out->dtype)].greatest);

	if (!strcmp(op, "ReduceSum"))
		near(question, i, sums.sum, error * sums.size);
	else if (!strcmp(op, "ReduceMean"))
		near(question, i, sums.sum / row->count, error * sums.size / row->count);
	else if (!strcmp(op, "ReduceMax"))
		exact(question, i, sums.most);
	else if (!strcmp(op, "ReduceMin"))
		exact(question, i, sums.least);
	else if (!strcmp(op, "ReduceProd"))
		near(question, i, sums.product, error * fabsl(sums.product));
	else if (!strcmp(op, "ReduceL1"))
		near(question, i, sums.size, error * sums.size);
	else if (!strcmp(op, "ReduceL2"))
		near(question, i, sqrtl(sums.squares), error * sqrtl(sums.squares) + sqrtl(tiny));
	else if (!strcmp(op, "ReduceSumSquare"))
		near(question, i, sums.squares, error * sums.squares + tiny);
	else
		near(question, i, log_sum_exp(row, sums.most), 8 * error * (1 + fabsl(sums.most)));
	if (isfinite(sums.squares) &&
	    (sums.squares > greatest || sums.size > greatest ||
	     (!strcmp(op, "ReduceProd") && (sums.rise > greatest || sums.fall < tiny))) &&
	    strcmp(op, "ReduceMax") && strcmp(op, "ReduceMin"))
		question->room[i] = HUGE_VALL;
	if (strstr(op, "LogSumExp") && (!row->count || !isfinite(sums.most)))
		question->room[i] = HUGE_VALL;
}

static void reduce_whole(const struct question *question, int64_t i, const struct row *row)
{
	const char *op = question->node->op;
	const struct format *format = &formats[question->out->dtype];
	unsigned __int128 sum = 0, size = 0, squares = 0, product = 1;
	number most = format->is_signed ? -ldexpl(1, (int)format->bits - 1) : 0;
	number least = ldexpl(1, (int)format->bits - format->is_signed) - 1;

	for (int64_t k = 0; k < row->count; k++) {
		whole x = (whole)row->elements[k];

		sum += (unsigned __int128)x;
		size += (unsigned __int128)(x < 0 ? -x : x);
		squares += (unsigned __int128)x * (unsigned __int128)x;
		product *= (unsigned __int128)x;
		most = larger(most, row->elements[k]);
		least = -larger(-least, -row->elements[k]);
	}
	if (!strcmp(op, "ReduceMax") || !strcmp(op, "ReduceMin"))
		exact(question, i, !strcmp(op, "ReduceMax") ? most : least);
	else
		wrapped(question, i,
			(whole)(!strcmp(op, "ReduceSum")	 ? sum
				: !strcmp(op, "ReduceL1")	 ? size
				: !strcmp(op, "ReduceSumSquare") ? squares
								 : product));
}

/* Return the index at which an output element's row begins: with kept dimensions, or with the remaining ones. */
static void begin_of_row(const struct question *question, uint32_t mask, bool keeps, const int64_t *index,
			 int64_t *base)
{
	uint32_t at = 0;

	for (uint32_t d = 0; d < question->in[0]->rank; d++) {
		base[d] = mask >> d & 1 ? 0 : index[at];
		at += keeps || !(mask >> d & 1);
	}
}

static void refer_reduction(const struct question *question)
{
	struct row row = create_row(question->in[0]);
	int64_t index[SK_MAX_RANK], base[SK_MAX_RANK];
	uint32_t mask = 0;

	for (int64_t i = 0; i < question->node->list_count; i++)
		mask |= 1u << question->node->list[i];
	for (int64_t i = 0; i < question->out->count; i++) {
		unravel(i, question->out, index);
		begin_of_row(question, mask, question->node->flag, index, base);
		fill_row(&row, question->in[0], mask, base);
		if (is_float(question->out->dtype))
			reduce_real(question, i, &row);
		else
			reduce_whole(question, i, &row);
	}
	free_row(&row);
}

/* Return whether a comes before b if the largest or the smallest comes first; NaNs are the largest of all in TopK, and
 * win in ArgMax and ArgMin. */
static bool is_before(number a, number b, bool largest, bool nan_first)
{
	if (isnan(a) || isnan(b))
		return nan_first ? isnan(a) && !isnan(b) : !isnan(a) && isnan(b);
	return largest ? a > b : a < b;
}

static void refer_arg(const struct question *question)
{
	struct row row = create_row(question->in[0]);
	uint32_t mask = 1u << question->node->axis;
	bool most = !strcmp(question->node->op, "ArgMax");
	int64_t index[SK_MAX_RANK], base[SK_MAX_RANK];

	for (int64_t i = 0; i < question->out->count; i++) {
		int64_t best = 0;

		unravel(i, question->out, index);
		begin_of_row(question, mask, question->node->flag, index, base);
		fill_row(&row, question->in[0], mask, base);
		for (int64_t k = 1; k < row.count; k++)
			if (question->node->other_flag ? !is_before(row.elements[best], row.elements[k], most, true)
						       : is_before(row.elements[k], row.elements[best], most, true))
				best = k;
		exact(question, i, (number)best);
	}
	free_row(&row);
}

/* Called for each row along the axis; the output has the same rows. */
typedef void map_function(const struct question *question, const struct row *row);

static void refer_rows(const struct question *question, uint32_t mask, map_function *map)
{
	const struct graph_value *x = question->in[0];
	struct row row = create_row(x);

	for (int64_t i = 0; i < x->count; i++) {
		int64_t index[SK_MAX_RANK];
		bool first = true;

		unravel(i, x, index);
		for (uint32_t d = 0; d < x->rank; d++)
			first = first && (!(mask >> d & 1) || !index[d]);
		if (!first)
			continue;
		fill_row(&row, x, mask, index);
		map(question, &row);
	}
	free_row(&row);
}

static void map_softmax(const struct question *question, const struct row *row)
{
	number most = add_up(row).most, sum = 0, error = rounding(question, row->count);
	bool logs = !strcmp(question->node->op, "LogSoftmax");

	for (int64_t k = 0; k < row->count; k++)
		sum += expl(row->elements[k] - most);
	for (int64_t k = 0; k < row->count; k++) {
		number x = row->elements[k] - most, y = logs ? x - logl(sum) : expl(x) / sum;
		number reach = 1 + fabsl(x) + (logs ? logl(sum) : 0);

		near(question, row->places[k], y, error * reach * (logs ? 1 : y) + 0x1p-126L);
		if (isinf(most)) /* open: differences of infinities */
			question->room[row->places[k]] = HUGE_VALL;
	}
}

static void map_hardmax(const struct question *question, const struct row *row)
{
	int64_t best = 0;
	bool unordered = isnan(row->elements[0]);

	for (int64_t k = 1; k < row->count; k++) {
		best = is_before(row->elements[k], row->elements[best], true, true) ? k : best;
		unordered = unordered || isnan(row->elements[k]);
	}
	for (int64_t k = 0; k < row->count; k++) {
		exact(question, row->places[k], k == best);
		if (unordered)
			question->room[row->places[k]] = HUGE_VALL;
	}
}

static void refer_softmax(const struct question *question)
{
	uint32_t axis = (uint32_t)question->node->axis, all = (1u << question->out->rank) - 1;
	bool hard = !strcmp(question->node->op, "Hardmax");

	refer_rows(question, question->node->flag ? all & ~((1u << axis) - 1) : 1u << axis,
		   hard ? map_hardmax : map_softmax);
}

static void map_cumsum(const struct question *question, const struct row *row)
{
	const struct graph_node *node = question->node;
	number sum = 0, size = 0, error = rounding(question, row->count);
	unsigned __int128 total = 0;

	for (int64_t k = 0; k < row->count; k++) {
		int64_t at = node->other_flag ? row->count - 1 - k : k;
		number x = row->elements[at];
		bool real = is_float(question->out->dtype);

		if (!node->flag) {
			sum += x;
			size += fabsl(x);
			total += real ? 0 : (unsigned __int128)(whole)x;
		}
		if (real)
			near(question, row->places[at], sum, error * size);
		else
			wrapped(question, row->places[at], (whole)total);
		if (node->flag) {
			sum += x;
			size += fabsl(x);
			total += real ? 0 : (unsigned __int128)(whole)x;
		}
	}
}

static void refer_cumsum(const struct question *question)
{
	refer_rows(question, 1u << question->node->axis, map_cumsum);
}

/* The t-th element of the sorted row has t elements before it. */
static void refer_topk(const struct question *question)
{
	struct row row = create_row(question->in[0]);
	bool largest = question->node->flag;

	for (int64_t i = 0; i < question->out->count; i++) {
		int64_t index[SK_MAX_RANK];

		unravel(i, question->out, index);
		fill_row(&row, question->in[0], 1u << question->node->axis, index);
		for (int64_t k = 0; k < row.count; k++) {
			int64_t before = 0;

			for (int64_t other = 0; other < row.count; other++)
				before += is_before(row.elements[other], row.elements[k], largest, largest) ||
					  (other < k &&
					   !is_before(row.elements[k], row.elements[other], largest, largest));
			if (before == index[question->node->axis])
				exact(question, i, question->output ? (number)k : row.elements[k]);
		}
	}
	free_row(&row);
}

/* ---- normalisations ---- */

/* The room covers the bits that large numbers with a small variance lose. */
static void normalize(const struct question *question, const struct row *row, bool centred,
		      number (*scale)(const struct question *, int64_t, number, number *))
{
	struct sums sums = add_up(row);
	number mean = centred ? sums.sum / row->count : 0, variance = 0, error = rounding(question, row->count), factor,
	       lost;

	for (int64_t k = 0; k < row->count; k++)
		variance += (row->elements[k] - mean) * (row->elements[k] - mean) / row->count;
	factor = 1 / sqrtl(variance + (number)0.01f);
	lost = centred ? sums.size / row->count * factor : 0;
	for (int64_t k = 0; k < row->count; k++) {
		/* An x that is denormal has lost bits before it is scaled. */
		number x = (row->elements[k] - mean) * factor, size = fabsl(x) + lost + 0x1p-126L;
		number y = scale(question, row->places[k], x, &size);

		number reach = (1 + fabsl(mean)) * factor; /* of an element and of the mean, scaled */

		scale(question, row->places[k], 0, &reach);
		near(question, row->places[k], y, error * (1 + fabsl(mean) * factor) * (size + fabsl(y)));
		if (sums.squares > 0x1p100L || reach > ldexpl(1, formats[wide_of(question->out->dtype)].greatest - 1))
			question->room[row->places[k]] = HUGE_VALL;
	}
}

static number scale_layer(const struct question *question, int64_t place, number x, number *size)
{
	int64_t at = place % question->in[1]->count;
	number bias = question->node->input_count > 2 ? question->in[2]->elements[at] : 0;

	*size = *size * fabsl(question->in[1]->elements[at]) + fabsl(bias);
	return x * question->in[1]->elements[at] + bias;
}

static void map_layer(const struct question *question, const struct row *row)
{
	normalize(question, row, !strcmp(question->node->op, "LayerNormalization"), scale_layer);
}

static void refer_layer_norm(const struct question *question)
{
	uint32_t all = (1u << question->out->rank) - 1;

	refer_rows(question, all & ~((1u << question->node->axis) - 1), map_layer);
}

static number scale_channel(const struct question *question, int64_t place, number x, number *size)
{
	int64_t index[SK_MAX_RANK];

	unravel(place, question->out, index);
	*size = *size * fabsl(question->in[1]->elements[index[1]]) + fabsl(question->in[2]->elements[index[1]]);
	return x * question->in[1]->elements[index[1]] + question->in[2]->elements[index[1]];
}

static void map_channel(const struct question *question, const struct row *row)
{
	normalize(question, row, true, scale_channel);
}

static void refer_instance_norm(const struct question *question)
{
	refer_rows(question, ((1u << question->out->rank) - 1) & ~3u, map_channel);
}

static void refer_batch_norm(const struct question *question)
{
	for (int64_t i = 0; i < question->out->count; i++) {
		int64_t index[SK_MAX_RANK];
		number factor, mean, bias, x = question->in[0]->elements[i];

		unravel(i, question->out, index);
		factor = question->in[1]->elements[index[1]] /
			 sqrtl(question->in[4]->elements[index[1]] + (number)0.01f);
		bias = question->in[2]->elements[index[1]];
		mean = question->in[3]->elements[index[1]];
		/* Differences, the factor and products can be denormal, and each has lost bits then. */
		near(question, i, (x - mean) * factor + bias,
		     rounding(question, 4) * ((fabsl(x) + fabsl(mean)) * fabsl(factor) + fabsl(bias)) +
			     (2 + fabsl(x) + fabsl(mean) + fabsl(factor)) *
				     graph_unit(wide_of(question->out->dtype), 0));
		if (fabsl(x * factor) + fabsl(mean * factor) + fabsl(factor) > 0x1p120L)
			question->room[i] = HUGE_VALL;
	}
}

/* ---- products and windows ---- */

/* A sum of products with the sizes of its terms, from which its error follows, and the sum of integers. */
struct dot {
	number sum, size;
	unsigned __int128 total;
	int64_t count;
};

static void add_product(struct dot *dot, number a, number b, bool real)
{
	dot->count++;
	dot->sum += a * b;
	dot->size += fabsl(a * b);
	if (!real)
		dot->total += (unsigned __int128)(whole)a * (unsigned __int128)(whole)b;
}

static void end_dot(const struct question *question, int64_t i, const struct dot *dot)
{
	if (is_float(question->out->dtype))
		near(question, i, dot->sum,
		     rounding(question, dot->count) * dot->size +
			     (number)dot->count * graph_unit(wide_of(question->out->dtype), 0));
	else
		wrapped(question, i, (whole)dot->total);
	if (is_float(question->out->dtype) && isfinite(dot->size) &&
	    dot->size > ldexpl(1, formats[wide_of(question->out->dtype)].greatest - 1))
		question->room[i] = HUGE_VALL;
}

/* A vector is a matrix of one row on the left, of one column on the right. */
static void refer_product(const struct question *question)
{
	const struct graph_value *a = question->in[0], *b = question->in[1], *out = question->out;
	int64_t k = a->shape[a->rank - 1];
	uint32_t batch = out->rank - (a->rank > 1) - (b->rank > 1);

	for (int64_t i = 0; i < out->count; i++) {
		int64_t index[SK_MAX_RANK], left[SK_MAX_RANK], right[SK_MAX_RANK];
		struct dot dot = {0};

		unravel(i, out, index);
		for (uint32_t d = 0; d + 2 < a->rank; d++)
			left[d] = a->shape[d] == 1 ? 0 : index[batch - (a->rank - 2) + d];
		for (uint32_t d = 0; d + 2 < b->rank; d++)
			right[d] = b->shape[d] == 1 ? 0 : index[batch - (b->rank - 2) + d];
		if (a->rank > 1)
			left[a->rank - 2] = index[batch];
		if (b->rank > 1)
			right[b->rank - 1] = index[out->rank - 1];
		for (int64_t p = 0; p < k; p++) {
			left[a->rank - 1] = p;
			right[b->rank > 1 ? b->rank - 2 : 0] = p;
			add_product(&dot, a->elements[ravel(a, left)], b->elements[ravel(b, right)],
				    is_float(out->dtype));
		}
		end_dot(question, i, &dot);
	}
}

/* Sums of bytes, each times the scale of its column. */
static void refer_scaled_product(const struct question *question)
{
	const struct graph_value *a = question->in[0], *b = question->in[1], *scale = question->in[2];
	int64_t k = a->shape[1], n = b->shape[1];

	for (int64_t i = 0; i < question->out->count; i++) {
		number sum = 0, y;

		for (int64_t p = 0; p < k; p++)
			sum += a->elements[i / n * k + p] * b->elements[p * n + i % n];
		y = sum * scale->elements[i % n];
		near(question, i, y, rounding(question, 1) * fabsl(y));
	}
}

/* Each of the product, its multiple, and the sum may be rounded to the type. Products below the normal numbers may lose
 * all that they have. */
static void refer_gemm(const struct question *question)
{
	const struct graph_value *a = question->in[0], *b = question->in[1];
	bool left = question->node->flag, right = question->node->other_flag;
	number alpha = (number)question->node->alpha, beta = (number)question->node->beta;
	int64_t k = a->shape[!left];

	for (int64_t i = 0; i < question->out->count; i++) {
		int64_t index[SK_MAX_RANK];
		struct dot dot = {0};
		number bias = 0;

		unravel(i, question->out, index);
		for (int64_t p = 0; p < k; p++)
			add_product(&dot, a->elements[left ? p * a->shape[1] + index[0] : index[0] * k + p],
				    b->elements[right ? index[1] * k + p : p * b->shape[1] + index[1]], true);
		if (question->node->input_count > 2 && beta != 0)
			bias = beta * broadcast(question, 2, index);
		near(question, i, alpha * dot.sum + bias,
		     rounding(question, k) * (fabsl(alpha) * dot.size + fabsl(bias)) +
			     fabsl(alpha) * (graph_unit(question->out->dtype, dot.size) +
					     (number)dot.count * graph_unit(wide_of(question->out->dtype), 0)) +
			     2 * graph_unit(question->out->dtype, fabsl(alpha) * dot.size + fabsl(bias)));
		if (isfinite(dot.size) &&
		    fmaxl(fabsl(alpha), 1) * dot.size + fabsl(bias) > ldexpl(1, formats[question->out->dtype].greatest))
			question->room[i] = HUGE_VALL;
	}
}

/* Call `see` for each place of the window that lies in the input, and return how many there are. Places are numbers in
 * the spatial extents. */
static int64_t look_through(const struct question *question, const int64_t *index, int64_t *places, int64_t *taps)
{
	const struct graph_node *node = question->node;
	const struct graph_value *x = question->in[0];
	int64_t all = 1, count = 0;

	for (int64_t d = 0; d < node->list_count; d++)
		all *= node->list[d];
	for (int64_t tap = 0; tap < all; tap++) {
		int64_t place = 0, left = tap, tap_index[SK_MAX_RANK];
		bool inside = true;

		for (int64_t d = node->list_count; d--; left /= node->list[d])
			tap_index[d] = left % node->list[d];
		for (int64_t d = 0; d < node->list_count; d++) {
			int64_t at =
				index[2 + d] * node->steps[d] - node->starts[d] + tap_index[d] * node->dilations[d];

			inside = inside && at >= 0 && at < x->shape[2 + d];
			place = place * x->shape[2 + d] + at;
		}
		if (inside) {
			places[count] = place;
			taps[count++] = tap;
		}
	}
	return count;
}

enum { MOST_TAPS = 256 };

static int64_t extent(const struct graph_value *value)
{
	int64_t count = 1;

	for (uint32_t d = 2; d < value->rank; d++)
		count *= value->shape[d];
	return count;
}

/* Return whether all the weights of a filter are finite. */
static bool is_finite(const struct graph_value *w, int64_t filter)
{
	int64_t count = w->count / w->shape[0];

	for (int64_t i = 0; i < count; i++)
		if (!isfinite(w->elements[filter * count + i]))
			return false;
	return true;
}

static void refer_conv(const struct question *question)
{
	const struct graph_value *x = question->in[0], *w = question->in[1];
	int64_t places[MOST_TAPS], taps[MOST_TAPS], filters = w->shape[0] / question->node->group, depth = w->shape[1];

	for (int64_t i = 0; i < question->out->count; i++) {
		int64_t index[SK_MAX_RANK], count;
		struct dot dot = {0};

		unravel(i, question->out, index);
		count = look_through(question, index, places, taps);
		for (int64_t c = 0; c < depth; c++)
			for (int64_t t = 0; t < count; t++)
				add_product(&dot,
					    x->elements[(index[0] * x->shape[1] + index[1] / filters * depth + c) *
								extent(x) +
							places[t]],
					    w->elements[(index[1] * depth + c) * extent(w) + taps[t]], true);
		if (question->node->input_count > 2)
			add_product(&dot, question->in[2]->elements[index[1]], 1, true);
		end_dot(question, i, &dot);
		if (count < extent(w) && !is_finite(w, index[1])) /* whether the padding is multiplied is open */
			question->room[i] = HUGE_VALL;
	}
}

static void refer_pool(const struct question *question)
{
	const struct graph_value *x = question->in[0];
	bool most = !strcmp(question->node->op, "MaxPool");
	int64_t places[MOST_TAPS], taps[MOST_TAPS], window = 1;

	for (int64_t d = 0; d < question->node->list_count; d++)
		window *= question->node->list[d];
	for (int64_t i = 0; i < question->out->count; i++) {
		int64_t index[SK_MAX_RANK], count;
		number sum = 0, size = 0, best = -HUGE_VALL;

		unravel(i, question->out, index);
		count = look_through(question, index, places, taps);
		for (int64_t t = 0; t < count; t++) {
			number element = x->elements[(index[0] * x->shape[1] + index[1]) * extent(x) + places[t]];

			sum += element;
			size += fabsl(element);
			best = element > best ? element : best;
		}
		if (most)
			exact(question, i, best);
		else
			near(question, i, sum / (question->node->flag ? window : count),
			     rounding(question, count) * size);
		if (isnan(size) || !count || (!most && size > 0x1p120L))
			question->room[i] = HUGE_VALL;
	}
}

/* ---- recurrent networks ---- */

enum { MOST_HIDDEN = 16 };

/* One direction of one row of the batch. */
struct recurrence {
	const struct question *question;
	int64_t direction, batch, hidden, width, gates;
	number h[MOST_HIDDEN], c[MOST_HIDDEN];
};

/* The contributions of a step's input, and of a state, to unit u of a gate, each with its bias. */
static number from_input(const struct recurrence *run, int64_t step, int64_t gate, int64_t u)
{
	const struct graph_value *x = run->question->in[0], *w = run->question->in[1], *bias = run->question->in[3];
	int64_t row = run->direction * run->gates * run->hidden + gate * run->hidden + u;
	number sum = bias ? bias->elements[row + run->direction * run->gates * run->hidden] : 0;

	for (int64_t i = 0; i < run->width; i++)
		sum += x->elements[(step * x->shape[1] + run->batch) * run->width + i] *
		       w->elements[row * run->width + i];
	return sum;
}

static number from_state(const struct recurrence *run, const number *state, int64_t gate, int64_t u)
{
	const struct graph_value *r = run->question->in[2], *bias = run->question->in[3];
	int64_t row = run->direction * run->gates * run->hidden + gate * run->hidden + u;
	number sum = bias ? bias->elements[row + (run->direction + 1) * run->gates * run->hidden] : 0;

	for (int64_t i = 0; i < run->hidden; i++)
		sum += state[i] * r->elements[row * run->hidden + i];
	return sum;
}

static number gate_of(const struct recurrence *run, int64_t step, int64_t gate, int64_t u)
{
	return from_input(run, step, gate, u) + from_state(run, run->h, gate, u);
}

/* Gates are z, r, h of GRU, and i, o, f, c of LSTM. */
static void take_step(struct recurrence *run, int64_t step)
{
	number h[MOST_HIDDEN], held[MOST_HIDDEN];

	for (int64_t u = 0; u < run->hidden && run->gates == 3; u++)
		held[u] = sigmoid(gate_of(run, step, 1, u)) * run->h[u];
	for (int64_t u = 0; u < run->hidden; u++)
		if (run->gates == 1) {
			h[u] = tanhl(gate_of(run, step, 0, u));
		} else if (run->gates == 3) {
			number z = sigmoid(gate_of(run, step, 0, u)), r = sigmoid(gate_of(run, step, 1, u));
			number state = run->question->node->flag ? r * from_state(run, run->h, 2, u)
								 : from_state(run, held, 2, u);

			h[u] = (1 - z) * tanhl(from_input(run, step, 2, u) + state) + z * run->h[u];
		} else {
			run->c[u] = sigmoid(gate_of(run, step, 2, u)) * run->c[u] +
				    sigmoid(gate_of(run, step, 0, u)) * tanhl(gate_of(run, step, 3, u));
			h[u] = sigmoid(gate_of(run, step, 1, u)) * tanhl(run->c[u]);
		}
	memcpy(run->h, h, sizeof(h));
}

/* Errors add up over the steps, and those of f16 and bf16 are of a state that is rounded each time. */
static void put_state(const struct recurrence *run, int64_t at, const number *state, int64_t steps)
{
	enum sk_dtype dtype = run->question->out->dtype;
	number terms = (number)(run->width + run->hidden + 2);

	for (int64_t u = 0; u < run->hidden; u++) {
		number size = 1 + fabsl(state[u]);

		near(run->question, at * run->hidden + u, state[u],
		     (number)(steps + 1) * (16 * terms * graph_unit(wide_of(dtype), size) +
					    (dtype == wide_of(dtype) ? 0 : 4 * graph_unit(dtype, size))));
	}
}

static void refer_recurrent(const struct question *question)
{
	const struct graph_value *x = question->in[0], *w = question->in[1], *r = question->in[2];
	int64_t directions = w->shape[0], steps = x->shape[0], batch = x->shape[1];

	for (int64_t d = 0; d < directions; d++)
		for (int64_t b = 0; b < batch; b++) {
			struct recurrence run = {question, d,  b, r->shape[2], x->shape[2], r->shape[1] / r->shape[2],
						 {0},	   {0}};
			bool back = d || !strcmp(question->node->mode, "reverse");

			for (int64_t s = 0; s < steps; s++) {
				int64_t step = back ? steps - 1 - s : s;

				take_step(&run, step);
				if (!question->output)
					put_state(&run, (step * directions + d) * batch + b, run.h, s);
			}
			if (question->output)
				put_state(&run, d * batch + b, question->output == 1 ? run.h : run.c, steps);
		}
}

/* ---- the table ---- */

static const struct {
	const char *ops; /* between blanks */
	void (*refer)(const struct question *question);
} references[] = {
	{" Sqrt Reciprocal Exp Log Tanh Sigmoid Softplus Softsign HardSwish Erf Sin Cos Atan Sinh Asinh LeakyRelu "
	 "ThresholdedRelu Elu HardSigmoid ",
	 refer_function},
	{" Abs Neg Sign Relu BitwiseNot Not Ceil Floor Round IsNaN IsInf Identity ", refer_simple},
	{" Add Sub Mul Div Mod Pow PRelu And Or Xor BitwiseAnd BitwiseOr BitwiseXor BitShift ", refer_binary},
	{" Equal Greater Less GreaterOrEqual LessOrEqual ", refer_comparison},
	{" Max Min Sum Mean ", refer_variadic},
	{" Where ", refer_where},
	{" Clip ", refer_clip},
	{" Cast ", refer_cast},
	{" QuantizeLinear ", refer_quantize},
	{" DequantizeLinear ", refer_dequantize},
	{" Reshape Flatten Squeeze Unsqueeze ", refer_same_order},
	{" Transpose ", refer_transpose},
	{" Slice ", refer_slice},
	{" Concat ", refer_concat},
	{" Split ", refer_split},
	{" Expand ", refer_expand},
	{" Tile ", refer_tile},
	{" Gather ", refer_gather},
	{" GatherElements ", refer_gather_elements},
	{" GatherND ", refer_gather_nd},
	{" ScatterElements ScatterND ", refer_scatter},
	{" RNN GRU LSTM ", refer_recurrent},
	{" Pad ", refer_pad},
	{" DepthToSpace ", refer_depth_to_space},
	{" SpaceToDepth ", refer_space_to_depth},
	{" Trilu ", refer_trilu},
	{" Shape ", refer_shape},
	{" ConstantOfShape ", refer_zeros},
	{" Range ", refer_range},
	{" ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSumExp ",
	 refer_reduction},
	{" ArgMax ArgMin ", refer_arg},
	{" Softmax LogSoftmax Hardmax ", refer_softmax},
	{" CumSum ", refer_cumsum},
	{" TopK ", refer_topk},
	{" LayerNormalization RMSNormalization ", refer_layer_norm},
	{" InstanceNormalization ", refer_instance_norm},
	{" BatchNormalization ", refer_batch_norm},
	{" MatMul MatMulInteger ", refer_product},
	{" sklink:QuantBatchMatmul ", refer_scaled_product},
	{" Gemm ", refer_gemm},
	{" Conv ", refer_conv},
	{" MaxPool AveragePool ", refer_pool},
};

bool graph_reference(const struct graph *graph, const struct graph_node *node, uint32_t output, number *expected,
		     number *room)
{
	struct question question = {.graph = graph,
				    .node = node,
				    .out = &graph->values[node->outputs[output]],
				    .output = output,
				    .expected = expected,
				    .room = room};
	char word[64];

	for (uint32_t i = 0; i < node->input_count; i++)
		question.in[i] = &graph->values[node->inputs[i]];
	snprintf(word, sizeof(word), " %s ", node->op);
	for (size_t i = 0; i < sizeof(references) / sizeof(*references); i++)
		if (strstr(references[i].ops, word)) {
			references[i].refer(&question);
			return true;
		}
	return false;
}
