/* conv-transpose.c: ConvTranspose with 2 or 3 spatial dimensions, one plane of results after the other: rows of input,
 * times one number of a filter, are added to rows of results.
 *
 * variants: OP=ConvTranspose TYPE=f32 SPATIAL=2,3 BIAS=with,without ISA=base,v3
 * variants: OP=ConvTranspose TYPE=f64,halves SPATIAL=2,3 BIAS=with,without
 */
#include "kernels/family.h"
#include "kernels/spatial.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

struct transposed {
	int64_t in[3], window[3], out[3], strides[3], dilations[3], pads[3];
};

static inline int64_t result_row(const struct transposed *of, int dimension, int64_t at, int64_t place)
{
	int64_t row = at * of->strides[dimension] + place * of->dilations[dimension] - of->pads[dimension];

	return row < of->out[dimension] ? row : -1;
}

static inline void add_row(const struct transposed *of, const element *x, number factor, int64_t place, number *sums)
{
	int64_t stride = of->strides[2], begin = place * of->dilations[2] - of->pads[2];
	int64_t low = begin < 0 ? (-begin + stride - 1) / stride : 0;
	int64_t high = of->out[2] > begin ? (of->out[2] - begin + stride - 1) / stride : 0;

	if (high > of->in[2])
		high = of->in[2];
	for (int64_t i = low; i < high; i++)
		sums[begin + i * stride] += factor * LOAD(TYPE, x[i]);
}

/* Add the products of one plane of input and one filter. */
static inline void add_plane(const struct transposed *of, const element *x, const element *filter, number *sums)
{
	for (int64_t row = 0; row < of->in[0] * of->in[1]; row++)
		for (int64_t a = 0; a < of->window[0]; a++)
			for (int64_t b = 0; b < of->window[1]; b++) {
				int64_t z = result_row(of, 0, row / of->in[1], a),
					y = result_row(of, 1, row % of->in[1], b);
				if (z < 0 || y < 0)
					continue;
				for (int64_t c = 0; c < of->window[2]; c++) {
					number factor = LOAD(TYPE, filter[(a * of->window[1] + b) * of->window[2] + c]);
					add_row(of, x + row * of->in[2], factor, c,
						sums + (z * of->out[1] + y) * of->out[2]);
				}
			}
}

/* d filters for each of c channels; compute planes [first, first + planes) of results. */
void KERNEL(const element *x, const element *filters, const element *bias, element *y, int64_t c, int64_t d, EXTENTS,
	    LISTS, int64_t group, int64_t first, int64_t planes, number *sums)
{
	struct transposed of = {.in = {IN},
				.window = {WINDOW},
				.out = {OUT},
				.strides = {LIST(strides, 1)},
				.dilations = {LIST(dilations, 1)},
				.pads = {LIST(pads, 0)}};
	int64_t in = of.in[0] * of.in[1] * of.in[2], window = of.window[0] * of.window[1] * of.window[2],
		out = of.out[0] * of.out[1] * of.out[2], channels = c / group;

	for (int64_t plane = first; plane < first + planes; plane++, y += out) {
		int64_t image = plane / (d * group), result = plane % (d * group), begin = result / d * channels;
		number start = bias ? LOAD(TYPE, bias[result]) : 0;

		for (int64_t i = 0; i < out; i++)
			sums[i] = start;
		for (int64_t channel = begin; channel < begin + channels; channel++)
			add_plane(&of, x + (image * c + channel) * in, filters + (channel * d + result % d) * window,
				  sums);
		for (int64_t i = 0; i < out; i++)
			y[i] = STORE(TYPE, sums[i]);
	}
}

#define T		 TEXT(TYPE)
#define BIAS_with	 "in bias " T "[o]"
#define BIAS_without	 "bias ptr = null"
#define BIAS_OF(bias)	 BIAS_##bias
#define BIAS_NAMED(bias) BIAS_OF(bias)
#define NUMBER_f32	 "f32"
#define NUMBER_f64	 "f64"
#define NUMBER_f16	 "f32"
#define NUMBER_bf16	 "f32"
SIGNATURE("split=planes operations=2*n*c*" IN_SIZE "*d*" WINDOW_SIZE " op=ConvTranspose(spatial=" TEXT(SPATIAL) ")",
	  "in x " T "[n,c," IN_TEXT "], in filters " T "[c,d," WINDOW_TEXT
	  "], " BIAS_NAMED(BIAS) ", out y " T "[planes," OUT_TEXT "], c i64, d i64, " EXTENTS_TEXT LISTS_TEXT
				 ", first i64 = begin(planes), planes i64, scratch sums " JOIN(NUMBER_,
											       TYPE) "[" OUT_SIZE "]");
