/* conv-transpose.c: ConvTranspose with 2 or 3 spatial dimensions, one plane of results after the other: rows of input,
 * times one number of a filter, are added to rows of results.
 *
 * variants: OP=ConvTranspose TYPE=f32 SPATIAL=2,3 BIAS=with,without ISA=base,v3
 * variants: OP=ConvTranspose TYPE=f64,halves SPATIAL=2,3 BIAS=with,without
 */
#include "kernels/family.h"

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

/* Adds what one plane of input and one filter give. */
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

#define LISTS const int64_t *strides, const int64_t *pads, const int64_t *dilations
#if SPATIAL == 2
#define EXTENTS		int64_t h, int64_t w, int64_t kh, int64_t kw, int64_t oh, int64_t ow
#define IN		1, h, w
#define WINDOW		1, kh, kw
#define OUT		1, oh, ow
#define LIST(of, first) first, of[0], of[1]
#else
#define EXTENTS		int64_t t, int64_t h, int64_t w, int64_t kt, int64_t kh, int64_t kw, int64_t ot, int64_t oh, int64_t ow
#define IN		t, h, w
#define WINDOW		kt, kh, kw
#define OUT		ot, oh, ow
#define LIST(of, first) of[0], of[1], of[2]
#endif

/* d filters for each of c channels; planes [first, first + planes) of results. */
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
#if SPATIAL == 2
#define IN_TEXT	     "h,w"
#define WINDOW_TEXT  "kh,kw"
#define OUT_TEXT     "oh,ow"
#define OUT_SIZE     "oh*ow"
#define PRODUCTS     "h*w*d*kh*kw"
#define EXTENTS_TEXT "h i64, w i64, kh i64, kw i64, oh i64, ow i64"
#else
#define IN_TEXT	     "t,h,w"
#define WINDOW_TEXT  "kt,kh,kw"
#define OUT_TEXT     "ot,oh,ow"
#define OUT_SIZE     "ot*oh*ow"
#define PRODUCTS     "t*h*w*d*kt*kh*kw"
#define EXTENTS_TEXT "t i64, h i64, w i64, kt i64, kh i64, kw i64, ot i64, oh i64, ow i64"
#endif
SIGNATURE("split=planes operations=2*n*c*" PRODUCTS " op=ConvTranspose(spatial=" TEXT(SPATIAL) ")",
	  "in x " T "[n,c," IN_TEXT "], in filters " T "[c,d," WINDOW_TEXT
	  "], " BIAS_NAMED(BIAS) ", out y " T "[planes," OUT_TEXT "], c i64, d i64, " EXTENTS_TEXT
				 ", strides ptr = attr(strides), pads ptr = attr(pads), dilations ptr = "
				 "attr(dilations), group i64 = attr(group,1)"
				 ", first i64 = begin(planes), planes i64, scratch sums " JOIN(NUMBER_,
											       TYPE) "[" OUT_SIZE "]");
