/* Numbers; see signature.h. f16 and bf16 are computed here, since not every C compiler has these types. */
#include "format/signature/signature.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/convention.h"
#include "format/skplan.h"

bool sk_integer_bits(uint64_t value, bool negative, enum sk_dtype type, uint64_t *bits)
{
	uint32_t width = 8 * sk_dtype_size(type);
	uint64_t mask = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
	uint64_t largest = sk_dtype_is_signed(type) ? mask >> 1 : type == SK_BOOL ? 1 : mask;

	*bits = value & mask;
	if (negative)
		return sk_dtype_is_signed(type) && -value <= largest + 1;
	return value <= largest;
}

/* Round to a format of 16 bits with `fraction` bits of mantissa, ties to even. */
static uint64_t narrow(double value, int fraction)
{
	int limit = (1 << (15 - fraction)) - 1, bias = limit / 2, exponent;
	uint64_t sign = signbit(value) ? 0x8000 : 0;
	double magnitude = fabs(value);

	if (isnan(value))
		return sign | (uint64_t)limit << fraction | (uint64_t)1 << (fraction - 1);
	if (isinf(value))
		return sign | (uint64_t)limit << fraction;
	if (magnitude == 0)
		return sign;
	exponent = ilogb(magnitude);
	if (exponent < 1 - bias)
		exponent = 1 - bias; /* subnormal: without the hidden bit, which is expressed by an exponent of 0 */

	/* A mantissa that is rounded up to the next power of two increments the exponent, up to infinity. */
	uint64_t mantissa = (uint64_t)rint(ldexp(magnitude, fraction - exponent));
	uint64_t result = exponent > bias ? (uint64_t)limit << fraction
					  : ((uint64_t)(exponent + bias - 1) << fraction) + mantissa;

	return sign | result;
}

static double double_of(const struct sk_number *number)
{
	return number->kind == SK_NUMBER_REAL ? number->real
	       : number->negative	      ? (double)number->integer
					      : (double)(uint64_t)number->integer;
}

/* Convert from the text, if there is one, since rounding twice may differ from rounding once. */
static float single_of(const struct sk_number *number)
{
	if (number->kind == SK_NUMBER_REAL)
		return isfinite(number->real) && number->text ? strtof(number->text, NULL) : (float)number->real;
	return number->negative ? (float)number->integer : (float)(uint64_t)number->integer;
}

static uint64_t float_bits(const struct sk_number *number, enum sk_dtype type)
{
	float single;
	double value = double_of(number);
	uint32_t bits32;
	uint64_t bits64;

	switch (type) {
	case SK_F16:
		return narrow(value, 10);
	case SK_BF16:
		return narrow(value, 7);
	case SK_F32:
		single = single_of(number);
		memcpy(&bits32, &single, sizeof(bits32));
		return bits32;
	default:
		memcpy(&bits64, &value, sizeof(bits64));
		return bits64;
	}
}

/* Return all bits except the sign, and those of infinity; 0 is 0 in all formats. */
static bool is_finite_and_not_zero(uint64_t bits, enum sk_dtype type)
{
	static const uint64_t infinities[SK_DTYPE_COUNT] = {
		[SK_F16] = 0x7c00, [SK_BF16] = 0x7f80, [SK_F32] = 0x7f800000, [SK_F64] = UINT64_C(0x7ff0000000000000)};
	uint64_t magnitude = bits & ~(UINT64_C(1) << (8 * sk_dtype_size(type) - 1));

	return magnitude != 0 && magnitude != infinities[type];
}

bool sk_number_bits(const struct sk_number *number, enum sk_dtype type, uint64_t *bits)
{
	double value = double_of(number);

	if (!sk_dtype_is_float(type))
		return number->kind == SK_NUMBER_INTEGER &&
		       sk_integer_bits((uint64_t)number->integer, number->negative, type, bits);
	*bits = float_bits(number, type);
	return value == 0 || !isfinite(value) || is_finite_and_not_zero(*bits, type);
}

bool sk_real_bits(double number, enum sk_dtype type, uint64_t *bits)
{
	struct sk_number written = {.kind = SK_NUMBER_REAL, .real = number};

	if (sk_dtype_is_float(type))
		return sk_number_bits(&written, type, bits);
	return number == floor(number) && fabs(number) < 0x1p53 &&
	       sk_integer_bits((uint64_t)(int64_t)number, number < 0, type, bits);
}
