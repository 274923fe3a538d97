/* See planning.h. Knowledge is kept as vector clocks over core sets: set number l is all cores of lane l, the homes
 * follow. An entry is a step number of the set's lane: that step, and all before it, have ended on all cores of the
 * set.
 *
 * A clock grows by awaits only. Awaiting a step of `all` shows that every core of the lane has come that far, so an
 * entry of `all` also holds for every home of the lane. The number comes with the awaits that the awaited cores had
 * made before: for a home, its own and those of all cores; for `all`, the awaits of every core set of the lane. Program
 * order adds the steps that a home has run itself, and nothing for `all`, since one core's order shows nothing about
 * the others. */
#include "src/planning/planning-parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "format/skplan.h"
#include "src/model/model.h"
#include "src/planning/planning.h"

enum { CANDIDATES_PER_LANE = 2 };

/* The effect of a wait for an event on the tasks after it: the step of the core set must have ended. */
struct gate {
	uint32_t set, step;
};

/* A stream within the launch that is being scheduled. */
struct stream {
	uint32_t launch; /* + 1: the launch that the other fields belong to */
	uint32_t last[SK_MAX_LANES * CANDIDATES_PER_LANE]; /* per lane the last step of `all`, then of the home; + 1 */
	SK_ARRAY(struct gate) gates;
};

struct scheduler {
	const struct sk_model *model;
	struct sk_arena *arena;
	const struct sk_fusion *fusion;
	const struct sk_tile_groups *groups;
	struct stream *streams; /* by stream number of the dependencies */
	const uint32_t **recorded; /* by task that records an event: its stream's last steps at that time */
	uint32_t *seen; /* by task and side: it is a candidate of the step with this number - 1 of this launch */
	SK_ARRAY(uint32_t) candidates; /* steps that the current one depends on */
	struct sk_step_maker *maker;

	/* The launch that is being scheduled: */
	struct sk_launch_schedule *launch;
	uint32_t number; /* of the launch */
	uint32_t lanes, sets;
	const uint32_t **clocks; /* by core set */
	const uint32_t **everything; /* by lane: the union of the clocks of its sets */
};

static struct stream *stream_of(struct scheduler *scheduler, uint32_t task)
{
	struct stream *stream = &scheduler->streams[scheduler->fusion->dependencies->stream[task]];

	if (stream->launch != scheduler->number + 1) {
		stream->launch = scheduler->number + 1;
		stream->gates.count = 0;
		memset(stream->last, 0, sizeof(stream->last));
	}
	return stream;
}

/* ---- clocks ---- */

static uint32_t set_of(const struct scheduler *scheduler, const struct sk_step *step)
{
	return step->home == SK_ALL_CORES ? step->lane : scheduler->lanes + step->home;
}

static bool entry_reaches(const uint32_t *clock, uint32_t lanes, const struct sk_step *step)
{
	return clock[step->lane] >= step->number ||
	       (step->home != SK_ALL_CORES && clock[lanes + step->home] >= step->number);
}

static bool same_home(const struct sk_step *a, const struct sk_step *b)
{
	return a->home != SK_ALL_CORES && a->home == b->home;
}

static void merge_clocks(uint32_t *clock, const uint32_t *other, uint32_t sets)
{
	for (uint32_t set = 0; other && set < sets; set++)
		if (other[set] > clock[set])
			clock[set] = other[set];
}

static uint32_t *copy_clock(struct scheduler *scheduler, const uint32_t *clock)
{
	uint32_t *copy = SK_NEW_ARRAY(scheduler->arena, uint32_t, scheduler->sets);

	memcpy(copy, clock, scheduler->sets * sizeof(*copy));
	return copy;
}

bool sk_schedule_known(const struct sk_launch_schedule *launch, uint32_t earlier, uint32_t later)
{
	const struct sk_step *first = &launch->steps[earlier], *second = &launch->steps[later];
	uint32_t lanes = launch->lane_count;

	if (earlier >= later)
		return false;
	return same_home(first, second) || entry_reaches(second->knows[0], lanes, first) ||
	       entry_reaches(second->knows[1], lanes, first);
}

/* ---- dependencies of a step ---- */

static void add_candidate(struct scheduler *scheduler, uint32_t step, uint32_t earlier)
{
	const struct sk_step *steps = scheduler->launch->steps;
	uint32_t *seen = &scheduler->seen[steps[earlier].task * SK_MAX_SIDES + steps[earlier].side];

	if (same_home(&steps[earlier], &steps[step]) || *seen == step + 1)
		return;
	*seen = step + 1;
	sk_array_push(scheduler->arena, &scheduler->candidates, earlier);
}

/* Find the steps of an earlier task, from *first to *end: none unless it is in the current launch, since launches are
 * ordered as wholes. */
static void steps_of(const struct scheduler *scheduler, uint32_t task, uint32_t *first, uint32_t *end)
{
	*first = *end = 0;
	if (scheduler->fusion->tasks[task].launch != scheduler->number)
		return;
	*first = scheduler->launch->first_steps[scheduler->groups->places[task]];
	*end = *first + 1;
	if (*end < scheduler->launch->step_count && scheduler->launch->steps[*end].side)
		++*end;
}

static bool falls_on_same_cores(const struct scheduler *scheduler, uint32_t step, uint32_t task, uint32_t earlier,
				const struct sk_conflict *conflict)
{
	const struct sk_task *tasks = scheduler->model->tasks.items;
	const struct sk_launch_schedule *launch = scheduler->launch;
	const struct sk_step *first = &launch->steps[earlier], *second = &launch->steps[step];

	if (first->home != SK_ALL_CORES || second->home != SK_ALL_CORES || first->lane != second->lane)
		return false;
	struct sk_pattern before =
		sk_schedule_pattern(scheduler->model, launch, earlier, &tasks[conflict->task], conflict->earlier);
	struct sk_pattern after = sk_schedule_pattern(scheduler->model, launch, step, &tasks[task], conflict->later);

	return sk_pattern_equal(&before, &after);
}

/* Calls of one step share only bytes that fall on the same cores. */
static void collect_data(struct scheduler *scheduler, uint32_t step, uint32_t task)
{
	const struct sk_dependencies *dependencies = scheduler->fusion->dependencies;

	for (uint32_t i = dependencies->first_conflict[task]; i < dependencies->first_conflict[task + 1]; i++) {
		const struct sk_conflict *conflict = &dependencies->conflicts[i];
		uint32_t earlier, end;

		for (steps_of(scheduler, conflict->task, &earlier, &end); earlier < end; earlier++)
			if (earlier != step && !falls_on_same_cores(scheduler, step, task, earlier, conflict))
				add_candidate(scheduler, step, earlier);
	}
}

static void collect_after(struct scheduler *scheduler, uint32_t step, uint32_t number)
{
	const struct sk_task *task = &scheduler->model->tasks.items[number];

	for (size_t i = 0; i < task->said.after.count; i++) {
		uint32_t earlier, end;

		for (steps_of(scheduler, task->said.after.items[i], &earlier, &end); earlier < end; earlier++)
			add_candidate(scheduler, step, earlier);
	}
}

static void add_gate(struct scheduler *scheduler, struct stream *stream, uint32_t step)
{
	uint32_t set = set_of(scheduler, &scheduler->launch->steps[step]);

	for (size_t i = 0; i < stream->gates.count; i++) {
		struct gate *gate = &stream->gates.items[i];

		if (gate->set != set)
			continue;
		if (gate->step < step)
			gate->step = step;
		return;
	}
	sk_array_push(scheduler->arena, &stream->gates, (struct gate){set, step});
}

/* An event covers all earlier tasks of the recording stream and all later ones of the waiting stream. Among
 * the earlier ones the last of each core set is enough: its end implies that of the others. */
static void collect_events(struct scheduler *scheduler, uint32_t step, uint32_t task)
{
	const struct sk_dependencies *dependencies = scheduler->fusion->dependencies;
	struct stream *stream = stream_of(scheduler, task);

	for (uint32_t i = dependencies->first_recorder[task]; i < dependencies->first_recorder[task + 1]; i++) {
		uint32_t recorder = dependencies->recorders[i];

		if (scheduler->fusion->tasks[recorder].launch != scheduler->number)
			continue;
		for (uint32_t k = 0; k < SK_MAX_LANES * CANDIDATES_PER_LANE; k++)
			if (scheduler->recorded[recorder][k])
				add_gate(scheduler, stream, scheduler->recorded[recorder][k] - 1);
	}
	for (size_t i = 0; i < stream->gates.count; i++)
		add_candidate(scheduler, step, stream->gates.items[i].step);
}

static void pass_stream(struct scheduler *scheduler, uint32_t index, uint32_t task)
{
	const struct sk_step *step = &scheduler->launch->steps[index];
	struct stream *stream = stream_of(scheduler, task);

	stream->last[step->lane * CANDIDATES_PER_LANE + (step->home != SK_ALL_CORES)] = index + 1;
	if (scheduler->model->tasks.items[task].said.record.count == 0)
		return;
	uint32_t *last = SK_NEW_ARRAY(scheduler->arena, uint32_t, SK_MAX_LANES * CANDIDATES_PER_LANE);

	memcpy(last, stream->last, sizeof(stream->last));
	scheduler->recorded[task] = last;
}

/* ---- awaits ---- */

static int compare_descending(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left < right) - (left > right);
}

/* Go from the last candidate to the first, since only the knowledge of a later step can make an earlier one redundant.
 * Set the step's awaits and return the clock of its core set after them. */
static const uint32_t *choose_awaits(struct scheduler *scheduler, struct sk_step *step)
{
	const uint32_t *before = scheduler->clocks[set_of(scheduler, step)], *lane = scheduler->clocks[step->lane];
	uint32_t *clock = NULL;
	uint32_t *candidates = scheduler->candidates.items, count = (uint32_t)scheduler->candidates.count, kept = 0;

	if (count > 1)
		qsort(candidates, count, sizeof(*candidates), compare_descending);
	for (uint32_t i = 0; i < count; i++) {
		struct sk_step *awaited = &scheduler->launch->steps[candidates[i]];

		if (entry_reaches(clock ? clock : before, scheduler->lanes, awaited) ||
		    entry_reaches(lane, scheduler->lanes, awaited))
			continue;
		if (!clock)
			clock = copy_clock(scheduler, before);
		clock[set_of(scheduler, awaited)] = awaited->number;
		merge_clocks(clock, awaited->gives[0], scheduler->sets);
		merge_clocks(clock, awaited->gives[1], scheduler->sets);
		awaited->publish = true;
		candidates[kept++] = candidates[i];
	}
	step->await_count = kept;
	step->awaits = SK_NEW_ARRAY(scheduler->arena, uint32_t, kept);
	for (uint32_t i = 0; i < kept; i++)
		step->awaits[i] = candidates[kept - 1 - i];
	return clock ? clock : before;
}

/* debug-sync-all: the preceding step has awaited its own predecessor, and so on. The sides of a mix task, of which the
 * vector side comes second, run at the same time. */
static void collect_all(struct scheduler *scheduler, uint32_t step)
{
	const struct sk_step *steps = scheduler->launch->steps;
	uint32_t first = steps[step].side ? step - 1 : step;

	if (first > 0)
		add_candidate(scheduler, step, first - 1);
	if (first > 0 && steps[first - 1].side)
		add_candidate(scheduler, step, first - 2);
}

static void schedule_step(struct scheduler *scheduler, uint32_t index)
{
	struct sk_step *step = &scheduler->launch->steps[index];
	uint32_t set = set_of(scheduler, step);

	scheduler->candidates.count = 0;
	for (uint32_t i = 0; i < step->task_count; i++) {
		collect_data(scheduler, index, step->tasks[i]);
		collect_after(scheduler, index, step->tasks[i]);
		collect_events(scheduler, index, step->tasks[i]);
	}
	if (scheduler->fusion->launches[scheduler->number].options.sync_all)
		collect_all(scheduler, index);
	scheduler->clocks[set] = choose_awaits(scheduler, step);
	if (step->await_count) {
		uint32_t *everything = copy_clock(scheduler, scheduler->everything[step->lane]);

		merge_clocks(everything, scheduler->clocks[set], scheduler->sets);
		scheduler->everything[step->lane] = everything;
	}
	step->knows[0] = scheduler->clocks[set];
	step->knows[1] = scheduler->clocks[step->lane];
	step->gives[0] = step->home == SK_ALL_CORES ? scheduler->everything[step->lane] : step->knows[0];
	step->gives[1] = step->home == SK_ALL_CORES ? NULL : step->knows[1];
	for (uint32_t i = 0; i < step->task_count; i++)
		pass_stream(scheduler, index, step->tasks[i]);
}

static void schedule_launch(struct scheduler *scheduler, struct sk_launch_schedule *launch, uint32_t number)
{
	scheduler->launch = launch;
	scheduler->number = number;
	sk_launch_steps_make(scheduler->maker, launch, number);
	scheduler->sets = scheduler->lanes + launch->home_count;
	scheduler->clocks = SK_NEW_ARRAY(scheduler->arena, const uint32_t *, scheduler->sets);

	const uint32_t *nothing = SK_NEW_ARRAY(scheduler->arena, uint32_t, scheduler->sets);

	for (uint32_t set = 0; set < scheduler->sets; set++)
		scheduler->clocks[set] = nothing;
	for (uint32_t lane = 0; lane < scheduler->lanes; lane++)
		scheduler->everything[lane] = nothing;
	for (uint32_t step = 0; step < launch->step_count; step++)
		schedule_step(scheduler, step);
}

struct sk_schedule *sk_schedule_build(const struct sk_model *model, const struct sk_fusion *fusion)
{
	struct sk_arena *arena = model->arena;
	struct sk_schedule *schedule = SK_NEW(arena, struct sk_schedule);
	struct scheduler scheduler = {
		.model = model,
		.arena = arena,
		.fusion = fusion,
		.streams = SK_NEW_ARRAY(arena, struct stream, fusion->dependencies->stream_count),
		.recorded = SK_NEW_ARRAY(arena, const uint32_t *, model->tasks.count),
		.seen = SK_NEW_ARRAY(arena, uint32_t, SK_MAX_SIDES * model->tasks.count),
		.lanes = model->device->lane_count,
		.everything = SK_NEW_ARRAY(arena, const uint32_t *, model->device->lane_count),
	};

	schedule->groups = sk_tile_groups_build(model, fusion);
	scheduler.groups = schedule->groups;
	scheduler.maker = sk_step_maker_new(model, fusion, schedule->groups);
	schedule->launches = SK_NEW_ARRAY(arena, struct sk_launch_schedule, fusion->launch_count);
	for (uint32_t l = 0; l < fusion->launch_count; l++)
		schedule_launch(&scheduler, &schedule->launches[l], l);
	return schedule;
}
