/* Products combined with operators after them, and gates (domain "sklink"). Their names and inputs are those of GE and
 * of MindSpore; FusedMatMul is TensorFlow's. */
#include <inttypes.h>
#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

static bool check_float(const struct sk_inference *inference)
{
	const struct sk_value *x = sk_infer_input(inference, 0);

	return sk_value_is_float(x) ||
	       sk_infer_error(inference, "'%s' is %s, and must be floats", x->name, sk_dtype_name(x->dtype));
}

/* ---- SwiGlu: the activation is applied to one half along an axis, or to the first of two tensors ---- */

static bool find_halves(const struct sk_inference *inference, uint32_t *axis)
{
	const struct sk_value *x = sk_infer_input(inference, 0);

	return sk_infer_axis(inference, sk_node_integer(inference->node, "dim", -1), x->rank, axis) &&
	       (x->shape[*axis] % 2 == 0 ||
		sk_infer_error(inference, "'%s' has %" PRIu64 " element%s along axis %" PRIu32 ", which are not halves",
			       x->name, x->shape[*axis], sk_plural(x->shape[*axis]), *axis));
}

static bool infer_swiglu(struct sk_inference *inference)
{
	const struct sk_value *x = sk_infer_input(inference, 0), *gated = sk_infer_input(inference, 1);
	uint64_t shape[SK_MAX_RANK];
	uint32_t axis;

	if (!check_float(inference) || !sk_infer_same_types(inference, 0, 1))
		return false;
	if (gated)
		return (gated->rank == x->rank && !memcmp(gated->shape, x->shape, x->rank * sizeof(*x->shape)) &&
			sk_infer_like(inference, 0, 0)) ||
		       sk_infer_error(inference, "'%s' does not have the shape of '%s'", gated->name, x->name);
	if (!find_halves(inference, &axis))
		return false;
	memcpy(shape, x->shape, x->rank * sizeof(*shape));
	shape[axis] /= 2;
	return sk_infer_output(inference, 0, x->dtype, x->rank, shape);
}

static bool canonical_swiglu(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	uint32_t x = sk_canonical_input(canonical, 0), gated = sk_canonical_input(canonical, 1);
	uint32_t to = sk_canonical_output(canonical, 0);
	struct sk_operand halves[2] = {sk_operand_flat(graph, x), sk_operand_flat(graph, gated)};
	struct sk_graph_call *call;
	uint64_t rows = 0, width = 0;
	uint32_t axis;

	if (!sk_value_elements(&graph->values.items[to]))
		return true;
	if (gated == SK_NONE && !find_halves(&inference, &axis))
		return false;
	if (gated == SK_NONE) {
		rows = sk_operand_axis(graph, x, axis).shape[0];
		width = sk_value_elements(&graph->values.items[to]) / rows;
	}
	call = sk_canonical_call(canonical, "SwiGlu");
	if (rows > 1) {
		sk_call_input(canonical, call, sk_operand_shaped(graph, x, 3, (uint64_t[]){rows, 2, width}));
		sk_call_output(canonical, call, sk_operand_shaped(graph, to, 2, (uint64_t[]){rows, width}));
		return true;
	}
	if (rows) { /* one row, which is divided along itself */
		halves[0].shape[0] = width;
		halves[1] = halves[0];
		halves[1].offset = width;
	}
	sk_call_input(canonical, call, halves[0]);
	sk_call_input(canonical, call, halves[1]);
	sk_call_output(canonical, call, sk_operand_flat(graph, to));
	return true;
}

/* ---- FusedMatMul: activation(a b + bias) + addend, in pieces along the columns ---- */

enum { MOST_PIECES = sizeof(((struct sk_column_pieces *)NULL)->sizes) / sizeof(uint64_t) };

/* In the order of kernels/epilogue.h. */
static const char *const activations[] = {"", "relu", "gelu", "gelu_tanh", "silu"};
enum { ACTIVATIONS = sizeof(activations) / sizeof(activations[0]) };

struct fused {
	uint64_t m, k, n;
	bool turned_b;
	int64_t activation;
	struct sk_column_pieces pieces;
};

static bool find_activation(const struct sk_inference *inference, struct fused *fused)
{
	const char *name = sk_node_string(inference->node, "activation", "");

	for (fused->activation = 0; fused->activation < ACTIVATIONS; fused->activation++)
		if (!strcmp(activations[fused->activation], name))
			return true;
	return sk_infer_error(inference, "activation '%s' is not relu, gelu, gelu_tanh or silu", name);
}

bool sk_infer_pieces(const struct sk_inference *inference, uint64_t n, struct sk_column_pieces *pieces)
{
	size_t outputs = inference->node->outputs.count;
	const int64_t *sizes = sk_node_integers(inference->node, "sizes", &pieces->count);
	uint64_t sum = 0;

	if (!sizes) {
		pieces->count = 1;
		pieces->sizes[0] = n;
	}
	if (pieces->count < outputs || pieces->count > MOST_PIECES)
		return sk_infer_error(inference, "it has %zu output%s, and its columns are divided into %zu", outputs,
				      sk_plural(outputs), pieces->count);
	for (size_t i = 0; sizes && i < pieces->count; i++) {
		if (sizes[i] < 0 || (uint64_t)sizes[i] > n - sum)
			return sk_infer_error(inference, "the sizes of its pieces do not add up to %" PRIu64, n);
		pieces->sizes[i] = (uint64_t)sizes[i];
		sum += pieces->sizes[i];
	}
	if (sizes && sum != n)
		return sk_infer_error(inference, "the sizes of its pieces do not add up to %" PRIu64, n);
	pieces->activated = sk_node_integer(inference->node, "activated", -1);
	return (pieces->activated >= -1 && pieces->activated < (int64_t)pieces->count) ||
	       sk_infer_error(inference, "there is no piece %" PRIi64, pieces->activated);
}

static bool read_fused(const struct sk_inference *inference, struct fused *fused)
{
	const struct sk_value *a = sk_infer_input(inference, 0), *b = sk_infer_input(inference, 1);
	bool turned = sk_node_integer(inference->node, "transB", 0);

	if (!a->rank || b->rank != 2)
		return sk_infer_error(inference, "'%s' has %" PRIu32 " dimension%s, and '%s' %" PRIu32 ", not 2",
				      a->name, a->rank, sk_plural(a->rank), b->name, b->rank);
	*fused = (struct fused){.m = 1, .k = a->shape[a->rank - 1], .n = b->shape[!turned], .turned_b = turned};
	for (uint32_t i = 0; i + 1 < a->rank; i++)
		fused->m *= a->shape[i];
	if (!fused->k || fused->k != b->shape[turned])
		return sk_infer_error(inference,
				      "rows of '%s' have %" PRIu64 " elements, and columns of '%s' have %" PRIu64,
				      a->name, fused->k, b->name, b->shape[turned]);
	return sk_infer_pieces(inference, fused->n, &fused->pieces) && find_activation(inference, fused);
}

/* The addends are a bias for each column, and a matrix of the result's shape. */
static bool check_addends(const struct sk_inference *inference, const struct fused *fused)
{
	const struct sk_value *a = sk_infer_input(inference, 0), *bias = sk_infer_input(inference, 2);
	const struct sk_value *addend = sk_infer_input(inference, 3);

	if (bias && sk_value_elements(bias) != fused->n)
		return sk_infer_error(inference, "'%s' is not a number for each of %" PRIu64 " column%s", bias->name,
				      fused->n, sk_plural(fused->n));
	if (!addend)
		return true;
	if (fused->pieces.count > 1)
		return sk_infer_error(inference, "'%s' cannot be added to pieces", addend->name);
	return (addend->rank == a->rank && addend->shape[a->rank - 1] == fused->n &&
		!memcmp(addend->shape, a->shape, (a->rank - 1) * sizeof(*a->shape))) ||
	       sk_infer_error(inference, "'%s' does not have the shape of the product", addend->name);
}

static bool infer_fused(struct sk_inference *inference)
{
	const struct sk_value a = *sk_infer_input(inference, 0);
	uint64_t shape[SK_MAX_RANK];
	struct fused fused;

	if (a.dtype != SK_F32 && a.dtype != SK_F16 && a.dtype != SK_BF16)
		return sk_infer_error(inference, "'%s' is %s, and must be f32, f16 or bf16", a.name,
				      sk_dtype_name(a.dtype));
	if (!sk_infer_one_type(inference) || !read_fused(inference, &fused) || !check_addends(inference, &fused))
		return false;
	memcpy(shape, a.shape, a.rank * sizeof(*shape));
	for (size_t i = 0; i < inference->node->outputs.count; i++) {
		shape[a.rank - 1] = fused.pieces.sizes[i];
		if (!sk_infer_output(inference, i, a.dtype, a.rank, shape))
			return false;
	}
	return true;
}

uint32_t sk_canonical_columns(struct sk_canonical *canonical, uint32_t factor, bool turned, uint64_t first,
			      uint64_t count)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_value from = graph->values.items[factor];
	const struct sk_arrangement arrangement = {
		.rank = 2,
		.shape = {turned ? count : from.shape[0], turned ? from.shape[1] : count},
		.strides = {(int64_t)from.shape[1], 1},
		.offset = (int64_t)(turned ? first * from.shape[1] : first),
	};
	uint32_t piece;

	if (count == from.shape[!turned])
		return factor;
	piece = sk_graph_new_value(graph, from.name, from.dtype, 2, arrangement.shape);
	graph->values.items[piece].fixed = from.contents || from.fixed;
	sk_canonical_arrange(canonical, sk_operand_flat(graph, piece), factor, &arrangement);
	return piece;
}

static void add_piece(struct sk_canonical *canonical, const struct fused *fused, size_t number, uint64_t first)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t to = sk_canonical_output(canonical, number), bias = sk_canonical_input(canonical, 2), b, factor;
	uint64_t count = fused->pieces.sizes[number];
	const uint64_t left[2] = {fused->m, fused->k}, result[2] = {fused->m, count};
	struct sk_operand columns = sk_operand_shaped(graph, bias, 1, &count);
	struct sk_graph_call *call;
	bool packs;

	if (to == SK_NONE || !sk_value_elements(&graph->values.items[to]))
		return;
	factor = b = sk_canonical_columns(canonical, sk_canonical_input(canonical, 1), fused->turned_b, first, count);
	packs = graph->values.items[b].contents || graph->values.items[b].fixed;
	if (packs)
		factor = sk_canonical_pack(canonical, b, fused->k, count, fused->turned_b);
	call = sk_canonical_call(canonical, "FusedMatMul");
	if (packs)
		sk_call_integer(canonical, call, "packed", 1);
	else if (fused->turned_b)
		sk_call_integer(canonical, call, "transB", 1);
	if (fused->activation && (fused->pieces.activated == -1 || fused->pieces.activated == (int64_t)number))
		sk_call_integer(canonical, call, "activation", fused->activation);
	sk_call_input(canonical, call, sk_operand_shaped(graph, sk_canonical_input(canonical, 0), 2, left));
	sk_call_input(
		canonical, call,
		sk_operand_shaped(graph, factor, graph->values.items[factor].rank, graph->values.items[factor].shape));
	columns.offset = bias == SK_NONE ? 0 : first;
	sk_call_input(canonical, call, columns);
	sk_call_input(canonical, call, sk_operand_shaped(graph, sk_canonical_input(canonical, 3), 2, result));
	sk_call_output(canonical, call, sk_operand_shaped(graph, to, 2, result));
}

static bool canonical_fused(struct sk_canonical *canonical)
{
	const struct sk_inference inference = {canonical->graph, &canonical->graph->nodes.items[canonical->node]};
	uint64_t first = 0;
	struct fused fused;

	if (!read_fused(&inference, &fused))
		return false;
	for (size_t i = 0; i < fused.pieces.count; i++) {
		add_piece(canonical, &fused, i, first);
		first += fused.pieces.sizes[i];
	}
	return true;
}

/* ---- the table ---- */

static const struct sk_schema_attribute swiglu[] = {{"dim", SK_ATTRIBUTE_INTEGER, .integer = -1}, {NULL}};
static const struct sk_schema_attribute fused[] = {{"activated", SK_ATTRIBUTE_INTEGER, .integer = -1},
						   {"activation", SK_ATTRIBUTE_STRING},
						   {"sizes", SK_ATTRIBUTE_INTEGERS},
						   {"transB", SK_ATTRIBUTE_INTEGER},
						   {NULL}};

const struct sk_schema sk_operators_fused_products[] = {
	{"FusedMatMul", SK_OWN_DOMAIN, 2, 4, 1, MOST_PIECES, .attributes = fused, .infer = infer_fused,
	 .canonical = canonical_fused},
	{"SwiGlu", SK_OWN_DOMAIN, 1, 2, 1, 1, .attributes = swiglu, .infer = infer_swiglu,
	 .canonical = canonical_swiglu},
	{NULL},
};
