/* What has been queued on a device's streams, and what of it starts when. Streams whose first work could start wait in
 * one list, in the order of the calls: whatever makes a start possible goes through it once. A launch for which there
 * are no cores reserves its lanes there, so that nothing that was queued later gets in front of it.
 *
 * What is not a launch needs no cores: marks of events are made, and waits for them passed, right here; copies and
 * calls are errands for the next thread that has nothing better to do. Such threads are those that wait for a stream or
 * an event, and the device's own, which queueing wakes; one of them at a time drives, that is, is the first player. */
#include "config.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/device/device.h"

/* ---- works; all under the device's lock ---- */

bool sk_queue_reserve(struct skrt_device *device, uint64_t count)
{
	while (device->unused_count < count) {
		struct sk_work *work = malloc(sizeof(*work));

		if (!work)
			return false;
		work->next = device->unused;
		device->unused = work;
		device->unused_count++;
	}
	return true;
}

static void append(struct sk_works *works, struct sk_work *work)
{
	work->next = NULL;
	if (works->first)
		works->last->next = work;
	else
		works->first = work;
	works->last = work;
}

static struct sk_work *take_first(struct sk_works *works)
{
	struct sk_work *work = works->first;

	works->first = work->next;
	return work;
}

/* The stream, which has nothing running, waits for its first work to start. */
static void make_ready(struct skrt_device *device, struct skrt_stream *stream)
{
	struct skrt_stream **link = &device->ready;

	while (*link && (*link)->works.first->number < stream->works.first->number)
		link = &(*link)->next;
	stream->next = *link;
	*link = stream;
}

/* ---- the order within an instance ---- */

/* Which launches before this one it follows. Launches that come in the plan's order are one run through the network,
 * and in one run a launch follows those that the plan says, if all of them are there. */
static void enter_instance(struct sk_work *work)
{
	struct skrt_instance *instance = work->launch.instance;
	const struct skrt_kernel *kernel = work->launch.kernel;
	const struct sk_plan_view *plan = &kernel->module->plan;
	const struct sk_plan_launch *record = &plan->launches[kernel->launch];
	bool in_network = kernel->launch < plan->network_launch_count;

	if (!instance->first || !in_network || kernel->launch < instance->next_launch)
		instance->run++;
	instance->next_launch = in_network ? kernel->launch + 1 : UINT32_MAX;
	work->launch.run = instance->run;
	work->launch.alone = !in_network;
	for (uint32_t i = 0; i < record->follow_count && !work->launch.alone; i++) {
		uint32_t follow = plan->follows[record->first_follow + i];

		work->launch.alone = follow >= kernel->launch || instance->queued[follow] != instance->run;
	}
	if (in_network)
		instance->queued[kernel->launch] = instance->run;
	work->launch.before = instance->last;
	work->launch.behind = NULL;
	if (instance->last)
		instance->last->launch.behind = work;
	else
		instance->first = work;
	instance->last = work;
	instance->pending++;
}

static void leave_instance(struct sk_work *work)
{
	struct skrt_instance *instance = work->launch.instance;
	struct sk_work *before = work->launch.before, *behind = work->launch.behind;

	*(before ? &before->launch.behind : &instance->first) = behind;
	*(behind ? &behind->launch.before : &instance->last) = before;
	if (work->launch.kernel->launch < instance->module->plan.network_launch_count)
		instance->ended[work->launch.kernel->launch] = work->launch.run;
	instance->pending--;
}

/* Whether all that it follows in its instance has ended. */
static bool is_its_turn(const struct sk_work *work)
{
	const struct skrt_instance *instance = work->launch.instance;
	const struct sk_plan_view *plan = &instance->module->plan;
	const struct sk_plan_launch *record = &plan->launches[work->launch.kernel->launch];

	if (instance->first == work)
		return true;
	if (work->launch.alone || instance->first->launch.run != work->launch.run)
		return false;
	for (uint32_t i = 0; i < record->follow_count; i++)
		if (instance->ended[plan->follows[record->first_follow + i]] < work->launch.run)
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
static bool shares_nothing(const struct skrt_device *device, const struct sk_work *work)
{
	const struct skrt_kernel *kernel = work->launch.kernel;
	uint32_t left = device->launch_count;

	for (uint32_t i = 0; left > 0; i++) {
		const struct sk_launch *other = device->launches[i];

		if (!other || !other->work)
			continue;
		left--;
		if (other->kernel == kernel && kernel->block_count)
			return false;
		if (other->instance != work->launch.instance && share_state(kernel, other->kernel))
			return false;
	}
	return true;
}

/* ---- events ---- */

static void enter_event(struct sk_work *work)
{
	struct skrt_event *event = work->event.event;

	work->event.behind = NULL;
	if (work->kind == SK_WORK_RECORD) {
		work->event.record = ++event->recorded;
		if (event->records.first)
			event->records.last->event.behind = work;
		else
			event->records.first = work;
		event->records.last = work;
		sk_count(&event->pending, 1);
	} else if (!event->pending) {
		work->event.event = NULL;
	} else {
		work->event.record = event->recorded;
		work->event.behind = event->waits;
		event->waits = work;
	}
}

/* The record has been reached; and with it whatever waited for no later one that is pending. */
static void reach(struct sk_work *record)
{
	struct skrt_event *event = record->event.event;
	struct sk_work **link = &event->records.first, *before = NULL;

	for (; *link != record; link = &(*link)->event.behind)
		before = *link;
	*link = record->event.behind;
	if (event->records.last == record)
		event->records.last = before;
	event->time = sk_now();
	for (link = &event->waits; *link;) {
		struct sk_work *wait = *link;

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
	return sk_report(SKRT_DEVICE_LOST, "the device is lost: %s", device->loss);
}

/* ---- from queueing to the end ---- */

void sk_queue_append(struct skrt_device *device, const struct sk_work *given)
{
	struct sk_work *work = device->unused;
	struct skrt_stream *stream = given->stream;

	device->unused = work->next;
	device->unused_count--;
	*work = *given;
	work->number = device->queued++;
	device->pending++;
	if (work->kind == SK_WORK_LAUNCH)
		enter_instance(work);
	if (work->kind == SK_WORK_RECORD || work->kind == SK_WORK_WAIT)
		enter_event(work);
	append(&stream->works, work);
	if (sk_count(&stream->pending, 1) == 1)
		make_ready(device, stream);
}

/* The work has ended: the stream's next one may start. */
static void finish(struct skrt_device *device, struct sk_work *work)
{
	struct skrt_stream *stream = work->stream;

	if (work->kind == SK_WORK_LAUNCH)
		leave_instance(work);
	if (work->kind == SK_WORK_RECORD)
		reach(work);
	work->next = device->unused;
	device->unused = work;
	device->unused_count++;
	device->pending--;
	if (sk_count(&stream->pending, -1) == 0)
		pthread_cond_broadcast(&stream->ended);
	else
		make_ready(device, stream);
}

/* A launch has failed, or is skipped behind a failure: so have its stream, and its run through the network. */
static void fail(struct sk_work *work, enum skrt_status status, const char *error)
{
	struct skrt_stream *stream = work->stream;
	struct skrt_instance *instance = work->launch.instance;

	if (instance->failed_run != work->launch.run) {
		instance->failed_run = work->launch.run;
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
static bool is_skipped(const struct skrt_device *device, struct sk_work *work)
{
	const struct skrt_instance *instance = work->launch.instance;

	if (work->kind == SK_WORK_COPY)
		return work->stream->status;
	if (work->kind != SK_WORK_LAUNCH)
		return false;
	if (work->stream->status)
		fail(work, work->stream->status, work->stream->error);
	else if (instance->failed_run == work->launch.run)
		fail(work, instance->failure, instance->error);
	return work->stream->status || device->lost;
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

static enum outcome start_launch(struct skrt_device *device, struct sk_work *work, bool reserved[SK_MAX_LANES])
{
	char error[SK_REPORT_SIZE];

	if (device->holding || !is_its_turn(work) || !shares_nothing(device, work))
		return WAITS;
	if (is_skipped(device, work) || !has_steps(work->launch.kernel))
		return ENDED;
	if (!sk_launch_has_room(device, work->launch.kernel, reserved))
		return WAITS;

	enum skrt_status status = sk_launch_start(device, work, error, sizeof(error));

	if (status)
		fail(work, status, error);
	return status ? ENDED : RUNS;
}

static enum outcome start(struct skrt_device *device, struct sk_work *work, bool reserved[SK_MAX_LANES])
{
	switch (work->kind) {
	case SK_WORK_LAUNCH:
		return start_launch(device, work, reserved);
	case SK_WORK_RECORD:
		return ENDED;
	case SK_WORK_WAIT:
		return work->event.event ? WAITS : ENDED;
	default:
		return is_skipped(device, work) ? ENDED : RUNS;
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
		struct sk_work *work = stream->works.first;
		enum outcome outcome = start(device, work, reserved);

		if (outcome == WAITS) {
			link = &stream->next;
			continue;
		}
		*link = stream->next;
		take_first(&stream->works);
		/* What comes next on the stream was queued later, and so stands behind this place in the list. */
		if (outcome == ENDED)
			finish(device, work);
		else if (work->kind != SK_WORK_LAUNCH)
			append(&device->errands, work);
	}
	sk_count(&device->in_flight, -1);
}

/* ---- the end of a launch ---- */

static bool may_drive(const struct skrt_device *device)
{
	return !device->driving && sk_player_has_posts(&device->players[0]);
}

void sk_queue_hand_over(struct skrt_device *device)
{
	/* Who drives and has no cores to play does the errands; else the device's thread or, if that drives, who waits.
	 */
	bool errands = device->errands.first && (!device->driving || device->players[0].load);

	if (may_drive(device) || errands)
		pthread_cond_signal(&device->work);
	for (struct sk_work *work = errands ? device->errands.first : NULL; work; work = work->next)
		pthread_cond_broadcast(&work->stream->ended);
}

/* The last player has left the launch. Begins without the lock and ends with it. */
static void complete(struct sk_launch *launch)
{
	struct skrt_device *device = launch->device;
	char error[SK_REPORT_SIZE];
	bool lost = false;
	enum skrt_status status = sk_launch_result(launch, error, sizeof(error), &lost);

	pthread_mutex_lock(&device->lock);

	struct sk_work *work = launch->work;

	sk_launch_end(launch, status == SKRT_OK);
	if (lost)
		lose(device, error);
	if (status)
		fail(work, status, error);
	finish(device, work);
	sk_queue_dispatch(device);
	sk_count(&device->in_flight, -1);
	sk_queue_hand_over(device);
}

void sk_queue_complete(struct sk_launch *launch)
{
	struct skrt_device *device = launch->device;

	complete(launch);
	pthread_mutex_unlock(&device->lock);
}

/* ---- those who have nothing better to do ---- */

/* The first errand, or the first one of the stream. NULL: there is none. */
static struct sk_work *take_errand(struct skrt_device *device, const struct skrt_stream *stream)
{
	struct sk_work *before = NULL, *work = device->errands.first;

	for (; work && stream && work->stream != stream; work = work->next)
		before = work;
	if (!work)
		return NULL;
	*(before ? &before->next : &device->errands.first) = work->next;
	if (device->errands.last == work)
		device->errands.last = before;
	return work;
}

/* False: there was none. */
static bool run_errand(struct skrt_device *device, const struct skrt_stream *stream)
{
	struct sk_work *work = take_errand(device, stream);

	if (!work)
		return false;

	enum skrt_status status = work->stream->status;

	pthread_mutex_unlock(&device->lock);
	if (work->kind == SK_WORK_CALL)
		work->call.function(work->call.context, status);
	else if (work->copy.bytes) /* else the addresses may be null */
		memmove(work->copy.to, work->copy.from, work->copy.bytes);
	pthread_mutex_lock(&device->lock);
	finish(device, work);
	sk_queue_dispatch(device);
	return true;
}

/* A caller that the scheduler has put on a player's processor would share it with that player, and each would wait for
 * the other's time slice. It steps over to the first processor, where no player is pinned; afterwards it may be moved
 * as freely as before. A caller that is bound elsewhere stays there. */
static void leave_players_processors(const struct skrt_device *device)
{
	uint32_t players = atomic_load(&device->player_count);
	int processor = players > 1 ? sched_getcpu() : -1;
	cpu_set_t own, first;

	for (uint32_t i = 1; i < players; i++) {
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

/* As the first player, until it has nothing to do, or *wanted is 0 and it has left what it has begun. */
static void drive(struct skrt_device *device, const _Atomic uint64_t *wanted)
{
	struct sk_player *player = &device->players[0];

	device->driving = true;
	player->wanted = wanted;
	sk_watch_drive(device, true);
	pthread_mutex_unlock(&device->lock);
	leave_players_processors(device);
	for (;;) {
		struct sk_launch *launch = sk_player_play(player);

		if (launch)
			complete(launch);
		else
			pthread_mutex_lock(&device->lock);
		if (!sk_player_has_posts(player) || (wanted && !*wanted))
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

/* Whether something is posted to the first player that the thread waits for. One that waits for an event (stream NULL)
 * takes whatever comes. While nobody drives, posts are only added. */
static bool may_help(const struct skrt_device *device, const struct skrt_stream *stream)
{
	const struct sk_part *post = device->driving ? NULL : atomic_load(&device->players[0].mailbox.posts);

	while (post && stream && post->launch->work->stream != stream)
		post = post->next;
	return post;
}

void sk_queue_finish(struct skrt_device *device, const struct skrt_stream *stream, const _Atomic uint64_t *pending,
		     pthread_cond_t *ended)
{
	bool spin = atomic_load(&device->player_count) > 1;

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
		sk_player_spin(pending);
		pthread_mutex_lock(&device->lock);
		spin = false;
	}
	sk_queue_hand_over(device);
}
