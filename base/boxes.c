/* Boxes; see ranges.h. Nodes are indices into an array, since it moves when it grows; 0 stands for no node. */
#include "base/ranges.h"

#include <stdbool.h>

#include "base/arena.h"

enum { LEFT, RIGHT };

struct sk_box_node {
	struct sk_box box;
	struct sk_box within; /* encloses all boxes of the subtree */
	uint32_t child[2];
	uint32_t height;
};

static struct sk_box_node *visit_node(struct sk_boxes *boxes, uint32_t node)
{
	boxes->steps++;
	return &boxes->nodes.items[node];
}

/* ---- order ---- */

/* True if the highest bit of x is below that of y. */
static bool is_shorter(uint64_t x, uint64_t y)
{
	return x < y && x < (x ^ y);
}

/* The coordinate with the higher differing bit decides, so that neighbouring boxes are close in the order, in both
 * directions. */
static bool comes_after(const struct sk_box *one, const struct sk_box *other)
{
	if (is_shorter(one->left ^ other->left, one->top ^ other->top))
		return one->top > other->top;
	return one->left > other->left;
}

static bool is_at(const struct sk_box *one, const struct sk_box *other)
{
	return one->left == other->left && one->top == other->top;
}

static bool overlap(const struct sk_box *one, const struct sk_box *other)
{
	return one->left < other->right && other->left < one->right && one->top < other->bottom &&
	       other->top < one->bottom;
}

/* ---- balance ---- */

static void enclose(struct sk_box *box, const struct sk_box *other)
{
	box->left = other->left < box->left ? other->left : box->left;
	box->right = other->right > box->right ? other->right : box->right;
	box->top = other->top < box->top ? other->top : box->top;
	box->bottom = other->bottom > box->bottom ? other->bottom : box->bottom;
}

static void update(struct sk_boxes *boxes, uint32_t number)
{
	struct sk_box_node *nodes = boxes->nodes.items, *node = &nodes[number];

	node->within = node->box;
	node->height = 0;
	for (int side = LEFT; side <= RIGHT; side++) {
		const struct sk_box_node *child = &nodes[node->child[side]];

		if (child->height > node->height)
			node->height = child->height;
		if (node->child[side])
			enclose(&node->within, &child->within);
	}
	node->height++;
}

/* Make the child on that side the parent. */
static uint32_t rotate(struct sk_boxes *boxes, uint32_t number, int side)
{
	struct sk_box_node *nodes = boxes->nodes.items;
	uint32_t child = nodes[number].child[side];

	nodes[number].child[side] = nodes[child].child[!side];
	nodes[child].child[!side] = number;
	update(boxes, number);
	update(boxes, child);
	return child;
}

static uint32_t height_of(const struct sk_boxes *boxes, uint32_t number, int side)
{
	const struct sk_box_node *nodes = boxes->nodes.items;

	return nodes[nodes[number].child[side]].height;
}

/* Return the root of the subtree, after the height of one side has changed by one. */
static uint32_t balance(struct sk_boxes *boxes, uint32_t number)
{
	for (int side = LEFT; side <= RIGHT; side++) {
		uint32_t *child = &visit_node(boxes, number)->child[side];

		if (height_of(boxes, number, side) <= height_of(boxes, number, !side) + 1)
			continue;
		if (height_of(boxes, *child, !side) > height_of(boxes, *child, side))
			*child = rotate(boxes, *child, !side);
		return rotate(boxes, number, side);
	}
	update(boxes, number);
	return number;
}

/* ---- changes ---- */

static uint32_t new_node(struct sk_arena *arena, struct sk_boxes *boxes, const struct sk_box *box)
{
	struct sk_box_node fresh = {.box = *box, .within = *box, .height = 1};
	uint32_t number = boxes->unused;

	if (number) {
		boxes->unused = boxes->nodes.items[number].child[LEFT];
		boxes->nodes.items[number] = fresh;
		return number;
	}
	sk_array_push(arena, &boxes->nodes, fresh);
	return (uint32_t)boxes->nodes.count - 1;
}

static uint32_t insert_node(struct sk_boxes *boxes, uint32_t number, uint32_t fresh)
{
	if (!number)
		return fresh;
	struct sk_box_node *node = visit_node(boxes, number);
	int side = comes_after(&boxes->nodes.items[fresh].box, &node->box) ? RIGHT : LEFT;

	node->child[side] = insert_node(boxes, node->child[side], fresh);
	return balance(boxes, number);
}

static void insert_box(struct sk_arena *arena, struct sk_boxes *boxes, const struct sk_box *box)
{
	uint32_t fresh = new_node(arena, boxes, box);

	boxes->root = insert_node(boxes, boxes->root, fresh);
}

/* Remove the first node of the subtree; return the rest. */
static uint32_t take_first(struct sk_boxes *boxes, uint32_t number, uint32_t *first)
{
	struct sk_box_node *node = visit_node(boxes, number);

	if (!node->child[LEFT]) {
		*first = number;
		return node->child[RIGHT];
	}
	node->child[LEFT] = take_first(boxes, node->child[LEFT], first);
	return balance(boxes, number);
}

static uint32_t remove_node(struct sk_boxes *boxes, uint32_t number, const struct sk_box *box)
{
	struct sk_box_node *node = visit_node(boxes, number);

	if (!is_at(&node->box, box)) {
		int side = comes_after(box, &node->box) ? RIGHT : LEFT;

		node->child[side] = remove_node(boxes, node->child[side], box);
		return balance(boxes, number);
	}
	uint32_t left = node->child[LEFT], right = node->child[RIGHT], next;

	node->child[LEFT] = boxes->unused;
	boxes->unused = number;
	if (!left || !right)
		return left ? left : right;
	right = take_first(boxes, right, &next);
	boxes->nodes.items[next].child[LEFT] = left;
	boxes->nodes.items[next].child[RIGHT] = right;
	return balance(boxes, next);
}

static void remove_box(struct sk_boxes *boxes, struct sk_box box)
{
	boxes->root = remove_node(boxes, boxes->root, &box);
}

/* ---- questions ---- */

static void collect_boxes(struct sk_arena *arena, struct sk_boxes *boxes, uint32_t number, const struct sk_box *area)
{
	const struct sk_box_node *node = visit_node(boxes, number);

	if (!number || !overlap(&node->within, area))
		return;
	collect_boxes(arena, boxes, node->child[LEFT], area);
	if (overlap(&node->box, area))
		sk_array_push(arena, &boxes->found, number);
	collect_boxes(arena, boxes, node->child[RIGHT], area);
}

size_t sk_boxes_find(struct sk_arena *arena, struct sk_boxes *boxes, const struct sk_box *area)
{
	if (boxes->nodes.count == 0) {
		struct sk_box everything = {0, UINT64_MAX, 0, 1, 0};

		if (boxes->stride)
			everything = (struct sk_box){0, boxes->stride, 0, UINT64_MAX, 0};
		new_node(arena, boxes, &everything);
		boxes->nodes.items[0].height = 0;
		insert_box(arena, boxes, &everything);
	}
	boxes->found.count = 0;
	collect_boxes(arena, boxes, boxes->root, area);
	return boxes->found.count;
}

struct sk_box *sk_boxes_at(struct sk_boxes *boxes, size_t index)
{
	return &boxes->nodes.items[boxes->found.items[index]].box;
}

/* ---- areas ---- */

static void keep_strip(struct sk_arena *arena, struct sk_boxes *boxes, struct sk_box strip)
{
	if (strip.left < strip.right && strip.top < strip.bottom)
		insert_box(arena, boxes, &strip);
}

/* Return the part of the box inside the area; parts outside become boxes of their own. */
static struct sk_box cut_box(struct sk_arena *arena, struct sk_boxes *boxes, struct sk_box box,
			     const struct sk_box *area)
{
	struct sk_box inside = box;

	inside.left = box.left > area->left ? box.left : area->left;
	inside.right = box.right < area->right ? box.right : area->right;
	inside.top = box.top > area->top ? box.top : area->top;
	inside.bottom = box.bottom < area->bottom ? box.bottom : area->bottom;
	keep_strip(arena, boxes, (struct sk_box){box.left, inside.left, box.top, box.bottom, box.value});
	keep_strip(arena, boxes, (struct sk_box){inside.right, box.right, box.top, box.bottom, box.value});
	keep_strip(arena, boxes, (struct sk_box){inside.left, inside.right, box.top, inside.top, box.value});
	keep_strip(arena, boxes, (struct sk_box){inside.left, inside.right, inside.bottom, box.bottom, box.value});
	return inside;
}

static bool lies_inside(const struct sk_box *box, const struct sk_box *area)
{
	return box->left >= area->left && box->right <= area->right && box->top >= area->top &&
	       box->bottom <= area->bottom;
}

size_t sk_boxes_cut(struct sk_arena *arena, struct sk_boxes *boxes, const struct sk_box *area)
{
	size_t count = sk_boxes_find(arena, boxes, area);
	bool whole = true;

	for (size_t i = 0; i < count; i++) {
		struct sk_box box = *sk_boxes_at(boxes, i), inside;

		if (lies_inside(&box, area))
			continue;
		remove_box(boxes, box);
		inside = cut_box(arena, boxes, box, area);
		insert_box(arena, boxes, &inside);
		whole = false;
	}
	return whole ? count : sk_boxes_find(arena, boxes, area);
}

static bool is_same(const struct sk_box *one, const struct sk_box *other)
{
	return is_at(one, other) && one->right == other->right && one->bottom == other->bottom;
}

void sk_boxes_fill(struct sk_arena *arena, struct sk_boxes *boxes, const struct sk_box *area)
{
	size_t count = sk_boxes_find(arena, boxes, area);

	/* An area that was written as a whole usually is again. */
	if (count == 1 && is_same(sk_boxes_at(boxes, 0), area)) {
		sk_boxes_at(boxes, 0)->value = area->value;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		struct sk_box box = *sk_boxes_at(boxes, i);

		remove_box(boxes, box);
		cut_box(arena, boxes, box, area);
	}
	insert_box(arena, boxes, area);
}

static uint32_t add_area(struct sk_box *areas, uint32_t count, struct sk_box area)
{
	if (area.left < area.right && area.top < area.bottom)
		areas[count++] = area;
	return count;
}

uint32_t sk_boxes_of_rows(const struct sk_boxes *boxes, uint64_t start, uint64_t width, uint64_t stride, uint64_t count,
			  struct sk_box areas[SK_MAX_AREAS])
{
	uint64_t across = boxes->stride, end = start + (count - 1) * stride + width, row, column, number = 0;

	if (!across)
		return add_area(areas, 0, (struct sk_box){start, end, 0, 1, 0});
	row = start / across;
	column = start % across;
	if (count > 1 && stride == across) {
		uint64_t beyond = column + width > across ? column + width - across : 0;

		number = add_area(areas, 0, (struct sk_box){column, column + width - beyond, row, row + count, 0});
		return add_area(areas, (uint32_t)number, (struct sk_box){0, beyond, row + 1, row + 1 + count, 0});
	}
	if (end / across == row)
		return add_area(areas, 0, (struct sk_box){column, end % across, row, row + 1, 0});
	if (column) {
		number = add_area(areas, 0, (struct sk_box){column, across, row, row + 1, 0});
		row++;
	}
	number = add_area(areas, (uint32_t)number, (struct sk_box){0, across, row, end / across, 0});
	return add_area(areas, (uint32_t)number, (struct sk_box){0, end % across, end / across, end / across + 1, 0});
}
