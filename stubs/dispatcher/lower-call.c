/* One call of a step: the loop of tiles or of blocks around it, and the ops after it. In: a call of the plan. Out:
 * ops. */
#include "stubs/dispatcher/dispatcher-parts.h"

#include "base/arena.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "stubs/dispatcher/ops.h"

enum { CALLS_RUNTIME = SK_STEP_RESIDENT | SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET };

/* Lower the ops that the arguments need after the call. */
static void lower_results(struct sk_lowering *l, const struct sk_plan_call *call)
{
	const struct sk_plan_argument *arguments = sk_plan_arguments(l->plan, call);

	for (uint32_t i = 0; i < call->argument_count; i++) {
		if (arguments[i].kind == SK_ARGUMENT_RESULT)
			sk_lowering_push(l, (struct sk_op){.kind = SK_OP_RESULT,
							   .result = {.call = call, .argument = &arguments[i]}});
		if (arguments[i].flags & SK_ARGUMENT_STATUS)
			sk_lowering_push(l, (struct sk_op){.kind = SK_OP_STATUS,
							   .status = {.task = call->task, .argument = &arguments[i]}});
	}
}

/* Return the part that the call, or the loop around it, computes. A serial entry computes the whole extent at once. */
static enum sk_op_part part_of(const struct sk_lowering *l, const struct sk_plan_step *step,
			       const struct sk_plan_call *call)
{
	if (step->tile)
		return call->scale == 1 ? SK_PART_TILE : SK_PART_SCALED;
	return l->program->serial ? SK_PART_ALL : SK_PART_OF_CORE;
}

static void lower_call(struct sk_lowering *l, const struct sk_plan_step *step, const struct sk_plan_call *call)
{
	enum sk_op_part part = part_of(l, step, call);
	sk_lowering_push(
		l, (struct sk_op){
			   .kind = SK_OP_CALL,
			   .call = {.record = call,
				    .kernel = sk_lowering_kernel(l, call),
				    .divided = step->kind == SK_STEP_SPLIT && (part != SK_PART_ALL || call->loop_count),
				    .part = part,
				    .vector_side = step->flags & SK_STEP_VECTOR_SIDE,
				    .extent = step->extent * call->scale,
				    .step_extent = SK_OP_NUMBER(l->program, SK_DIMS_STEPS, steps, step, extent),
				    .arguments = sk_plan_arguments(l->plan, call),
				    .argument_count = call->argument_count,
				    .loops = sk_plan_loops(l->plan, call),
				    .loop_count = call->loop_count},
		   });
	lower_results(l, call);
	if (call->flags & SK_CALL_STATUS)
		sk_lowering_push(l, (struct sk_op){.kind = SK_OP_STATUS, .status = {.task = call->task}});
	if (step->flags & SK_STEP_EARLY_WAIT && !l->program->serial)
		sk_lowering_push(l, (struct sk_op){.kind = SK_OP_WAITED, .waited = {.task = call->task}});
}

/* Return the step's blocks for this core, with a label after them. */
static struct sk_op_blocks blocks_of(struct sk_lowering *l, const struct sk_plan_step *step)
{
	struct sk_op_blocks blocks = {
		.label = sk_lowering_new_label(l),
		.count = step->kind == SK_STEP_PLAIN ? 1 : step->blocks,
		.first_core = step->first_core,
		.calls_runtime = step->flags & CALLS_RUNTIME && !l->program->serial,
		.step = (uint32_t)(step - l->plan->steps) - l->launch->first_step,
		.order = l->program->serial || step->kind == SK_STEP_PLAIN ? SK_ORDER_ALL
			 : step->kind == SK_STEP_BLOCKS_RANGE		   ? SK_ORDER_OF_RANGE
			 : step->flags & SK_STEP_RESIDENT		   ? SK_ORDER_RESIDENT
									   : SK_ORDER_OF_CORE,
	};

	if (blocks.order == SK_ORDER_OF_RANGE)
		blocks.partition = step->partition - l->launch->first_partition;
	return blocks;
}

uint32_t sk_lower_guard(struct sk_lowering *l, const struct sk_plan_step *step)
{
	struct sk_op_blocks blocks = blocks_of(l, step);

	blocks.calls_runtime = false;
	sk_lowering_push(l, (struct sk_op){.kind = SK_OP_BLOCKS_GUARD, .blocks = blocks});
	return blocks.label;
}

static void lower_blocks(struct sk_lowering *l, const struct sk_plan_step *step, const struct sk_plan_call *call)
{
	struct sk_op_blocks blocks = blocks_of(l, step);

	sk_lowering_push(l, (struct sk_op){.kind = SK_OP_BLOCKS_BEGIN, .blocks = blocks});
	lower_call(l, step, call);
	sk_lowering_push(l, (struct sk_op){.kind = SK_OP_BLOCKS_END, .blocks = blocks});
	sk_lowering_label(l, blocks.label);
}

static bool may_be_empty(const struct sk_lowering *l, const struct sk_op_tiles *tiles)
{
	if (tiles->part == SK_PART_ALL)
		return sk_op_varies(SK_OP_NUMBER(l->program, SK_DIMS_LOOPS, loops, tiles->loop, extent));
	return tiles->part == SK_PART_OF_CORE;
}

/* The outer loop covers this core's range, or the tile; the inner one, and in a serial entry both, cover the whole
 * extent. */
static void lower_tiles(struct sk_lowering *l, const struct sk_plan_step *step, const struct sk_plan_call *call)
{
	const struct sk_plan_loop *loops = sk_plan_loops(l->plan, call);
	struct sk_op_tiles tiles[SK_MAX_LOOPS];

	for (uint32_t level = 0; level < call->loop_count; level++) {
		tiles[level] = (struct sk_op_tiles){.loop = &loops[level], .level = level, .part = SK_PART_ALL};
		if (level == 0)
			tiles[level].part = part_of(l, step, call);
		if (tiles[level].part == SK_PART_OF_CORE)
			tiles[level].partition = step->partition - l->launch->first_partition;
		if (may_be_empty(l, &tiles[level]))
			tiles[level].label = sk_lowering_new_label(l);
		sk_lowering_push(l, (struct sk_op){.kind = SK_OP_TILES_BEGIN, .tiles = tiles[level]});
	}
	lower_call(l, step, call);
	for (uint32_t level = call->loop_count; level-- > 0;) {
		sk_lowering_push(l, (struct sk_op){.kind = SK_OP_TILES_END, .tiles = tiles[level]});
		if (level > 0 && may_be_empty(l, &tiles[level]))
			sk_lowering_label(l, tiles[level].label);
	}
	if (may_be_empty(l, &tiles[0]))
		sk_lowering_label(l, tiles[0].label);
}

/* A whole extent may be empty, like any core's range. */
static void lower_whole(struct sk_lowering *l, const struct sk_plan_step *step, const struct sk_plan_call *call)
{
	struct sk_op_number extent = SK_OP_NUMBER(l->program, SK_DIMS_STEPS, steps, step, extent);
	struct sk_op op = {.kind = SK_OP_EMPTY, .empty = {.count = 1}};
	struct sk_op_number *numbers;

	if (!sk_op_varies(extent)) {
		if (step->extent != 0)
			lower_call(l, step, call);
		return;
	}
	op.empty.label = sk_lowering_new_label(l);
	op.empty.numbers = numbers = SK_NEW(l->arena, struct sk_op_number);
	*numbers = extent;
	sk_lowering_push(l, op);
	lower_call(l, step, call);
	sk_lowering_label(l, op.empty.label);
}

static void lower_split(struct sk_lowering *l, const struct sk_plan_step *step, const struct sk_plan_call *call)
{
	struct sk_op range = {.kind = SK_OP_RANGE, .range = {.part = part_of(l, step, call)}};

	if (range.range.part == SK_PART_SCALED)
		sk_lowering_push(l, (struct sk_op){.kind = SK_OP_SCALE, .scale = call->scale});
	if (call->loop_count) {
		lower_tiles(l, step, call);
		return;
	}
	if (range.range.part == SK_PART_ALL) {
		lower_whole(l, step, call);
		return;
	}
	if (range.range.part == SK_PART_OF_CORE) {
		range.range.partition = step->partition - l->launch->first_partition;
		range.range.label = sk_lowering_new_label(l);
	}
	sk_lowering_push(l, range);
	lower_call(l, step, call);
	if (range.range.part == SK_PART_OF_CORE)
		sk_lowering_label(l, range.range.label);
}

static bool has_block(const struct sk_lowering *l, const struct sk_plan_call *call)
{
	const struct sk_plan_argument *arguments = sk_plan_arguments(l->plan, call);

	for (uint32_t i = 0; i < call->argument_count; i++)
		if (arguments[i].kind == SK_ARGUMENT_BLOCK)
			return true;
	return false;
}

/* Return the label after a call that has nothing to compute at some sizes; SK_NO_INDEX: it always computes
 * something. */
static uint32_t lower_empty(struct sk_lowering *l, const struct sk_plan_step *step, const struct sk_plan_call *call)
{
	struct sk_op op = {.kind = SK_OP_EMPTY};
	struct sk_op_slots *slots = l->program->slots;

	op.empty.count = sk_op_written(slots, call, &op.empty.numbers);
	if (!op.empty.count)
		return SK_NO_INDEX;
	if (step->flags & SK_STEP_FEED && !slots->reason)
		slots->reason = sk_arena_print(slots->arena,
					       "task %s: blocks that run at once have nothing to compute at some sizes",
					       sk_plan_string(&l->plan->tasks[call->task].name));
	op.empty.label = sk_lowering_new_label(l);
	sk_lowering_push(l, op);
	return op.empty.label;
}

static void lower_present(struct sk_lowering *l, const struct sk_plan_step *step, const struct sk_plan_call *call)
{
	switch ((enum sk_step_kind)step->kind) {
	case SK_STEP_SPLIT:
		lower_split(l, step, call);
		break;
	case SK_STEP_BLOCKS:
	case SK_STEP_BLOCKS_RANGE:
		if (step->blocks != 0)
			lower_blocks(l, step, call);
		break;
	default:
		if (has_block(l, call))
			lower_blocks(l, step, call);
		else
			lower_call(l, step, call);
	}
}

void sk_lower_part(struct sk_lowering *l, const struct sk_plan_step *step, const struct sk_plan_call *call)
{
	uint32_t label = lower_empty(l, step, call);

	lower_present(l, step, call);
	if (label != SK_NO_INDEX)
		sk_lowering_label(l, label);
}
