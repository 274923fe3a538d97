/* extremes.c: the gradients of the larger or the smaller one of x and y, for either of them; if they are equal, x gets
 * all of it. x, y, gradient -> dx, dy of the same type.
 *
 * variants: OP=MaximumGrad,MinimumGrad TYPE=floats,i32,i64 FORM=same,strided
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;

#define GOES_TO_X_MaximumGrad(x, y) ((x) >= (y))
#define GOES_TO_X_MinimumGrad(x, y) ((x) <= (y))

static inline void share(const element *x, const element *y, const element *gradient, element *dx, element *dy,
			 int64_t n)
{
	INDEPENDENT
	for (int64_t i = 0; i < n; i++) {
		int to_x = JOIN(GOES_TO_X_, OP)(LOAD(TYPE, x[i]), LOAD(TYPE, y[i]));
		element whole = gradient[i];

		dx[i] = to_x ? whole : 0;
		dy[i] = to_x ? 0 : whole;
	}
}

#define T		   TEXT(TYPE)
#define OUTPUTS		   "out dx " T "[n], out dy " T "[n], n i64"
#define IS_STRIDED_strided 1
#if !JOIN(IS_STRIDED_, FORM)

void KERNEL(const element *x, const element *y, const element *gradient, element *dx, element *dy, int64_t n)
{
	share(x, y, gradient, dx, dy, n);
}
SIGNATURE("split=n op=" TEXT(OP), "in x " T "[n], in y " T "[n], in gradient " T "[n], " OUTPUTS);

#else

enum { CHUNK = 128 };

DEFINE_GATHERED(gathered, element)

void KERNEL(const element *x, const element *y, const element *gradient, element *dx, element *dy, int64_t n,
	    int64_t first, int64_t rank, const int64_t *dims, const int64_t *strides0, const int64_t *strides1,
	    const int64_t *strides2)
{
	int64_t step_x = last_stride(rank, strides0), step_y = last_stride(rank, strides1);
	int64_t step = last_stride(rank, strides2), run;
	element chunks[3][CHUNK];
	struct walk walk;

	walk_begin(&walk, rank, dims, first);
	for (; n > 0; n -= run, dx += run, dy += run) {
		run = walk_run(&walk, n < CHUNK ? n : CHUNK);
		share(gathered(x + walk_place(&walk, strides0), step_x, chunks[0], run),
		      gathered(y + walk_place(&walk, strides1), step_y, chunks[1], run),
		      gathered(gradient + walk_place(&walk, strides2), step, chunks[2], run), dx, dy, run);
		walk_on(&walk, run);
	}
}
SIGNATURE("split=n op=" TEXT(OP) "(form=strided)",
	  "in x " T "[p], in y " T "[q], in gradient " T "[r], " OUTPUTS
	  ", first i64 = begin(n), rank i64 = attr(rank), dims ptr = attr(dims), strides0 ptr = attr(strides0), "
	  "strides1 ptr = attr(strides1), strides2 ptr = attr(strides2)");

#endif
