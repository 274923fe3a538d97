/* Caches; see graph.h. A read gets rows that are `capacity * inner` elements apart, in bytes of its own; kernels that
 * take strides read the cache itself. */
#include "graph/graph.h"

#include "base/map.h"

struct sk_cache sk_cache_of_state(const struct sk_op_graph *graph, const struct sk_graph_state *state)
{
	const struct sk_value *value = &graph->values.items[state->cache];
	struct sk_cache cache = {state->cache, 1, value->shape[state->axis], 1, true};

	for (uint32_t d = 0; d < value->rank; d++) {
		if (d < state->axis) {
			cache.outer *= value->shape[d];
			cache.single &= !value->sizes[d] && value->shape[d] == 1;
		} else if (d > state->axis) {
			cache.inner *= value->shape[d];
		}
	}
	return cache;
}

bool sk_cache_find(const struct sk_op_graph *graph, uint32_t value, struct sk_cache *cache)
{
	const uint64_t elements = value == SK_NONE ? 0 : sk_value_elements(&graph->values.items[value]);

	for (; value != SK_NONE; value = graph->values.items[value].view_of) {
		const struct sk_value *of = &graph->values.items[value];

		if (of->cache && sk_value_elements(of) == elements) {
			*cache = sk_cache_of_state(graph, &graph->states.items[of->cache - 1]);
			return true;
		}
		if (of->view_offset)
			return false;
	}
	return false;
}

/* Return the rows of the cache from `begin` on that hold the elements of a value. */
static struct sk_operand rows_of(const struct sk_op_graph *graph, const struct sk_cache *cache, uint64_t begin,
				 uint64_t elements)
{
	const uint64_t shape[2] = {cache->outer, elements / cache->outer};
	struct sk_operand rows = sk_operand_moved(sk_operand_shaped(graph, cache->value, 2, shape));

	rows.offset = begin * cache->inner;
	rows.stride = cache->capacity * cache->inner;
	if (cache->single || (!graph->sizes && rows.shape[1] == rows.stride)) {
		rows.rank = 1;
		rows.shape[0] = elements;
		rows.stride = 0;
	}
	return rows;
}

void sk_cache_write(struct sk_canonical *canonical, const struct sk_cache *cache, uint64_t begin, uint32_t from)
{
	const uint64_t elements = sk_value_elements(&canonical->graph->values.items[from]);
	struct sk_operand to, source = sk_operand_moved(sk_operand_flat(canonical->graph, from));
	struct sk_graph_call *call;

	if (!elements)
		return;
	to = rows_of(canonical->graph, cache, begin, elements);
	call = sk_canonical_call(canonical, "Copy");
	source.rank = to.rank;
	for (uint32_t d = 0; d < to.rank; d++)
		source.shape[d] = to.shape[d];
	if (to.stride)
		sk_call_word(canonical, call, "form", "rows");
	sk_call_input(canonical, call, source);
	sk_call_output(canonical, call, to);
}

void sk_cache_read(struct sk_canonical *canonical, const struct sk_cache *cache, uint32_t to)
{
	const uint64_t elements = sk_value_elements(&canonical->graph->values.items[to]);
	const int64_t strides[2] = {(int64_t)(cache->capacity * cache->inner), 1};
	struct sk_operand rows;
	struct sk_graph_call *call;

	if (!elements || sk_value_root(canonical->graph, to) == cache->value)
		return;
	rows = rows_of(canonical->graph, cache, 0, elements);
	call = sk_canonical_call(canonical, "Copy");
	if (cache->single) {
		sk_call_input(canonical, call, rows);
	} else {
		sk_call_strided(canonical, call, 2, rows.shape);
		sk_call_padded(canonical, call, "strides0", 2, strides, 0);
		sk_call_integer(canonical, call, "offset0", 0);
		sk_call_input(canonical, call, sk_operand_moved(sk_operand_flat(canonical->graph, cache->value)));
	}
	sk_call_output(canonical, call, sk_operand_moved(sk_operand_flat(canonical->graph, to)));
}
