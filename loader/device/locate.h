/* In which step a call was that was left. See locate.c. */
#ifndef SK_LOADER_LOCATE_H
#define SK_LOADER_LOCATE_H

#include <stdbool.h>
#include <stdint.h>

#include "loader/core/call.h"
#include "loader/flight/kernel.h"

/* The step of the plan that a call of the launch, or of its serial entry, was left in; of a launch with one step it is
 * that one. SK_NO_INDEX: none. The plan's steps have been checked. */
uint32_t sk_locate_step(const struct skrt_kernel *kernel, bool serial, const struct sk_call *call);

#endif
