/* Operators that go over their input with a window: convolutions and pools. */
#include <inttypes.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/fusion/operators/families.h"

enum { MAX_SPATIAL = 3, LARGEST = 1 << 30 };

/* How a window goes over the spatial dimensions, one item each. */
struct window {
	uint32_t spatial;
	int64_t size[MAX_SPATIAL], strides[MAX_SPATIAL], dilations[MAX_SPATIAL], begin[MAX_SPATIAL], end[MAX_SPATIAL];
	int64_t in[MAX_SPATIAL], out[MAX_SPATIAL];
};

/* A list with an item for each spatial dimension, or for each end of each. */
static bool read_list(const struct sk_inference *inference, const char *name, uint32_t count, int64_t least,
		      int64_t otherwise, int64_t *items)
{
	size_t given;
	const int64_t *list = sk_node_integers(inference->node, name, &given);

	if (list && given != count)
		return sk_infer_error(inference, "'%s' has %zu items, not %u", name, given, count);
	for (uint32_t i = 0; i < count; i++) {
		items[i] = list ? list[i] : otherwise;
		if (items[i] < least || items[i] > LARGEST)
			return sk_infer_error(inference, "'%s' cannot be %" PRIi64, name, items[i]);
	}
	return true;
}

/* What pads auto_pad means: as many as make the output as large as the input divided by the stride. */
static bool pad_automatically(const struct sk_inference *inference, struct window *window, const char *mode)
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

/* Everything but the size of the window and the output. */
static bool read_window(const struct sk_inference *inference, const struct sk_value *from, struct window *window)
{
	const char *mode = sk_node_string(inference->node, "auto_pad", "NOTSET");
	int64_t pads[2 * MAX_SPATIAL];

	if (from->rank < 3 || from->rank > 2 + MAX_SPATIAL)
		return sk_infer_error(inference, "'%s' has %u dimensions, not 3 to %d", from->name, from->rank,
				      2 + MAX_SPATIAL);
	window->spatial = from->rank - 2;
	for (uint32_t i = 0; i < window->spatial; i++) {
		window->in[i] = (int64_t)from->shape[2 + i];
		if (window->in[i] > LARGEST)
			return sk_infer_error(inference, "'%s' is too large", from->name);
	}
	if (!read_list(inference, "strides", window->spatial, 1, 1, window->strides) ||
	    !read_list(inference, "dilations", window->spatial, 1, 1, window->dilations) ||
	    !read_list(inference, "pads", 2 * window->spatial, 0, 0, pads))
		return false;
	for (uint32_t i = 0; i < window->spatial; i++) {
		window->begin[i] = pads[i];
		window->end[i] = pads[window->spatial + i];
	}
	return !strcmp(mode, "NOTSET") || pad_automatically(inference, window, mode);
}

static bool find_output(const struct sk_inference *inference, struct window *window)
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
			window->out[i]--; /* it would only see pads */
	}
	return true;
}

static bool infer_planes(const struct sk_inference *inference, size_t output, enum sk_dtype dtype, uint64_t n,
			 uint64_t c, const struct window *window)
{
	uint64_t shape[2 + MAX_SPATIAL] = {n, c};

	for (uint32_t i = 0; i < window->spatial; i++)
		shape[2 + i] = (uint64_t)window->out[i];
	return sk_infer_output(inference, output, dtype, 2 + window->spatial, shape);
}

/* ---- what calls carry ---- */

/* Kernels have two spatial dimensions or three: a single one is the second one of two. */
static uint32_t call_spatial(const struct window *window)
{
	return window->spatial == 1 ? 2 : window->spatial;
}

static void widen(const struct window *window, const int64_t *items, int64_t first, int64_t *widened)
{
	widened[0] = first;
	memcpy(widened + (window->spatial == 1), items, window->spatial * sizeof(*items));
}

static void add_window(const struct sk_canonical *canonical, struct sk_graph_call *call, const struct window *window)
{
	uint32_t spatial = call_spatial(window);
	int64_t items[2 * MAX_SPATIAL];

	sk_call_integer(canonical, call, "spatial", spatial);
	widen(window, window->strides, 1, items);
	sk_call_integers(canonical, call, "strides", items, spatial);
	widen(window, window->dilations, 1, items);
	sk_call_integers(canonical, call, "dilations", items, spatial);
	widen(window, window->begin, 0, items);
	widen(window, window->end, 0, items + spatial);
	sk_call_integers(canonical, call, "pads", items, 2 * spatial);
}

/* A value [a, b, …] with as many spatial dimensions as the call has. */
static struct sk_operand spatial_operand(const struct sk_op_graph *graph, uint32_t value)
{
	const struct sk_value *of = &graph->values.items[value];
	uint64_t shape[SK_MAX_RANK];
	bool widened = of->rank == 3;

	memcpy(shape, of->shape, 2 * sizeof(*shape));
	shape[2] = 1;
	memcpy(shape + 2 + widened, of->shape + 2, (of->rank - 2) * sizeof(*shape));
	return sk_operand_shaped(graph, value, of->rank + widened, shape);
}

/* ---- Conv ---- */

static bool read_convolution(const struct sk_inference *inference, struct window *window, int64_t *group)
{
	const struct sk_value *x = sk_infer_input(inference, 0), *w = sk_infer_input(inference, 1);
	const struct sk_value *bias = sk_infer_input(inference, 2);

	*group = sk_node_integer(inference->node, "group", 1);
	if (x->rank != w->rank || x->rank < 3 || x->rank > 2 + MAX_SPATIAL)
		return sk_infer_error(inference, "'%s' has %u dimensions, and '%s' %u", x->name, x->rank, w->name,
				      w->rank);
	for (uint32_t i = 0; i < x->rank - 2; i++) {
		window->size[i] = (int64_t)w->shape[2 + i];
		if (window->size[i] < 1 || window->size[i] > LARGEST)
			return sk_infer_error(inference, "the filters '%s' have no size along axis %u", w->name, 2 + i);
	}
	if (*group < 1 || w->shape[0] % (uint64_t)*group)
		return sk_infer_error(inference, "'%s' has %" PRIu64 " filters, which are not %" PRIi64 " equal groups",
				      w->name, w->shape[0], *group);
	if (x->shape[1] != w->shape[1] * (uint64_t)*group)
		return sk_infer_error(inference,
				      "'%s' has %" PRIu64 " channels, and %" PRIi64 " groups of filters have %" PRIu64,
				      x->name, x->shape[1], *group, w->shape[1]);
	if (bias && (bias->rank != 1 || bias->shape[0] != w->shape[0]))
		return sk_infer_error(inference, "bias '%s' is not one number a filter", bias->name);
	return read_window(inference, x, window) && find_output(inference, window);
}

static bool infer_conv(struct sk_inference *inference)
{
	const struct sk_value *x = sk_infer_input(inference, 0), *w = sk_infer_input(inference, 1);
	struct window window;
	int64_t group;

	return read_convolution(inference, &window, &group) &&
	       infer_planes(inference, 0, x->dtype, x->shape[0], w->shape[0], &window);
}

static bool canonical_conv(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	uint32_t x = sk_canonical_input(canonical, 0), w = sk_canonical_input(canonical, 1);
	struct sk_graph_call *call;
	struct window window;
	int64_t group;

	if (!read_convolution(&inference, &window, &group))
		return false;
	if (!graph->values.items[w].shape[1])
		return sk_canonical_error(canonical, "there are no channels");
	call = sk_canonical_call(canonical, "Conv");
	add_window(canonical, call, &window);
	sk_call_integer(canonical, call, "group", group);
	sk_call_input(canonical, call, spatial_operand(graph, x));
	sk_call_input(canonical, call, spatial_operand(graph, w));
	sk_call_input(canonical, call, sk_operand_flat(graph, sk_canonical_input(canonical, 2)));
	sk_call_output(canonical, call, spatial_operand(graph, sk_canonical_output(canonical, 0)));
	return true;
}

/* ---- pools ---- */

static bool read_pool(const struct sk_inference *inference, struct window *window)
{
	const struct sk_value *x = sk_infer_input(inference, 0);

	if (x->rank < 3 || x->rank > 2 + MAX_SPATIAL)
		return sk_infer_error(inference, "'%s' has %u dimensions, not 3 to %d", x->name, x->rank,
				      2 + MAX_SPATIAL);
	return read_list(inference, "kernel_shape", x->rank - 2, 1, 1, window->size) &&
	       read_window(inference, x, window) && find_output(inference, window);
}

static bool infer_pool(struct sk_inference *inference)
{
	const struct sk_value *x = sk_infer_input(inference, 0);
	struct window window;

	return read_pool(inference, &window) &&
	       infer_planes(inference, 0, x->dtype, x->shape[0], x->shape[1], &window) &&
	       infer_planes(inference, 1, SK_I64, x->shape[0], x->shape[1], &window);
}

static bool add_pool(struct sk_canonical *canonical, const char *option, int64_t otherwise)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	bool indexed = !strcmp(inference.node->op, "MaxPool");
	uint32_t indices = sk_canonical_output(canonical, 1);
	int64_t size[MAX_SPATIAL];
	struct sk_graph_call *call;
	struct window window;

	if (!read_pool(&inference, &window))
		return false;
	call = sk_canonical_call(canonical, inference.node->op);
	add_window(canonical, call, &window);
	widen(&window, window.size, 1, size);
	sk_call_integers(canonical, call, "kernel_shape", size, call_spatial(&window));
	sk_call_integer(canonical, call, option, sk_node_integer(inference.node, option, otherwise));
	sk_call_input(canonical, call, spatial_operand(graph, sk_canonical_input(canonical, 0)));
	sk_call_output(canonical, call, spatial_operand(graph, sk_canonical_output(canonical, 0)));
	if (indexed)
		sk_call_output(canonical, call,
			       indices == SK_NONE ? sk_operand_flat(graph, SK_NONE) : spatial_operand(graph, indices));
	return true;
}

static bool canonical_max_pool(struct sk_canonical *canonical)
{
	return add_pool(canonical, "storage_order", 0);
}

static bool canonical_average_pool(struct sk_canonical *canonical)
{
	return add_pool(canonical, "count_include_pad", 0);
}

static bool canonical_lp_pool(struct sk_canonical *canonical)
{
	return add_pool(canonical, "p", 2);
}

/* ---- pools of whole planes are reductions ---- */

static bool infer_global(struct sk_inference *inference)
{
	const struct sk_value *x = sk_infer_input(inference, 0);
	uint64_t shape[SK_MAX_RANK];

	if (x->rank < 2)
		return sk_infer_error(inference, "'%s' has %u dimensions, not 2 or more", x->name, x->rank);
	for (uint32_t i = 0; i < x->rank; i++)
		shape[i] = i < 2 ? x->shape[i] : 1;
	return sk_infer_output(inference, 0, x->dtype, x->rank, shape);
}

static bool add_global(struct sk_canonical *canonical, const char *op)
{
	const struct sk_op_graph *graph = canonical->graph;
	uint32_t from = sk_canonical_input(canonical, 0);
	const struct sk_value *x = &graph->values.items[from];
	uint64_t planes = x->shape[0] * x->shape[1], elements = sk_value_elements(x);
	struct sk_graph_call *call = sk_canonical_call(canonical, op);

	sk_call_input(canonical, call, sk_operand_shaped(graph, from, 3, (uint64_t[]){planes, elements / planes, 1}));
	sk_call_output(canonical, call,
		       sk_operand_shaped(graph, sk_canonical_output(canonical, 0), 2, (uint64_t[]){planes, 1}));
	return true;
}

static bool canonical_global_average(struct sk_canonical *canonical)
{
	return add_global(canonical, "ReduceMean");
}

static bool canonical_global_max(struct sk_canonical *canonical)
{
	return add_global(canonical, "ReduceMax");
}

static bool canonical_global_lp(struct sk_canonical *canonical)
{
	int64_t p = sk_node_integer(&canonical->graph->nodes.items[canonical->node], "p", 2);

	if (p != 1 && p != 2)
		return sk_canonical_error(canonical, "there is no kernel for p = %" PRIi64 ", but for 1 and 2", p);
	return add_global(canonical, p == 1 ? "ReduceL1" : "ReduceL2");
}

/* ---- the table ---- */

#define INTEGER(NAME)                                                                                                  \
	{                                                                                                              \
		NAME, SK_ATTRIBUTE_INTEGER                                                                             \
	}
#define WINDOW                                                                                                         \
	{"auto_pad", SK_ATTRIBUTE_STRING}, {"dilations", SK_ATTRIBUTE_INTEGERS}, {"pads", SK_ATTRIBUTE_INTEGERS},      \
	{                                                                                                              \
		"strides", SK_ATTRIBUTE_INTEGERS                                                                       \
	}
#define POOL                                                                                                           \
	WINDOW, INTEGER("ceil_mode"),                                                                                  \
	{                                                                                                              \
		"kernel_shape", SK_ATTRIBUTE_INTEGERS, true                                                            \
	}

static const struct sk_schema_attribute conv[] = {
	WINDOW, INTEGER("group"), {"kernel_shape", SK_ATTRIBUTE_INTEGERS}, {NULL}};
static const struct sk_schema_attribute max_pool[] = {POOL, INTEGER("storage_order"), {NULL}};
static const struct sk_schema_attribute average_pool[] = {POOL, INTEGER("count_include_pad"), {NULL}};
static const struct sk_schema_attribute lp_pool[] = {POOL, INTEGER("p"), {NULL}};
static const struct sk_schema_attribute lp[] = {INTEGER("p"), {NULL}};

const struct sk_schema sk_operators_windows[] = {
	{"AveragePool", "", 1, 1, 1, 1, .attributes = average_pool, .infer = infer_pool,
	 .canonical = canonical_average_pool},
	{"Conv", "", 2, 3, 1, 1, .attributes = conv, .infer = infer_conv, .canonical = canonical_conv},
	{"GlobalAveragePool", "", 1, 1, 1, 1, .infer = infer_global, .canonical = canonical_global_average},
	{"GlobalLpPool", "", 1, 1, 1, 1, .attributes = lp, .infer = infer_global, .canonical = canonical_global_lp},
	{"GlobalMaxPool", "", 1, 1, 1, 1, .infer = infer_global, .canonical = canonical_global_max},
	{"LpPool", "", 1, 1, 1, 1, .attributes = lp_pool, .infer = infer_pool, .canonical = canonical_lp_pool},
	{"MaxPool", "", 1, 1, 1, 2, .attributes = max_pool, .infer = infer_pool, .canonical = canonical_max_pool},
	{NULL},
};
