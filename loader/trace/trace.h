/* Traces: the activities of a device's launches and their times. Input: the times that dispatchers write into the
 * tables of their cores (struct sk_times), and the times when cores entered and left a launch. Output: slices, arrows
 * between them, and totals.
 *
 *   trace.c       recording: tables before a launch, slices, arrows and totals after it; queries of the trace
 *   trace-file.c  a trace as a file in the Trace Event format
 *
 * All times are values of the processor's counter; readings of the clock at the trace's beginning and end convert them
 * to nanoseconds. Without a trace a launch only pays for the test whether there is one. */
#ifndef SK_LOADER_TRACE_H
#define SK_LOADER_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "format/skplan.h"
#include "loader/skrt.h"

struct sk_flight;
struct sk_times;
struct skrt_device;
struct skrt_kernel;
struct skrt_module;

/* A core at a call of a step, or in a launch. */
struct sk_slice {
	uint32_t lane, core; /* its number in the lane, not in the launch */
	uint32_t task; /* of the plan; SK_NO_INDEX: the core's part of the launch */
	uint32_t flags; /* of the step: SK_STEP_…; 0: not at a step */
	uint64_t arrived; /* when it began to wait; 0: it had no await, or this is not the step's first call */
	uint64_t began, ended;
	uint64_t calls; /* of the kernel; 0: the core only waited */
};

/* An await of the later slice: from the last slice of the awaited step. */
struct sk_arrow {
	size_t from, to; /* slices */
};

struct sk_recorded_launch {
	const struct skrt_kernel *kernel;
	uint32_t place; /* in flight; a row of its own */
	uint64_t start, end;
	size_t first_slice, slice_count;
	size_t first_arrow, arrow_count;
	size_t first_size; /* of the package's dimensions, if it has any */
};

/* The totals of a task, over all cores and launches. */
struct sk_task_total {
	uint64_t runs, calls;
	uint64_t run, wait; /* counts */
};

struct sk_traced_module {
	struct skrt_module *module;
	struct sk_task_total *tasks;
};

struct skrt_trace {
	struct skrt_device *device; /* NULL: the trace has ended */
	uint32_t cores[SK_MAX_LANES]; /* of the device's lanes, when the trace ended */
	uint64_t most_slices;
	bool no_memory; /* some data could not be recorded */
	uint64_t start, end; /* counter; and the same in nanoseconds: */
	int64_t start_time, end_time;

	struct sk_slice *slices;
	size_t slice_count, slice_capacity;
	struct sk_arrow *arrows;
	size_t arrow_count, arrow_capacity;
	struct sk_recorded_launch *launches;
	size_t launch_count, launch_capacity;
	uint64_t *sizes; /* of the launches' instances */
	size_t size_count, size_capacity;
	struct sk_traced_module *modules;
	size_t module_count, module_capacity;

	/* Sums over all launches, including those without kept slices. */
	uint64_t all_launches;
	uint64_t launch_counts; /* the launches' durations */
	uint64_t core_counts; /* the same, times the cores that each launch had */
	uint64_t run_counts, wait_counts;

	/* For the current launch: */
	uint64_t launch_start, launch_end;
	size_t *latest; /* by step: its slice that ended last, SIZE_MAX: none */
	size_t latest_capacity;
};

/* Begin a trace, of a device that has none; NULL: no memory. */
struct skrt_trace *sk_trace_open(struct skrt_device *device, uint64_t most_slices);

/* End the trace; the device's lanes have so many cores. */
void sk_trace_finish(struct skrt_trace *trace, const uint32_t cores[SK_MAX_LANES]);

/* Check, before a launch of the kernel is queued, that the times of its tasks can be known. Errors: SKRT_BAD_PACKAGE;
 * SKRT_UNSUPPORTED, and how to link the package. */
enum skrt_status sk_trace_check(const struct skrt_kernel *kernel);

/* Call these before the first core enters a launch, and after the last one has left it and none has failed. Under the
 * device's lock. */
void sk_trace_begin_flight(struct skrt_trace *trace, struct sk_flight *flight);
void sk_trace_end_flight(struct skrt_trace *trace, const struct sk_flight *flight);

/* Return the core's table in the launch; NULL: its dispatcher notes no times. */
struct sk_times *sk_trace_times(const struct sk_flight *flight, uint32_t lane, uint32_t index);

/* Convert counts of an ended trace to nanoseconds since it began. */
double sk_trace_nanoseconds(const struct skrt_trace *trace, uint64_t counts);

/* Write an ended trace as JSON; the stream has an error if not all of it could be written. */
void sk_trace_print(const struct skrt_trace *trace, FILE *file);

/* A trace as one of several ranks' in a file: ns from the beginning of the file's time to that of the trace, and to its
 * end, less the trace's length. They differ if the clocks of the ranks do not run alike. */
struct sk_trace_rank {
	uint32_t rank;
	int64_t start_shift, end_shift;
};

/* Write the events of an ended trace for such a file: a list in JSON. Rows have names of the rank. Arrows lead from
 * each exchange to the same one of other ranks, unless the trace does not hold all launches. */
void sk_trace_print_rank(const struct skrt_trace *trace, const struct sk_trace_rank *rank, FILE *file);

#endif
