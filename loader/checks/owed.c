/* The bytes that the kernels of a checked launch have to write. A write-only argument (`out`) must be written
 * completely: each call writes its part. If the argument is not divided among blocks, all blocks of the task write it
 * together, in two steps for a mix task. Before the first of these calls the bytes are filled with a pattern; after the
 * last one the pattern is left where a byte is unwritten. */
#include "config.h"

#include "loader/checks/checks-parts.h"

#include <stdlib.h>

#include "format/plan/plan.h"
#include "format/skplan.h"
#include "loader/checks/checks.h"
#include "loader/flight/flight.h"

/* A task's blocks in the launch. */
struct sk_task_blocks {
	uint64_t left; /* number of them that have not ended */
	bool begun; /* any of them */
};

static struct sk_task_blocks *blocks_of(const struct sk_checked *checked)
{
	const struct sk_checks *checks = checked->core->flight->checks;

	return &checks->task_blocks[checked->call->task - checks->first_task];
}

static void count_blocks(struct sk_checks *checks, const struct sk_plan_view *plan, const struct sk_plan_step *step)
{
	struct sk_plan_calls calls = sk_plan_step_calls(plan, step);

	if (step->kind == SK_STEP_BLOCKS || step->kind == SK_STEP_BLOCKS_RANGE)
		for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
			checks->task_blocks[call->task - checks->first_task].left += step->blocks;
}

bool sk_owed_begin(struct sk_checks *checks, const struct sk_plan_view *plan, const struct sk_plan_launch *launch)
{
	struct sk_plan_calls calls = sk_plan_launch_calls(plan, launch);
	uint32_t first = UINT32_MAX, last = 0;

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++) {
		first = call->task < first ? call->task : first;
		last = call->task > last ? call->task : last;
	}
	free(checks->task_blocks);
	checks->task_blocks = NULL;
	if (calls.first == calls.end)
		return true;
	checks->first_task = first;
	checks->task_blocks = calloc((size_t)last - first + 1, sizeof(*checks->task_blocks));
	for (uint32_t i = 0; i < sk_plan_form(launch)->step_count && checks->task_blocks; i++)
		count_blocks(checks, plan, &plan->steps[launch->first_step + i]);
	return checks->task_blocks != NULL;
}

enum sk_owed sk_owed_at_begin(const struct sk_checked *checked)
{
	struct sk_task_blocks *blocks = blocks_of(checked);
	bool first = !blocks->begun;

	blocks->begun = true;
	return first ? SK_OWED_BY_TASK : SK_OWED_BY_CALL;
}

enum sk_owed sk_owed_at_end(const struct sk_checked *checked)
{
	struct sk_task_blocks *blocks = blocks_of(checked);
	bool last = blocks->left && --blocks->left == 0;

	if (checked->phase != SK_OPEN)
		return SK_OWED_NONE;
	return last ? SK_OWED_BY_TASK : SK_OWED_BY_CALL;
}
