/* Visits: what the cores of a simulation do, one at a time at one step each, and who let whom go on. In: points of time
 * as the simulation comes by them. Out: the critical path, which is what one finds by going back from the visit that
 * ended last. */
#ifndef SK_LOADER_VISITS_H
#define SK_LOADER_VISITS_H

#include "loader/predict/simulate.h"

/* Points of a visit, in their order. One that the core does not come by is at the same time as the next one. */
enum sk_point {
	SK_POINT_SINCE, /* the cause let it go on … */
	SK_POINT_RESUMED, /* … and here it did */
	SK_POINT_CALLED,
	SK_POINT_FETCHED,
	SK_POINT_PREPARED, /* the kernel comes to its own wait */
	SK_POINT_BEGUN, /* that is over, and the blocks that wait for one another are all there */
	SK_POINT_WAITED, /* all of their waits, as if they came first */
	SK_POINT_SET, /* all is computed and moved that other tasks may want */
	SK_POINT_RETURNED,
	SK_POINT_ENDED,
	SK_POINTS,
};

struct sk_visit {
	uint32_t step; /* of the network */
	uint32_t core; /* of all lanes */
	uint32_t cause; /* visit that let it go on; SK_NO_INDEX: the beginning of time */
	enum sk_path_part between; /* what the time up to SK_POINT_RESUMED is counted as */
	enum sk_point reached; /* the last one */
	double at[SK_POINTS]; /* ns; up to the last one */
};

/* The core comes by the point now. */
void sk_visit_reach(struct sk_visit *visit, enum sk_point point, double now);

/* It goes on at `resumed` because of what the cause did at `since`, whatever it has done itself until then. */
void sk_visit_let_go(struct sk_visit *visit, uint32_t cause, double since, double resumed);

/* Fills path and parts of the result: from the beginning of time to the end of visit `last` (SK_NO_INDEX: there is
 * none). Visits on which no time goes are left out. Items have the cores of the visits. False if there is no memory. */
bool sk_visits_trace(const struct sk_visit *visits, uint32_t last, struct sk_simulation *result);

#endif
