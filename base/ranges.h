/* Arithmetic that is checked for overflow; ranges of bytes, and boxes of several directions. */
#ifndef SK_BASE_RANGES_H
#define SK_BASE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct sk_arena;

/* ==== ranges.c ====
 *
 * A map from disjoint ranges of bytes to numbers, in an arena. It finds what lies at a place, what lies next to it, and
 * the first range of some length; each of these, and each change, looks at as many ranges as a balanced tree is high
 * (an AVL tree: Adelson-Velsky, Landis, 1962), whatever the order in which ranges come and go.
 *
 * A map whose bytes are all zero is empty. What is returned is valid until the map changes. */

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

/* ==== boxes.c ====
 *
 * A map from places to numbers, for bytes that lie in rows: byte a of a matrix with rows of `stride` bytes is at column
 * a modulo stride of row a / stride, so that rows of equal width which lie one stride apart are a box, however many
 * they are. Where there is no stride, all is one row.
 *
 * Every place has a number, 0 at first. What has been filled at once is one box, until something else is filled that
 * cuts it. The boxes are in a balanced tree (AVL: Adelson-Velsky, Landis, 1962), in Morton's order of their first
 * corners (1966), each subtree with what it lies within; so what is found, filled or cut costs about as many looks as
 * the tree is high, and those at what is found. */

struct sk_box {
	uint64_t left, right; /* columns */
	uint64_t top, bottom; /* rows */
	uint32_t value;
};

/* All bytes zero, but for the stride: every place has the number 0. */
struct sk_boxes {
	uint64_t stride; /* 0: all is one row */
	SK_ARRAY(struct sk_box_node) nodes; /* the first one is nobody */
	SK_ARRAY(uint32_t) found; /* nodes */
	uint32_t root; /* 0: none */
	uint32_t unused; /* nodes that were removed, linked */
	uint64_t steps; /* nodes that have been looked at, which tests count */
};

enum { SK_MAX_AREAS = 3 };

/* The boxes that rows make up: three at most of a single row, two of rows that are as far apart as the map's. Others,
 * of which there would be any number, count as all from the first byte to the last. Returns how many there are. */
uint32_t sk_boxes_of_rows(const struct sk_boxes *boxes, uint64_t start, uint64_t width, uint64_t stride, uint64_t count,
			  struct sk_box areas[SK_MAX_AREAS]);

/* Cuts the boxes at the borders of the area and finds those inside; returns how many they are, for sk_boxes_at. */
size_t sk_boxes_cut(struct sk_arena *arena, struct sk_boxes *boxes, const struct sk_box *area);

/* Finds the boxes that have something in common with the area; returns how many they are. */
size_t sk_boxes_find(struct sk_arena *arena, struct sk_boxes *boxes, const struct sk_box *area);

/* The box that has been found as number `index`. Its value may be changed. Valid until the map changes. */
struct sk_box *sk_boxes_at(struct sk_boxes *boxes, size_t index);

/* Makes one box of the area, with its value. */
void sk_boxes_fill(struct sk_arena *arena, struct sk_boxes *boxes, const struct sk_box *area);

/* ==== checked ====
 *
 * Overflow-checked arithmetic for every number that came from a file. Each helper returns false on overflow and then
 * leaves *result unspecified. */

static inline bool sk_add(uint64_t a, uint64_t b, uint64_t *result)
{
	return !__builtin_add_overflow(a, b, result);
}

static inline bool sk_mul(uint64_t a, uint64_t b, uint64_t *result)
{
	return !__builtin_mul_overflow(a, b, result);
}

/* Rounds value up to a multiple of alignment, a power of two. */
static inline bool sk_align(uint64_t value, uint64_t alignment, uint64_t *result)
{
	if (!sk_add(value, alignment - 1, result))
		return false;
	*result &= ~(alignment - 1);
	return true;
}

/* True if [offset, offset + size) lies within [0, limit). */
static inline bool sk_within(uint64_t offset, uint64_t size, uint64_t limit)
{
	return offset <= limit && size <= limit - offset;
}

/* The greatest number that divides both; of 0 and another number it is that one. */
static inline uint64_t sk_common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static inline bool sk_is_power_of_two(uint64_t value)
{
	return value != 0 && (value & (value - 1)) == 0;
}

#endif
