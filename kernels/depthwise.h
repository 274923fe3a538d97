/* depthwise.h: what convolutions of single channels do where windows are 3 x 3, strides 1 or 2, and nothing is dilated,
 * as nearly all are: plane by plane, ROWS rows of results and a vector of columns at a time, so that a row of input is
 * loaded once for all results that meet it. A plane is first laid out with its zeros around it.
 *
 * Sums are those of any other way: products in the order of the window, then the bias. */
#ifndef SK_KERNELS_DEPTHWISE_H
#define SK_KERNELS_DEPTHWISE_H

#include "kernels/product.h"

/* Planes are often 7, 14, 28 … high. So many numbers are read and written behind one that is laid out. */
enum { ROWS = 7, BEHIND_PLANE = 2 * LANES };

/* One plane of input as it is, and laid out. */
struct plane {
	const element *x, *end; /* behind the last plane: what may be read */
	int64_t height, width, top, left; /* of it, and zeros in front */
	int64_t reach, pitch; /* rows and numbers of a row that results meet, with zeros */
	number *laid;
};

/* Results of a plane. */
struct results {
	element *y, *end; /* behind the last plane: what may be written */
	int64_t height, width;
};

static ALWAYS_INLINE void put_zeros(number *from, const number *to)
{
	for (; from < to; from += LANES)
		store(from, (vector){});
}

/* As vectors, the last of which overlaps the one before it. One that is too long goes where zeros come. */
static ALWAYS_INLINE void lay_numbers(const element *row, int64_t count, const element *end, number *to)
{
	if (CONVERTED || end - row < LANES)
		for (int64_t i = 0; i < count; i++)
			to[i] = LOAD(TYPE, row[i]);
	else
		for (int64_t i = 0; i < count; i += LANES) {
			int64_t own = i && count - i < LANES ? count - LANES : i;
			store(to + own, load((const number *)row + own));
		}
	if (count < LANES)
		store(to + count, (vector){});
}

/* Where zeros are already. */
static ALWAYS_INLINE void lay_plane(const struct plane *plane)
{
	int64_t width = least(plane->width, plane->pitch - plane->left);
	int64_t height = least(plane->height, plane->reach - plane->top);
	number *to = plane->laid + plane->top * plane->pitch + plane->left;

	for (int64_t row = 0; row < height; row++, to += plane->pitch)
		lay_numbers(plane->x + row * plane->width, width, plane->end, to);
}

/* Every second number of two vectors, from the first or the second one on. */
static ALWAYS_INLINE vector pick(vector a, vector b, const int first)
{
	vector picked;

#if VECTOR_BYTES == 64 && SIZE(TYPE) == 8
	picked = first ? PICK(a, b, 1, 3, 5, 7, 9, 11, 13, 15) : PICK(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
#elif VECTOR_BYTES == 64
	picked = first ? PICK(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)
		       : PICK(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
#elif VECTOR_BYTES == 32 && SIZE(TYPE) == 8
	picked = first ? PICK(a, b, 1, 3, 5, 7) : PICK(a, b, 0, 2, 4, 6);
#elif VECTOR_BYTES == 32
	picked = first ? PICK(a, b, 1, 3, 5, 7, 9, 11, 13, 15) : PICK(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
#elif SIZE(TYPE) == 8
	picked = first ? PICK(a, b, 1, 3) : PICK(a, b, 0, 2);
#else
	picked = first ? PICK(a, b, 1, 3, 5, 7) : PICK(a, b, 0, 2, 4, 6);
#endif
	return picked;
}

/* What LANES results meet in one row of their windows. */
static ALWAYS_INLINE void load_three(const number *row, const int stride, vector *met)
{
	if (stride == 1) {
		for (int i = 0; i < 3; i++)
			met[i] = load(row + i);
	} else {
		vector a = load(row), b = load(row + LANES);

		met[0] = pick(a, b, 0);
		met[1] = pick(a, b, 1);
		met[2] = pick(load(row + 2), load(row + 2 + LANES), 0);
	}
}

/* rows and stride are constants wherever this is inlined. */
static ALWAYS_INLINE void sum_rows(const number *from, int64_t pitch, const vector *filter, const int rows,
				   const int stride, vector *sums)
{
#pragma GCC unroll 8
	for (int i = 0; i < rows; i++)
		sums[i] = (vector){};
#pragma GCC unroll 16
	for (int row = 0; row < (rows - 1) * stride + 3; row++) {
		vector met[3];

		load_three(from, stride, met);
		from += pitch;
#pragma GCC unroll 8
		for (int i = 0; i < rows; i++) {
			const int place = row - i * stride;
#pragma GCC unroll 3
			for (int x = 0; x < 3; x++)
				if (place >= 0 && place < 3)
					sums[i] = FUSED(filter[3 * place + x], met[x], sums[i]);
		}
	}
}

/* Rows shorter than a vector are written in order, so what is too much is written again; the others end with a vector
 * that overlaps the one before it. */
static ALWAYS_INLINE void put_row(element *to, const element *end, int64_t width, vector sums)
{
	if (!CONVERTED && end - to >= LANES)
		store((number *)to, sums);
	else
		for (int64_t i = 0; i < (int64_t)least(LANES, width); i++)
			to[i] = STORE(TYPE, sums[i]);
}

static ALWAYS_INLINE void sum_columns(const struct plane *plane, const struct results *results, int64_t row,
				      const vector *filter, number bias, const int rows, const int stride)
{
	const int64_t width = results->width;

	for (int64_t column = 0; column < width; column += LANES) {
		int64_t own = column && width - column < LANES ? width - LANES : column;
		vector sums[ROWS];

		sum_rows(plane->laid + row * stride * plane->pitch + own * stride, plane->pitch, filter, rows, stride,
			 sums);
		element *to = results->y + row * width + own;
#pragma GCC unroll 8
		for (int i = 0; i < rows; i++)
			sums[i] += bias - (vector){};
		if (!CONVERTED && __builtin_expect(results->end - to >= (rows - 1) * width + LANES, 1))
#pragma GCC unroll 8
			for (int i = 0; i < rows; i++)
				store((number *)to + i * width, sums[i]);
		else
#pragma GCC unroll 8
			for (int i = 0; i < rows; i++)
				put_row(to + i * width, results->end, width, sums[i]);
	}
}

static ALWAYS_INLINE void sum_strided(const struct plane *plane, const struct results *results, const vector *filter,
				      number bias, const int stride)
{
	int64_t row = 0;

	for (; row + ROWS <= results->height; row += ROWS)
		sum_columns(plane, results, row, filter, bias, ROWS, stride);
	for (; row < results->height; row++)
		sum_columns(plane, results, row, filter, bias, 1, stride);
}

/* One plane; the filter has 9 elements. */
static ALWAYS_INLINE void convolve_plane(const struct plane *plane, const struct results *results,
					 const element *filter, number bias, int64_t stride)
{
	vector factors[9];

	for (int i = 0; i < 9; i++)
		factors[i] = LOAD(TYPE, filter[i]) - (vector){};
	lay_plane(plane);
	if (stride == 1)
		sum_strided(plane, results, factors, bias, 1);
	else
		sum_strided(plane, results, factors, bias, 2);
}

#endif
