/* `make bench-dynamic`: what sizes with bounds cost. `dynamic costs FIXED BOUNDED` compares chains of tasks
 * (bench/generate, sizes) in a package of one size and in one with bounds at that size, and prints the time to set
 * another size. `dynamic serve PACKAGE CORES` measures runs of a model with the dimensions batch and seq, or of one
 * size: for each line "BATCH SEQ REPEATS" of its input it prints the fastest of so many runs, in ms; on one core of the
 * processor's time, in which other work on the machine does not count. */
#include "config.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
	uint32_t sizes; /* dimensions, of which seq is the only one or the second */
	void *memory[16];
};

/* Bind memory of the largest sizes: of small normal numbers. */
static void bind_all(struct rig *rig)
{
	struct skrt_tensor tensor = {.size = sizeof(tensor)};

	for (rig->bindings = 0; !skrt_module_tensor(rig->module, rig->bindings, &tensor); rig->bindings++) {
		uint64_t bytes = (tensor.bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
		float *numbers = aligned_alloc(ALIGNMENT, bytes);

		if (!numbers || rig->bindings == sizeof(rig->memory) / sizeof(*rig->memory)) {
			fprintf(stderr, "bench: too large a package\n");
			exit(1);
		}
		for (uint64_t i = 0; i < bytes / sizeof(*numbers); i++)
			numbers[i] = (float)(i * 37 % 64) / 64 - 0.5F;
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
	rig.sizes = skrt_module_dimension_count(rig.module);
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

/* Return the time of setting sizes, where the package has them, and running all launches. */
static double run_at(struct rig *rig, uint64_t batch, uint64_t seq)
{
	double start = now(rig);

	if (rig->sizes > 1)
		bench_check(skrt_instance_set_dimension(rig->instance, "batch", batch));
	if (rig->sizes)
		bench_check(skrt_instance_set_dimension(rig->instance, "seq", seq));
	bench_check(skrt_run_network(rig->stream, rig->instance));
	return now(rig) - start;
}

static int serve(const char *package, const char *cores)
{
	struct rig rig = open_rig(package, (uint32_t)strtoul(cores, NULL, 10));
	uint64_t batch, seq;
	unsigned repeats;

	printf("ready\n");
	fflush(stdout);
	while (scanf("%" SCNu64 " %" SCNu64 " %u", &batch, &seq, &repeats) == 3) {
		double fastest = run_at(&rig, batch, seq);

		for (unsigned i = 1; i < repeats; i++) {
			double time = run_at(&rig, batch, seq);

			fastest = time < fastest ? time : fastest;
		}
		printf("%.6f\n", fastest);
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
	if (argc == 4 && !strcmp(argv[1], "serve"))
		return serve(argv[2], argv[3]);
	fprintf(stderr, "usage: dynamic costs FIXED BOUNDED | dynamic serve PACKAGE CORES\n");
	return 2;
}
