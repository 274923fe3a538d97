/* Parts made of blocks: which divided tasks of a launch each core computes in what it has of a task in blocks, so that
 * neither awaits the other. In come the launch and its tasks as runs with their units; out come the runs' parts, and
 * for each task why, or why not. */
#ifndef SK_BLOCK_PARTS_H
#define SK_BLOCK_PARTS_H

#include "src/planning/block-reasons.h"
#include "src/planning/fusion.h"
#include "src/planning/runs.h"

/* Each part of the task accesses a part of it, and nothing around that. */
bool sk_is_divided(const struct sk_argument *argument);

/* True if equal parts of the two tasks' extents are the same bytes in both arguments: those of the same elements, with
 * nothing around them. */
bool sk_divides_alike(const struct sk_task *one, const struct sk_argument *a, const struct sk_task *other,
		      const struct sk_argument *b);

/* Chooses the parts of all runs of the launch of this number. By task: places in the runs, and the verdicts. */
void sk_block_parts_choose(const struct sk_model *model, const struct sk_fusion *fusion, uint32_t launch,
			   const uint32_t *places, struct sk_launch_runs *runs, struct sk_block_verdict *verdicts);

#endif
