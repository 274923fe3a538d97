/* From a launch of the plan to neutral ops. In: a launch that sk_plan_check_launch has accepted. Out: the ops of its
 * parallel or its serial entry, which the architecture's emitter turns into code.
 *
 * Where a task's code begins is told on the way, and changes nothing in the code.
 *
 *   parallel   [entry: fork by lane]  [fork by copy of the kernels]
 *              { home guard { preload … await … call … publish } … } epilogue, for each lane and copy;
 *              with SK_STEP_TIMED also a time before the awaits, and before and behind each call
 *   serial     { call … } epilogue, all lanes' steps in the launch's order
 *
 * A call of blocks or of tiles stands in a loop.
 */
#include "stubs/dispatcher/dispatcher.h"

#include "stubs/dispatcher/emit.h"

/* Bounds that keep every offset and frame within what instructions can hold. Plans that exceed them are not useful
 * ones. */
enum {
	MOST_ARGUMENTS = 256, /* of one call */
	MOST_TABLE_ROWS = 1 << 24, /* homes, partitions, bindings, addresses in a field */
	MOST_NUMBER = INT32_MAX, /* step numbers and blocks */
	MOST_TIMED = INT32_MAX / (int)sizeof(struct sk_times), /* calls of a launch whose times are noted */
};

enum { CALLS_RUNTIME = SK_STEP_RESIDENT | SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET };

struct lowering {
	struct sk_arena *arena; /* scratch */
	const struct sk_plan_view *plan;
	const struct sk_plan_launch *launch;
	struct sk_entry_ops *program;
	struct sk_code *code;
	uint32_t guard; /* the home whose run of steps is open, or SK_ALL_CORES */
	uint32_t guard_label; /* behind the run */
	uint32_t copy; /* of the kernels' code that is called */
	uint32_t timed; /* the call whose times are noted: its number in its lane's program, from 1 */
};

static void push(struct lowering *l, struct sk_op op)
{
	sk_array_push(l->arena, &l->program->ops, op);
}

static uint32_t new_label(struct lowering *l)
{
	return l->program->label_count++;
}

static void push_label(struct lowering *l, uint32_t label)
{
	push(l, (struct sk_op){.kind = SK_OP_LABEL, .label = label});
}

static struct sk_plan_calls calls_of(const struct lowering *l, const struct sk_plan_step *step)
{
	return sk_plan_step_calls(l->plan, step);
}

static void push_task(struct lowering *l, uint32_t task)
{
	push(l, (struct sk_op){.kind = SK_OP_TASK, .part = {.task = task}});
}

static void push_frame(struct lowering *l, const struct sk_plan_step *step)
{
	push(l, (struct sk_op){.kind = SK_OP_FRAME, .part = {.task = calls_of(l, step).first->task}});
}

/* ---- one call ---- */

/* The kernel itself, or the copy that is called. */
static uint32_t kernel_of(const struct lowering *l, const struct sk_plan_call *call)
{
	return l->copy ? l->plan->kernels[call->kernel].first_copy + l->copy - 1 : call->kernel;
}

/* What the call's arguments ask for behind it. */
static void lower_results(struct lowering *l, const struct sk_plan_call *call)
{
	const struct sk_plan_argument *arguments = sk_plan_arguments(l->plan, call);

	for (uint32_t i = 0; i < call->argument_count; i++) {
		if (arguments[i].kind == SK_ARGUMENT_RESULT)
			push(l, (struct sk_op){.kind = SK_OP_RESULT, .result = {.argument = &arguments[i]}});
		if (arguments[i].flags & SK_ARGUMENT_STATUS)
			push(l, (struct sk_op){.kind = SK_OP_STATUS,
					       .status = {.task = call->task, .argument = &arguments[i]}});
	}
}

static void lower_call(struct lowering *l, const struct sk_plan_step *step, const struct sk_plan_call *call)
{

	push(l, (struct sk_op){
			.kind = SK_OP_CALL,
			.call = {.kernel = kernel_of(l, call),
				 .divided = step->kind == SK_STEP_SPLIT && (!l->program->serial || call->loop_count),
				 .vector_side = step->flags & SK_STEP_VECTOR_SIDE,
				 .extent = step->extent,
				 .arguments = sk_plan_arguments(l->plan, call),
				 .argument_count = call->argument_count,
				 .loops = sk_plan_loops(l->plan, call),
				 .loop_count = call->loop_count},
		});
	lower_results(l, call);
	if (call->flags & SK_CALL_STATUS)
		push(l, (struct sk_op){.kind = SK_OP_STATUS, .status = {.task = call->task}});
	if (step->flags & SK_STEP_EARLY_WAIT && !l->program->serial)
		push(l, (struct sk_op){.kind = SK_OP_WAITED, .waited = {.task = call->task}});
}

static void lower_blocks(struct lowering *l, const struct sk_plan_step *step, const struct sk_plan_call *call)
{
	struct sk_op_blocks blocks = {
		.label = new_label(l),
		.count = step->kind == SK_STEP_PLAIN ? 1 : step->blocks,
		.first_core = step->first_core,
		.calls_runtime = step->flags & CALLS_RUNTIME && !l->program->serial,
		.step = (uint32_t)(step - l->plan->steps) - l->launch->first_step,
		.order = l->program->serial || step->kind == SK_STEP_PLAIN ? SK_BLOCKS_ALL
			 : step->kind == SK_STEP_BLOCKS_RANGE		   ? SK_BLOCKS_OF_RANGE
			 : step->flags & SK_STEP_RESIDENT		   ? SK_BLOCKS_RESIDENT
									   : SK_BLOCKS_OF_CORE,
	};

	if (blocks.order == SK_BLOCKS_OF_RANGE)
		blocks.partition = step->partition - l->launch->first_partition;
	push(l, (struct sk_op){.kind = SK_OP_BLOCKS_BEGIN, .blocks = blocks});
	lower_call(l, step, call);
	push(l, (struct sk_op){.kind = SK_OP_BLOCKS_END, .blocks = blocks});
	push_label(l, blocks.label);
}

/* The outer loop goes through this core's range, in a serial entry through all; the inner one always does. */
static void lower_tiles(struct lowering *l, const struct sk_plan_step *step, const struct sk_plan_call *call)
{
	const struct sk_plan_loop *loops = sk_plan_loops(l->plan, call);
	struct sk_op_tiles tiles[SK_MAX_LOOPS];

	for (uint32_t level = 0; level < call->loop_count; level++) {
		tiles[level] = (struct sk_op_tiles){.loop = loops[level], .level = level};
		if (level == 0 && !l->program->serial) {
			tiles[level].of_range = true;
			tiles[level].partition = step->partition - l->launch->first_partition;
			tiles[level].label = new_label(l);
		}
		push(l, (struct sk_op){.kind = SK_OP_TILES_BEGIN, .tiles = tiles[level]});
	}
	lower_call(l, step, call);
	for (uint32_t level = call->loop_count; level-- > 0;)
		push(l, (struct sk_op){.kind = SK_OP_TILES_END, .tiles = tiles[level]});
	if (tiles[0].of_range)
		push_label(l, tiles[0].label);
}

/* A serial entry computes the whole extent at once, which may be empty like any core's range. */
static void lower_split(struct lowering *l, const struct sk_plan_step *step, const struct sk_plan_call *call)
{
	if (call->loop_count) {
		lower_tiles(l, step, call);
		return;
	}
	if (l->program->serial) {
		if (step->extent != 0)
			lower_call(l, step, call);
		return;
	}
	uint32_t label = new_label(l);

	push(l, (struct sk_op){
			.kind = SK_OP_RANGE,
			.range = {.partition = step->partition - l->launch->first_partition, .label = label},
		});
	lower_call(l, step, call);
	push_label(l, label);
}

static bool has_block(const struct lowering *l, const struct sk_plan_call *call)
{
	const struct sk_plan_argument *arguments = sk_plan_arguments(l->plan, call);

	for (uint32_t i = 0; i < call->argument_count; i++)
		if (arguments[i].kind == SK_ARGUMENT_BLOCK)
			return true;
	return false;
}

/* A call for all of a core's part of its step. */
static void lower_part(struct lowering *l, const struct sk_plan_step *step, const struct sk_plan_call *call)
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

/* ---- one step ---- */

static void lower_time(struct lowering *l, const struct sk_plan_step *step, enum sk_moment moment)
{
	if (step->flags & SK_STEP_TIMED && !l->program->serial)
		push(l, (struct sk_op){.kind = SK_OP_TIME, .time = {.call = l->timed, .moment = moment}});
}

/* Between two calls of a step. */
static void next_call(struct lowering *l, const struct sk_plan_step *step, const struct sk_plan_call *call)
{
	lower_time(l, step, SK_ENDED);
	l->timed++;
	push_task(l, call->task);
	lower_time(l, step, SK_BEGAN);
}

static void lower_body(struct lowering *l, const struct sk_plan_step *step)
{
	struct sk_plan_calls calls = calls_of(l, step);

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++) {
		if (call > calls.first)
			next_call(l, step, call);
		lower_part(l, step, call);
	}
	if (step->flags & SK_STEP_FEED)
		push(l, (struct sk_op){
				.kind = SK_OP_FEED,
				.feed = {.step = (uint32_t)(step - l->plan->steps) - l->launch->first_step},
			});
	if (step->flags & SK_STEP_NONTEMPORAL)
		push(l, (struct sk_op){.kind = SK_OP_FENCE});
}

/* ---- the programs ---- */

static void lower_awaits(struct lowering *l, const struct sk_plan_step *step)
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
		push(l, op);
	}
}

static void close_guard(struct lowering *l)
{
	if (l->guard != SK_ALL_CORES)
		push_label(l, l->guard_label);
	l->guard = SK_ALL_CORES;
}

/* Consecutive steps on one home share a guard: another core jumps over all of them at once. */
static void open_guard(struct lowering *l, uint32_t core_set)
{
	if (core_set == l->guard)
		return;
	close_guard(l);
	if (core_set == SK_ALL_CORES)
		return;
	l->guard = core_set;
	l->guard_label = new_label(l);
	push(l, (struct sk_op){
			.kind = SK_OP_HOME_GUARD,
			.home_guard = {.home = core_set - l->launch->first_home, .label = l->guard_label},
		});
}

/* ---- fetching code before its time ---- */

/* The lane's step behind `index` (behind the launch's last one: the count of steps). */
static uint32_t next_of_lane(const struct lowering *l, uint32_t index, uint32_t lane)
{
	do
		index++;
	while (index < l->launch->step_count && l->plan->steps[l->launch->first_step + index].lane != lane);
	return index;
}

static bool is_called(struct sk_plan_calls calls, uint32_t kernel)
{
	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		if (call->kernel == kernel)
			return true;
	return false;
}

/* there: a step whose code is there already, or NULL. */
static void push_preloads(struct lowering *l, const struct sk_plan_step *step, const struct sk_plan_step *there)
{
	bool same_side = there && !((step->flags ^ there->flags) & SK_STEP_VECTOR_SIDE);
	struct sk_plan_calls calls = calls_of(l, step);

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++) {
		uint64_t bytes = sk_plan_preload_bytes(l->launch->preload, sk_plan_code_size(l->plan, step, call));

		if ((same_side && is_called(calls_of(l, there), call->kernel)) ||
		    is_called((struct sk_plan_calls){calls.first, call}, call->kernel) ||
		    (l->plan->kernels[call->kernel].flags & SK_KERNEL_IMPORTED))
			continue;
		push(l, (struct sk_op){
				.kind = SK_OP_PRELOAD,
				.preload = {.kernel = kernel_of(l, call),
					    .vector_side = step->flags & SK_STEP_VECTOR_SIDE,
					    .lines = (uint32_t)(bytes / SK_PRELOAD_LINE)},
			});
	}
}

/* The code of a step's kernels is fetched while the step in front of it in the lane awaits and runs, if all cores that
 * run it come by there; else, as that of a lane's first step, while it awaits itself. A kernel that two steps in a row
 * call is there already. */
static void lower_preloads(struct lowering *l, uint32_t before, uint32_t index, uint32_t after)
{
	const struct sk_plan_step *steps = l->plan->steps + l->launch->first_step;
	const struct sk_plan_step *step = &steps[index];

	if (l->launch->preload == SK_PRELOAD_NONE)
		return;
	if (before == SK_NO_INDEX || !sk_plan_preloads(&steps[before], step))
		push_preloads(l, step, NULL);
	if (after < l->launch->step_count && sk_plan_preloads(step, &steps[after]))
		push_preloads(l, &steps[after], step);
}

/* What begins a function stands next to the lane's first step. */
static void push_first_frame(struct lowering *l, uint32_t lane)
{
	for (uint32_t i = 0; i < l->launch->step_count; i++) {
		const struct sk_plan_step *step = &l->plan->steps[l->launch->first_step + i];

		if (step->lane != lane && !l->program->serial)
			continue;
		push_frame(l, step);
		break;
	}
}

/* The prologue stands next to the first step, the epilogue next to the last one. */
static void lower_prologue(struct lowering *l, uint32_t lane)
{
	push_first_frame(l, lane);
	push(l, (struct sk_op){.kind = SK_OP_PROLOGUE, .prologue = {.lane = lane}});
}

static void lower_run(struct lowering *l, const struct sk_plan_step *step)
{
	lower_time(l, step, SK_BEGAN);
	if (step->flags & SK_STEP_FLUSH_BEFORE)
		push(l, (struct sk_op){.kind = SK_OP_FLUSH});
	lower_body(l, step);
	if (step->flags & SK_STEP_FLUSH_AFTER)
		push(l, (struct sk_op){.kind = SK_OP_FLUSH});
}

static void lower_lane(struct lowering *l, uint32_t lane)
{
	uint32_t before = SK_NO_INDEX;

	lower_prologue(l, lane);
	l->timed = 0;
	for (uint32_t i = next_of_lane(l, SK_NO_INDEX, lane); i < l->launch->step_count;) {
		const struct sk_plan_step *step = &l->plan->steps[l->launch->first_step + i];
		uint32_t after = next_of_lane(l, i, lane);

		l->timed++;
		push_task(l, calls_of(l, step).first->task);
		open_guard(l, step->core_set);
		lower_preloads(l, before, i, after);
		if (step->flags & SK_STEP_EARLY_WAIT) {
			/* Behind the call all cores know what the step knows, those without a block as well. */
			lower_run(l, step);
			lower_awaits(l, step);
		} else {
			if (step->await_count)
				lower_time(l, step, SK_ARRIVED);
			lower_awaits(l, step);
			lower_run(l, step);
		}
		lower_time(l, step, SK_ENDED);
		if (step->flags & SK_STEP_PUBLISH)
			push(l, (struct sk_op){.kind = SK_OP_PUBLISH, .publish = {.number = step->number}});
		before = i;
		i = after;
	}
	close_guard(l);
	push(l, (struct sk_op){.kind = SK_OP_EPILOGUE});
}

static void push_function(struct lowering *l, const char *name)
{
	push(l, (struct sk_op){.kind = SK_OP_FUNCTION, .function = {.name = name}});
}

/* The lane's program in a function that has been begun, and behind it one for each other copy of the kernels. */
static void lower_copies(struct lowering *l, const char *name, uint32_t lane)
{
	uint32_t copies = l->launch->copies, first = l->program->label_count;

	if (copies < 2) {
		lower_lane(l, lane);
		return;
	}
	l->program->label_count += copies - 1;
	push_first_frame(l, lane);
	push(l, (struct sk_op){.kind = SK_OP_SPLIT, .split = {.copies = copies, .first_label = first}});
	lower_lane(l, lane);
	for (l->copy = 1; l->copy < copies; l->copy++) {
		push_label(l, first + l->copy - 1);
		push_function(l, sk_arena_print(l->code->arena, "%s.split%u", name, l->copy));
		lower_lane(l, lane);
	}
	l->copy = 0;
}

static void lower_lane_function(struct lowering *l, const char *entry, uint32_t lane)
{
	const char *name = sk_arena_print(l->code->arena, "%s.%s", entry, sk_plan_string(&l->plan->lanes[lane]));

	push_function(l, name);
	lower_copies(l, name, lane);
}

/* With two lanes the entry falls through to the first one's program. */
static void lower_parallel(struct lowering *l, const char *name)
{
	bool two = l->launch->lane_steps[0] != 0 && l->launch->lane_steps[1] != 0;

	push_function(l, name);
	if (!two) {
		lower_copies(l, name, l->launch->lane_steps[0] != 0 ? 0 : 1);
		return;
	}
	uint32_t label = new_label(l);

	push_frame(l, &l->plan->steps[l->launch->first_step]);
	push(l, (struct sk_op){.kind = SK_OP_FORK, .fork = {.lane = 0, .label = label}});
	lower_lane_function(l, name, 0);
	push_label(l, label);
	lower_lane_function(l, name, 1);
}

static void lower_serial(struct lowering *l, const char *name)
{
	uint64_t size = l->launch->kind == SK_LAUNCH_TASK ? l->plan->plan->unshared_workspace_size
							  : l->plan->plan->workspace_size;

	l->program->serial = true;
	l->program->serial_scratch = size;
	push_function(l, name);
	lower_prologue(l, 0);
	for (uint32_t i = 0; i < l->launch->step_count; i++) {
		const struct sk_plan_step *step = &l->plan->steps[l->launch->first_step + i];

		push_task(l, calls_of(l, step).first->task);
		lower_body(l, step);
	}
	push(l, (struct sk_op){.kind = SK_OP_EPILOGUE});
}

/* ---- refusals ---- */

static const char *check_pattern(struct sk_arena *arena, const struct sk_plan_pattern *pattern, uint32_t argument)
{
	if (pattern && pattern->inner_bytes > INT32_MAX)
		return sk_arena_print(arena, "argument %u has too many bytes for each element of its inner loop",
				      argument);
	if (pattern && pattern->table_count > MOST_TABLE_ROWS)
		return sk_arena_print(arena, "argument %u has more addresses than a dispatcher can store", argument);
	return NULL;
}

static const char *check_arguments(struct sk_arena *arena, const struct sk_plan_view *plan,
				   const struct sk_plan_step *step, const struct sk_plan_call *call)
{
	const struct sk_plan_argument *arguments = sk_plan_arguments(plan, call);

	if (call->argument_count > MOST_ARGUMENTS)
		return sk_arena_print(arena, "it has %u arguments; at most %d can be passed", call->argument_count,
				      MOST_ARGUMENTS);
	for (uint32_t i = 0; i < call->argument_count; i++) {
		const char *reason = check_pattern(arena, sk_plan_pattern(plan, &arguments[i]), i);

		if (reason)
			return reason;
		if (arguments[i].kind != SK_ARGUMENT_LENGTH)
			continue;
		if (!sk_plan_divides(step))
			return sk_arena_print(arena, "argument %u is a length, but the task has no divided extent", i);
		if (arguments[i].dtype >= SK_F16)
			return sk_arena_print(arena, "argument %u is a length of the type %s; lengths are integers", i,
					      sk_dtype_name(arguments[i].dtype));
	}
	return NULL;
}

/* first: the launch's first call. */
static const char *check_step(struct sk_arena *arena, const struct sk_plan_view *plan, const struct sk_plan_step *step,
			      uint32_t first)
{
	struct sk_plan_calls calls = sk_plan_step_calls(plan, step);
	const char *reason = NULL;

	if (step->number > MOST_NUMBER || step->blocks > MOST_NUMBER)
		reason = "its step number or number of blocks exceeds 31 bits";
	else if ((step->flags & SK_STEP_TIMED) && (uint64_t)step->first_call - first + step->call_count > MOST_TIMED)
		reason = "its number in the launch is too large for a table of times";
	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++) {
		if (!reason)
			reason = check_arguments(arena, plan, step, call);
		if (reason)
			return sk_arena_print(arena, "task %s: %s", sk_plan_string(&plan->tasks[call->task].name),
					      reason);
	}
	return NULL;
}

static const char *check_limits(struct sk_arena *arena, const struct sk_plan_view *plan,
				const struct sk_plan_launch *launch)
{
	const char *reason = NULL;

	if (launch->home_count > MOST_TABLE_ROWS || launch->partition_count > MOST_TABLE_ROWS ||
	    plan->binding_count > MOST_TABLE_ROWS)
		return "the launch has more homes, partitions or bindings than a dispatcher can address";
	for (uint32_t i = 0; i < launch->step_count && !reason; i++)
		reason = check_step(arena, plan, &plan->steps[launch->first_step + i],
				    plan->steps[launch->first_step].first_call);
	return reason;
}

const char *sk_dispatcher_emit(struct sk_arena *scratch, const struct sk_plan_view *plan, uint32_t launch,
			       enum sk_entry_kind kind, const char *name, struct sk_code *code)
{
	const struct sk_emitter *emitter = sk_emitter_find(plan->plan->machine);
	struct sk_entry_ops program = {.plan = plan, .alignment = plan->launches[launch].func_align};
	struct lowering lowering = {
		.arena = scratch,
		.plan = plan,
		.launch = &plan->launches[launch],
		.program = &program,
		.code = code,
		.guard = SK_ALL_CORES,
	};

	if (!emitter)
		return sk_arena_print(scratch, "dispatchers for ELF machine %u are not supported", plan->plan->machine);

	const char *reason = check_limits(scratch, plan, lowering.launch);

	if (reason)
		return reason;
	if (kind == SK_ENTRY_SERIAL && sk_plan_is_resident(lowering.launch))
		return "blocks that run at once have no serial entry";
	if (kind == SK_ENTRY_PARALLEL)
		lower_parallel(&lowering, name);
	else
		lower_serial(&lowering, name);
	return emitter->emit(scratch, &program, code);
}
