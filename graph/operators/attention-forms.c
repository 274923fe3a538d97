/* Attention with parts that its kernel lacks: windows become a mask, and Attention with its scores as an output, and
 * FlexAttention, become products and a Softmax. */
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

enum { QUERY, KEY, VALUE, MASK, PAST_KEY, PAST_VALUE, LENGTHS };
enum { F32 = 1, F64 = 11 }; /* TensorProto.DataType */

/* The tensors of an attention: queries, keys and values by heads, keys with the past ones. */
struct form {
	const struct sk_expansion *expansion;
	uint32_t q, k, v; /* [batch, heads, rows, width] */
	int64_t heads, shared; /* of queries; of keys */
	int64_t width; /* of a head of queries */
	bool flat; /* the result is [batch, rows, width of all heads] */
};

static bool has_windows(const struct sk_graph_node *node)
{
	return sk_node_integer(node, "left_window_size", -1) >= 0 ||
	       sk_node_integer(node, "right_window_size", -1) >= 0;
}

static bool has_scores(const struct sk_graph_node *node)
{
	return node->outputs.count > 3 && node->outputs.items[3] != SK_NONE;
}

bool sk_attention_is_other(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	(void)graph;
	return has_windows(node) || has_scores(node);
}

/* ---- masks ---- */

/* Return the axis of the rows of keys. */
static int64_t rows_axis(const struct sk_expansion *expansion, uint32_t value)
{
	return sk_expansion_read(expansion, value)->rank == 3 ? 1 : 2;
}

static uint32_t given_rows(const struct sk_expansion *expansion, size_t number)
{
	uint32_t value = sk_expansion_input(expansion, number);

	return sk_expansion_dimension(expansion, value, rows_axis(expansion, value));
}

/* Return the position of each query among the keys: i64 [rows, 1], or [batch, 1, rows, 1]. */
static uint32_t positions(const struct sk_expansion *expansion)
{
	uint32_t past = sk_expansion_input(expansion, PAST_KEY), lengths = sk_expansion_input(expansion, LENGTHS);
	uint32_t rows = given_rows(expansion, QUERY), places;

	places = sk_expansion_unsqueeze(expansion, sk_expansion_count_to(expansion, rows), 1, (const int64_t[]){1});
	if (past != SK_NONE)
		return sk_expansion_binary(expansion, "Add", places, sk_expansion_dimension(expansion, past, 2));
	if (lengths == SK_NONE)
		return places;
	lengths = sk_expansion_binary(expansion, "Sub", lengths, rows);
	lengths = sk_expansion_unsqueeze(expansion, lengths, 3, (const int64_t[]){1, 2, 3});
	return sk_expansion_binary(expansion, "Add", places, lengths);
}

/* Return the conjunction of two masks of bools, of which either may be absent. */
static uint32_t both(const struct sk_expansion *expansion, uint32_t a, uint32_t b)
{
	if (a == SK_NONE || b == SK_NONE)
		return a == SK_NONE ? b : a;
	return sk_expansion_binary(expansion, "And", a, b);
}

/* Return which of the keys a query sees by windows, and, with `all`, by causality and lengths; NONE: all of them. */
static uint32_t seen_keys(const struct sk_expansion *expansion, uint32_t keys, bool all)
{
	const struct sk_graph_node *node = expansion->node;
	int64_t left = sk_node_integer(node, "left_window_size", -1);
	int64_t right = sk_node_integer(node, "right_window_size", -1);
	uint32_t lengths = sk_expansion_input(expansion, LENGTHS);
	uint32_t places = sk_expansion_count_to(expansion, keys), at = positions(expansion), seen = SK_NONE, end;

	if (all && sk_node_integer(node, "is_causal", 0))
		seen = sk_expansion_binary(expansion, "LessOrEqual", places, at);
	if (all && lengths != SK_NONE)
		seen = both(
			expansion, seen,
			sk_expansion_binary(expansion, "Less", places,
					    sk_expansion_unsqueeze(expansion, lengths, 3, (const int64_t[]){1, 2, 3})));
	if (left >= 0) {
		end = sk_expansion_binary(expansion, "Sub", at, sk_expansion_integers(expansion, 1, &left));
		seen = both(expansion, seen, sk_expansion_binary(expansion, "GreaterOrEqual", places, end));
	}
	if (right >= 0) {
		end = sk_expansion_binary(expansion, "Add", at, sk_expansion_integers(expansion, 1, &right));
		seen = both(expansion, seen, sk_expansion_binary(expansion, "LessOrEqual", places, end));
	}
	return seen;
}

/* Return a mask of bools, or of summands, for the keys that are seen only. */
static uint32_t narrowed(const struct sk_expansion *expansion, uint32_t mask, uint32_t seen)
{
	if (mask == SK_NONE || seen == SK_NONE)
		return mask == SK_NONE ? seen : mask;
	if (sk_expansion_read(expansion, mask)->dtype == SK_BOOL)
		return both(expansion, mask, seen);
	return SK_EXPANSION(expansion, "Where", seen, mask, sk_expansion_real(expansion, -INFINITY, mask));
}

/* The same Attention with a mask in place of windows. */
static bool expand_windows(const struct sk_expansion *expansion)
{
	static const char *const kept[] = {"is_causal", "kv_num_heads", "q_num_heads",
					   "scale",	"softcap",	"softmax_precision"};
	const struct sk_graph_node *node = expansion->node;
	uint32_t mask = sk_expansion_input(expansion, MASK), keys, inputs[LENGTHS + 1];
	size_t count = node->inputs.count < MASK + 1 ? MASK + 1 : node->inputs.count;
	struct sk_graph_node *made;

	if (mask != SK_NONE && sk_expansion_read(expansion, mask)->rank) {
		keys = sk_expansion_dimension(expansion, mask, -1); /* keys after its end take no part */
	} else {
		keys = given_rows(expansion, KEY);
		if (sk_expansion_input(expansion, PAST_KEY) != SK_NONE)
			keys = sk_expansion_binary(
				expansion, "Add", keys,
				sk_expansion_dimension(expansion, sk_expansion_input(expansion, PAST_KEY), 2));
	}
	for (size_t i = 0; i < count; i++)
		inputs[i] = sk_expansion_input(expansion, i);
	inputs[MASK] = narrowed(expansion, mask, seen_keys(expansion, keys, false));
	sk_expansion_into(expansion, "Attention", count, inputs, sk_expansion_output(expansion, 0));
	made = sk_expansion_last(expansion);
	for (size_t i = 1; i < node->outputs.count; i++)
		sk_array_push(expansion->graph->arena, &made->outputs, node->outputs.items[i]);
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		sk_expansion_keep(expansion, kept[i], kept[i]);
	return true;
}

/* ---- products ---- */

static bool read_heads(const struct sk_expansion *expansion, struct form *form)
{
	const struct sk_graph_node *node = expansion->node;
	uint32_t *const rows[3] = {&form->q, &form->k, &form->v};
	int64_t heads[3] = {sk_node_integer(node, "q_num_heads", 0), sk_node_integer(node, "kv_num_heads", 0),
			    sk_node_integer(node, "kv_num_heads", 0)};
	int64_t widths[3];

	form->flat = sk_expansion_read(expansion, sk_expansion_input(expansion, QUERY))->rank == 3;
	for (size_t i = 0; i < 3; i++) {
		const struct sk_value *value = sk_expansion_read(expansion, sk_expansion_input(expansion, i));

		if (!sk_value_is_float(value) || (value->rank != 3 && value->rank != 4))
			return sk_expansion_refuse(expansion, "'%s' is not a tensor of floats of 3 or 4 dimensions",
						   value->name);
		if (value->rank == 4)
			heads[i] = (int64_t)value->shape[1];
		widths[i] = (int64_t)value->shape[value->rank - 1] / (value->rank == 3 && heads[i] > 0 ? heads[i] : 1);
		if (heads[i] < 1 || widths[i] < 1 ||
		    (value->rank == 3 && (uint64_t)(heads[i] * widths[i]) != value->shape[2]))
			return sk_expansion_refuse(expansion, "'%s' has no heads of one width", value->name);
		*rows[i] = sk_expansion_input(expansion, i);
		if (value->rank == 3)
			*rows[i] = sk_expansion_heads(expansion, *rows[i], heads[i]);
	}
	form->heads = heads[0];
	form->shared = heads[1];
	form->width = widths[0];
	if (heads[0] % heads[1] || heads[1] != heads[2] || widths[0] != widths[1])
		return sk_expansion_refuse(expansion,
					   "%" PRIi64 " heads of queries cannot share %" PRIi64
					   " heads of keys, or their widths differ",
					   heads[0], heads[1]);
	return true;
}

/* Return the keys, or values, after past ones, which are also the output. */
static uint32_t joined(const struct sk_expansion *expansion, uint32_t rows, size_t past, size_t output)
{
	uint32_t before = sk_expansion_input(expansion, past), to = sk_expansion_output(expansion, output);

	if (before == SK_NONE && to == SK_NONE)
		return rows;
	if (to == SK_NONE)
		to = sk_expansion_value(expansion);
	if (before == SK_NONE) {
		sk_expansion_into(expansion, "Identity", 1, &rows, to);
		return rows;
	}
	sk_expansion_into(expansion, "Concat", 2, (const uint32_t[]){before, rows}, to);
	sk_expansion_set(expansion, "axis", 2);
	return to;
}

static uint32_t cast_to(const struct sk_expansion *expansion, uint32_t value, int64_t type)
{
	uint32_t to = SK_EXPANSION(expansion, "Cast", value);

	sk_expansion_set(expansion, "to", type);
	return to;
}

/* Return the product of [batch, heads, rows, n] and [batch, shared, n, m]. `inner` is n; 0: sizes may decide it. */
static uint32_t share_product(const struct form *form, uint32_t a, uint32_t b, int64_t inner)
{
	const struct sk_expansion *expansion = form->expansion;
	const int64_t apart[5] = {0, form->shared, form->heads / form->shared, -1, inner};
	const int64_t heads = form->heads;
	sk_graph_sequence sizes = {NULL, 0, 0};
	uint32_t product, shape = sk_expansion_value(expansion);
	struct sk_arena *arena = expansion->graph->arena;

	if (form->heads == form->shared)
		return sk_expansion_binary(expansion, "MatMul", a, b);
	if (inner) {
		product = sk_expansion_reshape(expansion, a, 5, apart);
	} else {
		sk_graph_sequence five = {NULL, 0, 0};
		uint32_t all = sk_expansion_value(expansion);

		sk_array_push(arena, &five, sk_expansion_integers(expansion, 3, apart));
		sk_array_push(arena, &five, sk_expansion_dimension(expansion, a, 2));
		sk_array_push(arena, &five, sk_expansion_dimension(expansion, a, 3));
		sk_expansion_concat(expansion, &five, 0, false, all);
		product = SK_EXPANSION(expansion, "Reshape", a, all);
	}
	b = sk_expansion_unsqueeze(expansion, b, 1, (const int64_t[]){2});
	product = sk_expansion_binary(expansion, "MatMul", product, b);
	sk_array_push(arena, &sizes, sk_expansion_dimension(expansion, a, 0));
	sk_array_push(arena, &sizes, sk_expansion_integers(expansion, 1, &heads));
	sk_array_push(arena, &sizes, sk_expansion_dimension(expansion, product, 3));
	sk_array_push(arena, &sizes, sk_expansion_dimension(expansion, product, 4));
	sk_expansion_concat(expansion, &sizes, 0, false, shape);
	return SK_EXPANSION(expansion, "Reshape", product, shape);
}

/* Return queries times keys times the scale, in the type of the computation. */
static uint32_t scores_of(const struct form *form, int64_t type)
{
	static const int64_t order[] = {0, 1, 3, 2};
	const struct sk_expansion *expansion = form->expansion;
	double scale = sk_node_attribute(expansion->node, "scale") ? sk_node_real(expansion->node, "scale", 0)
								   : 1 / sqrt((double)form->width);
	uint32_t q = cast_to(expansion, form->q, type), k = cast_to(expansion, form->k, type);

	k = sk_expansion_transpose(expansion, k, 4, order);
	q = sk_expansion_binary(expansion, "Mul", q, sk_expansion_real(expansion, scale, q));
	return share_product(form, q, k, form->width);
}

/* Append the result: probabilities times values, in the type of the queries. */
static void add_result(const struct form *form, uint32_t probabilities, int64_t type)
{
	static const int64_t order[] = {0, 2, 1, 3}, flat[] = {0, 0, -1};
	const struct sk_expansion *expansion = form->expansion;
	uint32_t y = share_product(form, probabilities, cast_to(expansion, form->v, type), 0);

	if (form->flat)
		y = sk_expansion_reshape(expansion, sk_expansion_transpose(expansion, y, 4, order), 3, flat);
	sk_expansion_into(expansion, "CastLike", 2, (const uint32_t[]){y, sk_expansion_input(expansion, QUERY)},
			  sk_expansion_output(expansion, 0));
}

static uint32_t softmax(const struct sk_expansion *expansion, uint32_t scores)
{
	uint32_t to = SK_EXPANSION(expansion, "Softmax", scores);

	sk_expansion_set(expansion, "axis", -1);
	return to;
}

/* Scores are an output in four stages: 0 products, 1 after the soft cap, 2 after masks, 3 probabilities. */
static void deliver(const struct sk_expansion *expansion, uint32_t scores, int64_t stage)
{
	if (sk_node_integer(expansion->node, "qk_matmul_output_mode", 0) == stage)
		sk_expansion_into(expansion, "CastLike", 2,
				  (const uint32_t[]){scores, sk_expansion_input(expansion, QUERY)},
				  sk_expansion_output(expansion, 3));
}

/* Return the scores after masks. Those of keys that take no part are minus infinity. */
static uint32_t masked(const struct form *form, uint32_t scores, uint32_t mask)
{
	const struct sk_expansion *expansion = form->expansion;
	uint32_t keys = sk_expansion_dimension(expansion, form->k, 2), own;
	uint32_t none = sk_expansion_real(expansion, -INFINITY, scores), seen = seen_keys(expansion, keys, true);
	const struct sk_value *value = sk_expansion_read(expansion, mask);

	if (value && value->dtype == SK_BOOL)
		mask = SK_EXPANSION(expansion, "Where", mask, sk_expansion_real(expansion, 0, scores), none);
	else if (value)
		mask = sk_expansion_binary(expansion, "CastLike", mask, scores);
	if (value && value->rank) { /* keys after its end take no part */
		const int64_t last = -1, zero = 0;
		sk_graph_sequence ends = {NULL, 0, 0};
		uint32_t pads = sk_expansion_value(expansion);

		own = sk_expansion_binary(expansion, "Sub", keys, sk_expansion_dimension(expansion, mask, -1));
		sk_array_push(expansion->graph->arena, &ends, sk_expansion_integers(expansion, 1, &zero));
		sk_array_push(expansion->graph->arena, &ends, own);
		sk_expansion_concat(expansion, &ends, 0, false, pads);
		mask = SK_EXPANSION(expansion, "Pad", mask, pads, none, sk_expansion_integers(expansion, 1, &last));
	}
	if (value)
		scores = sk_expansion_binary(expansion, "Add", scores, mask);
	return seen == SK_NONE ? scores : SK_EXPANSION(expansion, "Where", seen, scores, none);
}

/* Return the probabilities. A query without keys has none. */
static uint32_t probabilities_of(const struct sk_expansion *expansion, uint32_t scores)
{
	const int64_t last = -1;
	uint32_t most = SK_EXPANSION(expansion, "ReduceMax", scores, sk_expansion_integers(expansion, 1, &last));
	uint32_t none = sk_expansion_real(expansion, -INFINITY, scores);

	return SK_EXPANSION(expansion, "Where", sk_expansion_binary(expansion, "Equal", most, none),
			    sk_expansion_real(expansion, 0, scores), softmax(expansion, scores));
}

static bool expand_scores(const struct sk_expansion *expansion)
{
	const struct sk_graph_node *node = expansion->node;
	double cap = sk_node_real(node, "softcap", 0);
	int64_t stage = sk_node_integer(node, "qk_matmul_output_mode", 0);
	int64_t type = sk_expansion_read(expansion, sk_expansion_input(expansion, QUERY))->dtype == SK_F64 ? F64 : F32;
	struct form form = {.expansion = expansion};
	uint32_t scores, limit;

	if (!read_heads(expansion, &form))
		return false;
	if (stage < 0 || stage > 3)
		return sk_expansion_refuse(expansion, "qk_matmul_output_mode is %" PRIi64 ", and 0 to 3 are known",
					   stage);
	form.k = joined(expansion, form.k, PAST_KEY, 1);
	form.v = joined(expansion, form.v, PAST_VALUE, 2);
	scores = scores_of(&form, type);
	deliver(expansion, scores, 0);
	if (cap != 0) {
		limit = sk_expansion_real(expansion, cap, scores);
		scores = SK_EXPANSION(expansion, "Tanh", sk_expansion_binary(expansion, "Div", scores, limit));
		scores = sk_expansion_binary(expansion, "Mul", scores, limit);
	}
	deliver(expansion, scores, 1);
	scores = masked(&form, scores, sk_expansion_input(expansion, MASK));
	deliver(expansion, scores, 2);
	scores = probabilities_of(expansion, scores);
	deliver(expansion, scores, 3);
	add_result(&form, scores, type);
	return true;
}

bool sk_attention_expand_other(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};

	return has_scores(node) ? expand_scores(&expansion) : expand_windows(&expansion);
}

/* ---- FlexAttention ---- */

/* Return the value as the body of that name changes it. NONE after an error. */
static uint32_t changed(const struct sk_expansion *expansion, const char *name, uint32_t value)
{
	const struct sk_graph_node *node = expansion->node;
	const struct sk_op_graph *body = NULL;
	const uint32_t *results;

	for (size_t i = 0; i < node->graphs.count; i++)
		if (!strcmp(node->graphs.items[i].name, name))
			body = node->graphs.items[i].graph;
	if (!body)
		return value;
	if (body->inputs.count != 1 || body->outputs.count != 1) {
		sk_expansion_refuse(expansion, "%s does not have one input and one output", name);
		return SK_NONE;
	}
	results = sk_inline_body(
		expansion, body,
		sk_arena_print(expansion->graph->arena, "%s/%s", sk_node_name(expansion->graph, node), name), &value);
	return results ? results[0] : SK_NONE;
}

static bool expand_flex(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	enum sk_dtype dtype = sk_expansion_read(&expansion, sk_expansion_input(&expansion, QUERY))->dtype;
	int64_t type = dtype == SK_F64 ? F64 : F32, precision = sk_node_integer(node, "softmax_precision", type);
	struct form form = {.expansion = &expansion};
	uint32_t scores;

	if (!read_heads(&expansion, &form))
		return false;
	if (form.flat)
		return sk_expansion_refuse(&expansion, "its inputs do not have 4 dimensions");
	scores = cast_to(&expansion, scores_of(&form, type), precision);
	scores = changed(&expansion, "score_mod", scores);
	if (scores == SK_NONE)
		return false;
	scores = changed(&expansion, "prob_mod", softmax(&expansion, scores));
	if (scores == SK_NONE)
		return false;
	add_result(&form, scores, precision);
	return true;
}

/* ---- the table ---- */

static const struct sk_schema_attribute flex[] = {
	{"scale", SK_ATTRIBUTE_REAL}, {"softmax_precision", SK_ATTRIBUTE_INTEGER}, {NULL}};

const struct sk_schema sk_operators_attention_forms[] = {
	{"FlexAttention", "ai.onnx.preview", 3, 3, 1, 1, .attributes = flex, .expand = expand_flex},
	{NULL},
};
