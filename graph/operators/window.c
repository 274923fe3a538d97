/* Windows, and their description in calls; see operators-parts.h. */
#include "base/text.h"
#include "graph/operators/operators-parts.h"

#include <inttypes.h>
#include <string.h>

#include "format/skplan.h"
#include "graph/graph.h"

enum { MAX_SPATIAL = SK_WINDOW_MAX_SPATIAL, LARGEST = 1 << 30 };

/* Read a list with an item for each spatial dimension, or for both ends of each. */
bool sk_window_list(const struct sk_inference *inference, const char *name, uint32_t count, int64_t least,
		    int64_t otherwise, int64_t *items)
{
	size_t given;
	const int64_t *list = sk_node_integers(inference->node, name, &given);

	if (list && given != count)
		return sk_infer_error(inference, "'%s' has %zu item%s, not %u", name, given, sk_plural(given), count);
	for (uint32_t i = 0; i < count; i++) {
		items[i] = list ? list[i] : otherwise;
		if (items[i] < least || items[i] > LARGEST)
			return sk_infer_error(inference, "'%s' cannot be %" PRIi64, name, items[i]);
	}
	return true;
}

const char *sk_window_auto_pad(const struct sk_graph_node *node)
{
	const char *mode = sk_node_string(node, "auto_pad", "");

	return *mode ? mode : "NOTSET";
}

/* Compute the pads of auto_pad: the output has the size of the input divided by the stride. */
static bool pad_automatically(const struct sk_inference *inference, struct sk_windows *window, const char *mode)
{
	bool upper = !strcmp(mode, "SAME_UPPER");

	if (!strcmp(mode, "VALID"))
		return true;
	if (!upper && strcmp(mode, "SAME_LOWER"))
		return sk_infer_error(inference, "auto_pad '%s' is none of NOTSET, VALID, SAME_UPPER and SAME_LOWER",
				      mode);
	for (uint32_t i = 0; i < window->spatial; i++) {
		int64_t out = (window->in[i] + window->strides[i] - 1) / window->strides[i];
		int64_t span = (window->size[i] - 1) * window->dilations[i] + 1;
		int64_t pads = (out - 1) * window->strides[i] + span - window->in[i];

		pads = pads < 0 ? 0 : pads;
		window->begin[i] = upper ? pads / 2 : pads - pads / 2;
		window->end[i] = pads - window->begin[i];
	}
	return true;
}

/* Read all attributes except the size of the window. */
bool sk_window_read(const struct sk_inference *inference, const struct sk_value *from, struct sk_windows *window)
{
	const char *mode = sk_window_auto_pad(inference->node);
	int64_t pads[2 * MAX_SPATIAL];

	if (from->rank < 3 || from->rank > 2 + MAX_SPATIAL)
		return sk_infer_error(inference, "'%s' has %u dimension%s, not 3 to %d", from->name, from->rank,
				      sk_plural(from->rank), 2 + MAX_SPATIAL);
	window->spatial = from->rank - 2;
	for (uint32_t i = 0; i < window->spatial; i++) {
		window->in[i] = (int64_t)from->shape[2 + i];
		if (window->in[i] > LARGEST)
			return sk_infer_error(inference, "'%s' is too large", from->name);
	}
	if (!sk_window_list(inference, "strides", window->spatial, 1, 1, window->strides) ||
	    !sk_window_list(inference, "dilations", window->spatial, 1, 1, window->dilations) ||
	    !sk_window_list(inference, "pads", 2 * window->spatial, 0, 0, pads))
		return false;
	for (uint32_t i = 0; i < window->spatial; i++) {
		window->begin[i] = pads[i];
		window->end[i] = pads[window->spatial + i];
	}
	return !strcmp(mode, "NOTSET") || pad_automatically(inference, window, mode);
}

bool sk_window_output(const struct sk_inference *inference, struct sk_windows *window)
{
	bool ceil = sk_node_integer(inference->node, "ceil_mode", 0);

	for (uint32_t i = 0; i < window->spatial; i++) {
		int64_t span = (window->size[i] - 1) * window->dilations[i] + 1, stride = window->strides[i];
		int64_t room = window->in[i] + window->begin[i] + window->end[i] - span;

		if (room < 0)
			return sk_infer_error(inference,
					      "the window is larger than the input with its pads along axis %u", 2 + i);
		window->out[i] = (room + (ceil ? stride - 1 : 0)) / stride + 1;
		if (ceil && (window->out[i] - 1) * stride >= window->in[i] + window->begin[i])
			window->out[i]--; /* it would see only pads */
	}
	return true;
}

bool sk_window_infer(const struct sk_inference *inference, size_t output, enum sk_dtype dtype, uint64_t n, uint64_t c,
		     const struct sk_windows *window)
{
	uint64_t shape[2 + MAX_SPATIAL] = {n, c};

	for (uint32_t i = 0; i < window->spatial; i++)
		shape[2 + i] = (uint64_t)window->out[i];
	return sk_infer_output(inference, output, dtype, 2 + window->spatial, shape);
}

/* ---- attributes of calls ---- */

/* Kernels have two spatial dimensions or three; a single one becomes the second of two. */
uint32_t sk_window_spatial(const struct sk_windows *window)
{
	return window->spatial == 1 ? 2 : window->spatial;
}

void sk_window_widen(const struct sk_windows *window, const int64_t *items, int64_t first, int64_t *widened)
{
	widened[0] = first;
	memcpy(widened + (window->spatial == 1), items, window->spatial * sizeof(*items));
}

void sk_call_window(const struct sk_canonical *canonical, struct sk_graph_call *call, const struct sk_windows *window)
{
	uint32_t spatial = sk_window_spatial(window);
	int64_t items[2 * MAX_SPATIAL];

	sk_call_integer(canonical, call, "spatial", spatial);
	sk_window_widen(window, window->strides, 1, items);
	sk_call_integers(canonical, call, "strides", items, spatial);
	sk_window_widen(window, window->dilations, 1, items);
	sk_call_integers(canonical, call, "dilations", items, spatial);
	sk_window_widen(window, window->begin, 0, items);
	sk_window_widen(window, window->end, 0, items + spatial);
	sk_call_integers(canonical, call, "pads", items, 2 * spatial);
}

/* Return a value [a, b, …] with the number of spatial dimensions of the call. */
struct sk_operand sk_operand_spatial(const struct sk_op_graph *graph, uint32_t value)
{
	const struct sk_value *of = &graph->values.items[value];
	uint64_t shape[SK_MAX_RANK];
	bool widened = of->rank == 3;

	memcpy(shape, of->shape, 2 * sizeof(*shape));
	shape[2] = 1;
	memcpy(shape + 2 + widened, of->shape + 2, (of->rank - 2) * sizeof(*shape));
	return sk_operand_shaped(graph, value, of->rank + widened, shape);
}

bool sk_window_filters(const struct sk_inference *inference, const struct sk_value *w, struct sk_windows *window)
{
	size_t given;
	const int64_t *sizes = sk_node_integers(inference->node, "kernel_shape", &given);

	if (sizes && given != w->rank - 2)
		return sk_infer_error(inference, "'kernel_shape' has %zu item%s, not %u", given, sk_plural(given),
				      w->rank - 2);
	for (uint32_t i = 0; i < w->rank - 2; i++) {
		window->size[i] = (int64_t)w->shape[2 + i];
		if (window->size[i] < 1 || window->size[i] > LARGEST)
			return sk_infer_error(inference, "the filters '%s' have no size along axis %u", w->name, 2 + i);
		if (sizes && sizes[i] != window->size[i])
			return sk_infer_error(inference,
					      "'kernel_shape' says %" PRIi64 ", and the filters '%s' have %" PRIi64
					      " element%s along axis %u",
					      sizes[i], w->name, window->size[i], sk_plural((uint64_t)window->size[i]),
					      2 + i);
	}
	return true;
}

bool sk_window_convolution(const struct sk_inference *inference, const struct sk_value *x, const struct sk_value *w,
			   const struct sk_value *bias, struct sk_windows *window, int64_t *group)
{
	*group = sk_node_integer(inference->node, "group", 1);
	if (x->rank != w->rank || x->rank < 3 || x->rank > 2 + MAX_SPATIAL)
		return sk_infer_error(inference, "'%s' has %u dimension%s, and '%s' %u", x->name, x->rank,
				      sk_plural(x->rank), w->name, w->rank);
	if (!sk_window_filters(inference, w, window))
		return false;
	if (*group < 1 || w->shape[0] % (uint64_t)*group)
		return sk_infer_error(inference, "'%s' has %" PRIu64 " filters, which are not %" PRIi64 " equal groups",
				      w->name, w->shape[0], *group);
	if (x->shape[1] != w->shape[1] * (uint64_t)*group)
		return sk_infer_error(inference,
				      "'%s' has %" PRIu64 " channels, and %" PRIi64 " groups of filters have %" PRIu64,
				      x->name, x->shape[1], *group, w->shape[1]);
	if (bias && (bias->rank != 1 || bias->shape[0] != w->shape[0]))
		return sk_infer_error(inference, "bias '%s' is not one number a filter", bias->name);
	return sk_window_read(inference, x, window) && sk_window_output(inference, window);
}
