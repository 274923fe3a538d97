/* Ancestry: which segments lead to which launches, while tasks are placed one by one. In come edges between groups; out
 * comes, for a task and a set of scope tags, the lowest segment of the set that does not lead to any of the task's
 * predecessors: the task may join that one without closing a cycle.
 *
 * A task that comes behind level n of its set is never in front of it: what kept it out of a level leads to it. So of
 * each set a group needs to know two things only, whether level 0 leads to it, and which is the highest of the other
 * levels that does; all levels between do so as well. (Level 0 is apart since a set may begin at level 1 in places:
 * behind its first task that cannot be fused, which need not be behind anything.) These marks are kept up to date as
 * edges come: they only ever grow. Sets that do not reach over each other have the same column of marks, one after the
 * other.
 *
 * This holds where dependencies alone decide on levels, so not on a device with sync-all-split (segments.c). */
#ifndef SK_ANCESTRY_H
#define SK_ANCESTRY_H

#include <stdbool.h>

#include "src/planning/order.h"

struct sk_segments;

struct sk_ancestry {
	uint32_t columns; /* 0: no set */
	uint32_t *column_of; /* by set */
	uint32_t *base; /* by set: its marks are base for level 0, base + n for level n; above those of earlier sets */
	SK_ARRAY(uint32_t *) marks; /* by group: two for each column */
	SK_ARRAY(uint32_t) stack; /* scratch */
	uint64_t steps; /* marks and edges that have been looked at, which tests count */
};

/* Finds the columns. The sets must be known. */
void sk_ancestry_init(struct sk_ancestry *ancestry, const struct sk_segments *segments);

/* Forgets the groups. */
void sk_ancestry_reset(struct sk_ancestry *ancestry);

/* The lowest level of the set, from `floor` on, that leads to none of the groups, the level's own group apart. */
uint32_t sk_ancestry_level(struct sk_ancestry *ancestry, const struct sk_segments *segments, uint32_t set,
			   uint32_t floor, const uint32_t *from, size_t count);

/* True if the level of the set leads to the group, and is not the group itself. */
bool sk_ancestry_leads(const struct sk_ancestry *ancestry, const struct sk_segments *segments, uint32_t set,
		       uint32_t level, uint32_t group);

/* The edges from all the given groups to one, of which none may close a cycle. A group that is new has the next number.
 */
void sk_ancestry_connect(struct sk_ancestry *ancestry, struct sk_segments *segments, const uint32_t *from, size_t count,
			 uint32_t to);

#endif
