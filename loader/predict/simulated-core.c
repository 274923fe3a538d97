/* A core of a simulation: a small machine of phases, which `sk_simulated_core_advance` takes from one point where time
 * passes to the next. Its visits to steps are kept, for the critical path. */
#include "config.h"

#include "loader/predict/predict-parts.h"

#include "format/skplan.h"

/* ---- launches ---- */

/* A launch without steps costs nothing. */
void sk_simulated_launch_await(struct sk_simulator *simulator, uint32_t index)
{
	double gap = simulator->network->launches[index].step_count ? simulator->profile->launch : 0;

	sk_event_push(&simulator->events, simulator->now + gap, simulator->core_count + index);
}

void sk_simulated_launch_end(struct sk_simulator *simulator, uint32_t index)
{
	struct sk_simulated_launch *launch = &simulator->launches[index];

	simulator->ended_launches++;
	for (uint32_t i = 0; i < launch->successor_count; i++) {
		uint32_t number = simulator->successors[launch->first_successor + i];
		struct sk_simulated_launch *successor = &simulator->launches[number];

		successor->cause = launch->last_visit;
		successor->since = simulator->now;
		if (--successor->pending == 0)
			sk_simulated_launch_await(simulator, number);
	}
}

/* ---- cores ---- */

static bool takes_part(const struct sk_simulated_core *core, const struct sk_network_step *step, uint32_t lane_cores)
{
	uint32_t cores = sk_network_cores(step, lane_cores);

	return step->lane == core->lane && core->index < cores &&
	       (step->kind != SK_STEP_PLAIN || step->stream % cores == core->index);
}

static const struct sk_network_step *step_of(const struct sk_simulator *simulator, const struct sk_simulated_core *core)
{
	return &simulator->network->steps[core->step];
}

static struct sk_visit *visit_of(const struct sk_simulator *simulator, const struct sk_simulated_core *core)
{
	return &simulator->visits[core->visit];
}

static void reach(struct sk_simulator *simulator, const struct sk_simulated_core *core, enum sk_point point)
{
	sk_visit_reach(visit_of(simulator, core), point, simulator->now);
}

/* Return the number of blocks that make up a core's share, one after the other. Blocks that run at once count as one,
 * like a call without blocks. */
static uint32_t count_blocks(const struct sk_network_step *step, double share)
{
	double blocks = step->flags & SK_STEP_RESIDENT ? 1 : share * step->blocks;

	return blocks > 1 ? (uint32_t)lround(blocks) : 1;
}

/* Begin a visit to the core's next step. False if there is none. */
static bool next_step(struct sk_simulator *simulator, struct sk_simulated_core *core)
{
	const struct sk_simulated_launch *launch = &simulator->launches[core->launch];
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

static void sleep_until(struct sk_simulator *simulator, const struct sk_simulated_core *core, double time)
{
	sk_event_push(&simulator->events, time, (uint32_t)(core - simulator->cores));
}

static double published_at(const struct sk_simulator *simulator, uint32_t index)
{
	const struct sk_visit *visit = &simulator->visits[index];
	bool early = simulator->network->steps[visit->step].flags & SK_STEP_EARLY_SET;

	return visit->at[early ? SK_POINT_SET : SK_POINT_ENDED];
}

/* Resume a core that has been at an await since `now` or longer, after the awaited step has been published: it goes on
 * when it sees that. It sees its own progress at once. The awaited step is its cause, unless the core could have seen
 * it before it came. */
static void resume(struct sk_simulator *simulator, struct sk_simulated_core *core,
		   const struct sk_simulated_step *awaited)
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

/* Return true if all awaits of the step are over; else the core sleeps. */
static bool pass_awaits(struct sk_simulator *simulator, struct sk_simulated_core *core)
{
	const struct sk_network_step *step = step_of(simulator, core);
	struct sk_simulated_step *awaited;

	if (core->await == step->await_count || (core->share <= 0 && step->flags & SK_STEP_OWN_AWAITS))
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

/* Return the bytes of the step's code that have been fetched before its turn. */
static double preloaded_code(const struct sk_simulator *simulator, const struct sk_simulated_core *core)
{
	const struct sk_network_step *step = step_of(simulator, core);
	double time = simulator->now - (step->preload_before ? core->came_before : core->came);
	double bytes = fmin(step->preload, step->work.code);

	return time * simulator->profile->code_fetch < bytes ? time * simulator->profile->code_fetch : bytes;
}

/* Return the bytes of code that have to be fetched for the core's step. The oldest code is evicted first. */
static double missing_code(struct sk_simulator *simulator, struct sk_simulated_core *core)
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

/* Return true if the core can begin: all blocks that must be there are there. Else it sleeps until the last one
 * comes. */
static bool meet(struct sk_simulator *simulator, struct sk_simulated_core *core)
{
	const struct sk_network_step *step = step_of(simulator, core);
	struct sk_simulated_step *state = &simulator->steps[core->step - (step->flags & SK_STEP_VECTOR_SIDE ? 1 : 0)];

	if (!state->to_meet)
		return true;
	if (--state->to_meet) {
		core->next_waiter = state->first_met;
		state->first_met = (uint32_t)(core - simulator->cores);
		return false;
	}
	for (uint32_t met = state->first_met; met != SK_NO_INDEX; met = simulator->cores[met].next_waiter) {
		struct sk_simulated_core *other = &simulator->cores[met];

		sk_visit_let_go(visit_of(simulator, other), core->visit, simulator->now, simulator->now);
		sleep_until(simulator, other, simulator->now);
	}
	return true;
}

/* ---- kernels ---- */

/* Each block of a task has a share of this part of the task's time, at its beginning or end. Return the share of the
 * core's first or last block. */
static double part_of_block(const struct sk_simulated_core *core, double part)
{
	return part * core->share / core->blocks;
}

/* Compute the part between wait and set, and move the core's bytes. Return true if there are none to wait for. */
static bool move(struct sk_simulator *simulator, struct sk_simulated_core *core)
{
	const struct sk_work *work = &step_of(simulator, core)->work;
	double bytes = work->bytes * core->share;
	bool limited = isfinite(simulator->profile->memory) || isfinite(simulator->profile->core_memory);

	core->compute_end =
		simulator->now + work->compute * core->share - part_of_block(core, work->before_wait + work->after_set);
	if (bytes <= 0 || !limited)
		return true;
	sk_simulator_serve(simulator);
	sk_event_push(&simulator->transfers, simulator->served + bytes, (uint32_t)(core - simulator->cores));
	return false;
}

/* Publish the step on this core. After the last core, resume the cores that await it. */
static void publish(struct sk_simulator *simulator, const struct sk_simulated_core *core)
{
	struct sk_simulated_step *step = &simulator->steps[core->step];

	step->second_last_visit = step->last_visit;
	step->last_visit = core->visit;
	if (--step->remaining)
		return;
	for (uint32_t waiter = step->first_waiter; waiter != SK_NO_INDEX; waiter = simulator->cores[waiter].next_waiter)
		resume(simulator, &simulator->cores[waiter], step);
}

static void end_visit(struct sk_simulator *simulator, struct sk_simulated_core *core)
{
	struct sk_simulated_launch *launch = &simulator->launches[core->launch];

	simulator->last_visit = core->visit;
	core->step++;
	core->phase = SK_PHASE_NEXT;
	launch->last_visit = core->visit;
	if (--launch->remaining == 0)
		sk_simulated_launch_end(simulator, core->launch);
}

/* Return the time for all flushes of the step: those after the call are counted before it. */
static double flushing_time(const struct sk_simulator *simulator, const struct sk_simulated_core *core)
{
	return step_of(simulator, core)->flushes * simulator->profile->flush;
}

/* Return whether the core calls a kernel that waits or sets by itself, by the flag SK_STEP_EARLY_…. */
static bool starts_early(const struct sk_simulator *simulator, const struct sk_simulated_core *core, uint32_t flag)
{
	return core->share > 0 && step_of(simulator, core)->flags & flag;
}

/* Continue with the phase after this time. Return true if the time is 0. */
static bool take_time(struct sk_simulator *simulator, struct sk_simulated_core *core, double time,
		      enum sk_simulated_phase phase)
{
	core->phase = phase;
	if (time <= 0)
		return true;
	sleep_until(simulator, core, simulator->now + time);
	return false;
}

/* Do the same, while the kernel runs. */
static bool work(struct sk_simulator *simulator, struct sk_simulated_core *core, double time,
		 enum sk_simulated_phase phase)
{
	simulator->busy[core->lane] += time;
	return take_time(simulator, core, time, phase);
}

/* Do the work of a core after its awaits, or at once if the kernel awaits by itself. */
static bool call(struct sk_simulator *simulator, struct sk_simulated_core *core)
{
	if (core->share > 0)
		return take_time(simulator, core, flushing_time(simulator, core) + simulator->profile->call,
				 SK_PHASE_FETCH);
	return take_time(simulator, core, flushing_time(simulator, core), SK_PHASE_END);
}

/* After the call of a kernel that awaits by itself, the dispatcher checks all awaits once more, as each further block
 * has. */
static double checking_time(const struct sk_simulator *simulator, const struct sk_simulated_core *core)
{
	return starts_early(simulator, core, SK_STEP_EARLY_WAIT)
		       ? (double)core->blocks * step_of(simulator, core)->await_count * simulator->profile->check
		       : 0;
}

/* Run the core's phase. Return true if it can go on with the next one at once; else it sleeps, or has ended its part of
 * the launch. */
static bool do_phase(struct sk_simulator *simulator, struct sk_simulated_core *core)
{
	const struct sk_network_step *step = step_of(simulator, core);
	double code;

	switch (core->phase) {
	case SK_PHASE_NEXT:
		core->phase = SK_PHASE_AWAITS;
		return next_step(simulator, core);
	case SK_PHASE_AWAITS:
		if (!starts_early(simulator, core, SK_STEP_EARLY_WAIT) && !pass_awaits(simulator, core))
			return false;
		return call(simulator, core);
	case SK_PHASE_FETCH:
		reach(simulator, core, SK_POINT_CALLED);
		code = missing_code(simulator, core);
		return take_time(simulator, core, code / simulator->profile->code_fetch, SK_PHASE_PREPARE);
	case SK_PHASE_PREPARE:
		reach(simulator, core, SK_POINT_FETCHED);
		return work(simulator, core, part_of_block(core, step->work.before_wait), SK_PHASE_WAIT);
	case SK_PHASE_WAIT:
		reach(simulator, core, SK_POINT_PREPARED);
		if (starts_early(simulator, core, SK_STEP_EARLY_WAIT) && !pass_awaits(simulator, core))
			return false;
		core->phase = SK_PHASE_BEGIN;
		return meet(simulator, core);
	case SK_PHASE_BEGIN:
		reach(simulator, core, SK_POINT_BEGUN);
		return take_time(simulator, core, step->work.waits * simulator->profile->await, SK_PHASE_MOVE);
	case SK_PHASE_MOVE:
		reach(simulator, core, SK_POINT_WAITED);
		core->phase = SK_PHASE_COMPUTE;
		return move(simulator, core);
	case SK_PHASE_COMPUTE:
		return take_time(simulator, core, core->compute_end - simulator->now, SK_PHASE_SET);
	case SK_PHASE_SET:
		reach(simulator, core, SK_POINT_SET);
		simulator->busy[core->lane] += simulator->now - visit_of(simulator, core)->at[SK_POINT_WAITED];
		if (starts_early(simulator, core, SK_STEP_EARLY_SET))
			publish(simulator, core);
		return work(simulator, core, part_of_block(core, step->work.after_set), SK_PHASE_RETURN);
	case SK_PHASE_RETURN:
		reach(simulator, core, SK_POINT_RETURNED);
		return take_time(simulator, core, checking_time(simulator, core), SK_PHASE_END);
	case SK_PHASE_END:
		reach(simulator, core, SK_POINT_ENDED);
		if (!starts_early(simulator, core, SK_STEP_EARLY_SET))
			publish(simulator, core);
		end_visit(simulator, core);
		return true;
	}
	return false;
}

void sk_simulated_core_advance(struct sk_simulator *simulator, struct sk_simulated_core *core)
{
	while (do_phase(simulator, core))
		;
}

void sk_simulated_core_begin(struct sk_simulator *simulator, struct sk_simulated_core *core, uint32_t launch)
{
	const struct sk_network_launch *record = &simulator->network->launches[launch];

	core->launch = launch;
	core->step = record->first_step;
	core->step_end = record->first_step + record->step_count;
	core->visit = SK_NO_INDEX;
	core->phase = SK_PHASE_NEXT;
	sk_simulated_core_advance(simulator, core);
}
