/* Types and shapes of values that nodes make and the file does not declare; see link.h. */
#include "src/link/link.h"

#include <string.h>

#include "base/map.h"
#include "base/sizes.h"
#include "graph/graph.h"

bool sk_is_undeclared(const struct sk_op_graph *graph, const char *name)
{
	for (size_t i = 0; i < graph->undeclared.count; i++)
		if (!strcmp(graph->undeclared.items[i], name))
			return true;
	return false;
}

static bool take(struct sk_op_graph *graph, const struct sk_op_graph *from, const char *name)
{
	uint32_t here = sk_map_find(&graph->value_names, name, strlen(name)),
		 there = sk_map_find(&from->value_names, name, strlen(name));
	const struct sk_value *known = there == SK_NONE ? NULL : &from->values.items[there];
	struct sk_value *value = here == SK_NONE ? NULL : &graph->values.items[here];

	if (!known || !value || !known->dtype || !known->shaped || !sk_value_is_static(known))
		return false;
	value->dtype = known->dtype;
	value->shaped = true;
	value->rank = known->rank;
	for (uint32_t d = 0; d < known->rank; d++) {
		value->shape[d] = known->sizes[d] ? SK_UNKNOWN : known->shape[d];
		value->symbols[d] = known->sizes[d] ? sk_size_text(graph->arena, known->sizes[d]) : NULL;
	}
	return true;
}

void sk_undeclared_take(struct sk_op_graph *graph, const struct sk_op_graph *from)
{
	size_t count = 0;

	for (size_t i = 0; i < graph->undeclared.count; i++)
		if (!take(graph, from, graph->undeclared.items[i]))
			graph->undeclared.items[count++] = graph->undeclared.items[i];
	graph->undeclared.count = count;
}
