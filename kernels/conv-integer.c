/* conv-integer.c: ConvInteger with 2 or 3 spatial dimensions, in 32 bits: rows of input, without their zero point,
 * times a number of a filter, are added to rows of results. There is one zero point, or 0 if it is absent; with
 * ZEROS=filters, wz is a number for each filter.
 *
 * variants: OP=ConvInteger INPUT=u8,i8 FILTER=u8,i8 SPATIAL=2,3 ZEROS=one,filters ISA=base,v3
 */
#include "kernels/family.h"
#include "kernels/spatial.h"

typedef STORED(INPUT) input;
typedef STORED(FILTER) filter;

struct convolution {
	int64_t in[3], window[3], out[3], strides[3], dilations[3], pads[3];
};

enum { STRIP = 256 }; /* results of a row at a time */

static inline int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Add one product each to results [first, first + count) of a row, of elements of one row of x. */
static inline void add_row(const struct convolution *of, const input *row, int32_t zero, int32_t factor, int64_t place,
			   int64_t first, int64_t count, int32_t *sums)
{
	int64_t stride = of->strides[2], begin = place * of->dilations[2] - of->pads[2] + first * stride;
	int64_t low = begin < 0 ? (-begin + stride - 1) / stride : 0;
	int64_t high = begin >= of->in[2] ? 0 : smaller((of->in[2] - begin + stride - 1) / stride, count);

	if (stride == 1)
		for (int64_t i = low; i < high; i++)
			sums[i] += factor * (row[begin + i] - zero);
	else
		for (int64_t i = low; i < high; i++)
			sums[i] += factor * (row[begin + i * stride] - zero);
}

/* Add the products of one channel. */
static inline void add_channel(const struct convolution *of, const input *x, int32_t zero, const filter *w,
			       int32_t w_zero, int64_t row, int64_t first, int64_t count, int32_t *sums)
{
	for (int64_t a = 0; a < of->window[0]; a++)
		for (int64_t b = 0; b < of->window[1]; b++) {
			int64_t z = row / of->out[1] * of->strides[0] + a * of->dilations[0] - of->pads[0];
			int64_t y = row % of->out[1] * of->strides[1] + b * of->dilations[1] - of->pads[1];
			if (z < 0 || z >= of->in[0] || y < 0 || y >= of->in[1])
				continue;
			for (int64_t c = 0; c < of->window[2]; c++)
				add_row(of, x + (z * of->in[1] + y) * of->in[2], zero,
					w[(a * of->window[1] + b) * of->window[2] + c] - w_zero, c, first, count, sums);
		}
}

#define STEP_one     0
#define STEP_filters 1
enum { STEP = JOIN(STEP_, ZEROS) }; /* from the zero point of a filter to the next */

/* Compute planes [first, first + planes) of results. */
void KERNEL(const input *x, const filter *filters, const input *xz, const filter *wz, int32_t *y, int64_t c, int64_t d,
	    int64_t o, EXTENTS, LISTS, int64_t group, int64_t first, int64_t planes)
{
	struct convolution of = {.in = {IN},
				 .window = {WINDOW},
				 .out = {OUT},
				 .strides = {LIST(strides, 1)},
				 .dilations = {LIST(dilations, 1)},
				 .pads = {LIST(pads, 0)}};
	int64_t in = of.in[0] * of.in[1] * of.in[2], window = of.window[0] * of.window[1] * of.window[2],
		rows = of.out[0] * of.out[1];

	for (int64_t at = first * rows; at < (first + planes) * rows; at++)
		for (int64_t begin = 0; begin < of.out[2]; begin += STRIP) {
			int64_t plane = at / rows, image = plane / o, result = plane % o,
				group_first = result / (o / group) * d;
			int64_t count = smaller(STRIP, of.out[2] - begin);
			int32_t sums[STRIP];

			for (int64_t i = 0; i < count; i++)
				sums[i] = 0;
			for (int64_t channel = 0; channel < d; channel++)
				add_channel(&of, x + (image * c + group_first + channel) * in, xz ? *xz : 0,
					    filters + (result * d + channel) * window, wz ? wz[result * STEP] : 0,
					    at % rows, begin, count, sums);
			for (int64_t i = 0; i < count; i++)
				*y++ = sums[i];
		}
}

#define ZEROS_one	   "in? wz " TEXT(FILTER) "[1]"
#define ZEROS_filters	   "in wz " TEXT(FILTER) "[o]"
#define ZEROS_OF(zeros)	   ZEROS_##zeros
#define ZEROS_NAMED(zeros) ZEROS_OF(zeros)
SIGNATURE("split=planes operations=2*planes*" OUT_SIZE "*d*" WINDOW_SIZE " op=ConvInteger(spatial=" TEXT(SPATIAL) ")",
	  "in x " TEXT(INPUT) "[n,c," IN_TEXT "], in filters " TEXT(FILTER) "[o,d," WINDOW_TEXT "], in? xz " TEXT(
		  INPUT) "[1], " ZEROS_NAMED(ZEROS) ", out y i32[planes," OUT_TEXT
						    "], c i64, d i64, o i64, " EXTENTS_TEXT LISTS_TEXT
						    ", first i64 = begin(planes), planes i64");
