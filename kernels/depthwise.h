/* depthwise.h: convolutions of single channels with windows of 3 x 3, strides 1 or 2 and no dilation, which are nearly
 * all. They are computed plane by plane, ROWS rows of results and a vector of columns at a time, so that a row of input
 * is loaded once for all results that use it. If parts of vectors can be loaded, input is read in place; otherwise a
 * plane is first laid out with its zeros around it.
 *
 * Sums have the same order as in the other algorithms: products in the order of the window, then the bias. */
#ifndef SK_KERNELS_DEPTHWISE_H
#define SK_KERNELS_DEPTHWISE_H

#include "kernels/product.h"

/* Planes are often 7, 14, 28 … high. BEHIND_PLANE: numbers read and written after a plane that is laid out. */
enum { ROWS = 7, BEHIND_PLANE = 2 * LANES };

/* One plane of input in place, and laid out. */
struct plane {
	const element *x, *end; /* after the last plane: the end of readable memory */
	int64_t height, width, top, left; /* of it, and zeros before it */
	int64_t reach, pitch; /* rows and numbers of a row that results use, with zeros */
	number *laid;
};

/* Results of a plane. */
struct results {
	element *y, *end; /* after the last plane: the end of writable memory */
	int64_t height, width;
};

static ALWAYS_INLINE void put_zeros(number *from, const number *to)
{
	for (; from < to; from += LANES)
		store(from, (vector){});
}

/* Copy as vectors; the last one overlaps the one before it. If it is too long, it covers zeros. */
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

/* Lay out the plane; the zeros are already there. */
static ALWAYS_INLINE void lay_plane(const struct plane *plane)
{
	int64_t width = least(plane->width, plane->pitch - plane->left);
	int64_t height = least(plane->height, plane->reach - plane->top);
	number *to = plane->laid + plane->top * plane->pitch + plane->left;

	for (int64_t row = 0; row < height; row++, to += plane->pitch)
		lay_numbers(plane->x + row * plane->width, width, plane->end, to);
}

/* Return every second number of two vectors, from the first or the second one on. */
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

/* Load the elements that LANES results use in one row of their windows. */
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

/* Input is read in place if nothing beyond a row's ends is read, which takes longer with short vectors. */
#if defined(PART) && SIZE(TYPE) > 2
#define READS_PARTS 1
#else
#define READS_PARTS 0
#endif
enum way { LAID_ROWS, ROWS_INSIDE, ROWS_WITH_ENDS };

static ALWAYS_INLINE int is_read_there(const struct results *results, int64_t stride)
{
	return READS_PARTS && stride == 1 && (VECTOR_BYTES == 64 || results->width > 2 * LANES);
}

#if READS_PARTS
/* Return the part of a vector from this column of input on that is inside the plane. */
static ALWAYS_INLINE PART part_at(int64_t column, int64_t width)
{
	int64_t first = column < 0 ? least(-column, LANES) : 0;
	int64_t end = width > column ? least(width - column, LANES) : 0;

	return first < end ? PART_OF(first, end) : PART_OF(0, 0);
}

static ALWAYS_INLINE void load_parts(const number *row, const PART *parts, vector *met)
{
	for (int i = 0; i < 3; i++)
		met[i] = LOAD_PART(row + i, parts[i]);
}
#endif

/* Sum up rows of results from `row` and `column`, the first ones of input that they use. rows, stride and way are
 * constants wherever this is inlined. */
static ALWAYS_INLINE void sum_rows(const struct plane *plane, int64_t row, int64_t column, const vector *filter,
				   const int rows, const int stride, const enum way way, vector *sums)
{
	const int64_t pitch = way == LAID_ROWS ? plane->pitch : plane->width;
	const number *from = way == LAID_ROWS ? plane->laid + (row + plane->top) * pitch + column + plane->left
					      : (const number *)plane->x + row * pitch + column;
#if READS_PARTS
	PART parts[3];

	for (int i = 0; i < 3; i++)
		parts[i] = part_at(column + i, plane->width);
#endif
#pragma GCC unroll 8
	for (int i = 0; i < rows; i++)
		sums[i] = (vector){};
#pragma GCC unroll 16
	for (int r = 0; r < (rows - 1) * stride + 3; r++, from += pitch) {
		/* All laid-out rows are zeros if input is read in place. */
		const int inside = way == LAID_ROWS || (row + r >= 0 && row + r < plane->height);
		const number *at = inside ? from : plane->laid;
		vector met[3];

#if READS_PARTS
		if (way == ROWS_WITH_ENDS)
			load_parts(at, parts, met);
		else
#endif
			load_three(at, stride, met);
#pragma GCC unroll 8
		for (int i = 0; i < rows; i++) {
			const int place = r - i * stride;
#pragma GCC unroll 3
			for (int x = 0; x < 3; x++)
				if (place >= 0 && place < 3)
					sums[i] = FUSED(filter[3 * place + x], met[x], sums[i]);
		}
	}
}

/* Surplus elements of a row shorter than a vector are overwritten by the next row. */
static ALWAYS_INLINE void put_row(element *to, const element *end, int64_t width, vector sums)
{
	if (!CONVERTED && end - to >= LANES)
		store((number *)to, sums);
	else
		for (int64_t i = 0; i < (int64_t)least(LANES, width); i++)
			to[i] = STORE(TYPE, sums[i]);
}

static ALWAYS_INLINE void put_rows(const struct results *results, int64_t row, int64_t column, const int rows,
				   const vector *sums)
{
	const int64_t width = results->width;
	element *to = results->y + row * width + column;

	if (!CONVERTED && __builtin_expect(results->end - to >= (rows - 1) * width + LANES, 1))
#pragma GCC unroll 8
		for (int i = 0; i < rows; i++)
			store((number *)to + i * width, sums[i]);
	else
#pragma GCC unroll 8
		for (int i = 0; i < rows; i++)
			put_row(to + i * width, results->end, width, sums[i]);
}

/* A row longer than a vector ends with one that overlaps the one before it. */
static ALWAYS_INLINE void sum_columns(const struct plane *plane, const struct results *results, int64_t row,
				      const vector *filter, number bias, const int rows, const int stride,
				      const int is_there)
{
	for (int64_t column = 0; column < results->width; column += LANES) {
		int64_t own = column && results->width - column < LANES ? results->width - LANES : column;
		int64_t first_row = row * stride - plane->top, first = own * stride - plane->left;
		vector sums[ROWS];

		if (!is_there)
			sum_rows(plane, first_row, first, filter, rows, stride, LAID_ROWS, sums);
		else if (first >= 0 && first + LANES + 2 <= plane->width)
			sum_rows(plane, first_row, first, filter, rows, stride, ROWS_INSIDE, sums);
		else
			sum_rows(plane, first_row, first, filter, rows, stride, ROWS_WITH_ENDS, sums);
#pragma GCC unroll 8
		for (int i = 0; i < rows; i++)
			sums[i] += bias - (vector){};
		put_rows(results, row, own, rows, sums);
	}
}

static ALWAYS_INLINE void sum_strided(const struct plane *plane, const struct results *results, const vector *filter,
				      number bias, const int stride, const int is_there)
{
	int64_t row = 0;

	for (; row + ROWS <= results->height; row += ROWS)
		sum_columns(plane, results, row, filter, bias, ROWS, stride, is_there);
	for (; row < results->height; row++)
		sum_columns(plane, results, row, filter, bias, 1, stride, is_there);
}

/* Compute one plane; the filter has 9 elements. */
static ALWAYS_INLINE void convolve_plane(const struct plane *plane, const struct results *results,
					 const element *filter, number bias, int64_t stride)
{
	vector factors[9];

	for (int i = 0; i < 9; i++)
		factors[i] = LOAD(TYPE, filter[i]) - (vector){};
	if (is_read_there(results, stride)) {
		sum_strided(plane, results, factors, bias, 1, READS_PARTS);
		return;
	}
	lay_plane(plane);
	if (stride == 1)
		sum_strided(plane, results, factors, bias, 1, 0);
	else
		sum_strided(plane, results, factors, bias, 2, 0);
}

#endif
