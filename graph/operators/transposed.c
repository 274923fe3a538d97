/* Operators that invert windows: transposed convolutions and MaxUnpool. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"
#include "graph/operators/operators.h"

enum { MAX_SPATIAL = SK_WINDOW_MAX_SPATIAL };

/* An output that is larger than the result is padded with zeros at its end. */
static bool read_wanted(const struct sk_inference *inference, struct sk_windows *window, const int64_t *wanted)
{
	bool upper = !strcmp(sk_node_string(inference->node, "auto_pad", "NOTSET"), "SAME_UPPER");

	for (uint32_t i = 0; i < window->spatial; i++) {
		int64_t pads = window->out[i] > wanted[i] ? window->out[i] - wanted[i] : 0;

		window->begin[i] = upper ? pads / 2 : pads - pads / 2;
		window->end[i] = pads - window->begin[i];
		window->out[i] = wanted[i];
	}
	return true;
}

/* Read sizes, strides, pads; compute the output without pads. */
static bool read_common(const struct sk_inference *inference, const struct sk_value *x, struct sk_windows *window)
{
	int64_t pads[2 * MAX_SPATIAL], additional[MAX_SPATIAL];

	window->spatial = x->rank - 2;
	if (!sk_window_list(inference, "strides", window->spatial, 1, 1, window->strides) ||
	    !sk_window_list(inference, "dilations", window->spatial, 1, 1, window->dilations) ||
	    !sk_window_list(inference, "pads", 2 * window->spatial, 0, 0, pads) ||
	    !sk_window_list(inference, "output_padding", window->spatial, 0, 0, additional))
		return false;
	for (uint32_t i = 0; i < window->spatial; i++) {
		if (x->shape[2 + i] < 1 || x->shape[2 + i] > 1U << 30)
			return sk_infer_error(inference, "'%s' cannot have %" PRIu64 " elements along axis %u", x->name,
					      x->shape[2 + i], 2 + i);
		window->in[i] = (int64_t)x->shape[2 + i];
		window->begin[i] = pads[i];
		window->end[i] = pads[window->spatial + i];
		window->out[i] = (window->in[i] - 1) * window->strides[i] + additional[i] +
				 (window->size[i] - 1) * window->dilations[i] + 1;
	}
	return true;
}

static bool take_pads(const struct sk_inference *inference, struct sk_windows *window)
{
	for (uint32_t i = 0; i < window->spatial; i++) {
		window->out[i] -= window->begin[i] + window->end[i];
		if (window->out[i] < 1)
			return sk_infer_error(inference, "the pads take all of the output along axis %u", 2 + i);
	}
	return true;
}

/* ---- ConvTranspose ---- */

static bool check_filters(const struct sk_inference *inference, struct sk_windows *window, int64_t group)
{
	const struct sk_value *x = sk_infer_input(inference, 0), *w = sk_infer_input(inference, 1);
	const struct sk_value *bias = sk_infer_input(inference, 2);

	if (x->rank != w->rank || x->rank < 3 || x->rank > 2 + MAX_SPATIAL)
		return sk_infer_error(inference, "'%s' has %u dimension%s, and '%s' %u", x->name, x->rank,
				      sk_plural(x->rank), w->name, w->rank);
	if (group < 1 || x->shape[1] != w->shape[0] || x->shape[1] % (uint64_t)group ||
	    (w->shape[1] && (uint64_t)group > (1U << 30) / w->shape[1]))
		return sk_infer_error(inference,
				      "'%s' has %" PRIu64 " channel%s, and '%s' %" PRIu64 ", in %" PRIi64 " group%s",
				      x->name, x->shape[1], sk_plural(x->shape[1]), w->name, w->shape[0], group,
				      sk_plural((uint64_t)group));
	if (bias && (bias->rank != 1 || bias->shape[0] != w->shape[1] * (uint64_t)group))
		return sk_infer_error(inference, "bias '%s' is not one number a channel", bias->name);
	return sk_window_filters(inference, w, window);
}

static bool read_transposed(const struct sk_inference *inference, struct sk_windows *window, int64_t *group)
{
	const struct sk_value *x = sk_infer_input(inference, 0);
	const char *mode = sk_window_auto_pad(inference->node);
	size_t count;
	const int64_t *shape = sk_node_integers(inference->node, "output_shape", &count);
	int64_t wanted[MAX_SPATIAL];

	*group = sk_node_integer(inference->node, "group", 1);
	if (!check_filters(inference, window, *group) || !read_common(inference, x, window))
		return false;
	if (shape && count == x->rank) { /* some files include the batch and the channels */
		memcpy(wanted, shape + 2, window->spatial * sizeof(*wanted));
		shape = wanted;
	} else if (shape) {
		if (!sk_window_list(inference, "output_shape", window->spatial, 1, 1, wanted))
			return false;
		shape = wanted;
	}
	for (uint32_t i = 0; shape && i < window->spatial; i++)
		if (shape[i] < 1 || shape[i] > 1 << 30)
			return sk_infer_error(inference, "'output_shape' cannot be %" PRIi64, shape[i]);
	if (shape)
		return read_wanted(inference, window, shape);
	if (!strcmp(mode, "SAME_UPPER") || !strcmp(mode, "SAME_LOWER")) {
		for (uint32_t i = 0; i < window->spatial; i++)
			wanted[i] = window->in[i] * window->strides[i];
		return read_wanted(inference, window, wanted);
	}
	if (strcmp(mode, "NOTSET") && strcmp(mode, "VALID"))
		return sk_infer_error(inference, "auto_pad '%s' is none of NOTSET, VALID, SAME_UPPER and SAME_LOWER",
				      mode);
	return take_pads(inference, window);
}

static bool infer_transposed(struct sk_inference *inference)
{
	const struct sk_value *x = sk_infer_input(inference, 0), *w = sk_infer_input(inference, 1);
	struct sk_windows window;
	int64_t group;

	return read_transposed(inference, &window, &group) &&
	       sk_window_infer(inference, 0, x->dtype, x->shape[0], w->shape[1] * (uint64_t)group, &window);
}

static bool canonical_transposed(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	struct sk_graph_call *call;
	struct sk_windows window;
	int64_t group;

	if (!read_transposed(&inference, &window, &group))
		return false;
	if (!graph->values.items[sk_canonical_input(canonical, 0)].shape[1])
		return sk_canonical_error(canonical, "there are no channels");
	call = sk_canonical_call(canonical, "ConvTranspose");
	sk_call_window(canonical, call, &window);
	sk_call_integer(canonical, call, "group", group);
	sk_call_input(canonical, call, sk_operand_spatial(graph, sk_canonical_input(canonical, 0)));
	sk_call_input(canonical, call, sk_operand_spatial(graph, sk_canonical_input(canonical, 1)));
	sk_call_input(canonical, call, sk_operand_flat(graph, sk_canonical_input(canonical, 2)));
	sk_call_output(canonical, call, sk_operand_spatial(graph, sk_canonical_output(canonical, 0)));
	return true;
}

/* ---- MaxUnpool ---- */

static bool read_unpool(const struct sk_inference *inference, struct sk_windows *window)
{
	const struct sk_value *x = sk_infer_input(inference, 0), *indices = sk_infer_input(inference, 1);
	const int64_t *shape;
	uint64_t count;

	if (x->rank < 3 || x->rank > 2 + MAX_SPATIAL)
		return sk_infer_error(inference, "'%s' has %u dimension%s, not 3 to %d", x->name, x->rank,
				      sk_plural(x->rank), 2 + MAX_SPATIAL);
	if (indices->dtype != SK_I64 || indices->rank != x->rank ||
	    memcmp(indices->shape, x->shape, x->rank * sizeof(*x->shape)))
		return sk_infer_error(inference, "'%s' is not an i64 for each element of '%s'", indices->name, x->name);
	if (!sk_window_list(inference, "kernel_shape", x->rank - 2, 1, 1, window->size) ||
	    !read_common(inference, x, window) || !take_pads(inference, window) ||
	    !sk_infer_integers(inference, 2, &count, &shape))
		return false;
	if (!shape)
		return true;
	if (count != x->rank)
		return sk_infer_error(inference, "the shape of the output has %" PRIu64 " dimension%s, not %u", count,
				      sk_plural(count), x->rank);
	for (uint32_t i = 0; i < x->rank; i++)
		if (i < 2 ? shape[i] != (int64_t)x->shape[i] : shape[i] < 1 || shape[i] > 1 << 30)
			return sk_infer_error(inference, "dimension %u of the output cannot be %" PRIi64, i, shape[i]);
	memcpy(window->out, shape + 2, window->spatial * sizeof(*shape));
	return true;
}

static bool infer_unpool(struct sk_inference *inference)
{
	const struct sk_value *x = sk_infer_input(inference, 0);
	struct sk_windows window;

	return read_unpool(inference, &window) &&
	       sk_window_infer(inference, 0, x->dtype, x->shape[0], x->shape[1], &window);
}

static bool canonical_unpool(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	int64_t items[2 * MAX_SPATIAL];
	struct sk_graph_call *call;
	struct sk_windows window;
	uint32_t spatial;

	if (!read_unpool(&inference, &window))
		return false;
	spatial = sk_window_spatial(&window);
	call = sk_canonical_call(canonical, "MaxUnpool");
	sk_call_integer(canonical, call, "spatial", spatial);
	sk_window_widen(&window, window.size, 1, items);
	sk_call_integers(canonical, call, "kernel_shape", items, spatial);
	sk_window_widen(&window, window.strides, 1, items);
	sk_call_integers(canonical, call, "strides", items, spatial);
	sk_window_widen(&window, window.begin, 0, items);
	sk_window_widen(&window, window.end, 0, items + spatial);
	sk_call_integers(canonical, call, "pads", items, 2 * spatial);
	sk_call_input(canonical, call, sk_operand_moved(sk_operand_spatial(graph, sk_canonical_input(canonical, 0))));
	sk_call_input(canonical, call, sk_operand_spatial(graph, sk_canonical_input(canonical, 1)));
	sk_call_output(canonical, call, sk_operand_moved(sk_operand_spatial(graph, sk_canonical_output(canonical, 0))));
	return true;
}

/* ---- the table ---- */

static const struct sk_schema_attribute transposed[] = {{"auto_pad", SK_ATTRIBUTE_STRING},
							{"dilations", SK_ATTRIBUTE_INTEGERS},
							{"group", SK_ATTRIBUTE_INTEGER, .integer = 1},
							{"kernel_shape", SK_ATTRIBUTE_INTEGERS},
							{"output_padding", SK_ATTRIBUTE_INTEGERS},
							{"output_shape", SK_ATTRIBUTE_INTEGERS},
							{"pads", SK_ATTRIBUTE_INTEGERS},
							{"strides", SK_ATTRIBUTE_INTEGERS},
							{NULL}};
static const struct sk_schema_attribute unpool[] = {{"kernel_shape", SK_ATTRIBUTE_INTEGERS, true},
						    {"pads", SK_ATTRIBUTE_INTEGERS},
						    {"strides", SK_ATTRIBUTE_INTEGERS},
						    {NULL}};

const struct sk_schema sk_operators_transposed[] = {
	{"ConvTranspose", "", 2, 3, 1, 1, .attributes = transposed, .infer = infer_transposed,
	 .canonical = canonical_transposed},
	{"MaxUnpool", "", 2, 3, 1, 1, 1U << 2, .attributes = unpool, .infer = infer_unpool,
	 .canonical = canonical_unpool},
	{NULL},
};
