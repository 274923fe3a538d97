/* Segments: which tasks are launched together. In come the model and its dependencies; out come groups of tasks, each a
 * segment of a scope or a task by itself, and the graph between them, which has no cycle. */
#ifndef SK_SEGMENTS_H
#define SK_SEGMENTS_H

#include "src/model/model.h"
#include "src/planning/ancestry.h"
#include "src/planning/dependency.h"
#include "src/planning/order.h"
#include "src/planning/reasons.h"
#include "src/planning/sync-split.h"

/* The tasks whose sets of scope tags are equal. */
struct sk_tag_set {
	const uint32_t *scopes;
	size_t scope_count;
	const char *label; /* the scopes' names with commas */
	uint32_t first, last; /* tasks */
	SK_ARRAY(uint32_t) segments; /* groups by level; SK_NONE: there is none */
};

struct sk_group {
	uint32_t set; /* SK_NONE: a task by itself */
	uint32_t level; /* in the set's segments */
	SK_ARRAY(uint32_t) tasks; /* in network order */
	struct sk_sync_load load; /* sync-all-split: what they need */
};

struct sk_segments {
	struct sk_model *model;
	SK_ARRAY(struct sk_tag_set) sets;
	uint32_t *set_of; /* by task; SK_NONE: no scope, or scope: null */
	bool *checked; /* by scope: its strict check has been answered */
	SK_ARRAY(struct sk_group) groups;
	struct sk_order order; /* of the groups: its nodes have their numbers */
	struct sk_ancestry ancestry; /* of the groups … */
	bool searches; /* … unless paths between them are searched for */
	uint32_t *group_of; /* by task */
	enum sk_reason *verdict; /* by task: CAN_FUSE, or why it is launched by itself */
	uint32_t *floor; /* by task that can be fused: the lowest level it may be in */
	uint32_t *cause; /* by task: who ended the segment before for it, or SK_NONE … */
	enum sk_reason *split; /* … and why that one did */
	uint32_t *predecessors; /* of task t, over everything that binds between launches: from first_predecessor[t] to
				   first_predecessor[t + 1] */
	uint32_t *first_predecessor;
	uint32_t *first_recorder; /* from here on they are those that recorded events that t waits for */
	struct sk_level *levels; /* by task: scratch of one pass */
	SK_ARRAY(struct sk_sync_load) loads; /* by level: scratch of one pass */
	uint64_t steps; /* tasks and edges that have been looked at, which tests count */
};

/* Tag sets, verdicts and predecessors. The streams that a scope has too many of are warned of. NULL if too many scopes
 * reach over each other (said in the sink). */
struct sk_segments *sk_segments_build(struct sk_model *model, const struct sk_dependencies *dependencies);

/* Groups the tasks as the verdicts say; again, after they have changed. */
void sk_segments_place(struct sk_segments *segments);

#endif
