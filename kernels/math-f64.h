/* math-f64.h: functions of one or two f64, without branches if loops of them should vectorize; infinities, NaNs, signed
 * zeros and denormal numbers have the results of IEEE 754 and C's annex F. doc/reference/operators.md has the distances
 * from the exact results.
 *
 * Polynomials are minimax approximations, fitted by exchange; each comment gives the polynomial's error. */
#ifndef SK_KERNELS_MATH_F64_H
#define SK_KERNELS_MATH_F64_H

#include "kernels/family.h"

#define POLYNOMIAL_F64(x, ...)                                                                                         \
	polynomial_f64(x, (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

/* c[0] + c[1] x + ...; unrolled, since count is known. */
static inline __attribute__((always_inline)) double polynomial_f64(double x, const double *c, unsigned long count)
{
	double sum = c[count - 1];

#pragma GCC unroll 32
	for (unsigned long i = count - 1; i-- > 0;)
		sum = sum * x + c[i];
	return sum;
}

static inline double abs_f64(double x)
{
	return from_bits_f64(bits_f64(x) & ~(1ull << 63));
}

static inline double copysign_f64(double x, double sign)
{
	return from_bits_f64((bits_f64(x) & ~(1ull << 63)) | (bits_f64(sign) & 1ull << 63));
}

/* ---- rounding ---- */

/* Ties to even. Adding 2^52 leaves no room for a fraction. */
static inline double round_even_f64(double x)
{
	double magnitude = abs_f64(x), rounded = (magnitude + 0x1p52) - 0x1p52;

	return copysign_f64(magnitude < 0x1p52 ? rounded : magnitude, x);
}

static inline double trunc_f64(double x)
{
	double magnitude = abs_f64(x), rounded = (magnitude + 0x1p52) - 0x1p52;

	rounded = rounded > magnitude ? rounded - 1 : rounded;
	return copysign_f64(magnitude < 0x1p52 ? rounded : magnitude, x);
}

static inline double floor_f64(double x)
{
	double rounded = round_even_f64(x);

	return copysign_f64(rounded > x ? rounded - 1 : rounded, x);
}

static inline double ceil_f64(double x)
{
	double rounded = round_even_f64(x);

	return copysign_f64(rounded < x ? rounded + 1 : rounded, x);
}

static inline double sqrt_f64(double x)
{
	return __builtin_sqrt(x);
}

/* ---- exponentials ---- */

/* log(2) in two parts; the first one has so few bits that products with powers are exact. */
#define LOG2_HIGH 0x1.62e42fefa38p-1
#define LOG2_LOW  0x1.ef35793c7673p-45

/* x * 2^power, for x near 1 and powers of -2000 to 2000, rounded once. */
static inline double scale_f64(double x, int64_t power)
{
	int64_t half = (int64_t)(((uint64_t)power + 4096) / 2) - 2048;

	return x * from_bits_f64((uint64_t)(half + 1023) << 52) * from_bits_f64((uint64_t)(power - half + 1023) << 52);
}

/* x = power * log(2) + rest, |rest| <= log(2) / 2; returns exp(rest) - 1, with rest = rest + more. For a NaN, power is
 * any number. */
static inline double expm1_reduced_f64(double x, double more, int64_t *power)
{
	double shifted = x * 0x1.71547652b82fep+0 + 0x1.8p52, whole = shifted - 0x1.8p52;
	double first = x - whole * LOG2_HIGH, second = more - whole * LOG2_LOW;
	double rest = first + second, lost = (first - rest) + second;

	*power = (int64_t)(bits_f64(shifted) - bits_f64(0x1.8p52));
	/* 2^-61 of the result. */
	return rest +
	       (lost + rest * rest *
			       POLYNOMIAL_F64(rest, 0x1.0p-1, 0x1.5555555555559p-3, 0x1.555555555555ap-5,
					      0x1.111111110f61bp-7, 0x1.6c16c16c143b6p-10, 0x1.a01a01b027785p-13,
					      0x1.a01a01b0e8755p-16, 0x1.71ddf79b421fep-19, 0x1.27e4c534d6727p-22,
					      0x1.af601bf41277ap-26, 0x1.1f960cb670a1dp-29));
}

/* exp(x + more) * 2^shift */
static inline double exp_shifted_f64(double x, double more, int64_t shift)
{
	int64_t power;

	more = x < -746 || x > 711 ? 0 : more;
	x = x < -746 ? -746 : x;
	x = x > 711 ? 711 : x;
	double rest = expm1_reduced_f64(x, more, &power);
	return scale_f64(1 + rest, (int64_t)((uint64_t)power + (uint64_t)shift));
}

static inline double exp_f64(double x)
{
	return exp_shifted_f64(x, 0, 0);
}

static inline double expm1_f64(double x)
{
	int64_t power;
	double limited = x < -40 ? -40 : x;

	limited = limited > 710 ? 710 : limited;
	double rest = expm1_reduced_f64(limited, 0, &power);
	/* Half of 2^power, which may be just too large. */
	double half = from_bits_f64((uint64_t)(power + 1022) << 52);
	double result = ((half - 0.5) + half * rest) * 2;
	/* 64-bit integers are not compared, since vectors before SSE 4 cannot. */
	result = half == 0.5 ? rest : result;
	return x == 0 ? x : result;
}

/* ---- logarithms ---- */

/* log((1 + f) * 2^power) + correction, for 1 + f from sqrt(1/2) to sqrt(2). */
static inline double log_reduced_f64(double f, double power, double correction)
{
	double s = f / (2 + f), z = s * s, half_square = 0.5 * f * f;
	/* log(1 + f) = 2 s + s R, and 2 s = f - s f; 2^-58 of the result. */
	double r = z * POLYNOMIAL_F64(z, 0x1.555555555557cp-1, 0x1.99999999845d8p-2, 0x1.2492493fd0d45p-2,
				      0x1.c71c529dde8eep-3, 0x1.74664f27995b3p-3, 0x1.399c613193b9cp-3,
				      0x1.2f59344b95285p-3);

	return s * (half_square + r) + (power * LOG2_LOW + correction) - half_square + f + power * LOG2_HIGH;
}

/* Return the logarithm of 0 (-infinity), of negative numbers (a NaN), of infinity and of NaNs, or else `result`. */
static inline double log_special_f64(double x, double result)
{
	result = x < __builtin_inf() ? result : x;
	return x > 0 ? result : x == 0 ? -__builtin_inf() : x < 0 ? __builtin_nan("") : x;
}

/* From 0 to 4095 as a number: 64-bit integers are converted by adding, since vectors before AVX-512 cannot. */
static inline double exponent_as_f64(uint64_t exponent)
{
	return from_bits_f64(exponent | bits_f64(0x1p52)) - 0x1p52;
}

/* x = fraction * 2^power, fraction from sqrt(1/2) to sqrt(2), for normal x > 0. */
static inline double split_f64(double x, double *power)
{
	/* The bias keeps the exponent positive. */
	uint64_t bits = bits_f64(x) - bits_f64(0x1.6a09e667f3bcdp-1) + (1024ull << 52);

	*power = exponent_as_f64(bits >> 52) - 1024;
	return from_bits_f64((bits & 0xfffffffffffffull) + bits_f64(0x1.6a09e667f3bcdp-1));
}

static inline double log_f64(double x)
{
	double power, fraction = split_f64(x < 0x1p-1022 ? x * 0x1p54 : x, &power);

	power -= x < 0x1p-1022 ? 54 : 0;
	return log_special_f64(x, log_reduced_f64(fraction - 1, power, 0));
}

static inline double log1p_f64(double x)
{
	double sum = 1 + x, power, fraction = split_f64(sum, &power);
	/* The part that the sum has lost, exactly. */
	double part = sum - 1, lost = (1 - (sum - part)) + (x - part);
	double result = log_reduced_f64(fraction - 1, power, lost / sum);

	return copysign_f64(log_special_f64(sum, result), x);
}

/* ---- functions of exponentials and logarithms ---- */

static inline double sigmoid_f64(double x)
{
	double e = exp_f64(-abs_f64(x));

	return (x < 0 ? e : 1) / (1 + e);
}

static inline double tanh_f64(double x)
{
	double t = expm1_f64(2 * abs_f64(x)), small = t / (t + 2);
	double large = 1 - 2 / (t + 2);

	return copysign_f64(t < 2 ? small : t == t ? large : t, x);
}

static inline double sinh_f64(double x)
{
	double magnitude = abs_f64(x), t = expm1_f64(magnitude);
	double small = 0.5 * (t + t / (t + 1)), large = exp_shifted_f64(magnitude, 0, -1);

	return copysign_f64(magnitude < 22 ? small : large, x);
}

static inline double cosh_f64(double x)
{
	double half = exp_shifted_f64(abs_f64(x), 0, -1);

	return half + 0.25 / half;
}

/* log(1 + exp(x)) */
static inline double softplus_f64(double x)
{
	return (x > 0 ? x : 0) + log1p_f64(exp_f64(-abs_f64(x)));
}

static inline double asinh_f64(double x)
{
	double magnitude = abs_f64(x), square = x * x;
	double sum = magnitude + square / (1 + sqrt_f64(square + 1));
	/* Squares of the largest numbers are infinite; beside such x, 1 is negligible. */
	double result = log1p_f64(magnitude < 0x1p500 ? sum : magnitude) + (magnitude < 0x1p500 ? 0 : LOG2_HIGH);

	return copysign_f64(result, x);
}

static inline double acosh_f64(double x)
{
	double t = x - 1, sum = t + sqrt_f64(2 * t + t * t);
	double result = log1p_f64(x < 0x1p500 ? sum : x) + (x < 0x1p500 ? 0 : LOG2_HIGH);

	return x < 1 ? __builtin_nan("") : result;
}

static inline double atanh_f64(double x)
{
	double magnitude = abs_f64(x);

	return copysign_f64(0.5 * log1p_f64(2 * magnitude / (1 - magnitude)), x);
}

static inline double erf_f64(double x)
{
	double magnitude = abs_f64(x), z = x * x;
	/* 2^-62 of the result. */
	double small = x + x * POLYNOMIAL_F64(z, 0x1.06eba8214db69p-3, -0x1.812746b0379e6p-2, 0x1.ce2f21a042b34p-4,
					      -0x1.b82ce31284f38p-6, 0x1.565bcd0dbd921p-8, -0x1.c02db3db49762p-11,
					      0x1.f9a321e4b84f9p-14, -0x1.f4d1e434bc0cfp-17, 0x1.b9df305cad6f7p-20,
					      -0x1.5f1f40faeea79p-23, 0x1.f7b99d7c8709ap-27, -0x1.38ac2290d3965p-30,
					      0x1.062759c5be8ecp-34);
	/* exp(x * x) * (1 - erf(x)), to 2^-64 of erf(x). From 6 on the result is 1. */
	double limited = magnitude > 6 ? 6 : magnitude, t = (limited - 2.5) / (limited + 2.5);
	double large = 1 - exp_f64(-limited * limited) *
				   POLYNOMIAL_F64(t, 0x1.afbb3f3b7343bp-3, -0x1.7ca88dec217a6p-2, 0x1.01c11a735cda0p-2,
						  -0x1.0011543716cbcp-3, 0x1.470ba1f67c767p-5, -0x1.05bb2fe5b3659p-8,
						  -0x1.5a5716c740400p-9, 0x1.cb3b61bd83cd9p-11, 0x1.def2bf04aaee8p-13,
						  -0x1.0e46700f6c8e1p-13, -0x1.1ebbd857f1f31p-15, 0x1.3851436831403p-16,
						  0x1.fa645775917f1p-18, -0x1.35c01459ed6e1p-19, -0x1.dcb749d22d6eap-20,
						  0x1.0013305a7b0edp-23, 0x1.45d80cc4ec600p-22);

	return magnitude < 1 ? small : copysign_f64(large, x);
}

/* ---- circular functions ---- */

#define HALF_PI_HIGH 0x1.921fb54442d18p+0
#define HALF_PI_LOW  0x1.1a62633145c07p-54

/* An angle minus a multiple of pi / 2, high + low; and that multiple, modulo 4. */
struct quadrant_f64 {
	double high, low;
	uint64_t quadrant;
};

/* The range in which reduced_f64 is valid. */
static inline int is_small_angle_f64(double x)
{
	return !(abs_f64(x) > 0x1p20);
}

/* For small angles, and NaNs. */
static inline struct quadrant_f64 reduced_f64(double x)
{
	struct quadrant_f64 result;
	double shifted = x * 0x1.45f306dc9c883p-1 + 0x1.8p52, whole = shifted - 0x1.8p52;
	/* pi / 2 in three parts; products with the first two are exact, and so is the first difference. */
	double first = x - whole * 0x1.921fb544p+0, second = whole * 0x1.0b4611a6p-34;
	double third = whole * 0x1.3198a2e037073p-69;
	double sum = first - second, back = first - sum, lost = (first - (sum + back)) + (back - second);

	result.high = x == 0 ? x : sum + (lost - third);
	result.low = (sum - result.high) + (lost - third);
	result.quadrant = bits_f64(shifted);
	return result;
}

/* 2^-57 and 2^-62 of the result. */
static inline double sin_reduced_f64(double x, double low)
{
	double z = x * x, cube = z * x;
	double rest = POLYNOMIAL_F64(z, 0x1.111111110fb18p-7, -0x1.a01a019c28b12p-13, 0x1.71de3567eac84p-19,
				     -0x1.ae5e46299d47dp-26, 0x1.5d859bae551e3p-33);

	return x - ((z * (0.5 * low - cube * rest) - low) - cube * -0x1.555555555554cp-3);
}

static inline double cos_reduced_f64(double x, double low)
{
	double z = x * x, half = 0.5 * z, high = 1 - half;
	double rest = z * POLYNOMIAL_F64(z, 0x1.5555555555553p-5, -0x1.6c16c16c16118p-10, 0x1.a01a019e20ebbp-16,
					 -0x1.27e4f900478c3p-22, 0x1.1eea864612c12p-29, -0x1.8ff804b87c649p-37);

	return high + (((1 - high) - half) + (z * rest - x * low));
}

static inline double sin_of_quadrant_f64(struct quadrant_f64 angle)
{
	double sine = sin_reduced_f64(angle.high, angle.low), cosine = cos_reduced_f64(angle.high, angle.low);
	uint64_t odd = -(angle.quadrant & 1), value = (bits_f64(cosine) & odd) | (bits_f64(sine) & ~odd);

	return from_bits_f64(value ^ angle.quadrant << 62 >> 63 << 63);
}

static inline double sin_f64(double x)
{
	return sin_of_quadrant_f64(reduced_f64(x));
}

static inline double cos_f64(double x)
{
	struct quadrant_f64 angle = reduced_f64(x);

	angle.quadrant++;
	return sin_of_quadrant_f64(angle);
}

static inline double tan_of_quadrant_f64(struct quadrant_f64 angle)
{
	double sine = sin_reduced_f64(angle.high, angle.low), cosine = cos_reduced_f64(angle.high, angle.low);

	uint64_t odd = -(angle.quadrant & 1), over = (bits_f64(-cosine) & odd) | (bits_f64(sine) & ~odd);
	uint64_t under = (bits_f64(sine) & odd) | (bits_f64(cosine) & ~odd);

	return from_bits_f64(over) / from_bits_f64(under);
}

static inline double tan_f64(double x)
{
	return tan_of_quadrant_f64(reduced_f64(x));
}

/* (asin(x) / x - 1) / x^2 of z = x^2 <= 1/4, to 2^-58 of asin(x). */
static inline double asin_polynomial_f64(double z)
{
	return POLYNOMIAL_F64(z, 0x1.5555555555562p-3, 0x1.333333333079ap-4, 0x1.6db6db7091f23p-5, 0x1.f1c71b0c79121p-6,
			      0x1.6e8bd421b6ea6p-6, 0x1.1c4a8acf9d0c5p-6, 0x1.ca144d74a7927p-7, 0x1.75ca249b851eap-7,
			      0x1.603149b92a552p-7, 0x1.ef8ae762bce74p-9, 0x1.6262684408c20p-6, -0x1.5866d54f1d84ep-6,
			      0x1.0c02a509a688cp-5);
}

/* For larger x, asin(x) = pi / 2 - 2 asin(sqrt((1 - x) / 2)). */
static inline double asin_f64(double x)
{
	double magnitude = abs_f64(x), half = 0.5 * (1 - magnitude);
	double z = magnitude < 0.5 ? x * x : half, p = z * asin_polynomial_f64(z);
	double root = sqrt_f64(half), high = from_bits_f64(bits_f64(root) & ~0xffffffffull);
	double low = half > 0 ? (half - high * high) / (root + high) : half;
	double large =
		0.5 * HALF_PI_HIGH - ((2 * root * p - (HALF_PI_LOW - 2 * low)) - (0.5 * HALF_PI_HIGH - 2 * high));

	return magnitude < 0.5 ? x + x * p : copysign_f64(large, x);
}

static inline double acos_f64(double x)
{
	double magnitude = abs_f64(x), half = 0.5 * (1 - magnitude);
	double z = magnitude < 0.5 ? x * x : half, p = z * asin_polynomial_f64(z), root = sqrt_f64(half);
	double high = from_bits_f64(bits_f64(root) & ~0xffffffffull);
	double low = half > 0 ? (half - high * high) / (root + high) : half;
	double small = HALF_PI_HIGH - (x - (HALF_PI_LOW - x * p));
	double positive = 2 * (high + (root * p + low));
	double negative = 2 * (HALF_PI_HIGH - (root + (root * p - HALF_PI_LOW)));

	return magnitude < 0.5 ? small : x > 0 ? positive : negative;
}

/* From tan(pi / 8) and from tan(3 pi / 8) on, of the rest to pi / 4 and to pi / 2. */
static inline double atan_f64(double x)
{
	double magnitude = abs_f64(x);
	int large = magnitude > 0x1.3504f333f9de6p+1, middle = magnitude > 0x1.a827999fcef32p-2;
	double over = large ? -1 : middle ? magnitude - 1 : magnitude;
	double under = large ? magnitude : middle ? magnitude + 1 : 1;
	double t = over / under, z = t * t;
	/* 2^-58 of the result. */
	double rest = t * z *
		      POLYNOMIAL_F64(z, -0x1.555555555554ap-2, 0x1.9999999996e02p-3, -0x1.24924923123d9p-3,
				     0x1.c71c71022985dp-4, -0x1.745cfaf86b4f2p-4, 0x1.3b112f34b515bp-4,
				     -0x1.10ec2196bf79ep-4, 0x1.df0e5a55bbc99p-5, -0x1.9cb44d05b611ap-5,
				     0x1.375037c740e0ep-5, -0x1.23de327f3682bp-6);
	double high = large ? HALF_PI_HIGH : middle ? 0.5 * HALF_PI_HIGH : 0;
	double low = large ? HALF_PI_LOW : middle ? 0.5 * HALF_PI_LOW : 0;

	return copysign_f64(high + (t + (rest + low)), x);
}

/* The angle of the point (x, y), of all four quadrants. */
static inline double atan2_f64(double y, double x)
{
	double a = abs_f64(y), b = abs_f64(x), over = a < b ? a : b, under = a < b ? b : a, ratio = over / under;

	ratio = under == 0 ? 0 : ratio;
	ratio = over == __builtin_inf() ? 1 : ratio;
	double angle = atan_f64(ratio), rest = HALF_PI_HIGH - (angle - HALF_PI_LOW);
	angle = a > b ? rest : angle;
	double left = 2 * HALF_PI_HIGH - (angle - 2 * HALF_PI_LOW);
	angle = copysign_f64(1, x) < 0 ? left : angle;
	angle = x != x ? x : angle;
	return y != y ? y : copysign_f64(angle, y);
}

/* ---- large angles ---- */

/* The bits of 2 / pi after 64 zeros. */
static const uint64_t two_over_pi[] = {0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
				       0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
				       0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
				       0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
				       0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
				       0xf0cfbc209af4361d};

/* Return the upper half of the product of two words plus a third one. */
static inline uint64_t multiply_words(uint64_t a, uint64_t b, uint64_t add, uint64_t *low)
{
	unsigned __int128 product = (unsigned __int128)a * b + add;

	*low = (uint64_t)product;
	return (uint64_t)(product >> 64);
}

/* For finite numbers of 2^20 and more: x 2 / pi modulo 4 in integers after Payne and Hanek, from the significant bits
 * of 2 / pi. */
static struct quadrant_f64 reduced_large_f64(double x)
{
	uint64_t bits = bits_f64(x), fraction = (bits & 0xfffffffffffffull) | 1ull << 52;
	/* The bits of the product that are worth 4 and more end before this one, counted with the 64 zeros. */
	uint64_t first = (bits >> 52 & 0x7ff) - 1075 - 2 + 64, word = first / 64, shift = first % 64;
	uint64_t window[3], low, middle, high;
	struct quadrant_f64 result;

	for (uint64_t i = 0; i < 3; i++)
		window[i] = two_over_pi[word + i] << shift | (shift ? two_over_pi[word + i + 1] >> (64 - shift) : 0);
	high = multiply_words(fraction, window[2], 0, &low);
	high = multiply_words(fraction, window[1], high, &middle);
	high = fraction * window[0] + high;
	/* In quarters of a turn: 2 bits before the point, 190 after it. To the nearest, so that the rest is signed. */
	result.quadrant = (high >> 62) + (high >> 61 & 1);
	uint64_t sign = high >> 61 & 1 ? ~0ull : 0;
	high = (high << 2 | middle >> 62) ^ sign;
	middle = (middle << 2 | low >> 62) ^ sign;
	low = low << 2 ^ sign;
	int zeros = high ? __builtin_clzll(high) : 64 + __builtin_clzll(middle | 1);
	for (int left = zeros; left > 0; left -= left < 63 ? left : 63) {
		int by = left < 63 ? left : 63;
		high = high << by | middle >> (64 - by);
		middle = middle << by | low >> (64 - by);
		low <<= by;
	}
	/* The first 53 bits, and the next 53. */
	double scale = from_bits_f64((uint64_t)(1023 - zeros) << 52);
	double upper = (double)(int64_t)(high >> 11) * 0x1p-53 * scale;
	double lower = (double)(int64_t)((high << 42 | middle >> 22) & 0x1fffffffffffffull) * 0x1p-106 * scale;
	if ((sign ^ (bits >> 63 ? ~0ull : 0)) & 1)
		upper = -upper, lower = -lower;
	/* Times pi / 2; the error of the first product is computed from halves with exact products. */
	double product = upper * HALF_PI_HIGH;
	double upper_high = from_bits_f64(bits_f64(upper) & ~0x7ffffffull), upper_low = upper - upper_high;
	double pi_high = 0x1.921fb54p+0, pi_low = HALF_PI_HIGH - pi_high;
	double lost =
		((upper_high * pi_high - product) + upper_high * pi_low + upper_low * pi_high) + upper_low * pi_low;
	lost += upper * HALF_PI_LOW + lower * HALF_PI_HIGH;
	result.high = product + lost;
	result.low = (product - result.high) + lost;
	result.quadrant = bits >> 63 ? -result.quadrant : result.quadrant;
	return result;
}

/* For all numbers: the reduction that sin_f64 and similar functions do for small angles. */
static inline struct quadrant_f64 reduced_any_f64(double x)
{
	if (is_small_angle_f64(x))
		return reduced_f64(x);
	return abs_f64(x) <= 0x1.fffffffffffffp+1023 ? reduced_large_f64(x) : reduced_f64(x - x);
}

static inline double sin_any_f64(double x)
{
	return sin_of_quadrant_f64(reduced_any_f64(x));
}

static inline double cos_any_f64(double x)
{
	struct quadrant_f64 angle = reduced_any_f64(x);

	angle.quadrant++;
	return sin_of_quadrant_f64(angle);
}

static inline double tan_any_f64(double x)
{
	return tan_of_quadrant_f64(reduced_any_f64(x));
}

/* ---- powers ---- */

/* A number in two parts, the second one small compared with the first one. */
struct double_f64 {
	double high, low;
};

static inline struct double_f64 add_exactly(double a, double b)
{
	double sum = a + b, part = sum - a;

	return (struct double_f64){sum, (a - (sum - part)) + (b - part)};
}

/* After Dekker: halves of 26 bits have exact products. */
static inline struct double_f64 multiply_exactly(double a, double b)
{
	double product = a * b, split_a = a * 0x1.0000002p27, split_b = b * 0x1.0000002p27;
	double a_high = split_a - (split_a - a), b_high = split_b - (split_b - b), a_low = a - a_high,
	       b_low = b - b_high;

	return (struct double_f64){product,
				   ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

/* log(x) to 2^-64 of itself, for finite x > 0. */
static inline struct double_f64 log_exactly_f64(double x)
{
	double power, f = split_f64(x < 0x1p-1022 ? x * 0x1p54 : x, &power) - 1, g = 2 + f, g_low = f - (g - 2);

	power -= x < 0x1p-1022 ? 54 : 0;
	/* s = f / (2 + f); log(1 + f) = 2 s + s z (2/3 + z P(z)), z = s s. */
	double s = f / g;
	struct double_f64 back = multiply_exactly(s, g);
	double s_low = ((f - back.high) - back.low - s * g_low) / g;
	struct double_f64 z = multiply_exactly(s, s);
	z.low += 2 * s * s_low;
	/* 2^-71 of the result. */
	struct double_f64 factor =
		add_exactly(0x1.5555555555555p-1,
			    z.high * POLYNOMIAL_F64(z.high, 0x1.9999999999999p-2, 0x1.24924924927a3p-2,
						    0x1.c71c71c6778d9p-3, 0x1.745d17c35d7ecp-3, 0x1.3b137e324ba9fp-3,
						    0x1.111ce316b0056p-3, 0x1.dec2b4c68d4a7p-4, 0x1.e6c4c87dfe868p-4));
	factor.low += 0x1.5555555555555p-55;
	struct double_f64 product = multiply_exactly(z.high, factor.high);
	product.low += z.high * factor.low + z.low * factor.high;
	struct double_f64 rest = multiply_exactly(s, product.high);
	rest.low += s * product.low + s_low * product.high;
	struct double_f64 log = add_exactly(2 * s, rest.high);
	log.low += rest.low + 2 * s_low;
	struct double_f64 sum = add_exactly(power * LOG2_HIGH, log.high);
	sum.low += log.low + power * LOG2_LOW;
	return add_exactly(sum.high, sum.low);
}

/* For the magnitude of x to the power y: `result`, or the result of C's annex F. Powers of negative x have a sign if y
 * is odd, and are NaNs if y is not whole. */
static inline double pow_special_f64(double x, double y, double result)
{
	double magnitude = abs_f64(x), y_magnitude = abs_f64(y), infinity = __builtin_inf();
	double of_zero = y < 0 ? infinity : 0, of_infinity = y < 0 ? 0 : infinity;
	double of_large = y > 0 ? infinity : 0, of_small = y > 0 ? 0 : infinity;
	double to_infinity = magnitude > 1 ? of_large : of_small;
	/* Half of whole y, which has a fraction if y is odd. */
	double half = trunc_f64(y_magnitude) == y_magnitude ? 0.5 * y_magnitude : 0;

	result = magnitude == 0 ? of_zero : result;
	result = magnitude == infinity ? of_infinity : result;
	to_infinity = magnitude == 1 ? 1 : to_infinity;
	result = y_magnitude == infinity ? to_infinity : result;
	double of_negative = trunc_f64(y_magnitude) == y_magnitude ? result : __builtin_nan("");
	of_negative = magnitude == infinity ? result : of_negative;
	result = x < 0 ? of_negative : result;
	double turned = from_bits_f64(bits_f64(result) ^ (bits_f64(x) & 1ull << 63));
	result = trunc_f64(half) != half ? turned : result;
	result = x != x ? x : result;
	result = y != y ? y : result;
	result = x == 1 ? 1 : result;
	return y == 0 ? 1 : result;
}

static inline double pow_f64(double x, double y)
{
	struct double_f64 log = log_exactly_f64(abs_f64(x));
	/* A larger y is too large for any x but 1, and must not overflow in between. */
	double limited = y > 0x1p65 ? 0x1p65 : y < -0x1p65 ? -0x1p65 : y;
	struct double_f64 product = multiply_exactly(limited, log.high);

	product.low += limited * log.low;
	return pow_special_f64(x, y, exp_shifted_f64(product.high, product.low, 0));
}

/* 1 - erf(x) */
static inline double erfc_f64(double x)
{
	double magnitude = abs_f64(x), limited = magnitude > 28 ? 28 : magnitude, t = (limited - 2.5) / (limited + 2.5);
	struct double_f64 square = multiply_exactly(limited, limited);
	/* exp(x * x) * erfc(x), to 2^-68 of itself. From 28 on the result is 0. */
	double tail = exp_shifted_f64(-square.high, -square.low, 0) *
		      POLYNOMIAL_F64(t, 0x1.afbb3f3b7343bp-3, -0x1.7ca88dec217a6p-2, 0x1.01c11a735cd98p-2,
				     -0x1.0011543716c92p-3, 0x1.470ba1f67ea04p-5, -0x1.05bb2fe5bf388p-8,
				     -0x1.5a5716ce56a5bp-9, 0x1.cb3b61b94ed31p-11, 0x1.def2ca6fdd450p-13,
				     -0x1.0e46693700506p-13, -0x1.1ebe5ca9ca164p-15, 0x1.384ce551889aap-16,
				     0x1.fb04e7952da9ap-18, -0x1.3477ba040248cp-19, -0x1.e7b04fef786a9p-20,
				     0x1.4235dbeb05887p-24, 0x1.a294071c4e12bp-22, 0x1.77ea2b2705ff7p-24,
				     -0x1.f0c4a2129a164p-25, -0x1.341445ef76d77p-25, -0x1.c810f3f812e77p-28,
				     0x1.5c712a6633c0dp-27, 0x1.af5548e784fd1p-27, -0x1.6fc137983db6dp-27,
				     0x1.321645f677f5ap-29);
	double large = x < 0 ? 2 - tail : tail;

	return magnitude < 1 ? 1 - erf_f64(x) : large;
}

/* ---- remainders ---- */

/* The remainder of x after whole multiples of y, with the sign of x: exact, by long division of the fractions. */
static inline double fmod_f64(double x, double y)
{
	uint64_t a = bits_f64(x) & ~(1ull << 63), b = bits_f64(y) & ~(1ull << 63), infinity = 0x7ffull << 52;

	if (a >= infinity || b > infinity || b == 0)
		return __builtin_nan("");
	if (a < b)
		return x;
	int a_power = (int)(a >> 52), b_power = (int)(b >> 52), power;
	a = a_power ? (a & 0xfffffffffffffull) | 1ull << 52 : a << 1;
	b = b_power ? (b & 0xfffffffffffffull) | 1ull << 52 : b << 1;
	power = b_power;
	for (int left = a_power - b_power; left >= 0;) {
		int by = left < 11 ? left : 11;
		a = by ? (a << by) % b : a % b;
		left -= by ? by : 1;
	}
	if (a == 0)
		return copysign_f64(0, x);
	int zeros = __builtin_clzll(a) - 11;
	if (power > zeros)
		a = (a << zeros & 0xfffffffffffffull) | (uint64_t)(power - zeros) << 52;
	else
		a = power > 0 ? a << (power - 1) : a >> 1;
	return copysign_f64(from_bits_f64(a), x);
}

#endif
