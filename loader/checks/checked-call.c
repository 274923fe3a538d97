/* A call of a checked launch: the memory that it may touch, its arguments, and its results. Tensors are open to it
 * while it runs, and closed while it waits inside for others; at that point writes outside its tensors are found. */
#include "config.h"

#include "loader/checks/checks-parts.h"

#include <string.h>

#include "format/convention.h"
#include "format/plan/plan.h"
#include "format/skabi.h"
#include "format/skplan.h"
#include "loader/arch/machine.h"
#include "loader/checks/checks.h"
#include "loader/core/core.h"
#include "loader/flight/flight.h"

/* ---- arguments of a call ---- */

/* Return the value of the plan's variable for this part. */
static uint64_t variable_of(const struct sk_checked *checked, enum sk_variable variable)
{
	switch (variable) {
	case SK_VARIABLE_BEGIN:
		return checked->low;
	case SK_VARIABLE_SIZE:
		return checked->high - checked->low;
	case SK_VARIABLE_INNER_BEGIN:
		return checked->inner_low;
	case SK_VARIABLE_INNER_SIZE:
		return checked->inner_high - checked->inner_low;
	default:
		return checked->block.index;
	}
}

static uint64_t expression_of(const struct sk_checked *checked, const struct sk_plan_argument *argument)
{
	uint64_t sum = argument->value;

	for (uint64_t i = 0; i < argument->size; i++) {
		const struct sk_plan_term *term = &checked->plan->terms[argument->index + i];

		sum += sk_plan_term_value(term, variable_of(checked, term->variable));
	}
	return sum;
}

static uint64_t scalar_of(const struct sk_checked *checked, const struct sk_plan_argument *argument)
{
	uint64_t value = argument->value;

	if (argument->kind == SK_ARGUMENT_LENGTH)
		value = checked->step->kind == SK_STEP_SPLIT ? checked->high - checked->low : checked->step->extent;
	if (argument->kind == SK_ARGUMENT_EXPRESSION)
		value = expression_of(checked, argument);
	if (argument->kind == SK_ARGUMENT_LOAD)
		memcpy(&value, sk_guard_address(checked->guard, checked->launch, argument, checked->scratch),
		       sk_dtype_size(argument->dtype));
	return sk_scalar_bits(value, argument->dtype);
}

static uint64_t address_of(const struct sk_checked *checked, const struct sk_plan_argument *argument)
{
	const struct sk_plan_pattern *pattern = sk_plan_pattern(checked->plan, argument);
	uint64_t part = checked->low * argument->element_bytes, at;

	if (argument->space == SK_SPACE_SIZES)
		return (uintptr_t)(checked->core->abi.bindings + checked->plan->binding_count) + argument->offset;
	if (pattern)
		part += checked->inner_low * pattern->inner_bytes;
	if (checked->step->kind != SK_STEP_SPLIT || argument->flags & SK_ARGUMENT_WHOLE)
		part = 0;
	at = (uintptr_t)sk_guard_address(checked->guard, checked->launch, argument, checked->scratch);
	return at + part + (uint64_t)sk_plan_displacement(argument);
}

/* Return a part of a struct; its fields have been stored. */
static uint64_t part_of(const struct sk_checked *checked, const struct sk_plan_argument *argument, uint32_t part)
{
	uint64_t left = argument->size - 8 * (uint64_t)part, bits = 0;

	memcpy(&bits, (const char *)(uintptr_t)address_of(checked, argument) + 8 * (uint64_t)part, left < 8 ? left : 8);
	return bits;
}

/* Return the value that the argument passes; for a scalar by reference the address of a copy. */
static uint64_t value_of(const struct sk_checked *checked, const struct sk_plan_argument *argument, uint32_t number)
{
	uint64_t *copy = &checked->copies[number];

	switch (argument->kind) {
	case SK_ARGUMENT_POINTER:
	case SK_ARGUMENT_SCRATCH:
		return address_of(checked, argument);
	case SK_ARGUMENT_BLOCK:
		return (uintptr_t)&checked->block;
	case SK_ARGUMENT_SYMBOL:
		return (uintptr_t)sk_plan_address(&checked->plan->symbols[argument->index].address);
	default:
		*copy = scalar_of(checked, argument);
		return argument->flags & SK_ARGUMENT_BY_REFERENCE ? (uintptr_t)copy : *copy;
	}
}

/* Fields lie in the core's scratch, which is open. */
static void store_field(const struct sk_checked *checked, const struct sk_plan_argument *argument, uint64_t value)
{
	const struct sk_plan_argument place = {.kind = SK_ARGUMENT_SCRATCH, .offset = argument->field};
	const struct sk_plan_pattern *pattern = sk_plan_pattern(checked->plan, argument);
	char *at = sk_guard_address(checked->guard, checked->launch, &place, checked->scratch);
	bool table = pattern && pattern->table_count;

	memcpy(at, &value, sk_argument_is_scalar(argument) ? sk_dtype_size(argument->dtype) : sizeof(value));
	for (uint64_t i = 1; table && i < pattern->table_count; i++) {
		value += pattern->table_stride;
		memcpy(at + i * sizeof(value), &value, sizeof(value));
	}
}

static void store_fields(const struct sk_checked *checked)
{
	const struct sk_plan_argument *arguments = sk_plan_arguments(checked->plan, checked->call);

	for (uint32_t i = 0; i < checked->call->argument_count; i++)
		if (arguments[i].flags & SK_ARGUMENT_FIELD)
			store_field(checked, &arguments[i], value_of(checked, &arguments[i], i));
}

static void pass_value(struct sk_checked *checked, struct sk_argument_place place, uint64_t value)
{
	if (place.kind == SK_IN_VECTOR_REGISTER)
		checked->registers.floats[place.index] = value;
	else if (place.kind == SK_IN_INTEGER_REGISTER)
		checked->registers.integers[place.index] = value;
	else
		checked->stack[place.offset / sizeof(uint64_t)] = value;
}

static void pass_arguments(struct sk_checked *checked)
{
	struct sk_places_taken taken = {0};

	store_fields(checked);
	for (uint32_t i = 0; i < checked->call->argument_count; i++) {
		const struct sk_plan_argument *argument = &checked->plan->arguments[checked->call->first_argument + i];
		uint32_t parts = sk_argument_is_passed(argument) ? sk_argument_parts(argument) : 0;
		bool by_value = argument->flags & SK_ARGUMENT_BY_VALUE;

		for (uint32_t part = 0; part < parts; part++)
			pass_value(checked, sk_convention_next(sk_machine_convention(), &taken, argument, part),
				   by_value ? part_of(checked, argument, part) : value_of(checked, argument, i));
	}
	checked->registers.stack = checked->stack;
	checked->registers.stack_count = taken.stack / sizeof(uint64_t);
}

static void store_result(const struct sk_checked *checked)
{
	const struct sk_registers *registers = &checked->registers;

	for (uint32_t i = 0; i < checked->call->argument_count; i++) {
		const struct sk_plan_argument *argument = &checked->plan->arguments[checked->call->first_argument + i];

		if (argument->kind == SK_ARGUMENT_RESULT)
			memcpy(sk_guard_address(checked->guard, checked->launch, argument, checked->scratch),
			       sk_dtype_is_float(argument->dtype) ? &registers->float_result
								  : &registers->integer_result,
			       sk_dtype_size(argument->dtype));
	}
}

/* Return the status that the call has returned, or left in the copy of an argument. A wide one is reduced to its lower
 * half, or 1 if that is 0. */
static int status_of(const struct sk_checked *checked)
{
	const struct sk_plan_argument *arguments = sk_plan_arguments(checked->plan, checked->call);

	if (checked->call->flags & SK_CALL_STATUS)
		return (int)checked->registers.integer_result;
	for (uint32_t i = 0; i < checked->call->argument_count; i++) {
		uint64_t left = checked->copies[i];

		if (!(arguments[i].flags & SK_ARGUMENT_STATUS))
			continue;
		if (sk_dtype_size(arguments[i].dtype) == 4 || (uint32_t)left)
			return (int)(uint32_t)left;
		return left ? 1 : 0;
	}
	return 0;
}

/* ---- opening and closing ---- */

/* The reason why tensors are closed in a phase; in SK_OPEN they are not. */
static const char *const closed[] = {
	[SK_OPEN] = NULL,
	[SK_BEFORE_WAIT] = "which the call must not touch before sk_wait_pre_task_end",
	[SK_AFTER_SET] = "which the call must not touch after sk_set_next_task_start",
};

static bool open_windows(struct sk_checked *checked)
{
	sk_checked_find_windows(checked);
	return sk_guard_enter(checked->guard, checked->launch, checked->scratch, checked->windows,
			      checked->window_count, closed[checked->phase], checked->finding);
}

/* Check that awaits order the accesses to the windows. */
static bool is_ordered(const struct sk_checked *checked)
{
	return !checked->clocks || sk_clocks_access(checked->clocks, checked->row, checked->step, checked->call,
						    checked->windows, checked->window_count, checked->finding);
}

/* The call has hidden state from its beginning to its end, in memory that does not belong to a tensor. */
static bool access_states(struct sk_checked *checked)
{
	sk_checked_find_states(checked);
	return is_ordered(checked);
}

/* A call with loops does this once, for all tiles. */
static bool access_part(struct sk_checked *checked)
{
	checked->phase = SK_OPEN;
	sk_checked_find_windows(checked);
	return is_ordered(checked);
}

/* Open the call's arguments. */
static bool begin_accesses(struct sk_checked *checked)
{
	checked->phase = SK_OPEN;
	if (!checked->call->loop_count && !access_part(checked))
		return false;
	if (!open_windows(checked) || !sk_guard_check_written(checked->guard, checked->finding))
		return false;
	sk_guard_spoil(checked->guard, sk_owed_at_begin(checked));
	return true;
}

static bool is_aborted(const struct sk_checked *checked)
{
	return atomic_load(&checked->core->flight->aborted) != SK_ABORT_NONE;
}

/* Return the core's result when it ends the launch with a status of its task. */
static int end_with_status(const struct sk_checked *checked, int status)
{
	checked->core->abi.failed_task = checked->call->task;
	return status;
}

/* The failure of a launch must not be replaced, so nothing is opened after it. */
static void go_on(struct sk_checked *checked, bool (*open)(struct sk_checked *checked))
{
	if (is_aborted(checked))
		sk_call_leave(SK_STATUS_ABORTED);
	if (!open(checked))
		sk_call_leave(end_with_status(checked, 1));
	checked->core->call.host->in_runtime = false;
}

static void pause_owing(struct sk_checked *checked, enum sk_owed most)
{
	sk_fibre_tidy();
	checked->core->call.host->in_runtime = true;
	if (!sk_guard_leave(checked->guard, most, checked->finding))
		sk_call_leave(end_with_status(checked, 1));
}

void sk_checked_pause(struct sk_checked *checked)
{
	pause_owing(checked, SK_OWED_NONE);
}

void sk_checked_close(struct sk_checked *checked)
{
	pause_owing(checked, checked->phase == SK_AFTER_SET ? SK_OWED_NONE : sk_owed_at_end(checked));
	checked->phase = SK_AFTER_SET;
}

void sk_checked_resume(struct sk_checked *checked)
{
	go_on(checked, open_windows);
}

void sk_checked_open(struct sk_checked *checked)
{
	go_on(checked, begin_accesses);
}

/* ---- the call ---- */

/* A kernel may be left in the middle, the runtime may not: tell the host the code that runs. */
static void invoke(struct sk_checked *checked)
{
	struct sk_host *host = checked->core->call.host;
	const struct sk_plan_kernel *kernel = &checked->plan->kernels[checked->call->kernel];
	bool vector_side = checked->step->flags & SK_STEP_VECTOR_SIDE;
	const void *code = sk_plan_address(vector_side ? &kernel->vector_code : &kernel->code);

	checked->core->planned_call = (uint32_t)(checked->call - checked->plan->calls);
	host->in_runtime = false;
	sk_invoke(&checked->registers, (void (*)(void))(uintptr_t)code);
	host->in_runtime = true;
	checked->core->planned_call = SK_NO_INDEX;
}

/* Make one call. */
static int call_once(struct sk_checked *checked)
{
	bool waits = checked->step->flags & SK_STEP_EARLY_WAIT;

	if (is_aborted(checked))
		return SK_STATUS_ABORTED;
	checked->phase = waits ? SK_BEFORE_WAIT : SK_OPEN;
	if (!access_states(checked) || (waits ? !open_windows(checked) : !begin_accesses(checked)))
		return end_with_status(checked, 1);
	pass_arguments(checked);
	invoke(checked);
	bool forgotten = waits && !checked->block.waited;
	if (!forgotten)
		store_result(checked);

	int status = status_of(checked);
	enum sk_owed most = checked->phase == SK_AFTER_SET ? SK_OWED_NONE : sk_owed_at_end(checked);

	if (!sk_guard_leave(checked->guard, status ? SK_OWED_NONE : most, checked->finding) ||
	    !sk_control_is_tidy(&checked->registers.control, checked->finding, SK_FINDING_SIZE))
		return end_with_status(checked, 1);
	if (status || !forgotten)
		return status ? end_with_status(checked, status) : 0;
	return sk_checked_await(checked) ? end_with_status(checked, SK_STATUS_NOT_AWAITED) : SK_STATUS_ABORTED;
}

struct sk_checked *sk_checked_of(const struct sk_device_core *core)
{
	const struct sk_core *abi = &core->abi;

	return &core->flight->checks->cores[sk_core_row(core->flight->kernel->cores, abi->lane, abi->index)];
}

bool sk_checked_await(struct sk_checked *checked)
{
	for (uint32_t i = 0; i < checked->step->await_count; i++) {
		const struct sk_plan_await *await = &checked->plan->awaits[checked->step->first_await + i];
		const struct sk_plan_step *awaited = &checked->plan->steps[await->step];
		bool reached = sk_block_await(&checked->core->abi, checked->launch, awaited);

		checked->core->call.host->in_runtime = true;
		if (!reached)
			return false;
		if (checked->clocks)
			sk_clocks_await(checked->clocks, checked->row, awaited);
	}
	return true;
}

/* Check the owed bytes between calls for the tiles of all columns, which have no windows of their own for them. */
static bool look_at_owed(struct sk_checked *checked, bool begins)
{
	checked->inner_low = checked->inner_high = 0;
	checked->phase = SK_OPEN;
	if (!open_windows(checked))
		return false;
	if (begins)
		sk_guard_spoil(checked->guard, SK_OWED_BY_CALL);
	return sk_guard_leave(checked->guard, begins ? SK_OWED_NONE : SK_OWED_BY_CALL, checked->finding);
}

/* Make the calls for all columns of the current rows, in tiles. */
static int call_inner(struct sk_checked *checked)
{
	const struct sk_plan_loop *loops = sk_plan_loops(checked->plan, checked->call);
	int status = 0;

	if (checked->call->loop_count < SK_MAX_LOOPS)
		return call_once(checked);
	if (!look_at_owed(checked, true))
		return end_with_status(checked, 1);
	for (uint64_t low = 0; low < loops[1].extent && !status; low = checked->inner_high) {
		uint64_t left = loops[1].extent - low;

		checked->inner_low = low;
		checked->inner_high = low + (left < loops[1].tile ? left : loops[1].tile);
		status = call_once(checked);
	}
	if (!status && !look_at_owed(checked, false))
		return end_with_status(checked, 1);
	return status;
}

/* True if the call has nothing to write at the present sizes: it is not made. */
static bool is_empty(const struct sk_checked *checked)
{
	const struct sk_plan_view *largest = &checked->core->flight->kernel->module->plan;
	const struct sk_plan_call *call = largest->calls + (checked->call - checked->plan->calls);
	const struct sk_plan_argument *own = sk_plan_arguments(checked->plan, checked->call);
	const struct sk_plan_argument *arguments = sk_plan_arguments(largest, call);
	bool writes = false, empty = true;

	for (uint32_t i = 0; i < call->argument_count && checked->plan != largest; i++) {
		writes |= sk_plan_access(&arguments[i]) & SK_ACCESS_WRITE;
		empty &= !(sk_plan_access(&own[i]) & SK_ACCESS_WRITE);
	}
	return writes && empty;
}

int sk_checked_call(struct sk_checked *checked, uint64_t low, uint64_t high)
{
	const struct sk_plan_loop *loop = sk_plan_loops(checked->plan, checked->call);
	int status = 0;

	checked->low = low;
	checked->high = high;
	checked->inner_low = checked->inner_high = 0;
	if (is_empty(checked))
		return 0;
	if (!loop)
		return call_once(checked);
	if (!access_part(checked))
		return end_with_status(checked, 1);
	for (; low < high && !status; low = checked->high) {
		checked->low = low;
		checked->high = low + (high - low < loop->tile ? high - low : loop->tile);
		status = call_inner(checked);
	}
	return status;
}
