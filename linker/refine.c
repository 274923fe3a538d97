/* Refinement of classes. Input: a graph of nodes with classes. Output: the coarsest classes that are at least as fine
 * and in which equal nodes also have equal successors, edge by edge. Nodes that refer to each other in a circle are
 * equal unless another difference separates them.
 *
 * A class is a splitter until it has been processed. In every class, the nodes with an n-th edge into the splitter are
 * separated from the others. Only the smaller of the two parts becomes a splitter (Hopcroft, "An n log n algorithm for
 * minimizing states in a finite automaton", 1971), so each edge is looked at a logarithmic number of times. Classes are
 * ranges of one permuted array (Valmari, "Fast brief practical DFA minimization", 2012). */
#include <stdlib.h>

#include "base/arena.h"
#include "linker/linker-parts.h"

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

struct refinement {
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

static void enqueue(struct refinement *refinement, uint32_t class)
{
	refinement->classes.items[class].queued = true;
	sk_array_push(refinement->arena, &refinement->queue, class);
}

/* Gather the classes of the input: counted, then filled. */
static void gather_classes(struct refinement *refinement)
{
	const struct sk_graph *graph = refinement->graph;
	uint32_t first = 0;

	for (uint32_t i = 0; i < graph->class_count; i++)
		sk_array_push(refinement->arena, &refinement->classes, (struct class){0});
	for (uint32_t i = 0; i < graph->node_count; i++)
		refinement->classes.items[graph->classes[i]].count++;
	for (uint32_t i = 0; i < graph->class_count; i++) {
		refinement->classes.items[i].first = first;
		first += refinement->classes.items[i].count;
		refinement->classes.items[i].count = 0;
		enqueue(refinement, i);
	}
	for (uint32_t i = 0; i < graph->node_count; i++) {
		struct class *class = &refinement->classes.items[graph->classes[i]];

		refinement->positions[i] = class->first + class->count++;
		refinement->members[refinement->positions[i]] = i;
	}
}

static void turn_edges(struct refinement *refinement)
{
	const struct sk_graph *graph = refinement->graph;
	uint64_t count = graph->first_edges[graph->node_count];
	uint64_t *next = SK_NEW_ARRAY(refinement->arena, uint64_t, (size_t)graph->node_count + 1);

	refinement->first_incoming = SK_NEW_ARRAY(refinement->arena, uint64_t, (size_t)graph->node_count + 1);
	refinement->incoming = SK_NEW_ARRAY(refinement->arena, struct incoming, count);
	for (uint64_t i = 0; i < count; i++)
		refinement->first_incoming[graph->targets[i] + 1]++;
	for (uint32_t i = 0; i < graph->node_count; i++)
		next[i + 1] = refinement->first_incoming[i + 1] += refinement->first_incoming[i];
	for (uint32_t i = 0; i < graph->node_count; i++)
		for (uint64_t j = graph->first_edges[i]; j < graph->first_edges[i + 1]; j++)
			refinement->incoming[next[graph->targets[j]]++] =
				(struct incoming){(uint32_t)(j - graph->first_edges[i]), i};
}

/* Mark the node, which is about to leave its class. */
static void mark(struct refinement *refinement, uint32_t node)
{
	uint32_t number = refinement->graph->classes[node];
	struct class *class = &refinement->classes.items[number];
	uint32_t from = refinement->positions[node], to = class->first + class->marked;
	uint32_t other = refinement->members[to];

	if (!class->marked++)
		sk_array_push(refinement->arena, &refinement->touched, number);
	refinement->members[to] = node;
	refinement->members[from] = other;
	refinement->positions[node] = to;
	refinement->positions[other] = from;
}

/* Move marked members to a class of their own, unless all are marked. */
static void split(struct refinement *refinement, uint32_t number)
{
	struct class *class = &refinement->classes.items[number];
	uint32_t fresh = (uint32_t)refinement->classes.count;
	struct class left = {.first = class->first, .count = class->marked};
	bool queued = class->queued;

	class->marked = 0;
	if (left.count == class->count)
		return;
	class->first += left.count;
	class->count -= left.count;

	uint32_t smaller = queued || left.count <= class->count ? fresh : number;

	for (uint32_t i = 0; i < left.count; i++)
		refinement->graph->classes[refinement->members[left.first + i]] = fresh;
	sk_array_push(refinement->arena, &refinement->classes, left);
	enqueue(refinement, smaller);
}

static int compare_numbers(const void *a, const void *b)
{
	const struct incoming *left = a, *right = b;

	return (left->number > right->number) - (left->number < right->number);
}

static void split_by(struct refinement *refinement, const struct class *splitter)
{
	refinement->edges.count = 0;
	for (uint32_t i = 0; i < splitter->count; i++) {
		uint32_t node = refinement->members[splitter->first + i];

		for (uint64_t j = refinement->first_incoming[node]; j < refinement->first_incoming[node + 1]; j++)
			sk_array_push(refinement->arena, &refinement->edges, refinement->incoming[j]);
	}
	if (refinement->edges.count)
		qsort(refinement->edges.items, refinement->edges.count, sizeof(struct incoming), compare_numbers);
	for (size_t i = 0; i < refinement->edges.count;) {
		uint32_t number = refinement->edges.items[i].number;

		refinement->touched.count = 0;
		for (; i < refinement->edges.count && refinement->edges.items[i].number == number; i++)
			mark(refinement, refinement->edges.items[i].source);
		for (size_t j = 0; j < refinement->touched.count; j++)
			split(refinement, refinement->touched.items[j]);
	}
}

void sk_refine(struct sk_arena *arena, struct sk_graph *graph)
{
	struct refinement refinement = {.arena = arena,
					.graph = graph,
					.members = SK_NEW_ARRAY(arena, uint32_t, graph->node_count),
					.positions = SK_NEW_ARRAY(arena, uint32_t, graph->node_count)};

	gather_classes(&refinement);
	turn_edges(&refinement);
	while (refinement.queue.count) {
		uint32_t number = refinement.queue.items[--refinement.queue.count];
		const struct class splitter =
			refinement.classes.items[number]; /* which may itself be split meanwhile */

		refinement.classes.items[number].queued = false;
		split_by(&refinement, &splitter);
	}
	graph->class_count = (uint32_t)refinement.classes.count;
}
