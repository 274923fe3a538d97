/* See planning-parts.h. The passes, in order: tag sets, verdicts, predecessors; then floors, placement. */
#include "src/planning/planning-parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "src/model/model.h"
#include "src/planning/planning.h"

#define MOST_REACH (UINT64_C(1) << 29)

/* Limit of the marks of ancestors (512 MiB). If there are more, paths are searched for. */
#define MOST_MARKS (UINT64_C(1) << 26)

static const struct sk_task *task_at(const struct sk_segments *segments, uint32_t task)
{
	return &segments->model->tasks.items[task];
}

static bool can_fuse(const struct sk_segments *segments, uint32_t task)
{
	return segments->verdict[task] == SK_REASON_CAN_FUSE;
}

/* ---- tag sets ---- */

static const char *join_names(const struct sk_segments *segments, const struct sk_task_said *said)
{
	const struct sk_scope *scopes = segments->model->scopes.items;
	size_t size = 0;

	for (size_t i = 0; i < said->scopes.count; i++)
		size += strlen(scopes[said->scopes.items[i]].name) + 1;

	char *text = SK_NEW_ARRAY(segments->model->arena, char, size), *end = text;

	for (size_t i = 0; i < said->scopes.count; i++) {
		end = stpcpy(end, scopes[said->scopes.items[i]].name);
		*end++ = ',';
	}
	end[-1] = '\0';
	return text;
}

static void find_tag_sets(struct sk_segments *segments)
{
	struct sk_map sets;

	sk_map_init(&sets, segments->model->arena);
	for (uint32_t t = 0; t < segments->model->tasks.count; t++) {
		const struct sk_task *task = task_at(segments, t);

		segments->set_of[t] = SK_NONE;
		if (task->said.never_fuse || task->said.once || task->said.scopes.count == 0)
			continue;
		uint32_t number = (uint32_t)segments->sets.count;
		uint32_t set = sk_map_insert(&sets, (const char *)task->said.scopes.items,
					     task->said.scopes.count * sizeof(uint32_t), number);

		if (set == number)
			sk_array_push(segments->model->arena, &segments->sets,
				      (struct sk_tag_set){.scopes = task->said.scopes.items,
							  .scope_count = task->said.scopes.count,
							  .label = join_names(segments, &task->said),
							  .first = t});
		segments->set_of[t] = set;
		segments->sets.items[set].last = t;
	}
}

/* Finding floors visits all tasks from the first to the last one of each set, so the time for many overlapping scopes
 * must be limited. */
static bool check_reach(const struct sk_segments *segments)
{
	uint64_t reach = 0;

	for (size_t i = 0; i < segments->sets.count; i++)
		reach += segments->sets.items[i].last - segments->sets.items[i].first + 1;
	if (reach <= MOST_REACH)
		return true;
	sk_error(segments->model->diag, (struct sk_place){.file = segments->model->manifest},
		 "%zu scopes overlap: from their first tasks to their last ones there are %" PRIu64
		 " tasks in all, more than %" PRIu64,
		 segments->sets.count, reach, MOST_REACH);
	return false;
}

/* ---- predecessors ---- */

/* Find the orders that bind between launches: data, `after`, stream order, events. One edge per event is enough: stream
 * order implies the rest. */
static void find_predecessors(struct sk_segments *segments, const struct sk_dependencies *dependencies)
{
	uint32_t count = (uint32_t)segments->model->tasks.count;
	uint32_t *seen = SK_NEW_ARRAY(segments->model->arena, uint32_t, count); /* by the task with this number + 1 */
	SK_ARRAY(uint32_t) all = {0};

	for (uint32_t t = 0; t < count; t++) {
		const struct sk_task *task = task_at(segments, t);
		uint32_t first = (uint32_t)all.count;

		segments->first_predecessor[t] = first;
		for (uint32_t i = dependencies->first_conflict[t]; i < dependencies->first_conflict[t + 1]; i++) {
			uint32_t earlier = dependencies->conflicts[i].task;

			if (seen[earlier] == t + 1)
				continue;
			seen[earlier] = t + 1;
			sk_array_push(segments->model->arena, &all, earlier);
		}
		for (size_t i = 0; i < task->said.after.count; i++)
			sk_array_push(segments->model->arena, &all, task->said.after.items[i]);
		if (dependencies->previous[t] != SK_NONE)
			sk_array_push(segments->model->arena, &all, dependencies->previous[t]);
		segments->first_recorder[t] = (uint32_t)all.count;
		for (uint32_t i = dependencies->first_recorder[t]; i < dependencies->first_recorder[t + 1]; i++)
			sk_array_push(segments->model->arena, &all, dependencies->recorders[i]);
	}
	segments->first_predecessor[count] = (uint32_t)all.count;
	segments->predecessors = all.items;
}

/* ---- floors ---- */

/* The results for a task of a pass over a tag set. */
struct sk_level {
	uint32_t level; /* the lowest level of its successors */
	uint32_t origin; /* the task that raised it last, or SK_NONE */
	bool behind; /* a task of the set that can be fused comes before it */
};

/* Record why the task could not join a segment of its set. event: the cause records an event that the task waits for;
 * last parameter: the cause comes after the segment. */
static void note_split(struct sk_segments *segments, uint32_t task, uint32_t cause, bool event, bool behind)
{
	segments->cause[task] = cause;
	if (event)
		segments->split[task] = behind ? SK_REASON_EXIST_DEADLOCK : SK_REASON_ISOLATED_EVENT;
	else if (segments->set_of[cause] == segments->set_of[task])
		segments->split[task] = SK_REASON_SCOPE_FUSE_PART;
	else
		segments->split[task] = SK_REASON_EXTERNAL_DEPEND;
}

/* Return true if the task may be in a segment that already has this load; otherwise record the reason. */
static bool takes(struct sk_segments *segments, const struct sk_sync_load *load, uint32_t task)
{
	uint32_t cause = SK_NONE;
	enum sk_reason reason = sk_sync_split(segments->model, load, task, &cause);

	if (reason == SK_REASON_CAN_FUSE)
		return true;
	segments->cause[task] = cause;
	segments->split[task] = reason;
	return false;
}

/* On a device with sync-all-split: find the first level, from the task's own on, that takes it. Successors of the task
 * come after the segment that it could not join. If many levels do not take the task, it gets the last one or a new
 * one, since there may be as many levels as tasks. */
static void find_level(struct sk_segments *segments, uint32_t task, struct sk_level *own)
{
	enum { MOST_TRIES = 64 };

	for (uint32_t tries = 0;; tries++) {
		while (segments->loads.count <= own->level)
			sk_array_push(segments->model->arena, &segments->loads, (struct sk_sync_load){0});
		if (takes(segments, &segments->loads.items[own->level], task))
			break;
		own->origin = task;
		own->level++;
		if (tries > MOST_TRIES && own->level < segments->loads.count)
			own->level = (uint32_t)segments->loads.count - 1;
	}
	sk_sync_add(segments->model, &segments->loads.items[own->level], task);
}

/* Find the lowest segment of a set that each task may be in. No path may leave a segment and come back, and successors
 * of an unfusible task of the scope come after the segment that the task ended. */
static void find_floors(struct sk_segments *segments, uint32_t number)
{
	const struct sk_tag_set *set = &segments->sets.items[number];

	segments->loads.count = 0;
	for (uint32_t t = set->first; t <= set->last; t++) {
		bool inside = segments->set_of[t] == number, fusible = inside && can_fuse(segments, t);
		struct sk_level *own = &segments->levels[t];

		*own = (struct sk_level){inside && !fusible, inside && !fusible ? t : SK_NONE, false};
		for (uint32_t i = segments->first_predecessor[t]; i < segments->first_predecessor[t + 1]; i++) {
			uint32_t p = segments->predecessors[i];
			const struct sk_level *earlier = &segments->levels[p];

			segments->steps++;
			if (p < set->first)
				continue;
			bool member = segments->set_of[p] == number && can_fuse(segments, p);
			bool leaves = !fusible && member;

			own->behind |= member || earlier->behind;
			if (earlier->level + leaves <= own->level)
				continue;
			own->level = earlier->level + leaves;
			own->origin = leaves ? t : earlier->origin;
			bool event = !member && i >= segments->first_recorder[t];

			if (fusible)
				note_split(segments, t, event ? p : own->origin, event, earlier->behind);
		}
		if (!fusible)
			continue;
		if (segments->model->device->sync_all_split)
			find_level(segments, t, own);
		segments->floor[t] = own->level;
	}
}

/* ---- placement ---- */

static uint32_t open_group(struct sk_segments *segments, uint32_t set, uint32_t level)
{
	sk_array_push(segments->model->arena, &segments->groups, (struct sk_group){.set = set, .level = level});
	return sk_order_add(&segments->order);
}

static uint32_t group_at(struct sk_segments *segments, uint32_t number, uint32_t level)
{
	struct sk_tag_set *set = &segments->sets.items[number];

	while (set->segments.count <= level)
		sk_array_push(segments->model->arena, &set->segments, SK_NONE);
	if (set->segments.items[level] == SK_NONE)
		set->segments.items[level] = open_group(segments, number, level);
	return set->segments.items[level];
}

/* Put a task that can be fused into the lowest segment of its set that it may join. Floors consider one set by itself.
 * Two segments of different scopes can still depend on each other; then segments that lead to the task's predecessors
 * are skipped. */
static uint32_t join_segment(struct sk_segments *segments, uint32_t task, const uint32_t *from, size_t count)
{
	struct sk_ancestry *ancestry = &segments->ancestry;
	uint32_t set = segments->set_of[task], first = segments->first_predecessor[task];
	uint32_t level = sk_ancestry_level(ancestry, segments, set, segments->floor[task], from, count);

	for (uint32_t i = 0; level > segments->floor[task] && i < count; i++) {
		if (!sk_ancestry_leads(ancestry, segments, set, level - 1, from[i]))
			continue;
		note_split(segments, task, segments->predecessors[first + i],
			   first + i >= segments->first_recorder[task], true);
		break;
	}

	uint32_t group = group_at(segments, set, level);

	sk_ancestry_connect(ancestry, segments, from, count, group);
	return group;
}

/* Do the same by trying one segment after the other, each with a search for paths. If sk_sync_all splits, a task that
 * has had to leave its floor may keep another one out of a segment. */
static uint32_t search_segment(struct sk_segments *segments, uint32_t task, const uint32_t *from, size_t count)
{
	bool splits = segments->model->device->sync_all_split;

	for (uint32_t level = segments->floor[task];; level++) {
		uint32_t group = group_at(segments, segments->set_of[task], level);

		if (splits && !takes(segments, &segments->groups.items[group].load, task))
			continue;

		uint32_t cycle = sk_order_connect(&segments->order, from, count, group);

		if (cycle == SK_NONE) {
			if (splits)
				sk_sync_add(segments->model, &segments->groups.items[group].load, task);
			return group;
		}
		for (uint32_t i = segments->first_predecessor[task]; i < segments->first_predecessor[task + 1]; i++) {
			if (segments->group_of[segments->predecessors[i]] != cycle)
				continue;
			note_split(segments, task, segments->predecessors[i], i >= segments->first_recorder[task],
				   true);
			break;
		}
	}
}

static uint32_t place_alone(struct sk_segments *segments, const uint32_t *from, size_t count)
{
	uint32_t group = open_group(segments, SK_NONE, 0);

	if (segments->searches)
		sk_order_connect(&segments->order, from, count, group);
	else
		sk_ancestry_connect(&segments->ancestry, segments, from, count, group);
	return group;
}

static void place_tasks(struct sk_segments *segments)
{
	SK_ARRAY(uint32_t) from = {0}; /* groups of the predecessors */

	for (uint32_t t = 0; t < segments->model->tasks.count; t++) {
		from.count = 0;
		for (uint32_t i = segments->first_predecessor[t]; i < segments->first_predecessor[t + 1]; i++)
			sk_array_push(segments->model->arena, &from, segments->group_of[segments->predecessors[i]]);

		uint32_t group;

		if (!can_fuse(segments, t))
			group = place_alone(segments, from.items, from.count);
		else if (segments->searches)
			group = search_segment(segments, t, from.items, from.count);
		else
			group = join_segment(segments, t, from.items, from.count);
		segments->group_of[t] = group;
		sk_array_push(segments->model->arena, &segments->groups.items[group].tasks, t);
	}
}

struct sk_segments *sk_segments_build(struct sk_model *model, const struct sk_dependencies *dependencies)
{
	struct sk_arena *arena = model->arena;
	struct sk_segments *segments = SK_NEW(arena, struct sk_segments);
	size_t count = model->tasks.count;

	segments->model = model;
	segments->set_of = SK_NEW_ARRAY(arena, uint32_t, count);
	segments->checked = SK_NEW_ARRAY(arena, bool, model->scopes.count);
	segments->verdict = SK_NEW_ARRAY(arena, enum sk_reason, count);
	segments->levels = SK_NEW_ARRAY(arena, struct sk_level, count);
	segments->floor = SK_NEW_ARRAY(arena, uint32_t, count);
	segments->cause = SK_NEW_ARRAY(arena, uint32_t, count);
	segments->split = SK_NEW_ARRAY(arena, enum sk_reason, count);
	segments->group_of = SK_NEW_ARRAY(arena, uint32_t, count);
	segments->first_predecessor = SK_NEW_ARRAY(arena, uint32_t, count + 1);
	segments->first_recorder = SK_NEW_ARRAY(arena, uint32_t, count);

	find_tag_sets(segments);
	if (!check_reach(segments))
		return NULL;
	sk_verdicts_find(segments);
	/* The own verdict of each task is known. */
	find_predecessors(segments, dependencies);
	sk_ancestry_init(&segments->ancestry, segments);
	segments->searches = model->device->sync_all_split || segments->ancestry.columns > MOST_MARKS / (count + 1);
	return segments;
}

void sk_segments_place(struct sk_segments *segments)
{
	segments->groups.count = 0;
	sk_order_init(&segments->order, segments->model->arena);
	sk_ancestry_reset(&segments->ancestry);
	for (uint32_t t = 0; t < segments->model->tasks.count; t++)
		segments->cause[t] = SK_NONE;
	for (uint32_t s = 0; s < segments->sets.count; s++) {
		segments->sets.items[s].segments.count = 0;
		find_floors(segments, s);
	}
	/* The lowest segment of each task that can be fused is known. */
	place_tasks(segments);
}
