/* arg.c: the index of the largest or the smallest element along an axis: x [o,k,i] -> y i64 [o,i]; SHAPE=rows is for i
 * = 1. The first one, or the last one with select_last_index=1; a NaN is larger and smaller than all others.
 *
 * variants: OP=ArgMax,ArgMin TYPE=numbers SHAPE=rows,planes
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

#include "kernels/along.h"

#define STEP_ArgMax larger
#define STEP_ArgMin smaller
#define STEP	    JOIN(STEP_, OP)
#define WORD_rows   0
#define WORD_planes 1
#define T	    TEXT(TYPE)

#if JOIN(WORD_, SHAPE) == 0
void KERNEL(const element *x, int64_t *y, int64_t o, int64_t k, int64_t last)
{
	for (int64_t row = 0; row < o; row++, x += k) {
		number best = fold_row(x, k, LOAD(TYPE, x[0]), STEP, STEP, 0);
		int64_t at = last ? k - 1 : 0, end = last ? 0 : k - 1;

		while (at != end && LOAD(TYPE, x[at]) != best && !(IS_NAN(best) && IS_NAN(LOAD(TYPE, x[at]))))
			at += last ? -1 : 1;
		y[row] = at;
	}
}
SIGNATURE("split=o op=" TEXT(OP),
	  "in x " T "[o,k,1], out y i64[o,1], o i64, k i64, last i64 = attr(select_last_index, 0)");
#else
void KERNEL(const element *x, int64_t *y, int64_t o, int64_t k, int64_t i, int64_t last)
{
	number best[COLUMNS];

	for (int64_t row = 0; row < o; row++, x += k * i, y += i)
		for (int64_t first = 0; first < i; first += COLUMNS) {
			int64_t columns = columns_from(first, i);

			for (int64_t j = 0; j < columns; j++) {
				best[j] = LOAD(TYPE, x[first + j]);
				y[first + j] = 0;
			}
			for (int64_t p = 1; p < k; p++)
				for (int64_t j = 0; j < columns; j++) {
					number next = LOAD(TYPE, x[p * i + first + j]), better = STEP(best[j], next, 0);
					int equal = next == best[j] || (IS_NAN(next) && IS_NAN(best[j]));
					int wins = equal ? last != 0 : better != best[j] && !IS_NAN(best[j]);

					best[j] = better;
					y[first + j] = wins ? p : y[first + j];
				}
		}
}
SIGNATURE("split=o op=" TEXT(OP),
	  "in x " T "[o,k,i], out y i64[o,i], o i64, k i64, i i64, last i64 = attr(select_last_index, 0)");
#endif
