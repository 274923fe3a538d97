/* A flight, that is, a launch in flight: its cores, the workers that run them, and its result. There are several at a
 * time, each in a place of its own, with progress words of its own; nothing is reset between two flights of one place.
 *
 * A core is a stack, and its number determines the place of its scratch. Its number in the flight, and the thread that
 * runs it, change with each flight. A flight takes the free cores with the lowest numbers, and distributes them among
 * the workers, starting with those that have parts of the fewest flights. A flight with blocks that wait for one
 * another may need more cores than the device has by its options; then it takes all of these, and extra cores, which no
 * other flight uses. */
#include "config.h"

#include "loader/device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "format/skabi.h"
#include "format/skplan.h"
#include "loader/checks/checks.h"
#include "loader/core/core.h"
#include "loader/flight/flight.h"
#include "loader/skrt.h"
#include "loader/trace/trace.h"

#define CORES_SIZE (SK_MAX_CORES * sizeof(struct sk_device_core *))
#define WORDS_SIZE ((size_t)SK_MAX_CORES * SK_PROGRESS_STRIDE)

/* ---- places ---- */

void sk_flight_close(struct skrt_device *device, uint32_t place)
{
	struct sk_flight *flight = device->flights[place];

	if (!flight)
		return;
	for (uint32_t i = 0; i < SK_MAX_LANES; i++) {
		if (flight->lanes[i].cores)
			munmap(flight->lanes[i].cores, CORES_SIZE);
		if (flight->lanes[i].words)
			munmap(flight->lanes[i].words, WORDS_SIZE);
	}
	if (flight->told)
		munmap(flight->told, device->worker_limit * sizeof(*flight->told));
	free(flight->tables);
	free(flight->words.items);
	free(flight->order);
	free(flight);
	device->flights[place] = NULL;
}

bool sk_flight_open(struct skrt_device *device, uint32_t place)
{
	if (device->flights[place])
		return true;
	struct sk_flight *flight = aligned_alloc(SK_LINE, sizeof(*flight));
	if (!flight)
		return false;
	size_t order_size = (device->worker_limit * sizeof(*flight->order) + SK_LINE - 1) / SK_LINE * SK_LINE;
	device->flights[place] = flight;
	*flight = (struct sk_flight){
		.device = device,
		.place = place,
		.order = aligned_alloc(SK_LINE, order_size),
		.told = sk_device_reserve(device->worker_limit * sizeof(*flight->told)),
		.watched.flight = flight,
	};
	bool good = flight->order && flight->told;
	for (uint32_t i = 0; i < SK_MAX_LANES; i++) {
		flight->lanes[i].cores = sk_device_reserve(CORES_SIZE);
		flight->lanes[i].words = sk_device_reserve(WORDS_SIZE);
		good &= flight->lanes[i].cores && flight->lanes[i].words;
	}
	if (!good)
		sk_flight_close(device, place);
	return good;
}

/* Return a place without a flight; NULL: there is none. */
static struct sk_flight *find_place(struct skrt_device *device)
{
	for (uint32_t i = 0; i < SK_MOST_FLIGHTS; i++) {
		if (!device->flights[i])
			return sk_flight_open(device, i) ? device->flights[i] : NULL;
		if (!device->flights[i]->command)
			return device->flights[i];
	}
	return NULL;
}

/* ---- cores ---- */

struct sk_flight *sk_flight_find(struct skrt_device *device, const struct skrt_kernel *kernel,
				 bool reserved[SK_MAX_LANES])
{
	bool room = true;

	for (uint32_t i = 0; i < SK_MAX_LANES; i++) {
		const struct sk_device_lane *lane = &device->lanes[i];
		uint32_t wanted = kernel->cores[i] < lane->usual ? kernel->cores[i] : lane->usual;

		if (kernel->lane_steps[i] && (reserved[i] || wanted > lane->usual - device->taken[i].count))
			room = false;
	}
	/* Checks support one launch at a time. */
	if (device->checks && device->flight_count)
		room = false;

	struct sk_flight *flight = room ? find_place(device) : NULL;

	for (uint32_t i = 0; i < SK_MAX_LANES && !flight; i++)
		reserved[i] |= kernel->lane_steps[i] != 0;
	return flight;
}

/* Return the number of the lane's usual cores that the flight has; extra ones are not counted. */
static uint32_t own_cores(const struct sk_flight *flight, uint32_t lane)
{
	uint32_t cores = flight->kernel->cores[lane], own = flight->device->lanes[lane].usual;

	return cores < own ? cores : own;
}

static void take_cores(struct sk_flight *flight)
{
	for (uint32_t i = 0; i < SK_MAX_LANES; i++) {
		const struct sk_device_lane *lane = &flight->device->lanes[i];
		struct sk_taken_cores *taken = &flight->device->taken[i];

		if (!flight->kernel->lane_steps[i])
			continue;
		for (uint32_t count = 0, number = 0; count < flight->kernel->cores[i]; number++) {
			if (taken->cores[number])
				continue;
			taken->cores[number] = true;
			SK_KEEP_LINE(flight->lanes[i].cores[count], &lane->cores[number]);
			count++;
		}
		taken->count += own_cores(flight, i);
	}
}

static void free_cores(struct sk_flight *flight)
{
	for (uint32_t i = 0; i < SK_MAX_LANES; i++) {
		const struct sk_device_core *first = flight->device->lanes[i].cores;
		struct sk_taken_cores *taken = &flight->device->taken[i];

		if (!flight->kernel->lane_steps[i])
			continue;
		for (uint32_t j = 0; j < flight->kernel->cores[i]; j++)
			taken->cores[flight->lanes[i].cores[j] - first] = false;
		taken->count -= own_cores(flight, i);
		flight->bases[i] += flight->kernel->lane_steps[i];
	}
}

/* ---- workers ---- */

/* Order them by load, then by number, so that a flight by itself is always distributed in the same way. */
static void order_workers(struct sk_flight *flight)
{
	const struct sk_worker *workers = flight->device->workers;

	for (uint32_t i = 0; i < flight->workers; i++) {
		uint32_t at = i;

		for (; at > 0 && workers[flight->order[at - 1]].mailbox.load > workers[i].mailbox.load; at--)
			flight->order[at] = flight->order[at - 1];
		flight->order[at] = i;
	}
}

static void change_loads(struct sk_flight *flight, bool add)
{
	for (uint32_t rank = 0; rank < flight->busy; rank++) {
		struct sk_mailbox *mailbox = &flight->device->workers[flight->order[rank]].mailbox;

		mailbox->load = add ? mailbox->load + 1 : mailbox->load - 1;
	}
}

static void deal_out(struct sk_flight *flight)
{
	uint64_t cores = 0;

	for (uint32_t i = 0; i < SK_MAX_LANES; i++)
		cores += flight->kernel->lane_steps[i] ? flight->kernel->cores[i] : 0;
	SK_KEEP_LINE(flight->workers, atomic_load(&flight->device->worker_count));
	SK_KEEP_LINE(flight->busy, cores < flight->workers ? (uint32_t)cores : flight->workers);
	flight->last = atomic_load_explicit(&flight->left, memory_order_relaxed) + flight->busy - 1;
	order_workers(flight);
	change_loads(flight, true);
}

static void post(struct sk_flight *flight)
{
	for (uint32_t rank = 0; rank < flight->busy; rank++)
		sk_worker_post(&flight->device->workers[flight->order[rank]], flight, rank);
}

/* ---- start and end ---- */

enum skrt_status sk_flight_start(struct sk_flight *flight, struct sk_command *command, char *error, size_t error_size)
{
	struct skrt_device *device = flight->device;
	const struct skrt_kernel *kernel = command->launch.kernel;
	enum skrt_status status = SKRT_OK;

	/* The homes are the last of the kernel's tables to be made. */
	const struct sk_home *homes = kernel->homes[flight->place];

	if (!homes)
		homes = sk_kernel_tables(kernel, flight);

	SK_KEEP_LINE(flight->instance, command->launch.instance);
	SK_KEEP_LINE(flight->kernel, kernel);
	SK_KEEP_LINE(flight->homes, homes);
	SK_KEEP_LINE(flight->trace, NULL);
	const struct sk_core_range *ranges = homes ? sk_sized_ranges(flight->instance, kernel) : NULL;

	SK_KEEP_LINE(flight->ranges, ranges);
	if (!ranges) {
		snprintf(error, error_size, "%s: no memory for the tables of launch %s", kernel->module->path,
			 kernel->name);
		return SKRT_OUT_OF_MEMORY;
	}
	SK_KEEP_LINE(flight->checks, device->checks);
	if (kernel->thunk && !sk_words_fill(&flight->words, kernel, flight->instance)) {
		snprintf(error, error_size, "%s: no memory for the arguments of launch %s", kernel->module->path,
			 kernel->name);
		return SKRT_OUT_OF_MEMORY;
	}
	if (flight->checks)
		status = sk_checks_begin(flight->checks, flight, error, error_size);
	if (status)
		return status;
	flight->command = command;
	if (atomic_load_explicit(&flight->aborted, memory_order_relaxed) != SK_ABORT_NONE)
		atomic_store_explicit(&flight->aborted, SK_ABORT_NONE, memory_order_relaxed);
	flight->exchange[0] = '\0';
	if (kernel->block_count)
		sk_block_reset(kernel);
	if (device->trace)
		sk_trace_begin_flight(device->trace, flight);
	take_cores(flight);
	deal_out(flight);
	device->flight_count++;
	sk_count(&device->in_flight, 1);
	sk_watch_begin(device, &flight->watched);
	post(flight);
	return SKRT_OK;
}

enum skrt_status sk_flight_result(struct sk_flight *flight, char *error, size_t error_size, bool *lost)
{
	sk_watch_end(flight->device, &flight->watched);

	bool failed = atomic_load_explicit(&flight->aborted, memory_order_acquire) != SK_ABORT_NONE &&
		      sk_failure_is_one(flight);

	if (failed) {
		sk_cancellation_hold(); /* because the package's file is read */
		sk_failure_describe(flight, error, error_size, lost);
		if (flight->kernel->module->transport)
			sk_ranks_note_failure();
	}
	if (flight->checks && !sk_checks_end(flight, !failed, error, error_size))
		return SKRT_OUT_OF_MEMORY;
	return failed ? SKRT_KERNEL_FAILED : SKRT_OK;
}

void sk_flight_end(struct sk_flight *flight, bool good)
{
	if (flight->trace && good)
		sk_trace_end_flight(flight->trace, flight);
	change_loads(flight, false);
	free_cores(flight);
	flight->command = NULL;
	if (--flight->device->flight_count == 0 && flight->device->holding)
		pthread_cond_broadcast(&flight->device->idle);
}
