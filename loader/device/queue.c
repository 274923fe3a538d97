/* The commands queued on a device's streams, and the choice of those to start. Streams with a first command that could
 * start wait in one list, in the order of the calls; each event that makes a start possible goes through it once. A
 * launch without enough cores reserves its lanes there, so that no later command overtakes it.
 *
 * Other commands need no cores: records of events are made, and waits for them passed, right here; copies and calls are
 * errands (drive.c). */
#include "config.h"

#include "loader/device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/skplan.h"
#include "loader/base/status.h"
#include "loader/flight/flight.h"
#include "loader/skrt.h"

/* ---- commands; all under the device's lock ---- */

bool sk_queue_reserve(struct skrt_device *device, uint64_t count)
{
	while (device->unused_count < count) {
		struct sk_command *command = aligned_alloc(SK_LINE, sizeof(*command));

		if (!command)
			return false;
		command->next = device->unused;
		device->unused = command;
		device->unused_count++;
	}
	return true;
}

static void append_command(struct sk_commands *commands, struct sk_command *command)
{
	command->next = NULL;
	if (commands->first)
		commands->last->next = command;
	else
		commands->first = command;
	commands->last = command;
}

static struct sk_command *take_first(struct sk_commands *commands)
{
	struct sk_command *command = commands->first;

	commands->first = command->next;
	return command;
}

/* Put the stream, of which nothing runs, into the list of those that wait for a start. */
static void make_ready(struct skrt_device *device, struct skrt_stream *stream)
{
	struct skrt_stream **link = &device->ready;

	while (*link && (*link)->commands.first->number < stream->commands.first->number)
		link = &(*link)->next;
	stream->next = *link;
	*link = stream;
}

/* ---- a lost device ---- */

static void lose(struct skrt_device *device, const char *reason)
{
	if (device->lost)
		return;
	device->lost = true;
	snprintf(device->loss, sizeof(device->loss), "%s", reason);
}

void sk_queue_lose(struct skrt_device *device, const char *reason)
{
	pthread_mutex_lock(&device->lock);
	lose(device, reason);
	pthread_mutex_unlock(&device->lock);
}

enum skrt_status sk_queue_check_lost(const struct skrt_device *device)
{
	if (!device->lost)
		return SKRT_OK;
	return sk_fail(SKRT_DEVICE_LOST, "the device is lost: %s", device->loss);
}

/* ---- from queueing to the end ---- */

struct sk_command *sk_queue_take(struct skrt_device *device)
{
	struct sk_command *command = device->unused;

	device->unused = command->next;
	device->unused_count--;
	return command;
}

void sk_queue_append(struct skrt_device *device, struct sk_command *command)
{
	struct skrt_stream *stream = command->stream;

	command->number = sk_count(&device->queued, 1) - 1;
	device->pending++;
	if (command->kind == SK_COMMAND_LAUNCH) {
		sk_turn_enter_instance(command);
		sk_turn_enter_exchange(command);
	}
	if (command->kind == SK_COMMAND_RECORD || command->kind == SK_COMMAND_WAIT)
		sk_turn_enter_event(command);
	append_command(&stream->commands, command);
	if (sk_count(&stream->pending, 1) == 1)
		make_ready(device, stream);
}

/* End the command: the stream's next one may start. */
static void finish_command(struct skrt_device *device, struct sk_command *command)
{
	struct skrt_stream *stream = command->stream;

	if (command->kind == SK_COMMAND_LAUNCH) {
		sk_turn_leave_instance(command);
		sk_turn_leave_exchange(command);
	}
	if (command->kind == SK_COMMAND_RECORD)
		sk_turn_reach(command);
	command->next = device->unused;
	device->unused = command;
	device->unused_count++;
	device->pending--;
	if (sk_count(&stream->pending, -1) == 0)
		pthread_cond_broadcast(&stream->ended);
	else
		make_ready(device, stream);
}

/* Mark the stream, and the run through the network, of a launch that has failed, or was skipped after a failure. */
static void fail_command(struct sk_command *command, enum skrt_status status, const char *error)
{
	struct skrt_stream *stream = command->stream;
	struct skrt_instance *instance = command->launch.instance;

	if (instance->failed_run != command->launch.run) {
		instance->failed_run = command->launch.run;
		instance->failure = status;
		memcpy(instance->error, error, sizeof(instance->error));
	}
	if (stream->status)
		return;
	stream->status = status;
	memcpy(stream->error, error, sizeof(stream->error));
}

/* After a failure a stream runs nothing until the failure has been reported; but callbacks are called with it, and
 * events are reached. A launch is also skipped if its run through the network has failed on another stream. */
static bool is_skipped(const struct skrt_device *device, struct sk_command *command)
{
	const struct skrt_instance *instance = command->launch.instance;

	if (command->kind == SK_COMMAND_COPY)
		return command->stream->status;
	if (command->kind != SK_COMMAND_LAUNCH)
		return false;
	if (command->stream->status)
		fail_command(command, command->stream->status, command->stream->error);
	else if (instance->failed_run == command->launch.run)
		fail_command(command, instance->failure, instance->error);
	return command->stream->status || device->lost;
}

/* ---- starting ---- */

enum outcome { WAITS, RUNS, ENDED };

static bool has_steps(const struct skrt_kernel *kernel)
{
	for (uint32_t i = 0; i < SK_MAX_LANES; i++)
		if (kernel->lane_steps[i])
			return true;
	return false;
}

static enum outcome start_launch(struct skrt_device *device, struct sk_command *command, bool reserved[SK_MAX_LANES])
{
	char error[SK_ERROR_SIZE];

	if (device->holding || !sk_turn_has_come(command) || !sk_turn_may_exchange(device, command) ||
	    !sk_turn_shares_nothing(device, command))
		return WAITS;
	if (is_skipped(device, command) || !has_steps(command->launch.kernel) ||
	    sk_once_is_done(command->launch.instance, command->launch.kernel->launch))
		return ENDED;

	struct sk_flight *flight = sk_flight_find(device, command->launch.kernel, reserved);

	if (!flight)
		return WAITS;

	enum skrt_status status = sk_flight_start(flight, command, error, sizeof(error));

	if (status)
		fail_command(command, status, error);
	return status ? ENDED : RUNS;
}

static enum outcome start(struct skrt_device *device, struct sk_command *command, bool reserved[SK_MAX_LANES])
{
	switch (command->kind) {
	case SK_COMMAND_LAUNCH:
		return start_launch(device, command, reserved);
	case SK_COMMAND_RECORD:
		return ENDED;
	case SK_COMMAND_WAIT:
		return command->event.event ? WAITS : ENDED;
	default:
		return is_skipped(device, command) ? ENDED : RUNS;
	}
}

void sk_queue_dispatch(struct skrt_device *device)
{
	struct skrt_stream **link = &device->ready;
	bool reserved[SK_MAX_LANES] = {false};

	if (!*link)
		return;
	/* Count the dispatch as in flight. Otherwise a flight that waits for another launch could conclude that it is
	 * alone, and stuck, before all have started. */
	sk_count(&device->in_flight, 1);
	while (*link) {
		struct skrt_stream *stream = *link;
		struct sk_command *command = stream->commands.first;
		enum outcome outcome = start(device, command, reserved);

		if (outcome == WAITS) {
			link = &stream->next;
			continue;
		}
		*link = stream->next;
		take_first(&stream->commands);
		/* The stream's next command was queued later, so its place in the list is after this one. */
		if (outcome == ENDED)
			finish_command(device, command);
		else if (command->kind != SK_COMMAND_LAUNCH)
			append_command(&device->errands, command);
	}
	sk_count(&device->in_flight, -1);
}

/* ---- ended commands ---- */

void sk_queue_end(struct skrt_device *device, struct sk_command *command)
{
	finish_command(device, command);
	sk_queue_dispatch(device);
}

void sk_queue_end_launch(struct skrt_device *device, struct sk_command *command, enum skrt_status status,
			 const char *error, bool lost)
{
	if (lost)
		lose(device, error);
	if (status)
		fail_command(command, status, error);
	else
		sk_once_end(command->launch.instance, command->launch.kernel->launch);
	sk_queue_end(device, command);
}
