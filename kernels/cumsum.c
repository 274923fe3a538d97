/* cumsum.c: sums, or products, of all elements up to each one along an axis: x [o,k,i] -> y [o,k,i].
 *
 * variants: OP=CumSum TYPE=floats,i32,i64,u32,u64
 * variants: OP=CumProd TYPE=f32,f64,i32,i64,u32,u64
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

#include "kernels/along.h"

#define START_CumSum	     0
#define START_CumProd	     1
#define STEP_CumSum(all, x)  ((all) + (x))
#define STEP_CumProd(all, x) ((all) * (x))

void KERNEL(const element *x, element *y, int64_t o, int64_t k, int64_t i, int64_t exclusive, int64_t reverse)
{
	number sums[COLUMNS]; /* or products */

	for (int64_t row = 0; row < o; row++, x += k * i, y += k * i)
		for (int64_t first = 0; first < i; first += COLUMNS) {
			int64_t columns = columns_from(first, i);

			for (int64_t j = 0; j < columns; j++)
				sums[j] = JOIN(START_, OP);
			for (int64_t p = 0; p < k; p++) {
				int64_t at = (reverse ? k - 1 - p : p) * i + first;

				for (int64_t j = 0; j < columns; j++) {
					number before = sums[j];

					sums[j] = JOIN(STEP_, OP)(sums[j], LOAD(TYPE, x[at + j]));
					y[at + j] = STORE(TYPE, exclusive ? before : sums[j]);
				}
			}
		}
}
SIGNATURE("split=o op=" TEXT(OP), "in x " TEXT(TYPE) "[o,k,i], out y@x " TEXT(
					  TYPE) "[o,k,i], o i64, k i64, i i64, exclusive i64 = attr(exclusive, 0), "
						"reverse i64 = attr(reverse, 0)");
