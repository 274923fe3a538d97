/* Looks up kernels for nodes; see link.h. */
#include "src/link/link.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/timing.h"
#include "graph/graph.h"
#include "graph/passes/passes.h"
#include "src/bind/bind.h"
#include "src/model/model.h"

/* ---- a graph of these nodes alone ---- */

struct trial {
	const struct sk_op_graph *from;
	struct sk_op_graph *graph;
	SK_ARRAY(uint32_t) values; /* values of the original graph, by value of the trial graph */
};

static uint32_t take_value(struct trial *trial, uint32_t index)
{
	struct sk_op_graph *graph = trial->graph;
	struct sk_value value;
	uint32_t known = 0;

	if (index == SK_NONE)
		return SK_NONE;
	while (known < trial->values.count && trial->values.items[known] != index)
		known++;
	if (known < trial->values.count)
		return known;
	value = trial->from->values.items[index];
	value.node = value.view_of = SK_NONE;
	value.input = !value.contents;
	value.output = value.kept = false;
	sk_array_push(graph->arena, &trial->values, index);
	sk_array_push(graph->arena, &graph->values, value);
	sk_map_insert(&graph->value_names, value.name, strlen(value.name), known);
	return known;
}

static void take_node(struct trial *trial, const struct sk_graph_node *from)
{
	struct sk_op_graph *graph = trial->graph;
	uint32_t index = (uint32_t)graph->nodes.count;
	struct sk_graph_node node = *from;

	memset(&node.inputs, 0, sizeof(node.inputs));
	memset(&node.outputs, 0, sizeof(node.outputs));
	for (size_t i = 0; i < from->inputs.count; i++)
		sk_array_push(graph->arena, &node.inputs, take_value(trial, from->inputs.items[i]));
	for (size_t i = 0; i < from->outputs.count; i++) {
		uint32_t value = take_value(trial, from->outputs.items[i]);

		sk_array_push(graph->arena, &node.outputs, value);
		if (value == SK_NONE)
			continue;
		graph->values.items[value].node = index;
		graph->values.items[value].input = false;
		graph->values.items[value].output = true;
		sk_array_push(graph->arena, &graph->outputs, value);
	}
	sk_array_push(graph->arena, &graph->nodes, node);
}

static struct sk_op_graph *make_graph(struct sk_arena *arena, struct sk_diag *diag, const struct sk_op_graph *from,
				      const sk_graph_nodes *nodes)
{
	struct trial trial = {.from = from, .graph = sk_graph_create(arena, diag, from->file)};

	trial.graph->groups = from->groups;
	for (size_t n = 0; n < nodes->count; n++)
		take_node(&trial, &nodes->items[n]);
	for (uint32_t v = 0; v < trial.graph->values.count; v++)
		if (trial.graph->values.items[v].input)
			sk_array_push(arena, &trial.graph->inputs, v);
	return trial.graph;
}

/* ---- looking up kernels ---- */

/* Return the reason why a node has no kernel, or NULL. Set *first to the kernel of the first library that has one of
 * the nodes' kernels; it is a copy, since reading more libraries may move the original. Without a name: no kernel. */
static const char *find_missing(const struct sk_link *link, struct sk_op_graph *graph, struct sk_op_kernel *first)
{
	struct sk_model *model = sk_model_create(graph->arena, graph->diag);
	sk_graph_calls calls = {NULL, 0, 0};
	const char *missing = NULL;

	*first = (struct sk_op_kernel){.name = NULL};
	if (!sk_graph_canonical(graph, graph->outputs.items, graph->outputs.count, &calls))
		return sk_diag_first(graph->diag);
	sk_graph_lower(graph, &calls, NULL, NULL, model);
	for (size_t t = 0; t < model->tasks.count; t++) {
		const struct sk_op_kernel *found;
		const char *why = sk_kernels_missing(link->model, link->linker, model, &model->tasks.items[t], &found);

		if (!missing)
			missing = why;
		if (found && (!first->name || found->order < first->order))
			*first = *found;
	}
	return missing;
}

/* Return the reason why the nodes may not replace the others, or NULL. */
static const char *find_reason(const struct sk_link *link, struct sk_arena *arena, const struct sk_op_graph *graph,
			       const sk_graph_nodes *replaced, const sk_graph_nodes *nodes)
{
	struct sk_op_kernel new, old;
	struct sk_diag diag;
	const char *missing;

	sk_diag_init(&diag, arena);
	missing = find_missing(link, make_graph(arena, &diag, graph, nodes), &new);
	if (missing || !replaced)
		return missing;
	sk_diag_init(&diag, arena);
	find_missing(link, make_graph(arena, &diag, graph, replaced), &old); /* kernels missing here do not matter */
	if (!old.name || !new.name || old.order >= new.order)
		return NULL;
	return sk_arena_print(arena, "%s is in a library before that of %s", old.name, new.name);
}

const char *sk_have_kernels(void *context, const struct sk_op_graph *graph, const sk_graph_nodes *replaced,
			    const sk_graph_nodes *nodes)
{
	struct sk_link *link = context;
	struct sk_arena *scratch = sk_arena_create();
	const char *reason;

	sk_timing_begin(link->timing, "inputs", "for rules");
	sk_link_inputs(link);
	sk_timing_end(link->timing);
	reason = find_reason(link, scratch, graph, replaced, nodes);
	if (reason)
		reason = sk_arena_copy(link->arena, reason, strlen(reason));
	sk_arena_destroy(scratch);
	return reason;
}
