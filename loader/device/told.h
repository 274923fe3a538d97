/* What workers tell each other about their cores of a lane: see told.c. */
#ifndef SK_LOADER_TOLD_H
#define SK_LOADER_TOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "loader/flight/flight.h"
#include "loader/flight/kernel.h"

/* The cores [first, end) of a lane that the worker of that rank plays in a flight, and what it knows of the lane. */
struct sk_own_cores {
	struct sk_flight *flight;
	uint32_t lane, rank;
	uint32_t first, end;
	uint32_t arrived; /* of the cores, so many wait for the lane to reach: */
	uint64_t target;
	uint64_t told; /* that all of the cores have reached; kept here, since to read what others read may take long */
	uint64_t known; /* all cores of the lane have reached it: what the worker's cores have as the lane's word */
};

/* Whether workers tell each other about the lane, so that cores wait for what they tell and not for one another. */
static inline bool sk_lane_is_told(const struct sk_flight *flight, uint32_t lane)
{
	return flight->kernel->cores[lane] > flight->workers;
}

/* One of the cores, which is of the lane itself, begins to wait for the lane to reach the target. If it is the last
 * one, the others are told. */
void sk_told_arrive(struct sk_own_cores *own, uint64_t target);

/* Tells the others how far all of the cores are. */
void sk_told_tell(struct sk_own_cores *own);

/* Asks the others whether the lane has reached the target, and notes that it is known. */
bool sk_told_ask(struct sk_own_cores *own, uint64_t target);

#endif
