/* Shared by the files of this room: events, the network of steps, the simulator and its visits. */
#ifndef SK_LOADER_PREDICT_PREDICT_PARTS_H
#define SK_LOADER_PREDICT_PREDICT_PARTS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/json.h"
#include "format/plan/plan.h"
#include "format/profile/profile.h"
#include "format/skplan.h"

/* ==== event heap ====
 *
 * A binary heap of events for the simulation: the least key first, and of equal keys the least id. */

struct sk_event_item {
	double key;
	uint32_t id;
};

struct sk_event_heap {
	struct sk_event_item *items; /* the caller's, with room for all that are in it at once */
	uint32_t count;
};

static inline bool sk_event_less(struct sk_event_item a, struct sk_event_item b)
{
	return a.key != b.key ? a.key < b.key : a.id < b.id;
}

static inline void sk_event_push(struct sk_event_heap *heap, double key, uint32_t id)
{
	struct sk_event_item item = {key, id};
	uint32_t at = heap->count++;

	for (; at > 0 && sk_event_less(item, heap->items[(at - 1) / 2]); at = (at - 1) / 2)
		heap->items[at] = heap->items[(at - 1) / 2];
	heap->items[at] = item;
}

static inline struct sk_event_item sk_event_pop(struct sk_event_heap *heap)
{
	struct sk_event_item first = heap->items[0], last = heap->items[--heap->count];
	uint32_t at = 0;

	for (uint32_t child; (child = 2 * at + 1) < heap->count; at = child) {
		if (child + 1 < heap->count && sk_event_less(heap->items[child + 1], heap->items[child]))
			child++;
		if (!sk_event_less(heap->items[child], last))
			break;
		heap->items[at] = heap->items[child];
	}
	heap->items[at] = last;
	return first;
}

/* ==== network.c ====
 *
 * The work of the simulated cores: launches of steps with awaits, taken from a plan, either as it is or as it would be
 * with other options. It has no addresses and no kernels, only the order and the cost of steps. Each call of a plan is
 * a step here: the later calls of a plan's step run on the same cores, in order, and await nothing. */

/* The work of a task, or of a side of a mix task, of all its cores together. */
struct sk_work {
	double compute; /* ns, if one core did all of it and memory were infinitely fast */
	double before_wait, after_set; /* of `compute`: before its blocks' waits, and after their sets */
	double bytes; /* to and from memory, between the two */
	double cached; /* of these the ones that the step's tiles keep in caches */
	double code; /* bytes of the kernel's code */
	double waits; /* number of times that each block waits for others of the task */
};

struct sk_network_step {
	uint32_t task, kernel; /* of the plan */
	uint32_t lane; /* of the profile */
	enum sk_step_kind kind;
	uint32_t flags; /* SK_STEP_…, as in the way */
	uint32_t stream; /* PLAIN: its home is the core of this number modulo the cores */
	uint32_t blocks; /* BLOCKS, BLOCKS_RANGE */
	uint32_t first_core; /* BLOCKS: the core of block 0 */
	struct sk_plan_partition partition; /* SPLIT, BLOCKS_RANGE: the divided range */
	struct sk_work work;
	uint32_t cores; /* of the lane that it may run on; 0: all */
	uint32_t flushes; /* of the data cache, on each core */
	double preload; /* bytes of its code that are fetched before its turn … */
	bool preload_before; /* … from the time when the core came to its previous step, not to this one */
	uint32_t first_await, await_count;
};

/* Launches are in the order in which each lane takes them. One without steps only joins those that it follows. */
struct sk_network_launch {
	uint32_t first_step, step_count;
	uint32_t first_follow, follow_count;
};

struct sk_network {
	struct sk_network_launch *launches;
	struct sk_network_step *steps;
	uint32_t *awaits; /* earlier steps of the same launch */
	uint32_t *follows; /* earlier launches */
	uint32_t launch_count, step_count;
};

/* The ways to run a network that a prediction compares. */
enum sk_way {
	SK_WAY_UNFUSED, /* a launch for each task; those of one stream, or of one lane, one after the other */
	SK_WAY_FUSED, /* as it is linked */
	SK_WAY_LISTED, /* with the steps of each launch in the list's order, and the awaits that it has */
	SK_WAY_LANE_BARRIER, /* each step awaits all cores' last step in its lane: no await is elided */
	SK_WAY_SYNC_ALL, /* each step awaits the previous step, on any lane; no kernel starts early */
	SK_WAY_LATE, /* no kernel starts early */
	SK_WAY_EARLY, /* all kernels start early that can and are allowed to */
	SK_WAY_PRELOAD, /* preload-code=max */
	SK_WAY_FLUSH, /* debug-dcci-all=1 */
	SK_WAYS,
};

/* Build the network of a plan that sk_plan_check_all has accepted, in one of the ways. work: by call of the plan;
 * lanes: by lane of the plan, the profile's. False for lack of memory. Free it in either case. */
bool sk_network_build(const struct sk_plan_view *plan, const struct sk_plan_network *own, const struct sk_work *work,
		      const uint32_t *lanes, enum sk_way way, struct sk_network *network);
void sk_network_free(struct sk_network *network);

/* Return the number of the lane's cores that may have a part in the step. */
uint32_t sk_network_cores(const struct sk_network_step *step, uint32_t cores);

/* Return the part of a step's work for core `index` of `cores` (the result of sk_network_cores); 0: none. */
double sk_network_share(const struct sk_network_step *step, uint32_t index, uint32_t cores);

/* ==== listed.c ====
 *
 * The order of the list of tasks, for launches with another order (SK_LAUNCH_ORDERED). */

/* Return the launch's steps, numbered in it, in the order of their tasks in the list, but each after the steps that it
 * awaits, and the sides of a mix task together. NULL: no memory. The caller frees it. */
uint32_t *sk_listed_order(const struct sk_plan_view *plan, const struct sk_plan_launch *launch);

/* ==== simulate.c ====
 *
 * The event simulation for predictions. It lets the cores of a profile go through a network, in virtual time, and finds
 * the total time and its causes. It runs no kernel, reads no clock and gives the same result every time.
 *
 * The rules, which doc/explain/simulation.md explains:
 * - A launch begins `launch` after the last of those that it follows has ended, on its lanes and by its follows. It
 *   has ended when all its steps have.
 * - A core takes the steps of its lane in order. An await costs `check`, and if the step has not been finished and
 *   seen by then, until `await` after the last other core has finished it.
 * - Then a core that has a share of the step takes `call`, fetches the kernel's code if it is not in its memory (which
 *   evicts the oldest code), computes, and moves its bytes meanwhile. Cores that move bytes at the same time
 *   share the memory's rate evenly, each at most at the rate of a core.
 * - A kernel with EARLY_WAIT is called first, and awaits after the part of its first block before the wait. For others,
 *   a kernel with EARLY_SET has finished the step when its last block has only the part after its set left.
 * - Blocks that wait for one another begin together, if each has a core of its own, and each wait takes `await`. */

/* The parts of the time on the critical path. */
enum sk_path_part {
	SK_PART_LAUNCH, /* between launches */
	SK_PART_AWAIT, /* from the end of the awaited step until the core goes on; blocks that wait for one another */
	SK_PART_CALL, /* checking awaits that have been reached, and calling */
	SK_PART_FETCH, /* code */
	SK_PART_RUN, /* computing and moving bytes */
	SK_PARTS,
};

/* A step on the critical path, on one of its cores, from the end of the previous step on the path. */
struct sk_path_item {
	uint32_t step; /* of the network */
	uint32_t core;
	double parts[SK_PARTS]; /* ns */
};

struct sk_simulation {
	double time; /* ns */
	double parts[SK_PARTS]; /* of the critical path; their sum is the time */
	double busy[SK_MAX_LANES]; /* by lane: the part of its cores' time in which they run kernels */
	struct sk_path_item *path; /* the critical path, in the order of time */
	uint32_t path_count;
	struct sk_visit *visits; /* all visits of cores; many */
	uint32_t visit_count;
};

/* Simulate. False with the reason in `error` if the network is too large or memory is missing; then nothing is to be
 * freed. Else free the result with sk_simulation_free. */
bool sk_simulate(const struct sk_network *network, const struct sk_profile *profile, struct sk_simulation *result,
		 char *error, size_t error_size);
void sk_simulation_free(struct sk_simulation *simulation);
void sk_simulation_free_visits(struct sk_simulation *simulation); /* free only these */

/* ==== predicted-trace.c ====
 *
 * The predicted times of cores as a file in the Trace Event format, for the viewers of traces of runs
 * (loader/trace/trace-file.c): a process for each lane of each way to run, a row for each of its cores, a slice for
 * each step, and an arrow to it from the step that it waited for. */

struct sk_predicted_trace {
	FILE *file; /* NULL: not wanted */
	struct sk_json json; /* that is written to it */
	uint32_t processes, arrows; /* so far: their numbers */
};

/* Begin the trace; path NULL: it is not wanted. False with errno. */
bool sk_predicted_trace_open(const char *path, struct sk_predicted_trace *trace);

/* Add a simulated run with the name `run`. */
void sk_predicted_trace_add(struct sk_predicted_trace *trace, const char *run, const struct sk_plan_view *plan,
			    const struct sk_profile *profile, const struct sk_network *network,
			    const struct sk_simulation *simulation);

/* Write the file of that path if the trace is complete, else leave the old file as it was. sizes: as in struct
 * sk_predict_options. False with errno. */
bool sk_predicted_trace_close(struct sk_predicted_trace *trace, const char *path, const char *sizes, bool whole);

/* ==== visits.c ====
 *
 * Visits: a core of a simulation makes one visit at a time, to one step, and a visit can have another visit as its
 * cause. Input: points of time as the simulation reaches them. Output: the critical path, found by going back from the
 * visit that ended last. */

/* Points of a visit, in their order. A point that the core skips has the time of the next one. */
enum sk_point {
	SK_POINT_SINCE, /* the cause let it go on … */
	SK_POINT_RESUMED, /* … and here it did */
	SK_POINT_CALLED,
	SK_POINT_FETCHED,
	SK_POINT_PREPARED, /* the kernel reaches its own wait */
	SK_POINT_BEGUN, /* the wait is over, and all blocks that wait for one another have come */
	SK_POINT_WAITED, /* all of their waits are over, as if they came first */
	SK_POINT_SET, /* all results for other tasks have been computed and moved */
	SK_POINT_RETURNED,
	SK_POINT_ENDED,
	SK_POINTS,
};

struct sk_visit {
	uint32_t step; /* of the network */
	uint32_t core; /* of all lanes */
	uint32_t cause; /* visit that let it go on; SK_NO_INDEX: the beginning of time */
	enum sk_path_part between; /* the part that counts the time up to SK_POINT_RESUMED */
	enum sk_point reached; /* the last one */
	double at[SK_POINTS]; /* ns; up to the last one */
};

/* Note that the core reaches the point now. */
void sk_visit_reach(struct sk_visit *visit, enum sk_point point, double now);

/* Make the visit continue at `resumed`, caused by the event at `since` in the cause, whatever the core itself has done
 * until then. */
void sk_visit_let_go(struct sk_visit *visit, uint32_t cause, double since, double resumed);

/* Fill in path and parts of the result: from the beginning of time to the end of visit `last` (SK_NO_INDEX: none).
 * Visits without any time are left out. Items have the cores of the visits. False for lack of memory. */
bool sk_visits_trace(const struct sk_visit *visits, uint32_t last, struct sk_simulation *result);

/* ==== simulator ====
 *
 * The state of a simulation, shared by its two files: simulate.c, which makes it from a network and advances the time,
 * and simulated-core.c, which determines the actions of a core. */

/* A core's next action. */
enum sk_simulated_phase {
	SK_PHASE_NEXT, /* looks for the next step */
	SK_PHASE_AWAITS, /* awaits, and calls the kernel */
	SK_PHASE_FETCH, /* fetches the kernel's code */
	SK_PHASE_PREPARE, /* does the part before the kernel's wait */
	SK_PHASE_WAIT, /* awaits in the kernel, and waits for the blocks that begin with this one */
	SK_PHASE_BEGIN, /* waits for them as often as the kernel does */
	SK_PHASE_MOVE, /* moves bytes, and computes meanwhile */
	SK_PHASE_COMPUTE, /* computes the rest */
	SK_PHASE_SET, /* lets others go on, and does the part after the kernel's set */
	SK_PHASE_RETURN, /* checks the awaits once more */
	SK_PHASE_END, /* leaves the step */
};

struct sk_simulated_core {
	uint32_t lane, index;
	enum sk_simulated_phase phase;
	uint32_t step, step_end; /* of the network: the next one; the end of its launch's steps */
	uint32_t launch;
	uint32_t visit; /* the current one, or the last one in this launch, or SK_NO_INDEX */
	uint32_t await; /* the next one of the step */
	uint32_t next_waiter; /* core that waits for the same step, or the same meeting */
	double share;
	uint32_t blocks; /* that make up its share, one after the other */
	double compute_end;
	double fetched; /* bytes of code so far */
	double came, came_before; /* when it came to the step, and to its previous step in the launch */
};

struct sk_simulated_step {
	uint32_t remaining; /* cores that have not published it */
	uint32_t first_waiter;
	uint32_t last_visit, second_last_visit; /* of cores that have published it */
	/* For a task's first step: */
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
	double *fetch_marks; /* by core and kernel: bytes that the core had fetched before this kernel, or -1 */
	uint32_t kernel_count;
	struct sk_event_heap events; /* of cores, numbered before those of launches, by time */
	struct sk_event_heap transfers; /* of cores, by the value of `served` at their end */
	double served; /* bytes that a core would have moved if it had moved bytes all the time */
	double served_at; /* the time of this value */
	double now;
	double busy[SK_MAX_LANES];
	uint32_t ended_launches, last_visit;
};

/* Return the bytes per ns for each core that moves some. */
static inline double sk_simulator_memory_rate(const struct sk_simulator *simulator)
{
	return fmin(simulator->profile->core_memory, simulator->profile->memory / simulator->transfers.count);
}

/* Add the bytes that have been moved until now. */
static inline void sk_simulator_serve(struct sk_simulator *simulator)
{
	if (simulator->transfers.count)
		simulator->served += (simulator->now - simulator->served_at) * sk_simulator_memory_rate(simulator);
	simulator->served_at = simulator->now;
}

/* ---- simulated-core.c ---- */

/* Begin the core's part of a launch. */
void sk_simulated_core_begin(struct sk_simulator *simulator, struct sk_simulated_core *core, uint32_t launch);

/* Continue the core up to the next point at which time passes for it. */
void sk_simulated_core_advance(struct sk_simulator *simulator, struct sk_simulated_core *core);

/* Make the launch begin after the gap between launches. */
void sk_simulated_launch_await(struct sk_simulator *simulator, uint32_t index);

/* End the launch, after all its work: let the launches that follow it go on. */
void sk_simulated_launch_end(struct sk_simulator *simulator, uint32_t index);

#endif
