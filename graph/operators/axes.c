/* Operators along axes: reductions, and operators that compute each element of a row from the whole row. */
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

/* ---- reductions ---- */

/* Turn axes, an attribute in older operator sets, into an input. */
static bool upgrade_axes(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	sk_node_make_list(graph, node, "axes"); /* other operators have one axis as a number */
	sk_node_take_integers(graph, node, "axes");
	return true;
}

/* Set bit i for each reduced axis i. */
static bool find_reduced(const struct sk_inference *inference, uint32_t *set)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	const int64_t *axes;
	uint64_t count;
	uint32_t axis;

	*set = 0;
	if (!sk_infer_integers(inference, 1, &count, &axes))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		if (!sk_infer_axis(inference, axes[i], from->rank, &axis))
			return false;
		*set |= 1U << axis;
	}
	if (!count && !sk_node_integer(inference->node, "noop_with_empty_axes", 0))
		*set = (1U << from->rank) - 1;
	return true;
}

/* Return the shape without the reduced axes, or with one element along each. */
static uint32_t reduced_shape(const struct sk_value *from, uint32_t set, bool keep, uint64_t *shape)
{
	uint32_t rank = 0;

	for (uint32_t i = 0; i < from->rank; i++) {
		bool reduced = set >> i & 1;

		if (!reduced || keep)
			shape[rank++] = reduced ? 1 : from->shape[i];
	}
	return rank;
}

static bool infer_reduction(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	uint64_t shape[SK_MAX_RANK];
	uint32_t set, rank;

	if (!find_reduced(inference, &set))
		return false;
	rank = reduced_shape(from, set, sk_node_integer(inference->node, "keepdims", 1), shape);
	return sk_infer_output(inference, 0, from->dtype, rank, shape);
}

/* Set the shape [outer, axis, inner] if the reduced axes are adjacent; otherwise false. Axes of one element count only
 * if they have bounds: their task is that of the other sizes. */
static bool is_one_run(const struct sk_value *from, uint32_t set, uint64_t shape[3])
{
	uint32_t part = 0;

	shape[0] = shape[1] = shape[2] = 1;
	for (uint32_t i = 0; i < from->rank; i++) {
		bool reduced = set >> i & 1;

		if (from->shape[i] == 1 && !from->sizes[i])
			continue;
		if (reduced && part == 0)
			part = 1;
		if (!reduced && part == 1)
			part = 2;
		if (reduced && part == 2)
			return false;
		shape[part] *= from->shape[i];
	}
	return true;
}

/* Return a copy with the reduced axes last. */
static uint32_t gather_reduced(struct sk_canonical *canonical, uint32_t value, uint32_t set, uint64_t shape[3])
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_value from = graph->values.items[value];
	struct sk_arrangement arrangement = {.rank = 0};
	uint64_t moved[SK_MAX_RANK];
	int64_t strides[SK_MAX_RANK];
	uint32_t copy;

	sk_dense_strides(from.rank, from.shape, strides);
	shape[0] = shape[1] = shape[2] = 1;
	for (uint32_t reduced = 0; reduced < 2; reduced++)
		for (uint32_t i = 0; i < from.rank; i++) {
			if ((set >> i & 1) != reduced)
				continue;
			moved[arrangement.rank] = arrangement.shape[arrangement.rank] = from.shape[i];
			arrangement.strides[arrangement.rank++] = strides[i];
			shape[reduced] *= from.shape[i];
		}
	copy = sk_graph_new_value(graph, from.name, from.dtype, from.rank, moved);
	sk_canonical_arrange(canonical, sk_operand_flat(graph, copy), value, &arrangement);
	return copy;
}

/* Return the result of a reduction over no elements. */
static double empty_result(const char *op, enum sk_dtype dtype)
{
	if (!strcmp(op, "ReduceProd"))
		return 1;
	if (!strcmp(op, "ReduceMean"))
		return __builtin_nan("");
	if (!strcmp(op, "ReduceMax"))
		return dtype == SK_BOOL ? 0 : -__builtin_inf();
	if (!strcmp(op, "ReduceMin"))
		return dtype == SK_BOOL ? 1 : __builtin_inf();
	return !strcmp(op, "ReduceLogSum") || !strcmp(op, "ReduceLogSumExp") ? -__builtin_inf() : 0;
}

bool sk_canonical_reduce(struct sk_canonical *canonical, const char *op, uint32_t from, uint32_t to, uint32_t set)
{
	struct sk_op_graph *graph = canonical->graph;
	struct sk_graph_call *call;
	uint64_t shape[3];

	if (!sk_value_elements(&graph->values.items[from]))
		return sk_canonical_fill(canonical, to, empty_result(op, graph->values.items[to].dtype));
	if (!is_one_run(&graph->values.items[from], set, shape))
		from = gather_reduced(canonical, from, set, shape);
	call = sk_canonical_call(canonical, op);
	sk_call_input(canonical, call, sk_operand_shaped(graph, from, 3, shape));
	sk_call_output(canonical, call, sk_operand_shaped(graph, to, 2, (uint64_t[]){shape[0], shape[2]}));
	return true;
}

static bool canonical_reduction(struct sk_canonical *canonical)
{
	const struct sk_inference inference = {canonical->graph, &canonical->graph->nodes.items[canonical->node]};
	uint32_t set;

	return find_reduced(&inference, &set) &&
	       sk_canonical_reduce(canonical, inference.node->op, sk_canonical_input(canonical, 0),
				   sk_canonical_output(canonical, 0), set);
}

/* ---- one axis ---- */

static int64_t default_axis(const struct sk_graph_node *node)
{
	if (!strcmp(node->op, "ArgMax") || !strcmp(node->op, "ArgMin"))
		return 0;
	return node->version < 13 && strcmp(node->op, "LpNormalization") && strcmp(node->op, "TopK") ? 1 : -1;
}

static bool find_axis(const struct sk_inference *inference, uint32_t *axis)
{
	return sk_infer_axis(inference, sk_node_integer(inference->node, "axis", default_axis(inference->node)),
			     sk_infer_input(inference, 0)->rank, axis);
}

static bool infer_arg(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	uint64_t shape[SK_MAX_RANK];
	uint32_t axis, rank;

	if (!find_axis(inference, &axis))
		return false;
	if (!from->shape[axis])
		return sk_infer_error(inference, "'%s' has no elements along axis %u", from->name, axis);
	rank = reduced_shape(from, 1U << axis, sk_node_integer(inference->node, "keepdims", 1), shape);
	return sk_infer_output(inference, 0, SK_I64, rank, shape);
}

static bool canonical_arg(struct sk_canonical *canonical)
{
	const struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {canonical->graph, &canonical->graph->nodes.items[canonical->node]};
	struct sk_graph_call *call;
	struct sk_operand from;
	uint32_t axis;

	if (!find_axis(&inference, &axis))
		return false;
	from = sk_operand_axis(graph, sk_canonical_input(canonical, 0), axis);
	call = sk_canonical_call(canonical, inference.node->op);
	if (sk_node_integer(inference.node, "select_last_index", 0))
		sk_call_integer(canonical, call, "select_last_index", 1);
	sk_call_input(canonical, call, from);
	sk_call_output(canonical, call,
		       sk_operand_shaped(graph, sk_canonical_output(canonical, 0), 2,
					 (uint64_t[]){from.shape[0], from.shape[2]}));
	return true;
}

/* ---- results of the input's shape, row by row ---- */

/* Other operators have a list of one axis. */
static bool upgrade_rows(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	size_t count;
	const int64_t *axes = sk_node_integers(node, "axis", &count);

	if (count == 1)
		sk_node_set_integer(graph, node, "axis", axes[0]);
	return true;
}

enum { ROWS_SINCE = 13 };

/* Before operator set 13, Softmax and related operators normalised over all axes from the given one on. If that is the
 * last axis, only the default differs from the newest form. */
static bool infer_rows(struct sk_inference *inference)
{
	struct sk_graph_node *node = inference->node;
	uint32_t axis;

	if (!find_axis(inference, &axis))
		return false;
	if (node->version < ROWS_SINCE && strcmp(node->op, "LpNormalization") &&
	    axis == sk_infer_input(inference, 0)->rank - 1) {
		sk_node_set_integer(inference->graph, node, "axis", axis);
		node->version = ROWS_SINCE;
	}
	return sk_infer_like(inference, 0, 0);
}

static struct sk_operand row_operand(const struct sk_op_graph *graph, const struct sk_graph_node *node, uint32_t value,
				     uint32_t axis)
{
	const struct sk_value *of = &graph->values.items[value];
	uint64_t shape[3] = {1, 1, 1};

	if (node->version >= ROWS_SINCE || !strcmp(node->op, "LpNormalization"))
		return sk_operand_axis(graph, value, axis);
	for (uint32_t i = 0; i < of->rank; i++)
		shape[i >= axis] *= of->shape[i];
	return sk_operand_shaped(graph, value, 3, shape);
}

static bool canonical_rows(struct sk_canonical *canonical)
{
	const struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {canonical->graph, &canonical->graph->nodes.items[canonical->node]};
	const struct sk_graph_node *node = inference.node;
	struct sk_graph_call *call;
	uint32_t axis;

	if (!find_axis(&inference, &axis))
		return false;
	call = sk_canonical_call(canonical, node->op);
	if (sk_node_integer(node, "p", 2) != 2)
		sk_call_integer(canonical, call, "p", sk_node_integer(node, "p", 2));
	sk_call_input(canonical, call, row_operand(graph, node, sk_canonical_input(canonical, 0), axis));
	sk_call_output(canonical, call, row_operand(graph, node, sk_canonical_output(canonical, 0), axis));
	return true;
}

/* ---- CumProd, CumSum ---- */

static bool read_axis(const struct sk_inference *inference, uint32_t *axis)
{
	int64_t given;

	return sk_infer_integer(inference, 1, 0, &given) &&
	       sk_infer_axis(inference, given, sk_infer_input(inference, 0)->rank, axis);
}

static bool infer_cumsum(struct sk_inference *inference)
{
	uint32_t axis;

	return read_axis(inference, &axis) && sk_infer_like(inference, 0, 0);
}

static bool canonical_cumsum(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {canonical->graph, &canonical->graph->nodes.items[canonical->node]};
	uint32_t from = sk_canonical_input(canonical, 0), to = sk_canonical_output(canonical, 0), made = to, axis;
	const struct sk_value output = graph->values.items[to];
	struct sk_graph_call *call;

	if (!read_axis(&inference, &axis))
		return false;
	if (!strcmp(inference.node->op, "CumProd") && sk_computed_dtype(output.dtype) != output.dtype) {
		from = sk_canonical_cast(canonical, from, SK_F32);
		made = sk_graph_new_value(graph, output.name, SK_F32, output.rank, output.shape);
	}
	call = sk_canonical_call(canonical, inference.node->op);
	sk_call_attributes(canonical, call);
	sk_call_input(canonical, call, sk_operand_axis(graph, from, axis));
	sk_call_output(canonical, call, sk_operand_axis(graph, made, axis));
	if (made != to)
		sk_canonical_store(canonical, to, made);
	return true;
}

/* ---- TopK ---- */

/* The number was an attribute before operator set 10. */
static bool upgrade_topk(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	int64_t k = sk_node_integer(node, "k", 0);
	uint32_t value;

	if (!sk_node_attribute(node, "k"))
		return true;
	value = sk_graph_new_integers(graph, "k", 1, &k);
	sk_array_push(graph->arena, &node->inputs, value);
	return sk_node_drop_attribute(graph, node, "k", SK_ATTRIBUTE_INTEGER);
}

static bool infer_topk(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	uint64_t shape[SK_MAX_RANK];
	uint32_t axis;
	int64_t k;

	if (!find_axis(inference, &axis) || !sk_infer_integer(inference, 1, 0, &k))
		return false;
	if (k < 0 || (uint64_t)k > from->shape[axis])
		return sk_infer_error(inference, "'%s' has %llu element%s along axis %u, fewer than requested",
				      from->name, (unsigned long long)from->shape[axis], sk_plural(from->shape[axis]),
				      axis);
	memcpy(shape, from->shape, sizeof(shape));
	shape[axis] = (uint64_t)k;
	return sk_infer_output(inference, 0, from->dtype, from->rank, shape) &&
	       sk_infer_output(inference, 1, SK_I64, from->rank, shape);
}

static bool canonical_topk(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	uint32_t from = sk_canonical_input(canonical, 0), wanted = sk_canonical_output(canonical, 0), outputs[2], axis;
	struct sk_graph_call *call;

	if (!find_axis(&inference, &axis))
		return false;
	if (wanted == SK_NONE)
		wanted = sk_canonical_output(canonical, 1);
	for (size_t i = 0; i < 2; i++)
		outputs[i] = sk_canonical_made(canonical, i, i ? SK_I64 : graph->values.items[from].dtype, wanted);
	call = sk_canonical_call(canonical, "TopK");
	if (!sk_node_integer(inference.node, "largest", 1))
		sk_call_integer(canonical, call, "largest", 0);
	sk_call_input(canonical, call, sk_operand_axis(graph, from, axis));
	for (size_t i = 0; i < 2; i++)
		sk_call_output(canonical, call, sk_operand_axis(graph, outputs[i], axis));
	return true;
}

/* ---- the table ---- */

#define INTEGER(NAME, DEFAULT)                                                                                         \
	{                                                                                                              \
		NAME, SK_ATTRIBUTE_INTEGER, .integer = (DEFAULT)                                                       \
	}

static const struct sk_schema_attribute reduction[] = {
	INTEGER("keepdims", 1), INTEGER("noop_with_empty_axes", 0), {NULL}};
static const struct sk_schema_attribute arg[] = {
	INTEGER("axis", 0), INTEGER("keepdims", 1), INTEGER("select_last_index", 0), {NULL}};
static const struct sk_schema_attribute axis_only[] = {INTEGER("axis", -1), {NULL}};
static const struct sk_schema_attribute axis_p[] = {INTEGER("axis", -1), INTEGER("p", 2), {NULL}};
static const struct sk_schema_attribute cumsum[] = {INTEGER("exclusive", 0), INTEGER("reverse", 0), {NULL}};
static const struct sk_schema_attribute topk[] = {
	INTEGER("axis", -1), INTEGER("largest", 1), INTEGER("sorted", 1), {NULL}};

#define REDUCTION(NAME)                                                                                                \
	{                                                                                                              \
		NAME, "", 1, 2, 1, 1, .demands = 1 << 1, .attributes = reduction, .upgrade = upgrade_axes,             \
				      .infer = infer_reduction, .canonical = canonical_reduction                       \
	}
#define ARG(NAME)                                                                                                      \
	{                                                                                                              \
		NAME, "", 1, 1, 1, 1, .attributes = arg, .infer = infer_arg, .canonical = canonical_arg                \
	}
#define ROWS(NAME, ATTRIBUTES, SINCE)                                                                                  \
	{                                                                                                              \
		NAME, "", 1, 1, 1, 1, .attributes = ATTRIBUTES, .upgrade = upgrade_rows, .means_since = SINCE,         \
				      .infer = infer_rows, .canonical = canonical_rows                                 \
	}

const struct sk_schema sk_operators_axes[] = {
	ARG("ArgMax"),
	ARG("ArgMin"),
	{"CumProd", "", 2, 2, 1, 1, .demands = 1 << 1, .attributes = cumsum, .infer = infer_cumsum,
	 .canonical = canonical_cumsum},
	{"CumSum", "", 2, 2, 1, 1, .demands = 1 << 1, .attributes = cumsum, .infer = infer_cumsum,
	 .canonical = canonical_cumsum},
	ROWS("Hardmax", axis_only, ROWS_SINCE),
	ROWS("LogSoftmax", axis_only, ROWS_SINCE),
	ROWS("LpNormalization", axis_p, 0),
	REDUCTION("ReduceL1"),
	REDUCTION("ReduceL2"),
	REDUCTION("ReduceLogSum"),
	REDUCTION("ReduceLogSumExp"),
	REDUCTION("ReduceMax"),
	REDUCTION("ReduceMean"),
	REDUCTION("ReduceMin"),
	REDUCTION("ReduceProd"),
	REDUCTION("ReduceSum"),
	REDUCTION("ReduceSumSquare"),
	ROWS("Softmax", axis_only, ROWS_SINCE),
	{"TopK", "", 2, 2, 1, 2, .demands = 1 << 1, .attributes = topk, .upgrade = upgrade_topk, .infer = infer_topk,
	 .canonical = canonical_topk},
	{NULL},
};
