/* The reader of plans, for linker, runtime and tools; filters of tasks; the words of thunks. */
#ifndef SK_FORMAT_PLAN_PLAN_H
#define SK_FORMAT_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/skplan.h"
#include "format/skrows.h"

/* ==== plan.c ====
 *
 * The plan's reader, for libskrt, skdump, the verifier and the dispatcher. Plans are untrusted, and are checked in
 * steps. sk_plan_open checks the header, that every table and string is inside, and the bindings, in a time that does
 * not grow with the number of kernels. sk_plan_check_record checks one launch's record, as needed to run it;
 * sk_plan_check_launch every index, kind and sum in the records of its steps; sk_plan_check_networks the owners of
 * records; sk_plan_check_all the whole plan. Checked records are used in place, except the arguments of calls:
 * sk_plan_check_launch makes them, in memory of the view.
 *
 * Errors are text in the caller's buffer: "plan: launch 3: step 2: kernel 17 is out of range (12 kernels)". */

struct sk_plan_view {
	const struct sk_plan *plan;
	const int32_t *lanes; /* string references, by lane */
	const struct sk_plan_form *forms;
	const struct sk_plan_launch *launches;
	const struct sk_plan_task *tasks;
	const struct sk_plan_cost *costs;
	const struct sk_plan_kernel *kernels;
	const struct sk_plan_type *types;
	const struct sk_plan_tensor *tensors;
	const uint32_t *bindings;
	const struct sk_plan_step *steps;
	const struct sk_plan_call *calls;
	const struct sk_plan_await *awaits;
	const struct sk_plan_argument *arguments; /* with lists, those of checked launches; others are 0 */
	const struct sk_plan_argument *lists;
	const uint32_t *operands;
	struct sk_plan_argument *made; /* with lists: `arguments`, in memory of the view; otherwise NULL */
	const struct sk_plan_loop *loops;
	const struct sk_plan_term *terms;
	const struct sk_plan_pattern *patterns;
	const struct sk_plan_symbol *symbols;
	const struct sk_plan_partition *partitions;
	const struct sk_plan_home *homes;
	const uint32_t *follows;
	uint32_t lane_count, form_count, launch_count, task_count, cost_count, kernel_count, type_count, tensor_count,
		binding_count, step_count, call_count, await_count, argument_count, list_count, operand_count,
		loop_count, term_count, pattern_count, symbol_count, partition_count, home_count, follow_count;
	uint32_t network_launch_count; /* the launches before the first task entry */
	uint32_t slot_count; /* of sizes (format/plan/dims.h); 0 until sk_dims_open */
	bool has_sizes; /* sk_dims_open has read sizes for it */
	struct sk_plan *copy; /* a copy of the plan for one size, in which extents may be 0 (format/plan/dims.h); owned
				 by the view. NULL: the plan is a package's */
};

/* A network of a package, with its own launches, tasks and bindings. */
struct sk_plan_network {
	const char *name; /* "" if the package has one network */
	uint32_t first_launch, launch_count, first_task, task_count, first_binding, binding_count;
};

/* Advance to the next network, from {0} to the first one; false after the last one. If there are several, they must
 * have been checked. */
bool sk_plan_next_network(const struct sk_plan_view *view, struct sk_plan_network *network);

/* True if the networks have names. */
bool sk_plan_has_networks(const struct sk_plan_view *view);

/* Check the header, the bounds and alignment of tables, lanes, bindings and bound tensors, and fill the view. bytes
 * must be aligned to 8 and outlive the view, which sk_plan_close releases. */
bool sk_plan_open(const void *bytes, size_t size, struct sk_plan_view *view, char *error, size_t error_size);

/* The same without memory for the arguments of calls, which may not be needed. */
bool sk_plan_open_tables(const void *bytes, size_t size, struct sk_plan_view *view, char *error, size_t error_size);

/* Reserve that memory, unless it is reserved already, before launches are checked. */
bool sk_plan_make_room(struct sk_plan_view *view, char *error, size_t error_size);

/* Release the memory of a view, also of a refused or a zero one. */
void sk_plan_close(struct sk_plan_view *view);

/* Check the record of one launch, its partitions and its homes, which suffices to run it. */
bool sk_plan_check_record(const struct sk_plan_view *view, uint32_t launch, char *error, size_t error_size);

/* Check all records outside the steps of launches: launches, tasks, kernels, tensors. */
bool sk_plan_check_records(const struct sk_plan_view *view, char *error, size_t error_size);

/* Check the owners of records in a plan with several networks. The records must have been checked. */
bool sk_plan_check_networks(const struct sk_plan_view *view, char *error, size_t error_size);

/* Check all steps, calls, awaits, arguments, partitions, homes and follows of one launch, as format/skplan.h defines
 * them. Indices are in range and inside the launch's own slices, kinds are known, addresses are inside their space
 * (sizes of bindings, workspace, constants), numbers count up in each lane, and awaits refer to earlier steps of the
 * launch. The records outside must have been checked. */
bool sk_plan_check_launch(const struct sk_plan_view *view, uint32_t launch, char *error, size_t error_size);

/* True if the dispatcher of a checked launch records the times of all calls. */
bool sk_plan_notes_times(const struct sk_plan_view *view, const struct sk_plan_launch *launch);

/* Check all that sk_plan_check_all checks, except the launches themselves: the records, the networks, and that steps of
 * different launches do not share records, except those that may be shared. */
bool sk_plan_check_tables(const struct sk_plan_view *view, char *error, size_t error_size);

/* Check the whole plan, in time bounded by the section's size for any contents. */
bool sk_plan_check_all(const struct sk_plan_view *view, char *error, size_t error_size);

/* True if the reference to a launch's form is valid, as in all checked launches. */
bool sk_plan_has_form(const struct sk_plan_view *view, const struct sk_plan_launch *launch);

/* Return the record that a checked launch, or tensor, may share with others. */
static inline const struct sk_plan_form *sk_plan_form(const struct sk_plan_launch *launch)
{
	return (const void *)((const char *)&launch->form + launch->form);
}

static inline const struct sk_plan_type *sk_plan_type(const struct sk_plan_tensor *tensor)
{
	return (const void *)((const char *)&tensor->type + tensor->type);
}

/* Return the bytes that the `workspace` of a launch's serial entry needs. */
static inline uint64_t sk_plan_serial_workspace(const struct sk_plan_view *view, const struct sk_plan_launch *launch)
{
	return view->plan->workspace_size + sk_plan_form(launch)->scratch_size;
}

/* True if blocks of a step wait for one another, so that the launch has no serial entry. */
static inline bool sk_plan_is_resident(const struct sk_plan_launch *launch)
{
	return sk_plan_form(launch)->resident_cores[0] != 0 || sk_plan_form(launch)->resident_cores[1] != 0;
}

/* True if kernels of the launch may call the runtime, which then reads its steps. */
static inline bool sk_plan_calls_runtime(const struct sk_plan_launch *launch)
{
	return sk_plan_is_resident(launch) || sk_plan_form(launch)->flags & SK_LAUNCH_EARLY;
}

/* Consecutive calls, from the first up to the end. */
struct sk_plan_calls {
	const struct sk_plan_call *first, *end;
};

/* Return the calls of a step; in a checked launch, at least one. */
static inline struct sk_plan_calls sk_plan_step_calls(const struct sk_plan_view *view, const struct sk_plan_step *step)
{
	const struct sk_plan_call *first = &view->calls[step->first_call];

	return (struct sk_plan_calls){first, first + step->call_count};
}

/* Return the calls of all steps of a checked launch. */
static inline struct sk_plan_calls sk_plan_launch_calls(const struct sk_plan_view *view,
							const struct sk_plan_launch *launch)
{
	const struct sk_plan_step *first = &view->steps[launch->first_step];

	return (struct sk_plan_calls){sk_plan_step_calls(view, first).first,
				      sk_plan_step_calls(view, &first[sk_plan_form(launch)->step_count - 1]).end};
}

/* Return a call's arguments; NULL: it has none, so its index may be anything. */
static inline const struct sk_plan_argument *sk_plan_arguments(const struct sk_plan_view *view,
							       const struct sk_plan_call *call)
{
	return call->argument_count ? &view->arguments[call->first_argument] : NULL;
}

/* True if the step's extent is divided. */
static inline bool sk_plan_divides(const struct sk_plan_step *step)
{
	return step->kind == SK_STEP_SPLIT || step->kind == SK_STEP_BLOCKS_RANGE;
}

/* Return the access of a call through the argument. A core's scratch is private memory. */
static inline enum sk_access sk_plan_access(const struct sk_plan_argument *argument)
{
	switch (argument->kind) {
	case SK_ARGUMENT_POINTER:
		return (enum sk_access)argument->access;
	case SK_ARGUMENT_LOAD:
		return SK_ACCESS_READ;
	case SK_ARGUMENT_RESULT:
		return SK_ACCESS_WRITE;
	case SK_ARGUMENT_STATE:
		return SK_ACCESS_READ | SK_ACCESS_WRITE;
	default:
		return SK_ACCESS_NONE;
	}
}

/* SPLIT, BLOCKS_RANGE: return the elements of the call's divided extent. */
static inline uint64_t sk_plan_extent(const struct sk_plan_step *step, const struct sk_plan_call *call)
{
	return step->extent * call->scale;
}

/* Return the pattern of a pointer's bytes; NULL: they are contiguous, in parts without surrounding reads. */
static inline const struct sk_plan_pattern *sk_plan_pattern(const struct sk_plan_view *view,
							    const struct sk_plan_argument *argument)
{
	bool has = argument->kind == SK_ARGUMENT_POINTER && (uint32_t)argument->value;

	return has ? &view->patterns[(uint32_t)argument->value - 1] : NULL;
}

/* Return the bytes that are added to the address of an argument when it is passed. Its accesses do not depend on
 * them. */
static inline int32_t sk_plan_displacement(const struct sk_plan_argument *argument)
{
	return argument->kind == SK_ARGUMENT_POINTER ? (int32_t)(uint32_t)(argument->value >> 32) : 0;
}

/* True if the pattern's rows are one row at these sizes of a dynamic package: the element after it is a row's distance
 * away, and not its bytes. */
static inline bool sk_plan_is_single_row(const struct sk_plan_pattern *pattern)
{
	return pattern && pattern->count == 1 && pattern->stride;
}

/* Return the bytes of an argument that accesses memory. Bytes that calls read around their parts (halo, over_read)
 * count only if they belong to other parts. */
static inline struct sk_rows sk_plan_rows(const struct sk_plan_view *view, const struct sk_plan_argument *argument)
{
	const struct sk_plan_pattern *pattern = sk_plan_pattern(view, argument);

	if (pattern && pattern->count > 1)
		return (struct sk_rows){argument->offset, pattern->width, pattern->stride, pattern->count};
	return (struct sk_rows){argument->offset, argument->size, 0, 1};
}

/* Return the bytes of elements [first, first + count) of the call's extent, including the halo; all bytes if they are
 * not divided. */
static inline struct sk_rows sk_plan_part_rows(const struct sk_plan_view *view, const struct sk_plan_step *step,
					       const struct sk_plan_call *call, const struct sk_plan_argument *argument,
					       uint64_t first, uint64_t count)
{
	const struct sk_plan_pattern *pattern = sk_plan_pattern(view, argument);
	struct sk_rows rows = sk_plan_rows(view, argument);

	if (!argument->element_bytes)
		return rows;
	rows.start += first * argument->element_bytes;
	if (sk_plan_is_single_row(pattern))
		rows.width = count ? rows.width : 0;
	else if (rows.count == 1)
		rows.width = count * argument->element_bytes + (pattern ? pattern->halo : 0);
	else
		rows.count = count * (rows.count / sk_plan_extent(step, call));
	if (rows.count == 1)
		rows.stride = 0;
	return rows;
}

/* Return the value of a term for that value of its variable. */
static inline uint64_t sk_plan_term_value(const struct sk_plan_term *term, uint64_t value)
{
	uint64_t quotient = (value + term->addend) / term->divisor;

	return (uint64_t)term->factor * (term->modulus ? quotient % term->modulus : quotient);
}

/* Return a call's loops; NULL: none. */
static inline const struct sk_plan_loop *sk_plan_loops(const struct sk_plan_view *view, const struct sk_plan_call *call)
{
	return call->loop_count ? &view->loops[call->first_loop] : NULL;
}

/* True if the call has an argument of that kind. Its arguments must be in the plan. */
static inline bool sk_plan_has_argument(const struct sk_plan_view *view, const struct sk_plan_call *call,
					enum sk_argument_kind kind)
{
	const struct sk_plan_argument *arguments = sk_plan_arguments(view, call);

	for (uint32_t i = 0; i < call->argument_count; i++)
		if (arguments[i].kind == kind)
			return true;
	return false;
}

/* Return the task that messages name for a step: that of its first call. */
static inline const struct sk_plan_task *sk_plan_step_task(const struct sk_plan_view *view,
							   const struct sk_plan_step *step)
{
	return &view->tasks[view->calls[step->first_call].task];
}

/* Return the task that ends the step, for which awaiting steps wait: that of its last call. */
static inline const struct sk_plan_task *sk_plan_step_last_task(const struct sk_plan_view *view,
								const struct sk_plan_step *step)
{
	return &view->tasks[view->calls[step->first_call + step->call_count - 1].task];
}

/* Return the manifest's cost of the task of a step's call, or of its side of a mix task. It is that of the whole task
 * unless the task has a vector_cost. NULL: none. */
static inline const struct sk_plan_cost *sk_plan_cost(const struct sk_plan_view *view, const struct sk_plan_step *step,
						      const struct sk_plan_call *call)
{
	const struct sk_plan_task *task = &view->tasks[call->task];
	bool vector = step->flags & SK_STEP_VECTOR_SIDE && task->vector_cost != SK_NO_INDEX;
	uint32_t cost = vector ? task->vector_cost : task->cost;

	return cost == SK_NO_INDEX ? NULL : &view->costs[cost];
}

/* Return the size of the function of a step's call; 0: not known. */
static inline uint32_t sk_plan_code_size(const struct sk_plan_view *view, const struct sk_plan_step *step,
					 const struct sk_plan_call *call)
{
	const struct sk_plan_kernel *kernel = &view->kernels[call->kernel];

	return step->flags & SK_STEP_VECTOR_SIDE ? kernel->vector_code_size : kernel->code_size;
}

/* Return the string of a reference ("" for 0). The field must be in the plan. */
const char *sk_plan_string(const int32_t *reference);

/* Return the bytes of .sk.dims (format/skdims.h) that follow the tables of the plan of a linked package (sklink -r),
 * and their size; NULL: it has none. The tables have been opened. */
const void *sk_plan_sizes(const struct sk_plan_view *view, uint64_t *size);

/* Return the core, modulo those of its lane, that has the step's first part or block. */
static inline uint64_t sk_plan_first_core(const struct sk_plan_view *view, const struct sk_plan_step *step)
{
	return sk_plan_divides(step) ? view->partitions[step->partition].first_core : step->first_core;
}

/* Return the address of a reference, NULL for 0. */
const void *sk_plan_address(const int32_t *reference);

/* The number of units of a step's partition, and the bytes of one unit of an argument; 0 units: not divided; unit_bytes
 * 0 with units: irregular (see format/skplan.h). */
struct sk_units {
	uint64_t units;
	uint64_t unit_bytes;
};
struct sk_units sk_plan_units(const struct sk_plan_view *view, const struct sk_plan_step *step,
			      const struct sk_plan_call *call, const struct sk_plan_argument *argument);

/* Return the start of part `part` of `count`, as struct sk_plan_partition defines it; for part `count`, the end of the
 * last one. */
uint64_t sk_plan_part_start(const struct sk_plan_partition *partition, uint64_t part, uint64_t count);

/* Return the number of the part of a core out of `count`; for blocks, of its first one. */
static inline uint64_t sk_plan_part_of(uint64_t first_core, uint64_t core, uint64_t count)
{
	return (core + count - first_core % count) % count; /* the sum of two numbers of cores does not overflow */
}

/* Return the start of a tensor in its space, for the launch: task entries use the unshared workspace. */
uint64_t sk_plan_tensor_start(const struct sk_plan_launch *launch, const struct sk_plan_tensor *tensor);

/* True if every core that runs the later step of a lane also executes the one before it, which fetches its code. */
bool sk_plan_preloads(const struct sk_plan_step *step, const struct sk_plan_step *next);

/* Return the bytes of a kernel's code that are fetched before a step's turn, in whole lines; preload: enum
 * sk_preload. */
uint64_t sk_plan_preload_bytes(uint32_t preload, uint64_t code_size);

/* ==== task-filter.c ====
 *
 * Selections of a plan's tasks: --task, --kernel and --launch of skrun and skdump. */

struct sk_task_filter {
	const char *task, *kernel; /* patterns of names; NULL: any */
	bool by_launch;
	uint64_t launch; /* of the network, by number */
};

static inline bool sk_task_filter_is_set(const struct sk_task_filter *filter)
{
	return filter->task || filter->kernel || filter->by_launch;
}

bool sk_task_is_chosen(const struct sk_task_filter *filter, const struct sk_plan_view *plan, uint32_t task);

/* True if one of these tasks is selected. For these two functions the plan's records must have been checked. */
bool sk_task_filter_finds(const struct sk_task_filter *filter, const struct sk_plan_view *plan, uint32_t first,
			  uint32_t count);

/* ==== words.c ====
 *
 * The words that the thunk of a task reads, for the emitter of thunks and for the runtime, which computes them.
 *
 * A thunk is the code that runs single tasks with the same form of call: the same number of arguments, of the same
 * kinds. Differences between these tasks are in words of 8 bytes, which libskrt computes from the plan for a launch.
 * Each call of the task's own launch has the address of the kernel's function, the task's number, and a word for each
 * argument (0 for one that is not known before the call). */

/* The first words of a call. */
enum { SK_THUNK_KERNEL, SK_THUNK_TASK, SK_THUNK_ARGUMENTS };

/* True if the launch's entry is a thunk. */
static inline bool sk_plan_has_thunk(const struct sk_plan_launch *launch)
{
	return sk_plan_form(launch)->flags & SK_LAUNCH_THUNK;
}

/* Return the number of words of the calls. */
static inline uint32_t sk_thunk_words(struct sk_plan_calls calls)
{
	uint32_t words = 0;

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		words += SK_THUNK_ARGUMENTS + call->argument_count;
	return words;
}

/* True if a word determines the argument: an address, or a scalar that is equal in all calls. Other arguments follow
 * from the core, its part and the block, or are not passed. */
bool sk_thunk_has_word(const struct sk_plan_step *step, const struct sk_plan_argument *argument);

/* Return that word for a scalar that is not loaded. */
uint64_t sk_thunk_scalar(const struct sk_plan_step *step, const struct sk_plan_call *call,
			 const struct sk_plan_argument *argument);

#endif
