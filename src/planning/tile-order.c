/* See planning-parts.h. In network order, each task joins the group of a task that it depends on, or of the preceding
 * task, unless that would close a cycle between groups. Otherwise it becomes a group of its own. Then the groups are
 * put in order, each as early as its first task may be. So without groups of several tasks the order stays
 * unchanged. */
#include "src/planning/planning-parts.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/skplan.h"

enum {
	MOST_TRIES = 4, /* the number of groups that a task tries to join, from the last one */
	MOST_PAIRS = 4096, /* of tasks of two groups that may be joined: each is compared with each */
	LOOK_BACK = 1000, /* greatest distance from a task to the first one of its group, since the places between are
			   * searched */
};

/* A node of the graph. Members are linked by `next`, in network order. A group that has become part of another one has
 * none. In the graph it stays before that one, and groups that follow it also follow the other one. */
struct group {
	uint32_t first, last, count;
	uint32_t meeting; /* a task, or SK_NONE */
};

/* The tasks of a stream that have been visited: places + 1. */
struct stream {
	uint32_t pass; /* that the other fields belong to */
	uint32_t last, fixed, fence;
};

struct sk_tile_orderer {
	const struct sk_model *model;
	const struct sk_fusion *fusion;
	struct sk_arena *arena;
	struct stream *streams; /* by stream number of the dependencies */
	uint32_t pass; /* number of the pass over a launch */

	/* The current launch: */
	uint32_t number;
	const struct sk_launch *launch;
	struct sk_order graph;
	SK_ARRAY(struct group) groups;
	uint32_t *group_of, *next, *before_in_stream; /* by place */
	uint32_t *members; /* of the group that is judged */
	SK_ARRAY(uint32_t) behind; /* groups that precede the current task */
	sk_tile_judge *judge;
	const void *context;
};

static const struct sk_task *task_at(const struct sk_tile_orderer *orderer, uint32_t place)
{
	return &orderer->model->tasks.items[orderer->launch->tasks[place]];
}

/* ---- order of tasks ---- */

static void come_behind_place(struct sk_tile_orderer *orderer, uint32_t place)
{
	sk_array_push(orderer->arena, &orderer->behind, orderer->group_of[place]);
}

/* Launches are ordered as wholes. */
static void come_behind_task(struct sk_tile_orderer *orderer, uint32_t task)
{
	if (orderer->fusion->tasks[task].launch == orderer->number)
		come_behind_place(orderer, orderer->fusion->tasks[task].step);
}

/* An event orders the tasks of its streams, even if they share nothing. Tasks that are not divided also keep the order
 * of their stream. */
static void come_behind_stream(struct sk_tile_orderer *orderer, uint32_t place)
{
	const struct sk_task *task = task_at(orderer, place);
	struct stream *stream = &orderer->streams[orderer->fusion->dependencies->stream[orderer->launch->tasks[place]]];
	bool fence = task->said.record.count || task->said.wait.count;
	bool fixed = orderer->model->kernels.items[task->bound.kernel].signature->spread != SK_STEP_SPLIT;

	if (stream->pass != orderer->pass)
		*stream = (struct stream){.pass = orderer->pass};
	if (stream->fence)
		come_behind_place(orderer, stream->fence - 1);
	if (fixed && stream->fixed)
		come_behind_place(orderer, stream->fixed - 1);
	for (uint32_t p = stream->last; fence && p > stream->fence; p = orderer->before_in_stream[p - 1])
		come_behind_place(orderer, p - 1);
	orderer->before_in_stream[place] = stream->last;
	stream->last = place + 1;
	stream->fixed = fixed ? place + 1 : stream->fixed;
	stream->fence = fence ? place + 1 : stream->fence;
}

static void collect_places(struct sk_tile_orderer *orderer, uint32_t place)
{
	const struct sk_dependencies *dependencies = orderer->fusion->dependencies;
	uint32_t number = orderer->launch->tasks[place];
	const struct sk_task *task = task_at(orderer, place);

	orderer->behind.count = 0;
	for (uint32_t i = dependencies->first_conflict[number]; i < dependencies->first_conflict[number + 1]; i++)
		come_behind_task(orderer, dependencies->conflicts[i].task);
	for (size_t i = 0; i < task->said.after.count; i++)
		come_behind_task(orderer, task->said.after.items[i]);
	for (uint32_t i = dependencies->first_recorder[number]; i < dependencies->first_recorder[number + 1]; i++)
		come_behind_task(orderer, dependencies->recorders[i]);
	come_behind_stream(orderer, place);
}

/* ---- groups ---- */

static enum sk_tile_fit ask(struct sk_tile_orderer *orderer, uint32_t number, uint32_t place)
{
	const struct group *group = &orderer->groups.items[number];
	uint32_t count = 0;

	if (place > group->first + LOOK_BACK || group->count == 0)
		return SK_TILE_FIT_NEVER;
	for (uint32_t p = group->first; count < group->count; p = orderer->next[p])
		orderer->members[count++] = p;
	return orderer->judge(orderer->context, orderer->members, count, place);
}

/* Return false if the group would follow itself; then set the task in between. */
static bool join_group(struct sk_tile_orderer *orderer, uint32_t number, uint32_t place, struct sk_tile_place *result)
{
	struct group *group = &orderer->groups.items[number];
	uint32_t between = sk_order_connect(&orderer->graph, orderer->behind.items, orderer->behind.count, number);

	if (between != SK_NONE) {
		result->refused = orderer->launch->tasks[group->last];
		result->between = orderer->launch->tasks[orderer->groups.items[between].last];
		return false;
	}
	orderer->next[group->last] = place;
	group->last = place;
	group->count++;
	orderer->group_of[place] = number;
	return true;
}

/* Let the whole come after the part, and the part's successors after the whole. Return false if the whole must follow
 * one of these successors; then the part is not merged. Edges that were added before that are stricter than needed, but
 * close no cycle. */
static bool take_behind(struct sk_tile_orderer *orderer, uint32_t whole, uint32_t part)
{
	if (sk_order_connect(&orderer->graph, &part, 1, whole) != SK_NONE)
		return false;
	for (uint32_t e = orderer->graph.nodes.items[part].edges; e != SK_NONE;
	     e = orderer->graph.edges.items[e].next) {
		uint32_t behind = orderer->graph.edges.items[e].to;

		if (behind != whole && sk_order_connect(&orderer->graph, &whole, 1, behind) != SK_NONE)
			return false;
	}
	return true;
}

/* Link the members of both groups in network order. */
static void merge_members(struct sk_tile_orderer *orderer, struct group *whole, struct group *part)
{
	uint32_t one = whole->first, other = part->first, left = whole->count, other_left = part->count;
	uint32_t first = one < other ? one : other, *link = &first;

	while (left || other_left) {
		bool takes_one = left && (!other_left || one < other);
		uint32_t place = takes_one ? one : other;

		*link = place;
		link = &orderer->next[place];
		if (takes_one && --left)
			one = orderer->next[place];
		else if (!takes_one && --other_left)
			other = orderer->next[place];
		whole->last = place;
	}
	whole->first = first;
	whole->count += part->count;
	part->count = 0;
}

/* Merge the other group, which the group's last task could also join, into this one, if nothing prevents it. */
static void merge_groups(struct sk_tile_orderer *orderer, uint32_t number, uint32_t other)
{
	struct group *whole = &orderer->groups.items[number], *part = &orderer->groups.items[other];
	uint32_t place = part->first;

	if ((uint64_t)whole->count * part->count > MOST_PAIRS || whole->last > part->first + LOOK_BACK)
		return;
	for (uint32_t i = 0; i < part->count; i++, place = orderer->next[place])
		if (ask(orderer, number, place) == SK_TILE_FIT_NEVER)
			return;
	if (!take_behind(orderer, number, other))
		return;
	place = part->first;
	for (uint32_t i = 0; i < part->count; i++, place = orderer->next[place])
		orderer->group_of[place] = number;
	merge_members(orderer, whole, part);
	whole->meeting = orderer->launch->tasks[whole->last];
}

/* Return the remaining group with the last member, or SK_NONE. */
static uint32_t latest(const struct sk_tile_orderer *orderer, uint32_t place, uint32_t below)
{
	uint32_t found = SK_NONE;

	for (size_t i = 0; i <= orderer->behind.count; i++) {
		uint32_t group = i < orderer->behind.count ? orderer->behind.items[i] : orderer->group_of[place - 1];
		uint32_t last = orderer->groups.items[group].last;

		if (last < below && (found == SK_NONE || last > orderer->groups.items[found].last))
			found = group;
	}
	return found;
}

static void add_group(struct sk_tile_orderer *orderer, uint32_t place)
{
	uint32_t group = sk_order_add(&orderer->graph);

	sk_array_push(orderer->arena, &orderer->groups, (struct group){place, place, 1, SK_NONE});
	orderer->group_of[place] = group;
	sk_order_add_edges(&orderer->graph, orderer->behind.items, orderer->behind.count, group);
}

static void place_task(struct sk_tile_orderer *orderer, uint32_t place, struct sk_tile_place *result)
{
	uint32_t own = SK_NONE, candidates[MOST_TRIES], count = 0;

	*result = (struct sk_tile_place){SK_NONE, SK_NONE, SK_NONE, SK_NONE};
	collect_places(orderer, place);
	for (uint32_t below = place; place && count < MOST_TRIES; count++) {
		candidates[count] = latest(orderer, place, below);
		if (candidates[count] == SK_NONE)
			break;
		below = orderer->groups.items[candidates[count]].last;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (ask(orderer, candidates[i], place) != SK_TILE_FIT_WELL)
			continue;
		if (own != SK_NONE)
			merge_groups(orderer, own, candidates[i]);
		else if (join_group(orderer, candidates[i], place, result))
			own = candidates[i];
	}
	if (own == SK_NONE)
		add_group(orderer, place);
}
/* ---- the order ---- */

static uint32_t *sort_tasks(struct sk_tile_orderer *orderer)
{
	size_t count = orderer->groups.count;
	uint32_t *tasks = SK_NEW_ARRAY(orderer->arena, uint32_t, orderer->launch->task_count), placed = 0;
	uint32_t *keys = SK_NEW_ARRAY(orderer->arena, uint32_t, count);
	const uint32_t *sorted;

	for (size_t i = 0; i < count; i++)
		keys[i] = orderer->groups.items[i].first;
	sorted = sk_order_sort(&orderer->graph, keys);
	for (size_t i = 0; i < count; i++) {
		const struct group *group = &orderer->groups.items[sorted[i]];
		uint32_t place = group->first;

		for (uint32_t m = 0; m < group->count; m++, place = orderer->next[place])
			tasks[placed++] = orderer->launch->tasks[place];
	}
	return tasks;
}

uint32_t *sk_tile_order_find(struct sk_tile_orderer *orderer, uint32_t number, sk_tile_judge *judge,
			     const void *context, struct sk_tile_place **places)
{
	uint32_t count = orderer->fusion->launches[number].task_count;

	orderer->pass++;
	orderer->number = number;
	orderer->launch = &orderer->fusion->launches[number];
	orderer->judge = judge;
	orderer->context = context;
	orderer->groups.count = 0;
	orderer->group_of = SK_NEW_ARRAY(orderer->arena, uint32_t, count);
	orderer->members = SK_NEW_ARRAY(orderer->arena, uint32_t, count);
	orderer->next = SK_NEW_ARRAY(orderer->arena, uint32_t, count);
	orderer->before_in_stream = SK_NEW_ARRAY(orderer->arena, uint32_t, count);
	*places = SK_NEW_ARRAY(orderer->arena, struct sk_tile_place, count);
	sk_order_init(&orderer->graph, orderer->arena);
	for (uint32_t place = 0; place < count; place++)
		place_task(orderer, place, &(*places)[place]);
	for (uint32_t place = 0; place < count; place++) {
		(*places)[place].group = orderer->group_of[place];
		(*places)[place].meeting = orderer->groups.items[orderer->group_of[place]].meeting;
	}
	return sort_tasks(orderer);
}

struct sk_tile_orderer *sk_tile_orderer_new(const struct sk_model *model, const struct sk_fusion *fusion)
{
	struct sk_tile_orderer *orderer = SK_NEW(model->arena, struct sk_tile_orderer);

	orderer->model = model;
	orderer->fusion = fusion;
	orderer->arena = model->arena;
	orderer->streams = SK_NEW_ARRAY(model->arena, struct stream, fusion->dependencies->stream_count);
	return orderer;
}
