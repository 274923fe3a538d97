/* What a prediction lets the simulated cores do: launches of steps with awaits, taken from a plan, either as it is or
 * as it would be with other options. No addresses, no kernels: only who follows whom, and what a step costs. Each call
 * of a plan is a step here: the further ones of the plan's step come on the same cores, in order, and await nothing. */
#ifndef SK_LOADER_NETWORK_H
#define SK_LOADER_NETWORK_H

#include "format/plan/plan.h"
#include "format/profile/profile.h"

/* What a task, or a side of a mix task, takes, all its cores together. */
struct sk_work {
	double compute; /* ns, if one core did all of it and memory were infinitely fast */
	double before_wait, after_set; /* of `compute`: in front of its blocks' waits, and behind their sets */
	double bytes; /* to and from memory, between the two */
	double cached; /* of these what the step's tiles keep in caches */
	double code; /* bytes of the kernel's code */
	double waits; /* how often each block waits for others of the task */
};

struct sk_network_step {
	uint32_t task, kernel; /* of the plan */
	uint32_t lane; /* of the profile */
	enum sk_step_kind kind;
	uint32_t flags; /* SK_STEP_…, as the way has them */
	uint32_t stream; /* PLAIN: its home is the core of this number modulo the cores */
	uint32_t blocks; /* BLOCKS, BLOCKS_RANGE */
	uint32_t first_core; /* BLOCKS: that has block 0 */
	struct sk_plan_partition partition; /* SPLIT, BLOCKS_RANGE: what is divided */
	struct sk_work work;
	uint32_t cores; /* of the lane that it may run on; 0: all */
	uint32_t flushes; /* of the data cache, on each core */
	double preload; /* bytes of its code that are fetched before its turn … */
	bool preload_before; /* … from the time on when the core came to its step before, not to this one */
	uint32_t first_await, await_count;
};

/* Launches stand in the order in which each lane takes them. One without steps only gathers those that it follows. */
struct sk_network_launch {
	uint32_t first_step, step_count;
	uint32_t first_follow, follow_count;
};

struct sk_network {
	struct sk_network_launch *launches;
	struct sk_network_step *steps;
	uint32_t *awaits; /* steps of the same launch in front of the one that awaits */
	uint32_t *follows; /* launches in front of the one that follows */
	uint32_t launch_count, step_count;
};

/* The ways to run a network that a prediction compares. */
enum sk_way {
	SK_WAY_UNFUSED, /* a launch for each task; those of one stream, or of one lane, one after the other */
	SK_WAY_FUSED, /* as it is linked */
	SK_WAY_LANE_BARRIER, /* each step awaits all cores' last step in its lane: nothing is elided */
	SK_WAY_SYNC_ALL, /* each step awaits the step in front of it, whatever its lane; no kernel starts early */
	SK_WAY_LATE, /* no kernel starts early */
	SK_WAY_EARLY, /* all kernels start early that can and may */
	SK_WAY_PRELOAD, /* preload-code=max */
	SK_WAY_FLUSH, /* debug-dcci-all=1 */
	SK_WAYS,
};

/* The network of a plan of which sk_plan_check_all has approved, in one of the ways. work: by call of the plan; lanes:
 * by lane of the plan, the profile's. False if there is no memory. Free it in either case. */
bool sk_network_build(const struct sk_plan_view *plan, const struct sk_plan_network *own, const struct sk_work *work,
		      const uint32_t *lanes, enum sk_way way, struct sk_network *network);
void sk_network_free(struct sk_network *network);

/* How many of the lane's cores may have a part in the step. */
uint32_t sk_network_cores(const struct sk_network_step *step, uint32_t cores);

/* The part of a step's work that core `index` of `cores` (as sk_network_cores says) has; 0: none. */
double sk_network_share(const struct sk_network_step *step, uint32_t index, uint32_t cores);

#endif
