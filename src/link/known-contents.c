/* Contents of constants by the names of their values; see link.h. */
#include "src/link/link.h"

#include <string.h>

#include <xxhash.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

struct known {
	enum sk_dtype dtype;
	uint64_t bytes, key;
	const void *contents;
};

struct sk_known_contents {
	struct sk_arena *arena;
	struct sk_map names;
	SK_ARRAY(struct known) items;
	bool complete; /* a sample takes contents, and adds none */
};

struct sk_known_contents *sk_known_create(struct sk_arena *arena)
{
	struct sk_known_contents *known = SK_NEW(arena, struct sk_known_contents);

	known->arena = arena;
	sk_map_init(&known->names, arena);
	return known;
}

void sk_known_complete(struct sk_known_contents *known)
{
	known->complete = true;
}

void sk_known_add(struct sk_known_contents *known, const struct sk_value *value, uint64_t key)
{
	uint32_t number = (uint32_t)known->items.count;

	if (!known->complete && !value->varies &&
	    sk_map_insert(&known->names, value->name, strlen(value->name), number) == number)
		sk_array_push(known->arena, &known->items,
			      ((struct known){value->dtype, sk_value_bytes(value), key, value->contents}));
}

const void *sk_known_find(const struct sk_known_contents *known, const struct sk_op_graph *graph,
			  const struct sk_value *value, uint64_t key)
{
	uint32_t number = SK_NONE;

	if (value->varies)
		return sk_symbolic_contents(graph, value);
	if (known->complete)
		number = sk_map_find(&known->names, value->name, strlen(value->name));
	return number != SK_NONE && known->items.items[number].dtype == value->dtype &&
			       known->items.items[number].key == key &&
			       known->items.items[number].bytes == sk_value_bytes(value)
		       ? known->items.items[number].contents
		       : NULL;
}

/* ---- keys ---- */

#define ADD(state, field) XXH3_64bits_update(state, &(field), sizeof(field))

static void add_text(XXH3_state_t *state, const char *text)
{
	XXH3_64bits_update(state, text, strlen(text) + 1);
}

static void add_attribute(XXH3_state_t *state, const struct sk_attribute *attribute)
{
	add_text(state, attribute->name);
	ADD(state, attribute->kind);
	ADD(state, attribute->count);
	switch (attribute->kind) {
	case SK_ATTRIBUTE_INTEGER:
		ADD(state, attribute->integer);
		break;
	case SK_ATTRIBUTE_REAL:
		ADD(state, attribute->real);
		break;
	case SK_ATTRIBUTE_STRING:
		add_text(state, attribute->string);
		break;
	case SK_ATTRIBUTE_INTEGERS:
		XXH3_64bits_update(state, attribute->integers, attribute->count * sizeof(*attribute->integers));
		break;
	case SK_ATTRIBUTE_REALS:
		XXH3_64bits_update(state, attribute->reals, attribute->count * sizeof(*attribute->reals));
		break;
	case SK_ATTRIBUTE_STRINGS:
		for (size_t i = 0; i < attribute->count; i++)
			add_text(state, attribute->strings[i]);
		break;
	}
}

static void add_operand(XXH3_state_t *state, const struct sk_op_graph *graph, const struct sk_operand *operand,
			const uint64_t *keys)
{
	uint32_t root = sk_value_root(graph, operand->value);
	uint64_t offset;

	if (root == SK_NONE) {
		add_text(state, "");
		return;
	}
	offset = operand->offset + sk_value_offset(graph, operand->value);
	add_text(state, graph->values.items[root].name);
	ADD(state, keys[root]);
	ADD(state, operand->dtype);
	ADD(state, operand->rank);
	XXH3_64bits_update(state, operand->shape, operand->rank * sizeof(*operand->shape));
	ADD(state, offset);
	ADD(state, operand->stride);
}

uint64_t *sk_known_keys(const struct sk_op_graph *graph, const struct sk_graph_call *calls, size_t count)
{
	uint64_t *keys = SK_NEW_ARRAY(graph->arena, uint64_t, graph->values.count + 1);
	XXH3_state_t *state = XXH3_createState();

	for (size_t c = 0; c < count; c++) {
		const struct sk_graph_call *call = &calls[c];
		uint64_t key;

		XXH3_64bits_reset(state);
		add_text(state, call->op);
		for (size_t i = 0; i < call->attributes.count; i++)
			add_attribute(state, &call->attributes.items[i]);
		for (size_t i = 0; i < call->inputs.count; i++)
			add_operand(state, graph, &call->inputs.items[i], keys);
		for (size_t i = 0; i < call->outputs.count; i++)
			add_operand(state, graph, &call->outputs.items[i], keys);
		key = XXH3_64bits_digest(state);
		for (size_t i = 0; i < call->outputs.count; i++) {
			uint32_t root = sk_value_root(graph, call->outputs.items[i].value);

			if (root != SK_NONE)
				keys[root] = key;
		}
	}
	XXH3_freeState(state);
	return keys;
}
