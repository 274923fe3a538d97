/* The strict check of scopes: what each scope asked for against what it got. */
#ifndef SK_STRICT_H
#define SK_STRICT_H

#include "src/planning/fusion.h"
#include "src/planning/segments.h"

/* A scope has got what it asked for if all of its tasks (but those with `scope: null`) are one superkernel, whatever
 * other scopes they are in. Where it has not, strict-scope-check=abort is an error that names every place, and bypass a
 * warning that does; then the verdict on its tasks changes, and the result is true: the segments have to be placed
 * again. */
bool sk_strict_check(struct sk_segments *segments, const struct sk_fusion *fusion);

#endif
