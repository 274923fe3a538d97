/* An estimate of what steps move between caches and memory in a run, in bytes. In comes a plan; out comes what each
 * call accesses, once for each thing that it reads and for each that it writes; and, of a tile group, what enters its
 * tiles and what leaves them: what one call of the group has read or written the others find in the cache, and what
 * lies in the scratch stays there. */
#ifndef SK_TRAFFIC_H
#define SK_TRAFFIC_H

#include "base/arena.h"
#include "format/plan/plan.h"

struct sk_traffic {
	uint64_t apart; /* if each call were made for all of its part before the next one */
	uint64_t moved; /* as the step makes its calls; not more than that */
};

struct sk_traffic sk_traffic_of_step(struct sk_arena *arena, const struct sk_plan_view *view,
				     const struct sk_plan_step *step);

#endif
