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

/* Elements of one channel, from the squares of `channels` of them, which overflow. */
static SELDOM void divide_scaled(const element *x, const element *from, element *y, int64_t channels, int64_t i,
				 int64_t columns, number alpha, number beta, number bias)
{
	number scales[COLUMNS], squares[COLUMNS], root = MATH(pow)(1 / SHRINK, beta);

	for (int64_t j = 0; j < columns; j++)
		scales[j] = SHRINK;
	fold_columns(from, channels, i, columns, 0, add_scaled_square, add, scales, squares);
	for (int64_t j = 0; j < columns; j++)
		y[j] = STORE(TYPE, LOAD(TYPE, x[j]) / MATH(pow)(bias * SHRINK * SHRINK + alpha * squares[j], beta) /
					   root / root);
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
				if (need_scales(squares, columns, 0)) {
					divide_scaled(x + at, x + low * i + first, y + at, high - low + 1, i, columns,
						      alpha / (number)size, beta, bias);
					continue;
				}
				INDEPENDENT
				for (int64_t j = 0; j < columns; j++) {
					number base = bias + alpha / (number)size * squares[j];

					y[at + j] = STORE(TYPE, LOAD(TYPE, x[at + j]) / MATH(pow)(base, beta));
				}
			}
		}
}
SIGNATURE("split=n op=" TEXT(OP),
	  "in x " TEXT(TYPE) "[n,c,i], out y " TEXT(
		  TYPE) "[n,c,i], n i64, c i64, i i64, size i64 = attr(size), alpha f32 = attr(alpha, "
			"1e-4), beta f32 = attr(beta, 0.75), bias f32 = attr(bias, 1)");
