/* Operators that move a window over their input: convolutions and pools. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"
#include "graph/operators/operators.h"

enum { MAX_SPATIAL = SK_WINDOW_MAX_SPATIAL };

/* ---- Conv ---- */

static bool infer_conv(struct sk_inference *inference)
{
	const struct sk_value *x = sk_infer_input(inference, 0), *w = sk_infer_input(inference, 1);
	struct sk_windows window;
	int64_t group;

	return sk_window_convolution(inference, x, w, sk_infer_input(inference, 2), &window, &group) &&
	       sk_window_infer(inference, 0, x->dtype, x->shape[0], w->shape[0], &window);
}

/* True if constant filters are packed once, as the rows of a product. Filters of single channels do not form a
 * product. */
static bool packs_filters(const struct sk_op_graph *graph, uint32_t x, uint32_t w)
{
	const struct sk_value *filters = &graph->values.items[w];
	bool single = filters->shape[1] == 1 && filters->shape[0] == graph->values.items[x].shape[1];

	return (filters->contents || filters->fixed) && filters->dtype == SK_F32 && !single &&
	       sk_value_elements(filters);
}

/* Return panels of 16 filters: [panels, channels, window …, 16]. */
static struct sk_operand packed_filters(struct sk_canonical *canonical, uint32_t w)
{
	struct sk_op_graph *graph = canonical->graph;
	struct sk_operand filters = sk_operand_spatial(graph, w);
	uint64_t count = filters.shape[0], steps = sk_value_elements(&graph->values.items[w]) / count;
	uint32_t panels = sk_canonical_pack(canonical, w, steps, count, true);

	filters.shape[0] = graph->values.items[panels].shape[0];
	filters.shape[filters.rank] = graph->values.items[panels].shape[2];
	return sk_operand_shaped(graph, panels, filters.rank + 1, filters.shape);
}

static uint32_t fixed_like(struct sk_op_graph *graph, uint32_t value)
{
	const struct sk_value like = graph->values.items[value];
	uint32_t made = sk_graph_new_value(graph, like.name, like.dtype, like.rank, like.shape);

	graph->values.items[made].fixed = true;
	return made;
}

/* Return the factor of each channel in the normalisation: scale / sqrt(variance + epsilon), as [o, 1 ...]. */
static uint32_t channel_factors(struct sk_canonical *canonical, uint32_t w)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t scale = sk_canonical_input(canonical, 3), variance = sk_canonical_input(canonical, 6), column;
	uint32_t sum = fixed_like(graph, scale), root = fixed_like(graph, scale), factor = fixed_like(graph, scale);
	double epsilon = sk_node_real(&graph->nodes.items[canonical->node], "epsilon", 1e-5);
	uint64_t shape[SK_MAX_RANK] = {graph->values.items[w].shape[0]};
	struct sk_graph_call *call;

	sk_canonical_binary(canonical, "Add", variance, sk_canonical_number(canonical, SK_F32, epsilon), sum, true);
	call = sk_canonical_call(canonical, "Sqrt");
	sk_call_input(canonical, call, sk_operand_flat(graph, sum));
	sk_call_output(canonical, call, sk_operand_flat(graph, root));
	sk_canonical_binary(canonical, "Div", scale, root, factor, false);
	for (uint32_t i = 1; i < graph->values.items[w].rank; i++)
		shape[i] = 1;
	column =
		sk_graph_new_value(graph, graph->values.items[factor].name, SK_F32, graph->values.items[w].rank, shape);
	sk_canonical_view(canonical, column, factor, 0);
	return column;
}

/* Fold a normalisation of the result into filters and bias (graph/passes/passes.h). */
static void normalise(struct sk_canonical *canonical, uint32_t *w, uint32_t *bias)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t factors = channel_factors(canonical, *w), more = sk_canonical_input(canonical, 4),
		 mean = sk_canonical_input(canonical, 5), flat = fixed_like(graph, mean),
		 filters = fixed_like(graph, *w), off = fixed_like(graph, mean), scaled = fixed_like(graph, mean),
		 sum = fixed_like(graph, mean);

	sk_canonical_view(canonical, flat, factors, 0);
	sk_canonical_binary(canonical, "Mul", *w, factors, filters, true);
	sk_canonical_binary(canonical, "Sub", *bias == SK_NONE ? sk_canonical_number(canonical, SK_F32, 0) : *bias,
			    mean, off, false);
	sk_canonical_binary(canonical, "Mul", off, flat, scaled, true);
	sk_canonical_binary(canonical, "Add", scaled, more, sum, true);
	*w = filters;
	*bias = sum;
}

/* Return the bias, or zeros: the number of filters cannot be told from packed ones. With bounds a call that repeats
 * elements is not folded, so the zeros are a constant from the start. */
static uint32_t whole_bias(struct sk_canonical *canonical, uint32_t w, uint32_t bias)
{
	struct sk_op_graph *graph = canonical->graph;
	const char *name = graph->values.items[w].name;
	const uint64_t *filters = graph->values.items[w].shape;

	if (bias != SK_NONE)
		return bias;
	if (graph->sizes)
		return sk_graph_new_constant(graph, name, SK_F32, 1, filters,
					     SK_NEW_ARRAY(graph->arena, float, *filters + 1));
	bias = sk_graph_new_value(graph, name, SK_F32, 1, filters);
	sk_canonical_fill(canonical, bias, 0);
	return bias;
}

static bool canonical_conv(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	uint32_t x = sk_canonical_input(canonical, 0), w = sk_canonical_input(canonical, 1),
		 bias = sk_canonical_input(canonical, 2);
	struct sk_graph_call *call;
	struct sk_operand filters;
	struct sk_windows window;
	int64_t group;
	bool pack;

	if (!sk_window_convolution(&inference, sk_infer_input(&inference, 0), sk_infer_input(&inference, 1),
				   sk_infer_input(&inference, 2), &window, &group))
		return false;
	if (!graph->values.items[w].shape[1])
		return sk_canonical_error(canonical, "there are no channels");
	if (graph->nodes.items[canonical->node].inputs.count > 3)
		normalise(canonical, &w, &bias);
	pack = packs_filters(graph, x, w);
	filters = pack ? packed_filters(canonical, w) : sk_operand_spatial(graph, w);
	bias = pack ? whole_bias(canonical, w, bias) : bias;
	call = sk_canonical_call(canonical, "Conv");
	if (pack)
		sk_call_integer(canonical, call, "packed", 1);
	sk_call_window(canonical, call, &window);
	sk_call_integer(canonical, call, "group", group);
	sk_call_input(canonical, call, sk_operand_spatial(graph, x));
	sk_call_input(canonical, call, filters);
	sk_call_input(canonical, call, sk_operand_flat(graph, bias));
	sk_call_output(canonical, call, sk_operand_spatial(graph, sk_canonical_output(canonical, 0)));
	return true;
}

/* ---- pools ---- */

static bool read_pool(const struct sk_inference *inference, struct sk_windows *window)
{
	const struct sk_value *x = sk_infer_input(inference, 0);

	if (x->rank < 3 || x->rank > 2 + MAX_SPATIAL)
		return sk_infer_error(inference, "'%s' has %u dimension%s, not 3 to %d", x->name, x->rank,
				      sk_plural(x->rank), 2 + MAX_SPATIAL);
	return sk_window_list(inference, "kernel_shape", x->rank - 2, 1, 1, window->size) &&
	       sk_window_read(inference, x, window) && sk_window_output(inference, window);
}

/* The norms of LpPool start at 1. */
static bool check_power(const struct sk_inference *inference)
{
	int64_t p = sk_node_integer(inference->node, "p", 2);

	return p >= 1 || sk_infer_error(inference, "'p' is %" PRIi64 ", and norms begin with 1", p);
}

static bool infer_pool(struct sk_inference *inference)
{
	const struct sk_value *x = sk_infer_input(inference, 0);
	struct sk_windows window;

	return read_pool(inference, &window) && check_power(inference) &&
	       sk_window_infer(inference, 0, x->dtype, x->shape[0], x->shape[1], &window) &&
	       sk_window_infer(inference, 1, SK_I64, x->shape[0], x->shape[1], &window);
}

static bool add_pool(struct sk_canonical *canonical, const char *option, int64_t otherwise)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	bool indexed = !strcmp(inference.node->op, "MaxPool");
	uint32_t from = sk_canonical_input(canonical, 0), to = sk_canonical_output(canonical, 0);
	uint32_t indices = sk_canonical_output(canonical, 1);
	int64_t size[MAX_SPATIAL];
	struct sk_graph_call *call;
	struct sk_windows window;

	if (!read_pool(&inference, &window))
		return false;
	if (to == SK_NONE)
		to = sk_canonical_made(canonical, 0, graph->values.items[from].dtype, indices);
	call = sk_canonical_call(canonical, inference.node->op);
	sk_call_window(canonical, call, &window);
	sk_window_widen(&window, window.size, 1, size);
	sk_call_integers(canonical, call, "kernel_shape", size, sk_window_spatial(&window));
	sk_call_integer(canonical, call, option, sk_node_integer(inference.node, option, otherwise));
	sk_call_input(canonical, call, sk_operand_spatial(graph, from));
	sk_call_output(canonical, call, sk_operand_spatial(graph, to));
	if (indexed)
		sk_call_output(canonical, call,
			       indices == SK_NONE ? sk_operand_flat(graph, SK_NONE)
						  : sk_operand_spatial(graph, indices));
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
		return sk_infer_error(inference, "'%s' has %u dimension%s, not 2 or more", x->name, x->rank,
				      sk_plural(x->rank));
	for (uint32_t i = 0; i < x->rank; i++)
		shape[i] = i < 2 ? x->shape[i] : 1;
	return check_power(inference) && sk_infer_output(inference, 0, x->dtype, x->rank, shape);
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
	const struct sk_op_graph *graph = canonical->graph;
	const struct sk_value *x = &graph->values.items[sk_canonical_input(canonical, 0)];
	int64_t p = sk_node_integer(&graph->nodes.items[canonical->node], "p", 2);
	uint64_t planes = x->shape[0] * x->shape[1], elements = sk_value_elements(x);
	const int64_t ones[] = {1, 1}, pads[4] = {0}, size[] = {1, elements ? (int64_t)(elements / planes) : 0};
	struct sk_graph_call *call;

	if (p <= 2)
		return add_global(canonical, p == 1 ? "ReduceL1" : "ReduceL2");
	call = sk_canonical_call(canonical, "LpPool"); /* one window covers a plane */
	sk_call_integer(canonical, call, "spatial", 2);
	sk_call_integers(canonical, call, "kernel_shape", size, 2);
	sk_call_integers(canonical, call, "strides", ones, 2);
	sk_call_integers(canonical, call, "dilations", ones, 2);
	sk_call_integers(canonical, call, "pads", pads, 4);
	sk_call_integer(canonical, call, "p", p);
	sk_call_input(canonical, call,
		      sk_operand_shaped(graph, sk_canonical_input(canonical, 0), 3,
					(uint64_t[]){planes, 1, (uint64_t)size[1]}));
	sk_call_output(canonical, call,
		       sk_operand_shaped(graph, sk_canonical_output(canonical, 0), 3, (uint64_t[]){planes, 1, 1}));
	return true;
}

/* ---- the table ---- */

#define INTEGER(NAME)                                                                                                  \
	{                                                                                                              \
		NAME, SK_ATTRIBUTE_INTEGER                                                                             \
	}
#define WINDOW                                                                                                         \
	{"auto_pad", SK_ATTRIBUTE_STRING, .string = "NOTSET"}, {"dilations", SK_ATTRIBUTE_INTEGERS},                   \
		{"pads", SK_ATTRIBUTE_INTEGERS},                                                                       \
	{                                                                                                              \
		"strides", SK_ATTRIBUTE_INTEGERS                                                                       \
	}
#define POOL                                                                                                           \
	WINDOW, INTEGER("ceil_mode"),                                                                                  \
	{                                                                                                              \
		"kernel_shape", SK_ATTRIBUTE_INTEGERS, true                                                            \
	}

/* In operator set 1 the power of a norm was a real number. */
static bool upgrade_lp(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	const struct sk_attribute *given = sk_node_attribute(node, "p");
	double power = sk_node_real(node, "p", 2);

	if (node->version > 1 || !given || given->kind != SK_ATTRIBUTE_REAL)
		return true;
	if (!(power >= 0 && power <= INT32_MAX && power == (double)(int32_t)power)) {
		sk_node_error(graph, node, "'p' is %g, and norms have whole powers", power);
		return false;
	}
	sk_node_remove_attribute(node, "p");
	sk_node_set_integer(graph, node, "p", (int64_t)power);
	return true;
}

static const struct sk_schema_attribute conv[] = {
	WINDOW, {"group", SK_ATTRIBUTE_INTEGER, .integer = 1}, {"kernel_shape", SK_ATTRIBUTE_INTEGERS}, {NULL}};
static const struct sk_schema_attribute max_pool[] = {POOL, INTEGER("storage_order"), {NULL}};
static const struct sk_schema_attribute average_pool[] = {POOL, INTEGER("count_include_pad"), {NULL}};
static const struct sk_schema_attribute lp_pool[] = {POOL, INTEGER("p"), {NULL}};
static const struct sk_schema_attribute lp[] = {INTEGER("p"), {NULL}};

const struct sk_schema sk_operators_windows[] = {
	{"AveragePool", "", 1, 1, 1, 1, .attributes = average_pool, .infer = infer_pool,
	 .canonical = canonical_average_pool},
	{"Conv", "", 2, 3, 1, 1, .attributes = conv, .infer = infer_conv, .canonical = canonical_conv},
	{"GlobalAveragePool", "", 1, 1, 1, 1, .infer = infer_global, .canonical = canonical_global_average},
	{"GlobalLpPool", "", 1, 1, 1, 1, .attributes = lp, .upgrade = upgrade_lp, .infer = infer_global,
	 .canonical = canonical_global_lp},
	{"GlobalMaxPool", "", 1, 1, 1, 1, .infer = infer_global, .canonical = canonical_global_max},
	{"LpPool", "", 1, 1, 1, 1, .attributes = lp_pool, .upgrade = upgrade_lp, .infer = infer_pool,
	 .canonical = canonical_lp_pool},
	{"MaxPool", "", 1, 1, 1, 2, .attributes = max_pool, .infer = infer_pool, .canonical = canonical_max_pool},
	{NULL},
};
