/* conv.c: Conv with 2 or 3 spatial dimensions, as a product of the filters with the input elements at each step of
 * their windows.
 *
 * For each group, input is first laid out with its zeros (pads) around it. Columns that a stride separates are stored
 * separately (phases), so that the elements that a row of results uses at one place of the window are adjacent. If the
 * window is one element, input is used as it is.
 *
 * BY=groups: a group is a matrix product; BY=panels: the same, with packed=1 and filters that PackMatMulB has packed,
 * as for constants; BY=channels: groups of one channel and one filter are sums of rows. All divide planes of results,
 * of all images.
 *
 * variants: OP=Conv TYPE=f32 SPATIAL=2,3 BY=groups,panels,channels ISA=base,v3,v4
 * variants: OP=Conv TYPE=f64,halves SPATIAL=2,3 BY=groups,channels ISA=base,v3
 */
#define GROUPS_groups	1
#define GROUPS_panels	1
#define GROUPS_channels 0
#define IS_GROUPS	JOIN(GROUPS_, BY)
#define PANELS_groups	0
#define PANELS_panels	1
#define PANELS_channels 0
#define IS_PANELS	JOIN(PANELS_, BY)
#include "kernels/conv-input.h"
#include "kernels/depthwise.h"
#include "kernels/spatial.h"

#if IS_GROUPS

/* Steps at a time when panels are made: with the filters beside them they stay in a first-level cache. */
enum { PANEL_DEPTH = 128 };

/* ---- few results: their columns as rows ---- */

enum {
	TURNED_MOST = 64, /* results of a plane */
	ROOM_TILES = (TURNED_MOST / TILE_ROWS + 2) * ROWS_STRIDE * DEPTH, /* and room after the last one */
	TURNED_FILTERS = (ROOM_ROWS + ROOM_PANELS - ROOM_TILES) / TURNED_MOST / PANEL * PANEL
};

/* from[rows][width] to to[columns][row]. */
static ALWAYS_INLINE void turn_results(const number *from, size_t width, size_t rows, size_t columns, number *to)
{
	for (size_t column = 0; column < columns; column += LANES)
		for (size_t row = 0; row < rows; row++)
			for (size_t i = 0; i < least(LANES, columns - column); i++)
				to[(column + i) * rows + row] = from[row * width + column + i];
}

/* Planes of few results, such as 7 x 7, leave much of the vectors of a panel empty. The filters are then the columns,
 * in whole vectors, and results the rows; sums are the same. */
static ALWAYS_INLINE void multiply_turned(const struct product *of, const struct steps *steps)
{
	number *sums = of->room + ROOM_TILES;

	for (size_t filter = of->first, end = of->first + of->m, own; filter < end; filter += own) {
		size_t lead = filter % PANEL;
		own = least(TURNED_FILTERS - lead, end - filter);
		struct packed filters = {of->row_panels->at + filter / PANEL * of->k * PANEL, of->k};
		struct product turned = {.m = of->n,
					 .n = round_up(lead + own, PANEL) * PANEL,
					 .k = of->k,
					 .a = {steps->input, 1, of->n},
					 .rows_context = steps,
					 .rows = steps->way == LAID_OUT ? tile_of_input : 0,
					 .b = &filters,
					 .panels = panels_of_packed,
					 .c = sums,
					 .c_row = TURNED_FILTERS,
					 .add = 1,
					 .room = of->room};
		for (size_t row = 0; row < of->n; row++)
			for (size_t i = 0; i < own; i++)
				sums[row * TURNED_FILTERS + lead + i] = of->start[filter - of->first + i];
		multiply(&turned);
		turn_results(sums + lead, TURNED_FILTERS, of->n, own, of->c + (filter - of->first) * of->n);
	}
}

/* Compute planes [first, first + count) of results. */
static ALWAYS_INLINE void convolve(struct convolution *of, element *y, int64_t first, int64_t count)
{
	int64_t filters = of->outputs / of->group,
		k = of->filter_channels * of->window[0] * of->window[1] * of->window[2];
	int64_t in = of->in[0] * of->in[1] * of->in[2], out = of->out[0] * of->out[1] * of->out[2];
	struct packed filters_packed = {of->filters, k};
	struct offsets offsets = {.step = k};
	struct steps steps = {.of = of, .offsets = &offsets};

	prepare(of, &steps);
	for (int64_t end = first + count; first < end;) {
		int64_t image = first / of->outputs, filter = first % of->outputs, group = filter / filters;
		int64_t own = least(end - first, (group + 1) * filters - filter);
		struct product product = {.m = own,
					  .n = out,
					  .k = k,
					  .depth = out > TURNED_MOST ? PANEL_DEPTH : 0,
					  .a = {of->filters + filter * k, k, 1},
					  .row_panels = IS_PANELS ? &filters_packed : 0,
					  .first = filter,
					  .b = &steps,
					  .panels = panels_of_input,
					  .c = CONVERTED ? of->sums : (number *)y,
					  .c_row = out,
					  .start = of->bias ? of->bias + filter : 0,
					  .room = of->room};

		enter(of, of->x + (image * of->channels + group * of->filter_channels) * in, &steps);
		if (IS_PANELS && out <= TURNED_MOST && steps.way != AS_IT_COMES)
			multiply_turned(&product, &steps);
		else if (CONVERTED)
			multiply_converted(&product, y);
		else
			multiply(&product);
		y += own * out;
		first += own;
	}
}

#else

enum { VECTORS = 8 }; /* of results at a time, in one row or several */

/* Sum up VECTORS vectors of results from these places: products in the order of the window, then the bias. */
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

/* Store a vector. Elements after the results are overwritten later, or must not be written. */
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

/* Return whether depthwise.h handles the convolution. */
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

	/* If input is read in place, only rows above and below are laid out, as zeros. */
	put_zeros(plane.laid, plane.laid + (is_read_there(&results, of->strides[1]) ? 0 : plane.reach * plane.pitch) +
				      BEHIND_PLANE);
	for (int64_t i = first; i < first + count; i++, plane.x += in, results.y += out)
		convolve_plane(&plane, &results, of->filters + i % of->outputs * 9,
			       of->bias ? LOAD(TYPE, of->bias[i % of->outputs]) : 0, of->strides[1]);
}

/* Compute planes [first, first + count) of results; x and y begin with the first of them. */
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

#if SPATIAL == 2
#define LAID_SIZE (d * (h + 2 * kh) * (w + 2 * kw) + 16)
#define LAID_TEXT "[" D_TEXT "(h+2*kh)*(w+2*kw)+16]"
#else
#define LAID_SIZE (d * (t + 2 * kt) * (h + 2 * kh) * (w + 2 * kw) + 16)
#define LAID_TEXT "[" D_TEXT "(t+2*kt)*(h+2*kh)*(w+2*kw)+16]"
#endif

/* Planes [first, first + count) of y, and of x if it is divided. */
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
#if IS_PANELS
#define FILTERS_TEXT "[panels,d," WINDOW_TEXT ",16]"
#define BIAS_TEXT    "in"
#define PACKED_TEXT  ", packed=1"
#else
#define FILTERS_TEXT "[o,d," WINDOW_TEXT "]"
#define BIAS_TEXT    "in?"
#define PACKED_TEXT  ""
#endif
#define LAID ", scratch laid " JOIN(NUMBERS_, TYPE) LAID_TEXT
#define ATTRIBUTES                                                                                                     \
	"split=planes operations=2*planes*" OUT_SIZE "*" D_TEXT WINDOW_SIZE " op=Conv(spatial=" TEXT(SPATIAL)          \
		PACKED_TEXT ")"
#if IS_GROUPS
SIGNATURE(ATTRIBUTES, "in x " T "[n,c," IN_TEXT "], in filters " T FILTERS_TEXT ", " BIAS_TEXT " bias " T
		      "[o], out y " T "[planes," OUT_TEXT "], c i64, d i64, o i64, " EXTENTS_TEXT LISTS_TEXT
		      ", first i64 = begin(planes), planes i64" ROOM_TEXT LAID SUMS_TEXT(OUT_SIZE));
#else
SIGNATURE(ATTRIBUTES, "in x " T "[planes," IN_TEXT "], in filters " T "[o,1," WINDOW_TEXT "], in? bias " T
		      "[o], out y " T "[planes," OUT_TEXT "], c i64 = 1, d i64 = 1, o i64, " EXTENTS_TEXT LISTS_TEXT
		      ", first i64 = begin(planes), planes i64, room ptr = null" LAID ", sums ptr = null");
#endif
