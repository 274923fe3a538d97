/* `make bench`: what the dispatcher costs per task. In: the package that sklink made of bench/generate's manifest, run
 * by libskrt, and the same chains as straight-line C. Out: a table.
 *
 * Machines are noisy, and the round trip of a cache line between two processors flips between values for minutes at a
 * time. So all variants take turns in many short rounds, every round begins with another one, and ratios are formed
 * within a round; what is printed are medians over the rounds. */
#include "config.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "loader/skrt.h"

int direct_empty(void *const *tensors, void *workspace);
int direct_tiny(void *const *tensors, void *workspace);

enum {
	TASKS = 1000, /* of a chain, and hand-offs of the hand-written loops: see bench/generate, bench/hand-written.c
		       */
	LAUNCHES = 5, /* of one variant in one round */
	ROUNDS = 1001,
	ELEMENTS = 64,
};

static void *bindings[4]; /* a, b, line, flags: the tensors of the manifest in its order */

static void check(enum skrt_status status)
{
	if (!status)
		return;
	fprintf(stderr, "bench: %s: %s\n", skrt_status_name(status), skrt_error());
	exit(1);
}

/* ---- variants ---- */

struct variant {
	int (*direct)(void *const *tensors, void *workspace); /* or: */
	struct skrt_instance *instance;
	struct skrt_stream *stream;
	const struct skrt_kernel *kernel;
	bool serial;
	double times[ROUNDS]; /* ns per task */
};

static void run(const struct variant *variant)
{
	if (variant->direct)
		variant->direct(bindings, NULL);
	else if (variant->serial)
		check(skrt_run_serial(variant->instance, variant->kernel));
	else
		check(skrt_run(variant->stream, variant->instance, variant->kernel));
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void measure(struct variant *variant, unsigned round)
{
	run(variant); /* wakes the threads, warms the caches */

	double start = now();

	for (unsigned i = 0; i < LAUNCHES; i++)
		run(variant);
	variant->times[round] = (now() - start) / LAUNCHES / TASKS;
}

static void measure_all(struct variant *const *variants, unsigned count)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < count; i++)
			measure(variants[(round + i) % count], round);
	}
}

/* ---- what is made of the times ---- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const double *values)
{
	double sorted[ROUNDS];

	memcpy(sorted, values, sizeof(sorted));
	qsort(sorted, ROUNDS, sizeof(*sorted), compare);
	return sorted[ROUNDS / 2];
}

static double median_ratio(const struct variant *over, const struct variant *under)
{
	double ratios[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++)
		ratios[i] = over->times[i] / under->times[i];
	return median(ratios);
}

static double median_difference(const struct variant *more, const struct variant *less)
{
	double differences[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++)
		differences[i] = more->times[i] - less->times[i];
	return median(differences);
}

/* ---- devices ---- */

struct bench {
	struct skrt_device *device;
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;
};

static struct bench open_bench(const char *package, uint32_t cores)
{
	struct skrt_device_options options = {.cores = cores};
	struct bench bench;

	check(skrt_device_open(&options, &bench.device));
	check(skrt_module_load(bench.device, package, &bench.module));
	check(skrt_instance_create(bench.module, &bench.instance));
	check(skrt_stream_create(bench.device, &bench.stream));
	for (uint32_t i = 0; i < sizeof(bindings) / sizeof(bindings[0]); i++) {
		struct skrt_tensor tensor;

		check(skrt_module_tensor(bench.module, i, &tensor));
		if (!bindings[i]) {
			bindings[i] = aligned_alloc(128, (tensor.bytes + 127) / 128 * 128);
			memset(bindings[i], 0, tensor.bytes);
		}
		check(skrt_instance_bind(bench.instance, i, bindings[i], tensor.bytes));
	}
	return bench;
}

static void close_bench(const struct bench *bench)
{
	check(skrt_stream_destroy(bench->stream));
	check(skrt_instance_destroy(bench->instance));
	check(skrt_module_unload(bench->module));
	check(skrt_device_close(bench->device));
}

static struct variant launch(const struct bench *bench, const char *kernel)
{
	struct variant variant = {.instance = bench->instance, .stream = bench->stream};

	check(skrt_module_find_kernel(bench->module, kernel, &variant.kernel));
	return variant;
}

/* The device's first core is the thread that waits for a launch, which is this one; the device keeps the second to
 * another processor, so this one stays on the first. */
static unsigned pin_to_first_processor(void)
{
	cpu_set_t all, first;

	if (sched_getaffinity(0, sizeof(all), &all))
		return 1;
	CPU_ZERO(&first);
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &all)) {
			CPU_SET(i, &first);
			break;
		}
	}
	sched_setaffinity(0, sizeof(first), &first);
	return (unsigned)CPU_COUNT(&all);
}

/* ---- the tables ---- */

static void print_one_core(const char *title, const struct variant *direct, const struct variant *superkernel,
			   const struct variant *serial)
{
	printf("  %-34s %8.2f %12.2f %10.2f %14.2f\n", title, median(direct->times), median(superkernel->times),
	       median_difference(superkernel, direct), median_difference(serial, direct));
}

static void bench_one_core(const struct bench *bench)
{
	static struct variant empty_direct = {.direct = direct_empty}, tiny_direct = {.direct = direct_tiny};
	static struct variant empty, tiny, empty_serial, tiny_serial;
	struct variant *variants[] = {&empty_direct, &empty, &empty_serial, &tiny_direct, &tiny, &tiny_serial};

	empty = empty_serial = launch(bench, "sk_empty_chain");
	tiny = tiny_serial = launch(bench, "sk_tiny_chain");
	empty_serial.serial = tiny_serial.serial = true;
	measure_all(variants, 6);
	printf("one core, ns per task of a chain of %d      direct  superkernel   overhead   serial entry\n", TASKS);
	print_one_core("empty kernels", &empty_direct, &empty, &empty_serial);
	print_one_core("kernels of 64 float additions", &tiny_direct, &tiny, &tiny_serial);
	printf("  goal for the overhead of the superkernel: at most 1\n");
}

static void print_two_cores(const char *title, const struct variant *variant, const struct variant *round_trip,
			    const struct variant *flag)
{
	printf("  %-34s %8.1f %12.2f %10.2f\n", title, median(variant->times), median_ratio(variant, round_trip),
	       median_ratio(variant, flag));
}

static void bench_two_cores(const struct bench *bench)
{
	static struct variant round_trip, one_line, flag, hand_off;
	struct variant *variants[] = {&round_trip, &one_line, &flag, &hand_off};

	round_trip = launch(bench, "sk_task_round_trip");
	one_line = launch(bench, "sk_task_one_line");
	flag = launch(bench, "sk_task_flag");
	hand_off = launch(bench, "sk_hand_off");
	measure_all(variants, 4);
	/* Two hand-offs are one round trip. */
	for (unsigned i = 0; i < ROUNDS; i++)
		round_trip.times[i] *= 2, one_line.times[i] *= 2;
	printf("two cores, per task that depends on the other       ns  round trips  bare flags\n");
	print_two_cores("cache-line round trip, a line each", &round_trip, &round_trip, &flag);
	print_two_cores("round trip of one shared line", &one_line, &round_trip, &flag);
	print_two_cores("bare inline flag, hand-written C", &flag, &round_trip, &flag);
	print_two_cores("superkernel, homes in turn", &hand_off, &round_trip, &flag);
	printf("  goals for the superkernel: at most 0.55 round trips, 1.10 bare flags\n");
}

/* Every call of `tiny` adds 1: TASKS, for each launch. */
static bool results_are_right(void)
{
	/* Three variants, once to warm up and LAUNCHES times, in every round. Floats are exact up to 2^24 and stay
	 * there. */
	double sum = 3.0 * ROUNDS * (LAUNCHES + 1) * TASKS, last = 1 << 24;
	const float *a = bindings[0];

	for (unsigned i = 0; i < ELEMENTS; i++) {
		if (a[i] != (float)(sum < last ? sum : last))
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s PACKAGE\n", argv[0]);
		return 2;
	}
	struct bench one = open_bench(argv[1], 1), two = open_bench(argv[1], 2);
	unsigned processors = pin_to_first_processor();

	printf("dispatch: medians of %d rounds in turn\n", ROUNDS);
	bench_one_core(&one);
	if (!results_are_right()) {
		fputs("bench: the chains computed something else than they should\n", stderr);
		return 1;
	}
	if (processors > 1)
		bench_two_cores(&two);
	else
		printf("two cores: there is only one processor\n");
	close_bench(&one);
	close_bench(&two);
	for (unsigned i = 0; i < sizeof(bindings) / sizeof(bindings[0]); i++)
		free(bindings[i]);
	return 0;
}
