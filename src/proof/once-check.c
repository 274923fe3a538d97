/* See proof-parts.h. Properties to prove:
 *
 * A later run finds the results that it would have computed. They depend only on constants and on each other, not on
 * bound memory or hidden state, and no other launch writes their tensors. (verify.c checks that no other tensor shares
 * their bytes, since it examines the places of temporaries.)
 *
 * A launch that has failed can be run again: it does not read bytes that it writes.
 *
 * It can run first: it follows only launches that also run once. No other launch is therefore ordered through it.
 *
 * A task's own entry runs once if the task does in the network. */
#include "src/proof/proof-parts.h"

#include "base/arena.h"
#include "base/diag.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "src/proof/proof.h"

struct check {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const struct sk_plan_view *view;
	const char *file;
	bool *results; /* by tensor */
};

static void refuse_launch(const struct check *check, const struct sk_plan_launch *launch, const char *text)
{
	sk_error(check->diag, (struct sk_place){.file = check->file}, "launch '%s' runs once, but %s",
		 sk_plan_string(&launch->name), text);
}

static const char *tensor_name(const struct check *check, const struct sk_plan_argument *argument)
{
	return sk_plan_string(&check->view->tensors[argument->tensor].name);
}

static bool has_tensor(const struct sk_plan_argument *argument)
{
	return argument->kind != SK_ARGUMENT_STATE && argument->space != SK_SPACE_SIZES &&
	       (sk_access_reads(argument) || sk_access_writes(argument));
}

static bool runs_once(const struct sk_plan_launch *launch)
{
	return sk_plan_form(launch)->flags & SK_LAUNCH_ONCE;
}

static void find_results(const struct check *check, const struct sk_plan_launch *launch)
{
	struct sk_plan_calls calls = sk_plan_launch_calls(check->view, launch);

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		for (uint32_t i = 0; i < call->argument_count; i++) {
			const struct sk_plan_argument *argument = &check->view->arguments[call->first_argument + i];

			if (has_tensor(argument) && sk_access_writes(argument))
				check->results[argument->tensor] = true;
		}
}

/* Check that a launch that runs every time does not write the results. */
static void check_other(const struct check *check, const struct sk_plan_launch *launch)
{
	struct sk_plan_calls calls = sk_plan_launch_calls(check->view, launch);

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		for (uint32_t i = 0; i < call->argument_count; i++) {
			const struct sk_plan_argument *argument = &check->view->arguments[call->first_argument + i];

			if (has_tensor(argument) && sk_access_writes(argument) && check->results[argument->tensor])
				sk_error(check->diag, (struct sk_place){.file = check->file},
					 "launch '%s' runs every time, but writes '%s', which a launch that runs once "
					 "writes",
					 sk_plan_string(&launch->name), tensor_name(check, argument));
		}
}

static void check_argument(const struct check *check, const struct sk_plan_launch *launch,
			   const struct sk_plan_call *call, const struct sk_plan_argument *argument)
{
	bool reads = sk_access_reads(argument), writes = sk_access_writes(argument);

	if (argument->kind == SK_ARGUMENT_STATE)
		refuse_launch(check, launch, "its kernel has hidden state");
	if (!has_tensor(argument))
		return;
	if (writes && argument->space != SK_SPACE_WORKSPACE)
		refuse_launch(check, launch,
			      sk_arena_print(check->arena, "writes '%s', which is not a temporary",
					     tensor_name(check, argument)));
	if (reads && argument->space != SK_SPACE_CONSTANT &&
	    (argument->space != SK_SPACE_WORKSPACE || !check->results[argument->tensor]))
		refuse_launch(check, launch,
			      sk_arena_print(check->arena,
					     "reads '%s', which is neither a constant nor the result of such a launch",
					     tensor_name(check, argument)));
	for (uint32_t i = 0; i < call->argument_count && writes; i++) {
		const struct sk_plan_argument *other = &check->view->arguments[call->first_argument + i];

		if (has_tensor(other) && sk_access_reads(other) && other->tensor == argument->tensor &&
		    other->space == argument->space)
			refuse_launch(
				check, launch,
				sk_arena_print(check->arena, "reads and writes '%s'", tensor_name(check, argument)));
	}
}

static void check_launch(const struct check *check, const struct sk_plan_launch *launch)
{
	const struct sk_plan_view *view = check->view;
	struct sk_plan_calls calls = sk_plan_launch_calls(view, launch);

	if (sk_plan_form(launch)->kind == SK_LAUNCH_SUPERKERNEL)
		refuse_launch(check, launch, "is a superkernel");
	for (uint32_t i = 0; i < sk_plan_form(launch)->follow_count; i++)
		if (!runs_once(&view->launches[view->follows[launch->first_follow + i]]))
			refuse_launch(check, launch, "follows a launch that runs every time");
	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		for (uint32_t i = 0; i < call->argument_count; i++)
			check_argument(check, launch, call, &view->arguments[call->first_argument + i]);
}

/* Check the entry of a task; the instance keeps its results besides those of the network. */
static void check_entry(const struct check *check, const struct sk_plan_launch *launch)
{
	const struct sk_plan_view *view = check->view;
	const struct sk_plan_task *task = &view->tasks[sk_plan_launch_calls(view, launch).first->task];

	if (runs_once(launch) != runs_once(&view->launches[task->launch]))
		sk_error(check->diag, (struct sk_place){.file = check->file},
			 "entry '%s' and launch '%s' of one task: one of them runs once, the other one every time",
			 sk_plan_string(&launch->name), sk_plan_string(&view->launches[task->launch].name));
}

const bool *sk_once_check(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view,
			  const char *file)
{
	const struct check check = {arena, diag, view, file, SK_NEW_ARRAY(arena, bool, view->tensor_count)};

	for (uint32_t i = 0; i < view->launch_count; i++)
		if (runs_once(&view->launches[i]))
			find_results(&check, &view->launches[i]);
	for (uint32_t i = 0; i < view->launch_count; i++) {
		const struct sk_plan_launch *launch = &view->launches[i];

		(runs_once(launch) ? check_launch : check_other)(&check, launch);
		if (sk_plan_form(launch)->kind == SK_LAUNCH_TASK)
			check_entry(&check, launch);
	}
	return check.results;
}
