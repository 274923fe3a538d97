/* See measure.h. */
#include "config.h"

#include "bench/measure.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_VARIANTS = 16 };

static unsigned rounds_measured;

void bench_check(enum skrt_status status)
{
	if (!status)
		return;
	fprintf(stderr, "bench: %s: %s\n", skrt_status_name(status), skrt_error());
	exit(1);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void measure(struct bench_variant *variant, unsigned round)
{
	if (variant->idle)
		nanosleep(&(struct timespec){.tv_nsec = variant->idle * 1000000L}, NULL);
	else
		variant->run(variant->context);

	double start = now();

	for (unsigned i = 0; i < variant->runs; i++)
		variant->run(variant->context);
	variant->times[round] = (now() - start) / variant->runs / variant->steps;
}

void bench_measure(struct bench_variant *const *variants, unsigned count, unsigned rounds)
{
	rounds_measured = rounds;
	for (unsigned round = 0; round < rounds; round++) {
		for (unsigned i = 0; i < count; i++)
			measure(variants[(round + i) % count], round);
	}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const double *values)
{
	double sorted[BENCH_MOST_ROUNDS];

	memcpy(sorted, values, rounds_measured * sizeof(*sorted));
	qsort(sorted, rounds_measured, sizeof(*sorted), compare);
	return sorted[rounds_measured / 2];
}

double bench_median(const struct bench_variant *variant)
{
	return median(variant->times);
}

double bench_ratio(const struct bench_variant *over, const struct bench_variant *under)
{
	double ratios[BENCH_MOST_ROUNDS];

	for (unsigned i = 0; i < rounds_measured; i++)
		ratios[i] = over->times[i] / under->times[i];
	return median(ratios);
}

double bench_difference(const struct bench_variant *more, const struct bench_variant *less)
{
	double differences[BENCH_MOST_ROUNDS];

	for (unsigned i = 0; i < rounds_measured; i++)
		differences[i] = more->times[i] - less->times[i];
	return median(differences);
}

void bench_print(struct bench_variant *variants, unsigned count, unsigned rounds, unsigned other)
{
	struct bench_variant *all[MOST_VARIANTS] = {NULL};

	for (unsigned i = 0; i < count; i++)
		all[i] = &variants[i];
	bench_measure(all, count, rounds);
	for (unsigned i = 0; i < count; i++) {
		printf("  %-62s %10.1f %12.2f", variants[i].title, bench_median(&variants[i]),
		       bench_ratio(&variants[i], &variants[0]));
		if (other)
			printf(" %10.2f", bench_ratio(&variants[i], &variants[other]));
		printf("\n");
	}
}

unsigned bench_pin(void)
{
	cpu_set_t all, first;

	if (sched_getaffinity(0, sizeof(all), &all))
		return 1;
	CPU_ZERO(&first);
	for (size_t i = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &all)) {
			CPU_SET(i, &first);
			break;
		}
	}
	sched_setaffinity(0, sizeof(first), &first);
	return (unsigned)CPU_COUNT(&all);
}
