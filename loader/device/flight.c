/* A launch in flight: which cores it has, which players play them, and what became of it. Several launches are in
 * flight at a time, each in a place of its own, with progress words of its own; nothing is reset between two of one
 * place.
 *
 * A core is a stack, and its number says where its scratch lies; which number it has in a launch, and which thread
 * plays it, is new with each launch. A launch takes the cores with the lowest numbers that are free, and deals them out
 * among the players, those with parts of the fewest launches first. One whose blocks wait for one another may need more
 * cores than the device has by its options; then it takes all of these, and the others, which nobody else uses. */
#include "config.h"

#include "loader/device/device.h"
#include "loader/trace/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define WORKERS_SIZE (SK_MAX_CORES * sizeof(struct sk_worker *))
#define WORDS_SIZE   ((size_t)SK_MAX_CORES * SK_PROGRESS_STRIDE)

/* ---- places ---- */

void sk_launch_close(struct skrt_device *device, uint32_t place)
{
	struct sk_launch *launch = device->launches[place];

	if (!launch)
		return;
	for (uint32_t i = 0; i < SK_MAX_LANES; i++) {
		if (launch->lanes[i].workers)
			munmap(launch->lanes[i].workers, WORKERS_SIZE);
		if (launch->lanes[i].words)
			munmap(launch->lanes[i].words, WORDS_SIZE);
	}
	free(launch->tables);
	free(launch->parts);
	free(launch->order);
	free(launch);
	device->launches[place] = NULL;
}

bool sk_launch_open(struct skrt_device *device, uint32_t place)
{
	if (device->launches[place])
		return true;
	struct sk_launch *launch = aligned_alloc(SK_LINE, sizeof(*launch));
	if (!launch)
		return false;
	device->launches[place] = launch;
	*launch = (struct sk_launch){
		.device = device,
		.place = place,
		.parts = calloc(device->player_limit, sizeof(*launch->parts)),
		.order = calloc(device->player_limit, sizeof(*launch->order)),
		.watched.launch = launch,
	};
	bool good = launch->parts && launch->order;
	for (uint32_t i = 0; i < SK_MAX_LANES; i++) {
		launch->lanes[i].workers = sk_device_reserve(WORKERS_SIZE);
		launch->lanes[i].words = sk_device_reserve(WORDS_SIZE);
		good &= launch->lanes[i].workers && launch->lanes[i].words;
	}
	if (!good)
		sk_launch_close(device, place);
	return good;
}

/* One that no launch is in; SK_NO_INDEX: there is none. */
static uint32_t find_place(struct skrt_device *device)
{
	for (uint32_t i = 0; i < SK_MOST_LAUNCHES; i++)
		if (!device->launches[i] || !device->launches[i]->work)
			return sk_launch_open(device, i) ? i : SK_NO_INDEX;
	return SK_NO_INDEX;
}

/* ---- cores ---- */

bool sk_launch_has_room(struct skrt_device *device, const struct skrt_kernel *kernel, bool reserved[SK_MAX_LANES])
{
	bool room = true;

	for (uint32_t i = 0; i < SK_MAX_LANES; i++) {
		const struct sk_device_lane *lane = &device->lanes[i];
		uint32_t wanted = kernel->cores[i] < lane->cores ? kernel->cores[i] : lane->cores;

		if (kernel->lane_steps[i] && (reserved[i] || wanted > lane->cores - lane->taken))
			room = false;
	}
	/* Checks know one launch at a time. */
	if (device->checks && device->launch_count)
		room = false;
	if (room && find_place(device) == SK_NO_INDEX)
		room = false;
	for (uint32_t i = 0; i < SK_MAX_LANES && !room; i++)
		reserved[i] |= kernel->lane_steps[i] != 0;
	return room;
}

/* How many of the lane's own cores the launch has: those beyond are not counted. */
static uint32_t own_cores(const struct sk_launch *launch, uint32_t lane)
{
	uint32_t cores = launch->kernel->cores[lane], own = launch->device->lanes[lane].cores;

	return cores < own ? cores : own;
}

static void take_cores(struct sk_launch *launch)
{
	for (uint32_t i = 0; i < SK_MAX_LANES; i++) {
		struct sk_device_lane *lane = &launch->device->lanes[i];

		if (!launch->kernel->lane_steps[i])
			continue;
		for (uint32_t taken = 0, number = 0; taken < launch->kernel->cores[i]; number++) {
			struct sk_worker *worker = &lane->workers[number];

			if (worker->taken)
				continue;
			worker->taken = true;
			launch->lanes[i].workers[taken++] = worker;
		}
		lane->taken += own_cores(launch, i);
	}
}

static void free_cores(struct sk_launch *launch)
{
	for (uint32_t i = 0; i < SK_MAX_LANES; i++) {
		if (!launch->kernel->lane_steps[i])
			continue;
		for (uint32_t j = 0; j < launch->kernel->cores[i]; j++)
			launch->lanes[i].workers[j]->taken = false;
		launch->device->lanes[i].taken -= own_cores(launch, i);
		launch->lanes[i].base += launch->kernel->lane_steps[i];
	}
}

/* ---- players ---- */

/* By load; among equal ones by number, so that a launch by itself is always dealt out in the same way. */
static void order_players(struct sk_launch *launch)
{
	const struct sk_player *players = launch->device->players;

	for (uint32_t i = 0; i < launch->players; i++) {
		uint32_t at = i;

		for (; at > 0 && players[launch->order[at - 1]].load > players[i].load; at--)
			launch->order[at] = launch->order[at - 1];
		launch->order[at] = i;
	}
}

static void change_loads(struct sk_launch *launch, bool add)
{
	for (uint32_t rank = 0; rank < launch->busy; rank++) {
		struct sk_player *player = &launch->device->players[launch->order[rank]];

		player->load = add ? player->load + 1 : player->load - 1;
	}
}

static void deal_out(struct sk_launch *launch)
{
	uint64_t cores = 0;

	for (uint32_t i = 0; i < SK_MAX_LANES; i++)
		cores += launch->kernel->lane_steps[i] ? launch->kernel->cores[i] : 0;
	launch->players = atomic_load(&launch->device->player_count);
	launch->busy = cores < launch->players ? (uint32_t)cores : launch->players;
	atomic_store_explicit(&launch->inside, launch->busy, memory_order_relaxed);
	order_players(launch);
	change_loads(launch, true);
}

static void post(struct sk_launch *launch)
{
	for (uint32_t rank = 0; rank < launch->busy; rank++) {
		struct sk_part *part = &launch->parts[launch->order[rank]];

		*part = (struct sk_part){.launch = launch, .rank = rank};
		sk_player_post(&launch->device->players[launch->order[rank]], part);
	}
}

/* ---- from the start to the end ---- */

enum skrt_status sk_launch_start(struct skrt_device *device, struct sk_work *work, char *error, size_t error_size)
{
	struct sk_launch *launch = device->launches[find_place(device)];
	const struct skrt_kernel *kernel = work->launch.kernel;
	enum skrt_status status = SKRT_OK;

	launch->instance = work->launch.instance;
	launch->kernel = kernel;
	launch->homes = sk_kernel_tables(kernel, launch);
	launch->trace = NULL;
	if (!launch->homes) {
		snprintf(error, error_size, "%s: no memory for the tables of launch %s", kernel->module->path,
			 kernel->name);
		return SKRT_OUT_OF_MEMORY;
	}
	if (device->checks)
		status = sk_checks_begin(device->checks, launch, error, error_size);
	if (status)
		return status;
	launch->work = work;
	atomic_store_explicit(&launch->aborted, SK_ABORT_NONE, memory_order_relaxed);
	sk_block_reset(kernel);
	if (device->trace)
		sk_trace_begin_launch(device->trace, launch);
	take_cores(launch);
	deal_out(launch);
	device->launch_count++;
	sk_count(&device->in_flight, 1);
	sk_watch_begin(device, &launch->watched);
	post(launch);
	return SKRT_OK;
}

enum skrt_status sk_launch_result(struct sk_launch *launch, char *error, size_t error_size, bool *lost)
{
	sk_watch_end(launch->device, &launch->watched);

	bool failed = atomic_load_explicit(&launch->aborted, memory_order_acquire) != SK_ABORT_NONE &&
		      sk_failure_is_one(launch);

	if (failed)
		sk_failure_describe(launch, error, error_size, lost);
	if (launch->device->checks && !sk_checks_end(launch, !failed, error, error_size))
		return SKRT_OUT_OF_MEMORY;
	return failed ? SKRT_KERNEL_FAILED : SKRT_OK;
}

void sk_launch_end(struct sk_launch *launch, bool good)
{
	if (launch->trace && good)
		sk_trace_end_launch(launch->trace, launch);
	change_loads(launch, false);
	free_cores(launch);
	launch->work = NULL;
	if (--launch->device->launch_count == 0 && launch->device->holding)
		pthread_cond_broadcast(&launch->device->idle);
}
