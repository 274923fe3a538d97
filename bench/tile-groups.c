/* `make bench`: the time that tile groups save. Input: networks of one scope, each linked without groups and with them,
 * which also have a task `hand` that computes the same as a loop by hand (bench/generate, tiles-...). Output: a table
 * for one core and one for two: the tasks one by one, the superkernel without groups and with them, and the loop by
 * hand, all in turn, with a copy of 64 MiB. Results must be equal to the bit.
 *
 * Another table gives the time that concurrent tasks save: independent chains of tasks with work for one core, on one
 * core and on two, one after the other and side by side, all in turn. */
#include "config.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/measure.h"

enum { COPIED = 64 << 20, ALIGNMENT = 128, MOST_TENSORS = 8, MOST_TASKS = 64, SECONDS = 1000000000 };

enum way { UNFUSED, PLAIN, GROUPS, HAND, COPY, WAYS };
enum side_way { SERIAL_1, SERIAL_2, BESIDE_1, BESIDE_2, SIDE_WAYS }; /* on so many cores */

/* A package on a device, with its bindings. */
struct rig {
	struct skrt_device *device;
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;
	const struct skrt_kernel *tasks[MOST_TASKS]; /* without the one by hand */
	uint32_t task_count;
	const struct skrt_kernel *chain, *hand;
};

/* The memory that all rigs of a network are bound to. */
struct memory {
	void *tensors[MOST_TENSORS];
	uint64_t bytes[MOST_TENSORS];
	uint32_t output; /* y */
};

static void run_unfused(const void *context)
{
	const struct rig *rig = context;

	for (uint32_t i = 0; i < rig->task_count; i++)
		bench_check(skrt_launch(rig->stream, rig->instance, rig->tasks[i]));
	bench_check(skrt_synchronise(rig->stream));
}

static void run_chain(const void *context)
{
	const struct rig *rig = context;

	bench_check(skrt_run(rig->stream, rig->instance, rig->chain));
}

static void run_hand(const void *context)
{
	const struct rig *rig = context;

	bench_check(skrt_run(rig->stream, rig->instance, rig->hand));
}

static void run_copy(const void *context)
{
	void *const *halves = context;

	memcpy(halves[0], halves[1], COPIED);
}

static void *allocate(uint64_t bytes)
{
	void *memory = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);

	if (!memory) {
		perror("bench");
		exit(1);
	}
	return memory;
}

/* Fill the tensor with numbers from -1 to 1. */
static void fill(float *values, uint64_t count)
{
	uint32_t state = 1;

	for (uint64_t i = 0; i < count; i++) {
		state = state * 1664525 + 1013904223;
		values[i] = (float)(state >> 8) / (1 << 23) - 1;
	}
}

static void bind(const struct rig *rig, struct memory *memory)
{
	bench_check(skrt_module_find_tensor(rig->module, "y", &memory->output));
	for (uint32_t i = 0; i < skrt_module_tensor_count(rig->module); i++) {
		struct skrt_tensor tensor = {.size = sizeof(tensor)};

		bench_check(skrt_module_tensor(rig->module, i, &tensor));
		if (!memory->tensors[i]) {
			memory->bytes[i] = tensor.bytes;
			memory->tensors[i] = allocate(tensor.bytes);
			fill(memory->tensors[i], tensor.bytes / sizeof(float));
		}
		bench_check(skrt_instance_bind(rig->instance, i, memory->tensors[i], tensor.bytes));
	}
}

static void open_rig(struct rig *rig, const char *package, uint32_t cores, bool by_hand, struct memory *memory)
{
	struct skrt_device_options options = {.size = sizeof(options), .cores = cores};

	bench_check(skrt_device_open(&options, &rig->device));
	bench_check(skrt_module_load(rig->device, package, &rig->module));
	bench_check(skrt_instance_create(rig->module, &rig->instance));
	bench_check(skrt_stream_create(rig->device, &rig->stream));
	bench_check(skrt_module_find_kernel(rig->module, "sk_chain", &rig->chain));
	rig->task_count = skrt_module_task_count(rig->module);
	if (by_hand) {
		bench_check(skrt_module_find_kernel(rig->module, "sk_task_hand", &rig->hand));
		rig->task_count--;
	}
	for (uint32_t i = 0; i < rig->task_count && i < MOST_TASKS; i++)
		bench_check(skrt_module_task(rig->module, i, &rig->tasks[i]));
	bind(rig, memory);
}

static void close_rig(const struct rig *rig)
{
	bench_check(skrt_stream_destroy(rig->stream));
	bench_check(skrt_instance_destroy(rig->instance));
	bench_check(skrt_module_unload(rig->module));
	bench_check(skrt_device_close(rig->device));
}

/* End the program if one of the ways computes another result than the first one. */
static void compare_results(const char *title, const struct bench_variant *variants, int ways,
			    const struct memory *memory)
{
	uint64_t bytes = memory->bytes[memory->output];
	void *output = memory->tensors[memory->output], *expected = allocate(bytes);

	for (int way = 0; way < ways; way++) {
		memset(output, 0xff, bytes);
		variants[way].run(variants[way].context);
		if (way == 0) {
			memcpy(expected, output, bytes);
		} else if (memcmp(expected, output, bytes)) {
			fprintf(stderr, "bench: %s: %s computes something else than %s\n", title, variants[way].title,
				variants[0].title);
			exit(1);
		}
	}
	free(expected);
}

/* Return how many runs of a variant are measured together; they take some milliseconds. */
static unsigned runs_of(uint64_t bytes)
{
	return bytes < 1 << 20 ? 100 : 1;
}

static void print_row(const char *title, uint32_t cores, const struct bench_variant *variants)
{
	printf("  %-34s %u %10.1f %10.1f %10.1f %10.1f", title, cores, bench_median(&variants[UNFUSED]),
	       bench_median(&variants[PLAIN]), bench_median(&variants[GROUPS]), bench_median(&variants[HAND]));
	printf(" %9.2f %9.2f %9.2f %8.1f\n", bench_ratio(&variants[UNFUSED], &variants[GROUPS]),
	       bench_ratio(&variants[PLAIN], &variants[GROUPS]), bench_ratio(&variants[GROUPS], &variants[HAND]),
	       COPIED * 2.0 / bench_median(&variants[COPY]) / 1000);
}

static void bench_network(const char *title, const char *plain, const char *groups, uint32_t cores, unsigned rounds,
			  void *const *halves)
{
	static void (*const runs[WAYS])(const void *) = {run_unfused, run_chain, run_chain, run_hand, run_copy};
	static const char *const titles[WAYS] = {"unfused", "superkernel", "tile groups", "by hand", "copy"};
	static struct bench_variant variants[WAYS];
	struct bench_variant *all[WAYS];
	struct memory memory = {0};
	struct rig rigs[2] = {0};

	open_rig(&rigs[0], plain, cores, true, &memory);
	open_rig(&rigs[1], groups, cores, true, &memory);
	for (int way = 0; way < WAYS; way++) {
		variants[way] = (struct bench_variant){
			.title = titles[way],
			.run = runs[way],
			.context = way == COPY ? halves : (const void *)&rigs[way == GROUPS],
			.steps = 1000, /* results are µs */
			.runs = way == COPY ? 1 : runs_of(memory.bytes[memory.output]),
		};
		all[way] = &variants[way];
	}
	compare_results(title, variants, COPY, &memory);
	bench_measure(all, WAYS, rounds);
	print_row(title, cores, variants);
	close_rig(&rigs[0]);
	close_rig(&rigs[1]);
	for (uint32_t i = 0; i < MOST_TENSORS; i++)
		free(memory.tensors[i]);
}

/* Chains of tasks that have work for one core. */
static void bench_chains(const char *title, const char *serial, const char *beside, unsigned rounds)
{
	static const char *const titles[SIDE_WAYS] = {"one after the other on one core", "on two cores",
						      "side by side on one core", "on two cores"};
	static struct bench_variant variants[SIDE_WAYS];
	struct bench_variant *all[SIDE_WAYS];
	struct memory memory = {0};
	struct rig rigs[SIDE_WAYS] = {0};

	for (int way = 0; way < SIDE_WAYS; way++) {
		open_rig(&rigs[way], way < BESIDE_1 ? serial : beside, (uint32_t)way % 2 + 1, false, &memory);
		variants[way] = (struct bench_variant){
			.title = titles[way], .run = run_chain, .context = &rigs[way], .steps = 1000, .runs = 1};
		all[way] = &variants[way];
	}
	compare_results(title, variants, SIDE_WAYS, &memory);
	bench_measure(all, SIDE_WAYS, rounds);
	printf("side by side, \u00b5s: medians of %u rounds in turn\n  %-34s %24s %24s %14s\n", rounds, "",
	       "serial: 1, 2 cores", "beside: 1, 2 cores", "beside 2/1");
	printf("  %-34s %12.1f %11.1f %12.1f %11.1f %14.2f\n", title, bench_median(&variants[SERIAL_1]),
	       bench_median(&variants[SERIAL_2]), bench_median(&variants[BESIDE_1]), bench_median(&variants[BESIDE_2]),
	       bench_ratio(&variants[BESIDE_2], &variants[BESIDE_1]));
	for (int way = 0; way < SIDE_WAYS; way++)
		close_rig(&rigs[way]);
	for (uint32_t i = 0; i < MOST_TENSORS; i++)
		free(memory.tensors[i]);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *title, *name;
	} networks[] = {
		{"5 elementwise kernels over 64 MiB", "five-large"},
		{"5 elementwise kernels over 64 KiB", "five-small"},
		{"softmax of 16384 rows of 1024", "softmax"},
		{"product, bias, GeLU, residual, norm", "layer"},
		{"40 kernels with forks over 4 MiB", "forks"},
	};
	unsigned rounds = argc == 3 || argc == 4 ? (unsigned)atoi(argv[2]) : 0;
	void *halves[2] = {allocate(COPIED), allocate(COPIED)};

	if (rounds < 1 || rounds > BENCH_MOST_ROUNDS) {
		fprintf(stderr, "usage: %s FOLDER ROUNDS [NETWORK]\n", argv[0]);
		return 2;
	}
	memset(halves[0], 1, COPIED);
	memset(halves[1], 2, COPIED);
	long processors = sysconf(_SC_NPROCESSORS_ONLN); /* not pinned: devices that are opened later would be, too */

	printf("tile groups, \u00b5s: medians of %u rounds in turn\n", rounds);
	printf("  %-30s cores %10s %10s %10s %10s %9s %9s %9s %8s\n", "", "unfused", "superkern.", "groups", "by hand",
	       "unf./gr.", "sup./gr.", "gr./hand", "copy GB/s");
	for (unsigned i = 0; i < sizeof(networks) / sizeof(networks[0]); i++)
		for (uint32_t cores = 1; cores <= 2 && cores <= (unsigned long)processors; cores++) {
			char plain[4096], groups[4096];

			if (argc == 4 && strcmp(networks[i].name, argv[3]) != 0)
				continue;
			snprintf(plain, sizeof(plain), "%s/%s-plain.sk", argv[1], networks[i].name);
			snprintf(groups, sizeof(groups), "%s/%s.sk", argv[1], networks[i].name);
			bench_network(networks[i].title, plain, groups, cores, rounds, halves);
		}
	if (processors > 1 && (argc == 3 || !strcmp(argv[3], "chains"))) {
		char serial[4096], beside[4096];

		snprintf(serial, sizeof(serial), "%s/chains-plain.sk", argv[1]);
		snprintf(beside, sizeof(beside), "%s/chains.sk", argv[1]);
		bench_chains("8 chains of 2 softmaxes of 65536", serial, beside, rounds);
	}
	printf("  goals for 5 kernels over 64 MiB: unfused/groups 3.5 on one core and 4 on two, groups/by hand at most "
	       "1.3; superkernel/groups nowhere below 1; for chains: beside 2/1 0.55\n");
	free(halves[0]);
	free(halves[1]);
	return 0;
}
