/* The host device: opening and closing it, and one launch from the post to the lanes until the last core has left.
 * Nothing is reset between launches: progress numbers only grow, and a launch's steps are numbered from the base that
 * the launches before it have moved on. */
#include "config.h"

#include "loader/device.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one launch ---- */

/* The core whose failure is reported: of those that failed themselves the one with the earliest task. */
static const struct sk_worker *find_failed(const struct skrt_device *device, const struct skrt_kernel *kernel)
{
	const struct sk_worker *found = NULL;

	for (uint32_t lane = 0; lane < kernel->module->plan.lane_count; lane++) {
		for (uint32_t i = 0; i < device->cores && kernel->lane_steps[lane]; i++) {
			const struct sk_worker *worker = &device->lanes[lane].workers[i];
			bool aborted = worker->status == SK_STATUS_ABORTED && worker->core.failed_task == SK_NO_INDEX;

			if ((worker->status == 0 || aborted) && !worker->guard.function)
				continue;
			if (!found || worker->core.failed_task < found->core.failed_task)
				found = worker;
		}
	}
	return found;
}

/* "kernel" that ended the launch by calling abort or the like. Of a launch with one task it is known which; else the
 * nearest kernel before the call is a hint, since the linker may have put other functions behind it. */
static void describe_end(const struct sk_worker *worker, const struct skrt_kernel *kernel, const char *title,
			 char *error, size_t error_size)
{
	const struct sk_plan_view *plan = &kernel->module->plan;
	const struct sk_plan_launch *launch = &plan->launches[kernel->launch];
	uintptr_t caller = (uintptr_t)worker->guard.caller, best = 0;
	const char *nearest = "";

	if (launch->step_count == 1) {
		const struct sk_plan_step *step = &plan->steps[launch->first_step];

		snprintf(error, error_size, "%s: task '%s': kernel %s called %s", title,
			 sk_plan_string(&plan->tasks[step->task].name),
			 sk_plan_string(&plan->kernels[step->kernel].name), worker->guard.function);
		return;
	}
	for (uint32_t i = 0; i < plan->kernel_count; i++) {
		uintptr_t code = (uintptr_t)sk_plan_address(&plan->kernels[i].code);

		if (code <= caller && code > best) {
			best = code;
			nearest = sk_plan_string(&plan->kernels[i].name);
		}
	}
	snprintf(error, error_size, "%s: core %" PRIu32 ": %s was called at 0x%" PRIx64 " of %s%s%s", title,
		 worker->core.index, worker->guard.function, (uint64_t)(caller - kernel->module->image.bias),
		 kernel->module->path, best ? ", behind the start of kernel " : "", nearest);
}

static enum skrt_status describe_failure(const struct skrt_device *device, const struct skrt_kernel *kernel,
					 char *error, size_t error_size)
{
	const struct sk_plan_view *plan = &kernel->module->plan;
	const struct sk_worker *worker = find_failed(device, kernel);
	char title[128];

	sk_kernel_title(kernel, title, sizeof(title));
	if (!worker) {
		snprintf(error, error_size, "%s: all cores left, and none says why", title);
	} else if (worker->guard.function) {
		describe_end(worker, kernel, title, error, error_size);
	} else if (worker->core.failed_task < plan->task_count) {
		const struct sk_plan_task *task = &plan->tasks[worker->core.failed_task];

		snprintf(error, error_size, "%s: task '%s': kernel %s returned status %d", title,
			 sk_plan_string(&task->name), sk_plan_string(&plan->kernels[task->kernel].name),
			 worker->status);
	} else {
		snprintf(error, error_size, "%s: core %" PRIu32 ": the dispatcher returned %d", title,
			 worker->core.index, worker->status);
	}
	return SKRT_KERNEL_FAILED;
}

/* Waits until all cores of the lane but those before `first` have left the launch. */
static void collect(struct skrt_device *device, struct sk_device_lane *lane, uint32_t first)
{
	uint32_t number = atomic_load_explicit(&lane->mailbox.number, memory_order_relaxed);

	for (uint32_t i = first; i < device->cores; i++)
		for (uint32_t turn = 0; atomic_load_explicit(&lane->workers[i].left, memory_order_acquire) != number;
		     turn += turn < UINT32_MAX)
			sk_lane_wait(device, turn);
}

/* A caller that the scheduler has put on a worker's processor would share it with that worker, and each would wait for
 * the other's time slice. It steps over to the first processor, where no worker is pinned; afterwards it may be moved
 * as freely as before. A caller that is bound elsewhere stays there. */
static void leave_workers_processors(const struct skrt_device *device, uint32_t lane_count)
{
	uint64_t threads = (uint64_t)lane_count * device->cores;
	uint32_t pinned = threads < device->processor_count ? (uint32_t)threads : device->processor_count;
	int processor = pinned > 1 ? sched_getcpu() : -1;
	cpu_set_t own, first;

	for (uint32_t i = 1; i < pinned; i++) {
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

enum skrt_status sk_device_run(struct skrt_device *device, const struct sk_launch *launch, char *error,
			       size_t error_size)
{
	const struct skrt_kernel *kernel = launch->kernel;
	uint32_t lane_count = kernel->module->plan.lane_count;

	leave_workers_processors(device, lane_count);
	atomic_store_explicit(&device->aborted, false, memory_order_relaxed);
	for (uint32_t i = 0; i < lane_count; i++) {
		struct sk_mailbox *mailbox = &device->lanes[i].mailbox;

		if (kernel->lane_steps[i] == 0)
			continue;
		mailbox->kernel = kernel;
		mailbox->instance = launch->instance;
		for (uint32_t lane = 0; lane < lane_count; lane++)
			mailbox->bases[lane] = device->lanes[lane].base;
		if (i > 0 || device->cores > 1)
			sk_lane_post(mailbox);
	}
	if (kernel->lane_steps[0])
		sk_lane_run_core(&device->lanes[0].workers[0], &device->lanes[0].mailbox);
	for (uint32_t i = 0; i < lane_count; i++)
		if (kernel->lane_steps[i])
			collect(device, &device->lanes[i], i == 0);
	/* All cores have left. */
	for (uint32_t i = 0; i < lane_count; i++)
		device->lanes[i].base += kernel->lane_steps[i];
	if (atomic_load_explicit(&device->aborted, memory_order_acquire))
		return describe_failure(device, kernel, error, error_size);
	return SKRT_OK;
}

/* ---- the device ---- */

/* Which processors this process may use. */
static enum skrt_status find_processors(struct skrt_device *device)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return sk_report(SKRT_OUT_OF_MEMORY, "cannot find out which processors there are: %s", strerror(errno));
	device->processors = calloc(CPU_SETSIZE, sizeof(*device->processors));
	if (!device->processors)
		return sk_report(SKRT_OUT_OF_MEMORY, "no memory for a device");
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set))
			device->processors[device->processor_count++] = i;
	return SKRT_OK;
}

enum skrt_status sk_device_start_thread(struct skrt_device *device, pthread_t *thread, void *(*run)(void *context),
					void *context, uint32_t number)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
	sigset_t blocked, old;
	cpu_set_t processors;
	char name[16];

	sigfillset(&blocked);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(&blocked, faults[i]);
	pthread_sigmask(SIG_SETMASK, &blocked, &old);
	int reason = pthread_create(thread, NULL, run, context);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (reason)
		return sk_report(SKRT_OUT_OF_MEMORY,
				 "cannot start thread %" PRIu32 " of a device of %" PRIu32 " cores: %s", number,
				 device->cores, strerror(reason));
	snprintf(name, sizeof(name), "skrt %" PRIu32, number);
	pthread_setname_np(*thread, name);
	if (number < device->processor_count) {
		CPU_ZERO(&processors);
		CPU_SET(device->processors[number], &processors);
		/* Where that is forbidden the thread is slower, not wrong. */
		pthread_setaffinity_np(*thread, sizeof(processors), &processors);
	}
	return SKRT_OK;
}

static void free_device(struct skrt_device *device)
{
	for (uint32_t i = 0; i < device->lane_count; i++)
		sk_lane_stop(&device->lanes[i], device->cores);
	pthread_cond_destroy(&device->work);
	pthread_mutex_destroy(&device->lock);
	free(device->queue);
	free(device->processors);
	free(device);
}

enum skrt_status skrt_device_open(const struct skrt_device_options *options, struct skrt_device **result)
{
	if (!result)
		return sk_report_null(__func__);
	if (options && options->cores > SK_MAX_CORES)
		return sk_report(SKRT_INVALID_ARGUMENT, "%" PRIu32 " cores; at most %d are possible", options->cores,
				 SK_MAX_CORES);
	struct skrt_device *device = aligned_alloc(SK_LINE, sizeof(*device));
	if (!device)
		return sk_report(SKRT_OUT_OF_MEMORY, "no memory for a device");
	memset(device, 0, sizeof(*device));
	pthread_mutex_init(&device->lock, NULL);
	pthread_cond_init(&device->work, NULL);
	enum skrt_status status = find_processors(device);
	device->cores = options && options->cores ? options->cores : device->processor_count;
	if (!status)
		status = sk_device_start_thread(device, &device->driver, sk_stream_drive, device, 0);
	if (status) {
		free_device(device);
		return status;
	}
	*result = device;
	return SKRT_OK;
}

enum skrt_status skrt_device_close(struct skrt_device *device)
{
	if (!device)
		return SKRT_OK;
	pthread_mutex_lock(&device->lock);
	uint32_t modules = device->modules, streams = device->streams;
	device->stopping = modules == 0 && streams == 0;
	pthread_cond_signal(&device->work);
	pthread_mutex_unlock(&device->lock);
	if (modules || streams)
		return sk_report(SKRT_BUSY, "the device is in use; modules: %" PRIu32 ", streams: %" PRIu32, modules,
				 streams);
	/* The queue is empty: launches would keep streams alive. */
	pthread_join(device->driver, NULL);
	free_device(device);
	return SKRT_OK;
}

uint32_t skrt_device_cores(const struct skrt_device *device)
{
	return device->cores;
}

enum skrt_status sk_device_add_lanes(struct skrt_device *device, uint32_t lane_count)
{
	enum skrt_status status = SKRT_OK;

	pthread_mutex_lock(&device->lock);
	while (device->lane_count < lane_count && !status) {
		/* Before the threads start: how long they wait depends on it. */
		atomic_store(&device->crowded, (device->lane_count + 1) * device->cores > device->processor_count);
		status = sk_lane_start(device, device->lane_count);
		device->lane_count += !status;
	}
	pthread_mutex_unlock(&device->lock);
	return status;
}
