/* See proof-parts.h. */
#include "src/proof/proof-parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "format/skplan.h"
#include "src/proof/proof.h"

/* The number of gates that may be examined, about a second's work. */
#define MAX_LOOKS (UINT64_C(1) << 30)

enum { ALL_CORES, HOME, KINDS_OF_SETS };

struct taken_call {
	uint32_t step; /* step + 1; 0: none */
	uint32_t call;
};

/* The last calls of a stream in a launch: per lane, one on all cores and one on its home. */
struct sk_taken {
	struct taken_call calls[SK_MAX_LANES][KINDS_OF_SETS];
};

struct gate {
	uint32_t step, call;
	uint32_t order; /* the order that needs it */
};

/* A stream in the current launch. */
struct sk_demand_stream {
	uint32_t launch; /* launch + 1: the launch that the other fields belong to */
	struct sk_taken taken;
	SK_ARRAY(struct gate) gates; /* one for each core set */
	uint32_t latest, fixed; /* passed tasks + 1: the last section's task, and the last undivided one */
};

/* ---- building ---- */

struct stream_key {
	uint32_t stream, task;
};

static int compare_keys(const void *a, const void *b)
{
	const struct stream_key *left = a, *right = b;

	if (left->stream != right->stream)
		return left->stream < right->stream ? -1 : 1;
	return (left->task > right->task) - (left->task < right->task);
}

/* Streams have the user's numbers, which may be sparse. */
static void number_streams(struct sk_demands *demands)
{
	const struct sk_plan_view *view = demands->view;
	struct stream_key *keys = SK_NEW_ARRAY(demands->arena, struct stream_key, view->task_count);
	uint32_t count = 0;

	for (uint32_t task = 0; task < view->task_count; task++)
		keys[task] = (struct stream_key){view->tasks[task].stream, task};
	qsort(keys, view->task_count, sizeof(*keys), compare_keys);
	for (uint32_t i = 0; i < view->task_count; i++) {
		bool first = i == 0 || keys[i].stream != keys[i - 1].stream;

		count += first;
		demands->stream_of[keys[i].task] = count - 1;
		demands->previous[keys[i].task] = first ? SK_NO_INDEX : keys[i - 1].task;
	}
	demands->streams = SK_NEW_ARRAY(demands->arena, struct sk_demand_stream, count);
}

static void sort_orders(struct sk_demands *demands, size_t order_count)
{
	size_t next = 0;

	for (uint32_t task = 0; task <= demands->view->task_count; task++) {
		for (; next < order_count && demands->orders[next].later < task; next++)
			demands->records[demands->orders[next].earlier] |= demands->orders[next].event != NULL;
		demands->first_order[task] = (uint32_t)next;
	}
}

/* An event ends one section of its stream and begins another: once before the task and once after it. */
static void count_sections(struct sk_demands *demands, uint32_t *ends)
{
	for (uint32_t task = 0; task < demands->view->task_count; task++) {
		uint32_t *end = &ends[demands->stream_of[task]];
		bool event = demands->records[task];

		for (uint32_t i = demands->first_order[task]; i < demands->first_order[task + 1]; i++)
			event |= demands->orders[i].event != NULL;
		*end += event;
		demands->section[task] = *end;
		*end += event;
	}
}

void sk_demands_build(struct sk_demands *demands, struct sk_arena *arena, const struct sk_plan_view *view,
		      const struct sk_wanted_order *orders, size_t order_count)
{
	uint32_t tasks = view->task_count;

	*demands = (struct sk_demands){
		.arena = arena,
		.view = view,
		.orders = orders,
		.first_order = SK_NEW_ARRAY(arena, uint32_t, tasks + (size_t)1),
		.places = sk_find_calls(arena, view),
		.previous = SK_NEW_ARRAY(arena, uint32_t, tasks),
		.stream_of = SK_NEW_ARRAY(arena, uint32_t, tasks),
		.recorded = SK_NEW_ARRAY(arena, struct sk_taken *, tasks),
		.records = SK_NEW_ARRAY(arena, bool, tasks),
		.section = SK_NEW_ARRAY(arena, uint32_t, tasks),
		.gates_left = MAX_LOOKS,
	};
	number_streams(demands);
	sort_orders(demands, order_count);
	count_sections(demands, SK_NEW_ARRAY(arena, uint32_t, tasks));
}

/* ---- call by call ---- */

static struct sk_demand_stream *stream_of(struct sk_demands *demands, uint32_t launch, uint32_t task)
{
	struct sk_demand_stream *stream = &demands->streams[demands->stream_of[task]];

	if (stream->launch != launch + 1) {
		stream->launch = launch + 1;
		stream->gates.count = 0;
		stream->latest = stream->fixed = 0;
		memset(&stream->taken, 0, sizeof(stream->taken));
	}
	return stream;
}

static bool same_core_set(const struct sk_plan_step *one, const struct sk_plan_step *other)
{
	return one->lane == other->lane && one->core_set == other->core_set;
}

static void add_gate(struct sk_demands *demands, struct sk_demand_stream *stream, struct gate gate)
{
	const struct sk_plan_step *steps = demands->view->steps;

	for (size_t i = 0; i < stream->gates.count; i++) {
		struct gate *known = &stream->gates.items[i];

		demands->exhausted |= !demands->gates_left;
		if (demands->exhausted)
			return;
		demands->gates_left--;
		if (!same_core_set(&steps[known->step], &steps[gate.step]))
			continue;
		if (known->call < gate.call)
			*known = gate;
		return;
	}
	sk_array_push(demands->arena, &stream->gates, gate);
}

/* From this task on, its stream comes after everything that the recording stream has taken. */
static void open_event(struct sk_demands *demands, struct sk_demand_stream *stream, uint32_t order)
{
	const struct sk_taken *taken = demands->recorded[demands->orders[order].earlier];

	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++)
		for (uint32_t kind = 0; kind < KINDS_OF_SETS; kind++)
			if (taken->calls[lane][kind].step)
				add_gate(demands, stream,
					 (struct gate){taken->calls[lane][kind].step - 1, taken->calls[lane][kind].call,
						       order});
}

void sk_demands_collect(struct sk_demands *demands, uint32_t launch, uint32_t call)
{
	uint32_t task = demands->view->calls[call].task;
	struct sk_demand_stream *stream = stream_of(demands, launch, task);

	demands->list.count = 0;
	for (uint32_t i = demands->first_order[task]; i < demands->first_order[task + 1]; i++) {
		const struct sk_wanted_order *order = &demands->orders[i];
		uint32_t earlier = order->earlier;
		struct sk_task_call place = demands->places[earlier];

		sk_array_push(demands->arena, &demands->list,
			      (struct sk_demand){place.launch, place.step, place.call, order, false});
		if (order->event && place.launch == launch && demands->recorded[earlier])
			open_event(demands, stream, i);
	}
	for (size_t i = 0; i < stream->gates.count; i++) {
		const struct gate *gate = &stream->gates.items[i];
		const struct sk_wanted_order *order = &demands->orders[gate->order];

		if (order->later != task || demands->places[order->earlier].call != gate->call)
			sk_array_push(demands->arena, &demands->list,
				      (struct sk_demand){launch, gate->step, gate->call, order, true});
	}
}

static bool is_divided(const struct sk_plan_step *step)
{
	return step->kind == SK_STEP_SPLIT && step->core_set == SK_ALL_CORES;
}

uint32_t sk_demands_overtaker(struct sk_demands *demands, uint32_t launch, uint32_t step, uint32_t call)
{
	uint32_t task = demands->view->calls[call].task;
	const struct sk_demand_stream *stream = stream_of(demands, launch, task);

	if (stream->latest && demands->section[stream->latest - 1] > demands->section[task])
		return stream->latest - 1;
	if (stream->fixed > task + 1 && !is_divided(&demands->view->steps[step]))
		return stream->fixed - 1;
	return SK_NO_INDEX;
}

bool sk_demands_pass(struct sk_demands *demands, uint32_t launch, uint32_t step, uint32_t call)
{
	const struct sk_plan_step *steps = demands->view->steps, *record = &steps[step];
	uint32_t task = demands->view->calls[call].task;
	struct sk_demand_stream *stream = stream_of(demands, launch, task);
	struct taken_call *last =
		&stream->taken.calls[record->lane][record->core_set == SK_ALL_CORES ? ALL_CORES : HOME];
	bool one_home = last->step == 0 || same_core_set(&steps[last->step - 1], record);

	*last = (struct taken_call){step + 1, call};
	if (!stream->latest || demands->section[stream->latest - 1] <= demands->section[task])
		stream->latest = task + 1;
	if (!is_divided(record))
		stream->fixed = task + 1;
	if (demands->records[task]) {
		demands->recorded[task] = SK_NEW(demands->arena, struct sk_taken);
		*demands->recorded[task] = stream->taken;
	}
	return one_home;
}
