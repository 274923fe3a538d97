/* Launches without a dispatcher. In: a launch that sk_plan_check_launch has accepted. Out: the reason, if there is
 * one. */
#include "stubs/dispatcher/dispatcher-parts.h"

#include "base/arena.h"
#include "format/plan/plan.h"
#include "format/skabi.h"
#include "format/skplan.h"

/* Limits that keep every offset and frame within the range of instructions. Useful plans do not exceed them. */
enum {
	MOST_ARGUMENTS = 256, /* of one call */
	MOST_TABLE_ROWS = 1 << 24, /* homes, partitions, bindings, addresses in a field */
	MOST_NUMBER = INT32_MAX, /* step numbers and blocks */
	MOST_TIMED = INT32_MAX / 2 / (int)sizeof(struct sk_times), /* timed calls of a launch, each in a step in tiles
								      of its own */
};

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
		if (arguments[i].space == SK_SPACE_SCRATCH && arguments[i].element_bytes > INT32_MAX)
			return sk_arena_print(arena, "argument %u has too many bytes in the scratch for each element",
					      i);
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

	if (step->number > MOST_NUMBER || step->blocks > MOST_NUMBER || step->first_core > MOST_NUMBER)
		reason = "its step number, number of blocks or first core exceeds 31 bits";
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

const char *sk_dispatcher_check(struct sk_arena *arena, const struct sk_plan_view *plan,
				const struct sk_plan_launch *launch)
{
	const char *reason = NULL;

	if (sk_plan_form(launch)->home_count > MOST_TABLE_ROWS ||
	    sk_plan_form(launch)->partition_count > MOST_TABLE_ROWS || plan->binding_count > MOST_TABLE_ROWS)
		return "the launch has more homes, partitions or bindings than a dispatcher can address";
	for (uint32_t i = 0; i < sk_plan_form(launch)->step_count && !reason; i++)
		reason = check_step(arena, plan, &plan->steps[launch->first_step + i],
				    plan->steps[launch->first_step].first_call);
	return reason;
}
