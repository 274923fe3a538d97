/* Instances, before they are launched. */
#ifndef SK_LOADER_INSTANCES_H
#define SK_LOADER_INSTANCES_H

#include "loader/skrt.h"

/* Checks that the kernel can be launched: all bound, nothing overlaps, its workspace is there. Under the device's lock.
 */
enum skrt_status sk_instance_ready(struct skrt_instance *instance, const struct skrt_kernel *kernel);

#endif
