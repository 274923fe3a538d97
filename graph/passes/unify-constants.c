/* Equal constants; see passes.h. Weights are seldom equal, and reading gigabytes takes time. A sample of each constant
 * tells nearly all apart; only constants with equal samples are read in full, once. */
#include "graph/passes/passes.h"

#include <string.h>
#include <xxhash.h>

#include "base/arena.h"
#include "base/map.h"
#include "graph/graph.h"

enum { SAMPLES = 16, SAMPLE_SIZE = 64 };

/* The key of the bytes. Constants of different types are different, since proofs rely on the type. */
struct key {
	uint64_t dtype, size;
	XXH128_hash_t hash;
};

static struct key key_of_sample(const struct sk_value *value)
{
	const uint64_t size = sk_value_bytes(value);
	const char *bytes = value->contents;
	char sample[SAMPLES * SAMPLE_SIZE];

	if (size <= sizeof(sample))
		return (struct key){value->dtype, size, XXH3_128bits(bytes, size)};
	for (uint64_t i = 0; i < SAMPLES; i++)
		memcpy(sample + i * SAMPLE_SIZE, bytes + (size - SAMPLE_SIZE) / (SAMPLES - 1) * i, SAMPLE_SIZE);
	return (struct key){value->dtype, size, XXH3_128bits(sample, sizeof(sample))};
}

static struct key key_of_all(const struct sk_value *value)
{
	return (struct key){value->dtype, sk_value_bytes(value), XXH3_128bits(value->contents, sk_value_bytes(value))};
}

/* Return the first value of the same key; the value itself if there is none. */
static uint32_t find_first(const struct sk_op_graph *graph, struct sk_map *map, uint32_t value,
			   struct key (*make)(const struct sk_value *value))
{
	struct key *key = SK_NEW(graph->arena, struct key);

	*key = make(&graph->values.items[value]);
	return sk_map_insert(map, (const char *)key, sizeof(*key), value);
}

static void share_constant(struct sk_op_graph *graph, uint32_t first, uint32_t second)
{
	const struct sk_value *one = &graph->values.items[first];
	struct sk_value *other = &graph->values.items[second];

	if (first == second || memcmp(one->contents, other->contents, sk_value_bytes(one)) != 0)
		return;
	other->contents = NULL;
	other->view_of = first;
	other->view_offset = 0;
}

/* Mark by value the constants with bytes that a call reads. */
static bool *mark_constants(const struct sk_op_graph *graph, const sk_graph_calls *calls)
{
	bool *marked = SK_NEW_ARRAY(graph->arena, bool, graph->values.count + 1);

	for (size_t c = 0; c < calls->count; c++)
		for (size_t i = 0; i < calls->items[c].inputs.count; i++) {
			uint32_t root = sk_value_root(graph, calls->items[c].inputs.items[i].value);

			if (root != SK_NONE && graph->values.items[root].contents)
				marked[root] = sk_value_bytes(&graph->values.items[root]) != 0;
		}
	return marked;
}

void sk_graph_unify_constants(struct sk_op_graph *graph, const sk_graph_calls *calls)
{
	const bool *constants = mark_constants(graph, calls);
	bool *alike = SK_NEW_ARRAY(graph->arena, bool,
				   graph->values.count + 1); /* by value: another constant has the same sample */
	struct sk_map samples, all;

	sk_map_init(&samples, graph->arena);
	sk_map_init(&all, graph->arena);
	for (uint32_t v = 0; v < graph->values.count; v++) {
		uint32_t first = constants[v] ? find_first(graph, &samples, v, key_of_sample) : v;

		if (first != v)
			alike[first] = alike[v] = true;
	}
	for (uint32_t v = 0; v < graph->values.count; v++)
		if (alike[v])
			share_constant(graph, find_first(graph, &all, v, key_of_all), v);
}

/* ---- across graphs ---- */

struct constant {
	const void *contents;
	uint32_t number;
};

struct sk_constants {
	struct sk_arena *arena;
	struct sk_map keys; /* to indices of: */
	SK_ARRAY(struct constant) constants;
	struct sk_map known; /* by contents, type and size, which need not be read again: to indices */
	bool complete; /* none is added */
	uint32_t limit; /* those with this number or more are not in the set */
};

struct sk_constants *sk_constants_create(struct sk_arena *arena)
{
	struct sk_constants *constants = SK_NEW(arena, struct sk_constants);

	*constants = (struct sk_constants){.arena = arena, .limit = UINT32_MAX};
	sk_map_init(&constants->keys, arena);
	sk_map_init(&constants->known, arena);
	return constants;
}

struct sk_constants *sk_constants_before(const struct sk_constants *constants, struct sk_arena *arena, uint32_t limit)
{
	struct sk_constants *before = SK_NEW(arena, struct sk_constants);

	*before = *constants;
	before->arena = arena;
	before->complete = true;
	before->limit = limit;
	return before;
}

/* Contents of that address, in place of their bytes. */
struct place {
	uint64_t dtype, size, contents;
};

/* Return the index of the equal constant; a new one gets the next index. */
static uint32_t find_index(struct sk_constants *constants, const struct sk_value *value)
{
	const struct place at = {value->dtype, sk_value_bytes(value), (uintptr_t)value->contents};
	const uint32_t next = (uint32_t)constants->constants.count;
	uint32_t index = sk_map_find(&constants->known, (const char *)&at, sizeof(at));
	struct place *place;
	struct key *key;

	if (index != SK_NONE)
		return index;
	key = SK_NEW(constants->arena, struct key);
	*key = key_of_all(value);
	if (constants->complete)
		return sk_map_find(&constants->keys, (const char *)key, sizeof(*key));
	index = sk_map_insert(&constants->keys, (const char *)key, sizeof(*key), next);
	if (index != next && memcmp(constants->constants.items[index].contents, value->contents, at.size) != 0)
		return SK_NONE;
	place = SK_NEW(constants->arena, struct place);
	*place = at;
	return sk_map_insert(&constants->known, (const char *)place, sizeof(*place), index);
}

uint32_t sk_constants_add(struct sk_constants *constants, const struct sk_value *value, uint32_t number)
{
	uint32_t index;

	if (!sk_value_bytes(value))
		return number;
	index = find_index(constants, value);
	if (index == SK_NONE)
		return number;
	if (index == constants->constants.count)
		sk_array_push(constants->arena, &constants->constants, (struct constant){value->contents, number});
	if (constants->constants.items[index].number >= constants->limit ||
	    memcmp(constants->constants.items[index].contents, value->contents, sk_value_bytes(value)) != 0)
		return number;
	return constants->constants.items[index].number;
}
