/* See planning.h. Knowledge is kept as vector clocks over core sets: set number l is all cores of lane l, the homes
 * follow. An entry is a step number of the set's lane: that step, and all before it, have ended on all cores of the
 * set.
 *
 * A clock grows by awaits only. Awaiting a step of `all` shows that every core of the lane has come that far, so an
 * entry of `all` also holds for every home of the lane. The number comes with the awaits that the awaited cores had
 * made before: for a home, its own and those of all cores; for `all`, the awaits of every core set of the lane. Program
 * order adds the steps that a home has run itself, and nothing for `all`, since one core's order shows nothing about
 * the others.
 *
 * A launch is scheduled with awaits on all cores. Then steps in blocks leave their awaits to the cores that have a
 * block if another core has something else to do meanwhile, and the launch is scheduled once more, with a clock for
 * each of these sets of cores (*ranges*). If a step then needs a further await, the steps that knew what it awaits have
 * their awaits on all cores again. */
#include "src/planning/planning-parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "format/skplan.h"
#include "src/model/model.h"
#include "src/planning/planning.h"

enum {
	CANDIDATES_PER_LANE = 2,
	MOST_RANGES = 64, /* of a launch */
	LOOK_AHEAD = 64, /* steps that are searched for another one for idle cores */
	MOST_TRIES = 8, /* schedules of a launch with some awaits on some cores only */
};

/* The effect of a wait for an event on the tasks after it: the step of the core set must have ended. */
struct gate {
	uint32_t set, step;
};

/* A stream within the launch that is being scheduled. */
struct stream {
	uint32_t pass; /* that the other fields belong to */
	uint32_t last[SK_MAX_LANES * CANDIDATES_PER_LANE]; /* per lane the last step of `all`, then of the home; + 1 */
	SK_ARRAY(struct gate) gates;
};

/* The cores with a block of a step, and what they alone know. */
struct range {
	const struct sk_step *step; /* the first one with these cores */
	const uint32_t *clock;
	bool spoiled; /* steps with other cores rest on what these cores know */
};

struct scheduler {
	const struct sk_model *model;
	struct sk_arena *arena;
	const struct sk_fusion *fusion;
	const struct sk_tile_groups *groups;
	struct stream *streams; /* by stream number of the dependencies */
	const uint32_t **recorded; /* by task that records an event: its stream's last steps at that time */
	uint32_t *seen; /* by task and side: the last step of which it is a candidate, by the number of its visit */
	uint32_t visits, pass; /* of steps, and over a launch's steps, so far */
	SK_ARRAY(uint32_t) candidates; /* steps that the current one depends on */
	struct sk_step_maker *maker;

	/* The launch that is being scheduled: */
	struct sk_launch_schedule *launch;
	uint32_t number; /* of the launch */
	uint32_t lanes, sets;
	const uint32_t **clocks; /* by core set */
	const uint32_t **everything; /* by lane: the union of the clocks of its sets */
	SK_ARRAY(struct range) ranges;
};

static struct stream *stream_of(struct scheduler *scheduler, uint32_t task)
{
	struct stream *stream = &scheduler->streams[scheduler->fusion->dependencies->stream[task]];

	if (stream->pass != scheduler->pass) {
		stream->pass = scheduler->pass;
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

static uint32_t kind_of(const struct scheduler *scheduler, const struct sk_step *step)
{
	const struct sk_task *task = &scheduler->model->tasks.items[step->task];

	return scheduler->model->kernels.items[task->bound.kernel].signature->spread;
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

	if (same_home(&steps[earlier], &steps[step]) || *seen == scheduler->visits)
		return;
	*seen = scheduler->visits;
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

static struct sk_side side_of(const struct scheduler *scheduler, const struct sk_step *step)
{
	struct sk_side sides[SK_MAX_SIDES];

	sk_task_sides(scheduler->model, step->task, sides);
	return sides[step->side];
}

/* BLOCKS: the first core and the number of blocks. */
static uint32_t first_core_of(const struct scheduler *scheduler, const struct sk_step *step)
{
	return side_of(scheduler, step).first_core + step->run->first_core;
}

static uint32_t blocks_of(const struct scheduler *scheduler, const struct sk_step *step)
{
	return side_of(scheduler, step).blocks;
}

/* Return whether each core that runs calls of the step has a block of `range`, for every number of cores. */
static bool covers(const struct scheduler *scheduler, const struct sk_step *range, const struct sk_step *step)
{
	uint32_t kind = kind_of(scheduler, step);

	if (range->lane != step->lane || step->home != SK_ALL_CORES || kind != kind_of(scheduler, range))
		return false;
	if (kind == SK_STEP_BLOCKS_RANGE)
		return range->partition == step->partition;
	return kind == SK_STEP_BLOCKS && first_core_of(scheduler, range) <= first_core_of(scheduler, step) &&
	       (uint64_t)first_core_of(scheduler, step) + blocks_of(scheduler, step) <=
		       (uint64_t)first_core_of(scheduler, range) + blocks_of(scheduler, range);
}

/* The later step awaits nothing of the earlier one, as each of its cores has done that part itself. What this core knew
 * then, such as the end of a write before a read, the core still knows: by the clock of a range, it may only if all
 * cores of the later step are in the range. */
static void spoil_ranges(struct scheduler *scheduler, uint32_t earlier, uint32_t later)
{
	const struct sk_step *steps = scheduler->launch->steps;

	for (size_t i = 0; i < scheduler->ranges.count; i++) {
		struct range *range = &scheduler->ranges.items[i];

		range->spoiled |= covers(scheduler, range->step, &steps[earlier]) &&
				  !covers(scheduler, range->step, &steps[later]);
	}
}

/* Calls of one step share only bytes that fall on the same cores. */
static void collect_data(struct scheduler *scheduler, uint32_t step, uint32_t task)
{
	const struct sk_dependencies *dependencies = scheduler->fusion->dependencies;

	for (uint32_t i = dependencies->first_conflict[task]; i < dependencies->first_conflict[task + 1]; i++) {
		const struct sk_conflict *conflict = &dependencies->conflicts[i];
		uint32_t earlier, end;

		for (steps_of(scheduler, conflict->task, &earlier, &end); earlier < end; earlier++)
			if (earlier == step)
				continue;
			else if (falls_on_same_cores(scheduler, step, task, earlier, conflict))
				spoil_ranges(scheduler, earlier, step);
			else
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

static struct range *range_of(struct scheduler *scheduler, const struct sk_step *step)
{
	for (size_t i = 0; i < scheduler->ranges.count; i++)
		if (covers(scheduler, scheduler->ranges.items[i].step, step) &&
		    covers(scheduler, step, scheduler->ranges.items[i].step))
			return &scheduler->ranges.items[i];
	return NULL;
}

/* Return the clock of the cores that run calls of the step. */
static const uint32_t *clock_of(struct scheduler *scheduler, const struct sk_step *step)
{
	const uint32_t *clock = scheduler->clocks[set_of(scheduler, step)];
	uint32_t *merged = NULL;

	for (size_t i = 0; i < scheduler->ranges.count; i++) {
		if (!covers(scheduler, scheduler->ranges.items[i].step, step))
			continue;
		merged = merged ? merged : copy_clock(scheduler, clock);
		merge_clocks(merged, scheduler->ranges.items[i].clock, scheduler->sets);
	}
	return merged ? merged : clock;
}

/* Let the step's cores know what the awaits have proved, as a new clock in *known. */
static void learn(struct scheduler *scheduler, const uint32_t **known, const struct sk_step *step)
{
	uint32_t *clock = copy_clock(scheduler, *known);

	for (uint32_t i = 0; i < step->await_count; i++) {
		const struct sk_step *awaited = &scheduler->launch->steps[step->awaits[i]];
		uint32_t set = set_of(scheduler, awaited);

		clock[set] = clock[set] > awaited->number ? clock[set] : awaited->number;
		merge_clocks(clock, awaited->gives[0], scheduler->sets);
		merge_clocks(clock, awaited->gives[1], scheduler->sets);
	}
	*known = clock;
}

/* Go from the last candidate to the first, since only the knowledge of a later step can make an earlier one redundant.
 * Set the step's awaits and return the clock of its cores after them. */
static const uint32_t *choose_awaits(struct scheduler *scheduler, struct sk_step *step)
{
	const uint32_t *before = clock_of(scheduler, step), *lane = scheduler->clocks[step->lane];
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

/* Let the cores that execute the step's awaits, and those that await the step, know what they prove. */
static void pass_awaits(struct scheduler *scheduler, uint32_t index)
{
	const struct sk_step *step = &scheduler->launch->steps[index];

	if (!step->await_count)
		return;
	learn(scheduler, &scheduler->everything[step->lane], step);
	if (step->flags & SK_STEP_OWN_AWAITS)
		learn(scheduler, &range_of(scheduler, step)->clock, step);
	else
		learn(scheduler, &scheduler->clocks[set_of(scheduler, step)], step);
}

static void schedule_step(struct scheduler *scheduler, uint32_t index)
{
	struct sk_step *step = &scheduler->launch->steps[index];

	scheduler->visits++;
	scheduler->candidates.count = 0;
	for (uint32_t i = 0; i < step->task_count; i++) {
		collect_data(scheduler, index, step->tasks[i]);
		collect_after(scheduler, index, step->tasks[i]);
		collect_events(scheduler, index, step->tasks[i]);
	}
	if (scheduler->fusion->launches[scheduler->number].options.sync_all)
		collect_all(scheduler, index);
	step->knows[0] = choose_awaits(scheduler, step);
	pass_awaits(scheduler, index);
	step->knows[1] = scheduler->clocks[step->lane];
	step->gives[0] = step->home == SK_ALL_CORES ? scheduler->everything[step->lane] : step->knows[0];
	step->gives[1] = step->home == SK_ALL_CORES ? NULL : step->knows[1];
	for (uint32_t i = 0; i < step->task_count; i++)
		pass_stream(scheduler, index, step->tasks[i]);
}

static void schedule_steps(struct scheduler *scheduler)
{
	const uint32_t *nothing = SK_NEW_ARRAY(scheduler->arena, uint32_t, scheduler->sets);

	scheduler->pass++;
	for (uint32_t set = 0; set < scheduler->sets; set++)
		scheduler->clocks[set] = nothing;
	for (uint32_t lane = 0; lane < scheduler->lanes; lane++)
		scheduler->everything[lane] = nothing;
	for (size_t i = 0; i < scheduler->ranges.count; i++)
		scheduler->ranges.items[i].clock = nothing;
	for (uint32_t step = 0; step < scheduler->launch->step_count; step++)
		scheduler->launch->steps[step].publish = false;
	for (uint32_t step = 0; step < scheduler->launch->step_count; step++)
		schedule_step(scheduler, step);
}

/* ---- awaits of some cores ---- */

/* Return whether a core without a block of the step has something to do before the step has ended: whether the next
 * step in the lane that has other cores than these does not await it. */
static bool has_other_work(const struct scheduler *scheduler, uint32_t index)
{
	const struct sk_launch_schedule *launch = scheduler->launch;
	const struct sk_step *step = &launch->steps[index];

	for (uint32_t i = index + 1; i < launch->step_count && i <= index + LOOK_AHEAD; i++)
		if (launch->steps[i].lane == step->lane && !covers(scheduler, step, &launch->steps[i]))
			return !sk_schedule_known(launch, index, i);
	return false;
}

/* Return whether only cores with a block may execute the awaits: they are awaits before the call, and there are cores
 * without a block. */
static bool may_skip(const struct scheduler *scheduler, uint32_t index)
{
	const struct sk_launch_options *options = &scheduler->fusion->launches[scheduler->number].options;
	const struct sk_step *step = &scheduler->launch->steps[index];
	uint32_t cores = scheduler->model->device->lanes[step->lane].cores, limits[SK_MAX_LANES];

	sk_launch_options_cores(scheduler->model, options, limits);
	cores = limits[step->lane] && limits[step->lane] < cores ? limits[step->lane] : cores;
	return step->await_count && !options->sync_all && covers(scheduler, step, step) && blocks_of(scheduler, step) &&
	       blocks_of(scheduler, step) < cores && !(step->flags & (SK_STEP_RESIDENT | SK_STEP_EARLY_WAIT));
}

/* Let steps leave their awaits to the cores with their blocks. Return whether there are any. */
static bool choose_skips(struct scheduler *scheduler)
{
	for (uint32_t i = 0; i < scheduler->launch->step_count; i++) {
		struct sk_step *step = &scheduler->launch->steps[i];

		if (!may_skip(scheduler, i) || !has_other_work(scheduler, i))
			continue;
		if (!range_of(scheduler, step)) {
			if (scheduler->ranges.count == MOST_RANGES)
				continue;
			sk_array_push(scheduler->arena, &scheduler->ranges, (struct range){.step = step});
		}
		step->flags |= SK_STEP_OWN_AWAITS;
	}
	return scheduler->ranges.count;
}

static bool has_await(const struct sk_step *step, uint32_t awaited)
{
	for (uint32_t i = 0; i < step->await_count; i++)
		if (step->awaits[i] == awaited)
			return true;
	return false;
}

/* Let the awaits of steps before this one that knew of the awaited step be on all cores. before: the schedule with all
 * awaits on all cores. */
static void stop_skips(struct scheduler *scheduler, const struct sk_step *before, uint32_t index, uint32_t awaited)
{
	for (uint32_t i = awaited + 1; i < index; i++)
		if (entry_reaches(before[i].knows[0], scheduler->lanes, &before[awaited]))
			scheduler->launch->steps[i].flags &= (uint16_t)~SK_STEP_OWN_AWAITS;
}

/* Return whether no step has a further await, and none rests on a range that does not have all of its cores. */
static bool keeps_awaits(struct scheduler *scheduler, const struct sk_step *before)
{
	bool kept = true;

	for (uint32_t i = 0; i < scheduler->launch->step_count; i++) {
		struct sk_step *step = &scheduler->launch->steps[i];

		if (step->flags & SK_STEP_OWN_AWAITS && range_of(scheduler, step)->spoiled) {
			step->flags &= (uint16_t)~SK_STEP_OWN_AWAITS;
			kept = false;
		}
		for (uint32_t a = 0; a < step->await_count; a++) {
			if (has_await(&before[i], step->awaits[a]))
				continue;
			stop_skips(scheduler, before, i, step->awaits[a]);
			kept = false;
		}
	}
	return kept;
}

/* Schedule the launch, which has been scheduled with all awaits on all cores, with fewer of them. */
static void skip_awaits(struct scheduler *scheduler)
{
	struct sk_launch_schedule *launch = scheduler->launch;
	struct sk_step *before;

	if (!choose_skips(scheduler))
		return;
	before = SK_NEW_ARRAY(scheduler->arena, struct sk_step, launch->step_count);
	memcpy(before, launch->steps, launch->step_count * sizeof(*before));
	for (uint32_t try = 0; try < MOST_TRIES; try++) {
		schedule_steps(scheduler);
		if (keeps_awaits(scheduler, before))
			return;
	}
	for (uint32_t i = 0; i < launch->step_count; i++)
		launch->steps[i].flags &= (uint16_t)~SK_STEP_OWN_AWAITS;
	schedule_steps(scheduler);
}

static void schedule_launch(struct scheduler *scheduler, struct sk_launch_schedule *launch, uint32_t number)
{
	scheduler->launch = launch;
	scheduler->number = number;
	sk_launch_steps_make(scheduler->maker, launch, number);
	scheduler->sets = scheduler->lanes + launch->home_count;
	scheduler->clocks = SK_NEW_ARRAY(scheduler->arena, const uint32_t *, scheduler->sets);
	scheduler->ranges.count = 0;
	schedule_steps(scheduler);
	skip_awaits(scheduler);
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
