/* Layers with a state of one size, however long the sequence is: LinearAttention and CausalConvWithState. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"
#include "graph/operators/operators.h"

/* ---- LinearAttention ---- */

enum { QUERY, KEY, VALUE, PAST, DECAY, BETA };

struct layer {
	uint64_t batches, steps, heads, group; /* heads: of keys; group: of queries that share one */
	uint64_t dk, dv, decays, betas; /* decays, betas: 0: none */
	bool delta;
};

static bool read_rule(const struct sk_inference *inference, struct layer *layer)
{
	const char *rule = sk_node_string(inference->node, "update_rule", "gated_delta");
	bool gated = !strcmp(rule, "gated") || !strcmp(rule, "gated_delta");

	layer->delta = !strcmp(rule, "delta") || !strcmp(rule, "gated_delta");
	if (!gated && !layer->delta && strcmp(rule, "linear"))
		return sk_infer_error(inference, "update_rule '%s' is not linear, gated, delta or gated_delta", rule);
	if (gated != (sk_infer_input(inference, DECAY) != NULL) ||
	    layer->delta != (sk_infer_input(inference, BETA) != NULL))
		return sk_infer_error(inference,
				      "decay is for gated rules and beta for delta rules, and update_rule is %s", rule);
	return true;
}

/* Check that an input is [batch, steps, `least` or `most`], and return the last dimension; 0 after an error. */
static uint64_t last_of(const struct sk_inference *inference, const struct layer *layer, size_t number, uint64_t least,
			uint64_t most)
{
	const struct sk_value *value = sk_infer_input(inference, number);

	if (value->rank == 3 && value->shape[0] == layer->batches && value->shape[1] == layer->steps &&
	    (value->shape[2] == least || value->shape[2] == most))
		return value->shape[2];
	sk_infer_error(inference, "'%s' is %s, and [%" PRIu64 ", %" PRIu64 ", %" PRIu64 "] is needed", value->name,
		       sk_partial_shape_text(inference->graph->arena, value->rank, value->shape), layer->batches,
		       layer->steps, most);
	return 0;
}

static bool read_layer(const struct sk_inference *inference, struct layer *layer)
{
	const struct sk_value *q = sk_infer_input(inference, QUERY), *v = sk_infer_input(inference, VALUE);
	int64_t heads = sk_node_integer(inference->node, "q_num_heads", 0);
	int64_t shared = sk_node_integer(inference->node, "kv_num_heads", 0);

	*layer = (struct layer){0};
	if (heads < 1 || shared < 1 || heads % shared)
		return sk_infer_error(inference, "q_num_heads %" PRIi64 " is not a multiple of kv_num_heads %" PRIi64,
				      heads, shared);
	if (q->rank != 3 || v->rank != 3 || !q->shape[2] || q->shape[2] % (uint64_t)heads || !v->shape[2] ||
	    v->shape[2] % (uint64_t)shared)
		return sk_infer_error(inference, "'%s' and '%s' are not [batch, steps, width of all heads]", q->name,
				      v->name);
	layer->batches = q->shape[0];
	layer->steps = q->shape[1];
	layer->heads = (uint64_t)shared;
	layer->group = (uint64_t)(heads / shared);
	layer->dk = q->shape[2] / (uint64_t)heads;
	layer->dv = v->shape[2] / layer->heads;
	if (!read_rule(inference, layer) ||
	    !last_of(inference, layer, KEY, layer->heads * layer->dk, layer->heads * layer->dk) ||
	    !last_of(inference, layer, VALUE, v->shape[2], v->shape[2]))
		return false;
	if (sk_infer_input(inference, DECAY) &&
	    !(layer->decays = last_of(inference, layer, DECAY, layer->heads * layer->dk, layer->heads)))
		return false;
	layer->decays /= layer->heads;
	return !sk_infer_input(inference, BETA) ||
	       (layer->betas = last_of(inference, layer, BETA, 1, layer->heads)) != 0;
}

static bool infer_layer(struct sk_inference *inference)
{
	const struct sk_value *past = sk_infer_input(inference, PAST), *q = sk_infer_input(inference, QUERY);
	struct layer layer;

	if (!read_layer(inference, &layer))
		return false;

	const uint64_t state[4] = {layer.batches, layer.heads, layer.dk, layer.dv};
	const uint64_t result[3] = {layer.batches, layer.steps, layer.heads * layer.group * layer.dv};

	for (size_t i = KEY; i <= BETA; i++)
		if (i != PAST && !sk_infer_same_types(inference, 0, i))
			return false;
	if (q->dtype == SK_F64 || !sk_value_is_float(q) || (past && !sk_value_is_float(past)))
		return sk_infer_error(inference, "'%s' is %s, and f32, f16 or bf16 is needed", q->name,
				      sk_dtype_name(q->dtype));
	if (past && (past->rank != 4 || memcmp(past->shape, state, sizeof(state)) != 0))
		return sk_infer_error(inference, "'%s' is %s, and %s is needed", past->name,
				      sk_partial_shape_text(inference->graph->arena, past->rank, past->shape),
				      sk_partial_shape_text(inference->graph->arena, 4, state));
	return sk_infer_output(inference, 0, q->dtype, 3, result) &&
	       sk_infer_output(inference, 1, past ? past->dtype : q->dtype, 4, state);
}

static uint32_t in_f32(struct sk_canonical *canonical, size_t number)
{
	uint32_t value = sk_canonical_input(canonical, number);

	return value == SK_NONE ? value : sk_canonical_cast(canonical, value, SK_F32);
}

/* Return the output itself if it is f32, or else a new value of f32. */
static uint32_t f32_output(struct sk_canonical *canonical, size_t number, uint32_t rank, const uint64_t *shape)
{
	uint32_t value = sk_canonical_output(canonical, number);

	return value != SK_NONE && canonical->graph->values.items[value].dtype == SK_F32
		       ? value
		       : sk_graph_new_value(canonical->graph, "state", SK_F32, rank, shape);
}

static void add_layer(struct sk_canonical *canonical, const struct layer *layer, uint32_t y, uint32_t state)
{
	const struct sk_op_graph *graph = canonical->graph;
	const struct sk_graph_node *node = &graph->nodes.items[canonical->node];
	double scale = sk_node_real(node, "scale", 0);
	const uint64_t rows = layer->batches * layer->heads;
	const uint64_t states[2] = {rows, layer->dk * layer->dv};
	uint32_t inputs[BETA + 1];
	struct sk_graph_call *call;

	for (size_t i = 0; i <= BETA; i++)
		inputs[i] = in_f32(canonical, i);
	call = sk_canonical_call(canonical, "LinearAttention");
	sk_call_integer(canonical, call, "heads", (int64_t)layer->heads);
	sk_call_integer(canonical, call, "group", (int64_t)layer->group);
	sk_call_integer(canonical, call, "steps", (int64_t)layer->steps);
	sk_call_integer(canonical, call, "dk", (int64_t)layer->dk);
	sk_call_integer(canonical, call, "dv", (int64_t)layer->dv);
	if (layer->decays)
		sk_call_integer(canonical, call, "decays", (int64_t)layer->decays);
	if (layer->betas)
		sk_call_integer(canonical, call, "betas", (int64_t)layer->betas);
	if (layer->delta)
		sk_call_integer(canonical, call, "delta", 1);
	sk_call_real(canonical, call, "scale", scale != 0 ? scale : 1 / sqrt((double)layer->dk));
	for (size_t i = QUERY; i <= VALUE; i++)
		sk_call_input(canonical, call, sk_operand_flat(graph, inputs[i]));
	sk_call_input(canonical, call, sk_operand_flat(graph, inputs[layer->decays ? DECAY : QUERY]));
	sk_call_input(canonical, call, sk_operand_flat(graph, inputs[layer->betas ? BETA : QUERY]));
	sk_call_input(canonical, call,
		      inputs[PAST] == SK_NONE ? sk_operand_flat(graph, SK_NONE)
					      : sk_operand_shaped(graph, inputs[PAST], 2, states));
	sk_call_output(canonical, call,
		       sk_operand_shaped(graph, y, 2, (uint64_t[]){rows, layer->steps * layer->group * layer->dv}));
	sk_call_output(canonical, call, sk_operand_shaped(graph, state, 2, states));
}

static bool canonical_layer(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	uint32_t output = sk_canonical_output(canonical, 0), present = sk_canonical_output(canonical, 1), y, state, to;
	struct layer layer;

	if (!read_layer(&inference, &layer))
		return false;

	uint64_t width = layer.group * layer.dv;
	const uint64_t shape[4] = {layer.batches, layer.heads, layer.steps, width};
	const struct sk_arrangement back = {.rank = 4,
					    .shape = {layer.batches, layer.steps, layer.heads, width},
					    .strides = {(int64_t)(layer.heads * layer.steps * width), (int64_t)width,
							(int64_t)(layer.steps * width), 1}};

	state = f32_output(canonical, 1, 4, (uint64_t[]){layer.batches, layer.heads, layer.dk, layer.dv});
	if (layer.steps == 1 || layer.heads == 1)
		y = f32_output(canonical, 0, 4, shape);
	else
		y = sk_graph_new_value(graph, "heads", SK_F32, 4, shape);
	add_layer(canonical, &layer, y, state);
	if (present != SK_NONE && state != present)
		sk_canonical_store(canonical, present, state);
	if (output == SK_NONE || y == output)
		return true;
	to = y;
	if (layer.steps != 1 && layer.heads != 1) {
		to = f32_output(canonical, 0, 4, back.shape);
		if (!sk_canonical_arrange(canonical, sk_operand_flat(graph, to), y, &back))
			return false;
	}
	if (to != output)
		sk_canonical_store(canonical, output, to);
	return true;
}

/* ---- CausalConvWithState: a convolution of each channel with the rows before ---- */

static bool expand_convolution(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	enum { X, WEIGHT, BIAS, STATE };
	const struct sk_expansion expansion = {graph, node, nodes};
	uint32_t x = sk_expansion_input(&expansion, X), w = sk_expansion_input(&expansion, WEIGHT), all, y, to;
	uint32_t bias = sk_expansion_input(&expansion, BIAS), past = sk_expansion_input(&expansion, STATE);
	uint32_t present = sk_expansion_output(&expansion, 1);
	const struct sk_value *from = sk_expansion_read(&expansion, x), *weight = sk_expansion_read(&expansion, w);
	const char *activation = sk_node_string(node, "activation", "none");
	bool plain = !strcmp(activation, "none");
	int64_t before, channels, last = -1, end = INT64_MAX;

	if (from->rank != 3 || weight->rank != 3 || weight->shape[0] != from->shape[1] || weight->shape[1] != 1 ||
	    !weight->shape[2] || weight->shape[2] > INT32_MAX || from->shape[1] > INT32_MAX)
		return sk_expansion_refuse(&expansion,
					   "'%s' is not [batch, channels, steps], or '%s' not [channels, 1, k]",
					   from->name, weight->name);
	if (!plain && strcmp(activation, "silu") && strcmp(activation, "swish"))
		return sk_expansion_refuse(&expansion, "activation '%s' is not none, silu or swish", activation);
	before = (int64_t)weight->shape[2] - 1;
	channels = (int64_t)from->shape[1];
	if (past == SK_NONE) {
		all = SK_EXPANSION(&expansion, "Pad", x,
				   sk_expansion_integers(&expansion, 6, (const int64_t[]){0, 0, before, 0, 0, 0}));
	} else {
		all = SK_EXPANSION(&expansion, "Concat", past, x);
		sk_expansion_set(&expansion, "axis", 2);
	}
	y = bias == SK_NONE ? SK_EXPANSION(&expansion, "Conv", all, w) : SK_EXPANSION(&expansion, "Conv", all, w, bias);
	sk_expansion_set(&expansion, "group", channels);
	to = plain ? y : SK_EXPANSION(&expansion, "Swish", y);
	sk_expansion_into(&expansion, "Identity", 1, &to, sk_expansion_output(&expansion, 0));
	before = before ? -before : end;
	if (present != SK_NONE)
		sk_expansion_into(&expansion, "Slice", 4,
				  (const uint32_t[]){all, sk_expansion_integers(&expansion, 1, &before),
						     sk_expansion_integers(&expansion, 1, &end),
						     sk_expansion_integers(&expansion, 1, &last)},
				  present);
	return true;
}

/* ---- the table ---- */

static const struct sk_schema_attribute linear[] = {{"chunk_size", SK_ATTRIBUTE_INTEGER, .integer = 64},
						    {"kv_num_heads", SK_ATTRIBUTE_INTEGER, .required = true},
						    {"q_num_heads", SK_ATTRIBUTE_INTEGER, .required = true},
						    {"scale", SK_ATTRIBUTE_REAL},
						    {"update_rule", SK_ATTRIBUTE_STRING, .string = "gated_delta"},
						    {NULL}};
static const struct sk_schema_attribute convolution[] = {{"activation", SK_ATTRIBUTE_STRING, .string = "none"}, {NULL}};

const struct sk_schema sk_operators_linear_attention[] = {
	{"CausalConvWithState", "", 2, 4, 1, 2, .attributes = convolution, .expand = expand_convolution},
	{"LinearAttention", "", 3, 6, 1, 2, .attributes = linear, .infer = infer_layer, .canonical = canonical_layer},
	{NULL},
};
