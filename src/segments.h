/* Segments: which tasks are launched together. In come the model and its dependencies; out come groups of tasks, each a
 * segment of a scope or a task by itself, and the graph between them, which has no cycle. */
#ifndef SK_SEGMENTS_H
#define SK_SEGMENTS_H

#include "dependency.h"
#include "order.h"

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
};

struct sk_segments {
	struct sk_model *model;
	SK_ARRAY(struct sk_tag_set) sets;
	uint32_t *set_of; /* by task; SK_NONE: no scope, or scope: null */
	SK_ARRAY(struct sk_group) groups;
	struct sk_order order; /* of the groups: its nodes have their numbers */
	uint32_t *group_of; /* by task */
	uint32_t *floor; /* by task that can be fused: the lowest level it may be in */
	uint32_t *cause; /* by task: who ended the segment before for it, or SK_NONE */
	uint32_t *predecessors; /* of task t, over everything that binds between launches: from first_predecessor[t] to
				   first_predecessor[t + 1] */
	uint32_t *first_predecessor;
};

/* NULL if a scope has more than two streams without stream-fusion=1 (said in the sink). */
struct sk_segments *sk_segments_build(struct sk_model *model, const struct sk_dependencies *dependencies);

#endif
