/* A device's threads, and memory that is taken as far as it is used. */
#ifndef SK_LOADER_THREAD_H
#define SK_LOADER_THREAD_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "loader/skrt.h"

/* Zero-filled pages that take memory as far as they are used. NULL: there is no room. */
void *sk_device_reserve(size_t size);

/* Starts a thread of the device. It blocks the signals that come from outside, so that the program's own threads get
 * them, and the number-th of the device's processors is its own, if there are so many. */
enum skrt_status sk_device_start_thread(struct skrt_device *device, pthread_t *thread, void *(*run)(void *context),
					void *context, uint32_t number);

#endif
