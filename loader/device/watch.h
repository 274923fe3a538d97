/* The time-out of flights, and of other calls of package code. See watch.c. */
#ifndef SK_LOADER_WATCH_H
#define SK_LOADER_WATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "loader/flight/flight.h"

struct sk_watch {
	uint64_t timeout; /* ns; 0: none, and no thread */
	pthread_t thread;
	pthread_mutex_t lock; /* all that follows */
	pthread_cond_t changed;
	struct sk_watched *first; /* of what is under way */
	bool driving; /* somebody is the first worker: */
	pthread_t driver;
	bool idle, stop;
};

enum skrt_status sk_watch_open(struct skrt_device *device);
void sk_watch_close(struct skrt_device *device);

/* Around a flight. */
void sk_watch_begin(struct skrt_device *device, struct sk_watched *watched);
void sk_watch_end(struct skrt_device *device, struct sk_watched *watched);

/* A call from beginning to end, on the calling thread. */
void sk_watch_call(struct skrt_device *device, struct sk_call *call, const struct sk_package *package,
		   int (*function)(void *context), void *context);

/* The calling thread becomes the first worker; is so no more. */
void sk_watch_drive(struct skrt_device *device, bool driving);

#endif
