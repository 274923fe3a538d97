/* See segments.h. The passes, in order: tag sets, predecessors, floors, placement. */
#include "segments.h"

#include <string.h>

static const struct sk_task *task_at(const struct sk_segments *segments, uint32_t task)
{
	return &segments->model->tasks.items[task];
}

static bool can_fuse(const struct sk_segments *segments, uint32_t task)
{
	return segments->set_of[task] != SK_NONE &&
	       !segments->model->kernels.items[task_at(segments, task)->kernel].signature->unfusible;
}

/* ---- tag sets ---- */

static const char *join_names(const struct sk_segments *segments, const struct sk_task *task)
{
	const struct sk_scope *scopes = segments->model->scopes.items;
	const char *text = scopes[task->scopes.items[0]].name;

	for (size_t i = 1; i < task->scopes.count; i++)
		text = sk_arena_print(segments->model->arena, "%s,%s", text, scopes[task->scopes.items[i]].name);
	return text;
}

static void find_tag_sets(struct sk_segments *segments)
{
	struct sk_map sets;

	sk_map_init(&sets, segments->model->arena);
	for (uint32_t t = 0; t < segments->model->tasks.count; t++) {
		const struct sk_task *task = task_at(segments, t);

		segments->set_of[t] = SK_NONE;
		if (task->never_fuse || task->scopes.count == 0)
			continue;
		uint32_t number = (uint32_t)segments->sets.count;
		uint32_t set = sk_map_insert(&sets, (const char *)task->scopes.items,
					     task->scopes.count * sizeof(uint32_t), number);

		if (set == number)
			sk_array_push(segments->model->arena, &segments->sets,
				      (struct sk_tag_set){.scopes = task->scopes.items,
							  .scope_count = task->scopes.count,
							  .label = join_names(segments, task),
							  .first = t});
		segments->set_of[t] = set;
		segments->sets.items[set].last = t;
	}
}

static bool allows_any_stream(const struct sk_segments *segments, const struct sk_tag_set *set)
{
	for (size_t i = 0; i < set->scope_count; i++)
		if (segments->model->scopes.items[set->scopes[i]].stream_fusion)
			return true;
	return false;
}

/* Without stream-fusion=1 on one of its scopes, a tag set holds two streams at most: the first task of a third one is
 * an error. */
static bool check_streams(struct sk_segments *segments)
{
	struct limit {
		uint32_t streams[2];
		uint32_t count;
		bool reported;
	} *limits = SK_NEW_ARRAY(segments->model->arena, struct limit, segments->sets.count);
	bool good = true;

	for (uint32_t t = 0; t < segments->model->tasks.count; t++) {
		if (!can_fuse(segments, t))
			continue;
		uint32_t stream = task_at(segments, t)->stream;
		const struct sk_tag_set *set = &segments->sets.items[segments->set_of[t]];
		struct limit *limit = &limits[segments->set_of[t]];
		bool known = (limit->count > 0 && limit->streams[0] == stream) ||
			     (limit->count > 1 && limit->streams[1] == stream);

		if (known || limit->reported || allows_any_stream(segments, set))
			continue;
		if (limit->count < 2) {
			limit->streams[limit->count++] = stream;
			continue;
		}
		sk_error(segments->model->diag, task_at(segments, t)->place,
			 "task '%s' is in stream %u, the third stream of scope '%s', which takes two; "
			 "more need options: \"stream-fusion=1\"",
			 task_at(segments, t)->name, stream, set->label);
		sk_note(segments->model->diag, "the first two are streams %u and %u", limit->streams[0],
			limit->streams[1]);
		limit->reported = true;
		good = false;
	}
	return good;
}

/* ---- predecessors ---- */

/* What binds between launches: data, events, `after`, stream order. An event needs one edge: stream order does the
 * rest. */
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
		for (uint32_t i = dependencies->first_recorder[t]; i < dependencies->first_recorder[t + 1]; i++)
			sk_array_push(segments->model->arena, &all, dependencies->recorders[i]);
		for (size_t i = 0; i < task->after.count; i++)
			sk_array_push(segments->model->arena, &all, task->after.items[i]);
		if (dependencies->previous[t] != SK_NONE)
			sk_array_push(segments->model->arena, &all, dependencies->previous[t]);
	}
	segments->first_predecessor[count] = (uint32_t)all.count;
	segments->predecessors = all.items;
}

/* ---- floors ---- */

/* The lowest segment of a set that each task may be in, so that no path leaves a segment and comes back, and what
 * follows an unfusible task of the scope comes after the segment that the task ended. level[t] is what a successor of t
 * has to respect, origin[t] the task that raised it last. */
static void find_floors(struct sk_segments *segments, uint32_t number, uint32_t *level, uint32_t *origin)
{
	const struct sk_tag_set *set = &segments->sets.items[number];

	for (uint32_t t = set->first; t <= set->last; t++) {
		bool inside = segments->set_of[t] == number, fusible = inside && can_fuse(segments, t);

		level[t] = inside && !fusible;
		origin[t] = level[t] ? t : SK_NONE;
		for (uint32_t i = segments->first_predecessor[t]; i < segments->first_predecessor[t + 1]; i++) {
			uint32_t p = segments->predecessors[i];

			if (p < set->first)
				continue;
			bool leaves = !fusible && segments->set_of[p] == number && can_fuse(segments, p);

			if (level[p] + leaves <= level[t])
				continue;
			level[t] = level[p] + leaves;
			origin[t] = leaves ? t : origin[p];
		}
		if (fusible) {
			segments->floor[t] = level[t];
			segments->cause[t] = origin[t];
		}
	}
}

/* ---- placement ---- */

static uint32_t open_group(struct sk_segments *segments, uint32_t set, uint32_t level)
{
	sk_array_push(segments->model->arena, &segments->groups, (struct sk_group){set, level, {0}});
	return sk_order_add(&segments->order);
}

/* Puts a task that can be fused into the lowest segment of its set that it may join. Floors look at tasks one by one;
 * two segments of different scopes can still depend on each other, and then the order refuses. */
static uint32_t join_segment(struct sk_segments *segments, uint32_t task, const uint32_t *from, size_t count)
{
	uint32_t number = segments->set_of[task];

	for (uint32_t level = segments->floor[task];; level++) {
		struct sk_tag_set *set = &segments->sets.items[number];

		while (set->segments.count <= level)
			sk_array_push(segments->model->arena, &set->segments, SK_NONE);
		if (set->segments.items[level] == SK_NONE)
			set->segments.items[level] = open_group(segments, number, level);
		uint32_t group = set->segments.items[level];
		uint32_t cycle = sk_order_connect(&segments->order, from, count, group);

		if (cycle == SK_NONE)
			return group;
		for (uint32_t i = segments->first_predecessor[task]; i < segments->first_predecessor[task + 1]; i++)
			if (segments->group_of[segments->predecessors[i]] == cycle)
				segments->cause[task] = segments->predecessors[i];
	}
}

static void place_tasks(struct sk_segments *segments)
{
	SK_ARRAY(uint32_t) from = {0}; /* groups of the predecessors */

	for (uint32_t t = 0; t < segments->model->tasks.count; t++) {
		from.count = 0;
		for (uint32_t i = segments->first_predecessor[t]; i < segments->first_predecessor[t + 1]; i++)
			sk_array_push(segments->model->arena, &from, segments->group_of[segments->predecessors[i]]);

		uint32_t group;

		if (can_fuse(segments, t)) {
			group = join_segment(segments, t, from.items, from.count);
		} else {
			group = open_group(segments, SK_NONE, 0);
			sk_order_connect(&segments->order, from.items, from.count, group);
		}
		segments->group_of[t] = group;
		sk_array_push(segments->model->arena, &segments->groups.items[group].tasks, t);
	}
}

struct sk_segments *sk_segments_build(struct sk_model *model, const struct sk_dependencies *dependencies)
{
	struct sk_arena *arena = model->arena;
	struct sk_segments *segments = SK_NEW(arena, struct sk_segments);
	size_t count = model->tasks.count;
	uint32_t *level = SK_NEW_ARRAY(arena, uint32_t, count), *origin = SK_NEW_ARRAY(arena, uint32_t, count);

	segments->model = model;
	segments->set_of = SK_NEW_ARRAY(arena, uint32_t, count);
	segments->floor = SK_NEW_ARRAY(arena, uint32_t, count);
	segments->cause = SK_NEW_ARRAY(arena, uint32_t, count);
	segments->group_of = SK_NEW_ARRAY(arena, uint32_t, count);
	segments->first_predecessor = SK_NEW_ARRAY(arena, uint32_t, count + 1);
	sk_order_init(&segments->order, arena);

	find_tag_sets(segments);
	if (!check_streams(segments))
		return NULL;
	find_predecessors(segments, dependencies);
	for (uint32_t s = 0; s < segments->sets.count; s++)
		find_floors(segments, s, level, origin);
	/* Each task that can be fused knows the lowest segment it may be in. */
	place_tasks(segments);
	return segments;
}
