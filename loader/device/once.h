/* Launches that run once for an instance (SK_LAUNCH_ONCE): which of them have run. Their results stay in the instance's
 * workspace, of the network's launches in the shared one, of the tasks' entries in the unshared one. All but
 * sk_once_open under the device's lock. */
#ifndef SK_LOADER_ONCE_H
#define SK_LOADER_ONCE_H

#include <stdbool.h>
#include <stdint.h>

#include "loader/flight/instance.h"

/* Counts those whose results lie in the workspace, which has just been made. False: no memory. */
bool sk_once_open(struct skrt_instance *instance, bool unshared);

/* Whether launch number `launch` of the plan runs once, and has. */
static inline bool sk_once_is_done(const struct skrt_instance *instance, uint32_t launch)
{
	return instance->done && instance->done[launch];
}

/* Where a search for what still has to run in front of a launch begins: launches from here on to `launch` with
 * sk_once_is_due, in this order. */
uint32_t sk_once_first(const struct skrt_instance *instance, uint32_t launch);

/* Whether launch number `launch` runs once, and still has to. */
bool sk_once_is_due(const struct skrt_instance *instance, uint32_t launch);

/* The launch has ended well. */
void sk_once_end(struct skrt_instance *instance, uint32_t launch);

/* The workspaces have been overwritten. */
void sk_once_forget(struct skrt_instance *instance);

#endif
