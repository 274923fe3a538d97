/* The event simulation behind predictions: lets the cores of a profile go through a network, in virtual time, and says
 * how long that takes and why. It runs no kernel, looks at no clock and gives the same result every time.
 *
 * The rules, which doc/simulation.md explains:
 *  - A launch begins `launch` after the last of those that it follows has ended, on its lanes and by its follows. It
 *    has ended when all its steps have.
 *  - A core takes the steps of its lane in order. An await costs `check`, and if the step has not been finished and
 *    seen by then, until `await` after the last other core has finished it.
 *  - Then a core that has a share of the step takes `call`, fetches the kernel's code if it is not in its memory (which
 *    throws out what has come first), computes, and moves its bytes meanwhile. Cores that move bytes at the same time
 *    share the memory's rate evenly, none getting more than a core can.
 *  - A kernel with EARLY_WAIT is called first, and awaits when its first block has computed what lies before its wait;
 *    one with EARLY_SET has finished the step, for others, when its last block has only what lies behind its set left.
 *  - Blocks that wait for one another begin together, if each has a core of its own, and each wait takes `await`. */
#ifndef SK_LOADER_SIMULATE_H
#define SK_LOADER_SIMULATE_H

#include "loader/predict/network.h"

/* Where the time on the critical path goes. */
enum sk_path_part {
	SK_PART_LAUNCH, /* between launches */
	SK_PART_AWAIT, /* from the end of the step awaited until the core goes on; blocks for one another */
	SK_PART_CALL, /* checking awaits that are over, and calling */
	SK_PART_FETCH, /* code */
	SK_PART_RUN, /* computing and moving bytes */
	SK_PARTS,
};

/* A step on the critical path, on one of its cores, from the end of the step in front of it on the path. */
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
	struct sk_visit *visits; /* all that cores have done (visits.h); many */
	uint32_t visit_count;
};

/* False with the reason in `error` if the network is too large or there is no memory; then nothing is to be freed. Else
 * the result, with sk_simulation_free. */
bool sk_simulate(const struct sk_network *network, const struct sk_profile *profile, struct sk_simulation *result,
		 char *error, size_t error_size);
void sk_simulation_free(struct sk_simulation *simulation);
void sk_simulation_free_visits(struct sk_simulation *simulation); /* these alone */

#endif
