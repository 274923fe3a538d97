/* A lane of a device: its cores, and what they are told about a flight. */
#ifndef SK_LOADER_LANE_H
#define SK_LOADER_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "loader/flight/flight.h"

struct sk_device_lane {
	uint32_t usual; /* cores of a launch that does not need more */
	uint32_t count; /* cores that there are; 0: no package has needed the lane yet */
	struct sk_device_core *cores; /* room for SK_MAX_CORES */
};

/* Which of a lane's cores flights have. */
struct sk_taken_cores {
	uint32_t count; /* of those that are usual */
	bool cores[SK_MAX_CORES]; /* by number */
};

/* Makes a lane's cores up to `cores`. Those that there are stay where they are. */
enum skrt_status sk_lane_open(struct skrt_device *device, uint32_t number, uint32_t cores);
void sk_lane_close(struct sk_device_lane *lane);

/* Readies the core for its part of the flight, which has these bases, as number `index` of its lane. */
void sk_lane_prepare(struct sk_device_core *core, struct sk_flight *flight, const uint64_t bases[SK_MAX_LANES],
		     uint32_t index);

#endif
