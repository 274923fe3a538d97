/* Contents of constants by the names of their values; see link.h. */
#include "src/link/link.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

struct known {
	enum sk_dtype dtype;
	uint64_t bytes;
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

void sk_known_add(struct sk_known_contents *known, const struct sk_value *value)
{
	uint32_t number = (uint32_t)known->items.count;

	if (!known->complete && !value->varies &&
	    sk_map_insert(&known->names, value->name, strlen(value->name), number) == number)
		sk_array_push(known->arena, &known->items,
			      ((struct known){value->dtype, sk_value_bytes(value), value->contents}));
}

const void *sk_known_find(const struct sk_known_contents *known, const struct sk_op_graph *graph,
			  const struct sk_value *value)
{
	uint32_t number = SK_NONE;

	if (value->varies)
		return sk_symbolic_contents(graph, value);
	if (known->complete)
		number = sk_map_find(&known->names, value->name, strlen(value->name));
	return number != SK_NONE && known->items.items[number].dtype == value->dtype &&
			       known->items.items[number].bytes == sk_value_bytes(value)
		       ? known->items.items[number].contents
		       : NULL;
}
