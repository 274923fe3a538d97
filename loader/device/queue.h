/* What is queued on a device, what starts when, and who drives; all but sk_queue_work, sk_queue_complete and
 * sk_queue_lose under the device's lock. See queue.c. */
#ifndef SK_LOADER_QUEUE_H
#define SK_LOADER_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "loader/device/device.h"

/* Room for `count` more. False: no memory. */
bool sk_queue_reserve(struct skrt_device *device, uint64_t count);

/* Queues a copy of the command on its stream; there must be room. */
void sk_queue_append(struct skrt_device *device, const struct sk_command *command);

/* Starts all that can start. */
void sk_queue_dispatch(struct skrt_device *device);

/* The device's own thread: does what nobody else does. */
void *sk_queue_work(void *device);

/* Wakes it if there is something to do that nobody does. */
void sk_queue_hand_over(struct skrt_device *device);

/* Drives, or waits for those who do, until *pending is 0, which `ended` tells. A thread that waits for a stream drives
 * when there is a flight of it to play, so that it is not caught in somebody else's. */
void sk_queue_finish(struct skrt_device *device, const struct skrt_stream *stream, const _Atomic uint64_t *pending,
		     pthread_cond_t *ended);

/* The last worker has left the flight. */
void sk_queue_complete(struct sk_flight *flight);

/* Nothing runs on the device any more. */
void sk_queue_lose(struct skrt_device *device, const char *why);

/* If the device is lost, an error that says so. */
enum skrt_status sk_queue_check_lost(const struct skrt_device *device);

#endif
