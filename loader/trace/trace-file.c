/* A trace as JSON in the Trace Event format ("JSON Object Format"; times in microseconds, with three decimals). The
 * launches are process 0, with a row for each that is in flight at a time; each lane is a process and each core of it a
 * thread. On a core's row its part of a launch encloses its waits and tasks. An arrow is a flow from inside the one
 * slice to inside the other. */
#include "config.h"

#include "loader/trace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/plan/ranks.h"
#include "format/skplan.h"
#include "format/skranks.h"
#include "loader/base/status.h"
#include "loader/core/core.h"
#include "loader/flight/flight.h"
#include "loader/ranks/transport.h"
#include "loader/skrt.h"

struct writer {
	const struct skrt_trace *trace;
	struct sk_json json;
	const struct sk_trace_rank *rank; /* NULL: the trace is alone in its file */
	uint32_t first_process; /* number of that of the launches */
	uint64_t arrows; /* so far: their numbers */
};

enum { PROCESSES = 1 + SK_MAX_LANES /* of a rank */ };

/* ---- times ---- */

static uint64_t nanoseconds(const struct writer *writer, uint64_t counter)
{
	const struct skrt_trace *trace = writer->trace;
	double time = sk_trace_nanoseconds(trace, counter - trace->start);
	double length = (double)(trace->end_time - trace->start_time), drift;

	if (!writer->rank)
		return (uint64_t)time;
	drift = (double)(writer->rank->end_shift - writer->rank->start_shift);
	time += (double)writer->rank->start_shift + (length > 0 ? drift * time / length : 0);
	return time > 0 ? (uint64_t)time : 0;
}

static void put_time(struct writer *writer, const char *key, uint64_t time)
{
	fprintf(sk_json_put_value(&writer->json, key), "%" PRIu64 ".%03" PRIu64, time / 1000, time % 1000);
}

/* Begin an event, up to its name. Its other members and sk_json_end follow. */
static void begin_event(struct writer *writer, const char *phase, uint32_t process, uint32_t thread, const char *name)
{
	sk_json_begin_object(&writer->json, NULL, SK_JSON_LINE);
	sk_json_put_string(&writer->json, "ph", phase);
	sk_json_put_number(&writer->json, "pid", writer->first_process + process);
	sk_json_put_number(&writer->json, "tid", thread);
	sk_json_put_string(&writer->json, "name", name);
}

/* ---- rows ---- */

static void put_name(struct writer *writer, const char *kind, uint32_t process, uint32_t thread, const char *name)
{
	begin_event(writer, "M", process, thread, kind);
	sk_json_begin_object(&writer->json, "args", SK_JSON_LINE);
	sk_json_put_string(&writer->json, "name", name);
	sk_json_end(&writer->json);
	sk_json_end(&writer->json);
}

/* Name a process: of a rank, "rank 1: launches". */
static void put_process(struct writer *writer, uint32_t process, const char *name)
{
	char both[160];

	if (writer->rank)
		snprintf(both, sizeof(both), "rank %" PRIu32 ": %s", writer->rank->rank, name);
	put_name(writer, "process_name", process, 0, writer->rank ? both : name);
}

static void put_order(struct writer *writer, const char *kind, uint32_t process, uint32_t thread, uint32_t order)
{
	begin_event(writer, "M", process, thread, kind);
	sk_json_begin_object(&writer->json, "args", SK_JSON_LINE);
	sk_json_put_number(&writer->json, "sort_index", writer->first_process + order);
	sk_json_end(&writer->json);
	sk_json_end(&writer->json);
}

/* Write the rows of the lanes of the first module that has so many. */
static void put_rows(struct writer *writer)
{
	uint32_t lanes = 0, places = 1;
	char name[32];

	put_process(writer, 0, "launches");
	put_order(writer, "process_sort_index", 0, 0, 0);
	for (size_t i = 0; i < writer->trace->launch_count; i++)
		if (writer->trace->launches[i].place >= places)
			places = writer->trace->launches[i].place + 1;
	for (uint32_t i = 0; i < places; i++) {
		put_name(writer, "thread_name", 0, i, "launches");
		put_order(writer, "thread_sort_index", 0, i, i);
	}
	for (size_t i = 0; i < writer->trace->module_count; i++) {
		const struct skrt_module *module = writer->trace->modules[i].module;

		for (; lanes < module->plan.lane_count; lanes++) {
			const char *lane = sk_plan_string(&module->plan.lanes[lanes]);

			put_process(writer, 1 + lanes, lane);
			put_order(writer, "process_sort_index", 1 + lanes, 0, 1 + lanes);
			for (uint32_t core = 0; core < writer->trace->cores[lanes]; core++) {
				snprintf(name, sizeof(name), "core %" PRIu32, core);
				put_name(writer, "thread_name", 1 + lanes, core, name);
				put_order(writer, "thread_sort_index", 1 + lanes, core, core);
			}
		}
	}
}

/* ---- slices ---- */

static void begin_slice(struct writer *writer, uint32_t process, uint32_t thread, const char *name,
			const char *category, uint64_t start, uint64_t end)
{
	uint64_t from = nanoseconds(writer, start), to = nanoseconds(writer, end);

	begin_event(writer, "X", process, thread, name);
	sk_json_put_string(&writer->json, "cat", category);
	put_time(writer, "ts", from);
	put_time(writer, "dur", to - from);
}

static void put_slice(struct writer *writer, const struct skrt_kernel *kernel, const struct sk_slice *slice)
{
	const struct sk_plan_view *plan = &kernel->module->plan;

	if (slice->task == SK_NO_INDEX) {
		begin_slice(writer, 1 + slice->lane, slice->core, kernel->name, "core", slice->began, slice->ended);
		sk_json_end(&writer->json);
		return;
	}
	const struct sk_plan_task *task = &plan->tasks[slice->task];
	const char *name = sk_plan_string(&task->name);

	if (slice->arrived) {
		begin_slice(writer, 1 + slice->lane, slice->core, "wait", "wait", slice->arrived, slice->began);
		sk_json_begin_object(&writer->json, "args", SK_JSON_LINE);
		sk_json_put_string(&writer->json, "before", name);
		sk_json_end(&writer->json);
		sk_json_end(&writer->json);
	}
	if (slice->calls) {
		begin_slice(writer, 1 + slice->lane, slice->core, name, "task", slice->began, slice->ended);
		sk_json_begin_object(&writer->json, "args", SK_JSON_LINE);
		sk_json_put_string(&writer->json, "kernel", sk_plan_string(&plan->kernels[task->kernel].name));
		if (slice->flags & (SK_STEP_CUBE_SIDE | SK_STEP_VECTOR_SIDE))
			sk_json_put_string(&writer->json, "side", slice->flags & SK_STEP_CUBE_SIDE ? "cube" : "vector");
		sk_json_put_number(&writer->json, "calls", slice->calls);
		sk_json_end(&writer->json);
		sk_json_end(&writer->json);
	}
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t greatest(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Write an arrow. It begins and ends a nanosecond inside its slices, if they are that long, so that viewers assign it
 * to them and not to their neighbours. It never goes backwards: a kernel that waits by itself begins before its wait,
 * and an awaited one may go on after its set. A core that only waited has no slice except its wait. */
static void put_arrow(struct writer *writer, const struct sk_arrow *arrow)
{
	const struct sk_slice *from = &writer->trace->slices[arrow->from], *to = &writer->trace->slices[arrow->to];
	uint64_t from_start = nanoseconds(writer, from->began), from_end = nanoseconds(writer, from->ended);
	uint64_t start = nanoseconds(writer, to->calls ? to->began : to->arrived);
	uint64_t end = nanoseconds(writer, to->calls ? to->ended : to->began);
	uint64_t leaves = from_end > from_start ? from_end - 1 : from_end;
	uint64_t arrives = end <= start ? start : to->calls ? start + 1 : end - 1;
	uint64_t number = writer->arrows++;

	if (to->calls && to->flags & SK_STEP_EARLY_WAIT)
		arrives = least(greatest(arrives, leaves), end);
	leaves = greatest(least(leaves, arrives), from_start);
	begin_event(writer, "s", 1 + from->lane, from->core, "await");
	sk_json_put_string(&writer->json, "cat", "await");
	sk_json_put_number(&writer->json, "id", number);
	put_time(writer, "ts", leaves);
	sk_json_end(&writer->json);
	begin_event(writer, "f", 1 + to->lane, to->core, "await");
	sk_json_put_string(&writer->json, "cat", "await");
	sk_json_put_number(&writer->json, "id", number);
	sk_json_put_string(&writer->json, "bp", "e");
	put_time(writer, "ts", arrives);
	sk_json_end(&writer->json);
}

static void put_launch(struct writer *writer, const struct sk_recorded_launch *launch)
{
	static const char *const kinds[SK_LAUNCH_KIND_COUNT] = {"superkernel", "single task", "task entry", "exchange"};
	const struct skrt_kernel *kernel = launch->kernel;
	const struct sk_plan_launch *record = &kernel->module->plan.launches[kernel->launch];
	char sizes[SK_DIMS_TEXT_SIZE];

	begin_slice(writer, 0, launch->place, kernel->name, "launch", launch->start, launch->end);
	sk_json_begin_object(&writer->json, "args", SK_JSON_LINE);
	sk_json_put_string(&writer->json, "kind", kinds[sk_plan_form(record)->kind]);
	sk_json_put_number(&writer->json, "stream", sk_plan_form(record)->stream);
	sk_json_put_string(&writer->json, "package", kernel->module->path);
	if (kernel->module->dims.dims) {
		sk_dims_sizes_text(&kernel->module->dims, sk_plan_string(&sk_plan_form(record)->network),
				   &writer->trace->sizes[launch->first_size], sizes, sizeof(sizes));
		sk_json_put_string(&writer->json, "sizes", sizes);
	}
	sk_json_end(&writer->json);
	sk_json_end(&writer->json);
	for (size_t i = 0; i < launch->slice_count; i++)
		put_slice(writer, kernel, &writer->trace->slices[launch->first_slice + i]);
	for (size_t i = 0; i < launch->arrow_count; i++)
		put_arrow(writer, &writer->trace->arrows[launch->first_arrow + i]);
}

/* ---- exchanges ---- */

/* Write an end of an arrow for the bytes of an exchange from one rank to another: a nanosecond inside the slice. Both
 * ranks give it the same name, of the exchange and the number of its run. */
static void put_message(struct writer *writer, const struct sk_slice *slice, bool sent, const char *id)
{
	uint64_t start = nanoseconds(writer, slice->began), end = nanoseconds(writer, slice->ended);

	begin_event(writer, sent ? "s" : "f", 1 + slice->lane, slice->core, "exchange");
	sk_json_put_string(&writer->json, "cat", "exchange");
	sk_json_put_string(&writer->json, "id", id);
	if (!sent)
		sk_json_put_string(&writer->json, "bp", "e");
	put_time(writer, "ts", sent ? (start < end ? start + 1 : start) : end > start ? end - 1 : end);
	sk_json_end(&writer->json);
}

/* Write the ends of arrows to and from the other members of the exchange's group. */
static void put_messages(struct writer *writer, const struct skrt_module *module,
			 const struct sk_ranks_exchange *exchange, const struct sk_slice *slice, uint64_t run)
{
	const struct sk_ranks_group *group = &module->ranks.groups[exchange->group];
	uint32_t rank = module->transport->rank, place;
	const uint32_t *members = sk_ranks_part(&module->ranks, group, rank, &place);
	bool all = exchange->kind != SK_EXCHANGE_BROADCAST && exchange->kind != SK_EXCHANGE_SEND;
	bool to_one = exchange->kind == SK_EXCHANGE_SEND;

	for (uint32_t i = 0; i < group->size; i++) {
		bool sends = (all || place == exchange->root) && (!to_one || i == exchange->peer);
		bool receives = (all || i == exchange->root) && (!to_one || place == exchange->peer);
		char id[96];

		for (int sent = 1; sent >= 0 && i != place; sent--) {
			if (!(sent ? sends : receives))
				continue;
			snprintf(id, sizeof(id), "%td.%" PRIu64 ".%" PRIu32 ".%" PRIu32,
				 exchange - module->ranks.exchanges, run, sent ? rank : members[i],
				 sent ? members[i] : rank);
			put_message(writer, slice, sent, id);
		}
	}
}

/* All runs are counted, so that the numbers are those of the other ranks. */
static void put_exchanges(struct writer *writer, const struct skrt_module *module)
{
	const struct skrt_trace *trace = writer->trace;
	uint64_t *runs = calloc(module->ranks.exchange_count + (size_t)1, sizeof(*runs));

	for (size_t i = 0; runs && i < trace->launch_count; i++) {
		const struct sk_recorded_launch *launch = &trace->launches[i];

		for (size_t k = 0; k < launch->slice_count && launch->kernel->module == module; k++) {
			const struct sk_slice *slice = &trace->slices[launch->first_slice + k];
			const struct sk_ranks_exchange *exchange = slice->task == SK_NO_INDEX || !slice->calls
									   ? NULL
									   : sk_ranks_find(&module->ranks, slice->task);

			if (exchange)
				put_messages(writer, module, exchange, slice,
					     runs[exchange - module->ranks.exchanges]++);
		}
	}
	free(runs);
}

/* ---- the file ---- */

static void put_events(struct writer *writer)
{
	put_rows(writer);
	for (size_t i = 0; i < writer->trace->launch_count; i++)
		put_launch(writer, &writer->trace->launches[i]);
}

void sk_trace_print_rank(const struct skrt_trace *trace, const struct sk_trace_rank *rank, FILE *file)
{
	struct writer writer = {.trace = trace,
				.json = {.stream = file, .compact = true},
				.rank = rank,
				.first_process = rank->rank * PROCESSES,
				.arrows = (uint64_t)rank->rank << 32};

	sk_json_begin_list(&writer.json, NULL, SK_JSON_LINES);
	put_events(&writer);
	for (size_t i = 0; i < trace->module_count && trace->launch_count == trace->all_launches; i++)
		if (trace->modules[i].module->transport)
			put_exchanges(&writer, trace->modules[i].module);
	sk_json_end(&writer.json);
}

void sk_trace_print(const struct skrt_trace *trace, FILE *file)
{
	struct writer writer = {.trace = trace, .json = {.stream = file, .compact = true}};
	struct sk_json *json = &writer.json;

	sk_json_begin_object(json, NULL, SK_JSON_LINES_BETWEEN);
	sk_json_begin_list(json, "traceEvents", SK_JSON_LINES);
	put_events(&writer);
	sk_json_end(json);
	sk_json_put_string(json, "displayTimeUnit", "ns");
	sk_json_begin_object(json, "otherData", SK_JSON_LINE);
	sk_json_put_number(json, "launches", trace->all_launches);
	sk_json_put_number(json, "launches without slices", trace->all_launches - trace->launch_count);
	sk_json_end(json);
	sk_json_end(json);
	putc('\n', file);
}

/* Return false with errno; then the file of that name is as it was. */
static bool write_file(const struct skrt_trace *trace, const char *path)
{
	char *name = NULL;
	int descriptor = sk_is_special(path) ? sk_special_open(path) : sk_temporary_create(path, 0666, &name);
	FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
	bool ok = false;

	if (file) {
		sk_trace_print(trace, file);
		ok = sk_close_written(file) && (!name || rename(name, path) == 0);
	} else if (descriptor >= 0) {
		close(descriptor);
	}

	int reason = errno;

	if (name && !ok)
		unlink(name);
	free(name);
	errno = reason;
	return ok;
}

enum skrt_status skrt_trace_write(const struct skrt_trace *trace, const char *path)
{
	SK_UNCANCELLED;

	if (!trace || !path)
		return sk_fail_null(__func__);
	if (trace->device)
		return sk_fail(SKRT_NOT_READY, "the trace has not ended");
	if (!write_file(trace, path))
		return sk_fail(SKRT_CANNOT_WRITE, "%s: %s", path, strerror(errno));
	return SKRT_OK;
}
