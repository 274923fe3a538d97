/* det.c: Det, y [n] of matrices x [n, m, m]: the product of the pivots. Each pivot is the largest remaining number of
 * its column.
 *
 * variants: OP=Det TYPE=floats
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

static number magnitude(number x)
{
	return x < 0 ? -x : x;
}

/* Return the row from `first` on with the largest number in that column. */
static int64_t find_pivot(const number *rows, int64_t m, int64_t first)
{
	int64_t best = first;

	for (int64_t i = first + 1; i < m; i++)
		if (magnitude(rows[i * m + first]) > magnitude(rows[best * m + first]))
			best = i;
	return best;
}

static void subtract_row(number *row, const number *pivot, number factor, int64_t n)
{
	INDEPENDENT
	for (int64_t i = 0; i < n; i++)
		row[i] -= factor * pivot[i];
}

static number determinant(number *rows, int64_t m)
{
	number product = 1;

	for (int64_t step = 0; step < m; step++) {
		int64_t best = find_pivot(rows, m, step);
		number *pivot = rows + step * m;

		for (int64_t i = 0; i < m && best != step; i++) {
			number other = pivot[i];
			pivot[i] = rows[best * m + i];
			rows[best * m + i] = other;
		}
		product *= best == step ? pivot[step] : -pivot[step];
		if (pivot[step] == 0)
			return product;
		for (int64_t i = step + 1; i < m; i++)
			subtract_row(rows + i * m + step, pivot + step, rows[i * m + step] / pivot[step], m - step);
	}
	return product;
}

void KERNEL(const element *x, element *y, int64_t n, int64_t m, number *rows)
{
	for (int64_t matrix = 0; matrix < n; matrix++) {
		for (int64_t i = 0; i < m * m; i++)
			rows[i] = LOAD(TYPE, x[matrix * m * m + i]);
		y[matrix] = STORE(TYPE, determinant(rows, m));
	}
}
SIGNATURE("split=n op=Det",
	  "in x " TEXT(TYPE) "[n,m,m], out y " TEXT(TYPE) "[n], n i64, m i64, scratch rows " TEXT(JOIN(COMPUTED_TYPE_,
												       TYPE)) "[m*m]");
