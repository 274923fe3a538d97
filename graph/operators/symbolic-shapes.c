/* Sizes of outputs by operator: most operators pass dimensions on, which is recognised by trials; the others compute
 * them here. */
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/sizes.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"

typedef const struct sk_size *size_of;

/* The sizes of a value, or of a part of it. */
struct extents {
	uint32_t rank;
	size_of sizes[2 * SK_MAX_RANK];
};

static size_of number(const struct sk_symbolic *symbolic, int64_t integer)
{
	return sk_size_number(symbolic->sizes, integer);
}

static size_of add_number(const struct sk_symbolic *symbolic, size_of size, int64_t integer)
{
	return sk_size_add(symbolic->sizes, size, number(symbolic, integer));
}

static const struct sk_value *input_of(const struct sk_symbolic *symbolic, size_t index)
{
	return sk_node_input(symbolic->graph, symbolic->node, index);
}

static struct extents extents_of(const struct sk_symbolic *symbolic, const struct sk_value *value)
{
	struct extents extents = {.rank = value->rank};

	for (uint32_t d = 0; d < value->rank; d++)
		extents.sizes[d] = sk_symbolic_size(symbolic, value, d);
	return extents;
}

static bool put_all(const struct sk_symbolic *symbolic, size_t output, const struct extents *extents)
{
	for (uint32_t d = 0; d < extents->rank; d++)
		if (!sk_symbolic_put(symbolic, output, d, extents->sizes[d]))
			return false;
	return true;
}

/* Return the axis counted from the front; inference has checked it. */
static uint32_t counted_axis(int64_t axis, uint32_t rank)
{
	return (uint32_t)(axis < 0 ? axis + rank : axis);
}

static uint32_t axis_of(const struct sk_symbolic *symbolic, int64_t otherwise, uint32_t rank)
{
	return counted_axis(sk_node_integer(symbolic->node, "axis", otherwise), rank);
}

/* Read the terms of a demanded input, which are all known; NULL and *count 0 if it is absent. */
static size_of const *list_of(const struct sk_symbolic *symbolic, size_t index, uint64_t *count)
{
	const struct sk_value *value = input_of(symbolic, index);

	*count = 0;
	return value ? sk_symbolic_terms(symbolic, value, count) : NULL;
}

/* Read the number that a term is: an axis, a step. */
static bool read_number(const struct sk_symbolic *symbolic, size_of term, int64_t *integer)
{
	return (term && sk_size_is_number(term, integer)) ||
	       sk_symbolic_error(symbolic, "an axis or a step depends on sizes with bounds; give these numbers");
}

/* ---- conditions: sizes that must be equal ---- */

/* Sizes that are broadcast are equal, or one is the number 1. */
static bool check_broadcast(const struct sk_symbolic *symbolic, struct extents *all, const struct extents *other)
{
	struct extents both = {.rank = all->rank > other->rank ? all->rank : other->rank};
	size_of one = number(symbolic, 1);

	for (uint32_t i = 0; i < both.rank; i++) {
		size_of a = i + all->rank < both.rank ? one : all->sizes[i + all->rank - both.rank];
		size_of b = i + other->rank < both.rank ? one : other->sizes[i + other->rank - both.rank];

		if (a != one && b != one && !sk_symbolic_equal(symbolic, "broadcast", a, b))
			return false;
		both.sizes[i] = a == one ? b : a;
	}
	*all = both;
	return true;
}

static bool infer_broadcast(const struct sk_symbolic *symbolic)
{
	struct extents all = {.rank = 0};

	for (size_t i = 0; i < symbolic->node->inputs.count; i++) {
		const struct sk_value *value = input_of(symbolic, i);
		struct extents extents;

		if (!value)
			continue;
		extents = extents_of(symbolic, value);
		if (!check_broadcast(symbolic, &all, &extents))
			return false;
	}
	return sk_symbolic_lift(symbolic);
}

static bool infer_product(const struct sk_symbolic *symbolic)
{
	struct extents a = extents_of(symbolic, input_of(symbolic, 0)), b = extents_of(symbolic, input_of(symbolic, 1));
	uint32_t row = b.rank > 1 ? b.rank - 2 : 0;

	if (!a.rank || !b.rank)
		return sk_symbolic_error(symbolic, "'%s' has no dimensions", input_of(symbolic, a.rank ? 1 : 0)->name);
	if (!sk_symbolic_equal(symbolic, "multiplied", a.sizes[a.rank - 1], b.sizes[row]))
		return false;
	a.rank -= a.rank > 1 ? 2 : 1;
	b.rank -= b.rank > 1 ? 2 : 1;
	return check_broadcast(symbolic, &a, &b) && sk_symbolic_lift(symbolic);
}

/* ---- moves ---- */

static bool infer_concat(const struct sk_symbolic *symbolic)
{
	struct extents all = extents_of(symbolic, input_of(symbolic, 0));
	uint32_t axis = axis_of(symbolic, 1, all.rank);

	for (size_t i = 1; i < symbolic->node->inputs.count; i++) {
		struct extents other = extents_of(symbolic, input_of(symbolic, i));

		for (uint32_t d = 0; d < all.rank; d++)
			if (d == axis)
				all.sizes[d] = sk_size_add(symbolic->sizes, all.sizes[d], other.sizes[d]);
			else if (!sk_symbolic_equal(symbolic, "those of joined tensors", all.sizes[d], other.sizes[d]))
				return false;
	}
	return put_all(symbolic, 0, &all);
}

/* True if a size is a multiple of the number at all sizes. */
static bool check_multiple(const struct sk_symbolic *symbolic, const char *are, size_of size, int64_t parts)
{
	size_of whole = sk_size_multiply(symbolic->sizes, number(symbolic, parts),
					 sk_size_floor(symbolic->sizes, size, number(symbolic, parts)));

	return sk_symbolic_equal(symbolic, are, size, whole);
}

static bool infer_split(const struct sk_symbolic *symbolic)
{
	struct extents all = extents_of(symbolic, input_of(symbolic, 0));
	uint32_t axis = axis_of(symbolic, 0, all.rank);
	size_of whole = all.sizes[axis], taken = number(symbolic, 0), equal;
	size_t outputs = symbolic->node->outputs.count;
	uint64_t count;
	size_of const *parts = list_of(symbolic, 1, &count);

	equal = sk_size_ceil(symbolic->sizes, whole, number(symbolic, (int64_t)outputs));
	if (!parts && !sk_size_is_number(whole, NULL) &&
	    !check_multiple(symbolic, "the whole and the equal parts", whole, (int64_t)outputs))
		return false;
	for (size_t i = 0; i < outputs; i++) {
		size_of rest = sk_size_subtract(symbolic->sizes, whole, taken);

		all.sizes[axis] = parts ? parts[i] : sk_size_min(symbolic->sizes, equal, rest);
		taken = sk_size_add(symbolic->sizes, taken, all.sizes[axis]);
		if (!put_all(symbolic, i, &all))
			return false;
	}
	return sk_symbolic_equal(symbolic, "the sum of the parts and the whole", taken, whole);
}

/* Return a start or an end of a slice, counted from the front, between `least` and `most`; NULL: the sign of the term
 * depends on sizes. */
static size_of clamp(const struct sk_symbolic *symbolic, size_of term, size_of size, size_of least, size_of most)
{
	if (!term)
		return NULL;
	if (sk_size_least(term) > INT32_MAX)
		return most;
	if (sk_size_most(term) < INT32_MIN)
		return least;
	if (sk_size_most(term) < 0)
		term = sk_size_add(symbolic->sizes, term, size);
	else if (sk_size_least(term) < 0)
		return NULL;
	return sk_size_max(symbolic->sizes, least, sk_size_min(symbolic->sizes, term, most));
}

static size_of slice_size(const struct sk_symbolic *symbolic, size_of start, size_of end, int64_t step, size_of size)
{
	size_of zero = number(symbolic, 0), before = number(symbolic, -1), last = add_number(symbolic, size, -1);
	size_of length;

	if (step > 0)
		length = sk_size_subtract(symbolic->sizes, clamp(symbolic, end, size, zero, size),
					  clamp(symbolic, start, size, zero, size));
	else
		length = sk_size_subtract(symbolic->sizes, clamp(symbolic, start, size, before, last),
					  clamp(symbolic, end, size, before, last));
	length = sk_size_max(symbolic->sizes, length, zero);
	return sk_size_ceil(symbolic->sizes, length, number(symbolic, step < 0 ? -step : step));
}

static bool infer_slice(const struct sk_symbolic *symbolic)
{
	struct extents all = extents_of(symbolic, input_of(symbolic, 0));
	uint64_t count, end_count, axis_count, step_count;
	size_of const *starts = list_of(symbolic, 1, &count), *ends = list_of(symbolic, 2, &end_count),
		      *axes = list_of(symbolic, 3, &axis_count), *steps = list_of(symbolic, 4, &step_count);

	for (uint64_t i = 0; i < count; i++) {
		int64_t axis = (int64_t)i, step = 1;

		if ((axes && !read_number(symbolic, axes[i], &axis)) ||
		    (steps && !read_number(symbolic, steps[i], &step)))
			return false;
		axis = counted_axis(axis, all.rank);
		all.sizes[axis] = slice_size(symbolic, starts[i], ends[i], step, all.sizes[axis]);
	}
	return put_all(symbolic, 0, &all);
}

static bool infer_pad(const struct sk_symbolic *symbolic)
{
	struct extents all = extents_of(symbolic, input_of(symbolic, 0));
	uint64_t count, axis_count;
	size_of const *pads = list_of(symbolic, 1, &count), *axes = list_of(symbolic, 3, &axis_count);

	for (uint64_t i = 0; i < count / 2; i++) {
		int64_t axis = (int64_t)i;

		if (axes && !read_number(symbolic, axes[i], &axis))
			return false;
		axis = counted_axis(axis, all.rank);
		all.sizes[axis] = sk_size_add(symbolic->sizes, all.sizes[axis],
					      sk_size_add(symbolic->sizes, pads[i], pads[count / 2 + i]));
	}
	return put_all(symbolic, 0, &all);
}

static bool infer_tile(const struct sk_symbolic *symbolic)
{
	struct extents all = extents_of(symbolic, input_of(symbolic, 0));
	uint64_t count;
	size_of const *times = list_of(symbolic, 1, &count);

	for (uint32_t d = 0; d < all.rank; d++)
		all.sizes[d] = sk_size_multiply(symbolic->sizes, all.sizes[d], times[d]);
	return put_all(symbolic, 0, &all);
}

static bool infer_expand(const struct sk_symbolic *symbolic)
{
	struct extents all = extents_of(symbolic, input_of(symbolic, 0)), wanted = {.rank = 0};
	uint64_t count;
	size_of const *terms = list_of(symbolic, 1, &count);

	for (; wanted.rank < count; wanted.rank++)
		wanted.sizes[wanted.rank] = terms[wanted.rank];
	return check_broadcast(symbolic, &all, &wanted) && put_all(symbolic, 0, &all);
}

static bool infer_constant_of_shape(const struct sk_symbolic *symbolic)
{
	uint64_t count;
	size_of const *terms = list_of(symbolic, 0, &count);

	for (uint32_t d = 0; d < count; d++)
		if (!sk_symbolic_put(symbolic, 0, d, terms[d]))
			return false;
	return true;
}

static bool infer_range(const struct sk_symbolic *symbolic)
{
	uint64_t count;
	size_of const *from = list_of(symbolic, 0, &count), *to = list_of(symbolic, 1, &count),
		      *by = list_of(symbolic, 2, &count);
	size_of length;
	int64_t step;

	if (!from || !to || !by || !from[0] || !to[0] || !by[0])
		return sk_symbolic_error(symbolic, "its length is not one expression of sizes with bounds");
	if (!read_number(symbolic, by[0], &step))
		return false;
	length = step > 0 ? sk_size_subtract(symbolic->sizes, to[0], from[0])
			  : sk_size_subtract(symbolic->sizes, from[0], to[0]);
	length = sk_size_max(symbolic->sizes, length, number(symbolic, 0));
	return sk_symbolic_put(symbolic, 0, 0,
			       sk_size_ceil(symbolic->sizes, length, number(symbolic, step < 0 ? -step : step)));
}

/* ---- the same elements in another shape ---- */

static size_of product_of(const struct sk_symbolic *symbolic, const struct extents *extents, uint32_t from, uint32_t to)
{
	size_of product = number(symbolic, 1);

	for (uint32_t d = from; d < to; d++)
		product = sk_size_multiply(symbolic->sizes, product, extents->sizes[d]);
	return product;
}

static bool infer_flatten(const struct sk_symbolic *symbolic)
{
	struct extents all = extents_of(symbolic, input_of(symbolic, 0));
	uint32_t axis = axis_of(symbolic, 1, all.rank);

	return sk_symbolic_put(symbolic, 0, 0, product_of(symbolic, &all, 0, axis)) &&
	       sk_symbolic_put(symbolic, 0, 1, product_of(symbolic, &all, axis, all.rank));
}

/* The updates fit into the input at the sizes of the graph only, so other numbers are of no use. */
static bool infer_like_first(const struct sk_symbolic *symbolic)
{
	const struct extents all = extents_of(symbolic, input_of(symbolic, 0));

	return put_all(symbolic, 0, &all);
}

/* Remove the sizes that both have. */
static void cancel(struct extents *a, struct extents *b)
{
	for (uint32_t i = 0; i < a->rank; i++)
		for (uint32_t j = 0; j < b->rank; j++) {
			if (a->sizes[i] != b->sizes[j])
				continue;
			a->sizes[i--] = a->sizes[--a->rank];
			b->sizes[j] = b->sizes[--b->rank];
			break;
		}
}

/* Return the one dimension that follows from the number of elements; NULL after an error. */
static size_of find_rest(const struct sk_symbolic *symbolic, struct extents before, struct extents others)
{
	size_of whole, part, rest;

	cancel(&before, &others);
	whole = product_of(symbolic, &before, 0, before.rank);
	part = product_of(symbolic, &others, 0, others.rank);
	rest = sk_size_quotient(symbolic->sizes, whole, part);
	if (rest)
		return rest;
	rest = sk_size_floor(symbolic->sizes, whole, part);
	return sk_symbolic_equal(symbolic, "the elements before and after", whole,
				 sk_size_multiply(symbolic->sizes, rest, part))
		       ? rest
		       : NULL;
}

static bool infer_reshape(const struct sk_symbolic *symbolic)
{
	struct extents before = extents_of(symbolic, input_of(symbolic, 0)), after = {.rank = 0}, others = {.rank = 0};
	bool zero_is_zero = sk_node_integer(symbolic->node, "allowzero", 0);
	uint32_t rest = SK_NONE;
	uint64_t count;
	size_of const *wanted = list_of(symbolic, 1, &count);

	for (; after.rank < count; after.rank++) {
		size_of size = wanted[after.rank];
		int64_t integer = 1;

		if (size && sk_size_is_number(size, &integer) && integer == -1)
			rest = after.rank;
		if (!integer && !zero_is_zero)
			size = before.sizes[after.rank];
		after.sizes[after.rank] = size;
		if (rest != after.rank)
			others.sizes[others.rank++] = size;
	}
	if (rest != SK_NONE) {
		after.sizes[rest] = find_rest(symbolic, before, others);
		return after.sizes[rest] && put_all(symbolic, 0, &after);
	}
	cancel(&before, &others);
	return sk_symbolic_equal(symbolic, "the elements before and after",
				 product_of(symbolic, &before, 0, before.rank),
				 product_of(symbolic, &others, 0, others.rank)) &&
	       put_all(symbolic, 0, &after);
}

/* Blocks of an image become channels, or channels become blocks. */
static bool infer_blocks(const struct sk_symbolic *symbolic)
{
	struct extents all = extents_of(symbolic, input_of(symbolic, 0));
	int64_t block = sk_node_integer(symbolic->node, "blocksize", 1);
	size_of side = number(symbolic, block), area = number(symbolic, block * block);
	bool to_space = sk_node_is(symbolic->node, "DepthToSpace");

	for (uint32_t d = 1; d < all.rank; d++) {
		size_of factor = d == 1 ? area : side;

		if (d > 1 && !to_space && !check_multiple(symbolic, "an axis and its blocks", all.sizes[d], block))
			return false;
		all.sizes[d] = (d == 1) == to_space ? sk_size_floor(symbolic->sizes, all.sizes[d], factor)
						    : sk_size_multiply(symbolic->sizes, all.sizes[d], factor);
	}
	return put_all(symbolic, 0, &all);
}

/* ---- windows ---- */

/* One axis of a window: items of the attributes. */
struct window {
	int64_t size, stride, dilation, begin, end, more;
};

static int64_t item_of(const struct sk_symbolic *symbolic, const char *name, uint32_t item, int64_t otherwise)
{
	size_t count;
	const int64_t *items = sk_node_integers(symbolic->node, name, &count);

	return items && item < count ? items[item] : otherwise;
}

/* Read the attributes along an axis. The filters, if there are any, have the size of the window. */
static bool read_window(const struct sk_symbolic *symbolic, const struct sk_value *filters, uint32_t axis,
			uint32_t spatial, struct window *window)
{
	window->size = filters ? (int64_t)filters->shape[2 + axis] : item_of(symbolic, "kernel_shape", axis, 1);
	window->stride = item_of(symbolic, "strides", axis, 1);
	window->dilation = item_of(symbolic, "dilations", axis, 1);
	window->begin = item_of(symbolic, "pads", axis, 0);
	window->end = item_of(symbolic, "pads", axis + spatial, 0);
	window->more = item_of(symbolic, "output_padding", axis, 0);
	return !filters || !filters->sizes[2 + axis] ||
	       sk_symbolic_error(symbolic, "the size of the filters '%s' has bounds", filters->name);
}

/* Return the number of positions of the window along an axis. */
static size_of count_positions(const struct sk_symbolic *symbolic, size_of in, const struct window *window)
{
	const char *mode = sk_window_auto_pad(symbolic->node);
	int64_t span = (window->size - 1) * window->dilation + 1;
	size_of stride = number(symbolic, window->stride), room, visible;
	bool ceil = sk_node_integer(symbolic->node, "ceil_mode", 0), automatic = strcmp(mode, "NOTSET");

	if (!strncmp(mode, "SAME", 4))
		return sk_size_ceil(symbolic->sizes, in, stride);
	room = add_number(symbolic, in, (automatic ? 0 : window->begin + window->end) - span);
	if (!ceil)
		return add_number(symbolic, sk_size_floor(symbolic->sizes, room, stride), 1);
	/* The last window sees more than pads. */
	visible = add_number(symbolic, in, (automatic ? 0 : window->begin) - 1);
	room = sk_size_min(symbolic->sizes, sk_size_ceil(symbolic->sizes, room, stride),
			   sk_size_floor(symbolic->sizes, visible, stride));
	return add_number(symbolic, room, 1);
}

/* Return the number of elements that positions are spread over. */
static size_of spread_positions(const struct sk_symbolic *symbolic, size_of in, uint32_t axis,
				const struct window *window)
{
	const char *mode = sk_window_auto_pad(symbolic->node);
	size_of steps = sk_size_multiply(symbolic->sizes, in, number(symbolic, window->stride));
	int64_t span = (window->size - 1) * window->dilation + 1;
	size_t count;

	if (sk_node_integers(symbolic->node, "output_shape", &count))
		return number(symbolic, item_of(symbolic, "output_shape", axis + (count > 3 ? 2 : 0), 1));
	if (!strncmp(mode, "SAME", 4))
		return steps;
	return add_number(symbolic, steps, span - window->stride + window->more - window->begin - window->end);
}

static bool infer_windows(const struct sk_symbolic *symbolic)
{
	static const char *const pools[] = {"MaxPool", "AveragePool", "LpPool", NULL};
	bool pool = sk_node_is_one_of(symbolic->node, pools), turned = sk_node_is(symbolic->node, "ConvTranspose");
	bool scaled = sk_node_is(symbolic->node, "QLinearConv");
	struct extents all = extents_of(symbolic, input_of(symbolic, 0));
	const struct sk_value *filters = pool ? NULL : input_of(symbolic, scaled ? 3 : 1);

	if (turned)
		all.sizes[1] = sk_size_multiply(symbolic->sizes, sk_symbolic_size(symbolic, filters, 1),
						number(symbolic, sk_node_integer(symbolic->node, "group", 1)));
	else if (filters)
		all.sizes[1] = sk_symbolic_size(symbolic, filters, 0);
	for (uint32_t d = 2; d < all.rank; d++) {
		struct window window;

		if (!read_window(symbolic, filters, d - 2, all.rank - 2, &window))
			return false;
		all.sizes[d] = turned ? spread_positions(symbolic, all.sizes[d], d - 2, &window)
				      : count_positions(symbolic, all.sizes[d], &window);
	}
	return put_all(symbolic, 0, &all) && (symbolic->node->outputs.count < 2 || put_all(symbolic, 1, &all));
}

/* ---- Resize ---- */

/* Return floor(size * scale) for a scale that is a fraction with a small denominator; NULL: it is none. */
static size_of scale_size(const struct sk_symbolic *symbolic, size_of size, double scale)
{
	enum { MOST_BELOW = 64 };

	for (int64_t below = 1; below <= MOST_BELOW && scale > 0 && scale < INT32_MAX; below++) {
		int64_t above = (int64_t)(scale * (double)below + 0.5);

		if ((float)((double)above / (double)below) == (float)scale)
			return sk_size_floor(symbolic->sizes,
					     sk_size_multiply(symbolic->sizes, size, number(symbolic, above)),
					     number(symbolic, below));
	}
	return NULL;
}

static bool infer_resize(const struct sk_symbolic *symbolic)
{
	struct extents all = extents_of(symbolic, input_of(symbolic, 0));
	const struct sk_value *scales = input_of(symbolic, 2);
	uint64_t count, axis_count = all.rank;
	size_of const *sizes = list_of(symbolic, 3, &count);
	size_t named;
	const int64_t *axes = sk_node_integers(symbolic->node, "axes", &named);

	if (!strcmp(sk_node_string(symbolic->node, "coordinate_transformation_mode", ""), "tf_crop_and_resize") ||
	    strcmp(sk_node_string(symbolic->node, "keep_aspect_ratio_policy", "stretch"), "stretch"))
		return sk_symbolic_error(symbolic,
					 "it crops or keeps ratios, which sizes with bounds do not allow yet");
	if (!sizes && (!scales || !scales->contents || scales->varies))
		return sk_symbolic_error(symbolic, "its scales depend on sizes with bounds; let it have sizes, or give "
						   "its dimensions numbers");
	axis_count = axes ? named : axis_count;
	for (uint64_t i = 0; i < axis_count; i++) {
		uint32_t axis = counted_axis(axes ? axes[i] : (int64_t)i, all.rank);
		const char *scale = scales ? scales->contents : NULL;

		all.sizes[axis] =
			sizes ? sizes[i]
			      : scale_size(symbolic, all.sizes[axis],
					   sk_element_number(scales->dtype, scale + i * sk_dtype_size(scales->dtype)));
	}
	return put_all(symbolic, 0, &all);
}

/* ---- signals ---- */

static size_of count_bins(const struct sk_symbolic *symbolic, size_of length, bool half)
{
	return half ? add_number(symbolic, sk_size_floor(symbolic->sizes, length, number(symbolic, 2)), 1) : length;
}

static bool infer_dft(const struct sk_symbolic *symbolic)
{
	struct extents all = extents_of(symbolic, input_of(symbolic, 0));
	uint64_t count;
	size_of const *length = list_of(symbolic, 1, &count), *axes = list_of(symbolic, 2, &count);
	int64_t axis = -2;

	if (axes && !read_number(symbolic, axes[0], &axis))
		return false;
	axis = counted_axis(axis, all.rank);
	all.sizes[axis] = count_bins(symbolic, length ? length[0] : all.sizes[axis],
				     sk_node_integer(symbolic->node, "onesided", 0));
	all.sizes[all.rank - 1] = number(symbolic, 2);
	return put_all(symbolic, 0, &all);
}

static bool infer_stft(const struct sk_symbolic *symbolic)
{
	struct extents all = extents_of(symbolic, input_of(symbolic, 0));
	const struct sk_value *window = input_of(symbolic, 2);
	uint64_t count;
	size_of const *step = list_of(symbolic, 1, &count), *frame = list_of(symbolic, 3, &count);
	size_of length = frame ? frame[0] : window ? sk_symbolic_size(symbolic, window, 0) : NULL;

	if (!length || !step)
		return sk_symbolic_error(symbolic, "its frames depend on sizes with bounds");
	all.rank = 4;
	all.sizes[1] = add_number(
		symbolic,
		sk_size_floor(symbolic->sizes, sk_size_subtract(symbolic->sizes, all.sizes[1], length), step[0]), 1);
	all.sizes[2] = count_bins(symbolic, length, sk_node_integer(symbolic->node, "onesided", 1));
	all.sizes[3] = number(symbolic, 2);
	return put_all(symbolic, 0, &all);
}

/* ---- operators ---- */

/* Operators with outputs whose dimensions are those of inputs, demanded elements of inputs, sums of two of these, or
 * numbers. Names without a domain are ONNX's. */
static const char *const passing[] = {
	"Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Cast", "CastLike", "Ceil", "Celu",
	"Clip", "Cos", "Cosh", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish", "IsInf", "IsNaN",
	"LeakyRelu", "Log", "Mish", "Neg", "Not", "Reciprocal", "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Sign",
	"Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Swish", "Tan", "Tanh", "ThresholdedRelu", "sklink:Erfc",
	"sklink:Expm1", "sklink:HSigmoid", "sklink:IsFinite", "sklink:OnesLike", "sklink:Rsqrt", "sklink:SoftplusExt",
	"sklink:Square", "sklink:Trunc", "sklink:ZerosLike", "sklink:FillV2", "sklink:DivMod", "sklink:ReluGrad",
	/* reductions, and normalisation along axes */
	"ArgMax", "ArgMin", "CumProd", "CumSum", "Hardmax", "LogSoftmax", "LpNormalization", "ReduceL1", "ReduceL2",
	"ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum",
	"ReduceSumSquare", "Softmax", "TopK", "BatchNormalization", "GroupNormalization", "InstanceNormalization",
	"LRN", "LayerNormalization", "MeanVarianceNormalization", "RMSNormalization", "GlobalAveragePool",
	"GlobalLpPool", "GlobalMaxPool", "sklink:ArgMaxWithValue", "sklink:ArgMinWithValue", "sklink:MeanExt",
	"sklink:SumExt", "sklink:SquareSumAll", "sklink:AddLayerNorm", "sklink:AddRmsNorm", "sklink:AddRmsNormCast",
	"sklink:RmsNorm", "sklink:DynamicQuant", "sklink:AddRmsNormQuant", "sklink:RmsNormQuant",
	"sklink:AddRmsNormDynamicQuant", "sklink:QuantV2",
	/* moves of whole rows and elements */
	"sklink:FormatCast", "Identity", "Transpose", "Squeeze", "Unsqueeze", "Gather", "GatherElements", "GatherND",
	"ScatterElements", "ScatterND", "OneHot", "Trilu", "ReverseSequence", "EyeLike", "Shape", "Size", "Compress",
	"CenterCropPad", "sklink:Lookup", "sklink:TreeSums", "sklink:Transpose", "sklink:OneHot", "NonZero",
	/* products, attention, recurrence */
	"Attention", "RotaryEmbedding", "Einsum", "Det", "GRU", "LSTM", "RNN", "sklink:FusedMatMul", "sklink:SwiGlu",
	"MatMulNBits",
	/* quantisation */
	"DequantizeLinear", "DynamicQuantizeLinear", "QuantizeLinear", "sklink:DequantSwigluQuant",
	/* the others */
	"Dropout", "AffineGrid", "GridSample", "RoiAlign", "BlackmanWindow", "HammingWindow", "HannWindow",
	"RandomNormalLike", "RandomUniformLike", "Bernoulli", "Multinomial", "NegativeLogLikelihoodLoss",
	"SoftmaxCrossEntropyLoss", "sklink:BinaryCrossEntropy", "Col2Im", "sklink:Argmin", "sklink:AllReduce",
	"sklink:Assign", "sklink:AssignAdd", "sklink:BatchMatMul", "sklink:BiasAdd", "sklink:BiasAddGrad",
	"sklink:BCEWithLogitsLoss", "sklink:ClipByNormNoDivSum", "sklink:DropoutGrad", "sklink:EqualCount",
	"sklink:FastGeluGrad", "sklink:GeLUGrad", "sklink:LayerNormGrad", "sklink:LogSoftmaxGrad", "sklink:MaximumGrad",
	"sklink:MinimumGrad", "sklink:QuantBatchMatmul", "sklink:RsqrtGrad", "sklink:SiLUGrad",
	"sklink:SigmoidCrossEntropyWithLogits", "sklink:SigmoidCrossEntropyWithLogitsGrad", "sklink:SigmoidGrad",
	"sklink:SoftmaxBackward", "sklink:SoftmaxCrossEntropyWithLogits", "sklink:SoftmaxGrad", "sklink:SoftmaxGradExt",
	"sklink:SoftplusGrad", "sklink:SoftplusGradExt", "sklink:SqrtGrad", "sklink:StandardNormal", "sklink:TanhGrad",
	"sklink:TransposeBatchMatMul", NULL};

static const char *const broadcast[] = {"Add",
					"And",
					"BitShift",
					"BitwiseAnd",
					"BitwiseOr",
					"BitwiseXor",
					"Div",
					"Equal",
					"Greater",
					"GreaterOrEqual",
					"Less",
					"LessOrEqual",
					"Max",
					"Mean",
					"Min",
					"Mod",
					"Mul",
					"Or",
					"PRelu",
					"Pow",
					"Sub",
					"Sum",
					"Where",
					"Xor",
					"sklink:Addcmul",
					"sklink:Atan2",
					"sklink:FloorDiv",
					"sklink:FusedMulAdd",
					"sklink:NotEqual",
					"sklink:SquaredDifference",
					NULL};

static const struct {
	const char *op;
	bool (*infer)(const struct sk_symbolic *symbolic);
} computing[] = {{"AveragePool", infer_windows},
		 {"Concat", infer_concat},
		 {"ConstantOfShape", infer_constant_of_shape},
		 {"Conv", infer_windows},
		 {"ConvInteger", infer_windows},
		 {"ConvTranspose", infer_windows},
		 {"DFT", infer_dft},
		 {"DepthToSpace", infer_blocks},
		 {"Expand", infer_expand},
		 {"Flatten", infer_flatten},
		 {"Gemm", sk_symbolic_lift},
		 {"LpPool", infer_windows},
		 {"MatMul", infer_product},
		 {"MatMulInteger", infer_product},
		 {"MaxPool", infer_windows},
		 {"Pad", infer_pad},
		 {"QLinearConv", infer_windows},
		 {"QLinearMatMul", sk_symbolic_lift},
		 {"Range", infer_range},
		 {"Reshape", infer_reshape},
		 {"Resize", infer_resize},
		 {"STFT", infer_stft},
		 {"Slice", infer_slice},
		 {"SpaceToDepth", infer_blocks},
		 {"Split", infer_split},
		 {"TensorScatter", infer_like_first},
		 {"Tile", infer_tile}};

/* True if the operator passes dimensions on. Those of other domains keep their names. */
static bool is_passing(const struct sk_graph_node *node)
{
	static const char *const microsoft[] = {"BiasGelu",
						"FastGelu",
						"Gelu",
						"MatMulNBits",
						"QuickGelu",
						"RotaryEmbedding",
						"SkipLayerNormalization",
						"SkipSimplifiedLayerNormalization"};

	for (size_t i = 0; i < sizeof(microsoft) / sizeof(microsoft[0]); i++)
		if (!strcmp(node->domain, "com.microsoft") && !strcmp(node->op, microsoft[i]))
			return true;
	return sk_node_is_one_of(node, passing);
}

bool sk_symbolic_is_broadcast(const struct sk_graph_node *node)
{
	static const char *const products[] = {"MatMul", "MatMulInteger", NULL};

	return sk_node_is_one_of(node, broadcast) || sk_node_is_one_of(node, products);
}

bool sk_symbolic_shapes(const struct sk_symbolic *symbolic)
{
	for (size_t i = 0; i < sizeof(computing) / sizeof(computing[0]); i++)
		if (sk_node_is(symbolic->node, computing[i].op))
			return computing[i].infer(symbolic);
	if (sk_node_is_one_of(symbolic->node, broadcast))
		return infer_broadcast(symbolic);
	return is_passing(symbolic->node)
		       ? sk_symbolic_lift(symbolic)
		       : sk_symbolic_error(symbolic,
					   "sizes with bounds are not supported for the operator '%s' yet; "
					   "give the dimensions of its inputs numbers",
					   symbolic->node->op);
}
