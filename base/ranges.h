/* A map from disjoint ranges of bytes to numbers, in an arena. It finds what lies at a place, what lies next to it, and
 * the first range of some length; each of these, and each change, looks at as many ranges as a balanced tree is high
 * (an AVL tree: Adelson-Velsky, Landis, 1962), whatever the order in which ranges come and go.
 *
 * A map whose bytes are all zero is empty. What is returned is valid until the map changes. */
#ifndef SK_RANGES_H
#define SK_RANGES_H

#include "base/arena.h"
#include "base/map.h"

struct sk_range {
	uint64_t start, end; /* not empty */
	uint32_t value;
};

struct sk_ranges {
	SK_ARRAY(struct sk_range_node) nodes; /* the first one is nobody */
	uint32_t root; /* 0: none */
	uint32_t unused; /* nodes that were removed, linked */
	uint64_t steps; /* nodes that have been looked at, which tests count */
};

/* The first range that ends behind the offset: it holds the offset, or begins behind it. NULL: there is none. Its value
 * may be changed. */
struct sk_range *sk_ranges_find(struct sk_ranges *ranges, uint64_t offset);

/* The last range that begins before the offset, or NULL. */
struct sk_range *sk_ranges_before(struct sk_ranges *ranges, uint64_t offset);

/* The first range that begins at the offset or behind it and has at least so many bytes, or NULL. */
struct sk_range *sk_ranges_find_long(struct sk_ranges *ranges, uint64_t offset, uint64_t length);

/* Adds a range where there is none. */
void sk_ranges_insert(struct sk_arena *arena, struct sk_ranges *ranges, struct sk_range range);

/* Removes the range that begins there. */
void sk_ranges_remove(struct sk_ranges *ranges, uint64_t start);

/* Removes all that lies between; what sticks out stays. */
void sk_ranges_clear(struct sk_arena *arena, struct sk_ranges *ranges, uint64_t start, uint64_t end);

#endif
