/* Which call of the plan was left, and in which tile. See locate.c. */
#ifndef SK_LOADER_LOCATE_H
#define SK_LOADER_LOCATE_H

#include <stdbool.h>
#include <stdint.h>

#include "loader/core/call.h"
#include "loader/flight/core.h"
#include "loader/flight/kernel.h"

struct sk_located {
	uint32_t call; /* of the plan; SK_NO_INDEX: not known */
	struct sk_core_range tile; /* in elements of the call's extent; empty: not known, or its step is not in tiles */
};

/* Where a core's part of the launch, or its serial entry, was left; of a launch with one call, or with a thunk, the
 * call is the first one. The plan's steps have been checked. */
struct sk_located sk_locate(const struct skrt_kernel *kernel, bool serial, const struct sk_call *call);
#endif
