/* A binary heap of events for the simulation: the least key first, and of equal keys the least id. */
#ifndef SK_LOADER_EVENT_HEAP_H
#define SK_LOADER_EVENT_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct sk_event_item {
	double key;
	uint32_t id;
};

struct sk_event_heap {
	struct sk_event_item *items; /* the caller's, with room for all that are in it at once */
	uint32_t count;
};

static inline bool sk_event_less(struct sk_event_item a, struct sk_event_item b)
{
	return a.key != b.key ? a.key < b.key : a.id < b.id;
}

static inline void sk_event_push(struct sk_event_heap *heap, double key, uint32_t id)
{
	struct sk_event_item item = {key, id};
	uint32_t at = heap->count++;

	for (; at > 0 && sk_event_less(item, heap->items[(at - 1) / 2]); at = (at - 1) / 2)
		heap->items[at] = heap->items[(at - 1) / 2];
	heap->items[at] = item;
}

static inline struct sk_event_item sk_event_pop(struct sk_event_heap *heap)
{
	struct sk_event_item first = heap->items[0], last = heap->items[--heap->count];
	uint32_t at = 0;

	for (uint32_t child; (child = 2 * at + 1) < heap->count; at = child) {
		if (child + 1 < heap->count && sk_event_less(heap->items[child + 1], heap->items[child]))
			child++;
		if (!sk_event_less(heap->items[child], last))
			break;
		heap->items[at] = heap->items[child];
	}
	heap->items[at] = last;
	return first;
}

#endif
