/* The passes fuse_basic and graph_kernel_cluster, as in MindSpore: they combine connected nodes. From the last node on,
 * each candidate takes in the candidates that it reads, and those that they read, unless a path through other nodes
 * would leave the composite and come back. Shapes and sizes play no part; the splitter or the planner cuts composites
 * into pieces of one loop each. */
#include <string.h>

#include "base/arena.h"
#include "graph/composites/composites-parts.h"
#include "graph/composites/composites.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"

struct clustering {
	struct sk_op_graph *graph;
	struct sk_areas *areas;
	const uint32_t *nodes; /* by area */
	bool *members; /* by original area: may be a member */
	uint32_t *tried; /* by original area: the last node that tried to take it in, plus 1 */
	SK_ARRAY(uint32_t) heap; /* original areas, the last one in the order of areas on top */
};

/* ---- the initial areas ---- */

static uint32_t *list_computing(const struct sk_op_graph *graph, uint32_t *count)
{
	uint32_t *nodes = SK_NEW_ARRAY(graph->arena, uint32_t, graph->nodes.count + 1);

	*count = 0;
	for (uint32_t n = 0; n < graph->nodes.count; n++)
		if (sk_node_computes(graph, &graph->nodes.items[n]))
			nodes[(*count)++] = n;
	return nodes;
}

/* An existing composite is one area. */
static void join_composites(struct clustering *clustering)
{
	const struct sk_op_graph *graph = clustering->graph;
	uint32_t *first = SK_NEW_ARRAY(graph->arena, uint32_t, graph->composites.count + 1);

	for (uint32_t i = 0; i < clustering->areas->count; i++) {
		uint32_t composite = graph->nodes.items[clustering->nodes[i]].composite;

		if (composite && first[composite]) {
			uint32_t set[] = {sk_area_find(clustering->areas, first[composite] - 1), i};

			sk_areas_join(clustering->areas, set, 2);
		}
		if (composite)
			first[composite] = i + 1;
	}
}

static struct clustering begin_clustering(struct sk_op_graph *graph)
{
	struct clustering clustering = {.graph = graph};
	uint32_t count, *places = SK_NEW_ARRAY(graph->arena, uint32_t, graph->nodes.count + 1);

	clustering.nodes = list_computing(graph, &count);
	clustering.areas = sk_areas_create(graph, clustering.nodes, count, places);
	clustering.members = SK_NEW_ARRAY(graph->arena, bool, count + 1);
	clustering.tried = SK_NEW_ARRAY(graph->arena, uint32_t, count + 1);
	join_composites(&clustering);
	return clustering;
}

static const struct sk_graph_node *node_of_area(const struct clustering *clustering, uint32_t area)
{
	return &clustering->graph->nodes.items[clustering->nodes[area]];
}

/* ---- growth ---- */

/* Return its place in the order of areas. All areas in the heap lead to the area that grows, or are parts of it. A join
 * does not change the order of these, so the heap stays a heap. */
static uint32_t order_of_area(const struct clustering *clustering, uint32_t area)
{
	return clustering->areas->items[sk_area_find(clustering->areas, area)].key;
}

static void push_area(struct clustering *clustering, uint32_t area)
{
	uint32_t key = order_of_area(clustering, area);
	uint32_t *heap;
	size_t place = clustering->heap.count;

	sk_array_push(clustering->graph->arena, &clustering->heap, area);
	heap = clustering->heap.items;
	for (; place && order_of_area(clustering, heap[(place - 1) / 2]) < key; place = (place - 1) / 2)
		heap[place] = heap[(place - 1) / 2];
	heap[place] = area;
}

static uint32_t pop_area(struct clustering *clustering)
{
	uint32_t *heap = clustering->heap.items, top = heap[0], last = heap[--clustering->heap.count];
	uint32_t key = order_of_area(clustering, last);
	size_t count = clustering->heap.count, place = 0;

	for (size_t child = 1; child < count; child = 2 * place + 1) {
		if (child + 1 < count &&
		    order_of_area(clustering, heap[child + 1]) > order_of_area(clustering, heap[child]))
			child++;
		if (order_of_area(clustering, heap[child]) <= key)
			break;
		heap[place] = heap[child];
		place = child;
	}
	heap[place] = last;
	return top;
}

static void push_first(struct clustering *clustering, const sk_area_edges *edges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		push_area(clustering, edges->items[i].area);
}

/* Take in the inputs of the area, the last one first. An area between an input and the growing one has therefore been
 * decided before that input is tried. */
static void grow(struct clustering *clustering, uint32_t root)
{
	struct sk_areas *areas = clustering->areas;
	const sk_area_edges *edges = sk_area_inputs(areas, sk_area_find(areas, root));

	push_first(clustering, edges, edges->count);
	while (clustering->heap.count) {
		uint32_t set[] = {sk_area_find(areas, root), sk_area_find(areas, pop_area(clustering))}, other = set[1];
		const sk_area_edges *inputs;
		size_t count;

		if (other == set[0] || clustering->tried[other] == root + 1 || !clustering->members[other] ||
		    !sk_node_same_scope(node_of_area(clustering, root), node_of_area(clustering, other)))
			continue;
		clustering->tried[other] = root + 1;
		inputs = sk_area_few_inputs(areas, other, SK_AREA_MOST_STEPS);
		count = inputs ? inputs->count : 0;
		if (inputs && sk_areas_join(areas, set, 2)) /* the join keeps these edges in place */
			push_first(clustering, &areas->items[other].inputs, count);
	}
}

/* An area that has been taken in has nothing left to take in. */
static void grow_all(struct clustering *clustering)
{
	struct sk_areas *areas = clustering->areas;
	uint32_t *sizes = SK_NEW_ARRAY(areas->arena, uint32_t, areas->count + 1);

	for (uint32_t i = 0; i < areas->count; i++)
		sizes[sk_area_find(areas, i)] = areas->items[sk_area_find(areas, i)].count;
	for (uint32_t i = areas->count; i--;) {
		uint32_t area = sk_area_find(areas, i);

		if (clustering->members[i] && areas->items[area].count == sizes[area])
			grow(clustering, i);
	}
}

/* ---- the passes ---- */

/* Make composites of the areas with at least so many members, and of former composites. */
static enum sk_pass_result assign(struct clustering *clustering, uint32_t least)
{
	struct sk_op_graph *graph = clustering->graph;
	uint32_t *groups = SK_NEW_ARRAY(graph->arena, uint32_t, graph->nodes.count + 1);

	memset(groups, 0xff, (graph->nodes.count + 1) * sizeof(*groups));
	for (uint32_t i = 0; i < clustering->areas->count; i++) {
		const struct sk_graph_node *node = node_of_area(clustering, i);
		uint32_t area = sk_area_find(clustering->areas, i), count = clustering->areas->items[area].count;
		bool wrapped = clustering->members[i] && count >= least &&
			       (count > 1 || sk_node_kind(graph, node) != SK_KIND_VIRTUAL);

		if (wrapped || node->composite)
			groups[clustering->nodes[i]] = area;
	}
	return sk_composites_assign(graph, groups, "fusion");
}

/* MindSpore's list of basic operators. TensorAdd is Add, ExpandDims is Unsqueeze. */
static bool is_basic(const struct sk_graph_node *node)
{
	static const char *const basic[] = {"Add", "Cast", "Mul", "Sub", "Unsqueeze", NULL};

	return sk_node_is_one_of(node, basic);
}

enum sk_pass_result sk_pass_fuse_basic(struct sk_op_graph *graph, const struct sk_fusion_flags *flags)
{
	const struct sk_op_list *list = sk_valid_ops(graph->arena, flags, SK_LIST_CLUSTER);
	struct clustering clustering = begin_clustering(graph);

	for (uint32_t i = 0; i < clustering.areas->count; i++) {
		const struct sk_graph_node *node = node_of_area(&clustering, i);

		clustering.members[i] = !node->composite && is_basic(node) && sk_op_list_has(list, node) &&
					sk_node_is_legal(graph, node, flags->target);
	}
	grow_all(&clustering);
	return assign(&clustering, 2);
}

enum sk_pass_result sk_pass_graph_kernel_cluster(struct sk_op_graph *graph, const struct sk_fusion_flags *flags)
{
	const struct sk_op_list *list = sk_valid_ops(graph->arena, flags, SK_LIST_CLUSTER);
	struct clustering clustering = begin_clustering(graph);

	for (uint32_t i = 0; i < clustering.areas->count; i++) {
		const struct sk_graph_node *node = node_of_area(&clustering, i);

		clustering.members[i] =
			node->composite || (sk_op_list_has(list, node) && sk_node_is_legal(graph, node, flags->target));
	}
	grow_all(&clustering);
	return assign(&clustering, 1);
}
