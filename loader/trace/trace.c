/* Recording; see trace.h. The tables that dispatchers write belong to the trace and are read after all cores have left
 * the launch, so this code never runs beside them. */
#include "config.h"

#include "loader/trace/trace.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "format/plan/plan.h"
#include "format/skabi.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "loader/arch/machine.h"
#include "loader/base/status.h"
#include "loader/flight/flight.h"
#include "loader/skrt.h"

/* ---- memory ---- */

/* Return the items with room for one more after count. Without memory, which the trace records, return the items as
 * they are. */
static void *grow(struct skrt_trace *trace, void *items, size_t count, size_t *capacity, size_t size)
{
	size_t wanted = *capacity ? 2 * *capacity : 64;

	if (count < *capacity)
		return items;
	void *grown = reallocarray(items, wanted, size);
	trace->no_memory |= !grown;
	*capacity = grown ? wanted : *capacity;
	return grown ? grown : items;
}

/* Make room for one more; false: no memory. */
#define MAKE_ROOM(trace, items, count, capacity)                                                                       \
	((items) = grow((trace), (items), (count), &(capacity), sizeof(*(items))), (count) < (capacity))

/* ---- before a launch ---- */

enum skrt_status sk_trace_check(const struct skrt_kernel *kernel)
{
	char title[SK_ERROR_SIZE / 2];
	enum skrt_status status = sk_module_check_steps(kernel);

	if (status || kernel->timed || sk_plan_form(&kernel->module->plan.launches[kernel->launch])->task_count <= 1)
		return status;
	sk_kernel_title(kernel, title, sizeof(title));
	return sk_fail(SKRT_UNSUPPORTED,
		       "%s: %s does not note when its tasks begin and end: link the package with "
		       "sklink --scope-options '*=profiling=1'",
		       kernel->module->path, title);
}

/* Return the bytes from one core's table to the next one's, in a lane. */
static size_t table_stride(const struct skrt_kernel *kernel, uint32_t lane)
{
	size_t size = kernel->time_rows[lane] * sizeof(struct sk_times);

	return (size + SK_LINE - 1) & ~(size_t)(SK_LINE - 1);
}

/* Return the offset of a lane's tables; for the lane after the last one, the size of all tables. */
static size_t table_offset(const struct sk_flight *flight, uint32_t lane)
{
	size_t offset = 0;

	for (uint32_t i = 0; i < lane; i++)
		offset += table_stride(flight->kernel, i) * flight->kernel->cores[i];
	return offset;
}

struct sk_times *sk_trace_times(const struct sk_flight *flight, uint32_t lane, uint32_t index)
{
	if (!flight->trace || !flight->kernel->timed)
		return NULL;
	return (void *)(flight->tables + table_offset(flight, lane) + index * table_stride(flight->kernel, lane));
}

void sk_trace_begin_flight(struct skrt_trace *trace, struct sk_flight *flight)
{
	size_t size = table_offset(flight, flight->kernel->module->plan.lane_count);

	if (size > flight->tables_size) {
		free(flight->tables);
		flight->tables = aligned_alloc(SK_LINE, size);
		flight->tables_size = flight->tables ? size : 0;
	}
	if (size > flight->tables_size) {
		trace->no_memory = true;
		return;
	}
	if (flight->kernel->timed)
		memset(flight->tables, 0, size);
	flight->trace = trace;
	flight->started = sk_counter();
}

/* ---- after a launch ---- */

/* A call that is being added to the trace. */
struct traced_call {
	const struct sk_plan_step *step;
	const struct sk_plan_call *call;
	uint32_t row; /* of the core's table: the call's, or that of its tiled step */
	uint32_t await_count; /* of the step, at its first call */
	struct sk_task_total *total;
};

/* Return the number of tiles of a part with so many elements, at the sizes of the instance. */
static uint64_t count_tiles(const struct skrt_instance *instance, const struct sk_plan_call *call, uint64_t elements)
{
	const struct sk_plan_view *plan = &instance->module->plan;
	const struct sk_plan_loop *loops = sk_plan_loops(plan, call);
	uint64_t count = elements ? 1 : 0, extent;

	if (loops && elements)
		count = (elements - 1) / loops[0].tile + 1;
	if (call->loop_count < SK_MAX_LOOPS)
		return count;
	extent = sk_sized(instance, SK_DIMS_LOOPS, (uint32_t)(&loops[1] - plan->loops),
			  offsetof(struct sk_plan_loop, extent), loops[1].extent);
	return extent ? count * ((extent - 1) / loops[1].tile + 1) : 0;
}

/* Return the number of calls in all tiles of the step, if it has any; the last tile may be smaller. */
static uint64_t count_split_calls(const struct skrt_instance *instance, const struct traced_call *traced,
				  uint64_t elements)
{
	uint64_t tile = traced->step->tile, scale = traced->call->scale;

	if (!tile)
		return count_tiles(instance, traced->call, elements);
	return elements / tile * count_tiles(instance, traced->call, tile * scale) +
	       count_tiles(instance, traced->call, elements % tile * scale);
}

/* Return the number of times that the core calls the kernel. */
static uint64_t count_calls(const struct sk_flight *flight, const struct traced_call *traced, uint32_t core)
{
	const struct skrt_kernel *kernel = flight->kernel;
	const struct sk_plan_view *plan = &kernel->module->plan;
	const struct sk_plan_step *step = traced->step;
	uint32_t cores = kernel->cores[step->lane];
	uint64_t part = sk_plan_part_of(step->first_core, core, cores);
	const struct sk_core_range *range = NULL;

	if (step->partition != SK_NO_INDEX) {
		uint64_t row = sk_core_row(kernel->cores, step->lane, core);
		uint32_t first = plan->launches[kernel->launch].first_partition;

		range = &flight->ranges[row * kernel->partition_count + (step->partition - first)];
	}
	switch ((enum sk_step_kind)step->kind) {
	case SK_STEP_SPLIT:
		return count_split_calls(flight->instance, traced, range->high - range->low);
	case SK_STEP_BLOCKS_RANGE:
		return range->high - range->low;
	case SK_STEP_BLOCKS:
		if (step->flags & SK_STEP_RESIDENT)
			return core >= step->first_core && core - step->first_core < step->blocks;
		return part < step->blocks ? (step->blocks - part - 1) / cores + 1 : 0;
	default:
		return 1;
	}
}

/* Return the fraction part / all of a length, at most the length: a package can claim any times. */
static uint64_t share_of(uint64_t length, double part, double all)
{
	double share = all > 0 ? (double)length * (part / all) : 0;

	return share < (double)length ? (uint64_t)share : length;
}

/* The calls of a tiled step take turns. As slices they follow each other, and each gets the share of the step's time
 * that it had in the tiles of which times were noted. */
static struct sk_times times_in_tiles(const struct sk_plan_view *plan, const struct traced_call *traced,
				      const struct sk_times *rows)
{
	struct sk_plan_calls calls = sk_plan_step_calls(plan, traced->step);
	uint64_t length = rows->ended > rows->began ? rows->ended - rows->began : 0;
	double all = 0, before = 0, behind = 0;

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++) {
		const struct sk_times *sums = &rows[1 + (call - calls.first)];

		if (call == traced->call)
			before = all;
		all += (double)(sums->ended - sums->began);
		if (call == traced->call)
			behind = all;
	}
	return (struct sk_times){
		.arrived = rows->arrived,
		.began = rows->began + share_of(length, before, all),
		.ended = rows->began + share_of(length, behind, all),
	};
}

/* Return the times of the core at the call: those that the dispatcher has noted or, for a launch of one task, from
 * entering to leaving. */
static struct sk_times times_of(const struct sk_flight *flight, const struct traced_call *traced, uint32_t index)
{
	const struct sk_times *table = sk_trace_times(flight, traced->step->lane, index);
	const struct sk_device_core *core = flight->lanes[traced->step->lane].cores[index];

	if (!table)
		return (struct sk_times){.began = core->entered, .ended = core->left};
	if (traced->step->tile)
		return times_in_tiles(&flight->kernel->module->plan, traced, &table[traced->row]);
	return table[traced->row];
}

/* If the kernel waits by itself, only a core that does not call it waits for the step in the dispatcher. */
static void move_wait(const struct sk_plan_step *step, uint64_t calls, struct sk_times *times)
{
	if (calls || !(step->flags & SK_STEP_EARLY_WAIT))
		return;
	times->arrived = times->began;
	times->began = times->ended;
}

static uint64_t clamp(uint64_t value, uint64_t least, uint64_t most)
{
	return value < least ? least : value > most ? most : value;
}

/* Add a slice. A package can claim any times; times outside the launch, or out of order, are moved. Return the added
 * slice, which is valid until the next one; NULL: no memory. */
static const struct sk_slice *add_slice(struct skrt_trace *trace, struct sk_slice slice)
{
	if (!MAKE_ROOM(trace, trace->slices, trace->slice_count, trace->slice_capacity))
		return NULL;
	slice.began = clamp(slice.began, trace->launch_start, trace->launch_end);
	slice.ended = clamp(slice.ended, slice.began, trace->launch_end);
	if (slice.arrived)
		slice.arrived = clamp(slice.arrived, trace->launch_start, slice.began);
	trace->slices[trace->slice_count] = slice;
	return &trace->slices[trace->slice_count++];
}

static bool add_arrow(struct skrt_trace *trace, size_t from, size_t to)
{
	if (!MAKE_ROOM(trace, trace->arrows, trace->arrow_count, trace->arrow_capacity))
		return false;
	trace->arrows[trace->arrow_count++] = (struct sk_arrow){from, to};
	return true;
}

static struct sk_task_total *totals_of(struct skrt_trace *trace, struct skrt_module *module)
{
	for (size_t i = trace->module_count; i-- > 0;)
		if (trace->modules[i].module == module)
			return trace->modules[i].tasks;
	struct sk_task_total *tasks = calloc(module->plan.task_count + (size_t)1, sizeof(*tasks));
	if (!tasks || !MAKE_ROOM(trace, trace->modules, trace->module_count, trace->module_capacity)) {
		trace->no_memory = true;
		free(tasks);
		return NULL;
	}
	trace->modules[trace->module_count++] = (struct sk_traced_module){module, tasks};
	atomic_fetch_add(&module->traces, 1);
	return tasks;
}

static void add_totals(struct skrt_trace *trace, struct sk_task_total *total, const struct sk_slice *slice)
{
	uint64_t run = slice->calls ? slice->ended - slice->began : 0;
	uint64_t wait = slice->arrived ? slice->began - slice->arrived : 0;

	total->calls += slice->calls;
	total->run += run;
	total->wait += wait;
	trace->run_counts += run;
	trace->wait_counts += wait;
}

/* Record a core at a call: its slice, and an arrow for each await, from the last slice of the awaited step. */
static bool record_core(struct skrt_trace *trace, const struct sk_flight *flight, const struct traced_call *traced,
			uint32_t core)
{
	const struct sk_plan_view *plan = &flight->kernel->module->plan;
	const struct sk_plan_step *first = &plan->steps[plan->launches[flight->kernel->launch].first_step];
	const struct sk_plan_step *step = traced->step;
	struct sk_times times = times_of(flight, traced, core);
	uint64_t calls = count_calls(flight, traced, core);
	size_t *latest = &trace->latest[step - first], number = trace->slice_count;

	if (!calls && !traced->await_count)
		return true;
	move_wait(step, calls, &times);

	const struct sk_slice *slice =
		add_slice(trace, (struct sk_slice){.lane = step->lane,
						   .core = flight->lanes[step->lane].cores[core]->number,
						   .task = traced->call->task,
						   .flags = step->flags,
						   .arrived = traced->await_count ? times.arrived : 0,
						   .began = times.began,
						   .ended = times.ended,
						   .calls = calls});
	if (!slice)
		return false;
	add_totals(trace, traced->total, slice);
	if (calls && (*latest == SIZE_MAX || trace->slices[*latest].ended < slice->ended))
		*latest = number;
	for (uint32_t i = 0; i < traced->await_count; i++) {
		size_t from = trace->latest[plan->steps + plan->awaits[step->first_await + i].step - first];

		if (from != SIZE_MAX && !add_arrow(trace, from, number))
			return false;
	}
	return true;
}

/* Record the call on all cores of its step. */
static bool record_call(struct skrt_trace *trace, const struct sk_flight *flight, const struct traced_call *traced)
{
	const struct sk_plan_step *step = traced->step;
	uint32_t cores = flight->kernel->cores[step->lane], core = 0;

	if (step->core_set != SK_ALL_CORES) {
		core = flight->kernel->module->plan.homes[step->core_set].stream % cores;
		cores = core + 1;
	}
	traced->total->runs += !(step->flags & SK_STEP_VECTOR_SIDE);
	for (; core < cores; core++)
		if (!record_core(trace, flight, traced, core))
			return false;
	return true;
}

static bool record_steps(struct skrt_trace *trace, const struct sk_flight *flight, struct sk_task_total *totals)
{
	const struct sk_plan_view *plan = &flight->kernel->module->plan;
	const struct sk_plan_launch *record = &plan->launches[flight->kernel->launch];
	uint32_t rows[SK_MAX_LANES] = {0};

	for (uint32_t i = 0; i < sk_plan_form(record)->step_count; i++) {
		const struct sk_plan_step *step = &plan->steps[record->first_step + i];
		struct sk_plan_calls calls = sk_plan_step_calls(plan, step);

		for (const struct sk_plan_call *call = calls.first; call < calls.end; call++) {
			const struct traced_call traced = {
				.step = step,
				.call = call,
				.row = step->tile ? rows[step->lane] : rows[step->lane]++,
				.await_count = call == calls.first ? step->await_count : 0,
				.total = &totals[call->task],
			};

			if (!record_call(trace, flight, &traced))
				return false;
		}
		rows[step->lane] += step->tile ? 1 + step->call_count : 0;
	}
	return true;
}

/* Record the cores' parts of the launch. */
static bool record_cores(struct skrt_trace *trace, const struct sk_flight *flight, uint64_t *cores)
{
	const struct skrt_kernel *kernel = flight->kernel;

	for (uint32_t lane = 0; lane < kernel->module->plan.lane_count; lane++) {
		if (kernel->lane_steps[lane] == 0)
			continue;
		*cores += kernel->cores[lane];
		for (uint32_t i = 0; i < kernel->cores[lane]; i++) {
			const struct sk_device_core *core = flight->lanes[lane].cores[i];

			if (!add_slice(trace, (struct sk_slice){.lane = lane,
								.core = core->number,
								.task = SK_NO_INDEX,
								.began = core->entered,
								.ended = core->left}))
				return false;
		}
	}
	return true;
}

/* Record the sizes of the launch's instance. */
static bool record_sizes(struct skrt_trace *trace, const struct sk_flight *flight)
{
	const struct sk_chosen *chosen = flight->instance->sizes;

	for (uint32_t i = 0; chosen && i < flight->kernel->module->dims.dimension_count; i++) {
		if (!MAKE_ROOM(trace, trace->sizes, trace->size_count, trace->size_capacity))
			return false;
		trace->sizes[trace->size_count++] = chosen->sizes[i];
	}
	return true;
}

static bool make_latest(struct skrt_trace *trace, size_t steps)
{
	if (steps > trace->latest_capacity) {
		free(trace->latest);
		trace->latest = calloc(steps, sizeof(*trace->latest));
		trace->latest_capacity = trace->latest ? steps : 0;
	}
	for (size_t i = 0; i < steps && trace->latest; i++)
		trace->latest[i] = SIZE_MAX;
	trace->no_memory |= steps > trace->latest_capacity;
	return steps <= trace->latest_capacity;
}

void sk_trace_end_flight(struct skrt_trace *trace, const struct sk_flight *flight)
{
	trace->launch_start = flight->started;
	trace->launch_end = sk_counter();

	struct sk_recorded_launch recorded = {
		.kernel = flight->kernel,
		.place = flight->place,
		.start = trace->launch_start,
		.end = trace->launch_end,
		.first_slice = trace->slice_count,
		.first_arrow = trace->arrow_count,
		.first_size = trace->size_count,
	};
	const struct sk_plan_view *plan = &flight->kernel->module->plan;
	struct sk_task_total *totals = totals_of(trace, flight->kernel->module);
	uint64_t cores = 0;
	bool good = totals && make_latest(trace, sk_plan_form(&plan->launches[flight->kernel->launch])->step_count) &&
		    record_cores(trace, flight, &cores) && record_steps(trace, flight, totals) &&
		    record_sizes(trace, flight);

	trace->all_launches++;
	trace->launch_counts += recorded.end - recorded.start;
	trace->core_counts += (recorded.end - recorded.start) * cores;
	recorded.slice_count = trace->slice_count - recorded.first_slice;
	recorded.arrow_count = trace->arrow_count - recorded.first_arrow;
	if (good && trace->slice_count <= trace->most_slices &&
	    MAKE_ROOM(trace, trace->launches, trace->launch_count, trace->launch_capacity)) {
		trace->launches[trace->launch_count++] = recorded;
		return;
	}
	trace->slice_count = recorded.first_slice;
	trace->arrow_count = recorded.first_arrow;
	trace->size_count = recorded.first_size;
}

/* ---- the public functions ---- */

double sk_trace_nanoseconds(const struct skrt_trace *trace, uint64_t counts)
{
	double rate = trace->end > trace->start
			      ? (double)(trace->end_time - trace->start_time) / (double)(trace->end - trace->start)
			      : 0;

	return (double)counts * rate;
}

struct skrt_trace *sk_trace_open(struct skrt_device *device, uint64_t most_slices)
{
	struct skrt_trace *trace = calloc(1, sizeof(*trace));

	if (!trace)
		return NULL;
	trace->device = device;
	trace->most_slices = most_slices;
	trace->start_time = sk_now();
	trace->start = sk_counter();
	return trace;
}

void sk_trace_finish(struct skrt_trace *trace, const uint32_t cores[SK_MAX_LANES])
{
	trace->device = NULL;
	trace->end_time = sk_now();
	trace->end = sk_counter();
	memcpy(trace->cores, cores, sizeof(trace->cores));
}

enum skrt_status skrt_trace_destroy(struct skrt_trace *trace)
{
	if (!trace)
		return SKRT_OK;
	if (trace->device)
		return sk_fail(SKRT_BUSY, "the trace has not ended");
	for (size_t i = 0; i < trace->module_count; i++) {
		atomic_fetch_sub(&trace->modules[i].module->traces, 1);
		free(trace->modules[i].tasks);
	}
	free(trace->modules);
	free(trace->slices);
	free(trace->arrows);
	free(trace->launches);
	free(trace->sizes);
	free(trace->latest);
	free(trace);
	return SKRT_OK;
}

static double seconds(const struct skrt_trace *trace, uint64_t counts)
{
	return sk_trace_nanoseconds(trace, counts) * 1e-9;
}

enum skrt_status skrt_trace_describe(const struct skrt_trace *trace, struct skrt_trace_info *info)
{
	if (!trace || !info)
		return sk_fail_null(__func__);
	struct skrt_trace_info own = {
		.size = sizeof(own),
		.launch_count = trace->all_launches,
		.kept_launches = trace->launch_count,
		.seconds = seconds(trace, trace->launch_counts),
		.core_seconds = seconds(trace, trace->core_counts),
		.run_seconds = seconds(trace, trace->run_counts),
		.wait_seconds = seconds(trace, trace->wait_counts),
	};
	for (size_t i = 0; i < trace->module_count; i++)
		own.task_count += trace->modules[i].module->plan.task_count;
	return sk_struct_write("skrt_trace_info", &own, sizeof(own), info);
}

enum skrt_status skrt_trace_task(const struct skrt_trace *trace, uint64_t index, struct skrt_task_times *times)
{
	uint64_t number = index;

	if (!trace || !times)
		return sk_fail_null(__func__);
	for (size_t i = 0; i < trace->module_count; i++) {
		const struct sk_plan_view *plan = &trace->modules[i].module->plan;
		const struct sk_task_total *total = &trace->modules[i].tasks[number];

		if (number >= plan->task_count) {
			number -= plan->task_count;
			continue;
		}
		const struct skrt_task_times own = {
			.size = sizeof(own),
			.task = sk_plan_string(&plan->tasks[number].name),
			.kernel = sk_plan_string(&plan->kernels[plan->tasks[number].kernel].name),
			.runs = total->runs,
			.calls = total->calls,
			.run_seconds = seconds(trace, total->run),
			.wait_seconds = seconds(trace, total->wait),
		};
		return sk_struct_write("skrt_task_times", &own, sizeof(own), times);
	}
	return sk_fail(SKRT_INVALID_ARGUMENT, "no task number %" PRIu64 " in the trace", index);
}
