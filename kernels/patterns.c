/* patterns.c: tensors with rows that are computed from the numbers of rows and columns, and lists of sizes.
 *
 * variants: OP=OneHot,EyeLike,Trilu,ReverseSequence TYPE=unsigned
 * variants: OP=Range TYPE=f32,f64,i16,i32,i64
 * variants: OP=Sizes TYPE=i64
 */
#include "kernels/family.h"

#define OneHot		0
#define EyeLike		1
#define Trilu		2
#define ReverseSequence 3
#define Range		4
#define Sizes		5

typedef STORED(TYPE) element;

#if OP == OneHot
/* y is `outer` times [depth, i]; indices [outer, i] give the place of the second value along depth. */
void KERNEL(const int64_t *indices, const element *values, element *y, int64_t r, int64_t i, int64_t first,
	    int64_t depth)
{
	for (int64_t done = 0; done < r; done++) {
		int64_t row = (first + done) % depth;
		const int64_t *from = indices + (first + done) / depth * i;

		INDEPENDENT
		for (int64_t e = 0; e < i; e++)
			y[done * i + e] = values[from[e] == row || from[e] == row - depth];
	}
}
SIGNATURE("split=r op=OneHot", "in indices i64[n], in values " TEXT(TYPE) "[2], out y " TEXT(
				       TYPE) "[r,i], r i64, i i64, first i64 = begin(r), depth i64 = attr(depth)");

#elif OP == EyeLike
/* Store the second value if the column is the row plus k. */
void KERNEL(const element *zero, const element *one, element *y, int64_t r, int64_t c, int64_t first, int64_t k)
{
	for (int64_t row = 0; row < r; row++) {
		int64_t at = first + row + k;

		for (int64_t e = 0; e < c; e++)
			y[row * c + e] = *zero;
		if (at >= 0 && at < c)
			y[row * c + at] = *one;
	}
}
SIGNATURE("split=r op=EyeLike", "in zero " TEXT(TYPE) "[1], in one " TEXT(TYPE) "[1], out y " TEXT(
					TYPE) "[r,c], r i64, c i64, first i64 = begin(r), k i64 = attr(k)");

#elif OP == Trilu
/* Matrices of m rows: the upper or the lower triangle, with the diagonal that is *shift to the right. */
void KERNEL(const element *x, const int64_t *shift, element *y, int64_t r, int64_t c, int64_t first, int64_t m,
	    int64_t upper)
{
	for (int64_t row = 0; row < r; row++, x += c, y += c) {
		int64_t at = 0; /* the first column of the upper triangle, or the first one after the lower triangle */

		if (__builtin_add_overflow((first + row) % m + !upper, shift ? *shift : 0, &at))
			at = *shift < 0 ? 0 : c;
		at = at < 0 ? 0 : at > c ? c : at;

		int64_t low = upper ? at : 0, high = upper ? c : at;

		for (int64_t e = 0; e < low; e++)
			y[e] = 0;
		for (int64_t e = low; e < high; e++)
			y[e] = x[e];
		for (int64_t e = high; e < c; e++)
			y[e] = 0;
	}
}
SIGNATURE("split=r op=Trilu",
	  "in x " TEXT(TYPE) "[r,c], in? shift i64[1], out y@x " TEXT(
		  TYPE) "[r,c], r i64, c i64, first i64 = begin(r), m i64 = attr(m), upper i64 = attr(upper)");

#elif OP == ReverseSequence
/* x and y are [batch, time, i] or, with time_first, [time, batch, i]; the first steps of each batch, up to its length,
 * are reversed. */
int KERNEL(const element *x, const int64_t *lengths, element *y, int64_t r, int64_t i, int64_t first, int64_t batch,
	   int64_t time, int64_t time_first)
{
	for (int64_t row = first; row < first + r; row++, y += i) {
		int64_t b = time_first ? row % batch : row / time % batch, t = time_first ? row / batch : row % time;
		int64_t length = lengths[b], back = t < length ? length - 1 - t : t;

		if (length < 0 || length > time)
			return 1;

		const element *from = x + (time_first ? back * batch + b : b * time + back) * i;

		INDEPENDENT
		for (int64_t e = 0; e < i; e++)
			y[e] = from[e];
	}
	return 0;
}
SIGNATURE("split=r op=ReverseSequence",
	  "in x " TEXT(TYPE) "[p], in lengths i64[batch], out y " TEXT(
		  TYPE) "[r,i], r i64, i i64, first i64 = begin(r), batch i64, time i64 = attr(time), time_first i64 = "
			"attr(time_first) -> status");

#elif OP == Sizes
/* Numbers of the call, which depend on sizes with bounds. */
void KERNEL(element *y, int64_t n, int64_t first, const int64_t *numbers)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = numbers[first + i];
}
SIGNATURE("split=n op=Sizes",
	  "out y " TEXT(TYPE) "[n], n i64, first i64 = begin(n), numbers ptr = attr(numbers)");

#else
/* start + i * step; modulo 2^bits for integers. */
void KERNEL(const element *start, const element *step, element *y, int64_t n, int64_t first)
{
	for (int64_t i = 0; i < n; i++)
#if IS_FLOAT(TYPE)
		y[i] = *start + (element)(first + i) * *step;
#else
		y[i] = (element)((uint64_t)*start + (uint64_t)(first + i) * (uint64_t)*step);
#endif
}
SIGNATURE("split=n op=Range", "in start " TEXT(TYPE) "[1], in step " TEXT(TYPE) "[1], out y " TEXT(
				      TYPE) "[n], n i64, first i64 = begin(n)");
#endif
