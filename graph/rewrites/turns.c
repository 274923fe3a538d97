/* transform_op_optimizer, transpose_matmul_fusion and reorder_ops: operators that move elements go where they cost
 * less, or nothing. Results stay the same: the same numbers are computed from the same operands. */
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/sizes.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"
#include "graph/rewrites/rewrites-parts.h"
#include "graph/rewrites/rewrites.h"

/* ---- transform_op_optimizer ---- */

/* Operators that compute each element from the elements in the same position. */
static const char *const of_one[] = {
	"Abs",	    "Cast",	  "Ceil",	 "Cos",	      "Elu",	   "Erf",	   "Exp",	    "Floor",
	"Gelu",	    "Identity",	  "HardSigmoid", "HardSwish", "LeakyRelu", "Log",	   "Mish",	    "Neg",
	"Not",	    "Reciprocal", "Relu",	 "Round",     "Selu",	   "Sigmoid",	   "Sign",	    "Sin",
	"Softplus", "Softsign",	  "Sqrt",	 "Swish",     "Tanh",	   "sklink:Rsqrt", "sklink:Square", NULL,
};
static const char *const of_two[] = {"Add", "Div", "Max", "Min", "Mul", "Pow", "Sub", NULL};

/* Return the number of the only input with more than one element; the order of the other inputs does not matter.
 * SK_NONE: there is no such input. */
static uint32_t passed_input(const struct sk_rewrite *rewrite, const struct sk_graph_node *node)
{
	const struct sk_value *to = sk_node_output(rewrite->graph, node, 0);

	if (sk_node_is_one_of(node, of_one))
		return 0;
	for (uint32_t i = 0; i < 2 && node->inputs.count == 2 && sk_node_is_one_of(node, of_two); i++) {
		const struct sk_value *other = sk_node_input(rewrite->graph, node, 1 - i);

		if (sk_value_elements(other) == 1 && other->rank <= to->rank &&
		    sk_value_same_shape(sk_node_input(rewrite->graph, node, i), to))
			return i;
	}
	return SK_NONE;
}

struct link {
	uint32_t node, input; /* `input` is the number of the input that the chain passes through */
};

/* The nodes from the first transposition's result to the second one's input. */
struct chain {
	SK_ARRAY(struct link) links; /* from the last to the first */
	const struct sk_graph_node *transpose; /* before the links; NULL: none */
};

/* Each value on the way has one user, so no other walk comes here. */
static void find_chain(const struct sk_rewrite *rewrite, uint32_t index, struct chain *chain)
{
	const struct sk_graph_node *user = sk_rewrite_at(rewrite, index), *node;
	uint32_t value = user->inputs.items[0], permutation[SK_MAX_RANK], input;

	chain->transpose = NULL;
	for (; (node = sk_rewrite_producer(rewrite, value, user)); value = node->inputs.items[input]) {
		if (sk_node_permutation(rewrite->graph, node, permutation)) {
			chain->transpose = node;
			return;
		}
		input = passed_input(rewrite, node);
		if (input == SK_NONE || !sk_rewrite_is_private(rewrite, value))
			return;
		sk_array_push(rewrite->graph->arena, &chain->links,
			      (struct link){rewrite->graph->values.items[value].node, input});
	}
}

static bool undo_one_another(const struct sk_op_graph *graph, const struct sk_graph_node *first,
			     const struct sk_graph_node *second)
{
	uint32_t inner[SK_MAX_RANK], outer[SK_MAX_RANK];

	if (!sk_node_permutation(graph, first, inner) || !sk_node_permutation(graph, second, outer))
		return false;
	for (uint32_t i = 0; i < sk_node_input(graph, first, 0)->rank; i++)
		if (inner[outer[i]] != i)
			return false;
	return true;
}

static void cancel_transposes(struct sk_rewrite *rewrite, uint32_t index)
{
	struct sk_op_graph *graph = rewrite->graph;
	uint32_t permutation[SK_MAX_RANK], from;
	struct chain chain = {.transpose = NULL};

	if (!sk_node_permutation(graph, sk_rewrite_at(rewrite, index), permutation))
		return;
	find_chain(rewrite, index, &chain);
	if (!chain.transpose || !undo_one_another(graph, chain.transpose, sk_rewrite_at(rewrite, index)))
		return;
	from = chain.transpose->inputs.items[0];
	if (!chain.links.count) {
		sk_rewrite_reshape(rewrite, index, from);
		return;
	}
	for (size_t i = chain.links.count; i--;) {
		struct sk_graph_node *node = sk_rewrite_at(rewrite, chain.links.items[i].node);
		struct sk_value *to = sk_node_output(graph, node, 0);

		sk_rewrite_set_input(rewrite, node, chain.links.items[i].input, from);
		sk_value_set_shape(to, &graph->values.items[from]);
		from = node->outputs.items[0];
	}
	sk_rewrite_replace(rewrite, index, from);
}

enum sk_pass_result sk_pass_transform_op_optimizer(struct sk_op_graph *graph, const struct sk_fusion_flags *flags)
{
	return sk_rewrite_graph(graph, flags, NULL, cancel_transposes);
}

/* ---- transpose_matmul_fusion ---- */

/* Return the value that this factor is the transposition of, in its last two axes; SK_NONE: none. */
static uint32_t turned_factor(const struct sk_rewrite *rewrite, const struct sk_graph_node *product, size_t factor)
{
	uint32_t value = product->inputs.items[factor], permutation[SK_MAX_RANK];
	const struct sk_graph_node *node = sk_rewrite_producer(rewrite, value, product);
	uint32_t rank = rewrite->graph->values.items[value].rank;

	if (!node || rank < 2 || !sk_node_permutation(rewrite->graph, node, permutation))
		return SK_NONE;
	for (uint32_t i = 0; i < rank; i++)
		if (permutation[i] != (i + 2 < rank ? i : 2 * rank - 3 - i))
			return SK_NONE;
	return node->inputs.items[0];
}

/* Kernels for a transposed left factor exist only if it is one matrix. */
static void turn_factors(struct sk_rewrite *rewrite, uint32_t index)
{
	const struct sk_op_graph *graph = rewrite->graph;
	const struct sk_graph_node *node = sk_rewrite_at(rewrite, index);
	const struct sk_value *to = sk_node_output(graph, node, 0);
	uint32_t inputs[2], turned[2] = {SK_NONE, SK_NONE};

	if (!sk_node_is(node, "MatMul") || sk_node_input(graph, node, 0)->rank < 2 ||
	    sk_node_input(graph, node, 1)->rank < 2)
		return;
	if (sk_value_elements(to) == to->shape[to->rank - 1] * to->shape[to->rank - 2])
		turned[0] = turned_factor(rewrite, node, 0);
	turned[1] = turned_factor(rewrite, node, 1);
	if (turned[0] == SK_NONE && turned[1] == SK_NONE)
		return;
	for (size_t i = 0; i < 2; i++)
		inputs[i] = turned[i] != SK_NONE ? turned[i] : node->inputs.items[i];
	sk_rewrite_become(rewrite, index, "sklink:BatchMatMul", inputs, 2);
	sk_rewrite_set_integer(rewrite, sk_rewrite_at(rewrite, index), "transpose_a", turned[0] != SK_NONE);
	sk_rewrite_set_integer(rewrite, sk_rewrite_at(rewrite, index), "transpose_b", turned[1] != SK_NONE);
}

enum sk_pass_result sk_pass_transpose_matmul_fusion(struct sk_op_graph *graph, const struct sk_fusion_flags *flags)
{
	return sk_rewrite_graph(graph, flags, NULL, turn_factors);
}

/* ---- reorder_ops ---- */

/* Operators that only move the elements of their first input. Their other inputs are constants. */
static const char *const movers[] = {
	"Transpose", "sklink:Transpose", "Slice", "sklink:Slice", "sklink:StridedSlice",
	"Gather",    "Expand",		 "Tile",  NULL,
};

static bool is_mover(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	for (size_t i = 1; i < node->inputs.count; i++)
		if (sk_node_input(graph, node, i) && !sk_node_input(graph, node, i)->contents)
			return false;
	return sk_node_is_one_of(node, movers);
}

/* Return the bytes that are read and written by a Cast of `cast` elements, and by an operator that moves `moved`
 * elements. */
static uint64_t cost(uint64_t cast, enum sk_dtype from, enum sk_dtype to, uint64_t moved, enum sk_dtype as)
{
	return cast * (sk_dtype_size(from) + sk_dtype_size(to)) + 2 * moved * sk_dtype_size(as);
}

/* Return the number of elements at the largest sizes: at all sizes with bounds the nodes are in one order. */
static uint64_t most_elements(const struct sk_value *value)
{
	uint64_t elements = 1;

	for (uint32_t d = 0; d < value->rank; d++)
		elements *= value->sizes[d] ? (uint64_t)sk_size_most(value->sizes[d]) : value->shape[d];
	return elements;
}

/* A slice may need no call, so a Cast before it must not convert more elements. */
static bool is_cheaper_turned(const struct sk_value *x, const struct sk_value *y, bool cast_first)
{
	uint64_t all = most_elements(x), moved = most_elements(y);
	uint64_t cast_then_move = cost(all, x->dtype, y->dtype, moved, y->dtype);
	uint64_t move_then_cast = cost(moved, x->dtype, y->dtype, moved, x->dtype);

	return cast_first ? move_then_cast < cast_then_move : all <= moved && cast_then_move < move_then_cast;
}

/* Swap the contents of the two nodes, which keep their places in the graph; the value between them becomes another
 * one. */
static void turn(struct sk_rewrite *rewrite, uint32_t first, uint32_t second, bool cast_first)
{
	struct sk_op_graph *graph = rewrite->graph;
	struct sk_graph_node *a = sk_rewrite_at(rewrite, first), *b = sk_rewrite_at(rewrite, second);
	const struct sk_graph_node node = *a;
	uint32_t from = a->inputs.items[0], to = b->outputs.items[0], between;
	const struct sk_value x = graph->values.items[from], y = graph->values.items[to];
	const struct sk_value *shaped = cast_first ? &y : &x;

	between = sk_graph_new_like(graph, graph->values.items[node.outputs.items[0]].name,
				    cast_first ? x.dtype : y.dtype, shaped);
	graph->values.items[between].node = first;
	graph->values.items[between].fixed = y.fixed;
	*a = *b;
	*b = node;
	sk_rewrite_set_input(rewrite, b, 0, between);
	sk_rewrite_set_input(rewrite, a, 0, from);
	a->outputs.items[0] = between;
	b->outputs.items[0] = to;
}

static void reorder(struct sk_rewrite *rewrite, uint32_t second)
{
	const struct sk_op_graph *graph = rewrite->graph;
	const struct sk_graph_node *node = sk_rewrite_at(rewrite, second), *first;
	bool cast_first;

	if (!sk_node_is(node, "Cast") && !is_mover(graph, node))
		return;
	first = sk_rewrite_producer(rewrite, node->inputs.items[0], node);
	cast_first = first && sk_node_is(first, "Cast");
	if (!first || first->composite != node->composite || !sk_rewrite_is_private(rewrite, node->inputs.items[0]) ||
	    (cast_first ? !is_mover(graph, node) : !sk_node_is(node, "Cast") || !is_mover(graph, first)) ||
	    !is_cheaper_turned(sk_node_input(graph, first, 0), sk_node_output(graph, node, 0), cast_first))
		return;
	turn(rewrite, graph->values.items[node->inputs.items[0]].node, second, cast_first);
}

enum sk_pass_result sk_pass_reorder_ops(struct sk_op_graph *graph, const struct sk_fusion_flags *flags)
{
	return sk_rewrite_graph(graph, flags, NULL, reorder);
}
