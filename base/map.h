/* Maps from names and numbers to values, and notes beside objects. */
#ifndef SK_BASE_MAP_H
#define SK_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct sk_arena;
struct sk_beside_work;
struct sk_map_slot;

/* ==== map.c ====
 *
 * A hash map from strings to 32-bit numbers, in an arena. Keys are not copied, must outlive the map, and are shorter
 * than 4 GiB. Callers iterate over arrays of their own, so the order of the map never affects output. */

#define SK_NONE UINT32_MAX /* no index; used everywhere */

struct sk_map {
	struct sk_arena *arena;
	struct sk_map_slot *slots;
	size_t count;
	size_t capacity; /* a power of two, or 0 */
};

void sk_map_init(struct sk_map *map, struct sk_arena *arena);

/* Empty the map, and release its memory. */
void sk_map_release(struct sk_map *map);

/* Make room for `count` keys in all, which then take less memory and time than if the map grows with them. */
void sk_map_reserve(struct sk_map *map, size_t count);

/* Return the value of the key, or SK_NONE. */
uint32_t sk_map_find(const struct sk_map *map, const char *key, size_t length);

/* Insert the value unless the key exists; return the key's value afterwards. */
uint32_t sk_map_insert(struct sk_map *map, const char *key, size_t length, uint32_t value);

/* ==== beside.c ====
 *
 * Work in a thread beside its starter. They must not share data that either of them writes. A thread that has not begun
 * when its work is awaited is not waited for: on a busy machine that could take longer than the work. */

struct sk_beside {
	struct sk_beside_work *work; /* NULL: the work is done */
};

/* Start a thread for the work. If `threads` allows only one thread, or none is available, do the work before
 * returning. */
void sk_beside_start(struct sk_beside *beside, unsigned threads, void (*work)(void *context), void *context);

/* Return when the work is done; this thread may do it. */
void sk_beside_wait(struct sk_beside *beside);

#endif
