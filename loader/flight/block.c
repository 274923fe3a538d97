/* The services of the runtime for blocks (skkernel.h): sk_sync_all, and flags between the sides of a mix task, for
 * blocks that run at once; the step's awaits and the publication of its progress, for kernels that start early.
 *
 * Each block has words that only it writes and that only grow: the number of times that it has set each flag, and that
 * it has called sk_sync_all. A waiting block reads the words of the others, as an await of the dispatcher does. The
 * words are 0 at the start of every launch. */
#include "config.h"

#include "loader/flight/flight.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/plan/plan.h"
#include "format/skabi.h"
#include "format/skkernel.h"
#include "format/skplan.h"
#include "loader/arch/machine.h"
#include "loader/core/core.h"

enum { SYNC = SK_FLAGS, WORDS };

struct sk_block_state {
	alignas(SK_LINE) uint64_t said[WORDS]; /* by flag, then SYNC: number of times */
	alignas(SK_LINE) uint64_t heard[SK_FLAGS]; /* by flag: sets that the block has waited for */
	uint64_t stage; /* number of its calls of sk_sync_all; UINT64_MAX: it has returned */
};

/* A block, and the states of its task's blocks. */
struct caller {
	struct sk_device_core *core;
	const struct skrt_kernel *kernel;
	const struct sk_plan_step *step; /* of its side */
	struct sk_block_state *state;
	uint32_t index, number; /* of the block; of the step in the launch */
};

static struct caller caller_of(const struct sk_block *block)
{
	struct sk_device_core *core = block->core;
	const struct skrt_kernel *kernel = core->flight->kernel;
	const struct sk_plan_view *plan = &kernel->module->plan;

	return (struct caller){
		.core = core,
		.kernel = kernel,
		.step = &plan->steps[plan->launches[kernel->launch].first_step + block->step],
		.state = kernel->blocks ? &kernel->blocks[kernel->first_blocks[block->step] + block->index] : NULL,
		.index = block->index,
		.number = block->step,
	};
}

static void publish_word(const struct caller *caller, uint32_t word)
{
	__atomic_store_n(&caller->state->said[word], caller->state->said[word] + 1, __ATOMIC_RELEASE);
}

static void wait_for(const struct caller *caller, const struct sk_block_state *other, uint32_t word, uint64_t times)
{
	if (__atomic_load_n(&other->said[word], __ATOMIC_ACQUIRE) < times &&
	    caller->core->abi.runtime->await(&caller->core->abi, &other->said[word], times, 1))
		sk_call_leave(SK_STATUS_ABORTED);
}

/* ---- blocks that run at once ---- */

/* Return the number of the core's block in the step; SK_NO_INDEX: it has none. */
static uint32_t block_of_core(const struct skrt_kernel *kernel, const struct sk_plan_step *step, uint32_t lane,
			      uint32_t core)
{
	const struct sk_plan_launch *launch = &kernel->module->plan.launches[kernel->launch];

	if (step->lane != lane)
		return SK_NO_INDEX;
	if (step->kind == SK_STEP_BLOCKS)
		return core >= step->first_core && core - step->first_core < step->blocks ? core - step->first_core
											  : SK_NO_INDEX;

	const struct sk_core_range *range =
		&kernel->ranges[sk_core_row(kernel->cores, lane, core) * kernel->partition_count +
				(step->partition - launch->first_partition)];

	return range->low < range->high ? (uint32_t)range->low : SK_NO_INDEX;
}

/* Return whether the core has one of the task's blocks, on either side. */
static bool is_busy(const struct skrt_kernel *kernel, const struct sk_plan_step *cube, uint32_t lane, uint32_t core)
{
	return block_of_core(kernel, cube, lane, core) != SK_NO_INDEX ||
	       (cube->flags & SK_STEP_CUBE_SIDE && block_of_core(kernel, cube + 1, lane, core) != SK_NO_INDEX);
}

/* The states of cores without a block follow those of the step's blocks. */
static struct sk_block_state *idle_state(const struct skrt_kernel *kernel, const struct sk_plan_step *step,
					 uint32_t core)
{
	const struct sk_plan_view *plan = &kernel->module->plan;
	uint32_t number = (uint32_t)(step - plan->steps) - plan->launches[kernel->launch].first_step;

	return &kernel->blocks[kernel->first_blocks[number] + step->blocks + core];
}

static void wait_for_idle(const struct caller *caller, const struct sk_plan_step *step)
{
	const struct sk_plan_step *cube = step - (step->flags & SK_STEP_VECTOR_SIDE ? 1 : 0);

	/* If both sides are on one lane, the idle cores have been waited for with the cube side. */
	if (step != cube && step->lane == cube->lane)
		return;
	for (uint32_t core = 0; core < caller->kernel->cores[step->lane]; core++)
		if (!is_busy(caller->kernel, cube, step->lane, core))
			wait_for(caller, idle_state(caller->kernel, step, core), SYNC, caller->state->said[SYNC]);
}

static void wait_for_side(const struct caller *caller, const struct sk_plan_step *step)
{
	const struct sk_plan_view *plan = &caller->kernel->module->plan;
	uint32_t number = (uint32_t)(step - plan->steps) - plan->launches[caller->kernel->launch].first_step;
	const struct sk_block_state *first = &caller->kernel->blocks[caller->kernel->first_blocks[number]];

	for (uint32_t i = 0; i < step->blocks; i++)
		wait_for(caller, &first[i], SYNC, caller->state->said[SYNC]);
	if (step->flags & SK_STEP_FEED)
		wait_for_idle(caller, step);
}

/* Wait for all blocks of the task, on both sides. */
static void sync_all(const struct sk_block *block)
{
	struct caller caller = caller_of(block);
	const struct sk_plan_step *cube = caller.step - (caller.step->flags & SK_STEP_VECTOR_SIDE ? 1 : 0);

	publish_word(&caller, SYNC);
	__atomic_store_n(&caller.state->stage, caller.state->said[SYNC], __ATOMIC_RELEASE);
	wait_for_side(&caller, cube);
	if (cube->flags & SK_STEP_CUBE_SIDE)
		wait_for_side(&caller, cube + 1);
}

/* This runs after the core's blocks. A core without one follows the first block of the task from call to call until
 * that block has returned. */
void sk_block_feed(struct sk_core *core, uint32_t number)
{
	struct caller caller = caller_of(&(struct sk_block){.core = core, .step = number});
	const struct sk_plan_step *cube = caller.step - (caller.step->flags & SK_STEP_VECTOR_SIDE ? 1 : 0);
	struct sk_block_state *leader =
		&caller.kernel->blocks[caller.kernel->first_blocks[number - (uint32_t)(caller.step - cube)]];
	uint64_t stage = 0;

	if (block_of_core(caller.kernel, cube, core->lane, core->index) == 0)
		__atomic_store_n(&leader->stage, UINT64_MAX, __ATOMIC_RELEASE);
	if (is_busy(caller.kernel, cube, core->lane, core->index))
		return;
	caller.state = idle_state(caller.kernel, caller.step, core->index);
	while (stage != UINT64_MAX) {
		if (__atomic_load_n(&leader->stage, __ATOMIC_ACQUIRE) <= stage &&
		    core->runtime->await(core, &leader->stage, stage + 1, 1))
			sk_call_leave(SK_STATUS_ABORTED);
		stage = __atomic_load_n(&leader->stage, __ATOMIC_ACQUIRE);
		__atomic_store_n(&caller.state->said[SYNC], stage, __ATOMIC_RELEASE);
	}
}

void sk_block_check_flag(const struct sk_block *block, uint32_t flag, const void *at)
{
	if (!(caller_of(block).step->flags & (SK_STEP_CUBE_SIDE | SK_STEP_VECTOR_SIDE)))
		sk_call_end("a function for flags, but is not 'mix',", at);
	if (flag >= SK_FLAGS)
		sk_call_end("a function for flags with an impossible number", at);
}

static void set_flag(const struct sk_block *block, uint32_t flag)
{
	struct caller caller = caller_of(block);

	sk_block_check_flag(block, flag, __builtin_return_address(0));
	publish_word(&caller, flag);
}

static void wait_flag(const struct sk_block *block, uint32_t flag)
{
	struct caller caller = caller_of(block);

	sk_block_check_flag(block, flag, __builtin_return_address(0));

	bool cube = caller.step->flags & SK_STEP_CUBE_SIDE;
	const struct sk_plan_step *others = cube ? caller.step + 1 : caller.step - 1;
	const struct sk_block_state *states =
		&caller.kernel->blocks[caller.kernel->first_blocks[cube ? caller.number + 1 : caller.number - 1]];
	uint32_t ratio = cube ? others->blocks / caller.step->blocks : caller.step->blocks / others->blocks;
	uint32_t first = cube ? caller.index * ratio : caller.index / ratio;
	uint64_t times = ++caller.state->heard[flag];

	for (uint32_t i = 0; i < (cube ? ratio : 1); i++)
		wait_for(&caller, &states[first + i], flag, times);
}

/* ---- kernels that start early ---- */

bool sk_block_await(struct sk_core *core, const struct sk_plan_launch *launch, const struct sk_plan_step *awaited)
{
	const struct sk_lane *lane = &core->lanes[awaited->lane];
	const volatile uint64_t *word = lane->words;
	uint64_t target = lane->base + awaited->number, count = lane->count;

	if (awaited->core_set != SK_ALL_CORES) {
		word = core->homes[awaited->core_set - launch->first_home].word;
		count = 1;
	}
	for (; count && __atomic_load_n(word, __ATOMIC_ACQUIRE) >= target; count--)
		word += SK_PROGRESS_STRIDE / sizeof(*word);
	return !count || !core->runtime->await(core, word, target, count);
}

static void wait_pre_task_end(const struct sk_block *block)
{
	struct caller caller = caller_of(block);
	const struct sk_plan_view *plan = &caller.kernel->module->plan;

	if (!(caller.step->flags & SK_STEP_EARLY_WAIT) || block->waited)
		return;
	for (uint32_t i = 0; i < caller.step->await_count; i++)
		if (!sk_block_await(&caller.core->abi, &plan->launches[caller.kernel->launch],
				    &plan->steps[plan->awaits[caller.step->first_await + i].step]))
			sk_call_leave(SK_STATUS_ABORTED);
	/* The block belongs to the dispatcher, which has it on its stack, so it is writable. */
	((struct sk_block *)(uintptr_t)block)->waited = 1;
}

static bool is_last_of_core(const struct caller *caller)
{
	const struct sk_plan_launch *launch = &caller->kernel->module->plan.launches[caller->kernel->launch];
	const struct sk_core *core = &caller->core->abi;

	switch (caller->step->kind) {
	case SK_STEP_BLOCKS:
		return caller->step->flags & SK_STEP_RESIDENT ||
		       (uint64_t)caller->index + core->count >= caller->step->blocks;
	case SK_STEP_BLOCKS_RANGE:
		return caller->index + UINT64_C(1) ==
		       core->ranges[caller->step->partition - launch->first_partition].high;
	default:
		return true;
	}
}

bool sk_block_publishes(const struct sk_block *block)
{
	struct caller caller = caller_of(block);

	return caller.step->flags & SK_STEP_EARLY_SET && caller.step->flags & SK_STEP_PUBLISH &&
	       is_last_of_core(&caller);
}

/* Await first: any core that awaits this step infers that this core has passed the step's own awaits. */
static void set_next_task_start(const struct sk_block *block)
{
	struct caller caller = caller_of(block);
	const struct sk_core *core = &caller.core->abi;

	if (!sk_block_publishes(block))
		return;
	wait_pre_task_end(block);
	if (caller.step->flags & SK_STEP_NONTEMPORAL)
		sk_order_nontemporal();
	__atomic_store_n(core->progress, core->lanes[core->lane].base + caller.step->number, __ATOMIC_RELEASE);
}

const struct sk_block_functions sk_block_functions = {sync_all, set_flag, wait_flag, wait_pre_task_end,
						      set_next_task_start, sk_block_exchange};

/* ---- around a launch ---- */

bool sk_block_prepare(struct skrt_kernel *kernel)
{
	const struct sk_plan_view *plan = &kernel->module->plan;
	const struct sk_plan_launch *launch = &plan->launches[kernel->launch];
	uint64_t count = 0;

	if (!sk_plan_is_resident(launch) || kernel->blocks)
		return true;
	free(kernel->first_blocks); /* of an attempt that failed */
	kernel->first_blocks = calloc(sk_plan_form(launch)->step_count, sizeof(*kernel->first_blocks));
	for (uint32_t i = 0; i < sk_plan_form(launch)->step_count && kernel->first_blocks; i++) {
		const struct sk_plan_step *step = &plan->steps[launch->first_step + i];

		kernel->first_blocks[i] = (uint32_t)count;
		if (step->flags & SK_STEP_RESIDENT)
			count += step->blocks;
		if (step->flags & SK_STEP_FEED)
			count += kernel->cores[step->lane];
		if (count > UINT32_MAX)
			return false;
	}
	kernel->blocks = aligned_alloc(SK_LINE, (count + 1) * sizeof(*kernel->blocks));
	kernel->block_count = (uint32_t)count;
	return kernel->first_blocks && kernel->blocks;
}

void sk_block_reset(const struct skrt_kernel *kernel)
{
	memset(kernel->blocks, 0, kernel->block_count * sizeof(*kernel->blocks));
}

/* ---- hangs ---- */

bool sk_block_describe(const struct skrt_kernel *kernel, const struct sk_device_core *waiting, char *text, size_t size)
{
	const struct sk_plan_view *plan = &kernel->module->plan;
	const struct sk_plan_launch *launch = &plan->launches[kernel->launch];
	uint64_t offset = (uintptr_t)waiting->word - (uintptr_t)kernel->blocks;
	uint32_t block = (uint32_t)(offset / sizeof(*kernel->blocks)), i = sk_plan_form(launch)->step_count - 1;

	if (!kernel->blocks || offset >= kernel->block_count * sizeof(*kernel->blocks))
		return false;
	while (kernel->first_blocks[i] > block || !(plan->steps[launch->first_step + i].flags & SK_STEP_RESIDENT))
		i--;

	const struct sk_plan_step *step = &plan->steps[launch->first_step + i];
	uint64_t word = offset % sizeof(*kernel->blocks) / sizeof(uint64_t);
	const char *side = step->flags & SK_STEP_CUBE_SIDE     ? " of the cube side"
			   : step->flags & SK_STEP_VECTOR_SIDE ? " of the vector side"
							       : "";
	const char *waker = "block";
	char call[48] = "sk_sync_all";

	block -= kernel->first_blocks[i];
	if (block >= step->blocks) {
		waker = "idle core";
		block -= step->blocks;
	}
	if (word < SYNC)
		snprintf(call, sizeof(call), "sk_set_flag of flag %" PRIu64, word);
	snprintf(text, size, "in task '%s' waits for %s by %s %" PRIu32 "%s",
		 sk_plan_string(&sk_plan_step_task(plan, step)->name), call, waker, block, side);
	return true;
}
