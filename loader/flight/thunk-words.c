/* The words of thunks; see flight.h. The launch's steps have been checked, and that the targets of its calls are
 * code. */
#include "config.h"

#include "loader/flight/flight.h"

#include <stddef.h>
#include <stdlib.h>

#include "format/plan/plan.h"
#include "format/skabi.h"
#include "format/skplan.h"

/* ---- words ---- */

#define SIZED(instance, call, argument, field)                                                                         \
	sk_sized_argument((instance), (call), (argument), offsetof(struct sk_plan_argument, field), (argument)->field)

/* A tensor without elements may have no address. */
static uint64_t address_of(const struct skrt_kernel *kernel, const struct skrt_instance *instance,
			   const struct sk_plan_call *call, const struct sk_plan_argument *argument)
{
	const void *base = instance->workspaces[kernel->unshared].memory;

	if (argument->space == SK_SPACE_BINDING)
		base = instance->bindings[argument->index];
	else if (argument->space == SK_SPACE_SIZES)
		base = instance->bindings + kernel->module->plan.binding_count;
	else if (argument->space == SK_SPACE_CONSTANT)
		base = kernel->module->constants;
	return (uintptr_t)base + SIZED(instance, call, argument, offset) + (uint64_t)sk_plan_displacement(argument);
}

static uint64_t word_of(const struct skrt_kernel *kernel, const struct skrt_instance *instance,
			const struct sk_plan_step *step, const struct sk_plan_call *call,
			const struct sk_plan_argument *argument)
{
	const struct sk_plan_view *plan = &kernel->module->plan;

	if (!sk_thunk_has_word(step, argument))
		return 0;
	if (argument->kind == SK_ARGUMENT_SYMBOL)
		return (uintptr_t)sk_plan_address(&plan->symbols[argument->index].address);
	if (argument->kind == SK_ARGUMENT_VALUE || argument->kind == SK_ARGUMENT_LENGTH ||
	    argument->kind == SK_ARGUMENT_EXPRESSION) {
		struct sk_plan_step sized_step = *step;
		struct sk_plan_argument sized = *argument;

		sized_step.extent = sk_sized_extent(instance, step);
		sized.value = SIZED(instance, call, argument, value);
		return sk_thunk_scalar(&sized_step, call, &sized);
	}
	return address_of(kernel, instance, call, argument);
}

/* Fill in the call's words and return the place after them. */
static uint64_t *fill_call(uint64_t *words, const struct skrt_kernel *kernel, const struct skrt_instance *instance,
			   const struct sk_plan_step *step)
{
	const struct sk_plan_view *plan = &kernel->module->plan;
	const struct sk_plan_call *call = sk_plan_step_calls(plan, step).first;
	const struct sk_plan_argument *arguments = sk_plan_arguments(plan, call);
	const struct sk_plan_kernel *record = &plan->kernels[call->kernel];
	bool vector_side = step->flags & SK_STEP_VECTOR_SIDE;

	words[SK_THUNK_KERNEL] = (uintptr_t)sk_plan_address(vector_side ? &record->vector_code : &record->code);
	words[SK_THUNK_TASK] = call->task;
	words += SK_THUNK_ARGUMENTS;
	for (uint32_t i = 0; i < call->argument_count; i++)
		*words++ = word_of(kernel, instance, step, call, &arguments[i]);
	return words;
}

static bool make_room(struct sk_words *words, uint32_t count)
{
	uint64_t *items;

	if (count <= words->room)
		return true;
	items = realloc(words->items, count * sizeof(*items));
	if (!items)
		return false;
	words->items = items;
	words->room = count;
	return true;
}

bool sk_words_fill(struct sk_words *words, const struct skrt_kernel *kernel, const struct skrt_instance *instance)
{
	const struct sk_plan_view *plan = &kernel->module->plan;
	const struct sk_plan_launch *launch = &plan->launches[kernel->launch];
	uint64_t *next;

	if (words->kernel == kernel && words->bound == instance->bound)
		return true;
	if (!make_room(words, sk_thunk_words(sk_plan_launch_calls(plan, launch))))
		return false;
	words->kernel = kernel;
	words->bound = instance->bound;
	next = words->items;
	for (uint32_t i = 0; i < sk_plan_form(launch)->step_count; i++)
		next = fill_call(next, kernel, instance, &plan->steps[launch->first_step + i]);
	return true;
}

void sk_words_hand(const struct sk_words *words, struct sk_core *abi)
{
	abi->bindings = (void *const *)words->items;
	abi->workspace = words->items;
}

/* ---- one thread alone ---- */

/* Prepare the only core: it has all of each partition, and is each home. */
static void prepare_core(struct sk_lone_core *core, const struct skrt_kernel *kernel,
			 const struct skrt_instance *instance)
{
	const struct sk_workspace *workspace = &instance->workspaces[kernel->unshared];
	const struct sk_plan_view *plan = &kernel->module->plan;
	const struct sk_plan_launch *launch = &plan->launches[kernel->launch];

	if (sk_plan_form(launch)->partition_count) {
		struct sk_plan_partition partition = sk_sized_partition(instance, launch->first_partition);

		core->range.high = sk_plan_part_start(&partition, 1, 1);
	}
	core->home = (struct sk_home){.word = &core->progress, .mine = 1};
	core->abi = (struct sk_core){
		.lane = sk_plan_form(launch)->lane_steps[0] ? 0 : 1,
		.count = 1,
		.failed_task = SK_NO_INDEX,
		.progress = &core->progress,
		.scratch = workspace->memory + workspace->scratch,
		.ranges = &core->range,
		.homes = &core->home,
	};
	sk_words_hand(&core->words, &core->abi);
}

bool sk_serial_prepare(struct skrt_instance *instance, const struct skrt_kernel *kernel)
{
	if (!kernel->thunk)
		return true;
	if (!sk_words_fill(&instance->lone_core.words, kernel, instance))
		return false;
	prepare_core(&instance->lone_core, kernel, instance);
	return true;
}

int sk_serial_run(struct skrt_instance *instance, const struct skrt_kernel *kernel)
{
	if (kernel->thunk)
		return kernel->entry(&instance->lone_core.abi);
	return kernel->serial_entry(instance->bindings, instance->workspaces[kernel->unshared].memory);
}
