/* Where sk_sync_all waits for all cores that a superkernel holds, a task that calls it can only be fused with tasks
 * that need no more cores than it has. Devices whose profile says `sync-all-split: true` are such; on others it waits
 * for the task's own blocks, and nothing has to be looked at here.
 *
 * In comes a task that may join a segment; out comes whether it can. That is the reference system's rule: a task that
 * calls sk_sync_all needs fewer cores than the greediest task before it (a drop), or any task needs more than one that
 * calls it (a rise). It is a rule about sets: the order in which tasks join makes no difference to what may stand
 * together. */
#ifndef SK_SYNC_SPLIT_H
#define SK_SYNC_SPLIT_H

#include "src/model/model.h"
#include "src/planning/reasons.h"

/* What the tasks of a segment need; zeroed: it has none. */
struct sk_sync_load {
	uint32_t cores[SK_MAX_LANES]; /* the most that a task needs … */
	uint32_t greediest[SK_MAX_LANES]; /* … and the first task that does */
	bool synchronises; /* a task calls sk_sync_all … */
	uint32_t caller; /* … and that is the first one */
};

/* The cores of each lane that a superkernel may have with the task in it. Devices with two lanes give cores in groups:
 * a task that calls sk_sync_all on one of the lanes also says how many of the other one there may be, two vector cores
 * for each cube core. */
void sk_sync_cores(const struct sk_model *model, uint32_t task, uint32_t cores[SK_MAX_LANES]);

/* CAN_FUSE; or SYNCALL_OP_DROP or SYNCALL_OP_RISE, with the task that is in the way. */
enum sk_reason sk_sync_split(const struct sk_model *model, const struct sk_sync_load *load, uint32_t task,
			     uint32_t *cause);

void sk_sync_add(const struct sk_model *model, struct sk_sync_load *load, uint32_t task);

#endif
