/* A lane of a device: its cores, each with a stack, and their preparation for a flight. */
#include "config.h"

#include "loader/device/device.h"

#include <inttypes.h>
#include <sys/mman.h>

#include "format/skabi.h"
#include "format/skplan.h"
#include "loader/arch/machine.h"
#include "loader/base/status.h"
#include "loader/checks/checks.h"
#include "loader/core/core.h"
#include "loader/flight/flight.h"
#include "loader/skrt.h"
#include "loader/trace/trace.h"

#define CORES_SIZE (SK_MAX_CORES * sizeof(struct sk_device_core))

void sk_lane_close(struct sk_device_lane *lane)
{
	for (uint32_t i = 0; i < lane->count; i++)
		sk_call_close(&lane->cores[i].call);
	if (lane->cores)
		munmap(lane->cores, CORES_SIZE);
}

enum skrt_status sk_lane_open(struct skrt_device *device, uint32_t number, uint32_t cores)
{
	struct sk_device_lane *lane = &device->lanes[number];

	if (!lane->cores)
		lane->cores = sk_device_reserve(CORES_SIZE);
	if (!lane->cores)
		return sk_fail(SKRT_OUT_OF_MEMORY, "no memory for %" PRIu32 " cores", cores);
	for (; lane->count < cores; lane->count++) {
		struct sk_device_core *core = &lane->cores[lane->count];

		core->number = lane->count;
		core->abi.lane = number;
		core->abi.runtime = device->runtime;
		if (!sk_call_open(&core->call, device->stack_size))
			return sk_fail(SKRT_OUT_OF_MEMORY, "no memory for stacks of %zu bytes for %" PRIu32 " cores",
				       device->stack_size, cores);
	}
	return SKRT_OK;
}

static int enter_lane(void *context)
{
	struct sk_device_core *core = context;
	const struct skrt_kernel *kernel = core->flight->kernel;

	if (core->flight->checks)
		return sk_checks_run(core);
	if (!core->flight->trace)
		return kernel->entry(&core->abi);
	core->entered = sk_counter();
	int status = kernel->entry(&core->abi);
	core->left = sk_counter();
	return status;
}

void sk_lane_prepare(struct sk_device_core *core, struct sk_flight *flight, const uint64_t bases[SK_MAX_LANES],
		     uint32_t index)
{
	const struct skrt_kernel *kernel = flight->kernel;
	const struct skrt_instance *instance = flight->instance;
	const struct sk_workspace *workspace = &instance->workspaces[kernel->unshared];
	struct sk_core *abi = &core->abi;
	uint32_t lanes = kernel->module->plan.lane_count;
	uint64_t row = sk_core_row(kernel->cores, abi->lane, index);
	uint64_t scratch_row = sk_core_row(kernel->module->cores, abi->lane, core->number);

	core->flight = flight;
	core->word = NULL;
	core->transport = NULL;
	core->planned_call = SK_NO_INDEX;
	abi->index = index;
	abi->count = kernel->cores[abi->lane];
	abi->progress = (uint64_t *)((char *)flight->lanes[abi->lane].words + (size_t)index * SK_PROGRESS_STRIDE);
	abi->failed_task = SK_NO_INDEX;
	abi->bindings = instance->bindings;
	abi->workspace = workspace->memory;
	if (kernel->thunk)
		sk_words_hand(&flight->words, abi);
	abi->scratch = workspace->memory + workspace->scratch + scratch_row * workspace->scratch_stride;
	abi->ranges = flight->ranges + row * kernel->partition_count;
	abi->homes = flight->homes + row * kernel->home_count;
	abi->times = sk_trace_times(flight, abi->lane, index);
	for (uint32_t lane = 0; lane < lanes; lane++) {
		bool told = sk_lane_is_told(flight, lane);

		abi->lanes[lane] = (struct sk_lane){
			.base = bases[lane],
			.words = told ? &core->own[lane].known : flight->lanes[lane].words,
			.count = told ? 1 : kernel->cores[lane],
		};
	}
	sk_call_prepare(&core->call, &kernel->module->image.package, enter_lane, core, &flight->watched.due);
}
