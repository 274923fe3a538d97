/* See model.h. Uses of the same bytes by split tasks form a group. Groups and tasks raise each other's units until
 * nothing changes. A unit at least doubles when it changes, so overflow bounds the number of rounds. */
#include "src/model/model.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/ranges.h"
#include "base/sizes.h"
#include "format/skdims.h"
#include "format/skplan.h"

enum {
	ELEMENTWISE_UNIT = 64,
	FEW_ELEMENTS = 16384, /* at most so many need not be divided in such units, if the kernel promises smaller
			       * ones */
	WORTH_DIVIDING = 100000, /* operations, which take about ten times as long as an await */
};

/* One divided access. */
struct use {
	uint32_t tensor;
	uint64_t offset, size;
	uint32_t item;
	uint64_t element_bytes; /* of an element of the item's extent */
	bool write;
	uint32_t group; /* SK_NONE: no split task writes these bytes */
	const struct sk_size *form; /* of element_bytes; NULL: it is a number */
};

/* The uses of one range of bytes, at least one of them a write. */
struct group {
	uint32_t first, end; /* uses */
	uint64_t bytes; /* the common unit */
	bool differs; /* elements of the uses have other proportions at other sizes */
};

struct solver {
	struct sk_arena *arena;
	uint32_t count;
	uint64_t *units;
	SK_ARRAY(struct use) uses;
	SK_ARRAY(struct group) groups;
	uint32_t *item_uses; /* uses of item i that are in a group: from first_use[i] to first_use[i + 1] */
	uint32_t *first_use;
	uint32_t *parent; /* union-find over connected items */
	SK_ARRAY(uint32_t) queue;
	bool *queued;
};

bool sk_common_multiple(uint64_t a, uint64_t b, uint64_t *result)
{
	return sk_mul(a / sk_common_divisor(a, b), b, result);
}

/* Tiles, and the units that signatures give, have less than 2^31 elements. */
uint64_t sk_minimum_unit(const struct sk_model *model, uint32_t task)
{
	const struct sk_signature *signature = model->kernels.items[model->tasks.items[task].bound.kernel].signature;
	uint64_t extent = model->tasks.items[task].bound.extent;
	bool few = extent > ELEMENTWISE_UNIT && extent <= FEW_ELEMENTS;
	bool promised = signature->unit && (few || sk_task_extent_size(&model->tasks.items[task]));
	uint64_t unit = signature->elementwise && !promised ? ELEMENTWISE_UNIT : 1;

	if (signature->unit)
		sk_common_multiple(unit, signature->unit, &unit);
	if (signature->loop_count)
		sk_common_multiple(unit, signature->loops[0].tile, &unit);
	for (uint32_t a = 0; a < model->tasks.items[task].bound.argument_count && signature->align; a++) {
		const struct sk_argument *argument = &model->tasks.items[task].bound.arguments[a];

		const uint64_t bytes = SK_ARGUMENT_SIZE(argument, element_bytes) ? 1 : argument->element_bytes;

		while (argument->kind == SK_ARGUMENT_POINTER && bytes * unit % signature->align)
			unit *= 2;
	}
	return unit;
}

static uint32_t find_root(struct solver *solver, uint32_t item)
{
	while (solver->parent[item] != item) {
		solver->parent[item] = solver->parent[solver->parent[item]];
		item = solver->parent[item];
	}
	return item;
}

static int compare_uses(const void *a, const void *b)
{
	const struct use *left = a, *right = b;

	if (left->tensor != right->tensor)
		return left->tensor < right->tensor ? -1 : 1;
	if (left->offset != right->offset)
		return left->offset < right->offset ? -1 : 1;
	if (left->size != right->size)
		return left->size < right->size ? -1 : 1;
	return (left->item > right->item) - (left->item < right->item);
}

static void collect_uses_of(struct solver *solver, const struct sk_model *model, uint32_t item,
			    const struct sk_task *task, uint64_t scale)
{
	for (uint32_t a = 0; a < task->bound.argument_count; a++) {
		const struct sk_argument *argument = &task->bound.arguments[a];
		const struct sk_size *form = SK_ARGUMENT_SIZE(argument, element_bytes);

		if (argument->kind != SK_ARGUMENT_POINTER || argument->element_bytes == 0 ||
		    (argument->pattern && argument->pattern->halo))
			continue;
		if (form && scale > 1)
			form = sk_size_multiply(model->sizes, form, sk_size_number(model->sizes, (int64_t)scale));
		sk_array_push(solver->arena, &solver->uses,
			      (struct use){argument->tensor, argument->offset, argument->size, item,
					   argument->element_bytes * scale, argument->access & SK_ACCESS_WRITE, SK_NONE,
					   form});
	}
}

static void collect_uses(struct solver *solver, const struct sk_model *model, const struct sk_unit_item *items)
{
	for (uint32_t i = 0; i < solver->count; i++)
		for (uint32_t t = 0; t < items[i].count && items[i].least; t++) {
			const struct sk_task *task = &model->tasks.items[items[i].tasks[t]];

			collect_uses_of(solver, model, i, task, task->bound.extent / items[i].extent);
		}
	if (solver->uses.count)
		qsort(solver->uses.items, solver->uses.count, sizeof(struct use), compare_uses);
}

static void form_groups(struct solver *solver)
{
	for (uint32_t first = 0, end; first < solver->uses.count; first = end) {
		const struct use *uses = solver->uses.items;
		bool written = false, differs = false;

		for (end = first; end < solver->uses.count; end++) {
			if (uses[end].tensor != uses[first].tensor || uses[end].offset != uses[first].offset ||
			    uses[end].size != uses[first].size)
				break;
			written |= uses[end].write;
			differs |= uses[end].form != uses[first].form;
		}
		if (!written)
			continue;
		for (uint32_t u = first; u < end; u++) {
			solver->parent[find_root(solver, uses[u].item)] = find_root(solver, uses[first].item);
			solver->uses.items[u].group = (uint32_t)solver->groups.count;
		}
		sk_array_push(solver->arena, &solver->groups, (struct group){first, end, 1, differs});
	}
}

static void index_uses(struct solver *solver)
{
	uint32_t *next = SK_NEW_ARRAY(solver->arena, uint32_t, solver->count + 1);
	const struct use *uses = solver->uses.items;

	for (uint32_t u = 0; u < solver->uses.count; u++)
		if (uses[u].group != SK_NONE)
			solver->first_use[uses[u].item + 1]++;
	for (uint32_t i = 0; i < solver->count; i++) {
		solver->first_use[i + 1] += solver->first_use[i];
		next[i + 1] = solver->first_use[i + 1];
	}
	solver->item_uses = SK_NEW_ARRAY(solver->arena, uint32_t, solver->first_use[solver->count]);
	for (uint32_t u = 0; u < solver->uses.count; u++)
		if (uses[u].group != SK_NONE)
			solver->item_uses[next[uses[u].item]++] = u;
}

static void enqueue(struct solver *solver, uint32_t item)
{
	if (solver->queued[item])
		return;
	solver->queued[item] = true;
	sk_array_push(solver->arena, &solver->queue, item);
}

/* Raise the group's unit to a multiple of that of one of its uses; return false on overflow. */
static bool raise_group(const struct solver *solver, struct group *group, const struct use *use)
{
	uint64_t bytes;

	return sk_mul(solver->units[use->item], use->element_bytes, &bytes) &&
	       sk_common_multiple(group->bytes, bytes, &group->bytes);
}

/* Raise the items' units to their group's, which is a multiple of all of them, and queue the items that change; return
 * false on overflow. */
static bool raise_items(struct solver *solver, const struct group *group)
{
	for (uint32_t u = group->first; u < group->end; u++) {
		const struct use *use = &solver->uses.items[u];
		uint64_t unit;

		if (!sk_common_multiple(solver->units[use->item], group->bytes / use->element_bytes, &unit))
			return false;
		if (unit == solver->units[use->item])
			continue;
		solver->units[use->item] = unit;
		enqueue(solver, use->item);
	}
	return true;
}

static bool start_group(struct solver *solver, struct group *group)
{
	for (uint32_t u = group->first; u < group->end; u++)
		if (!raise_group(solver, group, &solver->uses.items[u]))
			return false;
	return raise_items(solver, group);
}

/* Propagate an item's unit to its groups and, if that changes them, to their items; return false on overflow. */
static bool spread_unit(struct solver *solver, uint32_t item)
{
	for (uint32_t i = solver->first_use[item]; i < solver->first_use[item + 1]; i++) {
		const struct use *use = &solver->uses.items[solver->item_uses[i]];
		struct group *group = &solver->groups.items[use->group];
		uint64_t bytes = group->bytes;

		if (!raise_group(solver, group, use))
			return false;
		if (group->bytes != bytes && !raise_items(solver, group))
			return false;
	}
	return true;
}

/* Return true if one core would compute all the work that several could. The operations come from signatures alone:
 * costs that users give change no plan. */
static bool is_left_whole(const struct sk_model *model, const struct sk_unit_item *item, uint64_t unit)
{
	uint64_t operations = 0;

	if (unit < item->usual || item->least >= item->usual)
		return false;
	for (uint32_t t = 0; t < item->count; t++)
		operations += model->tasks.items[item->tasks[t]].bound.operations;
	return operations >= WORTH_DIVIDING;
}

uint64_t *sk_units_choose(const struct sk_model *model, const struct sk_unit_item *items, uint32_t count)
{
	struct sk_arena *arena = model->arena;
	struct solver solver = {
		.arena = arena,
		.count = count,
		.units = SK_NEW_ARRAY(arena, uint64_t, count),
		.first_use = SK_NEW_ARRAY(arena, uint32_t, count + 1),
		.parent = SK_NEW_ARRAY(arena, uint32_t, count),
		.queued = SK_NEW_ARRAY(arena, bool, count),
	};
	bool *diverged = SK_NEW_ARRAY(arena, bool, count); /* by root */

	for (uint32_t i = 0; i < count; i++) {
		solver.parent[i] = i;
		solver.units[i] = items[i].least;
	}
	collect_uses(&solver, model, items);
	form_groups(&solver);
	index_uses(&solver);
	for (size_t g = 0; g < solver.groups.count; g++) {
		struct group *group = &solver.groups.items[g];

		if (group->differs || !start_group(&solver, group))
			diverged[find_root(&solver, solver.uses.items[group->first].item)] = true;
	}
	for (size_t done = 0; done < solver.queue.count; done++) {
		uint32_t item = solver.queue.items[done], root = find_root(&solver, item);

		solver.queued[item] = false;
		if (!diverged[root] && !spread_unit(&solver, item))
			diverged[root] = true;
	}
	for (size_t u = 0; u < solver.uses.count; u++) {
		const struct use *use = &solver.uses.items[u];
		uint64_t bytes;

		if (!sk_mul(solver.units[use->item], use->element_bytes, &bytes))
			diverged[find_root(&solver, use->item)] = true;
	}
	for (uint32_t i = 0; i < count; i++)
		if (solver.units[i] && is_left_whole(model, &items[i], solver.units[i]))
			diverged[find_root(&solver, i)] = true;
	for (uint32_t i = 0; i < count; i++)
		if (solver.units[i] && diverged[find_root(&solver, i)])
			solver.units[i] = items[i].least;
	return solver.units;
}
