/* A lane of a device: its cores, each with a stack and a progress word, and what a core is told about a launch. */
#include "config.h"

#include "loader/device.h"
#include "loader/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct sk_runtime runtime = {.await = sk_player_await};

void sk_lane_close(struct sk_device_lane *lane)
{
	for (uint32_t i = 0; i < lane->cores && lane->workers; i++)
		sk_call_close(&lane->workers[i].call);
	free(lane->workers);
	free(lane->words);
	lane->workers = NULL;
	lane->words = NULL;
}

enum skrt_status sk_lane_open(struct skrt_device *device, uint32_t number)
{
	struct sk_device_lane *lane = &device->lanes[number];
	uint32_t cores = lane->cores;
	size_t words_size = (size_t)cores * SK_PROGRESS_STRIDE;

	lane->base = 0;
	lane->workers = aligned_alloc(SK_LINE, cores * sizeof(*lane->workers));
	lane->words = aligned_alloc(SK_PROGRESS_STRIDE, words_size);
	if (!lane->workers || !lane->words) {
		free(lane->workers);
		lane->workers = NULL;
		sk_lane_close(lane);
		return sk_report(SKRT_OUT_OF_MEMORY, "no memory for %" PRIu32 " cores", cores);
	}
	memset(lane->workers, 0, cores * sizeof(*lane->workers));
	memset(lane->words, 0, words_size);
	for (uint32_t i = 0; i < cores; i++) {
		struct sk_worker *worker = &lane->workers[i];

		worker->device = device;
		worker->core.lane = number;
		worker->core.index = i;
		worker->core.progress = (uint64_t *)((char *)lane->words + (size_t)i * SK_PROGRESS_STRIDE);
		worker->core.runtime = &runtime;
		if (!sk_call_open(&worker->call, device->stack_size)) {
			sk_lane_close(lane);
			return sk_report(SKRT_OUT_OF_MEMORY, "no memory for stacks of %zu bytes for %" PRIu32 " cores",
					 device->stack_size, cores);
		}
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

void sk_lane_prepare(struct sk_worker *worker, struct sk_launch *launch)
{
	const struct skrt_device *device = worker->device;
	const struct skrt_kernel *kernel = launch->kernel;
	const struct skrt_instance *instance = launch->instance;
	const struct sk_workspace *workspace = &instance->workspaces[kernel->unshared];
	struct sk_core *core = &worker->core;
	uint64_t row = sk_device_row(device, core->lane, core->index);

	worker->launch = launch;
	worker->word = NULL;
	worker->step = SK_NO_INDEX;
	core->count = kernel->cores[core->lane];
	core->failed_task = SK_NO_INDEX;
	core->bindings = instance->bindings;
	core->workspace = workspace->memory;
	core->scratch = workspace->memory + workspace->scratch + row * workspace->scratch_stride;
	core->ranges = kernel->ranges + row * kernel->partition_count;
	core->homes = kernel->homes + row * kernel->home_count;
	core->times = sk_trace_times(launch, core->lane, core->index);
	for (uint32_t lane = 0; lane < kernel->module->plan.lane_count; lane++)
		core->lanes[lane] = (struct sk_lane){
			.base = launch->bases[lane],
			.words = device->lanes[lane].words,
			.count = kernel->cores[lane],
		};
	sk_call_prepare(&worker->call, enter, worker);
}
