/* Whether a finished plan calls its kernels as their signatures say: number, kinds, types, modes and sizes of the
 * arguments, how a call spreads over cores, and which of its arguments may be the same bytes. In comes a plan whose
 * launches have been checked (sk_plan_check_all); out come errors, for each step at most one.
 *
 * The proof of verify.h argues from what a step is said to read and write. Here that is compared with what the kernel
 * was declared to do, so that a plan cannot prove itself by saying less. */
#ifndef SK_CALLS_H
#define SK_CALLS_H

#include <stdbool.h>

#include "base/diag.h"
#include "format/plan/plan.h"

bool sk_calls_check(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view, const char *file);

#endif
