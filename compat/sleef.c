/* Sleef's vector functions on those of the C library's libmvec, for one width: compiled with SLEEF_BITS of 128, 256 and
 * 512. libmvec's results are within 4 units in the last place, Sleef's _u10 within 1, _u35 within 3.5; _u15 of erfc
 * within 1.5. Functions that libmvec lacks (lgamma, tgamma, fmod) are not defined. */
#include <immintrin.h>

#include "compat/compat.h"

#define JOIN(a, b) a##b
#define NAME(a, b) JOIN(a, b)

#if SLEEF_BITS == 128
#define LEVEL "sse2"
#define FLOATS __m128
#define DOUBLES __m128d
#define FLOAT_COUNT 4
#define DOUBLE_COUNT 2
#define FLOAT_MANGLED _ZGVbN4
#define DOUBLE_MANGLED _ZGVbN2
#elif SLEEF_BITS == 256
#define LEVEL "avx2"
#define FLOATS __m256
#define DOUBLES __m256d
#define FLOAT_COUNT 8
#define DOUBLE_COUNT 4
#define FLOAT_MANGLED _ZGVdN8
#define DOUBLE_MANGLED _ZGVdN4
#else
#define LEVEL "avx512f"
#define FLOATS __m512
#define DOUBLES __m512d
#define FLOAT_COUNT 16
#define DOUBLE_COUNT 8
#define FLOAT_MANGLED _ZGVeN16
#define DOUBLE_MANGLED _ZGVeN8
#endif

#define VECTOR __attribute__((target(LEVEL)))

/* sleef(exp, f, 8, _u10) is Sleef_expf8_u10; doubles are Sleef_expd4_u10. */
#define SLEEF_(function, letter, count, accuracy) Sleef_##function##letter##count##accuracy
#define SLEEF(function, letter, count, accuracy) SLEEF_(function, letter, count, accuracy)

#define UNARY(function, accuracy)                                                                             \
	VECTOR FLOATS NAME(FLOAT_MANGLED, v_##function##f)(FLOATS);                                           \
	VECTOR DOUBLES NAME(DOUBLE_MANGLED, v_##function)(DOUBLES);                                           \
	SK_COMPAT VECTOR FLOATS SLEEF(function, f, FLOAT_COUNT, accuracy)(FLOATS x)                           \
	{                                                                                                     \
		return NAME(FLOAT_MANGLED, v_##function##f)(x);                                               \
	}                                                                                                     \
	SK_COMPAT VECTOR DOUBLES SLEEF(function, d, DOUBLE_COUNT, accuracy)(DOUBLES x)                        \
	{                                                                                                     \
		return NAME(DOUBLE_MANGLED, v_##function)(x);                                                 \
	}

#define BINARY(function, accuracy)                                                                            \
	VECTOR FLOATS NAME(FLOAT_MANGLED, vv_##function##f)(FLOATS, FLOATS);                                  \
	VECTOR DOUBLES NAME(DOUBLE_MANGLED, vv_##function)(DOUBLES, DOUBLES);                                 \
	SK_COMPAT VECTOR FLOATS SLEEF(function, f, FLOAT_COUNT, accuracy)(FLOATS x, FLOATS y)                 \
	{                                                                                                     \
		return NAME(FLOAT_MANGLED, vv_##function##f)(x, y);                                           \
	}                                                                                                     \
	SK_COMPAT VECTOR DOUBLES SLEEF(function, d, DOUBLE_COUNT, accuracy)(DOUBLES x, DOUBLES y)             \
	{                                                                                                     \
		return NAME(DOUBLE_MANGLED, vv_##function)(x, y);                                             \
	}

UNARY(acos, _u10)
UNARY(acosh, _u10)
UNARY(asin, _u10)
UNARY(asinh, _u10)
UNARY(atan, _u10)
UNARY(atanh, _u10)
UNARY(cbrt, _u10)
UNARY(cos, _u10)
UNARY(cosh, _u10)
UNARY(erf, _u10)
UNARY(erfc, _u15)
UNARY(exp, _u10)
UNARY(exp10, _u10)
UNARY(exp2, _u10)
UNARY(expm1, _u10)
UNARY(log, _u10)
UNARY(log10, _u10)
UNARY(log1p, _u10)
UNARY(log2, _u10)
UNARY(sin, _u10)
UNARY(sinh, _u10)
UNARY(tan, _u10)
UNARY(tanh, _u10)
BINARY(atan2, _u10)
BINARY(hypot, _u05)
BINARY(pow, _u10)
