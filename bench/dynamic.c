/* `make bench-dynamic`: what sizes with bounds cost. `dynamic costs FIXED BOUNDED` compares chains of tasks
 * (bench/generate, sizes) in a package of one size and in one with bounds at that size, and prints the time to set
 * another size. `dynamic serve PACKAGE CORES NAME...` measures runs of a model with dimensions of these names; the
 * package may have only some of them. For each line "SIZE... REPEATS" of its input, a size for each name, it prints the
 * fastest of so many runs in ms, and the memory of the process that is not a file's, in KiB. On one core a time is the
 * processor's, in which other work on the machine does not count. */
#include "config.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/measure.h"

enum {
	ALIGNMENT = 128,
	TASKS = 1000, /* of a chain */
	HUNDREDS = TASKS / 100,
	LAUNCHES = 5, /* of one variant in one round */
	ROUNDS = BENCH_MOST_ROUNDS,
	ELEMENTS = 512, /* of the chains' tensors in the package of one size */
};

struct rig {
	struct skrt_device *device;
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;
	uint32_t cores, bindings;
	void *memory[16];
};

/* Small normal numbers, or integers. */
static void fill(void *memory, uint64_t bytes, enum skrt_dtype type)
{
	if (type == SKRT_I64)
		for (uint64_t i = 0; i < bytes / sizeof(int64_t); i++)
			((int64_t *)memory)[i] = (int64_t)(i * 37 % 64);
	else
		for (uint64_t i = 0; i < bytes / sizeof(float); i++)
			((float *)memory)[i] = (float)(i * 37 % 64) / 64 - 0.5F;
}

/* Bind memory of the largest sizes. */
static void bind_all(struct rig *rig)
{
	struct skrt_tensor tensor = {.size = sizeof(tensor)};

	for (rig->bindings = 0; !skrt_module_tensor(rig->module, rig->bindings, &tensor); rig->bindings++) {
		uint64_t bytes = tensor.bytes + tensor.padding;
		void *numbers = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);

		if (!numbers || rig->bindings == sizeof(rig->memory) / sizeof(*rig->memory)) {
			fprintf(stderr, "bench: too large a package\n");
			exit(1);
		}
		fill(numbers, bytes, tensor.dtype);
		rig->memory[rig->bindings] = numbers;
		bench_check(skrt_instance_bind(rig->instance, rig->bindings, numbers, bytes));
	}
}

static struct rig open_rig(const char *package, uint32_t cores)
{
	struct skrt_device_options options = {.size = sizeof(options), .device = "host", .cores = cores};
	struct rig rig = {.cores = cores};

	bench_check(skrt_device_open(&options, &rig.device));
	bench_check(skrt_module_load(rig.device, package, &rig.module));
	bench_check(skrt_instance_create(rig.module, &rig.instance));
	bench_check(skrt_stream_create(rig.device, &rig.stream));
	bind_all(&rig);
	return rig;
}

static void close_rig(struct rig *rig)
{
	bench_check(skrt_stream_destroy(rig->stream));
	bench_check(skrt_instance_destroy(rig->instance));
	bench_check(skrt_module_unload(rig->module));
	bench_check(skrt_device_close(rig->device));
	for (uint32_t i = 0; i < rig->bindings; i++)
		free(rig->memory[i]);
}

/* ---- serve ---- */

static double now(const struct rig *rig)
{
	struct timespec time;

	clock_gettime(rig->cores == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

enum { MOST_NAMES = 4 };

/* The dimensions that lines of the input have sizes for. */
struct served {
	const char *names[MOST_NAMES]; /* NULL: the package is for one size */
	uint64_t sizes[MOST_NAMES];
	int count;
};

static bool has_dimension(const struct rig *rig, const char *name)
{
	struct skrt_dimension dimension = {.size = sizeof(dimension)};

	for (uint32_t i = 0; !skrt_module_dimension(rig->module, i, &dimension); i++)
		if (!strcmp(dimension.name, name))
			return true;
	return false;
}

/* Return the time of setting sizes and running all launches. */
static double run_at(const struct rig *rig, const struct served *served)
{
	double start = now(rig);

	for (int i = 0; i < served->count; i++)
		if (served->names[i])
			bench_check(skrt_instance_set_dimension(rig->instance, served->names[i], served->sizes[i]));
	bench_check(skrt_run_network(rig->stream, rig->instance));
	return now(rig) - start;
}

/* Read a line; false: there is none left. */
static bool read_sizes(struct served *served, unsigned *repeats)
{
	for (int i = 0; i < served->count; i++)
		if (scanf("%" SCNu64, &served->sizes[i]) != 1)
			return false;
	return scanf("%u", repeats) == 1;
}

/* Return KiB: pages that are used, without those of files, of which each token reads others. */
static long memory_size(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long used = 0, shared = 0;

	if (!file || fscanf(file, "%*d %ld %ld", &used, &shared) != 2) {
		fprintf(stderr, "bench: /proc/self/statm cannot be read\n");
		exit(1);
	}
	fclose(file);
	return (used - shared) * (sysconf(_SC_PAGESIZE) / 1024);
}

static int serve(const char *package, const char *cores, char **names, int count)
{
	struct rig rig = open_rig(package, (uint32_t)strtoul(cores, NULL, 10));
	struct served served = {.count = count};
	unsigned repeats;

	for (int i = 0; i < count; i++)
		served.names[i] = has_dimension(&rig, names[i]) ? names[i] : NULL;
	printf("ready\n");
	fflush(stdout);
	while (read_sizes(&served, &repeats)) {
		double fastest = run_at(&rig, &served);

		for (unsigned i = 1; i < repeats; i++) {
			double time = run_at(&rig, &served);

			fastest = time < fastest ? time : fastest;
		}
		printf("%.6f %ld\n", fastest, memory_size());
		fflush(stdout);
	}
	close_rig(&rig);
	return 0;
}

/* ---- costs ---- */

/* A chain of one package; `other`: it is set to another size, and back, before each launch. */
struct chain {
	const struct rig *rig;
	const struct skrt_kernel *kernel;
	bool other;
};

static struct chain chain_of(const struct rig *rig, const char *name)
{
	struct chain chain = {.rig = rig};

	bench_check(skrt_module_find_kernel(rig->module, name, &chain.kernel));
	return chain;
}

static void run_chain(const void *context)
{
	const struct chain *chain = context;

	if (chain->other) {
		bench_check(skrt_instance_set_dimension(chain->rig->instance, "n", ELEMENTS / 2));
		bench_check(skrt_instance_set_dimension(chain->rig->instance, "n", ELEMENTS));
	}
	bench_check(skrt_run(chain->rig->stream, chain->rig->instance, chain->kernel));
}

static void set_same(const void *context)
{
	const struct chain *chain = context;

	for (unsigned i = 0; i < TASKS; i++)
		bench_check(skrt_instance_set_dimension(chain->rig->instance, "n", ELEMENTS));
}

static struct bench_variant variant_of(void (*run)(const void *context), const void *context)
{
	return (struct bench_variant){.title = "", .run = run, .context = context, .steps = TASKS, .runs = LAUNCHES};
}

static void bench_chain(const char *title, const char *name, const struct rig *fixed, const struct rig *bounded)
{
	struct chain chains[3] = {chain_of(fixed, name), chain_of(bounded, name), chain_of(bounded, name)};
	static struct bench_variant variants[4];
	struct bench_variant *all[4];

	chains[2].other = true;
	for (int i = 0; i < 3; i++)
		variants[i] = variant_of(run_chain, &chains[i]);
	variants[3] = variant_of(set_same, &chains[1]);
	for (int i = 0; i < 4; i++)
		all[i] = &variants[i];
	bench_measure(all, 4, ROUNDS);
	printf("  %-36s %8.2f %8.2f %8.3f %12.2f %12.2f\n", title, bench_median(&variants[0]),
	       bench_median(&variants[1]), bench_ratio(&variants[1], &variants[0]),
	       bench_difference(&variants[2], &variants[1]) * TASKS / 2 / HUNDREDS, bench_median(&variants[3]));
}

/* The bounded package begins with the usual sizes, which are those of the other one. */
static int compare_costs(const char *fixed_package, const char *bounded_package)
{
	struct rig fixed = open_rig(fixed_package, 1), bounded = open_rig(bounded_package, 1);

	printf("one core, ns per task of a chain of %d     one size   bounds    ratio  another size*  the same**\n",
	       TASKS);
	bench_chain("512 additions a task", "sk_adding", &fixed, &bounded);
	bench_chain("512 additions a task, divided", "sk_dividing", &fixed, &bounded);
	printf("  * ns to set it, for each hundred tasks   ** ns to set the size that it has\n"
	       "  goals: ratio 1.02, another size 1000 ns for each hundred tasks\n");
	close_rig(&fixed);
	close_rig(&bounded);
	return 0;
}

int main(int argc, char **argv)
{
	bench_pin();
	if (argc == 4 && !strcmp(argv[1], "costs"))
		return compare_costs(argv[2], argv[3]);
	if (argc > 4 && argc <= 4 + MOST_NAMES && !strcmp(argv[1], "serve"))
		return serve(argv[2], argv[3], argv + 4, argc - 4);
	fprintf(stderr, "usage: dynamic costs FIXED BOUNDED | dynamic serve PACKAGE CORES NAME...\n");
	return 2;
}
