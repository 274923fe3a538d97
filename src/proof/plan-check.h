/* The check of every record of a plan, before it is proved. */
#ifndef SK_PLAN_CHECK_H
#define SK_PLAN_CHECK_H

#include <stdbool.h>

#include "base/diag.h"
#include "format/plan/plan.h"

/* Does what sk_plan_check_all does, launches in several threads. The first thing that is wrong goes into the sink, with
 * `file` as its place. */
bool sk_plan_check_in_threads(struct sk_diag *diag, const struct sk_plan_view *view, const char *file,
			      unsigned threads);

#endif
