/* How the benchmarks measure. Machines are noisy, and the round trip of a cache line between two processors flips
 * between values for minutes at a time. All variants therefore take turns in many short rounds, every round begins with
 * another one, and ratios and differences are formed within a round. The results are medians over the rounds. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "loader/skrt.h"

enum { BENCH_MOST_ROUNDS = 1001 };

struct bench_variant {
	const char *title;
	void (*run)(const void *context);
	const void *context;
	double steps; /* divisor of one run's time; results are ns per step */
	unsigned runs; /* in one round */
	unsigned idle; /* ms of rest before each round; 0: a run instead, which wakes threads and warms caches */
	double times[BENCH_MOST_ROUNDS];
};

void bench_measure(struct bench_variant *const *variants, unsigned count, unsigned rounds);

/* Results of the last bench_measure. */
double bench_median(const struct bench_variant *variant);
double bench_ratio(const struct bench_variant *over, const struct bench_variant *under);
double bench_difference(const struct bench_variant *more, const struct bench_variant *less);

/* Measure the variants, and print a line for each: its time, as a multiple of the first one's, and of another one's (0:
 * without that). */
void bench_print(struct bench_variant *variants, unsigned count, unsigned rounds, unsigned other);

/* End the program if the status is an error. */
void bench_check(enum skrt_status status);

/* Keep this thread, which is a device's first, off the processors of its others. Return the number of processors. */
unsigned bench_pin(void);

#endif
