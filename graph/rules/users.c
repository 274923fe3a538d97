/* Users of values; see rules-parts.h. Lists keep removed nodes, so readers skip these. */
#include "graph/rules/rules-parts.h"

#include "base/arena.h"
#include "base/map.h"

/* Make room for all present values. */
static void grow(struct sk_op_graph *graph, struct sk_users *users)
{
	while (users->counts.count < graph->values.count) {
		sk_array_push(graph->arena, &users->counts, 0);
		sk_array_push(graph->arena, &users->first, SK_NONE);
	}
}

void sk_users_add(struct sk_op_graph *graph, struct sk_users *users, uint32_t node)
{
	grow(graph, users);
	for (size_t i = 0; i < graph->nodes.items[node].inputs.count; i++) {
		uint32_t value = graph->nodes.items[node].inputs.items[i];

		if (value == SK_NONE)
			continue;
		users->counts.items[value]++;
		sk_array_push(graph->arena, &users->users, (struct sk_value_user){node, users->first.items[value]});
		users->first.items[value] = (uint32_t)users->users.count - 1;
	}
}

void sk_users_remove(struct sk_op_graph *graph, struct sk_users *users, uint32_t node)
{
	graph->nodes.items[node].removed = true;
	for (size_t i = 0; i < graph->nodes.items[node].inputs.count; i++)
		if (graph->nodes.items[node].inputs.items[i] != SK_NONE)
			users->counts.items[graph->nodes.items[node].inputs.items[i]]--;
}

struct sk_users *sk_users_create(struct sk_op_graph *graph)
{
	struct sk_users *users = SK_NEW(graph->arena, struct sk_users);

	grow(graph, users);
	for (uint32_t n = 0; n < graph->nodes.count; n++)
		if (!graph->nodes.items[n].removed)
			sk_users_add(graph, users, n);
	return users;
}
