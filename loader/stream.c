/* Streams and launches: what has been launched waits in the device's queue until somebody drives it. That is the
 * device's own thread, which a launch wakes, or a thread that waits for a stream anyway and so saves the hand-over. One
 * drives at a time, so launches run in the order of the queue. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/device.h"

enum { FIRST_CAPACITY = 16 };

/* ---- the queue; all under the device's lock ---- */

/* Room for `count` more. The ring is straightened when it grows. */
static bool reserve(struct skrt_device *device, size_t count)
{
	size_t wanted = device->queue_count + count;
	size_t capacity = device->queue_capacity ? device->queue_capacity : FIRST_CAPACITY;

	if (wanted <= device->queue_capacity)
		return true;
	while (capacity < wanted)
		capacity *= 2;
	struct sk_launch *queue = calloc(capacity, sizeof(*queue));
	if (!queue)
		return false;
	for (size_t i = 0; i < device->queue_count; i++)
		queue[i] = device->queue[(device->queue_head + i) % device->queue_capacity];
	free(device->queue);
	device->queue = queue;
	device->queue_capacity = capacity;
	device->queue_head = 0;
	return true;
}

static void append(struct skrt_stream *stream, struct skrt_instance *instance, const struct skrt_kernel *kernel)
{
	struct skrt_device *device = stream->device;

	device->queue[(device->queue_head + device->queue_count++) % device->queue_capacity] =
		(struct sk_launch){.stream = stream, .instance = instance, .kernel = kernel};
	stream->pending++;
	instance->pending++;
}

/* ---- a lost device ---- */

static void lose(struct skrt_device *device, const char *why)
{
	if (device->lost)
		return;
	device->lost = true;
	snprintf(device->loss, sizeof(device->loss), "%s", why);
}

void sk_stream_lose(struct skrt_device *device, const char *why)
{
	pthread_mutex_lock(&device->lock);
	lose(device, why);
	pthread_mutex_unlock(&device->lock);
}

enum skrt_status sk_stream_check_lost(const struct skrt_device *device)
{
	if (!device->lost)
		return SKRT_OK;
	return sk_report(SKRT_DEVICE_LOST, "the device is lost: %s", device->loss);
}

/* ---- driving ---- */

/* Takes the first launch and runs it, without the lock; then notes how it ended. Nobody else drives meanwhile. */
static void drive(struct skrt_device *device)
{
	struct sk_launch launch = device->queue[device->queue_head];
	struct skrt_stream *stream = launch.stream;
	char error[SK_REPORT_SIZE];
	bool lost = false;

	device->queue_head = (device->queue_head + 1) % device->queue_capacity;
	device->queue_count--;
	/* Behind a failure the stream runs nothing until somebody has been told. */
	if (!stream->status && !device->lost) {
		device->driving = true;
		pthread_mutex_unlock(&device->lock);
		enum skrt_status status = sk_device_run(device, &launch, error, sizeof(error), &lost);
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
	launch.instance->pending--;
	stream->pending--;
	if (stream->pending == 0 && stream->waiting)
		pthread_cond_broadcast(&stream->ended);
}

void *sk_stream_drive(void *context)
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

/* Wakes the device's thread if there is work that nobody does. */
static void hand_over(struct skrt_device *device)
{
	if (device->queue_count && !device->driving)
		pthread_cond_signal(&device->work);
}

/* Drives, or waits for those who do, until nothing is pending on the stream. Returns its failure and clears it. */
static enum skrt_status finish(struct skrt_stream *stream)
{
	struct skrt_device *device = stream->device;
	enum skrt_status status;

	while (stream->pending) {
		if (!device->driving) {
			drive(device);
		} else {
			stream->waiting++;
			pthread_cond_wait(&stream->ended, &device->lock);
			stream->waiting--;
		}
	}
	hand_over(device);
	status = stream->status;
	stream->status = SKRT_OK;
	return status ? sk_report(status, "%s", stream->error) : SKRT_OK;
}

/* ---- streams ---- */

enum skrt_status skrt_stream_create(struct skrt_device *device, struct skrt_stream **result)
{
	if (!device || !result)
		return sk_report_null(__func__);
	struct skrt_stream *stream = calloc(1, sizeof(*stream));
	if (!stream)
		return sk_report(SKRT_OUT_OF_MEMORY, "no memory for a stream");
	stream->device = device;
	pthread_cond_init(&stream->ended, NULL);
	pthread_mutex_lock(&device->lock);
	device->streams++;
	pthread_mutex_unlock(&device->lock);
	*result = stream;
	return SKRT_OK;
}

enum skrt_status skrt_stream_destroy(struct skrt_stream *stream)
{
	if (!stream)
		return SKRT_OK;
	struct skrt_device *device = stream->device;
	pthread_mutex_lock(&device->lock);
	uint64_t pending = stream->pending;
	device->streams -= !pending;
	pthread_mutex_unlock(&device->lock);
	if (pending)
		return sk_report(SKRT_BUSY, "the stream is in use; launches pending: %" PRIu64, pending);
	pthread_cond_destroy(&stream->ended);
	free(stream);
	return SKRT_OK;
}

enum skrt_status skrt_synchronise(struct skrt_stream *stream)
{
	if (!stream)
		return sk_report_null(__func__);
	pthread_mutex_lock(&stream->device->lock);
	enum skrt_status status = finish(stream);
	pthread_mutex_unlock(&stream->device->lock);
	return status;
}

/* ---- launches ---- */

static enum skrt_status check_owners(const struct skrt_stream *stream, const struct skrt_instance *instance)
{
	if (!stream || !instance)
		return sk_report(SKRT_INVALID_ARGUMENT, "a launch needs a stream and an instance; one is null");
	if (stream->device != instance->module->device)
		return sk_report(SKRT_INVALID_ARGUMENT, "%s: stream and instance are not of one device",
				 instance->module->path);
	return SKRT_OK;
}

/* Queues one launch, or with kernel NULL the network. Under the device's lock; the network's kernels are prepared. */
static enum skrt_status enqueue(struct skrt_stream *stream, struct skrt_instance *instance,
				const struct skrt_kernel *kernel)
{
	struct skrt_module *module = instance->module;
	uint32_t count = kernel ? 1 : module->plan.network_launch_count;
	const struct skrt_kernel *first = kernel ? kernel : module->kernels;
	enum skrt_status status = sk_stream_check_lost(stream->device);

	if (status)
		return status;
	for (uint32_t i = 0; i < count; i++) {
		status = sk_instance_ready(instance, &first[i]);
		if (status)
			return status;
	}
	if (!reserve(stream->device, count))
		return sk_report(SKRT_OUT_OF_MEMORY, "%s: no memory for %" PRIu32 " launches", module->path, count);
	for (uint32_t i = 0; i < count; i++)
		append(stream, instance, &first[i]);
	return SKRT_OK;
}

/* Queues, and either waits or sees that somebody drives. */
static enum skrt_status start(struct skrt_stream *stream, struct skrt_instance *instance,
			      const struct skrt_kernel *kernel, bool wait)
{
	struct skrt_device *device = stream->device;

	pthread_mutex_lock(&device->lock);
	enum skrt_status status = enqueue(stream, instance, kernel);
	if (!status && wait)
		status = finish(stream);
	else if (!status)
		hand_over(device);
	pthread_mutex_unlock(&device->lock);
	return status;
}

static enum skrt_status start_kernel(struct skrt_stream *stream, struct skrt_instance *instance,
				     const struct skrt_kernel *kernel, bool wait)
{
	enum skrt_status status = check_owners(stream, instance);

	if (status)
		return status;
	if (!kernel)
		return sk_report(SKRT_INVALID_ARGUMENT, "%s: a launch needs a kernel; it is null",
				 instance->module->path);
	if (kernel->module != instance->module)
		return sk_report(SKRT_INVALID_ARGUMENT, "%s: kernel and instance are not of one module",
				 instance->module->path);
	return start(stream, instance, kernel, wait);
}

static enum skrt_status start_network(struct skrt_stream *stream, struct skrt_instance *instance, bool wait)
{
	enum skrt_status status = check_owners(stream, instance);

	if (!status)
		status = sk_module_prepare_network(instance->module);
	return status ? status : start(stream, instance, NULL, wait);
}

enum skrt_status skrt_launch(struct skrt_stream *stream, struct skrt_instance *instance,
			     const struct skrt_kernel *kernel)
{
	return start_kernel(stream, instance, kernel, false);
}

enum skrt_status skrt_run(struct skrt_stream *stream, struct skrt_instance *instance, const struct skrt_kernel *kernel)
{
	return start_kernel(stream, instance, kernel, true);
}

enum skrt_status skrt_launch_network(struct skrt_stream *stream, struct skrt_instance *instance)
{
	return start_network(stream, instance, false);
}

enum skrt_status skrt_run_network(struct skrt_stream *stream, struct skrt_instance *instance)
{
	return start_network(stream, instance, true);
}
