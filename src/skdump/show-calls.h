/* What a call does besides that its step says: the loops around it, and what it computes for its arguments. */
#ifndef SK_SHOW_CALLS_H
#define SK_SHOW_CALLS_H

#include "src/skdump/show.h"

/* ", tiles of 6 by 16 of 37"; "" without loops. */
const char *sk_show_loops_text(const struct sk_show *show, const struct sk_plan_call *call);

/* "4*size, begin+1"; "" if it computes nothing. */
const char *sk_show_values_text(const struct sk_show *show, const struct sk_plan_call *call);

#endif
