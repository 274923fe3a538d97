/* See schedule.h. What is known is kept as vector clocks over core sets: set number l is all cores of lane l, the homes
 * follow. An entry is a step number of the set's lane: that step, and all before it, have ended on all cores of the
 * set.
 *
 * A clock grows by awaits only. Awaiting a step of `all` says that every core of the lane has come that far, so an
 * entry of `all` holds for every home of the lane too. With the number comes what the awaited cores themselves had
 * awaited before: for a home, its own and all cores' awaits; for `all`, the awaits of every core set of the lane.
 * Program order adds what a home has done itself, and nothing for `all`, since one core's order says nothing about the
 * others. */
#include "src/planning/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "src/model/sides.h"
#include "src/model/units.h"

enum { CANDIDATES_PER_LANE = 2, SCRATCH_ALIGNMENT = 64 };

/* What a wait for an event means for the tasks behind it: the step of the core set must have ended. */
struct gate {
	uint32_t set, step;
};

/* A stream inside the launch that is being scheduled. */
struct stream {
	uint32_t launch; /* + 1: the launch that the rest belongs to */
	uint32_t homes[SK_MAX_LANES]; /* of its plain tasks, by lane; + 1 */
	uint32_t last[SK_MAX_LANES * CANDIDATES_PER_LANE]; /* per lane the last step of `all`, then of the home; + 1 */
	SK_ARRAY(struct gate) gates;
};

/* How a launch divides something. */
struct division {
	uint64_t launch;
	struct sk_plan_partition partition;
};

/* The core sets of the steps with one state that have been come by in a launch. */
struct holders {
	uint32_t pass; /* that the rest belongs to */
	uint32_t home; /* of the first of them */
	bool several; /* they are more than one */
};

struct scheduler {
	const struct sk_model *model;
	struct sk_arena *arena;
	const struct sk_fusion *fusion;
	struct stream *streams; /* by stream number of the dependencies */
	const uint32_t **recorded; /* by task that records an event: its stream's last steps then */
	uint32_t *seen; /* by task and side: it is a candidate of the step with this number + 1 of this launch */
	SK_ARRAY(uint32_t) candidates; /* steps that the current one depends on */
	struct sk_map partitions; /* of struct division, to the launch's partitions */
	SK_ARRAY(struct holders) holders; /* by hidden state */
	uint32_t pass; /* over the steps of a launch, for the holders */

	/* The launch that is being scheduled: */
	struct sk_launch_schedule *launch;
	uint32_t number; /* of the launch */
	uint32_t lanes, sets;
	uint32_t lane_streams[SK_MAX_LANES]; /* streams with plain tasks so far … */
	uint32_t lane_homes[SK_MAX_LANES][SK_MAX_HOMES]; /* … and the homes of the first ones */
	const uint32_t **clocks; /* by core set */
	const uint32_t **everything; /* by lane: the union of the clocks of its sets */
};

/* ---- steps: lanes, numbers, core sets, divisions ---- */

static const struct sk_task *task_of(const struct sk_model *model, const struct sk_step *step)
{
	return &model->tasks.items[step->task];
}

static enum sk_step_kind kind_of(const struct sk_model *model, const struct sk_step *step)
{
	return model->kernels.items[task_of(model, step)->kernel].signature->spread;
}

static uint32_t find_partition(struct scheduler *scheduler, uint64_t extent, uint64_t unit)
{
	struct sk_launch_schedule *launch = scheduler->launch;
	struct division key = {scheduler->number, {extent, unit}}, *kept;
	uint32_t found = sk_map_find(&scheduler->partitions, (const char *)&key, sizeof(key));

	if (found != SK_NONE)
		return found;
	kept = SK_NEW(scheduler->arena, struct division);
	*kept = key;
	sk_map_insert(&scheduler->partitions, (const char *)kept, sizeof(*kept), launch->partition_count);
	launch->partitions[launch->partition_count] = key.partition;
	return launch->partition_count++;
}

static struct stream *stream_of(struct scheduler *scheduler, uint32_t task)
{
	struct stream *stream = &scheduler->streams[scheduler->fusion->dependencies->stream[task]];

	if (stream->launch != scheduler->number + 1) {
		stream->launch = scheduler->number + 1;
		stream->gates.count = 0;
		memset(stream->homes, 0, sizeof(stream->homes));
		memset(stream->last, 0, sizeof(stream->last));
	}
	return stream;
}

/* The home of the plain task's stream in its lane. */
static uint32_t find_home(struct scheduler *scheduler, const struct sk_task *task, uint32_t number)
{
	struct sk_launch_schedule *launch = scheduler->launch;
	uint32_t lane = task->lane, *homes = scheduler->lane_homes[lane];
	uint32_t *home = &stream_of(scheduler, number)->homes[lane];

	if (*home == 0) {
		uint32_t turn = scheduler->lane_streams[lane]++;

		if (turn < SK_MAX_HOMES) {
			homes[turn] = launch->home_count;
			launch->homes[launch->home_count++] = (struct sk_plan_home){lane, task->stream};
		}
		*home = homes[turn % SK_MAX_HOMES] + 1;
	}
	return *home - 1;
}

uint64_t sk_schedule_scratch(const struct sk_task *task)
{
	return (task->scratch_size + SCRATCH_ALIGNMENT - 1) / SCRATCH_ALIGNMENT * SCRATCH_ALIGNMENT;
}

static void make_step(struct scheduler *scheduler, uint32_t number, uint32_t side_number, const struct sk_side *side,
		      uint64_t unit)
{
	struct sk_launch_schedule *launch = scheduler->launch;
	struct sk_step *step = &launch->steps[launch->step_count++];
	const struct sk_task *task = &scheduler->model->tasks.items[number];
	uint32_t cores = side->flags & SK_STEP_RESIDENT ? side->first_core + side->blocks : 0;

	step->task = number;
	step->side = side_number;
	step->lane = side->lane;
	step->number = ++launch->lane_steps[side->lane];
	if (cores > launch->resident_cores[side->lane])
		launch->resident_cores[side->lane] = cores;
	step->flags = side->flags;
	step->home = SK_ALL_CORES;
	step->partition = SK_NO_INDEX;
	switch (kind_of(scheduler->model, step)) {
	case SK_STEP_PLAIN:
		step->home = find_home(scheduler, task, number);
		break;
	case SK_STEP_BLOCKS_RANGE:
		step->partition = find_partition(scheduler, task->block_count, 1);
		break;
	case SK_STEP_SPLIT:
		step->partition = find_partition(scheduler, task->extent, unit);
		break;
	default:
		break;
	}
	if (sk_schedule_scratch(task) > launch->scratch_size)
		launch->scratch_size = sk_schedule_scratch(task);
}

static size_t count_steps(const struct scheduler *scheduler, const struct sk_launch *source)
{
	struct sk_side sides[SK_MAX_SIDES];
	size_t count = 0;

	for (uint32_t i = 0; i < source->task_count; i++)
		count += sk_task_sides(scheduler->model, source->tasks[i], sides);
	return count;
}

static void make_steps(struct scheduler *scheduler)
{
	const struct sk_launch *source = &scheduler->fusion->launches[scheduler->number];
	struct sk_launch_schedule *launch = scheduler->launch;
	const uint64_t *units = sk_units_choose(scheduler->model, source->tasks, source->task_count);

	launch->lane_count = scheduler->lanes;
	launch->steps = SK_NEW_ARRAY(scheduler->arena, struct sk_step, count_steps(scheduler, source));
	launch->first_steps = SK_NEW_ARRAY(scheduler->arena, uint32_t, source->task_count + (size_t)1);
	launch->partitions = SK_NEW_ARRAY(scheduler->arena, struct sk_plan_partition, source->task_count);
	launch->homes = SK_NEW_ARRAY(scheduler->arena, struct sk_plan_home, source->task_count);
	memset(scheduler->lane_streams, 0, sizeof(scheduler->lane_streams));
	for (uint32_t i = 0; i < source->task_count; i++) {
		struct sk_side sides[SK_MAX_SIDES];
		uint32_t count = sk_task_sides(scheduler->model, source->tasks[i], sides);

		launch->first_steps[i] = launch->step_count;
		for (uint32_t side = 0; side < count; side++)
			make_step(scheduler, source->tasks[i], side, &sides[side], units[i]);
	}
	launch->first_steps[source->task_count] = launch->step_count;
}

/* ---- hidden state of steps that start early ---- */

/* True if another core set has the state, which the step has from here on as well. */
static bool meet_holders(struct holders *holders, uint32_t pass, uint32_t home)
{
	bool first = holders->pass != pass;
	bool other = !first && (holders->several || holders->home != home || home == SK_ALL_CORES);

	if (first)
		*holders = (struct holders){.pass = pass, .home = home};
	holders->several |= other;
	return other;
}

/* Takes the flag from the step if one that has been come by in this pass, on another core set, has some of its state.
 */
static void start_late(struct scheduler *scheduler, struct sk_step *step, uint16_t flag)
{
	const struct sk_task *task = task_of(scheduler->model, step);

	for (uint32_t i = 0; i < task->argument_count; i++) {
		uint32_t state = (uint32_t)task->arguments[i].value;

		if (task->arguments[i].kind != SK_ARGUMENT_STATE)
			continue;
		while (scheduler->holders.count <= state)
			sk_array_push(scheduler->arena, &scheduler->holders, (struct holders){0});
		if (meet_holders(&scheduler->holders.items[state], scheduler->pass, step->home))
			step->flags &= (uint16_t)~flag;
	}
}

/* Which steps cannot wait by themselves, and which cannot publish. */
static void start_states_late(struct scheduler *scheduler)
{
	struct sk_launch_schedule *launch = scheduler->launch;

	scheduler->pass++;
	for (uint32_t i = 0; i < launch->step_count; i++)
		start_late(scheduler, &launch->steps[i], SK_STEP_EARLY_WAIT);
	scheduler->pass++;
	for (uint32_t i = launch->step_count; i-- > 0;)
		start_late(scheduler, &launch->steps[i], SK_STEP_EARLY_SET);
}

/* ---- patterns ---- */

/* From the first byte to the last of so many elements of the extent. */
static uint64_t span_of(const struct sk_argument *argument, uint64_t extent, uint64_t elements)
{
	struct sk_rows rows = sk_argument_rows(argument);

	if (rows.count == 1)
		return elements * argument->element_bytes;
	return (rows.count / extent * elements - 1) * rows.stride + rows.width;
}

struct sk_pattern sk_schedule_pattern(const struct sk_model *model, const struct sk_launch_schedule *launch,
				      uint32_t index, uint32_t number)
{
	const struct sk_step *step = &launch->steps[index];
	const struct sk_task *task = task_of(model, step);
	const struct sk_argument *argument = &task->arguments[number];
	struct sk_pattern pattern = {
		.offset = argument->offset, .element_bytes = argument->element_bytes, .extent = task->extent};
	uint64_t elements = 1;

	if (argument->kind != SK_ARGUMENT_POINTER || argument->element_bytes == 0 || step->partition == SK_NO_INDEX ||
	    (argument->pattern && argument->pattern->halo))
		return pattern;

	const struct sk_plan_partition *partition = &launch->partitions[step->partition];
	bool split = kind_of(model, step) == SK_STEP_SPLIT;
	bool regular = split || task->extent % task->block_count == 0;

	pattern.units = partition->extent / partition->unit + (partition->extent % partition->unit != 0);
	if (regular) {
		elements = split ? partition->unit : task->extent / task->block_count;
		pattern.unit_bytes = elements * argument->element_bytes;
	}
	pattern.span = span_of(argument, task->extent, elements);
	return pattern;
}

bool sk_pattern_equal(const struct sk_pattern *a, const struct sk_pattern *b)
{
	uint64_t distance = a->unit_bytes ? a->unit_bytes : a->element_bytes;
	uint64_t first = a->offset < b->offset ? a->offset : b->offset;

	if (a->units == 0 || a->units != b->units || a->unit_bytes != b->unit_bytes)
		return false;
	if (a->unit_bytes == 0 && (a->extent != b->extent || a->element_bytes != b->element_bytes))
		return false;
	return a->offset - first + a->span <= distance && b->offset - first + b->span <= distance;
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

static void merge(uint32_t *clock, const uint32_t *other, uint32_t sets)
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

/* ---- what a step depends on ---- */

static void add_candidate(struct scheduler *scheduler, uint32_t step, uint32_t earlier)
{
	const struct sk_step *steps = scheduler->launch->steps;
	uint32_t *seen = &scheduler->seen[steps[earlier].task * SK_MAX_SIDES + steps[earlier].side];

	if (same_home(&steps[earlier], &steps[step]) || *seen == step + 1)
		return;
	*seen = step + 1;
	sk_array_push(scheduler->arena, &scheduler->candidates, earlier);
}

/* The steps of an earlier task, from *first to *end: none unless it is in the current launch, since launches are
 * ordered as wholes. */
static void steps_of(const struct scheduler *scheduler, uint32_t task, uint32_t *first, uint32_t *end)
{
	const struct sk_task_placement *placement = &scheduler->fusion->tasks[task];

	*first = *end = 0;
	if (placement->launch != scheduler->number)
		return;
	*first = scheduler->launch->first_steps[placement->step];
	*end = scheduler->launch->first_steps[placement->step + 1];
}

static bool falls_on_same_cores(const struct scheduler *scheduler, uint32_t step, uint32_t earlier,
				const struct sk_conflict *conflict)
{
	const struct sk_launch_schedule *launch = scheduler->launch;
	const struct sk_step *first = &launch->steps[earlier], *second = &launch->steps[step];

	if (first->home != SK_ALL_CORES || second->home != SK_ALL_CORES || first->lane != second->lane)
		return false;
	struct sk_pattern before = sk_schedule_pattern(scheduler->model, launch, earlier, conflict->earlier);
	struct sk_pattern after = sk_schedule_pattern(scheduler->model, launch, step, conflict->later);

	return sk_pattern_equal(&before, &after);
}

static void collect_data(struct scheduler *scheduler, uint32_t step)
{
	const struct sk_dependencies *dependencies = scheduler->fusion->dependencies;
	uint32_t task = scheduler->launch->steps[step].task;

	for (uint32_t i = dependencies->first_conflict[task]; i < dependencies->first_conflict[task + 1]; i++) {
		const struct sk_conflict *conflict = &dependencies->conflicts[i];
		uint32_t earlier, end;

		for (steps_of(scheduler, conflict->task, &earlier, &end); earlier < end; earlier++)
			if (!falls_on_same_cores(scheduler, step, earlier, conflict))
				add_candidate(scheduler, step, earlier);
	}
}

static void collect_after(struct scheduler *scheduler, uint32_t step)
{
	const struct sk_task *task = task_of(scheduler->model, &scheduler->launch->steps[step]);

	for (size_t i = 0; i < task->after.count; i++) {
		uint32_t earlier, end;

		for (steps_of(scheduler, task->after.items[i], &earlier, &end); earlier < end; earlier++)
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

/* An event covers all earlier tasks of the recording stream and all later ones of the waiting stream. Of the earlier
 * ones the last of each core set is enough: who knows that it has ended knows that the others have. */
static void collect_events(struct scheduler *scheduler, uint32_t step)
{
	const struct sk_dependencies *dependencies = scheduler->fusion->dependencies;
	uint32_t task = scheduler->launch->steps[step].task;
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

static void pass_stream(struct scheduler *scheduler, uint32_t index)
{
	const struct sk_step *step = &scheduler->launch->steps[index];
	struct stream *stream = stream_of(scheduler, step->task);

	stream->last[step->lane * CANDIDATES_PER_LANE + (step->home != SK_ALL_CORES)] = index + 1;
	if (task_of(scheduler->model, step)->record.count == 0)
		return;
	uint32_t *last = SK_NEW_ARRAY(scheduler->arena, uint32_t, SK_MAX_LANES * CANDIDATES_PER_LANE);

	memcpy(last, stream->last, sizeof(stream->last));
	scheduler->recorded[step->task] = last;
}

/* ---- awaits ---- */

static int compare_descending(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left < right) - (left > right);
}

/* From the last candidate to the first, since only what a later step knew can make an earlier one superfluous. Fills
 * the step's awaits and returns the clock of its core set behind them. */
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
		merge(clock, awaited->gives[0], scheduler->sets);
		merge(clock, awaited->gives[1], scheduler->sets);
		awaited->publish = true;
		candidates[kept++] = candidates[i];
	}
	step->await_count = kept;
	step->awaits = SK_NEW_ARRAY(scheduler->arena, uint32_t, kept);
	for (uint32_t i = 0; i < kept; i++)
		step->awaits[i] = candidates[kept - 1 - i];
	return clock ? clock : before;
}

/* debug-sync-all: the step in front has awaited the one in front of it, and so on. The sides of a mix task, of which
 * the vector side comes second, run at once. */
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
	collect_data(scheduler, index);
	collect_after(scheduler, index);
	collect_events(scheduler, index);
	if (scheduler->fusion->launches[scheduler->number].options.sync_all)
		collect_all(scheduler, index);
	scheduler->clocks[set] = choose_awaits(scheduler, step);
	if (step->await_count) {
		uint32_t *everything = copy_clock(scheduler, scheduler->everything[step->lane]);

		merge(everything, scheduler->clocks[set], scheduler->sets);
		scheduler->everything[step->lane] = everything;
	}
	step->knows[0] = scheduler->clocks[set];
	step->knows[1] = scheduler->clocks[step->lane];
	step->gives[0] = step->home == SK_ALL_CORES ? scheduler->everything[step->lane] : step->knows[0];
	step->gives[1] = step->home == SK_ALL_CORES ? NULL : step->knows[1];
	pass_stream(scheduler, index);
}

static void schedule_launch(struct scheduler *scheduler, struct sk_launch_schedule *launch, uint32_t number)
{
	scheduler->launch = launch;
	scheduler->number = number;
	make_steps(scheduler);
	start_states_late(scheduler);
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

	sk_map_init(&scheduler.partitions, arena);
	schedule->launches = SK_NEW_ARRAY(arena, struct sk_launch_schedule, fusion->launch_count);
	for (uint32_t l = 0; l < fusion->launch_count; l++)
		schedule_launch(&scheduler, &schedule->launches[l], l);
	return schedule;
}
