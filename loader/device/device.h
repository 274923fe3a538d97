/* A device: lanes of cores, played by threads, the workers. Commands wait in their stream; a launch whose turn it is,
 * and for which there are cores, becomes a flight: the workers have their parts of it. Whoever makes that possible
 * starts it: a thread that queues, or the worker that left a flight last. The first worker is whoever drives: a thread
 * that waits for a stream, else the device's own. Two other rooms look
 * on: loader/checks checks launches step by step, loader/trace records when what ran. */
#ifndef SK_LOADER_DEVICE_H
#define SK_LOADER_DEVICE_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/profile/profile.h"
#include "loader/base/process.h"
#include "loader/device/lane.h"
#include "loader/device/stream.h"
#include "loader/device/watch.h"
#include "loader/flight/kernel.h"

struct sk_checks;
struct sk_worker;

struct skrt_device {
	struct sk_process process; /* that opened it */
	char name[SK_PROFILE_MAX_NAME + 1];
	bool simulated; /* all cores on one thread, in an order that depends on the seed alone */
	uint64_t seed;
	size_t stack_size; /* of each core */
	struct sk_checks *checks; /* NULL: none. A device with checks has a single worker */
	uint32_t lane_count; /* lanes that exist; more come with packages that have more, up to the limit */
	uint32_t lane_limit;
	struct sk_device_lane lanes[SK_MAX_LANES];
	uint32_t processor_count;
	size_t *processors; /* numbers of those that this process may use */
	struct sk_worker *workers; /* room for one each processor; simulated: for one */
	uint32_t worker_limit;
	_Atomic uint32_t worker_count; /* that exist; the first has no thread */
	const struct sk_runtime *runtime; /* what package code on the cores calls */
	void (*complete)(struct sk_flight *flight); /* the last worker has left the flight; without the lock */
	/* Read by all that wait: */
	alignas(SK_LINE) _Atomic int64_t
		next_yield; /* monotonic time in ns; before it, waiting cores sleep rather than give way */
	_Atomic uint64_t in_flight; /* flights, and who is just about to start more; changes under the lock */
	alignas(SK_LINE) struct sk_watch watch;

	alignas(SK_LINE) pthread_mutex_t lock; /* all that follows; streams, events, instances' counts */
	pthread_cond_t work; /* for the device's thread: there is something to do that nobody does */
	pthread_cond_t idle; /* flight_count has become 0 */
	pthread_t driver;
	bool driving, stopping;
	uint32_t holding; /* who wants that no launch starts: the cores are about to become more */
	struct skrt_stream *ready; /* those that have nothing running, by the number of their first command */
	struct sk_commands errands; /* copies and calls that can be made now */
	struct sk_command *unused;
	uint64_t unused_count;
	_Atomic uint64_t queued; /* commands so far */
	uint64_t pending; /* commands that have not ended */
	uint32_t flight_count;
	struct sk_taken_cores taken[SK_MAX_LANES];
	struct sk_flight *flights[SK_MOST_FLIGHTS]; /* by place; NULL: not made yet. The first always is */
	uint32_t modules, streams, events; /* alive */
	uint64_t allocations; /* not freed */
	uint64_t bound; /* how often something has been bound, or an instance made */
	struct skrt_trace *trace; /* changes only while nothing is pending; NULL: none */
	bool lost; /* a fault may have left a lock of the C library taken: nothing runs any more */
	char loss[SK_ERROR_SIZE]; /* why */
};

/* Around what a public function does under the device's lock, in this process and without being cancelled. If lock
 * fails, so does the function. */
enum skrt_status sk_device_lock(struct skrt_device *device);
void sk_device_unlock(struct skrt_device *device);

/* Makes the lanes up to lane_count, each with at least so many cores, and workers for them. */
enum skrt_status sk_device_add_cores(struct skrt_device *device, uint32_t lane_count,
				     const uint32_t cores[SK_MAX_LANES]);

/* Changes a number that only the device's lock allows to change, though others read it; returns it. */
static inline uint64_t sk_count(_Atomic uint64_t *number, int change)
{
	uint64_t changed = atomic_load_explicit(number, memory_order_relaxed) + (uint64_t)(int64_t)change;

	atomic_store_explicit(number, changed, memory_order_release);
	return changed;
}

#endif
