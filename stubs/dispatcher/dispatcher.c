/* From a launch of the plan to neutral ops. In: a launch that sk_plan_check_launch has accepted. Out: the ops of its
 * parallel or its serial entry, which the architecture's emitter turns into code.
 *
 * Ops also mark the start of a task's code, without effect on the code.
 *
 * parallel   [entry: fork by lane]  [fork by copy of the kernels]
 *              { home guard { preload … await … call … publish } … } epilogue,  for each lane and copy;
 *            with SK_STEP_TIMED also a time before the awaits, and before and after each call; for a step in tiles
 *            before and after all of them, and in some tiles before and after each call
 * serial     { call … } epilogue,  all lanes' steps in the launch's order
 *
 * A call of blocks or of tiles is in a loop. */
#include "stubs/dispatcher/dispatcher.h"
#include "base/arena.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "stubs/dispatcher/dispatcher-parts.h"
#include "stubs/dispatcher/ops.h"

static struct sk_plan_calls calls_of(const struct sk_lowering *l, const struct sk_plan_step *step)
{
	return sk_plan_step_calls(l->plan, step);
}

static void push_task(struct sk_lowering *l, uint32_t task)
{
	sk_lowering_push(l, (struct sk_op){.kind = SK_OP_TASK, .part = {.task = task}});
}

static void push_frame(struct sk_lowering *l, const struct sk_plan_step *step)
{
	sk_lowering_push(l, (struct sk_op){.kind = SK_OP_FRAME, .part = {.task = calls_of(l, step).first->task}});
}

/* ---- one step ---- */

static void lower_time(struct sk_lowering *l, const struct sk_plan_step *step, enum sk_moment moment)
{
	struct sk_op op = {.kind = SK_OP_TIME, .time = {.row = l->row, .moment = moment, .tiled_row = l->tiled_row}};

	if (step->flags & SK_STEP_TIMED && !l->program->serial)
		sk_lowering_push(l, op);
}

/* Between two calls of a step. */
static void next_call(struct sk_lowering *l, const struct sk_plan_step *step, const struct sk_plan_call *call)
{
	lower_time(l, step, SK_ENDED);
	l->row = ++l->row_count;
	push_task(l, call->task);
	lower_time(l, step, SK_BEGAN);
}

static void lower_calls(struct sk_lowering *l, const struct sk_plan_step *step)
{
	struct sk_plan_calls calls = calls_of(l, step);

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++) {
		if (call > calls.first)
			next_call(l, step, call);
		sk_lower_part(l, step, call);
	}
}

/* The calls of a step in tiles have rows of their own for sums, after the step's row. */
static void lower_timed_calls(struct sk_lowering *l, const struct sk_plan_step *step)
{
	if (!(step->flags & SK_STEP_TIMED) || l->program->serial) {
		lower_calls(l, step);
		return;
	}
	l->tiled_row = l->row;
	l->row = ++l->row_count;
	lower_time(l, step, SK_BEGAN);
	lower_calls(l, step);
	lower_time(l, step, SK_ENDED);
	l->row = l->tiled_row;
	l->tiled_row = 0;
	sk_lowering_push(l, (struct sk_op){.kind = SK_OP_TIMED_TILE, .time = {.row = l->row, .moment = SK_ENDED}});
}

static void lower_group(struct sk_lowering *l, const struct sk_plan_step *step)
{
	struct sk_op_group group = {
		.extent = l->program->serial ? SK_OP_NUMBER(l->program, SK_DIMS_STEPS, steps, step, extent)
					     : (struct sk_op_number){.slot = SK_NO_INDEX},
		.tile = step->tile,
		.partition = step->partition - l->launch->first_partition,
		.label = sk_lowering_new_label(l),
	};

	sk_lowering_push(l, (struct sk_op){.kind = SK_OP_GROUP_BEGIN, .group = group});
	lower_timed_calls(l, step);
	sk_lowering_push(l, (struct sk_op){.kind = SK_OP_GROUP_END, .group = group});
	sk_lowering_label(l, group.label);
}

static void lower_body(struct sk_lowering *l, const struct sk_plan_step *step)
{
	if (step->tile)
		lower_group(l, step);
	else
		lower_calls(l, step);
	if (step->flags & SK_STEP_FEED)
		sk_lowering_push(l, (struct sk_op){
					    .kind = SK_OP_FEED,
					    .feed = {.step = (uint32_t)(step - l->plan->steps) - l->launch->first_step},
				    });
	if (step->flags & SK_STEP_NONTEMPORAL)
		sk_lowering_push(l, (struct sk_op){.kind = SK_OP_FENCE});
}

/* ---- the programs ---- */

static void lower_awaits(struct sk_lowering *l, const struct sk_plan_step *step)
{
	for (uint32_t i = 0; i < step->await_count; i++) {
		const struct sk_plan_step *awaited = l->plan->steps + l->plan->awaits[step->first_await + i].step;
		struct sk_op op = {
			.kind = SK_OP_AWAIT_ALL,
			.await = {.lane = awaited->lane, .number = awaited->number},
		};

		if (awaited->core_set != SK_ALL_CORES) {
			op.kind = SK_OP_AWAIT_HOME;
			op.await.home = awaited->core_set - l->launch->first_home;
		}
		sk_lowering_push(l, op);
	}
}

/* Cores without a block may skip them. */
static void lower_first_awaits(struct sk_lowering *l, const struct sk_plan_step *step)
{
	bool skips = step->flags & SK_STEP_OWN_AWAITS && step->await_count && step->blocks;
	uint32_t label = skips ? sk_lower_guard(l, step) : 0;

	lower_awaits(l, step);
	if (skips)
		sk_lowering_label(l, label);
}

static void close_guard(struct sk_lowering *l)
{
	if (l->guard != SK_ALL_CORES)
		sk_lowering_label(l, l->guard_label);
	l->guard = SK_ALL_CORES;
}

/* Consecutive steps on one home share a guard: other cores jump over all of them at once. */
static void open_guard(struct sk_lowering *l, uint32_t core_set)
{
	if (core_set == l->guard)
		return;
	close_guard(l);
	if (core_set == SK_ALL_CORES)
		return;
	l->guard = core_set;
	l->guard_label = sk_lowering_new_label(l);
	sk_lowering_push(l, (struct sk_op){
				    .kind = SK_OP_HOME_GUARD,
				    .home_guard = {.home = core_set - l->launch->first_home, .label = l->guard_label},
			    });
}

/* ---- prefetching code ---- */

/* Return the next step of the lane after `index`; after the launch's last one, the number of steps. */
static uint32_t next_of_lane(const struct sk_lowering *l, uint32_t index, uint32_t lane)
{
	do
		index++;
	while (index < sk_plan_form(l->launch)->step_count &&
	       l->plan->steps[l->launch->first_step + index].lane != lane);
	return index;
}

static bool is_called(struct sk_plan_calls calls, uint32_t kernel)
{
	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		if (call->kernel == kernel)
			return true;
	return false;
}

/* there: a step with code that has been fetched already, or NULL. */
static void push_preloads(struct sk_lowering *l, const struct sk_plan_step *step, const struct sk_plan_step *there)
{
	bool same_side = there && !((step->flags ^ there->flags) & SK_STEP_VECTOR_SIDE);
	struct sk_plan_calls calls = calls_of(l, step);

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++) {
		uint64_t bytes =
			sk_plan_preload_bytes(sk_plan_form(l->launch)->preload, sk_plan_code_size(l->plan, step, call));

		if ((same_side && is_called(calls_of(l, there), call->kernel)) ||
		    is_called((struct sk_plan_calls){calls.first, call}, call->kernel) ||
		    (l->plan->kernels[call->kernel].flags & SK_KERNEL_IMPORTED))
			continue;
		sk_lowering_push(l, (struct sk_op){
					    .kind = SK_OP_PRELOAD,
					    .preload = {.kernel = sk_lowering_kernel(l, call),
							.vector_side = step->flags & SK_STEP_VECTOR_SIDE,
							.lines = (uint32_t)(bytes / SK_PRELOAD_LINE)},
				    });
	}
}

/* The code of a step's kernels is fetched while the step before it in the lane waits and runs, if all cores of the step
 * also run that one. Otherwise, and for the first step of a lane, it is fetched while the step itself waits. A kernel
 * that two steps in a row call is not fetched again. */
static void lower_preloads(struct sk_lowering *l, uint32_t before, uint32_t index, uint32_t after)
{
	const struct sk_plan_step *steps = l->plan->steps + l->launch->first_step;
	const struct sk_plan_step *step = &steps[index];

	if (sk_plan_form(l->launch)->preload == SK_PRELOAD_NONE)
		return;
	if (before == SK_NO_INDEX || !sk_plan_preloads(&steps[before], step))
		push_preloads(l, step, NULL);
	if (after < sk_plan_form(l->launch)->step_count && sk_plan_preloads(step, &steps[after]))
		push_preloads(l, &steps[after], step);
}

/* The start of a function belongs to the lane's first step. */
static void push_first_frame(struct sk_lowering *l, uint32_t lane)
{
	for (uint32_t i = 0; i < sk_plan_form(l->launch)->step_count; i++) {
		const struct sk_plan_step *step = &l->plan->steps[l->launch->first_step + i];

		if (step->lane != lane && !l->program->serial)
			continue;
		push_frame(l, step);
		break;
	}
}

/* The prologue belongs to the first step, the epilogue to the last one. */
static void lower_prologue(struct sk_lowering *l, uint32_t lane)
{
	push_first_frame(l, lane);
	sk_lowering_push(l, (struct sk_op){.kind = SK_OP_PROLOGUE, .prologue = {.lane = lane}});
}

static void lower_run(struct sk_lowering *l, const struct sk_plan_step *step)
{
	lower_time(l, step, SK_BEGAN);
	if (step->flags & SK_STEP_FLUSH_BEFORE)
		sk_lowering_push(l, (struct sk_op){.kind = SK_OP_FLUSH});
	lower_body(l, step);
	if (step->flags & SK_STEP_FLUSH_AFTER)
		sk_lowering_push(l, (struct sk_op){.kind = SK_OP_FLUSH});
}

static void lower_lane(struct sk_lowering *l, uint32_t lane)
{
	uint32_t before = SK_NO_INDEX;

	lower_prologue(l, lane);
	l->row_count = 0;
	for (uint32_t i = next_of_lane(l, SK_NO_INDEX, lane); i < sk_plan_form(l->launch)->step_count;) {
		const struct sk_plan_step *step = &l->plan->steps[l->launch->first_step + i];
		uint32_t after = next_of_lane(l, i, lane);

		l->row = ++l->row_count;
		push_task(l, calls_of(l, step).first->task);
		open_guard(l, step->core_set);
		lower_preloads(l, before, i, after);
		if (step->flags & SK_STEP_EARLY_WAIT) {
			/* After the call all cores know the results of the awaits, including cores without a block. */
			lower_run(l, step);
			lower_awaits(l, step);
		} else {
			if (step->await_count)
				lower_time(l, step, SK_ARRIVED);
			lower_first_awaits(l, step);
			lower_run(l, step);
		}
		lower_time(l, step, SK_ENDED);
		if (step->flags & SK_STEP_PUBLISH)
			sk_lowering_push(l, (struct sk_op){.kind = SK_OP_PUBLISH, .publish = {.number = step->number}});
		before = i;
		i = after;
	}
	close_guard(l);
	sk_lowering_push(l, (struct sk_op){.kind = SK_OP_EPILOGUE});
}

static void push_function(struct sk_lowering *l, const char *name)
{
	sk_lowering_push(l, (struct sk_op){.kind = SK_OP_FUNCTION, .function = {.name = name}});
}

/* Lower the lane's program in the current function, and then once for each other copy of the kernels. */
static void lower_copies(struct sk_lowering *l, const char *name, uint32_t lane)
{
	uint32_t copies = sk_plan_form(l->launch)->copies, first = l->program->label_count;

	if (copies < 2) {
		lower_lane(l, lane);
		return;
	}
	l->program->label_count += copies - 1;
	push_first_frame(l, lane);
	sk_lowering_push(l, (struct sk_op){.kind = SK_OP_SPLIT, .split = {.copies = copies, .first_label = first}});
	lower_lane(l, lane);
	for (l->copy = 1; l->copy < copies; l->copy++) {
		sk_lowering_label(l, first + l->copy - 1);
		push_function(l, sk_arena_print(l->code->arena, "%s.split%u", name, l->copy));
		lower_lane(l, lane);
	}
	l->copy = 0;
}

static void lower_lane_function(struct sk_lowering *l, const char *entry, uint32_t lane)
{
	const char *name = sk_arena_print(l->code->arena, "%s.%s", entry, sk_plan_string(&l->plan->lanes[lane]));

	push_function(l, name);
	lower_copies(l, name, lane);
}

/* With two lanes the entry falls through to the first one's program. */
static void lower_parallel(struct sk_lowering *l, const char *name)
{
	bool two = sk_plan_form(l->launch)->lane_steps[0] != 0 && sk_plan_form(l->launch)->lane_steps[1] != 0;

	push_function(l, name);
	if (!two) {
		lower_copies(l, name, sk_plan_form(l->launch)->lane_steps[0] != 0 ? 0 : 1);
		return;
	}
	uint32_t label = sk_lowering_new_label(l);

	push_frame(l, &l->plan->steps[l->launch->first_step]);
	sk_lowering_push(l, (struct sk_op){.kind = SK_OP_FORK, .fork = {.lane = 0, .label = label}});
	lower_lane_function(l, name, 0);
	sk_lowering_label(l, label);
	lower_lane_function(l, name, 1);
}

static void lower_serial(struct sk_lowering *l, const char *name)
{
	uint64_t size = sk_plan_form(l->launch)->kind == SK_LAUNCH_TASK ? l->plan->plan->unshared_workspace_size
									: l->plan->plan->workspace_size;

	l->program->serial = true;
	l->program->serial_scratch = size;
	push_function(l, name);
	lower_prologue(l, 0);
	for (uint32_t i = 0; i < sk_plan_form(l->launch)->step_count; i++) {
		const struct sk_plan_step *step = &l->plan->steps[l->launch->first_step + i];

		push_task(l, calls_of(l, step).first->task);
		lower_body(l, step);
	}
	sk_lowering_push(l, (struct sk_op){.kind = SK_OP_EPILOGUE});
}

/* Values that differ between tasks are not in a thunk's code. It therefore has no references, and no part of it belongs
 * to one task. */
static const char *emit_thunk(struct sk_arena *scratch, const struct sk_plan_view *plan,
			      const struct sk_plan_launch *launch, const char *name, struct sk_code *code)
{
	const struct sk_emitter *emitter = sk_emitter_find(plan->plan->machine);
	struct sk_thunk thunk;
	struct sk_entry_ops program = {.plan = &thunk.plan, .thunk = true};
	struct sk_lowering lowering = {
		.arena = scratch,
		.plan = &thunk.plan,
		.program = &program,
		.code = code,
		.guard = SK_ALL_CORES,
	};
	size_t parts = code->parts.count;

	sk_thunk_make(scratch, plan, launch, &thunk);
	lowering.launch = thunk.plan.launches;
	lower_parallel(&lowering, name);

	const char *reason = emitter->emit(scratch, &program, code);

	code->parts.count = parts;
	return reason;
}

/* `reads` as in struct sk_op_slots. */
static const char *emit_entry(struct sk_arena *scratch, const struct sk_plan_view *plan,
			      const struct sk_dims_view *dims, bool *reads, uint32_t launch, enum sk_entry_kind kind,
			      const char *name, struct sk_code *code)
{
	const struct sk_emitter *emitter = sk_emitter_find(plan->plan->machine);
	struct sk_op_slots *slots = sk_op_slots_make(scratch, plan, dims, reads);
	struct sk_entry_ops program = {
		.plan = plan, .slots = slots, .alignment = sk_plan_form(&plan->launches[launch])->func_align};
	struct sk_lowering lowering = {
		.arena = scratch,
		.plan = plan,
		.launch = &plan->launches[launch],
		.program = &program,
		.code = code,
		.guard = SK_ALL_CORES,
	};

	if (!emitter)
		return sk_arena_print(scratch, "dispatchers for ELF machine %u are not supported", plan->plan->machine);

	const char *reason = sk_dispatcher_check(scratch, plan, lowering.launch);

	if (reason)
		return reason;
	if (kind == SK_ENTRY_SERIAL && sk_plan_is_resident(lowering.launch))
		return "blocks that run at once have no serial entry";
	if (sk_plan_has_thunk(lowering.launch) && !sk_thunk_takes(scratch, plan, dims, lowering.launch))
		return "the numbers in its thunk vary with the sizes";
	if (sk_plan_has_thunk(lowering.launch))
		return kind == SK_ENTRY_SERIAL ? "a thunk has no serial entry"
					       : emit_thunk(scratch, plan, lowering.launch, name, code);
	if (kind == SK_ENTRY_PARALLEL)
		lower_parallel(&lowering, name);
	else
		lower_serial(&lowering, name);
	reason = emitter->emit(scratch, &program, code);
	return slots && slots->reason ? slots->reason : reason;
}

const char *sk_dispatcher_emit(struct sk_arena *scratch, const struct sk_plan_view *plan,
			       const struct sk_dims_view *dims, uint32_t launch, enum sk_entry_kind kind,
			       const char *name, struct sk_code *code)
{
	return emit_entry(scratch, plan, dims, NULL, launch, kind, name, code);
}

const char *sk_dispatcher_read(struct sk_arena *scratch, const struct sk_plan_view *plan,
			       const struct sk_dims_view *dims, uint32_t launch, bool *reads)
{
	const struct sk_plan_launch *record = &plan->launches[launch];
	struct sk_code code = {.arena = scratch};
	const char *reason = emit_entry(scratch, plan, dims, reads, launch, SK_ENTRY_PARALLEL, "", &code);

	if (reason || sk_plan_is_resident(record) || sk_plan_has_thunk(record))
		return reason;
	return emit_entry(scratch, plan, dims, reads, launch, SK_ENTRY_SERIAL, "", &code);
}
