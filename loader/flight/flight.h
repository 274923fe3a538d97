/* A flight: a launch that has started and not ended. loader/device/flights.c starts and ends it, workers play its
 * cores, checks and traces look on. */
#ifndef SK_LOADER_FLIGHT_H
#define SK_LOADER_FLIGHT_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "loader/flight/core.h"
#include "loader/flight/thunk-words.h"
#include "loader/skrt.h"

struct sk_checks;
struct sk_part;

/* What must end in time; loader/device/watch.c. Changes under the lock of the time-out, but for `due`, which others
 * read. */
struct sk_watched {
	struct sk_watched *next;
	struct sk_flight *flight; /* NULL: a call that one thread runs: */
	pthread_t thread;
	int64_t deadline; /* monotonic time in ns */
	_Atomic bool due; /* its calls are to be expelled */
};

/* Why cores are to leave a flight before its end. */
enum sk_abort {
	SK_ABORT_NONE,
	SK_ABORT_FAILED, /* one has failed, and says why */
	SK_ABORT_STUCK, /* each waits for another */
	SK_ABORT_TIMEOUT,
};

/* A launch that is in flight. The device keeps some places for them, for one flight after another: progress numbers
 * only grow, and a flight's steps are numbered from the base that those before it in its place have moved on. */
struct sk_flight {
	/* Read by all that wait: */
	alignas(SK_LINE) _Atomic int aborted; /* enum sk_abort */
	alignas(SK_LINE) _Atomic uint32_t inside; /* workers that have not left it */

	alignas(SK_LINE) struct skrt_device *device;
	uint32_t place; /* its number */
	struct {
		struct sk_device_core **cores; /* by number in the flight; room for SK_MAX_CORES */
		uint64_t *words; /* progress, SK_PROGRESS_STRIDE bytes apart; room for as many */
		uint64_t base; /* number before the first step */
	} lanes[SK_MAX_LANES];
	struct sk_part *parts; /* by worker */
	uint32_t *order; /* the workers' numbers, by rank */
	char *tables; /* of times, for a trace: one for each core that has one */
	size_t tables_size;

	/* Of the launch that is in the place: */
	struct sk_command *command; /* NULL: none */
	struct skrt_instance *instance;
	const struct skrt_kernel *kernel;
	const struct sk_home *homes; /* the kernel's, for this place */
	struct sk_words words; /* that its thunk reads, if it has one */
	uint32_t workers; /* of the device, when it began */
	uint32_t busy; /* of them, those that have cores in it: the first ranks */
	struct sk_checks *checks; /* that it is under; NULL: none */
	struct skrt_trace *trace; /* that records it; NULL: none */
	uint64_t started; /* by the processor's counter, for the trace */
	struct sk_watched watched;
};

/* Tells all cores of the flight to leave; the first reason is kept. */
static inline void sk_flight_abort(struct sk_flight *flight, enum sk_abort reason)
{
	int none = SK_ABORT_NONE;

	atomic_compare_exchange_strong(&flight->aborted, &none, (int)reason);
}

#endif
