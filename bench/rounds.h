/* Linkers take turns in rounds, since machines are noisy: every round begins with another one, and the ratio to lld is
 * the median of the rounds' ratios. */
#ifndef BENCH_ROUNDS_H
#define BENCH_ROUNDS_H

#include <stdbool.h>

enum { BENCH_MOST_LINKS = 99 };

struct bench_cost {
	double wall, processor; /* ms */
	double memory; /* MiB, at most */
};

struct bench_linker {
	const char *name;
	char **command;
	bool installed;
	struct bench_cost costs[BENCH_MOST_LINKS]; /* by round */
};

/* Print the failure and its reason, and end the program. */
_Noreturn void bench_fail(const char *problem);

/* Run a command and drop its standard output. Return its exit status; 127: there is no such program. */
int bench_run(char *const *command, struct bench_cost *cost);

/* Return the program, or its name in a package of a newer version: "ld.lld-19" before "ld.lld". */
char *bench_newest(const char *program);

/* Return "lld 19.1.7": the name, and the version that the program prints. */
char *bench_name(const char *name, const char *program);

/* Run each of them `rounds` times, and print a table. */
void bench_compare(const char *title, struct bench_linker *linkers, unsigned count, unsigned rounds);

#endif
