/* Operators of com.microsoft, as ONNX Runtime's tools write them. Fused ones become their parts; MatMulNBits has a
 * kernel. */
#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"
#include "graph/operators/operators.h"

static const struct sk_graph_node *node_of(const struct sk_canonical *canonical)
{
	return &canonical->graph->nodes.items[canonical->node];
}

/* Check that input `number`, if present, has one dimension with that many elements. */
static bool is_row(const struct sk_inference *inference, size_t number, uint64_t elements)
{
	const struct sk_value *value = sk_infer_input(inference, number);

	return !value || (value->rank == 1 && value->shape[0] == elements) ||
	       sk_infer_error(inference, "'%s' is %s, and [%llu] is needed", value->name,
			      sk_partial_shape_text(inference->graph->arena, value->rank, value->shape),
			      (unsigned long long)elements);
}

/* Return a new value of the value's type and shape. */
static uint32_t new_like(struct sk_op_graph *graph, uint32_t value)
{
	const struct sk_value from = graph->values.items[value];

	return sk_graph_new_value(graph, from.name, from.dtype, from.rank, from.shape);
}

/* ---- SkipLayerNormalization, SkipSimplifiedLayerNormalization ---- */

enum { Y, MEAN, DEVIATION, SUM };

/* Return the number of the input that is added to the sum: the last one. */
static size_t bias_of(const struct sk_graph_node *node)
{
	return !strcmp(node->op, "SkipLayerNormalization") ? 4 : 3;
}

static bool infer_skip(struct sk_inference *inference)
{
	const struct sk_value *x = sk_infer_input(inference, 0), *skip = sk_infer_input(inference, 1);
	uint32_t rank = x->rank;
	uint64_t shape[SK_MAX_RANK];

	if (!x->rank)
		return sk_infer_error(inference, "'%s' has no dimensions", x->name);
	memcpy(shape, x->shape, sizeof(shape));
	if (!sk_infer_broadcast(inference, &rank, shape, skip->rank, skip->shape))
		return false;
	if (rank != x->rank || memcmp(shape, x->shape, rank * sizeof(*shape)))
		return sk_infer_error(inference, "'%s' is larger than '%s'", skip->name, x->name);
	for (size_t i = 1; i < inference->node->inputs.count; i++)
		if (!sk_infer_same_types(inference, 0, i) || (i > 1 && !is_row(inference, i, x->shape[x->rank - 1])))
			return false;
	for (size_t i = MEAN; i <= DEVIATION; i++)
		if (sk_node_output(inference->graph, inference->node, i))
			return sk_infer_error(inference, "means and deviations are for training, and are not kept");
	return sk_infer_like(inference, Y, 0) && sk_infer_like(inference, SUM, 0);
}

static bool canonical_skip(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	size_t last = bias_of(node_of(canonical));
	uint32_t x = sk_canonical_input(canonical, 0), sum = sk_canonical_output(canonical, SUM);
	uint32_t bias = sk_canonical_input(canonical, last), added = sum, y = sk_canonical_output(canonical, Y);
	const struct sk_value from = graph->values.items[x];
	uint64_t width = from.shape[from.rank - 1];
	const uint64_t rows[2] = {sk_value_elements(&from) / width, width};
	double epsilon = sk_node_real(node_of(canonical), "epsilon", 1e-12);
	struct sk_graph_call *call;

	if (sum == SK_NONE)
		added = sum = new_like(graph, x);
	if (bias != SK_NONE)
		added = new_like(graph, x);
	if (!sk_canonical_binary(canonical, "Add", x, sk_canonical_input(canonical, 1), added, true) ||
	    (bias != SK_NONE && !sk_canonical_binary(canonical, "Add", added, bias, sum, true)))
		return false;
	if (y == SK_NONE)
		return true;
	call = sk_canonical_call(canonical, last == 4 ? "LayerNormalization" : "RMSNormalization");
	sk_call_real(canonical, call, "epsilon", epsilon);
	sk_call_input(canonical, call, sk_operand_shaped(graph, sum, 2, rows));
	for (size_t i = 2; i < last; i++)
		sk_call_input(canonical, call, sk_operand_flat(graph, sk_canonical_input(canonical, i)));
	sk_call_output(canonical, call, sk_operand_shaped(graph, y, 2, rows));
	return true;
}

/* ---- BiasGelu, FastGelu, Gelu, QuickGelu ---- */

static bool infer_gelu(struct sk_inference *inference)
{
	const struct sk_value *x = sk_infer_input(inference, 0);

	return sk_infer_same_types(inference, 0, 1) &&
	       (!sk_infer_input(inference, 1) || (x->rank && is_row(inference, 1, x->shape[x->rank - 1])) ||
		sk_infer_error(inference, "'%s' does not fit to '%s'", sk_infer_input(inference, 1)->name, x->name)) &&
	       sk_infer_like(inference, 0, 0);
}

static bool canonical_gelu(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t x = sk_canonical_input(canonical, 0), bias = sk_canonical_input(canonical, 1), sum = x;
	bool quick = !strcmp(node_of(canonical)->op, "QuickGelu"), fast = !strcmp(node_of(canonical)->op, "FastGelu");
	double alpha = sk_node_real(node_of(canonical), "alpha", 1.702);
	struct sk_graph_call *call;

	if (bias != SK_NONE) {
		sum = new_like(graph, x);
		if (!sk_canonical_binary(canonical, "Add", x, bias, sum, true))
			return false;
	}
	call = sk_canonical_call(canonical, quick ? "Swish" : "Gelu");
	if (quick)
		sk_call_real(canonical, call, "alpha", alpha);
	if (fast)
		sk_call_word(canonical, call, "approximate", "tanh");
	sk_call_input(canonical, call, sk_operand_flat(graph, sum));
	sk_call_output(canonical, call, sk_operand_flat(graph, sk_canonical_output(canonical, 0)));
	return true;
}

/* ---- MatMulNBits ---- */

enum { A, B, SCALES, ZEROS, GROUPS, BIAS };

struct nbits {
	uint64_t m, k, n, blocks, half; /* half: bytes of a block */
};

static bool has_elements(const struct sk_inference *inference, size_t number, enum sk_dtype dtype, uint64_t elements)
{
	const struct sk_value *value = sk_infer_input(inference, number);

	return !value || (value->dtype == dtype && sk_value_elements(value) == elements) ||
	       sk_infer_error(inference, "'%s' is %s with %llu element%s, and %s with %llu is needed", value->name,
			      sk_dtype_name(value->dtype), (unsigned long long)sk_value_elements(value),
			      sk_plural(sk_value_elements(value)), sk_dtype_name(dtype), (unsigned long long)elements);
}

static bool read_nbits(const struct sk_inference *inference, struct nbits *nbits)
{
	const struct sk_value *a = sk_infer_input(inference, A), *b = sk_infer_input(inference, B);
	int64_t size = sk_node_integer(inference->node, "block_size", 0);
	int64_t bits = sk_node_integer(inference->node, "bits", 4);

	if (sk_node_integer(inference->node, "weight_prepacked", 0))
		return sk_infer_error(inference, "weights that are packed for a processor (weight_prepacked) are not "
						 "supported");
	if (bits != 4)
		return sk_infer_error(inference, "numbers of %lld bits are not supported, only of 4 and 8",
				      (long long)bits);
	if (size < 2 || size > INT32_MAX || size % 2)
		return sk_infer_error(inference, "blocks cannot have %lld elements", (long long)size);
	if (a->rank < 1 || b->rank != 3 || b->dtype != SK_U8)
		return sk_infer_error(inference, "'%s' is not a matrix, or '%s' not a u8 [N, blocks, bytes]", a->name,
				      b->name);
	nbits->k = a->shape[a->rank - 1];
	nbits->n = b->shape[0];
	nbits->blocks = b->shape[1];
	nbits->half = b->shape[2];
	if (nbits->half != (uint64_t)size / 2 || !nbits->k ||
	    nbits->blocks != nbits->k / (uint64_t)size + (nbits->k % (uint64_t)size != 0) ||
	    sk_node_integer(inference->node, "K", 0) != (int64_t)nbits->k ||
	    sk_node_integer(inference->node, "N", 0) != (int64_t)nbits->n)
		return sk_infer_error(inference, "'%s' is %s, which does not fit to K, N and block_size, or to '%s'",
				      b->name, sk_partial_shape_text(inference->graph->arena, b->rank, b->shape),
				      a->name);
	nbits->m = sk_value_elements(a) / nbits->k;
	return true;
}

static bool infer_nbits(struct sk_inference *inference)
{
	const struct sk_value *a = sk_infer_input(inference, A);
	struct nbits nbits;
	uint64_t shape[SK_MAX_RANK];

	if (!read_nbits(inference, &nbits) || !has_elements(inference, SCALES, a->dtype, nbits.n * nbits.blocks) ||
	    !has_elements(inference, ZEROS, SK_U8, nbits.n * ((nbits.blocks + 1) / 2)) ||
	    !has_elements(inference, BIAS, a->dtype, nbits.n))
		return false;
	if (sk_infer_input(inference, GROUPS))
		return sk_infer_error(inference, "'%s' says in which group rows are, and that is not supported",
				      sk_infer_input(inference, GROUPS)->name);
	if (a->dtype != SK_F32 && a->dtype != SK_F16 && a->dtype != SK_BF16)
		return sk_infer_error(inference, "'%s' is %s, not f32, f16 or bf16", a->name, sk_dtype_name(a->dtype));
	memcpy(shape, a->shape, sizeof(shape));
	shape[a->rank - 1] = nbits.n;
	return sk_infer_output(inference, 0, a->dtype, a->rank, shape);
}

static void add_nbits(struct sk_canonical *canonical, const struct nbits *nbits, uint32_t a, uint32_t scales,
		      uint32_t to)
{
	const struct sk_op_graph *graph = canonical->graph;
	uint32_t b = sk_canonical_input(canonical, B), zeros = sk_canonical_input(canonical, ZEROS);
	struct sk_graph_call *call = sk_canonical_call(canonical, "MatMulNBits");
	const uint64_t numbers[3] = {nbits->n, nbits->blocks, nbits->half};

	sk_call_integer(canonical, call, "bits", 4);
	sk_call_integer(canonical, call, "K", (int64_t)nbits->k);
	sk_call_integer(canonical, call, "N", (int64_t)nbits->n);
	sk_call_integer(canonical, call, "block_size", (int64_t)nbits->half * 2);
	sk_call_integer(canonical, call, "zero_points", zeros != SK_NONE);
	sk_call_input(canonical, call, sk_operand_shaped(graph, a, 2, (uint64_t[]){nbits->m, nbits->k}));
	sk_call_input(canonical, call, sk_operand_shaped(graph, b, 3, numbers));
	sk_call_input(canonical, call, sk_operand_flat(graph, scales));
	sk_call_input(canonical, call, sk_operand_flat(graph, zeros != SK_NONE ? zeros : b));
	sk_call_output(canonical, call, sk_operand_shaped(graph, to, 2, (uint64_t[]){nbits->m, nbits->n}));
}

/* Computed in f32; the addend and the result have the operands' type. */
static bool canonical_nbits(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	uint32_t output = sk_canonical_output(canonical, 0), bias = sk_canonical_input(canonical, BIAS), a, scales, to;
	const struct sk_value result = graph->values.items[output];
	struct nbits nbits;

	if (!read_nbits(&inference, &nbits))
		return false;
	a = sk_canonical_cast(canonical, sk_canonical_input(canonical, A), SK_F32);
	scales = sk_canonical_cast(canonical, sk_canonical_input(canonical, SCALES), SK_F32);
	if (result.dtype == SK_F32 && bias == SK_NONE) {
		add_nbits(canonical, &nbits, a, scales, output);
		return true;
	}
	to = sk_graph_new_value(graph, result.name, SK_F32, result.rank, result.shape);
	add_nbits(canonical, &nbits, a, scales, to);
	to = sk_canonical_cast(canonical, to, result.dtype);
	if (bias != SK_NONE)
		return sk_canonical_binary(canonical, "Add", to, bias, output, true);
	sk_canonical_view(canonical, output, to, 0);
	return true;
}

/* ---- the table ---- */

#define MICROSOFT "com.microsoft"

/* ONNX Runtime's name, in ONNX's own domain, for an operator that was standardised later. */
static bool upgrade_simplified(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	(void)graph;
	node->origin = node->origin ? node->origin : node->op;
	node->op = "RMSNormalization";
	node->domain = "";
	return true;
}

static const struct sk_schema_attribute skip[] = {{"epsilon", SK_ATTRIBUTE_REAL, .real = 1e-12}, {NULL}};
static const struct sk_schema_attribute alpha[] = {{"alpha", SK_ATTRIBUTE_REAL, .real = 1.702}, {NULL}};
static const struct sk_schema_attribute nbits[] = {{"K", SK_ATTRIBUTE_INTEGER, .required = true},
						   {"N", SK_ATTRIBUTE_INTEGER, .required = true},
						   {"accuracy_level", SK_ATTRIBUTE_INTEGER, .integer = 0},
						   {"bits", SK_ATTRIBUTE_INTEGER, .integer = 4},
						   {"block_size", SK_ATTRIBUTE_INTEGER, .required = true},
						   {"weight_prepacked", SK_ATTRIBUTE_INTEGER},
						   {NULL}};

const struct sk_schema sk_operators_microsoft[] = {
	{"BiasGelu", MICROSOFT, 2, 2, 1, 1, .infer = infer_gelu, .canonical = canonical_gelu},
	{"FastGelu", MICROSOFT, 1, 2, 1, 1, .infer = infer_gelu, .canonical = canonical_gelu},
	{"Gelu", MICROSOFT, 1, 1, 1, 1, .infer = infer_gelu, .canonical = canonical_gelu},
	{"MatMulNBits", MICROSOFT, 3, 6, 1, 1, .attributes = nbits, .expands = sk_microsoft_is_bytes,
	 .expand = sk_microsoft_expand_bytes, .infer = infer_nbits, .canonical = canonical_nbits},
	{"QuickGelu", MICROSOFT, 1, 1, 1, 1, .attributes = alpha, .infer = infer_gelu, .canonical = canonical_gelu},
	{"SimplifiedLayerNormalization", "", 2, 2, 1, 1, .upgrade = upgrade_simplified},
	{"SimplifiedLayerNormalization", MICROSOFT, 2, 2, 1, 1, .upgrade = upgrade_simplified},
	{"SkipLayerNormalization", MICROSOFT, 3, 5, 1, 4, .attributes = skip, .infer = infer_skip,
	 .canonical = canonical_skip},
	{"SkipSimplifiedLayerNormalization", MICROSOFT, 3, 4, 1, 4, .attributes = skip, .infer = infer_skip,
	 .canonical = canonical_skip},
	{NULL},
};
