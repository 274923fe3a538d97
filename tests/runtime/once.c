/* Launches that run once, as programs see them: `once PACKAGE FALTERING DEVICE CORES OFFSET [checks]`, where
 * OFFSET is that of `count` in the workspace. The kernels are those
 * of once-kernels.c, and tell by their results how often they have run. Each check is by itself, with instances of its
 * own. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/skrt.h"

enum { N = 200, INSTANCES = 3, STREAMS = 2 };

#define EXPECT(condition)                                                                                              \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			fail(__LINE__, #condition);                                                                    \
	} while (0)

static void fail(int line, const char *what)
{
	fprintf(stderr, "line %d: %s (%s)\n", line, what, skrt_error());
	exit(1);
}

/* An instance with its bound memory. */
struct run {
	struct skrt_instance *instance;
	_Alignas(64) float x[N];
	_Alignas(64) float y[N];
	_Alignas(64) int64_t result;
};

static float weight(int i)
{
	return (float)(i * 37 % 101);
}

static void create(struct run *run, struct skrt_module *module, uint32_t shift)
{
	for (int i = 0; i < N; i++)
		run->x[i] = (float)(((uint32_t)i + shift) % 13);
	memset(run->y, 0, sizeof(run->y));
	run->result = 0;
	EXPECT(!skrt_instance_create(module, &run->instance));
	EXPECT(!skrt_instance_bind_array(run->instance, "x", SKRT_F32, 1, (uint64_t[]){N}, run->x));
	EXPECT(!skrt_instance_bind_array(run->instance, "y", SKRT_F32, 1, (uint64_t[]){N}, run->y));
	EXPECT(!skrt_instance_bind_array(run->instance, "result", SKRT_I64, 1, (uint64_t[]){1}, &run->result));
}

/* y = (x * q + q[0]) * p, with p the weights turned around, and q twice that. */
static bool is_right(const struct run *run)
{
	for (int i = 0; i < N; i++) {
		float p = weight(N - 1 - i), q = 2 * p, first = 2 * weight(N - 1);

		if (run->y[i] != (run->x[i] * q + first) * p)
			return false;
	}
	return true;
}

static const struct skrt_kernel *find(struct skrt_module *module, const char *name)
{
	const struct skrt_kernel *kernel = NULL;

	EXPECT(!skrt_module_find_kernel(module, name, &kernel));
	return kernel;
}

/* Runs of the network: the first one of each instance packs. */
static void check_network(struct skrt_module *module, struct skrt_stream *const *streams)
{
	static struct run runs[INSTANCES];
	int64_t before = 0;

	for (uint32_t i = 0; i < INSTANCES; i++) {
		create(&runs[i], module, i);
		for (int again = 0; again < 4; again++) {
			memset(runs[i].y, 0, sizeof(runs[i].y));
			EXPECT(!skrt_run_network(streams[0], runs[i].instance) && is_right(&runs[i]));
			EXPECT(again == 0 || runs[i].result == before);
			EXPECT(again != 0 || i == 0 || runs[i].result == before + 1);
			before = runs[i].result;
		}
		/* Other inputs, the same results. */
		runs[i].x[0]++;
		EXPECT(!skrt_launch_network_on(streams, STREAMS, runs[i].instance));
		EXPECT(!skrt_synchronise(streams[0]) && !skrt_synchronise(streams[1]));
		EXPECT(is_right(&runs[i]) && runs[i].result == before);
		/* Overwritten, they are made again. */
		EXPECT(!skrt_instance_fill_workspace(runs[i].instance, 0xff));
		EXPECT(!skrt_run_network(streams[0], runs[i].instance));
		EXPECT(is_right(&runs[i]) && runs[i].result == before + 1);
		before = runs[i].result;
	}
	for (uint32_t i = 0; i < INSTANCES; i++)
		EXPECT(!skrt_instance_destroy(runs[i].instance));
}

/* A program that launches only the entries that it needs, on two streams at once. */
static void check_launches(struct skrt_module *module, struct skrt_stream *const *streams)
{
	const struct skrt_kernel *scope = find(module, "sk_s"), *tell = find(module, "sk_task_number");
	static struct run run, other;

	create(&run, module, 1);
	create(&other, module, 2);
	EXPECT(!skrt_run(streams[0], other.instance, tell));
	for (int again = 0; again < 20; again++) {
		EXPECT(!skrt_launch(streams[again % 2], run.instance, scope));
		EXPECT(!skrt_launch(streams[!(again % 2)], run.instance, tell));
	}
	EXPECT(!skrt_synchronise(streams[0]) && !skrt_synchronise(streams[1]));
	EXPECT(is_right(&run) && run.result == other.result + 1);
	/* By itself it also runs once. */
	for (int again = 0; again < 3; again++)
		EXPECT(!skrt_run(streams[0], run.instance, find(module, "sk_task_packing")));
	EXPECT(!skrt_run(streams[0], run.instance, tell) && run.result == other.result + 1);
	EXPECT(!skrt_instance_destroy(run.instance) && !skrt_instance_destroy(other.instance));
}

/* The tasks' own entries have results of their own, but for checked launches, which have memory of their own for each
 * tensor. */
static void check_tasks(struct skrt_module *module, struct skrt_stream *const *streams, bool checks)
{
	static const char *const names[] = {"multiply", "shift", "again", "number", "number"};
	const struct skrt_kernel *kernel;
	static struct run run;
	int64_t first;

	create(&run, module, 3);
	EXPECT(!skrt_run_network(streams[0], run.instance));
	first = run.result;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		memset(run.y, 0, i < 3 ? sizeof(run.y) : 0);
		EXPECT(!skrt_module_find_task(module, names[i], &kernel));
		EXPECT(!skrt_run(streams[i % 2], run.instance, kernel));
	}
	EXPECT(is_right(&run) && run.result == first + 1);
	EXPECT(!skrt_run_network(streams[0], run.instance) && run.result == first + checks);
	EXPECT(!skrt_instance_destroy(run.instance));
}

/* libskrt's serial runs know the instance; the entries themselves always run. */
static void check_serial(struct skrt_module *module, struct skrt_stream *const *streams, const char *path,
			 size_t offset)
{
	const struct skrt_kernel *scope = find(module, "sk_s"), *tell = find(module, "sk_task_number");
	static struct run run;
	_Alignas(64) static char workspace[1 << 16];
	int64_t first, *count;

	create(&run, module, 4);
	EXPECT(!skrt_run_serial(run.instance, scope) && is_right(&run));
	EXPECT(!skrt_run_serial(run.instance, tell));
	first = run.result;
	EXPECT(!skrt_run_serial(run.instance, tell) && run.result == first);
	EXPECT(!skrt_run_network(streams[0], run.instance) && is_right(&run) && run.result == first);
	EXPECT(!skrt_instance_destroy(run.instance));

	void *library = dlopen(path, RTLD_NOW);
	EXPECT(library);
	int (*serial)(void *const *tensors, void *memory);

	*(void **)&serial = dlsym(library, "sk_task_packing_serial");
	EXPECT(serial);
	for (int64_t again = 1; again <= 3; again++) {
		EXPECT(!serial(NULL, workspace));
		count = (int64_t *)(workspace + offset);
		EXPECT(*count == again);
	}
	dlclose(library);
}

/* A failed task is run again, and the launches that wait for it fail as well. */
static void check_failure(struct skrt_module *module, struct skrt_stream *const *streams)
{
	static struct run run;

	create(&run, module, 5);
	EXPECT(skrt_run_network(streams[0], run.instance) == SKRT_KERNEL_FAILED);
	EXPECT(strstr(skrt_error(), "task 'packing'") && strstr(skrt_error(), "status 7"));
	EXPECT(run.y[N / 2] == 0 && run.result == 0);
	EXPECT(!skrt_run_network(streams[0], run.instance) && is_right(&run));
	EXPECT(!skrt_run_network(streams[0], run.instance) && is_right(&run));
	/* It has been called twice: the first call failed. */
	EXPECT(run.result == 2);
	EXPECT(!skrt_instance_destroy(run.instance));
}

static struct skrt_module *load(struct skrt_device *device, const char *path)
{
	struct skrt_module *module;

	EXPECT(!skrt_module_load(device, path, &module));
	return module;
}

int main(int argc, char **argv)
{
	struct skrt_device_options options = {.size = sizeof(options)};
	struct skrt_device *device;
	struct skrt_stream *streams[STREAMS];

	if (argc < 6)
		return 1;
	options.device = argv[3];
	options.cores = (uint32_t)strtoul(argv[4], NULL, 10);
	options.checks = argc > 6 ? SKRT_GUARD | SKRT_CHECK_RACES : 0;
	EXPECT(!skrt_device_open(&options, &device));
	for (int i = 0; i < STREAMS; i++)
		EXPECT(!skrt_stream_create(device, &streams[i]));

	struct skrt_module *module = load(device, argv[1]), *faltering = load(device, argv[2]);

	check_network(module, streams);
	check_launches(module, streams);
	check_tasks(module, streams, options.checks);
	check_failure(faltering, streams);
	if (!options.checks) /* which serial runs do not share memory with */
		check_serial(module, streams, argv[1], strtoul(argv[5], NULL, 10));
	EXPECT(!skrt_module_unload(module) && !skrt_module_unload(faltering));
	for (int i = 0; i < STREAMS; i++)
		EXPECT(!skrt_stream_destroy(streams[i]));
	EXPECT(!skrt_device_close(device));
	return 0;
}
