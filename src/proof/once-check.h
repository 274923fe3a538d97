/* Launches that run once (SK_LAUNCH_ONCE): whether an instance may skip them when they have run, and run them again if
 * they have failed, in front of any other launch. In comes a plan whose tables have been checked; out come errors. */
#ifndef SK_PROOF_ONCE_H
#define SK_PROOF_ONCE_H

#include <stdbool.h>

#include "base/diag.h"
#include "format/plan/plan.h"

/* By tensor: a launch that runs once writes it, so it must share its bytes with no other one. In the arena. */
const bool *sk_once_check(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view,
			  const char *file);

#endif
