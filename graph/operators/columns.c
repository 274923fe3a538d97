/* Col2Im: columns, each of which is a window, are added up in an image. Rows of updates are scattered to places that
 * are known when linking. Elements of windows outside of the image go to one extra place that is not read. */
#include <inttypes.h>

#include "base/arena.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"
#include "graph/operators/operators.h"

enum { COLUMNS, IMAGE, BLOCK }; /* inputs */
enum { MOST_PLACES = 1 << 24 }; /* elements of all windows */

struct columns {
	struct sk_windows windows; /* `in` is the image, `out` counts the windows */
	uint64_t batches, channels, elements, windows_count, places; /* elements of a window; places of an image */
};

static bool read_sizes(const struct sk_inference *inference, size_t input, uint32_t *count, int64_t *sizes)
{
	const int64_t *items;
	uint64_t given;

	if (!sk_infer_integers(inference, input, &given, &items))
		return false;
	if (!given || given > SK_WINDOW_MAX_SPATIAL || (*count && given != *count))
		return sk_infer_error(inference,
				      "'%s' has %" PRIu64 " size%s, not 1 to 3, and as many as the other one",
				      sk_infer_input(inference, input)->name, given, sk_plural(given));
	*count = (uint32_t)given;
	for (uint32_t d = 0; d < *count; d++) {
		if (items[d] < 1 || items[d] > MOST_PLACES)
			return sk_infer_error(inference, "a size of %" PRIi64 " cannot be", items[d]);
		sizes[d] = items[d];
	}
	return true;
}

/* Compute the number of windows and of their elements. */
static bool count_windows(const struct sk_inference *inference, struct columns *columns)
{
	struct sk_windows *windows = &columns->windows;

	columns->elements = columns->windows_count = columns->places = 1;
	for (uint32_t d = 0; d < windows->spatial; d++) {
		int64_t reach = windows->dilations[d] * (windows->size[d] - 1) + 1;
		int64_t room = windows->in[d] + windows->begin[d] + windows->end[d] - reach;

		if (room < 0)
			return sk_infer_error(inference, "a window is larger than the image and its pads");
		windows->out[d] = room / windows->strides[d] + 1;
		columns->elements *= (uint64_t)windows->size[d];
		columns->windows_count *= (uint64_t)windows->out[d];
		columns->places *= (uint64_t)windows->in[d];
		if (columns->elements > MOST_PLACES || columns->windows_count > MOST_PLACES ||
		    columns->places > MOST_PLACES)
			return sk_infer_error(inference, "its image, or its windows, have more than 2^24 elements");
	}
	return columns->elements * columns->windows_count <= MOST_PLACES ||
	       sk_infer_error(inference, "its windows have more than 2^24 elements");
}

static bool read_columns(const struct sk_inference *inference, struct columns *columns)
{
	const struct sk_value *from = sk_infer_input(inference, COLUMNS);
	struct sk_windows *windows = &columns->windows;
	int64_t pads[2 * SK_WINDOW_MAX_SPATIAL];

	*columns = (struct columns){.batches = 0};
	if (!read_sizes(inference, IMAGE, &windows->spatial, windows->in) ||
	    !read_sizes(inference, BLOCK, &windows->spatial, windows->size) ||
	    !sk_window_list(inference, "strides", windows->spatial, 1, 1, windows->strides) ||
	    !sk_window_list(inference, "dilations", windows->spatial, 1, 1, windows->dilations) ||
	    !sk_window_list(inference, "pads", 2 * windows->spatial, 0, 0, pads))
		return false;
	for (uint32_t d = 0; d < windows->spatial; d++) {
		windows->begin[d] = pads[d];
		windows->end[d] = pads[windows->spatial + d];
		if (windows->begin[d] > MOST_PLACES || windows->end[d] > MOST_PLACES ||
		    windows->dilations[d] > MOST_PLACES)
			return sk_infer_error(inference, "pads or dilations are greater than 2^24");
	}
	if (!count_windows(inference, columns))
		return false;
	if (from->rank != 3 || from->shape[1] % columns->elements || from->shape[2] != columns->windows_count)
		return sk_infer_error(inference,
				      "'%s' is not [batches, channels times %" PRIu64 ", %" PRIu64
				      "], which are the windows' elements, and how many there are",
				      from->name, columns->elements, columns->windows_count);
	columns->batches = from->shape[0];
	columns->channels = from->shape[1] / columns->elements;
	return true;
}

static bool infer_col2im(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, COLUMNS);
	uint64_t shape[2 + SK_WINDOW_MAX_SPATIAL];
	struct columns columns;

	if (!read_columns(inference, &columns))
		return false;
	shape[0] = columns.batches;
	shape[1] = columns.channels;
	for (uint32_t d = 0; d < columns.windows.spatial; d++)
		shape[2 + d] = (uint64_t)columns.windows.in[d];
	return sk_infer_output(inference, 0, from->dtype, 2 + columns.windows.spatial, shape);
}

/* Return the place of a window's element in the image; the extra place after its end if it is outside. */
static int64_t place_in_image(const struct columns *columns, uint64_t element, uint64_t window)
{
	const struct sk_windows *windows = &columns->windows;
	int64_t place = 0, stride = 1;

	for (uint32_t d = windows->spatial; d--;) {
		uint64_t size = (uint64_t)windows->size[d], out = (uint64_t)windows->out[d];
		int64_t at = (int64_t)(window % out) * windows->strides[d] +
			     (int64_t)(element % size) * windows->dilations[d] - windows->begin[d];

		if (at < 0 || at >= windows->in[d])
			return (int64_t)columns->places;
		place += at * stride;
		stride *= windows->in[d];
		element /= size;
		window /= out;
	}
	return place;
}

static uint32_t make_places(struct sk_op_graph *graph, const struct columns *columns)
{
	uint64_t count = columns->elements * columns->windows_count;
	int64_t *places = SK_NEW_ARRAY(graph->arena, int64_t, count + 1);

	for (uint64_t element = 0; element < columns->elements; element++)
		for (uint64_t window = 0; window < columns->windows_count; window++)
			places[element * columns->windows_count + window] = place_in_image(columns, element, window);
	return sk_graph_new_integers(graph, "places", count, places);
}

/* Each place is a row with an element of all images and channels, so that whole rows are added. */
static bool canonical_col2im(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	uint32_t from = sk_canonical_input(canonical, COLUMNS), to = sk_canonical_output(canonical, 0);
	enum sk_dtype dtype = graph->values.items[from].dtype;
	struct columns columns;

	if (!read_columns(&inference, &columns))
		return false;

	uint64_t count = columns.elements * columns.windows_count, width = columns.batches * columns.channels;
	const uint64_t updated[2] = {count, width}, sums[2] = {columns.places + 1, width};
	uint32_t updates = sk_graph_new_value(graph, "updates", dtype, 2, updated);
	uint32_t zeros = sk_graph_new_value(graph, "zeros", dtype, 2, sums);
	uint32_t image = sk_graph_new_value(graph, "image", dtype, 2, sums), places = make_places(graph, &columns);
	const struct sk_arrangement rows = {.rank = 2, .shape = {count, width}, .strides = {1, (int64_t)count}};
	const struct sk_arrangement planes = {
		.rank = 2, .shape = {width, columns.places}, .strides = {1, (int64_t)width}};
	struct sk_graph_call *call;

	if (!sk_canonical_arrange(canonical, sk_operand_flat(graph, updates), from, &rows) ||
	    !sk_canonical_fill(canonical, zeros, 0))
		return false;
	call = sk_canonical_call(canonical, "Scatter");
	sk_call_word(canonical, call, "reduction", "add");
	sk_call_input(canonical, call, sk_operand_shaped(graph, zeros, 2, sums));
	sk_call_input(canonical, call, sk_operand_flat(graph, places));
	sk_call_input(canonical, call, sk_operand_shaped(graph, updates, 2, updated));
	sk_call_output(canonical, call, sk_operand_shaped(graph, image, 2, sums));
	return sk_canonical_arrange(canonical, sk_operand_flat(graph, to), image, &planes);
}

/* ---- the table ---- */

static const struct sk_schema_attribute lists[] = {{"dilations", SK_ATTRIBUTE_INTEGERS},
						   {"pads", SK_ATTRIBUTE_INTEGERS},
						   {"strides", SK_ATTRIBUTE_INTEGERS},
						   {NULL}};

const struct sk_schema sk_operators_columns[] = {
	{"Col2Im", "", 3, 3, 1, 1, .demands = 1 << IMAGE | 1 << BLOCK, .attributes = lists, .infer = infer_col2im,
	 .canonical = canonical_col2im},
	{NULL},
};
