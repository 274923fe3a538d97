/* Whether the plan says of each launch how many cores it takes on the device that the plan is for. On a host that
 * follows from the launch. Of other devices a plan has the name, and not how many cores they have; so there the numbers
 * of all launches have to be those of one and the same device, whichever that is. In come the plan, and by call the
 * least unit; out comes a launch whose numbers are others. */
#ifndef SK_DEVICE_CORES_H
#define SK_DEVICE_CORES_H

#include "base/arena.h"
#include "format/plan/plan.h"

struct sk_wrong_cores {
	uint32_t launch; /* SK_NO_INDEX: the numbers of all launches are right */
	uint32_t lane, follows; /* what its number is by the rest of the plan */
};

struct sk_wrong_cores sk_device_cores_check(struct sk_arena *arena, const struct sk_plan_view *view,
					    const uint64_t *least);

#endif
