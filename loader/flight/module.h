/* A module: a mapped package with its plan checked, on a device; its kernels, prepared when first asked for. */
#ifndef SK_LOADER_MODULE_H
#define SK_LOADER_MODULE_H

#include <pthread.h>
#include <stdbool.h>

#include "loader/base/status.h"
#include "loader/image/image.h"
#include "loader/plan/plan.h"
#include "loader/skrt.h"
#include "stubs/skabi.h"

enum { SK_MOST_FLIGHTS = 64 }; /* on a device at a time */

/* What a block that runs at once with others has said and heard; loader/flight/block.c. */
struct sk_block_state;
struct sk_flight;

/* Bits: the hidden state that a launch reaches. */
enum sk_states {
	SK_STATES_KNOWN = 1, /* somebody has looked */
	SK_STATES_OWN = 2, /* of the package, which all modules of its plan share */
	SK_STATES_LIBRARY = 4, /* the C library's, which all packages share */
};

/* A launch of the plan. Its tables hold one row a core, lane by lane: see sk_core_row. */
struct skrt_kernel {
	struct skrt_module *module;
	uint32_t launch;
	struct skrt_kernel *next; /* of the module's prepared ones */
	const char *name;
	int (*entry)(struct sk_core *core);
	int (*serial_entry)(void *const *tensors, void *workspace); /* NULL: none */
	bool unshared; /* a task entry: runs in the unshared workspace */
	uint32_t lane_steps[SK_MAX_LANES];
	/* That run it: the device's, no more than its options allow, and as many as blocks that run at once need. */
	uint32_t cores[SK_MAX_LANES];
	uint32_t partition_count, home_count;
	struct sk_core_range *ranges; /* NULL: no table has been made yet */
	struct sk_home *homes[SK_MOST_FLIGHTS]; /* by place of the flight; NULL: not made yet */
	struct sk_block_state *blocks; /* of RESIDENT steps */
	uint32_t *first_blocks; /* by step of the launch, if there are any */
	uint32_t block_count;
	/* For traces; under the module's lock until they are true: */
	bool steps_checked;
	bool timed; /* the dispatcher notes the times of all steps */
	uint32_t states; /* enum sk_states; under the module's lock */
};

struct skrt_module {
	struct skrt_device *device;
	char *path;
	struct sk_image image;
	struct sk_plan_view plan;
	const void *constants;
	uint32_t cores[SK_MAX_LANES]; /* the most that any launch has */
	struct skrt_kernel **kernels; /* by launch number; NULL: not prepared yet */
	struct skrt_kernel *prepared;
	pthread_mutex_t lock; /* preparing kernels, checking records */
	bool records_checked; /* of the plan: see sk_plan_check_records */
	_Atomic bool network_prepared;
	pthread_mutex_t construction; /* held while constructors run, which may take long: */
	bool constructed; /* they have run, or failed: */
	char failure[SK_REPORT_SIZE]; /* in this way; "": they have not */
	uint32_t instances; /* alive; under the device's lock */
	_Atomic uint32_t traces; /* that hold launches of it */
};

/* Row of a core in a table with a row for each of so many cores. */
static inline uint64_t sk_core_row(const uint32_t cores[SK_MAX_LANES], uint32_t lane, uint32_t index)
{
	uint64_t row = index;

	for (uint32_t i = 0; i < lane; i++)
		row += cores[i];
	return row;
}

/* Makes a module of an image and its plan of `size` bytes at `plan` (NULL: not found), which is checked. Path, a copy
 * that free() can take, and image become the module's, also on failure: then both are freed. */
enum skrt_status sk_module_make(struct skrt_device *device, char *path, const struct sk_image *image, const void *plan,
				uint64_t size, struct skrt_module **result);

/* Runs the package's constructors, unless that has been done: before anything else of it runs. If they fail, so does
 * every later call. construct.c. */
enum skrt_status sk_module_construct(struct skrt_module *module);

/* Runs the destructors, if the constructors have run. */
void sk_module_destruct(struct skrt_module *module);

/* ---- kernel.c ---- */

/* Kernel number `launch` of the plan, prepared. What a launch needs beyond the mapped file is checked and made when it
 * is first asked for, so that the time for loading does not grow with the number of kernels. */
enum skrt_status sk_module_prepare(struct skrt_module *module, uint32_t flight, const struct skrt_kernel **kernel);

/* All launches of the network, prepared. */
enum skrt_status sk_module_prepare_network(struct skrt_module *module);

/* Checks what is common to all launches, before names or tasks are looked at. */
enum skrt_status sk_module_check_records(struct skrt_module *module);

/* Checks the launch's steps and what they refer to, which running does not look at, and whether they note times. */
enum skrt_status sk_module_check_steps(const struct skrt_kernel *kernel);

/* Makes the kernel's tables, as far as earlier launches have not: for all of its launches ranges, and what its blocks
 * say to one another; for the flight's place its homes, which are returned. NULL: no memory. Under the device's
 * lock. */
const struct sk_home *sk_kernel_tables(const struct skrt_kernel *kernel, const struct sk_flight *flight);

/* The hidden state that the launch reaches; all there can be if its steps are damaged. */
uint32_t sk_kernel_states(const struct skrt_kernel *kernel);

/* Writes "superkernel sp1", "launch act", "task entry act". */
void sk_kernel_title(const struct skrt_kernel *kernel, char *text, size_t size);

void sk_kernel_free(struct skrt_kernel *kernel);

#endif
