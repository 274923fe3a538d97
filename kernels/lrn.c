/* lrn.c: LRN, which divides by the squares of neighbouring channels: x [n,c,i] -> y [n,c,i].
 *
 * variants: OP=LRN TYPE=f32,halves ISA=base,v3
 * variants: OP=LRN TYPE=f64
 */
#include "kernels/family.h"
#include "kernels/math.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

#include "kernels/along.h"

/* Divide again those elements of one channel that have overflowing squares. f64 has room for the squares of f32; those
 * of f64 are computed from numbers times a power of two. `from` is the first of `channels` that are added. */
static SELDOM void divide_wide(const element *x, const element *from, element *y, int64_t channels, int64_t i,
			       int64_t columns, const number *squares, double alpha, double beta, double bias)
{
	double scale = sizeof(number) == sizeof(double) ? 0x1p-768 : 1;
	double unit = alpha == 0 ? 1 : scale, root = pow_f64(1 / unit, beta);

	for (int64_t j = 0; j < columns; j++) {
		double sum = 0;

		if (scale_of_sum(squares[j]) == 1)
			continue;
		for (int64_t p = 0; p < channels; p++) {
			double here = (double)LOAD(TYPE, from[p * i + j]) * scale;
			sum += here * here;
		}
		y[j] = STORE(TYPE, (number)((double)LOAD(TYPE, x[j]) / pow_f64(bias * unit * unit + alpha * sum, beta) /
					    root / root));
	}
}

void KERNEL(const element *x, element *y, int64_t n, int64_t c, int64_t i, int64_t size, float alpha, float beta,
	    float bias)
{
	number squares[COLUMNS];

	for (int64_t image = 0; image < n; image++, x += c * i, y += c * i)
		for (int64_t channel = 0; channel < c; channel++) {
			int64_t low = channel - (size - 1) / 2, high = channel + size / 2;

			low = low < 0 ? 0 : low;
			high = high < c - 1 ? high : c - 1;
			for (int64_t first = 0; first < i; first += COLUMNS) {
				int64_t columns = columns_from(first, i), at = channel * i + first;

				fold_columns(x + low * i + first, high - low + 1, i, columns, 0, add_square, add, 0,
					     squares);
				INDEPENDENT
				for (int64_t j = 0; j < columns; j++) {
					number base = bias + alpha / (number)size * squares[j];

					y[at + j] = STORE(TYPE, LOAD(TYPE, x[at + j]) / MATH(pow)(base, beta));
				}
				if (need_scales(squares, columns, 0))
					divide_wide(x + at, x + low * i + first, y + at, high - low + 1, i, columns,
						    squares, (double)(alpha / (number)size), beta, bias);
			}
		}
}
SIGNATURE("split=n op=" TEXT(OP),
	  "in x " TEXT(TYPE) "[n,c,i], out y " TEXT(
		  TYPE) "[n,c,i], n i64, c i64, i i64, size i64 = attr(size), alpha f32 = attr(alpha, "
			"1e-4), beta f32 = attr(beta, 0.75), bias f32 = attr(bias, 1)");
