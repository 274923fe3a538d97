/* resize-rows.c: ResizeRows: for each of r elements of an axis that is resized, t rows of the input and their weights,
 * where the numbers of elements are known only when the package runs. For other axes sklink computes them.
 *
 * variants: OP=ResizeRows TYPE=f64
 */
#include "kernels/family.h"

/* The axis: `from` elements become `to`, at a scale of above / below. Codes are those of graph/operators/resize.c. */
struct axis {
	int64_t from, to, above, below;
};

/* Element i comes from the coordinate (i slope + start) / unit. */
struct line {
	int64_t slope, start, unit;
};

static inline struct line line_of(const struct axis *axis, int64_t coordinates)
{
	int64_t from = axis->from, to = axis->to, above = axis->above, below = axis->below;

	switch (coordinates) {
	case 1: /* half_pixel_symmetric */
		return (struct line){2 * below, (from - 1) * above + (1 - to) * below, 2 * above};
	case 2: /* pytorch_half_pixel */
		return to < 2 ? (struct line){0, 0, 1} : (struct line){2 * below, below - above, 2 * above};
	case 3: /* align_corners */
		return to > 1 ? (struct line){(from - 1) * below, 0, above * from - below} : (struct line){0, 0, 1};
	case 4: /* asymmetric */
		return (struct line){below, 0, above};
	case 5: /* tf_half_pixel_for_nn */
		return (struct line){2 * below, below, 2 * above};
	default: /* half_pixel */
		return (struct line){2 * below, below - above, 2 * above};
	}
}

static inline int64_t floor_of_ratio(int64_t above, int64_t below)
{
	int64_t quotient = above / below;

	return quotient * below > above ? quotient - 1 : quotient;
}

static inline int64_t nearest_to(int64_t place, int64_t unit, int64_t mode)
{
	switch (mode) {
	case 1: /* round_prefer_ceil */
		return floor_of_ratio(2 * place + unit, 2 * unit);
	case 2: /* floor */
		return floor_of_ratio(place, unit);
	case 3: /* ceil */
		return -floor_of_ratio(-place, unit);
	default: /* round_prefer_floor */
		return -floor_of_ratio(unit - 2 * place, 2 * unit);
	}
}

static inline double weight_of(int64_t cubic, double a, double distance)
{
	double x = distance < 0 ? -distance : distance;

	if (!cubic)
		return x < 1 ? 1 - x : 0;
	if (x <= 1)
		return ((a + 2) * x - (a + 3)) * x * x + 1;
	return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

void KERNEL(int64_t *rows, double *weights, double *addends, int64_t r, int64_t t, int64_t first, int64_t from,
	    int64_t to, int64_t above, int64_t below, int64_t coordinates, int64_t nearest, int64_t cubic,
	    int64_t excludes, double a)
{
	const struct axis axis = {from, to, above, below};
	const struct line line = line_of(&axis, coordinates);

	for (int64_t i = 0; i < r; i++, rows += t) {
		int64_t place = line.slope * (first + i) + line.start;
		int64_t low = weights ? floor_of_ratio(place, line.unit) - t / 2 + 1
				      : nearest_to(place, line.unit, nearest);
		double sum = 0;

		for (int64_t tap = 0; tap < t; tap++) {
			int64_t row = low + tap, outside = row < 0 || row > from - 1;

			rows[tap] = row < 0 ? 0 : row > from - 1 ? from - 1 : row;
			if (!weights)
				continue;

			double away = (double)(row * line.unit - place) / (double)line.unit;

			weights[tap] = excludes && outside ? 0 : weight_of(cubic, a, away);
			sum += weights[tap];
		}
		if (!weights)
			continue;
		for (int64_t tap = 0; tap < t && excludes && sum != 0; tap++)
			weights[tap] /= sum;
		addends[i] = 0;
		weights += t;
	}
}
SIGNATURE("split=r op=ResizeRows",
	  "out rows i64[r,t], out? weights f64[r,t], out? addends f64[r], r i64, t i64, first i64 = begin(r), from i64 "
	  "= attr(from), to i64 = attr(to), above i64 = attr(above), below i64 = attr(below), coordinates i64 = "
	  "attr(coordinates), nearest i64 = attr(nearest), cubic i64 = attr(cubic), excludes i64 = attr(excludes), a "
	  "f64 = attr(a)");
