/* Workers: the threads that play cores, one each, or several in turn on fibres. See worker.c. */
#ifndef SK_LOADER_WORKER_H
#define SK_LOADER_WORKER_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "loader/device/told.h"
#include "loader/flight/flight.h"
#include "loader/flight/kernel.h"

/* What a worker has of a flight that it plays. */
struct sk_part {
	struct sk_part *next;
	struct sk_flight *flight;
	uint32_t rank, last; /* as in the post */
	struct sk_own_cores own[SK_MAX_LANES];
	uint32_t unfinished; /* cores that have not left */
	bool given_up; /* the flight was aborted; cores that have not begun never will */
};

/* What a worker is told of a flight: all that is new in it, in the one line that the worker looks at while it waits. */
struct sk_post {
	alignas(SK_LINE) _Atomic uint32_t number; /* from 1; written last; a futex */
	uint32_t rank; /* of the worker in the flight: which of its cores it plays */
	struct sk_flight *flight; /* NULL: the thread ends */
	uint64_t bases[SK_MAX_LANES];
	uint32_t last; /* the flight's */
};

/* A worker has at most one part of each flight, so none is posted where one has not been taken. */
struct sk_mailbox {
	struct sk_post posts[SK_MOST_FLIGHTS]; /* in turn */
	alignas(SK_LINE) uint32_t posted; /* so many so far; under the device's lock, as is: */
	uint32_t load; /* parts that the worker has of flights */
};

/* A thread that plays cores. The first of a device is whoever drives. */
struct sk_worker {
	struct sk_mailbox mailbox;
	/* Read by who posts, so in a line of its own that the worker writes only around sleeping: */
	alignas(SK_LINE) struct skrt_device *device;
	uint32_t number;
	pthread_t thread;
	bool started;
	_Atomic uint32_t sleeping;
	/* The worker's own, or of who makes itself the first one: */
	alignas(SK_LINE) uint32_t taken; /* posts */
	/* While it plays: */
	struct sk_host *host;
	const _Atomic uint64_t *wanted; /* when it is 0, the first worker takes no more parts than it must; NULL:
					   takes them all */
	struct sk_part by_place[SK_MOST_FLIGHTS];
	struct sk_part *parts;
	struct sk_flight *lingering; /* that it has nothing more to do in; NULL: none. See worker.c */
	struct sk_device_core **cores; /* in the order of their turns; room for all that a device can have */
	uint32_t core_count;
	uint64_t random; /* state; only simulated devices draw */
};

/* Plays the worker's parts of flights, those that are posted meanwhile among them, until all cores have left. Returns
 * a flight that the caller has to complete, since the worker was the last one to leave it; NULL: none. */
struct sk_flight *sk_worker_play(struct sk_worker *worker);

/* What a waiting core does: the slow path of a dispatcher's await. */
int sk_worker_await(struct sk_core *core, const volatile uint64_t *word, uint64_t target, uint64_t count);

/* The thread of a worker: plays what is posted. */
void *sk_worker_run(void *worker);
/* Waits until the count is 0, but no longer than it makes sense to wait without sleeping. */
void sk_worker_spin(const _Atomic uint64_t *pending);
void sk_worker_stop(struct sk_worker *worker);

/* Posts the part of that rank of the flight. Under the device's lock. */
void sk_worker_post(struct sk_worker *worker, struct sk_flight *flight, uint32_t rank);

/* The post in front of which the worker has taken all that there are. */
static inline const struct sk_post *sk_worker_next_post(const struct sk_worker *worker)
{
	return &worker->mailbox.posts[(worker->taken + 1) % SK_MOST_FLIGHTS];
}

/* Whether something is posted that it has not taken. */
static inline bool sk_worker_has_posts(const struct sk_worker *worker)
{
	return atomic_load_explicit(&sk_worker_next_post(worker)->number, memory_order_acquire) == worker->taken + 1;
}

#endif
