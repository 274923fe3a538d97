/* Partition refinement: a graph whose nodes have classes comes in; the coarsest classes that are at least as fine go
 * out in which equal nodes also have equal successors, edge by edge. Nodes that refer to each other in a circle are
 * equal unless something says otherwise.
 *
 * A class is a splitter until it has been looked at: of every class, the nodes whose n-th edge leads into the splitter
 * part from those whose n-th edge does not. Of the two parts only the smaller one becomes a splitter (Hopcroft, "An n
 * log n algorithm for minimizing states in a finite automaton", 1971), so each edge is looked at a logarithmic number
 * of times. Classes are ranges of one permuted array (Valmari, "Fast brief practical DFA minimization", 2012). */
#include <stdlib.h>

#include "linker/fold.h"
#include "src/base/arena.h"

struct class
{
	uint32_t first, count; /* in members */
	uint32_t marked; /* members at the start that are about to leave */
	bool queued;
};

/* An edge, seen from its target. */
struct incoming {
	uint32_t number; /* of the edge in its source, from 0 */
	uint32_t source;
};

struct partition {
	struct sk_arena *arena;
	struct sk_graph *graph;
	uint32_t *members; /* nodes, class by class */
	uint32_t *positions; /* of nodes in members */
	SK_ARRAY(struct class) classes;
	SK_ARRAY(uint32_t) queue; /* splitters */
	SK_ARRAY(uint32_t) touched; /* classes with marked members */
	SK_ARRAY(struct incoming) edges; /* into the splitter */
	uint64_t *first_incoming; /* by node, and the end */
	struct incoming *incoming;
};

static void enqueue(struct partition *partition, uint32_t class)
{
	partition->classes.items[class].queued = true;
	sk_array_push(partition->arena, &partition->queue, class);
}

/* The classes that come in: counted, then filled. */
static void gather_classes(struct partition *partition)
{
	const struct sk_graph *graph = partition->graph;
	uint32_t first = 0;

	for (uint32_t i = 0; i < graph->class_count; i++)
		sk_array_push(partition->arena, &partition->classes, (struct class){0});
	for (uint32_t i = 0; i < graph->node_count; i++)
		partition->classes.items[graph->classes[i]].count++;
	for (uint32_t i = 0; i < graph->class_count; i++) {
		partition->classes.items[i].first = first;
		first += partition->classes.items[i].count;
		partition->classes.items[i].count = 0;
		enqueue(partition, i);
	}
	for (uint32_t i = 0; i < graph->node_count; i++) {
		struct class *class = &partition->classes.items[graph->classes[i]];

		partition->positions[i] = class->first + class->count++;
		partition->members[partition->positions[i]] = i;
	}
}

static void turn_edges(struct partition *partition)
{
	const struct sk_graph *graph = partition->graph;
	uint64_t count = graph->first_edges[graph->node_count];
	uint64_t *next = SK_NEW_ARRAY(partition->arena, uint64_t, (size_t)graph->node_count + 1);

	partition->first_incoming = SK_NEW_ARRAY(partition->arena, uint64_t, (size_t)graph->node_count + 1);
	partition->incoming = SK_NEW_ARRAY(partition->arena, struct incoming, count);
	for (uint64_t i = 0; i < count; i++)
		partition->first_incoming[graph->targets[i] + 1]++;
	for (uint32_t i = 0; i < graph->node_count; i++)
		next[i + 1] = partition->first_incoming[i + 1] += partition->first_incoming[i];
	for (uint32_t i = 0; i < graph->node_count; i++)
		for (uint64_t j = graph->first_edges[i]; j < graph->first_edges[i + 1]; j++)
			partition->incoming[next[graph->targets[j]]++] =
				(struct incoming){(uint32_t)(j - graph->first_edges[i]), i};
}

/* The node is about to leave its class. */
static void mark(struct partition *partition, uint32_t node)
{
	uint32_t number = partition->graph->classes[node];
	struct class *class = &partition->classes.items[number];
	uint32_t from = partition->positions[node], to = class->first + class->marked;
	uint32_t other = partition->members[to];

	if (!class->marked++)
		sk_array_push(partition->arena, &partition->touched, number);
	partition->members[to] = node;
	partition->members[from] = other;
	partition->positions[node] = to;
	partition->positions[other] = from;
}

/* Marked members get a class of their own, unless all are marked. */
static void split(struct partition *partition, uint32_t number)
{
	struct class *class = &partition->classes.items[number];
	uint32_t fresh = (uint32_t)partition->classes.count;
	struct class left = {.first = class->first, .count = class->marked};
	bool queued = class->queued;

	class->marked = 0;
	if (left.count == class->count)
		return;
	class->first += left.count;
	class->count -= left.count;

	uint32_t smaller = queued || left.count <= class->count ? fresh : number;

	for (uint32_t i = 0; i < left.count; i++)
		partition->graph->classes[partition->members[left.first + i]] = fresh;
	sk_array_push(partition->arena, &partition->classes, left);
	enqueue(partition, smaller);
}

static int compare_numbers(const void *a, const void *b)
{
	const struct incoming *left = a, *right = b;

	return (left->number > right->number) - (left->number < right->number);
}

static void split_by(struct partition *partition, const struct class *splitter)
{
	partition->edges.count = 0;
	for (uint32_t i = 0; i < splitter->count; i++) {
		uint32_t node = partition->members[splitter->first + i];

		for (uint64_t j = partition->first_incoming[node]; j < partition->first_incoming[node + 1]; j++)
			sk_array_push(partition->arena, &partition->edges, partition->incoming[j]);
	}
	if (partition->edges.count)
		qsort(partition->edges.items, partition->edges.count, sizeof(struct incoming), compare_numbers);
	for (size_t i = 0; i < partition->edges.count;) {
		uint32_t number = partition->edges.items[i].number;

		partition->touched.count = 0;
		for (; i < partition->edges.count && partition->edges.items[i].number == number; i++)
			mark(partition, partition->edges.items[i].source);
		for (size_t j = 0; j < partition->touched.count; j++)
			split(partition, partition->touched.items[j]);
	}
}

void sk_refine(struct sk_arena *arena, struct sk_graph *graph)
{
	struct partition partition = {.arena = arena,
				      .graph = graph,
				      .members = SK_NEW_ARRAY(arena, uint32_t, graph->node_count),
				      .positions = SK_NEW_ARRAY(arena, uint32_t, graph->node_count)};

	gather_classes(&partition);
	turn_edges(&partition);
	while (partition.queue.count) {
		uint32_t number = partition.queue.items[--partition.queue.count];
		const struct class splitter = partition.classes.items[number]; /* which may itself be split meanwhile */

		partition.classes.items[number].queued = false;
		split_by(&partition, &splitter);
	}
	graph->class_count = (uint32_t)partition.classes.count;
}
