/* Chooses the calls of constants that stay in the network, because their results would make the package larger than the
 * model; see link.h. Constants that are broadcast, converted to a wider type or laid out with padding have more bytes
 * than those that they are computed from. */
#include "src/link/link.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/ranges.h"
#include "graph/graph.h"
#include "src/command/command.h"
#include "src/model/model.h"

enum {
	PARTS = 20, /* a package may exceed the model by one of so many parts of its bytes, … */
	FREE = 64 << 10, /* … and by these bytes */
	LEAST = 4 << 10, /* bytes from which leaving a result out is worthwhile */
};

/* By value that has bytes of its own. */
struct costs {
	const struct sk_op_graph *graph;
	const sk_graph_calls *calls;
	const bool *constant; /* by call */
	bool *computed; /* constant calls write it */
	bool *stored; /* a call of the network reads it, and it is a constant or computed */
	uint64_t *below; /* the fewest bytes that it can be computed from */
};

static const struct sk_value *value_at(const struct costs *costs, uint32_t value)
{
	return &costs->graph->values.items[value];
}

/* Return the bytes in the model's file. */
static uint64_t file_bytes(const struct sk_value *value)
{
	return sk_narrow_bits(value) ? sk_narrow_bytes(value, sk_value_elements(value)) : sk_value_bytes(value);
}

/* Return the bytes that the package needs of a value: its own, or fewer that it is computed from. */
static uint64_t least_bytes(const struct costs *costs, uint32_t value)
{
	uint64_t bytes = sk_value_bytes(value_at(costs, value));

	return costs->computed[value] && costs->below[value] < bytes ? costs->below[value] : bytes;
}

static uint32_t input_root(const struct costs *costs, const struct sk_graph_call *call, size_t input)
{
	return sk_value_root(costs->graph, call->inputs.items[input].value);
}

static uint32_t output_root(const struct costs *costs, const struct sk_graph_call *call, size_t output)
{
	return sk_value_root(costs->graph, call->outputs.items[output].value);
}

/* The operands of a constant call add to what its results can be computed from. */
static void add_constant_call(struct costs *costs, const struct sk_graph_call *call)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < call->inputs.count; i++) {
		uint32_t root = input_root(costs, call, i);

		if (root != SK_NONE && !sk_add(bytes, least_bytes(costs, root), &bytes))
			bytes = UINT64_MAX;
	}
	for (size_t i = 0; i < call->outputs.count; i++) {
		uint32_t root = output_root(costs, call, i);

		if (root == SK_NONE)
			continue;
		costs->computed[root] = true;
		if (!sk_add(costs->below[root], bytes, &costs->below[root]))
			costs->below[root] = UINT64_MAX;
	}
}

/* Find out what the network reads. Writers of a value come before its readers. */
static struct costs find_costs(const struct sk_op_graph *graph, const sk_graph_calls *calls, const bool *constant)
{
	struct costs costs = {.graph = graph,
			      .calls = calls,
			      .constant = constant,
			      .computed = SK_NEW_ARRAY(graph->arena, bool, graph->values.count + 1),
			      .stored = SK_NEW_ARRAY(graph->arena, bool, graph->values.count + 1),
			      .below = SK_NEW_ARRAY(graph->arena, uint64_t, graph->values.count + 1)};

	for (size_t c = 0; c < calls->count; c++) {
		const struct sk_graph_call *call = &calls->items[c];

		if (constant[c]) {
			add_constant_call(&costs, call);
			continue;
		}
		for (size_t i = 0; i < call->inputs.count; i++) {
			uint32_t root = input_root(&costs, call, i);

			if (root != SK_NONE)
				costs.stored[root] |= costs.computed[root] || value_at(&costs, root)->contents;
		}
	}
	return costs;
}

/* Return the bytes of the model's constants that calls read. */
static uint64_t model_bytes(const struct costs *costs)
{
	bool *counted = SK_NEW_ARRAY(costs->graph->arena, bool, costs->graph->values.count + 1);
	uint64_t bytes = 0;

	for (size_t c = 0; c < costs->calls->count; c++)
		for (size_t i = 0; i < costs->calls->items[c].inputs.count; i++) {
			uint32_t root = input_root(costs, &costs->calls->items[c], i);

			if (root == SK_NONE || counted[root] || !value_at(costs, root)->contents)
				continue;
			counted[root] = true;
			bytes += file_bytes(value_at(costs, root)); /* of mapped files */
		}
	return bytes;
}

/* ---- choice ---- */

struct growth {
	uint32_t value;
	uint64_t bytes; /* that its result has more than what it is computed from */
};

static int compare_growth(const void *a, const void *b)
{
	const struct growth *left = a, *right = b;

	if (left->bytes != right->bytes)
		return left->bytes < right->bytes ? 1 : -1;
	return (left->value > right->value) - (left->value < right->value);
}

/* Return the results that grow, the one that grows most first. */
static struct growth *list_growth(const struct costs *costs, size_t *count)
{
	struct growth *list = SK_NEW_ARRAY(costs->graph->arena, struct growth, costs->graph->values.count + 1);

	*count = 0;
	for (uint32_t v = 0; v < costs->graph->values.count; v++) {
		uint64_t bytes = costs->stored[v] ? sk_value_bytes(value_at(costs, v)) - least_bytes(costs, v) : 0;

		if (bytes >= LEAST)
			list[(*count)++] = (struct growth){v, bytes};
	}
	qsort(list, *count, sizeof(*list), compare_growth);
	return list;
}

/* Leave the calls that write the values, and those before them that make something larger out of fewer bytes. A call is
 * left with all of its results. */
static void leave_calls(const struct costs *costs, bool *left, bool *once)
{
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t c = costs->calls->count; c-- > 0;) {
			const struct sk_graph_call *call = &costs->calls->items[c];
			bool leaves = false;

			for (size_t i = 0; i < call->outputs.count && costs->constant[c] && !once[c]; i++) {
				uint32_t root = output_root(costs, call, i);

				leaves |= root != SK_NONE && left[root];
			}
			if (!leaves)
				continue;
			once[c] = changed = true;
			for (size_t i = 0; i < call->outputs.count; i++)
				if (output_root(costs, call, i) != SK_NONE)
					left[output_root(costs, call, i)] = true;
			for (size_t i = 0; i < call->inputs.count; i++) {
				uint32_t root = input_root(costs, call, i);

				if (root != SK_NONE && costs->computed[root] &&
				    costs->below[root] < sk_value_bytes(value_at(costs, root)))
					left[root] = true;
			}
		}
	}
}

static const char *size_text(struct sk_arena *arena, uint64_t bytes)
{
	return bytes < 1 << 20 ? sk_arena_print(arena, "%.1f KiB", (double)bytes / 1024)
			       : sk_arena_print(arena, "%.1f MiB", (double)bytes / (1 << 20));
}

/* Record a result that is larger than what it is computed from, for --explain. */
static void tell(const struct costs *costs, struct sk_model *model, const struct growth *growth, bool left)
{
	const struct sk_value *value = value_at(costs, growth->value);

	sk_array_push(model->arena, &model->grown,
		      sk_arena_print(model->arena, "'%s' has %s, and is computed from %s: %s", value->name,
				     size_text(model->arena, sk_value_bytes(value)),
				     size_text(model->arena, sk_value_bytes(value) - growth->bytes),
				     left ? "it is computed once for each instance" : "it is in the package"));
}

/* Programs call the launches of an object by themselves, and a package of several networks has none that runs once.
 * With bounds such launches run again whenever an instance gets other sizes, since their results then have other
 * places. */
static bool may_leave(const struct sk_link *link, const struct sk_op_graph *graph)
{
	return !link->command->fold && !link->command->relocatable && !link->folded && !graph->sizes;
}

/* Leave out the results that grow most, until the rest is small enough. */
static void choose(const struct costs *costs, const struct sk_link *link, bool *left)
{
	const struct sk_op_graph *graph = costs->graph;
	uint64_t limit = model_bytes(costs), total = 0;
	size_t count;
	const struct growth *list = list_growth(costs, &count);

	limit += limit / PARTS + FREE;
	for (uint32_t v = 0; v < graph->values.count; v++)
		total += costs->stored[v] ? sk_value_bytes(value_at(costs, v)) : 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t v = list[i].value;

		left[v] = total > limit && may_leave(link, graph);
		total -= left[v] ? list[i].bytes : 0;
		tell(costs, link->model, &list[i], left[v]);
	}
}

void sk_folding_leave(const struct sk_link *link, struct sk_op_graph *graph, const sk_graph_calls *calls,
		      const bool *constant, bool *once)
{
	const struct costs costs = find_costs(graph, calls, constant);
	bool *left = SK_NEW_ARRAY(graph->arena, bool, graph->values.count + 1);

	choose(&costs, link, left);
	leave_calls(&costs, left, once);
	for (uint32_t v = 0; v < graph->values.count; v++)
		graph->values.items[v].once = left[v];
}
