/* See planning-parts.h. */
#include "src/planning/planning-parts.h"

#include "base/arena.h"
#include "base/map.h"

/* Indices of a set's marks among those of a group. */
enum { LEVEL_0, LEVELS, MARKS };

/* A set takes a column that is unused from its first task to its last one. */
void sk_ancestry_init(struct sk_ancestry *ancestry, const struct sk_segments *segments)
{
	struct sk_arena *arena = segments->model->arena;
	SK_ARRAY(uint32_t) next = {0}; /* base of the next set, by column */
	SK_ARRAY(uint32_t) unused = {0}; /* columns */

	ancestry->column_of = SK_NEW_ARRAY(arena, uint32_t, segments->sets.count);
	ancestry->base = SK_NEW_ARRAY(arena, uint32_t, segments->sets.count);
	for (uint32_t t = 0; t < segments->model->tasks.count; t++) {
		uint32_t number = segments->set_of[t];

		if (number == SK_NONE)
			continue;
		const struct sk_tag_set *set = &segments->sets.items[number];

		if (set->first == t) {
			if (unused.count == 0) {
				sk_array_push(arena, &unused, (uint32_t)next.count);
				sk_array_push(arena, &next, 1);
			}
			uint32_t column = unused.items[--unused.count];

			ancestry->column_of[number] = column;
			ancestry->base[number] = next.items[column];
			next.items[column] += set->last - set->first + 3; /* there is at most one level per task */
		}
		if (set->last == t)
			sk_array_push(arena, &unused, ancestry->column_of[number]);
	}
	ancestry->columns = (uint32_t)next.count;
}

void sk_ancestry_reset(struct sk_ancestry *ancestry)
{
	ancestry->marks.count = 0;
}

static uint32_t index_of(const struct sk_ancestry *ancestry, uint32_t set, uint32_t level)
{
	return ancestry->column_of[set] * MARKS + (level ? LEVELS : LEVEL_0);
}

bool sk_ancestry_leads(const struct sk_ancestry *ancestry, const struct sk_segments *segments, uint32_t set,
		       uint32_t level, uint32_t group)
{
	const struct sk_group *other = &segments->groups.items[group];

	return ancestry->marks.items[group][index_of(ancestry, set, level)] >= ancestry->base[set] + level &&
	       !(other->set == set && other->level == level);
}

static bool leads_to_any(struct sk_ancestry *ancestry, const struct sk_segments *segments, uint32_t set, uint32_t level,
			 const uint32_t *from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		ancestry->steps++;
		if (sk_ancestry_leads(ancestry, segments, set, level, from[i]))
			return true;
	}
	return false;
}

uint32_t sk_ancestry_level(struct sk_ancestry *ancestry, const struct sk_segments *segments, uint32_t set,
			   uint32_t floor, const uint32_t *from, size_t count)
{
	uint32_t highest = floor ? floor : 1;

	if (floor == 0 && !leads_to_any(ancestry, segments, set, 0, from, count))
		return 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t mark = ancestry->marks.items[from[i]][index_of(ancestry, set, 1)];

		ancestry->steps++;
		if (mark > ancestry->base[set] + highest)
			highest = mark - ancestry->base[set];
	}
	/* All lower levels lead to the group that the highest one is or leads to. */
	return highest + leads_to_any(ancestry, segments, set, highest, from, count);
}

/* Raise the mark of the group and of all groups after it. */
static void raise_mark(struct sk_ancestry *ancestry, const struct sk_segments *segments, uint32_t group, uint32_t index,
		       uint32_t mark)
{
	const struct sk_order *order = &segments->order;

	ancestry->marks.items[group][index] = mark;
	ancestry->stack.count = 0;
	sk_array_push(segments->model->arena, &ancestry->stack, group);
	while (ancestry->stack.count) {
		uint32_t from = ancestry->stack.items[--ancestry->stack.count];

		for (uint32_t e = order->nodes.items[from].edges; e != SK_NONE; e = order->edges.items[e].next) {
			uint32_t to = order->edges.items[e].to;

			ancestry->steps++;
			if (ancestry->marks.items[to][index] >= mark)
				continue;
			ancestry->marks.items[to][index] = mark;
			sk_array_push(segments->model->arena, &ancestry->stack, to);
		}
	}
}

void sk_ancestry_connect(struct sk_ancestry *ancestry, struct sk_segments *segments, const uint32_t *from, size_t count,
			 uint32_t to)
{
	const struct sk_group *group = &segments->groups.items[to];
	uint32_t marks = ancestry->columns * MARKS;

	if (to == ancestry->marks.count) {
		sk_array_push(segments->model->arena, &ancestry->marks,
			      SK_NEW_ARRAY(segments->model->arena, uint32_t, marks));
		if (group->set != SK_NONE)
			ancestry->marks.items[to][index_of(ancestry, group->set, group->level)] =
				ancestry->base[group->set] + group->level;
	}
	for (size_t i = 0; i < count; i++) {
		const uint32_t *other = ancestry->marks.items[from[i]];

		for (uint32_t index = 0; index < marks; index++)
			if (other[index] > ancestry->marks.items[to][index])
				raise_mark(ancestry, segments, to, index, other[index]);
		ancestry->steps += marks;
	}
	sk_order_add_edges(&segments->order, from, count, to);
}
