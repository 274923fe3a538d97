/* Attention of com.microsoft, in the forms of ONNX Runtime's optimiser (Attention, MultiHeadAttention, QAttention) and
 * of its model builder (GroupQueryAttention). Each becomes nodes around ONNX's Attention. The meaning is that of ONNX
 * Runtime's documentation (docs/ContribOperators.md), where it is silent that of its kernels for CPUs. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/sizes.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"
#include "graph/operators/operators.h"

#define MICROSOFT "com.microsoft"

/* The tensors of an attention, as values; SK_NONE: absent. */
struct attention {
	const struct sk_expansion *expansion;
	uint32_t q; /* [batch, rows, heads * width] */
	uint32_t k, v; /* [batch, rows, heads * width], or with the dimensions [batch, heads, rows, width] */
	uint32_t past_k, past_v; /* [batch, heads, rows, width] */
	uint32_t mask; /* added to the scores, broadcast to [batch, heads, rows, keys] */
	uint32_t lengths; /* keys of each batch, i64 [batch]; then causal queries are the last of these */
	uint32_t sinks; /* the score of one more key without a value, for each head */
	int64_t heads, key_heads;
	bool causal;
};

/* Refuse inputs that are present, from `first` to `last`. */
static bool check_absent(const struct sk_expansion *expansion, size_t first, size_t last)
{
	for (size_t i = first; i <= last; i++) {
		const struct sk_value *value = sk_expansion_read(expansion, sk_expansion_input(expansion, i));

		if (value)
			return sk_expansion_refuse(expansion, "input %zu ('%s') is not supported", i, value->name);
	}
	return true;
}

/* Refuse outputs that are used, from `first` on. */
static bool check_outputs(const struct sk_expansion *expansion, size_t first)
{
	for (size_t i = first; i < expansion->node->outputs.count; i++)
		if (expansion->node->outputs.items[i] != SK_NONE)
			return sk_expansion_refuse(
				expansion, "output %zu ('%s') is not supported", i,
				sk_expansion_read(expansion, expansion->node->outputs.items[i])->name);
	return true;
}

/* Return the sum of two masks, of which either may be absent. */
static uint32_t add_masks(const struct sk_expansion *expansion, uint32_t a, uint32_t b)
{
	if (a == SK_NONE || b == SK_NONE)
		return a == SK_NONE ? b : a;
	return SK_EXPANSION(expansion, "Add", a, b);
}

/* Append the Attention. Its outputs are `result` and, unless they are absent, the present keys and values. */
static void add_attention(const struct attention *attention, uint32_t result, uint32_t present_k, uint32_t present_v)
{
	const struct sk_expansion *expansion = attention->expansion;
	struct sk_arena *arena = expansion->graph->arena;
	const uint32_t inputs[] = {attention->q,      attention->k,	 attention->v,	     attention->mask,
				   attention->past_k, attention->past_v, attention->lengths, attention->sinks};
	size_t count = sizeof(inputs) / sizeof(*inputs);
	struct sk_graph_node *node;

	while (inputs[count - 1] == SK_NONE)
		count--;
	sk_expansion_into(expansion, count > 7 ? "SinkAttention" : "Attention", count, inputs, result);
	node = sk_expansion_last(expansion);
	if (count > 7)
		node->domain = SK_OWN_DOMAIN;
	if (present_k != SK_NONE || present_v != SK_NONE) {
		sk_array_push(arena, &node->outputs, present_k);
		sk_array_push(arena, &node->outputs, present_v);
	}
	sk_expansion_set(expansion, "q_num_heads", attention->heads);
	sk_expansion_set(expansion, "kv_num_heads", attention->key_heads);
	sk_expansion_set(expansion, "is_causal", attention->causal);
	if (sk_node_real(expansion->node, "scale", 0) != 0)
		sk_expansion_keep(expansion, "scale", "scale");
	sk_expansion_keep(expansion, "softcap", "softcap");
}

/* ---- GroupQueryAttention ---- */

enum gqa { QUERY, KEY, VALUE, PAST_KEY, PAST_VALUE, LAST_KEYS, TOTAL, COSINES, SINES, POSITIONS, BIAS, SINK };

struct group {
	struct attention attention;
	uint32_t rows, total; /* sizes as lists of one i64: new rows, and all keys */
	uint32_t prompt; /* true for a prompt, whose keys are all new: a list of one bool */
	uint32_t begins; /* i64 [batch]: the position of the first new row */
	bool appends; /* new rows follow the past ones; else they are written into them, a buffer of all keys */
};

/* Read the total as a size; NULL after an error. */
static const struct sk_size *total_size(const struct sk_symbolic *symbolic)
{
	const struct sk_value *total = sk_node_input(symbolic->graph, symbolic->node, TOTAL);
	const struct sk_size *const *terms;
	uint64_t count;

	terms = sk_symbolic_terms(symbolic, total, &count);
	return terms && count == 1 ? terms[0] : NULL;
}

/* Decide whether new rows are appended. Only sizes decide, so it holds for all of them. */
static bool read_form(struct group *group)
{
	const struct sk_expansion *expansion = group->attention.expansion;
	struct sk_op_graph *graph = expansion->graph;
	struct sk_sizes *sizes = graph->sizes ? graph->sizes : sk_sizes_create(graph->arena);
	const struct sk_symbolic symbolic = {graph, (struct sk_graph_node *)(uintptr_t)expansion->node, NULL, sizes};
	const struct sk_value *past = sk_expansion_read(expansion, group->attention.past_k);
	const struct sk_size *total = total_size(&symbolic), *zero = sk_size_number(sizes, 0);
	const struct sk_size *rows = sk_symbolic_size(&symbolic, sk_expansion_read(expansion, group->attention.q), 1);
	const struct sk_size *before = past ? sk_symbolic_size(&symbolic, past, 2) : zero;

	if (!total || !rows || !before)
		return sk_expansion_refuse(expansion,
					   "total_sequence_length is not one number, or expression of dimensions");
	group->appends = sk_size_compare(sizes, total, sk_size_add(sizes, before, rows)) == SK_SIZE_EQUAL;
	if (group->appends || sk_size_at_most(sk_size_compare(sizes, total, before)))
		return true;
	return sk_expansion_refuse(
		expansion,
		"total_sequence_length is neither the sum of the rows of '%s' and of the queries, nor at most the "
		"rows of '%s', which are then a buffer",
		past ? past->name : "past_key", past ? past->name : "past_key");
}

static bool check_group(const struct sk_expansion *expansion, int64_t heads, int64_t key_heads)
{
	const struct sk_value *q = sk_expansion_read(expansion, sk_expansion_input(expansion, QUERY));
	int64_t all = heads + (sk_expansion_input(expansion, KEY) == SK_NONE ? 2 * key_heads : 0);

	if (sk_expansion_input(expansion, LAST_KEYS) == SK_NONE || sk_expansion_input(expansion, TOTAL) == SK_NONE)
		return sk_expansion_refuse(expansion, "seqlens_k or total_sequence_length is absent");
	if ((sk_expansion_input(expansion, KEY) == SK_NONE) != (sk_expansion_input(expansion, VALUE) == SK_NONE) ||
	    (sk_expansion_input(expansion, PAST_KEY) == SK_NONE) !=
		    (sk_expansion_input(expansion, PAST_VALUE) == SK_NONE))
		return sk_expansion_refuse(expansion, "keys and values, and past keys and past values, come together");
	if (heads < 1 || key_heads < 1 || heads > INT32_MAX || key_heads > INT32_MAX || heads % key_heads)
		return sk_expansion_refuse(expansion,
					   "num_heads %" PRIi64 " is not a multiple of kv_num_heads %" PRIi64, heads,
					   key_heads);
	if (q->rank != 3 || !q->shape[2] || q->shape[2] % (uint64_t)all)
		return sk_expansion_refuse(expansion,
					   "'%s' does not have 3 dimensions, of which the last is %" PRIi64 " heads",
					   q->name, all);
	if (!sk_node_integer(expansion->node, "local_window_size", -1))
		return sk_expansion_refuse(expansion, "local_window_size is 0, a window without keys");
	if (strcmp(sk_node_string(expansion->node, "k_quant_type", "NONE"), "NONE") ||
	    strcmp(sk_node_string(expansion->node, "v_quant_type", "NONE"), "NONE") ||
	    sk_node_integer(expansion->node, "kv_cache_bit_width", 0) ||
	    sk_node_integer(expansion->node, "qk_output", 0))
		return sk_expansion_refuse(expansion, "quantised caches and qk_output are not supported");
	return check_absent(expansion, SINK + 1, SINK + 2) && check_outputs(expansion, 3);
}

/* Split packed queries, keys and values. */
static void unpack(struct attention *attention)
{
	const struct sk_expansion *expansion = attention->expansion;
	const struct sk_value *q = sk_expansion_read(expansion, attention->q);
	int64_t width = (int64_t)(q->shape[2] / (uint64_t)(attention->heads + 2 * attention->key_heads));
	const int64_t sizes[3] = {attention->heads * width, attention->key_heads * width, attention->key_heads * width};
	uint32_t pieces[3];

	sk_expansion_split(expansion, attention->q, 2, 3, sizes, pieces);
	attention->q = pieces[0];
	attention->k = pieces[1];
	attention->v = pieces[2];
}

/* A batch with fewer keys than there are new ones would begin before its buffer: that ends the run, as the index of a
 * row that the buffer does not have. */
static void check_begins(struct group *group)
{
	const struct sk_expansion *expansion = group->attention.expansion;
	const int64_t zero = 0;
	uint32_t rows = sk_expansion_dimension(expansion, group->attention.past_k, 2), negative, places;

	negative = SK_EXPANSION(expansion, "Less", group->begins, sk_expansion_integers(expansion, 1, &zero));
	places = SK_EXPANSION(expansion, "Where", negative, rows, group->begins);
	group->begins = SK_EXPANSION(expansion, "Gather", sk_expansion_count_to(expansion, rows), places);
	sk_expansion_last(expansion)->name =
		sk_arena_print(expansion->graph->arena, "%s/seqlens_k + 1 is at least the new rows for each batch",
			       sk_node_name(expansion->graph, expansion->node));
}

/* Compute where new rows begin, and the keys of each batch. In a prompt, whose keys are all new, rows begin at 0, and
 * rows of padding behind a batch's last key take part as others do. Otherwise a batch has seqlens_k + 1 keys, of which
 * the new ones are the last. Rows can only be appended if that is the total for all batches; a batch with another
 * number ends the run, by an index out of range. */
static void place_rows(struct group *group)
{
	const struct sk_expansion *expansion = group->attention.expansion;
	struct sk_op_graph *graph = expansion->graph;
	const int64_t one = 1, flat = -1, zero = 0;
	uint32_t counts = sk_expansion_cast(
		expansion, sk_expansion_reshape(expansion, sk_expansion_input(expansion, LAST_KEYS), 1, &flat),
		SK_EXPANSION_I64);
	uint32_t none = sk_expansion_integers(expansion, 1, &zero), differs;

	group->rows = sk_expansion_dimension(expansion, sk_expansion_input(expansion, QUERY), 1);
	group->total = sk_expansion_cast(
		expansion, sk_expansion_reshape(expansion, sk_expansion_input(expansion, TOTAL), 1, &flat),
		SK_EXPANSION_I64);
	counts = SK_EXPANSION(expansion, "Add", counts, sk_expansion_integers(expansion, 1, &one));
	group->prompt = SK_EXPANSION(expansion, "Equal", group->rows, group->total);
	if (group->appends) {
		differs = SK_EXPANSION(expansion, "Sub", counts, group->total);
		differs = SK_EXPANSION(expansion, "Add", differs, differs); /* -1 would be the last row */
		differs = SK_EXPANSION(expansion, "Where", group->prompt, none, differs);
		group->attention.lengths = SK_EXPANSION(expansion, "Gather", group->total, differs);
		sk_expansion_last(expansion)->name =
			sk_arena_print(graph->arena, "%s/seqlens_k + 1 is total_sequence_length for each batch",
				       sk_node_name(graph, expansion->node));
		group->begins = SK_EXPANSION(expansion, "Sub", group->attention.lengths, group->rows);
	} else {
		group->begins = SK_EXPANSION(expansion, "Where", group->prompt, none,
					     SK_EXPANSION(expansion, "Sub", counts, group->rows));
		check_begins(group);
		group->attention.lengths = SK_EXPANSION(expansion, "Add", group->begins, group->rows);
	}
}

/* Return the given positions, i64 [batch, rows]; of those of a prompt, only the first one counts. */
static uint32_t given_positions(const struct group *group, uint32_t given)
{
	const struct sk_expansion *expansion = group->attention.expansion;
	const int64_t flat = -1, zero = 0;
	uint32_t first = sk_expansion_binary(expansion, "Gather", sk_expansion_reshape(expansion, given, 1, &flat),
					     sk_expansion_integers(expansion, 1, &zero));

	first = sk_expansion_binary(expansion, "Add", first, sk_expansion_count_to(expansion, group->rows));
	return SK_EXPANSION(expansion, "Where", group->prompt, first, given);
}

/* Return the positions of the new rows, i64 [batch, rows]. */
static uint32_t positions_of(const struct group *group)
{
	const struct sk_expansion *expansion = group->attention.expansion;

	return SK_EXPANSION(expansion, "Add", sk_expansion_unsqueeze(expansion, group->begins, 1, (const int64_t[]){1}),
			    sk_expansion_count_to(expansion, group->rows));
}

static uint32_t rotate(const struct group *group, uint32_t rows, uint32_t positions, int64_t heads)
{
	const struct sk_expansion *expansion = group->attention.expansion;
	const struct sk_value *table = sk_expansion_read(expansion, sk_expansion_input(expansion, COSINES));
	uint32_t to = SK_EXPANSION(expansion, "RotaryEmbedding", rows, positions,
				   sk_expansion_input(expansion, COSINES), sk_expansion_input(expansion, SINES));

	sk_expansion_last(expansion)->domain = MICROSOFT;
	sk_expansion_set(expansion, "num_heads", heads);
	sk_expansion_set(expansion, "rotary_embedding_dim", (int64_t)(2 * table->shape[table->rank - 1]));
	sk_expansion_keep(expansion, "rotary_interleaved", "interleaved");
	return to;
}

static bool rotate_rows(struct group *group)
{
	struct attention *attention = &group->attention;
	const struct sk_expansion *expansion = attention->expansion;
	const struct sk_value *cosines = sk_expansion_read(expansion, sk_expansion_input(expansion, COSINES));
	uint32_t positions = sk_expansion_input(expansion, POSITIONS);

	if (!sk_node_integer(expansion->node, "do_rotary", 0))
		return true;
	if (!cosines || sk_expansion_input(expansion, SINES) == SK_NONE || cosines->rank != 2 ||
	    cosines->shape[1] > INT32_MAX)
		return sk_expansion_refuse(expansion, "do_rotary needs cos_cache and sin_cache, of 2 dimensions each");
	positions = positions == SK_NONE ? positions_of(group) : given_positions(group, positions);
	attention->q = rotate(group, attention->q, positions, attention->heads);
	attention->k = rotate(group, attention->k, positions, attention->key_heads);
	return true;
}

/* Return the past keys, or values, with the new ones. */
static uint32_t present(const struct group *group, uint32_t past, uint32_t rows, uint32_t to)
{
	const struct sk_expansion *expansion = group->attention.expansion;

	rows = sk_expansion_heads(expansion, rows, group->attention.key_heads);
	if (to == SK_NONE)
		to = sk_expansion_value(expansion);
	if (past == SK_NONE) {
		sk_expansion_into(expansion, "Identity", 1, &rows, to);
	} else if (group->appends) {
		sk_expansion_into(expansion, "Concat", 2, (const uint32_t[]){past, rows}, to);
		sk_expansion_set(expansion, "axis", 2);
	} else {
		sk_expansion_into(expansion, "TensorScatter", 3, (const uint32_t[]){past, rows, group->begins}, to);
	}
	return to;
}

/* A summand of one key, whose buffer has more, is repeated for all of these: lengths exclude the others. Return how
 * many keys the summand is for: those of the buffer, or all that take part. */
static uint32_t widen_bias(struct group *group)
{
	struct attention *attention = &group->attention;
	const struct sk_expansion *expansion = attention->expansion;
	const struct sk_value *bias = sk_expansion_read(expansion, attention->mask);
	bool single = bias && bias->rank && bias->shape[bias->rank - 1] == 1;
	uint32_t keys;

	if (bias && (group->appends || !single))
		return group->total;
	keys = sk_expansion_dimension(expansion, attention->k, 2);
	if (single)
		attention->mask = sk_expansion_binary(expansion, "Expand", attention->mask, keys);
	return keys;
}

/* Add the mask of a window: a query attends to so many keys up to its own position. */
static void add_window(struct group *group, uint32_t keys)
{
	struct attention *attention = &group->attention;
	const struct sk_expansion *expansion = attention->expansion;
	int64_t window = sk_node_integer(expansion->node, "local_window_size", -1);
	uint32_t first, seen, added = attention->mask;

	if (window < 1)
		return;
	first = SK_EXPANSION(expansion, "Sub", positions_of(group), sk_expansion_integers(expansion, 1, &window));
	first = sk_expansion_unsqueeze(expansion, first, 2, (const int64_t[]){1, 3});
	seen = SK_EXPANSION(expansion, "Less", first, sk_expansion_count_to(expansion, keys));
	attention->mask = added == SK_NONE ? seen
					   : SK_EXPANSION(expansion, "Where", seen, added,
							  sk_expansion_real(expansion, -INFINITY, added));
}

/* Return a zero for each head, of the type of the value. */
static uint32_t zeros_like(const struct sk_expansion *expansion, int64_t heads, uint32_t like)
{
	return SK_EXPANSION(expansion, "Expand", sk_expansion_real(expansion, 0, like),
			    sk_expansion_integers(expansion, 1, &heads));
}

static bool expand_group(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	struct group group = {.attention = {.expansion = &expansion,
					    .q = sk_expansion_input(&expansion, QUERY),
					    .k = sk_expansion_input(&expansion, KEY),
					    .v = sk_expansion_input(&expansion, VALUE),
					    .past_k = sk_expansion_input(&expansion, PAST_KEY),
					    .past_v = sk_expansion_input(&expansion, PAST_VALUE),
					    .mask = sk_expansion_input(&expansion, BIAS),
					    .lengths = SK_NONE,
					    .sinks = sk_expansion_input(&expansion, SINK),
					    .heads = sk_node_integer(node, "num_heads", 0),
					    .key_heads = sk_node_integer(node, "kv_num_heads", 0),
					    .causal = true}};
	struct attention *attention = &group.attention;

	if (!check_group(&expansion, attention->heads, attention->key_heads) || !read_form(&group))
		return false;
	if (attention->k == SK_NONE)
		unpack(attention);
	place_rows(&group);
	if (!rotate_rows(&group))
		return false;
	attention->k = present(&group, attention->past_k, attention->k, sk_expansion_output(&expansion, 1));
	attention->v = present(&group, attention->past_v, attention->v, sk_expansion_output(&expansion, 2));
	attention->past_k = attention->past_v = SK_NONE;
	if (attention->sinks == SK_NONE && sk_node_integer(node, "smooth_softmax", 0) > 0)
		attention->sinks = zeros_like(&expansion, attention->heads, attention->q);
	add_window(&group, widen_bias(&group));
	add_attention(attention, sk_expansion_output(&expansion, 0), SK_NONE, SK_NONE);
	return true;
}

/* ---- masks of MultiHeadAttention, Attention and QAttention ---- */

/* Return the summand of the scores for keys that take part, or not: 0, or mask_filter_value. */
static uint32_t filter(const struct attention *attention, uint32_t seen)
{
	const struct sk_expansion *expansion = attention->expansion;
	double least = sk_node_real(expansion->node, "mask_filter_value", -10000);
	enum sk_dtype dtype = sk_expansion_read(expansion, sk_expansion_input(expansion, 0))->dtype;

	/* Finite in the type: scores of a query without keys are equal, not minus infinity. */
	if (dtype == SK_F16 && least < -65504)
		least = -65504;
	if (dtype == SK_BF16 && least < -0x1.fep127)
		least = -0x1.fep127;

	return SK_EXPANSION(expansion, "Where", seen, sk_expansion_real(expansion, 0, attention->q),
			    sk_expansion_real(expansion, least, attention->q));
}

/* Add a mask of integers: [batch] has the number of keys of each batch, [batch, keys] and [batch, rows, keys] say by a
 * number above 0 that a key takes part. `keys` is the number of all keys, a list of one i64. */
static bool add_filter(struct attention *attention, uint32_t mask, uint32_t keys)
{
	const struct sk_expansion *expansion = attention->expansion;
	const struct sk_value *value = sk_expansion_read(expansion, mask);
	const struct sk_value *x = sk_expansion_read(expansion, sk_expansion_input(expansion, 0));
	const int32_t none = 0;
	uint32_t seen;

	if (!value)
		return true;
	if (value->dtype != SK_I32 || value->rank < 1 || value->rank > 3 || value->shape[0] != x->shape[0])
		return sk_expansion_refuse(expansion,
					   "'%s' is %s %s, and an i32 [batch], [batch, keys] or [batch, rows, keys] is "
					   "supported",
					   value->name, sk_dtype_name(value->dtype),
					   sk_partial_shape_text(expansion->graph->arena, value->rank, value->shape));
	if (value->rank == 1) {
		seen = sk_expansion_unsqueeze(expansion, sk_expansion_cast(expansion, mask, SK_EXPANSION_I64), 3,
					      (const int64_t[]){1, 2, 3});
		seen = SK_EXPANSION(expansion, "Less", sk_expansion_count_to(expansion, keys), seen);
	} else {
		seen = SK_EXPANSION(expansion, "Greater", mask,
				    sk_graph_new_constant(expansion->graph, "none", SK_I32, 0, NULL, &none));
		seen = value->rank == 2 ? sk_expansion_unsqueeze(expansion, seen, 2, (const int64_t[]){1, 2})
					: sk_expansion_unsqueeze(expansion, seen, 1, (const int64_t[]){1});
	}
	attention->mask = add_masks(expansion, attention->mask, filter(attention, seen));
	return true;
}

/* Return the number of all keys as a list of one i64. */
static uint32_t all_keys(const struct attention *attention)
{
	const struct sk_expansion *expansion = attention->expansion;
	uint32_t keys = sk_expansion_dimension(expansion, attention->k,
					       sk_expansion_read(expansion, attention->k)->rank == 4 ? 2 : 1);

	if (attention->past_k == SK_NONE)
		return keys;
	return SK_EXPANSION(expansion, "Add", keys, sk_expansion_dimension(expansion, attention->past_k, 2));
}

/* ---- MultiHeadAttention ---- */

enum multi { BIASES = 3, PADDING, ADDED, PAST_K, PAST_V, PAST_LENGTH };

/* Return one of `count` tensors that are packed side by side along axis 3 of [batch, rows, heads, count, width]. */
static void take_packed(const struct attention *attention, uint32_t from, size_t count, uint32_t *to)
{
	const struct sk_expansion *expansion = attention->expansion;
	static const int64_t ones[3] = {1, 1, 1};
	const struct sk_value packed = *sk_expansion_read(expansion, from);
	const int64_t shape[3] = {0, 0, (int64_t)(packed.shape[2] * packed.shape[4])};

	sk_expansion_split(expansion, from, 3, count, ones, to);
	for (size_t i = 0; i < count; i++)
		to[i] = sk_expansion_reshape(expansion, to[i], 3, shape);
}

static bool is_packed(const struct attention *attention, uint32_t from, uint64_t count)
{
	const struct sk_value *value = sk_expansion_read(attention->expansion, from);

	return value && value->rank == 5 && value->shape[3] == count && value->shape[2] == (uint64_t)attention->heads &&
	       value->shape[4] && value->shape[4] < 1U << 30;
}

/* Read queries, keys and values in all forms. */
static bool read_multi(struct attention *attention)
{
	const struct sk_expansion *expansion = attention->expansion;
	const struct sk_value *q = sk_expansion_read(expansion, attention->q),
			      *k = sk_expansion_read(expansion, attention->k);
	uint32_t pieces[3];

	if (attention->heads < 1 || attention->heads > INT32_MAX)
		return sk_expansion_refuse(expansion, "num_heads is %" PRIi64, attention->heads);
	if (!k && attention->v == SK_NONE && is_packed(attention, attention->q, 3)) {
		take_packed(attention, attention->q, 3, pieces);
		attention->q = pieces[0];
		attention->k = pieces[1];
		attention->v = pieces[2];
		return true;
	}
	if (q->rank != 3)
		return sk_expansion_refuse(
			expansion,
			"'%s' has %u dimensions, and [batch, rows, width], or [batch, rows, heads, 3, "
			"width] without keys and values, is supported",
			q->name, q->rank);
	if (k && attention->v == SK_NONE && is_packed(attention, attention->k, 2)) {
		take_packed(attention, attention->k, 2, pieces);
		attention->k = pieces[0];
		attention->v = pieces[1];
		return true;
	}
	if (!k || attention->v == SK_NONE)
		return sk_expansion_refuse(expansion, "keys or values are absent");
	return true;
}

/* Add a piece of the bias to queries, keys and values. */
static bool add_biases(struct attention *attention)
{
	const struct sk_expansion *expansion = attention->expansion;
	uint32_t bias = sk_expansion_input(expansion, BIASES), pieces[3];
	uint32_t *const rows[3] = {&attention->q, &attention->k, &attention->v};
	int64_t widths[3];

	if (bias == SK_NONE)
		return true;
	for (size_t i = 0; i < 3; i++) {
		const struct sk_value *value = sk_expansion_read(expansion, *rows[i]);

		if (value->rank != 3 || !value->shaped || value->shape[2] > INT32_MAX)
			return sk_expansion_refuse(expansion,
						   "a bias is supported if queries, keys and values are [batch, rows, "
						   "width]");
		widths[i] = (int64_t)value->shape[2];
	}
	sk_expansion_split(expansion, bias, 0, 3, widths, pieces);
	for (size_t i = 0; i < 3; i++)
		*rows[i] = SK_EXPANSION(expansion, "Add", *rows[i], pieces[i]);
	return true;
}

static bool expand_multi(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	struct attention attention = {.expansion = &expansion,
				      .q = sk_expansion_input(&expansion, 0),
				      .k = sk_expansion_input(&expansion, 1),
				      .v = sk_expansion_input(&expansion, 2),
				      .past_k = sk_expansion_input(&expansion, PAST_K),
				      .past_v = sk_expansion_input(&expansion, PAST_V),
				      .mask = sk_expansion_input(&expansion, ADDED),
				      .lengths = SK_NONE,
				      .sinks = SK_NONE,
				      .heads = sk_node_integer(node, "num_heads", 0),
				      .key_heads = sk_node_integer(node, "num_heads", 0),
				      .causal = sk_node_integer(node, "unidirectional", 0)};

	if (!check_absent(&expansion, PAST_LENGTH, PAST_LENGTH + 1) || !check_outputs(&expansion, 3))
		return false;
	if (!read_multi(&attention) || !add_biases(&attention) ||
	    !add_filter(&attention, sk_expansion_input(&expansion, PADDING), all_keys(&attention)))
		return false;
	add_attention(&attention, sk_expansion_output(&expansion, 0), sk_expansion_output(&expansion, 1),
		      sk_expansion_output(&expansion, 2));
	return true;
}

/* ---- Attention, QAttention ---- */

/* Split the product of the input and the weights. The sizes are those of qkv_hidden_sizes, or thirds. */
static bool split_product(struct attention *attention, uint32_t product, uint64_t all)
{
	const struct sk_expansion *expansion = attention->expansion;
	size_t count;
	const int64_t *given = sk_node_integers(expansion->node, "qkv_hidden_sizes", &count);
	int64_t sizes[3];
	uint32_t pieces[3];

	if (all > INT32_MAX || (!given && all % 3) || (given && count != 3))
		return sk_expansion_refuse(expansion,
					   "the weights do not have the columns of queries, keys and values");
	for (size_t i = 0; i < 3; i++) {
		sizes[i] = given ? given[i] : (int64_t)all / 3;
		if (sizes[i] < 1 || sizes[i] > (int64_t)all || sizes[i] % attention->heads)
			return sk_expansion_refuse(expansion, "%" PRIi64 " columns are not %" PRIi64 " heads", sizes[i],
						   attention->heads);
	}
	if ((uint64_t)(sizes[0] + sizes[1] + sizes[2]) != all)
		return sk_expansion_refuse(
			expansion, "qkv_hidden_sizes do not add up to the %" PRIu64 " columns of the weights", all);
	sk_expansion_split(expansion, product, 2, 3, sizes, pieces);
	attention->q = pieces[0];
	attention->k = pieces[1];
	attention->v = pieces[2];
	return true;
}

/* Return past keys (0) or values (1), of [2, batch, heads, rows, width]; SK_NONE: there are none. */
static uint32_t past_of(const struct sk_expansion *expansion, uint32_t past, int64_t which)
{
	uint32_t index = sk_graph_new_constant(expansion->graph, "which", SK_I64, 0, NULL, &which);

	return past == SK_NONE ? SK_NONE : SK_EXPANSION(expansion, "Gather", past, index);
}

/* Append the attention with its present keys and values in one output. */
static void add_joined(struct attention *attention, uint32_t result, uint32_t presents)
{
	const struct sk_expansion *expansion = attention->expansion;
	sk_graph_sequence both = {NULL, 0, 0};

	if (presents == SK_NONE) {
		add_attention(attention, result, SK_NONE, SK_NONE);
		return;
	}
	for (size_t i = 0; i < 2; i++)
		sk_array_push(expansion->graph->arena, &both, sk_expansion_value(expansion));
	add_attention(attention, result, both.items[0], both.items[1]);
	sk_expansion_concat(expansion, &both, 0, true, presents);
}

static bool check_weights(const struct sk_expansion *expansion, uint32_t x, uint32_t w, int64_t heads)
{
	const struct sk_value *rows = sk_expansion_read(expansion, x), *weights = sk_expansion_read(expansion, w);

	if (rows->rank != 3 || weights->rank != 2 || weights->shape[0] != rows->shape[2])
		return sk_expansion_refuse(expansion, "'%s' is not [batch, rows, width], or '%s' not [width, columns]",
					   rows->name, weights->name);
	return (heads >= 1 && heads <= INT32_MAX) || sk_expansion_refuse(expansion, "num_heads is %" PRIi64, heads);
}

/* Append the nodes of both operators from the product on. */
static bool expand_product(const struct sk_expansion *expansion, uint32_t product, uint64_t columns, uint32_t mask,
			   uint32_t past, uint32_t added)
{
	struct attention attention = {.expansion = expansion,
				      .past_k = past_of(expansion, past, 0),
				      .past_v = past_of(expansion, past, 1),
				      .mask = added,
				      .lengths = SK_NONE,
				      .sinks = SK_NONE,
				      .heads = sk_node_integer(expansion->node, "num_heads", 0),
				      .key_heads = sk_node_integer(expansion->node, "num_heads", 0),
				      .causal = sk_node_integer(expansion->node, "unidirectional", 0)};
	uint32_t keys;

	if (!split_product(&attention, product, columns))
		return false;
	keys = sk_expansion_dimension(expansion, sk_expansion_input(expansion, 0), 1);
	if (past != SK_NONE)
		keys = SK_EXPANSION(expansion, "Add", keys, sk_expansion_dimension(expansion, past, 3));
	if (!add_filter(&attention, mask, keys))
		return false;
	add_joined(&attention, sk_expansion_output(expansion, 0), sk_expansion_output(expansion, 1));
	return true;
}

static bool expand_attention(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	uint32_t x = sk_expansion_input(&expansion, 0), w = sk_expansion_input(&expansion, 1);
	uint32_t bias = sk_expansion_input(&expansion, 2), product;

	if (!check_weights(&expansion, x, w, sk_node_integer(node, "num_heads", 0)) ||
	    !check_absent(&expansion, 6, 6) || !check_outputs(&expansion, 2))
		return false;
	if (sk_node_integer(node, "do_rotary", 0) || sk_node_integer(node, "past_present_share_buffer", 0))
		return sk_expansion_refuse(&expansion, "do_rotary and past_present_share_buffer are not supported");
	product = sk_expansion_binary(&expansion, "MatMul", x, w);
	if (bias != SK_NONE)
		product = sk_expansion_binary(&expansion, "Add", product, bias);
	return expand_product(&expansion, product, sk_expansion_read(&expansion, w)->shape[1],
			      sk_expansion_input(&expansion, 3), sk_expansion_input(&expansion, 4),
			      sk_expansion_input(&expansion, 5));
}

static bool expand_quantised(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	enum { X, W, BIAS_OF, X_SCALE, W_SCALE, MASK, X_ZERO, W_ZERO, PAST };
	const struct sk_expansion expansion = {graph, node, nodes};
	uint32_t product;

	if (!check_weights(&expansion, sk_expansion_input(&expansion, X), sk_expansion_input(&expansion, W),
			   sk_node_integer(node, "num_heads", 0)))
		return false;
	product = SK_EXPANSION(&expansion, "MatMulIntegerToFloat", sk_expansion_input(&expansion, X),
			       sk_expansion_input(&expansion, W), sk_expansion_input(&expansion, X_SCALE),
			       sk_expansion_input(&expansion, W_SCALE), sk_expansion_input(&expansion, X_ZERO),
			       sk_expansion_input(&expansion, W_ZERO), sk_expansion_input(&expansion, BIAS_OF));
	sk_expansion_last(&expansion)->domain = MICROSOFT;
	return expand_product(&expansion, product,
			      sk_expansion_read(&expansion, sk_expansion_input(&expansion, W))->shape[1],
			      sk_expansion_input(&expansion, MASK), sk_expansion_input(&expansion, PAST), SK_NONE);
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

static const struct sk_schema_attribute group[] = {INTEGER("do_rotary", 0),
						   {"k_quant_type", SK_ATTRIBUTE_STRING, .string = "NONE"},
						   INTEGER("kv_cache_bit_width", 0),
						   {"kv_num_heads", SK_ATTRIBUTE_INTEGER, .required = true},
						   INTEGER("local_window_size", -1),
						   {"num_heads", SK_ATTRIBUTE_INTEGER, .required = true},
						   INTEGER("qk_output", 0),
						   INTEGER("rotary_interleaved", 0),
						   REAL("scale", 0),
						   INTEGER("smooth_softmax", 0),
						   REAL("softcap", 0),
						   {"v_quant_type", SK_ATTRIBUTE_STRING, .string = "NONE"},
						   {NULL}};
static const struct sk_schema_attribute multi[] = {REAL("mask_filter_value", -10000),
						   {"num_heads", SK_ATTRIBUTE_INTEGER, .required = true},
						   REAL("scale", 0),
						   INTEGER("unidirectional", 0),
						   {NULL}};
static const struct sk_schema_attribute attention[] = {INTEGER("do_rotary", 0),
						       REAL("mask_filter_value", -10000),
						       {"num_heads", SK_ATTRIBUTE_INTEGER, .required = true},
						       INTEGER("past_present_share_buffer", 0),
						       {"qkv_hidden_sizes", SK_ATTRIBUTE_INTEGERS},
						       INTEGER("rotary_embedding_dim", 0),
						       REAL("scale", 0),
						       INTEGER("unidirectional", 0),
						       {NULL}};

const struct sk_schema sk_operators_microsoft_attention[] = {
	{"Attention", MICROSOFT, 2, 7, 1, 2, .attributes = attention, .expand = expand_attention},
	{"GroupQueryAttention", MICROSOFT, 1, 14, 1, 4, .demands = 1 << TOTAL, .attributes = group,
	 .expand = expand_group},
	{"MultiHeadAttention", MICROSOFT, 1, 10, 1, 4, .attributes = multi, .expand = expand_multi},
	{"QAttention", MICROSOFT, 5, 9, 1, 2, .attributes = attention, .expand = expand_quantised},
	{NULL},
};
