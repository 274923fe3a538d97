/* The time-out of launches, and of other calls of package code: serial runs, constructors. A thread of the device
 * sleeps until a running activity has taken too long, then tells a flight's cores to leave. Waiting cores notice; those
 * in a kernel are expelled by a signal. A core may just have stopped waiting when the signal comes, and begin another
 * kernel, so the signal is repeated until the end. A worker may run another flight when it comes, so each call holds
 * its own flag. */
#include "config.h"

#include "loader/device/device.h"

#include <time.h>

#include "loader/base/status.h"
#include "loader/core/core.h"
#include "loader/flight/flight.h"
#include "loader/skrt.h"

enum { REPEAT = 10000000 /* ns */ };

static struct timespec at(int64_t time)
{
	return (struct timespec){.tv_sec = time / 1000000000, .tv_nsec = time % 1000000000};
}

static void expel_workers(struct sk_flight *flight)
{
	struct skrt_device *device = flight->device;

	sk_flight_abort(flight, SK_ABORT_TIMEOUT);
	for (uint32_t rank = 0; rank < flight->busy; rank++) {
		const struct sk_worker *worker = &device->workers[flight->order[rank]];

		if (worker->number)
			sk_signals_expel(worker->thread);
		else if (device->watch.driving)
			sk_signals_expel(device->watch.driver);
	}
}

/* Expel the calls that are due. Return the time of the next look. */
static int64_t look(struct skrt_device *device)
{
	int64_t now = sk_now(), next = INT64_MAX;

	for (struct sk_watched *watched = device->watch.first; watched; watched = watched->next) {
		if (now >= watched->deadline) {
			atomic_store(&watched->due, true);
			if (watched->flight)
				expel_workers(watched->flight);
			else
				sk_signals_expel(watched->thread);
			watched->deadline = now + REPEAT;
		}
		if (watched->deadline < next)
			next = watched->deadline;
	}
	return next;
}

/* Flights begin without waking this thread, unless it has found that there was none. All have the same time-out, so
 * none ends before the one that this thread waits for. */
static void *work(void *context)
{
	struct skrt_device *device = context;
	struct sk_watch *own = &device->watch;

	pthread_mutex_lock(&own->lock);
	while (!own->stop) {
		own->idle = !own->first;
		if (own->idle) {
			pthread_cond_wait(&own->changed, &own->lock);
			continue;
		}
		struct timespec time = at(look(device));

		pthread_cond_timedwait(&own->changed, &own->lock, &time);
	}
	pthread_mutex_unlock(&own->lock);
	return NULL;
}

void sk_watch_begin(struct skrt_device *device, struct sk_watched *watched)
{
	struct sk_watch *own = &device->watch;

	if (!own->timeout)
		return;
	pthread_mutex_lock(&own->lock);
	atomic_store(&watched->due, false);
	watched->deadline = sk_now() + (int64_t)own->timeout;
	watched->next = own->first;
	own->first = watched;
	if (own->idle)
		pthread_cond_signal(&own->changed);
	pthread_mutex_unlock(&own->lock);
}

void sk_watch_end(struct skrt_device *device, struct sk_watched *watched)
{
	struct sk_watch *own = &device->watch;

	if (!own->timeout)
		return;
	pthread_mutex_lock(&own->lock);

	struct sk_watched **link = &own->first;

	while (*link != watched)
		link = &(*link)->next;
	*link = watched->next;
	pthread_mutex_unlock(&own->lock);
}

void sk_watch_call(struct skrt_device *device, struct sk_call *call, const struct sk_package *package,
		   int (*function)(void *context), void *context)
{
	struct sk_watched watched = {.thread = pthread_self()};
	struct sk_host *host = sk_host_of_thread();
	sigset_t mask;
	bool blocked = sk_signals_unblock(host, device->watch.timeout, &mask);

	sk_call_prepare(call, package, function, context, &watched.due);
	sk_watch_begin(device, &watched);
	sk_call_resume(host, call);
	sk_watch_end(device, &watched);
	if (blocked)
		sk_signals_block(&mask);
	call->due = NULL;
}

void sk_watch_drive(struct skrt_device *device, bool driving)
{
	struct sk_watch *own = &device->watch;

	if (!own->timeout)
		return;
	pthread_mutex_lock(&own->lock);
	own->driving = driving;
	own->driver = pthread_self();
	pthread_mutex_unlock(&own->lock);
}

enum skrt_status sk_watch_open(struct skrt_device *device)
{
	struct sk_watch *own = &device->watch;
	pthread_condattr_t attributes;

	if (!own->timeout)
		return SKRT_OK;
	pthread_mutex_init(&own->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&own->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	/* The thread has no processor of its own: it sleeps nearly always. */
	enum skrt_status status = sk_device_start_thread(device, &own->thread, work, device, UINT32_MAX);
	if (status)
		own->timeout = 0;
	return status;
}

void sk_watch_close(struct skrt_device *device)
{
	struct sk_watch *own = &device->watch;

	if (!own->timeout)
		return;
	pthread_mutex_lock(&own->lock);
	own->stop = true;
	pthread_cond_signal(&own->changed);
	pthread_mutex_unlock(&own->lock);
	pthread_join(own->thread, NULL);
	pthread_cond_destroy(&own->changed);
	pthread_mutex_destroy(&own->lock);
}
