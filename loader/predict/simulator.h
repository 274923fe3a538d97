/* The state of a simulation, as its two files see it: simulate.c, which makes it of a network and lets time pass, and
 * simulated-core.c, which says what a core does at each point of time. */
#ifndef SK_LOADER_SIMULATOR_H
#define SK_LOADER_SIMULATOR_H

#include <math.h>

#include "format/profile/profile.h"
#include "loader/predict/event-heap.h"
#include "loader/predict/network.h"
#include "loader/predict/visits.h"

/* What a core does next. */
enum sk_simulated_phase {
	SK_PHASE_NEXT, /* looks for the next step */
	SK_PHASE_AWAITS, /* awaits, and calls the kernel */
	SK_PHASE_FETCH, /* fetches the kernel's code */
	SK_PHASE_PREPARE, /* does what lies in front of the kernel's wait */
	SK_PHASE_WAIT, /* awaits in the kernel, and for the blocks that begin with this one */
	SK_PHASE_BEGIN, /* waits for them as often as the kernel does */
	SK_PHASE_MOVE, /* moves bytes, and computes meanwhile */
	SK_PHASE_COMPUTE, /* computes what is left */
	SK_PHASE_SET, /* lets others go on, and does what lies behind the kernel's set */
	SK_PHASE_RETURN, /* looks at the awaits once more */
	SK_PHASE_END, /* leaves the step */
};

struct sk_simulated_core {
	uint32_t lane, index;
	enum sk_simulated_phase phase;
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

struct sk_simulated_step {
	uint32_t remaining; /* cores that have not published it */
	uint32_t first_waiter;
	uint32_t last_visit, second_last_visit; /* of those that have published it */
	/* Of a task's first step: */
	uint32_t to_meet; /* cores that must still come before any block begins; 0: blocks need not meet */
	uint32_t first_met; /* core that has come */
};

struct sk_simulated_launch {
	uint32_t remaining; /* visits */
	uint32_t pending; /* launches that it follows and that have not ended */
	uint32_t first_successor, successor_count; /* in successors */
	uint32_t cause; /* as in struct sk_visit */
	double since;
	uint32_t last_visit;
};

struct sk_simulator {
	const struct sk_network *network;
	const struct sk_profile *profile;
	struct sk_simulated_core *cores;
	uint32_t core_count, first_core[SK_MAX_LANES + 1];
	struct sk_visit *visits;
	uint32_t visit_count;
	struct sk_simulated_step *steps;
	struct sk_simulated_launch *launches;
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

/* Bytes a ns for each core that moves some. */
static inline double sk_simulator_memory_rate(const struct sk_simulator *simulator)
{
	return fmin(simulator->profile->core_memory, simulator->profile->memory / simulator->transfers.count);
}

/* What the cores that move bytes have moved until now. */
static inline void sk_simulator_serve(struct sk_simulator *simulator)
{
	if (simulator->transfers.count)
		simulator->served += (simulator->now - simulator->served_at) * sk_simulator_memory_rate(simulator);
	simulator->served_at = simulator->now;
}

/* ---- simulated-core.c ---- */

/* The core begins its part of a launch. */
void sk_simulated_core_begin(struct sk_simulator *simulator, struct sk_simulated_core *core, uint32_t launch);

/* It goes on to the next point where time passes for it. */
void sk_simulated_core_advance(struct sk_simulator *simulator, struct sk_simulated_core *core);

/* The launch begins when the gap between launches is over. */
void sk_simulated_launch_await(struct sk_simulator *simulator, uint32_t index);

/* All that the launch has to do has been done: those that follow it are let go on. */
void sk_simulated_launch_end(struct sk_simulator *simulator, uint32_t index);

#endif
