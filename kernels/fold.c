/* fold.c: the parts of ranks as one: x[0], x[1] … -> y, in this order. Sums are Sum (sum.c), which rounds floats of
 * 16 bits once; so does prod here. As in Max and Min, a NaN of any part is a NaN of max and min.
 *
 * variants: OP=Fold TYPE=floats REDUCE=max,min,prod ISA=base,v3
 * variants: OP=Fold TYPE=integers REDUCE=max,min,prod
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

#define REDUCE_max	 0
#define REDUCE_min	 1
#define REDUCE_prod	 2
#define IS_REDUCE(reduce) (JOIN(REDUCE_, REDUCE) == REDUCE_##reduce)

static inline number together(number a, number b)
{
#if IS_REDUCE(prod)
	return a * b;
#elif IS_REDUCE(max)
	return a != a || a > b ? a : b;
#else
	return a != a || a < b ? a : b;
#endif
}

enum { CHUNK = 256 }; /* elements that wait for further parts, since y may be one of these */

void KERNEL(const element *const *x, element *y, int64_t n, int64_t count)
{
	number all[CHUNK];

	for (int64_t from = 0; from < n; from += CHUNK) {
		int64_t run = n - from < CHUNK ? n - from : CHUNK;
		const element *part = x[0] + from;

		for (int64_t i = 0; i < run; i++)
			all[i] = LOAD(TYPE, part[i]);
		for (int64_t k = 1; k < count; k++) {
			part = x[k] + from;
			for (int64_t i = 0; i < run; i++)
				all[i] = together(all[i], LOAD(TYPE, part[i]));
		}
		for (int64_t i = 0; i < run; i++)
			y[from + i] = STORE(TYPE, all[i]);
	}
}
SIGNATURE("split=n op=Fold(op=" TEXT(REDUCE) ")",
	  "in x[] " TEXT(TYPE) "[n], out y@x " TEXT(TYPE) "[n], n i64, count i64 = count(x)");
