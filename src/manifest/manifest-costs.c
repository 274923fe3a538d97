/* `cost:` of a task. Input: its node. Output: the plan's cost of the task or of its two sides. Binding the task checks
 * that its kernel is of the kind that a value applies to (bind-cost.c). */
#include "base/arena.h"
#include "base/diag.h"
#include "base/document.h"
#include "format/skplan.h"
#include "src/manifest/manifest.h"
#include "src/model/model.h"

enum { CUBE = SK_COST_COUNT, VECTOR, KEYS };

static const char *const side_names[] = {"cube", "vector"};

/* The values of a map, by key; NULL: not given. */
struct nodes {
	const struct sk_node *of[KEYS];
};

/* Read a map that may contain the first `keys` of the keys. Return false after an error. */
static bool read_map(const struct sk_document *document, const struct sk_node *map, const char *what, int keys,
		     struct nodes *nodes)
{
	struct sk_field fields[KEYS];
	unsigned errors = document->diag->errors;

	for (int i = 0; i < keys; i++)
		fields[i] = (struct sk_field){.name = i < CUBE ? sk_cost_name((enum sk_cost)i) : side_names[i - CUBE],
					      .keep = offsetof(struct nodes, of) + (size_t)i * sizeof(nodes->of[0])};
	sk_read_fields(document, map, what, NULL, fields, (size_t)keys, nodes);
	return document->diag->errors == errors;
}

/* Check `part`, a share of the cycles or operations. */
static void check_part(const struct sk_document *document, const struct nodes *nodes, const struct sk_plan_cost *cost,
		       enum sk_cost part)
{
	enum sk_cost whole = sk_cost_gives(cost, SK_COST_CYCLES) ? SK_COST_CYCLES : SK_COST_OPERATIONS;

	if (!sk_cost_gives(cost, part))
		return;
	if (!sk_cost_gives(cost, whole))
		sk_error(document->diag, sk_node_place(document, nodes->of[part]),
			 "'%s' is a part of 'cycles' or 'operations', but neither is given", sk_cost_name(part));
	else if (cost->values[SK_COST_BEFORE_WAIT] + cost->values[SK_COST_AFTER_SET] > cost->values[whole])
		sk_error(document->diag, sk_node_place(document, nodes->of[part]),
			 "'before-wait' and 'after-set' are parts of '%s', but together exceed it",
			 sk_cost_name(whole));
}

static void read_values(const struct sk_document *document, const struct sk_node *map, const char *what,
			const struct nodes *nodes, struct sk_plan_cost *cost)
{
	unsigned errors = document->diag->errors;

	for (enum sk_cost i = 0; i < SK_COST_COUNT; i++)
		if (nodes->of[i] && sk_manifest_read_size(document, nodes->of[i],
							  sk_arena_print(document->arena, "'%s'", sk_cost_name(i)),
							  NULL, SK_COST_MAX, &cost->values[i]))
			cost->given |= UINT32_C(1) << i;
	if (document->diag->errors > errors)
		return;
	if (!cost->given)
		sk_error(document->diag, sk_node_place(document, map),
			 "%s is empty; give 'cycles' or 'operations', 'bytes', 'code'", what);
	if (sk_cost_gives(cost, SK_COST_CYCLES) && sk_cost_gives(cost, SK_COST_OPERATIONS))
		sk_error(document->diag, sk_node_place(document, map), "%s has 'cycles' or 'operations', not both",
			 what);
	check_part(document, nodes, cost, SK_COST_BEFORE_WAIT);
	if (document->diag->errors == errors)
		check_part(document, nodes, cost, SK_COST_AFTER_SET);
}

static void read_sides(const struct sk_document *document, const struct sk_node *map, const struct nodes *nodes,
		       struct sk_task_cost *cost)
{
	static const char *const subjects[] = {"the cost of the cube side", "the cost of the vector side"};

	for (enum sk_cost i = 0; i < SK_COST_COUNT; i++)
		if (nodes->of[i] || !nodes->of[CUBE] || !nodes->of[VECTOR]) {
			sk_error(document->diag, sk_node_place(document, map),
				 "'cost' has both 'cube' and 'vector' and nothing else, or neither");
			return;
		}
	cost->count = 2;
	for (int side = 0; side < 2; side++) {
		const struct sk_node *node = nodes->of[CUBE + side];
		struct nodes values = {{NULL}};

		if (read_map(document, node, subjects[side], SK_COST_COUNT, &values))
			read_values(document, node, subjects[side], &values, &cost->of[side]);
	}
}

void sk_manifest_read_cost(const struct sk_document *document, void *target, const struct sk_node *value)
{
	struct sk_task_cost *cost = SK_NEW(document->arena, struct sk_task_cost);
	struct nodes nodes = {{NULL}};

	cost->place = sk_node_place(document, value);
	((struct sk_task *)target)->said.cost = cost;
	if (!read_map(document, value, "'cost'", KEYS, &nodes))
		return;
	if (nodes.of[CUBE] || nodes.of[VECTOR]) {
		read_sides(document, value, &nodes, cost);
		return;
	}
	cost->count = 1;
	read_values(document, value, "'cost'", &nodes, &cost->of[0]);
}
