/* gather.c: rows of a tensor by number: the whole x [p] is `outer` times [k, i]; y [r, i] is `outer` times [j, i]. The
 * type of moved elements is only a size. Numbers below 0 count from the end; numbers out of range are an error of the
 * task.
 *
 * variants: OP=Gather TYPE=unsigned INDEX=i64,i32
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;
typedef STORED(INDEX) number;

/* Rows first … first + rows - 1 of y. */
int KERNEL(const element *x, const number *indices, element *y, int64_t rows, int64_t first, int64_t i, int64_t j,
	   int64_t k)
{
	int64_t outer = first / j, at = first % j;

	for (int64_t r = 0; r < rows; r++, y += i) {
		int64_t index = indices[at];

		index += index < 0 ? k : 0;
		if (index < 0 || index >= k)
			return 1;

		const element *from = x + (outer * k + index) * i;

		INDEPENDENT
		for (int64_t e = 0; e < i; e++)
			y[e] = from[e];
		if (++at == j) {
			at = 0;
			outer++;
		}
	}
	return 0;
}
SIGNATURE("split=r op=Gather",
	  "in x " TEXT(TYPE) "[p], in indices " TEXT(INDEX) "[j], out y " TEXT(
		  TYPE) "[r,i], r i64, first i64 = begin(r), i i64, j i64, k i64 = attr(k) -> status");
