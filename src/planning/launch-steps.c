/* See planning-parts.h. Also the division among cores of the bytes that steps access (planning.h). */
#include "src/planning/planning-parts.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/sizes.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "src/model/model.h"
#include "src/planning/planning.h"

enum { SCRATCH_ALIGNMENT = 64 };

/* A stream within the launch that is being scheduled. */
struct stream {
	uint32_t launch; /* + 1: the launch that the other fields belong to */
	uint32_t homes[SK_MAX_LANES]; /* of its plain tasks, by lane; + 1 */
};

/* The division of a step in a launch. */
struct division {
	uint64_t launch;
	struct sk_plan_partition partition;
	struct sk_partition_sizes sizes;
};

/* The core sets of the steps with one state that have been visited in a launch. */
struct holders {
	uint32_t pass; /* that the other fields belong to */
	uint32_t home; /* of the first of these steps */
	bool several; /* there is more than one core set */
};

struct sk_step_maker {
	const struct sk_model *model;
	struct sk_arena *arena;
	const struct sk_fusion *fusion;
	const struct sk_tile_groups *groups;
	struct stream *streams; /* by stream number of the dependencies */
	struct sk_map partitions; /* of struct division, to the launch's partitions */
	SK_ARRAY(struct holders) holders; /* by hidden state */
	uint32_t pass; /* number of the pass over the steps of a launch, for the holders */

	/* The launch that is being scheduled: */
	struct sk_launch_schedule *launch;
	uint32_t number; /* of the launch */
	uint32_t lane_streams[SK_MAX_LANES]; /* number of streams with plain tasks so far … */
	uint32_t lane_homes[SK_MAX_LANES][SK_MAX_HOMES]; /* … and the homes of the first ones */
};

/* ---- lanes, numbers, core sets, divisions ---- */

static const struct sk_task *task_of(const struct sk_model *model, const struct sk_step *step)
{
	return &model->tasks.items[step->task];
}

static enum sk_step_kind kind_of(const struct sk_model *model, const struct sk_step *step)
{
	return model->kernels.items[task_of(model, step)->bound.kernel].signature->spread;
}

static uint32_t find_partition(struct sk_step_maker *maker, struct sk_plan_partition partition,
			       struct sk_partition_sizes sizes)
{
	struct sk_launch_schedule *launch = maker->launch;
	struct division key = {maker->number, partition, sizes}, *kept;
	uint32_t found = sk_map_find(&maker->partitions, (const char *)&key, sizeof(key));

	if (found != SK_NONE)
		return found;
	kept = SK_NEW(maker->arena, struct division);
	*kept = key;
	sk_map_insert(&maker->partitions, (const char *)kept, sizeof(*kept), launch->partition_count);
	launch->partitions[launch->partition_count] = key.partition;
	launch->partition_sizes[launch->partition_count] = sizes;
	return launch->partition_count++;
}

/* Return the homes of the task's stream in this launch, by lane. */
static uint32_t *homes_of(struct sk_step_maker *maker, uint32_t task)
{
	struct stream *stream = &maker->streams[maker->fusion->dependencies->stream[task]];

	if (stream->launch != maker->number + 1)
		*stream = (struct stream){.launch = maker->number + 1};
	return stream->homes;
}

/* Return the home of the plain task's stream in its lane. */
static uint32_t find_home(struct sk_step_maker *maker, const struct sk_task *task, uint32_t number)
{
	struct sk_launch_schedule *launch = maker->launch;
	uint32_t lane = task->bound.lane, *homes = maker->lane_homes[lane];
	uint32_t *home = homes_of(maker, number) + lane;

	if (*home == 0) {
		uint32_t turn = maker->lane_streams[lane]++;

		if (turn < SK_MAX_HOMES) {
			homes[turn] = launch->home_count;
			launch->homes[launch->home_count++] = (struct sk_plan_home){lane, task->said.stream};
		}
		*home = homes[turn % SK_MAX_HOMES] + 1;
	}
	return *home - 1;
}

uint64_t sk_schedule_scratch(const struct sk_task *task)
{
	return (task->bound.scratch_size + SCRATCH_ALIGNMENT - 1) / SCRATCH_ALIGNMENT * SCRATCH_ALIGNMENT;
}

static void make_step(struct sk_step_maker *maker, const struct sk_run *run, uint32_t side_number,
		      const struct sk_side *side)
{
	const uint32_t *tasks = &maker->groups->launches[maker->number].tasks[run->first];
	uint32_t number = tasks[0];
	struct sk_launch_schedule *launch = maker->launch;
	struct sk_step *step = &launch->steps[launch->step_count++];
	const struct sk_task *task = &maker->model->tasks.items[number];
	uint32_t cores = side->flags & SK_STEP_RESIDENT ? side->first_core + side->blocks : 0;

	step->task = number;
	step->tasks = tasks;
	step->task_count = run->count;
	step->run = run;
	step->side = side_number;
	step->lane = side->lane;
	step->number = ++launch->lane_steps[side->lane];
	if (cores > launch->resident_cores[side->lane])
		launch->resident_cores[side->lane] = cores;
	step->flags = side->flags;
	step->home = SK_ALL_CORES;
	step->partition = SK_NO_INDEX;
	switch (kind_of(maker->model, step)) {
	case SK_STEP_PLAIN:
		step->home = find_home(maker, task, number);
		break;
	case SK_STEP_BLOCKS_RANGE:
		step->partition = find_partition(maker,
						 (struct sk_plan_partition){.extent = task->bound.block_count,
									    .unit = 1,
									    .first_core = run->first_core},
						 (struct sk_partition_sizes){NULL, NULL});
		break;
	case SK_STEP_SPLIT:
		step->partition = find_partition(maker,
						 (struct sk_plan_partition){run->extent, run->unit, run->parts.rows,
									    run->parts.blocks, run->first_core},
						 (struct sk_partition_sizes){run->size, run->parts.size});
		break;
	default:
		break;
	}
	if (run->scratch_size > launch->scratch_size)
		launch->scratch_size = run->scratch_size;
}

static void make_steps(struct sk_step_maker *maker)
{
	const struct sk_launch *source = &maker->fusion->launches[maker->number];
	const struct sk_launch_runs *runs = &maker->groups->launches[maker->number];
	struct sk_launch_schedule *launch = maker->launch;

	launch->lane_count = maker->model->device->lane_count;
	launch->steps = SK_NEW_ARRAY(maker->arena, struct sk_step, SK_MAX_SIDES * (size_t)runs->count);
	launch->first_steps = SK_NEW_ARRAY(maker->arena, uint32_t, source->task_count);
	launch->partitions = SK_NEW_ARRAY(maker->arena, struct sk_plan_partition, runs->count);
	launch->partition_sizes = SK_NEW_ARRAY(maker->arena, struct sk_partition_sizes, runs->count);
	launch->homes = SK_NEW_ARRAY(maker->arena, struct sk_plan_home, runs->count);
	memset(maker->lane_streams, 0, sizeof(maker->lane_streams));
	for (uint32_t i = 0; i < runs->count; i++) {
		const struct sk_run *run = &runs->runs[i];
		struct sk_side sides[SK_MAX_SIDES];
		uint32_t count = sk_task_sides(maker->model, runs->tasks[run->first], sides);

		for (uint32_t m = 0; m < run->count; m++)
			launch->first_steps[run->first + m] = launch->step_count;
		for (uint32_t side = 0; side < count; side++)
			make_step(maker, run, side, &sides[side]);
	}
}

/* ---- hidden state of steps that start early ---- */

/* Return true if another core set has the state. From here on, the step's core set has it as well. */
static bool meet_holders(struct holders *holders, uint32_t pass, uint32_t home)
{
	bool first = holders->pass != pass;
	bool other = !first && (holders->several || holders->home != home || home == SK_ALL_CORES);

	if (first)
		*holders = (struct holders){.pass = pass, .home = home};
	holders->several |= other;
	return other;
}

/* Clear the flag of the step if a step that was visited in this pass, on another core set, has some of its state. */
static void start_late(struct sk_step_maker *maker, struct sk_step *step, uint16_t flag)
{
	const struct sk_task *task = task_of(maker->model, step);

	for (uint32_t i = 0; i < task->bound.argument_count; i++) {
		uint32_t state = (uint32_t)task->bound.arguments[i].value;

		if (task->bound.arguments[i].kind != SK_ARGUMENT_STATE)
			continue;
		while (maker->holders.count <= state)
			sk_array_push(maker->arena, &maker->holders, (struct holders){0});
		if (meet_holders(&maker->holders.items[state], maker->pass, step->home))
			step->flags &= (uint16_t)~flag;
	}
}

/* Find the steps that cannot wait by themselves, and those that cannot publish by themselves. */
static void start_states_late(struct sk_step_maker *maker)
{
	struct sk_launch_schedule *launch = maker->launch;

	maker->pass++;
	for (uint32_t i = 0; i < launch->step_count; i++)
		start_late(maker, &launch->steps[i], SK_STEP_EARLY_WAIT);
	maker->pass++;
	for (uint32_t i = launch->step_count; i-- > 0;)
		start_late(maker, &launch->steps[i], SK_STEP_EARLY_SET);
}

/* ---- the whole launch ---- */

struct sk_step_maker *sk_step_maker_new(const struct sk_model *model, const struct sk_fusion *fusion,
					const struct sk_tile_groups *groups)
{
	struct sk_step_maker *maker = SK_NEW(model->arena, struct sk_step_maker);

	maker->model = model;
	maker->arena = model->arena;
	maker->fusion = fusion;
	maker->groups = groups;
	maker->streams = SK_NEW_ARRAY(model->arena, struct stream, fusion->dependencies->stream_count);
	sk_map_init(&maker->partitions, model->arena);
	return maker;
}

void sk_launch_steps_make(struct sk_step_maker *maker, struct sk_launch_schedule *launch, uint32_t number)
{
	maker->launch = launch;
	maker->number = number;
	make_steps(maker);
	start_states_late(maker);
}

/* ---- patterns ---- */

/* Return the distance from the first byte to the end of the last one, for a number of elements of the extent. */
static uint64_t span_of(const struct sk_argument *argument, uint64_t extent, uint64_t elements)
{
	struct sk_rows rows = sk_argument_rows(argument);

	if (rows.count == 1)
		return elements * argument->element_bytes;
	return (rows.count / extent * elements - 1) * rows.stride + rows.width;
}

/* Set the forms of the pattern. Numbers of units are comparable where the unit divides the extent, or is 1. elements:
 * those of the task in a unit, or in a row that blocks have. */
static void set_sizes(const struct sk_model *model, const struct sk_size *units, const struct sk_argument *argument,
		      uint64_t elements, struct sk_pattern *pattern)
{
	pattern->offset_size = sk_number_size(model, SK_ARGUMENT_SIZE(argument, offset), argument->offset);
	pattern->unit_size = sk_size_multiply(
		model->sizes, sk_size_number(model->sizes, (int64_t)elements),
		sk_number_size(model, SK_ARGUMENT_SIZE(argument, element_bytes), argument->element_bytes));
	pattern->units_size = units;
	if (!pattern->unit_size || !units)
		pattern->units = 0;
}

/* Return the form of the number of the run's units. */
static const struct sk_size *units_of(const struct sk_model *model, const struct sk_run *run)
{
	return sk_size_ceil(model->sizes, sk_number_size(model, run->size, run->extent),
			    sk_size_number(model->sizes, (int64_t)run->unit));
}

struct sk_pattern sk_schedule_pattern(const struct sk_model *model, const struct sk_launch_schedule *launch,
				      uint32_t index, const struct sk_task *task, uint32_t number)
{
	const struct sk_step *step = &launch->steps[index];
	const struct sk_argument *argument = &task->bound.arguments[number];
	struct sk_pattern pattern = {.offset = argument->offset,
				     .element_bytes = argument->element_bytes,
				     .extent = task->bound.extent,
				     .first_core = step->run->first_core};
	uint64_t elements = 1;

	if (argument->kind != SK_ARGUMENT_POINTER || argument->element_bytes == 0 || step->partition == SK_NO_INDEX ||
	    (argument->pattern && argument->pattern->halo))
		return pattern;

	const struct sk_plan_partition *partition = &launch->partitions[step->partition];
	bool split = kind_of(model, step) == SK_STEP_SPLIT;
	uint64_t blocks = split ? partition->blocks : task->bound.block_count;
	uint64_t rows = split ? partition->rows : task->bound.extent;
	const struct sk_size *rows_size =
		split ? launch->partition_sizes[step->partition].rows : sk_task_extent_size(task);
	bool whole; /* blocks have equally many rows at all sizes */

	pattern.units =
		blocks ? blocks : partition->extent / partition->unit + (partition->extent % partition->unit != 0);
	if (!blocks) {
		elements = partition->unit * sk_run_scale(step->run, task);
		pattern.unit_bytes = elements * argument->element_bytes;
	} else {
		elements = task->bound.extent / rows;
		pattern.extent = rows;
		pattern.element_bytes *= elements;
		whole = rows % blocks == 0 && !rows_size;
		elements *= whole ? rows / blocks : 1;
		pattern.unit_bytes = whole ? elements * argument->element_bytes : 0;
	}
	pattern.span = span_of(argument, task->bound.extent, elements);
	if (task->bound.sized)
		set_sizes(model, blocks ? sk_number_size(model, rows_size, rows) : units_of(model, step->run), argument,
			  elements, &pattern);
	return pattern;
}

bool sk_pattern_equal(const struct sk_pattern *a, const struct sk_pattern *b)
{
	uint64_t distance = a->unit_bytes ? a->unit_bytes : a->element_bytes;
	uint64_t first = a->offset < b->offset ? a->offset : b->offset;

	if (a->units == 0 || a->units != b->units || a->unit_bytes != b->unit_bytes || a->first_core != b->first_core)
		return false;
	if (a->offset_size != b->offset_size || a->units_size != b->units_size || a->unit_size != b->unit_size)
		return false;
	if (a->unit_bytes == 0 && (a->extent != b->extent || a->element_bytes != b->element_bytes))
		return false;
	return a->offset - first + a->span <= distance && b->offset - first + b->span <= distance;
}
