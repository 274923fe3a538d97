/* The time-out of launches. A thread of the device sleeps until the running launch has taken too long, then tells its
 * cores to leave: those that wait notice, those in a kernel are expelled by a signal. A core may just have stopped
 * waiting when the signal comes, and begin another kernel; so the signal is repeated until the launch has ended. */
#include "config.h"

#include "loader/device.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEAT = 10000000 /* ns */ };

static struct timespec at(int64_t time)
{
	return (struct timespec){.tv_sec = time / 1000000000, .tv_nsec = time % 1000000000};
}

/* Sends the signal to all players of the launch. */
static void expel(struct skrt_device *device, const struct sk_launch *launch)
{
	sk_device_abort(device, SK_ABORT_TIMEOUT);
	sk_signals_expel(device->watch.driver, launch->token);
	for (uint32_t i = 1; i < launch->players; i++)
		sk_signals_expel(device->players[i].thread, launch->token);
}

/* Launches begin without waking this thread, unless it has found that none was running. */
static void *work(void *context)
{
	struct skrt_device *device = context;
	struct sk_watch *own = &device->watch;

	pthread_mutex_lock(&own->lock);
	while (!own->stop) {
		own->idle = !own->launch;
		if (own->idle) {
			pthread_cond_wait(&own->changed, &own->lock);
			continue;
		}
		struct timespec time = at(own->deadline);

		pthread_cond_timedwait(&own->changed, &own->lock, &time);
		if (own->launch && sk_now() >= own->deadline) {
			expel(device, own->launch);
			own->deadline = sk_now() + REPEAT;
		}
	}
	pthread_mutex_unlock(&own->lock);
	return NULL;
}

void sk_watch_begin(struct skrt_device *device, struct sk_launch *launch)
{
	static _Atomic uintptr_t tokens;
	struct sk_watch *own = &device->watch;

	launch->token = 0;
	if (!own->timeout)
		return;
	pthread_mutex_lock(&own->lock);
	launch->token = atomic_fetch_add(&tokens, 1) + 1;
	own->launch = launch;
	own->driver = pthread_self();
	own->deadline = sk_now() + (int64_t)own->timeout;
	if (own->idle)
		pthread_cond_signal(&own->changed);
	pthread_mutex_unlock(&own->lock);
}

void sk_watch_end(struct skrt_device *device)
{
	struct sk_watch *own = &device->watch;

	if (!own->timeout)
		return;
	pthread_mutex_lock(&own->lock);
	own->launch = NULL;
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
	/* No processor of its own: it sleeps nearly always. */
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
