/* An instance: bindings and workspaces of a network of a module. */
#ifndef SK_LOADER_INSTANCE_H
#define SK_LOADER_INSTANCE_H

#include <stdalign.h>
#include <stdbool.h>

#include "format/plan/plan.h"
#include "loader/base/status.h"
#include "loader/flight/core.h"
#include "loader/flight/thunk-words.h"

/* Zero-filled pages: the workspace proper, and behind it, where the serial entries want it, the scratch of core 0, then
 * of the others. */
struct sk_workspace {
	char *memory; /* NULL: not there yet */
	uint64_t size;
	uint64_t scratch, scratch_stride; /* offset of core 0's scratch; from one core's to the next one's */
};

struct skrt_instance {
	struct skrt_module *module;
	struct sk_plan_network network;
	void **bindings; /* by binding number; NULL: not bound */
	uint64_t bound; /* number of what is bound, which no other bindings on the device have */
	bool checked; /* all bound, no forbidden overlap */
	struct sk_workspace workspaces[2]; /* shared, unshared */
	int fill; /* the byte that a workspace holds when it is made */
	/* What stands above is read by all workers, what follows changes with each launch, under the device's lock: */
	alignas(SK_LINE) uint32_t pending; /* launches queued or running, serial runs too */
	bool serial; /* a serial run is going on */
	/* Launches of the network that are queued in the plan's order are one run through it, with a number. Launches
	 * of different runs, and the tasks' own entries, follow each other: */
	struct sk_command *first, *last; /* launches that have not ended, in the order of the calls */
	uint64_t run;
	uint32_t next_launch; /* the least that can be the run's next one */
	uint64_t *ended; /* by launch of the network: the last run of which it has ended */
	uint64_t failed_run; /* the last one that has failed, and why */
	enum skrt_status failure;
	char error[SK_ERROR_SIZE];
	bool *done; /* by launch of the plan: it runs once, and has; NULL: nothing runs once */
	uint32_t due[2]; /* how many that run once have not, by workspace: the network's, the tasks' entries */
	struct sk_guard *guard; /* of devices with checks; else NULL */
	struct sk_call serial_call; /* without a stack before the first serial run */
	struct sk_lone_core lone_core; /* of serial runs of thunks */
};

#endif
