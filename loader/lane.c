/* A lane of a device: its cores, each with a stack and a progress word, and what a core is told about a launch. */
#include "config.h"

#include "loader/device.h"
#include "loader/trace.h"

#include <inttypes.h>
#include <sys/mman.h>

static const struct sk_runtime runtime = {
	.await = sk_player_await, .feed = sk_block_feed, .block_functions = &sk_block_functions};

#define WORKERS_SIZE (SK_MAX_CORES * sizeof(struct sk_worker))
#define WORDS_SIZE   ((size_t)SK_MAX_CORES * SK_PROGRESS_STRIDE)

void sk_lane_close(struct sk_device_lane *lane)
{
	for (uint32_t i = 0; i < lane->open; i++)
		sk_call_close(&lane->workers[i].call);
	if (lane->workers)
		munmap(lane->workers, WORKERS_SIZE);
	if (lane->words)
		munmap(lane->words, WORDS_SIZE);
}

/* Zero-filled pages that take memory as far as they are used, so that there is room for cores to come. */
static void *reserve(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

enum skrt_status sk_lane_open(struct skrt_device *device, uint32_t number, uint32_t cores)
{
	struct sk_device_lane *lane = &device->lanes[number];

	if (!lane->workers)
		lane->workers = reserve(WORKERS_SIZE);
	if (!lane->words)
		lane->words = reserve(WORDS_SIZE);
	if (!lane->workers || !lane->words)
		return sk_report(SKRT_OUT_OF_MEMORY, "no memory for %" PRIu32 " cores", cores);
	for (; lane->open < cores; lane->open++) {
		struct sk_worker *worker = &lane->workers[lane->open];

		worker->device = device;
		worker->core.lane = number;
		worker->core.index = lane->open;
		worker->core.progress = (uint64_t *)((char *)lane->words + (size_t)lane->open * SK_PROGRESS_STRIDE);
		worker->core.runtime = &runtime;
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

void sk_lane_prepare(struct sk_worker *worker, struct sk_launch *launch)
{
	const struct skrt_device *device = worker->device;
	const struct skrt_kernel *kernel = launch->kernel;
	const struct skrt_instance *instance = launch->instance;
	const struct sk_workspace *workspace = &instance->workspaces[kernel->unshared];
	struct sk_core *core = &worker->core;
	uint64_t row = sk_core_row(kernel->cores, core->lane, core->index);
	uint64_t scratch_row = sk_core_row(kernel->module->cores, core->lane, core->index);

	worker->launch = launch;
	worker->word = NULL;
	worker->step = SK_NO_INDEX;
	core->count = kernel->cores[core->lane];
	core->failed_task = SK_NO_INDEX;
	core->bindings = instance->bindings;
	core->workspace = workspace->memory;
	core->scratch = workspace->memory + workspace->scratch + scratch_row * workspace->scratch_stride;
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
