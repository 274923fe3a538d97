/* What is queued on a device, and what starts when; all but sk_queue_lose under the device's lock. See queue.c. */
#ifndef SK_LOADER_QUEUE_H
#define SK_LOADER_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "loader/device/device.h"

/* Room for `count` more. False: no memory. */
bool sk_queue_reserve(struct skrt_device *device, uint64_t count);

/* A command to fill in, which has to be appended next: its kind, its stream, and what is of the kind. There must be
 * room. */
struct sk_command *sk_queue_take(struct skrt_device *device);

/* Queues the command on its stream. */
void sk_queue_append(struct skrt_device *device, struct sk_command *command);

/* Starts all that can start. */
void sk_queue_dispatch(struct skrt_device *device);

/* The command has ended: its stream's next one may start, and all that can then, starts. */
void sk_queue_end(struct skrt_device *device, struct sk_command *command);

/* The same of a launch that was in flight. If the status is an error, so are its stream and its run through the
 * network; lost: the device is, too. */
void sk_queue_end_launch(struct skrt_device *device, struct sk_command *command, enum skrt_status status,
			 const char *error, bool lost);

/* Nothing runs on the device any more. */
void sk_queue_lose(struct skrt_device *device, const char *why);

/* If the device is lost, an error that says so. */
enum skrt_status sk_queue_check_lost(const struct skrt_device *device);

#endif
