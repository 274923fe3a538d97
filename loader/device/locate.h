/* Which call of the plan was left. See locate.c. */
#ifndef SK_LOADER_LOCATE_H
#define SK_LOADER_LOCATE_H

#include <stdbool.h>
#include <stdint.h>

#include "loader/core/call.h"
#include "loader/flight/kernel.h"

/* The call of the plan in which a core's part of the launch, or its serial entry, was left; of a launch with one call
 * it is that one. SK_NO_INDEX: none. The plan's steps have been checked. */
uint32_t sk_locate_call(const struct skrt_kernel *kernel, bool serial, const struct sk_call *call);

#endif
