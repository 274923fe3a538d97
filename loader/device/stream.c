/* Streams, and the commands on them: launches, copies, calls of host functions. */
#include "config.h"

#include "loader/device/device.h"

#include <inttypes.h>
#include <stdlib.h>

#include "format/plan/plan.h"
#include "loader/base/status.h"
#include "loader/core/core.h"
#include "loader/flight/flight.h"
#include "loader/skrt.h"
#include "loader/trace/trace.h"

/* ---- streams ---- */

enum skrt_status skrt_stream_create(struct skrt_device *device, struct skrt_stream **result)
{
	if (!device || !result)
		return sk_fail_null(__func__);
	sk_signals_forget();
	struct skrt_stream *stream = aligned_alloc(SK_LINE, sizeof(*stream));
	if (!stream)
		return sk_fail(SKRT_OUT_OF_MEMORY, "no memory for a stream");
	*stream = (struct skrt_stream){.device = device};
	pthread_cond_init(&stream->ended, NULL);
	enum skrt_status status = sk_device_lock(device);
	if (status) {
		pthread_cond_destroy(&stream->ended);
		free(stream);
		return status;
	}
	device->streams++;
	sk_device_unlock(device);
	*result = stream;
	return SKRT_OK;
}

enum skrt_status skrt_stream_destroy(struct skrt_stream *stream)
{
	if (!stream)
		return SKRT_OK;
	struct skrt_device *device = stream->device;
	enum skrt_status status = sk_device_lock(device);
	if (status)
		return status;
	uint64_t pending = stream->pending;
	device->streams -= !pending;
	sk_device_unlock(device);
	if (pending)
		return sk_fail(SKRT_BUSY, "the stream is in use; pending: %" PRIu64, pending);
	pthread_cond_destroy(&stream->ended);
	free(stream);
	return SKRT_OK;
}

/* Wait until nothing is pending on the stream; return its failure and clear it. Under the device's lock. */
static enum skrt_status finish_stream(struct skrt_stream *stream)
{
	sk_drive_until(stream->device, stream, &stream->pending, &stream->ended);
	enum skrt_status status = stream->status;
	stream->status = SKRT_OK;
	return status ? sk_fail(status, "%s", stream->error) : SKRT_OK;
}

enum skrt_status skrt_synchronise(struct skrt_stream *stream)
{
	if (!stream)
		return sk_fail_null(__func__);
	enum skrt_status status = sk_device_lock(stream->device);
	if (status)
		return status;
	status = finish_stream(stream);
	sk_device_unlock(stream->device);
	return status;
}

enum skrt_status skrt_stream_query(struct skrt_stream *stream)
{
	if (!stream)
		return sk_fail_null(__func__);
	enum skrt_status status = sk_device_lock(stream->device);
	if (status)
		return status;
	uint64_t pending = stream->pending;
	sk_device_unlock(stream->device);
	if (pending)
		return sk_fail(SKRT_NOT_READY, "pending on the stream: %" PRIu64, pending);
	return SKRT_OK;
}

/* ---- copies, calls ---- */

/* Queue one command that has been checked. */
static enum skrt_status enqueue_one(struct skrt_stream *stream, const struct sk_command *command)
{
	struct skrt_device *device = stream->device;
	enum skrt_status status = sk_device_lock(device);

	if (status)
		return status;
	if (sk_queue_reserve(device, 1)) {
		struct sk_command *own = sk_queue_take(device);

		*own = *command;
		sk_queue_append(device, own);
	} else {
		status = sk_fail(SKRT_OUT_OF_MEMORY, "no memory for the queue of a device");
	}
	sk_queue_dispatch(device);
	sk_drive_hand_over(device);
	sk_device_unlock(device);
	return status;
}

enum skrt_status skrt_copy(struct skrt_stream *stream, void *to, const void *from, uint64_t bytes)
{
	if (!stream || ((!to || !from) && bytes))
		return sk_fail_null(__func__);
	return enqueue_one(stream, &(struct sk_command){
					   .kind = SK_COMMAND_COPY,
					   .stream = stream,
					   .copy = {.to = to, .from = from, .bytes = bytes},
				   });
}

enum skrt_status skrt_stream_call(struct skrt_stream *stream, void (*function)(void *context, enum skrt_status status),
				  void *context)
{
	if (!stream || !function)
		return sk_fail_null(__func__);
	return enqueue_one(stream, &(struct sk_command){
					   .kind = SK_COMMAND_CALL,
					   .stream = stream,
					   .call = {.function = function, .context = context},
				   });
}

/* ---- events ---- */

enum skrt_status skrt_event_create(struct skrt_device *device, struct skrt_event **result)
{
	if (!device || !result)
		return sk_fail_null(__func__);
	struct skrt_event *event = calloc(1, sizeof(*event));
	if (!event)
		return sk_fail(SKRT_OUT_OF_MEMORY, "no memory for an event");
	event->device = device;
	pthread_cond_init(&event->reached, NULL);
	enum skrt_status status = sk_device_lock(device);
	if (status) {
		pthread_cond_destroy(&event->reached);
		free(event);
		return status;
	}
	device->events++;
	sk_device_unlock(device);
	*result = event;
	return SKRT_OK;
}

enum skrt_status skrt_event_destroy(struct skrt_event *event)
{
	if (!event)
		return SKRT_OK;
	struct skrt_device *device = event->device;
	enum skrt_status status = sk_device_lock(device);
	if (status)
		return status;
	uint64_t pending = event->pending;
	device->events -= !pending;
	sk_device_unlock(device);
	if (pending)
		return sk_fail(SKRT_BUSY, "the event is in use; it has not been reached");
	pthread_cond_destroy(&event->reached);
	free(event);
	return SKRT_OK;
}

static enum skrt_status check_one_device(const struct skrt_stream *stream, const struct skrt_event *event,
					 const char *function)
{
	if (!stream || !event)
		return sk_fail_null(function);
	if (stream->device != event->device)
		return sk_fail(SKRT_INVALID_ARGUMENT, "stream and event are not of one device");
	return SKRT_OK;
}

enum skrt_status skrt_event_record(struct skrt_event *event, struct skrt_stream *stream)
{
	enum skrt_status status = check_one_device(stream, event, __func__);

	if (status)
		return status;
	return enqueue_one(stream,
			   &(struct sk_command){.kind = SK_COMMAND_RECORD, .stream = stream, .event.event = event});
}

/* An event with all records reached delays nothing, even if it is recorded again later. */
enum skrt_status skrt_stream_wait(struct skrt_stream *stream, struct skrt_event *event)
{
	enum skrt_status status = check_one_device(stream, event, __func__);

	if (status || !atomic_load(&event->pending))
		return status;
	return enqueue_one(stream,
			   &(struct sk_command){.kind = SK_COMMAND_WAIT, .stream = stream, .event.event = event});
}

enum skrt_status skrt_event_query(struct skrt_event *event)
{
	if (!event)
		return sk_fail_null(__func__);
	enum skrt_status status = sk_device_lock(event->device);
	if (status)
		return status;
	uint64_t pending = event->pending;
	sk_device_unlock(event->device);
	return pending ? sk_fail(SKRT_NOT_READY, "the event has not been reached") : SKRT_OK;
}

enum skrt_status skrt_event_synchronise(struct skrt_event *event)
{
	if (!event)
		return sk_fail_null(__func__);
	enum skrt_status status = sk_device_lock(event->device);
	if (status)
		return status;
	sk_drive_until(event->device, NULL, &event->pending, &event->reached);
	sk_device_unlock(event->device);
	return SKRT_OK;
}

enum skrt_status skrt_event_elapsed(struct skrt_event *start, struct skrt_event *end, double *seconds)
{
	if (!start || !end || !seconds)
		return sk_fail_null(__func__);
	if (start->device != end->device)
		return sk_fail(SKRT_INVALID_ARGUMENT, "the events are not of one device");
	enum skrt_status status = sk_device_lock(start->device);
	if (status)
		return status;
	bool ready = start->time && end->time && !start->pending && !end->pending;
	double elapsed = (double)(end->time - start->time) * 1e-9;
	sk_device_unlock(start->device);
	if (!ready)
		return sk_fail(SKRT_NOT_READY, "an event has not been reached, or was never recorded");
	*seconds = elapsed;
	return SKRT_OK;
}

/* ---- launches ---- */

static enum skrt_status check_owners(const struct skrt_stream *stream, const struct skrt_instance *instance)
{
	if (!stream || !instance)
		return sk_fail(SKRT_INVALID_ARGUMENT, "a launch needs a stream and an instance; one is null");
	if (stream->device != instance->module->device)
		return sk_fail(SKRT_INVALID_ARGUMENT, "%s: stream and instance are not of one device",
			       instance->module->path);
	return sk_process_check(&stream->device->process);
}

/* Consecutive launches of the plan. */
struct stretch {
	uint32_t first, end;
};

/* Return the launches to queue: for a network all of them; for a kernel it, and earlier ones that run once. */
static struct stretch find_stretch(const struct skrt_instance *instance, const struct skrt_kernel *kernel)
{
	if (!kernel)
		return (struct stretch){instance->network.first_launch,
					instance->network.first_launch + instance->network.launch_count};
	return (struct stretch){sk_once_first(instance, kernel->launch), kernel->launch + 1};
}

/* Return whether the launch is to be queued: one that runs once, and has run, is not. */
static bool is_wanted(const struct skrt_instance *instance, const struct skrt_kernel *kernel, uint32_t launch)
{
	if (kernel && launch != kernel->launch)
		return sk_once_is_due(instance, launch);
	return !sk_once_is_done(instance, launch);
}

/* Prepare the launches to be queued, and count them. */
static enum skrt_status make_ready(struct skrt_instance *instance, const struct skrt_kernel *kernel,
				   const struct stretch *stretch, uint32_t *count)
{
	struct skrt_module *module = instance->module;
	enum skrt_status status = SKRT_OK;

	*count = 0;
	for (uint32_t i = stretch->first; i < stretch->end && !status; i++) {
		const struct skrt_kernel *wanted = kernel ? kernel : sk_module_prepared(module, i);

		if (!is_wanted(instance, kernel, i))
			continue;
		if (kernel && i != kernel->launch)
			status = sk_module_prepare(module, i, &wanted);
		if (!status && module->device->trace)
			status = sk_trace_check(wanted);
		if (!status && wanted != kernel)
			status = sk_instance_ready(instance, wanted);
		++*count;
	}
	return status;
}

/* The most common case is one stream, for which a division would take longer than all other work. */
static struct skrt_stream *choose_stream(struct skrt_stream *const *streams, uint32_t count, uint32_t number)
{
	return streams[count == 1 ? 0 : number % count];
}

/* There must be room. */
static void append_launch(struct skrt_stream *stream, struct skrt_instance *instance, const struct skrt_kernel *kernel)
{
	struct sk_command *command = sk_queue_take(stream->device);

	command->kind = SK_COMMAND_LAUNCH;
	command->stream = stream;
	command->launch.instance = instance;
	command->launch.kernel = kernel;
	sk_queue_append(stream->device, command);
}

static enum skrt_status reserve_launches(const struct skrt_module *module, uint32_t count)
{
	if (sk_queue_reserve(module->device, count))
		return SKRT_OK;
	return sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory for %" PRIu32 " launches", module->path, count);
}

/* Queue the kernel's launch, which is ready, and before which no launch is due: nearly all are like this. */
static enum skrt_status enqueue_kernel(struct skrt_stream *stream, struct skrt_instance *instance,
				       const struct skrt_kernel *kernel)
{
	enum skrt_status status = stream->device->trace ? sk_trace_check(kernel) : SKRT_OK;

	if (status || sk_once_is_done(instance, kernel->launch))
		return status;
	status = reserve_launches(kernel->module, 1);
	if (status)
		return status;
	append_launch(stream, instance, kernel);
	sk_queue_dispatch(stream->device);
	return SKRT_OK;
}

/* Queue one launch, or with kernel NULL the network, each launch on its stream. Under the device's lock; the network's
 * kernels are prepared. */
static enum skrt_status enqueue(struct skrt_stream *const *streams, uint32_t stream_count,
				struct skrt_instance *instance, const struct skrt_kernel *kernel)
{
	struct skrt_module *module = instance->module;
	struct skrt_device *device = module->device;
	struct stretch stretch;
	uint32_t count;
	enum skrt_status status = sk_queue_check_lost(device);

	if (!status && kernel) /* makes the workspace, which records the launches that have run */
		status = sk_instance_ready(instance, kernel);
	if (status)
		return status;
	stretch = find_stretch(instance, kernel);
	if (kernel && stretch.first == kernel->launch)
		return enqueue_kernel(streams[0], instance, kernel);
	status = make_ready(instance, kernel, &stretch, &count);
	if (!status)
		status = reserve_launches(module, count);
	if (status)
		return status;
	for (uint32_t i = stretch.first; i < stretch.end; i++)
		if (is_wanted(instance, kernel, i))
			append_launch(
				choose_stream(streams, stream_count, sk_plan_form(&module->plan.launches[i])->stream),
				instance, sk_module_prepared(module, i));
	sk_queue_dispatch(device);
	return SKRT_OK;
}

/* Queue, and either wait or make sure that a thread drives. */
static enum skrt_status start(struct skrt_stream *stream, struct skrt_instance *instance,
			      const struct skrt_kernel *kernel, bool wait)
{
	struct skrt_device *device = stream->device;

	enum skrt_status status = sk_device_lock(device);
	if (status)
		return status;
	status = enqueue(&stream, 1, instance, kernel);
	if (!status && wait)
		status = finish_stream(stream);
	else if (!status)
		sk_drive_hand_over(device);
	sk_device_unlock(device);
	return status;
}

static enum skrt_status start_kernel(struct skrt_stream *stream, struct skrt_instance *instance,
				     const struct skrt_kernel *kernel, bool wait)
{
	enum skrt_status status = check_owners(stream, instance);

	if (status)
		return status;
	if (!kernel)
		return sk_fail(SKRT_INVALID_ARGUMENT, "%s: a launch needs a kernel; it is null",
			       instance->module->path);
	if (kernel->module != instance->module)
		return sk_fail(SKRT_INVALID_ARGUMENT, "%s: kernel and instance are not of one module",
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

enum skrt_status skrt_launch_network_on(struct skrt_stream *const *streams, uint32_t count,
					struct skrt_instance *instance)
{
	enum skrt_status status = SKRT_OK;

	if (!streams || !count)
		return sk_fail_null(__func__);
	for (uint32_t i = 0; i < count && !status; i++)
		status = check_owners(streams[i], instance);
	if (!status)
		status = sk_module_prepare_network(instance->module);
	if (status)
		return status;

	struct skrt_device *device = instance->module->device;

	status = sk_device_lock(device);
	if (status)
		return status;
	status = enqueue(streams, count, instance, NULL);
	sk_drive_hand_over(device);
	sk_device_unlock(device);
	return status;
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
