/* The order of a plan's launches, for the verifier: which ones end before which others start. In come the follows, out
 * come answers. */
#ifndef SK_LAUNCH_ORDER_H
#define SK_LAUNCH_ORDER_H

#include <stdbool.h>

#include "base/arena.h"
#include "format/plan/plan.h"

/* Each launch is in a chain of launches that follow one another. Clocks say per chain how many of its launches have
 * ended when a launch starts. Where there are too many chains for that, the first ones are in the clocks, and for the
 * others the follows are searched. */
struct sk_launch_order {
	const struct sk_plan_view *view;
	uint32_t chain_count, clocked_chains;
	uint32_t *chains, *positions; /* by launch */
	uint32_t **clocks; /* by launch */
	uint32_t search; /* number of the last search, which is … */
	uint32_t later; /* … from this launch back */
	uint32_t *reached; /* by launch: the last search that came here */
	uint32_t *heap; /* of the launches that it has reached and not looked at, the last one first … */
	uint32_t heap_count; /* … and how many they are */
	uint64_t follows_left; /* that may still be looked at */
	uint64_t steps; /* follows and numbers of clocks that have been looked at, which tests count */
	bool exhausted; /* a search had to be given up: "no" may have been wrong */
};

/* Takes the launches of the network; every follow names an earlier one (sk_plan_check_launch). */
void sk_launch_order_build(struct sk_launch_order *order, struct sk_arena *arena, const struct sk_plan_view *view);

/* True if the later launch follows the earlier one, directly or through others. */
bool sk_launch_before(struct sk_launch_order *order, uint32_t earlier, uint32_t later);

#endif
