/* Overflow-checked arithmetic; maps of byte ranges, and of boxes in two dimensions. */
#ifndef SK_BASE_RANGES_H
#define SK_BASE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct sk_arena;

/* ==== ranges.c ====
 *
 * A map from disjoint ranges of bytes to numbers, in an arena. It finds the range at a place, its neighbours, and the
 * first range of some length. Each of these, and each change, visits as many ranges as a balanced tree is high (an AVL
 * tree: Adelson-Velsky, Landis, 1962), for any order of insertions and removals.
 *
 * A map with all bytes zero is empty. Results are valid until the map changes. */

struct sk_range {
	uint64_t start, end; /* not empty */
	uint32_t value;
};

struct sk_ranges {
	SK_ARRAY(struct sk_range_node) nodes; /* the first one is not used */
	uint32_t root; /* 0: none */
	uint32_t unused; /* removed nodes, linked */
	uint64_t steps; /* nodes visited so far, for tests */
};

/* Return the first range that ends after the offset: it contains the offset, or begins after it. NULL: there is none.
 * Its value may be changed. */
struct sk_range *sk_ranges_find(struct sk_ranges *ranges, uint64_t offset);

/* Return the last range that begins before the offset, or NULL. */
struct sk_range *sk_ranges_before(struct sk_ranges *ranges, uint64_t offset);

/* Return the first range that begins at or after the offset and has at least `length` bytes, or NULL. */
struct sk_range *sk_ranges_find_long(struct sk_ranges *ranges, uint64_t offset, uint64_t length);

/* Add a range where there is none. */
void sk_ranges_insert(struct sk_arena *arena, struct sk_ranges *ranges, struct sk_range range);

/* Remove the range that begins there. */
void sk_ranges_remove(struct sk_ranges *ranges, uint64_t start);

/* Remove all ranges in between; parts outside stay. */
void sk_ranges_clear(struct sk_arena *arena, struct sk_ranges *ranges, uint64_t start, uint64_t end);

/* ==== boxes.c ====
 *
 * A map from places to numbers, for bytes in rows: byte a of a matrix with rows of `stride` bytes is at column a modulo
 * stride of row a / stride. Any number of rows of equal width, one stride apart, are therefore one box. Without a
 * stride there is only one row.
 *
 * Every place has a number, 0 at first. An area that is filled at once is one box, until another fill cuts it. The
 * boxes are in a balanced tree (AVL: Adelson-Velsky, Landis, 1962), in Morton's order of their first corners (1966),
 * and each subtree has its bounding box. The cost of an operation is therefore about the height of the tree, plus the
 * number of boxes found. */

struct sk_box {
	uint64_t left, right; /* columns */
	uint64_t top, bottom; /* rows */
	uint32_t value;
};

/* All bytes are zero except the stride: every place has the number 0. */
struct sk_boxes {
	uint64_t stride; /* 0: only one row */
	SK_ARRAY(struct sk_box_node) nodes; /* the first one is not used */
	SK_ARRAY(uint32_t) found; /* nodes */
	uint32_t root; /* 0: none */
	uint32_t unused; /* removed nodes, linked */
	uint64_t steps; /* nodes visited so far, for tests */
};

enum { SK_MAX_AREAS = 3 };

/* Compute the boxes of rows: at most three for a single row, two for rows as far apart as the map's. Other rows, which
 * could be any number of boxes, are approximated by all bytes from the first to the last. Return the number of
 * boxes. */
uint32_t sk_boxes_of_rows(const struct sk_boxes *boxes, uint64_t start, uint64_t width, uint64_t stride, uint64_t count,
			  struct sk_box areas[SK_MAX_AREAS]);

/* Cut the boxes at the borders of the area and find those inside; return their number, for sk_boxes_at. */
size_t sk_boxes_cut(struct sk_arena *arena, struct sk_boxes *boxes, const struct sk_box *area);

/* Find the boxes that intersect the area; return their number. */
size_t sk_boxes_find(struct sk_arena *arena, struct sk_boxes *boxes, const struct sk_box *area);

/* Return the found box number `index`. Its value may be changed. It is valid until the map changes. */
struct sk_box *sk_boxes_at(struct sk_boxes *boxes, size_t index);

/* Make the area one box, with its value. */
void sk_boxes_fill(struct sk_arena *arena, struct sk_boxes *boxes, const struct sk_box *area);

/* ==== checked ====
 *
 * Overflow-checked arithmetic for every number from a file. Each helper returns false on overflow, and *result is then
 * unspecified. */

static inline bool sk_add(uint64_t a, uint64_t b, uint64_t *result)
{
	return !__builtin_add_overflow(a, b, result);
}

static inline bool sk_mul(uint64_t a, uint64_t b, uint64_t *result)
{
	return !__builtin_mul_overflow(a, b, result);
}

/* Round value up to a multiple of alignment, a power of two. */
static inline bool sk_align(uint64_t value, uint64_t alignment, uint64_t *result)
{
	if (!sk_add(value, alignment - 1, result))
		return false;
	*result &= ~(alignment - 1);
	return true;
}

/* True if [offset, offset + size) is within [0, limit). */
static inline bool sk_within(uint64_t offset, uint64_t size, uint64_t limit)
{
	return offset <= limit && size <= limit - offset;
}

/* Return the greatest common divisor; for 0 and another number, that number. */
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
