/* predicates.c: elementwise tests of floats: x [n] -> y [n] of bools.
 *
 * variants: OP=IsNaN,IsInf,IsFinite TYPE=floats
 * variants: OP=IsInf ONLY=negative,positive TYPE=floats
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;

/* The bits decide. */
#define BITS_f16  uint16_t
#define BITS_bf16 uint16_t
#define BITS_f32  uint32_t
#define BITS_f64  uint64_t
typedef JOIN(BITS_, TYPE) pattern;

#define INFINITY_f16  0x7c00
#define INFINITY_bf16 0x7f80
#define INFINITY_f32  0x7f800000
#define INFINITY_f64  0x7ff0000000000000
static const pattern infinity = JOIN(INFINITY_, TYPE);
static const pattern sign = (pattern)1 << (8 * sizeof(pattern) - 1);

static inline uint8_t op_IsNaN(pattern x)
{
	return (x & (pattern)~sign) > infinity;
}

static inline uint8_t op_IsFinite(pattern x)
{
	return (x & (pattern)~sign) < infinity;
}

#define IS_ONLY_negative 1
#define IS_ONLY_positive 0
#ifndef ONLY
#define CONDITION ""
#elif JOIN(IS_ONLY_, ONLY)
#define CONDITION "(detect_positive=0)"
#else
#define CONDITION "(detect_negative=0)"
#endif

static inline uint8_t op_IsInf(pattern x)
{
#ifndef ONLY
	return (x & (pattern)~sign) == infinity;
#else
	return x == (JOIN(IS_ONLY_, ONLY) ? infinity | sign : infinity);
#endif
}

void KERNEL(const element *x, uint8_t *y, int64_t n)
{
	INDEPENDENT
	for (int64_t i = 0; i < n; i++) {
		pattern bits;

		__builtin_memcpy(&bits, &x[i], sizeof bits);
		y[i] = JOIN(op_, OP)(bits);
	}
}
SIGNATURE("split=n op=" TEXT(OP) CONDITION, "in x " TEXT(TYPE) "[n], out y bool[n], n i64");
