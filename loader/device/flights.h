/* Flights, from the start to the end; all but sk_flight_result under the device's lock. See flights.c. */
#ifndef SK_LOADER_FLIGHTS_H
#define SK_LOADER_FLIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loader/device/device.h"
#include "loader/flight/flight.h"

/* Makes the place if it is not there. False: no memory. */
bool sk_flight_open(struct skrt_device *device, uint32_t place);
void sk_flight_close(struct skrt_device *device, uint32_t place);

/* A place for the kernel, if there are cores for it, too; else NULL. Lanes that are reserved count as taken; what the
 * kernel would need and does not get becomes reserved. */
struct sk_flight *sk_flight_find(struct skrt_device *device, const struct skrt_kernel *kernel,
				 bool reserved[SK_MAX_LANES]);

/* Starts the launch in the place, for which there is room: posts it to the workers. If the status is not SKRT_OK, error
 * is filled, and nothing was started. */
enum skrt_status sk_flight_start(struct sk_flight *flight, struct sk_command *command, char *error, size_t error_size);

/* What became of the flight, which all cores have left. If it is not SKRT_OK, error is filled, and *lost set if the
 * device is not to be used any more. Without the lock. */
enum skrt_status sk_flight_result(struct sk_flight *flight, char *error, size_t error_size, bool *lost);

/* Frees its place and cores. */
void sk_flight_end(struct sk_flight *flight, bool good);

#endif
