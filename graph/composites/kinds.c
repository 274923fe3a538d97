/* Kinds of operators; see composites-parts.h. */
#include "graph/composites/composites-parts.h"

#include <string.h>

#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"

enum { MOST_CUBE_DIMENSION = 65535, MOST_CUBE_RANK = 4, MOST_SLICE_RANK = 3 };

enum types {
	TYPES_FLOAT,
	TYPES_NUMBER,
	TYPES_COMPARISON,
	TYPES_LOGIC,
	TYPES_CAST,
	TYPES_MOVE,
	TYPES_SLICE,
	TYPES_PRODUCT,
	TYPES_ANY
};

struct row {
	const char *domain, *op;
	enum sk_kind kind;
	enum types types;
};

static const struct row rows[] = {
#define OPERATOR(DOMAIN, OP, KIND, TYPES) {DOMAIN, OP, SK_KIND_##KIND, TYPES_##TYPES},
#include "graph/composites/operators.def"
#undef OPERATOR
};

static const struct row others = {"", "", SK_KIND_OPAQUE, TYPES_FLOAT};

static const struct row *find_row(const struct sk_graph_node *node)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].op, node->op) && !strcmp(rows[i].domain, node->domain))
			return &rows[i];
	return &others;
}

/* Return the first output that is used. */
static const struct sk_value *result_of(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	for (size_t i = 0; i < node->outputs.count; i++)
		if (sk_node_output(graph, node, i))
			return sk_node_output(graph, node, i);
	return NULL;
}

/* ---- kinds ---- */

static bool same_shape(const struct sk_value *one, const struct sk_value *other)
{
	uint32_t rank = one->rank > other->rank ? one->rank : other->rank;

	for (uint32_t i = 1; i <= rank; i++) {
		uint64_t a = i <= one->rank ? one->shape[one->rank - i] : 1;
		uint64_t b = i <= other->rank ? other->shape[other->rank - i] : 1;

		if (a != b)
			return false;
	}
	return true;
}

static bool is_number(const struct sk_value *value)
{
	return (value->contents || value->fixed) && sk_value_elements(value) == 1;
}

enum sk_kind sk_node_kind(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	enum sk_kind kind = find_row(node)->kind;
	const struct sk_value *result = result_of(graph, node);

	for (size_t i = 0; i < node->inputs.count && kind == SK_KIND_ELEMWISE; i++) {
		const struct sk_value *input = sk_node_input(graph, node, i);

		if (input && result && !is_number(input) && !same_shape(input, result))
			kind = SK_KIND_BROADCAST;
	}
	return kind;
}

bool sk_edge_is_broadcast(const struct sk_op_graph *graph, const struct sk_graph_node *node, size_t input)
{
	const struct sk_value *value = sk_node_input(graph, node, input), *result = result_of(graph, node);
	bool alone = node->inputs.count == 1 && find_row(node)->kind == SK_KIND_ELEMWISE;

	return !alone && value && result && !same_shape(value, result);
}

/* ---- whether a node may be a member ---- */

bool sk_node_computes(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	for (size_t i = 0; i < node->outputs.count && !node->removed; i++) {
		const struct sk_value *value = sk_node_output(graph, node, i);

		if (value && !value->contents && !value->fixed && sk_value_is_static(value) && sk_value_elements(value))
			return true;
	}
	return false;
}

static bool is_half(const struct sk_value *value)
{
	return value && (value->dtype == SK_F16 || value->dtype == SK_BF16);
}

static bool is_float(const struct sk_value *value)
{
	return value && (value->dtype == SK_F32 || is_half(value));
}

static bool is_castable(const struct sk_value *value)
{
	return is_float(value) || (value && (value->dtype == SK_I32 || value->dtype == SK_BOOL));
}

/* The matrix of a product has sizes that the cube supports. */
static bool fits_cube(const struct sk_value *value)
{
	bool fits = is_half(value) && value->rank <= MOST_CUBE_RANK;

	for (uint32_t i = 1; fits && i <= value->rank && i <= 2; i++)
		fits = value->shape[value->rank - i] <= MOST_CUBE_DIMENSION;
	return fits;
}

/* Steps are an input. Inference has turned the attribute of old operator sets into one. */
static bool has_unit_steps(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	bool own = *node->domain && strcmp(node->op, "StridedSlice");
	const struct sk_value *steps = own ? NULL : sk_node_input(graph, node, *node->domain ? 3 : 4);
	const int64_t *list;
	uint64_t count;

	if (!steps)
		return true;
	if (!sk_value_integers(graph->arena, steps, &count, &list))
		return false;
	for (uint64_t i = 0; i < count; i++)
		if (list[i] != 1)
			return false;
	return true;
}

/* The node is supported by the generator of kernels for Ascend (DVM). */
static bool suits_ascend(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	const struct sk_value *first = sk_node_input(graph, node, 0), *second = sk_node_input(graph, node, 1);
	const struct sk_value *result = result_of(graph, node);
	enum sk_dtype dtype = result->dtype;

	switch (find_row(node)->types) {
	case TYPES_NUMBER:
		return is_float(result) || dtype == SK_I32;
	case TYPES_COMPARISON:
		return dtype == SK_BOOL && (is_float(first) || (first && first->dtype == SK_I32));
	case TYPES_LOGIC:
		return dtype == SK_BOOL;
	case TYPES_CAST:
		return is_castable(first) && is_castable(result);
	case TYPES_MOVE:
		return dtype == SK_F16 || dtype == SK_F32;
	case TYPES_SLICE:
		return is_float(result) && result->rank <= MOST_SLICE_RANK && has_unit_steps(graph, node);
	case TYPES_PRODUCT:
		return fits_cube(first) && fits_cube(second) && is_half(result) && result->rank &&
		       result->shape[result->rank - 1] != 1;
	case TYPES_ANY:
		return true;
	default:
		return is_float(result);
	}
}

bool sk_node_is_legal(const struct sk_op_graph *graph, const struct sk_graph_node *node, enum sk_fusion_target target)
{
	return !node->graphs.count && (target != SK_TARGET_ASCEND || suits_ascend(graph, node));
}
