/* The table of steps: a row for each call, with its step, the loops around it, and the values that it computes for its
 * arguments. */
#include <inttypes.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/text.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/plan/ranks.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "format/skranks.h"
#include "src/skdump/skdump.h"

/* ---- calls ---- */

/* Return "tiles of 6 by 16 of 37"; "" without loops. */
static const char *loops_text(const struct sk_show *show, const struct sk_plan_call *call)
{
	const struct sk_plan_loop *loops = sk_plan_loops(&show->file->plan, call);

	if (!loops)
		return "";
	if (call->loop_count == 1)
		return sk_arena_print(show->arena, "tiles of %" PRIu64, loops[0].tile);
	return sk_arena_print(show->arena, "tiles of %" PRIu64 " by %" PRIu64 " of %" PRIu64, loops[0].tile,
			      loops[1].tile, loops[1].extent);
}

/* Return "2*((block+3)/4%8)". */
static const char *term_text(const struct sk_show *show, const struct sk_plan_term *term)
{
	static const char *const names[SK_VARIABLE_COUNT] = {"begin", "size", "inner begin", "inner size", "block"};
	const char *text = names[term->variable];

	if (term->addend)
		text = sk_arena_print(show->arena, "(%s+%" PRIu64 ")", text, term->addend);
	if (term->divisor != 1)
		text = sk_arena_print(show->arena, "%s/%" PRIu64, text, term->divisor);
	if (term->modulus)
		text = sk_arena_print(show->arena, "%s%%%" PRIu64, text, term->modulus);
	if (term->factor != 1)
		text = sk_arena_print(show->arena,
				      term->divisor != 1 || term->modulus ? "%" PRId64 "*(%s)" : "%" PRId64 "*%s",
				      term->factor, text);
	return text;
}

/* Return the value of an expression, or the displacement of an address. */
static const char *value_text(const struct sk_show *show, const struct sk_plan_argument *argument)
{
	const struct sk_plan_view *plan = &show->file->plan;
	const char *text = "";

	if (argument->kind == SK_ARGUMENT_POINTER)
		return sk_arena_print(show->arena, "at %d", sk_plan_displacement(argument));
	for (uint64_t i = 0; i < argument->size; i++) {
		const char *term = term_text(show, &plan->terms[argument->index + i]);

		text = sk_arena_print(show->arena, "%s%s%s", text, *text && *term != '-' ? "+" : "", term);
	}
	return argument->value ? sk_arena_print(show->arena, "%s%+" PRId64, text, (int64_t)argument->value) : text;
}

/* Return "4*size, begin+1, at -64"; "" if the call computes nothing. */
static const char *values_text(const struct sk_show *show, const struct sk_plan_call *call)
{
	const struct sk_plan_argument *arguments = sk_plan_arguments(&show->file->plan, call);
	const char *text = "";

	for (uint32_t i = 0; i < call->argument_count; i++)
		if (arguments[i].kind == SK_ARGUMENT_EXPRESSION || sk_plan_displacement(&arguments[i]))
			text = sk_arena_print(show->arena, "%s%s%s", text, *text ? ", " : "",
					      value_text(show, &arguments[i]));
	return text;
}

/* ---- steps ---- */

static const char *cores_text(const struct sk_show *show, const struct sk_plan_step *step)
{
	bool fixed = step->flags & SK_STEP_RESIDENT && step->kind == SK_STEP_BLOCKS;
	const char *fed = step->flags & SK_STEP_FEED ? ", others fed" : "";

	if (fixed && step->blocks == 1)
		return sk_arena_print(show->arena, "core %u%s", step->first_core, fed);
	if (fixed)
		return sk_arena_print(show->arena, "cores %u to %u%s", step->first_core,
				      step->first_core + step->blocks - 1, fed);
	if (step->core_set == SK_ALL_CORES && sk_plan_first_core(&show->file->plan, step))
		return sk_arena_print(show->arena, "all cores, from %" PRIu64 " on",
				      sk_plan_first_core(&show->file->plan, step));
	if (step->core_set == SK_ALL_CORES)
		return "all cores";
	return sk_arena_print(show->arena, "home of stream %u", show->file->plan.homes[step->core_set].stream);
}

static const char *early_text(const struct sk_plan_step *step)
{
	static const char *const texts[] = {"", ", waits by itself", ", may end early",
					    ", waits by itself, may end early"};

	return texts[(step->flags & SK_STEP_EARLY_WAIT ? 1 : 0) + (step->flags & SK_STEP_EARLY_SET ? 2 : 0)];
}

static const char *split_text(const struct sk_show *show, const struct sk_plan_step *step)
{
	const struct sk_plan_partition *partition = &show->file->plan.partitions[step->partition];
	uint64_t units = step->extent / partition->unit + (step->extent % partition->unit != 0);
	const char *extent = SK_SHOW_SIZE(show, SK_DIMS_STEPS, steps, step, extent), *blocks = "", *tiles = "";
	const char *unit = SK_SHOW_SIZE(show, SK_DIMS_PARTITIONS, partitions, partition, unit);
	const char *parts = sk_arena_print(show->arena, "%" PRIu64 " unit%s", units, sk_plural(units));
	uint32_t unit_value = sk_dims_value_of(&show->file->dims, SK_DIMS_PARTITIONS, step->partition,
					       offsetof(struct sk_plan_partition, unit));
	uint32_t extent_value =
		sk_dims_value_of(&show->file->dims, SK_DIMS_STEPS, (uint32_t)(step - show->file->plan.steps),
				 offsetof(struct sk_plan_step, extent));

	if (unit_value != SK_NO_INDEX || extent_value != SK_NO_INDEX)
		parts = "units";

	if (partition->blocks)
		blocks = sk_arena_print(show->arena, " by %" PRIu64 " block%s of %s", partition->blocks,
					sk_plural(partition->blocks),
					SK_SHOW_SIZE(show, SK_DIMS_PARTITIONS, partitions, partition, rows));
	if (step->tile)
		tiles = sk_arena_print(show->arena, ", group tiles of %" PRIu64, step->tile);
	return sk_arena_print(show->arena, "split %s in %s of %s%s%s", extent, parts, unit, blocks, tiles);
}

/* Describe the division of the step's work. */
static const char *work_text(const struct sk_show *show, const struct sk_plan_step *step)
{
	const struct sk_ranks_view *ranks = &show->file->ranks;
	const struct sk_plan_call *call = sk_plan_step_calls(&show->file->plan, step).first;
	const struct sk_ranks_exchange *exchange = sk_ranks_find(ranks, call->task);
	const char *side = step->flags & SK_STEP_CUBE_SIDE     ? "cube side, "
			   : step->flags & SK_STEP_VECTOR_SIDE ? "vector side, "
							       : "";

	if (exchange)
		return sk_arena_print(show->arena, "exchange %u of group %s", (uint32_t)(exchange - ranks->exchanges),
				      sk_show_name(show, &ranks->groups[exchange->group].name));
	switch (step->kind) {
	case SK_STEP_BLOCKS:
		if (step->flags & SK_STEP_RESIDENT)
			return sk_arena_print(show->arena, "%s%u block%s at once", side, step->blocks,
					      sk_plural(step->blocks));
		return sk_arena_print(show->arena, "%u block%s", step->blocks, sk_plural(step->blocks));
	case SK_STEP_BLOCKS_RANGE:
		return sk_arena_print(show->arena, "%u block%s of %s%s", step->blocks, sk_plural(step->blocks),
				      SK_SHOW_SIZE(show, SK_DIMS_STEPS, steps, step, extent),
				      step->flags & SK_STEP_RESIDENT ? " at once" : "");
	case SK_STEP_SPLIT:
		return split_text(show, step);
	default:
		return "plain";
	}
}

/* Return "cycles 900, bytes 4096": the cost that the manifest gives for the call's task, or for its side of the task.
 * Costs common to both sides are shown with the cube side. */
static const char *cost_text(const struct sk_show *show, const struct sk_plan_step *step,
			     const struct sk_plan_call *call)
{
	const struct sk_plan_view *plan = &show->file->plan;
	const struct sk_plan_cost *cost = sk_plan_cost(plan, step, call);
	const char *text = "";

	if (!cost || (step->flags & SK_STEP_VECTOR_SIDE && plan->tasks[call->task].vector_cost == SK_NO_INDEX))
		return text;
	for (enum sk_cost i = 0; i < SK_COST_COUNT; i++)
		if (sk_cost_gives(cost, i))
			text = sk_arena_print(show->arena, "%s%s%s %" PRIu64, text, *text ? ", " : "", sk_cost_name(i),
					      cost->values[i]);
	return text;
}

static bool has_costs(const struct sk_plan_view *plan, const struct sk_plan_launch *launch)
{
	struct sk_plan_calls calls = sk_plan_launch_calls(plan, launch);

	/* A vector side has no cost of its own if its task has none. */
	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		if (plan->tasks[call->task].cost != SK_NO_INDEX)
			return true;
	return false;
}

static bool has_values(const struct sk_show *show, const struct sk_plan_launch *launch)
{
	struct sk_plan_calls calls = sk_plan_launch_calls(&show->file->plan, launch);

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		if (*values_text(show, call))
			return true;
	return false;
}

static const char *awaits_text(const struct sk_show *show, const struct sk_plan_step *step)
{
	const struct sk_plan_view *plan = &show->file->plan;
	struct sk_text text;

	if (!step->await_count)
		return "";
	sk_text_open(&text);
	for (uint32_t i = 0; i < step->await_count; i++) {
		const struct sk_plan_step *awaited = &plan->steps[plan->awaits[step->first_await + i].step];

		const char *side = awaited->flags & SK_STEP_CUBE_SIDE	  ? " (cube side)"
				   : awaited->flags & SK_STEP_VECTOR_SIDE ? " (vector side)"
									  : "";

		fprintf(text.stream, "%s%s%s", i ? ", " : "awaits ",
			sk_show_name(show, &sk_plan_step_last_task(plan, awaited)->name), side);
	}
	if (step->flags & SK_STEP_OWN_AWAITS)
		fputs(", if the core has a block", text.stream);
	sk_text_close(show->arena, &text);
	return text.bytes;
}

/* Return ", func-align=512, debug-sync-all=1": the effects of the scope's options on the launch. */
static const char *options_text(const struct sk_show *show, const struct sk_plan_launch *launch)
{
	static const char *const preloads[SK_PRELOAD_COUNT] = {"none", "per-func", "max"};
	const struct sk_plan_view *plan = &show->file->plan;
	struct sk_arena *arena = show->arena;
	const char *text = "";

	if (sk_plan_form(launch)->func_align)
		text = sk_arena_print(arena, "%s, func-align=%u", text, sk_plan_form(launch)->func_align);
	if (sk_plan_form(launch)->preload)
		text = sk_arena_print(arena, "%s, preload-code=%s", text, preloads[sk_plan_form(launch)->preload]);
	if (sk_plan_form(launch)->copies > 1)
		text = sk_arena_print(arena, "%s, split-mode=%u", text, sk_plan_form(launch)->copies);
	if (sk_plan_form(launch)->flags & SK_LAUNCH_SYNC_ALL)
		text = sk_arena_print(arena, "%s, debug-sync-all=1", text);
	if (sk_plan_form(launch)->flags & SK_LAUNCH_DEBUG)
		text = sk_arena_print(arena, "%s, compile-options=-g", text);
	for (uint32_t i = 0; i < plan->lane_count; i++) {
		const char *lane = sk_show_name(show, &plan->lanes[i]);
		uint32_t cores = sk_plan_form(launch)->lane_cores[i];

		if (cores && cores < sk_plan_form(launch)->resident_cores[i])
			cores = sk_plan_form(launch)->resident_cores[i];
		if (cores)
			text = sk_arena_print(arena, "%s, %u %s%score%s", text, cores, plan->lane_count > 1 ? lane : "",
					      plan->lane_count > 1 ? " " : "", sk_plural(cores));
	}
	if (sk_plan_form(launch)->flags & SK_LAUNCH_THUNK)
		text = sk_arena_print(arena, "%s, by a thunk", text);
	if (sk_plan_form(launch)->flags & SK_LAUNCH_ORDERED)
		text = sk_arena_print(arena, "%s, in the planner's order", text);
	if (sk_plan_notes_times(plan, launch))
		text = sk_arena_print(arena, "%s, notes times", text);
	return text;
}

/* Return the flushes of the data cache after a step's awaits, or after its calls. */
static const char *flushes_text(const struct sk_plan_step *step, bool awaits)
{
	static const char *const texts[2][4] = {
		{"", "flushes before", "flushes after", "flushes before and after"},
		{"", "; flushes before", "; flushes after", "; flushes before and after"},
	};

	return texts[awaits]
		    [(step->flags & SK_STEP_FLUSH_BEFORE ? 1 : 0) + (step->flags & SK_STEP_FLUSH_AFTER ? 2 : 0)];
}

/* Show the step's columns with its first shown call only, and each call's own columns with every call. */
static void show_call(const struct sk_show *show, struct sk_table *table, const struct sk_plan_step *step,
		      const struct sk_plan_call *call, bool first, bool values, bool costs)
{
	const struct sk_plan_view *plan = &show->file->plan;
	const char *loops = loops_text(show, call);

	sk_table_cell(table, "%s", first ? sk_arena_print(show->arena, "%u", step->number) : "");
	sk_table_cell(table, "%s", sk_show_task(show, call));
	sk_table_cell(table, "%s", sk_show_name(show, &plan->kernels[call->kernel].name));
	sk_table_cell(table, "%s", first ? sk_show_name(show, &plan->lanes[step->lane]) : "");
	sk_table_cell(table, "%s", first ? cores_text(show, step) : "");
	sk_table_cell(table, "%s%s%s%s", first ? work_text(show, step) : "", first && *loops ? ", " : "", loops,
		      first ? early_text(step) : "");
	if (values)
		sk_table_cell(table, "%s", values_text(show, call));
	if (costs)
		sk_table_cell(table, "%s", cost_text(show, step, call));
	sk_table_cell(table, "%s%s", first ? awaits_text(show, step) : "",
		      first ? flushes_text(step, step->await_count) : "");
}

static void show_step(const struct sk_show *show, struct sk_table *table, const struct sk_plan_step *step, bool values,
		      bool costs)
{
	struct sk_plan_calls calls = sk_plan_step_calls(&show->file->plan, step);
	bool first = true;

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		if (sk_task_is_chosen(&show->tasks, &show->file->plan, call->task)) {
			show_call(show, table, step, call, first, values, costs);
			first = false;
		}
}

static void show_launch_steps(const struct sk_show *show, uint32_t index)
{
	const struct sk_plan_view *plan = &show->file->plan;
	const struct sk_plan_launch *launch = &plan->launches[index];
	uint32_t awaits = sk_show_count_awaits(plan, launch);
	bool costs = has_costs(plan, launch), values = has_values(show, launch);
	struct sk_table table;

	static const char *const columns[] = {"rllllll", "rlllllll", "rllllllll"};

	sk_table_init(&table, show->arena, columns[values + costs]);
	HEADINGS(&table, "step", "task", "kernel", "lane", "runs on", "work");
	if (values)
		HEADINGS(&table, "computes");
	HEADINGS(&table, costs ? "cost" : "", costs ? "" : NULL);
	for (uint32_t i = 0; i < sk_plan_form(launch)->step_count; i++)
		show_step(show, &table, &plan->steps[launch->first_step + i], values, costs);
	sk_show_table(show,
		      sk_arena_print(show->arena, "launch %u: %s, %s, %u step%s, %u await%s%s", index,
				     sk_show_name(show, &launch->name), sk_show_kind(launch),
				     sk_plan_form(launch)->step_count, sk_plural(sk_plan_form(launch)->step_count),
				     awaits, sk_plural(awaits), options_text(show, launch)),
		      &table);
}

static bool is_shown(const struct sk_show *show, uint32_t index)
{
	const struct sk_plan_view *plan = &show->file->plan;
	struct sk_plan_calls calls = sk_plan_launch_calls(plan, &plan->launches[index]);

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		if (sk_task_is_chosen(&show->tasks, plan, call->task))
			return true;
	return false;
}

void sk_show_steps(const struct sk_show *show)
{
	if (show->by_kernel) {
		sk_show_kernels(show);
		return;
	}
	for (uint32_t i = 0; i < sk_show_launch_count(show); i++)
		if (is_shown(show, i))
			show_launch_steps(show, i);
}
