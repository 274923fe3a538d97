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

/* Numbers that all cores of a worker have reached, by lane; loader/device/told.c. */
struct sk_told {
	alignas(SK_LINE) _Atomic uint64_t lanes[SK_MAX_LANES];
};

/* A launch that is in flight. The device keeps some places for them, for one flight after another: progress numbers
 * only grow, and a flight's steps are numbered from the base that those before it in its place have moved on. */
struct sk_flight {
	/* Read by all that wait: */
	alignas(SK_LINE) _Atomic int aborted; /* enum sk_abort */
	/* How often a worker has said that it leaves a flight of this place; not written when one begins, since who
	 * waits for the others to leave looks at it. */
	alignas(SK_LINE) _Atomic uint32_t left;

	/* Read by all workers, so written only where it is not as for the launch before in this place: see
	 * SK_KEEP_LINE. */
	alignas(SK_LINE) struct skrt_device *device;
	uint32_t place; /* its number */
	uint32_t workers; /* of the device, when it began */
	uint32_t busy; /* of them, those that have cores in it: the first ranks */
	struct {
		struct sk_device_core **cores; /* by number in the flight; room for SK_MAX_CORES */
		uint64_t *words; /* progress, SK_PROGRESS_STRIDE bytes apart; room for as many */
	} lanes[SK_MAX_LANES];
	struct sk_told *told; /* by rank */
	struct skrt_instance *instance;
	const struct skrt_kernel *kernel;
	const struct sk_home *homes; /* the kernel's, for this place */
	struct sk_words words; /* that its thunk reads, if it has one */
	struct sk_checks *checks; /* that it is under; NULL: none */
	struct skrt_trace *trace; /* that records it; NULL: none */

	/* Under the device's lock, or when nobody is inside: */
	alignas(SK_LINE) struct sk_command *command; /* of the launch that is in the place; NULL: none */
	uint64_t bases[SK_MAX_LANES]; /* numbers before the first step */
	uint32_t *order; /* the workers' numbers, by rank */
	uint32_t last; /* what `left` is when all workers but one have left */
	char *tables; /* of times, for a trace: one for each core that has one */
	size_t tables_size;
	uint64_t started; /* by the processor's counter, for the trace */
	struct sk_watched watched;
};

/* A line that is written has to be fetched by all who read it. */
#define SK_KEEP_LINE(place, value)                                                                                     \
	do {                                                                                                           \
		if ((place) != (value))                                                                                \
			(place) = (value);                                                                             \
	} while (0)

/* Tells all cores of the flight to leave; the first reason is kept. */
static inline void sk_flight_abort(struct sk_flight *flight, enum sk_abort reason)
{
	int none = SK_ABORT_NONE;

	atomic_compare_exchange_strong(&flight->aborted, &none, (int)reason);
}

#endif
