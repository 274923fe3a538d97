/* Checked launches, for finding errors of kernels and plans. A device with checks does not run the dispatchers. It goes
 * through the plan's tables step by step, core by core on one thread, so it can check before and after each call.
 *
 *   checks.c         around a launch; a core's part of it, from the plan's tables
 *   checked-call.c   a call of a kernel: its arguments and result, as doc/internals/package-format.md describes them
 *   windows.c        the memory that it may touch
 *   loader/arch/x86_64/invoke.S  the call itself
 *   loader/arch/x86_64/registers.c   whether it preserved control state
 *   checked-order.c  awaits and progress, and the services that kernels use in their calls, where they may wait
 *   guard.c          every tensor in memory of its own between guard pages
 *   guard-call.c     opens only the arguments of the running call
 *   owed.c           the bytes that the kernels have to write
 *   clocks.c         the accesses that the awaits order
 *   split.c          whether calls for parts compute the same as one call for all
 *
 * Input: a launch with tables that sk_plan_check_launch has accepted. A finding ends the launch; it is one sentence. */
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

/* Bytes that must be written: their argument is write-only (`out`), so all of it must be. */
enum sk_owed {
	SK_OWED_NONE,
	SK_OWED_BY_CALL,
	SK_OWED_BY_TASK, /* by all blocks of the task together, on both sides */
};

/* Some bytes of an argument that a call accesses. */
struct sk_window {
	const struct sk_plan_argument *argument;
	struct sk_rows rows; /* from the argument's first byte */
	uint8_t access; /* enum sk_access */
	bool unused; /* they may be read, but their contents are never used */
	enum sk_owed owed;
	char *start, *end; /* in guarded memory; guard-call.c */
	uint32_t memory; /* number of the guarded memory */
};

struct sk_checks;

/* Open the checks of a device: SKRT_GUARD, SKRT_CHECK_RACES, SKRT_CHECK_SPLIT. NULL: no memory. */
struct sk_checks *sk_checks_open(uint32_t wanted);
void sk_checks_close(struct sk_checks *checks);

/* Return whether SKRT_GUARD is among them. */
bool sk_checks_guard(const struct sk_checks *checks);

/* Begin and end a launch; the driver calls these. On an error of begin, *error has its text. End is false, with *error,
 * if the results of a good launch could not be copied out. */
enum skrt_status sk_checks_begin(struct sk_checks *checks, const struct sk_flight *flight, char *error, size_t size);
bool sk_checks_end(const struct sk_flight *flight, bool good, char *error, size_t size);

/* Run the core in place of the dispatcher: return the same results, and 1 with failed_task set for a finding. */
int sk_checks_run(struct sk_device_core *core);

/* Return the finding of the launch that has ended; NULL: none. */
const char *sk_checks_finding(const struct sk_checks *checks);

/* Return the tile of the core's last call, in elements of the call's extent; empty: its step is not in tiles. */
struct sk_core_range sk_checks_tile(const struct sk_device_core *core);

/* ---- guard.c ---- */

struct sk_guard;

/* Make memory for all tensors of the instance's module, and for each core's scratch. With `pattern`, unwritten bytes
 * are filled with a pattern, and reading them is found. NULL: no memory; error has the reason, and names the part that
 * would have been too large. */
struct sk_guard *sk_guard_open(const struct skrt_instance *instance, bool pattern, char *error, size_t size);
void sk_guard_close(struct sk_guard *guard);

/* Protecting memory fails if the process has too many mappings. Then the functions below return false, with errno. */

/* Reset temporaries, scratch and, with a pattern, outputs to unwritten: to the pattern, or else to the byte. */
bool sk_guard_forget(struct sk_guard *guard, int byte);

/* Do the same for the tensor of a binding. */
bool sk_guard_forget_binding(struct sk_guard *guard, uint32_t binding);

/* Copy the bindings that the launch reads, and those that it has written, between the bound and the guarded memory. */
bool sk_guard_copy_in(struct sk_guard *guard, const struct sk_plan_launch *launch, void *const *bindings);
bool sk_guard_copy_out(struct sk_guard *guard, const struct sk_plan_launch *launch, void *const *bindings);

/* Open all pages of an argument's tensor between calls, or close them again. */
bool sk_guard_permit(struct sk_guard *guard, const struct sk_plan_argument *argument, bool open);

/* Return the address of an argument's first byte, for the core in the row of the module's tables. */
char *sk_guard_address(const struct sk_guard *guard, const struct sk_plan_launch *launch,
		       const struct sk_plan_argument *argument, uint64_t row);

/* ---- guard-call.c ---- */

/* Open the windows of a call and close all else. `closed`: the reason why the rest is closed, NULL if it belongs to no
 * argument. False: it cannot; the finding has the reason. The windows stay the caller's and must last until they are
 * closed. */
bool sk_guard_enter(struct sk_guard *guard, const struct sk_plan_launch *launch, uint64_t row,
		    struct sk_window *windows, uint32_t count, const char *closed, char *finding);

/* Return false if a call with these windows would read unwritten bytes. */
bool sk_guard_check_written(const struct sk_guard *guard, char *finding);

/* With a pattern: fill the bytes that the open call owes, up to that kind, with the pattern, except those that the call
 * also reads (in place). */
void sk_guard_spoil(const struct sk_guard *guard, enum sk_owed most);

/* Check the call at its end, or when it waits. False: it has written elsewhere, or not all the bytes that it owes, up
 * to that kind. */
bool sk_guard_leave(struct sk_guard *guard, enum sk_owed most, char *finding);

/* End a call that was left, and close the pages that calls have left open. */
bool sk_guard_reset(struct sk_guard *guard);

/* Describe an address: "4 bytes after the end of tensor 'y'"; false: it is not in guarded memory. */
bool sk_guard_describe(const struct sk_guard *guard, const void *address, char *text, size_t size);

/* ---- clocks.c ---- */

struct sk_clocks;

struct sk_clocks *sk_clocks_open(void);
void sk_clocks_close(struct sk_clocks *clocks);

/* Begin a launch: everything before it has ended. */
enum skrt_status sk_clocks_begin(struct sk_clocks *clocks, const struct sk_flight *flight, char *error, size_t size);

/* Note that the core in the row of the kernel's tables has awaited the step; has finished one. */
void sk_clocks_await(struct sk_clocks *clocks, uint64_t row, const struct sk_plan_step *awaited);
void sk_clocks_finish(struct sk_clocks *clocks, uint64_t row, const struct sk_plan_step *step);

/* Check and note an access of the core to the windows of a step's call. False: another core accesses them, and no await
 * orders the two. */
bool sk_clocks_access(struct sk_clocks *clocks, uint64_t row, const struct sk_plan_step *step,
		      const struct sk_plan_call *call, const struct sk_window *windows, uint32_t count, char *finding);

#endif
