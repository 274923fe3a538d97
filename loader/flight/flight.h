/* The running objects, for the rooms that run, check and record them: modules and their kernels, instances, cores,
 * blocks, flights. */
#ifndef SK_LOADER_FLIGHT_FLIGHT_H
#define SK_LOADER_FLIGHT_FLIGHT_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/plan/ranks.h"
#include "format/skabi.h"
#include "format/skdims.h"
#include "format/skkernel.h"
#include "format/skplan.h"
#include "loader/base/status.h"
#include "loader/core/core.h"
#include "loader/image/image.h"
#include "loader/skrt.h"

struct sk_command;
struct sk_guard;
struct sk_rank_places;
struct sk_transport;
struct skrt_device;
struct skrt_trace;

/* ==== core ====
 *
 * A core of a device: a stack for its calls, and its interface to package code. */

enum {
	SK_MAX_CORES = SK_MAX_RESIDENT, /* a lane */
	SK_LINE = 128, /* distance between bytes that one core writes and others read */
};

struct sk_flight;
struct sk_own_cores;
struct sk_worker;

/* A core. Its call is its work in one flight, in which it has any number that the flight assigns. */
struct sk_device_core {
	alignas(SK_LINE) struct sk_core
		abi; /* the interface to package code; first, because the runtime's functions get its address */
	uint32_t number; /* among the lane's; abi.index is that in the flight */
	struct sk_worker *worker; /* that runs it in this flight */
	uint32_t turn; /* its place among the worker's */
	uint32_t planned_call; /* its current call in the plan; known only on devices with checks, else SK_NO_INDEX */
	struct sk_flight *flight;
	struct sk_own_cores *own; /* by lane: of its worker in the flight */
	struct sk_call call;
	/* The word that it waits for, or waited for when it was told to leave; NULL: none. */
	const volatile uint64_t *word;
	uint64_t target;
	uint64_t words; /* words that must reach the target: this one and the next ones */
	struct sk_own_cores *told; /* of their lane, if workers publish totals for it; else NULL */
	/* The transport of the exchange that it waits for, NULL: none; the state of that exchange, enum
	 * skrt_transfer_state; and the word of the wait, which becomes 1. */
	const struct sk_transport *transport;
	int exchange;
	uint32_t exchange_tests;
	int64_t exchange_end; /* time at which it is late; 0: the flight has a deadline instead */
	uint64_t exchanged;
	uint64_t entered, left; /* the flight, by the processor's counter; noted only for a trace */
};

/* ==== thunk-words.c ====
 *
 * The input of thunks (format/plan/plan.h): the words that they read, and, without a flight, a core on which one thread
 * runs a task alone. */

struct skrt_instance;
struct skrt_kernel;

/* Words for one launch at a time, with room for the longest so far. */
struct sk_words {
	uint64_t *items;
	uint32_t room;
	const struct skrt_kernel *kernel; /* their kernel and, below, the number of its bindings; NULL: none */
	uint64_t bound;
};

/* A launch on one core. */
struct sk_lone_core {
	struct sk_words words;
	struct sk_core abi;
	struct sk_core_range range;
	struct sk_home home;
	uint64_t progress;
};

/* Fill in the words that the kernel's thunk reads in a launch of the instance, unless they are there from the last
 * launch. False: no memory. */
bool sk_words_fill(struct sk_words *words, const struct skrt_kernel *kernel, const struct skrt_instance *instance);

/* Put a thunk's words in the place of bindings and workspace. */
void sk_words_hand(const struct sk_words *words, struct sk_core *abi);

/* Prepare the launch to be run by the calling thread alone. False: no memory. */
bool sk_serial_prepare(struct skrt_instance *instance, const struct skrt_kernel *kernel);

/* Run it by its serial entry or its thunk. Return 0 or the first non-zero status of a kernel. */
int sk_serial_run(struct skrt_instance *instance, const struct skrt_kernel *kernel);

/* ==== flight ====
 *
 * A flight: a launch that has started and not ended. loader/device/flights.c starts and ends it, workers run its cores,
 * checks and traces observe it. */

struct sk_checks;

/* An activity with a deadline; loader/device/watch.c. It changes under the lock of the time-out, except `due`, which
 * others read. */
struct sk_watched {
	struct sk_watched *next;
	struct sk_flight *flight; /* NULL: a call that one thread runs: */
	pthread_t thread;
	int64_t deadline; /* monotonic time in ns */
	_Atomic bool due; /* its calls are to be expelled */
};

/* The reason why cores are to leave a flight before its end. */
enum sk_abort {
	SK_ABORT_NONE,
	SK_ABORT_FAILED, /* one has failed, and has recorded the failure */
	SK_ABORT_STUCK, /* all wait for each other */
	SK_ABORT_TIMEOUT,
};

/* Progress numbers that all cores of a worker have reached, by lane; loader/device/told.c. */
struct sk_told {
	alignas(SK_LINE) _Atomic uint64_t lanes[SK_MAX_LANES];
};

/* A launch that is in flight. A device has several places, each for one flight after another. Progress numbers only
 * grow: a flight's steps are numbered from the base that the earlier flights in its place have advanced. */
struct sk_flight {
	/* Read by all waiting threads: */
	alignas(SK_LINE) _Atomic int aborted; /* enum sk_abort */
	/* Counts the workers that have left flights of this place. It is not reset when a flight begins, since threads
	 * that wait for the others to leave read it. */
	alignas(SK_LINE) _Atomic uint32_t left;

	/* Read by all workers, so written only if it differs from the last launch in this place: see SK_KEEP_LINE. */
	alignas(SK_LINE) struct skrt_device *device;
	uint32_t place; /* its number */
	uint32_t workers; /* of the device, when it began */
	uint32_t busy; /* number of workers with cores in it: the first ranks */
	struct {
		struct sk_device_core **cores; /* by number in the flight; room for SK_MAX_CORES */
		uint64_t *words; /* progress, SK_PROGRESS_STRIDE bytes apart; room for as many */
	} lanes[SK_MAX_LANES];
	struct sk_told *told; /* by rank */
	struct skrt_instance *instance;
	const struct skrt_kernel *kernel;
	const struct sk_home *homes; /* the kernel's, for this place */
	const struct sk_core_range *ranges; /* the kernel's, at the instance's sizes */
	struct sk_words words; /* for its thunk, if it has one */
	struct sk_checks *checks; /* that apply to it; NULL: none */
	struct skrt_trace *trace; /* that records it; NULL: none */

	/* Under the device's lock, or when no worker is inside: */
	alignas(SK_LINE) struct sk_command *command; /* of the launch that is in the place; NULL: none */
	uint64_t bases[SK_MAX_LANES]; /* numbers before the first step */
	uint32_t *order; /* the workers' numbers, by rank */
	uint32_t last; /* value of `left` once all workers but one have left */
	char *tables; /* of times, for a trace: one for each core that notes times */
	size_t tables_size;
	uint64_t started; /* by the processor's counter, for the trace */
	struct sk_watched watched;
	/* Of an exchange that did not end: its title, and why; "": there was none. */
	char exchange[640];
	bool exchange_late; /* the flight's cores were told to leave; otherwise the exchange itself has failed */
};

/* A written line has to be fetched by all its readers. */
#define SK_KEEP_LINE(place, value)                                                                                     \
	do {                                                                                                           \
		if ((place) != (value))                                                                                \
			(place) = (value);                                                                             \
	} while (0)

/* Tell all cores of the flight to leave; the first reason is kept. */
static inline void sk_flight_abort(struct sk_flight *flight, enum sk_abort reason)
{
	int none = SK_ABORT_NONE;

	atomic_compare_exchange_strong(&flight->aborted, &none, (int)reason);
}

/* ==== kernel.c ====
 *
 * A prepared launch of a module's plan: see kernel.c. */

enum { SK_MOST_FLIGHTS = 64 }; /* on a device at a time */

/* The flags that a block which runs at once with others has set and waited for; loader/flight/block.c. */
struct sk_block_state;

/* Bits: the hidden state that a launch reaches. */
enum sk_states {
	SK_STATES_KNOWN = 1, /* has been determined */
	SK_STATES_OWN = 2, /* that of the package, which all modules of its plan share */
	SK_STATES_LIBRARY = 4, /* the C library's, which all packages share */
};

/* A launch of the plan. Its tables have a row for each core, lane by lane: see sk_core_row. */
struct skrt_kernel {
	struct skrt_module *module;
	uint32_t launch;
	struct skrt_kernel *next; /* of the module's prepared ones */
	const char *name, *network;
	int (*entry)(struct sk_core *core);
	int (*serial_entry)(void *const *tensors, void *workspace); /* NULL: none */
	bool thunk; /* the entry is a thunk: it reads words instead of bindings and workspace */
	bool serial; /* one thread can run it alone, by its serial entry or its thunk */
	bool exchanges; /* it exchanges bytes with other ranks */
	bool unshared; /* a task entry: runs in the unshared workspace */
	uint32_t lane_steps[SK_MAX_LANES];
	/* Cores that run it: the device's, limited by its options, but as many as blocks that run at once need. */
	uint32_t cores[SK_MAX_LANES];
	uint32_t partition_count, home_count;
	struct sk_core_range *ranges; /* NULL: no table has been made yet. At the largest sizes */
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

/* Return the row of a core in a table with a row for each of so many cores. */
static inline uint64_t sk_core_row(const uint32_t cores[SK_MAX_LANES], uint32_t lane, uint32_t index)
{
	uint64_t row = index;

	for (uint32_t i = 0; i < lane; i++)
		row += cores[i];
	return row;
}

/* Return the range of a core out of `count`. */
struct sk_core_range sk_core_range_of(const struct sk_plan_partition *partition, uint32_t core, uint32_t count);

/* Prepare kernel number `launch` of the plan. The data that a launch needs beyond the mapped file are checked and made
 * when it is first requested, so that the loading time does not depend on the number of kernels. */
enum skrt_status sk_module_prepare(struct skrt_module *module, uint32_t launch, const struct skrt_kernel **kernel);

/* Prepare all launches of the network. */
enum skrt_status sk_module_prepare_network(struct skrt_module *module);

/* Do the work of skrt_module_tensor, for a complete struct of this library. */
enum skrt_status sk_module_tensor(const struct skrt_module *module, uint32_t index, struct skrt_tensor *tensor);

/* Find the network of that name; NULL: the only one. Errors are those of skrt_module_find_network. */
enum skrt_status sk_module_find_network(struct skrt_module *module, const char *name, struct sk_plan_network *network);

/* Check the records common to all launches, before names or tasks are read. */
enum skrt_status sk_module_check_records(struct skrt_module *module);

/* Check the launch's steps and their references, which running does not read, and whether they note times. */
enum skrt_status sk_module_check_steps(const struct skrt_kernel *kernel);

/* Make the kernel's tables, unless earlier launches have: for all launches the ranges, and the states of its blocks;
 * for the flight's place its homes, which are returned. NULL: no memory. Under the device's lock. */
const struct sk_home *sk_kernel_tables(const struct skrt_kernel *kernel, const struct sk_flight *flight);

/* Return the hidden state that the launch reaches; all kinds if its steps are damaged. */
uint32_t sk_kernel_states(const struct skrt_kernel *kernel);

/* Write "superkernel sp1", "launch act", "task entry act". */
void sk_kernel_title(const struct skrt_kernel *kernel, char *text, size_t size);

void sk_kernel_free(struct skrt_kernel *kernel);

/* ==== block.c ====
 *
 * The services of the runtime for blocks (skkernel.h): see block.c. */

/* The functions for the inline functions of skkernel.h. */
extern const struct sk_block_functions sk_block_functions;

/* End the call of a kernel that uses flags wrongly, at an address of its own. */
void sk_block_check_flag(const struct sk_block *block, uint32_t flag, const void *at);

/* Execute an await on a step of the launch, as the dispatcher would. False: the core must leave. */
bool sk_block_await(struct sk_core *core, const struct sk_plan_launch *launch, const struct sk_plan_step *awaited);

/* Return whether sk_set_next_task_start of the block publishes that the core has finished the step. */
bool sk_block_publishes(const struct sk_block *block);

/* ---- exchange.c ---- */

/* Exchange the bytes of the block's task with the other ranks. Other cores of the worker go on meanwhile, as in an
 * await, except on devices with checks. */
void sk_block_exchange(const struct sk_block *block, const void *from, void *to);

/* Go on with the exchange that the core waits for, without waiting. The core's worker calls this. */
void sk_exchange_go_on(struct sk_device_core *core);

/* ---- block.c again ---- */

/* Serve the other blocks. Dispatchers call this after the blocks of a step with FEED. */
void sk_block_feed(struct sk_core *core, uint32_t step);

/* Make sure that there is room for the states of the blocks of the kernel's launch. False: no memory. */
bool sk_block_prepare(struct skrt_kernel *kernel);

/* Reset the states of the kernel's blocks, if it has any, before a launch. */
void sk_block_reset(const struct skrt_kernel *kernel);

/* Describe the word that a core waits for: "waits for flag 2 of block 5 of the vector side". False if it does not
 * belong to a block. */
bool sk_block_describe(const struct skrt_kernel *kernel, const struct sk_device_core *waiting, char *text, size_t size);

/* ==== instance ====
 *
 * An instance: bindings and workspaces of a network of a module. */

/* Zero-filled pages: the workspace proper, and after it, if the serial entries need it, the scratch of each core, core
 * 0 first. */
struct sk_workspace {
	char *memory; /* NULL: not there yet */
	uint64_t size;
	uint64_t scratch, scratch_stride; /* offset of core 0's scratch; distance between cores */
};

struct skrt_instance {
	struct skrt_module *module;
	struct sk_plan_network network;
	const struct sk_plan_view *plan; /* the module's; on devices with checks that of its sizes */
	struct sk_chosen *sizes; /* NULL: the package is static */
	void **bindings; /* by binding number; NULL: not bound. After them the slots of a dynamic package */
	uint64_t bound; /* number of this set of bindings, unique on the device */
	bool checked; /* all bound, no forbidden overlap */
	struct sk_workspace workspaces[2]; /* shared, unshared */
	int fill; /* the byte that fills a new workspace */
	/* The fields above are read by all workers; those below change with each launch, under the device's lock: */
	alignas(SK_LINE) uint32_t pending; /* launches queued or running, serial runs too */
	bool serial; /* a serial run is going on */
	/* Launches of the network that are queued in the plan's order are one run through it, with a number. Launches
	 * of different runs, and the tasks' own entries, follow each other: */
	struct sk_command *first, *last; /* launches that have not ended, in the order of the calls */
	uint64_t run;
	uint32_t next_launch; /* the least possible number of the run's next launch */
	uint64_t *ended; /* by launch of the network: the last run in which it has ended */
	uint64_t failed_run; /* the last one that failed, and its failure */
	enum skrt_status failure;
	char error[SK_ERROR_SIZE];
	bool *done; /* by launch of the plan: it runs once, and has run; NULL: no launch runs once */
	uint32_t due[2]; /* number of launches that run once and have not yet, by workspace: the network's, the tasks'
			  * entries */
	struct sk_guard *guard; /* of devices with checks; else NULL */
	struct sk_call serial_call; /* without a stack before the first serial run */
	struct sk_lone_core lone_core; /* of serial runs of thunks */
};

/* ==== sizes.c ====
 *
 * The sizes of an instance of a dynamic package (format/skdims.h), and the numbers of the plan at these sizes. All
 * functions that change them need the device's lock, and an idle instance. */

/* The memory bound to a tensor. */
struct sk_bound {
	uint64_t bytes;
	bool shaped; /* bound as an array of the shape: */
	uint64_t shape[SK_MAX_RANK];
};

/* A launch's ranges, as in struct skrt_kernel. */
struct sk_sized_ranges {
	struct sk_core_range *items; /* NULL: not made yet */
	uint64_t number; /* of the sizes that they are for */
};

struct sk_chosen {
	uint64_t sizes[SK_MAX_DIMENSIONS]; /* by dimension of the package */
	uint32_t setters[SK_MAX_DIMENSIONS]; /* the binding that set the size by its shape; SK_NO_INDEX: none */
	uint64_t *values; /* by value of the package's sizes */
	uint64_t number; /* of these sizes, from 1 */
	struct sk_sized_ranges *ranges; /* by launch of the plan */
	struct sk_bound *bound; /* by binding */
	struct sk_plan_view plan; /* on devices with checks: the plan of these sizes, … */
	uint64_t guarded; /* … and the number of the sizes that the guard is for; 0: not made yet */
};

/* Give a new instance the usual sizes, if its package is dynamic. False: no memory. */
bool sk_chosen_open(struct skrt_instance *instance);
void sk_chosen_close(struct skrt_instance *instance);

/* Set the sizes of all dimensions, which take them. Return false if they are the present ones. */
bool sk_chosen_set(struct skrt_instance *instance, const uint64_t *sizes);

/* Make the instance's plan that of its sizes. The whole plan must have been checked. False: no memory. */
bool sk_chosen_make_plan(struct skrt_instance *instance);

/* Return a number of the plan at the instance's sizes, by its place; `number` is that of the plan itself. */
uint64_t sk_sized(const struct skrt_instance *instance, enum sk_dims_table table, uint32_t record, size_t offset,
		  uint64_t number);
uint64_t sk_sized_argument(const struct skrt_instance *instance, const struct sk_plan_call *call,
			   const struct sk_plan_argument *argument, size_t offset, uint64_t number);
uint64_t sk_sized_extent(const struct skrt_instance *instance, const struct sk_plan_step *step);
struct sk_plan_partition sk_sized_partition(const struct skrt_instance *instance, uint32_t index);

/* Return the value of an extent of a tensor; SK_NO_INDEX: it is a number. */
uint32_t sk_sized_extent_value(const struct skrt_module *module, const struct sk_plan_type *type, uint32_t extent);

/* Do the work of skrt_instance_tensor, for a complete struct of this library. */
enum skrt_status sk_instance_tensor(const struct skrt_instance *instance, uint32_t index, struct skrt_tensor *tensor);

/* Return the ranges of the kernel's cores, which has its tables. NULL: no memory. */
const struct sk_core_range *sk_sized_ranges(const struct skrt_instance *instance, const struct skrt_kernel *kernel);

/* ==== module ====
 *
 * A module: a mapped package with its plan checked, on a device; its kernels, prepared on their first request. */

enum { SK_KERNEL_BLOCK = 256 };

/* A run of so many consecutive launches. */
struct sk_kernel_block {
	struct skrt_kernel *kernels[SK_KERNEL_BLOCK]; /* NULL: not prepared yet */
};

struct skrt_module {
	struct skrt_device *device;
	struct sk_process process; /* the device's; in a fork the locks must not be waited for */
	char *path;
	struct sk_image image;
	struct sk_plan_view plan;
	struct sk_dims_view dims; /* none in a static package */
	struct sk_ranks_view ranks; /* none in a package for one process */
	const struct sk_transport *transport; /* between the ranks; NULL: the package is for one */
	bool compared; /* with the packages of the other ranks */
	uint64_t exchange_timeout; /* ns: of exchanges, if the device has no time-out; else 0 */
	struct sk_rank_places *rank_places; /* for comparisons before each exchange; NULL: there are none */
	const void *constants;
	uint32_t usual_cores[SK_MAX_LANES]; /* of the device's lanes, for launches that need no more */
	uint32_t cores[SK_MAX_LANES]; /* the most that any launch has */
	struct sk_kernel_block **blocks; /* of all launches; NULL: none of the block is prepared yet */
	struct skrt_kernel *prepared;
	pthread_mutex_t lock; /* preparing kernels, checking records */
	bool records_checked; /* of the plan: see sk_plan_check_records */
	_Atomic bool network_prepared;
	pthread_mutex_t construction; /* held while constructors run, which may take long: */
	bool constructed; /* they have run, or failed: */
	char failure[SK_ERROR_SIZE]; /* their failure; "": none */
	uint32_t instances; /* alive; under the device's lock */
	_Atomic uint32_t traces; /* that hold launches of it */
};

/* Return the launch if it has been prepared, else NULL. */
static inline struct skrt_kernel *sk_module_prepared(const struct skrt_module *module, uint32_t launch)
{
	const struct sk_kernel_block *block = module->blocks[launch / SK_KERNEL_BLOCK];

	return block ? block->kernels[launch % SK_KERNEL_BLOCK] : NULL;
}

#endif
