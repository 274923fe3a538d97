/* Products, convolutions, embeddings and normalisations that ONNX Runtime's optimiser fuses. Each becomes the nodes
 * that it was fused from. The meaning is that of ONNX Runtime's documentation (docs/ContribOperators.md). */
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

#define MICROSOFT "com.microsoft"

/* Append a node that only passes its input on. */
static void name_result(const struct sk_expansion *expansion, uint32_t from, size_t output)
{
	if (sk_expansion_output(expansion, output) != SK_NONE)
		sk_expansion_into(expansion, "Identity", 1, &from, sk_expansion_output(expansion, output));
}

/* ---- FusedMatMul, TransposeMatMul ---- */

/* Exchange the last two axes if `last`; before that, move the first axis behind the last but one if `batch`. */
static uint32_t turned(const struct sk_expansion *expansion, uint32_t value, bool batch, bool last)
{
	uint32_t rank = sk_expansion_read(expansion, value)->rank;
	int64_t order[SK_MAX_RANK];

	for (uint32_t i = 0; i < rank; i++)
		order[i] = i;
	for (uint32_t i = 0; batch && i + 2 < rank; i++)
		order[i] = i + 1;
	if (batch && rank > 2)
		order[rank - 2] = 0;
	if (last && rank > 1) {
		int64_t before = order[rank - 2];

		order[rank - 2] = order[rank - 1];
		order[rank - 1] = before;
	}
	return (batch && rank > 2) || (last && rank > 1) ? sk_expansion_transpose(expansion, value, rank, order)
							 : value;
}

static bool expand_matmul(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	double alpha = sk_node_real(node, "alpha", 1);
	uint32_t a = turned(&expansion, sk_expansion_input(&expansion, 0), sk_node_integer(node, "transBatchA", 0),
			    sk_node_integer(node, "transA", 0));
	uint32_t b = turned(&expansion, sk_expansion_input(&expansion, 1), sk_node_integer(node, "transBatchB", 0),
			    sk_node_integer(node, "transB", 0));
	enum sk_dtype dtype = sk_expansion_read(&expansion, sk_expansion_input(&expansion, 0))->dtype;
	bool wide =
		alpha != 1 && (dtype == SK_F16 || dtype == SK_BF16); /* a product may exceed f16 before the factor */
	uint32_t product;

	if (wide) {
		a = sk_expansion_cast(&expansion, a, SK_EXPANSION_F32);
		b = sk_expansion_cast(&expansion, b, SK_EXPANSION_F32);
	}
	product = sk_expansion_binary(&expansion, "MatMul", a, b);
	if (alpha != 1)
		product =
			sk_expansion_binary(&expansion, "Mul", product, sk_expansion_real(&expansion, alpha, product));
	if (wide)
		product = sk_expansion_binary(&expansion, "CastLike", product, sk_expansion_input(&expansion, 0));
	name_result(&expansion, product, 0);
	return true;
}

/* ---- activations of FusedGemm and FusedConv ---- */

struct parameters {
	double alpha, beta;
	bool has_alpha, has_beta;
};

/* Return the value after the activation of the node. False after an error. */
static bool activate(const struct sk_expansion *expansion, const struct parameters *parameters, uint32_t *value)
{
	static const char *const plain[] = {"Elu",  "HardSigmoid", "LeakyRelu", "HardSwish",
					    "Relu", "Sigmoid",	   "Tanh",	NULL};
	const char *activation = sk_node_string(expansion->node, "activation", "");
	struct sk_op_graph *graph = expansion->graph;
	const char *const *known = plain;

	if (!*activation)
		return true;
	if (!strcmp(activation, "Clip")) {
		*value =
			SK_EXPANSION(expansion, "Clip", *value, sk_expansion_real(expansion, parameters->alpha, *value),
				     sk_expansion_real(expansion, parameters->beta, *value));
		return parameters->has_alpha && parameters->has_beta
			       ? true
			       : sk_expansion_refuse(expansion, "Clip has no least and largest value");
	}
	while (*known && strcmp(*known, activation))
		known++;
	if (!*known)
		return sk_expansion_refuse(
			expansion,
			"activation '%s' is not Clip, Elu, HardSigmoid, HardSwish, LeakyRelu, Relu, Sigmoid or "
			"Tanh",
			activation);
	*value = SK_EXPANSION(expansion, *known, *value);
	for (int i = 0; i < 2; i++) {
		const struct sk_attribute given = {.name = i ? "beta" : "alpha",
						   .place = expansion->node->place,
						   .kind = SK_ATTRIBUTE_REAL,
						   .real = i ? parameters->beta : parameters->alpha};
		bool taken = i ? !strcmp(*known, "HardSigmoid") : known < plain + 3;

		if ((i ? parameters->has_beta : parameters->has_alpha) && taken)
			sk_node_set_attribute(graph, sk_expansion_last(expansion), given);
	}
	return true;
}

/* ---- FusedGemm ---- */

static bool expand_gemm(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	static const char *const kept[] = {"alpha", "beta", "transA", "transB"};
	const struct sk_expansion expansion = {graph, node, nodes};
	const struct parameters parameters = {
		sk_node_real(node, "activation_alpha", 0), sk_node_real(node, "activation_beta", 0),
		sk_node_attribute(node, "activation_alpha"), sk_node_attribute(node, "activation_beta")};
	uint32_t value = sk_expansion_call(&expansion, "Gemm", node->inputs.count, node->inputs.items);

	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		sk_expansion_keep(&expansion, kept[i], kept[i]);
	if (!activate(&expansion, &parameters, &value))
		return false;
	name_result(&expansion, value, 0);
	return true;
}

/* ---- FusedConv, NhwcConv, NhwcFusedConv ---- */

static bool read_parameters(const struct sk_expansion *expansion, struct parameters *parameters)
{
	const struct sk_attribute *given = sk_node_attribute(expansion->node, "activation_params");

	*parameters = (struct parameters){0};
	if (!given || given->kind != SK_ATTRIBUTE_REALS)
		return true;
	if (given->count > 2)
		return sk_expansion_refuse(expansion, "activation_params has %zu numbers, not 1 or 2", given->count);
	parameters->has_alpha = given->count > 0;
	parameters->has_beta = given->count > 1;
	parameters->alpha = given->count > 0 ? given->reals[0] : 0;
	parameters->beta = given->count > 1 ? given->reals[1] : 0;
	return true;
}

static bool expand_conv(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	static const char *const kept[] = {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"};
	const struct sk_expansion expansion = {graph, node, nodes};
	bool last = !strncmp(node->op, "Nhwc", 4);
	uint32_t x = sk_expansion_input(&expansion, 0), w = sk_expansion_input(&expansion, 1);
	uint32_t bias = sk_expansion_input(&expansion, 2), sum = sk_expansion_input(&expansion, 3), value;
	uint32_t rank = sk_expansion_read(&expansion, x)->rank;
	struct parameters parameters;

	if (!read_parameters(&expansion, &parameters))
		return false;
	if (last && (rank < 3 || sk_expansion_read(&expansion, w)->rank != rank))
		return sk_expansion_refuse(&expansion, "its input and filters do not have 3 dimensions or more");
	if (last)
		x = sk_expansion_channels(&expansion, x, rank, false);
	value = sk_expansion_call(&expansion, "Conv", bias == SK_NONE ? 2 : 3, (const uint32_t[]){x, w, bias});
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		sk_expansion_keep(&expansion, kept[i], kept[i]);
	if (last)
		value = sk_expansion_channels(&expansion, value, rank, true);
	if (sum != SK_NONE)
		value = sk_expansion_binary(&expansion, "Add", value, sum);
	if (!activate(&expansion, &parameters, &value))
		return false;
	name_result(&expansion, value, 0);
	return true;
}

/* ---- MatMulIntegerToFloat, DynamicQuantizeMatMul, QGemm ---- */

/* Return the product of integers times the scales, plus the bias if there is one; the scales of the columns of b are
 * one number or one for each column. */
static uint32_t scaled_product(const struct sk_expansion *expansion, const uint32_t integers[4], uint32_t a_scale,
			       uint32_t b_scale, uint32_t bias)
{
	size_t count = integers[3] != SK_NONE ? 4 : integers[2] != SK_NONE ? 3 : 2;
	uint32_t a_factor = sk_expansion_cast(expansion, a_scale, SK_EXPANSION_F32);
	uint32_t b_factor = sk_expansion_cast(expansion, b_scale, SK_EXPANSION_F32);
	uint32_t sum = sk_expansion_call(expansion, "MatMulInteger", count, integers);

	sum = sk_expansion_binary(expansion, "Mul", sk_expansion_cast(expansion, sum, SK_EXPANSION_F32),
				  sk_expansion_binary(expansion, "Mul", a_factor, b_factor));
	if (bias != SK_NONE)
		sum = sk_expansion_binary(expansion, "Add", sum, sk_expansion_cast(expansion, bias, SK_EXPANSION_F32));
	return sk_expansion_binary(expansion, "CastLike", sum, b_scale);
}

static bool expand_integer(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	const uint32_t *in = node->inputs.items;
	const uint32_t integers[4] = {in[0], in[1], sk_expansion_input(&expansion, 4),
				      sk_expansion_input(&expansion, 5)};

	name_result(&expansion, scaled_product(&expansion, integers, in[2], in[3], sk_expansion_input(&expansion, 6)),
		    0);
	return true;
}

static bool expand_dynamic(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	const uint32_t *in = node->inputs.items;
	uint32_t a = sk_expansion_value(&expansion), scale = sk_expansion_value(&expansion);
	uint32_t zero = sk_expansion_value(&expansion);
	const uint32_t integers[4] = {a, in[1], zero, sk_expansion_input(&expansion, 3)};
	struct sk_graph_node *quantise = sk_expansion_node(&expansion, "DynamicQuantizeLinear", in[0], a);

	sk_array_push(graph->arena, &quantise->outputs, scale);
	sk_array_push(graph->arena, &quantise->outputs, zero);
	name_result(&expansion, scaled_product(&expansion, integers, scale, in[2], sk_expansion_input(&expansion, 4)),
		    0);
	return true;
}

/* The result is alpha a_scale b_scale (a b + c), quantised if y has a scale. */
static bool expand_qgemm(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	enum { A, A_SCALE, A_ZERO, B, B_SCALE, B_ZERO, C, Y_SCALE, Y_ZERO };
	const struct sk_expansion expansion = {graph, node, nodes};
	double alpha = sk_node_real(node, "alpha", 1);
	uint32_t a = turned(&expansion, sk_expansion_input(&expansion, A), false, sk_node_integer(node, "transA", 0));
	uint32_t b = turned(&expansion, sk_expansion_input(&expansion, B), false, sk_node_integer(node, "transB", 0));
	uint32_t sum = SK_EXPANSION(&expansion, "MatMulInteger", a, b, sk_expansion_input(&expansion, A_ZERO),
				    sk_expansion_input(&expansion, B_ZERO));
	uint32_t scale = SK_EXPANSION(&expansion, "Mul", sk_expansion_input(&expansion, A_SCALE),
				      sk_expansion_input(&expansion, B_SCALE));

	if (sk_expansion_input(&expansion, C) != SK_NONE)
		sum = sk_expansion_binary(&expansion, "Add", sum, sk_expansion_input(&expansion, C));
	if (alpha != 1)
		scale = sk_expansion_binary(&expansion, "Mul", scale, sk_expansion_real(&expansion, alpha, scale));
	sum = sk_expansion_binary(&expansion, "Mul", sk_expansion_cast(&expansion, sum, SK_EXPANSION_F32), scale);
	if (sk_expansion_input(&expansion, Y_SCALE) != SK_NONE)
		sum = sk_expansion_call(&expansion, "QuantizeLinear",
					sk_expansion_input(&expansion, Y_ZERO) == SK_NONE ? 2 : 3,
					(const uint32_t[]){sum, sk_expansion_input(&expansion, Y_SCALE),
							   sk_expansion_input(&expansion, Y_ZERO)});
	name_result(&expansion, sum, 0);
	return true;
}

/* ---- EmbedLayerNormalization, QEmbedLayerNormalization ---- */

/* Return the number of keys of each batch that the mask has; without a mask 0, as ONNX Runtime has it. */
static uint32_t count_mask(const struct sk_expansion *expansion, uint32_t ids, uint32_t mask)
{
	static const int64_t last = 1;
	const int32_t one = 1, none = 0;
	uint32_t counted = mask == SK_NONE ? ids : mask, seen, to;

	seen = SK_EXPANSION(expansion, "Equal", sk_expansion_cast(expansion, counted, SK_EXPANSION_I32),
			    sk_graph_new_constant(expansion->graph, "one", SK_I32, 0, NULL, &one));
	seen = sk_expansion_cast(expansion, seen, SK_EXPANSION_I32);
	if (mask == SK_NONE)
		seen = SK_EXPANSION(expansion, "Mul", seen,
				    sk_graph_new_constant(expansion->graph, "none", SK_I32, 0, NULL, &none));
	to = SK_EXPANSION(expansion, "ReduceSum", seen, sk_expansion_integers(expansion, 1, &last));
	sk_expansion_set(expansion, "keepdims", 0);
	return to;
}

/* Return the rows of the table at the places. ONNX Runtime refuses negative ones, which Gather would count from the
 * end: they become the number of rows, and end the run as too large ones do. */
static uint32_t rows_at(const struct sk_expansion *expansion, uint32_t table, uint32_t places)
{
	const int64_t zero = 0;
	uint32_t wide = sk_expansion_cast(expansion, places, SK_EXPANSION_I64);
	uint32_t none = sk_graph_new_constant(expansion->graph, "none", SK_I64, 0, NULL, &zero), count, negative;

	count = SK_EXPANSION(expansion, "Shape", table);
	sk_expansion_set(expansion, "end", 1);
	negative = sk_expansion_binary(expansion, "Less", wide, none);
	wide = SK_EXPANSION(expansion, "Where", negative, count, wide);
	return sk_expansion_binary(expansion, "Gather", table, wide);
}

/* Return 0, 1, ..., as many as the ids have columns. */
static uint32_t positions(const struct sk_expansion *expansion, uint32_t ids)
{
	const int64_t zero = 0, one = 1;
	struct sk_op_graph *graph = expansion->graph;
	uint32_t count = SK_EXPANSION(expansion, "Shape", ids);

	sk_expansion_set(expansion, "start", 1);
	count = SK_EXPANSION(expansion, "Squeeze", count, sk_expansion_integers(expansion, 1, &zero));
	return SK_EXPANSION(expansion, "Range", sk_graph_new_constant(graph, "start", SK_I64, 0, NULL, &zero), count,
			    sk_graph_new_constant(graph, "step", SK_I64, 0, NULL, &one));
}

enum { IDS, SEGMENTS, WORDS, PLACES, KINDS, GAMMA, BETA, MASK, AT, FACTORS = 8, ZEROS = 13 };

/* Return the numbers of a value that comes from that input: quantised ones have a scale and a zero point each. */
static uint32_t embedded(const struct sk_expansion *expansion, size_t number, uint32_t value)
{
	size_t place = number - WORDS;

	if (*expansion->node->op != 'Q')
		return value;
	return SK_EXPANSION(expansion, "DequantizeLinear", value, sk_expansion_input(expansion, FACTORS + place),
			    sk_expansion_input(expansion, ZEROS + place));
}

static bool expand_embedding(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	uint32_t ids = sk_expansion_input(&expansion, IDS), segments = sk_expansion_input(&expansion, SEGMENTS);
	uint32_t at = *node->op == 'Q' ? SK_NONE : sk_expansion_input(&expansion, AT), sum;
	uint32_t places = sk_expansion_input(&expansion, PLACES);

	if (sk_expansion_read(&expansion, ids)->rank != 2)
		return sk_expansion_refuse(&expansion, "'%s' is not [batch, rows]",
					   sk_expansion_read(&expansion, ids)->name);
	for (size_t i = WORDS; i <= BETA; i++)
		if (i != KINDS && sk_expansion_input(&expansion, i) == SK_NONE)
			return sk_expansion_refuse(&expansion, "input %zu is absent", i);
	if ((segments == SK_NONE) != (sk_expansion_input(&expansion, KINDS) == SK_NONE))
		return sk_expansion_refuse(&expansion, "segments and their embeddings come together");
	places = at == SK_NONE ? sk_expansion_binary(&expansion, "Gather", places, positions(&expansion, ids))
			       : rows_at(&expansion, places, at);
	sum = embedded(&expansion, WORDS, rows_at(&expansion, sk_expansion_input(&expansion, WORDS), ids));
	sum = sk_expansion_binary(&expansion, "Add", sum, embedded(&expansion, PLACES, places));
	if (segments != SK_NONE)
		sum = sk_expansion_binary(
			&expansion, "Add", sum,
			embedded(&expansion, KINDS,
				 rows_at(&expansion, sk_expansion_input(&expansion, KINDS), segments)));
	sk_expansion_into(&expansion, "LayerNormalization", 3,
			  (const uint32_t[]){sum, embedded(&expansion, GAMMA, sk_expansion_input(&expansion, GAMMA)),
					     embedded(&expansion, BETA, sk_expansion_input(&expansion, BETA))},
			  sk_expansion_output(&expansion, 0));
	sk_expansion_keep(&expansion, "epsilon", "epsilon");
	if (!sk_node_attribute(node, "epsilon")) {
		const struct sk_attribute epsilon = {
			.name = "epsilon", .place = node->place, .kind = SK_ATTRIBUTE_REAL, .real = 1e-12};

		sk_node_set_attribute(graph, sk_expansion_last(&expansion), epsilon);
	}
	if (sk_expansion_output(&expansion, 1) != SK_NONE)
		name_result(&expansion, count_mask(&expansion, ids, sk_expansion_input(&expansion, MASK)), 1);
	name_result(&expansion, sum, 2);
	return true;
}

/* ---- BiasSplitGelu: the first half of the columns times the Gelu of the second one ---- */

static bool expand_split_gelu(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	const struct sk_value *x = sk_expansion_read(&expansion, sk_expansion_input(&expansion, 0));
	uint64_t width = x->rank ? x->shape[x->rank - 1] : 1;
	const int64_t halves[2] = {(int64_t)(width / 2), (int64_t)(width / 2)};
	uint32_t pieces[2], sum;

	if (width % 2)
		return sk_expansion_refuse(&expansion, "'%s' has %" PRIu64 " columns, which are not two halves",
					   x->name, width);
	sum = sk_expansion_binary(&expansion, "Add", sk_expansion_input(&expansion, 0),
				  sk_expansion_input(&expansion, 1));
	sk_expansion_split(&expansion, sum, -1, 2, halves, pieces);
	name_result(&expansion,
		    sk_expansion_binary(&expansion, "Mul", pieces[0], SK_EXPANSION(&expansion, "Gelu", pieces[1])), 0);
	return true;
}

/* ---- GroupNorm ---- */

static bool expand_group_norm(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	uint32_t x = sk_expansion_input(&expansion, 0), rank = sk_expansion_read(&expansion, x)->rank;
	bool last = sk_node_integer(node, "channels_last", 1);
	int64_t activation = sk_node_integer(node, "activation", 0);

	if (rank < 3 || (activation != 0 && activation != 1))
		return sk_expansion_refuse(&expansion,
					   "its input has %u dimensions and activation is %" PRIi64
					   "; at least 3, and 0 or 1, are supported",
					   rank, activation);
	if (last)
		x = sk_expansion_channels(&expansion, x, rank, false);
	x = SK_EXPANSION(&expansion, "GroupNormalization", x,
			 sk_expansion_binary(&expansion, "CastLike", sk_expansion_input(&expansion, 1), x),
			 sk_expansion_binary(&expansion, "CastLike", sk_expansion_input(&expansion, 2), x));
	sk_expansion_keep(&expansion, "epsilon", "epsilon");
	sk_expansion_keep(&expansion, "groups", "num_groups");
	if (activation)
		x = sk_expansion_binary(&expansion, "Mul", x, SK_EXPANSION(&expansion, "Sigmoid", x));
	name_result(&expansion, last ? sk_expansion_channels(&expansion, x, rank, true) : x, 0);
	return true;
}

/* ---- the table ---- */

#define INTEGER(NAME, DEFAULT)                                                                                         \
	{                                                                                                              \
		NAME, SK_ATTRIBUTE_INTEGER, .integer = (DEFAULT)                                                       \
	}
#define REAL(NAME, DEFAULT)                                                                                            \
	{                                                                                                              \
		NAME, SK_ATTRIBUTE_REAL, .real = (DEFAULT)                                                             \
	}

static const struct sk_schema_attribute matmul[] = {REAL("alpha", 1),	       INTEGER("transA", 0),
						    INTEGER("transB", 0),      INTEGER("transBatchA", 0),
						    INTEGER("transBatchB", 0), {NULL}};
static const struct sk_schema_attribute gemm[] = {{"activation", SK_ATTRIBUTE_STRING, .string = ""},
						  {"activation_alpha", SK_ATTRIBUTE_REAL},
						  {"activation_beta", SK_ATTRIBUTE_REAL},
						  {"activation_gamma", SK_ATTRIBUTE_REAL},
						  REAL("alpha", 1),
						  REAL("beta", 1),
						  INTEGER("transA", 0),
						  INTEGER("transB", 0),
						  {NULL}};
static const struct sk_schema_attribute conv[] = {{"activation", SK_ATTRIBUTE_STRING, .string = ""},
						  {"activation_params", SK_ATTRIBUTE_REALS},
						  {"auto_pad", SK_ATTRIBUTE_STRING, .string = "NOTSET"},
						  {"dilations", SK_ATTRIBUTE_INTEGERS},
						  INTEGER("group", 1),
						  {"kernel_shape", SK_ATTRIBUTE_INTEGERS},
						  {"pads", SK_ATTRIBUTE_INTEGERS},
						  {"strides", SK_ATTRIBUTE_INTEGERS},
						  {NULL}};
static const struct sk_schema_attribute qgemm[] = {
	REAL("alpha", 1), INTEGER("transA", 0), INTEGER("transB", 0), {NULL}};
static const struct sk_schema_attribute embedding[] = {REAL("epsilon", 1e-12), INTEGER("mask_index_type", 0), {NULL}};
static const struct sk_schema_attribute group_norm[] = {{"activation", SK_ATTRIBUTE_INTEGER, .required = true},
							INTEGER("channels_last", 1),
							REAL("epsilon", 1e-5),
							{"groups", SK_ATTRIBUTE_INTEGER, .required = true},
							{NULL}};

const struct sk_schema sk_operators_microsoft_products[] = {
	{"BiasSplitGelu", MICROSOFT, 2, 2, 1, 1, .expand = expand_split_gelu},
	{"DynamicQuantizeMatMul", MICROSOFT, 3, 5, 1, 1, .expand = expand_dynamic},
	{"EmbedLayerNormalization", MICROSOFT, 1, 9, 1, 3, .attributes = embedding, .expand = expand_embedding},
	{"FusedConv", MICROSOFT, 2, 4, 1, 1, .attributes = conv, .expand = expand_conv},
	{"FusedGemm", MICROSOFT, 2, 3, 1, 1, .attributes = gemm, .expand = expand_gemm},
	{"FusedMatMul", MICROSOFT, 2, 2, 1, 1, .attributes = matmul, .expand = expand_matmul},
	{"GroupNorm", MICROSOFT, 3, 3, 1, 1, .attributes = group_norm, .expand = expand_group_norm},
	{"MatMulIntegerToFloat", MICROSOFT, 4, 7, 1, 1, .expand = expand_integer},
	{"NhwcConv", MICROSOFT, 2, 3, 1, 1, .attributes = conv, .expand = expand_conv},
	{"NhwcFusedConv", MICROSOFT, 2, 4, 1, 1, .attributes = conv, .expand = expand_conv},
	{"QEmbedLayerNormalization", MICROSOFT, 18, 18, 1, 2, .attributes = embedding, .expand = expand_embedding},
	{"QGemm", MICROSOFT, 6, 9, 1, 1, .attributes = qgemm, .expand = expand_qgemm},
	{"TransposeMatMul", MICROSOFT, 2, 2, 1, 1, .attributes = matmul, .expand = expand_matmul},
	{NULL},
};
