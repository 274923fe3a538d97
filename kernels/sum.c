/* sum.c: Sum of any number of inputs: x[0], x[1] … -> y, added in this order. Each is read once, and floats of 16 bits
 * are rounded once.
 *
 * variants: OP=Sum TYPE=floats ISA=base,v3
 * variants: OP=Sum TYPE=integers
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

enum {
	MOST_AT_ONCE = 8, /* with addresses in registers */
	CHUNK = 256, /* elements that wait for further inputs, since y may be one of these */
};

/* `count` is a constant wherever this is inlined, so that the inner loop is unrolled. */
static inline __attribute__((always_inline)) void add(const element *const *x, int64_t count, const number *before,
						      number *sum, element *y, int64_t n)
{
	const element *inputs[MOST_AT_ONCE];

	for (int64_t k = 0; k < count; k++)
		inputs[k] = x[k];
	INDEPENDENT
	for (int64_t i = 0; i < n; i++) {
		number all = before ? before[i] + LOAD(TYPE, inputs[0][i]) : LOAD(TYPE, inputs[0][i]);

		for (int64_t k = 1; k < count; k++)
			all = all + LOAD(TYPE, inputs[k][i]);
		if (y)
			y[i] = STORE(TYPE, all);
		else
			sum[i] = all;
	}
}

static inline void add_last(const element *const *x, int64_t count, const number *before, element *y, int64_t n)
{
	switch (count) {
#define CASE(number)                                                                                                   \
	case number:                                                                                                   \
		add(x, number, before, 0, y, n);                                                                       \
		break;
		CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
	}
}

static void add_many(const element *const *x, int64_t count, element *y, int64_t n)
{
	const element *inputs[MOST_AT_ONCE];
	number sum[CHUNK];

	for (int64_t i = 0; i < n; i += CHUNK) {
		int64_t run = n - i < CHUNK ? n - i : CHUNK;

		for (int64_t from = 0; from < count; from += MOST_AT_ONCE) {
			int64_t some = count - from < MOST_AT_ONCE ? count - from : MOST_AT_ONCE;

			for (int64_t k = 0; k < some; k++)
				inputs[k] = x[from + k] + i;
			if (!from)
				add(inputs, MOST_AT_ONCE, 0, sum, 0, run);
			else if (from + some < count)
				add(inputs, MOST_AT_ONCE, sum, sum, 0, run);
			else
				add_last(inputs, some, sum, y + i, run);
		}
	}
}

void KERNEL(const element *const *x, element *y, int64_t n, int64_t count)
{
	if (count <= MOST_AT_ONCE)
		add_last(x, count, 0, y, n);
	else
		add_many(x, count, y, n);
}
SIGNATURE("split=n op=Sum", "in x[] " TEXT(TYPE) "[n], out y@x " TEXT(TYPE) "[n], n i64, count i64 = count(x)");
