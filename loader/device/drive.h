/* The threads that drive a device, and do its errands; all but sk_drive_work and sk_drive_complete under the device's
 * lock. See drive.c. */
#ifndef SK_LOADER_DRIVE_H
#define SK_LOADER_DRIVE_H

#include <pthread.h>

#include "loader/device/device.h"

/* The device's own thread: does what nobody else does. */
void *sk_drive_work(void *device);

/* Wakes it if there is something to do that nobody does. */
void sk_drive_hand_over(struct skrt_device *device);

/* Drives, or waits for those who do, until *pending is 0, which `ended` tells. A thread that waits for a stream drives
 * when there is a flight of it to play, so that it is not caught in somebody else's. */
void sk_drive_until(struct skrt_device *device, const struct skrt_stream *stream, const _Atomic uint64_t *pending,
		    pthread_cond_t *ended);

/* The last worker has left the flight. */
void sk_drive_complete(struct sk_flight *flight);

#endif
