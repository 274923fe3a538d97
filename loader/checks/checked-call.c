/* A call of a checked launch: what it may touch, what is passed to it, and what it returns. Tensors are open to it
 * while it runs, and closed while it waits inside for others; then what it has written beside them is found. */
#include "config.h"

#include "loader/checks/checked-call.h"

#include <string.h>

void sk_invoke(struct sk_frame *frame, void (*function)(void));

/* ---- what a call accesses ---- */

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

static void add_window(struct sk_checked *core, const struct sk_plan_argument *argument, uint64_t low, uint64_t high)
{
	if (low < high || argument->kind == SK_ARGUMENT_STATE)
		core->windows[core->window_count++] = (struct sk_window){
			.argument = argument, .low = low, .high = high, .access = access_of(argument)};
}

/* Hidden state the call has from its beginning to its end, which no memory of a tensor's shows. */
static bool access_states(struct sk_checked *core)
{
	core->window_count = 0;
	for (uint32_t i = 0; i < core->step->argument_count; i++) {
		const struct sk_plan_argument *argument = &core->plan->arguments[core->step->first_argument + i];

		if (argument->kind == SK_ARGUMENT_STATE)
			add_window(core, argument, 0, 0);
	}
	return !core->clocks ||
	       sk_clocks_access(core->clocks, core->row, core->step, core->windows, core->window_count, core->finding);
}

/* What the call may touch in its phase. A divided argument: the call's part, and what lies behind all parts. */
static void find_windows(struct sk_checked *core)
{
	core->window_count = 0;
	for (uint32_t i = 0; i < core->step->argument_count; i++) {
		const struct sk_plan_argument *argument = &core->plan->arguments[core->step->first_argument + i];
		uint64_t bytes = argument->kind == SK_ARGUMENT_POINTER ? argument->element_bytes : 0;

		if (access_of(argument) == SK_ACCESS_NONE || argument->kind == SK_ARGUMENT_STATE ||
		    (core->phase != SK_OPEN && argument->kind != SK_ARGUMENT_SCRATCH))
			continue;
		add_window(core, argument, core->low * bytes, bytes ? core->high * bytes : argument->size);
		if (bytes)
			add_window(core, argument, core->step->extent * bytes, argument->size);
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

static uint64_t scalar_of(const struct sk_checked *core, const struct sk_plan_argument *argument)
{
	uint64_t value = argument->value;

	if (argument->kind == SK_ARGUMENT_LENGTH)
		value = core->step->kind == SK_STEP_SPLIT ? core->high - core->low : core->step->extent;
	if (argument->kind == SK_ARGUMENT_LOAD)
		memcpy(&value, sk_guard_address(core->guard, core->launch, argument, core->scratch),
		       sk_dtype_size(argument->dtype));
	return extend(value, argument->dtype);
}

static uint64_t address_of(const struct sk_checked *core, const struct sk_plan_argument *argument)
{
	uint64_t part = core->step->kind == SK_STEP_SPLIT ? core->low * argument->element_bytes : 0;

	return (uintptr_t)sk_guard_address(core->guard, core->launch, argument, core->scratch) + part;
}

/* What the argument passes; a scalar by reference is the address of a copy. */
static uint64_t value_of(const struct sk_checked *core, const struct sk_plan_argument *argument, uint32_t number)
{
	uint64_t *copy = &core->copies[number];

	switch (argument->kind) {
	case SK_ARGUMENT_POINTER:
	case SK_ARGUMENT_SCRATCH:
		return address_of(core, argument);
	case SK_ARGUMENT_BLOCK:
		return (uintptr_t)&core->block;
	default:
		*copy = scalar_of(core, argument);
		return argument->flags & SK_ARGUMENT_BY_REFERENCE ? (uintptr_t)copy : *copy;
	}
}

static bool passed_as_float(const struct sk_plan_argument *argument)
{
	bool scalar = argument->kind == SK_ARGUMENT_VALUE || argument->kind == SK_ARGUMENT_LENGTH ||
		      argument->kind == SK_ARGUMENT_LOAD;

	return scalar && is_float(argument->dtype) && !(argument->flags & SK_ARGUMENT_BY_REFERENCE);
}

static void pass_arguments(struct sk_checked *core)
{
	struct sk_frame *frame = &core->frame;
	uint32_t integers = 0, floats = 0;

	frame->stack = core->stack;
	frame->stack_count = 0;
	for (uint32_t i = 0; i < core->step->argument_count; i++) {
		const struct sk_plan_argument *argument = &core->plan->arguments[core->step->first_argument + i];

		if (argument->kind == SK_ARGUMENT_RESULT || argument->kind == SK_ARGUMENT_STATE)
			continue;
		uint64_t value = value_of(core, argument, i);

		if (passed_as_float(argument) && floats < SK_FLOATS)
			frame->floats[floats++] = value;
		else if (!passed_as_float(argument) && integers < SK_INTEGERS)
			frame->integers[integers++] = value;
		else
			core->stack[frame->stack_count++] = value;
	}
}

static void store_result(const struct sk_checked *core)
{
	const struct sk_frame *frame = &core->frame;

	for (uint32_t i = 0; i < core->step->argument_count; i++) {
		const struct sk_plan_argument *argument = &core->plan->arguments[core->step->first_argument + i];

		if (argument->kind == SK_ARGUMENT_RESULT)
			memcpy(sk_guard_address(core->guard, core->launch, argument, core->scratch),
			       is_float(argument->dtype) ? &frame->float_result : &frame->integer_result,
			       sk_dtype_size(argument->dtype));
	}
}

/* ---- opening and closing ---- */

/* Why tensors are closed; in SK_OPEN they are not. */
static const char *const closed[] = {
	[SK_OPEN] = NULL,
	[SK_BEFORE_WAIT] = "which the call must not touch before sk_wait_pre_task_end",
	[SK_BEHIND_SET] = "which the call must not touch behind sk_set_next_task_start",
};

static bool open_windows(struct sk_checked *core)
{
	find_windows(core);
	return sk_guard_enter(core->guard, core->launch, core->scratch, core->windows, core->window_count,
			      closed[core->phase], core->finding);
}

/* From here on the call may access what its arguments say. */
static bool begin_accesses(struct sk_checked *core)
{
	core->phase = SK_OPEN;
	find_windows(core);
	if (core->clocks &&
	    !sk_clocks_access(core->clocks, core->row, core->step, core->windows, core->window_count, core->finding))
		return false;
	return open_windows(core) && sk_guard_check_written(core->guard, core->finding);
}

static bool is_aborted(const struct sk_checked *core)
{
	return atomic_load(&core->worker->launch->aborted) != SK_ABORT_NONE;
}

/* Why a launch has failed must not be replaced: so nothing is opened in one that has. */
static void go_on(struct sk_checked *core, bool (*open)(struct sk_checked *core))
{
	if (is_aborted(core))
		sk_call_leave(SK_STATUS_ABORTED);
	if (!open(core))
		sk_call_leave(sk_checked_fail(core, 1));
	core->worker->player->host->in_runtime = false;
}

void sk_checked_pause(struct sk_checked *core)
{
	sk_fibre_tidy();
	core->worker->player->host->in_runtime = true;
	if (!sk_guard_leave(core->guard, core->finding))
		sk_call_leave(sk_checked_fail(core, 1));
}

void sk_checked_resume(struct sk_checked *core)
{
	go_on(core, open_windows);
}

void sk_checked_open(struct sk_checked *core)
{
	go_on(core, begin_accesses);
}

/* ---- the call ---- */

/* A kernel may be left in the middle, the runtime may not: the host must know which of the two it is in. */
static void invoke(struct sk_checked *core)
{
	struct sk_host *host = core->worker->player->host;
	const struct sk_plan_kernel *kernel = &core->plan->kernels[core->step->kernel];
	bool vector_side = core->step->flags & SK_STEP_VECTOR_SIDE;
	const void *code = sk_plan_address(vector_side ? &kernel->vector_code : &kernel->code);

	core->worker->step = (uint32_t)(core->step - core->plan->steps);
	host->in_runtime = false;
	sk_invoke(&core->frame, (void (*)(void))(uintptr_t)code);
	host->in_runtime = true;
	core->worker->step = SK_NO_INDEX;
}

int sk_checked_call(struct sk_checked *core, uint64_t low, uint64_t high)
{
	bool waits = core->step->flags & SK_STEP_EARLY_WAIT;

	if (is_aborted(core))
		return SK_STATUS_ABORTED;
	core->low = low;
	core->high = high;
	core->phase = waits ? SK_BEFORE_WAIT : SK_OPEN;
	if (!access_states(core) || (waits ? !open_windows(core) : !begin_accesses(core)))
		return sk_checked_fail(core, 1);
	pass_arguments(core);
	invoke(core);
	bool forgotten = waits && !core->block.waited;
	if (!forgotten)
		store_result(core);
	if (!sk_guard_leave(core->guard, core->finding) || !sk_frame_is_tidy(&core->frame, core->finding))
		return sk_checked_fail(core, 1);
	int status = core->step->flags & SK_STEP_STATUS ? (int)core->frame.integer_result : 0;

	if (status || !forgotten)
		return status ? sk_checked_fail(core, status) : 0;
	return sk_checked_await(core) ? sk_checked_fail(core, SK_STATUS_NOT_AWAITED) : SK_STATUS_ABORTED;
}

struct sk_checked *sk_checked_of(const struct sk_worker *worker)
{
	const struct sk_core *core = &worker->core;

	return &worker->device->checks->cores[sk_core_row(worker->launch->kernel->cores, core->lane, core->index)];
}

int sk_checked_fail(const struct sk_checked *core, int status)
{
	core->worker->core.failed_task = core->step->task;
	return status;
}

bool sk_checked_await(struct sk_checked *core)
{
	for (uint32_t i = 0; i < core->step->await_count; i++) {
		const struct sk_plan_await *await = &core->plan->awaits[core->step->first_await + i];
		const struct sk_plan_step *awaited = &core->plan->steps[await->step];
		bool reached = sk_block_await(&core->worker->core, core->launch, awaited);

		core->worker->player->host->in_runtime = true;
		if (!reached)
			return false;
		if (core->clocks)
			sk_clocks_await(core->clocks, core->row, awaited);
	}
	return true;
}
