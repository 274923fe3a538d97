/* The reader of plans, for linker, runtime and tools; filters of tasks; sets of flags as words. */
#ifndef SK_FORMAT_PLAN_PLAN_H
#define SK_FORMAT_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/skplan.h"
#include "format/skrows.h"

/* ==== plan.c ====
 *
 * The plan's reader, for libskrt, skdump, the verifier and the dispatcher. It trusts nothing, and checks what is used
 * when it is: sk_plan_open the header, that every table and string lies inside, and what is bound, in a time that does
 * not grow with the number of kernels; sk_plan_check_record one launch's record, for whoever runs it;
 * sk_plan_check_launch every index, kind and sum that the records of its steps hold; sk_plan_check_networks what is
 * whose; sk_plan_check_all the whole plan. What has been checked is then used in place, but for the arguments of calls:
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
	const struct sk_plan_argument
		*arguments; /* with lists those of launches that have been checked; others are 0 */
	const struct sk_plan_argument *lists;
	const uint32_t *operands;
	struct sk_plan_argument *made; /* with lists: `arguments`, in memory of the view's own; else NULL */
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
};

/* One of the networks of a package: what is its own of the launches, the tasks and the bindings. */
struct sk_plan_network {
	const char *name; /* "" if the package has one */
	uint32_t first_launch, launch_count, first_task, task_count, first_binding, binding_count;
};

/* Goes on to the next network, from {0} to the first one; false behind the last one. Where there are several they have
 * been checked. */
bool sk_plan_next_network(const struct sk_plan_view *view, struct sk_plan_network *network);

/* Whether the networks have names. */
bool sk_plan_has_networks(const struct sk_plan_view *view);

/* Checks the header, the tables' bounds and alignment, lanes, bindings and the tensors that are bound, and fills the
 * view. bytes must be aligned to 8 and outlive the view, which sk_plan_close gives back. */
bool sk_plan_open(const void *bytes, size_t size, struct sk_plan_view *view, char *error, size_t error_size);

/* The same for whoever may need no arguments of calls: no memory has been reserved for them. */
bool sk_plan_open_tables(const void *bytes, size_t size, struct sk_plan_view *view, char *error, size_t error_size);

/* Reserves it, unless that has been done, before launches are checked. */
bool sk_plan_make_room(struct sk_plan_view *view, char *error, size_t error_size);

/* Gives back the memory that a view has, also one that was refused, or is zero. */
void sk_plan_close(struct sk_plan_view *view);

/* Checks the record of one launch, its partitions and its homes: all that running it needs. */
bool sk_plan_check_record(const struct sk_plan_view *view, uint32_t launch, char *error, size_t error_size);

/* Checks all records outside launches' steps: launches, tasks, kernels, tensors. */
bool sk_plan_check_records(const struct sk_plan_view *view, char *error, size_t error_size);

/* Checks what of a plan with several networks is whose. The records must have been checked. */
bool sk_plan_check_networks(const struct sk_plan_view *view, char *error, size_t error_size);

/* Checks all steps, calls, awaits, arguments, partitions, homes and follows of one launch, as format/skplan.h defines
 * them: indices in range and inside the launch's own slices, kinds known, addresses inside their space (bindings'
 * sizes, workspace, constants), numbers counting up per lane, awaits earlier in the launch. The records outside must
 * have been checked. */
bool sk_plan_check_launch(const struct sk_plan_view *view, uint32_t launch, char *error, size_t error_size);

/* Whether the dispatcher of a launch that has been checked notes the times of all calls. */
bool sk_plan_notes_times(const struct sk_plan_view *view, const struct sk_plan_launch *launch);

/* Checks what sk_plan_check_all does but for the launches themselves: the records, the networks, and that no two steps
 * of different launches need share what the tables have. */
bool sk_plan_check_tables(const struct sk_plan_view *view, char *error, size_t error_size);

/* Checks all of that, for whoever reads all of a plan: in time bounded by the section's size, whatever is in it. */
bool sk_plan_check_all(const struct sk_plan_view *view, char *error, size_t error_size);

/* Whether a launch's form is one; of what has been checked, it is. */
bool sk_plan_has_form(const struct sk_plan_view *view, const struct sk_plan_launch *launch);

/* What a launch, or a tensor, that has been checked may have in common with others. */
static inline const struct sk_plan_form *sk_plan_form(const struct sk_plan_launch *launch)
{
	return (const void *)((const char *)&launch->form + launch->form);
}

static inline const struct sk_plan_type *sk_plan_type(const struct sk_plan_tensor *tensor)
{
	return (const void *)((const char *)&tensor->type + tensor->type);
}

/* Blocks of one of its steps wait for one another, so it has no serial entry. */
static inline bool sk_plan_is_resident(const struct sk_plan_launch *launch)
{
	return sk_plan_form(launch)->resident_cores[0] != 0 || sk_plan_form(launch)->resident_cores[1] != 0;
}

/* Kernels of the launch may call the runtime, which then looks at its steps. */
static inline bool sk_plan_calls_runtime(const struct sk_plan_launch *launch)
{
	return sk_plan_is_resident(launch) || sk_plan_form(launch)->flags & SK_LAUNCH_EARLY;
}

/* Calls one behind the other, from the first one to in front of the end. */
struct sk_plan_calls {
	const struct sk_plan_call *first, *end;
};

/* A step's calls; of a launch that has been checked, at least one. */
static inline struct sk_plan_calls sk_plan_step_calls(const struct sk_plan_view *view, const struct sk_plan_step *step)
{
	const struct sk_plan_call *first = &view->calls[step->first_call];

	return (struct sk_plan_calls){first, first + step->call_count};
}

/* The calls of all steps of a launch that has been checked. */
static inline struct sk_plan_calls sk_plan_launch_calls(const struct sk_plan_view *view,
							const struct sk_plan_launch *launch)
{
	const struct sk_plan_step *first = &view->steps[launch->first_step];

	return (struct sk_plan_calls){sk_plan_step_calls(view, first).first,
				      sk_plan_step_calls(view, &first[sk_plan_form(launch)->step_count - 1]).end};
}

/* A call's arguments; NULL: it has none, and where they would begin may be anything. */
static inline const struct sk_plan_argument *sk_plan_arguments(const struct sk_plan_view *view,
							       const struct sk_plan_call *call)
{
	return call->argument_count ? &view->arguments[call->first_argument] : NULL;
}

/* The step's extent is shared out. */
static inline bool sk_plan_divides(const struct sk_plan_step *step)
{
	return step->kind == SK_STEP_SPLIT || step->kind == SK_STEP_BLOCKS_RANGE;
}

/* What a call does to memory through the argument. A core's scratch is no one else's memory. */
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

/* SPLIT, BLOCKS_RANGE: elements of the call's divided extent. */
static inline uint64_t sk_plan_extent(const struct sk_plan_step *step, const struct sk_plan_call *call)
{
	return step->extent * call->scale;
}

/* How a pointer's bytes lie; NULL: one behind the other, in parts without anything around them. */
static inline const struct sk_plan_pattern *sk_plan_pattern(const struct sk_plan_view *view,
							    const struct sk_plan_argument *argument)
{
	bool has = argument->kind == SK_ARGUMENT_POINTER && argument->value;

	return has ? &view->patterns[argument->value - 1] : NULL;
}

/* The bytes of all of an argument that accesses memory. What calls read around their parts (halo, over_read) is not
 * among them, unless it is others' parts. */
static inline struct sk_rows sk_plan_rows(const struct sk_plan_view *view, const struct sk_plan_argument *argument)
{
	const struct sk_plan_pattern *pattern = sk_plan_pattern(view, argument);

	if (pattern && pattern->count > 1)
		return (struct sk_rows){argument->offset, pattern->width, pattern->stride, pattern->count};
	return (struct sk_rows){argument->offset, argument->size, 0, 1};
}

/* Those of the elements [first, first + count) of the call's extent, halo included; all, if they are not divided. */
static inline struct sk_rows sk_plan_part_rows(const struct sk_plan_view *view, const struct sk_plan_step *step,
					       const struct sk_plan_call *call, const struct sk_plan_argument *argument,
					       uint64_t first, uint64_t count)
{
	const struct sk_plan_pattern *pattern = sk_plan_pattern(view, argument);
	struct sk_rows rows = sk_plan_rows(view, argument);

	if (!argument->element_bytes)
		return rows;
	rows.start += first * argument->element_bytes;
	if (rows.count == 1)
		rows.width = count * argument->element_bytes + (pattern ? pattern->halo : 0);
	else
		rows.count = count * (rows.count / sk_plan_extent(step, call));
	if (rows.count == 1)
		rows.stride = 0;
	return rows;
}

/* What a term is where its variable has the value. */
static inline uint64_t sk_plan_term_value(const struct sk_plan_term *term, uint64_t value)
{
	uint64_t quotient = (value + term->addend) / term->divisor;

	return (uint64_t)term->factor * (term->modulus ? quotient % term->modulus : quotient);
}

/* A call's loops; NULL: it has none. */
static inline const struct sk_plan_loop *sk_plan_loops(const struct sk_plan_view *view, const struct sk_plan_call *call)
{
	return call->loop_count ? &view->loops[call->first_loop] : NULL;
}

/* Whether the call, whose arguments lie in the plan, has one of that kind. */
static inline bool sk_plan_has_argument(const struct sk_plan_view *view, const struct sk_plan_call *call,
					enum sk_argument_kind kind)
{
	const struct sk_plan_argument *arguments = sk_plan_arguments(view, call);

	for (uint32_t i = 0; i < call->argument_count; i++)
		if (arguments[i].kind == kind)
			return true;
	return false;
}

/* The task after which messages name a step: its first call's. */
static inline const struct sk_plan_task *sk_plan_step_task(const struct sk_plan_view *view,
							   const struct sk_plan_step *step)
{
	return &view->tasks[view->calls[step->first_call].task];
}

/* The task with which a step has ended, and for which those wait who await it: its last call's. */
static inline const struct sk_plan_task *sk_plan_step_last_task(const struct sk_plan_view *view,
								const struct sk_plan_step *step)
{
	return &view->tasks[view->calls[step->first_call + step->call_count - 1].task];
}

/* What the manifest says that the task of a step's call costs, or its side of a mix task: of the whole task unless the
 * task has a vector_cost. NULL: nothing. */
static inline const struct sk_plan_cost *sk_plan_cost(const struct sk_plan_view *view, const struct sk_plan_step *step,
						      const struct sk_plan_call *call)
{
	const struct sk_plan_task *task = &view->tasks[call->task];
	bool vector = step->flags & SK_STEP_VECTOR_SIDE && task->vector_cost != SK_NO_INDEX;
	uint32_t cost = vector ? task->vector_cost : task->cost;

	return cost == SK_NO_INDEX ? NULL : &view->costs[cost];
}

/* Bytes of the function that a step's call calls; 0: not known. */
static inline uint32_t sk_plan_code_size(const struct sk_plan_view *view, const struct sk_plan_step *step,
					 const struct sk_plan_call *call)
{
	const struct sk_plan_kernel *kernel = &view->kernels[call->kernel];

	return step->flags & SK_STEP_VECTOR_SIDE ? kernel->vector_code_size : kernel->code_size;
}

/* The string that a reference names ("" for 0). The field must lie in the plan. */
const char *sk_plan_string(const int32_t *reference);

/* The core, modulo those of its lane, that has the step's first part or block. */
static inline uint64_t sk_plan_first_core(const struct sk_plan_view *view, const struct sk_plan_step *step)
{
	return sk_plan_divides(step) ? view->partitions[step->partition].first_core : step->first_core;
}

/* The address that a reference names, NULL for 0. */
const void *sk_plan_address(const int32_t *reference);

/* Number of units of a step's partition, and the bytes of one unit of an argument; 0 units: not divided; unit_bytes 0
 * with units: irregular (see format/skplan.h). */
struct sk_units {
	uint64_t units;
	uint64_t unit_bytes;
};
struct sk_units sk_plan_units(const struct sk_plan_view *view, const struct sk_plan_step *step,
			      const struct sk_plan_call *call, const struct sk_plan_argument *argument);

/* Where part number `part` of `count` begins, as struct sk_plan_partition says; part `count` is where the last one
 * ends. */
uint64_t sk_plan_part_start(const struct sk_plan_partition *partition, uint64_t part, uint64_t count);

/* The number of the part that a core of `count` has; of blocks, of the first one. */
static inline uint64_t sk_plan_part_of(uint64_t first_core, uint64_t core, uint64_t count)
{
	return (core + count - first_core % count) % count; /* the sum is that of two numbers of cores */
}

/* Where a tensor begins in its space, as the launch sees it: task entries run in the unshared workspace. */
uint64_t sk_plan_tensor_start(const struct sk_plan_launch *launch, const struct sk_plan_tensor *tensor);

/* True if every core that runs the later step of a lane comes by the one in front of it, which fetches its code. */
bool sk_plan_preloads(const struct sk_plan_step *step, const struct sk_plan_step *next);

/* Bytes of a kernel's code that are fetched before a step's turn, in whole lines; preload: enum sk_preload. */
uint64_t sk_plan_preload_bytes(uint32_t preload, uint64_t code_size);

/* ==== task-filter.c ====
 *
 * Some of a plan's tasks, as people ask for them: --task, --kernel and --launch of skrun and skdump. */

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

/* Whether any of these tasks is. Of these two the plan's records must have been checked. */
bool sk_task_filter_finds(const struct sk_task_filter *filter, const struct sk_plan_view *plan, uint32_t first,
			  uint32_t count);

/* ==== words.c ====
 *
 * What the thunk of a task reads of it, for who makes thunks and who makes that.
 *
 * A thunk is the code by which tasks run alone that are called in one way: as many arguments, each of its kind. What
 * differs among those tasks stands in words of 8 bytes, which libskrt makes of the plan for a launch: for each call of
 * the task's own launch, one behind the other, the address of the kernel's function, the task's number, and a word for
 * each argument, or for none (0) that is not known before the call. */

/* A call's words begin with these. */
enum { SK_THUNK_KERNEL, SK_THUNK_TASK, SK_THUNK_ARGUMENTS };

/* The launch's entry is a thunk. */
static inline bool sk_plan_has_thunk(const struct sk_plan_launch *launch)
{
	return sk_plan_form(launch)->flags & SK_LAUNCH_THUNK;
}

/* How many words the calls take, up to the end. */
static inline uint32_t sk_thunk_words(struct sk_plan_calls calls)
{
	uint32_t words = 0;

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		words += SK_THUNK_ARGUMENTS + call->argument_count;
	return words;
}

/* Whether a word says what the argument is: an address, or a scalar that is the same in every call. Else it follows
 * from the core, its part and the block, or is not passed. */
bool sk_thunk_has_word(const struct sk_plan_step *step, const struct sk_plan_argument *argument);

/* That word, of a scalar that is not loaded. */
uint64_t sk_thunk_scalar(const struct sk_plan_step *step, const struct sk_plan_call *call,
			 const struct sk_plan_argument *argument);

#endif
