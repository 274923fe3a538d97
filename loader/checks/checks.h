/* Checked launches, for finding what kernels and plans do wrong. A device with checks does not run the dispatchers: it
 * goes through the plan's tables step by step, core by core on one thread, and so sees each call before and behind it.
 *
 *   checks.c         around a launch; a core's part of it, from the plan's tables
 *   checked-call.c   a call of a kernel: what it gets and returns, as doc/internals/package-format.md says
 *   windows.c        what it may touch
 *   loader/arch/x86_64/invoke.S  the call itself
 *   loader/arch/x86_64/registers.c   whether it has left control state as it found it
 *   checked-order.c  awaits and progress, and what kernels ask for in their calls: they may wait there for others
 *   guard.c          every tensor in memory of its own between guard pages
 *   guard-call.c     of which only the arguments of the call that runs are open
 *   owed.c           which bytes the kernels are to write
 *   clocks.c         which accesses the awaits order
 *   split.c          whether calls for parts compute what one for all does
 *
 * In comes a launch whose tables sk_plan_check_launch has accepted. What is found ends the launch, as one sentence. */
#ifndef SK_LOADER_CHECKS_H
#define SK_LOADER_CHECKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/skabi.h"
#include "format/skrows.h"
#include "loader/skrt.h"

struct sk_device_core;
struct sk_flight;
struct sk_plan_argument;
struct sk_plan_call;
struct sk_plan_launch;
struct sk_plan_step;
struct skrt_instance;

enum { SK_FINDING_SIZE = 384 };

/* Bytes that are to be written: their argument is only written (`out`), and so all of it is. */
enum sk_owed {
	SK_OWED_NONE,
	SK_OWED_BY_CALL,
	SK_OWED_BY_TASK, /* by all blocks of the task together, of both sides */
};

/* Some bytes of an argument that a call accesses. */
struct sk_window {
	const struct sk_plan_argument *argument;
	struct sk_rows rows; /* from the argument's first byte */
	uint8_t access; /* enum sk_access */
	bool unused; /* they may be read, but nobody uses what they hold */
	enum sk_owed owed;
	char *start, *end; /* where they begin and end in guarded memory; guard-call.c */
	uint32_t memory; /* number of the guarded memory */
};

struct sk_checks;

/* The checks of a device: SKRT_GUARD, SKRT_CHECK_RACES, SKRT_CHECK_SPLIT. NULL: no memory. */
struct sk_checks *sk_checks_open(uint32_t wanted);
void sk_checks_close(struct sk_checks *checks);

/* Whether SKRT_GUARD is among them. */
bool sk_checks_guard(const struct sk_checks *checks);

/* Around a launch, by the driver; *error says what begin did not like. End is false if a good one has ended without its
 * results, and *error says why. */
enum skrt_status sk_checks_begin(struct sk_checks *checks, const struct sk_flight *flight, char *error, size_t size);
bool sk_checks_end(const struct sk_flight *flight, bool good, char *error, size_t size);

/* In place of the dispatcher: its results, and 1 with failed_task set if something was found. */
int sk_checks_run(struct sk_device_core *core);

/* What was found in the launch that has ended; NULL: nothing. */
const char *sk_checks_finding(const struct sk_checks *checks);

/* The tile that the core's last call was made for, in elements of the call's extent; empty: its step is not in tiles.
 */
struct sk_core_range sk_checks_tile(const struct sk_device_core *core);

/* ---- guard.c ---- */

struct sk_guard;

/* Memory for all tensors of the instance's module, and for each core's scratch. Where `pattern`, what is not written is
 * filled with a pattern, and reading it is found. NULL: no memory, error says why, and whose there
 * would have been too much of. */
struct sk_guard *sk_guard_open(const struct skrt_instance *instance, bool pattern, char *error, size_t size);
void sk_guard_close(struct sk_guard *guard);

/* Protecting memory fails if the process has too many mappings. Then what follows is false, and errno says why. */

/* Temporaries, scratch and, with a pattern, outputs hold nothing any more: the pattern, or else the byte. */
bool sk_guard_forget(struct sk_guard *guard, int byte);

/* The same for the tensor of a binding. */
bool sk_guard_forget_binding(struct sk_guard *guard, uint32_t binding);

/* Copies the bindings that the launch reads, and those that it has written, between the bound and the guarded memory.
 */
bool sk_guard_copy_in(struct sk_guard *guard, const struct sk_plan_launch *launch, void *const *bindings);
bool sk_guard_copy_out(struct sk_guard *guard, const struct sk_plan_launch *launch, void *const *bindings);

/* Opens all pages of an argument's tensor between calls, or closes them again. */
bool sk_guard_permit(struct sk_guard *guard, const struct sk_plan_argument *argument, bool open);

/* The address of an argument's first byte, for the core in the row of the module's tables. */
char *sk_guard_address(const struct sk_guard *guard, const struct sk_plan_launch *launch,
		       const struct sk_plan_argument *argument, uint64_t row);

/* ---- guard-call.c ---- */

/* Opens the windows of a call and nothing else; `closed` says why the rest is closed if not because it is no argument,
 * else NULL. False: it cannot; the finding says why. The windows stay the caller's and must last until they are closed.
 */
bool sk_guard_enter(struct sk_guard *guard, const struct sk_plan_launch *launch, uint64_t row,
		    struct sk_window *windows, uint32_t count, const char *closed, char *finding);

/* False: a call with these windows would read what nobody has written. */
bool sk_guard_check_written(const struct sk_guard *guard, char *finding);

/* With a pattern: of the open call, bytes that are owed, up to that kind, hold the pattern again, unless the call reads
 * them, too (in place). */
void sk_guard_spoil(const struct sk_guard *guard, enum sk_owed most);

/* The call is at its end, or waits. False: it has written elsewhere; or, of what it owes, up to that kind, not all. */
bool sk_guard_leave(struct sk_guard *guard, enum sk_owed most, char *finding);

/* Ends a call that was left, and closes what calls have left open. */
bool sk_guard_reset(struct sk_guard *guard);

/* "4 bytes behind the end of tensor 'y'"; false: the address is not in guarded memory. */
bool sk_guard_describe(const struct sk_guard *guard, const void *address, char *text, size_t size);

/* ---- clocks.c ---- */

struct sk_clocks;

struct sk_clocks *sk_clocks_open(void);
void sk_clocks_close(struct sk_clocks *clocks);

/* A launch begins: everything before it has ended. */
enum skrt_status sk_clocks_begin(struct sk_clocks *clocks, const struct sk_flight *flight, char *error, size_t size);

/* The core in the row of the kernel's tables has awaited the step; has finished one. */
void sk_clocks_await(struct sk_clocks *clocks, uint64_t row, const struct sk_plan_step *awaited);
void sk_clocks_finish(struct sk_clocks *clocks, uint64_t row, const struct sk_plan_step *step);

/* The core is about to access the windows of a step's call. False: an access of another core that no await orders. */
bool sk_clocks_access(struct sk_clocks *clocks, uint64_t row, const struct sk_plan_step *step,
		      const struct sk_plan_call *call, const struct sk_window *windows, uint32_t count, char *finding);

#endif
