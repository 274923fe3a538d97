/* The plan's reader, first half: the header, the tables, the records outside launches; see plan.h for its guarantees.
 * In: the bytes of an untrusted section. Out: a view that is used in place, or a sentence that names the record and the
 * error.
 *
 * All positions are offsets from the section's start, in 64 bits, so that no pointer is followed before it is known to
 * be inside. Slices of tables must be in the order of their owners and must not overlap. A slice may also be shared if
 * it is no longer than another slice of its owner that is not. The time for checking is therefore bounded by the
 * section's size. */
#include "format/plan/plan-checker.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "format/plan/plan.h"
#include "format/skabi.h"
#include "format/skdims.h"
#include "format/skplan.h"

/* The sizes are part of the format: a change requires a new SK_PLAN_VERSION. */
_Static_assert(sizeof(struct sk_plan) == 368, "struct sk_plan");
_Static_assert(sizeof(struct sk_plan_form) == 80, "struct sk_plan_form");
_Static_assert(sizeof(struct sk_plan_launch) == 32, "struct sk_plan_launch");
_Static_assert(sizeof(struct sk_plan_task) == 36, "struct sk_plan_task");
_Static_assert(sizeof(struct sk_plan_cost) == 64, "struct sk_plan_cost");
_Static_assert(sizeof(struct sk_plan_kernel) == 48, "struct sk_plan_kernel");
_Static_assert(sizeof(struct sk_plan_type) == 88, "struct sk_plan_type");
_Static_assert(sizeof(struct sk_plan_tensor) == 32, "struct sk_plan_tensor");
_Static_assert(sizeof(struct sk_plan_step) == 56, "struct sk_plan_step");
_Static_assert(sizeof(struct sk_plan_call) == 40, "struct sk_plan_call");
_Static_assert(sizeof(struct sk_plan_argument) == 48, "struct sk_plan_argument");
_Static_assert(sizeof(struct sk_plan_loop) == 16, "struct sk_plan_loop");
_Static_assert(sizeof(struct sk_plan_term) == 40, "struct sk_plan_term");
_Static_assert(sizeof(struct sk_plan_pattern) == 136, "struct sk_plan_pattern");
_Static_assert(sizeof(struct sk_plan_symbol) == 8, "struct sk_plan_symbol");
_Static_assert(sizeof(struct sk_plan_partition) == 40, "struct sk_plan_partition");

bool sk_plan_fail(const struct sk_plan_checker *checker, const char *format, ...)
{
	char where[96] = "", what[256];
	size_t used = 0;
	va_list args;

	if (checker->record)
		used += (size_t)snprintf(where, sizeof(where), "%s %u: ", checker->record, checker->index);
	if (checker->step != SK_NO_INDEX)
		used += (size_t)snprintf(where + used, sizeof(where) - used, "step %u: ", checker->step);
	if (checker->call != SK_NO_INDEX)
		used += (size_t)snprintf(where + used, sizeof(where) - used, "call %u: ", checker->call);
	if (checker->argument != SK_NO_INDEX)
		snprintf(where + used, sizeof(where) - used, "argument %u: ", checker->argument);
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (checker->error_size)
		snprintf(checker->error, checker->error_size, "plan: %s%s", where, what);
	return false;
}

struct sk_plan_checker sk_plan_checker_at(const struct sk_plan_view *view, char *error, size_t error_size)
{
	return (struct sk_plan_checker){.view = view,
					.step = SK_NO_INDEX,
					.call = SK_NO_INDEX,
					.argument = SK_NO_INDEX,
					.error = error,
					.error_size = error_size};
}

bool sk_plan_within(uint64_t offset, uint64_t size, uint64_t limit)
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

/* Return the offset in the section that a place-relative field refers to; negative or beyond the end if the field is
 * invalid. */
static int64_t field_target(const struct sk_plan *plan, const int32_t *field)
{
	return ((const char *)field - (const char *)plan) + (int64_t)*field;
}

enum presence { OPTIONAL, REQUIRED };

static bool check_string(const struct sk_plan_checker *checker, const int32_t *field, const char *what,
			 enum presence presence)
{
	const struct sk_plan *plan = checker->view->plan;

	if (*field == 0)
		return presence == OPTIONAL || sk_plan_fail(checker, "%s is missing", what);

	int64_t target = field_target(plan, field), strings = field_target(plan, &plan->strings.offset);

	if (target < strings || target - strings >= (int64_t)plan->strings.count)
		return sk_plan_fail(checker, "%s lies outside the strings", what);
	if (presence == REQUIRED && *sk_plan_string(field) == '\0')
		return sk_plan_fail(checker, "%s is empty", what);
	return true;
}

/* True if a field refers to a record of the table, inside the section. */
static bool is_record(const struct sk_plan *plan, const int32_t *field, const struct sk_plan_table *table, size_t size)
{
	int64_t place = field_target(plan, field) - field_target(plan, &table->offset);

	return place >= 0 && place % (int64_t)size == 0 && place / (int64_t)size < (int64_t)table->count;
}

bool sk_plan_has_form(const struct sk_plan_view *view, const struct sk_plan_launch *launch)
{
	return is_record(view->plan, &launch->form, &view->plan->forms, sizeof(struct sk_plan_form));
}

static bool has_type(const struct sk_plan_view *view, const struct sk_plan_tensor *tensor)
{
	return is_record(view->plan, &tensor->type, &view->plan->types, sizeof(struct sk_plan_type));
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
	TABLE(forms, struct sk_plan_form, forms, form_count),
	TABLE(launches, struct sk_plan_launch, launches, launch_count),
	TABLE(tasks, struct sk_plan_task, tasks, task_count),
	TABLE(costs, struct sk_plan_cost, costs, cost_count),
	TABLE(kernels, struct sk_plan_kernel, kernels, kernel_count),
	TABLE(types, struct sk_plan_type, types, type_count),
	TABLE(tensors, struct sk_plan_tensor, tensors, tensor_count),
	TABLE(bindings, uint32_t, bindings, binding_count),
	TABLE(steps, struct sk_plan_step, steps, step_count),
	TABLE(calls, struct sk_plan_call, calls, call_count),
	TABLE(awaits, struct sk_plan_await, awaits, await_count),
	TABLE(arguments, struct sk_plan_argument, arguments, argument_count),
	TABLE(lists, struct sk_plan_argument, lists, list_count),
	TABLE(operands, uint32_t, operands, operand_count),
	TABLE(loops, struct sk_plan_loop, loops, loop_count),
	TABLE(terms, struct sk_plan_term, terms, term_count),
	TABLE(patterns, struct sk_plan_pattern, patterns, pattern_count),
	TABLE(symbols, struct sk_plan_symbol, symbols, symbol_count),
	TABLE(partitions, struct sk_plan_partition, partitions, partition_count),
	TABLE(homes, struct sk_plan_home, homes, home_count),
	TABLE(follows, uint32_t, follows, follow_count),
};

static bool check_extent_of(const struct sk_plan_checker *checker, const char *name, const struct sk_plan_table *table,
			    uint64_t record_size, uint64_t alignment)
{
	const struct sk_plan *plan = checker->view->plan;
	int64_t start = field_target(plan, &table->offset);

	if (table->count == 0)
		return true;
	if (start < (int64_t)sizeof(*plan) || !sk_plan_within((uint64_t)start, table->count * record_size, plan->size))
		return sk_plan_fail(checker, "the table of %s (%u records) lies outside the plan", name, table->count);
	if ((uint64_t)start % alignment)
		return sk_plan_fail(checker, "the table of %s is not aligned to %" PRIu64 " bytes", name, alignment);
	return true;
}

static bool open_tables(const struct sk_plan_checker *checker, struct sk_plan_view *view)
{
	const struct sk_plan *plan = view->plan;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		const struct table *entry = &tables[i];
		const struct sk_plan_table *table = (const void *)((const char *)plan + entry->table);
		bool is_made = table == &plan->arguments && plan->lists.count;

		if (is_made && table->offset)
			return sk_plan_fail(checker, "it has arguments, and lists of them");
		if (!is_made && !check_extent_of(checker, entry->name, table, entry->record_size,
						 entry->record_size % 8 == 0 ? 8 : 4))
			return false;

		const void *records = table->count && !is_made ? sk_plan_address(&table->offset) : NULL;

		memcpy((char *)view + entry->view_pointer, &records, sizeof(records));
		memcpy((char *)view + entry->view_count, &table->count, sizeof(table->count));
	}
	if (!check_extent_of(checker, "strings", &plan->strings, 1, 1))
		return false;
	if (plan->strings.count && sk_plan_string(&plan->strings.offset)[plan->strings.count - 1] != '\0')
		return sk_plan_fail(checker, "the last string has no end");
	return true;
}

static bool check_header(const struct sk_plan_checker *checker, const struct sk_plan *plan, size_t size)
{
	if (plan->magic != SK_PLAN_MAGIC)
		return sk_plan_fail(checker, "it has no plan's magic number");
	if (plan->version != SK_PLAN_VERSION)
		return sk_plan_fail(checker, "version %u is not supported (this is %u)", plan->version,
				    SK_PLAN_VERSION);
	if (plan->abi_version != SK_ABI_VERSION)
		return sk_plan_fail(checker, "dispatcher ABI version %u is not supported (this is %u)",
				    plan->abi_version, SK_ABI_VERSION);
	if (plan->size < sizeof(*plan) || plan->size > size || plan->size > INT64_MAX)
		return sk_plan_fail(checker, "it claims %" PRIu64 " bytes and has %zu", plan->size, size);
	return true;
}

/* ---- records outside launches ---- */

static bool check_lanes(struct sk_plan_checker *checker)
{
	const struct sk_plan_view *view = checker->view;

	if (view->lane_count == 0 || view->lane_count > SK_MAX_LANES)
		return sk_plan_fail(checker, "%u lanes are not supported (at most %d)", view->lane_count, SK_MAX_LANES);
	for (uint32_t i = 0; i < view->lane_count; i++)
		if (!check_string(checker, &view->lanes[i], "a lane's name", REQUIRED))
			return false;
	for (uint32_t i = 0; i < SK_MAX_LANES; i++)
		if (view->plan->resident_cores[i] > (i < view->lane_count ? SK_MAX_RESIDENT : 0))
			return sk_plan_fail(checker, "it needs %u cores of lane %u", view->plan->resident_cores[i], i);
	for (uint32_t i = view->lane_count; i < SK_MAX_LANES; i++)
		if (view->plan->device_cores[i])
			return sk_plan_fail(checker, "the device has cores in lane %u, which there is not", i);
	return check_string(checker, &view->plan->device, "the device's name", OPTIONAL);
}

static bool check_kernels(struct sk_plan_checker *checker)
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
		if (kernel->isa & ~view->plan->isa)
			return sk_plan_fail(checker, "it needs more instruction sets than the package");
		if (kernel->first_copy >= view->kernel_count)
			return sk_plan_fail(checker, "its first copy, kernel %u, is out of range (%u kernels)",
					    kernel->first_copy, view->kernel_count);
		if (kernel->early & ~(uint32_t)(SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET))
			return sk_plan_fail(checker, "ways 0x%x to start early are unknown", kernel->early);
		if (kernel->flags & ~(uint32_t)SK_KERNEL_FLAGS)
			return sk_plan_fail(checker, "flags 0x%x are unknown", kernel->flags);
	}
	return true;
}

static bool check_symbols(struct sk_plan_checker *checker)
{
	checker->record = "symbol";
	for (uint32_t i = 0; i < checker->view->symbol_count; i++) {
		checker->index = i;
		if (!check_string(checker, &checker->view->symbols[i].name, "the name", REQUIRED))
			return false;
	}
	return true;
}

static bool check_cost(const struct sk_plan_checker *checker, const struct sk_plan_cost *cost)
{
	const uint64_t *values = cost->values;
	uint64_t compute = values[SK_COST_CYCLES] + values[SK_COST_OPERATIONS];

	for (enum sk_cost i = 0; i < SK_COST_COUNT; i++)
		if (values[i] > (sk_cost_gives(cost, i) ? SK_COST_MAX : 0))
			return sk_plan_fail(checker, "%" PRIu64 " %s are not possible", values[i], sk_cost_name(i));
	if (cost->given >> SK_COST_COUNT ||
	    (sk_cost_gives(cost, SK_COST_CYCLES) && sk_cost_gives(cost, SK_COST_OPERATIONS)))
		return sk_plan_fail(checker, "values 0x%x are unknown", cost->given);
	if (values[SK_COST_BEFORE_WAIT] + values[SK_COST_AFTER_SET] > compute)
		return sk_plan_fail(checker, "a part of it is more than the whole");
	if (cost->reserved)
		return sk_plan_fail(checker, "a reserved field is not zero");
	return true;
}

static bool check_costs(struct sk_plan_checker *checker)
{
	checker->record = "cost";
	for (uint32_t i = 0; i < checker->view->cost_count; i++) {
		checker->index = i;
		if (!check_cost(checker, &checker->view->costs[i]))
			return false;
	}
	return true;
}

static bool check_cost_index(const struct sk_plan_checker *checker, uint32_t cost)
{
	if (cost == SK_NO_INDEX || cost < checker->view->cost_count)
		return true;
	return sk_plan_fail(checker, "cost %u is out of range (%u costs)", cost, checker->view->cost_count);
}

static bool check_tasks(struct sk_plan_checker *checker)
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
			return sk_plan_fail(checker, "kernel %u is out of range (%u kernels)", task->kernel,
					    view->kernel_count);
		if (task->launch >= view->network_launch_count)
			return sk_plan_fail(checker, "launch %u is out of range (%u launches of the network)",
					    task->launch, view->network_launch_count);
		if (task->task_launch != SK_NO_INDEX &&
		    (task->task_launch >= view->launch_count || task->task_launch < view->network_launch_count))
			return sk_plan_fail(checker, "launch %u is not a task's entry", task->task_launch);
		if (!check_cost_index(checker, task->cost) || !check_cost_index(checker, task->vector_cost))
			return false;
		if (task->cost == SK_NO_INDEX && task->vector_cost != SK_NO_INDEX)
			return sk_plan_fail(checker, "its vector side has a cost, but its cube side has none");
	}
	return true;
}

/* Compute the bytes of the shape; false on overflow, also of strides beside an extent of 0. */
static bool shape_bytes(const struct sk_plan_type *type, uint64_t *bytes)
{
	bool empty = false;

	*bytes = sk_dtype_size(type->dtype);
	for (uint32_t i = 0; i < type->rank; i++) {
		empty |= type->shape[i] == 0;
		if (__builtin_mul_overflow(*bytes, type->shape[i] ? type->shape[i] : 1, bytes))
			return false;
	}
	*bytes = empty ? 0 : *bytes;
	return true;
}

static bool check_tensor_space(const struct sk_plan_checker *checker, const struct sk_plan_tensor *tensor)
{
	const struct sk_plan_view *view = checker->view;
	const struct sk_plan *plan = view->plan;
	const struct sk_plan_type *type = sk_plan_type(tensor);
	const struct sk_plan_tensor *bound;
	bool task_entries = view->network_launch_count < view->launch_count;

	switch (tensor->space) {
	case SK_SPACE_NONE:
		return true;
	case SK_SPACE_BINDING:
		if (tensor->role != SK_ROLE_INPUT && tensor->role != SK_ROLE_OUTPUT && tensor->role != SK_ROLE_INOUT)
			return sk_plan_fail(checker, "its role does not allow a binding");
		if (tensor->index >= view->binding_count)
			return sk_plan_fail(checker, "binding %u is out of range (%u bindings)", tensor->index,
					    view->binding_count);
		if (view->bindings[tensor->index] >= view->tensor_count)
			return true; /* check_bindings reports it */
		bound = &view->tensors[view->bindings[tensor->index]];
		if (!has_type(view, bound))
			return true; /* check_tensor reports it for that one */
		if (!sk_plan_within(tensor->offset, type->bytes, sk_plan_type(bound)->bytes))
			return sk_plan_fail(checker, "it lies outside its binding");
		return true;
	case SK_SPACE_WORKSPACE:
	case SK_SPACE_SCRATCH:
		if (tensor->role != SK_ROLE_TEMPORARY)
			return sk_plan_fail(checker, "only temporaries lie in the workspace, or in the scratch");
		if (tensor->space == SK_SPACE_WORKSPACE &&
		    !sk_plan_within(tensor->offset, type->bytes + type->padding, plan->workspace_size))
			return sk_plan_fail(checker, "it lies outside the workspace");
		if (task_entries && !sk_plan_within(tensor->unshared_offset, type->bytes + type->padding,
						    plan->unshared_workspace_size))
			return sk_plan_fail(checker, "it lies outside the unshared workspace");
		return true;
	case SK_SPACE_CONSTANT:
		if (tensor->role != SK_ROLE_CONSTANT)
			return sk_plan_fail(checker, "it lies among the constants, but is none");
		if (!sk_plan_within(tensor->offset, type->bytes + type->padding, plan->constants_size))
			return sk_plan_fail(checker, "it lies outside the constants");
		return true;
	default:
		return sk_plan_fail(checker, "space %u is unknown", tensor->space);
	}
}

/* Errors of a shared type are reported for the first of its tensors. */
static bool check_type(const struct sk_plan_checker *checker, const struct sk_plan_type *type)
{
	uint64_t bytes;

	if (type->dtype == SK_DTYPE_NONE || type->dtype >= SK_DTYPE_COUNT)
		return sk_plan_fail(checker, "element type %u is unknown", type->dtype);
	if (type->rank > SK_MAX_RANK)
		return sk_plan_fail(checker, "rank %u is too large (at most %d)", type->rank, SK_MAX_RANK);
	if (type->reserved)
		return sk_plan_fail(checker, "a reserved field is not zero");
	if (!shape_bytes(type, &bytes) || bytes != type->bytes)
		return sk_plan_fail(checker, "it has %" PRIu64 " bytes, which its shape contradicts", type->bytes);
	if (type->padding > INT64_MAX - type->bytes)
		return sk_plan_fail(checker, "a padding of %" PRIu64 " bytes is too much", type->padding);
	return check_string(checker, &type->range, "the range", OPTIONAL);
}

static bool check_tensor(struct sk_plan_checker *checker, uint32_t index)
{
	const struct sk_plan_view *view = checker->view;
	const struct sk_plan_tensor *tensor = &view->tensors[index];

	checker->record = "tensor";
	checker->index = index;
	if (!check_string(checker, &tensor->name, "the name", REQUIRED))
		return false;
	if (!has_type(view, tensor))
		return sk_plan_fail(checker, "its type is none of %u", view->type_count);
	if (!check_type(checker, sk_plan_type(tensor)))
		return false;
	if (tensor->role > SK_ROLE_TEMPORARY)
		return sk_plan_fail(checker, "role %u is unknown", tensor->role);
	if (tensor->reserved)
		return sk_plan_fail(checker, "a reserved field is not zero");
	return check_tensor_space(checker, tensor);
}

static bool check_bindings(struct sk_plan_checker *checker)
{
	const struct sk_plan_view *view = checker->view;

	for (uint32_t i = 0; i < view->binding_count; i++) {
		checker->record = "binding";
		checker->index = i;
		if (view->bindings[i] >= view->tensor_count)
			return sk_plan_fail(checker, "tensor %u is out of range (%u tensors)", view->bindings[i],
					    view->tensor_count);
		if (!check_tensor(checker, view->bindings[i]))
			return false;

		const struct sk_plan_tensor *tensor = &view->tensors[view->bindings[i]];

		checker->record = "binding";
		checker->index = i;
		if (tensor->space != SK_SPACE_BINDING || tensor->index != i || tensor->offset != 0)
			return sk_plan_fail(checker, "tensor %u is not the tensor of that binding", view->bindings[i]);
	}
	return true;
}

bool sk_plan_check_slice(const struct sk_plan_checker *checker, const char *name, uint32_t first, uint32_t count,
			 uint64_t *end, uint32_t limit)
{
	if (count == 0)
		return true;
	if (first < *end)
		return sk_plan_fail(checker, "its %s overlap those of another one", name);
	if (!sk_plan_within(first, count, limit))
		return sk_plan_fail(checker, "%s %u to %" PRIu64 " are out of range (%u in all)", name, first,
				    (uint64_t)first + count - 1, limit);
	*end = (uint64_t)first + count;
	return true;
}

/* The ends of the slices of the launches so far, and the form of the last one, which later launches with the same form
 * need not check. */
struct ends {
	uint64_t steps, follows, partitions, homes;
	const struct sk_plan_form *form;
};

/* A slice that is no longer than that of the launch's steps may be shared: the number of steps bounds the time. */
static bool check_shared_slice(const struct sk_plan_checker *checker, const char *name, uint32_t first, uint32_t count,
			       uint32_t step_count, uint64_t *end, uint32_t limit)
{
	uint64_t own = 0;

	return sk_plan_check_slice(checker, name, first, count, count > step_count ? end : &own, limit);
}

static bool check_slices(const struct sk_plan_checker *checker, const struct sk_plan_launch *launch, struct ends *ends)
{
	const struct sk_plan_view *view = checker->view;
	const struct sk_plan_form *form = sk_plan_form(launch);

	return sk_plan_check_slice(checker, "steps", launch->first_step, form->step_count, &ends->steps,
				   view->step_count) &&
	       sk_plan_check_slice(checker, "follows", launch->first_follow, form->follow_count, &ends->follows,
				   view->follow_count) &&
	       check_shared_slice(checker, "partitions", launch->first_partition, form->partition_count,
				  form->step_count, &ends->partitions, view->partition_count) &&
	       check_shared_slice(checker, "homes", launch->first_home, form->home_count, form->step_count,
				  &ends->homes, view->home_count);
}

static bool check_lanes_of(const struct sk_plan_checker *checker, const struct sk_plan_form *form)
{
	const struct sk_plan_view *view = checker->view;
	uint64_t steps = 0;

	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++) {
		if (lane >= view->lane_count && form->lane_steps[lane])
			return sk_plan_fail(checker, "it has steps on lane %u, which there is not", lane);
		if (form->resident_cores[lane] > (form->lane_steps[lane] ? view->plan->resident_cores[lane] : 0))
			return sk_plan_fail(checker, "it needs %u cores of lane %u", form->resident_cores[lane], lane);
		steps += form->lane_steps[lane];
	}
	if (form->step_count == 0 || steps != form->step_count)
		return sk_plan_fail(checker, "it has %u steps, but its lanes have %" PRIu64, form->step_count, steps);
	return true;
}

static bool check_form(const struct sk_plan_checker *checker, const struct sk_plan_form *form)
{
	if (!check_string(checker, &form->scope, "the scope", OPTIONAL) ||
	    !check_string(checker, &form->network, "the network", OPTIONAL) || !check_lanes_of(checker, form))
		return false;
	if (form->task_count == 0 || form->task_count > checker->view->call_count)
		return sk_plan_fail(checker, "it cannot have %u tasks", form->task_count);
	if (form->flags & ~SK_LAUNCH_FLAGS)
		return sk_plan_fail(checker, "flags 0x%x are unknown", form->flags);
	if (form->reserved)
		return sk_plan_fail(checker, "a reserved field is not zero");
	return form->scratch_size % 64 == 0 || sk_plan_fail(checker, "its scratch size is not a multiple of 64");
}

static bool check_launch(struct sk_plan_checker *checker, uint32_t index, struct ends *ends)
{
	const struct sk_plan_view *view = checker->view;
	const struct sk_plan_launch *launch = &view->launches[index];
	const struct sk_plan_form *form = sk_plan_form(launch);

	checker->record = "launch";
	checker->index = index;
	if (!check_string(checker, &launch->name, "the name", REQUIRED))
		return false;
	if (form != ends->form && !sk_plan_has_form(view, launch))
		return sk_plan_fail(checker, "its form is none of %u", view->form_count);
	if (form->kind >= SK_LAUNCH_KIND_COUNT)
		return sk_plan_fail(checker, "kind %u is unknown", form->kind);
	if (sk_plan_is_task_launch(launch) != (index >= view->network_launch_count))
		return sk_plan_fail(checker, "a launch of the network comes after a task's entry");
	if (form != ends->form && !check_form(checker, form))
		return false;
	ends->form = form;
	if (launch->serial_entry && sk_plan_is_resident(launch))
		return sk_plan_fail(checker, "it has a serial entry, but blocks that run at once");
	if (form->flags & SK_LAUNCH_THUNK && (launch->serial_entry || !sk_plan_is_task_launch(launch)))
		return sk_plan_fail(checker, "it has a thunk, but %s",
				    launch->serial_entry ? "also a serial entry" : "is not the own launch of a task");
	return check_slices(checker, launch, ends);
}

/* Of m rows, the first of several blocks has q = floor(m / blocks). Later ones begin at multiples of q until a
 * remaining row shifts the starts by one. From there on only units of one row fit. */
static bool starts_in_units(const struct sk_plan_partition *partition)
{
	uint64_t row = partition->extent / partition->rows, unit = partition->unit, common = row;

	for (uint64_t rest = unit; rest;) {
		uint64_t next = common % rest;

		common = rest;
		rest = next;
	}
	unit /= common; /* rows */
	return unit == 1 || partition->blocks == 1 ||
	       (partition->rows / partition->blocks % unit == 0 && partition->rows % partition->blocks <= 1);
}

static bool check_partition(const struct sk_plan_checker *checker, uint32_t index)
{
	const struct sk_plan_partition *partition = &checker->view->partitions[index];

	if (partition->unit == 0 || (partition->extent == 0 && !checker->view->copy))
		return sk_plan_fail(checker, "partition %u is empty", index);
	if (partition->extent == 0) /* in plans of one size alone: nothing is divided */
		return true;
	if (partition->blocks == 0)
		return partition->rows == 0 || sk_plan_fail(checker, "partition %u has rows, but no blocks", index);
	if (partition->rows == 0 || partition->extent % partition->rows)
		return sk_plan_fail(checker,
				    "partition %u: %" PRIu64 " elements are not a whole number for each of %" PRIu64
				    " rows",
				    index, partition->extent, partition->rows);
	return starts_in_units(partition) || sk_plan_fail(checker,
							  "partition %u: not each of %" PRIu64 " blocks of %" PRIu64
							  " rows begins at a whole unit of %" PRIu64 " elements",
							  index, partition->blocks, partition->rows, partition->unit);
}

bool sk_plan_check_record(const struct sk_plan_view *view, uint32_t launch, char *error, size_t error_size)
{
	struct sk_plan_checker checker = sk_plan_checker_at(view, error, error_size);
	const struct sk_plan_launch *record = &view->launches[launch];
	const struct sk_plan_form *form;
	struct ends ends = {0};

	if (!check_launch(&checker, launch, &ends))
		return false;
	form = sk_plan_form(record);
	for (uint32_t i = 0; i < form->partition_count; i++)
		if (!check_partition(&checker, record->first_partition + i))
			return false;
	for (uint32_t i = 0; i < form->home_count; i++)
		if (view->homes[record->first_home + i].lane >= view->lane_count)
			return sk_plan_fail(&checker, "home %u is on lane %u, which there is not", i,
					    view->homes[record->first_home + i].lane);
	return true;
}

static bool check_launches(struct sk_plan_checker *checker)
{
	const struct sk_plan_view *view = checker->view;
	struct ends ends = {0};
	uint64_t owned = 0;

	for (uint32_t i = 0; i < view->launch_count; i++) {
		if (!check_launch(checker, i, &ends))
			return false;
		owned += sk_plan_form(&view->launches[i])->step_count;
	}
	checker->record = NULL;
	if (owned != view->step_count)
		return sk_plan_fail(checker, "%" PRIu64 " steps belong to no launch", view->step_count - owned);
	return true;
}

static bool check_tensors(struct sk_plan_checker *checker)
{
	for (uint32_t i = 0; i < checker->view->tensor_count; i++)
		if (!check_tensor(checker, i))
			return false;
	return true;
}

bool sk_plan_check_records(const struct sk_plan_view *view, char *error, size_t error_size)
{
	struct sk_plan_checker checker = sk_plan_checker_at(view, error, error_size);

	return check_launches(&checker) && check_kernels(&checker) && check_symbols(&checker) &&
	       check_costs(&checker) && check_tasks(&checker) && check_tensors(&checker);
}

/* If the launch has no form, check_launch reports that. */
static bool is_own_launch(const struct sk_plan_view *view, uint64_t launch)
{
	return !sk_plan_has_form(view, &view->launches[launch]) || sk_plan_is_task_launch(&view->launches[launch]);
}

/* The launches of the network come before those of tasks; check_launch verifies this for each. Usually they are few, so
 * the search begins at the start, in strides that double: records further on would be read from the file only for the
 * search. */
static uint32_t count_network_launches(const struct sk_plan_view *view)
{
	uint64_t low = 0, stride = 1, high;

	while (low + stride <= view->launch_count && !is_own_launch(view, low + stride - 1)) {
		low += stride;
		stride *= 2;
	}
	high = low + stride < view->launch_count ? low + stride - 1 : view->launch_count;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (is_own_launch(view, middle))
			high = middle;
		else
			low = middle + 1;
	}
	return (uint32_t)low;
}

/* ---- sizes of a linked package ---- */

static uint64_t end_of(const struct sk_plan *plan, const struct sk_plan_table *table, uint64_t record_size)
{
	return table->count ? (uint64_t)field_target(plan, &table->offset) + table->count * record_size : 0;
}

const void *sk_plan_sizes(const struct sk_plan_view *view, uint64_t *size)
{
	const struct sk_plan *plan = view->plan;
	uint64_t end = end_of(plan, &plan->strings, 1);
	const struct sk_dims *sizes;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		const struct sk_plan_table *table = (const void *)((const char *)plan + tables[i].table);
		uint64_t own = table->offset ? end_of(plan, table, tables[i].record_size) : 0;

		end = own > end ? own : end;
	}
	end = (end + 7) / 8 * 8;
	if (!sk_plan_within(end, sizeof(*sizes), plan->size))
		return NULL;
	sizes = (const void *)((const char *)plan + end);
	*size = plan->size - end;
	return sizes->magic == SK_DIMS_MAGIC ? sizes : NULL;
}

/* ---- arguments, where there are lists ---- */

/* The most bytes of arguments that a plan can represent for each of its own bytes. A call with 128 arguments, the most
 * of a signature, also has a step, a task and their names. */
enum { MOST_BYTES = 64 };

static uint64_t size_of(const struct sk_plan_view *view)
{
	return view->argument_count * (uint64_t)sizeof(*view->made);
}

bool sk_plan_make_room(struct sk_plan_view *view, char *error, size_t error_size)
{
	struct sk_plan_checker checker = sk_plan_checker_at(view, error, error_size);
	void *memory;

	if (view->made || !view->list_count || !view->argument_count)
		return true;
	if (size_of(view) / MOST_BYTES > view->plan->size)
		return sk_plan_fail(&checker, "%u arguments are too many for %" PRIu64 " bytes", view->argument_count,
				    view->plan->size);
	memory = mmap(NULL, size_of(view), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return sk_plan_fail(&checker, "no memory for %u arguments", view->argument_count);
	view->arguments = view->made = memory;
	return true;
}

void sk_plan_close(struct sk_plan_view *view)
{
	if (view->made)
		munmap(view->made, size_of(view));
	free(view->copy);
	view->copy = NULL;
	view->arguments = view->made = NULL;
}

bool sk_plan_open_tables(const void *bytes, size_t size, struct sk_plan_view *view, char *error, size_t error_size)
{
	struct sk_plan_checker checker = sk_plan_checker_at(view, error, error_size);

	*view = (struct sk_plan_view){.plan = bytes};
	if ((uintptr_t)bytes % 8)
		return sk_plan_fail(&checker, "it is not aligned to 8 bytes");
	if (size < sizeof(struct sk_plan))
		return sk_plan_fail(&checker, "%zu bytes are too few", size);
	if (!check_header(&checker, view->plan, size) || !open_tables(&checker, view) || !check_lanes(&checker))
		return false;
	if (view->launch_count && !sk_plan_has_form(view, view->launches)) /* the form says whether there are networks
									    */
		return sk_plan_fail(&checker, "the first launch's form is none of %u", view->form_count);
	view->network_launch_count = count_network_launches(view);
	return check_bindings(&checker);
}

bool sk_plan_open(const void *bytes, size_t size, struct sk_plan_view *view, char *error, size_t error_size)
{
	return sk_plan_open_tables(bytes, size, view, error, error_size) && sk_plan_make_room(view, error, error_size);
}
