/* What runs, for the rooms that run it, check it and record it: modules and their kernels, instances, cores, blocks,
 * flights. */
#ifndef SK_LOADER_FLIGHT_FLIGHT_H
#define SK_LOADER_FLIGHT_FLIGHT_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/plan/plan.h"
#include "format/skabi.h"
#include "format/skkernel.h"
#include "format/skplan.h"
#include "loader/base/status.h"
#include "loader/core/core.h"
#include "loader/image/image.h"
#include "loader/skrt.h"

struct sk_command;
struct sk_guard;
struct skrt_device;
struct skrt_trace;

/* ==== core ====
 *
 * A core of a device: a stack for its calls, and what package code sees of it. */

enum {
	SK_MAX_CORES = SK_MAX_RESIDENT, /* a lane */
	SK_LINE = 128, /* bytes that one core writes and others read are kept apart by this much */
};

struct sk_flight;
struct sk_own_cores;
struct sk_worker;

/* A core. Its call is what it does in one flight, in which it has whatever number the flight gives it. */
struct sk_device_core {
	alignas(SK_LINE) struct sk_core
		abi; /* what package code sees; first: the runtime's functions get its address */
	uint32_t number; /* among the lane's; abi.index is that in the flight */
	struct sk_worker *worker; /* that plays it in this flight */
	uint32_t turn; /* its place among the worker's */
	uint32_t planned_call; /* of the plan, that it is in; only devices with checks know, else SK_NO_INDEX */
	struct sk_flight *flight;
	struct sk_own_cores *own; /* by lane: of its worker in the flight */
	struct sk_call call;
	/* What it waits for, and if it was told to leave, waited for; NULL: nothing. */
	const volatile uint64_t *word;
	uint64_t target;
	uint64_t words; /* that must reach the target: this one and those behind it */
	struct sk_own_cores *told; /* of their lane, if workers tell each other about it; else NULL */
	uint64_t entered, left; /* the flight, by the processor's counter; noted only for a trace */
};

/* ==== thunk-words.c ====
 *
 * What thunks (format/plan/plan.h) are given when they are run: the words that they read, and where no flight is, a
 * core by which one thread runs a task alone. */

struct skrt_instance;
struct skrt_kernel;

/* Of one launch after the other, with room for the longest so far. */
struct sk_words {
	uint64_t *items;
	uint32_t room;
	const struct skrt_kernel *kernel; /* that they are of, with what has this number bound; NULL: of none */
	uint64_t bound;
};

/* A launch of one core. */
struct sk_lone_core {
	struct sk_words words;
	struct sk_core abi;
	struct sk_core_range range;
	struct sk_home home;
	uint64_t progress;
};

/* What the kernel's thunk reads in a launch of the instance. They stay as they are if the last ones are the same.
 * False: no memory. */
bool sk_words_fill(struct sk_words *words, const struct skrt_kernel *kernel, const struct skrt_instance *instance);

/* In a thunk's place of bindings and workspace stand its words. */
void sk_words_hand(const struct sk_words *words, struct sk_core *abi);

/* Makes ready that the calling thread runs the launch alone. False: no memory. */
bool sk_serial_prepare(struct skrt_instance *instance, const struct skrt_kernel *kernel);

/* Runs it: by its serial entry or its thunk. Returns 0 or the first kernel's status that is not. */
int sk_serial_run(struct skrt_instance *instance, const struct skrt_kernel *kernel);

/* ==== flight ====
 *
 * A flight: a launch that has started and not ended. loader/device/flights.c starts and ends it, workers play its
 * cores, checks and traces look on. */

struct sk_checks;

/* What must end in time; loader/device/watch.c. Changes under the lock of the time-out, but for `due`, which others
 * read. */
struct sk_watched {
	struct sk_watched *next;
	struct sk_flight *flight; /* NULL: a call that one thread runs: */
	pthread_t thread;
	int64_t deadline; /* monotonic time in ns */
	_Atomic bool due; /* its calls are to be expelled */
};

/* Why cores are to leave a flight before its end. */
enum sk_abort {
	SK_ABORT_NONE,
	SK_ABORT_FAILED, /* one has failed, and says why */
	SK_ABORT_STUCK, /* each waits for another */
	SK_ABORT_TIMEOUT,
};

/* Numbers that all cores of a worker have reached, by lane; loader/device/told.c. */
struct sk_told {
	alignas(SK_LINE) _Atomic uint64_t lanes[SK_MAX_LANES];
};

/* A launch that is in flight. The device keeps some places for them, for one flight after another: progress numbers
 * only grow, and a flight's steps are numbered from the base that those before it in its place have moved on. */
struct sk_flight {
	/* Read by all that wait: */
	alignas(SK_LINE) _Atomic int aborted; /* enum sk_abort */
	/* How often a worker has said that it leaves a flight of this place; not written when one begins, since who
	 * waits for the others to leave looks at it. */
	alignas(SK_LINE) _Atomic uint32_t left;

	/* Read by all workers, so written only where it is not as for the launch before in this place: see
	 * SK_KEEP_LINE. */
	alignas(SK_LINE) struct skrt_device *device;
	uint32_t place; /* its number */
	uint32_t workers; /* of the device, when it began */
	uint32_t busy; /* of them, those that have cores in it: the first ranks */
	struct {
		struct sk_device_core **cores; /* by number in the flight; room for SK_MAX_CORES */
		uint64_t *words; /* progress, SK_PROGRESS_STRIDE bytes apart; room for as many */
	} lanes[SK_MAX_LANES];
	struct sk_told *told; /* by rank */
	struct skrt_instance *instance;
	const struct skrt_kernel *kernel;
	const struct sk_home *homes; /* the kernel's, for this place */
	struct sk_words words; /* that its thunk reads, if it has one */
	struct sk_checks *checks; /* that it is under; NULL: none */
	struct skrt_trace *trace; /* that records it; NULL: none */

	/* Under the device's lock, or when nobody is inside: */
	alignas(SK_LINE) struct sk_command *command; /* of the launch that is in the place; NULL: none */
	uint64_t bases[SK_MAX_LANES]; /* numbers before the first step */
	uint32_t *order; /* the workers' numbers, by rank */
	uint32_t last; /* what `left` is when all workers but one have left */
	char *tables; /* of times, for a trace: one for each core that has one */
	size_t tables_size;
	uint64_t started; /* by the processor's counter, for the trace */
	struct sk_watched watched;
};

/* A line that is written has to be fetched by all who read it. */
#define SK_KEEP_LINE(place, value)                                                                                     \
	do {                                                                                                           \
		if ((place) != (value))                                                                                \
			(place) = (value);                                                                             \
	} while (0)

/* Tells all cores of the flight to leave; the first reason is kept. */
static inline void sk_flight_abort(struct sk_flight *flight, enum sk_abort reason)
{
	int none = SK_ABORT_NONE;

	atomic_compare_exchange_strong(&flight->aborted, &none, (int)reason);
}

/* ==== kernel.c ====
 *
 * A launch of a module's plan, prepared: see kernel.c. */

enum { SK_MOST_FLIGHTS = 64 }; /* on a device at a time */

/* What a block that runs at once with others has said and heard; loader/flight/block.c. */
struct sk_block_state;

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

/* ==== block.c ====
 *
 * What blocks ask of the runtime (skkernel.h): see block.c. */

/* What the functions of skkernel.h call. */
extern const struct sk_block_functions sk_block_functions;

/* A kernel that uses flags wrongly, at an address of its own, ends its call here. */
void sk_block_check_flag(const struct sk_block *block, uint32_t flag, const void *at);

/* An await on a step of the launch, as the dispatcher would execute it. False: the core must leave. */
bool sk_block_await(struct sk_core *core, const struct sk_plan_launch *launch, const struct sk_plan_step *awaited);

/* Whether sk_set_next_task_start of the block tells others that the core has finished the step. */
bool sk_block_publishes(const struct sk_block *block);

/* What a dispatcher calls behind the blocks of a step with FEED. */
void sk_block_feed(struct sk_core *core, uint32_t step);

/* Room for what the blocks of the kernel's launch say, unless there is. False: no memory. */
bool sk_block_prepare(struct skrt_kernel *kernel);

/* Forgets what the blocks of the launch before have said, if the kernel has any. */
void sk_block_reset(const struct skrt_kernel *kernel);

/* "waits for flag 2 of block 5 of the vector side": what the word is that a core waits for. False if it is none of a
 * block's. */
bool sk_block_describe(const struct skrt_kernel *kernel, const struct sk_device_core *waiting, char *text, size_t size);

/* ==== instance ====
 *
 * An instance: bindings and workspaces of a network of a module. */

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

/* ==== module ====
 *
 * A module: a mapped package with its plan checked, on a device; its kernels, prepared when first asked for. */

enum { SK_KERNEL_BLOCK = 256 };

/* Of so many launches, one behind the other. */
struct sk_kernel_block {
	struct skrt_kernel *kernels[SK_KERNEL_BLOCK]; /* NULL: not prepared yet */
};

struct skrt_module {
	struct skrt_device *device;
	struct sk_process process; /* the device's; elsewhere nobody may wait for the locks */
	char *path;
	struct sk_image image;
	struct sk_plan_view plan;
	const void *constants;
	uint32_t usual_cores[SK_MAX_LANES]; /* of the device's lanes: of a launch that does not need more */
	uint32_t cores[SK_MAX_LANES]; /* the most that any launch has */
	struct sk_kernel_block **blocks; /* of all launches; NULL: none of the block is prepared yet */
	struct skrt_kernel *prepared;
	pthread_mutex_t lock; /* preparing kernels, checking records */
	bool records_checked; /* of the plan: see sk_plan_check_records */
	_Atomic bool network_prepared;
	pthread_mutex_t construction; /* held while constructors run, which may take long: */
	bool constructed; /* they have run, or failed: */
	char failure[SK_ERROR_SIZE]; /* in this way; "": they have not */
	uint32_t instances; /* alive; under the device's lock */
	_Atomic uint32_t traces; /* that hold launches of it */
};

/* The launch, if it has been prepared; else NULL. */
static inline struct skrt_kernel *sk_module_prepared(const struct skrt_module *module, uint32_t launch)
{
	const struct sk_kernel_block *block = module->blocks[launch / SK_KERNEL_BLOCK];

	return block ? block->kernels[launch % SK_KERNEL_BLOCK] : NULL;
}

#endif
