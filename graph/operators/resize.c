/* Resize and Upsample. Each output element is a weighted sum of input elements near a coordinate, axis by axis. These
 * elements and weights are known when linking, so they become constants: row numbers for Gather (nearest), and rows
 * with weights for Interpolate. Coordinates and coefficients are those of ONNX's specification of Resize. Coordinates
 * are exact fractions of integers, so rounding errors never select another element. */
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

enum {
	MOST_WEIGHTS = 1 << 24, /* of an axis: they are computed and stored */
	LARGEST = 1 << 30, /* length of an axis */
	MOST_BELOW = 1 << 12, /* denominators; two fractions with such denominators are hardly ever the same float */
};

/* ---- numbers without the mathematical library ---- */

typedef __int128 wide;

static double floor_of(double x)
{
	double whole = (double)(int64_t)x; /* coordinates are below 2^52 */

	return whole > x ? whole - 1 : whole;
}

static double absolute(double x)
{
	return x < 0 ? -x : x;
}

static wide floor_of_ratio(wide above, wide below)
{
	wide quotient = above / below;

	return quotient * below > above ? quotient - 1 : quotient;
}

static wide greatest_divisor(wide a, wide b)
{
	while (b) {
		wide rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* True if integers of about this magnitude leave room for a few sums. */
static bool fits(double x)
{
	return absolute(x) < 0x1p120;
}

struct ratio {
	wide above, below; /* below is positive */
};

/* Return the number that a float was made from: the fraction with the smallest denominator, up to MOST_BELOW, that
 * rounds to the float (0.7 is 7/10), or else the float itself. |x| is below 2^30. `below` is 0 if the number is too
 * small for a fraction of integers. */
static struct ratio fraction_of(double x, bool single)
{
	wide below = 1;

	for (int64_t part = 1; part <= MOST_BELOW; part++) {
		double above = floor_of(x * (double)part + 0.5), near = above / (double)part;

		if ((single ? (double)(float)near : near) == x)
			return (struct ratio){(wide)above, part};
	}
	for (; floor_of(x) != x; below *= 2, x *= 2)
		if (below >= (wide)1 << 100)
			return (struct ratio){0, 0};
	return (struct ratio){(wide)x, below};
}

/* A scale that is the float of a ratio of lengths is taken as that ratio. */
static struct ratio scale_of(float scale, uint64_t from)
{
	double to = floor_of((double)scale * (double)from + 0.5);

	if (from && (float)(to / (double)from) == scale)
		return (struct ratio){(wide)to, from};
	return fraction_of((double)scale, true);
}

/* ---- attributes and inputs ---- */

enum { X, ROI, SCALES, SIZES };

/* The resizing of one axis. */
struct axis {
	uint64_t from, to;
	struct ratio scale;
	wide start, end, unit; /* the cropped part, from start / unit to end / unit of the whole */
};

static bool is(const struct sk_graph_node *node, const char *name, const char *otherwise, const char *word)
{
	return !strcmp(sk_node_string(node, name, otherwise), word);
}

static bool is_crop(const struct sk_graph_node *node)
{
	return is(node, "coordinate_transformation_mode", "half_pixel", "tf_crop_and_resize");
}

/* Read a constant list of real numbers; NULL if it is absent or empty. */
static bool read_reals(const struct sk_inference *inference, size_t number, uint64_t *count, const double **reals)
{
	const struct sk_value *value = sk_infer_input(inference, number);
	double *list;

	*count = value ? sk_value_elements(value) : 0;
	*reals = NULL;
	if (!*count)
		return true;
	if (!sk_value_is_float(value) || *count > 2 * SK_MAX_RANK)
		return sk_infer_error(inference, "'%s' is not a list of real numbers with one for each axis",
				      value->name);
	*reals = list = SK_NEW_ARRAY(inference->graph->arena, double, *count);
	for (uint64_t i = 0; i < *count; i++)
		list[i] = sk_element_number(value->dtype,
					    (const char *)sk_value_known(value) + i * sk_dtype_size(value->dtype));
	return true;
}

/* Read the axes that scales or sizes apply to; the default is all axes. */
static bool read_axes(const struct sk_inference *inference, uint32_t *axes, uint64_t *count)
{
	const struct sk_value *from = sk_infer_input(inference, X);
	size_t given;
	const int64_t *named = sk_node_integers(inference->node, "axes", &given);

	*count = named ? given : from->rank;
	if (*count > from->rank)
		return sk_infer_error(inference, "it names %llu axes of %u", (unsigned long long)*count, from->rank);
	for (uint32_t i = 0; i < *count; i++)
		if (!sk_infer_axis(inference, named ? named[i] : (int64_t)i, from->rank, &axes[i]))
			return false;
	return true;
}

/* Sizes are those of the output, or of a frame that it fits into or covers. */
static bool set_sizes(const struct sk_inference *inference, struct axis *all, const uint32_t *axes, uint64_t count,
		      const int64_t *sizes)
{
	const struct sk_graph_node *node = inference->node;
	bool larger = is(node, "keep_aspect_ratio_policy", "stretch", "not_smaller");
	bool stretch = is(node, "keep_aspect_ratio_policy", "stretch", "stretch");
	struct ratio scale = {1, 1};

	for (uint64_t i = 0; i < count; i++) {
		struct axis *axis = &all[axes[i]];
		wide more;

		if (sizes[i] < 0 || sizes[i] >= LARGEST)
			return sk_infer_error(inference, "axis %u cannot have %lld elements", axes[i],
					      (long long)sizes[i]);
		axis->scale = axis->from ? (struct ratio){sizes[i], axis->from} : (struct ratio){1, 1};
		axis->to = (uint64_t)sizes[i];
		more = axis->scale.above * scale.below - scale.above * axis->scale.below;
		if (!i || (larger ? more > 0 : more < 0))
			scale = axis->scale;
	}
	for (uint64_t i = 0; i < count && !stretch; i++) {
		struct axis *axis = &all[axes[i]];
		/* Halves are rounded up. */
		wide to = (2 * scale.above * (wide)axis->from + scale.below) / (2 * scale.below);

		if (to >= LARGEST)
			return sk_infer_error(inference, "axis %u cannot be scaled by %g", axes[i],
					      (double)scale.above / (double)scale.below);
		axis->scale = scale;
		axis->to = (uint64_t)to;
	}
	return true;
}

static bool set_scales(const struct sk_inference *inference, struct axis *all, const uint32_t *axes, uint64_t count,
		       const double *scales)
{
	for (uint64_t i = 0; i < count; i++) {
		struct axis *axis = &all[axes[i]];
		wide part = axis->end - axis->start, above, below;

		if (!(scales[i] > 0 && scales[i] < LARGEST))
			return sk_infer_error(inference, "axis %u cannot be scaled by %g", axes[i], scales[i]);
		axis->scale = scale_of((float)scales[i], axis->from);
		if (!axis->scale.below) /* no element is left */
			axis->scale = (struct ratio){0, 1};
		if (!fits((double)axis->from * (double)part * (double)axis->scale.above) ||
		    !fits((double)axis->unit * (double)axis->scale.below))
			return sk_infer_error(inference, "axis %u cannot be cropped and scaled by %g", axes[i],
					      scales[i]);
		above = (wide)axis->from * part * axis->scale.above;
		below = axis->unit * axis->scale.below;
		if (above < 0 || above / below >= LARGEST)
			return sk_infer_error(inference, "axis %u cannot be scaled by %g", axes[i], scales[i]);
		axis->to = (uint64_t)(above / below);
	}
	return true;
}

/* Set the part from `start` to `end`, with one denominator for both. */
static bool set_crop(const struct sk_inference *inference, struct axis *axis, uint32_t number, double start, double end)
{
	bool single = sk_infer_input(inference, ROI)->dtype != SK_F64;
	struct ratio low, high;

	if (absolute(start) < 0x1p20 && absolute(end) < 0x1p20) {
		low = fraction_of(start, single);
		high = fraction_of(end, single);
		if (low.below && high.below && fits((double)low.below * (double)high.below)) {
			axis->unit = low.below / greatest_divisor(low.below, high.below) * high.below;
			axis->start = axis->unit / low.below * low.above;
			axis->end = axis->unit / high.below * high.above;
			/* Coordinates are less than 2^21 times the number of rows, of MOST_WEIGHTS elements at most. */
			if (fits((double)axis->unit * (absolute(start) + absolute(end) + 1) * (double)axis->from *
				 MOST_WEIGHTS))
				return true;
		}
	}
	return sk_infer_error(inference, "axis %u cannot be cropped to %g … %g", number, start, end);
}

static bool read_resize(const struct sk_inference *inference, struct axis *all)
{
	const struct sk_value *from = sk_infer_input(inference, X);
	uint64_t named, roi_count, scale_count, size_count;
	const double *roi, *scales;
	uint32_t axes[SK_MAX_RANK];
	const int64_t *sizes;

	if (!read_axes(inference, axes, &named) || !read_reals(inference, ROI, &roi_count, &roi) ||
	    !read_reals(inference, SCALES, &scale_count, &scales) ||
	    !sk_infer_integers(inference, SIZES, &size_count, &sizes))
		return false;
	for (uint32_t i = 0; i < from->rank; i++)
		all[i] = (struct axis){from->shape[i], from->shape[i], {1, 1}, 0, 1, 1};
	for (uint64_t i = 0; i < named; i++)
		if (from->shape[axes[i]] >= LARGEST)
			return sk_infer_error(inference, "axis %u is too large: %llu elements", axes[i],
					      (unsigned long long)from->shape[axes[i]]);
	if (!scale_count == !size_count || (scale_count ? scale_count : size_count) != named)
		return sk_infer_error(inference, "it needs either scales or sizes, one for each of %llu axes",
				      (unsigned long long)named);
	if (is_crop(inference->node) && roi_count != 2 * named)
		return sk_infer_error(inference, "the cropped part is not given for each of %llu axes",
				      (unsigned long long)named);
	for (uint64_t i = 0; i < named && is_crop(inference->node); i++)
		if (!set_crop(inference, &all[axes[i]], axes[i], roi[i], roi[named + i]))
			return false;
	if (scale_count)
		return set_scales(inference, all, axes, named, scales);
	return set_sizes(inference, all, axes, named, sizes);
}

/* Check that the words are valid. */
static bool check_words(const struct sk_inference *inference)
{
	static const struct {
		const char *name, *otherwise, *words[9];
	} known[] = {
		{"mode", "nearest", {"nearest", "linear", "cubic"}},
		{"nearest_mode", "round_prefer_floor", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}},
		{"keep_aspect_ratio_policy", "stretch", {"stretch", "not_larger", "not_smaller"}},
		{"coordinate_transformation_mode",
		 "half_pixel",
		 {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
		  "tf_half_pixel_for_nn", "tf_crop_and_resize"}},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const char *const *word = known[i].words;

		while (*word && !is(inference->node, known[i].name, known[i].otherwise, *word))
			word++;
		if (!*word)
			return sk_infer_error(inference, "'%s' cannot be '%s'", known[i].name,
					      sk_node_string(inference->node, known[i].name, ""));
	}
	return true;
}

/* True for weighted sums; otherwise elements only move. */
static bool is_weighted(const struct sk_graph_node *node)
{
	return !is(node, "mode", "nearest", "nearest") || is_crop(node);
}

static bool check_type(const struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, X);

	return from->dtype != SK_BOOL || !is_weighted(inference->node) ||
	       sk_infer_error(inference, "'%s' is bool, which only mode=nearest resizes", from->name);
}

static bool infer_resize(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, X);
	struct axis all[SK_MAX_RANK];
	uint64_t shape[SK_MAX_RANK];

	if (!check_words(inference) || !check_type(inference) || !read_resize(inference, all))
		return false;
	for (uint32_t i = 0; i < from->rank; i++)
		shape[i] = all[i].to;
	return sk_infer_output(inference, 0, from->dtype, from->rank, shape);
}

/* ---- coordinates and coefficients ---- */

/* Coordinates are linear: output element `i` comes from the coordinate (i slope + start) / unit of the input. */
struct line {
	wide slope, start, unit;
};

static struct line line_of(const struct sk_graph_node *node, const struct axis *axis)
{
	const char *mode = sk_node_string(node, "coordinate_transformation_mode", "half_pixel");
	wide above = axis->scale.above, below = axis->scale.below, from = (wide)axis->from, to = (wide)axis->to;

	if (!strcmp(mode, "tf_crop_and_resize")) {
		if (to < 2)
			return (struct line){0, (axis->start + axis->end) * (from - 1), 2 * axis->unit};
		return (struct line){(axis->end - axis->start) * (from - 1), axis->start * (from - 1) * (to - 1),
				     axis->unit * (to - 1)};
	}
	if (!strcmp(mode, "align_corners")) /* scale * from need not be an integer */
		return to > 1 ? (struct line){(from - 1) * below, 0, above * from - below} : (struct line){0, 0, 1};
	if (!strcmp(mode, "asymmetric"))
		return (struct line){below, 0, above};
	if (!strcmp(mode, "tf_half_pixel_for_nn"))
		return (struct line){2 * below, below, 2 * above};
	if (!strcmp(mode, "half_pixel_symmetric"))
		return (struct line){2 * below, (from - 1) * above + (1 - to) * below, 2 * above};
	if (!strcmp(mode, "pytorch_half_pixel") && to < 2)
		return (struct line){0, 0, 1};
	return (struct line){2 * below, below - above, 2 * above};
}

static bool shrinks(const struct axis *axis)
{
	return axis->scale.above < axis->scale.below;
}

/* Return the row nearest to the coordinate place / unit. Before operator set 11 it was the one below, or the one above
 * when reducing an axis. */
static wide nearest_to(const struct sk_graph_node *node, const struct axis *axis, wide place, wide unit)
{
	const char *mode = sk_node_string(node, "nearest_mode", "round_prefer_floor");

	if (node->version < 11)
		mode = shrinks(axis) ? "ceil" : "floor";
	if (!strcmp(mode, "floor"))
		return floor_of_ratio(place, unit);
	if (!strcmp(mode, "ceil"))
		return -floor_of_ratio(-place, unit);
	if (!strcmp(mode, "round_prefer_ceil"))
		return floor_of_ratio(2 * place + unit, 2 * unit);
	return -floor_of_ratio(unit - 2 * place, 2 * unit);
}

/* Return the weight of an element at that distance. */
static double weight_of(bool cubic, double a, double distance)
{
	double x = absolute(distance);

	if (!cubic)
		return x < 1 ? 1 - x : 0;
	if (x <= 1)
		return ((a + 2) * x - (a + 3)) * x * x + 1;
	return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/* For each output element of an axis: rows of the input, their weights, and an addend. */
struct taps {
	uint64_t width;
	int64_t *rows; /* [axis->to, width] */
	double *weights; /* the same */
	double *more; /* [axis->to] */
	bool same; /* the axis is unchanged */
};

static void set_taps(const struct sk_graph_node *node, const struct axis *axis, const struct line *line,
		     struct taps *taps, uint64_t i, double shrink)
{
	bool cubic = is(node, "mode", "nearest", "cubic"), nearest = is(node, "mode", "nearest", "nearest");
	bool excludes = sk_node_integer(node, "exclude_outside", 0), normalizes = excludes || shrink < 1;
	double a = sk_node_real(node, "cubic_coeff_a", -0.75), sum = 0;
	wide place = line->slope * (wide)i + line->start, last = (wide)axis->from - 1;
	int64_t *rows = taps->rows + i * taps->width;
	double *weights = taps->weights + i * taps->width;
	bool outside = is_crop(node) && (place < 0 || place > last * line->unit);
	wide first = nearest ? nearest_to(node, axis, place, line->unit)
			     : floor_of_ratio(place, line->unit) - (wide)(taps->width / 2) + 1;

	for (uint64_t t = 0; t < taps->width; t++) {
		wide row = first + (wide)t;

		weights[t] =
			nearest ? 1
				: weight_of(cubic, a, (double)(row * line->unit - place) / (double)line->unit * shrink);
		if (excludes && (row < 0 || row > last))
			weights[t] = 0;
		sum += weights[t];
		rows[t] = (int64_t)(row < 0 ? 0 : row > last ? last : row);
	}
	for (uint64_t t = 0; t < taps->width; t++) {
		weights[t] = outside ? 0 : normalizes && sum != 0 ? weights[t] / sum : weights[t];
		taps->same &= weights[t] == (rows[t] == (int64_t)i);
	}
	taps->more[i] = outside ? sk_node_real(node, "extrapolation_value", 0) : 0;
}

/* Return the number of rows that an element depends on: those with weights that may differ from 0. */
static wide width_of(const struct sk_graph_node *node, const struct axis *axis, bool spreads)
{
	wide support = is(node, "mode", "nearest", "cubic") ? 2 : 1;

	if (is(node, "mode", "nearest", "nearest"))
		return 1;
	return 2 * (spreads ? -floor_of_ratio(-support * axis->scale.below, axis->scale.above) : support);
}

static bool find_taps(const struct sk_canonical *canonical, const struct axis *axis, struct taps *taps)
{
	struct sk_arena *arena = canonical->graph->arena;
	const struct sk_graph_node *node = &canonical->graph->nodes.items[canonical->node];
	bool spreads = sk_node_integer(node, "antialias", 0) && shrinks(axis) && axis->to &&
		       !is(node, "mode", "nearest", "nearest");
	wide width = width_of(node, axis, spreads);
	struct line line;

	*taps = (struct taps){.same = axis->from == axis->to};
	if (taps->same && axis->scale.above == axis->scale.below && !is_crop(node))
		return true;
	if (width * (wide)axis->to > MOST_WEIGHTS)
		return sk_canonical_error(canonical, "an axis of %llu elements takes more than %d weights",
					  (unsigned long long)axis->to, MOST_WEIGHTS);
	taps->width = (uint64_t)width;
	taps->rows = SK_NEW_ARRAY(arena, int64_t, taps->width * axis->to);
	taps->weights = SK_NEW_ARRAY(arena, double, taps->width * axis->to);
	taps->more = SK_NEW_ARRAY(arena, double, axis->to);
	line = line_of(node, axis);
	for (uint64_t i = 0; i < axis->to; i++)
		set_taps(node, axis, &line, taps, i,
			 spreads ? (double)axis->scale.above / (double)axis->scale.below : 1);
	return true;
}

/* ---- calls ---- */

static void add_interpolation(struct sk_canonical *canonical, uint32_t to, uint32_t from, uint64_t k, uint64_t inner,
			      const uint64_t shape[2], const uint32_t lists[3])
{
	const struct sk_op_graph *graph = canonical->graph;
	uint64_t elements = sk_value_elements(&graph->values.items[to]);
	struct sk_graph_call *call = sk_canonical_call(canonical, "Interpolate");

	sk_call_integer(canonical, call, "k", (int64_t)k);
	sk_call_input(canonical, call, sk_operand_flat(graph, from));
	sk_call_input(canonical, call, sk_operand_shaped(graph, lists[0], 2, shape));
	sk_call_input(canonical, call, sk_operand_shaped(graph, lists[1], 2, shape));
	sk_call_input(canonical, call, sk_operand_flat(graph, lists[2]));
	sk_call_output(canonical, call, sk_operand_shaped(graph, to, 2, (uint64_t[]){elements / inner, inner}));
}

/* True if the rows of an axis depend on sizes with bounds: they are computed when the package runs. */
static bool varies(const struct sk_op_graph *graph, const struct sk_canonical *canonical, uint32_t axis)
{
	const struct sk_value *from = &graph->values.items[sk_canonical_input(canonical, X)];
	const struct sk_value *to = &graph->values.items[sk_canonical_output(canonical, 0)];

	return (from->sizes[axis] || to->sizes[axis]) && !sk_value_same_extent(from, to, axis);
}

/* Add an output of ResizeRows. */
static uint32_t add_list(const struct sk_canonical *canonical, struct sk_graph_call *call, const char *name,
			 enum sk_dtype dtype, uint32_t rank, const uint64_t *shape)
{
	uint32_t list = sk_graph_new_value(canonical->graph, name, dtype, rank, shape);

	canonical->graph->values.items[list].varies = true;
	sk_call_output(canonical, call, sk_operand_shaped(canonical->graph, list, rank, shape));
	return list;
}

/* Return the number of a word in a list. */
static int64_t code_of(const struct sk_graph_node *node, const char *name, const char *const *words)
{
	const char *word = sk_node_string(node, name, words[0]);
	int64_t code = 0;

	while (words[code] && strcmp(words[code], word))
		code++;
	return code;
}

/* Compute the rows of an axis by a call, and the weights of these rows unless elements only move. */
static void add_rows(struct sk_canonical *canonical, const struct axis *axis, uint64_t width, uint32_t lists[3])
{
	static const char *const coordinates[] = {"half_pixel",	  "half_pixel_symmetric", "pytorch_half_pixel",
						  "align_corners", "asymmetric",	   "tf_half_pixel_for_nn",
						  NULL};
	static const char *const modes[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", NULL};
	const struct sk_graph_node *node = &canonical->graph->nodes.items[canonical->node];
	const uint64_t shape[2] = {axis->to, width};
	struct sk_graph_call *call = sk_canonical_call(canonical, "ResizeRows");

	sk_call_integer(canonical, call, "from", (int64_t)axis->from);
	sk_call_integer(canonical, call, "to", (int64_t)axis->to);
	sk_call_integer(canonical, call, "above", (int64_t)axis->scale.above);
	sk_call_integer(canonical, call, "below", (int64_t)axis->scale.below);
	sk_call_integer(canonical, call, "coordinates",
			code_of(node, "coordinate_transformation_mode", coordinates));
	sk_call_integer(canonical, call, "nearest", code_of(node, "nearest_mode", modes));
	sk_call_integer(canonical, call, "cubic", is(node, "mode", "nearest", "cubic"));
	sk_call_integer(canonical, call, "excludes", sk_node_integer(node, "exclude_outside", 0) != 0);
	sk_call_real(canonical, call, "a", sk_node_real(node, "cubic_coeff_a", -0.75));
	lists[0] = add_list(canonical, call, "rows", SK_I64, 2, shape);
	if (!is_weighted(node))
		return;
	lists[1] = add_list(canonical, call, "weights", SK_F64, 2, shape);
	lists[2] = add_list(canonical, call, "more", SK_F64, 1, shape);
}

/* Axes have at most MOST_VARYING elements. A fraction p/q of which p times the elements is at most MOST_SCALED is the
 * only one with such a number of elements that is the same float, so that all sizes have the same fraction. */
enum { MOST_VARYING = 1 << 20, MOST_SCALED = 1 << 22 };

/* True if the numbers of kernels/resize-rows.c, at these largest sizes, are below 2^62. */
static bool fits_kernel(const struct sk_graph_node *node, const struct axis *axis)
{
	struct line line = line_of(node, axis);
	wide from = (wide)axis->from, to = (wide)axis->to, all = from * axis->scale.above + to * axis->scale.below;
	wide place = line.slope * to + all;

	return 2 * place + (from + 4) * line.unit < (wide)1 << 62;
}

/* Check an axis that depends on sizes. A scale becomes a fraction in lowest terms: the same one at all sizes. */
static bool check_varying(const struct sk_canonical *canonical, struct axis *axis)
{
	const struct sk_graph_node *node = &canonical->graph->nodes.items[canonical->node];
	bool scaled = sk_canonical_input(canonical, SCALES) != SK_NONE;
	wide divisor = scaled ? greatest_divisor(axis->scale.above, axis->scale.below) : 1;

	if (is_crop(node) || (sk_node_integer(node, "antialias", 0) && is_weighted(node)) || node->version < 11)
		return sk_canonical_error(canonical, "with sizes with bounds it cannot crop, nor have antialias or a "
						     "version before operator set 11");
	axis->scale.above /= divisor;
	axis->scale.below /= divisor;
	if (scaled && axis->scale.above * (wide)axis->from > MOST_SCALED)
		return sk_canonical_error(canonical, "an axis with bounds, of up to %llu elements, cannot be scaled by "
						     "%g: a fraction of smaller numbers is needed",
					  (unsigned long long)axis->from,
					  (double)axis->scale.above / (double)axis->scale.below);
	return (axis->from <= MOST_VARYING && axis->to <= MOST_VARYING && fits_kernel(node, axis)) ||
	       sk_canonical_error(canonical, "an axis with bounds has more than %d elements", MOST_VARYING);
}

/* Resize one axis of a value; the result is the next value, or the last one. */
static bool resize_axis(struct sk_canonical *canonical, const struct axis *axis, uint32_t number,
			const struct taps *taps, uint32_t from, uint32_t to)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_graph_node *node;
	const struct sk_operand whole = sk_operand_axis(graph, from, number);
	const uint64_t shape[2] = {axis->to, taps->width};
	uint32_t lists[3] = {SK_NONE, SK_NONE, SK_NONE};

	if (!taps->rows) {
		add_rows(canonical, axis, taps->width, lists);
	} else if (is_weighted(&graph->nodes.items[canonical->node])) {
		lists[0] = sk_graph_new_constant(graph, "rows", SK_I64, 2, shape, taps->rows);
		lists[1] = sk_graph_new_constant(graph, "weights", SK_F64, 2, shape, taps->weights);
		lists[2] = sk_graph_new_constant(graph, "more", SK_F64, 1, shape, taps->more);
	} else {
		lists[0] = sk_graph_new_integers(graph, "rows", axis->to, taps->rows);
	}
	node = &graph->nodes.items[canonical->node];
	if (!is_weighted(node))
		return sk_canonical_gather(canonical, to, from, lists[0], axis->from, whole.shape[2]);
	add_interpolation(canonical, to, from, axis->from, whole.shape[2], shape, lists);
	return true;
}

static bool canonical_resize(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	uint32_t from = sk_canonical_input(canonical, X), to = sk_canonical_output(canonical, 0), last = SK_NONE;
	struct taps taps[SK_MAX_RANK];
	struct axis all[SK_MAX_RANK];
	struct sk_value shape = graph->values.items[from];
	bool truncates = !sk_value_is_float(&shape) && is_weighted(inference.node);

	if (!sk_value_elements(&shape))
		return sk_canonical_error(canonical, "'%s' has no elements", shape.name);
	if (!read_resize(&inference, all))
		return false;
	for (uint32_t i = 0; i < shape.rank; i++) {
		if (varies(graph, canonical, i)) {
			taps[i] = (struct taps){.width = (uint64_t)width_of(inference.node, &all[i], false)};
			if (!check_varying(canonical, &all[i]))
				return false;
		} else if (!find_taps(canonical, &all[i], &taps[i])) {
			return false;
		}
		last = taps[i].same ? last : i;
	}
	if (last == SK_NONE) {
		sk_canonical_view(canonical, to, from, 0);
		return true;
	}
	if (truncates) { /* once, after all axes */
		from = sk_canonical_cast(canonical, from, SK_F64);
		shape.dtype = SK_F64;
	}
	for (uint32_t i = 0; i < shape.rank; i++) {
		uint32_t next = to;

		if (taps[i].same)
			continue;
		shape.shape[i] = all[i].to;
		if (i != last || truncates)
			next = sk_graph_new_value(graph, shape.name, shape.dtype, shape.rank, shape.shape);
		if (!resize_axis(canonical, &all[i], i, &taps[i], from, next))
			return false;
		from = next;
	}
	if (truncates)
		sk_canonical_store(canonical, to, from);
	return true;
}

/* ---- older operator sets ---- */

static void set_word(struct sk_op_graph *graph, struct sk_graph_node *node, const char *name, const char *word)
{
	sk_node_remove_attribute(node, name);
	sk_array_push(graph->arena, &node->attributes,
		      ((struct sk_attribute){
			      .name = name, .place = node->place, .kind = SK_ATTRIBUTE_STRING, .string = word}));
}

/* Before operator set 11 there were only scales, and coordinates were asymmetric. The version is kept, since
 * coordinates were rounded differently. A node without a region comes from a dump of an upgraded one. */
static bool upgrade_resize(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	uint32_t scales;

	if (node->version >= 11 || node->inputs.count < 2 || node->inputs.items[1] == SK_NONE)
		return true;
	scales = node->inputs.items[1];
	node->inputs.items[1] = SK_NONE;
	sk_array_push(graph->arena, &node->inputs, scales);
	set_word(graph, node, "coordinate_transformation_mode", "asymmetric");
	return true;
}

/* Before operator set 9 scales were attributes. */
static bool upgrade_upsample(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	const struct sk_attribute *scales = sk_node_attribute(node, "scales");
	float numbers[4] = {1, 1, (float)sk_node_real(node, "height_scale", 1),
			    (float)sk_node_real(node, "width_scale", 1)};
	const float *given = numbers;
	uint64_t count = 4;

	if (scales && scales->kind == SK_ATTRIBUTE_REALS) {
		float *list = SK_NEW_ARRAY(graph->arena, float, scales->count + 1);

		count = scales->count;
		for (uint64_t i = 0; i < count; i++)
			list[i] = (float)scales->reals[i];
		given = list;
	}
	if (node->inputs.count < 2) {
		uint32_t value = sk_graph_new_constant(graph, "scales", SK_F32, 1, &count, given);

		sk_array_push(graph->arena, &node->inputs, value);
	}
	if (!sk_node_drop_attribute(graph, node, "scales", SK_ATTRIBUTE_REALS) ||
	    !sk_node_drop_attribute(graph, node, "height_scale", SK_ATTRIBUTE_REAL) ||
	    !sk_node_drop_attribute(graph, node, "width_scale", SK_ATTRIBUTE_REAL))
		return false;
	if (is(node, "mode", "nearest", "bilinear"))
		set_word(graph, node, "mode", "linear");
	node->origin = node->origin ? node->origin : node->op;
	node->op = "Resize";
	node->version = 10;
	return upgrade_resize(graph, node);
}

/* ---- the table ---- */

static const struct sk_schema_attribute resize[] = {
	{"antialias", SK_ATTRIBUTE_INTEGER},
	{"axes", SK_ATTRIBUTE_INTEGERS},
	{"coordinate_transformation_mode", SK_ATTRIBUTE_STRING, .string = "half_pixel"},
	{"cubic_coeff_a", SK_ATTRIBUTE_REAL, .real = -0.75},
	{"exclude_outside", SK_ATTRIBUTE_INTEGER},
	{"extrapolation_value", SK_ATTRIBUTE_REAL},
	{"keep_aspect_ratio_policy", SK_ATTRIBUTE_STRING, .string = "stretch"},
	{"mode", SK_ATTRIBUTE_STRING, .string = "nearest"},
	{"nearest_mode", SK_ATTRIBUTE_STRING, .string = "round_prefer_floor"},
	{NULL}};

const struct sk_schema sk_operators_resize[] = {
	{"Resize", "", 1, 4, 1, 1, .demands = 7 << 1, .attributes = resize, .upgrade = upgrade_resize,
	 .infer = infer_resize, .canonical = canonical_resize},
	{"Upsample", "", 1, 2, 1, 1, .upgrade = upgrade_upsample},
	{NULL},
};
