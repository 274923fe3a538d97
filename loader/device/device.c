/* A device: opening and closing it, memory for its users, and its cores, which are made when a package needs them. This
 * file connects parts that do not know each other: it chooses the functions that cores call, and the one that is called
 * at the end of a launch. */
#include "config.h"

#include "loader/device/device.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "format/profile/profile.h"
#include "format/skabi.h"
#include "format/skkernel.h"
#include "format/skplan.h"
#include "loader/base/status.h"
#include "loader/checks/checks.h"
#include "loader/core/core.h"
#include "loader/flight/flight.h"
#include "loader/image/image.h"
#include "loader/skrt.h"

#define DEFAULT_STACK ((size_t)8 << 20)
#define LEAST_STACK   ((size_t)16 << 10)
#define MOST_STACK    ((size_t)1 << 40)
#define WORKER_SIZE   (SK_MAX_LANES * SK_MAX_CORES * sizeof(struct sk_device_core *))

/* The functions that package code on the device's cores calls. */
static const struct sk_runtime runtime = {
	.await = sk_worker_await, .feed = sk_block_feed, .block_functions = &sk_block_functions};

/* ---- the device ---- */

/* Find the processors that this process may use. */
static enum skrt_status find_processors(struct skrt_device *device)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return sk_fail(SKRT_OUT_OF_MEMORY, "cannot find the processors of this process: %s", strerror(errno));
	device->processors = calloc(CPU_SETSIZE, sizeof(*device->processors));
	if (!device->processors)
		return sk_fail(SKRT_OUT_OF_MEMORY, "no memory for a device");
	for (size_t i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set))
			device->processors[device->processor_count++] = i;
	return SKRT_OK;
}

/* ---- its lock ---- */

enum skrt_status sk_device_lock(struct skrt_device *device)
{
	enum skrt_status status = sk_process_check(&device->process);

	if (status)
		return status;
	sk_cancellation_enter();
	if (device->checks) /* the checks read files */
		sk_cancellation_hold();
	pthread_mutex_lock(&device->lock);
	return SKRT_OK;
}

void sk_device_unlock(struct skrt_device *device)
{
	pthread_mutex_unlock(&device->lock);
	sk_cancellation_leave();
}

/* ---- opening and closing ---- */

static void free_device(struct skrt_device *device)
{
	for (uint32_t i = 0; i < device->worker_limit && device->workers; i++) {
		sk_worker_stop(&device->workers[i]);
		if (device->workers[i].cores)
			munmap(device->workers[i].cores, WORKER_SIZE);
	}
	sk_watch_close(device);
	for (uint32_t i = 0; i < SK_MOST_FLIGHTS; i++)
		sk_flight_close(device, i);
	for (uint32_t i = 0; i < SK_MAX_LANES; i++)
		sk_lane_close(&device->lanes[i]);
	pthread_cond_destroy(&device->work);
	pthread_cond_destroy(&device->idle);
	pthread_mutex_destroy(&device->lock);
	sk_checks_close(device->checks);
	if (device->workers)
		munmap(device->workers, device->worker_limit * sizeof(*device->workers));
	while (device->unused) {
		struct sk_command *command = device->unused;

		device->unused = command->next;
		free(command);
	}
	free(device->processors);
	free(device);
}

static const char *profile_name(const void *context, uint32_t index)
{
	(void)context;
	return sk_profile_builtins[index];
}

/* A name without a point or a slash is the name of a built-in profile. */
static enum skrt_status find_profile(const char *name, struct sk_profile *profile)
{
	char text[SK_ERROR_SIZE / 2];

	if (sk_profile_load(name, profile, text, sizeof(text)))
		return SKRT_OK;
	if (strpbrk(name, "./"))
		return sk_fail(SKRT_NOT_FOUND, "cannot use the device profile: %s", text);
	for (size_t i = 0; i < SK_PROFILE_BUILTINS; i++)
		if (!strcmp(name, sk_profile_builtins[i]))
			return sk_fail(SKRT_OUT_OF_MEMORY, "cannot use the device profile: %s", text);
	sk_nearest(text, 128, name, SK_PROFILE_BUILTINS, profile_name, NULL);
	return sk_fail(SKRT_NOT_FOUND, "no device '%s'%s", name,
		       *text ? text : "; there are host and a3, and profiles by their path (./my.profile)");
}

static enum skrt_status check_options(const struct skrt_device_options *options)
{
	if (options->cores > SK_MAX_CORES)
		return sk_fail(SKRT_INVALID_ARGUMENT, "%" PRIu32 " cores; at most %d are possible", options->cores,
			       SK_MAX_CORES);
	if (options->checks & ~(uint64_t)(SKRT_GUARD | SKRT_CHECK_RACES | SKRT_CHECK_SPLIT))
		return sk_fail(SKRT_INVALID_ARGUMENT, "checks 0x%" PRIx64 "; some of them are unknown",
			       options->checks);
	if (options->stack_size && (options->stack_size < LEAST_STACK || options->stack_size > MOST_STACK))
		return sk_fail(SKRT_INVALID_ARGUMENT, "stacks of %" PRIu64 " bytes; %zu to %zu are possible",
			       options->stack_size, LEAST_STACK, MOST_STACK);
	return SKRT_OK;
}

/* Configure the device, which is all zero, by the options. */
static enum skrt_status configure(struct skrt_device *device, const struct skrt_device_options *options)
{
	struct sk_profile profile;
	enum skrt_status status = check_options(options);

	if (!status)
		status = find_profile(options->device ? options->device : "host", &profile);
	if (!status)
		status = find_processors(device);
	if (status)
		return status;
	device->simulated = options->device && strcmp(options->device, "host");
	memcpy(device->name, profile.name, sizeof(device->name));
	device->seed = options->seed;
	if (device->seed && !device->simulated)
		return sk_fail(SKRT_INVALID_ARGUMENT,
			       "a seed is for simulated devices; on device %s the order of cores is not chosen",
			       device->name);
	device->stack_size = options->stack_size ? options->stack_size : DEFAULT_STACK;
	device->watch.timeout = options->timeout_ms * UINT64_C(1000000);
	for (uint32_t i = 0; i < SK_MAX_LANES; i++) {
		uint32_t own = device->simulated ? profile.lanes[i].cores : device->processor_count;

		device->lanes[i].usual = options->cores ? options->cores : own;
	}
	/* The host supports all lanes that a package may have. */
	device->lane_limit = device->simulated ? profile.lane_count : SK_MAX_LANES;
	if (options->checks && !(device->checks = sk_checks_open((uint32_t)options->checks)))
		return sk_fail(SKRT_OUT_OF_MEMORY, "no memory for a device");
	device->worker_limit = device->simulated || device->checks ? 1 : device->processor_count;
	return SKRT_OK;
}

static enum skrt_status make_workers(struct skrt_device *device)
{
	device->workers = sk_device_reserve(device->worker_limit * sizeof(*device->workers));
	if (!device->workers)
		return sk_fail(SKRT_OUT_OF_MEMORY, "no memory for a device");
	bool good = sk_flight_open(device, 0);

	for (uint32_t i = 0; i < device->worker_limit; i++) {
		device->workers[i].device = device;
		device->workers[i].number = i;
		device->workers[i].cores = sk_device_reserve(WORKER_SIZE);
		good &= device->workers[i].cores != NULL;
	}
	return good ? SKRT_OK : sk_fail(SKRT_OUT_OF_MEMORY, "no memory for a device");
}

enum skrt_status skrt_device_open(const struct skrt_device_options *options, struct skrt_device **result)
{
	struct skrt_device_options own = {.size = sizeof(own)};
	enum skrt_status status = SKRT_OK;
	SK_UNCANCELLED;

	if (!result)
		return sk_fail_null(__func__);
	if (options)
		status = sk_struct_read("skrt_device_options", options, &own, sizeof(own));
	if (status)
		return status;
	struct skrt_device *device = aligned_alloc(SK_LINE, sizeof(*device));
	if (!device)
		return sk_fail(SKRT_OUT_OF_MEMORY, "no memory for a device");
	memset(device, 0, sizeof(*device));
	pthread_mutex_init(&device->lock, NULL);
	pthread_cond_init(&device->work, NULL);
	pthread_cond_init(&device->idle, NULL);
	device->runtime = &runtime;
	device->complete = sk_drive_complete;
	device->process = sk_process_current();
	sk_signals_install();
	sk_debugger_wanted(); /* found out once here, rather than at each load of a package */
	status = configure(device, &own);
	if (!status)
		status = make_workers(device);
	if (!status)
		status = sk_watch_open(device);
	if (!status)
		status = sk_device_start_thread(device, &device->driver, sk_drive_work, device, 0);
	if (status) {
		free_device(device);
		return status;
	}
	*result = device;
	return SKRT_OK;
}

enum skrt_status skrt_device_close(struct skrt_device *device)
{
	SK_UNCANCELLED;

	if (!device)
		return SKRT_OK;
	enum skrt_status status = sk_device_lock(device);
	if (status)
		return status;
	uint32_t modules = device->modules, streams = device->streams, events = device->events;
	uint64_t allocations = device->allocations;
	bool traced = device->trace;
	device->stopping = !modules && !streams && !events && !allocations && !traced;
	bool busy = !device->stopping;
	pthread_cond_signal(&device->work);
	sk_device_unlock(device);
	if (busy)
		return sk_fail(SKRT_BUSY,
			       "the device is in use; modules: %" PRIu32 ", streams: %" PRIu32 ", events: %" PRIu32
			       ", allocations: %" PRIu64 ", traces: %d",
			       modules, streams, events, allocations, traced);
	/* The queue is empty: a queued command would keep its stream alive. */
	pthread_join(device->driver, NULL);
	free_device(device);
	return SKRT_OK;
}

uint32_t skrt_device_cores(const struct skrt_device *device, uint32_t lane)
{
	return lane < SK_MAX_LANES ? device->lanes[lane].usual : 0;
}

/* ---- memory ---- */

enum skrt_status skrt_allocate(struct skrt_device *device, uint64_t bytes, void **memory)
{
	uint64_t size;

	if (!device || !memory)
		return sk_fail_null(__func__);
	if (__builtin_add_overflow(bytes, SK_LINE, &size))
		size = UINT64_MAX;
	void *result = aligned_alloc(SK_LINE, size & ~(uint64_t)(SK_LINE - 1));
	if (!result)
		return sk_fail(SKRT_OUT_OF_MEMORY, "no memory for %" PRIu64 " bytes", bytes);
	enum skrt_status status = sk_device_lock(device);
	if (status) {
		free(result);
		return status;
	}
	device->allocations++;
	sk_device_unlock(device);
	*memory = result;
	return SKRT_OK;
}

enum skrt_status skrt_free(struct skrt_device *device, void *memory)
{
	if (!memory)
		return SKRT_OK;
	if (!device)
		return sk_fail_null(__func__);
	enum skrt_status status = sk_device_lock(device);
	if (status)
		return status;
	device->allocations--;
	sk_device_unlock(device);
	free(memory);
	return SKRT_OK;
}

/* ---- lanes ---- */

const char *skrt_device_name(const struct skrt_device *device)
{
	return device->name;
}

/* Start the workers that the cores need. Only while no launch is in flight. */
static enum skrt_status add_workers(struct skrt_device *device, uint64_t cores)
{
	enum skrt_status status = SKRT_OK;
	uint32_t count = atomic_load(&device->worker_count);
	uint32_t wanted = cores < device->worker_limit ? (uint32_t)cores : device->worker_limit;

	for (; count < wanted && !status; count++) {
		struct sk_worker *worker = &device->workers[count];

		if (count > 0)
			status = sk_device_start_thread(device, &worker->thread, sk_worker_run, worker, count);
		worker->started = count > 0 && !status;
		if (!status)
			atomic_store(&device->worker_count, count + 1);
	}
	return status;
}

static bool lacks_cores(const struct skrt_device *device, uint32_t lane_count, const uint32_t cores[SK_MAX_LANES])
{
	for (uint32_t i = 0; i < lane_count; i++)
		if (device->lanes[i].count < cores[i])
			return true;
	return false;
}

enum skrt_status sk_device_add_cores(struct skrt_device *device, uint32_t lane_count,
				     const uint32_t cores[SK_MAX_LANES])
{
	enum skrt_status status = SKRT_OK;
	uint64_t all = 0;

	pthread_mutex_lock(&device->lock);
	device->holding++;
	while (device->flight_count && lacks_cores(device, lane_count, cores))
		pthread_cond_wait(&device->idle, &device->lock);
	if (lacks_cores(device, lane_count, cores)) {
		for (uint32_t i = 0; i < SK_MAX_LANES; i++) {
			uint32_t wanted = i < lane_count ? cores[i] : 0;

			all += wanted > device->lanes[i].count ? wanted : device->lanes[i].count;
		}
		status = add_workers(device, all);
		for (uint32_t i = 0; i < lane_count && !status; i++)
			status = sk_lane_open(device, i, cores[i]);
		if (!status && device->lane_count < lane_count)
			device->lane_count = lane_count;
	}
	device->holding--;
	sk_queue_dispatch(device);
	sk_drive_hand_over(device);
	pthread_mutex_unlock(&device->lock);
	return status;
}
