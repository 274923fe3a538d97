/* Areas; see composites-parts.h. Their order is maintained as in Pearce and Kelly, "A dynamic topological sort
 * algorithm for directed acyclic graphs" (2007). Between the first and the last area of the set, areas that lead to the
 * set move before it, and areas that it leads to move after it. All of them share out the places that they had. */
#include "graph/composites/composites-parts.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/map.h"
#include "graph/graph.h"

uint32_t sk_area_find(const struct sk_areas *areas, uint32_t area)
{
	while (areas->items[area].parent != area) {
		areas->items[area].parent = areas->items[areas->items[area].parent].parent;
		area = areas->items[area].parent;
	}
	return area;
}

static void connect(struct sk_areas *areas, const uint32_t *places, uint32_t user)
{
	const struct sk_op_graph *graph = areas->graph;
	const struct sk_graph_node *node = &graph->nodes.items[areas->nodes[user]];

	for (size_t i = 0; i < node->inputs.count; i++) {
		const struct sk_value *value = sk_node_input(graph, node, i);
		uint32_t producer;
		bool broadcast;

		if (!value || value->contents || value->fixed || value->node == SK_NONE || !places[value->node])
			continue;
		producer = places[value->node] - 1;
		broadcast = sk_edge_is_broadcast(graph, node, i);
		sk_array_push(areas->arena, &areas->items[user].inputs, (struct sk_area_edge){producer, broadcast});
		sk_array_push(areas->arena, &areas->items[producer].users, (struct sk_area_edge){user, broadcast});
	}
}

struct sk_areas *sk_areas_create(const struct sk_op_graph *graph, const uint32_t *nodes, uint32_t count,
				 uint32_t *places)
{
	struct sk_areas *areas = SK_NEW(graph->arena, struct sk_areas);

	areas->arena = graph->arena;
	areas->graph = graph;
	areas->nodes = nodes;
	areas->count = count;
	areas->items = SK_NEW_ARRAY(graph->arena, struct sk_area, count + 1);
	for (uint32_t i = 0; i < count; i++) {
		areas->items[i] = (struct sk_area){.parent = i, .count = 1, .key = i};
		places[nodes[i]] = i + 1;
	}
	for (uint32_t i = 0; i < count; i++)
		connect(areas, places, i);
	for (uint32_t i = 0; i < count; i++)
		places[nodes[i]] = 0;
	return areas;
}

/* ---- edges ---- */

/* Drop edges to parts of the area itself, and duplicates. */
static const sk_area_edges *tidy(struct sk_areas *areas, uint32_t area, sk_area_edges *edges, uint32_t *least)
{
	size_t kept = 0;

	areas->looked += edges->count;
	for (size_t i = 0; i < edges->count; i++) {
		uint32_t other = sk_area_find(areas, edges->items[i].area);
		bool broadcast = edges->items[i].broadcast;
		uint32_t *slot = &areas->items[other].slot;

		if (other == area)
			continue;
		if (*slot < kept && edges->items[*slot].area == other) {
			edges->items[*slot].broadcast |= broadcast;
			continue;
		}
		*slot = (uint32_t)kept;
		edges->items[kept++] = (struct sk_area_edge){other, broadcast};
	}
	edges->count = kept;
	*least = areas->joins + (uint32_t)kept;
	return edges;
}

const sk_area_edges *sk_area_inputs(struct sk_areas *areas, uint32_t area)
{
	return tidy(areas, area, &areas->items[area].inputs, &areas->items[area].least_inputs);
}

const sk_area_edges *sk_area_users(struct sk_areas *areas, uint32_t area)
{
	return tidy(areas, area, &areas->items[area].users, &areas->items[area].least_users);
}

/* A join of two areas makes the edges of another one fewer by at most one. Until there have been enough joins, edges
 * that were more than `most` still are, and need not be counted again. */
static bool are_more(const struct sk_areas *areas, uint32_t least, uint32_t most)
{
	return least > areas->joins && least - areas->joins > most;
}

const sk_area_edges *sk_area_few_inputs(struct sk_areas *areas, uint32_t area, uint32_t most)
{
	const sk_area_edges *edges =
		are_more(areas, areas->items[area].least_inputs, most) ? NULL : sk_area_inputs(areas, area);

	return edges && edges->count <= most ? edges : NULL;
}

const sk_area_edges *sk_area_few_users(struct sk_areas *areas, uint32_t area, uint32_t most)
{
	const sk_area_edges *edges =
		are_more(areas, areas->items[area].least_users, most) ? NULL : sk_area_users(areas, area);

	return edges && edges->count <= most ? edges : NULL;
}

/* ---- joins ---- */

/* The search for areas that the set leads to, or that lead to it, between its first and its last area. */
struct search {
	bool forward;
	uint32_t first, last; /* keys */
	uint32_t set, seen; /* marks */
	uint64_t most; /* steps, at the end */
};

/* False if a path from outside leads back into the set, or if the search takes too many steps. */
static bool look_around(struct sk_areas *areas, const struct search *search, uint32_t area, sk_area_places *found)
{
	bool inside = areas->items[area].mark == search->set;
	const sk_area_edges *edges = search->forward ? sk_area_few_users(areas, area, SK_AREA_MOST_STEPS)
						     : sk_area_few_inputs(areas, area, SK_AREA_MOST_STEPS);

	for (size_t i = 0; edges && i < edges->count; i++) {
		struct sk_area *other = &areas->items[edges->items[i].area];

		if (++areas->steps > search->most || (other->mark == search->set && !inside))
			return false;
		if (other->mark == search->set || other->mark == search->seen || other->key < search->first ||
		    other->key > search->last)
			continue;
		other->mark = search->seen;
		sk_array_push(areas->arena, found, (struct sk_area_place){other->key, edges->items[i].area});
	}
	return edges;
}

static bool look_from(struct sk_areas *areas, const struct search *search, const uint32_t *set, uint32_t count,
		      sk_area_places *found)
{
	found->count = 0;
	for (uint32_t i = 0; i < count; i++)
		if (!look_around(areas, search, set[i], found))
			return false;
	for (size_t i = 0; i < found->count; i++)
		if (!look_around(areas, search, found->items[i].area, found))
			return false;
	return true;
}

static int compare_places(const void *one, const void *other)
{
	uint32_t a = ((const struct sk_area_place *)one)->key, b = ((const struct sk_area_place *)other)->key;

	return (a > b) - (a < b);
}

static void sort_places(sk_area_places *places)
{
	if (places->count)
		qsort(places->items, places->count, sizeof(*places->items), compare_places);
}

static void add_places(struct sk_areas *areas, const sk_area_places *places)
{
	for (size_t i = 0; i < places->count; i++)
		sk_array_push(areas->arena, &areas->places, places->items[i]);
}

/* Areas that lead to the set get the first of all their places, areas that it leads to the last ones. */
static void put_in_order(struct sk_areas *areas, const uint32_t *set, uint32_t count)
{
	size_t place = 0;

	sort_places(&areas->before);
	sort_places(&areas->after);
	areas->places.count = 0;
	add_places(areas, &areas->before);
	add_places(areas, &areas->after);
	for (uint32_t i = 0; i < count; i++)
		sk_array_push(areas->arena, &areas->places, (struct sk_area_place){areas->items[set[i]].key, set[i]});
	sort_places(&areas->places);
	for (size_t i = 0; i < areas->before.count; i++)
		areas->items[areas->before.items[i].area].key = areas->places.items[place++].key;
	for (uint32_t i = 0; i < count; i++)
		areas->items[set[i]].key = areas->places.items[place++].key;
	for (size_t i = 0; i < areas->after.count; i++)
		areas->items[areas->after.items[i].area].key = areas->places.items[place++].key;
}

static void add_edges(struct sk_areas *areas, sk_area_edges *to, const sk_area_edges *from)
{
	for (size_t i = 0; i < from->count; i++)
		sk_array_push(areas->arena, to, from->items[i]);
}

/* Merge the others into the area with the most edges. */
static void merge_areas(struct sk_areas *areas, const uint32_t *set, uint32_t count)
{
	uint32_t largest = set[0];

	for (uint32_t i = 1; i < count; i++) {
		const struct sk_area *area = &areas->items[set[i]], *most = &areas->items[largest];

		if (area->inputs.count + area->users.count > most->inputs.count + most->users.count)
			largest = set[i];
	}
	for (uint32_t i = 0; i < count; i++) {
		if (set[i] == largest)
			continue;
		add_edges(areas, &areas->items[largest].inputs, &areas->items[set[i]].inputs);
		add_edges(areas, &areas->items[largest].users, &areas->items[set[i]].users);
		areas->items[largest].count += areas->items[set[i]].count;
		areas->items[set[i]].parent = largest;
	}
}

bool sk_areas_join(struct sk_areas *areas, const uint32_t *set, uint32_t count)
{
	struct search search = {.forward = true, .first = UINT32_MAX, .set = ++areas->mark};

	for (uint32_t i = 0; i < count; i++) {
		struct sk_area *area = &areas->items[set[i]];

		area->mark = search.set;
		search.first = area->key < search.first ? area->key : search.first;
		search.last = area->key > search.last ? area->key : search.last;
	}
	search.most = areas->steps + SK_AREA_MOST_STEPS;
	search.seen = ++areas->mark;
	if (!look_from(areas, &search, set, count, &areas->after))
		return false;
	search.forward = false;
	search.seen = ++areas->mark;
	if (!look_from(areas, &search, set, count, &areas->before))
		return false;
	put_in_order(areas, set, count);
	areas->joins += count - 1;
	merge_areas(areas, set, count);
	return true;
}
