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
#include "src/planning/block-reasons.h"
#include "src/planning/fusion.h"
#include "src/planning/runs.h"
#include "src/planning/tile-reasons.h"

/* No temporary of the network's lies in the scratch there. */
#define SK_NOT_IN_SCRATCH UINT64_MAX

struct sk_tile_groups {
	struct sk_launch_runs *launches;
	uint32_t *places; /* by task: in its launch's `tasks` */
	uint64_t *scratch_offset; /* by tensor: in the scratch of its step, or SK_NOT_IN_SCRATCH */
	struct sk_tile_verdict *verdicts; /* by task: whether it joins the one in front of it */
	struct sk_block_verdict
		*block_verdicts; /* by task: whether each core computes what it has of a task's blocks */
};

/* Cannot fail. */
struct sk_tile_groups *sk_tile_groups_build(const struct sk_model *model, const struct sk_fusion *fusion);

#endif
