/* See planning-parts.h. A list schedule: each run in turn takes the cores on which it can start first, by an estimate
 * that counts bytes and operations. A run that continues with the results of another one stays on that run's cores,
 * unless it would wait there for longer than a move takes. So a chain is always on the same cores, and
 * placement adds no awaits. Runs with work for all cores have all of them, and no first core.
 *
 * On a host the number of cores is unknown here. There only runs that leave cores of the profile without work get a
 * place, and first cores are chosen from more cores than there usually are: the core is that number modulo the number
 * of cores. */
#include "src/planning/planning-parts.h"

#include "base/arena.h"
#include "format/skplan.h"
#include "src/model/model.h"
#include "src/planning/planning.h"

enum {
	MOST_CORES = 64, /* greatest number to choose from */
	MOVING = 4 << 10, /* in bytes: an await, and cold caches */
};

struct placer {
	const struct sk_model *model;
	const struct sk_fusion *fusion;
	const struct sk_tile_groups *groups;
	uint32_t number; /* of the launch */
	struct sk_launch_runs *runs;
	const uint32_t *run_of; /* by place of a task in the launch */
	uint32_t limits[SK_MAX_LANES]; /* cores that the launch's options allow; 0: all */
	double *loads[SK_MAX_LANES]; /* by core: the end of its work so far … */
	double *ends; /* … and by run: its end */
	bool *placed; /* by run: it can be placed */
};

/* A run's need of cores: one core per part. */
struct demand {
	uint32_t lane, cores, parts;
	uint32_t first; /* its first core, if that cannot be chosen */
	bool blocks; /* part b is on core first + b; else parts are as far apart as possible */
	double cost; /* of a part */
};

/* ---- needs of runs ---- */

static const struct sk_task *task_of(const struct placer *placer, const struct sk_run *run, uint32_t member)
{
	return &placer->model->tasks.items[placer->runs->tasks[run->first + member]];
}

/* Return the part of the task's work that it has at the usual sizes. */
static double usual_part(const struct placer *placer, const struct sk_task *task)
{
	return task->bound.extent ? (double)sk_usual_extent(placer->model, task) / (double)task->bound.extent : 1;
}

/* Return the run's cost in bytes at the usual sizes. An operation costs as much as a byte. */
static double cost_of(const struct placer *placer, const struct sk_run *run)
{
	double cost = 0;

	for (uint32_t m = 0; m < run->count; m++) {
		const struct sk_task *task = task_of(placer, run, m);

		cost += (double)task->bound.operations * usual_part(placer, task);
		if (task->said.cost)
			cost += (double)task->said.cost->of[0].values[SK_COST_CYCLES];
		for (uint32_t a = 0; a < task->bound.argument_count; a++)
			if (sk_argument_access(&task->bound.arguments[a]) &&
			    task->bound.arguments[a].kind == SK_ARGUMENT_POINTER)
				cost += (double)sk_usual_number(placer->model,
								SK_ARGUMENT_SIZE(&task->bound.arguments[a], size),
								task->bound.arguments[a].size);
	}
	return cost;
}

/* Limit a number of cores by the launch's options. */
static uint32_t limited(const struct placer *placer, uint32_t lane, uint32_t cores)
{
	uint32_t limit = placer->limits[lane];

	cores = limit && limit < cores ? limit : cores;
	return cores < MOST_CORES ? cores : MOST_CORES;
}

static uint32_t known_cores(const struct placer *placer, uint32_t lane)
{
	return limited(placer, lane, placer->model->device->lanes[lane].cores);
}

static uint32_t choices(const struct placer *placer, uint32_t lane)
{
	return sk_device_counts_cores(placer->model->device) ? known_cores(placer, lane)
							     : limited(placer, lane, MOST_CORES);
}

uint64_t sk_run_parts(const struct sk_model *model, const struct sk_run *run, uint64_t blocks)
{
	uint64_t extent = sk_usual_number(model, run->size, run->extent);

	return run->unit == 0	    ? blocks
	       : run->parts.blocks  ? run->parts.blocks
	       : extent > run->unit ? (extent - 1) / run->unit + 1
				    : 1;
}

/* Return true if the run has parts for only some of the cores, and is not bound to certain ones. */
static bool measure_demand(const struct placer *placer, const struct sk_run *run, struct demand *demand)
{
	const struct sk_task *task = task_of(placer, run, 0);
	enum sk_step_kind kind = placer->model->kernels.items[task->bound.kernel].signature->spread;
	uint64_t parts = kind == SK_STEP_PLAIN ? 1 : sk_run_parts(placer->model, run, task->bound.block_count);
	struct sk_side sides[SK_MAX_SIDES];

	sk_task_sides(placer->model, placer->runs->tasks[run->first], sides);
	*demand = (struct demand){.lane = task->bound.lane,
				  .cores = choices(placer, task->bound.lane),
				  .blocks = kind == SK_STEP_BLOCKS || kind == SK_STEP_PLAIN};
	demand->first = kind == SK_STEP_PLAIN ? task->said.stream % demand->cores : 0;
	demand->parts = parts < demand->cores ? (uint32_t)parts : demand->cores;
	demand->cost = cost_of(placer, run) / demand->parts;
	return kind != SK_STEP_PLAIN && !(sides[0].flags & SK_STEP_RESIDENT) &&
	       parts < known_cores(placer, task->bound.lane);
}

/* ---- times and places ---- */

/* Return the core of a part, if the run begins at `first`. */
static uint32_t core_of(const struct demand *demand, uint32_t first, uint32_t part)
{
	uint64_t apart = demand->blocks ? part : ((uint64_t)(part + 1) * demand->cores - 1) / demand->parts;

	return (uint32_t)((first + apart) % demand->cores);
}

/* Return the time when the last of the run's cores is free. */
static double free_at(const struct placer *placer, const struct demand *demand, uint32_t first)
{
	double latest = 0;

	for (uint32_t part = 0; part < demand->parts; part++) {
		double load = placer->loads[demand->lane][core_of(demand, first, part)];

		latest = load > latest ? load : latest;
	}
	return latest;
}

static void occupy(struct placer *placer, const struct demand *demand, uint32_t run, double ready)
{
	for (uint32_t part = 0; part < demand->parts; part++) {
		double *load = &placer->loads[demand->lane][core_of(demand, demand->first, part)];

		*load = (*load > ready ? *load : ready) + demand->cost;
		placer->ends[run] = *load > placer->ends[run] ? *load : placer->ends[run];
	}
}

/* Return the time when all runs that the run depends on have ended. home: the first core of the last of them that was
 * placed, or 0. */
static double find_ready(const struct placer *placer, uint32_t index, uint32_t lane, uint32_t *home)
{
	const struct sk_dependencies *dependencies = placer->fusion->dependencies;
	const struct sk_run *run = &placer->runs->runs[index];
	double ready = 0, last = 0;

	*home = 0;
	for (uint32_t m = 0; m < run->count; m++) {
		uint32_t task = placer->runs->tasks[run->first + m];

		for (uint32_t i = dependencies->first_conflict[task]; i < dependencies->first_conflict[task + 1]; i++) {
			uint32_t other = dependencies->conflicts[i].task, before;

			if (placer->fusion->tasks[other].launch != placer->number)
				continue;
			before = placer->run_of[placer->groups->places[other]];
			ready = placer->ends[before] > ready ? placer->ends[before] : ready;
			if (placer->placed[before] && placer->ends[before] > last &&
			    task_of(placer, &placer->runs->runs[before], 0)->bound.lane == lane) {
				last = placer->ends[before];
				*home = placer->runs->runs[before].first_core;
			}
		}
	}
	return ready;
}

static uint32_t find_first(const struct placer *placer, const struct demand *demand, uint32_t home, double ready)
{
	double least = free_at(placer, demand, home);
	uint32_t best = home;

	least = least > ready ? least : ready;
	for (uint32_t first = 0; first < demand->cores; first++) {
		double start = free_at(placer, demand, first);

		start = (start > ready ? start : ready) + MOVING;
		if (start >= least)
			continue;
		least = start;
		best = first;
	}
	return best;
}

static void place_run(struct placer *placer, uint32_t index)
{
	struct sk_run *run = &placer->runs->runs[index];
	struct demand demand;
	uint32_t home;
	double ready;

	placer->placed[index] = measure_demand(placer, run, &demand);
	ready = find_ready(placer, index, demand.lane, &home);
	if (placer->placed[index])
		run->first_core = demand.first = find_first(placer, &demand, home, ready);
	occupy(placer, &demand, index, ready);
}

/* Return whether the launch may take more cores than the greatest need of its tasks, which happens if steps begin at
 * other cores than the first one. */
static bool may_spread(const struct sk_model *model, const struct sk_launch *launch)
{
	for (uint32_t i = 0; i < launch->task_count && model->device->sync_all_split; i++) {
		const struct sk_task *task = &model->tasks.items[launch->tasks[i]];

		if (model->kernels.items[task->bound.kernel].signature->sync_all && !task->said.exchange)
			return false;
	}
	return !launch->options.sync_all && !launch->options.no_parallel_fusion;
}

/* Return whether any run may begin at several cores. */
static bool may_choose(const struct placer *placer)
{
	for (uint32_t i = 0; i < placer->runs->count; i++) {
		const struct sk_task *task = task_of(placer, &placer->runs->runs[i], 0);

		if (placer->model->kernels.items[task->bound.kernel].signature->spread != SK_STEP_PLAIN)
			return true;
	}
	return false;
}

void sk_placement_choose(const struct sk_model *model, const struct sk_fusion *fusion, uint32_t launch,
			 struct sk_tile_groups *groups)
{
	const struct sk_launch *record = &fusion->launches[launch];
	struct sk_launch_runs *runs = &groups->launches[launch];
	uint32_t *run_of;
	struct placer placer = {.model = model, .fusion = fusion, .groups = groups, .number = launch, .runs = runs};

	if (runs->count < 2 || !may_spread(model, record) || !may_choose(&placer))
		return;
	run_of = SK_NEW_ARRAY(model->arena, uint32_t, record->task_count);
	for (uint32_t i = 0; i < runs->count; i++)
		for (uint32_t m = 0; m < runs->runs[i].count; m++)
			run_of[runs->runs[i].first + m] = i;
	placer.run_of = run_of;
	placer.ends = SK_NEW_ARRAY(model->arena, double, runs->count);
	placer.placed = SK_NEW_ARRAY(model->arena, bool, runs->count);
	sk_launch_options_cores(model, &record->options, placer.limits);
	for (uint32_t lane = 0; lane < model->device->lane_count; lane++)
		placer.loads[lane] = SK_NEW_ARRAY(model->arena, double, choices(&placer, lane));
	for (uint32_t i = 0; i < runs->count; i++)
		place_run(&placer, i);
}
