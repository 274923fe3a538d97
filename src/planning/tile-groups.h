/* Tile groups: which tasks of a launch are one step, whose calls each core makes tile by tile. In come the model, its
 * launches and dependencies; out come, per launch, its tasks as runs, most of them of one task, each with its unit; of
 * a run in tiles also the tile's length, and where in the scratch the temporaries lie that live inside of it; and for
 * each task why it does, or does not, join the one in front of it.
 *
 * Tasks of a run are all divided, and hang together by bytes that they share. They stand next to each other: tasks of a
 * launch have been put in order for that (tile-order.h).
 * Their extents may differ: a run counts in elements of the greatest extent that divides all of them, of which each
 * task's has so many times as many. */
#ifndef SK_TILE_GROUPS_H
#define SK_TILE_GROUPS_H

#include "src/model/model.h"
#include "src/planning/fusion.h"
#include "src/planning/tile-reasons.h"

struct sk_run {
	uint32_t first, count; /* places in the launch's tasks, as they are here */
	uint64_t extent; /* elements that the run counts in; 0: its task is not SPLIT */
	uint64_t unit; /* of them; 0: its task is not SPLIT */
	uint64_t tile; /* of them, whole units; 0: it is not in tiles */
	uint64_t scratch_size; /* that a core needs for it; a multiple of 64 */
};

struct sk_launch_runs {
	const uint32_t *tasks; /* of the launch, in the order in which its steps make their calls */
	struct sk_run *runs; /* all of them, in this order */
	uint32_t count;
};

/* No temporary of the network's lies in the scratch there. */
#define SK_NOT_IN_SCRATCH UINT64_MAX

struct sk_tile_groups {
	struct sk_launch_runs *launches;
	uint32_t *places; /* by task: in its launch's `tasks` */
	uint64_t *scratch_offset; /* by tensor: in the scratch of its step, or SK_NOT_IN_SCRATCH */
	struct sk_tile_verdict *verdicts; /* by task: whether it joins the one in front of it */
};

/* Cannot fail. */
struct sk_tile_groups *sk_tile_groups_build(const struct sk_model *model, const struct sk_fusion *fusion);

/* Elements of the task's extent for each one of the run's; 1 of a run that is not in tiles. */
static inline uint64_t sk_run_scale(const struct sk_run *run, const struct sk_task *task)
{
	return run->tile ? task->extent / run->extent : 1;
}

#endif
