/* Shared by the files of this room: one checked call, and guarded memory. */
#ifndef SK_LOADER_CHECKS_CHECKS_PARTS_H
#define SK_LOADER_CHECKS_CHECKS_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/skabi.h"
#include "format/skkernel.h"
#include "format/skplan.h"
#include "loader/arch/machine.h"
#include "loader/checks/checks.h"

struct sk_clocks;
struct sk_device_core;
struct sk_plan_view;
struct sk_split_check;
struct sk_task_blocks;

/* ==== checked calls ====
 *
 * A core's part of a checked launch, for the files of checks.h that run it. */

/* The memory that a call may touch: scratch always, tensors only in the phase SK_OPEN. */
enum sk_call_phase {
	SK_BEFORE_WAIT, /* it starts early, and has not called sk_wait_pre_task_end yet */
	SK_OPEN,
	SK_AFTER_SET, /* it has called sk_set_next_task_start */
};

/* A core at a call of a step. If blocks wait for one another, several calls are in progress, each on the stack of its
 * core; all except the running one are closed. */
struct sk_checked {
	struct sk_device_core *core;
	struct sk_guard *guard;
	struct sk_clocks *clocks; /* NULL: races are not checked */
	char *finding; /* of the launch; SK_FINDING_SIZE */
	const struct sk_plan_view *plan;
	const struct sk_plan_launch *launch;
	uint64_t row, scratch; /* rows of the core: in the launch's tables, and for its scratch in the module's */
	const struct sk_plan_step *step;
	const struct sk_plan_call *call; /* of the step: the current or the last one */
	struct sk_core_range tile; /* of the step, for the current call; empty: the step is not in tiles */
	bool finished; /* the step, and others know it */
	/* One part of the call, if it is made for several blocks, ranges or tiles: */
	uint64_t low, high; /* the part of the divided extent; not divided: both 0 */
	uint64_t inner_low, inner_high; /* the same for the inner loop; none, or all of it: both 0 */
	struct sk_block block;
	enum sk_call_phase phase;
	struct sk_registers registers;
	/* Room for the arguments of every call of the launch: */
	uint64_t *stack, *copies; /* copies of arguments by reference */
	struct sk_window *windows; /* SK_MAX_WINDOWS for each argument */
	uint32_t window_count;
};

struct sk_checks {
	uint32_t wanted;
	struct sk_clocks *clocks; /* NULL: races are not checked */
	struct sk_split_check *split; /* NULL: calls are made for whole parts only */
	/* For the launch: */
	char finding[SK_FINDING_SIZE]; /* "": nothing */
	struct sk_checked *cores; /* by row of the kernel's tables, with the memory that their calls need: */
	uint64_t *words;
	struct sk_window *windows;
	struct sk_task_blocks *task_blocks; /* of the launch's tasks, from the first to the last */
	uint32_t first_task;
};

/* Windows of an argument: its part, the bytes after all parts, bytes that may also be read, its field. */
enum { SK_MAX_WINDOWS = 4 };

/* ---- checks.c ---- */

/* Return the core's part of the running launch. */
struct sk_checked *sk_checked_of(const struct sk_device_core *core);

/* ---- windows.c ---- */

/* Find the hidden states of the current call, or the memory that it may touch in its phase, as the core's windows. */
void sk_checked_find_states(struct sk_checked *checked);
void sk_checked_find_windows(struct sk_checked *checked);

/* ---- owed.c ---- */

/* Begin a launch. False: no memory. */
bool sk_owed_begin(struct sk_checks *checks, const struct sk_plan_view *plan, const struct sk_plan_launch *launch);

/* Begin, or end, the tensor accesses of the current call, also as a block of its task. Return the last kind of owed
 * bytes that are unwritten now, or that must all be written now. */
enum sk_owed sk_owed_at_begin(const struct sk_checked *checked);
enum sk_owed sk_owed_at_end(const struct sk_checked *checked);

/* ---- checked-call.c ---- */

/* Make one call of the step for the part [low, high), or its calls for the tiles: return 0, the kernel's status, 1 with
 * a finding, or SK_STATUS_ABORTED. */
int sk_checked_call(struct sk_checked *checked, uint64_t low, uint64_t high);

/* Close and open the call's memory around waits inside it: pause closes all that it may touch, and resume opens it
 * again; close and open also change the phase, so that the tensors stay closed or open from now on. Each leaves the
 * call if there is a finding, the last two also if the launch has failed meanwhile. */
void sk_checked_pause(struct sk_checked *checked);
void sk_checked_close(struct sk_checked *checked);
void sk_checked_resume(struct sk_checked *checked);
void sk_checked_open(struct sk_checked *checked);

/* ---- split.c ---- */

/* Make room for the bytes that calls write, for a device. NULL: no memory. */
struct sk_split_check *sk_split_check_open(void);
void sk_split_check_close(struct sk_split_check *split);

/* Make sk_checked_call for a part of a SPLIT step, and again for smaller parts of whole units, and report a
 * difference. */
int sk_split_check_call(struct sk_checked *checked, struct sk_split_check *split, uint64_t low, uint64_t high);

/* ---- checked-order.c ---- */

/* Execute all awaits of the step. False: the core must leave. */
bool sk_checked_await(struct sk_checked *checked);

/* Note, once, that the core has finished the step. */
void sk_checked_finish(struct sk_checked *checked);

/* The functions for the inline functions of skkernel.h, in checked launches. */
extern const struct sk_block_functions sk_checked_functions;

/* ==== guard.c ====
 *
 * Guarded memory, for its two files: guard.c has the memories, guard-call.c the pages that are open to a call. */

/* A tensor, or a core's scratch, in pages of its own. */
struct sk_guarded_memory {
	const char *name; /* of a tensor; NULL: scratch */
	char *mapping; /* NULL: not there */
	size_t mapping_size;
	char *pages; /* between the guards */
	size_t pages_size;
	char *data;
	uint64_t bytes, padding; /* readable bytes after the tensor's bytes */
	uint32_t word; /* unit, in bytes, of the search for unwritten data */
	enum sk_role role; /* NONE: scratch */
	bool copied; /* in the current pass of copying */
};

/* Bytes that are writable only because their pages are. */
struct sk_border {
	uint32_t memory;
	char *start;
	size_t size;
	size_t saved; /* offset of their saved contents */
};

struct sk_open_pages {
	char *start;
	size_t size;
	int protection;
};

struct sk_page_list {
	struct sk_open_pages *items;
	uint32_t count, capacity;
};

/* The last bytes that a call owed and that still hold the pattern. They are too few to be sure: the call may have
 * written just these values. */
struct sk_doubt {
	const struct sk_plan_argument *argument;
	uint32_t memory;
	uint64_t low, high; /* [low, high) of the data */
};

enum { SK_DOUBTS = 64 };

struct sk_guard {
	const struct sk_plan_view *plan;
	bool pattern;
	size_t page;
	struct sk_guarded_memory *memories; /* the plan's tensors, then the scratch of each core */
	uint32_t memory_count;
	/* For the open call: */
	struct sk_window *windows; /* by memory and address */
	uint32_t window_count;
	const char *closed; /* the reason why all other memory is closed; NULL: it belongs to no argument */
	struct sk_border *borders;
	uint32_t border_count, border_capacity;
	char *saved;
	size_t saved_size, saved_capacity;
	/* The pages that are open, and those of the beginning call; where the latter overlap, the last ones decide. */
	struct sk_page_list open, wanted;
	struct sk_doubt doubts[SK_DOUBTS]; /* by argument: a later one may replace an earlier one */
};

/* Return the number of the memory that holds an argument, for the core in the row of the module's tables. */
uint32_t sk_guard_memory_of(const struct sk_guard *guard, const struct sk_plan_argument *argument, uint64_t row);

/* Close the pages that calls have left open. */
bool sk_guard_close_pages(struct sk_guard *guard);

/* Fill the writable bytes [start, end) with the pattern. */
void sk_guarded_memory_spoil(const struct sk_guarded_memory *memory, char *start, const char *end);

/* Find the first bytes in the readable [start, end) that hold the pattern: [*low, *high) of the data. False: none. */
bool sk_guarded_memory_find_unwritten(const struct sk_guarded_memory *memory, const char *start, const char *end,
				      uint64_t *low, uint64_t *high);

/* Return the number of bytes that hold the pattern at the start of [start, end), or at its end. */
uint64_t sk_guarded_memory_count_first(const struct sk_guarded_memory *memory, const char *start, const char *end);
uint64_t sk_guarded_memory_count_last(const struct sk_guarded_memory *memory, const char *start, const char *end);

#endif
