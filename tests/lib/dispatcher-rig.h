/* The base of check_dispatcher.c: plans built by hand, dispatchers made from them and put into executable memory with
 * their relocations applied, a device of cores as the ABI wants it, and a log of the kernels' calls. */
#ifndef DISPATCHER_RIG_H
#define DISPATCHER_RIG_H

#include "format/plan/plan.h"
#include "format/skabi.h"
#include "format/skkernel.h"
#include "format/skplan.h"
#include "stubs/dispatcher/dispatcher.h"

struct sk_dims_view;

enum { MOST = 512, MOST_CORES = 8, MOST_BINDINGS = 8, MOST_SLOTS = 24, SCRATCH_BYTES = 256 };

/* ---- plans ---- */

/* One launch; the tables are filled from the front. */
struct rig_plan {
	struct sk_arena *arena;
	struct sk_plan header;
	struct sk_plan_launch launch;
	struct sk_plan_form form; /* the launch's */
	struct sk_plan_task tasks[MOST];
	struct sk_plan_kernel kernels[MOST];
	void (*functions[MOST])(void); /* of kernels */
	struct sk_plan_step steps[MOST];
	struct sk_plan_call calls[MOST];
	struct sk_plan_await awaits[MOST];
	struct sk_plan_argument arguments[2 * MOST];
	struct sk_plan_loop loops[MOST];
	struct sk_plan_term terms[MOST];
	struct sk_plan_pattern patterns[MOST];
	struct sk_plan_partition partitions[MOST_CORES];
	struct sk_plan_home homes[MOST_CORES];
	struct {
		int32_t references[SK_MAX_LANES];
		char names[SK_MAX_LANES][8];
	} lanes;
	struct sk_plan_view view;
	const struct sk_dims_view *dims; /* NULL: the numbers do not vary */
};

struct rig_plan *rig_plan_new(void);
void rig_plan_free(struct rig_plan *plan);

uint32_t rig_home(struct rig_plan *plan, uint32_t lane, uint32_t stream);
uint32_t rig_partition(struct rig_plan *plan, uint64_t extent, uint64_t unit);

/* Add a step on lane 0 for a task of its own; core set: home 0 if it is plain, else all. The caller may change it
 * before it adds another. */
struct sk_plan_step *rig_step(struct rig_plan *plan, enum sk_step_kind kind, void (*function)(void));
/* The step added last calls one more function, for a task of its own; arguments go there from now on. */
struct sk_plan_call *rig_call_too(struct rig_plan *plan, void (*function)(void));

/* The call added last. */
struct sk_plan_call *rig_last_call(struct rig_plan *plan);
#define RIG_FUNCTION(function) ((void (*)(void))(function))

/* Add to the step added last. */
void rig_argument(struct rig_plan *plan, struct sk_plan_argument argument);
void rig_loop(struct rig_plan *plan, uint64_t extent, uint64_t tile);

/* Add to the argument added last: an expression, a pointer. */
void rig_term(struct rig_plan *plan, struct sk_plan_term term);
void rig_pattern(struct rig_plan *plan, struct sk_plan_pattern pattern);
void rig_await(struct rig_plan *plan, const struct sk_plan_step *awaited);

/* ---- code ---- */

struct rig_code {
	struct sk_code code;
	uint8_t *memory; /* code, jumps to kernels, unwind records */
	size_t size;
	uint8_t *unwind;
};

/* The constants' address. They need not be there. */
#define RIG_CONSTANTS(loaded) ((loaded)->memory + 4096)

/* The address of symbol number `index`. It need not be there either. */
#define RIG_SYMBOL(loaded, index) ((loaded)->memory + 8192 + 16 * (index))

struct rig_code rig_load(struct rig_plan *plan, enum sk_entry_kind kind);
void rig_unload(struct rig_code *loaded);
void *rig_entry(const struct rig_code *loaded);

/* Call entry(a, b) with known values in the registers that a function must preserve, and fail if they have changed. */
int rig_call(void *entry, void *a, void *b);

/* The same instruction by instruction; at each one inside the dispatcher the unwinder must find rig_call's frame and
 * its registers. Return the number of checked instructions in *count. */
int rig_call_stepping(const struct rig_code *loaded, void *a, void *b, unsigned *count);

/* Fail unless the unwinder reaches rig_call from here through the dispatcher. */
void rig_check_backtrace(const struct rig_code *loaded);

/* ---- cores ---- */

struct rig_device {
	uint32_t counts[SK_MAX_LANES];
	struct sk_core cores[SK_MAX_LANES][MOST_CORES];
	struct sk_core_range ranges[SK_MAX_LANES][MOST_CORES][MOST_CORES];
	struct sk_home homes[SK_MAX_LANES][MOST_CORES][MOST_CORES];
	_Alignas(64) uint8_t scratch[SK_MAX_LANES][MOST_CORES][SCRATCH_BYTES];
	_Alignas(128) uint8_t progress[SK_MAX_LANES][MOST_CORES][SK_PROGRESS_STRIDE];
	void *bindings[MOST_BINDINGS + MOST_SLOTS];
	struct sk_runtime runtime;
};

/* Every await of the runtime spins. */
struct rig_device *rig_device_new(const struct rig_plan *plan, uint32_t lane0, uint32_t lane1, void *workspace);
void rig_device_free(struct rig_device *device);
uint64_t rig_progress(const struct rig_device *device, uint32_t lane, uint32_t core);
void rig_set_progress(struct rig_device *device, uint32_t lane, uint32_t core, uint64_t value);

/* Run the entry on all cores at once, each on a thread, and advance the lanes' bases past the launch. Return the first
 * core's status that is not 0. */
int rig_run(const struct rig_plan *plan, struct rig_device *device, void *entry);

/* ---- the log: the arguments of this thread's kernels ---- */

enum { MOST_VALUES = 32 };

struct rig_call_record {
	unsigned count;
	uint64_t values[MOST_VALUES];
};

struct rig_log {
	unsigned count;
	struct rig_call_record calls[MOST];
};

extern _Thread_local struct rig_log rig_log;
void rig_log_call(unsigned count, const uint64_t *values);
#define RIG_LOG(...) rig_log_call(sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (uint64_t[]){__VA_ARGS__})

/* Fail unless the log's next call (from `*at`, which moves on) has these values. */
void rig_expect(unsigned *at, unsigned count, const uint64_t *values);
#define RIG_EXPECT(at, ...)                                                                                            \
	rig_expect((at), sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (uint64_t[]){__VA_ARGS__})

#endif
