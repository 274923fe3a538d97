/* Open addressing with linear probing; hashes are kept, so growing does not read the keys again. */
#include "base/map.h"

#include <stdbool.h>
#include <string.h>
#include <xxhash.h>

#include "base/arena.h"

struct sk_map_slot {
	const char *key; /* NULL: empty */
	uint32_t length, hash, value;
};

void sk_map_init(struct sk_map *map, struct sk_arena *arena)
{
	*map = (struct sk_map){.arena = arena};
}

void sk_map_release(struct sk_map *map)
{
	sk_arena_release(map->arena, map->slots, map->capacity * sizeof(*map->slots));
	sk_map_init(map, map->arena);
}

static uint32_t hash_of(const char *key, size_t length)
{
	return (uint32_t)XXH3_64bits(key, length);
}

static struct sk_map_slot *find_slot(const struct sk_map *map, const char *key, size_t length, uint32_t hash)
{
	for (size_t i = hash & (map->capacity - 1);; i = (i + 1) & (map->capacity - 1)) {
		struct sk_map_slot *slot = &map->slots[i];

		if (!slot->key || (slot->hash == hash && slot->length == length && !memcmp(slot->key, key, length)))
			return slot;
	}
}

uint32_t sk_map_find(const struct sk_map *map, const char *key, size_t length)
{
	if (!map->count)
		return SK_NONE;

	const struct sk_map_slot *slot = find_slot(map, key, length, hash_of(key, length));

	return slot->key ? slot->value : SK_NONE;
}

static bool has_room(const struct sk_map *map, size_t count)
{
	return 4 * count <= 3 * map->capacity;
}

void sk_map_reserve(struct sk_map *map, size_t count)
{
	struct sk_map old = *map;

	if (has_room(map, count))
		return;
	for (map->capacity = old.capacity ? old.capacity : 16; !has_room(map, count);)
		map->capacity *= 2;
	map->slots = SK_NEW_ARRAY(map->arena, struct sk_map_slot, map->capacity);
	for (size_t i = 0; i < old.capacity; i++) {
		const struct sk_map_slot *slot = &old.slots[i];

		if (slot->key)
			*find_slot(map, slot->key, slot->length, slot->hash) = *slot;
	}
	sk_arena_release(map->arena, old.slots, old.capacity * sizeof(*old.slots));
}

uint32_t sk_map_insert(struct sk_map *map, const char *key, size_t length, uint32_t value)
{
	if (!has_room(map, map->count + 1))
		sk_map_reserve(map, map->count + 1);

	uint32_t hash = hash_of(key, length);
	struct sk_map_slot *slot = find_slot(map, key, length, hash);

	if (!slot->key) {
		*slot = (struct sk_map_slot){key, (uint32_t)length, hash, value};
		map->count++;
	}
	return slot->value;
}
