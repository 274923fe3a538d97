/* The plan's reader; plan.h says what it promises. In come the bytes of a section that anybody may have written. Out
 * comes a view that is used in place, or one sentence that names the record and what is wrong with it.
 *
 * All positions are offsets from the section's start, in 64 bits, so that no pointer is formed before it is known to
 * lie inside. Slices of the shared tables must stand in the order of those who own them and must not overlap: so the
 * time to check all launches is bounded by the section's size, and nobody else's records are in a launch. */
#include "loader/plan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "stubs/skabi.h"

/* The sizes are the format: a change here is a change of SK_PLAN_VERSION. */
_Static_assert(sizeof(struct sk_plan) == 160, "struct sk_plan");
_Static_assert(sizeof(struct sk_plan_launch) == 72, "struct sk_plan_launch");
_Static_assert(sizeof(struct sk_plan_task) == 32, "struct sk_plan_task");
_Static_assert(sizeof(struct sk_plan_kernel) == 16, "struct sk_plan_kernel");
_Static_assert(sizeof(struct sk_plan_tensor) == 104, "struct sk_plan_tensor");
_Static_assert(sizeof(struct sk_plan_step) == 56, "struct sk_plan_step");
_Static_assert(sizeof(struct sk_plan_argument) == 48, "struct sk_plan_argument");
_Static_assert(sizeof(struct sk_plan_partition) == 16, "struct sk_plan_partition");

/* Where we are, for messages. */
struct checker {
	const struct sk_plan_view *view;
	const char *record; /* "launch", "tensor" …; NULL: the header */
	uint32_t index; /* of the record */
	uint32_t step; /* within the launch; SK_NO_INDEX: none */
	uint32_t argument; /* within the step; SK_NO_INDEX: none */
	char *error;
	size_t error_size;
};

static bool fail(const struct checker *checker, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(const struct checker *checker, const char *format, ...)
{
	char where[96] = "", what[256];
	size_t used = 0;
	va_list args;

	if (checker->record)
		used += (size_t)snprintf(where, sizeof(where), "%s %u: ", checker->record, checker->index);
	if (checker->step != SK_NO_INDEX)
		used += (size_t)snprintf(where + used, sizeof(where) - used, "step %u: ", checker->step);
	if (checker->argument != SK_NO_INDEX)
		snprintf(where + used, sizeof(where) - used, "argument %u: ", checker->argument);
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (checker->error_size)
		snprintf(checker->error, checker->error_size, "plan: %s%s", where, what);
	return false;
}

static struct checker checker_at(const struct sk_plan_view *view, char *error, size_t error_size)
{
	return (struct checker){
		.view = view, .step = SK_NO_INDEX, .argument = SK_NO_INDEX, .error = error, .error_size = error_size};
}

/* [offset, offset + size) lies within [0, limit). */
static bool within(uint64_t offset, uint64_t size, uint64_t limit)
{
	return offset <= limit && size <= limit - offset;
}

/* ---- references ---- */

const char *sk_plan_string(const int32_t *reference)
{
	return *reference ? (const char *)reference + *reference : "";
}

const void *sk_plan_address(const int32_t *reference)
{
	return *reference ? (const char *)reference + *reference : NULL;
}

/* The offset in the section that a place-relative field names; negative or beyond the end if the field lies. */
static int64_t target_of(const struct sk_plan *plan, const int32_t *field)
{
	return ((const char *)field - (const char *)plan) + (int64_t)*field;
}

enum presence { OPTIONAL, REQUIRED };

static bool check_string(const struct checker *checker, const int32_t *field, const char *what, enum presence presence)
{
	const struct sk_plan *plan = checker->view->plan;

	if (*field == 0)
		return presence == OPTIONAL || fail(checker, "%s is missing", what);

	int64_t target = target_of(plan, field), strings = target_of(plan, &plan->strings.offset);

	if (target < strings || target - strings >= (int64_t)plan->strings.count)
		return fail(checker, "%s lies outside the strings", what);
	if (presence == REQUIRED && *sk_plan_string(field) == '\0')
		return fail(checker, "%s is empty", what);
	return true;
}

/* ---- tables ---- */

struct table {
	const char *name;
	uint16_t table; /* offset of its struct sk_plan_table in struct sk_plan */
	uint16_t record_size;
	uint16_t view_pointer; /* offset in struct sk_plan_view */
	uint16_t view_count;
};

#define TABLE(name, type, pointer, count)                                                                              \
	{                                                                                                              \
#name, offsetof(struct sk_plan, name), sizeof(type), offsetof(struct sk_plan_view, pointer),           \
			offsetof(struct sk_plan_view, count)                                                           \
	}

static const struct table tables[] = {
	TABLE(lanes, int32_t, lanes, lane_count),
	TABLE(launches, struct sk_plan_launch, launches, launch_count),
	TABLE(tasks, struct sk_plan_task, tasks, task_count),
	TABLE(kernels, struct sk_plan_kernel, kernels, kernel_count),
	TABLE(tensors, struct sk_plan_tensor, tensors, tensor_count),
	TABLE(bindings, uint32_t, bindings, binding_count),
	TABLE(steps, struct sk_plan_step, steps, step_count),
	TABLE(awaits, struct sk_plan_await, awaits, await_count),
	TABLE(arguments, struct sk_plan_argument, arguments, argument_count),
	TABLE(partitions, struct sk_plan_partition, partitions, partition_count),
	TABLE(homes, struct sk_plan_home, homes, home_count),
	TABLE(follows, uint32_t, follows, follow_count),
};

static bool check_extent_of(const struct checker *checker, const char *name, const struct sk_plan_table *table,
			    uint64_t record_size, uint64_t alignment)
{
	const struct sk_plan *plan = checker->view->plan;
	int64_t start = target_of(plan, &table->offset);

	if (table->count == 0)
		return true;
	if (start < (int64_t)sizeof(*plan) || !within((uint64_t)start, table->count * record_size, plan->size))
		return fail(checker, "the table of %s (%u records) lies outside the plan", name, table->count);
	if ((uint64_t)start % alignment)
		return fail(checker, "the table of %s is not aligned to %" PRIu64 " bytes", name, alignment);
	return true;
}

static bool open_tables(const struct checker *checker, struct sk_plan_view *view)
{
	const struct sk_plan *plan = view->plan;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		const struct table *entry = &tables[i];
		const struct sk_plan_table *table = (const void *)((const char *)plan + entry->table);

		if (!check_extent_of(checker, entry->name, table, entry->record_size,
				     entry->record_size % 8 == 0 ? 8 : 4))
			return false;

		const void *records = table->count ? sk_plan_address(&table->offset) : NULL;

		memcpy((char *)view + entry->view_pointer, &records, sizeof(records));
		memcpy((char *)view + entry->view_count, &table->count, sizeof(table->count));
	}
	if (!check_extent_of(checker, "strings", &plan->strings, 1, 1))
		return false;
	if (plan->strings.count && sk_plan_string(&plan->strings.offset)[plan->strings.count - 1] != '\0')
		return fail(checker, "the last string has no end");
	return true;
}

static bool check_header(const struct checker *checker, const struct sk_plan *plan, size_t size)
{
	if (plan->magic != SK_PLAN_MAGIC)
		return fail(checker, "it has no plan's magic number");
	if (plan->version != SK_PLAN_VERSION)
		return fail(checker, "version %u is not supported (this is %u)", plan->version, SK_PLAN_VERSION);
	if (plan->abi_version != SK_ABI_VERSION)
		return fail(checker, "dispatcher ABI version %u is not supported (this is %u)", plan->abi_version,
			    SK_ABI_VERSION);
	if (plan->size < sizeof(*plan) || plan->size > size || plan->size > INT64_MAX)
		return fail(checker, "it claims %" PRIu64 " bytes and has %zu", plan->size, size);
	return true;
}

/* ---- records outside launches ---- */

static bool check_lanes(struct checker *checker)
{
	const struct sk_plan_view *view = checker->view;

	if (view->lane_count == 0 || view->lane_count > SK_MAX_LANES)
		return fail(checker, "%u lanes are not supported (at most %d)", view->lane_count, SK_MAX_LANES);
	for (uint32_t i = 0; i < view->lane_count; i++)
		if (!check_string(checker, &view->lanes[i], "a lane's name", REQUIRED))
			return false;
	return check_string(checker, &view->plan->device, "the device's name", OPTIONAL);
}

static bool check_kernels(struct checker *checker)
{
	const struct sk_plan_view *view = checker->view;

	checker->record = "kernel";
	for (uint32_t i = 0; i < view->kernel_count; i++) {
		const struct sk_plan_kernel *kernel = &view->kernels[i];

		checker->index = i;
		if (!check_string(checker, &kernel->name, "the name", REQUIRED) ||
		    !check_string(checker, &kernel->symbol, "the symbol", REQUIRED) ||
		    !check_string(checker, &kernel->signature, "the signature", REQUIRED))
			return false;
	}
	return true;
}

static bool is_task_launch(const struct sk_plan_launch *launch)
{
	return launch->kind == SK_LAUNCH_TASK;
}

static bool check_tasks(struct checker *checker)
{
	const struct sk_plan_view *view = checker->view;

	checker->record = "task";
	for (uint32_t i = 0; i < view->task_count; i++) {
		const struct sk_plan_task *task = &view->tasks[i];

		checker->index = i;
		if (!check_string(checker, &task->name, "the name", REQUIRED) ||
		    !check_string(checker, &task->scope, "the scope", OPTIONAL))
			return false;
		if (task->kernel >= view->kernel_count)
			return fail(checker, "kernel %u is out of range (%u kernels)", task->kernel,
				    view->kernel_count);
		if (task->launch >= view->network_launch_count)
			return fail(checker, "launch %u is out of range (%u launches of the network)", task->launch,
				    view->network_launch_count);
		if (task->task_launch != SK_NO_INDEX &&
		    (task->task_launch >= view->launch_count || task->task_launch < view->network_launch_count))
			return fail(checker, "launch %u is not a task's entry", task->task_launch);
		if (task->reserved)
			return fail(checker, "a reserved field is not zero");
	}
	return true;
}

/* The number of bytes that the shape says; false on overflow. */
static bool shape_bytes(const struct sk_plan_tensor *tensor, uint64_t *bytes)
{
	*bytes = sk_dtype_size(tensor->dtype);
	for (uint32_t i = 0; i < tensor->rank; i++)
		if (__builtin_mul_overflow(*bytes, tensor->shape[i], bytes))
			return false;
	return true;
}

static bool check_tensor_space(const struct checker *checker, const struct sk_plan_tensor *tensor)
{
	const struct sk_plan_view *view = checker->view;
	const struct sk_plan *plan = view->plan;
	bool task_entries = view->network_launch_count < view->launch_count;

	switch (tensor->space) {
	case SK_SPACE_NONE:
		return true;
	case SK_SPACE_BINDING:
		if (tensor->role != SK_ROLE_INPUT && tensor->role != SK_ROLE_OUTPUT && tensor->role != SK_ROLE_INOUT)
			return fail(checker, "its role does not allow a binding");
		if (tensor->index >= view->binding_count)
			return fail(checker, "binding %u is out of range (%u bindings)", tensor->index,
				    view->binding_count);
		if (view->bindings[tensor->index] >= view->tensor_count)
			return true; /* check_bindings says it */
		if (!within(tensor->offset, tensor->bytes, view->tensors[view->bindings[tensor->index]].bytes))
			return fail(checker, "it lies outside its binding");
		return true;
	case SK_SPACE_WORKSPACE:
		if (tensor->role != SK_ROLE_TEMPORARY)
			return fail(checker, "only temporaries lie in the workspace");
		if (!within(tensor->offset, tensor->bytes, plan->workspace_size))
			return fail(checker, "it lies outside the workspace");
		if (task_entries && !within(tensor->unshared_offset, tensor->bytes, plan->unshared_workspace_size))
			return fail(checker, "it lies outside the unshared workspace");
		return true;
	case SK_SPACE_CONSTANT:
		if (tensor->role != SK_ROLE_CONSTANT)
			return fail(checker, "it lies among the constants, but is none");
		if (!within(tensor->offset, tensor->bytes, plan->constants_size))
			return fail(checker, "it lies outside the constants");
		return true;
	default:
		return fail(checker, "space %u is unknown", tensor->space);
	}
}

static bool check_tensors(struct checker *checker)
{
	const struct sk_plan_view *view = checker->view;

	checker->record = "tensor";
	for (uint32_t i = 0; i < view->tensor_count; i++) {
		const struct sk_plan_tensor *tensor = &view->tensors[i];
		uint64_t bytes;

		checker->index = i;
		if (!check_string(checker, &tensor->name, "the name", REQUIRED))
			return false;
		if (tensor->dtype == SK_DTYPE_NONE || tensor->dtype >= SK_DTYPE_COUNT)
			return fail(checker, "element type %u is unknown", tensor->dtype);
		if (tensor->rank > SK_MAX_RANK)
			return fail(checker, "rank %u is too large (at most %d)", tensor->rank, SK_MAX_RANK);
		if (tensor->role > SK_ROLE_TEMPORARY)
			return fail(checker, "role %u is unknown", tensor->role);
		if (!shape_bytes(tensor, &bytes) || bytes != tensor->bytes)
			return fail(checker, "it has %" PRIu64 " bytes, which its shape contradicts", tensor->bytes);
		if (tensor->reserved)
			return fail(checker, "a reserved field is not zero");
		if (!check_tensor_space(checker, tensor))
			return false;
	}
	return true;
}

static bool check_bindings(struct checker *checker)
{
	const struct sk_plan_view *view = checker->view;

	checker->record = "binding";
	for (uint32_t i = 0; i < view->binding_count; i++) {
		checker->index = i;
		if (view->bindings[i] >= view->tensor_count)
			return fail(checker, "tensor %u is out of range (%u tensors)", view->bindings[i],
				    view->tensor_count);

		const struct sk_plan_tensor *tensor = &view->tensors[view->bindings[i]];

		if (tensor->space != SK_SPACE_BINDING || tensor->index != i || tensor->offset != 0)
			return fail(checker, "tensor %u is not what is bound there", view->bindings[i]);
	}
	return true;
}

/* One launch's slice of a shared table: behind those of the launches before it, and inside the table. */
static bool check_slice(const struct checker *checker, const char *name, uint32_t first, uint32_t count, uint64_t *end,
			uint32_t limit)
{
	if (count == 0)
		return true;
	if (first < *end)
		return fail(checker, "its %s overlap those of another one", name);
	if (!within(first, count, limit))
		return fail(checker, "%s %u to %" PRIu64 " are out of range (%u in all)", name, first,
			    (uint64_t)first + count - 1, limit);
	*end = (uint64_t)first + count;
	return true;
}

static bool check_launch_record(const struct checker *checker, const struct sk_plan_launch *launch)
{
	uint64_t steps = 0;

	if (!check_string(checker, &launch->name, "the name", REQUIRED) ||
	    !check_string(checker, &launch->scope, "the scope", OPTIONAL))
		return false;
	if (launch->kind >= SK_LAUNCH_KIND_COUNT)
		return fail(checker, "kind %u is unknown", launch->kind);
	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++) {
		if (lane >= checker->view->lane_count && launch->lane_steps[lane])
			return fail(checker, "it has steps on lane %u, which there is not", lane);
		steps += launch->lane_steps[lane];
	}
	if (launch->step_count == 0 || steps != launch->step_count)
		return fail(checker, "it has %u steps, but its lanes have %" PRIu64, launch->step_count, steps);
	if (launch->scratch_size % 64)
		return fail(checker, "its scratch size is not a multiple of 64");
	return true;
}

static bool check_launches(struct checker *checker, struct sk_plan_view *view)
{
	uint64_t steps = 0, follows = 0, partitions = 0, homes = 0, owned = 0;

	checker->record = "launch";
	for (uint32_t i = 0; i < view->launch_count; i++) {
		const struct sk_plan_launch *launch = &view->launches[i];

		checker->index = i;
		if (!check_launch_record(checker, launch) ||
		    !check_slice(checker, "steps", launch->first_step, launch->step_count, &steps, view->step_count) ||
		    !check_slice(checker, "follows", launch->first_follow, launch->follow_count, &follows,
				 view->follow_count) ||
		    !check_slice(checker, "partitions", launch->first_partition, launch->partition_count, &partitions,
				 view->partition_count) ||
		    !check_slice(checker, "homes", launch->first_home, launch->home_count, &homes, view->home_count))
			return false;
		owned += launch->step_count;
		if (!is_task_launch(launch) && view->network_launch_count < i)
			return fail(checker, "a launch of the network stands behind a task's entry");
		if (!is_task_launch(launch))
			view->network_launch_count = i + 1;
	}
	checker->record = NULL;
	if (owned != view->step_count)
		return fail(checker, "%" PRIu64 " steps belong to no launch", view->step_count - owned);
	return true;
}

bool sk_plan_open(const void *bytes, size_t size, struct sk_plan_view *view, char *error, size_t error_size)
{
	struct checker checker = checker_at(view, error, error_size);

	*view = (struct sk_plan_view){.plan = bytes};
	if ((uintptr_t)bytes % 8)
		return fail(&checker, "it is not aligned to 8 bytes");
	if (size < sizeof(struct sk_plan))
		return fail(&checker, "%zu bytes are too few", size);
	return check_header(&checker, view->plan, size) && open_tables(&checker, view) && check_lanes(&checker) &&
	       check_launches(&checker, view) && check_kernels(&checker) && check_tasks(&checker) &&
	       check_tensors(&checker) && check_bindings(&checker);
}

/* ---- one launch ---- */

static bool is_divided(const struct sk_plan_step *step)
{
	return step->kind == SK_STEP_SPLIT || step->kind == SK_STEP_BLOCKS_RANGE;
}

struct sk_units sk_plan_units(const struct sk_plan_view *view, const struct sk_plan_step *step,
			      const struct sk_plan_argument *argument)
{
	if (!is_divided(step) || argument->element_bytes == 0)
		return (struct sk_units){0, 0};
	if (step->kind == SK_STEP_SPLIT) {
		uint64_t unit = view->partitions[step->partition].unit;

		return (struct sk_units){(step->extent - 1) / unit + 1, unit * argument->element_bytes};
	}
	if (step->extent % step->blocks)
		return (struct sk_units){step->blocks, 0};
	return (struct sk_units){step->blocks, step->extent / step->blocks * argument->element_bytes};
}

static uint32_t dtype_size_or_none(const struct sk_plan_argument *argument)
{
	return argument->dtype < SK_DTYPE_COUNT ? sk_dtype_size(argument->dtype) : 0;
}

/* [offset, offset + size) of POINTER, LOAD and RESULT lies in its space, and the dtype's alignment holds. */
static bool check_range(const struct checker *checker, const struct sk_plan_launch *launch,
			const struct sk_plan_argument *argument)
{
	const struct sk_plan_view *view = checker->view;
	const struct sk_plan *plan = view->plan;
	uint64_t limit;

	if (argument->space != SK_SPACE_BINDING && argument->index != 0)
		return fail(checker, "only bindings and states have numbers");
	switch (argument->space) {
	case SK_SPACE_BINDING:
		if (argument->index >= view->binding_count)
			return fail(checker, "binding %u is out of range (%u bindings)", argument->index,
				    view->binding_count);
		limit = view->tensors[view->bindings[argument->index]].bytes;
		break;
	case SK_SPACE_WORKSPACE:
		limit = is_task_launch(launch) ? plan->unshared_workspace_size : plan->workspace_size;
		break;
	case SK_SPACE_CONSTANT:
		limit = plan->constants_size;
		break;
	default:
		return fail(checker, "space %u has no addresses", argument->space);
	}
	if (argument->size == 0 || !within(argument->offset, argument->size, limit))
		return fail(checker, "%" PRIu64 " bytes at offset %" PRIu64 " lie outside the %" PRIu64 " bytes there",
			    argument->size, argument->offset, limit);
	if (argument->offset % dtype_size_or_none(argument))
		return fail(checker, "offset %" PRIu64 " is not aligned for %s", argument->offset,
			    sk_dtype_name(argument->dtype));
	return true;
}

static bool check_division(const struct checker *checker, const struct sk_plan_step *step,
			   const struct sk_plan_argument *argument)
{
	uint64_t bytes;

	if (argument->element_bytes == 0)
		return true;
	if (!is_divided(step))
		return fail(checker, "it is divided, but its step is not");
	if (__builtin_mul_overflow(argument->element_bytes, step->extent, &bytes) || bytes > argument->size)
		return fail(checker, "%" PRIu64 " elements of %" PRIu64 " bytes are more than its %" PRIu64 " bytes",
			    step->extent, argument->element_bytes, argument->size);
	if (argument->element_bytes % dtype_size_or_none(argument))
		return fail(checker, "a part of %" PRIu64 " bytes is no whole number of elements",
			    argument->element_bytes);
	/* sk_plan_units multiplies without checking. */
	if (step->kind == SK_STEP_SPLIT &&
	    __builtin_mul_overflow(checker->view->partitions[step->partition].unit, argument->element_bytes, &bytes))
		return fail(checker, "the bytes of a unit overflow");
	return true;
}

static bool check_pointer(const struct checker *checker, const struct sk_plan_launch *launch,
			  const struct sk_plan_step *step, const struct sk_plan_argument *argument)
{
	if (argument->access == 0 || argument->access > (SK_ACCESS_READ | SK_ACCESS_WRITE))
		return fail(checker, "access %u is unknown", argument->access);
	if ((argument->access & SK_ACCESS_WRITE) && argument->space == SK_SPACE_CONSTANT)
		return fail(checker, "it writes a constant");
	return check_range(checker, launch, argument) && check_division(checker, step, argument);
}

/* LOAD and RESULT: one scalar in memory. */
static bool check_cell(const struct checker *checker, const struct sk_plan_launch *launch,
		       const struct sk_plan_argument *argument)
{
	if (argument->size != dtype_size_or_none(argument) || argument->element_bytes)
		return fail(checker, "it is not one %s", sk_dtype_name(argument->dtype));
	if (argument->kind == SK_ARGUMENT_RESULT && argument->space == SK_SPACE_CONSTANT)
		return fail(checker, "it writes a constant");
	return check_range(checker, launch, argument);
}

static bool check_value(const struct checker *checker, const struct sk_plan_argument *argument)
{
	uint32_t bits = 8 * dtype_size_or_none(argument);

	if (bits < 64 && argument->value >> bits)
		return fail(checker, "its value does not fit into %s", sk_dtype_name(argument->dtype));
	return true;
}

/* What each kind of argument may have; the checks above look at the rest. */
static bool check_argument(const struct checker *checker, const struct sk_plan_launch *launch,
			   const struct sk_plan_step *step, const struct sk_plan_argument *argument)
{
	bool by_reference = argument->flags & SK_ARGUMENT_BY_REFERENCE;
	bool typed = argument->kind <= SK_ARGUMENT_LOAD || argument->kind == SK_ARGUMENT_RESULT;

	if (argument->kind == SK_ARGUMENT_NONE || argument->kind >= SK_ARGUMENT_KIND_COUNT)
		return fail(checker, "kind %u is unknown", argument->kind);
	if (typed && dtype_size_or_none(argument) == 0)
		return fail(checker, "element type %u is unknown", argument->dtype);
	if ((argument->flags & ~(uint32_t)SK_ARGUMENT_BY_REFERENCE) || argument->reserved)
		return fail(checker, "a reserved field is not zero");
	if (by_reference && argument->kind != SK_ARGUMENT_VALUE && argument->kind != SK_ARGUMENT_LENGTH)
		return fail(checker, "only scalars are passed by reference");
	switch (argument->kind) {
	case SK_ARGUMENT_POINTER:
		return check_pointer(checker, launch, step, argument);
	case SK_ARGUMENT_VALUE:
		return check_value(checker, argument);
	case SK_ARGUMENT_LENGTH:
		if (argument->dtype > SK_U64)
			return fail(checker, "a length cannot be %s", sk_dtype_name(argument->dtype));
		return is_divided(step) || fail(checker, "its step has no extent");
	case SK_ARGUMENT_LOAD:
	case SK_ARGUMENT_RESULT:
		return check_cell(checker, launch, argument);
	case SK_ARGUMENT_BLOCK:
		return step->blocks != 0 || fail(checker, "its step has no blocks");
	case SK_ARGUMENT_SCRATCH:
		return within(argument->offset, argument->size, launch->scratch_size) ||
		       fail(checker, "it lies outside the launch's scratch of %" PRIu64 " bytes", launch->scratch_size);
	case SK_ARGUMENT_STATE:
		return argument->space == SK_SPACE_STATE || fail(checker, "a state in space %u", argument->space);
	}
	return false;
}

static bool check_arguments(struct checker *checker, const struct sk_plan_launch *launch,
			    const struct sk_plan_step *step)
{
	const struct sk_plan_view *view = checker->view;
	bool result = false;

	for (uint32_t i = 0; i < step->argument_count; i++) {
		const struct sk_plan_argument *argument = &view->arguments[step->first_argument + i];

		checker->argument = i;
		if (!check_argument(checker, launch, step, argument))
			return false;
		if (argument->kind == SK_ARGUMENT_RESULT && result)
			return fail(checker, "a call has one result");
		result |= argument->kind == SK_ARGUMENT_RESULT;
		if (result && (step->flags & SK_STEP_STATUS))
			return fail(checker, "the returned value cannot be both a status and a result");
	}
	checker->argument = SK_NO_INDEX;
	return true;
}

static bool within_slice(uint32_t index, uint32_t first, uint32_t count)
{
	return index >= first && index - first < count;
}

/* The fields that say how the step spreads over its cores. */
static bool check_spread(const struct checker *checker, const struct sk_plan_launch *launch,
			 const struct sk_plan_step *step)
{
	const struct sk_plan_view *view = checker->view;
	bool blocks = step->kind == SK_STEP_BLOCKS || step->kind == SK_STEP_BLOCKS_RANGE;
	const struct sk_plan_partition *partition;

	if (step->kind >= SK_STEP_KIND_COUNT)
		return fail(checker, "kind %u is unknown", step->kind);
	if ((step->kind == SK_STEP_PLAIN) == (step->core_set == SK_ALL_CORES))
		return fail(checker, "a plain step runs on a home, any other step on all cores");
	if (step->core_set != SK_ALL_CORES && (!within_slice(step->core_set, launch->first_home, launch->home_count) ||
					       view->homes[step->core_set].lane != step->lane))
		return fail(checker, "home %u is not one of its lane in its launch", step->core_set);
	if (blocks != (step->blocks != 0))
		return fail(checker, "%u blocks do not fit its kind", step->blocks);
	if (is_divided(step) != (step->extent != 0))
		return fail(checker, "extent %" PRIu64 " does not fit its kind", step->extent);
	if (!is_divided(step))
		return step->partition == SK_NO_INDEX || fail(checker, "it has a partition but no extent");
	if (!within_slice(step->partition, launch->first_partition, launch->partition_count))
		return fail(checker, "partition %u is not one of its launch's", step->partition);
	partition = &view->partitions[step->partition];
	if (step->kind == SK_STEP_SPLIT && partition->extent != step->extent)
		return fail(checker, "its partition divides %" PRIu64 " elements, not its %" PRIu64, partition->extent,
			    step->extent);
	if (step->kind == SK_STEP_BLOCKS_RANGE && (partition->extent != step->blocks || partition->unit != 1))
		return fail(checker, "its partition does not divide its %u blocks", step->blocks);
	return true;
}

static bool check_step(struct checker *checker, const struct sk_plan_launch *launch, const struct sk_plan_step *step)
{
	const struct sk_plan_view *view = checker->view;

	if (step->task >= view->task_count)
		return fail(checker, "task %u is out of range (%u tasks)", step->task, view->task_count);
	const struct sk_plan_task *task = &view->tasks[step->task];

	if ((is_task_launch(launch) ? task->task_launch : task->launch) != checker->index)
		return fail(checker, "task %u does not belong to this launch", step->task);
	if (step->kernel >= view->kernel_count)
		return fail(checker, "kernel %u is out of range (%u kernels)", step->kernel, view->kernel_count);
	if (step->kernel != task->kernel)
		return fail(checker, "kernel %u is not its task's", step->kernel);
	if (step->lane >= view->lane_count)
		return fail(checker, "lane %u is out of range (%u lanes)", step->lane, view->lane_count);
	if (step->flags & ~(SK_STEP_PUBLISH | SK_STEP_STATUS | SK_STEP_NONTEMPORAL) || step->reserved)
		return fail(checker, "a reserved field is not zero");
	return check_spread(checker, launch, step) && check_arguments(checker, launch, step);
}

static bool check_awaits(const struct checker *checker, const struct sk_plan_launch *launch,
			 const struct sk_plan_step *step)
{
	const struct sk_plan_view *view = checker->view;
	uint32_t own = (uint32_t)(step - view->steps);

	for (uint32_t i = 0; i < step->await_count; i++) {
		uint32_t awaited = view->awaits[step->first_await + i].step;

		if (awaited < launch->first_step || awaited >= own)
			return fail(checker, "it awaits step record %u, which is no earlier step of its launch",
				    awaited);
	}
	return true;
}

static bool check_steps(struct checker *checker, const struct sk_plan_launch *launch)
{
	const struct sk_plan_view *view = checker->view;
	uint32_t numbers[SK_MAX_LANES] = {0};
	uint64_t arguments = 0, awaits = 0;

	for (uint32_t i = 0; i < launch->step_count; i++) {
		const struct sk_plan_step *step = &view->steps[launch->first_step + i];

		checker->step = i;
		if (!check_slice(checker, "arguments", step->first_argument, step->argument_count, &arguments,
				 view->argument_count) ||
		    !check_slice(checker, "awaits", step->first_await, step->await_count, &awaits, view->await_count) ||
		    !check_step(checker, launch, step) || !check_awaits(checker, launch, step))
			return false;
		if (step->number != ++numbers[step->lane])
			return fail(checker, "its number is %u, but its lane's next one is %u", step->number,
				    numbers[step->lane]);
	}
	checker->step = SK_NO_INDEX;
	for (uint32_t lane = 0; lane < view->lane_count; lane++)
		if (numbers[lane] != launch->lane_steps[lane])
			return fail(checker, "lane %u has %u steps instead of %u", lane, numbers[lane],
				    launch->lane_steps[lane]);
	return true;
}

bool sk_plan_check_launch(const struct sk_plan_view *view, uint32_t launch, char *error, size_t error_size)
{
	struct checker checker = checker_at(view, error, error_size);

	checker.record = "launch";
	checker.index = launch;
	if (launch >= view->launch_count)
		return fail(&checker, "it is out of range (%u launches)", view->launch_count);

	const struct sk_plan_launch *record = &view->launches[launch];

	for (uint32_t i = 0; i < record->follow_count; i++) {
		uint32_t follow = view->follows[record->first_follow + i];

		if (follow >= launch || follow >= view->network_launch_count)
			return fail(&checker, "it follows launch %u, which is not an earlier one of the network",
				    follow);
	}
	for (uint32_t i = 0; i < record->partition_count; i++)
		if (view->partitions[record->first_partition + i].extent == 0 ||
		    view->partitions[record->first_partition + i].unit == 0)
			return fail(&checker, "partition %u is empty", record->first_partition + i);
	for (uint32_t i = 0; i < record->home_count; i++)
		if (view->homes[record->first_home + i].lane >= view->lane_count)
			return fail(&checker, "home %u is on lane %u, which there is not", i,
				    view->homes[record->first_home + i].lane);
	return check_steps(&checker, record);
}

bool sk_plan_check_all(const struct sk_plan_view *view, char *error, size_t error_size)
{
	struct checker checker = checker_at(view, error, error_size);
	uint64_t arguments = 0, awaits = 0;

	/* One launch's steps cannot share records, but those of two launches could. */
	for (uint32_t i = 0; i < view->step_count; i++) {
		arguments += view->steps[i].argument_count;
		awaits += view->steps[i].await_count;
	}
	if (arguments > view->argument_count || awaits > view->await_count)
		return fail(&checker,
			    "its steps claim %" PRIu64 " arguments and %" PRIu64 " awaits, more than there are",
			    arguments, awaits);
	for (uint32_t i = 0; i < view->launch_count; i++)
		if (!sk_plan_check_launch(view, i, error, error_size))
			return false;
	return true;
}
