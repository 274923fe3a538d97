/* Element types in skrun: conversion, printing, random filling. f16 and bf16 are converted by hand, since not every C
 * compiler has these types. */
#include "config.h"

#include "loader/skrun/skrun.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/skplan.h"
#include "loader/skrt.h"

uint32_t sk_element_size(enum skrt_dtype dtype)
{
	return sk_dtype_size((enum sk_dtype)dtype);
}

const char *sk_element_type_name(enum skrt_dtype dtype)
{
	return sk_dtype_name((enum sk_dtype)dtype);
}

/* ---- formats of 16 bits: sign, exponent, `fraction` bits of mantissa ---- */

static double widen(uint16_t bits, int fraction)
{
	int exponent_limit = (1 << (15 - fraction)) - 1, bias = exponent_limit / 2;
	int exponent = (bits & 0x7fff) >> fraction;
	double mantissa = bits & ((1 << fraction) - 1), value;

	if (exponent == exponent_limit)
		value = mantissa != 0 ? NAN : INFINITY;
	else if (exponent == 0)
		value = ldexp(mantissa, 1 - bias - fraction);
	else
		value = ldexp(mantissa + (1 << fraction), exponent - bias - fraction);
	return bits & 0x8000 ? -value : value;
}

/* Convert values that the format has exactly, and that are not infinite. */
static uint16_t narrow(double value, int fraction)
{
	int bias = ((1 << (15 - fraction)) - 1) / 2;
	double magnitude = fabs(value);
	uint16_t sign = signbit(value) ? 0x8000 : 0;

	if (magnitude == 0)
		return sign;
	int exponent = ilogb(magnitude);
	if (exponent < 1 - bias)
		exponent = 1 - bias; /* subnormal: the hidden bit below is missing, which lowers the exponent to 0 */
	unsigned mantissa = (unsigned)ldexp(magnitude, fraction - exponent);
	return (uint16_t)(sign | (((unsigned)(exponent + bias - 1) << fraction) + mantissa));
}

enum { F16_FRACTION = 10, BF16_FRACTION = 7 };

/* ---- one element ---- */

/* Elements are copied out byte by byte: mapped files give them any alignment. */
union element {
	int8_t i8;
	uint8_t u8;
	int16_t i16;
	uint16_t u16;
	int32_t i32;
	uint32_t u32;
	int64_t i64;
	uint64_t u64;
	float f32;
	double f64;
};

static union element load_element(enum skrt_dtype dtype, const void *data, uint64_t i)
{
	union element element = {.u64 = 0};
	uint32_t size = sk_element_size(dtype);

	memcpy(&element, (const char *)data + i * size, size);
	return element;
}

static int64_t integer(enum skrt_dtype dtype, union element element)
{
	switch (dtype) {
	case SKRT_I8:
		return element.i8;
	case SKRT_I16:
		return element.i16;
	case SKRT_I32:
		return element.i32;
	default:
		return element.i64; /* unsigned types: the bytes after the element are 0 */
	}
}

double sk_element_value(enum skrt_dtype dtype, const void *data, uint64_t i)
{
	union element element = load_element(dtype, data, i);

	switch (dtype) {
	case SKRT_F16:
		return widen(element.u16, F16_FRACTION);
	case SKRT_BF16:
		return widen(element.u16, BF16_FRACTION);
	case SKRT_F32:
		return (double)element.f32;
	case SKRT_F64:
		return element.f64;
	case SKRT_U64:
		return (double)element.u64;
	default:
		return (double)integer(dtype, element);
	}
}

/* Print the first of `few` to `enough` digits that read back as the same number, in a format with that many bits of
 * mantissa. */
static void print_real(double value, int few, int enough, int bits, char *text, size_t size)
{
	for (int precision = few; precision <= enough; precision++) {
		snprintf(text, size, "%.*g", precision, value);
		double error = fabs(strtod(text, NULL) - value);
		/* Nearer than half a unit in the last place. */
		if (!(error > 0) || error < ldexp(fabs(value), -bits - 1))
			break;
	}
}

const char *sk_element_print(enum skrt_dtype dtype, const void *data, uint64_t i, char *text, size_t size)
{
	double value = sk_element_value(dtype, data, i);

	switch (dtype) {
	case SKRT_F16:
		print_real(value, 4, 5, F16_FRACTION + 1, text, size);
		break;
	case SKRT_BF16:
		print_real(value, 3, 4, BF16_FRACTION + 1, text, size);
		break;
	case SKRT_F32:
		print_real(value, 6, 9, 24, text, size);
		break;
	case SKRT_F64:
		print_real(value, 15, 17, 53, text, size);
		break;
	case SKRT_U64:
		snprintf(text, size, "%" PRIu64, load_element(dtype, data, i).u64);
		break;
	default:
		snprintf(text, size, "%" PRId64, integer(dtype, load_element(dtype, data, i)));
		break;
	}
	return text;
}

/* ---- random elements ---- */

/* SplitMix64 (Steele, Lea, Flood 2014): a counter and a mixing function. */
static uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Return a number in [-1, 1) in steps of 2^(1 - bits). */
static double fraction(uint64_t random, int bits)
{
	return ldexp((double)(random >> (64 - bits)), 1 - bits) - 1;
}

static union element choose_element(enum skrt_dtype dtype, uint64_t random)
{
	union element element = {.u64 = 0};

	switch (dtype) {
	case SKRT_BOOL:
		element.u8 = (uint8_t)(random >> 63);
		break;
	case SKRT_F16:
		element.u16 = narrow(fraction(random, F16_FRACTION + 1), F16_FRACTION);
		break;
	case SKRT_BF16:
		element.u16 = narrow(fraction(random, BF16_FRACTION + 1), BF16_FRACTION);
		break;
	case SKRT_F32:
		element.f32 = (float)fraction(random, 24);
		break;
	case SKRT_F64:
		element.f64 = fraction(random, 53);
		break;
	case SKRT_U8:
	case SKRT_U16:
	case SKRT_U32:
	case SKRT_U64:
		element.u64 = random >> 60;
		break;
	default: /* two's complement, cut to the type's size */
		element.i64 = (int64_t)(random >> 60) - 8;
		break;
	}
	return element;
}

/* Cut the value to 16 bits, towards 0; if that is outside the range, the next number is not. */
static uint16_t narrow_within(double value, int bits, double low, double high)
{
	uint16_t result = narrow(value, bits);
	double cut = widen(result, bits);

	return (uint16_t)(result + (cut < low || cut > high));
}

static float round_within(double value, double low, double high)
{
	float result = (float)value;

	if ((double)result < low)
		return nextafterf(result, INFINITY);
	return (double)result > high ? nextafterf(result, -INFINITY) : result;
}

static union element choose_within(enum skrt_dtype dtype, uint64_t random, double low, double high)
{
	union element element = {.u64 = 0};
	double value = low + (high - low) * (double)(random >> 11) * 0x1p-53;

	switch (dtype) {
	case SKRT_F16:
		element.u16 = narrow_within(value, F16_FRACTION, low, high);
		break;
	case SKRT_BF16:
		element.u16 = narrow_within(value, BF16_FRACTION, low, high);
		break;
	case SKRT_F32:
		element.f32 = round_within(value, low, high);
		break;
	case SKRT_F64:
		element.f64 = value;
		break;
	default: /* two's complement, cut to the type's size; the ends are integers that a double has */
		element.i64 =
			(int64_t)low +
			(int64_t)((unsigned __int128)random * ((uint64_t)((int64_t)high - (int64_t)low) + 1) >> 64);
		break;
	}
	return element;
}

void sk_elements_fill(enum skrt_dtype dtype, void *data, uint64_t count, uint64_t seed, const char *name,
		      const double *range)
{
	const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
	uint32_t size = sk_element_size(dtype);
	uint64_t state = mix(seed + golden);

	for (const char *c = name; *c; c++)
		state = mix(state ^ (unsigned char)*c);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t random = mix(state += golden);
		union element element =
			range ? choose_within(dtype, random, range[0], range[1]) : choose_element(dtype, random);

		memcpy((char *)data + i * size, &element, size);
	}
}
