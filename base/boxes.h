/* A map from places to numbers, for bytes that lie in rows: byte a of a matrix with rows of `stride` bytes is at column
 * a modulo stride of row a / stride, so that rows of equal width which lie one stride apart are a box, however many
 * they are. Where there is no stride, all is one row.
 *
 * Every place has a number, 0 at first. What has been filled at once is one box, until something else is filled that
 * cuts it. The boxes are in a balanced tree (AVL: Adelson-Velsky, Landis, 1962), in Morton's order of their first
 * corners (1966), each subtree with what it lies within; so what is found, filled or cut costs about as many looks as
 * the tree is high, and those at what is found. */
#ifndef SK_BOXES_H
#define SK_BOXES_H

#include "base/arena.h"

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

#endif
