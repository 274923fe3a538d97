/* See rig.h. */
#include "config.h"

#include "bench/rig.h"

#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"

enum { LINE = 128 };

static void *memory[BENCH_TENSORS];

struct bench_rig bench_rig_open(const char *package, const char *device, uint32_t cores)
{
	struct skrt_device_options options = {.size = sizeof(options), .device = device, .cores = cores};
	struct bench_rig rig;

	bench_check(skrt_device_open(&options, &rig.device));
	bench_check(skrt_module_load(rig.device, package, &rig.module));
	bench_check(skrt_instance_create(rig.module, &rig.instance));
	bench_check(skrt_stream_create(rig.device, &rig.stream));
	for (uint32_t i = 0; i < BENCH_TENSORS; i++) {
		struct skrt_tensor tensor = {.size = sizeof(tensor)};

		bench_check(skrt_module_tensor(rig.module, i, &tensor));
		if (!memory[i]) {
			memory[i] = aligned_alloc(LINE, (tensor.bytes + LINE - 1) / LINE * LINE);
			memset(memory[i], 0, tensor.bytes);
		}
		bench_check(skrt_instance_bind(rig.instance, i, memory[i], tensor.bytes));
	}
	return rig;
}

void bench_rig_close(const struct bench_rig *rig)
{
	bench_check(skrt_stream_destroy(rig->stream));
	bench_check(skrt_instance_destroy(rig->instance));
	bench_check(skrt_module_unload(rig->module));
	bench_check(skrt_device_close(rig->device));
}

void *const *bench_rig_memory(void)
{
	return memory;
}

void bench_rig_free_memory(void)
{
	for (uint32_t i = 0; i < BENCH_TENSORS; i++)
		free(memory[i]);
}

struct bench_launch bench_launch_of(const struct bench_rig *rig, const char *kernel)
{
	struct bench_launch launch = {.rig = rig};

	bench_check(skrt_module_find_kernel(rig->module, kernel, &launch.kernel));
	return launch;
}

void bench_launch_run(const void *context)
{
	const struct bench_launch *launch = context;

	bench_check(skrt_run(launch->rig->stream, launch->rig->instance, launch->kernel));
}

void bench_launch_run_serial(const void *context)
{
	const struct bench_launch *launch = context;

	bench_check(skrt_run_serial(launch->rig->instance, launch->kernel));
}
