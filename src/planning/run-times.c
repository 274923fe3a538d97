/* See planning-parts.h. The rules are those of doc/explain/simulation.md, without the code of kernels: a step takes the
 * profile's `call`, and then the longer of its cycles and of its bytes. Bytes move at the rate of a core, or at the
 * memory's rate shared by the step's cores; steps that run at the same time are taken to share nothing, except that all
 * bytes of a launch cannot move faster than the memory allows. */
#include "src/planning/planning-parts.h"

#include <stddef.h>

#include "base/arena.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "src/model/model.h"
#include "src/planning/planning.h"

static const struct sk_task *task_of(const struct sk_run_graph *graph, const struct sk_run *run, uint32_t member)
{
	return &graph->model->tasks.items[graph->runs->tasks[run->first + member]];
}

/* ---- the work of a run ---- */

/* A number of the cost at the usual sizes. */
static double usual_cost(const struct sk_model *model, const struct sk_task_cost *cost, uint32_t side,
			 enum sk_cost value)
{
	const struct sk_size *size = sk_varying_find(cost->varying[side], SK_DIMS_COSTS,
						     offsetof(struct sk_plan_cost, values) + value * sizeof(uint64_t));

	return (double)sk_usual_number(model, size, cost->of[side].values[value]);
}

/* Bytes that the task reads and writes, at the usual sizes. */
static double argument_bytes(const struct sk_model *model, const struct sk_task *task)
{
	double bytes = 0;

	for (uint32_t i = 0; i < task->bound.argument_count; i++) {
		const struct sk_argument *argument = &task->bound.arguments[i];
		enum sk_access access = sk_argument_access(argument);
		struct sk_rows rows = sk_argument_rows(argument);
		uint64_t size = sk_usual_number(model, SK_ARGUMENT_SIZE(argument, size), argument->size);

		if (argument->kind == SK_ARGUMENT_STATE)
			continue;
		if (rows.count > 1)
			size = rows.width * rows.count;
		bytes += (access & SK_ACCESS_READ ? (double)size : 0) + (access & SK_ACCESS_WRITE ? (double)size : 0);
	}
	return bytes;
}

/* Add the work of one side of a task; share: of a cost that is given for both sides together. */
static void add_work(const struct sk_model *model, const struct sk_task *task, uint32_t side, double share,
		     struct sk_run_work *work)
{
	const struct sk_task_cost *cost = task->said.cost;
	uint32_t own = cost && cost->count > 1 ? side : 0;

	if (cost && cost->count > 1)
		share = 1;
	if (cost &&
	    (sk_cost_gives(&cost->of[own], SK_COST_CYCLES) || sk_cost_gives(&cost->of[own], SK_COST_OPERATIONS) ||
	     sk_cost_gives(&cost->of[own], SK_COST_BYTES))) {
		double cycles = usual_cost(model, cost, own, SK_COST_CYCLES);

		cycles +=
			usual_cost(model, cost, own, SK_COST_OPERATIONS) / model->device->lanes[work->lane].operations;
		work->time += share * cycles / model->device->clock;
		work->bytes += share * usual_cost(model, cost, own, SK_COST_BYTES);
	} else {
		work->bytes += share * argument_bytes(model, task);
	}
}

/* Return the number of the side's parts, and the greatest number of them on one core. */
static uint64_t count_parts(const struct sk_run_graph *graph, const struct sk_run *run, const struct sk_side *side,
			    uint32_t cores, uint64_t *of_core)
{
	uint64_t parts = sk_run_parts(graph->model, run, side->blocks ? side->blocks : 1);

	*of_core = (parts + cores - 1) / cores;
	return parts;
}

static void measure_side(const struct sk_run_graph *graph, const struct sk_run *run, const struct sk_side *sides,
			 uint32_t number, uint32_t count, struct sk_run_work *work)
{
	const struct sk_profile *device = graph->model->device;
	const struct sk_task *task = task_of(graph, run, 0);
	const struct sk_side *side = &sides[number];
	enum sk_step_kind kind = graph->model->kernels.items[task->bound.kernel].signature->spread;
	double blocks = sides[0].blocks + (count > 1 ? sides[1].blocks : 0), rate;
	uint64_t of_core, parts;

	*work = (struct sk_run_work){.lane = side->lane, .cores = graph->cores[side->lane]};
	parts = count_parts(graph, run, side, work->cores, &of_core);
	work->parts = parts < work->cores ? (uint32_t)parts : work->cores;
	work->apart = kind == SK_STEP_SPLIT || kind == SK_STEP_BLOCKS_RANGE;
	work->home = kind == SK_STEP_PLAIN;
	work->fixed = kind == SK_STEP_PLAIN || (side->flags & SK_STEP_RESIDENT) || work->parts == work->cores;
	work->alone = kind != SK_STEP_SPLIT && !(side->flags & (SK_STEP_RESIDENT | SK_STEP_EARLY_WAIT));
	work->first = kind == SK_STEP_PLAIN ? task->said.stream : side->first_core;
	for (uint32_t m = 0; m < run->count; m++)
		add_work(graph->model, task_of(graph, run, m), number, blocks > 0 ? side->blocks / blocks : 1, work);
	rate = device->memory / work->parts;
	rate = rate < device->core_memory ? rate : device->core_memory;
	work->time *= parts ? (double)of_core / (double)parts : 0;
	if (parts && work->bytes / rate * (double)of_core / (double)parts > work->time)
		work->time = work->bytes / rate * (double)of_core / (double)parts;
	work->time += device->call * run->count;
}

void sk_run_times_measure(struct sk_run_graph *graph)
{
	const struct sk_launch_runs *runs = graph->runs;
	uint32_t limits[SK_MAX_LANES];

	sk_launch_options_cores(graph->model, &graph->fusion->launches[graph->launch].options, limits);
	for (uint32_t lane = 0; lane < graph->model->device->lane_count; lane++) {
		uint32_t cores = graph->model->device->lanes[lane].cores;

		graph->cores[lane] = limits[lane] && limits[lane] < cores ? limits[lane] : cores;
	}
	for (uint32_t i = 0; i < runs->count; i++) {
		struct sk_side sides[SK_MAX_SIDES];

		graph->sides[i] = (uint8_t)sk_task_sides(graph->model, runs->tasks[runs->runs[i].first], sides);
		for (uint32_t side = 0; side < graph->sides[i]; side++)
			measure_side(graph, &runs->runs[i], sides, side, graph->sides[i],
				     &graph->works[i * SK_MAX_SIDES + side]);
	}
}

/* ---- the time of a launch ---- */

uint32_t sk_run_work_core(const struct sk_run_work *work, uint32_t first, uint32_t part)
{
	uint64_t core = work->apart ? ((uint64_t)(part + 1) * work->cores - 1) / work->parts : part;

	return (uint32_t)((first + core) % work->cores);
}

/* The cores of all lanes as the steps of the launch pass. */
struct passing {
	const struct sk_run_graph *graph;
	double *free[SK_MAX_LANES]; /* by core: the end of its last step */
	double *passed; /* by run: when all cores that others await have passed it */
	bool skips; /* cores without a block do not await */
};

/* Return the time at which the awaits of the run are over. */
static double find_ready(const struct passing *passing, uint32_t run)
{
	const struct sk_run_graph *graph = passing->graph;
	double ready = 0;

	for (uint32_t e = graph->first_edge[run]; e < graph->first_edge[run + 1]; e++) {
		double passed = passing->passed[graph->edges[e].run] + graph->model->device->await;

		if (graph->edges[e].kind == SK_EDGE_AWAIT && passed > ready)
			ready = passed;
	}
	return ready;
}

static double pass_side(const struct passing *passing, const struct sk_run_work *work, uint32_t first, double ready)
{
	double *cores = passing->free[work->lane], passed = 0;

	for (uint32_t core = 0; core < work->cores && !work->home && !(work->alone && passing->skips); core++)
		cores[core] = cores[core] > ready ? cores[core] : ready;
	for (uint32_t part = 0; part < work->parts; part++) {
		double *core = &cores[sk_run_work_core(work, first, part)];

		*core = (*core > ready ? *core : ready) + work->time;
		passed = *core > passed ? *core : passed;
	}
	for (uint32_t core = 0; core < work->cores && !work->home; core++)
		passed = cores[core] > passed ? cores[core] : passed;
	return passed;
}

static double estimate(const struct sk_run_graph *graph, const uint32_t *order, const struct sk_run *placed, bool skips)
{
	struct passing passing = {
		.graph = graph, .skips = skips, .passed = SK_NEW_ARRAY(graph->arena, double, graph->runs->count)};
	double time = 0, bytes = 0;

	for (uint32_t lane = 0; lane < graph->model->device->lane_count; lane++)
		passing.free[lane] = SK_NEW_ARRAY(graph->arena, double, graph->cores[lane]);
	for (uint32_t i = 0; i < graph->runs->count; i++) {
		uint32_t run = order[i];
		double ready = find_ready(&passing, run);

		for (uint32_t side = 0; side < graph->sides[run]; side++) {
			const struct sk_run_work *work = &graph->works[run * SK_MAX_SIDES + side];
			double passed =
				pass_side(&passing, work, work->fixed ? work->first : placed[i].first_core, ready);

			passing.passed[run] = passed > passing.passed[run] ? passed : passing.passed[run];
			bytes += work->bytes;
		}
		time = passing.passed[run] > time ? passing.passed[run] : time;
	}
	return bytes / graph->model->device->memory > time ? bytes / graph->model->device->memory : time;
}

struct sk_run_times sk_run_times_estimate(const struct sk_run_graph *graph, const uint32_t *order,
					  const struct sk_run *placed)
{
	return (struct sk_run_times){estimate(graph, order, placed, true), estimate(graph, order, placed, false)};
}
