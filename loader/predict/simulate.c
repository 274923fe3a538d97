/* See simulate.h. Each core is a small machine of phases; `advance` takes it from one point where time passes to the
 * next. Its visits to steps are kept, for the critical path. */
#include "config.h"

#include "loader/predict/simulate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/predict/event-heap.h"
#include "loader/predict/visits.h"

enum {
	MAX_VISITS = 1 << 23, /* of 104 bytes each */
	MAX_FETCHES = 1 << 24, /* cores times kernels */
};

/* What a core does next. */
enum phase {
	PHASE_NEXT, /* looks for the next step */
	PHASE_AWAITS, /* awaits, and calls the kernel */
	PHASE_FETCH, /* fetches the kernel's code */
	PHASE_PREPARE, /* does what lies in front of the kernel's wait */
	PHASE_WAIT, /* awaits in the kernel, and for the blocks that begin with this one */
	PHASE_BEGIN, /* waits for them as often as the kernel does */
	PHASE_MOVE, /* moves bytes, and computes meanwhile */
	PHASE_COMPUTE, /* computes what is left */
	PHASE_SET, /* lets others go on, and does what lies behind the kernel's set */
	PHASE_RETURN, /* looks at the awaits once more */
	PHASE_END, /* leaves the step */
};

struct core {
	uint32_t lane, index;
	enum phase phase;
	uint32_t step, step_end; /* of the network: the next one; the end of its launch's */
	uint32_t launch;
	uint32_t visit; /* the present one, or the last one in this launch, or SK_NO_INDEX */
	uint32_t await; /* the next one of the step */
	uint32_t next_waiter; /* core that waits for the same step, or the same meeting */
	double share;
	uint32_t blocks; /* in which it has its share, one after the other */
	double compute_end;
	double fetched; /* bytes of code so far */
	double came, came_before; /* when it came to the step, and to its step before in the launch */
};

struct step_state {
	uint32_t remaining; /* cores that have not published it */
	uint32_t first_waiter;
	uint32_t last_visit, second_last_visit; /* of those that have published it */
	/* Of a task's first step: */
	uint32_t to_meet; /* cores that must still come before any block begins; 0: blocks need not meet */
	uint32_t first_met; /* core that has come */
};

struct launch_state {
	uint32_t remaining; /* visits */
	uint32_t pending; /* launches that it follows and that have not ended */
	uint32_t first_successor, successor_count; /* in successors */
	uint32_t cause; /* as in struct sk_visit */
	double since;
	uint32_t last_visit;
};

struct simulator {
	const struct sk_network *network;
	const struct sk_profile *profile;
	struct core *cores;
	uint32_t core_count, first_core[SK_MAX_LANES + 1];
	struct sk_visit *visits;
	uint32_t visit_count;
	struct step_state *steps;
	struct launch_state *launches;
	uint32_t *successors;
	double *fetch_marks; /* by core and kernel: what the core had fetched before this kernel, or -1 */
	uint32_t kernel_count;
	struct sk_event_heap events; /* of cores, and behind them of launches, by time */
	struct sk_event_heap transfers; /* of cores, by what `served` will be at their end */
	double served; /* bytes that a core that has moved bytes all the time would have moved */
	double served_at; /* the time for which this holds */
	double now;
	double busy[SK_MAX_LANES];
	uint32_t ended_launches, last_visit;
};

/* ---- memory ---- */

/* Bytes a ns for each core that moves some. */
static double memory_rate(const struct simulator *simulator)
{
	return fmin(simulator->profile->core_memory, simulator->profile->memory / simulator->transfers.count);
}

static void serve(struct simulator *simulator)
{
	if (simulator->transfers.count)
		simulator->served += (simulator->now - simulator->served_at) * memory_rate(simulator);
	simulator->served_at = simulator->now;
}

static double next_transfer_end(const struct simulator *simulator)
{
	if (!simulator->transfers.count)
		return (double)INFINITY;
	return simulator->served_at +
	       fmax(0, simulator->transfers.items[0].key - simulator->served) / memory_rate(simulator);
}

/* ---- launches ---- */

static void advance(struct simulator *simulator, struct core *core);

static void end_launch(struct simulator *simulator, uint32_t index);

static void begin_launch(struct simulator *simulator, uint32_t index)
{
	const struct sk_network_launch *launch = &simulator->network->launches[index];
	bool lanes[SK_MAX_LANES] = {false};

	if (!launch->step_count) {
		simulator->launches[index].last_visit = simulator->launches[index].cause;
		end_launch(simulator, index);
		return;
	}
	for (uint32_t i = 0; i < launch->step_count; i++)
		lanes[simulator->network->steps[launch->first_step + i].lane] = true;
	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++)
		for (uint32_t c = simulator->first_core[lane]; lanes[lane] && c < simulator->first_core[lane + 1];
		     c++) {
			struct core *core = &simulator->cores[c];

			core->launch = index;
			core->step = launch->first_step;
			core->step_end = launch->first_step + launch->step_count;
			core->visit = SK_NO_INDEX;
			core->phase = PHASE_NEXT;
			advance(simulator, core);
		}
}

/* A launch without steps costs nothing. */
static void await_launch(struct simulator *simulator, uint32_t index)
{
	double gap = simulator->network->launches[index].step_count ? simulator->profile->launch : 0;

	sk_event_push(&simulator->events, simulator->now + gap, simulator->core_count + index);
}

static void end_launch(struct simulator *simulator, uint32_t index)
{
	struct launch_state *launch = &simulator->launches[index];

	simulator->ended_launches++;
	for (uint32_t i = 0; i < launch->successor_count; i++) {
		uint32_t number = simulator->successors[launch->first_successor + i];
		struct launch_state *successor = &simulator->launches[number];

		successor->cause = launch->last_visit;
		successor->since = simulator->now;
		if (--successor->pending == 0)
			await_launch(simulator, number);
	}
}

/* ---- cores ---- */

static bool takes_part(const struct core *core, const struct sk_network_step *step, uint32_t lane_cores)
{
	uint32_t cores = sk_network_cores(step, lane_cores);

	return step->lane == core->lane && core->index < cores &&
	       (step->kind != SK_STEP_PLAIN || step->stream % cores == core->index);
}

static const struct sk_network_step *step_of(const struct simulator *simulator, const struct core *core)
{
	return &simulator->network->steps[core->step];
}

static struct sk_visit *visit_of(const struct simulator *simulator, const struct core *core)
{
	return &simulator->visits[core->visit];
}

static void reach(struct simulator *simulator, const struct core *core, enum sk_point point)
{
	sk_visit_reach(visit_of(simulator, core), point, simulator->now);
}

/* The blocks in which a core has its share, one after the other. What runs at once counts as one, like a call without
 * blocks. */
static uint32_t count_blocks(const struct sk_network_step *step, double share)
{
	double blocks = step->flags & SK_STEP_RESIDENT ? 1 : share * step->blocks;

	return blocks > 1 ? (uint32_t)lround(blocks) : 1;
}

/* Begins a visit to the core's next step. False if there is none. */
static bool next_step(struct simulator *simulator, struct core *core)
{
	const struct launch_state *launch = &simulator->launches[core->launch];
	uint32_t cores = simulator->profile->lanes[core->lane].cores, previous = core->visit;
	bool first = previous == SK_NO_INDEX;

	while (core->step < core->step_end && !takes_part(core, step_of(simulator, core), cores))
		core->step++;
	if (core->step == core->step_end)
		return false;
	core->visit = simulator->visit_count++;
	simulator->visits[core->visit] = (struct sk_visit){
		.step = core->step,
		.core = (uint32_t)(core - simulator->cores),
		.cause = first ? launch->cause : previous,
		.between = first ? SK_PART_LAUNCH : SK_PART_CALL,
		.at[SK_POINT_SINCE] = first ? launch->since : simulator->now,
	};
	reach(simulator, core, SK_POINT_RESUMED);
	core->await = 0;
	core->share = sk_network_share(step_of(simulator, core), core->index,
				       sk_network_cores(step_of(simulator, core), cores));
	core->blocks = count_blocks(step_of(simulator, core), core->share);
	core->came_before = first ? simulator->now : core->came;
	core->came = simulator->now;
	return true;
}

static void sleep_until(struct simulator *simulator, const struct core *core, double time)
{
	sk_event_push(&simulator->events, time, (uint32_t)(core - simulator->cores));
}

static double published_at(const struct simulator *simulator, uint32_t index)
{
	const struct sk_visit *visit = &simulator->visits[index];
	bool early = simulator->network->steps[visit->step].flags & SK_STEP_EARLY_SET;

	return visit->at[early ? SK_POINT_SET : SK_POINT_ENDED];
}

/* The awaited step is published: the core, which is at the await since `now` or longer, goes on when it sees that. What
 * it has done itself it sees at once. It owes going on to the step unless it could have seen it before it came. */
static void resume(struct simulator *simulator, struct core *core, const struct step_state *awaited)
{
	double checked = simulator->now + simulator->profile->check, seen = 0;
	uint32_t last = awaited->last_visit;

	core->await++;
	if (simulator->visits[last].core == visit_of(simulator, core)->core)
		last = awaited->second_last_visit;
	if (last != SK_NO_INDEX)
		seen = published_at(simulator, last) + simulator->profile->await;
	if (last != SK_NO_INDEX && seen >= simulator->now)
		sk_visit_let_go(visit_of(simulator, core), last, published_at(simulator, last), seen);
	sleep_until(simulator, core, fmax(seen, checked));
}

/* True if all awaits of the step are over; else the core has gone to sleep. */
static bool pass_awaits(struct simulator *simulator, struct core *core)
{
	const struct sk_network_step *step = step_of(simulator, core);
	struct step_state *awaited;

	if (core->await == step->await_count)
		return true;
	awaited = &simulator->steps[simulator->network->awaits[step->first_await + core->await]];
	if (awaited->remaining == 0) {
		resume(simulator, core, awaited);
		return false;
	}
	core->next_waiter = awaited->first_waiter;
	awaited->first_waiter = (uint32_t)(core - simulator->cores);
	return false;
}

/* Bytes of the step's code that have been fetched before its turn. */
static double preloaded_code(const struct simulator *simulator, const struct core *core)
{
	const struct sk_network_step *step = step_of(simulator, core);
	double time = simulator->now - (step->preload_before ? core->came_before : core->came);
	double bytes = fmin(step->preload, step->work.code);

	return time * simulator->profile->code_fetch < bytes ? time * simulator->profile->code_fetch : bytes;
}

/* Bytes of code that have to be fetched for the core's step. What has come first is thrown out first. */
static double missing_code(struct simulator *simulator, struct core *core)
{
	const struct sk_network_step *step = step_of(simulator, core);
	size_t index = (size_t)(core - simulator->cores) * simulator->kernel_count + step->kernel;
	double *mark = &simulator->fetch_marks[index];
	double cache = simulator->profile->lanes[core->lane].code_cache;

	if (*mark >= 0 && core->fetched - *mark <= cache)
		return 0;
	*mark = core->fetched;
	core->fetched += step->work.code;
	return step->work.code - preloaded_code(simulator, core);
}

/* ---- blocks that wait for one another ---- */

/* On how many cores the blocks of a task are that begin together; step: its first one. 0: they do not wait for one
 * another, or some share a core, where who comes last depends on more than is known here. */
static uint32_t meeting_size(const struct simulator *simulator, const struct sk_network_step *step)
{
	uint64_t blocks = 0;
	double waits = 0;

	for (int side = 0; side < (step->flags & SK_STEP_CUBE_SIDE ? 2 : 1); side++) {
		const struct sk_network_step *one = &step[side];

		if (!(one->flags & SK_STEP_RESIDENT) ||
		    (uint64_t)one->first_core + one->blocks >
			    sk_network_cores(one, simulator->profile->lanes[one->lane].cores))
			return 0;
		blocks += one->blocks;
		waits += one->work.waits;
	}
	return waits > 0 ? (uint32_t)blocks : 0;
}

/* True if the core can begin: all blocks that must be there are. Else it sleeps until the last one comes. */
static bool meet(struct simulator *simulator, struct core *core)
{
	const struct sk_network_step *step = step_of(simulator, core);
	struct step_state *state = &simulator->steps[core->step - (step->flags & SK_STEP_VECTOR_SIDE ? 1 : 0)];

	if (!state->to_meet)
		return true;
	if (--state->to_meet) {
		core->next_waiter = state->first_met;
		state->first_met = (uint32_t)(core - simulator->cores);
		return false;
	}
	for (uint32_t met = state->first_met; met != SK_NO_INDEX; met = simulator->cores[met].next_waiter) {
		struct core *other = &simulator->cores[met];

		sk_visit_let_go(visit_of(simulator, other), core->visit, simulator->now, simulator->now);
		sleep_until(simulator, other, simulator->now);
	}
	return true;
}

/* ---- kernels ---- */

/* Of a part of the task's time that each block has at its beginning or end: what the core's first or last one has. */
static double part_of_block(const struct core *core, double part)
{
	return part * core->share / core->blocks;
}

/* Computes what lies between wait and set, and moves the core's bytes. True if there are none to wait for. */
static bool move(struct simulator *simulator, struct core *core)
{
	const struct sk_work *work = &step_of(simulator, core)->work;
	double bytes = work->bytes * core->share;
	bool limited = isfinite(simulator->profile->memory) || isfinite(simulator->profile->core_memory);

	core->compute_end =
		simulator->now + work->compute * core->share - part_of_block(core, work->before_wait + work->after_set);
	if (bytes <= 0 || !limited)
		return true;
	serve(simulator);
	sk_event_push(&simulator->transfers, simulator->served + bytes, (uint32_t)(core - simulator->cores));
	return false;
}

/* Whoever awaits the step may go on, as far as this core matters. */
static void publish(struct simulator *simulator, const struct core *core)
{
	struct step_state *step = &simulator->steps[core->step];

	step->second_last_visit = step->last_visit;
	step->last_visit = core->visit;
	if (--step->remaining)
		return;
	for (uint32_t waiter = step->first_waiter; waiter != SK_NO_INDEX; waiter = simulator->cores[waiter].next_waiter)
		resume(simulator, &simulator->cores[waiter], step);
}

static void end_visit(struct simulator *simulator, struct core *core)
{
	struct launch_state *launch = &simulator->launches[core->launch];

	simulator->last_visit = core->visit;
	core->step++;
	core->phase = PHASE_NEXT;
	launch->last_visit = core->visit;
	if (--launch->remaining == 0)
		end_launch(simulator, core->launch);
}

/* All flushes of the step at once: those behind the call take as long before it. */
static double flushing_time(const struct simulator *simulator, const struct core *core)
{
	return step_of(simulator, core)->flushes * simulator->profile->flush;
}

/* Whether the core calls a kernel that does by itself what the flag, SK_STEP_EARLY_…, says. */
static bool starts_early(const struct simulator *simulator, const struct core *core, uint32_t flag)
{
	return core->share > 0 && step_of(simulator, core)->flags & flag;
}

/* Goes on with the phase after this time. True if it is none: at once. */
static bool take(struct simulator *simulator, struct core *core, double time, enum phase phase)
{
	core->phase = phase;
	if (time <= 0)
		return true;
	sleep_until(simulator, core, simulator->now + time);
	return false;
}

/* The same, while the kernel runs. */
static bool work(struct simulator *simulator, struct core *core, double time, enum phase phase)
{
	simulator->busy[core->lane] += time;
	return take(simulator, core, time, phase);
}

/* What the core does behind its awaits, or if the kernel awaits by itself at once. */
static bool call(struct simulator *simulator, struct core *core)
{
	if (core->share > 0)
		return take(simulator, core, flushing_time(simulator, core) + simulator->profile->call, PHASE_FETCH);
	return take(simulator, core, flushing_time(simulator, core), PHASE_END);
}

/* Behind the call of a kernel that awaits by itself the dispatcher awaits all once more, as each further block has. */
static double checking_time(const struct simulator *simulator, const struct core *core)
{
	return starts_early(simulator, core, SK_STEP_EARLY_WAIT)
		       ? (double)core->blocks * step_of(simulator, core)->await_count * simulator->profile->check
		       : 0;
}

/* The core does what its phase says. True if it can go on with the next one at once; else it sleeps, or has nothing
 * more to do in its launch. */
static bool do_phase(struct simulator *simulator, struct core *core)
{
	const struct sk_network_step *step = step_of(simulator, core);
	double code;

	switch (core->phase) {
	case PHASE_NEXT:
		core->phase = PHASE_AWAITS;
		return next_step(simulator, core);
	case PHASE_AWAITS:
		if (!starts_early(simulator, core, SK_STEP_EARLY_WAIT) && !pass_awaits(simulator, core))
			return false;
		return call(simulator, core);
	case PHASE_FETCH:
		reach(simulator, core, SK_POINT_CALLED);
		code = missing_code(simulator, core);
		return take(simulator, core, code / simulator->profile->code_fetch, PHASE_PREPARE);
	case PHASE_PREPARE:
		reach(simulator, core, SK_POINT_FETCHED);
		return work(simulator, core, part_of_block(core, step->work.before_wait), PHASE_WAIT);
	case PHASE_WAIT:
		reach(simulator, core, SK_POINT_PREPARED);
		if (starts_early(simulator, core, SK_STEP_EARLY_WAIT) && !pass_awaits(simulator, core))
			return false;
		core->phase = PHASE_BEGIN;
		return meet(simulator, core);
	case PHASE_BEGIN:
		reach(simulator, core, SK_POINT_BEGUN);
		return take(simulator, core, step->work.waits * simulator->profile->await, PHASE_MOVE);
	case PHASE_MOVE:
		reach(simulator, core, SK_POINT_WAITED);
		core->phase = PHASE_COMPUTE;
		return move(simulator, core);
	case PHASE_COMPUTE:
		return take(simulator, core, core->compute_end - simulator->now, PHASE_SET);
	case PHASE_SET:
		reach(simulator, core, SK_POINT_SET);
		simulator->busy[core->lane] += simulator->now - visit_of(simulator, core)->at[SK_POINT_WAITED];
		if (starts_early(simulator, core, SK_STEP_EARLY_SET))
			publish(simulator, core);
		return work(simulator, core, part_of_block(core, step->work.after_set), PHASE_RETURN);
	case PHASE_RETURN:
		reach(simulator, core, SK_POINT_RETURNED);
		return take(simulator, core, checking_time(simulator, core), PHASE_END);
	case PHASE_END:
		reach(simulator, core, SK_POINT_ENDED);
		if (!starts_early(simulator, core, SK_STEP_EARLY_SET))
			publish(simulator, core);
		end_visit(simulator, core);
		return true;
	}
	return false;
}

static void advance(struct simulator *simulator, struct core *core)
{
	while (do_phase(simulator, core))
		;
}

/* ---- time ---- */

static void run_events(struct simulator *simulator)
{
	while (simulator->events.count || simulator->transfers.count) {
		double event = simulator->events.count ? simulator->events.items[0].key : (double)INFINITY;
		double transfer = next_transfer_end(simulator);
		uint32_t id;

		if (event <= transfer) {
			simulator->now = event;
			id = sk_event_pop(&simulator->events).id;
		} else {
			simulator->now = transfer;
			serve(simulator);
			simulator->served = simulator->transfers.items[0].key;
			id = sk_event_pop(&simulator->transfers).id;
		}
		if (id < simulator->core_count)
			advance(simulator, &simulator->cores[id]);
		else
			begin_launch(simulator, id - simulator->core_count);
	}
}

/* ---- before and after ---- */

/* By how many cores a step is visited. */
static uint32_t visitors(const struct simulator *simulator, const struct sk_network_step *step)
{
	return step->kind == SK_STEP_PLAIN ? 1 : sk_network_cores(step, simulator->profile->lanes[step->lane].cores);
}

static bool measure(struct simulator *simulator, char *error, size_t error_size)
{
	const struct sk_network *network = simulator->network;
	uint64_t visits = 0, fetches;

	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++)
		simulator->first_core[lane + 1] = simulator->first_core[lane] + simulator->profile->lanes[lane].cores;
	simulator->core_count = simulator->first_core[SK_MAX_LANES];
	for (uint32_t i = 0; i < network->step_count; i++) {
		visits += visitors(simulator, &network->steps[i]);
		if (network->steps[i].kernel >= simulator->kernel_count)
			simulator->kernel_count = network->steps[i].kernel + 1;
	}
	fetches = (uint64_t)simulator->core_count * simulator->kernel_count;
	simulator->visit_count = (uint32_t)visits;
	if (visits <= MAX_VISITS && fetches <= MAX_FETCHES)
		return true;
	snprintf(error, error_size, "%u steps and %u kernels on %u cores are too many for a prediction",
		 network->step_count, simulator->kernel_count, simulator->core_count);
	return false;
}

static bool allocate(struct simulator *simulator, char *error, size_t error_size)
{
	const struct sk_network *network = simulator->network;
	size_t fetches = (size_t)simulator->core_count * simulator->kernel_count, edges = 0;

	for (uint32_t i = 0; i < network->launch_count; i++)
		edges += network->launches[i].follow_count + (size_t)SK_MAX_LANES;
	simulator->cores = calloc(simulator->core_count + (size_t)1, sizeof(*simulator->cores));
	simulator->visits = calloc(simulator->visit_count + (size_t)1, sizeof(*simulator->visits));
	simulator->steps = calloc(network->step_count + (size_t)1, sizeof(*simulator->steps));
	simulator->launches = calloc(network->launch_count + (size_t)1, sizeof(*simulator->launches));
	simulator->successors = calloc(edges + 1, sizeof(*simulator->successors));
	simulator->fetch_marks = malloc((fetches + 1) * sizeof(*simulator->fetch_marks));
	simulator->events.items =
		calloc((size_t)simulator->core_count + network->launch_count + 1, sizeof(*simulator->events.items));
	simulator->transfers.items = calloc(simulator->core_count + (size_t)1, sizeof(*simulator->transfers.items));
	simulator->visit_count = 0;
	if (simulator->cores && simulator->visits && simulator->steps && simulator->launches && simulator->successors &&
	    simulator->fetch_marks && simulator->events.items && simulator->transfers.items)
		return true;
	snprintf(error, error_size, "no memory for a prediction of %u steps on %u cores", network->step_count,
		 simulator->core_count);
	return false;
}

/* Calls link for each pair of a launch and one that it follows: by its follows, and as the last one before it on a
 * lane. */
static void for_each_edge(struct simulator *simulator,
			  void (*link)(struct simulator *simulator, uint32_t from, uint32_t to))
{
	const struct sk_network *network = simulator->network;
	uint32_t last[SK_MAX_LANES] = {SK_NO_INDEX, SK_NO_INDEX};

	for (uint32_t l = 0; l < network->launch_count; l++) {
		const struct sk_network_launch *launch = &network->launches[l];
		bool lanes[SK_MAX_LANES] = {false};

		for (uint32_t i = 0; i < launch->follow_count; i++)
			link(simulator, network->follows[launch->first_follow + i], l);
		for (uint32_t i = 0; i < launch->step_count; i++)
			lanes[network->steps[launch->first_step + i].lane] = true;
		for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++) {
			if (!lanes[lane])
				continue;
			if (last[lane] != SK_NO_INDEX)
				link(simulator, last[lane], l);
			last[lane] = l;
		}
	}
}

static void count_edge(struct simulator *simulator, uint32_t from, uint32_t to)
{
	simulator->launches[from].successor_count++;
	simulator->launches[to].pending++;
}

static void add_edge(struct simulator *simulator, uint32_t from, uint32_t to)
{
	struct launch_state *launch = &simulator->launches[from];

	simulator->successors[launch->first_successor + launch->successor_count++] = to;
}

static void prepare(struct simulator *simulator)
{
	const struct sk_network *network = simulator->network;
	size_t fetches = (size_t)simulator->core_count * simulator->kernel_count;

	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++)
		for (uint32_t i = simulator->first_core[lane]; i < simulator->first_core[lane + 1]; i++)
			simulator->cores[i] = (struct core){
				.lane = lane, .index = i - simulator->first_core[lane], .visit = SK_NO_INDEX};
	for (size_t i = 0; i < fetches; i++)
		simulator->fetch_marks[i] = -1;
	for (uint32_t i = 0; i < network->step_count; i++)
		simulator->steps[i] = (struct step_state){.remaining = visitors(simulator, &network->steps[i]),
							  .first_waiter = SK_NO_INDEX,
							  .last_visit = SK_NO_INDEX,
							  .second_last_visit = SK_NO_INDEX,
							  .to_meet = meeting_size(simulator, &network->steps[i]),
							  .first_met = SK_NO_INDEX};
	for_each_edge(simulator, count_edge);
	for (uint32_t i = 0, first = 0; i < network->launch_count; i++) {
		struct launch_state *launch = &simulator->launches[i];

		for (uint32_t j = 0; j < network->launches[i].step_count; j++)
			launch->remaining += simulator->steps[network->launches[i].first_step + j].remaining;
		launch->cause = launch->last_visit = SK_NO_INDEX;
		launch->first_successor = first;
		first += launch->successor_count;
		launch->successor_count = 0;
	}
	for_each_edge(simulator, add_edge);
	for (uint32_t i = 0; i < network->launch_count; i++)
		if (!simulator->launches[i].pending)
			await_launch(simulator, i);
	simulator->last_visit = SK_NO_INDEX;
}

static bool finish(const struct simulator *simulator, struct sk_simulation *result, char *error, size_t error_size)
{
	if (simulator->ended_launches != simulator->network->launch_count) {
		snprintf(error, error_size, "launches follow each other in a ring");
		return false;
	}
	result->time = simulator->now;
	for (uint32_t lane = 0; lane < simulator->profile->lane_count; lane++)
		if (simulator->now > 0)
			result->busy[lane] =
				simulator->busy[lane] / (simulator->now * simulator->profile->lanes[lane].cores);
	if (!sk_visits_trace(simulator->visits, simulator->last_visit, result)) {
		snprintf(error, error_size, "no memory for the critical path");
		return false;
	}
	for (uint32_t i = 0; i < result->path_count; i++)
		result->path[i].core = simulator->cores[result->path[i].core].index;
	return true;
}

bool sk_simulate(const struct sk_network *network, const struct sk_profile *profile, struct sk_simulation *result,
		 char *error, size_t error_size)
{
	struct simulator simulator = {.network = network, .profile = profile};
	bool good = measure(&simulator, error, error_size) && allocate(&simulator, error, error_size);

	*result = (struct sk_simulation){0};
	if (good) {
		prepare(&simulator);
		run_events(&simulator);
		good = finish(&simulator, result, error, error_size);
	}
	free(simulator.cores);
	free(simulator.visits);
	free(simulator.steps);
	free(simulator.launches);
	free(simulator.successors);
	free(simulator.fetch_marks);
	free(simulator.events.items);
	free(simulator.transfers.items);
	return good;
}

void sk_simulation_free(struct sk_simulation *simulation)
{
	free(simulation->path);
	*simulation = (struct sk_simulation){0};
}
