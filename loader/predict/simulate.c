/* A simulation from a network to its result: its initial state, the clock, and the results at its end. See
 * predict-parts.h for the rules, which simulated-core.c implements. */
#include "config.h"

#include "loader/predict/predict-parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/skplan.h"

enum {
	MAX_VISITS = 1 << 23, /* of 104 bytes each */
	MAX_FETCHES = 1 << 24, /* cores times kernels */
};

/* ---- time ---- */

static double next_transfer_end(const struct sk_simulator *simulator)
{
	if (!simulator->transfers.count)
		return (double)INFINITY;
	return simulator->served_at +
	       fmax(0, simulator->transfers.items[0].key - simulator->served) / sk_simulator_memory_rate(simulator);
}

static void begin_launch(struct sk_simulator *simulator, uint32_t index)
{
	const struct sk_network_launch *launch = &simulator->network->launches[index];
	bool lanes[SK_MAX_LANES] = {false};

	if (!launch->step_count) {
		simulator->launches[index].last_visit = simulator->launches[index].cause;
		sk_simulated_launch_end(simulator, index);
		return;
	}
	for (uint32_t i = 0; i < launch->step_count; i++)
		lanes[simulator->network->steps[launch->first_step + i].lane] = true;
	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++)
		for (uint32_t c = simulator->first_core[lane]; lanes[lane] && c < simulator->first_core[lane + 1]; c++)
			sk_simulated_core_begin(simulator, &simulator->cores[c], index);
}

static void run_events(struct sk_simulator *simulator)
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
			sk_simulator_serve(simulator);
			simulator->served = simulator->transfers.items[0].key;
			id = sk_event_pop(&simulator->transfers).id;
		}
		if (id < simulator->core_count)
			sk_simulated_core_advance(simulator, &simulator->cores[id]);
		else
			begin_launch(simulator, id - simulator->core_count);
	}
}

/* ---- before and after ---- */

/* Return the number of cores on which the blocks of a task are that begin together; step: its first one. 0: they do not
 * wait for one another, or some share a core. In the latter case the order of their waits is not known here. */
static uint32_t meeting_size(const struct sk_simulator *simulator, const struct sk_network_step *step)
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

/* Return the number of cores that visit a step. */
static uint32_t visitors(const struct sk_simulator *simulator, const struct sk_network_step *step)
{
	return step->kind == SK_STEP_PLAIN ? 1 : sk_network_cores(step, simulator->profile->lanes[step->lane].cores);
}

static bool measure_network(struct sk_simulator *simulator, char *error, size_t error_size)
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

static bool allocate(struct sk_simulator *simulator, char *error, size_t error_size)
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

/* Call link for each pair of a launch and one that it follows: by its follows, and as the last one before it on a
 * lane. */
static void for_each_edge(struct sk_simulator *simulator,
			  void (*link)(struct sk_simulator *simulator, uint32_t from, uint32_t to))
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

static void count_edge(struct sk_simulator *simulator, uint32_t from, uint32_t to)
{
	simulator->launches[from].successor_count++;
	simulator->launches[to].pending++;
}

static void add_edge(struct sk_simulator *simulator, uint32_t from, uint32_t to)
{
	struct sk_simulated_launch *launch = &simulator->launches[from];

	simulator->successors[launch->first_successor + launch->successor_count++] = to;
}

static void prepare_cores(struct sk_simulator *simulator)
{
	const struct sk_network *network = simulator->network;
	size_t fetches = (size_t)simulator->core_count * simulator->kernel_count;

	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++)
		for (uint32_t i = simulator->first_core[lane]; i < simulator->first_core[lane + 1]; i++)
			simulator->cores[i] = (struct sk_simulated_core){
				.lane = lane, .index = i - simulator->first_core[lane], .visit = SK_NO_INDEX};
	for (size_t i = 0; i < fetches; i++)
		simulator->fetch_marks[i] = -1;
	for (uint32_t i = 0; i < network->step_count; i++)
		simulator->steps[i] = (struct sk_simulated_step){.remaining = visitors(simulator, &network->steps[i]),
								 .first_waiter = SK_NO_INDEX,
								 .last_visit = SK_NO_INDEX,
								 .second_last_visit = SK_NO_INDEX,
								 .to_meet = meeting_size(simulator, &network->steps[i]),
								 .first_met = SK_NO_INDEX};
	for_each_edge(simulator, count_edge);
	for (uint32_t i = 0, first = 0; i < network->launch_count; i++) {
		struct sk_simulated_launch *launch = &simulator->launches[i];

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
			sk_simulated_launch_await(simulator, i);
	simulator->last_visit = SK_NO_INDEX;
}

static bool finish_simulation(const struct sk_simulator *simulator, struct sk_simulation *result, char *error,
			      size_t error_size)
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
	struct sk_simulator simulator = {.network = network, .profile = profile};
	bool good = measure_network(&simulator, error, error_size) && allocate(&simulator, error, error_size);

	*result = (struct sk_simulation){0};
	if (good) {
		prepare_cores(&simulator);
		run_events(&simulator);
		good = finish_simulation(&simulator, result, error, error_size);
	}
	free(simulator.cores);
	if (good) {
		result->visits = simulator.visits;
		result->visit_count = simulator.visit_count;
	} else {
		free(simulator.visits);
	}
	free(simulator.steps);
	free(simulator.launches);
	free(simulator.successors);
	free(simulator.fetch_marks);
	free(simulator.events.items);
	free(simulator.transfers.items);
	return good;
}

void sk_simulation_free_visits(struct sk_simulation *simulation)
{
	free(simulation->visits);
	simulation->visits = NULL;
}

void sk_simulation_free(struct sk_simulation *simulation)
{
	sk_simulation_free_visits(simulation);
	free(simulation->path);
	*simulation = (struct sk_simulation){0};
}
