/* pad.c: y [n], of dimensions `dims`, is a block of x of `sizes`, from offset0 on, with `pads` elements before each
 * dimension and the rest after it. The added elements are a number (constant), or elements of the block: repeated
 * backwards from the border (reflect), its border (edge), or its other end (wrap).
 *
 * variants: OP=Pad TYPE=unsigned MODE=constant,reflect,edge,wrap
 */
#include "kernels/family.h"

#define MODE_constant 0
#define MODE_reflect  1
#define MODE_edge     2
#define MODE_wrap     3
#define IS_MODE(mode) (JOIN(MODE_, MODE) == MODE_##mode)

typedef STORED(TYPE) element;

/* Return the index in a dimension of the block for index i, which may lie outside; -1: none. */
static inline int64_t place_of(int64_t i, int64_t size)
{
	int64_t period = IS_MODE(reflect) ? 2 * size - 2 : size;

	if (i >= 0 && i < size)
		return i;
	if (IS_MODE(constant))
		return -1;
	if (IS_MODE(edge))
		return i < 0 ? 0 : size - 1;
	if (!period)
		return 0;
	i %= period;
	i += i < 0 ? period : 0;
	return i < size ? i : period - i;
}

/* Elements first … first + n - 1 of y. */
void KERNEL(const element *x, const element *number, element *y, int64_t n, int64_t first, int64_t rank,
	    const int64_t *dims, const int64_t *sizes, const int64_t *pads, const int64_t *strides, int64_t offset)
{
	const element fill = IS_MODE(constant) && number ? *number : 0;
	int64_t last = rank - 1, run;
	struct walk walk;

	walk_begin(&walk, rank, dims, first);
	for (; n > 0; n -= run, y += run) {
		int64_t base = offset, begin = walk.index[last] - pads[last], outside = 0;

		run = walk_run(&walk, n);
		for (int64_t d = 0; d < last; d++) {
			int64_t place = place_of(walk.index[d] - pads[d], sizes[d]);

			outside |= place < 0;
			base += place * strides[d];
		}

		/* Elements [low, high) of the run are in the block. */
		int64_t low = begin < 0 ? -begin : 0, high = sizes[last] - begin;

		low = outside || low > run ? run : low;
		high = high > run ? run : high < low ? low : high;
		for (int64_t i = 0; i < run; i++) {
			if (i == low && low < high) {
				const element *from = x + base + (begin + low) * strides[last];

				for (int64_t e = low; e < high; e++)
					y[e] = from[(e - low) * strides[last]];
				i = high - 1;
				continue;
			}
			y[i] = IS_MODE(constant) ? fill : x[base + place_of(begin + i, sizes[last]) * strides[last]];
		}
		walk_on(&walk, run);
	}
}
SIGNATURE(
	"split=n op=Pad(mode=" TEXT(MODE) ")",
	"in x " TEXT(TYPE) "[p], in? number " TEXT(TYPE) "[1], out y " TEXT(
		TYPE) "[n], n i64, first i64 = begin(n), rank i64 = attr(rank), dims ptr = attr(dims), sizes ptr = "
		      "attr(sizes), pads ptr = attr(pads), strides0 ptr = attr(strides0), offset0 i64 = attr(offset0)");
