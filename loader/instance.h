/* An instance: a module's bindings and workspaces. */
#ifndef SK_LOADER_INSTANCE_H
#define SK_LOADER_INSTANCE_H

#include <stdbool.h>

#include "loader/call.h"
#include "loader/module.h"

/* Zero-filled pages: the workspace proper, and behind it, where the serial entries want it, the scratch of core 0, then
 * of the others. */
struct sk_workspace {
	char *memory; /* NULL: not there yet */
	uint64_t size;
	uint64_t scratch, scratch_stride; /* offset of core 0's scratch; from one core's to the next one's */
};

struct skrt_instance {
	struct skrt_module *module;
	void **bindings; /* by binding number; NULL: not bound */
	bool checked; /* all bound, no forbidden overlap */
	struct sk_workspace workspaces[2]; /* shared, unshared */
	uint32_t pending; /* launches queued or running, serial runs too; under the device's lock */
	bool serial; /* a serial run is going on */
	struct sk_guard *guard; /* of devices with checks; else NULL */
	struct sk_call serial_call; /* without a stack before the first serial run */
};

/* Checks that the kernel can be launched: all bound, nothing overlaps, its workspace is there. Under the device's lock.
 */
enum skrt_status sk_instance_ready(struct skrt_instance *instance, const struct skrt_kernel *kernel);

#endif
