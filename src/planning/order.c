/* See planning-parts.h. A search marks the nodes that it reaches. If the edge is accepted, the marked nodes move after
 * the others in the searched window. */
#include "src/planning/planning-parts.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"

void sk_order_init(struct sk_order *order, struct sk_arena *arena)
{
	memset(order, 0, sizeof(*order));
	order->arena = arena;
}

uint32_t sk_order_add(struct sk_order *order)
{
	uint32_t node = (uint32_t)order->nodes.count;

	sk_array_push(order->arena, &order->nodes, (struct sk_order_node){.position = node, .edges = SK_NONE});
	sk_array_push(order->arena, &order->order, node);
	return node;
}

/* Mark the nodes that can be reached from the node at positions up to last. Return the first wanted node among them, or
 * SK_NONE. */
static uint32_t search_wanted(struct sk_order *order, uint32_t from, uint32_t last)
{
	struct sk_order_node *nodes = order->nodes.items;

	order->stack.count = 0;
	nodes[from].reached = order->search;
	sk_array_push(order->arena, &order->stack, from);
	while (order->stack.count) {
		uint32_t node = order->stack.items[--order->stack.count];

		for (uint32_t e = nodes[node].edges; e != SK_NONE; e = order->edges.items[e].next) {
			uint32_t to = order->edges.items[e].to;

			order->steps++;
			if (nodes[to].wanted == order->search)
				return to;
			if (nodes[to].reached == order->search || nodes[to].position > last)
				continue;
			nodes[to].reached = order->search;
			sk_array_push(order->arena, &order->stack, to);
		}
	}
	return SK_NONE;
}

/* In the window, move the nodes that the last search reached after the others; each part keeps its order. */
static void move_reached(struct sk_order *order, uint32_t first, uint32_t last)
{
	struct sk_order_node *nodes = order->nodes.items;
	uint32_t kept = first;

	order->steps += last - first + 1;
	order->stack.count = 0;
	for (uint32_t i = first; i <= last; i++) {
		uint32_t node = order->order.items[i];

		if (nodes[node].reached == order->search)
			sk_array_push(order->arena, &order->stack, node);
		else
			order->order.items[kept++] = node;
	}
	memcpy(order->order.items + kept, order->stack.items, order->stack.count * sizeof(uint32_t));
	for (uint32_t i = first; i <= last; i++)
		nodes[order->order.items[i]].position = i;
}

static void add_edge(struct sk_order *order, uint32_t from, uint32_t to)
{
	struct sk_order_node *node = &order->nodes.items[from];

	if (node->edges != SK_NONE && order->edges.items[node->edges].to == to)
		return;
	sk_array_push(order->arena, &order->edges, (struct sk_order_edge){to, node->edges});
	node->edges = (uint32_t)order->edges.count - 1;
	order->nodes.items[to].degree++;
}

void sk_order_add_edges(struct sk_order *order, const uint32_t *from, size_t count, uint32_t to)
{
	for (size_t i = 0; i < count; i++)
		if (from[i] != to)
			add_edge(order, from[i], to);
}

uint32_t sk_order_connect(struct sk_order *order, const uint32_t *from, size_t count, uint32_t to)
{
	struct sk_order_node *nodes = order->nodes.items;
	uint32_t first = nodes[to].position, last = 0;

	order->search++;
	for (size_t i = 0; i < count; i++) {
		if (from[i] == to)
			continue;
		nodes[from[i]].wanted = order->search;
		if (nodes[from[i]].position > last)
			last = nodes[from[i]].position;
	}
	if (last > first) {
		uint32_t cycle = search_wanted(order, to, last);

		if (cycle != SK_NONE)
			return cycle;
		move_reached(order, first, last);
	}
	sk_order_add_edges(order, from, count, to);
	return SK_NONE;
}

/* ---- the final order: Kahn's algorithm with a heap of the nodes that could come next ---- */

struct heap {
	const uint32_t *keys;
	uint32_t *nodes;
	size_t count;
};

static void push_node(struct heap *heap, uint32_t node)
{
	size_t at = heap->count++;

	for (; at > 0 && heap->keys[heap->nodes[(at - 1) / 2]] > heap->keys[node]; at = (at - 1) / 2)
		heap->nodes[at] = heap->nodes[(at - 1) / 2];
	heap->nodes[at] = node;
}

static uint32_t pop_node(struct heap *heap)
{
	uint32_t top = heap->nodes[0], last = heap->nodes[--heap->count];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= heap->count)
			break;
		if (child + 1 < heap->count && heap->keys[heap->nodes[child + 1]] < heap->keys[heap->nodes[child]])
			child++;
		if (heap->keys[heap->nodes[child]] >= heap->keys[last])
			break;
		heap->nodes[at] = heap->nodes[child];
		at = child;
	}
	heap->nodes[at] = last;
	return top;
}

uint32_t *sk_order_sort(const struct sk_order *order, const uint32_t *keys)
{
	size_t count = order->nodes.count;
	uint32_t *sorted = SK_NEW_ARRAY(order->arena, uint32_t, count);
	uint32_t *degree = SK_NEW_ARRAY(order->arena, uint32_t, count);
	struct heap heap = {keys, SK_NEW_ARRAY(order->arena, uint32_t, count + 1), 0};
	size_t done = 0;

	for (uint32_t node = 0; node < count; node++) {
		degree[node] = order->nodes.items[node].degree;
		if (degree[node] == 0)
			push_node(&heap, node);
	}
	while (heap.count) {
		uint32_t node = pop_node(&heap);

		sorted[done++] = node;
		for (uint32_t e = order->nodes.items[node].edges; e != SK_NONE; e = order->edges.items[e].next)
			if (--degree[order->edges.items[e].to] == 0)
				push_node(&heap, order->edges.items[e].to);
	}
	return sorted;
}
