/* scatter.c: y [n, i] is x [n, i] with rows of updates [m, i] put at places [m], in their order, or combined with the
 * elements there. Every core looks through all places for its own.
 *
 * variants: OP=Scatter TYPE=unsigned
 * variants: OP=Scatter TYPE=numbers REDUCTION=add,mul,max,min
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

#ifdef REDUCTION
#define REDUCTIONS "(reduction=" TEXT(REDUCTION) ")"

static inline number reduce_add(number a, number b)
{
	return a + b;
}

static inline number reduce_mul(number a, number b)
{
#if IS_FLOAT(TYPE)
	return a * b;
#else
	return (number)((uint64_t)a * (uint64_t)b); /* modulo 2^bits */
#endif
}

/* Return whether it is a NaN, which stays a NaN. */
static inline int is_nan(number a)
{
#if IS_FLOAT(TYPE)
	return a != a;
#else
	(void)a;
	return 0;
#endif
}

static inline number reduce_max(number a, number b)
{
	return a > b || is_nan(a) ? a : b;
}

static inline number reduce_min(number a, number b)
{
	return a < b || is_nan(a) ? a : b;
}

static inline element combine(element a, element b)
{
	return STORE(TYPE, JOIN(reduce_, REDUCTION)(LOAD(TYPE, a), LOAD(TYPE, b)));
}
#else
#define REDUCTIONS ""

static inline element combine(element a, element b)
{
	(void)a;
	return b;
}
#endif

/* Rows first … first + n - 1 of y. */
void KERNEL(const element *x, const int64_t *places, const element *updates, element *y, int64_t n, int64_t i,
	    int64_t m, int64_t first)
{
	for (int64_t e = 0; y != x && e < n * i; e++) /* in place, only rows at places are changed */
		y[e] = x[e];
	for (int64_t r = 0; r < m; r++) {
		int64_t place = places[r] - first;

		if (place < 0 || place >= n)
			continue;
		INDEPENDENT
		for (int64_t e = 0; e < i; e++)
			y[place * i + e] = combine(y[place * i + e], updates[r * i + e]);
	}
}
SIGNATURE("split=n op=Scatter" REDUCTIONS,
	  "in x " TEXT(TYPE) "[n,i], in places i64[m], in updates " TEXT(TYPE) "[m,i], out y@x " TEXT(
		  TYPE) "[n,i], n i64, i i64, m i64, first i64 = begin(n)");
