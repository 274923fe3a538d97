/* Runs: the tasks of a launch, cut into those that are one step each; what tile-groups.c and block-parts.c find out
 * about them together. */
#ifndef SK_RUNS_H
#define SK_RUNS_H

#include "src/model/model.h"
#include "src/model/task.h"

/* What cores have of the blocks of a task that is cut along rows. */
struct sk_block_parts {
	uint32_t task; /* whose blocks they are */
	uint32_t blocks; /* 0: there are none */
	uint64_t rows;
};

struct sk_run {
	uint32_t first, count; /* places in the launch's tasks, as they are here */
	uint64_t extent; /* elements that the run counts in; 0: its task is not SPLIT */
	uint64_t unit; /* of them; 0: its task is not SPLIT */
	struct sk_block_parts parts; /* SPLIT: that are shared out instead of units */
	uint64_t tile; /* of them, whole units; 0: it is not in tiles */
	uint32_t first_core; /* where the first part is, of whatever number of cores modulo that (placement.h) */
	uint64_t scratch_size; /* that a core needs for it; a multiple of 64 */
};

struct sk_launch_runs {
	const uint32_t *tasks; /* of the launch, in the order in which its steps make their calls */
	struct sk_run *runs; /* all of them, in this order */
	uint32_t count;
};

/* Elements of the task's extent for each one of the run's; 1 of a run that is not in tiles. */
static inline uint64_t sk_run_scale(const struct sk_run *run, const struct sk_task *task)
{
	return run->tile ? task->extent / run->extent : 1;
}

#endif
