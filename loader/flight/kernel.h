/* A launch of a module's plan, prepared: see kernel.c. */
#ifndef SK_LOADER_KERNEL_H
#define SK_LOADER_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/plan/plan.h"
#include "format/skabi.h"
#include "loader/skrt.h"

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
	const char *name, *network;
	int (*entry)(struct sk_core *core);
	int (*serial_entry)(void *const *tensors, void *workspace); /* NULL: none */
	bool thunk; /* the entry is one: it reads words instead of bindings and workspace */
	bool serial; /* a thread can run it alone, by its serial entry or its thunk */
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
	bool timed; /* the dispatcher notes the times of all calls */
	uint32_t time_rows[SK_MAX_LANES]; /* by lane: of a core's table */
	uint32_t states; /* enum sk_states; under the module's lock */
};

/* Row of a core in a table with a row for each of so many cores. */
static inline uint64_t sk_core_row(const uint32_t cores[SK_MAX_LANES], uint32_t lane, uint32_t index)
{
	uint64_t row = index;

	for (uint32_t i = 0; i < lane; i++)
		row += cores[i];
	return row;
}

/* Kernel number `launch` of the plan, prepared. What a launch needs beyond the mapped file is checked and made when it
 * is first asked for, so that the time for loading does not grow with the number of kernels. */
enum skrt_status sk_module_prepare(struct skrt_module *module, uint32_t launch, const struct skrt_kernel **kernel);

/* All launches of the network, prepared. */
enum skrt_status sk_module_prepare_network(struct skrt_module *module);

/* skrt_module_tensor for a whole struct of this library's own. */
enum skrt_status sk_module_tensor(const struct skrt_module *module, uint32_t index, struct skrt_tensor *tensor);

/* The network of that name; NULL: the only one. Errors are those of skrt_module_find_network. */
enum skrt_status sk_module_find_network(struct skrt_module *module, const char *name, struct sk_plan_network *network);

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
