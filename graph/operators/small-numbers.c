/* A few integers that nodes compute from constants, without kernels: counters of loops and their conditions, whose
 * kernels would take a link and a process for each iteration. Whatever is not certain here is not known: operators with
 * another meaning for some operands, results beyond their type. */
#include "graph/operators/operators-parts.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/convention.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"

enum { MOST_DEPTH = 64, MOST_OPERANDS = 5 };

typedef struct sk_small numbers;

/* ---- elements ---- */

static bool in_range(enum sk_dtype dtype, int64_t number)
{
	unsigned bits = 8 * (unsigned)sk_dtype_size(dtype);
	bool is_signed = sk_dtype_is_signed(dtype);

	if (dtype == SK_BOOL)
		return number == 0 || number == 1;
	if (bits == 64)
		return is_signed || number >= 0;
	return is_signed ? number >= -(INT64_C(1) << (bits - 1)) && number < INT64_C(1) << (bits - 1)
			 : number >= 0 && number < INT64_C(1) << bits;
}

static bool is_integral(enum sk_dtype dtype)
{
	return dtype != SK_DTYPE_NONE && !sk_dtype_is_float(dtype);
}

static bool read_constant(struct sk_op_graph *graph, const struct sk_value *value, numbers *to)
{
	const int64_t *integers;

	if (!is_integral(value->dtype) || sk_value_elements(value) > SK_MOST_SMALL || value->rank > 1 ||
	    !sk_value_integers(graph->arena, value, &to->count, &integers))
		return false;
	to->dtype = value->dtype;
	to->rank = value->rank;
	memcpy(to->items, integers, to->count * sizeof(*integers));
	return true;
}

/* ---- operators ---- */

struct operands {
	const struct sk_graph_node *node;
	size_t count;
	bool known[MOST_OPERANDS];
	numbers items[MOST_OPERANDS];
};

static bool compute_pair(const char *op, int64_t a, int64_t b, int64_t *result)
{
	static const struct {
		const char *op;
		unsigned less, equal, more;
	} orders[] = {{"Less", 1, 0, 0},
		      {"LessOrEqual", 1, 1, 0},
		      {"Greater", 0, 0, 1},
		      {"GreaterOrEqual", 0, 1, 1},
		      {"Equal", 0, 1, 0}};

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		if (!strcmp(op, orders[i].op)) {
			*result = a < b ? orders[i].less : a == b ? orders[i].equal : orders[i].more;
			return true;
		}
	if (!strcmp(op, "Add"))
		return !__builtin_add_overflow(a, b, result);
	if (!strcmp(op, "Sub"))
		return !__builtin_sub_overflow(a, b, result);
	if (!strcmp(op, "Mul"))
		return !__builtin_mul_overflow(a, b, result);
	if (!strcmp(op, "Max") || !strcmp(op, "Min"))
		*result = (a < b) == (op[1] == 'a') ? b : a;
	else if (!strcmp(op, "And"))
		*result = a && b;
	else if (!strcmp(op, "Or"))
		*result = a || b;
	else
		return false;
	return true;
}

static bool is_order(const char *op)
{
	return !strncmp(op, "Less", 4) || !strncmp(op, "Greater", 7) || !strcmp(op, "Equal");
}

/* Operands of one element are broadcast. */
static bool compute_binary(const struct operands *operands, numbers *to)
{
	const numbers *a = &operands->items[0], *b = &operands->items[1];
	const char *op = operands->node->op;

	if (operands->count != 2 || !operands->known[0] || !operands->known[1] || a->dtype != b->dtype ||
	    (a->count != b->count && a->count != 1 && b->count != 1))
		return false;
	to->dtype = is_order(op) ? SK_BOOL : a->dtype;
	to->rank = a->rank > b->rank ? a->rank : b->rank;
	to->count = a->count == 1 ? b->count : a->count;
	if ((to->dtype == SK_BOOL) != (is_order(op) || !strcmp(op, "And") || !strcmp(op, "Or")))
		return false;
	for (uint64_t i = 0; i < to->count; i++)
		if (!compute_pair(op, a->items[a->count == 1 ? 0 : i], b->items[b->count == 1 ? 0 : i], &to->items[i]))
			return false;
	return true;
}

static bool compute_unary(const struct operands *operands, numbers *to)
{
	const struct sk_graph_node *node = operands->node;

	if (!operands->count || !operands->known[0])
		return false;
	*to = operands->items[0];
	if (!strcmp(node->op, "Cast")) {
		enum sk_dtype dtype = sk_dtype_of_number(sk_node_integer(node, "to", 0));

		for (uint64_t i = 0; i < to->count && dtype == SK_BOOL; i++)
			to->items[i] = to->items[i] != 0;
		to->dtype = dtype;
		return is_integral(dtype);
	}
	if (!strcmp(node->op, "Not")) {
		for (uint64_t i = 0; i < to->count; i++)
			to->items[i] = !to->items[i];
		return to->dtype == SK_BOOL;
	}
	if (!strcmp(node->op, "Squeeze") || !strcmp(node->op, "Unsqueeze")) {
		to->rank = node->op[0] == 'U';
		return to->count == 1 && operands->items[0].rank + to->rank == 1;
	}
	return !strcmp(node->op, "Identity");
}

static bool compute_gather(const struct operands *operands, numbers *to)
{
	const numbers *from = &operands->items[0], *place = &operands->items[1];
	int64_t index = place->items[0];

	if (operands->count != 2 || !operands->known[0] || !operands->known[1] || from->rank != 1 ||
	    place->count != 1 || sk_node_integer(operands->node, "axis", 0))
		return false;
	index += index < 0 ? (int64_t)from->count : 0;
	*to = (numbers){.dtype = from->dtype, .rank = place->rank, .count = 1};
	if (index < 0 || index >= (int64_t)from->count)
		return false;
	to->items[0] = from->items[index];
	return true;
}

/* Set *number to that of the operand's one element; false: it is not one, or absent where it may not be. */
static bool read_one(const struct operands *operands, size_t operand, int64_t *number)
{
	if (operand >= operands->count || operands->node->inputs.items[operand] == SK_NONE)
		return operand > 2;
	*number = operands->items[operand].items[0];
	return operands->known[operand] && operands->items[operand].count == 1;
}

/* Slices of a list, with step 1. */
static bool compute_slice(const struct operands *operands, numbers *to)
{
	const numbers *from = &operands->items[0];
	int64_t begin = 0, end = 0, axis = 0, step = 1, count;

	if (operands->count < 3 || !operands->known[0] || from->rank != 1 || !read_one(operands, 1, &begin) ||
	    !read_one(operands, 2, &end) || !read_one(operands, 3, &axis) || !read_one(operands, 4, &step) ||
	    (axis != 0 && axis != -1) || step != 1)
		return false;
	count = (int64_t)from->count;
	begin += begin < 0 ? count : 0;
	end += end < 0 ? count : 0;
	begin = begin < 0 ? 0 : begin > count ? count : begin;
	end = end < begin ? begin : end > count ? count : end;
	*to = (numbers){.dtype = from->dtype, .rank = 1, .count = (uint64_t)(end - begin)};
	memcpy(to->items, from->items + begin, to->count * sizeof(*to->items));
	return true;
}

static bool compute_shape(const struct sk_op_graph *graph, const struct sk_graph_node *node, numbers *to)
{
	const struct sk_value *from = sk_node_input(graph, node, 0);

	if (!from || !sk_value_is_static(from) || from->rank > SK_MOST_SMALL || node->attributes.count)
		return false;
	*to = (numbers){.dtype = SK_I64, .rank = 1, .count = from->rank};
	for (uint32_t d = 0; d < from->rank; d++) {
		if (from->sizes[d])
			return false;
		to->items[d] = (int64_t)from->shape[d];
	}
	return true;
}

static bool compute(struct sk_op_graph *graph, const struct operands *operands, numbers *to)
{
	const struct sk_graph_node *node = operands->node;

	if (!strcmp(node->op, "Shape"))
		return compute_shape(graph, node, to);
	if (!strcmp(node->op, "Constant"))
		return node->tensors.count == 1 &&
		       read_constant(graph, &graph->values.items[node->tensors.items[0].value], to);
	if (!strcmp(node->op, "Gather"))
		return compute_gather(operands, to);
	if (!strcmp(node->op, "Slice"))
		return compute_slice(operands, to);
	return compute_unary(operands, to) || compute_binary(operands, to);
}

/* ---- values ---- */

/* Note the nodes that have been appended since the last time. */
static void note_nodes(struct sk_small_numbers *small)
{
	const struct sk_expansion *expansion = small->expansion;
	struct sk_arena *arena = expansion->graph->arena;

	while (small->known.count < expansion->graph->values.count)
		sk_array_push(arena, &small->known, (struct sk_small_known){.node = SK_NONE});
	for (; small->nodes < expansion->nodes->count; small->nodes++) {
		const struct sk_graph_node *node = &expansion->nodes->items[small->nodes];

		for (size_t i = 0; i < node->outputs.count; i++)
			if (node->outputs.items[i] != SK_NONE)
				small->known.items[node->outputs.items[i]].node = (uint32_t)small->nodes;
	}
}

static const struct sk_graph_node *producer(const struct sk_small_numbers *small, uint32_t value)
{
	const struct sk_op_graph *graph = small->expansion->graph;

	if (small->known.items[value].node != SK_NONE)
		return &small->expansion->nodes->items[small->known.items[value].node];
	return graph->values.items[value].node == SK_NONE ? NULL : &graph->nodes.items[graph->values.items[value].node];
}

static bool find(struct sk_small_numbers *small, uint32_t index, unsigned depth, numbers *to)
{
	struct sk_op_graph *graph = small->expansion->graph;
	struct sk_small_known *known = &small->known.items[index];
	const struct sk_graph_node *node;
	struct operands operands = {0};

	if (known->tried) {
		*to = known->numbers;
		return known->found;
	}
	known->tried = true;
	if (graph->values.items[index].contents) {
		known->found = read_constant(graph, &graph->values.items[index], &known->numbers);
		*to = known->numbers;
		return known->found;
	}
	node = producer(small, index);
	if (!node || *node->domain || node->outputs.count != 1 || node->inputs.count > MOST_OPERANDS ||
	    depth == MOST_DEPTH)
		return false;
	operands.node = node;
	operands.count = node->inputs.count;
	for (size_t i = 0; i < node->inputs.count && strcmp(node->op, "Shape"); i++)
		operands.known[i] = node->inputs.items[i] != SK_NONE &&
				    find(small, node->inputs.items[i], depth + 1, &operands.items[i]);
	known->found = compute(graph, &operands, to);
	for (uint64_t i = 0; known->found && i < to->count; i++)
		known->found = in_range(to->dtype, to->items[i]);
	known->numbers = *to;
	return known->found;
}

bool sk_small_truth(struct sk_small_numbers *small, uint32_t value, bool *truth)
{
	numbers found = {0};

	note_nodes(small);
	if (value == SK_NONE || !find(small, value, 0, &found) || found.dtype != SK_BOOL || found.count != 1)
		return false;
	*truth = found.items[0];
	return true;
}
