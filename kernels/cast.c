/* cast.c: Cast: x [n] -> y [n] of another type.
 *
 * variants: FROM=f32,f64 TO=i8,i16,i32,u8,u16,u32,halves,bool ISA=base,v3
 * variants: FROM=floats TO=i64,u64
 * variants: FROM=f32 TO=f64 ISA=base,v3
 * variants: FROM=f64 TO=f32 ISA=base,v3
 * variants: FROM=f16 TO=f32,f64,bf16,i8,i16,i32,u8,u16,u32,bool ISA=base,v3
 * variants: FROM=bf16 TO=f32,f64,f16,i8,i16,i32,u8,u16,u32,bool ISA=base,v3
 * variants: FROM=i8 TO=floats,i16,i32,i64,unsigned,bool
 * variants: FROM=i16 TO=floats,i8,i32,i64,unsigned,bool
 * variants: FROM=i32 TO=floats,i8,i16,i64,unsigned,bool
 * variants: FROM=i64 TO=floats,i8,i16,i32,unsigned,bool
 * variants: FROM=u8 TO=floats,signed,u16,u32,u64,bool
 * variants: FROM=u16 TO=floats,signed,u8,u32,u64,bool
 * variants: FROM=u32 TO=floats,signed,u8,u16,u64,bool
 * variants: FROM=u64 TO=floats,signed,u8,u16,u32,bool
 * variants: FROM=bool TO=numbers
 *
 * Floats become integers by truncation, and floats by rounding once, to the nearest, ties to even; every number but 0
 * is true. ONNX leaves the results for floats outside the integer type's range open: here they are the nearest number
 * of the type, and 0 for NaNs, since processors' results differ from instruction to instruction. Integers lose their
 * upper bits. */
#include "kernels/family.h"

typedef STORED(FROM) source;
typedef STORED(TO) element;

/* Return x in f32, rounded to odd: a result is half way between two shorter numbers only if x is. */
static inline float rounded_to_odd(double x)
{
	float nearest = (float)x;
	double back = nearest;
	uint32_t bits = bits_f32(nearest), away = x < 0 ? back < x : back > x;

	return from_bits_f32((bits - away) | (back != x));
}

/* Return integers of 64 bits as f64, rounded to odd for the same reason. */
static inline double whole_as_f64(source x)
{
#if SIZE(FROM) == 8
	uint64_t bits = (uint64_t)x, upper = (bits & ~0x7ffull) | (bits & 0x7ff ? 0x800 : 0);
	int is_short = IS_SIGNED(FROM) ? (int64_t)x > -(1ll << 53) && (int64_t)x < 1ll << 53 : bits < 1ull << 53;

	return (double)(is_short ? x : (source)upper);
#else
	return (double)x;
#endif
}

static inline element cast(source x)
{
#if IS_BOOL(TO)
	return LOAD(FROM, x) != 0;
#elif IS_FLOAT(TO) && IS_FLOAT(FROM) && SIZE(FROM) == 8 && SIZE(TO) == 2
	return STORE(TO, rounded_to_odd(x));
#elif IS_FLOAT(TO) && !IS_FLOAT(FROM) && SIZE(FROM) >= 4 && SIZE(TO) == 2
	return STORE(TO, rounded_to_odd(whole_as_f64(x)));
#elif IS_FLOAT(TO) || !IS_FLOAT(FROM)
	return STORE(TO, (COMPUTED(TO))LOAD(FROM, x));
#else
	/* The first number above the range, a power of 2. */
	const COMPUTED(FROM) number = LOAD(FROM, x), low = (COMPUTED(FROM))SMALLEST(TO);
	const COMPUTED(FROM) above = (COMPUTED(FROM))(LARGEST(TO) / 2 + 1) * 2;
	const element inside = (element)(number > low && number < above ? number : 0);

	return number >= above ? LARGEST(TO) : number <= low ? SMALLEST(TO) : inside;
#endif
}

void KERNEL(const source *x, element *y, int64_t n)
{
	INDEPENDENT
	for (int64_t i = 0; i < n; i++)
		y[i] = cast(x[i]);
}
SIGNATURE("split=n op=Cast", "in x " TEXT(FROM) "[n], out y " TEXT(TO) "[n], n i64");
