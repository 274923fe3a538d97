/* The network of steps; see predict-parts.h. */
#include "config.h"

#include "loader/predict/predict-parts.h"

#include <stdlib.h>

#include "format/plan/plan.h"
#include "format/skplan.h"

enum { STREAMS = 65536 };

struct builder {
	const struct sk_plan_view *plan;
	const struct sk_plan_network *own; /* the part of the plan that becomes the network */
	const struct sk_work *work; /* by call of the plan */
	const uint32_t *lanes; /* by lane of the plan */
	struct sk_network *network;
	uint32_t await_count, follow_count;
	uint32_t *step_places; /* fused: by step of the plan, the network's step of its last call */
	uint32_t *step_launches; /* unfused: the launch of each step of the plan; for a step of several calls that of
				  * the last one */
	uint32_t *last_of_launch; /* unfused: by launch of the plan and lane, the last launch, or SK_NO_INDEX */
	uint32_t *last_of_stream; /* unfused: the last launch, or SK_NO_INDEX */
};

/* ---- parts ---- */

static struct sk_network_step *add_step(struct builder *builder, const struct sk_plan_step *step,
					const struct sk_plan_call *call)
{
	const struct sk_plan_view *plan = builder->plan;
	struct sk_network_step *result = &builder->network->steps[builder->network->step_count++];

	*result = (struct sk_network_step){
		.task = call->task,
		.kernel = call->kernel,
		.lane = builder->lanes[step->lane],
		.kind = step->kind,
		.flags = step->flags,
		.blocks = step->blocks,
		.first_core = step->first_core,
		.work = builder->work[call - plan->calls],
		.first_await = builder->await_count,
	};
	if (step->core_set != SK_ALL_CORES)
		result->stream = plan->homes[step->core_set].stream;
	if (step->partition != SK_NO_INDEX)
		result->partition = plan->partitions[step->partition];
	return result;
}

static void add_await(struct builder *builder, struct sk_network_step *step, uint32_t awaited)
{
	builder->network->awaits[builder->await_count++] = awaited;
	step->await_count++;
}

static uint32_t start_launch(struct builder *builder)
{
	builder->network->launches[builder->network->launch_count] = (struct sk_network_launch){
		.first_step = builder->network->step_count, .first_follow = builder->follow_count};
	return builder->network->launch_count++;
}

static void add_follow(struct builder *builder, uint32_t launch, uint32_t followed)
{
	if (followed == SK_NO_INDEX)
		return;
	builder->network->follows[builder->follow_count++] = followed;
	builder->network->launches[launch].follow_count++;
}

/* ---- fused ---- */

/* A launch that is being added to the network. A place is the number of a call in the launch, and of its step in the
 * network counted from `first`. */
struct placing {
	const struct sk_plan_launch *launch;
	enum sk_way way;
	uint32_t first;
	/* By lane: the last place, the last place before the task of that one, the last step of the plan. */
	uint32_t last[SK_MAX_LANES], front[SK_MAX_LANES];
	const struct sk_plan_step *before[SK_MAX_LANES];
};

/* The position of a call among its step's calls. */
struct position {
	bool first, last;
};

/* Apply the options of its scope to a call's step. */
static void apply_options(struct sk_network_step *step, const struct placing *placing,
			  const struct sk_plan_step *planned, struct position position)
{
	const struct sk_plan_launch *launch = placing->launch;
	const struct sk_plan_step *before = placing->before[planned->lane];
	uint32_t preload = placing->way == SK_WAY_PRELOAD ? SK_PRELOAD_MAX : sk_plan_form(launch)->preload;

	step->cores = sk_plan_form(launch)->lane_cores[planned->lane];
	step->flushes =
		(planned->flags & SK_STEP_FLUSH_BEFORE && position.first ? 1u : 0) +
		((planned->flags & SK_STEP_FLUSH_AFTER && position.last) || placing->way == SK_WAY_FLUSH ? 1u : 0);
	step->preload = (double)sk_plan_preload_bytes(preload, (uint64_t)step->work.code);
	step->preload_before = !position.first || (before && sk_plan_preloads(before, planned));
}

enum { STARTS_EARLY = SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET };

/* Return the ways in which the step's kernel can start early, if its scope allows it. It cannot if the dispatcher has
 * work around the call, or if several calls share the step. A kernel with hidden state that it shares with others can
 * only as in the plan. */
static uint32_t early_flags(const struct sk_plan_view *plan, const struct sk_plan_launch *launch,
			    const struct sk_plan_step *step)
{
	const struct sk_plan_call *call = sk_plan_step_calls(plan, step).first;
	bool barred = sk_plan_form(launch)->flags & SK_LAUNCH_SYNC_ALL || step->call_count > 1;
	uint32_t flags = barred ? 0 : plan->kernels[call->kernel].early;

	for (uint32_t i = 0; i < call->argument_count; i++) {
		uint8_t kind = plan->arguments[call->first_argument + i].kind;

		if (kind == SK_ARGUMENT_LOAD)
			flags &= ~(uint32_t)SK_STEP_EARLY_WAIT;
		if (kind == SK_ARGUMENT_RESULT)
			flags &= ~(uint32_t)SK_STEP_EARLY_SET;
		if (kind == SK_ARGUMENT_STATE)
			flags &= step->flags;
	}
	return flags;
}

/* Decide whether the step's kernel starts early. */
static void apply_way(struct sk_network_step *step, const struct sk_plan_view *plan, const struct placing *placing,
		      const struct sk_plan_step *planned)
{
	enum sk_way way = placing->way;

	if (way == SK_WAY_LATE || way == SK_WAY_EARLY || way == SK_WAY_SYNC_ALL)
		step->flags &= ~(uint32_t)STARTS_EARLY;
	if (way == SK_WAY_EARLY)
		step->flags |= early_flags(plan, placing->launch, planned);
	if (way == SK_WAY_LANE_BARRIER || way == SK_WAY_SYNC_ALL || step->flags & SK_STEP_EARLY_WAIT)
		step->flags &= ~(uint32_t)SK_STEP_OWN_AWAITS;
}

/* Await the step at a place. If it is a vector side, also await the cube side; same_lane: only if that is on the same
 * lane. */
static void await_place(struct builder *builder, struct sk_network_step *step, const struct placing *placing,
			uint32_t place, bool same_lane)
{
	const struct sk_network_step *awaited = &builder->network->steps[placing->first + place];

	add_await(builder, step, placing->first + place);
	if (awaited->flags & SK_STEP_VECTOR_SIDE && (!same_lane || awaited[-1].lane == awaited->lane))
		add_await(builder, step, placing->first + place - 1);
}

/* An await of a plan's step is one of its last call. */
static void add_planned_awaits(struct builder *builder, struct sk_network_step *step,
			       const struct sk_plan_step *planned)
{
	const struct sk_plan_view *plan = builder->plan;

	for (uint32_t i = 0; i < planned->await_count; i++)
		add_await(builder, step, builder->step_places[plan->awaits[planned->first_await + i].step]);
}

static void add_call(struct builder *builder, struct placing *placing, const struct sk_plan_step *planned,
		     const struct sk_plan_call *call)
{
	struct sk_plan_calls calls = sk_plan_step_calls(builder->plan, planned);
	struct position position = {call == calls.first, call == calls.end - 1};
	uint32_t place = builder->network->step_count - placing->first, lane = planned->lane;
	struct sk_network_step *step = add_step(builder, planned, call);
	bool vector_side = planned->flags & SK_STEP_VECTOR_SIDE;
	uint32_t task = vector_side ? place - 1 : place; /* the first step of its task; the sides run at once */
	uint32_t *front = &placing->front[lane];

	if (placing->way != SK_WAY_SYNC_ALL && placing->way != SK_WAY_FLUSH) /* these group nothing */
		step->work.bytes -= step->work.cached;
	apply_options(step, placing, planned, position);
	apply_way(step, builder->plan, placing, planned);
	if (!vector_side || planned[-1].lane != planned->lane)
		*front = placing->last[lane];
	placing->last[lane] = place;
	placing->before[lane] = planned;
	if (position.last)
		builder->step_places[planned - builder->plan->steps] = placing->first + place;
	if (placing->way == SK_WAY_LANE_BARRIER && *front != SK_NO_INDEX)
		await_place(builder, step, placing, *front, true);
	if (placing->way == SK_WAY_SYNC_ALL && task > 0)
		await_place(builder, step, placing, task - 1, false);
	if (placing->way == SK_WAY_SYNC_ALL)
		return; /* the previous step has awaited the one before it, and so on */
	if (position.first)
		add_planned_awaits(builder, step, planned);
}

/* Find the order of the list, if it is wanted and the launch has another one; else NULL. False for lack of memory. The
 * caller frees it. */
static bool find_order(const struct sk_plan_view *plan, const struct sk_plan_launch *launch, bool listed,
		       uint32_t **order)
{
	bool found = listed && sk_plan_form(launch)->flags & SK_LAUNCH_ORDERED;

	*order = found ? sk_listed_order(plan, launch) : NULL;
	return !found || *order;
}

/* The steps of network launches come first in a plan, launch by launch. Launches that run once have run, so they have
 * no steps here. */
static bool add_launch(struct builder *builder, const struct sk_plan_launch *launch, enum sk_way way)
{
	const struct sk_plan_view *plan = builder->plan;
	struct placing placing = {
		.launch = launch,
		.way = way,
		.first = builder->network->step_count,
		.last = {SK_NO_INDEX, SK_NO_INDEX},
	};
	uint32_t number = start_launch(builder), *order;

	if (sk_plan_form(launch)->flags & SK_LAUNCH_ONCE)
		return true;
	if (!find_order(plan, launch, way == SK_WAY_LISTED, &order))
		return false;
	for (uint32_t i = 0; i < sk_plan_form(launch)->follow_count; i++) {
		uint32_t followed = plan->follows[launch->first_follow + i], first = builder->own->first_launch;

		add_follow(builder, number, followed < first ? SK_NO_INDEX : followed - first);
	}
	for (uint32_t i = 0; i < sk_plan_form(launch)->step_count; i++) {
		const struct sk_plan_step *planned = &plan->steps[launch->first_step + (order ? order[i] : i)];
		struct sk_plan_calls calls = sk_plan_step_calls(plan, planned);

		for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
			add_call(builder, &placing, planned, call);
	}
	builder->network->launches[number].step_count = builder->network->step_count - placing.first;
	free(order);
	return true;
}

/* ---- unfused ---- */

/* Add a launch for a task's call, or add the call to the launch of the task's other side. Awaits become launches that
 * it follows. Awaits that a plan elides, because the same core does both, are not needed: such calls are on the same
 * lane, which takes its launches one after the other. */
static void add_single(struct builder *builder, uint32_t gathering, const struct sk_plan_step *step,
		       const struct sk_plan_call *call)
{
	const struct sk_plan_view *plan = builder->plan;
	const struct sk_plan_task *task = &plan->tasks[call->task];
	uint32_t stream = task->stream % STREAMS, number = builder->last_of_stream[stream];

	if (!(step->flags & SK_STEP_VECTOR_SIDE)) {
		uint32_t last = number;

		number = start_launch(builder);
		add_follow(builder, number, gathering);
		add_follow(builder, number, last);
	}
	builder->network->launches[number].step_count++;
	add_step(builder, step, call);
	for (uint32_t i = 0; i < step->await_count && call == sk_plan_step_calls(plan, step).first; i++)
		add_follow(builder, number, builder->step_launches[plan->awaits[step->first_await + i].step]);
	builder->step_launches[step - plan->steps] = builder->last_of_stream[stream] = number;
	builder->last_of_launch[task->launch * SK_MAX_LANES + step->lane] = number;
}

/* Add the launches of one planned launch's tasks. Before them comes one without steps that joins all launches that must
 * have ended: the last ones on each lane of those that the planned launch follows. The order is the list's. False for
 * lack of memory. */
static bool add_singles(struct builder *builder, const struct sk_plan_launch *launch)
{
	uint32_t gathering = start_launch(builder), *order;

	if (!find_order(builder->plan, launch, true, &order))
		return false;

	for (uint32_t i = 0; i < sk_plan_form(launch)->follow_count; i++)
		for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++)
			add_follow(builder, gathering,
				   builder->last_of_launch[builder->plan->follows[launch->first_follow + i] *
								   SK_MAX_LANES +
							   lane]);
	for (uint32_t i = 0; i < sk_plan_form(launch)->step_count; i++) {
		const struct sk_plan_step *step = &builder->plan->steps[launch->first_step + (order ? order[i] : i)];
		struct sk_plan_calls calls = sk_plan_step_calls(builder->plan, step);

		for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
			add_single(builder, gathering, step, call);
	}
	free(order);
	return true;
}

static uint32_t *make_indices(size_t count)
{
	uint32_t *indices = malloc((count + 1) * sizeof(*indices));

	for (size_t i = 0; indices && i < count; i++)
		indices[i] = SK_NO_INDEX;
	return indices;
}

/* ---- the whole network ---- */

bool sk_network_build(const struct sk_plan_view *plan, const struct sk_plan_network *own, const struct sk_work *work,
		      const uint32_t *lanes, enum sk_way way, struct sk_network *network)
{
	struct builder builder = {.plan = plan, .own = own, .work = work, .lanes = lanes, .network = network};
	size_t launches = plan->network_launch_count, calls = plan->call_count, awaits = plan->await_count;
	bool unfused = way == SK_WAY_UNFUSED, good;

	*network = (struct sk_network){
		.launches = calloc(launches + (unfused ? calls : 0) + 1, sizeof(*network->launches)),
		.steps = calloc(calls + 1, sizeof(*network->steps)),
		.awaits = calloc(awaits + 2 * calls + 1, sizeof(*network->awaits)),
		.follows = calloc(SK_MAX_LANES * (size_t)plan->follow_count + 2 * calls + awaits + 1,
				  sizeof(*network->follows)),
	};
	good = network->launches && network->steps && network->awaits && network->follows;
	if (unfused) {
		builder.step_launches = make_indices(plan->step_count);
		builder.last_of_launch = make_indices(launches * SK_MAX_LANES);
		builder.last_of_stream = make_indices(STREAMS);
		good &= builder.step_launches && builder.last_of_launch && builder.last_of_stream;
	} else {
		builder.step_places = make_indices(plan->step_count);
		good &= builder.step_places != NULL;
	}
	for (uint32_t i = own->first_launch; good && i < own->first_launch + own->launch_count; i++)
		if (unfused && !(sk_plan_form(&plan->launches[i])->flags & SK_LAUNCH_ONCE))
			good = add_singles(&builder, &plan->launches[i]);
		else if (!unfused)
			good = add_launch(&builder, &plan->launches[i], way);
	free(builder.step_places);
	free(builder.step_launches);
	free(builder.last_of_launch);
	free(builder.last_of_stream);
	return good;
}

void sk_network_free(struct sk_network *network)
{
	free(network->launches);
	free(network->steps);
	free(network->awaits);
	free(network->follows);
	*network = (struct sk_network){0};
}

uint32_t sk_network_cores(const struct sk_network_step *step, uint32_t cores)
{
	return step->cores && step->cores < cores ? step->cores : cores;
}

double sk_network_share(const struct sk_network_step *step, uint32_t index, uint32_t cores)
{
	if (step->kind == SK_STEP_PLAIN)
		return index == step->stream % cores;
	if (step->kind == SK_STEP_BLOCKS) {
		uint64_t first = sk_plan_part_of(step->first_core, index, cores);

		return first < step->blocks ? (double)((step->blocks - 1 - first) / cores + 1) / step->blocks : 0;
	}

	uint64_t part = sk_plan_part_of(step->partition.first_core, index, cores);
	uint64_t low = sk_plan_part_start(&step->partition, part, cores);
	uint64_t high = sk_plan_part_start(&step->partition, part + 1, cores);

	return (double)(high - low) / (double)step->partition.extent;
}
