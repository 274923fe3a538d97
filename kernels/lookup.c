/* lookup.c: the values of elements by a table: y [n] is values [k] at the place of x [n] among the keys [k], which are
 * bits of elements, sorted as unsigned numbers; values [k + 1] has one more, for elements that are no key. Elements are
 * compared by their bits (KEY=u16 …), or by value (KEY=f32, f64): all NaNs are one key, and -0 is 0.
 *
 * variants: OP=Lookup KEY=u16,u32,u64,f32,f64 VALUE=u16,u32,u64
 */
#include "kernels/family.h"

typedef STORED(KEY) element;
typedef STORED(VALUE) value;

#define BITS_u16   u16
#define BITS_u32   u32
#define BITS_u64   u64
#define BITS_f32   u32
#define BITS_f64   u64
#define BITS(type) JOIN(BITS_, type)

typedef STORED(BITS(KEY)) bits;

static inline bits key_of(element x)
{
#if IS_FLOAT(KEY)
	/* The bits of the quiet NaN are those of infinity and the highest bit of the fraction. */
	const bits infinite = JOIN(bits_, KEY)(LARGEST(KEY)), quiet = infinite | infinite >> 1;

	return x != x ? quiet : x == 0 ? 0 : JOIN(bits_, KEY)(x);
#else
	return x;
#endif
}

void KERNEL(const element *x, const bits *keys, const value *values, value *y, int64_t n, int64_t k)
{
	for (int64_t i = 0; i < n; i++) {
		bits key = key_of(x[i]);
		int64_t low = 0, count = k;

		/* The first key that is not less is `low` to `low + count`. */
		while (count > 0) {
			int64_t half = count / 2;
			int less = keys[low + half] < key;

			low += less ? half + 1 : 0;
			count = less ? count - half - 1 : half;
		}
		y[i] = values[low < k && keys[low] == key ? low : k];
	}
}
SIGNATURE("split=n op=Lookup", "in x " TEXT(KEY) "[n], in keys " TEXT(BITS(KEY)) "[k], in values " TEXT(
				       VALUE) "[v], out y " TEXT(VALUE) "[n], n i64, k i64");
