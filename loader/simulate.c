/* See simulate.h. Each core is a small machine of phases; `advance` takes it from one point where time passes to the
 * next. Its visits to steps are kept, each with the visit that let it go on: the critical path is what one finds by
 * going back from the visit that ended last. */
#include "config.h"

#include "loader/simulate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/event-heap.h"

enum {
	MAX_VISITS = 1 << 23, /* of 72 bytes each */
	MAX_FETCHES = 1 << 24, /* cores times kernels */
};

enum phase {
	PHASE_NEXT, /* look for the next step */
	PHASE_AWAITS,
	PHASE_CALLED, /* the call's own time is over: fetch */
	PHASE_RUN, /* the code is there */
	PHASE_MOVED, /* the bytes are there */
	PHASE_NO_CALL, /* the core has no share of the step */
	PHASE_END,
};

struct core {
	uint32_t lane, index;
	enum phase phase;
	uint32_t step, step_end; /* of the program: the next one; the end of its launch's */
	uint32_t launch;
	uint32_t visit; /* the present one, or the last one in this launch, or SK_NO_INDEX */
	uint32_t await; /* the next one of the step */
	uint32_t next_waiter; /* core that waits for the same step */
	double share;
	double compute_end;
	double fetched; /* bytes of code so far */
	double came, came_before; /* when it came to the step, and to its step before in the launch */
};

/* One core at one step. `cause` is the visit whose end (at `since`) let it go on at `resumed`; in between lies what
 * `between` says. */
struct visit {
	uint32_t step, core;
	uint32_t cause; /* SK_NO_INDEX: the beginning of time */
	enum sk_part between;
	double since, resumed, called, fetched, end;
};

struct step_state {
	uint32_t remaining; /* cores that have not finished it */
	uint32_t first_waiter;
	uint32_t last_visit, second_last_visit; /* of those that have ended */
};

struct launch_state {
	uint32_t remaining; /* steps */
	uint32_t pending; /* launches that it follows and that have not ended */
	uint32_t first_successor, successor_count; /* in successors */
	uint32_t cause; /* visit, as in struct visit */
	double since;
	uint32_t last_visit;
};

struct simulator {
	const struct sk_program *program;
	const struct sk_profile *profile;
	struct core *cores;
	uint32_t core_count, first_core[SK_MAX_LANES + 1];
	struct visit *visits;
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
	const struct sk_program_launch *launch = &simulator->program->launches[index];
	bool lanes[SK_MAX_LANES] = {false};

	if (!launch->step_count) {
		simulator->launches[index].last_visit = simulator->launches[index].cause;
		end_launch(simulator, index);
		return;
	}
	for (uint32_t i = 0; i < launch->step_count; i++)
		lanes[simulator->program->steps[launch->first_step + i].lane] = true;
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
	double gap = simulator->program->launches[index].step_count ? simulator->profile->launch : 0;

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

static bool takes_part(const struct core *core, const struct sk_program_step *step, uint32_t lane_cores)
{
	uint32_t cores = sk_program_cores(step, lane_cores);

	return step->lane == core->lane && core->index < cores &&
	       (step->kind != SK_STEP_PLAIN || step->stream % cores == core->index);
}

/* Begins a visit to the core's next step. False if there is none. */
static bool next_step(struct simulator *simulator, struct core *core)
{
	const struct launch_state *launch = &simulator->launches[core->launch];
	uint32_t cores = simulator->profile->lanes[core->lane].cores, previous = core->visit;

	while (core->step < core->step_end && !takes_part(core, &simulator->program->steps[core->step], cores))
		core->step++;
	if (core->step == core->step_end)
		return false;
	core->visit = simulator->visit_count++;
	simulator->visits[core->visit] = (struct visit){
		.step = core->step,
		.core = (uint32_t)(core - simulator->cores),
		.cause = previous == SK_NO_INDEX ? launch->cause : previous,
		.between = previous == SK_NO_INDEX ? SK_PART_LAUNCH : SK_PART_CALL,
		.since = previous == SK_NO_INDEX ? launch->since : simulator->now,
		.resumed = simulator->now,
	};
	core->await = 0;
	core->share = sk_program_share(&simulator->program->steps[core->step], core->index,
				       sk_program_cores(&simulator->program->steps[core->step], cores));
	core->came_before = previous == SK_NO_INDEX ? simulator->now : core->came;
	core->came = simulator->now;
	return true;
}

static void sleep_until(struct simulator *simulator, const struct core *core, double time)
{
	sk_event_push(&simulator->events, time, (uint32_t)(core - simulator->cores));
}

/* The awaited step is finished: the core, which is at the await since `now` or longer, goes on when it sees that. What
 * it has done itself it sees at once. It owes going on to the step unless it could have seen it before it came. */
static void resume(struct simulator *simulator, struct core *core, const struct step_state *awaited)
{
	struct visit *visit = &simulator->visits[core->visit];
	double checked = simulator->now + simulator->profile->check, seen;
	uint32_t last = awaited->last_visit;

	core->await++;
	if (simulator->visits[last].core == visit->core)
		last = awaited->second_last_visit;
	seen = last == SK_NO_INDEX ? 0 : simulator->visits[last].end + simulator->profile->await;
	if (last != SK_NO_INDEX && seen >= simulator->now) {
		visit->cause = last;
		visit->between = SK_PART_AWAIT;
		visit->since = simulator->visits[last].end;
		visit->resumed = seen;
	}
	sleep_until(simulator, core, fmax(seen, checked));
}

/* True if all awaits of the step are over; else the core has gone to sleep. */
static bool pass_awaits(struct simulator *simulator, struct core *core)
{
	const struct sk_program_step *step = &simulator->program->steps[core->step];
	struct step_state *awaited;

	if (core->await == step->await_count)
		return true;
	awaited = &simulator->steps[simulator->program->awaits[step->first_await + core->await]];
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
	const struct sk_program_step *step = &simulator->program->steps[core->step];
	double time = simulator->now - (step->early ? core->came_before : core->came);
	double bytes = fmin(step->preload, step->work.code);

	return time * simulator->profile->code_fetch < bytes ? time * simulator->profile->code_fetch : bytes;
}

/* Bytes of code that have to be fetched for the core's step. What has come first is thrown out first. */
static double missing_code(struct simulator *simulator, struct core *core)
{
	const struct sk_program_step *step = &simulator->program->steps[core->step];
	size_t index = (size_t)(core - simulator->cores) * simulator->kernel_count + step->kernel;
	double *mark = &simulator->fetch_marks[index];
	double cache = simulator->profile->lanes[core->lane].code_cache;

	if (*mark >= 0 && core->fetched - *mark <= cache)
		return 0;
	*mark = core->fetched;
	core->fetched += step->work.code;
	return step->work.code - preloaded_code(simulator, core);
}

/* Computes, and moves the core's bytes. True if that takes no time. */
static bool run(struct simulator *simulator, struct core *core)
{
	const struct sk_program_step *step = &simulator->program->steps[core->step];
	double bytes = step->work.bytes * core->share;
	bool limited = isfinite(simulator->profile->memory) || isfinite(simulator->profile->core_memory);

	core->compute_end = simulator->now + step->work.compute * core->share;
	core->phase = PHASE_MOVED;
	if (bytes <= 0 || !limited)
		return true;
	serve(simulator);
	sk_event_push(&simulator->transfers, simulator->served + bytes, (uint32_t)(core - simulator->cores));
	return false;
}

static void end_visit(struct simulator *simulator, struct core *core)
{
	struct visit *visit = &simulator->visits[core->visit];
	struct step_state *step = &simulator->steps[visit->step];
	struct launch_state *launch = &simulator->launches[core->launch];

	visit->end = simulator->now;
	simulator->last_visit = core->visit;
	simulator->busy[core->lane] += visit->end - visit->fetched;
	core->step++;
	core->phase = PHASE_NEXT;
	step->second_last_visit = step->last_visit;
	step->last_visit = core->visit;
	if (--step->remaining)
		return;
	for (uint32_t waiter = step->first_waiter; waiter != SK_NO_INDEX; waiter = simulator->cores[waiter].next_waiter)
		resume(simulator, &simulator->cores[waiter], step);
	launch->last_visit = core->visit;
	if (--launch->remaining == 0)
		end_launch(simulator, core->launch);
}

/* All flushes of the step at once: those behind the call take as long before it. */
static double flushing_time(const struct simulator *simulator, const struct core *core)
{
	return simulator->program->steps[core->step].flushes * simulator->profile->flush;
}

static void advance(struct simulator *simulator, struct core *core)
{
	for (;;) {
		struct visit *visit = core->visit == SK_NO_INDEX ? NULL : &simulator->visits[core->visit];
		double code;

		switch (core->phase) {
		case PHASE_NEXT:
			if (!next_step(simulator, core))
				return;
			core->phase = PHASE_AWAITS;
			break;
		case PHASE_AWAITS:
			if (!pass_awaits(simulator, core))
				return;
			core->phase = core->share > 0 ? PHASE_CALLED : PHASE_NO_CALL;
			if (core->share > 0 || flushing_time(simulator, core) > 0) {
				sleep_until(simulator, core,
					    simulator->now + flushing_time(simulator, core) +
						    (core->share > 0 ? simulator->profile->call : 0));
				return;
			}
			break;
		case PHASE_CALLED:
			visit->called = simulator->now;
			core->phase = PHASE_RUN;
			code = missing_code(simulator, core);
			sleep_until(simulator, core, simulator->now + code / simulator->profile->code_fetch);
			return;
		case PHASE_RUN:
			visit->fetched = simulator->now;
			if (!run(simulator, core))
				return;
			break;
		case PHASE_MOVED:
			core->phase = PHASE_END;
			if (core->compute_end > simulator->now) {
				sleep_until(simulator, core, core->compute_end);
				return;
			}
			break;
		case PHASE_NO_CALL:
			visit->called = visit->fetched = simulator->now;
			core->phase = PHASE_END;
			break;
		case PHASE_END:
			end_visit(simulator, core);
			break;
		}
	}
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

/* ---- the critical path ---- */

static void fill_path_item(const struct visit *visit, struct sk_path_item *item)
{
	*item = (struct sk_path_item){.step = visit->step, .core = visit->core};
	item->parts[visit->between] += visit->resumed - visit->since;
	item->parts[SK_PART_CALL] += visit->called - visit->resumed;
	item->parts[SK_PART_FETCH] += visit->fetched - visit->called;
	item->parts[SK_PART_RUN] += visit->end - visit->fetched;
}

static bool trace_path(const struct simulator *simulator, struct sk_simulation *result)
{
	uint32_t count = 0;

	for (uint32_t v = simulator->last_visit; v != SK_NO_INDEX; v = simulator->visits[v].cause)
		count++;
	result->path = calloc(count + (size_t)1, sizeof(*result->path));
	result->path_count = count;
	if (!result->path)
		return false;
	for (uint32_t v = simulator->last_visit; v != SK_NO_INDEX; v = simulator->visits[v].cause) {
		struct sk_path_item *item = &result->path[--count];

		fill_path_item(&simulator->visits[v], item);
		item->core = simulator->cores[item->core].index;
		for (int part = 0; part < SK_PARTS; part++)
			result->parts[part] += item->parts[part];
	}
	return true;
}

/* ---- before and after ---- */

/* By how many cores a step is visited. */
static uint32_t visitors(const struct simulator *simulator, const struct sk_program_step *step)
{
	return step->kind == SK_STEP_PLAIN ? 1 : sk_program_cores(step, simulator->profile->lanes[step->lane].cores);
}

static bool measure(struct simulator *simulator, char *error, size_t error_size)
{
	const struct sk_program *program = simulator->program;
	uint64_t visits = 0, fetches;

	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++)
		simulator->first_core[lane + 1] = simulator->first_core[lane] + simulator->profile->lanes[lane].cores;
	simulator->core_count = simulator->first_core[SK_MAX_LANES];
	for (uint32_t i = 0; i < program->step_count; i++) {
		visits += visitors(simulator, &program->steps[i]);
		if (program->steps[i].kernel >= simulator->kernel_count)
			simulator->kernel_count = program->steps[i].kernel + 1;
	}
	fetches = (uint64_t)simulator->core_count * simulator->kernel_count;
	simulator->visit_count = (uint32_t)visits;
	if (visits <= MAX_VISITS && fetches <= MAX_FETCHES)
		return true;
	snprintf(error, error_size, "%u steps and %u kernels on %u cores are too many for a prediction",
		 program->step_count, simulator->kernel_count, simulator->core_count);
	return false;
}

static bool allocate(struct simulator *simulator, char *error, size_t error_size)
{
	const struct sk_program *program = simulator->program;
	size_t fetches = (size_t)simulator->core_count * simulator->kernel_count, edges = 0;

	for (uint32_t i = 0; i < program->launch_count; i++)
		edges += program->launches[i].follow_count + (size_t)SK_MAX_LANES;
	simulator->cores = calloc(simulator->core_count + (size_t)1, sizeof(*simulator->cores));
	simulator->visits = calloc(simulator->visit_count + (size_t)1, sizeof(*simulator->visits));
	simulator->steps = calloc(program->step_count + (size_t)1, sizeof(*simulator->steps));
	simulator->launches = calloc(program->launch_count + (size_t)1, sizeof(*simulator->launches));
	simulator->successors = calloc(edges + 1, sizeof(*simulator->successors));
	simulator->fetch_marks = malloc((fetches + 1) * sizeof(*simulator->fetch_marks));
	simulator->events.items =
		calloc((size_t)simulator->core_count + program->launch_count + 1, sizeof(*simulator->events.items));
	simulator->transfers.items = calloc(simulator->core_count + (size_t)1, sizeof(*simulator->transfers.items));
	simulator->visit_count = 0;
	if (simulator->cores && simulator->visits && simulator->steps && simulator->launches && simulator->successors &&
	    simulator->fetch_marks && simulator->events.items && simulator->transfers.items)
		return true;
	snprintf(error, error_size, "no memory for a prediction of %u steps on %u cores", program->step_count,
		 simulator->core_count);
	return false;
}

/* Calls link for each pair of a launch and one that it follows: by its follows, and as the last one before it on a
 * lane. */
static void for_each_edge(struct simulator *simulator,
			  void (*link)(struct simulator *simulator, uint32_t from, uint32_t to))
{
	const struct sk_program *program = simulator->program;
	uint32_t last[SK_MAX_LANES] = {SK_NO_INDEX, SK_NO_INDEX};

	for (uint32_t l = 0; l < program->launch_count; l++) {
		const struct sk_program_launch *launch = &program->launches[l];
		bool lanes[SK_MAX_LANES] = {false};

		for (uint32_t i = 0; i < launch->follow_count; i++)
			link(simulator, program->follows[launch->first_follow + i], l);
		for (uint32_t i = 0; i < launch->step_count; i++)
			lanes[program->steps[launch->first_step + i].lane] = true;
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
	const struct sk_program *program = simulator->program;
	size_t fetches = (size_t)simulator->core_count * simulator->kernel_count;

	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++)
		for (uint32_t i = simulator->first_core[lane]; i < simulator->first_core[lane + 1]; i++)
			simulator->cores[i] = (struct core){
				.lane = lane, .index = i - simulator->first_core[lane], .visit = SK_NO_INDEX};
	for (size_t i = 0; i < fetches; i++)
		simulator->fetch_marks[i] = -1;
	for (uint32_t i = 0; i < program->step_count; i++)
		simulator->steps[i] = (struct step_state){.remaining = visitors(simulator, &program->steps[i]),
							  .first_waiter = SK_NO_INDEX,
							  .last_visit = SK_NO_INDEX,
							  .second_last_visit = SK_NO_INDEX};
	for_each_edge(simulator, count_edge);
	for (uint32_t i = 0, first = 0; i < program->launch_count; i++) {
		struct launch_state *launch = &simulator->launches[i];

		launch->remaining = program->launches[i].step_count;
		launch->cause = launch->last_visit = SK_NO_INDEX;
		launch->first_successor = first;
		first += launch->successor_count;
		launch->successor_count = 0;
	}
	for_each_edge(simulator, add_edge);
	for (uint32_t i = 0; i < program->launch_count; i++)
		if (!simulator->launches[i].pending)
			await_launch(simulator, i);
	simulator->last_visit = SK_NO_INDEX;
}

static bool finish(const struct simulator *simulator, struct sk_simulation *result, char *error, size_t error_size)
{
	if (simulator->ended_launches != simulator->program->launch_count) {
		snprintf(error, error_size, "launches follow each other in a ring");
		return false;
	}
	result->time = simulator->now;
	for (uint32_t lane = 0; lane < simulator->profile->lane_count; lane++)
		if (simulator->now > 0)
			result->busy[lane] =
				simulator->busy[lane] / (simulator->now * simulator->profile->lanes[lane].cores);
	if (trace_path(simulator, result))
		return true;
	snprintf(error, error_size, "no memory for the critical path");
	return false;
}

bool sk_simulate(const struct sk_program *program, const struct sk_profile *profile, struct sk_simulation *result,
		 char *error, size_t error_size)
{
	struct simulator simulator = {.program = program, .profile = profile};
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
