/* A lane of a device: its cores, each with a stack, and what a core is told about a launch. */
#include "config.h"

#include "loader/device/device.h"
#include "loader/trace/trace.h"

#include <inttypes.h>
#include <sys/mman.h>

#include "loader/arch/machine.h"

#define WORKERS_SIZE (SK_MAX_CORES * sizeof(struct sk_worker))

void sk_lane_close(struct sk_device_lane *lane)
{
	for (uint32_t i = 0; i < lane->open; i++)
		sk_call_close(&lane->workers[i].call);
	if (lane->workers)
		munmap(lane->workers, WORKERS_SIZE);
}

enum skrt_status sk_lane_open(struct skrt_device *device, uint32_t number, uint32_t cores)
{
	struct sk_device_lane *lane = &device->lanes[number];

	if (!lane->workers)
		lane->workers = sk_device_reserve(WORKERS_SIZE);
	if (!lane->workers)
		return sk_report(SKRT_OUT_OF_MEMORY, "no memory for %" PRIu32 " cores", cores);
	for (; lane->open < cores; lane->open++) {
		struct sk_worker *worker = &lane->workers[lane->open];

		worker->device = device;
		worker->number = lane->open;
		worker->core.lane = number;
		worker->core.runtime = device->runtime;
		if (!sk_call_open(&worker->call, device->stack_size))
			return sk_report(SKRT_OUT_OF_MEMORY, "no memory for stacks of %zu bytes for %" PRIu32 " cores",
					 device->stack_size, cores);
	}
	return SKRT_OK;
}

static int enter(void *context)
{
	struct sk_worker *worker = context;
	const struct skrt_kernel *kernel = worker->launch->kernel;

	if (worker->device->checks)
		return sk_checks_run(worker);
	if (!worker->launch->trace)
		return kernel->entry(&worker->core);
	worker->entered = sk_counter();
	int status = kernel->entry(&worker->core);
	worker->left = sk_counter();
	return status;
}

void sk_lane_prepare(struct sk_worker *worker, struct sk_launch *launch, uint32_t index)
{
	const struct skrt_kernel *kernel = launch->kernel;
	const struct skrt_instance *instance = launch->instance;
	const struct sk_workspace *workspace = &instance->workspaces[kernel->unshared];
	struct sk_core *core = &worker->core;
	uint64_t row = sk_core_row(kernel->cores, core->lane, index);
	uint64_t scratch_row = sk_core_row(kernel->module->cores, core->lane, worker->number);

	worker->launch = launch;
	worker->word = NULL;
	worker->step = SK_NO_INDEX;
	core->index = index;
	core->count = kernel->cores[core->lane];
	core->progress = (uint64_t *)((char *)launch->lanes[core->lane].words + (size_t)index * SK_PROGRESS_STRIDE);
	core->failed_task = SK_NO_INDEX;
	core->bindings = instance->bindings;
	core->workspace = workspace->memory;
	core->scratch = workspace->memory + workspace->scratch + scratch_row * workspace->scratch_stride;
	core->ranges = kernel->ranges + row * kernel->partition_count;
	core->homes = launch->homes + row * kernel->home_count;
	core->times = sk_trace_times(launch, core->lane, index);
	for (uint32_t lane = 0; lane < kernel->module->plan.lane_count; lane++)
		core->lanes[lane] = (struct sk_lane){
			.base = launch->lanes[lane].base,
			.words = launch->lanes[lane].words,
			.count = kernel->cores[lane],
		};
	sk_call_prepare(&worker->call, enter, worker, &launch->watched.due);
}
