/* conv.c: Conv with 2 or 3 spatial dimensions, as a product of the filters with what each step of their windows meets.
 *
 * For each group, input is first laid out with its zeros (pads) around it, columns that a stride leaves between one
 * another apart (phases), so that what a row of results meets at one place of the window lies side by side. Where the
 * window is one element, input is taken as it is.
 *
 * BY=groups: a group is a matrix product; BY=channels: groups of one channel and one filter are sums of rows. Both
 * divide planes of results, of all images.
 *
 * variants: OP=Conv TYPE=f32 SPATIAL=2,3 BY=groups,channels ISA=base,v3,v4
 * variants: OP=Conv TYPE=f64,halves SPATIAL=2,3 BY=groups,channels ISA=base,v3
 */
#define DEPTH	   256
#define BLOCK_ROWS 264
#include "kernels/depthwise.h"
#include "kernels/product.h"

#define GROUPS_groups	1
#define GROUPS_channels 0
#define IS_GROUPS	JOIN(GROUPS_, BY)

/* Dimensions are [depth, height, width]; where SPATIAL is 2, depth is 1. */
struct convolution {
	const element *x, *filters, *bias;
	element *y;
	int64_t channels, filter_channels, outputs; /* of x, of a filter, of y */
	int64_t in[3], window[3], out[3], strides[3], dilations[3], pads[3];
	int64_t group;
	number *room, *laid, *sums;
	int64_t laid_size; /* numbers in laid */
};

/* Where a step of k finds what the first column of a row of results meets. */
struct steps {
	enum { PLAIN, LAID_OUT, AS_IT_COMES } way; /* the last one where there is too little room to lay input out */
	const element *input; /* the first channel of the group */
	const number *at; /* the same, or where it is laid out */
	int64_t channel, plane, row, phase; /* numbers from one to the next */
	const struct convolution *of;
	struct offsets *offsets;
};

/* Numbers from what the first step meets to what steps from `step` on do. */
struct offsets {
	size_t step;
	int64_t at[DEPTH];
};

enum { STEP = GROUP_COLUMNS + PANEL }; /* of panels: there is room for a vector behind them */

static ALWAYS_INLINE int64_t round_up(int64_t a, int64_t b)
{
	return b == 1 ? a : (a + b - 1) / b; /* divisions take long */
}

/* One row of input, pads included, phase by phase. */
static ALWAYS_INLINE void lay_row(const struct convolution *of, const element *row, int64_t phase_length, number *to)
{
	int64_t stride = of->strides[2], pad = of->pads[2], width = of->in[2];

	for (int64_t phase = 0; phase < stride; phase++, to += phase_length) {
		/* Element i is row[i * stride + phase - pad]. */
		int64_t first = pad > phase ? round_up(pad - phase, stride) : 0;
		int64_t end = pad + width > phase ? round_up(pad + width - phase, stride) : 0, i = 0;
		first = least(first, phase_length);
		end = row ? least(end, phase_length) : 0;
		for (; i < first; i++)
			to[i] = 0;
		if (stride == 1)
			for (; i < end; i++)
				to[i] = LOAD(TYPE, row[i - pad]);
		else
			for (; i < end; i++)
				to[i] = LOAD(TYPE, row[i * stride + phase - pad]);
		for (; i < phase_length; i++)
			to[i] = 0;
	}
}

/* How many elements of input, with pads, results along a dimension meet. */
static ALWAYS_INLINE int64_t reach(const struct convolution *of, int dimension)
{
	return (of->out[dimension] - 1) * of->strides[dimension] +
	       (of->window[dimension] - 1) * of->dilations[dimension] + 1;
}

/* Lays out the channels of a group. */
static ALWAYS_INLINE void lay(const struct convolution *of, const struct steps *steps)
{
	const element *x = steps->input;
	int64_t deep = reach(of, 0), high = reach(of, 1);
	number *to = of->laid;

	for (int64_t c = 0; c < of->filter_channels; c++, x += of->in[0] * of->in[1] * of->in[2])
		for (int64_t z = 0; z < deep; z++)
			for (int64_t y = 0; y < high; y++, to += steps->row) {
				int64_t iz = z - of->pads[0], iy = y - of->pads[1];
				int inside = iz >= 0 && iz < of->in[0] && iy >= 0 && iy < of->in[1];
				lay_row(of, inside ? x + (iz * of->in[1] + iy) * of->in[2] : 0, steps->phase, to);
			}
}

/* Runs of columns of a group of panels: neighbours in one row of results. */
struct runs {
	int64_t count, from[GROUP_COLUMNS], length[GROUP_COLUMNS];
};

static ALWAYS_INLINE void find_runs(const struct steps *steps, int64_t column, int64_t columns, struct runs *runs)
{
	const struct convolution *of = steps->of;

	runs->count = 0;
	while (columns > 0) {
		int64_t x = column % of->out[2], y = column / of->out[2] % of->out[1],
			z = column / of->out[2] / of->out[1];
		int64_t length = least(of->out[2] - x, columns);
		runs->from[runs->count] = z * of->strides[0] * steps->plane + y * of->strides[1] * steps->row + x;
		runs->length[runs->count++] = length;
		column += length;
		columns -= length;
	}
}

/* Steps go through the window, then the channels. */
struct place {
	int64_t c, z, y, x;
};

static ALWAYS_INLINE struct place place_of(const struct convolution *of, int64_t step)
{
	return (struct place){step / of->window[2] / of->window[1] / of->window[0],
			      step / of->window[2] / of->window[1] % of->window[0],
			      step / of->window[2] % of->window[1], step % of->window[2]};
}

static ALWAYS_INLINE void next_place(const struct convolution *of, struct place *place)
{
	if (++place->x < of->window[2])
		return;
	place->x = 0;
	if (++place->y < of->window[1])
		return;
	place->y = 0;
	if (++place->z < of->window[0])
		return;
	place->z = 0;
	place->c++;
}

/* What a column meets at a place, out of input that is not laid out. */
static ALWAYS_INLINE number number_at(const struct steps *steps, const struct place *place, int64_t column)
{
	const struct convolution *of = steps->of;
	int64_t z = column / of->out[2] / of->out[1] * of->strides[0] + place->z * of->dilations[0] - of->pads[0];
	int64_t y = column / of->out[2] % of->out[1] * of->strides[1] + place->y * of->dilations[1] - of->pads[1];
	int64_t x = column % of->out[2] * of->strides[2] + place->x * of->dilations[2] - of->pads[2];

	if (z < 0 || z >= of->in[0] || y < 0 || y >= of->in[1] || x < 0 || x >= of->in[2])
		return 0;
	return LOAD(TYPE, steps->input[((place->c * of->in[0] + z) * of->in[1] + y) * of->in[2] + x]);
}

/* Where steps [step, step + depth) find what the first result meets. */
static ALWAYS_INLINE void find_steps(const struct steps *steps, size_t step, size_t depth)
{
	const struct convolution *of = steps->of;
	int64_t *offsets = steps->offsets->at, stride = of->strides[2];
	struct place place = place_of(of, step);

	for (size_t p = 0; p < depth; p++, next_place(of, &place)) {
		int64_t along = place.x * of->dilations[2];
		offsets[p] = place.c * steps->channel + place.z * of->dilations[0] * steps->plane +
			     place.y * of->dilations[1] * steps->row +
			     (stride == 1 ? along : along % stride * steps->phase + along / stride);
	}
	steps->offsets->step = step;
}

/* One run, for all steps. As vectors: up to a vector more is read, and written where nobody reads, or what comes later
 * lies. */
static ALWAYS_INLINE void copy_vectors(number *to, const number *from, const int64_t *offsets, size_t depth,
				       const int64_t vectors)
{
	for (size_t p = 0; p < depth; p++, to += STEP)
#pragma GCC unroll 6
		for (int64_t v = 0; v < vectors; v++) {
			__builtin_prefetch(from + offsets[p] + v * LANES + GROUP_COLUMNS, 0, 3);
			store(to + v * LANES, load(from + offsets[p] + v * LANES));
		}
}

static ALWAYS_INLINE void copy_run(number *to, const number *from, const int64_t *offsets, size_t depth, int64_t length)
{
	int64_t vectors = round_up(length, LANES);

	if (vectors == 1)
		copy_vectors(to, from, offsets, depth, 1);
	else if (vectors == 2)
		copy_vectors(to, from, offsets, depth, 2);
	else if (vectors == GROUP_COLUMNS / LANES)
		copy_vectors(to, from, offsets, depth, GROUP_COLUMNS / LANES);
	else
		copy_vectors(to, from, offsets, depth, vectors);
}

static ALWAYS_INLINE void copy_exactly(number *to, const number *from, const int64_t *offsets, size_t depth,
				       int64_t length)
{
	for (size_t p = 0; p < depth; p++, to += STEP)
		for (int64_t i = 0; i < length; i++)
			to[i] = from[offsets[p] + i];
}

static ALWAYS_INLINE void copy_as_it_comes(const struct steps *steps, size_t step, size_t depth, size_t column,
					   size_t columns, number *to)
{
	struct place place = place_of(steps->of, step);

	for (size_t p = 0; p < depth; p++, to += STEP, next_place(steps->of, &place))
		for (size_t i = 0; i < columns; i++)
			to[i] = number_at(steps, &place, column + i);
}

static ALWAYS_INLINE struct panels panels_of_input(const void *context, size_t step, size_t depth, size_t column,
						   size_t columns, number *room)
{
	const struct steps *steps = context;
	const int64_t *offsets = steps->offsets->at;
	struct runs runs;

	if (steps->offsets->step != step)
		find_steps(steps, step, depth);
	find_runs(steps, column, columns, &runs);
	if (steps->way == AS_IT_COMES)
		copy_as_it_comes(steps, step, depth, column, columns, room);
	else if (steps->way == PLAIN && columns % LANES)
		copy_exactly(room, steps->at + column, offsets, depth, columns);
	else
		for (int64_t i = 0, at = 0; i < runs.count; at += runs.length[i++])
			copy_run(room + at, steps->at + runs.from[i], offsets, depth, runs.length[i]);
	return (struct panels){room, PANEL, STEP};
}

/* A window of one element that meets each element once needs no layout; results are then one row. */
static ALWAYS_INLINE int is_plain(const struct convolution *of)
{
	int plain = !CONVERTED && IS_GROUPS;

	for (int d = 0; d < 3; d++)
		plain = plain && of->window[d] == 1 && of->strides[d] == 1 && !of->pads[d] && of->in[d] == of->out[d];
	return plain;
}

/* What does not depend on the group. */
static ALWAYS_INLINE void prepare(struct convolution *of, struct steps *steps)
{
	int64_t out = of->out[0] * of->out[1] * of->out[2];

	if (is_plain(of)) {
		of->out[2] = of->in[2] = out;
		of->out[0] = of->out[1] = of->in[0] = of->in[1] = 1;
	}
	steps->phase = round_up(reach(of, 2), of->strides[2]);
	steps->row = steps->phase * of->strides[2];
	steps->plane = reach(of, 1) * steps->row;
	steps->channel = reach(of, 0) * steps->plane;
	if (is_plain(of))
		steps->way = PLAIN;
	else
		steps->way = steps->channel * of->filter_channels + LANES <= of->laid_size ? LAID_OUT : AS_IT_COMES;
}

static ALWAYS_INLINE void enter(const struct convolution *of, const element *input, struct steps *steps)
{
	steps->input = input;
	steps->at = steps->way == LAID_OUT ? of->laid : (const number *)input;
	if (steps->way == LAID_OUT)
		lay(of, steps);
}

#if IS_GROUPS

/* Planes [first, first + count) of results. */
static ALWAYS_INLINE void convolve(struct convolution *of, element *y, int64_t first, int64_t count)
{
	int64_t filters = of->outputs / of->group,
		k = of->filter_channels * of->window[0] * of->window[1] * of->window[2];
	int64_t in = of->in[0] * of->in[1] * of->in[2], out = of->out[0] * of->out[1] * of->out[2];
	struct offsets offsets = {.step = k};
	struct steps steps = {.of = of, .offsets = &offsets};

	prepare(of, &steps);
	for (int64_t end = first + count; first < end;) {
		int64_t image = first / of->outputs, filter = first % of->outputs, group = filter / filters;
		int64_t own = least(end - first, (group + 1) * filters - filter);
		struct product product = {.m = own,
					  .n = out,
					  .k = k,
					  .a = {of->filters + filter * k, k, 1},
					  .b = &steps,
					  .panels = panels_of_input,
					  .c = CONVERTED ? of->sums : (number *)y,
					  .c_row = out,
					  .start = of->bias ? of->bias + filter : 0,
					  .room = of->room};

		enter(of, of->x + (image * of->channels + group * of->filter_channels) * in, &steps);
		if (CONVERTED)
			multiply_converted(&product, y);
		else
			multiply(&product);
		y += own * out;
		first += own;
	}
}

#else

enum { VECTORS = 8 }; /* of results at a time, in one row or several */

/* From where VECTORS vectors of results are summed up: products in the order of the window, then the bias. */
static ALWAYS_INLINE void sum_windows(const number *const *from, const int64_t *offsets, const element *filter,
				      int64_t k, vector *sums)
{
	vector sum[VECTORS] = {};

	for (int64_t p = 0; p < k; p++) {
		vector factor = LOAD(TYPE, filter[p]) - (vector){};
#pragma GCC unroll 8
		for (int i = 0; i < VECTORS; i++)
			sum[i] = FUSED(factor, load(from[i] + offsets[p]), sum[i]);
	}
#pragma GCC unroll 8
	for (int i = 0; i < VECTORS; i++)
		sums[i] += sum[i];
}

/* What is behind the results in a vector is written again later, or must not be written. */
static ALWAYS_INLINE void put(element *to, const element *end, int64_t count, vector sums)
{
	if (!CONVERTED && end - to >= LANES)
		store((number *)to, sums);
	else
		for (int64_t i = 0; i < count; i++)
			to[i] = STORE(TYPE, sums[i]);
}

static ALWAYS_INLINE void sum_plane(const struct steps *steps, const element *filter, number bias, int64_t k,
				    element *y)
{
	const struct convolution *of = steps->of;
	int64_t width = of->out[2], z = 0, row = 0, column = 0;
	const element *end = y + of->out[0] * of->out[1] * width;

	while (z < of->out[0]) {
		const number *from[VECTORS];
		element *to[VECTORS];
		int64_t counts[VECTORS];
		vector sums[VECTORS];
		int used = 0;

		for (; used < VECTORS && z < of->out[0]; used++) {
			from[used] = steps->at + z * of->strides[0] * steps->plane + row * of->strides[1] * steps->row +
				     column;
			to[used] = y;
			counts[used] = least(LANES, width - column);
			y += counts[used];
			column += LANES;
			if (column >= width) {
				column = 0;
				if (++row == of->out[1]) {
					row = 0;
					z++;
				}
			}
		}
		for (int i = used; i < VECTORS; i++)
			from[i] = steps->at;
		for (int i = 0; i < VECTORS; i++)
			sums[i] = bias - (vector){};
		sum_windows(from, steps->offsets->at, filter, k, sums);
		for (int i = 0; i < used; i++)
			put(to[i], end, counts[i], sums[i]);
	}
}

static ALWAYS_INLINE void sum_plane_as_it_comes(const struct steps *steps, const element *filter, number bias,
						int64_t k, element *y)
{
	const struct convolution *of = steps->of;

	for (int64_t i = 0; i < of->out[0] * of->out[1] * of->out[2]; i++) {
		struct place place = {};
		number sum = 0;

		for (int64_t p = 0; p < k; p++, next_place(of, &place))
			sum = FUSED_NUMBER(LOAD(TYPE, filter[p]), number_at(steps, &place, i), sum);
		y[i] = STORE(TYPE, bias + sum);
	}
}

/* Whether depthwise.h does it. */
static ALWAYS_INLINE int is_usual(const struct convolution *of)
{
	int usual = of->in[0] == 1 && of->window[0] == 1 && of->out[0] == 1 && !of->pads[0] &&
		    of->strides[1] == of->strides[2] && of->strides[1] <= 2;

	for (int d = 1; d < 3; d++)
		usual = usual && of->window[d] == 3 && of->dilations[d] == 1 && of->pads[d] < 3 && of->out[d];
	return usual && reach(of, 1) * reach(of, 2) + BEHIND_PLANE <= of->laid_size;
}

static ALWAYS_INLINE void convolve_planes(const struct convolution *of, element *y, int64_t first, int64_t count)
{
	int64_t in = of->in[1] * of->in[2], out = of->out[1] * of->out[2];
	struct plane plane = {.x = of->x,
			      .end = of->x + count * in,
			      .height = of->in[1],
			      .width = of->in[2],
			      .top = of->pads[1],
			      .left = of->pads[2],
			      .reach = reach(of, 1),
			      .pitch = reach(of, 2),
			      .laid = of->laid};
	struct results results = {.y = y, .end = y + count * out, .height = of->out[1], .width = of->out[2]};

	for (int64_t i = first; i < first + count; i++, plane.x += in, results.y += out)
		convolve_plane(&plane, &results, of->filters + i % of->outputs * 9,
			       of->bias ? LOAD(TYPE, of->bias[i % of->outputs]) : 0, of->strides[1]);
}

/* Planes [first, first + count) of results, of which x and y are the first. */
static ALWAYS_INLINE void convolve(struct convolution *of, element *y, int64_t first, int64_t count)
{
	int64_t k = of->window[0] * of->window[1] * of->window[2];
	struct offsets offsets;
	struct steps steps = {.of = of, .offsets = &offsets};

	if (is_usual(of)) {
		convolve_planes(of, y, first, count);
		return;
	}
	prepare(of, &steps);
	if (k > DEPTH)
		steps.way = AS_IT_COMES;
	else
		find_steps(&steps, 0, k);
	for (int64_t i = 0; i < count; i++, y += of->out[0] * of->out[1] * of->out[2]) {
		const element *filter = of->filters + (first + i) % of->outputs * k;
		number bias = of->bias ? LOAD(TYPE, of->bias[(first + i) % of->outputs]) : 0;

		enter(of, of->x + i * of->in[0] * of->in[1] * of->in[2], &steps);
		if (steps.way == AS_IT_COMES)
			sum_plane_as_it_comes(&steps, filter, bias, k, y);
		else
			sum_plane(&steps, filter, bias, k, y);
	}
}
#endif

#define LISTS const int64_t *strides, const int64_t *pads, const int64_t *dilations
#if SPATIAL == 2
#define EXTENTS		int64_t h, int64_t w, int64_t kh, int64_t kw, int64_t oh, int64_t ow
#define IN		1, h, w
#define WINDOW		1, kh, kw
#define OUT		1, oh, ow
#define LIST(of, first) first, of[0], of[1]
#define LAID_SIZE	(d * (h + 2 * kh) * (w + 2 * kw) + 16)
#else
#define EXTENTS		int64_t t, int64_t h, int64_t w, int64_t kt, int64_t kh, int64_t kw, int64_t ot, int64_t oh, int64_t ow
#define IN		t, h, w
#define WINDOW		kt, kh, kw
#define OUT		ot, oh, ow
#define LIST(of, first) of[0], of[1], of[2]
#define LAID_SIZE	(d * (t + 2 * kt) * (h + 2 * kh) * (w + 2 * kw) + 16)
#endif

/* Planes [first, first + count) of y; of x, where it is divided, too. */
void KERNEL(const element *x, const element *filters, const element *bias, element *y, int64_t c, int64_t d, int64_t o,
	    EXTENTS, LISTS, int64_t group, int64_t first, int64_t count, number *room, number *laid, number *sums)
{
	struct convolution of = {.x = x,
				 .filters = filters,
				 .bias = bias,
				 .channels = c,
				 .filter_channels = d,
				 .outputs = o,
				 .in = {IN},
				 .window = {WINDOW},
				 .out = {OUT},
				 .strides = {LIST(strides, 1)},
				 .dilations = {LIST(dilations, 1)},
				 .pads = {LIST(pads, 0)},
				 .group = group,
				 .room = room,
				 .laid = laid,
				 .laid_size = LAID_SIZE,
				 .sums = sums};

	convolve(&of, y, first, count);
}

#if IS_GROUPS
#define D_TEXT "d*"
#else
#define D_TEXT ""
#endif
#define T	     TEXT(TYPE)
#define NUMBERS_f32  "f32"
#define NUMBERS_f64  "f64"
#define NUMBERS_f16  "f32"
#define NUMBERS_bf16 "f32"
#if SPATIAL == 2
#define IN_TEXT	     "h,w"
#define WINDOW_TEXT  "kh,kw"
#define OUT_TEXT     "oh,ow"
#define OUT_SIZE     "oh*ow"
#define EXTENTS_TEXT "h i64, w i64, kh i64, kw i64, oh i64, ow i64"
#define LAID_TEXT    "[" D_TEXT "(h+2*kh)*(w+2*kw)+16]"
#else
#define IN_TEXT	     "t,h,w"
#define WINDOW_TEXT  "kt,kh,kw"
#define OUT_TEXT     "ot,oh,ow"
#define OUT_SIZE     "ot*oh*ow"
#define EXTENTS_TEXT "t i64, h i64, w i64, kt i64, kh i64, kw i64, ot i64, oh i64, ow i64"
#define LAID_TEXT    "[" D_TEXT "(t+2*kt)*(h+2*kh)*(w+2*kw)+16]"
#endif
#define LISTS_TEXT                                                                                                     \
	", strides ptr = attr(strides), pads ptr = attr(pads), dilations ptr = attr(dilations), group i64 = "          \
	"attr(group,1)"
#define LAID	   ", scratch laid " JOIN(NUMBERS_, TYPE) LAID_TEXT
#define ATTRIBUTES "split=planes op=Conv(spatial=" TEXT(SPATIAL) ")"
#if IS_GROUPS
SIGNATURE(ATTRIBUTES, "in x " T "[n,c," IN_TEXT "], in filters " T "[o,d," WINDOW_TEXT "], in? bias " T "[o], out y " T
		      "[planes," OUT_TEXT "], c i64, d i64, o i64, " EXTENTS_TEXT LISTS_TEXT
		      ", first i64 = begin(planes), planes i64" ROOM_TEXT LAID SUMS_TEXT(OUT_SIZE));
#else
SIGNATURE(ATTRIBUTES, "in x " T "[planes," IN_TEXT "], in filters " T "[o,1," WINDOW_TEXT "], in? bias " T
		      "[o], out y " T "[planes," OUT_TEXT "], c i64 = 1, d i64 = 1, o i64, " EXTENTS_TEXT LISTS_TEXT
		      ", first i64 = begin(planes), planes i64, room ptr = null" LAID ", sums ptr = null");
#endif
