/* The queue of a device: what has been queued on its streams waits here until somebody drives it. That is the device's
 * own thread, which queueing wakes, or a thread that waits anyway and so saves the hand-over. One drives at a time, so
 * all work runs in the order in which it was queued; hence an event has always been reached when a later wait for it
 * is. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/device.h"

enum { FIRST_CAPACITY = 16 };

/* ---- the queue; all under the device's lock ---- */

bool sk_queue_reserve(struct skrt_device *device, size_t count)
{
	size_t wanted = device->queue_count + count;
	size_t capacity = device->queue_capacity ? device->queue_capacity : FIRST_CAPACITY;

	if (wanted <= device->queue_capacity)
		return true;
	while (capacity < wanted)
		capacity *= 2;
	struct sk_work *queue = calloc(capacity, sizeof(*queue));
	if (!queue)
		return false;
	/* The ring is straightened when it grows. */
	for (size_t i = 0; i < device->queue_count; i++)
		queue[i] = device->queue[(device->queue_head + i) % device->queue_capacity];
	free(device->queue);
	device->queue = queue;
	device->queue_capacity = capacity;
	device->queue_head = 0;
	return true;
}

void sk_queue_append(struct skrt_device *device, const struct sk_work *work)
{
	device->queue[(device->queue_head + device->queue_count++) % device->queue_capacity] = *work;
	work->stream->pending++;
	if (work->kind == SK_WORK_LAUNCH)
		work->launch.instance->pending++;
	if (work->kind == SK_WORK_RECORD)
		work->event->pending++;
}

/* ---- a lost device ---- */

static void lose(struct skrt_device *device, const char *why)
{
	if (device->lost)
		return;
	device->lost = true;
	snprintf(device->loss, sizeof(device->loss), "%s", why);
}

void sk_queue_lose(struct skrt_device *device, const char *why)
{
	pthread_mutex_lock(&device->lock);
	lose(device, why);
	pthread_mutex_unlock(&device->lock);
}

enum skrt_status sk_queue_check_lost(const struct skrt_device *device)
{
	if (!device->lost)
		return SKRT_OK;
	return sk_report(SKRT_DEVICE_LOST, "the device is lost: %s", device->loss);
}

/* ---- driving ---- */

/* Runs the work, without the lock; nobody else drives meanwhile. A launch's failure is the stream's. */
static void run(struct skrt_device *device, struct sk_work *work)
{
	struct skrt_stream *stream = work->stream;
	enum skrt_status before = stream->status, status = SKRT_OK;
	char error[SK_REPORT_SIZE];
	bool lost = false;

	device->driving = true;
	pthread_mutex_unlock(&device->lock);
	switch (work->kind) {
	case SK_WORK_LAUNCH:
		status = sk_device_run(device, &work->launch, error, sizeof(error), &lost);
		break;
	case SK_WORK_COPY:
		if (work->copy.bytes) /* else the addresses may be null */
			memmove(work->copy.to, work->copy.from, work->copy.bytes);
		break;
	case SK_WORK_CALL:
		work->call.function(work->call.context, before);
		break;
	case SK_WORK_RECORD:
		break;
	}
	pthread_mutex_lock(&device->lock);
	device->driving = false;
	pthread_cond_broadcast(&device->idle);
	if (lost)
		lose(device, error);
	if (status) {
		stream->status = status;
		memcpy(stream->error, error, sizeof(error));
	}
}

/* Behind a failure a stream runs nothing until somebody has been told; but callbacks hear of it, and events happen. */
static bool is_skipped(const struct skrt_device *device, const struct sk_work *work)
{
	switch (work->kind) {
	case SK_WORK_LAUNCH:
		return work->stream->status || device->lost;
	case SK_WORK_COPY:
		return work->stream->status;
	default:
		return false;
	}
}

/* Takes the first work and runs it; then notes that it has ended. */
static void drive(struct skrt_device *device)
{
	struct sk_work work = device->queue[device->queue_head];
	struct skrt_stream *stream = work.stream;

	device->queue_head = (device->queue_head + 1) % device->queue_capacity;
	device->queue_count--;
	if (work.kind == SK_WORK_RECORD) {
		work.event->time = sk_now();
		if (--work.event->pending == 0)
			pthread_cond_broadcast(&work.event->reached);
	} else if (!is_skipped(device, &work)) {
		run(device, &work);
	}
	if (work.kind == SK_WORK_LAUNCH)
		work.launch.instance->pending--;
	if (--stream->pending == 0)
		pthread_cond_broadcast(&stream->ended);
}

void *sk_queue_drive(void *context)
{
	struct skrt_device *device = context;

	pthread_mutex_lock(&device->lock);
	while (!device->stopping) {
		if (device->queue_count && !device->driving)
			drive(device);
		else
			pthread_cond_wait(&device->work, &device->lock);
	}
	pthread_mutex_unlock(&device->lock);
	return NULL;
}

void sk_queue_hand_over(struct skrt_device *device)
{
	if (device->queue_count && !device->driving)
		pthread_cond_signal(&device->work);
}

void sk_queue_finish(struct skrt_device *device, const uint64_t *pending, pthread_cond_t *ended)
{
	while (*pending) {
		if (!device->driving)
			drive(device);
		else
			pthread_cond_wait(ended, &device->lock);
	}
	sk_queue_hand_over(device);
}
