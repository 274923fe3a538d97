/* Attention and related operators. Kernels see rows of all heads of all batches, as in a tensor [batch, heads, rows,
 * width of a head]. Queries and results of the form [batch, rows, width of all heads] are rearranged, unless there is
 * one row; keys and values are read in place, by strides. */
#include <math.h>
#include <string.h>

#include "base/map.h"
#include "base/ranges.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"
#include "graph/operators/operators.h"

/* One of the input tensors, in either layout. */
struct rows {
	uint32_t value;
	uint64_t batches, heads, rows, width; /* width: elements of a head */
	bool flat; /* [batch, rows, heads * width] */
	uint64_t capacity; /* of a cache whose first rows these are; 0: the rows are contiguous */
};

static const struct sk_graph_node *node_of(const struct sk_canonical *canonical)
{
	return &canonical->graph->nodes.items[canonical->node];
}

/* ---- layouts ---- */

static bool read_heads(const struct sk_inference *inference, size_t number, const char *heads_name, int64_t heads,
		       struct rows *rows)
{
	const struct sk_value *value = sk_infer_input(inference, number);

	*rows = (struct rows){.value = inference->node->inputs.items[number], .flat = value->rank == 3};
	if (!sk_value_is_float(value))
		return sk_infer_error(inference, "'%s' is %s, no float", value->name, sk_dtype_name(value->dtype));
	if (value->rank != 3 && value->rank != 4)
		return sk_infer_error(inference, "'%s' has %u dimension%s, not 3 or 4", value->name, value->rank,
				      sk_plural(value->rank));
	rows->batches = value->shape[0];
	rows->heads = rows->flat ? (uint64_t)heads : value->shape[1];
	rows->rows = value->shape[rows->flat ? 1 : 2];
	if (rows->flat && (heads < 1 || value->shape[2] % (uint64_t)heads))
		return sk_infer_error(inference, "rows of '%s' have %llu element%s, which are not %lld head%s ('%s')",
				      value->name, (unsigned long long)value->shape[2], sk_plural(value->shape[2]),
				      (long long)heads, sk_plural((uint64_t)heads), heads_name);
	if (!rows->flat && heads && (uint64_t)heads != rows->heads)
		return sk_infer_error(inference, "'%s' has %llu head%s, and '%s' is %lld", value->name,
				      (unsigned long long)rows->heads, sk_plural(rows->heads), heads_name,
				      (long long)heads);
	rows->width = rows->flat ? value->shape[2] / rows->heads : value->shape[3];
	return true;
}

static bool read_rows(const struct sk_inference *inference, size_t number, const char *heads_name, struct rows *rows)
{
	return read_heads(inference, number, heads_name, sk_node_integer(inference->node, heads_name, 0), rows);
}

/* Compute the strides of batches, heads and rows. */
static void strides_of(const struct rows *rows, int64_t strides[3])
{
	int64_t width = (int64_t)rows->width, heads = (int64_t)rows->heads;
	int64_t count = (int64_t)(rows->capacity ? rows->capacity : rows->rows);

	strides[0] = heads * count * width;
	strides[1] = rows->flat ? width : count * width;
	strides[2] = rows->flat ? heads * width : width;
}

/* Return the places in these rows of the elements of [batch, heads, rows, width]; for rows that are not flat, those of
 * [batch, rows, heads, width]. */
static struct sk_arrangement turned(const struct rows *rows)
{
	struct sk_arrangement arrangement = {
		.rank = 4, .shape = {rows->batches, rows->heads, rows->rows, rows->width}, .strides = {0, 0, 0, 1}};

	strides_of(rows, arrangement.strides);
	if (!rows->flat) {
		arrangement.shape[1] = rows->rows;
		arrangement.shape[2] = rows->heads;
		arrangement.strides[1] = (int64_t)rows->width;
		arrangement.strides[2] = (int64_t)(rows->rows * rows->width);
	}
	return arrangement;
}

/* Return the rows as [batch, heads, rows, width]. */
static uint32_t by_heads(struct sk_canonical *canonical, const struct rows *rows)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_value from = graph->values.items[rows->value];
	const struct sk_arrangement arrangement = turned(rows);
	uint32_t to;

	if (!rows->flat || rows->rows == 1 || rows->heads == 1)
		return rows->value;
	to = sk_graph_new_value(graph, from.name, from.dtype, 4, arrangement.shape);
	sk_canonical_arrange(canonical, sk_operand_flat(graph, to), rows->value, &arrangement);
	return to;
}

/* Return the integers, or a placeholder if they are absent: attributes tell the kernel to ignore it. */
static uint32_t integers_or_none(struct sk_canonical *canonical, uint32_t value)
{
	return value != SK_NONE ? value : sk_canonical_number(canonical, SK_I64, 0);
}

/* ---- Attention ---- */

enum { QUERY, KEY, VALUE, MASK, PAST_KEY, PAST_VALUE, LENGTHS, SINKS };

struct attention {
	struct rows q, k, v;
	uint64_t past, keys; /* rows before k and v; the sum of both */
};

/* Past keys and values have all heads of all batches, and the width of the new ones. */
static bool check_past(const struct sk_inference *inference, size_t number, const struct rows *rows, uint64_t past)
{
	const struct sk_value *value = sk_infer_input(inference, number);

	if (value->rank == 4 && value->shape[0] == rows->batches && value->shape[1] == rows->heads &&
	    value->shape[2] == past && value->shape[3] == rows->width)
		return true;
	return sk_infer_error(inference, "'%s' is %s, and [%llu, %llu, %llu, %llu] is needed", value->name,
			      sk_partial_shape_text(inference->graph->arena, value->rank, value->shape),
			      (unsigned long long)rows->batches, (unsigned long long)rows->heads,
			      (unsigned long long)past, (unsigned long long)rows->width);
}

static bool read_past(const struct sk_inference *inference, struct attention *attention)
{
	const struct sk_value *key = sk_infer_input(inference, PAST_KEY),
			      *value = sk_infer_input(inference, PAST_VALUE);

	attention->keys = attention->k.rows;
	if (!key != !value)
		return sk_infer_error(inference, "past keys and past values come together, or not at all");
	if (!key)
		return true;
	if (sk_infer_input(inference, LENGTHS))
		return sk_infer_error(inference, "it has past keys and also numbers of keys");
	if (key->rank == 4)
		attention->past = key->shape[2];
	attention->keys += attention->past;
	if (!sk_shape_is_countable(SK_F64, 4,
				   (uint64_t[]){attention->k.batches, attention->k.heads, attention->keys,
						attention->k.width | attention->v.width}))
		return sk_infer_error(inference, "it would have %llu key%s", (unsigned long long)attention->keys,
				      sk_plural(attention->keys));
	return sk_infer_same_types(inference, 0, PAST_KEY) && sk_infer_same_types(inference, 0, PAST_VALUE) &&
	       check_past(inference, PAST_KEY, &attention->k, attention->past) &&
	       check_past(inference, PAST_VALUE, &attention->v, attention->past);
}

static bool read_attention(const struct sk_inference *inference, struct attention *attention)
{
	struct rows *q = &attention->q, *k = &attention->k, *v = &attention->v;

	*attention = (struct attention){.past = 0};
	if (!read_rows(inference, QUERY, "q_num_heads", q) || !read_rows(inference, KEY, "kv_num_heads", k) ||
	    !read_rows(inference, VALUE, "kv_num_heads", v) || !sk_infer_same_types(inference, 0, KEY) ||
	    !sk_infer_same_types(inference, 0, VALUE))
		return false;
	if (q->batches != k->batches || k->batches != v->batches || k->heads != v->heads || k->rows != v->rows)
		return sk_infer_error(inference, "batches, or the heads and rows of keys and values, differ");
	if (q->width != k->width || !q->width)
		return sk_infer_error(inference, "heads of queries have %llu element%s, and those of keys %llu",
				      (unsigned long long)q->width, sk_plural(q->width), (unsigned long long)k->width);
	if (!k->heads || q->heads % k->heads)
		return sk_infer_error(inference, "%llu head%s of queries cannot share %llu head%s of keys",
				      (unsigned long long)q->heads, sk_plural(q->heads), (unsigned long long)k->heads,
				      sk_plural(k->heads));
	return read_past(inference, attention);
}

/* The mask may be broadcast to [batch, heads, rows, keys]. Its last dimension may be shorter: keys after its end are
 * masked out. */
static bool check_mask(const struct sk_inference *inference, const struct attention *attention)
{
	const struct sk_value *mask = sk_infer_input(inference, MASK);
	const uint64_t all[4] = {attention->q.batches, attention->q.heads, attention->q.rows, attention->keys};
	bool fits =
		!mask || (mask->rank >= 1 && mask->rank <= 4 && sk_shape_is_countable(SK_F64, mask->rank, mask->shape));

	for (uint32_t i = 0; mask && fits && i < mask->rank; i++) {
		uint64_t whole = all[4 - mask->rank + i];

		fits = i + 1 == mask->rank ? mask->shape[i] <= whole && (mask->shape[i] > 1 || whole == 1)
					   : mask->shape[i] == 1 || mask->shape[i] == whole;
	}
	return fits ||
	       sk_infer_error(inference, "'%s' is %s, and a mask for [%llu, %llu, %llu, %llu] is needed", mask->name,
			      sk_partial_shape_text(inference->graph->arena, mask->rank, mask->shape),
			      (unsigned long long)all[0], (unsigned long long)all[1], (unsigned long long)all[2],
			      (unsigned long long)all[3]);
}

static bool check_lengths(const struct sk_inference *inference, const struct attention *attention)
{
	const struct sk_value *lengths = sk_infer_input(inference, LENGTHS);

	return !lengths ||
	       (lengths->dtype == SK_I64 && lengths->rank == 1 && lengths->shape[0] == attention->q.batches) ||
	       sk_infer_error(inference, "'%s' is not an i64 for each of %llu batches", lengths->name,
			      (unsigned long long)attention->q.batches);
}

/* Sinks are scores of one more key, for each head. */
static bool check_sinks(const struct sk_inference *inference, const struct attention *attention)
{
	const struct sk_value *sinks = sk_infer_input(inference, SINKS);

	return !sinks || (sk_infer_same_types(inference, 0, SINKS) &&
			  (sk_value_elements(sinks) == attention->q.heads ||
			   sk_infer_error(inference, "'%s' is not a number for each of %llu heads", sinks->name,
					  (unsigned long long)attention->q.heads)));
}

static bool infer_attention(struct sk_inference *inference)
{
	const struct sk_value *mask = sk_infer_input(inference, MASK);
	struct attention attention;

	if (!read_attention(inference, &attention) || !check_mask(inference, &attention) ||
	    !check_lengths(inference, &attention) || !check_sinks(inference, &attention))
		return false;
	if (mask && mask->dtype != SK_BOOL && !sk_infer_same_types(inference, 0, MASK))
		return false;

	const struct rows *q = &attention.q, *k = &attention.k, *v = &attention.v;
	uint64_t width;

	if (!sk_mul(q->heads, v->width, &width))
		return sk_infer_error(inference, "rows of its result would have more than 2^64 elements");

	const uint64_t flat[3] = {q->batches, q->rows, width};
	const uint64_t heads[4] = {q->batches, q->heads, q->rows, v->width};
	const uint64_t keys[4] = {k->batches, k->heads, attention.keys, k->width};
	const uint64_t values[4] = {v->batches, v->heads, attention.keys, v->width};
	enum sk_dtype dtype = sk_infer_input(inference, 0)->dtype;

	return sk_infer_output(inference, 0, dtype, q->flat ? 3 : 4, q->flat ? flat : heads) &&
	       sk_infer_output(inference, 1, dtype, 4, keys) && sk_infer_output(inference, 2, dtype, 4, values);
}

/* Copy rows to each head of a value [batch, heads, rows, width], from row `begin` on. */
static void put_rows(struct sk_canonical *canonical, const struct rows *to, uint64_t begin, uint32_t from,
		     uint64_t count)
{
	uint64_t heads = to->batches * to->heads, width = count * to->width;
	const struct sk_arrangement all = {.rank = 1, .shape = {heads * width}, .strides = {1}};
	struct sk_operand part = sk_operand_shaped(canonical->graph, to->value, 2, (uint64_t[]){heads, width});

	if (heads == 1)
		part = sk_operand_shaped(canonical->graph, to->value, 1, &width);
	part.offset = begin * to->width;
	part.stride = heads == 1 ? 0 : to->rows * to->width;
	if (width)
		sk_canonical_arrange(canonical, part, from, &all);
}

/* Rows of a cache are read in place. */
static struct rows in_cache(const struct sk_canonical *canonical, struct rows rows)
{
	struct sk_cache cache;

	if (!sk_cache_find(canonical->graph, rows.value, &cache) || cache.single ||
	    cache.outer != rows.batches * (rows.flat ? 1 : rows.heads) ||
	    cache.inner != rows.width * (rows.flat ? rows.heads : 1))
		return rows;
	rows.value = cache.value;
	rows.capacity = cache.capacity;
	return rows;
}

static const struct sk_graph_node *producer_of(const struct sk_op_graph *graph, uint32_t value, const char *op)
{
	uint32_t node = value == SK_NONE ? SK_NONE : graph->values.items[value].node;

	return node != SK_NONE && sk_node_is(&graph->nodes.items[node], op) ? &graph->nodes.items[node] : NULL;
}

/* Return the rows whose heads are repeated for several heads of queries, as exporters write it: Expand of [batch,
 * heads, 1, rows, width], then Reshape. Other rows are returned unchanged. */
static struct rows once(const struct sk_op_graph *graph, struct rows rows)
{
	const struct sk_graph_node *reshape = rows.flat ? NULL : producer_of(graph, rows.value, "Reshape");
	const struct sk_graph_node *expand = reshape ? producer_of(graph, reshape->inputs.items[0], "Expand") : NULL;
	const struct sk_value *from = expand ? sk_node_input(graph, expand, 0) : NULL;
	const struct sk_value *to = expand ? sk_node_output(graph, expand, 0) : NULL;

	if (!to || from->rank != 5 || to->rank != 5 || from->shape[2] != 1 || to->shape[0] != rows.batches ||
	    to->shape[1] * to->shape[2] != rows.heads || to->shape[3] != rows.rows || to->shape[4] != rows.width)
		return rows;
	for (uint32_t d = 0; d < 5; d++)
		if (d != 2 && from->shape[d] != to->shape[d])
			return rows;
	rows.heads = from->shape[1];
	rows.value = expand->inputs.items[0];
	return rows;
}

/* True if the value is rows of a cache. */
static bool is_cached(const struct sk_op_graph *graph, uint32_t value)
{
	uint32_t root = sk_value_root(graph, value);
	struct sk_cache cache;

	return sk_cache_find(graph, value, &cache) || (root != SK_NONE && graph->values.items[root].kept);
}

/* True if the node has past or present keys or values: those have all heads. */
static bool joins(const struct sk_canonical *canonical)
{
	return sk_canonical_input(canonical, PAST_KEY) != SK_NONE ||
	       sk_canonical_input(canonical, PAST_VALUE) != SK_NONE || sk_canonical_output(canonical, 1) != SK_NONE ||
	       sk_canonical_output(canonical, 2) != SK_NONE;
}

/* Keys and values with heads that are repeated from those of caches are read in the caches. */
static void share_heads(const struct sk_canonical *canonical, struct attention *attention)
{
	const struct sk_op_graph *graph = canonical->graph;
	struct rows k = once(graph, attention->k), v = once(graph, attention->v);

	if (joins(canonical) || !is_cached(graph, k.value) || !is_cached(graph, v.value) || k.heads != v.heads)
		return;
	attention->k = k;
	attention->v = v;
}

/* Append keys, or values, to the past ones, in the output if it is used: a tensor [batch, heads, rows, width]. Without
 * past and output they stay in place. */
static struct rows joined(struct sk_canonical *canonical, struct rows rows, size_t past_input, size_t output,
			  uint64_t past)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t before = sk_canonical_input(canonical, past_input), to = sk_canonical_output(canonical, output);
	struct rows all = {to, rows.batches, rows.heads, past + rows.rows, rows.width, false, 0};
	const uint64_t shape[4] = {all.batches, all.heads, all.rows, all.width};
	const struct sk_value from = graph->values.items[rows.value];
	struct sk_cache cache;

	if (before == SK_NONE && to == SK_NONE)
		return in_cache(canonical, rows);
	if (to == SK_NONE)
		all.value = sk_graph_new_value(graph, from.name, from.dtype, 4, shape);
	rows.value = by_heads(canonical, &rows);
	if (sk_cache_find(graph, to, &cache)) {
		sk_cache_write(canonical, &cache, past, rows.value);
		sk_cache_read(canonical, &cache, to);
		return in_cache(canonical, all);
	}
	if (!past) {
		sk_canonical_view(canonical, all.value, rows.value, 0);
		return all;
	}
	put_rows(canonical, &all, 0, before, past);
	put_rows(canonical, &all, past, rows.value, rows.rows);
	return all;
}

/* Return the summand of the scores: 0 for a key that takes part, otherwise -inf. */
static uint32_t added_mask(struct sk_canonical *canonical, enum sk_dtype dtype)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t mask = sk_canonical_input(canonical, MASK), to;
	struct sk_value from;

	if (mask == SK_NONE || graph->values.items[mask].dtype != SK_BOOL)
		return mask;
	from = graph->values.items[mask];
	to = sk_graph_new_value(graph, from.name, dtype, from.rank, from.shape);
	sk_canonical_broadcast(canonical, "Where",
			       (uint32_t[]){mask, sk_canonical_number(canonical, dtype, 0),
					    sk_canonical_number(canonical, dtype, -INFINITY)},
			       3, to);
	return to;
}

static void add_mask_strides(struct sk_canonical *canonical, struct sk_graph_call *call, uint32_t index)
{
	const struct sk_value *mask = &canonical->graph->values.items[index];
	int64_t strides[3] = {0}, stride = (int64_t)mask->shape[mask->rank - 1];

	for (uint32_t i = mask->rank - 1; i--;) {
		strides[4 - mask->rank + i] = mask->shape[i] == 1 ? 0 : stride;
		stride *= (int64_t)mask->shape[i];
	}
	sk_call_integer(canonical, call, "mask_keys", (int64_t)mask->shape[mask->rank - 1]);
	sk_call_integers(canonical, call, "mask_strides", strides, 3);
}

/* Add the kernel's call; the rows of `to` are by heads. */
static void add_call(struct sk_canonical *canonical, const struct attention *attention, uint32_t q, uint32_t mask,
		     uint32_t to)
{
	const struct sk_op_graph *graph = canonical->graph;
	const struct rows *rows = &attention->q, *k = &attention->k, *v = &attention->v;
	uint64_t count = rows->batches * rows->heads * rows->rows;
	uint32_t lengths = integers_or_none(canonical, sk_canonical_input(canonical, LENGTHS));
	uint32_t sinks = sk_canonical_input(canonical, SINKS);
	struct sk_graph_call *call = sk_canonical_call(canonical, "Attention");
	int64_t k_strides[3], v_strides[3];
	double softcap = sk_node_real(node_of(canonical), "softcap", 0);

	strides_of(k, k_strides);
	strides_of(v, v_strides);
	sk_call_integer(canonical, call, "heads", (int64_t)rows->heads);
	sk_call_integer(canonical, call, "group", (int64_t)(rows->heads / k->heads));
	sk_call_integer(canonical, call, "queries", (int64_t)rows->rows);
	sk_call_integer(canonical, call, "keys", (int64_t)attention->keys);
	sk_call_integers(canonical, call, "k_strides", k_strides, 3);
	sk_call_integers(canonical, call, "v_strides", v_strides, 3);
	if (mask != SK_NONE)
		add_mask_strides(canonical, call, mask);
	if (sk_canonical_input(canonical, LENGTHS) != SK_NONE)
		sk_call_integer(canonical, call, "limited", 1);
	if (sk_node_integer(node_of(canonical), "is_causal", 0)) {
		sk_call_integer(canonical, call, "causal", 1);
		sk_call_integer(canonical, call, "past", (int64_t)attention->past);
	}
	sk_call_real(canonical, call, "scale",
		     sk_node_real(node_of(canonical), "scale", 1 / sqrt((double)rows->width)));
	if (softcap != 0)
		sk_call_real(canonical, call, "softcap", softcap);
	if (sinks != SK_NONE)
		sk_call_integer(canonical, call, "sunk", 1);
	sk_call_input(canonical, call, sk_operand_shaped(graph, q, 2, (uint64_t[]){count, rows->width}));
	sk_call_input(canonical, call, sk_operand_flat(graph, k->value));
	sk_call_input(canonical, call, sk_operand_flat(graph, v->value));
	sk_call_input(canonical, call, sk_operand_flat(graph, mask != SK_NONE ? mask : k->value));
	sk_call_input(canonical, call, sk_operand_flat(graph, lengths));
	sk_call_input(canonical, call, sk_operand_flat(graph, sinks != SK_NONE ? sinks : k->value));
	sk_call_output(canonical, call, sk_operand_shaped(graph, to, 2, (uint64_t[]){count, v->width}));
}

static bool canonical_attention(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	uint32_t output = sk_canonical_output(canonical, 0), to = output, q, mask;
	struct attention attention;

	if (!read_attention(&inference, &attention))
		return false;
	share_heads(canonical, &attention);
	attention.k = joined(canonical, attention.k, PAST_KEY, 1, attention.past);
	attention.v = joined(canonical, attention.v, PAST_VALUE, 2, attention.past);
	if (output == SK_NONE || !sk_value_elements(&graph->values.items[output]))
		return true;
	mask = added_mask(canonical, graph->values.items[output].dtype);
	if (!attention.keys || (mask != SK_NONE && !sk_value_elements(&graph->values.items[mask])))
		return sk_canonical_fill(canonical, output, 0);

	struct rows result = attention.q;
	struct sk_arrangement back;

	result.width = attention.v.width;
	result.flat = false;
	back = turned(&result);
	q = by_heads(canonical, &attention.q);
	if (q != attention.q.value)
		to = sk_graph_new_value(graph, "attention", graph->values.items[output].dtype, 4,
					(uint64_t[]){result.batches, result.heads, result.rows, result.width});
	add_call(canonical, &attention, q, mask, to);
	return to == output || sk_canonical_arrange(canonical, sk_operand_flat(graph, output), to, &back);
}

/* ---- RotaryEmbedding ---- */

/* Pairs of a head's first elements are rotated by angles. Tables have the cosines and sines, in a row for each
 * position, or for each row of the input. */
struct rotary {
	struct rows x;
	uint64_t half, table; /* pairs; rows of the tables */
	uint32_t cosines, sines, positions; /* values; positions may be absent */
	bool together; /* one position, that of row 0 of all batches */
};

static bool check_tables(const struct sk_inference *inference, const struct rotary *rotary, size_t cosines)
{
	const struct sk_value *a = sk_infer_input(inference, cosines), *b = sk_infer_input(inference, cosines + 1);
	uint32_t rank = rotary->positions == SK_NONE ? 3 : 2;

	if (!sk_infer_same_types(inference, 0, cosines) || !sk_infer_same_types(inference, 0, cosines + 1))
		return false;
	if (a->rank != rank || b->rank != rank || memcmp(a->shape, b->shape, rank * sizeof(*a->shape)))
		return sk_infer_error(inference, "'%s' and '%s' are not both of %u dimension%s and one shape", a->name,
				      b->name, rank, sk_plural(rank));
	if (rank == 2 && !a->shape[0])
		return sk_infer_error(inference, "'%s' has no rows", a->name);
	if (rank == 3 && (a->shape[0] != rotary->x.batches || a->shape[1] != rotary->x.rows))
		return sk_infer_error(inference, "'%s' has no row for each row of '%s'", a->name,
				      sk_infer_input(inference, 0)->name);
	return true;
}

/* In com.microsoft positions come before the tables, perhaps one for all batches, and heads may be as wide as the
 * tables. */
static bool read_tables(const struct sk_inference *inference, struct rotary *rotary)
{
	bool microsoft = *inference->node->domain;
	size_t cosines = microsoft ? 2 : 1, positions = microsoft ? 1 : 3;
	const struct sk_value *x = sk_infer_input(inference, 0), *table = sk_infer_input(inference, cosines);
	const struct sk_value *at = sk_infer_input(inference, positions);
	int64_t heads = sk_node_integer(inference->node, "num_heads", 0);

	rotary->half = table->rank ? table->shape[table->rank - 1] : 0;
	if (microsoft && !heads && x->rank == 3 && rotary->half)
		heads = (int64_t)(x->shape[2] / 2 / rotary->half);
	if (!read_heads(inference, 0, "num_heads", heads, &rotary->x))
		return false;
	rotary->cosines = inference->node->inputs.items[cosines];
	rotary->sines = inference->node->inputs.items[cosines + 1];
	rotary->positions = at ? inference->node->inputs.items[positions] : SK_NONE;
	rotary->table = at && table->rank ? table->shape[0] : 0;
	rotary->together = microsoft && at->rank == 1 && at->shape[0] == 1;
	return check_tables(inference, rotary, cosines);
}

static bool read_rotary(const struct sk_inference *inference, struct rotary *rotary)
{
	int64_t turned = sk_node_integer(inference->node, "rotary_embedding_dim", 0);
	const struct rows *x = &rotary->x;
	const struct sk_value *at;

	if (!read_tables(inference, rotary))
		return false;
	if (rotary->half > x->width / 2 ||
	    (turned ? (uint64_t)turned != 2 * rotary->half : x->width != 2 * rotary->half))
		return sk_infer_error(inference, "'%s' has cosines for %llu pairs, and heads have %llu element%s%s",
				      inference->graph->values.items[rotary->cosines].name,
				      (unsigned long long)rotary->half, (unsigned long long)x->width,
				      sk_plural(x->width), turned ? ", of which fewer can be rotated" : "");
	if (sk_node_integer(inference->node, "is_packed_batching", 0) || sk_node_real(inference->node, "scale", 1) != 1)
		return sk_infer_error(inference, "'is_packed_batching' and 'scale' are not supported");
	if (rotary->positions == SK_NONE)
		return true;
	at = &inference->graph->values.items[rotary->positions];
	if (at->dtype == SK_I64 &&
	    (rotary->together || (at->rank == 2 && at->shape[0] == x->batches && at->shape[1] == x->rows)))
		return true;
	return sk_infer_error(inference, "'%s' is not an i64 [%llu, %llu]", at->name, (unsigned long long)x->batches,
			      (unsigned long long)x->rows);
}

static bool infer_rotary(struct sk_inference *inference)
{
	struct rotary rotary;

	return read_rotary(inference, &rotary) && sk_infer_like(inference, 0, 0);
}

static bool add_rotary(struct sk_canonical *canonical, const struct rotary *rotary)
{
	const struct sk_op_graph *graph = canonical->graph;
	const struct rows *x = &rotary->x;
	uint32_t positions = integers_or_none(canonical, rotary->positions);
	const uint64_t shape[2] = {x->batches * x->heads * x->rows, x->width};
	struct sk_graph_call *call = sk_canonical_call(canonical, "RotaryEmbedding");

	sk_call_integer(canonical, call, "heads", (int64_t)x->heads);
	sk_call_integer(canonical, call, "rows", (int64_t)x->rows);
	if (x->flat)
		sk_call_integer(canonical, call, "flat", 1);
	if (rotary->positions != SK_NONE)
		sk_call_integer(canonical, call, "table", (int64_t)rotary->table);
	if (rotary->together)
		sk_call_integer(canonical, call, "together", 1);
	if (sk_node_integer(node_of(canonical), "interleaved", 0))
		sk_call_integer(canonical, call, "interleaved", 1);
	sk_call_integer(canonical, call, "half", (int64_t)rotary->half);
	sk_call_input(canonical, call, sk_operand_shaped(graph, x->value, 2, shape));
	sk_call_input(canonical, call, sk_operand_flat(graph, rotary->cosines));
	sk_call_input(canonical, call, sk_operand_flat(graph, rotary->sines));
	sk_call_input(canonical, call, sk_operand_flat(graph, positions));
	sk_call_output(canonical, call, sk_operand_shaped(graph, sk_canonical_output(canonical, 0), 2, shape));
	return true;
}

static bool canonical_rotary(struct sk_canonical *canonical)
{
	const struct sk_inference inference = {canonical->graph, &canonical->graph->nodes.items[canonical->node]};
	struct rotary rotary;

	return read_rotary(&inference, &rotary) && add_rotary(canonical, &rotary);
}

/* ---- the table ---- */

#define INTEGER(NAME, DEFAULT)                                                                                         \
	{                                                                                                              \
		NAME, SK_ATTRIBUTE_INTEGER, .integer = (DEFAULT)                                                       \
	}

static const struct sk_schema_attribute attention[] = {
	INTEGER("is_causal", 0),	 INTEGER("kv_num_heads", 0),
	INTEGER("left_window_size", -1), INTEGER("right_window_size", -1),
	INTEGER("q_num_heads", 0),	 INTEGER("qk_matmul_output_mode", 0),
	{"scale", SK_ATTRIBUTE_REAL},	 {"softcap", SK_ATTRIBUTE_REAL},
	INTEGER("softmax_precision", 1), {NULL}};
static const struct sk_schema_attribute rotary[] = {
	INTEGER("interleaved", 0), INTEGER("num_heads", 0), INTEGER("rotary_embedding_dim", 0), {NULL}};

static const struct sk_schema_attribute rotary_microsoft[] = {
	INTEGER("interleaved", 0),	    INTEGER("is_packed_batching", 0),	     INTEGER("num_heads", 0),
	INTEGER("rotary_embedding_dim", 0), {"scale", SK_ATTRIBUTE_REAL, .real = 1}, {NULL}};

const struct sk_schema sk_operators_attention[] = {
	{"Attention", "", 3, 7, 1, 4, .attributes = attention, .expands = sk_attention_is_other,
	 .expand = sk_attention_expand_other, .infer = infer_attention, .canonical = canonical_attention},
	{"SinkAttention", SK_OWN_DOMAIN, 3, 8, 1, 1, .attributes = attention, .infer = infer_attention,
	 .canonical = canonical_attention},
	{"RotaryEmbedding", "com.microsoft", 4, 4, 1, 1, .attributes = rotary_microsoft, .infer = infer_rotary,
	 .canonical = canonical_rotary},
	{"RotaryEmbedding", "", 3, 4, 1, 1, .attributes = rotary, .infer = infer_rotary, .canonical = canonical_rotary},
	{NULL},
};
