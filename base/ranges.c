/* Ranges; see ranges.h. Nodes are indices into an array, since it moves when it grows; 0 stands for no node. */
#include "base/ranges.h"

#include <stdbool.h>

#include "base/arena.h"

enum { LEFT, RIGHT };

struct sk_range_node {
	struct sk_range range;
	uint64_t longest; /* the size of the longest range in the subtree */
	uint32_t child[2];
	uint32_t height;
};

static struct sk_range_node *visit_node(struct sk_ranges *ranges, uint32_t node)
{
	ranges->steps++;
	return &ranges->nodes.items[node];
}

/* ---- balance ---- */

static void update(struct sk_ranges *ranges, uint32_t number)
{
	struct sk_range_node *node = &ranges->nodes.items[number];

	node->longest = node->range.end - node->range.start;
	node->height = 0;
	for (int side = LEFT; side <= RIGHT; side++) {
		const struct sk_range_node *child = &ranges->nodes.items[node->child[side]];

		if (child->height > node->height)
			node->height = child->height;
		if (child->longest > node->longest)
			node->longest = child->longest;
	}
	node->height++;
}

/* Make the child on that side the parent. */
static uint32_t rotate(struct sk_ranges *ranges, uint32_t number, int side)
{
	struct sk_range_node *nodes = ranges->nodes.items;
	uint32_t child = nodes[number].child[side];

	nodes[number].child[side] = nodes[child].child[!side];
	nodes[child].child[!side] = number;
	update(ranges, number);
	update(ranges, child);
	return child;
}

static uint32_t height_of(const struct sk_ranges *ranges, uint32_t number, int side)
{
	const struct sk_range_node *nodes = ranges->nodes.items;

	return nodes[nodes[number].child[side]].height;
}

/* Return the root of the subtree, after the height of one side has changed by one. */
static uint32_t balance(struct sk_ranges *ranges, uint32_t number)
{
	for (int side = LEFT; side <= RIGHT; side++) {
		uint32_t *child = &visit_node(ranges, number)->child[side];

		if (height_of(ranges, number, side) <= height_of(ranges, number, !side) + 1)
			continue;
		if (height_of(ranges, *child, !side) > height_of(ranges, *child, side))
			*child = rotate(ranges, *child, !side);
		return rotate(ranges, number, side);
	}
	update(ranges, number);
	return number;
}

/* ---- changes ---- */

static uint32_t new_node(struct sk_arena *arena, struct sk_ranges *ranges, struct sk_range range)
{
	struct sk_range_node fresh = {.range = range, .longest = range.end - range.start, .height = 1};
	uint32_t number = ranges->unused;

	if (ranges->nodes.count == 0)
		sk_array_push(arena, &ranges->nodes, (struct sk_range_node){.height = 0});
	if (number) {
		ranges->unused = ranges->nodes.items[number].child[LEFT];
		ranges->nodes.items[number] = fresh;
		return number;
	}
	sk_array_push(arena, &ranges->nodes, fresh);
	return (uint32_t)ranges->nodes.count - 1;
}

static uint32_t insert_range(struct sk_ranges *ranges, uint32_t number, uint32_t fresh)
{
	if (!number)
		return fresh;
	struct sk_range_node *node = visit_node(ranges, number);
	int side = ranges->nodes.items[fresh].range.start > node->range.start ? RIGHT : LEFT;

	node->child[side] = insert_range(ranges, node->child[side], fresh);
	return balance(ranges, number);
}

/* Remove the first node of the subtree; return the rest. */
static uint32_t take_first(struct sk_ranges *ranges, uint32_t number, uint32_t *first)
{
	struct sk_range_node *node = visit_node(ranges, number);

	if (!node->child[LEFT]) {
		*first = number;
		return node->child[RIGHT];
	}
	node->child[LEFT] = take_first(ranges, node->child[LEFT], first);
	return balance(ranges, number);
}

static uint32_t remove_node(struct sk_ranges *ranges, uint32_t number, uint64_t start)
{
	struct sk_range_node *node = visit_node(ranges, number);

	if (node->range.start != start) {
		int side = start > node->range.start ? RIGHT : LEFT;

		node->child[side] = remove_node(ranges, node->child[side], start);
		return balance(ranges, number);
	}
	uint32_t left = node->child[LEFT], right = node->child[RIGHT], next;

	node->child[LEFT] = ranges->unused;
	ranges->unused = number;
	if (!left || !right)
		return left ? left : right;
	right = take_first(ranges, right, &next);
	ranges->nodes.items[next].child[LEFT] = left;
	ranges->nodes.items[next].child[RIGHT] = right;
	return balance(ranges, next);
}

void sk_ranges_insert(struct sk_arena *arena, struct sk_ranges *ranges, struct sk_range range)
{
	uint32_t fresh = new_node(arena, ranges, range);

	ranges->root = insert_range(ranges, ranges->root, fresh);
}

void sk_ranges_remove(struct sk_ranges *ranges, uint64_t start)
{
	ranges->root = remove_node(ranges, ranges->root, start);
}

/* Make the offset a border: a range around it becomes two with the same value. */
static void split(struct sk_arena *arena, struct sk_ranges *ranges, uint64_t offset)
{
	const struct sk_range *found = sk_ranges_find(ranges, offset);

	if (!found || found->start >= offset)
		return;
	struct sk_range left = *found, right = *found;

	left.end = right.start = offset;
	sk_ranges_remove(ranges, left.start);
	sk_ranges_insert(arena, ranges, left);
	sk_ranges_insert(arena, ranges, right);
}

void sk_ranges_clear(struct sk_arena *arena, struct sk_ranges *ranges, uint64_t start, uint64_t end)
{
	split(arena, ranges, start);
	split(arena, ranges, end);
	for (const struct sk_range *found; (found = sk_ranges_find(ranges, start)) && found->start < end;)
		sk_ranges_remove(ranges, found->start);
}

/* ---- questions ---- */

struct sk_range *sk_ranges_find(struct sk_ranges *ranges, uint64_t offset)
{
	struct sk_range *found = NULL;

	for (uint32_t number = ranges->root; number;) {
		struct sk_range_node *node = visit_node(ranges, number);
		bool after = node->range.end > offset;

		if (after)
			found = &node->range;
		number = node->child[after ? LEFT : RIGHT];
	}
	return found;
}

struct sk_range *sk_ranges_before(struct sk_ranges *ranges, uint64_t offset)
{
	struct sk_range *found = NULL;

	for (uint32_t number = ranges->root; number;) {
		struct sk_range_node *node = visit_node(ranges, number);
		bool before = node->range.start < offset;

		if (before)
			found = &node->range;
		number = node->child[before ? RIGHT : LEFT];
	}
	return found;
}

/* Where the path to the offset goes left, the node and its right side come after the offset: the last such subtree with
 * a range that is long enough has the first one. */
struct sk_range *sk_ranges_find_long(struct sk_ranges *ranges, uint64_t offset, uint64_t length)
{
	uint32_t top = 0;

	for (uint32_t number = ranges->root; number;) {
		struct sk_range_node *node = visit_node(ranges, number);

		if (node->range.start < offset) {
			number = node->child[RIGHT];
			continue;
		}
		if (node->range.end - node->range.start >= length ||
		    ranges->nodes.items[node->child[RIGHT]].longest >= length)
			top = number;
		number = node->child[LEFT];
	}
	if (!top)
		return NULL;
	/* The top's left side does not count: it is too short or before the offset. */
	struct sk_range_node *node = visit_node(ranges, top);

	if (node->range.end - node->range.start >= length)
		return &node->range;
	for (uint32_t number = node->child[RIGHT];;) {
		node = visit_node(ranges, number);
		if (ranges->nodes.items[node->child[LEFT]].longest >= length)
			number = node->child[LEFT];
		else if (node->range.end - node->range.start >= length)
			return &node->range;
		else
			number = node->child[RIGHT];
	}
}
