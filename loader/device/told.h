/* What workers tell each other about their cores of a lane: see told.c. */
#ifndef SK_LOADER_TOLD_H
#define SK_LOADER_TOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "loader/flight/flight.h"
#include "loader/flight/kernel.h"

/* The cores [first, end) of a lane that a worker plays in a flight. */
struct sk_own_cores {
	uint32_t first, end;
	uint32_t next; /* those before it have reached: */
	uint64_t target;
};

/* Whether workers tell each other about the lane, so that cores wait for what they tell and not for one another. */
static inline bool sk_lane_is_told(const struct sk_flight *flight, uint32_t lane)
{
	return flight->kernel->cores[lane] > flight->workers;
}

/* The lane of which workers tell something in the word; SK_NO_INDEX: it is none of theirs. */
uint32_t sk_told_lane(const struct sk_flight *flight, const volatile uint64_t *word);

/* Whether it is known that the lane has reached the target. Asked by the worker of
 * that rank, whose own cores these are, which it tells the others if they have; ranks before *rank are not looked at
 * any more. False: the words may say more. */
bool sk_told_is_known(struct sk_flight *flight, uint32_t lane, uint64_t target, struct sk_own_cores *own,
		      uint32_t own_rank, uint32_t *rank);

#endif
