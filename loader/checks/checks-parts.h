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
 * A core's part of a checked launch, as the files of checks.h that run it see it. */

/* What a call may touch: scratch always, tensors only while it is open. */
enum sk_call_phase {
	SK_BEFORE_WAIT, /* it starts early, and has not called sk_wait_pre_task_end yet */
	SK_OPEN,
	SK_BEHIND_SET, /* it has called sk_set_next_task_start */
};

/* A core at a call of a step. Several calls are under way at once where blocks wait for one another, each on
 * the stack of its core; all but the one that runs are closed. */
struct sk_checked {
	struct sk_device_core *core;
	struct sk_guard *guard;
	struct sk_clocks *clocks; /* NULL: races are not checked */
	char *finding; /* of the launch; SK_FINDING_SIZE */
	const struct sk_plan_view *plan;
	const struct sk_plan_launch *launch;
	uint64_t row, scratch; /* of the core: among the launch's; of its scratch, among the module's */
	const struct sk_plan_step *step;
	const struct sk_plan_call *call; /* of the step: the one that is made, or has been made last */
	struct sk_core_range tile; /* of the step, that the call is made for; empty: the step is not in tiles */
	bool finished; /* the step, so that others know */
	/* One part of the call, where it is made for several blocks, ranges or tiles: */
	uint64_t low, high; /* the part of the divided extent; not divided: both 0 */
	uint64_t inner_low, inner_high; /* the same of the inner loop's; none, or all of it: both 0 */
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
	/* Of the launch: */
	char finding[SK_FINDING_SIZE]; /* "": nothing */
	struct sk_checked *cores; /* by row of the kernel's tables, with what their calls need: */
	uint64_t *words;
	struct sk_window *windows;
	struct sk_task_blocks *task_blocks; /* of the tasks from the first one of the launch to the last */
	uint32_t first_task;
};

enum { SK_MAX_WINDOWS = 4 }; /* of an argument: its part, what is behind all, what may be read besides, its field */

/* ---- checks.c ---- */

/* The core's part of the launch that runs. */
struct sk_checked *sk_checked_of(const struct sk_device_core *core);

/* ---- windows.c ---- */

/* The hidden states of the call at hand; or what it may touch in its phase. They are the core's windows then. */
void sk_checked_find_states(struct sk_checked *checked);
void sk_checked_find_windows(struct sk_checked *checked);

/* ---- owed.c ---- */

/* A launch begins. False: no memory. */
bool sk_owed_begin(struct sk_checks *checks, const struct sk_plan_view *plan, const struct sk_plan_launch *launch);

/* The call at hand begins to access tensors, or ends, if it is a block for its task, too: up to which kind the bytes
 * that it owes are nobody's yet, or all written. */
enum sk_owed sk_owed_at_begin(const struct sk_checked *checked);
enum sk_owed sk_owed_at_end(const struct sk_checked *checked);

/* ---- checked-call.c ---- */

/* One call of the step for the part [low, high), or those for its tiles: 0, the kernel's status, 1 with a finding, or
 * SK_STATUS_ABORTED. */
int sk_checked_call(struct sk_checked *checked, uint64_t low, uint64_t high);

/* Around what a call waits for inside: pause closes all that it may touch, and close does so where tensors stay closed;
 * resume opens it again, and open does so where tensors are open to it from now on. Each leaves the call if there is a
 * finding, the last two also if the launch has failed meanwhile. */
void sk_checked_pause(struct sk_checked *checked);
void sk_checked_close(struct sk_checked *checked);
void sk_checked_resume(struct sk_checked *checked);
void sk_checked_open(struct sk_checked *checked);

/* ---- split.c ---- */

/* Room for what calls write, for a device. NULL: no memory. */
struct sk_split_check *sk_split_check_open(void);
void sk_split_check_close(struct sk_split_check *split);

/* sk_checked_call for a part of a SPLIT step, and again in smaller parts of whole units: a difference is found. */
int sk_split_check_call(struct sk_checked *checked, struct sk_split_check *split, uint64_t low, uint64_t high);

/* ---- checked-order.c ---- */

/* All awaits of the step. False: the core must leave. */
bool sk_checked_await(struct sk_checked *checked);

/* The core has finished the step, once. */
void sk_checked_finish(struct sk_checked *checked);

/* What the functions of skkernel.h call in checked launches. */
extern const struct sk_block_functions sk_checked_functions;

/* ==== guard.c ====
 *
 * Guarded memory, as the two files of it see it: guard.c has the memories, guard-call.c what is open to a call. */

/* A tensor, or a core's scratch, in pages of its own. */
struct sk_guarded_memory {
	const char *name; /* of a tensor; NULL: scratch */
	char *mapping; /* NULL: not there */
	size_t mapping_size;
	char *pages; /* between the guards */
	size_t pages_size;
	char *data;
	uint64_t bytes, padding; /* behind the bytes, which may be read, too */
	uint32_t word; /* bytes in which what is not written is looked for */
	enum sk_role role; /* NONE: scratch */
	bool copied; /* in the copying at hand */
};

/* Bytes that are writable only because pages are. */
struct sk_border {
	uint32_t memory;
	char *start;
	size_t size;
	size_t saved; /* offset of what they were */
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

/* The last bytes that a call owed and that still hold the pattern, too few to be sure: they may have been written so.
 */
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
	/* Of the call that is open: */
	struct sk_window *windows; /* by memory and address */
	uint32_t window_count;
	const char *closed; /* why all else is not; NULL: it is no argument */
	struct sk_border *borders;
	uint32_t border_count, border_capacity;
	char *saved;
	size_t saved_size, saved_capacity;
	/* The pages that are open, and those of the call that begins; where they overlap, the last ones decide. */
	struct sk_page_list open, wanted;
	struct sk_doubt doubts[SK_DOUBTS]; /* by argument: a later one may take the place of an earlier one */
};

/* Number of the memory that an argument lies in, for the core in the row of the module's tables. */
uint32_t sk_guard_memory_of(const struct sk_guard *guard, const struct sk_plan_argument *argument, uint64_t row);

/* Closes what calls have left open. */
bool sk_guard_close_pages(struct sk_guard *guard);

/* [start, end), which may be written, holds the pattern. */
void sk_guarded_memory_spoil(const struct sk_guarded_memory *memory, char *start, const char *end);

/* The first bytes in [start, end), which may be read, that hold the pattern: [*low, *high) of the data. False: none. */
bool sk_guarded_memory_find_unwritten(const struct sk_guarded_memory *memory, const char *start, const char *end,
				      uint64_t *low, uint64_t *high);

/* Return how many bytes hold the pattern at the start of [start, end), or at its end. */
uint64_t sk_guarded_memory_count_first(const struct sk_guarded_memory *memory, const char *start, const char *end);
uint64_t sk_guarded_memory_count_last(const struct sk_guarded_memory *memory, const char *start, const char *end);

#endif
