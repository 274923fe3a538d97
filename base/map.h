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
 * than 4 GiB. Iteration is over the caller's own array, so the order of the map never shows in any output. */

#define SK_NONE UINT32_MAX /* "no index", everywhere */

struct sk_map {
	struct sk_arena *arena;
	struct sk_map_slot *slots;
	size_t count;
	size_t capacity; /* a power of two, or 0 */
};

void sk_map_init(struct sk_map *map, struct sk_arena *arena);

/* Empties the map, and gives its memory back. */
void sk_map_release(struct sk_map *map);

/* Makes room for so many keys in all, which then take less memory and time than where the map grows with them. */
void sk_map_reserve(struct sk_map *map, size_t count);

/* The value of the key, or SK_NONE. */
uint32_t sk_map_find(const struct sk_map *map, const char *key, size_t length);

/* Inserts the value unless the key is there; returns the value that the key has afterwards. */
uint32_t sk_map_insert(struct sk_map *map, const char *key, size_t length, uint32_t value);

/* ==== beside.c ====
 *
 * Work that a thread does beside what its starter does meanwhile, for what the two do not share anything that either
 * writes. A thread that has not begun when its work is awaited is not waited for: on a busy machine that can be longer
 * than the work takes. */

struct sk_beside {
	struct sk_beside_work *work; /* NULL: it is done */
};

/* Starts a thread for the work. Where only one may be had, or none is left, it is done before this returns. */
void sk_beside_start(struct sk_beside *beside, unsigned threads, void (*work)(void *context), void *context);

/* Returns when the work is done, if need be by this thread. */
void sk_beside_wait(struct sk_beside *beside);

#endif
