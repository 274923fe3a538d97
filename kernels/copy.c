/* copy.c: elements are moved to other places. Their type is only a size.
 *
 * variants: OP=Copy TYPE=unsigned FORM=same,rows,strided,transpose
 */
#include "kernels/family.h"

#define FORM_same      0
#define FORM_rows      1
#define FORM_strided   2
#define FORM_transpose 3
#define IS_FORM(form)  (JOIN(FORM_, FORM) == FORM_##form)

typedef STORED(TYPE) element;

static inline void copy_run(const element *x, element *y, int64_t n, int64_t stride)
{
	if (stride == 1) {
		INDEPENDENT
		for (int64_t i = 0; i < n; i++)
			y[i] = x[i];
		return;
	}
	if (!stride) {
		const element value = *x;

		INDEPENDENT
		for (int64_t i = 0; i < n; i++)
			y[i] = value;
		return;
	}
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i * stride];
}

#if IS_FORM(same)
void KERNEL(const element *x, element *y, int64_t n)
{
	copy_run(x, y, n, 1);
}
SIGNATURE("split=n op=Copy", "in x " TEXT(TYPE) "[n], out y " TEXT(TYPE) "[n], n i64");

#elif IS_FORM(rows)
void KERNEL(const element *x, element *y, int64_t m, int64_t k, int64_t stride)
{
	for (int64_t i = 0; i < m; i++)
		copy_run(x + i * k, y + i * stride, k, 1);
}
SIGNATURE("split=m op=Copy(form=rows)",
	  "in x " TEXT(TYPE) "[m,k], out y " TEXT(TYPE) "[m,k:stride], m i64, k i64, stride i64");

#elif IS_FORM(strided)
void KERNEL(const element *x, element *y, int64_t n, int64_t first, int64_t rank, const int64_t *dims,
	    const int64_t *strides, int64_t offset)
{
	int64_t step = rank ? strides[rank - 1] : 0, run;
	struct walk walk;

	walk_begin(&walk, rank, dims, first);
	for (; n > 0; n -= run, y += run) {
		run = walk_run(&walk, n);
		copy_run(x + offset + walk_place(&walk, strides), y, run, step);
		walk_on(&walk, run);
	}
}
SIGNATURE("split=n op=Copy(form=strided)",
	  "in x " TEXT(TYPE) "[p], out y " TEXT(
		  TYPE) "[n], n i64, first i64 = begin(n), rank i64 = attr(rank), dims ptr = "
			"attr(dims), strides0 ptr = attr(strides0), offset0 i64 = "
			"attr(offset0)");

#else
enum { BLOCK = 16 };

/* Rows first … first + rows - 1 of y, which are columns of matrices of m rows of n elements. */
void KERNEL(const element *x, element *y, int64_t rows, int64_t m, int64_t first, int64_t n)
{
	for (int64_t done = 0, block; done < rows; done += block) {
		int64_t row = first + done, column = row % n;
		const element *from = x + row / n * n * m + column;
		element *to = y + done * m;

		block = rows - done < BLOCK ? rows - done : BLOCK;
		block = n - column < block ? n - column : block;
		for (int64_t i = 0; i < m; i++)
			for (int64_t j = 0; j < block; j++)
				to[j * m + i] = from[i * n + j];
	}
}
SIGNATURE("split=r op=Copy(form=transpose)",
	  "in x " TEXT(TYPE) "[p], out y " TEXT(TYPE) "[r,m], r i64, m i64, first i64 = begin(r), n i64 = attr(n)");
#endif
