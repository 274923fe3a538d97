/* The thread that drives, that is, acts as the first worker. Copies and callbacks ("errands") are not launches, and
 * take time, so an otherwise idle thread runs them. Idle threads are those that wait for a stream or an event, and the
 * device's own, which queueing wakes; one of them at a time drives. */
#include "config.h"

#include "loader/device/device.h"

#include <locale.h>
#include <sched.h>
#include <string.h>

#include "loader/arch/machine.h"
#include "loader/base/status.h"
#include "loader/core/core.h"
#include "loader/flight/flight.h"
#include "loader/skrt.h"

/* ---- the end of a flight ---- */

static bool may_drive(const struct skrt_device *device)
{
	return !device->driving && sk_worker_has_posts(&device->workers[0]);
}

void sk_drive_hand_over(struct skrt_device *device)
{
	/* A driving thread without cores to run does the errands; else the device's thread or, if that drives, the
	 * waiting threads. */
	bool errands = device->errands.first && (!device->driving || device->workers[0].mailbox.load);

	if (may_drive(device) || errands)
		pthread_cond_signal(&device->work);
	for (struct sk_command *command = errands ? device->errands.first : NULL; command; command = command->next)
		pthread_cond_broadcast(&command->stream->ended);
}

/* Complete the flight, which the last worker has left. Begin without the lock and end with it. */
static void complete(struct sk_flight *flight)
{
	struct skrt_device *device = flight->device;
	char error[SK_ERROR_SIZE];
	bool lost = false;
	enum skrt_status status = sk_flight_result(flight, error, sizeof(error), &lost);

	pthread_mutex_lock(&device->lock);

	struct sk_command *command = flight->command;

	sk_flight_end(flight, status == SKRT_OK);
	sk_queue_end_launch(device, command, status, error, lost);
	sk_count(&device->in_flight, -1);
	sk_drive_hand_over(device);
}

void sk_drive_complete(struct sk_flight *flight)
{
	struct skrt_device *device = flight->device;

	complete(flight);
	pthread_mutex_unlock(&device->lock);
}

/* ---- idle threads ---- */

/* Take the first errand, or the first one of the stream. NULL: there is none. */
static struct sk_command *take_errand(struct skrt_device *device, const struct skrt_stream *stream)
{
	struct sk_command *before = NULL, *command = device->errands.first;

	for (; command && stream && command->stream != stream; command = command->next)
		before = command;
	if (!command)
		return NULL;
	*(before ? &before->next : &device->errands.first) = command->next;
	if (device->errands.last == command)
		device->errands.last = before;
	return command;
}

/* On any thread, callbacks run in the program's locale, and begin in the same modes of floating point. */
static void call_back(const struct sk_command *command, enum skrt_status status)
{
	locale_t own = uselocale(LC_GLOBAL_LOCALE);
	struct sk_modes modes = sk_modes_read();

	sk_modes_load(&sk_standard_modes);
	command->call.function(command->call.context, status);
	sk_modes_load(&modes);
	uselocale(own);
}

/* Return false if there was none. */
static bool run_errand(struct skrt_device *device, const struct skrt_stream *stream)
{
	struct sk_command *command = take_errand(device, stream);

	if (!command)
		return false;

	enum skrt_status status = command->stream->status;

	pthread_mutex_unlock(&device->lock);
	sk_cancellation_hold();
	if (command->kind == SK_COMMAND_CALL)
		call_back(command, status);
	else if (command->copy.bytes) /* else the addresses may be null */
		memmove(command->copy.to, command->copy.from, command->copy.bytes);
	pthread_mutex_lock(&device->lock);
	sk_queue_end(device, command);
	return true;
}

/* A caller that the scheduler has put on a worker's processor would share it with that worker, and each would wait for
 * the other's time slice. Such a caller moves to the first processor, to which no worker is pinned; its affinity is
 * restored afterwards. A caller that is bound elsewhere stays there. */
static void leave_workers_processors(const struct skrt_device *device)
{
	uint32_t workers = atomic_load(&device->worker_count);
	size_t processor = workers > 1 ? (size_t)sched_getcpu() : SIZE_MAX; /* SIZE_MAX: not known */
	cpu_set_t own, first;

	for (uint32_t i = 1; i < workers; i++) {
		if (device->processors[i] != processor)
			continue;
		if (sched_getaffinity(0, sizeof(own), &own) || !CPU_ISSET(device->processors[0], &own))
			return;
		CPU_ZERO(&first);
		CPU_SET(device->processors[0], &first);
		if (!sched_setaffinity(0, sizeof(first), &first))
			sched_setaffinity(0, sizeof(own), &own);
		return;
	}
}

/* Act as the first worker, until it has nothing to do, or until *wanted is 0 and it has left the parts that it has
 * begun. */
static void drive(struct skrt_device *device, const _Atomic uint64_t *wanted)
{
	struct sk_worker *worker = &device->workers[0];
	sigset_t mask;

	device->driving = true;
	worker->wanted = wanted;
	sk_watch_drive(device, true);
	pthread_mutex_unlock(&device->lock);

	bool blocked = sk_signals_unblock(sk_host_of_thread(), device->watch.timeout, &mask);

	leave_workers_processors(device);
	for (;;) {
		struct sk_flight *flight = sk_worker_play(worker);

		if (flight)
			complete(flight);
		else
			pthread_mutex_lock(&device->lock);
		if (!sk_worker_has_posts(worker) || (wanted && !*wanted))
			break;
		pthread_mutex_unlock(&device->lock);
	}
	sk_watch_drive(device, false);
	device->driving = false;
	if (blocked)
		sk_signals_block(&mask);
}

/* A thread that queues several launches usually waits for them next, and then drives. If the device's thread drove
 * meanwhile, the two would compete for the lock, or for a shared processor. So it lets the other thread finish
 * queueing, for about as long as it takes to wake it. Begins and ends with the lock. */
static void let_queue(struct skrt_device *device)
{
	enum { ROUNDS = 50 };
	uint64_t before, now = atomic_load(&device->queued);

	pthread_mutex_unlock(&device->lock);
	for (int round = 0; round < ROUNDS; round++) {
		sched_yield();
		before = now;
		now = atomic_load_explicit(&device->queued, memory_order_relaxed);
		if (now == before)
			break;
	}
	pthread_mutex_lock(&device->lock);
}

void *sk_drive_work(void *context)
{
	struct skrt_device *device = context;

	pthread_mutex_lock(&device->lock);
	while (!device->stopping) {
		if (may_drive(device)) {
			let_queue(device);
			if (may_drive(device))
				drive(device, NULL);
		} else if (!run_errand(device, NULL))
			pthread_cond_wait(&device->work, &device->lock);
	}
	pthread_mutex_unlock(&device->lock);
	return NULL;
}

/* Return whether a flight that the thread waits for is posted to the first worker. A thread that waits for an event
 * (stream NULL) accepts any flight. While no thread drives, posts are only added. */
static bool may_help(const struct skrt_device *device, const struct skrt_stream *stream)
{
	const struct sk_mailbox *mailbox = &device->workers[0].mailbox;

	if (device->driving)
		return false;
	for (uint32_t number = device->workers[0].taken; number != mailbox->posted;) {
		const struct sk_post *post = &mailbox->posts[++number % SK_MOST_FLIGHTS];

		if (!stream || post->flight->command->stream == stream)
			return true;
	}
	return false;
}

void sk_drive_until(struct skrt_device *device, const struct skrt_stream *stream, const _Atomic uint64_t *pending,
		    pthread_cond_t *ended)
{
	bool spin = atomic_load(&device->worker_count) > 1;

	while (*pending) {
		if (may_help(device, stream)) {
			drive(device, pending);
			continue;
		}
		if (run_errand(device, stream))
			continue;
		sk_drive_hand_over(device);
		if (!spin) {
			sk_cancellation_hold();
			pthread_cond_wait(ended, &device->lock);
			continue;
		}
		/* The flights of other workers may end soon, so spin once without the lock. Changes meanwhile are seen
		 * before sleeping. */
		pthread_mutex_unlock(&device->lock);
		sk_worker_spin(pending);
		pthread_mutex_lock(&device->lock);
		spin = false;
	}
	sk_drive_hand_over(device);
}
