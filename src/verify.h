/* The verifier: an independent proof that a finished plan is free of races and cannot wait for itself, whatever the
 * number of cores. It reads the plan and nothing else, so skdump can prove any package, and sklink proves every one it
 * makes. */
#ifndef SK_VERIFY_H
#define SK_VERIFY_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"
#include "loader/plan.h"

/* Checks every launch of the plan with sk_plan_check_launch and proves it. Errors go into the sink, with `file` (the
 * package, or the manifest that it is being made from) as their place; false if there were any. */
bool sk_verify(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view, const char *file);

#endif
