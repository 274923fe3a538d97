/* Contents of constants by the names of their values; see link.h. */
#include "src/link/link.h"

#include <inttypes.h>
#include <string.h>

#include <xxhash.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

struct sk_known_contents {
	struct sk_arena *arena;
	struct sk_map names; /* of constants with their types, sizes and keys, to places in: */
	SK_ARRAY(const void *) contents;
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

/* Passes number the values that they make, in each network from another number on: those numbers are left out if the
 * key is one by contents. */
static const char *name_of(struct sk_arena *arena, const struct sk_value *value, uint64_t key, enum sk_known_as as)
{
	size_t length = strcspn(value->name, as == SK_KNOWN_BY_CONTENTS ? "#" : "");

	return sk_arena_print(arena, "%016" PRIx64 " %d %" PRIu64 " %.*s", key, (int)value->dtype,
			      sk_value_bytes(value), (int)length, value->name);
}

static void add(struct sk_known_contents *known, const struct sk_value *value, uint64_t key, enum sk_known_as as)
{
	const char *name = name_of(known->arena, value, key, as);
	uint32_t number = (uint32_t)known->contents.count;

	if (sk_map_insert(&known->names, name, strlen(name), number) == number)
		sk_array_push(known->arena, &known->contents, value->contents);
}

static const void *find(const struct sk_known_contents *known, const struct sk_op_graph *graph,
			const struct sk_value *value, uint64_t key, enum sk_known_as as)
{
	const char *name = name_of(graph->arena, value, key, as);
	uint32_t number = sk_map_find(&known->names, name, strlen(name));

	return number == SK_NONE ? NULL : known->contents.items[number];
}

void sk_known_add(struct sk_known_contents *known, const struct sk_value *value, uint64_t key)
{
	if (!known->complete && !value->varies)
		add(known, value, key, SK_KNOWN_BY_NAMES);
}

const void *sk_known_find(const struct sk_known_contents *known, const struct sk_op_graph *graph,
			  const struct sk_value *value, uint64_t key)
{
	if (value->varies)
		return sk_symbolic_contents(graph, value);
	return known->complete ? find(known, graph, value, key, SK_KNOWN_BY_NAMES) : NULL;
}

void sk_folded_add(struct sk_known_contents *folded, const struct sk_value *value, uint64_t key)
{
	if (!value->varies && key)
		add(folded, value, key, SK_KNOWN_BY_CONTENTS);
}

const void *sk_folded_find(const struct sk_known_contents *folded, const struct sk_op_graph *graph,
			   const struct sk_value *value, uint64_t key)
{
	return value->varies || !key ? NULL : find(folded, graph, value, key, SK_KNOWN_BY_CONTENTS);
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

enum { MOST_HASHED = 64 << 10 }; /* bytes of constants; the place of larger ones stands for them */

/* A constant of a file has one place in all networks. */
static void add_contents(XXH3_state_t *state, const struct sk_value *value)
{
	const uint64_t bytes = sk_value_bytes(value);

	ADD(state, bytes);
	if (bytes > MOST_HASHED)
		ADD(state, value->contents);
	else
		XXH3_64bits_update(state, value->contents, bytes);
}

static void add_root(XXH3_state_t *state, const struct sk_value *root, uint64_t key, enum sk_known_as as)
{
	if (as == SK_KNOWN_BY_NAMES)
		add_text(state, root->name);
	else if (root->contents)
		add_contents(state, root);
	ADD(state, key);
}

static void add_operand(XXH3_state_t *state, const struct sk_op_graph *graph, const struct sk_operand *operand,
			const uint64_t *keys, enum sk_known_as as)
{
	uint32_t root = sk_value_root(graph, operand->value);
	uint64_t offset;

	if (root == SK_NONE) {
		add_text(state, "");
		return;
	}
	offset = operand->offset + sk_value_offset(graph, operand->value);
	add_root(state, &graph->values.items[root], keys[root], as);
	ADD(state, operand->dtype);
	ADD(state, operand->rank);
	XXH3_64bits_update(state, operand->shape, operand->rank * sizeof(*operand->shape));
	ADD(state, offset);
	ADD(state, operand->stride);
}

uint64_t *sk_known_keys(const struct sk_op_graph *graph, const struct sk_graph_call *calls, size_t count,
			enum sk_known_as as)
{
	uint64_t *keys = SK_NEW_ARRAY(graph->arena, uint64_t, graph->values.count + 1);
	XXH3_state_t *state = XXH3_createState();

	for (size_t c = 0; c < count; c++) {
		const struct sk_graph_call *call = &calls[c];

		XXH3_64bits_reset(state);
		add_text(state, call->op);
		for (size_t i = 0; i < call->attributes.count; i++)
			add_attribute(state, &call->attributes.items[i]);
		for (size_t i = 0; i < call->inputs.count; i++)
			add_operand(state, graph, &call->inputs.items[i], keys, as);
		for (size_t i = 0; i < call->outputs.count; i++)
			add_operand(state, graph, &call->outputs.items[i], keys, as);
		for (size_t i = 0; i < call->outputs.count; i++) {
			uint32_t root = sk_value_root(graph, call->outputs.items[i].value);
			const uint64_t output[] = {XXH3_64bits_digest(state), i};

			if (root != SK_NONE)
				keys[root] = XXH3_64bits(output, sizeof(output));
		}
	}
	XXH3_freeState(state);
	return keys;
}
