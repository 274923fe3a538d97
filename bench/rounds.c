/* See rounds.h. */
#include "config.h"

#include "bench/rounds.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOT_INSTALLED = 127 };

void bench_fail(const char *problem)
{
	perror(problem);
	exit(1);
}

int bench_run(char *const *command, struct bench_cost *cost)
{
	struct timespec start, end;
	struct rusage usage;
	int status;

	fflush(stdout);
	clock_gettime(CLOCK_MONOTONIC, &start);

	pid_t child = vfork();

	if (child < 0)
		bench_fail("vfork");
	if (child == 0) {
		execvp(command[0], command);
		_exit(NOT_INSTALLED);
	}
	if (wait4(child, &status, 0, &usage) < 0)
		bench_fail("wait4");
	clock_gettime(CLOCK_MONOTONIC, &end);
	cost->wall = (double)(end.tv_sec - start.tv_sec) * 1e3 + (double)(end.tv_nsec - start.tv_nsec) / 1e6;
	cost->processor = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
			  (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
	cost->memory = (double)usage.ru_maxrss / 1024;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* Store the first line that the shell prints, or "". */
static void ask(const char *command, char *line, int size)
{
	FILE *stream = popen(command, "r");

	if (!stream)
		bench_fail("popen");
	if (!fgets(line, size, stream))
		*line = 0;
	pclose(stream);
	line[strcspn(line, "\n")] = 0;
}

static __attribute__((format(printf, 1, 2))) char *print(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		bench_fail("vasprintf");
	va_end(args);
	return text;
}

char *bench_newest(const char *program)
{
	char line[256];

	ask(print("IFS=:; for folder in $PATH; do ls \"$folder\"; done 2>/dev/null | grep -E '^%s-[0-9]+$' | sort -Vr",
		  program),
	    line, sizeof(line));
	return print("%s", *line ? line : program);
}

char *bench_name(const char *name, const char *program)
{
	char line[256], *version = line;

	ask(print("%s --version 2>/dev/null", program), line, sizeof(line));
	while (*version && (version[strspn(version, "0123456789")] != '.' || *version == '.'))
		version++;
	version[strspn(version, "0123456789.")] = 0;
	return print("%s%s%s", name, *version ? " " : "", version);
}

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static double median(double *values, unsigned count)
{
	qsort(values, count, sizeof(*values), compare_doubles);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static double median_of(const struct bench_linker *linker, unsigned rounds, size_t field)
{
	double values[BENCH_MOST_LINKS];

	for (unsigned i = 0; i < rounds; i++)
		values[i] = *(const double *)((const char *)&linker->costs[i] + field);
	return median(values, rounds);
}

static bool run(struct bench_linker *linker, unsigned round)
{
	int status = bench_run(linker->command, &linker->costs[round]);

	if (status && status != NOT_INSTALLED) {
		fprintf(stderr, "bench: %s fails\n", linker->name);
		exit(1);
	}
	return !status;
}

static void measure(struct bench_linker *linkers, unsigned count, unsigned rounds)
{
	for (unsigned i = 0; i < count; i++) /* warms the caches */
		linkers[i].installed = run(&linkers[i], 0);
	for (unsigned round = 0; round < rounds; round++)
		for (unsigned i = 0; i < count; i++)
			if (linkers[(i + round) % count].installed)
				run(&linkers[(i + round) % count], round);
}

static void print_linker(const struct bench_linker *linker, const struct bench_linker *reference, unsigned rounds)
{
	double ratios[BENCH_MOST_LINKS];

	if (!linker->installed) {
		printf("  %-22s not installed\n", linker->name);
		return;
	}
	printf("  %-22s %8.1f %8.1f %8.1f", linker->name, median_of(linker, rounds, offsetof(struct bench_cost, wall)),
	       median_of(linker, rounds, offsetof(struct bench_cost, processor)),
	       median_of(linker, rounds, offsetof(struct bench_cost, memory)));
	if (reference->installed) {
		for (unsigned i = 0; i < rounds; i++)
			ratios[i] = reference->costs[i].wall / linker->costs[i].wall;
		printf("  %.2f", median(ratios, rounds));
	}
	printf("\n");
}

void bench_compare(const char *title, struct bench_linker *linkers, unsigned count, unsigned rounds)
{
	const struct bench_linker *reference = &linkers[0];

	for (unsigned i = 0; i < count; i++)
		if (!strncmp(linkers[i].name, "lld", strlen("lld")))
			reference = &linkers[i];
	measure(linkers, count, rounds);
	printf("\n%s, medians of %u rounds\n", title, rounds);
	printf("  %-22s %8s %8s %8s  %s\n", "", "wall ms", "CPU ms", "peak MiB", "times faster than lld");
	for (unsigned i = 0; i < count; i++)
		print_linker(&linkers[i], reference, rounds);
}
