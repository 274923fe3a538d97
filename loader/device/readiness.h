/* What an instance must have, and must not do, before it is launched. */
#ifndef SK_LOADER_READINESS_H
#define SK_LOADER_READINESS_H

#include <stdbool.h>

#include "loader/skrt.h"

/* Maps one of the instance's workspaces, which is not there yet. */
enum skrt_status sk_instance_make_workspace(struct skrt_instance *instance, bool unshared);

/* Checks that nothing of it is queued or runs. Under the device's lock. */
enum skrt_status sk_instance_check_idle(const struct skrt_instance *instance);

/* Checks that the kernel can be launched: all bound, nothing overlaps, its workspace is there. Under the device's lock.
 */
enum skrt_status sk_instance_ready(struct skrt_instance *instance, const struct skrt_kernel *kernel);

#endif
