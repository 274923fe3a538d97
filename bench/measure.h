/* How the benchmarks measure. Machines are noisy, and the round trip of a cache line between two processors flips
 * between values for minutes at a time. So all variants take turns in many short rounds, every round begins with
 * another one, and ratios and differences are formed within a round; what is reported are medians over the rounds. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "loader/skrt.h"

enum { BENCH_MOST_ROUNDS = 1001 };

struct bench_variant {
	const char *title;
	void (*run)(const void *context);
	const void *context;
	double steps; /* that one run is divided by; what is measured is ns per step */
	unsigned runs; /* in one round */
	unsigned idle; /* ms before each round in which nothing runs; 0: a run, which wakes the threads and warms the
			  caches */
	double times[BENCH_MOST_ROUNDS];
};

void bench_measure(struct bench_variant *const *variants, unsigned count, unsigned rounds);

/* Of the last bench_measure. */
double bench_median(const struct bench_variant *variant);
double bench_ratio(const struct bench_variant *over, const struct bench_variant *under);
double bench_difference(const struct bench_variant *more, const struct bench_variant *less);

/* Measures them, and prints a line for each: its time, as a multiple of the first one's, and of another one's (0: not
 * that). */
void bench_print(struct bench_variant *variants, unsigned count, unsigned rounds, unsigned other);

/* Ends the program if the status is an error. */
void bench_check(enum skrt_status status);

/* Keeps this thread, which is a device's first, off the processors of its others. Returns how many processors there
 * are. */
unsigned bench_pin(void);

#endif
