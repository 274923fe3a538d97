/* `make bench`: the dispatcher's cost per task. Input: the package that sklink made of bench/generate's manifest, run
 * by libskrt, and the same chains as straight-line C. Output: a table. */
#include "config.h"

#include <stdbool.h>
#include <stdio.h>

#include "bench/measure.h"
#include "bench/rig.h"

int direct_empty(void *const *tensors, void *workspace);
int direct_tiny(void *const *tensors, void *workspace);

enum {
	LAUNCHES = 5, /* of one variant in one round */
	ROUNDS = BENCH_MOST_ROUNDS,
	ELEMENTS = 64,
};

static void run_direct(const void *function)
{
	(*(int (*const *)(void *const *, void *))function)(bench_rig_memory(), NULL);
}

static struct bench_variant variant_of(const char *title, void (*run)(const void *context), const void *context,
				       double steps)
{
	return (struct bench_variant){
		.title = title,
		.run = run,
		.context = context,
		.steps = steps,
		.runs = LAUNCHES,
	};
}

static void print_one_core(const char *title, const struct bench_variant *direct,
			   const struct bench_variant *superkernel, const struct bench_variant *serial)
{
	printf("  %-34s %8.2f %12.2f %10.2f %14.2f\n", title, bench_median(direct), bench_median(superkernel),
	       bench_difference(superkernel, direct), bench_difference(serial, direct));
}

static void bench_one_core(const struct bench_rig *rig)
{
	static int (*const direct[])(void *const *, void *) = {direct_empty, direct_tiny};
	static const char *const kernels[] = {"sk_empty_chain", "sk_tiny_chain"};
	static struct bench_variant variants[6];
	struct bench_variant *all[6];
	struct bench_launch launches[2];

	for (int i = 0; i < 2; i++) {
		launches[i] = bench_launch_of(rig, kernels[i]);
		variants[3 * i] = variant_of("direct", run_direct, &direct[i], BENCH_CHAIN);
		variants[3 * i + 1] = variant_of("superkernel", bench_launch_run, &launches[i], BENCH_CHAIN);
		variants[3 * i + 2] = variant_of("serial", bench_launch_run_serial, &launches[i], BENCH_CHAIN);
	}
	for (int i = 0; i < 6; i++)
		all[i] = &variants[i];
	bench_measure(all, 6, ROUNDS);
	printf("one core, ns per task of a chain of %d      direct  superkernel   overhead   serial entry\n",
	       BENCH_CHAIN);
	print_one_core("empty kernels", &variants[0], &variants[1], &variants[2]);
	print_one_core("kernels of 64 float additions", &variants[3], &variants[4], &variants[5]);
	printf("  goal for the overhead of the superkernel: at most 1\n");
}

static void bench_two_cores(const struct bench_rig *rig)
{
	/* Two hand-offs are one round trip. */
	static const struct {
		const char *title, *kernel;
		double steps;
	} rows[] = {
		{"cache-line round trip, a line each", "sk_task_round_trip", BENCH_CHAIN / 2.0},
		{"round trip of one shared line", "sk_task_one_line", BENCH_CHAIN / 2.0},
		{"bare inline flag, hand-written C", "sk_task_flag", BENCH_CHAIN},
		{"superkernel, homes in turn", "sk_hand_off", BENCH_CHAIN},
		{"superkernel, awaits elided", "sk_elided", BENCH_CHAIN},
	};
	enum { COUNT = sizeof(rows) / sizeof(rows[0]), FLAG = 2 };
	static struct bench_variant variants[COUNT];
	struct bench_launch launches[COUNT];

	for (unsigned i = 0; i < COUNT; i++) {
		launches[i] = bench_launch_of(rig, rows[i].kernel);
		variants[i] = variant_of(rows[i].title, bench_launch_run, &launches[i], rows[i].steps);
	}
	printf("%-64s %10s %12s %10s\n", "two cores, per task that depends on the one before", "ns", "round trips",
	       "bare flags");
	bench_print(variants, COUNT, ROUNDS, FLAG);
	printf("  goals: homes in turn at most 0.55 round trips, 1.10 bare flags; awaits elided at most 10 ns\n");
}

/* Every call of `tiny` adds 1: BENCH_CHAIN, for each launch. */
static bool results_are_right(void)
{
	/* Three variants, once to warm up and LAUNCHES times, in every round. Floats are exact up to 2^24 and stay at
	 * that value. */
	double sum = 3.0 * ROUNDS * (LAUNCHES + 1) * BENCH_CHAIN, last = 1 << 24;
	const float *a = bench_rig_memory()[0];

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
	struct bench_rig one = bench_rig_open(argv[1], "host", 1), two = bench_rig_open(argv[1], "host", 2);
	unsigned processors = bench_pin();

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
	bench_rig_close(&one);
	bench_rig_close(&two);
	bench_rig_free_memory();
	return 0;
}
