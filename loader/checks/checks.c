/* Checked launches: the preparation of one, and a core's part of it. The steps of its lane come in order. For each
 * there are the awaits, then the core's calls, then the published progress, just as in the dispatcher
 * (stubs/dispatcher/dispatcher.c), from the same tables. All cores take turns on one thread. They switch only in
 * awaits, those of steps and those inside kernels, so only one call at a time runs on a device. */
#include "config.h"

#include "loader/checks/checks-parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/convention.h"
#include "format/plan/plan.h"
#include "format/skabi.h"
#include "format/skkernel.h"
#include "format/skplan.h"
#include "loader/checks/checks.h"
#include "loader/flight/flight.h"
#include "loader/skrt.h"

enum {
	MOST_ARGUMENTS = 256, /* of one call, as in dispatchers */
	CALLS_RUNTIME = SK_STEP_RESIDENT | SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET,
};

static void free_cores(struct sk_checks *checks)
{
	free(checks->cores);
	free(checks->words);
	free(checks->windows);
	free(checks->task_blocks);
	checks->task_blocks = NULL;
	checks->cores = NULL;
	checks->words = NULL;
	checks->windows = NULL;
}

void sk_checks_close(struct sk_checks *checks)
{
	if (!checks)
		return;
	sk_clocks_close(checks->clocks);
	sk_split_check_close(checks->split);
	free_cores(checks);
	free(checks);
}

struct sk_checks *sk_checks_open(uint32_t wanted)
{
	struct sk_checks *checks = calloc(1, sizeof(*checks));

	if (!checks)
		return NULL;
	checks->wanted = wanted;
	if (wanted & SKRT_CHECK_RACES)
		checks->clocks = sk_clocks_open();
	if (wanted & SKRT_CHECK_SPLIT)
		checks->split = sk_split_check_open();
	if ((!checks->clocks && (wanted & SKRT_CHECK_RACES)) || (!checks->split && (wanted & SKRT_CHECK_SPLIT))) {
		sk_checks_close(checks);
		return NULL;
	}
	return checks;
}

bool sk_checks_guard(const struct sk_checks *checks)
{
	return checks->wanted & SKRT_GUARD;
}

const char *sk_checks_finding(const struct sk_checks *checks)
{
	return checks->finding[0] ? checks->finding : NULL;
}

struct sk_core_range sk_checks_tile(const struct sk_device_core *core)
{
	const struct sk_checked *checked = sk_checked_of(core);
	struct sk_core_range tile = checked->tile;

	if (tile.low == tile.high)
		return (struct sk_core_range){0, 0};
	return (struct sk_core_range){tile.low * checked->call->scale, tile.high * checked->call->scale};
}

/* ---- around a launch ---- */

static const struct sk_plan_launch *record_of(const struct sk_flight *flight)
{
	return &flight->kernel->module->plan.launches[flight->kernel->launch];
}

/* Return the most words that the arguments of a call can take: a struct by value takes several. */
static uint32_t words_of(const struct sk_plan_view *plan, const struct sk_plan_call *call)
{
	const struct sk_plan_argument *arguments = sk_plan_arguments(plan, call);
	uint32_t words = 0;

	for (uint32_t i = 0; i < call->argument_count; i++)
		words += sk_argument_parts(&arguments[i]);
	return words;
}

/* Check properties of a call that the plan's reader does not check. */
static enum skrt_status check_call(const struct sk_plan_view *plan, const struct sk_plan_call *call, bool vector_side,
				   char *error, size_t size)
{
	const char *task = sk_plan_string(&plan->tasks[call->task].name);

	if (words_of(plan, call) > MOST_ARGUMENTS) {
		snprintf(error, size, "task '%s': it has %u arguments; at most %d can be passed", task,
			 words_of(plan, call), MOST_ARGUMENTS);
		return SKRT_BAD_PACKAGE;
	}
	if (vector_side && !plan->kernels[call->kernel].vector_code) {
		snprintf(error, size, "task '%s': its kernel has no vector side", task);
		return SKRT_BAD_PACKAGE;
	}
	return SKRT_OK;
}

/* *most: the largest number of words of a call. */
static enum skrt_status check_step(const struct sk_plan_view *plan, const struct sk_plan_step *step, uint32_t *most,
				   char *error, size_t size)
{
	struct sk_plan_calls calls = sk_plan_step_calls(plan, step);
	enum skrt_status status = SKRT_OK;

	for (const struct sk_plan_call *call = calls.first; call < calls.end && !status; call++) {
		status = check_call(plan, call, step->flags & SK_STEP_VECTOR_SIDE, error, size);
		uint32_t words = words_of(plan, call);

		*most = words > *most ? words : *most;
	}
	return status;
}

/* Make the cores, each with room for the arguments of any call. */
static bool make_cores(struct sk_checks *checks, const struct sk_flight *flight, uint32_t arguments)
{
	const struct skrt_module *module = flight->kernel->module;
	uint64_t cores = sk_core_row(flight->kernel->cores, module->plan.lane_count, 0);

	free_cores(checks);
	checks->cores = calloc(cores + 1, sizeof(*checks->cores));
	checks->words = calloc(cores * arguments + 1, 2 * sizeof(*checks->words));
	checks->windows = calloc(cores * arguments + 1, SK_MAX_WINDOWS * sizeof(*checks->windows));
	if (!checks->cores || !checks->words || !checks->windows)
		return false;
	for (uint64_t i = 0; i < cores; i++) {
		struct sk_checked *checked = &checks->cores[i];

		checked->stack = checks->words + i * 2 * arguments;
		checked->copies = checked->stack + arguments;
		checked->windows = checks->windows + i * SK_MAX_WINDOWS * arguments;
	}
	return true;
}

static void cannot_copy(const struct sk_flight *flight, char *error, size_t size)
{
	snprintf(error, size, "%s: cannot protect the guarded memory of launch %s: %s", flight->kernel->module->path,
		 flight->kernel->name, strerror(errno));
}

enum skrt_status sk_checks_begin(struct sk_checks *checks, const struct sk_flight *flight, char *error, size_t size)
{
	const struct sk_plan_view *plan = flight->instance->plan;
	const struct sk_plan_launch *record = record_of(flight);
	enum skrt_status status = SKRT_OK;
	uint32_t arguments = 0;

	checks->finding[0] = '\0';
	for (uint32_t i = record->first_step; i < record->first_step + sk_plan_form(record)->step_count && !status; i++)
		status = check_step(plan, &plan->steps[i], &arguments, error, size);
	if (!status && (!make_cores(checks, flight, arguments) || !sk_owed_begin(checks, plan, record))) {
		snprintf(error, size, "no memory to check a launch");
		status = SKRT_OUT_OF_MEMORY;
	}
	if (!status && checks->clocks)
		status = sk_clocks_begin(checks->clocks, flight, error, size);
	if (!status && !sk_guard_copy_in(flight->instance->guard, record, flight->instance->bindings)) {
		cannot_copy(flight, error, size);
		status = SKRT_OUT_OF_MEMORY;
	}
	return status;
}

bool sk_checks_end(const struct sk_flight *flight, bool good, char *error, size_t size)
{
	struct sk_guard *guard = flight->instance->guard;

	sk_guard_reset(guard);
	if (!good || sk_guard_copy_out(guard, record_of(flight), flight->instance->bindings))
		return true;
	cannot_copy(flight, error, size);
	return false;
}

/* ---- a core's steps ---- */

/* Return the block for the next calls. */
static struct sk_block make_block(const struct sk_checked *checked, uint64_t index, uint32_t count)
{
	return (struct sk_block){
		.index = (uint32_t)index,
		.count = count,
		.functions = checked->step->flags & CALLS_RUNTIME ? &sk_checked_functions : NULL,
		.core = checked->core,
		.step = (uint32_t)(checked->step - checked->plan->steps) - checked->launch->first_step,
	};
}

/* The core's blocks of a step; none if the first one is not before the end. */
struct own_blocks {
	uint64_t first, end, distance;
};

static struct own_blocks own_blocks(const struct sk_checked *checked)
{
	const struct sk_core *own = &checked->core->abi;
	const struct sk_plan_step *step = checked->step;

	if (step->kind == SK_STEP_BLOCKS_RANGE) {
		const struct sk_core_range *range = &own->ranges[step->partition - checked->launch->first_partition];

		return (struct own_blocks){range->low, range->high, 1};
	}
	/* For a core before the first one, the unsigned difference is too large for any block. */
	if (step->flags & SK_STEP_RESIDENT)
		return (struct own_blocks){own->index - (uint64_t)step->first_core, step->blocks, step->blocks};
	return (struct own_blocks){sk_plan_part_of(step->first_core, own->index, own->count), step->blocks, own->count};
}

static int run_blocks(struct sk_checked *checked)
{
	const struct sk_plan_step *step = checked->step;
	struct own_blocks blocks = own_blocks(checked);
	int status = 0;

	for (uint64_t block = blocks.first; block < blocks.end && !status; block += blocks.distance) {
		uint64_t low, high;

		checked->block = make_block(checked, block, step->blocks);
		sk_block_range(&checked->block, step->extent, &low, &high);
		status = sk_checked_call(checked, low, high);
	}
	return status;
}

/* Run a part of a divided call. If the launch is of a single task, the core with the first part checks all parts. */
static int run_part(struct sk_checked *checked, uint64_t low, uint64_t high)
{
	struct sk_split_check *split = checked->core->flight->checks->split;

	if (low == high)
		return 0;
	if (!split)
		return sk_checked_call(checked, low, high);
	if (sk_plan_form(checked->launch)->kind != SK_LAUNCH_TASK)
		return sk_split_check_call(checked, split, low, high);
	return low ? 0 : sk_split_check_call(checked, split, 0, sk_plan_extent(checked->step, checked->call));
}

/* Run all of the core's part of the step, or a tile of it, in one of the step's calls. */
static int run_call(struct sk_checked *checked, const struct sk_core_range *part)
{
	const struct sk_plan_step *step = checked->step;
	uint64_t scale = checked->call->scale;

	if (step->kind == SK_STEP_PLAIN) {
		checked->block = make_block(checked, 0, 1);
		return sk_checked_call(checked, 0, 0);
	}
	if (step->kind != SK_STEP_SPLIT)
		return run_blocks(checked);
	return run_part(checked, part->low * scale, part->high * scale);
}

static int run_calls(struct sk_checked *checked, const struct sk_core_range *part)
{
	struct sk_plan_calls calls = sk_plan_step_calls(checked->plan, checked->step);
	int status = 0;

	for (const struct sk_plan_call *call = calls.first; call < calls.end && !status; call++) {
		checked->call = call;
		status = run_call(checked, part);
	}
	return status;
}

/* Run all calls of the step, for each of its tiles. */
static int run_body(struct sk_checked *checked)
{
	const struct sk_plan_step *step = checked->step;
	struct sk_core_range range = {0, 0}, part;
	int status = 0;

	if (step->kind == SK_STEP_SPLIT)
		range = checked->core->abi.ranges[step->partition - checked->launch->first_partition];
	if (!step->tile)
		return run_calls(checked, &range);
	for (part = range; part.low < range.high && !status; part.low = part.high) {
		part.high = range.high - part.low < step->tile ? range.high : part.low + step->tile;
		checked->tile = part;
		status = run_calls(checked, &part);
	}
	return status;
}

static bool is_mine(const struct sk_checked *checked)
{
	uint32_t set = checked->step->core_set;

	if (checked->step->lane != checked->core->abi.lane)
		return false;
	return set == SK_ALL_CORES || checked->core->abi.homes[set - checked->launch->first_home].mine;
}

/* If the step's kernel waits by itself, its awaits also run after it: later steps rely on them. */
static int run_step(struct sk_checked *checked)
{
	bool waits = checked->step->flags & SK_STEP_EARLY_WAIT;
	struct own_blocks blocks = own_blocks(checked);
	bool skips = checked->step->flags & SK_STEP_OWN_AWAITS && blocks.first >= blocks.end;

	checked->finished = false;
	checked->tile = (struct sk_core_range){0, 0};
	if (!waits && !skips && !sk_checked_await(checked))
		return SK_STATUS_ABORTED;
	int status = run_body(checked);
	if (status)
		return status;
	if (checked->step->flags & SK_STEP_FEED) {
		sk_block_feed(&checked->core->abi,
			      (uint32_t)(checked->step - checked->plan->steps) - checked->launch->first_step);
		checked->core->call.host->in_runtime = true;
	}
	if (waits && !sk_checked_await(checked))
		return SK_STATUS_ABORTED;
	sk_checked_finish(checked);
	return 0;
}

int sk_checks_run(struct sk_device_core *core)
{
	const struct sk_flight *flight = core->flight;
	const struct skrt_kernel *kernel = flight->kernel;
	const struct sk_core *own = &core->abi;
	struct sk_checked *checked = sk_checked_of(core);
	int status = 0;

	checked->core = core;
	checked->guard = flight->instance->guard;
	checked->clocks = core->flight->checks->clocks;
	checked->finding = core->flight->checks->finding;
	checked->plan = flight->instance->plan;
	checked->launch = record_of(flight);
	checked->row = sk_core_row(kernel->cores, own->lane, own->index);
	checked->scratch = sk_core_row(kernel->module->cores, own->lane, own->index);
	core->call.host->in_runtime = true;
	for (uint32_t i = 0; i < sk_plan_form(checked->launch)->step_count && !status; i++) {
		checked->step = &checked->plan->steps[checked->launch->first_step + i];
		if (is_mine(checked))
			status = run_step(checked);
	}
	return status;
}
