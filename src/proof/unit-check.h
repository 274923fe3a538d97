/* Whether the units in which the cores divide the split steps of a launch are the ones that follow: each a multiple of
 * what its kernel needs, equal in bytes wherever steps share a tensor that one of them writes, and as small as that
 * allows. In come the launch, and by call the least unit; out comes a step whose unit is another one. */
#ifndef SK_UNIT_CHECK_H
#define SK_UNIT_CHECK_H

#include "base/arena.h"
#include "format/plan/plan.h"

/* An index into the plan's steps, or SK_NO_INDEX if all units are right. */
uint32_t sk_unit_check(struct sk_arena *arena, const struct sk_plan_view *view, const struct sk_plan_launch *launch,
		       const uint64_t *least);

#endif
