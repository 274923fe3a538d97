/* What has been queued on a device's streams, and what of it starts when. Streams whose first command could start wait
 * in one list, in the order of the calls: whatever makes a start possible goes through it once. A launch for which
 * there are no cores reserves its lanes there, so that nothing that was queued later gets in front of it.
 *
 * What is not a launch needs no cores: marks of events are made, and waits for them passed, right here; copies and
 * calls are errands for the next thread that has nothing better to do. Such threads are those that wait for a stream or
 * an event, and the device's own, which queueing wakes; one of them at a time drives, that is, is the first worker. */
#include "config.h"

#include "loader/device/queue.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/base/clock.h"
#include "loader/device/flights.h"
#include "loader/device/worker.h"
#include "loader/flight/instance.h"
#include "loader/flight/kernel.h"
#include "loader/flight/module.h"

/* ---- commands; all under the device's lock ---- */

bool sk_queue_reserve(struct skrt_device *device, uint64_t count)
{
	while (device->unused_count < count) {
		struct sk_command *command = malloc(sizeof(*command));

		if (!command)
			return false;
		command->next = device->unused;
		device->unused = command;
		device->unused_count++;
	}
	return true;
}

static void append(struct sk_commands *commands, struct sk_command *command)
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

/* The stream, which has nothing running, waits for its first command to start. */
static void make_ready(struct skrt_device *device, struct skrt_stream *stream)
{
	struct skrt_stream **link = &device->ready;

	while (*link && (*link)->commands.first->number < stream->commands.first->number)
		link = &(*link)->next;
	stream->next = *link;
	*link = stream;
}

/* ---- the order within an instance ---- */

/* Launches that come in the plan's order are one run through the network. */
static void enter_instance(struct sk_command *command)
{
	struct skrt_instance *instance = command->launch.instance;
	const struct skrt_kernel *kernel = command->launch.kernel;
	bool in_network = kernel->launch < kernel->module->plan.network_launch_count;

	if (!instance->first || !in_network || kernel->launch < instance->next_launch)
		instance->run++;
	instance->next_launch = in_network ? kernel->launch + 1 : UINT32_MAX;
	command->launch.run = instance->run;
	command->launch.before = instance->last;
	command->launch.behind = NULL;
	if (instance->last)
		instance->last->launch.behind = command;
	else
		instance->first = command;
	instance->last = command;
	instance->pending++;
}

static void leave_instance(struct sk_command *command)
{
	struct skrt_instance *instance = command->launch.instance;
	struct sk_command *before = command->launch.before, *behind = command->launch.behind;

	*(before ? &before->launch.behind : &instance->first) = behind;
	*(behind ? &behind->launch.before : &instance->last) = before;
	if (command->launch.kernel->launch < instance->module->plan.network_launch_count)
		instance->ended[command->launch.kernel->launch] = command->launch.run;
	instance->pending--;
}

/* Whether all that it follows in its instance has ended. Where a launch that the plan says is not there, as in a run
 * that leaves it out, nothing says which of those before it that one follows: so all must have ended. */
static bool is_its_turn(const struct sk_command *command)
{
	const struct skrt_instance *instance = command->launch.instance;
	const struct sk_plan_view *plan = &instance->module->plan;
	const struct sk_plan_launch *record = &plan->launches[command->launch.kernel->launch];

	if (instance->first == command)
		return true;
	if (instance->first->launch.run != command->launch.run)
		return false;
	for (uint32_t i = 0; i < record->follow_count; i++)
		if (instance->ended[plan->follows[record->first_follow + i]] < command->launch.run)
			return false;
	return true;
}

/* Of launches of different instances. All modules of a plan share its kernels' hidden state, and all packages what the
 * C library keeps. */
static bool share_state(const struct skrt_kernel *kernel, const struct skrt_kernel *other)
{
	uint32_t common = sk_kernel_states(kernel) & sk_kernel_states(other);

	if (other->module->plan.plan != kernel->module->plan.plan)
		common &= ~(uint32_t)SK_STATES_OWN;
	return common & (SK_STATES_OWN | SK_STATES_LIBRARY);
}

/* Instances share what blocks of a kernel say to each other, and hidden state. */
static bool shares_nothing(const struct skrt_device *device, const struct sk_command *command)
{
	const struct skrt_kernel *kernel = command->launch.kernel;
	uint32_t left = device->flight_count;

	for (uint32_t i = 0; left > 0; i++) {
		const struct sk_flight *other = device->flights[i];

		if (!other || !other->command)
			continue;
		left--;
		if (other->kernel == kernel && kernel->block_count)
			return false;
		if (other->instance != command->launch.instance && share_state(kernel, other->kernel))
			return false;
	}
	return true;
}

/* ---- events ---- */

static void enter_event(struct sk_command *command)
{
	struct skrt_event *event = command->event.event;

	command->event.behind = NULL;
	if (command->kind == SK_COMMAND_RECORD) {
		command->event.record = ++event->recorded;
		if (event->records.first)
			event->records.last->event.behind = command;
		else
			event->records.first = command;
		event->records.last = command;
		sk_count(&event->pending, 1);
	} else if (!event->pending) {
		command->event.event = NULL;
	} else {
		command->event.record = event->recorded;
		command->event.behind = event->waits;
		event->waits = command;
	}
}

/* The record has been reached; and with it whatever waited for no later one that is pending. */
static void reach(struct sk_command *record)
{
	struct skrt_event *event = record->event.event;
	struct sk_command **link = &event->records.first, *before = NULL;

	for (; *link != record; link = &(*link)->event.behind)
		before = *link;
	*link = record->event.behind;
	if (event->records.last == record)
		event->records.last = before;
	event->time = sk_now();
	for (link = &event->waits; *link;) {
		struct sk_command *wait = *link;

		if (event->records.first && event->records.first->event.record <= wait->event.record) {
			link = &wait->event.behind;
			continue;
		}
		*link = wait->event.behind;
		wait->event.event = NULL;
	}
	if (sk_count(&event->pending, -1) == 0)
		pthread_cond_broadcast(&event->reached);
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
	return sk_fail(SKRT_DEVICE_LOST, "the device is lost: %s", device->loss);
}

/* ---- from queueing to the end ---- */

void sk_queue_append(struct skrt_device *device, const struct sk_command *given)
{
	struct sk_command *command = device->unused;
	struct skrt_stream *stream = given->stream;

	device->unused = command->next;
	device->unused_count--;
	*command = *given;
	command->number = device->queued++;
	device->pending++;
	if (command->kind == SK_COMMAND_LAUNCH)
		enter_instance(command);
	if (command->kind == SK_COMMAND_RECORD || command->kind == SK_COMMAND_WAIT)
		enter_event(command);
	append(&stream->commands, command);
	if (sk_count(&stream->pending, 1) == 1)
		make_ready(device, stream);
}

/* The command has ended: the stream's next one may start. */
static void finish(struct skrt_device *device, struct sk_command *command)
{
	struct skrt_stream *stream = command->stream;

	if (command->kind == SK_COMMAND_LAUNCH)
		leave_instance(command);
	if (command->kind == SK_COMMAND_RECORD)
		reach(command);
	command->next = device->unused;
	device->unused = command;
	device->unused_count++;
	device->pending--;
	if (sk_count(&stream->pending, -1) == 0)
		pthread_cond_broadcast(&stream->ended);
	else
		make_ready(device, stream);
}

/* A launch has failed, or is skipped behind a failure: so have its stream, and its run through the network. */
static void fail(struct sk_command *command, enum skrt_status status, const char *error)
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

/* Behind a failure a stream runs nothing until somebody has been told; but callbacks hear of it, and events happen. A
 * launch of a run through the network that has failed on another stream has nothing to go on with, either. */
static bool is_skipped(const struct skrt_device *device, struct sk_command *command)
{
	const struct skrt_instance *instance = command->launch.instance;

	if (command->kind == SK_COMMAND_COPY)
		return command->stream->status;
	if (command->kind != SK_COMMAND_LAUNCH)
		return false;
	if (command->stream->status)
		fail(command, command->stream->status, command->stream->error);
	else if (instance->failed_run == command->launch.run)
		fail(command, instance->failure, instance->error);
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

	if (device->holding || !is_its_turn(command) || !shares_nothing(device, command))
		return WAITS;
	if (is_skipped(device, command) || !has_steps(command->launch.kernel))
		return ENDED;
	if (!sk_flight_has_room(device, command->launch.kernel, reserved))
		return WAITS;

	enum skrt_status status = sk_flight_start(device, command, error, sizeof(error));

	if (status)
		fail(command, status, error);
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

	/* Who waits for what another launch says must not take itself for alone before all have started. */
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
		/* What comes next on the stream was queued later, and so stands behind this place in the list. */
		if (outcome == ENDED)
			finish(device, command);
		else if (command->kind != SK_COMMAND_LAUNCH)
			append(&device->errands, command);
	}
	sk_count(&device->in_flight, -1);
}

/* ---- the end of a flight ---- */

static bool may_drive(const struct skrt_device *device)
{
	return !device->driving && sk_worker_has_posts(&device->workers[0]);
}

void sk_queue_hand_over(struct skrt_device *device)
{
	/* Who drives and has no cores to play does the errands; else the device's thread or, if that drives, who waits.
	 */
	bool errands = device->errands.first && (!device->driving || device->workers[0].load);

	if (may_drive(device) || errands)
		pthread_cond_signal(&device->work);
	for (struct sk_command *command = errands ? device->errands.first : NULL; command; command = command->next)
		pthread_cond_broadcast(&command->stream->ended);
}

/* The last worker has left the flight. Begins without the lock and ends with it. */
static void complete(struct sk_flight *flight)
{
	struct skrt_device *device = flight->device;
	char error[SK_ERROR_SIZE];
	bool lost = false;
	enum skrt_status status = sk_flight_result(flight, error, sizeof(error), &lost);

	pthread_mutex_lock(&device->lock);

	struct sk_command *command = flight->command;

	sk_flight_end(flight, status == SKRT_OK);
	if (lost)
		lose(device, error);
	if (status)
		fail(command, status, error);
	finish(device, command);
	sk_queue_dispatch(device);
	sk_count(&device->in_flight, -1);
	sk_queue_hand_over(device);
}

void sk_queue_complete(struct sk_flight *flight)
{
	struct skrt_device *device = flight->device;

	complete(flight);
	pthread_mutex_unlock(&device->lock);
}

/* ---- those who have nothing better to do ---- */

/* The first errand, or the first one of the stream. NULL: there is none. */
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

/* False: there was none. */
static bool run_errand(struct skrt_device *device, const struct skrt_stream *stream)
{
	struct sk_command *command = take_errand(device, stream);

	if (!command)
		return false;

	enum skrt_status status = command->stream->status;

	pthread_mutex_unlock(&device->lock);
	if (command->kind == SK_COMMAND_CALL)
		command->call.function(command->call.context, status);
	else if (command->copy.bytes) /* else the addresses may be null */
		memmove(command->copy.to, command->copy.from, command->copy.bytes);
	pthread_mutex_lock(&device->lock);
	finish(device, command);
	sk_queue_dispatch(device);
	return true;
}

/* A caller that the scheduler has put on a worker's processor would share it with that worker, and each would wait for
 * the other's time slice. It steps over to the first processor, where no worker is pinned; afterwards it may be moved
 * as freely as before. A caller that is bound elsewhere stays there. */
static void leave_workers_processors(const struct skrt_device *device)
{
	uint32_t workers = atomic_load(&device->worker_count);
	int processor = workers > 1 ? sched_getcpu() : -1;
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

/* As the first worker, until it has nothing to do, or *wanted is 0 and it has left what it has begun. */
static void drive(struct skrt_device *device, const _Atomic uint64_t *wanted)
{
	struct sk_worker *worker = &device->workers[0];

	device->driving = true;
	worker->wanted = wanted;
	sk_watch_drive(device, true);
	pthread_mutex_unlock(&device->lock);
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
}

void *sk_queue_work(void *context)
{
	struct skrt_device *device = context;

	pthread_mutex_lock(&device->lock);
	while (!device->stopping) {
		if (may_drive(device))
			drive(device, NULL);
		else if (!run_errand(device, NULL))
			pthread_cond_wait(&device->work, &device->lock);
	}
	pthread_mutex_unlock(&device->lock);
	return NULL;
}

/* Whether something is posted to the first worker that the thread waits for. One that waits for an event (stream NULL)
 * takes whatever comes. While nobody drives, posts are only added. */
static bool may_help(const struct skrt_device *device, const struct skrt_stream *stream)
{
	const struct sk_part *post = device->driving ? NULL : atomic_load(&device->workers[0].mailbox.posts);

	while (post && stream && post->flight->command->stream != stream)
		post = post->next;
	return post;
}

void sk_queue_finish(struct skrt_device *device, const struct skrt_stream *stream, const _Atomic uint64_t *pending,
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
		sk_queue_hand_over(device);
		if (!spin) {
			pthread_cond_wait(ended, &device->lock);
			continue;
		}
		/* What others play may end soon. Whatever happens meanwhile is seen before sleeping. */
		pthread_mutex_unlock(&device->lock);
		sk_worker_spin(pending);
		pthread_mutex_lock(&device->lock);
		spin = false;
	}
	sk_queue_hand_over(device);
}
