/* Layers of com.microsoft that become nodes of ONNX around others: PackedAttention, RelativePositionBias and
 * DynamicQuantizeLSTM. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"
#include "graph/operators/operators.h"

#define MICROSOFT "com.microsoft"

static uint32_t slice(const struct sk_expansion *expansion, uint32_t value, int64_t begin, uint32_t end)
{
	const int64_t zero = 0;

	return SK_EXPANSION(expansion, "Slice", value, sk_expansion_integers(expansion, 1, &begin), end,
			    sk_expansion_integers(expansion, 1, &zero));
}

static uint32_t pair(const struct sk_expansion *expansion, uint32_t first, uint32_t second)
{
	sk_graph_sequence both = {NULL, 0, 0};
	uint32_t joined = sk_expansion_value(expansion);

	sk_array_push(expansion->graph->arena, &both, first);
	sk_array_push(expansion->graph->arena, &both, second);
	sk_expansion_concat(expansion, &both, 0, false, joined);
	return joined;
}

/* ---- PackedAttention: attention of batches without their rows of padding ---- */

static bool expand_packed(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	enum { X, W, BIAS, OFFSETS, ENDS, ADDED };
	static const char *const kept[] = {"num_heads", "qkv_hidden_sizes", "scale"};
	const struct sk_expansion expansion = {graph, node, nodes};
	uint32_t x = sk_expansion_input(&expansion, X), offsets = sk_expansion_input(&expansion, OFFSETS);
	uint32_t ends = sk_expansion_input(&expansion, ENDS), width, places, all, y, lengths;
	const int64_t flat = -1, last = -1, many = INT64_MAX;

	if (sk_expansion_read(&expansion, x)->rank != 2 || sk_expansion_read(&expansion, offsets)->rank != 2 ||
	    sk_expansion_read(&expansion, ends)->rank != 1)
		return sk_expansion_refuse(&expansion, "'%s' is not [tokens, width], or '%s' not [batch, rows]",
					   sk_expansion_read(&expansion, x)->name,
					   sk_expansion_read(&expansion, offsets)->name);
	width = sk_expansion_dimension(&expansion, x, 1);
	places = sk_expansion_cast(&expansion, sk_expansion_reshape(&expansion, offsets, 1, &flat), SK_EXPANSION_I64);
	places = slice(&expansion, places, 0, sk_expansion_dimension(&expansion, x, 0));
	all = sk_expansion_reshape(&expansion, SK_EXPANSION(&expansion, "Size", offsets), 1, &flat);
	y = SK_EXPANSION(&expansion, "Expand", sk_expansion_real(&expansion, 0, x), pair(&expansion, all, width));
	y = SK_EXPANSION(&expansion, "ScatterND", y, sk_expansion_unsqueeze(&expansion, places, 1, &last), x);
	y = SK_EXPANSION(&expansion, "Reshape", y, pair(&expansion, SK_EXPANSION(&expansion, "Shape", offsets), width));
	lengths = sk_expansion_binary(&expansion, "Sub",
				      slice(&expansion, ends, 1, sk_expansion_integers(&expansion, 1, &many)),
				      slice(&expansion, ends, 0, sk_expansion_integers(&expansion, 1, &last)));
	y = SK_EXPANSION(&expansion, "Attention", y, sk_expansion_input(&expansion, W),
			 sk_expansion_input(&expansion, BIAS), lengths, SK_NONE, sk_expansion_input(&expansion, ADDED));
	sk_expansion_last(&expansion)->domain = MICROSOFT;
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		sk_expansion_keep(&expansion, kept[i], kept[i]);
	y = SK_EXPANSION(&expansion, "Flatten", y);
	sk_expansion_set(&expansion, "axis", 2);
	sk_expansion_into(&expansion, "Gather", 2, (const uint32_t[]){y, places}, sk_expansion_output(&expansion, 0));
	return true;
}

/* ---- RelativePositionBias: a number of a table for each distance of a query and a key, as in T5 ---- */

/* Return the bucket of each distance: near ones have their own, far ones share some by their logarithm. */
static uint32_t buckets_of(const struct sk_expansion *expansion, uint32_t distance, int64_t buckets, int64_t most)
{
	struct sk_op_graph *graph = expansion->graph;
	const int64_t exact = buckets / 2, last = buckets - 1, one = 1;
	const float near = (float)exact, factor = (float)(buckets - exact) / logf((float)most / near);
	uint32_t far = sk_expansion_binary(expansion, "Max", distance,
					   sk_graph_new_constant(graph, "one", SK_I64, 0, NULL, &one));

	far = sk_expansion_cast(expansion, far, SK_EXPANSION_F32);
	far = sk_expansion_binary(expansion, "Div", far, sk_graph_new_constant(graph, "near", SK_F32, 0, NULL, &near));
	far = SK_EXPANSION(expansion, "Log", far);
	far = sk_expansion_binary(expansion, "Mul", far,
				  sk_graph_new_constant(graph, "factor", SK_F32, 0, NULL, &factor));
	far = sk_expansion_binary(expansion, "Add", sk_expansion_cast(expansion, far, SK_EXPANSION_I64),
				  sk_graph_new_constant(graph, "exact", SK_I64, 0, NULL, &exact));
	far = sk_expansion_binary(expansion, "Min", far, sk_graph_new_constant(graph, "last", SK_I64, 0, NULL, &last));
	return SK_EXPANSION(expansion, "Where",
			    sk_expansion_binary(expansion, "Less", distance,
						sk_graph_new_constant(graph, "exact", SK_I64, 0, NULL, &exact)),
			    distance, far);
}

static bool expand_bias(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	static const int64_t flat = -1, order[] = {2, 0, 1};
	const struct sk_expansion expansion = {graph, node, nodes};
	uint32_t table = sk_expansion_input(&expansion, 0), lengths[2], distance, bucket, none, after;
	const struct sk_value *value = sk_expansion_read(&expansion, table);
	int64_t buckets = value->rank == 2 && value->shape[0] < INT32_MAX ? (int64_t)value->shape[0] : 0, zero = 0;
	int64_t most = sk_node_integer(node, "max_distance", 0);
	bool both = sk_node_integer(node, "is_bidirectional", 0);

	buckets /= both ? 2 : 1;
	if (buckets < 2 || most <= buckets / 2 || most > INT32_MAX)
		return sk_expansion_refuse(&expansion,
					   "'%s' is not [buckets, heads], or max_distance %" PRIi64
					   " is not above half of the buckets",
					   value->name, most);
	for (size_t i = 0; i < 2; i++)
		lengths[i] = sk_expansion_count_to(
			&expansion,
			sk_expansion_cast(
				&expansion,
				sk_expansion_reshape(&expansion, sk_expansion_input(&expansion, 1 + i), 1, &flat),
				SK_EXPANSION_I64));
	distance = sk_expansion_binary(&expansion, "Sub", lengths[1],
				       sk_expansion_unsqueeze(&expansion, lengths[0], 1, (const int64_t[]){1}));
	none = sk_graph_new_constant(graph, "none", SK_I64, 0, NULL, &zero);
	if (both) {
		bucket = buckets_of(&expansion, SK_EXPANSION(&expansion, "Abs", distance), buckets, most);
		after = sk_expansion_cast(&expansion, sk_expansion_binary(&expansion, "Greater", distance, none),
					  SK_EXPANSION_I64);
		after = sk_expansion_binary(&expansion, "Mul", after,
					    sk_graph_new_constant(graph, "buckets", SK_I64, 0, NULL, &buckets));
		bucket = sk_expansion_binary(&expansion, "Add", bucket, after);
	} else {
		distance = SK_EXPANSION(&expansion, "Neg", distance);
		bucket = buckets_of(&expansion, sk_expansion_binary(&expansion, "Max", distance, none), buckets, most);
	}
	distance =
		sk_expansion_transpose(&expansion, sk_expansion_binary(&expansion, "Gather", table, bucket), 3, order);
	sk_expansion_into(&expansion, "Unsqueeze", 2,
			  (const uint32_t[]){distance, sk_expansion_integers(&expansion, 1, &zero)},
			  sk_expansion_output(&expansion, 0));
	return true;
}

/* ---- DynamicQuantizeLSTM: the numbers of its weights, and an LSTM of floats ---- */

/* Return weights [directions, inputs, gates], quantised for each direction or each of its gates, as those of LSTM. */
static uint32_t weights_of(const struct sk_expansion *expansion, size_t number, size_t scale)
{
	static const int64_t order[] = {0, 2, 1}, axis = 1, axes[] = {1, 2};
	uint32_t numbers = sk_expansion_input(expansion, number), factors = sk_expansion_input(expansion, scale);
	uint32_t zeros = sk_expansion_input(expansion, scale + 1), rank = sk_expansion_read(expansion, factors)->rank;

	numbers = sk_expansion_binary(expansion, "CastLike", numbers, factors);
	zeros = sk_expansion_binary(expansion, "CastLike", zeros, factors);
	factors = rank == 1 ? sk_expansion_unsqueeze(expansion, factors, 2, axes)
			    : sk_expansion_unsqueeze(expansion, factors, 1, &axis);
	zeros = rank == 1 ? sk_expansion_unsqueeze(expansion, zeros, 2, axes)
			  : sk_expansion_unsqueeze(expansion, zeros, 1, &axis);
	numbers = sk_expansion_binary(expansion, "Mul", sk_expansion_binary(expansion, "Sub", numbers, zeros), factors);
	return sk_expansion_transpose(expansion, numbers, 3, order);
}

static bool expand_lstm(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	enum { W = 1, R, INPUTS = 8, W_SCALE = 8, R_SCALE = 10 };
	static const char *const kept[] = {"activations", "activation_alpha", "activation_beta", "clip",
					   "direction",	  "hidden_size",      "input_forget"};
	const struct sk_expansion expansion = {graph, node, nodes};
	uint32_t inputs[INPUTS];
	struct sk_graph_node *made;

	for (size_t i = 0; i < INPUTS; i++)
		inputs[i] = sk_expansion_input(&expansion, i);
	for (size_t i = W; i <= R; i++) {
		const struct sk_value *weights = sk_expansion_read(&expansion, inputs[i]);
		const struct sk_value *scale =
			sk_expansion_read(&expansion, sk_expansion_input(&expansion, i == W ? W_SCALE : R_SCALE));

		if (weights->rank != 3 || scale->rank < 1 || scale->rank > 2 || scale->shape[0] != weights->shape[0])
			return sk_expansion_refuse(&expansion,
						   "'%s' is not [directions, inputs, gates], or '%s' has no number for "
						   "each direction",
						   weights->name, scale->name);
	}
	inputs[W] = weights_of(&expansion, W, W_SCALE);
	inputs[R] = weights_of(&expansion, R, R_SCALE);
	sk_expansion_into(&expansion, "LSTM", INPUTS, inputs, sk_expansion_output(&expansion, 0));
	made = sk_expansion_last(&expansion);
	for (size_t i = 1; i < node->outputs.count; i++)
		sk_array_push(graph->arena, &made->outputs, node->outputs.items[i]);
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		sk_expansion_keep(&expansion, kept[i], kept[i]);
	return true;
}

/* ---- the table ---- */

static const struct sk_schema_attribute packed[] = {{"num_heads", SK_ATTRIBUTE_INTEGER, .required = true},
						    {"qkv_hidden_sizes", SK_ATTRIBUTE_INTEGERS},
						    {"scale", SK_ATTRIBUTE_REAL},
						    {NULL}};
static const struct sk_schema_attribute bias[] = {
	{"is_bidirectional", SK_ATTRIBUTE_INTEGER}, {"max_distance", SK_ATTRIBUTE_INTEGER, .required = true}, {NULL}};
static const struct sk_schema_attribute lstm[] = {{"activation_alpha", SK_ATTRIBUTE_REALS},
						  {"activation_beta", SK_ATTRIBUTE_REALS},
						  {"activations", SK_ATTRIBUTE_STRINGS},
						  {"clip", SK_ATTRIBUTE_REAL},
						  {"direction", SK_ATTRIBUTE_STRING, .string = "forward"},
						  {"hidden_size", SK_ATTRIBUTE_INTEGER},
						  {"input_forget", SK_ATTRIBUTE_INTEGER},
						  {NULL}};

const struct sk_schema sk_operators_microsoft_layers[] = {
	{"DynamicQuantizeLSTM", MICROSOFT, 3, 12, 1, 3, .attributes = lstm, .expand = expand_lstm},
	{"PackedAttention", MICROSOFT, 5, 6, 1, 1, .attributes = packed, .expand = expand_packed},
	{"RelativePositionBias", MICROSOFT, 3, 3, 1, 1, .demands = 3 << 1, .attributes = bias, .expand = expand_bias},
	{NULL},
};
