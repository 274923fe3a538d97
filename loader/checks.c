/* A core's part of a checked launch. The steps of its lane come in order; for each, the awaits, then the calls that
 * fall to the core, then the published progress: what the dispatcher does (stubs/dispatcher.c), read from the same
 * tables. All cores take turns on one thread, and change only in awaits, so that one call at a time is under way on a
 * device. */
#include "config.h"

#include "loader/checks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/device.h"
#include "stubs/skkernel.h"

enum {
	INTEGERS = 6, /* passed in registers, the rest on the stack (psABI 3.2.3) */
	FLOATS = 8,
	MOST_ARGUMENTS = 256, /* of one call, as in dispatchers */
};

/* What a call passes and returns; invoke-x86_64.S knows the offsets. */
struct sk_frame {
	uint64_t integers[INTEGERS];
	uint64_t floats[FLOATS];
	uint64_t stack_count;
	const uint64_t *stack;
	uint64_t integer_result;
	uint64_t float_result;
};

_Static_assert(offsetof(struct sk_frame, floats) == 48 && offsetof(struct sk_frame, stack_count) == 112 &&
		       offsetof(struct sk_frame, stack) == 120 && offsetof(struct sk_frame, integer_result) == 128 &&
		       offsetof(struct sk_frame, float_result) == 136,
	       "invoke-x86_64.S depends on it");

void sk_invoke(struct sk_frame *frame, void (*function)(void));

struct sk_checks {
	uint32_t wanted;
	struct sk_clocks *clocks; /* NULL: races are not checked */
	char finding[SK_FINDING_SIZE]; /* of the launch; "": nothing */
	/* Of the call at hand: */
	struct sk_frame frame;
	uint64_t stack[MOST_ARGUMENTS];
	uint64_t copies[MOST_ARGUMENTS]; /* of arguments by reference */
	struct sk_block block;
	struct sk_window windows[2 * MOST_ARGUMENTS];
	uint32_t window_count;
};

struct sk_checks *sk_checks_open(uint32_t wanted)
{
	struct sk_checks *checks = calloc(1, sizeof(*checks));

	if (!checks)
		return NULL;
	checks->wanted = wanted;
	if (wanted & SKRT_CHECK_RACES)
		checks->clocks = sk_clocks_open();
	if (!checks->clocks && (wanted & SKRT_CHECK_RACES)) {
		free(checks);
		return NULL;
	}
	return checks;
}

void sk_checks_close(struct sk_checks *checks)
{
	if (checks)
		sk_clocks_close(checks->clocks);
	free(checks);
}

bool sk_checks_guard(const struct sk_checks *checks)
{
	return checks->wanted & SKRT_GUARD;
}

const char *sk_checks_finding(const struct sk_checks *checks)
{
	return checks->finding[0] ? checks->finding : NULL;
}

/* ---- around a launch ---- */

static const struct sk_plan_launch *record_of(const struct sk_launch *launch)
{
	return &launch->kernel->module->plan.launches[launch->kernel->launch];
}

static enum skrt_status check_limits(const struct sk_launch *launch, char *error, size_t size)
{
	const struct sk_plan_view *plan = &launch->kernel->module->plan;
	const struct sk_plan_launch *record = record_of(launch);

	if (sk_plan_is_resident(record)) {
		snprintf(error, size, "it has a task whose blocks wait for one another, which is not checked");
		return SKRT_UNSUPPORTED;
	}
	for (uint32_t i = record->first_step; i < record->first_step + record->step_count; i++) {
		if (plan->steps[i].argument_count <= MOST_ARGUMENTS)
			continue;
		snprintf(error, size, "task '%s': it has %" PRIu32 " arguments; at most %d can be passed",
			 sk_plan_string(&plan->tasks[plan->steps[i].task].name), plan->steps[i].argument_count,
			 MOST_ARGUMENTS);
		return SKRT_BAD_PACKAGE;
	}
	return SKRT_OK;
}

enum skrt_status sk_checks_begin(struct sk_checks *checks, const struct sk_launch *launch, char *error, size_t size)
{
	enum skrt_status status = check_limits(launch, error, size);

	checks->finding[0] = '\0';
	if (!status && checks->clocks)
		status = sk_clocks_begin(checks->clocks, launch, error, size);
	if (!status)
		sk_guard_copy_in(launch->instance->guard, record_of(launch), launch->instance->bindings);
	return status;
}

void sk_checks_end(const struct sk_launch *launch, bool good)
{
	struct sk_guard *guard = launch->instance->guard;

	sk_guard_reset(guard);
	if (good)
		sk_guard_copy_out(guard, record_of(launch), launch->instance->bindings);
}

/* ---- what a call accesses ---- */

/* A core at a step, and one of its calls there. */
struct call {
	struct sk_worker *worker;
	struct sk_checks *checks;
	struct sk_guard *guard;
	const struct sk_plan_view *plan;
	const struct sk_plan_launch *launch;
	const struct sk_plan_step *step;
	uint64_t row;
	uint64_t low, high; /* the part of the divided extent; not divided: both 0 */
};

static bool is_float(uint8_t dtype)
{
	return dtype == SK_F16 || dtype == SK_BF16 || dtype == SK_F32 || dtype == SK_F64;
}

static uint8_t access_of(const struct sk_plan_argument *argument)
{
	switch (argument->kind) {
	case SK_ARGUMENT_POINTER:
		return argument->access;
	case SK_ARGUMENT_LOAD:
		return SK_ACCESS_READ;
	case SK_ARGUMENT_RESULT:
		return SK_ACCESS_WRITE;
	case SK_ARGUMENT_SCRATCH:
	case SK_ARGUMENT_STATE:
		return SK_ACCESS_READ | SK_ACCESS_WRITE;
	default:
		return SK_ACCESS_NONE;
	}
}

static void add_window(const struct call *call, const struct sk_plan_argument *argument, uint64_t low, uint64_t high)
{
	if (low < high || argument->kind == SK_ARGUMENT_STATE)
		call->checks->windows[call->checks->window_count++] = (struct sk_window){
			.argument = argument, .low = low, .high = high, .access = access_of(argument)};
}

/* A divided argument: the call's part, and what lies behind all parts. */
static void find_windows(const struct call *call)
{
	call->checks->window_count = 0;
	for (uint32_t i = 0; i < call->step->argument_count; i++) {
		const struct sk_plan_argument *argument = &call->plan->arguments[call->step->first_argument + i];
		uint64_t bytes = argument->kind == SK_ARGUMENT_POINTER ? argument->element_bytes : 0;

		if (access_of(argument) == SK_ACCESS_NONE)
			continue;
		add_window(call, argument, call->low * bytes, bytes ? call->high * bytes : argument->size);
		if (bytes)
			add_window(call, argument, call->step->extent * bytes, argument->size);
	}
}

/* ---- what a call passes ---- */

/* A scalar's bits as a register holds them: integers of less than 32 bits extended as their type says. */
static uint64_t extend(uint64_t value, uint8_t dtype)
{
	switch (dtype) {
	case SK_I8:
		return (uint32_t)(int8_t)value;
	case SK_I16:
		return (uint32_t)(int16_t)value;
	default:
		return sk_dtype_size(dtype) == 8 ? value : value & ((UINT64_C(1) << (8 * sk_dtype_size(dtype))) - 1);
	}
}

static uint64_t scalar_of(const struct call *call, const struct sk_plan_argument *argument)
{
	uint64_t value = argument->value;

	if (argument->kind == SK_ARGUMENT_LENGTH)
		value = call->step->kind == SK_STEP_SPLIT ? call->high - call->low : call->step->extent;
	if (argument->kind == SK_ARGUMENT_LOAD)
		memcpy(&value, sk_guard_address(call->guard, call->launch, argument, call->row),
		       sk_dtype_size(argument->dtype));
	return extend(value, argument->dtype);
}

static uint64_t address_of(const struct call *call, const struct sk_plan_argument *argument)
{
	uint64_t part = call->step->kind == SK_STEP_SPLIT ? call->low * argument->element_bytes : 0;

	return (uintptr_t)sk_guard_address(call->guard, call->launch, argument, call->row) + part;
}

/* What the argument passes; a scalar by reference is the address of a copy. */
static uint64_t value_of(const struct call *call, const struct sk_plan_argument *argument, uint32_t number)
{
	uint64_t *copy = &call->checks->copies[number];

	switch (argument->kind) {
	case SK_ARGUMENT_POINTER:
	case SK_ARGUMENT_SCRATCH:
		return address_of(call, argument);
	case SK_ARGUMENT_BLOCK:
		return (uintptr_t)&call->checks->block;
	default:
		*copy = scalar_of(call, argument);
		return argument->flags & SK_ARGUMENT_BY_REFERENCE ? (uintptr_t)copy : *copy;
	}
}

static bool passed_as_float(const struct sk_plan_argument *argument)
{
	bool scalar = argument->kind == SK_ARGUMENT_VALUE || argument->kind == SK_ARGUMENT_LENGTH ||
		      argument->kind == SK_ARGUMENT_LOAD;

	return scalar && is_float(argument->dtype) && !(argument->flags & SK_ARGUMENT_BY_REFERENCE);
}

static void pass_arguments(const struct call *call)
{
	struct sk_checks *checks = call->checks;
	struct sk_frame *frame = &checks->frame;
	uint32_t integers = 0, floats = 0;

	frame->stack = checks->stack;
	frame->stack_count = 0;
	for (uint32_t i = 0; i < call->step->argument_count; i++) {
		const struct sk_plan_argument *argument = &call->plan->arguments[call->step->first_argument + i];

		if (argument->kind == SK_ARGUMENT_RESULT || argument->kind == SK_ARGUMENT_STATE)
			continue;
		uint64_t value = value_of(call, argument, i);

		if (passed_as_float(argument) && floats < FLOATS)
			frame->floats[floats++] = value;
		else if (!passed_as_float(argument) && integers < INTEGERS)
			frame->integers[integers++] = value;
		else
			checks->stack[frame->stack_count++] = value;
	}
}

static void store_result(const struct call *call)
{
	const struct sk_frame *frame = &call->checks->frame;

	for (uint32_t i = 0; i < call->step->argument_count; i++) {
		const struct sk_plan_argument *argument = &call->plan->arguments[call->step->first_argument + i];

		if (argument->kind == SK_ARGUMENT_RESULT)
			memcpy(sk_guard_address(call->guard, call->launch, argument, call->row),
			       is_float(argument->dtype) ? &frame->float_result : &frame->integer_result,
			       sk_dtype_size(argument->dtype));
	}
}

/* ---- calls ---- */

static int fail(const struct call *call, int status)
{
	call->worker->core.failed_task = call->step->task;
	return status;
}

/* A kernel may be left in the middle, the runtime may not: the host must know which of the two it is in. */
static void invoke(const struct call *call)
{
	struct sk_host *host = call->worker->player->host;
	const void *code = sk_plan_address(&call->plan->kernels[call->step->kernel].code);

	call->worker->step = (uint32_t)(call->step - call->plan->steps);
	host->in_runtime = false;
	sk_invoke(&call->checks->frame, (void (*)(void))(uintptr_t)code);
	host->in_runtime = true;
	call->worker->step = SK_NO_INDEX;
}

/* 0, the kernel's status, 1 with a finding, or SK_STATUS_ABORTED: the launch has failed, and why must not be replaced.
 */
static int run_call(struct call *call, uint64_t low, uint64_t high)
{
	struct sk_checks *checks = call->checks;

	if (atomic_load(&call->worker->device->aborted) != SK_ABORT_NONE)
		return SK_STATUS_ABORTED;
	call->low = low;
	call->high = high;
	find_windows(call);
	if (checks->clocks && !sk_clocks_access(checks->clocks, call->row, call->step, checks->windows,
						checks->window_count, checks->finding))
		return fail(call, 1);
	if (!sk_guard_enter(call->guard, call->launch, call->row, checks->windows, checks->window_count,
			    checks->finding))
		return fail(call, 1);
	pass_arguments(call);
	invoke(call);
	store_result(call);
	if (!sk_guard_leave(call->guard, checks->finding))
		return fail(call, 1);
	int status = call->step->flags & SK_STEP_STATUS ? (int)checks->frame.integer_result : 0;

	return status ? fail(call, status) : 0;
}

static int run_blocks(struct call *call)
{
	const struct sk_core *core = &call->worker->core;
	const struct sk_plan_step *step = call->step;
	uint64_t block = core->index, end = step->blocks, distance = core->count;
	int status = 0;

	if (step->kind == SK_STEP_BLOCKS_RANGE) {
		const struct sk_range *range = &core->ranges[step->partition - call->launch->first_partition];

		block = range->low;
		end = range->high;
		distance = 1;
	}
	for (; block < end && !status; block += distance) {
		struct sk_block own = {.index = (uint32_t)block, .count = step->blocks};
		uint64_t low, high;

		call->checks->block = own;
		sk_block_range(&own, step->extent, &low, &high);
		status = run_call(call, low, high);
	}
	return status;
}

static int run_step(struct call *call)
{
	const struct sk_plan_step *step = call->step;

	if (step->kind == SK_STEP_PLAIN) {
		call->checks->block = (struct sk_block){.count = 1};
		return run_call(call, 0, 0);
	}
	if (step->kind != SK_STEP_SPLIT)
		return run_blocks(call);

	const struct sk_range *range = &call->worker->core.ranges[step->partition - call->launch->first_partition];

	return range->low == range->high ? 0 : run_call(call, range->low, range->high);
}

/* ---- steps ---- */

/* False: the core must leave. */
static bool await_word(const struct call *call, const volatile uint64_t *word, uint64_t target)
{
	struct sk_host *host = call->worker->player->host;
	bool reached = true;

	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < target && reached) {
		reached = sk_player_await(&call->worker->core, word, target, 1) == 0;
		host->in_runtime = true;
	}
	return reached;
}

static bool await_step(const struct call *call, const struct sk_plan_step *awaited)
{
	const struct sk_core *core = &call->worker->core;
	const struct sk_lane *lane = &core->lanes[awaited->lane];
	uint64_t target = lane->base + awaited->number;
	bool reached = true;

	if (awaited->core_set != SK_ALL_CORES)
		reached = await_word(call, core->homes[awaited->core_set - call->launch->first_home].word, target);
	for (uint64_t i = 0; awaited->core_set == SK_ALL_CORES && i < lane->count && reached; i++)
		reached = await_word(call, (const volatile uint64_t *)((uintptr_t)lane->words + i * SK_PROGRESS_STRIDE),
				     target);
	if (reached && call->checks->clocks)
		sk_clocks_await(call->checks->clocks, call->row, awaited);
	return reached;
}

static bool is_mine(const struct call *call)
{
	uint32_t set = call->step->core_set;

	if (call->step->lane != call->worker->core.lane)
		return false;
	return set == SK_ALL_CORES || call->worker->core.homes[set - call->launch->first_home].mine;
}

static void finish_step(const struct call *call)
{
	const struct sk_core *core = &call->worker->core;

	if (call->checks->clocks)
		sk_clocks_finish(call->checks->clocks, call->row, call->step);
	if (call->step->flags & SK_STEP_PUBLISH)
		__atomic_store_n(core->progress, core->lanes[core->lane].base + call->step->number, __ATOMIC_RELEASE);
}

int sk_checks_run(struct sk_worker *worker)
{
	const struct sk_launch *launch = worker->launch;
	struct call call = {
		.worker = worker,
		.checks = worker->device->checks,
		.guard = launch->instance->guard,
		.plan = &launch->kernel->module->plan,
		.launch = record_of(launch),
		.row = sk_device_row(worker->device, worker->core.lane, worker->core.index),
	};

	worker->player->host->in_runtime = true;
	for (uint32_t i = 0; i < call.launch->step_count; i++) {
		call.step = &call.plan->steps[call.launch->first_step + i];
		if (!is_mine(&call))
			continue;
		for (uint32_t j = 0; j < call.step->await_count; j++) {
			const struct sk_plan_await *await = &call.plan->awaits[call.step->first_await + j];

			if (!await_step(&call, &call.plan->steps[await->step]))
				return SK_STATUS_ABORTED;
		}
		int status = run_step(&call);
		if (status)
			return status;
		finish_step(&call);
	}
	return 0;
}
