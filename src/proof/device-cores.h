/* Whether the plan says of each launch how many cores it takes on the device that the plan is for: a number that
 * follows from the launch, and on a device that is not a host from how many cores its lanes have. In come the plan, and
 * by call the least unit; out comes a launch with another number. */
#ifndef SK_DEVICE_CORES_H
#define SK_DEVICE_CORES_H

#include "format/plan/plan.h"

struct sk_wrong_cores {
	uint32_t launch; /* SK_NO_INDEX: the numbers of all launches are right */
	uint32_t lane, follows; /* what its number is by the rest of the plan */
};

struct sk_wrong_cores sk_device_cores_check(const struct sk_plan_view *view, const uint64_t *least);

#endif
