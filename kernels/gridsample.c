/* gridsample.c: images sampled at the points of a grid: x [m, k] are m images of `dims`, `channels` of them for each of
 * the n parts of the grid [n, p, s]. The grid has p points of s numbers, the last dimension's first: -1 is the
 * beginning of the image, 1 its end. y [m, p] is a weighted sum of the elements near each point.
 *
 * variants: OP=GridSample TYPE=floats
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

enum { ZEROS, BORDER, REFLECTION }; /* values outside of an image */
enum { DIMENSIONS = 3, TAPS = 4 };

/* Along one dimension: elements, -1 for a zero, and their weights. */
struct taps {
	int64_t at[TAPS];
	number weights[TAPS];
};

static number floor_of(number x)
{
	number whole = (number)(int64_t)x;

	return whole > x ? whole - 1 : whole;
}

/* Reflect between the two ends, as in two mirrors. */
static number reflect(number x, number low, number high)
{
	number range = high - low, beyond = x < low ? low - x : x - high, turns, rest;

	if (x >= low && x <= high)
		return x;
	if (!(range > 0))
		return low;
	turns = floor_of(beyond / range);
	rest = beyond - turns * range;
	return ((int64_t)turns % 2 == 0) == (x < low) ? low + rest : high - rest;
}

static int64_t element_at(int64_t at, int64_t size, int64_t outside, number low, number high)
{
	if (at >= 0 && at < size)
		return at;
	if (outside == ZEROS)
		return -1;
	if (outside == REFLECTION)
		at = (int64_t)reflect((number)at, low, high);
	return at < 0 ? 0 : at >= size ? size - 1 : at;
}

/* Round to the nearest, ties to even. */
static number nearest(number x)
{
	number below = floor_of(x), rest = x - below;

	return rest > (number)0.5 || (rest == (number)0.5 && (int64_t)below % 2) ? below + 1 : below;
}

static number cubic(number x)
{
	const number a = (number)-0.75;

	x = x < 0 ? -x : x;
	if (x <= 1)
		return ((a + 2) * x - (a + 3)) * x * x + 1;
	return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static void find_taps(struct taps *taps, number place, int64_t size, int64_t count, int64_t outside, int64_t align)
{
	number low = align ? 0 : (number)-0.5, high = (number)size - (align ? 1 : (number)0.5), first;
	number x = align ? (place + 1) / 2 * ((number)size - 1) : ((place + 1) * (number)size - 1) / 2;

	if (!(x > -0x1p30f && x < 0x1p30f)) /* outside all images */
		x = outside == ZEROS || !(x > 0) ? -0x1p30f : 0x1p30f;
	if (count == 1)
		x = nearest(x);
	if (outside == REFLECTION && (x < low || x > high))
		x = reflect(x, low, high);
	if (outside == BORDER) /* from TAPS on, all elements near it are the border */
		x = x < -TAPS ? -TAPS : x > (number)(size + TAPS) ? (number)(size + TAPS) : x;
	first = count == 1 ? nearest(x) : floor_of(x) - (number)(count / 2 - 1);
	for (int64_t t = 0; t < count; t++) {
		number distance = x - (first + (number)t);

		taps->at[t] = element_at((int64_t)first + t, size, outside, low, high);
		taps->weights[t] = count == 1	? 1
				   : count == 4 ? cubic(distance)
						: 1 - (distance < 0 ? -distance : distance);
	}
}

/* Sum over all taps of all dimensions; an absent dimension has one tap. */
static number sample(const element *x, const struct taps *taps, const int64_t *counts, const int64_t *sizes)
{
	number sum = 0;

	for (int64_t i = 0; i < counts[0]; i++)
		for (int64_t j = 0; j < counts[1]; j++)
			for (int64_t l = 0; l < counts[2]; l++) {
				int64_t a = taps[0].at[i], b = taps[1].at[j], c = taps[2].at[l];
				number weight = taps[0].weights[i] * taps[1].weights[j] * taps[2].weights[l];

				if (a >= 0 && b >= 0 && c >= 0)
					sum += weight * LOAD(TYPE, x[(a * sizes[1] + b) * sizes[2] + c]);
			}
	return sum;
}

/* Images first … first + m - 1. */
void KERNEL(const element *x, const number *grid, element *y, int64_t m, int64_t first, int64_t k, int64_t p, int64_t s,
	    int64_t channels, const int64_t *dims, int64_t count, int64_t outside, int64_t align)
{
	int64_t sizes[DIMENSIONS] = {1, 1, 1}, counts[DIMENSIONS] = {1, 1, 1};
	struct taps taps[DIMENSIONS] = {{{0}, {1}}, {{0}, {1}}, {{0}, {1}}};

	for (int64_t d = 0; d < s; d++) {
		sizes[DIMENSIONS - s + d] = dims[d];
		counts[DIMENSIONS - s + d] = count;
	}
	for (int64_t image = 0; image < m; image++) {
		const number *places = grid + (first + image) / channels * p * s;

		for (int64_t place = 0; place < p; place++) {
			for (int64_t d = 0; d < s; d++)
				find_taps(&taps[DIMENSIONS - 1 - d], places[place * s + d], sizes[DIMENSIONS - 1 - d],
					  count, outside, align);
			y[image * p + place] = STORE(TYPE, sample(x + image * k, taps, counts, sizes));
		}
	}
}
#define PLACES_f32  "f32"
#define PLACES_f64  "f64"
#define PLACES_f16  "f32"
#define PLACES_bf16 "f32"
SIGNATURE("split=m op=GridSample",
	  "in x " TEXT(TYPE) "[m,k], in grid " JOIN(PLACES_, TYPE) "[n,p,s], out y " TEXT(
		  TYPE) "[m,p], m i64, first i64 = begin(m), k i64, p i64, s i64, channels i64 = attr(channels), dims "
			"ptr = attr(dims), count i64 = attr(taps), outside i64 = attr(outside), align i64 = "
			"attr(align_corners)");
