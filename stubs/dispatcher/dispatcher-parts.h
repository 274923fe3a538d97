/* Shared only by the files that lower a launch of the plan to neutral ops: dispatcher/dispatcher.c (programs and
 * steps), dispatcher/lower-call.c (calls, and the loops around them) and dispatcher/limits.c (launches that cannot be
 * lowered). */
#ifndef SK_STUBS_DISPATCHER_DISPATCHER_PARTS_H
#define SK_STUBS_DISPATCHER_DISPATCHER_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "stubs/dispatcher/dispatcher.h"
#include "stubs/dispatcher/ops.h"

struct sk_arena;

struct sk_lowering {
	struct sk_arena *arena; /* scratch */
	const struct sk_plan_view *plan;
	const struct sk_plan_launch *launch;
	struct sk_entry_ops *program;
	struct sk_code *code;
	uint32_t guard; /* the home of the current run of steps, or SK_ALL_CORES */
	uint32_t guard_label; /* after the run */
	uint32_t copy; /* the copy of the kernels' code that is called */
	uint32_t row, row_count; /* of the lane's table of times, from 1: the current one; the number so far */
	uint32_t tiled_row; /* the row of the step for a call in tiles; otherwise 0 */
};

static inline void sk_lowering_push(struct sk_lowering *l, struct sk_op op)
{
	sk_array_push(l->arena, &l->program->ops, op);
}

static inline uint32_t sk_lowering_new_label(struct sk_lowering *l)
{
	return l->program->label_count++;
}

static inline void sk_lowering_label(struct sk_lowering *l, uint32_t label)
{
	sk_lowering_push(l, (struct sk_op){.kind = SK_OP_LABEL, .label = label});
}

/* Return the kernel itself, or the copy that is called. */
static inline uint32_t sk_lowering_kernel(const struct sk_lowering *l, const struct sk_plan_call *call)
{
	return l->copy ? l->plan->kernels[call->kernel].first_copy + l->copy - 1 : call->kernel;
}

/* Let cores without a block of the step jump to the label that is returned, and that the caller places. */
uint32_t sk_lower_guard(struct sk_lowering *l, const struct sk_plan_step *step);

/* Lower a call for a core's whole part of its step. */
void sk_lower_part(struct sk_lowering *l, const struct sk_plan_step *step, const struct sk_plan_call *call);

/* Return the reason, in the arena, why there is no dispatcher for a launch that sk_plan_check_launch has accepted;
 * NULL: there is one. */
const char *sk_dispatcher_check(struct sk_arena *arena, const struct sk_plan_view *plan,
				const struct sk_plan_launch *launch);

#endif
