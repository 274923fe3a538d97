/* rotary.c: RotaryEmbedding. In each row of x [r, d], which belongs to a head, pairs of elements are rotated by the
 * angles of the row's position; `cosines` and `sines` have `half` angles for each position. Pairs are elements i and
 * half + i, or, interleaved, 2 i and 2 i + 1; later elements are copied. The rows are those of [batch, heads, rows, d],
 * or, flat, of [batch, rows, heads, d]. If `table` is 0 there are no positions, and a row of angles for each of [batch,
 * rows]; if `together` is not 0 there is one position, that of row 0; a position outside the tables is an error of the
 * task.
 *
 * variants: OP=RotaryEmbedding TYPE=floats
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

/* Elements of a pair lie `apart` elements apart, and pairs `step`. */
static inline __attribute__((always_inline)) void turn_pairs(const element *x, const element *cosines,
							     const element *sines, element *y, int64_t half,
							     int64_t apart, int64_t step)
{
	INDEPENDENT
	for (int64_t i = 0; i < half; i++) {
		number a = LOAD(TYPE, x[i * step]), b = LOAD(TYPE, x[i * step + apart]);
		number cosine = LOAD(TYPE, cosines[i]), sine = LOAD(TYPE, sines[i]);

		y[i * step] = STORE(TYPE, a * cosine - b * sine);
		y[i * step + apart] = STORE(TYPE, a * sine + b * cosine);
	}
}

int KERNEL(const element *x, const element *cosines, const element *sines, const int64_t *positions, element *y,
	   int64_t r, int64_t d, int64_t first, int64_t heads, int64_t rows, int64_t flat, int64_t table,
	   int64_t together, int64_t interleaved, int64_t half)
{
	for (int64_t row = first; row < first + r; row++, x += d, y += d) {
		int64_t at = row / (heads * rows) * rows + (flat ? row / heads : row) % rows;

		if (table)
			at = together ? positions[0] + at % rows : positions[at];
		if (table && (at < 0 || at >= table))
			return 1;
		if (interleaved)
			turn_pairs(x, cosines + at * half, sines + at * half, y, half, 1, 2);
		else
			turn_pairs(x, cosines + at * half, sines + at * half, y, half, half, 1);
		for (int64_t i = 2 * half; i < d; i++)
			y[i] = x[i];
	}
	return 0;
}
#define T TEXT(TYPE)
SIGNATURE("split=r op=RotaryEmbedding",
	  "in x " T "[r,d], in cosines " T "[p], in sines " T "[p], in positions i64[q], out y@x " T
	  "[r,d], r i64, d i64, first i64 = begin(r), heads i64 = attr(heads), rows i64 = attr(rows), flat i64 = "
	  "attr(flat, 0), table i64 = attr(table, 0), together i64 = attr(together, 0), interleaved i64 = "
	  "attr(interleaved, 0), half i64 = attr(half) "
	  "-> status");
