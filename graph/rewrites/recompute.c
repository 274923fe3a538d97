/* graph_kernel_recompute: a value that several composites use is computed in each of them from stored values, and is no
 * longer stored itself. Bits stay the same. This pays if it reads at most the bytes of the value, because writing it is
 * saved. Where composites do not hold (graph.h), the planner groups tasks by the savings of tiles, and this pass does
 * nothing. */
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"
#include "graph/rewrites/rewrites-parts.h"
#include "graph/rewrites/rewrites.h"

/* Operators that compute as fast as memory is read. */
static const char *const cheap[] = {
	"Abs",
	"Add",
	"And",
	"Cast",
	"Clip",
	"Equal",
	"Expand",
	"Greater",
	"GreaterOrEqual",
	"Less",
	"LessOrEqual",
	"Max",
	"Min",
	"Mul",
	"Neg",
	"Not",
	"Or",
	"Relu",
	"Sub",
	"Where",
	"Xor",
	"sklink:NotEqual",
	"sklink:OnesLike",
	"sklink:Square",
	"sklink:ZerosLike",
	NULL,
};

struct copy {
	uint32_t next; /* the next copy before the same node, plus 1; 0: none */
	struct sk_graph_node node;
};

struct recompute {
	struct sk_op_graph *graph;
	const struct sk_fusion_flags *flags;
	size_t known; /* the number of values at the start; later ones belong to copies */
	struct sk_uses uses; /* as they were at the start */
	bool *results; /* by value: needed outside of the composite that makes it */
	uint32_t *copies; /* by node: the first copy before it, plus 1; 0: none */
	SK_ARRAY(struct copy) made;
};

static struct sk_graph_node *node_at(const struct recompute *recompute, uint32_t index)
{
	return &recompute->graph->nodes.items[index];
}

/* ---- profitability ---- */

/* True if the value is in memory, even if its reader is recomputed. */
static bool is_stored(const struct recompute *recompute, uint32_t index, const struct sk_graph_node *reader)
{
	const struct sk_value *value = &recompute->graph->values.items[index];

	if (index >= recompute->known)
		return false;
	return value->node == SK_NONE || value->contents || !reader->composite ||
	       node_at(recompute, value->node)->composite != reader->composite || recompute->results[index];
}

static bool is_cheap(const struct sk_graph_node *node)
{
	return node->outputs.count == 1 && sk_node_is_one_of(node, cheap);
}

/* True if reading its inputs again costs no more than reading the value. */
static bool saves_traffic(const struct recompute *recompute, const struct sk_graph_node *node)
{
	const struct sk_value *value = sk_node_output(recompute->graph, node, 0);
	uint64_t bytes = 0;

	for (size_t i = 0; i < node->inputs.count; i++) {
		if (node->inputs.items[i] == SK_NONE)
			continue;
		if (!is_stored(recompute, node->inputs.items[i], node))
			return false;
		bytes += sk_value_bytes(&recompute->graph->values.items[node->inputs.items[i]]);
	}
	return bytes <= sk_value_bytes(value) &&
	       sk_value_bytes(value) >= (uint64_t)recompute->flags->recompute_increment_threshold;
}

/* True if the users are in several composites, all of the node's scope and stream. */
static bool is_shared(const struct recompute *recompute, const struct sk_graph_node *node)
{
	uint32_t value = node->outputs.items[0], first = 0;
	bool several = false;

	if (recompute->graph->values.items[value].output)
		return false;
	for (uint32_t u = recompute->uses.starts[value]; u < recompute->uses.starts[value + 1]; u++) {
		const struct sk_graph_node *user = node_at(recompute, recompute->uses.items[u].node);

		if (!user->composite || !sk_node_same_scope(user, node))
			return false;
		several |= first && user->composite != first;
		first = user->composite;
	}
	return several;
}

/* ---- copies ---- */

/* Insert the copy before the node. The order of copies does not matter: the result of a copy is not stored, so no copy
 * reads another one. */
static void put_in_front(struct recompute *recompute, uint32_t node, struct sk_graph_node as)
{
	sk_array_push(recompute->graph->arena, &recompute->made, (struct copy){recompute->copies[node], as});
	recompute->copies[node] = (uint32_t)recompute->made.count;
}

/* Copy the node into the composite of the user, before that user; return the value of the copy. */
static uint32_t add_copy(struct recompute *recompute, const struct sk_graph_node *node, uint32_t user)
{
	struct sk_op_graph *graph = recompute->graph;
	const struct sk_value value = graph->values.items[node->outputs.items[0]];
	struct sk_graph_node copy = *node;
	uint32_t made = sk_graph_new_like(graph, value.name, value.dtype, &value);

	sk_graph_redirect(graph, node->outputs.items[0], made);
	memset(&copy.inputs, 0, sizeof(copy.inputs));
	memset(&copy.outputs, 0, sizeof(copy.outputs));
	for (size_t i = 0; i < node->inputs.count; i++)
		sk_array_push(graph->arena, &copy.inputs, node->inputs.items[i]);
	sk_array_push(graph->arena, &copy.outputs, made);
	copy.composite = node_at(recompute, user)->composite;
	put_in_front(recompute, user, copy);
	return made;
}

/* Users in one composite share a copy; users in the node's own composite read the node. */
static void copy_to_users(struct recompute *recompute, uint32_t index, uint32_t *values)
{
	const struct sk_graph_node *node = node_at(recompute, index);
	uint32_t value = node->outputs.items[0], first = recompute->uses.starts[value],
		 end = recompute->uses.starts[value + 1];

	for (uint32_t u = first; u < end; u++) {
		const struct sk_use *use = &recompute->uses.items[u];
		struct sk_graph_node *user = node_at(recompute, use->node);

		if (user->composite == node->composite)
			continue;
		if (!values[user->composite])
			values[user->composite] = add_copy(recompute, node, use->node) + 1;
		user->inputs.items[use->input] = values[user->composite] - 1;
	}
	for (uint32_t u = first; u < end; u++)
		values[node_at(recompute, recompute->uses.items[u].node)->composite] = 0;
	recompute->results[value] = false;
}

static void insert_copies(struct recompute *recompute)
{
	struct sk_op_graph *graph = recompute->graph;
	sk_graph_nodes before = graph->nodes;

	memset(&graph->nodes, 0, sizeof(graph->nodes));
	for (uint32_t n = 0; n < before.count; n++) {
		for (uint32_t c = recompute->copies[n]; c; c = recompute->made.items[c - 1].next)
			sk_array_push(graph->arena, &graph->nodes, recompute->made.items[c - 1].node);
		sk_array_push(graph->arena, &graph->nodes, before.items[n]);
	}
	for (uint32_t n = 0; n < graph->nodes.count; n++)
		for (size_t o = 0; o < graph->nodes.items[n].outputs.count; o++)
			if (sk_node_output(graph, &graph->nodes.items[n], o))
				sk_node_output(graph, &graph->nodes.items[n], o)->node = n;
}

/* ---- the pass ---- */

/* Return the most bytes of computed values that are live at the same time, if nodes run one after the other. */
static uint64_t find_peak(const struct recompute *recompute)
{
	const struct sk_op_graph *graph = recompute->graph;
	uint64_t *ended = SK_NEW_ARRAY(graph->arena, uint64_t, graph->nodes.count + 1), live = 0, peak = 0;

	for (uint32_t n = 0; n < graph->nodes.count; n++) {
		for (size_t o = 0; o < graph->nodes.items[n].outputs.count && !graph->nodes.items[n].removed; o++) {
			uint32_t value = graph->nodes.items[n].outputs.items[o];

			if (value == SK_NONE || graph->values.items[value].contents ||
			    recompute->uses.starts[value] == recompute->uses.starts[value + 1])
				continue;
			live += sk_value_bytes(&graph->values.items[value]);
			ended[recompute->uses.items[recompute->uses.starts[value + 1] - 1].node] +=
				sk_value_bytes(&graph->values.items[value]);
		}
		peak = live > peak ? live : peak;
		live -= ended[n];
	}
	return peak;
}

enum sk_pass_result sk_pass_graph_kernel_recompute(struct sk_op_graph *graph, const struct sk_fusion_flags *flags)
{
	struct recompute recompute = {.graph = graph, .flags = flags};
	uint32_t *values, nodes = (uint32_t)graph->nodes.count;

	if (!flags->enable_recompute_fusion || !graph->composites_hold)
		return SK_PASS_UNCHANGED;
	recompute.known = graph->values.count;
	recompute.uses = sk_graph_uses(graph->arena, graph);
	recompute.results = sk_graph_mark_results(graph->arena, graph);
	if (find_peak(&recompute) < (uint64_t)flags->recompute_peak_threshold)
		return SK_PASS_UNCHANGED;
	recompute.copies = SK_NEW_ARRAY(graph->arena, uint32_t, nodes + 1);
	values = SK_NEW_ARRAY(graph->arena, uint32_t, graph->composites.count + 1);
	for (uint32_t n = 0; n < nodes; n++)
		if (!graph->nodes.items[n].removed && is_cheap(&graph->nodes.items[n]) &&
		    is_shared(&recompute, &graph->nodes.items[n]) && saves_traffic(&recompute, &graph->nodes.items[n]))
			copy_to_users(&recompute, n, values);
	if (!recompute.made.count)
		return SK_PASS_UNCHANGED;
	insert_copies(&recompute);
	sk_rewrite_sweep(graph);
	return SK_PASS_CHANGED;
}
