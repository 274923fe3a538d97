/* The splitter: it cuts composites into pieces of one loop each, by MindSpore's rules (its split model for Ascend).
 * Each node of a composite is an area at first. By one pattern after another, areas take in the neighbours that their
 * loop can also compute. The remaining areas are the pieces. A piece becomes a composite, unless it computes nothing by
 * itself. */
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "graph/composites/composites-parts.h"
#include "graph/composites/composites.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"

/* The pieces of a composite become groups. */
struct splitting {
	struct sk_op_graph *graph;
	const struct sk_fusion_flags *flags;
	uint32_t *places; /* by node: for areas */
	uint32_t *groups; /* by node */
	const bool *read_outside; /* by value: read in another composite, or by the network */
};

/* A piece that only moves or renames elements is not a kernel by itself. */
static bool is_composite(const struct splitting *splitting, const struct sk_pieces *pieces, uint32_t area)
{
	const struct sk_areas *areas = pieces->areas;
	const char *op = splitting->graph->nodes.items[areas->nodes[area]].op;

	if (areas->items[area].count > 1)
		return pieces->items[area].kind > SK_KIND_RESHAPE;
	if (splitting->flags->target == SK_TARGET_ASCEND && (!strcmp(op, "Transpose") || !strcmp(op, "Cast")))
		return false;
	return pieces->items[area].kind > SK_KIND_RESHAPE;
}

static void split(struct splitting *splitting, const uint32_t *nodes, uint32_t count)
{
	const struct sk_pieces pieces = sk_pieces_create(
		splitting->graph, splitting->flags, sk_areas_create(splitting->graph, nodes, count, splitting->places),
		splitting->read_outside);

	sk_pieces_match(&pieces);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t area = sk_area_find(pieces.areas, i);

		splitting->groups[nodes[i]] = is_composite(splitting, &pieces, area) ? nodes[area] : SK_NONE;
	}
}

enum sk_pass_result sk_pass_graph_kernel_splitter(struct sk_op_graph *graph, const struct sk_fusion_flags *flags)
{
	struct splitting splitting = {.graph = graph, .flags = flags};
	struct sk_node_lists members;

	if (flags->target == SK_TARGET_HOST)
		return SK_PASS_UNCHANGED; /* the planner cuts them by the abilities of kernels */
	members = sk_graph_members(graph->arena, graph);
	splitting.places = SK_NEW_ARRAY(graph->arena, uint32_t, graph->nodes.count + 1);
	splitting.groups = SK_NEW_ARRAY(graph->arena, uint32_t, graph->nodes.count + 1);
	splitting.read_outside = sk_graph_mark_results(graph->arena, graph);
	memset(splitting.groups, 0xff, (graph->nodes.count + 1) * sizeof(uint32_t));
	for (size_t c = 0; c < graph->composites.count; c++)
		split(&splitting, &members.nodes[members.starts[c]], members.starts[c + 1] - members.starts[c]);
	return sk_composites_assign(graph, splitting.groups, "split");
}
