/* math-f32.h: functions of one f32, in f32, without branches, so that loops of them vectorize; infinities, NaNs, signed
 * zeros and denormal numbers have the results of IEEE 754 and C's annex F. doc/reference/operators.md has the distances
 * from the exact results. Functions on which usual networks spend no time are computed in f64.
 *
 * Polynomials are minimax approximations, fitted by exchange; each comment gives the polynomial's error. */
#ifndef SK_KERNELS_MATH_F32_H
#define SK_KERNELS_MATH_F32_H

#include "kernels/family.h"
#include "kernels/math-f64.h"

#define POLYNOMIAL_F32(x, ...)                                                                                         \
	polynomial_f32(x, (const float[]){__VA_ARGS__}, sizeof((const float[]){__VA_ARGS__}) / sizeof(float))

/* c[0] + c[1] x + ...; unrolled, since count is known. */
static inline __attribute__((always_inline)) float polynomial_f32(float x, const float *c, unsigned long count)
{
	float sum = c[count - 1];

#pragma GCC unroll 32
	for (unsigned long i = count - 1; i-- > 0;)
		sum = sum * x + c[i];
	return sum;
}

static inline float abs_f32(float x)
{
	return from_bits_f32(bits_f32(x) & 0x7fffffffu);
}

static inline float copysign_f32(float x, float sign)
{
	return from_bits_f32((bits_f32(x) & 0x7fffffffu) | (bits_f32(sign) & 0x80000000u));
}

/* ---- rounding ---- */

/* Ties to even. Adding 2^23 leaves no room for a fraction. */
static inline float round_even_f32(float x)
{
	float magnitude = abs_f32(x), rounded = (magnitude + 0x1p23f) - 0x1p23f;

	return copysign_f32(magnitude < 0x1p23f ? rounded : magnitude, x);
}

static inline float trunc_f32(float x)
{
	float magnitude = abs_f32(x), rounded = (magnitude + 0x1p23f) - 0x1p23f;

	rounded = rounded > magnitude ? rounded - 1 : rounded;
	return copysign_f32(magnitude < 0x1p23f ? rounded : magnitude, x);
}

static inline float floor_f32(float x)
{
	float rounded = round_even_f32(x);

	return copysign_f32(rounded > x ? rounded - 1 : rounded, x);
}

static inline float ceil_f32(float x)
{
	float rounded = round_even_f32(x);

	return copysign_f32(rounded < x ? rounded + 1 : rounded, x);
}

static inline float sqrt_f32(float x)
{
	return __builtin_sqrtf(x);
}

/* ---- exponentials ---- */

/* x * 2^power, for x near 1 and powers of -250 to 250, rounded once. */
static inline float scale_f32(float x, int32_t power)
{
	int32_t half = power >> 1;

	return x * from_bits_f32((uint32_t)(half + 127) << 23) * from_bits_f32((uint32_t)(power - half + 127) << 23);
}

/* x = power * log(2) + rest, |rest| <= log(2) / 2; returns exp(rest) - 1. For a NaN, power is any number. */
static inline float expm1_reduced_f32(float x, int32_t *power)
{
	float shifted = x * 0x1.715476p+0f + 0x1.8p23f, whole = shifted - 0x1.8p23f;
	/* The first part of log(2) has so few bits that its product is exact. */
	float rest = x - whole * 0x1.62e4p-1f - whole * 0x1.7f7d1cp-20f;

	*power = (int32_t)(bits_f32(shifted) - bits_f32(0x1.8p23f));
	/* 2^-26 of the result. */
	return rest +
	       rest * rest *
		       POLYNOMIAL_F32(rest, 0x1.0p-1f, 0x1.5554aep-3f, 0x1.555484p-5f, 0x1.12297ep-7f, 0x1.6d9adcp-10f);
}

static inline float exp_f32(float x)
{
	int32_t power;

	x = x < -104 ? -104 : x;
	x = x > 89 ? 89 : x;
	float rest = expm1_reduced_f32(x, &power);
	return scale_f32(1 + rest, power);
}

static inline float expm1_f32(float x)
{
	int32_t power;
	float limited = x < -20 ? -20 : x;

	limited = limited > 89 ? 89 : limited;
	float rest = expm1_reduced_f32(limited, &power);
	/* Half of 2^power, which may be just too large. */
	float half = from_bits_f32((uint32_t)(power + 126) << 23);
	float result = ((half - 0.5f) + half * rest) * 2;
	return power == 0 ? (x == 0 ? x : rest) : result;
}

/* ---- logarithms ---- */

/* log((1 + f) * 2^power) + correction, for 1 + f from sqrt(1/2) to sqrt(2). */
static inline float log_reduced_f32(float f, float power, float correction)
{
	float s = f / (2 + f), z = s * s, half_square = 0.5f * f * f;
	/* log(1 + f) = 2 s + s R, and 2 s = f - s f; 2^-36 of the result. */
	float r = z * POLYNOMIAL_F32(z, 0x1.555556p-1f, 0x1.999a7ep-2f, 0x1.24356p-2f, 0x1.e3b624p-3f);

	return s * (half_square + r) + (power * 0x1.7f7d1cp-20f + correction) - half_square + f + power * 0x1.62e4p-1f;
}

/* Return the logarithm of 0 (-infinity), of negative numbers (a NaN), of infinity and of NaNs, or else `result`. */
static inline float log_special_f32(float x, float result)
{
	result = x < __builtin_inff() ? result : x;
	return x > 0 ? result : x == 0 ? -__builtin_inff() : x < 0 ? __builtin_nanf("") : x;
}

static inline float log_f32(float x)
{
	float normal = x < 0x1p-126f ? x * 0x1p23f : x;
	uint32_t bits = bits_f32(normal) - bits_f32(0x1.6a09e6p-1f);
	float fraction = from_bits_f32((bits & 0x7fffffu) + bits_f32(0x1.6a09e6p-1f));
	float power = (float)((int32_t)bits >> 23) - (x < 0x1p-126f ? 23.0f : 0.0f);

	return log_special_f32(x, log_reduced_f32(fraction - 1, power, 0));
}

static inline float log1p_f32(float x)
{
	float sum = 1 + x;
	uint32_t bits = bits_f32(sum) - bits_f32(0x1.6a09e6p-1f);
	int32_t power = (int32_t)bits >> 23;
	float fraction = from_bits_f32((bits & 0x7fffffu) + bits_f32(0x1.6a09e6p-1f));
	/* The part that the sum has lost, exactly. */
	float part = sum - 1, lost = (1 - (sum - part)) + (x - part);
	float result = log_reduced_f32(fraction - 1, (float)power, lost / sum);

	return copysign_f32(log_special_f32(sum, result), x);
}

/* ---- functions of exponentials ---- */

static inline float sigmoid_f32(float x)
{
	float e = exp_f32(-abs_f32(x));

	return (x < 0 ? e : 1) / (1 + e);
}

static inline float tanh_f32(float x)
{
	float t = expm1_f32(2 * abs_f32(x)), small = t / (t + 2);
	float large = 1 - 2 / (t + 2);

	return copysign_f32(t < 2 ? small : t == t ? large : t, x);
}

/* log(1 + exp(x)) */
static inline float softplus_f32(float x)
{
	return (x > 0 ? x : 0) + log1p_f32(exp_f32(-abs_f32(x)));
}

static inline float erf_f32(float x)
{
	float magnitude = abs_f32(x), z = x * x;
	/* 2^-31 of the result; and -log(1 - erf), to 2^-34 of the result. From 4 on the result is 1. */
	float small = x + x * POLYNOMIAL_F32(z, 0x1.06eba8p-3f, -0x1.812744p-2f, 0x1.ce2e1cp-4f, -0x1.b80ff2p-6f,
					     0x1.54d42ep-8f, -0x1.aaa2fp-11f, 0x1.5e0682p-14f);
	float limited = magnitude > 4 ? 4 : magnitude;
	float large = 1 - exp_f32(-POLYNOMIAL_F32(limited, -0x1.560386p-13f, 0x1.21238cp+0f, 0x1.445b5ep-1f,
						  0x1.ba9908p-4f, -0x1.98758p-6f, 0x1.0acb68p-8f, -0x1.a58cap-12f,
						  0x1.fe7e92p-17f, 0x1.ea076ap-22f));

	return magnitude < 0.92f ? small : copysign_f32(large, x);
}

/* ---- functions computed in f64 ---- */

#define THROUGH_F64(name)                                                                                              \
	static inline float name##_f32(float x)                                                                        \
	{                                                                                                              \
		return (float)name##_f64(x);                                                                           \
	}

THROUGH_F64(erfc)
THROUGH_F64(sin)
THROUGH_F64(cos)
THROUGH_F64(tan)
THROUGH_F64(asin)
THROUGH_F64(acos)
THROUGH_F64(atan)
THROUGH_F64(sinh)
THROUGH_F64(cosh)
THROUGH_F64(asinh)
THROUGH_F64(acosh)
THROUGH_F64(atanh)

static inline float sin_any_f32(float x)
{
	return (float)sin_any_f64(x);
}

static inline float cos_any_f32(float x)
{
	return (float)cos_any_f64(x);
}

static inline float tan_any_f32(float x)
{
	return (float)tan_any_f64(x);
}

static inline int is_small_angle_f32(float x)
{
	return !(abs_f32(x) > 0x1p20f);
}

/* The logarithm in f64 is so exact that 2^10 times its error is far from a unit of f32. */
static inline float pow_f32(float x, float y)
{
	double result = exp_f64(y * log_f64(abs_f64(x)));

	return (float)pow_special_f64(x, y, result);
}

static inline float atan2_f32(float y, float x)
{
	return (float)atan2_f64(y, x);
}

static inline float fmod_f32(float x, float y)
{
	return (float)fmod_f64(x, y);
}

#endif
